"""Distributions over values, as explanations hold them against each other.

Counts are never quite equal in two leaves that are ruled by the same chance. So two
distributions count as different only when they have less than three quarters in common.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from treethink.explain.vectors import minus, plus
from treethink.rules import Value
from treethink.state import State
from treethink.text import percent

Chances = Mapping[Value, float]

IN_COMMON = 0.75
_MOST_VALUES = 4


def differ(one: Chances, other: Chances) -> bool:
    """Whether the two have too little in common to be called the same.

    >>> differ({1: 1.0}, {1: 0.9, 2: 0.1}), differ({1: 1.0}, {1: 0.5, 2: 0.5})
    (False, True)
    """
    return _shared(one, other) < IN_COMMON


def unlike(one: Chances, other: Chances, seen: int, seen_there: int) -> bool:
    """Whether two distributions, with so many observations behind them, differ by more than chance.

    >>> unlike({1: 0.62, 2: 0.38}, {1: 0.38, 2: 0.62}, 1_000, 1_000)
    True
    >>> unlike({1: 0.62, 2: 0.38}, {1: 0.38, 2: 0.62}, 20, 20)
    False
    """
    outcomes = len(one.keys() | other.keys())
    noise = math.sqrt(outcomes * (1 / max(1, seen) + 1 / max(1, seen_there)))
    return 1 - _shared(one, other) > min(1 - IN_COMMON, noise)


def _shared(one: Chances, other: Chances) -> float:
    """How much of its mass one has where the other has it too."""
    return sum(min(chance, other.get(value, 0.0)) for value, chance in one.items())


def after(
    state: State, object_id: int, attribute: str, counts: Mapping[Value, int]
) -> dict[Value, float]:
    """What a leaf with these counts makes of an attribute: new values, and how likely."""
    total = sum(counts.values())
    if state.schema.attributes[attribute].outcomes == "value":
        return {outcome: n / total for outcome, n in counts.items()}
    was: Value = state.value(object_id, attribute)
    return {plus(was, outcome): n / total for outcome, n in counts.items()}


def in_words(chances: Chances) -> str:
    """The values, likeliest first; a sure one stands alone.

    >>> in_words({(1, 0): 1.0}), in_words({0: 0.25, 3: 0.75})
    ('(1, 0)', '3 (75%) or 0 (25%)')
    """
    ranked = sorted(chances.items(), key=lambda each: (-each[1], repr(each[0])))
    if len(ranked) == 1:
        return str(ranked[0][0])
    said = [f"{value} ({percent(chance)})" for value, chance in ranked[:_MOST_VALUES]]
    more = len(ranked) - len(said)
    return " or ".join(said) + (f" or {more} more" if more else "")


def listed(chances: Chances) -> list[dict[str, Any]]:
    """The same as data that JSON can hold."""
    return [{"value": value, "probability": chance} for value, chance in chances.items()]


def times(n: int, by_hand: bool = False) -> str:
    """How often something was seen; of what somebody wrote, just that.

    >>> times(0), times(1), times(1200), times(1, by_hand=True)
    ('never seen', 'seen once', 'seen 1,200 times', 'written by hand')
    """
    if by_hand and n:
        return "written by hand"
    return {0: "never seen", 1: "seen once"}.get(n, f"seen {n:,} times")


def as_changes(state: State, object_id: int, attribute: str, values: Chances) -> str:
    """The same as a rule sees it, whatever the value before; a text, to be compared.

    >>> from treethink import Object, Schema
    >>> lamp = State(Schema({"lamp": ["on"]}, {"on": 1}, []), [Object(1, "lamp", on=5)])
    >>> as_changes(lamp, 1, "on", {4: 0.25, 5: 0.75})
    '0 (75%) or -1 (25%)'
    """
    if state.schema.attributes[attribute].outcomes == "value":
        return in_words(values)
    was: Value = state.value(object_id, attribute)
    return in_words({minus(value, was): chance for value, chance in values.items()})
