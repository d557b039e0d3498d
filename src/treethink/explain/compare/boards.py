"""The boards of a counterexample: the level now, next, and as the model predicts it.

check -> [ boards ] -> HTML, SVG
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from treethink.explain.notebook_html import boards
from treethink.explain.rich_text import pre_html
from treethink.explain.state_picture import drawable, has_places
from treethink.state import State
from treethink.worlds import draw

if TYPE_CHECKING:
    from treethink.explain.compare.counterexample import Check, Example
    from treethink.model import TreeThink


def states_of(model: TreeThink, example: Example) -> list[tuple[str, State]]:
    """Return the captions and states: where a value is not certain, the likeliest one."""
    predicted = model.predict(example.state, example.action).mode()
    true: defaultdict[int, dict[str, Any]] = defaultdict(dict)
    for each in example.wrong:
        likeliest = max(each.true, key=lambda value: each.true[value])
        true[each.object_id][each.attribute] = likeliest
    after = predicted.replace_many(true)
    return [("now", example.state), ("next", after), ("next, as predicted", predicted)]


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
