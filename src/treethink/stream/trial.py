"""Score a learner on a stream of transitions, while it learns from them (prequential error).

    world -> stream -> [ trial ] -> error of every step

In:   a world, and a learner with `predict` and `observe`.
Out:  the error of each prediction, against `world.truth`, in order.

Each transition is predicted first and learned second. That order is the reason
this module exists: no learner is shown a transition before it is scored on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Protocol

from treethink.errors import whole_number
from treethink.metrics import TOLERANCE, Prediction, error
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World


class Learner(Protocol):
    """What a trial needs of a learner."""

    def predict(self, state: State, action: str, /) -> Prediction:
        """Return a prediction of the next state."""

    def observe(self, before: State, action: str, after: State, /) -> None:
        """Learn from one transition."""


def trial(
    learner: Learner, world: World, steps: int, seed: int, episode: int = 50, first: int = 0
) -> Iterator[float]:
    """Yield the error of every step of a stream, each after the learner has learned from it.

    The `first` steps are skipped, for a learner that has observed them before. A learner of rewards
    and ends, such as `TreeThink`, is given those that the world states.
    """
    learns_feedback = hasattr(learner, "feedback")
    stream = islice(transitions(world, steps, seed, episode), first, None)
    for before, action, after, *feedback in stream:
        wrong_by = error(learner.predict(before, action), world.truth(before, action, after))
        learner.observe(before, action, after, *(feedback if learns_feedback else ()))
        yield wrong_by


class Curve:
    """The errors of a trial, kept as the mean of every window of steps.

    >>> curve = Curve(window=2)
    >>> for wrong_by in [3.0, 1.0, 0.0, 0.0, 0.5]:
    ...     curve.add(wrong_by)
    >>> curve.steps, curve.last_error, curve.means
    (5, 5, [2.0, 0.0, 0.5])
    """

    def __init__(self, window: int = 50):
        self.steps = 0
        #: The last step with an error, counted from 1; 0 if there was none.
        self.last_error = 0
        self._window = whole_number("window", window, 1)
        self._sums: list[float] = []

    def add(self, wrong_by: float) -> None:
        """Add the error of the next step."""
        if self.steps % self._window == 0:
            self._sums.append(0.0)
        self.steps += 1
        self._sums[-1] += wrong_by
        if wrong_by > TOLERANCE:
            self.last_error = self.steps

    @property
    def means(self) -> list[float]:
        """The mean error of each window; the last may hold fewer steps."""
        if not self._sums:
            return []
        in_last = self.steps - self._window * (len(self._sums) - 1)
        return [*(each / self._window for each in self._sums[:-1]), self._sums[-1] / in_last]

    def recent(self, windows: int = 20) -> float:
        """The mean error of the last windows."""
        sums = self._sums[-windows:]
        steps = min(self.steps, self.steps - self._window * (len(self._sums) - len(sums)))
        return sum(sums) / steps if steps else 0.0
