"""The screen of `treethink play`: status, picture of the level, keys and legend.

Game, size of the terminal -> [ render ] -> text that fits
"""

from __future__ import annotations

from typing import Any

from rich.text import Text

from treethink.play import keyboard
from treethink.play.game import Game, Prediction
from treethink.text import printable
from treethink.worlds import draw
from treethink.worlds.draw.layout import FEW_LINES, MAX_LINES
from treethink.worlds.draw.text import legend_entries
from treethink.worlds.looks import FLOOR

_COMMANDS = [
    "u: undo",
    "r: restart",
    "n: next level",
    "/: action by name",
    "?: legend",
    "q: quit",
]
_SMALLEST_BOARD = 3  # cells


def render(game: Game, width: int, height: int) -> Text:
    """Return what a terminal of that size shows of a game."""
    prompt = None if game.typed is None else f"action by name: {game.typed}_"
    head = [game.status(), *filter(None, [game.record()]), prompt or game.message, ""]
    keys = map(printable, keyboard.describe(game.keys))
    foot = ["", *_wrap([*keys, *_COMMANDS], width)]
    if game.show_legend:
        foot += _legend(game, width)
    board = _board(game, width, height - len(head) - len(foot))
    if board is None:
        board = Text(f"{width} x {height} is too small to draw it: enlarge the window, press a key")
    top = "\n".join(map(printable, head))
    text = Text("\n").join([Text(top), board, Text("\n".join(foot))])
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _legend(game: Game, width: int) -> list[str]:
    """Return lines that explain the signs and marks of the picture."""
    signs = list(map(printable, legend_entries(game.world)))
    top = signs[0][0] if signs else FLOOR
    marks = [f"{top}_: on top of something else, listed below the picture"]
    if game.model is not None:
        marks.append(f"{top}!: not the most likely outcome")
    marks.append("< > ^ v: the level continues outside the picture")
    return ["", *_wrap(signs, width), "", *_wrap(marks, width)]


def _board(game: Game, width: int, height: int) -> Text | None:
    """Draw the state, or truth beside prediction, cropped if need be; None without any room."""
    turn = game.last
    predicted = None if turn is None else turn.prediction
    states = [game.state] if predicted is None else [game.state, predicted.mode()]
    items = [item for state in states for item in draw.items(game.world, state)]
    window = draw.extent(items, frame=game.world.frame())
    edge = any(item.cell not in window for item in items)
    panels = len(states)
    columns = (width - 4 * (panels - 1)) // (2 * panels) - 2 * edge
    for lines in (MAX_LINES, FEW_LINES):  # cells matter more than the lines below them
        text = _draw(game, predicted, window, lines)
        rows = window.height + height - len(text.split("\n"))
        if columns >= window.width and rows >= window.height:
            return text
    # A cropped picture has an edge, with arrows to the rest.
    columns, rows = columns - 2 * (not edge), rows - 2 * (not edge)
    if columns < min(_SMALLEST_BOARD, window.width) or rows < min(_SMALLEST_BOARD, window.height):
        return None
    return _draw(game, predicted, window.part(_focus(game), columns, rows), FEW_LINES)


def _draw(game: Game, predicted: Prediction | None, window: draw.Window, lines: int) -> Text:
    options: Any = {"window": window, "lines": lines}
    if predicted is None:
        return Text.from_ansi(draw.boards(game.world, [("now", game.state)], **options))
    both = draw.compare(game.world, game.state, predicted, titles=("now", "predicted"), **options)
    return Text.from_ansi(both)


def _focus(game: Game) -> tuple[int, int]:
    """Return the cell to keep in view: of an object that just moved, else of the topmost one."""
    items = draw.items(game.world, game.state)
    if game.last is not None:
        before = {item.id: item.cell for item in draw.items(game.world, game.last.before)}
        items = [each for each in items if before.get(each.id) != each.cell] or items
    return items[-1].cell if items else (0, 0)


def _wrap(parts: list[str], width: int) -> list[str]:
    """Join parts into lines, as many in each line as fit."""
    lines = parts[:1]
    for part in parts[1:]:
        if len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    return lines
