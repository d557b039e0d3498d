"""The counts with which each node of a rule answers, and other things that all exports need.

A leaf answers with its counts. A leaf without any answers with the counts of the nearest node above
it that has some, and the root with all that the rule has ever seen. If most of what a leaf or that
node has seen is not told apart (`max_outcomes`), there is no answer. The engine does the same
(`Tree::answering_node`, `is_mostly_others`), and so must everything that is exported from a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from treethink.errors import UnknownNameError
from treethink.frames import Outcome, negative
from treethink.rules import EngineNode, Rule, Test, Value, by_value
from treethink.state import Schema

KINDS = ("equality", "difference", "order", "threshold", "something")
"""The kinds of fact that can be exported to another language."""

Counts = Mapping[Outcome, int]
Term = tuple[int, str]  # a variable and one of its attributes


def answers_of(rule: Rule) -> list[Counts]:
    """Return, for each node, the counts with which a leaf in its place would answer."""
    nodes = rule.nodes
    counts = [by_value(node.counts) for node in nodes]
    others = [node.others for node in nodes]
    if not nodes[0].edited[2] or not counts[0]:
        counts[0], others[0] = dict(rule.seen), rule.others
    noise = [n > sum(told.values()) for n, told in zip(others, counts, strict=True)]
    answering = [0] * len(nodes)
    for index, (left, right, *_) in enumerate(nodes):
        for child in (left, right):
            if child is not None:
                answering[child] = child if counts[child] else answering[index]
    return [{} if noise[i] or noise[a] else counts[a] for i, a in enumerate(answering)]


def branch_test(node: EngineNode, where: str, schema: Schema | None) -> Test:
    """Return the test of a branch; `where` names the form, for the error about unknown kinds."""
    assert node.test is not None
    if node.test[0] not in KINDS:
        raise UnknownNameError("kind of fact", node.test[0], KINDS, where)
    return Test.from_engine(node.test, len(node.classes), schema)


def by_age(test: Test) -> tuple[Term, Term, Value]:
    """Return a difference or an order as two terms, the older variable first, and its value."""
    first, second = test.terms
    if first[0] <= second[0]:
        return first, second, test.value
    return second, first, negative(test.value)


def is_never_seen(node: EngineNode, answer: Counts) -> bool:
    """Whether a leaf has no counts, and answers with those of a node above it."""
    return not node[3] and bool(answer)


def is_by_hand(node: EngineNode) -> bool:
    """Whether the counts of a leaf were written by hand."""
    return node.test is None and node.edited[1] and bool(node.counts)


def identifier(title: str, taken: Iterable[str] = ()) -> str:
    """Return a name like the title that is valid in Python and Prolog, and not one of `taken`.

    >>> identifier("player.pos when right"), identifier("1 %.on when ä", {"rule_1_on_when"})
    ('player_pos_when_right', 'rule_1_on_when_2')
    """
    name = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")
    name = name if name[:1].isalpha() else f"rule_{name}".rstrip("_")
    numbered, number, others = name, 1, set(taken)
    while numbered in others:
        number += 1
        numbered = f"{name}_{number}"
    return numbered
