"""How fast a search is: simulations a second, and how deep they go.

model, levels -> [ timing ] -> Speed -> bench
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from treethink.planning.search import Search, SearchSettings
from treethink.worlds.base import World


@dataclass(frozen=True, slots=True)
class Speed:
    """What plans in several levels took together; the best of several passes."""

    simulations: int
    steps: int
    seconds: float

    @property
    def rate(self) -> float:
        """Simulations a second."""
        return self.simulations / self.seconds

    @property
    def microseconds(self) -> float:
        """The time of one simulation."""
        return 1e6 * self.seconds / self.simulations

    @property
    def depth(self) -> float:
        """How many steps a simulation goes down, on average."""
        return self.steps / self.simulations


def time_plans(
    model: Any, world: World, settings: SearchSettings, plans: int, repeats: int = 1
) -> Speed:
    """Plan once in each of so many levels, anew in each pass."""
    passes = []
    for _ in range(repeats):
        states = [world.reset(seed) for seed in range(plans)]
        searches = [Search(model, settings, seed) for seed in range(plans)]
        start = perf_counter()
        found = [each.plan(state) for each, state in zip(searches, states, strict=True)]
        seconds = perf_counter() - start
        done = sum(each.simulations for each in found)
        passes.append(Speed(done, sum(each.steps for each in searches), seconds))
    return min(passes, key=lambda each: each.seconds)
