"""Evaluate a model on held-out transitions and on the scenes of a world's rules.

    model, world, held-out stream, training -> [ examine ] -> Examination, with Mistakes

A model has learned a world when it predicts every transition of a held-out stream exactly as
`world.truth` states it, and every scene of the world's rules. Where chance decides what follows,
no finite number of samples gives exact probabilities; there a prediction is right if a chi-square
test of the counts behind it does not reject the true distribution.

A `Mistake` is a leaf of a rule that predicts something wrong. Such a leaf has met more than one
truth, and predicts a mixture of them. What matters is how often training showed another truth
there than the one that the leaf comes nearest to: if it did so often, the learner has a defect; if
not, the situation was not seen enough. To count that, the training stream is predicted once more
with the final model, so transitions from before the leaf was created count too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from treethink import metrics
from treethink.metrics import (
    TOLERANCE,
    Distribution,
    Truth,
    Value,
    WrongValue,
    chi_square,
    chi_square_tail,
    distance,
    each_change,
    error,
    marginals,
)
from treethink.rules import RuleKey
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World

#: A leaf that was shown otherwise this often and is still wrong is a defect of the learner.
ENOUGH = 30

# One leaf predicts thousands of transitions, so few tests are made, and none fails by chance.
_IMPLAUSIBLE = 1e-6
_MOST_LISTED = 5
_HELD_OUT_STEPS, _HELD_OUT_SEED = 1_000, 1_000_000
_UNSTATED = "this world does not state its chances: what looks wrong may be its own randomness"

#: Outcomes and their probabilities, most likely first.
Chances = tuple[tuple[Value, float], ...]
#: A leaf: its rule, its predicted outcomes, and the number of observations behind them.
Leaf = tuple[RuleKey, Chances, int]


class Prediction(metrics.Prediction, Protocol):
    """What an evaluation needs of a prediction."""

    def mode(self) -> State:
        """Return the most likely state."""

    def outcomes(self, object_id: int, attribute: str, /) -> Distribution:
        """Return the distribution over new values of one attribute."""

    def support(self, object_id: int, attribute: str, /) -> int:
        """Return the number of observations behind that distribution."""


class Model(Protocol):
    """What an evaluation needs of a model."""

    def predict(self, state: State, action: str, /) -> Prediction:
        """Return the distribution over next states."""


@dataclass(slots=True)
class Mistake:
    """A leaf of a rule that predicts something wrong.

    `says` are its outcomes with their probabilities, `support` the observations behind them. It
    was wrong in `held_out` transitions of the held-out stream and in `scenes`. `shown` is the
    number of training transitions that showed something else there; None if training is not known.
    """

    rule: RuleKey
    says: Chances
    support: int
    held_out: int = 0
    scenes: list[str] = field(default_factory=list)
    shown: int | None = None

    @property
    def is_defect(self) -> bool:
        """Whether training showed it often enough for the learner to be right."""
        return self.shown is not None and self.shown >= ENOUGH

    def __str__(self) -> str:
        outcomes = " or ".join(f"{value} ({chance:.4g})" for value, chance in self.says)
        text = (
            f"{'.'.join(self.rule)} says {outcomes} after {self.support:,} observations: wrong"
            f" {self.held_out:,} times and in {len(self.scenes)} scenes"
        )
        if self.shown is None:
            return text
        verdict = "a defect" if self.is_defect else "not seen enough"
        return f"{text}, shown otherwise {self.shown:,} times: {verdict}"


@dataclass(slots=True)
class Examination:
    """The result of an evaluation.

    Of `held_out` transitions, `exact` were predicted exactly, `plausible` as well as chance
    allows, and `right_mode` with a most likely state as the mode. `chance` says whether any
    transition was random. `stated` says whether the world states its true distribution; otherwise
    predictions were compared with the state that followed. `mean_error` is the mean distance to
    the truth.
    """

    held_out: int = 0
    exact: int = 0
    plausible: int = 0
    right_mode: int = 0
    mean_error: float = 0.0
    chance: bool = False
    stated: bool = True
    scenes: int = 0
    wrong_scenes: list[str] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    @property
    def learned(self) -> bool:
        """Whether the model has learned the world."""
        right = self.plausible if self.chance else self.exact
        tested = self.held_out + self.scenes > 0
        return tested and right == self.held_out and not self.wrong_scenes

    def __str__(self) -> str:
        """Return the verdict and the main numbers in a few lines."""
        lines = [f"{self.exact:,} of {self.held_out:,} held-out transitions predicted exactly"]
        if self.chance:
            lines[0] += f", {self.plausible:,} as well as chance allows"
        elif not self.stated and self.exact < self.held_out:
            lines[0] += f", of {self.right_mode:,} the most likely outcome followed"
        if self.scenes:
            right = self.scenes - len(self.wrong_scenes)
            lines[0] += f"; {right:,} of {self.scenes:,} scenes of its rules right"
        lines += [f"  wrong: {scene}" for scene in self.wrong_scenes[:_MOST_LISTED]]
        if len(self.wrong_scenes) > _MOST_LISTED:
            lines.append(f"  and {len(self.wrong_scenes) - _MOST_LISTED:,} more")
        if self.learned:
            return "\n".join(["learned", *lines])
        if not self.stated:
            return "\n".join([*lines, _UNSTATED])
        return "\n".join(["NOT learned", *lines])

    @property
    def defects(self) -> list[Mistake]:
        """The mistakes of the learner: those that training showed often enough."""
        return [each for each in self.mistakes if each.is_defect]


def examine(
    model: Model,
    world: World,
    held_out: Iterable[AnyTransition] | None = None,
    training: Iterable[AnyTransition] | None = None,
) -> Examination:
    """Evaluate a model on a held-out stream and on the world's scenes.

    Without `held_out`, 1,000 transitions of random play are used, with a seed that is unlikely to
    be one of yours. `training` is what the model learned from. It is read only if there are
    mistakes, to count how often each was shown.

    >>> from treethink.model import TreeThink
    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> model = TreeThink(world.schema)
    >>> model.observe_many(transitions(world, steps=1_000, seed=0))
    1000
    >>> print(examine(model, world))
    learned
    1,000 of 1,000 held-out transitions predicted exactly; 12 of 12 scenes of its rules right
    """
    if held_out is None:
        held_out = transitions(world, _HELD_OUT_STEPS, _HELD_OUT_SEED)
    result, mistakes = Examination(), _MistakesByLeaf(model, world)
    for before, action, after, *_ in held_out:
        prediction, truth = model.predict(before, action), world.truth(before, action, after)
        if not _add(result, prediction, truth):
            for mistake in mistakes.add(prediction, action, wrong_values(prediction, truth)):
                mistake.held_out += 1
    if result.held_out:
        result.mean_error /= result.held_out
    for scene in world.scenes():
        result.scenes += 1
        prediction = model.predict(scene.before, scene.action)
        wrong = list(wrong_values(prediction, scene.truth))
        if wrong:
            result.wrong_scenes.append(scene.says)
        for mistake in mistakes.add(prediction, scene.action, wrong):
            mistake.scenes.append(scene.says)
    if training is not None:
        mistakes.count_shown(training, result.chance)
    result.mistakes = mistakes.sorted()
    return result


def _add(result: Examination, prediction: Prediction, truth: Truth) -> bool:
    """Add one prediction to the result; return whether it is right."""
    distance_to_truth = error(prediction, truth)
    states = _with_probabilities(truth)
    most = max(probability for _, probability in states)
    exact = distance_to_truth <= TOLERANCE
    right = exact or not any(wrong_values(prediction, truth))
    result.held_out += 1
    result.stated &= not isinstance(truth, State)
    result.chance |= len(states) > 1
    result.mean_error += distance_to_truth
    result.exact += exact
    result.plausible += right
    result.right_mode += prediction.mode() in [s for s, p in states if p > most - TOLERANCE]
    return right


def wrong_values(prediction: Prediction, truth: Truth) -> Iterator[WrongValue]:
    """Yield the values whose predicted distribution is wrong.

    Where the truth is certain, the prediction must equal it. Otherwise a chi-square test decides
    whether the counts behind the prediction could come from the true distribution.
    """
    before = prediction.state
    true: dict[tuple[int, str], Distribution] = {**marginals(before, _with_probabilities(truth))}
    for each, name, _ in each_change(prediction):
        true.setdefault((each, name), {before.value(each, name): 1.0})
    for key, values in true.items():
        predicted, support = prediction.outcomes(*key), prediction.support(*key)
        if len(values) == 1 or not support:
            right = distance(predicted, values) <= TOLERANCE
        else:
            counts = {value: chance * support for value, chance in predicted.items()}
            statistic, freedom = chi_square(counts, values)
            # With too few observations for any test, the distribution has not been learned.
            right = freedom > 0 and chi_square_tail(statistic, freedom) >= _IMPLAUSIBLE
        if not right:
            yield WrongValue(*key, predicted, values, support)


def _with_probabilities(truth: Truth) -> list[tuple[State, float]]:
    return [(truth, 1.0)] if isinstance(truth, State) else list(truth)


# ---------------------------------------------------------------------------- mistakes


class _MistakesByLeaf:
    """The mistakes of one model, by leaf."""

    def __init__(self, model: Model, world: World):
        self._model = model
        self._world = world
        self._by_leaf: dict[Leaf, Mistake] = {}

    def add(
        self, prediction: Prediction, action: str, wrong: Iterable[WrongValue]
    ) -> list[Mistake]:
        """Return the mistakes behind one prediction, given its wrong values."""
        leaves = {_leaf(prediction, action, each.object_id, each.attribute): None for each in wrong}
        return [self._by_leaf.setdefault(leaf, Mistake(*leaf)) for leaf in leaves]

    def sorted(self) -> list[Mistake]:
        """Return the mistakes, most frequent first."""
        return sorted(self._by_leaf.values(), key=lambda each: (-each.held_out, -len(each.scenes)))

    def count_shown(self, training: Iterable[AnyTransition], chance: bool) -> None:
        """Count for each mistake how often training showed another outcome at its leaf."""
        likeliest: dict[str, dict[tuple[str, str], set[Value]]] = defaultdict(dict)
        for (class_name, attribute, action), says, _ in self._by_leaf:
            likeliest[action].setdefault((class_name, attribute), set()).add(says[0][0])
        truths: dict[Leaf, Counter[Chances]] = defaultdict(Counter)
        leaves_reached = self._reached_by_chance if chance else self._reached
        for transition in training if likeliest else ():
            rules = likeliest.get(transition[1])
            for leaf, truth in set(leaves_reached(transition, rules)) if rules else ():
                if leaf in self._by_leaf:
                    truths[leaf][truth] += 1
        for leaf, mistake in self._by_leaf.items():
            nearest = _nearest(leaf[1], truths[leaf])
            mistake.shown = sum(n for truth, n in truths[leaf].items() if truth != nearest)

    def _reached(
        self, transition: AnyTransition, rules: Mapping[tuple[str, str], set[Value]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """Yield the leaves that a certain transition reached, with the true outcome.

        Leaves whose most likely outcome is true are left out: finding a leaf takes time.
        """
        before, action, after, *_ = transition
        prediction: Prediction | None = None
        for (class_name, attribute), outcomes in rules.items():
            for each in before.of_class(class_name):
                outcome = _outcome(before, each.id, attribute, after.value(each.id, attribute))
                if outcomes != {outcome}:
                    prediction = prediction or self._model.predict(before, action)
                    yield _leaf(prediction, action, each.id, attribute), ((outcome, 1.0),)

    def _reached_by_chance(
        self, transition: AnyTransition, rules: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """Yield the leaves that a random transition reached, with the true distribution."""
        before, action, *_ = transition
        prediction = self._model.predict(before, action)
        true: dict[tuple[int, str], dict[Value, float]] | None = None
        for class_name, attribute in rules:
            for each in before.of_class(class_name):
                leaf = _leaf(prediction, action, each.id, attribute)
                if leaf in self._by_leaf:
                    true = true or self._marginals(transition)
                    values = true.get((each.id, attribute)) or {each.values[attribute]: 1.0}
                    yield leaf, _chances(before, each.id, attribute, values)

    def _marginals(self, transition: AnyTransition) -> dict[tuple[int, str], dict[Value, float]]:
        return marginals(transition[0], _with_probabilities(self._world.truth(*transition[:3])))


def _nearest(says: Chances, truths: Iterable[Chances]) -> Chances | None:
    """Return the truth that overlaps most with what a leaf says.

    Only truths with the leaf's most likely outcome as theirs are considered.
    """
    likeliest, predicted = says[0][0], dict(says)

    def shared(truth: Chances) -> float:
        return sum(min(chance, predicted.get(value, 0.0)) for value, chance in truth)

    possible = [truth for truth in truths if dict(truth).get(likeliest, 0.0) >= truth[0][1] - 1e-9]
    return max(possible, key=lambda truth: (shared(truth), repr(truth)), default=None)


def _leaf(prediction: Prediction, action: str, object_id: int, attribute: str) -> Leaf:
    """Return the leaf behind a predicted value: its rule, its outcomes and its support."""
    before = prediction.state
    return (
        (before[object_id].class_name, attribute, action),
        _chances(before, object_id, attribute, prediction.outcomes(object_id, attribute)),
        prediction.support(object_id, attribute),
    )


def _chances(before: State, object_id: int, attribute: str, values: Distribution) -> Chances:
    chances = (
        (_outcome(before, object_id, attribute, value), round(probability, 9))
        for value, probability in values.items()
    )
    return tuple(sorted(chances, key=lambda each: (-each[1], repr(each[0]))))


def _outcome(before: State, object_id: int, attribute: str, value: Any) -> Value:
    """Return a new value as a rule predicts it: the change, or the value itself."""
    if before.schema.attributes[attribute].outcomes == "value":
        return value  # type: ignore[no-any-return]
    old = before.value(object_id, attribute)
    if isinstance(value, tuple):
        return tuple(new - was for was, new in zip(old, value, strict=True))
    return value - old  # type: ignore[no-any-return]
