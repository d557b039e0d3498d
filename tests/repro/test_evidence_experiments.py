"""`experiments/evidence`: runs are stored, and every table in the docs matches them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import treethink as tt

ROOT = Path(__file__).parents[2]
PARTS = ("efficiency", "calibration", "memory", "chance", "alpha", "transfer", "noise")


@pytest.fixture(autouse=True)
def _make_experiments_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT)


def module(name: str) -> Any:
    return importlib.import_module(f"experiments.{name}")


# ----------------------------------------------------------------------------- runs


def square(task: dict[str, Any]) -> dict[str, Any]:
    if task["of"] < 0:
        raise KeyboardInterrupt
    return {"square": task["of"] ** 2}


def test_finished_runs_are_stored_in_a_fixed_order_and_not_repeated(tmp_path: Path) -> None:
    finish, path = module("runs").finish, tmp_path / "runs.jsonl"
    tasks = [{"of": n} for n in (3, 1, 2)]
    assert [each["square"] for each in finish(tasks[:2], square, path)] == [9, 1]
    kept = path.read_text()

    def fail(task: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(task)

    assert finish(tasks[:2], fail, path) == [{"square": 9}, {"square": 1}]
    assert path.read_text() == kept
    assert [each["square"] for each in finish(tasks, square, path)] == [9, 1, 4]
    other = tmp_path / "other.jsonl"
    finish(tasks[::-1], square, other)
    strip = [line.split('"seconds"')[0] for line in path.read_text().splitlines()]
    assert strip == [line.split('"seconds"')[0] for line in other.read_text().splitlines()]


def test_an_interruption_keeps_finished_runs(tmp_path: Path) -> None:
    runs, path = module("runs"), tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        runs.finish([{"of": 5}, {"of": -1}, {"of": 6}], square, path)
    assert [each["result"]["square"] for each in runs.read(path).values()] == [25]


def test_a_damaged_record_is_refused_with_its_place(tmp_path: Path) -> None:
    runs, path = module("runs"), tmp_path / "runs.jsonl"
    runs.finish([{"of": 3}, {"of": 4}], square, path)
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"square":16', b'"square":17'))
    with pytest.raises(SystemExit, match=r"runs\.jsonl, line 2: .*checksum does not match"):
        runs.read(path)
    path.write_bytes(whole[:-20])
    with pytest.raises(SystemExit, match=r"cannot read .*runs\.jsonl, line 2"):
        runs.read(path)


def test_records_without_checksums_are_read_and_kept(tmp_path: Path) -> None:
    runs, path = module("runs"), tmp_path / "runs.jsonl"
    old = '{"task":{"of":3},"result":{"square":9},"seconds":0.0,"version":"0.1.0"}\n'
    path.write_text(old)
    assert runs.finish([{"of": 3}, {"of": 4}], square, path) == [{"square": 9}, {"square": 16}]
    first = path.read_text().splitlines()[0]
    assert first.startswith(old.rstrip("}\n")) and '"sha256":' in first


def test_a_file_with_other_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text("[1]\n")
    with pytest.raises(SystemExit, match="something else"):
        module("runs").read(path)


# ---------------------------------------------------------------------------- tables


@pytest.mark.parametrize("name", PARTS)
def test_the_tables_in_the_docs_match_the_stored_runs(name: str) -> None:
    main, runs = module("evidence.__main__"), module("runs")
    part = main.PARTS[name]
    tasks = part.tasks(1.0 if name == "calibration" else 10)
    kept = runs.read(ROOT / "experiments" / "evidence" / "runs" / f"{name}.jsonl")
    results = [kept[runs.key_of(task)]["result"] for task in tasks]
    page = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    assert f"<!-- measured: {name} -->" in page
    assert main.insert_table(page, name, part.table(tasks, results)) == page


def test_every_part_is_tested(tmp_path: Path) -> None:
    assert tuple(module("evidence.__main__").PARTS) == PARTS


# ---------------------------------------------------------------------------- parts

SMALL: dict[str, dict[str, Any]] = {
    "efficiency": {"world": "walls", "setting": "evidence + memory", "seed": 0, "steps": 400},
    "memory": {"world": "walls", "memory": 100, "seed": 0, "steps": 400},
    "alpha": {"world": "walls", "alpha": 0.1, "seed": 0, "steps": 400},
    "transfer": {"world": "walls", "setting": "evidence + memory", "seed": 0, "steps": 400},
    "noise": {"world": "walls", "noise": 0.05, "seed": 0, "steps": 800},
}


@pytest.mark.parametrize("name", SMALL)
def test_a_part_can_be_run_and_is_deterministic(name: str) -> None:
    part = module(f"evidence.{name}")
    result = part.run(SMALL[name])
    assert part.run(SMALL[name]) == result
    if name in ("efficiency", "memory", "alpha"):
        assert 0 < result["last_error"] < 300
        assert result["held_out"]["exact"] == result["held_out"]["of"]
    if name == "transfer":
        assert all(each["exact"] == each["of"] == 2_000 for each in result.values())
    if name == "noise":
        assert result["right"] == result["of"] and 0.01 < result["mass"] < 0.1


def test_a_run_with_errors_at_its_end_has_not_converged() -> None:
    converged = module("evidence.settings").converged
    assert converged({"steps": 100}, {"last_error": 80}) == 80
    assert converged({"steps": 100}, {"last_error": 81}) == float("inf")


def test_only_a_tree_that_tests_exactly_the_four_walls_is_right() -> None:
    asks_for_walls, world = module("evidence.chance").asks_for_walls, tt.make("fish")
    model = tt.TreeThink(world.schema)
    answers = []
    for stream in (tt.transitions(world, 20, 0), tt.transitions(world, 20_000, 1)):
        model.observe_many(stream)
        answers.append(asks_for_walls(model.rules["fish", "pos", "step"]))
    assert answers == [False, True]
    walls = tt.make("maze")
    other = tt.TreeThink(walls.schema)
    other.observe_many(tt.transitions(walls, 300, 0))
    assert not asks_for_walls(other.rules["player", "pos", "left"])


# ------------------------------------------------------------------------ calibration


KINDS = ("one object", "eight objects", "eight that share one coin", "below 2 tests")


@pytest.mark.parametrize("kind", KINDS)
def test_random_streams_have_the_properties_of_their_kind(kind: str) -> None:
    calibration = module("evidence.calibration")
    options = calibration.KINDS[kind]
    stream = list(calibration.stream(options, seed=3, plant=False))
    assert stream == list(calibration.stream(options, seed=3, plant=False))
    assert len(stream) == options["steps"]
    for before, _, after in stream:
        ups = [after.value(i, "up") for i in range(options["coins"])]
        if options.get("shared"):
            assert len(set(ups)) == 1
        if not all(before.value(0, flag) for flag in "abc"):
            assert ups == [0]
    assert len({after.value(0, "up") for *_, after in stream}) == 5


def test_false_tests_are_detected() -> None:
    calibration = module("evidence.calibration")
    shared = calibration.KINDS["eight that share one coin"]
    assert all(calibration.adds_false_test(shared, "wilson", 0.1, seed) for seed in range(3))
    assert not any(calibration.adds_false_test(shared, "evidence", 0.01, seed) for seed in range(3))
    one = calibration.KINDS["one object"]
    assert not calibration.adds_false_test(one, "evidence", 0.01, 0)
    assert calibration.adds_false_test({**one, "depth": 0}, "wilson", 0.999, 0)


def test_a_planted_dependency_is_found() -> None:
    calibration = module("evidence.calibration")
    eight = calibration.KINDS["eight objects"]
    assert all(
        0 < calibration.steps_until_found(eight, "evidence", 0.01, seed) < 60 for seed in range(5)
    )


def test_the_upper_limit_matches_clopper_and_pearson() -> None:
    upper_limit = module("evidence.calibration").upper_limit
    assert upper_limit(0, 1_000) == pytest.approx(1 - 0.05 ** (1 / 1_000))
    assert upper_limit(5, 100) == pytest.approx(0.10225, abs=1e-4)
    assert upper_limit(10, 10) == 1.0
