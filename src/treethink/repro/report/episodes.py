"""Scores of the episodes that a planner played with learned models, from records.

runs of one learner -> [ played ] -> scores, times and actions, by setting and stage
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treethink.repro.report.series import Run
from treethink.repro.report.statistics import Array


@dataclass(frozen=True, slots=True)
class EpisodeScores:
    """The episodes of one setting, of all seeds together, at one stage of their runs.

    `actions` maps (seed, episode) to the level and the actions.
    """

    scores: Array  # normalised
    seconds: Array
    redrawn: int
    bounded: int  # episodes whose optimal score is only bounded from above
    actions: Mapping[tuple[int, int], tuple[int, str]]

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def deviation(self) -> float:
        """One standard deviation over episodes."""
        return float(self.scores.std())

    @property
    def milliseconds(self) -> float:
        """The mean time of planning for a whole episode."""
        return 1000 * float(self.seconds.mean())

    @property
    def optimal(self) -> int:
        """The number of episodes with the optimal score."""
        return int((self.scores == 1).sum())

    def __str__(self) -> str:
        return f"{self.mean:.2f} ± {self.deviation:.2f}"


def settings(runs: Iterable[Run]) -> list[str]:
    """Return the labels of plans, in the order of the config."""
    return list(dict.fromkeys(label for run in runs for label in run.plans))


def stages(runs: Sequence[Run]) -> list[int]:
    """Return the numbers of observations after which finished runs played, in order."""
    return sorted({int(each) for run in _finished(runs) for each in run.episodes["observed"]})


def played(runs: Sequence[Run], stage: int | None = None) -> dict[str, EpisodeScores]:
    """Return the scores of finished runs by setting; settings without episodes are left out.

    `stage` is the number of observations; None: at the end of each run.
    """
    done = _finished(runs)
    scores = {each: _together(done, each, stage) for each in settings(done)}
    return {label: each for label, each in scores.items() if len(each.scores)}


def by_stage(runs: Sequence[Run]) -> dict[int, dict[str, EpisodeScores]]:
    """Return the scores by stage and setting."""
    return {stage: played(runs, stage) for stage in stages(runs)}


def _finished(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.status == "finished"]


def _together(runs: Sequence[Run], setting: str, stage: int | None) -> EpisodeScores:
    parts = {run.seed: _at(run.episodes, setting, stage) for run in runs}
    whole = {
        name: np.concatenate([part[name] for part in parts.values()])
        for name in ("normalised", "seconds", "redrawn", "exact")
    }
    return EpisodeScores(
        scores=whole["normalised"],
        seconds=whole["seconds"],
        redrawn=int(whole["redrawn"].sum()),
        bounded=int((~whole["exact"]).sum()),
        actions={
            (seed, int(episode)): (int(level), str(actions))
            for seed, part in parts.items()
            for episode, level, actions in zip(
                part["episode"], part["level"], part["actions"], strict=True
            )
        },
    )


def _at(columns: Mapping[str, Any], setting: str, stage: int | None) -> dict[str, Any]:
    """Return the columns of a setting at a stage; None: after the most observations."""
    here = columns["setting"] == setting
    observed = columns["observed"]
    if here.any():
        here = here & (observed == (observed[here].max() if stage is None else stage))
    return {name: column[here] for name, column in columns.items()}
