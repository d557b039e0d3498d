"""Pictures of the truth and the prediction, side by side.

    truth (a state), prediction -> [ compare ] -> text, pixels

As text, the prediction is shown as its most likely state, followed by a line for each difference
and for each value that was uncertain, with the probabilities. As pixels, every possible outcome is
drawn, with its probability as opacity. Cells in which the most likely state differs from the truth
are marked in both.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Literal, Protocol, overload

from treethink.errors import TransitionError, UnknownNameError, WrongTypeError, shown
from treethink.metrics import Distribution, WrongValue, each_change
from treethink.state import Object, State
from treethink.text import percent
from treethink.worlds.draw import pixels, text
from treethink.worlds.draw.layout import (
    FEW_LINES,
    MAX_LINES,
    CaptionLine,
    Cell,
    Drawable,
    Item,
    Window,
    caption,
    extent,
    items,
)

TITLES = ("truth", "prediction")
_MAX_DIFFERENCES = 8
_MAX_VALUES = 4
_MAX_OUTCOMES = 64


class PredictionLike(Protocol):
    """The part of a prediction that a comparison uses."""

    @property
    def state(self) -> State:
        """The state before."""

    def mode(self) -> State:
        """Return the most likely next state."""

    def changes(self) -> Mapping[int, Mapping[str, Distribution]]:
        """Return {object id: {attribute: distribution}} of every value that may change."""


def difference_text(truth: State, wrong: WrongValue) -> str:
    """Return what was predicted and what followed: `player 1 pos: predicted (1, 1), was (2, 1)`."""
    (actual,) = wrong.true
    each = _object_of(wrong)
    what = f"{truth[each].class_name} {each} {wrong.attribute}"
    certain = [value for value, chance in wrong.predicted.items() if chance == 1.0]
    if certain:
        return f"{what}: predicted {certain[0]}, was {actual}"
    return f"{what}: predicted {_distribution_text(wrong.predicted)}; was {actual}"


def _object_of(wrong: WrongValue) -> int:
    """Return the object of a wrong value: pictures show no rewards or ends, which have none."""
    assert wrong.object_id is not None
    return wrong.object_id


def _distribution_text(chances: Distribution) -> str:
    """Return a distribution as text, most likely first: `75% (1, 1), 25% (2, 1)`."""
    ranked = sorted(chances.items(), key=lambda pair: (-pair[1], pair[0]))
    texts = [f"{percent(chance)} {value}" for value, chance in ranked[:_MAX_VALUES]]
    more = len(ranked) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")


@overload
def compare(
    world: Drawable,
    truth: State,
    prediction: PredictionLike,
    mode: Literal["ansi"] = "ansi",
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MAX_LINES,
    titles: tuple[str, str] = TITLES,
) -> str: ...
@overload
def compare(
    world: Drawable,
    truth: State,
    prediction: PredictionLike,
    mode: Literal["rgb_array"],
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MAX_LINES,
    titles: tuple[str, str] = TITLES,
) -> pixels.Pixels: ...
def compare(
    world: Drawable,
    truth: State,
    prediction: PredictionLike,
    mode: str = "ansi",
    *,
    colour: bool = True,
    cell: int = pixels.CELL,
    window: Window | None = None,
    lines: int = MAX_LINES,
    titles: tuple[str, str] = TITLES,
) -> str | pixels.Pixels:
    """Draw truth and prediction side by side with differences marked.

    `mode` is that of `World.render`. `colour` and `lines` (the maximum number of lines about
    objects without a place) apply to text, `cell` (its size in pixels) to pixels, and `window`
    to both. `titles` stand above the two.
    """
    if not isinstance(truth, State):
        raise WrongTypeError(f"the truth must be a State, got {shown(truth)}")
    if mode == "ansi":
        return text.encode(_as_text(_Pair(world, truth, prediction), window, lines, titles), colour)
    if mode == "rgb_array":
        return _as_pixels(_Pair(world, truth, prediction), cell, window, titles)
    raise UnknownNameError("mode", str(mode), ["ansi", "rgb_array"], "compare")


def differences(truth: State, prediction: PredictionLike) -> list[WrongValue]:
    """Return the values for which the most likely state is wrong."""
    most_likely = prediction.mode()
    if truth.ids != most_likely.ids:
        others = sorted(set(truth.ids) ^ set(most_likely.ids))
        raise TransitionError(f"the truth and the prediction have other objects: {others}")
    if truth == most_likely:
        return []
    chances = {(each, name): values for each, name, values in each_change(prediction)}
    return [
        WrongValue(new.id, name, chances.get((new.id, name), {predicted: 1.0}), {actual: 1.0})
        for old, new in zip(most_likely, truth, strict=True)
        for name, predicted in old.values.items()
        if predicted != (actual := new.values[name]) and not truth.schema.attributes[name].derived
    ]


def uncertain(truth: State, prediction: PredictionLike) -> list[WrongValue]:
    """Return the values for which the most likely state is right, but not certain."""
    most_likely = prediction.mode()
    return [
        WrongValue(each, name, chances, {actual: 1.0})
        for each, name, chances in each_change(prediction)
        if (actual := truth.value(each, name)) == most_likely.value(each, name)
        and chances.get(actual, 0.0) < 1.0
    ]


class _Pair:
    """The content of both panels."""

    def __init__(self, world: Drawable, truth: State, prediction: PredictionLike):
        self.world = world
        self.truth = truth
        self.prediction = prediction
        self.most_likely = prediction.mode()
        self.differences = differences(truth, prediction)
        self.uncertain = uncertain(truth, prediction)
        self.wrong_ids = {_object_of(each) for each in self.differences}
        self.wrong_cells = {
            cell
            for state in (self.truth, self.most_likely)
            for each in self.wrong_ids
            if (cell := world.place(state[each])) is not None
        }

    def captions(self, max_lines: int) -> tuple[list[CaptionLine], list[CaptionLine]]:
        """Return the captions: true and most likely values of objects without a place."""
        chances: dict[int, float] = {}
        for each, name, values in each_change(self.prediction):
            chance = values.get(self.most_likely.value(each, name), 0.0)
            chances[each] = chances.get(each, 1.0) * chance
        return (
            caption(self.world, self.truth, self.wrong_ids, max_lines=max_lines),
            caption(self.world, self.most_likely, self.wrong_ids, chances, max_lines),
        )

    def verdict(self) -> list[str]:
        """Return the differences as text, then the uncertain values."""
        wrong = [*self.differences, *self.uncertain]
        lines = [difference_text(self.truth, each) for each in wrong]
        if not self.differences:
            lines = ["as was most likely" if lines else "as predicted", *lines]
        more = len(lines) - _MAX_DIFFERENCES
        return [*lines[:_MAX_DIFFERENCES], f"and {more} more"] if more > 0 else lines


# ------------------------------------------------------------------------- as text


def _as_text(
    pair: _Pair, window: Window | None, lines: int, titles: tuple[str, str]
) -> list[text.Line]:
    drawn_items = [items(pair.world, state) for state in (pair.truth, pair.most_likely)]
    if window is None:
        window = extent([*drawn_items[0], *drawn_items[1]], frame=pair.world.frame())
    panels = [
        [
            [text.Span(title, bold=True)],
            *text.panel(each, window, pair.wrong_cells),
            *text.caption_rows([*caption_lines, *text.stack_captions(each, window)]),
        ]
        for title, each, caption_lines in zip(
            titles, drawn_items, pair.captions(lines), strict=True
        )
    ]
    rows = text.side_by_side(panels)
    return [*rows, *([text.Span(line)] for line in pair.verdict())]


# ----------------------------------------------------------------------- as pixels


def _as_pixels(
    pair: _Pair, cell: int, window: Window | None, titles: tuple[str, str]
) -> pixels.Pixels:
    limit = pixels.max_cells(cell)
    drawn_items = [items(pair.world, pair.truth), _possible_items(pair.world, pair.prediction)]
    if window is None:
        window = extent([*drawn_items[0], *drawn_items[1]], limit, pair.world.frame())
    columns = []
    for title, each, lines in zip(titles, drawn_items, pair.captions(FEW_LINES), strict=True):
        board = pixels.board(each, window, cell, pair.wrong_cells)
        width = board.shape[1]
        columns.append(
            pixels.stacked(
                [
                    pixels.text_block([CaptionLine(title)], width, cell),
                    board,
                    pixels.text_block(lines, width, cell),
                ]
            )
        )
    return pixels.to_uint8(pixels.beside(columns, gap=cell))


def _possible_items(world: Drawable, prediction: PredictionLike) -> list[Item]:
    """Return every object at each of its possible places, with its probability there."""
    changes = prediction.changes()
    state = prediction.state
    drawn_items = items(world, (each for each in state if each.id not in changes))
    for each, distributions in changes.items():
        chances: defaultdict[tuple[Cell, int], float] = defaultdict(float)
        by_place: dict[tuple[Cell, int], Item] = {}
        for changed, chance in _outcomes(state[each], distributions):
            for item in items(world, [changed]):
                by_place[item.cell, item.order] = item
                chances[item.cell, item.order] += chance
        drawn_items += [
            Item(item.order, item.id, item.cell, item.look, min(chances[key], 1.0))
            for key, item in by_place.items()
        ]
    return sorted(drawn_items, key=lambda item: (item.order, item.id, item.cell))


def _outcomes(
    each: Object, distributions: Mapping[str, Distribution]
) -> Iterator[tuple[Object, float]]:
    """Yield the most likely next versions of an object, with their probabilities."""
    likely_first = [
        sorted(values.items(), key=lambda pair: -pair[1]) for values in distributions.values()
    ]
    for chosen in islice(product(*likely_first), _MAX_OUTCOMES):
        values = dict(zip(distributions, (value for value, _ in chosen), strict=True))
        changed = Object(each.id, each.class_name, **{**each.values, **values})
        yield changed, math.prod(chance for _, chance in chosen)
