"""A rule as a Mermaid flowchart: a block of ``mermaid`` in Markdown shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treethink.export.boxes import INK, Box, boxes_of
from treethink.rules import Rule

# Between quotes Mermaid reads entities, HTML and some Markdown. These have no meaning in any of
# them: letters, digits, some signs, and other signs in the middle of a text.
_PLAIN = re.compile(r"[^\W_]|(?<=[^\W_])_(?=[^\W_])|: |(?<!^)[-+.)]|[-+](?=\d)|[ ,([\]=×%…]")
_LINK = re.compile(r"www\.", re.IGNORECASE)
_WIDE = '%%{init: {"flowchart": {"wrappingWidth": 480}}}%%'  # or long tests would be wrapped
_NUMBER = re.compile(r"\d+[.)]")  # at the start of a line, it would begin a list


def text_of(rule: Rule) -> str:
    """Return the whole flowchart, ending with a newline."""
    return "\n".join(_lines(boxes_of(rule))) + "\n"


def _lines(boxes: list[Box]) -> Iterator[str]:
    yield _WIDE
    yield "flowchart TD"
    styles: dict[str, str] = {}
    for number, box in enumerate(boxes):
        name, style = _style(box)
        styles[style] = styles.get(style, name)
        yield f"    {_node(number, box)}:::{styles[style]}"
    for number, box in enumerate(boxes):
        for child, answer, _ in box.edges:
            yield f"    n{number} -->{f'|{answer}|' if answer else ''} n{child}"
    for style, name in styles.items():
        yield f"    classDef {name} {style}"


def _node(number: int, box: Box) -> str:
    label = "<br/>".join(map(escaped, box.lines))
    start, end = ("(", ")") if box.kind == "leaf" else ("[", "]")
    return f'n{number}{start}"{label}"{end}'


def _style(box: Box) -> tuple[str, str]:
    """Return the name of the box's style, and the style."""
    style = f"fill:{box.fill},stroke:{box.line},color:{INK}"
    if box.unseen:
        name, style = "unseen", f"{style},stroke-dasharray:4"
    elif box.kind == "leaf":
        name = f"outcome{box.rows[0].tone}" if len(box.rows) == 1 else "chance"
    else:
        name = box.kind
    return (f"{name}pinned", f"{style},stroke-width:3px") if box.pinned else (name, style)


def escaped(line: str) -> str:
    """Escape a line for use between quotes: characters with a meaning become numbers.

    >>> escaped('X0: "a<b"')
    'X0: #34;a#60;b#34;'
    """
    plain = {each.start() for each in _PLAIN.finditer(line)}
    plain |= {each.end() - 1 for each in _PLAIN.finditer(line)}
    plain -= {each.end() - 1 for each in _LINK.finditer(line)}
    if number := _NUMBER.match(line):
        plain.discard(number.end() - 1)
    return "".join(c if i in plain else f"#{ord(c)};" for i, c in enumerate(line))
