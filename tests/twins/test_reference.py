"""The reference itself: cases small enough to check by hand, and one brute force."""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from reference import (
    MAX_BINDINGS,
    Binding,
    Node,
    ReferenceModel,
    ReferenceTree,
    Scene,
    Test,
    Wilson,
    extensions,
    preference,
    score,
)
from strategies import Shape, random_state, random_tree, schemas, transitions

GRID = tt.Schema(
    classes={"player": ["pos"], "wall": ["pos"]}, attributes={"pos": 2}, actions=["right"]
)
LINE = tt.Schema(classes={"dot": ["x"]}, attributes={"x": 1}, actions=["go"])

STAYS, MOVES = (0, 0), (1, 0)
WALL_AHEAD = Test("difference", ("pos", "pos"), ("player", "wall"), (0, 1), (1, 0))


def grid(player: tuple[int, int], *walls: tuple[int, int]) -> Scene:
    """A player, object 0, and walls 1, 2, ..."""
    objects = [tt.Object(i, "wall", pos=pos) for i, pos in enumerate(walls, start=1)]
    return Scene(tt.State(GRID, [tt.Object(0, "player", pos=player), *objects]))


def line(*positions: int) -> Scene:
    """Dots 0, 1, ... at the given positions."""
    return Scene(tt.State(LINE, [tt.Object(i, "dot", x=x) for i, x in enumerate(positions)]))


BLOCKED, FREE = grid((0, 0), (1, 0)), grid((0, 0), (2, 0))


def train(tree: ReferenceTree, *lessons: tuple[Scene, tuple[int, ...]]) -> ReferenceTree:
    """Observe the outcomes of object 0, one transition each."""
    for scene, outcome in lessons:
        tree.observe(scene, [((0,), outcome)])
    return tree


# --- facts and tests ---------------------------------------------------------------


def test_a_fact_names_the_variables_that_are_bound_and_introduces_the_others():
    assert BLOCKED.true_tests([(0,)]) == {
        Test("equality", ("pos",), ("player",), (0,), (0, 0)),
        Test("equality", ("pos",), ("wall",), (1,), (1, 0)),
        WALL_AHEAD,
    }
    assert BLOCKED.true_tests([(1,)]) == {
        Test("equality", ("pos",), ("player",), (1,), (0, 0)),
        Test("equality", ("pos",), ("wall",), (0,), (1, 0)),
        Test("difference", ("pos", "pos"), ("player", "wall"), (1, 0), (1, 0)),
    }


def differences(scene: Scene, binding: Binding) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    tests = scene.true_tests([binding])
    return {(test.slots, test.value) for test in tests if test.kind == "difference"}


def test_within_a_class_the_older_variable_comes_first_and_two_new_ones_differ_positively():
    scene = line(3, 10, 8)
    assert differences(scene, (1,)) == {((0, 1), (-7,)), ((0, 1), (-2,)), ((1, 2), (5,))}
    assert differences(scene, (2, 0)) == {((0, 1), (-5,)), ((0, 2), (2,)), ((1, 2), (7,))}


def test_two_variables_never_share_an_object():
    same_place = Test("difference", ("x", "x"), ("dot", "dot"), (0, 1), (0,))
    assert extensions(line(4), same_place, [(0,)]) == []
    assert extensions(line(4, 4), same_place, [(0,)]) == [(0, 1)]
    assert differences(line(4), (0,)) == set()
    two_more = Test("difference", ("x", "x"), ("dot", "dot"), (1, 2), (0,))
    assert extensions(line(4, 4), two_more, [(0,)]) == []
    assert extensions(line(4, 4, 4), two_more, [(0,)]) == [(0, 1, 2), (0, 2, 1)]


def test_a_difference_beyond_64_bits_is_no_fact():
    assert differences(line(-(2**62), 2**62 - 1), (0,)) == {((0, 1), (2**63 - 1,))}
    assert differences(line(-(2**62), 2**62), (0,)) == set()
    assert differences(line(2**62, -(2**62)), (0,)) == set()  # its negation does not fit


def test_a_test_narrows_the_bindings_to_those_that_it_can_extend():
    one_left = Test("difference", ("x", "x"), ("dot", "dot"), (1, 2), (-1,))
    assert extensions(line(0, 5, 4, 7), one_left, [(0, 1), (0, 3)]) == [(0, 1, 2)]


def test_too_many_bindings_are_cut_in_the_order_of_the_objects_values():
    scene = line(0, *reversed(range(65)))  # objects 1..65 stand at 64..0
    pairs = [(0, x, y) for x in range(1, 66) for y in range(1, 66) if x != y]
    assert len(pairs) == MAX_BINDINGS + 64
    always = Test("equality", ("x",), ("dot",), (0,), (0,))
    result = extensions(scene, always, pairs)
    assert len(result) == MAX_BINDINGS
    assert result[:2] == [(0, 65, 64), (0, 65, 63)]
    assert result[-1] == (0, 2, 1)  # the 64 pairs that begin with object 1, at 64, fell out


def test_equal_objects_are_ordered_by_id():
    assert line(7, 7, 3).canonical((2,)) < line(7, 7, 3).canonical((0,))
    assert line(7, 7, 3).canonical((0, 1)) < line(7, 7, 3).canonical((1, 0))


# --- scores ------------------------------------------------------------------------


def test_the_score_of_a_test_is_how_likely_the_truth_was():
    a, b = (0,), (1,)
    assert score({a: 10, b: 10}, {a: 10}) == 20
    assert score({a: 10, b: 10}, {a: 5, b: 5}) == 10
    assert score({a: 10, b: 10}, {}) == 10
    assert score({a: 3, b: 1}, {a: 2, b: 1}) == Fraction(5, 3) + 1


counts = st.integers(1, 400)


@given(counts, st.data(), st.floats(0.001, 0.9))
def test_wilson_without_a_square_root_agrees_with_the_formula(n, data, alpha):
    one, other = (Fraction(data.draw(st.integers(0, 7 * n)), 7) for _ in range(2))
    z = NormalDist().inv_cdf(1 - alpha / 2)

    def end(points: Fraction, sign: int) -> float:
        p = float(points / n)
        middle = p + z * z / (2 * n)
        half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle + sign * half) / (1 + z * z / n)

    margin = end(one, -1) - end(other, +1)
    if abs(margin) > 1e-9:
        assert Wilson(alpha).surely_better(one, other, n) == (margin > 0)


@pytest.mark.parametrize(
    ("test", "cost"),
    [
        (Test("equality", ("open",), ("door",), (0,), (1,)), 0),
        (Test("equality", ("pos",), ("door",), (0,), (1, 2)), 1),
        (Test("equality", ("open",), ("door",), (2,), (1,)), 2),
        (Test("equality", ("pos",), ("door",), (2,), (1, 2)), 3),
        (Test("difference", ("pos", "pos"), ("door", "door"), (0, 1), (1, 2)), 0),
        (Test("difference", ("pos", "pos"), ("door", "door"), (1, 2), (1, 2)), 1),
        (Test("difference", ("pos", "pos"), ("door", "door"), (2, 3), (1, 2)), 4),
    ],
)
def test_absolute_vectors_and_new_variables_cost(test, cost):
    schema = tt.Schema(
        classes={"door": ["pos", "open"]}, attributes={"pos": 2, "open": 1}, actions=["go"]
    )
    found, size, *_ = preference(Scene(tt.State(schema, [])), test, n_variables=2)
    assert (found, size) == (cost, sum(test.value))


# --- learning ----------------------------------------------------------------------


def test_a_constant_is_only_counted_until_a_second_outcome_comes():
    tree = train(ReferenceTree(["player"]), *[(FREE, MOVES)] * 5)
    assert tree.seen == {MOVES: 5}
    assert not tree.root.totals and not tree.root.candidates

    tree.observe(BLOCKED, [((0,), STAYS)])
    assert tree.seen == {MOVES: 5, STAYS: 1}
    assert tree.root.totals == {STAYS: 1}
    assert tree.root.candidates[WALL_AHEAD].counts == {STAYS: 1}


def test_a_wall_ahead_decides_whether_the_player_moves():
    # Half and half, a perfect test is surely better than none from n > 3 z² = 19.9 on.
    events: list[tuple[str, str]] = []
    tree = ReferenceTree(["player"], on_change=lambda *event: events.append(event))
    train(tree, (FREE, MOVES), *[(BLOCKED, STAYS), (FREE, MOVES)] * 9, (BLOCKED, STAYS))
    assert tree.root.totals.total() == 19 and not events

    train(tree, (FREE, MOVES))
    assert events == [("split", "")]
    assert tree.root.test == WALL_AHEAD  # not "a wall at (1, 0)", nor "a wall two ahead"
    assert tree.root.left and tree.root.right
    assert not tree.root.left.totals and not tree.root.right.totals

    train(tree, (BLOCKED, STAYS))
    assert tree.root.left.totals == {STAYS: 1}
    assert tree.predict(BLOCKED, (0,)) == {STAYS: 1}
    assert tree.predict(FREE, (0,)) == tree.seen  # the right leaf has seen nothing yet


def test_the_left_child_has_the_new_variables_and_the_right_child_its_parents():
    root = Node(("player",))
    root.become_branch(WALL_AHEAD)
    assert root.left and root.left.variables == ("player", "wall")
    assert root.right and root.right.variables == ("player",)


def split_tree(branch_updates: bool = True) -> tuple[ReferenceTree, list[tuple[str, str]]]:
    """A tree with alpha 0.5 (z² = 0.455) that asks for the wall ahead."""
    events: list[tuple[str, str]] = []
    tree = ReferenceTree(
        ["player"],
        alpha=0.5,
        branch_updates=branch_updates,
        on_change=lambda *event: events.append(event),
    )
    train(tree, (FREE, MOVES), (BLOCKED, STAYS), (FREE, MOVES))
    assert events == [("split", "")]
    return tree, events


def test_a_test_that_is_not_surely_better_than_none_any_more_is_given_up():
    tree, events = split_tree()
    train(tree, (BLOCKED, MOVES))
    assert events == [("split", ""), ("return", "")]
    assert tree.root.test is None
    assert tree.root.left is None and tree.root.right is None
    assert tree.root.candidates[WALL_AHEAD].counts == {STAYS: 1, MOVES: 1}


def test_a_surely_better_test_takes_over_and_its_children_start_anew():
    schema = tt.Schema(
        classes={"lamp": ["heat", "light"]}, attributes={"heat": 1, "light": 1}, actions=["go"]
    )

    def lamp(heat: int, light: int) -> Scene:
        return Scene(tt.State(schema, [tt.Object(0, "lamp", heat=heat, light=light)]))

    def cold_or_dark(attribute: str) -> Test:
        return Test("equality", (attribute,), ("lamp",), (0,), (0,))

    events: list[tuple[str, str]] = []
    tree = ReferenceTree(["lamp"], alpha=0.5, on_change=lambda *event: events.append(event))
    train(tree, *[(lamp(0, 0), (0,)), (lamp(1, 1), (1,))] * 10)
    assert tree.root.test == cold_or_dark("heat")  # light is as good, but comes later

    train(tree, (lamp(0, 1), (1,)))
    assert events == [("split", ""), ("change", "")]
    assert tree.root.test == cold_or_dark("light")
    assert tree.root.left and not tree.root.left.totals
    assert tree.root.right and not tree.root.right.totals


def test_without_branch_updates_a_test_stays_and_counts_no_candidates():
    tree, events = split_tree(branch_updates=False)
    train(tree, *[(BLOCKED, MOVES), (FREE, STAYS)] * 3)
    assert [event for event in events if event[1] == ""] == [("split", "")]
    assert tree.root.test == WALL_AHEAD
    assert tree.root.candidates == {}
    assert tree.root.totals.total() == 2 + 6


def test_targets_of_one_transition_are_one_event():
    scene = line(0, 0, 1, 1)
    targets = [((x,), (x // 2,)) for x in range(4)]
    one, other = ReferenceTree(["dot"], alpha=0.5), ReferenceTree(["dot"], alpha=0.5)
    one.observe(scene, targets)
    other.observe(scene, reversed(targets))
    assert one.root.dump() == other.root.dump()
    assert one.root.test is not None
    assert one.root.left and not one.root.left.totals


def test_the_least_often_true_is_evicted_then_the_oldest_then_the_least_preferred():
    tree = ReferenceTree(["dot"], max_candidates=2)
    train(tree, (line(1), (0,)), (line(2), (1,)), (line(3), (0,)), (line(3), (0,)))

    def candidate_counts() -> dict[int, int]:
        return {t.value[0]: c.counts.total() for t, c in tree.root.candidates.items()}

    assert candidate_counts() == {2: 1, 3: 2}
    train(tree, (line(4), (0,)))
    assert candidate_counts() == {3: 2, 4: 1}  # 2 and 4 were true once; 2 is the older one
    train(tree, (line(2), (1,)))
    assert candidate_counts() == {3: 2, 2: 1}  # 4 is older than the new 2, which starts from zero

    tree.observe(line(8, 9), [((0,), (0,)), ((1,), (1,))])
    # All tests about 8 and 9 were true once; "this dot is at 8" is the simplest of them.
    assert set(tree.root.candidates) == {
        Test("equality", ("x",), ("dot",), (0,), (8,)),
        Test("equality", ("x",), ("dot",), (0,), (3,)),
    }


def test_the_current_test_is_never_evicted():
    tree, _ = split_tree()
    tree.max_candidates = 1
    train(tree, (grid((7, 7), (3, 3)), MOVES))
    assert set(tree.root.candidates) == {WALL_AHEAD}


# --- copies, and what explains everything ------------------------------------------


def test_targets_of_one_transition_form_a_pair_at_every_node_they_share():
    tree = ReferenceTree(["dot"], criterion="evidence")
    tree.root.become_branch(Test("equality", ("x",), ("dot",), (0,), (0,)))
    tree.seen.update([(0,), (1,)])
    tree.branch_updates = False
    assert tree.root.left and tree.root.right
    tree.root.left.totals.update([(7,), (8,)])  # so that the root does not rest
    tree.observe(line(0, 0, 0, 1), [((0,), (7,)), ((1,), (7,)), ((2,), (8,)), ((3,), (7,))])
    tree.observe(line(0, 1), [((0,), (7,)), ((1,), (7,))])
    tree.observe(line(1), [((0,), (7,))])
    counts = [(node.totals.total(), node.pairs, node.agreeing) for node in tree.nodes()]
    assert counts == [(7, 6 + 1, 3 + 1), (2 + 4, 3, 1), (3, 0, 0)]


def test_copies_equal_the_design_effect():
    """Of 6 targets, 2 in each of 3 transitions, 4 had one outcome and 2 the other.

    By chance 4/6 · 4/6 + 2/6 · 2/6 = 5/9 of the pairs agree. All do: 1 + 1 · 1. Two in three:
    1 + (2/3 - 5/9) / (4/9) = 5/4.
    """
    agreeing, mixed = Node(("dot",)), Node(("dot",))
    for node in (agreeing, mixed):
        node.totals.update({(0,): 4, (1,): 2})
    for _ in range(2):
        agreeing.add_cluster({(0,): 2})
    agreeing.add_cluster({(1,): 2})
    assert (agreeing.pairs, agreeing.agreeing, agreeing.design_effect()) == (3, 3, 2)
    mixed.add_cluster({(0,): 2})
    mixed.add_cluster({(0,): 2})
    mixed.add_cluster({(0,): 1, (1,): 1})
    assert (mixed.pairs, mixed.agreeing, mixed.design_effect()) == (3, 2, 1)


def test_replayed_transitions_count_pairs_too():
    model = ReferenceModel(TWO_ACTIONS, criterion="evidence", memory=3)
    for outcome in (7, 7, 7, 8):  # the first is forgotten
        model.observe(dots(0, 1), "go", dots(outcome, outcome))
    root = model.tree("dot", "x", "go").root
    assert (root.totals, root.pairs, root.agreeing) == ({(7,): 4, (8,): 2}, 3, 3)
    model.observe(dots(0, 1, 2), "go", dots(7, 8, 8))
    assert (root.totals.total(), root.pairs, root.agreeing) == (9, 6, 4)


def test_everything_is_explained_if_no_leaf_has_seen_two_outcomes():
    root = Node(("player",))
    assert root.explains_everything()
    root.totals.update([STAYS, MOVES])
    assert not root.explains_everything()
    root.become_branch(WALL_AHEAD)
    assert root.left and root.right
    assert root.explains_everything()  # of what came since it asks
    root.left.totals.update([STAYS, STAYS])
    root.right.totals.update([STAYS, MOVES])
    assert not root.explains_everything() and root.left.explains_everything()
    root.right.become_branch(WALL_AHEAD)
    assert root.explains_everything()
    assert root.right.left and root.right.right
    for leaf in (root.left, root.right.left, root.right.right):
        leaf.totals.update([MOVES, STAYS])
        assert not root.explains_everything()
        leaf.totals.clear()


# --- the model ---------------------------------------------------------------------


def test_a_rule_never_seen_predicts_no_change():
    state = tt.State(LINE, [tt.Object(5, "dot", x=3)])
    model = ReferenceModel(LINE)
    assert model.predict(state, "go") == {(5, "x"): {(3,): 1}}
    assert model.support(state, "go") == {(5, "x"): 0}


def test_outcomes_are_differences_or_new_values():
    schema = tt.Schema(
        classes={"dot": ["x", "mood"]},
        attributes={"x": 1, "mood": tt.Attribute(1, outcomes="value")},
        actions=["go"],
    )
    before = tt.State(schema, [tt.Object(5, "dot", x=3, mood=3)])
    later = before.replace(5, x=10, mood=0)
    model = ReferenceModel(schema)
    model.observe(before, "go", before.replace(5, x=4, mood=4))
    assert model.predict(later, "go") == {(5, "x"): {(11,): 1}, (5, "mood"): {(4,): 1}}


@settings(max_examples=20, deadline=None)
@given(schemas(units=True), st.integers(0, 999))
def test_renaming_objects_renames_predictions_and_changes_nothing_else(schema, seed):
    stream = list(transitions(schema, Shape(seed, length=40)))
    rename = dict(zip(range(-9, 99), random.Random(seed).sample(range(1000), 108), strict=True))

    def renamed(state: tt.State) -> tt.State:
        objects = [tt.Object(rename[x.id], x.class_name, **x.values) for x in state]
        return tt.State(schema, objects)

    one, other = (ReferenceModel(schema, alpha=0.5) for _ in range(2))
    for before, action, after in stream:
        one.observe(before, action, after)
        other.observe(renamed(before), action, renamed(after))
    assert {k: one.dump(*k) for k in one.trees} == {k: other.dump(*k) for k in other.trees}
    assert one.events == other.events
    last = stream[-1][2]
    assert other.predict(renamed(last), "go") == {
        (rename[x], m): values for (x, m), values in one.predict(last, "go").items()
    }


# --- memory ------------------------------------------------------------------------


def dots(*positions: int) -> tt.State:
    return tt.State(TWO_ACTIONS, [tt.Object(i, "dot", x=x) for i, x in enumerate(positions)])


TWO_ACTIONS = tt.Schema(
    classes={"dot": ["x"]},
    attributes={"x": tt.Attribute(1, facts=("equality",), outcomes="value")},
    actions=["go", "wait"],
)


def show(model: ReferenceModel, x: int, outcome: int, action: str = "go") -> None:
    model.observe(dots(x), action, dots(outcome))


def test_a_rule_that_begins_to_vary_counts_what_is_kept():
    model = ReferenceModel(TWO_ACTIONS, memory=4)
    for _ in range(5):
        show(model, 0, 7)
        show(model, 0, 9, "wait")
    tree = model.tree("dot", "x", "go")
    assert tree.root.totals == {}

    show(model, 1, 8)
    assert tree.root.totals == {(7,): 1, (8,): 1}  # the last four were go, wait, go, wait
    assert tree.seen == {(7,): 5, (8,): 1}
    assert {candidate.birth for candidate in tree.root.candidates.values()} == {6}

    show(model, 1, 8)
    assert tree.root.totals == {(7,): 1, (8,): 2}
    assert model.tree("dot", "x", "wait").root.totals == {}


def test_new_children_count_what_is_kept_and_the_transition_that_made_them_once():
    model = ReferenceModel(TWO_ACTIONS, alpha=0.5, memory=100)
    tree = model.tree("dot", "x", "go")
    step = 0
    while not model.events:
        show(model, step % 2, 7 + step % 2)
        step += 1
    assert model.events == [("split", ("dot", "x", "go"), "")]
    assert tree.root.left and tree.root.right
    assert tree.root.left.totals + tree.root.right.totals == tree.root.totals
    assert tree.root.totals.total() == step
    assert set(tree.root.left.totals) == {(7,)} and set(tree.root.right.totals) == {(8,)}
    assert tree.root.left.candidates.keys() == {Test("equality", ("x",), ("dot",), (0,), (0,))}


def test_seeded_nodes_decide_in_the_next_transition_of_any_action():
    model = ReferenceModel(TWO_ACTIONS, alpha=0.05, memory=100)
    for x in [0, 1, 0, 2] * 30:
        if not model.events:
            show(model, x, x)
    assert model.events == [("split", ("dot", "x", "go"), "")]
    tree = model.tree("dot", "x", "go")
    assert tree.root.test == Test("equality", ("x",), ("dot",), (0,), (0,))
    assert tree.awaiting_decision == [tree.root.left, tree.root.right]

    show(model, 5, 5, "wait")  # another rule's business
    assert model.events[1:] == [("split", ("dot", "x", "go"), "R")]
    assert tree.root.right and tree.root.right.test
    assert tree.awaiting_decision == [tree.root.right.left, tree.root.right.right]
    assert tree.root.right.totals.total() == sum(tree.root.totals[x,] for x in (1, 2))


# --- evaluation --------------------------------------------------------------------


def paths_of_single_bindings(scene: Scene, node: Node, binding: Binding) -> Iterable[str]:
    """Where each binding goes that is followed by itself, extended one way at a time."""
    if not (node.test and node.left and node.right):
        yield node.path
        return
    extended = extensions(scene, node.test, [binding])
    for each in extended:
        yield from paths_of_single_bindings(scene, node.left, each)
    if not extended:
        yield from paths_of_single_bindings(scene, node.right, binding)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(schemas(units=True), st.integers(0, 2**32))
def test_narrowing_a_set_of_bindings_finds_the_most_left_path_of_single_bindings(schema, seed):
    rng = random.Random(seed)
    shape = Shape(seed, objects=3, values=rng.choice(["bits", "small"]))
    scenes = [Scene(random_state(rng, schema, shape)) for _ in range(8)]
    for class_name in schema.classes:
        tree = random_tree(rng, class_name, scenes, depth=3)
        for scene in scenes:
            for x in scene.of_class(class_name):
                path = tree.route(scene, (x,))[-1][0].path
                assert path == min(paths_of_single_bindings(scene, tree.root, (x,)))
