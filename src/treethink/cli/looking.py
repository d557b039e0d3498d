"""`treethink worlds` and `treethink play`: what there is to learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from treethink.cli.shared import Options, Side, WorldName, make_world, wide_console
from treethink.learner import TreeThink
from treethink.play import check_fit, in_terminal
from treethink.terminal import say
from treethink.worlds import WORLDS, World, draw


def worlds(
    name: Annotated[str | None, typer.Argument(help="All about one of them.")] = None,
) -> None:
    """What there is to learn, with options and their defaults; or all about one of them."""
    console = wide_console()
    if name is not None:
        _show_world(console, make_world(name, []))
        return
    table = Table("world", "what it is", "options")
    for each, world in WORLDS.items():
        options = " ".join(f"{option}={value}" for option, value in world.defaults.items())
        table.add_row(each, world.summary(), options)
    console.print(table, markup=False, highlight=False)


def play(
    world: WorldName,
    seed: Annotated[int, typer.Option(min=0, help="Of the level, and of chance.")] = 0,
    model: Annotated[
        Path | None, typer.Option(help="A saved model: see its predictions beside the truth.")
    ] = None,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Walk around in a world with the keyboard; with a model, see what it predicts."""
    place = make_world(world, set_ or [], width=width, height=height)
    loaded = None if model is None else TreeThink.load(model)
    if loaded is not None:
        check_fit(loaded.schema, place, str(model))
    say(Console(), in_terminal(place, seed, loaded).summary())


def _show_world(console: Console, world: World) -> None:
    say(console, world.sheet())
    print("\n" + draw.ansi(world, world.reset(seed=0), colour=console.is_terminal))
    say(console, f"\n{draw.legend(world)}")
