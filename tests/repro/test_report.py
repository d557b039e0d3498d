"""`treethink report`: statistics that hold, verdicts from data alone, a page that needs nothing."""

from __future__ import annotations

import json
import math
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.image import imsave

from synthetic import Unwritten, made_up, write
from treethink import TreeThink, cli
from treethink.errors import RecordsError
from treethink.repro import report
from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.report import statistics as stats
from treethink.repro.report.claims import CLAIMS, DETERMINISTIC, judge_all
from treethink.repro.report.data import Data, read_all
from treethink.repro.report.judges import learning, performance
from treethink.repro.report.judges.common import UNKNOWN
from treethink.repro.report.markdown import BETTER, NOT_CONFIRMED, explanations, plain, reasons
from treethink.repro.report.plots import figures as plot_figures
from treethink.repro.report.plots.figures import PLOTS
from treethink.repro.report.plots.panels import against_size, isolated
from treethink.repro.report.plots.style import BLUE, LINE_STYLES, RED, line_styles, panels, styled
from treethink.repro.report.provenance import Origin, is_figure, origin, split
from treethink.repro.report.sections import CAPTIONS, READING
from treethink.repro.report.series import curve, growth, mean_of, time_of
from treethink.repro.report.statistics import Bounds
from treethink.repro.report.tables import complexity, overview
from treethink.repro.report.tables import learning as learning_table
from treethink.repro.report.tables import transfer as transfer_table
from treethink.stream.random_play import transitions
from treethink.worlds import make

OURS, PAPER = "TreeThink", "TreeThink (paper)"
known = st.integers(1, 1_000).map(lambda n: Bounds(n, n))
censored = st.integers(1, 1_000).map(lambda n: Bounds(n, math.inf))
either = st.one_of(known, censored)


def data(**figures: list[dict[str, Any]]) -> Data:
    return Data({name.replace("_", "-"): Unwritten(*runs) for name, runs in figures.items()})


def seeds(n: int = 4, **changes: Any) -> list[dict[str, Any]]:
    return [made_up(seed=seed, **changes) for seed in range(n)]


# --------------------------------------------------------------------------- statistics


def some_completion(bounds: Bounds, rng: np.random.Generator) -> float:
    """Draw a number that the bounds allow."""
    return bounds.low if bounds.is_known else bounds.low + 1_000 * rng.random()


@given(either, either, st.integers(0, 99))
def test_the_ratio_of_bounds_contains_every_possible_ratio(a: Bounds, b: Bounds, seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = some_completion(a, rng) / some_completion(b, rng)
    ratio = stats.ratio(a, b)
    assert ratio.low <= true * (1 + 1e-12) and true <= ratio.high * (1 + 1e-12)


@settings(max_examples=40)
@given(st.lists(either, min_size=1, max_size=7), st.integers(0, 99))
def test_an_estimate_contains_every_possible_median(values: list[Bounds], seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = float(np.median([some_completion(each, rng) for each in values]))
    estimate = stats.estimate(values)
    assert estimate.median.low <= true <= estimate.median.high
    assert (
        estimate.interval.low <= estimate.median.low
        and estimate.median.high <= estimate.interval.high
    )
    assert estimate.seeds == len(values)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_medians_match_numpy(values: list[float]) -> None:
    assert stats.median(values) == pytest.approx(float(np.median(values)))
    assert stats.medians(np.array([values]))[0] == pytest.approx(float(np.median(values)))


def test_a_bootstrap_matches_resampling_one_by_one() -> None:
    rows = np.array([[1.0, 10.0], [2.0, 20.0], [6.0, 0.0]])
    rng = np.random.default_rng(20_260)
    picks = rng.integers(3, size=(200, 3))
    slow = sorted(sum(rows[i][0] for i in each) / 3 for each in picks)
    low, high = stats.bootstrap(rows, stats.means, draws=200)
    assert low[0] == slow[round(0.025 * 199)] and high[0] == slow[round(0.975 * 199)]
    assert [*low, *high] == [*stats.bootstrap(rows, stats.means, draws=200)[0], *high]


def test_a_band_uses_the_rows_that_reach_each_column() -> None:
    rows = np.array([[1.0, 2.0, 3.0], [3.0, 4.0, np.nan], [5.0, np.nan, np.nan]])
    middle, low, high = stats.band(rows, stats.means)
    assert middle.tolist() == [3.0, 3.0, 3.0]
    assert low[2] == high[2] == 3.0  # one run has no spread
    assert low[0] == 1.0 and high[0] == 5.0 and (low[1], high[1]) == (2.0, 4.0)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-99, 99)), min_size=3, max_size=20))
def test_a_fit_is_better_than_all_lines_nearby(points: list[tuple[int, int]]) -> None:
    x, y = [p[0] for p in points], [p[1] for p in points]
    fit = stats.fit([x], y)

    def squared_error(a: float, b: float) -> float:
        return sum((v - a - b * u) ** 2 for u, v in zip(x, y, strict=True))

    a, b = fit.coefficients
    best = squared_error(a, b)
    assert all(
        best <= squared_error(a + da, b + db) + 1e-6 for da in (-1, 0, 1) for db in (-1, 0, 1)
    )
    total = squared_error(sum(y) / len(y), 0)
    if total:
        assert fit.r_squared == pytest.approx(1 - best / total, abs=1e-9)


def test_an_error_in_the_last_tenth_means_not_converged() -> None:
    by = {last: Unwritten(made_up(steps=1_000, last=last)).runs[0] for last in (0, 900, 901)}
    assert stats.last_error(by[0]) == Bounds(0, 0)
    assert stats.last_error(by[900]) == Bounds(900, 900)
    assert stats.last_error(by[901]) == Bounds(1_000, math.inf)
    stopped = Unwritten(made_up(steps=1_000, last=5, status="stopped", observed=600)).runs[0]
    assert str(stats.last_error(stopped)) == ">600"


# --------------------------------------------------------------------------- curves


def test_a_curve_is_the_mean_of_errors_and_the_median_of_times() -> None:
    times = ([1.0, 9.0], [2.0, 9.0], [900.0, 9.0])
    runs = [
        made_up(seed=i, steps=200, errors=[(i + 1, 3.0)], observe_us=each)
        for i, each in enumerate(times)
    ]
    records = Unwritten(*runs).runs
    errors, observing = curve(records, "error"), curve(records, "observe_us")
    assert errors is not None and observing is not None
    assert errors.x.tolist() == [50.5, 150.5] and errors.middle.tolist() == [0.03, 0.0]
    assert observing.middle.tolist() == [2.0, 9.0]
    assert curve(records, "transfer_error") is None


def test_a_stopped_run_counts_up_to_its_last_step() -> None:
    whole = made_up(steps=300, errors=[(250, 100.0)])
    part = made_up(seed=1, steps=300, errors=[], status="stopped", observed=150)
    mean_error = curve(Unwritten(whole, part).runs, "error")
    assert mean_error is not None
    assert [x for x, _ in mean_error.ends] == [125.5]
    assert mean_error.middle[-1] == 1.0  # of one run only


def test_only_points_without_neighbours_are_isolated() -> None:
    points = isolated(np.array([1.0, np.nan, 2.0, 3.0, np.nan, 4.0]))
    assert np.flatnonzero(~np.isnan(points)).tolist() == [0, 5]


def test_thinned_curves_are_means_of_neighbours() -> None:
    whole = made_up(steps=500, error=[1, 2, 3, 4, 5])
    part = made_up(seed=1, steps=500, error=[3, 4, 5], status="stopped", observed=300)
    thinned = curve(Unwritten(whole, part).runs, "error", most=3)
    assert thinned is not None
    assert thinned.x.tolist() == [100.5, 300.5, 450.5]
    assert thinned.middle.tolist() == [2.5, 4.25, 5.0]


def test_a_share_of_a_run_means_its_latest_windows() -> None:
    (run,) = Unwritten(made_up(steps=1_000, last=0, observe_us=range(10), error=range(10))).runs
    assert mean_of(run, "error") == 4.5 and mean_of(run, "error", 0.2) == 8.5
    assert time_of(run, "observe_us", 0.1) == 9
    (run,) = Unwritten(made_up(steps=1_000, observe_us=[2] * 9 + [30])).runs
    assert growth(run, "observe_us") == 15


# --------------------------------------------------------------------------- verdicts


def answers(judge: Any, *cases: Data) -> list[str]:
    return [judge(each).answer for each in cases]


def test_a_world_is_learned_if_every_seed_learned_it() -> None:
    judge = learning.learns(OURS, ["walls", "doors"])
    good, bad = seeds(learned=True), seeds(learned=False)
    missing = [*seeds(3, learned=True), made_up(seed=3, status="missing")]
    assert answers(
        judge,
        data(walls=good, doors=good),
        data(walls=good, doors=bad),
        data(walls=bad, doors=bad),
        data(walls=good),
        data(walls=good, doors=missing),
    ) == ["yes", "partly", "no", "not enough data", "not enough data"]
    assert "doors (of 4 runs, 1 missing)" in judge(data(walls=good, doors=missing)).why


@pytest.mark.parametrize("status", ["missing", "failed", "stopped"])
def test_unfinished_runs_give_no_verdict_on_treethink(status: str) -> None:
    runs = [*seeds(3), made_up(seed=3, status=status)]
    assert learning.converges("maze", OURS)(data(maze=runs)).answer == "not enough data"


def test_convergence_is_judged_by_the_last_errors() -> None:
    late = seeds(last=990)
    cases = data(maze=seeds()), data(maze=[*seeds(3), late[3]]), data(maze=late)
    judge = learning.converges("maze", OURS)
    assert answers(judge, *cases) == ["yes", "partly", "no"]
    assert judge(cases[1]).ours == "100 (worst >1,000)"


def test_fast_shrinking_errors_are_not_enough_data() -> None:
    judge = learning.converges("keys", PAPER)

    def case(sizes: list[float]) -> Data:
        errors = [(step, sizes[(step - 1) // 200]) for step in range(1, 1_001)]
        return data(keys=seeds(label=PAPER, last=1_000, errors=errors))

    cases = case([9, 9, 8, 4, 1]), case([9, 9, 9, 8, 7]), case([1, 2, 3, 4, 5])
    assert answers(judge, *cases) == ["not enough data", "no", "no"]
    assert judge(cases[0]).why.endswith("the error went from 4 to 1.")
    assert judge(cases[1]).why.startswith("No seed converged in 1,000 steps")


@pytest.mark.parametrize(
    ("last", "answer"), [(1_700, "yes"), (1_500, "yes"), (500, "partly"), (4_000, "no")]
)
def test_about_compares_the_median_with_the_papers_number(last: int, answer: str) -> None:
    runs = seeds(last=last, steps=10_000)
    assert learning.about("maze", OURS, 1_700)(data(maze=runs)).answer == answer


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        ((10, 40_000), "not enough data"),
        ((10, 10, 40_000, 40_000), "not enough data"),
        ((400, 1_700, 9_000), "not enough data"),  # the median fits, but the interval is too wide
        ((1_000, 1_100, 1_750), "partly"),  # the interval contains it, but the median is not near
        ((2_200, 2_300, 1_650), "partly"),
        ((9_000, 9_000, 40_000), "no"),  # wide, but far from it
    ],
)
def test_about_needs_a_near_median_with_a_narrow_interval(
    last: tuple[int, ...], answer: str
) -> None:
    runs = [made_up(seed=i, last=n, steps=100_000) for i, n in enumerate(last)]
    verdict = learning.about("maze", OURS, 1_700)(data(maze=runs))
    assert verdict.answer == answer
    assert "takes more" not in verdict.why or sorted(last)[len(last) // 2] > 1_700


def test_a_ratio_with_a_wide_interval_is_not_enough_data() -> None:
    judge = learning.slower("coins-scoreless", "QORA", OURS, 4)
    slow = [made_up(label="QORA", seed=i, last=n, steps=9_000) for i, n in enumerate((1, 40, 800))]
    verdict = judge(data(coins_scoreless=[*seeds(3, last=10), *slow]))
    assert verdict.answer == "not enough data" and "anything from 0.1 to 80" in verdict.why


def test_a_censored_median_is_not_about_a_number() -> None:
    judge = learning.about("maze", OURS, 1_700)
    short, long = seeds(last=1_690, steps=1_700), seeds(last=4_990, steps=5_000)
    assert answers(judge, data(maze=short), data(maze=long)) == ["not enough data", "no"]


def test_never_learns_needs_runs_that_are_long_enough() -> None:
    judge = learning.never("QORA", ["maze"], OURS)
    ours = seeds(last=500)
    never_learned = seeds(label="QORA", steps=5_000, last=5_000)
    stopped = seeds(label="QORA", steps=9_000, last=7_000, status="stopped", observed=7_000)
    barely = seeds(label="QORA", last=1_000)
    too_soon = seeds(label="QORA", last=300, status="stopped", observed=300)
    failed = seeds(label="QORA", status="failed")
    learned = seeds(label="QORA", last=600)
    assert judge(data(maze=[*seeds(last=990), *never_learned])).answer == "not enough data"
    cases = [
        data(maze=ours + each)
        for each in (never_learned, stopped, too_soon, failed, learned, barely)
    ]
    expected = ["yes", "yes", "not enough data", "not enough data", "no", "partly"]
    assert answers(judge, *cases) == expected
    assert "maze within 5,000 observations (10 times what TreeThink takes)." in judge(cases[0]).why
    assert "4 of 4 runs were stopped" in judge(cases[1]).why
    assert "maze within 1,000 observations (2 times" in judge(cases[5]).why
    both = learning.never("QORA", ["maze", "keys"], OURS)
    verdict = both(data(maze=ours + never_learned, keys=ours + barely))
    assert verdict.answer == "partly" and "takes), keys within 1,000 (2 times)." in verdict.why


def test_slower_is_judged_by_pairs_without_dropping_any() -> None:
    judge = learning.slower("coins-scoreless", "QORA", OURS, 4)

    def case(*last: int) -> Data:
        slow = [made_up(label="QORA", seed=i, last=n, steps=2_000) for i, n in enumerate(last)]
        return data(coins_scoreless=[*seeds(len(last), last=100), *slow])

    assert judge(case(400, 400, 420)).answer == "yes"
    assert judge(case(900, 900, 900)).answer == "partly"  # a greater ratio
    assert judge(case(150, 160, 170)).answer == "partly"  # slower, but by less
    assert judge(case(50, 50, 50)).answer == "no"
    censored_ = judge(case(1_999, 1_999, 1_999))
    assert censored_.answer == "partly" and censored_.ours.startswith(">20")
    assert judge(data(coins_scoreless=seeds())).answer == "not enough data"


def test_in_random_worlds_plausible_predictions_are_enough() -> None:
    judge = learning.approaches("fish", OURS)
    naive = seeds(label="static", error=0.5)
    near = seeds(learned=False, error=[0.5] * 9 + [0.01])
    cases = (
        data(fish=[*naive, *seeds(learned=True)]),
        data(fish=[*naive, *near]),
        data(fish=[*naive, *seeds(learned=False, error=0.4)]),
        data(fish=seeds(learned=True)),
        data(
            fish=[*naive, *seeds(learned=True, error=0.4)]
        ),  # a good evaluation, but errors while learning
    )
    assert answers(judge, *cases) == ["yes", "partly", "no", "not enough data", "partly"]


def test_resources_blow_up_at_a_limit_or_by_growing_tenfold() -> None:
    flat, grows = seeds(label="QORA"), seeds(label="QORA", observe_us=range(1, 11))
    stopped = seeds(label="QORA", status="stopped", observed=500)
    judge = performance.blows_up("fish", "QORA")
    cases = [data(fish=each) for each in (grows, stopped, flat, [*flat[:2], *grows[2:]])]
    assert answers(judge, *cases) == ["yes", "yes", "no", "partly"]
    assert answers(performance.blows_up("fish", "QORA", expected=False), *cases[:3]) == [
        "no",
        "no",
        "yes",
    ]
    assert judge(data()).answer == "not enough data"


@pytest.mark.parametrize(
    "judge",
    [
        performance.blows_up("fish", "QORA"),
        performance.blows_up("fish", "QORA", expected=False),
        performance.stable("fish", "QORA"),
        performance.slower_to_observe("fish", "QORA", OURS),
    ],
)
def test_unmeasured_times_give_no_verdict(judge: Any) -> None:
    timed, untimed = seeds(3, label="QORA"), seeds(4, label="QORA", observe_us=np.nan)[3:]
    verdict = judge(data(fish=[*timed, *untimed, *seeds()]))
    assert verdict.answer == "not enough data" and "nan" not in verdict.why + verdict.ours


def test_a_stopped_run_counts_as_blown_up_without_times() -> None:
    judge = performance.blows_up("fish", "QORA")
    stopped = seeds(label="QORA", status="stopped", observed=500, observe_us=np.nan)
    verdict = judge(data(fish=stopped))
    assert verdict.answer == "yes" and "unknown" not in verdict.why
    assert "the first after 500 steps" in verdict.why


def test_far_longer_means_ten_times_as_long_per_seed() -> None:
    judge = performance.slower_to_observe("keys", "QORA", OURS)
    ours = seeds(observe_us=2.0)
    cases = [data(keys=ours + seeds(label="QORA", observe_us=us)) for us in (50.0, 9.0, 1.0)]
    assert answers(judge, *cases) == ["yes", "partly", "no"]
    stopped = seeds(label="QORA", observe_us=50.0, status="stopped", observed=500)
    assert "4 of 4 runs were stopped" in judge(data(keys=ours + stopped)).why
    assert judge(data(keys=ours)).answer == "not enough data"


def test_stable_means_that_observation_times_do_not_grow() -> None:
    judge = performance.stable("keys", OURS)
    cases = [data(keys=seeds()), data(keys=seeds(observe_us=range(1, 11))), data()]
    assert answers(judge, *cases) == ["yes", "no", "not enough data"]


def test_transfer_is_perfect_if_the_last_evaluation_has_no_error() -> None:
    judge = learning.transfers("transfer-maze", OURS)
    right, wrong = [np.nan, 1.0] * 4 + [0.0, np.nan], [np.nan, 0.0] * 4 + [0.2, np.nan]
    perfect, flawed = seeds(transfer_error=right), seeds(transfer_error=wrong)
    nearly = seeds(transfer_error=right, examined_transfer={"exact": 499, "held_out": 500})
    assert answers(
        judge,
        data(transfer_maze=perfect),
        data(transfer_maze=flawed),
        data(transfer_maze=[*perfect[:2], *flawed[2:]]),
        data(transfer_maze=nearly),
        data(transfer_maze=seeds()),
    ) == ["yes", "no", "partly", "no", "not enough data"]
    unlearned = seeds(transfer_error=wrong, last=1_000)
    none_learned, some = (
        data(transfer_maze=unlearned),
        data(transfer_maze=perfect[:3] + unlearned[3:]),
    )
    assert answers(judge, none_learned, some) == ["not enough data", "partly"]
    assert "1 had not learned the small one yet" in judge(some).why


def four_settings(both: float = 1.0, **changes: Any) -> list[dict[str, Any]]:
    times = {"none": 34.6, "eval": 34.5, "query": 1.2, "both": both}
    return [
        made_up(world, label, seed, predict_us=us, transfer_us=[us * 25] * 10, **changes)
        for label, us in times.items()
        for world in ("maze", "switches", "keys")
        for seed in range(3)
    ]


def test_speed_ups_are_judged_by_their_size_and_their_growth() -> None:
    runs = four_settings()
    judge = performance.faster("maze", "predict_us", 34.6)
    cases = [data(inference=each) for each in (runs, four_settings(both=10), [])]
    assert answers(judge, *cases) == ["yes", "partly", "not enough data"]
    assert performance.eval_alone_gains_little(cases[0]).answer == "yes"
    for run in runs:
        if run["entry"]["label"] == "both":
            run["columns"]["transfer_us"] = [2.0] * 10
    assert performance.grows_with_objects(cases[0]).answer == "no"
    assert performance.grows_with_objects(data(inference=runs)).answer == "yes"


def test_eval_alone_gains_more_in_one_world() -> None:
    runs = four_settings()
    for run in runs:
        if run["entry"]["label"] == "eval" and run["entry"]["world"] == "keys":
            run["columns"]["predict_us"] = 20.0
    assert performance.eval_alone_gains_little(data(inference=runs)).answer == "partly"


def test_settings_learn_identically_only_if_every_error_is_equal() -> None:
    runs = four_settings()
    assert performance.learn_identically(data(inference=runs)).answer == "yes"
    runs[0]["errors"][3] = (runs[0]["errors"][3][0], 1.0 + 1e-12)
    other = performance.learn_identically(data(inference=runs))
    assert other.answer == "partly" and "maze seed 0" in other.why
    without = [run for run in runs if run["entry"]["label"] != "eval"]
    assert performance.learn_identically(data(inference=without)).answer == "not enough data"


def test_updating_branches_helps_if_fixed_ones_take_significantly_longer() -> None:
    judge = performance.updating_helps("switches", OURS, "fixed")

    def case(*last: int) -> Data:
        stiff = [made_up("switches", "fixed", i, last=n) for i, n in enumerate(last)]
        return data(branches=[*seeds(len(last), world="switches"), *stiff])

    cases = case(300, 400, 500), case(95, 120, 130), case(50, 60, 70), data()
    assert answers(judge, *cases) == ["yes", "partly", "no", "not enough data"]
    anything = case(20, 400, 90, 90, 30)  # the median is below 1, but the interval is wide
    assert judge(anything).answer == "not enough data"
    neither = [
        *seeds(world="switches", last=990),
        *seeds(world="switches", label="fixed", last=999),
    ]
    assert judge(data(branches=neither)).answer == "not enough data"
    fish = performance.updating_helps("fish", OURS, "fixed")
    free, stiff = seeds(world="fish", error=0.1), seeds(world="fish", label="fixed", error=0.3)
    assert fish(data(branches=[*free, *stiff])).answer == "yes"


def test_alpha_does_not_matter_if_all_values_converge_similarly() -> None:
    judge = performance.stable_over_alpha(paper=False)

    def case(*last: int, step: float = 0.1) -> Data:
        return data(
            alpha=[
                made_up(label=f"alpha {i}", seed=seed, last=n, settings={"alpha": step**i})
                for i, n in enumerate(last)
                for seed in range(3)
            ]
        )

    cases = case(100, 200, 300), case(100, 600, 100), case(100, 99, 999), case(999, 999, 1_000)
    assert answers(judge, *cases) == ["yes", "partly", "partly", "no"]
    few, narrow = case(100, 100), case(100, 100, 100, step=0.5)
    assert answers(judge, few, narrow, data()) == ["not enough data"] * 3
    assert "no wide range" in judge(narrow).why
    assert judge(cases[2]).ours == "median last error 99 to >1,000"


def test_linear_learning_time_is_judged_by_a_fit() -> None:
    judge = performance.linear("complexity", OURS)

    def case(grows: Any) -> Data:
        pairs = [(p, c) for p in (1, 2, 4, 8) for c in (1, 3, 8)]
        return data(
            complexity=[
                made_up(f"scale({p},{c})", last=grows(p * c), steps=10**7, window=10**6)
                for p, c in pairs
            ]
        )

    cases = case(lambda n: 100 * n), case(lambda n: n**3), case(lambda n: 500), data()
    assert answers(judge, *cases) == ["yes", "no", "no", "not enough data"]
    assert "R² 1.000, exponent 1.00" in judge(cases[0]).ours
    nearly, noisy = case(lambda n: round(100 * n**0.82 * (1 if n > 2 else 1.3))), case(noisy_time)
    assert answers(judge, nearly, noisy) == ["partly", "not enough data"]


def noisy_time(size: int) -> int:
    """Return a time that depends on the size only loosely."""
    return {1: 900, 2: 10, 3: 20, 4: 9_000, 6: 10, 8: 30, 12: 50_000, 16: 40}.get(size, 100 * size)


def test_few_seeds_give_no_verdict_unless_marked_as_quick() -> None:
    two = seeds(2)
    assert learning.converges("maze", OURS)(data(maze=two)).answer == "not enough data"
    assert "2 seeds only" in learning.converges("maze", OURS)(data(maze=two)).why
    for title, answer in (("maze", "not enough data"), ("maze (quick)", "yes")):
        judgements = judge_all(Data({"maze": Unwritten(*two, title=title)}))
        (one,) = (
            e for e in judgements if e.claim.world == "maze" and e.claim.setting == "defaults"
        )
        assert (one.verdict.answer, one.quick) == (answer, title != "maze")


def test_every_label_needs_enough_seeds() -> None:
    runs = [*four_settings(), *seeds(1, world="walls", label="none")]
    assert performance.learn_identically(data(inference=four_settings())).answer == "yes"
    assert "1 seed only" in performance.learn_identically(data(inference=runs)).why


def test_two_learners_with_similar_errors() -> None:
    judge = learning.alike("baselines", "python", PAPER, "maze")
    errors = [(step, 1.0) for step in range(1, 101)]
    engine = seeds(label=PAPER, errors=[*errors, (900, 500.0)])
    near = seeds(label="python", errors=errors[:90], steps=200)  # a shorter part of the same stream
    far = seeds(label="python", errors=errors[:10])
    cases = data(baselines=engine + near), data(baselines=engine + far), data(baselines=near)
    assert answers(judge, *cases) == ["yes", "no", "not enough data"]


def test_without_any_records_no_claim_is_judged() -> None:
    verdicts = judge_all(data())
    assert len(verdicts) == len(CLAIMS) > 50
    assert {each.verdict.answer for each in verdicts} == {"not enough data"}
    assert all(each.verdict.why.endswith(".") for each in verdicts)


# --------------------------------------------------------------------------- report

HOSTILE = "</title><script>alert('x')</script> | `a` $x^$ \n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return records of a figure and of a custom experiment, with hostile names."""
    top = tmp_path_factory.mktemp("records")
    runs = [made_up(label=label, seed=s, learned=True) for label in (OURS, PAPER) for s in range(2)]
    runs.append(made_up(label="QORA", status="failed", message=HOSTILE))
    write(top / "maze", runs, "maze (quick)")
    write(top / "of mine", [made_up(world="my:World", label=HOSTILE, last=1_000)], HOSTILE)
    report.write(top)
    return top


@pytest.fixture(scope="module")
def elsewhere(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the report on the same records again, with plots and Markdown in other places."""
    top = tmp_path_factory.mktemp("elsewhere")
    report.write(folder, top / "docs" / "all plots", top / "results.md")
    return top


class Links(HTMLParser):
    """Collects the link targets and tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.targets += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "data")]
        assert not any(k.startswith("on") for k, _ in attrs)


def test_the_page_has_no_external_links_and_no_scripts(folder: Path) -> None:
    text = (folder / "report" / "index.html").read_text(encoding="utf-8")
    page = Links()
    page.feed(text)
    assert page.targets and all(each.startswith(("#", "data:image/")) for each in page.targets)
    assert not page.tags & {"script", "link", "iframe", "object", "embed", "base"}
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style and "url(" not in style[1] and "@import" not in style[1]
    assert "prefers-color-scheme: dark" in style[1]
    assert {each[1:] for each in page.targets if each[0] == "#"} <= set(
        re.findall(r'id="([^"]+)"', text)
    )


def test_hostile_text_is_escaped(folder: Path) -> None:
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "<script" not in page and "&lt;script&gt;" in page
    results = (folder / "report" / "results.md").read_text(encoding="utf-8")
    assert "<script" not in results
    rows = [line for line in results.splitlines() if "alert" in line and line.startswith("|")]
    assert rows
    header = "| learner |"
    columns = next(line for line in results.splitlines() if line.startswith(header)).count("|")
    assert all(len(re.findall(r"(?<!\\)\|", row)) == columns for row in rows)
    assert len(rows) == 2  # the label, and the message of the failed run


def test_quick_records_are_marked_everywhere(folder: Path) -> None:
    for name in ("index.html", "results.md"):
        text = (folder / "report" / name).read_text(encoding="utf-8")
        assert "These are quick runs" in text and "yes (quick)" in text
        assert re.search(r"maze \(quick\)|maze \\\(quick\\\)", text)


def test_every_figure_has_a_small_svg_and_a_png(folder: Path) -> None:
    out = folder / "report"
    for name in ("maze", "of-mine"):
        svg, png = out / f"{name}.svg", out / f"{name}.png"
        assert svg.stat().st_size < 150_000 and png.read_bytes()[:4] == b"\x89PNG"
        assert f"]({name}.svg)" in (out / "results.md").read_text(encoding="utf-8")


def test_markdown_in_another_folder_links_to_the_plots(elsewhere: Path) -> None:
    text = (elsewhere / "results.md").read_text(encoding="utf-8")
    linked = [unquote(each) for each in re.findall(r"\]\(([^)]+\.svg)\)", text)]
    assert linked
    assert all((elsewhere / each).is_file() for each in linked)


def test_the_same_records_make_the_same_report(folder: Path, elsewhere: Path) -> None:
    for path in (folder / "report").iterdir():
        if path.name != "results.md":
            again = elsewhere / "docs" / "all plots" / path.name
            assert again.read_bytes() == path.read_bytes(), path.name
    text = (elsewhere / "results.md").read_text(encoding="utf-8")
    here = (folder / "report" / "results.md").read_text(encoding="utf-8")
    assert text.replace("docs/all%20plots/", "") == here


def test_a_report_on_a_single_experiment(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["report", str(folder / "of mine"), "--out", str(tmp_path / "out")])
    assert not exit_.value.code and "index.html" in capsys.readouterr().out
    assert (tmp_path / "out" / "of-mine.svg").is_file()
    results = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    assert "No claim of the paper is about these records." in results


def test_invalid_records_are_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="there is no folder"):
        report.write(tmp_path / "nowhere")
    with pytest.raises(RecordsError, match="has no records"):
        report.write(tmp_path)
    bad = tmp_path / "maze"
    bad.mkdir()
    (bad / "manifest.json").write_text("{")
    with pytest.raises(RecordsError, match="cannot read"):
        report.write(tmp_path)
    (bad / "manifest.json").write_text("[]")
    with pytest.raises(RecordsError):
        report.write(tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="makes symbolic links")
@pytest.mark.parametrize("name", ["report", "report/results.md", "report/index.html"])
def test_no_report_is_written_through_a_link_beside_the_records(tmp_path: Path, name: str) -> None:
    write(tmp_path / "maze", seeds(1))
    victim = tmp_path / "victim"
    victim.mkdir() if name == "report" else victim.write_text("precious")
    (tmp_path / "maze" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "maze" / name).symlink_to(victim)
    with pytest.raises(RecordsError, match=f"{name} is a symbolic link"):
        report.write(tmp_path / "maze")
    assert list(victim.iterdir()) == [] if name == "report" else victim.read_text() == "precious"


def test_a_damaged_run_is_one_clear_error_that_names_the_file(tmp_path: Path) -> None:
    write(tmp_path / "maze", seeds(1))
    (path,) = (tmp_path / "maze" / "runs").glob("*.windows.parquet")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(RecordsError, match=re.escape(str(path))):
        report.write(tmp_path)
    manifest = json.loads((tmp_path / "maze" / "manifest.json").read_text())
    assert read_all(tmp_path).runs("maze")[0].key == manifest["runs"][0]["key"]


def test_missing_runs_give_an_empty_figure_and_no_verdict(tmp_path: Path) -> None:
    write(tmp_path / "maze", seeds(2, status="missing", observed=0))
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    assert "2 missing" in text and "yes" not in text.split("## Claims")[1].split("## Figures")[0]


# --------------------------------------------------------------------------- provenance


DIFFERENCES: dict[str, dict[str, Any]] = {
    "a learner of one's own": {"learner": "mine:Learner"},
    "other settings": {"settings": {"alpha": 0.2}},
    "other questions": {"predict": {"facts": "full"}},
    "another world": {"world": "walls"},
    "another size": {"options": {"width": 4}},
    "shorter levels": {"episode": 5},
    "another label": {"label": "something"},
    "another world to be asked about": {"transfer": {"world": "maze", "every": 1, "options": {}}},
}


@pytest.mark.parametrize("other", DIFFERENCES.values(), ids=DIFFERENCES)
def test_claims_are_not_judged_by_custom_experiments(other: dict[str, Any]) -> None:
    runs = seeds(3, told=other)
    assert not is_figure("maze", Unwritten(*seeds(), *runs).runs)
    figures, own = split(data(maze=runs, walls=seeds(world="walls")))
    assert (list(figures.records), list(own.records)) == (["walls"], ["maze"])
    assert {e.verdict.answer for e in judge_all(figures) if e.claim.home == "maze"} == {UNKNOWN}


@pytest.mark.parametrize("name", [k for k, v in FIGURES.items() if v.config and k != "trees"])
def test_records_of_reproduce_belong_to_the_figure(name: str) -> None:
    for small in (False, True):
        config = experiment(FIGURES[name], small)
        assert config is not None
        entries = [json.loads(json.dumps(run.to_dict())) for run in config.runs(2)]
        assert is_figure(name, [SimpleNamespace(**each) for each in entries])


@pytest.fixture
def plain_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw only the first label, for tests of files and their names."""

    def first_label(data: Data, name: str) -> Any:
        figure, grid = panels(1, 1)
        grid[0][0].set_title(data.labels(name)[0])
        return figure

    monkeypatch.setitem(PLOTS, "curves", first_label)


@pytest.mark.usefixtures("plain_plots")
def test_custom_experiments_may_have_the_names_of_figures(tmp_path: Path) -> None:
    labels = {"alpha": "one of mine", "complexity": "TreeThink", "trees": "x", "predict": "x"}
    for name, label in labels.items():
        write(tmp_path / name, seeds(3, world="mine:World", label=label), f"my {name}")
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    assert "No claim of the paper is about these records." in text
    assert all(f"### my {name}" in text and f"]({name}.svg)" in text for name in labels)


@pytest.mark.usefixtures("plain_plots")
def test_similar_names_get_different_files(tmp_path: Path) -> None:
    for name in ("a b", "a-b", "A b", "maze", "MAZE"):
        write(tmp_path / name, seeds(1, label=name), name)
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([^)]+\.svg)\)", text)
    assert len(linked) == len({each.casefold() for each in linked}) == 5
    for name, file in zip(re.findall(r"^### (.*)$", text, re.MULTILINE)[-5:], linked, strict=True):
        assert f">{name}<" in (tmp_path / "report" / file).read_text(encoding="utf-8")
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    anchors = re.findall(r'id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors))


# --------------------------------------------------------------------------- contents


def test_every_claim_is_in_the_overview_once() -> None:
    tables = overview(judge_all(data()))
    assert sum(len(each.rows) for each in tables[:2]) <= 45 and len(tables) == 4
    assert len(tables[2].rows) == 16 and tables[2].title.startswith("Networks")
    first = [row[0] for each in tables for row in each.rows]
    assert len(first) == len(set(first)) == len({claim.text for claim in CLAIMS})
    assert all(len(row) == len(each.header) for each in tables for row in each.rows)


def test_the_overview_has_both_settings_side_by_side() -> None:
    runs = [*seeds(last=1_700, steps=9_000, label=PAPER), *seeds(last=400, steps=9_000)]
    judgements = [each for each in judge_all(data(maze=runs)) if each.claim.home == "maze"]
    about, worlds = overview(judgements)
    assert about.rows == (
        (
            "TreeThink learns maze in about 1,700 observations.",
            "1,700",
            "yes: 1,700 (1,700 to 1,700)",
            "partly: 400 (400 to 400), better",
            "4",
        ),
    )
    assert worlds.rows == (("maze", "yes: 1,700 (worst 1,700)", "yes: 400 (worst 400)", "4"),)
    assert (
        len(reasons(judgements)) == 1 and "Partly, defaults: The median" in reasons(judgements)[0]
    )


def test_the_page_starts_with_its_sources_and_the_claims(folder: Path, elsewhere: Path) -> None:
    text = (folder / "report" / "results.md").read_text(encoding="utf-8")
    assert "Made by `treethink report` from the records of: maze, of mine." in text
    assert "```sh\ntreethink reproduce maze --quick\n```" in text
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "from the records of: maze, of mine." in page
    assert "<code>treethink reproduce maze --quick</code>" in page
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads == ["Claims", "Figures", "How it was made"]
    text = (elsewhere / "results.md").read_text(encoding="utf-8")
    assert str(elsewhere) not in text and folder.name not in text  # it may be published


def test_the_origin_has_only_commands_that_reproduce_the_records(tmp_path: Path) -> None:
    def origin_of(*names: str, quick: tuple[str, ...] = (), own: tuple[str, ...] = ()) -> Origin:
        figures = {n: Unwritten(title=f"{n} (quick)" if n in quick else n) for n in names}
        every = Data(figures | {n: Unwritten() for n in own}, tmp_path)
        return origin(every, Data(figures, tmp_path))

    assert origin_of(own=("mine",)) == Origin("mine", ())
    some = origin_of("keys", "maze", own=("mine",))
    assert some == Origin("maze, keys, mine", ("treethink reproduce maze keys",))
    mixed = origin_of("walls", "maze", quick=("maze",))
    assert mixed.commands == ("treethink reproduce walls", "treethink reproduce maze --quick")
    recorded = [k for k, v in FIGURES.items() if v.config and k != "trees"]
    assert origin_of(*recorded).commands[0].startswith("treethink reproduce walls doors")
    for name, file in (("trees", "maze.tt"), ("worlds", "00-walls.png")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    whole = origin_of(*recorded, own=("mine",))
    assert whole.commands == ("treethink reproduce all",) and whole.records.endswith(", mine")
    assert origin_of(*recorded, quick=tuple(recorded)).commands == (
        "treethink reproduce all --quick",
    )


def test_a_claim_is_left_out_if_most_of_its_figures_were_not_run(tmp_path: Path) -> None:
    write(tmp_path / "maze", [*seeds(3), *seeds(3, label=PAPER), *seeds(3, label="QORA")])
    report.write(tmp_path)
    for name in ("results.md", "index.html"):
        text = (tmp_path / "report" / name).read_text(encoding="utf-8")
        assert "it was not run" not in text and "every deterministic world" not in text
        omitted = re.search(r"(\d+) claims of the paper are left out:", text)
        shown = re.search(r"verdicts on (\d+) claims", text)
        assert omitted and shown
        assert int(omitted[1]) + int(shown[1]) == len({claim.text for claim in CLAIMS})
    (every,) = (c for c in CLAIMS if c.paper == "all 12" and c.setting == "defaults")
    assert not every.can_be_judged(
        data(**{name.replace("-", "_"): [] for name in DETERMINISTIC[:5]})
    )
    assert every.can_be_judged(data(**{name.replace("-", "_"): [] for name in DETERMINISTIC[:6]}))


def test_results_better_than_the_papers_are_listed_separately() -> None:
    runs = [*seeds(last=4_000, steps=9_000, label=PAPER), *seeds(last=400, steps=9_000)]
    fast = four_settings(both=0.001)
    judgements = judge_all(data(maze=runs, inference=fast))
    sections = explanations(judgements)
    better, bad = sections[BETTER], sections[NOT_CONFIRMED]
    assert any(e.startswith("TreeThink learns maze in about 1,700") for e in better)
    assert any("about 35 times faster" in e and "Partly: " in e for e in better)
    assert all("It is better: " in each for each in better)
    assert any("learns maze" in e and "No, paper's settings" in e for e in bad)
    assert not any("better" in each for each in bad)
    assert {e.verdict.answer for e in judgements if e.verdict.better} == {"partly"}


# --------------------------------------------------------------------------- transfer, styles


def custom_transfer(**changes: Any) -> list[dict[str, Any]]:
    """Return runs of a custom experiment with transfer to another world."""
    elsewhere = {"world": "maze-t", "options": {"width": 9}, "every": 500, "steps": 10}
    return [
        *seeds(3, transfer_error=[np.nan, 1.0] * 4 + [np.nan, 0.25], transfer_us=7.0,
               told={"transfer": elsewhere}, **changes),
        *seeds(3, world="walls", **changes),
    ]  # fmt: skip


def test_a_custom_transfer_has_a_panel_and_a_table(tmp_path: Path) -> None:
    write(tmp_path / "mine", custom_transfer(), "mine")
    report.write(tmp_path / "mine")
    out = tmp_path / "mine" / "report"
    svg = (out / "mine.svg").read_text(encoding="utf-8")
    assert svg.count(">maze: error in maze-t with width 9<") == 1
    assert "no records" not in svg and "walls: error in" not in svg
    text = (out / "results.md").read_text(encoding="utf-8")
    assert "| learned in | asked about | learner | error there, at the end" in text
    assert "| maze | maze-t with width 9 | TreeThink | 0.25 (0.25) | 0 of 3 | – | 7 |" in text
    assert "The error in another world" in text


def test_a_report_without_transfer_does_not_mention_it(folder: Path) -> None:
    text = (folder / "report" / "results.md").read_text(encoding="utf-8")
    assert "asked about" not in text and "another world" not in text


def test_the_panel_of_a_transfer_shows_the_recorded_errors() -> None:
    with styled():
        figure = PLOTS["curves"](data(mine=custom_transfer()), "mine")
    axes = next(each for each in figure.axes if "maze-t" in each.get_title())
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [1.0] * 4 + [0.25]


def test_the_error_and_the_step_of_the_last_error_have_different_headings() -> None:
    table = transfer_table(data(transfer_maze=seeds(3, transfer_error=0.5)), "transfer-maze")
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert row["error at 32 × 32, at the end, median (worst)"] == "0.5 (0.5)"
    assert row["last error at 8 × 8, median (worst)"] == "100 (100)"
    assert all(len(each) == len(table.header) for each in table.rows)


def runs_of(**labels: dict[str, Any]) -> dict[str, Any]:
    defaults = {"learner": "treethink", "settings": {}, "predict": {}}
    return {label: [SimpleNamespace(**defaults | changes)] for label, changes in labels.items()}


def test_treethink_with_default_settings_is_always_blue() -> None:
    paper = {"criterion": "wilson", "memory": 0}
    first: dict[str, dict[str, Any]] = {
        "other": {"settings": {"alpha": 0.5}},
        "mine": {},
        "old": {"settings": paper},
    }
    styles = line_styles(runs_of(**first))
    assert styles["mine"][0] == BLUE and styles["old"][0] == RED
    assert line_styles(runs_of(**dict(reversed(first.items())))) == styles  # in any order
    assert line_styles(runs_of(mine={"settings": {"alpha": 0.01}}))["mine"][0] == BLUE
    # The name alone does not decide.
    styles = line_styles(runs_of(TreeThink={"settings": {"alpha": 0.5}}, mine={}))
    assert styles["mine"][0] == BLUE != styles["TreeThink"][0]
    assert line_styles(runs_of(TreeThink={"settings": {"alpha": 0.5}}))["TreeThink"][0] == BLUE
    assert line_styles(runs_of(a={"learner": "qora"}, b={"learner": "static"})) == {
        "a": LINE_STYLES["QORA"], "b": LINE_STYLES["static"],
    }  # fmt: skip


@given(st.lists(st.sampled_from([*LINE_STYLES, "a", "b", "c", "d"]), unique=True, max_size=6))
def test_learners_have_different_colours(labels: list[str]) -> None:
    changes = {label: {"learner": "mine:Learner"} for label in labels}
    styles = line_styles(runs_of(**changes))
    assert sorted(styles) == sorted(labels)
    assert len({colour for colour, _ in styles.values()}) == len(labels)


@pytest.mark.parametrize("name", [k for k, v in FIGURES.items() if v.config and k != "trees"])
def test_labels_of_the_papers_figures_have_fixed_styles(name: str) -> None:
    config = experiment(FIGURES[name], small=True)
    assert config is not None and name
    groups: dict[str, Any] = {}
    for run in config.runs():
        groups.setdefault(run.label, []).append(run)
    if name != "alpha":  # its labels have shades
        assert line_styles(groups) == {label: LINE_STYLES[label] for label in groups}


def test_a_logarithmic_axis_is_labelled() -> None:
    every = data(mine=seeds(3), inference=four_settings(), branches=seeds(3, world="switches"))
    for kind, name in (("curves", "mine"), ("inference", "inference"), ("branches", "branches")):
        with styled():
            figure = PLOTS[kind](every, name)
        scales = [(axes.get_yscale(), "log scale" in axes.get_ylabel()) for axes in figure.axes]
        assert {is_labelled for scale, is_labelled in scales if scale == "log"} == {True}
        assert {is_labelled for scale, is_labelled in scales if scale == "linear"} <= {False}


def test_pictures_are_linked_once_and_never_as_png(folder: Path) -> None:
    text = (folder / "report" / "results.md").read_text(encoding="utf-8")
    linked = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert linked and len(set(linked)) == len(linked)
    assert all(each.endswith(".svg") for each in linked)


def test_plausible_predictions_count_as_right_in_random_worlds() -> None:
    runs = [
        *seeds(3, world="fish", learned=True),
        *seeds(3, world="fish", label="x", learned=False),
    ]
    for run in runs:
        run["entry"]["examined"] |= {"exact": 0, "plausible": 100 if run["entry"]["seed"] else 90}
    table = learning_table(data(fish=runs), "fish")
    at = table.header.index("held-out right")
    assert [row[at] for row in table.rows] == ["all (0.9000)"] * 2
    table = learning_table(data(maze=seeds(3, learned=False)), "maze")
    assert table.rows[0][at] == "0.5000 (0.5000)"  # only exact ones count


def test_complexity_marks_runs_that_did_not_converge() -> None:
    from matplotlib.figure import Figure

    worlds = [f"scale({p},{c})" for p in (1, 2) for c in (1, 2, 3)]
    runs = [made_up(world, last=100) for world in worlds] + [made_up("scale(3,3)", last=999)]
    records = data(complexity=runs)
    table = complexity(records, "complexity")
    at = table.header.index("not converged (bounds)")
    assert {row[at] for row in table.rows} == {"1"} and {row[1] for row in table.rows} == {"7"}
    axes = Figure().subplots()
    against_size(axes, records, [OURS])
    marks = {each.get_markerfacecolor(): len(each.get_xdata()) for each in axes.lines[:2]}  # type: ignore[arg-type]
    assert marks == {"#0072B2": 6, "none": 1}


def test_trees_are_also_written_as_text(tmp_path: Path) -> None:
    models, out = tmp_path / "trees", tmp_path / "out"
    models.mkdir()
    out.mkdir()
    world = make("maze")
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, 200, 0))
    model.save(models / "maze.tt", memory=False)
    names = [name.removesuffix(".svg") for name, _ in plot_figures.trees(models, out)]
    assert names == ["tree-maze-player-pos", "tree-maze-game-score"]
    for name in names:
        assert (out / f"{name}.dot").read_text(encoding="utf-8").startswith("digraph")
        assert (out / f"{name}.mmd").read_text(encoding="utf-8").count("flowchart TD") == 1
        assert (out / f"{name}.svg").is_file() and (out / f"{name}.png").is_file()


def test_states_of_all_worlds_are_one_picture(tmp_path: Path) -> None:
    (tmp_path / "worlds").mkdir()
    pixels = np.zeros((8, 6, 3), np.uint8)
    for name in ("00-walls", "01-scale-1-1"):
        imsave(tmp_path / "worlds" / f"{name}.png", pixels)
    report.write(tmp_path)
    text = (tmp_path / "report" / "results.md").read_text(encoding="utf-8")
    assert text.count("![") == 1 and "](worlds.svg)" in text
    svg = (tmp_path / "report" / "worlds.svg").read_text(encoding="utf-8")
    assert ">walls<" in svg and ">scale-1-1<" in svg and svg.count("<image") == 2


def test_the_results_page_has_the_sentences_of_the_report() -> None:
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    captions = {FIGURES[name].kind for name in FIGURES} - {"ladder"}  # it has its own page
    sentences = [READING, *(plain(CAPTIONS[kind]) for kind in captions)]
    sentences += [plain(claim.text) for claim in CLAIMS if not claim.world]
    assert [each for each in sentences if each not in page] == []
    ladder = (Path(__file__).parents[2] / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert CAPTIONS["ladder"] in ladder
