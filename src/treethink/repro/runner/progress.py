"""How an experiment goes, on the screen: a bar for each run under way, and one for all.

    news of runs -> [ Display ] -> bars in a terminal, else a few lines

It all goes to the error stream, so that a pipe carries the result alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from treethink.repro.runner.convergence import counted
from treethink.repro.runner.records import Entry
from treethink.repro.runner.spec import Run
from treethink.terminal import say

# Seconds between two lines about runs that went well, where there are no bars.
_BETWEEN_LINES = 2.0


class Display:
    """Shows how runs go. To be used in a `with`."""

    def __init__(self, console: Console):
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
            TextColumn("{task.fields[told]}", markup=False),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._overall: TaskID | None = None
        self._tasks: dict[str, TaskID] = {}
        self._left = self._done = 0
        self._last_line = 0.0

    def __enter__(self) -> Display:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        """So many had ended before; these are left."""
        self._left = len(left)
        runs = counted(kept + len(left), "run")
        have = "has" if kept == 1 else "have"
        kept_text = f"{kept:,} of {runs} {have} ended before; " if kept else ""
        self._say(f"{kept_text}{counted(len(left), 'run')} to go")
        if left:
            self._bars.start()
            self._overall = self._bars.add_task("all runs", total=len(left), told="")

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        """A run is so far, its error of late is so large, and it does this else, if anything."""
        told = doing or f"recent error {error:.4f}"
        task = self._tasks.get(run.key)
        if task is None:
            title = f"{run.world}, {run.label}, seed {run.seed}"
            task = self._tasks[run.key] = self._bars.add_task(title, total=run.steps, told="")
        self._bars.update(task, completed=observed, told=told)

    def warn(self, run: Run, text: str) -> None:
        """Something to be told."""
        self._say(f"warning: {text}")

    def ended(self, run: Run, entry: Entry) -> None:
        """A run has ended."""
        self._done += 1
        if run.key in self._tasks:
            self._bars.remove_task(self._tasks.pop(run.key))
        if self._overall is not None:
            self._bars.update(self._overall, completed=self._done)
        well = entry["status"] == "finished"
        due = time.monotonic() - self._last_line >= _BETWEEN_LINES or self._done == self._left
        if not well or (due and not self._console.is_terminal):
            self._last_line = time.monotonic()
            count = f"{self._done:,} of {self._left:,}"
            self._say(f"{count}: {run.key} {entry['status']}{_how(entry)}")

    def _say(self, text: str) -> None:
        say(self._console, text)


def _how(entry: Entry) -> str:
    if entry["message"]:
        return f": {entry['message'].splitlines()[0]}"
    return f", last error at step {entry['last_error']:,}; {entry['seconds']:.1f} s"
