"""The paper's algorithm: shortcuts change nothing, mistakes are corrected, and it learns."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reference import Node as ReferenceNode
from reference import ReferenceTree, Scene, Test, Wilson
from strategies import Shape, random_state, random_tree, schemas, shapes
from strategies import transitions as random_transitions
from treethink.baselines import Paper
from treethink.baselines.paper.combinatorics import bindings, newvars
from treethink.baselines.paper.foldt import (
    FOLDT,
    Branch,
    Hypothesis,
    Leaf,
    TrackingData,
    Tree,
    addPredicates,
    checkBranch,
    checkBranches,
    evaluateShortCircuit,
    matchVars,
    resetBranch,
    typed,
)
from treethink.baselines.paper.ftable import ConfidenceInterval, FTable, isBetterThan, wilson, z_of
from treethink.baselines.paper.predicates import (
    FullPredicateSet,
    NumberedState,
    Predicate,
    PredicateNumbers,
    QueryPredicateSet,
    extractFacts,
    negative,
)
from treethink.evaluation import examine
from treethink.model import TreeThink
from treethink.rules import Node
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

pytestmark = pytest.mark.slow

few = settings(
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def plain_schemas() -> st.SearchStrategy[Schema]:
    """Schemas without sums of attributes, which the paper does not have."""
    return schemas().filter(lambda schema: not schema.sums)


# ------------------------------------------------------------------ combinatorics


def in_order_of_appearance(listing: tuple[int, ...], first: int) -> bool:
    """Whether variables from `first` on are numbered as they come."""
    new = list(dict.fromkeys(v for v in listing if v >= first))
    return new == list(range(first, first + len(new)))


@pytest.mark.parametrize("k", range(6))
def test_newvars_are_all_listings_that_number_variables_as_they_come(k: int) -> None:
    expected = {
        (listing, len(set(listing)))
        for listing in product(range(k), repeat=k)
        if in_order_of_appearance(listing, 0)
    }
    assert len(newvars(k)) == len(expected)
    assert set(newvars(k)) == expected


@pytest.mark.parametrize("e", range(4))
@pytest.mark.parametrize("n", range(4))
def test_bindings_are_all_fillings_that_number_new_variables_as_they_come(e: int, n: int) -> None:
    expected = {
        (filling, len({v for v in filling if v >= e}))
        for filling in product(range(e + n), repeat=n)
        if in_order_of_appearance(filling, e)
    }
    assert len(bindings(e, n)) == len(expected)
    assert set(bindings(e, n)) == expected


# --------------------------------------------------------------------- intervals

counts = st.lists(st.integers(0, 2) | st.integers(0, 400), min_size=4, max_size=4).filter(any)


@given(counts, st.sampled_from([0.5, 0.05, 0.01, 1e-9]))
@few
def test_an_interval_is_wilsons_of_the_papers_score(counts: list[int], alpha: float) -> None:
    table = FTable.from_counts([[[counts[0]], [counts[1]]], [[counts[2]], [counts[3]]]], 2)
    n = sum(counts)
    score = 0.0  # the sum over x and y of P(y | x) · P(x, y)
    for half in (counts[:2], counts[2:]):
        score += sum(each / sum(half) * each / n for each in half if each)
    z = NormalDist().inv_cdf(1 - alpha / 2)
    middle = (score + z * z / (2 * n)) / (1 + z * z / n)
    inside = max(0.0, score * (1 - score)) / n + z * z / (4 * n * n)
    radius = z / (1 + z * z / n) * math.sqrt(inside)
    for interval in (table.getScoreInterval(z_of(alpha), 0), table.getScoreInterval(z_of(alpha))):
        assert interval.lower == pytest.approx(middle - radius, abs=1e-9)
        assert interval.upper == pytest.approx(middle + radius, abs=1e-9)


@given(st.integers(1, 500), st.integers(0, 500), st.integers(0, 500))
@few
def test_comparisons_of_equal_samples_agree_with_the_twin(n: int, a: int, b: int) -> None:
    a, b = min(a, n), min(b, n)

    def interval(successes: int) -> ConfidenceInterval:
        return wilson(np.array(float(successes)), np.array(float(n)), z_of(0.05))

    expected = Wilson(0.05).surely_better(Fraction(a), Fraction(b), n)
    assert isBetterThan(interval(a), interval(b)) == expected


# -------------------------------------------------------------------------- facts


def facts_of(state: State) -> FullPredicateSet:
    return extractFacts(NumberedState(state), PredicateNumbers())


def predicates_of(facts: FullPredicateSet) -> set[Predicate]:
    return {facts.numbers.predicates[number] for number in facts.getPredicates()}


def states(schema: Schema, shape: Shape, n: int) -> list[State]:
    rng = random.Random(shape.seed)
    return [random_state(rng, schema, shape, step) for step in range(n)]


@given(plain_schemas(), shapes())
@few
def test_facts_computed_on_demand_equal_extracted_facts(schema: Schema, shape: Shape) -> None:
    for state in states(schema, shape, 3):
        full, on_demand = facts_of(state), QueryPredicateSet(NumberedState(state))
        for p in predicates_of(full):
            assert sorted(on_demand.getObservations(p)) == sorted(full.getObservations(p))
            assert all(full.getValue(g) for g in on_demand.getObservations(p))


@given(plain_schemas(), shapes())
@few
def test_facts_are_those_of_the_twin(schema: Schema, shape: Shape) -> None:
    """As many tests hold of each object, whatever way a difference is said."""
    for state in states(schema, shape, 2):
        s, scene, facts = NumberedState(state), Scene(state), facts_of(state)
        for i, each in enumerate(s.objects):
            tracking = TrackingData((each.class_name,))
            addPredicates(tracking, facts)
            holds = checkBranches(facts, tracking, [(i,)])
            true = {
                reference(h) for h, held in zip(tracking.candidates, holds, strict=True) if held
            }
            assert true == scene.true_tests([(each.id,)])


def reference(h: Hypothesis) -> Test:
    """The test as the twin says it: within a class the older variable first."""
    kind = "equality" if len(h.var_ids) == 1 else "difference"
    attributes = (h.p.m,) * len(h.var_ids)
    if kind == "difference" and h.p.types[0] == h.p.types[1] and h.var_ids[0] > h.var_ids[1]:
        return Test(kind, attributes, h.p.types, h.var_ids[::-1], negative(h.p.v))
    return Test(kind, attributes, h.p.types, h.var_ids, h.p.v)


def test_attributes_take_part_in_the_facts_that_the_schema_says() -> None:
    attributes = {"a": 1, "b": Attribute(1, ["equality"]), "c": Attribute(1, [])}
    schema = Schema({"thing": attributes}, attributes, ["go"])
    state = State(schema, [Object(0, "thing", a=1, b=2, c=3), Object(1, "thing", a=5, b=2, c=3)])
    assert predicates_of(facts_of(state)) == {
        Predicate("a", ("thing",), (1,)),
        Predicate("a", ("thing",), (5,)),
        Predicate("a", ("thing", "thing"), (4,)),
        Predicate("b", ("thing",), (2,)),
    }


# --------------------------------------------------------------------- evaluation


def test_evaluation_by_short_circuit_ends_in_the_leaf_of_set_narrowing() -> None:
    events: Counter[str] = Counter()

    @given(plain_schemas(), shapes())
    @few
    def check(schema: Schema, shape: Shape) -> None:
        rng = random.Random(shape.seed)
        observed = states(schema, shape, 24)
        for class_name in schema.classes:
            twin = random_tree(rng, class_name, [Scene(each) for each in observed], depth=4)
            t = converted(twin.root)
            for state in observed:
                s, scene = NumberedState(state), Scene(state)
                for i in (i for i, name in enumerate(s.classes) if name == class_name):
                    route = twin.route(scene, (s.objects[i].id,))
                    leaf, _, path = evaluateShortCircuit(t, QueryPredicateSet(s), (i,))
                    assert path == route[-1][0].path.replace("L", "1").replace("R", "0")
                    assert leaf is narrowed(t, facts_of(state), (i,))
                    several = max(len(bindings) for _, bindings in route) > 1
                    events["several bindings" if several else "one binding"] += 1
                    events["a right turn after several"] += several and "R" in route[-1][0].path[1:]

    check()
    assert events["several bindings"] > 300
    assert events["a right turn after several"] > 60, events


def converted(node: ReferenceNode, parent: Tree | None = None) -> Tree:
    """The twin's tree as the paper's."""
    t = Tree(Leaf(TrackingData(node.variables)), parent)
    if node.test and node.left and node.right:
        p = Predicate(node.test.attributes[0], node.test.classes, node.test.value)
        slots = node.test.slots
        if len(set(p.types)) < len(slots) and p.v < (0,) * len(p.v):
            p, slots = p._replace(v=negative(p.v)), slots[::-1]
        h = typed(node.variables, p, slots)
        assert h is not None
        t.data = Branch(h, t.tracking)
        t.children = [converted(node.left, t), converted(node.right, t)]
    return t


def narrowed(t: Tree, facts: FullPredicateSet, arguments: tuple[int, ...]) -> Tree:
    """The leaf that is reached by `checkBranch` with all bindings, as in learning."""
    bindings_in = [arguments]
    while t.isBranch():
        branch, bindings_in = checkBranch(facts, t.getBranchData().hypothesis, bindings_in)
        t = t.getLeftChild() if branch else t.getRightChild()
    return t


def test_a_path_that_goes_left_earlier_wins() -> None:
    """As printed, deeper decisions counted more, and the second lamp would have been taken."""
    schema = Schema({"hand": [], "lamp": ["a", "b", "c"]}, {"a": 1, "b": 1, "c": 1}, ["go"])
    state = State(
        schema,
        [
            Object(0, "hand"),
            Object(1, "lamp", a=1, b=1, c=0),
            Object(2, "lamp", a=1, b=0, c=1),
        ],
    )
    first, second, third = (Predicate(m, ("lamp",), (1,)) for m in "abc")
    test = Test("equality", ("a",), ("lamp",), (1,), (1,))
    twin = ReferenceTree(["hand"])
    twin.root.become_branch(test)
    assert twin.root.left
    twin.root.left.become_branch(Test("equality", ("b",), ("lamp",), (1,), (1,)))
    for child in (twin.root.left.left, twin.root.left.right):
        assert child
        child.become_branch(Test("equality", ("c",), ("lamp",), (1,), (1,)))
    t = converted(twin.root)
    s = NumberedState(state)
    hand = s.classes.index("hand")
    assert [h.p for h in hypotheses(t)] == [first, second, third, third]
    assert evaluateShortCircuit(t, QueryPredicateSet(s), (hand,))[1:] == (False, "110")


def hypotheses(t: Tree) -> list[Hypothesis]:
    if t.isLeaf():
        return []
    below = [h for child in t.children for h in hypotheses(child)]
    return [t.getBranchData().hypothesis, *below]


# ----------------------------------------------------------------------- learning


class Literal(FOLDT):
    """The same without shortcuts: candidate by candidate, over the whole list, each time."""

    def updateTests(  # noqa: N802
        self,
        tracking: TrackingData,
        observation: FullPredicateSet,
        bindings_in: list[tuple[int, ...]],
        output: int,
    ) -> bool:
        tracking.baseline.observe(np.zeros(1, dtype=np.bool_), output)
        branches = [checkBranch(observation, h, bindings_in)[0] for h in tracking.candidates]
        tracking.counters.observe(np.array(branches, dtype=np.bool_), output)
        lower, upper = tracking.counters.getScoreInterval(self.z)
        current = tracking.current
        for i in range(len(current) - 2, -1, -1):
            a, b = current[i], current[i + 1]
            if isBetterThan(
                ConfidenceInterval(lower[b], upper[b]), ConfidenceInterval(lower[a], upper[a])
            ):
                current[i], current[i + 1] = b, a
                if i == 0:
                    return True
        return False

    def updateNodeType(self, t: Tree, tracking: TrackingData) -> bool:  # noqa: N802
        better = bool(tracking.current) and isBetterThan(
            tracking.counters.getScoreInterval(self.z, tracking.current[0]),
            tracking.baseline.getScoreInterval(self.z, 0),
        )
        if t.isLeaf() == better:
            if better:
                resetBranch(t, tracking)
            else:
                t.convertToLeaf(Leaf(tracking))
            return True
        return False


def dumped(t: Tree) -> Any:
    """All that a tree knows."""
    own = (t.tracking.baseline.counts.tolist(), t.tracking.candidates, t.tracking.current)
    hypothesis = t.getBranchData().hypothesis if t.isBranch() else None
    counters = t.tracking.counters.counts.tolist()
    return own, counters, hypothesis, [dumped(child) for child in t.children]


def test_shortcuts_in_learning_change_nothing() -> None:
    events: Counter[str] = Counter()

    @given(plain_schemas(), shapes(), st.sampled_from([0.5, 0.3, 0.05]))
    @settings(few, max_examples=8)
    def check(schema: Schema, shape: Shape, alpha: float) -> None:
        fast = Paper(schema, alpha=alpha)
        slow = Paper(schema, alpha=alpha)
        slow._rule = (
            lambda *key: slow._rules.setdefault(  # type: ignore[method-assign]
                key, Literal(alpha, key[:1])
            )
        )
        shapes_before: dict[Any, list[Hypothesis]] = {}
        for transition in list(random_transitions(schema, shape))[:60]:
            fast.observe(*transition)
            slow.observe(*transition)
            for key, t in fast._rules.items():
                now = hypotheses(t.tree)
                before = shapes_before.get(key, [])
                events["grew"] += len(now) > len(before)
                events["shrank"] += len(now) < len(before)
                shapes_before[key] = now
        assert fast._rules.keys() == slow._rules.keys()
        for key, t in fast._rules.items():
            assert dumped(t.tree) == dumped(slow._rules[key].tree)
        events["swapped"] += any(
            node.current != sorted(node.current)
            for t in fast._rules.values()
            for node in trackings(t.tree)
        )

    check()
    assert events["grew"] > 10 and events["shrank"] > 2 and events["swapped"] > 4, events


def trackings(t: Tree) -> list[TrackingData]:
    return [t.tracking, *(each for child in t.children for each in trackings(child))]


def branch_tests(node: Node | None) -> Any:
    """The tests of a rule's tree."""
    if node is None or node.test is None:
        return None
    return node.test, branch_tests(node.left), branch_tests(node.right)


def test_walls_is_learned_with_the_tests_of_the_engine() -> None:
    world = make("walls", width=6, height=6)
    stream = list(transitions(world, steps=450, seed=0))
    paper, engine = Paper(world.schema), TreeThink.paper(world.schema)
    for transition in stream:
        paper.observe(*transition)
    engine.observe_many(stream)
    report = examine(paper, world, transitions(world, steps=200, seed=99))
    assert report.learned and report.scenes > 0
    for key in engine.rules:
        assert branch_tests(paper.rules[key].root) == branch_tests(engine.rules[key].root)
    assert paper.rules.varying().keys() == engine.rules.varying().keys() != set()
    assert "∃ X1: wall.  X1[pos] - X0[pos] = (1, 0) ?" in str(paper.rules["player", "pos", "right"])


LAMPS = Schema({"hand": ["side"], "lamp": ["on"]}, {"side": 1, "on": 1}, ["press"])


def lamps(*on: int) -> State:
    hand = Object(50, "hand", side=0)
    return State(LAMPS, [hand, *(Object(i, "lamp", on=each) for i, each in enumerate(on))])


def test_a_candidate_counts_from_its_first_occurrence() -> None:
    model = Paper(LAMPS)
    for _ in range(3):
        model.observe(lamps(0), "press", lamps(0))
    model.observe(lamps(1), "press", lamps(1))
    tracking = model._rules["lamp", "on", "press"].tree.tracking
    totals = tracking.counters.counts.sum(axis=(0, 1)).tolist()
    observed = {(h.p.v, n) for h, n in zip(tracking.candidates, totals, strict=True)}
    assert {n for v, n in observed if v == (1,)} == {1}
    assert max(n for _, n in observed) == 4


def test_the_transition_that_splits_a_leaf_counts_in_its_child_and_no_other_before_it() -> None:
    model = Paper(LAMPS)
    t = None
    while t is None or t.tree.isLeaf():
        model.observe(lamps(0), "press", lamps(1))
        model.observe(lamps(1), "press", lamps(0))
        t = model._rules["lamp", "on", "press"]
        assert model.observations < 100
    counts = [int(child.tracking.baseline.counts.sum()) for child in t.tree.children]
    assert sum(counts) in (1, 2)


def test_a_right_child_has_the_variables_and_classes_of_its_parent() -> None:
    tracking = TrackingData(("hand",))
    addPredicates(tracking, facts_of(lamps(1)))
    (lit,) = (n for n, h in enumerate(tracking.candidates) if h.p.types == ("lamp",))
    tracking.current = [lit, *(n for n in tracking.current if n != lit)]
    t = Tree(Leaf(tracking))
    resetBranch(t, tracking)
    assert t.getLeftChild().tracking.var_class_types == ("hand", "lamp")
    assert t.getRightChild().tracking.var_class_types == ("hand",)


def test_candidates_do_not_decide_the_classes_of_each_others_variables() -> None:
    tracking = TrackingData(("hand",))
    addPredicates(tracking, facts_of(lamps(1)))
    assert {h.var_class_types for h in tracking.candidates if h.n_new_vars} == {
        ("hand", "hand"),
        ("hand", "lamp"),
    }
    assert tracking.var_class_types == ("hand",)


def test_a_fact_for_which_there_is_no_candidate_makes_none_true() -> None:
    facts, tracking = facts_of(lamps(1)), TrackingData(("hand",))
    addPredicates(tracking, facts)
    truth_values = checkBranches(facts, tracking, [(0,)])
    (true, *_) = np.flatnonzero(truth_values)
    few, last = TrackingData(("hand",)), TrackingData(("hand",))
    for number, h in enumerate(tracking.candidates):
        if number != true:  # as a file may have it
            few.append(h, facts.numbers[h.p])
    (false, *_) = (
        h for h, holds in zip(tracking.candidates, truth_values, strict=True) if not holds
    )
    last.append(false, facts.numbers[false.p])
    assert not checkBranches(facts, last, [(0,)]).any()
    assert checkBranches(facts, few, [(0,)]).tolist() == np.delete(truth_values, true).tolist()


def test_matching_leaves_the_binding_alone_and_binds_no_object_twice() -> None:
    binding = (3,)
    assert matchVars(binding, (0, 1), (3, 7)) == (True, (3, 7))
    assert binding == (3,)
    assert matchVars(binding, (0, 1), (3, 3)) == (False, ())
    assert matchVars(binding, (0, 1), (4, 7)) == (False, ())
    assert matchVars(binding, (1, 1), (7, 8)) == (False, ())


def test_an_empty_leaf_answers_with_its_nearest_ancestor() -> None:
    model = Paper(LAMPS)
    for _ in range(50):
        model.observe(lamps(0), "press", lamps(1))
        model.observe(lamps(1), "press", lamps(0))
    t = model._rules["lamp", "on", "press"].tree
    assert t.isBranch()
    resetBranch(t, t.tracking)
    prediction = model.predict(lamps(0), "press")
    assert prediction.outcomes(0, "on") == {1: 0.5, -1: 0.5}
    assert prediction.support(0, "on") == 100


@given(plain_schemas(), shapes())
@settings(few, max_examples=8)
def test_ids_and_the_order_of_objects_do_not_matter(schema: Schema, shape: Shape) -> None:
    def renamed(state: State) -> State:
        objects = [Object(900 - each.id, each.class_name, **each.values) for each in state]
        return State(schema, objects[::-1])

    one, other = Paper(schema, alpha=0.5), Paper(schema, alpha=0.5)
    for before, action, after in list(random_transitions(schema, shape))[:40]:
        one.observe(before, action, after)
        other.observe(renamed(before), action, renamed(after))
    assert one.to_bytes() == other.to_bytes()


def test_outcomes_may_be_new_values() -> None:
    dial = Schema({"dial": ["at"]}, {"at": Attribute(1, outcomes="value")}, ["reset"])
    at = [State(dial, [Object(0, "dial", at=value)]) for value in range(10)]
    model = Paper(dial)
    for state in at[:5]:
        model.observe(state, "reset", at[0])
    assert model.predict(at[9], "reset").outcomes(0, "at") == {0: 1.0}


def test_memory_use_counts_nodes_and_candidates() -> None:
    model = Paper(LAMPS)
    assert model.memory_use() == {"bytes": 0, "nodes": 0, "candidates": 0}
    model.observe(lamps(0), "press", lamps(1))
    used = model.memory_use()
    assert used["nodes"] == 2 and used["candidates"] >= 4 and used["bytes"] > 1_000
