"""Things that rich can show, as plain text and in notebooks.

what rich shows -> [ printed ] -> text of 80 columns without colours, HTML
"""

from __future__ import annotations

import io
from html import escape
from typing import Any

from rich.console import Console

from treethink.explain import notebook
from treethink.text import printable

WIDTH = 80


class Printed:
    """Gives what has a `__rich__` its ``print`` and its look in a notebook."""

    __slots__ = ()

    def __str__(self) -> str:
        return plain(self)


def page(shown: Printed) -> str:
    """The text as a notebook shows it."""
    return f"<pre>{escape(str(shown))}</pre>"


notebook.install_on(Printed, _repr_html_="treethink.explain.summary.rich_text:page")


def plain(shown_by_rich: Any, width: int = WIDTH) -> str:
    """What rich would show, without colours, wherever it runs."""
    page = io.StringIO()
    console = Console(
        file=page,
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,  # there it would show things instead of writing them to the page
        legacy_windows=False,
    )
    console.print(shown_by_rich, markup=False, highlight=False)
    return "\n".join(printable(line.rstrip()) for line in page.getvalue().split("\n")).rstrip("\n")
