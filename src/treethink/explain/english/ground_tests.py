"""Tests about given objects, in words: what is so.

    test, bindings, state -> [ wording ] -> "no wall is at (4, 3), directly above player 50"

A variable is told by the object that it stands for. Of many bindings the first is told, and how
many more there are. A difference is told of one of its two objects, by the other one, its anchor.
Places are told as in rules: left, right, above and below (see `places`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treethink.explain.english.nouns import article
from treethink.explain.english.places import is_position, place
from treethink.explain.path import Binding, Step, value_of
from treethink.explain.vectors import is_zero, negative, plus
from treethink.rules import Test, Value
from treethink.state import State

_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Sought:
    """What a test with a new variable looks for: an object of a class, with a value.

    `anchor` is the object by which the value is told, `by` how far it is from that one's.
    """

    class_name: str
    attribute: str
    value: Value
    anchor: int
    by: Value


def sought(state: State, test: Test, bindings: Sequence[Binding]) -> list[Sought]:
    """Each value that would do, once; empty where it cannot be told by another object."""
    found: dict[Value, Sought] = {}
    for binding in bindings if test.kind == "difference" else ():
        which, anchor = _anchor(state, test, binding)
        if anchor is not None:
            by = distance(test, which)
            value = plus(value_of(state, anchor, test.attribute), by)
            class_name = test.classes[1 - which]
            found.setdefault(value, Sought(class_name, test.attribute, value, anchor, by))
    return list(found.values())


def _anchor(state: State, test: Test, binding: Binding) -> tuple[int, int | None]:
    """Which of the two variables of a difference is the anchor, 0 or 1; and its object.

    It is the older one. Where both are new, it is one whose class has a single object; of two
    such, the one that the schema lists later: movers mostly come last.
    """
    older = test.variables.index(min(test.variables))
    if test.variables[older] < len(binding):
        return older, binding[test.variables[older]]
    for each in (1, 0):
        free = [x.id for x in state.of_class(test.classes[each]) if x.id not in binding]
        if len(free) == 1 and test.classes[0] != test.classes[1]:
            return each, free[0]
    return older, None


def distance(test: Test, anchor: int) -> Value:
    """What must be added to the value of that variable, 0 or 1, to get the other one's."""
    return test.value if anchor == 0 else negative(test.value)


# -------------------------------------------------------------------- what is so


def told(state: State, step: Step) -> str:
    """What a test found, as a sentence without its full stop."""
    if step.holds:
        more = len(step.after) - 1
        ways = f" (and in {more:,} more way{'s' if more > 1 else ''})" if more else ""
        return _held(state, step) + ways
    if step.test.new:
        other = "other " if is_bound(step.test, step.node.classes) else ""
        return f"no {other}{_kind(state, step.test, step.before)}"
    more = len(step.before) - 1
    return _failed(state, step) + (f" (nor {more:,} more)" if more else "")


def _held(state: State, step: Step) -> str:
    test, binding = step.test, step.after[0]
    if test.kind == "equality":
        return f"{name(state, binding[test.variables[0]])} {_has(test, test.value)}"
    anchor, _ = _anchor(state, test, step.before[0])
    subject = binding[test.variables[1 - anchor]]
    has = f"{name(state, subject)} {_has(test, value_of(state, subject, test.attribute))}"
    by = distance(test, anchor)
    return f"{has}, {beside(name(state, binding[test.variables[anchor]]), test.attribute, by)}"


def _failed(state: State, step: Step) -> str:
    """Of objects that are all bound."""
    test, binding = step.test, step.before[0]
    wanted, anchored, subject = test.value, "", test.variables[0]
    if test.kind == "difference":
        which, anchor = _anchor(state, test, binding)
        by, subject = distance(test, which), test.variables[1 - which]
        wanted = plus(value_of(state, anchor, test.attribute), by)
        anchored = f", {beside(name(state, anchor), test.attribute, by)}"
    has = _has(test, value_of(state, binding[subject], test.attribute))
    at = "at " if is_position(test.attribute, wanted) else ""
    return f"{name(state, binding[subject])} {has}, not {at}{wanted}{anchored}"


def _kind(state: State, test: Test, bindings: Sequence[Binding]) -> str:
    """What a test with new variables is about: `wall is at (4, 3), directly above player 50`."""
    if test.kind == "equality":
        return f"{test.classes[0]} {_has(test, test.value)}"
    wanted = sought(state, test, bindings)
    if not wanted:
        return _two(test)
    values = listed([str(each.value) for each in wanted])
    said = f"{wanted[0].class_name} {_has(test, values)}"
    if len(wanted) > 1:
        return said
    return f"{said}, {beside(name(state, wanted[0].anchor), test.attribute, wanted[0].by)}"


def _two(test: Test) -> str:
    """Of two objects that are both new: `wall is directly above a door`."""
    one, other = test.classes
    if is_position(test.attribute, test.value):
        return f"{other} is {beside(another(one, other), test.attribute, test.value)}"
    relation = apart(test)
    return f"{one} and {'another' if one == other else other} have {relation}"


def _has(test: Test, value: Value | str) -> str:
    """A value of the test's attribute, or several, as a verb: `is at (4, 3)`, `has open 1`."""
    at = is_position(test.attribute, test.value)
    return f"is at {value}" if at else f"has {test.attribute} {value}"


def apart(test: Test) -> str:
    """How the values of two objects compare: `the same hue`, `hue 2 apart`."""
    same = is_zero(test.value)
    return f"the same {test.attribute}" if same else f"{test.attribute} {test.value} apart"


def another(class_name: str, than: str) -> str:
    """An object of that class, and not the one of the class `than` that is spoken of."""
    return f"another {class_name}" if class_name == than else article(class_name)


def beside(anchor: str, attribute: str, by: Value) -> str:
    """A value told by another object's: `as player 50 has`, `directly above player 50`."""
    if isinstance(by, tuple) and is_position(attribute, by):
        return place(by, anchor)
    if is_zero(by):
        return f"as {anchor} has"
    if isinstance(by, int):
        return f"{abs(by)} {'more' if by > 0 else 'less'} than {anchor}"
    return f"{by} from {anchor}"


def is_bound(test: Test, classes: Sequence[str]) -> bool:
    """Whether there is an object of that class already, so that another one is meant."""
    return len(test.new) == 1 and test.new[0][1] in classes


# ----------------------------------------------------------------------- names


def name(state: State, object_id: int | None) -> str:
    """An object by its class and id."""
    assert object_id is not None
    return f"{state[object_id].class_name} {object_id}"


def listed(names: Sequence[str]) -> str:
    """The first few.

    >>> listed(["(1, 2)"]), listed(["1", "2", "3", "4", "5"])
    ('(1, 2)', '1, 2, 3 or 2 more')
    """
    if len(names) > _MOST_NAMES + 1:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} or {names[-1]}"
