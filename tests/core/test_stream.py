"""Streams: a seed determines the transitions, in this process or in others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treethink.errors import (
    SettingError,
    StateError,
    StreamError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.model import TreeThink
from treethink.state import Object, Schema, State
from treethink.stream import parallel
from treethink.stream.parallel import TURN, parallel_transitions
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition, Transition, as_transition
from treethink.worlds import World, make
from treethink.worlds.scene import Distribution
from treethink.worlds.walls import Walls

pytestmark = pytest.mark.slow

# --------------------------------------------------------------------------- here


def test_a_stream_is_determined_by_its_seed() -> None:
    """The slow reference: golden files and published numbers depend on this order of draws."""
    world, rng = make("maze"), np.random.default_rng(9)
    expected: list[AnyTransition] = []
    for _ in range(3):
        state = world.reset(int(rng.integers(2**63)))
        for _ in range(20):
            action = world.actions[rng.integers(len(world.actions))]
            after = world.step(state, action, rng)
            expected.append((state, action, after))
            state = after
    assert list(transitions(world, steps=60, seed=9, episode=20)) == expected


def test_a_stream_starts_a_new_level_every_episode() -> None:
    stream = list(transitions(make("walls"), steps=25, seed=0, episode=10))
    starts = [i for i in range(1, 25) if stream[i][0] != stream[i - 1][2]]
    assert len(stream) == 25 and starts == [10, 20]


class Hops(World):
    """A counter that ends an episode when it reaches 3."""

    name = "hops"
    schema = Schema({"counter": ["n"]}, {"n": 1}, ["hop", "rest"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "counter", n=0)])

    def dynamics(self, state: State, action: str) -> Distribution:
        return [(state.replace(0, n=state[0].n + (action == "hop")), 1.0)]

    def is_over(self, state: State) -> bool:
        return bool(state[0].n == 3)


def test_a_new_level_starts_when_one_is_over() -> None:
    stream = list(transitions(Hops(), steps=200, seed=1, episode=10))
    assert len(stream) == 200
    in_level = 0
    for before, _, after in stream:
        in_level = 1 if before[0].n == 0 and in_level == 0 else in_level + 1
        assert before[0].n < 3 and in_level <= 10
        if after[0].n == 3 or in_level == 10:
            in_level = 0
    assert Counter(after[0].n for *_, after in stream)[3] > 10


def test_a_stream_plays_every_action_about_equally_often() -> None:
    actions = Counter(action for _, action, _ in transitions(make("maze"), 5_000, seed=0))
    assert all(900 < count < 1_100 for count in actions.values()) and len(actions) == 5


def test_numbers_of_numpy_are_numbers() -> None:
    plain = list(transitions(make("walls"), 20, seed=3, episode=7))
    numbers = np.array([20, 3, 7])
    assert list(transitions(make("walls"), *numbers)) == plain


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"steps": -1}, "steps must be at least 0, got -1"),
        ({"episode": 0}, "episode must be at least 1, got 0"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"steps": 2.5}, "steps must be a whole number, got 2.5"),
        ({"steps": True}, "steps must be a whole number, got True"),
        ({"episode": None}, "episode must be a whole number, got None"),
        ({"seed": "0"}, "seed must be a whole number, got '0'"),
        ({"seed": np.array([1, 2])}, "seed must be a whole number"),
    ],
)
def test_a_stream_refuses_invalid_arguments(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        transitions(make("walls"), **{"steps": 10, "seed": 0, **wrong})


@pytest.mark.parametrize("wrong", ["maze", None, Walls])
def test_a_stream_needs_a_world(wrong: Any) -> None:
    with pytest.raises(WrongTypeError, match="a stream needs a World, such as make"):
        transitions(wrong, steps=10, seed=0)


# ------------------------------------------------------------ in other processes


def in_turn(serial: list[list[AnyTransition]]) -> list[tuple[int, AnyTransition]]:
    """Return the expected order of parallel streams: some steps of each in turn."""
    order = []
    for first in range(0, len(serial[0]), TURN):
        for which, stream in enumerate(serial):
            order += [(which, each) for each in stream[first : first + TURN]]
    return order


@pytest.mark.parametrize("processes", [0, 1, 2, 3, 7])
def test_streams_do_not_depend_on_the_number_of_processes(processes: int) -> None:
    worlds = [make("maze"), Hops(), make("fish", fish=2), make("maze", goals=4, width=9)]
    seeds = [5, 6, 7, 5]
    merged = list(parallel_transitions(worlds, 130, seeds, 30, processes))
    serial = [
        list(transitions(world, 130, seed, 30)) for world, seed in zip(worlds, seeds, strict=True)
    ]
    assert merged == in_turn(serial)


def test_states_from_other_processes_are_of_the_given_worlds() -> None:
    """States have the schema objects of the given worlds, and share unchanged values."""
    worlds = [make("walls"), make("maze-scoreless")]
    for which, (before, _, after) in parallel_transitions(worlds, 60, [0, 1], processes=2):
        assert before.schema is after.schema is worlds[which].schema


def test_processes_send_the_start_of_each_level_and_then_only_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So states are built from the ones before them, and share what did not change."""
    steps: list[parallel.Step] = []
    built: list[State] = []
    receive = parallel._Worker.receive

    def receive_and_record(worker: Any, job: parallel.Job) -> list[parallel.Step]:
        turn = receive(worker, job)
        steps.extend(turn)
        return turn

    class Builder:
        """The only way here to a state that is not made from another."""

        @staticmethod
        def from_dict(schema: Schema, data: dict[str, Any]) -> State:
            built.append(State.from_dict(schema, data))
            return built[-1]

    monkeypatch.setattr(parallel._Worker, "receive", receive_and_record)
    monkeypatch.setattr(parallel, "State", Builder)
    stream = parallel_transitions([make("maze")], 200, [4], episode=60, processes=1)
    merged = [transition for _, transition in stream]
    starts = [0, 60, 120, 180]
    assert [i for i, (start, *_) in enumerate(steps) if start is not None] == starts
    assert len(built) == 4 and all(merged[i][0] is built[k] for k, i in enumerate(starts))
    assert all(merged[i][0] is merged[i - 1][2] for i in range(1, 200) if i not in starts)
    assert [changes for _, _, changes, _ in steps] == [
        before.changes_to(after) for before, _, after in merged
    ]
    assert merged == list(transitions(make("maze"), 200, 4, 60))


class Started(Exception):  # noqa: N818  # it is no error
    """A process would have been started."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many streams each process is to play; none of them is started."""
    started: list[int] = []

    class Counted:
        def __init__(self, pickled: list[bytes]):
            started.append(len(pickled))

        def receive(self, job: parallel.Job) -> list[parallel.Step]:
            raise Started

        def close_pipe(self) -> None: ...
        def end(self, deadline: float) -> None: ...

    monkeypatch.setattr(parallel, "_Worker", Counted)
    return started


def test_without_streams_no_process_is_started(started: list[int]) -> None:
    assert list(parallel_transitions([], 10, [], processes=2)) == []
    assert list(parallel_transitions([make("walls")] * 3, 0, [0] * 3, processes=3)) == []
    assert list(parallel_transitions([make("walls")] * 3, 0, [0] * 3)) == []
    assert started == []


def start(worlds: int, processes: int | None) -> None:
    with pytest.raises(Started):
        next(parallel_transitions([make("walls")] * worlds, 9, [0] * worlds, processes=processes))


def test_no_more_processes_are_started_than_there_are_streams(started: list[int]) -> None:
    start(worlds=3, processes=2)
    start(worlds=3, processes=9)
    assert started == [2, 1, 1, 1, 1]


def test_by_default_there_is_one_process_for_each_available_core(
    started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 8}, raising=False)
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    for count in (3, 2, 5):  # Python says it, or else the system, or else every core counts
        started.clear()
        start(worlds=9, processes=None)
        assert len(started) == count
        monkeypatch.delattr(os, "process_cpu_count" if count == 3 else "sched_getaffinity", False)


# ------------------------------------------------------- worlds with a state of their own


class Standing(Hops):
    """A stateful world: it steps only from its current state."""

    pure = False
    here: State | None = None

    def reset(self, seed: int) -> State:
        self.here = super().reset(seed).replace(0, n=-(seed % 7))
        return self.here

    def dynamics(self, state: State, action: str) -> Distribution:
        if state != self.here:
            raise StateError("not there")
        ((self.here, _),) = super().dynamics(state, action)
        return [(self.here, 1.0)]


@pytest.mark.parametrize("processes", [0, 1, 2])
def test_a_stateful_world_may_be_played_twice_and_stays_unchanged(
    processes: int,
) -> None:
    world = Standing()
    state = world.reset(3)
    merged = list(parallel_transitions([world, world], 130, [5, 6], 100, processes))
    assert merged == in_turn([list(transitions(Standing(), 130, seed, 100)) for seed in (5, 6)])
    assert world.here is state


@pytest.mark.parametrize("processes", [0, 1])
def test_a_stateful_world_that_cannot_be_copied_is_refused(processes: int) -> None:
    class Local(Standing):
        pass

    stream = parallel_transitions([Hops(), Local()], 10, [0, 0], processes=processes)
    with pytest.raises(WrongTypeError, match=r"worlds\[1\], Local\(.* cannot be copied"):
        next(stream)


def test_a_stateless_world_need_not_be_copied_without_processes() -> None:
    class Local(Hops):
        pass

    assert len(list(parallel_transitions([Local()], 10, [0], processes=0))) == 10


def children() -> set[int]:
    return {each.pid for each in multiprocessing.active_children() if each.pid is not None}


def test_processes_end_with_the_stream_and_when_it_is_closed_or_forgotten() -> None:
    assert not children()
    stream: Any = parallel_transitions([make("walls")] * 2, 10**7, [0, 1], processes=2)
    assert not children()  # nothing is started before it is asked for
    first = list(islice(stream, 120))
    assert len(children()) == 2 and len(first) == 120
    started = children()
    stream.close()
    assert not children() and all(has_ended(pid) for pid in started)

    forgotten = parallel_transitions([make("walls")], 10**7, [0], processes=1)
    next(forgotten)
    assert children()
    del forgotten
    assert not children()

    for _ in parallel_transitions([make("walls")], 60, [0], processes=1):
        pass
    assert not children()


def has_ended(pid: int) -> bool:
    """Return whether the process has ended and is not even a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class Failing(Walls):
    """Raises an error after some steps."""

    error: Exception = ZeroDivisionError("out of luck")

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        if rng.random() < 0.01:
            raise self.error
        return super().sample(state, action, rng)


class PickyError(Exception):
    """An error that cannot be unpickled: it takes two arguments and is pickled with one."""

    def __init__(self, one: str, two: str):
        super().__init__(f"{one} and {two}")


class FailingOddly(Failing):
    error = PickyError("this", "that")


class FailingToMove(Failing):
    error = UnknownNameError("door", "dor", ["door"], "the wall")


class Quitting(Failing):
    error = SystemExit(7)  # type: ignore[assignment]


class Stuck(Walls):
    """Takes very long for one of its steps, which is not in the first turn."""

    steps = 0

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        self.steps += 1
        if self.steps > TURN + 5:
            time.sleep(1_000)
        return super().sample(state, action, rng)


def count_transitions(stream: Iterator[Any]) -> int:
    return sum(1 for _ in stream)


def test_an_error_in_a_process_is_raised_with_a_note_of_its_place() -> None:
    stream = parallel_transitions([make("walls"), Failing()], 1_000, [1, 2], processes=2)
    with pytest.raises(ZeroDivisionError, match="out of luck") as raised:
        count_transitions(stream)
    (note,) = raised.value.__notes__
    assert "Failing(" in note and "with seed 2, steps from " in note
    assert "in sample" in note and "raise self.error" in note
    assert not children()


def test_an_error_keeps_its_type_and_attributes() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'door'") as raised:
        count_transitions(parallel_transitions([FailingToMove()], 1_000, [2], processes=1))
    assert raised.value.known == ("door",)


def test_an_error_that_cannot_be_pickled_is_reported() -> None:
    stream = parallel_transitions([FailingOddly()], 1_000, [2], processes=1)
    with pytest.raises(StreamError, match=r"FailingOddly.* with seed 2.*PickyError: this and that"):
        count_transitions(stream)


def test_a_process_that_ends_by_itself_is_an_error() -> None:
    stream = parallel_transitions([Quitting()], 1_000, [2], processes=1)
    with pytest.raises(StreamError, match=r"Quitting.* with seed 2 ended.* exit code 7"):
        count_transitions(stream)
    assert not children()


def test_an_unresponsive_process_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("treethink.stream.parallel._PATIENCE", 0.2)
    stream: Any = parallel_transitions([Stuck()], 10_000, [0], processes=1)
    next(stream)
    started = children()
    stream.close()
    assert not children() and all(has_ended(pid) for pid in started)


def test_a_world_that_cannot_be_sent_is_refused() -> None:
    class Local(Walls):
        pass

    stream = parallel_transitions([make("walls"), Local()], 10, [0, 0], processes=1)
    with pytest.raises(WrongTypeError, match=r"worlds\[1\], Local\(.* cannot be copied"):
        next(stream)


@pytest.mark.parametrize(
    ("wrong", "error", "complaint"),
    [
        ({"worlds": "maze"}, WrongTypeError, "worlds must be a list, got 'maze'"),
        ({"worlds": make("walls")}, WrongTypeError, "worlds must be a list"),
        ({"worlds": ["maze"]}, WrongTypeError, r"worlds\[0\] needs a World"),
        ({"seeds": 3}, WrongTypeError, "seeds must be a list, got 3"),
        ({"seeds": [1, 2]}, SettingError, "every world needs a seed: 1 worlds, 2 seeds"),
        ({"seeds": [-1]}, SettingError, r"seeds\[0\] must be at least 0"),
        ({"seeds": ["a"]}, SettingError, r"seeds\[0\] must be a whole number"),
        ({"processes": -1}, SettingError, "processes must be at least 0"),
        ({"processes": 1.5}, SettingError, "processes must be a whole number"),
        ({"steps": None}, SettingError, "steps must be a whole number"),
        ({"episode": 0}, SettingError, "episode must be at least 1"),
    ],
)
def test_parallel_streams_refuse_invalid_arguments(
    wrong: dict[str, Any], error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        parallel_transitions(**{"worlds": [make("walls")], "steps": 10, "seeds": [0], **wrong})


SCRIPT = """
import signal, sys, treethink as tt
from treethink.parallel import parallel_transitions

def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells have it ignored
    stream = parallel_transitions([tt.make("walls")] * 2, 10**9, [0, 1], processes=2)
    for i, _ in enumerate(stream):
        if i == {told_after}:
            import multiprocessing
            print(*(each.pid for each in multiprocessing.active_children()), flush=True)

{start}
"""


def run_script(tmp_path: Path, **parts: object) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(**parts))
    return subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize("told_after", [0, 500])
def test_ctrl_c_ends_everything_with_one_trace(tmp_path: Path, told_after: int) -> None:
    with run_script(tmp_path, told_after=told_after, start=GUARDED) as process:
        assert process.stdout is not None
        pids = [int(each) for each in process.stdout.readline().split()]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, stderr = process.communicate(timeout=60)
    assert len(pids) == 2 and all(has_ended(pid) for pid in pids)
    assert process.returncode in (-signal.SIGINT, 130)
    assert stderr.count("Traceback") == 1 and stderr.strip().endswith("KeyboardInterrupt")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_processes_do_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    with run_script(tmp_path, told_after=100, start=GUARDED) as process:
        assert process.stdout is not None
        pids = [int(each) for each in process.stdout.readline().split()]
        process.kill()
        process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while not all(has_ended(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) == 2 and all(has_ended(pid) for pid in pids)


GUARDED = 'if __name__ == "__main__":\n    main()'


def test_a_script_without_a_main_guard_gets_a_clear_error(tmp_path: Path) -> None:
    with run_script(tmp_path, told_after=0, start="main()") as process:
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "StreamError" in stderr and 'lacks `if __name__ == "__main__":`' in stderr


def test_transitions_of_three_to_five_items_are_read_alike():
    steps = list(transitions(make("walls"), steps=60, seed=0))
    longer = [[*step, None, None][: 3 + i % 3] for i, step in enumerate(steps)]
    models = [TreeThink(make("walls").schema) for _ in range(3)]
    models[0].observe_many(steps)
    models[1].observe_many(longer)
    models[2].observe_many(Transition(*step) for step in steps)
    assert len({model.to_bytes() for model in models}) == 1


@pytest.mark.parametrize("length", [0, 2, 6])
def test_a_transition_of_another_length_is_refused(length):
    (step,) = transitions(make("walls"), steps=1, seed=0)
    wrong = (*step, None, None, None)[:length]
    with pytest.raises(WrongTypeError, match=r"must be \(before, action, after\), or"):
        TreeThink(make("walls").schema).observe_many([wrong])
    with pytest.raises(WrongTypeError, match=r"must be \(before, action, after\), or"):
        as_transition(wrong)
