"""Judges of what a planner does with networks, while they learn and across sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import Played, by_stage, played
from treethink.repro.report.judges.common import (
    NO,
    PARTLY,
    TOLERANCE,
    YES,
    Judge,
    Verdict,
    lacking,
    seeds_of,
    unknown,
)
from treethink.repro.report.judges.planning import NOTHING
from treethink.repro.report.series import Run
from treethink.repro.report.statistics import median, number

#: A mean score from here on is good; one up to there is no better than doing nothing.
WELL, FAILS = 0.5, 0.0
#: A mean score up to there is almost as bad as possible.
WORST = -0.75

Stages = Mapping[int, Mapping[str, Played]]


def best_stage(found: Stages, setting: str) -> int | None:
    """The stage at which the mean score in a setting was highest; the first of several."""
    there = [stage for stage, by in found.items() if setting in by]
    return max(there, key=lambda stage: found[stage][setting].mean, default=None)


def trained(found: Stages) -> dict[int, Mapping[str, Played]]:
    """The stages after the first observation."""
    return {stage: by for stage, by in found.items() if stage > 0}


def fails_to_transfer(figure: str, label: str, home: str) -> Judge:
    """Whether a planner does well in the size that was learned, and in no larger one.

    All sizes are held against each other at the stage at which it did best at home.
    """

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        found = trained(by_stage(runs))
        stage = best_stage(found, home)
        scores = {} if stage is None else found[stage]
        larger = [each for each in scores if each != home]
        if gap := lacking(runs, data.fewest) or ("" if larger else NOTHING):
            return unknown(gap, "–", runs)
        failed = [each for each in larger if scores[each].mean <= FAILS]
        well = scores[home].mean >= WELL
        said = f"After {stage:,} observations, when it does best at {home}, the mean score there is"
        said += f" {scores[home].mean:.2f}; it is {FAILS:g} or less in {len(failed)} of"
        said += f" {len(larger)} larger sizes."
        answer = YES if well and failed == larger else PARTLY if well else NO
        return Verdict(answer, _means(scores), seeds_of(runs), said)

    return judge


def _means(scores: Mapping[str, Played]) -> str:
    return ", ".join(f"{each} {found.mean:.2f}" for each, found in scores.items())


def almost_pessimal(figure: str, label: str, sizes: Sequence[str]) -> Judge:
    """Whether, at the end of learning, plans are almost as bad as possible in these sizes."""

    def judge(data: Data) -> Verdict:
        runs = data.runs(figure, label)
        found = {each: scores for each, scores in played(runs).items() if each in sizes}
        if gap := lacking(runs, data.fewest) or ("" if found else NOTHING):
            return unknown(gap, "–", runs)
        bad = sum(scores.mean <= WORST for scores in found.values())
        said = f"At the end, the mean score is {WORST} or less in {bad} of {len(found)} sizes."
        answer = YES if bad == len(found) else PARTLY if bad else NO
        return Verdict(answer, _means(found), seeds_of(runs), said)

    return judge


def poor_but_stable(figure: str, label: str, beside: str) -> Judge:
    """Whether scores are never good, but differ less between sizes than with another network."""

    def judge(data: Data) -> Verdict:
        runs, others = data.runs(figure, label), data.runs(figure, beside)
        ours, theirs = trained(by_stage(runs)), trained(by_stage(others))
        gap = lacking(runs, data.fewest) or lacking(others, data.fewest)
        if gap or not ours or not theirs:
            return unknown(gap or NOTHING, "–", [*runs, *others])
        best = max(each.mean for by in ours.values() for each in by.values())
        spread, wider = _spread(ours), _spread(theirs)
        said = f"Once it has learned, its best mean score is {best:.2f}, in any size. Between the"
        said += f" best and the worst size lie {spread:.2f} (median over stages), with {beside}"
        said += f" {wider:.2f}."
        holds = (best < WELL, spread < wider)
        answer = YES if all(holds) else PARTLY if any(holds) else NO
        told = f"best {best:.2f}, spread {spread:.2f} (with {beside} {wider:.2f})"
        return Verdict(answer, told, seeds_of(runs), said)

    return judge


def _spread(found: Stages) -> float:
    """How far the best and the worst size are apart: the median over stages."""
    means = [[each.mean for each in by.values()] for by in found.values() if by]
    return median([max(each) - min(each) for each in means])


def fastest(figure: str, label: str, others: Sequence[str]) -> Judge:
    """Whether planning takes less time with one learner than with any other, in every size."""

    def judge(data: Data) -> Verdict:
        groups = {each: data.runs(figure, each) for each in (label, *others)}
        gap, runs = _missing(groups, data.fewest)
        if gap:
            return unknown(gap, "–", runs)
        found = {each: played(group) for each, group in groups.items()}
        ratios = {
            size: min(found[other][size].milliseconds for other in others)
            / max(found[label][size].milliseconds, 1e-9)
            for size in _common(found)
        }
        first = sum(each > 1 for each in ratios.values())
        ours = f"{number(min(ratios.values()))} to {number(max(ratios.values()))} times"
        said = f"With the fastest other learner, an episode takes {ours} as long, by size; it is"
        said += f" the fastest in {first} of {len(ratios)} sizes."
        answer = YES if first == len(ratios) else PARTLY if first else NO
        return Verdict(answer, ours, seeds_of(runs), said)

    return judge


def as_fast(figure: str, label: str, other: str) -> Judge:
    """Whether planning takes about the same time with two learners, in every size."""

    def judge(data: Data) -> Verdict:
        groups = {each: data.runs(figure, each) for each in (label, other)}
        gap, runs = _missing(groups, data.fewest)
        if gap:
            return unknown(gap, "–", runs)
        found = {each: played(group) for each, group in groups.items()}
        ratios = [
            found[label][size].milliseconds / max(found[other][size].milliseconds, 1e-9)
            for size in _common(found)
        ]
        same = sum(1 / (1 + TOLERANCE) <= each <= 1 + TOLERANCE for each in ratios)
        ours = f"{number(min(ratios))} to {number(max(ratios))} times"
        said = f"An episode takes {ours} as long with {label} as with {other}, by size; it is about"
        said += f" the same in {same} of {len(ratios)} sizes."
        answer = YES if same == len(ratios) else PARTLY if same else NO
        return Verdict(answer, ours, seeds_of(runs), said)

    return judge


def _missing(groups: Mapping[str, Sequence[Run]], fewest: int) -> tuple[str, list[Run]]:
    """What keeps learners from being compared by what was played, and all their runs."""
    runs = list(chain.from_iterable(groups.values()))
    gaps = {label: lacking(group, fewest) for label, group in groups.items()}
    told = ", ".join(f"{label} ({gap})" for label, gap in gaps.items() if gap)
    if not told and not _common({label: played(group) for label, group in groups.items()}):
        told = NOTHING
    return told, runs


def _common(found: Mapping[str, Mapping[str, Played]]) -> list[str]:
    """The sizes that all of them have played."""
    first, *others = found.values()
    return [size for size in first if all(size in each for each in others)]
