"""A model in numbers: sizes, confidence, what was never seen, what was dropped.

summary     `model.summary()`: a `Summary`
leaves      the leaves of a rule, and how certain each of them is
tables      a summary as tables and sentences: text, rich, HTML
data_frame  all leaves as a pandas data frame
"""

from treethink.explain.summary.summary import Summary

__all__ = ["Summary"]
