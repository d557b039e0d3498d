"""A simplified model predicts the same in every state: in all small ones and in random ones."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from parts import listed, random_part
from reference import Scene
from strategies import Shape, random_state, schemas
from treethink.editing.implication import Knowledge
from treethink.editing.simplify import steps_of
from treethink.rules import Test

SMALL = tt.Schema(
    {"bird": ["x"], "stone": ["x", "hot"]},
    {"x": 1, "hot": tt.Attribute(1, facts=("equality",))},
    ["go"],
)
RULE = ("bird", "x", "go")


@cache
def small_states() -> list[tt.State]:
    """Return all states with one or two birds and up to three stones, at three places."""
    birds = [each for n in (1, 2) for each in combinations_with_replacement(range(3), n)]
    kinds = list(product(range(3), range(2)))
    stones = [each for n in range(4) for each in combinations_with_replacement(kinds, n)]
    return [
        tt.State(
            SMALL,
            [tt.Object(i, "bird", x=x) for i, x in enumerate(flock)]
            + [tt.Object(10 + i, "stone", x=x, hot=hot) for i, (x, hot) in enumerate(heap)],
        )
        for flock in birds
        for heap in stones
    ]


def model_with_rule(schema: tt.Schema, rule: Any, part: Any) -> tt.TreeThink:
    model = tt.TreeThink(schema)
    model._replace(*rule, "", listed(part))
    return model


def answers(model: tt.TreeThink, states: list[tt.State], rule: Any) -> list[Any]:
    class_name, attribute, action = rule
    predictions = model.predict_many([(state, action) for state in states])
    return [
        [prediction.outcomes(each.id, attribute) for each in state.of_class(class_name)]
        for state, prediction in zip(states, predictions, strict=True)
    ]


def assert_close(one: list[Any], other: list[Any]) -> None:
    """Compare predictions; shares may differ in their last bit, since counts are added."""
    for a, b in zip(one, other, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x == pytest.approx(y), (x, y)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_a_simplified_rule_predicts_the_same_in_every_small_state(seed: int, depth: int) -> None:
    rng = random.Random(seed)
    scenes = [Scene(state) for state in rng.sample(small_states(), 3)]
    part = random_part(rng, ("bird",), scenes, [(0,), (1,)], depth)
    model = model_with_rule(SMALL, RULE, part)
    smaller = model.simplify()
    assert smaller.rules[RULE].n_leaves <= model.rules[RULE].n_leaves
    assert_close(answers(smaller, small_states(), RULE), answers(model, small_states(), RULE))
    assert steps_of(smaller.rules[RULE]) == []


@settings(deadline=None, max_examples=60)
@given(schemas(units=True), st.integers(0, 2**32), st.sampled_from(["bits", "small", "huge"]))
def test_a_simplified_rule_predicts_the_same_in_random_states(
    schema: tt.Schema, seed: int, values: str
) -> None:
    rng = random.Random(seed)
    shape = Shape(seed=seed, values=values, objects=4)
    states = [random_state(rng, schema, shape, step) for step in range(60)]
    class_name = next(iter(schema.classes))
    rule = (class_name, schema.classes[class_name][0], "go")
    length = schema.attributes[rule[1]].length
    outcomes = [(0,) * length, (1,) * length]
    scenes = [Scene(state) for state in states[:3]]
    model = model_with_rule(schema, rule, random_part(rng, (class_name,), scenes, outcomes, 4))
    assert_close(answers(model.simplify(), states, rule), answers(model, states, rule))


def test_many_random_rules_can_be_simplified() -> None:
    """The random rules of the tests above cover each kind of simplification often."""
    steps = []
    for seed in range(150):
        rng = random.Random(seed)
        scenes = [Scene(state) for state in rng.sample(small_states(), 3)]
        part = random_part(rng, ("bird",), scenes, [(0,), (1,)], 4)
        steps.append(steps_of(model_with_rule(SMALL, RULE, part).rules[RULE]))
    kinds = [
        {("merged" if s.merge else "implied" if s.left else "refuted") for s in each}
        for each in steps
    ]
    for kind in ("merged", "implied", "refuted"):
        assert sum(kind in each for each in kinds) > 20, kind


# ---- what is removed, and what must stay ----


def simplified(text: str) -> str:
    """Return the text of the simplified rule, without its first line and its marks."""
    model = tt.TreeThink(SMALL)
    model.replace(RULE, text)
    lines = str(model.simplify().rules[RULE]).splitlines()[1:]
    return "\n".join(line.replace("  [pinned]", "") for line in lines)


STONE = "exists X1: stone. X1[x] - X0[x] = 1"
REDUNDANT = {
    "asked again, and held": f"{STONE}?\nX1[x] - X0[x] = 1?\n1\n0\n0",
    "said the other way round": f"{STONE}?\nX0[x] - X1[x] = -1?\n1\n0\n0",
    "asked again, and failed": f"{STONE}?\n1\n{STONE}?\n1\n0",
    "another value": "X0[x] = 1?\nX0[x] = 2?\n0\n1\n0",
    "added up": f"X0[x] = 1?\n{STONE}?\nX1[x] = 2?\n1\n0\n0\n0",
    "added up, and otherwise": f"X0[x] = 1?\n{STONE}?\nX1[x] = 1?\n0\n1\n0\n0",
    "a new object would be one that is not there": (
        "exists X1: stone. X1[x] = 2?\n1\nX0[x] = 1?\n" + STONE + "?\n1\n0\n0"
    ),
    "bound since": (f"{STONE}?\n1\nexists X1: stone. X1[hot] = 1?\nX1[x] - X0[x] = 1?\n1\n0\n1"),
    "two new ones": (
        "exists X1: stone, X2: stone. X2[x] - X1[x] = 1?\n1\n"
        "exists X1: stone, X2: stone. X1[x] - X2[x] = 1?\n1\n0"
    ),
    "one of two is found": (
        "exists X1: stone, X2: stone. X2[x] - X1[x] = 1?\n1\n"
        "exists X1: stone. X1[hot] = 0?\nexists X2: stone. X2[x] - X1[x] = 1?\n1\n0\n1"
    ),
    "one of two is found, the other way round": (
        "exists X1: stone, X2: stone. X2[x] - X1[x] = 1?\n1\n"
        "exists X1: stone. X1[hot] = 0?\nexists X2: stone. X2[x] - X1[x] = -1?\n1\n0\n1"
    ),
    "leaves alike": f"{STONE}?\n1 × 2, 0 × 4\n1 × 1, 0 × 2",
    "branches alike": "X0[x] = 1?\n" + 2 * f"{STONE}?\n1\n0\n",
    "branches alike in other words": (
        "X0[x] = 1?\nexists X1: stone. X1[x] = 2?\n1\n0\n" + f"{STONE}?\n1\n0"
    ),
    "asked of what was found": f"{STONE}?\nX1[x] = 2?\n1\n0\nX0[x] = 1?\n1\n0",
    "branches alike below one that finds": (
        "exists X1: stone. X1[x] - X0[x] = 2?\nexists X2: stone. X2[x] - X0[x] = 1?\n1\n0\n"
        + f"{STONE}?\n1\n0"
    ),
}


@pytest.mark.parametrize("case", REDUNDANT)
def test_redundant_tests_are_removed(case: str) -> None:
    assert simplified(REDUNDANT[case]).count("?") < REDUNDANT[case].count("?")


NEEDED = {
    "another stone may be there": f"{STONE}?\nexists X2: stone. X2[x] - X0[x] = 1?\n1\n0\n0",
    "a stone that was known may be it": (
        "exists X1: stone. X1[hot] = 1?\nexists X2: stone. X2[x] - X0[x] = 1?\n1\n"
        "X1[x] - X0[x] = 1?\n1\n0\n0"
    ),
    "leaves that differ in their shares": f"{STONE}?\n1 × 2, 0 × 1\n1 × 1, 0 × 2",
    "what was found is taken": (
        "exists X1: stone. X1[hot] = 1?\nexists X2: stone. X2[x] - X0[x] = 1?\n1\n0\n"
        + f"{STONE}?\n1\n0"
    ),
    "what was found is asked about": (
        "exists X1: stone. X1[x] - X0[x] = 2?\n"
        "exists X2: stone. X2[x] - X0[x] = 1?\nX1[hot] = 1?\n1\n0\n0\n"
        + f"{STONE}?\nX1[hot] = 1?\n1\n0\n0"
    ),
    "objects of another class": (
        "X0[x] = 1?\nexists X1: bird. X1[x] = 2?\n1\n0\n" + f"{STONE}?\n1\n0"
    ),
    "some objects are left behind by one that finds": (
        "exists X1: stone. X1[hot] = 0?\nexists X2: stone. X2[x] - X1[x] = 1?\n"
        + 2 * "X1[x] - X0[x] = 1?\n1\n0\n"
        + "0"
    ),
    "some bindings are left behind": (
        f"{STONE}?\nX1[hot] = 1?\n" + 2 * "exists X2: stone. X2[x] - X1[x] = 1?\n1\n0\n" + "0"
    ),
}


@pytest.mark.parametrize("case", NEEDED)
def test_needed_tests_stay(case: str) -> None:
    assert simplified(NEEDED[case]).count("?") == NEEDED[case].count("?")


@pytest.mark.parametrize(("hot", "cold"), [(4500, 300), (300, 4500)])
def test_answers_stay_the_same_beyond_the_limit_of_bindings(hot: int, cold: int) -> None:
    """4,096 bindings are kept. If there are more, the answers are still the same.

    With many hot stones the first test has too many bindings; with many cold ones the remaining
    test has. In both cases there are too many pairs.
    """
    schema = tt.Schema({"bird": ["x"], "stone": ["x", "hot"]}, {"x": 1, "hot": 1}, ["go"])
    one = "exists X1: stone. X1[hot] = 1?\n"
    below = "exists X{}: stone. X{}[hot] = 0?\nX{}[x] - X0[x] = 1?\n1\n0\n0\n"
    model = tt.TreeThink(schema)
    model.replace(RULE, one + below.format(2, 2, 2) + below.format(1, 1, 1))
    smaller = model.simplify()
    assert smaller.rules[RULE].n_leaves == 3
    for ahead in (hot, hot + cold // 2):  # a cold stone beside the bird
        stones = [tt.Object(1 + i, "stone", x=9, hot=int(i < hot)) for i in range(hot + cold)]
        stones[ahead] = tt.Object(1 + ahead, "stone", x=1, hot=0)
        state = tt.State(schema, [tt.Object(0, "bird", x=0), *stones])
        assert smaller.predict(state, "go").outcomes(0, "x") == model.predict(state, "go").outcomes(
            0, "x"
        )


def test_knowledge_about_one_attribute_does_not_apply_to_another() -> None:
    def difference_in(attribute: str) -> Test:
        both = ((1, "stone"), (2, "stone"))
        return Test("difference", attribute, ("stone", "stone"), (1, 2), 1, new=both)

    known = Knowledge(("bird",)).failing(difference_in("x"))
    assert known.refutes(difference_in("x")) and not known.refutes(difference_in("y"))


# ---- learned rules ----


@pytest.mark.parametrize("name", ["maze", "coins", "doors", "switches"])
def test_simplified_models_predict_the_same_and_keep_learning(name: str) -> None:
    world = tt.make(name, width=6, height=6)
    model = tt.TreeThink(world.schema, memory=300)
    model.observe_many(tt.transitions(world, steps=2500, seed=1))
    content = model.to_bytes()
    smaller = model.simplify()
    assert model.to_bytes() == content
    for before, action, after in tt.transitions(world, steps=300, seed=2):
        one, other = model.predict(before, action), smaller.predict(before, action)
        for state in (after, one.mode()):
            assert one.probability(state) == pytest.approx(other.probability(state))
    smaller.observe_many(tt.transitions(world, steps=2500, seed=3))
    assert tt.TreeThink.from_bytes(smaller.to_bytes()).to_bytes() == smaller.to_bytes()


def test_pinned_and_unpinned_leaves_are_not_merged() -> None:
    model = tt.TreeThink(SMALL)
    model.replace(RULE, f"{STONE}?\n1\n1")
    model.unpin(RULE, "L")
    assert model.simplify().rules[RULE].n_leaves == 2
    model.unpin(RULE)
    assert model.simplify().rules[RULE].n_leaves == 1


def test_hand_written_and_learned_tests_are_not_merged() -> None:
    """Both branches have the same test, but the learned one may still be revised."""
    model = tt.TreeThink(SMALL)
    model.replace(RULE, f"X0[x] = 0?\n{STONE}?\n0\n1\n1", pin=False)
    for _ in range(40):
        for here, there in product(range(3), range(4)):
            stone = tt.Object(1, "stone", x=there, hot=0)
            before = tt.State(SMALL, [tt.Object(0, "bird", x=here), stone])
            model.observe(before, "go", before.replace(0, x=here + (there != here + 1)))
    root = model.rules[RULE].root
    assert root.left and root.right and root.left.test == root.right.test
    assert model.simplify().rules[RULE].n_leaves == 4


def test_counts_of_merged_leaves_are_added() -> None:
    model = tt.TreeThink(SMALL)
    model.replace(RULE, f"X0[x] = 0?\n1 × 5\n{STONE}?\n1 × 3\n1 × 4")
    assert dict(model.simplify().rules[RULE].root.counts) == {1: 12}
