"""Perform one run: predict, score, then observe, step by step, and record what happens.

    Run -> world, learner -> [ perform ] -> entry, errors, windows, episodes

Seeds decide everything but times (and the bytes that a loaded learner holds): the same run gives
the same record in any process, in any order, and however often it was interrupted. Only `predict`
(with `mode`) and `observe` are timed, with the garbage collector paused.
"""

from __future__ import annotations

import inspect
import math
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from os import PathLike
from time import perf_counter_ns
from typing import Any, NoReturn

from treethink.errors import ModelFileError, RecordsError, ResourceError
from treethink.evaluation import Examination, examine
from treethink.metrics import error
from treethink.repro.runner import records
from treethink.repro.runner.checkpoint import Checkpoint
from treethink.repro.runner.convergence import counted
from treethink.repro.runner.episodes import EpisodePlayer, summary
from treethink.repro.runner.machine import commit
from treethink.repro.runner.measurements import Recording
from treethink.repro.runner.probes import GcPause, TransferProbe, predictor, timed_predictions
from treethink.repro.runner.scores import score
from treethink.repro.runner.spec import HELD_OUT, Run
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World, make

#: Called now and then with (steps observed, recent error, other activity if any); if it returns
#: False, the run leaves a checkpoint and stops.
Tell = Callable[[int, float, str], bool]
Warn = Callable[[str], None]

_SAVE_EVERY, _TELL_EVERY = 30.0, 0.2  # seconds
# The largest share of the time that saving may take.
_SAVING = 0.05
_MOST_EXAMINED_IN_TRANSFER = 500
_SECOND = 1_000_000_000


class _Interrupted(Exception):  # noqa: N818  # nothing went wrong
    """The run was told to stop."""


class _LimitReached(Exception):  # noqa: N818  # it is recorded, and no error
    """The run reached a limit of time or memory."""


def perform(
    run: Run,
    folder: str | PathLike[str],
    *,
    tell: Tell | None = None,
    warn: Warn | None = None,
    save_every: float = _SAVE_EVERY,
    tell_every: float = _TELL_EVERY,
) -> records.Entry | None:
    """Perform a run, from its last checkpoint if it left one, and write its record.

    Returns its entry; None if `tell` stopped it, which leaves a checkpoint. Whatever goes wrong in
    a world or a learner, or with the files, is in the entry, with the status "failed".
    """
    path = records.make_folder(folder)
    checkpoint = Checkpoint(path / "runs", run.key)
    performance = _Performance(run, checkpoint, tell, warn or _warn, save_every, tell_every)
    try:
        result = {"status": "finished", **performance.complete()}
    except _Interrupted:
        return None
    except Exception as failure:
        observed = performance.recording.observed
        result = _failed(failure, f"after step {observed:,}: " if observed else "")
    entry = records.entry(run, **result, **performance.so_far())
    try:
        records.write_run(path, entry, performance.recording)
    except Exception as failure:  # a full disk, say: the checkpoint stays, and other runs continue
        entry |= _failed(failure, "its records cannot be written: ")
        with suppress(OSError, RecordsError):
            records.write_run(path, entry, None)
        return entry
    with suppress(OSError):
        checkpoint.remove()
    return entry


def make_learner_for(run: Run, world: World) -> Any:
    """Return a new learner with the settings of a run.

    A learner that takes a `seed`, for a network's first weights say, gets that of the run unless
    the settings name one. The settings of the run stay as they are, and so does its key.
    """
    from treethink.baselines import make_learner

    seed = {"seed": run.seed} if _takes_seed(run.learner) else {}
    return make_learner(run.learner, world, **{**seed, **run.settings})


def _takes_seed(name: str) -> bool:
    from treethink.baselines import LEARNERS, load_learner_class

    learner = load_learner_class(name) if ":" in name else LEARNERS.get(name)
    return learner is not None and "seed" in inspect.signature(learner).parameters


def _failed(failure: Exception, where: str) -> dict[str, Any]:
    return {
        "status": "failed",
        "message": f"{where}{type(failure).__name__}: {failure}",
        "traceback": traceback.format_exc(),
    }


def _go_on() -> None:
    """Report nothing: what is scored after a limit is not interrupted."""


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=3)


class _Performance:
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
        self._activity = ""
        self._player = EpisodePlayer(run)
        self._next_report = 0.0
        self._next_save = perf_counter_ns() + self._save_every

    def complete(self) -> dict[str, Any]:
        """Perform the rest of the run. Returns the scores of planning and of the examination.

        A run that reaches a limit is only scored, if it is to be.
        """
        self.world: World = make(self.run.world, **self.run.options)
        self.learner = self._resume_or_make()
        self._transfer = TransferProbe(self.run) if self.run.transfer else None
        try:
            self._learn()
        except _LimitReached as stop:
            return {"status": "stopped", "message": str(stop), **self._scored(_go_on)}
        self._play()
        result: dict[str, Any] = {}
        if self.run.plans:
            rows = {each.label: self.recording.played(each.label) for each in self.run.plans}
            result["planned"] = {label: summary(played) for label, played in rows.items()}
        if steps := self.run.examine:
            self._activity = "being examined"
            result["examined"] = self._examine(self.world, steps)
            if self._transfer is not None:
                fewer = min(steps, _MOST_EXAMINED_IN_TRANSFER)
                result["examined_transfer"] = self._examine(self._transfer.world, fewer)
        return {**result, **self._scored(self._report_if_due)}

    def _scored(self, report: Callable[[], None]) -> dict[str, Any]:
        """Return the scores of the most likely states, if the run has any."""
        if not self.run.score:
            return {}
        self._activity = "being scored"
        elsewhere = None if self._transfer is None else self._transfer.world
        predict = predictor(self.learner, self.run)
        return {"scored": score(predict, self.world, elsewhere, self.run, report)}

    def so_far(self) -> dict[str, Any]:
        """Return what its entry says of how far it came."""
        return {
            "observed": self.recording.observed,
            "last_error": self.recording.last_error,
            "seconds": round(self.recording.nanoseconds / _SECOND, 3),
            "commit": commit(),
        }

    def _resume_or_make(self) -> Any:
        learner = make_learner_for(self.run, self.world)
        try:
            saved = self._checkpoint.load(type(learner))
        except (ModelFileError, RecordsError) as damaged:
            self._warn(f"{self.run.key} starts anew: {damaged}")
            self._checkpoint.remove()
            saved = None
        if saved is None:
            self._checkpoint.check_learner(learner)
            return learner
        learner, self.recording = saved
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
        observe, truth, pause = self.learner.observe, self.world.truth, GcPause()
        seconds = self.run.limits.seconds
        most = math.inf if seconds is None else seconds * _SECOND
        self._play()  # before the first step, or what an interruption left of it
        next_played = self._player.next_due(recording.observed)
        with pause:
            stream = timed_predictions(self.learner, self.run, self._stream(), pause)
            for (before, action, after, *_), prediction, predicted in stream:
                start = clock()
                wrong_by = error(prediction, truth(before, action, after))
                pause.begin()
                scored = clock()
                observe(before, action, after)
                end = clock()
                pause.end()
                whole = predicted + end - start
                if recording.add(wrong_by, predicted, end - scored, whole):
                    self._close_window()
                if seconds is not None and recording.nanoseconds > most:
                    self._stop(f"it took more than {counted(seconds, 'second')}")
                if recording.observed == next_played:
                    self._play()
                    next_played = self._player.next_due(recording.observed)
                if end >= self._next_report:
                    self._report()

    def _stream(self) -> Iterator[AnyTransition]:
        """Return the rest of the stream, after the transitions that were observed before."""
        run = self.run
        stream = transitions(self.world, run.steps, run.seed, run.episode)
        for _ in islice(stream, self.recording.observed):
            if perf_counter_ns() >= self._next_report:
                self._report(save=False)
        return stream

    def _stop(self, why: str) -> NoReturn:
        if self.recording.open_steps:
            self._close_window(limited=False)
        raise _LimitReached(f"after step {self.recording.observed:,}: {why}")

    def _close_window(self, limited: bool = True) -> None:
        memory = self.learner.memory_use() if hasattr(self.learner, "memory_use") else {}
        measures = self.learner.measures() if hasattr(self.learner, "measures") else {}
        transfer = None
        if self._transfer is not None and self._transfer.is_due(self.recording):
            start = perf_counter_ns()
            transfer = self._transfer.measure(self.learner)
            self.recording.nanoseconds += perf_counter_ns() - start
        self.recording.close(memory, transfer, measures)
        most = self.run.limits.megabytes
        used = memory.get("bytes", 0)
        if limited and most is not None and used > 1_000_000 * most:
            self._stop(f"it used more than {counted(most, 'megabyte')}: {used:,} bytes")

    # ----------------------------------------------------- progress, checkpoints, interrupts

    def _report(self, save: bool = True) -> None:
        """Report progress; save a checkpoint when it is time to, or when told to stop."""
        recording = self.recording
        go_on = self._tell is None or self._tell(
            recording.observed, recording.recent(), self._activity
        )
        start = perf_counter_ns()
        if save and (not go_on or start >= self._next_save):
            self._checkpoint.save(self.learner, recording)
            took = perf_counter_ns() - start
            self._next_save = start + took + max(self._save_every, took / _SAVING)
        if not go_on:
            raise _Interrupted
        self._next_report = perf_counter_ns() + self._tell_every

    def _report_if_due(self) -> None:
        if perf_counter_ns() >= self._next_report:
            self._report()

    # ------------------------------------------------------------------------- planning

    def _play(self) -> None:
        """Play all episodes that are due now and were not played before."""
        observed, played = self.recording.observed, self.recording.episodes
        if observed == self.run.steps and self.recording.open_steps:
            return  # the last window is closed first
        left = list(self._player.left(self.recording))
        for number, (plan, episode) in enumerate(left, start=1):
            self._activity = f"planning, {plan.label}: episode {number:,} of {len(left):,}"
            self._report_if_due()
            row = self._player.play(self.learner, plan, episode, self._report_if_due)
            played.append({"observed": observed, **row})
        self._activity = ""

    # ------------------------------------------------------------------------ examining

    def _examine(self, world: World, steps: int) -> dict[str, Any]:
        held_out = transitions(world, steps, HELD_OUT + self.run.seed, self.run.episode)
        learner = _Examinee(predictor(self.learner, self.run))
        return _summary(examine(learner, world, self._reported(held_out)))

    def _reported(self, stream: Iterator[AnyTransition]) -> Iterator[AnyTransition]:
        for transition in stream:
            self._report_if_due()
            yield transition


class _Examinee:
    """What an examination needs of a learner: `predict`, with the options of the run."""

    def __init__(self, predict: Callable[[State, str], Any]):
        self.predict = predict


def _summary(examination: Examination) -> dict[str, Any]:
    kept = ("held_out", "exact", "right_mode", "plausible", "mean_error", "scenes")
    return {
        **{name: getattr(examination, name) for name in kept},
        "wrong_scenes": len(examination.wrong_scenes),
        "learned": examination.learned,
    }
