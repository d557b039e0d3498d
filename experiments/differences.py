"""What each departure from the paper does, in numbers (for docs/differences.md).

    python experiments/differences.py [--seeds 5] [--steps 2000] [--size 6] [PART ...]

In:   seeded streams of the worlds `walls` and `maze`, and random trees and scenes.
Out:  tables on stdout. Parts: learning, ids, objects, routing, score, limit, values.

The variants of the paper are trees of `variants.py`, which meet the same transitions as ours,
one after the other, so each comparison is paired. A run is judged by the last observation
that it predicted wrongly, and by held-out transitions of the same and of a larger grid.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from reference import (
    Binding,
    Fact,
    Node,
    Outcome,
    ReferenceModel,
    ReferenceTree,
    Scene,
    Test,
    Vector,
    extensions,
)
from strategies import Shape, random_state, random_tree
from strategies import transitions as random_stream
from variants import VARIANTS, ById, ByIdScene, Ours

from treethink import Attribute, Object, Schema, State, TreeThink, error
from treethink.stream import transitions
from treethink.worlds import World, make
from treethink.worlds.maze import Maze

Transition = tuple[State, str, State]
HELD_OUT_SEED = 1_000_000
HELD_OUT = 400


class Glance(Scene):
    """A scene that is only asked about, never learned from: its facts are not listed."""

    def _facts_of(self, fact_type: object) -> list[Fact]:
        return []


@dataclass
class Asked:
    """What to measure, from the command line."""

    seeds: int
    steps: int
    size: int
    large: int
    cases: int
    streams: int


@dataclass
class Run:
    """One variant that met one stream."""

    trees: dict[tuple[str, str, str], Ours] = field(default_factory=dict)
    last_error: int = 0
    wrong: int = 0
    from_ancestor: int = 0
    from_nothing: int = 0

    @property
    def events(self) -> list[str]:
        """All decisions, rule by rule."""
        return [f"{key} {event}" for key, tree in self.trees.items() for event in tree.events]

    @property
    def leaves(self) -> int:
        """Of all rules that vary."""
        return sum(len(tree.leaves()) for tree in self.trees.values())


# --- learning ----------------------------------------------------------------------


def targets_of(world: World, scene: Scene, after: State) -> Iterator[tuple[str, str, int, Outcome]]:
    """Class, attribute, object and outcome, of the classes that ever change."""
    then = Glance(after)
    for class_name, attributes in world.schema.classes.items():
        if class_name not in world.fixed:  # type: ignore[attr-defined]
            for attribute in attributes:
                for x in scene.of_class(class_name):
                    old, new = scene.values[x][attribute], then.values[x][attribute]
                    delta = tuple(b - a for a, b in zip(old, new, strict=True))
                    yield class_name, attribute, x, delta


def answer(run: Run, tree: Ours, scene: Scene, x: int) -> dict[Outcome, int]:
    """A tree's answer, noting where it came from."""
    if not tree.seen:
        run.from_nothing += 1
        length = len(next(iter(scene.values[x].values())))
        return {(0,) * length: 1}
    steps = tree.route(scene, (x,))
    run.from_ancestor += len(steps) > 1 and not steps[-1][0].totals
    return tree.predict(scene, (x,))


def predicts(run: Run, world: World, scene: Scene, action: str, after: State, kind: type[Ours]) -> bool:
    """Whether every outcome is predicted for sure."""
    right = True
    for class_name, attribute, x, outcome in targets_of(world, scene, after):
        key = (class_name, attribute, action)
        tree = run.trees.setdefault(key, kind([class_name]))
        right &= set(answer(run, tree, scene, x)) == {outcome}
    return right


def learn(run: Run, world: World, scene: Scene, action: str, after: State) -> None:
    """One transition, all rules that vary. Each has one target in these worlds."""
    for class_name, attribute, x, outcome in targets_of(world, scene, after):
        run.trees[class_name, attribute, action].observe(scene, [((x,), outcome)])


def train(
    kinds: Sequence[type[Ours]],
    world: World,
    stream: Iterable[Transition],
    see: Callable[[State], Scene] = Scene,
) -> list[Run]:
    """Let all variants meet a stream together."""
    runs = [Run() for _ in kinds]
    for step, (before, action, after) in enumerate(stream, start=1):
        scene = see(before)
        for kind, run in zip(kinds, runs, strict=True):
            if not predicts(run, world, scene, action, after, kind):
                run.last_error = step
                run.wrong += 1
            learn(run, world, scene, action, after)
    return runs


def share_right(run: Run, kind: type[Ours], world: World, stream: Iterable[Transition]) -> float:
    """The share of transitions that are predicted for sure."""
    told = [
        predicts(run, world, Glance(before), action, after, kind) for before, action, after in stream
    ]
    return statistics.mean(told)


def grid(name: str, size: int) -> World:
    """The world, square."""
    return make(name, width=size, height=size)
