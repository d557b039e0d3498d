"""Make the film of docs/planning.md: coins, picked up by planning in a learned model.

    python docs/images/make_film.py        writes planning.gif beside this file

The model has seen levels of 8 x 8 cells only.
"""

from __future__ import annotations

from pathlib import Path

import treethink as tt
from treethink.planning import gif as film

TARGET = Path(__file__).parent / "planning.gif"


def content() -> bytes:
    """What the file says."""
    small = tt.make("coins")
    model = tt.TreeThink(small.schema)
    model.observe_many(tt.transitions(small, steps=5_000, seed=0))
    world = tt.make("coins", width=10, height=10, coins=8)
    return film.gif(world, [tt.Agent(model).play(world, steps=18, level=4)])


if __name__ == "__main__":
    TARGET.write_bytes(content())
