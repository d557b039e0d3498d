"""Where a model is in doubt, and what is missing: `model.doubts()`.

doubt       a `Doubt`, its `Situation`s and ranked `Suggestion`s, and how they are printed
cases       the observations of one rule, by the leaf that they reach
evidence    how many bits a partition of them explains
pairs       attributes that may mean the same, and that rules never compare
terms       the numbers that a hypothesis can compare, and new comparisons of them
conditions  tests that the model knows: alone, in pairs, and about objects that they bind
history     what came before: something that is not in the state
diagnose    all of it together, for one rule
"""

from treethink.explain.doubts.doubt import Doubt, Doubts, Situation, Suggestion

__all__ = ["Doubt", "Doubts", "Situation", "Suggestion"]
