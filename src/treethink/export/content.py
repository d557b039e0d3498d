"""What a picture of a rule says: boxes with text, the same for every way to draw them.

    rule -> [ content ] -> picture, DOT, Mermaid

In:   a `Rule`.
Out:  a list of boxes: the header, then the tree's nodes, each before those below it.

No line has control characters in it, and none is longer than `WIDTH`: names may be anything.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from treethink.rules import Rule, Value, ranked
from treethink.text import percent

WIDTH = 48  # characters in a line
MOST = 8  # outcomes that a leaf lists; the others are counted together
ANSWERS = ("true", "false")  # of the edges to a branch's children, from left to right


@dataclass(frozen=True, slots=True)
class Row:
    """An outcome of a leaf, and how often it was seen there, of how many in all.

    `tone` numbers it among all outcomes of the rule, so that it looks the same in every leaf.
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

    `head` is the rule's title, or the variables that a branch's test binds. `body` has the
    variables that the rule is given, a test's formula, or what stands for outcomes where none
    was seen; `rows` has a leaf's outcomes, most frequent first.
    """

    kind: Literal["header", "branch", "leaf"]
    head: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    children: tuple[int, ...] = ()
    pinned: bool = False  # drawn with a thick line

    @property
    def lines(self) -> tuple[str, ...]:
        """All of its text, from top to bottom."""
        return (*self.head, *self.body, *map(str, self.rows))


def boxes_of(rule: Rule, can_write: Callable[[str], bool] = str.isprintable) -> list[Box]:
    """The header, and below it the nodes in preorder.

    Characters that cannot be written are spelled out.
    """
    spell = Spelling(can_write)
    tones = {outcome: tone for tone, (outcome, _) in enumerate(ranked(_said(rule)))}
    nodes = [*rule.root.walk()]
    number = {id(node): i for i, node in enumerate(nodes, start=1)}  # box 0 is the header
    given = variables(enumerate(rule.classes))
    boxes = [Box("header", spell.lines(rule.title), spell.lines(given), children=(1,))]
    for node in nodes:
        if node.test is not None:
            below = tuple(number[id(each)] for each in (node.left, node.right))
            head, body = variables(node.test.new), node.test.formula
            told = spell.lines(head), spell.lines(body)
            boxes.append(Box("branch", *told, children=below, pinned=node.pinned))
        else:
            boxes.append(replace(_leaf(node.counts, tones, spell), pinned=node.pinned))
    return boxes


def _said(rule: Rule) -> Mapping[Value, int]:
    """All outcomes: those that were seen, and those that were written by hand."""
    by_hand = {outcome: 0 for node in rule.root.walk() for outcome in node.counts}
    return by_hand | dict(rule.seen)


def _leaf(counts: Mapping[Value, int], tones: Mapping[Value, int], spell: Spelling) -> Box:
    if not counts:
        return Box("leaf", body=("not seen yet",))
    total = sum(counts.values())
    ordered = ranked(counts)
    most = len(ordered) if len(ordered) <= MOST else MOST - 1
    rows = [Row(spell.line(str(o)), n, total, tones.get(o)) for o, n in ordered[:most]]
    if others := ordered[most:]:
        rows.append(Row(f"{len(others)} others", sum(n for _, n in others), total))
    return Box("leaf", rows=tuple(rows))


def variables(named: Iterable[tuple[int, str]]) -> str:
    """Variables with their classes.

    >>> variables([(1, "goal"), (2, "player")])
    'X1: goal, X2: player'
    """
    return ", ".join(f"X{number}: {name}" for number, name in named)


@dataclass(frozen=True, slots=True)
class Spelling:
    r"""How any text becomes lines.

    >>> print(*Spelling(str.isprintable).lines("two\nlines"))
    two\nlines
    """

    can_write: Callable[[str], bool]

    def lines(self, text: str) -> tuple[str, ...]:
        """As many as it needs; of nothing, none."""
        return tuple(textwrap.wrap(self._spelled(text), WIDTH, break_on_hyphens=False))

    def line(self, text: str) -> str:
        """Only one, and never an empty one."""
        text = self._spelled(text)
        if not text.strip():
            return repr(text)
        return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"

    def _spelled(self, text: str) -> str:
        return "".join(
            c if self.can_write(c) else c.encode("unicode_escape").decode() for c in text
        )
