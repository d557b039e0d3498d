"""How much memory is worth keeping: the default criterion with several sizes of memory."""

from __future__ import annotations

from typing import Any

from experiments.evidence.settings import converged, held_out, last_errors, markdown, train

from treethink.worlds import make

SIZES = (0, 500, 5_000, 20_000)
STEPS = {"doors": 10_000, "gates": 20_000, "keys": 60_000}


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every world, size and seed."""
    return [
        {"part": "memory", "world": world, "memory": size, "seed": seed, "steps": steps}
        for world, steps in STEPS.items()
        for size in SIZES
        for seed in range(seeds)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn, then predict a held-out stream."""
    world = make(task["world"])
    model, last_error = train(world, task, criterion="evidence", memory=task["memory"])
    return {"last_error": last_error, "held_out": held_out(model, world, 2_000)}


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return last errors by size of the memory."""
    last: dict[tuple[str, int], list[float]] = {}
    for task, result in zip(tasks, results, strict=True):
        last.setdefault((task["world"], task["memory"]), []).append(converged(task, result))
    rows = [
        [f"`{world}`", *(last_errors(last[world, size], STEPS[world]) for size in SIZES)]
        for world in STEPS
    ]
    return markdown(["world", *(f"{size:,} kept" for size in SIZES)], rows)
