"""`GymWorld`: a Gymnasium environment as a world.

    reset, step -> environment -> to_state -> [ GymWorld ] -> State

Unlike other worlds it has a state, that of the environment: it can only step from its current
state, and does not know the distribution over next states.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from treethink.errors import (
    SettingError,
    StateError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    missing_package,
    shown,
)
from treethink.state import Object, Schema, State
from treethink.text import listed, many
from treethink.worlds.base import World
from treethink.worlds.gym.rewards import Reader, Rewards, reward_reader
from treethink.worlds.gym.tracker import Tracker, is_thing
from treethink.worlds.looks import Look
from treethink.worlds.scene import Distribution, Thing

ToState = Callable[[Any], State | Iterable[Object] | Iterable[Thing]]
Make = str | Callable[[], Any]
Actions = Mapping[str, Any] | Sequence[str] | None

# Some environments do not accept larger seeds.
_SEEDS = 2**31
_MAX_SCALE = 10**9
# Tolerances of scaled rewards, which are often 32-bit floats with seven digits.
_CLOSE, _NEAR_ZERO, _FAR = 1e-6, 1e-9, 0.1


def gymnasium() -> Any:
    """Return the package Gymnasium; raise an error if it is not installed."""
    try:
        import gymnasium as package
    except ImportError as error:
        raise missing_package("this world needs Gymnasium", "gym") from error
    return package


def joint_actions(*parts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the joint actions of several parts, each with its numbers: of agents, or of a body.

    They are the `actions` of a `GymWorld` whose environment takes a number for each part, such as
    one with a `MultiDiscrete` space, and its names are those of a schema.

    >>> joint_actions(["left", "right"], ["wait", "grab"])
    {'left wait': (0, 0), 'left grab': (0, 1), 'right wait': (1, 0), 'right grab': (1, 1)}
    """
    return {
        " ".join(name for _, name in chosen): tuple(i for i, _ in chosen)
        for chosen in product(*(list(enumerate(part)) for part in parts))
    }


class GymWorld(World):
    """A Gymnasium environment as a world of objects.

    If the schema has a class `game` with an attribute `score`, its value is the sum of all
    rewards since `reset`, and `to_state` need not return a game. Otherwise the world states the
    reward of its last step (`reward`) and whether that ended the episode (`terminated`).

    `reset` seeds the environment, which then uses its own random numbers; `step` ignores the
    generator it is given. `step` continues from the current state of the environment and rejects
    any other state: the world is not `pure`. The distribution over next states is unknown, so
    `distribution` raises an error and predictions are scored against the observed next state.
    `is_over` returns whether the environment has terminated or truncated the episode. The `name`
    is the environment's id, or the name of its class if it has none.

    Parameters
    ----------
    make_env
        A function without arguments that creates the environment, or its id in Gymnasium. Several
        in a list make one world, whose episodes are in one of them each, as the seed says.
    schema
        The classes and attributes of its states, and the names of its actions.
    to_state
        A function of the environment that returns its current objects or State. Objects must
        keep their ids. If the environment has no ids, return pairs of a class and its values, such
        as ``("crab", {"pos": (3, 4)})``: a `Tracker` numbers them.
    actions
        The environment's action for each name, as a dict, or a list of all names in the
        environment's order. The default is the order of the schema. For an environment that takes
        several numbers, see `joint_actions`.
    looks
        The looks of objects in pictures.
    reward_scale
        The factor that turns rewards into points, which are integers. With a scale of 10, a
        reward of 0.1 is one point.
    rewards
        What is told of a reward: ``"exact"``, itself; ``"round"``, the nearest whole number;
        ``"sign"``, -1, 0 or 1; a list of numbers, how many of them it reaches; None, nothing.
    ends
        Whether the world states which steps end an episode. None: if it has no score.
    on_reset
        A function of the environment, called after each of its resets, before `to_state`: the place
        to number its objects, or to note what an episode begins with.
    """

    name = "gym"
    pure = False
    _read_reward: Reader | None = float
    _told_ends: bool | None = None
    _on_reset: Callable[[Any], object] | None = None

    def __init__(
        self,
        make_env: Make | Sequence[Make],
        *,
        schema: Schema,
        to_state: ToState,
        actions: Actions = None,
        looks: Sequence[Look] = (),
        reward_scale: int = 1,
        rewards: Rewards = "exact",
        ends: bool | None = None,
        on_reset: Callable[[Any], object] | None = None,
    ):
        super().__init__()
        if not isinstance(schema, Schema):
            raise WrongTypeError(f"{self._where}: schema must be a Schema, got {shown(schema)}")
        self.schema, self.looks = schema, looks
        self._read_reward = reward_reader(rewards, self._where)
        self._told_ends = ends
        if on_reset is not None and not callable(on_reset):
            raise WrongTypeError(
                f"{self._where}: on_reset must be a function, got {shown(on_reset)}"
            )
        self._on_reset = on_reset
        self._adapt(make_env, to_state, actions, reward_scale)

    def _adapt(
        self,
        make_env: Make | Sequence[Make],
        to_state: ToState,
        actions: Actions = None,
        reward_scale: int = 1,
    ) -> None:
        """Create the environment; options, schema and looks are already set."""
        if not callable(to_state):
            raise WrongTypeError(f"{self._where}: to_state must be a function, got {to_state!r}")
        self._to_state = to_state
        self._reward_scale = self._whole_number("reward_scale", reward_scale)
        if not 1 <= self._reward_scale <= _MAX_SCALE:
            raise SettingError(
                f"{self._where}: reward_scale must be from 1 to {_MAX_SCALE:,},"
                f" got {shown(reward_scale)}"
            )
        self._is_scored = "score" in self.schema.classes.get("game", ())
        makers: Any = make_env if isinstance(make_env, list | tuple) else [make_env]
        self._envs = [_make(each) for each in makers]
        if not self._envs:
            raise SettingError(f"{self._where}: the list of environments is empty")
        self._env = self._envs[0]
        self._tracker = Tracker()
        if type(self).name == GymWorld.name:  # unless a subclass such as Taxi has its own
            self.name = self._env_name()
        self._codes = self._action_codes(actions)
        for env in self._envs:
            self._check_codes(env.action_space)
            if not isinstance(actions, Mapping):
                self._check_all_named(env.action_space)
        self._state: State | None = None
        self._score = 0
        self._over = False
        self._last: tuple[State, str, State] | None = None
        self._last_feedback: tuple[float | None, bool] = None, False

    @classmethod
    def sheet(cls) -> str:
        return inspect.getdoc(cls) or ""

    def reset(self, seed: int) -> State:
        number = self._whole_number("seed", seed) % _SEEDS
        self._score, self._over, self._state = 0, False, None
        self._env = self._envs[number % len(self._envs)]
        self._env.reset(seed=number // len(self._envs))
        self._tracker.start()
        if self._on_reset is not None:
            self._on_reset(self._env)
        self._state = self._read()
        return self._state

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        if self._state is None or state != self._state:
            note = ", nowhere before reset" if self._state is None else ""
            raise StateError(
                f"{self._where} goes on only from where the environment stands{note};"
                " it cannot be put into another state"
            )
        if self._over:
            raise StateError(f"{self._where}: the episode is over; reset starts another")
        self._state = None  # unknown if the environment raises an error
        _, reward, terminated, truncated, _ = self._env.step(self._codes[action])
        self._score += self._points(reward)
        self._over = bool(terminated or truncated)
        after = self._read()
        self._check_same_objects(state, action, after)
        self._state = after
        self._last = state, action, after
        self._last_feedback = self._told(reward), bool(terminated)
        return after

    def _told(self, reward: Any) -> float | None:
        """Return what is told of a reward; None if nothing is, or if it is not a number."""
        number = _number(reward)
        return None if number is None or self._read_reward is None else self._read_reward(number)

    def _check_same_objects(self, before: State, action: str, after: State) -> None:
        """Raise an error that names the objects that are only before, or only after, a step."""
        if after.ids == before.ids:
            return
        gone = [f"{before[i].class_name} {i}" for i in sorted({*before.ids} - {*after.ids})]
        new = [f"{after[i].class_name} {i}" for i in sorted({*after.ids} - {*before.ids})]
        parts = [
            f"only {when}: {listed(each[:6])}"
            for when, each in (("before", gone), ("after", new))
            if each
        ]
        raise StateError(
            f"{self._where}: after {action!r} to_state returns other objects than before, ids"
            f" {sorted({*before.ids} ^ {*after.ids})} ({'; '.join(parts)}). Objects must keep their"
            " ids until reset: tell what vanishes with an attribute; if the environment has no ids,"
            ' return pairs such as ("crab", {"pos": (3, 4)})'
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        raise StateError(
            f"{self._where}: the environment does not state what may follow, and with which"
            " probabilities; a prediction can only be compared with what does follow"
        )

    def truth(self, before: State, action: str, after: State) -> Distribution | State:
        return after

    def is_over(self, state: State) -> bool:
        return self._over and state == self._state

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the reward of the last step; None of any other, which is not known."""
        if not self.states_reward or (before, action, after) != self._last:
            return None
        return self._last_feedback[0]

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether the last step ended the episode; None of any other."""
        if not self.states_end or (before, action, after) != self._last:
            return None
        return self._last_feedback[1]

    @property
    def states_reward(self) -> bool:
        """Whether it states rewards: if they are not left out, nor in the game's score."""
        return not self._is_scored and self._read_reward is not None

    @property
    def states_end(self) -> bool:
        """Whether it states ends: as `ends` says, or else if it has no score."""
        return not self._is_scored if self._told_ends is None else self._told_ends

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._env_name()})"

    def __deepcopy__(self, memo: object) -> GymWorld:
        return self._constructor_call()

    def __reduce__(self) -> tuple[Any, ...]:
        call = self._constructor_call
        for name, value in {"make_env": call.args[:1], **call.keywords}.items():
            for each in value if isinstance(value, tuple | list) else [value]:
                _check_importable(name, each, self._where)
        return super().__reduce__()

    def _env_name(self) -> str:
        """Return the environment's id, or its class if it has none."""
        spec, env = getattr(self._env, "spec", None), getattr(self._env, "unwrapped", self._env)
        return str(spec.id) if spec else type(env).__name__

    def _read(self) -> State:
        """Return the current state with the current score."""
        objects = self._objects()
        if not self._is_scored:
            return State(self.schema, objects)
        games = [each for each in objects if each.class_name == "game"]
        if len(games) > 1:
            raise StateError(f"{self._where}: to_state returns {len(games)} games, one is enough")
        others = [each for each in objects if each.class_name != "game"]
        id_ = games[0].id if games else 1 + max((each.id for each in others), default=-1)
        values = {**games[0].values} if games else {}
        game = Object(id_, "game", **{**values, "score": self._score})
        return State(self.schema, [*others, game])

    def _objects(self) -> list[Object]:
        """Return what `to_state` returns; raise an error if it is not a state of the schema."""
        try:
            returned = self._to_state(self._env)
            objects: list[Any] | None = list(returned) if isinstance(returned, Iterable) else None
        except TreeThinkError as error:
            error.add_note(f"(raised by the to_state of {self._where})")
            raise
        except Exception as error:  # to_state may run any code
            raise StateError(f"{self._where}: to_state raised {error!r}") from error
        if objects and all(map(is_thing, objects)):
            return self._tracked(objects)
        if objects is None or not all(isinstance(each, Object) for each in objects):
            raise WrongTypeError(
                f"{self._where}: to_state must return Objects or a State, got {shown(returned)};"
                ' for objects without ids return pairs such as ("crab", {"pos": (3, 4)})'
            )
        return objects

    def _tracked(self, things: list[Any]) -> list[Object]:
        """Return things without ids as objects."""
        try:
            return self._tracker.track(things)
        except TreeThinkError as error:
            error.add_note(f"(things that the to_state of {self._where} returned)")
            raise

    def _points(self, reward: Any) -> int:
        """Return a reward as an integer."""
        if not self._is_scored or self._read_reward is None:
            return 0
        number = self._told(reward)
        if number is None:
            raise WrongTypeError(f"{self._where}: a reward must be a number, got {shown(reward)}")
        scaled = number * self._reward_scale
        if not math.isfinite(scaled):
            raise SettingError(f"{self._where}: a reward of {shown(reward)} fits into no score")
        points = round(scaled)
        close = math.isclose(scaled, points, rel_tol=_CLOSE, abs_tol=_NEAR_ZERO)
        if not close or abs(scaled - points) > _FAR:
            raise SettingError(
                f"{self._where}: a reward of {shown(reward)} is no whole number when multiplied"
                f" by reward_scale, which is {self._reward_scale}"
            )
        return points

    def _action_codes(self, actions: Actions) -> dict[str, Any]:
        """Return the environment's code of each action."""
        known = self.schema.actions
        codes = self._codes_by_name(known if actions is None else actions)
        for name in codes:
            if name not in known:
                raise UnknownNameError("action", name, known, "the schema")
        dtype = getattr(self._env.action_space, "dtype", None)
        return {
            name: np.array(code, dtype=dtype) if self._takes_array(code) else code
            for name, code in codes.items()
        }

    def _takes_array(self, code: Any) -> bool:
        """Return whether the environment takes the numbers of an action as an array."""
        space = self._env.action_space
        return isinstance(code, tuple | list) and len(getattr(space, "shape", None) or ()) == 1

    def _check_codes(self, space: Any) -> None:
        """Raise an error if an action has no code that an environment takes."""
        for name in self.schema.actions:
            if name not in self._codes or self._codes[name] not in space:
                raise SettingError(
                    f"{self._where}: the environment takes actions of {space}, and for {name!r}"
                    f" none of them was given"
                )

    def _check_all_named(self, space: Any) -> None:
        """Raise an error if names in the environment's order are fewer than its actions."""
        names = list(self._codes)
        count = getattr(space, "n", None) if getattr(space, "shape", None) == () else None
        if count is not None and len(names) < count:
            raise SettingError(
                f"{self._where}: the environment takes {count} actions, of {space}, and"
                f" {many(len(names), 'name')} given: {listed(names)}. Name all of them in its"
                f" order, or choose some with a dict, such as actions={dict.fromkeys(names[:1], 0)}"
            )

    def _codes_by_name(self, actions: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
        """Return names with their codes; names in a list get the environment's numbers."""
        if isinstance(actions, str) or not isinstance(actions, Mapping | Sequence):
            raise WrongTypeError(
                f"{self._where}: actions must be a dict or a list of names, got {shown(actions)}"
            )
        for name in actions:
            if not isinstance(name, str):
                raise WrongTypeError(
                    f"{self._where}: the name of an action must be a str, got {shown(name)}"
                )
        if isinstance(actions, Mapping):
            return dict(actions)
        if len(set(actions)) < len(actions):
            raise SettingError(f"{self._where}: actions lists a name twice: {shown(actions)}")
        first = getattr(self._env.action_space, "start", 0)
        return {name: i for i, name in enumerate(actions, int(first) if np.ndim(first) == 0 else 0)}


def _number(reward: Any) -> float | None:
    """Return a reward as a float, also from an array of one number; None if it is not a number."""
    try:
        value = np.asarray(reward).item()
        return None if isinstance(value, str | bytes) else float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def _check_importable(name: str, function: object, where: str) -> None:
    """Raise an error if no other process can find a function."""
    qualified = getattr(function, "__qualname__", "")
    if "<lambda>" in qualified or "<locals>" in qualified:
        raise SettingError(
            f"{where} cannot be sent to another process, because {name} is {shown(function)}: write"
            " it with def at the top level of a module"
        )


def _make(make_env: Make) -> Any:
    if isinstance(make_env, str):
        return gymnasium().make(make_env)
    if not callable(make_env):
        raise WrongTypeError(
            f"make_env must be an id of Gymnasium or make an environment, got {shown(make_env)}"
        )
    env = make_env()
    if not all(hasattr(env, each) for each in ("reset", "step", "action_space")):
        raise WrongTypeError(f"make_env must make an environment, it made {shown(env)}")
    return env
