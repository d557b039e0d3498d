"""How soon a world is learned, and whether it is learned for good.

    python -m benchmarks.learning [--seeds 10] [--steps 100000] [--json FILE] [WORLD ...]

For each world and seed: learn from random play, then predict a held-out stream. A model has
learned the world if it equals `world.distribution` on every transition of that stream, and is
right about every scene of the world's rules. Otherwise each wrong rule and outcome is
listed with how often training showed it. A run that did not learn its world counts as
">steps", and is never left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from treethink.experiment import TOLERANCE, Curve, trial
from treethink.learner import Prediction, TreeThink
from treethink.metrics import distance, error
from treethink.state import State
from treethink.stream import transitions
from treethink.worlds import World, make

#: (class, attribute, action, what it became less what it was)
Shown = tuple[str, str, str, tuple[int, ...]]
HELD_OUT_SEED = 1_000_000


@dataclass
class Run:
    """One model that met one stream."""

    world: str
    seed: int
    steps: int
    last_error: int = 0
    held_out: int = 0
    exact: int = 0
    right_mode: int = 0
    wrong_scenes: list[str] = field(default_factory=list)
    #: For each wrong rule and outcome: how often wrong, how often training showed it.
    defects: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def learned(self) -> bool:
        """In the sense above."""
        return self.exact == self.held_out and not self.wrong_scenes


def learn(world: World, seed: int, steps: int, held_out: int) -> Run:
    """Train, then examine."""
    run = Run(world.name, seed, steps, held_out=held_out)
    model, curve, start = TreeThink(world.schema), Curve(), time.perf_counter()
    for wrong_by in trial(model, world, steps, seed):
        curve.add(wrong_by)
    run.last_error, run.seconds = curve.last_error, time.perf_counter() - start
    wrong: Counter[Shown] = Counter()
    for before, action, after in transitions(world, held_out, HELD_OUT_SEED + seed):
        prediction, truth = model.predict(before, action), world.distribution(before, action)
        most = max(probability for _, probability in truth)
        run.right_mode += prediction.mode() in [s for s, p in truth if p > most - TOLERANCE]
        if error(prediction, truth) <= TOLERANCE:
            run.exact += 1
        else:
            wrong.update(_wrong_outcomes(prediction, after, action))
    run.wrong_scenes = [
        scene.says
        for scene in world.scenes()
        if model.predict(scene.before, scene.action).probability(scene.after) < 1 - TOLERANCE
    ]
    if wrong:
        run.defects = _with_training(world, seed, steps, wrong)
    return run


def _outcomes(before: State, action: str, after: State) -> Iterator[tuple[int, Shown]]:
    for old, new in zip(before, after, strict=True):
        for name, value in old.values.items():
            was, became = (v if isinstance(v, tuple) else (v,) for v in (value, new.values[name]))
            delta = tuple(b - a for a, b in zip(was, became, strict=True))
            yield old.id, (old.class_name, name, action, delta)


def _wrong_outcomes(prediction: Prediction, after: State, action: str) -> Iterator[Shown]:
    for each, shown in _outcomes(prediction.state, action, after):
        told = prediction.outcomes(each, shown[1])
        if distance(told, {after.value(each, shown[1]): 1.0}) > TOLERANCE:
            yield shown


def _with_training(world: World, seed: int, steps: int, wrong: Counter[Shown]) -> list[str]:
    """Play the training once more, to count what it showed."""
    seen: Counter[Shown] = Counter()
    for transition in transitions(world, steps, seed):
        seen.update(shown for _, shown in _outcomes(*transition) if shown in wrong)
    return [
        f"{'.'.join(shown[:3])} {shown[3]}: wrong {times} times, shown {seen[shown]} times: "
        + ("a defect" if seen[shown] >= 30 else "not seen enough")
        for shown, times in wrong.most_common()
    ]


def _print_summary(name: str, runs: list[Run]) -> None:
    last = [run.last_error if run.learned else float("inf") for run in runs]
    median, worst = statistics.median(last), max(last)
    steps = runs[0].steps

    def shown(value: float) -> str:
        return f">{steps:,}" if value == float("inf") else f"{value:,.0f}"

    print(
        f"{name}: {sum(run.learned for run in runs)} of {len(runs)} learned;"
        f" last error at observation {shown(median)} (median), {shown(worst)} (worst)"
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("worlds", nargs="*", default=["walls", "maze"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--held-out", type=int, default=20_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    every: list[Run] = []
    for name in asked.worlds:
        runs = []
        for seed in range(asked.seeds):
            run = learn(make(name), seed, asked.steps, asked.held_out)
            print(
                f"{name} seed {seed}: last error at {run.last_error:,}; held out:"
                f" {run.exact:,} of {run.held_out:,} exact, {run.right_mode:,} with the right mode;"
                f" wrong scenes: {len(run.wrong_scenes)}; {run.seconds:.1f} s",
                flush=True,
            )
            for line in [*run.wrong_scenes, *run.defects]:
                print(f"    {line}")
            runs.append(run)
        _print_summary(name, runs)
        every += runs
    if asked.json:
        asked.json.write_text(json.dumps([asdict(run) for run in every], indent=1) + "\n")


if __name__ == "__main__":
    main()
