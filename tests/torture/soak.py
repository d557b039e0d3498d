"""Learn for very long, and print what an observation costs as time goes on.

    python tests/torture/soak.py keys plane --steps 10_000_000

`keys` is the world of that name, played at random; the others are streams in which nothing ever
comes again (tests/support/endless.py). Time is the engine's own, of the last 10,000 observations
before a mark; memory is what the model reports, and the largest that the process has had.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))

import treethink as tt
from endless import STREAMS, Transition

MARKS = (10_000, 100_000, 1_000_000, 5_000_000, 10_000_000)
TIMED = 10_000
CHUNK = 20_000


def stream_of(name: str) -> Iterator[Transition]:
    """Return an endless stream of transitions."""
    if name in STREAMS:
        return STREAMS[name](random.Random(0))
    return tt.transitions(tt.make(name), steps=10**12, seed=0)


def soak(name: str, steps: int) -> None:
    """Learn from a stream, and print a row at each mark."""
    stream = stream_of(name)
    first = next(stream)
    model = tt.TreeThink(first[0].schema)
    model.observe(*first)
    for mark in (each for each in MARKS if each <= steps):
        while (left := mark - TIMED - model.observations) > 0:
            model.observe_many(islice(stream, min(left, CHUNK)))
        times = sorted(model._time_observe(list(islice(stream, mark - model.observations))))
        mean = sum(times) / len(times) / 1000
        use = model.memory_use()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {name} | {model.observations:,} | {mean:.2f} | {times[len(times) // 2] / 1000:.2f} "
            f"| {use['bytes'] / 2**20:.1f} | {peak:.0f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn for very long.")
    parser.add_argument("streams", nargs="*", default=["keys", "plane"])
    parser.add_argument("--steps", type=lambda text: int(text.replace("_", "")), default=MARKS[-1])
    options = parser.parse_args()
    warnings.simplefilter("ignore", tt.NoiseWarning)
    print("| stream | observations | mean, µs | median, µs | model, MiB | process, MiB |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in options.streams:
        soak(name, options.steps)


if __name__ == "__main__":
    main()
