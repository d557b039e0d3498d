"""Check the predictions of NPE*, which is built by hand, on random play in levels of many sizes.

    python -m experiments.npe_star

Prints, for each size, the number of transitions and of wrong predictions. Takes some minutes.
"""

from __future__ import annotations

import treethink as tt
from treethink.baselines import make_learner

#: Transitions by the side of a level. Large levels are slow: all pairs of objects are evaluated.
SIZES = {8: 90_000, 12: 6_000, 16: 3_000, 24: 700, 32: 400}


def wrong(side: int, steps: int) -> int:
    """Return how many of `steps` transitions are predicted wrongly."""
    world = tt.make("maze", width=side, height=side, goals=side * side // 32)
    network, count = make_learner("npe-star", world), 0
    stream = tt.transitions(world, steps=steps, seed=side)
    while part := [each for _, each in zip(range(50), stream, strict=False)]:
        predictions = network.predict_many([(before, action) for before, action, _ in part])
        count += sum(
            each.mode() != after for each, (*_, after) in zip(predictions, part, strict=True)
        )
    return count


def main() -> None:
    """Check every size and print."""
    for side, steps in SIZES.items():
        print(f"{side:2} x {side:<2} {wrong(side, steps)} wrong of {steps:,}", flush=True)


if __name__ == "__main__":
    main()
