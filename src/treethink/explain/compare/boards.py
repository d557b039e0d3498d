"""The boards of a counterexample: the level now, next, and as the model predicts it.

check -> [ boards ] -> text, HTML, SVG
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from treethink.explain.notebook_html import boards
from treethink.explain.rich_text import pre_html
from treethink.explain.state_picture import drawable, has_places
from treethink.state import State
from treethink.worlds import draw
from treethink.worlds.draw.layout import Drawable

_WIDTH = 80
_MAX_CELLS = 40  # in a line of text, where each cell has two columns

if TYPE_CHECKING:
    from treethink.explain.compare.counterexample import Check, Example
    from treethink.model import TreeThink


def states_of(model: TreeThink, example: Example) -> list[tuple[str, State]]:
    """Return the captions and states: where a value is not certain, the likeliest one.

    What the model predicts is left out if it is right about the state.
    """
    predicted = model.predict(example.state, example.action).mode()
    true: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for each in example.wrong:
        if each.object_id is None:
            continue
        likeliest = max(each.true, key=lambda value: each.true[value])
        true[each.object_id][each.attribute] = likeliest
    after = predicted.replace_many(true)
    wrong = [] if predicted == after else [("next, as predicted", predicted)]
    return [("now", example.state), ("next", after), *wrong]


def example_text(world: Drawable, captioned: list[tuple[str, State]]) -> str:
    """Return the boards as text: as many as fit side by side, at least now and next."""
    window = _window(world, [state for _, state in captioned])
    for shown in (captioned, captioned[:2]):
        text = draw.boards(world, shown, colour=False, window=window)
        if max(map(len, text.splitlines())) <= _WIDTH:
            return text
    return "\n".join(
        draw.boards(world, [each], colour=False, window=window) for each in captioned[:2]
    )


def _window(world: Drawable, states: list[State]) -> draw.Window | None:
    """Return the cells of all objects, with one cell around them; None if they are too many."""
    cells = [item.cell for state in states for item in draw.items(world, state)]
    if not cells:
        return None
    (left, right), (top, bottom) = ((min(each), max(each)) for each in zip(*cells, strict=True))
    window = draw.Window(left - 1, top - 1, right - left + 3, bottom - top + 3)
    return window if max(window.width, window.height) <= _MAX_CELLS else None


def check_html(check: Check) -> str:
    """Return the boards of the example, if there is one, and below them all that was found."""
    text = pre_html(check)
    if check.example is None:
        return text
    return f"<div>{boards(states_of(check.model, check.example))}{text}</div>"


def check_svg(check: Check) -> str | None:
    """Return the boards of the example as a picture; None without one."""
    if check.example is None or not has_places(check.example.state):
        return None
    world = check.world or drawable(check.model.schema)
    return draw.boards_svg(world, states_of(check.model, check.example))
