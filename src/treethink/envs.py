"""Worlds as Gymnasium environments.

    world -> [ WorldEnv ] -> observation, reward, terminated, truncated, info
    any environment -> [ ObjectState ] -> the same, and its objects in info["state"]

With Gymnasium installed (the extra `gym`), importing `treethink` registers all worlds except those
that come from Gymnasium: `maze` is ``treethink/Maze-v0``, `maze-scoreless` is
``treethink/MazeScoreless-v0``. Options of a world are arguments of `gymnasium.make`.

    env = gymnasium.make("treethink/Maze-v0", width=10, goals=3, render_mode="ansi")
    observation, info = env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

`worlds/gym` has the other direction, a Gymnasium environment as a world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, SupportsInt

import gymnasium
import numpy as np
from gymnasium import spaces

from treethink.errors import SchemaError, SettingError, StateError, UnknownNameError, shown
from treethink.state import Schema, State
from treethink.worlds import WORLDS, World, draw, make
from treethink.worlds.base import Pixels
from treethink.worlds.gym import GymWorld, Tracker
from treethink.worlds.gym.adapter import ToState
from treethink.worlds.gym.minigrid.encoding import Level
from treethink.worlds.gym.minigrid.encoding import schema as object_schema
from treethink.worlds.gym.tracker import is_thing

Observation = dict[str, Any]

FORMS = ("padded", "sequence")
#: The key of the mask in padded observations.
PRESENT = "present"
EPISODE = 50
# Values are signed 64-bit integers; spaces use half of that range, so that they can be sampled.
_BOUND = 2**62


class WorldEnv(gymnasium.Env[Observation, SupportsInt]):
    """A world as a Gymnasium environment.

    An action is an index into `actions`, which are those of the schema. The reward is the one that
    the world states, such as those of MiniGrid, or else the change of the score, or 0 without one.
    An episode ends where the world is over, or states that a step ends it; most of the built-in
    worlds do not end. `gymnasium.make` truncates episodes after 50 steps. All random numbers come
    from `np_random`.

    The state itself is in ``info["state"]`` and in ``env.unwrapped.state``.
    ``reset(options={"level": 3})`` starts level 3, which is ``world.reset(3)``;
    ``reset(options={"state": state})`` starts from a given state.

    Observations have, for each class, the values of its objects, sorted by id, as int64. In the
    form ``"padded"``, the default, every class has as many rows as it has objects at most
    (`World.most_objects`):

        {"wall": {"pos": array of shape (most, 2), "present": array of shape (most,)}, ...}

    ``present`` is 1 for rows with an object and 0 for padding, in which all values are 0. Values
    lie in the world's `bounds`, if it states them. In the form ``"sequence"`` there is one entry
    for each object:

        {"wall": ({"pos": array of shape (2,)}, ...), ...}

    Pictures show the world's `frame`, or else the extent of the first state, so all pictures of an
    environment have the same size. Objects outside are marked at the edge.

    Vector environments in several processes use shared memory, which needs the padded form.
    Without shared memory, both forms work:
    ``gymnasium.make_vec(..., "async", vector_kwargs={"shared_memory": False})``.

    Parameters
    ----------
    world
        A world, or the name of one.
    render_mode
        ``"ansi"`` (text) or ``"rgb_array"`` (pixels), as in `World.render`. None: no pictures.
    observation
        The form of observations, see above.
    options
        Options of the world, if it is given by name.

    Examples
    --------
    >>> env = WorldEnv("maze", goals=3, width=5, height=5)
    >>> observation, info = env.reset(seed=0)
    >>> observation["goal"]["pos"].shape, observation["goal"]["present"].tolist()
    ((3, 2), [1, 1, 1])
    >>> observation, reward, terminated, truncated, info = env.step(env.actions.index("stay"))
    >>> reward, info["state"] is env.state
    (-1.0, True)
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 10}

    def __init__(
        self,
        world: str | World,
        render_mode: Literal["ansi", "rgb_array"] | None = None,
        observation: Literal["padded", "sequence"] = "padded",
        **options: int,
    ):
        if isinstance(world, World) and options:
            raise SettingError(f"{world!r} is made already and takes no options, got {options}")
        self.world = world if isinstance(world, World) else make(world, **options)
        if observation not in FORMS:
            raise UnknownNameError("form of observations", str(observation), FORMS, "WorldEnv")
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise UnknownNameError("render mode", str(render_mode), modes, "WorldEnv")
        self.render_mode = render_mode
        self.actions = self.world.actions
        self.action_space = spaces.Discrete(len(self.actions))
        self._room = {name: max(1, most) for name, most in self.world.most_objects().items()}
        self._padded = observation == "padded"
        self.observation_space = (
            _padded_space(self.world, self._room) if self._padded else _sequence_space(self.world)
        )
        self._state: State | None = None
        self._frame = self.world.frame()
        self._size: tuple[int, int] | None = None  # of all pictures, set by the first

    @property
    def state(self) -> State:
        """The current state."""
        if self._state is None:
            raise StateError(f"{self!r} stands nowhere yet: call reset first")
        return self._state

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: in a random level, or as given in `options`."""
        super().reset(seed=seed)
        start = self._start(dict(options or {}))
        observation = self._observe(start)
        if observation not in self.observation_space:
            beyond = self.world.beyond_bounds(start)
            raise StateError(
                f"{self.world!r}: {beyond}"
                if beyond
                else f"{self.world!r} has values beyond {-_BOUND} to {_BOUND}"
            )
        self._state = start
        if self._frame is None:
            self._frame = draw.extent(draw.items(self.world, start))
        return observation, {"state": start}

    def step(self, action: SupportsInt) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the action with that index."""
        before = self.state
        if not self.action_space.contains(action):
            last = len(self.actions) - 1
            raise SettingError(
                f"an action of {self.world!r} is a whole number from 0 ({self.actions[0]!r})"
                f" to {last} ({self.actions[last]!r}), got {shown(action)}"
            )
        name = self.actions[int(action)]
        after = self.world.step(before, name, self.np_random)
        self._state = after
        reward, ended = self._reward(before, name, after), self._ended(before, name, after)
        return self._observe(after), reward, ended, False, {"state": after}

    def render(self) -> str | Pixels | None:
        """Return the current state as text or as pixels."""
        if self.render_mode is None:
            gymnasium.logger.warn(
                "there is no picture without a render mode: gymnasium.make(...,"
                ' render_mode="ansi"), or "rgb_array"'
            )
            return None
        if self.render_mode == "ansi":
            return str(self._drawn("ansi"))
        return self._fitted(np.asarray(self._drawn("rgb_array"), dtype=np.uint8))

    def __repr__(self) -> str:
        return f"WorldEnv({self.world!r})"

    def _reward(self, before: State, action: str, after: State) -> float:
        """Return the reward that the world states of the step, or else the change of the score."""
        stated = self.world.reward(before, action, after) if self.world.states_reward else None
        return float(_score(after) - _score(before) if stated is None else stated)

    def _ended(self, before: State, action: str, after: State) -> bool:
        """Return whether the world is over, or states that the step ends the episode."""
        if self.world.is_over(after):
            return True
        return self.world.states_end and bool(self.world.terminated(before, action, after))

    def _drawn(self, mode: Literal["ansi", "rgb_array"]) -> str | Pixels:
        world, state = self.world, self.state
        if type(world).render is not World.render:  # it has its own pictures
            return world.render(state, mode)
        if mode == "ansi":
            return draw.ansi(world, state, window=self._window())
        return draw.rgb_array(world, state, window=self._window())

    def _window(self) -> draw.Window | None:
        """Return the frame, cropped around the topmost object if it is too large."""
        if self._frame is None or max(self._frame.width, self._frame.height) <= draw.MAX_CELLS:
            return self._frame
        drawn = draw.items(self.world, self.state)
        centre = drawn[-1].cell if drawn else (0, 0)
        return self._frame.part(centre, draw.MAX_CELLS, draw.MAX_CELLS)

    def _fitted(self, picture: Pixels) -> Pixels:
        """Crop or pad a picture to the size of the first one: captions may differ in size."""
        if self._size is None:
            self._size = picture.shape[0], picture.shape[1]
        height, width = self._size
        if picture.shape[:2] == self._size:
            return picture
        fitted = np.zeros((height, width, 3), dtype=np.uint8)
        cut = picture[:height, :width]
        fitted[: cut.shape[0], : cut.shape[1]] = cut
        return fitted

    def _start(self, options: dict[str, Any]) -> State:
        for each in options:
            if each not in ("level", "state"):
                raise UnknownNameError("option", str(each), ["level", "state"], "reset")
        if len(options) > 1:
            raise SettingError("reset starts from a level or from a state, not from both")
        if "state" in options:
            return self._checked(options["state"])
        if "level" in options:
            return self.world.reset(options["level"])
        return self.world.reset(int(self.np_random.integers(2**63)))

    def _checked(self, state: object) -> State:
        if not isinstance(state, State) or not state.schema.fits(self.world.schema):
            raise StateError(
                f"{self.world!r} starts from states of its own schema, got {shown(state)}"
            )
        for name, room in self._room.items() if self._padded else ():
            count = len(state.of_class(name))
            if count > room:
                raise StateError(
                    f"{self.world!r} has at most {room} objects of class {name!r}, the state has"
                    f' {count}; only observation="sequence" has room for more'
                )
        return state

    def _observe(self, state: State) -> Observation:
        classes = self.world.schema.classes
        if self._padded:
            return {name: self._padded_class(state, name) for name in classes}
        return {
            name: tuple(
                {name: _vector(value) for name, value in self.world.schema.numbers(each).items()}
                for each in state.of_class(name)
            )
            for name in classes
        }

    def _padded_class(self, state: State, name: str) -> dict[str, Any]:
        objects, schema = state.of_class(name), self.world.schema
        present = np.zeros(self._room[name], dtype=np.int8)
        present[: len(objects)] = 1
        columns: dict[str, Any] = {PRESENT: present}
        for attribute in schema.classes[name]:
            length = schema.attributes[attribute].length
            column = columns[attribute] = np.zeros((len(present), length), dtype=np.int64)
            if objects:
                encode = schema.attributes[attribute].encode
                values = [encode(each.values[attribute]) for each in objects]
                column[: len(objects)] = [_vector(value) for value in values]
        return columns


class ObjectState(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An environment with its state as objects in ``info["state"]``.

    So a model can observe and predict where an agent is trained. MiniGrid and BabyAI need nothing
    else; for another environment give a schema and a function, as for a `GymWorld`.

    Parameters
    ----------
    env
        The environment.
    schema
        The classes and attributes of its states. None: those of MiniGrid.
    to_state
        A function of the environment that returns its objects, or pairs of a class and its values,
        which are then numbered by a `Tracker`.

    Examples
    --------
    >>> import minigrid
    >>> env = ObjectState(gymnasium.make("MiniGrid-Empty-5x5-v0"))
    >>> _, info = env.reset(seed=0)
    >>> before = info["state"]
    >>> *_, info = env.step(2)  # forward
    >>> before.changes_to(info["state"])
    {0: {'pos': (2, 1)}}
    """

    def __init__(self, env: Any, schema: Schema | None = None, to_state: ToState | None = None):
        super().__init__(env)
        if (schema is None) != (to_state is None):
            raise SettingError("ObjectState takes a schema and to_state, or neither for MiniGrid")
        if schema is None and not hasattr(env.unwrapped, "agent_dir"):
            raise SettingError(
                f"ObjectState knows the objects of MiniGrid only: for {shown(env)} give schema=..."
                " and to_state=..., a function of the environment that returns its objects"
            )
        self.schema = object_schema(env.action_space.n) if schema is None else schema
        self._to_state = to_state
        self._tracker = Tracker()
        self._level: Level | None = None
        self.state: State | None = None

    def reset(self, **settings: Any) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(**settings)
        self._tracker.start()
        if self._to_state is None:
            self._level = Level(self.env.unwrapped, self.schema)
            self.state = self._level.first_state()
        else:
            self.state = self._read()
        return observation, {**info, "state": self.state}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        if self.state is None:
            raise StateError(f"{self!r} stands nowhere yet: call reset first")
        observation, reward, terminated, truncated, info = self.env.step(action)
        if self._level is None:
            self.state = self._read()
        else:
            self.state = self._level.next_state(self.state)
        info = {**info, "state": self.state}
        return observation, reward, bool(terminated), bool(truncated), info

    def _read(self) -> State:
        assert self._to_state is not None
        objects: list[Any] = list(self._to_state(self.env))
        if objects and all(map(is_thing, objects)):
            objects = self._tracker.track(objects)
        return State(self.schema, objects)


def _vector(value: int | tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(value if isinstance(value, tuple) else (value,), dtype=np.int64)


def _score(state: State) -> int:
    if "score" not in state.schema.classes.get("game", ()):
        return 0
    return sum(int(each.score) for each in state.of_class("game"))


def _values(world: World, name: str, attribute: str, rows: int | None = None) -> spaces.Box:
    """Return the space of an attribute; with `rows`, of padded rows, which may be 0."""
    length = world.schema.attributes[attribute].length
    low, high = np.full(length, -_BOUND), np.full(length, _BOUND)
    if (within := world.range_of(name, attribute)) is not None:
        low[:], high[:] = within
    if rows is not None:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
        low, high = np.tile(low, (rows, 1)), np.tile(high, (rows, 1))
    return spaces.Box(low, high, dtype=np.int64)


def _padded_space(world: World, most: Mapping[str, int]) -> spaces.Dict:
    """Return the space of padded observations."""
    for name, attributes in world.schema.classes.items():
        if PRESENT in attributes:
            raise SchemaError(
                f"class {name!r} has an attribute {PRESENT!r}, which is the name of the mask of"
                ' padded observations; observation="sequence" has no mask'
            )
    return spaces.Dict(
        {
            name: spaces.Dict(
                {
                    PRESENT: spaces.MultiBinary(most[name]),
                    **{each: _values(world, name, each, most[name]) for each in attributes},
                }
            )
            for name, attributes in world.schema.classes.items()
        }
    )


def _sequence_space(world: World) -> spaces.Dict:
    """Return the space of observations with one entry for each object."""
    return spaces.Dict(
        {
            name: spaces.Sequence(
                spaces.Dict({each: _values(world, name, each) for each in attributes})
            )
            for name, attributes in world.schema.classes.items()
        }
    )


def env_id(name: str) -> str:
    """Return the id of a world in Gymnasium.

    >>> env_id("maze-scoreless")
    'treethink/MazeScoreless-v0'
    """
    return f"treethink/{''.join(part.capitalize() for part in name.split('-'))}-v0"


def register_all() -> None:
    """Register all worlds with Gymnasium, except those that come from it, such as `taxi`.

    Calling it again has no effect.
    """
    for name, world in WORLDS.items():
        if not issubclass(world, GymWorld) and env_id(name) not in gymnasium.registry:
            gymnasium.register(
                env_id(name),
                entry_point="treethink.envs:WorldEnv",
                kwargs={"world": name},
                max_episode_steps=EPISODE,
            )
