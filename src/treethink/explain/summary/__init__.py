"""A model in numbers: sizes, confidence, what was never seen, what was dropped.

summary  `model.summary()`: a `Summary`; `model.to_dataframe()`: all its leaves
leaves   the leaves of a rule, and how certain each of them is
tables   a summary as tables and sentences: text, rich, HTML
"""

from treethink.explain.summary.summary import Summary

__all__ = ["Summary"]
