"""What two models disagree on, as text and as data.

rules of two models, example states -> [ differences ] -> Diff
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treethink.explain.distributions import Chances, in_words, listed
from treethink.explain.english.ground_tests import name
from treethink.explain.english.nouns import article
from treethink.explain.summary.rich_text import Printed
from treethink.rules import Rule, RuleKey, Value, lines_of
from treethink.state import State
from treethink.text import many

_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A state and action of which two models say different things; as small as possible."""

    state: State
    action: str
    object_id: int
    attribute: str
    ours: Chances
    theirs: Chances

    def __str__(self) -> str:
        what = f"{name(self.state, self.object_id)}, {self.attribute}"
        return f"{what} becomes {in_words(self.ours)} here, {in_words(self.theirs)} there"


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule that is not the same in two models.

    `tried` counts the situations to which it applies: its action, and an object of its class.
    In `disagreements` of them the models say different things, and `example` is a small one.
    """

    key: RuleKey
    ours: Rule = field(repr=False)
    theirs: Rule = field(repr=False)
    tried: int
    disagreements: int
    example: Disagreement | None = field(repr=False)

    @property
    def matters(self) -> bool:
        """Whether the models disagree in it, or one of them has something to tell."""
        return self.disagreements > 0 or self.ours.varies or self.theirs.varies

    @property
    def text(self) -> str:
        """Both trees as one: lines with - are ours, with + theirs; without counts."""
        return "\n".join(_compared(outline(self.ours), outline(self.theirs)))


@dataclass(frozen=True, slots=True)
class Diff(Printed):
    """What two models disagree on. It is true, as a bool, if there is anything.

    `rules` begin with those about which the models disagree most often. `tried` counts all
    situations about which both were asked, with any action.
    """

    rules: tuple[RuleDifference, ...]
    tried: int

    def __bool__(self) -> bool:
        return bool(self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {"tried": self.tried, "rules": [_as_dict(each) for each in self.rules]}

    def __rich__(self) -> Group:
        if not self.rules:
            return Group(Text(f"no rule differs, nor any answer in {_situations(self.tried)}"))
        differ = many(len(self.rules), "rule differs", "rules differ")
        heading = f"{differ}; both models were asked about {_situations(self.tried)}"
        parts: list[Any] = [Text(heading, style="bold")]
        told = [each for each in self.rules if each.matters]
        for each in told[:_MOST_SHOWN]:
            parts += [Text(""), *_paragraphs(each)]
        if len(told) > _MOST_SHOWN:
            parts.append(Text(f"\nand {len(told) - _MOST_SHOWN} more"))
        constant = [each.ours.title for each in self.rules if not each.matters]
        if constant:
            said = "that saw one outcome or none, and not the same"
            parts.append(Text(f"\n{said}: {'; '.join(constant)}", style="dim"))
        return Group(*parts)


def outline(rule: Rule) -> list[str]:
    """The lines of a rule without counts: a leaf is the outcomes that it has seen, in order."""
    return [rule.title, *lines_of(rule.root, _outcomes)]


def _outcomes(counts: Mapping[Value, int]) -> str:
    return ", ".join(map(str, sorted(counts, key=repr))) or "not seen yet"


def _compared(ours: list[str], theirs: list[str]) -> Iterator[str]:
    """Whole lines, those of one first: also of large trees that takes no time."""
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in ours[a:b])
            continue
        yield from (f"- {line}" for line in ours[a:b])
        yield from (f"+ {line}" for line in theirs[c:d])


# ---------------------------------------------------------------------- to be read


def _paragraphs(each: RuleDifference) -> list[RenderableType]:
    lines: list[RenderableType] = [
        Text(line, style=_style(line)) for line in each.text.splitlines()
    ]
    class_name, _, action = each.key
    where = f"{_situations(each.tried)} with `{action}` and {article(class_name)}"
    if each.example is None:
        same = f"the same answers in {where}" if each.tried else f"not asked: {where}"
        return [*lines, Text(same, style="dim")]
    objects = "; ".join(_object(each.example.state, x) for x in each.example.state.ids)
    return [
        *lines,
        Text(f"different answers in {each.disagreements:,} of {where}, such as"),
        Padding(Text(f"{objects}:"), (0, 0, 0, 2)),
        Padding(Text(str(each.example)), (0, 0, 0, 2)),
    ]


def _situations(n: int) -> str:
    return many(n, "situation") if n else "no situation"


def _object(state: State, object_id: int) -> str:
    values = ", ".join(f"{m} {value}" for m, value in state[object_id].values.items())
    return f"{name(state, object_id)} ({values})"


def _style(line: str) -> str:
    return {"-": "red", "+": "green"}.get(line[:1], "")


def _as_dict(each: RuleDifference) -> dict[str, Any]:
    example = each.example
    return {
        "rule": list(each.key),
        "ours": str(each.ours),
        "theirs": str(each.theirs),
        "tried": each.tried,
        "disagreements": each.disagreements,
        "example": None
        if example is None
        else {
            "state": example.state.to_dict(),
            "action": example.action,
            "object": example.object_id,
            "attribute": example.attribute,
            "ours": listed(example.ours),
            "theirs": listed(example.theirs),
        },
    }
