"""The folder in which an experiment is kept.

    entries, recordings -> [ records ] -> files -> Records

`manifest.json` lists all runs. In `runs/`, each run that has ended has an entry, `KEY.json`, and as
Parquet its errors, its windows and, if it planned, the episodes that it played. Every file is
written whole or not at all, and the entry last, so an entry stands for a run that is complete.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
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

FORMAT = 1
MANIFEST = "manifest.json"
#: Learners that compute on a GPU if there is one.
NETWORKS = ("npe", "npe-star")
Warn = Callable[[str], None]


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
        return [RunRecord(self.folder, each) for each in self.manifest["runs"]]

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
        return read_parquet(path, what)


def manifest(folder: Path) -> dict[str, Any]:
    """Read and check the manifest of a folder."""
    path = folder / MANIFEST
    content = _json(path)
    if content is None:
        raise RecordsError(f"{folder} holds no records: there is no {path.name}")
    if not isinstance(content.get("runs"), list) or type(content.get("format")) is not int:
        raise RecordsError(f"{path} is not a manifest of treethink")
    if content["format"] > FORMAT:
        raise RecordsError(f"{path} is of a newer treethink; this one reads up to {FORMAT}")
    keys: set[str] = set()
    for i, each in enumerate(content["runs"]):
        key = checked(each, f"{path}, runs[{i}]")["key"]
        if key in keys:
            raise RecordsError(f"{path}, runs[{i}]: {key!r} is there twice")
        keys.add(key)
    return content


def ended(folder: Path, run: Run, warn: Warn | None = None) -> Entry | None:
    """Return the entry of a run that need not be performed again, else None.

    A run that failed is performed again, and so is one that other limits stopped.
    """
    entry = written(folder, run.key, warn)
    if entry is None or entry["status"] not in ("finished", "stopped"):
        return None
    if entry["status"] == "stopped" and entry.get("limits") != asdict(run.limits):
        return None
    whole = all(_parquet(folder, run.key, what).exists() for what in _parts(bool(run.plans)))
    return entry if whole else None


def written(folder: Path, key: str, warn: Warn | None = None) -> Entry | None:
    """Return the entry of a run, if there is one; `warn` is called with what is wrong with it."""
    path = _entry_path(folder, key)
    try:
        entry = _json(path)
        if entry is None or checked(entry, str(path))["key"] == key:
            return entry
        raise RecordsError(f"{path} is of another run: {entry['key']}")
    except RecordsError as error:
        if warn is not None:
            warn(f"{key} counts as not ended: {error}")
        return None


# --------------------------------------------------------------------------------- writing


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Make the folder unless it exists; raise a `RecordsError` if it cannot be written to."""
    arrow()
    path = _path(folder)
    try:
        _runs(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {path}: {error.strerror or error}") from None
    if not os.access(_runs(path), os.W_OK):
        raise RecordsError(f"cannot write to {path}: it is not writable")
    return path


def write_run(folder: Path, entry: Entry, recording: Recording | None) -> None:
    """Write the record of a run, its entry last."""
    key = entry["key"]
    _entry_path(folder, key).unlink(missing_ok=True)  # it describes the files of an earlier run
    if recording is not None:
        for what in _parts(bool(entry["plans"])):
            file.write(_parquet(folder, key, what), to_parquet(recording, what))
    write_json(_entry_path(folder, key), entry)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write indented JSON in one step."""
    text = json.dumps(content, indent=1, default=str, ensure_ascii=False)
    file.write(path, f"{text}\n".encode())


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
        kept = ended(self.folder, run, warn)
        if kept is not None:
            self.entries[run.key] = kept
        return kept is not None

    def add(self, entry: Entry) -> None:
        """Add the entry of a run that has ended."""
        self.entries[entry["key"]] = entry
        self._finished = None
        with suppress(RecordsError):  # it is written again with the next run, and at the end
            self.write()

    def write(self) -> None:
        """Write the manifest, with the runs that other processes have ended meanwhile."""
        for key, each in self.entries.items():
            if each["status"] in ("missing", "failed"):
                self.entries[key] = written(self.folder, key) or each
        done = all(each["status"] != "missing" for each in self.entries.values())
        self._finished = (self._finished or _now()) if done else None
        content = {**self._about, "finished": self._finished, "runs": list(self.entries.values())}
        path = self.folder / MANIFEST
        try:
            write_json(path, content)
        except OSError as error:
            raise RecordsError(f"cannot write {path}: {error.strerror or error}") from None


# --------------------------------------------------------------------------------- helpers


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _runs(folder: Path) -> Path:
    return folder / "runs"


def _entry_path(folder: Path, key: str) -> Path:
    return _runs(folder) / f"{key}.json"


def _parts(plans: bool) -> tuple[str, ...]:
    """The Parquet files of a run."""
    return ("errors", "windows", "episodes") if plans else ("errors", "windows")


def _parquet(folder: Path, key: str, what: str) -> Path:
    return _runs(folder) / f"{key}.{what}.parquet"


def _json(path: Path) -> dict[str, Any] | None:
    """Return the table in a file; None if there is no such file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise RecordsError(f"cannot read {path}: {error}") from None
    if not isinstance(content, dict):
        raise RecordsError(f"{path} holds something else than records")
    return content


def _path(folder: object) -> Path:
    try:
        return Path(folder)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"a folder must be a str or a path, got {shown(folder)}") from None
