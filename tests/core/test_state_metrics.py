"""Metrics of whole states, of rollouts and of ranks, against slow and obvious definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treethink.baselines import make_learner
from treethink.baselines.prediction import Certain
from treethink.errors import SettingError
from treethink.metrics import (
    error,
    fidelity,
    mean_reciprocal_rank,
    mutated_states,
    rank_of_truth,
    score_states,
)
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

SCHEMA = Schema({"cart": ["pos", "load"], "lamp": ["on"]}, {"pos": 2, "load": 1, "on": 1}, ["go"])


def state_of(values: tuple[int, ...]) -> State:
    x, y, load, one, two = values
    cart = Object(5, "cart", pos=(x, y), load=load)
    return State(SCHEMA, [cart, Object(1, "lamp", on=one), Object(9, "lamp", on=two)])


def cells(state: State) -> dict[tuple[int, str], Any]:
    """Every value of a state."""
    return {(each.id, name): value for each in state for name, value in each.values.items()}


states = st.tuples(*[st.integers(0, 2)] * 5).map(state_of)


@given(st.lists(st.tuples(states, states, states), max_size=8))
def test_scores_are_those_of_comparing_every_value(triples: list[tuple[State, ...]]) -> None:
    scores = score_states(triples)  # type: ignore[arg-type]
    moved = [(b, p, a) for b, p, a in triples if cells(b) != cells(a)]
    assert scores.n == len(triples)
    assert scores.exact == sum(cells(p) == cells(a) for _, p, a in triples)
    assert scores.changing == len(moved)
    assert scores.exact_changing == sum(cells(p) == cells(a) for _, p, a in moved)
    true = [
        {(i, key, v) for i, (b, _, a) in enumerate(triples) for key, v in cells(a).items()
         if cells(b)[key] != v},
        {(i, key, v) for i, (b, p, _) in enumerate(triples) for key, v in cells(p).items()
         if cells(b)[key] != v},
    ]  # fmt: skip
    changed, predicted = true
    both = len(changed & predicted)
    assert (scores.changed, scores.predicted, scores.correct) == (
        len(changed), len(predicted), both,
    )  # fmt: skip
    assert scores.precision == (both / len(predicted) if predicted else None)
    assert scores.recall == (both / len(changed) if changed else None)
    if both:
        assert scores.f1 == pytest.approx(2 / (len(predicted) / both + len(changed) / both))
    elif changed or predicted:
        assert scores.f1 == 0.0
    else:
        assert scores.f1 is None


def test_derived_values_do_not_count() -> None:
    world = make("coins")
    for before, _, after, *_ in transitions(world, 50, 0):
        scores = score_states([(before, after, after)])
        assert scores.predicted == scores.correct == scores.changed


def test_scores_of_nothing_are_none() -> None:
    scores = score_states([])
    assert scores.accuracy is scores.changing_accuracy is scores.f1 is None
    assert scores.to_dict()["n"] == 0


# ---------------------------------------------------------------------------- rollouts


class WrongFrom:
    """Predicts with the world, but nothing changes in states with an odd x of the player."""

    def __init__(self, world: World):
        self.world = world

    def predict(self, state: State, action: str) -> Certain:
        player = self.world.the(state, "player")
        after, _ = self.world.distribution(state, action)[0]
        return Certain(state, state if player.pos[0] % 2 else after, 1)


def slow_fidelity(world: World, k: int, rollouts: int, seed: int) -> list[float]:
    """Play every rollout to its end, and compare whole prefixes."""
    rng, model, agree = np.random.default_rng(seed), WrongFrom(world), [0] * k
    for _ in range(rollouts):
        real = imagined = [world.reset(int(rng.integers(2**63)))]
        for _ in range(k):
            action = world.actions[int(rng.integers(len(world.actions)))]
            imagined = [*imagined, model.predict(imagined[-1], action).mode()]
            real = [*real, world.step(real[-1], action, rng)]
        for i in range(1, k + 1):
            agree[i - 1] += real[: i + 1] == imagined[: i + 1]
    return [each / rollouts for each in agree]


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 1000))
@settings(max_examples=20)
def test_fidelity_is_the_share_of_equal_prefixes(k: int, rollouts: int, seed: int) -> None:
    world = make("walls", width=5, height=5)
    result = fidelity(WrongFrom(world), world, k, rollouts, seed)
    assert list(result.shares) == slow_fidelity(world, k, rollouts, seed)


def test_fidelity_never_grows_with_the_number_of_steps() -> None:
    world = make("maze")
    shares = fidelity(make_learner("static", world), world, k=8, rollouts=50).shares
    known = [each for each in shares if each is not None]
    assert len(known) == 8 and known[0] < 1.0
    assert known == sorted(known, reverse=True)


def test_rollouts_end_with_the_episode() -> None:
    pytest.importorskip("gymnasium")
    world = make("cliffwalking")
    result = fidelity(make_learner("oracle", world), world, k=60, rollouts=20)
    assert set(result.shares) <= {1.0, None}


# ------------------------------------------------------------------------------- ranks


@given(states, states, st.lists(states, max_size=6))
def test_a_rank_is_the_mean_place_in_all_orders(
    mode: State, truth: State, others: list[State]
) -> None:
    prediction = Certain(mode, mode, 1)
    own = error(prediction, truth)
    distances = [error(prediction, each) for each in others]
    best = 1 + sum(each < own for each in distances)
    worst = 1 + sum(each <= own for each in distances)
    assert rank_of_truth(prediction, truth, others) == (best + worst) / 2


@given(states, states, st.integers(1, 10), st.integers(0, 99))
def test_mutated_states_differ_from_the_truth_and_from_each_other(
    before: State, truth: State, count: int, seed: int
) -> None:
    mutants = mutated_states(before, truth, count, np.random.default_rng(seed))
    assert len(mutants) == len(set(mutants)) == count
    assert truth not in mutants
    assert before == truth or mutants[0] == before
    again = mutated_states(before, truth, count, np.random.default_rng(seed))
    assert mutants == again
    for each in mutants[before != truth :]:
        changed = sum(cells(each)[key] != value for key, value in cells(truth).items())
        assert 1 <= changed <= 3


def test_a_perfect_model_has_rank_one_and_static_has_not() -> None:
    world = make("maze")
    steps = list(transitions(world, 60, 1))
    assert mean_reciprocal_rank(make_learner("oracle", world), steps) == 1.0
    moving = [each for each in steps if each[0] != each[2]]
    # `static` holds the state before, the first distractor, for certain
    assert mean_reciprocal_rank(make_learner("static", world), moving) <= 0.5
    with pytest.raises(SettingError, match="at least one transition"):
        mean_reciprocal_rank(make_learner("static", world), [])
