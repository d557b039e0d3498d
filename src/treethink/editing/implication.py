"""What the answers on a path say about the tests below.

    tests that held, tests that failed -> [ knowledge ] -> is another one implied, or refuted?

At a node, a test that held on the way holds for every binding that is left, and one that failed
does for none, nor for any new object. The facts are differences between places: a variable's
attribute, or the origin. What held is therefore a system of differences, in which others follow by
adding up; another test is refuted if it contradicts them, or if with it a test that failed would
hold. Of other kinds of fact it is only known that each has one value.
"""

from collections.abc import Iterator
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


def equation_of(test: Test) -> Equation | None:
    """The test as an equation; nothing for other kinds of fact."""
    if test.kind not in ("equality", "difference"):
        return None
    first, second = (ORIGIN, *test.variables) if test.kind == "equality" else test.variables
    return Equation((first, test.attribute), (second, test.attribute), test.value)


class Differences:
    """A system of differences: places in groups, each with its way from the first of the group."""

    def __init__(self) -> None:
        self._groups: dict[Place, dict[Place, Value]] = {}  # that a place is in: shared

    def copy(self) -> "Differences":
        same = Differences()
        same._groups = dict(self._groups)
        return same

    def group(self, place: Place, like: Value) -> dict[Place, Value]:
        """All places that are known from this one; `like` any value of its length."""
        return self._groups.get(place) or {place: minus(like, like)}

    def between(self, equation: Equation) -> Value | None:
        """How much more the equation's end is than its start, if that is known."""
        group = self.group(equation.start, equation.difference)
        if equation.end not in group:
            return None
        return minus(group[equation.end], group[equation.start])

    def add(self, equation: Equation) -> None:
        """Take it for true; what contradicts what is known is left out."""
        if self.between(equation) is not None:
            return
        start = self.group(equation.start, equation.difference)
        end = self.group(equation.end, equation.difference)
        way = minus(plus(start[equation.start], equation.difference), end[equation.end])
        joined = start | {place: plus(way, each) for place, each in end.items()}
        self._groups.update(dict.fromkeys(joined, joined))


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
        self._values: dict[tuple[str, str, tuple[int, ...]], Value] = {}  # of other kinds
        self._failed: tuple[tuple[Test, int], ...] = ()  # with how many variables there were

    def holding(self, test: Test) -> "Knowledge":
        """What is known where the test holds as well."""
        known = self._copy(self.classes + tuple(name for _, name in test.new))
        equation = equation_of(test)
        if equation is None:
            known._values = {**self._values, _call(test): test.value}
        else:
            known._differences = self._differences.copy()
            known._differences.add(equation)
        return known

    def failing(self, test: Test) -> "Knowledge":
        """What is known where the test fails."""
        known = self._copy(self.classes)
        known._failed = (*self._failed, (test, len(self.classes)))
        return known

    def implies(self, test: Test) -> bool:
        """Whether the test holds for every binding. Of new objects nothing is known."""
        return self._known(test) == test.value

    def equates(self, one: Test, other: Test) -> bool:
        """Whether the tests are one and the same for every binding, in other words perhaps."""
        if one == other:
            return True
        both = self.holding(one).implies(other) and self.holding(other).implies(one)
        return one.new == other.new and both

    def refutes(self, test: Test) -> bool:
        """Whether the test holds for no binding."""
        known = self._known(test)
        if known is not None:
            return known != test.value
        classes = self.classes + tuple(name for _, name in test.new)
        equation = equation_of(test)
        if equation is None:
            return any(_is_case(each, since, test, classes) for each, since in self._failed)
        asked: dict[Value, list[tuple[Test, int]]] = {}
        for each in self._failed:
            asked.setdefault(each[0].value, []).append(each)
        return any(
            _is_asked(*each, classes, found)
            for found in self._follow(equation)
            for each in asked.get(found.difference, ())
        )

    def _known(self, test: Test) -> Value | None:
        """The value of what the test asks about, if that is known."""
        equation = equation_of(test)
        if equation is None:
            return self._values.get(_call(test))
        return self._differences.between(equation)

    def _follow(self, equation: Equation) -> Iterator[Equation]:
        """All that would follow from the equation, and is not known without it."""
        start = self._differences.group(equation.start, equation.difference)
        end = self._differences.group(equation.end, equation.difference)
        way = minus(plus(start[equation.start], equation.difference), end[equation.end])
        for one, from_first in start.items():
            for other, from_other in end.items():
                difference = minus(plus(way, from_other), from_first)
                yield Equation(one, other, difference)
                yield Equation(other, one, minus(from_first, plus(way, from_other)))

    def _copy(self, classes: tuple[str, ...]) -> "Knowledge":
        same = Knowledge(classes)
        same._differences, same._values = self._differences, self._values
        same._failed = self._failed
        return same


def _call(test: Test) -> tuple[str, str, tuple[int, ...]]:
    return test.kind, test.attribute, test.variables


def _is_asked(failed: Test, since: int, classes: tuple[str, ...], found: Equation) -> bool:
    """Whether the equation is what a failed test asked for, of objects that it could have found."""
    asked = equation_of(failed)
    if asked is None:
        return False
    pairs = ((asked.start, found.start), (asked.end, found.end))
    return all(_stands_for(failed, since, classes, *pair) for pair in pairs)


def _is_case(failed: Test, since: int, test: Test, classes: tuple[str, ...]) -> bool:
    """The same of two tests of another kind."""
    if (failed.kind, failed.attribute, failed.value) != (test.kind, test.attribute, test.value):
        return False
    pairs = zip(failed.variables, test.variables, strict=True)
    places = (((one, test.attribute), (other, test.attribute)) for one, other in pairs)
    return all(_stands_for(failed, since, classes, *pair) for pair in places)


def _stands_for(
    failed: Test, since: int, classes: tuple[str, ...], asked: Place, found: Place
) -> bool:
    """Whether the object found is the one that was asked about, or one that was looked for."""
    (variable, attribute), (other, its_attribute) = asked, found
    if attribute != its_attribute or variable < since:
        return asked == found
    return other >= since and classes[other] == dict(failed.new)[variable]
