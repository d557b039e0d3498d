"""The ladder: what is scored at the end of a run, its table, and what it needs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treethink.errors import MissingPackageError, RecordsError
from treethink.metrics import TOLERANCE, error
from treethink.model import TreeThink
from treethink.repro.figures import FIGURES, chosen, left_out
from treethink.repro.figures.reproduce import experiment, reproduce
from treethink.repro.report import write
from treethink.repro.report.data import read_all
from treethink.repro.report.ladder import HEADER, ladder
from treethink.repro.runner import records
from treethink.repro.runner.config import parse
from treethink.repro.runner.entries import checked
from treethink.repro.runner.pool import perform_all
from treethink.repro.runner.spec import HELD_OUT
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import make

CONFIG = """
title = "small ladder"
steps = 300
score = 200
learners = ["treethink", "static", { name = "knn", steps = 50 }]

[[worlds]]
name = "push"
options = { boxes = 2, goals = 2 }
transfer = { world = "push", every = 300, steps = 5, options = { width = 10, height = 10 } }

[[worlds]]
name = "fish"
options = { width = 4, height = 4 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ladder")
    perform_all(parse(CONFIG).runs(), path, processes=0, title="small ladder")
    return path


def by_hand(steps: list[tuple[State, str, list[tuple[State, float]]]], model: Any) -> Any:
    """Score a model by comparing whole states."""
    exact = changing = exact_changing = certain = 0
    for before, action, truth in steps:
        prediction = model.predict(before, action)
        most = max(chance for _, chance in truth)
        likely = [state for state, chance in truth if chance > most - 1e-9]
        mode = prediction.mode()
        true = mode if mode in likely else likely[0]
        exact += mode == true
        changing += true != before
        exact_changing += mode == true != before
        certain += error(prediction, truth) <= TOLERANCE
    return {
        "n": len(steps), "exact": exact, "changing": changing, "exact_changing": exact_changing,
        "certain": certain,
    }  # fmt: skip


def trained(world: Any) -> TreeThink:
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, 300, 0))
    return model


@pytest.mark.parametrize(
    "name, options",
    [("push", {"boxes": 2, "goals": 2}), ("fish", {"width": 4, "height": 4})],
)
def test_a_run_is_scored_as_by_hand(folder: Path, name: str, options: dict[str, int]) -> None:
    (run,) = (r for r in records.read(folder).runs if (r.world, r.label) == (name, "treethink"))
    world = make(name, **options)
    model = trained(world)

    def truths(place: Any, steps: int) -> list[Any]:
        stream = transitions(place, steps, HELD_OUT)
        return [
            (before, action, place.distribution(before, action)) for before, action, _ in stream
        ]

    parts = {"held_out": truths(world, 200)}
    if name == "push":
        parts["transfer"] = truths(make("push", width=10, height=10), 200)
        rng = np.random.default_rng(HELD_OUT)
        parts["stress"] = []
        for _ in range(200):
            state = world.stress_state(rng)
            action = world.actions[int(rng.integers(4))]
            parts["stress"].append((state, action, world.distribution(state, action)))
    for part in ("held_out", "stress", "transfer"):
        if part not in parts:
            assert run.scored[part] is None
        else:
            expected = by_hand(parts[part], model)
            assert {key: run.scored[part][key] for key in expected} == expected, part


def test_the_table_has_a_row_for_each_world_and_learner(folder: Path) -> None:
    table = ladder(read_all(folder), folder.name)
    assert table.header == HEADER
    assert [(row[0], row[1]) for row in table.rows] == [
        (world, label)
        for world in ("push with boxes 2, goals 2", "fish with width 4, height 4")
        for label in ("treethink", "static", "knn")
    ]
    static = dict(zip(HEADER, table.rows[1], strict=True))
    assert static["of those that change"] == static["F1 of changes"] == "0.0000"
    assert static["stress right"] != "–" and table.rows[4][7] == "–"
    assert table.rows[2][2] == "50"


def test_a_run_that_reaches_a_limit_is_scored_where_it_stopped(tmp_path: Path) -> None:
    config = parse(CONFIG + "\n[limits]\nmegabytes = 0.0001\n")
    perform_all(config.runs()[:1], tmp_path, processes=0, title="limited")
    (run,) = records.read(tmp_path).runs
    assert run.status == "stopped" and 0 < run.observed < 300
    assert run.scored["held_out"]["n"] == 200 and run.examined is None


def test_scores_are_part_of_the_key_of_a_run() -> None:
    """The example of `Run.key` shows that keys of runs without scores are as before."""
    without = CONFIG.replace("score = 200", "")
    for plain, scored in zip(parse(without).runs(), parse(CONFIG).runs(), strict=True):
        assert plain.score == 0 and scored.score == 200
        assert plain.key != scored.key


@pytest.mark.parametrize(
    "scored, says",
    [
        ({"held_out": {"n": 3}}, "held_out, exact must be a whole number"),
        ({"stress": []}, "stress must be a table or null"),
    ],
)
def test_damaged_scores_are_refused(folder: Path, scored: Any, says: str) -> None:
    entry = {**records.read(folder).runs[0].entry, "scored": scored}
    with pytest.raises(RecordsError, match=says):
        checked(entry, "the entry")


# ---------------------------------------------------------------------------- the figure


def test_without_a_package_there_is_one_clear_error_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gymnasium")
    monkeypatch.setitem(__import__("sys").modules, "rware", None)
    with pytest.raises(MissingPackageError, match=r"ladder.toml, worlds\[4\].*\.\[rware\]"):
        reproduce([FIGURES["ladder"]], tmp_path, small=True)
    assert not list(tmp_path.iterdir())


def test_all_leaves_it_out_where_a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    without = lambda name: None if name == "river" else real(name)  # noqa: E731
    monkeypatch.setattr("treethink.repro.figures.find_spec", without)
    assert "ladder" not in [each.name for each in chosen(["all"])]
    assert "ladder" in [each.name for each in left_out(["all"])]
    assert [each.name for each in chosen(["ladder"])] == ["ladder"]


def test_the_ladder_compares_what_it_promises() -> None:
    config = experiment(FIGURES["ladder"], small=False)
    assert config is not None and config.score == 5_000
    assert [each.label for each in config.learners] == [
        "TreeThink", "TreeThink (paper)", "QORA", "Hoeffding trees (River)",
        "k-nearest neighbours", "memoriser", "static",
    ]  # fmt: skip
    small = experiment(FIGURES["ladder"], small=True)
    assert small is not None and {run.seed for run in small.runs()} == {0}


@pytest.mark.slow
def test_the_report_has_the_picture_and_the_table(folder: Path, tmp_path: Path) -> None:
    """Only records whose runs are those of the figure are shown as it."""
    config = experiment(FIGURES["ladder"], small=True)
    assert config is not None
    target = tmp_path / "ladder"
    runs = [run for run in config.runs() if run.world == "frozenlake" and run.learner == "static"]
    perform_all(runs, target, processes=0, title=config.title)
    write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text()
    assert "| frozenlake | static | 1,000 |" in text or "| frozenlake | static | 2,000 |" in text
    assert (tmp_path / "report" / "ladder.svg").exists()
