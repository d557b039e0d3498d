"""The neural baselines: the appendix's architecture, training, and hand-built weights."""

from __future__ import annotations

import itertools
import math
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import event, given
from hypothesis import strategies as st
from torch import Tensor, nn

import treethink as tt
from treethink.baselines import LEARNERS, Static, make_learner
from treethink.baselines.npe import network
from treethink.baselines.npe.encoding import Encoding
from treethink.baselines.npe.hand_built import HandBuilt
from treethink.baselines.npe.learner import HEADER, NPE
from treethink.baselines.npe.network import GraphCache, index_states
from treethink.baselines.npe.replay import Batch, Experience, Replay
from treethink.errors import ModelFileError, SettingError
from treethink.repro.runner import records
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Run, Transfer
from treethink.state import Object, State
from treethink.worlds import WORLDS, make

pytestmark = pytest.mark.slow

MAZE = make("maze")


def widths(block: Any) -> list[int]:
    linear = [each for each in block if isinstance(each, nn.Linear)]
    return [linear[0].in_features, *(each.out_features for each in linear)]


def count_wrong(learner: Any, stream: list[Any], at_once: int = 50) -> int:
    """How many transitions it gets wrong."""
    count = 0
    for first in range(0, len(stream), at_once):
        part = stream[first : first + at_once]
        predictions = learner.predict_many([(before, action) for before, action, _ in part])
        count += sum(
            each.mode() != after for each, (*_, after) in zip(predictions, part, strict=True)
        )
    return count


# ------------------------------------------------------------------------ architecture


def test_the_networks_are_as_wide_as_in_the_appendix() -> None:
    networks = NPE(MAZE.schema).networks
    assert widths(networks["transitions"].inner.f1) == [10, 16, 8, 8, 4]
    assert widths(networks["transitions"].inner.f2) == [14, 4, 5]
    assert widths(networks["rewards"].inner.f1) == [10, 16, 8, 8, 16]
    assert widths(networks["rewards"].inner.f2) == [26, 16]
    assert widths([networks["rewards"].last]) == [16, 1]


def test_npe_x_y_is_wider_and_deeper() -> None:
    learner = NPE(MAZE.schema, width=8, layers=3)
    networks = learner.networks
    assert widths(networks["transitions"].inner.f1) == [10, 128, 64, 64, 32, 32, 32]
    assert widths(networks["transitions"].inner.f2) == [42, 32, 32, 32, 5]
    assert widths(networks["rewards"].inner.f1) == [10, 128, 64, 64, 128, 128, 128]
    assert widths(networks["rewards"].inner.f2) == [138, 128, 128, 128]
    assert repr(learner) == "<NPE_8_3: 0 observations>"


def test_f1_ends_with_a_relu_and_f2_does_not() -> None:
    inner = NPE(MAZE.schema, layers=2).networks["transitions"].inner
    assert isinstance(inner.f1[-1], nn.ReLU) and isinstance(inner.f2[-1], nn.Linear)
    assert all(isinstance(each, nn.ReLU) for each in (*inner.f1[1::2], *inner.f2[1::2]))


def one_by_one(learner: NPE, x: Tensor, action: Tensor) -> tuple[Tensor, Tensor]:
    """What the paper writes: object after object, pair after pair. Vectors, and the reward."""
    networks: dict[str, Any] = dict(learner.networks.items())
    transitions, rewards = networks["transitions"], networks["rewards"]
    deltas = []
    for inner in (transitions.inner, rewards.inner):
        effects = [sum(inner.f1(torch.cat([i, j])) for j in x) for i in x]
        rows = [inner.f2(torch.cat([i, action, each])) for i, each in zip(x, effects, strict=True)]
        deltas.append(torch.stack(rows))
    return x + deltas[0], rewards.last(torch.relu(deltas[1]).sum(dim=0))[0]


@given(st.data())
def test_a_network_computes_the_formula_of_the_paper(data: st.DataObject) -> None:
    """Vectors that states share are looked up, or not if they share few: it is the same."""
    learner = NPE(MAZE.schema, width=2, layers=2, seed=data.draw(st.integers(0, 5)))
    few, n = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    vectors = torch.from_numpy(rng.integers(-3, 9, (few, 5)).astype(np.float32))
    index = torch.from_numpy(rng.integers(-1, few, (data.draw(st.integers(1, 5)), n)))
    action = torch.eye(5)[rng.integers(5, size=len(index))]
    indexed = index_states(vectors, index)
    networks = (learner.networks["transitions"], learner.networks["rewards"])
    for state, chosen, rows, points in zip(
        index, action, *(each(indexed, action) for each in networks), strict=True
    ):
        present = state >= 0
        if present.any():
            after, reward = one_by_one(learner, vectors[state[present]], chosen)
            assert torch.allclose(rows[present], after, atol=1e-3)
            assert torch.allclose(points, reward, atol=1e-3)
    event("shared" if len(indexed.vectors) == 1 and len(index) > 1 else "own")


def test_padding_changes_nothing() -> None:
    learner = NPE(make("lights").schema, seed=1)
    world = make("lights")
    questions = [(world.reset(seed), "toggle") for seed in range(8)]
    assert len({len(state) for state, _ in questions}) > 1
    predictions = learner.predict_many(questions)
    assert [each.mode() for each in predictions] == [
        learner.predict(*each).mode() for each in questions
    ]


# ----------------------------------------------------------------------------- vectors


def test_an_object_is_its_class_and_its_attributes() -> None:
    world = make("keys")
    encoding = Encoding(world.schema)
    assert encoding.classes == ["wall", "door", "key", "goal", "player"]
    assert encoding.attributes == ["pos", "open", "status"] and encoding.d == 5 + 2 + 1 + 1
    state = State(
        world.schema, [Object(3, "key", pos=(4, 7), status=2), Object(9, "game", score=5)]
    )
    assert encoding.encoded(state).vectors.tolist() == [[0, 0, 1, 0, 0, 4, 7, 0, 2]]


def test_the_same_ids_may_be_of_other_classes_in_another_state() -> None:
    schema = tt.Schema({"a": ["pos"], "b": ["pos"]}, {"pos": 2}, ["x"])
    one, other = (
        State(schema, [Object(0, "a", pos=(1, 1)), Object(1, name, pos=(2, 2))]) for name in "ab"
    )
    for first, second in ((one, other), (other, one)):
        learner = NPE(schema)
        learner.predict(first, "x")
        expected = NPE(schema).predict(second, "x").mode()
        assert learner.predict(second, "x").mode() == expected


def test_cached_encodings_are_not_reused_for_other_states() -> None:
    learner = NPE(MAZE.schema)
    for seed in range(100):
        learner.predict(MAZE.reset(seed), "right")
    loaded = pickle.loads(pickle.dumps(learner))
    del learner
    for seed in range(1_000, 1_300):
        state = MAZE.reset(seed)
        assert loaded.predict(state, "right").state == state
    assert len(loaded.encoding._cache) <= 128


@pytest.mark.parametrize("objects", [[], [Object(5, "game", score=0)]])
def test_a_state_may_have_no_objects(objects: list[Object]) -> None:
    learner = NPE(MAZE.schema, episode=2)
    state = State(MAZE.schema, objects)
    for _ in range(4):
        learner.observe(state, "left", state)
        assert learner.predict(state, "left").mode().ids == state.ids
    full = MAZE.reset(0)
    predictions = learner.predict_many([(state, "left"), (full, "left"), (state, "up")])
    assert [each.state for each in predictions] == [state, full, state]
    assert learner.predict_many([]) == []


def test_a_score_of_two_numbers_is_no_reward() -> None:
    schema = tt.Schema({"a": ["pos"], "game": ["score"]}, {"pos": 1, "score": 2}, ["x"])
    state = State(schema, [Object(0, "a", pos=1), Object(1, "game", score=(0, 0))])
    learner = NPE(schema, episode=1)
    learner.observe(state, "x", state)
    assert "rewards" not in learner.networks


def test_incremental_encoding_equals_full_encoding() -> None:
    for name in ("maze", "keys", "lights", "switches"):
        world = make(name)
        encoding = Encoding(world.schema)
        for before, _, after in tt.transitions(world, steps=120, seed=0):
            for state in (before, after):
                fast, slow = encoding.encoded(state), Encoding(world.schema).encoded(state)
                assert np.array_equal(fast.vectors, slow.vectors)
                row = dict(zip(fast.ids.tolist(), fast.vectors.tolist(), strict=True))
                assert row == dict(zip(slow.ids.tolist(), slow.vectors.tolist(), strict=True))


# ------------------------------------------------------------------------------ replay


def test_a_full_replay_evicts_at_random() -> None:
    replay, rng = Replay(10, 2, 3, torch.device("cpu")), np.random.default_rng(0)
    for i in range(200):
        vectors = np.full((1 + i % 3, 2), i % 50, dtype=np.float32)
        replay.add(Experience(vectors, vectors + 1, i % 3, float(i)), int(rng.integers(10)))
        assert len(replay) == min(i + 1, 10)
    rewards = replay.parts()[-1].tolist()
    assert len(set(rewards)) == 10 and min(rewards) < 190  # not simply the last ten
    batches = list(replay.batches(4, rng))
    assert sorted(len(each.reward) for each in batches) == [2, 2, 3, 3]
    assert sorted(torch.cat([each.reward for each in batches]).tolist()) == sorted(rewards)
    for batch in batches:
        for index, after, action, reward in zip(*batch[1:], strict=True):
            present, n, i = index >= 0, 1 + int(reward) % 3, int(reward) % 50
            assert present.tolist() == [True] * n + [False] * (len(present) - n)
            assert (batch.vectors[index[present]] == i).all() and (after[present] == i + 1).all()
            assert action.tolist() == np.eye(3)[int(reward) % 3].tolist() and not after[n:].any()


@given(st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), max_size=60))
def test_batches_depend_only_on_the_content_of_the_replay(streams: list[list[int]]) -> None:
    """Not what was kept before: a learner that comes out of a file goes on in the same way."""
    replay, rng = Replay(3, 1, 1, torch.device("cpu")), np.random.default_rng(0)
    for each in streams:
        vectors = np.array(each, dtype=np.float32)[:, None]
        replay.add(Experience(vectors, vectors, 0, 0.0), int(rng.integers(3)))
    restored = Replay(3, 1, 1, torch.device("cpu"))
    restored.restore(replay.parts())
    for batch, restored_batch in zip(
        replay.batches(2, np.random.default_rng(1)),
        restored.batches(2, np.random.default_rng(1)),
        strict=True,
    ):
        assert all(torch.equal(a, b) for a, b in zip(batch, restored_batch, strict=True))
        used = {n for each in replay.parts()[0][replay.parts()[2] > 0].tolist() for n in each}
        assert batch.vectors[: len(used), 0].tolist() == sorted(used)
        assert not batch.vectors[len(used) :].any()


# ---------------------------------------------------------------------------- learning


def test_it_trains_at_the_end_of_each_episode() -> None:
    learner = NPE(MAZE.schema, episode=20, batches=3)
    weights = [each.clone() for each in learner.networks.parameters()]
    for i, transition in enumerate(tt.transitions(MAZE, steps=40, seed=0), start=1):
        learner.observe(*transition)
        now = list(learner.networks.parameters())
        same = all(torch.equal(a, b) for a, b in zip(weights, now, strict=True))
        assert same == (i < 20)
        assert math.isnan(learner.loss[0]) == (i < 20)
    assert learner.observations == 40


def test_it_learns() -> None:
    world = make("walls", width=4, height=4, wall_percent=0)
    learner = NPE(world.schema, width=4, episode=10, replay=200, learning_rate=0.003)
    stream = list(tt.transitions(world, steps=1_500, seed=0))
    first: tuple[float, float] | None = None
    for transition in stream:
        learner.observe(*transition)
        first = first or (None if math.isnan(learner.loss[0]) else learner.loss)
    assert first is not None and learner.loss[0] < first[0] / 20
    held_out = list(tt.transitions(world, steps=100, seed=9))
    static = sum(before != after for before, _, after in held_out)
    assert count_wrong(learner, held_out) < static / 3


@pytest.mark.parametrize("name", WORLDS)
def test_npe_runs_in_every_world(name: str) -> None:
    world = make(name)
    learner = NPE(world.schema, episode=3, batches=2)
    for before, action, after in tt.transitions(world, steps=6, seed=0):
        learner.observe(before, action, after)
        assert isinstance(learner.predict(before, action).mode(), State)
    assert not math.isnan(learner.loss[0])
    assert ("rewards" in learner.networks) == world.keeps_score
    assert learner.memory_use()["bytes"] > 1_000


def test_every_output_of_a_network_becomes_a_state() -> None:
    for value in (math.nan, math.inf, -math.inf, 1e30):
        learner = NPE(MAZE.schema)
        with torch.no_grad():
            for each in learner.networks.parameters():
                each.fill_(value)
        assert isinstance(learner.predict(MAZE.reset(0), "right").mode(), State)


def test_a_recorded_graph_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a CPU, a replay computes the function again from the recorded inputs."""
    monkeypatch.setattr(network, "_WARM_UP", 5)
    replays = Counter[str]()

    def record(compute: Any) -> Any:
        result = compute.func(*compute.args) if compute.func.__name__ == "_forward" else None
        result = torch.zeros(2) if result is None else torch.zeros_like(result)

        def replay() -> None:
            replays[compute.func.__name__] += 1
            result.copy_(compute())

        return replay, result

    plain, recorded = (NPE(MAZE.schema, episode=5, replay=20, batches=2) for _ in range(2))
    recorded._run_step = GraphCache(recorded._step, record)
    recorded._run_forward = GraphCache(recorded._forward, record)
    large = make("maze", width=9, height=9)  # more objects: other shapes, recorded again
    for world in (MAZE, large):
        for before, action, after in tt.transitions(world, steps=120, seed=0):
            expected = plain.predict(before, action).mode()
            assert recorded.predict(before, action).mode() == expected
            plain.observe(before, action, after)
            recorded.observe(before, action, after)
        assert recorded.to_bytes() == plain.to_bytes() and recorded.loss == plain.loss
    assert replays["_step"] > 50 and replays["_forward"] > 100


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu_it_learns_nearly_the_same_as_on_a_cpu() -> None:
    """With real CUDA graphs; sums have another order, so results differ in the last bits."""
    one, other = (NPE(MAZE.schema, episode=10, device=each) for each in ("cpu", "cuda"))
    for transition in tt.transitions(MAZE, steps=300, seed=0):
        one.observe(*transition)
        other.observe(*transition)
    assert np.allclose(one.loss, other.loss, rtol=0.1)
    assert other._run_step._graphs  # type: ignore[attr-defined]


def test_padding_is_not_learned_from() -> None:
    learner = NPE(MAZE.schema)
    vectors = torch.tensor([[1.0, 0, 0, 3, 4], [0, 1, 0, 5, 6]])
    places = torch.tensor([[0, 1, -1], [1, -1, -1]])
    after = torch.zeros(2, 3, 5)
    batch = Batch(vectors, places, after, torch.eye(5)[:2], torch.zeros(2))
    more = batch._replace(
        places=torch.nn.functional.pad(places, (0, 4), value=-1),
        after=torch.nn.functional.pad(after, (0, 0, 0, 4), value=99.0),
    )
    losses = [NPE(MAZE.schema)._step(each) for each in (batch, more)]
    assert torch.allclose(*losses) and learner.loss != losses


def test_the_optimizer_is_the_papers() -> None:
    learner = NPE(MAZE.schema)
    assert type(learner.optimizer) is torch.optim.AdamW
    assert [each["lr"] for each in learner.optimizer.param_groups] == [0.001]
    other = NPE(MAZE.schema, learning_rate=0.01)
    assert [each["lr"] for each in other.optimizer.param_groups] == [0.01]


def test_eviction_and_the_order_of_batches_are_random() -> None:
    learner = NPE(MAZE.schema, episode=25, replay=50, batches=5)
    slots = []
    for transition in tt.transitions(MAZE, steps=500, seed=0):
        learner.observe(*transition)
        slots.append(learner._slot())
    assert len(set(slots)) == 50 and slots != sorted(slots)  # any place, in any order
    batches = list(learner.replay.batches(5, np.random.default_rng(3)))
    rewards = torch.cat([each.reward for each in batches])
    assert rewards.tolist() != learner.replay.parts()[-1].tolist()
    assert sorted(rewards.tolist()) == sorted(learner.replay.parts()[-1].tolist())


def test_large_requests_are_split_into_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, sizes = NPE(MAZE.schema), []
    answers = learner._answers
    monkeypatch.setattr(learner, "_answers", lambda part: sizes.append(len(part)) or answers(part))
    small, large = MAZE.reset(0), make("maze", width=16, height=16).reset(0)
    states = [small, *[large] * 40, *[small] * 100]
    assert len(learner.predict_many([(each, "up") for each in states])) == len(states)
    assert sum(sizes) == len(states) and max(sizes) <= 2**17 // len(small) ** 2
    assert max(sizes[:5]) <= 2**17 // len(large) ** 2  # where a large one is among them


def test_prediction_uses_one_thread_and_restores_the_setting() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        learner, thread_counts = NPE(MAZE.schema, episode=1), []
        learner._run_forward = lambda questions: (
            thread_counts.append(torch.get_num_threads()) or learner._forward(questions)
        )
        learner.predict(MAZE.reset(0), "up")
        assert thread_counts == [1] and torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_results_depend_only_on_the_seed() -> None:
    stream = list(tt.transitions(MAZE, steps=60, seed=0))

    def train(**settings: Any) -> bytes:
        learner = NPE(MAZE.schema, replay=40, **settings)
        for transition in stream:
            learner.observe(*transition)
        return learner.to_bytes()

    torch.manual_seed(1)
    one = train(seed=1)
    torch.manual_seed(2)  # nobody else's random numbers matter, and nobody's are used up
    expected = torch.rand(1)
    torch.manual_seed(2)
    assert train(seed=1) == one and torch.equal(torch.rand(1), expected)
    assert train(seed=2) != one


# ------------------------------------------------------------------------------- files


def test_files_that_are_damaged_are_refused(tmp_path: Path) -> None:
    learner = NPE(MAZE.schema)
    for transition in tt.transitions(MAZE, steps=60, seed=0):
        learner.observe(*transition)
    content = learner.to_bytes()
    assert NPE.from_bytes(content).to_bytes() == content
    for damaged in (content[:-1], content[:-400], content[: len(content) // 2], content + b"1234"):
        with pytest.raises(ModelFileError):
            NPE.from_bytes(damaged)
    other = NPE(MAZE.schema, width=2).to_bytes()
    with pytest.raises(ModelFileError):
        HandBuilt.from_bytes(other)


@pytest.mark.parametrize(
    "head",
    [
        (1, 0, 2**60, 1),
        (1, 0, 1_000, 2**60),
        (1, 2**60, 0, 0),
        (0, 0, 1, 1),
        (0, 0, 0, 1_000_000),
        (0, 0, 1, 1_000_000),
    ],
)
def test_a_hostile_head_is_refused(head: tuple[int, ...]) -> None:
    learner = NPE(MAZE.schema)
    body = HEADER.pack(*head, 0.0, 0.0) + learner.body()[HEADER.size :]
    with pytest.raises(ValueError, match=r"transitions|numbers"):
        learner.restore(body)
    with pytest.raises(ValueError, match="it has 20 bytes, where 48 come first"):
        learner.restore(body[:20])


# ----------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"width": 0}, "width must be at least 1, got 0"),
        ({"layers": 1.5}, "layers must be a whole number, got 1.5"),
        ({"replay": 10**9}, "replay must be at most 1,000,000"),
        ({"batches": True}, "batches must be a whole number, got True"),
        ({"learning_rate": 0}, "learning_rate must be above 0 and at most 1, got 0"),
        ({"learning_rate": math.nan}, "learning_rate must be above 0"),
        ({"learning_rate": "fast"}, "learning_rate must be above 0 and at most 1, got 'fast'"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 2**63}, "seed must be below 2\\*\\*63"),
        ({"width": 20_000}, "width 20,000 and layers 1 make more than 100,000,000 weights"),
        ({"layers": 1_000_000}, "width 1 and layers 1,000,000 make more than"),
        ({"device": "abacus"}, "PyTorch has here, such as 'cpu', got 'abacus'"),
        ({"device": "meta"}, "PyTorch has here, such as 'cpu', got 'meta'"),
        ({"device": 3.5}, "PyTorch has here, such as 'cpu', got 3.5"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        NPE(MAZE.schema, **settings)


def test_a_schema_without_objects_is_refused() -> None:
    with pytest.raises(SettingError, match="the schema has no class but the game"):
        NPE(tt.Schema({"game": ["score"]}, {"score": 1}, ["x"]))


def test_a_score_stays_a_number() -> None:
    state = MAZE.reset(0)
    lowest = state.replace(state.of_class("game")[0].id, score=-(2**63))
    after = HandBuilt(MAZE.schema).predict(lowest, "right").mode()
    assert after.of_class("game")[0].score <= -(2**63) + 1


def test_questions_are_checked() -> None:
    for learner in (NPE(MAZE.schema), HandBuilt(MAZE.schema)):
        assert learner.predict_many([]) == []
        with pytest.raises(tt.StateError, match="another schema"):
            learner.predict_many([(make("walls").reset(0), "right")])
        with pytest.raises(tt.UnknownNameError, match="rihgt"):
            learner.predict_many([(MAZE.reset(0), "rihgt")])


def test_without_pytorch_all_else_works() -> None:
    code = """
import sys
sys.modules["torch"] = None
import treethink as tt
from treethink.baselines import LEARNERS, make_learner
assert {"npe", "npe-star", "qora"} <= set(LEARNERS) and len(LEARNERS) == len(list(LEARNERS))
make_learner("qora", tt.make("walls"))
try:
    make_learner("npe", tt.make("walls"))
except tt.MissingPackageError as error:
    print(error)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == (
        "learner 'npe' needs PyTorch, which is not installed:"
        " pip install '.[neural]' in a clone of TreeThink\n"
    )


def test_pytorch_is_not_imported_unless_asked_for() -> None:
    code = "import sys, treethink.baselines, treethink.cli; print('torch' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert process.stdout == "False\n"
    assert LEARNERS["npe"] is NPE and LEARNERS["npe-star"] is HandBuilt


# ------------------------------------------------------------------------ built by hand


@pytest.mark.parametrize(
    "size, goals, steps", [(8, 2, 2_000), (8, 20, 500), (13, 9, 200), (24, 30, 30), (32, 50, 15)]
)
def test_the_hand_built_network_is_right(size: int, goals: int, steps: int) -> None:
    world = make("maze", width=size, height=size, goals=goals)
    assert count_wrong(HandBuilt(world.schema), list(tt.transitions(world, steps, seed=1))) == 0


def test_the_hand_built_network_is_right_about_all_small_scenes() -> None:
    """Everything that can be around a player, on it and in the way, and far away as well."""
    centre, beside = (7, -3), ((6, -3), (8, -3), (7, -4), (7, -2))
    learner = HandBuilt(MAZE.schema)
    transitions: list[Any] = []
    kinds = ("", "wall", "goal", "wall goal", "wall wall goal goal")
    for around in itertools.product(kinds, repeat=4):
        for under in ("", "goal", "wall"):
            things = list(zip(around, beside, strict=True))
            things += [(under, centre), ("wall goal", (900, -3)), ("wall", (8, -2))]
            objects = [Object(0, "player", pos=centre), Object(1, "game", score=-12)]
            for names, place in things:
                for name in names.split():
                    objects.append(Object(len(objects), name, pos=place))
            state = State(MAZE.schema, objects)
            transitions += [
                (state, action, MAZE.distribution(state, action)[0][0]) for action in MAZE.actions
            ]
    assert len(transitions) == 5**4 * 3 * 5
    assert count_wrong(learner, transitions, at_once=500) == 0


def test_the_hand_built_network_has_the_appendix_widths_and_whole_weights() -> None:
    networks, plain = HandBuilt(MAZE.schema).networks, NPE(MAZE.schema).networks
    shapes = [each.shape for each in plain.parameters()]
    assert [each.shape for each in networks.parameters()] == shapes
    for each in networks.parameters():
        assert torch.equal(each, each.round()) and each.abs().max() <= 3


@pytest.mark.parametrize("name", ["walls", "maze-scoreless", "maze-t"])
def test_the_hand_built_network_works_in_worlds_of_walls_and_goals(name: str) -> None:
    world = make(name)
    learner = make_learner("npe-star", world)
    assert count_wrong(learner, list(tt.transitions(world, 20, seed=2)), at_once=10) == 0
    assert repr(learner) == "<NPE*: built by hand>"
    assert type(learner).from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("name", ["coins", "keys", "doors", "lights", "fish", "taxi"])
def test_the_hand_built_network_refuses_other_worlds(name: str) -> None:
    with pytest.raises(SettingError, match="built by hand for `maze`"):
        make_learner("npe-star", make(name))


def test_planning_with_the_hand_built_network_equals_planning_with_the_world() -> None:
    world = make("maze", width=10, height=10, goals=5)
    learner = HandBuilt(world.schema)
    for level in range(2):
        state = world.reset(level)
        assert tt.plan(learner, state, 60, horizon=10) == tt.plan(world, state, 60, horizon=10)


def test_an_untrained_network_is_worse_than_static() -> None:
    """A network that has learned nothing yet is worse than to expect no change."""
    stream = list(tt.transitions(MAZE, steps=50, seed=0))
    network = sum(tt.error(NPE(MAZE.schema).predict(b, a), after) for b, a, after in stream)
    nothing = sum(tt.error(Static(MAZE.schema).predict(b, a), after) for b, a, after in stream)
    assert network > nothing


# ------------------------------------------------------------------------- experiments


def test_a_run_is_the_same_with_batched_and_single_predictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two epochs its answers do not change: it is asked about all steps at once."""
    run = Run(
        "walls", "npe", "NPE", seed=0, steps=75, window=15, episode=10, examine=20,
        options={"width": 5, "height": 5}, settings={"episode": 20, "replay": 40},
        transfer=Transfer("walls", every=30, steps=5, options={"width": 6, "height": 6}),
    )  # fmt: skip
    batch_sizes: list[int] = []
    many = NPE.predict_many
    monkeypatch.setattr(
        NPE, "predict_many", lambda self, x: batch_sizes.append(len(x)) or many(self, x)
    )
    together = perform(run, tmp_path / "together")
    assert batch_sizes == [20, 20, 20, 15]
    monkeypatch.setattr(NPE, "steady_for", 1)
    alone = perform(run, tmp_path / "alone")
    assert len(batch_sizes) == 4 and together is not None and alone is not None
    times = ("seconds", "commit")
    assert {k: v for k, v in together.items() if k not in times} == {
        k: v for k, v in alone.items() if k not in times
    }
    run_records = [
        records.RunRecord(tmp_path / "together", together),
        records.RunRecord(tmp_path / "alone", alone),
    ]
    assert run_records[0].errors[0].tolist() == run_records[1].errors[0].tolist()
    windows = [each.windows for each in run_records]
    for name in ("error", "transfer_error", "loss_vectors"):
        assert np.array_equal(windows[0][name], windows[1][name], equal_nan=True)
    assert np.isnan(windows[0]["loss_vectors"]).tolist() == [True, False, False, False, False]


def test_a_resumed_run_of_a_network_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    run = Run(
        "walls", "npe", "NPE", seed=1, steps=60, window=20, options={"width": 5, "height": 5},
        settings={"episode": 15, "replay": 30},
    )  # fmt: skip
    uninterrupted = perform(run, tmp_path / "whole")
    stops = iter([True] * 25 + [False] + [True] * 1_000)
    part = tmp_path / "part"
    assert perform(run, part, tell=lambda *_: next(stops), tell_every=0.0, save_every=0.0) is None
    resumed = perform(run, part)
    assert (
        uninterrupted is not None
        and resumed is not None
        and uninterrupted["last_error"] == resumed["last_error"]
    )
    one, other = (
        records.RunRecord(tmp_path / "whole", uninterrupted),
        records.RunRecord(part, resumed),
    )
    assert one.errors[1].tolist() == other.errors[1].tolist()
