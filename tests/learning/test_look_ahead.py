"""Look-ahead: leaves split by the first of two tests that explain nothing alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

import joint_worlds
import treethink as tt
from handmade import number
from joint_worlds import WORLDS, Transition, stream
from treethink import file
from treethink.errors import ModelFileError

AT_ONCE, LATER, ONE_LOOK = 2**21, 32, 2**20
"""The account: what looks of a rule may examine at once, for each transition, and beyond."""


def learner(transitions: list[Transition], **settings: Any) -> tuple[tt.TreeThink, list[str]]:
    """A model that has observed nothing, and the list of the changes of its rules about turns."""
    model, events = tt.TreeThink(transitions[0][0].schema, **settings), list[str]()

    def note(event: Any) -> None:
        if event.rule[1] == "turns":
            events.append(f"{event.kind} {event.path}".strip())

    model.on_change = note
    return model, events


def errors(model: tt.TreeThink, transitions: list[Transition]) -> int:
    """How many transitions are not foretold with certainty."""
    wrong = 0
    for before, action, after in transitions:
        prediction = model.predict(before, action)
        turning = [x for x in before if "turns" in x.values]
        wrong += any(prediction.outcomes(x.id, "turns") != {after[x.id].turns: 1} for x in turning)
    return wrong


# ------------------------------------------------------------------------ what is learned


@pytest.mark.parametrize("criterion", ["evidence", "proven"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("world", WORLDS)
def test_what_takes_two_tests_is_learned_within_a_hundred_observations(world, seed, criterion):
    """A coin has a loss of ln 2 nats, so it takes 47 to pass 32 nats."""
    endless, _ = WORLDS[world]
    model, events = learner(stream(endless, 1), criterion=criterion)
    model.observe_many(stream(endless, 100, seed))
    assert events[0] == "split"
    assert errors(model, stream(endless, 60, seed=50)) == 0


def test_an_exclusive_or_is_not_looked_for_before_there_is_much_to_explain():
    model, events = learner(stream(joint_worlds.two_attributes, 1))
    model.observe_many(stream(joint_worlds.two_attributes, 40))
    assert events == []


def test_an_exclusive_or_becomes_the_tree_of_both_tests():
    model, events = learner(stream(joint_worlds.two_attributes, 1))
    model.observe_many(stream(joint_worlds.two_attributes, 300))
    assert sorted(events) == ["split", "split L", "split R"]
    assert str(model.rules["lamp", "turns", "go"]) == (
        "lamp.turns when go    X0: lamp\n"
        "X0[left] = no ?\n"
        "├─ yes: X0[right] = no ?\n"
        "│  ├─ yes: stays × 71\n"
        "│  └─ no:  +1 × 87\n"
        "└─ no:  X0[right] = no ?\n"
        "   ├─ yes: +1 × 71\n"
        "   └─ no:  stays × 71"
    )


@pytest.mark.parametrize("world", WORLDS)
def test_a_rule_that_takes_two_tests_is_found_through_noise(world):
    endless, class_name = WORLDS[world]
    model, events = learner(stream(endless, 1))
    model.observe_many(stream(endless, 400, noise=0.2))
    assert "split" in events
    for before, action, after in stream(endless, 60, seed=50):
        prediction = model.predict(before, action)
        for x in before.of_class(class_name):
            assert prediction.outcomes(x.id, "turns")[after[x.id].turns] > 0.7


@pytest.mark.parametrize(
    "settings", [{"memory": 0}, {"criterion": "wilson"}, {"branch_updates": False}]
)
@pytest.mark.parametrize("world", ["two_attributes", "cells"])
def test_nothing_looks_ahead_without_memory_evidence_or_updates(world, settings):
    endless, _ = WORLDS[world]
    model, events = learner(stream(endless, 1), **settings)
    model.observe_many(stream(endless, 300))
    assert events == []
    assert look_work(model) == 0


# ------------------------------------------------------------------------ nothing to learn


def flags_by_chance(rng: random.Random) -> Iterator[Transition]:
    """A lamp with four flags turns by chance."""
    names = [*"abcd"]
    attributes = {**{name: tt.Flag() for name in names}, "turns": joint_worlds.SILENT}
    schema = tt.Schema({"lamp": [*attributes]}, attributes, ["go"])
    while True:
        values = {name: rng.random() < 0.5 for name in names}
        before = tt.State(schema, [tt.Object(0, "lamp", **values, turns=0)])
        yield before, "go", joint_worlds.happens(before, 0, rng.random() < 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("endless", "streams"), [(flags_by_chance, 200), (joint_worlds.pure_noise, 60)]
)
def test_noise_is_not_explained_more_often_than_alpha_allows(endless, streams):
    alpha, mistaken, looked = 0.05, 0, 0
    for seed in range(streams):
        model, events = learner(stream(endless, 1), alpha=alpha)
        model.observe_many(stream(endless, 220, seed))
        mistaken += bool(events)
        looked += look_work(model) > 0
    assert looked >= 0.9 * streams
    assert mistaken <= alpha * streams


# ------------------------------------------------------------------------ the account


def numbers_in(body: bytes) -> Iterator[tuple[int, int, int]]:
    """All numbers of a model file's body, each with where it begins and where it ends."""
    value = shift = begin = 0
    for end, byte in enumerate(body, 1):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value, begin, end
            value, shift, begin = 0, 0, end


def place_of_looks(model: tt.TreeThink, body: bytes) -> tuple[int, int, int, int, int]:
    """Of the first rule that varies: its flags, where they begin and end, and the same of how much
    its looks have examined; which begins and ends at one place if the file does not say it."""
    numbers = numbers_in(body)
    next(numbers)  # observations
    for owned in model.schema.classes.values():
        for name in (m for m in model.schema.attributes if m in owned):
            next(numbers)  # transitions
            for _ in range(next(numbers)[0] * (model.schema.attributes[name].length + 1)):
                next(numbers)
            flags, begin, end = next(numbers)
            last = end
            if flags & 4 and next(numbers)[0] & 4:
                next(numbers)
            for each in (2, 8):
                for _ in range(2 if flags & each else 0):
                    _, _, last = next(numbers)
            if flags & 1:
                _, *work = next(numbers) if flags & 16 else (0, last, last)
                return flags, begin, end, work[0], work[1]
    raise AssertionError("no rule varies")


def look_work(model: tt.TreeThink) -> int:
    """How many groundings the looks of the first rule that varies have examined."""
    _, body = file.unpack(model.to_bytes(), "it")
    *_, begin, end = place_of_looks(model, body)
    return next(numbers_in(body[begin:end]))[0] if begin < end else 0


def with_look_work(model: tt.TreeThink, work: int) -> bytes:
    header, body = file.unpack(model.to_bytes(), "it")
    flags, flags_begin, flags_end, begin, end = place_of_looks(model, body)
    head = body[:flags_begin] + number(flags | 16) + body[flags_end:begin]
    return file.pack(header, head + number(work) + body[end:])


def test_looks_of_long_noise_are_bounded_by_the_account():
    model, _ = learner(stream(joint_worlds.noise_of_kinds, 1), memory=2000)
    most = 0
    for n, transition in enumerate(stream(joint_worlds.noise_of_kinds, 2400), 1):
        model.observe(*transition)
        if n > 300 and n % 20 == 0:
            work = look_work(model)
            assert work < AT_ONCE + LATER * n + ONE_LOOK
            most = max(most, work)
    assert most > AT_ONCE  # it was used up


def test_a_look_that_changes_something_settles_the_account():
    model, events = learner(stream(joint_worlds.cells, 1))
    for n, transition in enumerate(stream(joint_worlds.cells, 120), 1):
        model.observe(*transition)
        if events:
            assert look_work(model) == LATER * n
            return
    raise AssertionError("nothing has split")


def test_a_file_keeps_the_account_and_the_loaded_model_continues_like_the_old_one():
    for world, (endless, _) in WORLDS.items():
        transitions = stream(endless, 160, noise=0.1)
        model, events = learner(transitions, memory=150)
        for n, transition in enumerate(transitions):
            if n % 8 == 0:
                loaded = tt.TreeThink.from_bytes(model.to_bytes())
                for later in transitions[n : n + 8]:
                    loaded.observe(*later)
            model.observe(*transition)
            if n % 8 == 7:
                assert loaded.to_bytes() == model.to_bytes(), (world, n)
        assert events, world


@pytest.mark.parametrize("work", [0, 2**62, 2**63, AT_ONCE + ONE_LOOK + LATER * 120 + 1])
def test_a_file_with_more_looks_than_there_can_be_is_refused(work):
    model, _ = learner(stream(joint_worlds.cells, 1))
    model.observe_many(stream(joint_worlds.pure_noise, 120))
    assert tt.TreeThink.from_bytes(with_look_work(model, 7))
    with pytest.raises(ModelFileError, match=r"looks that it cannot|an amount of work"):
        tt.TreeThink.from_bytes(with_look_work(model, work))


@pytest.mark.parametrize(
    "settings", [{"memory": 0}, {"criterion": "wilson"}, {"branch_updates": False}]
)
def test_a_file_with_looks_of_a_model_that_takes_none_is_refused(settings):
    model, _ = learner(stream(joint_worlds.cells, 1), **settings)
    model.observe_many(stream(joint_worlds.pure_noise, 50))
    with pytest.raises(ModelFileError, match="looks that it cannot have taken"):
        tt.TreeThink.from_bytes(with_look_work(model, 7))


# ------------------------------------------------------------------------ names and order


@pytest.mark.parametrize("world", [*WORLDS, "noise_of_kinds"])
def test_renaming_and_reordering_objects_changes_no_look(world):
    endless = WORLDS[world][0] if world in WORLDS else joint_worlds.noise_of_kinds
    transitions, rng = stream(endless, 250, noise=0.2), random.Random(3)
    names = dict(zip(range(100), rng.sample(range(-500, 500), 100), strict=True))

    def renamed(state: tt.State) -> tt.State:
        objects = [tt.Object(names[x.id], x.class_name, **x.values) for x in state]
        return tt.State(state.schema, rng.sample(objects, len(objects)))

    (one, events), (other, events_of_other) = learner(transitions), learner(transitions)
    for before, action, after in transitions:
        one.observe(before, action, after)
        other.observe(renamed(before), action, renamed(after))
    assert events
    assert events == events_of_other
    assert look_work(one) == look_work(other)
