"""What would have to be so for a test to give an answer, in words.

    test, answer, bindings, state -> [ supposing ] -> "there were a wall directly above player 50"

An object that is only imagined has a class and no id: it is "that door".
"""

from __future__ import annotations

from collections.abc import Sequence

from treethink.explain.english.ground_tests import (
    another,
    apart,
    beside,
    distance,
    is_bound,
    listed,
    name,
    sought,
)
from treethink.explain.english.nouns import article
from treethink.explain.english.places import is_position
from treethink.explain.path import Binding, value_of
from treethink.explain.vectors import plus
from treethink.rules import Test
from treethink.state import State


def condition(
    state: State, test: Test, holds: bool, bindings: Sequence[Binding], classes: Sequence[str]
) -> str:
    """What would have to be so for the test to answer `holds`; goes after "if".

    `classes` are those of the variables that are bound already.
    """
    if test.new:
        other = "other " if is_bound(test, classes) else ""
        start = "there were" if holds else "there were no"
        return f"{start} {_things(state, test, holds, bindings, other)}"
    subject, value = 0, _value(test, str(test.value))
    if test.kind == "difference":
        anchor = test.variables.index(min(test.variables))
        subject, value = 1 - anchor, _by_anchor(state, test, bindings, anchor)
    ids = dict.fromkeys(binding[test.variables[subject]] for binding in bindings)
    who = listed([_name_or_that(state, each, test.classes[subject]) for each in ids])
    if _is_place(test):
        return f"{who} were {'' if holds else 'not '}{value}"
    had = test.attribute if holds else f"another {test.attribute} than"
    return f"{who} had {had} {value}"


def _things(state: State, test: Test, holds: bool, bindings: Sequence[Binding], other: str) -> str:
    """The objects that a test looks for: `a wall at (4, 3)`."""

    def one(noun: str) -> str:
        return (article(other + noun) if holds else other + noun).replace("an other", "another")

    having = "" if _is_place(test) else f"with {test.attribute} "
    if test.kind == "equality":
        return f"{one(test.classes[0])} {having}{_value(test, str(test.value))}"
    if wanted := sought(state, test, bindings):
        value = _value(test, listed([str(each.value) for each in wanted]))
        if _is_place(test) and len(wanted) == 1:
            value = beside(name(state, wanted[0].anchor), test.attribute, wanted[0].by)
        return f"{one(wanted[0].class_name)} {having}{value}"
    if len(test.new) == 1:  # beside one that is only imagined itself
        anchor = test.variables.index(min(test.variables))
        return f"{one(test.new[0][1])} {having}{_by_anchor(state, test, bindings, anchor)}"
    first, second = test.classes
    if _is_place(test):
        return f"{one(second)} {beside(another(first, second), test.attribute, test.value)}"
    also = "another" if first == second else one(second) if holds else second
    return f"{one(first)} and {also} with {apart(test)}"


def _by_anchor(state: State, test: Test, bindings: Sequence[Binding], anchor: int) -> str:
    """The value that a difference asks for, by the object that it is told by; of many, as it is."""
    by = distance(test, anchor)
    ids = list(dict.fromkeys(binding[test.variables[anchor]] for binding in bindings))
    if None in ids or (_is_place(test) and len(ids) == 1):
        noun = _name_or_that(state, None if None in ids else ids[0], test.classes[anchor])
        return beside(noun, test.attribute, by)
    values = dict.fromkeys(plus(value_of(state, x, test.attribute), by) for x in ids)
    return _value(test, listed([str(each) for each in values]))


def _value(test: Test, values: str) -> str:
    return f"at {values}" if _is_place(test) else values


def _is_place(test: Test) -> bool:
    return is_position(test.attribute, test.value)


def _name_or_that(state: State, object_id: int | None, class_name: str) -> str:
    return f"that {class_name}" if object_id is None else name(state, object_id)
