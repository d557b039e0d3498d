"""What the terminal shows of an experiment: progress while it runs, a table at its end.

    events of runs -> [ Display ] -> bars in a terminal, otherwise a few lines
    entries -> [ table ] -> a row for each world and learner

Progress goes to the error stream, so that a pipe carries the result alone.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from types import SimpleNamespace

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from treethink.repro.runner.convergence import counted, last_error, middle, worst
from treethink.repro.runner.entries import STATUSES, Entry
from treethink.repro.runner.spec import Run
from treethink.terminal import LiveDisplay, say
from treethink.text import printable

# Seconds between two lines about finished runs, where there are no bars.
_BETWEEN_LINES = 2.0


class Display:
    """Shows the progress of runs (see `pool.Progress`). To be used in a `with`."""

    def __init__(self, console: Console):
        self._console = console
        self._live = LiveDisplay(console, auto_refresh=True)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TextColumn("{task.fields[activity]}", markup=False),
            TimeElapsedColumn(),
            console=console,
        )
        self._overall: TaskID | None = None
        self._tasks: dict[str, TaskID] = {}
        self._left = self._done = 0
        self._last_line = 0.0

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.__exit__(*raised)

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        """Start: `kept` runs had ended before, `left` are to be performed."""
        self._left = len(left)
        runs = counted(kept + len(left), "run")
        have = "has" if kept == 1 else "have"
        kept_text = f"{kept:,} of {runs} {have} ended before; " if kept else ""
        say(self._console, f"{kept_text}{counted(len(left), 'run')} to go")
        if left:
            self._overall = self._bars.add_task("all runs", total=len(left), activity="")
            self._live.__enter__()
            self._live.show(lambda: self._bars)

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        """Show the steps that a run has observed, its recent error, and other activity if any."""
        task = self._tasks.get(run.key)
        if task is None:
            title = printable(f"{run.world}, {run.label}, seed {run.seed}")
            task = self._tasks[run.key] = self._bars.add_task(title, total=run.steps, activity="")
        activity = printable(doing) or f"recent error {error:.4f}"
        self._bars.update(task, completed=observed, activity=activity)

    def warn(self, run: Run, text: str) -> None:
        """Show a warning."""
        say(self._console, f"warning: {text}")

    def ended(self, run: Run, entry: Entry) -> None:
        """Show that a run has ended: a line if it failed, or if there are no bars."""
        self._done += 1
        if run.key in self._tasks:
            self._bars.remove_task(self._tasks.pop(run.key))
        if self._overall is not None:
            self._bars.update(self._overall, completed=self._done)
        finished = entry["status"] == "finished"
        due = time.monotonic() - self._last_line >= _BETWEEN_LINES or self._done == self._left
        if not finished or (due and not self._live.is_live):
            self._last_line = time.monotonic()
            count = f"{self._done:,} of {self._left:,}"
            say(self._console, f"{count}: {run.key} {entry['status']}{_details(entry)}")


def _details(entry: Entry) -> str:
    if entry["message"]:
        return f": {entry['message'].splitlines()[0]}"
    return f", last error at step {entry['last_error']:,}; {entry['seconds']:.1f} s"


# -------------------------------------------------------------------------------- the table

NOT_EXAMINED = "– not examined: set `examine` in the config"


def table(entries: Sequence[Entry]) -> Table:
    """Return the last error (median and worst over seeds), who has learned its world, the status.

    If episodes were played, their scores are a column too. A run that did not end, or that errs in
    its last tenth, counts as having its last error later than its last step.
    """
    planned = any(each.get("planned") for each in entries)
    shown = Table("world", "learner", "last error: median (worst)", "learned",
                  *(["planned: mean score"] if planned else []), "status")  # fmt: skip
    for group in _groups(entries):
        first = group[0]
        options = " ".join(f"{name}={value}" for name, value in first["options"].items())
        world = printable(f"{first['world']} {options}".strip())
        cells = [world, printable(first["label"]), last_errors(group), _learned(group)]
        shown.add_row(*cells, *([_planned(group)] if planned else []), _status(group))
    if not any(each.get("examine") for each in entries):
        shown.caption = Text(NOT_EXAMINED)
        shown.caption_justify = "left"
    return shown


def last_errors(entries: Sequence[Entry]) -> str:
    """Return the median and the worst last error; `>` where it is censored."""
    last = [last_error(SimpleNamespace(**each)) for each in entries]
    return f"{middle(last)} ({worst(last)})"


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for each in entries:
        groups.setdefault(repr((each["world"], each["options"], each["label"])), []).append(each)
    return list(groups.values())


def _learned(entries: Sequence[Entry]) -> str:
    examined = [each["examined"] for each in entries if each["examined"] is not None]
    if not examined:
        return "–"
    return f"{sum(each['learned'] for each in examined)} of {len(entries)}"


def _planned(entries: Sequence[Entry]) -> str:
    """Return the mean over seeds of the normalised score, by setting."""
    scores: dict[str, list[float]] = {}
    for each in entries:
        for label, planned in (each.get("planned") or {}).items():
            scores.setdefault(label, []).append(planned["mean"])
    lines = (f"{printable(label)}: {fmean(each):.3f}" for label, each in scores.items())
    return "\n".join(lines) or "–"


def _status(entries: Sequence[Entry]) -> str:
    counts = Counter(each["status"] for each in entries)
    texts = {each: f"{counts[each]} {each}" for each in STATUSES if counts[each]}
    if "stopped" in texts:
        observed = [each["observed"] for each in entries if each["status"] == "stopped"]
        fewest = "" if min(observed) == max(observed) else f"{min(observed):,} to "
        texts["stopped"] += f" after {fewest}{counted(max(observed), 'step')}"
    return ", ".join(texts.values())
