"""The world `frozenlake`: Gymnasium's FrozenLake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from treethink.errors import SettingError
from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Cell
from treethink.worlds.grid import at
from treethink.worlds.gym.table import ToyText, border
from treethink.worlds.looks import BLUE, CYAN, GREEN, GREY, Look


class FrozenLake(ToyText):
    """Gymnasium's FrozenLake: cross slippery ice without falling into a hole.

    Objects
        wall (pos); hole (pos); goal (pos), one of it; agent (pos), one of it; game (score),
        one of it. The walls are the border, which Gymnasium has without drawing it.
    Actions
        left, down, right, up, in Gymnasium's order.
    Dynamics
        The agent goes where it wants to, or to either side of that, each with probability
        1/3; never back. Where a wall is, it stays. In a hole and on the goal it stays, whatever
        it does, and the episode is over; so a stream never shows that.
    Score
        +1 for reaching the goal; otherwise 0. The score takes part in no facts, as in `maze`.
        It depends on where the agent slips to: the two are not independent, and a prediction,
        which is a product over attributes, has their marginals right and no more.
    Start
        Any cell that an episode can reach and that does not end it, all equally likely; 11
        cells at size 4, 53 at size 8. Gymnasium itself starts in the upper left. Score 0.
    Options
        size: which of Gymnasium's two lakes, 4 or 8 (4).
        slippery: 1, or 0 for an agent that goes where it wants to (1).
    Version
        1: the first. Follows the table of FrozenLake-v1.
    """

    name = "frozenlake"
    defaults: ClassVar[Mapping[str, int]] = {"size": 4, "slippery": 1}
    positional = ("size",)
    schema = Schema(
        classes={
            "wall": ["pos"],
            "hole": ["pos"],
            "goal": ["pos"],
            "agent": ["pos"],
            "game": ["score"],
        },
        attributes={"pos": 2, "score": Attribute(1, facts=())},
        actions=["left", "down", "right", "up"],
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("O", "hole", "disc", CYAN),
        Look("G", "goal", "star", GREEN),
        Look("A", "agent", "person", BLUE),
    )

    def make_env(self) -> Any:
        from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

        size, slippery = self.options["size"], self.within("slippery", 0, 1)
        if size not in (4, 8):
            raise SettingError(f"{self._where}: size must be 4 or 8, got {size:,}")
        return FrozenLakeEnv(map_name=f"{size}x{size}", is_slippery=bool(slippery))

    def to_state(self, env: Any) -> State:
        row, column = divmod(int(env.s), env.ncol)
        return self._populate_sorted(
            [
                *at("wall", border(env.ncol, env.nrow)),
                *at("hole", _cells(env, b"H")),
                *at("goal", _cells(env, b"G")),
                *at("agent", [(column + 1, row + 1)]),
            ]
        )


def _cells(env: Any, sign: bytes) -> list[Cell]:
    return [
        (x, y)
        for y, row in enumerate(env.desc, 1)
        for x, letter in enumerate(row, 1)
        if letter == sign
    ]
