"""Judges of claims about planning with learned models, at the end of learning and during it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import EpisodeScores, by_stage, played
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    TOLERANCE,
    YES,
    Judge,
    Verdict,
    graded,
    has_learned,
    lacking,
    lacking_by_label,
    seeds_of,
    unknown,
)
from treethink.repro.report.series import Run
from treethink.repro.report.statistics import median, number

#: A mean score from here on is near-optimal.
NEAR = 0.9
NOTHING = "nothing was played"


def near_optimal(figure: str, label: str) -> Judge:
    """Judge whether the planner's mean score is near-optimal in every setting."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        by_setting = played(runs)
        ours = ", ".join(f"{each} {scores}" for each, scores in by_setting.items()) or "–"
        if gap := lacking(runs, data.fewest) or ("" if by_setting else NOTHING):
            return unknown(gap, ours, runs)
        near = [each for each, scores in by_setting.items() if scores.mean >= NEAR]
        far = [f"{each} ({by_setting[each].mean:.2f})" for each in by_setting if each not in near]
        why = f"The mean score is {NEAR} or more in {len(near)} of {len(by_setting)} settings"
        why += f", not in {', '.join(far)}." if far else f": {_span(by_setting)}."
        answer = YES if not far else PARTLY if near else NO
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def does_the_same(figure: str, label: str, other: str) -> Judge:
    """Judge whether, with an exact model, every action is the same as with another learner."""

    def judge(data: Data) -> Verdict:
        runs, others = data.runs(figure, label), data.runs(figure, other)
        if gap := lacking(runs, data.fewest) or lacking(others, data.fewest):
            return unknown(gap, "–", [*runs, *others])
        exact = [run for run in runs if has_learned(run)]
        if not exact:
            return unknown("no seed has an exact model", "–", runs)
        ours, theirs = played(exact), played(others)
        same = [
            did == theirs[setting].actions[episode]
            for setting, scores in ours.items()
            for episode, did in scores.actions.items()
            if setting in theirs and episode in theirs[setting].actions
        ]
        if not same:
            return unknown("no episode in common", "–", runs)
        equal = f"{sum(same):,} of {len(same):,} episodes"
        why = f"{equal} are equal, action by action. The mean score is {_span(ours)}."
        if len(exact) < len(runs):
            why += f" {len(exact)} of {len(runs)} seeds have an exact model."
        answer = YES if all(same) else PARTLY if any(same) else NO
        return Verdict(answer, equal, seeds_of(exact), why)

    return judge


def _span(by_setting: Mapping[str, EpisodeScores]) -> str:
    """Return the scores of the best and the worst setting, as text."""
    ordered = sorted(by_setting, key=lambda each: -by_setting[each].mean)
    ends = [f"{by_setting[each]} ({each})" for each in dict.fromkeys((ordered[0], ordered[-1]))]
    return " to ".join(ends)


# ------------------------------------------------------------------------------ stages of learning

#: Mean scores from WELL on are good; those up to FAILS are no better than doing nothing.
WELL, FAILS = 0.5, 0.0
#: Mean scores up to this are almost as bad as possible.
WORST = -0.75

Stages = Mapping[int, Mapping[str, EpisodeScores]]


def best_stage(stages: Stages, setting: str) -> int | None:
    """Return the first stage with the highest mean score in a setting; None without data."""
    there = [stage for stage, by in stages.items() if setting in by]
    return max(there, key=lambda stage: stages[stage][setting].mean, default=None)


def trained(stages: Stages) -> dict[int, Mapping[str, EpisodeScores]]:
    """Return the stages after the first observation."""
    return {stage: by for stage, by in stages.items() if stage > 0}


def fails_to_transfer(figure: str, label: str, home: str) -> Judge:
    """Judge whether planning does well in the size that was learned, and in no larger one.

    Sizes are compared at the stage with the best score in the size that was learned.
    """

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        stages = trained(by_stage(runs))
        stage = best_stage(stages, home)
        scores = {} if stage is None else stages[stage]
        larger = [each for each in scores if each != home]
        if gap := lacking(runs, data.fewest) or ("" if larger else NOTHING):
            return unknown(gap, "–", runs)
        failed = [each for each in larger if scores[each].mean <= FAILS]
        well = scores[home].mean >= WELL
        why = f"After {stage:,} observations, when it does best at {home}, the mean score there is"
        why += f" {scores[home].mean:.2f}; it is {FAILS:g} or less in {len(failed)} of"
        why += f" {len(larger)} larger sizes."
        answer = YES if well and failed == larger else PARTLY if well else NO
        return Verdict(answer, _means(scores), seeds_of(runs), why)

    return judge


def _means(scores: Mapping[str, EpisodeScores]) -> str:
    return ", ".join(f"{each} {result.mean:.2f}" for each, result in scores.items())


def almost_pessimal(figure: str, label: str, sizes: Sequence[str]) -> Judge:
    """Judge whether final plans are almost as bad as possible in these sizes."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        by_size = {each: scores for each, scores in played(runs).items() if each in sizes}
        if gap := lacking(runs, data.fewest) or ("" if by_size else NOTHING):
            return unknown(gap, "–", runs)
        bad = sum(scores.mean <= WORST for scores in by_size.values())
        why = f"At the end, the mean score is {WORST} or less in {bad} of {len(by_size)} sizes."
        answer = graded(bad, len(by_size))
        return Verdict(answer, _means(by_size), seeds_of(runs), why)

    return judge


def poor_but_stable(figure: str, label: str, beside: str) -> Judge:
    """Judge whether scores are never good, but vary less over sizes than another network's."""

    def judge(data: Data) -> Verdict:
        runs, others = data.runs(figure, label), data.runs(figure, beside)
        ours, theirs = trained(by_stage(runs)), trained(by_stage(others))
        gap = lacking(runs, data.fewest) or lacking(others, data.fewest)
        if gap or not ours or not theirs:
            return unknown(gap or NOTHING, "–", [*runs, *others])
        best = max(each.mean for by in ours.values() for each in by.values())
        spread, wider = _spread(ours), _spread(theirs)
        why = (
            f"After the first observation, its best mean score in any size is {best:.2f}. The best"
        )
        why += f" and the worst size differ by {spread:.2f} (median over stages), with {beside} by"
        why += f" {wider:.2f}."
        holds = (best < WELL, spread < wider)
        answer = YES if all(holds) else PARTLY if any(holds) else NO
        ours_text = f"best {best:.2f}, spread {spread:.2f} (with {beside} {wider:.2f})"
        return Verdict(answer, ours_text, seeds_of(runs), why)

    return judge


def _spread(stages: Stages) -> float:
    """Return the difference between the best and the worst size, the median over stages."""
    means = [[each.mean for each in by.values()] for by in stages.values() if by]
    return median([max(each) - min(each) for each in means])


def fastest(figure: str, label: str, others: Sequence[str]) -> Judge:
    """Judge whether planning takes less time with one learner than with any other, by size."""

    def judge(data: Data) -> Verdict:
        groups = {each: data.runs(figure, each) for each in (label, *others)}
        gap, runs = _missing(groups, data.fewest)
        if gap:
            return unknown(gap, "–", runs)
        by_label = {each: played(group) for each, group in groups.items()}
        ratios = {
            size: min(by_label[other][size].milliseconds for other in others)
            / max(by_label[label][size].milliseconds, 1e-9)
            for size in _common(by_label)
        }
        first = sum(each > 1 for each in ratios.values())
        ours = f"{number(min(ratios.values()))} to {number(max(ratios.values()))} times"
        why = f"With the fastest other learner, an episode takes {ours} as long, by size; it is"
        why += f" the fastest in {first} of {len(ratios)} sizes."
        answer = graded(first, len(ratios))
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def as_fast(figure: str, label: str, other: str) -> Judge:
    """Judge whether planning takes about the same time with two learners, in every size."""

    def judge(data: Data) -> Verdict:
        groups = {each: data.runs(figure, each) for each in (label, other)}
        gap, runs = _missing(groups, data.fewest)
        if gap:
            return unknown(gap, "–", runs)
        by_label = {each: played(group) for each, group in groups.items()}
        ratios = [
            by_label[label][size].milliseconds / max(by_label[other][size].milliseconds, 1e-9)
            for size in _common(by_label)
        ]
        same = sum(1 / (1 + TOLERANCE) <= each <= 1 + TOLERANCE for each in ratios)
        ours = f"{number(min(ratios))} to {number(max(ratios))} times"
        why = f"An episode takes {ours} as long with {label} as with {other}, by size; it is about"
        why += f" the same in {same} of {len(ratios)} sizes."
        answer = graded(same, len(ratios))
        return Verdict(answer, ours, seeds_of(runs), why)

    return judge


def _missing(groups: Mapping[str, Sequence[Run]], fewest: int) -> tuple[str, list[Run]]:
    """Return why the episodes of learners cannot be compared, and all their runs."""
    runs = list(chain.from_iterable(groups.values()))
    gap = lacking_by_label(groups, fewest)
    if not gap and not _common({label: played(group) for label, group in groups.items()}):
        gap = NOTHING
    return gap, runs


def _common(by_label: Mapping[str, Mapping[str, EpisodeScores]]) -> list[str]:
    """Return the sizes that all learners have played."""
    first, *others = by_label.values()
    return [size for size in first if all(size in each for each in others)]
