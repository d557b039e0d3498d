"""A model observes a world while somebody looks on.

    model, world -> [ watch ] -> lines that move in a terminal, else a few that do not

All of it goes to the error stream, so that a pipe carries the result alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from treethink.cli.session.interrupt import ControlC
from treethink.model import TreeThink
from treethink.repro.runner import Curve, trial
from treethink.terminal import moves, say, sparkline, terminal
from treethink.worlds import World

#: How it learns unless told: at most so many steps, until so many were without an error.
STEPS, PATIENCE, EPISODE = 100_000, 5_000, 50

_BETWEEN = 0.1  # seconds
_FIRST_LINE = 1_000  # observations, where nothing moves


@dataclass(slots=True)
class Watched:
    """What came of learning: the errors on the way, the time it took, whether it was stopped."""

    curve: Curve = field(default_factory=Curve)
    seconds: float = 0.0
    interrupted: bool = False


def watch(
    model: TreeThink,
    world: World,
    steps: int = STEPS,
    seed: int = 0,
    patience: int = PATIENCE,
    episode: int = EPISODE,
    quiet: bool = False,
    control_c: ControlC | None = None,
) -> Watched:
    """Let a model observe a world, and show how it goes, until it has learned it or Ctrl-C.

    What a model has observed before, it is not shown again: the stream goes on there.
    """
    watched, control_c = Watched(), control_c or ControlC()
    curve, first = watched.curve, model.observations

    def observe() -> None:
        for wrong_by in trial(model, world, first + steps, seed, episode, first):
            curve.add(wrong_by)
            if curve.steps % 50 == 0:
                progress.show(curve, model.n_varying)
            if patience and curve.steps - curve.last_error >= patience:
                break

    with Progress(terminal(stderr=True), steps, patience, quiet) as progress:
        control_c.stops(observe)
        watched.seconds = progress.seconds
    watched.interrupted = control_c.pressed
    return watched


class Progress:
    """Says how learning goes: ten times a second in a terminal, else now and then.

    `steps` is the most there will be, and `patience` after how many without an error it ends; 0:
    it does not.
    """

    def __init__(self, console: Console, steps: int, patience: int = 0, quiet: bool = False):
        self._console, self._quiet = console, quiet
        self._steps, self._patience = steps, patience
        self._started = time.monotonic()
        self._next_look = self._started
        self._next_line = _FIRST_LINE
        moving = moves(console) and not quiet
        self._live = Live(console=console, auto_refresh=False, transient=True) if moving else None

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
            if now >= self._next_look:
                self._next_look = now + _BETWEEN
                self._live.update(self._page(curve, n_varying), refresh=True)
        elif not self._quiet and curve.steps >= self._next_line:
            say(self._console, self._line(curve, n_varying))
            self._next_line = _next_of_1_2_5(curve.steps)

    def _line(self, curve: Curve, n_varying: int) -> str:
        return (
            f"{curve.steps:>9,} observations  {self._rate(curve):>7,.0f} a second  "
            f"recent error {curve.recent():.4f}  "
            f"{n_varying} {'rule varies' if n_varying == 1 else 'rules vary'}"
        )

    def _page(self, curve: Curve, n_varying: int) -> Text:
        rate = self._rate(curve)
        room = self._console.width - len("  error     0.0000  ") - 1
        spark = sparkline(curve.means, room, self._console.encoding)
        rows = {
            "error": f"{curve.recent():.4f}  {spark}",
            "observed": f"{curve.steps:,} of {self._steps:,} at most, {rate:,.0f} a second",
            "rules": f"{n_varying} that {'varies' if n_varying == 1 else 'vary'}",
            "ends": ending(curve, self._steps, self._patience, rate),
        }
        page = Text("\n", no_wrap=True, overflow="crop")
        for name, said in rows.items():
            page.append(f"  {name:<8}  ", style="quiet").append(f"{said}\n")
        return page

    def _rate(self, curve: Curve) -> float:
        return curve.steps / max(self.seconds, 1e-9)


def ending(curve: Curve, steps: int, patience: int, rate: float) -> str:
    """When it will have ended, as far as anyone can know.

    >>> curve = Curve()
    >>> for wrong_by in [1.0] * 600 + [0.0] * 400:
    ...     curve.add(wrong_by)
    >>> ending(curve, steps=100_000, patience=5_000, rate=1_000)
    'in 4.6 s if no error comes, in 99 s at most'
    >>> ending(curve, steps=100_000, patience=0, rate=10)
    'in 165 min'
    """
    last = _duration((steps - curve.steps) / rate)
    quiet = patience - (curve.steps - curve.last_error)
    if not patience or quiet >= steps - curve.steps:
        return f"in {last}"
    return f"in {_duration(quiet / rate)} if no error comes, in {last} at most"


def _duration(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _next_of_1_2_5(steps: int) -> int:
    mark = _FIRST_LINE
    while True:
        for times in (1, 2, 5):
            if mark * times > steps:
                return mark * times
        mark *= 10
