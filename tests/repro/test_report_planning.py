"""Reports on planning: scores of episodes, and the verdicts that follow from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from synthetic import Unwritten, episode, made_up, write
from treethink.errors import RecordsError
from treethink.repro import report
from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.report.claims import CLAIMS, ORACLE, PLANNING, judge_all
from treethink.repro.report.data import Data
from treethink.repro.report.episodes import played, settings
from treethink.repro.report.judges.planning import does_the_same, near_optimal
from treethink.repro.report.plots.figures import PLOTS
from treethink.repro.report.plots.planning import planning as drawn
from treethink.repro.report.plots.style import styled
from treethink.repro.report.provenance import is_figure
from treethink.repro.report.tables import TABLES, planning

OURS = "TreeThink"
CONFIG = experiment(FIGURES["planning"], small=False)
assert CONFIG is not None
PLANS = CONFIG.runs()[0].to_dict()["plans"]
SIZES = list(PLANS)


def run(label: str = OURS, seed: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a run of the figure with four episodes of each size.

    `scores` is one number, or one for each size, or four for each of them.
    """
    scores: Any = changes.pop("scores", 1.0)
    actions: str = changes.pop("actions", "0 1")
    by_size = scores if isinstance(scores, list) else [scores] * 5
    rows = [
        episode(size, i, each[i] if isinstance(each, list) else each, actions)
        for size, each in zip(SIZES, by_size, strict=True)
        for i in range(4)
    ]
    changes = {"learned": True, "played": rows, **changes}
    return made_up(label=label, seed=seed, told={"plans": PLANS}, **changes)


def seeds(label: str = OURS, n: int = 3, **changes: Any) -> list[dict[str, Any]]:
    return [run(label, seed, **changes) for seed in range(n)]


def data(*runs: dict[str, Any], name: str = "planning", title: str = "made up") -> Data:
    return Data({name: Unwritten(*runs, title=title)})


# --------------------------------------------------------------------------- episodes


def test_episodes_of_all_seeds_are_pooled() -> None:
    mixed = [[1.0, 0.5, 0.5, -1.0], *[[1.0] * 4] * 4]
    episodes = played(data(*seeds(scores=mixed)).runs("planning"))
    assert list(episodes) == SIZES == ["8x8", "10x10", "12x12", "14x14", "16x16"]
    small = episodes["8x8"]
    assert len(small.scores) == 12 and small.optimal == 3
    assert small.mean == pytest.approx(0.25)
    assert small.deviation == pytest.approx(np.std(mixed[0]))
    assert small.milliseconds == 500 and str(small) == "0.25 ± 0.75"
    assert set(small.actions) == {(seed, i) for seed in range(3) for i in range(4)}


def test_only_the_last_episodes_of_finished_runs_count() -> None:
    early = [episode("8x8", i, -1.0, observed=0) for i in range(4)]
    late = [episode("8x8", i, 1.0, observed=900) for i in range(2)]
    entry = {"plans": PLANS}
    whole = made_up(told=entry, played=[*early, *late])
    stopped = made_up(seed=1, told=entry, played=early, status="stopped", observed=500)
    runs = data(whole, stopped).runs("planning")
    episodes = played(runs)
    assert list(episodes) == ["8x8"] and episodes["8x8"].scores.tolist() == [1.0, 1.0]
    assert settings(runs) == SIZES
    assert played([]) == {} and played(data(made_up()).runs("planning")) == {}


def test_bounded_scores_and_redrawn_levels_are_counted() -> None:
    rows = [episode("8x8", i, 0.5, exact=i > 0, redrawn=i) for i in range(3)]
    (row,) = planning(data(made_up(told={"plans": PLANS}, played=rows)), "planning").rows
    assert row == (
        "8x8", OURS, "0.500", "0.000", "3", "0%", "3", "1 times only bounded", "500",
    )  # fmt: skip


# --------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("scores", "answer"),
    [(1.0, "yes"), (0.9, "yes"), ([1.0, 1.0, 1.0, 1.0, 0.89], "partly"), (0.5, "no")],
)
def test_near_optimal_is_a_mean_of_nine_tenths_in_every_size(scores: Any, answer: str) -> None:
    assert near_optimal("planning", OURS)(data(*seeds(scores=scores))).answer == answer


def test_the_verdict_has_means_and_deviations() -> None:
    verdict = near_optimal("planning", OURS)(
        data(*seeds(scores=[[1.0, 1.0, 0.0, 0.0], *[1.0] * 4]))
    )
    assert verdict.ours.startswith("8x8 0.50 ± 0.50, 10x10 1.00 ± 0.00")
    assert verdict.why == "The mean score is 0.9 or more in 4 of 5 settings, not in 8x8 (0.50)."
    verdict = near_optimal("planning", OURS)(data(*seeds()))
    assert verdict.why.endswith("in 5 of 5 settings: 1.00 ± 0.00 (8x8) to 1.00 ± 0.00 (16x16).")


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], "it was not run"),
        (seeds(n=2), "2 seeds only, where 3 are needed"),
        ([*seeds(n=2), run(seed=2, status="failed")], "of 3 runs, 1 failed"),
        (seeds(played=[]), "nothing was played"),
    ],
)
def test_there_is_no_verdict_without_enough_data(runs: Any, message: str) -> None:
    verdict = near_optimal("planning", OURS)(data(*runs))
    assert verdict.answer == "not enough data" and message in verdict.why


def test_planners_agree_if_every_action_is_equal() -> None:
    judge = does_the_same("planning", OURS, ORACLE)
    oracle = seeds(ORACLE)
    verdict = judge(data(*seeds(scores=0.7), *oracle))
    assert (verdict.answer, verdict.ours, verdict.seeds) == ("yes", "60 of 60 episodes", "3")
    assert "action by action. The mean score is 0.70 ± 0.00 (8x8) to 0.70" in verdict.why
    other = judge(data(*seeds(n=2), run(seed=2, actions="0 2"), *oracle))
    assert (other.answer, other.ours) == ("partly", "40 of 60 episodes")
    assert judge(data(*seeds(actions="1 1"), *oracle)).answer == "no"


def test_episodes_in_different_levels_are_different() -> None:
    moved = seeds()
    for each in moved:
        for row in each["played"]:
            row["level"] += 1_000_000
    verdict = does_the_same("planning", OURS, ORACLE)(data(*moved, *seeds(ORACLE)))
    assert (verdict.answer, verdict.ours) == ("no", "0 of 60 episodes")


def test_only_exact_models_are_compared_with_the_oracle() -> None:
    judge = does_the_same("planning", OURS, ORACLE)
    inexact = run(seed=2, learned=False, actions="3 3")
    verdict = judge(data(*seeds(n=2), inexact, *seeds(ORACLE)))
    assert (verdict.answer, verdict.ours) == ("yes", "40 of 40 episodes")
    assert "2 of 3 seeds have an exact model" in verdict.why
    none = judge(data(*seeds(learned=False), *seeds(ORACLE)))
    assert none.answer == "not enough data" and "no seed has an exact model" in none.why
    assert judge(data(*seeds())).answer == "not enough data"
    apart = [run(ORACLE, seed) for seed in (7, 8, 9)]
    assert "no episode in common" in judge(data(*seeds(), *apart)).why


def test_the_paper_makes_a_claim_only_about_maze() -> None:
    of = {name: [c for c in CLAIMS if name in c.figures] for name in PLANNING.values()}
    assert {name: [c.paper for c in each] for name, each in of.items()} == {
        "planning": ["near-optimal", "not stated"],
        "planning-coins": ["not stated"],
        "planning-keys": ["not stated"],
    }
    judgements = [
        e for e in judge_all(data(*seeds(), *seeds(ORACLE))) if e.claim.home == "planning"
    ]
    assert [each.verdict.answer for each in judgements] == ["yes", "yes"]
    small = judge_all(data(*seeds(n=1), *seeds(ORACLE, n=1), title="planning (quick)"))
    answers = [(e.verdict.answer, e.quick) for e in small if e.claim.home == "planning"]
    assert answers == [("yes", True)] * 2


# --------------------------------------------------------------------------- provenance


@pytest.mark.parametrize(
    ("change", "same"),
    [({}, True), ({"episodes": 5}, True), ({"every": 9}, True), ({"steps": 11}, False),
     ({"simulations": 10}, False), ({"options": {"width": 8}}, False), ({"world": "x"}, False)],
)  # fmt: skip
def test_other_plans_are_a_custom_experiment(change: dict[str, Any], same: bool) -> None:
    plans = {**PLANS, "8x8": {**PLANS["8x8"], **change}}
    runs = Unwritten(made_up(told={"plans": plans})).runs
    assert is_figure("planning", runs) == same
    assert not is_figure("planning", Unwritten(made_up()).runs)  # without plans
    assert not is_figure("maze", Unwritten(made_up(told={"plans": PLANS})).runs)


# --------------------------------------------------------------------------- report


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return records of the figure and of a custom experiment that plans."""
    top = tmp_path_factory.mktemp("records")
    write(top / "planning", [*seeds(scores=0.95), *seeds(ORACLE, scores=0.95)], "planning")
    plans = {"of mine": {**PLANS["8x8"], "every": 10}}
    rows = [episode("of mine", i, 0.25, "") for i in range(3)]
    own = [
        made_up(world, label, told={"plans": plans}, played=rows)
        for world in ("maze", "mine:World")
        for label in ("a", "b")
    ]
    for i, each in enumerate(own):
        each["entry"]["key"] = f"own{i}"
    write(top / "own", own, "own")
    report.write(top)
    return top


def test_the_figure_has_tables_of_planning_and_learning_and_verdicts(folder: Path) -> None:
    text = (folder / "report" / "results.md").read_text(encoding="utf-8")
    part = text.split("### Planning in maze")[1].split("### own")[0]
    assert "Figs. 23, 26. A planner uses the learned model" in part
    assert "| 16x16 | Oracle (the world itself) | 0.950 | 0.000 | 12 | 0% | 0 | exactly |" in part
    assert "| TreeThink | 1,000 | 100 (100) | 3 of 3 | 3 of 3 | all (all) |" in part
    assert "| 60 of 60 episodes | 3 | yes |" in part and "near-optimal | 8x8 0.95 ± 0.00" in part


def test_a_custom_experiment_has_a_plot_and_a_table_of_planning(folder: Path) -> None:
    text = (folder / "report" / "results.md").read_text(encoding="utf-8")
    part = text.split("### own")[1]
    assert "](own.svg)" in part and "](own.planning.svg)" in part
    assert "| learned in | setting | learner | mean score |" in part
    assert "| mine:World | of mine | b | 0.250 | 0.000 | 3 | 0% |" in part
    assert "1 is the best possible score" in part
    assert (folder / "report" / "own.planning.png").is_file()
    plot = (folder / "report" / "own.planning.svg").read_text(encoding="utf-8")
    assert ">mine:World: normalised score<" in plot and ">of mine<" in plot


def test_damaged_episodes_are_one_clear_error(tmp_path: Path) -> None:
    write(tmp_path / "planning", seeds(), "planning")
    path = next((tmp_path / "planning" / "runs").glob("*.episodes.parquet"))
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(RecordsError, match=r"cannot read .*episodes\.parquet"):
        report.write(tmp_path)


def test_panels_have_means_bands_and_times_on_both_scales() -> None:
    mixed = [[1.0, 1.0, 0.0, 0.0], *[[1.0] * 4] * 4]
    records = data(*seeds(scores=mixed), *seeds(ORACLE))
    with styled():
        figure = PLOTS["planning"](records, "planning")
    score, linear, log = figure.axes
    lines = {str(line.get_label()): line for line in score.lines}
    assert np.asarray(lines[OURS].get_ydata()).tolist() == [0.5, 1, 1, 1, 1]
    levels = [line.get_ydata() for line in score.lines if line.get_label() not in (OURS, ORACLE)]
    assert [list(np.asarray(each)) for each in levels] == [[0, 0], [1, 1]]
    (band,) = (c.get_paths()[0].vertices for c in score.collections[:1])
    assert band[:, 1].min() == 0.0 and band[:, 1].max() == 1.0  # one deviation either way
    assert [each.get_text() for each in score.get_xticklabels()] == SIZES
    assert (linear.get_yscale(), log.get_yscale()) == ("linear", "log")
    for axes in (linear, log):
        assert np.asarray(axes.lines[0].get_ydata()).tolist() == [500.0] * 5
        low, high = axes.get_ylim()
        assert low < 500 < high
    assert "log scale" in log.get_ylabel()


def test_the_axes_show_all_times() -> None:
    slow = seeds(ORACLE)
    for each in slow:
        for row in each["played"]:
            row["seconds"] = 40.0
    with styled():
        figure = drawn(data(*seeds(), *slow), "planning")
    assert all(axes.get_ylim()[1] > 40_000 for axes in figure.axes[1:])


def test_without_episodes_the_panels_say_so_and_the_table_is_empty() -> None:
    nothing = data(*seeds(status="missing", observed=0, played=[]))
    with styled():
        figure = PLOTS["planning"](nothing, "planning")
    assert all("no records" in [t.get_text() for t in axes.texts] for axes in figure.axes)
    assert TABLES["planning"](nothing, "planning").rows == ()
