"""A small plot: axes and curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.pictures.canvas import GREY, LINE, line, text

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Axes:
    """A pair of axes in a picture: position, size, and the ranges of x and y."""

    x: float
    y: float
    width: float
    height: float
    xs: tuple[float, float]
    ys: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the position of a point; points outside are moved to the edge."""
        u = (min(max(x, self.xs[0]), self.xs[1]) - self.xs[0]) / (self.xs[1] - self.xs[0])
        v = (min(max(y, self.ys[0]), self.ys[1]) - self.ys[0]) / (self.ys[1] - self.ys[0])
        return self.x + u * self.width, self.y + (1 - v) * self.height

    def frame(
        self,
        title: str,
        y_title: str,
        x_title: str,
        x_ticks: Iterable[float],
        y_ticks: Iterable[float],
    ) -> list[str]:
        """Return titles, grid lines and tick labels."""
        floor = self.y + self.height
        parts = [
            text(self.x, self.y - 30, title, bold=True),
            text(self.x, self.y - 12, y_title, GREY, size=12),
        ]
        for tick in y_ticks:
            _, y = self.at(0, tick)
            parts.append(line([(self.x, y), (self.x + self.width, y)], LINE, 0.7))
            parts.append(text(self.x - 6, y + 4, f"{tick:g}", GREY, size=11, anchor="end"))
        for tick in x_ticks:
            x, _ = self.at(tick, 0)
            parts.append(text(x, floor + 16, f"{tick:,.0f}", GREY, size=11, anchor="middle"))
        parts.append(
            text(self.x + self.width / 2, floor + 33, x_title, GREY, size=12, anchor="middle")
        )
        return parts

    def curve(self, points: Points, colour: str, width: float = 2, dash: str = "") -> str:
        """Return a line through points."""
        return line([self.at(*each) for each in points], colour, width, dash)

    def level(self, y: float, colour: str) -> str:
        """Return a dashed horizontal line."""
        return line([self.at(self.xs[0], y), self.at(self.xs[1], y)], colour, 1.5, "5 4")
