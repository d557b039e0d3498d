"""QORA in the engine equals its reference; memory limits, errors and files."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treethink as tt
from handmade import integer, number
from reference_qora import Condition, Interval, Key, Predicate, ReferenceQora, Table, vector
from strategies import Stream, Transition, restless_shapes, streams
from treethink import file
from treethink.baselines.qora import Qora
from treethink.checks import LEARNER_CHECKS, check_learner
from treethink.errors import (
    CheckFailed,
    ModelFileError,
    ResourceError,
    SettingError,
    StateError,
    TransitionError,
    UnknownNameError,
    WrongTypeError,
)

thorough = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# ---------------------------------------------------- the engine and its twin


class Twins:
    """Engine and twin, learning side by side."""

    def __init__(self, schema: tt.Schema, alpha: float = 0.01):
        self.engine = Qora(schema, alpha=alpha)
        self.twin = ReferenceQora(schema, alpha=alpha)
        self.schema = schema

    def follow(
        self, transitions: Iterable[Transition], look: int = 1, most: int = 2_000
    ) -> Counter[str]:
        """Learn, comparing all predictors of the action every `look` observations.

        A stream is left when there are more than `most` conditions.
        """
        for step, (before, action, after) in enumerate(transitions):
            if step % look == 0:
                self.assert_same_prediction(before, action)
            self.engine.observe(before, action, after)
            self.twin.observe(before, action, after)
            if step % look == 0:
                self.assert_same(action)
            if self.engine.memory_use()["conditions"] > most or self.twin.happened["longest"] > 12:
                break  # it has blown up: twice the predicates square the twin's numbers
        for action in self.schema.actions:
            self.assert_same(action)
        return self.twin.happened

    def assert_same(self, action: str) -> None:
        for class_name, attributes in self.schema.classes.items():
            for name in attributes:
                key = (class_name, name, action)
                assert dump(self.engine, key) == self.twin.dump(key), key

    def assert_same_prediction(self, state: tt.State, action: str) -> None:
        prediction = self.engine.predict(state, action)
        for (x, name), counts in self.twin.predict(state, action).items():
            shares = {vector(v): p for v, p in prediction.outcomes(x, name).items()}
            total = counts.total()
            assert prediction.support(x, name) == total
            unchanged = {vector(state[x].values[name]): 1.0}
            assert shares == ({v: n / total for v, n in counts.items()} if total else unchanged)


def dump(engine: Qora, key: Key) -> Any:
    """What the engine knows, in the words of the twin."""
    content: Any = engine._dump(*key)
    if content is None:
        return None
    effects, baseline, *lists = content
    schema = engine.schema
    classes: list[str | None] = [None, *schema.classes]
    attributes = list(schema.attributes)

    def read(each: Any) -> Any:
        condition = tuple(
            Predicate(classes.index(c) - 1, attributes.index(m), relative, vector(value))
            for c, m, relative, value in each[0]
        )
        return condition, table(each[1], condition)

    return (list(map(vector, effects)), table(baseline), *([*map(read, each)] for each in lists))


def table(rows: Any, condition: Condition = ()) -> list[tuple[int, dict[int, int]]]:
    return [
        (
            case if isinstance(case, int) else from_words(case, condition),
            {y: n for y, n in enumerate(counts) if n},
        )
        for case, counts in rows
    ]


def from_words(words: Sequence[int], condition: Condition) -> int:
    """A wide key as the number that it stands for: digits from the highest, vectors of each."""
    sizes = [len(list(each)) for _, each in groupby(condition, key=lambda each: each.group)]
    rest = iter(words)
    number = 0
    for size in reversed(sizes):
        number <<= 2**size
        while next(rest):
            truth = 0
            for word in islice(rest, -(-size // 64)):
                truth = truth << 64 | word
            number |= 1 << truth
    assert not list(rest)
    return number


@pytest.mark.slow
def test_engine_equals_twin_after_every_observation():
    events: Counter[str] = Counter()

    @settings(thorough, max_examples=25)
    @given(streams(mostly=restless_shapes()), st.sampled_from([0.5, 0.3, 0.9, 0.05, 0.7]))
    def compare(stream: Stream, alpha: float) -> None:
        counts = Twins(stream.schema, alpha).follow(stream.transitions[:80], most=400)
        events.update(what for what, times in counts.items() if times)
        events["streams"] += 1

    compare()
    # Two idle learners would agree too.
    for what in ("promoted", "dethroned", "swapped", "skipped", "promoted union", "union"):
        assert events[what] > events["streams"] / 2, events


CASES: dict[tuple[str, float], tuple[dict[str, int], dict[str, int]]] = {
    ("walls", 0.3): (
        {"width": 4, "height": 4},
        {"promoted": 50, "dethroned": 5, "union": 150, "promoted union": 20, "skipped": 200},
    ),
    ("walls", 0.01): ({"width": 5, "height": 5}, {"promoted": 4, "skipped": 100}),
    ("doors", 0.3): (
        {"width": 4, "height": 5, "doors": 2},
        {"promoted": 100, "dethroned": 3, "union": 100, "promoted union": 50, "swapped": 300},
    ),
    ("lights", 0.3): (
        {"lights": 4},
        {"promoted": 40, "dethroned": 2, "union": 50, "promoted union": 20, "skipped": 100},
    ),
}


@pytest.mark.parametrize("world, alpha", CASES)
def test_engine_equals_twin_in_worlds_where_much_happens(world, alpha):
    options, expected = CASES[world, alpha]
    instance = tt.make(world, **options)
    stream = tt.transitions(instance, 300, seed=1, episode=20)
    events = Twins(instance.schema, alpha).follow(stream, look=10)
    for what, least in expected.items():
        assert events[what] >= least, (what, events)


LAMPS = tt.Schema({"lamp": ["at"], "cat": ["at"]}, {"at": 1}, ["press"])


def lamps(seed: int, steps: int) -> Iterator[Transition]:
    """A cat goes to one of two lamps: so much to think about, and so little to find."""
    rng = random.Random(seed)
    for _ in range(steps):
        objects = [tt.Object(i, "lamp", at=rng.randrange(6)) for i in range(3)]
        before = tt.State(LAMPS, [*objects, tt.Object(9, "cat", at=rng.randrange(6))])
        yield before, "press", before.replace(9, at=before[rng.choice([0, 1])].at)


@pytest.mark.parametrize("seed, steps", [(0, 24), (1, 40), (2, 37)])
def test_engine_equals_twin_when_answers_do_not_fit_64_bits(seed, steps):
    events = Twins(LAMPS, 0.7).follow(lamps(seed, steps), look=4, most=10_000)
    assert events["wide"] > 10


# ---------------------------------------------------- its parts, by hand


@pytest.mark.parametrize(
    "alpha, z", [(0.05, 1.959964), (0.01, 2.575829), (0.005, 2.807034), (0.001, 3.290527)]
)
def test_an_interval_is_wilsons(alpha, z):
    assert ReferenceQora(SCHEMA, alpha=alpha).z == pytest.approx(z, abs=2e-6)
    perfect = Table({1: Counter({0: 30}), 2: Counter({1: 10})}, total=40)
    assert perfect.successes() == 40
    assert perfect.wilson(z) == pytest.approx(Interval(40 / (40 + z * z), 1.0))


def test_rounding_costs_some_perfect_tables_a_success():
    """As the reference program has it: 3.5 percent of the pairs of counts up to 199."""
    pairs = [(a, b) for a in range(1, 200) for b in range(1, 200)]
    short = [
        Table({1: Counter({0: a}), 2: Counter({1: b})}, total=a + b).successes() < a + b
        for a, b in pairs
    ]
    assert sum(short) / len(pairs) == pytest.approx(0.035, abs=0.0005)


SCHEMA = tt.Schema({"dot": ["x"]}, {"x": 1}, ["go"])


def dots(*values: int) -> tt.State:
    return tt.State(SCHEMA, [tt.Object(i, "dot", x=value) for i, value in enumerate(values)])


def test_unseen_attributes_stay_and_a_single_effect_is_repeated():
    learner = Qora(SCHEMA)
    unseen = learner.predict(dots(5), "go")
    assert (unseen.outcomes(0, "x"), unseen.support(0, "x")) == ({5: 1.0}, 0)
    for _ in range(3):
        learner.observe(dots(1), "go", dots(3))
    prediction = learner.predict(dots(5), "go")
    assert (prediction.outcomes(0, "x"), prediction.support(0, "x")) == ({7: 1.0}, 3)
    assert learner._dump("dot", "x", "go") is None


def test_the_first_effect_is_lost_when_the_second_comes():
    learner = Qora(SCHEMA)
    learner.observe(dots(1), "go", dots(3))
    learner.observe(dots(1), "go", dots(1))
    prediction = learner.predict(dots(5), "go")
    assert (prediction.outcomes(0, "x"), prediction.support(0, "x")) == ({5: 1.0}, 1)


def test_a_new_case_gets_the_effect_that_came_first():
    learner = Qora(SCHEMA)
    while learner.memory_use()["hypotheses"] == 0:  # whose table is empty then
        learner.observe(dots(0), "go", dots(1))
        learner.observe(dots(1), "go", dots(0))
    new = learner.predict(dots(0), "go")
    assert (new.outcomes(0, "x"), new.support(0, "x")) == ({-1: 1.0}, 1)
    learner.observe(dots(0), "go", dots(1))
    repeated = learner.predict(dots(0), "go")
    assert (repeated.outcomes(0, "x"), repeated.support(0, "x")) == ({1: 1.0}, 1)


def test_attributes_without_facts_appear_in_no_condition_and_values_can_be_effects():
    schema = tt.Schema(
        {"cat": ["mood", "score"]},
        {"mood": tt.Attribute(1, outcomes="value"), "score": tt.Attribute(1, facts=())},
        ["go"],
    )
    learner = Qora(schema, alpha=0.3)
    rng = random.Random(0)
    for score in range(60):
        mood = rng.randrange(3)
        before = tt.State(schema, [tt.Object(1, "cat", mood=mood, score=score)])
        learner.observe(before, "go", before.replace(1, mood=5 + mood, score=score + mood))
    dump: Any = learner._dump("cat", "mood", "go")
    effects, _, hypotheses, working = dump
    assert sorted(effects) == [5, 6, 7]
    attributes = {each[1] for condition, _ in [*hypotheses, *working] for each in condition}
    assert attributes == {"mood"}
    state = tt.State(schema, [tt.Object(1, "cat", mood=2, score=3)])
    assert learner.predict(state, "go").mode() == state.replace(1, mood=7, score=5)


# ---------------------------------------------------- what it promises


def small_stream(steps: int = 300, seed: int = 0) -> list[Transition]:
    doors = tt.make("doors", width=5, height=5, doors=2)
    return list(tt.transitions(doors, steps, seed=seed, episode=20))


def train(stream: Iterable[Transition], schema: tt.Schema, **settings_: Any) -> Qora:
    learner = Qora(schema, **settings_)
    for transition in stream:
        learner.observe(*transition)
    return learner


def test_qora_passes_all_checks_except_those_it_declares(tmp_path):
    lights = list(tt.transitions(tt.make("lights", lights=2), 120, seed=0, episode=20))
    check_learner(Qora, lights)
    for name in Qora.cannot_keep:
        with pytest.raises(CheckFailed):
            LEARNER_CHECKS[name](Qora, lights, tmp_path)


def test_nothing_is_ever_forgotten():
    """So in a world that it learns late, it takes more and more."""
    stream = small_stream()
    learner = Qora(stream[0][0].schema, alpha=0.3)
    conditions: list[set[Any]] = [set()]
    for step, transition in enumerate(stream):
        learner.observe(*transition)
        content: Any = learner._dump("player", "pos", "left") if step % 10 == 0 else None
        if content is not None:
            conditions.append({tuple(each) for each, _ in [*content[2], *content[3]]})
            assert conditions[-2] <= conditions[-1]
    use = learner.memory_use()
    assert use["conditions"] == use["hypotheses"] + use["candidates"] > 500


WAYS = {
    "bytes": lambda learner: Qora.from_bytes(learner.to_bytes()),
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@settings(thorough, max_examples=15)
@given(streams(mostly=restless_shapes()), st.sampled_from([0.5, 0.3, 0.9]))
def test_saving_loading_and_continuing_equals_learning_without_a_break(
    stream: Stream, alpha: float
):
    constant, stopped = (Qora(stream.schema, alpha=alpha) for _ in range(2))
    ways = list(WAYS.values())
    for step, transition in enumerate(stream.transitions[:60]):
        if step % 15 == 10:
            stopped = ways[step // 15](stopped)
            assert stopped.to_bytes() == constant.to_bytes()
            assert stopped.memory_use() == constant.memory_use()
        constant.observe(*transition)
        stopped.observe(*transition)
        if constant.memory_use()["conditions"] > 400:
            break
    assert stopped.to_bytes() == constant.to_bytes()
    assert stopped.memory_use() == constant.memory_use()
    assert stopped.observations == constant.observations


def test_others_may_predict_while_one_learns():
    stream = small_stream()
    learner = Qora(stream[0][0].schema, alpha=0.3)

    def ask(seed: int) -> int:
        rng = random.Random(seed)
        questions = [rng.choice(stream) for _ in range(1_000)]
        return sum(
            learner.predict(before, action).mode() is not None for before, action, _ in questions
        )

    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(ask, seed) for seed in range(2)]
        for transition in stream:
            learner.observe(*transition)
        assert [each.result() for each in answers] == [1_000, 1_000]
    assert learner.to_bytes() == train(stream, learner.schema, alpha=0.3).to_bytes()


# ---------------------------------------------------- where it ends


def test_beyond_its_memory_limit_qora_stops_learning_and_still_predicts(tmp_path):
    stream = small_stream()
    schema = stream[0][0].schema
    learner = Qora(schema, alpha=0.3, max_bytes=60_000)
    steps = 0
    with pytest.raises(ResourceError) as raised:
        for steps, transition in enumerate(stream):  # noqa: B007
            learner.observe(*transition)
    use = learner.memory_use()
    assert 60_000 < use["bytes"] < 61_000
    for part in (
        f"{use['hypotheses']} hypotheses",
        f"{use['conditions']} conditions",
        f"{use['bytes']} bytes",
        f"{steps} observations",
        "max_bytes is 60000",
    ):
        assert part in str(raised.value)
    assert learner.observations == steps
    # It has learned what one without a limit learns, but for the conditions that had no room.
    free = train(stream[:steps], schema, alpha=0.3)
    assert (
        train(stream[: steps - 1], schema, alpha=0.3)._save()
        == train(stream[: steps - 1], schema, alpha=0.3, max_bytes=60_000)._save()
    )
    assert free.memory_use()["conditions"] >= use["conditions"]
    learner.save(tmp_path / "qora")
    loaded = Qora.load(tmp_path / "qora")
    for each in (learner, loaded):
        for _ in range(2):
            with pytest.raises(ResourceError):
                each.observe(*stream[0])
        assert each.to_bytes() == learner.to_bytes()
        before, action, _ = stream[0]
        assert each.predict(before, action).mode() == free.predict(before, action).mode()


# ---------------------------------------------------- what it refuses


@pytest.mark.parametrize("alpha", [0, 1, -0.1, float("nan"), "0.1", True])
def test_other_levels_are_refused(alpha):
    with pytest.raises(SettingError, match="alpha must"):
        Qora(SCHEMA, alpha=alpha)


@pytest.mark.parametrize("most", [-1, 2.5, "1", 2**63])
def test_other_limits_are_refused(most):
    with pytest.raises(SettingError, match="max_bytes must"):
        Qora(SCHEMA, max_bytes=most)


def test_invalid_transitions_are_refused_and_not_learned():
    learner = train([(dots(1), "go", dots(2))], SCHEMA)
    content = learner.to_bytes()
    other = tt.make("walls").reset(seed=0)
    for transition, error in [
        ((dots(1), "og", dots(2)), UnknownNameError),
        ((dots(1), 3, dots(2)), WrongTypeError),
        ((None, "go", dots(2)), WrongTypeError),
        ((dots(1), "go", "x"), WrongTypeError),
        ((other, "go", dots(2)), StateError),
        ((dots(1), "go", other), StateError),
        ((dots(1), "go", dots(1, 2)), TransitionError),
        ((dots(3, -(2**63)), "go", dots(4, 2**63 - 1)), TransitionError),
    ]:
        with pytest.raises(error):
            learner.observe(*transition)
        assert learner.to_bytes() == content
    with pytest.raises(StateError, match="'x' does not fit 64 bits"):
        learner.predict(dots(2**63 - 1), "go")
    with pytest.raises(StateError, match="another schema"):
        learner.predict(other, "go")
    with pytest.raises(WrongTypeError):
        Qora("walls")  # type: ignore[arg-type]


def test_differences_beyond_64_bits_are_no_predicates():
    far = dots(-(2**63), 2**63 - 2, 0)
    Twins(SCHEMA, 0.5).follow([(far, "go", far), (far, "go", far.replace(2, x=1))] * 10)


# ---------------------------------------------------- files


@pytest.fixture(scope="module")
def small() -> Qora:
    """With hypotheses, unions and, among the tables, wide ones."""
    learner = train(lamps(0, 18), LAMPS, alpha=0.7)
    content: Any = learner._dump("cat", "at", "press")
    assert any(isinstance(case, list) for _, rows in content[2] for case, _ in rows)
    return learner


def with_body(learner: Qora, body: bytes) -> bytes:
    header, _ = file.unpack(learner.to_bytes(), "it")
    return file.pack(header, body)


def test_a_body_that_ends_early_or_late_is_refused(small):
    body = small._save()
    assert Qora.from_bytes(with_body(small, body)).to_bytes() == small.to_bytes()
    for length in {*range(0, len(body), max(1, len(body) // 200)), len(body) - 1}:
        with pytest.raises(ModelFileError):
            Qora.from_bytes(with_body(small, body[:length]))
    with pytest.raises(ModelFileError, match="left over"):
        Qora.from_bytes(with_body(small, body + b"\0"))


def test_a_damaged_body_is_refused_or_makes_a_learner_that_works(small):
    body = small._save()
    rng = random.Random(0)
    state = tt.State(LAMPS, [tt.Object(0, "lamp", at=1), tt.Object(9, "cat", at=1)])
    n_refused = 0
    for _ in range(1_500):
        damaged = bytearray(body)
        for _ in range(rng.choice([1, 1, 2, 5])):
            damaged[rng.randrange(len(body))] = rng.choice([0, 1, 2, 127, 255, rng.randrange(256)])
        try:
            learner = Qora.from_bytes(with_body(small, bytes(damaged)))
        except ModelFileError:
            n_refused += 1
            continue
        learner.predict(state, "press").mode()
        learner.observe(state, "press", state.replace(9, at=2))
        assert Qora.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()
    assert n_refused > 500


def test_files_of_other_learners_are_refused_in_both_directions(small, tmp_path):
    tree = tt.TreeThink(small.schema)
    with pytest.raises(ModelFileError, match=r"written by the learner 'treethink', not by 'qora'"):
        Qora.from_bytes(tree.to_bytes())
    small.save(tmp_path / "qora")
    with pytest.raises(ModelFileError, match=r"written by the learner 'qora'"):
        tt.TreeThink.load(tmp_path / "qora")
    for settings_ in ({}, {"alpha": 2}, {"beta": 1}, 5, None):
        header = {"learner": "qora", "schema": small.schema.to_dict(), "settings": settings_}
        if settings_ != {}:
            with pytest.raises(ModelFileError):
                Qora.from_bytes(file.pack(header, Qora(small.schema)._save()))
    with pytest.raises(ModelFileError):
        Qora.from_bytes(file.pack({"learner": "qora"}, b""))


@pytest.mark.parametrize("error", [ValueError, RecursionError, TypeError, KeyError])
def test_any_error_in_a_body_is_reported_as_for_other_learners(small, monkeypatch, error):
    def broken(*_):
        raise error("odd")

    content = small.to_bytes()
    monkeypatch.setattr(Qora, "restore", broken)
    with pytest.raises(ModelFileError, match=r"the data cannot be read: .*odd"):
        Qora.from_bytes(content)


def test_seventy_predicates_on_one_object_are_answered_as_one_number():
    """More than any word has bits: so many no stream of a test would ever join."""
    n = 70
    predicates = b"".join(number(0) + number(0) + number(0) + integer(x) for x in range(n))
    condition = number(n) + b"".join(map(number, range(n)))
    effects = number(2) + integer(1) + integer(2) + number(1) + number(1)
    predictor = effects + number(1) + condition + number(0) + number(1) + number(0)
    body = (
        number(3)
        + number(0)
        + number(n)
        + predicates
        + number(3)
        + integer(0)
        + number(1)
        + predictor
    )
    learner = Qora.from_bytes(with_body(Qora(SCHEMA), body))
    for x in (69, 3, 69, 100):
        learner.observe(dots(x), "go", dots(x + 1 + (x == 3)))
    (found,) = learner._dump("dot", "x", "go")[2]  # type: ignore[index]
    assert [words for words, _ in found[1]] == [[1, 0, 0, 0], [1, 0, 8, 0], [1, 32, 0, 0]]
    assert learner.predict(dots(3), "go").mode() == dots(5)
    assert learner.predict(dots(69), "go").mode() == dots(70)
    assert Qora.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()
