"""What two models disagree on, as text and as data.

rules of two models, example states -> [ differences ] -> Diff
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import ndiff
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treethink.explain.chances import Chances, in_words
from treethink.explain.printed import Printed
from treethink.explain.wording import name
from treethink.rules import Node, Rule, RuleKey, Value
from treethink.state import State

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

    `disagreements` of the situations that were tried show it, and `example` is a small one.
    """

    key: RuleKey
    ours: Rule = field(repr=False)
    theirs: Rule = field(repr=False)
    disagreements: int
    example: Disagreement | None = field(repr=False)

    @property
    def matters(self) -> bool:
        """Whether the models disagree in it, or one of them has something to tell."""
        return self.disagreements > 0 or self.ours.varies or self.theirs.varies

    @property
    def text(self) -> str:
        """Both trees as one: lines with - are ours, with + theirs; without counts."""
        lines = ndiff(outline(self.ours), outline(self.theirs))
        return "\n".join(line.rstrip() for line in lines if not line.startswith("?"))


@dataclass(frozen=True, slots=True)
class Diff(Printed):
    """What two models disagree on. It is true, as a bool, if there is anything.

    `rules` begin with those about which the models disagree most often.
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
            return Group(Text(f"no rule differs, and none of {self.tried:,} predictions"))
        n = len(self.rules)
        parts: list[Any] = [Text(f"{n} rule{' differs' if n == 1 else 's differ'}", style="bold")]
        told = [each for each in self.rules if each.matters]
        for each in told[:_MOST_SHOWN]:
            parts += [Text(""), *_paragraphs(each, self.tried)]
        if len(told) > _MOST_SHOWN:
            parts.append(Text(f"\nand {len(told) - _MOST_SHOWN} more"))
        constant = [each.ours.title for each in self.rules if not each.matters]
        if constant:
            said = "that saw one outcome or none, and not the same"
            parts.append(Text(f"\n{said}: {'; '.join(constant)}", style="dim"))
        return Group(*parts)


def outline(rule: Rule) -> list[str]:
    """The lines of a rule without counts: a leaf is the outcomes that it has seen, in order."""
    lines = [rule.title]
    stack = [(rule.root, "", "")]
    while stack:
        node, first, rest = stack.pop()
        if node.test is None or node.left is None or node.right is None:
            outcomes = sorted(_seen(rule, node), key=repr)
            lines.append(first + (", ".join(map(str, outcomes)) or "not seen yet"))
            continue
        lines.append(f"{first}{node.test} ?")
        stack.append((node.right, f"{rest}└─ no:  ", f"{rest}   "))
        stack.append((node.left, f"{rest}├─ yes: ", f"{rest}│  "))
    return lines


def _seen(rule: Rule, leaf: Node) -> Iterable[Value]:
    return rule.seen if leaf is rule.root else leaf.counts


# ---------------------------------------------------------------------- to be read


def _paragraphs(each: RuleDifference, tried: int) -> list[RenderableType]:
    lines: list[RenderableType] = [
        Text(line, style=_style(line)) for line in each.text.splitlines()
    ]
    if each.example is None:
        return [*lines, Text(f"same answers in all of {tried:,} situations", style="dim")]
    share = f"{each.disagreements:,} disagreement{'s' if each.disagreements > 1 else ''}"
    objects = "; ".join(_object(each.example.state, x) for x in each.example.state.ids)
    return [
        *lines,
        Text(f"{share} in {tried:,} situations, such as {each.example.action} with"),
        Padding(Text(f"{objects}:"), (0, 0, 0, 2)),
        Padding(Text(str(each.example)), (0, 0, 0, 2)),
    ]


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
        "disagreements": each.disagreements,
        "example": None
        if example is None
        else {
            "state": example.state.to_dict(),
            "action": example.action,
            "object": example.object_id,
            "attribute": example.attribute,
            "ours": [{"value": v, "probability": p} for v, p in example.ours.items()],
            "theirs": [{"value": v, "probability": p} for v, p in example.theirs.items()],
        },
    }
