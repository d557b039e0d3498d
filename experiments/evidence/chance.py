"""A random world: how close predictions come to the truth, and which tests the tree has."""

from __future__ import annotations

from itertools import islice
from typing import Any

from experiments.evidence.settings import (
    DEFAULT,
    HELD_OUT_SEED,
    PAPER,
    SETTINGS,
    markdown,
    median,
)

from treethink.evaluation import examine
from treethink.model import TreeThink
from treethink.rules import Rule
from treethink.stream.random_play import transitions
from treethink.worlds import make

FISH = (1, 3)
COUNTS = (1_000, 4_000, 16_000, 64_000)
BESIDE = {(-1, 0), (1, 0), (0, -1), (0, 1)}


def tasks(seeds: int) -> list[dict[str, Any]]:
    """Return a task for every number of fish, setting and seed."""
    return [
        {"part": "chance", "fish": fish, "setting": setting, "seed": seed}
        for fish in FISH
        for setting in (PAPER, DEFAULT)
        for seed in range(seeds)
    ]


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Learn, and measure the error on a held-out stream again and again."""
    world = make("fish", fish=task["fish"])
    model = TreeThink(world.schema, **SETTINGS[task["setting"]])
    stream, steps = transitions(world, COUNTS[-1], task["seed"]), 0
    errors = []
    for count in COUNTS:
        model.observe_many(islice(stream, count - steps))
        steps = count
        held_out = transitions(world, 300, HELD_OUT_SEED)
        errors.append(round(examine(model, world, held_out).mean_error, 5))
    rule = model.rules["fish", "pos", "step"]
    return {
        "errors": errors,
        "asks_for_walls": asks_for_walls(rule),
        "leaves": rule.n_leaves,
    }


def asks_for_walls(rule: Rule) -> bool:
    """Whether every path tests for a wall on each of the four sides, and for nothing else.

    No fish has walls on all sides, so after three walls there is nothing left to test.
    """
    open_: list[tuple[Any, frozenset[Any], int]] = [(rule.root, frozenset(), 0)]
    while open_:
        node, sides, walls = open_.pop()
        if node.test is None:
            if sides != BESIDE and walls < 3:
                return False
            continue
        test, value = node.test, node.test.value
        if (
            test.kind != "difference"
            or set(test.classes) != {"wall", "fish"}
            or 0 not in test.variables
        ):
            return False
        side = value if test.variables[0] == 0 else tuple(-each for each in value)
        if side not in BESIDE or side in sides:
            return False
        open_ += [(node.left, sides | {side}, walls + 1), (node.right, sides | {side}, walls)]
    return True


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return the distance to the truth by observations, and how many trees are right."""
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for task, result in zip(tasks, results, strict=True):
        groups.setdefault((task["fish"], task["setting"]), []).append(result)
    rows = []
    for (fish, setting), group in groups.items():
        errors = [
            f"{median([result['errors'][i] for result in group]):.4f}" for i in range(len(COUNTS))
        ]
        right = sum(result["asks_for_walls"] for result in group)
        rows.append([f"{fish} fish, `{setting}`", *errors, f"{right} of {len(group)}"])
    header = ["world", *(f"{count:,}" for count in COUNTS), "exactly the four walls"]
    return markdown(header, rows)
