"""How fast every world makes levels and steps, through the pure interface and in one process.

    python -m benchmarks.worlds [WORLD ...] [--json FILE]

Each world has its default size: `maze` is 8 x 8, `maze-t` 32 x 32. Levels and actions are made
from fixed seeds, outside the clock; each pass starts from levels of its own, so that none
finds work that an earlier one left done. Times are the best of several passes: whatever else
the machine does only ever adds. Every step is checked against the stated distribution.
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

import numpy as np

from treethink.state import State
from treethink.worlds import WORLDS, World, make

LEVELS, EPISODE, PASSES = 20, 50, 5
#: What was asked for: (steps a second at least, milliseconds for a level at most).
ASKED = {"maze": (50_000, 2.0), "maze-t": (10_000, 60.0)}

#: The start of a level, and what to do there.
Plan = tuple[State, list[str]]


@dataclass(frozen=True)
class Row:
    """The speed of one world."""

    world: str
    objects: int
    steps_a_second: float
    level_ms: float


def plans(world: World) -> list[Plan]:
    """Levels that nobody has walked in yet, and random actions for each."""
    rng = np.random.default_rng(0)
    choices = rng.integers(len(world.actions), size=(LEVELS, EPISODE)).tolist()
    return [
        (world.reset(seed), [world.actions[i] for i in chosen])
        for seed, chosen in enumerate(choices)
    ]


def walk(world: World, planned: list[Plan]) -> list[State]:
    """Follow the plans; returns where each ends."""
    step, rng, ends = world.step, np.random.default_rng(0), []
    for state, actions in planned:
        for action in actions:
            state = step(state, action, rng)
        ends.append(state)
    return ends


def check(world: World, ends: list[State]) -> None:
    """Fast and wrong is wrong: every step on the way must be listed in its distribution."""
    rng = np.random.default_rng(0)
    for (state, actions), end in zip(plans(world), ends, strict=True):
        for action in actions:
            after = world.step(state, action, rng)
            if after not in dict(world.distribution(state, action)):
                raise AssertionError(f"{world!r}: {action!r} in {state!r} gave {after!r}")
            state = after
        if state != end:
            raise AssertionError(f"{world!r}: the same walk ended in {state!r} and in {end!r}")


def measure(name: str) -> Row:
    """Time one world."""
    world = make(name)
    stepping, making = [], []
    for _ in range(PASSES):
        planned = plans(world)
        stepping.append(_seconds(partial(walk, world, planned)))
        making.append(_seconds(lambda: [world.reset(seed) for seed in range(LEVELS)]))
    check(world, walk(world, plans(world)))
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
    given = parser.parse_args()
    print("| world | objects | steps a second | asked | a level, ms | asked |")
    print("|---|--:|--:|--:|--:|--:|")
    rows = []
    for name in given.worlds:
        row = measure(name)
        rows.append(row)
        steps, level = (f"{each:,}" for each in ASKED[name]) if name in ASKED else ("", "")
        print(
            f"| {name} | {row.objects} | {row.steps_a_second:,.0f} | {steps}"
            f" | {row.level_ms:.2f} | {level} |",
            flush=True,
        )
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
