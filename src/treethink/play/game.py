"""The game behind `treethink play`, without a terminal.

    keys -> [ Game ] -> state, message

A `Game` takes the names of keys (`keyboard`) and changes its state; `screen` draws it. With a
model, each step is predicted before it is taken, and the game counts how often the most likely
outcome followed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from treethink.errors import TreeThinkError, UnknownNameError
from treethink.explain.novelty import novelty_text
from treethink.model import Prediction as LearnedPrediction
from treethink.play import keyboard
from treethink.state import Schema, State
from treethink.stream.random_play import first_state
from treethink.text import listed, percent
from treethink.worlds import World
from treethink.worlds.base import check_fit
from treethink.worlds.draw.compare import PredictionLike
from treethink.worlds.gym import GymWorld, TableWorld

_OVER = "the episode is over: n for the next level, u to undo"
_SURE = 1e-6  # expected misses below which the predictions count as certain


class Prediction(PredictionLike, Protocol):
    """What the game needs of a prediction."""

    def probability(self, after: State, /) -> float:
        """Return the probability that exactly this state follows."""


class Model(Protocol):
    """What the game needs of a model."""

    @property
    def schema(self) -> Schema:
        """The schema that the model was created for."""

    def predict(self, state: State, action: str, /) -> Prediction:
        """Return the distribution of the next state."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One action: the states before and after it, and what the model predicted."""

    before: State
    action: str
    after: State
    #: State of the random generator before the step.
    rng_state: dict[str, Any]
    prediction: Prediction | None = None
    #: Whether the most likely state followed, and the probability it had.
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
        #: What has been typed of an action's name; None unless the player is typing one.
        self.typed: str | None = None
        #: Whether the legend is shown.
        self.show_legend = False
        # Totals of the levels played before: right predictions, predictions, expected right.
        self._earlier: tuple[int, int, float] = (0, 0, 0.0)
        self._turns: list[Turn] = []
        self._start(seed)
        if world.is_over(self.state):
            self.message = _OVER

    # --------------------------------------------------------------------- status

    @property
    def state(self) -> State:
        """The current state of the level."""
        return self._turns[-1].after if self._turns else self._first

    @property
    def steps(self) -> int:
        """Number of actions in this level, without those undone."""
        return len(self._turns)

    @property
    def last(self) -> Turn | None:
        """The last action of this level."""
        return self._turns[-1] if self._turns else None

    @property
    def predictions(self) -> tuple[int, int]:
        """Number of right predictions and of all predictions, without those undone."""
        right, count, _ = self._earlier
        turns = [turn for turn in self._turns if turn.prediction is not None]
        return right + sum(turn.right for turn in turns), count + len(turns)

    @property
    def expected(self) -> float:
        """Expected number of right predictions, by the model's own probabilities."""
        return self._earlier[2] + sum(turn.expected for turn in self._turns)

    def status(self) -> str:
        """Return the world, the level and the step in a line."""
        return f"{self.world.name}  level {self.seed}  step {self.steps}"

    def record(self) -> str:
        """Return how often the model was right, or "" without a model."""
        if self.model is None:
            return ""
        right, count = self.predictions
        text = f"the most likely outcome followed {right} of {count} times"
        sure = count - self.expected < _SURE
        return text if sure else f"{text}, expected {self.expected:.1f}"

    def summary(self) -> str:
        """Return status and record in a line."""
        return "  ".join(each for each in (self.status(), self.record()) if each)

    # -------------------------------------------------------------------- actions

    def act(self, action: str) -> None:
        """Take an action by its name; `message` then describes the result."""
        if self.world.is_over(self.state):
            self.message = _OVER
            return
        if action not in self.world.actions:
            where = f"world {self.world.name!r}"
            error = UnknownNameError("action", action, self.world.actions, where)
            self.message = str(error).partition(" Known:")[0]
            return
        rng_state = dict(self._rng.bit_generator.state)
        try:
            prediction = None if self.model is None else self.model.predict(self.state, action)
            after = self.world.step(self.state, action, self._rng)
        except TreeThinkError as error:  # such as a number beyond 64 bits
            self._rng.bit_generator.state = rng_state
            self.message = f"{action}: {error}"
        else:
            turn = Turn(self.state, action, after, rng_state)
            if prediction is not None:
                mode = prediction.mode()
                expected = prediction.probability(mode)
                turn = replace(turn, prediction=prediction, right=mode == after, expected=expected)
            self._turns.append(turn)
            self._set_message(_describe(turn))

    def undo(self) -> None:
        """Undo the last action and restore the random generator, so repeating it ends the same."""
        if not self._turns:
            self.message = "nothing to undo: the level starts here"
            return
        if not self._can_go_back():
            self._start(self.seed)
            self._set_message("this environment cannot go back: the level starts again")
            return
        turn = self._turns.pop()
        self.message = f"undone: {turn.action}"
        if self._rng.bit_generator.state != turn.rng_state:
            self._rng.bit_generator.state = turn.rng_state
            self.message += "; the random numbers too, so repeating it ends the same"

    def _can_go_back(self) -> bool:
        """Whether the world can return to the state before the last action.

        A Gymnasium environment only steps forwards: it is reset and the actions are repeated.
        That fails if its randomness does not depend on its seed alone.
        """
        if not isinstance(self.world, GymWorld) or isinstance(self.world, TableWorld):
            return True
        try:
            state = self.world.reset(self.seed)
            for turn in self._turns[:-1]:
                state = self.world.step(state, turn.action, self._rng)
        except TreeThinkError:  # the episode ends sooner than before
            return False
        return state == self._turns[-1].before

    def restart(self) -> None:
        """Start the same level again, with the same random numbers."""
        self._start(self.seed)
        self._set_message("the level starts again")

    def next_level(self) -> None:
        """Start the level of the next seed."""
        try:
            self._start(self.seed + 1)
            self._set_message(f"level {self.seed}")
        except TreeThinkError as error:  # a user's own world may have no such level
            self.message = f"no next level: {error}"

    def _start(self, seed: int) -> None:
        first = first_state(self.world, seed)
        self._earlier = (*self.predictions, self.expected)
        self.seed = seed
        self._first = first
        self._turns = []
        self._rng = np.random.default_rng(seed)

    def _set_message(self, message: str) -> None:
        """Set the message; first that the episode is over, since long lines are cut."""
        over = self.world.is_over(self.state)
        self.message = f"{_OVER}; {message}" if over else message

    # ----------------------------------------------------------------------- keys

    def press(self, key: str) -> None:
        """Do what a key stands for; a key without a meaning only sets the message."""
        if self.typed is not None:
            self._type(key, self.typed)
            return
        key = key.lower()
        commands = {
            "u": self.undo,
            "backspace": self.undo,
            "r": self.restart,
            "n": self.next_level,
            "q": self._quit,
            "end": self._quit,
            "escape": self._escape,
            "?": self._toggle_legend,
            "/": self._start_typing,
            ":": self._start_typing,
        }
        if key in commands:
            commands[key]()
        elif key in self.keys:
            self.act(self.keys[key])
        else:
            self.message = f"{key!r} does nothing" if len(key) == 1 else "that key does nothing"

    def _quit(self) -> None:
        self.done = True

    def _toggle_legend(self) -> None:
        self.show_legend = not self.show_legend

    def _escape(self) -> None:
        """Hide the legend. Escape never quits: people press it to cancel something smaller."""
        if not self.show_legend:
            self.message = "press q to quit"
        self.show_legend = False

    def _start_typing(self) -> None:
        self.typed = ""
        self.message = ""

    def _type(self, key: str, typed: str) -> None:
        """Handle a key while the player types the name of an action."""
        if key == "end":
            self._quit()
        elif key == "enter":
            self.typed = None
            if typed.strip():
                self._act_by_prefix(typed.strip())
        elif key == "escape" or (key == "backspace" and not typed):
            self.typed = None
        elif key == "backspace":
            self.typed = typed[:-1]
        elif len(key) == 1:
            self.typed = typed + key

    def _act_by_prefix(self, prefix: str) -> None:
        """Take the action whose name starts with this, if there is only one."""
        matches = [each for each in self.world.actions if each.startswith(prefix)]
        if prefix in matches or not matches:
            self.act(prefix)
        elif len(matches) == 1:
            self.act(matches[0])
        else:
            self.message = f"{prefix!r} may be {listed(matches)}"


def _describe(turn: Turn) -> str:
    """Return the action of a turn and the probability that the model gave to its outcome."""
    if turn.prediction is None:
        return turn.action
    chance = percent(turn.prediction.probability(turn.after))
    return f"{turn.action}: the model gave {chance} to what happened{_novelty(turn.prediction)}"


def _novelty(prediction: Prediction) -> str:
    """Return what the first answer that rests on something never seen rests on, if there is one."""
    if not isinstance(prediction, LearnedPrediction):  # baselines do not know what they have seen
        return ""
    texts = (
        novelty_text(prediction, each.id, name)
        for each in prediction.state
        for name in each.values
        if not prediction.state.schema.attributes[name].derived
    )
    return next((f"; {text}" for text in texts if text), "")
