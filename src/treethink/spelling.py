"""Any text, made fit for a line of a terminal, for HTML and for SVG.

Names of classes, attributes and actions may be anything that UTF-8 can write.
"""

from __future__ import annotations

from html import escape


def printable(text: str) -> str:
    r"""The text with all that cannot be printed spelled out, so that it is one harmless line.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def escaped(text: str) -> str:
    r"""The text for HTML and SVG, between tags or in quotes.

    >>> escaped("<b>\0")
    '&lt;b&gt;\\x00'
    """
    return escape(printable(text))
