"""Perform one run: predict, score, then observe, step by step, and record what happens.

    Run -> world, learner -> [ perform ] -> entry, errors, windows, episodes

Seeds decide everything but times (and the bytes that a loaded learner holds): the same run gives
the same record in any process, in any order, and however often it was interrupted. Clocks stand
around `predict` (with `mode`) and around `observe`, and nothing else; the garbage collector rests
while they run.
"""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from os import PathLike
from time import perf_counter_ns
from typing import Any, NoReturn

from treethink.errors import ModelFileError, ResourceError
from treethink.evaluation import Examination, examine
from treethink.metrics import error
from treethink.repro.runner import records
from treethink.repro.runner.checkpoint import Checkpoint
from treethink.repro.runner.convergence import counted
from treethink.repro.runner.episodes import Playing, summary
from treethink.repro.runner.machine import commit
from treethink.repro.runner.make_learner import made
from treethink.repro.runner.measurements import Recording
from treethink.repro.runner.probes import Elsewhere, Rest, answers, asking
from treethink.repro.runner.spec import HELD_OUT, Run
from treethink.state import State
from treethink.stream.random_play import Transition, transitions
from treethink.worlds import World, make

#: Called now and then with (steps observed, recent error, what else is being done, if anything);
#: False means: leave a checkpoint, stop.
Tell = Callable[[int, float, str], bool]
Warn = Callable[[str], None]

_SAVE_EVERY, _TELL_EVERY = 30.0, 0.2  # seconds
# Saving may take this share of the time at most.
_SAVING = 0.05
_MOST_EXAMINED_ELSEWHERE = 500
_SECOND = 1_000_000_000


class _Interrupted(Exception):  # noqa: N818  # nothing went wrong
    """The run was told to stop."""


class _Beyond(Exception):  # noqa: N818  # it is recorded, and no error
    """The run went beyond what it may take."""


def perform(
    run: Run,
    folder: str | PathLike[str],
    *,
    tell: Tell | None = None,
    warn: Warn | None = None,
    save_every: float = _SAVE_EVERY,
    tell_every: float = _TELL_EVERY,
) -> records.Entry | None:
    """Perform a run, from its last checkpoint if it left one, and write what came of it.

    Returns its entry; None if `tell` stopped it, which leaves a checkpoint. Whatever goes wrong in
    a world or a learner, or with the files, is in the entry, with the status "failed".
    """
    path = records.made(folder)
    checkpoint = Checkpoint(path / "runs", run.key)
    course = _Course(run, checkpoint, tell, warn or _warn, save_every, tell_every)
    try:
        told = {"status": "finished", **course.whole()}
    except _Interrupted:
        return None
    except _Beyond as stop:
        told = {"status": "stopped", "message": str(stop)}
    except Exception as failure:
        where = f"after step {course.recording.observed:,}: " if course.recording.observed else ""
        told = _failed(failure, where)
    entry = records.entry(run, **told, **course.so_far())
    try:
        records.write_run(path, entry, course.recording)
    except Exception as failure:  # a full disk, say: the checkpoint stays, and others go on
        entry |= _failed(failure, "its records cannot be written: ")
        with suppress(OSError):
            records.write_run(path, entry, None)
        return entry
    with suppress(OSError):
        checkpoint.remove()
    return entry


def _failed(failure: Exception, where: str) -> dict[str, Any]:
    return {
        "status": "failed",
        "message": f"{where}{type(failure).__name__}: {failure}",
        "traceback": traceback.format_exc(),
    }


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=3)


class _Course:
    """A run that is under way."""

    def __init__(
        self,
        run: Run,
        checkpoint: Checkpoint,
        tell: Tell | None,
        warn: Warn,
        save_every: float,
        tell_every: float,
    ):
        self.run = run
        self.recording = Recording(run.window)
        self._checkpoint = checkpoint
        self._tell, self._warn = tell, warn
        self._save_every, self._tell_every = save_every * _SECOND, tell_every * _SECOND
        self._doing = ""
        self._playing = Playing(run)
        self._next_look = 0.0
        self._next_save = perf_counter_ns() + self._save_every

    def whole(self) -> dict[str, Any]:
        """From where it stands to its end. Returns how it planned, and how it was examined."""
        self.world: World = make(self.run.world, **self.run.options)
        self.learner = self._resumed()
        self._elsewhere = Elsewhere(self.run) if self.run.transfer else None
        self._learn()
        self._play()
        found: dict[str, Any] = {}
        if self.run.plans:
            rows = {each.label: self.recording.played(each.label) for each in self.run.plans}
            found["planned"] = {label: summary(played) for label, played in rows.items()}
        if steps := self.run.examine:
            self._doing = "being examined"
            found["examined"] = self._examined(self.world, steps)
            if self._elsewhere is not None:
                there, fewer = self._elsewhere.world, min(steps, _MOST_EXAMINED_ELSEWHERE)
                found["examined_transfer"] = self._examined(there, fewer)
        return found

    def so_far(self) -> dict[str, Any]:
        """What its entry says of how far it came."""
        return {
            "observed": self.recording.observed,
            "last_error": self.recording.last_error,
            "seconds": round(self.recording.nanoseconds / _SECOND, 3),
            "commit": commit(),
        }

    def _resumed(self) -> Any:
        learner = made(self.run, self.world)
        try:
            found = self._checkpoint.load(type(learner))
        except ModelFileError as damaged:
            self._warn(f"{self.run.key} starts anew: {damaged}")
            self._checkpoint.remove()
            found = None
        if found is None:
            self._checkpoint.try_learner(learner)
            return learner
        learner, self.recording = found
        return learner

    # -------------------------------------------------------------------------- learning

    def _learn(self) -> None:
        try:
            self._observe_all()
        except ResourceError as beyond:
            self._stop(str(beyond))
        if self.recording.open_steps:
            self._close_window()

    def _observe_all(self) -> None:
        recording, clock = self.recording, perf_counter_ns
        observe, truth, rest = self.learner.observe, self.world.truth, Rest()
        seconds = self.run.limits.seconds
        most = math.inf if seconds is None else seconds * _SECOND
        self._play()  # before the first step, or what an interruption left of it
        next_played = self._playing.next_due(recording.observed)
        with rest:
            stream = answers(self.learner, self.run, self._stream(), rest)
            for (before, action, after), prediction, predicted in stream:
                start = clock()
                wrong_by = error(prediction, truth(before, action, after))
                rest.begin()
                scored = clock()
                observe(before, action, after)
                end = clock()
                rest.end()
                whole = predicted + end - start
                if recording.add(wrong_by, predicted, end - scored, whole):
                    self._close_window()
                if seconds is not None and recording.nanoseconds > most:
                    self._stop(f"it took more than {counted(seconds, 'second')}")
                if recording.observed == next_played:
                    self._play()
                    next_played = self._playing.next_due(recording.observed)
                if end >= self._next_look:
                    self._look()

    def _stream(self) -> Iterator[Transition]:
        """What is left of the stream. What was observed before is played again, unasked."""
        run = self.run
        stream = transitions(self.world, run.steps, run.seed, run.episode)
        for _ in islice(stream, self.recording.observed):
            if perf_counter_ns() >= self._next_look:
                self._look(save=False)
        return stream

    def _stop(self, why: str) -> NoReturn:
        if self.recording.open_steps:
            self._close_window(limited=False)
        raise _Beyond(f"after step {self.recording.observed:,}: {why}")

    def _close_window(self, limited: bool = True) -> None:
        memory = self.learner.memory_use() if hasattr(self.learner, "memory_use") else {}
        measures = self.learner.measures() if hasattr(self.learner, "measures") else {}
        transfer = None
        if self._elsewhere is not None and self._elsewhere.is_due(self.recording):
            start = perf_counter_ns()
            transfer = self._elsewhere.ask(self.learner)
            self.recording.nanoseconds += perf_counter_ns() - start
        self.recording.close(memory, transfer, measures)
        most = self.run.limits.megabytes
        used = memory.get("bytes", 0)
        if limited and most is not None and used > 1_000_000 * most:
            self._stop(f"it used more than {counted(most, 'megabyte')}: {used:,} bytes")

    # -------------------------------------------------------- what happens now and then

    def _look(self, save: bool = True) -> None:
        """Say how far it is, hear whether to stop, leave a checkpoint when it is time to."""
        recording = self.recording
        go_on = self._tell is None or self._tell(
            recording.observed, recording.recent(), self._doing
        )
        start = perf_counter_ns()
        if save and (not go_on or start >= self._next_save):
            self._checkpoint.save(self.learner, recording)
            took = perf_counter_ns() - start
            self._next_save = start + took + max(self._save_every, took / _SAVING)
        if not go_on:
            raise _Interrupted
        self._next_look = perf_counter_ns() + self._tell_every

    # ------------------------------------------------------------------------- planning

    def _play(self) -> None:
        """All episodes that are due now and were not played before."""
        observed, played = self.recording.observed, self.recording.episodes
        if observed == self.run.steps and self.recording.open_steps:
            return  # the last window is closed first
        left = list(self._playing.left(self.recording))
        for number, (plan, episode) in enumerate(left, start=1):
            self._doing = f"planning, {plan.label}: episode {number:,} of {len(left):,}"
            self._heed()
            row = self._playing.play(self.learner, plan, episode, self._heed)
            played.append({"observed": observed, **row})
        self._doing = ""

    def _heed(self) -> None:
        if perf_counter_ns() >= self._next_look:
            self._look()

    # ------------------------------------------------------------------------ examining

    def _examined(self, world: World, steps: int) -> dict[str, Any]:
        held_out = transitions(world, steps, HELD_OUT + self.run.seed, self.run.episode)
        found = examine(_Asked(asking(self.learner, self.run)), world, self._heeding(held_out))
        return _summary(found)

    def _heeding(self, stream: Iterator[Transition]) -> Iterator[Transition]:
        for transition in stream:
            self._heed()
            yield transition


class _Asked:
    """What an examination asks."""

    def __init__(self, predict: Callable[[State, str], Any]):
        self.predict = predict


def _summary(found: Examination) -> dict[str, Any]:
    kept = ("held_out", "exact", "right_mode", "plausible", "mean_error", "scenes")
    return {
        **{name: getattr(found, name) for name in kept},
        "wrong_scenes": len(found.wrong_scenes),
        "learned": found.learned,
    }
