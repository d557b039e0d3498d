"""A rule read from its text: ``str(rule)`` backwards.

    text -> [ reading ] -> the engine's nodes, in preorder

    player.pos when right    X0: player
    ∃ X1: wall.  X1[pos] - X0[pos] = (1, 0) ?
    ├─ yes: (0, 0) × 25
    └─ no:  (1, 0) × 75 (75%), (0, 0) × 25 (25%)

The first line may be left out; `exists` will do for ∃, `x` for ×, and an outcome alone is one that
was seen once. Shares, marks and lines that begin with # are for people: they are not read. What
draws the tree may look as it likes, for every line is a test, which ends in a question mark, or a
leaf, and the branch for yes comes first.
"""

import re

from treethink.editing.parse_test import VALUE, Names, read_test, vector_of
from treethink.errors import RuleError, shown
from treethink.rules import EngineTest
from treethink.state import Schema

MOST = 2**53
WrittenNode = tuple[EngineTest | None, list[tuple[tuple[int, ...], int]]]

_DRAWN = re.compile(  # the signs, or ASCII for them, which only before an answer are no number's
    r"(?:[\s│├└─|`-]*(?P<answer>yes|no)\s*:|[\s│├└─|]*)\s*(?P<rest>.*)"
)
_LEAF = re.compile(
    rf"\s*(?P<outcome>{VALUE})(?:\s*[×x*]\s*(?P<n>\d{{1,99}}))?"
    r"(?:\s*\([<>]?[\d.e-]+%\))?\s*(?P<end>,|$)"
)
_TITLE = re.compile(r".*\S\s{2,}X0: .*[^?\s]\s*")
_MARK = re.compile(r"\s*\[pinned\]\s*$")


def read_rule(
    text: str, schema: Schema, classes: tuple[str, ...], length: int
) -> list[WrittenNode]:
    """The nodes, for a place where variables of those classes are known.

    `length` is that of outcomes.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if lines and _TITLE.fullmatch(lines[0][1]):
        lines = lines[1:]
    if not lines:
        raise RuleError("the text of a rule has no test and no leaf")
    nodes: list[WrittenNode] = []
    open_ = [("", Names.given(classes))]
    for number, line in lines:
        where = f"line {number} of the rule"
        if not open_:
            raise RuleError(f"{where} is one too many: every branch has its yes and its no")
        expected, names = open_.pop()
        content = _content(line, expected, where)
        if content.endswith("?"):
            test, inside = read_test(content[:-1], schema, names, where)
            nodes.append((test, []))
            open_ += [("no", names), ("yes", inside)]
        else:
            nodes.append((None, _leaf(content, length, where)))
    if open_:
        raise RuleError(f"the rule ends before its last test has a '{open_[-1][0]}:'")
    return nodes


def check_outcome(outcome: tuple[int, ...], n: int, length: int, where: str) -> None:
    """What a leaf can say, or one clear error."""
    if len(outcome) != length:
        raise RuleError(f"{where}: an outcome must be of length {length}, got {shown(outcome)}")
    if not all(-(2**63) <= each < 2**63 for each in outcome):
        raise RuleError(f"{where}: an outcome must fit 64 bits, got {shown(outcome)}")
    if not 1 <= n <= MOST:
        raise RuleError(f"{where}: an outcome must be seen 1 to {MOST:,} times, got {shown(n)}")


def _content(line: str, expected: str, where: str) -> str:
    """What the line says, without what draws the tree."""
    match = _DRAWN.fullmatch(_MARK.sub("", line))
    assert match is not None  # all of it may be left out
    if match["answer"] not in (None, expected):
        wanted = f"'{expected}:'" if expected else "no answer yet: it is the first"
        raise RuleError(f"{where} must have {wanted}, got '{match['answer']}:'")
    return match["rest"].strip()


def _leaf(text: str, length: int, where: str) -> list[tuple[tuple[int, ...], int]]:
    """Outcomes with how often each was seen."""
    found: dict[tuple[int, ...], int] = {}
    if text == "not seen yet":
        return []
    rest = text
    while rest.strip():
        match = _LEAF.match(rest)
        if match is None:
            break
        outcome = vector_of(match["outcome"])
        if outcome in found:
            raise RuleError(f"{where} has the outcome {match['outcome']} twice")
        found[outcome] = int(match["n"] or 1)
        check_outcome(outcome, found[outcome], length, where)
        rest = rest[match.end() :]
        if match["end"] == "":
            return list(found.items())
    raise RuleError(
        f"{where} must be a test that ends in '?', or outcomes such as '(1, 0) × 3, (0, 0) × 1', "
        f"got {shown(text)}"
    )
