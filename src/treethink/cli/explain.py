"""`treethink explain`: why a saved model predicts what it predicts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treethink.cli import _completion as completing
from treethink.cli._options import AsJson, ModelFile, Options, Side
from treethink.cli._output import make_world, tell, writable
from treethink.errors import SettingError, StateError
from treethink.model import TreeThink
from treethink.play.game import check_fit
from treethink.state import State
from treethink.terminal import coloured, moves, say, terminal
from treethink.worlds import draw

if TYPE_CHECKING:
    from treethink.explain.why.explanation import Asked

_WIDEST = 10_000  # where lines are not broken


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
    _check_object(asked, state)
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
    if moves(console) and console.encoding.lower().startswith("utf"):
        console.print(explanation, markup=False, highlight=False)
    else:
        from treethink.explain.rich_text import plain

        say(console, plain(explanation, console.width if moves(console) else _WIDEST))
    if to is not None:
        say(console, f"drawn to {to}")


def _asked(of: str | None) -> Asked:
    """An object's id, or its id and an attribute, from the command line."""
    if of is None:
        return None
    number, dot, attribute = of.partition(".")
    if not re.fullmatch("-?[0-9]{1,18}", number) or bool(dot) != bool(attribute):
        raise SettingError(f"--of takes an object's id, such as 40 or 40.pos, got {of!r}")
    return (int(number), attribute) if attribute else int(number)


def _check_object(asked: Asked, state: State) -> None:
    """Whom the command line asks about must be there."""
    object_id = asked[0] if isinstance(asked, tuple) else asked
    try:
        if object_id is not None:
            state[object_id]
    except StateError as error:
        raise SettingError(f"--of: {error}") from None
