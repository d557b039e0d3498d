"""`treethink worlds` and `treethink play`: what there is to learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from treethink.cli import _completion as completing
from treethink.cli._options import AsJson, Options, Side, WorldName
from treethink.cli._output import make_world, tell
from treethink.model import TreeThink
from treethink.play.game import check_fit, in_terminal
from treethink.terminal import coloured, say, say_wrapped, terminal
from treethink.worlds import WORLDS, World, draw


def worlds(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="WORLD", help="All about one of them.", autocompletion=completing.worlds
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what there is to learn, or tell all about one world.

    Options of a world stand there with their defaults: `treethink learn maze --set goals=4`.

    Examples:
      treethink worlds
      treethink worlds keys                 # its rules, and a level
      treethink worlds --json | jq -r '.worlds[].name'
    """
    one = None if name is None else make_world(name, [])
    if as_json:
        told = [_told(each) for each in WORLDS.values()] if one is None else [_all_about(one)]
        tell("worlds", worlds=told)
    elif one is None:
        _list_worlds(terminal(width=120))
    else:
        _show_world(terminal(), one)


def play(
    world: WorldName,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the level, and of chance.")] = 0,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="A saved model: see its predictions beside the truth."),
    ] = None,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Walk around in a world with the keyboard.

    With a model, its prediction is shown beside what really follows. `?` lists the keys, `q` ends.

    Examples:
      treethink play keys
      treethink play maze --model maze.tt
      treethink play maze --width 12 --height 12 --set goals=5 --seed 3
    """
    place = make_world(world, set_ or [], width=width, height=height)
    loaded = None if model is None else TreeThink.load(model)
    if loaded is not None:
        check_fit(loaded.schema, place, str(model))
    say(terminal(), in_terminal(place, seed, loaded).summary())


def _list_worlds(console: Console) -> None:
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="name", no_wrap=True)
    for name, world in WORLDS.items():
        options = " ".join(f"{option}={value}" for option, value in world.defaults.items())
        lines = [Text(world.summary()), *([Text(options, "quiet")] if options else [])]
        table.add_row(Text(name), Text("\n").join(lines))
    console.print(table, markup=False, highlight=False)
    told = "treethink worlds WORLD tells all about one; treethink learn WORLD learns it"
    say(console, "")
    say_wrapped(console, told)


def _show_world(console: Console, world: World) -> None:
    say_wrapped(console, world.sheet())
    print("\n" + draw.ansi(world, world.reset(seed=0), colour=coloured(console)))
    say(console, f"\n{draw.legend(world)}")


def _told(world: type[World]) -> dict[str, Any]:
    return {"name": world.name, "summary": world.summary(), "options": dict(world.defaults)}


def _all_about(world: World) -> dict[str, Any]:
    schema = world.schema
    return {
        **_told(type(world)),
        "options": world.options,
        "classes": {name: list(attributes) for name, attributes in schema.classes.items()},
        "actions": list(schema.actions),
        "sheet": world.sheet(),
    }
