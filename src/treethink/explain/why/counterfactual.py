"""The nearest counterfactual: what would have had to differ for another outcome.

    state, steps -> [ counterfactual ] -> "if there were a wall directly above player 50": stays

It changes the answer of the last test on the path whose other answer leads to another outcome, with
everything else as it is. Where that test would have to hold, the objects that it asks for are
hypothetical; the answers of tests below about these objects cannot be known, so they become part
of the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treethink.attributes import SUM
from treethink.explain.distributions import differ, in_words, new_values, times_seen, to_json
from treethink.explain.english.tests import supposition
from treethink.explain.path import Binding, Step, child, extensions
from treethink.frames import CHANGE, STAYS, Frame, Outcome, negative
from treethink.metrics import Distribution
from treethink.outcome_text import outcome_text
from treethink.rules import Node, Test, Value
from treethink.state import Attribute, State

_ANY = Attribute(1)  # outcome_text needs an attribute only where there is no frame


@dataclass(frozen=True, slots=True)
class Assumption:
    """A test, and the answer that it would have to give."""

    test: Test
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What would have to differ, and what would follow.

    `step` is the index of the test on the path; `assumed` are that test with its other answer, and
    what else must be so; `outcomes` are values with their chances, and `support` the observations
    behind them, unless they were `written` by hand. If what the outcomes are relative to would have
    to have some other value, new values cannot be known: `outcomes` are then those of the rule, in
    its `frame`, and `relative` is True.
    """

    step: int
    assumed: tuple[Assumption, ...]
    outcomes: Mapping[Outcome, float]
    support: int
    relative: bool = False
    written: bool = False
    frame: Frame = CHANGE

    @property
    def condition(self) -> str:
        """What would have to differ, in words."""
        return " and ".join(each.text for each in self.assumed)

    def sentence(self, attribute: str) -> str:
        """Return condition and consequence, without a full stop."""
        if not self.relative:
            result = f"{attribute} would be {in_words(self.outcomes)}"
        elif self.frame == CHANGE:
            result = f"{attribute} would change by {in_words(self.outcomes)}"
        else:
            result = f"the outcome would be {in_words(self.outcomes, None, self._text)}"
        return f"if {self.condition}, {result}, {times_seen(self.support, self.written)}"

    def _text(self, outcome: Outcome, _: Attribute | None) -> str:
        """Return an outcome as text: everything that this needs to know is in the frame."""
        return outcome_text(outcome, _ANY, self.frame)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "step": self.step,
            "assumed": [
                {"test": str(each.test), "holds": each.holds, "words": each.text}
                for each in self.assumed
            ],
            "outcomes": to_json(self.outcomes),
            "support": self.support,
            "relative": self.relative,
            "written": self.written,
        }


@dataclass(frozen=True, slots=True)
class _Route:
    """A node that can be reached, the bindings there, and what must be assumed to get there."""

    node: Node
    bindings: tuple[Binding, ...]
    assumed: tuple[Assumption, ...]


def nearest(
    state: State,
    steps: Sequence[Step],
    object_id: int | None,
    attribute: str,
    outcomes: Distribution,
    frame: Frame,
) -> Counterfactual | None:
    """Return the nearest counterfactual; None if no other answer would make a difference."""
    for i in range(len(steps) - 1, -1, -1):
        candidates = []
        for route in _leaves(state, steps[: i + 1]):
            counts = route.node.counts
            if counts and differ(new_values(state, object_id, attribute, counts, frame), outcomes):
                candidates.append(_counterfactual(state, i, route, object_id, attribute, frame))
        if candidates:  # the fewest assumptions, then the most observations
            return min(candidates, key=lambda each: (len(each.assumed), -each.support))
    return None


def _counterfactual(
    state: State, step: int, route: _Route, object_id: int | None, attribute: str, frame: Frame
) -> Counterfactual:
    """Return what follows at a leaf, from the values that would have been there before."""
    counts, support = route.node.counts, sum(route.node.counts.values())
    by_hand = route.node.written
    if object_id is None:
        then = new_values(state, None, attribute, counts, frame)
        return Counterfactual(step, route.assumed, then, support, written=by_hand)
    reads = {*frame.reads(state[object_id].class_name, attribute)}
    if STAYS in counts:
        reads.add((state[object_id].class_name, attribute))
    own = [name for class_name, name in reads if class_name == state[object_id].class_name]
    stated = dict(_stated_values(route, own))
    unknown = any(
        _is_about_own(each.test, (0, name))
        for each in route.assumed
        for name in own
        if name not in stated
    )
    if unknown or _assumes_another(route, frame):
        shares = {outcome: n / support for outcome, n in counts.items()}
        return Counterfactual(step, route.assumed, shares, support, True, by_hand, frame)
    state = state.replace_many({object_id: stated})
    then = new_values(state, object_id, attribute, counts, frame)
    return Counterfactual(step, route.assumed, then, support, written=by_hand)


def _stated_values(route: _Route, names: Sequence[str]) -> Iterator[tuple[str, Value]]:
    """Yield the object's own values, of these attributes, that have been assumed."""
    for each in reversed(route.assumed):  # the first of several is the one that counts
        test = each.test
        own = _is_about_own(test, (0, test.attribute)) and test.attribute in names
        if own and each.holds and test.kind == "equality":
            yield test.attribute, test.value


def _assumes_another(route: _Route, frame: Frame) -> bool:
    """Whether another object has been assumed of the class that outcomes refer to."""
    if frame.of is None:
        return False
    return any(frame.of in each.test.classes for each in route.assumed)


def _leaves(state: State, steps: Sequence[Step]) -> Iterator[_Route]:
    """Yield the leaves that may be reached if the last step's test had the other answer."""
    step = steps[-1]
    first = _assume(state, _Route(step.node, step.before, ()), not step.holds)
    assumed = (*first.assumed, *_excluded_values(state, steps), *_answers_above(state, steps))
    pending = [_Route(first.node, first.bindings, assumed)]
    while pending:
        route = pending.pop()
        test = route.node.test
        if test is None:
            yield _without_implied(route)
        elif (known := _assumed_answer(route, test)) is not None:
            pending.append(_go(route, known, _with_hypothetical(test, route.bindings, known)))
        elif _is_about_hypothetical(test, route.bindings) or _is_about_assumed(test, route):
            pending += [_assume(state, route, holds) for holds in (False, True)]
        else:
            extended = extensions(state, test, route.bindings)
            pending.append(_go(route, bool(extended), extended or route.bindings))


def _without_implied(route: _Route) -> _Route:
    """Leave out denied values of what is assumed to have another value; keep the first answer."""
    stated = {
        _subject(each.test) for each in route.assumed if each.holds and _has_one_value(each.test)
    }
    first, *rest = route.assumed
    needed = (each for each in rest if each.holds or _subject(each.test) not in stated)
    return _Route(route.node, route.bindings, (first, *needed))


def _excluded_values(state: State, steps: Sequence[Step]) -> Iterator[Assumption]:
    """Yield values that a changed attribute cannot have, because tests above denied them."""
    *before, last = steps
    if not last.holds or not _has_one_value(last.test):
        return
    for each in before:
        if not each.holds and _subject(each.test) == _subject(last.test):
            text = supposition(state, each.test, False, each.before, each.node.classes)
            yield Assumption(each.test, False, text)


def _answers_above(state: State, steps: Sequence[Step]) -> Iterator[Assumption]:
    """Yield answers of tests above that may change, through a sum, with what is assumed.

    Where a heading is assumed to differ, what is one heading ahead may differ, too.
    """
    *before, last = steps
    if not _states_value(last.test):
        return
    for each in before:
        tests = (each.test, last.test)
        through_sum = any(SUM in name for test in tests for _, name in test.terms)
        through_sum &= _subject(each.test) != _subject(last.test)
        if through_sum and not _values_read(each.test).isdisjoint(_values_read(last.test)):
            text = supposition(state, each.test, each.holds, each.before, each.node.classes)
            yield Assumption(each.test, each.holds, text)


def _assume(state: State, route: _Route, holds: bool) -> _Route:
    """Go on from a branch, assuming that its test answers `holds`."""
    test = route.node.test
    assert test is not None
    text = supposition(state, test, holds, route.bindings, route.node.classes)
    assumed = (*route.assumed, Assumption(test, holds, text))
    return _Route(
        child(route.node, holds), _with_hypothetical(test, route.bindings, holds), assumed
    )


def _go(route: _Route, holds: bool, bindings: tuple[Binding, ...]) -> _Route:
    return _Route(child(route.node, holds), bindings, route.assumed)


def _assumed_answer(route: _Route, test: Test) -> bool | None:
    """Return the answer that follows from what has been assumed; None if nothing does."""
    for each in route.assumed:
        if each.test == test:
            return each.holds
        same = _has_one_value(each.test) and _subject(each.test) == _subject(test)
        if each.holds and same:
            return False  # it cannot have two values
        if not _places(each.test).isdisjoint(_places(test)):  # an object is something
            if each.holds and test.kind == "something":
                return True
            if not each.holds and each.test.kind == "something":
                return False
    return None


def _places(test: Test) -> set[tuple[tuple[int, str], str, Value]]:
    """Return where a test asks for another object: relative to what, and by how much."""
    if test.kind == "something":
        return {(test.terms[0], test.sought, test.value)}
    if test.kind != "difference" or len(test.variables) < 2:
        return set()
    one, other = test.terms
    return {(one, other[1], test.number), (other, one[1], negative(test.number))}


def _states_value(test: Test) -> bool:
    """Whether the test asks for a value of a bound object, or for a difference of two of them."""
    return len(test.variables) == 1 and not test.new and test.kind != "something"


def _has_one_value(test: Test) -> bool:
    """Whether it states a value, and no other value can be true besides."""
    return _states_value(test) and test.kind != "threshold"


def _is_about_own(test: Test, term: tuple[int, str]) -> bool:
    return _states_value(test) and term in test.terms


def _subject(test: Test) -> tuple[str, tuple[tuple[int, str], ...], int | None]:
    """Return what the test asks about, without the value that it asks for."""
    return test.kind, test.terms, test.component


def _is_about_assumed(test: Test, route: _Route) -> bool:
    """Whether the test asks about a value that has been assumed to differ."""
    return any(
        _states_value(each.test) and not _values_read(each.test).isdisjoint(_values_read(test))
        for each in route.assumed
    )


def _values_read(test: Test) -> set[tuple[int, str]]:
    """Return the variables and attributes that the answer depends on: of a sum, both."""
    return {(variable, part) for variable, name in test.terms for part in name.split(SUM)}


def _with_hypothetical(
    test: Test, bindings: tuple[Binding, ...], holds: bool
) -> tuple[Binding, ...]:
    """Return the bindings, with hypothetical objects for the test's new variables if it holds."""
    if not holds or not test.new:
        return bindings
    return tuple((*binding, *(None for _ in test.new)) for binding in bindings)


def _is_about_hypothetical(test: Test, bindings: Sequence[Binding]) -> bool:
    first = bindings[0]
    return any(v < len(first) and first[v] is None for v in test.variables)
