"""A rule in the language of Graphviz: ``dot -Tsvg rule.dot -o rule.svg``."""

from __future__ import annotations

from collections.abc import Iterator

from treethink.export import colours
from treethink.export.content import ANSWERS, Box, boxes_of
from treethink.rules import Rule

FONT = "Courier"  # Graphviz knows how wide its letters are even where it can read no fonts


def text_of(rule: Rule) -> str:
    """The whole graph, ending with a newline."""
    return "\n".join(_lines(boxes_of(rule))) + "\n"


def _lines(boxes: list[Box]) -> Iterator[str]:
    yield "digraph rule {"
    yield '    graph [ordering=out, nodesep=0.3, ranksep=0.45, bgcolor="#ffffff"];'
    yield (
        f'    node [shape=box, style="filled,rounded", fontname="{FONT}",'
        f' fontsize=10, fontcolor="{colours.INK}", color="{colours.LINE}"];'
    )
    yield f'    edge [fontname="{FONT}", fontsize=9, arrowsize=0.6];'
    for number, box in enumerate(boxes):
        yield f"    n{number} [{_attributes(box)}];"
    for number, box in enumerate(boxes):
        yield from _edges(number, box)
    yield "}"


def _attributes(box: Box) -> str:
    label = "\\n".join(map(escaped, box.lines))
    dashed = ', style="filled,rounded,dashed"' if box.kind == "leaf" and not box.rows else ""
    thick = ", penwidth=2.4" if box.pinned else ""
    looks = f'fillcolor="{colours.fill(box)}", color="{colours.line(box)}"{dashed}{thick}'
    return f'label="{label}", {looks}'


def _edges(number: int, box: Box) -> Iterator[str]:
    if box.kind == "header":
        (child,) = box.children
        yield f'    n{number} -> n{child} [color="{colours.LINE}"];'
        return
    for child, answer, colour in zip(box.children, ANSWERS, colours.EDGES, strict=False):
        looks = f'label=" {answer} ", color="{colour}", fontcolor="{colour}"'
        yield f"    n{number} -> n{child} [{looks}];"


def escaped(line: str) -> str:
    r"""A line as it may stand between quotes: nothing in it has a meaning there.

    >>> print(escaped('a "b" \\N &amp;'))
    a \"b\" \\N &amp;amp;
    """
    return line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
