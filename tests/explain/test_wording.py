"""Tests about given objects in words: positions are worded as in rules."""

from __future__ import annotations

from typing import Any

import pytest

import treethink as tt
from treethink.explain.english.tests import statement, supposition
from treethink.explain.path import Step, follow
from treethink.rules import Node, Test
from treethink.state import Object, State

PLACES = tt.Schema(
    {"player": ["pos"], "door": ["pos", "open"], "key": ["pos"]}, {"pos": 2, "open": 1}, ["go"]
)
BESIDE = State(
    PLACES,
    [
        Object(1, "player", pos=(3, 3)),
        Object(2, "door", pos=(4, 3), open=0),
        Object(3, "key", pos=(4, 3)),
    ],
)
TO_THE_RIGHT = Test("difference", "pos", ("player", "door"), (0, 1), (1, 0), ((1, "door"),))


def steps_of(state: State, *tests: Test) -> tuple[Step, ...]:
    """Return the path through nested tests, each below both answers of the one before."""
    node = Node(("player",), {0: 1})
    for test in reversed(tests):
        node = Node(("player",), {}, test, node, node)
    return follow(node, state, 1)[0]


@pytest.mark.parametrize(
    ("test", "here", "elsewhere"),
    [
        (
            Test("difference", "pos", ("player", "key"), (0, 1), (1, 0), ((1, "key"),)),
            "key 3 is at (4, 3), directly to the right of player 1",
            "no key is at (1, 0), directly to the right of player 1",
        ),
        (
            Test("difference", "pos", ("player", "key"), (0, 1), (0, 0), ((1, "key"),)),
            "no key is at (3, 3), where player 1 is",
            "no key is at (0, 0), where player 1 is",
        ),
        (
            Test("equality", "pos", ("player",), (0,), (3, 3)),
            "player 1 is at (3, 3)",
            "player 1 is at (0, 0), not at (3, 3)",
        ),
        (
            Test("equality", "pos", ("key",), (1,), (4, 3), ((1, "key"),)),
            "key 3 is at (4, 3)",
            "no key is at (4, 3)",
        ),
        (
            Test("equality", "open", ("door",), (1,), 1, ((1, "door"),)),
            "no door has open 1",
            "no door has open 1",
        ),
    ],
)
def test_positions_are_worded_as_in_rules(test: Test, here: str, elsewhere: str) -> None:
    (step,) = steps_of(BESIDE, test)
    assert statement(BESIDE, step) == here
    away = State(PLACES, [Object(1, "player", pos=(0, 0))])
    (step,) = steps_of(away, test)
    assert statement(away, step) == elsewhere


def test_positions_of_two_new_objects_are_worded_as_in_rules() -> None:
    two = Test("difference", "pos", ("door", "key"), (1, 2), (0, -1), ((1, "door"), (2, "key")))
    same = Test("difference", "pos", ("key", "key"), (1, 2), (2, 0), ((1, "key"), (2, "key")))
    doors = [Object(i, "door", pos=(i, i), open=0) for i in (2, 4)]
    keys = [Object(i, "key", pos=(i, 0)) for i in (5, 6)]
    state = State(PLACES, [Object(1, "player", pos=(3, 3)), *doors, *keys])
    (step,) = steps_of(state, two)
    assert statement(state, step) == "no key is directly above a door"
    (step,) = steps_of(state, same)
    assert statement(state, step) == "no key is 2 to the right of another key"
    for holds, start in [(True, "there were a"), (False, "there were no")]:
        text = supposition(state, two, holds, [(1,)], ["player"])
        assert text == f"{start} key directly above a door"
    assert supposition(state, same, True, [(1,)], ["player"]) == (
        "there were a key 2 to the right of another key"
    )


def test_suppositions_about_positions_are_worded_as_in_rules() -> None:
    bound, both = [(1, 2)], ["player", "door"]
    is_there = Test("difference", "pos", ("player", "door"), (0, 1), (1, 0))
    is_here = Test("equality", "pos", ("door",), (1,), (4, 3))
    key = Test("difference", "pos", ("door", "key"), (1, 2), (0, 0), ((2, "key"),))
    a_key = Test("equality", "pos", ("key",), (1,), (4, 3), ((1, "key"),))
    cases: list[tuple[Test, bool, Any, str]] = [
        (TO_THE_RIGHT, True, [(1,)], "there were a door directly to the right of player 1"),
        (TO_THE_RIGHT, False, [(1,)], "there were no door directly to the right of player 1"),
        (is_there, True, bound, "door 2 were directly to the right of player 1"),
        (is_there, False, bound, "door 2 were not directly to the right of player 1"),
        (is_here, True, bound, "door 2 were at (4, 3)"),
        (is_here, False, [(1, None)], "that door were not at (4, 3)"),
        (a_key, True, [(1,)], "there were a key at (4, 3)"),
        (key, True, [(1, None)], "there were a key where that door is"),
        (key, False, [(1, 2)], "there were no key where door 2 is"),
    ]
    for test, holds, bindings, text in cases:
        assert supposition(BESIDE, test, holds, bindings, both[: len(bindings[0])]) == text
