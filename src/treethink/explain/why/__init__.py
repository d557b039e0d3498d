"""Why a model predicts what it predicts, and what would have changed the prediction."""

from treethink.explain.why.explanation import Explanation
from treethink.explain.why.reason import Reason

__all__ = ["Explanation", "Reason"]
