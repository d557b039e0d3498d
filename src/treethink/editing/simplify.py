"""The same rule with fewer tests: what it says is the same in every possible state.

    rule -> [ simplifying ] -> steps for the engine, each of which keeps one child of a branch

A test goes if the answers above it decide it (knowledge.py), and its branch with it. It goes too
if both of its branches say the same: two leaves of the same distribution; or the same tests, in
other words perhaps, with the same leaves.

With equal tests below, care is needed. A tree follows a set of bindings, and a test that holds for
some of them leaves only those; and an object that a test has found is taken, so that no test below
can find it again. So equal tests are only merged below a test that can do neither: it holds for
all bindings or for none, and what it has found, the tests below would not find.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

from treethink.editing.implication import Knowledge
from treethink.export.answers import answers_of
from treethink.rules import Rule, Test, Value


class Step(NamedTuple):
    """Which child of the branch at `path` to keep; `merge`: the other one says the same."""

    path: str
    left: bool
    merge: bool


@dataclass(eq=False)
class Part:
    """A node, and all below it, that can be changed."""

    classes: tuple[str, ...]
    says: frozenset[tuple[Value, Fraction]]  # with its share
    edited: tuple[bool, bool]  # pinned, written: parts that differ in this stay apart
    test: Test | None = None
    left: "Part | None" = None
    right: "Part | None" = None

    @property
    def children(self) -> tuple["Part", "Part"]:
        assert self.left is not None
        assert self.right is not None
        return self.left, self.right

    def become(self, child: "Part") -> None:
        """Give up the test; `child` is what is left."""
        self.classes, self.says, self.edited = child.classes, child.says, child.edited
        self.test, self.left, self.right = child.test, child.left, child.right


def steps_of(rule: Rule) -> list[Step]:
    """What makes the rule smaller, one step after the other."""
    root = _parts(rule)
    return [*_decided(root), *_merged(root, len(rule.classes))]


def _parts(rule: Rule) -> Part:
    parts: list[Part] = []
    for node, answer in zip(rule.nodes, answers_of(rule), strict=True):
        total = sum(answer.values())
        says = frozenset((value, Fraction(n, total)) for value, n in answer.items())
        test = None if node.test is None else Test.from_engine(node.test, len(node.classes))
        parts.append(Part(node.classes, says, node.edited[:2], test))
    for part, node in zip(parts, rule.nodes, strict=True):
        if node.left is not None and node.right is not None:
            part.left, part.right = parts[node.left], parts[node.right]
    return parts[0]


def _decided(root: Part) -> Iterator[Step]:
    """Tests that the answers above them decide."""
    open_ = [(root, "", Knowledge(root.classes))]
    while open_:
        part, path, known = open_.pop()
        while part.test is not None:
            implied = known.implies(part.test)
            if not implied and not known.refutes(part.test):
                break
            yield Step(path, implied, False)
            part.become(part.children[0 if implied else 1])
        if part.test is not None:
            left, right = part.children
            open_.append((right, path + "R", known.failing(part.test)))
            open_.append((left, path + "L", known.holding(part.test)))


def _merged(root: Part, arguments: int) -> Iterator[Step]:
    """Tests whose branches say the same, from below."""
    order = [(root, "", Knowledge(root.classes))]
    for part, path, known in order:  # it grows on the way: every node after its parent
        if part.test is not None:
            left, right = part.children
            order.append((left, path + "L", known.holding(part.test)))
            order.append((right, path + "R", known.failing(part.test)))
    for part, path, known in reversed(order):
        if part.test is not None and _say_the_same(part, known, arguments):
            yield Step(path, False, True)
            part.become(part.children[1])


def _say_the_same(part: Part, known: Knowledge, arguments: int) -> bool:
    assert part.test is not None
    left, right = part.children
    if left.test is None or right.test is None:
        return left.test is right.test and _same_leaf(left, right)
    if part.test.new:
        one_binding = len(part.classes) == arguments
        return one_binding and _alike(part, known.holding(part.test))
    return max(part.test.variables) < arguments and _alike(part, known.holding(part.test))


def _same_leaf(one: Part, other: Part) -> bool:
    return one.says == other.says and one.edited == other.edited


def _alike(part: Part, known: Knowledge) -> bool:
    """Whether the branch for no would say the same where the test holds."""
    assert part.test is not None
    found = range(len(part.classes), len(known.classes))
    left, right = part.children
    open_ = [(left, right, known)]
    while open_:
        one, other, known = open_.pop()
        if one.test is None or other.test is None:
            if one.test is not other.test or not _same_leaf(one, other):
                return False
            continue
        asked = _beside(other.test, found)
        if not known.equates(one.test, asked) or one.edited != other.edited:
            return False
        if _finds_again(asked, found, known):
            return False
        (yes, no), (other_yes, other_no) = one.children, other.children
        open_.append((no, other_no, known.failing(asked)))
        open_.append((yes, other_yes, known.holding(asked)))
    return True


def _beside(test: Test, found: range) -> Test:
    """The test as it is where those variables are known too."""

    def number(each: int) -> int:
        return each + len(found) if each >= found.start else each

    new = tuple((number(each), name) for each, name in test.new)
    return replace(test, variables=tuple(map(number, test.variables)), new=new)


def _finds_again(test: Test, found: range, known: Knowledge) -> bool:
    """Whether one of the objects already found could be what the test looks for."""
    for number, name in test.new:
        for taken in found:
            if known.classes[taken] != name:
                continue
            if not known.refutes(_about(test, number, taken, len(known.classes))):
                return True
    return False


def _about(test: Test, number: int, taken: int, known: int) -> Test:
    """The test with an object already found for one of its new variables."""
    others = tuple((known, name) for each, name in test.new if each != number)
    names = {each: known for each, _ in test.new} | {number: taken}
    variables = tuple(names.get(each, each) for each in test.variables)
    return replace(test, variables=variables, new=others)
