"""Whether an answer rests on something that was never seen."""

from __future__ import annotations

import gc
import random

import pytest

import treethink as tt
from doubtful_worlds import Cards, FixedPrice, FixedPriceUnordered, log_of, taught
from models import learned
from treethink.explain.novelty import novelty_text


def buying(credit: int, model: tt.TreeThink) -> tt.Prediction:
    state = tt.State(model.schema, list(FixedPriceUnordered().reset(0))).replace(0, credit=credit)
    return model.predict(state, "buy")


@pytest.mark.parametrize("seed", range(3))
def test_a_credit_that_was_never_seen_is_novel(seed: int) -> None:
    model = taught(FixedPriceUnordered(), 1_500, seed)
    seen = {
        each[0][0].credit for each in log_of(FixedPriceUnordered(), 1_500, seed) if each[1] == "buy"
    }
    assert seen == set(range(6))
    for credit in seen:
        assert not buying(credit, model).novel(1, "cans")
    for credit in (6, 20, -1):
        prediction = buying(credit, model)
        assert prediction.support(1, "cans") > 30  # of the leaf, not of this credit
        assert prediction.novel(1, "cans")
        text = novelty_text(prediction, 1, "cans")
        assert text.endswith(f"machine 0, credit = {credit}") and "never seen" in text


@pytest.mark.parametrize("seed", range(3))
def test_a_threshold_answers_for_values_beyond_those_seen(seed: int) -> None:
    """That is what it says; with all kinds of fact, the rule is: at least 3."""
    model = taught(FixedPrice(), 1_500, seed)
    (test,) = {each.test for each in model.rules["slot", "cans", "buy"].root.walk() if each.test}
    assert (test.kind, test.value) == ("threshold", 2)
    for credit in (-1, *range(6), 6, 20):
        prediction = buying(credit, model)
        assert prediction.outcomes(1, "cans") == {int(credit >= 3): 1.0}
        assert not prediction.novel(1, "cans") and not novelty_text(prediction, 1, "cans")


def test_an_order_answers_for_differences_beyond_those_seen() -> None:
    model = taught(Cards(), 400, 0, episode=1)
    state = Cards().reset(0)
    for mine, theirs, won in ((900, 7, 1), (7, 900, -1), (-5, -400, 1)):
        prediction = model.predict(state.replace(0, rank=mine).replace(1, rank=theirs), "show")
        assert prediction.outcomes(2, "won") == {won: 1.0} and not prediction.novel(2, "won")


def test_an_equality_beside_a_threshold_still_asks_whether_its_value_was_seen() -> None:
    """A pump of the model 4 leaks, and any other one if the level is over 20."""
    schema = tt.Schema(
        {"pump": ["model", "level", "leaks"]},
        {"model": tt.Number(facts=("equality",)), "level": 1, "leaks": tt.Flag()},
        ["wait"],
    )

    def pump(model: int, level: int, leaks: bool = False) -> tt.State:
        return tt.State(schema, [tt.Object(1, "pump", model=model, level=level, leaks=leaks)])

    learner = tt.TreeThink(schema)
    rng = random.Random(0)
    for _ in range(800):
        kind, level = rng.randrange(8), rng.randrange(40)
        learner.observe(pump(kind, level), "wait", pump(kind, level, kind == 4 or level > 20))
    kinds = {
        each.test.kind for each in learner.rules["pump", "leaks", "wait"].root.walk() if each.test
    }
    assert kinds == {"equality", "threshold"}
    assert not learner.predict(pump(2, 900), "wait").novel(1, "leaks")
    assert not learner.predict(pump(2, -7), "wait").novel(1, "leaks")
    prediction = learner.predict(pump(77, 3), "wait")
    assert prediction.novel(1, "leaks")
    assert novelty_text(prediction, 1, "leaks").endswith("pump 1, model = 77")


def test_a_rule_that_asks_nothing_about_a_value_does_not_find_it_novel() -> None:
    model = taught(FixedPriceUnordered(), 1_500, 0)
    state = (
        FixedPriceUnordered().reset(0).replace(1, price=77)
    )  # it was always 3, so no test asks for it
    assert not model.predict(state, "coin").novel(1, "price")
    assert not model.predict(state, "buy").novel(1, "price")


@pytest.mark.parametrize(
    ("name", "larger"),
    [("maze", {"width": 32, "height": 32}), ("keys", {"width": 12}), ("walls", {})],
)
def test_new_places_are_not_novel(name: str, larger: dict[str, int]) -> None:
    model = tt.TreeThink(tt.make(name).schema)
    model.observe_many(tt.transitions(tt.make(name), 5_000, seed=0))
    novel = 0
    log = list(tt.transitions(tt.make(name, **larger), 60, seed=5))
    for before, action, *_ in log:
        prediction = model.predict(before, action)
        novel += any(prediction.novel(x.id, m) for x in before for m in x.values)
    assert novel <= len(log) // 50


def test_what_was_observed_is_not_novel() -> None:
    for world in (FixedPriceUnordered(), tt.make("doors"), tt.make("lights")):
        model = tt.TreeThink(world.schema)
        log = list(tt.transitions(world, 400, seed=1))
        model.observe_many(log)
        for before, action, *_ in log[::20]:
            prediction = model.predict(before, action)
            found = [prediction._novelty(x.id, m) for x in before for m in x.values]
            assert [each for each in found if each is not None and each[0] == "value"] == []


def test_a_model_that_saw_nothing_finds_everything_novel() -> None:
    prediction = buying(3, tt.TreeThink(FixedPriceUnordered.schema))
    assert prediction.novel(1, "cans") and prediction.support(1, "cans") == 0
    assert "never observed" in novelty_text(prediction, 1, "cans")


def test_a_prediction_asks_the_model_as_it_is_now() -> None:
    model = taught(FixedPriceUnordered(), 1_500, 0)
    prediction = buying(20, model)
    assert prediction.novel(1, "cans")
    state = prediction.state
    model.observe(state, "buy", state.replace(1, cans=state[1].cans + 1))
    assert not prediction.novel(1, "cans")


def test_a_prediction_keeps_what_it_asks() -> None:
    prediction = buying(20, taught(FixedPriceUnordered(), 1_500, 0))
    gc.collect()
    assert prediction.novel(1, "cans")
    (same,) = taught(FixedPriceUnordered(), 1_500, 0).predict_many([(prediction.state, "buy")])
    gc.collect()
    assert same.novel(1, "cans")


def test_saving_keeps_what_was_seen() -> None:
    model = taught(FixedPriceUnordered(), 1_500, 0)
    loaded = tt.TreeThink.from_bytes(model.to_bytes(memory=False))
    for credit in range(-1, 9):
        assert buying(credit, loaded).novel(1, "cans") == buying(credit, model).novel(1, "cans")


def test_unknown_names_are_refused() -> None:
    prediction = buying(3, taught(FixedPriceUnordered(), 100, 0))
    with pytest.raises(tt.UnknownNameError, match="cans"):
        prediction.novel(1, "can")
    with pytest.raises(tt.StateError):
        prediction.novel(99, "cans")


def test_an_explanation_says_what_was_never_seen() -> None:
    model = taught(FixedPriceUnordered(), 1_500, 0)
    state = FixedPriceUnordered().reset(0).replace(0, credit=20)
    reason = model.explain(state, "buy", (1, "cans"))[1, "cans"]
    assert "this answer rests on a value never seen: machine 0, credit = 20" in " ".join(
        str(reason).split()
    )
    assert (
        reason.to_dict()["novel"]
        == "this answer rests on a value never seen: machine 0, credit = 20"
    )


def test_an_evaluation_counts_what_was_never_seen() -> None:
    model = taught(FixedPriceUnordered(), 1_500, 0)
    state = FixedPriceUnordered().reset(0).replace(0, credit=20)
    assert model.predict(state, "buy").mode() != state
    result = tt.evaluate(model, [(state, "buy", state)])
    assert (result.never_seen, result.wrong) == (1, 0)


def test_explaining_a_learned_maze_finds_nothing_novel() -> None:
    world = tt.make("maze")
    for reason in learned("maze", 5000).explain(world.reset(3), "up"):
        assert reason.novel == ""


def test_a_difference_within_one_object_that_was_never_seen_is_novel() -> None:
    attributes = {"floor": tt.Number(), "dest": tt.Number(like="floor"), "open": tt.Flag()}
    schema = tt.Schema({"lift": list(attributes)}, attributes, ["wait"])

    def lift(floor: int, dest: int, is_open: bool = False) -> tt.State:
        return tt.State(schema, [tt.Object(1, "lift", floor=floor, dest=dest, open=is_open)])

    model = tt.TreeThink(schema)
    for step in range(400):
        floor, dest = step % 4, step // 4 % 4
        model.observe(lift(floor, dest), "wait", lift(floor, dest, floor == dest))
    assert not model.predict(lift(0, 3), "wait").novel(1, "open")
    prediction = model.predict(lift(0, 90), "wait")
    assert prediction.novel(1, "open")
    assert "lift 1, dest - lift 1, floor = 90" in novelty_text(prediction, 1, "open")
