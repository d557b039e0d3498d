"""Read a rule from its text, the inverse of ``str(rule)``.

    text -> [ parse ] -> the engine's nodes, in preorder

    player.pos when right    X0: player
    ∃ X1: wall.  X1[pos] - X0[pos] = (1, 0) ?
    ├─ yes: stays × 25
    └─ no:  +(1, 0) × 75 (75%), stays × 25 (25%)

The first line is optional; `exists` may stand for ∃ and `x` for ×, and an outcome without a count
was seen once. An outcome may also be the bare number, without the sign that says whether it is a
change or a new value: `(1, 0) × 75`. A name of a category that is not a single word is a JSON
string: `= "ice tea" × 75`. Shares, marks and lines that begin with # are ignored. The
lines that draw the tree may have any form: every line is a test, which ends in a question mark, or
a leaf, and the branch for yes comes first.

In the text, a difference may be written either way round, and new variables may have any number.
The engine has one canonical form for each test: attributes in the schema's order, if they differ;
else classes in that order, within a class the older variable first, and for two new ones the
positive difference. New variables are numbered in order of appearance. So variables are
renumbered, and `Names` maps those of the text.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from treethink.attributes import COMPONENTS
from treethink.errors import RuleError, UnknownNameError, names_accepted, shown
from treethink.frames import VALUE, Frame, default_frame
from treethink.outcome_text import (
    NAME_PATTERN,
    UNCHANGED,
    name_in,
    outcome_text,
    reference_text,
)
from treethink.rules import FEEDBACK, EngineTest, split_component
from treethink.state import Attribute, Schema
from treethink.text import listed, printable

MAX_COUNT = 2**53
_FLAGS = {"no": 0, "yes": 1, "false": 0, "true": 1, "False": 0, "True": 1}
Vector = tuple[int, ...]
Told = Vector | None  # an outcome; None: the value stays, or jumps
Leaf = list[tuple[Told, int]]  # outcomes with their counts
Term = tuple[str, str]  # a variable and an attribute
WrittenNode = tuple[EngineTest | None, Leaf]

_EXISTS = re.compile(r"(?:∃|exists\b)\s*(.*)", re.DOTALL)
_INTEGER = r"[+-]?\d{1,99}"  # Python refuses to convert much longer numbers
_VALUE = rf"{_INTEGER}|\(\s*{_INTEGER}(?:\s*,\s*{_INTEGER})*\s*,?\s*\)"
_DRAWN = re.compile(  # box-drawing characters, or ASCII; "-" only before an answer, not a number
    r"(?:[\s│├└─|`-]*(?P<answer>yes|no)\s*:|[\s│├└─|]*)\s*(?P<rest>.*)"
)
_OUTCOME = rf"{UNCHANGED}\b|=\s*(?:{_VALUE})|\+\s*(?=\()(?:{_VALUE})|{_VALUE}"
_COUNT = r"(?:\s*[×x*]\s*(?P<n>\d{1,99}))?(?:\s*\([<>]?[\d.e-]+%\))?\s*(?P<end>,|$)"
_LEAF = re.compile(rf"\s*(?P<outcome>{_OUTCOME}){_COUNT}")
_LEAF_OF_NAMES = re.compile(rf"\s*(?P<outcome>=?\s*(?:{NAME_PATTERN}|{_INTEGER})){_COUNT}")
#: What follows the reference of a frame.
_OFFSET = rf"(?:\s*[+-]\s*(?:{_VALUE}))?"
#: Outcomes of rules about rewards and ends.
_FEEDBACK_LEAF = re.compile(rf"\s*=?\s*(?P<outcome>[^\s×*,()]+){_COUNT}")
_FEEDBACK_TITLE = re.compile(r"(reward|terminated) when .*")
_TITLE = re.compile(r".*\S\s{2,}X0: .*[^?\s]\s*")
_MARK = re.compile(r"\s*\[pinned\]\s*$")


def read_rule(
    text: str,
    schema: Schema,
    classes: tuple[str, ...],
    attribute: Attribute,
    frame: Frame | None = None,
) -> list[WrittenNode]:
    """Return the nodes of a part of a rule about an attribute.

    `classes` are those of the variables bound there. Without a frame, outcomes are relative to what
    they are in rules that begin.
    """
    frame = default_frame(attribute) if frame is None else frame
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    title = _FEEDBACK_TITLE if attribute.kind in FEEDBACK else _TITLE
    if lines and title.fullmatch(lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise RuleError("the text of a rule has no test and no leaf")
    nodes: list[WrittenNode] = []
    pending = [("", Names.given(classes))]
    for number, line in lines:
        where = f"line {number} of the rule"
        if not pending:
            raise RuleError(f"{where} is one too many: every branch has its yes and its no")
        expected, names = pending.pop()
        content = _content(line, expected, where)
        if content.endswith("?"):
            test, inside = read_test(content[:-1], schema, names, where)
            nodes.append((test, []))
            pending += [("no", names), ("yes", inside)]
        else:
            nodes.append((None, _leaf(content, attribute, frame, where)))
    if pending:
        raise RuleError(f"the rule ends before its last test has a '{pending[-1][0]}:'")
    return nodes


def check_outcome(outcome: Told, n: int, length: int, where: str) -> None:
    """Raise an error if a leaf cannot have the outcome."""
    numbers = (0,) * length if outcome is None else outcome
    if len(numbers) != length:
        raise RuleError(f"{where}: an outcome must be of length {length}, got {shown(outcome)}")
    if not all(isinstance(each, float) or -(2**63) <= each < 2**63 for each in numbers):
        raise RuleError(f"{where}: an outcome must fit 64 bits, got {shown(outcome)}")
    if not 1 <= n <= MAX_COUNT:
        raise RuleError(
            f"{where}: an outcome must be seen 1 to {MAX_COUNT:,} times, got {shown(n)}"
        )


def check_offset(offset: Vector, attribute: Attribute, frame: Frame | None, where: str) -> None:
    """Raise an error for a name that is not the same as the one it is told by."""
    if attribute.is_symbolic and frame is not None and not frame.is_plain and any(offset):
        raise RuleError(
            f"{where}: a name can be {shown(reference_text(frame))} or stay what it is, only"
        )


def _content(line: str, expected: str, where: str) -> str:
    """Return the content of a line, without the characters that draw the tree."""
    match = _DRAWN.fullmatch(_MARK.sub("", line))
    assert match is not None  # every part of the pattern is optional
    if match["answer"] not in (None, expected):
        needed = f"'{expected}:'" if expected else "no answer yet: it is the first"
        raise RuleError(f"{where} must have {needed}, got '{match['answer']}:'")
    return match["rest"].strip()


def _leaf(text: str, attribute: Attribute, frame: Frame, where: str) -> Leaf:
    """Return outcomes with their counts."""
    counts: dict[Told, int] = {}
    if text == "not seen yet":
        return []
    rest, pattern = text, _pattern(attribute, frame)
    while rest.strip():
        match = pattern.match(rest)
        if match is None:
            break
        outcome = _outcome(match["outcome"], attribute, frame, where)
        if outcome in counts:
            raise RuleError(f"{where} has the outcome {match['outcome']} twice")
        counts[outcome] = int(match["n"] or 1)
        check_outcome(outcome, counts[outcome], attribute.length, where)
        rest = rest[match.end() :]
        if match["end"] == "":
            return list(counts.items())
    if "other outcomes" in text:
        raise RuleError(
            f"{where} speaks of other outcomes, which are not told apart, so they cannot be written"
            f" by hand: write outcomes such as {_examples(attribute, frame)}, got {shown(text)}"
        )
    raise RuleError(
        f"{where} must be a test that ends in '?', or outcomes such as "
        f"{_examples(attribute, frame)}, got {shown(text)}"
    )


def _pattern(attribute: Attribute, frame: Frame) -> re.Pattern[str]:
    """Return what matches an outcome with its count."""
    if attribute.kind in FEEDBACK:
        return _FEEDBACK_LEAF
    if frame.kind == "jump":
        told = rf"{re.escape(reference_text(frame))}|{_OUTCOME}"
        return re.compile(rf"\s*(?P<outcome>{told}){_COUNT}")
    if not frame.is_plain:
        told = rf"{UNCHANGED}\b|{re.escape(reference_text(frame))}{_OFFSET}|{_VALUE}"
        return re.compile(rf"\s*(?P<outcome>{told}){_COUNT}")
    return _LEAF_OF_NAMES if attribute.is_symbolic else _LEAF


def _outcome(text: str, attribute: Attribute, frame: Frame, where: str) -> Told:
    """Return the numbers of an outcome; raise an error if it is of another kind."""
    if attribute.kind in FEEDBACK:
        return feedback_outcome(text, attribute, where)
    if (text == UNCHANGED and not frame.changes) or (
        frame.kind == "jump" and text == reference_text(frame)
    ):
        return None
    if not frame.is_plain and not frame.changes:
        offset = _offset(text.removeprefix(reference_text(frame)), attribute)
        check_offset(offset, attribute, frame, where)
        return offset
    if frame == VALUE and text.startswith("+"):
        raise RuleError(
            f"{where}: {shown(text)} is a change, but this rule predicts new values, "
            f"such as {_examples(attribute, frame)}"
        )
    if frame.changes and text.startswith("="):
        raise RuleError(
            f"{where}: {shown(text)} is a new value, but this rule predicts changes, "
            f"such as {_examples(attribute, frame)}"
        )
    if attribute.is_symbolic:
        return _symbol(text.removeprefix("=").strip(), attribute, where)
    return (0,) * attribute.length if text == UNCHANGED else vector_of(text)


def _offset(text: str, attribute: Attribute) -> Vector:
    """Return what follows the reference of a frame; its sign may stand apart."""
    sign, rest = (text.strip() or "+0")[0], text.strip().lstrip("+-")
    if not rest:
        return (0,) * attribute.length
    numbers = vector_of(rest)
    return tuple(-each for each in numbers) if sign == "-" else numbers


def _symbol(text: str, attribute: Attribute, where: str) -> Vector:
    """Return the number of a name of a category or of a flag's yes or no; numbers are accepted."""
    if attribute.names is None:
        known, accepted = _FLAGS, "yes or no"
    else:
        known = {name: code for code, name in enumerate(attribute.names)}
        accepted = names_accepted(attribute.names, name_in(text))
    name = name_in(text)
    code = int(text) if re.fullmatch(_INTEGER, text) else known.get(name or "", -1)
    if code not in known.values():
        raise RuleError(f"{where}: a value must be {accepted}, got {shown(text)}")
    return (code,)


def feedback_outcome(value: object, attribute: Attribute, where: str) -> Vector:
    """Return an outcome of a rule about rewards or ends, given as text or as a value."""
    if attribute.kind == "terminated":
        ended = {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value
        if isinstance(ended, bool):
            return (ended,)
        raise RuleError(f"{where}: whether the episode ends is 'yes' or 'no', got {shown(value)}")
    try:
        reward = float(value) + 0.0  # type: ignore[arg-type]  # without the sign of a zero
    except (TypeError, ValueError, OverflowError):
        reward = math.nan
    if isinstance(value, bool) or not math.isfinite(reward):
        raise RuleError(f"{where}: a reward must be a finite number, got {shown(value)}")
    return (reward,)  # type: ignore[return-value]  # a number, too


def _examples(attribute: Attribute, frame: Frame) -> str:
    """Return two outcomes that a leaf may have."""
    if attribute.is_symbolic and frame == VALUE:
        last = 1 if attribute.names is None else len(attribute.names) - 1
        names = [outcome_text(attribute.decode(code), attribute) for code in (last, 0)]
        return f"'{names[0]} × 3'" if last == 0 else f"'{names[0]} × 3, {names[1]} × 1'"
    if attribute.kind == "terminated":
        return "'= yes × 3, = no × 1'"
    ones = (*(0,) * (attribute.length - 1), 1) if attribute.length > 1 else 1
    zeros = (0,) * attribute.length if attribute.length > 1 else 0
    first = outcome_text(zeros if attribute.is_symbolic else ones, attribute, frame)
    last_text = outcome_text(zeros if frame.is_plain else frame.bare, attribute, frame)
    return f"'{first} × 3, {last_text} × 1'"


# ------------------------------------------------------------------------------ tests


@dataclass(frozen=True)
class Names:
    """The engine's numbers for the variables of the text, and their classes."""

    classes: tuple[str, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def given(cls, classes: tuple[str, ...]) -> "Names":
        """Return the variables of a node, under the names that a printed rule gives them."""
        return cls(classes, {f"X{number}": number for number in range(len(classes))})

    def extended(self, new: Mapping[str, str]) -> "Names":
        """Return the names with new ones, which are numbered in order of appearance."""
        numbers = {name: len(self.classes) + place for place, name in enumerate(new)}
        return Names((*self.classes, *new.values()), {**self.numbers, **numbers})

    def class_of(self, name: str) -> str:
        return self.classes[self.numbers[name]]


def vector_of(text: str) -> Vector:
    """Return the numbers of a text that `_VALUE` matches."""
    return tuple(int(each) for each in re.findall(_INTEGER, text))


def read_test(text: str, schema: Schema, names: Names, where: str) -> tuple[EngineTest, Names]:
    """Return the test, and the variables that are bound where it holds."""
    new, formula = _introduced(text.strip(), schema, names, where)
    kind, terms, value = _formula(formula, schema, where)
    _check_variables(terms, new, names.extended(new), where)
    _check_fact(kind, terms, value, schema, names.extended(new), where)
    terms, value = _canonical(terms, value, schema, names.extended(new), len(names.classes))
    variables = list(dict.fromkeys(variable for variable, _ in terms))
    known = names.extended({name: new[name] for name in variables if name in new})
    attributes = tuple(attribute for _, attribute in terms)
    attributes += (schema.unit(attributes[0]),) if kind == "something" else ()
    classes = tuple(known.class_of(name) for name in variables)
    numbers = tuple(known.numbers[name] for name in variables)
    return (kind, attributes, classes, numbers, value), known


def _introduced(text: str, schema: Schema, names: Names, where: str) -> tuple[dict[str, str], str]:
    """Return the new variables with their classes, and the rest of the text."""
    match = _EXISTS.match(text)
    if match is None:
        return {}, text
    rest, new = match[1], {}
    classes = {printable(name): name for name in schema.classes}  # by their printed names
    name_of_class = "|".join(re.escape(each) for each in _longest_first(classes))
    variable = re.compile(rf"\s*(X\d+)\s*:\s*({name_of_class})\s*([,.])")
    while True:
        match = variable.match(rest)
        if match is None:
            other = re.match(r"\s*X\d+\s*:\s*([^,.]*[^,.\s])\s*[,.]", rest)
            if other is not None:
                raise UnknownNameError("class", other[1], classes, where)
            raise RuleError(
                f"{where} must continue like 'X1: {next(iter(classes))}.', at {shown(rest)}"
            )
        name, class_name, end = match.groups()
        if name in names.numbers or name in new:
            raise RuleError(f"{where} introduces {name}, which is there already")
        new[name] = classes[class_name]
        rest = rest[match.end() :]
        if end == ".":
            return new, rest.strip()


def _formula(text: str, schema: Schema, where: str) -> tuple[str, list[Term], Vector]:
    """Return the kind of fact, the terms, the subtrahend first, and the value."""
    known = [*schema.attributes, *schema.sums]
    name = "|".join(re.escape(each) for each in _longest_first(known))
    term = rf"(X\d+)\[({name})\]"
    one = re.fullmatch(rf"{term}\s*=\s*(?P<value>{_VALUE}|{NAME_PATTERN})", text)
    if one is not None and schema.definition(one[2]).is_symbolic:
        symbol = _symbol(one["value"], schema.definition(one[2]), where)
        return "equality", [(one[1], one[2])], symbol
    if one is not None and re.fullmatch(_VALUE, one["value"]):
        return "equality", [(one[1], one[2])], vector_of(one["value"])
    of = rf"(?:\.(?P<component>[{COMPONENTS}]))?"
    most = re.fullmatch(rf"{term}{of}\s*(?:<=|≤)\s*(?P<value>{_INTEGER})", text)
    if most is not None:
        letter = most["component"]
        before = () if letter is None else (COMPONENTS.index(letter),)
        return "threshold", [(most[1], most[2])], before + vector_of(most["value"])
    equal = re.fullmatch(rf"{term}\s*=\s*{term}", text)
    if equal is not None:
        zero = (0,) * schema.definition(equal[2]).length
        return "difference", [(equal[3], equal[4]), (equal[1], equal[2])], zero
    difference = rf"{term}\s*[-−]\s*{term}"
    value = rf"\s*=\s*(?P<value>{_VALUE})"
    for kind, left in (("difference", difference), ("order", rf"sign\(\s*{difference}\s*\)")):
        two = re.fullmatch(left + value, text)
        if two is not None:
            return kind, [(two[3], two[4]), (two[1], two[2])], vector_of(two["value"])
    any_other = re.fullmatch(rf"something\[({name})\]\s*[-−]\s*{term}{value}", text)
    if any_other is not None:
        if any_other[1] != schema.unit(any_other[3]):
            raise RuleError(
                f"{where} compares {any_other[1]!r} of anything with {any_other[3]!r}; it can be "
                f"compared with 'something[{schema.unit(any_other[3])}]'"
            )
        return "something", [(any_other[2], any_other[3])], vector_of(any_other["value"])
    for each in re.findall(r"(?:X\d+|something)\[([^]]*)\]", text):
        if each not in known:
            raise UnknownNameError("attribute", each, known, where)
    some, length = next(((m, a.length) for m, a in schema.attributes.items()), ("pos", 2))
    value = "1" if length == 1 else f"({', '.join('1' * length)})"
    raise RuleError(
        f"{where} must read like 'X0[{some}] = {value}' or 'X1[{some}] - X0[{some}] = {value}', "
        f"got {shown(text)}"
    )


def _check_component(component: int | None, name: str, length: int, where: str) -> None:
    """Raise an error unless a threshold names a component of a vector, and none of a number."""
    own = COMPONENTS[:length] if length > 1 else ""
    if component is None and own:
        example = f"'X0[{name}].{own[0]} <= 3'"
        raise RuleError(
            f"{where} must say which component of {name!r} is at most a number: {example}"
        )
    if component is not None and component >= len(own):
        known = f"only {listed(own)}" if own else "since it is a single number"
        raise RuleError(
            f"{where} asks for the component {COMPONENTS[component]!r} of {name!r}, which has no "
            f"such, {known}"
        )


def _check_variables(
    terms: Sequence[Term], new: Mapping[str, str], names: Names, where: str
) -> None:
    variables = [variable for variable, _ in terms]
    for name in variables:
        if name not in names.numbers:
            raise UnknownNameError("variable", name, names.numbers, where)
    if len(set(terms)) < len(terms):
        raise RuleError(f"{where} asks about {variables[0]} twice; a fact is about two objects")
    for name in new:
        if name not in variables:
            raise RuleError(f"{where} introduces {name}, and asks nothing about it")


def _check_fact(
    kind: str, terms: Sequence[Term], value: Vector, schema: Schema, names: Names, where: str
) -> None:
    for variable, name in terms:
        owned = schema.classes[names.class_of(variable)]
        owned += tuple(each for each, terms in schema.sums.items() if {*terms} <= {*owned})
        if name not in owned:
            raise UnknownNameError("attribute", name, owned, f"{where}, of {variable}")
        facts = schema.definition(name).facts
        if kind not in facts:
            raise RuleError(
                f"{where} asks for the {kind} of {name!r}, which the schema keeps out of tests "
                f"(facts={facts!r})"
            )
    first, last = terms[0][1], terms[-1][1]
    if schema.unit(first) != schema.unit(last):
        raise RuleError(
            f"{where} compares {last!r} with {first!r}, which are not of one unit; "
            f"the schema must say that one is like the other (like={first!r})"
        )
    length = schema.definition(first).length
    if kind == "threshold":
        _check_component(split_component(kind, value)[0], first, length, where)
    elif len(value) != length:
        raise RuleError(f"{where} must name a value of length {length}, got {shown(value)}")
    if kind == "difference" and schema.definition(first).is_symbolic and any(value):
        (x, m), (y, n) = terms[::-1]
        raise RuleError(
            f"{where} calculates with {first!r}, whose values are names or flags; they can only be "
            f"equal: '{x}[{m}] = {y}[{n}]'"
        )
    if kind == "order" and any(abs(each) > 1 for each in value):
        raise RuleError(f"{where} asks for a sign, which is -1, 0 or 1, got {shown(value)}")
    least = -(2**63) + (len(terms) == 2 or kind == "something")  # it may have to be negated
    if not all(least <= each < 2**63 for each in value):
        raise RuleError(f"{where} names a value that does not fit 64 bits: {shown(value)}")


def _canonical(
    terms: list[Term], value: Vector, schema: Schema, names: Names, known: int
) -> tuple[list[Term], Vector]:
    """Return terms and value of a test in the engine's canonical form."""
    if len(terms) == 1:
        return terms, value
    attributes, classes = [*schema.attributes, *schema.sums], list(schema.classes)
    # New variables, those from `known` on, all have the same age.
    first, second = (
        (
            attributes.index(attribute),
            classes.index(names.class_of(name)),
            min(names.numbers[name], known),
        )
        for name, attribute in terms
    )
    negative = tuple(-each for each in value)
    if first > second or (first == second and negative > value):
        return terms[::-1], negative
    return terms, value


def _longest_first(names: Iterable[str]) -> list[str]:
    """Sort names by length, since one may be the beginning of another."""
    return sorted(names, key=len, reverse=True)
