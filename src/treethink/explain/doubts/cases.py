"""The observations of one rule, by the leaf that they reach.

rule, transitions -> [ cases ] -> Cases: outcomes, leaves, bindings and what came before
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treethink.explain.doubts.evidence import Group, Integers
from treethink.explain.path import Binding, follow
from treethink.frames import CHANGE, STAYS, Jumps, Outcome
from treethink.rules import Node, Rule
from treethink.state import State
from treethink.stream.transition import Transition

#: At most so many cases of a rule are looked at: the last ones.
MAX_CASES = 2_000
#: For tests that are asked in Python, one by one: so many cases, and so many bindings of all.
MAX_SAMPLE = 600
MAX_BINDINGS = 3_000


@dataclass(frozen=True, slots=True)
class Case:
    """An object in a transition: its outcome, its leaf, and the objects bound on the way.

    Rules of rewards and ends have one case for each transition, about no object (None).
    """

    transition: int
    state: State
    object_id: int | None
    outcome: Outcome
    path: str
    bindings: tuple[Binding, ...]


class Cases:
    """The cases of one rule, oldest first."""

    def __init__(self, rule: Rule, transitions: Sequence[Transition]):
        assert rule.key is not None and rule.schema is not None
        self.rule = rule
        self.class_name, self.attribute, self.action = rule.key
        self.schema = rule.schema
        self.transitions = transitions
        self.leaves: dict[str, Node] = {}
        self.all = self._collect()
        self.values = sorted({each.outcome for each in self.all}, key=repr)
        place = {value: i for i, value in enumerate(self.values)}
        self.outcomes: Integers = np.array(
            [place[each.outcome] for each in self.all], dtype=np.int64
        )
        self.clusters: Integers = np.array([each.transition for each in self.all], dtype=np.int64)

    def _collect(self) -> list[Case]:
        found: list[Case] = []
        for number in range(len(self.transitions) - 1, -1, -1):
            step = self.transitions[number]
            if step.action == self.action:
                found += self._cases(number, step)
            if len(found) >= MAX_CASES:
                break
        return sorted(found, key=lambda each: (each.transition, each.object_id))

    def _cases(self, number: int, step: Transition) -> Iterator[Case]:
        """Yield the cases of a transition that the frame of the rule can tell."""
        if self.rule.is_feedback:
            known = getattr(step, self.attribute)
            if known is not None:
                outcome = float(known) if self.attribute == "reward" else bool(known)
                yield self._case(number, step.before, None, outcome)  # type: ignore[arg-type]
            return
        frame, stays = self.rule.frame, STAYS in self.rule.seen
        assert frame is not None
        for x in step.before.of_class(self.class_name):
            value = step.after.value(x.id, self.attribute)
            outcome_of = frame.outcome_of(step.before, x.id, self.attribute, value, stays)
            if outcome_of is not None:
                yield self._case(number, step.before, x.id, self._told(step, x.id, outcome_of))

    def _told(self, step: Transition, object_id: int, outcome: Outcome) -> Outcome:
        """Return the outcome; of a jump, the change that leads there if the leaf has seen it."""
        if not isinstance(outcome, Jumps):
            return outcome
        value = step.after.value(object_id, self.attribute)
        change = CHANGE.outcome_of(step.before, object_id, self.attribute, value)
        _, leaf = follow(self.rule.root, step.before, object_id)
        return change if change is not None and change in leaf.counts else outcome

    def _case(self, number: int, before: State, object_id: int | None, outcome: Outcome) -> Case:
        steps, leaf = follow(self.rule.root, before, object_id)
        path = "".join("L" if step.holds else "R" for step in steps)
        self.leaves[path] = leaf
        bindings = steps[-1].after if steps else (() if object_id is None else (object_id,),)
        return Case(number, before, object_id, outcome, path, bindings)

    @cached_property
    def rows_by_path(self) -> dict[str, Integers]:
        """The positions of the cases of each leaf."""
        rows: dict[str, list[int]] = {}
        for i, each in enumerate(self.all):
            rows.setdefault(each.path, []).append(i)
        return {path: np.array(own, dtype=np.int64) for path, own in rows.items()}

    def counts(self, path: str) -> Counter[Outcome]:
        """Return the outcomes of the cases of a leaf."""
        return Counter(self.all[i].outcome for i in self.rows_by_path[path])

    def wrong(self, path: str) -> int:
        """Return how many cases of a leaf did not have the outcome that it holds most likely."""
        leaf, counts = self.leaves[path], self.counts(path)
        known = leaf.counts or counts
        likeliest = max(sorted(known, key=repr), key=known.__getitem__)
        return counts.total() - counts[likeliest]

    def group(self, rows: Integers) -> Group:
        """Return these cases, to be scored."""
        return Group.of(rows, self.outcomes, self.clusters)

    def sample(self, path: str) -> Integers:
        """Return the positions of the last cases of a leaf, as many as can be asked quickly."""
        rows = self.rows_by_path[path][-MAX_SAMPLE:]
        bindings = np.cumsum([len(self.all[i].bindings) for i in rows[::-1]])
        kept = max(1, int(np.searchsorted(bindings, MAX_BINDINGS, side="right")))
        return rows[-kept:]

    def under(self, path: str) -> Integers:
        """Return the positions of all cases at and below a node."""
        rows = [own for each, own in self.rows_by_path.items() if each.startswith(path)]
        return np.sort(np.concatenate(rows))

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.all)
