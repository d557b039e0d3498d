"""Experiments: learners meet worlds, and what happens is recorded.

`trial` scores one learner in one world while it learns. `config` says which learners meet which
worlds, `pool.perform_all` lets them, and `records.read` returns what was recorded. What needs
no more than a trial imports no more.
"""

from treethink.metrics import TOLERANCE
from treethink.repro.runner.trial import Curve, Learner, trial

__all__ = ["TOLERANCE", "Curve", "Learner", "trial"]
