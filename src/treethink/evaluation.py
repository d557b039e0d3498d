"""Evaluate a model: on a world, on its scenes, or on any transitions.

    model, world or transitions -> [ evaluate ] -> Evaluation, with Mistakes

A model has learned a world when it predicts every transition of a held-out stream exactly as
`world.truth` states it, and every scene of the world's rules. A model that has learned rewards or
ends must predict these, too. Where chance decides what follows, no finite number of samples gives
exact probabilities; there a prediction is right if a chi-square test of the counts behind it does
not reject the true distribution.

A `Mistake` is a leaf of a rule that predicts something wrong. Such a leaf has met more than one
truth, and predicts a mixture of them. What matters is how often training showed another truth
there than the one that the leaf comes nearest to: if it did so often, something is missing that
the leaf's rule cannot express (see `model.doubts`); if not, the situation was not seen enough. To
count that, the training stream is predicted once more with the final model, so transitions from
before the leaf was created count too.

Transitions without a world state only what followed. A prediction of them that is not exact is
either wrong (it gave what followed no chance), unsure (it gave it some chance), or rests on
something that was never seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from treethink import metrics
from treethink.errors import WrongTypeError, shown, whole_number
from treethink.feedback import (
    FeedbackTruth,
    learned_feedback,
    predicted_feedback,
    true_feedback,
)
from treethink.frames import Outcome, default_frame
from treethink.metrics import (
    TOLERANCE,
    Distribution,
    Truth,
    WrongValue,
    chi_square,
    chi_square_tail,
    distance,
    each_change,
    error,
    marginals,
)
from treethink.rules import TRANSITION, RuleKey
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition, Transition, as_transition
from treethink.worlds import World

#: A leaf that was shown otherwise this often and is still wrong cannot express what it was shown.
ENOUGH = 30

# One leaf predicts thousands of transitions, so few tests are made, and none fails by chance.
_IMPLAUSIBLE = 1e-6
_MOST_LISTED = 5
_HELD_OUT_STEPS = 1_000
#: A seed of held-out transitions that is unlikely to be one of yours.
HELD_OUT_SEED = 1_000_000
_VERDICTS = {True: "learned", False: "NOT learned", None: "cannot tell whether it is learned"}
_UNSTATED = "this world does not state its chances: what looks wrong may be its own randomness"
_UNSTATED_LOG = "transitions do not state their chances: what is unsure may be random"

#: Outcomes and their probabilities, most likely first.
Chances = tuple[tuple[Outcome, float], ...]
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
        """Whether training showed it often enough: then something is missing, not more data."""
        return self.shown is not None and self.shown >= ENOUGH

    def __str__(self) -> str:
        outcomes = " or ".join(f"{value} ({chance:.4g})" for value, chance in self.says)
        text = (
            f"{'.'.join(self.rule)} says {outcomes} after {self.support:,} observations: wrong"
            f" {self.held_out:,} times and in {len(self.scenes)} scenes"
        )
        if self.shown is None:
            return text
        verdict = "its rule lacks something" if self.is_defect else "not seen enough"
        return f"{text}, shown otherwise {self.shown:,} times: {verdict}"


@dataclass(slots=True)
class Evaluation:
    """The result of an evaluation.

    Of `held_out` transitions, `exact` were predicted exactly, `plausible` as well as chance
    allows, and `right_mode` with a most likely state as the mode. The others, which are not
    plausible, are `wrong` (the truth was given no chance), `never_seen` (the answer rests on
    something that was never seen, see `Prediction.novel`) or `unsure` (the truth was given some
    chance: a leaf that mixes outcomes). `chance` says whether any transition was random. `stated`
    says whether the truth is a distribution that a world states; otherwise predictions were
    compared with the state that followed, of a world or of `given` transitions. `mean_error` is
    the mean distance to the truth.
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
    wrong: int = 0
    unsure: int = 0
    never_seen: int = 0
    given: bool = False

    @property
    def learned(self) -> bool:
        """Whether the model predicts everything as well as chance allows."""
        right = self.plausible if self.chance else self.exact
        tested = self.held_out + self.scenes > 0
        return tested and right == self.held_out and not self.wrong_scenes

    def __str__(self) -> str:
        """Return the verdict and the main numbers in a few lines."""
        return self.to_text()

    def to_text(self, may_be_random: bool = True) -> str:
        """Return the verdict and the main numbers in a few lines.

        `may_be_random` says whether unsure answers may be due to chance that nobody stated, which
        leaves the verdict open.
        """
        lines = [self._numbers(), *self._failures()]
        lines += [f"  wrong: {scene}" for scene in self.wrong_scenes[:_MOST_LISTED]]
        if len(self.wrong_scenes) > _MOST_LISTED:
            lines.append(f"  and {len(self.wrong_scenes) - _MOST_LISTED:,} more")
        if self.verdict(may_be_random) is None:
            lines.append(_UNSTATED_LOG if self.given else _UNSTATED)
        return "\n".join([self._verdict(may_be_random), *lines])

    def to_line(self, may_be_random: bool = True) -> str:
        """Return the verdict and the main number in one line."""
        return f"{self._verdict(may_be_random)}: {self._numbers()}"

    def verdict(self, may_be_random: bool = True) -> bool | None:
        """Return whether it is learned; None if that cannot be told.

        `may_be_random` is that of `to_text`.
        """
        if self.learned:
            return True
        sure = self.stated or not may_be_random or (self.given and self.wrong + self.never_seen)
        return False if sure else None

    def _verdict(self, may_be_random: bool) -> str:
        return _VERDICTS[self.verdict(may_be_random)]

    def _numbers(self) -> str:
        what = "transitions" if self.given else "held-out transitions"
        text = f"{self.exact:,} of {self.held_out:,} {what} predicted exactly"
        if self.chance:
            text += f", {self.plausible:,} as well as chance allows"
        elif not self.stated and self.exact < self.held_out:
            text += f", of {self.right_mode:,} the most likely outcome followed"
        if self.scenes:
            right = self.scenes - len(self.wrong_scenes)
            text += f"; {right:,} of {self.scenes:,} scenes of its rules right"
        return text

    def _failures(self) -> Iterator[str]:
        if self.wrong:
            yield f"  {self.wrong:,} wrong: what followed was given no chance"
        if self.never_seen:
            yield f"  {self.never_seen:,} never seen: the answer rests on nothing that was observed"
        if self.unsure:
            yield f"  {self.unsure:,} unsure: what followed was one of several possible outcomes"

    @property
    def defects(self) -> list[Mistake]:
        """The mistakes that training showed often enough: more of it would not help."""
        return [each for each in self.mistakes if each.is_defect]


#: The name that `examine` gives to its result.
Examination = Evaluation


def evaluate(
    model: Model,
    world_or_transitions: World | Iterable[AnyTransition],
    n: int | None = None,
    seed: int = HELD_OUT_SEED,
    training: Iterable[AnyTransition] | None = None,
) -> Evaluation:
    """Compare a model's predictions with a world, or with any transitions.

    A world is played at random, `n` transitions (1,000 by default) with a seed that is unlikely to
    be one of yours, and its scenes are predicted too. Of an iterable of transitions, such as a
    log, the first `n` are used, or all; they are compared with the states that followed.
    `training` is what the model learned from. It is read only if there are mistakes, to count how
    often each was shown.

    >>> from treethink.model import TreeThink
    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> log = list(transitions(world, steps=1_000, seed=0))
    >>> model = TreeThink(world.schema)
    >>> model.observe_many(log[:20])
    20
    >>> print(evaluate(model, log[500:]))  # doctest: +ELLIPSIS
    NOT learned
    ... of 500 transitions predicted exactly...
    >>> model.observe_many(log[20:500])
    480
    >>> print(evaluate(model, log[500:]))
    learned
    500 of 500 transitions predicted exactly
    """
    if not callable(getattr(model, "predict", None)) or isinstance(model, type):
        raise WrongTypeError(
            f"an evaluation needs a model with predict(state, action), got {shown(model)}"
        )
    if isinstance(world_or_transitions, World):
        steps = _HELD_OUT_STEPS if n is None else whole_number("n", n, 1)
        stream = transitions(world_or_transitions, steps, seed)
        return examine(model, world_or_transitions, stream, training)
    result, mistakes = Evaluation(given=True), _MistakesByLeaf(model, None)
    _add_all(result, mistakes, given_transitions(world_or_transitions, n, "an evaluation"))
    _finish(result, mistakes, training)
    return result


def given_transitions(
    transitions: object, n: int | None = None, who: str = "this"
) -> Iterator[Transition]:
    """Return the first `n` transitions of an iterable, or all; raise an error if it is none."""
    if isinstance(transitions, (str, bytes, State)) or not isinstance(transitions, Iterable):
        raise WrongTypeError(
            f"{who} needs a World, such as make('maze'), or transitions (before, action, after),"
            f" got {shown(transitions)}"
        )
    most = None if n is None else whole_number("n", n, 1)
    return map(as_transition, islice(transitions, most))


def examine(
    model: Model,
    world: World,
    held_out: Iterable[AnyTransition] | None = None,
    training: Iterable[AnyTransition] | None = None,
) -> Evaluation:
    """Evaluate a model on a held-out stream and on the world's scenes.

    Without `held_out`, 1,000 transitions of random play are used, with a seed that is unlikely to
    be one of yours. `training` is what the model learned from. It is read only if there are
    mistakes, to count how often each was shown. See `evaluate` for transitions without a world.

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
        held_out = transitions(world, _HELD_OUT_STEPS, HELD_OUT_SEED)
    result, mistakes = Evaluation(), _MistakesByLeaf(model, world)
    _add_all(result, mistakes, map(as_transition, held_out))
    for scene in world.scenes():
        result.scenes += 1
        prediction = model.predict(scene.before, scene.action)
        step = Transition(scene.before, scene.action, scene.before)
        feedback = true_feedback(mistakes.feedback, step, scene.truth, world)
        wrong = list(wrong_values(prediction, scene.truth, feedback))
        if wrong:
            result.wrong_scenes.append(scene.says)
        for mistake in mistakes.add(prediction, scene.action, wrong):
            mistake.scenes.append(scene.says)
    _finish(result, mistakes, training)
    return result


def _add_all(
    result: Evaluation,
    mistakes: _MistakesByLeaf,
    stream: Iterable[Transition],
) -> None:
    """Predict transitions, compare them with the truth, and count them."""
    for step in stream:
        prediction = mistakes.model.predict(step.before, step.action)
        if wrong := _add(result, prediction, *mistakes.truth(step)):
            for mistake in mistakes.add(prediction, step.action, wrong):
                mistake.held_out += 1
    if result.held_out:
        result.mean_error /= result.held_out


def _finish(
    result: Evaluation, mistakes: _MistakesByLeaf, training: Iterable[AnyTransition] | None
) -> None:
    if training is not None:
        mistakes.count_shown(training, result.chance)
    result.mistakes = mistakes.sorted()


def _add(
    result: Evaluation, prediction: Prediction, truth: Truth, feedback: FeedbackTruth
) -> list[WrongValue]:
    """Add one prediction to the result; return the values that are wrong."""
    distance_to_truth = error(prediction, truth) + sum(
        distance(predicted_feedback(prediction, name)[0], true) for name, true in feedback.items()
    )
    states = _with_probabilities(truth)
    most = max(probability for _, probability in states)
    exact = distance_to_truth <= TOLERANCE
    wrong = [] if exact else list(wrong_values(prediction, truth, feedback))
    result.held_out += 1
    result.stated &= not isinstance(truth, State)
    result.chance |= len(states) > 1
    result.mean_error += distance_to_truth
    result.exact += exact
    result.plausible += not wrong
    modes = [[(state, 1.0)] for state, p in states if p > most - TOLERANCE]
    result.right_mode += any(not marginals(prediction.mode(), mode) for mode in modes)
    if wrong:
        _add_failure(result, [_kind_of_failure(prediction, each) for each in wrong])
    return wrong


def _add_failure(result: Evaluation, kinds: list[str]) -> None:
    """Count a prediction by the worst of its wrong values."""
    worst = min(kinds, key=_FAILURES.index)
    setattr(result, worst, getattr(result, worst) + 1)


#: The kinds of failure, worst first: they are fields of an `Evaluation`.
_FAILURES = ("wrong", "never_seen", "unsure")


def _kind_of_failure(prediction: Prediction, each: WrongValue) -> str:
    if is_novel(prediction, each):
        return "never_seen"
    possible = any(each.predicted.get(value, 0.0) > 0 for value in each.true)
    return "unsure" if possible else "wrong"


def is_novel(prediction: Prediction, wrong: WrongValue) -> bool:
    """Return whether an answer rests on something never seen, as far as the prediction knows."""
    novel = getattr(prediction, "novel", None)  # predictions of baselines do not have it
    if novel is None or wrong.object_id is None:
        return wrong.support == 0
    return bool(novel(wrong.object_id, wrong.attribute))


def wrong_values(
    prediction: Prediction, truth: Truth, feedback: FeedbackTruth | None = None
) -> Iterator[WrongValue]:
    """Yield the values whose predicted distribution is wrong; then rewards and ends.

    Where the truth is certain, the prediction must equal it. Otherwise a chi-square test decides
    whether the counts behind the prediction could come from the true distribution.
    """
    before = prediction.state
    true: dict[tuple[int, str], Distribution] = {**marginals(before, _with_probabilities(truth))}
    for each, name, _ in each_change(prediction):
        true.setdefault((each, name), {before.value(each, name): 1.0})
    for key, values in true.items():
        predicted, support = prediction.outcomes(*key), prediction.support(*key)
        if not _is_right(predicted, values, support):
            yield WrongValue(*key, predicted, values, support)
    for name, values in (feedback or {}).items():
        predicted, support = predicted_feedback(prediction, name)
        if not _is_right(predicted, values, support):
            yield WrongValue(None, name, predicted, values, support)


def _is_right(predicted: Distribution, true: Distribution, support: int) -> bool:
    if len(true) == 1 or not support:
        return distance(predicted, true) <= TOLERANCE
    counts = {value: chance * support for value, chance in predicted.items()}
    statistic, freedom = chi_square(counts, true)
    # With too few observations for any test, the distribution has not been learned.
    return freedom > 0 and chi_square_tail(statistic, freedom) >= _IMPLAUSIBLE


def _with_probabilities(truth: Truth) -> list[tuple[State, float]]:
    return [(truth, 1.0)] if isinstance(truth, State) else list(truth)


# ---------------------------------------------------------------------------- mistakes


class _MistakesByLeaf:
    """The mistakes of one model, by leaf."""

    def __init__(self, model: Model, world: World | None):
        self.model = model
        self.feedback = learned_feedback(model)
        self._world = world
        self._by_leaf: dict[Leaf, Mistake] = {}

    def add(
        self, prediction: Prediction, action: str, wrong: Iterable[WrongValue]
    ) -> list[Mistake]:
        """Return the mistakes behind one prediction, given its wrong values."""
        leaves = {_leaf_of(prediction, action, each): None for each in wrong}
        return [self._by_leaf.setdefault(leaf, Mistake(*leaf)) for leaf in leaves]

    def sorted(self) -> list[Mistake]:
        """Return the mistakes, most frequent first."""
        return sorted(self._by_leaf.values(), key=lambda each: (-each.held_out, -len(each.scenes)))

    def count_shown(self, training: Iterable[AnyTransition], chance: bool) -> None:
        """Count for each mistake how often training showed another outcome at its leaf."""
        likeliest: dict[str, dict[tuple[str, str], set[Outcome]]] = defaultdict(dict)
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
        self, transition: AnyTransition, rules: Mapping[tuple[str, str], set[Outcome]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """Yield the leaves that a certain transition reached, with the true outcome.

        Leaves whose most likely outcome is true are left out: finding a leaf takes time.
        """
        before, action, after, *_ = step = as_transition(transition)
        prediction: Prediction | None = None
        feedback = true_feedback(self.feedback, step, after, self._world)
        for (class_name, attribute), outcomes in rules.items():
            for each in _subjects(before, class_name):
                if each is None and attribute not in feedback:
                    continue
                true = feedback[attribute] if each is None else {after.value(each, attribute): 1.0}
                ((outcome, _),) = truth = _chances(before, each, attribute, true)
                if outcomes != {outcome}:
                    prediction = prediction or self.model.predict(before, action)
                    yield _leaf(prediction, action, each, attribute), truth

    def _reached_by_chance(
        self, transition: AnyTransition, rules: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """Yield the leaves that a random transition reached, with the true distribution."""
        before, action, *_ = transition
        prediction = self.model.predict(before, action)
        true: dict[tuple[int | None, str], Distribution] | None = None
        for class_name, attribute in rules:
            for each in _subjects(before, class_name):
                leaf = _leaf(prediction, action, each, attribute)
                if leaf in self._by_leaf:
                    true = true or self._marginals(as_transition(transition))
                    values = true.get((each, attribute))
                    if values is None and each is not None:
                        values = {before.value(each, attribute): 1.0}
                    if values is not None:
                        yield leaf, _chances(before, each, attribute, values)

    def truth(self, step: Transition) -> tuple[Truth, FeedbackTruth]:
        """Return what follows, and the true reward and end as far as they were learned."""
        truth = step.after if self._world is None else self._world.truth(*step[:3])
        return truth, true_feedback(self.feedback, step, truth, self._world)

    def _marginals(self, step: Transition) -> dict[tuple[int | None, str], Distribution]:
        truth, feedback = self.truth(step)
        true: dict[tuple[int | None, str], Distribution] = {}
        true.update(marginals(step.before, _with_probabilities(truth)).items())
        true.update(((None, name), values) for name, values in feedback.items())
        return true


def _subjects(state: State, class_name: str) -> list[int | None]:
    """Return the objects that the rules of a class are about; None for rewards and ends."""
    if class_name not in state.schema.classes:
        return [None]
    return [each.id for each in state.of_class(class_name)]


def _nearest(says: Chances, truths: Iterable[Chances]) -> Chances | None:
    """Return the truth that overlaps most with what a leaf says.

    Only truths with the leaf's most likely outcome as theirs are considered.
    """
    likeliest, predicted = says[0][0], dict(says)

    def shared(truth: Chances) -> float:
        return sum(min(chance, predicted.get(value, 0.0)) for value, chance in truth)

    possible = [truth for truth in truths if dict(truth).get(likeliest, 0.0) >= truth[0][1] - 1e-9]
    return max(possible, key=lambda truth: (shared(truth), repr(truth)), default=None)


def _leaf_of(prediction: Prediction, action: str, wrong: WrongValue) -> Leaf:
    return _leaf(prediction, action, wrong.object_id, wrong.attribute)


def _leaf(prediction: Prediction, action: str, object_id: int | None, attribute: str) -> Leaf:
    """Return the leaf behind a predicted value: its rule, its outcomes and its support."""
    before = prediction.state
    if object_id is None:
        values, support = predicted_feedback(prediction, attribute)
    else:
        values = prediction.outcomes(object_id, attribute)
        support = prediction.support(object_id, attribute)
    key = rule_key(before, object_id, attribute, action)
    return key, _chances(before, object_id, attribute, values), support


def rule_key(state: State, object_id: int | None, attribute: str, action: str) -> RuleKey:
    """Return the key of the rule that predicts a value; the object of rewards and ends is None."""
    return (TRANSITION if object_id is None else state[object_id].class_name, attribute, action)


def _chances(before: State, object_id: int | None, attribute: str, values: Distribution) -> Chances:
    chances = (
        (_outcome(before, object_id, attribute, value), round(probability, 9))
        for value, probability in values.items()
    )
    return tuple(sorted(chances, key=lambda each: (-each[1], repr(each[0]))))


def _outcome(before: State, object_id: int | None, attribute: str, value: Any) -> Outcome:
    """Return a new value as an outcome: the change, or the value itself."""
    if object_id is None:
        return value  # type: ignore[no-any-return]
    frame = default_frame(before.schema.attributes[attribute])
    outcome = frame.outcome_of(before, object_id, attribute, value, stays=False)
    assert outcome is not None  # such a frame has a reference everywhere
    return outcome
