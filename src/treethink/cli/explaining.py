"""`treethink explain`: why a saved model predicts what it predicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treethink.cli import completing
from treethink.cli.arguments import AsJson, ModelFile, Options, Side
from treethink.cli.shared import make_world, tell, writable
from treethink.errors import SettingError
from treethink.explain.why import Asked
from treethink.learner import TreeThink
from treethink.play import check_fit
from treethink.terminal import coloured, say, terminal
from treethink.worlds import draw


def explain(
    model: ModelFile,
    world: Annotated[
        str,
        typer.Option(
            metavar="WORLD", help="Whose level to ask about.", autocompletion=completing.worlds
        ),
    ],
    action: Annotated[
        str,
        typer.Option(metavar="NAME", help="What is done there.", autocompletion=completing.actions),
    ],
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the level.")] = 0,
    of: Annotated[
        str | None,
        typer.Option(metavar="ID[.ATTRIBUTE]", help="Only this object, also if it stays as it is."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--draw", metavar="FILE", help="Draw it there too: .png.")
    ] = None,
    as_json: AsJson = False,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Say why a model predicts what it predicts.

    It is asked about the first state of a level: which tests hold there, for which objects, and
    what would have to be otherwise.

    Examples:
      treethink explain maze.tt --world maze --action right
      treethink explain maze.tt --world maze --action left --of 40.pos
      treethink explain maze.tt --world maze --action up --seed 3 --draw why.png
      treethink explain maze.tt --world maze --action up --json | jq '.reasons[0]'
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
        told = explanation.to_dict()
        tell(
            "explain", model=str(model), world=place.name, options=place.options, seed=seed, **told
        )
        return
    console = terminal()
    print(draw.ansi(place, state, colour=coloured(console)) + "\n")
    if console.encoding.lower().startswith("utf"):
        console.print(explanation, markup=False, highlight=False)
    else:
        say(console, str(explanation))
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
