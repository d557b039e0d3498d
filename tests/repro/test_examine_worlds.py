"""`experiments/examine_worlds.py`: runs are kept and resumed, and none is left out of the table."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def exams(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Import the script by its name, so that other processes find it too."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    return importlib.import_module("experiments.examine_worlds")


def runs_module() -> Any:
    return importlib.import_module("experiments.runs")


def small_tasks(exams: Any, *names: str, seeds: int = 1) -> Any:
    return exams.tasks(names, seeds=seeds, steps=2_000, held_out=100)


def test_finished_runs_are_kept_and_not_run_again(exams: Any, tmp_path: Path) -> None:
    path, tasks = tmp_path / "runs.jsonl", small_tasks(exams, "walls", "lights", seeds=2)
    first = exams.finish_runs(tasks[:3], path, processes=1)
    kept = path.read_bytes()
    assert exams.finish_runs(tasks[:3], path, processes=1) == first
    assert path.read_bytes() == kept
    every = exams.finish_runs(tasks, path, processes=1)
    assert len(every) == 4 and all(run in every for run in first)
    assert all(run.learned and 0 < run.last_error < 2_000 for run in every)


def test_an_interruption_keeps_finished_runs(
    exams: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tasks, run = tmp_path / "runs.jsonl", small_tasks(exams, "walls", seeds=3), exams.run

    def interrupted_run(task: Any) -> Any:
        if task["seed"] == 1:
            raise KeyboardInterrupt
        return run(task)

    monkeypatch.setattr(exams, "run", interrupted_run)
    with pytest.raises(KeyboardInterrupt):
        exams.finish_runs(tasks, path, processes=1)
    assert [each["task"]["seed"] for each in runs_module().read(path).values()] == [0]
    monkeypatch.setattr(exams, "run", run)
    assert len(exams.finish_runs(tasks, path, processes=1)) == 3


def test_fresh_runs_replace_old_ones(exams: Any, tmp_path: Path) -> None:
    path, tasks = tmp_path / "runs.jsonl", small_tasks(exams, "walls")
    exams.finish_runs(tasks, path, processes=1)
    (old,) = runs_module().read(path).values()
    runs_module().write(path, [{**old, "seconds": -1.0}])
    exams.finish_runs(tasks, path, processes=1, fresh=True)
    (new,) = runs_module().read(path).values()
    assert new["seconds"] >= 0 and new["result"] == old["result"]


def test_the_table_does_not_depend_on_the_number_of_processes(
    exams: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = small_tasks(exams, "walls", "maze-t")
    tables = [
        exams.tables(exams.finish_runs(tasks, tmp_path / f"{n}.jsonl", processes=n)) for n in (1, 2)
    ]
    assert tables[0] == tables[1]
    assert "maze-t (learned in maze)" in tables[0]
    assert "walls seed 0: being examined" in capsys.readouterr().err


def test_worlds_that_were_not_learned_are_censored_and_listed(exams: Any, tmp_path: Path) -> None:
    runs = exams.finish_runs(small_tasks(exams, "keys"), tmp_path / "runs.jsonl", 1)
    table = exams.tables(runs)
    row = next(line for line in table.splitlines() if line.startswith("| keys |"))
    assert "| 0 of 1 | >2,000 (>2,000) |" in row and "not seen enough: " in row
    assert "keys seed 0, 2,000 steps:" in table and "- and " in table


def test_the_error_in_random_worlds_is_recorded_over_time(exams: Any, tmp_path: Path) -> None:
    (task,) = exams.tasks(["fish"], seeds=1, steps=5_000, held_out=50)
    run = exams.Run(**task, **exams.run(task))
    assert [steps for steps, _, _ in run.errors] == [1_000, 2_000, 4_000, 5_000]
    assert all(error > 0 for _, error, _ in run.errors)
    table = exams.tables([run])
    assert "| by chance |" in table and "| world | 1,000 | 4,000 |" in table


@pytest.mark.parametrize("slope", [-0.5, -1.0, 0.25])
def test_the_slope_is_the_exponent_of_a_power_law(exams: Any, slope: float) -> None:
    points = [(n, 3.0 * n**slope) for n in (1_000, 4_000, 16_000)]
    assert exams.fitted_slope(points) == pytest.approx(slope)
    assert exams.fitted_slope(points[:1]) is None


def test_keys_and_random_worlds_get_more_steps_by_default(exams: Any) -> None:
    tasks = exams.tasks(["walls", "keys-t", "fish"], seeds=1, steps=None, held_out=100)
    assert {task["world"]: task["steps"] for task in tasks} == {
        "fish": 4_096_000, "keys-t": 1_000_000, "walls": 100_000
    }  # fmt: skip
    assert [task["world"] for task in tasks] == ["fish", "keys-t", "walls"]  # longest first


def test_a_file_with_other_content_is_refused(exams: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for content in ("{}[]", '[{"colour": 3}]', "[3]"):
        path.write_text(content)
        with pytest.raises(SystemExit, match=r"something else than|cannot read"):
            exams.finish_runs(small_tasks(exams, "walls"), path, 1)


def test_the_stored_file_has_every_world(exams: Any) -> None:
    kept = runs_module().read(exams.HERE / "examine_worlds.jsonl")
    every = exams.tasks(exams.EXAMINED, seeds=3, steps=None, held_out=20_000)
    assert sorted(map(runs_module().key_of, every)) == sorted(kept)
