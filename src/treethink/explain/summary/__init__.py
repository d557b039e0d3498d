"""A model in numbers: sizes, confidence, what was never seen or was dropped."""

from treethink.explain.summary.summary import Summary

__all__ = ["Summary"]
