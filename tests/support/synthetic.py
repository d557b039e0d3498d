"""Records that no run made, in the format of `treethink.repro.runner.records`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from treethink.repro.runner.measurements import EPISODES

#: Who stands behind the labels of the paper's figures.
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "TreeThink (paper)": ("treethink", {"criterion": "wilson", "memory": 0}),
    "QORA": ("qora", {}),
    "static": ("static", {}),
    "Oracle (the world itself)": ("oracle", {}),
    "NPE_1_1": ("npe", {}),
    "NPE_2_1": ("npe", {"width": 2}),
    "NPE_4_2": ("npe", {"width": 4, "layers": 2}),
    "NPE_8_3": ("npe", {"width": 8, "layers": 3}),
    "NPE*": ("npe-star", {}),
}


def made_up(
    world: str = "maze",
    label: str = "TreeThink",
    seed: int = 0,
    steps: int = 1_000,
    last: int | None = 100,
    status: str = "finished",
    observed: int | None = None,
    learned: bool | None = None,
    errors: Iterable[tuple[int, float]] | None = None,
    message: str = "",
    examined_transfer: dict[str, int] | None = None,
    window: int = 100,
    settings: dict[str, Any] | None = None,
    told: dict[str, Any] | None = None,
    played: Iterable[dict[str, Any]] = (),
    **columns: Any,
) -> dict[str, Any]:
    """A run whose errors end at `last`. A column is a number, or one for each window.

    `told` is what its entry says otherwise; `played` has the rows of episodes.
    """
    learner, usual = LEARNERS.get(label, ("treethink", {}))
    n_observed = steps if observed is None else observed
    every = max(10, (last or 0) // 100)
    steady = [(step, 1.0) for step in range(every, (last or 0) + 1, every)]
    wrong = steady if errors is None else list(errors)
    if last and errors is None and (not wrong or wrong[-1][0] != last):
        wrong.append((last, 1.0))
    examined = None
    if learned is not None:
        examined = {
            "held_out": 100, "exact": 100 if learned else 50, "right_mode": 100, "plausible": 100,
            "mean_error": 0.0, "scenes": 3, "wrong_scenes": 0 if learned else 1, "learned": learned,
        }  # fmt: skip
    return {
        "entry": {
            "key": "".join(c if c.isalnum() else "-" for c in f"{world}.{label}.{seed}"),
            "world": world, "options": {}, "learner": learner, "label": label,
            "settings": usual if settings is None else settings, "episode": 50, "window": window,
            "examine": 0, "transfer": None, "limits": {"seconds": None, "megabytes": None},
            "predict": {}, "seed": seed, "steps": steps, "status": status, "message": message,
            "observed": n_observed, "last_error": last or 0, "seconds": 1.0, "examined": examined,
            "examined_transfer": examined_transfer, "plans": {}, "planned": None,
            "commit": None, "traceback": None,
            **(told or {}),
        },
        "errors": wrong,
        "window": window,
        "columns": columns,
        "played": list(played),
    }  # fmt: skip


def episode(
    setting: str, number: int, normalised: float, actions: str = "0 1", **told: Any
) -> dict[str, Any]:
    """An episode of a level in which 10 is optimal, 0 trivial and -10 pessimal."""
    return {
        "observed": 1_000, "setting": setting, "episode": number, "level": 2_000_000 + number,
        "redrawn": 0, "score": round(10 * normalised), "pessimal": -10.0, "trivial": 0.0,
        "optimal": 10.0, "exact": True, "normalised": normalised, "seconds": 0.5,
        "actions": actions, **told,
    }  # fmt: skip


def write(folder: Path, runs: Iterable[dict[str, Any]], title: str = "made up") -> Path:
    """A folder of records."""
    entries = list(runs)
    (folder / "runs").mkdir(parents=True)
    for run in entries:
        if run["entry"]["status"] in ("finished", "stopped"):
            _write_run(folder / "runs", run)
    manifest = {
        "format": 1, "title": title, "config": {}, "versions": {"treethink": "0.1.0"},
        "commit": "abc", "machine": {"cpu": "a processor", "cores": 2, "system": "some"},
        "started": "2026-01-01T00:00:00+00:00", "finished": "2026-01-01T01:00:00+00:00",
        "runs": [run["entry"] for run in entries],
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _write_run(folder: Path, run: dict[str, Any]) -> None:
    entry, key = run["entry"], run["entry"]["key"]
    (folder / f"{key}.json").write_text(json.dumps(entry))
    steps, errors = _errors(run)
    pq.write_table(pa.table({"step": steps, "error": errors}), folder / f"{key}.errors.parquet")
    pq.write_table(pa.table(_windows(run)), folder / f"{key}.windows.parquet")
    if entry["plans"]:
        pq.write_table(pa.table(_episodes(run)), folder / f"{key}.episodes.parquet")


def _episodes(run: dict[str, Any]) -> dict[str, Any]:
    return {
        name: np.array([row[name] for row in run["played"]], object if kind == "string" else kind)
        for name, kind in EPISODES.items()
    }


def _errors(run: dict[str, Any]) -> tuple[Any, Any]:
    steps = np.array([step for step, _ in run["errors"]], np.int32)
    return steps, np.array([each for _, each in run["errors"]], np.float64)


def _windows(run: dict[str, Any]) -> dict[str, Any]:
    steps, errors = _errors(run)
    observed, window = run["entry"]["observed"], run["window"]
    firsts = np.arange(1, observed + 1, window, dtype=np.int32)
    lasts = np.minimum(firsts + window - 1, observed).astype(np.int32)
    means = [
        errors[(steps >= a) & (steps <= b)].sum() / (b - a + 1)
        for a, b in zip(firsts, lasts, strict=True)
    ]
    columns: dict[str, Any] = {
        "observe_us": 1.0, "predict_us": 0.5, "transfer_error": np.nan, "transfer_us": np.nan,
    } | run["columns"]  # fmt: skip
    table = {"first": firsts, "last": lasts, "error": np.array(means, np.float64)}
    for name, values in columns.items():
        table[name] = np.array(np.broadcast_to(values, len(firsts)), np.float64)
    return table


class Unwritten:
    """The same runs, as if they had been written and read."""

    def __init__(self, *runs: dict[str, Any], title: str = "made up"):
        self.manifest = {"title": title}
        self.runs = [
            SimpleNamespace(
                **run["entry"], windows=_windows(run), errors=_errors(run), episodes=_episodes(run)
            )
            for run in runs
        ]
