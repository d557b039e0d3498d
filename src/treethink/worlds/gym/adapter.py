"""`GymWorld`: a Gymnasium environment as a world.

    reset, step -> environment -> to_state -> [ GymWorld ] -> State

Unlike other worlds it has a state, that of the environment: it can only step from its current
state, and does not know the distribution over next states.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from treethink.worlds.base import World
from treethink.worlds.looks import Look
from treethink.worlds.scene import Distribution

ToState = Callable[[Any], State | Iterable[Object]]
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
        A function without arguments that creates the environment, or its id in Gymnasium.
    schema
        The classes and attributes of its states, and the names of its actions.
    to_state
        A function of the environment that returns its current objects or State. Objects must
        keep their ids.
    actions
        The environment's action for each name, as a dict, or a list of names in the
        environment's order. The default is the order of the schema.
    looks
        The looks of objects in pictures.
    reward_scale
        The factor that turns rewards into points, which are integers. With a scale of 10, a
        reward of 0.1 is one point.
    """

    name = "gym"
    pure = False

    def __init__(
        self,
        make_env: Make,
        *,
        schema: Schema,
        to_state: ToState,
        actions: Actions = None,
        looks: Sequence[Look] = (),
        reward_scale: int = 1,
    ):
        super().__init__()
        if not isinstance(schema, Schema):
            raise WrongTypeError(f"{self._where}: schema must be a Schema, got {shown(schema)}")
        self.schema, self.looks = schema, looks
        self._adapt(make_env, to_state, actions, reward_scale)

    def _adapt(
        self, make_env: Make, to_state: ToState, actions: Actions = None, reward_scale: int = 1
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
        self._env = _make(make_env)
        if type(self).name == GymWorld.name:  # unless a subclass such as Taxi has its own
            self.name = self._env_name()
        self._codes = self._action_codes(actions)
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
        self._env.reset(seed=number)
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
        if after.ids != state.ids:
            raise StateError(
                f"{self._where}: after {action!r} to_state returns other objects than before,"
                f" ids {sorted(set(after.ids) ^ set(state.ids))}"
            )
        self._state = after
        self._last = state, action, after
        self._last_feedback = _number(reward), bool(terminated)
        return after

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
        return self._last_feedback[0] if (before, action, after) == self._last else None

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether the last step ended the episode; None of any other."""
        return self._last_feedback[1] if (before, action, after) == self._last else None

    @property
    def states_reward(self) -> bool:
        """Whether it states rewards: if they are not in the game's score."""
        return not self._is_scored

    @property
    def states_end(self) -> bool:
        """Whether it states ends: if it states rewards."""
        return not self._is_scored

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._env_name()})"

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
            objects = list(returned) if isinstance(returned, Iterable) else None
        except TreeThinkError as error:
            error.add_note(f"(raised by the to_state of {self._where})")
            raise
        except Exception as error:  # to_state may run any code
            raise StateError(f"{self._where}: to_state raised {error!r}") from error
        if objects is None or not all(isinstance(each, Object) for each in objects):
            raise WrongTypeError(
                f"{self._where}: to_state must return Objects or a State, got {shown(returned)}"
            )
        return objects

    def _points(self, reward: Any) -> int:
        """Return a reward as an integer."""
        if not self._is_scored:
            return 0
        number = _number(reward)
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
        space, known = self._env.action_space, self.schema.actions
        codes = self._codes_by_name(known if actions is None else actions)
        for name in codes:
            if name not in known:
                raise UnknownNameError("action", name, known, "the schema")
        for name in known:
            if name not in codes or codes[name] not in space:
                raise SettingError(
                    f"{self._where}: the environment takes actions of {space}, and for {name!r}"
                    f" none of them was given"
                )
        return codes

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
