"""Measure which MiniGrid worlds are learned from random play, with the defaults.

    python -m experiments.minigrid [ID ...] [--steps 20000] [--seeds 3] [--encoding world]

For each id and seed: learn from random play, where every transition is predicted before it is learned
from. Then predict a held-out stream, the same in a larger level if the row has one, and situations that the
world puts together at random (`World.stress_state`). A prediction is exact if the state, the reward and
the end are, each with all its probability.

A row of the table is a run: the last transition that was predicted wrongly (its state; its state, reward
or end), and the shares in percent that were exact: held-out, held-out that change something, larger,
stress, and stress that change something. `--encoding` tells held things in another way (see `ENCODINGS`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from experiments.minigrid_encodings import ENCODINGS, Recode

from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import as_transition
from treethink.worlds import World, make

HELD_OUT_SEED = 1_000_000
_NEARLY_ONE = 1 - 1e-9

#: The ids that are measured without arguments, each with a larger level of the same kind.
ROWS: dict[str, str] = {
    "Empty-8x8": "Empty-16x16",
    "LavaGapS7": "LavaGapS7 size=12",
    "FourRooms": "",
    "LockedRoom": "",
    "MultiRoom-N4-S5": "MultiRoom-N6",
    "KeyCorridorS3R1": "KeyCorridorS4R3",
    "DoorKey-5x5": "DoorKey-16x16",
    "DoorKey-8x8": "DoorKey-16x16",
    "DoorKey-16x16": "",
    "Unlock": "",
    "UnlockPickup": "",
    "Fetch-8x8-N3": "",
    "PutNear-6x6-N2": "PutNear-8x8-N3",
    "PutNear-8x8-N3": "",
}


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


EPISODE = 50


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
        case = Case(state, action, after, world.reward(state, action, after), world.terminated(state, action, after))
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


def share(model: TreeThink, cases: Iterable[Case]) -> tuple[float, float]:
    """Return the percentage of cases that are exact, and of those that change something."""
    right = [(exact(model, each)[1], each.changes) for each in cases]
    changing = [each for each, changes in right if changes]
    return tuple(
        100 * sum(each) / len(each) if each else float("nan")
        for each in ([r for r, _ in right], changing)
    )  # type: ignore[return-value]


def run(name: str, larger: str, steps: int, seed: int, held_out: int, encoding: str, train=played) -> str:
    """Learn a world, and return the row of the table."""
    world = _world(name)
    schema, recode = ENCODINGS[encoding](world.schema)
    model = TreeThink(schema)
    last_state = last_any = 0
    began = time.perf_counter()
    for i, case in enumerate(recoded(train(world, steps, seed), recode), start=1):
        state, both = exact(model, case)
        last_state, last_any = last_state if state else i, last_any if both else i
        model.observe(case.before, case.action, case.after, reward=case.reward, terminated=case.ended)
    cost = (time.perf_counter() - began) / max(steps, 1) * 1e6
    shares: list[float] = []
    tests: list[Callable[[], Iterator[Case]]] = [
        partial(played, world, held_out, HELD_OUT_SEED + seed),
        partial(stressed, world, held_out, HELD_OUT_SEED + seed),
    ]
    if larger:
        tests.append(partial(played, _world(larger), held_out, HELD_OUT_SEED + seed))
    for test in tests:
        shares += share(model, recoded(test(), recode))
    texts = [f"{each:7.2f}" for each in shares]
    return f"{name:22} {seed:4} {last_state:8,} {last_any:8,} {' '.join(texts)} {cost:6.0f}"


def _world(text: str) -> World:
    name, *options = text.split()
    pairs = (each.split("=") for each in options)
    return make(f"minigrid:{name}", **{key: int(value) for key, value in pairs})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ids", nargs="*")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--held-out", type=int, default=2_000)
    parser.add_argument("--start", choices=["level", "stress"], default="level")
    parser.add_argument("--encoding", choices=sorted(ENCODINGS), default="world")
    given = parser.parse_args()
    print(f"# {given.steps:,} steps, {given.held_out:,} held out, encoding: {given.encoding}")
    print("# id                   seed    state      all held-out (changing) stress (changing) larger (changing)   µs")
    for name in given.ids or islice(ROWS, None):
        for seed in range(given.seeds):
            row = run(name, ROWS.get(name, ""), given.steps, seed, given.held_out, given.encoding, started if given.start=='stress' else played)
            print(row, flush=True)


if __name__ == "__main__":
    sys.exit(main())
