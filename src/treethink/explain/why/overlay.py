"""An explanation drawn over its level: the objects that were asked about have an outline.

    explanation, world -> [ picture ] -> PNG

There is a panel for each reason. The target is outlined in white, objects that tests bound in
orange, and places where a test looked for something and found nothing in red.
"""

from __future__ import annotations

import os
import struct
import textwrap
import zlib
from typing import TYPE_CHECKING

import numpy as np

from treethink import file
from treethink.errors import SettingError, WrongTypeError, shown
from treethink.explain.english.ground_tests import sought, told
from treethink.explain.levels import drawable
from treethink.explain.path import Step
from treethink.file import check_picture_path, format_of
from treethink.state import Object, State
from treethink.worlds.draw.layout import Cell, Drawable, Told, Window, extent, items
from treethink.worlds.draw.pixels import (
    Pixels,
    beside,
    board,
    finished,
    stacked,
    writing,
)
from treethink.worlds.draw.shapes import Numbers, stamp
from treethink.worlds.draw.text import EDGE_COLOUR, WRONG_COLOUR
from treethink.worlds.looks import WHITE, Colour

if TYPE_CHECKING:
    from treethink.explain.why.explanation import Explanation
    from treethink.explain.why.reason import Reason

_MOST_PANELS = 12
_IN_A_ROW = 3
_MOST_LINES = 10
_LETTER = 12  # pixels: two for each dot of a letter, and what is between letters
_TEXT = 24  # the size of a cell for which `writing` makes such letters
_WIDEST, _LARGEST, _SMALLEST = 512, 48, 8  # pixels: of a level, of its cells
_LETTERS = 42
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def draw(
    explanation: Explanation, path: str | os.PathLike[str], world: Drawable | None = None
) -> None:
    """Write the picture. What cannot be written is refused before anything is drawn."""
    format_of(path, ("png",))
    target = check_picture_path(path)
    if world is not None and not hasattr(world, "place"):
        raise WrongTypeError(f"the world must be a World, such as make('maze'), got {shown(world)}")
    if world is not None and world.schema != explanation.state.schema:
        raise SettingError("the world does not fit the explanation: it has another schema")
    file.write(target, png(picture(explanation, world or drawable(explanation.state.schema))))


def picture(explanation: Explanation, world: Drawable) -> Pixels:
    """The panels of all reasons, or the level alone if there is none."""
    state = explanation.state
    drawn = items(world, state)
    window = extent(drawn, frame=world.frame())
    longest = max(window.width, window.height, 1)
    cell = min(max(_WIDEST // longest, _SMALLEST), _LARGEST)
    panels = []
    for reason in explanation.reasons[:_MOST_PANELS]:
        level = board(drawn, window, cell)
        for colour, cells in _marked(world, reason).items():
            _outline(level, window, cell, cells, colour)
        panels.append(_panel(level, _lines(explanation.action, reason)))
    if not panels:
        panels = [_panel(board(drawn, window, cell), [f"{explanation.action}: nothing changes"])]
    rows = [beside(panels[i : i + _IN_A_ROW], _TEXT) for i in range(0, len(panels), _IN_A_ROW)]
    width = max(row.shape[1] for row in rows)
    # Blank paper to the right makes all rows as wide as the widest.
    same = [beside([row, writing([], width - row.shape[1], _TEXT)], 0) for row in rows]
    return finished(stacked(same))


def _panel(level: Numbers, lines: list[str]) -> Numbers:
    """A level with text below it, wide enough for the text."""
    width = max(level.shape[1], _LETTERS * _LETTER + _TEXT // 4)
    edge = writing([], width - level.shape[1], _TEXT)
    text = writing([Told(line[:_LETTERS]) for line in lines], width, _TEXT)
    return stacked([beside([level, edge], 0), text])


def _lines(action: str, reason: Reason) -> list[str]:
    said = [f"{action}: {reason.title}"]
    said += [f"{'yes' if s.holds else 'no'}: {told(reason.state, s)}" for s in reason.steps]
    lines = [line for each in said for line in textwrap.wrap(each, _LETTERS)]
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "..."]


def _marked(world: Drawable, reason: Reason) -> dict[Colour, list[Cell]]:
    """The cells to outline, by colour; the target comes last, on top."""
    state = reason.state
    bound = {x for ids in reason.bound.values() for x in ids} - {reason.object_id}
    failed = [step for step in reason.steps if not step.holds]
    return {
        WRONG_COLOUR: [cell for step in failed for cell in _missed(world, state, step)],
        EDGE_COLOUR: _cells(world, state, bound),
        WHITE: _cells(world, state, {reason.object_id}),
    }


def _cells(world: Drawable, state: State, ids: set[int]) -> list[Cell]:
    placed = (world.place(state[each]) for each in sorted(ids))
    return [cell for cell in placed if cell is not None]


def _missed(world: Drawable, state: State, step: Step) -> list[Cell]:
    """The cells in which a test looked for something: what it wanted there has that place."""
    found = []
    for each in sought(state, step.test, step.before) if step.test.new else ():
        lengths = {
            m: state.schema.attributes[m].length for m in state.schema.classes[each.class_name]
        }
        values = {m: 0 if n == 1 else (0,) * n for m, n in lengths.items()}
        imagined = Object(0, each.class_name, **{**values, each.attribute: each.value})
        if (cell := world.place(imagined)) == each.value:
            found.append(cell)
    return found


def _outline(level: Numbers, window: Window, size: int, cells: list[Cell], colour: Colour) -> None:
    """Frames around cells, drawn into the level."""
    covers, bright = (each[:, :, None] for each in stamp("outline", size))
    for x, y in (cell for cell in cells if cell in window):
        top, left = (y - window.top) * size, (x - window.left) * size
        spot = level[top : top + size, left : left + size]
        spot[...] = spot * (1 - covers) + bright * np.array(colour, dtype=np.float32)


# ---------------------------------------------------------------------------- PNG


def png(pixels: Pixels) -> bytes:
    """Pixels as a PNG, which needs no package: a header, and rows that zlib packs."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(*each) for each in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)
