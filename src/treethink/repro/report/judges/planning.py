"""Judges of claims about planning with learned models."""

from __future__ import annotations

from collections.abc import Mapping

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import EpisodeScores, played
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
