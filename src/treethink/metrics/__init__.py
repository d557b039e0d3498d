"""Metrics: how far predictions are from the truth.

    prediction, truth -> [ metrics ] -> a number

- `distance.py`: `error`, the earth mover's distance that learners are scored with, step by step;
  and the chi-square test of counts (`p_value`).
- `state_scores.py`: `score_states`, whether whole next states are right, also among transitions
  that change something, and the precision and recall of changed values.
- `rollouts.py`: `fidelity`, rollouts of several steps in a model and in its world, side by side.
- `ranking.py`: `mean_reciprocal_rank`, the rank of the true next state among mutated copies of it.

docs/metrics.md says what each one is good for.
"""

from treethink.metrics.distance import (
    TOLERANCE,
    Distribution,
    HasChanges,
    Prediction,
    Truth,
    Value,
    WrongValue,
    chi_square,
    chi_square_tail,
    distance,
    each_change,
    error,
    marginals,
    p_value,
)
from treethink.metrics.ranking import mean_reciprocal_rank, mutated_states, rank_of_truth
from treethink.metrics.rollouts import Fidelity, fidelity
from treethink.metrics.state_scores import StateScores, score_states

__all__ = [
    "error",
    "distance",
    "each_change",
    "marginals",
    "p_value",
    "chi_square",
    "chi_square_tail",
    "score_states",
    "StateScores",
    "fidelity",
    "Fidelity",
    "mean_reciprocal_rank",
    "rank_of_truth",
    "mutated_states",
    "TOLERANCE",
    "Distribution",
    "HasChanges",
    "Prediction",
    "Truth",
    "Value",
    "WrongValue",
]
