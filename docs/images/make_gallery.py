"""Draw the pictures of docs/worlds.md: a level of every world, and a prediction beside the truth.

    python docs/images/make_gallery.py        writes worlds.png and prediction.png beside this file

Both are what `World.render` and `draw.compare` give; this only lays them side by side.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import treethink as tt
from treethink.worlds import draw
from treethink.worlds.base import Pixels
from treethink.worlds.draw.layout import Told
from treethink.worlds.draw.pixels import finished, writing

HERE = Path(__file__).parent
NAMES = (
    "walls", "doors", "fish", "gates", "maze", "coins",
    "keys", "lights", "switches", "scale(3,2)", "paths", "taxi",
)  # fmt: skip
COLUMNS, GAP, CELL = 6, 12, 24
PAPER = (252, 251, 248)


def gallery() -> Pixels:
    """A level of each world, each under its name."""
    pictures = [_titled(name, seed) for seed, name in enumerate(NAMES)]
    rows = [pictures[i : i + COLUMNS] for i in range(0, len(pictures), COLUMNS)]
    width = max(picture.shape[1] for picture in pictures)
    return np.vstack([_row(row, width) for row in rows])


def prediction() -> Pixels:
    """What a model that has seen very little expects of a step in the maze, beside what happens."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=60, seed=0))
    for before, action, after in tt.transitions(world, steps=400, seed=1):
        told = model.predict(before, action)
        if told.mode() != after and told.probability(after) > 0.1:
            break
    return draw.compare(world, after, told, "rgb_array", cell=CELL)


def _titled(name: str, seed: int) -> Pixels:
    world = tt.make(name)
    picture = draw.rgb_array(world, world.reset(seed), cell=CELL)
    title = finished(writing([Told(name)], picture.shape[1], CELL))
    return np.vstack([title, picture])


def _row(pictures: list[Pixels], width: int) -> Pixels:
    height = max(picture.shape[0] for picture in pictures) + GAP
    row = np.full((height, len(pictures) * (width + GAP), 3), PAPER, np.uint8)
    for i, picture in enumerate(pictures):
        left = i * (width + GAP)
        row[: picture.shape[0], left : left + picture.shape[1]] = picture
    return row


TARGETS = {"worlds.png": gallery, "prediction.png": prediction}

if __name__ == "__main__":
    for name, picture in TARGETS.items():
        Image.fromarray(picture()).save(HERE / name, optimize=True)
