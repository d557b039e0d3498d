"""Measure which worlds that need more than the paper's language are learned, with the defaults.

    python -m experiments.language [ROW ...] [--seeds 10] [--held-out 2000] [--processes 1]

For each row and seed: learn from random play for the steps that are allowed, where every transition
is predicted before it is learned from. A model has then learned the world if it predicts every
transition of a held-out stream and every scene exactly. It also predicts a stream of the larger
world, if there is one. All these worlds are certain, so what followed is what is true.

Without ROW, all rows are measured. A table goes to stdout, progress to stderr.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice

from experiments.language_streams import (
    BLOCKS,
    CARDS,
    EPISODE,
    VALVES,
    VENDING,
    Case,
    blocks,
    cards,
    obstacles,
    obstacles_schema,
    valves,
    vending,
)

from treethink.metrics import TOLERANCE, error
from treethink.model import TreeThink
from treethink.state import Schema
from treethink.stream.random_play import transitions
from treethink.worlds import World, make

#: Returns endless cases for a seed.
Stream = Callable[[int], Iterator[Case]]

HELD_OUT_SEED = 1_000_000
_LARGER_STEPS = 500


@dataclass(frozen=True)
class Row:
    """What is learned, from how many steps, and what the model must predict then."""

    schema: Schema
    steps: int
    training: Stream
    scenes: tuple[Case, ...] = ()
    larger: Stream | None = None
    #: A stream of the same world in another form, whose cost is compared.
    reference: tuple[Schema, Stream] | None = None


@dataclass(frozen=True)
class Run:
    """The result of a row for one seed."""

    last_error: int
    held_out: float
    scenes_right: int
    larger: float | None
    #: Microseconds an observation takes, here and in the reference.
    cost: float
    reference_cost: float | None

    def learned(self, n_scenes: int) -> bool:
        """Return whether every held-out transition and every scene was predicted exactly."""
        return self.held_out == 1 and self.scenes_right == n_scenes


# ------------------------------------------------------------------------------- streams


def play(*worlds: World, actions: Iterable[str] = (), episode: int = EPISODE) -> Stream:
    """Return a stream of random play, in which each episode takes place in the next world.

    An episode has so many steps. With `actions`, only transitions with these actions are in it.
    """
    wanted = set(actions) or set(worlds[0].actions)

    def stream(seed: int) -> Iterator[Case]:
        episodes = [_endless(world, seed + i, episode) for i, world in enumerate(worlds)]
        while True:
            for each in episodes:
                for before, action, after in islice(each, episode):
                    if action in wanted:
                        yield before, action, after

    return stream


def _endless(world: World, seed: int, episode: int) -> Iterator[Case]:
    for before, action, after, *_ in transitions(world, sys.maxsize, seed, episode):
        yield before, action, after


def world_row(
    steps: int,
    *training: World,
    larger: World | None = None,
    actions: Iterable[str] = (),
    reference: World | None = None,
    episode: int = EPISODE,
) -> Row:
    """Return the row of a world, which is played in one or more sizes."""
    world = training[0]
    scenes = tuple(
        (scene.before, scene.action, scene.truth[0][0])
        for scene in world.scenes()
        if not actions or scene.action in actions
    )
    return Row(
        world.schema,
        steps,
        play(*training, actions=actions, episode=episode),
        scenes,
        None if larger is None else play(larger, actions=actions, episode=episode),
        None if reference is None else (reference.schema, play(reference, episode=episode)),
    )


# ---------------------------------------------------------------------------------- rows


#: How many doors, keys and balls there are in levels of each size. Where it is always one key and
#: one ball, "no ball is carried" is as good as "nothing else is carried".
CARRY_LEVELS = {5: (1, 1, 0), 6: (1, 0, 1), 7: (2, 2, 2), 8: (2, 1, 1)}


def carry_row(**options: int) -> Row:
    """Return the row of `carry`, which is played at four sizes and judged at a larger one."""
    sizes = [
        make("carry", width=size, height=size, doors=doors, keys=keys, balls=balls, **options)
        for size, (doors, keys, balls) in CARRY_LEVELS.items()
    ]
    larger = make("carry", width=16, height=16, **options)
    return world_row(300_000, *sizes, larger=larger)


def obstacles_row(*kinds: str, passable: bool = False) -> Row:
    """Return the row of six kinds of obstacle, where positions take part in kinds of fact."""
    schema = obstacles_schema(*kinds)
    larger = partial(obstacles, schema, 32, passable)
    return Row(schema, 2_000, partial(obstacles, schema, 8, passable), larger=larger)


SOMETHING = ("equality", "difference", "order", "something")

ROWS: dict[str, Callable[[], Row]] = {
    "cells": lambda: world_row(3_000, make("cells"), larger=make("cells", width=32, height=32)),
    # Within an episode the counters keep step, which looks like a rule: episodes are short.
    "parity of attributes": lambda: world_row(500, make("parity"), actions=["press"], episode=10),
    "parity of relations": lambda: world_row(2_000, make("parity"), actions=["pull"], episode=10),
    "carry": carry_row,
    "carry, heading as a number": partial(carry_row, numbered=1),
    "carry, things where the agent is": partial(carry_row, hidden=0),
    "push": lambda: world_row(
        60_000, make("push"), larger=make("push", width=32, height=32, boxes=200, goals=300)
    ),
    # A hunter that has caught its prey follows it from cell to cell: episodes are short.
    "chase": lambda: world_row(
        2_000, make("chase"), larger=make("chase", width=32, height=32), episode=10
    ),
    "fuel": lambda: world_row(2_000, make("fuel"), larger=make("fuel", width=32, height=32)),
    # Within an episode a ball repeats its way: episodes are short.
    "bounce": lambda: world_row(20_000, make("bounce"), episode=20),
    "portal": lambda: world_row(
        2_000, make("portal"), larger=make("portal", width=32, height=32, portals=100)
    ),
    "portal, by stepping": lambda: world_row(
        2_000,
        make("portal", stepping=1),
        larger=make("portal", width=32, height=32, portals=100, stepping=1),
    ),
    "doors of one class": lambda: world_row(3_000, make("doors-things"), reference=make("doors")),
    "coins of one class": lambda: world_row(3_000, make("coins-things"), reference=make("coins")),
    "blocks": lambda: Row(BLOCKS, 4_000, partial(blocks, 5), larger=partial(blocks, 7)),
    "valves": lambda: Row(VALVES, 1_500, partial(valves, 5, 6), larger=partial(valves, 12, 36)),
    "vending": lambda: Row(VENDING, 4_000, vending),
    "cards": lambda: Row(CARDS, 1_000, partial(cards, 13), larger=partial(cards, 60)),
    "six obstacles": obstacles_row,
    "six obstacles, with something": partial(obstacles_row, *SOMETHING),
    "six obstacles, one passable": partial(obstacles_row, passable=True),
    "six obstacles, one passable, with something": partial(
        obstacles_row, *SOMETHING, passable=True
    ),
}


# ------------------------------------------------------------------------------- running


def run(name: str, seed: int, held_out: int) -> Run:
    """Learn the stream of a row, then predict what its model must predict."""
    row = ROWS[name]()
    model = TreeThink(row.schema)
    last_error, cost = learn(model, islice(row.training(seed), row.steps))
    held_out_stream = islice(row.training(HELD_OUT_SEED + seed), held_out)
    larger = row.larger and islice(row.larger(HELD_OUT_SEED + seed), _LARGER_STEPS)
    return Run(
        last_error,
        share_exact(model, held_out_stream),
        sum(is_exact(model, each) for each in row.scenes),
        None if larger is None else share_exact(model, larger),
        cost,
        row.reference and _cost_of(*row.reference, row.steps, seed),
    )


def learn(model: TreeThink, stream: Iterable[Case]) -> tuple[int, float]:
    """Predict each transition, then learn from it; return the last error and the cost."""
    last_error, steps, seconds = 0, 0, 0.0
    for steps, case in enumerate(stream, 1):
        if not is_exact(model, case):
            last_error = steps
        start = time.perf_counter()
        model.observe(*case)
        seconds += time.perf_counter() - start
    return last_error, 1e6 * seconds / steps


def _cost_of(schema: Schema, stream: Stream, steps: int, seed: int) -> float:
    return learn(TreeThink(schema), islice(stream(seed), steps))[1]


def is_exact(model: TreeThink, case: Case) -> bool:
    """Return whether what followed was predicted with certainty."""
    before, action, after = case
    return error(model.predict(before, action), after) <= TOLERANCE


def share_exact(model: TreeThink, stream: Iterable[Case]) -> float:
    """Return the share of a stream that is predicted exactly."""
    return statistics.mean(is_exact(model, case) for case in stream)


# --------------------------------------------------------------------------------- table

HEADER = (
    "| world | steps | learned | last error, median (worst) | held-out exact | scenes right |"
    " larger exact | us an observation |\n|---|--:|--:|--:|--:|--:|--:|--:|"
)


def table_row(name: str, runs: list[Run]) -> str:
    """Return the results of a row as a line in Markdown: medians, or those of the worst seed."""
    row = ROWS[name]()
    n_learned = sum(each.learned(len(row.scenes)) for each in runs)
    errors = [each.last_error for each in runs]
    cells = [
        name,
        f"{row.steps:,}",
        f"{n_learned} of {len(runs)}",
        f"{statistics.median(errors):,.0f} ({max(errors):,})",
        _percent(min(each.held_out for each in runs)),
        f"{min(each.scenes_right for each in runs)} of {len(row.scenes)}" if row.scenes else "",
        _percent(min(each.larger for each in runs if each.larger is not None))
        if row.larger
        else "",
        _cost_text(runs),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(share: float) -> str:
    return "all" if share == 1 else f"{int(share * 10_000) / 100:.2f}%"


def _cost_text(runs: list[Run]) -> str:
    cost = f"{statistics.median(each.cost for each in runs):.1f}"
    ratios = [each.cost / each.reference_cost for each in runs if each.reference_cost]
    return f"{cost}, {statistics.median(ratios):.1f} times with classes" if ratios else cost


def main() -> None:
    """Run, and print a line as soon as a row is complete."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of: {', '.join(ROWS)}")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds, from 0 on (10)")
    parser.add_argument("--held-out", type=int, default=2_000, help="transitions to predict")
    parser.add_argument("--processes", type=int, default=1, help="runs at once (1)")
    options = parser.parse_args()
    if unknown := set(options.rows) - set(ROWS):
        parser.error(f"no such row as {', '.join(sorted(unknown))}; rows are: {', '.join(ROWS)}")
    print(HEADER, flush=True)
    with ProcessPoolExecutor(options.processes) as pool:
        pending = {
            name: [pool.submit(run, name, seed, options.held_out) for seed in range(options.seeds)]
            for name in options.rows or ROWS
        }
        for name, futures in pending.items():
            print(table_row(name, [each.result() for each in futures]), flush=True)


if __name__ == "__main__":
    main()
