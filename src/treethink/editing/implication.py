"""Whether the answers on a path imply or refute a test below.

    tests that held, tests that failed -> [ implication ] -> implied, refuted, or undecided

At a node, a test that held above holds for every remaining binding, and one that failed holds for
none, nor for any new object. Facts are differences between terms: a variable's attribute, or the
origin. So the tests that held form a system of difference equations, from which others follow by
addition. Another test is refuted if it contradicts the system, or if a test that failed would
follow from it. Thresholds give the least and the greatest number that a term can be. That something
is there follows from a bound object that is, and if nothing is, no object is. For other kinds of
fact, only the fact that each has one value is used.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from treethink.frames import minus, plus
from treethink.rules import Test, Value

Term = tuple[int, str]  # a variable's attribute
Quantity = tuple[Term, int | None]  # what a threshold limits: a number, or a component of a vector
ORIGIN = -1  # stands for a variable whose attributes are always zero


class Equation(NamedTuple):
    """Two terms, and the second minus the first."""

    start: Term
    end: Term
    difference: Value


def equation_of(test: Test) -> Equation | None:
    """Return the test as an equation; None for other kinds of fact and names without a number."""
    if test.kind not in ("equality", "difference"):
        return None
    if isinstance(test.number, str):
        return None
    # There is one origin for all attributes of a length, since those of one unit are compared.
    length = 1 if isinstance(test.number, int) else len(test.number)
    origin: Term = (ORIGIN, str(length))
    start, end = (origin, *test.terms) if test.kind == "equality" else test.terms
    return Equation(start, end, test.number)


class Differences:
    """A system of difference equations: groups of terms, each with its offset in the group."""

    def __init__(self) -> None:
        self._groups: dict[Term, dict[Term, Value]] = {}  # by term; terms of a group share it

    def copy(self) -> "Differences":
        same = Differences()
        same._groups = dict(self._groups)
        return same

    def group(self, term: Term, like: Value) -> dict[Term, Value]:
        """Return the group of a term; `like` is any value of its length."""
        return self._groups.get(term) or {term: minus(like, like)}

    def between(self, equation: Equation) -> Value | None:
        """Return the equation's end minus its start, if that is known."""
        group = self.group(equation.start, equation.difference)
        if equation.end not in group:
            return None
        return minus(group[equation.end], group[equation.start])

    def number(self, quantity: Quantity) -> int | None:
        """Return what a threshold limits, if the value of its term is known."""
        term, component = quantity
        group = self._groups.get(term, {})
        for known in group:
            if known[0] == ORIGIN:
                value = minus(group[term], group[known])
                return value if isinstance(value, int) else value[component or 0]
        return None

    def add(self, equation: Equation) -> None:
        """Add an equation; one that contradicts the system is ignored."""
        if self.between(equation) is not None:
            return
        start = self.group(equation.start, equation.difference)
        end = self.group(equation.end, equation.difference)
        shift = minus(plus(start[equation.start], equation.difference), end[equation.end])
        joined = start | {term: plus(shift, each) for term, each in end.items()}
        self._groups.update(dict.fromkeys(joined, joined))


class Knowledge:
    """What is known at a node: the tests above it that held, and those that failed.

    `classes` are those of the node's variables.

    >>> wall = Test("difference", "x", ("player", "wall"), (0, 1), 1, new=((1, "wall"),))
    >>> known = Knowledge(("player",)).failing(wall)
    >>> known.refutes(wall)
    True
    """

    def __init__(self, classes: tuple[str, ...]):
        self.classes = classes
        self._differences = Differences()
        self._values: dict[tuple[str, tuple[Term, ...]], Value] = {}  # of other kinds
        self._most: dict[Quantity, int] = {}  # the least of the thresholds that held
        self._more_than: dict[Quantity, int] = {}  # the greatest of those that failed
        self._something: frozenset[tuple[Term, Value]] = frozenset()  # that held
        self._failed: tuple[tuple[Test, int], ...] = ()  # with the number of variables there

    def holding(self, test: Test) -> "Knowledge":
        """Return what is known where the test holds too."""
        known = self._copy(self.classes + tuple(name for _, name in test.new))
        equation = equation_of(test)
        if test.kind == "threshold":
            known._most = {**self._most, _limited(test): self._bound(test, self._most, min)}
        elif test.kind == "something":
            known._something = self._something | {(test.terms[0], test.number)}
        elif equation is None:
            known._values = {**self._values, _subject(test): test.number}
        else:
            known._differences = self._differences.copy()
            known._differences.add(equation)
        return known

    def failing(self, test: Test) -> "Knowledge":
        """Return what is known where the test fails."""
        known = self._copy(self.classes)
        if test.kind == "threshold" and not test.new:
            bound = self._bound(test, self._more_than, max)
            known._more_than = {**self._more_than, _limited(test): bound}
        known._failed = (*self._failed, (test, len(self.classes)))
        return known

    def implies(self, test: Test) -> bool:
        """Whether the test holds for every binding. Nothing is known about new objects."""
        if test.kind == "threshold":
            most = self._range(_limited(test))[1]
            return most is not None and most <= _number(test)
        if test.kind == "something":
            return (test.terms[0], test.number) in self._something or self._is_something(test)
        return self._known(test) == test.number

    def equates(self, one: Test, other: Test) -> bool:
        """Whether the tests are equivalent for every binding."""
        if one == other:
            return True
        both = self.holding(one).implies(other) and self.holding(other).implies(one)
        return one.new == other.new and both

    def refutes(self, test: Test) -> bool:
        """Whether the test holds for no binding."""
        if test.kind == "threshold":
            classes = self.classes + tuple(name for _, name in test.new)
            least = self._range(_limited(test))[0]
            return (least is not None and least > _number(test)) or any(
                _is_below(each, since, test, classes) for each, since in self._failed
            )
        if test.kind == "equality" and self._is_out_of_range(test):
            return True
        known = self._known(test)
        if known is not None:
            return known != test.number
        classes = self.classes + tuple(name for _, name in test.new)
        equation = equation_of(test)
        if equation is None:
            return any(_is_case(each, since, test, classes) for each, since in self._failed)
        failed: dict[Value, list[tuple[Test, int]]] = {}
        for each in self._failed:
            failed.setdefault(each[0].number, []).append(each)
        return any(
            _is_instance(*each, classes, implied)
            for implied in self._consequences(equation)
            for each in failed.get(implied.difference, ())
        )

    def _is_something(self, test: Test) -> bool:
        """Whether a bound object is where the test asks for something."""
        own = test.terms[0]
        group = self._differences.group(own, test.number)
        there = plus(group[own], test.number)
        return any(
            value == there and attribute == test.sought and variable not in (own[0], ORIGIN)
            for (variable, attribute), value in group.items()
        )

    def _bound(
        self, test: Test, bounds: dict[Quantity, int], choose: Callable[[int, int], int]
    ) -> int:
        return choose(bounds.get(_limited(test), _number(test)), _number(test))

    def _range(self, quantity: Quantity) -> tuple[int | None, int | None]:
        """Return the least and the greatest number that a threshold's quantity can be."""
        exactly = self._differences.number(quantity)
        if exactly is not None:
            return exactly, exactly
        more_than = self._more_than.get(quantity)
        return None if more_than is None else more_than + 1, self._most.get(quantity)

    def _is_out_of_range(self, test: Test) -> bool:
        """Whether a threshold says that a term does not have the value."""
        if isinstance(test.number, str):
            return False
        numbers = [(None, test.number)] if isinstance(test.number, int) else enumerate(test.number)
        for component, number in numbers:
            quantity = (test.terms[0], component)
            if quantity not in self._most and quantity not in self._more_than:
                continue
            least, most = self._range(quantity)
            if (least is not None and number < least) or (most is not None and number > most):
                return True
        return False

    def _known(self, test: Test) -> Value | None:
        """Return the value that the test asks about, if it is known."""
        equation = equation_of(test)
        if equation is None:
            return self._values.get(_subject(test))
        return self._differences.between(equation)

    def _consequences(self, equation: Equation) -> Iterator[Equation]:
        """Yield the equations that would follow from this one, and are not known without it."""
        start = self._differences.group(equation.start, equation.difference)
        end = self._differences.group(equation.end, equation.difference)
        shift = minus(plus(start[equation.start], equation.difference), end[equation.end])
        for one, from_first in start.items():
            for other, from_other in end.items():
                difference = minus(plus(shift, from_other), from_first)
                yield Equation(one, other, difference)
                yield Equation(other, one, minus(from_first, plus(shift, from_other)))

    def _copy(self, classes: tuple[str, ...]) -> "Knowledge":
        same = Knowledge(classes)
        same._differences, same._values = self._differences, self._values
        same._most, same._more_than = self._most, self._more_than
        same._something = self._something
        same._failed = self._failed
        return same


def _limited(threshold: Test) -> Quantity:
    return threshold.terms[0], threshold.component


def _number(threshold: Test) -> int:
    assert isinstance(threshold.number, int)
    return threshold.number


def _is_below(failed: Test, since: int, test: Test, classes: tuple[str, ...]) -> bool:
    """Whether a threshold asks for less than one that failed, of an object it could have bound."""
    if failed.kind != "threshold" or failed.component != test.component:
        return False
    if _number(failed) < _number(test):
        return False
    return _stand_for(failed, since, classes, [(failed.terms[0], test.terms[0])])


def _subject(test: Test) -> tuple[str, tuple[Term, ...]]:
    return test.kind, test.terms


def _is_instance(failed: Test, since: int, classes: tuple[str, ...], implied: Equation) -> bool:
    """Whether the equation is what a failed test asked for, about objects it could have bound."""
    if failed.kind == "something":
        (variable, _), (other, attribute) = implied.start, implied.end
        is_other = attribute == failed.sought and other not in (variable, ORIGIN)
        return is_other and _stand_for(failed, since, classes, [(failed.terms[0], implied.start)])
    equation = equation_of(failed)
    if equation is None:
        return False
    pairs = [(equation.start, implied.start), (equation.end, implied.end)]
    return _stand_for(failed, since, classes, pairs)


def _is_case(failed: Test, since: int, test: Test, classes: tuple[str, ...]) -> bool:
    """Whether the test is what a failed test of another kind asked for."""
    if (failed.kind, failed.number) != (test.kind, test.number):
        return False
    pairs = list(zip(failed.terms, test.terms, strict=True))
    return _stand_for(failed, since, classes, pairs)


def _stand_for(
    failed: Test, since: int, classes: tuple[str, ...], pairs: list[tuple[Term, Term]]
) -> bool:
    """Whether each other term is the test's own, or belongs to an object it could have bound.

    One variable is one object, and two are two.
    """
    objects = {(one[0], other[0]) for one, other in pairs}
    alike = all(len(set(each)) == len(objects) for each in zip(*objects, strict=True))
    return alike and all(_stands_for(failed, since, classes, *pair) for pair in pairs)


def _stands_for(
    failed: Test, since: int, classes: tuple[str, ...], term: Term, other_term: Term
) -> bool:
    """Whether the other term is the test's own, or belongs to an object it could have bound."""
    (variable, attribute), (other, its_attribute) = term, other_term
    if attribute != its_attribute or variable < since:
        return term == other_term
    return other >= since and classes[other] == dict(failed.new)[variable]
