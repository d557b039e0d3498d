"""An explanation drawn over the picture of its level: the objects it is about are outlined.

    explanation, world -> [ overlay ] -> PNG

There is a panel for each reason. The object that it is about is outlined in white, objects that
tests bound in orange, and cells in which a test looked for an object and found none in red.
"""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING

from treethink import file
from treethink.errors import SettingError, WrongTypeError, shown
from treethink.explain.english.tests import requirements, statement
from treethink.explain.path import Step
from treethink.explain.state_picture import drawable
from treethink.file import check_picture_path, format_of
from treethink.state import Object, State
from treethink.worlds.draw.layout import CaptionLine, Cell, Drawable, extent, items
from treethink.worlds.draw.pixels import (
    Pixels,
    beside,
    board,
    outline_cells,
    png,
    stacked,
    text_block,
    to_uint8,
)
from treethink.worlds.draw.shapes import Numbers
from treethink.worlds.draw.text import EDGE_COLOUR, WRONG_COLOUR
from treethink.worlds.looks import WHITE, Colour

if TYPE_CHECKING:
    from treethink.explain.why.explanation import Explanation, Reason

_MAX_PANELS = 12
_PANELS_PER_ROW = 3
_MAX_LINES = 10
_LETTERS = 42  # in a line of text
_LETTER = 12  # pixels: the width of a letter and its gap, at two pixels per dot
_TEXT_CELL = 24  # pixels: the cell size for which `text_block` makes letters of that width
_MAX_LEVEL, _MAX_CELL, _MIN_CELL = 512, 48, 8  # pixels


def draw(
    explanation: Explanation, path: str | os.PathLike[str], world: Drawable | None = None
) -> None:
    """Write the picture. Arguments are checked before anything is drawn."""
    format_of(path, ("png",))
    target = check_picture_path(path)
    if world is not None and not hasattr(world, "place"):
        raise WrongTypeError(f"the world must be a World, such as make('maze'), got {shown(world)}")
    if world is not None and not world.schema.fits(explanation.state.schema):
        raise SettingError("the world does not fit the explanation: it has another schema")
    file.write(target, png(picture(explanation, world or drawable(explanation.state.schema))))


def picture(explanation: Explanation, world: Drawable) -> Pixels:
    """Return the panels of all reasons, or the level alone if there is none."""
    state = explanation.state
    drawn = items(world, state)
    window = extent(drawn, frame=world.frame())
    longest = max(window.width, window.height, 1)
    cell = min(max(_MAX_LEVEL // longest, _MIN_CELL), _MAX_CELL)
    panels = []
    for reason in explanation.reasons[:_MAX_PANELS]:
        level = board(drawn, window, cell)
        for colour, cells in _cells_by_colour(world, reason).items():
            outline_cells(level, window, cell, cells, colour)
        panels.append(_panel(level, _lines(explanation.action, reason)))
    if not panels:
        panels = [_panel(board(drawn, window, cell), [f"{explanation.action}: nothing changes"])]
    starts = range(0, len(panels), _PANELS_PER_ROW)
    rows = [beside(panels[i : i + _PANELS_PER_ROW], _TEXT_CELL) for i in starts]
    width = max(row.shape[1] for row in rows)
    return to_uint8(stacked([_pad_right(row, width) for row in rows]))


def _pad_right(part: Numbers, width: int) -> Numbers:
    """Return the part padded with blank paper on its right, to the given width."""
    return beside([part, text_block([], width - part.shape[1], _TEXT_CELL)], 0)


def _panel(level: Numbers, lines: list[str]) -> Numbers:
    """Return a level with text below it, wide enough for the text."""
    width = max(level.shape[1], _LETTERS * _LETTER + _TEXT_CELL // 4)
    text = text_block([CaptionLine(line[:_LETTERS]) for line in lines], width, _TEXT_CELL)
    return stacked([_pad_right(level, width), text])


def _lines(action: str, reason: Reason) -> list[str]:
    texts = [f"{action}: {reason.title}"]
    texts += [f"{'yes' if s.holds else 'no'}: {statement(reason.state, s)}" for s in reason.steps]
    lines = [line for each in texts for line in textwrap.wrap(each, _LETTERS)]
    return lines if len(lines) <= _MAX_LINES else [*lines[: _MAX_LINES - 1], "..."]


def _cells_by_colour(world: Drawable, reason: Reason) -> dict[Colour, list[Cell]]:
    """Return the cells to outline, by colour; the object itself comes last, on top."""
    state = reason.state
    own = set() if reason.object_id is None else {reason.object_id}
    bound = {x for ids in (*reason.bound.values(), reason.things) for x in ids} - own
    failed = [step for step in reason.steps if not step.holds]
    return {
        WRONG_COLOUR: [cell for step in failed for cell in _empty_cells(world, state, step)],
        EDGE_COLOUR: _cells(world, state, bound),
        WHITE: _cells(world, state, own),
    }


def _cells(world: Drawable, state: State, ids: set[int]) -> list[Cell]:
    placed = (world.place(state[each]) for each in sorted(ids))
    return [cell for cell in placed if cell is not None]


def _empty_cells(world: Drawable, state: State, step: Step) -> list[Cell]:
    """Return the cells in which a test looked for an object and found none."""
    cells = []
    classes = state.schema.classes
    asks = step.test.new or step.test.kind == "something"
    for each in requirements(state, step.test, step.before) if asks else ():
        of_any = (name for name, own in classes.items() if each.attribute in own)
        name = each.class_name if each.class_name in classes else next(of_any)
        lengths = {m: state.schema.attributes[m].length for m in classes[name]}
        values = {m: 0 if n == 1 else (0,) * n for m, n in lengths.items()}
        hypothetical = Object(0, name, **{**values, each.attribute: each.value})
        if (cell := world.place(hypothetical)) == each.value:
            cells.append(cell)
    return cells
