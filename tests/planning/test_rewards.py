"""Plans for rewards and ends: of a function, of a world, or learned."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from reference_search import ReferenceSearch
from small_games import TableGame, games
from treethink import _engine
from treethink.baselines import Oracle
from treethink.checks import check_world
from treethink.stream import parallel_transitions
from treethink.worlds import World

SIZE = 6
STEPS = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


class Walk(World):
    """Walk to the goal; a swamp costs more than a path.

    objects: player (pos); goal (pos), one of it; swamp (pos).
    actions: left, right, up, down.
    what happens: the player moves, and stays within the field.
    rewards: -3 for a step out of a swamp, +10 for one onto the goal, otherwise -1. The goal ends
        the episode.
    """

    name = "walk"
    schema = tt.Schema(
        {"player": ["pos"], "goal": ["pos"], "swamp": ["pos"]}, {"pos": 2}, list(STEPS)
    )

    def reset(self, seed: int) -> tt.State:
        rng = self.generator(seed)
        cells = rng.permutation(SIZE * SIZE)[:6]
        places = [(int(each) % SIZE, int(each) // SIZE) for each in cells]
        names = ["player", "goal", "swamp", "swamp", "swamp", "swamp"]
        return tt.State(
            self.schema,
            [
                tt.Object(i, name, pos=pos)
                for i, (name, pos) in enumerate(zip(names, places, strict=True))
            ],
        )

    def dynamics(self, state: tt.State, action: str) -> Any:
        (x, y), (dx, dy) = state[0].pos, STEPS[action]
        pos = min(max(x + dx, 0), SIZE - 1), min(max(y + dy, 0), SIZE - 1)
        return [(state.replace(0, pos=pos), 1.0)]

    def reward(self, before: tt.State, action: str, after: tt.State) -> float:
        if after[0].pos == after[1].pos:
            return 10
        return -3 if before.find("swamp", pos=before[0].pos) else -1

    def terminated(self, before: tt.State, action: str, after: tt.State) -> bool:
        return bool(after[0].pos == after[1].pos)


@pytest.fixture(scope="module")
def learned() -> tt.TreeThink:
    model = tt.TreeThink(Walk.schema)
    model.observe_many(tt.transitions(Walk(), steps=12_000, seed=0, episode=200))
    return model


def distance(state: tt.State) -> int:
    return sum(abs(a - b) for a, b in zip(state[0].pos, state[1].pos, strict=True))


# ------------------------------------------------------------------------------ streams


def test_the_world_keeps_every_contract():
    check_world(Walk())


@pytest.mark.parametrize(
    ("reward", "terminated", "says"),
    [
        (lambda *step: float("nan"), lambda *step: False, "reward"),
        (lambda *step: "much", lambda *step: False, "reward"),
        (lambda *step: np.random.default_rng().random(), lambda *step: False, "reward"),
        (lambda *step: 1.0, lambda *step: 1, "terminated"),
    ],
)
def test_a_world_with_wrong_rewards_or_ends_breaks_its_contract(
    reward: Callable[..., Any], terminated: Callable[..., Any], says: str
):
    class Wrong(Walk):
        def reward(self, *step: Any) -> Any:
            return reward(*step)

        def terminated(self, *step: Any) -> Any:
            return terminated(*step)

    with pytest.raises(tt.CheckFailed, match=says):
        from treethink.checks.worlds import rewards_and_ends_are_stated_well

        rewards_and_ends_are_stated_well(Wrong())


def test_a_stream_has_rewards_and_starts_a_new_level_after_an_end():
    world = Walk()
    stream = list(tt.transitions(world, steps=2_000, seed=1, episode=100))
    assert all(isinstance(each, tt.Transition) for each in stream)
    for (before, action, after, reward, ended), following in pairwise(
        map(tt.Transition._make, stream)
    ):
        assert reward == world.reward(before, action, after)
        assert ended == (after[0].pos == after[1].pos)
        assert not ended or following.before != after
    assert any(each[-1] for each in stream)
    (several,) = {len(each) for _, each in parallel_transitions([world], 60, [1], processes=0)}
    assert several == 5


def test_transitions_of_worlds_without_rewards_are_triples():
    assert {len(each) for each in tt.transitions(tt.make("maze"), steps=60, seed=0)} == {3}


# ----------------------------------------------------------------------------- learning


def test_rewards_that_depend_on_relations_and_an_end_at_a_goal_are_learned(learned):
    world = Walk()
    for before, action, after, reward, ended in tt.transitions(world, 500, 77, episode=100):
        prediction = learned.predict(before, action)
        assert prediction.mode() == after
        assert prediction.reward() == reward
        assert prediction.terminated() == ended


# ----------------------------------------------------------------------------- planning

search_settings = st.fixed_dictionaries(
    {
        "discount": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        "exploration": st.sampled_from([0.3, 1.25]),
        "merge": st.booleans(),
        "by_value": st.booleans(),
        "seed": st.integers(0, 2**64 - 1),
    }
)


@settings(max_examples=100, deadline=None)
@given(
    game=games(),
    how=search_settings,
    for_score=st.booleans(),
    table=st.lists(st.sampled_from([-1.5, 0.0, 0.25, 3.0]), min_size=7, max_size=7),
    ends=st.sets(st.integers(0, 6)),
    known=st.booleans(),
)
def test_rewards_of_a_function_are_searched_as_the_twin_does(
    game: TableGame, how: Any, for_score: bool, table: list[float], ends: set[int], known: bool
) -> None:
    def feedback(before: tt.State, action: str, after: tt.State) -> tuple[float, bool | None]:
        place = hash((before, action, after)) % 7
        return table[place], (place in ends) if known else None

    state = game.start()
    twin = ReferenceSearch(
        game.predict,
        state,
        rng=np.random.default_rng(7),
        for_score=for_score,
        feedback=feedback,
        **how,
    )
    search, rng = _engine.Search(state, **how, for_score=for_score), np.random.default_rng(7)
    for _ in range(25):
        twin.simulate(5)
        search.run(game.predict, rng, 1, 0.0, 5, feedback)
        assert search._tree() == twin.dump()
    assert search.variation() == twin.variation()


def test_learned_rewards_are_searched_as_the_twin_does(learned):
    how: Any = {"discount": 0.9, "exploration": 1.25, "merge": True, "by_value": False, "seed": 3}
    for seed in range(5):
        state = Walk().reset(seed)
        twin = ReferenceSearch(learned.predict, state, looks_first=False, for_score=False, **how)
        search = _engine.Search(state, **how, for_score=False)
        for _ in range(80):
            twin.simulate(12)
        search.run(learned, None, 80, 0.0, 12)
        assert search._tree() == twin.dump()


@pytest.mark.parametrize("kind", ["learned", "world", "oracle", "function"])
def test_plans_reach_the_goal_and_stop_there(learned, kind):
    world = Walk()
    model = {"world": world, "oracle": Oracle(world)}.get(kind, learned)
    reward = (lambda b, a: 10.0 * (distance(a) == 0) - 1) if kind == "function" else None
    agent = tt.Agent(model, simulations=600, reward=reward, choose="value")
    for level in range(6):
        state = world.reset(level)
        episode = agent.play(world, steps=40, level=level)
        assert distance(episode.states[-1]) == 0, (level, episode.actions)
        assert len(episode.actions) == len(episode.rewards) < 40
        assert distance(state) <= len(episode.actions) <= distance(state) + 8
        plan = tt.plan(model, episode.states[-2], simulations=200, reward=reward)
        assert plan.actions == [episode.actions[-1]], "nothing follows an end"


def test_learned_rewards_are_planned_for_in_a_world_that_states_none():
    world = tt.make("walls")
    model = tt.TreeThink(world.schema)
    for before, action, after in tt.transitions(world, 2_000, 0):
        model.observe(before, action, after, 1.0 if action == "right" and before != after else -1.0)
    agent = tt.Agent(model)
    for level in range(4):
        episode = agent.play(world, steps=6, level=level)
        steps = zip(episode.states, episode.actions, episode.states[1:], strict=False)
        assert episode.rewards == [
            1.0 if action == "right" and before != after else -1.0
            for before, action, after in steps
        ]


def test_the_same_seed_gives_the_same_plan_with_and_without_python(learned):
    state = Walk().reset(3)
    one, two = (tt.plan(learned, state, simulations=300, seed=5) for _ in range(2))
    assert one == two

    class Wrapped:
        observations = 0
        feedback = learned.feedback

        def predict(self, state: tt.State, action: str) -> tt.Prediction:
            return learned.predict(state, action)

    assert tt.plan(Wrapped(), state, simulations=300, seed=5) == one


def test_a_reward_function_replaces_the_score_of_a_game():
    world = tt.make("maze")
    start = world.reset(5)

    def stays(before: tt.State, after: tt.State) -> bool:
        return bool(before.of_class("player")[0].pos == after.of_class("player")[0].pos)

    plan = tt.plan(Oracle(world), start, simulations=60, horizon=4, reward=stays)
    assert all(stays(start, state) for state in plan.states)
    assert (plan.values[plan.action] or 0) > 0


def test_a_plan_without_anything_to_gain_says_what_to_do():
    world = tt.make("walls")
    model = tt.TreeThink(world.schema)
    with pytest.raises(tt.SettingError, match=r"give reward=.* let the model learn rewards"):
        tt.plan(model, world.reset(0))
    assert tt.plan(model, world.reset(0), reward=lambda b, a: 1.0).simulations == 100


@pytest.mark.parametrize("wrong", ["1", None, float("nan"), float("inf"), [1], 10**400])
def test_a_reward_function_must_return_a_number(learned, wrong):
    with pytest.raises(tt.WrongTypeError, match=r"reward\(before, after\) must return a finite"):
        tt.plan(learned, Walk().reset(0), reward=lambda before, after: wrong)


def test_rewards_that_do_not_add_up_are_refused(learned):
    def planned(size: float) -> tt.Plan:
        return tt.plan(learned, Walk().reset(0), reward=lambda before, after: size, horizon=20)

    for size in (1e308, -1e308, 1.1e250):
        with pytest.raises(tt.SettingError, match="needs rewards from -1e250 to 1e250, got"):
            planned(size)
    for size in (1e250, -1e250):
        values = planned(size).values.values()
        assert all(abs(value) < 1e252 for value in values if value is not None)


def test_a_reward_that_is_no_function_is_refused(learned):
    for wrong in (1.0, "score"):
        with pytest.raises(tt.WrongTypeError, match="reward must be a function of the states"):
            tt.plan(learned, Walk().reset(0), reward=wrong)  # type: ignore[arg-type]


def test_an_error_of_a_reward_function_is_raised_and_the_model_stays_usable(learned):
    def failing(before: tt.State, after: tt.State) -> float:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        tt.plan(learned, Walk().reset(0), reward=failing)
    assert tt.plan(learned, Walk().reset(0)).simulations == 100


def test_agents_are_copied_with_their_reward(learned):
    agent = pickle.loads(pickle.dumps(tt.Agent(learned, reward=by_distance)))
    assert agent.reward is by_distance


def by_distance(before: tt.State, after: tt.State) -> float:
    return distance(before) - distance(after)
