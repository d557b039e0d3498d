"""Small worlds that a model cannot learn, each for another reason, and some that it can.

`model.doubts()` must say the reason (tests/explain/test_doubts.py).
"""

from __future__ import annotations

from typing import Any

import treethink as tt
from treethink.state import Attribute, Object, Schema, State
from treethink.worlds import World
from treethink.worlds.scene import Distribution


def without_orders(schema: Schema) -> Schema:
    """Return the schema with no facts but equality and difference."""
    attributes = {
        name: Attribute(
            each.length,
            [kind for kind in each.facts if kind in ("equality", "difference")],
            each.outcomes,
            like=each.like,
        )
        for name, each in schema.attributes.items()
    }
    return Schema(schema.classes, attributes, schema.actions)


class _Level(World):
    """A world whose next state is certain, and whose levels are random."""

    def objects(self, draw: Any) -> list[Object]:
        raise NotImplementedError

    def reset(self, seed: int) -> State:
        rng = self.generator(seed)
        return State(self.schema, self.objects(lambda n: int(rng.integers(n))))

    def after(self, state: State, action: str) -> State:
        raise NotImplementedError

    def dynamics(self, state: State, action: str) -> Distribution:
        return [(self.after(state, action), 1.0)]


class Vending(_Level):
    """Prices vary from level to level: whoever has enough credit gets a can."""

    name = "vending"
    schema = Schema(
        {"machine": ["credit"], "slot": ["price", "cans"]},
        {"credit": tt.Number(outcomes="value"), "price": tt.Number(), "cans": Attribute(1, ())},
        ["coin", "buy"],
    )
    most = 30

    def objects(self, draw: Any) -> list[Object]:
        price, credit = 1 + draw(self.most), draw(self.most)
        return [Object(0, "machine", credit=credit), Object(1, "slot", price=price, cans=0)]

    def after(self, state: State, action: str) -> State:
        machine, slot = state[0], state[1]
        if action == "coin":
            return state.replace(0, credit=(machine.credit + 1) % (self.most + 1))
        if machine.credit < slot.price:
            return state
        return state.replace(1, cans=slot.cans + 1)


class Lamps(_Level):
    """Three lamps of one class; the action is about the second alone, which no rule can name."""

    name = "lamps"
    schema = Schema({"lamp": ["on", "colour"]}, {"on": tt.Flag(), "colour": 1}, ["second", "none"])

    def objects(self, draw: Any) -> list[Object]:
        return [Object(i, "lamp", on=bool(draw(2)), colour=draw(5)) for i in range(1, 4)]

    def after(self, state: State, action: str) -> State:
        return state.replace(2, on=not state[2].on) if action == "second" else state


class VendingAlike(Vending):
    """Price and credit have one unit, so rules can ask which is greater."""

    schema = Schema(
        Vending.schema.classes,
        {**Vending.schema.attributes, "price": tt.Number(like="credit")},
        Vending.schema.actions,
    )


class VendingUnordered(Vending):
    """Rules of equality and difference only, which cannot say that there is enough credit."""

    schema = without_orders(Vending.schema)


class FixedPrice(Vending):
    """A machine with one price, which can be learned."""

    name = "fixed_price"
    most = 5

    def objects(self, draw: Any) -> list[Object]:
        return [
            Object(0, "machine", credit=draw(6)),
            Object(1, "slot", price=3, cans=0),
        ]


class Cards(_Level):
    """The higher rank wins."""

    name = "cards"
    schema = Schema(
        {"mine": ["rank"], "theirs": ["rank"], "game": ["won"]},
        {"rank": tt.Number(), "won": Attribute(1, ())},
        ["show"],
    )

    def objects(self, draw: Any) -> list[Object]:
        ranks = [Object(i, name, rank=draw(40)) for i, name in enumerate(("mine", "theirs"))]
        return [*ranks, Object(2, "game", won=0)]

    def after(self, state: State, action: str) -> State:
        more = state[0].rank > state[1].rank
        return state.replace(2, won=state[2].won + (1 if more else -1))


class FixedPriceUnordered(FixedPrice):
    """Rules of equality and difference only, which name each credit that is enough."""

    schema = without_orders(FixedPrice.schema)


class CardsUnordered(Cards):
    """The rules cannot ask which rank is higher."""

    schema = without_orders(Cards.schema)


class Margin(Cards):
    """A rank wins if it is higher by 7 or more, which no kind of fact says."""

    name = "margin"

    def after(self, state: State, action: str) -> State:
        more = state[0].rank - state[1].rank >= 7
        return state.replace(2, won=state[2].won + (1 if more else -1))


class Total(Cards):
    """Two ranks win if their sum is 39 or more, which no kind of fact says."""

    name = "total"

    def after(self, state: State, action: str) -> State:
        more = state[0].rank + state[1].rank >= 39
        return state.replace(2, won=state[2].won + (1 if more else -1))


class Deep(_Level):
    """A tank runs over from a level of 23 on."""

    name = "deep"
    schema = without_orders(
        Schema({"tank": ["level", "spilt"]}, {"level": 1, "spilt": Attribute(1, ())}, ["fill"])
    )

    def objects(self, draw: Any) -> list[Object]:
        return [Object(0, "tank", level=draw(40), spilt=0)]

    def after(self, state: State, action: str) -> State:
        return state.replace(0, spilt=state[0].spilt + (state[0].level >= 23))


class DeepOrdered(Deep):
    """The same with all kinds of fact."""

    schema = Schema({"tank": ["level", "spilt"]}, {"level": 1, "spilt": Attribute(1, ())}, ["fill"])


class Elevator(_Level):
    """Whoever is at the floor of their destination gets out when the door opens."""

    name = "elevator"
    floors = 12
    schema = Schema(
        {"lift": ["floor"], "passenger": ["dest", "out"]},
        {"floor": 1, "dest": 1, "out": Attribute(1, outcomes="value")},
        ["up", "open"],
    )

    def objects(self, draw: Any) -> list[Object]:
        passengers = [Object(i, "passenger", dest=draw(self.floors), out=0) for i in (1, 2)]
        return [Object(0, "lift", floor=draw(self.floors)), *passengers]

    def after(self, state: State, action: str) -> State:
        floor = state[0].floor
        if action == "up":
            return state.replace(0, floor=(floor + 1) % self.floors)
        there = [x.id for x in state.of_class("passenger") if x.dest == floor]
        return state.replace_many({x: {"out": 1} for x in there})


class Either(_Level):
    """A press scores if exactly one of two switches is on."""

    name = "either"
    schema = Schema(
        {"box": ["left", "right", "noise", "score"]},
        {"left": 1, "right": 1, "noise": 1, "score": Attribute(1, ())},
        ["press"],
    )

    def objects(self, draw: Any) -> list[Object]:
        return [Object(0, "box", left=draw(2), right=draw(2), noise=draw(3), score=0)]

    def after(self, state: State, action: str) -> State:
        box = state[0]
        return state.replace(0, score=box.score + (box.left != box.right))


class Third(World):
    """Every third press lights the lamp; nothing in the state counts them."""

    name = "third"
    schema = Schema({"lamp": ["lit"]}, {"lit": Attribute(1, outcomes="value")}, ["press"])
    pure = False

    def __init__(self) -> None:
        super().__init__()
        self._presses = 0

    def reset(self, seed: int) -> State:
        self._presses = 0
        return State(self.schema, [Object(0, "lamp", lit=0)])

    def truth(self, before: State, action: str, after: State) -> State:
        return after

    def dynamics(self, state: State, action: str) -> Distribution:
        self._presses += 1
        return [(state.replace(0, lit=int(self._presses % 3 == 0)), 1.0)]


class Coin(_Level):
    """A coin that is tossed."""

    name = "coin"
    schema = Schema(
        {"coin": ["up"], "table": ["size"]},
        {"up": Attribute(1, outcomes="value"), "size": 1},
        ["toss"],
    )

    def objects(self, draw: Any) -> list[Object]:
        return [Object(0, "coin", up=0), Object(1, "table", size=draw(20))]

    def dynamics(self, state: State, action: str) -> Distribution:
        return [(state.replace(0, up=1), 0.3), (state.replace(0, up=0), 0.7)]


class Cells(_Level):
    """A grid of cells: the walker moves right if that cell is floor."""

    name = "cells"
    schema = Schema({"walker": ["pos"], "cell": ["pos", "soil"]}, {"pos": 2, "soil": 1}, ["right"])
    size = 6

    def objects(self, draw: Any) -> list[Object]:
        cells = [
            Object(1 + i, "cell", pos=(i % self.size, i // self.size), soil=draw(2))
            for i in range(self.size**2)
        ]
        return [Object(0, "walker", pos=(draw(self.size - 1), draw(self.size))), *cells]

    def after(self, state: State, action: str) -> State:
        x, y = state[0].pos
        (cell,) = state.find("cell", pos=((x + 1) % self.size, y))
        return state.replace(0, pos=cell.pos) if cell.soil == 0 else state


def log_of(world: World, steps: int, seed: int, episode: int = 10) -> list[tuple[Any, ...]]:
    """Return transitions of random play."""
    return [each[:3] for each in tt.transitions(world, steps, seed, episode)]


def taught(world: World, steps: int, seed: int, episode: int = 10, **settings: Any) -> tt.TreeThink:
    """Return a model that observed them."""
    model = tt.TreeThink(world.schema, **settings)
    model.observe_many(log_of(world, steps, seed, episode))
    return model
