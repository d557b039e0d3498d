"""`treethink play`: walk around in a world, and see whether a model saw it coming.

    keys -> [ Game ] -> state -> screen

`Game` is the whole game without a terminal: it is pressed keys and says what to show. What
touches the terminal stands at the end, and leaves it as it was whatever happens.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from rich.console import Console
from rich.control import Control
from rich.text import Text

from treethink.errors import SettingError, TreeThinkError, UnknownNameError
from treethink.play import keyboard
from treethink.state import Schema, State
from treethink.stream.random_play import first_state
from treethink.text import percent
from treethink.worlds import World, draw
from treethink.worlds.draw.compare import Predicted
from treethink.worlds.draw.layout import FEW_LINES, MOST_LINES
from treethink.worlds.draw.text import meanings
from treethink.worlds.gym import GymWorld, TableWorld
from treethink.worlds.looks import FLOOR

_OWN_KEYS = [
    "u: undo",
    "r: restart",
    "n: next level",
    "/: action by name",
    "?: what signs mean",
    "q: quit",
]
_OVER = "the episode is over: n for the next level, u to undo"
_SURE = 1e-6
_SMALLEST_BOARD = 3


class Prediction(Predicted, Protocol):
    """What the game asks of a prediction."""

    def probability(self, after: State, /) -> float:
        """How likely it is that exactly this state follows."""


class Model(Protocol):
    """What the game asks of a model."""

    @property
    def schema(self) -> Schema:
        """What it was made for."""

    def predict(self, state: State, action: str, /) -> Prediction:
        """What may follow."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One action: what was before, what followed, and what had been predicted."""

    before: State
    action: str
    after: State
    #: Of the generator of random numbers, before.
    chance: dict[str, Any]
    prediction: Prediction | None = None
    #: Whether the state that was most likely followed, and how likely it was.
    right: bool = False
    expected: float = 0.0


class Game:
    """A level of a world, played by keys; with a model, also a test of its predictions.

    >>> from treethink.worlds import make
    >>> game = Game(make("walls"), seed=1)
    >>> game.press("right")
    >>> game.steps, game.message
    (1, 'right')
    >>> game.press("u")
    >>> game.steps, game.state == make("walls").reset(1)
    (0, True)
    """

    def __init__(self, world: World, seed: int = 0, model: Model | None = None):
        if model is not None:
            check_fit(model.schema, world)
        self.world = world
        self.model = model
        self.keys = keyboard.assign(world.actions)
        self.message = ""
        self.done = False
        #: What has been typed of an action's name; None: nothing was asked.
        self.typed: str | None = None
        #: Whether it is shown what the signs mean.
        self.helping = False
        # Of the levels before: predictions that were right, all, and how many should be right.
        self._earlier: tuple[int, int, float] = (0, 0, 0.0)
        self._turns: list[Turn] = []
        self._start(seed)
        if world.is_over(self.state):
            self.message = _OVER

    # ------------------------------------------------------------------ how it stands

    @property
    def state(self) -> State:
        """Where the level stands."""
        return self._turns[-1].after if self._turns else self._first

    @property
    def steps(self) -> int:
        """Actions in this level that have not been undone."""
        return len(self._turns)

    @property
    def last(self) -> Turn | None:
        """The last action of this level."""
        return self._turns[-1] if self._turns else None

    @property
    def predictions(self) -> tuple[int, int]:
        """How many were right, and how many there were, without those undone."""
        right, count, _ = self._earlier
        turns = [turn for turn in self._turns if turn.prediction is not None]
        return right + sum(turn.right for turn in turns), count + len(turns)

    @property
    def expected(self) -> float:
        """How many should be right by their own probabilities."""
        return self._earlier[2] + sum(turn.expected for turn in self._turns)

    # ------------------------------------------------------------------- what it does

    def act(self, action: str) -> None:
        """Play an action by its name. Afterwards `message` says how it went."""
        if self.world.is_over(self.state):
            self.message = _OVER
            return
        if action not in self.world.actions:
            where = f"world {self.world.name!r}"
            error = UnknownNameError("action", action, self.world.actions, where)
            self.message = str(error).partition(" Known:")[0]
            return
        chance = dict(self._rng.bit_generator.state)
        try:
            prediction = None if self.model is None else self.model.predict(self.state, action)
            after = self.world.step(self.state, action, self._rng)
        except TreeThinkError as error:  # such as a number beyond 64 bits
            self._rng.bit_generator.state = chance
            self.message = f"{action}: {error}"
        else:
            turn = Turn(self.state, action, after, chance)
            if prediction is not None:
                mode = prediction.mode()
                expected = prediction.probability(mode)
                turn = replace(turn, prediction=prediction, right=mode == after, expected=expected)
            self._turns.append(turn)
            self._say(self._said(turn))

    def undo(self) -> None:
        """Back to before the last action. Chance goes back too: the same action ends the same."""
        if not self._turns:
            self.message = "nothing to undo: the level starts here"
            return
        if not self._can_go_back():
            self._start(self.seed)
            self._say("this environment cannot go back: the level starts again")
            return
        turn = self._turns.pop()
        self.message = f"undone: {turn.action}"
        if self._rng.bit_generator.state != turn.chance:
            self._rng.bit_generator.state = turn.chance
            self.message += "; chance too, so it would end the same again"

    def _can_go_back(self) -> bool:
        """Whether there is a way to before the last action; if one must walk, it was walked.

        An environment of Gymnasium goes only forwards: the same seed and the same actions lead
        there, unless its chance is not that of its seed.
        """
        if not isinstance(self.world, GymWorld) or isinstance(self.world, TableWorld):
            return True
        try:
            state = self.world.reset(self.seed)
            for turn in self._turns[:-1]:
                state = self.world.step(state, turn.action, self._rng)
        except TreeThinkError:  # it is over sooner
            return False
        return state == self._turns[-1].before

    def restart(self) -> None:
        """The same level from its start, with the same luck."""
        self._start(self.seed)
        self._say("the level starts again")

    def next_level(self) -> None:
        """The level of the next seed."""
        try:
            self._start(self.seed + 1)
            self._say(f"level {self.seed}")
        except TreeThinkError as error:  # a world of one's own may not have one
            self.message = f"no next level: {error}"

    def press(self, key: str) -> None:
        """What a key does; one that does nothing says so."""
        if self.typed is not None:
            self._type(key, self.typed)
            return
        key = key.lower()
        own = {
            "u": self.undo,
            "backspace": self.undo,
            "r": self.restart,
            "n": self.next_level,
            "q": self._quit,
            "escape": self._escape,
            "?": self._help,
            "end": self._quit,
            "/": self._ask,
            ":": self._ask,
        }
        if key in own:
            own[key]()
        elif key in self.keys:
            self.act(self.keys[key])
        else:
            self.message = f"{key!r} does nothing" if len(key) == 1 else "that key does nothing"

    def _start(self, seed: int) -> None:
        first = first_state(self.world, seed)
        self._earlier = (*self.predictions, self.expected)
        self.seed = seed
        self._first = first
        self._turns = []
        self._rng = np.random.default_rng(seed)

    def _quit(self) -> None:
        self.done = True

    def _help(self) -> None:
        self.helping = not self.helping

    def _escape(self) -> None:
        """Never leaves: it is pressed to get out of something smaller."""
        if not self.helping:
            self.message = "q leaves"
        self.helping = False

    def _say(self, message: str) -> None:
        """A message; before it, lest it is cut, that the episode is over."""
        over = self.world.is_over(self.state)
        self.message = f"{_OVER}; {message}" if over else message

    def _ask(self) -> None:
        self.typed = ""
        self.message = ""

    def _type(self, key: str, typed: str) -> None:
        """A key while an action is asked for by its name."""
        if key == "end":
            self._quit()
        elif key == "enter":
            self.typed = None
            if typed.strip():
                self._act_like(typed.strip())
        elif key == "escape" or (key == "backspace" and not typed):
            self.typed = None
        elif key == "backspace":
            self.typed = typed[:-1]
        elif len(key) == 1:
            self.typed = typed + key

    def _act_like(self, typed: str) -> None:
        """Play the action that begins like this."""
        begin = [each for each in self.world.actions if each.startswith(typed)]
        if typed in begin or not begin:
            self.act(typed)
        elif len(begin) == 1:
            self.act(begin[0])
        else:
            self.message = f"{typed!r} may be {_few(begin)}"

    def _said(self, turn: Turn) -> str:
        if turn.prediction is None:
            return turn.action
        chance = percent(turn.prediction.probability(turn.after))
        return f"{turn.action}: the model gave {chance} to what happened"

    def standing(self) -> str:
        """Where it stands."""
        return f"{self.world.name}  level {self.seed}  step {self.steps}"

    def record(self) -> str:
        """How the model does; nothing without one."""
        if self.model is None:
            return ""
        right, count = self.predictions
        said = f"the most likely outcome followed {right} of {count} times"
        sure = count - self.expected < _SURE
        return said if sure else f"{said}, expected {self.expected:.1f}"

    def summary(self) -> str:
        """How it stands, in a line."""
        return "  ".join(each for each in (self.standing(), self.record()) if each)


def check_fit(schema: Schema, world: World, where: str = "the model") -> None:
    """Refuse a model of another schema than the world's, and say where they differ."""
    if schema == world.schema:
        return
    for part in ("classes", "attributes", "actions"):
        its, ours = getattr(schema, part), getattr(world.schema, part)
        if list(its) != list(ours):
            differ = f"its {part} are {_few(its)}, the world's {_few(ours)}"
            break
    else:
        differ = "its attributes are not those of the world"
    raise SettingError(f"{where} does not fit world {world.name!r}: {differ}")


def _few(names: Iterable[str], most: int = 8) -> str:
    first, rest = [*names][:most], [*names][most:]
    return ", ".join(first) + (f" and {len(rest)} more" if rest else "")


# --------------------------------------------------------------------- what is shown


def screen(game: Game, width: int, height: int) -> Text:
    """What a terminal of that size shows: how the game stands, the state, what keys do."""
    asked = None if game.typed is None else f"action by name: {game.typed}_"
    head = [game.standing(), *filter(None, [game.record()]), asked or game.message, ""]
    foot = ["", *_wrapped([*keyboard.explain(game.keys), *_OWN_KEYS], width)]
    if game.helping:
        foot += _help(game, width)
    board = _board(game, width, height - len(head) - len(foot))
    if board is None:
        board = Text(f"{width} x {height} is too small to draw it: enlarge the window, press a key")
    text = Text("\n").join([Text("\n".join(head)), board, Text("\n".join(foot))])
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _help(game: Game, width: int) -> list[str]:
    """What the signs and marks mean."""
    signs = meanings(game.world)
    top = signs[0][0] if signs else FLOOR
    marks = [f"{top}_: on something else, which the line below the picture tells"]
    if game.model is not None:
        marks.append(f"{top}!: not as was most likely")
    marks.append("< > ^ v: more lies there, outside the picture")
    return ["", *_wrapped(signs, width), "", *_wrapped(marks, width)]


def _board(game: Game, width: int, height: int) -> Text | None:
    """The state, or truth beside prediction; cropped if need be; None if nothing would be left."""
    turn = game.last
    predicted = None if turn is None else turn.prediction
    states = [game.state] if predicted is None else [game.state, predicted.mode()]
    drawn = [item for state in states for item in draw.items(game.world, state)]
    shown = all_of_it = draw.extent(drawn, frame=game.world.frame())
    edge = any(item.cell not in shown for item in drawn)
    panels = len(states)
    columns = (width - 4 * (panels - 1)) // (2 * panels) - 2 * edge
    for lines in (MOST_LINES, FEW_LINES):  # cells matter more than what stands below them
        text = _drawn(game, predicted, shown, lines)
        rows = shown.height + height - len(text.split("\n"))
        if columns >= shown.width and rows >= shown.height:
            return text
    # What is cropped has an edge, with arrows to the rest.
    columns, rows = columns - 2 * (not edge), rows - 2 * (not edge)
    if columns < min(_SMALLEST_BOARD, shown.width) or rows < min(_SMALLEST_BOARD, shown.height):
        return None
    return _drawn(game, predicted, all_of_it.part(_focus(game), columns, rows), FEW_LINES)


def _drawn(game: Game, predicted: Prediction | None, window: draw.Window, lines: int) -> Text:
    how: Any = {"window": window, "lines": lines}
    if predicted is None:
        return Text.from_ansi(draw.ansi(game.world, game.state, **how))
    return Text.from_ansi(draw.compare(game.world, game.state, predicted, **how))


def _focus(game: Game) -> tuple[int, int]:
    """The cell to keep in view: of what the last action moved, else of what lies on top."""
    drawn = draw.items(game.world, game.state)
    if game.last is not None:
        before = {item.id: item.cell for item in draw.items(game.world, game.last.before)}
        drawn = [each for each in drawn if before.get(each.id) != each.cell] or drawn
    return drawn[-1].cell if drawn else (0, 0)


def _wrapped(parts: list[str], width: int) -> list[str]:
    """Lines of whole parts, as many in each as fit."""
    lines = parts[:1]
    for part in parts[1:]:
        if len(lines[-1]) + 3 + len(part) <= width:
            lines[-1] += f"   {part}"
        else:
            lines.append(part)
    return lines


# ------------------------------------------------------------------- in a terminal


def in_terminal(world: World, seed: int = 0, model: Model | None = None) -> Game:
    """Play until the player leaves; returns the game as it was left."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingError("play needs a terminal for keys and screen; it cannot be piped")
    console = Console()
    if console.is_dumb_terminal:
        raise SettingError("play needs a terminal that can move its cursor; TERM says it cannot")
    game = Game(world, seed, model)
    with _ending_in_order(), keyboard.listening() as read, console.screen() as page:
        while not game.done:
            console.control(Control.home())
            page.update(screen(game, console.width, console.height))
            for key in read():
                game.press(key)
                if game.done:
                    break
    return game


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Ctrl-C leaves; a request to terminate too, but only after the terminal was restored."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    here = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, leave) if here else None
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if here:
            signal.signal(signal.SIGTERM, before)
