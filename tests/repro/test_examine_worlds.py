"""`experiments/examine_worlds.py`: runs are kept and resumed, and none is left out of the table."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def exams(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Other processes must find it too, so it is imported by its name."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2])
    return importlib.import_module("experiments.examine_worlds")


def store() -> Any:
    return importlib.import_module("experiments.runs")


def small(exams: Any, *names: str, seeds: int = 1) -> Any:
    return exams.tasks(names, seeds=seeds, steps=2_000, held_out=100)


def test_finished_runs_are_kept_and_not_run_again(exams: Any, tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.jsonl", small(exams, "walls", "lights", seeds=2)
    first = exams.finish_runs(asked[:3], path, processes=1)
    kept = path.read_bytes()
    assert exams.finish_runs(asked[:3], path, processes=1) == first
    assert path.read_bytes() == kept
    every = exams.finish_runs(asked, path, processes=1)
    assert len(every) == 4 and all(run in every for run in first)
    assert all(run.learned and 0 < run.last_error < 2_000 for run in every)


def test_an_interrupted_run_leaves_those_before_it(
    exams: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked, run = tmp_path / "runs.jsonl", small(exams, "walls", seeds=3), exams.run

    def tiring(task: Any) -> Any:
        if task["seed"] == 1:
            raise KeyboardInterrupt
        return run(task)

    monkeypatch.setattr(exams, "run", tiring)
    with pytest.raises(KeyboardInterrupt):
        exams.finish_runs(asked, path, processes=1)
    assert [each["task"]["seed"] for each in store().read(path).values()] == [0]
    monkeypatch.setattr(exams, "run", run)
    assert len(exams.finish_runs(asked, path, processes=1)) == 3


def test_fresh_runs_take_the_place_of_old_ones(exams: Any, tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.jsonl", small(exams, "walls")
    exams.finish_runs(asked, path, processes=1)
    (old,) = store().read(path).values()
    store().write(path, [{**old, "seconds": -1.0}])
    exams.finish_runs(asked, path, processes=1, fresh=True)
    (new,) = store().read(path).values()
    assert new["seconds"] >= 0 and new["result"] == old["result"]


def test_the_table_does_not_depend_on_the_number_of_processes(
    exams: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = small(exams, "walls", "maze-t")
    tables = [
        exams.tables(exams.finish_runs(asked, tmp_path / f"{n}.jsonl", processes=n)) for n in (1, 2)
    ]
    assert tables[0] == tables[1]
    assert "maze-t (learned in maze)" in tables[0]
    assert "walls seed 0: being examined" in capsys.readouterr().err


def test_what_was_not_learned_is_censored_and_told(exams: Any, tmp_path: Path) -> None:
    runs = exams.finish_runs(small(exams, "keys"), tmp_path / "runs.jsonl", 1)
    table = exams.tables(runs)
    row = next(line for line in table.splitlines() if line.startswith("| keys |"))
    assert "| 0 of 1 | >2,000 (>2,000) |" in row and "not seen enough: " in row
    assert "keys seed 0, 2,000 steps:" in table and "- and " in table


def test_where_chance_decides_the_error_is_watched(exams: Any, tmp_path: Path) -> None:
    (task,) = exams.tasks(["fish"], seeds=1, steps=5_000, held_out=50)
    run = exams.Run(**task, **exams.run(task))
    assert [steps for steps, _, _ in run.errors] == [1_000, 2_000, 4_000, 5_000]
    assert all(error > 0 for _, error, _ in run.errors)
    table = exams.tables([run])
    assert "| by chance |" in table and "| world | 1,000 | 4,000 |" in table


@pytest.mark.parametrize("slope", [-0.5, -1.0, 0.25])
def test_the_slope_is_that_of_a_power(exams: Any, slope: float) -> None:
    points = [(n, 3.0 * n**slope) for n in (1_000, 4_000, 16_000)]
    assert exams.fitted_slope(points) == pytest.approx(slope)
    assert exams.fitted_slope(points[:1]) is None


def test_defaults_give_keys_and_chance_more_steps(exams: Any) -> None:
    asked = exams.tasks(["walls", "keys-t", "fish"], seeds=1, steps=None, held_out=100)
    assert {task["world"]: task["steps"] for task in asked} == {
        "fish": 4_096_000, "keys-t": 1_000_000, "walls": 100_000
    }  # fmt: skip
    assert [task["world"] for task in asked] == ["fish", "keys-t", "walls"]  # longest first


def test_a_file_of_something_else_is_refused(exams: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for content in ("{}[]", '[{"colour": 3}]', "[3]"):
        path.write_text(content)
        with pytest.raises(SystemExit, match="something else"):
            exams.finish_runs(small(exams, "walls"), path, 1)


def test_every_world_is_in_the_file_that_is_kept(exams: Any) -> None:
    kept = store().read(exams.HERE / "examine_worlds.jsonl")
    every = exams.tasks(exams.WORLDS, seeds=3, steps=None, held_out=20_000)
    assert sorted(map(store().key_of, every)) == sorted(kept)
