"""`treethink explain`: why a saved model predicts what it predicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink.cli.shared import Options, Side, make_world, writable
from treethink.errors import SettingError
from treethink.explain.why import Asked
from treethink.learner import TreeThink
from treethink.play import check_fit
from treethink.terminal import say
from treethink.worlds import draw


def explain(
    model: Annotated[Path, typer.Argument(help="A saved model.")],
    world: Annotated[
        str, typer.Option(help="Whose level to ask about: a name from `treethink worlds`.")
    ],
    action: Annotated[str, typer.Option(help="What is done there.")],
    seed: Annotated[int, typer.Option(min=0, help="Of the level.")] = 0,
    of: Annotated[
        str | None,
        typer.Option(metavar="ID[.ATTRIBUTE]", help="Only this object, also if it stays as it is."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Draw it there too: .png.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it for a program.")] = False,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Say why a saved model predicts what it predicts, in a level of a world.

    For example: treethink explain maze.tt --world maze --action right
    """
    place = make_world(world, set_ or [], width=width, height=height)
    asked = _asked(of)
    loaded = TreeThink.load(model)
    check_fit(loaded.schema, place, str(model))
    state = place.reset(seed)
    explanation = loaded.explain(state, action, asked)
    if to is not None:
        explanation.draw(writable(to), place)
    if as_json:
        print(json.dumps(explanation.to_dict()))
        return
    console = Console()
    colour = console.is_terminal and not console.no_color
    print(draw.ansi(place, state, colour=colour) + "\n")
    console.print(explanation, markup=False, highlight=False)
    if to is not None:
        say(console, f"drawn to {to}")


def _asked(of: str | None) -> Asked:
    """An object's id, or its id and an attribute, from the command line."""
    if of is None:
        return None
    number, _, attribute = of.partition(".")
    try:
        object_id = int(number)
    except ValueError:
        raise SettingError(f"--of takes an object's id, such as 40 or 40.pos, got {of!r}") from None
    return (object_id, attribute) if attribute else object_id
