"""The world `parity`: outcomes that depend on two facts, of which neither says anything alone."""

from __future__ import annotations

from collections.abc import Sequence

from treethink.state import Attribute, Object, Schema, State
from treethink.worlds.base import Bounds, Cell, Changes, World
from treethink.worlds.draw import Window
from treethink.worlds.looks import BLUE, CYAN, DIM, ORANGE, RED, YELLOW, Look
from treethink.worlds.scene import Distribution, Scene, read_scenes

#: The column of each class in a picture. A plug and its socket are neighbours.
_COLUMNS = {"panel": 0, "red": 1, "east": 2, "blue": 3, "west": 4}


class Parity(World):
    """Points are paid if exactly one of two things is true.

    Objects
        panel (left, right: 0 or 1), one of it; two plugs, red (slot) and blue (slot); their
        sockets, east (slot) and west (slot); one of each, in slot 0 or 1; game (score).
    Actions
        press, pull.
    Dynamics
        Three counters go from 0 to 3 and begin again: left is the lower binary digit of the
        first, and right the higher; the slots of red and blue are the digits of the second, and
        those of east and west the digits of the third. Press adds 1 to the first and the third,
        pull adds 1 to the second.
    Score
        Press: +1 if exactly one of left and right is 1. Pull: +1 if exactly one plug is in the
        slot of its socket, where east is the socket of red and west that of blue. Otherwise 0.
        What counts is the state before the action. The score takes part in no facts, as in
        `maze`.
    Start
        Every value is 0 or 1 at random. Score 0.
    Options
        None.
    Version
        1: the first.
    """

    name = "parity"
    schema = Schema(
        classes={
            "panel": ["left", "right"],
            **{name: ["slot"] for name in ("red", "east", "blue", "west")},
            "game": ["score"],
        },
        attributes={"left": 1, "right": 1, "slot": 1, "score": Attribute(1, facts=())},
        actions=["press", "pull"],
    )
    looks = (
        Look("E", "east", "frame", RED),
        Look("W", "west", "frame", BLUE),
        Look("R", "red", "disc", ORANGE),
        Look("B", "blue", "disc", CYAN),
        Look("0", "panel", "ring", DIM, {"left": 0, "right": 0}),
        Look("1", "panel", "lever-back", YELLOW, {"left": 1, "right": 0}),
        Look("2", "panel", "lever", YELLOW, {"left": 0, "right": 1}),
        Look("3", "panel", "disc", YELLOW, {"left": 1, "right": 1}),
    )

    def reset(self, seed: int) -> State:
        left, right, *slots = self.generator(seed).integers(2, size=6).tolist()
        others = zip(list(_COLUMNS)[1:], slots, strict=True)
        return self.populate(
            [
                ("panel", {"left": left, "right": right}),
                *((name, {"slot": slot}) for name, slot in others),
            ]
        )

    def dynamics(self, state: State, action: str) -> Distribution:
        panel, red, east, blue, west = (self.the(state, name) for name in _COLUMNS)
        if action == "press":
            left, right = _next(panel.left, panel.right)
            east_slot, west_slot = _next(east.slot, west.slot)
            changes: Changes = {
                panel.id: {"left": left, "right": right},
                east.id: {"slot": east_slot},
                west.id: {"slot": west_slot},
            }
            pays = panel.left != panel.right
        else:
            red_slot, blue_slot = _next(red.slot, blue.slot)
            changes = {red.id: {"slot": red_slot}, blue.id: {"slot": blue_slot}}
            pays = (red.slot == east.slot) != (blue.slot == west.slot)
        return self.surely(state, changes, self.paid(state, int(pays)))

    def bounds(self) -> Bounds:
        return {"left": (0, 1), "right": (0, 1), "slot": (0, 1)}

    def scenes(self) -> Sequence[Scene]:
        return read_scenes("parity", self.schema, self.looks)

    def place(self, each: Object) -> Cell | None:
        """Return a column for each class, and a row for each slot."""
        if each.class_name not in _COLUMNS:
            return None
        row = 0 if each.class_name == "panel" else each.slot
        return _COLUMNS[each.class_name], row

    def frame(self) -> Window | None:
        return Window(0, 0, len(_COLUMNS), 2)


def _next(low: int, high: int) -> tuple[int, int]:
    """Return the digits of the next number."""
    return 1 - low, high ^ low
