"""A run: one learner that meets one world, and everything that decides what comes of it.

    config -> [ Run ] -> perform -> record

Runs are plain data: they cross to other processes, and their key names their files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from treethink.file import file_safe

#: Held-out streams have seeds from here on, which nobody trains with.
HELD_OUT = 1_000_000


@dataclass(frozen=True, slots=True)
class Transfer:
    """A world to be asked about every so many observations, over a stream of so many steps."""

    world: str
    every: int
    steps: int = 100
    options: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Episodes:
    """Levels in which a planner acts with what was learned: so many episodes of so many steps.

    They are played at the end of a run and, with `every`, whenever so many observations more
    were made, from none on. `simulations` is what the planner may do for each action.
    """

    label: str
    world: str
    steps: int
    episodes: int
    simulations: int = 100
    every: int | None = None
    options: Mapping[str, int] = field(default_factory=dict)

    def is_due(self, observed: int, steps: int) -> bool:
        """Whether they are played after so many of a run's steps."""
        return observed == steps or (self.every is not None and observed % self.every == 0)

    def times(self, steps: int) -> int:
        """How often they are played in a run of so many steps."""
        return 1 if self.every is None else 1 + -(-steps // self.every)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take; None: as much as it likes."""

    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One learner, one world, one seed.

    `predict` is passed on to every prediction. `window` is how many steps a row of the record
    averages over, `examine` the number of held-out transitions at the end; 0: none. `plans` is
    what the learner is planned with.
    """

    world: str
    learner: str
    label: str
    seed: int
    steps: int
    window: int
    episode: int = 50
    examine: int = 0
    options: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    predict: Mapping[str, Any] = field(default_factory=dict)
    transfer: Transfer | None = None
    limits: Limits = field(default_factory=Limits)
    plans: tuple[Episodes, ...] = ()

    @property
    def key(self) -> str:
        """A name for its files, the same for all runs that have the same results.

        >>> Run("scale(2,1)", "treethink", "TreeThink (paper)", seed=3, steps=9, window=1).key
        'scale-2-1.TreeThink-paper.seed3.e81d6e58'
        """
        decides = {name: each for name, each in asdict(self).items() if name != "limits"}
        if not self.plans:  # there were none when the first keys were made
            del decides["plans"]
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode())
        # `Lamp` of `lamps:Lamp`
        names = [file_safe(each.rpartition(":")[2]) for each in (self.world, self.label)]
        return ".".join([*names, f"seed{self.seed}", digest.hexdigest()[:8]])

    @property
    def questions(self) -> int:
        """About how many predictions it asks for, to learn and to plan."""
        planned = (
            each.times(self.steps) * each.episodes * each.steps * each.simulations
            for each in self.plans
        )
        return self.steps + sum(planned)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with its key; plans by their labels."""
        plain = asdict(self)
        plans = {each.pop("label"): each for each in plain["plans"]}
        return {"key": self.key, **plain, "plans": plans}
