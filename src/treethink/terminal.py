"""What `treethink` draws in a terminal: progress while it learns, and the curve of errors.

    curve -> [ terminal ] -> lines of text

Progress goes to the error stream, so that a pipe carries the result alone. Where that stream
is not a terminal, progress is a few plain lines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from treethink.experiment import Curve

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = " .:#"
_IN_ASCII = {"∃": "exists", "├─": "|-", "└─": "`-", "│": "|", "×": "x"}


class Progress:
    """Says how learning goes: ten times a second in a terminal, else now and then."""

    _seconds_between = 0.1

    def __init__(self, console: Console, quiet: bool = False):
        self._console = console
        self._quiet = quiet
        self._started = self._shown = time.monotonic()
        self._next_line = 1_000
        self._live = (
            Live(console=console, auto_refresh=False, transient=True)
            if console.is_terminal and not quiet
            else None
        )

    def __enter__(self) -> Progress:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    @property
    def seconds(self) -> float:
        """Since it started."""
        return time.monotonic() - self._started

    def show(self, curve: Curve, n_varying: int) -> None:
        """To be called often; shows something when it is time to."""
        if self._live:
            now = time.monotonic()
            if now - self._shown >= self._seconds_between:
                self._shown = now
                self._live.update(Text(self._line(curve, n_varying)), refresh=True)
        elif not self._quiet and curve.steps >= self._next_line:
            say(self._console, self._line(curve, n_varying))
            self._next_line = _next_of_1_2_5(curve.steps)

    def _line(self, curve: Curve, n_varying: int) -> str:
        rate = curve.steps / max(self.seconds, 1e-9)
        return (
            f"{curve.steps:>9,} observations  {rate:>7,.0f} a second  "
            f"recent error {curve.recent():.4f}  {n_varying} rules vary"
        )


def say(console: Console, text: str) -> None:
    """Print as it is: rules are full of brackets, which rich would take for its own."""
    if not console.encoding.lower().startswith("utf"):
        for sign, plain in _IN_ASCII.items():
            text = text.replace(sign, plain)
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def chart(means: Sequence[float], steps: int, encoding: str = "utf-8") -> str:
    """The curve of errors as a picture, from the first step to the last.

    >>> print(chart([2.0, 1.0, 0.75, 0.0], steps=200))
          2 █
            █
            ██▄
          0 ███
            1 200
    """
    blocks = _BLOCKS if encoding.lower().startswith("utf") else _PLAIN
    columns = _squeeze(means, most=60)
    highest = max(columns, default=0.0)
    rows = 4 if len(columns) < 10 else 8
    full = len(blocks) - 1
    # An error is never drawn as none: what is above 0 gets at least the smallest block.
    heights = [max(round(each / highest * rows * full), 1) if each > 0 else 0 for each in columns]
    labels = {0: f"{highest:.3g}", rows - 1: "0"}
    lines = []
    for row in range(rows):
        floor = (rows - 1 - row) * full
        bar = "".join(blocks[min(max(height - floor, 0), full)] for height in heights)
        lines.append(f"{labels.get(row, ''):>7} {bar}".rstrip())
    lines.append(f"{'':7} 1{steps:>{max(len(columns) - 1, len(f'{steps:,}') + 1)},}")
    return "\n".join(lines)


def _squeeze(means: Sequence[float], most: int) -> list[float]:
    """At most so many columns; each the mean of the values that fall into it."""
    n = min(len(means), most)
    edges = [len(means) * i // n for i in range(n + 1)] if n else []
    return [sum(means[low:high]) / (high - low) for low, high in pairwise(edges)]


def _next_of_1_2_5(steps: int) -> int:
    mark = 1_000
    while True:
        for times in (1, 2, 5):
            if mark * times > steps:
                return mark * times
        mark *= 10
