"""A rule as a flowchart of Mermaid: a block of ``mermaid`` in Markdown shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treethink.export import colours
from treethink.export.content import ANSWERS, Box, boxes_of
from treethink.rules import Rule

# Between quotes Mermaid reads entities, HTML and some Markdown. These mean nothing to any of them:
# letters, digits, some signs, and others where they stand in the middle of a text.
_PLAIN = re.compile(r"[^\W_]|(?<=[^\W_])_(?=[^\W_])|: |(?<!^)[-+.)]|[-+](?=\d)|[ ,([\]=×%…]")
_LINK = re.compile(r"www\.", re.IGNORECASE)
_WIDE = '%%{init: {"flowchart": {"wrappingWidth": 480}}}%%'  # else tests would be broken in two
_NUMBER = re.compile(r"\d+[.)]")  # at the start, it would begin a list


def text_of(rule: Rule) -> str:
    """The whole flowchart, ending with a newline."""
    return "\n".join(_lines(boxes_of(rule))) + "\n"


def _lines(boxes: list[Box]) -> Iterator[str]:
    yield _WIDE
    yield "flowchart TD"
    looks: dict[str, str] = {}
    for number, box in enumerate(boxes):
        name, look = _look(box)
        looks[look] = looks.get(look, name)
        yield f"    {_node(number, box)}:::{looks[look]}"
    for number, box in enumerate(boxes):
        answers = ("",) if box.kind == "header" else (f"|{answer}|" for answer in ANSWERS)
        for child, answer in zip(box.children, answers, strict=False):
            yield f"    n{number} -->{answer} n{child}"
    for look, name in looks.items():
        yield f"    classDef {name} {look}"


def _node(number: int, box: Box) -> str:
    label = "<br/>".join(map(escaped, box.lines))
    start, end = ("(", ")") if box.kind == "leaf" else ("[", "]")
    return f'n{number}{start}"{label}"{end}'


def _look(box: Box) -> tuple[str, str]:
    """A name for how the box looks, and what that is."""
    look = f"fill:{colours.fill(box)},stroke:{colours.line(box)},color:{colours.INK}"
    if box.kind == "leaf" and not box.rows:
        name, look = "unseen", f"{look},stroke-dasharray:4"
    elif box.kind == "leaf":
        name = f"outcome{box.rows[0].tone}" if len(box.rows) == 1 else "chance"
    else:
        name = box.kind
    return (f"{name}pinned", f"{look},stroke-width:3px") if box.pinned else (name, look)


def escaped(line: str) -> str:
    """A line as it may stand between quotes; whatever could have a meaning there is a number.

    >>> escaped('X0: "a<b"')
    'X0: #34;a#60;b#34;'
    """
    found = {each.start() for each in _PLAIN.finditer(line)}
    found |= {each.end() - 1 for each in _PLAIN.finditer(line)}
    found -= {each.end() - 1 for each in _LINK.finditer(line)}
    if number := _NUMBER.match(line):
        found.discard(number.end() - 1)
    return "".join(c if i in found else f"#{ord(c)};" for i, c in enumerate(line))
