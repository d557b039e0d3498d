"""What each node of a rule answers, and which names the answers go by.

    rule -> [ answers ] -> code, module, prolog

A leaf answers with what it has counted. One that has counted nothing answers with the counts of
the nearest node above it that has any, and the root with all that the rule has ever seen: so does
the engine (`Tree::answering`), and so must everything that is written from a tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from treethink.errors import UnknownNameError
from treethink.explain.vectors import negative
from treethink.rules import EngineNode, Rule, Test, Value, by_value

KINDS = ("equality", "difference")
"""The kinds of fact that can be written in another language."""

Counts = Mapping[Value, int]


def answers_of(rule: Rule) -> list[Counts]:
    """For each node, the counts with which a leaf in its place would answer."""
    nodes = rule.nodes
    given = by_value(nodes[0].counts) if nodes[0].edited[2] else rule.seen
    answers: list[Counts] = [given] * len(nodes)
    for index, (left, right, *_) in enumerate(nodes):
        for child in (left, right):
            if child is not None:
                answers[child] = by_value(nodes[child].counts) or answers[index]
    return answers


def asked_by(node: EngineNode, where: str) -> Test:
    """The test of a branch; `where` names the form that cannot say every kind of fact."""
    assert node.test is not None
    if node.test[0] not in KINDS:
        raise UnknownNameError("kind of fact", node.test[0], KINDS, where)
    return Test.from_engine(node.test, len(node.classes))


def difference_of(test: Test) -> tuple[int, int, Value]:
    """The older variable, the newer one, and by how much the newer is more."""
    first, second = test.variables
    if first < second:
        return first, second, test.value
    return second, first, negative(test.value)


def is_never_seen(node: EngineNode, answer: Counts) -> bool:
    """Whether a leaf borrows what it answers."""
    return not node[3] and bool(answer)


def is_by_hand(node: EngineNode) -> bool:
    """Whether what a leaf says was written by somebody: it has counted nothing itself."""
    return node.test is None and node.edited[1] and bool(node.counts)


def identifier(title: str, taken: Iterable[str] = ()) -> str:
    """A name that both languages take, like the title, and not among those `taken`.

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
