"""Rules: snapshots of learned trees, with their nodes and tests, and as text.

    tree -> [ rules ] -> explain (text, picture, code)

In:   the engine's snapshot of a tree: nodes in preorder.
Out:  `Rule`s that can be walked and printed.

A rule is immutable: it does not change when the model goes on learning.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from treethink import _engine
from treethink.attributes import COMPONENTS, SUM, Attribute, PlainValue
from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.frames import (
    CHANGE,
    STAYS,
    VALUE,
    Frame,
    Jumps,
    Outcome,
    Stays,
    default_frame,
    is_zero,
)
from treethink.outcome_text import outcome_text, value_text
from treethink.text import many, percent, printable

if TYPE_CHECKING:
    from treethink.state import Schema

__all__ = ["Node", "Rule", "Rules", "Test", "Value"]

#: A value: an int, a tuple of them, a name of a category or a bool of a flag.
Value = PlainValue
#: In the key of a rule about rewards or ends it stands where others have a class.
TRANSITION = "transition"
#: What such rules predict, in their order.
FEEDBACK = ("reward", "terminated")
#: The forms in which `Rule.to_text` prints a rule.
STYLES = ("formula", "english", "code")
PINNED = "  [pinned]"
EngineTest = tuple[str, tuple[str, ...], tuple[str, ...], tuple[int, ...], tuple[int, ...]]
EngineCounts = dict[tuple[Any, ...], int]
#: Counts as the engine gives them: by vectors, and by None for `STAYS` or `JUMPS`.
RawCounts = Mapping[Any, int]
#: In the engine's counts: all outcomes that are not told apart (`max_outcomes`).
OTHERS: tuple[int, ...] = ()


class EngineNode(NamedTuple):
    """A node in the engine's list, which is in preorder; children are indices.

    In a `Rule`, outcomes are names of categories and bools of flags; values of tests are numbers.
    """

    left: int | None
    right: int | None
    classes: tuple[str, ...]
    counts: EngineCounts
    test: EngineTest | None
    edited: tuple[bool, bool, bool] = (False, False, False)  # pinned, hand-written, prior counts
    met: EngineCounts = {}  # seen since it was pinned; never modified
    others: int = 0  # observations of outcomes that are not told apart


def value_of(vector: tuple[Any, ...]) -> Any:
    """Return a vector of length 1 as a plain value."""
    return vector[0] if len(vector) == 1 else vector


def split_component(kind: str, vector: tuple[int, ...]) -> tuple[int | None, tuple[int, ...]]:
    """Split the engine's value of a test into the component that it is about, and the value.

    >>> split_component("threshold", (1, 5)), split_component("equality", (1, 5))
    ((1, (5,)), (None, (1, 5)))
    """
    if kind == "threshold" and len(vector) > 1:
        return vector[0], vector[1:]
    return None, vector


@dataclass(frozen=True, slots=True)
class Test:
    """A fact with variables: the test of a branch.

    `new` lists the variables that the test introduces. It holds if there are objects of their
    classes for which the fact is true.

    `terms` lists what the fact is about: one attribute of an object, or two that are compared. They
    are different attributes if the schema says that one is like the other: then `other` is the
    second attribute, else it is None. Both can belong to the same object; then there is only one
    variable, with its class. `something` has a single term: it compares that with the attribute
    `sought` of all other objects, of whatever class, for which there is no variable. A threshold of
    a vector is about one `component` of it.

    >>> test = Test("difference", "pos", ("player", "wall"), (0, 1), (1, 0), new=((1, "wall"),))
    >>> print(test)
    ∃ X1: wall.  X1[pos] - X0[pos] = (1, 0)
    >>> arrived = Test("difference", "floor", ("lift",), (0,), 0, other="dest")
    >>> print(arrived)
    X0[dest] - X0[floor] = 0
    >>> print(Test("threshold", "pos", ("player",), (0,), 3, component=0))
    X0[pos].x <= 3
    >>> test.terms, arrived.terms
    (((0, 'pos'), (1, 'pos')), ((0, 'floor'), (0, 'dest')))
    """

    __test__ = False  # not one of pytest's

    kind: str
    attribute: str
    classes: tuple[str, ...]
    variables: tuple[int, ...]
    value: Value
    new: tuple[tuple[int, str], ...] = ()
    other: str | None = None
    #: The engine's number for a value that is a name, and 0 for two names or flags that are equal.
    code: int | None = field(default=None, repr=False, compare=False)
    #: Which number of a vector a threshold is about, counted from 0.
    component: int | None = None

    @property
    def terms(self) -> tuple[tuple[int, str], ...]:
        """The variable and attribute of each term."""
        if self.other is None or self.kind == "something":
            return tuple((variable, self.attribute) for variable in self.variables)
        return (self.variables[0], self.attribute), (self.variables[-1], self.other)

    @property
    def sought(self) -> str:
        """The attribute of the second term, or of any other object."""
        return self.attribute if self.other is None else self.other

    @property
    def number(self) -> Value:
        """The value as a number, where that is known."""
        return self.value if self.code is None else self.code

    @property
    def suffix(self) -> str:
        """What follows the name of the attribute if the test is about a component, such as `.x`."""
        return "" if self.component is None else f".{COMPONENTS[self.component]}"

    @property
    def formula(self) -> str:
        """The fact, without the quantifier of new variables."""
        names = [f"X{variable}[{attribute}]{self.suffix}" for variable, attribute in self.terms]
        if self.kind == "something":
            names.append(f"something[{self.sought}]")
        if isinstance(self.value, str | bool):
            return f"{names[0]} = {value_text(self.value)}"
        value = [self.value] if isinstance(self.value, int) else list(self.value)
        # Newer variables are described relative to older ones: X1[pos] - X0[pos].
        backwards = self.variables[0] > self.variables[-1]
        if self.kind == "difference" and self.code is not None:
            return f"{names[0]} = {names[-1]}" if backwards else f"{names[-1]} = {names[0]}"
        return _engine.formula(self.kind, names[0], names[-1], value, backwards)

    def __str__(self) -> str:
        if not self.new:
            return printable(self.formula)
        exists = ", ".join(f"X{variable}: {name}" for variable, name in self.new)
        return printable(f"∃ {exists}.  {self.formula}")

    @classmethod
    def from_engine(cls, test: EngineTest, known: int, schema: "Schema | None" = None) -> "Test":
        """Return the test of an engine's tuple, at a node with `known` variables."""
        kind, attributes, classes, variables, vector = test
        new = tuple((v, c) for v, c in zip(variables, classes, strict=True) if v >= known)
        other = attributes[-1] if len(set(attributes)) > 1 else None
        component, vector = split_component(kind, vector)
        value, code = value_of(vector), None
        attribute = None if schema is None else schema.definition(attributes[0])
        if attribute is not None and attribute.is_symbolic and isinstance(value, int):
            code, value = value, attribute.decode(value) if kind == "equality" else value
        return cls(kind, attributes[0], classes, variables, value, new, other, code, component)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A branch, with a test and two children, or a leaf.

    `left` is the child if the test holds. `counts` are the observed outcomes, in the `frame` of the
    rule; it is None for a single tree. A branch stops
    counting while its subtree predicts perfectly; then the sum over its leaves is used. `classes`
    are those of the variables X0, X1, ... that are bound here.

    A `pinned` node does not learn; `met` are the outcomes that a pinned leaf has seen since it was
    pinned. A node `written` by hand has no candidate tests: a branch keeps its test, and the counts
    of a leaf are not observations.

    `others` is the number of observations whose outcomes are not told apart, because the rule has
    had more than `max_outcomes` different ones. They are no part of `counts`.
    """

    classes: tuple[str, ...]
    counts: Mapping[Outcome, int]
    test: Test | None = None
    left: "Node | None" = field(default=None, repr=False)
    right: "Node | None" = field(default=None, repr=False)
    pinned: bool = False
    written: bool = False
    met: Mapping[Outcome, int] = field(default_factory=dict)
    others: int = 0
    frame: Frame | None = field(default=None, repr=False)

    @property
    def is_leaf(self) -> bool:
        """Whether it has no test."""
        return self.test is None

    @property
    def yes(self) -> "Node | None":
        """The child if the test holds: another name of `left`."""
        return self.left

    @property
    def no(self) -> "Node | None":
        """The child if the test does not hold: another name of `right`."""
        return self.right

    def walk(self) -> "Iterator[Node]":
        """Yield this node and all below it, in preorder."""
        stack = [self]
        while stack:  # not recursive, so that depth is not limited
            node = stack.pop()
            yield node
            stack += [child for child in (node.right, node.left) if child is not None]

    def __reduce__(self) -> "tuple[Callable[[list[NodeParts]], Node], tuple[list[NodeParts]]]":
        """Return how to pickle and copy it: as a flat list, so that depth is not limited."""
        parts = [
            (n.classes, n.counts, n.test, n.pinned, n.written, n.met, n.others, n.frame)
            for n in self.walk()
        ]
        return node_of, (parts,)


#: A node without its children: classes, counts, test, pinned, written, met, others, frame.
NodeParts = tuple[
    tuple[str, ...],
    Mapping[Outcome, int],
    Test | None,
    bool,
    bool,
    Mapping[Outcome, int],
    int,
    Frame | None,
]


def node_of(preorder: list[NodeParts]) -> Node:
    """Return the tree of nodes that are listed in preorder."""
    built: list[Node] = []
    for classes, counts, test, pinned, written, met, others, frame in reversed(preorder):
        left, right = (None, None) if test is None else (built.pop(), built.pop())
        marks = (pinned, written, met, others, frame)
        built.append(Node(classes, counts, test, left, right, *marks))
    return built[0]


def by_value(counts: Mapping[tuple[Any, ...], int]) -> dict[Outcome, int]:
    """Return counts by plain values instead of vectors."""
    return {value_of(vector): n for vector, n in counts.items()}


def build(
    nodes: list[EngineNode], schema: "Schema | None" = None, frame: Frame | None = None
) -> Node:
    """Return the tree of the engine's list of nodes, in which children come after their parent."""
    built: dict[int, Node] = {}
    for index in range(len(nodes) - 1, -1, -1):
        left, right, classes, counts, test, (pinned, written, _), met, others = nodes[index]
        own, marks = by_value(counts), (pinned, written, by_value(met), others, frame)
        if test is None or left is None or right is None:
            built[index] = Node(classes, own, None, None, None, *marks)
        else:
            yes, no = built.pop(left), built.pop(right)
            below = Counter(yes.counts) + Counter(no.counts)
            most = dict(below) if below.total() > sum(own.values()) else own
            read = Test.from_engine(test, len(classes), schema)
            built[index] = Node(classes, most, read, yes, no, *marks)
    return built[0]


class Rule:
    """The tree for one attribute of one class under one action.

    ``str(rule)`` is the readable tree; `root` is its first node. `frame` is what its outcomes are
    relative to; that of a single tree is None.
    """

    def __init__(
        self,
        title: str,
        classes: tuple[str, ...],
        transitions: int,
        seen: RawCounts,
        nodes: Sequence[tuple[Any, ...]],
        key: "RuleKey | None" = None,
        schema: "Schema | None" = None,
        single: frozenset[str] = frozenset(),
        frame: Frame | None = None,
    ):
        self.title = title
        self.key = key  # class, attribute, action; None for a FOLDT
        self.schema = schema
        self.single = single  # classes that never had two objects in a state
        self.classes = classes
        self.transitions = transitions
        self.others = seen.get(OTHERS, 0)  # observations of outcomes that are not told apart
        attribute, self.frame = self.attribute, frame
        if frame is None and key is not None:
            self.frame = CHANGE if attribute is None else default_frame(attribute)
        named = attribute if self.frame == VALUE else None  # outcomes are values, not numbers
        bare = STAYS if self.frame is None else self.frame.bare
        told = _decoded(_without_others(seen), named, bare)
        self.seen: Mapping[Outcome, int] = by_value(told)
        self.varies = bool(nodes)
        read = [_with_names(_split(EngineNode(*each)), named, bare) for each in nodes]
        self.nodes = _with_all_counts(read, classes, told)

    @cached_property
    def root(self) -> Node:
        """The tree's first node. A leaf has all observations of its rule, unless hand-written."""
        return build(self.nodes, self.schema, self.frame)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling and copying; `root` is made again from `nodes`."""
        return {name: value for name, value in vars(self).items() if name != "root"}

    @property
    def attribute(self) -> Attribute | None:
        """The definition of the attribute that it predicts; None for a single tree."""
        if self.key is None or self.schema is None:
            return None
        if self.is_feedback:
            return feedback_attribute(self.key[1])
        return self.schema.attributes.get(self.key[1])

    @property
    def is_feedback(self) -> bool:
        """Whether it predicts the reward or the end of a transition, and is about no object."""
        return self.key is not None and not self.classes

    def attributes_read(self) -> set[str]:
        """Return the names of the attributes that its tests and its frame read."""
        tests = [node.test for node in self.root.walk() if node.test is not None]
        terms = [name for test in tests for _, name in test.terms]
        if self.frame is not None and self.frame.attribute is not None:
            terms.append(self.frame.attribute)
        return {name for term in terms for name in term.split(SUM)}

    @property
    def answers(self) -> bool:
        """Whether it predicts anything: it has observations, or was written by hand."""
        return self.varies or self.transitions > 0

    @property
    def always_changes(self) -> bool:
        """Whether all it has seen is one change, one reward other than 0, or the end."""
        if self.key is None or self.varies or len(self.seen) != 1:
            return False
        (outcome,) = self.seen
        told_as_zero = self.is_feedback or self.frame == CHANGE
        if isinstance(outcome, float):  # a reward
            return outcome != 0
        return outcome is not STAYS and not (told_as_zero and is_zero(outcome))

    @property
    def noise(self) -> str:
        """A sentence that says so if the rule looks like noise; else empty."""
        if not self.others:
            return ""
        return (
            f"{printable(self.title)} looks like noise: it had"
            f" {many(len(self.seen), 'different outcome')}, and in"
            f" {many(self.others, 'more observation')} others, which are not told apart."
        )

    @property
    def pinned(self) -> bool:
        """Whether all of it is pinned; see `TreeThink.pin`."""
        return all(node.edited[0] for node in self.nodes)

    @property
    def edited(self) -> bool:
        """Whether any part of it is pinned or was written by hand."""
        return any(node.edited[0] or node.edited[1] for node in self.nodes)

    @property
    def n_leaves(self) -> int:
        return sum(node.test is None for node in self.nodes)

    @property
    def depth(self) -> int:
        """The number of tests on the longest path; 0 for a leaf."""
        depths = [0] * len(self.nodes)
        for index, (left, right, *_) in enumerate(self.nodes):
            if left is not None and right is not None:
                depths[left] = depths[right] = depths[index] + 1
        return max(depths, default=0)

    def draw(self, path: str | os.PathLike[str]) -> None:
        """Draw the tree to a file: .svg, .png or .pdf. Only .svg needs no extra package."""
        from treethink.export import files

        files.draw(self, path)

    def to_text(self, style: str = "formula") -> str:
        """Return the rule as text: `formula` (the same as ``str(rule)``), `english` or `code`."""
        if not isinstance(style, str):
            raise WrongTypeError(f"style must be one of {', '.join(STYLES)}, got {shown(style)}")
        if style == "english":
            from treethink.explain.english import sentences

            return sentences.text_of(self)
        if style == "code":
            from treethink.export import python

            return python.text_of(self)
        if style == "formula":
            return str(self)
        raise UnknownNameError("style", style, STYLES, "rule.to_text")

    def to_svg(self) -> str:
        """Return the tree as SVG."""
        from treethink.export import svg

        return svg.text_of(self)

    def to_dot(self) -> str:
        """Return the tree as Graphviz DOT."""
        from treethink.export import dot

        return dot.text_of(self)

    def to_mermaid(self) -> str:
        """Return the tree as a Mermaid flowchart, which many Markdown viewers render."""
        from treethink.export import mermaid

        return mermaid.text_of(self)

    def __str__(self) -> str:
        variables = ", ".join(f"X{i}: {name}" for i, name in enumerate(self.classes))
        title = f"{self.title}    {variables}" if variables else self.title
        lines = [title, *lines_of(self.root, self.attribute)]
        return "\n".join(map(printable, lines))

    def __repr__(self) -> str:
        leaves = many(self.n_leaves, "leaf", "leaves")
        return f"<Rule {printable(self.title)}: {leaves}, depth {self.depth}>"


def distribution(
    counts: Mapping[Outcome, int],
    attribute: Attribute | None = None,
    frame: Frame | None = None,
    most: int | None = None,
) -> str:
    """Return counts as text, most frequent first; beyond `most`, outcomes are summed up.

    `attribute` and `frame` are those of the rule; None for a single tree.

    >>> from treethink import Attribute
    >>> distribution({(0, 0): 25, (1, 0): 75}, Attribute(2))
    '+(1, 0) × 75 (75%), stays × 25 (25%)'
    >>> distribution({-1: 9}), distribution({}), distribution({1: 2, 2: 1, 3: 1}, most=1)
    ('-1 × 9', 'not seen yet', '1 × 2 (50%), 2 others × 2 (50%)')
    """
    total, ordered = sum(counts.values()), ranked(counts)
    if len(ordered) == 1:
        return f"{outcome_text(ordered[0][0], attribute, frame)} × {total}"
    parts = [(outcome_text(outcome, attribute, frame), n) for outcome, n in ordered[:most]]
    if rest := ordered[len(parts) :]:
        parts.append((f"{len(rest):,} others", sum(n for _, n in rest)))
    return ", ".join(f"{value} × {n} ({percent(n, total)})" for value, n in parts) or "not seen yet"


def ranked(counts: Mapping[Outcome, int]) -> list[tuple[Outcome, int]]:
    """Return outcomes with their counts, most frequent first."""
    return sorted(counts.items(), key=lambda item: (-item[1], repr(item[0])))


def _split(node: EngineNode) -> EngineNode:
    """Take the outcomes that are not told apart out of the counts."""
    if OTHERS not in node.counts and OTHERS not in node.met:
        return node
    counts, met = _without_others(node.counts), _without_others(node.met)
    return node._replace(counts=counts, met=met, others=node.counts.get(OTHERS, 0))


def _with_names(node: EngineNode, attribute: "Attribute | None", bare: Stays | Jumps) -> EngineNode:
    """Return the node with `bare`, and with names and bools where the attribute has them."""
    counts, met = (_decoded(each, attribute, bare) for each in (node.counts, node.met))
    return node._replace(counts=counts, met=met)


def _decoded(counts: RawCounts, attribute: "Attribute | None", bare: Stays | Jumps) -> EngineCounts:
    """Return the counts with `bare` for None, and with the names that an attribute has."""
    told = {(bare,) if vector is None else vector: n for vector, n in counts.items()}
    if attribute is None or not attribute.is_symbolic:
        return told
    decode: Callable[[Any], Any] = attribute.decode
    return {v if v == (bare,) else tuple(map(decode, v)): n for v, n in told.items()}


def _without_others(counts: RawCounts) -> dict[Any, int]:
    return {vector: n for vector, n in counts.items() if vector != OTHERS}


def _with_all_counts(
    nodes: list[EngineNode], classes: tuple[str, ...], seen: Mapping[tuple[Any, ...], int]
) -> list[EngineNode]:
    """Return the nodes; a single leaf gets all observations, unless it has prior counts."""
    if len(nodes) == 1 and nodes[0].edited[1] and _was_seen(nodes[0], seen):
        nodes = [nodes[0]._replace(edited=(nodes[0].edited[0], False, True))]
    if len(nodes) > 1 or (nodes and nodes[0].edited[2]):
        return nodes
    only = nodes[0] if nodes else EngineNode(None, None, classes, {}, None)
    return [only._replace(counts=dict(seen))]


def _was_seen(only: EngineNode, seen: Mapping[tuple[Any, ...], int]) -> bool:
    """Return whether a leaf's counts are observations: a constant rule that was pinned."""
    return Counter(only.counts) + Counter(only.met) == Counter(seen)


#: Formats the counts of a leaf, whose outcomes are those of an attribute.
LeafText = Callable[[Mapping[Outcome, int], Attribute | None, Frame | None], str]


def lines_of(
    root: Node, attribute: Attribute | None, leaf_text: LeafText = distribution
) -> list[str]:
    """Return the tree drawn as text; `leaf_text` formats the counts of a leaf."""
    lines: list[str] = []
    stack: list[tuple[Node, str, str, bool]] = [(root, "", "", False)]
    while stack:  # not recursive, so that depth is not limited
        node, first, rest, parent_pinned = stack.pop()
        mark = "" if parent_pinned or not node.pinned else PINNED
        if node.test is None:
            parts = []
            if node.counts or not node.others:
                parts.append(leaf_text(node.counts, attribute, node.frame))
            parts += [f"other outcomes × {node.others}"] if node.others else []
            lines.append(f"{first}{', '.join(parts)}{mark}")
            continue
        lines.append(f"{first}{node.test} ?{mark}")
        assert node.left is not None
        assert node.right is not None
        stack.append((node.right, f"{rest}└─ no:  ", f"{rest}   ", node.pinned))
        stack.append((node.left, f"{rest}├─ yes: ", f"{rest}│  ", node.pinned))
    return lines


RuleKey = tuple[str, str, str]


def feedback_attribute(name: str) -> Attribute:
    """Return what outcomes of rules about rewards or ends are like: new values, told by `kind`."""
    attribute = Attribute(1, facts=(), outcomes="value")
    object.__setattr__(attribute, "kind", name)
    return attribute


def title_of(key: RuleKey) -> str:
    """Return the title of a rule.

    >>> title_of(("player", "pos", "right"))
    'player.pos when right'
    >>> title_of(("transition", "reward", "right"))
    'reward when right'
    """
    class_name, attribute, action = key
    if class_name == TRANSITION and attribute in FEEDBACK:
        return f"{attribute} when {action}"
    return f"{class_name}.{attribute} when {action}"


def _feedback_name(key: RuleKey) -> str | None:
    """Return the short name of a rule of rewards or ends, such as "reward.up"; else None."""
    class_name, attribute, action = key
    is_feedback = class_name == TRANSITION and attribute in FEEDBACK
    return f"{attribute}.{action}" if is_feedback else None


class Rules(Mapping[RuleKey, Rule]):
    """All rules of a model, by name or by (class, attribute, action).

    ``rules["player.pos.up"]`` is ``rules["player", "pos", "up"]``. Each look-up makes a new
    snapshot.
    """

    def __init__(self, keys: list[RuleKey], read: Callable[[str, str, str], Rule]):
        self._keys = keys
        self._read = read

    def __getitem__(self, key: RuleKey | str) -> Rule:
        return self._read(*self.key_of(key))

    def key_of(self, key: RuleKey | str) -> RuleKey:
        """Return the (class, attribute, action) of a rule that is given by them or by its name.

        Names of classes and actions may have dots. A name that fits several rules is refused.
        ``"reward.up"`` and ``"terminated.up"`` are those of rewards and ends.
        """
        if isinstance(key, tuple) and len(key) == 3:
            return key
        if not isinstance(key, str):
            raise WrongTypeError(
                "a rule is found by (class, attribute, action), or by a name such as"
                f" 'player.pos.up', got {shown(key)}"
            )
        fitting = self._named(key)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            listed = " and ".join(repr(each) for each in fitting)
            raise WrongTypeError(f"the name {key!r} fits several rules: {listed}")
        if key.count(".") == 2:  # the error says which part is unknown
            class_name, attribute, action = key.split(".")
            return class_name, attribute, action
        raise UnknownNameError("rule", key, [".".join(each) for each in self._keys], "the model")

    def _named(self, name: object) -> list[RuleKey]:
        fitting = [each for each in self._keys if ".".join(each) == name]
        return fitting or [each for each in self._keys if _feedback_name(each) == name]

    def __contains__(self, key: object) -> bool:
        return key in self._keys or len(self._named(key)) == 1

    def get(self, key: RuleKey | str, default: Any = None) -> Any:
        """Return the rule, or `default` if there is none."""
        if key in self:
            return self[key]
        return default

    def __iter__(self) -> Iterator[RuleKey]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def below(self, name: str) -> dict[RuleKey, Rule]:
        """Return the rules whose names are that one, or begin with it and a dot."""
        start = f"{name}."
        keys = [key for key in self._keys if f"{'.'.join(key)}.".startswith(start)]
        short = ((key, _feedback_name(key)) for key in self._keys)
        keys = keys or [key for key, own in short if own and f"{own}.".startswith(start)]
        return {key: self[key] for key in keys}

    def changing(self) -> dict[RuleKey, Rule]:
        """Return the rules by which something may change; rewards and ends first.

        They are those that vary, and those whose only outcome is a change, a reward or an end.
        """
        rules = {key: self[key] for key in self._keys}
        found = [(key, rule) for key, rule in rules.items() if rule.varies or rule.always_changes]
        return dict(sorted(found, key=lambda each: not each[1].is_feedback))

    def varying(self) -> dict[RuleKey, Rule]:
        """Return the rules that have seen more than one outcome."""
        rules = ((key, self[key]) for key in self._keys)
        return {key: rule for key, rule in rules if rule.varies}

    def __repr__(self) -> str:
        return f"<Rules: {len(self):,}, of which {many(len(self.varying()), 'varies', 'vary')}>"
