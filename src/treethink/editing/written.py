"""What stands for a part of a rule, as the engine's nodes.

text, node of a rule, outcomes with counts -> [ written ] -> nodes in preorder
"""

from collections.abc import Mapping

from treethink.editing.reading import WrittenNode, read_rule
from treethink.errors import RuleError, WrongTypeError, shown, whole_number
from treethink.rules import EngineTest, Node, Test, Value
from treethink.state import Schema

Part = str | Node | Mapping[Value, int]
_MOST = 2**32 - 1


def nodes_of(
    part: Part, schema: Schema, classes: tuple[str, ...], title: str, length: int
) -> list[WrittenNode]:
    """The part as nodes, where variables of `classes` are known; checked, leaf by leaf."""
    nodes = _nodes(part, schema, classes, title)
    for _, outcomes in nodes:
        for outcome, n in outcomes:
            if len(outcome) != length:
                raise RuleError(
                    f"an outcome of {title} must be of length {length}, got {shown(outcome)}"
                )
            if not all(-(2**63) <= each < 2**63 for each in outcome):
                raise RuleError(f"an outcome must fit 64 bits, got {shown(outcome)}")
            if not 1 <= n <= _MOST:
                raise RuleError(f"an outcome must be seen 1 to {_MOST} times, got {shown(n)}")
    if not any(outcomes for _, outcomes in nodes):
        raise RuleError(f"the part of {title} names no outcome at all")
    return nodes


def _nodes(part: Part, schema: Schema, classes: tuple[str, ...], title: str) -> list[WrittenNode]:
    if isinstance(part, str):
        return read_rule(part, schema, classes, title)
    if isinstance(part, Mapping):
        return [(None, [(_vector(value), _times(n)) for value, n in part.items()])]
    if not isinstance(part, Node):
        raise WrongTypeError(
            "a part of a rule must be its text, a node of a rule or outcomes with how often each "
            f"was seen, such as {{(1, 0): 1}}, got {shown(part)}"
        )
    if part.classes != classes:
        raise RuleError(
            f"the node knows {_variables(part.classes)}; where it is to stand there are "
            f"{_variables(classes)}"
        )
    return _from_node(part)


def _from_node(root: Node) -> list[WrittenNode]:
    nodes: list[WrittenNode] = []
    open_ = [root]
    while open_:
        node = open_.pop()
        if node.test is None:
            nodes.append((None, [(_vector(value), n) for value, n in node.counts.items()]))
            continue
        nodes.append((engine_test(node.test), []))
        assert node.left is not None
        assert node.right is not None
        open_ += [node.right, node.left]
    return nodes


def engine_test(test: Test) -> EngineTest:
    """The test as the engine has it."""
    return test.kind, test.attribute, test.classes, test.variables, _vector(test.value)


def _times(n: object) -> int:
    return whole_number("how often an outcome was seen", n, least=1)


def _vector(value: object) -> tuple[int, ...]:
    each = value if isinstance(value, tuple | list) else (value,)
    if not all(isinstance(number, int) and not isinstance(number, bool) for number in each):
        raise RuleError(f"an outcome must be a whole number or a tuple of them, got {shown(value)}")
    return tuple(each)


def _variables(classes: tuple[str, ...]) -> str:
    return ", ".join(f"X{number}: {name}" for number, name in enumerate(classes))
