"""FOLDT: it equals its reference, takes any outcomes, and checks its arguments."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reference import CRITERIA, ReferenceTree, Scene
from strategies import Stream, streams
from treethink.errors import (
    SettingError,
    StateError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.foldt import FOLDT, Facts
from treethink.model import dump_nodes
from treethink.state import Object, Schema, State

thorough = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

STREET = Schema(
    {"player": ["pos"], "wall": ["pos"], "sign": ["text"]}, {"pos": 1, "text": 2}, ["go"]
)


def street(at: int, *walls: int) -> State:
    """A player with id 1 and walls with ids 10, 11, ..."""
    objects = [Object(10 + i, "wall", pos=wall) for i, wall in enumerate(walls)]
    return State(STREET, [Object(1, "player", pos=at), *objects])


def tree_for(*classes: str) -> FOLDT:
    """A tree over objects of these classes, with the paper's criterion."""
    return FOLDT(classes, criterion="wilson", memory=0)


def dump(tree: FOLDT) -> dict[str, Any]:
    """Everything that a tree counted, as its twin says it; outcomes by their numbers."""
    assert tree._tree is not None
    _, outcomes, nodes = tree._tree._tree()
    return {"seen": outcomes, **dump_nodes(nodes, tree._tree._candidates())}


# ---------------------------------------------------- the twin


def arguments_of(scene: Scene, classes: tuple[str, ...], rng: random.Random) -> list[int] | None:
    """Different objects of these classes, or None if there are too few."""
    chosen: list[int] = []
    for name in classes:
        free = [x for x in scene.of_class(name) if x not in chosen]
        if not free:
            return None
        chosen.append(rng.choice(free))
    return chosen


@pytest.mark.slow
@settings(thorough, max_examples=40)
@given(streams(criteria=list(CRITERIA), units=True), st.integers(1, 2))
def test_a_tree_equals_its_slow_twin(stream: Stream, n_arguments: int):
    rng = random.Random(stream.shape.seed)
    classes = tuple(rng.choices(list(stream.schema.classes), k=n_arguments))
    events: list[str] = []
    tree = FOLDT(classes, **stream.settings)
    twin = ReferenceTree(
        classes, **stream.settings, on_change=lambda event, path: events.append(event)
    )
    names: list[str] = []
    for step, (before, action, after) in enumerate(stream.transitions):
        scene = Scene(before)
        arguments = arguments_of(scene, classes, rng)
        if arguments is None:
            continue
        outcome = f"{action} {after.value(arguments[0], stream.schema.classes[classes[0]][0])}"
        if outcome not in names:
            if len(names) == 6:
                continue
            names.append(outcome)
        tree.observe(before, arguments, outcome)
        twin.observe(scene, [(tuple(arguments), (names.index(outcome),))])
        if step % 10 == 0 or step > len(stream.transitions) - 3:
            assert dump(tree) == {"seen": dict(twin.seen), **twin.root.dump()}
            expected = twin.predict(scene, tuple(arguments))
            total = sum(expected.values())
            for mode, bindings in product(["demand", "full"], ["first", "all"]):
                shares = tree.predict(Facts(before, mode), arguments, bindings)
                assert shares == {names[y[0]]: n / total for y, n in expected.items() if y}


def test_streams_for_the_twin_produce_trees():
    """Or the comparison above would mean little."""
    trees = 0

    @settings(thorough, max_examples=20)
    @given(streams(units=True))
    def learn(stream: Stream) -> None:
        nonlocal trees
        name = next(iter(stream.schema.classes))
        tree = FOLDT([name], **stream.settings)
        for before, _, _ in stream.transitions:
            for each in before.of_class(name)[:1]:
                tree.observe(before, [each.id], next(iter(each.values.values())))
        trees += tree.rule.depth > 0

    learn()
    assert trees >= 5


# ---------------------------------------------------- stories


def test_two_given_objects_are_compared():
    tree = tree_for("player", "wall")
    rng = random.Random(0)
    for _ in range(300):
        at, wall = rng.randrange(9), rng.randrange(9)
        tree.observe(street(at, wall), [1, 10], "bump" if wall == at + 1 else "walk")
    assert str(tree.rule).splitlines()[:2] == [
        "tree    X0: player, X1: wall",
        "X1[pos] - X0[pos] = 1 ?",
    ]
    assert tree.predict(street(40, 41), [1, 10]) == {"bump": 1.0}
    assert tree.predict(street(40, 40), [1, 10]) == {"walk": 1.0}


def test_two_given_objects_of_one_class_are_not_confused():
    tree = tree_for("wall", "wall")
    rng = random.Random(0)
    for _ in range(300):
        one, other = rng.randrange(5), rng.randrange(5)
        tree.observe(street(0, one, other), [10, 11], one - other == 2)
    assert tree.predict(street(0, 22, 20), [10, 11]) == {True: 1.0}
    assert tree.predict(street(0, 22, 20), [11, 10]) == {False: 1.0}


@pytest.mark.parametrize(
    "outcomes",
    [("walk", "bump"), (None, ()), ((1, 2), frozenset()), (0.5, float("inf")), (b"", 2**80)],
    ids=repr,
)
def test_outcomes_may_be_anything_hashable(outcomes):
    tree = tree_for("player")
    for at in [0, 1] * 30:
        tree.observe(street(at), [1], outcomes[at])
    assert tree.predict(street(0), [1]) == {outcomes[0]: 1.0}
    assert tree.predict(street(1), [1]) == {outcomes[1]: 1.0}
    assert set(tree.rule.seen) == set(outcomes)
    assert all(str(outcome) in str(tree.rule) for outcome in outcomes)


def test_shares_are_those_of_the_leaf():
    tree = tree_for("player")
    for outcome in "aabac":
        tree.observe(street(0), [1], outcome)
    assert tree.predict(street(0), [1]) == {"a": 0.6, "b": 0.2, "c": 0.2}
    assert tree.rule.seen == Counter("aabac")


def test_facts_of_a_state_can_replace_the_state():
    one, other = tree_for("player"), tree_for("player")
    for at in [0, 1, 2] * 20:
        one.observe(street(at, 2), [1], at == 1)
        other.observe(Facts(street(at, 2), "full"), (1,), at == 1)
    assert dump(one) == dump(other)


def test_without_observations_there_is_no_prediction():
    tree = tree_for("player")
    assert tree.predict(street(0), [1]) == {}
    assert str(tree.rule) == "tree    X0: player\nnot seen yet"
    assert (tree.rule.depth, tree.rule.n_leaves, tree.rule.varies) == (0, 1, False)


def test_predicting_changes_nothing():
    tree = tree_for("player")
    for at in [0, 1, 2] * 20:
        tree.observe(street(at, 2), [1], at == 1)
    dump_before = dump(tree)
    for at in range(5):
        tree.predict(street(at, 2), [1])
    assert dump(tree) == dump_before


# ---------------------------------------------------- refusals


def assert_refused(tree: FOLDT, error: type[TreeThinkError], message: str, *arguments: Any) -> None:
    """Both ways to use the tree refuse, and it is what it was."""
    dump_before = dump(tree) if tree._tree else None
    with pytest.raises(error, match=message):
        tree.observe(*arguments, "outcome")
    with pytest.raises(error, match=message):
        tree.predict(*arguments)
    assert (dump(tree) if tree._tree else None) == dump_before
    assert "outcome" not in tree.rule.seen


@pytest.mark.parametrize("observed", [False, True])
def test_arguments_that_do_not_fit_are_refused(observed):
    tree, state = tree_for("player", "wall"), street(0, 3, 4)
    if observed:
        tree.observe(state, [1, 10], "walk")
        tree.observe(state, [1, 11], "bump")
    for count in ([], [1], [1, 10, 11]):
        message = f"the tree takes 2 objects, got {len(count)}"
        assert_refused(tree, StateError, message, state, count)
    assert_refused(
        tree, StateError, "argument 0 must be of class 'player', object 10", state, [10, 1]
    )
    assert_refused(
        tree, StateError, "argument 1 must be of class 'wall', object 1 is", state, [1, 1]
    )
    assert_refused(tree, StateError, "no object has the id 77", state, [1, 77])
    assert_refused(tree, StateError, "id must be an integer, got '1'", state, ["1", 10])
    assert_refused(tree, StateError, "id must be an integer, got None", state, [None, 10])
    assert_refused(tree, StateError, "within the signed 64-bit", state, [2**70, 10])
    for wrong in (None, 1, 1.5):
        assert_refused(
            tree, WrongTypeError, "args must be a list of object ids, got ", state, wrong
        )


def test_an_object_given_twice_is_refused():
    tree = tree_for("wall", "wall")
    assert_refused(tree, StateError, "object 10 is given twice", street(0, 3, 4), [10, 10])


@pytest.mark.parametrize("facts", [None, 3, "facts", {}, STREET])
def test_what_is_no_state_is_refused(facts):
    assert_refused(
        tree_for("player"), WrongTypeError, "facts must be Facts or a State, got ", facts, [1]
    )
    with pytest.raises(WrongTypeError, match="facts must be of a State, got "):
        Facts(facts)


def test_unknown_ways_to_find_facts_or_bindings_are_refused():
    with pytest.raises(UnknownNameError, match=r"unknown way to find facts 'ful'.*mean 'full'"):
        Facts(street(0), "ful")
    tree = tree_for("player")
    with pytest.raises(UnknownNameError, match=r"unknown way to keep bindings 'al'.*'all'"):
        tree.predict(street(0), [1], bindings="al")


def test_states_of_another_schema_are_refused():
    tree = tree_for("player")
    tree.observe(street(0), [1], "walk")
    other = Schema({"player": ["pos"]}, {"pos": 1}, [])
    assert_refused(
        tree, StateError, "of another schema", State(other, [Object(1, "player", pos=0)]), [1]
    )


def test_a_class_that_the_schema_does_not_have_is_refused_with_the_nearest_name():
    tree = tree_for("plaier")
    assert_refused(tree, UnknownNameError, "unknown class 'plaier'.*mean 'player'", street(0), [1])


@pytest.mark.parametrize("outcome", [[], {}, set(), (1, [2])])
def test_an_outcome_that_cannot_be_hashed_is_refused(outcome):
    tree = tree_for("player")
    with pytest.raises(WrongTypeError, match="an outcome must be hashable, got "):
        tree.observe(street(0), [1], outcome)
    assert tree.predict(street(0), [1]) == {}


@pytest.mark.parametrize("classes", ["player", [], (), None, 3, [None], ["player", 3]])
def test_invalid_lists_of_classes_are_refused(classes):
    with pytest.raises(SettingError, match="arg_classes must be a list of class names, got "):
        FOLDT(classes)


def test_more_arguments_than_a_tree_takes_are_refused():
    walls = street(0, *range(17))
    tree = tree_for(*["wall"] * 17)
    assert_refused(tree, SettingError, "1 to 16 arguments, got 17", walls, range(10, 27))
    most = tree_for(*["wall"] * 16)
    most.observe(walls, range(10, 26), "fine")
    assert most.predict(walls, range(10, 26)) == {"fine": 1.0}


@pytest.mark.parametrize(
    ("setting", "value"),
    [("alpha", 0), ("alpha", None), ("memory", 1), ("max_candidates", 0), ("branch_updates", 1)],
)
def test_a_setting_out_of_its_range_is_refused_when_the_tree_is_made(setting, value):
    with pytest.raises(SettingError, match=f"^{setting} must "):
        FOLDT(["player"], **{setting: value})


def test_an_unknown_criterion_is_refused():
    with pytest.raises(UnknownNameError, match=r"unknown criterion 'wilsom'.*'wilson'"):
        FOLDT(["player"], criterion="wilsom").observe(street(0), [1], 0)


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copied_tree_learns_independently(again):
    """Copied or pickled in the middle, both learn on alike, and neither hears of the other."""
    tree = FOLDT(["player"])
    places = [(here, wall) for here in range(8) for wall in range(8)]

    def teach(*trees):
        for here, wall in places:
            for each in trees:
                each.observe(
                    street(here, wall), [1], ("bump", here) if wall == here + 1 else "walk"
                )

    teach(tree)
    same = again(tree)
    assert str(same.rule) == str(tree.rule)
    teach(tree)
    assert str(same.rule) != str(tree.rule)
    teach(same)
    assert dump(same) == dump(tree)
    assert same.predict(street(2, 3), [1]) == tree.predict(street(2, 3), [1])
    assert again(FOLDT(["player"])).predict(street(0, 1), [1]) == {}


def test_an_observation_that_is_refused_leaves_no_outcome_behind():
    schema = Schema({"lamp": ["on"], "cat": ["on"]}, {"on": 1}, [])
    state = State(schema, [Object(1, "lamp", on=0), Object(2, "cat", on=0)])
    tree = FOLDT(["lamp"], max_outcomes=2)
    for outcome in ("meow", "purr"):
        with pytest.raises(StateError):
            tree.observe(Facts(state), [2], outcome)
    tree.observe(Facts(state), [1], "dark")
    assert tree.predict(Facts(state), [1]) == {"dark": 1.0}
