"""Rules: printed forms, tree walks, and immutable snapshots.

The printed forms are golden files. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/core/test_rules.py
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from models import crowded_room, deep_tree, dot_at, learned
from strategies import Stream, streams
from treethink.errors import UnknownNameError, WrongTypeError
from treethink.model import TreeThink
from treethink.rules import Node, Rule, Test, distribution
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

GOLDEN = Path(__file__).parents[1] / "golden"
MAZE_RULE = ("game", "score", "left")


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Every node with its depth, without recursion."""
    waiting = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        if node.left is not None and node.right is not None:
            waiting += [(node.right, depth + 1), (node.left, depth + 1)]


# ---------------------------------------------------- how they read


def texts() -> dict[str, str]:
    """Return the expected content of the golden files, by name."""
    golden = {
        world: "\n\n".join(str(rule) for rule in learned(world).rules.varying().values())
        for world in ("walls", "maze")
    }
    golden["crowded_room"] = str(crowded_room())
    return golden


def test_learned_rules_read_as_they_should():
    for name, text in texts().items():
        path = GOLDEN / f"rules_{name}.txt"
        if os.environ.get("REWRITE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text + "\n", name


def test_rules_show_tests_of_bound_objects_and_probabilities():
    rule = crowded_room()
    test, below = rule.root.test, rule.root.left
    assert test is not None
    assert below is not None
    assert below.test is not None
    assert test.new == ((1, "person"), (2, "person"))
    assert below.classes == ("lamp", "person", "person")
    assert below.test.variables == (1, 2)
    assert "%)" in str(rule)


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({}, "not seen yet"),
        ({-1: 9}, "-1 × 9"),
        ({(0, 0): 25, (1, 0): 75}, "(1, 0) × 75 (75%), (0, 0) × 25 (25%)"),
        ({0: 1, 1: 999}, "1 × 999 (99.9%), 0 × 1 (0.1%)"),
        ({2: 1, 10: 1}, "10 × 1 (50%), 2 × 1 (50%)"),
        ({"walk": 2, None: 1}, "walk × 2 (67%), None × 1 (33%)"),
    ],
)
def test_a_leaf_reads_as_a_distribution_with_counts(counts, text):
    assert distribution(counts) == text


def test_a_rule_that_never_varied_reads_as_one_leaf():
    model = learned("walls", steps=200)
    rule = model.rules["wall", "pos", "left"]
    n_seen = sum(rule.seen.values())
    assert str(rule) == f"wall.pos when left    X0: wall\nstays × {n_seen}"
    assert (rule.n_leaves, rule.depth, rule.varies) == (1, 0, False)
    assert rule.root.is_leaf
    assert rule.root.counts == rule.seen == {(0, 0): n_seen}


def test_a_rule_that_was_never_seen_says_so():
    rule = TreeThink(make("walls").schema).rules["player", "pos", "up"]
    assert str(rule) == "player.pos when up    X0: player\nnot seen yet"
    assert rule.transitions == 0
    assert rule.root.counts == {}


def test_a_test_is_a_value():
    one, other = (Test("equality", "on", ("lamp",), (0,), 1) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert str(one) == one.formula == "X0[on] = 1"
    assert str(Test("equality", "on", ("lamp",), (1,), 0, new=((1, "lamp"),))) == (
        "∃ X1: lamp.  X1[on] = 0"
    )


# ---------------------------------------------------- how they walk


@settings(
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(streams(units=True))
def test_walking_the_tree_agrees_with_the_text_of_the_rule(stream: Stream):
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    for (class_name, _, _), rule in model.rules.items():
        nodes = list(walk(rule.root))
        leaves = [node for node, _ in nodes if node.is_leaf]
        assert rule.n_leaves == len(leaves)
        assert rule.depth == max(depth for _, depth in nodes)
        assert rule.root.classes == rule.classes == (class_name,)
        assert len(str(rule).splitlines()) == 1 + len(nodes)
        for node, _ in nodes:
            check_node(node)
        assert not Counter(rule.root.counts) - Counter(rule.seen)
        assert rule.varies == (len(rule.seen) > 1)


def check_node(node: Node) -> None:
    assert node.is_leaf == (node.test is None) == (node.left is None) == (node.right is None)
    assert all(count > 0 for count in node.counts.values())
    if node.test is None or node.left is None or node.right is None:
        return
    new = tuple(class_name for _, class_name in node.test.new)
    assert node.left.classes == node.classes + new
    assert node.right.classes == node.classes
    for variable, class_name in zip(node.test.variables, node.test.classes, strict=True):
        assert node.left.classes[variable] == class_name
    # Children count from their birth on, so never more than their parent.
    below = Counter(node.left.counts) + Counter(node.right.counts)
    assert not below - Counter(node.counts)


@pytest.mark.slow
def test_a_tree_two_hundred_deep_is_learned_printed_walked_and_asked():
    tree = deep_tree(200)
    for x in range(201):
        tree.observe(dot_at(x), [1], x)  # the last leaves may still be empty
    rule = tree.rule
    assert (rule.depth, rule.n_leaves) == (200, 201)
    assert len(list(walk(rule.root))) == 401
    assert len(str(rule).splitlines()) == 402
    assert str(rule).splitlines()[-1].endswith("└─ no:  200 × 1")
    for x in range(201):
        for bindings in ("first", "all"):
            assert tree.predict(dot_at(x), [1], bindings)[x] == 1.0
    assert repr(rule) == "<Rule tree: 201 leaves, depth 200>"
    assert repr(rule.root)


# ---------------------------------------------------- the mapping of all rules


def test_rules_are_a_mapping_by_class_attribute_and_action():
    model = learned("maze", steps=1000)
    rules = model.rules
    slots = [("wall", "pos"), ("goal", "pos"), ("player", "pos"), ("game", "score")]
    keys = [(*slot, action) for slot in slots for action in make("maze").actions]
    assert list(rules) == list(rules.keys()) == keys
    assert len(rules) == len(keys) == 20
    assert all(key in rules for key in keys)
    assert [rule.title for rule in rules.values()] == [f"{c}.{m} when {a}" for c, m, a in keys]
    assert isinstance(rules.get(MAZE_RULE), Rule)
    assert repr(rules) == f"<Rules: 20, of which {model.n_varying} vary>"
    assert repr(rules[MAZE_RULE]).startswith("<Rule game.score when left: ")


def test_a_rule_is_found_by_its_name_and_by_its_parts_alike():
    rules = learned("maze", steps=1000).rules
    for key in rules:
        name = ".".join(key)
        assert rules.key_of(name) == rules.key_of(key) == key
        assert name in rules
        assert str(rules[name]) == str(rules[key]) == str(rules.get(name))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gane.score.left", "unknown class 'gane'.*Did you mean 'game'"),
        ("game.scor.left", "unknown attribute 'scor' in class 'game'.*mean 'score'"),
        ("game.score.lefft", "unknown action 'lefft'.*Did you mean 'left'"),
        ("game.score", r"unknown rule 'game\.score' in the model\. Did you mean 'game\.score\."),
        ("", "unknown rule ''"),
        ("game.score.left.left", "unknown rule .*Did you mean 'game.score.left'"),
    ],
)
def test_an_unknown_name_of_a_rule_is_refused_with_the_nearest_one(name, says):
    rules = TreeThink(make("maze").schema).rules
    with pytest.raises(UnknownNameError, match=says):
        rules[name]
    assert name not in rules
    assert rules.get(name, 5) == 5


def test_names_with_dots_find_their_rule_unless_they_fit_several():
    schema = Schema({"a": ["b"], "a.b": ["b"]}, {"b": 1}, ["c", "b.c"])
    rules = TreeThink(schema).rules
    assert rules.key_of("a.b.c") == ("a", "b", "c")
    assert rules.key_of("a.b.b.b.c") == ("a.b", "b", "b.c")
    with pytest.raises(
        WrongTypeError, match=r"fits several rules: .*'a', 'b', 'b\.c'.* and .*'a\.b'"
    ):
        rules["a.b.b.c"]
    assert "a.b.b.c" not in rules


def test_a_count_of_one_is_written_in_the_singular():
    schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    model = TreeThink(schema)
    model.observe(off, "press", on)
    assert repr(model) == "<TreeThink: 1 observation, 0 rules vary>"
    model.observe(on, "press", off)
    assert repr(model) == "<TreeThink: 2 observations, 1 rule varies>"
    assert repr(model.rules) == "<Rules: 1, of which 1 varies>"
    assert repr(model.rules["lamp", "on", "press"]).endswith(": 1 leaf, depth 0>")


def test_changing_lists_rules_that_always_change_something():
    schema = Schema({"lamp": ["on", "hue"]}, {"on": 1, "hue": 1}, ["press", "wait", "end"])
    lamp = State(schema, [Object(0, "lamp", on=0, hue=4)])
    model = TreeThink(schema)
    for step in range(8):
        lit = lamp.replace(0, on=step)
        model.observe(lit, "press", lit.replace(0, on=step + 1), reward=-1.0, terminated=False)
        model.observe(lit, "wait", lit, reward=0.0, terminated=False)
        model.observe(lit, "end", lit, reward=float(step % 2), terminated=True)
    assert [".".join(key) for key in model.rules.changing()] == [
        "transition.reward.press", "transition.reward.end", "transition.terminated.end",
        "lamp.on.press",
    ]  # fmt: skip
    assert [*model.rules.varying()] == [("transition", "reward", "end")]


def test_rules_of_rewards_and_ends_have_short_names():
    schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    lamp = State(schema, [Object(0, "lamp", on=0)])
    model = TreeThink(schema)
    with pytest.raises(UnknownNameError, match=r"unknown rule 'reward\.press'"):
        model.rules["reward.press"]
    model.observe(lamp, "press", lamp, reward=2.0, terminated=False)
    assert str(model.rules["reward.press"]) == str(model.rules["transition.reward.press"])
    assert "terminated.press" in model.rules and "ended.press" not in model.rules
    assert [*model.rules.below("reward")] == [("transition", "reward", "press")]
    assert [*model.rules.below("lamp")] == [("lamp", "on", "press")]
    assert not model.rules.below("press")


def test_an_error_lists_the_nearest_of_many_names():
    known = [f"name{n:02}" for n in range(30)]
    text = str(UnknownNameError("rule", "name7", known, "here"))
    assert text.count("'") == 2 * (1 + 1 + 6) and text.endswith(" and 24 more.")
    assert "'name07'" in text


def test_varying_lists_only_the_rules_that_vary():
    model = learned("maze", steps=1000)
    varying = model.rules.varying()
    assert len(varying) == model.n_varying == 9
    assert all(rule.varies for rule in varying.values())
    assert not any(rule.varies for key, rule in model.rules.items() if key not in varying)
    assert {class_name for class_name, _, _ in varying} == {"player", "game"}


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (("gane", "score", "left"), "unknown class 'gane'.*Did you mean 'game'"),
        (("game", "scor", "left"), "unknown attribute 'scor' in class 'game'.*mean 'score'"),
        (("game", "pos", "left"), "unknown attribute 'pos' in class 'game'"),
        (("game", "score", "lefft"), "unknown action 'lefft'.*Did you mean 'left'"),
    ],
)
def test_an_unknown_rule_is_refused_with_the_nearest_name(key, says):
    rules = TreeThink(make("maze").schema).rules
    with pytest.raises(UnknownNameError, match=says):
        rules[key]
    assert key not in rules
    assert rules.get(key) is None
    assert rules.get(key, 5) == 5


@pytest.mark.parametrize(
    "key",
    [
        None,
        3,
        b"game.score.left",
        (),
        ("game",),
        ("game", "score"),
        (*MAZE_RULE, 1),
        list(MAZE_RULE),
    ],
)
def test_a_key_of_another_shape_is_refused(key):
    rules = TreeThink(make("maze").schema).rules
    with pytest.raises(
        WrongTypeError, match=r"found by \(class, attribute, action\), or by a name .*, got "
    ):
        rules[key]
    assert key not in rules


@pytest.mark.parametrize(
    "key", [(None, "score", "left"), ("game", 3, "left"), ("game", "score", b"left")]
)
def test_a_key_that_does_not_consist_of_names_is_refused(key):
    rules = TreeThink(make("maze").schema).rules
    with pytest.raises(WrongTypeError, match="must be a str, got "):
        rules[key]
    assert key not in rules


# ---------------------------------------------------- snapshots


def test_a_rule_stays_as_it_was_when_its_model_learns_on():
    model = TreeThink(make("maze").schema)
    stream = list(transitions(make("maze"), steps=3000, seed=0))
    model.observe_many(stream[:1000])
    rules = dict(model.rules)
    texts_before = {key: str(rule) for key, rule in rules.items()}
    model.observe_many(stream[1000:])
    assert {key: str(rule) for key, rule in rules.items()} == texts_before
    assert {key: str(rule) for key, rule in model.rules.items()} != texts_before


def test_a_rule_outlives_its_model():
    rule = learned("walls", steps=1000).rules["player", "pos", "up"]
    assert "∃ X1: wall." in str(rule)
    assert rule.root.test is not None


def test_reading_rules_changes_nothing():
    model = learned("maze", steps=500)
    content = model.to_bytes()
    for rule in model.rules.values():
        assert str(rule)
        assert rule.root
    assert model.to_bytes() == content
