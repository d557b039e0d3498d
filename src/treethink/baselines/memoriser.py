"""An exact memoriser: it knows what followed each state and action that it has seen, and no more.

    (state, action) -> [ table ] -> what followed, and how often

How far a learner is above it is how far it generalises.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from treethink.baselines.base import Learner
from treethink.baselines.prediction import Product
from treethink.metrics import Value
from treethink.state import Schema, State


class Memoriser(Learner):
    """A learner that predicts what followed when it saw the same state and action; else no change.

    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> state = world.reset(seed=0)
    >>> after, _ = world.distribution(state, "right")[0]
    >>> learner = Memoriser(world.schema)
    >>> learner.observe(state, "right", after)
    >>> learner.predict(state, "right").mode() == after
    True
    """

    name = "memoriser"

    def __init__(self, schema: Schema):
        super().__init__(schema)
        self._followed: dict[tuple[State, str], Counter[State]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._followed):,} states and actions>"

    def learn(self, before: State, action: str, after: State) -> None:
        """Count what followed."""
        self._followed.setdefault((before, action), Counter())[after] += 1

    def answer(self, state: State, action: str) -> Product:
        """Return what followed this state and action; no change if they were never seen."""
        counts: dict[tuple[int, str], dict[Value, int]] = {}
        for after, n in self._followed.get((state, action), {}).items():
            for each in after:
                for name in self.schema.predicted(each.class_name):
                    values = counts.setdefault((each.id, name), {})
                    values[each.values[name]] = values.get(each.values[name], 0) + n
        return Product(state, counts)

    def memory_use(self) -> dict[str, int]:
        """Return how many states and actions it remembers, and roughly the bytes of that."""
        values = sum(len(state) for state, _ in self._followed)
        return {"bytes": 8 * values, "states": len(self._followed)}

    def body(self) -> bytes:
        """Return all states with their counts, as JSON."""
        table = [
            [state.to_dict(), action, [[after.to_dict(), n] for after, n in counts.items()]]
            for (state, action), counts in self._followed.items()
        ]
        return json.dumps(table, separators=(",", ":")).encode()

    def restore(self, body: bytes) -> None:
        """Restore what `body` returned."""
        for state, action, counts in json.loads(body):
            self._check_action(action)
            followed = Counter({self._state(after): _count(n) for after, n in counts})
            self._followed[self._state(state), action] = followed

    def _state(self, data: Any) -> State:
        return State.from_dict(self.schema, data)


def _count(n: Any) -> int:
    if type(n) is not int or n < 1:
        raise ValueError(f"a count must be a whole number of at least 1, got {n!r}")
    return n
