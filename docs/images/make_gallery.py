"""Draw the pictures of docs/worlds.md: a level of every world, and a prediction beside the truth.

    python docs/images/make_gallery.py        writes worlds.png and prediction.png beside this file

Both use the functions behind `World.render` and `draw.compare`; this script arranges the panels.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

import treethink as tt
from treethink.worlds import draw
from treethink.worlds.base import Pixels
from treethink.worlds.draw.layout import CaptionLine, caption
from treethink.worlds.draw.pixels import board, stacked, text_block, to_uint8

HERE = Path(__file__).parent
NAMES = (
    "walls", "doors", "fish", "gates", "maze", "coins", "keys",
    "lights", "switches", "scale(3,2)", "paths", "taxi", "frozenlake", "cliffwalking",
    "cells", "parity", "carry", "push", "chase", "fuel", "bounce",
    "portal",
)  # fmt: skip
COLUMNS, GAP, CELL = 7, 12, 24
#: Width of a panel in pixels. Cells are as large as it allows.
WIDTH = 8 * CELL
PAGE = (252, 251, 248)


def gallery() -> Pixels:
    """Draw a level of each world, each under its name."""
    panels = [_panel(name, seed) for seed, name in enumerate(NAMES)]
    rows = [panels[i : i + COLUMNS] for i in range(0, len(panels), COLUMNS)]
    return np.vstack([_row(row) for row in rows])


def prediction_beside_truth() -> Pixels:
    """Draw the prediction of a model with few observations beside what happens."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=60, seed=0))
    for before, action, after in tt.transitions(world, steps=400, seed=1):
        prediction = model.predict(before, action)
        if prediction.mode() != after and prediction.probability(after) > 0.1:
            break
    return draw.compare(world, after, prediction, "rgb_array", cell=CELL)


def _panel(name: str, seed: int) -> Pixels:
    world = tt.make(name)
    state = world.reset(seed)
    drawn = draw.items(world, state)
    shown = draw.extent(drawn)
    picture = board(drawn, shown, WIDTH // shown.width)
    margin = WIDTH - picture.shape[1]
    sides = ((0, 0), (margin // 2, margin - margin // 2), (0, 0))
    return to_uint8(
        stacked(
            [
                text_block([CaptionLine(name)], WIDTH, CELL),
                np.pad(picture, sides),
                text_block(caption(world, state), WIDTH, CELL),
            ]
        )
    )


def _row(panels: list[Pixels]) -> Pixels:
    height = max(panel.shape[0] for panel in panels) + GAP
    row = np.full((height, COLUMNS * (WIDTH + GAP) - GAP, 3), PAGE, np.uint8)
    for i, panel in enumerate(panels):
        left = i * (WIDTH + GAP)
        row[: panel.shape[0], left : left + WIDTH] = panel
    return row


TARGETS = {"worlds.png": gallery, "prediction.png": prediction_beside_truth}

if __name__ == "__main__":
    for name, picture in TARGETS.items():
        Image.fromarray(picture()).save(HERE / name, optimize=True)
