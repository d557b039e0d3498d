"""Play episodes with a planner that uses the model of a run.

    learner, plan -> [ EpisodePlayer ] -> a row for each episode

Levels and the planner's random numbers depend on the run's seed and the number of the episode
alone, so all learners play the same episodes.
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

#: Seeds of levels to plan in start here, and each seed of a run has this many.
LEVELS, MOST_EPISODES = 2_000_000, 10_000
#: The most steps of an episode whose optimal score can be computed.
LONGEST = 100_000
#: Levels that a process caches, because other learners play them too.
_CACHED_LEVELS = 20_000

#: Called after each action of an episode; if it raises, the episode is played again later.
AfterAction = Callable[[], None]


def check_level(world: World, steps: int) -> None:
    """Raise an error for a world without scores, or without levels that are worth playing."""
    from treethink.planning.paper_levels import levels

    list(levels(world, steps, LEVELS, 1))


class EpisodePlayer:
    """The episodes of a run, played when they are due."""

    def __init__(self, run: Run):
        self._run = run
        self._first = LEVELS + MOST_EPISODES * run.seed

    def next_due(self, observed: int) -> float:
        """Return the next step before the last after which episodes are played; else infinity."""
        every = [each.every for each in self._run.plans if each.every is not None]
        following = min(((observed // each + 1) * each for each in every), default=math.inf)
        return following if following < self._run.steps else math.inf

    def left(self, recording: Recording) -> Iterator[tuple[Episodes, int]]:
        """Yield what is due now and was not played yet: a plan and the number of an episode."""
        for plan in self._run.plans:
            if plan.is_due(recording.observed, self._run.steps):
                for episode in range(len(recording.played(plan.label)), plan.episodes):
                    yield plan, episode

    def play(self, learner: Any, plan: Episodes, episode: int, after_action: AfterAction) -> Row:
        """Play one episode, which depends on no episode before, and return its row."""
        from treethink.planning.agent import Agent
        from treethink.planning.search import SearchSettings

        world = _world(plan.world, _items(plan.options))
        level, redrawn, bounds = self._level(plan, episode)
        settings = SearchSettings(simulations=plan.simulations)
        agent = Agent.from_settings(_model(learner, world), settings, seed=episode)
        played = agent.play(world, plan.steps, level=level, tell=lambda *_: after_action())
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
        try:
            return _level(plan.world, _items(plan.options), plan.steps, self._first + episode)
        except ResourceError as error:  # the plan is too large, not the learner
            raise SettingError(f"plan {plan.label!r}, episode {episode}: {error}") from error


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what an entry says of the episodes of one setting; `seconds` is for one episode."""
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
    """Return the model to plan with; for the oracle it is the world itself."""
    from treethink.baselines import Oracle

    return world if isinstance(learner, Oracle) else learner


def _items(options: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(options.items()))


@cache
def _world(name: str, options: tuple[tuple[str, int], ...]) -> World:
    return make(name, **dict(options))


@lru_cache(maxsize=_CACHED_LEVELS)
def _level(
    world: str, options: tuple[tuple[str, int], ...], steps: int, first: int
) -> tuple[int, int, ScoreBounds]:
    """Return the seed of a level that is worth playing, the number of redraws, and its bounds.

    The state is not cached: what it cached for one planner would save another one time.
    """
    from treethink.planning.paper_levels import levels

    (level,) = levels(_world(world, options), steps, first, 1)
    return level.seed, level.redrawn, level.bounds
