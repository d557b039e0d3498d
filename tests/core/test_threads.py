"""Several threads with one model: no corruption and no deadlock."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, cycle, islice
from typing import Any

import pytest

from faults import SANITIZED, interrupted_after
from handmade import chain, dot, handmade
from treethink.checks.learners import all_outcomes
from treethink.errors import TransitionError, WrongTypeError
from treethink.foldt import FOLDT, Facts
from treethink.model import Change, TreeThink
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

LONG = 60.0
"""Seconds after which a thread that has not ended is taken to be stuck."""


@pytest.fixture(scope="module")
def stream() -> list[tuple[State, str, State]]:
    return list(transitions(make("maze"), steps=3000, seed=0))


def model_of(stream: Any, **options: Any) -> TreeThink:
    model = TreeThink(make("maze").schema, **options)
    model.observe_many(stream)
    return model


def together(*jobs: Callable[[], object]) -> None:
    """Run all at once, each in its own thread, and pass on the first exception of any."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> None:
        try:
            start.wait(LONG)
            job()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + LONG
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "a thread is stuck"


@contextmanager
def switching_every(seconds: float) -> Iterator[None]:
    """How long a thread may run Python before it must let others have a turn."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


# ---------------------------------------------------- predicting while learning


@pytest.mark.parametrize("many", [True, False], ids=["observe_many", "observe"])
def test_predictions_and_the_model_stay_consistent_while_another_thread_learns(stream, many):
    model, done = TreeThink(make("maze").schema, alpha=0.3), threading.Event()
    predictions = 0

    def learn() -> None:
        try:
            if many:
                model.observe_many(iter(stream))
            else:
                for transition in stream:
                    model.observe(*transition)
        finally:
            done.set()

    def ask(facts: str, bindings: str) -> None:
        nonlocal predictions
        for before, action, _ in cycle(stream[::7]):
            prediction = model.predict(before, action, facts, bindings)
            if predictions % 9 == 0:
                for outcomes, support in all_outcomes(prediction).values():
                    assert math.isclose(math.fsum(outcomes.values()), 1.0)
                    assert support > 0 or len(outcomes) == 1
            assert 0 < prediction.probability(prediction.mode()) <= 1
            predictions += 1
            if done.is_set():
                return

    with switching_every(1e-4):
        together(
            learn,
            lambda: ask("demand", "first"),
            lambda: ask("demand", "all"),
            lambda: ask("full", "first"),
        )
    assert predictions > 3
    assert model.to_bytes() == model_of(stream, alpha=0.3).to_bytes()


def test_reads_while_another_thread_learns_see_one_moment(stream):
    """Every copy equals a model that saw just the beginning of the stream."""
    model, done = TreeThink(make("maze").schema), threading.Event()
    copies: dict[int, bytes] = {}

    def learn() -> None:
        try:
            model.observe_many(iter(stream))
        finally:
            done.set()

    def read() -> None:
        while not done.is_set():
            copy = TreeThink.from_bytes(model.to_bytes())
            copies[copy.observations] = copy.to_bytes()
            for rule in model.rules.varying().values():
                assert str(rule)
                assert sum(rule.root.counts.values()) <= sum(rule.seen.values())
            assert model.memory_use()["bytes"] > 0

    with switching_every(1e-4):
        together(learn, read)
    for observed, copy in islice(copies.items(), 0, None, max(1, len(copies) // 5)):
        assert copy == model_of(stream[:observed]).to_bytes()


def test_threads_that_learn_at_the_same_time_lose_nothing(stream):
    model = TreeThink(make("maze").schema)
    with switching_every(1e-4):
        together(
            lambda: model.observe_many(stream[:1000]),
            lambda: [model.observe(*transition) for transition in stream[1000:2000]],
            lambda: model.observe_many(iter(stream[2000:])),
        )
    alone = model_of(stream)
    assert model.observations == 3000
    for key, rule in model.rules.items():
        assert rule.seen == alone.rules[key].seen
    assert TreeThink.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_refusals_in_one_thread_do_not_disturb_another(stream):
    model = TreeThink(make("maze").schema)
    before, action, _ = stream[0]
    wrong = State(before.schema, [])

    def offend() -> None:
        for _ in range(300):
            with pytest.raises(TransitionError):
                model.observe(before, action, wrong)

    together(lambda: model.observe_many(stream), offend, offend)
    assert model.to_bytes() == model_of(stream).to_bytes()


def test_several_threads_may_use_and_train_one_tree(stream):
    """Outcomes are new all the time, so that one is asked about as soon as it is learned."""
    tree, done = FOLDT(["player"]), threading.Event()
    steps = [(before, before.of_class("player")[0].id) for before, _, _ in stream]

    def learn(own: str) -> None:
        try:
            for step, (before, player) in enumerate(steps[:1000]):
                tree.observe(before, [player], f"{own}{step // 50}" if step % 2 else "common")
        finally:
            done.set()

    def ask() -> None:
        while not done.is_set():
            for before, player in steps[:20]:
                answer = tree.predict(before, [player])
                assert not answer or math.isclose(math.fsum(answer.values()), 1.0)

    with switching_every(1e-4):
        together(lambda: learn("a"), lambda: learn("b"), ask, ask)
    assert tree.rule.transitions == 2000
    assert tree.rule.seen["common"] == 1000
    assert all(tree.rule.seen[f"{own}{i}"] == 25 for own in "ab" for i in range(20))


@pytest.mark.skipif(SANITIZED, reason="sanitizers use far more stack")
@pytest.mark.parametrize("left", [True, False])
def test_a_deep_tree_predicts_in_a_thread_with_a_small_stack(left):
    """Half a megabyte is what threads of macOS have."""
    model = TreeThink.from_bytes(handmade(chain(1000, left)))
    state = dot(5) if left else dot(0)
    usual = threading.stack_size(512 * 1024)
    try:
        together(
            *(
                lambda facts=facts, bindings=bindings: model.predict(state, "go", facts, bindings)
                for facts in ("demand", "full")
                for bindings in ("first", "all")
            )
        )
    finally:
        threading.stack_size(usual)


# ---------------------------------------------------- hooks


def test_hooks_that_use_the_model_do_not_deadlock(stream):
    model, changes, done = TreeThink(make("maze").schema, alpha=0.3), [], threading.Event()
    before, action, _ = stream[0]

    def hook(change: Any) -> None:
        changes.append(change)
        assert model.predict(before, action).mode()
        assert model.rules[change.rule].transitions > 0
        assert model.to_bytes()
        time.sleep(0.001)  # lets the others in

    def learn() -> None:
        try:
            model.observe_many(iter(stream))
        finally:
            done.set()

    def ask() -> None:
        while not done.is_set():
            model.predict_many([(before, action)] * 50)

    model.on_change = hook
    together(learn, ask, ask, lambda: [len(model.rules.varying()) for _ in range(20)])
    assert changes
    assert model.to_bytes() == model_of(stream, alpha=0.3).to_bytes()


@pytest.mark.parametrize("read", ["rules", "to_bytes", "predict"])
def test_objects_garbage_collected_during_a_call_may_use_the_model(stream, read):
    """Finalizers run whenever Python makes an object: never under the model's lock."""
    model = model_of(stream[:500])
    finalized = []

    class Litter:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            model.observe(*stream[0])
            finalized.append(model.observations)

    def use() -> None:
        for _ in range(30):
            Litter()
            if read == "rules":
                model.rules.varying()
            elif read == "to_bytes":
                model.to_bytes()
            else:
                model.predict_many([stream[1][:2]] * 10)

    usual = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        together(use, use)
    finally:
        gc.set_threshold(*usual)
    gc.collect()
    assert len(finalized) == 60
    assert model.observations == 560


# ---------------------------------------------------- letting others run


def turns_meanwhile(call: Callable[[], object]) -> int:
    """How often another thread gets a turn while a call runs that never makes Python switch."""
    span: list[float] = []

    def run() -> None:
        span.append(time.perf_counter())
        call()
        span.append(time.perf_counter())

    with switching_every(LONG):
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        turns = []
        while len(span) < 2 and thread.is_alive():
            turns.append(time.perf_counter())
            time.sleep(0.0005)
        thread.join(LONG)
    begin, end = span
    return sum(begin < turn < end for turn in turns)


def test_long_calls_let_other_threads_run(stream):
    model = model_of(stream)
    many = stream * 20
    assert turns_meanwhile(lambda: model.observe_many(many)) >= 3
    questions = [(before, action) for before, action, _ in stream * 2]
    assert turns_meanwhile(lambda: model.predict_many(questions, facts="full")) >= 3


def test_one_call_on_a_large_state_lets_other_threads_run():
    world = make("maze", width=60, height=60, goals=800)
    steps = list(transitions(world, steps=30, seed=0, episode=3))
    assert len(steps[0][0]) > 2000
    model = TreeThink(world.schema)
    assert turns_meanwhile(lambda: [model.observe(*step) for step in steps]) >= 3


@pytest.mark.parametrize(
    "call",
    [
        lambda tree, state: tree.predict(state, [0]),
        lambda tree, state: tree.predict(Facts(state, "full"), [0], "all"),
        lambda tree, _: tree.rule,
        lambda tree, _: tree._tree._candidates(),
        lambda tree, _: tree._tree._save(),
    ],
    ids=["predict", "predict all", "rule", "candidates", "save"],
)
def test_a_thread_that_asks_a_tree_lets_one_that_learns_go_on(call):
    """Python makes no thread switch here: the engine must let others run, also while it waits."""
    tree, learned = FOLDT(["dot"]), threading.Event()
    tree.observe(crowd(100, 0), [0], "first")

    def learn() -> None:
        for step in range(20):
            tree.observe(crowd(100, step), [0], step % 3)
        learned.set()

    def ask() -> None:
        deadline = time.monotonic() + LONG / 4
        while not learned.is_set():
            assert time.monotonic() < deadline, "the other thread got no turn"
            call(tree, crowd(100, 0))

    with switching_every(LONG):
        together(learn, ask)


# ---------------------------------------------------- stopping


def endless(stream: list[Any]) -> Iterator[Any]:
    while True:
        yield from stream


@pytest.mark.parametrize("make_endless", [cycle, endless], ids=["C", "Python"])
def test_an_endless_stream_can_be_interrupted_and_the_model_keeps_what_it_learned(
    stream, make_endless
):
    model = TreeThink(make("maze").schema)
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.1):
        model.observe_many(make_endless(stream))
    assert model.observations > 0
    assert model.to_bytes() == model_of(islice(cycle(stream), model.observations)).to_bytes()
    model.observe_many(stream)
    assert model.predict(*stream[0][:2]).mode()


def test_endless_questions_can_be_interrupted(stream):
    model = model_of(stream[:500])
    content = model.to_bytes()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.1):
        model.predict_many(cycle([stream[0][:2]]))
    assert model.to_bytes() == content


def test_an_interrupt_in_a_hook_stops_the_stream(stream):
    model = TreeThink(make("maze").schema)

    def interrupt(change: Any) -> None:
        raise KeyboardInterrupt

    model.on_change = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.observe_many(cycle(stream))
    assert model.to_bytes() == model_of(stream[: model.observations]).to_bytes()


# ---------------------------------------------------- slow work


CROWD = Schema({"dot": ["x"]}, {"x": 1}, ["go"])


def crowd(objects: int, shift: int) -> State:
    """Return a state of many dots, which all feed one rule: observing it is slow."""
    return State(CROWD, [Object(i, "dot", x=(i * 7 + shift) % 50) for i in range(objects)])


def slow_steps(objects: int) -> Iterator[tuple[State, str, State]]:
    for step in count():
        before = crowd(objects, step)
        yield before, "go", before.replace(0, x=before[0].x + 1)


def test_slow_steps_can_be_interrupted_too():
    """Interrupts are checked by time, not after a fixed number of steps."""
    model = TreeThink(CROWD)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), interrupted_after(0.2):
        model.observe_many(slow_steps(500))
    assert time.monotonic() - start < 20
    assert model.to_bytes() == model_of_crowd(model.observations).to_bytes()


def model_of_crowd(steps: int) -> TreeThink:
    model = TreeThink(CROWD)
    model.observe_many(islice(slow_steps(500), steps))
    return model


def test_threads_that_predict_do_not_block_a_thread_that_observes():
    world = make("maze", width=16, height=16)
    steps = list(transitions(world, 2_000, seed=0))
    model = TreeThink(world.schema)
    model.observe_many(steps[:1_000])
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            model.predict_many([step[:2] for step in steps[:20]], facts="full")

    def teach() -> None:
        try:
            for step in steps[1_000:1_100]:
                model.observe(*step)
        finally:
            done.set()

    together(ask, ask, ask, teach)
    assert model.observations == 1_100


def test_a_hook_may_switch_itself_off_between_two_changes_of_one_transition():
    schema = Schema({"lamp": ["a", "b"]}, {"a": 1, "b": 1}, ["press"])
    model = TreeThink(schema)
    changes = []

    def once(change: Any) -> None:
        changes.append(change)
        model.on_change = None

    model.on_change = once
    states = [State(schema, [Object(1, "lamp", a=n, b=n)]) for n in (0, 1)]
    model.observe_many([(states[i % 2], "press", states[1 - i % 2]) for i in range(60)])
    assert len(changes) == 1
    assert model.observations == 60
    assert all(rule.depth == 1 for rule in model.rules.values())


# ---------------------------------------------------- nothing read ahead is lost


class Taken:
    """An iterator that counts what was taken from it."""

    def __init__(self, items: Any):
        self.items = iter(items)
        self.count = 0

    def __iter__(self) -> Taken:
        return self

    def __next__(self) -> Any:
        item = next(self.items)
        self.count += 1
        return item


def test_an_interrupt_loses_no_item_that_was_read(stream):
    model = TreeThink(make("maze").schema)
    items = cycle(stream)
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt), interrupted_after(0.05):
            model.observe_many(items)
    observed = model.observations % len(stream)
    assert next(items) is stream[observed]


@pytest.mark.parametrize("number", range(3))
def test_an_error_of_a_hook_loses_no_item_that_was_read(stream, number):
    model, items, calls = TreeThink(make("maze").schema, alpha=0.3), Taken(stream), []

    def hook(change: Any) -> None:
        calls.append(change)
        if len(calls) > number:
            raise ValueError("no")

    model.on_change = hook
    with pytest.raises(ValueError, match="no"):
        model.observe_many(items)
    assert len(calls) == number + 1, "the hook is not called again after its error"
    assert model.observations == items.count
    model.on_change = None
    model.observe_many(items)
    assert model.to_bytes() == model_of(stream, alpha=0.3).to_bytes()


def enormous_change() -> tuple[State, str, State]:
    low, high = (State(CROWD, [Object(0, "dot", x=value)]) for value in (-(2**63), 2**63 - 1))
    return low, "go", high


def test_nothing_is_read_after_an_item_that_is_refused():
    schema, steps = CROWD, list(islice(slow_steps(2), 200))
    other = make("maze")
    level = other.reset(0)
    for wrong, message in [
        ("nothing", "a transition must be"),
        (enormous_change(), "does not fit 64 bits"),
        ((steps[0][0], "go", State(schema, [])), "must be the same; only before"),
        ((level, "go", level), "another schema"),
        ((steps[0][0], "gone", steps[0][2]), "unknown action 'gone'"),
    ]:
        model, items = TreeThink(schema), iter([*steps, wrong, *steps])
        with pytest.raises(Exception, match=message):
            model.observe_many(items)
        assert model.observations == 200
        assert model.observe_many(items) == 200


def failing(stream: list[Any], error: BaseException) -> Iterator[Any]:
    yield from stream
    raise error


LAMP = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])


def presses(number: int) -> list[Any]:
    """Return transitions that are learned so quickly that many are read ahead."""
    states = [State(LAMP, [Object(1, "lamp", on=on)]) for on in (0, 1)]
    return [(states[i % 2], "press", states[1 - i % 2]) for i in range(number)]


def error_and_context(items: Any) -> tuple[type, type] | None:
    """Return the error of a stream with a hook that fails, if both failed at the same time."""

    def hook(change: Any) -> None:
        raise ValueError("of the hook")

    model = TreeThink(LAMP)
    model.on_change = hook
    with pytest.raises((ValueError, KeyboardInterrupt)) as raised:
        model.observe_many(items)
    if raised.value.__context__ is None:
        return None
    return type(raised.value), type(raised.value.__context__)


def test_errors_of_a_hook_and_of_an_item_read_ahead_are_both_reported():
    """How far the items are read ahead depends on time, so several lengths are tried."""
    model = TreeThink(LAMP)
    changes: list[Change] = []
    model.on_change = changes.append
    model.observe_many(presses(100))
    first = changes[0].observation
    for make_items, both in [
        (lambda n: failing(presses(n), OSError("of the stream")), (ValueError, OSError)),
        (lambda n: [*presses(n), "wrong"], (ValueError, WrongTypeError)),
        (lambda n: failing(presses(n), KeyboardInterrupt()), (KeyboardInterrupt, ValueError)),
    ]:
        errors = {error_and_context(make_items(n)) for n in range(first, first + 40)}
        assert errors - {None} == {both}


READS_WHILE_ANOTHER_THREAD_LEARNS = """
import threading
import treethink as tt

schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
model = tt.TreeThink(schema, memory=5)

def lamp(i):
    return tt.State(schema, [tt.Object(0, "lamp", on=i % 5)])

def learn():
    for i in range(20_000):
        model.observe(lamp(i), "press", lamp(i + 1 + i % 3))

learning = threading.Thread(target=learn)
learning.start()
while learning.is_alive():
    model._edits
"""


def test_nobody_who_has_the_gil_waits_for_a_model_that_learns():
    script = [sys.executable, "-c", READS_WHILE_ANOTHER_THREAD_LEARNS]
    subprocess.run(script, check=True, timeout=LONG)
