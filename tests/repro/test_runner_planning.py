"""Runs that plan: all learners play the same episodes, and interruptions change nothing."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import treethink as tt
from treethink.baselines import LEARNERS, make_learner
from treethink.errors import RecordsError, ResourceError, TreeThinkError
from treethink.planning import paper_levels
from treethink.planning.agent import Agent
from treethink.planning.scores import score_bounds
from treethink.repro.runner import episodes as playing
from treethink.repro.runner import records
from treethink.repro.runner.config import Config, parse
from treethink.repro.runner.episodes import LEVELS, MOST_EPISODES, EpisodePlayer, summary
from treethink.repro.runner.measurements import EPISODES, Recording
from treethink.repro.runner.pool import _length, perform_all
from treethink.repro.runner.progress import table
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Episodes, Limits, Run

SMALL = {"width": 5, "height": 5}
HERE = Episodes("here", "maze", steps=4, episodes=3, simulations=20, options=SMALL)
LARGER = Episodes("larger", "maze", steps=5, episodes=2, simulations=15, every=50)
RUN = Run(
    "maze", "treethink", "TreeThink", seed=1, steps=120, window=40, options=SMALL, examine=30,
    plans=(HERE, LARGER),
)  # fmt: skip


def record(folder: Path, run: Run) -> records.RunRecord:
    entry = records.written(folder, run.key)
    assert entry is not None
    return records.RunRecord(folder, entry)


def comparable_record(folder: Path, run: Run) -> dict[str, Any]:
    """Return all that was recorded except times and bytes held."""
    run_record = record(folder, run)
    entry = {
        name: each for name, each in run_record.entry.items() if name not in ("seconds", "commit")
    }
    entry["planned"] = {
        label: {name: each for name, each in summary_.items() if name != "seconds"}
        for label, summary_ in entry["planned"].items()
    }
    windows = {
        k: v for k, v in run_record.windows.items() if not k.endswith("_us") and k != "bytes"
    }
    episodes = {k: v.tolist() for k, v in run_record.episodes.items() if k != "seconds"}
    return {
        "entry": entry,
        "episodes": episodes,
        "errors": [each.tolist() for each in run_record.errors],
        "windows": {name: each.tobytes() for name, each in sorted(windows.items())},
    }


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the records of uninterrupted runs."""
    folder = tmp_path_factory.mktemp("whole")
    for learner in ("treethink", "oracle"):
        perform(replace(RUN, learner=learner), folder)
    return {
        each: comparable_record(folder, replace(RUN, learner=each))
        for each in ("treethink", "oracle")
    }


# ------------------------------------------------------------------------- episodes


def test_recorded_episodes_match_those_of_an_agent(tmp_path: Path) -> None:
    entry = perform(replace(RUN, plans=(HERE,)), tmp_path)
    assert entry is not None and entry["status"] == "finished", entry["traceback"]
    world = tt.make("maze", **SMALL)
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 120, seed=1))
    columns = record(tmp_path, replace(RUN, plans=(HERE,))).episodes
    assert columns["observed"].tolist() == [120] * 3
    assert columns["episode"].tolist() == [0, 1, 2]
    for i in range(3):
        level = int(columns["level"][i])
        first = LEVELS + MOST_EPISODES * 1 + i
        assert level == first + 1_000_000_000 * columns["redrawn"][i]
        agent = Agent(model, simulations=20, seed=i)
        episode = agent.play(world, 4, level=level)
        bounds = score_bounds(world, world.reset(level), 4)
        assert columns["score"][i] == episode.score
        recorded = [columns[name][i] for name in ("pessimal", "trivial", "optimal", "exact")]
        assert recorded == [bounds.pessimal, bounds.trivial, bounds.optimal, bounds.exact]
        assert columns["normalised"][i] == bounds.normalised(episode.score)
        assert columns["actions"][i] == " ".join(
            str(world.actions.index(each)) for each in episode.actions
        )
        assert columns["seconds"][i] > 0 and bounds.optimal > bounds.trivial


def test_the_entry_summarizes_the_episodes(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    run_record = record(tmp_path, RUN)
    columns = run_record.episodes
    assert list(run_record.planned) == list(run_record.plans) == ["here", "larger"]
    for label, statistics in run_record.planned.items():
        rows = (columns["setting"] == label) & (columns["observed"] == 120)
        scores = columns["normalised"][rows]
        assert statistics["episodes"] == rows.sum() == {"here": 3, "larger": 2}[label]
        assert statistics["mean"] == pytest.approx(scores.mean())
        assert statistics["deviation"] == pytest.approx(scores.std())
        assert statistics["redrawn"] == columns["redrawn"][rows].sum()
        assert statistics["seconds"] == pytest.approx(columns["seconds"][rows].mean())
    assert {path.name.removeprefix(RUN.key) for path in (tmp_path / "runs").iterdir()} == {
        ".json", ".errors.parquet", ".windows.parquet", ".episodes.parquet",
    }  # fmt: skip


def test_every_repeats_the_episodes_from_the_start_to_the_end(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    columns = record(tmp_path, RUN).episodes
    rows = zip(columns["setting"], columns["observed"], columns["episode"], strict=True)
    assert list(rows) == [
        *[("larger", observed, i) for observed in (0, 50, 100) for i in range(2)],
        *[("here", 120, i) for i in range(3)],
        *[("larger", 120, i) for i in range(2)],
    ]
    again = replace(RUN, plans=(replace(LARGER, every=60),))
    perform(again, tmp_path)
    assert record(tmp_path, again).episodes["observed"].tolist() == [0, 0, 60, 60, 120, 120]


def test_planning_does_not_change_learning(tmp_path: Path) -> None:
    without = replace(RUN, plans=())
    for run in (RUN, without):
        perform(run, tmp_path)
    one, other = record(tmp_path, RUN), record(tmp_path, without)
    assert one.examined == other.examined and one.last_error == other.last_error
    assert one.windows["error"].tolist() == other.windows["error"].tolist()
    assert other.planned is None and other.plans == {}
    assert {name: len(each) for name, each in other.episodes.items()} == dict.fromkeys(EPISODES, 0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_all_learners_play_the_same_levels(tmp_path: Path, learner: str) -> None:
    run = replace(RUN, learner=learner, steps=60)
    ours = replace(RUN, steps=60)
    for each in (run, ours):
        entry = perform(each, tmp_path)
        assert entry is not None and entry["status"] == "finished", entry["traceback"]
    one, other = record(tmp_path, run).episodes, record(tmp_path, ours).episodes
    for name in ("setting", "observed", "episode", "level", "redrawn", "optimal"):
        assert one[name].tolist() == other[name].tolist()


def test_the_oracle_plans_in_the_world_of_the_plan() -> None:
    run = replace(RUN, learner="oracle", plans=(LARGER,))
    oracle = make_learner("oracle", tt.make("maze", **SMALL))
    row = EpisodePlayer(run).play(oracle, LARGER, 0, lambda: None)
    world = tt.make("maze")
    episode = Agent(world, simulations=15, seed=0).play(world, 5, level=row["level"])
    assert row["score"] == episode.score


def test_other_seeds_play_other_levels() -> None:
    oracle = make_learner("oracle", tt.make("maze", **SMALL))
    levels = {
        EpisodePlayer(replace(RUN, seed=seed)).play(oracle, HERE, i, lambda: None)["level"]
        for seed in range(3)
        for i in range(2)
    }
    assert len(levels) == 6


def test_bounds_of_a_level_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    playing._level.cache_clear()
    levels_computed: list[int] = []
    original = paper_levels.levels

    def counting(world: Any, steps: int, first: int, n: int) -> Any:
        levels_computed.append(first)
        return original(world, steps, first, n)

    monkeypatch.setattr("treethink.planning.paper_levels.levels", counting)
    for learner in ("oracle", "static"):
        player = make_learner(learner, tt.make("maze", **SMALL))
        for i in range(3):
            EpisodePlayer(RUN).play(player, HERE, i, lambda: None)
    assert levels_computed == [LEVELS + MOST_EPISODES + i for i in range(3)]


def test_a_plan_that_needs_too_many_resources_fails_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_many(*_: Any) -> Any:
        raise ResourceError("there are 5,000 states, and 4,000 allowed")

    monkeypatch.setattr(playing, "_level", too_many)
    entry = perform(RUN, tmp_path)  # `larger` is played before the first step
    assert entry is not None and (entry["status"], entry["planned"]) == ("failed", None)
    assert "SettingError: plan 'larger', episode 0: there are 5,000 states" in entry["message"]
    assert records.ended(tmp_path, RUN) is None


# -------------------------------------------------------------------------- interruptions


def perform_in_parts(run: Run, folder: Path, stops: list[int]) -> None:
    """Perform a run in parts, each stopped after this number of progress reports."""
    for stop in stops:
        calls = 0

        def tell(observed: int, error: float, doing: str, stop: int = stop) -> bool:
            nonlocal calls
            calls += 1
            return calls <= stop

        if perform(run, folder, tell=tell, tell_every=0) is not None:
            return
        assert records.ended(folder, run) is None
    with warnings.catch_warnings(action="error"):
        perform(run, folder)


@pytest.mark.parametrize("learner", ["treethink", "oracle"])
def test_a_run_interrupted_anywhere_has_the_same_record(
    tmp_path_factory: pytest.TempPathFactory, uninterrupted: dict[str, Any], learner: str
) -> None:
    run = replace(RUN, learner=learner)

    @given(st.lists(st.integers(1, 150), min_size=1, max_size=4))
    @settings(max_examples=10, deadline=None)
    def holds(stops: list[int]) -> None:
        folder = tmp_path_factory.mktemp("parts")
        perform_in_parts(run, folder, stops)
        assert comparable_record(folder, run) == uninterrupted[learner]

    holds()


def test_finished_episodes_are_not_played_again(
    tmp_path: Path, uninterrupted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[tuple[str, int]] = []
    original = EpisodePlayer.play

    def counting(self: EpisodePlayer, learner: Any, plan: Episodes, episode: int, heed: Any) -> Any:
        row = original(self, learner, plan, episode, heed)
        played.append((plan.label, episode))
        return row

    monkeypatch.setattr(EpisodePlayer, "play", counting)

    def tell(observed: int, error: float, doing: str) -> bool:
        return "episode 4 of 5" not in doing

    assert perform(RUN, tmp_path, tell=tell, tell_every=0) is None
    before = len(played)
    assert played[-1] == ("here", 2)  # of the last stage: here 0, 1, 2, larger 0, 1
    perform_in_parts(RUN, tmp_path, [])
    assert played[before:] == [("larger", 0), ("larger", 1)]
    assert comparable_record(tmp_path, RUN) == uninterrupted["treethink"]


def test_a_run_reports_progress_within_an_episode(
    tmp_path: Path,
) -> None:
    messages: list[str] = []

    def tell(observed: int, error: float, doing: str) -> bool:
        messages.append(doing)
        return True

    perform(RUN, tmp_path, tell=tell, tell_every=0)
    assert messages.count("planning, larger: episode 1 of 2") >= 3 * (
        1 + 5
    )  # before and within the episode
    assert "planning, here: episode 3 of 5" in messages and messages[-1] == "being examined"
    assert "" in messages


def test_a_run_stopped_by_a_limit_keeps_its_episodes(tmp_path: Path) -> None:
    run = replace(RUN, steps=10**6, limits=Limits(seconds=0.2), plans=(replace(LARGER, every=10),))
    entry = perform(run, tmp_path)
    assert entry is not None and (entry["status"], entry["planned"]) == ("stopped", None)
    observed = record(tmp_path, run).episodes["observed"]
    assert observed[0] == 0 and len(observed) > 4 and observed[-1] <= entry["observed"]
    assert records.ended(tmp_path, run) == entry


def test_records_do_not_depend_on_processes(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    runs = [replace(RUN, learner=each) for each in ("treethink", "oracle")]
    perform_all(runs, tmp_path, processes=2)
    for run in runs:
        assert comparable_record(tmp_path, run) == uninterrupted[run.learner]


# ------------------------------------------------------------------------------- records


def rows(n: int) -> list[dict[str, Any]]:
    values: dict[str, Any] = {"string": "ä 1", "bool": True, "int32": 3, "int64": 2**40}
    return [{name: values.get(kind, 0.1) for name, kind in EPISODES.items()} for _ in range(n)]


@given(st.integers(0, 5))
@settings(max_examples=5)
def test_written_episodes_can_be_read(tmp_path_factory: pytest.TempPathFactory, n: int) -> None:
    recording = Recording(3)
    recording.episodes = rows(n)
    data, long = recording.to_parts()
    recording = Recording.from_parts(json.loads(json.dumps(data)), long)
    folder = records.make_folder(tmp_path_factory.mktemp("records"))
    entry = records.entry(RUN, status="finished", last_error=0)
    records.write_run(folder, entry, recording)
    columns = record(folder, RUN).episodes
    assert list(columns) == list(EPISODES)
    for name, column in columns.items():
        assert column.tolist() == [row[name] for row in rows(n)]


def test_a_checkpoint_without_plans_can_be_read() -> None:
    data, long = Recording(3).to_parts()
    del data["episodes"]
    assert Recording.from_parts(data, long).episodes == []


def test_a_run_without_its_episodes_is_repeated(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    assert records.ended(tmp_path, RUN) is not None
    (tmp_path / "runs" / f"{RUN.key}.episodes.parquet").unlink()
    assert records.ended(tmp_path, RUN) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"actions": None}, "the column 'actions' is missing"),
        ({"actions": ["0", None]}, "'actions' must be string without gaps"),
        ({"setting": [1, 2]}, "'setting' must be string without gaps"),
        ({"normalised": [0.5, math.nan]}, "'normalised' has gaps"),
        ({"normalised": ["a", "b"]}, "'normalised' must be float64"),
        ({"exact": [1, 0]}, "'exact' must be bool without gaps"),
        ({"observed": [1.5, 2.5]}, "'observed' must be int32 without gaps"),
    ],
)
def test_invalid_columns_are_one_clear_error(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    perform(RUN, tmp_path)
    path = tmp_path / "runs" / f"{RUN.key}.episodes.parquet"
    stored = pq.read_table(path).slice(0, 2)
    columns = {name: stored.column(name) for name in stored.column_names} | change
    pq.write_table(pa.table({k: v for k, v in columns.items() if v is not None}), path)
    with pytest.raises(RecordsError, match=rf"episodes\.parquet: .*{message}"):
        _ = record(tmp_path, RUN).episodes


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("planned", 3, "planned must be a table or null"),
        ("planned", {"here": 3}, "planned, here must be a table"),
        ("planned", {"here": {}}, "planned, here: 'mean' is missing"),
        ("planned", {"here": {**summary(rows(1)), "mean": math.nan}}, "mean must be a finite"),
        ("planned", {"here": {**summary(rows(1)), "episodes": -1}}, "episodes must be a whole"),
        ("plans", [], "plans must be a table"),
        ("plans", {"here": {"world": "maze"}}, "plans, here: 'options' is missing"),
    ],
)
def test_an_invalid_entry_is_one_clear_error(name: str, value: Any, message: str) -> None:
    with pytest.raises(RecordsError, match=f"here.*{message}"):
        records.checked({**records.entry(RUN), name: value}, "here")


def test_records_without_plans_can_be_read(tmp_path: Path) -> None:
    old = replace(RUN, plans=(), examine=0)
    (entry,) = perform_all([old], tmp_path, processes=0)
    for name in ("plans", "planned"):
        del entry[name]
    records.write_json(tmp_path / "manifest.json", {"format": 1, "runs": [entry]})
    (run,) = records.read(tmp_path).runs
    assert run.plans == {} and run.planned is None and not len(run.episodes["score"])
    assert table([entry]).row_count == 1
    records.write_json(tmp_path / "runs" / f"{old.key}.json", entry)
    assert records.ended(tmp_path, old) == entry


def test_the_table_of_a_run_has_mean_scores(tmp_path: Path) -> None:
    entries = perform_all([RUN, replace(RUN, seed=2)], tmp_path, processes=0)
    console = Console(width=200)
    with console.capture() as output:
        console.print(table(entries))
    mean = np.mean([each["planned"]["here"]["mean"] for each in entries])
    assert "planned: mean score" in output.get() and f"here: {mean:.3f}" in output.get()
    row, _ = records.read(tmp_path).table()
    assert row["planned.here.mean"] == entries[0]["planned"]["here"]["mean"]
    assert row["plans.larger.every"] == 50 and row["plans.here.options.width"] == 5


# -------------------------------------------------------------------------------- configs

CONFIG = """
steps = 500
worlds = [{ name = "maze", options = { width = 6, goals = 1 } }, "maze-t"]
learners = ["treethink", "static"]
"""


def config(more: str) -> Config:
    return parse(CONFIG + more, "some.toml")


def test_every_learner_plans_in_every_world() -> None:
    runs = config(
        """
        [[plans]]
        steps = 20
        episodes = 7
        options = { goals = 4, height = 9 }
        [[plans]]
        label = "elsewhere"
        world = "maze"
        options = { goals = 3 }
        steps = 5
        episodes = 2
        simulations = 9
        every = 100
        """
    ).runs()
    assert len(runs) == 4
    elsewhere = Episodes("elsewhere", "maze", 5, 2, 9, 100, {"goals": 3})
    here = "goals 4, height 9"
    assert runs[0].plans == runs[1].plans == (
        Episodes(here, "maze", 20, 7, 100, None, {"width": 6, "goals": 4, "height": 9}),
        elsewhere,
    )  # fmt: skip
    assert runs[2].plans == (
        Episodes(here, "maze-t", 20, 7, options={"goals": 4, "height": 9}),
        elsewhere,
    )


def test_a_label_is_derived_from_world_and_options() -> None:
    required = "steps = 1\nepisodes = 1"
    labels = [
        config(f"[[plans]]\n{required}\n{more}").plans[0].label
        for more in ("", "world = 'maze'", "world = 'maze'\noptions = {goals = 3}")
    ]
    assert labels == ["the same world", "maze", "maze goals 3"]


def test_the_dict_of_a_config_has_its_plans() -> None:
    parsed = config("plans = [{ steps = 3, episodes = 2, every = 9, world = 'maze', label = 'x' }]")
    raw = json.loads(json.dumps(parsed.to_dict()))
    assert raw["plans"] == [
        {"label": "x", "steps": 3, "episodes": 2, "simulations": 100, "every": 9, "world": "maze",
         "options": {}},
    ]  # fmt: skip
    assert "plans" not in config("").to_dict()


def test_a_run_without_plans_keeps_its_key() -> None:
    key = Run("maze", "treethink", "TreeThink", seed=3, steps=100, window=10).key
    assert key == "maze.TreeThink.seed3.65bedfc2"
    assert replace(RUN, plans=()).key != RUN.key
    for change in ({"steps": 6}, {"episodes": 9}, {"every": 7}, {"options": {"goals": 1}}):
        assert replace(RUN, plans=(replace(HERE, **change),)).key != replace(RUN, plans=(HERE,)).key


def test_the_cost_of_plans_is_counted() -> None:
    assert replace(RUN, plans=()).n_predictions == 120
    assert RUN.n_predictions == 120 + 3 * 4 * 20 + 4 * 2 * 5 * 15
    assert _length(RUN) > _length(replace(RUN, plans=()))
    assert [LARGER.times(steps) for steps in (1, 49, 50, 51, 100)] == [2, 2, 2, 3, 3]


PLAN = "[[plans]]\nsteps = 3\nepisodes = 2\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("plans = 3", r"some.toml, plans must list one at least, got 3"),
        ("plans = []", r"some.toml, plans must list one at least"),
        ("plans = [3]", r"some.toml, plans\[0\] must be a table, got 3"),
        ("[[plans]]\nepisodes = 2", r"some.toml, plans\[0\]: 'steps' is missing"),
        ("[[plans]]\nsteps = 2", r"some.toml, plans\[0\]: 'episodes' is missing"),
        (PLAN + "simulation = 3", r"unknown key 'simulation' .*plans\[0\]. Did you mean"),
        (PLAN + "simulations = 0", r"plans\[0\], simulations must be at least 1, got 0"),
        (PLAN + "every = 0", r"plans\[0\], every must be at least 1, got 0"),
        (PLAN + "label = 7", r"plans\[0\], label must be a text, got 7"),
        (PLAN.replace("2", "10_001"), r"plans\[0\], episodes must be at most 10,000, got 10001"),
        (PLAN.replace("3", "100_001"), r"plans\[0\], steps must be at most 100,000, got 100001"),
        (PLAN + PLAN, r"plans\[1\]: there is a plan with the label 'the same world' already"),
        (PLAN + "world = 'mase'", r"unknown world 'mase' in some.toml, plans\[0\]. Did you mean"),
        (PLAN + "world = 'keys'", r"plans\[0\]: 'keys' has another schema than 'maze'"),
        (PLAN + "options = { widht = 9 }", r"unknown option 'widht' in some.toml, plans\[0\]"),
    ],
)
def test_errors_name_their_place_in_the_config(more: str, message: str) -> None:
    with pytest.raises(TreeThinkError, match=message):
        config(more)


@pytest.mark.parametrize("world", ["walls", "fish", "maze-scoreless"])
def test_a_world_without_a_score_is_refused(world: str) -> None:
    text = f"steps = 5\nworlds = ['{world}']\nlearners = ['static']\n{PLAN}"
    with pytest.raises(TreeThinkError, match=r"some.toml, plans\[0\]: .*score"):
        parse(text, "some.toml")
