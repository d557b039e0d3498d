"""What would have to be so for a test to give an answer, in words.

    test, answer, bindings, state -> [ supposing ] -> "there were a wall with pos (4, 3)"

An object that is only imagined has a class and no id: it is "that door".
"""

from __future__ import annotations

from collections.abc import Sequence

from treethink.explain.conditions import article
from treethink.explain.routing import Binding, plus, value_of
from treethink.explain.wording import beside, distance, is_bound, listed, name, sought, zero
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
    place = test.variables.index(min(test.variables))
    subject, value = test.variables[-1], str(test.value)
    if test.kind == "difference":
        subject = test.variables[1 - place]
        value = _by_anchor(state, test, bindings, place)
    class_name = test.classes[test.variables.index(subject)]
    ids = dict.fromkeys(binding[subject] for binding in bindings)
    who = listed([_name_or_that(state, each, class_name) for each in ids])
    had = test.attribute if holds else f"another {test.attribute} than"
    return f"{who} had {had} {value}"


def _things(state: State, test: Test, holds: bool, bindings: Sequence[Binding], other: str) -> str:
    """The objects that a test looks for: `a wall with pos (4, 3)`."""

    def one(noun: str) -> str:
        return (article(other + noun) if holds else other + noun).replace("an other", "another")

    if test.kind == "equality":
        return f"{one(test.classes[0])} with {test.attribute} {test.value}"
    if wanted := sought(state, test, bindings):
        values = listed([str(each.value) for each in wanted])
        return f"{one(wanted[0].class_name)} with {test.attribute} {values}"
    if len(test.new) == 1:  # beside one that is only imagined itself
        place = test.variables.index(min(test.variables))
        value = _by_anchor(state, test, bindings, place)
        return f"{one(test.new[0][1])} with {test.attribute} {value}"
    first, second = test.classes
    also = "another" if first == second else one(second) if holds else second
    same = test.value == zero(test.value)
    relation = f"the same {test.attribute}" if same else f"{test.attribute} {test.value} apart"
    return f"{one(first)} and {also} with {relation}"


def _by_anchor(state: State, test: Test, bindings: Sequence[Binding], place: int) -> str:
    """The value that a difference asks for: a number, if the anchor is not imagined."""
    by = distance(test, place)
    ids = dict.fromkeys(binding[test.variables[place]] for binding in bindings)
    if None in ids:
        return beside(f"that {test.classes[place]}", by)
    values = dict.fromkeys(plus(value_of(state, x, test.attribute), by) for x in ids)
    return listed([str(each) for each in values])


def _name_or_that(state: State, object_id: int | None, class_name: str) -> str:
    return f"that {class_name}" if object_id is None else name(state, object_id)
