"""Which way a target takes through a tree, test by test, and with which objects.

    rule, state, object -> [ routing ] -> steps, leaf

The engine routes targets too, much faster, and says only where they end. Here every step is
kept. The meaning is the same, set narrowing: keep all bindings; where a test holds for some, go
left with all that extend them, else go right with the bindings as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from treethink.errors import SettingError
from treethink.explain.vectors import minus, plus
from treethink.rules import Node, Test, Value
from treethink.state import State

#: Object ids, one for each variable X0, X1, ...; None: an object that is only imagined.
Binding = tuple[int | None, ...]

MOST_BINDINGS = 4096  # the engine keeps no more either
_TAKEN = {"self", "name"}  # what `State.find` calls its own arguments, so no others can be


@dataclass(frozen=True, slots=True)
class Step:
    """A branch on the way: what was asked, about which objects, and what came of it.

    `before` and `after` are all bindings, without and with the variables that the test
    introduced; where it failed there is nothing new, and they are the same.
    """

    node: Node
    holds: bool
    before: tuple[Binding, ...]
    after: tuple[Binding, ...]

    @property
    def test(self) -> Test:
        """What was asked."""
        assert self.node.test is not None
        return self.node.test


def follow(root: Node, state: State, object_id: int) -> tuple[tuple[Step, ...], Node]:
    """The steps of an object from the root to its leaf, and the leaf."""
    steps: list[Step] = []
    node = root
    bindings: tuple[Binding, ...] = ((object_id,),)
    while node.test is not None:
        extended = extensions(state, node.test, bindings)
        steps.append(Step(node, bool(extended), bindings, extended or bindings))
        node, bindings = child(node, bool(extended)), extended or bindings
    return tuple(steps), node


def child(node: Node, holds: bool) -> Node:
    """Where a branch leads if its test answers so."""
    taken = node.left if holds else node.right
    assert taken is not None
    return taken


def extensions(state: State, test: Test, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """All bindings, extended by the test's new variables in all ways that make it true."""
    extended = [
        (*binding, *fresh) for binding in bindings for fresh in _fresh(state, test, binding)
    ]
    if len(extended) > MOST_BINDINGS:
        extended = sorted(extended, key=lambda each: _by_values(state, each))[:MOST_BINDINGS]
    return tuple(extended)


def _fresh(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """The objects for the new variables, in every way that makes the test true."""
    if test.kind == "equality":
        yield from _equal(state, test, binding)
    elif test.kind == "difference":
        yield from _apart(state, test, binding)
    else:
        raise SettingError(
            f"tests of the kind {test.kind!r} cannot be explained, only equality and difference"
        )


def _equal(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    (variable,) = test.variables
    if variable >= len(binding):
        for each in _having(state, test.classes[0], test.attribute, test.value, binding):
            yield (each,)
    elif value_of(state, binding[variable], test.attribute) == test.value:
        yield ()


def _apart(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """One of the two is known or gone through, the other is looked up by its value."""
    one, other = test.variables
    known = len(binding)
    if one >= known > other:
        there = value_of(state, binding[other], test.attribute)
        wanted = minus(there, test.value)
        for found in _having(state, test.classes[0], test.attribute, wanted, binding):
            yield (found,)
        return
    for x in _standing_for(state, test, binding):
        wanted = plus(value_of(state, x, test.attribute), test.value)
        if other < known:
            if value_of(state, binding[other], test.attribute) == wanted:
                yield ()
            continue
        taken = (*binding, x)
        for y in _having(state, test.classes[1], test.attribute, wanted, taken):
            yield (x, y) if one >= known else (y,)


def _standing_for(state: State, test: Test, binding: Binding) -> list[int]:
    """What the first variable of a test may stand for."""
    if test.variables[0] < len(binding):
        known = binding[test.variables[0]]
        return [] if known is None else [known]
    return [each.id for each in state.of_class(test.classes[0]) if each.id not in binding]


def _having(
    state: State, class_name: str, attribute: str, value: Value, taken: Sequence[int | None]
) -> list[int]:
    """Objects that have the value and are not bound yet, by a look-up."""
    if not _fits(value):
        return []
    if attribute in _TAKEN:
        objects = state.of_class(class_name)
        found = [each for each in objects if value_of(state, each.id, attribute) == value]
    else:
        found = list(state.find(class_name, **{attribute: value}))
    return [each.id for each in found if each.id not in taken]


def _fits(value: Value) -> bool:
    """No object has a number beyond 64 bits."""
    numbers = (value,) if isinstance(value, int) else value
    return all(-(2**63) <= each < 2**63 for each in numbers)


def _by_values(state: State, binding: Binding) -> list[tuple[list[Value], int]]:
    """Sort key of bindings: object by object, by its values, then by its id."""
    return [(list(state[each].values.values()), each) for each in binding if each is not None]


def value_of(state: State, object_id: int | None, attribute: str) -> Value:
    """A value of an object that is there."""
    assert object_id is not None
    value: Value = state.value(object_id, attribute)
    return value
