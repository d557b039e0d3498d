"""Attributes of one unit are compared: what `like` makes learnable, and how it is told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

import treethink as tt
from treethink.editing.implication import Knowledge
from treethink.explain.novelty import novelty_text
from treethink.rules import Test

Transition = tuple[tt.State, str, tt.State]
FLOORS = 10


def lift_schema(like: str | None = "floor") -> tt.Schema:
    return tt.Schema(
        {"lift": ["floor", "dest", "open"]},
        {"floor": tt.Number(), "dest": tt.Number(like=like), "open": tt.Flag()},
        ["up", "down", "call"],
    )


def rides(schema: tt.Schema, seed: int) -> Iterator[Transition]:
    """A lift that people steer; its door opens where it was called to, and it stays there."""
    rng = random.Random(seed)
    state = tt.State(schema, [tt.Object(0, "lift", floor=0, dest=3, open=0)])
    while True:
        action, lift = rng.choice(schema.actions), state[0]
        if action == "call":
            after = state.replace(0, dest=rng.randrange(FLOORS))
        elif lift.floor == lift.dest:
            after = state.replace(0, open=1)
        else:
            by = 1 if action == "up" else -1
            floor = min(max(lift.floor + by, 0), FLOORS - 1)
            after = state.replace(0, floor=floor, open=0)
        yield state, action, after
        state = after


def last_mistake(schema: tt.Schema, seed: int, steps: int) -> int:
    """The last step whose floor or door was not foretold with certainty; 0 if there is none."""
    model, last = tt.TreeThink(schema), 0
    for step, (before, action, after) in zip(
        range(1, steps + 1), rides(schema, seed), strict=False
    ):
        prediction = model.predict(before, action)
        for attribute in ("floor", "open"):
            wanted = after.value(0, attribute)
            if prediction.outcomes(0, attribute).get(wanted, 0) < 1:
                last = step
        model.observe(before, action, after)
    return last


@pytest.mark.parametrize("seed", range(3))
def test_a_lift_that_knows_its_destination_is_learned_within_a_thousand_steps(seed):
    assert last_mistake(lift_schema(), seed, 3_000) <= 1_000


def test_without_like_it_is_not():
    assert last_mistake(lift_schema(None), 0, 3_000) > 2_900


def hall(outcomes: str = "auto") -> tt.Schema:
    return tt.Schema(
        {"wall": ["pos"], "bot": ["pos", "front"]},
        {"pos": tt.Position(outcomes=outcomes), "front": tt.Position(like="pos")},
        ["go"],
    )


HALL = hall()
HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def halls(seed: int, outcomes: str = "auto") -> Iterator[Transition]:
    """A robot that goes to where its front is, unless a wall is there."""
    rng, schema = random.Random(seed), hall(outcomes)
    cells = [(x, y) for x in range(5) for y in range(5)]
    while True:
        x, y = rng.choice(cells)
        dx, dy = rng.choice(HEADINGS)
        front = (x + dx, y + dy)
        walls = [each for each in rng.sample(cells, 8) if each != (x, y)]
        objects = [tt.Object(i, "wall", pos=each) for i, each in enumerate(walls, 1)]
        before = tt.State(schema, [tt.Object(0, "bot", pos=(x, y), front=front), *objects])
        after = before if front in walls else before.replace(0, pos=front)
        yield before, "go", after


def trained_in_halls(outcomes: str = "auto") -> tt.TreeThink:
    model = tt.TreeThink(hall(outcomes))
    model.observe_many(islice(halls(0, outcomes), 1_500))
    return model


def test_a_front_is_compared_with_the_places_of_walls_and_with_its_own_place():
    model = trained_in_halls("change")
    text = str(model.rules["bot", "pos", "go"])
    assert "∃ X1: wall.  X1[pos] - X0[front] = (0, 0) ?" in text
    assert "X0[front] - X0[pos] = (1, 0) ?" in text
    for before, action, after in islice(halls(1, "change"), 300):
        assert model.predict(before, action).probability(after) == 1
    english = model.rules["bot", "pos", "go"].to_text("english")
    assert "If a wall is where its `front` is, it does not move." in english
    assert "if its `front` is directly to the right of it, it moves 1 right" in english


def test_a_front_is_where_the_bot_goes():
    rule = trained_in_halls().rules["bot", "pos", "go"]
    assert str(rule).splitlines()[1:] == [
        "∃ X1: wall.  X1[pos] - X0[front] = (0, 0) ?",
        "├─ yes: stays × 381",
        "└─ no:  = X0[front] × 1119",
    ]


def test_explanations_name_both_attributes():
    model = trained_in_halls()
    bot, wall = tt.Object(0, "bot", pos=(1, 1), front=(2, 1)), tt.Object(1, "wall", pos=(2, 1))
    blocked = str(model.explain(tt.State(HALL, [bot, wall]), "go", (0, "pos")))
    assert "wall 1 is at (2, 1), where bot 0's front is" in " ".join(blocked.split())
    free = str(model.explain(tt.State(HALL, [bot]), "go", (0, "pos")))
    assert "no wall is at (2, 1), where bot 0's front is" in " ".join(free.split())


def test_the_words_for_numbers_and_categories():
    model = tt.TreeThink(lift_schema())
    model.observe_many(islice(rides(lift_schema(), 0), 1_500))
    rule = model.rules["lift", "open", "up"]
    assert "X0[dest] - X0[floor] = 0 ?" in str(rule)
    assert "If its `dest` equals its `floor`" in rule.to_text("english")
    assert 'if x0["dest"] == x0["floor"]:' in rule.to_text("code")


# ---------------------------------------------------------------------------- which facts


def kinds_of_test(schema: tt.Schema) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Attributes and classes of all candidates of a rule that varies."""
    model = tt.TreeThink(schema, memory=0)
    for number in range(4):
        objects = [
            tt.Object(i, name, **dict.fromkeys(schema.classes[name], i + number % 2))
            for i, name in enumerate(schema.classes)
        ]
        before = tt.State(schema, objects)
        first = next(iter(schema.classes[before[0].class_name]))
        after = before.replace(0, **{first: before.value(0, first) + number % 2})
        model.observe(before, schema.actions[0], after)
    key = (before[0].class_name, first, schema.actions[0])
    tests = model._dump(*key)["candidates"]
    return {(attributes, classes) for kind, attributes, classes, *_ in tests if kind != "equality"}


def test_units_connect_in_any_direction_and_through_others():
    schema = tt.Schema(
        {"a": ["u", "v"], "b": ["w", "x"]},
        {"u": tt.Number(like="v"), "v": tt.Number(like="w"), "w": tt.Number(), "x": tt.Number()},
        ["go"],
    )
    assert [schema.unit(each) for each in "uvwx"] == ["w", "w", "w", "x"]
    found = kinds_of_test(schema)
    assert {(("u", "v"), ("a",)), (("u", "w"), ("a", "b")), (("v", "w"), ("a", "b"))} <= found
    assert not any("x" in attributes and set(attributes) != {"x"} for attributes, _ in found)


def test_only_attributes_that_both_take_part_in_a_kind_of_fact_are_compared():
    attributes = {"u": tt.Attribute(1), "v": tt.Attribute(1, facts=["equality"], like="u")}
    assert kinds_of_test(tt.Schema({"a": ["u", "v"]}, attributes, ["go"])) == set()


def test_values_of_one_unit_that_are_too_far_apart_are_refused_with_both_names():
    model = tt.TreeThink(lift_schema())
    state = tt.State(
        model.schema, [tt.Object(0, "lift", floor=-(2**62), dest=2**62 + 2**61, open=0)]
    )
    with pytest.raises(tt.StateError, match="attributes 'floor' and 'dest', of one unit, have"):
        model.observe(state, "up", state)
    assert model.observations == 0


# ---------------------------------------------------------------------------- editing


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("X0[dest] - X0[floor] = 2", "X0[dest] - X0[floor] = 2"),
        ("X0[floor] - X0[dest] = 2", "X0[dest] - X0[floor] = -2"),
        ("∃ X4: lift. X4[floor] - X0[dest] = 1", "∃ X1: lift.  X1[floor] - X0[dest] = 1"),
        ("∃ X4: lift. X4[dest] - X4[floor] = 1", "∃ X1: lift.  X1[dest] - X1[floor] = 1"),
    ],
)
def test_a_comparison_of_two_attributes_can_be_written_either_way_round(written, read):
    model = tt.TreeThink(lift_schema())
    model.replace("lift.open.up", f"{written} ?\nyes: 1\nno: 0")
    assert str(model.rules["lift", "open", "up"].root.test) == read


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("X0[open] - X0[floor] = 0", "not of one unit; the schema must say that one is like"),
        ("X0[floor] - X0[floor] = 0", "asks about X0 twice"),
        ("X0[dest] - X0[floor] = (0, 0)", "a value of length 1"),
        ("X0[dset] - X0[floor] = 0", "Did you mean 'dest'"),
    ],
)
def test_what_cannot_be_compared_is_refused(test, message):
    model = tt.TreeThink(lift_schema())
    with pytest.raises(tt.TreeThinkError, match=message):
        model.replace("lift.open.up", f"{test} ?\nyes: 1\nno: 0")


def test_implication_knows_that_two_values_determine_their_difference():
    floor, dest = (Test("equality", each, ("lift",), (0,), 4) for each in ("floor", "dest"))
    arrived = Test("difference", "floor", ("lift",), (0,), 0, other="dest")
    assert Knowledge(("lift",)).holding(floor).holding(dest).implies(arrived)
    assert Knowledge(("lift",)).holding(arrived).failing(floor).refutes(dest)


def test_implication_takes_one_variable_for_one_object():
    """No lift has arrived; still, the floor of one may be the destination of another."""
    new = ((1, "lift"),)
    arrived = Test("difference", "floor", ("lift",), (1,), 0, new, "dest")
    known = Knowledge(("shaft",)).failing(arrived)
    both = Knowledge(("shaft", "lift", "lift"))
    assert known.refutes(arrived)
    meeting = Test("difference", "floor", ("lift", "lift"), (1, 2), 0, (*new, (2, "lift")), "dest")
    assert not known.refutes(meeting)
    assert not both.failing(meeting).refutes(arrived)


def test_what_was_never_seen_is_found_where_a_rule_compares_two_attributes_of_an_object() -> None:
    schema = lift_schema()
    model = tt.TreeThink(schema)
    model.observe_many(islice(rides(schema, seed=0), 3_000))
    lift = tt.State(schema, [tt.Object(0, "lift", floor=2, dest=5, open=0)])
    far = lift.replace(0, floor=2, dest=500)
    assert "X0[dest] - X0[floor]" in model.rules["lift.open.up"].to_text()
    for state, novel in ((lift, False), (lift.replace(0, dest=2), False), (far, True)):
        assert model.predict(state, "up").novel(0, "open") == novel
    assert novelty_text(model.predict(far, "up"), 0, "open").endswith(
        "never seen: lift 0, dest - lift 0, floor = 498"
    )
