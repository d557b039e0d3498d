"""The table of the ladder: one row for each world and learner, from scored runs.

runs -> [ ladder ] -> last error, shares that are right, F1 of what changed, times
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import summary
from treethink.repro.report.series import Run, ended, scored_world, time_of, transfer_world
from treethink.repro.report.statistics import median, number
from treethink.repro.report.tables import Table, share, statuses

HEADER = (
    "world", "learner", "steps", "last error, median (worst)", "held-out right",
    "of those that change", "F1 of changes", "stress right", "larger levels right", "larger levels",
    "observe µs", "predict µs", "runs",
)  # fmt: skip


def ladder(data: Data, name: str) -> Table:
    """Return one row for each world and label; shares are medians over seeds."""
    rows = []
    worlds = dict.fromkeys(map(scored_world, data.runs(name)))
    for world in worlds:
        for label in data.labels(name):
            runs = [run for run in data.runs(name, label) if scored_world(run) == world]
            if runs:
                rows.append((world, label, *_cells(runs)))
    return Table("", HEADER, tuple(rows))


def _cells(runs: Sequence[Run]) -> tuple[str, ...]:
    done = ended(runs)
    return (
        f"{max(run.steps for run in runs):,}",
        summary(runs).replace("worst ", ""),
        _share(done, "held_out", "exact", "n"),
        _share(done, "held_out", "exact_changing", "changing"),
        _f1(done),
        _share(done, "stress", "exact", "n"),
        _share(done, "transfer", "exact", "n"),
        next((transfer_world(run) for run in runs if run.transfer), "–"),
        _time(done, "observe_us"),
        _time(done, "predict_us"),
        statuses(runs),
    )


def shares(runs: Sequence[Run], part: str, right: str, of: str) -> list[float]:
    """Return the share of each run that has one, such as that of `exact` of all `n`."""
    scored = [run.scored[part] for run in runs if run.scored and run.scored.get(part)]
    return [each[right] / each[of] for each in scored if each[of]]


def _share(runs: Sequence[Run], part: str, right: str, of: str) -> str:
    values = shares(runs, part, right, of)
    return share(median(values)) if values else "–"


def _f1(runs: Sequence[Run]) -> str:
    scored = [run.scored["held_out"] for run in runs if run.scored and run.scored.get("held_out")]
    values = [each["f1"] for each in scored if each["f1"] is not None]
    return share(median(values)) if values else "–"


def _time(runs: Sequence[Run], column: str) -> str:
    values = [value for run in runs if not math.isnan(value := time_of(run, column))]
    return number(median(values)) if values else "–"
