"""Judges of branches, alpha, and how learning time grows."""

from __future__ import annotations

import math

import numpy as np

from treethink.report.data import Data
from treethink.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    by_seed,
    lacking,
    says_nothing,
    seeds_of,
    unknown,
)
from treethink.report.series import mean_of
from treethink.report.statistics import (
    Array,
    bootstrap,
    converged,
    estimate,
    fit,
    last_error,
    number,
    paired,
    ratio,
)


def updating_helps(world: str, label: str, fixed: str) -> Judge:
    """Whether branches that may change converge sooner, or err less where errors never end."""

    def judge(data: Data) -> Verdict:
        free, stiff = data.runs("branches", label, world), data.runs("branches", fixed, world)
        if gap := lacking(free) or lacking(stiff):
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
        found = estimate(ratios)
        if says_nothing(found):
            return unknown("neither converged", "–", free)
        ours = f"{found} times"
        said = f"With fixed branches, the {what} is {found.median} times as large."
        if found.interval.low > 1:
            return Verdict(YES, ours, str(found.seeds), said)
        if found.median.low > 1:
            return Verdict(PARTLY, ours, str(found.seeds), f"{said} It may be chance.")
        return Verdict(NO, ours, str(found.seeds), said)

    return judge


def stable_over_alpha(suffix: str) -> Judge:
    """Whether every alpha learns the maze, and none takes much longer than another."""

    def judge(data: Data) -> Verdict:
        labels = [each for each in data.labels("alpha") if each.endswith("(paper)") == bool(suffix)]
        groups = {label: data.runs("alpha", label) for label in labels}
        everyone = [run for runs in groups.values() for run in runs]
        if gap := lacking(everyone):
            return unknown(gap, "–", everyone)
        middles = {k: estimate([last_error(run) for run in v]).median for k, v in groups.items()}
        bad = [k for k, v in groups.items() if not all(converged(run) for run in v)]
        least = min(each.low for each in middles.values())
        most = max(each.high for each in middles.values())
        ours = f"median last error {number(least)} to {number(most)}"
        if bad:
            said = f"Not every seed converged with {', '.join(bad)}."
            answer = PARTLY if len(bad) < len(groups) else NO
            return Verdict(answer, ours, seeds_of(everyone), said)
        spread = most / max(least, 1)
        said = f"Every seed converged; the slowest alpha takes {number(spread)} times the fastest."
        return Verdict(YES if spread <= 4 else PARTLY, ours, seeds_of(everyone), said)

    return judge


def pair_of(world: str) -> tuple[int, int]:
    """(players, actions) of `scale(2,1)`."""
    p, c = world.removeprefix("scale(").removesuffix(")").split(",")
    return int(p), int(c)


def linear(figure: str, label: str) -> Judge:
    """Whether the last error grows in proportion to players times actions."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs):
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
        said = (
            f"{number(line.coefficients[1])} observations for each player and action; as a power"
            f" of players × actions, the exponent is {power:.2f}."
        )
        straight, proportional = line.r_squared >= 0.8, 0.8 <= power <= 1.25
        answer = NO if not proportional else YES if straight else PARTLY
        return Verdict(answer, ours, seeds_of(runs), said)

    return judge


def _slopes(draws: Array) -> Array:
    x, y = draws[..., 0], draws[..., 1]
    dx = x - x.mean(axis=1, keepdims=True)
    slopes: Array = (dx * y).sum(axis=1) / np.maximum((dx * dx).sum(axis=1), 1e-12)
    return slopes
