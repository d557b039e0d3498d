"""Why a model predicts what it predicts, and what would have changed the prediction.

explanation     `model.explain(state, action)`: an `Explanation`, with a `Reason` for each value
counterfactual  the smallest change that would lead to another outcome
overlay         an explanation drawn over the picture of its level
"""

from treethink.explain.why.explanation import Explanation, Reason

__all__ = ["Explanation", "Reason"]
