"""Streams of transitions: random play in one world or in many at once, and learning from it."""

from treethink.stream.parallel import parallel_transitions
from treethink.stream.random_play import transitions
from treethink.stream.transition import Transition

__all__ = ["Transition", "parallel_transitions", "transitions"]
