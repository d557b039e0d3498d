"""Judges of claims about branch updates, alpha, and how time and memory grow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    UNKNOWN,
    YES,
    Judge,
    Verdict,
    by_seed,
    graded,
    is_unbounded,
    judged_ratio,
    lacking,
    seeds_of,
    too_wide,
    unknown,
    why_too_wide,
)
from treethink.repro.report.series import Run, ended, growth, mean_of, time_of
from treethink.repro.report.statistics import (
    Array,
    Bounds,
    bootstrap,
    converged,
    estimate,
    fit,
    last_error,
    median,
    number,
    paired,
    ratio,
    worst,
)

#: The least number of values in a wide range of alpha, and the least ratio of its ends.
FEWEST_ALPHAS, WIDE_RANGE = 3, 99.99  # in floating point, 0.1 / 0.001 is not quite 100
#: Exponents of proportional growth, and the largest width of an exponent's interval.
ABOUT_ONE, WIDEST_EXPONENT = (0.8, 1.25), 0.5
MANY_WORLDS = 10


def updating_helps(world: str, label: str, fixed: str) -> Judge:
    """Judge whether branch updates lead to convergence sooner, or to smaller errors in fish."""

    def judge(data: Data) -> Verdict:
        free, stiff = data.runs("branches", label, world), data.runs("branches", fixed, world)
        if gap := lacking(free, data.fewest) or lacking(stiff, data.fewest):
            return unknown(gap, "–", [*free, *stiff])
        if world == "fish":
            what = "mean error of the last fifth"
            a = {run.seed: mean_of(run, "error", 0.2) for run in stiff}
            b = {run.seed: mean_of(run, "error", 0.2) for run in free}
            ratios = paired(a, b)
        else:
            what = "last error"
            late, soon = by_seed(stiff), by_seed(free)
            ratios = [ratio(late[s], soon[s]) for s in sorted(late.keys() & soon.keys())]
        if not ratios:
            return unknown("no seed in common", "–", free)
        value = estimate(ratios)
        if is_unbounded(value):
            return unknown("neither converged", "–", free)
        ours = f"{value} times"
        if value.interval.low <= 1 and too_wide(value, 1):
            return unknown(why_too_wide(value), ours, free)
        why = f"With fixed branches, the {what} is {value.median} times as large."
        if value.interval.low > 1:
            return Verdict(YES, ours, str(value.seeds), why)
        if value.median.low > 1:
            return Verdict(PARTLY, ours, str(value.seeds), f"{why} It may be chance.")
        return Verdict(NO, ours, str(value.seeds), why)

    return judge


def stable_over_alpha(paper: bool) -> Judge:
    """Judge whether every alpha learns the maze, and none takes much longer than another."""

    def judge(data: Data) -> Verdict:
        groups = by_alpha(data, "alpha", paper)
        everyone = [run for runs in groups.values() for run in runs]
        if gap := lacking(everyone, data.fewest):
            return unknown(gap, "–", everyone)
        if len(groups) < FEWEST_ALPHAS or max(groups) < WIDE_RANGE * min(groups):
            listed = ", ".join(f"{alpha:g}" for alpha in groups)
            return unknown(f"{listed} is no wide range of alpha", "–", everyone)
        middles = [estimate([last_error(run) for run in runs]).median for runs in groups.values()]
        bad = [alpha for alpha, runs in groups.items() if not all(map(converged, runs))]
        least = min(middles, key=lambda each: (each.low, each.high))
        most = worst(middles)
        ours = f"median last error {least} to {most}"
        if bad:
            why = f"Not every seed converged with alpha {', '.join(f'{each:g}' for each in bad)}."
            answer = PARTLY if len(bad) < len(groups) else NO
            return Verdict(answer, ours, seeds_of(everyone), why)
        spread = most.high / max(least.low, 1)
        why = f"Every seed converged; the slowest alpha takes {number(spread)} times the fastest."
        return Verdict(YES if spread <= 4 else PARTLY, ours, seeds_of(everyone), why)

    return judge


def by_alpha(data: Data, figure: str, paper: bool) -> dict[float, list[Run]]:
    """Return the runs with the paper's other settings, or with our defaults, by alpha."""
    groups: dict[float, list[Run]] = {}
    for run in data.runs(figure):
        if run.label.endswith("(paper)") == paper:
            groups.setdefault(float(run.settings["alpha"]), []).append(run)
    return groups


def pair_of(world: str) -> tuple[int, int]:
    """Return (players, actions) of a world such as `scale(2,1)`."""
    p, c = world.removeprefix("scale(").removesuffix(")").split(",")
    return int(p), int(c)


def linear(figure: str, label: str) -> Judge:
    """Judge whether the last error grows in proportion to players times actions."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        # Many worlds with one seed each are as good as few worlds with many seeds.
        many = len({run.world for run in runs}) >= MANY_WORLDS
        if gap := lacking(runs, 1 if many else data.fewest):
            return unknown(gap, "–", runs)
        late = sum(not converged(run) for run in runs)
        if late:
            return unknown(f"{late} of {len(runs)} runs did not converge", "–", runs)
        sizes = np.array([math.prod(pair_of(run.world)) for run in runs], dtype=np.float64)
        if len(set(sizes)) < 3:
            return unknown("fewer than three sizes", "–", runs)
        steps = np.array([max(run.last_error or 0, 1) for run in runs], dtype=np.float64)
        line = fit([sizes], steps)
        power = fit([np.log(sizes)], np.log(steps)).coefficients[1]
        low, high = bootstrap(np.column_stack([np.log(sizes), np.log(steps)]), _slopes)
        ours = f"R² {line.r_squared:.3f}, exponent {power:.2f} ({low:.2f} to {high:.2f})"
        why = (
            f"{number(line.coefficients[1])} observations for each player and action; as a power"
            f" of players × actions, the exponent is {power:.2f}."
        )
        answer = _proportional(float(low), float(high), straight=line.r_squared >= 0.8)
        if answer == UNKNOWN:
            return unknown("the exponent's interval is too wide", ours, runs)
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _proportional(low: float, high: float, straight: bool) -> str:
    """Return the answer whether an exponent is about 1, given its interval.

    >>> [_proportional(*each, straight=True) for each in ((0.9, 1.1), (0.85, 0.95), (0.7, 0.9))]
    ['yes', 'yes', 'partly']
    >>> [_proportional(*each, straight=True) for each in ((0.2, 3.0), (1.3, 1.5))]
    ['not enough data', 'no']
    """
    if high < ABOUT_ONE[0] or low > ABOUT_ONE[1]:
        return NO
    if high - low > WIDEST_EXPONENT:
        return UNKNOWN
    within = ABOUT_ONE[0] <= low and high <= ABOUT_ONE[1]
    return YES if straight and (within or low <= 1 <= high) else PARTLY


def _slopes(draws: Array) -> Array:
    x, y = draws[..., 0], draws[..., 1]
    dx = x - x.mean(axis=1, keepdims=True)
    slopes: Array = (dx * y).sum(axis=1) / np.maximum((dx * dx).sum(axis=1), 1e-12)
    return slopes


# --------------------------------------------------------------------------------------- inference
#
# The two savings of prediction: facts on demand, and stopping at the first binding.


def times_of(data: Data, figure: str, label: str, world: str, column: str) -> dict[int, float]:
    """Return the time of each seed."""
    runs = ended(data.runs(figure, label, world))
    times = {run.seed: time_of(run, column) for run in runs}
    return {seed: value for seed, value in times.items() if not math.isnan(value)}


def speed_up(data: Data, world: str, column: str, fast: str) -> list[Bounds]:
    """Return how many times faster than `none` it is, seed by seed."""
    slow = times_of(data, "inference", "none", world, column)
    return paired(slow, times_of(data, "inference", fast, world, column))


def faster(world: str, column: str, times: float) -> Judge:
    """Judge whether both savings together make prediction about `times` times faster."""

    def judge(data: Data) -> Verdict:
        runs = [run for name in ("none", "both") for run in data.runs("inference", name, world)]
        ratios = speed_up(data, world, column, "both")
        if gap := lacking(runs, data.fewest) or ("" if ratios else "nothing was timed"):
            return unknown(gap, "–", runs)
        return judged_ratio(estimate(ratios), times, "Without them, a prediction takes", gain=True)

    return judge


def grows_with_objects(data: Data) -> Verdict:
    """Judge whether the speed-up is larger in the larger world, seed by seed."""
    runs = [run for name in ("none", "both") for run in data.runs("inference", name, "maze")]
    small = speed_up(data, "maze", "predict_us", "both")
    large = speed_up(data, "maze", "transfer_us", "both")
    if gap := lacking(runs, data.fewest) or ("" if small and large else "nothing was timed"):
        return unknown(gap, "–", runs)
    growth = estimate([ratio(b, a) for a, b in zip(small, large, strict=True)])
    ours = f"{estimate(small).median} at 8 x 8, {estimate(large).median} at 32 x 32"
    answer = YES if growth.interval.low > 1 else NO
    why = f"The speed-up at 32 x 32 is {growth} times that at 8 x 8."
    return Verdict(answer, ours, str(growth.seeds), why)


def eval_alone_gains_little(data: Data) -> Verdict:
    """Judge whether stopping at the first binding alone gains under 1%."""
    runs = [run for name in ("none", "eval") for run in data.runs("inference", name)]
    gains: dict[str, float] = {}
    for world, column, name in INFERENCE_ROWS:
        ratios = speed_up(data, world, column, "eval")
        if ratios:
            gains[name] = 1 - 1 / estimate(ratios).median.low
    ours = ", ".join(f"{name} {gain:+.1%}" for name, gain in gains.items()) or "–"
    if gap := lacking(runs, data.fewest) or (
        "" if len(gains) == len(INFERENCE_ROWS) else "not all were timed"
    ):
        return unknown(gap, ours, runs)
    small = sum(gain < 0.01 for gain in gains.values())
    answer = graded(small, len(gains))
    return Verdict(
        answer, ours, seeds_of(runs), f"Under 1% in {small} of {len(gains)} worlds (median gain)."
    )


#: World of the runs, column with the time, name in the paper's table.
INFERENCE_ROWS = (
    ("maze", "predict_us", "maze"),
    ("maze", "transfer_us", "maze-t"),
    ("switches", "predict_us", "switches"),
    ("keys", "predict_us", "keys"),
)


def learn_identically(data: Data) -> Verdict:
    """Judge whether the four settings made exactly the same errors."""
    runs = data.runs("inference")
    if gap := lacking(runs, data.fewest):
        return unknown(gap, "–", runs)
    groups: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.world, run.seed), []).append(run)
    if any(len(group) < 4 for group in groups.values()):
        return unknown("not all four settings ran", "–", runs)
    different = [key for key, group in groups.items() if not _same_errors(group)]
    ours = f"{len(groups) - len(different)} of {len(groups)} streams"
    if not different:
        return Verdict(YES, ours, seeds_of(runs), "Step by step, the errors are equal.")
    names = ", ".join(f"{world} seed {seed}" for world, seed in different[:5])
    answer = PARTLY if len(different) < len(groups) else NO
    return Verdict(answer, ours, seeds_of(runs), f"They differ in {names}.")


def _same_errors(group: Sequence[Run]) -> bool:
    (steps, errors), *others = (run.errors for run in group)
    return all(np.array_equal(steps, s) and np.array_equal(errors, e) for s, e in others)


# --------------------------------------------------------------------------------- time and memory

NOT_TIMED = "not every run has times of observations"


def blows_up(figure: str, label: str, expected: bool = True) -> Judge:
    """Judge whether runs are stopped at a limit, or become ten times as slow."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs, data.fewest, stopped_too=False):
            return unknown(gap, "–", runs)
        stopped = sum(run.status == "stopped" for run in runs)
        grew = [growth(run, "observe_us") for run in runs]
        bad = sum(
            run.status == "stopped" or each >= 10 for run, each in zip(runs, grew, strict=True)
        )
        ours = f"{bad} of {len(runs)} runs"
        known = [each for each in grew if math.isfinite(each)]
        if any(
            run.status != "stopped" and not math.isfinite(each)
            for run, each in zip(runs, grew, strict=True)
        ):
            return unknown(NOT_TIMED, ours, runs)
        least = min(run.observed for run in runs)
        why = f"{stopped} of {len(runs)} runs were stopped at a limit"
        why += f", the first after {least:,} steps" if stopped else f" within {least:,} steps"
        if known:
            why += f"; observing took {number(median(known))} times as long in the last tenth as"
            why += " in the first (median)"
        as_expected = bad if expected else len(runs) - bad
        answer = graded(as_expected, len(runs))
        return Verdict(answer, ours, seeds_of(runs), f"{why}.")

    return judge


def slower_to_observe(figure: str, label: str, than: str) -> Judge:
    """Judge whether an observation takes one learner at least ten times as long as another."""

    def judge(data: Data) -> Verdict:
        slow, fast = data.runs(figure, label), data.runs(figure, than)
        if gap := lacking(slow, data.fewest, stopped_too=False) or lacking(fast, data.fewest):
            return unknown(gap, "–", [*slow, *fast])
        a, b = ({run.seed: time_of(run, "observe_us") for run in each} for each in (slow, fast))
        if not all(math.isfinite(each) for each in (*a.values(), *b.values())):
            return unknown(NOT_TIMED, "–", [*slow, *fast])
        ratios = paired(a, b)
        if not ratios:
            return unknown("no seed in common", "–", slow)
        value = estimate(ratios)
        answer = YES if value.interval.low >= 10 else PARTLY if value.interval.low > 1 else NO
        why = f"An observation takes {label} {value.median} times as long as {than} (medians)."
        if stopped := sum(run.status == "stopped" for run in slow):
            why += f" {stopped} of {len(slow)} runs were stopped at a limit."
        return Verdict(answer, f"{value} times", str(value.seeds), why)

    return judge


def stable(figure: str, label: str) -> Judge:
    """Judge whether the time of an observation stays stable during learning."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs, data.fewest):
            return unknown(gap, "–", runs)
        grew = [growth(run, "observe_us") for run in runs]
        if not all(math.isfinite(each) for each in grew):
            return unknown(NOT_TIMED, "–", runs)
        answer = YES if max(grew) <= 2 else PARTLY if median(grew) <= 2 else NO
        ours = f"{number(median(grew))} times (most {number(max(grew))})"
        why = f"In the last tenth of a run, an observation takes {ours} as long as in the first."
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge
