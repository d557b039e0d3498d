"""How results depend on alpha: maze and keys, with the default criterion and memory."""

from __future__ import annotations

from typing import Any

from experiments.evidence.settings import (
    DEFAULT,
    SETTINGS,
    converged,
    held_out,
    last_errors,
    markdown,
    median,
    train,
)

from treethink.worlds import make

ALPHAS = (0.3, 0.1, 0.01, 0.001, 0.00001)
STEPS = {"maze": 20_000, "keys": 60_000}


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every world, alpha and seed."""
    return [
        {"part": "alpha", "world": world, "alpha": alpha, "seed": seed, "steps": steps}
        for world, steps in STEPS.items()
        for alpha in ALPHAS
        for seed in range(seeds)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn, then predict a held-out stream."""
    world = make(task["world"])
    model, last_error = train(world, task, alpha=task["alpha"], **SETTINGS[DEFAULT])
    leaves = sum(rule.n_leaves for rule in model.rules.values())
    return {
        "last_error": last_error,
        "leaves": leaves,
        "held_out": held_out(model, world, 5_000),
    }


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return last errors, shares of exact predictions, and numbers of leaves."""
    groups: dict[tuple[str, float], list[tuple[float, dict[str, Any]]]] = {}
    for task, result in zip(tasks, results, strict=True):
        key = task["world"], task["alpha"]
        groups.setdefault(key, []).append((converged(task, result), result))
    rows = []
    for (world, alpha), group in groups.items():
        last = [each for each, _ in group]
        exact = [result["held_out"]["exact"] / result["held_out"]["of"] for _, result in group]
        leaves = [result["leaves"] for _, result in group]
        rows.append(
            [
                f"`{world}`",
                f"{alpha:g}",
                last_errors(last, STEPS[world]),
                f"{median(exact):.4f} ({min(exact):.4f})",
                f"{median(leaves):g} ({max(leaves)})",
            ]
        )
    header = ["world", "alpha", "last error, median (worst)", "held-out exact", "leaves"]
    return markdown(header, rows)
