"""Draw the picture of the README: a level, and two rules that were learned.

    python docs/images/make_picture.py        writes learning.svg beside this file

The level comes from the world and the trees from a model that is trained here, so the picture
shows what the first example of the README prints. It has its own background, so that it looks the
same on light and dark pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

import treethink as tt
from treethink.rules import Node, Rule
from treethink.state import State
from treethink.stream.random_play import transitions

STEPS, SEED = 1_500, 0
TARGET = Path(__file__).with_name("learning.svg")

PAPER, EDGE, INK, GREY = "#fcfbf8", "#d9d5cc", "#2b3038", "#767b84"
BRANCH, YES, NO = "#ffffff", "#2f7d4f", "#b0483c"
COLOURS = {"wall": "#4b5563", "goal": "#15803d", "player": "#c2570c", "game": "#6d4bb3"}

CELL = 34
SIZE = 13
CHAR = SIZE * 0.602  # the approximate width of monospaced fonts
LINE = 19
PAD = 9
GAP_X, GAP_Y = 22, 40
MARGIN, ARROW = 30.0, 136.0


def main() -> None:
    """Write the picture."""
    TARGET.write_text(picture(), encoding="utf-8")


def picture() -> str:
    """Return the whole SVG."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(transitions(world, STEPS, SEED))
    pos = Tree.of(model.rules["player", "pos", "right"])
    score = Tree.of(model.rules["game", "score", "right"])
    middle = MARGIN + 8 * CELL + 16  # where the arrow begins
    right = middle + ARROW + 26
    below = MARGIN + pos.height + 28
    width, height = right + max(pos.width, score.width) + MARGIN, below + score.height + 26
    parts = [
        f'<rect x="1" y="1" width="{width - 2:.0f}" height="{height - 2:.0f}" rx="14" '
        f'fill="{PAPER}" stroke="{EDGE}"/>',
        *level(world.reset(SEED), MARGIN, height / 2 - 4 * CELL - 12),
        *arrow(middle, middle + ARROW, height / 2),
        *pos.draw(right, MARGIN),
        *score.draw(right, below),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace" '
        f'font-size="{SIZE}">\n'
        "<title>A maze level, and two rules that were learned by watching it</title>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


# ------------------------------------------------------------------ the level


def level(state: State, x: float, y: float) -> Iterator[str]:
    """Draw the objects of a maze at their positions, and the names of the classes below."""
    yield f'<g transform="translate({x:g} {y:.1f})">'
    yield f'<rect width="{8 * CELL}" height="{8 * CELL}" rx="4" fill="#efece4"/>'
    for each in state:
        if "pos" in each.values:
            yield _thing(each.class_name, each.pos[0] * CELL, each.pos[1] * CELL)
    place = 4.0
    for name in ("player", "wall", "goal"):
        yield f'<g transform="translate({place:g} {8 * CELL + 10}) scale(0.5)">'
        yield f"{_thing(name, 0, 0)}</g>"
        yield text(place + 21, 8 * CELL + 22, name, COLOURS[name])
        place += 21 + CHAR * len(name) + 20
    yield "</g>"


def _thing(class_name: str, x: float, y: float) -> str:
    colour, middle = COLOURS[class_name], (x + CELL / 2, y + CELL / 2)
    if class_name == "wall":
        side = CELL - 2
        return (
            f'<rect x="{x + 1}" y="{y + 1}" width="{side}" height="{side}" rx="3" fill="{colour}"/>'
        )
    if class_name == "goal":
        cx, cy = middle
        return f'<path d="M{cx} {cy - 12}l12 12l-12 12l-12-12z" fill="{colour}"/>'
    return f'<circle cx="{middle[0]}" cy="{middle[1]}" r="11.5" fill="{colour}"/>'


def arrow(start: float, end: float, y: float) -> Iterator[str]:
    """Draw the arrow from the level to the rules."""
    centre = (start + end) / 2
    yield text(centre, y - 32, "watch", GREY, "middle")
    yield text(centre, y - 14, f"{STEPS:,} transitions", INK, "middle")
    yield (
        f'<path d="M{start:g} {y:g}H{end:g}m-9 -7l9 7l-9 7" fill="none" stroke="{INK}" '
        'stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>'
    )
    yield text(centre, y + 24, "read the rules", GREY, "middle")


# ------------------------------------------------------------------ the trees


@dataclass(frozen=True)
class Tree:
    """A node with its children, and how much room they take together."""

    lines: tuple[str, ...]
    is_leaf: bool
    children: tuple[Tree, ...]
    title: str = ""

    @classmethod
    def of(cls, rule: Rule) -> Tree:
        """Make the tree of a rule, with the rule's name above it."""
        attribute = rule.title.partition(" ")[0].partition(".")[2]
        given = ", ".join(f"X{number}: {name}" for number, name in enumerate(rule.classes))
        return cls(*cls._parts(rule.root, attribute), title=f"{rule.title}    {given}")

    @classmethod
    def _parts(cls, node: Node, attribute: str) -> tuple[tuple[str, ...], bool, tuple[Tree, ...]]:
        if node.test is None or node.left is None or node.right is None:
            ((outcome, count),) = node.counts.items()  # each leaf of these rules has one outcome
            change = f"{outcome:+d}" if isinstance(outcome, int) else f"+ {outcome}"
            return (f"{attribute} {change}", f"seen {count} times"), True, ()
        variables = ", ".join(f"X{number}: {name}" for number, name in node.test.new)
        below = (cls(*cls._parts(each, attribute)) for each in (node.left, node.right))
        return (f"∃ {variables}", node.test.formula), False, tuple(below)

    @property
    def box(self) -> tuple[float, float]:
        """Width and height of the node itself."""
        longest = max(map(len, self.lines))
        return longest * CHAR + 2 * PAD, len(self.lines) * LINE + PAD

    @property
    def width(self) -> float:
        """Width of the node and everything below it."""
        below = sum(each.width for each in self.children) + GAP_X * (len(self.children) - 1)
        return max(self.box[0], below)

    @property
    def height(self) -> float:
        """Height of the node and everything below it, with the title."""
        below = max((GAP_Y + each.height for each in self.children), default=0.0)
        return self.box[1] + below + (24 if self.title else 0)

    def draw(self, x: float, y: float) -> Iterator[str]:
        """Draw the tree with its top left corner at (x, y)."""
        if self.title:
            yield _coloured(x, y + 4, self.title, "bold")
            y += 24
        (width, height), middle = self.box, self._middle(x)
        place = x
        for child, answer, colour in zip(self.children, ("yes", "no"), (YES, NO), strict=False):
            top, below = y + height, y + height + GAP_Y
            to = child._middle(place)
            yield (
                f'<path d="M{middle:.1f} {top:g}C{middle:.1f} {top + 22:g} {to:.1f} {below - 22:g} '
                f'{to:.1f} {below:g}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
            )
            yield from _label((middle + to) / 2, (top + below) / 2, answer, colour)
            yield from child.draw(place, below)
            place += child.width + GAP_X
        yield self._box(middle - width / 2, y)
        for i, line in enumerate(self.lines):
            base = y + PAD / 2 + LINE * (i + 1) - 5
            if self.is_leaf and i:
                yield text(middle, base, line, GREY, "middle", SIZE - 2)
            else:
                yield _coloured(middle, base, line, "bold" if self.is_leaf else "", "middle")

    def _middle(self, x: float) -> float:
        """Return the middle of the node's own box, if the tree begins at x."""
        if not self.children:
            return x + self.width / 2
        first, last = self.children
        return (first._middle(x) + last._middle(x + first.width + GAP_X)) / 2

    def _box(self, x: float, y: float) -> str:
        width, height = self.box
        radius, fill = (height / 2, "#eef2ea") if self.is_leaf else (6, BRANCH)
        return (
            f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="{radius:g}" '
            f'fill="{fill}" stroke="{EDGE}"/>'
        )


def _label(x: float, y: float, answer: str, colour: str) -> Iterator[str]:
    half = len(answer) * CHAR / 2 + 3
    yield (
        f'<rect x="{x - half:.1f}" y="{y - 9:g}" width="{2 * half:.1f}" height="18" '
        f'fill="{PAPER}"/>'
    )
    yield text(x, y + 4, answer, colour, "middle", SIZE - 1)


def text(
    x: float, y: float, line: str, colour: str, anchor: str = "start", size: float = SIZE
) -> str:
    """Draw one line in one colour."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" '
        f'font-size="{size:g}">{escape(line)}</text>'
    )


def _coloured(x: float, y: float, line: str, weight: str, anchor: str = "start") -> str:
    """Draw one line in which each class has its colour from the level."""

    def paint(match: re.Match[str]) -> str:
        return f'<tspan fill="{COLOURS[match[0]]}" font-weight="bold">{match[0]}</tspan>'

    painted = re.sub("|".join(COLOURS), paint, escape(line))
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{INK}" text-anchor="{anchor}"{bold} '
        f'xml:space="preserve">{painted}</text>'
    )


if __name__ == "__main__":
    main()
