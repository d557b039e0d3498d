"""Let a model observe a world, and show the progress.

    model, world -> [ learn_live ] -> LearningRun; a live display, or a few lines of progress

Progress goes to stderr, so that a pipe carries only the result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from treethink.cli.session.interrupt import InterruptGuard
from treethink.model import TreeThink
from treethink.stream.trial import Curve, trial
from treethink.terminal import LiveDisplay, say, sparkline, terminal
from treethink.text import many
from treethink.worlds import World

#: Defaults of `treethink learn`: maximum transitions, transitions without an error after which it
#: stops, and steps per episode.
STEPS, PATIENCE, EPISODE = 100_000, 5_000, 50

_REFRESH = 0.1  # seconds between two updates of the live display
_FIRST_LINE = 1_000  # transitions before the first line of progress, without a live display
#: Transitions between two looks at whether the display must be updated.
SHOW_EVERY = 50


@dataclass(slots=True)
class LearningRun:
    """The errors while learning, the seconds it took, and whether Ctrl-C stopped it."""

    curve: Curve = field(default_factory=Curve)
    seconds: float = 0.0
    interrupted: bool = False


def learn_live(
    model: TreeThink,
    world: World,
    steps: int = STEPS,
    seed: int = 0,
    patience: int = PATIENCE,
    episode: int = EPISODE,
    quiet: bool = False,
    guard: InterruptGuard | None = None,
) -> LearningRun:
    """Let a model observe a world until it is learned or interrupted, and show the progress.

    A model that has observed part of the stream before continues where it stopped.
    """
    run, guard = LearningRun(), guard or InterruptGuard()
    curve, first = run.curve, model.observations

    def observe() -> None:
        for error in trial(model, world, first + steps, seed, episode, first):
            curve.add(error)
            if curve.steps % SHOW_EVERY == 0:
                display.update(curve, model.n_varying)
            if patience and curve.steps - curve.last_error >= patience:
                break

    with LearningDisplay(terminal(stderr=True), steps, patience, quiet) as display:
        guard.run(observe)
        run.seconds = display.seconds
    run.interrupted = guard.interrupted
    return run


class LearningDisplay:
    """Shows the progress of learning: ten times a second in a terminal, otherwise in a few lines.

    `steps` is the maximum number of transitions; `patience` the number without an error after
    which learning stops, or 0.
    """

    def __init__(self, console: Console, steps: int, patience: int = 0, quiet: bool = False):
        self._console, self._quiet = console, quiet
        self._steps, self._patience = steps, patience
        self._started = time.monotonic()
        self._next_line = _FIRST_LINE
        self._live = LiveDisplay(console, enabled=not quiet, every=_REFRESH)

    def __enter__(self) -> LearningDisplay:
        self._live.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.__exit__(*raised)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def update(self, curve: Curve, n_varying: int) -> None:
        """Show the progress if it is time to; to be called often."""
        if self._live.is_live:
            self._live.show(lambda: self._page(curve, n_varying))
        elif not self._quiet and curve.steps >= self._next_line:
            say(self._console, self._line(curve, n_varying))
            self._next_line = _next_of_1_2_5(curve.steps)

    def _line(self, curve: Curve, n_varying: int) -> str:
        return (
            f"{curve.steps:>9,} transitions  {self._rate(curve):>7,.0f} per second  "
            f"recent error {curve.recent():.4f}  {many(n_varying, 'state-dependent rule')}"
        )

    def _page(self, curve: Curve, n_varying: int) -> Text:
        rate = self._rate(curve)
        room = self._console.width - len("  error      0.0000  ") - 1
        spark = sparkline(curve.means, room, self._console.encoding)
        rows = {
            "error": f"{curve.recent():.4f}  {spark}",
            "observed": f"{curve.steps:,} of at most {self._steps:,}, {rate:,.0f} per second",
            "rules": f"{n_varying} state-dependent",
            "time left": time_left(curve, self._steps, self._patience, rate),
        }
        page = Text("\n", no_wrap=True, overflow="crop")
        for name, value in rows.items():
            page.append(f"  {name:<9}  ", style="quiet").append(f"{value}\n")
        return page

    def _rate(self, curve: Curve) -> float:
        return curve.steps / max(self.seconds, 1e-9)


def time_left(curve: Curve, steps: int, patience: int, rate: float) -> str:
    """Return an estimate of the time until learning stops, at `rate` transitions per second.

    >>> curve = Curve()
    >>> for error in [1.0] * 600 + [0.0] * 400:
    ...     curve.add(error)
    >>> time_left(curve, steps=100_000, patience=5_000, rate=1_000)
    '4.6 s without further errors, at most 99 s'
    >>> time_left(curve, steps=100_000, patience=0, rate=10)
    '165 min'
    """
    longest = steps - curve.steps
    shortest = patience - (curve.steps - curve.last_error)
    if not patience or shortest >= longest:
        return _duration(longest / rate)
    return (
        f"{_duration(shortest / rate)} without further errors, at most {_duration(longest / rate)}"
    )


def _duration(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def _next_of_1_2_5(steps: int) -> int:
    """Return the next of 1,000, 2,000, 5,000, 10,000, 20,000, ... above `steps`."""
    mark = _FIRST_LINE
    while True:
        for factor in (1, 2, 5):
            if mark * factor > steps:
                return mark * factor
        mark *= 10
