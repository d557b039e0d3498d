"""How much is worth keeping: the default criterion with windows of several sizes."""

from __future__ import annotations

import math
from typing import Any

from experiments.evidence.efficiency import converged
from experiments.evidence.settings import held_out, markdown, median

from treethink.experiment import Curve, trial
from treethink.learner import TreeThink
from treethink.worlds import make

SIZES = (0, 500, 5_000, 20_000)
STEPS = {"doors": 10_000, "gates": 20_000, "keys": 60_000}


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Every world, size and seed."""
    return [
        {"part": "memory", "world": world, "memory": size, "seed": seed, "steps": steps}
        for world, steps in STEPS.items()
        for size in SIZES
        for seed in range(seeds)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn, then be asked."""
    world, curve = make(task["world"]), Curve()
    model = TreeThink(world.schema, criterion="evidence", memory=task["memory"])
    for wrong_by in trial(model, world, task["steps"], task["seed"]):
        curve.add(wrong_by)
    return {"last_error": curve.last_error, "held_out": held_out(model, world, 2_000)}


def table(asked: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Last errors by size of the window."""
    last: dict[tuple[str, int], list[float]] = {}
    for task, result in zip(asked, results, strict=True):
        last.setdefault((task["world"], task["memory"]), []).append(converged(task, result))

    def shown(world: str, value: float) -> str:
        return f">{STEPS[world]:,}" if math.isinf(value) else f"{value:,.0f}"

    rows = [
        [f"`{world}`"]
        + [
            f"{shown(world, median(last[world, size]))} ({shown(world, max(last[world, size]))})"
            for size in SIZES
        ]
        for world in STEPS
    ]
    return markdown(["world", *(f"{size:,} kept" for size in SIZES)], rows)
