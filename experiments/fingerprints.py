"""Print a fingerprint of every model and plan, to check that a change kept them to the byte.

    python experiments/fingerprints.py > before.txt
    ... change the code ...
    python experiments/fingerprints.py | diff before.txt -

Each line names a world, a seed and the settings, and gives the SHA-256 of the saved model after
2,000 transitions. The last lines are plans, one per situation, in models of some worlds. Only the
public interface is used, so the script runs on any checkout. It takes about a minute.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import treethink as tt
from treethink.worlds import WORLDS

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "paper": {"criterion": "wilson", "memory": 0},
}
SEEDS = range(3)
STEPS = 2_000
PLANNED_WORLDS = ("maze", "coins", "keys")
LEVELS = range(3)


def trained_model(world: tt.worlds.World, seed: int, settings: dict[str, Any]) -> tt.TreeThink:
    """Return a model that has observed 2,000 random transitions of a world."""
    model = tt.TreeThink(world.schema, **settings)
    model.observe_many(tt.transitions(world, steps=STEPS, seed=seed))
    return model


def digest(model: tt.TreeThink, folder: Path) -> str:
    """Return the SHA-256 of the model's file."""
    path = folder / "model.treethink"
    model.save(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def model_lines(folder: Path) -> Iterator[str]:
    """Yield one line per world, seed and settings; a world that cannot be made is named."""
    for name in WORLDS:
        try:
            world = tt.make(name)
        except tt.MissingPackageError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        for seed in SEEDS:
            for label, settings in SETTINGS.items():
                model = trained_model(world, seed, settings)
                yield f"{name} seed={seed} {label} {digest(model, folder)}"


def plan_lines() -> Iterator[str]:
    """Yield the action, visits, values and expected actions of plans with a fixed seed."""
    for name in PLANNED_WORLDS:
        world = tt.make(name)
        model = trained_model(world, 0, {})
        for level in LEVELS:
            plan = tt.plan(model, world.reset(level), simulations=200, seed=level)
            values = [plan.action, plan.visits, plan.values, plan.actions]
            yield f"plan {name} level={level} {json.dumps(values)}"


def main() -> None:
    """Print every fingerprint."""
    with tempfile.TemporaryDirectory() as folder:
        for line in model_lines(Path(folder)):
            print(line, flush=True)
    for line in plan_lines():
        print(line, flush=True)


if __name__ == "__main__":
    main()
