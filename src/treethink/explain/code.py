"""A rule as a Python function that runs on its own, and says what the tree says.

    rule -> [ code ] -> text -> module

Bindings are lists of tuples, named b1, b2, ... by how many tests have been passed; they hold the
objects x1, x2, ... that tests have found. What was given, x0, is the same in all of them and so
stands beside them. Where a test is passed the function goes on one step further in, and always
returns from there; so what follows is what happens where the test fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import kwlist

from treethink.explain.answers import (
    answers_of,
    asked_by,
    identifier,
    is_never_seen,
    nodes_of,
)
from treethink.explain.expressions import (
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
from treethink.explain.running import KEPT, MINUS, PLUS, READ
from treethink.rules import EngineNode, Rule, Value, ranked

WIDTH = 99
DEEPEST = 8
"""Steps to the right, beyond which a part of a tree becomes a function of its own."""

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
    classes = {name for node in nodes_of(rule) for name in node[2]}
    known = rule.schema.classes if rule.schema is not None else {}
    return {name: list(known[name]) for name in known if name in classes}


class _Writer:
    """Writes one rule, from its first node to its last."""

    def __init__(self, rule: Rule, name: str):
        self.rule, self.name = rule, name
        self.nodes, self.answers = nodes_of(rule), answers_of(rule)
        self.given = [f"x{i}" for i in range(len(rule.classes))]
        self.parts = 1

    def lines(self, reads: bool) -> Iterator[str]:
        """All lines; parts that are too far to the right come after, as functions."""
        arguments = self._arguments(0)
        yield f"def {self.name}({'state' if reads else 'of'}, {arguments}):"
        yield f"    {docstring(self._says())}"
        if reads:
            yield f"    of, {arguments} = read(state, {arguments})"
        further = [(self.name, 0, 0)]
        while further:
            name, index, level = further.pop(0)
            if index:
                yield from ("", "", f"def {name}(of, {self._arguments(level)}):")
            yield from self._body(index, level, further)

    def _arguments(self, level: int) -> str:
        """What was given, and what has been found since, if anything was."""
        return ", ".join([*self.given, f"b{level}"] if level else self.given)

    def _says(self) -> str:
        if self.rule.key is None:
            return f"{self.rule.title}: what is seen of {', '.join(self.given)}."
        class_name, attribute, _ = self.rule.key
        return f"{self.rule.title}: the new values of `{attribute}` of {class_name} x0."

    def _body(self, first: int, level: int, further: list[tuple[str, int, int]]) -> Iterator[str]:
        """A part of the tree; a stack instead of recursion, so that depth is no limit."""
        stack = [(first, level, 1)]
        while stack:
            index, level, indent = stack.pop()
            left, right = self.nodes[index][:2]
            if left is None or right is None:
                yield from indented(self._leaf(index), indent)
                continue
            if indent > DEEPEST:
                self.parts += 1
                name = f"{self.name}__{self.parts}"  # no rule is called so: see `identifier`
                further.append((name, index, level))
                yield from indented([f"return {name}(of, {self._arguments(level)})"], indent)
                continue
            lines, below = self._branch(self.nodes[index], self.nodes[left][4] is None, level)
            yield from indented(lines, indent)
            stack += [(right, level, indent), (left, below, indent + 1)]

    # ---- tests ----

    def _branch(self, node: EngineNode, to_leaf: bool, level: int) -> tuple[list[str], int]:
        """The lines that ask, and the number of the bindings that hold where it is passed."""
        test, bound = asked_by(node, "the code form"), node[2]
        n = len(self.given)
        asks_bound = any(n <= variable < len(bound) for variable in test.variables)
        if not test.new and not asks_bound:
            return [f"if {condition(test)}:"], level
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
        return [*asked, f"if b{level + 1}:"], level + 1

    # ---- leaves ----

    def _leaf(self, index: int) -> list[str]:
        answer = self.answers[index]
        total = sum(answer.values())
        remark = f"  # seen {total} time{'s' if total != 1 else ''}"
        if is_never_seen(self.nodes[index], answer) and index:
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
