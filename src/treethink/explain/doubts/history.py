"""What came before: whether outcomes depend on something that the state does not hold.

    cases -> [ history ] -> partitions by what happened earlier, and equal situations

A counter that the state lacks shows in what came before: every third press lights the lamp. Chance
does not. Both give different outcomes in equal states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from treethink.explain.doubts.cases import Case, Cases
from treethink.explain.doubts.evidence import Integers

_LONGEST = 30  # longer counts are one cell
_LAGS = 3
_NONE = -1


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition of the cases by what came before them."""

    text: str
    cells: Integers


@dataclass(slots=True)
class _Past:
    """What has happened to an object since the beginning of its unbroken run of transitions."""

    outcomes: list[int] = field(default_factory=list)
    since_rare: int = _NONE


def partitions(cases: Cases) -> Iterator[Partition]:
    """Yield partitions of the cases by their past."""
    runs, steps, previous = _runs(cases)
    pasts: dict[tuple[int, int | None], _Past] = {}
    likeliest = int(np.bincount(cases.outcomes).argmax()) if len(cases) else 0
    lags: list[list[int]] = [[] for _ in range(_LAGS)]
    since, before = [], []
    for case, outcome in zip(cases, cases.outcomes.tolist(), strict=True):
        past = pasts.setdefault((runs[case.transition], case.object_id), _Past())
        last = past.outcomes[::-1][:_LAGS]
        for i in range(_LAGS):
            lags[i].append(_code([*last, *[_NONE] * _LAGS][: i + 1], len(cases.values)))
        since.append(min(past.since_rare, _LONGEST))
        before.append(min(len(past.outcomes), _LONGEST))
        past.outcomes.append(outcome)
        rare = outcome != likeliest
        past.since_rare = 0 if rare else past.since_rare + (past.since_rare != _NONE)
    for i in range(_LAGS):
        times = "the last outcome" if i == 0 else f"the last {i + 1} outcomes"
        yield Partition(f"{times} of the same action", np.array(lags[i]))
    action = cases.action
    yield Partition(f"how many times `{action}` came since its last rare outcome", np.array(since))
    yield Partition(f"how many times `{action}` came before", np.array(before))
    by_transition: list[tuple[str, Callable[[int], int]]] = [
        ("how many steps the episode has had", lambda i: min(steps[i], _LONGEST)),
        ("the action before", lambda i: previous[i]),
        ("the time: it was different in the first half", lambda i: int(i < len(runs) // 2)),
    ]
    for text, of in by_transition:
        yield Partition(text, np.array([of(case.transition) for case in cases], dtype=np.int64))


def _code(parts: list[int], kinds: int) -> int:
    """Return a number for a list of outcomes; -1 stands for none."""
    code = 0
    for each in parts:
        code = code * (kinds + 1) + each + 1
    return code


def _runs(cases: Cases) -> tuple[list[int], list[int], list[int]]:
    """Return by transition: its unbroken run, its step in that run, and the action before."""
    actions = {name: i for i, name in enumerate(cases.schema.actions)}
    runs: list[int] = []
    steps: list[int] = []
    previous: list[int] = []
    last = None
    for transition in cases.transitions:
        joined = last is not None and last[2] == transition[0]
        runs.append((runs[-1] if runs else 0) + (not joined))
        steps.append(steps[-1] + 1 if joined else 0)
        previous.append(actions[last[1]] if joined and last is not None else _NONE)
        last = transition
    return runs, steps, previous


# ------------------------------------------------------------------ equal situations


@dataclass(frozen=True, slots=True)
class Repeats:
    """Cases of equal states: their positions by state, and a pair with different outcomes."""

    groups: tuple[tuple[int, ...], ...]
    differing: int
    pair: tuple[Case, Case] | None

    @property
    def times(self) -> int:
        """How many cases came in a state that had come before."""
        return sum(len(group) - 1 for group in self.groups)


def repeats(cases: Cases, rows: Integers) -> Repeats:
    """Return the cases among the rows that came in equal states."""
    by_state: dict[object, list[int]] = {}
    for i in rows.tolist():
        case = cases.all[i]
        by_state.setdefault((case.state, case.object_id), []).append(i)
    groups = tuple(tuple(group) for group in by_state.values() if len(group) > 1)
    differing, pair = 0, None
    for group in groups:
        counts = Counter(cases.all[i].outcome for i in group)
        differing += len(group) - max(counts.values())
        if len(counts) > 1 and pair is None:
            first = cases.all[group[0]]
            other = next(cases.all[i] for i in group if cases.all[i].outcome != first.outcome)
            pair = (first, other)
    return Repeats(groups, differing, pair)
