"""The leaves of a rule: how each is reached, what was seen there, and how certain that is.

    rule -> [ leaves ] -> summary, data frame

The certainty of a leaf is one number, `confidence`: a lower confidence bound of the share of its
likeliest outcome, the lower end of the one-sided Wilson interval. Twenty observations that all
agree are no proof: at a level of 95% the bound is 88%. It takes the leaf as given, although the
same observations chose the tests that lead to it, so use it to compare leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from numbers import Real
from statistics import NormalDist
from typing import Any

from treethink.errors import SettingError, shown
from treethink.frames import Frame, Jumps, Outcome, Stays
from treethink.outcome_text import outcome_text
from treethink.rules import Node, Rule, RuleKey, ranked
from treethink.state import Attribute

LEVEL = 0.95


def lower_bound(count: int, total: int, level: float = LEVEL) -> float:
    """Return a lower confidence bound of a share, of which `count` of `total` were seen.

    >>> [round(lower_bound(n, n), 3) for n in (0, 1, 20, 1000)]
    [0.0, 0.27, 0.881, 0.997]
    >>> round(lower_bound(15, 20), 3)
    0.568
    """
    if not total:
        return 0.0
    share, z = count / total, NormalDist().inv_cdf(level)
    middle = share + z * z / (2 * total)
    half = z * sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return max((middle - half) / (1 + z * z / total), 0.0)


def check_level(level: object) -> float:
    """Return the level as a float if it is at least 0.5 and below 1; otherwise raise an error."""
    if isinstance(level, bool) or not isinstance(level, Real):
        raise SettingError(f"level must be a number, got {shown(level)}")
    if not 0.5 <= level < 1:  # type: ignore[operator]  # also refuses NaN
        raise SettingError(f"level must be at least 0.5 and below 1, got {shown(level)}")
    return float(level)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a rule: how it is reached, and what was seen there.

    `path` leads to it from the root by L (the test holds) and R (it does not), `tests` are the
    same as formulas. A leaf that has seen nothing has no `outcome`. If the leaf is `pinned`, `met`
    counts what was observed since; if it is `written`, its counts were written by hand.
    """

    rule: RuleKey
    path: str
    tests: tuple[str, ...]
    counts: Mapping[Outcome, int]
    confidence: float
    pinned: bool = False
    met: Mapping[Outcome, int] = field(default_factory=dict)
    written: bool = False
    attribute: Attribute | None = field(default=None, repr=False)
    frame: Frame | None = field(default=None, repr=False)

    @property
    def against(self) -> dict[Outcome, int]:
        """Outcomes observed since the leaf was pinned that it says are impossible."""
        return {outcome: n for outcome, n in self.met.items() if outcome not in self.counts}

    @property
    def total(self) -> int:
        """The number of observations that reached it, or were declared to."""
        return sum(self.counts.values())

    @property
    def outcome(self) -> Outcome | None:
        """The likeliest outcome."""
        return ranked(self.counts)[0][0] if self.counts else None

    @property
    def outcome_text(self) -> str:
        """The likeliest outcome as text, in the frame of the rule."""
        if self.outcome is None:
            return ""
        return outcome_text(self.outcome, self.attribute, self.frame)

    @property
    def count(self) -> int:
        """The number of times the likeliest outcome was seen here."""
        return max(self.counts.values(), default=0)

    @property
    def share(self) -> float | None:
        """The share of the likeliest outcome; None if nothing was seen."""
        return self.count / self.total if self.counts else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "path": self.path,
            "tests": list(self.tests),
            "counts": counts_to_json(self.counts),
            "observations": self.total,
            "outcome": outcome_to_json(self.outcome),
            "count": self.count,
            "share": self.share,
            "confidence": self.confidence,
            "pinned": self.pinned,
            "written": self.written,
            "met": counts_to_json(self.met),
        }


def outcome_to_json(outcome: Outcome | None) -> int | list[int] | str | None:
    """Return an outcome as JSON can hold it: `STAYS` as ``"stays"``, `JUMPS` as ``"jumps"``."""
    if isinstance(outcome, Stays | Jumps):
        return repr(outcome)
    return list(outcome) if isinstance(outcome, tuple) else outcome


def counts_to_json(counts: Mapping[Outcome, int]) -> list[dict[str, Any]]:
    """Return counts as data that JSON can hold, most frequent first."""
    return [{"outcome": outcome_to_json(outcome), "count": n} for outcome, n in ranked(counts)]


def leaves_of(key: RuleKey, rule: Rule, level: float = LEVEL) -> Iterator[Leaf]:
    """Yield the leaves from left to right."""
    for path, tests, node in paths_of(rule):
        most, total = max(node.counts.values(), default=0), sum(node.counts.values())
        bound = lower_bound(most, total, level)
        marks = (node.pinned, node.met, node.written)
        yield Leaf(key, path, tests, node.counts, bound, *marks, rule.attribute, rule.frame)


def paths_of(rule: Rule) -> Iterator[tuple[str, tuple[str, ...], Node]]:
    """Yield path, tests and node of each leaf, from left to right; depth is no limit."""
    pending: list[tuple[Node, str, tuple[str, ...]]] = [(rule.root, "", ())]
    while pending:
        node, path, tests = pending.pop()
        if node.test is None or node.left is None or node.right is None:
            yield path, tests, node
            continue
        pending.append((node.right, f"{path}R", (*tests, f"not ({node.test})")))
        pending.append((node.left, f"{path}L", (*tests, str(node.test))))
