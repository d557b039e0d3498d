"""Variants of the learner: each follows the paper in one point where ours departs from it.

    scene, targets -> [ a tree of some variant ] -> events, predictions

Every variant is the slow twin in `tests/twins/reference.py` with one thing as in the paper. Their
base, `Ours`, only stores counts in arrays, so that all variants can learn from the same stream in
little time; `differences.py` checks that it decides as the twin does.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from reference import (
    MAX_BINDINGS,
    Binding,
    Fact,
    FactType,
    Node,
    Outcome,
    ReferenceTree,
    Scene,
    Test,
    extensions,
    fact_types,
    preference,
    score,
)

Array = np.ndarray[Any, Any]


class Table:
    """The counts of a node's candidates: a row for each, in the order they appeared."""

    def __init__(self) -> None:
        self.row: dict[Test, int] = {}
        self.tests: list[Test] = []
        self.true: Array = np.zeros((256, 8), dtype=np.int64)
        #: The counts of the node when the candidate appeared.
        self.start: Array = np.zeros((256, 8), dtype=np.int64)
        self.order: list[int] = []

    def add(self, test: Test, totals: Array) -> None:
        """Add a candidate; `totals` are the counts of its node so far."""
        if len(self.tests) == len(self.true):
            self.true = np.concatenate([self.true, np.zeros_like(self.true)])
            self.start = np.concatenate([self.start, np.zeros_like(self.start)])
        self.row[test] = len(self.tests)
        self.start[len(self.tests), : len(totals)] = totals
        self.order.append(len(self.tests))
        self.tests.append(test)


class Ours(ReferenceTree):
    """No departure: the twin, with its counts in arrays. At most eight outcomes."""

    title = "ours"

    def __init__(self, variables: Iterable[str], **settings: Any):
        #: Decisions: step, kind and path of the node.
        self.events: list[tuple[int, str, str]] = []
        super().__init__(variables, on_change=self._record, criterion="wilson", **settings)
        self.z = float(self.criterion.z)
        self.column: dict[Outcome, int] = {}
        self.tables: WeakKeyDictionary[Node, Table] = WeakKeyDictionary()
        self.counted: dict[Node, list[tuple[list[Binding], Outcome]]] = {}
        #: The largest numbers of bindings, variables and levels while learning.
        self.most = (0, 0, 0)

    def observe(self, scene: Scene, targets: Iterable[tuple[Binding, Outcome]]) -> None:
        """Observe as the twin does."""
        self.counted = {}
        super().observe(scene, targets)

    # -- counting --

    def table(self, node: Node) -> Table:
        """Return the candidates of a node."""
        if node not in self.tables:
            self.tables[node] = Table()
        return self.tables[node]

    def totals(self, node: Node) -> Array:
        """Return the counts of a node, by column."""
        return np.array([node.totals[outcome] for outcome in self.column], dtype=np.int64)

    def _count(
        self, node: Node, scene: Scene, bindings: Iterable[Binding], outcome: Outcome
    ) -> None:
        bindings = list(bindings)
        column = self.column.setdefault(outcome, len(self.column))
        table, totals = self.table(node), self.totals(node)
        tests = scene.true_tests(bindings)
        new = [test for test in tests if test not in table.row]
        for test in sorted(new, key=lambda each: preference(scene, each, len(node.variables))):
            if self.allows(node, test):
                table.add(test, totals)
            else:
                table.row[test] = -1
        rows = np.fromiter((table.row[test] for test in tests), dtype=np.int64)
        table.true[rows[rows >= 0], column] += 1
        node.totals[outcome] += 1
        self.counted.setdefault(node, []).append((bindings, outcome))
        sizes = (len(bindings), len(node.variables), len(node.path))
        self.most = tuple(map(max, self.most, sizes))  # type: ignore[assignment]

    def allows(self, node: Node, test: Test) -> bool:
        """Whether a test can be a candidate here."""
        return True

    def _evict(self, node: Node, scene: Scene) -> None:
        """Do nothing: streams are too short for evictions."""

    # -- deciding --

    def samples(self, node: Node, table: Table) -> Array:
        """Return the sample that each candidate is judged by: a row for each, or one for all."""
        return self.totals(node)[None, :]

    def successes(self, points: Array) -> Array:
        """Return N·S as a number of successes."""
        return points

    def ends(self, true: Array, samples: Array) -> tuple[Array, Array, Array]:
        """Return N·S, and both ends of its Wilson interval, of tests with these counts."""
        false = samples - true
        n_true, n_false = true.sum(axis=1), false.sum(axis=1)
        points = (true**2).sum(axis=1) / np.maximum(n_true, 1)
        points = points + (false**2).sum(axis=1) / np.maximum(n_false, 1)
        n = n_true + n_false
        p, z = np.minimum(self.successes(points) / n, 1.0), self.z
        radius = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        middle, scale = p + z**2 / (2 * n), 1 + z**2 / n
        return points, (middle - radius) / scale, (middle + radius) / scale

    def _decide_leaf(self, leaf: Node, scene: Scene) -> str | None:
        if len(leaf.totals) < 2:
            return None
        best, lower, _, none = self._weigh(leaf, scene)
        if best is None or lower[best] <= none:
            return None
        self.adopt(leaf, self.table(leaf).tests[best], scene)
        return "split"

    def _decide_branch(self, branch: Node, scene: Scene) -> str | None:
        best, lower, upper, none = self._weigh(branch, scene)
        table = self.table(branch)
        assert branch.test is not None
        current = table.row[branch.test]
        changes = best is not None and lower[best] > upper[current]
        candidate = best if changes and best is not None else current
        if lower[candidate] <= none:
            branch.make_leaf()
            return "return"
        if changes:
            self.adopt(branch, table.tests[candidate], scene)
            return "change"
        return None

    def _weigh(self, node: Node, scene: Scene) -> tuple[int | None, Array, Array, float]:
        """Return the best candidate's row, all intervals, and the upper end of no test."""
        table, totals = self.table(node), self.totals(node)[None, :]
        _, _, none = self.ends(np.zeros_like(totals), totals)
        true = table.true[: len(table.tests), : len(self.column)]
        points, lower, upper = self.ends(true, self.samples(node, table))
        return self.choose(node, scene, points, lower, upper), lower, upper, float(none[0])

    def choose(
        self, node: Node, scene: Scene, points: Array, lower: Array, upper: Array
    ) -> int | None:
        """Return the best candidate but for the node's test: by lower end, then by key."""
        table = self.table(node)
        worth = lower.copy()
        if node.test is not None:
            worth[table.row[node.test]] = -1.0
        if len(worth) == 0 or worth.max() < 0:
            return None
        near = np.flatnonzero(worth >= worth.max() - 1e-9)
        return max(
            (int(row) for row in near),
            key=lambda row: (self.exactly(node, row, lower), self.tie(scene, node, row)),
        )

    def exactly(self, node: Node, row: int, lower: Array) -> Any:
        """Return the value by which nearly equal candidates are compared."""
        counts = self.table(node).true[row]
        return score(node.totals, {each: int(counts[i]) for each, i in self.column.items()})

    def tie(self, scene: Scene, node: Node, row: int) -> Any:
        """Return the key that breaks ties; the greatest wins."""
        return _Least(preference(scene, self.table(node).tests[row], len(node.variables)))

    def adopt(self, node: Node, test: Test, scene: Scene) -> None:
        """Make the test the node's own."""
        node.become_branch(test)

    # -- inspection --

    def _record(self, event: str, path: str) -> None:
        self.events.append((self.transitions, event, path))

    def is_empty_at(self, scene: Scene, arguments: Binding) -> bool:
        """Whether the reached leaf has seen nothing yet, so that an ancestor predicts."""
        steps = self.route(scene, arguments)
        return len(steps) > 1 and not steps[-1][0].totals

    def nodes(self) -> list[Node]:
        """Return all nodes, in preorder."""
        return preorder(self)


def preorder(tree: ReferenceTree) -> list[Node]:
    """Return all nodes of a tree, each before its children, left before right."""
    nodes, open_ = [], [tree.root]
    while open_:
        nodes.append(open_.pop())
        if nodes[-1].left and nodes[-1].right:
            open_ += [nodes[-1].right, nodes[-1].left]
    return nodes


class _Least:
    """A key that reverses the order."""

    def __init__(self, key: Any):
        self.key = key

    def __gt__(self, other: _Least) -> bool:
        return bool(self.key < other.key)

    def __lt__(self, other: _Least) -> bool:
        return bool(self.key > other.key)


# --- one departure each ------------------------------------------------------------


class FirstSight(Ours):
    """Each candidate is judged by what its node counted since the candidate appeared."""

    title = "counted from first sight"

    def samples(self, node: Node, table: Table) -> Array:
        """Return the node's totals less those at first sight."""
        rows, columns = len(table.tests), len(self.column)
        return self.totals(node)[None, :] - table.start[:rows, :columns]

    def exactly(self, node: Node, row: int, lower: Array) -> Any:
        """Return the lower end: scores of different samples cannot be compared."""
        return round(float(lower[row]), 12)


class Bubble(Ours):
    """A list of candidates; one pass of swaps at every visit; its first is the best."""

    title = "bubble-sorted list"

    def choose(
        self, node: Node, scene: Scene, points: Array, lower: Array, upper: Array
    ) -> int | None:
        """Swap neighbours whose intervals do not overlap, and return the first of the list."""
        table = self.table(node)
        order, low, high = table.order, lower.tolist(), upper.tolist()
        for i in range(len(order) - 2, -1, -1):
            a, b = order[i], order[i + 1]
            if low[b] > high[a]:
                order[i], order[i + 1] = b, a
        if not order or (node.test is not None and order[0] == table.row[node.test]):
            return None
        return order[0]


class FirstSightBubble(FirstSight, Bubble):
    """The two together: updateTests and updateNodeType as printed."""

    title = "first sight and bubble-sorted list"


class NoConstantPhase(Ours):
    """Counts at the root from the very first transition on."""

    title = "no constant phase"

    def observe(self, scene: Scene, targets: Iterable[tuple[Binding, Outcome]]) -> None:
        """Route, count and decide from the first transition on."""
        targets = list(targets)
        super().observe(scene, targets)
        if len(self.seen) < 2:  # so the root is a leaf
            for arguments, outcome in targets:
                self._count(self.root, scene, [arguments], outcome)


class TriggerCounted(Ours):
    """The transition that made a leaf a branch is also counted in the new child."""

    title = "the splitting transition counts in the children"

    def _decide_leaf(self, leaf: Node, scene: Scene) -> str | None:
        event = super()._decide_leaf(leaf, scene)
        if leaf.test and leaf.left and leaf.right:
            for bindings, outcome in self.counted[leaf]:
                extended = extensions(scene, leaf.test, bindings)
                child = leaf.left if extended else leaf.right
                self._count(child, scene, extended or bindings, outcome)
        return event


class ArbitraryTies(Ours):
    """Equally good tests are told apart by a hash: neither simpler nor older ones first."""

    title = "ties broken by a hash"

    def tie(self, scene: Scene, node: Node, row: int) -> Any:
        """Return a hash, which is the same in each run."""
        return zlib.crc32(repr(tuple(self.table(node).tests[row])).encode())


class OldestFirst(Ours):
    """Of equally good tests the one that was seen first."""

    title = "ties broken by age"

    def tie(self, scene: Scene, node: Node, row: int) -> Any:
        """Return the age: rows are in order of appearance."""
        return -row


class FloatScores(Ours):
    """Scores are sums of probabilities in floating point, and compared as such."""

    title = "scores in floating point"

    def exactly(self, node: Node, row: int, lower: Array) -> Any:
        """Return the paper's S, summed term by term."""
        totals, true = self.totals(node), self.table(node).true[row, : len(self.column)]
        n = float(totals.sum())
        total = 0.0
        for half in (totals - true, true):
            for count in half.tolist():
                total += count / max(half.sum(), 1) * (count / n)
        return total


class Truncated(Ours):
    """N·S is cut to a whole number of successes before the interval is made."""

    title = "whole successes"

    def successes(self, points: Array) -> Array:
        """Return whole successes; the tolerance is for sums of fractions that are whole."""
        return np.floor(points + 1e-9)


class HandedDown(Ours):
    """A failed test hands the classes of its new variables to its right child.

    There they restrict what a new variable of the same number may be.
    """

    title = "failed test's classes handed to the right child"

    def __init__(self, variables: Iterable[str], **settings: Any):
        super().__init__(variables, **settings)
        self.classes: WeakKeyDictionary[Node, list[str]] = WeakKeyDictionary()

    def classes_of(self, node: Node) -> list[str]:
        """Return what the pseudocode calls var_class_types."""
        return self.classes.setdefault(node, list(node.variables))

    def allows(self, node: Node, test: Test) -> bool:
        """Check the classes as the inner loop of addPredicates does."""
        return self._with(self.classes_of(node).copy(), test) is not None

    def _with(self, classes: list[str], test: Test) -> list[str] | None:
        for slot, class_name in zip(test.slots, test.classes, strict=True):
            if slot >= len(classes):
                classes.append(class_name)
            elif classes[slot] != class_name:
                return None
        return classes

    def adopt(self, node: Node, test: Test, scene: Scene) -> None:
        """Make the test the node's own; both children get its classes."""
        classes = self._with(self.classes_of(node).copy(), test)
        node.become_branch(test)
        assert classes is not None and node.left and node.right
        self.classes[node.left] = classes
        self.classes[node.right] = classes.copy()


class Aliased(HandedDown):
    """All candidates of a node share one list of classes: addPredicates makes no copy."""

    title = "addPredicates shares var_class_types"

    def allows(self, node: Node, test: Test) -> bool:
        """Check and extend the shared list: the first candidate decides for all that follow."""
        return self._with(self.classes_of(node), test) is not None


VARIANTS: list[type[Ours]] = [
    Ours,
    FirstSight,
    Bubble,
    FirstSightBubble,
    NoConstantPhase,
    TriggerCounted,
    ArbitraryTies,
    OldestFirst,
    FloatScores,
    Truncated,
    HandedDown,
    Aliased,
]


# --- pairs in the order of object ids ----------------------------------------------


class ByIdScene(Scene):
    """A state whose pairs are extracted once each, the smaller id first (extractFacts)."""

    def __init__(self, state: Any):
        super().__init__(state)
        types = fact_types(self.schema)
        turned = [each._replace(classes=each.classes[::-1]) for each in types]
        self.types = list(dict.fromkeys([*types, *turned]))
        self.facts = [self._turned(fact) for fact in self.facts]

    def _turned(self, fact: Fact) -> Fact:
        if fact.objects == tuple(sorted(fact.objects)):
            return fact
        kind, attribute, classes, _ = fact.type
        turned = FactType(kind, attribute, classes[::-1])
        return Fact(turned, fact.objects[::-1], self.value_of(turned, fact.objects[::-1]))

    def _tests_of(self, binding: Binding) -> frozenset[Test]:
        if binding not in self._tests_remembered:
            tests = frozenset(_as_it_stands(fact, binding) for fact in self.facts)
            self._tests_remembered[binding] = tests
        return self._tests_remembered[binding]


def _as_it_stands(fact: Fact, binding: Binding) -> Test:
    new = (slot for slot in range(len(binding), len(binding) + 2))
    slots = tuple(binding.index(x) if x in binding else next(new) for x in fact.objects)
    return Test(*fact.type[:3], slots, fact.value)


class ById(Ours):
    """Learns from a `ByIdScene`; predicts with all facts, as the paper learns."""

    title = "pairs by object id"
    on_demand = False

    def route(self, scene: Scene, arguments: Binding) -> list[tuple[Node, list[Binding]]]:
        """Route an object; on demand (scanRel), pairs are found in both directions."""
        node, bindings = self.root, [arguments]
        steps = [(node, bindings)]
        while node.test and node.left and node.right:
            extended = extensions(scene, node.test, bindings)
            if not self.on_demand:
                slots = node.test.slots
                extended = [each for each in extended if _ascending(each, slots)]
            assert len(extended) < MAX_BINDINGS
            node, bindings = (node.left, extended) if extended else (node.right, bindings)
            steps.append((node, bindings))
        return steps


def _ascending(binding: Binding, slots: tuple[int, ...]) -> bool:
    objects = [binding[slot] for slot in slots]
    return objects == sorted(objects)
