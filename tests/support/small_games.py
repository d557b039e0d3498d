"""Small games with known values, to plan in: a token that moves as a table says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from treethink.baselines.prediction import Joint
from treethink.state import Attribute, Object, Schema, State

#: Where an action may lead: (place, reward, weight).
Leads = Sequence[tuple[int, int, int]]
Table = Mapping[tuple[int, str], Leads]

TOKEN, GAME = 1, 2


def schema_of(actions: Sequence[str], score: Attribute | None = None) -> Schema:
    score = score or Attribute(1, facts=())
    return Schema({"token": ["at"], "game": ["score"]}, {"at": 1, "score": score}, actions)


class TableGame:
    """A game as a table: where nothing is said, nothing happens."""

    def __init__(self, table: Table, actions: Sequence[str] = ("a", "b"), schema: Any = None):
        self.table = {key: tuple(map(tuple, leads)) for key, leads in table.items()}
        self.schema = schema or schema_of(actions)
        self.asked = 0

    def start(self, at: int = 0, score: int = 0) -> State:
        return State(
            self.schema, [Object(TOKEN, "token", at=at), Object(GAME, "game", score=score)]
        )

    def predict(self, state: State, action: str) -> Joint:
        self.asked += 1
        leads = self.table.get((state[TOKEN].at, action), ((state[TOKEN].at, 0, 1),))
        total = sum(weight for _, _, weight in leads)
        merged: dict[State, float] = {}
        for place, reward, weight in leads:
            after = state.replace_many(
                {TOKEN: {"at": place}, GAME: {"score": state[GAME].score + reward}}
            )
            merged[after] = merged.get(after, 0.0) + weight / total
        return Joint(state, list(merged.items()))

    def values(self, at: int, steps: int, discount: float = 1.0) -> dict[str, float]:
        """The best expected return of each action with so many steps to go."""

        @cache
        def value(at: int, action: str, left: int) -> float:
            leads = self.table.get((at, action), ((at, 0, 1),))
            total = sum(weight for _, _, weight in leads)
            return sum(
                weight / total * (reward + (discount * best(place, left - 1) if left > 1 else 0))
                for place, reward, weight in leads
            )

        @cache
        def best(at: int, left: int) -> float:
            return max(value(at, action, left) for action in self.schema.actions)

        return {action: value(at, action, steps) for action in self.schema.actions}


@st.composite
def games(draw: st.DrawFn, most_outcomes: int = 3) -> TableGame:
    """Up to five places and three actions; chance has a say in some."""
    places = draw(st.integers(1, 5))
    actions = ("a", "b", "c")[: draw(st.integers(1, 3))]
    lead = st.tuples(st.integers(0, places - 1), st.integers(-3, 3), st.integers(1, 3))
    leads = st.lists(lead, min_size=1, max_size=most_outcomes)
    keys = [(at, action) for at in range(places) for action in actions]
    return TableGame({key: draw(leads) for key in keys}, actions)
