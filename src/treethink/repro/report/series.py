"""Curves over seeds, and single numbers, from the windows of runs.

runs of one label and world -> [ series ] -> x, mean or median, band
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from treethink.repro.report.statistics import Array, band, means, median, medians

#: Statuses of runs that have something to show.
ENDED = ("finished", "stopped")
#: Columns that are the sum of several others.
SUMS = {"loss": ("loss_vectors", "loss_rewards")}


class Run(Protocol):
    """What the report needs of a run's record."""

    @property
    def key(self) -> str: ...
    @property
    def world(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Any]: ...
    @property
    def label(self) -> str: ...
    @property
    def learner(self) -> str: ...
    @property
    def predict(self) -> Mapping[str, Any]: ...
    @property
    def transfer(self) -> Mapping[str, Any] | None: ...
    @property
    def settings(self) -> Mapping[str, Any]: ...
    @property
    def seed(self) -> int: ...
    @property
    def steps(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def message(self) -> str | None: ...
    @property
    def observed(self) -> int: ...
    @property
    def last_error(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def examined(self) -> Mapping[str, Any] | None: ...
    @property
    def examined_transfer(self) -> Mapping[str, Any] | None: ...
    @property
    def scored(self) -> Mapping[str, Any] | None: ...
    @property
    def windows(self) -> Mapping[str, Any]: ...
    @property
    def errors(self) -> tuple[Any, Any]: ...
    @property
    def plans(self) -> Mapping[str, Any]: ...
    @property
    def episodes(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Curve:
    """The mean or median over seeds with its band; `ends` are the points where runs stopped."""

    x: Array
    middle: Array
    low: Array
    high: Array
    ends: tuple[tuple[float, float], ...] = ()


def ended(runs: Iterable[Run]) -> list[Run]:
    """Return the runs that finished, or were stopped at a limit."""
    return [run for run in runs if run.status in ENDED]


def transfer_world(run: Run) -> str:
    """Return the name of the transfer world of a run; empty if there is none."""
    if not run.transfer:
        return ""
    options = ", ".join(f"{k} {v}" for k, v in (run.transfer.get("options") or {}).items())
    return f"{run.transfer['world']} with {options}" if options else str(run.transfer["world"])


def scored_world(run: Run) -> str:
    """Return the name of the world of a run, with its options."""
    options = ", ".join(f"{name} {value}" for name, value in run.options.items())
    return f"{run.world} with {options}" if options else run.world


def column(run: Run, name: str) -> Array:
    """Return one column of a run's windows, NaN where nothing was measured."""
    if name in SUMS:
        total: Array = np.sum([column(run, each) for each in SUMS[name]], axis=0)
        return total
    values = run.windows.get(name)
    if values is None:
        return np.full(len(run.windows["last"]), np.nan)
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def measured(run: Run, name: str) -> tuple[Array, Array]:
    """Return where a column was measured (the middle of each window), and its values."""
    values = column(run, name)
    middle = (column(run, "first") + column(run, "last")) / 2
    there = ~np.isnan(values)
    return middle[there], values[there]


def mean_of(run: Run, name: str, share: float = 1.0) -> float:
    """Return the mean of a column over the last share of a run; NaN if it was not measured."""
    values = column(run, name)
    weights = column(run, "last") - column(run, "first") + 1
    there = ~np.isnan(values)
    if share < 1:
        late = column(run, "last") > (1 - share) * run.observed
        there &= late if (there & late).any() else there
    if not there.any():
        return float("nan")
    return float(np.average(values[there], weights=weights[there]))


def error_until(run: Run, steps: int) -> float:
    """Return the mean error of the first steps of a run."""
    at, errors = run.errors
    return float(errors[at <= steps].sum()) / steps


def error_in(run: Run, first: float, last: float) -> float:
    """Return the mean error of a run between two shares of its steps."""
    at, errors = run.errors
    low, high = first * run.observed, last * run.observed
    return float(errors[(at > low) & (at <= high)].sum()) / (high - low) if high > low else 0.0


def is_time(name: str) -> bool:
    """Whether the values of a column are microseconds."""
    return name.endswith("_us")


def time_of(run: Run, name: str, share: float = 1.0) -> float:
    """Return the median time over the last share of a run; NaN if it was not measured."""
    at, values = measured(run, name)
    late = values[at > (1 - share) * run.observed]
    kept = late if len(late) else values
    return median(list(kept)) if len(kept) else float("nan")


def final(run: Run, name: str) -> float:
    """Return the last value of a column; NaN if it was not measured."""
    _, values = measured(run, name)
    return float(values[-1]) if len(values) else float("nan")


def growth(run: Run, name: str) -> float:
    """Return the ratio of a time in the last tenth of a run to that in the first (medians)."""
    _, values = measured(run, name)
    if not len(values):
        return float("nan")
    tenth = max(1, len(values) // 10)
    first = median(list(values[:tenth]))
    return median(list(values[-tenth:])) / first if first > 0 else float("nan")


def curve(runs: Sequence[Run], name: str, most: int = 100) -> Curve | None:
    """Return the curve of a column over the runs that reached each point; None without data.

    Errors are averaged, as in the paper. Of times the median is taken, because the machine may be
    busy with something else for a moment. More than `most` points are thinned.
    """
    parts = [measured(run, name) for run in ended(runs)]
    parts = [(x, y) for x, y in parts if len(x)]
    if not parts:
        return None
    # All runs of one label and world have the same windows, except the last of a stopped run.
    grid = np.unique(np.concatenate([x for x, _ in parts]))
    rows = np.full((len(parts), len(grid)), np.nan)
    for row, (x, y) in zip(rows, parts, strict=True):
        row[np.searchsorted(grid, x)] = y
    grid, rows = _thinned(grid, _filled(rows), most)
    middle, low, high = band(rows, medians if is_time(name) else means)
    stopped = [run for run in ended(runs) if run.status == "stopped" and len(column(run, name))]
    ends = tuple(
        (float(x[-1]), float(np.interp(x[-1], grid, middle)))
        for x in (measured(run, name)[0] for run in stopped)
        if len(x)
    )
    return Curve(grid, middle, low, high, ends)


def _thinned(grid: Array, rows: Array, most: int) -> tuple[Array, Array]:
    """Return the means of neighbouring columns, so that at most `most` are left."""
    size = -(-len(grid) // most)
    if size <= 1:
        return grid, rows
    starts = np.arange(0, len(grid), size)
    counts = np.diff(np.append(starts, len(grid)))
    there = ~np.isnan(rows)
    sums = np.add.reduceat(np.where(there, rows, 0.0), starts, axis=1)
    n = np.add.reduceat(there.astype(np.int64), starts, axis=1)
    thin = np.full(sums.shape, np.nan)
    np.divide(sums, n, out=thin, where=n > 0)
    return np.add.reduceat(grid, starts) / counts, thin


def _filled(rows: Array) -> Array:
    """Fill gaps inside rows, where another run stopped within a window, with the value before."""
    for row in rows:
        there = np.flatnonzero(~np.isnan(row))
        for i in range(there[0], there[-1] + 1):
            if np.isnan(row[i]):
                row[i] = row[i - 1]
        row[: there[0]] = row[there[0]]
    return rows
