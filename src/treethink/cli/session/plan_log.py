"""Plan from the last state of a log, in the states that a model predicts.

    agent, state -> [ imagine ] -> Steps -> lines of text, or JSON

There is no world to act in: the most likely state of each prediction is taken to follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from treethink.errors import SettingError
from treethink.explain.object_names import object_name
from treethink.model import TreeThink
from treethink.outcome_text import value_text
from treethink.planning.agent import Agent, score_of
from treethink.planning.rewards import rewards_of
from treethink.state import State

_LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class Step:
    """A planned action, the states before and after it as predicted, and the expected reward.

    `ends` says whether the episode is expected to end there.
    """

    action: str
    before: State
    after: State
    reward: float
    ends: bool

    def __str__(self) -> str:
        end = "  the end" if self.ends else ""
        return f"{self.action}: {self._changes()}  reward {self.reward:+g}{end}"

    def _changes(self) -> str:
        changes = [
            f"{object_name(self.before, each)}, {name}"
            f" {value_text(self.before.value(each, name))} -> {value_text(value)}"
            for each, values in self.before.changes_to(self.after).items()
            for name, value in values.items()
        ]
        return "; ".join(changes) or "nothing changes"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "action": self.action,
            "state": self.after.to_dict(),
            "reward": self.reward,
            "ends": self.ends,
        }


def check_reward(model: TreeThink, state: State, path: str) -> None:
    """Raise an error for a model without rewards and without a score: there is nothing to gain."""
    if not rewards_of(model, None).for_score:
        return
    if "score" not in model.schema.classes.get("game", ()):
        raise SettingError(
            f"{path} has learned no rewards, so there is nothing to plan for: add a column `reward`"
            " to the log, and learn it again"
        )
    score_of(state)


def imagine(agent: Agent, state: State, steps: int) -> Iterator[Step]:
    """Yield the steps of a plan, each planned in the state that is predicted to be most likely."""
    for left in range(steps, 0, -1):
        step = _step(agent.model, state, agent.act(state, left))
        yield step
        if step.ends:
            return
        state = step.after


def best_idle(model: TreeThink, state: State, steps: int) -> tuple[str, float] | None:
    """Return the action that changes nothing in a state and is worth most, and what it is worth.

    It is repeated for so many steps. None if each action changes something.
    """
    tried = (_step(model, state, action) for action in state.schema.actions)
    worth = {
        each.action: each.reward * steps for each in tried if each.after == state and not each.ends
    }
    return max(worth.items(), key=lambda each: each[1], default=None)


def _step(model: TreeThink, state: State, action: str) -> Step:
    """Return the step that the model predicts."""
    prediction = model.predict(state, action)
    after = prediction.mode()
    by_score = rewards_of(model, None).for_score
    change = score_of(after) - score_of(state) if by_score else prediction.reward()
    ends = (prediction.terminated() or 0.0) > _LIKELY
    return Step(action, state, after, change or 0.0, ends)


# ------------------------------------------------------------------------------- text


def runs(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """Yield steps one by one; those in which nothing changes come together if rewards are equal."""
    for (_, still), run in groupby(
        steps, key=lambda each: (each.reward, each.before == each.after)
    ):
        if still:
            yield list(run)
        else:
            yield from ([each] for each in run)


def run_text(run: Sequence[Step], first: int) -> str:
    """Return a line for steps that `runs` has put together; `first` is the first one's number."""
    if len(run) == 1:
        return f"step {first:>3}  {run[0]}"
    actions = Counter(each.action for each in run)
    did = ", ".join(f"{n} x {action}" for action, n in actions.items())
    end = "  the end" if run[-1].ends else ""
    last = first + len(run) - 1
    return f"steps {first}-{last}  {did}: nothing changes  reward {run[0].reward:+g} each{end}"
