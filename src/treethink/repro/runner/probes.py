"""How a learner is asked in a run: in the way that the run says, with the garbage collector at
rest while a clock runs, and about another world now and then."""

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
from treethink.stream.random_play import Transition, transitions
from treethink.worlds import World, make

#: More transitions than this are not held at a time.
_MOST_AT_ONCE = 1_000


def asking(learner: Any, run: Run) -> Callable[[State, str], Any]:
    """Its `predict`, asked in the way that the run says."""
    return partial(learner.predict, **run.predict) if run.predict else learner.predict


def answers(
    learner: Any, run: Run, stream: Iterator[Transition], rest: Rest
) -> Iterator[tuple[Transition, Any, int]]:
    """Each transition with what the learner says of it before, and the time in nanoseconds.

    It is asked about one transition after the other, each once those before were observed. A
    learner whose answers stay the same for a while, such as a network between two epochs, says for
    how many observations (`steady_for`); then it is asked about all of them at once.
    """
    predict = asking(learner, run)
    while block := list(islice(stream, _at_once(learner))):
        rest.begin()
        start = perf_counter_ns()
        if len(block) == 1:
            found = [predict(block[0][0], block[0][1])]
        else:
            found = learner.predict_many([each[:2] for each in block], **run.predict)
        for prediction in found:
            prediction.mode()
        took = (perf_counter_ns() - start) // len(block)
        rest.end()
        for transition, prediction in zip(block, found, strict=True):
            yield transition, prediction, took


def _at_once(learner: Any) -> int:
    return max(1, min(getattr(learner, "steady_for", 1), _MOST_AT_ONCE))


#: How TreeThink's predict can be told to evaluate its trees.
_WAYS: Mapping[str, Sequence[str]] = {"facts": ("demand", "full"), "bindings": ("first", "all")}


def check_options(name: str, learner: Any, options: Mapping[str, Any]) -> None:
    """Refuse what a learner's `predict` does not take."""
    if isinstance(learner, TreeThink):
        _check_ways(name, options)
        return
    known = _options(name, learner)
    unknown = [] if known is None else [each for each in options if each not in known]
    if unknown:
        takes = ", ".join(known or ()) or "no options"
        raise SettingError(f"{name}'s predict takes {takes}, got {', '.join(unknown)}")


def _check_ways(name: str, options: Mapping[str, Any]) -> None:
    accepted = {each: " or ".join(map(repr, values)) for each, values in _WAYS.items()}
    for each, value in options.items():
        if each not in _WAYS:
            takes = " and ".join(f"{known} ({values})" for known, values in accepted.items())
            raise SettingError(f"{name}'s predict takes {takes}, got {each}")
        if value not in _WAYS[each]:
            raise SettingError(f"{each} must be {accepted[each]}, got {shown(value)}")


def _options(name: str, learner: Any) -> list[str] | None:
    """What its `predict` takes beside a state and an action; None: that cannot be told."""
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


class Elsewhere:
    """Another world that a learner is asked about, over a fixed stream, while it learns here."""

    def __init__(self, run: Run):
        assert run.transfer is not None
        self._run, self._transfer = run, run.transfer
        self.world: World = make(run.transfer.world, **run.transfer.options)
        self._truths: list[Truth] = [self.world.truth(*each) for each in self._stream()]

    def is_due(self, recording: Recording) -> bool:
        """Whether the window that ends now has passed a multiple of `every`."""
        before, every = recording.observed - recording.open_steps, self._transfer.every
        return recording.observed // every > before // every

    def ask(self, learner: Any) -> tuple[float, float]:
        """Its mean error, and the mean time of a prediction in microseconds.

        The stream is played anew, so that states come to the learner as they do in play, and no
        work is found done that an earlier prediction did.
        """
        predict, rest = asking(learner, self._run), Rest()
        errors, nanoseconds = 0.0, 0
        with rest:
            for (before, action, _), truth in zip(self._stream(), self._truths, strict=True):
                rest.begin()
                start = perf_counter_ns()
                prediction = predict(before, action)
                prediction.mode()
                nanoseconds += perf_counter_ns() - start
                rest.end()
                errors += error(prediction, truth)
        steps = len(self._truths)
        return errors / steps, nanoseconds / steps / 1000

    def _stream(self) -> Iterator[Transition]:
        seed = HELD_OUT + self._run.seed
        return transitions(self.world, self._transfer.steps, seed, self._run.episode)


class Rest:
    """Keeps the garbage collector from running while a clock does, if it runs at all."""

    def __init__(self) -> None:
        collecting = gc.isenabled()
        self.begin: Callable[[], None] = gc.disable if collecting else _nothing
        self.end: Callable[[], None] = gc.enable if collecting else _nothing

    def __enter__(self) -> None:
        pass

    def __exit__(self, *raised: object) -> None:
        self.end()


def _nothing() -> None:
    pass
