"""Terminal output: colours, plain text, and error curves drawn as text.

    text, curve -> [ terminal ] -> lines of text

Where the encoding has only ASCII, symbols are replaced by ASCII text.

A terminal does not say what its background is. So text has the terminal's own colour, bold or not,
or one of five colours half-way between white and black, each with a contrast of at least 4 to
both. The names that rich has for colours, and for dim text, stand for these five as well.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.theme import Theme

from treethink.text import printable

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType
    from rich.live_render import VerticalOverflowMethod

#: From the 256 colours that nearly every terminal has.
COLOURS = {
    "name": "#0087af",
    "good": "#008700",
    "bad": "#d7005f",
    "warning": "#af5f00",
    "quiet": "#767676",
}
_RICH_STYLES = {
    "name": ["blue", "cyan", "magenta", "bar.complete", "bar.pulse", "progress.remaining"],
    "good": ["green", "bar.finished", "progress.percentage"],
    "bad": ["red"],
    "warning": ["yellow"],
    "quiet": ["dim", "bar.back", "progress.elapsed", "table.caption", "table.footer"],
}
#: Styles of rich that get the terminal's own colour.
_DEFAULT_STYLES = ["white", "black", "bright"]

THEME = Theme(
    {
        **COLOURS,
        **{style: COLOURS[name] for name, styles in _RICH_STYLES.items() for style in styles},
        **dict.fromkeys(_DEFAULT_STYLES, "default"),
        "heading": "bold",
        "learned": f"bold {COLOURS['good']}",
        "not learned": f"bold {COLOURS['bad']}",
    }
)

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:#"
_IN_ASCII = {"∃": "exists", "├": "|", "└": "`", "│": "|", "─": "-", "×": "x", "–": "-"}
_MOST_COLUMNS = 60
_LABELS = 8  # columns to the left of the chart
_WIDEST_TEXT = 100


class SafeConsole(Console):
    """A console that no text can command: unprintable characters are escaped.

    Names of worlds, classes, actions, labels and files may hold any characters, among them those
    that a terminal takes for a command. Names of emoji, such as :bomb:, stay as they are.
    """

    def __init__(self, **options: Any):
        super().__init__(emoji=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            if control or text.isprintable() or text == "\n":
                yield Segment(text, style, control)
            else:
                yield Segment("\n".join(map(printable, text.split("\n"))), style)


def terminal(*, stderr: bool = False, width: int | None = None) -> Console:
    """Return a console with our colours.

    Where a terminal has only sixteen colours, which each terminal defines in its own way, none are
    used. `width` applies to output that is not a terminal.
    """
    console = SafeConsole(stderr=stderr, theme=THEME)
    if console.color_system in ("standard", "windows"):
        console = SafeConsole(stderr=stderr, theme=THEME, no_color=True)
    if width is not None and not console.is_terminal:
        console.width = width
    return console


def plain_table(*columns: str, gap: int = 2, **options: Any) -> Table:
    """Return a table without lines between its columns, so that more fits into 80 columns."""
    return Table(*columns, box=None, padding=(0, gap, 0, 0), **options)


def moves(console: Console) -> bool:
    """Return whether the cursor can be moved, so that text can be overwritten."""
    return console.is_terminal and not console.is_dumb_terminal


def coloured(console: Console) -> bool:
    """Return whether pictures may have colours: in a terminal, unless NO_COLOR is set."""
    return console.is_terminal and not console.no_color and console.color_system is not None


def say(console: Console, text: str, style: str | None = None) -> None:
    """Print text without rich's markup, since rules are full of brackets.

    Names may hold any characters; those that a terminal would take for a command are escaped.
    """
    lines = spelled(text, console.encoding).split("\n")
    output = "\n".join(map(printable, lines))
    console.print(output, markup=False, highlight=False, soft_wrap=True, style=style)


def say_wrapped(console: Console, text: str, indent: str = "", style: str | None = None) -> None:
    """Print sentences and lists, wrapped to the width of the terminal.

    Lines are not wrapped in a pipe, where programs may search them, nor in a dumb terminal, which
    may be the window of a program that wraps lines itself.
    """
    width = min(console.width, _WIDEST_TEXT) - 1 if moves(console) else sys.maxsize
    for line in text.splitlines():
        start = line[: len(line) - len(line.lstrip(" -"))]
        folded = textwrap.wrap(
            line[len(start) :],
            max(width, len(indent) + len(start) + 20),
            initial_indent=indent + start,
            subsequent_indent=indent + " " * len(start),
            break_on_hyphens=False,
        )
        say(console, "\n".join(folded), style)


def spelled(text: str, encoding: str) -> str:
    """Return text with symbols replaced where the encoding lacks them.

    >>> spelled("∃ X1: wall", "ascii")
    'exists X1: wall'
    """
    if not encoding.lower().startswith("utf"):
        for symbol, ascii_text in _IN_ASCII.items():
            text = text.replace(symbol, ascii_text)
    return text


# ------------------------------------------------------------------------- curves


def chart(means: Sequence[float], steps: int, encoding: str = "utf-8", width: int = 80) -> str:
    """Return an error curve as a bar chart in text, from the first step to the last.

    >>> print(chart([2.0, 1.0, 0.75, 0.0], steps=200))
          2 █
            █
            ██▄
          0 ███
            1 200
    """
    columns = _squeeze(means, most=max(min(_MOST_COLUMNS, width - _LABELS - 1), 1))
    rows = 4 if len(columns) < 10 else 8
    labels = {0: f"{max(columns, default=0.0):.3g}", rows - 1: "0"}
    drawn = _bars(columns, rows, encoding)
    lines = [f"{labels.get(row, ''):>7} {bar}".rstrip() for row, bar in enumerate(drawn)]
    lines.append(f"{'':7} 1{steps:>{max(len(columns) - 1, len(f'{steps:,}') + 1)},}")
    return "\n".join(lines)


def sparkline(means: Sequence[float], width: int, encoding: str = "utf-8") -> str:
    """Return an error curve as a bar chart of one line.

    >>> sparkline([2.0, 1.0, 0.75, 0.0, 0.001], width=40)
    '█▄▃ ▁'
    """
    return _bars(_squeeze(means, most=max(width, 1)), 1, encoding)[0]


def _bars(columns: Sequence[float], rows: int, encoding: str) -> list[str]:
    """Return the rows of a bar chart, from the top."""
    blocks = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    highest = max(columns, default=0.0)
    full = len(blocks) - 1
    # An error above 0 gets at least the smallest block.
    heights = [max(round(each / highest * rows * full), 1) if each > 0 else 0 for each in columns]
    return [
        "".join(blocks[min(max(height - floor, 0), full)] for height in heights)
        for floor in range((rows - 1) * full, -1, -full)
    ]


def _squeeze(means: Sequence[float], most: int) -> list[float]:
    """Return at most `most` columns, each the mean of the values that fall into it."""
    n = min(len(means), most)
    edges = [len(means) * i // n for i in range(n + 1)] if n else []
    return [sum(means[low:high]) / (high - low) for low, high in pairwise(edges)]


# ------------------------------------------------------------------- a live display


class LiveDisplay:
    """Draws one page over and over in the same place of a terminal. To be used in a `with`.

    Where the cursor cannot move back (a pipe, a dumb terminal), or with `enabled=False`, nothing is
    drawn and `is_live` is False: the caller prints lines instead.

    Parameters
    ----------
    every
        Least seconds between two drawings by `show`.
    transient
        Whether the page disappears at the end.
    auto_refresh
        Whether a thread draws the last page again ten times a second, for pages that change by
        themselves, such as progress bars.
    overflow
        What happens to a page that is higher than the terminal.
    """

    def __init__(
        self,
        console: Console,
        *,
        enabled: bool = True,
        every: float = 0.0,
        transient: bool = True,
        auto_refresh: bool = False,
        overflow: VerticalOverflowMethod = "ellipsis",
    ):
        from rich.live import Live

        self.is_live = enabled and moves(console)
        self._every, self._next = every, 0.0
        self._live = Live(
            console=console,
            auto_refresh=auto_refresh,
            refresh_per_second=10,
            transient=transient,
            vertical_overflow=overflow,
        )

    def __enter__(self) -> Self:
        if self.is_live:
            self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self.is_live:
            self._live.stop()

    def show(self, page: Callable[[], RenderableType]) -> None:
        """Draw the page if there is a terminal and `every` seconds have passed; else do nothing."""
        now = time.monotonic()
        if self.is_live and now >= self._next:
            self._next = now + self._every
            self._live.update(page(), refresh=True)
