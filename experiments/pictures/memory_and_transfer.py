"""Two pictures: a rule in larger levels, and errors with and without a memory."""

from __future__ import annotations

from functools import cache
from itertools import accumulate
from statistics import mean

from experiments.pictures import doors_run
from experiments.pictures.canvas import TONES, card, lines
from experiments.pictures.level import Level, below, draw_marks
from experiments.pictures.plot import Axes, Points

from treethink.model import TreeThink
from treethink.repro.runner import TOLERANCE, trial
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

HELD_OUT, HELD_OUT_SEED = 1_000, 1_000_000
SEEDS, STEPS = range(10), 4_000


# ------------------------------------------------------------------------- transfer


def transfer() -> str:
    """Draw one rule in a level of the size that it learned in, and in one of 32 x 32."""
    large = make("doors", width=32, height=32, doors=40)
    levels = [
        Level(doors_run.world(), doors_run.first_step_with((False, True, False))[0], 48, 92, 24),
        Level(large, _blocked(large), 336, 28, 11),
    ]
    parts: list[str] = []
    for level, title in zip(levels, ("8 x 8, as in learning", "32 x 32, never seen"), strict=True):
        parts += [level.draw(), *draw_marks(level, doors_run.reason_for(level.state))]
        parts += [below(level, title), below(level, _right(level.world), line=1)]
    return card("The same rule in a small and in a large level", 432, parts)


def _blocked(world: World) -> State:
    """Return the first level that starts with a door of another color right of the player."""
    levels = (world.reset(seed) for seed in range(10_000))
    return next(
        state
        for state in levels
        if [step.holds for step in doors_run.reason_for(state).steps] == [False, True, False]
    )


def _right(world: World) -> str:
    """Return how many new transitions the model predicts exactly."""
    new = transitions(world, HELD_OUT, HELD_OUT_SEED)
    right = sum(doors_run.model().predict(b, action).mode() == after for b, action, after in new)
    return f"{right:,} of {HELD_OUT:,} new transitions are right"


# --------------------------------------------------------------------------- memory


def memory() -> str:
    """Draw the number of inexact predictions with and without memory, means over ten seeds."""
    kinds = {"with a memory of 5,000 (the default)": 5_000, "without a memory": 0}
    curves = {name: _inexact(size) for name, size in kinds.items()}
    top = max(curve[-1][1] for curve in curves.values())
    axes = Axes(60, 66, 400, 190, (0, STEPS), (0, top * 1.1))
    parts = axes.frame(
        f"doors, learned {len(SEEDS)} times",
        "predictions that were not exact, so far, mean",
        "transitions watched",
        range(0, STEPS + 1, 1_000),
        range(0, int(top) + 50, 100),
    )
    for colour, (name, curve) in zip(TONES, curves.items(), strict=False):
        parts.append(axes.curve(curve, colour))
        x, y = axes.at(*curve[-1])
        parts += lines(x + 10, y - 4, [name, f"{curve[-1][1]:.0f} in all"], colour, size=12.0)
    return card(
        "Predictions that were not exact while learning, with and without a memory", 310, parts
    )


@cache
def _inexact(size: int) -> Points:
    """Return the number of inexact predictions so far, by transition."""
    world = make("doors")
    runs = [
        list(accumulate(wrong_by > TOLERANCE for wrong_by in trial(learner, world, STEPS, seed)))
        for seed in SEEDS
        for learner in [TreeThink(world.schema, memory=size)]
    ]
    every = range(0, STEPS, 40)
    return [(step + 1, mean(run[step] for run in runs)) for step in (*every, STEPS - 1)]
