"""Small pieces of Python as text: conditions, names, strings, lines.

[ expressions ] -> code
"""

from __future__ import annotations

import ast
import json

from treethink.errors import WrongTypeError, shown
from treethink.explain.vectors import is_zero
from treethink.export.answers import difference_of
from treethink.rules import Test


def condition(test: Test, relation: str = "==") -> str:
    """What a test asks; with != as its relation, the contrary."""
    name = string(test.attribute)
    if test.kind == "equality":
        return f"x{test.variables[0]}[{name}] {relation} {test.value!r}"
    old, new, value = difference_of(test)
    older, newer = f"x{old}[{name}]", f"x{new}[{name}]"
    if is_zero(value):
        return f"{newer} {relation} {older}"
    if isinstance(value, int):
        return f"{newer} - {older} {relation} {value}"
    return f"minus({newer}, {older}) {relation} {value!r}"


def others(test: Test, bound: tuple[str, ...]) -> list[str]:
    """No two variables stand for one object; only within a class could they."""
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
    """A string in double quotes, as our code has them; whatever is odd in it is escaped."""
    return json.dumps(text, ensure_ascii=False)  # what JSON escapes, Python reads


def docstring(text: str) -> str:
    plain = text.isprintable() and not {'"', "\\"} & set(text)
    return f'"""{text}"""' if plain else string(text)


def literal(outcome: object) -> str:
    """An outcome of a tree by itself: anything that Python can read back."""
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
    """One line if it is short, or else one for each piece."""
    line = f"{start}{' '.join(pieces)}{end}"
    if len(line) <= 80:
        return [line]
    return [start, *(f"    {piece}" for piece in pieces), end]
