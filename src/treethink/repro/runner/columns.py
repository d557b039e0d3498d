"""The long part of a run's record: errors, windows and episodes, as columns of Parquet.

Recording -> [ columns ] -> bytes -> file -> columns, checked
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treethink.errors import MissingPackageError, RecordsError
from treethink.repro.runner.measurements import COLUMNS, EPISODES, Recording

Array = NDArray[Any]
_ERRORS = ("step", "error")
_INT32 = ("first", "last")
_INTEGERS = ("step", *_INT32)
_FLOAT64 = tuple(name for name in COLUMNS if name not in _INT32)


def arrow() -> Any:
    """The package pyarrow, with its part for Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingPackageError(
            "records are kept as Parquet, for which pyarrow is not installed:"
            ' pip install "treethink[experiments]"'
        ) from error
    return pyarrow


# --------------------------------------------------------------------------------- writing


def packed(recording: Recording, what: str) -> bytes:
    """The `errors`, `windows` or `episodes` of a recording, as a file has them."""
    pa = arrow()
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(_PACKED[what](recording)), sink)
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


_PACKED: Mapping[str, Callable[[Recording], dict[str, Any]]] = {
    "errors": _errors,
    "windows": _windows,
    "episodes": _episodes,
}


# --------------------------------------------------------------------------------- reading


def unpacked(path: Path, what: str) -> dict[str, Array]:
    """What a file has, by the names of columns; or one clear error."""
    try:
        table = arrow().parquet.read_table(path)
        names = table.column_names
        found = {name: table.column(name).to_numpy(zero_copy_only=False) for name in names}
    except (OSError, ValueError, arrow().ArrowException) as error:
        raise RecordsError(f"cannot read {path}: {error}") from None
    if what == "episodes":
        _check_episodes(found, path)
    else:
        _check_numbers(found, _ERRORS if what == "errors" else COLUMNS, path)
    return found


def no_episodes() -> dict[str, Array]:
    """The columns of a run that played none."""
    return {name: np.zeros(0, _numpy(kind)) for name, kind in EPISODES.items()}


def _check_numbers(columns: Mapping[str, Array], expected: Sequence[str], path: Path) -> None:
    """Whether these are the columns that we write. Only `transfer_...` may have gaps."""
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
    """Whether these are the columns that we write, without gaps."""
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
