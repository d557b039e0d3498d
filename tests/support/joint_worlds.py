"""Tiny worlds whose rules take two tests, or three, of which none explains anything by itself.

All have the action "go". What happens depends on a fresh state each time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import product

import treethink as tt

Transition = tuple[tt.State, str, tt.State]

SILENT = tt.Attribute(1, facts=(), outcomes="change")
"""What happens: a change of something that no test is about."""


def happens(before: tt.State, x: int, whether: bool) -> tt.State:
    return before.replace(x, turns=before[x].turns + whether)


def two_attributes(rng: random.Random) -> Iterator[Transition]:
    """A lamp turns on if one of two switches is on, but not if both are."""
    attributes = {"left": tt.Flag(), "right": tt.Flag(), "turns": SILENT}
    schema = tt.Schema({"lamp": [*attributes]}, attributes, ["go"])
    while True:
        left, right = rng.random() < 0.5, rng.random() < 0.5
        before = tt.State(schema, [tt.Object(0, "lamp", left=left, right=right, turns=0)])
        yield before, "go", happens(before, 0, left != right)


def two_relations(rng: random.Random) -> Iterator[Transition]:
    """A guard turns if it is at the gate or wears the colour of the flag, but not if both."""
    attributes = {"place": tt.Number(), "color": tt.Category([*"abc"]), "turns": SILENT}
    classes = {"guard": [*attributes], "gate": ["place"], "flag": ["color"]}
    schema = tt.Schema(classes, attributes, ["go"])
    while True:
        place, color = rng.randrange(2), rng.choice("ab")
        guard = tt.Object(5, "guard", place=rng.randrange(2), color=rng.choice("ab"), turns=0)
        gate, flag = tt.Object(2, "gate", place=place), tt.Object(7, "flag", color=color)
        before = tt.State(schema, [guard, gate, flag])
        yield before, "go", happens(before, 5, (guard.place == place) != (guard.color == color))


def cells(rng: random.Random) -> Iterator[Transition]:
    """A player turns where a wall is on its right. Everywhere are cells, some of them walls."""
    attributes = {"pos": tt.Position(), "soil": tt.Category(["grass", "wall"]), "turns": SILENT}
    classes = {"player": ["pos", "turns"], "cell": ["pos", "soil"]}
    schema = tt.Schema(classes, attributes, ["go"])
    places = [*product(range(4), range(3))]
    while True:
        walls = {place: rng.random() < 0.5 for place in places}
        player = tt.Object(99, "player", pos=(rng.randrange(3), rng.randrange(3)), turns=0)
        soils = ["wall" if walls[place] else "grass" for place in places]
        objects = [tt.Object(i, "cell", pos=places[i], soil=soils[i]) for i in range(len(places))]
        before = tt.State(schema, [player, *rng.sample(objects, len(objects))])
        x, y = player.pos
        yield before, "go", happens(before, 99, walls[x + 1, y])


def statements(rng: random.Random) -> Iterator[Transition]:
    """A block turns if it is on the red one. Each `on` says of two blocks whether it is so."""
    attributes = {
        "name": tt.Category([*"abcd"]),
        "top": tt.Category([*"abcd"], like="name"),
        "bottom": tt.Category([*"abcd"], like="name"),
        "holds": tt.Flag(),
        "turns": SILENT,
    }
    classes = {"block": ["name", "turns"], "on": ["top", "bottom", "holds"]}
    schema = tt.Schema(classes, attributes, ["go"])
    while True:
        below = {name: rng.choice([each for each in "abcd" if each != name]) for name in "bcd"}
        blocks = [tt.Object(i, "block", name=name, turns=0) for i, name in enumerate("bcd")]
        ons = [
            tt.Object(10 + i, "on", top=top, bottom=bottom, holds=below[top] == bottom)
            for i, (top, bottom) in enumerate(product("bcd", "abcd"))
            if top != bottom
        ]
        before = after = tt.State(schema, [*blocks, *rng.sample(ons, len(ons))])
        for block in blocks:
            after = happens(after, block.id, below[block.name] == "a")
        yield before, "go", after


def pure_noise(rng: random.Random) -> Iterator[Transition]:
    """A player among cells turns by chance."""
    for before, action, _ in cells(rng):
        yield before, action, happens(before, 99, rng.random() < 0.5)


def noise_of_kinds(rng: random.Random) -> Iterator[Transition]:
    """A player among cells turns by chance; how far, depends on its kind."""
    kinds = [*"abcd"]
    for scene, action, _ in cells(rng):
        attributes = {**scene.schema.attributes, "kind": tt.Category(kinds)}
        classes = {"player": ["pos", "kind", "turns"], "cell": ["pos", "soil"]}
        schema = tt.Schema(classes, attributes, scene.schema.actions)
        kind = rng.randrange(4)
        player = tt.Object(99, "player", pos=scene[99].pos, kind=kinds[kind], turns=0)
        before = tt.State(schema, [player, *scene.of_class("cell")])
        yield before, action, before.replace(99, turns=2 * kind + rng.randrange(2))


#: Each world, and the class of what turns in it.
WORLDS: dict[str, tuple[Callable[[random.Random], Iterator[Transition]], str]] = {
    "two_attributes": (two_attributes, "lamp"),
    "two_relations": (two_relations, "guard"),
    "cells": (cells, "player"),
    "statements": (statements, "block"),
}


def stream(
    endless: Callable[[random.Random], Iterator[Transition]],
    n: int,
    seed: int = 0,
    noise: float = 0.0,
) -> list[Transition]:
    """Return so many transitions; with `noise`, chance decides what happens in a part of them."""
    rng, chance = random.Random(seed), random.Random(-1 - seed)
    transitions = []
    for (before, action, after), _ in zip(endless(rng), range(n), strict=False):
        for x in before:
            if chance.random() < noise and "turns" in x.values:
                after = after.replace(x.id, turns=x.turns + (chance.random() < 0.5))
        transitions.append((before, action, after))
    return transitions
