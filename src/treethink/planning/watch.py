"""An episode to watch while it is played: the level, and how the actions were weighed.

    episode so far, plan -> [ watch ] -> a screen in a terminal, or a line of text

Where there is no terminal, or one that cannot move its cursor, each step is a plain line.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from treethink.planning.agent import Episode
from treethink.planning.search import Plan
from treethink.state import State
from treethink.terminal import say
from treethink.worlds import World, draw

_BLOCKS = "▏▎▍▌▋▊▉█"
_BAR = 12
_MOST_ACTIONS = 12
_LEAST_BOARD = 24  # columns beside the bars, or the level goes above them
_SMALLEST_BOARD = 3  # cells


class Viewer:
    """Shows an episode, and remembers how far it came: an interrupt need not lose it.

    `lines`: whether steps are told where there is no terminal to show them in; `pause`: the seconds
    for which each is seen in one.
    """

    def __init__(
        self,
        console: Console,
        world: World,
        steps: int,
        level: int,
        *,
        pause: float = 0.0,
        lines: bool = True,
    ):
        self._console, self._world, self._steps, self._level = console, world, steps, level
        self._pause, self._lines = pause, lines
        moving = console.is_terminal and not console.is_dumb_terminal
        self._live = (
            Live(console=console, auto_refresh=False, vertical_overflow="crop") if moving else None
        )
        self.episode: Episode | None = None
        self.simulations = 0

    def __enter__(self) -> Viewer:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def tell(self, episode: Episode, plan: Plan) -> None:
        """To be called after each step."""
        self.episode = episode
        self.simulations += plan.simulations
        if self._live:
            console = self._console
            where = self._steps, self._level, console.width, console.height - 1
            shown = screen(self._world, episode, plan, *where, console.encoding)
            self._live.update(shown, refresh=True)
            time.sleep(self._pause)
        elif self._lines:
            say(self._console, line(episode, plan))


def line(episode: Episode, plan: Plan) -> str:
    """The last step in a line."""
    wide = max(map(len, plan.visits))
    value = plan.values[plan.action]
    return (
        f"step {len(episode.actions):>3}  {plan.action:<{wide}}  {episode.rewards[-1]:+d}"
        f"  score {episode.score:>4}  visits {plan.visits[plan.action]:>5,} of"
        f" {sum(plan.visits.values()):>5,}  value {0.0 if value is None else value:.3f}"
    )


def screen(
    world: World,
    episode: Episode,
    plan: Plan,
    steps: int,
    level: int,
    width: int = 80,
    height: int = 24,
    encoding: str = "utf-8",
) -> Text:
    """What a terminal of that size shows: how it stands, the level, the actions as bars."""
    then = f", to go on with {' '.join(plan.actions[1:])}" if plan.actions[1:] else ""
    head = [
        f"{world.name}  level {level}  step {len(episode.actions)} of {steps}"
        f"  score {episode.score}",
        f"{plan.action}{then}",
        "",
    ]
    told = bars(plan, encoding)
    room = height - len(head)
    aside = width - max(map(len, told)) - 3
    columns = aside if aside >= _LEAST_BOARD else width
    rows = room if columns == aside else room - len(told) - 1
    drawn = _board(world, episode.states[-2], episode.states[-1], columns, rows)
    if columns == aside:
        body = _beside(drawn, told)
    else:
        body = [*drawn, Text(""), *map(Text, told)]
    text = Text("\n").join([*map(Text, head), *body])
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def bars(plan: Plan, encoding: str = "utf-8") -> list[str]:
    """Visits and value of each action, those that were tried most if they are many.

    >>> plan = Plan("up", {"stay": 25, "up": 75}, {"stay": -1.0, "up": 0.5}, ["up"], [], 100, 9)
    >>> print("\\n".join(bars(plan, "ascii")))
      stay ####              25    -1.000
    * up   ############      75     0.500
    """
    most = max(1, *plan.visits.values())
    names = sorted(plan.visits, key=lambda each: -plan.visits[each])[:_MOST_ACTIONS]
    wide = max(map(len, names))
    lines = []
    for name in (each for each in plan.visits if each in names):
        visits, value = plan.visits[name], plan.values[name]
        mark = "*" if name == plan.action else " "
        bar = _bar(visits / most, encoding)
        said = "" if value is None else f"{value:9.3f}"
        lines.append(f"{mark} {name:<{wide}} {bar:<{_BAR}} {visits:7,} {said:>9}")
    rest = len(plan.visits) - len(names)
    return [*lines, f"  and {rest} more"] if rest else lines


def _bar(share: float, encoding: str) -> str:
    """A bar that is seen if there is anything."""
    if not encoding.lower().startswith("utf"):
        return "#" * max(round(share * _BAR), int(share > 0))
    whole, part = divmod(max(round(share * _BAR * 8), int(share > 0)), 8)
    return "█" * whole + (_BLOCKS[part - 1] if part else "")


def _board(world: World, before: State, state: State, columns: int, rows: int) -> list[Text]:
    """The state, line by line; where it is too large, what lies around that which moved."""
    drawn = draw.items(world, state)
    shown = draw.extent(drawn, frame=world.frame())
    lines = _lines(world, state, shown)
    rows -= len(lines) - shown.height  # a caption stands below
    if 2 * shown.width > columns or shown.height > rows:
        # What is cropped has an edge, with arrows to the rest.
        wide, high = max(columns // 2 - 2, _SMALLEST_BOARD), max(rows - 2, _SMALLEST_BOARD)
        was = {item.id: item.cell for item in draw.items(world, before)}
        moved = [item for item in drawn if was.get(item.id) != item.cell] or drawn
        lines = _lines(world, state, shown.part(moved[-1].cell, wide, high))
    return lines


def _lines(world: World, state: State, shown: draw.Window) -> list[Text]:
    return list(Text.from_ansi(draw.ansi(world, state, window=shown)).split("\n"))


def _beside(drawn: list[Text], told: list[str]) -> list[Text]:
    """The bars to the right of the level."""
    wide = max((each.cell_len for each in drawn), default=0) + 3
    body = []
    for i in range(max(len(drawn), len(told))):
        text = drawn[i].copy() if i < len(drawn) else Text("")
        text.append(" " * (wide - text.cell_len))
        body.append(text.append(told[i] if i < len(told) else ""))
    return body
