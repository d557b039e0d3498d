"""Tests as people write them, as the engine has them.

    "∃ X1: wall.  X1[pos] - X0[pos] = (1, 0)" -> [ asking ] -> the engine's tuple

People may say a difference either way round, and number new variables as they like. The engine
has one form for each test: classes in the schema's order, within a class the older variable first,
and for two new ones the positive difference; new variables are numbered as they come. So variables
get other numbers, and the tests below are told (`Names`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from treethink.errors import RuleError, UnknownNameError, shown
from treethink.rules import EngineTest
from treethink.state import Schema
from treethink.text import printable

Vector = tuple[int, ...]
_KINDS = {1: "equality", 2: "difference"}  # by how many objects they are about
_EXISTS = re.compile(r"(?:∃|exists\b)\s*(.*)", re.DOTALL)
_INTEGER = r"[+-]?\d{1,99}"  # of more digits Python would make no number, nor do we
VALUE = rf"{_INTEGER}|\(\s*{_INTEGER}(?:\s*,\s*{_INTEGER})*\s*,?\s*\)"


@dataclass(frozen=True)
class Names:
    """What the variables of the text are called by the engine, and their classes."""

    classes: tuple[str, ...]
    numbers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def given(cls, classes: tuple[str, ...]) -> "Names":
        """Those of a node, under the names that a printed rule gives them."""
        return cls(classes, {f"X{number}": number for number in range(len(classes))})

    def extended(self, new: Mapping[str, str]) -> "Names":
        """With new ones, each with its class, which are numbered as they come."""
        numbers = {name: len(self.classes) + place for place, name in enumerate(new)}
        return Names((*self.classes, *new.values()), {**self.numbers, **numbers})

    def class_of(self, name: str) -> str:
        return self.classes[self.numbers[name]]


def vector_of(text: str) -> Vector:
    """A number, or numbers in parentheses: what `VALUE` matches."""
    return tuple(int(each) for each in re.findall(_INTEGER, text))


def read_test(text: str, schema: Schema, names: Names, where: str) -> tuple[EngineTest, Names]:
    """The test, and the variables that are known where it holds."""
    new, formula = _introduced(text.strip(), schema, names, where)
    attribute, variables, value = _formula(formula, schema, where)
    _check_variables(variables, new, names.extended(new), where)
    _check_fact(attribute, variables, value, schema, names.extended(new), where)
    variables, value = _in_order(variables, value, schema, names.extended(new), len(names.classes))
    known = names.extended({name: new[name] for name in variables if name in new})
    classes = tuple(known.class_of(name) for name in variables)
    numbers = tuple(known.numbers[name] for name in variables)
    return (_KINDS[len(variables)], attribute, classes, numbers, value), known


def _introduced(text: str, schema: Schema, names: Names, where: str) -> tuple[dict[str, str], str]:
    """New variables with their classes, and the rest of the text."""
    match = _EXISTS.match(text)
    if match is None:
        return {}, text
    rest, new = match[1], {}
    classes = {printable(name): name for name in schema.classes}  # as they are printed
    name_of_class = "|".join(re.escape(each) for each in _longest_first(classes))
    each_one = re.compile(rf"\s*(X\d+)\s*:\s*({name_of_class})\s*([,.])")
    while True:
        found = each_one.match(rest)
        if found is None:
            other = re.match(r"\s*X\d+\s*:\s*([^,.]*[^,.\s])\s*[,.]", rest)
            if other is not None:
                raise UnknownNameError("class", other[1], classes, where)
            raise RuleError(
                f"{where} must go on like 'X1: {next(iter(classes))}.', at {shown(rest)}"
            )
        name, class_name, end = found.groups()
        if name in names.numbers or name in new:
            raise RuleError(f"{where} introduces {name}, which is there already")
        new[name] = classes[class_name]
        rest = rest[found.end() :]
        if end == ".":
            return new, rest.strip()


def _formula(text: str, schema: Schema, where: str) -> tuple[str, list[str], Vector]:
    """Attribute, variables in the engine's order (what is taken off comes first), and value."""
    name = "|".join(re.escape(each) for each in _longest_first(schema.attributes))
    one = re.fullmatch(rf"(X\d+)\[({name})\]\s*=\s*(?P<value>{VALUE})", text)
    if one is not None:
        return one[2], [one[1]], vector_of(one["value"])
    two = re.fullmatch(rf"(X\d+)\[({name})\]\s*[-−]\s*(X\d+)\[\2\]\s*=\s*(?P<value>{VALUE})", text)
    if two is not None:
        return two[2], [two[3], two[1]], vector_of(two["value"])
    for each in re.findall(r"X\d+\[([^]]*)\]", text):
        if each not in schema.attributes:
            raise UnknownNameError("attribute", each, schema.attributes, where)
    some, length = next(((m, a.length) for m, a in schema.attributes.items()), ("pos", 2))
    value = "1" if length == 1 else f"({', '.join('1' * length)})"
    raise RuleError(
        f"{where} must read like 'X0[{some}] = {value}' or 'X1[{some}] - X0[{some}] = {value}', "
        f"got {shown(text)}"
    )


def _check_variables(
    variables: list[str], new: Mapping[str, str], names: Names, where: str
) -> None:
    for name in variables:
        if name not in names.numbers:
            raise UnknownNameError("variable", name, names.numbers, where)
    if len(set(variables)) < len(variables):
        raise RuleError(f"{where} asks about {variables[0]} twice; a fact is about two objects")
    for name in new:
        if name not in variables:
            raise RuleError(f"{where} introduces {name}, and asks nothing about it")


def _check_fact(
    name: str, variables: list[str], value: Vector, schema: Schema, names: Names, where: str
) -> None:
    for variable in variables:
        owned = schema.classes[names.class_of(variable)]
        if name not in owned:
            raise UnknownNameError("attribute", name, owned, f"{where}, of {variable}")
    attribute, kind = schema.attributes[name], _KINDS[len(variables)]
    if attribute.facts is not None and kind not in attribute.facts:
        raise RuleError(
            f"{where} asks for the {kind} of {name!r}, which the schema keeps out of tests "
            f"(facts={attribute.facts!r})"
        )
    if len(value) != attribute.length:
        raise RuleError(
            f"{where} must name a value of length {attribute.length}, got {shown(value)}"
        )
    least = -(2**63) + (len(variables) == 2)  # a difference can be said the other way round
    if not all(least <= each < 2**63 for each in value):
        raise RuleError(f"{where} names a value that does not fit 64 bits: {shown(value)}")


def _in_order(
    variables: list[str], value: Vector, schema: Schema, names: Names, known: int
) -> tuple[list[str], Vector]:
    """The one way in which the engine says it."""
    if len(variables) == 1:
        return variables, value
    classes = list(schema.classes)
    # New variables, those from `known` on, are all of one age.
    first, second = (
        (classes.index(names.class_of(name)), min(names.numbers[name], known)) for name in variables
    )
    negative = tuple(-each for each in value)
    if first > second or (first == second and negative > value):
        return variables[::-1], negative
    return variables, value


def _longest_first(names: Mapping[str, object]) -> list[str]:
    """A name may be the beginning of another."""
    return sorted(names, key=len, reverse=True)
