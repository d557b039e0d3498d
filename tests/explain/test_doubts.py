"""What is missing where a model is in doubt: the right diagnosis, and none for noise."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from doubtful_worlds import (
    Cards,
    CardsUnordered,
    Cells,
    Coin,
    Deep,
    DeepOrdered,
    Either,
    Elevator,
    FixedPrice,
    Lamps,
    Margin,
    Third,
    Total,
    Vending,
    VendingAlike,
    VendingUnordered,
    log_of,
    taught,
)
from models import learned
from own_logs import coffee_log
from treethink.errors import SettingError, WrongTypeError
from treethink.explain.doubts import Doubt, evidence
from treethink.explain.doubts.doubt import KINDS
from treethink.explain.doubts.evidence import Group
from treethink.worlds import World

SEEDS = range(3)
REMEMBER = "give the model a memory"


def only_doubt(world: World, steps: int, seed: int, episode: int = 10, **settings: Any) -> Doubt:
    model = taught(world, steps, seed, episode, **settings)
    (doubt,) = model.doubts(log_of(world, steps, seed, episode) if "memory" in settings else None)
    return doubt


def is_learned(world: World, steps: int, seed: int, episode: int = 10) -> bool:
    """Whether the model predicts the world exactly, and has no doubts."""
    model = taught(world, steps, seed, episode)
    return tt.evaluate(model, world, 200).learned and model.doubts() == []


# -------------------------------------------------------------------- the right diagnosis


@pytest.mark.parametrize("seed", SEEDS)
def test_a_price_that_varies_needs_less_than(seed: int) -> None:
    doubt = only_doubt(VendingUnordered(), 1_500, seed)
    assert doubt.rule == ("slot", "cans", "buy") and doubt.kind == "order"
    assert doubt.suggestions[0].text == "X0[price] > machine[credit]"
    assert doubt.suggestions[0].bits > 100 and "less-than" in str(doubt)
    advice = doubt.suggestions[0].advice
    for needed in ("let price take part", "let credit take part", 'Number(like="credit")'):
        assert needed in advice
    assert REMEMBER not in advice


@pytest.mark.parametrize("seed", SEEDS)
def test_an_order_of_unlike_attributes_needs_a_unit_and_nothing_else(seed: int) -> None:
    doubt = only_doubt(Vending(), 1_500, seed)
    (first,) = doubt.suggestions
    assert (first.kind, first.text) == ("comparison", "X0[price] > machine[credit]")
    assert first.advice == 'give price the unit of credit: Number(like="credit")'
    assert first.like == ("price", "credit") and first.bits > 100
    assert "less-than" not in str(doubt) and is_learned(VendingAlike(), 3_000, seed)


def test_leaves_that_a_test_tells_apart_already_are_no_reason_to_expect_more() -> None:
    """A tossed coin goes +1 or stays from 0, and -1 or stays from 1: its value explains no more."""
    schema = tt.Schema({"coin": ["up"]}, {"up": tt.Number(outcomes="change")}, ["toss"])
    rng = np.random.default_rng(0)
    sides = [tt.State(schema, [tt.Object(0, "coin", up=int(x))]) for x in rng.integers(2, size=600)]
    model = tt.TreeThink(schema)
    model.observe_many((a, "toss", b) for a, b in pairwise(sides))
    (doubt,) = model.doubts()
    assert doubt.leaves == 2 and doubt.kind == "chance" and not doubt.rules_out_chance


@pytest.mark.parametrize("seed", SEEDS)
def test_the_higher_rank_needs_less_than(seed: int) -> None:
    doubt = only_doubt(CardsUnordered(), 400, seed, episode=1)
    assert doubt.kind == "order" and doubt.suggestions[0].text == "mine[rank] > theirs[rank]"
    advice = doubt.suggestions[0].advice
    assert "let rank take part" in advice and "like" not in advice and REMEMBER not in advice
    assert is_learned(Cards(), 400, seed, episode=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_threshold_needs_less_than(seed: int) -> None:
    doubt = only_doubt(Deep(), 300, seed, episode=1)
    first = doubt.suggestions[0]
    assert first.kind == "order" and first.text.startswith("X0[level] >= 2")
    assert "facts of the kind 'threshold'" in first.advice and REMEMBER not in first.advice
    assert is_learned(DeepOrdered(), 300, seed, episode=1)


@pytest.mark.parametrize("world", [Cards(), DeepOrdered()])
def test_orders_and_thresholds_need_a_memory(world: World) -> None:
    doubt = only_doubt(world, 400, 0, episode=1, memory=0)
    assert doubt.kind == "order" and doubt.suggestions[0].advice.startswith(REMEMBER)
    assert "take part" not in doubt.suggestions[0].advice
    other = only_doubt(world, 400, 0, episode=1, criterion="wilson")
    assert other.kind == "order" and "criterion 'evidence'" in other.suggestions[0].advice


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("world", "text"),
    [(Margin(), "mine[rank] - theirs[rank] >= "), (Total(), "mine[rank] + theirs[rank] >= ")],
)
def test_no_kind_of_fact_says_how_large_a_sum_is(world: World, text: str, seed: int) -> None:
    doubt = only_doubt(world, 150, seed, episode=1)
    first = doubt.suggestions[0]
    assert first.kind == "sum" and first.text.startswith(text)
    assert "tt.Derived" in first.advice and "less-than" not in str(doubt)


def test_an_order_that_can_be_asked_is_no_sum() -> None:
    """Of twenty games, a difference of three or more tells the winner as well."""
    for seed in range(10):
        for doubt in taught(Cards(), 20, seed, episode=1).doubts():
            assert doubt.kind == "data"


@pytest.mark.parametrize("seed", SEEDS)
def test_unlike_attributes_need_a_unit(seed: int) -> None:
    doubt = only_doubt(Elevator(), 1_500, seed)
    first = doubt.suggestions[0]
    assert (first.kind, first.text) == ("comparison", "X0[dest] = lift[floor]")
    assert 'give dest the unit of floor: Number(like="floor")' in first.advice
    assert doubt.never_compared == (("dest", "floor"),)
    assert doubt.suggestions[0].like == ("dest", "floor") and doubt.rules_out_chance


@pytest.mark.parametrize("seed", SEEDS)
def test_an_exclusive_or_needs_two_conditions(seed: int) -> None:
    doubt = only_doubt(Either(), 1_000, seed, episode=1, memory=0)
    first = doubt.suggestions[0]
    assert first.kind == "conditions" and REMEMBER in first.advice
    assert "X0[left]" in first.text and "X0[right]" in first.text and "noise" not in first.text
    assert is_learned(Either(), 1_000, seed, episode=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cell_that_a_test_binds_needs_a_second_condition(seed: int) -> None:
    doubt = only_doubt(Cells(), 400, seed, episode=1, memory=0)
    first = doubt.suggestions[0]
    assert first.kind == "conditions" and REMEMBER in first.advice
    assert "X1[pos] - X0[pos] = (1, 0) and X1[soil]" in first.text
    assert is_learned(Cells(), 400, seed, episode=1)


@pytest.mark.parametrize("world", [Either(), Cells()])
def test_two_conditions_that_a_model_will_look_at_need_more_data(world: World) -> None:
    first = only_doubt(world, 40, 0, episode=1).suggestions[0]
    assert first.kind == "data" and "go on learning" in first.advice
    assert REMEMBER not in first.advice


def test_what_follows_from_equal_states_is_not_hidden() -> None:
    """Without a memory, a new value is not told as what stays; that is not due to the past."""
    log = log_of(Vending(), 1_500, 0)
    model = taught(Vending(), 1_500, 0, memory=0)
    for doubt in model.doubts(log):
        if doubt.rule[1] == "credit":
            assert "hidden" not in {each.kind for each in doubt.suggestions}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hidden_counter_is_not_in_the_state(seed: int) -> None:
    doubt = only_doubt(Third(), 1_000, seed, episode=50)
    assert doubt.kind == "hidden"
    one, other = doubt.examples
    assert (one.state, one.action) == (other.state, other.action)
    assert one.outcome != other.outcome


@pytest.mark.parametrize("seed", SEEDS)
def test_an_action_about_one_object_of_several_needs_its_name(seed: int) -> None:
    doubt = only_doubt(Lamps(), 1_000, seed)
    assert doubt.rule == ("lamp", "on", "second") and doubt.kind == "identity"
    assert "it depends on which lamp it is" in str(doubt) and doubt.rules_out_chance


def test_a_comparison_that_only_stands_in_for_conditions_is_not_suggested() -> None:
    """Brewing needs five conditions; that there are more beans than grounds only goes with them."""
    seen = set()
    for seed in (1, 2):
        log = tt.read_frame(coffee_log(seed, 70))
        model, first = tt.TreeThink(log.schema), 0
        for last in (1_600, 2_000, 2_500):
            model.observe_many(log[first:last])
            first = last
            suggestions = (each.suggestions[0] for each in model.doubts())
            seen |= {each.text for each in suggestions if each.kind in ("comparison", "sum")}
    assert seen == {"machine[served] - order[cups] = -1"}


def test_what_is_never_compared_is_listed_once_at_the_end() -> None:
    log = tt.read_frame(coffee_log(1, 30))
    model = tt.TreeThink(log.schema)
    model.observe_many(log[:600])
    doubts = model.doubts()
    text = " ".join(str(doubts).split())
    assert len(doubts) > 1 and text.count("never compared") == 1
    pairs = text.rpartition("never compared, although their values overlap: ")[2]
    assert pairs.count("; ") <= 8
    for doubt in doubts:
        rule = model.rules[doubt.rule]
        about = rule.attributes_read()
        for pair in doubt.never_compared if rule.depth else ():
            assert doubt.rule[1] in pair or about.issuperset(pair)


def test_a_name_is_never_compared_with_a_number() -> None:
    """Whoever has the book may not lend it: no advice to give a number the unit of names."""
    schema = tt.Schema(
        {"book": ["at"], "ann": ["fee"], "bob": ["fee"]},
        {"at": tt.Category(["shelf", *"abcdefghijk"]), "fee": tt.Number()},
        ["lend"],
    )
    rng = np.random.default_rng(0)
    log = []
    for at, one, other in rng.integers(12, size=(400, 3)).tolist():
        people = [tt.Object(1, "ann", fee=one), tt.Object(2, "bob", fee=other)]
        before = tt.State(schema, [tt.Object(0, "book", at=at), *people])
        log.append((before, "lend", before.replace(0, at=1) if at == one else before))
    for memory in (0, 1_000):
        model = tt.TreeThink(schema, memory=memory)
        model.observe_many(log)
        doubts = model.doubts(log)
        assert doubts and all(x.kind != "comparison" for each in doubts for x in each.suggestions)


@pytest.mark.parametrize("seed", range(6))
def test_a_coin_is_chance(seed: int) -> None:
    doubt = only_doubt(Coin(), 600, seed)
    assert [each.kind for each in doubt.suggestions] == ["chance"]
    one, other = doubt.examples
    assert one.state == other.state and one.outcome != other.outcome


@pytest.mark.parametrize("seed", SEEDS)
def test_fish_are_chance(seed: int) -> None:
    doubts = taught(tt.make("fish"), 4_000, seed, episode=50).doubts()
    assert doubts and {each.kind for each in doubts} == {"chance"}


@pytest.mark.parametrize("world", [FixedPrice(), tt.make("maze"), tt.make("walls")])
def test_a_learned_world_leaves_no_doubts(world: World) -> None:
    model = taught(world, 3_000, 0, episode=50)
    assert tt.evaluate(model, world, 200).learned
    assert model.doubts() == [] and "no doubts" in str(model.doubts())
    assert model.doubts(tt.transitions(world, 200, seed=3)) == []


def test_one_exception_is_too_few_to_tell() -> None:
    log = log_of(FixedPrice(), 300, 0)
    before, action, _ = next(each for each in log if each[1] == "buy" and each[0] == each[2])
    odd = (before, action, before.replace(1, cans=1))
    model = tt.TreeThink(FixedPrice.schema)
    model.observe_many([*log, odd])
    (doubt,) = model.doubts()
    assert doubt.wrong == 1 and doubt.kind in ("data", "chance", "unexplained")


# -------------------------------------------------------------------- noise


@pytest.mark.parametrize("seed", range(20))
def test_noise_gives_no_suggestions(seed: int) -> None:
    """Outcomes that do not depend on anything, in a world with many numbers to compare."""
    names = ["a", "b", "c", "d", "e"]
    schema = tt.Schema(
        {"x": [*names, "y"], "z": ["f"]},
        {"y": tt.Attribute(1, ())} | dict.fromkeys([*names, "f"], 1),
        ["go"],
    )
    rng = np.random.default_rng(seed)
    log = []
    for _ in range(500):
        values = {name: int(rng.integers(8)) for name in names}
        zs = [tt.Object(i, "z", f=int(rng.integers(8))) for i in (1, 2)]
        before = tt.State(schema, [tt.Object(0, "x", y=0, **values), *zs])
        log.append((before, "go", before.replace(0, y=int(rng.integers(2)))))
    model = tt.TreeThink(schema)
    model.observe_many(log)
    assert {each.kind for each in model.doubts()} <= {"chance", "unexplained", "data"}


def test_objects_that_share_one_coin_are_one_toss() -> None:
    schema = tt.Schema(
        {"x": ["a", "y"], "z": ["b"]}, {"a": 1, "b": 1, "y": tt.Attribute(1, ())}, ["go"]
    )
    rng = np.random.default_rng(0)
    log = []
    for _ in range(60):
        a, b, coin = (int(rng.integers(5)) for _ in range(3))
        xs = [tt.Object(i, "x", a=a, y=0) for i in range(1, 11)]
        before = tt.State(schema, [tt.Object(0, "z", b=b), *xs])
        after = before.replace_many({x.id: {"y": coin % 2} for x in xs})
        log.append((before, "go", after))
    model = tt.TreeThink(schema)
    model.observe_many(log)
    assert {each.kind for each in model.doubts()} <= {"chance", "unexplained", "data"}


# -------------------------------------------------------------------- evidence

outcome_lists = st.lists(st.integers(0, 2), min_size=1, max_size=40)


def kt(outcomes: list[int], kinds: int) -> float:
    """The probability of outcomes in order, each predicted from those before: slow and plain."""
    seen: Counter[int] = Counter()
    total = 0.0
    for each in outcomes:
        total += math.log((seen[each] + 0.5) / (seen.total() + kinds / 2))
        seen[each] += 1
    return total


def best(outcomes: list[int], kinds: int) -> float:
    sure = -math.log(kinds) if len(set(outcomes)) == 1 else -math.inf
    return max(kt(outcomes, kinds), sure) if outcomes else 0.0


@given(outcome_lists, st.data())
def test_a_partition_is_scored_cell_by_cell(outcomes: list[int], data: st.DataObject) -> None:
    cells = data.draw(st.lists(st.integers(0, 3), min_size=len(outcomes), max_size=len(outcomes)))
    kinds = len(set(outcomes))
    group = group_of(outcomes)
    expected = sum(
        best([y for y, c in zip(outcomes, cells, strict=True) if c == cell], kinds) - math.log(2)
        for cell in set(cells)
    )
    gain = expected - (best(outcomes, kinds) - math.log(2))
    assert group.gain_of_cells(np.array(cells)) == pytest.approx(gain)


@given(outcome_lists, st.data())
def test_the_quadrants_of_two_tests_are_a_partition(
    outcomes: list[int], data: st.DataObject
) -> None:
    n = len(outcomes)
    truths = np.array(
        [data.draw(st.lists(st.booleans(), min_size=n, max_size=n)) for _ in range(2)]
    )
    group = group_of(outcomes)
    cells = (2 * truths[0] + truths[1]).astype(np.int64)
    assert group.gain_of_pairs(truths)[0, 1] == pytest.approx(group.gain_of_cells(cells))


def test_a_test_that_never_holds_explains_nothing() -> None:
    group = group_of([0, 1, 1, 0, 1])
    assert group.gain_of_tests(np.zeros((1, 5), dtype=bool))[0] == pytest.approx(0)


def test_a_perfect_test_is_the_best_possible() -> None:
    outcomes = [0, 1, 1, 0, 1] * 4
    group = group_of(outcomes)
    gain = group.gain_of_tests(np.array([outcomes], dtype=bool))[0]
    assert gain == pytest.approx(group.best_possible) and gain > 0


def group_of(outcomes: list[int]) -> Group:
    n = len(outcomes)
    return Group.of(np.arange(n), np.array(outcomes), np.arange(n))


def test_copies_count_once() -> None:
    outcomes = np.repeat(np.array([0, 1, 1, 0]), 10)
    assert evidence.design_effect(outcomes, np.repeat(np.arange(4), 10)) == 10
    assert evidence.design_effect(outcomes, np.arange(40)) == 1


# -------------------------------------------------------------------- use


def test_doubts_of_given_transitions_name_what_was_never_learned() -> None:
    world = FixedPrice()
    model = taught(world, 600, 0)
    assert model.doubts() == []
    doubts = model.doubts(log_of(Vending(), 600, 1))
    assert ("slot", "cans", "buy") in [each.rule for each in doubts]


def test_doubts_take_a_world_and_longer_tuples() -> None:
    model = taught(Elevator(), 1_000, 0)
    longer = [(*each, -1.0, False) for each in log_of(Elevator(), 1_000, 0)]
    assert model.doubts(longer) == model.doubts(log_of(Elevator(), 1_000, 0))
    assert [each.kind for each in model.doubts(Elevator())] == ["comparison"]


def test_a_model_without_memory_needs_transitions() -> None:
    model = tt.TreeThink.paper(Coin.schema)
    log = log_of(Coin(), 400, 0)
    model.observe_many(log)
    with pytest.raises(SettingError, match="keeps no transitions"):
        model.doubts()
    assert [each.kind for each in model.doubts(log)] == ["chance"]


@pytest.mark.parametrize("wrong", ["walls", 3, object()])
def test_doubts_refuse_what_is_neither_a_world_nor_transitions(wrong: Any) -> None:
    with pytest.raises(WrongTypeError, match="a diagnosis needs a World"):
        learned("maze", 5000).doubts(wrong)


def test_doubts_are_the_same_each_time_and_change_nothing() -> None:
    model = taught(Vending(), 800, 0)
    content = model.to_bytes()
    first, second = model.doubts(), tt.TreeThink.from_bytes(content).doubts()
    assert first == second and str(first) == str(second)
    assert model.to_bytes() == content


def test_a_doubt_can_be_stored() -> None:
    doubt = only_doubt(Elevator(), 800, 0)
    data = doubt.to_dict()
    assert data["suggestions"][0]["kind"] == "comparison" and len(data["examples"]) == 2
    assert set(KINDS) >= {each["kind"] for each in data["suggestions"]}
    assert data["reached"] == sum(each["times"] for each in data["outcomes"])


def test_the_examples_reach_the_same_leaf_and_differ() -> None:
    model = taught(Vending(), 1_500, 0)
    (doubt,) = model.doubts()
    one, other = doubt.examples
    assert one.outcome != other.outcome
    answers = [model.predict(each.state, each.action) for each in (one, other)]
    supports = {
        each.support(x.object_id, x.attribute)
        for each, x in zip(answers, (one, other), strict=True)
    }
    assert len(supports) == 1


def test_kept_transitions_are_those_that_were_observed_last() -> None:
    log = log_of(Elevator(), 50, 0)
    model = tt.TreeThink(Elevator.schema, memory=20)
    model.observe_many(log)
    assert [tuple(each[:3]) for each in model.kept()] == log[-20:]
    assert tt.TreeThink.paper(Elevator.schema).kept() == []
