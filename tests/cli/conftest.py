"""Models for the tests of the command line, each trained once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from treethink.model import TreeThink
from treethink.stream.random_play import transitions
from treethink.worlds import make

Trained = Callable[[str, int], TreeThink]


@pytest.fixture(scope="session")
def trained() -> Trained:
    """Return a model trained on so many transitions of a world, with seed 0. Do not change it."""

    @cache
    def model(name: str, steps: int) -> TreeThink:
        learner = TreeThink(make(name).schema)
        learner.observe_many(transitions(make(name), steps, seed=0))
        return learner

    return model
