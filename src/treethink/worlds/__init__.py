"""The registry of worlds, by name.

To add a world, write a module in this package and add its class to `WORLDS`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from treethink.errors import SettingError, UnknownNameError, WrongTypeError, shown
from treethink.plugins import load_object
from treethink.state import Schema
from treethink.worlds.base import World
from treethink.worlds.bounce import Bounce
from treethink.worlds.carry import Carry, CarryNumbered
from treethink.worlds.cells import Cells
from treethink.worlds.chase import Chase
from treethink.worlds.coins import Coins, CoinsScoreless, CoinsT
from treethink.worlds.doors import Doors
from treethink.worlds.fish import Fish
from treethink.worlds.fuel import Fuel
from treethink.worlds.gates import Gates
from treethink.worlds.gym import CliffWalking, FrozenLake, Taxi
from treethink.worlds.gym.minigrid import PREFIX as MINIGRID
from treethink.worlds.gym.minigrid import MiniGrid
from treethink.worlds.gym.warehouse import is_warehouse, make_warehouse
from treethink.worlds.keys import Keys, KeysScoreless, KeysT
from treethink.worlds.lights import Lights, LightsScoreless
from treethink.worlds.maze import Maze, MazeScoreless, MazeT
from treethink.worlds.mixed import mixed
from treethink.worlds.parity import Parity
from treethink.worlds.paths import Paths
from treethink.worlds.portal import Portal
from treethink.worlds.push import Push
from treethink.worlds.scale import Scale
from treethink.worlds.scene import Distribution, Scene
from treethink.worlds.sokoban import PREFIX as SOKOBAN
from treethink.worlds.sokoban import Sokoban, SokobanFile
from treethink.worlds.switches import Switches
from treethink.worlds.things import CoinsThings, DoorsThings
from treethink.worlds.walls import Walls

#: Worlds that are no part of the paper's evaluation. Most need more than its language.
LANGUAGE_WORLDS: tuple[type[World], ...] = (
    Cells,
    Parity,
    Carry,
    CarryNumbered,
    Push,
    Sokoban,
    Chase,
    Fuel,
    Bounce,
    Portal,
    DoorsThings,
    CoinsThings,
)

_WORLDS: tuple[type[World], ...] = (
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
    *LANGUAGE_WORLDS,
)
WORLDS: dict[str, type[World]] = {each.name: each for each in _WORLDS}

__all__ = ["make", "mixed", "World", "WORLDS", "Scene", "Distribution"]

_EXAMPLE = "mygame.worlds:Lamp"
_OWN = f"A world of your own is given as module:name, such as {_EXAMPLE}"


def make(name: str, /, **options: int) -> World:
    """Return the world of that name.

    Options may be given in brackets: `scale(3,2)`. A name with a colon is the location of a world
    of your own: `package.module:name` of a `World`, or of a function or class that creates one.
    With MiniGrid installed, `minigrid:DoorKey-8x8` is the world of one of its ids.

    >>> make("maze", width=5, height=6)
    Maze(width=5, height=6, wall_percent=30, goals=2, scored=1)
    >>> make("mase")
    Traceback (most recent call last):
    treethink.errors.UnknownNameError: unknown world 'mase' ... Did you mean 'maze'? ...
    """
    if not isinstance(name, str):
        raise WrongTypeError(f"a world is made by its name, got {shown(name)}")
    if ":" in name:
        return _load_world(name, options)
    plain, in_brackets = _parts(name)
    if "/" in name or "\\" in name or name.endswith(".py"):
        raise SettingError(f"{shown(name)} is a path. {_OWN}; {_import_advice(name)}")
    if plain not in WORLDS:
        raise UnknownNameError("world", plain, WORLDS, "the registry of worlds", f"{_OWN}.")
    world = WORLDS[plain]
    return world(**_all_options(world, in_brackets, options, name))


def _import_advice(path: str) -> str:
    """Return advice on the folder and the name by which the module of a path can be imported."""
    folder, _, file = path.replace("\\", "/").rpartition("/")
    module = file.removesuffix(".py") or "module"
    return f"in {'the folder ' + folder if folder else 'this folder'}: {module}:name"


def _parts(name: str) -> tuple[str, list[str]]:
    """Split a name into the plain name and the numbers in brackets."""
    match = re.fullmatch(r"([^(]*)\(\s*((?:\d+\s*(?:,\s*\d+\s*)*)?)\)", name)
    if not match:
        return name, []
    return match[1], match[2].split(",") if match[2] else []


def _all_options(
    world: type[World], in_brackets: list[str], options: dict[str, int], name: str
) -> dict[str, int]:
    """Return all options: those in brackets, and those given by name."""
    if len(in_brackets) > len(world.positional) or any(len(each) > 18 for each in in_brackets):
        takes = ", ".join(world.positional) or "nothing"
        raise SettingError(f"world {world.name!r} takes {takes} in brackets, got {shown(name)}")
    positional = dict(zip(world.positional, map(int, in_brackets), strict=False))
    for each in options:  # checked here, since a name such as `self` fails in the call
        if each not in world.defaults:
            raise UnknownNameError("option", each, world.defaults, f"world {world.name!r}")
    for each in positional.keys() & options.keys():
        raise SettingError(f"the option {each!r} is given twice: in {name!r} and by its name")
    return positional | options


def _load_world(name: str, options: dict[str, int]) -> World:
    """Return the user's own world at a location such as `package.module:name`.

    Some names before the colon are those of packages and kinds of files.
    """
    if name.startswith(MINIGRID):
        return MiniGrid(name.removeprefix(MINIGRID), **options)  # type: ignore[arg-type]
    if is_warehouse(name):
        return make_warehouse(name, options)
    if name.startswith(SOKOBAN):
        path = name.removeprefix(SOKOBAN)
        return SokobanFile(path, **_all_options(SokobanFile, [], options, name))
    loaded = load_object(name, "world", _EXAMPLE)
    if isinstance(loaded, World) and options:
        raise SettingError(f"{name!r} is made already and takes no options, got {options}")
    world = loaded
    if isinstance(loaded, type) or (callable(loaded) and not isinstance(loaded, World)):
        world = _call(loaded, options, name)
    if not isinstance(world, World):
        raise WrongTypeError(f"{name!r} must be a World or make one, got {shown(world)}")
    _check_complete(world, name)
    return world


def _check_complete(world: World, name: str) -> None:
    """Raise an error that says what a world of one's own lacks."""
    if not isinstance(getattr(world, "schema", None), Schema):
        got = f", got {shown(world.schema)}" if hasattr(world, "schema") else ""
        raise WrongTypeError(
            f"the world {name!r} needs a schema: state it in its class, as in"
            f' schema = tt.Schema({{"player": ["pos"]}}, {{"pos": 2}}, ["left", "right"]){got}'
        )
    if not isinstance(getattr(world, "name", None), str):
        raise WrongTypeError(
            f"the world {name!r} needs a name: state it in its class, as in"
            f' name = "{type(world).__name__.lower()}"'
        )


_SIGNATURES = {"reset": "reset(self, seed)", "dynamics": "dynamics(self, state, action)"}


def _call(factory: Any, options: dict[str, int], name: str) -> Any:
    if inspect.isabstract(factory):
        missing = [_SIGNATURES.get(each, each) for each in sorted(factory.__abstractmethods__)]
        raise WrongTypeError(f"the world {name!r} needs the method {' and '.join(missing)}")
    try:
        if isinstance(factory, type) and "self" in options:
            raise TypeError("there is no option 'self'")
        inspect.signature(factory).bind(**options)
    except (TypeError, ValueError) as error:
        raise SettingError(f"{name!r} cannot be called with {options}: {error}") from None
    return factory(**options)
