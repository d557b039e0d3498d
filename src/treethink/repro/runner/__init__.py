"""Experiments: run learners in worlds, and record what happens.

`config` reads which learners run in which worlds, `pool.perform_all` performs the runs, and
`records.read` returns what was recorded. A run that is interrupted resumes from its `checkpoint`.
Importing this package loads only `trial`, which scores one learner in one world while it learns.
"""

from treethink.metrics import TOLERANCE
from treethink.stream.trial import Curve, Learner, trial

__all__ = ["TOLERANCE", "Curve", "Learner", "trial"]
