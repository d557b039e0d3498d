"""Tests that the model knows: each alone, two together, and about an object that the first binds.

    rule's candidates, cases -> [ conditions ] -> known tests, and pairs that help only together

A tree asks one test after the other. Neither half of an exclusive or helps by itself, so a model
asks the first only if it looks two tests ahead, and has seen enough to do so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from treethink.errors import SettingError
from treethink.explain.doubts.cases import Cases
from treethink.explain.doubts.evidence import Bools
from treethink.explain.doubts.terms import Hypothesis
from treethink.explain.path import extensions
from treethink.rules import Test

#: Limits of the work for one rule.
MAX_TESTS = 48
MAX_BINDING_TESTS = 12
MAX_VALUES = 8
_RARE = 0.02  # a test that holds more rarely, or fails more rarely, is left out of pairs

_DERIVE = "derive an attribute that combines them (tt.Derived)"


def conditions_advice(needs: str) -> str:
    """Return what to do about two conditions; `needs` is what the model needs to look ahead.

    >>> print(conditions_advice(""))
    neither helps alone; the model looks two tests ahead where there is enough to explain: go on \
learning, or derive an attribute that combines them (tt.Derived)
    """
    if needs:
        why = "neither helps alone, so a tree that does not look ahead never asks the first"
        return f"{why}: {needs}, or {_DERIVE}"
    ahead = "the model looks two tests ahead where there is enough to explain"
    return f"neither helps alone; {ahead}: go on learning, or {_DERIVE}"


def known_tests(
    cases: Cases, path: str, candidates: Mapping[Any, Mapping[Any, int]]
) -> list[Hypothesis]:
    """Return tests that the leaf counts, with their answers: the most balanced ones."""
    leaf = cases.leaves[path]
    width, total = len(leaf.classes), max(1, sum(leaf.counts.values()))
    tests = []
    for engine_test, counts in candidates.items():
        held = sum(counts.values()) / total
        test = Test.from_engine(engine_test, width)
        if _RARE <= held <= 1 - _RARE and len(test.new) < 2:
            tests.append((abs(held - 0.5), test))
    tests.sort(key=lambda each: (round(each[0], 6), str(each[1])))
    found: dict[bytes, Hypothesis] = {}
    for _, test in tests[: 3 * MAX_TESTS]:
        truth = _truth(cases, path, test)
        if truth is None or len(found) >= MAX_TESTS:
            break
        key = min(truth.tobytes(), (~truth).tobytes())
        found.setdefault(key, Hypothesis("data", str(test), "", truth))
    return list(found.values())


def _truth(cases: Cases, path: str, test: Test) -> Bools | None:
    """Return the answers of a test for the cases of one leaf; False elsewhere."""
    truth = np.zeros(len(cases), dtype=bool)
    try:
        for i in cases.sample(path):
            case = cases.all[i]
            truth[i] = bool(extensions(case.state, test, case.bindings))
    except SettingError:  # a kind of fact that only the engine knows
        return None
    return truth


def about_bound_objects(
    cases: Cases, path: str, candidates: Mapping[Any, Mapping[Any, int]], advice: str
) -> Iterator[Hypothesis]:
    """Yield tests that bind an object, joined with a value of that object."""
    width = len(cases.leaves[path].classes)
    binding = [
        (sum(counts.values()), Test.from_engine(engine_test, width))
        for engine_test, counts in candidates.items()
    ]
    tied = [(n, test) for n, test in binding if len(test.new) == 1 and len(test.variables) == 2]
    tied.sort(key=lambda each: (-each[0], _size(each[1]), str(each[1])))
    for _, test in tied[:MAX_BINDING_TESTS]:
        yield from _with_values(cases, path, test, advice)


def _size(test: Test) -> int:
    """Return how far away the test looks; the names of a category are at no distance."""
    if isinstance(test.value, tuple):
        return sum(abs(each) for each in test.value)
    return abs(test.value) if isinstance(test.value, int) else 0


def _with_values(cases: Cases, path: str, test: Test, advice: str) -> Iterator[Hypothesis]:
    ((variable, class_name),) = test.new
    held: dict[int, set[tuple[str, Any]]] = {}
    seen: Counter[tuple[str, Any]] = Counter()
    try:
        for i in cases.sample(path):
            case = cases.all[i]
            objects = {binding[variable] for binding in extensions(case.state, test, case.bindings)}
            held[i] = {
                (name, case.state.value(x, name))
                for x in objects
                if x is not None
                for name in cases.schema.classes[class_name]
                if name != test.attribute and cases.schema.attributes[name].facts
            }
            seen.update(held[i])
    except SettingError:
        return
    for (name, value), _ in sorted(seen.items(), key=lambda each: (-each[1], repr(each[0])))[
        :MAX_VALUES
    ]:
        truth = np.zeros(len(cases), dtype=bool)
        for i, values in held.items():
            truth[i] = (name, value) in values
        yield Hypothesis("conditions", f"{test} and X{variable}[{name}] = {value}", advice, truth)


def pair_text(one: Hypothesis, other: Hypothesis, advice: str) -> Hypothesis:
    """Return two tests together as a hypothesis; its answers are those of the exclusive or."""
    return Hypothesis(
        "conditions", f"{one.text} together with {other.text}", advice, one.truth ^ other.truth
    )
