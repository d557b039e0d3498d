"""A judge and a crowd: a rule whose tests find more bindings than are kept.

Is there one of tribe 1? Another one? Is the first of these two nine years old? There are 66 · 65
ways to take two of 66 people, and 4,096 are kept: the first by the values of their objects.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

from strategies import Transition
from treethink.model import TreeThink
from treethink.state import Attribute, Object, Schema, State

SETTINGS = {"alpha": 0.05, "branch_updates": False}
"""With these, the paper's criterion finds the three tests."""

_absolute = Attribute(1, facts=["equality"])
CROWD = Schema(
    {"judge": ["verdict"], "person": ["age", "tribe", "size"]},
    {
        "verdict": Attribute(1, facts=(), outcomes="value"),
        "size": Attribute(1, facts=()),
        "tribe": _absolute,
        "age": _absolute,
    },
    ["go"],
)

CROWDS = [(0, 65), (62, 1), (63, 2), (64, 1)]
"""All bindings kept; just all; cut after the first in which X1 is nine; cut just before it."""


def crowd(*people: tuple[int, int], sizes: Sequence[int] = ()) -> State:
    """A judge, object 0, and people, each with a tribe and an age; no test asks for their sizes."""
    persons = [
        Object(i, "person", tribe=tribe, age=age, size=sizes[i - 1] if sizes else 0)
        for i, (tribe, age) in enumerate(people, 1)
    ]
    return State(CROWD, [Object(0, "judge", verdict=0), *persons])


def verdicts() -> Iterator[Transition]:
    """What teaches the three tests, one after the other."""
    rng = random.Random(0)
    for step in range(180):
        ages = rng.sample(range(100, 1000), 3)
        if step >= 120 and step % 2:
            ages[rng.randrange(2)] = 9
        of_tribe_one = step % 3 if step < 120 else 2
        tribes = [1] * of_tribe_one + rng.sample(range(2, 1000), 3 - of_tribe_one)
        before = crowd(*zip(tribes, ages, strict=True))
        yield before, "go", before.replace(0, verdict=of_tribe_one + (9 in ages))


@cache
def model_of_crowd() -> TreeThink:
    """One that has learned the three tests; it is shared, so do not change it."""
    model = TreeThink.paper(CROWD, **SETTINGS)
    model.observe_many(verdicts())
    root = model.rules["judge", "verdict", "go"].root
    assert root.left and root.left.left
    assert [str(each.test) for each in (root, root.left, root.left.left)] == [
        "∃ X1: person.  X1[tribe] = 1",
        "∃ X2: person.  X2[tribe] = 1",
        "X1[age] = 9",
    ]
    return model


def large_crowd(younger: int, older: int) -> State:
    """All of tribe 1, one of them nine; so many are younger, so many older."""
    rng = random.Random(younger)
    ages = [*rng.sample(range(-1000, 9), younger), 9, *rng.sample(range(10, 1000), older)]
    return crowd(*((1, age) for age in rng.sample(ages, len(ages))))


def sized_crowd(seed: int) -> State:
    """More of tribe 1 than can be paired, one of them nine: its size decides who is cut."""
    rng = random.Random(seed)
    sizes = [rng.randrange(4) for _ in range(75)]
    return crowd(*((1, 9 if i == 40 else 50) for i in range(75)), sizes=sizes)
