"""The colours of everything that `treethink` writes in a terminal.

    a style's name -> [ palette ] -> a colour that reads on white and on black

A terminal does not say what its background is. So a text has the terminal's own colour, bold or
not, or one of five that are half-way between white and black: each has a contrast of at least 4
to both. The names that rich has for colours, and for what is dim, mean these five here as well.
"""

from __future__ import annotations

from rich.theme import Theme

#: Of the 256 colours that nearly every terminal has.
COLOURS = {
    "name": "#0087af",
    "good": "#008700",
    "bad": "#d7005f",
    "warning": "#af5f00",
    "quiet": "#767676",
}

_ALIKE = {
    "name": ["blue", "cyan", "magenta", "bar.complete", "bar.pulse", "progress.remaining"],
    "good": ["green", "bar.finished", "progress.percentage"],
    "bad": ["red"],
    "warning": ["yellow"],
    "quiet": ["dim", "bar.back", "progress.elapsed", "table.caption", "table.footer"],
}
#: What a colour would make worse.
_OWN = ["white", "black", "bright"]

THEME = Theme(
    {
        **COLOURS,
        **{alike: COLOURS[name] for name, others in _ALIKE.items() for alike in others},
        **dict.fromkeys(_OWN, "default"),
        "heading": "bold",
        "learned": f"bold {COLOURS['good']}",
        "not learned": f"bold {COLOURS['bad']}",
    }
)
