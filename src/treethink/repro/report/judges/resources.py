"""Judges of claims about random worlds, time and memory, and transfer to larger worlds."""

from __future__ import annotations

import math

from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    has_learned,
    lacking,
    seeds_of,
    unknown,
)
from treethink.repro.report.series import Run, ended, growth, mean_of, measured, time_of
from treethink.repro.report.statistics import converged, estimate, median, number, paired
from treethink.repro.runner import TOLERANCE

NOT_TIMED = "not every run has times of observations"


def approaches(figure: str, label: str, beside: str = "static") -> Judge:
    """Judge whether predictions in a random world approach the true distribution."""

    def judge(data: Data) -> Verdict:
        runs, naive = data.runs(figure, label), ended(data.runs(figure, beside))
        late = [mean_of(run, "error", 0.1) for run in ended(runs)]
        ours = f"error {number(median(late))} at the end" if late else "–"
        if gap := lacking(runs, data.fewest) or ("" if naive else f"{beside} was not run"):
            return unknown(gap, ours, runs)
        good = sum(has_learned(run) for run in runs)
        start = median([mean_of(run, "error") for run in naive])
        why = (
            f"{good} of {len(runs)} seeds predict as well as chance allows; the mean error of the"
            f" last tenth is {number(median(late))}, that of {beside} {number(start)}."
        )
        near = all(each < 0.1 * start for each in late)
        answer = YES if near and good == len(runs) else PARTLY if near or good else NO
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


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
        answer = YES if as_expected == len(runs) else PARTLY if as_expected else NO
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


def exact_elsewhere(run: Run) -> bool:
    """Whether all held-out transitions of the larger world were exact, if there were any."""
    examination = run.examined_transfer
    return examination is None or bool(examination["exact"] == examination["held_out"])


def transfers(figure: str, label: str) -> Judge:
    """Judge whether models that were learned in small levels are exact in large ones."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        last = [float(y[-1]) for run in ended(runs) if len(y := measured(run, "transfer_error")[1])]
        ours = f"error {number(median(last))} (worst {number(max(last))})" if last else "–"
        if gap := lacking(runs, data.fewest):
            return unknown(gap, ours, runs)
        if len(last) < len(runs):
            return unknown("it was not asked about the larger world", ours, runs)
        right = [
            each <= TOLERANCE and exact_elsewhere(run) for run, each in zip(runs, last, strict=True)
        ]
        good = sum(right)
        # A run that has not learned the small world says nothing about transfer.
        not_yet = sum(not r and not converged(run) for run, r in zip(runs, right, strict=True))
        why = f"{good} of {len(runs)} seeds are without an error in the larger world"
        if not_yet:
            why += f", {not_yet} had not learned the small one yet"
        if not good and not_yet:
            return unknown(why, ours, runs)
        answer = YES if good == len(runs) else PARTLY if good else NO
        why = f"{why}, at the end and in all that was held out."
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge
