"""Judges of claims about networks: zero error, its loss, and transfer to larger levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import played
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    by_seed,
    graded,
    is_about,
    judged_ratio,
    lacking,
    lacking_by_label,
    seeds_of,
    too_wide,
    unknown,
    why_too_wide,
)
from treethink.repro.report.judges.planning import NEAR
from treethink.repro.report.series import Run, column, ended, mean_of, measured
from treethink.repro.report.statistics import Array, Bounds, estimate, median, number, ratio
from treethink.repro.report.zero_error import keeps, lost, reached, reaches
from treethink.repro.runner import TOLERANCE as EXACT

#: Shorter runs cannot show that something never happens.
LONG = 500_000
#: A loss below this is zero, as far as it is measured.
ZERO_LOSS = 1e-6
#: The share of measurements that counts as almost always.
ALMOST_ALWAYS = 0.9


def too_short(runs: Sequence[Run]) -> str:
    """Return why runs are too short for zero error to be reached and lost; empty if not."""
    least = min((run.observed for run in runs), default=0)
    return f"runs of {least:,} observations are too short" if least < LONG else ""


def none_keeps(figure: str, labels: Sequence[str]) -> Judge:
    """Judge whether no network reaches zero error and keeps it to the end."""

    def judge(data: Data) -> Verdict:
        groups = {label: data.runs(figure, label) for label in labels}
        runs = list(chain.from_iterable(groups.values()))
        kept = {label: sum(map(keeps, ended(group))) for label, group in groups.items()}
        ours = f"kept by {sum(kept.values())} of {len(ended(runs))} runs"
        if gap := lacking_by_label(groups, data.fewest) or too_short(runs):
            return unknown(gap, ours, runs)
        listed = ", ".join(f"{label} {_times(group)}" for label, group in groups.items())
        always = [label for label, group in groups.items() if kept[label] == len(group)]
        answer = NO if always else PARTLY if any(kept.values()) else YES
        why = f"Seeds that reach zero error, and those that keep it: {listed}."
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _times(runs: Sequence[Run]) -> str:
    return f"{sum(map(reaches, runs))} and {sum(map(keeps, runs))} of {len(runs)}"


def reaches_zero(figure: str, label: str, paper: float) -> Judge:
    """Judge whether zero error is reached near an observation."""
    return _near(figure, label, paper, lambda run: [reached(run)], "reach zero error")


def loses_zero(figure: str, label: str, paper: float) -> Judge:
    """Judge whether zero error, once reached, is lost for good near an observation."""
    return _near(
        figure, label, paper, lambda run: [each] if (each := lost(run)) else [], "lose it for good"
    )


def _near(
    figure: str, label: str, paper: float, when: Callable[[Run], list[Bounds]], what: str
) -> Judge:
    """Judge whether the median of an event over seeds is near an observation.

    If the event does not happen in some seed, the claim is confirmed partly at best.
    """

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs, data.fewest) or too_short(runs):
            return unknown(gap, "–", runs)
        values = [each for run in runs for each in when(run)]
        known = sum(each.is_known for each in values)
        why = f"{known} of {len(runs)} seeds {what} within {max(run.observed for run in runs):,}"
        if not known:
            return Verdict(NO, "never", seeds_of(runs), f"{why} observations.")
        value = estimate(values)
        ours = str(value)
        why = f"{why} observations; the median is {value.median}, the paper's {paper:,.0f}."
        if known < len(runs):
            return Verdict(PARTLY, ours, seeds_of(runs), why)
        if too_wide(value, paper):
            return unknown(why_too_wide(value), ours, runs)
        answer = YES if is_about(value, paper) else PARTLY
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def fewer_observations(figure: str, label: str, than: str, times: float) -> Judge:
    """Judge whether a learner's last error is `times` earlier than a network's zero error."""

    def judge(data: Data) -> Verdict:
        fast, slow = data.runs(figure, label), data.runs(figure, than)
        gap = lacking(fast, data.fewest) or lacking(slow, data.fewest) or too_short(slow)
        if gap:
            return unknown(gap, "–", [*fast, *slow])
        soon, late = by_seed(fast), {run.seed: reached(run) for run in slow}
        common = sorted(soon.keys() & late.keys())
        if not common:
            return unknown("no seed in common", "–", fast)
        value = estimate([ratio(late[seed], soon[seed]) for seed in common])
        return judged_ratio(value, times, f"To zero error, {than} takes", gain=True)

    return judge


def flawless(figure: str, label: str) -> Judge:
    """Judge whether there is no error at all: in steps, transfer, held-out streams and plans."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs, data.fewest):
            return unknown(gap, "–", runs)
        steps, wrong = sum(run.observed for run in runs), sum(len(run.errors[0]) for run in runs)
        elsewhere = [float(each) for run in runs for each in measured(run, "transfer_error")[1]]
        ours = f"{wrong:,} errors in {steps:,} steps"
        if elsewhere:
            ours += f", at most {number(max(elsewhere))} elsewhere"
        faults = list(_faults(runs))
        why = f"{ours}; {', '.join(faults) or 'nothing else is wrong'}."
        exact = not wrong and all(each <= EXACT for each in elsewhere)
        answer = NO if not exact else PARTLY if faults else YES
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _faults(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what is wrong beside errors in steps."""
    asked = [run.examined for run in runs if run.examined is not None]
    if missed := sum(not each["learned"] for each in asked):
        yield f"{missed} of {len(asked)} runs have errors in held-out transitions or scenes"
    far = [each for each, scores in played(runs).items() if scores.mean < NEAR]
    if far:
        yield f"scores are not near-optimal in {', '.join(far)}"


def loss_ends_with_error(figure: str, labels: Sequence[str]) -> Judge:
    """Judge whether the training loss is zero in the windows that have no error."""

    def judge(data: Data) -> Verdict:
        groups = {label: data.runs(figure, label) for label in labels}
        runs = list(chain.from_iterable(groups.values()))
        if gap := lacking_by_label(groups, data.fewest):
            return unknown(gap, "–", runs)
        without, others = _losses(runs, errors=False), _losses(runs, errors=True)
        if not len(without):
            return unknown("no window is without an error", "–", runs)
        there = median(without.tolist())
        ours = f"median loss {number(there)}"
        beside = median(others.tolist()) if len(others) else float("nan")
        why = f"The median loss is {number(there)} in the {len(without)} windows without an error,"
        why += f" {number(beside)} in others; zero is below {ZERO_LOSS:g}."
        small = there < 0.1 * beside
        answer = YES if there < ZERO_LOSS else PARTLY if small else NO
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _losses(runs: Sequence[Run], errors: bool) -> Array:
    """Return the loss at the end of all windows with errors, or of all without."""
    parts = [column(run, "loss")[(column(run, "error") > EXACT) == errors] for run in runs]
    losses: Array = np.concatenate(parts)
    kept: Array = losses[~np.isnan(losses)]
    return kept


def better_here(figure: str, labels: Sequence[str], than: str) -> Judge:
    """Judge whether the final error of every network is below another learner's mean error."""

    def judge(data: Data) -> Verdict:
        groups = {label: data.runs(figure, label) for label in (*labels, than)}
        runs = list(chain.from_iterable(groups.values()))
        if gap := lacking_by_label(groups, data.fewest):
            return unknown(gap, "–", runs)
        beside = median([mean_of(run, "error") for run in groups[than]])
        late = {e: median([mean_of(run, "error", 0.1) for run in groups[e]]) for e in labels}
        ours = ", ".join(f"{label} {number(each)}" for label, each in late.items())
        good = sum(each < beside for each in late.values())
        why = f"In the last tenth of their runs, {good} of {len(late)} networks have a smaller"
        why += f" error than {than}, whose error is {number(beside)} (medians)."
        answer = graded(good, len(late))
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def worse_elsewhere(figure: str, labels: Sequence[str], than: str) -> Judge:
    """Judge whether networks are almost always worse than another learner in larger levels."""

    def judge(data: Data) -> Verdict:
        groups = {label: data.runs(figure, label) for label in (*labels, than)}
        runs = list(chain.from_iterable(groups.values()))
        if gap := lacking_by_label(groups, data.fewest):
            return unknown(gap, "–", runs)
        beside = {run.seed: mean_of(run, "transfer_error") for run in groups[than]}
        above = {label: _above(groups[label], beside) for label in labels}
        if not all(len(each) for each in above.values()):
            return unknown("not all were asked about larger levels", "–", runs)
        shares = {label: float(each.mean()) for label, each in above.items()}
        ours = ", ".join(f"{label} {each:.0%}" for label, each in shares.items())
        dips = [label for label, each in shares.items() if each < 1]
        why = f"Shares of measurements above {than}, whose error there is"
        why += f" {number(median(list(beside.values())))}: {ours}."
        why += f" Sometimes below it: {', '.join(dips) or 'none'}."
        often = sum(each >= ALMOST_ALWAYS for each in shares.values())
        answer = graded(often, len(shares))
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _above(runs: Sequence[Run], beside: Mapping[int, float]) -> npt.NDArray[np.bool_]:
    """Return whether each transfer error exceeds another learner's of the same seed."""
    parts = [
        measured(run, "transfer_error")[1] > beside[run.seed] for run in runs if run.seed in beside
    ]
    return np.concatenate(parts) if parts else np.zeros(0, bool)
