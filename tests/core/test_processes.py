"""Exits and forks while other threads use a model: no abort, no deadlock, no half-learned model."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pytest

import treethink as tt
from faults import STUCK, in_child, meanwhile
from treethink.baselines import Oracle, Qora
from treethink.fork_lock import ForkLock
from treethink.planning.search import Search, SearchSettings

# ---------------------------------------------------- exit

EXIT = """
import sys, threading, time
import treethink as tt
from treethink.baselines import Oracle

world = tt.make("maze")
stream = list(tt.transitions(world, 300, seed=0))
model = tt.TreeThink(world.schema, alpha=0.3)
model.observe_many(stream)
called = threading.Event()

def hook(change):
    sum(range(100))

def learn_with_hook():
    new = tt.TreeThink(world.schema, alpha=0.3)
    new.on_change = hook
    new.observe_many(each for each in stream)

USES = {
    "observe": lambda: [model.observe(*each) for each in stream],
    "observe_many": lambda: model.observe_many(stream),
    "hook": learn_with_hook,
    "predict": lambda: [model.predict(*each[:2]) for each in stream],
    "rules": lambda: model.rules.varying(),
    "states": lambda: [tt.State(world.schema, (each for each in stream[0][0])) for _ in stream],
    "plan": lambda: tt.plan(model, stream[0][0], simulations=100),
    "plan in Python": lambda: tt.plan(Oracle(world), stream[0][0], simulations=30),
}

def use():
    while True:
        USES[sys.argv[1]]()
        called.set()

for _ in range(3):
    threading.Thread(target=use, daemon=True).start()
called.wait()
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "use",
    ["observe", "observe_many", "hook", "predict", "rules", "states", "plan", "plan in Python"],
)
def test_daemon_threads_that_use_the_engine_do_not_disturb_the_exit(use):
    for seconds in ("0", "0.01"):
        ended = subprocess.run(
            [sys.executable, "-c", EXIT, use, seconds], capture_output=True, timeout=60
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_finalizer_may_use_a_model_that_a_daemon_thread_uses_at_exit():
    program = EXIT + (
        "import os\n"
        "class Last:\n"
        "    def __init__(self):\n"
        "        self.kept = model, stream[0], os.write\n"
        "    def __del__(self):\n"
        "        model, step, write = self.kept\n"
        "        model.observe(*step)\n"
        "        write(1, b'learned')\n"
        "sys.last = Last()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "observe_many", "0"], capture_output=True, timeout=60
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"learned", b"")


# ---------------------------------------------------- fork

fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")


@contextmanager
def once_begun(call: Callable[[], object]) -> Iterator[None]:
    """Repeat a call in another thread; begin when it has ended once."""
    begun = threading.Event()

    def run() -> None:
        call()
        begun.set()

    with meanwhile(run):
        assert begun.wait(STUCK)
        yield


CROWD = tt.Schema({"dot": ["x"]}, {"x": 1}, ["go"])


def slow_steps() -> list[Any]:
    """Return transitions of many objects that all feed one rule: observing one is slow."""
    steps = []
    for shift in range(8):
        before = tt.State(CROWD, [tt.Object(i, "dot", x=(7 * i + shift) % 50) for i in range(400)])
        steps.append((before, "go", before.replace(shift, x=99)))
    return steps


BROKEN = (
    "BrokenModelError: the model is broken: the process was forked while another thread was"
    " changing it. Fork while no thread changes it, or use the start method 'spawn'"
)


def answers_of_forks(call: Callable[[], object], most: int = 40) -> set[str]:
    """Fork until a child finds the model broken, at different moments; return all answers."""
    answers: set[str] = set()
    for number in range(most):
        time.sleep(0.001 * (number % 4))
        answers.add(in_child(call))
        if BROKEN in answers:
            break
    return answers


@fork
@pytest.mark.parametrize("learner", ["TreeThink", "Qora", "FOLDT"])
def test_a_model_that_was_being_changed_at_a_fork_is_refused_in_the_child(learner):
    steps = cycle(slow_steps())
    if learner == "FOLDT":
        tree = tt.FOLDT(["dot"])

        def observe() -> None:
            before = next(steps)[0]
            for each in range(50):
                tree.observe(before, [each], each % 3)

        def use() -> str:
            tree.predict(slow_steps()[0][0], [1])
            tree.observe(slow_steps()[0][0], [1], 1)
            return "answered"
    else:
        model: Any = tt.TreeThink(CROWD) if learner == "TreeThink" else Qora(CROWD)

        def observe() -> None:
            model.observe(*next(steps))

        def use() -> str:
            model.predict(*slow_steps()[0][:2])
            model.observe(*slow_steps()[0])
            return "answered"

    with once_begun(observe):
        answers = answers_of_forks(use)
    assert BROKEN in answers
    assert answers <= {BROKEN, "answered"}


@fork
def test_every_call_of_a_broken_model_raises_the_same_error_and_a_new_model_works():
    model, steps = tt.TreeThink(CROWD), cycle(slow_steps())
    before, action, after = slow_steps()[0]
    calls: list[Callable[[], object]] = [
        lambda: model.observe(before, action, after),
        lambda: model.observe_many([(before, action, after)]),
        lambda: model.predict(before, action),
        lambda: model.predict_many([(before, action)]),
        lambda: model.rules["dot", "x", "go"],
        lambda: model.to_bytes(),
        lambda: model.observations,
        lambda: model.memory_use(),
        lambda: model.pin(("dot", "x", "go")),
        lambda: tt.plan(model, before),
    ]

    def use() -> object:
        try:
            model.observations  # noqa: B018  # raises if the model is broken
        except tt.BrokenModelError as error:
            for call in calls:
                with pytest.raises(tt.BrokenModelError, match="was forked while"):
                    call()
            tt.TreeThink(CROWD).observe(before, action, after)
            raise error
        return "answered"

    with once_begun(lambda: model.observe(*next(steps))):
        assert answers_of_forks(use) - {"answered"} == {BROKEN}
    assert model.observations > 0  # the parent goes on


@fork
def test_a_model_that_is_only_read_works_in_the_child_of_a_fork():
    world = tt.make("maze")
    stream = list(tt.transitions(world, 300, seed=0))
    model = tt.TreeThink(world.schema)
    model.observe_many(stream)
    content = model.to_bytes()
    questions = [each[:2] for each in stream]

    def use() -> bool:
        model.observe(*stream[0])
        return model.to_bytes() != content

    with once_begun(lambda: model.predict_many(questions)):
        assert {in_child(use) for _ in range(10)} == {"True"}


@fork
def test_a_search_that_ran_at_a_fork_is_refused_in_the_child():
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 300, seed=0))
    state = world.reset(0)
    search = Search(model, SearchSettings(simulations=None, milliseconds=1500), 0)
    thread = threading.Thread(target=lambda: search.plan(state), daemon=True)
    thread.start()
    time.sleep(0.3)
    assert in_child(lambda: search.plan(state)).startswith("BrokenModelError: the search is broken")
    assert in_child(lambda: tt.plan(model, state, simulations=5).simulations) == "5"
    thread.join(STUCK)


@fork
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_thread_that_forks_in_its_own_search_goes_on_in_the_child():
    """A model in Python may fork, for example to predict in other processes."""
    world = tt.make("maze")
    oracle, state = Oracle(world), world.reset(0)
    child: list[int] = []

    class Forking:
        schema = world.schema

        def predict(self, state: tt.State, action: str) -> Any:
            if not child:
                child.append(os.fork())
            return oracle.predict(state, action)

    search, code = Search(Forking(), SearchSettings(simulations=5), 0), 1
    try:
        search.plan(state)
        code = search.plan(state).simulations
    finally:
        if child == [0]:
            os._exit(code)
    assert code == 5
    assert os.waitstatus_to_exitcode(os.waitpid(child[0], 0)[1]) == 5


@fork
def test_a_fork_lock_is_free_in_the_child():
    lock, held, done = ForkLock(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(STUCK)

    def use() -> str:
        with lock:
            return "taken"

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert held.wait(STUCK)
    assert in_child(use) == "taken"
    done.set()
    thread.join(STUCK)
