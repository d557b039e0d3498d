"""What a model is wrong about, and how often training showed it.

    wrong predictions, training -> [ mistakes ] -> Mistakes

A situation is a rule, and the leaf in which it ends. A leaf that is wrong has met more than one
truth, and says something between them. What matters is how often training showed there
another truth than the one that the leaf comes nearest to: often enough makes it a defect of
the learner; less often, it was not seen enough. The training is gone through once more for
that, with the model as it is now: what came before the leaf was grown counts too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from treethink import metrics
from treethink.metrics import Distribution, Value, marginals
from treethink.rules import RuleKey
from treethink.state import State
from treethink.stream.random_play import Transition
from treethink.worlds import World

#: Shown so often and still wrong, the learner is at fault and not the training.
ENOUGH = 30

#: Outcomes and their probabilities, most likely first.
Chances = tuple[tuple[Value, float], ...]
#: A leaf: its rule, what it says, how many observations are behind that.
Leaf = tuple[RuleKey, Chances, int]


class Prediction(metrics.Prediction, Protocol):
    """What an examination asks of a prediction."""

    def mode(self) -> State:
        """The most likely state."""

    def outcomes(self, object_id: int, attribute: str, /) -> Distribution:
        """Values that one attribute may get."""

    def support(self, object_id: int, attribute: str, /) -> int:
        """Observations behind that."""


class Model(Protocol):
    """What an examination asks of a model."""

    def predict(self, state: State, action: str, /) -> Prediction:
        """What may follow."""


@dataclass(slots=True)
class Mistake:
    """A situation that a model is wrong about."""

    rule: RuleKey
    says: Chances
    #: How many observations are behind that.
    support: int
    #: How many transitions of the held-out stream it got wrong, and which scenes.
    held_out: int = 0
    scenes: list[str] = field(default_factory=list)
    #: In how many transitions of the training something else was true than what it says; None
    #: if the training is not known.
    shown: int | None = None

    @property
    def is_defect(self) -> bool:
        """Whether the learner is at fault: it was shown often enough to be right."""
        return self.shown is not None and self.shown >= ENOUGH

    def __str__(self) -> str:
        says = " or ".join(f"{value} ({chance:.4g})" for value, chance in self.says)
        told = (
            f"{'.'.join(self.rule)} says {says} after {self.support:,} observations: wrong"
            f" {self.held_out:,} times and in {len(self.scenes)} scenes"
        )
        if self.shown is None:
            return told
        verdict = "a defect" if self.is_defect else "not seen enough"
        return f"{told}, shown otherwise {self.shown:,} times: {verdict}"


@dataclass(frozen=True, slots=True)
class WrongValue:
    """A value that is predicted wrongly, the observations behind the prediction, and the truth."""

    object_id: int
    attribute: str
    predicted: Distribution
    support: int
    true: Distribution

    @property
    def outright(self) -> bool:
        """Whether even the likeliest value is wrong; otherwise only its probability is."""
        return max(self.predicted, key=self.predicted.__getitem__) not in self.true


class Mistakes:
    """The mistakes of one model, by the leaves that made them."""

    def __init__(self, model: Model, world: World):
        self._model = model
        self._world = world
        self._by_leaf: dict[Leaf, Mistake] = {}

    def add(
        self, prediction: Prediction, action: str, wrong: Iterable[WrongValue]
    ) -> list[Mistake]:
        """The mistakes of one prediction that is wrong about these objects and attributes."""
        leaves = {_leaf(prediction, action, x.object_id, x.attribute): None for x in wrong}
        return [self._by_leaf.setdefault(leaf, Mistake(*leaf)) for leaf in leaves]

    def sorted(self) -> list[Mistake]:
        """By how often they were made, most often first."""
        return sorted(self._by_leaf.values(), key=lambda each: (-each.held_out, -len(each.scenes)))

    def count_shown(self, training: Iterable[Transition], chance: bool) -> None:
        """Ask the model as it is now about all that it was shown."""
        likeliest: dict[str, dict[tuple[str, str], set[Value]]] = defaultdict(dict)
        for (class_name, attribute, action), says, _ in self._by_leaf:
            likeliest[action].setdefault((class_name, attribute), set()).add(says[0][0])
        true: dict[Leaf, Counter[Chances]] = defaultdict(Counter)
        for transition in training if likeliest else ():
            rules = likeliest.get(transition[1])
            if rules:
                way = (
                    self._by_chance(transition, rules) if chance else self._sure(transition, rules)
                )
                for leaf, truth in set(way):
                    if leaf in self._by_leaf:
                        true[leaf][truth] += 1
        for leaf, mistake in self._by_leaf.items():
            nearest = _nearest(leaf[1], true[leaf])
            mistake.shown = sum(n for truth, n in true[leaf].items() if truth != nearest)

    def _sure(
        self, transition: Transition, rules: Mapping[tuple[str, str], set[Value]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """Leaves that were reached, and what was true. Not those that are right of course:
        looking for leaves takes time, and most of them said what was true."""
        before, action, after = transition
        prediction: Prediction | None = None
        for (class_name, attribute), outcomes in rules.items():
            for each in before.of_class(class_name):
                outcome = _outcome(before, each.id, attribute, after.value(each.id, attribute))
                if outcomes != {outcome}:
                    prediction = prediction or self._model.predict(before, action)
                    yield _leaf(prediction, action, each.id, attribute), ((outcome, 1.0),)

    def _by_chance(
        self, transition: Transition, rules: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[Leaf, Chances]]:
        """The same where the truth is a distribution."""
        before, action, _ = transition
        prediction = self._model.predict(before, action)
        true: dict[tuple[int, str], dict[Value, float]] | None = None
        for class_name, attribute in rules:
            for each in before.of_class(class_name):
                leaf = _leaf(prediction, action, each.id, attribute)
                if leaf in self._by_leaf:
                    true = true or self._marginals(transition)
                    values = true.get((each.id, attribute)) or {each.values[attribute]: 1.0}
                    yield leaf, _chances(before, each.id, attribute, values)

    def _marginals(self, transition: Transition) -> dict[tuple[int, str], dict[Value, float]]:
        truth = self._world.truth(*transition)
        return marginals(transition[0], [(truth, 1.0)] if isinstance(truth, State) else truth)


def _nearest(says: Chances, truths: Iterable[Chances]) -> Chances | None:
    """The truth that shares most with what a leaf says, its likeliest outcome at least."""
    likeliest, told = says[0][0], dict(says)

    def shared(truth: Chances) -> float:
        return sum(min(chance, told.get(value, 0.0)) for value, chance in truth)

    possible = [truth for truth in truths if dict(truth).get(likeliest, 0.0) >= truth[0][1] - 1e-9]
    return max(possible, key=lambda truth: (shared(truth), repr(truth)), default=None)


def _leaf(prediction: Prediction, action: str, object_id: int, attribute: str) -> Leaf:
    """A leaf is known by what it says and how often it was reached."""
    before = prediction.state
    return (
        (before[object_id].class_name, attribute, action),
        _chances(before, object_id, attribute, prediction.outcomes(object_id, attribute)),
        prediction.support(object_id, attribute),
    )


def _chances(before: State, object_id: int, attribute: str, values: Distribution) -> Chances:
    found: Sequence[tuple[Value, float]] = [
        (_outcome(before, object_id, attribute, value), round(probability, 9))
        for value, probability in values.items()
    ]
    return tuple(sorted(found, key=lambda each: (-each[1], repr(each[0]))))


def _outcome(before: State, object_id: int, attribute: str, value: Any) -> Value:
    """What a rule predicts: by how much it changes, or what it becomes."""
    if before.schema.attributes[attribute].outcomes == "value":
        return value  # type: ignore[no-any-return]
    old = before.value(object_id, attribute)
    if isinstance(value, tuple):
        return tuple(new - was for was, new in zip(old, value, strict=True))
    return value - old  # type: ignore[no-any-return]
