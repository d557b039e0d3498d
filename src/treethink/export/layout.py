"""A tidy layout for a tree of boxes: narrow, centred, and without overlaps.

    sizes, children -> [ layout ] -> places

A parent comes before its children in the lists. y grows downwards.

The method is that of Reingold and Tilford, for boxes of any size. Boxes of one depth stand in one
row, with their tops aligned. Neighbouring subtrees are moved together until only the gap is between
them in one of the rows; a parent is centred above its first and last child. The outline of a
subtree is its leftmost and rightmost edge in each row. Merging two outlines takes as many steps as
the shallower one has rows, so the whole layout takes no more steps than there are boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a box: its left and upper edge, its size, and its row."""

    x: float
    y: float
    width: float
    height: float
    row: int

    @property
    def centre(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Layout:
    """All places, the lower edge of each row, and the total size."""

    places: list[Place]
    bottoms: list[float]
    width: float
    height: float


class Outline:
    """The edges of a subtree in each row, the root's row last, relative to the root's centre."""

    def __init__(self, width: float):
        self.left, self.right, self.shift = [-width / 2], [width / 2], 0.0

    def distance(self, other: Outline, gap: float) -> float:
        """Return how far the other must be moved to stand to the right of this one."""
        rows = range(-1, -1 - min(len(self.left), len(other.left)), -1)
        touch = max(self.right[row] - other.left[row] for row in rows)
        return touch + self.shift - other.shift + gap

    def beside(self, other: Outline) -> Outline:
        """Merge both; the lists of the deeper one are changed where both have rows."""
        rows = range(-1, -1 - min(len(self.left), len(other.left)), -1)
        apart = other.shift - self.shift
        if len(self.left) >= len(other.left):
            for row in rows:
                self.right[row] = other.right[row] + apart
            return self
        for row in rows:
            other.left[row] = self.left[row] - apart
        return other

    def under(self, width: float, centre: float) -> None:
        """Add a root above; its centre is the new origin."""
        self.shift -= centre
        self.left.append(-width / 2 - self.shift)
        self.right.append(width / 2 - self.shift)


def tidy(
    sizes: Sequence[tuple[float, float]],
    children: Sequence[Sequence[int]],
    gap_x: float,
    gap_y: float,
    gap_root: float | None = None,
) -> Layout:
    """Return places for all boxes. The first is the root; `gap_root` is the gap below it."""
    offsets = _offsets([width for width, _ in sizes], children, gap_x)
    centres, rows = [0.0] * len(sizes), [0] * len(sizes)
    heights: list[float] = []
    for each, (_, height) in enumerate(sizes):
        if rows[each] == len(heights):
            heights.append(0.0)
        heights[rows[each]] = max(heights[rows[each]], height)
        for child in children[each]:
            centres[child] = centres[each] + offsets[child]
            rows[child] = rows[each] + 1
    gaps = [gap_y if gap_root is None else gap_root, *[gap_y] * len(heights)]
    tops = [0.0, *accumulate(map(add, heights, gaps))]
    edge = min(centre - width / 2 for centre, (width, _) in zip(centres, sizes, strict=True))
    places = [
        Place(centre - width / 2 - edge, tops[row], width, height, row)
        for centre, row, (width, height) in zip(centres, rows, sizes, strict=True)
    ]
    bottoms = [top + height for top, height in zip(tops, heights, strict=False)]
    return Layout(places, bottoms, max(each.x + each.width for each in places), bottoms[-1])


def _offsets(widths: Sequence[float], children: Sequence[Sequence[int]], gap: float) -> list[float]:
    """Return the distance of each box's centre from its parent's, from the leaves up."""
    offsets = [0.0] * len(widths)
    outlines: dict[int, Outline] = {}
    for each in range(len(widths) - 1, -1, -1):
        if not children[each]:
            outlines[each] = Outline(widths[each])
            continue
        first, *others = children[each]
        whole = outlines.pop(first)
        for child in others:
            outline = outlines.pop(child)
            offsets[child] = whole.distance(outline, gap)
            outline.shift += offsets[child]
            whole = whole.beside(outline)
        middle = offsets[children[each][-1]] / 2
        for child in children[each]:
            offsets[child] -= middle
        whole.under(widths[each], middle)
        outlines[each] = whole
    return offsets
