"""What a run measures: in memory, as parts of a checkpoint, and as Parquet columns.

    errors and times of every step, episodes -> [ Recording ] -> columns of a run's record

A checkpoint holds a recording to the last bit, in the middle of a window too, so that a resumed
run records exactly what it would have recorded without the interruption.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treethink.errors import RecordsError, SettingError, missing_package
from treethink.metrics import TOLERANCE
from treethink.repro.runner.store import read_bytes

#: Columns of every window; those of the learner's `memory_use` and `measures` come after these.
COLUMNS = ("first", "last", "error", "observe_us", "predict_us", "transfer_error", "transfer_us")

#: Columns of episodes, with their Parquet types.
EPISODES: Mapping[str, str] = {
    "observed": "int32",
    "setting": "string",
    "episode": "int32",
    "level": "int64",
    "redrawn": "int32",
    "score": "int64",
    "pessimal": "float64",
    "trivial": "float64",
    "optimal": "float64",
    "exact": "bool",
    "normalised": "float64",
    "seconds": "float64",
    "actions": "string",
}

Row = dict[str, Any]
Array = NDArray[Any]
_NO_MEASURES: Mapping[str, float] = {}
_ERRORS = ("step", "error")
_INT32 = ("first", "last")
_INTEGERS = ("step", *_INT32)
_FLOAT64 = tuple(name for name in COLUMNS if name not in _INT32)


class Recording:
    """What one run has measured: single errors, a row for each window and each episode."""

    def __init__(self, window: int):
        self.window = window
        self.observed = 0
        self.nanoseconds = 0  # of predicting, scoring and observing
        #: The steps with an error, counted from 1, and how large it was.
        self.wrong_steps, self.errors = array("i"), array("d")
        self.rows: list[Row] = []
        #: A row for each episode, in the order in which they were played.
        self.episodes: list[Row] = []
        self._error, self._predict, self._observe = 0.0, 0, 0  # sums over the open window

    @property
    def last_error(self) -> int:
        """The last step with an error; 0 if there was none."""
        return self.wrong_steps[-1] if self.wrong_steps else 0

    @property
    def open_steps(self) -> int:
        """The number of steps in the open window."""
        return self.observed - (self.rows[-1]["last"] if self.rows else 0)

    def add(self, wrong_by: float, predict: int, observe: int, whole: int) -> bool:
        """Add a step, its times in nanoseconds. Returns whether its window is full."""
        self.observed += 1
        self.nanoseconds += whole
        self._error += wrong_by
        self._predict += predict
        self._observe += observe
        if wrong_by > TOLERANCE:
            self.wrong_steps.append(self.observed)
            self.errors.append(wrong_by)
        return self.observed % self.window == 0

    def close(
        self,
        memory: Mapping[str, int],
        transfer: tuple[float, float] | None,
        measures: Mapping[str, float] = _NO_MEASURES,
    ) -> None:
        """End the window. `transfer` is (mean error, mean microseconds) in the other world."""
        for source, names in (("memory_use", memory), ("measures", measures)):
            for each in names:
                if each in COLUMNS or (names is measures and each in memory):
                    raise SettingError(f"{source} says {each!r}, which is a column of its own")
        steps = self.open_steps
        transfer_error, transfer_us = transfer or (None, None)
        row: Row = {
            "first": self.observed - steps + 1,
            "last": self.observed,
            "error": self._error / steps,
            "observe_us": self._observe / steps / 1000,
            "predict_us": self._predict / steps / 1000,
            "transfer_error": transfer_error,
            "transfer_us": transfer_us,
        }
        row |= {name: int(value) for name, value in memory.items()}
        self.rows.append(row | {name: float(value) for name, value in measures.items()})
        self._error, self._predict, self._observe = 0.0, 0, 0

    def played(self, setting: str) -> list[Row]:
        """Return the episodes of a setting that were played after the last observed step."""
        return [
            row
            for row in self.episodes
            if row["setting"] == setting and row["observed"] == self.observed
        ]

    def recent(self) -> float:
        """Return the mean error of the open window or the one before."""
        if self.open_steps and (self.open_steps > self.window // 2 or not self.rows):
            return self._error / self.open_steps
        return float(self.rows[-1]["error"]) if self.rows else 0.0

    # -------------------------------------------------------------- to and from plain data

    def to_parts(self) -> tuple[dict[str, Any], bytes]:
        """Return plain data, and the single errors as bytes."""
        data = {
            "window": self.window,
            "observed": self.observed,
            "nanoseconds": self.nanoseconds,
            "open": [self._error, self._predict, self._observe],
            "rows": self.rows,
            "episodes": self.episodes,
            "wrong": len(self.wrong_steps),
        }
        steps = np.array(self.wrong_steps, "<i4").tobytes()
        return data, steps + np.array(self.errors, "<f8").tobytes()

    @classmethod
    def from_parts(cls, data: Mapping[str, Any], long: bytes) -> Self:
        """Return the recording of which `to_parts` returned this."""
        recording = cls(data["window"])
        recording.observed, recording.nanoseconds = data["observed"], data["nanoseconds"]
        recording._error, recording._predict, recording._observe = data["open"]
        recording.rows, recording.episodes = data["rows"], data.get("episodes", [])
        middle = 4 * data["wrong"]
        recording.wrong_steps.extend(np.frombuffer(long[:middle], "<i4").tolist())
        recording.errors.extend(np.frombuffer(long[middle:], "<f8").tolist())
        if len(recording.wrong_steps) != len(recording.errors):
            raise ValueError("as many steps as errors")
        return recording


# ------------------------------------------------------------------------- Parquet columns


def arrow() -> Any:
    """Return the package pyarrow, with its part for Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing_package("records need pyarrow", "experiments") from error
    return pyarrow


def to_parquet(recording: Recording, what: str) -> bytes:
    """Return the `errors`, `windows` or `episodes` of a recording as the content of a file."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(_TO_COLUMNS[what](recording)), sink)
    return bytes(sink.getvalue().to_pybytes())


def _errors(recording: Recording) -> dict[str, Any]:
    steps = np.array(recording.wrong_steps, np.int32)
    return {"step": steps, "error": np.array(recording.errors, np.float64)}


def _windows(recording: Recording) -> dict[str, Any]:
    pa, rows = arrow(), recording.rows
    kinds = {name: pa.int32() for name in _INT32} | {name: pa.float64() for name in _FLOAT64}
    names = dict.fromkeys(COLUMNS) | {name: None for row in rows for name in row}
    measured = {name for row in rows for name, value in row.items() if isinstance(value, float)}
    kinds |= {name: pa.float64() for name in measured}
    return {
        name: pa.array([row.get(name) for row in rows], kinds.get(name, pa.int64()))
        for name in names
    }


def _episodes(recording: Recording) -> dict[str, Any]:
    pa, rows = arrow(), recording.episodes
    return {
        name: pa.array([row[name] for row in rows], pa.type_for_alias(kind))
        for name, kind in EPISODES.items()
    }


_TO_COLUMNS: Mapping[str, Callable[[Recording], dict[str, Any]]] = {
    "errors": _errors,
    "windows": _windows,
    "episodes": _episodes,
}


def read_parquet(path: Path, what: str, checksum: str | None = None) -> dict[str, Array]:
    """Return the columns of a file by name, checked; raise a `RecordsError` if it is damaged."""
    content = read_bytes(path, checksum)
    try:
        table = arrow().parquet.read_table(arrow().BufferReader(content))
        names = table.column_names
        columns = {name: table.column(name).to_numpy(zero_copy_only=False) for name in names}
    except (OSError, ValueError, arrow().ArrowException) as error:
        raise RecordsError(f"cannot read {path}: {error}") from None
    if what == "episodes":
        _check_episodes(columns, path)
    else:
        _check_numbers(columns, _ERRORS if what == "errors" else COLUMNS, path)
    return columns


def no_episodes() -> dict[str, Array]:
    """Return the columns of a run that played no episodes."""
    return {name: np.zeros(0, _numpy(kind)) for name, kind in EPISODES.items()}


def _check_numbers(columns: Mapping[str, Array], expected: Sequence[str], path: Path) -> None:
    """Raise an error unless these are the columns we write. Only `transfer_...` may have gaps."""
    for name in expected:
        if name not in columns:
            raise RecordsError(f"{path}: the column {name!r} is missing")
    for name, column in columns.items():
        if name in _INTEGERS and not np.issubdtype(column.dtype, np.integer):
            raise RecordsError(f"{path}: the column {name!r} must be whole numbers")
        if column.dtype.kind not in "iuf":
            raise RecordsError(f"{path}: the column {name!r} must be numbers")
        measured = name in expected and not name.startswith("transfer_")
        if measured and not (np.isfinite(column).all() and (column >= 0).all()):
            raise RecordsError(f"{path}: the column {name!r} has gaps or negative numbers")


def _check_episodes(columns: Mapping[str, Array], path: Path) -> None:
    """Raise an error unless these are the columns that we write, without gaps."""
    for name, kind in EPISODES.items():
        if name not in columns:
            raise RecordsError(f"{path}: the column {name!r} is missing")
        column = columns[name]
        texts = kind == "string" and all(isinstance(each, str) for each in column)
        if column.dtype != _numpy(kind) or (kind == "string" and not texts):
            raise RecordsError(f"{path}: the column {name!r} must be {kind} without gaps")
        if kind == "float64" and not np.isfinite(column).all():
            raise RecordsError(f"{path}: the column {name!r} has gaps")


def _numpy(kind: str) -> np.dtype[Any]:
    return np.dtype(object if kind == "string" else kind)
