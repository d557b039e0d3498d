"""Why one value is predicted to become what it becomes.

steps through a rule -> [ reasons ] -> Reason (text, dict)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text
from rich.tree import Tree

from treethink.explain.distributions import in_words, listed, times
from treethink.explain.english.ground_tests import name, told
from treethink.explain.path import Step
from treethink.explain.summary.rich_text import Printed
from treethink.explain.why.counterfactual import Otherwise
from treethink.rules import Value
from treethink.state import State

_MOST_BOUND = 12


@dataclass(frozen=True, slots=True)
class Reason(Printed):
    """Why one attribute of one object is predicted to become what it becomes.

    `outcomes` are its new values with their chances and `support` the observations behind
    them, unless they were `written` by hand. `steps` lead through the rule. Where the leaf at their
    end was never reached before, `seen` is False: the answer is then what was written there or, if
    that is nothing (it is `borrowed`), that of the nearest branch above. What is `pinned` does not
    learn; `met` counts what has come by since, and `against` what of that it says cannot be.
    """

    state: State = field(repr=False)
    object_id: int
    attribute: str
    outcomes: Mapping[Value, float]
    support: int
    steps: tuple[Step, ...] = field(repr=False)
    seen: bool
    otherwise: Otherwise | None = field(repr=False)
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
        """What is predicted, in a line."""
        then = in_words(self.outcomes)
        becomes = "stays" if self.outcomes.keys() == {self.was} else f"{self.was} ->"
        subject = f"{name(self.state, self.object_id)}, {self.attribute}"
        return f"{subject}: {becomes} {then}, {times(self.support, self.written)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            "object": self.object_id,
            "class": self.state[self.object_id].class_name,
            "attribute": self.attribute,
            "was": self.was,
            "outcomes": listed(self.outcomes),
            "support": self.support,
            "seen": self.seen,
            "borrowed": self.borrowed,
            "written": self.written,
            "pinned": self.pinned,
            "met": self.met,
            "against": self.against,
            "steps": [_step(self.state, each) for each in self.steps],
            "bound": {variable: list(ids) for variable, ids in self.bound.items()},
            "otherwise": None if self.otherwise is None else _otherwise(self.otherwise),
        }

    def _remark(self) -> str:
        """What is to be said about the end of the way."""
        if not self.support:
            return "nothing was ever seen of this: it is taken to stay as it is"
        if self.borrowed:
            return "just this was never seen: the answer is that of tests above"
        if self.pinned:
            return f"pinned; {self._since()}"
        if self.written:
            return "it says so until it has seen something itself"
        if not self.steps and len(self.outcomes) == 1:
            return "so far always so: the rule has seen no other outcome"
        if not self.steps:
            return "the rule has found no test that tells these outcomes apart"
        return ""

    def _since(self) -> str:
        """What has come by since it was pinned."""
        if not self.met:
            return "nothing has come by since"
        verb = "was" if self.against <= 1 else "were"
        return f"{self.against or 'none'} of {self.met:,} since {verb} otherwise"

    def __rich__(self) -> Tree:
        tree = Tree(Text(self.title, style="bold"), guide_style="dim")
        for step in self.steps:
            answer = Text("yes  " if step.holds else "no   ", style=_colour(step.holds))
            sentence = tree.add(answer + Text(told(self.state, step), style="not bold"))
            sentence.add(Text(str(step.test), style="dim"))
        if remark := self._remark():
            tree.add(Text(remark))
        if self.otherwise is not None:
            tree.add(Text("otherwise  ", style="yellow") + self.otherwise.told(self.attribute))
        return tree


# ------------------------------------------------------------------- as plain data


def _step(state: State, step: Step) -> dict[str, Any]:
    columns = zip(*step.after, strict=True)
    return {
        "test": str(step.test),
        "holds": step.holds,
        "words": told(state, step),
        "bindings": len(step.after),
        "bound": {f"X{i}": list(_ids(c)[:_MOST_BOUND]) for i, c in enumerate(columns)},
    }


def _otherwise(otherwise: Otherwise) -> dict[str, Any]:
    return {
        "step": otherwise.step,
        "assumed": [
            {"test": str(each.test), "holds": each.holds, "words": each.text}
            for each in otherwise.assumed
        ],
        "outcomes": listed(otherwise.outcomes),
        "support": otherwise.support,
        "relative": otherwise.relative,
        "written": otherwise.written,
    }


def _ids(column: tuple[int | None, ...]) -> tuple[int, ...]:
    """Each object once, in order of first mention."""
    return tuple(dict.fromkeys(each for each in column if each is not None))


def _colour(holds: bool) -> str:
    return "green" if holds else "red"
