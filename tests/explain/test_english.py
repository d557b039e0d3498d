"""Rules in English mean the same as their trees, and their wording is unambiguous.

The golden files are what people read. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/explain/test_english.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

import reference
import treethink as tt
from golden import check_golden
from models import crowded_room, deep_tree, learned
from plain_english import follow, result
from reference import Scene, extensions
from strategies import Stream, streams
from treethink.errors import UnknownNameError, WrongTypeError
from treethink.explain.english.phrases import (
    Choice,
    Condition,
    Conjunction,
    Leaf,
    Phrase,
    phrase_of,
)
from treethink.explain.english.sentences import texts_of
from treethink.explain.english.tests import conditions
from treethink.explain.english.words import Nouns, article
from treethink.foldt import FOLDT, Facts
from treethink.frames import Outcome
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey, Test, Value, value_of
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

SOME = settings(
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
KINDS = ("equality", "difference", "parity", "distance")


def english(rule: Rule) -> str:
    return rule.to_text("english")


# ---------------------------------------------------- same meaning as the tree


def shares(counts: Mapping[Outcome, int]) -> dict[Outcome, Fraction]:
    return {value: Fraction(n, sum(counts.values())) for value, n in counts.items()}


def counts_by_tree(rule: Rule, scene: Scene, x: int) -> Mapping[Outcome, int]:
    """Return the counts of the leaf that the object reaches in the tree."""
    node = rule.root
    bindings: list[tuple[int, ...]] = [(x,)]
    while node.test is not None:
        assert node.left is not None
        assert node.right is not None
        extended = extensions(scene, as_reference(node.test), bindings)
        node, bindings = (node.left, extended) if extended else (node.right, bindings)
    return rule.seen if node is rule.root else node.counts


def counts_by_phrase(
    phrase: Phrase, scene: Scene, x: int, own: Value | None = None
) -> Mapping[Outcome, int]:
    """Return the counts of the leaf that the object reaches by the phrase, read literally.

    `own` is the value that it has: that of a leaf which says that it does not change.
    """
    bindings = [(x,)]
    while isinstance(phrase, Choice):
        for conjunction in phrase.alternatives:
            if (after := bindings_after(conjunction, scene, bindings)) is not None:
                phrase, bindings = phrase.yes, after
                break
        else:
            phrase = phrase.no
    return phrase.counts if own is None or not phrase.unchanged else {own: 1}


def bindings_after(conjunction: Conjunction, scene: Scene, bindings: list[Any]) -> list[Any] | None:
    """Return the bindings after all conditions, or None if one of them does not hold."""
    for each in conjunction:
        extended = extensions(scene, as_reference(each.test), bindings)
        if bool(extended) != each.holds:
            return None
        bindings = extended or bindings
    return bindings


def as_reference(test: Test) -> reference.Test:
    value = test.value if isinstance(test.value, tuple) else (test.value,)
    attributes = tuple(attribute for _, attribute in test.terms)
    return reference.Test(test.kind, attributes, test.classes, test.variables, value)


@SOME
@given(streams(criteria=("evidence", "wilson"), memories=("none", "long"), units=True))
def test_a_phrase_and_its_tree_lead_to_the_same_counts(stream: Stream):
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    scenes = [Scene(before) for before, _, _ in stream.transitions[:60:10]]
    for (class_name, attribute, _), rule in model.rules.varying().items():
        phrase = phrase_of(rule)
        for scene in scenes:
            for x in scene.of_class(class_name):
                own = value_of(scene.values[x][attribute])
                counts = counts_by_phrase(phrase, scene, x, own)
                assert shares(counts) == shares(counts_by_tree(rule, scene, x))


@SOME
@given(streams(KINDS, criteria=("evidence",), memories=("none", "long"), units=True))
def test_every_rule_has_an_english_text_without_variables(stream: Stream):
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    for (_, _, action), rule in model.rules.items():
        text = english(rule)
        first, *rest = text.splitlines()
        assert first.startswith(f"When `{action}` is chosen")
        assert first.endswith(":" if rest else ".")
        assert all(re.match(r"( {2})*- [A-Z].*[.:]$", line) for line in rest)
        assert not re.search(r"X\d|∃", text)
        assert english(rule) == text


def phrases_of_one_choice() -> dict[str, Phrase]:
    rules = {world: learned(world, steps=3000).rules for world in ("coins", "gates")}
    return {
        "and": phrase_of(rules["coins"]["coin", "used", "left"]),
        "or": phrase_of(rules["gates"]["guard", "pos", "guard-up"]),
        "neither": phrase_of(rules["gates"]["player", "pos", "jump-up"]),
    }


def test_nested_tests_with_one_outcome_become_one_choice():
    phrases = phrases_of_one_choice()
    sizes = {}
    for name, phrase in phrases.items():
        assert isinstance(phrase, Choice), name
        assert isinstance(phrase.yes, Leaf), name
        sizes[name] = [[condition.holds for condition in each] for each in phrase.alternatives]
    assert sizes == {
        "and": [[True, True]],
        "or": [[True], [True]],
        "neither": [[True, False, False]],
    }


def test_random_outcomes_are_never_merged():
    phrase = phrase_of(crowded_room())
    assert isinstance(phrase, Choice)
    assert isinstance(phrase.yes, Choice)
    assert [len(each) for each in phrase.alternatives] == [1]


STEPS = {
    "maze": 3000,
    "coins": 5000,
    "doors": 5000,
    "switches": 5000,
    "gates": 5000,
    "lights": 2000,
}


@pytest.mark.parametrize("name", [*STEPS, "keys"])
def test_a_reader_of_the_english_text_predicts_what_the_model_does(name: str):
    model = learned(name, STEPS.get(name, 20_000))
    for key, rule in model.rules.varying().items():
        text = english(rule)
        if "% of cases" not in text and "never seen" not in text:
            check_reader(model, make(name), key, text)


def check_reader(model: TreeThink, world: World, key: RuleKey, text: str) -> None:
    class_name, attribute, action = key
    for before, _, _ in transitions(world, steps=100, seed=7):
        prediction = model.predict(before, action)
        for each in before.of_class(class_name):
            after = result(follow(text, before, each), each.values[attribute])
            assert {after: 1.0} == prediction.outcomes(each.id, attribute), text


# ---------------------------------------------------- wording is unambiguous


def many_conditions() -> list[Condition]:
    """Return conditions of every kind about a bound key and a bound door."""
    known = ("key", "door")
    tests = []
    for attribute, value in product(["status", "pos", "hat"], range(-2, 3)):
        vector: Value = value if attribute == "status" else (value, abs(value) - 1)
        slots: tuple[int, ...]
        classes: tuple[str, ...]
        for slots, classes, new in [
            ((0,), ("key",), ()),
            ((1,), ("door",), ()),
            ((2,), ("key",), ((2, "key"),)),
        ]:
            tests.append(Test("equality", attribute, classes, slots, vector, new))
        for slots, classes, new in [
            ((0, 1), ("key", "door"), ()),
            ((0, 2), ("key", "key"), ((2, "key"),)),
            ((2, 1), ("key", "door"), ((2, "key"),)),
            ((2, 3), ("key", "wall"), ((2, "key"), (3, "wall"))),
        ]:
            tests.append(Test("difference", attribute, classes, slots, vector, new))
    return [Condition(test, known, holds) for test in tests for holds in (True, False)]


def test_different_conditions_have_different_texts():
    nouns = Nouns(frozenset(), given=1)
    golden_texts = [conditions(((each,),), nouns) for each in many_conditions()]
    assert len(set(golden_texts)) == len(golden_texts)


def difference(value: Value, attribute: str = "pos", **changes: Any) -> Test:
    plain = {"classes": ("player", "wall"), "variables": (0, 1), "new": ((1, "wall"),)}
    return Test("difference", attribute, value=value, **(plain | changes))


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (difference((1, 0)), "a wall is directly to the right of it"),
        (difference((-3, 0)), "a wall is 3 to the left of it"),
        (difference((0, -1)), "a wall is directly above it"),
        (difference((0, 2)), "a wall is 2 below it"),
        (difference((2, -1)), "a wall is 2 right and 1 up from it"),
        (difference((0, 0)), "a wall is where it is"),
        (difference((1, 0), new=()), "that wall is directly to the right of it"),
        # The wall is placed relative to the only player, so the direction is reversed.
        (
            difference((1, 0), variables=(2, 1), new=((1, "wall"), (2, "player"))),
            "a wall is directly to the right of the player",
        ),
        (
            difference(
                (1, 0),
                classes=("wall", "player"),
                variables=(1, 2),
                new=((1, "wall"), (2, "player")),
            ),
            "a wall is directly to the left of the player",
        ),
        (difference((1, 0), "table"), "a wall's `table` is its own plus (1, 0)"),
        (difference((0, 0), "table"), "a wall has the same `table` as it"),
        (difference(0, "color"), "a wall has the same `color` as it"),
        (difference(-2, "color"), "a wall's `color` is 2 less than its own"),
        (Test("equality", "pos", ("player",), (0,), (3, 4)), "it is at (3, 4)"),
        (Test("equality", "on", ("lamp",), (1,), 0, ((1, "lamp"),)), "a lamp's `on` is 0"),
        (Test("parity", "n", ("lamp",), (0,), 1), "its `n` mod 2 = 1 holds"),
        (
            Test("parity", "n", ("lamp",), (1,), 0, ((1, "lamp"),)),
            "a lamp's `n` mod 2 = 0 holds",
        ),
        (
            Test("distance", "n", ("lamp", "lamp"), (0, 1), 3, ((1, "lamp"),)),
            "|a lamp's `n` - its `n`| = 3 holds",
        ),
    ],
)
def test_the_wording_of_a_test(test, text):
    known = ("game" if len(test.new) == 2 else "player", "wall")[: 1 if test.new else 2]
    nouns = Nouns(frozenset({"player"}), given=1)
    assert conditions(((Condition(test, known),),), nouns) == text


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (difference((1, 0)), "no wall is directly to the right of it"),
        (difference((1, 0), new=()), "that wall is not directly to the right of it"),
        (difference(0, "color", new=()), "that wall does not have the same `color` as it"),
        (difference(0, "color"), "no wall has the same `color` as it"),
        (Test("equality", "on", ("wall",), (1,), 0), "that wall's `on` is not 0"),
        # Kinds of facts that are added, such as those of these tests, have no words of their own.
        (Test("parity", "n", ("wall",), (0,), 1), "its `n` mod 2 = 1 does not hold"),
        (
            Test("parity", "n", ("wall",), (1,), 1, ((1, "wall"),)),
            "a wall's `n` mod 2 = 1 holds for none",
        ),
        (
            Test("distance", "n", ("gate", "gate"), (1, 2), 1, ((1, "gate"), (2, "gate"))),
            "|another gate's `n` - a gate's `n`| = 1 holds for none",
        ),
    ],
)
def test_the_wording_of_a_test_that_fails(test, text):
    known = ("player", "wall")[: 1 if test.new else 2]
    condition = Condition(test, known, holds=False)
    assert conditions(((condition,),), Nouns(frozenset(), given=1)) == text


def test_conditions_that_share_a_predicate_are_merged():
    wall, gate = (
        Condition(difference((0, 1), classes=("player", name), new=((1, name),)), ("player",))
        for name in ("wall", "gate")
    )
    nouns = Nouns(frozenset(), given=1)
    assert conditions(((wall,), (gate,)), nouns) == "a wall or a gate is directly below it"
    negated = tuple(Condition(each.test, each.known, holds=False) for each in (wall, gate))
    assert conditions((negated,), nouns) == "no wall and no gate is directly below it"
    # A positive conjunction repeats the predicate, which avoids a plural verb.
    both = "a wall is directly below it and a gate is directly below it"
    assert conditions(((wall, gate),), nouns) == both


# ---------------------------------------------------- wording of rules


def golden_texts() -> dict[str, str]:
    """Return the expected contents of the golden files, by name."""
    steps = {"maze": 5000, "doors": 5000, "fish": 5000, "lights": 2000}
    texts_by_name = {
        world: "\n\n".join(english(rule) for rule in learned(world, n).rules.varying().values())
        for world, n in steps.items()
    }
    texts_by_name["crowded_room"] = english(crowded_room())
    return texts_by_name


def test_english_rules_match_the_golden_files():
    for name, text in golden_texts().items():
        check_golden(f"english_{name}.txt", text + "\n")


def test_the_rule_of_moving_right_in_the_maze():
    assert english(learned("maze", 2000).rules["player", "pos", "right"]) == (
        "When `right` is pressed, the player moves 1 right, "
        "unless a wall is directly to the right of it."
    )


@pytest.mark.parametrize(
    ("action", "verb"),
    [
        *((name, "pressed") for name in ("left", "Up", "jump-up", "guard_left")),
        *((name, "chosen") for name in ("step", "south", "change-color", "pickup", "stay", "-")),
        *((name, "chosen") for name in ("pick-up", "wake_up", "Sit Down", "guard pick-up")),
        *((name, "chosen") for name in ("drop-off", "turn-off", "shut-down")),
        *((name, "pressed") for name in ("move-up", "turn-down-right", "go up", "pick-right")),
    ],
)
def test_directions_are_pressed_and_other_actions_are_chosen(action: str, verb: str):
    schema = Schema({"lamp": ["on"]}, {"on": 1}, [action])
    rule = TreeThink(schema).rules["lamp", "on", action]
    assert english(rule).startswith(f"When `{action}` is {verb}, ")


@pytest.mark.parametrize(
    ("an", "names"),
    [
        (True, "apple egg island orange umbrella hour hourglass honest-man heir heirloom F"),
        (
            True,
            "uninvited unimportant unidentified-object NPC x under usher ultra udder uzi AI ice",
        ),
        (False, "wall unit user unicorn universe usual-one utility euro one hero house home horse"),
        (True, "8-ball 80s-shirt 11 18th-hole 11-door URN UP UNDER"),
        (False, "UFO USB-stick UI 7-up 1st 1-door 110 181 100"),
        (False, "uranium ukulele ubiquitous b U once Unit yard honk heist European"),
    ],
)
def test_articles_follow_the_sound(an: bool, names: str):
    for name in names.split():
        assert article(name) == f"{'an' if an else 'a'} {name}"


def test_a_constant_rule_is_one_sentence():
    rules = learned("maze", 200).rules
    assert english(rules["wall", "pos", "up"]) == "When `up` is pressed, a wall does not move."
    assert (
        english(rules["player", "pos", "stay"])
        == "When `stay` is chosen, the player does not move."
    )


def test_a_rule_that_was_never_seen_says_so():
    rule = TreeThink(make("walls").schema).rules["player", "pos", "up"]
    assert english(rule) == "When `up` is pressed, what happens was never seen."


def test_the_definite_article_is_used_while_a_class_has_a_single_object():
    world = make("fish")
    model = TreeThink(world.schema)
    rules = model.rules
    model.observe_many(transitions(world, steps=3, seed=0))
    assert english(rules["fish", "pos", "step"]).startswith("When `step` is chosen, the fish ")
    model.observe_many(transitions(make("fish", fish=2), steps=1, seed=0))
    assert "for each fish" in english(train_further(model, world).rules["fish", "pos", "step"])
    assert rules["fish", "pos", "step"].single == frozenset()


def train_further(model: TreeThink, world: World) -> TreeThink:
    model.observe_many(transitions(world, steps=2000, seed=1))
    return model


def model_of_a_guest() -> TreeThink:
    """Return a model of a guest: positions and moods are learned as values, sizes as vectors."""
    schema = Schema(
        {"guest": ["pos", "mood", "size"]},
        {
            "pos": Attribute(2, outcomes="value"),
            "mood": Attribute(1, outcomes="value"),
            "size": Attribute(3),
        },
        ["ring"],
    )
    model = TreeThink(schema)
    before = State(schema, [Object(1, "guest", pos=(0, 0), mood=5, size=(1, 1, 1))])
    model.observe(before, "ring", before.replace(1, pos=(7, 8), mood=2, size=(1, 2, 0)))
    return model


STAYING = """
X0[mode] = 0 ?
├─ yes: = 0
└─ no:  X0[mode] = 1 ?
   ├─ yes: = 1
   └─ no:  X0[on] = 1 ?
      ├─ yes: = 0
      └─ no:  = 2
"""


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (
            tt.Category(["low", "middle", "high"]),
            [
                "When `press` is chosen, a lamp's `mode` becomes low if",
                "; otherwise it does not change.",
            ],
        ),
        (
            Attribute(1, outcomes="value"),
            ["If its `mode` is 0, or its `mode` is 1, its `mode` does not change.", "becomes 2."],
        ),
    ],
    ids=["names of all values", "any numbers"],
)
def test_what_stays_as_it_is_is_said_once(mode: Attribute, text: list[str]):
    model = TreeThink(Schema({"lamp": ["mode", "on"]}, {"mode": mode, "on": 1}, ["press"]))
    values: list[Any] = list(mode.names or range(3))
    named = STAYING.replace("[mode] = 0", f"[mode] = {values[0]}").replace(
        ": = 0", f": = {values[0]}"
    )
    named = named.replace("[mode] = 1", f"[mode] = {values[1]}").replace(
        "yes: = 1", f"yes: = {values[1]}"
    )
    model.replace("lamp.mode.press", named.replace("= 2", f"= {values[2]}"))
    said = english(model.rules["lamp.mode.press"])
    assert all(each in said for each in text), said
    model.replace("lamp.mode.press", {values[2]: 1}, "RRL")
    said = english(model.rules["lamp.mode.press"])
    if mode.names:  # whatever it is, it stays
        assert said == "When `press` is chosen, a lamp's `mode` does not change."
    else:
        assert said.count("does not change") == 1


CHARGED = """
X0[on] = 1 ?
├─ yes: X0[mode] = 9 ?
│  ├─ yes: stays
│  └─ no:  = 9
└─ no:  stays
"""
TWICE = """
X0[on] = 0 ?
├─ yes: X0[mode] = 1 ?
│  ├─ yes: = 5
│  └─ no:  X0[mode] = 2 ?
│     ├─ yes: = 6
│     └─ no:  stays
└─ no:  stays
"""


def lamps(*rules: str) -> TreeThink:
    """Return a model with one action for each rule of a lamp's mode."""
    attributes = {"mode": Attribute(1, outcomes="value"), "on": Attribute(1)}
    actions = [f"a{k}" for k in range(len(rules))]
    model = TreeThink(Schema({"lamp": ["mode", "on"]}, attributes, actions))
    for action, rule in zip(actions, rules, strict=True):
        model.replace(f"lamp.mode.{action}", rule)
    return model


def test_a_condition_that_makes_no_difference_is_left_out():
    said = english(lamps(CHARGED).rules["lamp.mode.a0"])
    assert said == (
        "When `a0` is chosen, a lamp's `mode` becomes 9 if its `on` is 1; otherwise it does not"
        " change."
    )


def test_what_ends_two_lists_is_told_once():
    said = english(lamps(TWICE).rules["lamp.mode.a0"])
    assert said.splitlines() == [
        "When `a0` is chosen, for each lamp:",
        "- If its `on` is 0:",
        "  - If its `mode` is 1, its `mode` becomes 5.",
        "  - Otherwise, if its `mode` is 2, its `mode` becomes 6.",
        "- In all other cases, its `mode` does not change.",
    ]


def test_actions_with_one_rule_are_told_together():
    rules = lamps(CHARGED, TWICE, CHARGED, "= 9").rules
    told = texts_of(rules.below("lamp.mode"))
    assert [[key[2] for key in keys] for keys, _ in told] == [["a0", "a2"], ["a1"], ["a3"]]
    assert told[0][1].startswith("When `a0` or `a2` is chosen, a lamp's `mode` becomes 9 if")
    for keys, text in told[1:]:
        assert text == english(rules[keys[0]])


def test_the_wording_of_values_and_vectors():
    rules = model_of_a_guest().rules
    assert [
        english(rules["guest", attribute, "ring"]) for attribute in ("pos", "mood", "size")
    ] == [
        "When `ring` is chosen, the guest goes to (7, 8).",
        "When `ring` is chosen, the guest's `mood` becomes 2.",
        "When `ring` is chosen, the guest's `size` changes by (0, 1, -1).",
    ]


def test_a_leaf_with_many_outcomes_lists_the_likeliest():
    rule = Rule("tree", ("die",), 60, {(n,): 20 - n for n in range(6)}, [])
    assert english(rule) == (
        "For the die, the outcome is 0 in 19% of cases, is 1 in 18%, is 2 in 17%, is 3 in 16% "
        "and has 2 other outcomes in 30% (of 105 observations)."
    )


def test_a_standalone_tree_is_worded_in_terms_of_its_arguments():
    schema = Schema({"person": ["seat"]}, {"seat": 1}, [])
    tree = FOLDT(arg_classes=["person", "person"])
    for one, other in 10 * [(0, 1), (1, 2), (4, 4), (2, 2), (7, 3)]:
        state = State(schema, [Object(1, "person", seat=one), Object(2, "person", seat=other)])
        tree.observe(Facts(state), [1, 2], "fight" if one == other else "peace")
    assert tree.rule.to_text("english") == (
        "For a person and a person, the outcome is fight if the second person has the same `seat` "
        "as the first person; otherwise it is peace."
    )


def test_trees_of_any_depth_have_an_english_text():
    text = english(deep_tree(60).rule)
    assert len(text.splitlines()) == 62
    nodes: list[Any] = []
    for n in range(1200):  # each is the yes child of the one before
        nodes.append((n + 1, 2401 - n - 1, ("dot",), {}, ("equality", "x", ("dot",), (0,), (n,))))
    nodes += [(None, None, ("dot",), {(n,): 1}, None) for n in range(1201)]
    assert len(english(Rule("tree", ("dot",), 1, {(0,): 1}, nodes)).splitlines()) > 1200


# ---------------------------------------------------- styles


def test_the_default_style_is_the_formula():
    rule = learned("walls", 500).rules["player", "pos", "up"]
    assert rule.to_text() == rule.to_text("formula") == rule.to_text(style="formula") == str(rule)


def test_code_is_a_function_that_runs_on_its_own():
    model, world = learned("walls", 500), make("walls")
    names: dict[str, Any] = {}
    exec(model.rules["player", "pos", "up"].to_text("code"), names)
    for before, _, _ in transitions(world, steps=50, seed=3):
        (player,) = before.of_class("player")
        outcomes = names["player_pos_when_up"](before.to_dict(), player.id)
        assert outcomes == model.predict(before, "up").outcomes(player.id, "pos")


def test_an_unknown_style_is_refused_with_a_suggestion():
    rule = TreeThink(make("walls").schema).rules["player", "pos", "up"]
    with pytest.raises(UnknownNameError, match=r"unknown style 'English'.*Did you mean 'english'"):
        rule.to_text("English")
    with pytest.raises(WrongTypeError, match="style must be one of formula, english, code, got 3"):
        rule.to_text(3)  # type: ignore[arg-type]
