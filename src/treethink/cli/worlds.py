"""`treethink worlds`: list the available worlds, or describe one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from treethink.cli._options import AsJson, NoPlugins, complete_world, make_world
from treethink.cli._output import print_json
from treethink.terminal import coloured, say, say_wrapped, terminal
from treethink.worlds import WORLDS, World, draw
from treethink.worlds.gym import minigrid, warehouse

#: Packages whose ids are worlds, by the start of their names: their ids, and these in a few lines.
_PACKAGES = {
    minigrid.PREFIX: (minigrid.fitting_ids, minigrid.summary),
    warehouse.PREFIX: (warehouse.known_ids, warehouse.summary),
}


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
      treethink worlds rware                # the ids of RWARE
      treethink worlds --json | jq -r '.worlds[].name'
    """
    for prefix, (ids, summary) in _PACKAGES.items():
        if name in (prefix, prefix.removesuffix(":")):
            _list_ids(prefix, ids, summary, as_json)
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
    if minigrid.is_installed():
        more = Text("MiniGrid and BabyAI, such as DoorKey-8x8: treethink worlds minigrid")
        table.add_row(Text(f"{minigrid.PREFIX}ID"), more)
    if warehouse.is_installed():
        more = Text("Robotic Warehouse, such as tiny-2ag: treethink worlds rware")
        table.add_row(Text(f"{warehouse.PREFIX}ID"), more)
    console.print(table, markup=False, highlight=False)
    say(console, "")
    say_wrapped(
        console, "treethink worlds WORLD describes a world; treethink learn WORLD learns it"
    )


def _list_ids(
    prefix: str, ids: Callable[[], list[str]], summary: Callable[[], str], as_json: bool
) -> None:
    """List the ids of a package."""
    if as_json:
        print_json("worlds", worlds=[{"name": f"{prefix}{each}"} for each in ids()])
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
