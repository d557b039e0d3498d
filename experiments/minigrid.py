"""Measure which MiniGrid worlds are learned, with the defaults.

    python -m experiments.minigrid [ID ...] [--steps 20000] [--seeds 3] [--start level]

For each id and seed: learn from random play, in which every transition is predicted before it is
learned from. It starts in levels as the environment makes them, or with `--start stress` in
situations that the world puts together at random (`World.stress_state`). Then predict a held-out
stream, such situations, and a larger level if there is one. A prediction is exact if the state, the
reward and the end are, each with all its probability.

A row of the table is a run: the last transition whose state was predicted wrongly; the last whose
state, reward or end was; for held-out transitions, situations and the larger level the percentages
of exact states, of exact transitions, and of exact ones among those that change something; and
microseconds a transition. `--encoding` tells what is held in another way (`minigrid_encodings.py`).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.minigrid_encodings import ENCODINGS, Recode

from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import as_transition
from treethink.worlds import World, make

HELD_OUT_SEED = 1_000_000
_NEARLY_ONE = 1 - 1e-9

#: The ids that are measured if none is given.
ROWS = (
    "Empty-8x8", "LavaGapS7", "FourRooms", "LockedRoom", "MultiRoom-N4-S5", "KeyCorridorS3R1",
    "DoorKey-5x5", "DoorKey-8x8", "DoorKey-16x16", "Unlock", "UnlockPickup", "Fetch-8x8-N3",
    "PutNear-6x6-N2", "PutNear-8x8-N3",
)  # fmt: skip
#: A larger level of the same kind.
LARGER = {
    "Empty-8x8": "Empty-16x16",
    "LavaGapS7": "LavaGapS7 size=12",
    "MultiRoom-N4-S5": "MultiRoom-N6",
    "KeyCorridorS3R1": "KeyCorridorS4R3",
    "DoorKey-5x5": "DoorKey-16x16",
    "DoorKey-8x8": "DoorKey-16x16",
    "PutNear-6x6-N2": "PutNear-8x8-N3",
}
EPISODE = 50


@dataclass(frozen=True)
class Task:
    """What is learned, and how."""

    name: str
    steps: int
    held_out: int
    start: str
    encoding: str


@dataclass(frozen=True)
class Case:
    """A transition with its reward and end, and whether anything changes."""

    before: State
    action: str
    after: State
    reward: float | None
    ended: bool | None

    @property
    def changes(self) -> bool:
        """Whether the state changes, something is paid, or the episode ends."""
        return self.before != self.after or bool(self.reward) or bool(self.ended)


def played(world: World, steps: int, seed: int) -> Iterator[Case]:
    """Yield random play."""
    for each in transitions(world, steps, seed, EPISODE):
        yield Case(*as_transition(each))


def started(world: World, steps: int, seed: int) -> Iterator[Case]:
    """Yield random play that starts in situations put together at random, `EPISODE` steps each."""
    rng = np.random.default_rng(seed)
    state = None
    for step in range(steps):
        if state is None or step % EPISODE == 0:
            state = world.stress_state(rng)
        assert state is not None
        action = world.actions[rng.integers(len(world.actions))]
        after = world.step(state, action, rng)
        case = Case(
            state,
            action,
            after,
            world.reward(state, action, after),
            world.terminated(state, action, after),
        )
        yield case
        state = None if case.ended else after


def stressed(world: World, count: int, seed: int) -> Iterator[Case]:
    """Yield situations put together at random, with any action."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        state = world.stress_state(rng)
        if state is None:
            return
        action = world.actions[rng.integers(len(world.actions))]
        after = world.step(state, action, rng)
        feedback = world.reward(state, action, after), world.terminated(state, action, after)
        yield Case(state, action, after, *feedback)


def recoded(cases: Iterable[Case], recode: Recode) -> Iterator[Case]:
    """Tell the states of cases in another way."""
    for each in cases:
        yield Case(recode(each.before), each.action, recode(each.after), each.reward, each.ended)


def exact(model: TreeThink, case: Case) -> tuple[bool, bool]:
    """Return whether the state is predicted exactly, and whether reward and end are, too."""
    prediction = model.predict(case.before, case.action)
    state = prediction.probability(case.after) >= _NEARLY_ONE
    rewards = prediction.rewards() or {0.0: 1.0}
    reward = rewards.get(float(case.reward or 0), 0.0) >= _NEARLY_ONE
    end = abs((prediction.terminated() or 0.0) - bool(case.ended)) <= 1 - _NEARLY_ONE
    return state, state and reward and end


def share(model: TreeThink, cases: Iterable[Case]) -> list[float]:
    """Return percentages: of exact states, exact cases, and exact ones that change something."""
    right = [(*exact(model, each), each.changes) for each in cases]
    changing = [both for _, both, changes in right if changes]
    return [
        _percent([s for s, *_ in right]),
        _percent([both for _, both, _ in right]),
        _percent(changing),
    ]


def _percent(right: list[bool]) -> float:
    return 100 * sum(right) / len(right) if right else float("nan")


def run(task: Task, seed: int) -> str:
    """Learn a world, and return its row of the table."""
    world = _world(task.name)
    schema, recode = ENCODINGS[task.encoding](world.schema)
    model = TreeThink(schema)
    last_state = last_any = 0
    began = time.perf_counter()
    train = started if task.start == "stress" else played
    for i, case in enumerate(recoded(train(world, task.steps, seed), recode), start=1):
        state, all_right = exact(model, case)
        last_state, last_any = last_state if state else i, last_any if all_right else i
        feedback: Any = {"reward": case.reward, "terminated": case.ended}
        model.observe(case.before, case.action, case.after, **feedback)
    cost = (time.perf_counter() - began) / max(task.steps, 1) * 1e6
    tests = [played(world, task.held_out, HELD_OUT_SEED + seed)]
    tests.append(stressed(world, task.held_out, HELD_OUT_SEED + seed))
    if larger := LARGER.get(task.name):
        tests.append(played(_world(larger), task.held_out, HELD_OUT_SEED + seed))
    shares = [each for test in tests for each in share(model, recoded(test, recode))]
    texts = " ".join(f"{each:7.2f}" for each in shares)
    return f"{task.name:22} {seed:4} {last_state:8,} {last_any:8,} {texts} {cost:6.0f}"


def _world(text: str) -> World:
    name, *options = text.split()
    pairs = (each.split("=") for each in options)
    return make(f"minigrid:{name}", **{key: int(value) for key, value in pairs})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--start", choices=["level", "stress"], default="level")
    parser.add_argument("--encoding", choices=sorted(ENCODINGS), default="world")
    given = parser.parse_args()
    print(f"# {given.steps:,} steps from {given.start}, encoding: {given.encoding}")
    print("# id                   seed    state      all", end="")
    print("  held-out: state, all, changing | situations | larger, µs")
    for name in given.ids or ROWS:
        task = Task(name, given.steps, given.held_out, given.start, given.encoding)
        for seed in range(given.seeds):
            print(run(task, seed), flush=True)


if __name__ == "__main__":
    main()
