"""The worlds there are to learn, by name.

A new world is one file beside this one and one line in `WORLDS`.
"""

from __future__ import annotations

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.worlds.base import Distribution, Scene, World
from treethink.worlds.maze import Maze
from treethink.worlds.walls import Walls

WORLDS: dict[str, type[World]] = {each.name: each for each in (Walls, Maze)}

__all__ = ["make", "World", "WORLDS", "Scene", "Distribution"]


def make(name: str, **options: int) -> World:
    """The world of that name.

    >>> make("maze", width=5, height=6)
    Maze(width=5, height=6, goals=2)
    >>> make("mase")
    Traceback (most recent call last):
    treethink.errors.UnknownNameError: unknown world 'mase' ... Did you mean 'maze'? ...
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"a world is made by its name, got {shown(name)}")
    if name not in WORLDS:
        raise UnknownNameError("world", name, WORLDS, "the registry of worlds")
    return WORLDS[name](**options)
