"""Sample efficiency: the last observation that was predicted wrongly.

A run with an error in the last fifth of its steps has not converged; it counts as ">steps" and is
never left out. Then the model predicts a held-out stream and, where there is one, the larger world
of the same rules.
"""

from __future__ import annotations

import math
from typing import Any

from experiments.evidence.settings import (
    DEFAULT,
    PAPER,
    SETTINGS,
    converged,
    held_out,
    last_errors,
    markdown,
    median,
    train,
)

from treethink.worlds import WORLDS, make

WORLDS_AND_STEPS = {
    "walls": 5_000,
    "doors": 60_000,
    "gates": 60_000,
    "maze": 20_000,
    "maze-scoreless": 5_000,
    "coins": 60_000,
    "coins-scoreless": 60_000,
    "keys": 60_000,
    "keys-scoreless": 60_000,
    "lights": 5_000,
    "lights-scoreless": 5_000,
    "switches": 60_000,
    "scale": 10_000,
    "paths": 5_000,
    "taxi": 110_000,
    "cliffwalking": 110_000,
}
#: The most steps of settings that are only compared.
_MOST_COMPARED = 20_000
#: The targets: how many times fewer observations than with the paper's settings.
TARGETS = {"switches": 10, "coins": 10, "doors": 5, "maze": 2, "gates": 2}


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every world, setting and seed."""
    return [
        {"part": "efficiency", "world": world, "setting": setting, "seed": seed}
        | {"steps": steps_for(world, setting)}
        for world in WORLDS_AND_STEPS
        for setting in SETTINGS
        for seed in range(seeds)
    ]


def steps_for(world: str, setting: str) -> int:
    """Return the steps of a run."""
    steps = WORLDS_AND_STEPS[world]
    if setting in (PAPER, DEFAULT) or world.startswith("keys"):
        return steps
    return min(steps, _MOST_COMPARED)


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn, then predict a held-out stream."""
    world = make(task["world"])
    model, last_error = train(world, task, **SETTINGS[task["setting"]])
    result: dict[str, Any] = {"last_error": last_error}
    result["held_out"] = held_out(model, world, 20_000 if task["world"] == "keys" else 2_000)
    larger = f"{task['world']}-t"
    if larger in WORLDS:
        result["larger"] = held_out(model, make(larger), 500)
    return result


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return last errors, their ratios to the paper's settings, and shares of exact predictions."""
    last: dict[tuple[str, str], list[float]] = {}
    exact: dict[tuple[str, str], list[float]] = {}
    larger: dict[tuple[str, str], list[float]] = {}
    for task, result in zip(tasks, results, strict=True):
        key = task["world"], task["setting"]
        last.setdefault(key, []).append(converged(task, result))
        exact.setdefault(key, []).append(result["held_out"]["exact"] / result["held_out"]["of"])
        if "larger" in result:
            larger.setdefault(key, []).append(result["larger"]["exact"] / result["larger"]["of"])
    rows = []
    for world in WORLDS_AND_STEPS:
        cells = [last_errors(last[world, each], steps_for(world, each)) for each in SETTINGS]
        target = f" ({TARGETS[world]})" if world in TARGETS else ""
        ratio = _ratio(last[world, PAPER], last[world, DEFAULT], steps_for(world, PAPER))
        rows.append([f"`{world}`", *cells, f"{ratio}{target}"])
    first = markdown(["world", *(f"`{name}`" for name in SETTINGS), "times fewer (asked)"], rows)
    rows = []
    for world in WORLDS_AND_STEPS:
        cells = [_least(exact[world, setting]) for setting in SETTINGS]
        rows.append([f"`{world}`", *cells])
        if (world, DEFAULT) in larger:
            cells = [_least(larger[world, setting]) for setting in SETTINGS]
            rows.append([f"`{world}-t`, learned in `{world}`", *cells])
    second = markdown(["world", *(f"`{name}`" for name in SETTINGS)], rows)
    return (
        f"{first}\n\nAfterwards, on a held-out stream, the share of transitions predicted exactly,"
        f" median (worst) of the seeds:\n\n{second}"
    )


def _ratio(paper: list[float], ours: list[float], steps: int) -> str:
    """Return the median of the ratios by seed.

    If the paper's settings did not converge it is a lower bound; if ours did not, it counts as 0.
    """
    ratios = [
        (0.0 if math.isinf(b) else min(a, steps) / b, math.isinf(a))
        for a, b in zip(paper, ours, strict=True)
    ]
    ratio, bound = sorted(ratios)[(len(ratios) - 1) // 2]
    return f"more than {ratio:.1f}" if bound else f"{ratio:.1f}"


def _least(values: list[float]) -> str:
    def format_value(value: float) -> str:
        return "all" if value == 1 else f"{math.floor(value * 1e4) / 1e4:.4f}"

    return f"{format_value(median(values))} ({format_value(min(values))})"
