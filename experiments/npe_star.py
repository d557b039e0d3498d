"""Whether NPE*, built by hand, is right about all of random play, in levels of any size.

    python -m experiments.npe_star

Prints, for each size, how many transitions there were and how many it got wrong. Some minutes.
"""

from __future__ import annotations

import treethink as tt
from treethink.baselines import make_learner

#: Transitions by the side of a level. Large ones take long: all pairs of objects are looked at.
SIZES = {8: 90_000, 12: 6_000, 16: 3_000, 24: 700, 32: 400}


def wrong(side: int, steps: int) -> int:
    """How many of so many transitions it gets wrong."""
    world = tt.make("maze", width=side, height=side, goals=side * side // 32)
    network, count = make_learner("npe-star", world), 0
    stream = tt.transitions(world, steps=steps, seed=side)
    while part := [each for _, each in zip(range(50), stream, strict=False)]:
        found = network.predict_many([(before, action) for before, action, _ in part])
        count += sum(each.mode() != after for each, (*_, after) in zip(found, part, strict=True))
    return count


def main() -> None:
    for side, steps in SIZES.items():
        print(f"{side:2} x {side:<2} {wrong(side, steps)} wrong of {steps:,}", flush=True)


if __name__ == "__main__":
    main()
