"""What the answers on a path say about the tests below.

    tests that held, tests that failed -> [ knowledge ] -> is another one implied, or refuted?

At a node, a test that held on the way holds for every binding that is left, and one that failed
does for none, nor for any new object. The facts are differences between places: a variable's
attribute, or the origin. What held is therefore a system of differences, in which others follow by
adding up; another test is refuted if it contradicts them, or if with it a test that failed would
hold. Kinds of fact other than equality and difference are only known to have one value each.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import NamedTuple

from treethink.explain.vectors import minus, plus
from treethink.rules import Test, Value

Place = tuple[int, str]  # a variable's attribute
ORIGIN = -1  # stands for a variable that is always zero


class Equation(NamedTuple):
    """Two places, and by how much the second is more than the first."""

    start: Place
    end: Place
    difference: Value

    @property
    def zero(self) -> Value:
        return minus(self.difference, self.difference)


def equation_of(test: Test, names: Mapping[int, int] | None = None) -> Equation | None:
    """The test as an equation, its variables renamed; nothing for other kinds of fact."""
    variables = [(names or {}).get(each, each) for each in test.variables]
    if test.kind == "equality":
        return Equation((ORIGIN, test.attribute), (variables[0], test.attribute), test.value)
    if test.kind == "difference":
        return Equation((variables[0], test.attribute), (variables[1], test.attribute), test.value)
    return None


class Differences:
    """A system of differences: every place is known by another one and the way from there."""

    def __init__(self) -> None:
        self._from: dict[Place, tuple[Place, Value]] = {}

    def copy(self) -> "Differences":
        same = Differences()
        same._from = dict(self._from)
        return same

    def _root(self, place: Place, zero: Value) -> tuple[Place, Value]:
        way = zero
        while place in self._from:
            place, step = self._from[place]
            way = plus(way, step)
        return place, way

    def add(self, equation: Equation) -> bool:
        """Whether the equation agrees with what is known; it is known from now on."""
        start, way_to_start = self._root(equation.start, equation.zero)
        end, way_to_end = self._root(equation.end, equation.zero)
        if start == end:
            return minus(way_to_end, way_to_start) == equation.difference
        self._from[end] = (start, minus(plus(way_to_start, equation.difference), way_to_end))
        return True

    def follows(self, equation: Equation) -> bool:
        """Whether the equation adds nothing to what is known."""
        start, way_to_start = self._root(equation.start, equation.zero)
        end, way_to_end = self._root(equation.end, equation.zero)
        return start == end and minus(way_to_end, way_to_start) == equation.difference


class Knowledge:
    """What is known at a node: which tests held on the way, and which failed.

    `classes` are those of the node's variables.

    >>> wall = Test("difference", "x", ("player", "wall"), (0, 1), 1, new=((1, "wall"),))
    >>> known = Knowledge(("player",)).failing(wall)
    >>> known.refutes(wall)
    True
    """

    def __init__(self, classes: tuple[str, ...]):
        self.classes = classes
        self._differences = Differences()
        self._values: dict[tuple[str, str, tuple[int, ...]], object] = {}  # of other kinds
        self._failed: tuple[tuple[Test, int], ...] = ()  # with how many variables there were

    def holding(self, test: Test) -> "Knowledge":
        """What is known where the test holds as well."""
        known = self._copy(self.classes + tuple(name for _, name in test.new))
        equation = equation_of(test)
        if equation is not None:
            known._differences.add(equation)
        known._values[_call(test)] = test.value
        return known

    def failing(self, test: Test) -> "Knowledge":
        """What is known where the test fails."""
        known = self._copy(self.classes)
        known._failed = (*self._failed, (test, len(self.classes)))
        return known

    def implies(self, test: Test) -> bool:
        """Whether the test holds for every binding. Of new objects nothing is known."""
        equation = equation_of(test)
        if equation is not None and self._differences.follows(equation):
            return True
        return self._values.get(_call(test)) == test.value

    def equates(self, one: Test, other: Test) -> bool:
        """Whether the tests are one and the same for every binding, in other words perhaps."""
        if one == other:
            return True
        both = self.holding(one).implies(other) and self.holding(other).implies(one)
        return one.new == other.new and both

    def refutes(self, test: Test) -> bool:
        """Whether the test holds for no binding."""
        equation = equation_of(test)
        if self._values.get(_call(test), test.value) != test.value:
            return True
        if equation is not None and not self._differences.copy().add(equation):
            return True
        known = self.holding(test)
        return any(known._holds(failed, since) for failed, since in self._failed)

    def _holds(self, test: Test, since: int) -> bool:
        """Whether the test would hold, for some objects that were not known then."""
        return any(self._follows(test, names) for names in self._ways(test, since))

    def _ways(self, test: Test, since: int) -> Iterator[dict[int, int]]:
        """Variables bound since then, for those that the test introduced."""
        wanted = [name for _, name in test.new]
        for chosen in permutations(range(since, len(self.classes)), len(wanted)):
            if [self.classes[each] for each in chosen] == wanted:
                yield dict(zip((number for number, _ in test.new), chosen, strict=True))

    def _follows(self, test: Test, names: Mapping[int, int]) -> bool:
        equation = equation_of(test, names)
        if equation is not None:
            return self._differences.follows(equation)
        return self._values.get(_call(test, names)) == test.value

    def _copy(self, classes: tuple[str, ...]) -> "Knowledge":
        same = Knowledge(classes)
        same._differences = self._differences.copy()
        same._values = dict(self._values)
        same._failed = self._failed
        return same


def _call(test: Test, names: Mapping[int, int] | None = None) -> tuple[str, str, tuple[int, ...]]:
    variables = tuple((names or {}).get(each, each) for each in test.variables)
    return test.kind, test.attribute, variables
