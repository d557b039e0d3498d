"""Evaluation as printed in the paper's appendix, with its mistakes, to measure their effect.

tree, scene, object -> [ as printed ] -> a leaf, which should be that of `ReferenceTree.route`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

from reference import Node, Scene, Test, extensions

Result = tuple[Node, bool, str]


def short_circuit(
    node: Node, scene: Scene, binding: tuple[int, ...], as_rank: Callable[[str], Any], bit: bool
) -> Result:
    """evaluateShortCircuit. `bit` corrects the returned rank, which lacks its last bit."""
    if not (node.test and node.left and node.right):
        return node, True, "1"
    best: Result | None = None
    best_rank = ""
    for extended in extensions(scene, node.test, [binding]):
        leaf, preferred, bits = short_circuit(node.left, scene, extended, as_rank, bit)
        rank = bits + "1"
        if preferred:
            return leaf, True, rank
        if best is None or as_rank(rank) > as_rank(best_rank):
            best_rank, best = rank, (leaf, preferred, rank if bit else bits)
    if best:
        return best
    leaf, _, bits = short_circuit(node.right, scene, binding, as_rank, bit)
    return leaf, False, bits + "0"


def appending(root: Node, scene: Scene, x: int) -> Node:
    """checkBranch with matchVars as printed, which appends to the caller's list."""
    node, bindings = root, [[x]]
    while node.test and node.left and node.right:
        left = []
        for binding in bindings:
            for objects in groundings(scene, node.test):
                if match_vars(binding, node.test.slots, objects) and binding not in left:
                    left.append(binding)
        node, bindings = (node.left, left) if left else (node.right, bindings)
    return node


def groundings(scene: Scene, test: Test) -> Iterator[tuple[int, ...]]:
    """getObservations: all objects that make the fact true."""
    for objects in permutations(scene.class_of, len(test.classes)):
        fits = tuple(scene.class_of[each] for each in objects) == test.classes
        if fits and scene.value_of(test.type, objects) == test.value:
            yield objects


def match_vars(binding: list[int], slots: tuple[int, ...], objects: tuple[int, ...]) -> bool:
    """matchVars as printed: it appends to `binding`, even if it fails later."""
    for slot, each in zip(slots, objects, strict=True):
        if slot < len(binding):
            if binding[slot] != each:
                return False
        elif each in binding:
            return False
        else:
            binding.append(each)
    return True
