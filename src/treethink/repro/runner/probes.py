"""Ask a learner for predictions while it learns, and time them.

    learner, run -> [ timed_predictions, TransferProbe ] -> predictions and times

Predictions use the options of the run (`predict`). The garbage collector is paused while a clock
runs. `TransferProbe` measures the error in another world.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from time import perf_counter_ns
from typing import Any

from treethink.errors import SettingError, shown
from treethink.metrics import Truth, error
from treethink.model import TreeThink
from treethink.repro.runner.measurements import Recording
from treethink.repro.runner.spec import HELD_OUT, Run
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World, make

#: The most transitions that are held in memory at a time.
_LARGEST_BATCH = 1_000


def predictor(learner: Any, run: Run) -> Callable[[State, str], Any]:
    """Return the learner's `predict` with the options of the run."""
    return partial(learner.predict, **run.predict) if run.predict else learner.predict


def timed_predictions(
    learner: Any, run: Run, stream: Iterator[AnyTransition], pause: GcPause
) -> Iterator[tuple[AnyTransition, Any, int]]:
    """Yield each transition with the learner's prediction of it, and the time in nanoseconds.

    Transitions are predicted one by one, each after those before were observed. A learner whose
    predictions stay the same for a while, such as a network between two epochs, says for how many
    observations (`steady_for`); these are then predicted in one batch.
    """
    predict = predictor(learner, run)
    while batch := list(islice(stream, _batch_size(learner))):
        pause.begin()
        start = perf_counter_ns()
        if len(batch) == 1:
            predictions = [predict(batch[0][0], batch[0][1])]
        else:
            predictions = learner.predict_many([each[:2] for each in batch], **run.predict)
        for prediction in predictions:
            prediction.mode()
        took = (perf_counter_ns() - start) // len(batch)
        pause.end()
        for transition, prediction in zip(batch, predictions, strict=True):
            yield transition, prediction, took


def _batch_size(learner: Any) -> int:
    return max(1, min(getattr(learner, "steady_for", 1), _LARGEST_BATCH))


#: Options of TreeThink's `predict`, with their values.
_OPTIONS: Mapping[str, Sequence[str]] = {"facts": ("demand", "full"), "bindings": ("first", "all")}


def check_options(name: str, learner: Any, options: Mapping[str, Any]) -> None:
    """Raise an error for options that the learner's `predict` does not take."""
    if isinstance(learner, TreeThink):
        _check_treethink_options(name, options)
        return
    known = _known_options(name, learner)
    unknown = [] if known is None else [each for each in options if each not in known]
    if unknown:
        takes = ", ".join(known or ()) or "no options"
        raise SettingError(f"{name}'s predict takes {takes}, got {', '.join(unknown)}")


def _check_treethink_options(name: str, options: Mapping[str, Any]) -> None:
    accepted = {each: " or ".join(map(repr, values)) for each, values in _OPTIONS.items()}
    for each, value in options.items():
        if each not in _OPTIONS:
            takes = " and ".join(f"{known} ({values})" for known, values in accepted.items())
            raise SettingError(f"{name}'s predict takes {takes}, got {each}")
        if value not in _OPTIONS[each]:
            raise SettingError(f"{each} must be {accepted[each]}, got {shown(value)}")


def _known_options(name: str, learner: Any) -> list[str] | None:
    """Return the parameters of `predict` beside state and action; None if they are not known."""
    from treethink.baselines import LEARNERS

    if type(learner) is LEARNERS.get(name):
        return []
    try:
        _, _, *others = inspect.signature(learner.predict).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_KEYWORD for each in others):
        return None
    return [each.name for each in others if each.kind is not each.VAR_POSITIONAL]


class TransferProbe:
    """Measures the error in another world, over a fixed stream, while a learner learns."""

    def __init__(self, run: Run):
        assert run.transfer is not None
        self._run, self._transfer = run, run.transfer
        self.world: World = make(run.transfer.world, **run.transfer.options)
        self._truths: list[Truth] = [self.world.truth(*each[:3]) for each in self._stream()]

    def is_due(self, recording: Recording) -> bool:
        """Whether the window that ends now has passed a multiple of `every`."""
        before, every = recording.observed - recording.open_steps, self._transfer.every
        return recording.observed // every > before // every

    def measure(self, learner: Any) -> tuple[float, float]:
        """Return the mean error, and the mean time of a prediction in microseconds.

        The stream is played anew each time, so that no state carries cached work of an earlier
        prediction.
        """
        predict, pause = predictor(learner, self._run), GcPause()
        errors, nanoseconds = 0.0, 0
        with pause:
            for (before, action, *_), truth in zip(self._stream(), self._truths, strict=True):
                pause.begin()
                start = perf_counter_ns()
                prediction = predict(before, action)
                prediction.mode()
                nanoseconds += perf_counter_ns() - start
                pause.end()
                errors += error(prediction, truth)
        steps = len(self._truths)
        return errors / steps, nanoseconds / steps / 1000

    def _stream(self) -> Iterator[AnyTransition]:
        seed = HELD_OUT + self._run.seed
        return transitions(self.world, self._transfer.steps, seed, self._run.episode)


class GcPause:
    """Pauses the garbage collector between `begin` and `end`, if it is enabled."""

    def __init__(self) -> None:
        collecting = gc.isenabled()
        self.begin: Callable[[], None] = gc.disable if collecting else _do_nothing
        self.end: Callable[[], None] = gc.enable if collecting else _do_nothing

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self.end()


def _do_nothing() -> None:
    pass
