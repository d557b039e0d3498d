"""Perform many runs, as many at once as there are cores, and keep their records.

    runs -> [ perform_all ] -> a folder of records
    jobs -> [ performed ] -> (job, result) as they end

Runs that have ended are kept, so the same call resumes where an earlier one stopped. `performed`
is the part that knows nothing of runs: processes that perform jobs of any kind, one after another.
Each process has a pipe: jobs go in, messages come out. A process that dies takes only its own job
with it. The parent handles Ctrl-C: it tells the processes to stop, and they leave checkpoints.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from treethink.errors import RecordsError, whole_number
from treethink.repro.runner import records
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Run
from treethink.stream.parallel import cores, interrupts_blocked

# How much longer an observation or a prediction takes than TreeThink's, very roughly: only to
# start with the longest runs, so that no core idles at the end.
_SLOWNESS: Mapping[str, int] = {"paper": 1_000, "qora": 20, "oracle": 5}
_PATIENCE = 2.0  # seconds that a process may take to end when there is nothing left to do

#: Performs one job: ``work(job, tell=..., warn=...)``. It can be pickled, and returns None only if
#: `tell` returned False.
Work = Callable[..., Any]
#: Called with a job and its message: ("at", observed, error, activity) or ("warning", text).
Listener = Callable[[Any, tuple[Any, ...]], None]
#: Called with a job whose process died, how far it was, and why; returns the job's result.
OnDeath = Callable[[Any, int, str], Any]


class Progress(Protocol):
    """What shows the progress of runs."""

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        """Start: `kept` runs had ended before, `left` are to be performed."""

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        """Show the steps that a run has observed, its recent error, and other activity if any."""

    def warn(self, run: Run, text: str) -> None:
        """Show a warning."""

    def ended(self, run: Run, entry: records.Entry) -> None:
        """Show that a run has ended."""


def perform_all(
    runs: Sequence[Run],
    folder: str | PathLike[str],
    processes: int | None = None,
    progress: Progress | None = None,
    *,
    title: str = "",
    config: Mapping[str, Any] | None = None,
    every: Sequence[Run] | None = None,
) -> list[records.Entry]:
    """Perform the runs that have not ended yet; return the entries of all, in their order.

    `processes` says how many at once: None, one for each core that this process may use; 0, no
    other process, everything is done here. A run that fails is recorded and does not stop the
    rest; the next call tries it again. Ctrl-C lets every run leave a checkpoint, and is raised
    again; the next call resumes there. As always with processes of Python, a script that calls
    this must keep its own work under ``if __name__ == "__main__":``.

    `title` and `config` are kept in the manifest. `every` are all runs of the experiment, where
    `runs` are only a part of them.
    """
    count = whole_number("processes", cores() if processes is None else processes)
    manifest = records.Manifest(records.make_folder(folder), every or runs, title, config or {})
    warnings: list[tuple[Run, str]] = []
    left = []
    for run in runs:
        if not manifest.has_ended(run, lambda text, run=run: warnings.append((run, text))):  # type: ignore[misc]
            left.append(run)
    left.sort(key=_length, reverse=True)
    shown = progress or _NoProgress()
    shown.begin(len(runs) - len(left), left)
    for run, text in warnings:
        shown.warn(run, text)
    work, on_death = partial(perform, folder=manifest.folder), partial(_died, manifest.folder)
    try:
        manifest.write()
        with closing(performed(left, work, count, partial(_show, shown), on_death)) as results:
            for run, entry in results:
                manifest.add(entry)
                shown.ended(run, entry)
    finally:
        manifest.write()
    return [manifest.entries[run.key] for run in runs]


def _length(run: Run) -> int:
    return run.n_predictions * _SLOWNESS.get(run.learner, 1)


def _show(progress: Progress, run: Run, message: tuple[Any, ...]) -> None:
    if message[0] == "at":
        progress.at(run, *message[1:])
    else:
        progress.warn(run, *message[1:])


def _died(folder: Path, run: Run, observed: int, why: str) -> records.Entry:
    """Record a run whose process ended by itself. Its checkpoint stays."""
    message = f"its process ended by itself after about step {observed:,}, {why}"
    entry = records.entry(run, status="failed", observed=observed, message=message)
    with suppress(OSError, RecordsError):  # the manifest has it too
        records.write_run(folder, entry, None)
    return entry


class _NoProgress:
    """Shows nothing."""

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        pass

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        pass

    def warn(self, run: Run, text: str) -> None:
        pass

    def ended(self, run: Run, entry: records.Entry) -> None:
        pass


# ------------------------------------------------------------------------- jobs of any kind


def performed(
    jobs: Sequence[Any],
    work: Work,
    processes: int,
    listener: Listener,
    on_death: OnDeath,
    *,
    checkpoints: bool = True,
) -> Generator[tuple[Any, Any]]:
    """Yield each job with its result, in the order in which they end.

    With 0 processes the jobs are performed here, in their order. `checkpoints` says that jobs stop
    soon when `tell` returns False; closing the generator waits for them, and otherwise kills them.
    """
    if processes == 0:
        for job in jobs:
            tell, warn = partial(_tell_here, listener, job), partial(_warn_here, listener, job)
            yield job, work(job, tell=tell, warn=warn)
    elif jobs:
        count = min(processes, len(jobs))
        with Workers(work, count, listener, on_death, checkpoints) as workers:
            yield from workers.performed(jobs)


def _tell_here(listener: Listener, job: Any, observed: int, error: float, doing: str) -> bool:
    listener(job, ("at", observed, error, doing))
    return True


def _warn_here(listener: Listener, job: Any, text: str) -> None:
    listener(job, ("warning", text))


def _run_worker(pipe: Connection, work: Work) -> None:
    """Perform the jobs that come through the pipe, until None comes or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch: there is a process for each core

    def tell(observed: int, error: float, doing: str) -> bool:
        try:
            pipe.send(("at", observed, error, doing))
            return not pipe.poll()  # whatever comes during a job means: stop
        except OSError:
            return False

    def send(*message: Any) -> None:
        with suppress(OSError):  # the parent is gone; the next `recv` ends this process
            pipe.send(message)

    with suppress(EOFError):
        while (job := pipe.recv()) is not None:
            result = work(job, tell=tell, warn=lambda text: send("warning", text))
            send("end", result)


class Workers:
    """Processes that perform jobs, started when there is something to do. To be used in a `with`.

    Leaving it while jobs are under way lets each leave a checkpoint first, if they have any; an
    interrupt during that ends them at once.
    """

    def __init__(
        self,
        work: Work,
        processes: int,
        listener: Listener,
        on_death: OnDeath,
        checkpoints: bool = True,
    ):
        self._work, self._most, self._checkpoints = work, processes, checkpoints
        self._listener, self._on_death = listener, on_death
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            for worker in self._workers:
                worker.dismiss()
            while self._checkpoints and (busy := self._busy()):
                for _ in self._receive(busy):
                    pass
            for worker in self._workers:
                if worker.job is None:
                    worker.process.join(_PATIENCE)
        finally:
            for worker in self._workers:
                worker.end()

    def performed(self, jobs: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        """Yield each job with its result, in the order in which they end."""
        waiting = deque(jobs)
        while True:
            self._hand_out(waiting)
            busy = self._busy()
            if not busy:
                return
            yield from self._receive(busy)

    def _busy(self) -> list[_Worker]:
        return [each for each in self._workers if each.job is not None]

    def _hand_out(self, waiting: deque[Any]) -> None:
        for worker in self._workers:
            if waiting and worker.job is None:
                worker.start(waiting.popleft())
        while waiting and len(self._workers) < self._most:
            with interrupts_blocked():
                self._workers.append(_Worker(self._work))
            self._workers[-1].start(waiting.popleft())

    def _receive(self, busy: Sequence[_Worker]) -> Iterator[tuple[Any, Any]]:
        """Wait for messages, and yield the jobs that ended, with their results."""
        by_pipe = {each.pipe: each for each in busy}
        for pipe in wait(list(by_pipe)):
            worker = by_pipe[pipe]  # type: ignore[index]
            job = worker.job
            assert job is not None
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._workers.remove(worker)
                yield job, self._on_death(job, worker.observed, worker.reason_of_death())
                continue
            if message[0] != "end":
                worker.note(message)
                self._listener(job, message)
                continue
            worker.job = None
            if message[1] is not None:
                yield job, message[1]


class _Worker:
    """A process, the pipe to it, and the job that it is busy with."""

    def __init__(self, work: Work):
        context = multiprocessing.get_context("spawn")
        self.job: Any = None
        self.observed = 0
        self.pipe, end = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_run_worker, args=(end, work), daemon=True, name="treethink run"
        )
        try:
            self.process.start()
        finally:
            end.close()  # so that the pipe ends when the process does

    def start(self, job: Any) -> None:
        """Send the next job. If the process died meanwhile, receiving from it notices."""
        self.job, self.observed = job, 0
        self._send(job)

    def note(self, message: tuple[Any, ...]) -> None:
        """Remember how far it is."""
        if message[0] == "at":
            self.observed = message[1]

    def dismiss(self) -> None:
        """Tell it that there is nothing more to do; if it is busy, it leaves a checkpoint."""
        self._send(None)

    def end(self) -> None:
        """End the process at once, unless it has ended."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.process.close()

    def reason_of_death(self) -> str:
        """Clean up after a process that ended by itself, and say why it did."""
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        self.end()
        return f"with exit code {code}{_explanation(code)}"

    def _send(self, job: Any) -> None:
        with suppress(OSError):
            self.pipe.send(job)


def _explanation(code: int | None) -> str:
    if code is None or code >= 0:
        return "; its own message may say more"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return ""
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f" ({name}{hint})"
