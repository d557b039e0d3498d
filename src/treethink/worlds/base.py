"""The base class of worlds: environments with steps and an exact distribution over next states.

    seed -> reset -> State -> step -> State -> ...

In:   a seed, then actions.
Out:  states, and for every state and action the exact distribution over next states, so
      that a learner is scored against the true distribution, not against a sample of it.

A world has no state of its own: the next state depends only on the given state, action and random
numbers. The dynamics are written once, as a distribution.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np

from treethink.errors import (
    SettingError,
    StateError,
    UnknownNameError,
    WrongTypeError,
    shown,
    whole_number,
)
from treethink.state import Object, Schema, State
from treethink.text import listed
from treethink.worlds import draw
from treethink.worlds.draw.layout import Cell as Cell
from treethink.worlds.draw.pixels import Pixels as Pixels
from treethink.worlds.looks import Look
from treethink.worlds.scene import Distribution, Scene, Thing, populate

#: New values of objects: {id: {attribute: value}}.
Changes = Mapping[int, Mapping[str, Any]]
Value = int | tuple[int, ...]
#: The minimum and maximum of an attribute, or of an attribute of one class.
Bounds = Mapping[str | tuple[str, str], tuple[Value, Value]]

_TOLERANCE = 1e-8  # for sums of probabilities, as in NumPy


class World(ABC):
    """An environment made of objects. Its docstring is its specification.

    A subclass states its `name`, `schema`, `defaults` and `looks`, and implements `reset` and
    `dynamics`. It overrides `sample` if listing every next state is too expensive, and `bounds`
    and `frame` if they are known. Attributes that depend on options are set in `__init__`, after
    `super().__init__(**options)`. A subclass without options, or with other arguments, need not
    call that.

    A variant is a subclass with another name and other defaults.

    Examples
    --------
    >>> class Lamp(World):
    ...     name = "lamp"
    ...     schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    ...     def reset(self, seed):
    ...         return State(self.schema, [Object(0, "lamp", on=seed % 2)])
    ...     def dynamics(self, state, action):
    ...         return [(state.replace(0, on=1 - state[0].on), 0.9), (state, 0.1)]
    >>> lamp = Lamp()
    >>> lamp.distribution(lamp.reset(seed=0), "press")
    [(State([Object(0, 'lamp', on=1)]), 0.9), (State([Object(0, 'lamp', on=0)]), 0.1)]
    """

    name: str
    #: Options and their default values: non-negative integers.
    defaults: ClassVar[Mapping[str, int]] = {}
    #: The options that may be given in brackets after the name: `scale(3,2)`.
    positional: ClassVar[tuple[str, ...]] = ()
    schema: Schema
    looks: Sequence[Look] = ()
    #: Whether it can step from any state; if not, only from its current one.
    pure: ClassVar[bool] = True

    #: The values of all options.
    options: dict[str, int]
    #: Creates an equal world, also in another process, for any arguments of `__init__`.
    _constructor_call: partial[Self]

    def __new__(cls, /, *arguments: Any, **keywords: Any) -> Self:
        self = super().__new__(cls)
        self.options = {}
        self._constructor_call = partial(cls, *arguments, **keywords)
        return self

    def __init__(self, **options: int):
        for each in options:
            if each not in self.defaults:
                raise UnknownNameError("option", each, self.defaults, self._where, self._no_options)
        self.options = {
            each: self._whole_number(each, options.get(each, default))
            for each, default in self.defaults.items()
        }

    @property
    def actions(self) -> tuple[str, ...]:
        """The schema's actions."""
        return self.schema.actions

    # ------------------------------------------------------------------- dynamics

    @abstractmethod
    def reset(self, seed: int) -> State:
        """Return the first state of an episode; the same seed gives the same state."""

    def step(self, state: State, action: str, rng: np.random.Generator) -> State:
        """Return a random next state. `state` does not change."""
        self._check(state, action)
        return self.sample(state, action, rng)

    def random_play(self, state: State, rng: np.random.Generator) -> tuple[State, str]:
        """Return what a random player does: the state from which it acts, and the action.

        Every action is equally likely, and the state is the given one. A world in which commands
        are attributes, such as those of several robots, may set them in the state.
        """
        return state, self.actions[rng.integers(len(self.actions))]

    def distribution(self, state: State, action: str) -> Distribution:
        """Return every possible next state, once, with its probability."""
        self._check(state, action)
        return self._checked_dynamics(state, action)

    def truth(self, before: State, action: str, after: State) -> Distribution | State:
        """Return what a prediction is scored against: a distribution, or the state `after`."""
        return self.distribution(before, action)

    def is_over(self, state: State) -> bool:
        """Return whether an episode ends in this state."""
        return False

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the reward of a step; None if the world states none."""
        return None

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether a step ends the episode; None if the world does not state it."""
        return None

    @property
    def states_reward(self) -> bool:
        """Whether it states rewards: whether it has a `reward` of its own."""
        return type(self).reward is not World.reward

    @property
    def states_end(self) -> bool:
        """Whether it states which steps end an episode: whether it has its own `terminated`."""
        return type(self).terminated is not World.terminated

    @abstractmethod
    def dynamics(self, state: State, action: str) -> Distribution:
        """Return the distribution over next states; state and action have been checked."""

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        """Return a random next state; state and action have been checked."""
        states = self._checked_dynamics(state, action)
        if len(states) == 1:
            return states[0][0]
        chosen = rng.choice(len(states), p=[probability for _, probability in states])
        return states[int(chosen)][0]

    def stress_state(self, rng: np.random.Generator) -> State | None:
        """Return a situation that is put together at random; None if the world has none.

        Random play makes most transitions trivial. In such a situation objects are beside each
        other and attributes have any values that they can have, and `distribution` says what
        follows.
        """
        return None

    # ----------------------------------------------------------------- description

    @classmethod
    def sheet(cls) -> str:
        """Return the specification: a variant's own lines, then those of its base world."""
        sheets = [inspect.cleandoc(each.__doc__) for each in _lineage(cls) if each.__doc__]
        return "\n\n".join(sheets)

    @classmethod
    def summary(cls) -> str:
        """Return the first line of the specification."""
        return cls.sheet().partition("\n")[0]

    def scenes(self) -> Sequence[Scene]:
        """Return examples of this world's rules, which a model of it should predict."""
        return ()

    def most_objects(self) -> dict[str, int]:
        """Return the largest number of objects of each class in a level."""
        counts = Counter(each.class_name for each in self.reset(0))
        return {name: counts[name] for name in self.schema.classes}

    def bounds(self) -> Bounds:
        """Return the minimum and maximum of attributes, if they are bounded.

        A key is an attribute, or (class, attribute) for that class alone. All states that
        are reachable from `reset` are within these bounds.
        """
        return {}

    def range_of(self, class_name: str, attribute: str) -> tuple[Value, Value] | None:
        """Return the bounds of an attribute in a class; None if there are none."""
        bounds = self.bounds()
        return bounds.get((class_name, attribute), bounds.get(attribute))

    def beyond_bounds(self, state: State) -> str | None:
        """Describe the first value of a state that is out of `bounds`; None if there is none."""
        for name, attributes in self.schema.classes.items():
            for attribute in attributes:
                if (within := self.range_of(name, attribute)) is not None:
                    for each in state.of_class(name):
                        value = self.schema.attributes[attribute].encode(each.values[attribute])
                        if not _in_range(value, *within):
                            what = f"{attribute} of {name} {each.id}"
                            return f"{what} is {value}, not from {within[0]} to {within[1]}"
        return None

    # -------------------------------------------------------------------- pictures

    def place(self, each: Object) -> Cell | None:
        """Return the column and row of an object; None if it is listed in the caption instead."""
        pos = each.values.get("pos")
        return (pos[0], pos[1]) if isinstance(pos, tuple) and len(pos) == 2 else None

    def frame(self) -> draw.Window | None:
        """Return the cells that objects can be in, in all levels; None if unknown.

        A picture shows at least these cells. Pictures of `WorldEnv` show exactly these, so that
        all of them have the same size.
        """
        return None

    @overload
    def render(self, state: State, mode: Literal["ansi"] = "ansi") -> str: ...
    @overload
    def render(self, state: State, mode: Literal["rgb_array"]) -> Pixels: ...
    def render(self, state: State, mode: str = "ansi") -> str | Pixels:
        """Return the state as text for a terminal (`ansi`) or as pixels (`rgb_array`)."""
        self._check_state(state)
        if mode == "ansi":
            return draw.ansi(self, state)
        if mode == "rgb_array":
            return draw.rgb_array(self, state)
        raise UnknownNameError("mode", str(mode), ["ansi", "rgb_array"], "World.render")

    # ------------------------------------------------------------------- for subclasses

    @property
    def keeps_score(self) -> bool:
        """Whether the world has a class `game`, and so a score."""
        return "game" in self.schema.classes

    def populate(self, things: Iterable[Thing]) -> State:
        """Return a first state with these things, and a score of 0 if the world has one."""
        score: list[Thing] = [("game", {"score": 0})] if self.keeps_score else []
        return populate(self.schema, [*things, *score])

    def paid(self, state: State, points: int) -> Changes:
        """Return the change of the score, if the world has one."""
        if not self.keeps_score or not points:
            return {}
        game = self.the(state, "game")
        return {game.id: {"score": game.score + points}}

    def surely(self, state: State, *changes: Changes) -> Distribution:
        """Return the distribution of a certain outcome, given changes of different objects."""
        merged = {each: values for part in changes for each, values in part.items()}
        return [(state.replace_many(merged) if merged else state, 1.0)]

    def __repr__(self) -> str:
        keywords = self.options or self._constructor_call.keywords
        arguments = [] if self.options else [shown(each) for each in self._constructor_call.args]
        arguments += [f"{name}={shown(value)}" for name, value in keywords.items()]
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._constructor_call, ()

    @property
    def _where(self) -> str:
        return f"world {self.name!r}"

    @property
    def _no_options(self) -> str:
        """The advice to add to an error if the world has no options."""
        if self.defaults:
            return ""
        return 'A world states its options in `defaults`, such as defaults = {"size": 6}.'

    def _checked_dynamics(self, state: State, action: str) -> Distribution:
        """Return what `dynamics` returns; raise an error if it is not a distribution."""
        states = self.dynamics(state, action)
        if not isinstance(states, list | tuple) or not all(map(_is_outcome, states)):
            raise WrongTypeError(
                f"{self._where}: dynamics must return [(state, probability), ...],"
                f" got {shown(states)} for {action!r}"
            )
        chances = [chance for _, chance in states]
        if not abs(sum(chances) - 1) <= _TOLERANCE or min(chances) < 0:
            raise StateError(
                f"{self._where}: the probabilities of what follows {action!r} must sum to 1,"
                f" got {', '.join(map(str, chances[:8])) or 'none'}{', ...' if chances[8:] else ''}"
            )
        return states

    def _check(self, state: State, action: str) -> None:
        if action not in self.actions:
            raise UnknownNameError("action", str(action), self.actions, self._where)
        self._check_state(state)

    def _check_state(self, state: State) -> None:
        if not isinstance(state, State):
            raise StateError(f"{self._where} takes a State, got {shown(state)}")
        if not state.schema.fits(self.schema):
            raise StateError(f"{self._where} was given a state of another schema")

    def the(self, state: State, class_name: str) -> Object:
        """Return the only object of its class."""
        objects = state.of_class(class_name)
        if len(objects) != 1:
            raise StateError(
                f"{self._where} needs exactly one {class_name}, the state has {len(objects)}"
            )
        return objects[0]

    def generator(self, seed: int) -> np.random.Generator:
        """Return the random generator of a level; raise an error if the seed is invalid."""
        return np.random.default_rng(self._whole_number("seed", seed))

    def _whole_number(self, name: str, value: object) -> int:
        return whole_number(f"{self._where}: {name}", value)

    def within(self, name: str, least: int, most: int) -> int:
        """Return the value of an option; raise an error if it is out of range."""
        value = self.options[name]
        if not least <= value <= most:
            raise SettingError(
                f"{self._where}: {name} must be from {least} to {most:,}, got {shown(value)}"
            )
        return value


def _is_outcome(each: object) -> bool:
    """Return whether this is a pair of a state and a probability."""
    if not isinstance(each, tuple | list) or len(each) != 2:
        return False
    return isinstance(each[0], State) and isinstance(each[1], int | float | np.number)


def _in_range(value: Value, minimum: Value, maximum: Value) -> bool:
    """Return whether a value, or each of its numbers, is within the bounds."""
    numbers, low, high = (
        each if isinstance(each, tuple) else (each,) for each in (value, minimum, maximum)
    )
    return all(a <= b <= c for a, b, c in zip(low, numbers, high, strict=True))


def without_score(schema: Schema) -> Schema:
    """Return the schema without the game and its score."""
    classes = {name: own for name, own in schema.classes.items() if name != "game"}
    attributes = {name: each for name, each in schema.attributes.items() if name != "score"}
    return Schema(classes, attributes, schema.actions)


def check_fit(schema: Schema, world: World, model: str = "the model") -> None:
    """Raise an error that names the difference if a model cannot predict in the world.

    `model` is how the message refers to the model, such as the name of its file.
    """
    if schema.fits(world.schema):
        return
    for part in ("classes", "attributes", "actions"):
        names, expected = list(getattr(schema, part)), list(getattr(world.schema, part))
        if names != expected:
            difference = f"its {part} are {listed(names)}, the world's {listed(expected)}"
            break
    else:
        difference = "its attributes are not those of the world"
    raise SettingError(f"{model} does not fit world {world.name!r}: {difference}")


def _lineage(cls: type[World]) -> list[type[World]]:
    """Return the class and its base classes that are worlds with a name."""
    return [each for each in cls.__mro__ if issubclass(each, World) and "name" in vars(each)]
