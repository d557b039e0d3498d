"""`experiments/learned.py`: runs are kept and resumed, and no run is left out of the table."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def learned(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Other processes must find it too, so it is imported by its name."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "experiments")
    return importlib.import_module("learned")


def small(learned: Any, *names: str, seeds: int = 1) -> Any:
    return learned.tasks(names, seeds=seeds, steps=2_000, held_out=100)


def test_finished_runs_are_kept_and_not_run_again(learned: Any, tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.json", small(learned, "walls", "lights", seeds=2)
    first = learned.finish(asked[:3], path, processes=1, fresh=False)
    kept = path.read_bytes()
    assert learned.finish(asked[:3], path, processes=1, fresh=False) == first
    assert path.read_bytes() == kept
    every = learned.finish(asked, path, processes=1, fresh=False)
    assert len(every) == 4 and all(run in every for run in first)
    assert all(run.learned and 0 < run.last_error < 2_000 for run in every)


def test_an_interrupted_run_leaves_those_before_it(
    learned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, asked, run = tmp_path / "runs.json", small(learned, "walls", seeds=3), learned.run

    def tiring(task: Any) -> Any:
        if task.seed == 1:
            raise KeyboardInterrupt
        return run(task)

    monkeypatch.setattr(learned, "run", tiring)
    with pytest.raises(KeyboardInterrupt):
        learned.finish(asked, path, processes=1, fresh=False)
    assert [each.seed for each in learned.read(path)] == [0]
    monkeypatch.setattr(learned, "run", run)
    assert len(learned.finish(asked, path, processes=1, fresh=False)) == 3


def test_fresh_runs_take_the_place_of_old_ones(learned: Any, tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.json", small(learned, "walls")
    (old,) = learned.finish(asked, path, processes=1, fresh=False)
    old.seconds = -1.0
    learned.write(path, [old])
    (new,) = learned.finish(asked, path, processes=1, fresh=True)
    assert new.seconds >= 0 and len(learned.read(path)) == 1


def test_the_table_does_not_depend_on_the_number_of_processes(
    learned: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = small(learned, "walls", "maze-t")
    tables = [
        learned.tables(learned.finish(asked, tmp_path / f"{n}.json", processes=n, fresh=False))
        for n in (1, 2)
    ]
    assert tables[0] == tables[1]
    assert "maze-t (learned in maze)" in tables[0]
    assert "walls seed 0: learned" in capsys.readouterr().err


def test_what_was_not_learned_is_censored_and_told(learned: Any, tmp_path: Path) -> None:
    runs = learned.finish(small(learned, "keys"), tmp_path / "runs.json", 1, fresh=False)
    table = learned.tables(runs)
    row = next(line for line in table.splitlines() if line.startswith("| keys |"))
    assert "| 0 of 1 | >2,000 (>2,000) |" in row and "not seen enough: " in row
    assert "keys seed 0, 2,000 steps:" in table and "- and " in table


def test_where_chance_decides_the_error_is_watched(learned: Any, tmp_path: Path) -> None:
    (task,) = learned.tasks(["fish"], seeds=1, steps=5_000, held_out=50)
    run = learned.run(task)
    assert [steps for steps, _, _ in run.errors] == [1_000, 2_000, 4_000, 5_000]
    assert all(error > 0 for _, error, _ in run.errors)
    table = learned.tables([run])
    assert "| by chance |" in table and "| world | 1,000 | 4,000 |" in table


@pytest.mark.parametrize("slope", [-0.5, -1.0, 0.25])
def test_the_slope_is_that_of_a_power(learned: Any, slope: float) -> None:
    points = [(n, 3.0 * n**slope) for n in (1_000, 4_000, 16_000)]
    assert learned.fitted_slope(points) == pytest.approx(slope)
    assert learned.fitted_slope(points[:1]) is None


def test_defaults_give_keys_and_chance_more_steps(learned: Any) -> None:
    asked = learned.tasks(["walls", "keys-t", "fish"], seeds=1, steps=None, held_out=100)
    assert {task.world: task.steps for task in asked} == {
        "fish": 4_096_000, "keys-t": 1_000_000, "walls": 100_000
    }  # fmt: skip
    assert [task.world for task in asked] == ["fish", "keys-t", "walls"]  # longest first


def test_a_file_of_something_else_is_refused(learned: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    for content in ("{}[]", '[{"colour": 3}]', "[3]"):
        path.write_text(content)
        with pytest.raises(SystemExit, match="something else"):
            learned.read(path)
