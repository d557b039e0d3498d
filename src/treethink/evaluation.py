"""Whether a model has learned a world, and if not, what is wrong.

    model, world, held-out stream, training -> [ examine ] -> Examination

A model has learned a world when it predicts every transition of a held-out stream exactly as
`world.truth` has it, and is right about every scene of the world's rules. Where chance decides
what follows, no count of samples gives exact probabilities; there the prediction must be what
chance makes of the truth (a chi-square test of the counts behind it). What is wrong is listed
with how often training showed it (`mistakes.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from treethink.chance import statistic, tail
from treethink.metrics import Distribution, Truth, distance, error, marginals
from treethink.mistakes import Mistake, Mistakes, Model, Prediction
from treethink.mistakes import WrongValue as WrongValue
from treethink.repro.runner import TOLERANCE
from treethink.state import State
from treethink.stream.random_play import Transition, transitions
from treethink.worlds import World

# One leaf answers for thousands of transitions, so few tests are made, and none fails by chance.
_IMPLAUSIBLE = 1e-6
_MOST_LISTED = 5
_HELD_OUT_STEPS, _HELD_OUT_SEED = 1_000, 1_000_000
_UNSTATED = "this world does not state its chances: what looks wrong may be its own randomness"


@dataclass(slots=True)
class Examination:
    """What a model got right.

    Of `held_out` transitions, `exact` were predicted exactly, `plausible` as well as chance
    allows, and `right_mode` with a likeliest state as the mode. `chance` says whether anything
    was left to chance; `stated`, whether the world states its truth at all, or predictions
    could only be held against what followed. `mean_error` is the mean distance to the truth.
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
        asked = self.held_out + self.scenes > 0
        return asked and right == self.held_out and not self.wrong_scenes

    def __str__(self) -> str:
        """What there is to say in a few lines."""
        lines = [f"{self.exact:,} of {self.held_out:,} held-out transitions predicted exactly"]
        if self.chance:
            lines[0] += f", {self.plausible:,} as well as chance allows"
        elif not self.stated and self.exact < self.held_out:
            lines[0] += f", of {self.right_mode:,} the most likely outcome followed"
        if self.scenes:
            right = self.scenes - len(self.wrong_scenes)
            lines[0] += f"; {right:,} of {self.scenes:,} scenes of its rules right"
        lines += [f"  wrong: {says}" for says in self.wrong_scenes[:_MOST_LISTED]]
        if len(self.wrong_scenes) > _MOST_LISTED:
            lines.append(f"  and {len(self.wrong_scenes) - _MOST_LISTED:,} more")
        if self.learned:
            return "\n".join(["learned", *lines])
        if not self.stated:
            return "\n".join([*lines, _UNSTATED])
        return "\n".join(["NOT learned", *lines])

    @property
    def defects(self) -> list[Mistake]:
        """The mistakes that were shown often enough."""
        return [each for each in self.mistakes if each.is_defect]


def examine(
    model: Model,
    world: World,
    held_out: Iterable[Transition] | None = None,
    training: Iterable[Transition] | None = None,
) -> Examination:
    """Ask the model about a held-out stream and about the world's scenes.

    Without `held_out`, 1,000 transitions of random play are taken, of a seed that is unlikely
    to be one of yours. `training` is what the model learned from. It is gone through only if
    there are mistakes, to count how often each was shown.

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
    found, mistakes = Examination(), Mistakes(model, world)
    for before, action, after in held_out:
        prediction, truth = model.predict(before, action), world.truth(before, action, after)
        if not _add(found, prediction, truth):
            for mistake in mistakes.add(prediction, action, wrong_values(prediction, truth)):
                mistake.held_out += 1
    if found.held_out:
        found.mean_error /= found.held_out
    for scene in world.scenes():
        found.scenes += 1
        prediction = model.predict(scene.before, scene.action)
        wrong = list(wrong_values(prediction, scene.truth))
        if wrong:
            found.wrong_scenes.append(scene.says)
        for mistake in mistakes.add(prediction, scene.action, wrong):
            mistake.scenes.append(scene.says)
    if training is not None:
        mistakes.count_shown(training, found.chance)
    found.mistakes = mistakes.sorted()
    return found


def _add(found: Examination, prediction: Prediction, truth: Truth) -> bool:
    """Add one answer to what was found; returns whether it was right."""
    wrong_by = error(prediction, truth)
    states = _listed(truth)
    most = max(probability for _, probability in states)
    exact = wrong_by <= TOLERANCE
    right = exact or not any(wrong_values(prediction, truth))
    found.held_out += 1
    found.stated &= not isinstance(truth, State)
    found.chance |= len(states) > 1
    found.mean_error += wrong_by
    found.exact += exact
    found.plausible += right
    found.right_mode += prediction.mode() in [s for s, p in states if p > most - TOLERANCE]
    return right


def wrong_values(prediction: Prediction, truth: Truth) -> Iterator[WrongValue]:
    """The objects and attributes of which the prediction is not what chance makes of the truth.

    Where the truth is sure there is no chance: the prediction must equal it.
    """
    before = prediction.state
    true: dict[tuple[int, str], Distribution] = {**marginals(before, _listed(truth))}
    for each, name, _ in prediction.changes():
        true.setdefault((each, name), {before.value(each, name): 1.0})
    for key, values in true.items():
        told, support = prediction.outcomes(*key), prediction.support(*key)
        if len(values) == 1 or not support:
            right = distance(told, values) <= TOLERANCE
        else:
            counts = {value: chance * support for value, chance in told.items()}
            far, freedom = statistic(counts, values)
            # So few that the test cannot tell anything are too few to have learned it.
            right = freedom > 0 and tail(far, freedom) >= _IMPLAUSIBLE
        if not right:
            yield WrongValue(*key, told, support, values)


def _listed(truth: Truth) -> list[tuple[State, float]]:
    return [(truth, 1.0)] if isinstance(truth, State) else list(truth)
