"""The levels of the planning experiments: the paper's five settings.

    world, steps, first, n -> [ levels ] -> Level(seed, state, bounds, redrawn), ...

In some levels no goal is near enough, so that doing nothing is optimal. Such a level says nothing
about a planner. It is replaced by another one, and the replacements are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treethink.errors import ResourceError, SettingError, UnknownNameError, whole_number
from treethink.planning.scores import ScoreBounds, score_bounds
from treethink.state import State
from treethink.stream.random_play import check_world_type
from treethink.worlds import World

#: For each world, the option that sets the number of goals, and options that are not the default.
_WORLDS: dict[str, tuple[str, dict[str, int]]] = {
    "maze": ("goals", {}),
    "coins": ("coins", {}),
    "keys": ("goals", {"doors": 2, "keys": 3}),
}
_SEED_STEP = 1_000_000_000  # more than the levels of any experiment
_MOST_DRAWS = 1_000


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the paper's table of planning experiments.

    `walls` is the number of walls inside the border; `steps` is the length of an episode.
    """

    width: int
    height: int
    walls: int
    goals: int
    steps: int

    @property
    def label(self) -> str:
        """The size of its levels."""
        return f"{self.width}x{self.height}"

    @property
    def wall_percent(self) -> int:
        """The option that gives exactly that many walls: worlds round their number down.

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
        """Return the options of `make` for that world.

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
"""The paper's table, which is about `maze`; in `coins` the goals are coins."""


def settings(world: str) -> list[tuple[Setting, dict[str, int]]]:
    """Return the five settings with their options for `maze`, `coins` or `keys`.

    >>> [(each.label, options["goals"]) for each, options in settings("keys")]
    [('8x8', 2), ('10x10', 5), ('12x12', 10), ('14x14', 15), ('16x16', 20)]
    """
    return [(each, each.options(world)) for each in SETTINGS]


@dataclass(frozen=True, slots=True)
class Level:
    """A level with its seed and score bounds.

    `redrawn` is the number of levels before it that were not worth playing.
    """

    seed: int
    state: State
    bounds: ScoreBounds
    redrawn: int


def levels(world: World, steps: int, first: int, n: int) -> Iterator[Level]:
    """Return n levels that are worth playing for that many steps.

    Level i has the seed `first` + i. While it is not worth playing, a billion is added to the seed.
    So a level does not depend on the others or on their number.

    >>> from treethink.worlds import make
    >>> [(each.seed, each.redrawn) for each in levels(make("maze"), steps=4, first=0, n=3)]
    [(0, 0), (1, 0), (2000000002, 2)]
    """
    check_world_type(world, "levels")
    first, n = whole_number("first", first), whole_number("n", n)
    score_bounds(world, world.reset(first), 0)  # raises at once for a world without scores
    steps = whole_number("steps", steps, 1)
    return (_level(world, steps, seed) for seed in range(first, first + n))


def _level(world: World, steps: int, seed: int) -> Level:
    """Return the first level worth playing, with seeds from `seed` on, a billion apart."""
    for redrawn in range(_MOST_DRAWS):
        drawn = seed + redrawn * _SEED_STEP
        state = world.reset(drawn)
        bounds = score_bounds(world, state, steps)
        if bounds.worth_playing:
            return Level(drawn, state, bounds, redrawn)
    raise ResourceError(
        f"{world}: of {_MOST_DRAWS:,} levels, from seed {seed:,} on, none is worth playing for"
        f" {steps:,} steps: nothing in them is better than to do nothing"
    )
