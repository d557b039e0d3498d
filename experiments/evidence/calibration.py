"""Calibration: how often a tree splits on noise, and how soon on a real effect.

A coin lies among things. Its outcomes are independent of all positions, so its tree should stay a
leaf: every test is a mistake. A stream counts as mistaken if its tree *ever* split.

"Below n tests": `depth` flags must all be up for the coin to be tossed, else nothing happens; then
a tree that tests anything but flags is mistaken. "With a plant": where a thing lies to the right of
the coin, the last outcome is certain, and the tree must find the test for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from experiments.evidence.settings import markdown

from treethink import Attribute, Object, Schema, State
from treethink.model import TreeThink

#: Values of alpha, with their numbers of streams: rare events need more of them.
STREAMS = {0.1: 2_000, 0.01: 10_000, 0.001: 100_000}
CHANCES = (
    (0.5, 0.5),
    (0.9, 0.1),
    (1 / 3, 1 / 3, 1 / 3),
    (0.2, 0.2, 0.2, 0.2, 0.2),
    (0.6, 0.2, 0.1, 0.06, 0.04),
)
#: Kinds of streams, with their options.
KINDS: dict[str, dict[str, Any]] = {
    "one object": {"coins": 1, "steps": 200},
    "eight objects": {"coins": 8, "steps": 60},
    "eight that share one coin": {"coins": 8, "steps": 60, "shared": True},
    "below 1 test": {"coins": 1, "steps": 400, "depth": 1, "memory": 1_000},
    "below 2 tests": {"coins": 1, "steps": 400, "depth": 2, "memory": 1_000},
    "below 3 tests": {"coins": 1, "steps": 400, "depth": 3, "memory": 1_000},
}
CRITERIA = ("wilson", "evidence", "proven")
PLANTED, PLANTED_STEPS = 1_000, 600
CHUNK = 2_000
SIDE, THINGS, POOL = 6, 8, 400
_FLAGS = ("a", "b", "c")

schema = Schema(
    classes={"coin": ["up", "pos", *_FLAGS], "thing": ["pos"]},
    attributes={"up": Attribute(1, facts=(), outcomes="value"), "pos": 2, "a": 1, "b": 1, "c": 1},
    actions=["toss"],
)


def tasks(share: float = 1.0) -> list[dict[str, Any]]:
    """Return chunks of streams for each kind and criterion, without and with a plant."""
    every = []
    for kind, options in KINDS.items():
        for criterion in CRITERIA:
            for alpha, streams in STREAMS.items():
                every += _chunks(kind, criterion, alpha, False, int(share * streams))
            if "depth" not in options:
                every += _chunks(kind, criterion, 0.01, True, int(share * PLANTED))
    return every


def _chunks(
    kind: str, criterion: str, alpha: float, plant: bool, count: int
) -> list[dict[str, Any]]:
    fixed = {"part": "calibration", "kind": kind, "criterion": criterion}
    return [
        fixed
        | {"alpha": alpha, "plant": plant, "first": first, "streams": min(CHUNK, count - first)}
        for first in range(0, count, CHUNK)
    ]


class Pool:
    """States to draw from, made once: positions do not depend on the coins."""

    def __init__(self, coins: int, depth: int):
        rng = np.random.default_rng(0)
        self.states = [self._state(rng, coins, depth) for _ in range(POOL)]
        self.ready = [all(state.value(0, flag) for flag in _FLAGS) for state in self.states]
        self.beside = np.array([self._beside(state, coins) for state in self.states])

    @staticmethod
    def _state(rng: np.random.Generator, coins: int, depth: int) -> State:
        def place() -> tuple[int, ...]:
            return tuple(rng.integers(SIDE, size=2).tolist())

        def flags() -> dict[str, int]:
            up = [int(rng.random() < 0.8) for _ in range(depth)]
            return dict(zip(_FLAGS, [*up, *[1] * (len(_FLAGS) - depth)], strict=True))

        objects = [Object(i, "coin", up=0, pos=place(), **flags()) for i in range(coins)]
        return State(
            schema, [*objects, *(Object(100 + i, "thing", pos=place()) for i in range(THINGS))]
        )

    @staticmethod
    def _beside(state: State, coins: int) -> list[bool]:
        occupied = {state.value(100 + i, "pos") for i in range(THINGS)}
        at = [state.value(i, "pos") for i in range(coins)]
        return [(x + 1, y) in occupied for x, y in at]


@cache
def pool_of(coins: int, depth: int) -> Pool:
    """Return the pool, which all streams of a kind share."""
    return Pool(coins, depth)


def stream(options: dict[str, Any], seed: int, plant: bool) -> Iterator[tuple[State, str, State]]:
    """Yield the transitions of one stream."""
    coins, chances, steps = options["coins"], CHANCES[seed % len(CHANCES)], options["steps"]
    pool, rng = pool_of(coins, options.get("depth", 0)), np.random.default_rng(seed)
    which = rng.integers(POOL, size=steps)
    tosses = rng.choice(
        len(chances), p=chances, size=(steps, 1 if options.get("shared") else coins)
    )
    outcomes = np.broadcast_to(tosses, (steps, coins))
    if plant:
        outcomes = np.where(pool.beside[which], len(chances) - 1, outcomes)
    for at, values in zip(which.tolist(), outcomes.tolist(), strict=True):
        before = pool.states[at]
        if not pool.ready[at]:
            values = [0] * coins
        yield (
            before,
            "toss",
            before.replace_many({i: {"up": up} for i, up in enumerate(values) if up}),
        )


def adds_false_test(options: dict[str, Any], criterion: str, alpha: float, seed: int) -> bool:
    """Whether the tree of this stream ever tested anything but its flags."""
    model = TreeThink(schema, criterion=criterion, alpha=alpha, memory=options.get("memory", 0))
    changes: list[Any] = []
    model.on_change = changes.append
    model.observe_many(stream(options, seed, plant=False))
    flags = _FLAGS[: options.get("depth", 0)]
    tests = [change.test for change in changes if change.test is not None]
    return any(test.attribute not in flags or test.variables != (0,) for test in tests)


def steps_until_found(
    options: dict[str, Any], criterion: str, alpha: float, seed: int
) -> int | None:
    """Return after how many observations the root's test was the planted one."""
    model = TreeThink(schema, criterion=criterion, alpha=alpha, memory=options.get("memory", 0))
    changes: list[Any] = []
    model.on_change = changes.append
    for step, transition in enumerate(stream(options, seed, plant=True), 1):
        model.observe(*transition)
        for change in changes:
            test = change.test
            if change.path == "" and test is not None and test.kind == "difference":
                right = (1, 0) if test.classes[0] == "coin" else (-1, 0)
                of_it = set(test.classes) == {"coin", "thing"} and 0 in test.variables
                if of_it and test.value == right:
                    return step
        changes.clear()
    return None


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Perform one chunk."""
    options, criterion, alpha = KINDS[task["kind"]], task["criterion"], task["alpha"]
    seeds = range(task["first"], task["first"] + task["streams"])
    if task["plant"]:
        longer = options | {"steps": PLANTED_STEPS}
        return {"found": [steps_until_found(longer, criterion, alpha, seed) for seed in seeds]}
    return {"mistaken": sum(adds_false_test(options, criterion, alpha, seed) for seed in seeds)}


def upper_limit(successes: int, trials: int) -> float:
    """Return the upper 95% confidence limit of a proportion (Clopper and Pearson).

    >>> round(upper_limit(0, 1000), 5)
    0.00299
    """
    k = np.arange(successes + 1)
    steps = np.log((trials - k[1:] + 1) / k[1:])
    log_choices = np.concatenate([[0.0], np.cumsum(steps)])  # of k out of `trials`

    def at_most(chance: float) -> float:
        """Return the probability of at most `successes`."""
        if chance >= 1:
            return 0.0
        logs = log_choices + k * math.log(chance) if chance > 0 else log_choices[:1]
        return float(np.exp(logs + (trials - k[: len(logs)]) * math.log1p(-chance)).sum())

    low, high = successes / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(middle) > 0.05 else (low, middle)
    return high


def table(tasks: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    """Return shares of mistaken streams with their upper limits, and when plants were found."""
    mistakes: dict[tuple[str, str], dict[float, tuple[int, int]]] = {}
    steps_by_key: dict[tuple[str, str], list[float]] = {}
    for task, result in zip(tasks, results, strict=True):
        key = task["kind"], task["criterion"]
        if task["plant"]:
            steps = [math.inf if each is None else each for each in result["found"]]
            steps_by_key.setdefault(key, []).extend(steps)
            continue
        wrong, streams = mistakes.setdefault(key, {}).get(task["alpha"], (0, 0))
        mistakes[key][task["alpha"]] = wrong + result["mistaken"], streams + task["streams"]
    rows = [
        [f"{kind}, `{criterion}`", *(_share(*each) for each in by_alpha.values())]
        for (kind, criterion), by_alpha in mistakes.items()
    ]
    first = markdown(["", *(f"alpha {alpha:g}" for alpha in STREAMS)], rows)
    rows = []
    for key, steps in steps_by_key.items():
        ordered = sorted(steps)
        cells = [_quantile(ordered, each) for each in (0.5, 0.95, 0.99)]
        rows.append([f"{key[0]}, `{key[1]}`", f"{len(ordered):,}", *cells])
    second = markdown(["", "streams", "half within", "95% within", "99% within"], rows)
    return f"{first}\n\nAnd with a plant, at alpha 0.01:\n\n{second}"


def _share(wrong: int, streams: int) -> str:
    limit = upper_limit(wrong, streams)
    return f"{wrong:,} of {streams:,}: {100 * wrong / streams:.3f}% (at most {100 * limit:.3f}%)"


def _quantile(ordered: list[float], share: float) -> str:
    value = ordered[math.ceil(share * len(ordered)) - 1]
    return f">{PLANTED_STEPS}" if math.isinf(value) else f"{value:.0f}"
