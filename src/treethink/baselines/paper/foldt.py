"""TreeLearn: the paper's FOLDT class, its data and its functions (appendix A), in its order.

    facts, arguments, output -> [ FOLDT ] -> distribution over outputs

Names are the paper's. Comments mark the corrections; docs/differences.md lists them.
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

#: Numbers of objects, one for each variable X0, X1, ...; no object occurs twice.
Binding = tuple[int, ...]
_NO_INPUT = np.zeros(1, dtype=np.bool_)  # of a baseline, which has no test


# --------------------------------------------------------------------------- data


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A test: a predicate and its variables, and the classes of all variables if it holds."""

    p: Predicate
    var_ids: tuple[int, ...]
    n_new_vars: int
    var_class_types: tuple[str, ...]


class TrackingData:
    """The counts of a node. A candidate's number is its index in `candidates`.

    The paper's list of candidates with their counters is `current`: candidate numbers, best first.
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
        """The bytes of its tables."""
        return self.counters.nbytes + self.baseline.nbytes + self._numbers.nbytes

    def append(self, h: Hypothesis, predicate: int) -> None:
        """Add a candidate at the end of the list, with an empty counter."""
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
        """Return the candidates with these variables and predicates; -1 where there is none."""
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
    """A branch with two children, or a leaf. Empty leaves predict with their parent."""

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
        #: The outputs, by number: the columns of all counters.
        self.outputs: list[Vector] = []
        self.reset()

    def reset(self) -> None:
        """Return to a leaf without observations."""
        self.outputs.clear()
        self.tree = Tree(Leaf(TrackingData(self.arg_types)))

    def observe(self, observation: FullPredicateSet, arguments: Binding, output: Vector) -> None:
        """Record a single observation."""
        if output not in self.outputs:
            self.outputs.append(output)
        self.observeRecursive(self.tree, observation, [arguments], self.outputs.index(output))

    def predict(self, observation: AbstractPredicateSet, arguments: Binding) -> dict[Vector, int]:
        """Return the counts of outputs in the leaf; empty if nothing was observed yet."""
        t: Tree | None = evaluateShortCircuit(self.tree, observation, arguments)[0]
        # Corrected: an empty leaf has no distribution, so its nearest ancestor's is used.
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
            new_test = False  # the children are new
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
        """Count at a node; return whether another candidate has become the first of the list."""
        tracking.baseline.observe(_NO_INPUT, output)
        branches = checkBranches(observation, tracking, bindings_in)
        tracking.counters.observe(branches, output)
        if np.count_nonzero(tracking.baseline.counts) < 2:
            return False  # with one output, every score is 1, and no test is better than another
        # "Bubble up" the best hypothesis (sort, descending, by score intervals)
        current = tracking.current
        lower, upper = tracking.counters.getScoreInterval(self.z)
        swaps = np.flatnonzero(lower[current[1:]] > upper[current[:-1]])
        if len(swaps) == 0:
            return False
        for i in range(int(swaps[-1]), -1, -1):  # the rest of the list stays as it is
            a, b = current[i], current[i + 1]
            if lower[b] > upper[a]:
                current[i], current[i + 1] = b, a
                if i == 0:
                    return True  # new best candidate
        return False

    def updateNodeType(self, t: Tree, tracking: TrackingData) -> bool:
        """Turn a leaf into a branch, or a branch into a leaf; return whether that happened."""
        if np.count_nonzero(tracking.baseline.counts) < 2:
            return False  # as above: it is a leaf, and stays one
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
    """Add candidates for predicates that are new here, with all bindings of their variables."""
    new = observation.getPredicates() - tracking.observed
    # In order of first appearance, so that the order of sets does not matter.
    for number in sorted(new):
        p = observation.numbers.predicates[number]
        for binding, _ in combinatorics.bindings(tracking.n_existing_vars, p.getArgumentCount()):
            h = typed(tracking.var_class_types, p, binding)
            if h is not None:
                tracking.append(h, number)


def typed(classes: tuple[str, ...], p: Predicate, binding: tuple[int, ...]) -> Hypothesis | None:
    """Return the test, if the binding is consistent with the predicate's classes."""
    var_types = list(classes)  # corrected: all candidates shared one list
    for v, class_restriction in zip(binding, p.getArgumentTypes(), strict=True):
        if v < len(var_types):
            if var_types[v] != class_restriction:
                return None
        else:
            var_types.append(class_restriction)
    return Hypothesis(p, binding, len(var_types) - len(classes), tuple(var_types))


def resetBranch(t: Tree, tracking: TrackingData) -> None:
    """Use the new best test, with empty children."""
    h = tracking.candidates[tracking.current[0]]
    t.convertToBranch(Branch(h, tracking), *_children(tracking, h))


def _children(tracking: TrackingData, h: Hypothesis) -> tuple[Leaf, Leaf]:
    """Return empty children; on the left, the test's new variables are bound.

    Corrected: the right child had their classes too, but they are not bound there.
    """
    return Leaf(TrackingData(h.var_class_types)), Leaf(TrackingData(tracking.var_class_types))


# --------------------------------------------------------------------- evaluation


def matchVars(bindings: Binding, hvars: Sequence[int], args: Sequence[int]) -> tuple[bool, Binding]:
    """Return whether the arguments of a fact match a binding, and the extended binding."""
    extended = list(bindings)  # corrected: the caller's list was changed
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
    """Return whether the left branch is taken, and the bindings to continue with."""
    bindings_in = list(bindings_in)
    bindings_left = []  # without duplicates: a binding and a fact determine the result
    for bindings in bindings_in:
        for g in observation.getObservations(h.p):
            match, var_bindings = matchVars(bindings, h.var_ids, g.arguments)
            if match:
                bindings_left.append(var_bindings)
    if bindings_left:
        return True, bindings_left
    return False, bindings_in  # on the right, no new variables are bound


def checkBranches(
    observation: FullPredicateSet, tracking: TrackingData, bindings_in: Iterable[Binding]
) -> NDArray[np.bool_]:
    """Return the result of `checkBranch` for all candidates of a node, by number.

    Since no object is bound to two variables, a binding and a fact leave only one way to fill the
    predicate's slots: the variable of a bound object, or else the next new variable. So each fact
    has a single candidate that it makes true, and there is no need to search the facts of each
    candidate.
    """
    predicate, first, second = observation.table
    e = tracking.n_existing_vars
    holds = np.zeros(
        len(tracking.candidates) + 1, dtype=np.bool_
    )  # the last one is for no candidate
    for binding in bindings_in:
        variable = np.full(observation.n_objects + 1, e)
        variable[-1] = 0  # for facts without a second argument
        for v, o in enumerate(binding):
            variable[o] = v
        x, y = variable[first], variable[second]
        y = y + ((x == e) & (y == e))
        holds[tracking.numbers_at(x, y, predicate)] = True
    return holds[:-1]


def evaluateShortCircuit(
    t: Tree, observation: AbstractPredicateSet, bindings: Binding
) -> tuple[Tree, bool, str]:
    """Return the leaf, whether the path is all left, and the path: 1 for left, 0 for right.

    The search is depth first, over one binding at a time, and stops at an all-left path, which is
    the best possible.
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
            # Corrected: bits were appended, so that comparisons put deeper decisions first, and the
            # best result was returned without the bit of this node.
            rank = "1" + path
            if preferred:
                return leaf, True, rank
            if best_result is None or rank > best_result[2]:
                best_result = leaf, False, rank
    if best_result is not None:
        return best_result
    leaf, _, path = evaluateShortCircuit(t.getRightChild(), observation, bindings)
    return leaf, False, "0" + path
