"""What a `GymWorld` adapts beside a plain environment, worlds that are mixed, and `ObjectState`."""

from __future__ import annotations

import copy
import pickle
from itertools import permutations
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from treethink.envs import ObjectState
from treethink.errors import SettingError, StateError, UnknownNameError, WrongTypeError
from treethink.model import TreeThink
from treethink.presets import Position
from treethink.state import Object, Schema, State
from treethink.stream.parallel import parallel_transitions
from treethink.stream.random_play import transitions
from treethink.stream.transition import as_transition
from treethink.worlds import World, make, mixed
from treethink.worlds.gym import GymWorld, Tracker, joint_actions
from treethink.worlds.gym.tracker import cheapest_pairing
from treethink.worlds.scene import Distribution

ROW = Schema({"crab": ["pos"], "end": ["pos"]}, {"pos": Position(1)}, ["back", "on"])


class Row(gymnasium.Env[int, Any]):
    """A crab in a row; the last cell ends the episode and pays less the later it is reached."""

    observation_space: Any = spaces.Discrete(50)
    action_space: Any = spaces.Discrete(2)

    def __init__(self, size: int = 5, vanish: bool = False):
        self.size, self.vanish, self.greeted = size, vanish, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.time = int(self.np_random.integers(self.size - 1)), 0
        return self.place, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.time += 1
        self.place = max(0, self.place + (1 if int(action) else -1))
        ended = self.place == self.size - 1
        return self.place, ended / (1 + 0.1 * self.time), ended, False, {}


def crab_and_end(env: Any) -> list[Object]:
    row = env.unwrapped
    if row.vanish and row.time > 2:
        return [Object(7, "end", pos=row.size)]
    return [Object(0, "crab", pos=row.place), Object(1, "end", pos=row.size)]


def things(env: Any) -> list[tuple[str, dict[str, Any]]]:
    row = env.unwrapped
    return [("end", {"pos": row.size}), ("crab", {"pos": row.place})]


def greet(env: Any) -> None:
    env.unwrapped.greeted += 1


def row_world(**settings: Any) -> GymWorld:
    return GymWorld(Row, **{"schema": ROW, "to_state": crab_and_end, **settings})


def feedback(world: GymWorld, steps: int = 300) -> list[tuple[float | None, bool | None]]:
    played = (as_transition(each) for each in transitions(world, steps, seed=0))
    return [(each.reward, each.terminated) for each in played]


# ------------------------------------------------------------------------- rewards and ends


def test_rewards_are_told_exactly_rounded_by_sign_by_rank_or_not() -> None:
    exact = feedback(row_world())
    paid = {reward for reward, ended in exact if ended and reward is not None}
    assert len(paid) > 3, "the environment pays by time"
    for rewards, told in (
        ("sign", lambda reward: float(np.sign(reward))),
        ("round", lambda reward: float(round(reward))),
        ([0.5, 0.9], lambda reward: float((reward >= 0.5) + (reward >= 0.9))),
    ):
        assert feedback(row_world(rewards=rewards)) == [(told(r), ended) for r, ended in exact]
    assert feedback(row_world(rewards=None)) == [(None, ended) for _, ended in exact]
    assert not row_world(rewards=None).states_reward


def test_ends_are_stated_beside_a_score_if_one_asks() -> None:
    scored = Schema({**ROW.classes, "game": ["score"]}, {**ROW.attributes, "score": 1}, ROW.actions)
    assert not row_world(schema=scored, rewards="sign").states_end
    world = row_world(schema=scored, rewards="sign", ends=True)
    played = feedback(world)
    assert any(ended for _, ended in played) and all(reward is None for reward, _ in played)


def test_ends_and_signs_are_learned() -> None:
    world = row_world(rewards="sign")
    model = TreeThink(ROW)
    model.observe_many(transitions(world, 1_500, seed=0))
    for before, action, _, reward, ended in map(as_transition, transitions(world, 200, seed=9)):
        prediction = model.predict(before, action)
        assert (prediction.rewards() or {0.0: 1.0}) == {reward: 1.0}
        assert (prediction.terminated() or 0.0) == ended


@pytest.mark.parametrize(
    ("rewards", "error", "says"),
    [
        ("sgn", UnknownNameError, "Did you mean 'sign'"),
        ([], WrongTypeError, "or a list of numbers"),
        (["a"], WrongTypeError, "or a list of numbers"),
        (3, WrongTypeError, "or a list of numbers"),
    ],
)
def test_other_forms_of_rewards_are_refused(
    rewards: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        row_world(rewards=rewards)


# ------------------------------------------------------------------------- resets, several, actions


def test_a_hook_is_called_after_each_reset_before_the_state_is_read() -> None:
    seen = []

    def to_state(env: Any) -> list[Object]:
        seen.append(env.unwrapped.greeted)
        return crab_and_end(env)

    world = row_world(on_reset=greet, to_state=to_state)
    world.reset(0)
    world.reset(1)
    assert seen == [1, 2]
    with pytest.raises(WrongTypeError, match="on_reset must be a function"):
        row_world(on_reset=3)


def row_of_five() -> Row:
    return Row(5)


def row_of_eight() -> Row:
    return Row(8)


def test_several_environments_are_one_world() -> None:
    world = GymWorld([row_of_five, row_of_eight], schema=ROW, to_state=crab_and_end, rewards="sign")
    assert [world.reset(seed)[1].pos for seed in range(4)] == [5, 8, 5, 8]
    model = TreeThink(ROW)
    model.observe_many(transitions(world, 2_000, seed=0))
    large = GymWorld(lambda: Row(20), schema=ROW, to_state=crab_and_end)
    for before, action, after, *_ in transitions(large, 100, seed=1):
        assert model.predict(before, action).probability(after) == 1
    with pytest.raises(SettingError, match="the list of environments is empty"):
        GymWorld([], schema=ROW, to_state=crab_and_end)


class Pair(Row):
    """Two crabs, each with its own command."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.places = [3, 6]
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.places = [
            place + (1, -1)[int(each)] for place, each in zip(self.places, action, strict=True)
        ]
        return 0, 0.0, False, False, {}


@pytest.mark.parametrize(
    "space", [spaces.MultiDiscrete([2, 2]), spaces.Tuple([spaces.Discrete(2)] * 2)]
)
def test_joint_actions_are_given_as_the_environment_takes_them(space: Any) -> None:
    class Joint(Pair):
        action_space = space

    actions = joint_actions(["right", "left"], ["on", "back"])
    schema = Schema({"crab": ["pos"]}, {"pos": Position(1)}, list(actions))

    def to_state(env: Any) -> list[Object]:
        return [Object(i, "crab", pos=place) for i, place in enumerate(env.unwrapped.places)]

    world = GymWorld(Joint, schema=schema, to_state=to_state, actions=actions)
    state = world.reset(0)
    after = world.step(state, "left on", np.random.default_rng(0))
    assert (after[0].pos, after[1].pos) == (2, 7)
    with pytest.raises(SettingError, match="for 'left on' none of them was given"):
        GymWorld(Joint, schema=schema, to_state=to_state, actions=actions | {"left on": (5, 0)})


def test_names_in_order_must_be_as_many_as_the_actions() -> None:
    only_back = Schema(ROW.classes, ROW.attributes, ["back"])
    with pytest.raises(
        SettingError, match=r"takes 2 actions, of Discrete\(2\), and 1 name given: back"
    ):
        row_world(schema=only_back)
    with pytest.raises(SettingError, match=r"or choose some with a dict, .*\{'back': 0\}"):
        row_world(schema=only_back, actions=["back"])
    assert row_world(schema=only_back, actions={"back": 0}).actions == ("back",)


# ------------------------------------------------------------------------- errors


def test_what_to_state_may_return_is_named() -> None:
    with pytest.raises(WrongTypeError, match=r'got None; .* pairs such as \("crab"'):
        row_world(to_state=lambda env: None).reset(0)


def test_objects_that_do_not_stay_are_named_with_their_classes() -> None:
    world = GymWorld(lambda: Row(30, vanish=True), schema=ROW, to_state=crab_and_end)
    with pytest.raises(StateError) as caught:
        list(transitions(world, 10, seed=0))
    assert "only before: crab 0, end 1; only after: end 7" in str(caught.value)
    assert "tell what vanishes with an attribute" in str(caught.value)


def test_a_lambda_is_one_clear_error_where_a_process_is_needed() -> None:
    world = GymWorld(lambda: Row(), schema=ROW, to_state=crab_and_end)
    with pytest.raises(SettingError, match=r"because make_env is .*lambda.* top level of a module"):
        pickle.dumps(world)
    with pytest.raises(SettingError, match=r"because to_state is .*lambda"):
        pickle.dumps(GymWorld(Row, schema=ROW, to_state=lambda env: crab_and_end(env)))
    with pytest.raises(WrongTypeError, match="cannot be sent to another process, because make_env"):
        list(parallel_transitions([world], 5, [0], processes=1))
    assert copy.deepcopy(world).reset(3) == world.reset(3)
    assert pickle.loads(pickle.dumps(row_world())).reset(3) == world.reset(3)


# ------------------------------------------------------------------------- the tracker


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(
            st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n
        )
    )
)
def test_the_pairing_is_as_cheap_as_the_best_of_all(costs: list[list[int]]) -> None:
    pairing = cheapest_pairing(costs)
    assert sorted(pairing) == list(range(len(costs)))
    total = sum(costs[row][column] for row, column in enumerate(pairing))
    assert total == min(
        sum(costs[row][column] for row, column in enumerate(each))
        for each in permutations(range(len(costs)))
    )


def test_things_without_ids_get_those_of_the_nearest_in_any_order() -> None:
    tracked = row_world(to_state=things)
    numbered = row_world()
    for (before, action, after, *_), (before2, _, after2, *_) in zip(
        transitions(tracked, 200, seed=0), transitions(numbered, 200, seed=0), strict=True
    ):
        assert before.ids == after.ids
        assert before.of_class("crab")[0].pos == before2.of_class("crab")[0].pos, action
        assert after.of_class("crab")[0].pos == after2.of_class("crab")[0].pos


def test_the_tracker_names_what_vanished() -> None:
    tracker = Tracker()
    tracker.track([("crab", {"pos": 1}), ("crab", {"pos": 5})])
    with pytest.raises(
        StateError, match="2 of class 'crab' and now there are 1: objects must stay"
    ):
        tracker.track([("crab", {"pos": 1})])
    tracker.start()
    assert [each.pos for each in tracker.track([("crab", {"pos": 9})])] == [9]
    with pytest.raises(WrongTypeError, match="a thing is a pair such as"):
        tracker.track([("crab", 3)])  # type: ignore[list-item]


def test_names_count_more_than_places() -> None:
    tracker = Tracker()
    tracker.track(
        [("crab", {"pos": (0, 0), "hue": "red"}), ("crab", {"pos": (9, 9), "hue": "blue"})]
    )
    after = tracker.track(
        [("crab", {"pos": (0, 1), "hue": "blue"}), ("crab", {"pos": (9, 8), "hue": "red"})]
    )
    assert [each.hue for each in after] == ["red", "blue"]


def test_arrays_are_tracked_as_what_they_hold() -> None:
    tracker = Tracker()
    tracker.track([("robot", {"pos": np.array([1, 2])}), ("robot", {"pos": np.array([5, 5])})])
    after = tracker.track(
        [("robot", {"pos": np.array([5, 4])}), ("robot", {"pos": np.array([1, 3])})]
    )
    assert after == [Object(0, "robot", pos=(1, 3)), Object(1, "robot", pos=(5, 4))]


@pytest.mark.parametrize(
    "moments",
    [
        [[{"pos": 1}, {"pos": 2, "hue": "red"}]],
        [[{"pos": 1}], [{"pos": 1, "hue": "red"}]],
        [[{"pos": 1, "hue": "red"}], [{"pos": 1}]],
    ],
)
def test_things_of_a_class_must_have_the_same_attributes(moments: list[Any]) -> None:
    tracker = Tracker()
    with pytest.raises(StateError, match=r"'crab' must all have the same attributes, got .*'hue'"):
        for moment in moments:
            tracker.track([("crab", values) for values in moment])


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2)
    )
)
def test_things_move_as_little_as_possible_and_those_that_are_as_they_were_keep_their_ids(
    moments: tuple[list[int], list[int]],
) -> None:
    tracker = Tracker()
    before, now = ([("crab", {"pos": (x, 0)}) for x in each] for each in moments)
    tracker.track(before)
    after = [each.pos[0] for each in tracker.track(now)]
    assert sorted(after) == sorted(moments[1])
    assert sum(abs(x - y) for x, y in zip(moments[0], after, strict=True)) == min(
        sum(abs(x - y) for x, y in zip(moments[0], each, strict=True))
        for each in permutations(moments[1])
    )
    for x in range(5):
        ids = [i for i, place in enumerate(moments[0]) if place == x]
        kept = [i for i in ids if after[i] == x]
        assert kept == ids[: moments[1].count(x)]


def test_of_things_that_are_alike_the_lower_ids_stay() -> None:
    tracker = Tracker()
    tracker.track([("crab", {"pos": cell}) for cell in [(0, 0), (3, 0), (0, 0), (2, 0)]])
    after = tracker.track([("crab", {"pos": cell}) for cell in [(1, 0), (2, 0), (0, 0), (2, 0)]])
    assert [each.pos for each in after] == [(0, 0), (2, 0), (1, 0), (2, 0)]


def test_what_does_not_move_is_not_compared_with_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def counted(costs: Any) -> list[int]:
        sizes.append(len(costs))
        return cheapest_pairing(costs)

    monkeypatch.setattr("treethink.worlds.gym.tracker.cheapest_pairing", counted)
    things = [("wall", {"pos": (x, y)}) for x in range(20) for y in range(20)]
    tracker = Tracker()
    tracker.track(things)
    after = tracker.track([("wall", {"pos": (30, 30)}), *reversed(things[1:])])
    assert [each.pos for each in after] == [(30, 30), *(values["pos"] for _, values in things[1:])]
    assert sizes == [1]


# ------------------------------------------------------------------------- mixed worlds


class Climb(World):
    """A number that grows by as much as the world says, unless it is larger than it takes."""

    name = "climb"
    schema = Schema({"stone": ["height"]}, {"height": 1}, ["up"])

    def __init__(self, by: int, most: int = 100):
        super().__init__()
        self.by, self.most = by, most

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "stone", height=1_000 * self.by + seed)])

    def dynamics(self, state: State, action: str) -> Distribution:
        height = state[0].height
        if self.most < height < 1_000:
            raise StateError(f"at most {self.most}")
        return [(state.replace(0, height=height + self.by), 1.0)]


def heights(world: World, state: State) -> list[int]:
    return [after[0].height for after, _ in world.distribution(state, "up")]


def test_a_state_of_nowhere_goes_to_the_first_world_that_takes_it() -> None:
    world = mixed(Climb(1, most=10), Climb(2))
    low, high = (State(Climb.schema, [Object(0, "stone", height=each)]) for each in (5, 50))
    for seed in (0, 1):
        world.reset(seed)
        fresh = copy.deepcopy(world)
        fresh.reset(seed)
        assert (heights(fresh, low), heights(fresh, high)) == ([6], [52])


def test_what_may_follow_belongs_to_the_same_world() -> None:
    world = mixed(Climb(1), Climb(2))
    state = world.reset(1)
    world.reset(0)
    for _ in range(3):
        [(after, _)] = world.distribution(state, "up")
        assert after[0].height == state[0].height + 2
        state = after


def test_mixed_worlds_take_turns_and_step_as_their_own() -> None:
    small, large = make("maze", width=5, height=5), make("maze", width=9, height=9)
    world = mixed(small, large)
    for seed in range(6):
        state = world.reset(seed)
        assert state == (small, large)[seed % 2].reset(seed // 2)
        for action in world.actions:
            assert world.distribution(state, action) == small.distribution(state, action)
    assert world.most_objects()["wall"] == large.most_objects()["wall"]
    assert pickle.loads(pickle.dumps(world)).reset(5) == world.reset(5)


def test_mixed_worlds_must_have_one_schema() -> None:
    with pytest.raises(SettingError, match="does not fit world 'doors'"):
        mixed(make("maze"), make("doors"))
    with pytest.raises(WrongTypeError, match="mixed takes worlds, got 'maze' in place 0"):
        mixed("maze")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="at least one world"):
        mixed()


def test_sizes_of_minigrid_are_mixed() -> None:
    world = mixed(*(make("minigrid:DoorKey-8x8", size=size) for size in (5, 6, 8)))
    sizes = [max(wall.pos[0] for wall in world.reset(seed).of_class("wall")) for seed in range(3)]
    assert sizes == [4, 5, 7]
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, 500, seed=0))
    assert world.stress_state(np.random.default_rng(0)) is not None


def test_mixed_worlds_that_cannot_step_from_anywhere_go_on_from_the_last_one() -> None:
    world = mixed(row_world(), GymWorld(row_of_eight, schema=ROW, to_state=crab_and_end))
    assert not world.pure
    first = world.reset(0)
    world.reset(1)
    with pytest.raises(StateError, match="goes on only from where the environment stands"):
        world.step(first, "on", np.random.default_rng(0))
    assert len(list(transitions(world, 100, seed=0))) == 100


# ------------------------------------------------------------------------- ObjectState


def test_the_state_of_minigrid_is_in_info() -> None:
    env = ObjectState(gymnasium.make("MiniGrid-DoorKey-5x5-v0"))
    world = make("minigrid:DoorKey-5x5")
    _, info = env.reset(seed=4)
    assert info["state"] == world.reset(4)
    rng = np.random.default_rng(0)
    for _ in range(100):
        before, action = info["state"], int(rng.integers(7))
        _, _, terminated, truncated, info = env.step(action)
        assert info["state"] == env.state == world.step(before, world.actions[action], rng)
        assert not (terminated or truncated)


def test_the_state_of_any_environment_is_in_info_by_a_function() -> None:
    env = ObjectState(Row(), ROW, things)
    _, info = env.reset(seed=0)
    assert isinstance(info["state"], State)
    before = info["state"]
    *_, info = env.step(1)
    assert before.changes_to(info["state"]) == {1: {"pos": before[1].pos + 1}}


def test_object_state_says_what_it_needs() -> None:
    with pytest.raises(SettingError, match=r"knows the objects of MiniGrid only: .* schema="):
        ObjectState(Row())
    with pytest.raises(SettingError, match="takes a schema and to_state, or neither"):
        ObjectState(Row(), ROW)
