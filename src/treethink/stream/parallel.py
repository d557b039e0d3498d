"""Streams of many worlds at once, played in processes of their own.

    worlds -> processes -> [ parallel ] -> (which, (before, action, after)), ...

Each stream is the very one that `transitions` gives, and their order is fixed as well: fifty
steps of the first, fifty of the second, and so on in turn. So nothing that is learned
depends on how many processes there were. A world that has a state of its own, which is one
that is not `pure`, is played as a copy for each stream, also without processes.

A process sends the start of each level, then only what every step changed: a seventh of the
work that whole states would be. The states that come out share what did not change, as
those of a serial stream do, which learners profit from.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from time import monotonic
from typing import Any, NamedTuple

from treethink.errors import SettingError, StreamError, WrongTypeError, shown, whole_number
from treethink.state import State
from treethink.stream.random_play import Transition, check_world_type, transitions
from treethink.worlds import World

#: Steps that a stream gives before it is the next one's turn.
TURN = 50
# Seconds that a process may take to notice that nobody listens to it any more.
_PATIENCE = 2.0

#: What crosses between processes for each step: the start of a level as plain data, or None;
#: the action; what it changed.
Step = tuple[dict[str, Any] | None, str, dict[int, dict[str, Any]]]


class Job(NamedTuple):
    """A stream to be played."""

    world: World
    steps: int
    seed: int
    episode: int


def parallel_transitions(
    worlds: Sequence[World],
    steps: int,
    seeds: Sequence[int],
    episode: int = 50,
    processes: int | None = None,
) -> Iterator[tuple[int, Transition]]:
    """Play `steps` steps in each of the worlds, with the seed of the same place.

    Yields pairs (position in `worlds`, transition). `processes` says how many are started: None,
    one for each core that this process may use; 0, none, everything is played here; and where
    there is nothing to play, none. They end when the iterator does,
    is closed or is forgotten. As always with processes of Python, a script that calls this
    must keep its own work under ``if __name__ == "__main__":``.

    >>> from treethink.worlds import make
    >>> worlds = [make("walls"), make("maze")]
    >>> played = list(parallel_transitions(worlds, steps=60, seeds=[0, 1], processes=0))
    >>> [which for which, _ in played] == [0] * 50 + [1] * 50 + [0] * 10 + [1] * 10
    True
    """
    jobs = _jobs(worlds, steps, seeds, episode)
    processes = whole_number("processes", cores() if processes is None else processes)
    if not jobs or jobs[0].steps == 0:
        return iter(())
    if processes == 0:
        return _take_turns(_play_here(i, job) for i, job in enumerate(jobs))
    return _play_with(jobs, min(processes, len(jobs)))


def cores() -> int:
    """How many cores this process may use, as far as the system and Python tell."""
    if hasattr(os, "process_cpu_count"):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _jobs(worlds: object, steps: int, seeds: object, episode: int) -> list[Job]:
    for name, each in (("worlds", worlds), ("seeds", seeds)):
        if not isinstance(each, Sequence) or isinstance(each, str):
            raise WrongTypeError(f"{name} must be a list, got {shown(each)}")
    assert isinstance(worlds, Sequence)
    assert isinstance(seeds, Sequence)
    if len(worlds) != len(seeds):
        raise SettingError(f"every world needs a seed: {len(worlds)} worlds, {len(seeds)} seeds")
    steps, episode = whole_number("steps", steps, 0), whole_number("episode", episode, 1)
    jobs = []
    for i, (world, seed) in enumerate(zip(worlds, seeds, strict=True)):
        check_world_type(world, f"worlds[{i}]")
        jobs.append(Job(world, steps, whole_number(f"seeds[{i}]", seed, 0), episode))
    return jobs


def _take_turns(streams: Iterator[Iterator[Transition]]) -> Iterator[tuple[int, Transition]]:
    playing = list(streams)
    while True:
        for which, stream in enumerate(playing):
            turn = list(islice(stream, TURN))
            if not turn:
                return
            for transition in turn:
                yield which, transition


def _play_here(i: int, job: Job) -> Iterator[Transition]:
    """A world that stands somewhere is left there, and is not shared by two streams."""
    copied: Job = job if job.world.pure else pickle.loads(_copied(i, job))
    return transitions(*copied)


def _copied(i: int, job: Job) -> bytes:
    """A job that can be played elsewhere."""
    try:
        return pickle.dumps(job)
    except Exception as error:  # pickling runs whatever code a world brings along
        raise WrongTypeError(
            f"worlds[{i}], {shown(job.world)}, cannot be copied by pickling: {error}"
        ) from error


# -------------------------------------------------------------- in a process of its own


@dataclass(frozen=True, slots=True)
class _Failure:
    """What went wrong in another process."""

    where: str
    error: bytes | None
    trace: str

    def raise_here(self) -> None:
        """Raise the very error if it can be brought here, or else one that tells of it."""
        error: Exception = StreamError(f"{self.where}: {self.trace.strip().splitlines()[-1]}")
        if self.error is not None:
            error = pickle.loads(self.error)
        error.add_note(f"({self.where}, in a process of its own)\n{self.trace}")
        raise error


def _work(pipe: Connection, pickled: list[bytes]) -> None:
    """Play the jobs in turn until all are done or nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    where = "a stream"
    try:
        jobs: list[Job] = [pickle.loads(each) for each in pickled]
        streams = [_encoded(job) for job in jobs]
        played = 0
        while played < jobs[0].steps:
            for job, stream in zip(jobs, streams, strict=True):
                where = f"{job.world!r} with seed {job.seed}, steps from {played + 1}"
                pipe.send(list(islice(stream, TURN)))
            played += TURN
    except BrokenPipeError:
        pass  # the parent has enough
    except Exception as error:
        _report(pipe, _Failure(where, _pickled(error), traceback.format_exc()))


def _encoded(job: Job) -> Iterator[Step]:
    state: State | None = None
    for before, action, after in transitions(*job):
        start = None if before is state else before.to_dict()
        yield start, action, before.changes_to(after)
        state = after


def _pickled(error: Exception) -> bytes | None:
    """The error as bytes, if it survives that."""
    try:
        content = pickle.dumps(error)
        return content if type(pickle.loads(content)) is type(error) else None
    except Exception:  # pickling runs whatever code an error brings along
        return None


def _report(pipe: Connection, failure: _Failure) -> None:
    with suppress(BrokenPipeError):
        pipe.send(failure)


# ----------------------------------------------------------------------- in this process


def _play_with(jobs: Sequence[Job], count: int) -> Iterator[tuple[int, Transition]]:
    """Job i is played by process i modulo `count`, in the order in which it is asked for."""
    pickled = [_copied(i, job) for i, job in enumerate(jobs)]
    workers: list[_Worker] = []
    try:
        with unheard_interrupts():
            for k in range(count):
                workers.append(_Worker(pickled[k::count]))
        streams = (_decoded(job, workers[i % count]) for i, job in enumerate(jobs))
        yield from _take_turns(streams)
    finally:
        for worker in workers:
            worker.hang_up()
        deadline = monotonic() + _PATIENCE
        for worker in workers:
            worker.end(deadline)


@contextmanager
def unheard_interrupts() -> Iterator[None]:
    """Processes started in here do not hear Ctrl-C: while they start, they would answer with
    a trace each. This one hears it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would unblock signals when the first process starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """A process, and the pipe that it sends turns through.

    A pipe holds some ten turns; then the process waits. So it is never far ahead.
    """

    def __init__(self, pickled: list[bytes]):
        context = multiprocessing.get_context("spawn")
        self._pipe, end = context.Pipe(duplex=False)
        self._process: SpawnProcess = context.Process(
            target=_work, args=(end, pickled), daemon=True, name="treethink stream"
        )
        try:
            self._process.start()
        finally:
            end.close()  # so that the pipe ends when the process does

    def receive(self, job: Job) -> list[Step]:
        """The next turn of one of its jobs."""
        try:
            message = self._pipe.recv()
        except EOFError:
            self._process.join(_PATIENCE)
            raise StreamError(
                f"the process that played {job.world!r} with seed {job.seed} ended by itself,"
                f" with exit code {self._process.exitcode}. If its own message is about"
                ' bootstrapping, the script lacks `if __name__ == "__main__":`'
            ) from None
        if isinstance(message, _Failure):
            message.raise_here()
        turn: list[Step] = message
        return turn

    def hang_up(self) -> None:
        """Stop listening: the process then ends with its next turn."""
        self._pipe.close()

    def end(self, deadline: float) -> None:
        """Wait for the process until then; after that, end it."""
        self._process.join(max(0.0, deadline - monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _decoded(job: Job, worker: _Worker) -> Iterator[Transition]:
    schema, left = job.world.schema, job.steps
    after: State | None = None
    while left > 0:
        for start, action, changes in worker.receive(job):
            before = after if start is None else State.from_dict(schema, start)
            assert before is not None
            after = before.replace_many(changes)
            left -= 1
            yield before, action, after
