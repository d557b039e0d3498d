"""Two pictures: a state, and its facts."""

from __future__ import annotations

from collections import Counter

from experiments.pictures import doors_run
from experiments.pictures.canvas import GREY, INK, TONES, arrow, card, lines, text
from experiments.pictures.level import Level

from reference import Scene  # the slow twin of the engine lists every fact
from treethink.state import Object

SEEN = (False, True, True)  # a door is to the right, and it has the player's color


def state() -> str:
    """Draw a level and the objects that it is made of."""
    before, _, _ = doors_run.first_step_with(SEEN)
    level = Level(doors_run.world(), before, 24, 24, 28)
    parts, y = [level.draw()], 42.0
    for name in ("player", "door", "wall"):
        objects = before.of_class(name)
        parts.append(
            text(284, y, f"{len(objects)} {name}{'s' if len(objects) > 1 else ''}", bold=True)
        )
        shown = objects[:4]
        parts += lines(284, y + 20, [_row(each) for each in shown], mono=True, size=12.0)
        y += 20 + 18 * len(shown)
        if more := len(objects) - len(shown):
            parts.append(text(284, y, f"... and {more} more", GREY))
            y += 18
        y += 14
    height = max(level.y + level.height + 24, y)
    return card("A level of doors, and the objects that it is made of", height, parts)


def _row(each: Object) -> str:
    values = "   ".join(f"{name} = {value}" for name, value in each.values.items())
    return f"object {each.id:>2}   {values}"


def facts() -> str:
    """Draw some facts of both kinds, on the same level."""
    before, _, _ = doors_run.first_step_with(SEEN)
    level = Level(doors_run.world(), before, 24, 24, 28)
    (player,) = before.of_class("player")
    doors = sorted(before.of_class("door"), key=lambda each: _far(each, player))
    counted = Counter(fact.type.kind for fact in Scene(before).facts)
    one = [f"player[pos] = {player.pos}", f"player[color] = {player.color}"]
    one += [f"door[color] = {doors[0].color}", f"door[pos] = {doors[0].pos}"]
    two = [f"door[pos] - player[pos] = {_apart(each, player)}" for each in doors]
    two += [f"door[color] - player[color] = {doors[0].color - player.color}"]
    parts = [level.draw()]
    for each in doors:
        parts.append(arrow(level.middle(player.pos), level.middle(each.pos), "#ffffff"))
    parts.append(level.frame(player.pos, TONES[0]))
    parts += _group(
        284, 42, f"Equality: an attribute has a value ({counted['equality']} facts)", one
    )
    parts += _group(
        284, 152, f"Difference: from one object to another ({counted['difference']:,} facts)", two
    )
    return card("The two kinds of fact, on a level of doors", level.y + level.height + 30, parts)


def _group(x: float, y: float, title: str, rows: list[str]) -> list[str]:
    return [text(x, y, title, INK, bold=True), *lines(x, y + 20, rows, mono=True, size=12.0)]


def _apart(one: Object, other: Object) -> tuple[int, int]:
    return one.pos[0] - other.pos[0], one.pos[1] - other.pos[1]


def _far(one: Object, other: Object) -> tuple[int, int]:
    x, y = _apart(one, other)
    return abs(x) + abs(y), one.id
