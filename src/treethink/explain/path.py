"""The path of an object through a tree, test by test, and the objects bound on the way.

    rule, state, object -> [ path ] -> steps, leaf

The engine routes objects too, much faster, but returns only the leaf. Here every step is kept. The
meaning is the same, set narrowing: keep all bindings; where a test holds for some of them, go left
with all their extensions, otherwise go right with the bindings unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from treethink.attributes import Code
from treethink.errors import SettingError
from treethink.frames import minus, plus, signs
from treethink.rules import Node, Test, Value
from treethink.state import Attribute, State

#: Object ids, one for each variable X0, X1, ...; None stands for a hypothetical object.
Binding = tuple[int | None, ...]

MAX_BINDINGS = 4096  # as in the engine
_RESERVED = {"self", "name"}  # parameters of `State.find`: no attribute can be passed as these


@dataclass(frozen=True, slots=True)
class Step:
    """A branch on the path: its test, the answer, and the bindings.

    `before` and `after` are all bindings without and with the variables that the test
    introduces. Where the test failed they are the same.
    """

    node: Node
    holds: bool
    before: tuple[Binding, ...]
    after: tuple[Binding, ...]

    @property
    def test(self) -> Test:
        """The test of the branch."""
        assert self.node.test is not None
        return self.node.test


def follow(root: Node, state: State, object_id: int | None) -> tuple[tuple[Step, ...], Node]:
    """Return the steps of an object from the root to its leaf, and the leaf.

    Rules of rewards and ends are about no object: None.
    """
    steps: list[Step] = []
    node = root
    bindings: tuple[Binding, ...] = ((),) if object_id is None else ((object_id,),)
    while node.test is not None:
        extended = extensions(state, node.test, bindings)
        steps.append(Step(node, bool(extended), bindings, extended or bindings))
        node, bindings = child(node, bool(extended)), extended or bindings
    return tuple(steps), node


def child(node: Node, holds: bool) -> Node:
    """Return the child of a branch for that answer."""
    below = node.left if holds else node.right
    assert below is not None
    return below


def extensions(state: State, test: Test, bindings: Iterable[Binding]) -> tuple[Binding, ...]:
    """Extend all bindings by the test's new variables, in all ways that make it true."""
    extended = [
        (*binding, *new) for binding in bindings for new in _new_objects(state, test, binding)
    ]
    if len(extended) > MAX_BINDINGS:
        extended = sorted(extended, key=lambda each: _by_values(state, each))[:MAX_BINDINGS]
    return tuple(extended)


def _new_objects(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """Yield objects for the new variables, in every way that makes the test true."""
    if test.kind == "equality":
        yield from _by_equality(state, test, binding)
    elif test.kind == "difference":
        yield from _by_difference(state, test, binding)
    elif test.kind in ("order", "threshold"):
        yield from _by_comparison(state, test, binding)
    elif test.kind == "something":
        for x in _first_objects(state, test, binding):
            if things(state, test, x):
                yield (x,) if test.new else ()
    else:
        known = "equality, difference, order, threshold and something"
        raise SettingError(f"tests of the kind {test.kind!r} cannot be explained, only {known}")


def _by_equality(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    (variable,) = test.variables
    if variable >= len(binding):
        for each in _having(state, test.classes[0], test.attribute, test.value, binding):
            yield (each,)
    elif plain_value_of(state, binding[variable], test.attribute) == test.value:
        yield ()


def _by_difference(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """Iterate over the objects of one variable, and look the other one up by its value.

    A difference is one of the engine's numbers, also for names and flags.
    """
    (one, attribute), (other, other_attribute) = test.terms
    known = len(binding)
    if one == other:
        yield from _by_own_difference(state, test, binding)
        return
    if one >= known > other:
        there = value_of(state, binding[other], other_attribute)
        here = minus(there, test.value)
        for x in _having(state, test.classes[0], attribute, here, binding):
            yield (x,)
        return
    for x in _first_objects(state, test, binding):
        there = plus(value_of(state, x, attribute), test.value)
        if other < known:
            if value_of(state, binding[other], other_attribute) == there:
                yield ()
            continue
        bound = (*binding, x)
        for y in _having(state, test.classes[1], other_attribute, there, bound):
            yield (x, y) if one >= known else (y,)


def _by_own_difference(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """Iterate over the objects whose two attributes differ by the value."""
    (variable, attribute), (_, other) = test.terms
    for x in _first_objects(state, test, binding):
        if minus(value_of(state, x, other), value_of(state, x, attribute)) == test.value:
            yield (x,) if variable >= len(binding) else ()


def _by_comparison(state: State, test: Test, binding: Binding) -> Iterator[tuple[int, ...]]:
    """Iterate over all objects that the variables of an order or a threshold may stand for."""
    choices = [
        [binding[variable]]
        if variable < len(binding)
        else [each.id for each in state.of_class(class_name) if each.id not in binding]
        for variable, class_name in zip(test.variables, test.classes, strict=True)
    ]
    for objects in product(*choices):
        if None in objects or len(set(objects)) < len(objects):
            continue
        owners = dict(zip(test.variables, objects, strict=True))
        values = [value_of(state, owners[variable], name) for variable, name in test.terms]
        if compares(test, *values):
            new = zip(test.variables, objects, strict=True)
            yield tuple(x for variable, x in new if x is not None and variable >= len(binding))


def things(state: State, test: Test, object_id: int | None) -> list[int]:
    """Return the objects, of whatever class, by which a test for something holds of an object."""
    if object_id is None:
        return []
    there, classes = (
        plus(value_of(state, object_id, test.attribute), test.value),
        state.schema.classes,
    )
    return [
        each
        for class_name, attributes in classes.items()
        if test.sought in attributes
        for each in _having(state, class_name, test.sought, there, (object_id,))
    ]


def found_by(state: State, step: Step) -> tuple[int, ...]:
    """Return the objects by which a test for something holds; nothing for other tests."""
    if step.test.kind != "something" or not step.holds:
        return ()
    variable = step.test.variables[0]
    found = (x for each in step.after for x in things(state, step.test, each[variable]))
    return tuple(dict.fromkeys(found))


def compares(test: Test, first: Value, second: Value | None = None) -> bool:
    """Whether an order or a threshold holds for the values of its terms.

    >>> compares(Test("threshold", "fuel", ("car",), (0,), 3), 2)
    True
    >>> compares(Test("threshold", "pos", ("car",), (0,), 3, component=1), (9, 3))
    True
    >>> compares(Test("order", "pos", ("fox", "hen"), (0, 1), (1, 0)), (0, 0), (5, 0))
    True
    """
    if second is None:
        number = first if test.component is None else first[test.component]  # type: ignore[index]
        return number <= test.value  # type: ignore[operator]
    return signs(minus(second, first)) == test.value


def _first_objects(state: State, test: Test, binding: Binding) -> list[int]:
    """Return the objects that the first variable of a test may stand for."""
    if test.variables[0] < len(binding):
        known = binding[test.variables[0]]
        return [] if known is None else [known]
    return [each.id for each in state.of_class(test.classes[0]) if each.id not in binding]


def _having(
    state: State, class_name: str, attribute: str, value: Value, bound: Sequence[int | None]
) -> list[int]:
    """Look up the objects that have the value and are not bound yet."""
    if not _fits(state.schema.definition(attribute), value):
        return []
    if attribute in _RESERVED:
        objects, wanted = state.of_class(class_name), state.schema.definition(attribute)
        code = wanted.encode(value)
        matches = [each for each in objects if value_of(state, each.id, attribute) == code]
    else:
        matches = list(state.find(class_name, **{attribute: value}))
    return [each.id for each in matches if each.id not in bound]


def _fits(attribute: Attribute, value: Value) -> bool:
    """Whether an object can have the value: a number of its own, or one that fits 64 bits."""
    if attribute.is_symbolic:
        return isinstance(value, str) or value in range(len(attribute.names or (0, 1)))
    assert not isinstance(value, str)
    numbers = (value,) if isinstance(value, int) else value
    return all(-(2**63) <= each < 2**63 for each in numbers)


def _by_values(state: State, binding: Binding) -> list[tuple[list[Code], int]]:
    """Return the sort key of a binding: object by object, its numbers, then its id."""
    return [
        ([value_of(state, each, name) for name in state[each].values], each)
        for each in binding
        if each is not None
    ]


def plain_value_of(state: State, object_id: int | None, attribute: str) -> Value:
    """Return a value of an object that is not hypothetical."""
    assert object_id is not None
    value: Value = state.value(object_id, attribute)
    return value


def value_of(state: State, object_id: int | None, attribute: str) -> Code:
    """Return the engine's numbers for a value of an object that is not hypothetical."""
    plain = plain_value_of(state, object_id, attribute)
    return state.schema.definition(attribute).encode(plain)
