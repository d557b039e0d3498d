"""What several commands share: arguments, worlds by name, what can be refused at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink.errors import SettingError
from treethink.learner import TreeThink
from treethink.naming import file_safe
from treethink.terminal import say
from treethink.worlds import World, make

INTERRUPTED = 130

WorldName = Annotated[
    str, typer.Argument(help="A name from `treethink worlds`, or module:name of your own.")
]
Side = Annotated[int | None, typer.Option(help="Of the grid.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=NUMBER", help="Any option of the world."),
]
Processes = Annotated[
    int | None, typer.Option(min=1, help="Runs at once.", show_default="one for each core")
]


def wide_console(width: int = 120) -> Console:
    """For tables: as wide as the terminal is, or wide enough where there is none."""
    return Console() if sys.stdout.isatty() else Console(width=width)


def look_here() -> None:
    """A world of one's own mostly lies where one is."""
    sys.path.insert(0, os.getcwd())


def make_world(world: str, pairs: list[str], **given: int | None) -> World:
    """The world of that name, with the options of the command line."""
    options = {name: value for name, value in given.items() if value is not None}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            options[name.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    if ":" in world:
        look_here()
    return make(world, **options)


def file_name(world: str) -> str:
    """A name for files: `scale-3-2` of `scale(3,2)`, `Lamp` of `lamps:Lamp`."""
    return file_safe(world.rpartition(":")[2])


def writable(path: Path) -> Path:
    """Refuse now what could not be written after all the work."""
    folder = path.parent
    if path.is_dir():
        raise SettingError(f"cannot write to {path}: it is a folder")
    if not folder.is_dir():
        raise SettingError(f"cannot write to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot write to {path}: the folder {folder} is not writable")
    return path


def show_rules(console: Console, model: TreeThink) -> None:
    """All rules that vary."""
    varying = [rule for rule in model.rules.values() if rule.varies]
    constant = len(model.rules) - len(varying)
    say(console, f"\nrules that vary: {len(varying)}; that saw one outcome or none: {constant}")
    for rule in varying:
        say(console, f"\n{rule}")
