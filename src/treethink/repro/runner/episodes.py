"""How a run plans with what it has learned: episodes in levels that no other run decides.

    learner, plan -> [ Playing ] -> a row for each episode

Levels depend on the run's seed and the episode's number alone, and so do the planner's random
numbers: all learners are asked to do the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from treethink.errors import ResourceError, SettingError
from treethink.repro.runner.measurements import Recording, Row
from treethink.repro.runner.spec import Episodes, Run
from treethink.worlds import World, make

if TYPE_CHECKING:
    from treethink.planning.scores import ScoreBounds

#: Levels to plan in have seeds from here on, and each run has so many.
LEVELS, MOST_EPISODES = 2_000_000, 10_000
#: Steps of an episode whose best score can still be worked out.
LONGEST = 100_000
#: Levels that a process remembers, which other learners play too.
_REMEMBERED = 20_000

#: Called after each action of an episode; it may raise, and the episode is played again later.
Heed = Callable[[], None]


def check_level(world: World, steps: int) -> None:
    """Refuse a world in which no score can be made, or none that is worth playing for."""
    from treethink.planning.paper_levels import levels

    list(levels(world, steps, LEVELS, 1))


class Playing:
    """The episodes of a run, played when they are due."""

    def __init__(self, run: Run):
        self._run = run
        self._first = LEVELS + MOST_EPISODES * run.seed

    def next_due(self, observed: int) -> float:
        """The next step before the last after which something is to be played."""
        every = [each.every for each in self._run.plans if each.every is not None]
        following = min(((observed // each + 1) * each for each in every), default=math.inf)
        return following if following < self._run.steps else math.inf

    def left(self, recording: Recording) -> Iterator[tuple[Episodes, int]]:
        """What is due now and was not played yet: a plan, and the number of an episode."""
        for plan in self._run.plans:
            if plan.is_due(recording.observed, self._run.steps):
                for episode in range(len(recording.played(plan.label)), plan.episodes):
                    yield plan, episode

    def play(self, learner: Any, plan: Episodes, episode: int, heed: Heed) -> Row:
        """One episode. It depends on nothing that was played before."""
        from treethink.planning.agent import Agent
        from treethink.planning.search import SearchSettings

        world = _world(plan.world, _items(plan.options))
        level, redrawn, bounds = self._level(plan, episode)
        settings = SearchSettings(simulations=plan.simulations)
        agent = Agent.from_settings(_model(learner, world), settings, seed=episode)
        played = agent.play(world, plan.steps, level=level, tell=lambda *_: heed())
        places = {action: place for place, action in enumerate(world.actions)}
        return {
            "setting": plan.label,
            "episode": episode,
            "level": level,
            "redrawn": redrawn,
            "score": int(played.score),
            "pessimal": float(bounds.pessimal),
            "trivial": float(bounds.trivial),
            "optimal": float(bounds.optimal),
            "exact": bool(bounds.exact),
            "normalised": float(bounds.normalised(played.score)),
            "seconds": float(played.seconds),
            "actions": " ".join(str(places[each]) for each in played.actions),
        }

    def _level(self, plan: Episodes, episode: int) -> tuple[int, int, ScoreBounds]:
        asked = (plan.world, _items(plan.options), plan.steps, self._first + episode)
        try:
            return _level(*asked)
        except ResourceError as error:  # it is the plan that asks for too much, not the learner
            raise SettingError(f"plan {plan.label!r}, episode {episode}: {error}") from error


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """What an entry says of the episodes of one setting; `seconds` are those of one episode."""
    scores = [row["normalised"] for row in rows]
    mean = math.fsum(scores) / len(scores)
    return {
        "mean": mean,
        "deviation": math.sqrt(math.fsum((each - mean) ** 2 for each in scores) / len(scores)),
        "episodes": len(rows),
        "redrawn": sum(row["redrawn"] for row in rows),
        "seconds": math.fsum(row["seconds"] for row in rows) / len(rows),
    }


def _model(learner: Any, world: World) -> Any:
    """What is planned with: of the oracle, the world in which it acts."""
    from treethink.baselines import Oracle

    return world if isinstance(learner, Oracle) else learner


def _items(options: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(options.items()))


@cache
def _world(name: str, options: tuple[tuple[str, int], ...]) -> World:
    return make(name, **dict(options))


@lru_cache(maxsize=_REMEMBERED)
def _level(
    world: str, options: tuple[tuple[str, int], ...], steps: int, first: int
) -> tuple[int, int, ScoreBounds]:
    """The seed of a level that is worth playing, how often it was drawn anew, and its bounds.

    The state itself is not kept: what one planner had it work out would save another time.
    """
    from treethink.planning.paper_levels import levels

    (found,) = levels(_world(world, options), steps, first, 1)
    return found.seed, found.redrawn, found.bounds
