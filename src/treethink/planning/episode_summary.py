"""Summaries of episodes: score, normalised score, and planning time.

world, episode -> [ EpisodeSummary ] -> a line of text, an entry of JSON
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any

from treethink.errors import ResourceError, SettingError
from treethink.planning.agent import Episode
from treethink.planning.scores import ScoreBounds, score_bounds
from treethink.worlds.base import World

#: This takes a few seconds. For larger levels, call `score_bounds` yourself.
_MOST_STATES = 100_000


@dataclass(slots=True)
class EpisodeSummary:
    """An episode in a level, with its number of simulations and its score bounds.

    `ended` says that the world ended the episode early. Without `bounds`, `unknown` is the reason.
    """

    level: int
    episode: Episode
    simulations: int
    finished: bool = True
    ended: bool = False
    bounds: ScoreBounds | None = None
    unknown: str = ""

    def compute_bounds(self, world: World, steps: int) -> None:
        """Compute the score bounds of an episode of that many steps, unless it takes too long."""
        start = self.episode.states[0]
        try:
            self.bounds = score_bounds(world, start, steps, most_states=_MOST_STATES)
        except (SettingError, ResourceError) as error:
            self.unknown = str(error)

    @property
    def normalised(self) -> float | None:
        """The normalised score; None if the bounds are not known."""
        return None if self.bounds is None else self.bounds.normalised(self.episode.score)

    @property
    def is_least(self) -> bool:
        """Whether `normalised` is a lower bound, because the optimal score is an upper bound."""
        bounds = self.bounds
        return bounds is not None and not bounds.exact and self.episode.score > bounds.trivial

    def __str__(self) -> str:
        score, steps = self.episode.score, len(self.episode.actions)
        text = f"level {self.level}: score {score} in {steps} step{'' if steps == 1 else 's'}"
        if not self.finished:
            text += ", interrupted"
        elif self.ended:
            text += ", where the world ended it"
        return text if self.bounds is None else f"{text}; {self._normalised_text(self.bounds)}"

    def _normalised_text(self, bounds: ScoreBounds) -> str:
        pessimal, trivial, optimal = (
            f"{each:g}" for each in (bounds.pessimal, bounds.trivial, bounds.optimal)
        )
        if bounds.worth_playing:
            text = f"normalised {self.normalised:.3f}{' or more' if self.is_least else ''}"
        else:
            text = "nothing to gain there"
        most = "" if bounds.exact else "at most "
        expected = ", all three as expected by chance" if bounds.by_chance else ""
        return f"{text} (pessimal {pessimal}, trivial {trivial}, optimal {most}{optimal}{expected})"

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the states, as JSON data."""
        bounds, episode = self.bounds, self.episode
        scale = ("pessimal", "trivial", "optimal", "exact", "by_chance")
        return {
            "level": self.level,
            "finished": self.finished,
            "ended": self.ended,
            "score": episode.score,
            "normalised": self.normalised,
            **{each: None if bounds is None else getattr(bounds, each) for each in scale},
            "actions": episode.actions,
            "rewards": episode.rewards,
            "seconds": episode.seconds,
            "simulations": self.simulations,
        }


def summary_lines(summaries: Sequence[EpisodeSummary]) -> list[str]:
    """Return lines about all episodes: mean scores, if there are several, and planning time."""
    lines = []
    if len(summaries) > 1:
        mean = fmean(each.episode.score for each in summaries)
        lines.append(
            f"{len(summaries)} episodes: mean score {mean:.2f}{_mean_normalised(summaries)}"
        )
    if unknown := next((each.unknown for each in summaries if each.unknown), None):
        lines.append(f"no normalised score: {unknown}")
    seconds = sum(each.episode.seconds for each in summaries)
    if actions := sum(len(each.episode.actions) for each in summaries):
        rate = sum(each.simulations for each in summaries) / max(seconds, 1e-9)
        per_action = f"{1_000 * seconds / actions:.3g} ms an action"
        lines.append(f"planning took {per_action}, at {rate:,.0f} simulations a second")
    return lines


def _mean_normalised(summaries: Sequence[EpisodeSummary]) -> str:
    """Return mean and deviation of the normalised scores, if all of them are known.

    Episodes in which there was nothing to gain are left out.
    """
    playable = [each for each in summaries if each.bounds is None or each.bounds.worth_playing]
    scores = [score for each in playable if (score := each.normalised) is not None]
    if not scores or len(scores) < len(playable):
        return ""
    more = " or more" if any(each.is_least for each in playable) else ""
    fewer = len(playable) < len(summaries)
    where = f" in {len(playable)} with something to gain" if fewer else ""
    return f"; mean normalised {fmean(scores):.3f}{more}, deviation {pstdev(scores):.3f}{where}"
