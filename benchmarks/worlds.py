"""Measure how fast every world makes levels and steps, in one process.

    python -m benchmarks.worlds [WORLD ...] [--json FILE]

Each world has its default size: `maze` is 8 x 8, `maze-t` 32 x 32. Levels and actions are made
from fixed seeds, outside the clock, anew for each pass. Times are the best of several passes,
because other load on the machine only adds to them. Every step is checked against the world's
distribution.
"""

from __future__ import annotations

import argparse
import gc
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from treethink.repro.bench.workloads import EPISODE, LEVELS, check_walk, walk, walks
from treethink.worlds import WORLDS, make

PASSES = 5
#: The targets: (least steps a second, most milliseconds for a level).
TARGETS = {"maze": (50_000, 2.0), "maze-t": (10_000, 60.0)}


@dataclass(frozen=True)
class Row:
    """The speed of one world."""

    world: str
    objects: int
    steps_a_second: float
    level_ms: float


def measure(name: str) -> Row:
    """Time one world."""
    world = make(name)
    stepping, making = [], []
    for _ in range(PASSES):
        planned = walks(world)
        stepping.append(_seconds(partial(walk, world, planned)))
        making.append(_seconds(lambda: [world.reset(seed) for seed in range(LEVELS)]))
    check_walk(world, walk(world, walks(world)))
    return Row(
        world=name,
        objects=len(world.reset(0)),
        steps_a_second=LEVELS * EPISODE / min(stepping),
        level_ms=1_000 * min(making) / LEVELS,
    )


def _seconds(work: Callable[[], object]) -> float:
    with _no_collector():
        start = perf_counter()
        work()
        return perf_counter() - start


@contextmanager
def _no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds", nargs="*", default=list(WORLDS), metavar="WORLD")
    parser.add_argument("--json", type=Path, help="also write the figures there", metavar="FILE")
    options = parser.parse_args()
    print("| world | objects | steps a second | target | a level, ms | target |")
    print("|---|--:|--:|--:|--:|--:|")
    rows = []
    for name in options.worlds:
        row = measure(name)
        rows.append(row)
        steps, level = (f"{each:,}" for each in TARGETS[name]) if name in TARGETS else ("", "")
        print(
            f"| {name} | {row.objects} | {row.steps_a_second:,.0f} | {steps}"
            f" | {row.level_ms:.2f} | {level} |",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
