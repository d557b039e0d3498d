"""Order and thresholds: found by a second look at what is kept, and learned for good."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import treethink as tt
from halls import hall
from treethink.rules import Rule, Test

KINDS = ["equality", "difference", "order", "threshold"]
Transition = tuple[tt.State, str, tt.State]


def drives(seed: int, least: int = 3) -> Iterator[Transition]:
    """A car that drives while it has more fuel than `least`."""
    rng = random.Random(seed)
    number = tt.Number(facts=KINDS)
    schema = tt.Schema({"car": ["pos", "fuel"]}, {"pos": number, "fuel": number}, ["go", "wait"])
    while True:
        car = tt.Object(1, "car", pos=rng.randrange(20), fuel=rng.randrange(12))
        state, action = tt.State(schema, [car]), rng.choice(schema.actions)
        moves = action == "go" and car.fuel > least
        after = state.replace(1, pos=car.pos + 1, fuel=car.fuel - 1) if moves else state
        yield state, action, after


def duels(seed: int) -> Iterator[Transition]:
    """Two cards are shown; the table says whether the left one has the higher rank."""
    rng = random.Random(seed)
    schema = tt.Schema(
        {"left": ["rank"], "right": ["rank"], "table": ["won"]},
        {"rank": tt.Number(facts=KINDS), "won": tt.Flag()},
        ["show"],
    )
    while True:
        left, right = rng.randrange(13), rng.randrange(13)
        state = tt.State(
            schema,
            [
                tt.Object(1, "left", rank=left),
                tt.Object(2, "right", rank=right),
                tt.Object(3, "table", won=False),
            ],
        )
        yield state, "show", state.replace(3, won=left > right)


def learned(stream: Iterator[Transition], n: int, **settings: object) -> tt.TreeThink:
    first = next(stream)
    model = tt.TreeThink(first[0].schema, **settings)  # type: ignore[arg-type]
    model.observe(*first)
    model.observe_many(next(stream) for _ in range(n - 1))
    return model


def asked_by(rule: Rule) -> list[Test]:
    return [node.test for node in rule.root.walk() if node.test]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("least", [2, 4, 9])
def test_a_threshold_is_one_test(seed: int, least: int) -> None:
    model = learned(drives(seed, least), 500)
    for attribute in ("pos", "fuel"):
        tests = asked_by(model.rules["car", attribute, "go"])
        assert [test.formula for test in tests] == [f"X0[fuel] <= {least}"]
    stream = drives(seed + 100, least)
    for _ in range(200):
        before, action, after = next(stream)
        assert model.predict(before, action).mode() == after


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_two_objects_is_one_test(seed: int) -> None:
    model = learned(duels(seed), 400)
    tests = asked_by(model.rules["table", "won", "show"])
    assert [test.kind for test in tests] == ["order"]
    stream = duels(seed + 100)
    for _ in range(200):
        before, action, after = next(stream)
        assert model.predict(before, action).mode() == after


@pytest.mark.parametrize("seed", range(3))
def test_the_edges_of_a_hall_without_walls_are_components(seed: int) -> None:
    model = learned(hall(seed), 3_000)
    tests = asked_by(model.rules["robot", "pos", "go"])
    assert {test.component for test in tests} >= {0, 1}
    assert len(tests) <= 8  # not cell by cell: there are 200 cells at the edges
    stream = hall(seed + 100)
    for _ in range(1_000):
        before, action, after = next(stream)
        assert model.predict(before, action).mode() == after


def test_where_walls_explain_as_much_a_rule_asks_for_no_component() -> None:
    world = tt.make("walls", wall_percent=0)  # a border only: an edge is as good, but no larger one
    for seed in range(3):
        model = tt.TreeThink(world.schema)
        model.observe_many(tt.transitions(world, steps=2_000, seed=seed))
        tests = [test for rule in model.rules.values() for test in asked_by(rule)]
        assert {test.kind for test in tests} == {"difference"}


@pytest.mark.parametrize("stream", [drives, duels, hall])
def test_a_model_with_such_tests_is_saved_and_goes_on_alike(stream) -> None:
    transitions = stream(0)
    model = learned(transitions, 300)
    loaded = tt.TreeThink.from_bytes(model.to_bytes())
    assert loaded.to_bytes() == model.to_bytes()
    for _ in range(100):
        before, action, after = next(transitions)
        model.observe(before, action, after)
        loaded.observe(before, action, after)
    assert loaded.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("settings", [{"memory": 0}, {"branch_updates": False}])
def test_without_anything_to_look_at_no_such_test_is_found(settings) -> None:
    model = learned(drives(0), 500, **settings)
    kinds = {test.kind for rule in model.rules.values() for test in asked_by(rule)}
    assert kinds == {"equality"}


def test_all_ways_to_predict_agree() -> None:
    for stream, n in ((drives(0), 400), (duels(0), 400), (hall(0), 3_000)):
        model = learned(stream, n)
        for _ in range(50):
            before, action, after = next(stream)
            for facts in ("demand", "full"):
                for bindings in ("first", "all"):
                    answer = model.predict(before, action, facts=facts, bindings=bindings)
                    assert answer.mode() == after
