"""What every learner promises, as checks that any learner can be put through.

A learner has `observe(before, action, after)`, `predict(state, action)`, `save`, `load` and a
`name`. A check takes a way to make one for a schema, a stream of transitions and a folder to
write to, and asserts one promise. `CONTRACTS` lists them all, for tests to cross with learners
and worlds.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from treethink.state import Object, Schema, State

Transition = tuple[State, str, State]
Make = Callable[[Schema], Any]


def taught(make: Make, stream: Iterable[Transition], schema: Schema) -> Any:
    """A learner that has observed the stream."""
    learner = make(schema)
    for transition in stream:
        learner.observe(*transition)
    return learner


def saved(learner: Any, folder: Path) -> bytes:
    """All that a learner knows, as the bytes of its file."""
    learner.save(folder / "learner")
    return (folder / "learner").read_bytes()


def everything(prediction: Any) -> dict[tuple[int, str], tuple[dict[Any, float], int]]:
    """Outcomes and support of every attribute of every object."""
    return {
        (each.id, name): (prediction.outcomes(each.id, name), prediction.support(each.id, name))
        for each in prediction.state
        for name in each.values
    }


def predicting_changes_nothing_and_can_be_repeated(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema
    learner = taught(make, stream, schema)
    as_it_was = saved(learner, folder)
    for before, action, _ in stream[-20:]:
        first, second = learner.predict(before, action), learner.predict(before, action)
        assert everything(first) == everything(second)
        assert first.mode() == second.mode()
    assert saved(learner, folder) == as_it_was


def observing_leaves_its_input_alone(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    as_they_were = [(before.to_dict(), action, after.to_dict()) for before, action, after in stream]
    hashes = [(hash(before), hash(after)) for before, _, after in stream]
    taught(make, stream, stream[0][0].schema)
    assert as_they_were == [(b.to_dict(), action, a.to_dict()) for b, action, a in stream]
    assert hashes == [(hash(before), hash(after)) for before, _, after in stream]


def other_names_and_another_order_of_objects_only_rename_the_prediction(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema

    def renamed(state: State) -> State:
        objects = [Object(1000 - each.id, each.class_name, **each.values) for each in state]
        return State(schema, objects[::-1])

    other = [(renamed(before), action, renamed(after)) for before, action, after in stream]
    one_learner, other_learner = taught(make, stream, schema), taught(make, other, schema)
    for (before, action, _), (renamed_before, _, _) in zip(stream[-20:], other[-20:], strict=True):
        expected = everything(one_learner.predict(before, action))
        found = everything(other_learner.predict(renamed_before, action))
        assert found == {(1000 - x, name): each for (x, name), each in expected.items()}


def probabilities_sum_to_one(make: Make, stream: Sequence[Transition], folder: Path) -> None:
    learner = taught(make, stream, stream[0][0].schema)
    for before, action, _ in stream[-20:]:
        prediction = learner.predict(before, action)
        for outcomes, _ in everything(prediction).values():
            assert all(0 < probability <= 1 for probability in outcomes.values())
            assert math.isclose(math.fsum(outcomes.values()), 1.0)
        assert 0 < prediction.probability(prediction.mode()) <= 1


def an_unseen_action_gets_a_defined_answer(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema
    unseen = schema.actions[-1]
    learner = taught(make, [each for each in stream if each[1] != unseen], schema)
    for before, _, _ in stream[-5:]:
        prediction = learner.predict(before, unseen)
        assert prediction.mode() == before
        assert prediction.probability(before) == 1.0
        assert all(support == 0 for _, support in everything(prediction).values())


def an_unseen_class_gets_a_defined_answer(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema
    unseen = next(iter(schema.classes))

    def without(state: State) -> State:
        return State(schema, [each for each in state if each.class_name != unseen])

    learner = taught(make, [(without(b), action, without(a)) for b, action, a in stream], schema)
    for before, action, _ in stream[-5:]:
        found = everything(learner.predict(before, action))
        for each in before.of_class(unseen):
            for name, value in each.values.items():
                assert found[each.id, name] == ({value: 1.0}, 0)


def one_stream_gives_one_model_to_the_byte(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema
    one = taught(make, stream, schema)
    other = taught(make, copy.deepcopy(list(stream)), schema)
    assert saved(one, folder) == saved(other, folder)


def saving_loading_and_going_on_equals_going_on(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    schema = stream[0][0].schema
    half = len(stream) // 2
    stopped = taught(make, stream[:half], schema)
    stopped.save(folder / "half")
    resumed = type(stopped).load(folder / "half")
    for transition in stream[half:]:
        resumed.observe(*transition)
    assert saved(resumed, folder) == saved(taught(make, stream, schema), folder)


def memory_stays_flat_on_a_repeating_stream(
    make: Make, stream: Sequence[Transition], folder: Path
) -> None:
    """Only the counts may grow: one byte more whenever a number needs another seven bits."""
    learner = taught(make, list(stream) * 5, stream[0][0].schema)
    size = len(saved(learner, folder))
    for transition in list(stream) * 10:
        learner.observe(*transition)
    assert len(saved(learner, folder)) <= 1.5 * size


CONTRACTS: tuple[Callable[[Make, Sequence[Transition], Path], None], ...] = (
    predicting_changes_nothing_and_can_be_repeated,
    observing_leaves_its_input_alone,
    other_names_and_another_order_of_objects_only_rename_the_prediction,
    probabilities_sum_to_one,
    an_unseen_action_gets_a_defined_answer,
    an_unseen_class_gets_a_defined_answer,
    one_stream_gives_one_model_to_the_byte,
    saving_loading_and_going_on_equals_going_on,
    memory_stays_flat_on_a_repeating_stream,
)
