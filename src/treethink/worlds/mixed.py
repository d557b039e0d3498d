"""Several worlds as one: each episode is in one of them, as its seed says.

    worlds of one schema -> [ Mixed ] -> levels of all of them

Levels of several sizes together keep a rule from being about one of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

import numpy as np

from treethink.errors import SettingError, StateError, WrongTypeError, shown
from treethink.state import Object, State
from treethink.worlds.base import Bounds, Cell, World, check_fit
from treethink.worlds.draw.pixels import Pixels
from treethink.worlds.scene import Distribution

T = TypeVar("T")

#: How many states are remembered with the world that they are from.
_REMEMBERED = 10_000


def mixed(*worlds: World) -> Mixed:
    """Return one world whose episodes are in these worlds, in each with the same probability.

    >>> from treethink.worlds import make
    >>> small, large = make("maze", width=5, height=5), make("maze", width=9, height=9)
    >>> len(mixed(small, large).reset(0)), len(mixed(small, large).reset(1))
    (22, 50)
    """
    return Mixed(*worlds)


class Mixed(World):
    """Several worlds of one schema: each episode is in one of them.

    Start
        That of the world whose turn it is: seeds 0, 1, ... take the worlds in turn.
    Dynamics, reward and end
        Those of the world that the state is from: that made it last, by a reset, by a step, or as
        something that may follow. Any other state goes to the first world that takes it, in the
        order in which they are given. If not all worlds are `pure`, every state goes to the world
        of the last reset.
    """

    name = "mixed"

    def __init__(self, *worlds: World):
        if not worlds:
            raise SettingError("mixed needs at least one world")
        for i, each in enumerate(worlds):
            if not isinstance(each, World):
                raise WrongTypeError(f"mixed takes worlds, got {shown(each)} in place {i}")
            check_fit(
                worlds[0].schema, each, f"world {worlds[0].name!r}, the first of those mixed,"
            )
        self.worlds = worlds
        self.schema, self.looks = worlds[0].schema, worlds[0].looks
        self.name = f"mixed({', '.join(each.name for each in worlds)})"
        self._from: OrderedDict[State, World] = OrderedDict()
        self._now: World = worlds[0]

    @property
    def pure(self) -> bool:  # type: ignore[override]
        """Whether all of its worlds can step from any state."""
        return all(each.pure for each in self.worlds)

    def reset(self, seed: int) -> State:
        number = self._whole_number("seed", seed)
        self._now = self.worlds[number % len(self.worlds)]
        return self._remember(self._now.reset(number // len(self.worlds)), self._now)

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        world, after = self._ask(state, lambda world: world.step(state, action, rng))
        return self._remember(after, world)

    def dynamics(self, state: State, action: str) -> Distribution:
        world, following = self._ask(state, lambda world: world.distribution(state, action))
        return [(self._remember(after, world), chance) for after, chance in following]

    def truth(self, before: State, action: str, after: State) -> Distribution | State:
        self._check(before, action)
        return self._ask(before, lambda world: world.truth(before, action, after))[1]

    def is_over(self, state: State) -> bool:
        return self._ask(state, lambda world: world.is_over(state))[1]

    def reward(self, before: State, action: str, after: State) -> float | None:
        """Return the reward that the world of the state states."""
        return self._ask(before, lambda world: world.reward(before, action, after))[1]

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        """Return whether the step ends the episode, as the world of the state states it."""
        return self._ask(before, lambda world: world.terminated(before, action, after))[1]

    @property
    def states_reward(self) -> bool:
        """Whether one of its worlds states rewards."""
        return any(each.states_reward for each in self.worlds)

    @property
    def states_end(self) -> bool:
        """Whether one of its worlds states ends."""
        return any(each.states_end for each in self.worlds)

    def random_play(self, state: State, rng: np.random.Generator) -> tuple[State, str]:
        """Return what a random player does in the world that the state is from."""
        world, (before, action) = self._ask(state, lambda world: world.random_play(state, rng))
        return self._remember(before, world), action

    def stress_state(self, rng: np.random.Generator) -> State | None:
        """Return a situation of one of its worlds."""
        world = self.worlds[rng.integers(len(self.worlds))]
        state = world.stress_state(rng)
        return None if state is None else self._remember(state, world)

    def most_objects(self) -> dict[str, int]:
        """Return the largest number of objects of each class in a level of any of its worlds."""
        each = [world.most_objects() for world in self.worlds]
        return {name: max(most[name] for most in each) for name in self.schema.classes}

    def bounds(self) -> Bounds:
        """Return no bounds: they differ from world to world."""
        return {}

    def place(self, each: Object) -> Cell | None:
        return self.worlds[0].place(each)

    @overload
    def render(self, state: State, mode: Literal["ansi"] = "ansi") -> str: ...
    @overload
    def render(self, state: State, mode: Literal["rgb_array"]) -> Pixels: ...
    def render(self, state: State, mode: str = "ansi") -> str | Pixels:
        """Return a picture of the state, as the world that it is from draws it."""
        self._check_state(state)
        picture: Any = self._ask(state, lambda world: world.render(state, mode))[1]  # type: ignore[call-overload]
        return picture  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"mixed({', '.join(map(repr, self.worlds))})"

    def _remember(self, state: State, world: World) -> State:
        self._from[state] = world
        self._from.move_to_end(state)
        if len(self._from) > _REMEMBERED:
            self._from.popitem(last=False)
        return state

    def _ask(self, state: State, question: Callable[[World], T]) -> tuple[World, T]:
        """Return the world of a state, and its answer; a StateError is how a world refuses it."""
        if not self.pure:
            return self._now, question(self._now)
        known = self._from.get(state)
        if known is not None:
            return known, question(known)
        refusals: list[StateError] = []
        for world in self.worlds:
            try:
                return world, question(world)
            except StateError as error:
                refusals.append(error)
        raise refusals[0]


__all__ = ["Mixed", "mixed"]
