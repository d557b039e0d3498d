"""Processes that perform runs, one after another.

    runs -> [ workers ] -> (run, entry) as they end

Each process has a pipe: runs go in, news come out. A process that dies takes only its own run
with it. Ctrl-C is the parent's to answer: it tells the others, which leave checkpoints.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from treethink.repro.runner import records
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Run
from treethink.stream.parallel import interrupts_blocked

#: Called with what a run says while it is under way: ("at", observed, error, doing) or
#: ("warning", text).
News = Callable[[Run, tuple[Any, ...]], None]
_PATIENCE = 2.0  # seconds that a process may take to end when there is nothing left to do


# -------------------------------------------------------------- in a process of its own


def _work(pipe: Connection, folder: Path) -> None:
    """Perform what comes through the pipe, until nothing does or nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # PyTorch: there is a process for each core

    def tell(observed: int, error: float, doing: str) -> bool:
        try:
            pipe.send(("at", observed, error, doing))
            return not pipe.poll()  # whatever comes while a run is under way means: stop
        except OSError:
            return False

    def send(*message: Any) -> None:
        with suppress(OSError):  # nobody listens; that is noticed by the next one who receives
            pipe.send(message)

    with suppress(EOFError):
        while (run := pipe.recv()) is not None:
            entry = perform(run, folder, tell=tell, warn=lambda text: send("warning", text))
            send("end", entry)


# ----------------------------------------------------------------------- in this process


class Workers:
    """So many processes, started when there is something to do. To be used in a `with`.

    Leaving it while runs are under way lets each leave a checkpoint first; an interrupt during
    that ends them at once.
    """

    def __init__(self, folder: Path, processes: int, news: News):
        self._folder, self._most, self._news = folder, processes, news
        self._workers: list[_Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            for worker in self._workers:
                worker.dismiss()
            while busy := [each for each in self._workers if each.run is not None]:
                for _ in self._heard(busy):
                    pass
            for worker in self._workers:
                worker.process.join(_PATIENCE)
        finally:
            for worker in self._workers:
                worker.end()

    def performed(self, runs: Sequence[Run]) -> Iterator[tuple[Run, records.Entry]]:
        """Each run with its entry, in the order in which they end."""
        waiting = deque(runs)
        while True:
            self._hand_out(waiting)
            busy = [each for each in self._workers if each.run is not None]
            if not busy:
                return
            yield from self._heard(busy)

    def _hand_out(self, waiting: deque[Run]) -> None:
        for worker in self._workers:
            if waiting and worker.run is None:
                worker.give(waiting.popleft())
        while waiting and len(self._workers) < self._most:
            with interrupts_blocked():
                self._workers.append(_Worker(self._folder))
            self._workers[-1].give(waiting.popleft())

    def _heard(self, busy: Sequence[_Worker]) -> Iterator[tuple[Run, records.Entry]]:
        """What has come through the pipes; the entries of runs that ended."""
        by_pipe = {each.pipe: each for each in busy}
        for pipe in wait(list(by_pipe)):
            worker = by_pipe[pipe]  # type: ignore[index]
            run = worker.run
            assert run is not None
            try:
                message = worker.pipe.recv()
            except (EOFError, OSError):
                self._workers.remove(worker)
                yield run, self._killed(worker, run)
                continue
            if message[0] != "end":
                worker.hear(message)
                self._news(run, message)
                continue
            worker.run = None
            if message[1] is not None:
                yield run, message[1]

    def _killed(self, worker: _Worker, run: Run) -> records.Entry:
        """Record a run whose process ended by itself. Its checkpoint stays."""
        worker.process.join(_PATIENCE)
        code = worker.process.exitcode
        worker.end()
        entry = records.entry(
            run,
            status="failed",
            observed=worker.observed,
            message=f"its process ended by itself after about step {worker.observed:,},"
            f" with exit code {code}{_reason(code)}",
        )
        with suppress(OSError):  # the manifest has it too
            records.write_run(self._folder, entry, None)
        return entry


class _Worker:
    """A process, the pipe to it, and the run that it is busy with."""

    def __init__(self, folder: Path):
        context = multiprocessing.get_context("spawn")
        self.run: Run | None = None
        self.observed = 0
        self.pipe, end = context.Pipe()
        self.process: SpawnProcess = context.Process(
            target=_work, args=(end, folder), daemon=True, name="treethink run"
        )
        try:
            self.process.start()
        finally:
            end.close()  # so that the pipe ends when the process does

    def give(self, run: Run) -> None:
        """The next run. If it died meanwhile, that is heard when its answer is."""
        self.run, self.observed = run, 0
        self._send(run)

    def hear(self, message: tuple[Any, ...]) -> None:
        """Remember how far it is."""
        if message[0] == "at":
            self.observed = message[1]

    def dismiss(self) -> None:
        """There is nothing more to do; if it is busy, it leaves a checkpoint."""
        self._send(None)

    def end(self) -> None:
        """At once, unless it has ended."""
        self.pipe.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.process.close()

    def _send(self, what: Run | None) -> None:
        with suppress(OSError):
            self.pipe.send(what)


def _reason(code: int | None) -> str:
    if code is None or code >= 0:
        return "; its own message may say more"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        return ""
    hint = ", as the system does when memory runs out" if name == "SIGKILL" else ""
    return f" ({name}{hint})"
