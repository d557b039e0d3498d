"""The tree of a rule as nested choices, with conditions joined as a person would join them.

    rule -> [ phrases ] -> sentences

"If A: if B: x, otherwise y. Otherwise y" becomes "If A and B: x. Otherwise y", and so on. Only
leaves with a single outcome are joined, and nothing is left out: for every state, a phrase ends in
an outcome that the tree would have given (tests/explain/test_english.py checks both).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from treethink.frames import VALUE, Outcome
from treethink.rules import Node, Rule, Test, Value

__all__ = [
    "Choice",
    "Condition",
    "Conjunction",
    "Leaf",
    "Phrase",
    "are_same",
    "is_certain",
    "phrase_of",
]

# A sentence with more than this is hard to follow.
_MAX_CONDITIONS, _MAX_ALTERNATIVES = 4, 3


@dataclass(frozen=True, slots=True)
class Condition:
    """A test and the answer that is required; `known` are the classes bound before it."""

    test: Test
    known: tuple[str, ...]
    holds: bool = True


Conjunction = tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """How often each outcome was seen, or `by_hand` was declared to be.

    `others` is the number of observations whose outcomes are not told apart (`max_outcomes`).
    `unchanged`: the only outcome is the value that the tests above say it had before.
    """

    counts: Mapping[Outcome, int]
    by_hand: bool = False
    others: int = 0
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """`yes` if one of the alternatives holds, otherwise `no`.

    An alternative holds if all of its conditions hold, tested in order.
    """

    alternatives: tuple[Conjunction, ...]
    yes: "Phrase"
    no: "Phrase"


Phrase = Leaf | Choice


def phrase_of(rule: Rule) -> Phrase:
    """Return the rule's tree as a phrase, built from the leaves up so that depth is no limit."""
    phrases: dict[int, Phrase] = {}
    before = _values_before(rule)
    for node in reversed([*rule.root.walk()]):
        if node.test is None:
            unchanged = not node.others and bool(node.counts)
            unchanged = unchanged and [*node.counts] == before.get(id(node))
            phrases[id(node)] = Leaf(node.counts, node.written, node.others, unchanged)
        else:
            condition = Condition(node.test, node.classes)
            yes, no = phrases.pop(id(node.left)), phrases.pop(id(node.right))
            phrases[id(node)] = yes if _unchanged(yes, no) else _joined(condition, yes, no)
    return phrases[id(rule.root)]


def _unchanged(*phrases: Phrase) -> bool:
    return all(isinstance(each, Leaf) and each.unchanged for each in phrases)


def _values_before(rule: Rule) -> dict[int, list[Value]]:
    """Return the values that the attribute may have had at each leaf, if the tests say which.

    A test states a value, or excludes one. Only a rule that predicts values needs them.
    """
    attribute = rule.attribute
    if rule.key is None or attribute is None or rule.frame != VALUE:
        return {}
    known = 2 if attribute.kind == "flag" else len(attribute.names or ())
    possible: list[Value] = [attribute.decode(code) for code in range(known)]
    about_itself = ("equality", rule.key[1], (0,))
    before: dict[int, list[Value]] = {}
    pending: list[tuple[Node, list[Value]]] = [(rule.root, possible)]
    while pending:
        node, values = pending.pop()
        test = node.test
        if test is None or node.yes is None or node.no is None:
            before[id(node)] = values
        elif (test.kind, test.attribute, test.variables) == about_itself:
            others = [each for each in values if each != test.value]
            pending += [(node.yes, [test.value]), (node.no, others)]
        else:
            pending += [(node.yes, values), (node.no, values)]
    return before


def _joined(condition: Condition, yes: Phrase, no: Phrase) -> Choice:
    """Return a choice, joined with the one below it where one sentence can say both."""
    for joined in (_joined_with_yes(condition, yes, no), _joined_with_no(condition, yes, no)):
        if joined is not None and _is_short(joined):
            return joined
    return Choice(((condition,),), yes, no)


def _joined_with_yes(condition: Condition, yes: Phrase, no: Phrase) -> Choice | None:
    """Join with the choice below yes if it shares an end with no: A and B, A and not B."""
    if not isinstance(yes, Choice):
        return None
    if len(yes.alternatives) == 1 and are_same(yes.no, no):
        return Choice(((condition, *yes.alternatives[0]),), yes.yes, no)
    if (negated := _negated(yes.alternatives)) and are_same(yes.yes, no):
        return Choice(((condition, *negated),), yes.no, no)
    return None


def _joined_with_no(condition: Condition, yes: Phrase, no: Phrase) -> Choice | None:
    """Join with the choice below no if it shares an end with yes: A or B, not A but B."""
    if not isinstance(no, Choice):
        return None
    if are_same(no.yes, yes):
        return Choice(((condition,), *no.alternatives), yes, no.no)
    if len(no.alternatives) == 1 and are_same(no.no, yes):
        return Choice(((replace(condition, holds=False), *no.alternatives[0]),), no.yes, yes)
    return None


def _negated(alternatives: tuple[Conjunction, ...]) -> Conjunction:
    """Return what holds when no alternative does; empty where that is not a conjunction."""
    if any(len(conjunction) > 1 for conjunction in alternatives):
        return ()
    return tuple(replace(each[0], holds=not each[0].holds) for each in alternatives)


def are_same(one: Phrase, other: Phrase) -> bool:
    """Whether both are leaves that are certain of the same outcome."""
    both = is_certain(one) and is_certain(other)
    return (
        both
        and isinstance(one, Leaf)
        and isinstance(other, Leaf)
        and (one.unchanged == other.unchanged)
        and (one.unchanged or set(one.counts) == set(other.counts))
    )


def is_certain(phrase: Phrase) -> bool:
    """Whether it is a leaf that has seen exactly one outcome."""
    return isinstance(phrase, Leaf) and len(phrase.counts) == 1 and not phrase.others


def _is_short(choice: Choice) -> bool:
    longest = max(len(conjunction) for conjunction in choice.alternatives)
    return longest <= _MAX_CONDITIONS and len(choice.alternatives) <= _MAX_ALTERNATIVES
