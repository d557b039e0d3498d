"""What a report says of networks: when zero error is reached and lost, and what plans are worth."""

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
from treethink.repro.report.judges import neural, stages
from treethink.repro.report.judges.common import Judge
from treethink.repro.report.plots.figures import PLOTS
from treethink.repro.report.plots.networks import COLUMNS
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


def network(label: str = LARGEST, seed: int = 0, wrong: Any = (), **told: Any) -> dict[str, Any]:
    """A long run that errs at these steps, by 1 each."""
    steps = told.pop("steps", MILLION)
    errors = [(step, 1.0) for step in wrong]
    last = max(wrong, default=0)
    told = {"window": 10_000, "told": {"transfer": TRANSFER}, **told}
    return made_up("maze", label, seed, steps, last, errors=errors, **told)


def seeds(label: str = LARGEST, n: int = 3, **told: Any) -> list[dict[str, Any]]:
    return [network(label, seed, **told) for seed in range(n)]


def data(*runs: dict[str, Any], name: str = "neural", title: str = "made up") -> Data:
    return Data({name: Unwritten(*runs, title=title)})


def always(until: int = MILLION, every: int = STRETCH) -> list[int]:
    """Errors again and again."""
    return list(range(every, until + 1, every))


def zero(begin: int, end: int | None = None) -> list[int]:
    """Errors up to one observation, and again from another on."""
    return always(begin) + ([] if end is None else list(range(end, MILLION + 1, STRETCH)))


# --------------------------------------------------------------------------- zero error


def only(wrong: list[int], observed: int = MILLION) -> Any:
    return Unwritten(network(wrong=wrong, steps=observed)).runs[0]


def test_zero_error_is_reached_with_the_first_stretch_and_lost_with_the_last() -> None:
    run = only(zero(340_000, 770_000))
    assert (reached(run), lost(run)) == (Bounds(340_000, 340_000), Bounds(770_000, 770_000))
    assert reaches(run) and not keeps(run) and longest(run) == 429_999
    kept = only(zero(200_000))
    assert keeps(kept) and lost(kept) == Bounds(MILLION, math.inf)
    never = only(always())
    assert not reaches(never) and lost(never) is None
    assert reached(never) == Bounds(MILLION, math.inf)
    assert reached(only([])) == Bounds(0, 0) and longest(only([])) == MILLION
    relapsed = only(sorted({*zero(340_000, 770_000), 500_000}))  # and found it again
    assert (reached(relapsed), lost(relapsed)) == (reached(run), lost(run)) and not keeps(relapsed)
    again = only([each for each in zero(340_000, 770_000) if each <= 900_000])  # at the end
    assert lost(again) == Bounds(MILLION, math.inf) and not keeps(again)


def test_a_stretch_is_long_from_ten_thousand_on() -> None:
    assert not reaches(only([100, 100 + STRETCH, *always()]))
    there = [each for each in always() if each > 200_000]
    assert reached(only([100, 100 + STRETCH + 1, *there])).low == 100
    tail = only([*always(MILLION - STRETCH), MILLION - STRETCH + 1])  # it may have begun there
    assert not reaches(tail) and reached(tail) == Bounds(MILLION - STRETCH + 1, math.inf)


@given(st.sets(st.integers(1, 300_000), max_size=12))
def test_stretches_are_those_that_a_walk_over_all_errors_finds(wrong: set[int]) -> None:
    run = only(sorted(wrong), 300_000)
    ends = [0, *sorted(wrong), 300_001]
    found = [(a, b) for a, b in pairwise(ends) if b - a - 1 >= STRETCH]
    assert reaches(run) == bool(found)
    if found:
        assert reached(run).low == found[0][0] and keeps(run) == (found[0][1] == 300_001)
        to_the_end = found[-1][1] == 300_001
        end = Bounds(300_000, math.inf) if to_the_end else Bounds(found[-1][1], found[-1][1])
        assert lost(run) == end


# --------------------------------------------------------------------------- verdicts: learning


def answers(judge: Judge, *runs: dict[str, Any], name: str = "neural") -> str:
    return judge(data(*runs, name=name)).answer


def test_no_network_keeps_zero_error() -> None:
    judge = neural.none_keeps("neural", (SMALLEST, LARGEST))
    small = seeds(SMALLEST, wrong=always())
    lost_again = seeds(wrong=zero(340_000, 770_000))
    assert answers(judge, *small, *lost_again) == "yes"
    one = [*seeds(n=2, wrong=zero(340_000, 770_000)), network(seed=2, wrong=zero(100_000))]
    found = judge(data(*small, *one))
    assert (found.answer, found.ours) == ("partly", "kept by 1 of 6 runs")
    assert "NPE_1_1 0 and 0 of 3, NPE_8_3 3 and 1 of 3" in found.why
    assert answers(judge, *small, *seeds(wrong=zero(100_000))) == "no"
    short = seeds(SMALLEST, wrong=[5], steps=2_000), seeds(wrong=[5], steps=2_000)
    found = judge(data(*short[0], *short[1]))
    assert found.answer == UNKNOWN and "runs of 2,000 observations are too short" in found.why


@pytest.mark.parametrize(
    ("begins", "answer", "says"),
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
    begins: tuple[int | None, ...], answer: str, says: str
) -> None:
    runs = [
        network(seed=seed, wrong=always() if at is None else zero(at, 900_000))
        for seed, at in enumerate(begins)
    ]
    found = neural.reaches_zero("neural", LARGEST, 340_000)(data(*runs))
    assert found.answer == answer and says in found.why


@pytest.mark.parametrize(
    ("ends", "answer"),
    [
        ((760_000, 770_000, 780_000), "yes"),
        ((500_000, 500_000, 500_000), "partly"),
        ((770_000, 770_000, None), "partly"),
        ((None, None, None), "no"),
    ],
)
def test_losing_it_is_judged_of_those_that_reach_it(
    ends: tuple[int | None, ...], answer: str
) -> None:
    runs = [network(seed=seed, wrong=zero(340_000, at)) for seed, at in enumerate(ends)]
    judge = neural.loses_zero("neural", LARGEST, 770_000)
    assert answers(judge, *runs) == answer
    never = judge(data(*seeds(wrong=always())))
    assert (never.answer, never.ours) == ("no", "never")
    assert answers(judge, *runs[:2]) == UNKNOWN


@pytest.mark.parametrize(
    ("last", "begin", "answer", "better"),
    [
        (1_700, 340_000, "yes", False),
        (100, 340_000, "partly", True),  # a greater gain
        (10_000, 340_000, "partly", False),
        (1_700, None, "partly", True),  # and it is only a bound
        (20_000, 10_000, "no", False),
    ],
)
def test_times_fewer_observations(last: int, begin: int | None, answer: str, better: bool) -> None:
    fast = [made_up("maze", OURS, seed, 60_000, last) for seed in range(3)]
    slow = seeds(wrong=always() if begin is None else zero(begin, 700_000))
    judge = neural.fewer_observations("neural", OURS, LARGEST, 200)
    found = judge(data(*fast, *slow))
    assert (found.answer, found.better) == (answer, better)
    assert answers(judge, *fast[:1], *slow) == UNKNOWN
    others = [network(seed=seed, wrong=zero(340_000)) for seed in (7, 8, 9)]
    assert "no seed in common" in judge(data(*fast, *others)).why


def test_what_is_built_by_hand_has_no_error_anywhere() -> None:
    judge = neural.flawless("neural", BUILT)
    right: dict[str, Any] = {"steps": 20_000, "transfer_error": 0.0, "learned": True}
    found = judge(data(*seeds(BUILT, **right)))
    assert (found.answer, found.ours) == ("yes", "0 errors in 60,000 steps, at most 0 elsewhere")
    assert answers(judge, *seeds(BUILT, n=2, **right), network(BUILT, 2, [9], **right)) == "no"
    assert answers(judge, *seeds(BUILT, **{**right, "transfer_error": 0.1})) == "no"
    missed = judge(data(*seeds(BUILT, **{**right, "learned": False})))
    assert missed.answer == "partly" and "3 of 3 runs are wrong about something" in missed.why
    assert answers(judge, *seeds(BUILT, n=2, **right)) == UNKNOWN
    planned = neural.flawless("neural-planning", BUILT)
    name = "neural-planning"
    assert answers(planned, *planning(BUILT, {100: 1.0}, last=0), name=name) == "yes"
    poor = planning(BUILT, {100: [1.0, 0.5, 1.0, 1.0, 1.0]}, last=0)
    found = planned(data(*poor, name=name))
    assert found.answer == "partly" and "not near-optimal in 10x10" in found.why


@pytest.mark.parametrize(
    ("loss", "answer"), [(4e-7, "yes"), (1e-3, "partly"), (0.2, "no"), (None, UNKNOWN)]
)
def test_the_loss_is_zero_where_the_error_is(loss: float | None, answer: str) -> None:
    wrong = zero(500_000)
    here = np.where(np.arange(100) < 50, 0.3, loss or 0.0)
    runs = seeds(wrong=always() if loss is None else wrong, loss_vectors=here, loss_rewards=0.0)
    found = neural.loss_ends_with_error("neural", [LARGEST])(data(*runs))
    assert found.answer == answer
    if loss is not None:
        assert "in the 150 windows without an error, 0.3 in others" in found.why


def test_a_loss_is_the_sum_of_its_parts_where_it_was_measured() -> None:
    parts = np.array([np.nan, 1.0, 2.0])
    (run,) = Unwritten(
        network(steps=30_000, loss_vectors=parts, loss_rewards=np.array([np.nan, 0.5, 0.0]))
    ).runs
    assert column(run, "loss").tolist()[1:] == [1.5, 2.0] and np.isnan(column(run, "loss")[0])
    (none,) = Unwritten(network("static", steps=30_000)).runs
    assert np.isnan(column(none, "loss")).all()


def test_networks_surpass_static_where_they_learn() -> None:
    judge = neural.better_here("neural", (SMALLEST, LARGEST), "static")
    static = [
        made_up("maze", "static", s, 1_000, errors=[(i, 1.0) for i in range(1, 1_001)], last=1_000)
        for s in range(3)
    ]
    good, bad = always(), [(i, 900.0) for i in range(500, MILLION, 500)]
    better = [*seeds(SMALLEST, wrong=good), *seeds(wrong=good)]
    found = judge(data(*better, *static))
    assert found.answer == "yes" and "2 of 2 networks" in found.why
    worse = [made_up("maze", LARGEST, s, MILLION, MILLION, errors=bad, window=10_000)
             for s in range(3)]  # fmt: skip
    assert answers(judge, *seeds(SMALLEST, wrong=good), *worse, *static) == "partly"
    only_bad = neural.better_here("neural", (LARGEST,), "static")
    assert answers(only_bad, *worse, *static) == "no"
    assert answers(judge, *better) == UNKNOWN


@pytest.mark.parametrize(
    ("below", "answer"), [((0, 0), "yes"), ((5, 0), "yes"), ((30, 0), "partly"), ((90, 90), "no")]
)
def test_elsewhere_networks_are_almost_always_worse(below: tuple[int, int], answer: str) -> None:
    judge = neural.worse_elsewhere("neural", (SMALLEST, LARGEST), "static")
    runs = [
        run
        for label, few in zip((SMALLEST, LARGEST), below, strict=True)
        for run in seeds(label, wrong=[9], transfer_error=np.where(np.arange(100) < few, 0.5, 50.0))
    ]
    static = seeds("static", transfer_error=1.8, steps=100_000)
    found = judge(data(*runs, *static))
    assert found.answer == answer and "whose error there is 1.8" in found.why
    dips = [label for label, few in zip((SMALLEST, LARGEST), below, strict=True) if few]
    assert f"At times below it: {', '.join(dips) or 'none'}." in found.why
    assert answers(judge, *runs) == UNKNOWN
    unasked = judge(data(*seeds(SMALLEST), *seeds(), *static))
    assert "not all were asked about larger levels" in unasked.why


# --------------------------------------------------------------------------- verdicts: planning


def planning(label: str, scores: dict[int, Any], n: int = 3, **told: Any) -> list[dict[str, Any]]:
    """Runs with two episodes of each size at each stage: one score, or one for each size."""
    seconds, last = told.pop("seconds", 0.5), told.pop("last", 100)
    rows = [
        episode(size, i, each, observed=stage, seconds=seconds)
        for stage, by in scores.items()
        for size, each in zip(SIZES, by if isinstance(by, list) else [by] * 5, strict=True)
        for i in range(2)
    ]
    return [
        made_up("maze", label, seed, max(scores), last, errors=None if last else [],
                told={"plans": PLANS}, played=rows, learned=True, **told)
        for seed in range(n)
    ]  # fmt: skip


def of(*runs: dict[str, Any]) -> Data:
    return data(*runs, name="neural-planning")


def test_what_was_played_is_told_by_stage() -> None:
    runs = of(*planning(LARGEST, {0: 0.0, 500: [0.9, 0, 0, 0, -0.8], 1_000: -0.5})).runs(
        "neural-planning"
    )
    assert stages_of(runs) == [0, 500, 1_000]
    found = by_stage(runs)
    assert [found[stage]["16x16"].mean for stage in found] == [0.0, pytest.approx(-0.8), -0.5]
    assert played(runs)["8x8"].mean == -0.5 == played(runs, 1_000)["8x8"].mean
    assert played(runs, 77) == {} and len(found[0]["8x8"].scores) == 6
    assert stages.best_stage(found, "8x8") == 500 and stages.best_stage(found, "x") is None
    assert list(stages.trained(found)) == [500, 1_000]


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
    judge = stages.fails_to_transfer("neural-planning", LARGEST, "8x8")
    # Sizes are compared at the best stage, which is not the last, and never the first.
    found = judge(of(*planning(LARGEST, {0: 1.0, 500: scores, 1_000: -1.0})))
    assert found.answer == answer and found.why.startswith("After 500 observations")
    assert found.ours.startswith(f"8x8 {scores[0]:.2f}, 10x10 {scores[1]:.2f}")
    assert judge(of(*planning(LARGEST, {500: scores}, n=2))).answer == UNKNOWN
    nothing = judge(of(*planning(LARGEST, {500: scores}, status="stopped")))
    assert nothing.answer == UNKNOWN
    assert "nothing was played" in judge(of(*seeds())).why


@pytest.mark.parametrize(
    ("larger", "answer"), [(-0.9, "yes"), (-0.75, "yes"), (-0.7, "no"), (None, "partly")]
)
def test_plans_are_almost_as_bad_as_possible(larger: float | None, answer: str) -> None:
    three = [-0.9, -0.2, -0.2] if larger is None else [larger] * 3
    judge = stages.almost_pessimal("neural-planning", LARGEST, SIZES[2:])
    found = judge(of(*planning(LARGEST, {0: -1.0, 1_000: [0.9, 0.0, *three]})))
    assert found.answer == answer and found.ours.startswith("12x12")
    assert judge(of(*seeds())).answer == UNKNOWN


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
    judge = stages.poor_but_stable("neural-planning", SMALLEST, LARGEST)
    small = planning(SMALLEST, {0: 1.0, 1_000: ours})
    found = judge(of(*small, *planning(LARGEST, {0: 0.0, 1_000: theirs})))
    assert found.answer == answer
    assert judge(of(*small)).answer == UNKNOWN
    assert "nothing was played" in judge(of(*seeds(SMALLEST), *seeds())).why


def slower(label: str, *factors: float) -> list[dict[str, Any]]:
    """Runs whose episodes take so long in each size."""
    runs = planning(label, {1_000: 1.0})
    for run in runs:
        for row in run["played"]:
            row["seconds"] = factors[SIZES.index(row["setting"]) % len(factors)]
    return runs


def test_the_fastest_planner_is_so_in_every_size() -> None:
    judge = stages.fastest("neural-planning", OURS, (SMALLEST, BUILT))
    tree = slower(OURS, 0.01)
    found = judge(of(*tree, *slower(SMALLEST, 1.0), *slower(BUILT, 2.0)))
    assert (found.answer, found.ours) == ("yes", "100 to 100 times")
    assert judge(of(*tree, *slower(SMALLEST, 1.0), *slower(BUILT, 1, 1, 0.001))).answer == "partly"
    assert judge(of(*tree, *slower(SMALLEST, 1.0), *slower(BUILT, 0.001))).answer == "no"
    missing = judge(of(*tree, *slower(SMALLEST, 1.0)))
    assert missing.answer == UNKNOWN and "NPE* (it was not run)" in missing.why
    unplayed = judge(of(*seeds(OURS), *seeds(SMALLEST), *seeds(BUILT)))
    assert "nothing was played" in unplayed.why


def test_two_planners_take_the_same_time() -> None:
    judge = stages.as_fast("neural-planning", BUILT, SMALLEST)
    one = slower(SMALLEST, 1.0)
    assert judge(of(*slower(BUILT, 1.2), *one)).answer == "yes"
    assert judge(of(*slower(BUILT, 1.0, 3.0), *one)).answer == "partly"
    assert judge(of(*slower(BUILT, 3.0), *one)).answer == "no"
    assert judge(of(*one)).answer == UNKNOWN


def everyone() -> list[dict[str, Any]]:
    """All learners of `neural`, about as the paper has them."""
    far = {"transfer_error": 50.0, "loss_vectors": 1e-8, "loss_rewards": 0.0, "observe_us": 900.0}
    runs = [run for label in NETWORKS[:3] for run in seeds(label, wrong=always(), **far)]
    runs += seeds(LARGEST, wrong=zero(340_000, 770_000), **far)
    runs += seeds(BUILT, steps=20_000, transfer_error=0.0, learned=True)
    runs += seeds(OURS, wrong=[5, 1_700], steps=20_000, transfer_error=0.0, learned=True)
    nothing = list(range(1, 100_001))
    return runs + seeds("static", wrong=nothing, steps=100_000, transfer_error=1.8)


def planners() -> list[dict[str, Any]]:
    """All learners of `neural-planning`, about as the paper has them."""
    worse = [0.8, -0.2, -0.8, -0.9, -0.95]
    return [
        *planning(SMALLEST, {0: 0.0, 500: 0.1, 1_000: 0.05}, seconds=2.0),
        *planning(LARGEST, {0: 0.0, 500: worse, 1_000: worse}, seconds=9.0),
        *planning(BUILT, {0: 0.98, 100: 0.98}, last=0, seconds=2.1),
        *planning(OURS, {0: 0.0, 1_000: 0.97}, seconds=0.01),
    ]


def test_what_the_paper_found_bears_out_what_it_says() -> None:
    both = Data({"neural": Unwritten(*everyone()), "neural-planning": Unwritten(*planners())})
    for name in ("neural", "neural-planning"):
        found = {e.claim.text: e.verdict.answer for e in judge_all(both) if e.claim.home == name}
        assert len(found) == 8 == sum(name in claim.figures for claim in CLAIMS)
        assert set(found.values()) == {"yes"}, found


def test_without_records_or_with_one_seed_nothing_is_judged_but_quick_is_marked() -> None:
    one = [run for run in planners() if run["entry"]["seed"] == 0]
    few = [e for e in judge_all(of(*one)) if e.claim.home == "neural-planning"]
    assert {each.verdict.answer for each in few} == {UNKNOWN}
    small = judge_all(data(*one, name="neural-planning", title="planning with networks (quick)"))
    told = [(e.verdict.answer, e.quick) for e in small if e.claim.home == "neural-planning"]
    assert told == [("yes", True)] * 8


# --------------------------------------------------------------------------- plots, tables, page


def drawn(kind: str, found: Data) -> Any:
    with styled():
        return PLOTS[kind](found, kind)


def test_every_quantity_is_drawn_on_both_scales_and_zeroes_are_breaks() -> None:
    figure = drawn("neural", data(*everyone()))
    assert len(figure.axes) == 2 * len(COLUMNS) == 10
    assert [axes.get_yscale() for axes in figure.axes] == ["linear", "log"] * 5
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[::2] == list(COLUMNS.values())
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    values = np.asarray(lines[LARGEST].get_ydata())
    assert np.isnan(values[40:70]).all() and not np.isnan(values[:30]).any()
    assert np.isnan(np.asarray(lines[BUILT].get_ydata())).all()
    static = [line for line in figure.axes[4].lines if list(line.get_xdata()) == [0, 1]]
    assert [list(line.get_ydata()) for line in static] == [[pytest.approx(1.8)] * 2]
    loss = {line.get_label() for line in figure.axes[2].lines}
    assert set(NETWORKS) <= loss and "static" not in loss


def test_scores_are_drawn_over_observations_and_over_sizes() -> None:
    figure = drawn("neural-planning", of(*planners()))
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


def test_bands_are_a_quarter_of_a_deviation_while_networks_learn() -> None:
    runs = planning(LARGEST, {0: 0.0, 1_000: 0.0})
    for run in runs:
        for row in run["played"]:
            row["normalised"] = 0.8 if row["episode"] else -0.8
    band = drawn("neural-planning", of(*runs)).axes[0].collections[0].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (pytest.approx(-0.2), pytest.approx(0.2))


@pytest.mark.parametrize("kind", ["neural", "neural-planning"])
def test_without_records_panels_say_so_and_tables_have_no_numbers(kind: str) -> None:
    told = {"status": "missing", "observed": 0}
    runs = [run for label in (LARGEST, OURS) for run in seeds(label, **told)]
    figure = drawn(kind, data(*runs, name=kind))
    shown = [axes for axes in figure.axes if axes.axison]
    assert shown and all("no records" in [t.get_text() for t in axes.texts] for axes in shown)
    for row in TABLES[kind](data(*runs, name=kind), kind).rows:
        assert set(row[2:-1]) == {"–"} and row[-1] == "3 missing"


def test_tables_have_what_people_read() -> None:
    rows = {row[0]: row[1:] for row in TABLES["neural"](data(*everyone()), "neural").rows}
    assert rows[LARGEST][:6] == ("1,000,000", "0.0001", "429,999", "340,000", "770,000", "50")
    assert rows[LARGEST][6] == "900"
    assert rows[SMALLEST][2:5] == ("9,999", ">1,000,000", "–")
    assert rows[OURS][:5] == ("20,000", "0", "18,300", "1,700", "–")
    assert rows[BUILT][:6] == ("20,000", "0", "20,000", "0", "–", "0")
    table = TABLES["neural-planning"](of(*planners()), "neural-planning")
    assert ("8x8", LARGEST, "0.80 ± 0.00", "0.80 @500", "6", "9,000") in table.rows
    assert ("16x16", OURS, "0.97 ± 0.00", "0.97 @1k", "6", "10") in table.rows
    assert [row[:2] for row in table.rows[:4]] == [
        ("8x8", each) for each in (SMALLEST, LARGEST, BUILT, OURS)
    ]


def test_both_figures_are_in_the_report_with_tables_and_verdicts(tmp_path: Path) -> None:
    write(tmp_path / "neural", everyone(), "networks in maze")
    write(tmp_path / "neural-planning", planners(), "planning with networks")
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    learning, plans = text.split("### Neural baselines")[1].split("### Planning with networks")
    assert "Figs. 5, 22. Networks learn at 8 × 8" in learning and "](neural.svg)" in learning
    assert "first stretch of 10,000 observations" in learning
    assert "| No network keeps zero error. | none | kept by 0 of 12 runs | 3 | yes |" in learning
    assert "Figs. 23-26. A planner acts with networks" in plans
    assert "| learner | steps | last error, median (worst) |" in plans  # how they learned, too
    assert plans.count("| 3 | yes |") == 8
    for name in ("neural", "neural-planning"):
        svg = (tmp_path / "report" / f"{name}.svg").read_text(encoding="utf-8")
        assert ">NPE_8_3" in svg and len(svg) < 400_000


def test_records_of_quick_networks_are_the_figures_and_other_plans_are_not() -> None:
    three = dict(list(PLANS.items())[:3])
    for plans, same in ((PLANS, True), (three, True), (dict(list(PLANS.items())[:2]), False)):
        runs = [made_up("maze", label, told={"plans": plans}) for label in (SMALLEST, BUILT)]
        assert is_figure("neural-planning", Unwritten(*runs).runs) == same
