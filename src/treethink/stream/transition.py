"""A transition: what was, what was done, and what came of it.

    world, log -> [ Transition ] -> observe_many, evaluation, metrics

A tuple of (before, action, after), (before, action, after, reward) or (before, action, after,
reward, terminated) is as good as a `Transition` wherever transitions are read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from treethink.errors import WrongTypeError, shown
from treethink.state import State

#: (before, action, after), followed by nothing, a reward, or a reward and an end.
AnyTransition = tuple[Any, ...]

_SHORTEST, _LONGEST = 3, 5


class Transition(NamedTuple):
    """A step of a world: the state before, the action, and the state after.

    `reward` is a number and `terminated` says whether the episode ended with this step; None stands
    for what is not known.

    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> state = world.reset(seed=0)
    >>> step = Transition(state, "right", state, reward=-1)
    >>> step.reward, step.terminated
    (-1, None)
    """

    before: State
    action: str
    after: State
    reward: float | None = None
    terminated: bool | None = None


def as_transition(item: object) -> Transition:
    """Return a tuple or list of 3 to 5 items as a `Transition`; raise a `WrongTypeError` if not."""
    if isinstance(item, Transition):
        return item
    if not isinstance(item, (tuple, list)) or not _SHORTEST <= len(item) <= _LONGEST:
        raise WrongTypeError(
            "a transition must be (before, action, after), or that with a reward and then an end,"
            f" got {shown(item)}"
        )
    return Transition(*item)
