"""The reference implementation of editing a tree.

A part that was written by hand is a nested tuple: ``(test, yes, no)`` for a branch, a dict of
outcomes and counts for a leaf.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from reference import Node, Outcome, ReferenceModel, ReferenceTree, in_order, without_others

WrittenPart = tuple[Any, "WrittenPart", "WrittenPart"] | dict[Outcome, int]  # type: ignore[misc]


def at(tree: ReferenceTree, path: str) -> Node:
    node = tree.root
    for step in path:
        node = node.left if step == "L" else node.right  # type: ignore[assignment]
    return node


def below(node: Node) -> Iterator[Node]:
    """The node and all below it, in preorder."""
    yield node
    if node.left and node.right:
        yield from below(node.left)
        yield from below(node.right)


def answer(tree: ReferenceTree, path: str) -> Counter[Outcome]:
    """What a leaf at the path answers, or would if it had seen nothing."""
    for length in range(len(path), -1, -1):
        node = at(tree, path[:length])
        if (length > 0 or node.prior_counts is not None) and node.answer_counts():
            return Counter(node.answer_counts())
    return without_others(tree.seen)


def replace(tree: ReferenceTree, path: str, part: WrittenPart) -> None:
    node = at(tree, path)
    forget(tree, node)
    new = Node(node.variables, path)
    node.__dict__.update(new.__dict__)
    write(node, part)
    named = in_order({each for leaf in node.leaves() for each in leaf.prior_counts or ()})
    tree.outcomes += [each for each in named if each not in tree.outcomes]
    pin(tree, path)


def write(node: Node, part: WrittenPart) -> None:
    node.hand_written = True
    if isinstance(part, dict):
        node.prior_counts = Counter(part)
        return
    test, yes, no = part
    node.become_branch(test)
    assert node.left and node.right
    write(node.left, yes)
    write(node.right, no)
    node.prior_counts = (node.left.prior_counts or Counter()) + (
        node.right.prior_counts or Counter()
    )


def forget(tree: ReferenceTree, node: Node) -> None:
    """Remove deleted nodes from the lists of waiting nodes."""
    removed = set(below(node))
    tree.awaiting_decision = [each for each in tree.awaiting_decision if each not in removed]
    tree.awaiting_replay = [each for each in tree.awaiting_replay if each not in removed]


def pin(tree: ReferenceTree, path: str) -> None:
    node = at(tree, path)
    if len(tree.seen) < 2 and not tree.edited and not node.hand_written:
        node.hand_written = True
        node.prior_counts = without_others(tree.seen)
    if node is tree.root and node.prior_counts is None:
        node.prior_counts = without_others(tree.seen - node.totals)
    elif not node.answer_counts():
        node.prior_counts = answer(tree, path)
    for each in below(node):
        if not each.pinned:
            each.seen_since_pinned = Counter()
        each.pinned = True
    tree.edited = True


def unpin(model: ReferenceModel, tree: ReferenceTree, path: str, outcomes: int) -> None:
    """`outcomes` is how many are known, those that were only named included."""
    for each in below(at(tree, path)):
        if each.pinned and each.test is None:
            if each.hand_written and model.kept:
                tree.awaiting_replay.append(each)
            if each.seen_since_pinned:
                prior = Counter() if each.hand_written else each.prior_counts or Counter()
                each.prior_counts = prior + without_others(each.seen_since_pinned)
                each.hand_written = each.hand_written and bool(model.kept)
        each.pinned = False
        each.seen_since_pinned = Counter()
    if tree.root.test is None and not tree.root.pinned and outcomes < 2 and tree.transitions > 0:
        tree.root = Node(tree.root.variables)
        tree.edited = False
        tree.awaiting_replay = []
    model._replay()


def keep_child(tree: ReferenceTree, path: str, left: bool, merge: bool) -> None:
    node = at(tree, path)
    kept, other = (node.left, node.right) if left else (node.right, node.left)
    assert kept and other
    if merge:
        for node_kept, node_removed in zip(below(kept), below(other), strict=True):
            if node_kept.test is None and node_removed.answer_counts():
                node_kept.prior_counts = (
                    node_kept.prior_counts or Counter()
                ) + node_removed.answer_counts()
    if not kept.answer_counts():
        kept.prior_counts = (
            answer(tree, path) if node is tree.root else Counter(node.answer_counts())
        )
    if node is tree.root and kept.prior_counts is None:
        kept.prior_counts = Counter()
    forget(tree, other)
    tree.awaiting_decision = [node if each is kept else each for each in tree.awaiting_decision]
    node.__dict__.update(kept.__dict__)
    rename(node, path)


def rename(node: Node, path: str) -> None:
    node.path = path
    if node.left and node.right:
        rename(node.left, path + "L")
        rename(node.right, path + "R")
