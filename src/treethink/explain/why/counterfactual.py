"""The nearest reason for which a prediction could have been otherwise.

    state, steps -> [ otherwise ] -> "if there were a wall directly above player 50": stays

It is the last test on the way whose other answer leads to another outcome, all else being as
it is. Where a test would have to hold, the objects that it looks for are imagined; what the
tests below would say of them cannot be known, so it becomes part of the condition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from treethink.explain.distributions import Chances, after, differ, in_words, times
from treethink.explain.path import Binding, Step, child, extensions
from treethink.explain.why.supposition import condition
from treethink.rules import Node, Test, Value
from treethink.state import State


@dataclass(frozen=True, slots=True)
class Assumption:
    """A test, and the answer that it would have to give."""

    test: Test
    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What would have to differ, and what would follow then.

    `step` is the place of the test on the way, counted from 0; `assumed` are that test with
    its other answer, and what else must be so; `outcomes` are values with their chances, and
    `support` the observations behind them, unless they were `written` by hand. Where the attribute
    itself would have to have some other value, new values cannot be known: `outcomes` are then
    changes, and `relative` says so.
    """

    step: int
    assumed: tuple[Assumption, ...]
    outcomes: Mapping[Value, float]
    support: int
    relative: bool = False
    written: bool = False

    @property
    def condition(self) -> str:
        """What would have to differ, in words."""
        return " and ".join(each.text for each in self.assumed)

    def told(self, attribute: str) -> str:
        """All of it, as a sentence without its full stop."""
        would = "change by" if self.relative else "be"
        result = f"{attribute} would {would} {in_words(self.outcomes)}"
        return f"if {self.condition}, {result}, {times(self.support, self.written)}"


@dataclass(frozen=True, slots=True)
class _Way:
    """How far an imagined target has come."""

    node: Node
    bindings: tuple[Binding, ...]
    assumed: tuple[Assumption, ...]


def nearest(
    state: State, steps: Sequence[Step], object_id: int, attribute: str, outcomes: Chances
) -> Otherwise | None:
    """The nearest reason; None if nothing on the way would make a difference."""
    for i in range(len(steps) - 1, -1, -1):
        found = []
        for way in _endings(state, steps[: i + 1]):
            counts = way.node.counts
            if counts and differ(after(state, object_id, attribute, counts), outcomes):
                found.append(_found(state, i, way, object_id, attribute))
        if found:  # least to assume, then best known
            return min(found, key=lambda each: (len(each.assumed), -each.support))
    return None


def _found(state: State, step: int, way: _Way, object_id: int, attribute: str) -> Otherwise:
    """What would follow at the end of a way, from the value that the attribute had then."""
    counts, support = way.node.counts, sum(way.node.counts.values())
    own, by_hand = ("equality", attribute, (0,)), way.node.written
    said = [e for e in way.assumed if (e.test.kind, e.test.attribute, e.test.variables) == own]
    value = next((each.test.value for each in said if each.holds), None)
    if value is not None:
        state = state.replace_many({object_id: {attribute: value}})
    elif said and state.schema.attributes[attribute].outcomes == "delta":
        changes = {outcome: n / support for outcome, n in counts.items()}
        return Otherwise(step, way.assumed, changes, support, True, by_hand)
    then = after(state, object_id, attribute, counts)
    return Otherwise(step, way.assumed, then, support, written=by_hand)


def _endings(state: State, steps: Sequence[Step]) -> Iterator[_Way]:
    """The leaves that may be reached had the test of the last step answered otherwise."""
    step = steps[-1]
    first = _assuming(state, _Way(step.node, step.before, ()), not step.holds)
    waiting = [_Way(first.node, first.bindings, (*first.assumed, *_still(state, steps)))]
    while waiting:
        way = waiting.pop()
        test = way.node.test
        if test is None:
            yield way
        elif (known := _assumed(way, test)) is not None:
            waiting.append(_going(way, known, _imagined(test, way.bindings, known)))
        elif _is_about_imagined(test, way.bindings) or _is_about_assumed(test, way):
            waiting += [_assuming(state, way, holds) for holds in (False, True)]
        else:
            extended = extensions(state, test, way.bindings)
            waiting.append(_going(way, bool(extended), extended or way.bindings))


def _still(state: State, steps: Sequence[Step]) -> Iterator[Assumption]:
    """Values that it must not have either, had it another one: tests before have denied them."""
    *before, last = steps
    if not last.holds or not _says_value(last.test):
        return
    for each in before:
        if not each.holds and _place(each.test) == _place(last.test):
            text = condition(state, each.test, False, each.before, each.node.classes)
            yield Assumption(each.test, False, text)


def _assuming(state: State, way: _Way, holds: bool) -> _Way:
    """On from a branch, taking it that its test answers so."""
    test = way.node.test
    assert test is not None
    text = condition(state, test, holds, way.bindings, way.node.classes)
    assumed = (*way.assumed, Assumption(test, holds, text))
    return _Way(child(way.node, holds), _imagined(test, way.bindings, holds), assumed)


def _going(way: _Way, holds: bool, bindings: tuple[Binding, ...]) -> _Way:
    return _Way(child(way.node, holds), bindings, way.assumed)


def _assumed(way: _Way, test: Test) -> bool | None:
    """What has been assumed of a test already, or of another value; it may be asked again."""
    for each in way.assumed:
        if each.test == test:
            return each.holds
        if each.holds and _says_value(each.test) and _place(each.test) == _place(test):
            return False  # it cannot have two values
    return None


def _says_value(test: Test) -> bool:
    return test.kind == "equality" and not test.new


def _place(test: Test) -> tuple[str, str, tuple[int, ...]]:
    return test.kind, test.attribute, test.variables


def _is_about_assumed(test: Test, way: _Way) -> bool:
    """Whether it asks for a value that was assumed to be another one."""
    return any(
        _says_value(each.test)
        and each.test.attribute == test.attribute
        and each.test.variables[0] in test.variables
        for each in way.assumed
    )


def _imagined(test: Test, bindings: tuple[Binding, ...], holds: bool) -> tuple[Binding, ...]:
    """Bindings with objects that nobody has seen for the test's new variables."""
    if not holds or not test.new:
        return bindings
    return tuple((*binding, *(None for _ in test.new)) for binding in bindings)


def _is_about_imagined(test: Test, bindings: Sequence[Binding]) -> bool:
    first = bindings[0]
    return any(v < len(first) and first[v] is None for v in test.variables)
