"""The worlds `doors-things` and `coins-things`: other worlds with one class for all that is drawn.

state of doors or coins <-> [ things ] <-> state in which only colors tell things apart
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from treethink.errors import StateError
from treethink.state import Attribute, Object, Schema, State
from treethink.worlds.base import Bounds, World
from treethink.worlds.coins import Coins
from treethink.worlds.doors import Doors
from treethink.worlds.draw import Window
from treethink.worlds.looks import Look, look_of
from treethink.worlds.scene import Distribution, Scene


class Things(World):
    """The base of both worlds: a thing's color is the number of its look in the other world."""

    #: The world whose rules these are.
    base: ClassVar[type[World]]
    distinct = True

    def __init__(self, **options: int):
        super().__init__(**options)
        self._base = self.base(**options)
        classes, attributes = (
            {"thing": ["pos", "color"]},
            {"pos": Attribute(2), "color": Attribute(1)},
        )
        if self._base.keeps_score:
            classes["game"] = ["score"]
            attributes["score"] = self._base.schema.attributes["score"]
        self.schema = Schema(classes, attributes, self._base.actions)
        self.looks = tuple(
            Look(each.sign, "thing", each.shape, each.colour, {"color": color})
            for color, each in enumerate(self._base.looks)
        )

    def reset(self, seed: int) -> State:
        return self._as_things(self._base.reset(seed))

    def dynamics(self, state: State, action: str) -> Distribution:
        after = self._base.distribution(self._as_base(state), action)
        return [(self._as_things(each), chance) for each, chance in after]

    def bounds(self) -> Bounds:
        return {"pos": self._base.bounds()["pos"], "color": (0, len(self.looks) - 1)}

    def frame(self) -> Window | None:
        return self._base.frame()

    def scenes(self) -> Sequence[Scene]:
        return [
            Scene(each.says, self._as_things(each.before), each.action,
                  [(self._as_things(after), chance) for after, chance in each.truth])
            for each in self._base.scenes()
        ]  # fmt: skip

    def _as_things(self, state: State) -> State:
        return State(self.schema, [self._as_thing(each) for each in state])

    def _as_thing(self, each: Object) -> Object:
        if each.class_name == "game":
            return each
        color = self._base.looks.index(look_of(self._base.looks, each))
        return Object(each.id, "thing", pos=each.pos, color=color)

    def _as_base(self, state: State) -> State:
        return State(self._base.schema, [self._from_thing(each) for each in state])

    def _from_thing(self, each: Object) -> Object:
        if each.class_name == "game":
            return each
        if not 0 <= each.color < len(self.looks):
            raise StateError(
                f"{self._where}: a color must be from 0 to {len(self.looks) - 1}, got {each!r}"
            )
        look = self._base.looks[each.color]
        return Object(each.id, look.class_name, pos=each.pos, **look.values)


class DoorsThings(Things):
    """`doors` with one class for everything: only colors tell walls, doors and the player apart.

    Objects
        thing (pos; color: 0 a wall, 1 and 2 the doors of both colors, 3 and 4 the player in both
        colors; with n colors, 1 to n and n + 1 to 2 n).
    Actions
        left, right, up, down, change-color.
    Dynamics
        As in `doors`.
    Score
        None.
    Start
        As in `doors`.
    Options
        width, height, wall_percent, doors, colors: as in `doors`.
    Version
        1: the first.
    """

    name = "doors-things"
    base = Doors
    defaults = Doors.defaults


class CoinsThings(Things):
    """`coins` with one class for everything: only colors tell walls, coins and the player apart.

    Objects
        thing (pos; color: 0 a wall, 1 a used coin, 2 a coin that is not used, 3 the player);
        game (score), one of it.
    Actions
        stay, left, right, up, down.
    Dynamics
        As in `coins`: a coin that is picked up changes its color.
    Score
        As in `coins`.
    Start
        As in `coins`.
    Options
        width, height, wall_percent, coins, scored: as in `coins`.
    Version
        1: the first.
    """

    name = "coins-things"
    base = Coins
    defaults = Coins.defaults
