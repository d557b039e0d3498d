"""Tests of evaluation: what a model has learned, its mistakes, and their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from treethink.errors import WrongTypeError
from treethink.evaluation import ENOUGH, Examination, Mistake, evaluate, examine
from treethink.model import TreeThink
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.stream.trial import Curve, trial
from treethink.worlds import Scene, World, make
from treethink.worlds.scene import Distribution


class Trap(World):
    """A lamp that a press switches; in a level of twenty it is broken, and stays off."""

    name = "trap"
    defaults = {"in_how_many": 20}
    schema = Schema({"lamp": ["on", "broken"]}, {"on": 1, "broken": 1}, ["press", "wait"])

    def reset(self, seed: int) -> State:
        broken = int(self.generator(seed).integers(self.options["in_how_many"]) == 0)
        return State(self.schema, [Object(0, "lamp", on=0, broken=broken)])

    def dynamics(self, state: State, action: str) -> Distribution:
        lamp = state[0]
        works = action == "press" and not lamp.broken
        return [(state.replace(0, on=1 - lamp.on) if works else state, 1.0)]

    def scenes(self) -> Sequence[Scene]:
        off, broken = (self._lamp(each) for each in (0, 1))
        return [
            Scene("a press lights it", off, "press", [(off.replace(0, on=1), 1.0)]),
            Scene("unless it is broken", broken, "press", [(broken, 1.0)]),
            Scene("waiting does nothing", off, "wait", [(off, 1.0)]),
        ]

    def _lamp(self, broken: int) -> State:
        return State(self.schema, [Object(0, "lamp", on=0, broken=broken)])


class Coin(World):
    """A world whose outcomes are random."""

    name = "coin"
    schema = Schema({"coin": ["up"]}, {"up": Attribute(1, outcomes="value")}, ["toss", "look"])
    heads = 0.5

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "coin", up=0)])

    def dynamics(self, state: State, action: str) -> Distribution:
        if action == "look":
            return [(state, 1.0)]
        up, down = state.replace(0, up=1), state.replace(0, up=0)
        return [(up, self.heads), (down, 1 - self.heads)]

    def scenes(self) -> Sequence[Scene]:
        down = self.reset(0)
        fair = [(down.replace(0, up=1), 0.5), (down, 0.5)]
        return [Scene("a toss is fair", down, "toss", fair)]


class Loaded(Coin):
    """Shows more heads than `Coin` does."""

    heads = 0.6


@cache
def trained(world: World, steps: int, episode: int = 5) -> tuple[TreeThink, list[AnyTransition]]:
    model, training = TreeThink(world.schema), list(transitions(world, steps, 0, episode))
    model.observe_many(training)
    return model, training


TRAP, COIN = Trap(), Coin()


def test_a_model_that_learned_its_world_passes() -> None:
    world = make("walls")
    model, training = trained(world, 2_000)
    report = examine(model, world, transitions(world, 500, seed=1), training)
    assert (report.held_out, report.exact, report.plausible, report.right_mode) == (500,) * 4
    assert report.mean_error == 0.0 and not report.chance
    assert report.scenes == len(world.scenes()) and report.wrong_scenes == [] == report.mistakes
    assert report.learned and report.defects == []


def test_a_mistake_on_rare_training_cases_is_no_defect() -> None:
    model, training = trained(TRAP, 80)
    n_shown = sum(b[0].broken and action == "press" for b, action, _ in training)
    assert 0 < n_shown < ENOUGH
    report = examine(model, TRAP, transitions(TRAP, 1_000, seed=1, episode=5), training)
    assert not report.learned and 0 < report.exact < report.held_out
    assert report.wrong_scenes[-1] == "unless it is broken"
    wrong = sum(mistake.held_out for mistake in report.mistakes)
    assert wrong == report.held_out - report.exact
    assert sum(mistake.shown or 0 for mistake in report.mistakes) == n_shown
    assert report.defects == [] and "not seen enough" in str(report.mistakes[0])


class Stubborn:
    """A learner that cannot see broken lamps, and so mixes both cases."""

    def __init__(self, training: list[AnyTransition]):
        self.model = TreeThink.paper(TRAP.schema, alpha=1e-300)
        for before, action, after in training:
            working = [State(TRAP.schema, [Object(0, "lamp", on=s[0].on, broken=0)])
                       for s in (before, after)]  # fmt: skip
            self.model.observe(working[0], action, working[1])

    def predict(self, state: State, action: str) -> Any:
        return self.model.predict(state, action)


def test_a_mistake_on_frequent_training_cases_is_a_defect() -> None:
    _, training = trained(TRAP, 3_000)
    n_shown = sum(b[0].broken and action == "press" for b, action, _ in training)
    assert n_shown >= ENOUGH
    held_out = list(transitions(TRAP, 500, seed=1, episode=5))
    report = examine(Stubborn(training), TRAP, held_out, training)
    assert not report.learned and report.defects
    (worst, *_) = report.mistakes
    assert worst.rule == ("lamp", "on", "press") and worst.is_defect
    assert worst.shown >= n_shown and "unless it is broken" in worst.scenes
    assert str(worst).endswith("its rule lacks something")
    assert worst.held_out == sum(action == "press" for _, action, _ in held_out)


def test_a_mistake_counts_what_its_leaf_does_not_say() -> None:
    """One leaf predicts 1 (0.9) or 0 (0.1): the transition to 0 contradicts it."""
    off = TRAP.scenes()[0].before
    training = [(off, "press", off.replace(0, on=1))] * 9 + [(off, "press", off)]
    model = TreeThink(TRAP.schema)
    model.observe_many(training)
    report = examine(model, TRAP, training, training)
    (mistake,) = report.mistakes
    assert mistake.says == ((1, 0.9), (0, 0.1)) and mistake.support == 10
    assert (mistake.held_out, mistake.shown) == (10, 1)
    assert mistake.scenes == report.wrong_scenes == ["a press lights it", "unless it is broken"]


def test_a_rule_that_was_never_shown_is_not_seen_enough() -> None:
    held_out = transitions(TRAP, 100, seed=0, episode=5)
    report = examine(TreeThink(TRAP.schema), TRAP, held_out, training=())
    assert report.wrong_scenes == ["a press lights it"]
    (mistake,) = report.mistakes
    assert mistake.says == ((0, 1.0),) and mistake.support == mistake.shown == 0
    assert not mistake.is_defect


def test_deltas_are_reported_as_deltas_and_values_as_values() -> None:
    lamp = State(TRAP.schema, [Object(0, "lamp", on=3, broken=0)])
    coin = State(COIN.schema, [Object(0, "coin", up=3)])
    for world, before, says in ((TRAP, lamp, 2), (COIN, coin, 5)):
        name, action = ("on", "press") if before is lamp else ("up", "look")
        model = TreeThink(world.schema)
        model.observe(before, action, before.replace(0, **{name: 5}))
        wrong = examine(model, world, [(before, action, before)]).mistakes
        assert ((says, 1.0),) in [each.says for each in wrong]


def test_chance_is_learned_as_well_as_it_can_be() -> None:
    model, training = trained(COIN, 4_000)
    report = examine(model, COIN, transitions(COIN, 500, seed=1), training)
    assert report.chance and report.learned
    assert report.exact < 300 < report.plausible == report.held_out == 500
    assert 0 < report.mean_error < 0.02


def test_a_coin_that_falls_too_often_on_one_side_has_not_been_learned() -> None:
    model, training = trained(Loaded(), 4_000)
    report = examine(model, COIN, transitions(COIN, 500, seed=1), training)
    assert not report.learned and report.wrong_scenes == ["a toss is fair"]
    tosses = report.held_out - report.plausible
    (mistake,) = report.mistakes
    assert mistake.rule[2] == "toss" and mistake.held_out == tosses > 200
    # Its training was that of another world: by the rules of this one, nothing spoke against it.
    assert mistake.shown == 0


def test_a_random_world_is_not_learned_without_observations() -> None:
    report = examine(TreeThink(COIN.schema), COIN, transitions(COIN, 50, seed=1))
    assert not report.learned and report.plausible < report.held_out


def test_a_world_that_cannot_state_its_truth_is_scored_by_what_followed() -> None:
    class Opaque(Trap):
        def truth(self, before: State, action: str, after: State) -> State:
            return after

    model, training = trained(TRAP, 3_000)
    stated = examine(model, TRAP, transitions(TRAP, 300, 1), training)
    opaque = examine(model, Opaque(), transitions(TRAP, 300, 1), training)
    assert stated.stated and not opaque.stated
    assert replace(opaque, stated=True) == stated


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_rarely_seen_random_outcomes_are_not_learned(steps: int) -> None:
    """A statistical test without enough data would accept any guess."""
    model, _ = trained(COIN, steps)
    report = examine(model, COIN, transitions(COIN, 300, 1))
    assert not report.learned and report.plausible < report.held_out


def test_the_mode_must_be_one_of_the_likeliest_states() -> None:
    class Rather(Coin):
        heads = 0.4

    model, _ = trained(Rather(), 4_000)
    held_out = list(transitions(COIN, 300, 1))
    looks = sum(action == "look" for _, action, _ in held_out)
    assert examine(model, Loaded(), held_out).right_mode == looks
    assert examine(model, Rather(), held_out).right_mode == 300
    assert examine(model, COIN, held_out).right_mode == 300


def test_randomness_without_a_known_distribution_is_no_failure() -> None:
    class Hidden(Coin):
        def truth(self, before: State, action: str, after: State) -> State:
            return after

    model, _ = trained(COIN, 2_000)
    report = examine(model, Hidden(), transitions(COIN, 300, 1))
    assert not report.learned and not report.stated and 100 < report.right_mode < 300
    assert "the most likely outcome followed" in str(report)
    assert "does not state its chances" in str(report)
    assert str(report).startswith("cannot tell whether it is learned\n")
    assert report.verdict() is None and report.verdict(may_be_random=False) is False


def test_without_training_data_there_are_no_defects() -> None:
    model, _ = trained(TRAP, 80)
    (mistake, *_) = examine(model, TRAP, transitions(TRAP, 1_000, 1, 5)).mistakes
    assert mistake.shown is None and not mistake.is_defect
    assert "seen enough" not in str(mistake) and "shown" not in str(mistake)


def test_examining_no_transitions_finds_no_mistakes() -> None:
    class Mute(Trap):
        def scenes(self) -> Sequence[Scene]:
            return ()

    assert examine(TreeThink(TRAP.schema), Mute(), []) == Examination()


def test_a_trial_scores_against_what_the_world_calls_the_truth() -> None:
    class Kind(Trap):
        """Calls whatever a model that knows nothing would say the truth."""

        def truth(self, before: State, action: str, after: State) -> State:
            return before

    assert not any(trial(TreeThink(TRAP.schema), Kind(), 2, seed=0))
    assert sum(trial(TreeThink(TRAP.schema), TRAP, 200, seed=0)) > 0


@pytest.mark.parametrize("window", [0, 1.5, None])
def test_a_curve_needs_windows_of_some_steps(window: Any) -> None:
    with pytest.raises(ValueError, match="window must be"):
        Curve(window)


def test_enough_is_thirty() -> None:
    mistake = Mistake(("lamp", "on", "press"), ((1, 1.0),), 5, shown=29)
    assert not mistake.is_defect
    mistake.shown = 30
    assert mistake.is_defect


def test_examining_draws_no_random_numbers_and_changes_nothing() -> None:
    model, training = trained(TRAP, 80)
    content, random_state = model.to_bytes(), np.random.get_state()[1].tolist()
    one, other = (examine(model, TRAP, transitions(TRAP, 100, 1), training) for _ in range(2))
    assert one == other and model.to_bytes() == content
    assert np.random.get_state()[1].tolist() == random_state


class Two(World):
    """A coin that is fair in the light, and loaded in the dark."""

    name = "two"
    schema = Schema(
        {"coin": ["up"], "lamp": ["lit"]}, {"up": Attribute(1, (), "value"), "lit": 1}, ["toss"]
    )

    def reset(self, seed: int) -> State:
        lit = int(self.generator(seed).integers(4) > 0)
        return State(self.schema, [Object(0, "coin", up=0), Object(1, "lamp", lit=lit)])

    def dynamics(self, state: State, action: str) -> Distribution:
        up = 0.5 if state[1].lit else 0.1
        return [(state.replace(0, up=1), up), (state.replace(0, up=0), 1 - up)]


def test_a_leaf_that_mixes_two_distributions_is_wrong_about_the_rarer_one() -> None:
    """A tree that may not ask about the lamp: in one level of four, the odds are others."""
    world, blind = Two(), TreeThink(Two.schema, max_candidates=1, alpha=1e-300, memory=0)
    training = list(transitions(world, 2_000, seed=0, episode=5))
    blind.observe_many(training)
    report = examine(blind, world, transitions(world, 200, seed=1, episode=5), training)
    (mistake,) = report.defects
    dark = sum(not before[1].lit for before, _, _ in training)
    assert mistake.shown == dark and 300 < dark < 700
    assert report.plausible < report.held_out == 200


# ---------------------------------------------------------------------- any transitions


def test_transitions_without_a_world_are_compared_with_what_followed() -> None:
    world = make("walls")
    model, _ = trained(world, 2_000)
    log = [
        (*each[:3], -1.0, False)[: 3 + i % 3] for i, each in enumerate(transitions(world, 300, 7))
    ]
    report = evaluate(model, iter(log))
    assert report.learned and report.given and not report.stated and report.scenes == 0
    assert report.held_out == report.exact == 300
    assert str(report) == "learned\n300 of 300 transitions predicted exactly"
    assert evaluate(model, log, n=100).held_out == 100


def lamp(on: int, broken: int = 0) -> State:
    return State(TRAP.schema, [Object(0, "lamp", on=on, broken=broken)])


def test_what_fails_is_wrong_unsure_or_never_seen() -> None:
    model = TreeThink(TRAP.schema)
    model.observe_many([(lamp(0), "press", lamp(1))] * 9 + [(lamp(0), "press", lamp(0))])
    unsure = (lamp(0), "press", lamp(1))
    wrong = (lamp(0), "press", lamp(5))
    never = (lamp(0), "wait", lamp(1))
    report = evaluate(model, [unsure] * 3 + [wrong] * 2 + [never])
    assert (report.wrong, report.unsure, report.never_seen) == (2, 3, 1)
    assert not report.learned and report.plausible == report.exact == 0
    text = str(report)
    assert text.startswith("NOT learned\n0 of 6 transitions predicted exactly")
    for line in ("2 wrong", "3 unsure", "1 never seen"):
        assert f"\n  {line}" in text


def test_unsure_transitions_alone_may_be_random() -> None:
    model = TreeThink(TRAP.schema)
    model.observe_many([(lamp(0), "press", lamp(1)), (lamp(0), "press", lamp(0))] * 5)
    text = str(evaluate(model, [(lamp(0), "press", lamp(1))]))
    assert "NOT learned" not in text and "may be random" in text


def test_every_prediction_is_right_or_fails_in_one_way() -> None:
    for world, steps in ((TRAP, 60), (COIN, 100), (make("maze"), 300)):
        model, _ = trained(world, steps)
        report = evaluate(model, world)
        failed = report.wrong + report.unsure + report.never_seen
        assert report.plausible + failed == report.held_out == 1_000


def test_evaluating_a_world_is_examining_it() -> None:
    model, training = trained(TRAP, 80)
    held_out = transitions(TRAP, 200, seed=3)
    assert evaluate(model, TRAP, 200, 3, training) == examine(model, TRAP, held_out, training)


def test_mistakes_on_transitions_are_counted_by_leaf() -> None:
    model, training = trained(TRAP, 80)
    report = evaluate(model, transitions(TRAP, 1_000, seed=1, episode=5), training=training)
    assert sum(each.held_out for each in report.mistakes) == report.held_out - report.exact > 0
    assert all(each.shown is not None for each in report.mistakes)


@pytest.mark.parametrize("what", ["walls", None, 3, lamp(0)])
def test_an_evaluation_needs_a_world_or_transitions(what: Any) -> None:
    with pytest.raises(TypeError, match="an evaluation needs a World"):
        evaluate(TreeThink(TRAP.schema), what)


@pytest.mark.parametrize("item", [(1, 2), "abc", (1,) * 6])
def test_a_transition_has_three_to_five_items(item: Any) -> None:
    with pytest.raises(TypeError, match="a transition must be"):
        evaluate(TreeThink(TRAP.schema), [item])


@pytest.mark.parametrize("n", [0, -1, 1.5])
def test_an_evaluation_takes_at_least_one_transition(n: Any) -> None:
    with pytest.raises(ValueError, match="n must be"):
        evaluate(TreeThink(TRAP.schema), TRAP, n)


@pytest.mark.parametrize("wrong", [None, "model.tt", TreeThink])
def test_what_is_no_model_is_refused(wrong: Any) -> None:
    with pytest.raises(WrongTypeError, match=r"needs a model with predict\(state, action\), got"):
        evaluate(wrong, [])
