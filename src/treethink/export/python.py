"""A rule as a Python function that runs on its own, and says what the tree says.

    rule -> [ code ] -> text -> module

Bindings are lists of tuples, named b1, b2, ... by how many tests have been passed; they hold the
objects x1, x2, ... that tests have found. What was given, x0, is the same in all of them and so
stands beside them. Where a test is passed the function goes on one step further in, and always
returns from there; so what follows is what happens where the test fails. Of a long way of yes that
would lead too far to the right: there it is the no that stands further in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import kwlist

from treethink.export.answers import answers_of, asked_by, identifier, is_by_hand, is_never_seen
from treethink.export.python_expressions import (
    condition,
    docstring,
    indented,
    literal,
    others,
    share,
    string,
    variables,
    wrapped,
)
from treethink.export.runtime import KEPT, MINUS, PLUS, READ
from treethink.rules import EngineNode, Rule, Value, ranked

WIDTH = 99
DEEPEST = 8
"""Steps to the right, beyond which it is not always the yes that stands further in."""

_TAKEN = {"read", "minus", "plus", "kept", "any", "of", "state", *kwlist}


def text_of(rule: Rule, helpers: bool = True) -> str:
    """The function as text, ending with a newline; `helpers`: with the small ones that it calls.

    It takes a state as `State.to_dict` gives it and the id of an object, or of as many as the tree
    is asked about, and returns ``{new value: probability}``.

    >>> rule = Rule("lamp.on when press", ("lamp",), 20, {(1,): 20}, [], ("lamp", "on", "press"))
    >>> print(text_of(rule, helpers=False), end="")
    def lamp_on_when_press(state, x0):
        \"""lamp.on when press: the new values of `on` of lamp x0.\"""
        of, x0 = read(state, x0)
        return {x0["on"] + 1: 1.0}  # seen 20 times
    """
    text = function_of(rule, identifier(rule.title, _TAKEN))
    return text + _helpers(rule, text) if helpers else text


def function_of(rule: Rule, name: str, reads: bool = True) -> str:
    """The function alone. If it does not read the state, it is given what `read` returns."""
    return "\n".join(_Writer(rule, name).lines(reads)) + "\n"


def _helpers(rule: Rule, text: str) -> str:
    called = {name for name in ("minus", "plus", "kept") if re.search(rf"\b{name}\(", text)}
    needed = [READ, *(MINUS for _ in called & {"minus"}), *(PLUS for _ in called & {"plus"})]
    if "kept" in called:
        needed.append(KEPT.replace("ATTRIBUTES = {}", f"ATTRIBUTES = {_attributes(rule)!r}"))
    return "".join(f"\n\n{helper.strip()}\n" for helper in needed)


def _attributes(rule: Rule) -> dict[str, list[str]]:
    """In the schema's order, for the classes of all objects that the rule speaks of."""
    classes = {name for node in rule.nodes for name in node[2]}
    known = rule.schema.classes if rule.schema is not None else {}
    return {name: list(known[name]) for name in known if name in classes}


class _Writer:
    """Writes one rule, from its first node to its last."""

    def __init__(self, rule: Rule, name: str):
        self.rule, self.name = rule, name
        self.nodes, self.answers = rule.nodes, answers_of(rule)
        self.steps = _steps(self.nodes)
        self.given = [f"x{i}" for i in range(len(rule.classes))]

    def lines(self, reads: bool) -> Iterator[str]:
        """All lines of the function."""
        given = ", ".join(self.given)
        yield f"def {self.name}({'state' if reads else 'of'}, {given}):"
        yield f"    {docstring(self._says())}"
        if reads:
            yield f"    of, {given} = read(state, {given})"
        yield from self._body()

    def _says(self) -> str:
        if self.rule.key is None:
            return f"{self.rule.title}: what is seen of {', '.join(self.given)}."
        class_name, attribute, _ = self.rule.key
        return f"{self.rule.title}: the new values of `{attribute}` of {class_name} x0."

    def _body(self) -> Iterator[str]:
        """The tree; a stack instead of recursion, so that depth is no limit."""
        stack = [(0, 0, 1)]
        while stack:
            index, level, indent = stack.pop()
            left, right = self.nodes[index][:2]
            if left is None or right is None:
                yield from indented(self._leaf(index), indent)
                continue
            turned = self._is_turned(left, right, indent)
            to_leaf = self.nodes[left][4] is None
            lines, below = self._branch(self.nodes[index], to_leaf, level, turned)
            yield from indented(lines, indent)
            inner, outer = (right, level), (left, below)
            if not turned:
                inner, outer = outer, inner
            stack += [(*outer, indent), (*inner, indent + 1)]

    def _is_turned(self, left: int, right: int, indent: int) -> bool:
        """Whether the no stands further in: the yes would lead too far, and the no less far."""
        (plain, least), (_, other) = self.steps[left], self.steps[right]
        return indent + 1 + plain > DEEPEST and least > other

    # ---- tests ----

    def _branch(
        self, node: EngineNode, to_leaf: bool, level: int, turned: bool
    ) -> tuple[list[str], int]:
        """The lines that ask, and the number of the bindings that hold where it is passed."""
        test, bound = asked_by(node, "the code form"), node[2]
        n = len(self.given)
        asks_bound = any(n <= variable < len(bound) for variable in test.variables)
        if not test.new and not asks_bound:
            return [f"if {condition(test, '!=' if turned else '==')}:"], level
        clash = any(name in bound[n:] for _, name in test.new)
        loops = [f"for {variables(n, len(bound))} in b{level}"] if len(bound) > n else []
        if to_leaf and not asks_bound and not clash:
            loops = []  # it is the same for all bindings
        loops += [f"for x{variable} in of[{string(name)}]" for variable, name in test.new]
        conditions = " and ".join([*others(test, bound), condition(test)])
        if to_leaf:
            return wrapped("if any(", [conditions, *loops], "):"), level
        pieces = [variables(n, len(bound) + len(test.new)), *loops, f"if {conditions}"]
        asked = wrapped(f"b{level + 1} = kept(", pieces, ")")
        return [*asked, f"if {'not ' if turned else ''}b{level + 1}:"], level + 1

    # ---- leaves ----

    def _leaf(self, index: int) -> list[str]:
        answer = self.answers[index]
        total = sum(answer.values())
        remark = f"  # seen {total} time{'s' if total != 1 else ''}"
        if is_by_hand(self.nodes[index]):
            remark = "  # written by hand"
        elif is_never_seen(self.nodes[index], answer) and index:
            remark = "  # never seen: so it was before this was asked"
        if not answer:
            still = "{}" if self.rule.key is None else f"{{{self._value_now()}: 1.0}}"
            return [f"return {still}  # never seen"]
        entries = [f"{self._next(value)}: {share(n, total)}" for value, n in ranked(answer)]
        line = f"return {{{', '.join(entries)}}}{remark}"
        if len(line) <= WIDTH - 4 * DEEPEST or len(entries) == 1:
            return [line]
        return [f"return {{{remark}", *(f"    {entry}," for entry in entries), "}"]

    def _value_now(self) -> str:
        assert self.rule.key is not None
        return f"x0[{string(self.rule.key[1])}]"

    def _next(self, outcome: Value) -> str:
        """The new value, from an outcome."""
        if self.rule.key is None:
            return literal(outcome)
        if self.rule.schema and self.rule.schema.attributes[self.rule.key[1]].outcomes == "value":
            return repr(outcome)
        if not any([outcome] if isinstance(outcome, int) else outcome):
            return self._value_now()
        if not isinstance(outcome, int):
            return f"plus({self._value_now()}, {outcome!r})"
        return f"{self._value_now()} {'-' if outcome < 0 else '+'} {abs(outcome)}"


def _steps(nodes: list[EngineNode]) -> list[tuple[int, int]]:
    """How far to the right each part of a tree leads: if the yes stands further in, and at least.

    At least is where of two parts the one that leads less far stands further in: that is at most
    the logarithm of the number of leaves.
    """
    steps = [(0, 0)] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        left, right = nodes[index][:2]
        if left is not None and right is not None:
            (yes, yes_least), (no, no_least) = steps[left], steps[right]
            less, more = sorted((yes_least, no_least))
            steps[index] = (max(yes + 1, no), max(less + 1, more))
    return steps
