"""The levels in which planning is measured: the paper's five settings, and what is worth playing.

    world, steps, first, n -> [ levels ] -> Level(seed, state, bounds, redrawn), ...

In some levels no goal is near enough: to do nothing is then the best, and every planner would
be optimal or worse, which says nothing about it. Such a level is drawn anew, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treethink.errors import ResourceError, SettingError, UnknownNameError, whole_number
from treethink.planning.scores import ScoreBounds, score_bounds
from treethink.state import State
from treethink.stream.random_play import check_world_type
from treethink.worlds import World

#: For each world the option that counts its goals, and what else is not the default.
_WORLDS: dict[str, tuple[str, dict[str, int]]] = {
    "maze": ("goals", {}),
    "coins": ("coins", {}),
    "keys": ("goals", {"doors": 2, "keys": 3}),
}
_BETWEEN_DRAWS = 1_000_000_000  # no experiment has so many levels
_MOST_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Setting:
    """One line of the paper's table of planning experiments."""

    width: int
    height: int
    walls: int
    """Inside the border."""
    goals: int
    steps: int
    """Of an episode."""

    @property
    def label(self) -> str:
        """Its size."""
        return f"{self.width}x{self.height}"

    @property
    def wall_percent(self) -> int:
        """What a world needs to be told for just so many walls: it rounds them down.

        >>> [each.wall_percent for each in SETTINGS]
        [30, 32, 50, 56, 82]
        """
        interior = (self.width - 2) * (self.height - 2)
        percent = (100 * (self.walls + 1) - 1) // interior
        if interior * percent // 100 != self.walls:
            raise SettingError(
                f"no whole wall_percent of {interior} cells makes {self.walls} walls: {percent}"
                f" makes {interior * percent // 100}, {percent + 1} makes"
                f" {interior * (percent + 1) // 100}"
            )
        return percent

    def options(self, world: str) -> dict[str, int]:
        """What `make` needs to be told for levels of that world.

        >>> SETTINGS[0].options("coins")
        {'width': 8, 'height': 8, 'wall_percent': 30, 'coins': 2}
        """
        if world not in _WORLDS:
            raise UnknownNameError("world", str(world), _WORLDS, "the planning settings")
        counts, more = _WORLDS[world]
        size = {"width": self.width, "height": self.height, "wall_percent": self.wall_percent}
        return {**size, **more, counts: self.goals}


SETTINGS = (
    Setting(8, 8, walls=10, goals=2, steps=10),
    Setting(10, 10, walls=20, goals=5, steps=20),
    Setting(12, 12, walls=50, goals=10, steps=30),
    Setting(14, 14, walls=80, goals=15, steps=40),
    Setting(16, 16, walls=160, goals=20, steps=50),
)
"""The paper's table. It is of `maze`; in `coins` the goals are coins."""


def settings(world: str) -> list[tuple[Setting, dict[str, int]]]:
    """The five settings with their options for `maze`, `coins` or `keys`.

    >>> [(each.label, options["goals"]) for each, options in settings("keys")]
    [('8x8', 2), ('10x10', 5), ('12x12', 10), ('14x14', 15), ('16x16', 20)]
    """
    return [(each, each.options(world)) for each in SETTINGS]


@dataclass(frozen=True, slots=True)
class Level:
    """One level, where it came from, and what can be scored in it."""

    seed: int
    state: State
    bounds: ScoreBounds
    redrawn: int
    """How many levels before it were not worth playing."""


def levels(world: World, steps: int, first: int, n: int) -> Iterator[Level]:
    """So many levels that are worth playing for so many steps.

    Level i has the seed `first` + i. As long as it is not worth playing, a billion is added
    to that; so it depends on no other level, nor on how many there are.

    >>> from treethink.worlds import make
    >>> [(each.seed, each.redrawn) for each in levels(make("maze"), steps=4, first=0, n=3)]
    [(0, 0), (1, 0), (2000000002, 2)]
    """
    check_world_type(world, "levels")
    first, n = whole_number("first", first), whole_number("n", n)
    score_bounds(world, world.reset(first), 0)  # a world that has none is refused at once
    steps = whole_number("steps", steps, 1)
    return (_level(world, steps, seed) for seed in range(first, first + n))


def _level(world: World, steps: int, seed: int) -> Level:
    """The first of the levels from a seed on, a million apart, that is worth playing."""
    for redrawn in range(_MOST_DRAWS):
        drawn = seed + redrawn * _BETWEEN_DRAWS
        state = world.reset(drawn)
        bounds = score_bounds(world, state, steps)
        if bounds.worth_playing:
            return Level(drawn, state, bounds, redrawn)
    raise ResourceError(
        f"{world}: of {_MOST_DRAWS:,} levels, from seed {seed:,} on, none is worth playing for"
        f" {steps:,} steps: nothing in them is better than to do nothing"
    )
