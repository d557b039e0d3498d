"""What stands for a part of a rule, as the engine's nodes.

text, node of a rule, outcomes with counts -> [ written ] -> nodes in preorder
"""

import operator
from collections.abc import Mapping

from treethink.editing.parse import WrittenNode, check_outcome, read_rule
from treethink.errors import RuleError, WrongTypeError, shown, whole_number
from treethink.rules import EngineTest, Node, Test, Value
from treethink.state import Schema

Part = str | Node | Mapping[Value, int]


def nodes_of(
    part: Part, schema: Schema, classes: tuple[str, ...], title: str, length: int
) -> list[WrittenNode]:
    """The part as nodes, where variables of `classes` are known and outcomes have that length."""
    if isinstance(part, str):
        nodes = read_rule(part, schema, classes, length)
    elif isinstance(part, Mapping):
        nodes = [(None, _leaf(part, length))]
    elif isinstance(part, Node):
        nodes = _from_node(part, classes, length)
    else:
        raise WrongTypeError(
            "a part of a rule must be its text, a node of a rule or outcomes with how often each "
            f"was seen, such as {{(1, 0): 1}}, got {shown(part)}"
        )
    if not any(outcomes for _, outcomes in nodes):
        raise RuleError(f"the part of {title} names no outcome at all")
    return nodes


def _from_node(root: Node, classes: tuple[str, ...], length: int) -> list[WrittenNode]:
    if root.classes != classes:
        raise RuleError(
            f"the node knows {_variables(root.classes)}; where it is to stand there are "
            f"{_variables(classes)}"
        )
    return [
        (None, _leaf(node.counts, length)) if node.test is None else (engine_test(node.test), [])
        for node in root.walk()
    ]


def _leaf(counts: Mapping[Value, int], length: int) -> list[tuple[tuple[int, ...], int]]:
    found: dict[tuple[int, ...], int] = {}
    for value, n in counts.items():
        outcome = _vector(value)
        if outcome in found:
            raise RuleError(f"the leaf has the outcome {shown(value)} twice")
        found[outcome] = whole_number("how often an outcome was seen", n, least=1)
        check_outcome(outcome, found[outcome], length, "the leaf")
    return list(found.items())


def engine_test(test: Test) -> EngineTest:
    """The test as the engine has it."""
    return test.kind, test.attribute, test.classes, test.variables, _vector(test.value)


def _vector(value: object) -> tuple[int, ...]:
    listed = value if isinstance(value, tuple | list) else (value,)
    try:
        numbers = [operator.index(each) for each in listed if not isinstance(each, bool)]
    except TypeError:
        numbers = []
    if len(numbers) < len(listed):
        raise RuleError(f"an outcome must be a whole number or a tuple of them, got {shown(value)}")
    return tuple(numbers)


def _variables(classes: tuple[str, ...]) -> str:
    return ", ".join(f"X{number}: {name}" for number, name in enumerate(classes))
