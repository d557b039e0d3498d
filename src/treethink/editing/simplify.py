"""The same rule with fewer tests: its answers are the same in every possible state.

    rule -> [ simplify ] -> steps for the engine, each of which keeps one child of a branch

A test is removed if the answers above it decide it (see `implication`). It is also removed if both
of its branches are equivalent: two leaves with the same distribution, or equivalent tests with
equivalent leaves.

Equal tests below need care. A tree follows a set of bindings, and a test that holds for some of
them keeps only those; and an object that a test has bound cannot be bound again by a test below.
So equal tests are merged only below a test that has neither effect: it holds for all bindings or
for none, and the tests below could not bind the objects that it binds.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from treethink.editing.implication import Knowledge
from treethink.export.answers import answers_of
from treethink.frames import Outcome
from treethink.rules import Rule, Test


class Step(NamedTuple):
    """Keep one child of the branch at `path`; `merge`: the other one is equivalent."""

    path: str
    left: bool
    merge: bool


@dataclass(eq=False)
class Subtree:
    """A node and all below it, which can be changed."""

    classes: tuple[str, ...]
    shares: frozenset[tuple[Outcome, Fraction]]  # of the outcomes
    edited: tuple[bool, bool]  # pinned, written: subtrees that differ in this are not merged
    test: Test | None = None
    left: "Subtree | None" = None
    right: "Subtree | None" = None

    @property
    def children(self) -> tuple["Subtree", "Subtree"]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right

    def become(self, child: "Subtree") -> None:
        """Replace this node by one of its children."""
        self.classes, self.shares, self.edited = child.classes, child.shares, child.edited
        self.test, self.left, self.right = child.test, child.left, child.right


def steps_of(rule: Rule) -> list[Step]:
    """Return the steps that simplify the rule, in order."""
    root = _subtree_of(rule)
    return [*_remove_decided(root), *_merge_equivalent(root, len(rule.classes))]


def _subtree_of(rule: Rule) -> Subtree:
    subtrees: list[Subtree] = []
    for node, answer in zip(rule.nodes, answers_of(rule), strict=True):
        total = sum(answer.values())
        shares = frozenset((value, Fraction(n, total)) for value, n in answer.items())
        test = (
            None
            if node.test is None
            else Test.from_engine(node.test, len(node.classes), rule.schema)
        )
        subtrees.append(Subtree(node.classes, shares, node.edited[:2], test))
    for subtree, node in zip(subtrees, rule.nodes, strict=True):
        if node.left is not None and node.right is not None:
            subtree.left, subtree.right = subtrees[node.left], subtrees[node.right]
    return subtrees[0]


def _remove_decided(root: Subtree) -> Iterator[Step]:
    """Remove tests that are decided by the answers above them."""
    pending = [(root, "", Knowledge(root.classes))]
    while pending:
        node, path, known = pending.pop()
        while node.test is not None:
            implied = known.implies(node.test)
            if not implied and not known.refutes(node.test):
                break
            yield Step(path, implied, False)
            node.become(node.children[0 if implied else 1])
        if node.test is not None:
            left, right = node.children
            pending.append((right, path + "R", known.failing(node.test)))
            pending.append((left, path + "L", known.holding(node.test)))


def _merge_equivalent(root: Subtree, arguments: int) -> Iterator[Step]:
    """Remove tests whose branches are equivalent, from the leaves up."""
    order = [(root, "", Knowledge(root.classes))]
    for node, path, known in order:  # the list grows: every node comes after its parent
        if node.test is not None:
            left, right = node.children
            order.append((left, path + "L", known.holding(node.test)))
            order.append((right, path + "R", known.failing(node.test)))
    for node, path, known in reversed(order):
        if node.test is not None and _has_equivalent_branches(node, known, arguments):
            yield Step(path, False, True)
            node.become(node.children[1])


def _has_equivalent_branches(node: Subtree, known: Knowledge, arguments: int) -> bool:
    assert node.test is not None
    left, right = node.children
    if left.test is None or right.test is None:
        return left.test is right.test and _same_leaf(left, right)
    if node.test.new:
        one_binding = len(node.classes) == arguments
        return one_binding and _subtrees_match(node, known.holding(node.test))
    return max(node.test.variables) < arguments and _subtrees_match(node, known.holding(node.test))


def _same_leaf(one: Subtree, other: Subtree) -> bool:
    return one.shares == other.shares and one.edited == other.edited


def _subtrees_match(node: Subtree, known: Knowledge) -> bool:
    """Whether the branch for no would give the same answers where the test holds."""
    assert node.test is not None
    bound = range(len(node.classes), len(known.classes))
    left, right = node.children
    pending = [(left, right, known)]
    while pending:
        one, other, known = pending.pop()
        if one.test is None or other.test is None:
            if one.test is not other.test or not _same_leaf(one, other):
                return False
            continue
        test = _renumbered(other.test, bound)
        if not known.equates(one.test, test) or one.edited != other.edited:
            return False
        if _could_bind_again(test, bound, known):
            return False
        (yes, no), (other_yes, other_no) = one.children, other.children
        pending.append((no, other_no, known.failing(test)))
        pending.append((yes, other_yes, known.holding(test)))
    return True


def _renumbered(test: Test, bound: range) -> Test:
    """Return the test as it is where those variables are bound too."""

    def number(each: int) -> int:
        return each + len(bound) if each >= bound.start else each

    new = tuple((number(each), name) for each, name in test.new)
    return replace(test, variables=tuple(map(number, test.variables)), new=new)


def _could_bind_again(test: Test, bound: range, known: Knowledge) -> bool:
    """Whether the test could bind one of the objects that are already bound."""
    for number, name in test.new:
        for variable in bound:
            if known.classes[variable] != name:
                continue
            if not known.refutes(_about(test, number, variable, len(known.classes))):
                return True
    return False


def _about(test: Test, number: int, variable: int, known: int) -> Test:
    """Return the test with a variable that is already bound for one of its new variables."""
    others = tuple((known, name) for each, name in test.new if each != number)
    names = {each: known for each, _ in test.new} | {number: variable}
    variables = tuple(names.get(each, each) for each in test.variables)
    return replace(test, variables=variables, new=others)
