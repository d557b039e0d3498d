"""Where a model is wrong about a world, in as few objects as possible: `model.check(world, n)`.

    model, world -> random transitions -> [ checking ] -> Check (the smallest state found)

A prediction is right when it is what chance makes of the truth (see `examine.py`). One that is
wrong is made smaller: objects are removed as long as the world can still say what follows, and
the same leaf is still wrong in the same way.

A world that does not state its chances shows only what did follow. There a prediction is wrong
if it held that impossible; whether its chances are right can be told only of all together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treethink.errors import whole_number
from treethink.evaluation import wrong_values
from treethink.explain.compare.check_report import Check, Example, Unstated, Wrong
from treethink.explain.compare.minimize import smallest
from treethink.explain.distributions import as_changes
from treethink.metrics import Truth, marginals
from treethink.play.game import check_fit
from treethink.rules import RuleKey
from treethink.state import State
from treethink.stream.random_play import check_world_type, transitions
from treethink.worlds import World

if TYPE_CHECKING:
    from treethink.model import Prediction, TreeThink

_MOST_SHRUNK = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """A mistake, wherever it is made: the rule, what it says and how surely, what is true."""

    rule: RuleKey
    says: str
    support: int
    true: str
    outright: bool


def check(model: TreeThink, world: World, n: int, seed: int = 0) -> Check:
    """Look for a state in which the model is wrong, in `n` transitions of random play."""
    check_world_type(world, "a check")
    check_fit(model.schema, world)
    n = whole_number("n", n, 1)
    met: dict[Kind, tuple[State, str, Truth]] = {}
    unstated, wrong, tried = Unstated(), 0, 0
    for before, action, after in transitions(world, n, seed):
        tried += 1
        truth = world.truth(before, action, after)
        prediction = model.predict(before, action)
        kinds = _kinds(prediction, action, truth)
        wrong += bool(kinds)
        if isinstance(truth, State):
            unstated.add(prediction, truth)
        for kind in kinds:  # of each kind the smallest, and of those the first
            if kind not in met or len(before) < len(met[kind][0]):
                met[kind] = (before, action, truth)
    worst = sorted(met, key=lambda kind: not kind.outright)[:_MOST_SHRUNK]
    examples = [(kind, _shrunk(model, world, kind, *met[kind])) for kind in worst]
    _, example = min(examples, key=_rank, default=(None, None))
    return Check(model, world, tried, wrong, example, unstated)


def _rank(found: tuple[Kind, Example]) -> tuple[bool, int]:
    """What is plainly wrong comes before chances that are not quite right; then small states."""
    kind, example = found
    return not kind.outright, len(example.state)


def _shrunk(
    model: TreeThink, world: World, kind: Kind, met: State, action: str, truth: Truth
) -> Example:
    """The example with what is not needed removed, where the world allows that."""
    if not world.pure or isinstance(truth, State):
        return _made(model, met, action, truth, met)

    def still(state: State) -> bool:
        try:
            now = world.distribution(state, action)
        except Exception:  # without one of its objects, a world may fail in any way
            return False
        return kind in _kinds(model.predict(state, action), action, now)

    state = smallest(met, still)
    return _made(model, state, action, world.distribution(state, action), met)


def _made(model: TreeThink, state: State, action: str, truth: Truth, met: State) -> Example:
    wrong = tuple(_wrong(model.predict(state, action), truth))
    return Example(state, action, wrong, met)


def _wrong(prediction: Prediction, truth: Truth) -> Iterable[Wrong]:
    """The values that are predicted wrongly, with what is true."""
    state = prediction.state
    true = marginals(state, [(truth, 1.0)] if isinstance(truth, State) else truth)
    wrong = wrong_values(prediction, truth)
    for x, attribute in sorted((each.object_id, each.attribute) for each in wrong):
        stays = {state.value(x, attribute): 1.0}
        is_true = true.get((x, attribute), stays)
        predicted = prediction.outcomes(x, attribute)
        if isinstance(truth, State) and any(predicted.get(value, 0.0) > 0 for value in is_true):
            continue  # it may have been chance
        yield Wrong(x, attribute, predicted, prediction.support(x, attribute), is_true)


def _kinds(prediction: Prediction, action: str, truth: Truth) -> list[Kind]:
    state = prediction.state
    found: dict[Kind, None] = {}
    for each in _wrong(prediction, truth):
        key = (each.object_id, each.attribute)
        says = as_changes(state, *key, each.predicted)
        true = as_changes(state, *key, each.true)
        rule = (state[each.object_id].class_name, each.attribute, action)
        found[Kind(rule, says, each.support, true, each.outright)] = None
    return list(found)
