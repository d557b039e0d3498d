"""A level in a picture: drawn as the world draws it, with marks on some cells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from experiments.pictures.canvas import GREY, TONES, arrow, line, placed, text

from treethink.explain.why.explanation import Reason
from treethink.state import State
from treethink.worlds import World
from treethink.worlds.draw.layout import Cell
from treethink.worlds.draw.svg import svg

MISSED = "#ff5d8f"  # where a test looked for an object that is not there


@dataclass(frozen=True)
class Level:
    """A state of a world, with its upper left corner at (x, y)."""

    world: World
    state: State
    x: float
    y: float
    cell: int = 24

    @property
    def width(self) -> float:
        """The width in pixels."""
        return float(self.world.options["width"] * self.cell)

    @property
    def height(self) -> float:
        """The height in pixels."""
        return float(self.world.options["height"] * self.cell)

    def draw(self) -> str:
        """Return the level without marks."""
        return placed(svg(self.world, self.state, self.cell), self.x, self.y)

    def middle(self, cell: Cell) -> tuple[float, float]:
        """Return the centre of a cell in the picture."""
        return self.x + (cell[0] + 0.5) * self.cell, self.y + (cell[1] + 0.5) * self.cell

    def frame(self, cell: Cell, colour: str, dash: str = "") -> str:
        """Return a frame around a cell, with a light line below it for contrast.

        On a small cell it is thin and outside, so that it does not hide the content.
        """
        small = self.cell < 16
        (x, y), half = self.middle(cell), self.cell / 2 + (0.5 if small else -0.5)
        corners = [
            (x - half, y - half),
            (x + half, y - half),
            (x + half, y + half),
            (x - half, y + half),
        ]
        around = [*corners, corners[0]]
        thick = 1.25 if small else 3.0
        return line(around, "#ffffff", 1.5 * thick) + line(around, colour, thick, dash)

    def badge(self, cell: Cell, number: int) -> str:
        """Return the name of a variable above a cell; on small cells, shifted to one side."""
        x, y = self.middle(cell)
        x += (2 * number - 1) * max(0.0, 12 - self.cell / 2)
        top = y - self.cell / 2 - 15
        return (
            f'<rect x="{x - 11:.1f}" y="{top:.1f}" width="22" height="14" rx="3" '
            f'fill="{TONES[number]}"/><text x="{x:.1f}" y="{top + 11:.1f}" fill="#ffffff" '
            f'font-size="11" font-weight="600" text-anchor="middle">X{number}</text>'
        )

    def walk(self, cells: Iterable[Cell], colour: str) -> str:
        """Return an arrow from cell to cell."""
        points = [self.middle(cell) for cell in cells]
        return (
            line(points, "#ffffff", 5)
            + line(points, colour, 3)
            + arrow(points[-2], points[-1], colour)
        )


def draw_marks(level: Level, reason: Reason) -> list[str]:
    """Return frames around the objects that tests bound, and where a test found nothing."""
    parts = []
    if (searched_cell := _searched_cell(level.state, reason)) is not None:
        parts.append(level.frame(searched_cell, MISSED, "5 4"))
    for number, ids in reversed(list(enumerate(reason.bound.values()))):
        for each in ids:
            parts.append(level.frame(level.state[each].pos, TONES[number]))
            parts.append(level.badge(level.state[each].pos, number))
    return parts


def _searched_cell(state: State, reason: Reason) -> Cell | None:
    """Return where the last test looked for an object, if it found none."""
    last = reason.steps[-1]
    if last.holds or not last.test.new or not isinstance(last.test.value, tuple):
        return None
    assert reason.object_id is not None
    (x, y), (u, v) = state[reason.object_id].pos, last.test.value
    return (x + u, y + v) if last.test.variables[0] == 0 else (x - u, y - v)


def below(level: Level, caption: str, line: int = 0) -> str:
    """Return a line of text under the level, centred."""
    y = level.y + level.height + 20 + 18 * line
    return text(level.x + level.width / 2, y, caption, GREY, anchor="middle")
