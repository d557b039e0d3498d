"""The leaves of a rule: how each is reached, what was seen there, and how sure that is.

    rule -> [ leaves ] -> summary, frame

How sure a leaf is, one number says: `confidence`, a lower bound of the share of its likeliest
outcome. It is the lower end of Wilson's interval, one-sided. Twenty observations that all agree
are no proof: at a level of 95% they say 88% or more. The bound takes the leaf as given, while the
tests that lead to it were chosen by the same observations: it is there to compare leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import sqrt
from numbers import Real
from statistics import NormalDist
from typing import Any

from treethink.errors import SettingError, shown
from treethink.rules import Node, Rule, RuleKey, Value, ranked

LEVEL = 0.95


def lower_bound(count: int, total: int, level: float = LEVEL) -> float:
    """A share that the true one hardly lies below, if `count` of `total` were seen.

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
    """A level from one half up to 1, or one clear error."""
    if isinstance(level, bool) or not isinstance(level, Real):
        raise SettingError(f"level must be a number, got {shown(level)}")
    if not 0.5 <= level < 1:  # type: ignore[operator]  # also refuses NaN
        raise SettingError(f"level must be at least 0.5 and below 1, got {shown(level)}")
    return float(level)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf of a rule: how it is reached, and what was seen there.

    `path` leads to it from the root by L (the test holds) and R, `tests` says the same in
    formulas. A leaf that has seen nothing has no `outcome`. Of one that is `pinned`, `met` counts
    what has come by since; of one that is `written`, somebody has said the counts.
    """

    rule: RuleKey
    path: str
    tests: tuple[str, ...]
    counts: Mapping[Value, int]
    confidence: float
    pinned: bool = False
    met: Mapping[Value, int] = field(default_factory=dict)
    written: bool = False

    @property
    def against(self) -> dict[Value, int]:
        """What has come by although the leaf, which is pinned, says that it cannot be."""
        return {outcome: n for outcome, n in self.met.items() if outcome not in self.counts}

    @property
    def total(self) -> int:
        """How many observations reached it, or are said to."""
        return sum(self.counts.values())

    @property
    def outcome(self) -> Value | None:
        """The likeliest."""
        return ranked(self.counts)[0][0] if self.counts else None

    @property
    def count(self) -> int:
        """How often the likeliest outcome was seen here."""
        return max(self.counts.values(), default=0)

    @property
    def share(self) -> float | None:
        """That of the likeliest outcome; None if nothing was seen."""
        return self.count / self.total if self.counts else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            "path": self.path,
            "tests": list(self.tests),
            "counts": counted(self.counts),
            "observations": self.total,
            "outcome": plain(self.outcome),
            "count": self.count,
            "share": self.share,
            "confidence": self.confidence,
            "pinned": self.pinned,
            "written": self.written,
            "met": counted(self.met),
        }


def plain(outcome: Value | None) -> int | list[int] | None:
    """An outcome as JSON knows it."""
    return list(outcome) if isinstance(outcome, tuple) else outcome


def counted(counts: Mapping[Value, int]) -> list[dict[str, Any]]:
    """Counts as data that JSON can hold, most frequent first."""
    return [{"outcome": plain(outcome), "count": n} for outcome, n in ranked(counts)]


def leaves_of(key: RuleKey, rule: Rule, level: float = LEVEL) -> Iterator[Leaf]:
    """From left to right."""
    for path, tests, node in paths_of(rule):
        most, total = max(node.counts.values(), default=0), sum(node.counts.values())
        sure = lower_bound(most, total, level)
        yield Leaf(key, path, tests, node.counts, sure, node.pinned, node.met, node.written)


def paths_of(rule: Rule) -> Iterator[tuple[str, tuple[str, ...], Node]]:
    """Path and tests of each leaf, from left to right; depth is no limit."""
    waiting: list[tuple[Node, str, tuple[str, ...]]] = [(rule.root, "", ())]
    while waiting:
        node, path, tests = waiting.pop()
        if node.test is None or node.left is None or node.right is None:
            yield path, tests, node
            continue
        waiting.append((node.right, f"{path}R", (*tests, f"not ({node.test})")))
        waiting.append((node.left, f"{path}L", (*tests, str(node.test))))
