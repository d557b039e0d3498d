"""`treethink explain`: explain a prediction of a saved model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    ModelFile,
    NoPlugins,
    Width,
    WorldOptions,
    complete_action,
    complete_world,
    load_model,
    make_world,
)
from treethink.cli._output import check_writable, print_json, print_page
from treethink.errors import SettingError, StateError
from treethink.state import State
from treethink.terminal import coloured, say, terminal
from treethink.worlds import draw
from treethink.worlds.base import check_fit

if TYPE_CHECKING:
    from treethink.explain.why.explanation import Asked


def explain(
    model: ModelFile,
    world: Annotated[
        str,
        typer.Option(
            metavar="WORLD", help="World that the state is from.", autocompletion=complete_world
        ),
    ],
    action: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Action to be explained.", autocompletion=complete_action
        ),
    ],
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the level.")] = 0,
    of: Annotated[
        str | None,
        typer.Option(
            metavar="ID[.ATTRIBUTE]", help="Explain only this object, even if nothing changes."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--draw", metavar="FILE", help="Also draw the explanation, as .png."),
    ] = None,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
) -> None:
    """Explain a prediction of a saved model.

    The prediction is for the first state of a level. The explanation shows which tests hold there,
    for which objects, and which changes to the state would change the prediction.

    Examples:
      treethink explain maze.tt --world maze --action right
      treethink explain maze.tt --world maze --action left --of 40.pos
      treethink explain maze.tt --world maze --action up --seed 3 --draw why.png
      treethink explain maze.tt --world maze --action up --json | jq '.reasons[0]'
    """
    place = make_world(world, set_, no_plugins, width=width, height=height)
    target = _parse_target(of)
    loaded = load_model(model)
    check_fit(loaded.schema, place, str(model))
    state = place.reset(seed)
    _check_object(target, state)
    explanation = loaded.explain(state, action, target)
    if picture is not None:
        explanation.draw(check_writable(picture), place)
    if as_json:
        print_json(
            "explain",
            model=str(model),
            world=place.name,
            options=place.options,
            seed=seed,
            **explanation.to_dict(),
        )
        return
    console = terminal()
    print(draw.ansi(place, state, colour=coloured(console)) + "\n")
    print_page(console, explanation)
    if picture is not None:
        say(console, f"drawn to {picture}")


def _parse_target(of: str | None) -> Asked:
    """Return the object's id of `--of`, or its id and an attribute."""
    if of is None:
        return None
    number, dot, attribute = of.partition(".")
    if not re.fullmatch("-?[0-9]{1,18}", number) or bool(dot) != bool(attribute):
        raise SettingError(f"--of takes an object's id, such as 40 or 40.pos, got {of!r}")
    return (int(number), attribute) if attribute else int(number)


def _check_object(target: Asked, state: State) -> None:
    """Raise an error if the state does not have the object of `--of`."""
    object_id = target[0] if isinstance(target, tuple) else target
    try:
        if object_id is not None:
            state[object_id]
    except StateError as error:
        raise SettingError(f"--of: {error}") from None
