"""The folder in which an experiment is kept.

    entries, recordings -> [ records ] -> files -> Records

`manifest.json` lists all runs. In `runs/`, each run that has ended has an entry, `KEY.json`, and as
Parquet its errors, its windows and, if it planned, the episodes that it played. Every file is
written whole or not at all, and the entry last, so an entry stands for a run that is complete.
The manifest and the entries hold the checksums of the Parquet files (`store.py`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from treethink import file
from treethink.errors import RecordsError, WrongTypeError, shown
from treethink.repro.runner import machine
from treethink.repro.runner.convergence import counted
from treethink.repro.runner.entries import ADDED_LATER, STATUSES, flat
from treethink.repro.runner.entries import Entry as Entry
from treethink.repro.runner.entries import checked as checked
from treethink.repro.runner.entries import entry as entry
from treethink.repro.runner.measurements import (
    COLUMNS,
    Array,
    Recording,
    arrow,
    no_episodes,
    read_parquet,
    to_parquet,
)
from treethink.repro.runner.spec import Run
from treethink.repro.runner.store import FORMAT, digest, inside, read_bytes, read_json
from treethink.repro.runner.store import write_json as write_json

MANIFEST, _RUNS = "manifest.json", "runs"
#: Learners that compute on a GPU if there is one.
NETWORKS = ("npe", "npe-star")
Warn = Callable[[str], None]
#: SHA-256 of files, by their names.
Checksums = dict[str, str]


# --------------------------------------------------------------------------------- reading


def read(folder: str | os.PathLike[str]) -> Records:
    """Read what was recorded in a folder; raise a `RecordsError` if that is not possible."""
    arrow()
    path = _path(folder)
    return Records(path, manifest(path))


@dataclass(frozen=True, repr=False)
class Records:
    """An experiment: the manifest, and its runs in the order of the config."""

    folder: Path
    manifest: dict[str, Any]

    @cached_property
    def runs(self) -> list[RunRecord]:
        """All runs, including those that are missing."""
        checksums = self.manifest.get("files", {})
        return [RunRecord(self.folder, each, checksums) for each in self.manifest["runs"]]

    def table(self) -> list[Entry]:
        """Return a flat dict for each run: `examined.learned`, `settings.alpha`.

        What a run does not have is left out; `pandas.DataFrame(records.table())` has gaps there.
        """
        return [flat(each) for each in self.manifest["runs"]]

    def __repr__(self) -> str:
        counts = Counter(each["status"] for each in self.manifest["runs"])
        listed = ", ".join(f"{counts[each]:,} {each}" for each in STATUSES if counts[each])
        title = self.manifest.get("title") or self.folder.name
        return f"<Records {title!r}: {counted(counts.total(), 'run')}{listed and f', {listed}'}>"


@dataclass(frozen=True, repr=False)
class RunRecord:
    """One run. The fields of its entry are attributes; its columns are read when needed."""

    folder: Path
    entry: Entry
    #: Those of all files of the folder; {} in records of format 1.
    checksums: Mapping[str, str] = field(default_factory=dict)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.entry})

    def __repr__(self) -> str:
        last = self.entry["last_error"]
        error = "" if last is None else f", last error {last:,}"
        return f"<RunRecord: {self.label} in {self.world}, seed {self.seed}, {self.status}{error}>"

    def __getattr__(self, name: str) -> Any:
        entry = self.__dict__.get("entry", {})
        values = entry if name in entry else ADDED_LATER
        if name.startswith("__") or name not in values:
            raise AttributeError(f"a run has no {name!r}")
        return values[name]

    @cached_property
    def windows(self) -> dict[str, Array]:
        """A column for each name. Where nothing was measured it is NaN."""
        columns = self._columns("windows")
        return columns or {name: np.zeros(0) for name in COLUMNS}

    @cached_property
    def errors(self) -> tuple[Array, Array]:
        """The steps that had an error, counted from 1, and the errors. All others had none."""
        columns = self._columns("errors")
        if not columns:
            return np.zeros(0, np.int32), np.zeros(0)
        return columns["step"], columns["error"]

    @cached_property
    def episodes(self) -> dict[str, Array]:
        """A column for each name, a row for each episode; no rows if it did not plan."""
        return (self._columns("episodes") if self.plans else {}) or no_episodes()

    def _columns(self, what: str) -> dict[str, Array]:
        path = _parquet(self.folder, self.entry["key"], what)
        if not path.exists() and self.entry["status"] in ("missing", "failed"):
            return {}  # a run whose process was killed wrote nothing
        return read_parquet(path, what, self.checksums.get(path.name))


def manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest of a folder."""
    path = inside(folder, MANIFEST)
    content = read_json(path)
    if content is None:
        raise RecordsError(f"{folder} holds no records: there is no {path.name}")
    if not isinstance(content.get("runs"), list) or type(content.get("format")) is not int:
        raise RecordsError(f"{path} is not a manifest of treethink")
    if content["format"] > FORMAT:
        raise RecordsError(f"{path} is of a newer treethink; this one reads up to {FORMAT}")
    _check_checksums(content, str(path))
    keys: set[str] = set()
    for i, each in enumerate(content["runs"]):
        key = checked(each, f"{path}, runs[{i}]")["key"]
        if key in keys:
            raise RecordsError(f"{path}, runs[{i}]: {key!r} is there twice")
        keys.add(key)
    return content


def ended(folder: Path, run: Run, warn: Warn | None = None) -> Entry | None:
    """Return the entry of a run that need not be performed again, else None.

    A run that failed is performed again, and so is one that other limits stopped, and one whose
    files are missing or damaged. `warn` is called with what is wrong.
    """
    return _read_ended(folder, run, warn)[0]


def _read_ended(folder: Path, run: Run, warn: Warn | None) -> tuple[Entry | None, Checksums]:
    """Return the entry of a run that need not be performed again, and its files' checksums."""
    entry, checksums = _read_entry(folder, run.key, warn)
    if entry is None or entry["status"] not in ("finished", "stopped"):
        return None, {}
    if entry["status"] == "stopped" and entry.get("limits") != asdict(run.limits):
        return None, {}
    paths = [_parquet(folder, run.key, what) for what in _parts(bool(run.plans))]
    if not all(path.exists() for path in paths):
        return None, {}
    try:
        for path in paths:
            if path.name in checksums:
                read_bytes(path, checksums[path.name])
    except RecordsError as error:
        _not_ended(run.key, error, warn)
        return None, {}
    return entry, checksums


def written(folder: Path, key: str, warn: Warn | None = None) -> Entry | None:
    """Return the entry of a run, if there is one; `warn` is called with what is wrong with it."""
    return _read_entry(folder, key, warn)[0]


def _read_entry(folder: Path, key: str, warn: Warn | None) -> tuple[Entry | None, Checksums]:
    """Return the entry of a run, if there is one, and the checksums of its files."""
    path = _entry_path(folder, key)
    try:
        entry = read_json(path)
        if entry is None:
            return None, {}
        if checked(entry, str(path))["key"] != key:
            raise RecordsError(f"{path} is of another run: {entry['key']}")
        _check_checksums(entry, str(path))
    except RecordsError as error:
        _not_ended(key, error, warn)
        return None, {}
    entry.pop("format", None)
    return entry, entry.pop("files", {})


def _not_ended(key: str, error: RecordsError, warn: Warn | None) -> None:
    if warn is not None:
        warn(f"{key} counts as not ended: {error}")


def _check_checksums(content: Mapping[str, Any], where: str) -> None:
    files = content.get("files", {})
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        raise RecordsError(f"{where}, files must be a table of checksums, got {shown(files)}")


# --------------------------------------------------------------------------------- writing


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder unless it exists; raise a `RecordsError` if it cannot be written to."""
    arrow()
    path = _path(folder)
    runs = inside(path, _RUNS)
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {path}: {error.strerror or error}") from None
    if not os.access(runs, os.W_OK):
        raise RecordsError(f"cannot write to {path}: it is not writable")
    return path


def write_run(folder: Path, entry: Entry, recording: Recording | None) -> None:
    """Write the record of a run, its entry last."""
    key = entry["key"]
    _entry_path(folder, key).unlink(missing_ok=True)  # it describes the files of an earlier run
    checksums: Checksums = {}
    if recording is not None:
        for what in _parts(bool(entry["plans"])):
            path, content = _parquet(folder, key, what), to_parquet(recording, what)
            file.write(path, content)
            checksums[path.name] = digest(content)
    write_json(_entry_path(folder, key), {"format": FORMAT, **entry, "files": checksums})


class Manifest:
    """The manifest of a folder while its runs are performed, with the entries of all of them."""

    def __init__(self, folder: Path, runs: Sequence[Run], title: str, config: Mapping[str, Any]):
        self.folder, self._runs = folder, {run.key: run for run in runs}
        before = manifest(folder) if (folder / MANIFEST).exists() else {}
        self._check_same_experiment(before, title)
        self._about = {
            "format": FORMAT,
            "title": title,
            "config": dict(config),
            "versions": machine.versions(),
            "commit": machine.commit(),
            "machine": machine.machine(any(each.learner in NETWORKS for each in runs)),
            "started": before.get("started") or _now(),
        }
        self._finished: str | None = before.get("finished")
        self.entries = {key: entry(run) for key, run in self._runs.items()}
        self._checksums: dict[str, Checksums] = {key: {} for key in self.entries}

    def _check_same_experiment(self, before: Mapping[str, Any], title: str) -> None:
        """A folder is for one experiment, known by its title; its runs may change."""
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

    def has_ended(self, run: Run, warn: Warn) -> bool:
        """Whether a run need not be performed again; then its entry is kept."""
        kept, checksums = _read_ended(self.folder, run, warn)
        if kept is not None:
            self.entries[run.key], self._checksums[run.key] = kept, checksums
        return kept is not None

    def add(self, entry: Entry) -> None:
        """Add the entry of a run that has ended."""
        key = entry["key"]
        self.entries[key] = entry
        self._checksums[key] = _read_entry(self.folder, key, None)[1]
        self._finished = None
        with suppress(RecordsError):  # it is written again with the next run, and at the end
            self.write()

    def write(self) -> None:
        """Write the manifest, with the runs that other processes have ended meanwhile."""
        for key, each in self.entries.items():
            if each["status"] in ("missing", "failed"):
                entry, self._checksums[key] = _read_entry(self.folder, key, None)
                self.entries[key] = entry or each
        done = all(each["status"] != "missing" for each in self.entries.values())
        self._finished = (self._finished or _now()) if done else None
        content = {
            **self._about,
            "finished": self._finished,
            "runs": list(self.entries.values()),
            "files": dict(chain.from_iterable(map(dict.items, self._checksums.values()))),
        }
        path = inside(self.folder, MANIFEST)
        try:
            write_json(path, content)
        except OSError as error:
            raise RecordsError(f"cannot write {path}: {error.strerror or error}") from None


# --------------------------------------------------------------------------------- helpers


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _entry_path(folder: Path, key: str) -> Path:
    return inside(folder, _RUNS, f"{key}.json")


def _parts(plans: bool) -> tuple[str, ...]:
    """The Parquet files of a run."""
    return ("errors", "windows", "episodes") if plans else ("errors", "windows")


def _parquet(folder: Path, key: str, what: str) -> Path:
    return inside(folder, _RUNS, f"{key}.{what}.parquet")


def _path(folder: object) -> Path:
    try:
        return Path(folder)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"a folder must be a str or a path, got {shown(folder)}") from None
