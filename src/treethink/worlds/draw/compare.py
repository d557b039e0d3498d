"""Pictures of the truth and the prediction, side by side.

    truth (a state), prediction -> [ compare ] -> text, pixels

As text, the prediction is its most likely state, and every difference is told in a line. As
pixels it is all that may follow, each thing as clearly as it is likely. Cells in which the
most likely state differs from the truth are marked in both. As text, whatever was not certain
is told too, with all that it might have been.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal, Protocol, overload

from treethink.errors import TransitionError, UnknownNameError, WrongTypeError, shown
from treethink.state import Object, State
from treethink.text import percent
from treethink.worlds.draw import pixels, text
from treethink.worlds.draw.layout import (
    FEW_LINES,
    MOST_LINES,
    Cell,
    Drawable,
    Item,
    Told,
    Window,
    caption,
    extent,
    items,
)

Value = int | tuple[int, ...]
Chances = Mapping[Value, float]

_TITLES = ("truth", "prediction")
_MOST_DIFFERENCES = 8
_MOST_VALUES = 4
_MOST_GHOSTS = 64


class Predicted(Protocol):
    """What a comparison needs of a prediction."""

    @property
    def state(self) -> State:
        """The state before."""

    def mode(self) -> State:
        """Return the most likely next state."""

    def changes(self) -> Iterable[tuple[int, str, Chances]]:
        """Return (object id, attribute, distribution) for every value that may change."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An attribute whose true value was not the most likely one, or was not certain."""

    object: Object
    attribute: str
    predicted: Value
    was: Value
    chances: Chances

    def __str__(self) -> str:
        what = f"{self.object.class_name} {self.object.id} {self.attribute}"
        if self.chances.get(self.predicted, 0.0) == 1.0:
            return f"{what}: predicted {self.predicted}, was {self.was}"
        return f"{what}: predicted {_in_short(self.chances)}; was {self.was}"


def _in_short(chances: Chances) -> str:
    """Return a distribution as text, most likely first: `75% (1, 1), 25% (2, 1)`."""
    ranked = sorted(chances.items(), key=lambda pair: (-pair[1], pair[0]))
    said = [f"{percent(chance)} {value}" for value, chance in ranked[:_MOST_VALUES]]
    more = len(ranked) - len(said)
    return ", ".join(said) + (f" and {more} more" if more else "")


@overload
def compare(
    world: Drawable,
    truth: State,
    prediction: Predicted,
    mode: Literal["ansi"] = "ansi",
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MOST_LINES,
) -> str: ...
@overload
def compare(
    world: Drawable,
    truth: State,
    prediction: Predicted,
    mode: Literal["rgb_array"],
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MOST_LINES,
) -> pixels.Pixels: ...
def compare(
    world: Drawable,
    truth: State,
    prediction: Predicted,
    mode: str = "ansi",
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MOST_LINES,
) -> str | pixels.Pixels:
    """Draw truth and prediction side by side, differences marked; `mode` as in `World.render`.

    `colour` and `lines` (of what has no place) are for text, `cell` (its size in pixels) for
    pixels; `window` is for both.
    """
    if not isinstance(truth, State):
        raise WrongTypeError(f"the truth must be a State, got {shown(truth)}")
    if mode == "ansi":
        return text.encoded(_as_text(_Pair(world, truth, prediction), window, lines), colour)
    if mode == "rgb_array":
        return _as_pixels(_Pair(world, truth, prediction), cell, window)
    raise UnknownNameError("mode", str(mode), ["ansi", "rgb_array"], "compare")


def differences(truth: State, prediction: Predicted) -> list[Difference]:
    """Return the values for which the most likely state is wrong."""
    guess = prediction.mode()
    if truth.ids != guess.ids:
        others = sorted(set(truth.ids) ^ set(guess.ids))
        raise TransitionError(f"the truth and the prediction have other objects: {others}")
    if truth == guess:
        return []
    chances = {(each, name): values for each, name, values in prediction.changes()}
    return [
        Difference(new, name, said, was, chances.get((new.id, name), {said: 1.0}))
        for old, new in zip(guess, truth, strict=True)
        for name, said in old.values.items()
        if said != (was := new.values[name])
    ]


def uncertain(truth: State, prediction: Predicted) -> list[Difference]:
    """Return the values for which the most likely state is right, but not certain."""
    guess = prediction.mode()
    return [
        Difference(truth[each], name, was, was, chances)
        for each, name, chances in prediction.changes()
        if (was := truth.value(each, name)) == guess.value(each, name)
        and chances.get(was, 0.0) < 1.0
    ]


class _Pair:
    """The content of both panels."""

    def __init__(self, world: Drawable, truth: State, prediction: Predicted):
        self.world = world
        self.truth = truth
        self.prediction = prediction
        self.guess = prediction.mode()
        self.differences = differences(truth, prediction)
        self.uncertain = uncertain(truth, prediction)
        self.wrong_ids = {each.object.id for each in self.differences}
        self.wrong_cells = {
            cell
            for state in (self.truth, self.guess)
            for each in self.wrong_ids
            if (cell := world.place(state[each])) is not None
        }

    def captions(self, most: int) -> tuple[list[Told], list[Told]]:
        """Return the captions: true and most likely values of what has no place in the picture."""
        chances: dict[int, float] = {}
        for each, name, values in self.prediction.changes():
            likely = values.get(self.guess.value(each, name), 0.0)
            chances[each] = chances.get(each, 1.0) * likely
        return (
            caption(self.world, self.truth, self.wrong_ids, most=most),
            caption(self.world, self.guess, self.wrong_ids, chances, most),
        )

    def verdict(self) -> list[str]:
        """Return the differences as text, and then what else was possible."""
        said = [str(each) for each in [*self.differences, *self.uncertain]]
        if not self.differences:
            said = ["as was most likely" if said else "as predicted", *said]
        more = len(said) - _MOST_DIFFERENCES
        return [*said[:_MOST_DIFFERENCES], f"and {more} more"] if more > 0 else said


# ------------------------------------------------------------------------- as text


def _as_text(pair: _Pair, window: Window | None, lines: int) -> list[text.Line]:
    drawn = [items(pair.world, state) for state in (pair.truth, pair.guess)]
    frame = pair.world.frame()
    shown_cells = extent([*drawn[0], *drawn[1]], frame=frame) if window is None else window
    panels = [
        [
            [text.Span(title, bold=True)],
            *text.panel(each, shown_cells, pair.wrong_cells),
            *text.captions([*told, *text.piles(each, shown_cells)]),
        ]
        for title, each, told in zip(_TITLES, drawn, pair.captions(lines), strict=True)
    ]
    rows = _side_by_side(panels[0], panels[1])
    return [*rows, *([text.Span(line)] for line in pair.verdict())]


def _side_by_side(left: Sequence[text.Line], right: Sequence[text.Line]) -> list[text.Line]:
    width = max(text.width_of(line) for line in left) + 4
    rows = max(len(left), len(right))
    return [
        [
            *(left[i] if i < len(left) else []),
            text.Span(" " * (width - (text.width_of(left[i]) if i < len(left) else 0))),
            *(right[i] if i < len(right) else []),
        ]
        for i in range(rows)
    ]


# ----------------------------------------------------------------------- as pixels


def _as_pixels(pair: _Pair, cell: int, window: Window | None) -> pixels.Pixels:
    most = pixels.most_cells(cell)
    drawn = [items(pair.world, pair.truth), _ghosts(pair.world, pair.prediction)]
    frame = pair.world.frame()
    shown_cells = extent([*drawn[0], *drawn[1]], most, frame) if window is None else window
    columns = []
    for title, each, told in zip(_TITLES, drawn, pair.captions(FEW_LINES), strict=True):
        board = pixels.board(each, shown_cells, cell, pair.wrong_cells)
        width = board.shape[1]
        columns.append(
            pixels.stacked(
                [
                    pixels.writing([Told(title)], width, cell),
                    board,
                    pixels.writing(told, width, cell),
                ]
            )
        )
    return pixels.finished(pixels.beside(columns, gap=cell))


def _ghosts(world: Drawable, prediction: Predicted) -> list[Item]:
    """Return every object at each of its possible places."""
    changes: defaultdict[int, dict[str, Chances]] = defaultdict(dict)
    for each, name, values in prediction.changes():
        changes[each][name] = values
    state = prediction.state
    drawn = items(world, (each for each in state if each.id not in changes))
    for each, distributions in changes.items():
        chances: defaultdict[tuple[Cell, int], float] = defaultdict(float)
        found: dict[tuple[Cell, int], Item] = {}
        for changed, chance in _outcomes(state[each], distributions):
            for item in items(world, [changed]):
                found[item.cell, item.order] = item
                chances[item.cell, item.order] += chance
        drawn += [
            Item(item.order, item.id, item.cell, item.look, min(chances[key], 1.0))
            for key, item in found.items()
        ]
    return sorted(drawn, key=lambda item: (item.order, item.id, item.cell))


def _outcomes(each: Object, distributions: Mapping[str, Chances]) -> Iterator[tuple[Object, float]]:
    """Yield the most likely next versions of an object, with their probabilities."""
    likely_first = [
        sorted(values.items(), key=lambda pair: -pair[1]) for values in distributions.values()
    ]
    for chosen in islice(product(*likely_first), _MOST_GHOSTS):
        values = dict(zip(distributions, (value for value, _ in chosen), strict=True))
        changed = Object(each.id, each.class_name, **{**each.values, **values})
        yield changed, math.prod(chance for _, chance in chosen)
