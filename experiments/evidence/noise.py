"""Noise: with some probability, the world performs another action than the one observed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from experiments.evidence.settings import DEFAULT, HELD_OUT_SEED, SETTINGS, markdown, median

from treethink.model import TreeThink
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World, make

STEPS = {"walls": 5_000, "maze": 20_000, "doors": 30_000, "coins": 30_000, "switches": 30_000}
NOISES = (0.0, 0.01, 0.05)
_EPISODE = 50


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every world, noise and seed."""
    return [
        {"part": "noise", "world": world, "noise": noise, "seed": seed, "steps": steps}
        for world, steps in STEPS.items()
        for noise in NOISES
        for seed in range(seeds)
    ]


def noisy_transitions(world: World, steps: int, seed: int, noise: float) -> Iterator[AnyTransition]:
    """Yield random play in which the world sometimes performs another action."""
    rng = np.random.default_rng(seed)
    for step in range(steps):
        if step % _EPISODE == 0:
            state = world.reset(int(rng.integers(2**63)))
        chosen, shift = rng.integers(len(world.actions)), rng.integers(1, len(world.actions))
        executed = (chosen + shift) % len(world.actions) if rng.random() < noise else chosen
        after = world.step(state, world.actions[executed], rng)
        yield state, world.actions[chosen], after
        state = after


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn from the noisy world, predict the one without noise."""
    world = make(task["world"])
    model = TreeThink(world.schema, **SETTINGS[DEFAULT])
    model.observe_many(noisy_transitions(world, task["steps"], task["seed"], task["noise"]))
    right, mass, steps = 0, 0.0, 2_000
    for before, action, after in transitions(world, steps, HELD_OUT_SEED):
        prediction = model.predict(before, action)
        right += prediction.mode() == after
        mass += 1 - prediction.probability(after)
    leaves = sum(rule.n_leaves for rule in model.rules.values())
    return {"of": steps, "right": right, "mass": mass / steps, "leaves": leaves}


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return how often the likeliest state is right, and the probability of the others."""
    groups: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for task, result in zip(tasks, results, strict=True):
        groups.setdefault((task["world"], task["noise"]), []).append(result)
    rows = []
    for (world, noise), group in groups.items():
        right = [each["right"] / each["of"] for each in group]
        mass, leaves = [each["mass"] for each in group], [each["leaves"] for each in group]
        rows.append(
            [
                f"`{world}`",
                f"{noise:.0%}",
                f"{median(right):.4f} ({min(right):.4f})",
                f"{median(mass):.4f}",
                f"{median(leaves):g} ({max(leaves)})",
            ]
        )
    header = ["world", "noise", "likeliest state right, median (worst)", "mass on others", "leaves"]
    return markdown(header, rows)
