"""Rewards and ends of transitions are learned by rules of their own, and cost nothing before."""

from __future__ import annotations

import copy
import importlib.util
import math
import pickle
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from treethink.baselines import Qora, Static

WORLD = tt.make("walls")
GOAL = (3, 3)
REWARD, END = ("transition", "reward", "right"), ("transition", "terminated", "right")


def reward_of(before: tt.State, after: tt.State) -> float:
    return -1.5 if before == after else -0.25


def steps(n: int, seed: int = 0) -> Iterator[tt.Transition]:
    for before, action, after in tt.transitions(WORLD, n, seed):
        end = after.of_class("player")[0].pos == GOAL
        yield tt.Transition(before, action, after, reward_of(before, after), end)


@pytest.fixture(scope="module")
def model() -> tt.TreeThink:
    model = tt.TreeThink(WORLD.schema)
    model.observe_many(steps(1_000))
    return model


def test_a_reward_that_depends_on_relations_is_learned_and_predicted(model):
    assert str(model.rules[REWARD]).splitlines()[:2] == [
        "reward when right",
        "∃ X0: wall, X1: player.  X1[pos] - X0[pos] = (-1, 0) ?",
    ]
    for before, action, _, reward, _ in steps(500, seed=7):
        prediction = model.predict(before, action)
        assert prediction.reward() == reward
        assert prediction.rewards() == {reward: 1.0}


def test_rules_of_rewards_and_ends_come_after_all_others(model):
    attributes = len(tt.TreeThink(WORLD.schema).rules)
    keys = list(model.rules)
    actions = WORLD.schema.actions
    assert keys[attributes:] == [
        ("transition", name, action) for name in ("reward", "terminated") for action in actions
    ]
    assert model.feedback == ("reward", "terminated")
    assert model.rules["transition", "reward", "up"].classes == ()


def test_without_rewards_nothing_is_stored_listed_or_predicted():
    plain, other = tt.TreeThink(WORLD.schema), tt.TreeThink(WORLD.schema)
    plain.observe_many(tt.transitions(WORLD, 300, 0))
    for before, action, after in tt.transitions(WORLD, 300, 0):
        other.observe(before, action, after, None, terminated=None)
    assert plain.to_bytes() == other.to_bytes()
    assert b'"feedback"' not in plain.to_bytes()
    assert plain.feedback == () and plain.memory_use() == other.memory_use()
    assert all(key[0] != "transition" for key in plain.rules)
    prediction = plain.predict(WORLD.reset(0), "right")
    assert prediction.reward() is prediction.rewards() is prediction.terminated() is None


def test_rewards_change_nothing_of_what_is_learned_about_states(model):
    plain = tt.TreeThink(WORLD.schema)
    plain.observe_many(tt.transitions(WORLD, 1_000, 0))
    for key in plain.rules:
        assert model._dump(*key) == plain._dump(*key)


@pytest.mark.parametrize("memory", [0, 50, 5_000])
def test_loading_and_continuing_equals_continuing(memory):
    first, rest = list(steps(700))[:400], list(steps(700))[400:]
    one = tt.TreeThink(WORLD.schema, memory=memory)
    one.observe_many(first)
    other = tt.TreeThink.from_bytes(one.to_bytes())
    assert other.to_bytes() == one.to_bytes()
    assert b'"feedback":true' in one.to_bytes()
    for each in (one, other):
        each.observe_many(rest)
    assert other.to_bytes() == one.to_bytes()


def test_copies_and_pickles_keep_rewards(model):
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert str(other.rules[REWARD]) == str(model.rules[REWARD])


def test_what_is_not_known_is_not_counted():
    model = tt.TreeThink(WORLD.schema)
    for i, (before, action, after, reward, end) in enumerate(steps(60)):
        model.observe(before, action, after, reward if i % 2 else None, end if i % 3 else None)
    seen = {
        name: sum(model.rules["transition", name, a].transitions for a in WORLD.schema.actions)
        for name in ("reward", "terminated")
    }
    assert seen == {"reward": 30, "terminated": 40}


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_rewards_are_exact_and_zero_has_no_sign(rewards):
    model = tt.TreeThink(WORLD.schema)
    state = WORLD.reset(0)
    for reward in rewards:
        model.observe(state, "up", state, reward)
    loaded = tt.TreeThink.from_bytes(model.to_bytes())
    expected = {each: rewards.count(each) / len(rewards) for each in rewards}
    for each in (model, loaded):
        prediction = each.predict(state, "up")
        learned = prediction.rewards()
        assert learned is not None
        assert {key: pytest.approx(p) for key, p in learned.items()} == expected
        assert all(math.copysign(1, key) == 1 for key in learned if key == 0)
        mean = float(sum(Fraction(each) for each in rewards) / len(rewards))
        scale = max(map(abs, rewards))
        assert prediction.reward() == pytest.approx(mean, rel=1e-9, abs=1e-9 * scale)


@pytest.mark.parametrize("number", [1, np.int8(1), np.float32(1), np.float64(1), 1.0])
def test_numbers_of_python_and_numpy_are_rewards(number):
    model = tt.TreeThink(WORLD.schema)
    state = WORLD.reset(0)
    model.observe(state, "up", state, reward=number, terminated=np.bool_(True))
    assert model.predict(state, "up").rewards() == {1.0: 1.0}
    assert model.predict(state, "up").terminated() == 1.0


@pytest.mark.parametrize(
    ("reward", "terminated", "error", "message"),
    [
        (math.nan, None, tt.TransitionError, "reward must be a finite number, got nan"),
        (-math.inf, None, tt.TransitionError, "reward must be a finite number, got -inf"),
        (10**400, None, tt.TransitionError, "reward must be a finite number, got 1000"),
        ("1", None, tt.WrongTypeError, "reward must be a number, got '1'"),
        (True, None, tt.WrongTypeError, "reward must be a number, got True"),
        (np.bool_(True), None, tt.WrongTypeError, "reward must be a number, got"),
        ([1.0], None, tt.WrongTypeError, r"reward must be a number, got \[1.0\]"),
        (np.zeros(1), None, tt.WrongTypeError, "reward must be a number, got array"),
        (1j, None, tt.WrongTypeError, "reward must be a number, got 1j"),
        (1.0, 1, tt.WrongTypeError, "terminated must be True, False or None, got 1"),
        (1.0, "yes", tt.WrongTypeError, "terminated must be True, False or None, got 'yes'"),
    ],
)
@pytest.mark.parametrize("learner", [tt.TreeThink, Qora])
def test_a_wrong_reward_or_end_is_one_error_and_teaches_nothing(
    learner: Any, reward: Any, terminated: Any, error: type[Exception], message: str
):
    model, state = learner(WORLD.schema), WORLD.reset(0)
    before = model.to_bytes()
    with pytest.raises(error, match=message):
        model.observe(state, "up", state, reward, terminated)
    if learner is tt.TreeThink:
        with pytest.raises(error, match=message):
            model.observe_many([(state, "up", state, reward, terminated)])
    assert model.to_bytes() == before


def test_baselines_accept_rewards_and_ignore_them():
    state = WORLD.reset(0)
    for learner in (Static(WORLD.schema), Qora(WORLD.schema)):
        learner.observe(state, "up", state, reward=1.0, terminated=False)


def test_a_class_called_transition_is_refused_only_with_a_reward():
    schema = tt.Schema({"transition": ["on"]}, {"on": 1}, ["press"])
    state = tt.State(schema, [tt.Object(0, "transition", on=0)])
    model = tt.TreeThink(schema)
    model.observe(state, "press", state)
    with pytest.raises(tt.SchemaError, match="give the class another name"):
        model.observe(state, "press", state, reward=1.0)
    assert model.observations == 1
    assert str(model.rules["transition", "on", "press"]).startswith("transition.on when press")


# ---------------------------------------------------------------------- people and programs


def test_english_says_what_the_reward_is(model):
    assert model.rules[REWARD].to_text("english") == (
        "When `right` is pressed, the reward is -1.5 if a wall is directly to the right of the"
        " player; otherwise it is -0.25."
    )


def test_an_end_in_english():
    model = tt.TreeThink(WORLD.schema)
    test = "∃ X0: wall, X1: player. X1[pos] - X0[pos] = (-1, 0) ?"
    model.replace(END, f"{test}\n yes: = no\n no: = yes")
    assert model.rules[END].to_text("english") == (
        "When `right` is pressed, the episode ends, unless a wall is directly to the right of a"
        " player."
    )
    assert model.feedback == ("terminated",)


def test_a_printed_rule_can_be_read_back(model):
    other = copy.copy(model)
    for key, rule in model.rules.items():
        if key[0] == "transition":
            other.replace(key, str(rule))
            assert str(other.rules[key]).replace("  [pinned]", "") == str(rule)
            other.replace(key, rule.root)
            other.unpin(key)


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        (REWARD, "= nan × 3", "a reward must be a finite number, got 'nan'"),
        (REWARD, "= much × 3", "a reward must be a finite number, got 'much'"),
        (END, "= maybe × 3", "whether the episode ends is 'yes' or 'no', got 'maybe'"),
        (END, {1: 3}, "whether the episode ends is 'yes' or 'no', got 1"),
        (REWARD, {True: 3}, "a reward must be a finite number, got True"),
    ],
)
def test_a_wrong_outcome_of_a_hand_written_rule_is_refused(model, key, text, message):
    before = model.to_bytes()
    with pytest.raises(tt.RuleError, match=message):
        model.replace(key, text)
    assert model.to_bytes() == before


def test_pinned_rewards_stay_and_simplify_keeps_answers(model):
    other = copy.copy(model)
    other.pin(REWARD)
    state = WORLD.reset(1)
    expected = other.predict(state, "right").rewards()
    for _ in range(50):
        other.observe(state, "right", state, reward=99.0)
    assert other.predict(state, "right").rewards() == expected
    assert other.simplify().predict(state, "right").rewards() == expected


def test_an_unknown_rule_of_transitions_names_those_there_are(model):
    with pytest.raises(tt.UnknownNameError, match="rewart"):
        model.rules["transition", "rewart", "right"]


def exported(model: tt.TreeThink, folder: Path) -> ModuleType:
    model.to_python(folder / "learned.py")
    spec = importlib.util.spec_from_file_location("learned", folder / "learned.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_exported_python_gives_the_same_rewards_and_ends(model, tmp_path):
    module = exported(model, tmp_path)
    for before, action, *_ in steps(200, seed=9):
        prediction = model.predict(before, action)
        assert module.reward(before.to_dict(), action) == prediction.rewards()
        ends = module.terminated(before.to_dict(), action)
        assert ends.get(True, 0.0) == pytest.approx(prediction.terminated())
    with pytest.raises(ValueError, match="unknown action 'jump'"):
        module.reward(WORLD.reset(0).to_dict(), "jump")


def test_a_diff_counts_situations_with_other_rewards(model):
    other = copy.copy(model)
    other.replace(REWARD, "= 3 × 1")
    text = str(model.diff(other, WORLD, n=300))
    assert "reward when right" in text and "different answers in" in text


def test_noise_in_rewards_is_told_once():
    model, state = tt.TreeThink(WORLD.schema, max_outcomes=5), WORLD.reset(0)
    with pytest.warns(tt.NoiseWarning, match="reward when up looks like noise"):
        for i in range(20):
            model.observe(state, "up", state, reward=i / 7)
    assert model.predict(state, "up").rewards() is None
