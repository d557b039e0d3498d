"""Replace, pin and unpin parts of rules; make all of them smaller.

    model, rule, path -> [ edits ] -> the same model, changed; or, for `simplified`, another one

Everything is checked before anything is changed.
"""

import copy
from typing import TYPE_CHECKING

from treethink.editing.hand_written import Part, nodes_of
from treethink.editing.simplify import steps_of
from treethink.errors import RuleError, WrongTypeError, shown
from treethink.rules import Node, Rule, RuleKey

if TYPE_CHECKING:
    from treethink.model import TreeThink


def replace(model: "TreeThink", key: RuleKey, part: Part, path: str, pin: bool) -> None:
    """Put a part that was written by hand in the place of what is at the path."""
    rule = model.rules[key]
    node = node_at(rule, path)
    if not isinstance(pin, bool):
        raise WrongTypeError(f"pin must be True or False, got {shown(pin)}")
    length = model.schema.attributes[key[1]].length
    nodes = nodes_of(part, model.schema, node.classes, rule.title, length)
    model._replace(*key, path, nodes)
    if not pin:
        model._unpin(*key, path)


def pin(model: "TreeThink", key: RuleKey, path: str) -> None:
    """From now on the part says what it says now."""
    rule = model.rules[key]
    node_at(rule, path)
    if not rule.transitions and not rule.varies:
        raise RuleError(
            f"{rule.title} has never been seen: there is nothing to pin; write it first"
        )
    model._pin(*key, path)


def unpin(model: "TreeThink", key: RuleKey, path: str) -> None:
    """The part learns again."""
    node_at(model.rules[key], path)
    model._unpin(*key, path)


def simplified(model: "TreeThink") -> "TreeThink":
    """Another model that says the same in every possible state, with fewer tests."""
    smaller = copy.copy(model)  # whose rules nobody else changes meanwhile
    for key, rule in smaller.rules.varying().items():
        for path, left, merge in steps_of(rule):
            smaller._keep_child(*key, path, left, merge)
    return smaller


def node_at(rule: Rule, path: object) -> Node:
    """The node that a path of L (yes) and R (no) leads to."""
    if not isinstance(path, str):
        raise WrongTypeError(f"a path must be a str of L (yes) and R (no), got {shown(path)}")
    node = rule.root
    for number, step in enumerate(path):
        child = {"L": node.left, "R": node.right}.get(step)
        if step not in ("L", "R"):
            raise RuleError(f"a path is made of L (yes) and R (no), got {shown(path)}")
        if child is None:
            raise RuleError(
                f"{rule.title} has a leaf at {path[:number]!r}: {shown(path)} leads nowhere"
            )
        node = child
    return node
