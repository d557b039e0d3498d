"""`treethink worlds`: list the available worlds, or describe one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from treethink.cli._options import AsJson, NoPlugins, complete_world, make_world
from treethink.cli._output import print_json
from treethink.terminal import coloured, say, say_wrapped, terminal
from treethink.worlds import WORLDS, World, draw
from treethink.worlds.gym.minigrid import PREFIX, fitting_ids, is_installed, summary


def worlds(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="WORLD", help="The world to describe.", autocompletion=complete_world
        ),
    ] = None,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
) -> None:
    """List the available worlds, or describe one.

    The options of a world are listed with their defaults; set them as in `treethink learn maze
    --set goals=4`.

    Examples:
      treethink worlds
      treethink worlds keys                 # its specification and a level
      treethink worlds minigrid             # the ids of MiniGrid and BabyAI
      treethink worlds --json | jq -r '.worlds[].name'
    """
    if name in (PREFIX, PREFIX.removesuffix(":")):
        _list_minigrid(as_json)
        return
    world = None if name is None else make_world(name, no_plugins=no_plugins)
    if as_json:
        listed = [_entry(each) for each in WORLDS.values()] if world is None else [_details(world)]
        print_json("worlds", worlds=listed)
    elif world is None:
        _list_worlds(terminal())
    else:
        _describe_world(terminal(), world)


def _list_worlds(console: Console) -> None:
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="name", no_wrap=True)
    for name, world in WORLDS.items():
        options = " ".join(f"{option}={value}" for option, value in world.defaults.items())
        lines = [Text(world.summary()), *([Text(options, "quiet")] if options else [])]
        table.add_row(Text(name), Text("\n").join(lines))
    if is_installed():
        more = Text("MiniGrid and BabyAI, such as minigrid:DoorKey-8x8: treethink worlds minigrid")
        table.add_row(Text(f"{PREFIX}ID"), more)
    console.print(table, markup=False, highlight=False)
    say(console, "")
    say_wrapped(
        console, "treethink worlds WORLD describes a world; treethink learn WORLD learns it"
    )


def _list_minigrid(as_json: bool) -> None:
    """List the ids of MiniGrid and BabyAI."""
    if as_json:
        print_json("worlds", worlds=[{"name": f"{PREFIX}{each}"} for each in fitting_ids()])
        return
    for line in summary().splitlines():
        say_wrapped(terminal(), line) if line else say(terminal(), "")


def _describe_world(console: Console, world: World) -> None:
    say_wrapped(console, world.sheet())
    print("\n" + draw.ansi(world, world.reset(seed=0), colour=coloured(console)))
    say(console, f"\n{draw.legend(world)}")


def _entry(world: type[World]) -> dict[str, Any]:
    return {"name": world.name, "summary": world.summary(), "options": dict(world.defaults)}


def _details(world: World) -> dict[str, Any]:
    schema = world.schema
    return {
        **_entry(type(world)),
        "options": world.options,
        "classes": {name: list(attributes) for name, attributes in schema.classes.items()},
        "actions": list(schema.actions),
        "sheet": world.sheet(),
    }
