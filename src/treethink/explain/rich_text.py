"""Objects that rich can print, as plain text (80 columns, no colours) and in notebooks."""

from __future__ import annotations

import io
from html import escape
from typing import Any

from rich.console import Console

from treethink.explain import notebook
from treethink.text import printable

WIDTH = 80


class RichText:
    """Gives a class that has `__rich__` its ``print`` form and its form in notebooks."""

    __slots__ = ()

    def __str__(self) -> str:
        return plain(self)


def pre_html(shown: RichText) -> str:
    """Return the text as notebooks show it."""
    return f"<pre>{escape(str(shown))}</pre>"


notebook.install_on(RichText, _repr_html_="treethink.explain.rich_text:pre_html")


def plain(renderable: Any, width: int = WIDTH) -> str:
    """Return what rich would print, without colours, on every terminal and in every notebook."""
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # or rich would display the text instead of writing it to the page
        legacy_windows=False,
    )
    console.print(renderable, markup=False, highlight=False)
    return "\n".join(printable(line.rstrip()) for line in page.getvalue().split("\n")).rstrip("\n")
