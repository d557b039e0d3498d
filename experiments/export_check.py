"""Compare exported rules with the engine, on many transitions of random play.

    python -m experiments.export_check [WORLD ...] [--steps 60000] [--transitions 10000]

For each world (`keys` by default): learn from random play, write the model as a Python module,
import it, and let both predict every attribute of every object. Prints how many transitions were
predicted differently, and exits with 1 if any was.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import make


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds", nargs="*", metavar="WORLD")
    parser.add_argument("--steps", type=int, default=60_000, help="transitions to learn from")
    parser.add_argument("--transitions", type=int, default=10_000, help="transitions to compare")
    options = parser.parse_args()
    names = options.worlds or ["keys"]
    wrong = [compare(name, options.steps, options.transitions) for name in names]
    sys.exit(any(wrong))


def compare(name: str, steps: int, n: int) -> int:
    """Return how many of `n` transitions the exported module predicts differently."""
    world = make(name)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps=steps, seed=0))
    exported, wrong, started = export_and_import(model), 0, time.perf_counter()
    for state, action, _ in transitions(world, steps=n, seed=1):
        wrong += exported.predict(state.to_dict(), action) != predictions(model, state, action)
    each = (time.perf_counter() - started) / n
    print(f"{name}: {wrong} of {n:,} transitions predicted differently ({each * 1e6:.0f} us each)")
    return wrong


def export_and_import(model: TreeThink) -> ModuleType:
    """Return the model as a Python module, written to a file and imported from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported_rules.py"
        model.to_python(path)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def predictions(model: TreeThink, state: State, action: str) -> dict[int, dict[str, Any]]:
    """Return the engine's prediction of every attribute of every object."""
    prediction = model.predict(state, action)
    return {x.id: {name: prediction.outcomes(x.id, name) for name in x.values} for x in state}


if __name__ == "__main__":
    main()
