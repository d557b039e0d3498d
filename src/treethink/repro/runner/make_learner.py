"""The learner of a run, as the run's settings and its seed have it.

    Run, world -> [ made ] -> learner

What a learner decides at random, such as a network's first weights, is another in each run: one
that takes a `seed` gets the run's, unless the settings name one. Settings stay as they were given,
and so do the keys of runs: the seed is a part of them anyway.
"""

from __future__ import annotations

import inspect
from typing import Any

from treethink.repro.runner.spec import Run
from treethink.worlds import World


def made(run: Run, world: World) -> Any:
    """A learner that has observed nothing yet."""
    from treethink.baselines import make_learner

    chance = {"seed": run.seed} if _takes_seed(run.learner) else {}
    return make_learner(run.learner, world, **{**chance, **run.settings})


def _takes_seed(name: str) -> bool:
    from treethink.baselines import LEARNERS, load_learner_class

    learner = load_learner_class(name) if ":" in name else LEARNERS.get(name)
    return learner is not None and "seed" in inspect.signature(learner).parameters
