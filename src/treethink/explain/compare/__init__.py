"""Where a model is wrong about a world, and where two models disagree.

counterexample    `model.check(world, n)`: a `Check`
diff              `model.diff(other)`: a `Diff`
minimize          the smallest state that still shows something (delta debugging)
synthetic_states  random states about which the tests of given rules disagree
"""

from treethink.explain.compare.counterexample import Check
from treethink.explain.compare.diff import Diff

__all__ = ["Check", "Diff"]
