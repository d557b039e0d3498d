"""A small table that becomes text or HTML, and pages of such tables and of sentences.

    summary, prediction -> [ table ] -> rich, plain text, HTML

Names of classes and actions may be anything. So what cannot be printed is spelled out, rich is
told that nothing is markup, and in HTML everything is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from treethink.text import escaped, printable

WIDTH = 80  # columns of plain text
_LEFT, _RIGHT = (f"padding:0 0.6em;text-align:{side}" for side in ("left", "right"))


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under a head; columns whose name begins with > have their text on the right.

    >>> table = Table("Lamps", ("name", ">watts"), [("<b>", "40")])
    >>> print(text([table]))
    Lamps
     name   watts
    ──────────────
     <b>       40
    >>> "&lt;b&gt;</td>" in table.html()
    True
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    def __rich__(self) -> Any:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(
            title=Text(printable(self.title), style="bold") if self.title else None,
            title_justify="left",
            title_style="",
            box=box.SIMPLE_HEAD,
            show_edge=False,
        )
        for name in self.columns:
            justify: Any = "right" if name[0] == ">" else "left"
            table.add_column(Text(name.lstrip(">")), justify=justify, overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def html(self) -> str:
        """An HTML table; colours are the page's own."""
        styles = [_RIGHT if name[0] == ">" else _LEFT for name in self.columns]
        head = _cells("th", [name.lstrip(">") for name in self.columns], styles)
        body = "".join(f"<tr>{_cells('td', row, styles)}</tr>" for row in self.rows)
        title = f"<caption {_TITLE}>{escaped(self.title)}</caption>" if self.title else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_TITLE = 'style="caption-side:top;text-align:left;font-weight:bold"'

Part = Table | str
"""A table, or a sentence."""


def _cells(tag: str, row: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="{style}">{escaped(cell)}</{tag}>'
        for cell, style in zip(row, styles, strict=True)
    )


def group(parts: Iterable[Part]) -> Any:
    """The parts for rich, an empty line between them."""
    from rich.console import Group
    from rich.text import Text

    shown: list[Any] = []
    for part in parts:
        shown += [Text("")] if shown else []
        shown.append(Text(printable(part)) if isinstance(part, str) else part)
    return Group(*shown)


def text(parts: Iterable[Part], width: int = WIDTH) -> str:
    """The parts as plain text, without colours and without spaces at the ends of lines."""
    from treethink.explain.summary.rich_text import plain

    return plain(group(parts), width).rstrip()


def page(parts: Iterable[Part]) -> str:
    """The parts as HTML."""
    shown = (f"<p>{escaped(p)}</p>" if isinstance(p, str) else p.html() for p in parts)
    return f"<div>{''.join(shown)}</div>"
