"""Judges of claims about what is learned, after how many observations, and about transfer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treethink.repro.report.data import Data
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    YES,
    Judge,
    Verdict,
    by_seed,
    graded,
    has_learned,
    is_about,
    judged_ratio,
    lacking,
    seeds_of,
    summary,
    too_wide,
    unknown,
    why_too_wide,
)
from treethink.repro.report.series import (
    Run,
    ended,
    error_in,
    error_until,
    mean_of,
    measured,
)
from treethink.repro.report.statistics import (
    converged,
    estimate,
    last_error,
    median,
    number,
    paired,
    ratio,
)
from treethink.repro.runner import TOLERANCE

#: A learner that has not learned in this many times what another needed counts as never learning.
MANY_TIMES = 10
#: If errors shrink by this factor within a fifth of a run, they may end soon.
SHRINKS = 0.5


def learns(label: str, figures: Sequence[str]) -> Judge:
    """Judge whether a learner has learned every one of these worlds."""

    def judge(data: Data) -> Verdict:
        right: list[str] = []
        wrong: list[str] = []
        gaps: list[str] = []
        everyone: list[Run] = []
        for figure in figures:
            runs = data.runs(figure, label)
            everyone += runs
            good = sum(has_learned(run) for run in ended(runs))
            gap = lacking(runs, data.fewest)
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
    """Judge whether a learner converges to zero error."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label, world)
        if gap := lacking(runs, data.fewest):
            return unknown(gap, summary(runs), runs)
        good = sum(converged(run) for run in runs)
        steps = max(run.steps for run in runs)
        if not good:
            return _not_converged(runs, steps)
        why = f"{good} of {len(runs)} seeds made their last error before the last tenth of"
        answer = YES if good == len(runs) else PARTLY
        return Verdict(answer, summary(runs), seeds_of(runs), f"{why} {steps:,} steps.")

    return judge


def _not_converged(runs: Sequence[Run], steps: int) -> Verdict:
    """Return the verdict on runs that have not converged; undecided if errors shrink fast."""
    before = {run.seed: error_in(run, 0.6, 0.8) for run in runs}
    late = {run.seed: error_in(run, 0.8, 1.0) for run in runs}
    was, became = (number(median(list(each.values()))) for each in (before, late))
    why = f"no seed converged in {steps:,} steps; over the last two fifths, the error went"
    why = f"{why} from {was} to {became}"
    ratios = paired(late, before)
    if ratios and estimate(ratios).interval.high < SHRINKS:
        return unknown(why, summary(runs), runs)
    return Verdict(NO, summary(runs), seeds_of(runs), f"{why[0].upper()}{why[1:]}.")


def about(figure: str, label: str, paper: float) -> Judge:
    """Judge whether the last error is about where the paper reports it."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        if gap := lacking(runs, data.fewest):
            return unknown(gap, summary(runs), runs)
        value = estimate([last_error(run) for run in runs])
        ours, seeds = str(value), seeds_of(runs)
        why = f"The median is {value.median}; the paper's number is {paper:,.0f}."
        if too_wide(value, paper):
            return unknown(why_too_wide(value), ours, runs)
        if is_about(value, paper):
            return Verdict(YES, ours, seeds, why)
        if value.median.high < paper:
            why = f"{why} It is better: it takes fewer."
            return Verdict(PARTLY, ours, seeds, why, better=True)
        answer = PARTLY if value.interval.low <= paper else NO
        return Verdict(answer, ours, seeds, f"{why} It takes more.")

    return judge


def never(label: str, figures: Sequence[str], beside: str) -> Judge:
    """Judge whether a learner learns none of these worlds, in many times what `beside` needs."""

    def judge(data: Data) -> Verdict:
        learned: list[str] = []
        gaps: list[str] = []
        budgets: dict[str, tuple[int, float]] = {}
        cut = 0
        everyone: list[Run] = []
        for figure in figures:
            runs = data.runs(figure, label)
            everyone += runs
            if good := sum(converged(run) for run in ended(runs)):
                learned.append(f"{figure} ({good} of {len(runs)} seeds)")
            cut += sum(run.status == "stopped" for run in runs)
            gap = lacking(runs, data.fewest, stopped_too=False)
            gap = gap or _too_short(data, figure, runs, beside)
            if gap:
                gaps.append(f"{figure} ({gap})")
            else:
                budgets[figure] = _budget(data, figure, runs, beside)
        ours = f"{len(learned)} of {len(figures)} worlds"
        if len(figures) == 1:
            ours = f"{sum(map(converged, everyone))} of {len(everyone)} seeds"
        if learned:
            answer = NO if len(learned) == len(figures) else PARTLY
            return Verdict(answer, ours, seeds_of(everyone), f"It learned {', '.join(learned)}.")
        if gaps:
            return unknown(", ".join(gaps), ours, everyone)
        why = f"No seed learned {_within(budgets, beside)}."
        if cut:
            why += f" {cut} of {len(everyone)} runs were stopped at a limit."
        answer = YES if all(times >= MANY_TIMES for _, times in budgets.values()) else PARTLY
        return Verdict(answer, ours, seeds_of(everyone), why)

    return judge


def _too_short(data: Data, figure: str, runs: Sequence[Run], beside: str) -> str:
    """Return why runs are too short to say that a learner never learns; empty if they are not."""
    others = data.runs(figure, beside)
    if gap := lacking(others, data.fewest):
        return f"{beside}: {gap}"
    if not (needed := estimate([last_error(run) for run in others]).median).is_known:
        return f"{beside} has not learned it either"
    short = sum(run.observed < needed.low for run in runs)
    return f"{short} runs ended before the {needed} that {beside} takes" if short else ""


def _budget(data: Data, figure: str, runs: Sequence[Run], beside: str) -> tuple[int, float]:
    """Return the observations of every run, and their ratio to what the other learner needs."""
    needed = estimate([last_error(run) for run in data.runs(figure, beside)]).median.low
    least = min(run.observed for run in runs)
    return least, least / max(needed, 1)


def _within(budgets: Mapping[str, tuple[int, float]], beside: str) -> str:
    """Return `maze within 9,000 observations (10 times what TreeThink takes), keys within …`."""
    units = [(" observations", f" what {beside} takes"), *[("", "")] * (len(budgets) - 1)]
    return ", ".join(
        f"{figure} within {seen:,}{what} ({number(times)} times{whose})"
        for (figure, (seen, times)), (what, whose) in zip(budgets.items(), units, strict=True)
    )


def slower(figure: str, label: str, than: str, times: float) -> Judge:
    """Judge whether one learner needs about `times` as many observations as another."""

    def judge(data: Data) -> Verdict:
        slow, fast = data.runs(figure, label), data.runs(figure, than)
        gap = lacking(slow, data.fewest, stopped_too=False) or lacking(fast, data.fewest)
        if gap:
            return unknown(gap, "–", [*slow, *fast])
        a, b = by_seed(slow), by_seed(fast)
        common = sorted(a.keys() & b.keys())
        if not common:
            return unknown("no seed in common", "–", slow)
        return judged_ratio(estimate([ratio(a[s], b[s]) for s in common]), times, f"{label} takes")

    return judge


def alike(figure: str, label: str, other: str, world: str) -> Judge:
    """Judge whether two learners have about the same error on the same streams."""

    def judge(data: Data) -> Verdict:
        runs, others = data.runs(figure, label, world), data.runs(figure, other, world)
        if gap := lacking(runs, data.fewest) or lacking(others, data.fewest):
            return unknown(gap, "–", [*runs, *others])
        both = [*runs, *others]
        steps = min(run.observed for run in both)  # the same part of every stream
        a, b = ({run.seed: error_until(run, steps) for run in each} for each in (runs, others))
        ratios = paired(a, b)
        if not ratios:
            return unknown("no seed in common", "–", runs)
        middle = estimate(ratios)
        if too_wide(middle, 1):
            return unknown(why_too_wide(middle), f"{middle} times", both)
        near = 0.8 <= middle.median.low <= 1.25
        why = f"Its mean error is {middle.median} times that of {other}."
        return Verdict(YES if near else NO, f"{middle} times", str(middle.seeds), why)

    return judge


# --------------------------------------------------------------------- random worlds, and transfer


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
        answer = graded(good, len(runs))
        why = f"{why}, at the end of learning and in all held-out transitions."
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge
