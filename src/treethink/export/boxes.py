"""What a picture of a rule shows: boxes of text, and their colours.

    rule -> [ boxes ] -> SVG, PNG, DOT, Mermaid

The list begins with the header, followed by the tree's nodes, each before those below it. Names may
be anything, but no line contains control characters or is longer than `WIDTH`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from treethink.frames import Outcome
from treethink.outcome_text import outcome_text
from treethink.rules import Node, Rule, ranked
from treethink.text import percent

if TYPE_CHECKING:
    from treethink.state import Attribute

WIDTH = 48  # characters in a line
MAX_OUTCOMES = 8  # in a leaf; the others are counted together
ANSWERS = ("yes", "no")  # labels of the edges to a branch's children, from left to right

# Pale colours, on which dark text is easy to read.
PAPER, INK, GREY, LINE = "#ffffff", "#20262e", "#66707c", "#98a2ae"
HEADER, HEADER_LINE = "#cdeacb", "#4c9a52"
BRANCH, STRIP = "#ffffff", "#e9edf2"
LEAF = "#ffffff"  # a leaf with exactly one outcome has the tone of that outcome instead
EDGES = ("#2f7d4f", "#b0483c")  # yes, no
TONES = (
    "#d3e5f7", "#fde8bf", "#f8d7d5", "#e3daf3", "#cfebe6", "#f0e2d0", "#f7d9ea", "#dde2e8",
)  # fmt: skip
# The same tones, strong enough for thin shapes.
BARS = (
    "#8db9e4", "#f0c25c", "#e8958f", "#b7a1de", "#80c7ba", "#d0b186", "#e299c5", "#a9b3bf",
)  # fmt: skip
TRACK = "#e9edf2"  # behind a bar


@dataclass(frozen=True, slots=True)
class Row:
    """An outcome of a leaf, its count there, and the total count of the leaf.

    `tone` numbers the outcome among all outcomes of the rule, so that it has the same colour in
    every leaf.
    """

    outcome: str
    count: int
    total: int
    tone: int | None = None

    @property
    def share(self) -> float:
        return self.count / self.total

    @property
    def percent(self) -> str:
        return percent(self.count, self.total)

    def __str__(self) -> str:
        seen = f"{self.outcome} × {self.count}"
        return seen if self.count == self.total else f"{seen} ({self.percent})"


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the picture.

    `head` is the rule's title, or the variables that a branch's test introduces. `body` has the
    variables that the rule is about, a test's formula, or a remark where no outcome was seen;
    `rows` has a leaf's outcomes, most frequent first.
    """

    kind: Literal["header", "branch", "leaf"]
    head: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    children: tuple[int, ...] = ()
    pinned: bool = False  # drawn with a thick line

    @property
    def lines(self) -> tuple[str, ...]:
        """All text, from top to bottom."""
        return (*self.head, *self.body, *map(str, self.rows))

    @property
    def unseen(self) -> bool:
        """Whether it is a leaf that has seen nothing; it is drawn with a dashed line."""
        return self.kind == "leaf" and not self.rows

    @property
    def fill(self) -> str:
        """The colour of the box: for a leaf with one outcome, that of the outcome."""
        if self.kind == "leaf":
            return tone(self.rows[0].tone) if len(self.rows) == 1 else LEAF
        return HEADER if self.kind == "header" else BRANCH

    @property
    def line(self) -> str:
        """The colour of the border."""
        return HEADER_LINE if self.kind == "header" else LINE

    @property
    def edges(self) -> list[tuple[int, str, str]]:
        """Child, answer and colour of each edge below the box."""
        if self.kind == "branch":
            return list(zip(self.children, ANSWERS, EDGES, strict=True))
        return [(child, "", LINE) for child in self.children]


def tone(number: int | None, tones: tuple[str, ...] = TONES) -> str:
    """Return the colour of an outcome; beyond the last tone, rare outcomes share one."""
    return tones[-1] if number is None else tones[min(number, len(tones) - 1)]


def boxes_of(rule: Rule, can_write: Callable[[str], bool] = str.isprintable) -> list[Box]:
    """Return the header, and below it the nodes in preorder.

    Characters that cannot be written are escaped.
    """
    lines = Lines(can_write)
    tones = {outcome: tone for tone, (outcome, _) in enumerate(ranked(_all_outcomes(rule)))}
    nodes = [*rule.root.walk()]
    number = {id(node): i for i, node in enumerate(nodes, start=1)}  # box 0 is the header
    given = variables(enumerate(rule.classes))
    boxes = [Box("header", lines.wrapped(rule.title), lines.wrapped(given), children=(1,))]
    for node in nodes:
        if node.test is not None:
            below = tuple(number[id(each)] for each in (node.left, node.right))
            head, body = variables(node.test.new), node.test.formula
            texts = lines.wrapped(head), lines.wrapped(body)
            boxes.append(Box("branch", *texts, children=below, pinned=node.pinned))
        else:
            boxes.append(replace(_leaf(node, rule.attribute, tones, lines), pinned=node.pinned))
    return boxes


def _all_outcomes(rule: Rule) -> Mapping[Outcome, int]:
    """Return all outcomes: those that were seen, and those that were written by hand."""
    by_hand = {outcome: 0 for node in rule.root.walk() for outcome in node.counts}
    return by_hand | dict(rule.seen)


def _leaf(
    node: Node, attribute: Attribute | None, tones: Mapping[Outcome, int], lines: Lines
) -> Box:
    if not node.counts:
        return Box("leaf", body=("not seen yet",))
    total = sum(node.counts.values())
    ordered = ranked(node.counts)
    most = len(ordered) if len(ordered) <= MAX_OUTCOMES else MAX_OUTCOMES - 1
    texts = [lines.single(outcome_text(each, attribute, node.frame)) for each, _ in ordered]
    rows = [
        Row(text, n, total, tones.get(outcome))
        for text, (outcome, n) in zip(texts[:most], ordered, strict=False)
    ]
    if others := ordered[most:]:
        rows.append(Row(f"{len(others)} others", sum(n for _, n in others), total))
    return Box("leaf", rows=tuple(rows))


def variables(named: Iterable[tuple[int, str]]) -> str:
    """Return variables with their classes.

    >>> variables([(1, "goal"), (2, "player")])
    'X1: goal, X2: player'
    """
    return ", ".join(f"X{number}: {name}" for number, name in named)


@dataclass(frozen=True, slots=True)
class Lines:
    r"""Turns any text into lines, with characters that cannot be written escaped.

    >>> print(*Lines(str.isprintable).wrapped("two\nlines"))
    two\nlines
    """

    can_write: Callable[[str], bool]

    def wrapped(self, text: str) -> tuple[str, ...]:
        """Return as many lines as the text needs; for an empty text, none."""
        return tuple(textwrap.wrap(self._escaped(text), WIDTH, break_on_hyphens=False))

    def single(self, text: str) -> str:
        """Return exactly one line, which is never empty."""
        text = self._escaped(text)
        if not text.strip():
            return repr(text)
        return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"

    def _escaped(self, text: str) -> str:
        return "".join(
            c if self.can_write(c) else c.encode("unicode_escape").decode() for c in text
        )
