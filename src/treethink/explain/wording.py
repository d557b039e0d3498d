"""Tests about given objects, in words: what is so.

    test, bindings, state -> [ wording ] -> "no wall has pos (4, 3), (1, 0) from player 50"

A variable is told by the object that it stands for. Of many bindings the first is told, and how
many more there are. A difference is told of one of its two objects, by the other one, its anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treethink.explain.routing import Binding, Step, minus, plus, value_of
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
        place, anchor = _anchor(state, test, binding)
        if anchor is not None:
            by = distance(test, place)
            value = plus(value_of(state, anchor, test.attribute), by)
            class_name = test.classes[1 - place]
            found.setdefault(value, Sought(class_name, test.attribute, value, anchor, by))
    return list(found.values())


def _anchor(state: State, test: Test, binding: Binding) -> tuple[int, int | None]:
    """Which of the two variables of a difference is the anchor, 0 or 1; and its object.

    It is the older one. Where both are new, it is one whose class has a single object; of two
    such, the one that the schema lists later: movers mostly come last.
    """
    place = test.variables.index(min(test.variables))
    if test.variables[place] < len(binding):
        return place, binding[test.variables[place]]
    for each in (1, 0):
        free = [x.id for x in state.of_class(test.classes[each]) if x.id not in binding]
        if len(free) == 1 and test.classes[0] != test.classes[1]:
            return each, free[0]
    return place, None


def distance(test: Test, place: int) -> Value:
    """What must be added to the value of that variable to get the other one's."""
    return test.value if place == 0 else minus(zero(test.value), test.value)


def zero(value: Value) -> Value:
    return 0 if isinstance(value, int) else (0,) * len(value)


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
        return f"{name(state, binding[test.variables[0]])} has {test.attribute} {test.value}"
    place, _ = _anchor(state, test, step.before[0])
    subject = binding[test.variables[1 - place]]
    anchor = name(state, binding[test.variables[place]])
    has = f"{name(state, subject)} has {test.attribute}"
    value = value_of(state, subject, test.attribute)
    return f"{has} {value}, {beside(anchor, distance(test, place))}"


def _failed(state: State, step: Step) -> str:
    """Of objects that are all bound."""
    test, binding = step.test, step.before[0]
    wanted, anchored, subject = str(test.value), "", test.variables[0]
    if test.kind == "difference":
        place, anchor = _anchor(state, test, binding)
        by, subject = distance(test, place), test.variables[1 - place]
        wanted = str(plus(value_of(state, anchor, test.attribute), by))
        anchored = f", {beside(name(state, anchor), by)}"
    has = value_of(state, binding[subject], test.attribute)
    return f"{name(state, binding[subject])} has {test.attribute} {has}, not {wanted}{anchored}"


def _kind(state: State, test: Test, bindings: Sequence[Binding]) -> str:
    """What a test with new variables is about: `wall has pos (4, 3), (1, 0) from player 50`."""
    if test.kind == "equality":
        return f"{test.classes[0]} has {test.attribute} {test.value}"
    wanted = sought(state, test, bindings)
    if not wanted:
        one, other = test.classes
        same = test.value == zero(test.value)
        relation = f"the same {test.attribute}" if same else f"{test.attribute} {test.value} apart"
        return f"{one} and {'another' if one == other else other} have {relation}"
    values = listed([str(each.value) for each in wanted])
    said = f"{wanted[0].class_name} has {test.attribute} {values}"
    if len(wanted) > 1:
        return said
    return f"{said}, {beside(name(state, wanted[0].anchor), wanted[0].by)}"


def beside(anchor: str, by: Value) -> str:
    """A value told by another object's: `as player 50 has`, `(1, 0) from player 50`."""
    if by == zero(by):
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
