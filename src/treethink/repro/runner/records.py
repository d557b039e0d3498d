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
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from treethink import file
from treethink.errors import RecordsError, WrongTypeError, shown
from treethink.repro.runner.columns import Array, arrow, no_episodes, packed, unpacked
from treethink.repro.runner.convergence import counted
from treethink.repro.runner.entries import NEWER, STATUSES, flat
from treethink.repro.runner.entries import Entry as Entry
from treethink.repro.runner.entries import checked as checked
from treethink.repro.runner.entries import entry as entry
from treethink.repro.runner.measurements import COLUMNS, Recording
from treethink.repro.runner.spec import Run

FORMAT = 1
Warn = Callable[[str], None]


# --------------------------------------------------------------------------------- reading


def read(folder: str | os.PathLike[str]) -> Records:
    """What was recorded in a folder; or one clear error."""
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
        """All of them, those that are missing too."""
        return [RunRecord(self.folder, each) for each in self.manifest["runs"]]

    def table(self) -> list[Entry]:
        """A plain dict for each run, without tables in it: `examined.learned`, `settings.alpha`.

        What a run does not have is left out; `pandas.DataFrame(records.table())` has gaps there.
        """
        return [flat(each) for each in self.manifest["runs"]]

    def __repr__(self) -> str:
        counts = Counter(each["status"] for each in self.manifest["runs"])
        told = ", ".join(f"{counts[each]:,} {each}" for each in STATUSES if counts[each])
        title = self.manifest.get("title") or self.folder.name
        return f"<Records {title!r}: {counted(counts.total(), 'run')}{told and f', {told}'}>"


@dataclass(frozen=True, repr=False)
class RunRecord:
    """One run. The fields of its entry are attributes; what is long is read when asked for."""

    folder: Path
    entry: Entry

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.entry})

    def __repr__(self) -> str:
        last = self.entry["last_error"]
        told = "" if last is None else f", last error {last:,}"
        return f"<RunRecord: {self.label} in {self.world}, seed {self.seed}, {self.status}{told}>"

    def __getattr__(self, name: str) -> Any:
        entry = self.__dict__.get("entry", {})
        told = entry if name in entry else NEWER
        if name.startswith("__") or name not in told:
            raise AttributeError(f"a run has no {name!r}")
        return told[name]

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
        """A column for each name, a row for each episode; none if it did not plan."""
        return (self._columns("episodes") if self.plans else {}) or no_episodes()

    def _columns(self, what: str) -> dict[str, Array]:
        path = _parquet(self.folder, self.entry["key"], what)
        if not path.exists() and self.entry["status"] in ("missing", "failed"):
            return {}  # one whose process was killed wrote nothing
        return unpacked(path, what)


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder of ours."""
    path = folder / "manifest.json"
    found = _json(path)
    if found is None:
        raise RecordsError(f"{folder} holds no records: there is no {path.name}")
    if not isinstance(found.get("runs"), list) or type(found.get("format")) is not int:
        raise RecordsError(f"{path} is not a manifest of treethink")
    if found["format"] > FORMAT:
        raise RecordsError(f"{path} is of a newer treethink; this one reads up to {FORMAT}")
    keys: set[str] = set()
    for i, each in enumerate(found["runs"]):
        key = checked(each, f"{path}, runs[{i}]")["key"]
        if key in keys:
            raise RecordsError(f"{path}, runs[{i}]: {key!r} is there twice")
        keys.add(key)
    return found


# --------------------------------------------------------------------------------- writing


def made(folder: str | os.PathLike[str]) -> Path:
    """The folder, which is made unless it is there. Refuses now what could not be written."""
    arrow()
    path = _path(folder)
    try:
        _runs(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordsError(f"cannot write to {path}: {error.strerror or error}") from None
    if not os.access(_runs(path), os.W_OK):
        raise RecordsError(f"cannot write to {path}: it is not writable")
    return path


def ended(folder: Path, run: Run, warn: Warn | None = None) -> Entry | None:
    """The entry of a run that has ended and need not be run again.

    One that was stopped by other limits than it has now is run again, and so is one that failed.
    """
    found = written(folder, run.key, warn)
    if found is None or found["status"] not in ("finished", "stopped"):
        return None
    if found["status"] == "stopped" and found.get("limits") != asdict(run.limits):
        return None
    whole = all(_parquet(folder, run.key, what).exists() for what in _parts(bool(run.plans)))
    return found if whole else None


def written(folder: Path, key: str, warn: Warn | None = None) -> Entry | None:
    """The entry of a run, if there is one. One that is damaged is as none, and `warn` is told."""
    path = _entry_path(folder, key)
    try:
        found = _json(path)
        if found is None or checked(found, str(path))["key"] == key:
            return found
        raise RecordsError(f"{path} is of another run: {found['key']}")
    except RecordsError as error:
        if warn is not None:
            warn(f"{key} counts as not ended: {error}")
        return None


def write_run(folder: Path, told: Entry, recording: Recording | None) -> None:
    """All that a run left behind, its entry last."""
    key = told["key"]
    _entry_path(folder, key).unlink(missing_ok=True)  # it would speak of other files
    if recording is not None:
        for what in _parts(bool(told["plans"])):
            file.write(_parquet(folder, key, what), packed(recording, what))
    write_json(_entry_path(folder, key), told)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """In one step, for people and programs."""
    text = json.dumps(content, indent=1, default=str, ensure_ascii=False)
    file.write(path, f"{text}\n".encode())


# --------------------------------------------------------------------------------- helpers


def _runs(folder: Path) -> Path:
    return folder / "runs"


def _entry_path(folder: Path, key: str) -> Path:
    return _runs(folder) / f"{key}.json"


def _parts(plans: bool) -> tuple[str, ...]:
    """What a run leaves behind beside its entry."""
    return ("errors", "windows", "episodes") if plans else ("errors", "windows")


def _parquet(folder: Path, key: str, what: str) -> Path:
    return _runs(folder) / f"{key}.{what}.parquet"


def _json(path: Path) -> dict[str, Any] | None:
    """The table in a file; None: there is no such file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise RecordsError(f"cannot read {path}: {error}") from None
    if not isinstance(found, dict):
        raise RecordsError(f"{path} holds something else than records")
    return found


def _path(folder: object) -> Path:
    try:
        return Path(folder)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"a folder must be a str or a path, got {shown(folder)}") from None
