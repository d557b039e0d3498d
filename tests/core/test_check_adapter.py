"""`check_adapter` finds each of these faults, and nothing in worlds that have none."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from treethink.checks import check_adapter
from treethink.checks.adapters import AdapterReport
from treethink.errors import SettingError, StateError, WrongTypeError
from treethink.presets import Category
from treethink.state import Object, Schema, State
from treethink.worlds import World, make
from treethink.worlds.scene import Distribution
from treethink.worlds.walls import Walls

SMALL = {"width": 5, "height": 5}


class Played(Walls):
    """A world that can only be played, as an adapted environment: it states no distribution."""

    pure: ClassVar[bool] = False

    def dynamics(self, state: State, action: str) -> Distribution:
        raise StateError("this world states no chances")

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        return Walls.dynamics(self, state, action)[0][0]


class HiddenCounter(Played):
    """Every third step of an episode does nothing."""

    count = 0

    def reset(self, seed: int) -> State:
        self.count = 0
        return super().reset(seed)

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        self.count += 1
        return state if self.count % 3 == 0 else super().sample(state, action, rng)


class HiddenHeading(Played):
    """`up` moves to where the last other action looked; the others only turn."""

    heading = "right"

    def reset(self, seed: int) -> State:
        self.heading = "right"
        return super().reset(seed)

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        if action == "up":
            return super().sample(state, self.heading, rng)
        self.heading = action
        return state


class HiddenDraw(Played):
    """Left and right are exchanged in some episodes, whatever the level."""

    exchanged = False
    rng = np.random.default_rng(0)

    def reset(self, seed: int) -> State:
        self.exchanged = bool(self.rng.random() < 0.5)
        return super().reset(seed)

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        other = {"left": "right", "right": "left"} if self.exchanged else {}
        return super().sample(state, other.get(action, action), rng)


class ChanceOnly(Played):
    """One step in five does nothing, by chance."""

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        return state if rng.random() < 0.2 else super().sample(state, action, rng)


class KeepsMemory(Walls):
    """It says that it is pure, and gets stuck for good after some steps."""

    asked = 0

    def dynamics(self, state: State, action: str) -> Distribution:
        self.asked += 1
        return super().dynamics(state, action) if self.asked < 150 else [(state, 1.0)]


class Swapping(World):
    """Two balls stay where they are; now and then the adapter lists them in another order."""

    name = "swapping"
    schema = Schema({"ball": ["pos", "red"], "hand": ["pos"]}, {"pos": 2, "red": 1}, ["wait"])

    def reset(self, seed: int) -> State:
        balls = [Object(0, "ball", pos=(1, 2), red=0), Object(1, "ball", pos=(3, 4), red=1)]
        return State(self.schema, [*balls, Object(2, "hand", pos=(0, 0))])

    def dynamics(self, state: State, action: str) -> Distribution:
        x, y = state[2].pos
        one, other = dict(state[0].values), dict(state[1].values)
        balls = {0: other, 1: one} if x % 3 == 2 else {}
        return [(state.replace_many({2: {"pos": (x + 1, y)}, **balls}), 1.0)]


class Vanishing(Swapping):
    """An object disappears."""

    def dynamics(self, state: State, action: str) -> Distribution:
        return [(State(self.schema, [each for each in state if each.id != 1]), 1.0)]


class OtherClass(Swapping):
    """An id is a ball at first, and a hand later."""

    def dynamics(self, state: State, action: str) -> Distribution:
        others = [each for each in state if each.id != 1]
        return [(State(self.schema, [*others, Object(1, "hand", pos=(0, 0))]), 1.0)]


class BeyondSchema(World):
    """A lamp gets a colour that the schema does not have."""

    name = "beyond"
    schema = Schema({"lamp": ["colour"]}, {"colour": Category(["red", "green"])}, ["next"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "lamp", colour="red")])

    def dynamics(self, state: State, action: str) -> Distribution:
        following = {"red": "green", "green": "blue"}
        return [(state.replace(0, colour=following[state[0].colour]), 1.0)]


class BeyondBounds(Walls):
    """The player leaves the bounds that the world states."""

    def bounds(self) -> Any:
        return {"pos": ((0, 0), (4, 4)), ("player", "pos"): ((1, 1), (2, 2))}


class Unseeded(Walls):
    """The seed does not decide the level."""

    rng = np.random.default_rng(5)

    def reset(self, seed: int) -> State:
        return super().reset(int(self.rng.integers(1000)))


def only_fault(report: AdapterReport) -> str:
    """The one fault that the report names, as text."""
    assert [each.check for each in report.faults] == [report.faults[0].check], report
    return str(report.faults[0])


@pytest.mark.parametrize(
    "world, check, says",
    [
        (HiddenCounter(**SMALL), "hidden", "number of steps since the reset"),
        (HiddenHeading(**SMALL), "hidden", "the action before it"),
        (HiddenDraw(**SMALL), "hidden", "the episode"),
        (KeepsMemory(**SMALL), "hidden", "the second is what the world states"),
        (Swapping(), "ids", "the balls 0 and 1 have each other's values"),
        (Vanishing(), "ids", "ids [1] are gone, [] are new"),
        (OtherClass(), "ids", "object 1 was a ball and is a hand"),
        (BeyondSchema(), "values", "'blue'"),
        (BeyondBounds(**SMALL), "values", "not from (1, 1) to (2, 2)"),
        (Unseeded(**SMALL), "values", "reset(0) gives another state the second time"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, World) else None,
)
def test_a_fault_is_named_once_and_alone(world: World, check: str, says: str) -> None:
    text = only_fault(check_adapter(world))
    assert text.startswith(check)
    assert says in text


@pytest.mark.parametrize("name", ["walls", "maze", "keys", "fish", "coins", "push", "cells"])
def test_our_worlds_have_no_fault(name: str) -> None:
    report = check_adapter(make(name), steps=600)
    assert not report, report


@pytest.mark.parametrize("seed", range(10))
def test_chance_is_not_taken_for_something_hidden(seed: int) -> None:
    report = check_adapter(ChanceOnly(**SMALL), steps=1_500, seed=seed)
    assert not report, report
    assert [each.check for each in report.findings] == ["hidden"]
    assert "It may be chance" in str(report)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("world", [HiddenCounter, HiddenHeading])
def test_what_is_hidden_is_found_with_other_seeds(world: type[Walls], seed: int) -> None:
    assert check_adapter(world(**SMALL), seed=seed)


def test_sizes_and_speed_are_told() -> None:
    report = check_adapter(make("walls", **SMALL), steps=100)
    assert report.sizes["objects"]["player"] == 1
    assert report.sizes["actions"] == 4
    assert 0 < report.speed["step"] < 0.1
    assert "us a step" in str(report)
    assert report.to_dict()["steps"] == report.steps == 100


def test_a_large_world_in_which_no_state_comes_twice_is_told_so() -> None:
    class Counting(Swapping):
        def dynamics(self, state: State, action: str) -> Distribution:
            x, y = state[2].pos
            return [(state.replace(2, pos=(x + 1, y)), 1.0)]

        def reset(self, seed: int) -> State:
            return super().reset(0).replace(2, pos=(seed, Counting.resets()))

        number = 0

        @classmethod
        def resets(cls) -> int:
            cls.number += 1
            return cls.number

    assert "nothing can be said of hidden variables" in str(check_adapter(Counting(), steps=50))


class Stumbling(Swapping):
    """Code of its own raises an error somewhere."""

    def __init__(self, where: str):
        super().__init__()
        self.where, self.calls = where, 0

    def stumble(self, where: str, call: int = 1) -> None:
        self.calls += where == self.where
        if where == self.where and self.calls == call:
            raise KeyError("battery")

    def reset(self, seed: int) -> State:
        self.stumble("reset")
        return super().reset(seed).replace(2, pos=(10, 0))

    def dynamics(self, state: State, action: str) -> Distribution:
        self.stumble("dynamics", 3)
        self.stumble("distribution", 41)  # after all steps
        return [(state, 1.0)]

    def is_over(self, state: State) -> bool:
        self.stumble("is_over", 2)
        return False


@pytest.mark.parametrize(
    "where, says",
    [
        ("reset", "in reset(0) it raised KeyError: 'battery'"),
        ("dynamics", "in step 3, 'wait', it raised KeyError: 'battery'"),
        ("is_over", "in step 2, 'wait', it raised KeyError: 'battery'"),
        ("distribution", "asked again about states that it has been in it raised KeyError"),
    ],
)
def test_any_error_of_the_adapter_is_one_finding(where: str, says: str) -> None:
    text = only_fault(check_adapter(Stumbling(where), steps=40))
    assert text.startswith("errors: ")
    assert says in text


def test_a_reset_without_a_state_is_one_finding() -> None:
    class Nothing(Swapping):
        def reset(self, seed: int) -> State:
            return None  # type: ignore[return-value]

    report = check_adapter(Nothing())
    assert only_fault(report) == "values: reset returns None\n    reset must return a State."


def test_play_stops_where_the_world_states_the_end() -> None:
    class Ending(Walls):
        """`up` ends an episode, and nothing may follow."""

        pure: ClassVar[bool] = False
        ended = False

        def reset(self, seed: int) -> State:
            self.ended = False
            return super().reset(seed)

        def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
            if self.ended:
                raise StateError("the episode is over")
            self.ended = action == "up"
            return super().sample(state, action, rng)

        def terminated(self, before: State, action: str, after: State) -> bool:
            return action == "up"

    report = check_adapter(Ending(**SMALL), steps=300)
    assert not report, report
    assert report.steps == 300


@pytest.mark.parametrize(
    "later, says",
    [
        ({"pos": 1}, None),
        ({"pos": np.array([1])}, None),
        ({"pos": 1, "hue": 3}, "must all have the same attributes"),
    ],
)
def test_an_adapter_without_ids_is_checked(later: dict[str, Any], says: str | None) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from treethink.worlds.gym import GymWorld

    class Still(gymnasium.Env):  # type: ignore[misc, name-defined]
        observation_space = action_space = gymnasium.spaces.Discrete(1)
        steps = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            self.steps = 0
            return 0, {}

        def step(self, action: Any) -> Any:
            self.steps += 1
            return 0, 0.0, False, False, {}

    schema = Schema({"robot": ["pos"]}, {"pos": 1}, ["wait"])

    def to_state(env: Any) -> Any:
        return [("robot", later if env.unwrapped.steps else {"pos": 1})]

    report = check_adapter(GymWorld(Still, schema=schema, to_state=to_state), steps=50)
    if says is None:
        assert not report, report
    else:
        assert says in only_fault(report)


def test_only_worlds_are_checked() -> None:
    with pytest.raises(WrongTypeError, match="check_adapter needs a World"):
        check_adapter("maze")
    with pytest.raises(SettingError, match="seed must be a whole number"):
        check_adapter(make("walls"), seed="x")  # type: ignore[arg-type]
