"""Where a model is wrong about a world, and where two models disagree.

counterexample  `model.check(world, n)`: a `Check`
diff            `model.diff(other)`: a `Diff`, from play or from random states
minimize        the smallest state that still shows something (delta debugging)
"""

from treethink.explain.compare.counterexample import Check
from treethink.explain.compare.diff import Diff

__all__ = ["Check", "Diff"]
