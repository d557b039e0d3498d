"""A rule in the DOT language of Graphviz: ``dot -Tsvg rule.dot -o rule.svg``."""

from __future__ import annotations

from collections.abc import Iterator

from treethink.export.boxes import INK, LINE, Box, boxes_of
from treethink.rules import Rule

FONT = "Courier"  # Graphviz knows the width of its letters even where it cannot read any font


def text_of(rule: Rule) -> str:
    """Return the whole graph, ending with a newline."""
    return "\n".join(_lines(boxes_of(rule))) + "\n"


def _lines(boxes: list[Box]) -> Iterator[str]:
    yield "digraph rule {"
    yield '    graph [ordering=out, nodesep=0.3, ranksep=0.45, bgcolor="#ffffff"];'
    yield (
        f'    node [shape=box, style="filled,rounded", fontname="{FONT}",'
        f' fontsize=10, fontcolor="{INK}", color="{LINE}"];'
    )
    yield f'    edge [fontname="{FONT}", fontsize=9, arrowsize=0.6];'
    for number, box in enumerate(boxes):
        yield f"    n{number} [{_attributes(box)}];"
    for number, box in enumerate(boxes):
        yield from _edges(number, box)
    yield "}"


def _attributes(box: Box) -> str:
    label = "\\n".join(map(escaped, box.lines))
    dashed = ', style="filled,rounded,dashed"' if box.unseen else ""
    thick = ", penwidth=2.4" if box.pinned else ""
    return f'label="{label}", fillcolor="{box.fill}", color="{box.line}"{dashed}{thick}'


def _edges(number: int, box: Box) -> Iterator[str]:
    for child, answer, colour in box.edges:
        label = f'label=" {answer} ", ' if answer else ""
        font = f', fontcolor="{colour}"' if answer else ""
        yield f'    n{number} -> n{child} [{label}color="{colour}"{font}];'


def escaped(line: str) -> str:
    r"""Escape a line for use between quotes.

    >>> print(escaped('a "b" \\N &amp;'))
    a \"b\" \\N &amp;amp;
    """
    return line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
