"""The worlds there are to learn, by name.

A new world is one file beside this one and one line in `WORLDS`.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from treethink.errors import SettingError, UnknownNameError, WrongTypeError, shown
from treethink.worlds.base import World
from treethink.worlds.coins import Coins, CoinsScoreless, CoinsT
from treethink.worlds.doors import Doors
from treethink.worlds.fish import Fish
from treethink.worlds.gates import Gates
from treethink.worlds.gym import CliffWalking, FrozenLake, Taxi
from treethink.worlds.keys import Keys, KeysScoreless, KeysT
from treethink.worlds.lights import Lights, LightsScoreless
from treethink.worlds.maze import Maze, MazeScoreless, MazeT
from treethink.worlds.paths import Paths
from treethink.worlds.scale import Scale
from treethink.worlds.scene import Distribution, Scene
from treethink.worlds.switches import Switches
from treethink.worlds.walls import Walls

WORLDS: dict[str, type[World]] = {
    each.name: each
    for each in (
        Walls,
        Doors,
        Fish,
        Gates,
        Maze,
        MazeScoreless,
        MazeT,
        Coins,
        CoinsScoreless,
        CoinsT,
        Keys,
        KeysScoreless,
        KeysT,
        Lights,
        LightsScoreless,
        Switches,
        Scale,
        Paths,
        Taxi,
        FrozenLake,
        CliffWalking,
    )
}

__all__ = ["make", "World", "WORLDS", "Scene", "Distribution"]


def make(name: str, **options: int) -> World:
    """The world of that name.

    Numbers in brackets are options too: `scale(3,2)`. A name with a colon is where to find
    a world of your own: `package.module:name` of a `World`, or of what makes one.

    >>> make("maze", width=5, height=6)
    Maze(width=5, height=6, wall_percent=30, goals=2, scored=1)
    >>> make("mase")
    Traceback (most recent call last):
    treethink.errors.UnknownNameError: unknown world 'mase' ... Did you mean 'maze'? ...
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"a world is made by its name, got {shown(name)}")
    if ":" in name:
        return _imported(name, options)
    plain, numbers = _parts(name)
    if plain not in WORLDS:
        raise UnknownNameError("world", plain, WORLDS, "the registry of worlds")
    return WORLDS[plain](**_in_brackets(WORLDS[plain], numbers, name), **options)


def _parts(name: str) -> tuple[str, list[int]]:
    """A name, and the numbers in brackets behind it."""
    match = re.fullmatch(r"([^(]*)\(([\d\s,]*)\)", name)
    if not match:
        return name, []
    return match[1], [int(each) for each in match[2].split(",") if each.strip()]


def _in_brackets(world: type[World], numbers: list[int], name: str) -> dict[str, int]:
    if len(numbers) > len(world.positional):
        takes = ", ".join(world.positional) or "nothing"
        raise SettingError(f"world {world.name!r} takes {takes} in brackets, got {name!r}")
    return dict(zip(world.positional, numbers, strict=False))


def _imported(name: str, options: dict[str, int]) -> World:
    module_name, _, attribute = name.partition(":")
    if "/" in module_name or module_name.endswith(".py"):
        raise SettingError(f"give a module and not a path, such as mymodule:world, got {name!r}")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise SettingError(f"there is no world at {name!r}: {error}") from error
    if isinstance(found, World) and options:
        raise SettingError(f"{name!r} is made already and takes no options, got {options}")
    world = found if isinstance(found, World) or not callable(found) else found(**options)
    if not isinstance(world, World):
        raise WrongTypeError(f"{name!r} must be a World or make one, got {shown(world)}")
    return world
