"""Perform many runs, as many at once as there are cores, and keep what comes of them.

    runs -> [ perform_all ] -> a folder of records

Runs that have ended are kept, so the same call goes on where an earlier one stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from treethink.errors import RecordsError, shown, whole_number
from treethink.repro.runner import machine, records
from treethink.repro.runner.convergence import counted
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Run
from treethink.repro.runner.workers import News, Workers
from treethink.stream.parallel import cores

# How much longer an observation or a prediction takes than TreeThink's, very roughly: only to
# start with the longest runs, so that no core idles at the end.
_SLOWNESS: Mapping[str, int] = {"paper": 1_000, "qora": 20, "oracle": 5}


class Progress(Protocol):
    """What wants to know how it goes."""

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        """So many had ended before; these are left."""

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        """A run is so far, its error of late is so large, and it does this else, if anything."""

    def warn(self, run: Run, text: str) -> None:
        """Something to be told."""

    def ended(self, run: Run, entry: records.Entry) -> None:
        """A run has ended."""


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
    again; the next call goes on there. As always with processes of Python, a script that calls
    this must keep its own work under ``if __name__ == "__main__":``.

    `title` and `config` are kept in the manifest. `every` are all runs of the experiment, where
    `runs` are only a part of them.
    """
    count = whole_number("processes", cores() if processes is None else processes)
    book = _Book(records.made(folder), every or runs, title, config or {})
    warnings: list[tuple[Run, str]] = []
    left = [run for run in runs if not book.has_ended(run, warnings)]
    left.sort(key=_length, reverse=True)
    told = progress or _Silence()
    told.begin(len(runs) - len(left), left)
    for run, text in warnings:
        told.warn(run, text)
    try:
        book.write()
        with closing(_performed(left, book.folder, count, _teller(told))) as performed:
            for run, entry in performed:
                book.add(entry)
                told.ended(run, entry)
    finally:
        book.write()
    return [book.entries[run.key] for run in runs]


def _performed(
    left: Sequence[Run], folder: Path, processes: int, news: News
) -> Generator[tuple[Run, records.Entry]]:
    if processes == 0:
        yield from _performed_here(left, folder, news)
    elif left:
        with Workers(folder, min(processes, len(left)), news) as workers:
            yield from workers.performed(left)


def _performed_here(
    left: Sequence[Run], folder: Path, news: News
) -> Iterator[tuple[Run, records.Entry]]:
    for run in left:

        def tell(observed: int, error: float, doing: str, run: Run = run) -> bool:
            news(run, ("at", observed, error, doing))
            return True

        def warn(text: str, run: Run = run) -> None:
            news(run, ("warning", text))

        entry = perform(run, folder, tell=tell, warn=warn)
        assert entry is not None
        yield run, entry


def _length(run: Run) -> int:
    return run.questions * _SLOWNESS.get(run.learner, 1)


def _teller(progress: Progress) -> Callable[[Run, tuple[Any, ...]], None]:
    def news(run: Run, message: tuple[Any, ...]) -> None:
        if message[0] == "at":
            progress.at(run, *message[1:])
        else:
            progress.warn(run, *message[1:])

    return news


class _Silence:
    """Nobody wants to know."""

    def begin(self, kept: int, left: Sequence[Run]) -> None:
        pass

    def at(self, run: Run, observed: int, error: float, doing: str = "") -> None:
        pass

    def warn(self, run: Run, text: str) -> None:
        pass

    def ended(self, run: Run, entry: records.Entry) -> None:
        pass


#: Learners that compute on a GPU if there is one.
NETWORKS = ("npe", "npe-star")


class _Book:
    """The manifest, and the entries of all runs that it lists."""

    def __init__(self, folder: Path, runs: Sequence[Run], title: str, config: Mapping[str, Any]):
        self.folder, self._runs = folder, {run.key: run for run in runs}
        before = records.manifest(folder) if (folder / "manifest.json").exists() else {}
        self._check_same(before, title)
        self._about = {
            "format": records.FORMAT,
            "title": title,
            "config": dict(config),
            "versions": machine.versions(),
            "commit": machine.commit(),
            "machine": machine.machine(any(each.learner in NETWORKS for each in runs)),
            "started": before.get("started") or _now(),
        }
        self._finished: str | None = before.get("finished")
        self.entries = {key: records.entry(run) for key, run in self._runs.items()}

    def _check_same(self, before: Mapping[str, Any], title: str) -> None:
        """A folder is for one experiment. Its title says which; its runs may change with it."""
        if before.get("title", title) == title:
            return
        others = [
            each["key"]
            for each in before["runs"]
            if each["status"] != "missing" and each["key"] not in self._runs
        ]
        if others:
            raise RecordsError(
                f"{self.folder} has {counted(len(others), 'run')} of another experiment,"
                f" {shown(before['title'])}, such as {others[0]}; give {title!r} another folder"
            )

    def has_ended(self, run: Run, warnings: list[tuple[Run, str]]) -> bool:
        """Whether it need not be run again. What is wrong with its files joins the warnings."""
        found = records.ended(self.folder, run, lambda text: warnings.append((run, text)))
        if found is not None:
            self.entries[run.key] = found
        return found is not None

    def add(self, entry: records.Entry) -> None:
        """A run has ended. The manifest is written at once, or else with the next one."""
        self.entries[entry["key"]] = entry
        self._finished = None  # that was before this one
        with suppress(RecordsError):
            self.write()

    def write(self) -> None:
        """The manifest as it is now; what another process has ended meanwhile is in it too."""
        for key, entry in self.entries.items():
            if entry["status"] in ("missing", "failed"):
                self.entries[key] = records.written(self.folder, key) or entry
        done = all(each["status"] != "missing" for each in self.entries.values())
        self._finished = (self._finished or _now()) if done else None
        whole = {**self._about, "finished": self._finished, "runs": list(self.entries.values())}
        path = self.folder / "manifest.json"
        try:
            records.write_json(path, whole)
        except OSError as error:
            raise RecordsError(f"cannot write {path}: {error.strerror or error}") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
