"""The reference implementation of QORA, step by step as in docs/qora.md.

Everything is judged object by object, and a condition's answer is one whole number of any size.
Only the order of operations on floats is that of the engine, so that both agree to the last bit:
cases ascending, effects ascending. The only concessions to speed are marked "remembered".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import NormalDist
from typing import Any, NamedTuple

import treethink as tt
from treethink.frames import CHANGE, default_frame

Vector = tuple[int, ...]
Effect = Vector
TARGET = -1
"""The group of predicates on the target alone; the others' is their class."""


def vector(value: int | Vector) -> Vector:
    return value if isinstance(value, tuple) else (value,)


def minus(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def fits(value: Vector) -> bool:
    return all(-(2**63) <= each < 2**63 for each in value)


class Predicate(NamedTuple):
    """Compares as its fields do: that is the order within a condition."""

    group: int
    attribute: int
    relative: bool
    value: Vector


Condition = tuple[Predicate, ...]


class Interval(NamedTuple):
    low: float = 0.0
    high: float = 1.0

    def beats(self, other: Interval) -> bool:
        return self.low > other.high


@dataclass
class Table:
    counts: dict[int, Counter[int]] = field(default_factory=dict)
    """By case, then by effect."""
    total: int = 0
    remembered: Interval | None = None

    def add(self, case: int, effect: int) -> None:
        self.counts.setdefault(case, Counter())[effect] += 1
        self.total += 1
        self.remembered = None

    def successes(self) -> int:
        n, score = self.total, 0.0
        for _, effects in sorted(self.counts.items()):
            squares = 0.0
            for _, count in sorted(effects.items()):
                squares += (count / n) * (count / n)
            score += squares / (effects.total() / n)
        return int(score * n)

    def interval(self, z: float) -> Interval:
        if self.remembered is None:
            self.remembered = self.wilson(z) if self.total else Interval()
        return self.remembered

    def wilson(self, z: float) -> Interval:
        s, n = self.successes(), self.total
        centre = (s + z * z / 2) / (n + z * z)
        radius = z / (n + z * z) * math.sqrt(s * (n - s) / n + z * z / 4)
        return Interval(centre - radius, centre + radius)


class Scene:
    """A state and a target in it, as predicates see them."""

    def __init__(self, state: tt.State, target: tt.Object):
        self.schema = state.schema
        self.target = target
        self.attributes = list(self.schema.attributes)
        classes = list(self.schema.classes)
        self.objects = {
            group: sorted(state.of_class(name), key=lambda each: each.id)
            for group, name in enumerate(classes)
        }
        self.objects[TARGET] = [target]
        self.remembered: dict[Predicate, list[bool]] = {}

    def truths(self, predicate: Predicate) -> list[bool]:
        """Whether it holds, for each object of its group."""
        if predicate not in self.remembered:
            self.remembered[predicate] = [
                self.holds(predicate, each) for each in self.objects[predicate.group]
            ]
        return self.remembered[predicate]

    def holds(self, predicate: Predicate, of: tt.Object) -> bool:
        name = self.attributes[predicate.attribute]
        value = vector(of.values[name])
        if predicate.relative:
            value = minus(value, vector(self.target.values[name]))
        return value == predicate.value

    def answer(self, condition: Condition) -> int:
        """Of each group the set of truth vectors, as a digit; the first is the least."""
        number, radix = 0, 1
        for group, members in groupby(condition, key=lambda each: each.group):
            truths = [self.truths(each) for each in members]
            digit = 0
            for i in range(len(self.objects[group])):
                digit |= 1 << sum(truth[i] << j for j, truth in enumerate(truths))
            number += digit * radix
            radix <<= 2 ** len(truths)
        return number

    def candidates(self) -> Iterable[Predicate]:
        """All that holds: of the target, then of others by class and id, differences first."""
        yield from self._values(TARGET, self.target)
        for group in range(len(self.schema.classes)):
            for other in self.objects[group]:
                if other.id != self.target.id:
                    yield from self._differences(group, other)
                    yield from self._values(group, other)

    def _values(self, group: int, other: tt.Object) -> Iterable[Predicate]:
        for number, name in enumerate(self.attributes):
            if name in other.values and "equality" in self.schema.attributes[name].facts:
                yield Predicate(group, number, False, vector(other.values[name]))

    def _differences(self, group: int, other: tt.Object) -> Iterable[Predicate]:
        for number, name in enumerate(self.attributes):
            shared = name in other.values and name in self.target.values
            if shared and "difference" in self.schema.attributes[name].facts:
                value = minus(vector(other.values[name]), vector(self.target.values[name]))
                if fits(value):
                    yield Predicate(group, number, True, value)


@dataclass(eq=False)
class Entry:
    condition: Condition
    table: Table = field(default_factory=Table)


class Predictor:
    def __init__(self, z: float, happened: Counter[str]):
        self.z = z
        self.happened = happened
        """Counts of events, for tests that need them to happen."""
        self.effects: list[Effect] = []
        self.baseline = Table()
        self.hypotheses: list[Entry] = []
        self.working: list[Entry] = []
        self.created: set[Condition] = set()

    def observe(self, scene: Scene, effect: Effect) -> None:
        if effect not in self.effects:  # step 1
            self.effects.append(effect)
        y = self.effects.index(effect)
        self.baseline.add(0, y)  # step 2
        for each in self.hypotheses:  # step 3
            each.table.add(scene.answer(each.condition), y)
        for i in range(len(self.hypotheses) - 2, 0, -1):  # step 4
            self.swap_if_better(i)
        if len(self.hypotheses) > 1 and self.swap_if_better(0):  # step 5
            self.happened["dethroned"] += 1
            self.reset()
            for each in self.hypotheses[2:]:
                self.create(union(self.hypotheses[0].condition, each.condition))
        if self.hypotheses:  # step 6
            best = self.hypotheses[0]
            in_case = best.table.counts[scene.answer(best.condition)]
            if in_case[y] == in_case.total():
                self.happened["skipped"] += 1
                return
        for predicate in scene.candidates():  # step 7
            self.create((predicate,))
        self.try_candidates(scene, y)  # step 8

    def try_candidates(self, scene: Scene, y: int) -> None:
        to_beat = self.baseline.interval(self.z)
        at = 0
        while at < len(self.working):
            entry = self.working[at]
            entry.table.add(scene.answer(entry.condition), y)
            if not entry.table.interval(self.z).beats(to_beat):
                at += 1
                continue
            self.happened["promoted"] += 1
            self.happened["promoted union"] += len(entry.condition) > 1
            del self.working[at]
            entry.table = Table()
            self.hypotheses.append(entry)
            if len(self.hypotheses) == 1:
                self.reset()
                to_beat = Interval()
            else:
                self.create(union(self.hypotheses[0].condition, entry.condition))

    def swap_if_better(self, i: int) -> bool:
        first, second = self.hypotheses[i : i + 2]
        better = second.table.interval(self.z).beats(first.table.interval(self.z))
        if better:
            self.happened["swapped"] += 1
            self.hypotheses[i : i + 2] = [second, first]
        return better

    def reset(self) -> None:
        self.baseline = Table()
        for each in self.working:
            each.table = Table()

    def create(self, condition: Condition) -> None:
        if condition not in self.created:
            self.happened["union"] += len(condition) > 1
            self.happened["wide"] += bits(condition) > 64
            self.happened["longest"] = max(self.happened["longest"], len(condition))
            self.created.add(condition)
            self.working.append(Entry(condition))

    def predict(self, scene: Scene) -> Counter[Effect]:
        counts = self.baseline.counts.get(0, Counter())
        if self.hypotheses:
            best = self.hypotheses[0]
            counts = best.table.counts.get(scene.answer(best.condition), Counter())
        return Counter({self.effects[y]: n for y, n in counts.items()} or {self.effects[0]: 1})


def union(a: Condition, b: Condition) -> Condition:
    return tuple(sorted({*a, *b}))


def bits(condition: Condition) -> int:
    """Of an answer; QORA's reference program has 64, and merges cases beyond that."""
    groups = Counter(each.group for each in condition)
    return sum(2**size for size in groups.values())


Key = tuple[str, str, str]
"""Class, attribute, action."""


class ReferenceQora:
    def __init__(self, schema: tt.Schema, *, alpha: float = 0.01):
        self.schema = schema
        self.z = NormalDist().inv_cdf(1 - alpha / 2)
        self.seen: dict[Key, list[Effect]] = {}
        """Effects of keys, all of them, in order."""
        self.predictors: dict[Key, Predictor] = {}
        self.happened: Counter[str] = Counter()

    def observe(self, before: tt.State, action: str, after: tt.State) -> None:
        for target in sorted(before, key=lambda each: each.id):
            scene = Scene(before, target)
            for name in self.schema.attributes:
                if name in target.values:
                    effect = vector(after[target.id].values[name])
                    if default_frame(self.schema.attributes[name]) == CHANGE:
                        effect = minus(effect, vector(target.values[name]))
                    self._observe(scene, (target.class_name, name, action), effect)

    def _observe(self, scene: Scene, key: Key, effect: Effect) -> None:
        effects = self.seen.setdefault(key, [])
        effects.append(effect)
        if key not in self.predictors and len(set(effects)) == 2:
            self.predictors[key] = Predictor(self.z, self.happened)
        if key in self.predictors:
            self.predictors[key].observe(scene, effect)

    def predict(self, state: tt.State, action: str) -> dict[tuple[int, str], Counter[Vector]]:
        """New values of all attributes of all objects, by how often their effects were seen."""
        predicted = {}
        for target in state:
            for name, value in target.values.items():
                key = (target.class_name, name, action)
                counts = Counter(self.seen.get(key, ()))
                if key in self.predictors:
                    counts = self.predictors[key].predict(Scene(state, target))
                old = vector(value)
                if self.schema.attributes[name].outcomes == "value":
                    old = (0,) * len(old)
                predicted[target.id, name] = Counter(
                    {
                        tuple(a + b for a, b in zip(old, d, strict=True)): n
                        for d, n in counts.items()
                    }
                )
        return predicted

    def dump(self, key: Key) -> Any:
        """All that a predictor knows."""
        if key not in self.predictors:
            return None
        it = self.predictors[key]
        return (
            it.effects,
            self._counts(it.baseline),
            [(each.condition, self._counts(each.table)) for each in it.hypotheses],
            [(each.condition, self._counts(each.table)) for each in it.working],
        )

    @staticmethod
    def _counts(table: Table) -> Sequence[tuple[int, dict[int, int]]]:
        return [(case, dict(counts)) for case, counts in sorted(table.counts.items())]
