"""Distributions over values: as text, and when two of them count as different.

Two leaves with the same chances never have exactly equal counts. So two distributions count as
different only if they share less than three quarters of their probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from treethink.frames import Frame, Jumps, Outcome, Stays, default_frame
from treethink.metrics import Distribution
from treethink.outcome_text import outcome_text, value_text
from treethink.rules import feedback_attribute
from treethink.state import Attribute, State
from treethink.text import percent

MIN_SHARED = 0.75
_MAX_VALUES = 4


def differ(one: Distribution, other: Distribution) -> bool:
    """Whether the two share too little probability to count as the same.

    >>> differ({1: 1.0}, {1: 0.9, 2: 0.1}), differ({1: 1.0}, {1: 0.5, 2: 0.5})
    (False, True)
    """
    return _shared(one, other) < MIN_SHARED


def differ_significantly(
    one: Distribution, other: Distribution, support: int, other_support: int
) -> bool:
    """Whether they differ by more than chance, given the number of observations behind each.

    >>> one, other = {1: 0.62, 2: 0.38}, {1: 0.38, 2: 0.62}
    >>> differ_significantly(one, other, 1_000, 1_000), differ_significantly(one, other, 20, 20)
    (True, False)
    """
    outcomes = len(one.keys() | other.keys())
    noise = math.sqrt(outcomes * (1 / max(1, support) + 1 / max(1, other_support)))
    return 1 - _shared(one, other) > min(1 - MIN_SHARED, noise)


def _shared(one: Distribution, other: Distribution) -> float:
    """Return the probability that both give to the same values."""
    return sum(min(chance, other.get(value, 0.0)) for value, chance in one.items())


def definition_of(state: State, object_id: int | None, attribute: str) -> Attribute:
    """Return the definition of an attribute or, without an object, of the reward or the end."""
    if object_id is None:
        return feedback_attribute(attribute)
    return state.schema.attributes[attribute]


def new_values(
    state: State,
    object_id: int | None,
    attribute: str,
    counts: Mapping[Outcome, int],
    frame: Frame,
) -> dict[Any, float]:
    """Return the new values of an attribute, with their chances, at a leaf with these counts.

    Without an object, they are those of the reward or the end. Where the frame has no reference,
    nothing is known, and the value stays as it is.
    """
    if object_id is None:
        return {outcome: n / sum(counts.values()) for outcome, n in counts.items()}
    values = frame.new_values(state, object_id, attribute, counts)
    total = sum(values.values())
    if not total:
        return {state.value(object_id, attribute): 1.0}
    return {value: n / total for value, n in values.items()}


def in_words(
    distribution: Mapping[Any, float],
    attribute: Attribute | None = None,
    text: Callable[[Any, Attribute | None], str] = value_text,
) -> str:
    """Return the values, likeliest first; a certain one without its chance.

    >>> in_words({(1, 0): 1.0}), in_words({0: 0.25, 3: 0.75})
    ('(1, 0)', '3 (75%) or 0 (25%)')
    """
    ranked = sorted(distribution.items(), key=lambda each: (-each[1], repr(each[0])))
    if len(ranked) == 1:
        return text(ranked[0][0], attribute)
    parts = [f"{text(value, attribute)} ({percent(p)})" for value, p in ranked[:_MAX_VALUES]]
    more = len(ranked) - len(parts)
    return " or ".join(parts) + (f" or {more} more" if more else "")


def to_json(distribution: Mapping[Any, float]) -> list[dict[str, Any]]:
    """Return the distribution as data that JSON can hold."""
    return [
        {"value": repr(value) if isinstance(value, Stays | Jumps) else value, "probability": chance}
        for value, chance in distribution.items()
    ]


def times_seen(n: int, by_hand: bool = False) -> str:
    """Say how often something was seen, or that somebody wrote it.

    >>> times_seen(0), times_seen(1), times_seen(1200), times_seen(1, by_hand=True)
    ('never seen', 'seen once', 'seen 1,200 times', 'written by hand')
    """
    if by_hand and n:
        return "written by hand"
    return {0: "never seen", 1: "seen once"}.get(n, f"seen {n:,} times")


def as_outcomes(state: State, object_id: int | None, attribute: str, values: Distribution) -> str:
    """Return new values as the outcomes of a rule, as text that can be compared across states.

    >>> from treethink import Object, Schema
    >>> lamp = State(Schema({"lamp": ["on"]}, {"on": 1}, []), [Object(1, "lamp", on=5)])
    >>> as_outcomes(lamp, 1, "on", {4: 0.25, 5: 0.75})
    'stays (75%) or -1 (25%)'
    """
    meaning = definition_of(state, object_id, attribute)
    if object_id is None:
        return in_words(values, meaning, outcome_text)
    frame = default_frame(meaning)
    outcomes = {
        frame.outcome_of(state, object_id, attribute, value, stays=False): chance
        for value, chance in values.items()
    }
    return in_words(outcomes, meaning, outcome_text)
