"""Judges of what is learned, and how soon."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.report.data import Data
from treethink.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    by_seed,
    has_learned,
    is_about,
    judged_ratio,
    lacking,
    seeds_of,
    summary,
    unknown,
)
from treethink.report.series import Run, ended, error_until
from treethink.report.statistics import (
    converged,
    estimate,
    last_error,
    paired,
    ratio,
)


def learns(label: str, figures: Sequence[str]) -> Judge:
    """Whether a learner has learned every one of these worlds."""

    def judge(data: Data) -> Verdict:
        right: list[str] = []
        wrong: list[str] = []
        gaps: list[str] = []
        everyone: list[Run] = []
        for figure in figures:
            runs = data.runs(figure, label)
            everyone += runs
            good = sum(has_learned(run) for run in ended(runs))
            gap = lacking(runs)
            if gap:
                gaps.append(f"{figure} ({gap})")
            elif good == len(runs):
                right.append(figure)
            else:
                wrong.append(f"{figure} ({good} of {len(runs)} seeds)")
        ours = f"{len(right)} of {len(figures)} worlds"
        if gaps:
            not_yet = f"; not learned: {', '.join(wrong)}" if wrong else ""
            return unknown(f"{', '.join(gaps)}{not_yet}", ours, everyone)
        if not wrong:
            return Verdict(YES, ours, seeds_of(everyone), "Every seed learned every world.")
        answer = PARTLY if right else NO
        return Verdict(answer, ours, seeds_of(everyone), f"Not learned: {', '.join(wrong)}.")

    return judge


def converges(figure: str, label: str, world: str | None = None) -> Judge:
    """Whether errors end."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label, world)
        if gap := lacking(runs):
            return unknown(gap, summary(runs), runs)
        good = sum(converged(run) for run in runs)
        answer = YES if good == len(runs) else PARTLY if good else NO
        said = f"{good} of {len(runs)} seeds made their last error before the last tenth of"
        steps = max(run.steps for run in runs)
        return Verdict(answer, summary(runs), seeds_of(runs), f"{said} {steps:,} steps.")

    return judge


def about(figure: str, label: str, paper: float) -> Judge:
    """Whether the last error lies about where the paper has it."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs):
            return unknown(gap, summary(runs), runs)
        found = estimate([last_error(run) for run in runs])
        ours, seeds = str(found), seeds_of(runs)
        said = f"The median is {found.median}; the paper's number is {paper:,.0f}."
        if is_about(found, paper):
            return Verdict(YES, ours, seeds, said)
        if not found.median.is_known and found.median.low <= paper:
            return unknown("half of the runs ended too early to say", ours, runs)
        if found.interval.high < paper:
            return Verdict(PARTLY, ours, seeds, f"{said} It takes fewer.")
        return Verdict(NO, ours, seeds, f"{said} It takes more.")

    return judge


def never(label: str, figures: Sequence[str], beside: str) -> Judge:
    """Whether a learner learns none of these worlds, given what `beside` needed."""

    def judge(data: Data) -> Verdict:
        learned: list[str] = []
        gaps: list[str] = []
        cut = 0
        everyone: list[Run] = []
        for figure in figures:
            runs = data.runs(figure, label)
            everyone += runs
            if good := sum(converged(run) for run in ended(runs)):
                learned.append(f"{figure} ({good} of {len(runs)} seeds)")
            cut += sum(run.status == "stopped" for run in runs)
            gap = lacking(runs, stopped_too=False) or _too_short(data, figure, runs, beside)
            if gap:
                gaps.append(f"{figure} ({gap})")
        ours = f"learned in {len(learned)} of {len(figures)}"
        if learned:
            answer = NO if len(learned) == len(figures) else PARTLY
            return Verdict(answer, ours, seeds_of(everyone), f"It learned {', '.join(learned)}.")
        if gaps:
            return unknown(", ".join(gaps), ours, everyone)
        said = "Errors never ended."
        if cut:
            said += f" {cut} of {len(everyone)} runs were stopped at a limit."
        return Verdict(YES, ours, seeds_of(everyone), said)

    return judge


def _too_short(data: Data, figure: str, runs: Sequence[Run], beside: str) -> str:
    """Whether runs ended before a learner that can do it would have been done."""
    others = [last_error(run) for run in ended(data.runs(figure, beside))]
    if not others or not (needed := estimate(others).median).is_known:
        return f"{beside} has not learned it either"
    short = sum(run.observed < needed.low for run in ended(runs))
    return f"{short} runs ended before the {needed} that {beside} takes" if short else ""


def slower(figure: str, label: str, than: str, times: float) -> Judge:
    """Whether one learner takes about so many times as long as another."""

    def judge(data: Data) -> Verdict:
        slow, fast = data.runs(figure, label), data.runs(figure, than)
        gap = lacking(slow, stopped_too=False) or lacking(fast)
        if gap:
            return unknown(gap, "–", [*slow, *fast])
        a, b = by_seed(slow), by_seed(fast)
        common = sorted(a.keys() & b.keys())
        if not common:
            return unknown("no seed in common", "–", slow)
        return judged_ratio(estimate([ratio(a[s], b[s]) for s in common]), times, f"{label} takes")

    return judge


def alike(figure: str, label: str, other: str, world: str) -> Judge:
    """Whether two learners err about as much over the same streams."""

    def judge(data: Data) -> Verdict:
        runs, others = data.runs(figure, label, world), data.runs(figure, other, world)
        if gap := lacking(runs) or lacking(others):
            return unknown(gap, "–", [*runs, *others])
        both = [*runs, *others]
        steps = min(run.observed for run in both)  # the same part of every stream
        a, b = ({run.seed: error_until(run, steps) for run in each} for each in (runs, others))
        found = paired(a, b)
        if not found:
            return unknown("no seed in common", "–", runs)
        middle = estimate(found)
        near = 0.8 <= middle.median.low <= 1.25
        said = f"Its mean error is {middle.median} times that of {other}."
        return Verdict(YES if near else NO, f"{middle} times", str(middle.seeds), said)

    return judge
