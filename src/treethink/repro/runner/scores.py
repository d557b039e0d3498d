"""Score a learner's most likely states: on held-out play, under stress, and in another world.

    learner, world -> [ score ] -> StateScores of each, as plain data for the entry of a run

The errors of a run are distances of distributions. These scores ask something plainer: is the most
likely state exactly right, also where something changes? Where chance decides, it is right if it
is one of the most likely true states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from treethink.explain.compare.counterexample import situations
from treethink.metrics import TOLERANCE, StateScores, Truth, error
from treethink.repro.runner.spec import HELD_OUT, Run
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World

Predict = Callable[[State, str], Any]
#: Situations put together at random, and transitions of another world, that are scored at most.
MOST_ELSEWHERE = 1_000
#: What is scored; None stands for what a world or a run does not have.
PARTS = ("held_out", "stress", "transfer")


def score(
    predict: Predict, world: World, elsewhere: World | None, run: Run, report: Callable[[], None]
) -> dict[str, Any]:
    """Return the scores of a run; `report` is called before each prediction."""

    def scored(cases: Iterator[tuple[State, str, Truth]]) -> dict[str, Any] | None:
        scores, certain = StateScores(), 0
        for before, action, truth in cases:
            report()
            prediction = predict(before, action)
            predicted = prediction.mode()
            scores.add(before, predicted, _likeliest(truth, predicted))
            certain += error(prediction, truth) <= TOLERANCE
        return {**scores.to_dict(), "certain": certain} if scores.n else None

    fewer = min(run.score, MOST_ELSEWHERE)
    return {
        "held_out": scored(_played(world, run.score, run)),
        "stress": scored(situations(world, fewer, HELD_OUT + run.seed)),
        "transfer": None if elsewhere is None else scored(_played(elsewhere, fewer, run)),
    }


def _likeliest(truth: Truth, predicted: State) -> State:
    """Return the most likely true state; of several, the predicted one if it is among them."""
    if isinstance(truth, State):
        return truth
    most = max(chance for _, chance in truth)
    likely = [state for state, chance in truth if chance > most - TOLERANCE]
    return predicted if predicted in likely else likely[0]


def _played(world: World, steps: int, run: Run) -> Iterator[tuple[State, str, Truth]]:
    for before, action, after, *_ in transitions(world, steps, HELD_OUT + run.seed, run.episode):
        yield before, action, world.truth(before, action, after)


def check_scored(value: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the scores of an entry that was read; None if nothing is."""
    for part in PARTS:
        counts = value.get(part)
        if counts is None:
            continue
        if not isinstance(counts, Mapping):
            return f"{part} must be a table or null"
        for name in ("n", "exact", "changing", "exact_changing", "certain"):
            if type(counts.get(name)) is not int or counts[name] < 0:
                return f"{part}, {name} must be a whole number of at least 0"
        f1 = counts.get("f1")
        if f1 is not None and not (isinstance(f1, int | float) and 0 <= f1 <= 1):
            return f"{part}, f1 must be a number from 0 to 1 or null"
    return None
