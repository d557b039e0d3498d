"""What came of an episode: its score, what that is worth, and the time that planning took.

world, episode -> [ Account ] -> a line of text, an entry of JSON
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

#: What takes a few seconds. Whoever wants to wait for longer calls `score_bounds`.
_MOST_STATES = 100_000


@dataclass(slots=True)
class Account:
    """An episode in a level, and all simulations of its plans.

    `ended` says that the world ended it, before its time. Without `bounds`, `unknown` says why
    there are none.
    """

    level: int
    episode: Episode
    simulations: int
    finished: bool = True
    ended: bool = False
    bounds: ScoreBounds | None = None
    unknown: str = ""

    def weigh(self, world: World, steps: int) -> None:
        """Find out what could have been scored in so many steps, unless that takes too long."""
        start = self.episode.states[0]
        try:
            self.bounds = score_bounds(world, start, steps, most_states=_MOST_STATES)
        except (SettingError, ResourceError) as error:
            self.unknown = str(error)

    @property
    def normalised(self) -> float | None:
        """The score on the scale of its bounds; None: they are not known."""
        return None if self.bounds is None else self.bounds.normalised(self.episode.score)

    @property
    def is_least(self) -> bool:
        """Whether `normalised` might be more, since the optimal score is only bounded."""
        bounds = self.bounds
        return bounds is not None and not bounds.exact and self.episode.score > bounds.trivial

    def __str__(self) -> str:
        score, taken = self.episode.score, len(self.episode.actions)
        said = f"level {self.level}: score {score} in {taken} step{'' if taken == 1 else 's'}"
        if not self.finished:
            said += ", interrupted"
        elif self.ended:
            said += ", where the world ended it"
        return said if self.bounds is None else f"{said}; {self._worth(self.bounds)}"

    def _worth(self, bounds: ScoreBounds) -> str:
        worth = self.normalised
        pessimal, trivial, optimal = (
            f"{each:g}" for each in (bounds.pessimal, bounds.trivial, bounds.optimal)
        )
        more = " or more" if self.is_least else ""
        if not bounds.worth_playing:
            said = "nothing to gain there"
        else:
            said = f"normalised {worth:.3f}{more}"
        most = "" if bounds.exact else "at most "
        expected = ", all three as expected by chance" if bounds.by_chance else ""
        return f"{said} (pessimal {pessimal}, trivial {trivial}, optimal {most}{optimal}{expected})"

    def to_dict(self) -> dict[str, Any]:
        """All of it but the states."""
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


def together(accounts: Sequence[Account]) -> list[str]:
    """Lines about all episodes: how good they were, if there are several, and how fast."""
    said = []
    if len(accounts) > 1:
        mean = fmean(each.episode.score for each in accounts)
        said.append(f"{len(accounts)} episodes: mean score {mean:.2f}{_mean_worth(accounts)}")
    if unknown := next((each.unknown for each in accounts if each.unknown), None):
        said.append(f"no normalised score: {unknown}")
    seconds = sum(each.episode.seconds for each in accounts)
    if actions := sum(len(each.episode.actions) for each in accounts):
        rate = sum(each.simulations for each in accounts) / max(seconds, 1e-9)
        each = f"{1_000 * seconds / actions:.3g} ms an action"
        said.append(f"planning took {each}, at {rate:,.0f} simulations a second")
    return said


def _mean_worth(accounts: Sequence[Account]) -> str:
    """The mean of what is normalised, where there was something to gain; if all of it is known."""
    gainful = [each for each in accounts if each.bounds is None or each.bounds.worth_playing]
    worth = [each for account in gainful if (each := account.normalised) is not None]
    if not worth or len(worth) < len(gainful):
        return ""
    more = " or more" if any(each.is_least for each in gainful) else ""
    few = len(gainful) < len(accounts)
    where = f" in {len(gainful)} with something to gain" if few else ""
    return f"; mean normalised {fmean(worth):.3f}{more}, deviation {pstdev(worth):.3f}{where}"
