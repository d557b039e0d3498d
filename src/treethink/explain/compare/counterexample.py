"""Where a model is wrong, in as few objects as possible: `model.check(world_or_transitions)`.

    model, world or transitions -> [ counterexample ] -> Check (the smallest state found)

A prediction is right if it is consistent with the true distribution (see `evaluation`). A state
with a wrong prediction is minimized: objects are removed as long as the world can still say what
follows, and the same leaf is still wrong in the same way.

Random play makes most transitions trivial. So a world that has them (`World.stress_state`) is also
asked about as many situations put together at random.

A world that does not state its chances only shows what did follow. There a prediction is wrong if
it gave that no probability; whether its probabilities are right can only be judged over all
transitions together.

Given transitions, too, only show what did follow, and nothing can be asked about smaller states.
There the objects are left out on which the model's wrong answer does not depend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Group
from rich.text import Text

from treethink.errors import whole_number
from treethink.evaluation import given_transitions, is_novel, rule_key, wrong_values
from treethink.explain.compare.boards import example_text, states_of
from treethink.explain.compare.minimize import minimize
from treethink.explain.distributions import as_outcomes, in_words, times_seen, to_json
from treethink.explain.english.tests import value_name
from treethink.explain.rich_text import RichText
from treethink.explain.state_picture import drawable
from treethink.explain.why.explanation import Explanation, explain
from treethink.feedback import FeedbackTruth, true_feedback
from treethink.metrics import Truth, WrongValue
from treethink.rules import RuleKey
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition, Transition
from treethink.text import many
from treethink.worlds import World
from treethink.worlds.base import check_fit

if TYPE_CHECKING:
    from treethink.model import Prediction, TreeThink

_STEPS = 1_000
_MAX_MINIMIZED = 8
_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Example:
    """A state in which the model is wrong, minimized from the state `met` in play."""

    state: State
    action: str
    wrong: tuple[WrongValue, ...]
    met: State = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "state": self.state.to_dict(),
            "action": self.action,
            "met": self.met.to_dict(),
            "wrong": [
                {
                    "object": each.object_id,
                    "attribute": each.attribute,
                    "predicted": to_json(each.predicted),
                    "support": each.support,
                    "true": to_json(each.true),
                }
                for each in self.wrong
            ],
        }


@dataclass(slots=True)
class Unstated:
    """Transitions for which only what followed is known, not the chances.

    In `times` transitions the most likely state followed `likely` times; the model's own
    probabilities say that it should have followed `expected` times. In `unsure` of them, what
    followed was one of several possible outcomes, and in `never_seen` the answer rested on
    something that was never seen.
    """

    times: int = 0
    likely: int = 0
    expected: float = 0.0
    unsure: int = 0
    never_seen: int = 0

    def add(self, prediction: Prediction, followed: State, feedback: FeedbackTruth) -> None:
        """Count one transition."""
        mode = prediction.mode()
        self.times += 1
        self.likely += mode == followed
        self.expected += prediction.probability(mode)
        failed = list(wrong_values(prediction, followed, feedback))
        novel = any(is_novel(prediction, each) for each in failed)
        self.never_seen += novel
        self.unsure += bool(failed) and not novel and all(map(_gave_it_a_chance, failed))

    @property
    def is_certain(self) -> bool:
        """Whether the model was certain of everything, so that unstated chances do not matter."""
        return self.times - self.expected < _TOLERANCE

    def text(self, source: str) -> str:
        """Say what can be known although chances are not stated; `source` says where."""
        counts = [(self.unsure, "unsure"), (self.never_seen, "answered from nothing that was seen")]
        more = "".join(f", {n:,} {what}" for n, what in counts if n)
        return (
            f"{source}: only what the model held impossible counts as wrong;"
            f" the most likely state followed {self.likely:,} of {self.times:,} times{more};"
            f" by the model's own chances, {self.expected:,.1f} were to be expected"
        )


@dataclass(frozen=True, slots=True)
class Check(RichText):
    """The result of a search for mistakes. It is true, as a bool, if there are any.

    Of `tried` transitions, `wrong` were predicted wrongly; `example` is the smallest state in
    which that happens, or None. `unstated` counts the transitions for which the chances are not
    stated. `world` is None if transitions were given. Of `stress` situations put together at
    random, which not all worlds have, `wrong_stress` were predicted wrongly.
    """

    model: TreeThink = field(repr=False)
    world: World | None
    tried: int
    wrong: int
    example: Example | None
    unstated: Unstated = field(default_factory=Unstated)
    stress: int = 0
    wrong_stress: int = 0

    def __bool__(self) -> bool:
        return self.example is not None

    def explanations(self) -> list[Explanation]:
        """Explain each wrong value of the example."""
        example = self.example
        if example is None:
            return []
        keys = [
            each.attribute if each.object_id is None else (each.object_id, each.attribute)
            for each in example.wrong
        ]
        return [explain(self.model, example.state, example.action, of=key) for key in keys]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "world": None if self.world is None else self.world.name,
            "tried": self.tried,
            "wrong": self.wrong,
            "example": None if self.example is None else self.example.to_dict(),
            "unstated": asdict(self.unstated),
            "stress": self.stress,
            "wrong_stress": self.wrong_stress,
        }

    def __rich__(self) -> Group:
        of_world = "" if self.world is None else f" of {self.world.name}"
        tried = f"{many(self.tried, 'transition')}{of_world}"
        example = self.example
        if example is None:
            note = [] if self.unstated.is_certain else [Text(self._unstated())]
            and_stress = f" and {_situations(self.stress)}" if self.stress else ""
            return Group(Text(f"nothing wrong in {tried}{and_stress}"), *note)
        less = f"of {len(example.met)}" if example.state != example.met else "as it was met"
        size = f"{many(len(example.state), 'object')} ({less})"
        stress = f" and {self.wrong_stress:,} of {_situations(self.stress)}" if self.stress else ""
        heading = (
            f"wrong in {self.wrong:,} of {tried}{stress}; the smallest state found has {size}:"
        )
        world = self.world or drawable(self.model.schema)
        level = example_text(world, states_of(self.model, example))
        parts: list[Any] = [Text(heading, style="bold"), Text(f"\n{level}\n")]
        for each, why in zip(example.wrong, self.explanations(), strict=True):
            parts += [Text(_verdict(example, each), style="red"), *why.reasons]
        if self.unstated.times:
            parts.append(Text(f"\n{self._unstated()}"))
        return Group(*parts)

    def _unstated(self) -> str:
        given = self.world is None
        it = "transitions do not state their" if given else "this world does not state its"
        return self.unstated.text(f"{it} chances")


def _situations(number: int) -> str:
    return f"{many(number, 'situation')} put together at random"


def _verdict(example: Example, wrong: WrongValue) -> str:
    subject = value_name(example.state, wrong.object_id, wrong.attribute)
    predicted = f"predicted {in_words(wrong.predicted)} ({times_seen(wrong.support)})"
    return f"{example.action}: {subject}: {predicted}, but is {in_words(wrong.true)}"


# ---------------------------------------------------------------------- the search


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of mistake, in any state: the rule, its answer and support, and the truth."""

    rule: RuleKey
    predicted: str
    support: int
    true: str
    outright: bool


def check(
    model: TreeThink,
    world_or_transitions: World | Iterable[AnyTransition],
    n: int | None = None,
    seed: int = 0,
) -> Check:
    """Look for a state in which the model is wrong.

    A world is played at random, `n` transitions (1,000 by default). Of given transitions the first
    `n` are used, or all. If the world has situations put together at random, as many are tried too.
    """
    world = world_or_transitions if isinstance(world_or_transitions, World) else None
    smallest: dict[_Kind, _Case] = {}
    unstated, tried, wrong = Unstated(), [0, 0], [0, 0]
    for case in _cases(model, world_or_transitions, n, seed):
        tried[case.stress] += 1
        prediction = model.predict(case.before, case.action)
        kinds = _kinds(prediction, case)
        wrong[case.stress] += bool(kinds)
        if isinstance(case.truth, State):
            unstated.add(prediction, case.truth, case.feedback)
        for kind in kinds:  # keep the smallest state of each kind, and of those the first
            if kind not in smallest or len(case.before) < len(smallest[kind].before):
                smallest[kind] = case
    worst = sorted(smallest, key=lambda kind: not kind.outright)[:_MAX_MINIMIZED]
    examples = [(kind, _minimized(model, world, kind, smallest[kind])) for kind in worst]
    _, example = min(examples, key=_rank, default=(None, None))
    return Check(model, world, tried[0], wrong[0], example, unstated, tried[1], wrong[1])


@dataclass(frozen=True, slots=True)
class _Case:
    """A state and an action, and what is true: what follows, and the reward and the end."""

    before: State
    action: str
    truth: Truth
    feedback: FeedbackTruth
    stress: bool = False


def _cases(
    model: TreeThink, source: World | Iterable[AnyTransition], n: int | None, seed: int
) -> Iterator[_Case]:
    """Yield states and actions, each with the truth about what follows."""
    world = source if isinstance(source, World) else None
    if world is not None:
        check_fit(model.schema, world)
        steps = _STEPS if n is None else whole_number("n", n, 1)
        source, n = transitions(world, steps, seed), None
    for step in given_transitions(source, n, "a check"):
        truth = step.after if world is None else world.truth(*step[:3])
        feedback = true_feedback(model.feedback, step, truth, world)
        yield _Case(step.before, step.action, truth, feedback)
    if world is not None:
        yield from _stress_cases(model, world, steps, seed)


def _stress_cases(model: TreeThink, world: World, count: int, seed: int) -> Iterator[_Case]:
    """Yield situations put together at random, if the world has them, each with one action."""
    for state, action, truth in situations(world, count, seed):
        step = Transition(state, action, state)
        feedback = true_feedback(model.feedback, step, truth, world)
        yield _Case(state, action, truth, feedback, stress=True)


def situations(world: World, count: int, seed: int) -> Iterator[tuple[State, str, Truth]]:
    """Yield situations put together at random, if the world has them, each with a random action.

    What follows is the world's `truth`: the distribution, or one of many outcomes if it states
    none.
    """
    rng = np.random.default_rng(seed)
    (chance,) = rng.spawn(1)  # so that situations do not depend on what follows the ones before
    for _ in range(count):
        state = world.stress_state(rng)
        if state is None:
            return
        action = world.actions[int(rng.integers(len(world.actions)))]
        yield state, action, world.truth(state, action, world.step(state, action, chance))


def _rank(pair: tuple[_Kind, Example]) -> tuple[bool, int]:
    """Order examples: wrong values before wrong probabilities, then by size."""
    kind, example = pair
    return not kind.outright, len(example.state)


def _minimized(model: TreeThink, world: World | None, kind: _Kind, met: _Case) -> Example:
    """Return the example without the objects that it does not need, if that can be known."""

    def true_in(state: State) -> _Case:
        if world is None:
            return _restricted(met, state)
        truth = world.distribution(state, met.action)
        step = Transition(state, met.action, state)
        return _Case(state, met.action, truth, true_feedback(model.feedback, step, truth, world))

    def still_wrong(state: State) -> bool:
        try:
            case = true_in(state)
        except Exception:  # without one of its objects, a world may fail in any way
            return False
        return kind in _kinds(model.predict(state, met.action), case)

    if world is not None and (not world.pure or isinstance(met.truth, State)):
        return _example(model, met, met.before)
    return _example(model, true_in(minimize(met.before, still_wrong)), met.before)


def _restricted(met: _Case, state: State) -> _Case:
    """Return what followed for the objects of a smaller state; of its reward nothing is known."""
    assert isinstance(met.truth, State)
    after = State(state.schema, [met.truth[each.id] for each in state])
    return _Case(state, met.action, after, met.feedback if state == met.before else {})


def _example(model: TreeThink, case: _Case, met: State) -> Example:
    wrong = tuple(_wrong(model.predict(case.before, case.action), case))
    return Example(case.before, case.action, wrong, met)


def _wrong(prediction: Prediction, case: _Case) -> Iterable[WrongValue]:
    """Yield the wrong values, except those that may be due to chance; rewards and ends last."""
    failed = wrong_values(prediction, case.truth, case.feedback)
    for each in sorted(failed, key=_place):
        if not (isinstance(case.truth, State) and _gave_it_a_chance(each)):
            yield each


def _place(wrong: WrongValue) -> tuple[bool, int, str]:
    return wrong.object_id is None, wrong.object_id or 0, wrong.attribute


def _gave_it_a_chance(wrong: WrongValue) -> bool:
    return any(wrong.predicted.get(value, 0.0) > 0 for value in wrong.true)


def _kinds(prediction: Prediction, case: _Case) -> list[_Kind]:
    state = prediction.state
    kinds: dict[_Kind, None] = {}
    for each in _wrong(prediction, case):
        key = (each.object_id, each.attribute)
        predicted = as_outcomes(state, *key, each.predicted)
        true = as_outcomes(state, *key, each.true)
        rule = rule_key(state, *key, case.action)
        kinds[_Kind(rule, predicted, each.support, true, each.outright)] = None
    return list(kinds)
