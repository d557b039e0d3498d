"""States that nobody has met, made so that the tests of given rules have something to say.

    schema, rules -> [ imagining ] -> states and actions

Values are small numbers, or those that a test asks for; or they lie as far from the value of
another object as a test asks.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator

from treethink.explain.vectors import minus, plus
from treethink.rules import Rule, Value
from treethink.state import Object, Schema, State

_MOST_OF_A_CLASS = 3
_SMALL = 3
_FAR = 2**40  # beyond, sums might not fit


def situations(
    schema: Schema, rules: Iterable[Rule], n: int, seed: int
) -> Iterator[tuple[State, str]]:
    """So many states with an action each; the same seed gives the same ones."""
    rng = random.Random(seed)
    values: defaultdict[str, list[Value]] = defaultdict(list)
    distances: defaultdict[str, list[Value]] = defaultdict(list)
    asked = (node.test for rule in rules for node in rule.root.walk() if node.test is not None)
    for test in dict.fromkeys(asked):
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
    counts = {name: rng.randint(0, _MOST_OF_A_CLASS) for name in schema.classes}
    wanted = [name for name, count in counts.items() for _ in range(count)]
    for i, name in enumerate(rng.sample(wanted, len(wanted))):
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
    way = rng.random()
    if near and way < 0.6:
        value, distance = rng.choice(near)
        found = (plus if rng.random() < 0.5 else minus)(value, distance)
        if all(abs(each) < _FAR for each in (found if isinstance(found, tuple) else (found,))):
            return found
    if known and way < 0.8:
        return rng.choice(known)
    numbers = tuple(rng.randint(0, _SMALL) for _ in range(length))
    return numbers[0] if length == 1 else numbers
