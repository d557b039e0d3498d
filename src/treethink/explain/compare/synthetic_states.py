"""Random states in which the tests of given rules sometimes hold.

    schema, rules -> [ synthetic_states ] -> states and actions

Values are small numbers, values that a test asks for, or values that differ from another object's
by as much as a test asks for.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator

from treethink.rules import Rule, Value, minus, plus
from treethink.state import Object, Schema, State

_MAX_PER_CLASS = 3
_MAX_SMALL = 3
_LIMIT = 2**40  # sums of larger values might not fit


def situations(
    schema: Schema, rules: Iterable[Rule], n: int, seed: int
) -> Iterator[tuple[State, str]]:
    """Yield `n` states with an action each; the same seed gives the same ones."""
    rng = random.Random(seed)
    values: defaultdict[str, list[Value]] = defaultdict(list)
    distances: defaultdict[str, list[Value]] = defaultdict(list)
    tests = (node.test for rule in rules for node in rule.root.walk() if node.test is not None)
    for test in dict.fromkeys(tests):
        (values if test.kind == "equality" else distances)[test.attribute].append(test.value)
    for _ in range(n if schema.actions else 0):
        yield _state(rng, schema, values, distances), rng.choice(schema.actions)


def _state(
    rng: random.Random,
    schema: Schema,
    values: dict[str, list[Value]],
    distances: dict[str, list[Value]],
) -> State:
    objects: list[Object] = []
    used: defaultdict[str, list[Value]] = defaultdict(list)
    counts = {name: rng.randint(0, _MAX_PER_CLASS) for name in schema.classes}
    names = [name for name, count in counts.items() for _ in range(count)]
    for i, name in enumerate(rng.sample(names, len(names))):
        own: dict[str, Value] = {}
        for attribute in schema.classes[name]:
            near = [(a, d) for a in used[attribute][-4:] for d in distances.get(attribute, ())]
            length = schema.attributes[attribute].length
            own[attribute] = _value(rng, length, values.get(attribute, []), near)
            used[attribute].append(own[attribute])
        objects.append(Object(i, name, **own))
    return State(schema, objects)


def _value(
    rng: random.Random, length: int, known: list[Value], near: list[tuple[Value, Value]]
) -> Value:
    choice = rng.random()
    if near and choice < 0.6:
        base, distance = rng.choice(near)
        value = (plus if rng.random() < 0.5 else minus)(base, distance)
        if all(abs(each) < _LIMIT for each in (value if isinstance(value, tuple) else (value,))):
            return value
    if known and choice < 0.8:
        return rng.choice(known)
    numbers = tuple(rng.randint(0, _MAX_SMALL) for _ in range(length))
    return numbers[0] if length == 1 else numbers
