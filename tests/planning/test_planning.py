"""The search equals its reference, finds the best action, and checks its arguments.

Search trees are golden files. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/planning/test_planning.py
"""

from __future__ import annotations

import copy
import gc
import inspect
import json
import os
import pickle
import signal
import threading
import time
import weakref
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from reference_search import ReferenceSearch
from small_games import GAME, TOKEN, TableGame, games, schema_of
from treethink import _engine
from treethink.baselines import LEARNERS, Oracle, make_learner
from treethink.planning.search import Search, SearchOptions, SearchSettings

GOLDEN = Path(__file__).parents[1] / "golden"


def engine(state: tt.State, **settings: Any) -> _engine.Search:
    usual = {"discount": 1.0, "exploration": 1.25, "merge": True, "by_value": False, "seed": 0}
    return _engine.Search(state, **{**usual, **settings})


def train(name: str, steps: int, seed: int = 0, **options: int) -> tuple[Any, tt.TreeThink]:
    world = tt.make(name, **options)
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=steps, seed=seed))
    return world, model


@pytest.fixture(scope="module")
def maze() -> tuple[Any, tt.TreeThink]:
    return train("maze", 5_000)


@pytest.fixture(scope="module")
def fish_like() -> tuple[TableGame, tt.TreeThink]:
    """A game of chance, and a model that has seen it."""
    game = TableGame({
        (0, "a"): [(1, 1, 1), (2, -1, 1)], (0, "b"): [(0, 0, 3), (2, 2, 1)],
        (1, "a"): [(0, 0, 1)], (1, "b"): [(2, 3, 1), (1, 0, 2)],
        (2, "a"): [(0, -2, 1)], (2, "b"): [(2, 0, 1), (1, 1, 1)],
    })  # fmt: skip
    model, rng, state = tt.TreeThink(game.schema), np.random.default_rng(0), game.start()
    for _ in range(3_000):
        action = str(rng.choice(["a", "b"]))
        after = game.predict(state, action).sample(rng)
        model.observe(state, action, after)
        state = after
    return game, model


# ------------------------------------------------------------------------------- twin

search_settings = st.fixed_dictionaries(
    {
        "discount": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        "exploration": st.sampled_from([0.0, 0.3, 1.25, 4.0]),
        "merge": st.booleans(),
        "by_value": st.booleans(),
        "seed": st.integers(0, 2**64 - 1),
    }
)


@settings(max_examples=150, deadline=None)
@given(game=games(), how=search_settings, data=st.data())
def test_the_engine_searches_as_its_twin_does(game: TableGame, how: Any, data: Any) -> None:
    state = game.start(score=data.draw(st.integers(-5, 5)))
    twin = ReferenceSearch(game.predict, state, rng=np.random.default_rng(7), **how)
    fast, rng = engine(state, **how), np.random.default_rng(7)
    world_rng = np.random.default_rng(9)
    for _ in range(data.draw(st.integers(1, 3))):
        horizon = data.draw(st.sampled_from([1, 2, 5, 2**64 - 1]))
        for _ in range(data.draw(st.integers(1, 40))):
            twin.simulate(horizon)
            fast.run(game.predict, rng, 1, 0.0, horizon)
            assert fast._tree() == twin.dump()
        assert fast.variation() == twin.variation()
        action = fast.best()
        assert action == game.schema.actions[twin.best(twin.nodes[0])]
        state = game.predict(state, action).sample(world_rng)
        followed = fast.follow(action, state)
        assert followed == twin.follow(game.schema.actions.index(action), state)
        if not followed:
            fast.start(state)
            twin.start(state)
        assert fast._tree() == twin.dump()


@settings(max_examples=30, deadline=None)
@given(how=search_settings, at=st.integers(0, 2))
def test_a_model_of_the_engine_is_searched_as_the_twin_does(
    fish_like: Any, how: Any, at: int
) -> None:
    game, model = fish_like
    twin = ReferenceSearch(model.predict, game.start(at), looks_first=False, **how)
    fast = engine(game.start(at), **how)
    for _ in range(60):
        twin.simulate(6)
    fast.run(model, None, 60, 0.0, 6)
    assert fast._tree() == twin.dump()
    assert fast.variation() == twin.variation()


@pytest.mark.parametrize("name, steps", [("maze", 5_000), ("coins", 8_000), ("lights", 3_000)])
def test_plans_are_equal_for_the_engine_a_python_model_and_the_world(name: str, steps: int) -> None:
    """Three ways to ask an exact model of a world without chance: one plan."""
    world, model = train(name, steps)

    class Wrapped:
        def predict(self, state: tt.State, action: str) -> Any:
            return model.predict(state, action)

    for seed in range(3):
        state = world.reset(seed)
        plan = tt.plan(model, state, 150, seed, horizon=20)
        assert plan == tt.plan(Wrapped(), state, 150, seed, horizon=20)
        assert plan == tt.plan(world, state, 150, seed, horizon=20)


class Spelled(tt.TreeThink):
    """Predicts in Python what the engine would predict."""

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        self.asked = getattr(self, "asked", 0) + 1
        return super().predict(*args, **kwargs)


def test_a_subclass_with_its_own_predict_is_asked() -> None:
    world = tt.make("maze")
    model = Spelled(world.schema)
    model.observe_many(tt.transitions(world, steps=3_000, seed=0))
    state = world.reset(seed=3)
    plain = tt.TreeThink.from_bytes(model.to_bytes())
    assert tt.plan(model, state, horizon=10) == tt.plan(plain, state, horizon=10)
    assert 0 < model.asked <= 100


# ---------------------------------------------------------------------- the true world

SIZES = {  # width and height: percent of walls, goals, steps
    8: (30, 2, 10), 10: (32, 5, 20), 12: (50, 10, 30), 14: (56, 15, 40), 16: (82, 20, 50),
}  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
def test_an_exact_model_plays_as_the_world_itself(maze: Any, size: int) -> None:
    percent, goals, steps = SIZES[size]
    _, model = maze  # learned at 8 x 8
    world = tt.make("maze", width=size, height=size, wall_percent=percent, goals=goals)
    for seed in range(2):
        by_model = tt.Agent(model, seed=seed).play(world, steps, level=seed)
        by_truth = tt.Agent(world, seed=seed).play(world, steps, level=seed)
        assert by_model.actions == by_truth.actions
        assert by_model.states == by_truth.states
        assert by_model.score == by_truth.score == sum(by_model.rewards)


def test_the_planned_states_are_reached_in_the_world(maze: Any) -> None:
    """The principal variation in an exact model, score and all."""
    world, model = maze
    rng = np.random.default_rng(0)
    for level in range(5):
        state = world.reset(level)
        state = state.replace(state.of_class("game")[0].id, score=17)
        plan = tt.plan(model, state, 500, horizon=15)
        assert plan.states[0] == state and len(plan.states) == len(plan.actions) + 1
        assert plan.actions[0] == plan.action
        for action, after in zip(plan.actions, plan.states[1:], strict=True):
            state = world.step(state, action, rng)
            assert state == after
        assert len(plan.actions) > 3


# ------------------------------------------------------------------------ what is best


@settings(max_examples=60, deadline=None)
@given(
    game=games(),
    steps=st.integers(1, 3),
    discount=st.sampled_from([0.5, 1.0]),
    seed=st.integers(0, 99),
)
def test_it_converges_to_the_best_action(
    game: TableGame, steps: int, discount: float, seed: int
) -> None:
    values = game.values(0, steps, discount)
    plan = tt.plan(game, game.start(), 4_000, seed, horizon=steps, discount=discount)
    assert values[plan.action] >= max(values.values()) - 0.2
    value = plan.values[plan.action]
    assert value is not None and abs(value - max(values.values())) < 0.6


def test_the_arm_with_the_best_mean_is_chosen() -> None:
    """The arm that pays most on average, not the one that may pay most."""
    sure, risky, poor = [(1, 2, 1)], [(1, 5, 1), (1, 0, 3)], [(1, -1, 1)]
    game = TableGame(
        {(0, "risky"): risky, (0, "sure"): sure, (0, "poor"): poor}, ["risky", "sure", "poor"]
    )
    for seed in range(10):
        plan = tt.plan(game, game.start(), 2_000, seed, horizon=1)
        assert plan.action == "sure"
        assert plan.values["sure"] == 2.0 and plan.values["poor"] == -1.0
        assert plan.values["risky"] == pytest.approx(1.25, abs=0.6)
        assert sum(plan.visits.values()) == 2_000
        assert plan.visits["sure"] > 1_500


def test_traps() -> None:
    """What pays at once may cost more later: it depends on how far ahead one may look."""
    game = TableGame({
        (0, "a"): [(1, 3, 1)], (0, "b"): [(2, 0, 1)],
        (1, "a"): [(1, -10, 1)], (1, "b"): [(1, -10, 1)],
        (2, "a"): [(2, 5, 1)], (2, "b"): [(2, -1, 1)],
    })  # fmt: skip
    for seed in range(10):
        near = tt.plan(game, game.start(), 200, seed, horizon=1)
        far = tt.plan(game, game.start(), 200, seed, horizon=2)
        assert (near.action, far.action) == ("a", "b")
        assert far.actions == ["b", "a"] and [s[TOKEN].at for s in far.states] == [0, 2, 2]
        careless = tt.plan(game, game.start(), 200, seed, horizon=2, discount=0.1)
        assert careless.action == "a"


def test_the_best_value_and_the_most_visits_may_differ() -> None:
    game = TableGame({(0, "a"): [(1, 1, 1)], (0, "b"): [(2, 0, 1)], (2, "a"): [(2, 9, 1)]})
    plans = {
        choose: tt.plan(game, game.start(), 6, choose=choose) for choose in ("visits", "value")
    }
    for choose, plan in plans.items():
        by = plan.visits if choose == "visits" else plan.values
        assert by[plan.action] == max(each for each in by.values() if each is not None)


def test_more_simulations_do_not_play_worse(maze: Any) -> None:
    world, model = maze
    few = [tt.Agent(model, simulations=10).play(world, 20, level=i).score for i in range(8)]
    many = [tt.Agent(model, simulations=2_000).play(world, 20, level=i).score for i in range(8)]
    assert sum(many) > sum(few)


# --------------------------------------------------------------------- situations


def test_states_reached_by_several_paths_are_merged(maze: Any) -> None:
    world, model = maze
    state = world.reset(1)
    merged, apart = (
        tt.plan(model, state, 2_000, horizon=12, exploration=20, transpositions=each)
        for each in (True, False)
    )
    free = 36 - 10  # cells without a wall
    assert merged.nodes <= 12 * free + 1 < 500 < apart.nodes <= 2_001


def test_states_that_differ_in_a_relevant_score_are_not_merged() -> None:
    """Its facts are in the schema: then two states that differ in it are two."""
    table = {(0, "a"): [(1, 1, 1)], (0, "b"): [(1, 2, 1)]}
    idle = TableGame(table)
    with_facts = TableGame(table, schema=schema_of(("a", "b"), tt.Attribute(1)))
    values = TableGame(
        table, schema=schema_of(("a", "b"), tt.Attribute(1, facts=(), outcomes="value"))
    )
    assert [
        tt.plan(each, each.start(), 50, horizon=1).nodes for each in (idle, with_facts, values)
    ] == [2, 3, 3]


def test_the_search_tree_is_reused_after_an_expected_step(maze: Any) -> None:
    world, model = maze
    state = world.reset(2)
    search = Search(model, SearchSettings(simulations=300, horizon=10), 0)
    first = search.plan(state)
    after = world.step(state, first.action, np.random.default_rng(0))
    second = search.plan(after, first.action)
    assert sum(second.visits.values()) > 300  # those that were below, and 300 more
    assert second.states[0] == after
    fresh = search.plan(after)
    assert sum(fresh.visits.values()) == 300
    unforeseen = world.reset(3)
    assert sum(search.plan(unforeseen, second.action).visits.values()) == 300


def test_the_search_tree_beyond_the_last_step_is_not_reused() -> None:
    """With one step left, what could be had in two is of no use."""
    game = TableGame({
        (0, "a"): [(1, 0, 1)], (0, "b"): [(1, 0, 1)], (1, "a"): [(2, 1, 1)], (1, "b"): [(3, 0, 1)],
        (3, "a"): [(2, 10, 1)], (3, "b"): [(2, 10, 1)],
    })  # fmt: skip
    agent = tt.Agent(game)
    agent.plan(game.start(0), 20)
    last = agent.plan(game.start(1), steps_left=1)
    assert last.action == "a" and len(last.actions) == 1
    assert sum(last.visits.values()) == 100


def test_the_search_tree_is_not_reused_after_the_model_has_learned() -> None:
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    agent, state = tt.Agent(model), world.reset(5)
    action = agent.act(state)
    assert set(agent.plan(state).values.values()) == {0.0}
    model.observe_many(tt.transitions(world, steps=3_000, seed=0))
    after = world.step(state, action, np.random.default_rng(0))
    plan = agent.plan(after)
    assert sum(plan.visits.values()) == 100 and 0.0 not in plan.values.values()


def test_the_outcome_with_the_received_reward_is_followed_among_equal_states() -> None:
    game = TableGame({(0, "a"): [(1, 5, 1), (1, -5, 1)], (1, "a"): [(2, 1, 1)]}, ["a"])
    for reward in (5, -5):
        search = engine(game.start(), merge=False)
        search.run(game.predict, np.random.default_rng(0), 40, 0.0, 5)
        ((_, _, outcomes),) = search._tree()[0][4]
        visits = {outcome_reward: search._tree()[node][2] for node, outcome_reward, _ in outcomes}
        assert search.follow("a", game.start(1, reward))
        assert search._tree()[0][2] == visits[reward]


def test_without_reuse_every_action_starts_anew(maze: Any) -> None:
    world, model = maze
    plans: list[tt.Plan] = []
    tt.Agent(model, reuse=False).play(world, 5, tell=lambda episode, plan: plans.append(plan))
    assert [sum(each.visits.values()) for each in plans] == [100] * 5


def test_each_simulation_asks_at_most_once() -> None:
    game = TableGame({(0, "a"): [(1, 1, 1)], (1, "b"): [(0, 1, 1)]})
    plan = tt.plan(game, game.start(), 64)
    assert game.asked <= 64 and plan.simulations == 64


# ------------------------------------------------------------------- seeds and threads


def test_the_same_seed_gives_the_same_plan(maze: Any, fish_like: Any) -> None:
    world, model = maze
    game, of_chance = fish_like
    for asked, state in ((model, world.reset(0)), (of_chance, game.start()), (game, game.start())):
        plans = [tt.plan(asked, state, 300, seed, horizon=20) for seed in (3, 3, 4, 5)]
        assert plans[0] == plans[1]
        assert plans[0] != plans[2] or plans[0] != plans[3]


def test_an_episode_depends_on_nothing_that_was_played_before(maze: Any) -> None:
    world, model = maze
    agent = tt.Agent(model, seed=4)
    first = agent.play(world, 10, level=1)
    agent.play(world, 10, level=2)
    assert agent.play(world, 10, level=1).actions == first.actions
    agent.reset(seed=5)
    assert agent.seed == 5


def test_several_threads_plan_at_once(maze: Any) -> None:
    world, model = maze
    expected = tt.plan(model, world.reset(0), 3_000, horizon=20)
    plans: list[tt.Plan] = []
    threads = [
        threading.Thread(
            target=lambda: plans.append(tt.plan(model, world.reset(0), 3_000, horizon=20))
        )
        for _ in range(4)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert plans == [expected] * 4


def test_other_python_threads_run_while_the_engine_searches(maze: Any) -> None:
    """The GIL is free: another thread gets on although the search never lets go of its own."""
    world, model = maze
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    begin = time.perf_counter()
    tt.plan(model, world.reset(0), None, milliseconds=300, horizon=20)
    end = time.perf_counter()
    done.set()
    other.join()
    assert sum(begin < each < end for each in ticks) >= 10


def test_one_search_does_one_thing_at_a_time() -> None:
    game = TableGame({(0, "a"): [(1, 1, 1)]})
    search = engine(game.start())

    def predict(state: tt.State, action: str) -> Any:
        search.best()

    with pytest.raises(tt.TreeThinkError, match="under way already"):
        search.run(predict, np.random.default_rng(0), 1, 0.0, 5)
    assert search.best() == "a"  # and can be used again


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGALRM")
@pytest.mark.parametrize("kind", ["engine", "python"])
def test_a_long_search_can_be_interrupted(maze: Any, kind: str) -> None:
    world, model = maze
    agent = tt.Agent(model if kind == "engine" else world, simulations=None, milliseconds=60_000)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            agent.plan(world.reset(0))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    agent.settings = replace(agent.settings, milliseconds=1.0)
    agent.reset()
    assert agent.act(world.reset(0)) in world.actions


def test_a_budget_of_time(maze: Any) -> None:
    world, model = maze
    plan = tt.plan(model, world.reset(0), None, milliseconds=20, horizon=10)
    assert plan.simulations > 100
    assert tt.plan(world, world.reset(0), None, milliseconds=1e-6).simulations == 1
    assert tt.plan(model, world.reset(0), 50, milliseconds=60_000).simulations == 50


# ---------------------------------------------------------------------------- episodes


def test_an_agent_plays(maze: Any) -> None:
    world, model = maze
    lengths: list[int] = []

    def tell(episode: tt.Episode, plan: tt.Plan) -> bool:
        lengths.append(len(episode.actions))
        assert plan.action == episode.actions[-1]
        return len(episode.actions) < 7

    episode = tt.Agent(model).play(world, 10, level=5, tell=tell)
    assert lengths == list(range(1, 8)) and len(episode.actions) == 7 == len(episode.rewards)
    assert episode.states[0] == world.reset(5) and episode.seconds > 0
    start = episode.states[3]
    continued = tt.Agent(model).play(world, 4, start=start)
    assert continued.states[0] == start and len(continued.actions) == 4


def test_an_agent_plays_in_a_world_of_chance() -> None:
    pytest.importorskip("gymnasium")
    world = tt.make("frozenlake")
    episode = tt.Agent(world, simulations=50, seed=1).play(world, 30, level=0)
    repeated = tt.Agent(world, simulations=50, seed=1).play(world, 30, level=0)
    assert episode.actions == repeated.actions and episode.states == repeated.states


def test_planning_respects_the_end_of_an_episode() -> None:
    """Each step costs, and nothing draws the player on but the end of all costs."""
    pytest.importorskip("gymnasium")
    world = tt.make("cliffwalking")
    episode = tt.Agent(world, simulations=1_000).play(world, 50)
    assert world.is_over(episode.states[-1]) and len(episode.actions) < 40
    plan = tt.plan(world, episode.states[-1], 50)
    assert set(plan.values.values()) == {0.0}


def test_an_agent_looks_no_further_than_the_end(maze: Any) -> None:
    world, model = maze
    plans: list[tt.Plan] = []
    tt.Agent(model).play(world, 6, tell=lambda episode, plan: plans.append(plan))
    assert all(len(each.actions) <= 6 - i for i, each in enumerate(plans))


def test_a_plan_can_be_read(maze: Any) -> None:
    world, model = maze
    lines = str(tt.plan(model, world.reset(5), horizon=10)).splitlines()
    assert lines[0].startswith("right after 100 simulations, ")
    assert [line[2:].split()[0] for line in lines[1:6]] == list(world.actions)
    assert sum(line.startswith("*") for line in lines) == 1
    assert lines[-1].startswith("expected: right")
    plan = tt.plan(model, world.reset(5), 2_000, horizon=30)
    assert repr(plan) == "<Plan: right, 2,000 simulations>"
    assert len(plan.actions) > 12 and str(plan).endswith(" ...")
    assert repr(tt.Agent(model).play(world, 10, level=5)) == "<Episode: 10 steps, score +6>"
    untried = str(tt.plan(model, world.reset(5), 1))
    assert untried.count("not tried") == 4


# -------------------------------------------------------------------------- what is odd


def test_an_untrained_model_gives_a_defined_plan() -> None:
    world = tt.make("maze")
    plan = tt.plan(tt.TreeThink(world.schema), world.reset(0), 50)
    assert plan.action in world.actions
    assert set(plan.values.values()) == {0.0} and sum(plan.visits.values()) == 50


def test_a_single_action_and_a_single_simulation() -> None:
    game = TableGame({(0, "a"): [(0, -1, 1)]}, ["a"])
    plan = tt.plan(game, game.start(), 1)
    assert (plan.action, plan.visits, plan.values) == ("a", {"a": 1}, {"a": -1.0})


def test_numbers_of_numpy_are_numbers(maze: Any) -> None:
    world, model = maze
    plan = tt.plan(
        model,
        world.reset(0),
        np.int64(50),
        np.uint8(3),
        horizon=np.int32(5),
        discount=np.float32(1),
    )
    assert plan == tt.plan(model, world.reset(0), 50, 3, horizon=5)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"simulations": 0}, "simulations must be at least 1, got 0"),
        ({"simulations": -5}, "simulations must be at least 1, got -5"),
        ({"simulations": True}, "simulations must be a whole number, got True"),
        ({"simulations": 1.5}, "simulations must be a whole number, got 1.5"),
        ({"simulations": 2**63}, "simulations must be at most"),
        ({"simulations": None}, "simulations and milliseconds must not both be None"),
        ({"milliseconds": 0}, "milliseconds must be above 0, got 0"),
        ({"milliseconds": -1}, "milliseconds must be finite, at least 0, got -1"),
        ({"milliseconds": float("nan")}, "milliseconds must be finite"),
        ({"milliseconds": 10**400}, "milliseconds must be finite"),
        ({"milliseconds": "5"}, "milliseconds must be a number, got '5'"),
        ({"discount": 1.5}, "discount must be finite, at least 0 and at most 1, got 1.5"),
        ({"discount": -0.1}, "discount must be finite, at least 0 and at most 1, got -0.1"),
        ({"exploration": -1}, "exploration must be finite, at least 0, got -1"),
        ({"exploration": float("inf")}, "exploration must be finite"),
        ({"horizon": 0}, "horizon must be at least 1, got 0"),
        ({"choose": "visit"}, "unknown choice 'visit'.*visits"),
        ({"choose": 3}, "unknown choice '3'"),
        ({"transpositions": 1}, "transpositions must be True or False, got 1"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 2**64}, "seed must be below"),
    ],
)
def test_wrong_settings(maze: Any, settings: dict[str, Any], message: str) -> None:
    world, model = maze
    with pytest.raises(tt.TreeThinkError, match=message):
        tt.plan(model, world.reset(0), **settings)
    with pytest.raises(tt.TreeThinkError, match=message):
        tt.Agent(model, **settings)


def test_plan_refuses_invalid_arguments(maze: Any) -> None:
    world, model = maze
    state = world.reset(0)
    walls = tt.make("walls")
    with pytest.raises(tt.StateError, match="another schema than the model"):
        tt.plan(model, walls.reset(0))
    with pytest.raises(tt.SettingError, match="nothing to plan for: give reward="):
        tt.plan(walls, walls.reset(0))
    with pytest.raises(tt.WrongTypeError, match="state must be a State, got 'maze'"):
        tt.plan(model, "maze")  # type: ignore[arg-type]
    for other in ("maze", tt.TreeThink, None):
        with pytest.raises(tt.WrongTypeError, match="a model must be a TreeThink, a world or"):
            tt.plan(other, state)
    silent = TableGame({}, [])
    with pytest.raises(tt.SettingError, match="nothing to choose from: the schema has no actions"):
        tt.plan(silent, silent.start())
    no_game = tt.State(world.schema, [each for each in state if each.class_name != "game"])
    with pytest.raises(tt.StateError, match="exactly one game, the state has 0"):
        tt.plan(model, no_game)
    two = tt.State(world.schema, [*state, tt.Object(99_999, "game", score=0)])
    with pytest.raises(tt.StateError, match="exactly one game, the state has 2"):
        tt.plan(model, two)
    with pytest.raises(tt.SettingError, match="reuse must be True or False"):
        tt.Agent(model, reuse=1)  # type: ignore[arg-type]
    with pytest.raises(tt.SettingError, match="steps must be at least 1"):
        tt.Agent(model).play(world, 0)
    log = tt.read_frame({"action": ["up", ""], "floor": [0, 1]})
    with pytest.raises(tt.WrongTypeError, match=r"agent\.plan\(log\.last_state\)"):
        tt.Agent(model).play(log, 1)  # type: ignore[arg-type]
    with pytest.raises(tt.TreeThinkError, match="an agent needs a World"):
        tt.Agent(model).play("maze", 5)  # type: ignore[arg-type]
    with pytest.raises(tt.WrongTypeError, match="tell must be callable or None, got 3"):
        tt.Agent(model).play(world, 5, tell=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unhashable type: 'Plan'"):
        hash(tt.plan(model, state, 1))
    with pytest.raises(tt.SettingError, match="steps_left must be at least 1"):
        tt.Agent(model).plan(state, 0)


class Fickle:
    """Answers with a state of its own schema, and with others from the second time on."""

    def __init__(self, first: tt.State, then: tt.State):
        self.states = [first]
        self.then = then

    def predict(self, state: tt.State, action: str) -> Any:
        return self

    def sample(self, rng: Any) -> tt.State:
        return self.states.pop() if self.states else self.then

    def probability(self, state: tt.State) -> float:
        return 0.5


@pytest.mark.parametrize("schema", ["fewer", "longer"])
def test_a_prediction_must_keep_to_its_schema(schema: str) -> None:
    game = TableGame({})
    if schema == "fewer":
        other = tt.Schema({"token": ["at"], "game": []}, {"at": 1}, ("a", "b"))
        objects = [tt.Object(TOKEN, "token", at=0), tt.Object(GAME, "game")]
    else:
        attributes = {"at": 50, "score": tt.Attribute(1, facts=())}
        other = tt.Schema({"token": ["at"], "game": ["score"]}, attributes, ("a", "b"))
        objects = [tt.Object(TOKEN, "token", at=[0] * 50), tt.Object(GAME, "game", score=0)]
    fickle = Fickle(game.start(), tt.State(other, objects))
    with pytest.raises(tt.StateError, match="of another schema"):
        tt.plan(fickle, game.start(), 20)


def test_a_search_in_a_reference_cycle_is_garbage_collected() -> None:
    """A model that holds its agent, and predictions that hold the model."""

    class Loop(TableGame):
        def predict(self, state: tt.State, action: str) -> Any:
            prediction = super().predict(state, action)
            prediction.model = self  # type: ignore[attr-defined]
            return prediction

    game = Loop({(0, "a"): [(1, 1, 1), (0, 0, 1)]})
    game.agent = tt.Agent(game)  # type: ignore[attr-defined]
    game.agent.plan(game.start())  # type: ignore[attr-defined]
    reference = weakref.ref(game)
    del game
    gc.collect()
    assert reference() is None


def test_agents_can_be_copied(maze: Any) -> None:
    world, model = maze
    agent = tt.Agent(model, seed=3, simulations=50)
    expected = agent.plan(world.reset(0))
    for other in (copy.copy(agent), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert other.plan(world.reset(0)) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected


def test_a_predict_of_its_own_on_one_model_is_asked(maze: Any) -> None:
    world, model = maze
    patched = copy.deepcopy(model)
    actions = []
    patched.predict = lambda state, action: actions.append(action) or model.predict(state, action)
    assert tt.plan(patched, world.reset(0)) == tt.plan(model, world.reset(0)) and actions


def test_many_outcomes_do_not_slow_it_down() -> None:
    """Each is found without looking at all others: 20,000 of them, in a moment."""
    game = TableGame({(0, "a"): [(place, 0, 1) for place in range(20_000)]}, ["a"])
    prediction = game.predict(game.start(), "a")
    places = prediction.states

    class Quick:
        def sample(self, rng: Any) -> tt.State:
            return places[int(rng.integers(20_000))][0]

        def probability(self, state: tt.State) -> float:
            return 1 / 20_000

    quick = Quick()
    quick.predict = lambda state, action: quick  # type: ignore[attr-defined]
    plan = tt.plan(quick, game.start(), 30_000, horizon=1)
    assert 12_000 < plan.nodes < 20_001


class Odd:
    """Answers with whatever it was given."""

    def __init__(self, game: TableGame, answer: Any):
        self.schema, self.answer = game.schema, answer

    def predict(self, state: tt.State, action: str) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Says:
    def __init__(self, state: Any, probability: Any = 1.0):
        self.state, self.chance = state, probability

    def sample(self, rng: Any) -> Any:
        return self.state

    def probability(self, state: tt.State) -> Any:
        return self.chance


def test_odd_predictions_are_refused_and_the_search_can_go_on() -> None:
    game = TableGame({(0, "a"): [(1, 1, 1)]})
    state = game.start()
    elsewhere = tt.make("maze").reset(0)
    other = tt.State(game.schema, [tt.Object(5, "token", at=0), tt.Object(GAME, "game", score=0)])
    far = game.start(score=2**63 - 1)
    search = engine(game.start(score=-(2**62)))
    for answer, error, message in (
        (None, tt.WrongTypeError, r"must have sample\(rng\) and probability\(state\), got None"),
        (Says("there"), tt.WrongTypeError, r"sample\(rng\) of a prediction must give a State"),
        (Says(state, "surely"), tt.WrongTypeError, "must give a number, got 'surely'"),
        (Says(elsewhere), tt.StateError, "of another schema"),
        (Says(other), tt.TransitionError, "1"),
        (Says(far), tt.StateError, "change of the score does not fit 64 bits"),
        (ZeroDivisionError("oops"), ZeroDivisionError, "oops"),
    ):
        with pytest.raises(error, match=message):
            search.run(Odd(game, answer).predict, np.random.default_rng(0), 10, 0.0, 5)
        assert search.actions() == [(0, None), (0, None)]
    assert search.run(game.predict, np.random.default_rng(0), 10, 0.0, 5) == 10


def test_scores_at_the_end_of_all_numbers() -> None:
    game = TableGame({(0, "a"): [(0, 1, 1)], (0, "b"): [(0, 0, 1)]})
    plan = tt.plan(game, game.start(score=2**63 - 3), 40, horizon=2)
    assert plan.action == "a"
    with pytest.raises(tt.StateError):  # the game itself cannot count on
        tt.plan(game, game.start(score=2**63 - 1), 40, horizon=3)


@pytest.mark.parametrize("name", LEARNERS)
def test_any_learner_can_be_planned_with(name: str) -> None:
    world = tt.make("maze")
    learner = make_learner(name, world)
    for transition in tt.transitions(world, steps=30, seed=0):
        learner.observe(*transition)
    state = world.reset(5)
    plan = tt.plan(learner, state, 20, seed=1)
    assert plan.action in world.actions and sum(plan.visits.values()) == 20
    assert plan == tt.plan(learner, state, 20, seed=1)


def test_a_world_is_its_own_oracle(maze: Any) -> None:
    world, model = maze
    state = world.reset(5)
    assert tt.plan(Oracle(world), state, horizon=10) == tt.plan(world, state, horizon=10)
    assert tt.plan(model, state, horizon=10) == tt.plan(world, state, horizon=10)


# ------------------------------------------------------------------------- golden trees


def tree_of(search: _engine.Search) -> Any:
    """A search tree that a person can read: where the token or player is, and what was found."""

    def place(state: tt.State) -> Any:
        (who,) = state.of_class("player" if "player" in state.schema.classes else "token")
        return next(iter(who.values.values()))

    return [
        {
            "node": i, "at": place(state), "depth": depth, "visits": visits,
            "value": round(value, 12),
            "actions": {
                name: [visits, round(value, 12), outcomes]
                for name, (visits, value, outcomes) in zip(state.schema.actions, edges, strict=True)
                if visits
            } if edges else {},
        }
        for i, (state, depth, visits, value, edges) in enumerate(search._tree())
    ]  # fmt: skip


def test_golden_trees(maze: Any, fish_like: Any) -> None:
    world, model = maze
    game, of_chance = fish_like
    for name, asked, state, seed in (
        ("search_maze", model, world.reset(5), 0),
        ("search_maze_other_seed", model, world.reset(5), 1),
        ("search_chance", of_chance, game.start(), 0),
    ):
        search = engine(state, seed=seed)
        search.run(asked, None, 25, 0.0, 4)
        lines = [json.dumps(each) for each in json.loads(json.dumps(tree_of(search)))]
        text = "[\n" + ",\n".join(lines) + "\n]\n"
        path = GOLDEN / f"{name}.json"
        if os.environ.get("REWRITE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text


# ------------------------------------------------------------------- models in Python


class Asked:
    """A model in Python that counts how often it is asked about what."""

    def __init__(self, game: TableGame, observations: int | None):
        self._game, self.asked = game, Counter[tuple[tt.State, str]]()
        self.schema = game.schema
        if observations is not None:
            self.observations = observations

    def predict(self, state: tt.State, action: str) -> Any:
        self.asked[state, action] += 1
        return self._game.predict(state, action)


RING = TableGame(
    {(at, a): [((at + d) % 3, d, 1)] for at in range(3) for a, d in (("a", 1), ("b", 2))}
)


def test_certain_predictions_are_requested_from_python_once() -> None:
    model = Asked(RING, observations=7)
    agent = tt.Agent(model, simulations=50, horizon=6, reuse=False)
    plain = tt.Agent(Asked(RING, observations=None), simulations=50, horizon=6, reuse=False)
    state = RING.start(score=3)
    for step in range(4):
        assert agent.plan(state).visits == plain.plan(state).visits
        state = RING.predict(state, "a" if step % 2 else "b").sample(np.random.default_rng(0))
    assert set(model.asked.values()) == {1} and len(model.asked) == 6  # whatever the score


def test_cached_predictions_are_dropped_after_learning_or_without_an_observation_count() -> None:
    for model in (Asked(RING, observations=7), Asked(RING, observations=None)):
        agent = tt.Agent(model, simulations=50, horizon=6, reuse=False)
        for _ in range(3):
            agent.plan(RING.start())
            if hasattr(model, "observations"):
                model.observations += 1
        assert set(model.asked.values()) == {3}


def test_a_refused_state_does_not_keep_cached_predictions() -> None:
    model = Asked(RING, observations=7)
    agent = tt.Agent(model, simulations=30, horizon=4)
    agent.plan(RING.start())
    model.observations = 8
    two = tt.State(RING.schema, [*RING.start(), tt.Object(9, "game", score=0)])
    with pytest.raises(tt.StateError, match="exactly one game"):
        agent.plan(two)
    agent.plan(RING.start())
    assert set(model.asked.values()) == {2}


def test_a_score_that_was_refused_is_not_kept() -> None:
    agent = tt.Agent(Asked(RING, observations=1), simulations=20, horizon=3, reuse=False)
    with pytest.raises(tt.StateError):
        agent.plan(RING.start(score=2**63 - 1))
    assert sum(agent.plan(RING.start()).visits.values()) == 20


def test_plan_and_agent_take_the_fields_of_the_settings() -> None:
    fields = inspect.signature(SearchSettings).parameters
    options = set(SearchOptions.__annotations__)
    assert options == fields.keys() - {"simulations"}
    for function, own in (
        (tt.plan, {"model", "state", "seed", "reward"}),
        (tt.Agent, {"model", "seed", "reuse", "reward"}),
    ):
        parameters = inspect.signature(function).parameters
        assert parameters.keys() == own | fields.keys()
        assert all(parameters[name].default == fields[name].default for name in fields)
        assert all(parameters[name].kind.name == "KEYWORD_ONLY" for name in options)
    with pytest.raises(TypeError, match="unexpected keyword argument 'horizn'"):
        tt.Agent(tt.make("maze"), horizn=3)


def test_an_agent_from_settings_has_these_settings() -> None:
    settings = SearchSettings(simulations=None, milliseconds=2, choose="value", horizon=7)
    agent = tt.Agent.from_settings(tt.make("maze"), settings, seed=3, reuse=False)
    assert (agent.settings, agent.seed, agent.reuse) == (settings, 3, False)
