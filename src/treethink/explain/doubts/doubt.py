"""A doubt: a rule that errs or is unsure, and what may be missing.

rule, cases, hypotheses -> [ doubt ] -> text, dict
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from treethink.explain.distributions import definition_of
from treethink.explain.object_names import object_name
from treethink.explain.rich_text import RichText
from treethink.explain.summary.leaves import outcome_to_json
from treethink.frames import Frame, Outcome
from treethink.outcome_text import outcome_text, value_text
from treethink.rules import RuleKey, title_of
from treethink.state import Attribute, Object, State
from treethink.text import many

#: What may be missing, by the kind of a suggestion.
KINDS: Mapping[str, str] = {
    "comparison": "a comparison of attributes with different names",
    "order": "less-than, an order of numbers",
    "sum": "a sum or a difference of numbers",
    "conditions": "two conditions together",
    "identity": "the name of an object",
    "hidden": "something that is not in the state",
    "chance": "nothing: the outcome is random",
    "unexplained": "nothing was found, and the outcome may be random",
    "data": "more data",
    "unknown": "nothing was found that explains it",
}
_MAX_OBJECTS = 8
_MAX_PAIRS = 8


@dataclass(frozen=True, slots=True)
class Situation:
    """An observation: the state, the action, the object, and its outcome.

    The object is None for a reward or an end.
    """

    state: State
    action: str
    object_id: int | None
    attribute: str
    outcome: Outcome
    frame: Frame | None = field(default=None, repr=False)

    def __str__(self) -> str:
        state = self.state
        own = [] if self.object_id is None else [self.object_id]
        others = [x.id for x in _rarest_first(state) if x.id not in own]
        named = [*own, *others][:_MAX_OBJECTS]
        objects = "; ".join(_object(state, each) for each in named)
        more = len(state) - len(named)
        rest = f"; {many(more, 'more object')}" if more else ""
        definition = definition_of(state, self.object_id, self.attribute)
        return f"{outcome_text(self.outcome, definition, self.frame)}: {objects}{rest}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "state": self.state.to_dict(),
            "action": self.action,
            "object": self.object_id,
            "outcome": outcome_to_json(self.outcome),
        }


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What may be missing: its kind (see `KINDS`), what it is, what to do, and the evidence.

    `bits` is by how much it explains the outcomes better than the rule does, after the price of
    having tried so many hypotheses; 0 for kinds that explain nothing. `like` is an attribute and
    the one whose unit it should have, if that makes the comparison possible; otherwise None.
    """

    kind: str
    text: str
    advice: str
    bits: float = 0.0
    like: tuple[str, str] | None = None

    def __str__(self) -> str:
        evidence = f" ({self.bits:,.0f} bits)" if self.bits else ""
        return f"{KINDS[self.kind]}: {self.text}{evidence}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "kind": self.kind,
            "text": self.text,
            "advice": self.advice,
            "bits": round(self.bits, 3),
            "like": None if self.like is None else list(self.like),
        }


@dataclass(frozen=True, slots=True)
class Doubt(RichText):
    """A rule that errs or is unsure, and what may be missing, likeliest first.

    `path` leads from the rule's root to the leaf that errs most, as letters L (yes) and R (no), and
    `tests` are the tests on it with their answers. Of `cases` observations of the rule, `reached`
    came to that leaf, with these `outcomes`; in `wrong` of them the likeliest one did not follow.
    `leaves` counts the leaves of the rule that are in doubt. `examples` are two situations that
    the model cannot tell apart. `never_compared` lists attributes that have values in common and
    are never compared: one is that of the rule, or its tests ask about both (without tests: one is
    of its class).
    """

    rule: RuleKey
    path: str
    tests: tuple[str, ...]
    cases: int
    reached: int
    wrong: int
    outcomes: Mapping[Outcome, int]
    leaves: int
    examples: tuple[Situation, ...] = field(repr=False)
    suggestions: tuple[Suggestion, ...]
    never_compared: tuple[tuple[str, str], ...] = ()
    definition: Attribute | None = field(default=None, repr=False)
    frame: Frame | None = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """The kind of the first suggestion: what is most likely missing."""
        return self.suggestions[0].kind

    @property
    def rules_out_chance(self) -> bool:
        """Whether the outcomes follow from something, so that they are not simply random."""
        return self.kind not in ("chance", "unexplained", "data")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "rule": list(self.rule),
            "path": self.path,
            "tests": list(self.tests),
            "cases": self.cases,
            "reached": self.reached,
            "wrong": self.wrong,
            "outcomes": [
                {"outcome": outcome_to_json(y), "times": n} for y, n in self.outcomes.items()
            ],
            "leaves": self.leaves,
            "examples": [each.to_dict() for each in self.examples],
            "suggestions": [each.to_dict() for each in self.suggestions],
            "never_compared": [list(each) for each in self.never_compared],
        }

    def __rich__(self) -> Group:
        outcomes = ", ".join(
            f"{outcome_text(y, self.definition, self.frame)} × {n:,}"
            for y, n in self.outcomes.items()
        )
        heading = f"{title_of(self.rule)}: {self.wrong:,} of {self.reached:,} went otherwise"
        parts: list[Any] = [Text(f"{heading} ({outcomes})", style="bold")]
        parts += [_indented(each, 2, "dim") for each in self.tests]
        if self.leaves > 1:
            parts.append(_indented(f"and {many(self.leaves - 1, 'other leaf', 'other leaves')}", 2))
        for number, each in enumerate(self.suggestions):
            parts.append(_indented(f"{'missing' if not number else 'or'}: {each}", 2, "yellow"))
            if each.advice:
                parts.append(_indented(each.advice, 4))
        if self.examples:
            parts.append(_indented("the model cannot tell these apart:", 2))
            parts += [_indented(str(each), 4) for each in self.examples]
        return Group(*parts)


class Doubts(list[Doubt]):
    """The doubts of a model, worst first; `print` shows them all."""

    def __init__(self, doubts: Iterable[Doubt] = ()):
        super().__init__(doubts)

    @property
    def unexplained_pairs(self) -> str:
        """A line with the attributes that are never compared, if that may be what is missing."""
        doubtful = [each for each in self if each.kind in ("data", "unknown")]
        pairs = dict.fromkeys(f"{a} and {b}" for each in doubtful for a, b in each.never_compared)
        if not pairs:
            return ""
        more = f"; and {len(pairs) - _MAX_PAIRS} more" if len(pairs) > _MAX_PAIRS else ""
        named = "; ".join([*pairs][:_MAX_PAIRS])
        return f"never compared, although their values overlap: {named}{more}"

    def __rich__(self) -> Group:
        if not self:
            return Group(Text("no doubts: every rule is sure of what it has seen"))
        parts: list[Any] = []
        for each in self:
            parts += [Text("")] * bool(parts) + [each]
        if self.unexplained_pairs:
            parts += [Text(""), Text(self.unexplained_pairs)]
        return Group(*parts)

    def __str__(self) -> str:
        return RichText.__str__(self)  # type: ignore[arg-type]  # it only needs `__rich__`


def _rarest_first(state: State) -> list[Object]:
    """Return the objects, those of classes with few objects first: they tell more."""
    return sorted(state, key=lambda each: len(state.of_class(each.class_name)))


def _indented(text: str, by: int, style: str = "") -> Padding:
    return Padding(Text(text, style=style), (0, 0, 0, by))


def _object(state: State, object_id: int) -> str:
    values = ", ".join(
        f"{name} {value_text(value)}" for name, value in state[object_id].values.items()
    )
    return (
        f"{object_name(state, object_id)} ({values})" if values else object_name(state, object_id)
    )
