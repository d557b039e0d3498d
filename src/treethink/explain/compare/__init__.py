"""Where a model is wrong about a world, and where two models disagree."""

from treethink.explain.compare.check_report import Check
from treethink.explain.compare.diff_report import Diff

__all__ = ["Check", "Diff"]
