"""Show an episode while it is played: the level, and the visits and values of the actions.

    episode so far, plan -> [ watch ] -> a screen in a terminal, or a line of text

Without a terminal that can move its cursor, each step is printed as a line.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.text import Text

from treethink.planning.agent import Episode
from treethink.planning.search import Plan
from treethink.state import State
from treethink.terminal import LiveDisplay, say
from treethink.text import printable
from treethink.worlds import World, draw

_BLOCKS = "▏▎▍▌▋▊▉█"
_BAR = 12
_MOST_ACTIONS = 12
_LEAST_BOARD = 24  # columns; with fewer beside the bars, the level is drawn above them
_SMALLEST_BOARD = 3  # cells


class Viewer:
    """Shows an episode, and keeps it, so that it is not lost on an interrupt.

    `pause` is the number of seconds for each step in a terminal. `lines` says whether steps are
    printed where there is no terminal.
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
        self._live = LiveDisplay(console, transient=False, overflow="crop")
        self.episode: Episode | None = None
        self.simulations = 0

    def __enter__(self) -> Viewer:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, traceback)

    def tell(self, episode: Episode, plan: Plan) -> None:
        """Show the last step. `Agent.play` calls this after each step."""
        self.episode = episode
        self.simulations += plan.simulations
        if self._live.is_live:
            self._live.show(lambda: self._screen(episode, plan))
            time.sleep(self._pause)
        elif self._lines:
            say(self._console, line(episode, plan))

    def _screen(self, episode: Episode, plan: Plan) -> Text:
        console = self._console
        size = console.width, console.height - 1
        return screen(self._world, episode, plan, self._steps, self._level, *size, console.encoding)


def line(episode: Episode, plan: Plan) -> str:
    """Return the last step as a line of text."""
    wide = max(map(len, plan.visits))
    value = plan.values[plan.action]
    return (
        f"step {len(episode.actions):>3}  {plan.action:<{wide}}  {episode.rewards[-1]:+g}"
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
    """Return the screen of that size: status, level, and a bar chart of the actions."""
    then = f", then {' '.join(plan.actions[1:])}" if plan.actions[1:] else ""
    head = [
        f"{world.name}  level {level}  step {len(episode.actions)} of {steps}"
        f"  score {episode.score}",
        f"{plan.action}{then}",
        "",
    ]
    chart = bars(plan, encoding)
    room = height - len(head)
    aside = width - max(map(len, chart)) - 3
    columns = aside if aside >= _LEAST_BOARD else width
    rows = room if columns == aside else room - len(chart) - 1
    board = _board(world, episode.states[-2], episode.states[-1], columns, rows)
    if columns == aside:
        body = _side_by_side(board, chart)
    else:
        body = [*board, Text(""), *map(Text, chart)]
    text = Text("\n").join([*(Text(printable(each)) for each in head), *body])
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def bars(plan: Plan, encoding: str = "utf-8") -> list[str]:
    """Return visits and value of each action as a bar chart; of many actions, the most visited.

    >>> plan = Plan("up", {"stay": 25, "up": 75}, {"stay": -1.0, "up": 0.5}, ["up"], [], 100, 9)
    >>> print("\\n".join(bars(plan, "ascii")))
      stay ####              25    -1.000
    * up   ############      75     0.500
    """
    most = max(1, *plan.visits.values())
    names = sorted(plan.visits, key=lambda each: -plan.visits[each])[:_MOST_ACTIONS]
    wide = max(len(printable(name)) for name in names)
    lines = []
    for name in (each for each in plan.visits if each in names):
        visits, value = plan.visits[name], plan.values[name]
        mark = "*" if name == plan.action else " "
        bar = _bar(visits / most, encoding)
        number = "" if value is None else f"{value:9.3f}"
        lines.append(f"{mark} {printable(name):<{wide}} {bar:<{_BAR}} {visits:7,} {number:>9}")
    rest = len(plan.visits) - len(names)
    return [*lines, f"  and {rest} more"] if rest else lines


def _bar(share: float, encoding: str) -> str:
    """Return a bar, which is visible for any share above 0."""
    if not encoding.lower().startswith("utf"):
        return "#" * max(round(share * _BAR), int(share > 0))
    whole, part = divmod(max(round(share * _BAR * 8), int(share > 0)), 8)
    return "█" * whole + (_BLOCKS[part - 1] if part else "")


def _board(world: World, before: State, state: State, columns: int, rows: int) -> list[Text]:
    """Return the drawn state, line by line; a large one is cropped around what moved last."""
    items = draw.items(world, state)
    window = draw.extent(items, frame=world.frame())
    lines = _lines(world, state, window)
    rows -= len(lines) - window.height  # for the caption below
    if 2 * window.width > columns or window.height > rows:
        # A cropped picture has an edge, with arrows to the rest.
        wide, high = max(columns // 2 - 2, _SMALLEST_BOARD), max(rows - 2, _SMALLEST_BOARD)
        old = {item.id: item.cell for item in draw.items(world, before)}
        moved = [item for item in items if old.get(item.id) != item.cell] or items
        lines = _lines(world, state, window.part(moved[-1].cell, wide, high))
    return lines


def _lines(world: World, state: State, window: draw.Window) -> list[Text]:
    return list(Text.from_ansi(draw.ansi(world, state, window=window)).split("\n"))


def _side_by_side(board: list[Text], chart: list[str]) -> list[Text]:
    """Return lines with the chart to the right of the level."""
    wide = max((each.cell_len for each in board), default=0) + 3
    body = []
    for i in range(max(len(board), len(chart))):
        text = board[i].copy() if i < len(board) else Text("")
        text.append(" " * (wide - text.cell_len))
        body.append(text.append(chart[i] if i < len(chart) else ""))
    return body
