"""Experiments: run learners in worlds, and record what happens.

`trial` scores one learner in one world while it learns. `config` reads which learners run in
which worlds, `pool.perform_all` performs the runs, and `records.read` returns what was recorded.
Importing this package loads `trial` only.
"""

from treethink.metrics import TOLERANCE
from treethink.repro.runner.trial import Curve, Learner, trial

__all__ = ["TOLERANCE", "Curve", "Learner", "trial"]
