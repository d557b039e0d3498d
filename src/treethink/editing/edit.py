"""Replace, pin and unpin parts of rules, and simplify all of them.

    model, rule, path -> [ edit ] -> the same model, changed; `simplified` returns another one

Everything is checked before anything is changed.
"""

import copy
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from treethink.editing.parse import (
    Leaf,
    Told,
    WrittenNode,
    check_offset,
    check_outcome,
    feedback_outcome,
    read_rule,
)
from treethink.editing.simplify import steps_of
from treethink.errors import RuleError, SchemaError, WrongTypeError, shown, whole_number
from treethink.frames import Frame, Jumps, Outcome, Stays
from treethink.outcome_text import frame_text
from treethink.rules import FEEDBACK, EngineTest, Node, Rule, RuleKey, Test
from treethink.state import Attribute, Schema

if TYPE_CHECKING:
    from treethink.model import TreeThink

#: A part of a rule: its text, a node of a rule, or outcomes with their counts.
Part = str | Node | Mapping[Outcome, int]


def replace(model: "TreeThink", name: RuleKey | str, part: Part, path: str, pin: bool) -> None:
    """Replace the part of a rule at the path by one that was written by hand."""
    key, rule = _rule_at(model, name)
    node = node_at(rule, path)
    if not isinstance(pin, bool):
        raise WrongTypeError(f"pin must be True or False, got {shown(pin)}")
    nodes = nodes_of(part, node.classes, rule)
    model._replace(*key, _engine_path(path), nodes)
    if not pin:
        model._unpin(*key, _engine_path(path))


def pin(model: "TreeThink", name: RuleKey | str, path: str) -> None:
    """Stop the part at the path from learning."""
    key, rule = _rule_at(model, name)
    node_at(rule, path)
    if not rule.transitions and not rule.varies:
        raise RuleError(
            f"{rule.title} has never been seen: there is nothing to pin; write it first"
        )
    model._pin(*key, _engine_path(path))


def unpin(model: "TreeThink", name: RuleKey | str, path: str) -> None:
    """Let the part at the path learn again."""
    key, rule = _rule_at(model, name)
    node_at(rule, path)
    model._unpin(*key, _engine_path(path))


def _rule_at(model: "TreeThink", name: RuleKey | str) -> tuple[RuleKey, Rule]:
    rules = model.rules
    key = rules.key_of(name)
    return key, rules[key]


def simplified(model: "TreeThink") -> "TreeThink":
    """Return another model that answers the same in every possible state, with fewer tests."""
    smaller = copy.copy(model)  # nobody else changes its rules meanwhile
    for key, rule in smaller.rules.varying().items():
        for path, left, merge in steps_of(rule):
            smaller._keep_child(*key, path, left, merge)
    return smaller


def _engine_path(path: str) -> str:
    """Return a path of Y and N as one of L and R, as the engine and summaries write it."""
    return path.replace("Y", "L").replace("N", "R")


def node_at(rule: Rule, path: object) -> Node:
    """Return the node at a path of Y (yes) and N (no); L and R mean the same."""
    if not isinstance(path, str):
        raise WrongTypeError(f"a path must be a str of Y (yes) and N (no), got {shown(path)}")
    node = rule.root
    for number, step in enumerate(_engine_path(path)):
        child = {"L": node.left, "R": node.right}.get(step)
        if step not in ("L", "R"):
            raise RuleError(f"a path is made of Y (yes) and N (no), got {shown(path)}")
        if child is None:
            raise RuleError(
                f"{rule.title} has a leaf at {path[:number]!r}: {shown(path)} leads nowhere"
            )
        node = child
    return node


# ------------------------------------------------------------ a part as the engine's nodes


def nodes_of(part: Part, classes: tuple[str, ...], rule: Rule) -> list[WrittenNode]:
    """Return the part of the rule as nodes in preorder.

    `classes` are those of the variables bound there.
    """
    attribute = rule.attribute
    assert rule.schema is not None
    assert attribute is not None
    if isinstance(part, str):
        nodes = read_rule(part, rule.schema, classes, attribute, rule.frame)
    elif isinstance(part, Mapping):
        nodes = [(None, _leaf(part, attribute, rule.frame))]
    elif isinstance(part, Node):
        nodes = _from_node(part, rule, classes, attribute)
    else:
        raise WrongTypeError(
            "a part of a rule must be its text, a node of a rule or outcomes with how often each "
            f"was seen, such as {{(1, 0): 1}}, got {shown(part)}"
        )
    if not any(outcomes for _, outcomes in nodes):
        raise RuleError(f"the part of {rule.title} names no outcome at all")
    return nodes


def _from_node(
    root: Node, rule: Rule, classes: tuple[str, ...], attribute: Attribute
) -> list[WrittenNode]:
    if None not in (root.frame, rule.frame) and root.frame != rule.frame:
        assert root.frame is not None
        assert rule.frame is not None
        raise RuleError(
            f"the outcomes of the node are told as {frame_text(root.frame)!r}, those of"
            f" {rule.title} as {frame_text(rule.frame)!r}"
        )
    if root.classes != classes:
        raise RuleError(
            f"the node has the variables {_variables(root.classes)}; at the path there are "
            f"{_variables(classes)}"
        )
    return [
        (None, _leaf(node.counts, attribute, rule.frame))
        if node.test is None
        else (engine_test(node.test, rule.schema), [])
        for node in root.walk()
    ]


def _leaf(counts: Mapping[Outcome, int], attribute: Attribute, frame: Frame | None) -> Leaf:
    leaf: dict[Told, int] = {}
    for value, n in counts.items():
        outcome: Told
        if isinstance(value, Stays) and attribute.kind not in FEEDBACK:
            outcome = (0,) * attribute.length if frame is not None and frame.changes else None
        elif isinstance(value, Jumps) and frame is not None and frame.kind == "jump":
            outcome = None
        elif attribute.kind in FEEDBACK:
            outcome = feedback_outcome(value, attribute, "the leaf")
        else:
            outcome = _vector(value, attribute)
            check_offset(outcome, attribute, frame, "the leaf")
        if outcome in leaf:
            raise RuleError(f"the leaf has the outcome {shown(value)} twice")
        leaf[outcome] = whole_number("how often an outcome was seen", n, least=1)
        check_outcome(outcome, leaf[outcome], attribute.length, "the leaf")
    return list(leaf.items())


def engine_test(test: Test, schema: Schema | None = None) -> EngineTest:
    """Return the test as the engine's tuple."""
    attributes = tuple(attribute for _, attribute in test.terms)
    attributes += (test.sought,) if test.kind == "something" else ()
    known = schema.attributes if schema is not None and test.kind == "equality" else {}
    value = _vector(test.value, known.get(test.attribute))
    return test.kind, attributes, test.classes, test.variables, value


def _vector(value: object, attribute: Attribute | None) -> tuple[int, ...]:
    """Return the numbers of an outcome, or of the value of a test."""
    if attribute is not None and attribute.is_symbolic:
        value = _code(value, attribute)
    components = value if isinstance(value, tuple | list) else (value,)
    try:
        numbers = [operator.index(each) for each in components if not isinstance(each, bool)]
    except TypeError:
        numbers = []
    if len(numbers) < len(components):
        raise RuleError(f"an outcome must be a whole number or a tuple of them, got {shown(value)}")
    return tuple(numbers)


def _code(value: Any, attribute: Attribute) -> object:
    try:
        return attribute.encode(value)
    except SchemaError as error:
        raise RuleError(str(error)) from None


def _variables(classes: tuple[str, ...]) -> str:
    return ", ".join(f"X{number}: {name}" for number, name in enumerate(classes))
