"""`rware:ID`: the Robotic Warehouse (RWARE) as a world, with several robots.

    state -> the package's environment, put into that state -> step -> state

Nothing of the rules is written here: the package's own `step` says what follows. It needs the
extra `rware`. A state has all that the step depends on, so the world is pure.

How a joint move is told: robots get their commands one after another. An action such as `forward`
is the command of the robot whose turn it is, and is kept as an attribute of it; `go` lets all
robots act at once. So there are six actions for any number of robots, and what a robot does by
`go` is one rule for all robots and commands. Random play mostly gives all robots random commands
and lets them act, since telling is easily learned. `rware-joint:ID` has one action for each
combination of commands instead (`forward+left`). docs/worlds.md compares the two.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from treethink.errors import (
    MissingPackageError,
    SettingError,
    StateError,
    UnknownNameError,
    missing_package,
    shown,
)
from treethink.presets import Category, Flag, Number, Position
from treethink.state import Object, Schema, State
from treethink.worlds.base import Bounds, Cell, World
from treethink.worlds.draw import Window
from treethink.worlds.looks import BLUE, CYAN, DIM, GREEN, GREY, ORANGE, RED, Look
from treethink.worlds.scene import Distribution, Thing, populate

#: The starts of the names of these worlds: commands told one by one, and joint actions.
PREFIX, JOINT_PREFIX = "rware:", "rware-joint:"
#: Commands in the package's order.
COMMANDS = ("wait", "forward", "left", "right", "load")
#: The action that lets all robots act.
GO = "go"
#: Headings in the package's order: up, down, left, right.
HEADINGS: Sequence[Cell] = ((0, -1), (0, 1), (-1, 0), (1, 0))
_ID, _ROBOTS_OF = re.compile(r"rware-(.+)-v2"), re.compile(r"-(\d+)ag")
#: The layers of the package's grid.
_ROBOTS, _SHELVES = 0, 1
_MOST_JOINT = 1_000
#: How often random play tells one robot a command, instead of all of them, and lets them act.
_TELLS = 0.2
_SEEDS = 2**31


class Warehouse(World):
    """Robots carry shelves to the goals of a warehouse, as in RWARE.

    Objects
        wall (pos), around the warehouse; rack (pos): a cell on which a shelf may be put down; goal
        (pos); shelf (pos; requested: whether it is wanted at a goal); robot (pos; heading, a
        vector; loaded: whether it carries the shelf where it is; number: from 1 on, which
        decides between robots that want the same cell; command; told: whether the next
        command is for this robot).
    Actions
        wait, forward, left, right, load: the command of the robot whose turn it is; the turn
        passes to the robot with the next number. go: all robots act by their commands. With joint
        actions, one for each combination, in the order of numbers: wait+forward.
    Dynamics
        Those of the package. A robot moves one cell, turns by a quarter, or takes up or puts
        down the shelf where it is; it puts it down only on a rack. Robots do not enter the same
        cell, and loaded ones no cell with another shelf. A requested shelf that reaches
        a goal is delivered: another one is requested instead, each with equal probability.
    Reward
        1 for each shelf that is delivered. The time limit of the package is left out.
    Start
        As the package makes it. All commands are `wait`, and the first robot's turn is next.
    Version
        1: the first. Follows rware 2.0.
    """

    name = "rware"

    def __init__(self, warehouse: str = "tiny-2ag", joint: bool = False):
        super().__init__()
        self.name = f"{JOINT_PREFIX if joint else PREFIX}{warehouse}"
        self._env = _make_env(warehouse, self.name)
        self._joint = joint
        robots: int = self._env.n_agents
        if joint and len(COMMANDS) ** robots > _MOST_JOINT:
            raise SettingError(
                f"{self._where}: {robots} robots have {len(COMMANDS) ** robots:,} joint actions;"
                f" use {PREFIX}{warehouse}, where each gets its command in turn"
            )
        self._commands = {"+".join(each): each for each in product(COMMANDS, repeat=robots)}
        told = [] if joint else ["command", "told"]
        self.schema = Schema(
            classes={
                "wall": ["pos"],
                "rack": ["pos"],
                "goal": ["pos"],
                "shelf": ["pos", "requested"],
                "robot": ["pos", "heading", "loaded", "number", *told],
            },
            attributes={
                "pos": Position(2),
                "requested": Flag(),
                "heading": Position(2),
                "loaded": Flag(),
                "number": Number(),
                **({} if joint else {"command": Category(COMMANDS), "told": Flag()}),
            },
            actions=list(self._commands) if joint else [*COMMANDS, GO],
        )
        self.looks = (
            Look("#", "wall", "block", GREY),
            Look(",", "rack", "frame", DIM),
            Look("G", "goal", "star", GREEN),
            Look("s", "shelf", "square", ORANGE, {"requested": False}),
            Look("S", "shelf", "square", RED, {"requested": True}),
            *(
                Look(sign, "robot", f"facing-{way}", colour, {"heading": heading, "loaded": loaded})
                for loaded, colour, signs in ((False, BLUE, "^v<>"), (True, CYAN, "AVLR"))
                for sign, way, heading in zip(signs, _WAYS, HEADINGS, strict=True)
            ),
        )
        self._env.reset(seed=0)
        self._fixed = _fixed_things(self._env)

    # ------------------------------------------------------------------------- states

    def reset(self, seed: int) -> State:
        env = self._env
        env.reset(seed=self._whole_number("seed", seed) % _SEEDS)
        told = {} if self._joint else {"command": COMMANDS[0], "told": False}
        shelves: list[Thing] = [
            ("shelf", {"pos": (int(each.x), int(each.y)), "requested": each in env.request_queue})
            for each in env.shelfs
        ]
        robots: list[Thing] = [
            ("robot", {"number": i, **self._robot_values(each), **told})
            for i, each in enumerate(env.agents, 1)
        ]
        state = populate(self.schema, [*self._fixed, *shelves, *robots])
        if self._joint:
            return state
        return state.replace(_by_number(state)[0].id, told=True)

    @staticmethod
    def _robot_values(agent: Any) -> dict[str, Any]:
        """Return the values of a robot of the environment."""
        return {
            "pos": (int(agent.x), int(agent.y)),
            "heading": HEADINGS[agent.dir.value],
            "loaded": agent.carrying_shelf is not None,
        }

    def _put(self, state: State) -> tuple[list[Object], list[Object]]:
        """Put the environment into a state; return the robots and shelves in its order."""
        from rware.warehouse import Direction

        env, robots, shelves = self._env, _by_number(state), list(state.of_class("shelf"))
        if len(robots) != len(env.agents) or len(shelves) != len(env.shelfs):
            raise StateError(
                f"{self._where} has {len(env.agents)} robots and {len(env.shelfs)} shelves, the"
                f" state has {len(robots)} and {len(shelves)}"
            )
        at_cell = {}
        for shelf, each in zip(env.shelfs, shelves, strict=True):
            shelf.x, shelf.y = each.pos
            at_cell[each.pos] = shelf
        for agent, each in zip(env.agents, robots, strict=True):
            agent.x, agent.y = each.pos
            agent.dir = Direction(_number_of_heading(self._where, each))
            agent.carrying_shelf = at_cell.get(each.pos) if each.loaded else None
            agent.has_delivered = False
        env.request_queue = [
            shelf for shelf, each in zip(env.shelfs, shelves, strict=True) if each.requested
        ]
        env.grid[:] = 0
        for layer, things in ((_ROBOTS, env.agents), (_SHELVES, env.shelfs)):
            for thing in things:
                env.grid[layer, thing.y, thing.x] = thing.id
        return robots, shelves

    # ------------------------------------------------------------------------ dynamics

    def random_play(self, state: State, rng: np.random.Generator) -> tuple[State, str]:
        """Let all robots act by random commands, four times of five; or tell one a command."""
        if self._joint or rng.random() < _TELLS:
            return super().random_play(state, rng)
        robots = _by_number(state)
        told = [COMMANDS[i] for i in rng.integers(len(COMMANDS), size=len(robots)).tolist()]
        commands = {
            each.id: {"command": command} for each, command in zip(robots, told, strict=True)
        }
        return state.replace_many(commands), GO

    def dynamics(self, state: State, action: str) -> Distribution:
        if not self._joint and action != GO:
            return self.surely(state, self._tell(state, action))
        return [(after, chance) for after, (chance, _) in self._outcomes(state, action).items()]

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        if not self._joint and action != GO:
            return self.dynamics(state, action)[0][0]
        after, _ = self._moved(state, action, _Draws(rng=rng))
        return after

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the number of shelves that were delivered."""
        if _requested(before) == _requested(after):  # one that is delivered is not requested again
            return 0.0
        outcome = self._outcomes(before, action).get(after)
        return None if outcome is None else outcome[1]

    def _tell(self, state: State, command: str) -> Mapping[int, Mapping[str, Any]]:
        """Return the change by which the robot whose turn it is gets its command."""
        robots = _by_number(state)
        turns = [i for i, each in enumerate(robots) if each.told]
        changes: dict[int, dict[str, Any]] = {}
        for i in turns:
            after = robots[(i + 1) % len(robots)].id
            changes.setdefault(robots[i].id, {}).update(command=command, told=False)
            changes.setdefault(after, {})["told"] = True
        return changes

    def _outcomes(self, state: State, action: str) -> dict[State, tuple[float, float]]:
        """Return the probability and the reward of every possible next state."""
        first = _Draws()
        outcomes: dict[State, tuple[float, float]] = {}
        after, reward = self._moved(state, action, first)
        if not first.sizes:
            return {after: (1.0, reward)}
        chance = 1.0 / float(np.prod(first.sizes))
        for chosen in product(*map(range, first.sizes)):
            after, reward = self._moved(state, action, _Draws(chosen))
            outcomes[after] = (outcomes.get(after, (0.0, 0.0))[0] + chance, reward)
        return outcomes

    def _moved(self, state: State, action: str, draws: _Draws) -> tuple[State, float]:
        """Return what the environment makes of a joint move, and its reward."""
        robots, shelves = self._put(state)
        told = self._commands[action] if self._joint else [each.command for each in robots]
        env = self._env
        env.np_random = draws
        _, rewards, *_ = env.step([COMMANDS.index(each) for each in told])
        changes: dict[int, dict[str, Any]] = {
            each.id: self._robot_values(agent)
            for each, agent in zip(robots, env.agents, strict=True)
        }
        for each, shelf in zip(shelves, env.shelfs, strict=True):
            requested = shelf in env.request_queue
            changes[each.id] = {"pos": (int(shelf.x), int(shelf.y)), "requested": requested}
        return state.replace_many(changes), float(sum(rewards))

    # --------------------------------------------------------------------- description

    def stress_state(self, rng: np.random.Generator) -> State:
        """Return robots close together, loaded or not, among shelves that are close by, too."""
        state = self.reset(int(rng.integers(_SEEDS)))
        height, width = self._env.grid_size
        x, y = int(rng.integers(width)), int(rng.integers(height))
        near = sorted(
            product(range(width), range(height)),
            key=lambda cell: (cell[0] - x) ** 2 + (cell[1] - y) ** 2,
        )
        robots, shelves = _by_number(state), list(state.of_class("shelf"))
        cells = [near[i] for i in rng.permutation(3 * len(robots)).tolist()][: len(robots)]
        changes: dict[int, dict[str, Any]] = {}
        free_shelves = [shelves[i] for i in rng.permutation(len(shelves)).tolist()]
        taken = {each.pos: each for each in shelves}
        for each, cell in zip(robots, cells, strict=True):
            loaded = bool(rng.random() < 0.6)
            if loaded and cell not in taken:
                shelf = next(s for s in free_shelves if s.pos not in cells and s.id not in changes)
                del taken[shelf.pos]
                changes[shelf.id] = {"pos": cell}
                taken[cell] = shelf
            values: dict[str, Any] = {"pos": cell, "loaded": loaded}
            values["heading"] = HEADINGS[int(rng.integers(4))]
            if not self._joint:
                values["command"] = COMMANDS[int(rng.choice(5, p=_STRESS_COMMANDS))]
            changes[each.id] = values
        return state.replace_many(changes)

    def bounds(self) -> Bounds:
        height, width = self._env.grid_size
        inside: tuple[Cell, Cell] = (0, 0), (width - 1, height - 1)
        numbers = (1, len(self._env.agents))
        return {
            "pos": inside,
            ("wall", "pos"): ((-1, -1), (width, height)),
            "heading": ((-1, -1), (1, 1)),
            "number": numbers,
        }

    def frame(self) -> Window | None:
        height, width = self._env.grid_size
        return Window(-1, -1, width + 2, height + 2)


_WAYS = ("up", "down", "left", "right")
_STRESS_COMMANDS = (0.1, 0.5, 0.1, 0.1, 0.2)


class _Draws:
    """Takes the place of the environment's random numbers: chosen ones, or those of a generator.

    `sizes` has the number of candidates of every draw.
    """

    def __init__(self, chosen: Sequence[int] = (), rng: np.random.Generator | None = None):
        self._chosen, self._rng = list(chosen), rng
        self.sizes: list[int] = []

    def choice(self, candidates: Sequence[Any]) -> Any:
        """Return one of the candidates."""
        number = len(self.sizes)
        self.sizes.append(len(candidates))
        if self._rng is not None:
            return candidates[int(self._rng.integers(len(candidates)))]
        return candidates[self._chosen[number] if number < len(self._chosen) else 0]


def is_warehouse(name: str) -> bool:
    """Return whether a name is that of one of these worlds."""
    return name.startswith((PREFIX, JOINT_PREFIX))


def make_warehouse(name: str, options: Mapping[str, int]) -> Warehouse:
    """Return the world of a name such as `rware:tiny-2ag`."""
    for each in options:
        raise UnknownNameError("option", each, (), f"world {name!r}")
    return Warehouse(name.partition(":")[2], joint=name.startswith(JOINT_PREFIX))


def is_installed() -> bool:
    """Return whether RWARE is installed, without importing it."""
    return importlib.util.find_spec("rware") is not None


def known_ids() -> list[str]:
    """Return the ids without the package's name and version, by size, ending and number."""
    try:
        import gymnasium
        import rware
    except ImportError as error:
        raise missing_package("these worlds need RWARE", "rware") from error
    del rware  # importing it registers the environments
    ids = [found[1] for each in gymnasium.registry if (found := _ID.fullmatch(each))]
    return sorted(ids, key=_parts)


def _parts(warehouse: str) -> tuple[str, str, int]:
    """Return what an id is sorted by: its size, its ending and the number of robots."""
    found = _ROBOTS_OF.search(warehouse)
    if found is None:
        return warehouse, "", 0
    return warehouse[: found.start()], warehouse[found.end() :], int(found[1])


def summary() -> str:
    """Return all ids in a few lines, one for each size and ending."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in known_ids():
        groups.setdefault(_parts(each)[:2], []).append(each)
    lines = [f"{PREFIX}ID, or {JOINT_PREFIX}ID for joint actions, where ID is one of", ""]
    return "\n".join([*lines, *(", ".join(names) for names in groups.values())])


def _make_env(warehouse: str, name: str) -> Any:
    """Return the package's environment of that id, without a time limit and observations."""
    try:
        known = known_ids()
    except MissingPackageError as error:
        raise missing_package(f"the world {name!r} needs RWARE", "rware") from error
    if warehouse not in known:
        raise UnknownNameError("warehouse", warehouse, known, "the package rware")
    import gymnasium

    env: Any = gymnasium.make(f"rware-{warehouse}-v2", disable_env_checker=True).unwrapped
    env.max_steps = None
    vars(env)["_make_obs"] = _no_observation  # observations take most of the time of a step
    return env


def _no_observation(agent: Any) -> None:
    return None


def _fixed_things(env: Any) -> list[Thing]:
    """Return walls around the warehouse, and its racks and goals."""
    height, width = env.grid_size
    across = [(x, y) for y in (-1, height) for x in range(-1, width + 1)]
    down = [(x, y) for x in (-1, width) for y in range(height)]
    cells = product(range(width), range(height))
    racks = [(x, y) for x, y in cells if not env.highways[y, x]]
    goals = [(int(x), int(y)) for x, y in env.goals]
    things = {"wall": [*across, *down], "rack": racks, "goal": goals}
    return [(name, {"pos": cell}) for name, each in things.items() for cell in each]


def _by_number(state: State) -> list[Object]:
    return sorted(state.of_class("robot"), key=lambda each: each.number)


def _requested(state: State) -> set[int]:
    return {each.id for each in state.find("shelf", requested=True)}


def _number_of_heading(where: str, robot: Object) -> int:
    if robot.heading not in HEADINGS:
        raise StateError(f"{where}: heading of {shown(robot)} must be one of {list(HEADINGS)}")
    return HEADINGS.index(robot.heading)
