"""Predicates, and the sets of predicates that are true in a state (appendix A and B).

    state -> NumberedState -> extractFacts (all, for learning), QueryPredicateSet (on demand)

The paper numbers the objects of a state, and the numbers decide the order of pairs and of
observations. Here objects are numbered by class and values, so that ids have no meaning.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treethink.state import Object, Schema, State

Vector = tuple[int, ...]
Numbers = NDArray[np.intp]


class Predicate(NamedTuple):
    """``X[m] = v`` of one argument, or ``Y[m] - X[m] = v`` of two, typed by their classes."""

    m: str
    types: tuple[str, ...]
    v: Vector

    def getArgumentCount(self) -> int:
        return len(self.types)

    def getArgumentTypes(self) -> tuple[str, ...]:
        return self.types


class GroundPredicate(NamedTuple):
    """A predicate, and the numbers of the objects for which it is true."""

    p: Predicate
    arguments: tuple[int, ...]


class NumberedState:
    """The objects of a state, numbered by class, then by values, then by the values in `after`.

    Objects that agree in all of these are numbered by id, which makes no difference.
    """

    def __init__(self, state: State, after: State | None = None):
        order = {name: i for i, name in enumerate(state.schema.classes)}
        each_after = state if after is None else after

        def key(each: Object) -> tuple[int, list[Vector], list[Vector]]:
            first, then = by_member(state, each), by_member(each_after, each_after[each.id])
            return order[each.class_name], list(first.values()), list(then.values())

        self.schema: Schema = state.schema
        self.objects = sorted(state, key=key)
        self.classes = [each.class_name for each in self.objects]
        self.values = [by_member(state, each) for each in self.objects]
        self.values_after = [by_member(each_after, each_after[each.id]) for each in self.objects]


def by_member(state: State, each: Object) -> dict[str, Vector]:
    return {m: vector(value) for m, value in state.schema.numbers(each).items()}


def vector(value: int | tuple[int, ...]) -> Vector:
    """Return a value as a vector; values of length 1 are plain ints elsewhere."""
    return value if isinstance(value, tuple) else (value,)


class AbstractPredicateSet(Protocol):
    """The facts of a state, as a tree queries them."""

    def getObservations(self, p: Predicate) -> Sequence[GroundPredicate]:
        """Return all objects that make the predicate true."""


class PredicateNumbers:
    """Numbers the predicates in the order of their first appearance."""

    def __init__(self) -> None:
        self.predicates: list[Predicate] = []
        self._numbers: dict[Predicate, int] = {}

    def __getitem__(self, p: Predicate) -> int:
        number = self._numbers.setdefault(p, len(self.predicates))
        if number == len(self.predicates):
            self.predicates.append(p)
        return number


class FullPredicateSet:
    """All predicates that are true in a state, as lists."""

    def __init__(self, numbers: PredicateNumbers, n_objects: int):
        self.numbers = numbers
        self.n_objects = n_objects
        self._observations: dict[Predicate, list[GroundPredicate]] = {}

    def add(self, g: GroundPredicate) -> None:
        """Add a true fact."""
        self._observations.setdefault(g.p, []).append(g)

    def getValue(self, g: GroundPredicate) -> bool:
        return g in self.getObservations(g.p)

    def getObservations(self, p: Predicate) -> Sequence[GroundPredicate]:
        return self._observations.get(p, ())

    def getPredicates(self) -> frozenset[int]:
        """Return the numbers of all predicates that have true bindings."""
        return self._present

    @cached_property
    def _present(self) -> frozenset[int]:
        return frozenset([self.numbers[p] for p in self._observations])

    @cached_property
    def table(self) -> tuple[Numbers, Numbers, Numbers]:
        """All facts as arrays: predicate, first argument, second argument (`n_objects`: none)."""
        rows = [
            (number, g.arguments[0], g.arguments[1] if len(g.arguments) > 1 else self.n_objects)
            for p, observations in self._observations.items()
            for number in [self.numbers[p]]
            for g in observations
        ]
        predicate, first, second = np.array(rows, dtype=np.intp).reshape(-1, 3).T
        return predicate, first, second


def extractFacts(s: NumberedState, numbers: PredicateNumbers) -> FullPredicateSet:
    """Return all facts of a state."""
    facts = FullPredicateSet(numbers, len(s.objects))
    of_values, of_pairs = _members(s.schema)
    for i, c1 in enumerate(s.classes):
        # Attribute values
        for m in of_values[c1]:
            facts.add(GroundPredicate(Predicate(m, (c1,), s.values[i][m]), (i,)))
        # Relative differences
        for j in range(i + 1, len(s.objects)):
            c2 = s.classes[j]
            for m, zero in of_pairs[c1, c2]:
                v = minus(s.values[j][m], s.values[i][m])
                if v != zero and s.schema.attributes[m].is_symbolic:
                    continue  # names can only be equal
                # Corrected: object ids decided which predicate a pair made. Here classes are in
                # order; within a class v >= 0, and objects with equal values make both pairs.
                if c1 != c2 or v >= zero:
                    facts.add(GroundPredicate(Predicate(m, (c1, c2), v), (i, j)))
                if c1 == c2 and v <= zero:
                    facts.add(GroundPredicate(Predicate(m, (c1, c2), negative(v)), (j, i)))
    return facts


@lru_cache(maxsize=16)
def _members(
    schema: Schema,
) -> tuple[dict[str, list[str]], dict[tuple[str, str], list[tuple[str, Vector]]]]:
    """Return the attributes with facts of each class, and of each pair, with a zero vector."""
    about = {
        kind: {
            name: [m for m in members if kind in schema.attributes[m].facts]
            for name, members in schema.classes.items()
        }
        for kind in ("equality", "difference")
    }
    pairs = {
        (c1, c2): [(m, (0,) * schema.attributes[m].length) for m in members if m in others]
        for c1, members in about["difference"].items()
        for c2, others in about["difference"].items()
    }
    return about["equality"], pairs


class QueryPredicateSet:
    """Finds the facts of a state on demand, and caches them."""

    def __init__(self, s: NumberedState):
        self._s = s
        self._cache: dict[Predicate, list[GroundPredicate]] = {}
        self._by_value: dict[tuple[str, str], dict[Vector, list[int]]] = {}

    def getObservations(self, p: Predicate) -> Sequence[GroundPredicate]:
        if p not in self._cache:
            self._cache[p] = self.scan(p)
        return self._cache[p]

    def scan(self, p: Predicate) -> list[GroundPredicate]:
        """Return all bindings for which `p` is true."""
        return self.scanAbs(p, *p.types) if len(p.types) == 1 else self.scanRel(p, *p.types)

    def scanAbs(self, p: Predicate, c: str) -> list[GroundPredicate]:
        return [GroundPredicate(p, (i,)) for i in self._with_value(c, p.m).get(p.v, ())]

    def scanRel(self, p: Predicate, c1: str, c2: str) -> list[GroundPredicate]:
        facts = []
        for v1, objects in self._with_value(c1, p.m).items():
            for i in objects:
                for j in self._with_value(c2, p.m).get(plus(p.v, v1), ()):
                    if i != j:  # corrected: an object was paired with itself
                        facts.append(GroundPredicate(p, (i, j)))
        return facts

    def _with_value(self, c: str, m: str) -> dict[Vector, list[int]]:
        """Return the objects of a class by their value of `m`."""
        if (c, m) not in self._by_value:
            by_value = self._by_value.setdefault((c, m), {})
            for i, own in enumerate(self._s.values):
                if self._s.classes[i] == c:
                    by_value.setdefault(own[m], []).append(i)
        return self._by_value[c, m]


def plus(a: Vector, b: Vector) -> Vector:
    return tuple(map(operator.add, a, b))


def minus(a: Vector, b: Vector) -> Vector:
    return tuple(map(operator.sub, a, b))


def negative(a: Vector) -> Vector:
    return tuple(map(operator.neg, a))
