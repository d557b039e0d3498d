"""A tree, put the way a person would say it: conditions that belong together are said together.

    rule -> [ reading ] -> english

In:   a `Rule`.
Out:  a `Reading`: a leaf's counts, or a `Choice` between two readings.

"If A: if B: x, otherwise y. Otherwise y" is said as "If A and B: x. Otherwise y", and so on. Only
leaves that are certain are put together, and nothing is left out: for every state, a reading ends
in an outcome that the tree would have given (tests/explain/test_english.py asks both).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from treethink.rules import Rule, Test, Value

__all__ = ["Choice", "Condition", "Leaf", "Reading", "is_certain", "read"]

# More than that in one sentence, and nobody can follow.
_MOST_CONDITIONS, _MOST_WAYS = 4, 3


@dataclass(frozen=True, slots=True)
class Condition:
    """A test and the answer that is asked for; `known` are the classes bound before it."""

    test: Test
    known: tuple[str, ...]
    holds: bool = True


Way = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """How often each outcome was seen; or, if somebody wrote that `by_hand`, is said to be."""

    counts: Mapping[Value, int]
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes` if one of the ways holds, each of them all its conditions in order; otherwise `no`."""

    ways: tuple[Way, ...]
    yes: "Reading"
    no: "Reading"


Reading = Leaf | Choice


def read(rule: Rule) -> Reading:
    """The rule's tree as a reading, from the leaves up: depth is no limit."""
    found: dict[int, Reading] = {}
    for node in reversed([*rule.root.walk()]):
        if node.test is None:
            found[id(node)] = Leaf(node.counts, node.written)
        else:
            asked = Condition(node.test, node.classes)
            found[id(node)] = _joined(asked, found.pop(id(node.left)), found.pop(id(node.right)))
    return found[id(rule.root)]


def _joined(asked: Condition, yes: Reading, no: Reading) -> Choice:
    """A choice, joined with the one below it where both can be said at once."""
    for joined in (_also(asked, yes, no), _or_else(asked, yes, no)):
        if joined is not None and _is_short(joined):
            return joined
    return Choice(((asked,),), yes, no)


def _also(asked: Condition, yes: Reading, no: Reading) -> Choice | None:
    """A choice below the yes that has one end in common with the no: A and B, A and not B."""
    if not isinstance(yes, Choice):
        return None
    if len(yes.ways) == 1 and _same(yes.no, no):
        return Choice(((asked, *yes.ways[0]),), yes.yes, no)
    if (neither := _denied(yes.ways)) and _same(yes.yes, no):
        return Choice(((asked, *neither),), yes.no, no)
    return None


def _or_else(asked: Condition, yes: Reading, no: Reading) -> Choice | None:
    """A choice below the no that has one end in common with the yes: A or B, not A but B."""
    if not isinstance(no, Choice):
        return None
    if _same(no.yes, yes):
        return Choice(((asked,), *no.ways), yes, no.no)
    if len(no.ways) == 1 and _same(no.no, yes):
        return Choice(((replace(asked, holds=False), *no.ways[0]),), no.yes, yes)
    return None


def _denied(ways: tuple[Way, ...]) -> Way:
    """What holds when none of the ways does; empty where that takes more than a list."""
    if any(len(way) > 1 for way in ways):
        return ()
    return tuple(replace(way[0], holds=not way[0].holds) for way in ways)


def _same(one: Reading, other: Reading) -> bool:
    """Whether both are leaves that are certain of the same outcome."""
    both = is_certain(one) and is_certain(other)
    return (
        both
        and isinstance(one, Leaf)
        and isinstance(other, Leaf)
        and set(one.counts) == set(other.counts)
    )


def is_certain(reading: Reading) -> bool:
    """Whether it is a leaf that has seen one outcome."""
    return isinstance(reading, Leaf) and len(reading.counts) == 1


def _is_short(choice: Choice) -> bool:
    most = max(len(way) for way in choice.ways)
    return most <= _MOST_CONDITIONS and len(choice.ways) <= _MOST_WAYS
