"""The world `cliffwalking`: Gymnasium's CliffWalking.

A fall takes the agent back to the start from anywhere along the cliff. The table compares ways to
represent its position: after how many steps of random play (episodes of 50, three seeds, the
paper's settings) all 148 entries of the table that an episode can meet were first exact.

    pos as deltas: one delta for each column of the cliff       76,000 to 83,000
    x and y apart, as deltas                                    77,500 to 87,000
    pos as new values: one value for every cell                 after 10,000, 103 wrong, and
                                                                6 ms a step instead of 10 us
    an object for every column, with a flag for the agent       after 200,000, 86 wrong
    an object for every cell, with a flag for the agent         after 100,000, 148 wrong

With new values, a fall has one outcome, but other moves have many. With objects for places there
are few outcomes, but only two of dozens of objects change in a step. Deltas are therefore used:
the ten deltas of falls are rare, but only need to be observed.

With the default settings it takes 6,500 to 7,000 steps, and the model stays exact: in a million
steps the last errors were at 6,563, at 6,489 and at 6,340. With the paper's settings they were at
77,013, at 365,459 and at 310,862, because a branch near the root was changed once more.
"""

from __future__ import annotations

from typing import Any

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Cell
from treethink.worlds.grid import at
from treethink.worlds.gym.table import ToyText, border
from treethink.worlds.looks import BLUE, GREEN, GREY, RED, Look


class CliffWalking(ToyText):
    """Gymnasium's CliffWalking: walk along a cliff; a fall leads back to the start.

    Objects
        wall (pos); cliff (pos), ten of it; goal (pos), one of it; agent (pos), one of it;
        game (score), one of it. The walls are the border, which Gymnasium has without
        drawing it.
    Actions
        up, right, down, left, in Gymnasium's order.
    Dynamics
        The agent moves one cell, unless a wall is there. Entering the cliff is a fall: the
        agent is back at the lower left. On the goal the episode is over.
    Score
        -100 for a fall, -1 otherwise. The score takes part in no facts, as in `maze`.
    Start
        Any of the 37 cells that an episode can reach and that do not end it, all equally
        likely; so never on the cliff. Gymnasium itself starts at the lower left. Score 0.
    Options
        None.
    Version
        1: the first. Follows the table of CliffWalking-v0 and v1, on ground that is not
        slippery.
    """

    name = "cliffwalking"
    schema = Schema(
        classes={
            "wall": ["pos"],
            "cliff": ["pos"],
            "goal": ["pos"],
            "agent": ["pos"],
            "game": ["score"],
        },
        attributes={"pos": 2, "score": Attribute(1, facts=())},
        actions=["up", "right", "down", "left"],
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("C", "cliff", "cross", RED),
        Look("G", "goal", "star", GREEN),
        Look("A", "agent", "person", BLUE),
    )

    def make_env(self) -> Any:
        from gymnasium.envs.toy_text.cliffwalking import CliffWalkingEnv

        return CliffWalkingEnv()

    def to_state(self, env: Any) -> State:
        height, width = env.shape
        row, column = divmod(int(env.s), width)
        lowest: list[Cell] = [(x, height) for x in range(1, width + 1)]
        return self._populate_sorted(
            [
                *at("wall", border(width, height)),
                *at("cliff", lowest[1:-1]),
                *at("goal", lowest[-1:]),
                *at("agent", [(column + 1, row + 1)]),
            ]
        )
