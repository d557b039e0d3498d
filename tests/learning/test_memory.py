"""Memory: new nodes start with the kept transitions, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from treethink import file
from treethink.checks import LEARNER_CHECKS
from treethink.errors import ModelFileError, SettingError
from treethink.stream.transition import AnyTransition

CRITERIA = ("wilson", "evidence", "proven")


def stream(name: str = "coins", steps: int = 600, seed: int = 0) -> list[AnyTransition]:
    return list(tt.transitions(tt.make(name), steps, seed))


def model(memory: int, criterion: str = "evidence", name: str = "coins") -> tt.TreeThink:
    return tt.TreeThink(tt.make(name).schema, criterion=criterion, memory=memory)


def count(node: Any) -> int:
    return sum(node.counts.values())


def test_children_of_a_split_count_the_kept_transitions() -> None:
    learner, empty = model(memory=10_000), model(memory=0)
    transitions = stream(steps=3_000)
    for each in (learner, empty):
        each.observe_many(transitions)
    rule, bare = (each.rules["player", "pos", "left"].root for each in (learner, empty))
    assert rule.left is not None and rule.right is not None
    assert (
        count(rule.left) + count(rule.right)
        == count(rule)
        == sum(a == "left" for _, a, _ in transitions)
    )
    assert bare.left is not None and bare.right is not None
    assert count(bare) < count(rule)


def test_a_rule_that_begins_to_vary_counts_the_kept_transitions() -> None:
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    off = tt.State(schema, [tt.Object(0, "lamp", on=0)])
    for memory, expected in ((0, 1), (5, 5), (100, 8)):
        learner = tt.TreeThink(schema, criterion="evidence", memory=memory)
        for _ in range(7):
            learner.observe(off, "press", off)
        learner.observe(off, "press", off.replace(0, on=1))
        totals = learner._dump("lamp", "on", "press")["totals"]  # rules tell all that was seen
        assert sum(totals.values()) == expected


def test_memory_limits_the_number_of_kept_transitions() -> None:
    few, many = model(memory=20), model(memory=10**6)
    for each in (few, many):
        each.observe_many(stream(steps=500))
    assert (few.memory_use()["kept"], many.memory_use()["kept"]) == (20, 500)
    assert few.memory_use()["bytes"] < many.memory_use()["bytes"]
    assert len(few.to_bytes()) < len(many.to_bytes())
    endless = model(memory=50, name="walls")
    level = list(islice(tt.transitions(tt.make("walls"), 40, 0), 40))
    for _ in range(10):
        endless.observe_many(level)
    bytes_before = endless.memory_use()["bytes"]
    for _ in range(20):
        endless.observe_many(level)
    assert endless.memory_use()["bytes"] <= bytes_before * 1.05


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("cut", [1, 17, 300, 301, 302, 450])
def test_saving_and_loading_at_any_moment_changes_nothing(criterion: str, cut: int) -> None:
    transitions = stream()
    uninterrupted = model(memory=120, criterion=criterion)
    uninterrupted.observe_many(transitions)
    interrupted = model(memory=120, criterion=criterion)
    interrupted.observe_many(transitions[:cut])
    for restored in (
        tt.TreeThink.from_bytes(interrupted.to_bytes()),
        pickle.loads(pickle.dumps(interrupted)),
        copy.deepcopy(interrupted),
    ):
        assert restored.to_bytes() == interrupted.to_bytes()
        assert restored.memory == 120 and restored.criterion == criterion
        restored.observe_many(transitions[cut:])
        assert restored.to_bytes() == uninterrupted.to_bytes()


def test_a_model_can_be_saved_at_every_single_step() -> None:
    """Also between the seeding of nodes and the decisions that wait for the next transition."""
    transitions = stream("maze", steps=160, seed=3)
    uninterrupted, saved = (model(memory=40, name="maze") for _ in range(2))
    for transition in transitions:
        uninterrupted.observe(*transition)
        saved.observe(*transition)
        saved = tt.TreeThink.from_bytes(saved.to_bytes())
    assert saved.to_bytes() == uninterrupted.to_bytes()


@pytest.mark.parametrize("criterion", ["evidence", "proven"])
@pytest.mark.parametrize("memory", [0, 30, 1000])
def test_dependent_targets_are_known_after_loading(criterion: str, memory: int) -> None:
    """Four lamps with one coin, then each as it is hot or cold: when that is found out depends
    on how many count as one, and that on all transitions since the first."""
    schema = tt.Schema({"lamp": ["heat", "on"]}, {"heat": 1, "on": 1}, ["go"])
    rng = random.Random(0)

    def transition(step: int) -> AnyTransition:
        lamps = [tt.Object(i, "lamp", heat=rng.randrange(2), on=0) for i in range(4)]
        before, coin = tt.State(schema, lamps), rng.randrange(2)
        on = {each.id: {"on": coin if step < 20 else each.heat} for each in before}
        return before, "go", before.replace_many(on)

    transitions = [transition(step) for step in range(90)]
    uninterrupted, saved, forgetful = (
        tt.TreeThink(schema, criterion=criterion, memory=memory) for _ in range(3)
    )
    split_at: dict[str, int] = {}
    for step, each in enumerate(transitions):
        uninterrupted.observe(*each)
        saved.observe(*each)
        saved = tt.TreeThink.from_bytes(saved.to_bytes())
        assert saved.to_bytes() == uninterrupted.to_bytes()
        if step >= 20:
            forgetful.observe(*each)
        for name, learner in (("straight", uninterrupted), ("forgetful", forgetful)):
            if learner.rules["lamp", "on", "go"].depth:
                split_at.setdefault(name, step)
    assert split_at["forgetful"] < split_at["straight"] < 89


fact = tt.Attribute(1, facts=("equality",))
LAMPS = tt.Schema(
    {"lamp": ["heat", "hue", "light"]},
    {"heat": fact, "hue": fact, "light": tt.Attribute(1, facts=(), outcomes="value")},
    ["go", "wait"],
)


def lamps(*kinds: tuple[int, int]) -> tt.State:
    return tt.State(
        LAMPS,
        [tt.Object(i, "lamp", heat=heat, hue=hue, light=0) for i, (heat, hue) in enumerate(kinds)],
    )


def test_seeded_nodes_decide_in_the_next_transition_also_after_loading() -> None:
    """Thirty cold lamps stay dark and the first hot one lights up: all are counted at once, and
    what they say is heard when somebody waits."""
    learner = tt.TreeThink(LAMPS, criterion="evidence", memory=100, alpha=0.1)
    cold, hot = lamps((0, 0)), lamps((1, 0))
    for _ in range(30):
        learner.observe(cold, "go", cold)
    learner.observe(hot, "go", hot.replace(0, light=1))
    assert learner.rules["lamp", "light", "go"].depth == 0
    loaded = tt.TreeThink.from_bytes(learner.to_bytes())
    for each in (learner, loaded):
        each.observe(cold, "wait", cold)
        root = each.rules["lamp", "light", "go"].root
        assert root.left is not None and root.right is not None
        assert sorted((count(root.left), count(root.right))) == [1, 30]
    assert loaded.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("criterion", ["wilson", "evidence"])
def test_each_replay_grows_one_level_of_a_rule_from_left_to_right(criterion: str) -> None:
    """All that heat and hue decide is seen in a single transition, of sixty-four lamps."""
    learner = tt.TreeThink(LAMPS, criterion=criterion, memory=5, alpha=0.1, max_candidates=8)
    changes: list[tuple[str, str]] = []
    learner.on_change = lambda change: changes.append((change.kind, change.path))
    before = lamps(*[(i % 2, i // 2 % 2) for i in range(64)])
    lit = {each.id: {"light": 2 * each.heat + each.hue} for each in before}
    learner.observe(before, "go", before.replace_many(lit))
    levels = []
    for _ in range(4):
        learner.observe(before, "wait", before)
        levels.append([*changes])
        changes.clear()
        use = learner.memory_use()
        assert use["candidates"] <= 8 * use["nodes"]
    assert levels == [[("split", "")], [("split", "L"), ("split", "R")], [], []]


def test_kept_transitions_can_be_left_out_of_a_file(tmp_path: Path) -> None:
    learner = model(memory=200)
    learner.observe_many(stream())
    learner.save(tmp_path / "bare.tt", memory=False)
    learner.save(tmp_path / "whole.tt")
    without_memory, with_memory = (
        tt.TreeThink.load(tmp_path / name) for name in ("bare.tt", "whole.tt")
    )
    assert (tmp_path / "bare.tt").stat().st_size < (tmp_path / "whole.tt").stat().st_size
    assert str(without_memory.rules["player", "pos", "left"]) == str(
        with_memory.rules["player", "pos", "left"]
    )
    without_memory.observe_many(stream(seed=1))
    assert without_memory.memory == 200


@pytest.mark.parametrize("wrong", [-1, 0.5, "5", None, True, 2**31])
def test_a_memory_that_makes_no_sense_is_refused(wrong: object) -> None:
    with pytest.raises(SettingError, match="memory"):
        tt.TreeThink(tt.make("walls").schema, criterion="evidence", memory=wrong)  # type: ignore[arg-type]


def test_a_foldt_refuses_memory() -> None:
    with pytest.raises(SettingError, match="memory must be 0: a FOLDT keeps no transitions"):
        tt.FOLDT(arg_classes=["player"], criterion="evidence", memory=5)


@pytest.mark.parametrize("check", LEARNER_CHECKS.values(), ids=LEARNER_CHECKS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_model_with_memory_passes_every_check_of_learners(
    check: object, criterion: str, tmp_path: Path
) -> None:
    def make(schema: tt.Schema) -> tt.TreeThink:
        return tt.TreeThink(schema, criterion=criterion, memory=60)

    check(make, stream("maze", steps=150), tmp_path)  # type: ignore[operator]


@pytest.mark.slow
def test_a_damaged_window_is_refused() -> None:
    learner = model(memory=10, name="walls")
    learner.observe_many(stream("walls", steps=30))
    header, body = file.unpack(learner.to_bytes(), "it")
    n_refused = 0
    for at in range(len(body) - 400, len(body)):
        for value in (0, 1, 127, 255):
            changed = bytearray(body)
            changed[at] = value
            try:
                damaged = tt.TreeThink.from_bytes(file.pack(header, bytes(changed)))
            except ModelFileError:
                n_refused += 1
            else:  # another model, but a whole one
                damaged.observe_many(stream("walls", steps=60, seed=2))
    assert n_refused > 100
    for length in range(len(body) - 200, len(body)):
        with pytest.raises(ModelFileError):
            tt.TreeThink.from_bytes(file.pack(header, body[:length]))


@pytest.mark.parametrize("bad", [0, 1, None, "no"])
def test_save_takes_only_booleans_for_memory(bad: Any, tmp_path: Path) -> None:
    with pytest.raises(tt.WrongTypeError, match=r"memory must be True .* or False, got"):
        model(memory=5).save(tmp_path / "it.tt", memory=bad)
    assert not list(tmp_path.iterdir())
