"""The world `scale`: `walls` with any number of classes and actions, all of them alike."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from treethink.errors import SettingError
from treethink.state import Schema, State
from treethink.worlds.base import Cell
from treethink.worlds.grid import MOVES, GridWorld, at, moved
from treethink.worlds.looks import GREY, Look, hue
from treethink.worlds.scene import Distribution, Scene, populate, read_scenes
from treethink.worlds.walls import Walls

_SIGNS = string.digits + string.ascii_letters
_MOST_COPIES = 64
_MOST_PAIRS = 1_024
_PAIRS_IN_FULL = 16

# Scenes are written about two players; the moves are those of the first.
_TWO = Schema({"wall": ["pos"], "player": ["pos"], "other": ["pos"]}, {"pos": 2}, list(MOVES))
_TWO_LOOKS = (*Walls.looks, Look("O", "other", "person", hue(1)))


class Scale(GridWorld):
    """Several players, each a class of its own, walk by actions of their own.

    Objects
        wall (pos); player0 (pos), player1 (pos) and so on, one of each.
    Actions
        p0-left-0, p0-right-0, p0-up-0, p0-down-0, p0-left-1 and so on: for each player and
        each copy the four moves. Copies differ in nothing but their names.
    Dynamics
        The action's player moves one cell, unless a wall is there. Players do not stop each
        other, and may share a cell. Nothing else changes.
    Score
        None.
    Start
        Walls as in `walls`. The players are on different free cells.
    Options
        width, height: the size of the grid with its border, at least 3 (8 x 8).
        wall_percent: how much of the interior is walls (30).
        players: how many there are, 1 to 62 (2).
        copies: how many actions do the same, 1 to 64 (2). players x copies is at most 1,024.
        `scale(3,2)` has 3 players and 2 copies.
    Version
        1: the first.
    """

    name = "scale"
    defaults = {**GridWorld.defaults, "players": 2, "copies": 2}
    positional = ("players", "copies")

    def __init__(self, **options: int):
        super().__init__(**options)
        players = self.within("players", 1, len(_SIGNS))
        copies = self.within("copies", 1, _MOST_COPIES)
        if players * copies > _MOST_PAIRS:
            raise SettingError(
                f"{self._where}: players x copies must be at most {_MOST_PAIRS:,},"
                f" got {players} x {copies}"
            )
        self.need_free_cells(players)
        self.schema, self._moves = _vocabulary(players, copies)
        each_player = (Look(_SIGNS[k], _name(k), "person", hue(k)) for k in range(players))
        self.looks = (Look("#", "wall", "block", GREY), *each_player)

    def reset(self, seed: int) -> State:
        level = self.level(seed)
        cells = level.take(self.options["players"])
        players = [(_name(k), {"pos": cell}) for k, cell in enumerate(cells)]
        return self.populate([*at("wall", level.walls), *players])

    def dynamics(self, state: State, action: str) -> Distribution:
        player_name, by = self._moves[action]
        player = self.the(state, player_name)
        target = moved(player.pos, by)
        if state.find("wall", pos=target):
            return self.surely(state)
        return self.surely(state, {player.id: {"pos": target}})

    def scenes(self) -> Sequence[Scene]:
        """Return scenes for every player and copy; with many, fewer for further copies."""
        players, copies = self.options["players"], self.options["copies"]
        in_brief = players * copies > _PAIRS_IN_FULL
        return [
            scene
            for number, copy in product(range(players), range(copies))
            for scene in self._scenes_of(number, copy, in_brief and copy > 0)
        ]

    def _scenes_of(self, number: int, copy: int, in_brief: bool) -> Iterator[Scene]:
        names = {"wall": "wall", "player": _name(number)}
        if self.options["players"] > 1:
            names["other"] = _name((number + 1) % self.options["players"])

        def told(state: State) -> State:
            return populate(self.schema, [(names[e.class_name], e.values) for e in state])

        for scene in _scenes_about_two(in_brief):
            if all(each.class_name in names for each in scene.before):
                says = f"{_name(number)}, copy {copy}: {scene.says}"
                truth = [(told(after), chance) for after, chance in scene.truth]
                action = f"p{number}-{scene.action}-{copy}"
                yield Scene(says, told(scene.before), action, truth)


@lru_cache(maxsize=2)
def _scenes_about_two(in_brief: bool) -> list[Scene]:
    """Return the scenes of `walls`, and those with another player. Do not modify the result.

    In brief: the first in which an action moves the player, and the first in which it does not.
    """
    scenes = [scene for name in ("walls", "scale") for scene in read_scenes(name, _TWO, _TWO_LOOKS)]
    if not in_brief:
        return scenes
    first: dict[tuple[str, bool], Scene] = {}
    for scene in scenes:
        first.setdefault((scene.action, scene.truth[0][0] == scene.before), scene)
    return list(first.values())


@lru_cache(maxsize=64)
def _vocabulary(players: int, copies: int) -> tuple[Schema, dict[str, tuple[str, Cell]]]:
    """Return the schema, and the player and offset of each action. Do not modify the result."""
    moves = {
        f"p{k}-{name}-{copy}": (_name(k), by)
        for k, copy, (name, by) in product(range(players), range(copies), MOVES.items())
    }
    classes = {"wall": ["pos"], **{_name(k): ["pos"] for k in range(players)}}
    return Schema(classes, {"pos": 2}, list(moves)), moves


def _name(number: int) -> str:
    return f"player{number}"
