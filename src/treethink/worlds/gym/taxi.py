"""The world `taxi`: Gymnasium's Taxi."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from treethink.state import Attribute, Schema, State
from treethink.worlds.base import Cell
from treethink.worlds.grid import at
from treethink.worlds.gym.table import ToyText
from treethink.worlds.looks import DIM, GREEN, GREY, ORANGE, YELLOW, Look
from treethink.worlds.scene import Thing

_IN_TAXI = 4


class Taxi(ToyText):
    """Gymnasium's Taxi: fetch a passenger from one stop and bring them to another.

    Objects
        wall (pos); stop (pos; waiting: whether the passenger waits there; wanted: whether
        that is where they want to go), four of it; taxi (pos; full: whether they are in
        it), one of it; game (score), one of it. Gymnasium has walls between cells. Here all
        coordinates are doubled, so that walls have room: cells are at odd ones. The
        passenger is no object, because moving together with the taxi would be a rule more.
    Actions
        down, up, right, left, pick-up, drop-off, in Gymnasium's order.
    Dynamics
        The taxi moves to the next cell, two further, unless a wall lies between. Pick-up
        where the passenger waits fills the taxi. Drop-off at any stop, if the taxi is full,
        empties it, and the passenger waits there. Otherwise nothing changes.
    Score
        -1 for a move, whether or not a wall stops it, for a pick-up, and for a drop-off at a
        stop that is not wanted; +20 for a drop-off at the one that is, which ends the episode;
        -10 for a pick-up or a drop-off that changes nothing. The score takes part in no
        facts, as in `maze`.
    Start
        Any of the 400 states that an episode can reach and that do not end it, all equally
        likely. Gymnasium itself starts in those 300 in which the taxi is empty. Its table has
        100 more, in which the passenger waits where they want to be. Score 0.
    Options
        None.
    Version
        1: the first. Follows the table of Taxi-v3 and v4, without rain and fickle passengers.
    """

    name = "taxi"
    schema = Schema(
        classes={
            "wall": ["pos"],
            "stop": ["pos", "waiting", "wanted"],
            "taxi": ["pos", "full"],
            "game": ["score"],
        },
        attributes={
            "pos": 2,
            "waiting": 1,
            "wanted": 1,
            "full": 1,
            "score": Attribute(1, facts=()),
        },
        actions=["down", "up", "right", "left", "pick-up", "drop-off"],
    )
    looks = (
        Look("#", "wall", "block", GREY),
        Look("s", "stop", "frame", DIM, {"waiting": 0, "wanted": 0}),
        Look("d", "stop", "frame", GREEN, {"waiting": 0, "wanted": 1}),
        Look("w", "stop", "person", ORANGE, {"waiting": 1, "wanted": 0}),
        Look("b", "stop", "person", GREEN, {"waiting": 1, "wanted": 1}),
        Look("t", "taxi", "car", YELLOW, {"full": 0}),
        Look("T", "taxi", "full-car", YELLOW, {"full": 1}),
    )

    def make_env(self) -> Any:
        from gymnasium.envs.toy_text.taxi import TaxiEnv

        return TaxiEnv()

    def to_state(self, env: Any) -> State:
        row, column, passenger, destination = env.decode(env.s)
        things: list[Thing] = [*at("wall", _walls(env))]
        for i, stop in enumerate(env.locs):
            flags = {"waiting": int(passenger == i), "wanted": int(destination == i)}
            things += at("stop", [_cell(*stop)], **flags)
        things += at("taxi", [_cell(row, column)], full=int(passenger == _IN_TAXI))
        return self._populate_sorted(things)


def _cell(row: int, column: int) -> Cell:
    return 2 * column + 1, 2 * row + 1


def _walls(env: Any) -> Iterator[Cell]:
    """Yield the walls of Gymnasium's own drawing, with gaps between columns and rows."""
    top, *rows, bottom = [[sign in (b"|", b"+", b"-") for sign in row] for row in env.desc]
    lines = [top, rows[0]]
    for above, below in pairwise(rows):
        lines += [[a and b for a, b in zip(above, below, strict=True)], below]
    for y, line in enumerate([*lines, bottom]):
        yield from ((x, y) for x, is_wall in enumerate(line) if is_wall)
