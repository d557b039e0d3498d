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

from treethink.naming import file_safe

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
class Limits:
    """What a run may take; None: as much as it likes."""

    seconds: float | None = None
    megabytes: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One learner, one world, one seed.

    `predict` is passed on to every prediction. `window` is how many steps a row of the record
    averages over, `examine` the number of held-out transitions at the end; 0: none.
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

    @property
    def key(self) -> str:
        """A name for its files, the same for all runs that have the same results.

        >>> Run("scale(2,1)", "treethink", "TreeThink (paper)", seed=3, steps=9, window=1).key
        'scale-2-1.TreeThink-paper.seed3.e81d6e58'
        """
        decides = {name: each for name, each in asdict(self).items() if name != "limits"}
        digest = hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode())
        # `Lamp` of `lamps:Lamp`
        names = [file_safe(each.rpartition(":")[2]) for each in (self.world, self.label)]
        return ".".join([*names, f"seed{self.seed}", digest.hexdigest()[:8]])

    def to_dict(self) -> dict[str, Any]:
        """As plain data, with its key."""
        return {"key": self.key, **asdict(self)}
