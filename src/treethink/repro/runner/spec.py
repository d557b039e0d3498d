"""What an experiment consists of, as plain data: parts of a config, and runs.

    config -> WorldPart, LearnerPart, PlanPart -> [ Run ] -> perform -> record

A run is one learner in one world with one seed, and everything that decides its result. Runs are
sent to other processes, and their key names their files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from treethink.file import file_safe

#: Held-out streams have seeds from here on; no learner trains on these.
HELD_OUT = 1_000_000


@dataclass(frozen=True, slots=True)
class Transfer:
    """Another world to predict every `every` observations, over a stream of `steps` steps."""

    world: str
    every: int
    steps: int = 100
    options: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Episodes:
    """Levels in which a planner acts by the learned model: `episodes` of `steps` steps each.

    They are played at the end of a run and, with `every`, also before the first observation and
    after every `every` observations. `simulations` is the planner's budget for each action.
    """

    label: str
    world: str
    steps: int
    episodes: int
    simulations: int = 100
    every: int | None = None
    options: Mapping[str, int] = field(default_factory=dict)

    def is_due(self, observed: int, steps: int) -> bool:
        """Whether they are played after `observed` of a run's `steps`."""
        return observed == steps or (self.every is not None and observed % self.every == 0)

    def times(self, steps: int) -> int:
        """How often they are played in a run of `steps` steps."""
        return 1 if self.every is None else 1 + -(-steps // self.every)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may use; None: no limit."""

    seconds: float | None = None
    megabytes: float | None = None


# ------------------------------------------------------------------------ parts of a config


@dataclass(frozen=True, slots=True)
class WorldPart:
    """A world of a config."""

    name: str
    options: Mapping[str, int]
    steps: int | None = None
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class LearnerPart:
    """A learner of a config; `worlds` None: it runs in all of them."""

    name: str
    label: str
    settings: Mapping[str, Any]
    predict: Mapping[str, Any]
    worlds: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Episodes of a config, to be played with the learned model.

    `world` None: the world of the run, with `options` in place of some of its own.
    """

    label: str
    steps: int
    episodes: int
    simulations: int = 100
    every: int | None = None
    world: str | None = None
    options: Mapping[str, int] = field(default_factory=dict)

    def after(self, learned: WorldPart) -> Episodes:
        """Return the episodes of a run in the world `learned`."""
        here = self.world is None
        return Episodes(
            label=self.label,
            world=learned.name if self.world is None else self.world,
            steps=self.steps,
            episodes=self.episodes,
            simulations=self.simulations,
            every=self.every,
            options={**learned.options, **self.options} if here else self.options,
        )


# ------------------------------------------------------------------------------------- runs


@dataclass(frozen=True, slots=True)
class Run:
    """One learner, one world, one seed.

    `predict` holds keyword arguments of every prediction. `window` is how many steps a row of the
    record averages over, `examine` the number of held-out transitions at the end (0: none),
    `score` the number of those whose most likely states are scored (0: none), and `plans` the
    episodes that are played with the learned model.
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
    score: int = 0

    @property
    def key(self) -> str:
        """A name for its files, equal for all runs that have the same results.

        >>> Run("scale(2,1)", "treethink", "TreeThink (paper)", seed=3, steps=9, window=1).key
        'scale-2-1.TreeThink-paper.seed3.e81d6e58'
        """
        content = {name: each for name, each in asdict(self).items() if name != "limits"}
        for later in ("plans", "score"):  # keys of runs without them stay as they were
            if not content[later]:
                del content[later]
        digest = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode())
        # `Lamp` of `lamps:Lamp`
        names = [file_safe(each.rpartition(":")[2]) for each in (self.world, self.label)]
        return ".".join([*names, f"seed{self.seed}", digest.hexdigest()[:8]])

    @property
    def n_predictions(self) -> int:
        """The approximate number of predictions, for learning and for planning."""
        planned = (
            each.times(self.steps) * each.episodes * each.steps * each.simulations
            for each in self.plans
        )
        return self.steps + sum(planned)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with its key; plans by their labels."""
        plain = asdict(self)
        plans = {each.pop("label"): each for each in plain["plans"]}
        return {"key": self.key, **plain, "plans": plans}
