"""TreeLearn: the paper's FOLDT class, its data and its functions (appendix A), in its order.

    facts, arguments, output -> [ FOLDT ] -> distribution over outputs

Names are the paper's. Where it was mended, a comment says so; docs/differences.md has the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treethink.baselines.paper import combinatorics
from treethink.baselines.paper.ftable import FTable, isBetterThan, z_of
from treethink.baselines.paper.predicates import (
    AbstractPredicateSet,
    FullPredicateSet,
    Predicate,
    Vector,
)

Binding = tuple[int, ...]
"""Numbers of objects, one for each variable X0, X1, ...; no object twice."""
_NO_INPUT = np.zeros(1, dtype=np.bool_)  # of a baseline, which asks nothing


# --------------------------------------------------------------------------- data


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A test: a predicate and its variables, and the classes of all variables if it holds."""

    p: Predicate
    var_ids: tuple[int, ...]
    n_new_vars: int
    var_class_types: tuple[str, ...]


class TrackingData:
    """What a node has counted. A candidate's number is its place in `candidates`.

    The paper's list of candidates, each with its counter, is here `current`: numbers, best first.
    """

    def __init__(self, var_class_types: tuple[str, ...]):
        #: The classes of the variables that are bound *before* this node's test.
        self.var_class_types = var_class_types
        self.observed: set[int] = set()
        self.candidates: list[Hypothesis] = []
        self.counters = FTable()
        self.current: list[int] = []
        self.baseline = FTable(tables=1)
        # A candidate's number by its variables and its predicate's number: see `checkBranches`.
        e = self.n_existing_vars
        self._numbers = np.full((e + 1, e + 2, 64), -1, dtype=np.intp)

    @property
    def n_existing_vars(self) -> int:
        return len(self.var_class_types)

    @property
    def nbytes(self) -> int:
        """Bytes of its tables."""
        return self.counters.nbytes + self.baseline.nbytes + self._numbers.nbytes

    def append(self, h: Hypothesis, predicate: int) -> None:
        """A new candidate, at the end of the list, with an empty counter."""
        self.observed.add(predicate)
        while predicate >= self._numbers.shape[2]:
            more = ((0, 0), (0, 0), (0, self._numbers.shape[2]))
            self._numbers = np.pad(self._numbers, more, constant_values=-1)
        x, y = (*h.var_ids, 0)[:2]
        self._numbers[x, y, predicate] = len(self.candidates)
        self.current.append(len(self.candidates))
        self.candidates.append(h)
        self.counters.append()

    def numbers_at(
        self, x: NDArray[np.intp], y: NDArray[np.intp], predicate: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """The candidates with these variables and predicates; -1 where there is none."""
        return self._numbers[x, y, predicate]


@dataclass(slots=True)
class Branch:
    hypothesis: Hypothesis
    tracking: TrackingData


@dataclass(slots=True)
class Leaf:
    tracking: TrackingData


@dataclass(slots=True, eq=False)
class Tree:
    """A branch with two children, or a leaf. Knows its parent, for leaves that are empty yet."""

    data: Branch | Leaf
    parent: Tree | None = None
    children: list[Tree] = field(default_factory=list)

    @property
    def tracking(self) -> TrackingData:
        return self.data.tracking

    def isBranch(self) -> bool:
        return isinstance(self.data, Branch)

    def isLeaf(self) -> bool:
        return isinstance(self.data, Leaf)

    def getBranchData(self) -> Branch:
        assert isinstance(self.data, Branch)
        return self.data

    def getLeftChild(self) -> Tree:
        return self.children[0]

    def getRightChild(self) -> Tree:
        return self.children[1]

    def convertToLeaf(self, data: Leaf) -> None:
        self.data, self.children = data, []

    def convertToBranch(self, data: Branch, left: Leaf, right: Leaf) -> None:
        self.data, self.children = data, [Tree(left, self), Tree(right, self)]


# -------------------------------------------------------------------------- FOLDT


class FOLDT:
    """A first-order logical decision tree that learns online."""

    def __init__(self, alpha: float, arg_types: Sequence[str]):
        self.z = z_of(alpha)
        self.arg_types = tuple(arg_types)
        #: Outputs by number: the columns of all counters.
        self.outputs: list[Vector] = []
        self.reset()

    def reset(self) -> None:
        """Back to a leaf with no recorded observations."""
        self.outputs.clear()
        self.tree = Tree(Leaf(TrackingData(self.arg_types)))

    def observe(self, observation: FullPredicateSet, arguments: Binding, output: Vector) -> None:
        """Record a single observation."""
        if output not in self.outputs:
            self.outputs.append(output)
        self.observeRecursive(self.tree, observation, [arguments], self.outputs.index(output))

    def predict(self, observation: AbstractPredicateSet, arguments: Binding) -> dict[Vector, int]:
        """How often each output followed in the leaf; empty if nothing was observed yet."""
        t: Tree | None = evaluateShortCircuit(self.tree, observation, arguments)[0]
        # Mended: a leaf that has seen nothing yet has no distribution. Its nearest ancestor has.
        while t is not None:
            counts = t.tracking.baseline.getConditionalDistribution(0).tolist()
            if any(counts):
                return {y: n for y, n in zip(self.outputs, counts, strict=False) if n}
            t = t.parent
        return {}

    # ---- learning ----

    def observeRecursive(
        self, t: Tree, observation: FullPredicateSet, bindings_in: list[Binding], output: int
    ) -> None:
        tracking = t.tracking
        # Update current node
        addPredicates(tracking, observation)
        new_test = self.updateTests(tracking, observation, bindings_in, output)
        # Convert leaf -> branch or branch -> leaf
        if self.updateNodeType(t, tracking):
            new_test = False  # the children are new already
        # Reset or recurse
        if t.isBranch():
            if new_test:
                resetBranch(t, tracking)
            else:
                h = t.getBranchData().hypothesis
                branch, bindings_out = checkBranch(observation, h, bindings_in)
                child = t.getLeftChild() if branch else t.getRightChild()
                self.observeRecursive(child, observation, bindings_out, output)

    def updateTests(
        self,
        tracking: TrackingData,
        observation: FullPredicateSet,
        bindings_in: list[Binding],
        output: int,
    ) -> bool:
        """Count at a node; whether another candidate has become the first of the list."""
        tracking.baseline.observe(_NO_INPUT, output)
        branches = checkBranches(observation, tracking, bindings_in)
        tracking.counters.observe(branches, output)
        if np.count_nonzero(tracking.baseline.counts) < 2:
            return False  # one output only: every score is 1, and nothing beats anything
        # "Bubble up" the best hypothesis (sort, descending, by score intervals)
        current = tracking.current
        lower, upper = tracking.counters.getScoreInterval(self.z)
        swaps = np.flatnonzero(lower[current[1:]] > upper[current[:-1]])
        if len(swaps) == 0:
            return False
        for i in range(int(swaps[-1]), -1, -1):  # below that, all stay where they are
            a, b = current[i], current[i + 1]
            if lower[b] > upper[a]:
                current[i], current[i + 1] = b, a
                if i == 0:
                    return True  # new best candidate
        return False

    def updateNodeType(self, t: Tree, tracking: TrackingData) -> bool:
        """Whether the node became a branch or a leaf."""
        if np.count_nonzero(tracking.baseline.counts) < 2:
            return False  # as above: so it is a leaf, and stays one
        better = bool(tracking.current) and isBetterThan(
            tracking.counters.getScoreInterval(self.z, tracking.current[0]),
            tracking.baseline.getScoreInterval(self.z, 0),
        )
        if t.isLeaf() and better:
            h = tracking.candidates[tracking.current[0]]
            t.convertToBranch(Branch(h, tracking), *_children(tracking, h))
            return True
        if t.isBranch() and not better:
            t.convertToLeaf(Leaf(tracking))
            return True
        return False


def addPredicates(tracking: TrackingData, observation: FullPredicateSet) -> None:
    """Make candidates of predicates that are new here, with all bindings of their variables."""
    new = observation.getPredicates() - tracking.observed
    # In order of appearance in the world, then in the state: no set decides.
    for number in sorted(new):
        p = observation.numbers.predicates[number]
        for binding, _ in combinatorics.bindings(tracking.n_existing_vars, p.getArgumentCount()):
            h = typed(tracking.var_class_types, p, binding)
            if h is not None:
                tracking.append(h, number)


def typed(classes: tuple[str, ...], p: Predicate, binding: tuple[int, ...]) -> Hypothesis | None:
    """The test, if the binding is consistent with the predicate's class restrictions."""
    var_types = list(classes)  # mended: one list was shared by all candidates
    for v, class_restriction in zip(binding, p.getArgumentTypes(), strict=True):
        if v < len(var_types):
            if var_types[v] != class_restriction:
                return None
        else:
            var_types.append(class_restriction)
    return Hypothesis(p, binding, len(var_types) - len(classes), tuple(var_types))


def resetBranch(t: Tree, tracking: TrackingData) -> None:
    """Take the new best test; its children start anew."""
    h = tracking.candidates[tracking.current[0]]
    t.convertToBranch(Branch(h, tracking), *_children(tracking, h))


def _children(tracking: TrackingData, h: Hypothesis) -> tuple[Leaf, Leaf]:
    """Left, the test's new variables are bound.

    Mended: the right child got their classes, too; nothing is bound there.
    """
    return Leaf(TrackingData(h.var_class_types)), Leaf(TrackingData(tracking.var_class_types))


# --------------------------------------------------------------------- evaluation


def matchVars(bindings: Binding, hvars: Sequence[int], args: Sequence[int]) -> tuple[bool, Binding]:
    """Whether the arguments of a fact are consistent with a binding, and what it becomes."""
    extended = list(bindings)  # mended: what is appended stayed in the caller's list
    for v, o in zip(hvars, args, strict=True):
        if v < len(extended):
            if o != extended[v]:
                return False, ()
        else:
            if o in extended:  # no object is bound to two variables
                return False, ()
            extended.append(o)
    return True, tuple(extended)


def checkBranch(
    observation: AbstractPredicateSet, h: Hypothesis, bindings_in: Iterable[Binding]
) -> tuple[bool, list[Binding]]:
    """Whether the left branch can be taken, and with which bindings to go on."""
    bindings_in = list(bindings_in)
    bindings_left = []  # none comes twice: a binding and a fact make one of their own
    for bindings in bindings_in:
        for g in observation.getObservations(h.p):
            match, var_bindings = matchVars(bindings, h.var_ids, g.arguments)
            if match:
                bindings_left.append(var_bindings)
    if bindings_left:
        return True, bindings_left
    return False, bindings_in  # on the right no new variables are bound


def checkBranches(
    observation: FullPredicateSet, tracking: TrackingData, bindings_in: Iterable[Binding]
) -> NDArray[np.bool_]:
    """What `checkBranch` says of each candidate of a node, by number, for all of them at once.

    As no object is bound to two variables, a binding and a fact leave one way to fill the
    predicate's slots: with the variable of an object that is bound, else with the next new one.
    So each fact finds the only candidate that it makes true, instead of each candidate its facts.
    """
    predicate, first, second = observation.table
    e = tracking.n_existing_vars
    holds = np.zeros(len(tracking.candidates) + 1, dtype=np.bool_)  # the last is for none
    for binding in bindings_in:
        variable = np.full(observation.n_objects + 1, e)
        variable[-1] = 0  # of the second argument that is none
        for v, o in enumerate(binding):
            variable[o] = v
        x, y = variable[first], variable[second]
        y = y + ((x == e) & (y == e))
        holds[tracking.numbers_at(x, y, predicate)] = True
    return holds[:-1]


def evaluateShortCircuit(
    t: Tree, observation: AbstractPredicateSet, bindings: Binding
) -> tuple[Tree, bool, str]:
    """The leaf, whether all went left, and the path: 1 for left, 0 for right, from here down.

    Depth first, over one binding at a time; returns as soon as nothing better can come.
    """
    if t.isLeaf():
        return t, True, ""
    h = t.getBranchData().hypothesis
    best_result: tuple[Tree, bool, str] | None = None
    for g in observation.getObservations(h.p):
        match, var_bindings = matchVars(bindings, h.var_ids, g.arguments)
        if match:
            leaf, preferred, path = evaluateShortCircuit(
                t.getLeftChild(), observation, var_bindings
            )
            # Mended: bits were put behind, so that deeper decisions came first in comparisons,
            # and the best result was handed on without the bit of this node.
            rank = "1" + path
            if preferred:
                return leaf, True, rank
            if best_result is None or rank > best_result[2]:
                best_result = leaf, False, rank
    if best_result is not None:
        return best_result
    leaf, _, path = evaluateShortCircuit(t.getRightChild(), observation, bindings)
    return leaf, False, "0" + path
