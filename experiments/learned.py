"""Whether every world is learned with the paper's settings, and what is wrong where it is not.

    python -m experiments.learned [WORLD ...] [--seeds 3] [--steps N] [--processes 2] [--json FILE]

For each world and seed: learn from random play, then be examined (`treethink.evaluation`) on a
held-out stream and on every scene. A world that ends in `-t` is examined after learning in the
small world that it enlarges. A run that did not learn its world counts as ">steps", and is
never left out.

Where chance decides what follows, no prediction is ever exact. There the error on a fixed
held-out stream is measured again and again while learning goes on. Once the trees have stopped
growing it should fall with the square root of the number of observations: a slope of -1/2.

Finished runs are kept in FILE (experiments/learned.json unless told), so that the work can be
interrupted and resumed; the tables are made from it alone. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import signal
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import treethink
from treethink.evaluation import Examination, examine
from treethink.model import TreeThink
from treethink.repro.runner import Curve, trial
from treethink.stream.random_play import transitions
from treethink.worlds import WORLDS, World, make

HERE = Path(__file__).parent
HELD_OUT_SEED = 1_000_000
#: Random play seldom shows some situations of keys, and those of Gymnasium's environments.
STEPS, STEPS_OF_RARE, STEPS_OF_CHANCE = 100_000, 1_000_000, 4_096_000
#: Where chance decides: the error is measured after so many steps, then after twice as many, ...
FIRST = 1_000
_TELL_EVERY = 20.0  # seconds
# Where what matters is seen seldom.
_RARE = ("keys", "taxi", "cliffwalking")


@dataclass
class Task:
    """One model to meet one stream."""

    world: str
    seed: int
    steps: int
    held_out: int

    @property
    def title(self) -> str:
        """For progress."""
        return f"{self.world} seed {self.seed}"


@dataclass
class Run(Task):
    """What became of it."""

    trained_in: str = ""
    last_error: int = 0
    #: Where chance decides: (steps, mean error on the held-out stream, leaves of all trees).
    errors: list[tuple[int, float, int]] = field(default_factory=list)
    examination: dict[str, Any] = field(default_factory=dict)
    learned: bool = False
    mistakes: list[str] = field(default_factory=list)
    defects: int = 0
    seconds: float = 0.0
    version: str = treethink.__version__

    def is_of(self, task: Task) -> bool:
        """Whether this is how the task ended."""
        return all(getattr(self, name) == value for name, value in asdict(task).items())


# ----------------------------------------------------------------------------- running


def tasks(names: Iterable[str], seeds: int, steps: int | None, held_out: int) -> list[Task]:
    """Long ones first: at the end nobody waits for one that was begun last."""
    every = [
        Task(name, seed, steps or _steps_for(name), held_out)
        for name in names
        for seed in range(seeds)
    ]
    return sorted(every, key=lambda task: -task.steps)


def _steps_for(name: str) -> int:
    if _chance_decides(make(name)):
        return STEPS_OF_CHANCE
    return STEPS_OF_RARE if name.startswith(_RARE) else STEPS


def _chance_decides(world: World) -> bool:
    """Whether anything in the first steps was left to chance."""
    for before, action, after in transitions(world, 200, seed=0):
        truth = world.truth(before, action, after)
        if isinstance(truth, list) and len(truth) > 1:
            return True
    return False


def run(task: Task) -> Run:
    """Learn, then be examined."""
    world, start = make(task.world), time.monotonic()
    small = task.world.removesuffix("-t")
    school = make(small) if small in WORLDS else world
    done = Run(**asdict(task), trained_in=small)
    model = TreeThink.paper(school.schema)
    if _chance_decides(school):
        done.errors = list(_watched(model, school, world, task))
    else:
        done.last_error = _last_error(model, school, task)
    _tell(f"{task.title}: being examined")
    found = examine(
        model, world, _held_out(world, task), transitions(school, task.steps, task.seed)
    )
    _keep(done, found)
    done.seconds = round(time.monotonic() - start, 1)
    return done


def _held_out(world: World, task: Task, steps: int | None = None) -> Iterator[Any]:
    return transitions(world, steps or task.held_out, HELD_OUT_SEED + task.seed)


def _last_error(model: TreeThink, world: World, task: Task) -> int:
    curve, told = Curve(), time.monotonic()
    for wrong_by in trial(model, world, task.steps, task.seed):
        curve.add(wrong_by)
        if curve.steps % 1_000 == 0 and time.monotonic() > told + _TELL_EVERY:
            told = time.monotonic()
            _tell(
                f"{task.title}: {curve.steps:,} of {task.steps:,} steps,"
                f" last error at {curve.last_error:,}"
            )
    return curve.last_error


def _watched(
    model: TreeThink, school: World, world: World, task: Task
) -> Iterator[tuple[int, float, int]]:
    stream, steps = transitions(school, task.steps, task.seed), 0
    while steps < task.steps:
        goal = min(task.steps, 2 * steps or FIRST)
        model.observe_many(islice(stream, goal - steps))
        steps = goal
        held_out = _held_out(world, task, steps=min(task.held_out, 2_000))
        found = examine(model, world, held_out)
        leaves = sum(rule.n_leaves for rule in model.rules.values())
        _tell(f"{task.title}: mean error {found.mean_error:.4f} after {steps:,} steps")
        yield steps, found.mean_error, leaves


def _keep(done: Run, found: Examination) -> None:
    done.learned, done.defects = found.learned, len(found.defects)
    done.mistakes = [str(each) for each in found.mistakes]
    done.examination = {k: v for k, v in asdict(found).items() if k != "mistakes"}


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# ----------------------------------------------------------------------------- records


def read(path: Path) -> list[Run]:
    """The runs that were finished before."""
    if not path.exists():
        return []
    try:
        return [Run(**each) for each in json.loads(path.read_text("utf-8"))]
    except (TypeError, ValueError) as error:
        sys.exit(f"{path} holds something else than runs of this program: {error}")


def write(path: Path, runs: list[Run]) -> None:
    """All of them, in one step, in an order that does not depend on who finished first."""
    ordered = sorted(runs, key=lambda run: (run.world, run.steps, run.held_out, run.seed))
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(json.dumps([asdict(each) for each in ordered], indent=1) + "\n", "utf-8")
    os.replace(beside, path)


def finish(asked: list[Task], path: Path, processes: int, fresh: bool) -> list[Run]:
    """Run what has not been run yet; return the runs of all tasks, in their order."""
    runs = read(path)
    if fresh:
        runs = [run for run in runs if not any(run.is_of(task) for task in asked)]
    left = [task for task in asked if not any(run.is_of(task) for run in runs)]
    _tell(f"{len(asked) - len(left)} of {len(asked)} runs are in {path}; {len(left)} to go")
    for done in _run_all(left, processes):
        runs.append(done)
        write(path, runs)
        _tell(f"{done.title}: {'learned' if done.learned else 'NOT learned'}, {done.seconds:.0f} s")
    return [run for task in asked for run in runs if run.is_of(task)]


def _run_all(left: list[Task], processes: int) -> Iterator[Run]:
    if processes <= 1 or len(left) <= 1:
        yield from map(run, left)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _ignore_ctrl_c, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(run, left)


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool


# ------------------------------------------------------------------------------ tables


def by_world(runs: list[Run]) -> dict[str, list[Run]]:
    """In the registry's order, then by name."""
    known = list(WORLDS)
    names = sorted(
        {run.world for run in runs},
        key=lambda name: (known.index(name) if name in known else len(known), name),
    )
    return {
        name: sorted((r for r in runs if r.world == name), key=lambda r: r.seed) for name in names
    }


def tables(runs: list[Run]) -> str:
    """All that was found, as Markdown."""
    groups = by_world(runs)
    lines = [
        "| world | steps | learned | last error, median (worst) | held-out exact | right mode |"
        " scenes right | what is wrong |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
        *(_row(name, group) for name, group in groups.items()),
    ]
    chance = {name: group for name, group in groups.items() if group[0].errors}
    if chance:
        lines += ["", *_chance_table(chance)]
    wrong = [run for group in groups.values() for run in group if run.mistakes]
    for run in wrong:
        lines += ["", f"{run.title}, {run.steps:,} steps:", ""]
        lines += [f"- {each}" for each in run.mistakes[:10]]
        if len(run.mistakes) > 10:
            lines.append(f"- and {len(run.mistakes) - 10} more")
    return "\n".join(lines)


def _row(name: str, runs: list[Run]) -> str:
    steps, seen = runs[0].steps, [run.examination for run in runs]
    title = name.rpartition(":")[2]
    if runs[0].trained_in != name:
        title += f" (learned in {runs[0].trained_in})"
    right = [each["scenes"] - len(each["wrong_scenes"]) for each in seen]
    exact = "by chance" if runs[0].errors else _least("exact", seen)
    return (
        f"| {title} | {steps:,} | {sum(run.learned for run in runs)} of {len(runs)}"
        f" | {_last_errors(runs)} | {exact} | {_least('right_mode', seen)}"
        f" | {min(right)} of {seen[0]['scenes']} | {_wrong(runs)} |"
    )


def _least(what: str, seen: list[dict[str, Any]]) -> str:
    """The worst of the seeds."""
    least = min(seen, key=lambda each: each[what] / each["held_out"])
    if least[what] == least["held_out"]:
        return f"all {least['held_out']:,}"
    return f"{100 * least[what] / least['held_out']:.2f}%"


def _last_errors(runs: list[Run]) -> str:
    if runs[0].errors:
        return "–"
    last = [run.last_error if run.learned else math.inf for run in runs]

    def shown(value: float) -> str:
        return f">{runs[0].steps:,}" if math.isinf(value) else f"{value:,.0f}"

    return f"{shown(statistics.median_low(last))} ({shown(max(last))})"


def _wrong(runs: list[Run]) -> str:
    defects = [run.defects for run in runs]
    unseen = [len(run.mistakes) - run.defects for run in runs]
    if not any(defects) and not any(unseen):
        return "nothing" if all(run.learned for run in runs) else "see below"
    return (
        f"defects: {', '.join(map(str, defects))};"
        f" not seen enough: {', '.join(map(str, unseen))} (by seed)"
    )


def _chance_table(groups: dict[str, list[Run]]) -> list[str]:
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
    """Of the least-squares line through the logarithms; None for fewer than two points.

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
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help="all, unless told")
    parser.add_argument("--seeds", type=int, default=3, help="0, 1, ... up to so many (3)")
    parser.add_argument("--steps", type=int, help="to learn from (100,000; some more)")
    parser.add_argument("--held-out", type=int, default=20_000, help="steps to be asked about")
    parser.add_argument("--processes", type=int, default=2, help="at once (2)")
    parser.add_argument("--json", type=Path, default=HERE / "learned.json", metavar="FILE")
    parser.add_argument("--fresh", action="store_true", help="run again what is in FILE")
    given = parser.parse_args()
    asked = tasks(given.worlds or list(WORLDS), given.seeds, given.steps, given.held_out)
    try:
        runs = finish(asked, given.json, given.processes, given.fresh)
    except KeyboardInterrupt:
        _tell(f"interrupted; what is finished is in {given.json}, and the same command goes on")
        sys.exit(130)
    print(tables(runs))


if __name__ == "__main__":
    main()
