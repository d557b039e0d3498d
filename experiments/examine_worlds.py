"""Examine every world after learning with the paper's settings, and list what is wrong.

    python -m experiments.examine_worlds [WORLD ...] [--seeds 3] [--steps N] [--processes 2]

For each world and seed: learn from random play, then examine the model (`treethink.evaluation`) on
a held-out stream and on every scene. A world that ends in `-t` is examined after learning in the
small world that it enlarges. A run that did not learn its world counts as ">steps", and is never
left out.

In a random world no prediction is ever exact. There the error on a fixed held-out stream is
measured again and again during learning. Once the trees have stopped growing it should fall with
the square root of the number of observations: a slope of -1/2.

Finished runs are kept in experiments/examine_worlds.jsonl, so that the work can be interrupted and
resumed (`runs.py`); the tables are made from this file alone. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from experiments.runs import Result, Task, finish, tell

from treethink.evaluation import Examination, examine
from treethink.model import TreeThink
from treethink.stream.random_play import transitions
from treethink.stream.trial import Curve, trial
from treethink.worlds import LANGUAGE_WORLDS, WORLDS, World, make

HERE = Path(__file__).parent
HELD_OUT_SEED = 1_000_000
#: Random play seldom shows some situations of keys, and those of Gymnasium's environments.
STEPS, STEPS_OF_RARE, STEPS_OF_RANDOM = 100_000, 1_000_000, 4_096_000
#: In a random world, the error is measured after this many steps, then after twice as many, ...
FIRST = 1_000
_TELL_EVERY = 20.0  # seconds
#: The worlds of the table: those whose rules the paper's language can say.
EXAMINED = [name for name, world in WORLDS.items() if world not in LANGUAGE_WORLDS]
# Worlds with situations that random play seldom shows.
_RARE = ("keys", "taxi", "cliffwalking")


@dataclass
class Run:
    """A task with its result."""

    world: str
    seed: int
    steps: int
    held_out: int
    trained_in: str = ""
    last_error: int = 0
    #: In a random world: (steps, mean error on the held-out stream, leaves of all trees).
    errors: list[tuple[int, float, int]] = field(default_factory=list)
    examination: dict[str, Any] = field(default_factory=dict)
    learned: bool = False
    mistakes: list[str] = field(default_factory=list)
    defects: int = 0

    @property
    def title(self) -> str:
        """The world and the seed."""
        return f"{self.world} seed {self.seed}"


# ----------------------------------------------------------------------------- running


def tasks(names: Iterable[str], seeds: int, steps: int | None, held_out: int) -> list[Task]:
    """Return all tasks, the longest first, so that no process idles at the end."""
    every: list[Task] = [
        {
            "world": name,
            "seed": seed,
            "steps": steps or _steps_for(name),
            "held_out": held_out,
        }
        for name in names
        for seed in range(seeds)
    ]
    return sorted(every, key=lambda task: -task["steps"])


def _steps_for(name: str) -> int:
    if _is_random(make(name)):
        return STEPS_OF_RANDOM
    return STEPS_OF_RARE if name.startswith(_RARE) else STEPS


def _is_random(world: World) -> bool:
    """Whether any of the first steps had several possible results."""
    for before, action, after in transitions(world, 200, seed=0):
        truth = world.truth(before, action, after)
        if isinstance(truth, list) and len(truth) > 1:
            return True
    return False


def run(task: Task) -> Result:
    """Learn, then examine the model."""
    world = make(task["world"])
    small = task["world"].removesuffix("-t")
    training = make(small) if small in WORLDS else world
    done = Run(**task, trained_in=small)
    model = TreeThink.paper(training.schema)
    if _is_random(training):
        done.errors = list(_errors_while_learning(model, training, world, done))
    else:
        done.last_error = _last_error(model, training, done)
    tell(f"{done.title}: being examined")
    seen = transitions(training, done.steps, done.seed)
    _keep(done, examine(model, world, _held_out(world, done), seen))
    return {name: value for name, value in asdict(done).items() if name not in task}


def _held_out(world: World, done: Run, steps: int | None = None) -> Iterator[Any]:
    return transitions(world, steps or done.held_out, HELD_OUT_SEED + done.seed)


def _last_error(model: TreeThink, world: World, done: Run) -> int:
    curve, reported = Curve(), time.monotonic()
    for wrong_by in trial(model, world, done.steps, done.seed):
        curve.add(wrong_by)
        if curve.steps % 1_000 == 0 and time.monotonic() > reported + _TELL_EVERY:
            reported = time.monotonic()
            tell(
                f"{done.title}: {curve.steps:,} of {done.steps:,} steps,"
                f" last error at {curve.last_error:,}"
            )
    return curve.last_error


def _errors_while_learning(
    model: TreeThink, training: World, world: World, done: Run
) -> Iterator[tuple[int, float, int]]:
    stream, steps = transitions(training, done.steps, done.seed), 0
    while steps < done.steps:
        goal = min(done.steps, 2 * steps or FIRST)
        model.observe_many(islice(stream, goal - steps))
        steps = goal
        held_out = _held_out(world, done, steps=min(done.held_out, 2_000))
        error = examine(model, world, held_out).mean_error
        leaves = sum(rule.n_leaves for rule in model.rules.values())
        tell(f"{done.title}: mean error {error:.4f} after {steps:,} steps")
        yield steps, error, leaves


def _keep(done: Run, examination: Examination) -> None:
    done.learned, done.defects = examination.learned, len(examination.defects)
    done.mistakes = [str(each) for each in examination.mistakes]
    done.examination = {k: v for k, v in asdict(examination).items() if k != "mistakes"}


def finish_runs(tasks_: list[Task], path: Path, processes: int, fresh: bool = False) -> list[Run]:
    """Perform the tasks that are not in the file; return all as runs, in their order."""
    results = finish(tasks_, run, path, processes, fresh)
    return [Run(**task, **result) for task, result in zip(tasks_, results, strict=True)]


# ------------------------------------------------------------------------------ tables


def by_world(runs: list[Run]) -> dict[str, list[Run]]:
    """Return runs by world, in the registry's order, then by name."""
    known = list(WORLDS)
    names = sorted(
        {run.world for run in runs},
        key=lambda name: (known.index(name) if name in known else len(known), name),
    )
    return {
        name: sorted((r for r in runs if r.world == name), key=lambda r: r.seed) for name in names
    }


def tables(runs: list[Run]) -> str:
    """Return all results as Markdown."""
    groups = by_world(runs)
    lines = [
        "| world | steps | learned | last error, median (worst) | held-out exact | right mode |"
        " scenes right | what is wrong |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
        *(_row(name, group) for name, group in groups.items()),
    ]
    random = {name: group for name, group in groups.items() if group[0].errors}
    if random:
        lines += ["", *_random_table(random)]
    wrong = [run for group in groups.values() for run in group if run.mistakes]
    for run in wrong:
        lines += ["", f"{run.title}, {run.steps:,} steps:", ""]
        lines += [f"- {each}" for each in run.mistakes[:10]]
        if len(run.mistakes) > 10:
            lines.append(f"- and {len(run.mistakes) - 10} more")
    return "\n".join(lines)


def _row(name: str, runs: list[Run]) -> str:
    steps, examinations = runs[0].steps, [run.examination for run in runs]
    title = name.rpartition(":")[2]
    if runs[0].trained_in != name:
        title += f" (learned in {runs[0].trained_in})"
    right = [each["scenes"] - len(each["wrong_scenes"]) for each in examinations]
    exact = "by chance" if runs[0].errors else _least("exact", examinations)
    return (
        f"| {title} | {steps:,} | {sum(run.learned for run in runs)} of {len(runs)}"
        f" | {_last_errors(runs)} | {exact} | {_least('right_mode', examinations)}"
        f" | {min(right)} of {examinations[0]['scenes']} | {_wrong(runs)} |"
    )


def _least(what: str, examinations: list[dict[str, Any]]) -> str:
    """Return the share of the worst seed."""
    least = min(examinations, key=lambda each: each[what] / each["held_out"])
    if least[what] == least["held_out"]:
        return f"all {least['held_out']:,}"
    return f"{100 * least[what] / least['held_out']:.2f}%"


def _last_errors(runs: list[Run]) -> str:
    if runs[0].errors:
        return "–"
    last = [run.last_error if run.learned else math.inf for run in runs]

    def format_step(value: float) -> str:
        return f">{runs[0].steps:,}" if math.isinf(value) else f"{value:,.0f}"

    return f"{format_step(statistics.median_low(last))} ({format_step(max(last))})"


def _wrong(runs: list[Run]) -> str:
    defects = [run.defects for run in runs]
    unseen = [len(run.mistakes) - run.defects for run in runs]
    if not any(defects) and not any(unseen):
        return "nothing" if all(run.learned for run in runs) else "see below"
    return (
        f"defects: {', '.join(map(str, defects))};"
        f" not seen enough: {', '.join(map(str, unseen))} (by seed)"
    )


def _random_table(groups: dict[str, list[Run]]) -> list[str]:
    every = sorted({steps for runs in groups.values() for run in runs for steps, *_ in run.errors})
    counts = every[::2]  # each four times the one before
    lines = [
        "Mean distance to the true distribution (median of the seeds), and the slope of its"
        " logarithm over that of the number of observations, once the trees have stopped growing:",
        "",
        f"| world | {' | '.join(f'{count:,}' for count in counts)} | slope by seed |",
        f"|---|{'--:|' * len(counts)}--:|",
    ]
    for name, runs in groups.items():
        by_count = {
            count: [error for run in runs for steps, error, _ in run.errors if steps == count]
            for count in counts
        }
        cells = [f"{statistics.median(each):.4f}" if each else "" for each in by_count.values()]
        slopes = ", ".join(_slope_text(run) for run in runs)
        lines.append(f"| {name.rpartition(':')[2]} | {' | '.join(cells)} | {slopes} |")
    return lines


def _slope_text(run: Run) -> str:
    leaves = run.errors[-1][2]
    grown = [(steps, error) for steps, error, then in run.errors if then == leaves]
    settled = grown[1:]  # at the first, some leaves had just been grown
    slope = fitted_slope(settled)
    return "–" if slope is None else f"{slope:.2f} from {settled[0][0]:,}"


def fitted_slope(points: list[tuple[int, float]]) -> float | None:
    """Return the slope of the least-squares line through the logarithms.

    None: there are fewer than two points.

    >>> round(fitted_slope([(100, 0.1), (10_000, 0.01)]), 3)
    -0.5
    """
    logs = [(math.log(n), math.log(error)) for n, error in points if error > 0]
    if len(logs) < 2:
        return None
    return statistics.linear_regression(*zip(*logs, strict=True)).slope


def main() -> None:
    """Run, keep, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "worlds",
        nargs="*",
        metavar="WORLD",
        help="by default all whose rules the paper's language can say",
    )
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds, from 0 on (3)")
    parser.add_argument("--steps", type=int, help="transitions to learn from (100,000 or more)")
    parser.add_argument("--held-out", type=int, default=20_000, help="transitions to predict")
    parser.add_argument("--processes", type=int, default=2, help="runs at once (2)")
    parser.add_argument("--runs", type=Path, default=HERE / "examine_worlds.jsonl", metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="run again what is in FILE")
    options = parser.parse_args()
    names = options.worlds or EXAMINED
    tasks_ = tasks(names, options.seeds, options.steps, options.held_out)
    try:
        runs = finish_runs(tasks_, options.runs, options.processes, options.fresh)
    except KeyboardInterrupt:
        tell(f"Interrupted. Finished runs are in {options.runs}; run the same command to resume.")
        sys.exit(130)
    print(tables(runs))


if __name__ == "__main__":
    main()
