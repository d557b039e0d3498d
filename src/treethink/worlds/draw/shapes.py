"""The shapes and letters of pictures, which are computed rather than stored.

    name of a shape -> [ stamp ] -> how much of each pixel it covers

A shape is a function that returns which points of the unit square are inside: u runs to the right,
v runs down. A letter has seven rows of five dots, and two more rows if it goes below the line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from treethink.errors import UnknownNameError

Points = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Shape = Callable[[Points, Points], Mask]

# Points per side of a pixel, for smooth edges. Stamps are cached, so this costs little.
_SAMPLES = 4
_EDGE_SHADE = 0.35


def _block(u: Points, v: Points) -> Mask:
    return _box(u, v, 0.02, 0.02, 0.98, 0.98)


def _square(u: Points, v: Points) -> Mask:
    return _rounded(u, v, 0.33, 0.1)


def _frame(u: Points, v: Points) -> Mask:
    return _rounded(u, v, 0.42, 0.12) & ~_rounded(u, v, 0.3, 0.06)


def _disc(u: Points, v: Points) -> Mask:
    return _within(u, v, 0.5, 0.5, 0.32)


def _small(u: Points, v: Points) -> Mask:
    return _within(u, v, 0.5, 0.5, 0.16)


def _ring(u: Points, v: Points) -> Mask:
    return _within(u, v, 0.5, 0.5, 0.34) & ~_within(u, v, 0.5, 0.5, 0.2)


def _diamond(u: Points, v: Points) -> Mask:
    return np.abs(u - 0.5) + np.abs(v - 0.5) < 0.38


def _cross(u: Points, v: Points) -> Mask:
    along, across = u + v - 1.0, u - v
    near = np.minimum(np.abs(along), np.abs(across)) < 0.15
    return near & (np.maximum(np.abs(along), np.abs(across)) < 0.56)


def _star(u: Points, v: Points) -> Mask:
    """A pentagram: its points are inside at least four of the five lines through its tips."""
    turns = np.arange(5) * (2 * np.pi / 5)
    inside = sum(
        ((u - 0.5) * np.sin(turn) + (0.53 - v) * np.cos(turn) < 0.135).astype(int) for turn in turns
    )
    return np.asarray(inside >= 4) & _within(u, v, 0.5, 0.53, 0.43)


def _key(u: Points, v: Points) -> Mask:
    bow = _within(u, v, 0.3, 0.5, 0.19) & ~_within(u, v, 0.3, 0.5, 0.08)
    shaft = _box(u, v, 0.46, 0.44, 0.9, 0.56)
    return bow | shaft | _box(u, v, 0.78, 0.5, 0.9, 0.72) | _box(u, v, 0.62, 0.5, 0.71, 0.67)


def _bar(u: Points, v: Points) -> Mask:
    """A gate: bars and the rails that hold them."""
    bars = np.abs((u * 3.0) % 1.0 - 0.5) < 0.2
    rails = (np.abs(v - 0.24) < 0.07) | (np.abs(v - 0.76) < 0.07)
    return (bars | rails) & _box(u, v, 0.06, 0.06, 0.94, 0.94)


def _bulb(u: Points, v: Points) -> Mask:
    """A light bulb: glass above, a socket below."""
    glass = _within(u, v, 0.5, 0.38, 0.29) | _box(u, v, 0.38, 0.56, 0.62, 0.72)
    return glass | _box(u, v, 0.4, 0.74, 0.6, 0.82) | _box(u, v, 0.4, 0.85, 0.6, 0.92)


def _unlit(u: Points, v: Points) -> Mask:
    """The outline of a bulb."""
    return _bulb(u, v) & ~_within(u, v, 0.5, 0.38, 0.21) & ~_box(u, v, 0.45, 0.5, 0.55, 0.66)


def _fish(u: Points, v: Points) -> Mask:
    body = ((u - 0.44) / 0.34) ** 2 + ((v - 0.5) / 0.22) ** 2 < 1.0
    tail = (u > 0.7) & (u < 0.94) & (np.abs(v - 0.5) < 0.1 + 1.0 * (u - 0.72))
    return (body | tail) & ~_within(u, v, 0.27, 0.45, 0.045)


def _person(u: Points, v: Points) -> Mask:
    """A head above shoulders."""
    shoulders = _within(u, v, 0.5, 0.84, 0.31) & (v < 0.86)
    return _within(u, v, 0.5, 0.33, 0.19) | shoulders


def _car(u: Points, v: Points) -> Mask:
    """A car from its side, with transparent windows."""
    return _full_car(u, v) & ~_box(u, v, 0.3, 0.22, 0.7, 0.46)


def _full_car(u: Points, v: Points) -> Mask:
    """A car with a passenger: its windows are filled."""
    roof = (v > 0.14) & (v < 0.5) & (np.abs(u - 0.5) < 0.24 + 0.25 * (v - 0.14))
    wells = _within(u, v, 0.26, 0.78, 0.16) | _within(u, v, 0.74, 0.78, 0.16)
    wheels = _within(u, v, 0.26, 0.78, 0.11) | _within(u, v, 0.74, 0.78, 0.11)
    return ((roof | _box(u, v, 0.05, 0.5, 0.95, 0.78)) & ~wells) | wheels


def _lever(u: Points, v: Points) -> Mask:
    """A switch that is on: a base, and a lever that leans to the right."""
    lean = np.abs((u - 0.5) + 0.55 * (v - 0.75)) < 0.07
    knob = _within(u, v, 0.78, 0.24, 0.11)
    return _box(u, v, 0.2, 0.7, 0.8, 0.88) | knob | (lean & (v > 0.2) & (v < 0.75))


def _lever_back(u: Points, v: Points) -> Mask:
    """A switch that is off: its lever leans to the left."""
    return _lever(1.0 - u, v)


def _door(u: Points, v: Points) -> Mask:
    leaf = _box(u, v, 0.2, 0.34, 0.8, 0.94) | _within(u, v, 0.5, 0.36, 0.3)
    keyhole = _within(u, v, 0.5, 0.52, 0.075) | _box(u, v, 0.465, 0.52, 0.535, 0.72)
    return leaf & ~keyhole


def _arrow(u: Points, v: Points) -> Mask:
    """An arrow at the right edge of its cell that points outwards."""
    return (u > 0.66) & (u < 0.98) & (np.abs(v - 0.5) < (0.98 - u) * 0.95)


def _facing_right(u: Points, v: Points) -> Mask:
    """A triangle that points to the right."""
    return (u > 0.2) & (np.abs(v - 0.5) < (0.85 - u) * 0.55)


def _facing_left(u: Points, v: Points) -> Mask:
    return _facing_right(1.0 - u, v)


def _facing_down(u: Points, v: Points) -> Mask:
    return _facing_right(v, u)


def _facing_up(u: Points, v: Points) -> Mask:
    return _facing_right(1.0 - v, u)


def _outline(u: Points, v: Points) -> Mask:
    return _box(u, v, 0.0, 0.0, 1.0, 1.0) & ~_box(u, v, 0.1, 0.1, 0.9, 0.9)


def _within(u: Points, v: Points, centre_u: float, centre_v: float, radius: float) -> Mask:
    return (u - centre_u) ** 2 + (v - centre_v) ** 2 < radius**2


def _box(u: Points, v: Points, left: float, top: float, right: float, bottom: float) -> Mask:
    return (u > left) & (u < right) & (v > top) & (v < bottom)


def _rounded(u: Points, v: Points, half: float, corner: float) -> Mask:
    """A square around the middle whose corners are quarters of a circle."""
    over_u = np.maximum(np.abs(u - 0.5) - (half - corner), 0.0)
    over_v = np.maximum(np.abs(v - 0.5) - (half - corner), 0.0)
    return np.hypot(over_u, over_v) < corner


SHAPES: dict[str, Shape] = {
    "block": _block,
    "square": _square,
    "frame": _frame,
    "door": _door,
    "bar": _bar,
    "disc": _disc,
    "small": _small,
    "ring": _ring,
    "diamond": _diamond,
    "cross": _cross,
    "star": _star,
    "key": _key,
    "bulb": _bulb,
    "unlit": _unlit,
    "fish": _fish,
    "person": _person,
    "car": _car,
    "full-car": _full_car,
    "lever": _lever,
    "lever-back": _lever_back,
    "arrow": _arrow,
    "outline": _outline,
    "facing-right": _facing_right,
    "facing-left": _facing_left,
    "facing-down": _facing_down,
    "facing-up": _facing_up,
}

#: Shapes that keep their size when they share a cell: they stay visible below other shapes.
TILES = frozenset({"block", "square", "frame", "door", "bar"})

#: (scale, left, top) of the part of a cell that a shape gets.
Slot = tuple[float, float, float]
WHOLE: Slot = (1.0, 0.0, 0.0)


def slot(i: int, count: int) -> Slot:
    """Return the part of a cell for the i-th of `count` objects in it: one of its corners."""
    if count == 1:
        return WHOLE
    corner = (0, 3, 1, 2)[i % 4]
    scale = 0.66 if count == 2 else 0.58
    return scale, (1 - scale) * (corner % 2), (1 - scale) * (corner // 2)


@lru_cache(maxsize=4096)
def stamp(name: str, cell: int, part: Slot = WHOLE) -> tuple[Numbers, Numbers]:
    """Return how much of each pixel a shape covers, and the brightness of its colour there.

    All shapes but blocks have a dark edge, so that they are visible on any background. Do not
    modify the result.
    """
    shape = SHAPES.get(name)
    if shape is None:
        raise UnknownNameError("shape", name, SHAPES, "treethink.worlds.draw.SHAPES")
    scale, left, top = part
    points = (np.arange(cell * _SAMPLES) + 0.5) / (cell * _SAMPLES)
    u, v = np.meshgrid((points - left) / scale, (points - top) / scale)
    inside = shape(u, v) & _box(u, v, 0.0, 0.0, 1.0, 1.0)
    fill = _coverage(inside, cell)
    if name == "block":
        return fill, fill
    coverage = np.maximum(fill, _coverage(_dilate(inside, max(cell * _SAMPLES // 24, 1)), cell))
    return coverage, fill + _EDGE_SHADE * (coverage - fill)


def _coverage(inside: Mask, cell: int) -> Numbers:
    """Return the share of each pixel's points that are inside."""
    share: Numbers = inside.reshape(cell, _SAMPLES, cell, _SAMPLES).mean(
        axis=(1, 3), dtype=np.float32
    )
    return share


def _dilate(inside: Mask, by: int) -> Mask:
    """Return all points that are at most `by` steps from a point inside."""
    grown = inside.copy()
    for _ in range(by):
        near = grown.copy()
        near[1:] |= grown[:-1]
        near[:-1] |= grown[1:]
        near[:, 1:] |= grown[:, :-1]
        near[:, :-1] |= grown[:, 1:]
        grown = near
    return grown


# ------------------------------------------------------------------------- letters

# Each entry is a sign and its rows from the top. A row is a digit in base 32 whose five bits are
# dots. Seven rows are above the line; letters that go below it have two more.
_LETTERS = """
    0EHJLPHE 14C4444E 2EH1248V 3V2421HE 426AIV22 5VGU11HE 668GUHHE 7V124888 8EHHEHHE 9EHHF12C
    a00E1FHF bGGMPHHU c00EGGHE d11DJHHF e00EHVGE f69S8888 g00FHHHF1E hGGMPHHH i40C444E j2062222IC
    kGGIKOKI lC44444E m00QLLLL n00MPHHH o00EHHHE p00UHHHUGG q00FHHHF11 r00MPGGG s00EGE1U t88S8896
    u00HHHJD v00HHHA4 w00HHLLA x00HA4AH y00HHHHF1E z00V248V
    -000V000 +044V440 (2488842 )8422248 :0CC0CC0 .00000CC ,00000CC48 %OP248J3 !4444404 ?EH12404
    <248G842 >G84248G =00V0V00 /122488G _000000V
"""
_FONT = {each[0]: [int(row, 32) for row in each[1:]] for each in _LETTERS.split()}
LETTER_WIDTH, LETTER_HEIGHT = 6, 9  # including the gap to the next letter
ABOVE_LINE = 7


@lru_cache(maxsize=256)
def text_mask(text: str) -> Mask:
    """Return the dots of a line of text: 9 rows, 6 columns per sign. Do not modify the result."""
    dots = np.zeros((LETTER_HEIGHT, LETTER_WIDTH * len(text)), dtype=np.bool_)
    bits = np.array([16, 8, 4, 2, 1])
    for i, sign in enumerate(text.lower()):
        if sign != " ":
            rows = np.array(_FONT.get(sign, _FONT["?"]))
            place = slice(LETTER_WIDTH * i, LETTER_WIDTH * i + 5)
            dots[: len(rows), place] = rows[:, None] & bits > 0
    return dots
