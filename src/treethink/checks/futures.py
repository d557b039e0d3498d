"""Equal states with different futures: is it chance, or is something hidden?

    transitions, with their occasions -> [ Futures ] -> findings

If the same state and action led to two different states, either chance decides, or something that
is not in the state. A world that states its distribution says which outcomes are chance; anything
else is a fault. For other worlds the occasions are compared: the level, the episode, the number of
steps since the reset, and what was done just before. Chance knows nothing of these. So if equal
states that have such a circumstance in common go on alike far more often than others do, something
is hidden, and the circumstance says where to look.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from treethink.errors import TreeThinkError, shown
from treethink.metrics import chi_square, chi_square_tail
from treethink.state import State
from treethink.worlds import World

#: A check, what was found, advice, and whether it is a fault.
Found = tuple[str, str, str, bool]

_SHUFFLES = 200
#: How many standard deviations beyond chance: about one in a million.
_BEYOND_CHANCE = 5.0
_UNLIKELY = 1e-6
_ASKED_AGAIN = 100  # states and actions


@dataclass(frozen=True, slots=True)
class Occasion:
    """When a state was met. Each field is a circumstance that nothing should depend on."""

    level: int
    episode: tuple[int, int]
    steps: int = 0
    parity: int = 0
    last_action: str | None = None
    last_changed: bool | None = None

    def after(self, action: str, changed: bool) -> Occasion:
        """Return the occasion one step later."""
        steps = self.steps + 1
        return Occasion(self.level, self.episode, steps, steps % 2, action, changed)


#: What is probably hidden if outcomes go with a circumstance.
_SUSPECTS: Mapping[str, str] = {
    "last_action": "the action before it (a heading, a mode, what was chosen)",
    "last_changed": "whether the step before changed anything (a delay, a bump, a speed)",
    "parity": "whether it is an even or an odd step (whose turn it is, a blinking)",
    "steps": "the number of steps since the reset (a clock, a counter, a limit)",
    "level": "the level (something that is drawn at reset)",
    "episode": "the episode (something drawn at reset, or kept from earlier episodes)",
}


class Futures:
    """What followed each state and action, and on which occasions."""

    def __init__(self, world: World):
        self._world = world
        self._followed: dict[tuple[State, str], list[tuple[State, Occasion]]] = {}
        self.objects: Counter[str] = Counter()
        self.repeated = 0

    def add(self, before: State, action: str, after: State, occasion: Occasion) -> None:
        """Add one transition of play."""
        if not self._followed:
            self.objects = Counter(each.class_name for each in before)
        known = self._followed.setdefault((before, action), [])
        self.repeated += bool(known)
        known.append((after, occasion))

    @property
    def states(self) -> int:
        """How many different states were met."""
        return len({state for state, _ in self._followed})

    def findings(self, rng: np.random.Generator) -> Iterator[Found]:
        """Yield what equal states with different futures say; at most one finding."""
        if self._states_chances():
            yield from self._against_stated(rng)
            return
        mixed = {
            key: followed
            for key, followed in self._followed.items()
            if len({after for after, _ in followed}) > 1
        }
        if not mixed:
            return
        before, action = next(iter(mixed))
        one, other = list(dict.fromkeys(after for after, _ in mixed[before, action]))[:2]
        what = _what(before, action, one, other)
        circumstance = _circumstance(list(mixed.values()), rng)
        if circumstance is None:
            yield (
                "hidden",
                f"{what}; it is so for {len(mixed):,} states and actions",
                "It may be chance: it goes with nothing that was done before. If it is not, tell"
                " what decides it as an attribute.",
                False,
            )
        else:
            yield (
                "hidden",
                f"{what}. What follows goes with {_SUSPECTS[circumstance]}",
                "What decides it is not in the state: tell it as an attribute.",
                True,
            )

    def _states_chances(self) -> bool:
        """Whether the world states what may follow, with which probabilities."""
        if not self._followed:
            return False
        try:
            self._world.distribution(*next(iter(self._followed)))
        except (TreeThinkError, NotImplementedError):
            return False
        return True

    def _against_stated(self, rng: np.random.Generator) -> Iterator[Found]:
        """Compare what followed with what the world states, now that it has been elsewhere."""
        keys = list(self._followed)
        first = [key for key in keys if len(self._followed[key]) > 1]
        others = [keys[i] for i in rng.permutation(len(keys))[:_ASKED_AGAIN].tolist()]
        for before, action in [*first, *others]:
            counts = Counter(after for after, _ in self._followed[before, action])
            stated = {s: chance for s, chance in self._world.distribution(before, action) if chance}
            statistic, freedom = chi_square(counts, stated)
            if chi_square_tail(statistic, freedom) < _UNLIKELY:
                seen = max(counts, key=lambda state: counts[state] - stated.get(state, 0.0))
                expected = max(stated, key=lambda state: stated[state])
                unlike = next((s for s in counts if s not in stated), seen)
                other = expected if expected != unlike else next(s for s in stated if s != unlike)
                yield (
                    "hidden",
                    f"{_what(before, action, unlike, other)}: the first was played, the second is"
                    " what the world states for that state",
                    "What follows must depend on the state, the action and the given random"
                    " numbers only: tell what else decides it as an attribute.",
                    True,
                )
                return


def _circumstance(
    mixed: Sequence[Sequence[tuple[State, Occasion]]], rng: np.random.Generator
) -> str | None:
    """Return the circumstance with which outcomes go most, if that is beyond chance."""
    scores = {
        each.name: _beyond_chance(mixed, each.name, rng)
        for each in fields(Occasion)
        if each.name in _SUSPECTS
    }
    most = max(scores.values())
    if most < _BEYOND_CHANCE:
        return None
    # Of circumstances that explain about as much, the plainest is named: they are listed so.
    return next(name for name in _SUSPECTS if scores[name] > 0.9 * most)


def _beyond_chance(
    mixed: Sequence[Sequence[tuple[State, Occasion]]], name: str, rng: np.random.Generator
) -> float:
    """Return by how many standard deviations equal circumstances agree more than chance would.

    The statistic is the number of pairs with the same state, action, circumstance and outcome.
    Shuffling the outcomes of each state and action shows what chance would give.
    """
    groups = [
        (
            np.unique([_number(getattr(o, name), seen) for _, o in each], return_inverse=True)[1],
            np.array([_number(after, outcomes) for after, _ in each]),
        )
        for each in mixed
        for seen, outcomes in [(defaultdict[Hashable, int](int), defaultdict[Hashable, int](int))]
    ]

    def agreeing(shuffle: bool) -> int:
        total = 0
        for circumstances, outcomes in groups:
            order = rng.permutation(len(outcomes)) if shuffle else slice(None)
            pairs = Counter(zip(circumstances.tolist(), outcomes[order].tolist(), strict=True))
            total += sum(n * (n - 1) // 2 for n in pairs.values())
        return total

    actual = agreeing(shuffle=False)
    shuffled = [agreeing(shuffle=True) for _ in range(_SHUFFLES)]
    deviation = float(np.std(shuffled))
    return (actual - float(np.mean(shuffled))) / deviation if deviation else 0.0


def _number(value: Hashable, known: defaultdict[Hashable, int]) -> int:
    """Return the number of a value, in the order in which values are first seen."""
    return known.setdefault(value, len(known))


def _what(before: State, action: str, one: State, other: State) -> str:
    return (
        f"{action!r} in one and the same state led to different states: {differences(one, other)}"
        f" (the state was {shown(before)})"
    )


def differences(one: State, other: State) -> str:
    """Return how two states differ, in a few words."""
    if one.ids != other.ids:
        return f"ids {sorted(one.ids)} and {sorted(other.ids)}"
    parts = [
        f"{name} of {one[x].class_name} {x} became {one.value(x, name)!r} and {value!r}"
        for x, values in one.changes_to(other).items()
        for name, value in values.items()
    ]
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return ", ".join(parts[:3]) + more
