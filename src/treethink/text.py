"""Formatting of text: escaping for terminals, HTML and SVG; percentages and counted nouns.

Names of classes, attributes and actions may hold any characters that UTF-8 can encode.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def printable(text: str) -> str:
    r"""Return the text on one line, with unprintable characters escaped.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def escaped(text: str) -> str:
    r"""Return the text escaped for HTML and SVG, between tags or in quotes.

    >>> escaped("<b>\0")
    '&lt;b&gt;\\x00'
    """
    return escape(printable(text))


def percent(part: float, whole: float = 1) -> str:
    """Return a ratio as a percentage: 100% only for all, and 0% only for nothing.

    >>> percent(1, 3), percent(0.999), percent(1 - 1e-9), percent(1.0)
    ('33%', '99.9%', '>99.99%', '100%')
    >>> percent(0.004), percent(1e-9), percent(0)
    ('0.4%', '<0.0001%', '0%')
    """
    share = 100 * part / whole
    if part == whole or 1 <= share < 99.5:
        return f"{share:.0f}%"
    if share >= 99.5:
        return f"{share:.4g}%" if share <= 99.99 else ">99.99%"
    return f"{share:.2g}%" if share >= 0.0001 or not part else "<0.0001%"


def many(count: int, thing: str, things: str = "") -> str:
    """Return a count with its noun, in the singular or plural.

    >>> many(1, "leaf", "leaves"), many(2, "leaf", "leaves"), many(1200, "rule")
    ('1 leaf', '2 leaves', '1,200 rules')
    """
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def listed(names: Sequence[str], limit: int = 8) -> str:
    """Return the names with commas between them, at most `limit` of them.

    >>> listed(["left", "right", "up"], limit=2)
    'left, right and 1 more'
    """
    more = len(names) - limit
    return ", ".join(names[:limit]) + (f" and {more} more" if more > 0 else "")
