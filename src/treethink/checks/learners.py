"""Contracts of learners. See `treethink.checks`.

A learner has `observe(before, action, after)`, `predict(state, action)`, `save`, `load` and a
`name`; if it keeps transitions, `memory` is their number. A learner that cannot keep a contract
declares that in `cannot_keep`: {name of the check: the reason}. A check takes a function that makes
a learner for a schema, a stream of transitions (a few hundred, of one schema) and a folder to write
to.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from treethink.errors import CheckFailed, UnknownNameError, WrongTypeError, shown
from treethink.state import Object, Schema, State
from treethink.stream.transition import AnyTransition

Make = Callable[[Schema], Any]
Check = Callable[[Make, Sequence[AnyTransition], Path], None]


def check_learner(make: Make, stream: Sequence[AnyTransition]) -> None:
    """Run all checks on a learner; raise a `CheckFailed` for the first one that fails.

    Checks that it lists in `cannot_keep` are skipped.

    >>> import treethink as tt
    >>> stream = list(tt.transitions(tt.make("walls", width=5, height=5), steps=100, seed=0))
    >>> check_learner(tt.TreeThink, stream)
    """
    skipped = declared(make(stream[0][0].schema))
    for name, check in LEARNER_CHECKS.items():
        if name in skipped:
            continue
        with TemporaryDirectory() as folder:
            try:
                check(make, stream, Path(folder))
            except CheckFailed:
                raise
            except Exception as error:
                error.add_note(f"(raised by a learner being checked: {name.replace('_', ' ')})")
                raise


def declared(learner: Any) -> Mapping[str, str]:
    """Return the checks that a learner declares it cannot pass, with the reason for each."""
    reasons = getattr(learner, "cannot_keep", {})
    where = f"cannot_keep of learner {getattr(learner, 'name', learner)!r}"
    if not isinstance(reasons, Mapping):
        raise WrongTypeError(f"{where} must be a dict from checks to reasons, got {shown(reasons)}")
    for name, reason in reasons.items():
        if name not in LEARNER_CHECKS:
            raise UnknownNameError("check", str(name), LEARNER_CHECKS, where)
        if not isinstance(reason, str) or not reason:
            raise WrongTypeError(f"{where} must give a reason for {name!r}, got {shown(reason)}")
    return reasons


def _require(condition: bool, learner: Any, failure: str) -> None:
    if not condition:
        raise CheckFailed(f"learner {getattr(learner, 'name', learner)!r}: {failure}")


def trained(make: Make, stream: Iterable[AnyTransition], schema: Schema) -> Any:
    """Return a learner that has observed the stream."""
    learner = make(schema)
    for transition in stream:
        learner.observe(*transition)
    return learner


def content_of(learner: Any, folder: Path) -> bytes:
    """Return the bytes of a learner's file, which hold everything it knows."""
    learner.save(folder / "learner")
    return (folder / "learner").read_bytes()


def all_outcomes(prediction: Any) -> dict[tuple[int, str], tuple[dict[Any, float], int]]:
    """Return outcomes and support of every attribute of every object, without derived ones."""
    return {
        (each.id, name): (prediction.outcomes(each.id, name), prediction.support(each.id, name))
        for each in prediction.state
        for name in prediction.state.schema.predicted(each.class_name)
    }


def predicting_changes_nothing_and_can_be_repeated(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """A second prediction equals the first, and predicting does not change the learner."""
    learner = trained(make, stream, stream[0][0].schema)
    original = content_of(learner, folder)
    for before, action, *_ in stream[-20:]:
        first, second = learner.predict(before, action), learner.predict(before, action)
        same = all_outcomes(first) == all_outcomes(second) and first.mode() == second.mode()
        _require(same, learner, f"asked twice about {action!r} in {before!r}, it says two things")
    _require(content_of(learner, folder) == original, learner, "predicting changed what it knows")


def observing_leaves_its_input_alone(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """Observing does not change the states."""

    def content() -> list[Any]:
        return [(b.to_dict(), hash(b), action, a.to_dict(), hash(a)) for b, action, a, *_ in stream]

    original = content()
    learner = trained(make, stream, stream[0][0].schema)
    _require(content() == original, learner, "observing changed the states that it was shown")


def other_names_and_another_order_of_objects_only_rename_the_prediction(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """Ids carry no meaning."""
    schema = stream[0][0].schema
    most = max(each.id for before, *_ in stream for each in before)

    def renamed(state: State) -> State:
        objects = [Object(most - each.id, each.class_name, **each.values) for each in state]
        return State(schema, objects[::-1])

    other = [(renamed(before), action, renamed(after)) for before, action, after, *_ in stream]
    one_learner, other_learner = trained(make, stream, schema), trained(make, other, schema)
    for (before, action, *_), (renamed_before, *_) in zip(stream[-20:], other[-20:], strict=True):
        expected = all_outcomes(one_learner.predict(before, action))
        predicted = all_outcomes(other_learner.predict(renamed_before, action))
        _require(
            predicted == {(most - x, name): each for (x, name), each in expected.items()},
            one_learner,
            f"with other ids for all objects, it says something else of {action!r} in {before!r}",
        )


def probabilities_sum_to_one(make: Make, stream: Sequence[AnyTransition], folder: Path) -> None:
    """Probabilities of every attribute sum to 1, and the mode has a probability above 0."""
    learner = trained(make, stream, stream[0][0].schema)
    for before, action, *_ in stream[-20:]:
        prediction = learner.predict(before, action)
        for (x, name), (outcomes, _) in all_outcomes(prediction).items():
            _require(
                all(0 < probability <= 1 for probability in outcomes.values())
                and math.isclose(math.fsum(outcomes.values()), 1.0),
                learner,
                f"of {name!r} of object {x} after {action!r} it says {outcomes}",
            )
        likely = prediction.probability(prediction.mode())
        _require(0 < likely <= 1, learner, f"its mode after {action!r} has probability {likely}")


def an_unseen_action_gets_a_defined_answer(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """An unseen action is predicted to change nothing, with a support of 0."""
    schema = stream[0][0].schema
    unseen = schema.actions[-1]
    learner = trained(make, [each for each in stream if each[1] != unseen], schema)
    for before, *_ in stream[-5:]:
        prediction = learner.predict(before, unseen)
        _require(
            prediction.mode() == before and prediction.probability(before) == 1.0,
            learner,
            f"it has never seen {unseen!r}, and yet expects a change of {before!r}",
        )
        support = sum(support for _, support in all_outcomes(prediction).values())
        _require(not support, learner, f"it has never seen {unseen!r}, and claims support for it")


def an_unseen_class_gets_a_defined_answer(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """Objects of an unseen class are predicted to stay as they are, with a support of 0."""
    schema = stream[0][0].schema
    unseen = next(iter(schema.classes))

    def without(state: State) -> State:
        return State(schema, [each for each in state if each.class_name != unseen])

    learner = trained(
        make, [(without(b), action, without(a)) for b, action, a, *_ in stream], schema
    )
    for before, action, *_ in stream[-5:]:
        predicted = all_outcomes(learner.predict(before, action))
        for each in before.of_class(unseen):
            for name in schema.predicted(unseen):
                value = each.values[name]
                outcome = predicted[each.id, name]
                _require(
                    outcome == ({value: 1.0}, 0),
                    learner,
                    f"it has never seen a {unseen!r}, and says of its {name!r}: {outcome}",
                )


def one_stream_gives_one_model_to_the_byte(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """Two learners that observed the same stream save the same file."""
    schema = stream[0][0].schema
    one = trained(make, stream, schema)
    other = trained(make, copy.deepcopy(list(stream)), schema)
    _require(
        content_of(one, folder) == content_of(other, folder), one, "one stream gave two models"
    )


def saving_loading_and_going_on_equals_going_on(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """A file holds everything that a learner knows."""
    schema = stream[0][0].schema
    half = len(stream) // 2
    stopped = trained(make, stream[:half], schema)
    stopped.save(folder / "half")
    resumed = type(stopped).load(folder / "half")
    for transition in stream[half:]:
        resumed.observe(*transition)
    same = content_of(resumed, folder) == content_of(trained(make, stream, schema), folder)
    _require(same, stopped, "after saving and loading it learns something else")


def memory_stays_flat_on_a_repeating_stream(
    make: Make, stream: Sequence[AnyTransition], folder: Path
) -> None:
    """Only the counts may grow: by one byte whenever a number needs another seven bits.

    The learner's memory has to be full first. The stream must be one that the learner can learn: a
    short stream of a random world can only be memorised, and more so with every repetition.
    """
    schema = stream[0][0].schema
    memory = getattr(make(schema), "memory", 0)
    to_fill = math.ceil(memory / len(stream)) if isinstance(memory, int) else 0
    repeated = list(stream) * max(5, to_fill)
    learner = trained(make, repeated, schema)
    size = len(content_of(learner, folder))
    for transition in repeated * 2:
        learner.observe(*transition)
    final = len(content_of(learner, folder))
    _require(
        final <= 1.5 * size,
        learner,
        f"on a stream that repeats itself its file grew from {size:,} to {final:,} bytes",
    )


LEARNER_CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
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
}
