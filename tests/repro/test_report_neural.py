"""Reports on networks: when zero error is reached and lost, and how well they plan."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synthetic import Unwritten, episode, made_up, write
from treethink.repro import report
from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.report.claims import (
    BUILT,
    CLAIMS,
    LARGEST,
    NETWORKS,
    OURS,
    SMALLEST,
    judge_all,
)
from treethink.repro.report.data import Data
from treethink.repro.report.episodes import by_stage, played
from treethink.repro.report.episodes import stages as stages_of
from treethink.repro.report.judges import neural
from treethink.repro.report.judges import planning as judges
from treethink.repro.report.judges.common import Judge
from treethink.repro.report.plots.figures import NEURAL_COLUMNS, PLOTS
from treethink.repro.report.plots.style import styled
from treethink.repro.report.provenance import is_figure
from treethink.repro.report.series import column
from treethink.repro.report.statistics import Bounds
from treethink.repro.report.tables import TABLES
from treethink.repro.report.zero_error import STRETCH, keeps, longest, lost, reached, reaches

MILLION = 1_000_000
UNKNOWN = "not enough data"
CONFIG = experiment(FIGURES["neural-planning"], small=False)
assert CONFIG is not None
PLANS = CONFIG.runs()[0].to_dict()["plans"]
SIZES = list(PLANS)
TRANSFER = {"world": "maze", "options": {"width": 16, "height": 16}, "every": 10_000, "steps": 100}


def network(label: str = LARGEST, seed: int = 0, wrong: Any = (), **changes: Any) -> dict[str, Any]:
    """Return a long run with an error of 1 at each of these steps."""
    steps = changes.pop("steps", MILLION)
    errors = [(step, 1.0) for step in wrong]
    last = max(wrong, default=0)
    changes = {"window": 10_000, "told": {"transfer": TRANSFER}, **changes}
    return made_up("maze", label, seed, steps, last, errors=errors, **changes)


def seeds(label: str = LARGEST, n: int = 3, **changes: Any) -> list[dict[str, Any]]:
    return [network(label, seed, **changes) for seed in range(n)]


def data(*runs: dict[str, Any], name: str = "neural", title: str = "made up") -> Data:
    return Data({name: Unwritten(*runs, title=title)})


def errors_throughout(until: int = MILLION, every: int = STRETCH) -> list[int]:
    """Return error steps at regular intervals."""
    return list(range(every, until + 1, every))


def errors_outside(begin: int, end: int | None = None) -> list[int]:
    """Return error steps up to one observation and from another one on."""
    return errors_throughout(begin) + (
        [] if end is None else list(range(end, MILLION + 1, STRETCH))
    )


# --------------------------------------------------------------------------- zero error


def record_of(wrong: list[int], observed: int = MILLION) -> Any:
    return Unwritten(network(wrong=wrong, steps=observed)).runs[0]


def test_zero_error_starts_with_the_first_long_stretch_and_ends_with_the_last() -> None:
    run = record_of(errors_outside(340_000, 770_000))
    assert (reached(run), lost(run)) == (Bounds(340_000, 340_000), Bounds(770_000, 770_000))
    assert reaches(run) and not keeps(run) and longest(run) == 429_999
    kept = record_of(errors_outside(200_000))
    assert keeps(kept) and lost(kept) == Bounds(MILLION, math.inf)
    never = record_of(errors_throughout())
    assert not reaches(never) and lost(never) is None
    assert reached(never) == Bounds(MILLION, math.inf)
    assert reached(record_of([])) == Bounds(0, 0) and longest(record_of([])) == MILLION
    relapsed = record_of(
        sorted({*errors_outside(340_000, 770_000), 500_000})
    )  # with one error in between
    assert (reached(relapsed), lost(relapsed)) == (reached(run), lost(run)) and not keeps(relapsed)
    lost_early = record_of(
        [each for each in errors_outside(340_000, 770_000) if each <= 900_000]
    )  # without errors at the end
    assert lost(lost_early) == Bounds(MILLION, math.inf) and not keeps(lost_early)


def test_a_stretch_needs_ten_thousand_observations() -> None:
    assert not reaches(record_of([100, 100 + STRETCH, *errors_throughout()]))
    later = [each for each in errors_throughout() if each > 200_000]
    assert reached(record_of([100, 100 + STRETCH + 1, *later])).low == 100
    tail = record_of(
        [*errors_throughout(MILLION - STRETCH), MILLION - STRETCH + 1]
    )  # a stretch may have begun there
    assert not reaches(tail) and reached(tail) == Bounds(MILLION - STRETCH + 1, math.inf)


@given(st.sets(st.integers(1, 300_000), max_size=12))
def test_stretches_match_a_walk_over_all_errors(wrong: set[int]) -> None:
    run = record_of(sorted(wrong), 300_000)
    ends = [0, *sorted(wrong), 300_001]
    stretches = [(a, b) for a, b in pairwise(ends) if b - a - 1 >= STRETCH]
    assert reaches(run) == bool(stretches)
    if stretches:
        assert reached(run).low == stretches[0][0] and keeps(run) == (stretches[0][1] == 300_001)
        to_the_end = stretches[-1][1] == 300_001
        end = (
            Bounds(300_000, math.inf) if to_the_end else Bounds(stretches[-1][1], stretches[-1][1])
        )
        assert lost(run) == end


# --------------------------------------------------------------------------- verdicts: learning


def answers(judge: Judge, *runs: dict[str, Any], name: str = "neural") -> str:
    return judge(data(*runs, name=name)).answer


def test_no_network_keeps_zero_error() -> None:
    judge = neural.none_keeps("neural", (SMALLEST, LARGEST))
    small = seeds(SMALLEST, wrong=errors_throughout())
    lost_again = seeds(wrong=errors_outside(340_000, 770_000))
    assert answers(judge, *small, *lost_again) == "yes"
    one = [
        *seeds(n=2, wrong=errors_outside(340_000, 770_000)),
        network(seed=2, wrong=errors_outside(100_000)),
    ]
    verdict = judge(data(*small, *one))
    assert (verdict.answer, verdict.ours) == ("partly", "kept by 1 of 6 runs")
    assert "NPE_1_1 0 and 0 of 3, NPE_8_3 3 and 1 of 3" in verdict.why
    assert answers(judge, *small, *seeds(wrong=errors_outside(100_000))) == "no"
    short = seeds(SMALLEST, wrong=[5], steps=2_000), seeds(wrong=[5], steps=2_000)
    verdict = judge(data(*short[0], *short[1]))
    assert verdict.answer == UNKNOWN and "runs of 2,000 observations are too short" in verdict.why


@pytest.mark.parametrize(
    ("begins", "answer", "message"),
    [
        ((330_000, 340_000, 350_000), "yes", "the median is 340,000, the paper's 340,000"),
        ((100_000, 110_000, 120_000), "partly", "3 of 3 seeds reach zero error"),
        ((340_000, 340_000, None), "partly", "2 of 3 seeds reach zero error"),
        ((340_000, None, None), "partly", "the median is >1,000,000"),
        ((None, None, None), "no", "0 of 3 seeds reach zero error within 1,000,000"),
        ((50_000, 340_000, 800_000), UNKNOWN, "may be anything from 50,000 to 800,000"),
    ],
)
def test_reaching_zero_error_is_judged_by_the_median(
    begins: tuple[int | None, ...], answer: str, message: str
) -> None:
    runs = [
        network(seed=seed, wrong=errors_throughout() if at is None else errors_outside(at, 900_000))
        for seed, at in enumerate(begins)
    ]
    verdict = neural.reaches_zero("neural", LARGEST, 340_000)(data(*runs))
    assert verdict.answer == answer and message in verdict.why


@pytest.mark.parametrize(
    ("ends", "answer"),
    [
        ((760_000, 770_000, 780_000), "yes"),
        ((500_000, 500_000, 500_000), "partly"),
        ((770_000, 770_000, None), "partly"),
        ((None, None, None), "no"),
    ],
)
def test_losing_zero_error_is_judged_by_the_runs_that_reach_it(
    ends: tuple[int | None, ...], answer: str
) -> None:
    runs = [network(seed=seed, wrong=errors_outside(340_000, at)) for seed, at in enumerate(ends)]
    judge = neural.loses_zero("neural", LARGEST, 770_000)
    assert answers(judge, *runs) == answer
    never = judge(data(*seeds(wrong=errors_throughout())))
    assert (never.answer, never.ours) == ("no", "never")
    assert answers(judge, *runs[:2]) == UNKNOWN


@pytest.mark.parametrize(
    ("last", "begin", "answer", "better"),
    [
        (1_700, 340_000, "yes", False),
        (100, 340_000, "partly", True),  # a larger gain
        (10_000, 340_000, "partly", False),
        (1_700, None, "partly", True),  # only a bound
        (20_000, 10_000, "no", False),
    ],
)
def test_the_ratio_of_observations_is_judged(
    last: int, begin: int | None, answer: str, better: bool
) -> None:
    fast = [made_up("maze", OURS, seed, 60_000, last) for seed in range(3)]
    slow = seeds(wrong=errors_throughout() if begin is None else errors_outside(begin, 700_000))
    judge = neural.fewer_observations("neural", OURS, LARGEST, 200)
    verdict = judge(data(*fast, *slow))
    assert (verdict.answer, verdict.better) == (answer, better)
    assert answers(judge, *fast[:1], *slow) == UNKNOWN
    others = [network(seed=seed, wrong=errors_outside(340_000)) for seed in (7, 8, 9)]
    assert "no seed in common" in judge(data(*fast, *others)).why


def test_the_hand_built_network_has_no_errors() -> None:
    judge = neural.flawless("neural", BUILT)
    right: dict[str, Any] = {"steps": 20_000, "transfer_error": 0.0, "learned": True}
    verdict = judge(data(*seeds(BUILT, **right)))
    assert (verdict.answer, verdict.ours) == (
        "yes",
        "0 errors in 60,000 steps, at most 0 elsewhere",
    )
    assert answers(judge, *seeds(BUILT, n=2, **right), network(BUILT, 2, [9], **right)) == "no"
    assert answers(judge, *seeds(BUILT, **{**right, "transfer_error": 0.1})) == "no"
    imperfect = judge(data(*seeds(BUILT, **{**right, "learned": False})))
    assert (
        imperfect.answer == "partly"
        and "3 of 3 runs have errors in held-out transitions" in imperfect.why
    )
    assert answers(judge, *seeds(BUILT, n=2, **right)) == UNKNOWN
    planned = neural.flawless("neural-planning", BUILT)
    name = "neural-planning"
    assert answers(planned, *planning(BUILT, {100: 1.0}, last=0), name=name) == "yes"
    poor = planning(BUILT, {100: [1.0, 0.5, 1.0, 1.0, 1.0]}, last=0)
    verdict = planned(data(*poor, name=name))
    assert verdict.answer == "partly" and "not near-optimal in 10x10" in verdict.why


@pytest.mark.parametrize(
    ("loss", "answer"), [(4e-7, "yes"), (1e-3, "partly"), (0.2, "no"), (None, UNKNOWN)]
)
def test_the_loss_is_zero_if_the_error_is(loss: float | None, answer: str) -> None:
    wrong = errors_outside(500_000)
    here = np.where(np.arange(100) < 50, 0.3, loss or 0.0)
    runs = seeds(
        wrong=errors_throughout() if loss is None else wrong, loss_vectors=here, loss_rewards=0.0
    )
    verdict = neural.loss_ends_with_error("neural", [LARGEST])(data(*runs))
    assert verdict.answer == answer
    if loss is not None:
        assert "in the 150 windows without an error, 0.3 in others" in verdict.why


def test_the_loss_is_the_sum_of_its_measured_parts() -> None:
    parts = np.array([np.nan, 1.0, 2.0])
    (run,) = Unwritten(
        network(steps=30_000, loss_vectors=parts, loss_rewards=np.array([np.nan, 0.5, 0.0]))
    ).runs
    assert column(run, "loss").tolist()[1:] == [1.5, 2.0] and np.isnan(column(run, "loss")[0])
    (none,) = Unwritten(network("static", steps=30_000)).runs
    assert np.isnan(column(none, "loss")).all()


def test_networks_are_better_than_static_in_the_training_world() -> None:
    judge = neural.better_here("neural", (SMALLEST, LARGEST), "static")
    static = [
        made_up("maze", "static", s, 1_000, errors=[(i, 1.0) for i in range(1, 1_001)], last=1_000)
        for s in range(3)
    ]
    good, bad = errors_throughout(), [(i, 900.0) for i in range(500, MILLION, 500)]
    better = [*seeds(SMALLEST, wrong=good), *seeds(wrong=good)]
    verdict = judge(data(*better, *static))
    assert verdict.answer == "yes" and "2 of 2 networks" in verdict.why
    worse = [made_up("maze", LARGEST, s, MILLION, MILLION, errors=bad, window=10_000)
             for s in range(3)]  # fmt: skip
    assert answers(judge, *seeds(SMALLEST, wrong=good), *worse, *static) == "partly"
    only_bad = neural.better_here("neural", (LARGEST,), "static")
    assert answers(only_bad, *worse, *static) == "no"
    assert answers(judge, *better) == UNKNOWN


@pytest.mark.parametrize(
    ("below", "answer"), [((0, 0), "yes"), ((5, 0), "yes"), ((30, 0), "partly"), ((90, 90), "no")]
)
def test_networks_are_almost_always_worse_after_transfer(
    below: tuple[int, int], answer: str
) -> None:
    judge = neural.worse_elsewhere("neural", (SMALLEST, LARGEST), "static")
    runs = [
        run
        for label, few in zip((SMALLEST, LARGEST), below, strict=True)
        for run in seeds(label, wrong=[9], transfer_error=np.where(np.arange(100) < few, 0.5, 50.0))
    ]
    static = seeds("static", transfer_error=1.8, steps=100_000)
    verdict = judge(data(*runs, *static))
    assert verdict.answer == answer and "whose error there is 1.8" in verdict.why
    dips = [label for label, few in zip((SMALLEST, LARGEST), below, strict=True) if few]
    assert f"Sometimes below it: {', '.join(dips) or 'none'}." in verdict.why
    assert answers(judge, *runs) == UNKNOWN
    unasked = judge(data(*seeds(SMALLEST), *seeds(), *static))
    assert "not all were asked about larger levels" in unasked.why


# --------------------------------------------------------------------------- verdicts: planning


def planning(
    label: str, scores: dict[int, Any], n: int = 3, **changes: Any
) -> list[dict[str, Any]]:
    """Return runs with two episodes per size and stage: one score, or one for each size."""
    seconds, last = changes.pop("seconds", 0.5), changes.pop("last", 100)
    rows = [
        episode(size, i, each, observed=stage, seconds=seconds)
        for stage, by in scores.items()
        for size, each in zip(SIZES, by if isinstance(by, list) else [by] * 5, strict=True)
        for i in range(2)
    ]
    return [
        made_up("maze", label, seed, max(scores), last, errors=None if last else [],
                told={"plans": PLANS}, played=rows, learned=True, **changes)
        for seed in range(n)
    ]  # fmt: skip


def planning_data(*runs: dict[str, Any]) -> Data:
    return data(*runs, name="neural-planning")


def test_episodes_are_grouped_by_stage() -> None:
    runs = planning_data(*planning(LARGEST, {0: 0.0, 500: [0.9, 0, 0, 0, -0.8], 1_000: -0.5})).runs(
        "neural-planning"
    )
    assert stages_of(runs) == [0, 500, 1_000]
    episodes = by_stage(runs)
    assert [episodes[stage]["16x16"].mean for stage in episodes] == [0.0, pytest.approx(-0.8), -0.5]
    assert played(runs)["8x8"].mean == -0.5 == played(runs, 1_000)["8x8"].mean
    assert played(runs, 77) == {} and len(episodes[0]["8x8"].scores) == 6
    assert judges.best_stage(episodes, "8x8") == 500 and judges.best_stage(episodes, "x") is None
    assert list(judges.trained(episodes)) == [500, 1_000]


@pytest.mark.parametrize(
    ("scores", "answer"),
    [
        ([0.8, -0.1, -0.5, -0.9, -0.9], "yes"),
        ([0.8, 0.1, -0.5, -0.9, -0.9], "partly"),
        ([0.2, -0.1, -0.5, -0.9, -0.9], "no"),
        ([0.9, 0.8, 0.7, 0.6, 0.6], "partly"),
        ([0.2, 0.3, 0.3, 0.3, 0.3], "no"),
    ],
)
def test_a_planner_fails_to_transfer(scores: list[float], answer: str) -> None:
    judge = judges.fails_to_transfer("neural-planning", LARGEST, "8x8")
    # Sizes are compared at the best stage, which is neither the last nor the first here.
    verdict = judge(planning_data(*planning(LARGEST, {0: 1.0, 500: scores, 1_000: -1.0})))
    assert verdict.answer == answer and verdict.why.startswith("After 500 observations")
    assert verdict.ours.startswith(f"8x8 {scores[0]:.2f}, 10x10 {scores[1]:.2f}")
    assert judge(planning_data(*planning(LARGEST, {500: scores}, n=2))).answer == UNKNOWN
    nothing = judge(planning_data(*planning(LARGEST, {500: scores}, status="stopped")))
    assert nothing.answer == UNKNOWN
    assert "nothing was played" in judge(planning_data(*seeds())).why


@pytest.mark.parametrize(
    ("larger", "answer"), [(-0.9, "yes"), (-0.75, "yes"), (-0.7, "no"), (None, "partly")]
)
def test_plans_are_almost_as_bad_as_possible(larger: float | None, answer: str) -> None:
    three = [-0.9, -0.2, -0.2] if larger is None else [larger] * 3
    judge = judges.almost_pessimal("neural-planning", LARGEST, SIZES[2:])
    verdict = judge(planning_data(*planning(LARGEST, {0: -1.0, 1_000: [0.9, 0.0, *three]})))
    assert verdict.answer == answer and verdict.ours.startswith("12x12")
    assert judge(planning_data(*seeds())).answer == UNKNOWN


@pytest.mark.parametrize(
    ("ours", "theirs", "answer"),
    [
        (0.1, [0.8, 0.0, -0.5, -0.9, -0.9], "yes"),
        (0.9, [0.8, 0.0, -0.5, -0.9, -0.9], "partly"),  # stable, but good
        ([0.4, 0.0, -0.5, -0.9, -1.0], 0.0, "partly"),  # poor, but not stable
        ([0.9, 0.0, -0.5, -0.9, -1.0], 0.0, "no"),
    ],
)
def test_poor_but_stable(ours: Any, theirs: Any, answer: str) -> None:
    judge = judges.poor_but_stable("neural-planning", SMALLEST, LARGEST)
    small = planning(SMALLEST, {0: 1.0, 1_000: ours})
    verdict = judge(planning_data(*small, *planning(LARGEST, {0: 0.0, 1_000: theirs})))
    assert verdict.answer == answer
    assert judge(planning_data(*small)).answer == UNKNOWN
    assert "nothing was played" in judge(planning_data(*seeds(SMALLEST), *seeds())).why


def runs_taking(label: str, *factors: float) -> list[dict[str, Any]]:
    """Return runs whose episodes take this many seconds in each size."""
    runs = planning(label, {1_000: 1.0})
    for run in runs:
        for row in run["played"]:
            row["seconds"] = factors[SIZES.index(row["setting"]) % len(factors)]
    return runs


def test_the_fastest_planner_is_fastest_in_every_size() -> None:
    judge = judges.fastest("neural-planning", OURS, (SMALLEST, BUILT))
    tree = runs_taking(OURS, 0.01)
    verdict = judge(planning_data(*tree, *runs_taking(SMALLEST, 1.0), *runs_taking(BUILT, 2.0)))
    assert (verdict.answer, verdict.ours) == ("yes", "100 to 100 times")
    assert (
        judge(
            planning_data(*tree, *runs_taking(SMALLEST, 1.0), *runs_taking(BUILT, 1, 1, 0.001))
        ).answer
        == "partly"
    )
    assert (
        judge(planning_data(*tree, *runs_taking(SMALLEST, 1.0), *runs_taking(BUILT, 0.001))).answer
        == "no"
    )
    missing = judge(planning_data(*tree, *runs_taking(SMALLEST, 1.0)))
    assert missing.answer == UNKNOWN and "NPE* (it was not run)" in missing.why
    unplayed = judge(planning_data(*seeds(OURS), *seeds(SMALLEST), *seeds(BUILT)))
    assert "nothing was played" in unplayed.why


def test_two_planners_take_the_same_time() -> None:
    judge = judges.as_fast("neural-planning", BUILT, SMALLEST)
    one = runs_taking(SMALLEST, 1.0)
    assert judge(planning_data(*runs_taking(BUILT, 1.2), *one)).answer == "yes"
    assert judge(planning_data(*runs_taking(BUILT, 1.0, 3.0), *one)).answer == "partly"
    assert judge(planning_data(*runs_taking(BUILT, 3.0), *one)).answer == "no"
    assert judge(planning_data(*one)).answer == UNKNOWN


def all_learners() -> list[dict[str, Any]]:
    """Return runs of all learners of `neural`, with about the results of the paper."""
    far = {"transfer_error": 50.0, "loss_vectors": 1e-8, "loss_rewards": 0.0, "observe_us": 900.0}
    runs = [run for label in NETWORKS[:3] for run in seeds(label, wrong=errors_throughout(), **far)]
    runs += seeds(LARGEST, wrong=errors_outside(340_000, 770_000), **far)
    runs += seeds(BUILT, steps=20_000, transfer_error=0.0, learned=True)
    runs += seeds(OURS, wrong=[5, 1_700], steps=20_000, transfer_error=0.0, learned=True)
    nothing = list(range(1, 100_001))
    return runs + seeds("static", wrong=nothing, steps=100_000, transfer_error=1.8)


def all_planners() -> list[dict[str, Any]]:
    """Return runs of all learners of `neural-planning`, with about the results of the paper."""
    worse = [0.8, -0.2, -0.8, -0.9, -0.95]
    return [
        *planning(SMALLEST, {0: 0.0, 500: 0.1, 1_000: 0.05}, seconds=2.0),
        *planning(LARGEST, {0: 0.0, 500: worse, 1_000: worse}, seconds=9.0),
        *planning(BUILT, {0: 0.98, 100: 0.98}, last=0, seconds=2.1),
        *planning(OURS, {0: 0.0, 1_000: 0.97}, seconds=0.01),
    ]


def test_the_papers_results_confirm_its_claims() -> None:
    both = Data(
        {"neural": Unwritten(*all_learners()), "neural-planning": Unwritten(*all_planners())}
    )
    for name in ("neural", "neural-planning"):
        answers_by_claim = {
            e.claim.text: e.verdict.answer for e in judge_all(both) if e.claim.home == name
        }
        assert len(answers_by_claim) == 8 == sum(name in claim.figures for claim in CLAIMS)
        assert set(answers_by_claim.values()) == {"yes"}, answers_by_claim


def test_one_seed_gives_a_verdict_only_if_marked_as_quick() -> None:
    one = [run for run in all_planners() if run["entry"]["seed"] == 0]
    few = [e for e in judge_all(planning_data(*one)) if e.claim.home == "neural-planning"]
    assert {each.verdict.answer for each in few} == {UNKNOWN}
    small = judge_all(data(*one, name="neural-planning", title="planning with networks (quick)"))
    judged = [(e.verdict.answer, e.quick) for e in small if e.claim.home == "neural-planning"]
    assert judged == [("yes", True)] * 8


# --------------------------------------------------------------------------- plots, tables, page


def draw_plot(kind: str, records: Data) -> Any:
    with styled():
        return PLOTS[kind](records, kind)


def test_every_quantity_has_both_scales_and_gaps_at_zero() -> None:
    figure = draw_plot("neural", data(*all_learners()))
    assert len(figure.axes) == 2 * len(NEURAL_COLUMNS) == 10
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"] * 5
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[::2] == list(NEURAL_COLUMNS.values())
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    values = np.asarray(lines[LARGEST].get_ydata())
    assert np.isnan(values[40:70]).all() and not np.isnan(values[:30]).any()
    assert np.isnan(np.asarray(lines[BUILT].get_ydata())).all()
    static = [line for line in figure.axes[4].lines if list(line.get_xdata()) == [0, 1]]
    assert [list(line.get_ydata()) for line in static] == [[pytest.approx(1.8)] * 2]
    loss = {line.get_label() for line in figure.axes[2].lines}
    assert set(NETWORKS) <= loss and "static" not in loss


def test_scores_are_drawn_over_observations_and_over_sizes() -> None:
    figure = draw_plot("neural-planning", planning_data(*all_planners()))
    small, large, free, *rest = figure.axes
    assert small.get_title() == "NPE_1_1: normalised score" and not free.axison
    lines = {line.get_label(): line for line in large.lines}
    assert list(lines)[:5] == SIZES
    assert np.asarray(lines["8x8"].get_xdata()).tolist() == [0, 500, 1_000]
    assert np.asarray(lines["8x8"].get_ydata()).tolist() == pytest.approx([0.0, 0.8, 0.8])
    across = {line.get_label(): line for line in rest[1].lines}
    assert [each for each in across if each.startswith("@")] == ["@0", "@500", "@1k"]
    assert np.asarray(across["@1k"].get_ydata())[4] == pytest.approx(-0.95)
    scores, linear, log = rest[3:]
    assert {e.get_label() for e in scores.lines if "_" not in e.get_label()[:1]} == {BUILT, OURS}
    assert (linear.get_yscale(), log.get_yscale()) == ("linear", "log")
    assert {line.get_label() for line in log.lines} == {SMALLEST, LARGEST, BUILT, OURS}


def test_bands_of_networks_are_a_quarter_of_a_deviation() -> None:
    runs = planning(LARGEST, {0: 0.0, 1_000: 0.0})
    for run in runs:
        for row in run["played"]:
            row["normalised"] = 0.8 if row["episode"] else -0.8
    band = (
        draw_plot("neural-planning", planning_data(*runs))
        .axes[0]
        .collections[0]
        .get_paths()[0]
        .vertices
    )
    assert (band[:, 1].min(), band[:, 1].max()) == (pytest.approx(-0.2), pytest.approx(0.2))


@pytest.mark.parametrize("kind", ["neural", "neural-planning"])
def test_without_records_panels_say_so_and_tables_have_no_numbers(kind: str) -> None:
    status = {"status": "missing", "observed": 0}
    runs = [run for label in (LARGEST, OURS) for run in seeds(label, **status)]
    figure = draw_plot(kind, data(*runs, name=kind))
    visible = [axes for axes in figure.axes if axes.axison]
    assert visible and all("no records" in [t.get_text() for t in axes.texts] for axes in visible)
    for row in TABLES[kind](data(*runs, name=kind), kind).rows:
        assert set(row[2:-1]) == {"–"} and row[-1] == "3 missing"


def test_the_tables_have_the_expected_rows() -> None:
    rows = {row[0]: row[1:] for row in TABLES["neural"](data(*all_learners()), "neural").rows}
    assert rows[LARGEST][:6] == ("1,000,000", "0.0001", "429,999", "340,000", "770,000", "50")
    assert rows[LARGEST][6] == "900"
    assert rows[SMALLEST][2:5] == ("9,999", ">1,000,000", "–")
    assert rows[OURS][:5] == ("20,000", "0", "18,300", "1,700", "–")
    assert rows[BUILT][:6] == ("20,000", "0", "20,000", "0", "–", "0")
    table = TABLES["neural-planning"](planning_data(*all_planners()), "neural-planning")
    assert ("8x8", LARGEST, "0.80 ± 0.00", "0.80 @500", "6", "9,000") in table.rows
    assert ("16x16", OURS, "0.97 ± 0.00", "0.97 @1k", "6", "10") in table.rows
    assert [row[:2] for row in table.rows[:4]] == [
        ("8x8", each) for each in (SMALLEST, LARGEST, BUILT, OURS)
    ]


def test_the_report_has_both_figures_with_tables_and_verdicts(tmp_path: Path) -> None:
    write(tmp_path / "neural", all_learners(), "networks in maze")
    write(tmp_path / "neural-planning", all_planners(), "planning with networks")
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    learning, plans = text.split("### Neural baselines")[1].split("### Planning with networks")
    assert "Figs. 5, 22. Networks learn at 8 × 8" in learning and "](neural.svg)" in learning
    assert "first stretch of 10,000 observations" in learning
    assert "| No network keeps zero error. | none | kept by 0 of 12 runs | 3 | yes |" in learning
    assert "Figs. 23-26. A planner uses networks" in plans
    assert "| learner | steps | last error, median (worst) |" in plans  # the table of learning, too
    assert plans.count("| 3 | yes |") == 8
    for name in ("neural", "neural-planning"):
        svg = (tmp_path / "report" / f"{name}.svg").read_text(encoding="utf-8")
        assert ">NPE_8_3" in svg and len(svg) < 400_000


def test_records_of_quick_networks_belong_to_the_figure() -> None:
    three = dict(list(PLANS.items())[:3])
    for plans, same in ((PLANS, True), (three, True), (dict(list(PLANS.items())[:2]), False)):
        runs = [made_up("maze", label, told={"plans": plans}) for label in (SMALLEST, BUILT)]
        assert is_figure("neural-planning", Unwritten(*runs).runs) == same
