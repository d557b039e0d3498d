"""Rewards that are no whole numbers: what a `GymWorld` makes of them, by choice.

    reward of the environment -> [ reader ] -> the reward that is told and learned

A reward such as 1 - 0.9 t/T depends on a number of steps that no state shows, so no model can learn
it; its sign can be learned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from treethink.errors import UnknownNameError, WrongTypeError, shown

#: How rewards are told. A list of numbers tells the rank: how many of them a reward reaches.
REWARDS = ("exact", "round", "sign", "none")
Rewards = str | Sequence[float] | None
Reader = Callable[[float], float]


def reward_reader(rewards: Rewards, where: str) -> Reader | None:
    """Return a function that says what is told of a reward; None if nothing is.

    >>> reward_reader([0.5, 1], "here")(0.7)
    1.0
    """
    if rewards is None or rewards == "none":
        return None
    if isinstance(rewards, str):
        readers: dict[str, Reader] = {"exact": float, "round": _rounded, "sign": _sign}
        if rewards not in readers:
            raise UnknownNameError("form of rewards", rewards, REWARDS, where)
        return readers[rewards]
    levels = _levels(rewards, where)
    return lambda reward: float(sum(reward >= level for level in levels))


def _levels(rewards: Any, where: str) -> list[float]:
    numbers = list(rewards) if isinstance(rewards, Sequence) else []
    if not numbers or not all(isinstance(each, int | float) for each in numbers):
        raise WrongTypeError(
            f"{where}: rewards must be one of {', '.join(map(repr, REWARDS))} or a list of numbers,"
            f" got {shown(rewards)}"
        )
    return sorted(map(float, numbers))


def _rounded(reward: float) -> float:
    return float(round(reward)) if math.isfinite(reward) else reward


def _sign(reward: float) -> float:
    return float((reward > 0) - (reward < 0))
