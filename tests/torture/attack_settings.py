"""Attacks on the settings of a search: values of wrong types and out of range."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import treethink as tt
from torture import Attack
from treethink.planning.search import SearchSettings

#: Values that no setting accepts, or not this one.
NEVER: list[Any] = [-1, -0.5, math.nan, math.inf, -math.inf, "2", b"2", [], {}, object(), 1j]
WRONG: dict[str, list[Any]] = {
    "simulations": [*NEVER, 0, 1.5, True, 2**63],
    "milliseconds": [*NEVER, 0, True],
    "discount": [*NEVER, 1.01, None, True],
    "horizon": [*NEVER, 0, 2.5, True, 2**70],
    "exploration": [*NEVER, None, False],
    "choose": [*NEVER, "visit", None, 0],
    "transpositions": [*NEVER, None, 0, 1],
}
WORLD = tt.make("maze")


def wrong_setting_is_refused(rng: random.Random, folder: Path) -> str | None:
    """Give one wrong setting to all that take settings: the same error, and nothing changed."""
    name = rng.choice(list(WRONG))
    wrong = {name: rng.choice(WRONG[name])}
    state = WORLD.reset(rng.randrange(100))
    agent = tt.Agent(WORLD, simulations=5, horizon=3)
    before = agent.plan(state)
    messages = set()
    for make in (
        lambda: SearchSettings(**wrong),
        lambda: tt.plan(WORLD, state, **wrong),
        lambda: tt.Agent(WORLD, **wrong),
        lambda: agent.__init__(WORLD, **wrong),  # type: ignore[misc]
    ):
        try:
            make()
        except tt.TreeThinkError as error:
            messages.add(str(error))
        else:
            return f"{wrong} was accepted"
    word = "choice" if name == "choose" else name
    if len(messages) != 1 or word not in messages.pop():
        return f"the errors about {wrong} differ, or do not name it"
    agent.reset()
    return None if agent.plan(state) == before else "the agent plans differently after the error"


ATTACKS = [
    Attack(
        "wrong search setting",
        "`plan` and `Agent` refuse it with one error that names it, and agents stay as they were",
        1_000,
        wrong_setting_is_refused,
    ),
]
