"""Random parts of rules: with tests that are decided already, and with branches that are alike."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

from reference import Binding, Scene, Test, extensions
from reference_editing import WrittenPart

Outcome = tuple[int, ...]
Arrivals = list[tuple[Scene, list[Binding]]]  # scenes, each with the bindings that arrive


def random_part(
    rng: random.Random,
    variables: tuple[str, ...],
    scenes: Iterable[Scene],
    outcomes: Sequence[Outcome],
    depth: int,
) -> WrittenPart:
    """A tree over variables of these classes, whose tests are about what is in the scenes.

    Some leaves say nothing: they answer with what stands above them.
    """
    arrivals = [(scene, [binding]) for scene in scenes for binding in bindings_in(scene, variables)]
    while True:
        part = _part(rng, variables, arrivals, outcomes, depth, [])
        if any(leaf for _, leaf in listed(part)):
            return part


def bindings_in(scene: Scene, variables: tuple[str, ...]) -> list[Binding]:
    result: list[Binding] = [()]
    for class_name in variables:
        result = [
            (*each, x) for each in result for x in scene.of_class(class_name) if x not in each
        ]
    return result


def _part(
    rng: random.Random,
    variables: tuple[str, ...],
    arrivals: Arrivals,
    outcomes: Sequence[Outcome],
    depth: int,
    tests_above: list[tuple[Test, int]],
) -> WrittenPart:
    tests = sorted(set().union(*(scene.true_tests(bindings) for scene, bindings in arrivals)))
    if depth == 0 or not tests or rng.random() < 0.1:
        chosen = rng.sample(outcomes, rng.choice([0, 1, 1, 1, 1, 1, min(2, len(outcomes))]))
        return {outcome: rng.choice([1, 2, 3]) for outcome in chosen}
    test = rng.choice(tests)
    if tests_above and rng.random() < 0.4:  # the same again, or nearly
        test = vary_test(rng, *rng.choice(tests_above), len(variables))
    tests_above = [*tests_above, (test, len(variables))]
    new = [c for c, slot in zip(test.classes, test.slots, strict=True) if slot >= len(variables)]
    yes = [(scene, extensions(scene, test, bindings)) for scene, bindings in arrivals]
    no = _part(rng, variables, arrivals, outcomes, depth - 1, tests_above)
    if rng.random() < 0.3:
        copy = shift_slots(no, len(variables), len(new))
        return test, as_value_tests(copy, test) if rng.random() < 0.5 else copy, no
    inside = (*variables, *new)
    arrivals_yes = [each for each in yes if each[1]] or []
    return test, _part(rng, inside, arrivals_yes, outcomes, depth - 1, tests_above), no


def vary_test(rng: random.Random, test: Test, known: int, now: int) -> Test:
    """A test from above, where more variables are known; perhaps with another value."""
    slots = tuple(slot if slot < known else slot - known + now for slot in test.slots)
    value = test.value
    if rng.random() < 0.3 and test.kind in ("equality", "difference"):
        value = tuple(each + rng.choice([0, 1]) for each in value)
    return test._replace(slots=slots, value=value)


def shift_slots(part: WrittenPart, known: int, by: int) -> WrittenPart:
    """The same part where more variables are known, about which it does not ask."""
    if isinstance(part, dict):
        return dict(part)
    test, yes, no = part
    slots = tuple(slot if slot < known else slot + by for slot in test.slots)
    return test._replace(slots=slots), shift_slots(yes, known, by), shift_slots(no, known, by)


def as_value_tests(part: WrittenPart, known: Test) -> WrittenPart:
    """The same part where a variable's value is known: differences from it are values too."""
    if isinstance(part, dict) or known.kind != "equality":
        return part
    test, yes, no = part
    same = test.kind == "difference" and set(test.attributes) == set(known.attributes)
    if same and known.slots[0] in test.slots:
        place = test.slots.index(known.slots[0])
        sign = 1 if place == 0 else -1
        value = tuple(v + sign * d for v, d in zip(known.value, test.value, strict=True))
        slot = slice(1 - place, 2 - place)
        test = Test("equality", test.attributes[:1], test.classes[slot], test.slots[slot], value)
    return test, as_value_tests(yes, known), as_value_tests(no, known)


def listed(part: WrittenPart) -> list[Any]:
    """As the engine takes it: nodes in preorder."""
    if isinstance(part, dict):
        return [(None, list(part.items()))]
    test, yes, no = part
    return [(test.dump(), []), *listed(yes), *listed(no)]
