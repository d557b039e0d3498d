"""Something of whatever class: where there are such facts, and how soon they are learned."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest

import treethink as tt
from treethink.errors import RuleError, SchemaError

KINDS = ["equality", "difference", "something"]
OBSTACLES = ["wall", "rock", "tree", "door", "ball", "box"]
MOVES = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}


def schema_of(obstacles: list[str], facts: list[str], **more: Any) -> tt.Schema:
    classes = {**{name: ["pos"] for name in obstacles}, "player": ["pos", *more]}
    return tt.Schema(classes, {"pos": tt.Position(facts=facts), **more}, list(MOVES))


def walks(schema: tt.Schema, seed: int) -> Iterator[tuple[tt.State, str, tt.State]]:
    """A player among obstacles of all classes, all of which are in the way."""
    rng = np.random.default_rng(seed)
    cells = [(x, y) for x in range(7) for y in range(7)]
    while True:
        order = [cells[i] for i in rng.permutation(len(cells)).tolist()]
        names = [OBSTACLES[int(rng.integers(6))] for _ in range(20)]
        things = [
            tt.Object(i, name, pos=cell)
            for i, (name, cell) in enumerate(zip(names, order, strict=False))
        ]
        state = tt.State(schema, [*things, tt.Object(50, "player", pos=order[20])])
        for _ in range(20):
            action = list(MOVES)[int(rng.integers(4))]
            (x, y), (dx, dy) = state.value(50, "pos"), MOVES[action]
            blocked = (x + dx, y + dy) in order[:20]
            after = state if blocked else state.replace(50, pos=(x + dx, y + dy))
            yield state, action, after
            state = after


def last_error(facts: list[str], seed: int) -> int:
    schema, last = schema_of(OBSTACLES, facts), 0
    model = tt.TreeThink(schema)
    for step, (before, action, after) in enumerate(islice(walks(schema, seed), 1_500)):
        if tt.error(model.predict(before, action), after) > 1e-9:
            last = step
        model.observe(before, action, after)
    return last


@pytest.mark.parametrize("seed", range(3))
def test_one_test_stands_for_six_kinds_of_obstacle(seed: int) -> None:
    with_something = last_error(KINDS, seed)
    assert with_something < 400
    assert 2 * with_something < last_error(KINDS[:2], seed)


def test_nobody_asks_for_something_who_does_not_name_it() -> None:
    given = [tt.Position(), tt.Attribute(2), tt.Attribute(1), tt.Number(), tt.Flag()]
    assert not any("something" in each.facts for each in given)
    assert tt.Number(facts=KINDS).facts == tuple(KINDS)
    for symbols in (tt.Flag, partial(tt.Attribute, names=["red", "blue"])):
        with pytest.raises((SchemaError, TypeError)):
            symbols(facts=["something"])


@pytest.mark.parametrize(("obstacles", "facts"), [(["wall"], KINDS), (OBSTACLES, KINDS[:2])])
def test_there_are_no_such_facts_of_two_classes_or_without_the_name(
    obstacles: list[str], facts: list[str]
) -> None:
    model = tt.TreeThink(schema_of(obstacles, facts))
    rule = "something[pos] - X0[pos] = (1, 0) ?\nyes: +(0, 0) × 3\nno: +(1, 0) × 2"
    with pytest.raises(RuleError, match="something"):
        model.replace(("player", "pos", "right"), rule)


def test_an_object_is_not_something_to_itself_and_equal_ones_are() -> None:
    schema = schema_of(["wall", "rock"], KINDS)
    model = tt.TreeThink(schema)
    rule = "something[pos] - X0[pos] = (0, 0) ?\nyes: +(0, 0) × 3\nno: +(1, 0) × 2"
    model.replace(("player", "pos", "right"), rule)
    alone = [tt.Object(1, "player", pos=(1, 1)), tt.Object(2, "wall", pos=(1, 2))]
    for beside, moves in ((alone, True), ([*alone, tt.Object(3, "player", pos=(1, 1))], False)):
        state = tt.State(schema, beside)
        for facts in ("demand", "full"):
            for bindings in ("first", "all"):
                answer = model.predict(state, "right", facts=facts, bindings=bindings)
                assert (answer.outcomes(1, "pos") == {(2, 1): 1.0}) == moves
