"""Streams of many worlds at once, played in several processes.

    worlds -> processes -> [ parallel ] -> (which, (before, action, after)), ...

Each stream is the same as that of `transitions`, and their order is fixed: fifty steps of the first
stream, fifty of the second, and so on in turn. So what is learned does not depend on the number of
processes. A world that is not `pure`, which has a state of its own, is copied for each stream, even
without processes.

A process sends the start of each level, and then only the changes of each step, which takes a
seventh of the work of sending whole states. The resulting states share what did not change, as
those of a serial stream do, which makes learning faster.
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
from treethink.stream.random_play import check_world_type, transitions
from treethink.stream.transition import AnyTransition, Transition
from treethink.worlds import World

#: The number of steps of a stream before the next one has its turn.
TURN = 50
# Seconds that a process may take to end after its pipe was closed.
_PATIENCE = 2.0

#: A step as sent between processes: the start of a level as plain data, or None; the action; the
#: changes; the reward and whether the episode ended, if the world states them.
Step = tuple[dict[str, Any] | None, str, dict[int, dict[str, Any]], tuple[Any, ...]]


class Job(NamedTuple):
    """A stream to play."""

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
) -> Iterator[tuple[int, AnyTransition]]:
    """Play `steps` steps in each of the worlds, with the seed of the same place.

    Yields pairs (index in `worlds`, transition). `processes` is the number of processes: None, one
    for each core that this process may use; 0, none. They end when the iterator ends, is closed or
    is garbage-collected. As always with processes in Python, a script that calls this must keep its
    own code under ``if __name__ == "__main__":``.

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
    """Return the number of cores that this process may use."""
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


def _take_turns(streams: Iterator[Iterator[AnyTransition]]) -> Iterator[tuple[int, AnyTransition]]:
    playing = list(streams)
    while True:
        for which, stream in enumerate(playing):
            turn = list(islice(stream, TURN))
            if not turn:
                return
            for transition in turn:
                yield which, transition


def _play_here(i: int, job: Job) -> Iterator[AnyTransition]:
    """Play a stream in this process; an impure world is copied, since it has a state."""
    own: Job = job if job.world.pure else pickle.loads(_pickle_job(i, job))
    return transitions(*own)


def _pickle_job(i: int, job: Job) -> bytes:
    """Return a pickled job; raise an error if its world cannot be pickled."""
    try:
        return pickle.dumps(job)
    except Exception as error:  # pickling runs code of the world
        raise WrongTypeError(
            f"worlds[{i}], {shown(job.world)}, cannot be copied by pickling: {error}"
        ) from error


# ---------------------------------------------------------------- in a worker process


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error of a worker process."""

    where: str
    error: bytes | None
    trace: str

    def raise_here(self) -> None:
        """Raise the original error if it can be pickled, and else a `StreamError`."""
        error: Exception = StreamError(f"{self.where}: {self.trace.strip().splitlines()[-1]}")
        if self.error is not None:
            error = pickle.loads(self.error)
        error.add_note(f"({self.where}, in a process of its own)\n{self.trace}")
        raise error


def _work(pipe: Connection, pickled: list[bytes]) -> None:
    """Play the jobs in turn until all are done or the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    where = "a stream"
    try:
        jobs: list[Job] = [pickle.loads(each) for each in pickled]
        streams = [_encode(job) for job in jobs]
        played = 0
        while played < jobs[0].steps:
            for job, stream in zip(jobs, streams, strict=True):
                where = f"{job.world!r} with seed {job.seed}, steps from {played + 1}"
                pipe.send(list(islice(stream, TURN)))
            played += TURN
    except BrokenPipeError:
        pass  # the parent has closed the pipe
    except Exception as error:
        _report(pipe, _Failure(where, _pickle_error(error), traceback.format_exc()))


def _encode(job: Job) -> Iterator[Step]:
    """Yield the steps of a stream as they are sent."""
    state: State | None = None
    for before, action, after, *rest in transitions(*job):
        start = None if before is state else before.to_dict()
        yield start, action, before.changes_to(after), tuple(rest)
        state = after


def _pickle_error(error: Exception) -> bytes | None:
    """Return the error as bytes; None if it cannot be pickled."""
    try:
        content = pickle.dumps(error)
        return content if type(pickle.loads(content)) is type(error) else None
    except Exception:  # pickling runs code of the error
        return None


def _report(pipe: Connection, failure: _Failure) -> None:
    with suppress(BrokenPipeError):
        pipe.send(failure)


# ----------------------------------------------------------------------- in this process


def _play_with(jobs: Sequence[Job], count: int) -> Iterator[tuple[int, AnyTransition]]:
    """Play job i in process i modulo `count`."""
    pickled = [_pickle_job(i, job) for i, job in enumerate(jobs)]
    workers: list[_Worker] = []
    try:
        with interrupts_blocked():
            for k in range(count):
                workers.append(_Worker(pickled[k::count]))
        streams = (_decode(job, workers[i % count]) for i, job in enumerate(jobs))
        yield from _take_turns(streams)
    finally:
        for worker in workers:
            worker.close_pipe()
        deadline = monotonic() + _PATIENCE
        for worker in workers:
            worker.end(deadline)


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes that are started here, which would each print a traceback.

    This process gets it afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # else it starts with the first process, and unblocks signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker:
    """A process, and the pipe through which it sends its turns.

    A pipe holds about ten turns; then the process waits. So it is never far ahead.
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
        """Return the next turn of one of its jobs."""
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

    def close_pipe(self) -> None:
        """Close the pipe: the process then ends with its next turn."""
        self._pipe.close()

    def end(self, deadline: float) -> None:
        """Wait for the process until the deadline; then kill it."""
        self._process.join(max(0.0, deadline - monotonic()))
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _decode(job: Job, worker: _Worker) -> Iterator[AnyTransition]:
    """Yield the transitions of a stream from the steps that a worker sends."""
    schema, left = job.world.schema, job.steps
    after: State | None = None
    while left > 0:
        for start, action, changes, rest in worker.receive(job):
            before = after if start is None else State.from_dict(schema, start)
            assert before is not None
            after = before.replace_many(changes)
            left -= 1
            yield Transition(before, action, after, *rest) if rest else (before, action, after)
