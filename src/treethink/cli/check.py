"""`treethink check`: is a saved model right? If not, show the smallest state where it is wrong."""

from __future__ import annotations

from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    ModelOption,
    NoPlugins,
    Quiet,
    RequiredModel,
    RequiredWorld,
    Width,
    WorldOption,
    WorldOptions,
    load_model,
    make_world,
    model_and_world,
)
from treethink.cli._output import FAILED, missing_argument, print_json, print_page
from treethink.terminal import say, terminal
from treethink.text import many
from treethink.worlds.base import check_fit


def check(
    ctx: typer.Context,
    model: RequiredModel = None,
    world: RequiredWorld = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    steps: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of transitions to check.")
    ] = 1_000,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random seed of levels and actions.")
    ] = 0,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
) -> None:
    """Check whether a saved model predicts a world correctly.

    If it does not, the smallest state with a wrong prediction is shown, with the reasons for the
    prediction. The exit code is then 1.

    Examples:
      treethink check maze.tt maze
      treethink check maze.tt maze --width 16 --height 16 --steps 5000
      treethink check maze.tt maze --json | jq .wrong
    """
    path, name = model_and_world(True, (model, world), model_option, world_option)
    if path is None or name is None:
        raise missing_argument(ctx, "MODEL" if path is None else "WORLD")
    place = make_world(name, set_, no_plugins, width=width, height=height)
    loaded = load_model(path)
    check_fit(loaded.schema, place, str(path))
    result = loaded.check(place, steps, seed)
    if as_json:
        fields = {**result.to_dict(), "world": place.name, "options": place.options, "seed": seed}
        print_json("check", model=str(path), right=not result, **fields)
    elif quiet:
        wrong = f"{result.wrong:,}" if result.wrong else "none"
        say(terminal(), f"{wrong} of {many(result.tried, 'transition')} predicted wrongly")
    else:
        print_page(terminal(), result)
    if result:
        raise typer.Exit(FAILED)
