"""The world `minigrid:ID`: any environment of MiniGrid or BabyAI that is fully told in objects.

id -> [ MiniGrid ] -> State; the environment itself makes every step
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from treethink.errors import SettingError, StateError, UnknownNameError
from treethink.state import Schema, State
from treethink.worlds.base import Bounds, Cell, World
from treethink.worlds.draw import Window, ansi
from treethink.worlds.draw.pixels import Pixels
from treethink.worlds.gym.adapter import gymnasium
from treethink.worlds.gym.minigrid import encoding, obstacles, stress
from treethink.worlds.gym.minigrid.encoding import FIXED, GONE, HELD, Level
from treethink.worlds.gym.minigrid.ids import PREFIX, full_id, short_id
from treethink.worlds.gym.minigrid.looks import LOOKS
from treethink.worlds.gym.minigrid.rebuild import Rebuilder
from treethink.worlds.scene import Distribution

REWARDS = ("sign", "none")
_SEEDS = 2**31
_MOST_TRIES = 100
_SAMPLED_LEVELS = 20


@dataclass(slots=True)
class _Step:
    """The last step of the environment: what went in, and what came out."""

    before: State
    action: str
    after: State
    reward: float
    terminated: bool


class MiniGrid(World):
    """An environment of MiniGrid or BabyAI: an agent among walls, doors, keys, balls and boxes.

    Objects
        agent (pos; heading: the vector of a step ahead); item (pos, kind: key, ball or box, color;
        held: whether the agent has it; inside: whether it is in a box); door (pos, color, state);
        mission (verb, kind, color, near_kind, near_color) if the mission names an object; target
        (pos) if the environment checks a place; wall, lava, goal, floor (pos). An item in the
        agent's hand is at (-1, -1), a box that was opened, and so has vanished, at (-2, -2). What
        is inside a box is where the box is.
    Actions
        left, right (turns), forward, pickup, drop, toggle, done; only the first three in
        Dynamic-Obstacles.
    Dynamics
        The environment's own: it is put into the given state, and makes the step. All ids are
        certain but Dynamic-Obstacles, whose distribution is listed up to 5,000 outcomes.
    Reward and end
        The sign of the environment's reward: 1 - 0.9 t/T, where t is the number of steps so far,
        depends on what no state shows. An episode ends where the environment terminates; its limit
        of steps is not part of the world.
    Start
        As the environment makes it for a seed.
    Options
        Those of the environment that are whole numbers, such as `size`.
    """

    name = "minigrid"

    def __init__(self, id: str, reward: str = "sign", **options: int):
        self._id = full_id(id)
        self.name = f"{PREFIX}{short_id(self._id)}"
        if reward not in REWARDS:
            raise UnknownNameError("reward", str(reward), REWARDS, self._where)
        self._keeps_reward = reward == "sign"
        self._env = self._make(options)
        self.options = dict(options)
        self.schema = _schema(int(self._env.action_space.n))
        self._rebuilder = Rebuilder(self._env)
        self._level: Level | None = None
        self._last: _Step | None = None
        self._try_levels()

    looks = LOOKS

    def _make(self, options: Mapping[str, int]) -> Any:
        """Return the environment, without wrappers, with as small a view as it can have."""
        spec = gymnasium().spec(self._id)
        known = _options_of(spec)
        for each, value in options.items():
            if each not in known:
                raise UnknownNameError("option", each, known, self._where)
            self._whole_number(each, value)
        try:
            env = gymnasium().make(self._id, disable_env_checker=True, **options).unwrapped
        except (AssertionError, TypeError, ValueError) as error:
            raise SettingError(f"{self._where} cannot have {dict(options)}: {error!r}") from error
        # No state shows what the agent sees, so the least of it is computed.
        env.see_through_walls, env.agent_view_size = True, 3
        return env

    def _try_levels(self) -> None:
        """Raise an error if options allow no level."""
        try:
            self.reset(0)
        except (AssertionError, TypeError, ValueError) as error:
            raise SettingError(f"{self._where} has no level: {error!r}") from error

    # ------------------------------------------------------------------- dynamics

    def reset(self, seed: int) -> State:
        number = self._whole_number("seed", seed) % _SEEDS
        self._last = self._level = None
        with contextlib.redirect_stdout(io.StringIO()):  # BabyAI prints what it rejects
            self._env.reset(seed=number)
        return Level(self._env, self.schema).first_state()

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        seed = None
        if self._moves_balls:
            self._check_balls(state)
            seed = int(rng.integers(_SEEDS))
        return self._step(state, action, seed).after

    def dynamics(self, state: State, action: str) -> Distribution:
        if not self._moves_balls:
            return [(self._step(state, action).after, 1.0)]
        joint = self._joint(state)
        if joint is None:
            raise StateError(
                f"{self._where}: {len(state.of_class('item'))} balls have more than"
                f" {obstacles.MOST_OUTCOMES:,} joint moves, which are not listed"
            )
        return self._after_balls(state, action, joint)

    def truth(self, before: State, action: str, after: State) -> Distribution | State:
        if self._moves_balls and self._joint(before) is None:
            return after
        return self.distribution(before, action)

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the sign of the environment's reward; None if rewards are left out."""
        return self._outcome(before, action, after).reward if self._keeps_reward else None

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether the environment ends the episode with this step."""
        return self._outcome(before, action, after).terminated

    @property
    def states_reward(self) -> bool:
        """Whether it states rewards: if they are not left out."""
        return self._keeps_reward

    def _step(self, state: State, action: str, seed: int | None = None) -> _Step:
        """Let the environment make the step; with a seed also its balls, else they stay."""
        level = self._put(state)
        self._level = self._last = None  # unknown if the environment raises an error
        if self._moves_balls:
            self._env.obstacles = [] if seed is None else list(level.movable.values())
            self._env.np_random = np.random.default_rng(seed)
        self._env.step_count = 0  # no state shows the time
        code = encoding.ACTIONS.index(action)
        try:
            _, reward, terminated, _, _ = self._env.step(self._env.actions(code))
        except (AssertionError, IndexError) as error:  # such as a step off the grid
            agent = self.the(state, "agent")
            raise StateError(
                f"{self._where} cannot do {action!r} in this state, where the agent is at"
                f" {agent.pos} and faces {agent.heading}: {error!r}"
            ) from error
        after = level.next_state(state)
        self._level = level
        self._last = _Step(state, action, after, float(np.sign(reward)), bool(terminated))
        return self._last

    def _put(self, state: State) -> Level:
        """Put the environment into the state; return what reads it."""
        if self._level is not None and self._last is not None and self._last.after == state:
            return self._level  # it is there
        self._level = self._last = None  # it is there no longer, also if the state is refused
        return self._rebuilder.level(state, self._where)

    def _outcome(self, before: State, action: str, after: State) -> _Step:
        """Return the step between two states, whose reward and end do not depend on chance."""
        last = self._last
        if last is not None and (last.before, last.action, last.after) == (before, action, after):
            return last
        self._check(before, action)
        return self._step(before, action)

    # --------------------------------------------------------- moving obstacles

    @property
    def _moves_balls(self) -> bool:
        return hasattr(self._env, "obstacles")

    def _joint(self, state: State) -> dict[obstacles.Places, float] | None:
        """Return where the balls may go, with probabilities; None if that is too much to list."""
        self._check_balls(state)
        fixed = (*FIXED, "door", "agent")
        taken = {each.pos for name in fixed for each in state.of_class(name)}
        balls = [each.pos for each in state.of_class("item")]
        grid = self._env.grid
        size = grid.width, grid.height
        return obstacles.joint_places(balls, lambda cell: cell not in taken, size)

    def _check_balls(self, state: State) -> None:
        """Put the environment into the state, if all of its items lie on the grid and so move."""
        self._put(state)
        grid = self._env.grid
        for each in state.of_class("item"):
            x, y = each.pos
            if each.inside or not (0 <= x < grid.width and 0 <= y < grid.height):
                where = "in a box" if each.inside else f"at {each.pos}"
                raise StateError(
                    f"{self._where} cannot have this state: {each.kind} {each.id} is {where}, which"
                    " is not on the grid, where all items lie and move"
                )

    def _after_balls(
        self, state: State, action: str, joint: Mapping[obstacles.Places, float]
    ) -> Distribution:
        """Return what follows: the environment moves the agent once the balls have moved.

        Of a place of the balls only matters whether one of them is ahead of the agent, so the
        environment answers for one of each kind.
        """
        balls = [each.id for each in state.of_class("item")]
        agent = self.the(state, "agent")
        ahead = state.value(agent.id, "pos + heading")
        answers: dict[bool, Any] = {}
        distribution: Distribution = []
        for places, chance in joint.items():
            moved = state.replace_many({i: {"pos": p} for i, p in zip(balls, places, strict=True)})
            if (blocked := ahead in places) not in answers:
                answers[blocked] = self._step(moved, action).after[agent.id].values
            distribution.append((moved.replace(agent.id, **answers[blocked]), chance))
        return distribution

    # --------------------------------------------------------- situations

    def stress_state(self, rng: np.random.Generator) -> State | None:
        """Return a level whose doors, items and agent are put together at random."""
        for _ in range(_MOST_TRIES):
            state = stress.shuffled(self.reset(int(rng.integers(_SEEDS))), rng)
            if not self._is_past_end(state):
                return state
        return None

    def _is_past_end(self, state: State) -> bool:
        """Return whether no episode goes on from here: it would have ended before."""
        env = self._env
        self._put(state)
        wrong_in_hand = env.carrying is not None and (
            (hasattr(env, "targetType") and not hasattr(env, "target_pos"))
            or getattr(env, "obj", None) is env.carrying
            or (
                hasattr(env, "move_type")
                and (env.carrying.type, env.carrying.color) != (env.move_type, env.moveColor)
            )
        )
        opened = [getattr(env, name, None) for name in ("door", "blue_door")]
        return bool(wrong_in_hand) or any(each is not None and each.is_open for each in opened)

    # --------------------------------------------------------- description, pictures

    def most_objects(self) -> dict[str, int]:
        """Return the largest number of objects of each class that levels are known to have."""
        width, height = self._env.width, self._env.height
        most: Counter[str] = Counter()
        for seed in range(_SAMPLED_LEVELS):
            most |= Counter(each.class_name for each in self.reset(seed))
        cells = width * height
        return {
            name: cells if most[name] and name in ("wall", "lava", "floor") else most[name]
            for name in self.schema.classes
        }

    def bounds(self) -> Bounds:
        right, bottom = self._env.width - 1, self._env.height - 1
        return {
            "pos": ((0, 0), (right, bottom)),
            ("item", "pos"): (GONE, (right, bottom)),
            "heading": ((-1, -1), (1, 1)),
        }

    def place(self, each: Any) -> Cell | None:
        pos = each.values.get("pos")
        return None if pos is None or pos in (HELD, GONE) else pos

    def frame(self) -> Window | None:
        return Window(0, 0, self._env.width, self._env.height)

    @overload
    def render(self, state: State, mode: Literal["ansi"] = "ansi") -> str: ...
    @overload
    def render(self, state: State, mode: Literal["rgb_array"]) -> Pixels: ...
    def render(self, state: State, mode: str = "ansi") -> str | Pixels:
        """Return the state as text, or as the environment's own picture (`rgb_array`)."""
        self._check_state(state)
        if mode == "ansi":
            return ansi(self, state)
        if mode == "rgb_array":
            self._put(state)
            picture: Pixels = self._env.get_frame(highlight=False)
            return picture
        raise UnknownNameError("mode", str(mode), ["ansi", "rgb_array"], "World.render")

    def __repr__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"MiniGrid({short_id(self._id)!r}{options})"


_SCHEMAS: dict[int, Schema] = {}


def _schema(actions: int) -> Schema:
    """Return the schema with that number of actions, the same one for all ids."""
    if actions not in _SCHEMAS:
        _SCHEMAS[actions] = encoding.schema(actions)
    return _SCHEMAS[actions]


def _options_of(spec: Any) -> list[str]:
    """Return the arguments of an environment that are whole numbers by default, or sizes."""
    module, _, name = spec.entry_point.partition(":")
    parameters: dict[str, Any] = {}
    for cls in reversed(getattr(importlib.import_module(module), name).__mro__):
        if cls.__module__.startswith("minigrid.") and "__init__" in vars(cls):
            parameters |= inspect.signature(cls.__init__).parameters
    whole = {
        key
        for key, each in parameters.items()
        if isinstance(each.default, int) and not isinstance(each.default, bool)
    }
    hidden = {"agent_view_size", "tile_size", "screen_size", "max_steps"}
    return sorted((whole | {k for k in spec.kwargs if isinstance(spec.kwargs[k], int)}) - hidden)
