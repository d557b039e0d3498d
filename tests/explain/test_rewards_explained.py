"""Rewards and ends are explained, checked, evaluated and doubted like values of objects."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from treethink.evaluation import ENOUGH
from treethink.explain.path import extensions
from treethink.metrics import distance
from treethink.worlds import World
from treethink.worlds.scene import Distribution


class Toll(World):
    """Walk along a line; a step out of a cell with a toll costs more, and the last cell ends it.

    rewards: minus the toll where there is one, otherwise -1.
    """

    name = "toll"
    schema = tt.Schema({"walker": ["x"], "toll": ["x"]}, {"x": 1}, ["left", "right"])
    size = 6

    def reset(self, seed: int) -> tt.State:
        rng = self.generator(seed)
        tolls = [tt.Object(1 + i, "toll", x=int(rng.integers(self.size - 1))) for i in range(2)]
        walker = tt.Object(0, "walker", x=int(rng.integers(self.size - 1)))
        return tt.State(self.schema, [walker, *tolls])

    def dynamics(self, state: tt.State, action: str) -> Distribution:
        x = state[0].x + (1 if action == "right" else -1)
        return [(state.replace(0, x=max(x, 0)), 1.0)]

    def reward(self, before: tt.State, action: str, after: tt.State) -> float:
        return -2.5 if before.find("toll", x=before[0].x) else -1

    def terminated(self, before: tt.State, action: str, after: tt.State) -> bool:
        return bool(after[0].x == self.size - 1)


class Coin(World):
    """A coin that pays 1 for heads, with its chances stated."""

    name = "coin"
    schema = tt.Schema({"coin": ["up"]}, {"up": tt.Flag()}, ["toss"])

    def reset(self, seed: int) -> tt.State:
        return tt.State(self.schema, [tt.Object(0, "coin", up=False)])

    def dynamics(self, state: tt.State, action: str) -> Distribution:
        return [(state.replace(0, up=up), chance) for up, chance in ((True, 0.25), (False, 0.75))]

    def reward(self, before: tt.State, action: str, after: tt.State) -> float:
        return 2.0 * after[0].up


WORLD = Toll()
LOG = [tt.Transition(*each) for each in tt.transitions(WORLD, steps=2_000, seed=0, episode=20)]


def taught(log: list[tt.Transition], **settings: Any) -> tt.TreeThink:
    model = tt.TreeThink(log[0].before.schema, **settings)
    model.observe_many(log)
    return model


def paid(each: tt.Transition, reward: float | None) -> tt.Transition:
    return each._replace(reward=reward)


def three_less(each: tt.Transition) -> tt.Transition:
    assert each.reward is not None
    return paid(each, each.reward - 3)


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    return taught(LOG)


# ------------------------------------------------------------------------------ explain


def test_an_explanation_follows_the_tests_to_the_predicted_reward_and_end(model: Any) -> None:
    tested = 0
    for before, action, *_ in LOG[:200]:
        prediction = model.predict(before, action)
        reason = model.explain(before, action, "reward")["reward"]
        assert reason.outcomes == prediction.rewards()
        assert reason.support == prediction._feedback_support("reward") > 0
        bindings: tuple[Any, ...] = ((),)
        for step in reason.steps:
            extended = extensions(before, step.test, bindings)
            assert step.holds == bool(extended)
            bindings = extended or bindings
            tested += 1
        assert set(reason.bound) <= {f"X{i}" for i in range(len(bindings[0]))}
        end = model.explain(before, action, of="terminated")["terminated"]
        assert end.outcomes.get(True, 0.0) == prediction.terminated()
    assert tested >= 200


def test_an_explanation_has_the_reward_unless_it_is_none_and_the_end_if_it_may_come(
    model: Any,
) -> None:
    shown: Counter[tuple[str, ...]] = Counter()
    for before, action, *_ in LOG[:300]:
        prediction = model.predict(before, action)
        explanation = model.explain(before, action)
        names = tuple(each.attribute for each in explanation if each.object_id is None)
        assert names == ("reward", "terminated")[: 1 + bool(prediction.terminated())]
        changing = len(explanation) - len(names)
        heading = f"{changing} value may change" if changing else "nothing changes"
        assert str(explanation).startswith(f"{action}: {heading}")
        shown[names] += 1
    assert len(shown) == 2
    free = taught([paid(each, 0.0) for each in LOG])
    assert all(each.attribute != "reward" for each in free.explain(LOG[0].before, "right"))


def test_an_explained_reward_says_what_would_change_it(model: Any, tmp_path: Any) -> None:
    state = tt.State(Toll.schema, [tt.Object(0, "walker", x=2), tt.Object(1, "toll", x=2)])
    reason = model.explain(state, "right", of="reward")["reward"]
    text = str(reason)
    assert text.startswith("reward: -2.5, seen ") and "reward would be -1" in text
    assert reason.was is None and set(reason.bound.values()) == {(0,), (1,)}
    assert reason.to_dict()["object"] is None and reason.to_dict()["class"] == "transition"
    model.explain(state, "right").draw(tmp_path / "why.png")
    assert (tmp_path / "why.png").stat().st_size > 0


def test_only_what_was_learned_can_be_explained(model: Any) -> None:
    state = WORLD.reset(0)
    with pytest.raises(tt.WrongTypeError, match="'reward' or 'terminated', got 'rewrd'"):
        model.explain(state, "left", of="rewrd")
    plain = taught([paid(each, None)._replace(terminated=None) for each in LOG[:50]])
    with pytest.raises(tt.UnknownNameError, match="unknown reason 'reward'"):
        plain.explain(state, "left", of="reward")
    with pytest.raises(tt.UnknownNameError, match="unknown reason 'price' in the expl"):
        model.explain(state, "right")["price"]


# -------------------------------------------------------------------------------- check


def test_a_wrong_reward_has_a_counterexample_in_which_no_object_can_be_left_out() -> None:
    cheap = taught([paid(each, -1.0) for each in LOG])
    check = cheap.check(WORLD)
    assert check and check.example is not None
    state = check.example.state
    assert sorted(each.class_name for each in state) == ["toll", "walker"]
    (wrong,) = check.example.wrong
    assert (wrong.object_id, wrong.attribute) == (None, "reward")
    assert (wrong.predicted, wrong.true) == ({-1.0: 1.0}, {-2.5: 1.0})
    assert "reward: predicted -1 (seen" in str(check) and "but is -2.5" in str(check)
    assert check.to_dict()["example"]["wrong"][0]["object"] is None


def test_a_wrong_end_has_a_counterexample() -> None:
    endless = taught([each._replace(terminated=False) for each in LOG])
    check = endless.check(WORLD)
    assert check.example is not None
    (wrong,) = check.example.wrong
    assert (wrong.attribute, wrong.predicted, wrong.true) == (
        "terminated",
        {False: 1.0},
        {True: 1.0},
    )
    assert "terminated: predicted no" in str(check) and "but is yes" in str(check)


def test_a_wrong_reward_of_a_log_is_shown_as_it_was_met(model: Any) -> None:
    """Nothing is known about the reward of a smaller state."""
    log = LOG[:50]
    log[20] = paid(log[20], 7.0)
    check = model.check(log)
    assert check.wrong == 1 and check.example.state == check.example.met == log[20].before
    assert "but is 7" in str(check) and not model.check(LOG[:50])


def test_a_model_without_rewards_is_not_asked_for_them() -> None:
    plain = taught([paid(each, None)._replace(terminated=None) for each in LOG])
    assert not plain.check(WORLD) and not plain.check(LOG) and tt.evaluate(plain, WORLD).learned


# ----------------------------------------------------------------------------- evaluate


def test_rewards_and_ends_are_evaluated(model: Any) -> None:
    assert tt.evaluate(model, WORLD).learned and tt.evaluate(model, LOG).learned
    other = [three_less(each) if i % 4 == 0 else each for i, each in enumerate(LOG)]
    result = tt.evaluate(model, other, training=other)
    assert result.wrong == len(LOG) / 4 and result.exact == len(LOG) * 3 / 4
    assert result.mean_error == pytest.approx(3 / 4)
    assert {each.rule[1] for each in result.mistakes} == {"reward"}
    assert sum(each.held_out for each in result.mistakes) == result.wrong
    assert sum(each.shown or 0 for each in result.mistakes) >= ENOUGH and result.defects


def test_rewards_that_were_never_given_are_never_seen() -> None:
    model = taught([paid(each, None) if each.action == "left" else each for each in LOG])
    result = tt.evaluate(model, LOG)
    left = sum(each.action == "left" for each in LOG)
    assert (result.never_seen, result.wrong, result.unsure) == (left, 0, 0)
    reason = model.explain(LOG[0].before, "left", of="reward")["reward"]
    assert reason.outcomes == {0.0: 1.0} and "assumed to be none" in str(reason)


def test_random_rewards_are_learned_as_well_as_chance_allows() -> None:
    model = tt.TreeThink(Coin.schema)
    model.observe_many(tt.transitions(Coin(), 2_000, seed=0))
    result = tt.evaluate(model, Coin(), 300)
    assert result.learned and result.chance and result.plausible == 300
    assert not model.check(Coin(), 300)
    biased = tt.TreeThink(Coin.schema)
    for before, action, after, reward, _ in tt.transitions(Coin(), 2_000, seed=0):
        biased.observe(before, action, after, 2.0 - reward)
    result = tt.evaluate(biased, Coin(), 300, training=tt.transitions(Coin(), 200, seed=1))
    assert result.plausible == 0 and not result.learned
    assert {each.rule for each in result.mistakes} == {("transition", "reward", "toss")}
    assert biased.check(Coin(), 300)


@given(st.lists(st.tuples(st.floats(-50, 50), st.integers(1, 9)), min_size=1, max_size=6))
def test_the_distance_to_one_reward_is_the_mean_difference(chances: Any) -> None:
    total = sum(n for _, n in chances)
    predicted: dict[Any, float] = {}
    for value, n in chances:
        predicted[value] = predicted.get(value, 0.0) + n / total
    mean = sum(p * abs(value - 3.5) for value, p in predicted.items())
    assert distance(predicted, {3.5: 1.0}) == pytest.approx(mean)  # type: ignore[dict-item]


# ------------------------------------------------------------------------------- doubts


def test_kept_transitions_have_the_rewards_and_ends_that_are_known() -> None:
    log = [*LOG[:5], paid(LOG[5], None), LOG[6]._replace(reward=None, terminated=None)]
    kept = taught(log).kept()
    assert kept == [tuple(each) for each in log[:6]] + [tuple(log[6][:3])]
    again = tt.TreeThink(Toll.schema)
    assert again.observe_many(kept) == len(log)
    assert again.to_bytes() == taught(log).to_bytes()


def test_a_reward_that_depends_on_an_order_needs_less_than() -> None:
    (doubt,) = of_pumps(tt.Attribute(1, facts=("equality", "difference"))).doubts()
    assert doubt.rule == ("transition", "reward", "pump") and doubt.kind == "order"
    assert doubt.suggestions[0].text in (
        "tank[level] > demand[level]", "demand[level] >= tank[level]",
    )  # fmt: skip
    text = str(doubt)
    assert text.startswith("reward when pump: ") and "= 5: tank 0 (level" in text
    assert of_pumps(tt.Number()).doubts() == []


def of_pumps(level: tt.Attribute) -> tt.TreeThink:
    """Return a model of pumping, which pays if the tank has more than what is demanded."""
    schema = tt.Schema({"tank": ["level"], "demand": ["level"]}, {"level": level}, ["pump"])
    rng = np.random.default_rng(0)
    model = tt.TreeThink(schema)
    for tank, demand in rng.integers(40, size=(800, 2)).tolist():
        state = tt.State(
            schema, [tt.Object(0, "tank", level=tank), tt.Object(1, "demand", level=demand)]
        )
        model.observe(state, "pump", state, reward=5 if tank > demand else 0)
    return model


def test_a_random_reward_and_a_random_end_are_chance() -> None:
    rng = np.random.default_rng(1)
    random = [
        each._replace(reward=float(rng.integers(2)), terminated=bool(rng.integers(2)))
        for each in LOG
    ]
    doubts = taught(random).doubts()
    assert {each.rule for each in doubts} == {
        ("transition", name, action)
        for name in ("reward", "terminated")
        for action in WORLD.actions
    }
    assert {each.kind for each in doubts} == {"chance"}


def test_doubts_of_given_transitions_name_rewards_that_are_wrong(model: Any) -> None:
    assert not model.doubts(LOG)
    other = [three_less(each) if each.action == "left" else each for each in LOG]
    assert [each.rule for each in model.doubts(other)] == [("transition", "reward", "left")]
