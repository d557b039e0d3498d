"""Transfer: learn in levels of 6 x 6 only, predict levels of 8 x 8 and 16 x 16."""

from __future__ import annotations

from typing import Any

from experiments.evidence.settings import DEFAULT, SETTINGS, held_out, markdown, median

from treethink.model import TreeThink
from treethink.stream.random_play import transitions
from treethink.worlds import make

STEPS = {
    "walls": 5_000,
    "doors": 20_000,
    "fish": 60_000,
    "gates": 40_000,
    "maze": 10_000,
    "coins": 20_000,
    "keys": 60_000,
    "switches": 20_000,
}
SIZES = (6, 8, 16)


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every grid world and seed."""
    return [
        {"part": "transfer", "world": world, "setting": DEFAULT, "seed": seed, "steps": steps}
        for world, steps in STEPS.items()
        for seed in range(seeds)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn in small levels, predict larger ones."""
    small = make(task["world"], width=6, height=6)
    model = TreeThink(small.schema, **SETTINGS[task["setting"]])
    model.observe_many(transitions(small, task["steps"], task["seed"]))
    return {
        str(size): held_out(model, make(task["world"], width=size, height=size), 2_000)
        for size in SIZES
    }


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return the share of exact predictions, median (worst) over seeds."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for task, result in zip(tasks, results, strict=True):
        groups.setdefault(task["world"], []).append(result)
    rows = [
        [f"`{world}`", f"{STEPS[world]:,}"]
        + [_share([result[str(size)] for result in group]) for size in SIZES]
        for world, group in groups.items()
    ]
    return markdown(["world", "observations", *(f"{size} x {size}" for size in SIZES)], rows)


def _share(counts: list[dict[str, int]]) -> str:
    shares = [each["exact"] / each["of"] for each in counts]
    return f"{median(shares):.4f} ({min(shares):.4f})"
