"""Model files made by hand, number by number: deep ones, and ones that no learning produces.

The model has one rule, for the position of dots, whose only facts are of the form X0[x] = v.
"""

from __future__ import annotations

from treethink import file
from treethink.model import TreeThink
from treethink.state import Attribute, Object, Schema, State


def number(value: int) -> bytes:
    """Seven bits a byte, least significant first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def integer(value: int) -> bytes:
    """Signed numbers are folded: 0, -1, 1, -2, ..."""
    return number(-2 * value - 1 if value < 0 else 2 * value)


EQUALS = Schema({"dot": ["x"]}, {"x": Attribute(1, facts=("equality",), outcomes="value")}, ["go"])


def dot(x: int) -> State:
    return State(EQUALS, [Object(1, "dot", x=x)])


def node_counts(*totals: int) -> bytes:
    """Counts of outcomes; no pairs of targets, none agreeing; not checked yet."""
    return b"".join(map(number, totals)) + number(0) * 3


def leaf(*totals: int) -> bytes:
    """No branch; has candidates: for X0[x] none, for X1[x] none."""
    return node_counts(*totals) + number(0) + number(1) + number(0) * 2


def written_leaf(*given: int) -> bytes:
    """A leaf by hand: it is pinned (2) and written (4), was given (8) counts and has met nothing.

    Whether it has candidates must follow.
    """
    counts = b"".join(map(number, given))
    return node_counts(*[0] * len(given)) + number(2 | 4 | 8) + counts + number(0) * len(given)


def branch(value: int, *totals: int) -> bytes:
    """A branch without candidates, which asks X0[x] = value."""
    start = node_counts(*totals) + number(1) + number(0)
    return start + number(0) + number(0) + number(0) + integer(value)


def handmade(
    nodes: bytes,
    seen: tuple[int, ...] = (3, 4),
    outcomes: tuple[int, ...] = (10, 11),
    observations: int = 7,
) -> bytes:
    """A model file with these outcomes, how often they were seen, and these nodes."""
    header, _ = file.unpack(TreeThink.paper(EQUALS, branch_updates=False).to_bytes(), "it")
    pairs = zip(outcomes, seen, strict=True)
    content = b"".join(integer(outcome) + number(n) for outcome, n in pairs)
    forgotten = 0
    tree = number(observations) + number(len(seen)) + content + number(1) + number(forgotten)
    return file.pack(header, number(observations) + tree + nodes)


def chain(depth: int, left: bool) -> bytes:
    """A chain of tests on the left or right side; the last leaf has one outcome."""
    if left:
        return branch(5, 3, 4) * depth + leaf(3, 0) + leaf(0, 4) * depth
    return b"".join(branch(5 + i, 3, 4) + leaf(0, 4) for i in range(depth)) + leaf(3, 0)
