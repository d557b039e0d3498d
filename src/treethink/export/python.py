"""A rule as a Python function, or a model as a module, that runs without TreeThink.

    rule -> [ text_of ] -> text;  model -> [ write_module ] -> maze_rules.py

In the function, bindings are lists of tuples named b1, b2, ..., one for each test that held; they
contain the objects x1, x2, ... that tests have bound. The object x0 is the same in all of them, so
it is a variable of its own. Where a test holds, the function goes on in an indented block that
always returns; what follows the block is the case in which the test fails. Where that would indent
too far, the case in which the test fails is indented instead.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from importlib import resources
from keyword import kwlist
from typing import TYPE_CHECKING

from treethink import file
from treethink.errors import WrongTypeError, shown
from treethink.export.answers import (
    Term,
    answers_of,
    branch_test,
    by_age,
    identifier,
    is_by_hand,
    is_never_seen,
)
from treethink.frames import CHANGE, JUMPS, STAYS, VALUE, Jumps, Outcome, Stays, is_zero
from treethink.rules import EngineNode, Rule, Test, ranked
from treethink.state import Attribute
from treethink.text import printable

if TYPE_CHECKING:
    from treethink.model import TreeThink
    from treethink.rules import Rule, RuleKey
    from treethink.state import Schema


WIDTH = 99
MAX_INDENT = 8
"""Beyond this indentation, the case in which a test fails may be indented instead."""

_HELPERS = ("read", "minus", "plus", "merged", "signs", "something", "kept")
_RESERVED = {*_HELPERS, "any", "of", "state", *kwlist}

# The helper functions that exported rules call, as text: they are copied into the exported code.

READ = '''
def read(state, *ids):
    """Return objects by class, with tuples for lists, then the objects with these ids."""
    from collections import defaultdict

    of, found = defaultdict(list), {}
    for each in state["objects"]:
        lists = {key: tuple(value) for key, value in each.items() if isinstance(value, list)}
        found[each["id"]] = {**each, **lists}
        of[each["class"]].append(found[each["id"]])
    return (of, *(found[id] for id in ids))
'''

MINUS = '''
def minus(one, other):
    """Return the difference of two vectors."""
    return tuple(a - b for a, b in zip(one, other))
'''

PLUS = '''
def plus(place, change):
    """Return the sum of two vectors."""
    return tuple(a + b for a, b in zip(place, change))
'''

SIGNS = '''
def signs(one, other):
    """Return, component by component, whether one vector is greater than the other, or less."""
    return tuple((a > b) - (a < b) for a, b in zip(one, other))
'''

SOMETHING = '''
def something(of, attribute, value, x):
    """Return whether another object than x has that value, of whatever class."""
    return any(y is not x and y.get(attribute) == value for each in of.values() for y in each)
'''

MERGED = '''
def merged(*counts):
    """Return the probability of each value, given values with counts, some of them equal."""
    seen = {}
    for value, n in counts:
        seen[value] = seen.get(value, 0) + n
    return {value: n / sum(seen.values()) for value, n in seen.items()}
'''

KEPT = '''
ATTRIBUTES = {}


def kept(bindings):
    """Keep at most 4096 bindings, the first in order of their objects' values and ids."""
    found = list(bindings)
    if len(found) <= 4096:
        return found

    def order(binding):
        return [[*(x[name] for name in ATTRIBUTES[x["class"]]), x["id"]] for x in binding]

    return sorted(found, key=order)[:4096]
'''

NUMBER = '''
def number(name, value):
    """Return the number of a name or of a flag; anything else as it is."""
    return NAMES[name].index(value) if name in NAMES else value
'''

_SMALL = {
    "minus": MINUS,
    "plus": PLUS,
    "signs": SIGNS,
    "something": SOMETHING,
    "merged": MERGED,
}

# In the order of the engine, names are numbers.
_BY_NUMBER = ("x[name] for name", "number(name, x[name]) for name")


def text_of(rule: Rule, helpers: bool = True) -> str:
    """Return the function as text, ending with a newline; `helpers`: with the functions it calls.

    It takes a state as `State.to_dict` returns it and the id of an object, or one id for each
    argument of the tree, and returns ``{new value: probability}``.

    >>> rule = Rule("lamp.on when press", ("lamp",), 20, {(1,): 20}, [], ("lamp", "on", "press"))
    >>> print(text_of(rule, helpers=False), end="")
    def lamp_on_when_press(state, x0):
        \"""lamp.on when press: the new values of `on` of lamp x0.\"""
        of, x0 = read(state, x0)
        return {x0["on"] + 1: 1.0}  # seen 20 times
    """
    text = function_of(rule, identifier(rule.title, _RESERVED))
    return text + _helpers(rule, text) if helpers else text


def function_of(rule: Rule, name: str, reads: bool = True) -> str:
    """Return the function alone. With `reads=False`, its arguments are what `read` returns."""
    return "\n".join(_Writer(rule, name).lines(reads)) + "\n"


def _helpers(rule: Rule, text: str) -> str:
    called = {name for name in (*_SMALL, "kept") if re.search(rf"\b{name}\(", text)}
    needed = [READ, *(code for name, code in _SMALL.items() if name in called)]
    if "kept" in called:
        attributes, known = _attributes(rule), rule.schema.attributes if rule.schema else {}
        kept = KEPT.replace("ATTRIBUTES = {}", f"ATTRIBUTES = {attributes!r}")
        owned = {name: known[name] for own in attributes.values() for name in own}
        if names := [f"{string(k)}: {_values_of(v)}" for k, v in owned.items() if v.is_symbolic]:
            kept = kept.replace(*_BY_NUMBER)
            needed += ["\n".join(_table("NAMES", names)), NUMBER]
        needed.append(kept)
    return "".join(f"\n\n{helper.strip()}\n" for helper in needed)


def _attributes(rule: Rule) -> dict[str, list[str]]:
    """Return the attributes, in the schema's order, of all classes that the rule mentions."""
    classes = {name for node in rule.nodes for name in node[2]}
    known = rule.schema.classes if rule.schema is not None else {}
    return {name: list(known[name]) for name in known if name in classes}


class _Writer:
    """Writes the function of one rule."""

    def __init__(self, rule: Rule, name: str):
        self.rule, self.name = rule, name
        self.nodes, self.answers = rule.nodes, answers_of(rule)
        self.indents = _indents(self.nodes)
        self.arguments = [f"x{i}" for i in range(len(rule.classes))]

    def lines(self, reads: bool) -> Iterator[str]:
        """Yield all lines of the function."""
        yield f"def {self.name}({', '.join(['state' if reads else 'of', *self.arguments])}):"
        yield f"    {docstring(self._summary())}"
        if reads:
            given = ", ".join(["of", *self.arguments]) if self.arguments else "(of,)"
            yield f"    {given} = read({', '.join(['state', *self.arguments])})"
        yield from indented(self._reference(), 1)
        yield from self._body()

    def _summary(self) -> str:
        if self.rule.key is None:
            return f"{self.rule.title}: what is seen of {', '.join(self.arguments)}."
        class_name, attribute, _ = self.rule.key
        if self.rule.is_feedback:
            what = "the reward" if attribute == "reward" else "whether the episode ends"
            return f"{self.rule.title}: {what}."
        return f"{self.rule.title}: the new values of `{attribute}` of {class_name} x0."

    def _reference(self) -> list[str]:
        """Return the lines that name the reference of outcomes, where it is not an attribute."""
        frame = self.rule.frame
        if frame is None or frame.attribute is None or frame.changes:
            return []
        lines = self._unknown_without_source()
        base = self._source()
        if frame.adds:
            now = self._value_now()
            base = f"{now} + {base}" if self._is_scalar() else f"plus({now}, {base})"
        return [*lines, f"base = {base}"]

    def _source(self) -> str:
        """Return the value of the attribute that the frame names."""
        frame = self.rule.frame
        assert frame is not None
        assert frame.attribute is not None
        source = "x0" if frame.of is None else f"of[{string(frame.of)}][0]"
        return read_value(source, frame.attribute, self.rule.schema)

    def _unknown_without_source(self) -> list[str]:
        """Return the lines that answer if there is not exactly one object to refer to."""
        frame = self.rule.frame
        if frame is None or frame.of is None:
            return []
        return [
            f"if len(of[{string(frame.of)}]) != 1:",
            f"    return {{{self._value_now()}: 1.0}}  # known only if there is exactly one",
        ]

    def _is_scalar(self) -> bool:
        return self.rule.attribute is None or self.rule.attribute.length == 1

    def _body(self) -> Iterator[str]:
        """Yield the lines of the tree; uses a stack, so that depth is no limit."""
        stack = [(0, 0, 1)]
        while stack:
            index, level, indent = stack.pop()
            left, right = self.nodes[index][:2]
            if left is None or right is None:
                yield from indented(self._leaf(index), indent)
                continue
            swapped = self._is_swapped(left, right, indent)
            to_leaf = self.nodes[left][4] is None
            lines, below = self._branch(self.nodes[index], to_leaf, level, swapped)
            yield from indented(lines, indent)
            inner, outer = (right, level), (left, below)
            if not swapped:
                inner, outer = outer, inner
            stack += [(*outer, indent), (*inner, indent + 1)]

    def _is_swapped(self, left: int, right: int, indent: int) -> bool:
        """Whether to indent the failing case: the other would go too far, and this one less far."""
        (plain, least), (_, other) = self.indents[left], self.indents[right]
        return indent + 1 + plain > MAX_INDENT and least > other

    # ---- tests ----

    def _branch(
        self, node: EngineNode, to_leaf: bool, level: int, swapped: bool
    ) -> tuple[list[str], int]:
        """Return the lines of the test, and the number of the bindings where it holds."""
        test, bound = branch_test(node, "the code form", self.rule.schema), node[2]
        n = len(self.arguments)
        asks_bound = any(n <= variable < len(bound) for variable in test.variables)
        if not test.new and not asks_bound:
            return [f"if {self._condition(test, '!=' if swapped else '==')}:"], level
        clash = any(name in bound[n:] for _, name in test.new)
        loops = [f"for {variables(n, len(bound))} in b{level}"] if len(bound) > n else []
        if to_leaf and not asks_bound and not clash:
            loops = []  # the answer is the same for all bindings
        loops += [f"for x{variable} in of[{string(name)}]" for variable, name in test.new]
        conditions = " and ".join([*others(test, bound), self._condition(test)])
        if to_leaf:
            return wrapped("if any(", [conditions, *loops], "):"), level
        pieces = [variables(n, len(bound) + len(test.new)), *loops, f"if {conditions}"]
        lines = wrapped(f"b{level + 1} = kept(", pieces, ")")
        return [*lines, f"if {'not ' if swapped else ''}b{level + 1}:"], level + 1

    def _condition(self, test: Test, relation: str = "==") -> str:
        return condition(test, relation, self.rule.schema)

    # ---- leaves ----

    def _leaf(self, index: int) -> list[str]:
        needed = self._unknown_without_source() if JUMPS in self.answers[index] else []
        return [*needed, *self._answer(index)]

    def _answer(self, index: int) -> list[str]:
        answer = self.answers[index]
        total = sum(answer.values())
        remark = f"  # seen {total} time{'s' if total != 1 else ''}"
        if is_by_hand(self.nodes[index]):
            remark = "  # written by hand"
        elif is_never_seen(self.nodes[index], answer) and index:
            remark = "  # never seen: the answer of the node above"
        if not answer:
            has_value = self.rule.key is not None and not self.rule.is_feedback
            unchanged = f"{{{self._value_now()}: 1.0}}" if has_value else "{}"
            seen = "not told apart" if self.nodes[index].others else "never seen"
            return [f"return {unchanged}  # {seen}"]
        values = [(self._new_value(outcome), n) for outcome, n in ranked(answer)]
        bare = STAYS in answer or JUMPS in answer
        if bare and len(answer) > 1:  # that value may be one of the others
            start, end, entries = "merged(", ")", [f"({value}, {n})" for value, n in values]
        else:
            start, end = "{", "}"
            entries = [f"{value}: {share(n, total)}" for value, n in values]
        line = f"return {start}{', '.join(entries)}{end}{remark}"
        if len(line) <= WIDTH - 4 * MAX_INDENT or len(entries) == 1:
            return [line]
        return [f"return {start}{remark}", *(f"    {entry}," for entry in entries), end]

    def _value_now(self) -> str:
        assert self.rule.key is not None
        return f"x0[{string(self.rule.key[1])}]"

    def _new_value(self, outcome: Outcome) -> str:
        """Return the new value that an outcome leads to."""
        frame = self.rule.frame
        if frame is None:
            return literal(outcome)
        if isinstance(outcome, Stays):
            return self._value_now()
        if isinstance(outcome, Jumps):
            return self._source()
        if frame == VALUE:
            return repr(outcome)
        base = self._value_now() if frame.changes else "base"
        if is_zero(outcome):
            return base
        if isinstance(outcome, int):
            return f"{base} {'-' if outcome < 0 else '+'} {abs(outcome)}"
        return f"plus({base}, {outcome!r})"


def _indents(nodes: list[EngineNode]) -> list[tuple[int, int]]:
    """Return the indentation below each node: if the yes case is indented, and the least possible.

    It is least if of two cases the one that needs less indentation is indented: then it is at
    most the logarithm of the number of leaves.
    """
    indents = [(0, 0)] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        left, right = nodes[index][:2]
        if left is not None and right is not None:
            (yes, yes_least), (no, no_least) = indents[left], indents[right]
            less, more = sorted((yes_least, no_least))
            indents[index] = (max(yes + 1, no), max(less + 1, more))
    return indents


# --------------------------------------------------------------- pieces of Python as text


def condition(test: Test, relation: str, schema: Schema | None) -> str:
    """Return the condition of a test; with != as its relation, the negation."""

    def read(term: Term) -> str:
        variable, attribute = term
        return read_value(f"x{variable}", attribute, schema)

    if test.kind == "equality":
        return f"{read(test.terms[0])} {relation} {test.value!r}"
    if test.kind == "threshold":
        number = read(test.terms[0]) + ("" if test.component is None else f"[{test.component}]")
        return f"{number} {'<=' if relation == '==' else '>'} {test.value!r}"
    if test.kind == "something":
        own, by = read(test.terms[0]), test.value
        there = f"plus({own}, {by!r})" if isinstance(by, tuple) else f"{own} + {by!r}"
        there = own if is_zero(by) else there
        found = f"something(of, {string(test.sought)}, {there}, x{test.variables[0]})"
        return found if relation == "==" else f"not {found}"
    old, new, value = by_age(test)
    older, newer = read(old), read(new)
    if test.kind == "order" and isinstance(value, tuple):
        return f"signs({newer}, {older}) {relation} {value!r}"
    if test.kind == "order" and not is_zero(value):
        holds = relation == "=="
        compared = (">" if holds else "<=") if value == 1 else ("<" if holds else ">=")
        return f"{newer} {compared} {older}"
    if is_zero(value):
        return f"{newer} {relation} {older}"
    if isinstance(value, int):
        return f"{newer} - {older} {relation} {value}"
    return f"minus({newer}, {older}) {relation} {value!r}"


def read_value(source: str, attribute: str, schema: Schema | None) -> str:
    """Return the value of an attribute of an object, or of the sum of two."""
    if schema is None or attribute not in schema.sums:
        return f"{source}[{string(attribute)}]"
    place, step = (f"{source}[{string(each)}]" for each in schema.sums[attribute])
    return f"plus({place}, {step})"


def others(test: Test, bound: tuple[str, ...]) -> list[str]:
    """Return conditions that objects differ; only those of one class could be the same."""
    names = [*bound, *(name for _, name in test.new)]
    return [
        f"x{variable} is not x{other}"
        for variable, name in test.new
        for other in range(variable)
        if names[other] == name
    ]


def variables(first: int, end: int) -> str:
    names = ", ".join(f"x{i}" for i in range(first, end))
    return f"({names},)" if end - first == 1 else f"({names})"


def share(n: int, total: int) -> str:
    return "1.0" if n == total else f"{n} / {total}"


def string(text: str) -> str:
    """Return a string literal in double quotes, with special characters escaped."""
    # Python reads the escapes of JSON, and those of characters that are not printed.
    return printable(json.dumps(text, ensure_ascii=False))


def docstring(text: str) -> str:
    plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"""{text}"""' if plain else string(text)


def literal(outcome: object) -> str:
    """Return an outcome of a single tree as a literal that Python can read back."""
    try:
        if ast.literal_eval(repr(outcome)) == outcome:
            return repr(outcome)
    except (ValueError, SyntaxError):
        pass
    raise WrongTypeError(
        f"an outcome must be a number, a str, a tuple or the like to be written as code,"
        f" got {shown(outcome)}"
    )


def indented(lines: list[str], indent: int) -> list[str]:
    return [f"{'    ' * indent}{line}" for line in lines]


def wrapped(start: str, pieces: list[str], end: str) -> list[str]:
    """Return one line if it is short, otherwise one for each piece."""
    line = f"{start}{' '.join(pieces)}{end}"
    if len(line) <= 80:
        return [line]
    return [start, *(f"    {piece}" for piece in pieces), end]


# ----------------------------------------------------------------------------------------- modules
#
# A whole model as one module that needs nothing but Python: ``predict(state, action)``, which
# answers what the model answers, and one function for each rule that varies. The part that all
# modules share is in `python_module.txt`.

#: The part of a module that has learned rewards or ends.
FEEDBACK_PART = '''
def reward(state, action):
    """{reward of the step: probability}; empty if nothing is known of it."""
    return feedback(state, action, "reward")


def terminated(state, action):
    """{whether the step ends the episode: probability}; empty if nothing is known of it."""
    return feedback(state, action, "terminated")


def feedback(state, action, name):
    """What is known of the whole step."""
    if action not in ACTIONS:
        raise ValueError(f"unknown action {action!r}. Known: {ACTIONS}")
    of, key = read(state), ("transition", name, action)
    if key in RULES:
        return RULES[key](of)
    return {VALUES[key]: 1.0} if key in VALUES else {}
'''

_MODULE_NAMES = {
    "predict", "mode", *_HELPERS, "outcomes", "order",
    "fitting",
    "number", "reward", "terminated", "feedback",
}  # fmt: skip


def module_text(model: TreeThink) -> str:
    """Return the text of the module, ending with a newline."""
    rules = {key: rule for key, rule in model.rules.items() if rule.answers}
    written = {key: rule for key, rule in rules.items() if _needs_function(rule)}
    names = _names(written)
    functions = [function_of(rule, names[key], reads=False) for key, rule in written.items()]
    parts = [
        _opening(model, sum(rule.varies for rule in rules.values())),
        resources.files("treethink.export").joinpath("python_module.txt").read_text("utf-8"),
        *([FEEDBACK_PART] if model.feedback else []),
        KEPT.replace("ATTRIBUTES = {}\n\n\n", "")
        .replace("ATTRIBUTES", "CLASSES")
        .replace(*_BY_NUMBER),
        NUMBER,
        MINUS,
        PLUS,
        *(_SMALL[name] for name in ("signs", "something") if _calls(functions, name)),
        MERGED,
        *functions,
        _tables(names, rules),
    ]
    return "\n\n\n".join(part.strip() for part in parts) + "\n"


def _calls(functions: list[str], name: str) -> bool:
    return any(f"{name}(" in text for text in functions)


def write_module(model: TreeThink, path: str | os.PathLike[str]) -> None:
    """Write the module to a file, atomically."""
    file.write(path, module_text(model).encode())


def _needs_function(rule: Rule) -> bool:
    """Whether a table cannot say what the rule predicts: it varies, or reads other attributes."""
    return rule.varies or (rule.frame is not None and not rule.frame.is_plain)


def _names(rules: dict[RuleKey, Rule]) -> dict[RuleKey, str]:
    """Return a unique name for each rule's function."""
    names: dict[RuleKey, str] = {}
    for key, rule in rules.items():
        names[key] = identifier(rule.title, _MODULE_NAMES | set(names.values()))
    return names


def _opening(model: TreeThink, varying: int) -> str:
    """Return the docstring and the schema."""
    schema = model.schema
    named = {name: each for name, each in schema.attributes.items() if each.is_symbolic}
    derived = [name for name, each in schema.attributes.items() if each.derived]
    lines = [
        '"""Rules of a world, learned by TreeThink and written as Python.',
        "",
        "    predict(state, action)   {id: {attribute: {new value: probability}}}",
        "    mode(state, action)      the most probable next state",
        "",
        'A state is {"objects": [{"id": 50, "class": "player", "pos": [5, 2]}, ...]}: every object',
        "with its id, its class and a value, or a list of them, for each attribute of its class.",
        "",
        f"Learned from {model.observations} observations. Rules that vary: {varying}.",
        '"""',
        "",
        *_table("CLASSES", [f"{string(k)}: {_list(v)}" for k, v in schema.classes.items()]),
        *_table("LENGTHS", [f"{string(k)}: {v.length}" for k, v in schema.attributes.items()]),
        *_table("NAMES", [f"{string(k)}: {_values_of(v)}" for k, v in named.items()]),
        f"ACTIONS = {_list(schema.actions)}",
        f"DERIVED = {_list(derived)}  # attributes that are given, and not predicted",
    ]
    return "\n".join(lines)


def _tables(names: dict[RuleKey, str], rules: dict[RuleKey, Rule]) -> str:
    """Return the tables of rules: functions, and the single outcomes of all others.

    A value that never changed is left out, since it stays as it is without a rule.
    """
    always = {key: (r.frame, next(iter(r.seen))) for key, r in rules.items() if key not in names}
    changes = {key: outcome for key, (frame, outcome) in always.items() if frame == CHANGE}
    values = {
        key: outcome
        for key, (frame, outcome) in always.items()
        if frame == VALUE and outcome != STAYS
    }
    lines = [
        *_table("RULES", [f"{_key(key)}: {name}" for key, name in names.items()]),
        "",
        "# Rules that have one outcome: a change, or a new value.",
        *_table("CHANGES", [f"{_key(key)}: {outcome!r}" for key, outcome in changes.items()]),
        *_table("VALUES", [f"{_key(key)}: {outcome!r}" for key, outcome in values.items()]),
    ]
    return "\n".join(lines)


def _table(name: str, entries: list[str]) -> list[str]:
    return [f"{name} = {{", *(f"    {entry}," for entry in entries), "}"]


def _list(names: tuple[str, ...] | list[str]) -> str:
    return f"[{', '.join(map(string, names))}]"


def _values_of(attribute: Attribute) -> str:
    """Return the values of a category or a flag, in the order of their numbers."""
    return "[False, True]" if attribute.names is None else _list(attribute.names)


def _key(key: RuleKey) -> str:
    return f"({', '.join(map(string, key))})"
