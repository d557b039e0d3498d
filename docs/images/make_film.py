"""Make the animation of docs/planning.md: an agent picks up coins by planning with a model.

    python docs/images/make_film.py        writes planning.gif beside this file

The model was trained in levels of 8 x 8 cells only.
"""

from __future__ import annotations

from pathlib import Path

import treethink as tt
from treethink.planning import gif as film

TARGET = Path(__file__).parent / "planning.gif"


def content() -> bytes:
    """Return the bytes of the GIF."""
    small = tt.make("coins")
    model = tt.TreeThink(small.schema)
    model.observe_many(tt.transitions(small, steps=5_000, seed=0))
    world = tt.make("coins", width=10, height=10, coins=8)
    return film.gif(world, [tt.Agent(model).play(world, steps=18, level=4)])


if __name__ == "__main__":
    TARGET.write_bytes(content())
