"""The settings that are compared, and helpers that all parts of the experiment share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from treethink.evaluation import examine
from treethink.model import TreeThink
from treethink.stream.random_play import transitions
from treethink.stream.trial import Curve, trial
from treethink.worlds import World

SETTINGS: dict[str, dict[str, Any]] = {
    "wilson": {"criterion": "wilson", "memory": 0},
    "evidence": {"criterion": "evidence", "memory": 0},
    "evidence + memory": {"criterion": "evidence", "memory": 5_000},
    "proven": {"criterion": "proven", "memory": 0},
    "proven + memory": {"criterion": "proven", "memory": 5_000},
}
PAPER, DEFAULT = "wilson", "evidence + memory"
HELD_OUT_SEED = 1_000_000
#: A run with an error after this share of its steps has not converged. It is stricter than the last
#: tenth of reports (treethink.repro.runner.convergence), as most of these runs are shorter.
CONVERGED_BY = 0.8


def held_out(model: TreeThink, world: World, steps: int) -> dict[str, int]:
    """Return how many transitions of a held-out stream are predicted exactly."""
    examination = examine(model, world, transitions(world, steps, HELD_OUT_SEED))
    return {
        "of": examination.held_out,
        "exact": examination.plausible if examination.chance else examination.exact,
        "right_mode": examination.right_mode,
        "scenes": examination.scenes,
        "wrong_scenes": len(examination.wrong_scenes),
    }


def train(world: World, task: dict[str, Any], **settings: Any) -> tuple[TreeThink, int]:
    """Train a model on the task's stream; return it and its last error."""
    model, curve = TreeThink(world.schema, **settings), Curve()
    for wrong_by in trial(model, world, task["steps"], task["seed"]):
        curve.add(wrong_by)
    return model, curve.last_error


def converged(task: dict[str, Any], result: dict[str, Any]) -> float:
    """Return the last error, or infinity if it was within the last fifth of the steps."""
    last: int = result["last_error"]
    return last if last <= CONVERGED_BY * task["steps"] else math.inf


def last_errors(values: list[float], steps: int) -> str:
    """Return the median and the worst last error, as text."""

    def format_value(value: float) -> str:
        return f">{steps:,}" if math.isinf(value) else f"{value:,.0f}"

    return f"{format_value(median(values))} ({format_value(max(values))})"


def median(values: Iterable[float]) -> float:
    """Return the median; it may be infinite."""
    return statistics.median(values)


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first are aligned to the right."""
    lines = [f"| {' | '.join(line)} |" for line in (header, *rows)]
    return "\n".join([lines[0], f"|---|{'--:|' * (len(header) - 1)}", *lines[1:]])
