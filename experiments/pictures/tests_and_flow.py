"""Two pictures: tests with their bindings, and the path of a transition through a rule."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.pictures import doors_run
from experiments.pictures.canvas import (
    GREY,
    NO,
    TONES,
    WIDTH,
    YES,
    arrow,
    box,
    card,
    line,
    lines,
    placed,
    size_of,
    text,
)
from experiments.pictures.level import Level, draw_marks

from treethink.explain.why.explanation import Reason
from treethink.export import shapes
from treethink.export.boxes import boxes_of
from treethink.export.layout import Place
from treethink.frames import minus
from treethink.outcome_text import outcome_text
from treethink.rules import Rule, Test
from treethink.state import State

#: The answers of the rule's tests in the three situations.
SITUATIONS = ((True,), (False, True, False), (False, False))


def tests() -> str:
    """Draw three situations: which tests hold, and which objects they bind."""
    parts: list[str] = []
    for number, answers in enumerate(SITUATIONS):
        before, _, _ = doors_run.first_step_with(answers)
        reason = doors_run.reason_for(before)
        level = Level(doors_run.world(), before, 20 + 234 * number, 28, 26)
        parts += [level.draw(), *draw_marks(level, reason)]
        parts += _answers(level.x, level.y + level.height + 24, reason)
    return card(
        "Three situations, and the objects that the tests of a rule bind in them", 404, parts
    )


def _answers(x: float, y: float, reason: Reason) -> Iterator[str]:
    """Write each test with its answer, and the prediction."""
    for step in reason.steps:
        answer, colour = ("yes", YES) if step.holds else ("no", NO)
        exists = ", ".join(f"X{number}: {name}" for number, name in step.test.new)
        yield text(x, y, f"∃ {exists}." if exists else "the same X1:", mono=True, size=11.0)
        yield text(x + 208, y, answer, colour, anchor="end", bold=True)
        yield text(x, y + 15, f"  {step.test.formula}", mono=True, size=11.0)
        y += 36
    (value,) = reason.outcomes
    stays = "it stays where it is" if value == reason.was else f"{reason.was} becomes {value}"
    yield text(x, y, stays, bold=True)


def flow() -> str:
    """Draw state, facts, tree, outcome and prediction of one step."""
    before, action, after = doors_run.first_step_with((False, True, True))
    reason = doors_run.reason_for(before)
    left = Level(doors_run.world(), before, 24, 40, 20)
    right = Level(doors_run.world(), _predicted(before, action), WIDTH - 184, 40, 20)
    assert right.state == after
    tree, height = _tree(312, 268, reason)
    parts = [
        text(left.x, 28, "the state before", GREY),
        *(left.draw(), *draw_marks(left, reason)),
        text(right.x, 28, "the prediction", GREY),
        right.draw(),
        *_between(left, right, action, reason),
        arrow((104, 208), (104, 262)),
        *_facts(24, 268, reason),
        *tree,
        arrow((280, 326), (316, 326)),
    ]
    return card("The way of a transition: state, facts, tree, outcome, prediction", height, parts)


def _tree(x: float, y: float, reason: Reason) -> tuple[list[str], float]:
    """Draw the rule, and the path through it to the prediction; return the lowest point too."""
    rule, inner = doors_run.rule(), shapes.MARGIN
    tree, way = rule.to_svg(), _path(rule, reason)
    floor, beyond = y + size_of(tree)[1] + 6, WIDTH - 64
    end = x + way[-1].centre + inner
    parts = [
        placed(tree, x, y),
        *(_around(place, x + inner, y + inner) for place in way),
        line(
            [(end, y + way[-1].bottom + inner), (end, floor), (beyond, floor), (beyond, 240)],
            GREY,
            2,
        ),
        arrow((beyond, 240), (beyond, 208)),
        *lines(beyond - 8, 250, ["outcome:", _outcome(reason)], bold=True, anchor="end"),
    ]
    return parts, floor + 18


def _predicted(before: State, action: str) -> State:
    return doors_run.model().predict(before, action).mode()


def _between(left: Level, right: Level, action: str, reason: Reason) -> list[str]:
    (value,) = reason.outcomes
    middle, y = WIDTH / 2, left.y + left.height / 2
    return [
        text(middle, y - 14, f"action: {action}", bold=True, anchor="middle"),
        arrow((left.x + left.width + 14, y), (right.x - 14, y)),
        text(middle, y + 24, f"player[pos]: {reason.was} becomes {value}", anchor="middle"),
        text(middle, y + 42, "everything else stays as it is", GREY, anchor="middle"),
    ]


def _outcome(reason: Reason) -> str:
    """Return by how much the position changes."""
    (value,) = reason.outcomes
    attribute = reason.state.schema.attributes[reason.attribute]
    return outcome_text(minus(value, reason.was), attribute)


def _facts(x: float, y: float, reason: Reason) -> list[str]:
    """Write the facts that the tests asked for, and whether they hold."""
    rows = [f"{'yes' if each.holds else 'no ':3}  {_short(each.test)}" for each in reason.steps]
    return [
        text(x, y + 14, "facts, found when a test asks", GREY),
        box(x, y + 24, 250, 18.0 * len(rows) + 14),
        *lines(x + 8, y + 44, rows, mono=True, size=10.5),
    ]


def _short(test: Test) -> str:
    new = "".join(f"{name}: " for _, name in test.new)
    return f"{new}{test.formula}"


def _path(rule: Rule, reason: Reason) -> list[Place]:
    """Return the boxes of the player's path through the tree, from the root to a leaf."""
    boxes = boxes_of(rule)
    places = shapes.layout_of(boxes).places
    at = 1  # the root; 0 is the title
    path = [places[at]]
    for step in reason.steps:
        at = boxes[at].children[0 if step.holds else 1]
        path.append(places[at])
    return path


def _around(place: Place, x: float, y: float) -> str:
    """Draw a frame around a box of a tree that is placed at (x, y)."""
    return (
        f'<rect x="{x + place.x:.1f}" y="{y + place.y:.1f}" width="{place.width:.1f}" '
        f'height="{place.height:.1f}" rx="6" fill="none" stroke="{TONES[0]}" stroke-width="2.5"/>'
    )
