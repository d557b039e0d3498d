"""Why one value is predicted to become what it becomes.

steps through a rule -> [ reason ] -> Reason (text, dict)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text
from rich.tree import Tree

from treethink.explain.distributions import in_words, times_seen, to_json
from treethink.explain.english.tests import object_name, statement
from treethink.explain.path import Step
from treethink.explain.rich_text import RichText
from treethink.explain.why.counterfactual import Counterfactual
from treethink.rules import Value
from treethink.state import State

_MAX_BOUND = 12


@dataclass(frozen=True, slots=True)
class Reason(RichText):
    """Why one attribute of one object is predicted to become what it becomes.

    `outcomes` are its new values with their chances, and `support` the observations behind them,
    unless they were `written` by hand. `steps` lead through the rule. If the leaf at their end has
    no observations, `seen` is False: the answer is then what was written there or, if nothing was
    (`borrowed`), that of the nearest branch above. A `pinned` leaf does not learn; `met` counts
    the observations since it was pinned, and `against` those that contradict it. `otherwise` is
    the nearest counterfactual.
    """

    state: State = field(repr=False)
    object_id: int
    attribute: str
    outcomes: Mapping[Value, float]
    support: int
    steps: tuple[Step, ...] = field(repr=False)
    seen: bool
    otherwise: Counterfactual | None = field(repr=False)
    borrowed: bool = False
    written: bool = False
    pinned: bool = False
    met: int = 0
    against: int = 0

    @property
    def was(self) -> Value:
        """The value before."""
        value: Value = self.state.value(self.object_id, self.attribute)
        return value

    @property
    def bound(self) -> dict[str, tuple[int, ...]]:
        """The objects that each variable stands for at the end, by its name: X0, X1, ..."""
        last = self.steps[-1].after if self.steps else ((self.object_id,),)
        columns = zip(*last, strict=True)
        return {f"X{i}": _ids(column) for i, column in enumerate(columns)}

    @property
    def title(self) -> str:
        """The prediction, in one line."""
        then = in_words(self.outcomes)
        becomes = "stays" if self.outcomes.keys() == {self.was} else f"{self.was} ->"
        subject = f"{object_name(self.state, self.object_id)}, {self.attribute}"
        return f"{subject}: {becomes} {then}, {times_seen(self.support, self.written)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "object": self.object_id,
            "class": self.state[self.object_id].class_name,
            "attribute": self.attribute,
            "was": self.was,
            "outcomes": to_json(self.outcomes),
            "support": self.support,
            "seen": self.seen,
            "borrowed": self.borrowed,
            "written": self.written,
            "pinned": self.pinned,
            "met": self.met,
            "against": self.against,
            "steps": [_step(self.state, each) for each in self.steps],
            "bound": {variable: list(ids) for variable, ids in self.bound.items()},
            "otherwise": None if self.otherwise is None else self.otherwise.to_dict(),
        }

    def _remark(self) -> str:
        """Return a remark about the leaf, if there is one to make."""
        if not self.support:
            return "never observed: assumed that it stays the same"
        if self.borrowed:
            return "never observed here: the answer is that of the nearest node above"
        if self.pinned:
            return f"pinned; {self._since_pinned()}"
        if self.written:
            return "used until there are observations"
        if not self.steps and len(self.outcomes) == 1:
            return "the rule has seen no other outcome so far"
        if not self.steps:
            return "the rule has no test that tells these outcomes apart"
        return ""

    def _since_pinned(self) -> str:
        """Say what was observed since the leaf was pinned."""
        if not self.met:
            return "nothing observed since"
        verb = "was" if self.against <= 1 else "were"
        return f"{self.against or 'none'} of {self.met:,} since {verb} otherwise"

    def __rich__(self) -> Tree:
        tree = Tree(Text(self.title, style="bold"), guide_style="dim")
        for step in self.steps:
            answer = Text("yes  " if step.holds else "no   ", style=_colour(step.holds))
            branch = tree.add(answer + Text(statement(self.state, step), style="not bold"))
            branch.add(Text(str(step.test), style="dim"))
        if remark := self._remark():
            tree.add(Text(remark))
        if self.otherwise is not None:
            tree.add(Text("otherwise  ", style="yellow") + self.otherwise.sentence(self.attribute))
        return tree


def _step(state: State, step: Step) -> dict[str, Any]:
    columns = zip(*step.after, strict=True)
    return {
        "test": str(step.test),
        "holds": step.holds,
        "words": statement(state, step),
        "bindings": len(step.after),
        "bound": {f"X{i}": list(_ids(c)[:_MAX_BOUND]) for i, c in enumerate(columns)},
    }


def _ids(column: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return each object once, in order of first mention."""
    return tuple(dict.fromkeys(each for each in column if each is not None))


def _colour(holds: bool) -> str:
    return "green" if holds else "red"
