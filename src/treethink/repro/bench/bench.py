"""`treethink bench`: measure every path, and print the paper's numbers beside ours.

    workloads -> timing -> [ bench ] -> rows (times) and figures (ratios, memory)

Everything is called through the Python interface; times inside the engine are a column of their
own.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from rich.table import Table

import treethink
from treethink.baselines import LEARNERS, make_learner
from treethink.errors import MissingPackageError
from treethink.model import TreeThink
from treethink.planning.search import SearchSettings
from treethink.repro.bench.adapters import crowd, room, screen
from treethink.repro.bench.timing import (
    Timing,
    best_seconds,
    longest_observe,
    time_both,
    time_observe,
    time_observe_many,
    time_plans,
    time_predict,
)
from treethink.repro.bench.workloads import (
    EPISODE,
    PAPERS,
    PREDICT_OPTIONS,
    converged,
    fresh_models,
    maze_8,
    maze_10_000_objects,
    maze_32,
    play,
    questions,
)
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.trial import Curve, trial
from treethink.terminal import plain_table
from treethink.worlds import World, make

Situation = tuple[State, str]

#: Whole runs, long enough for most of each world to be learned.
_RUNS = {"maze": 30_000, "coins": 30_000, "keys": 60_000}


@dataclass(frozen=True, slots=True)
class Row:
    """The timing of one workload, the paper's time for it, and the time it may take (`asked`)."""

    name: str
    timing: Timing
    paper: float | None = None
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that is not the time of a call."""

    name: str
    value: float
    unit: str
    note: str = ""


@dataclass
class Report:
    """The results of a benchmark."""

    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def repeats(self) -> int:
        """The number of times that a row is measured; the best counts."""
        return 2 if self.quick else 5

    def calls(self, count: int, least: int = 0) -> int:
        """Return how many calls a row measures: `count`, or a tenth of it if quick."""
        return max(count // 10, least) if self.quick else count

    def to_json(self) -> str:
        """Return everything as JSON, with versions and platform."""
        machine = {
            "treethink": treethink.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
        }
        return json.dumps({"machine": machine, **asdict(self)}, indent=1) + "\n"

    def tables(self) -> Iterator[Table]:
        """Yield tables for the terminal: times, then the other figures."""
        table = plain_table("microseconds", gap=1)
        table.columns[0].min_width = 20
        for name in ("calls", "mean", "median", "p99", "first", "engine", "paper", "asked"):
            table.add_column(name, justify="right")
        for row in self.rows:
            t = row.timing
            times = (t.mean, t.median, t.p99, t.first, t.engine, row.paper, row.asked)
            table.add_row(row.name, f"{t.calls:,}", *map(_short, times))
        yield table
        table = plain_table("figure", "value", "", "")
        table.columns[1].justify = "right"
        for each in self.figures:
            table.add_row(each.name, _short(each.value), each.unit, each.note)
        yield table


def run(quick: bool = False, tell: Callable[[str], None] = print) -> Report:
    """Measure everything; `quick` makes fewer calls, so times are rougher."""
    report = Report(quick)
    parts: tuple[tuple[Callable[[Report], None], str], ...] = (
        (_predict, "predictions of a converged model"),
        (_observe, "observations of a new model"),
        *((partial(_whole_run, name=each), f"whole runs of {each}") for each in _RUNS),
        (_times_to_learn, "how long learning takes"),
        (partial(_one_replay, name="keys", steps=30_000), "one replay of what is kept"),
        (_baselines, "the learners that it is compared with"),
        (_networks, "networks"),
        (_plans, "plans"),
        (_ten_thousand_objects, "10,000 objects in one state"),
        (_states_built_anew, "many classes, values and objects, states built anew"),
        (_memory, "memory"),
    )
    for part, what in parts:
        tell(f"{what} ...")
        part(report)
    for note in report.notes:
        tell(note)
    return report


def _predict(report: Report) -> None:
    # As in the paper, a model that was learned in small levels also predicts large ones.
    model = converged(maze_8())
    paper = {"none": 1842, "eval": 1835, "query": 62.3, "both": 53.2}
    _ablation(report, model, "maze 8x8", maze_8(), paper, slow_calls=1_000, asked=2.0)
    paper = {"none": 481822, "eval": 481597, "query": 710, "both": 546}
    _ablation(report, model, "maze 32x32", maze_32(), paper, slow_calls=100, asked=2.5)


def _ablation(
    report: Report,
    model: TreeThink,
    name: str,
    world: World,
    paper: dict[str, float],
    slow_calls: int,
    asked: float,
) -> None:
    means: dict[str, float] = {}
    for setting, how in PREDICT_OPTIONS.items():
        slow = how["facts"] == "full"
        workload = questions(world, report.calls(slow_calls if slow else 10_000))
        timing = time_predict(model, workload, how, report.repeats)
        limit = asked if setting == "both" else None
        report.rows.append(Row(f"predict {name}, {setting}", timing, paper[setting], limit))
        means[setting] = timing.mean
    ratio = means["none"] / means["both"]
    note = f"paper: {paper['none'] / paper['both']:.1f}"
    report.figures.append(Figure(f"predict {name}, none / both", ratio, "times", note))


def _observe(report: Report) -> None:
    rows = (
        ("walls 8x8", make("walls"), 2.0),
        ("maze 8x8", maze_8(), 4.0),
        ("maze 32x32, 50 goals", maze_32(), 25.0),
    )
    for name, world, asked in rows:
        workload = play(world, report.calls(5_000, least=5_000))
        for how, fresh in fresh_models(world).items():
            timing = time_observe(fresh, workload, report.repeats)
            limit = asked if how == PAPERS else None
            report.rows.append(Row(f"observe {name}, {how}", timing, asked=limit))
            many = time_observe_many(fresh, workload, report.repeats)
            note = f"{timing.mean / many:.2f} times as fast as observe"
            report.figures.append(Figure(f"observe_many {name}, {how}", many, "us", note))


def _baselines(report: Report) -> None:
    """Measure every learner of the registry on one stream, each from the start."""
    world = maze_8()
    stream = play(world, report.calls(1_000, least=200))
    ours: tuple[float, float] | None = None
    for name in LEARNERS:
        try:
            make_learner(name, world)
        except MissingPackageError as error:
            report.notes.append(f"left out: {error}")
            continue
        times = time_both(partial(make_learner, name, world), stream, min(report.repeats, 2))
        ours = ours or times
        for verb, time, own in zip(("predict", "observe"), times, ours, strict=True):
            what, note = f"{verb} maze 8x8 while learning", f"{time / own:.3g} times TreeThink's"
            report.figures.append(Figure(f"{what}, {name}", time, "us", note))


def _networks(report: Report) -> None:
    """Measure predictions of the paper's smallest and largest networks, alone and in a batch."""
    world = maze_8()
    asked = [(before, action) for before, action, *_ in play(world, report.calls(200, least=50))()]
    learners = {"TreeThink": converged(world)}
    for width, layers in ((1, 1), (8, 3)):
        with suppress(MissingPackageError):  # _baselines has noted it
            learner = make_learner("npe", world, width=width, layers=layers)
            learners[f"NPE_{width}_{layers}"] = learner
    for name, each in learners.items():
        alone = best_seconds(partial(_ask_one_by_one, each, asked), report.repeats)
        together = best_seconds(partial(_ask_at_once, each, asked), report.repeats)
        for how, seconds in (("one by one", alone), (f"{len(asked)} at once", together)):
            title = f"predict maze 8x8, {name}, {how}"
            report.figures.append(Figure(title, 1e6 * seconds / len(asked), "us"))


def _ask_one_by_one(learner: Any, asked: Sequence[Situation]) -> None:
    for each in asked:
        learner.predict(*each).mode()


def _ask_at_once(learner: Any, asked: Sequence[Situation]) -> None:
    for each in learner.predict_many(asked):
        each.mode()


def _plans(report: Report) -> None:
    """Measure simulations a second: in the engine, and with the world and a slow learner."""
    world, model = maze_8(), converged(maze_8())
    paper = make_learner("paper", world)
    for transition in play(world, 100)():
        paper.observe(*transition)
    searched: tuple[tuple[str, Any, World, int], ...] = (
        ("maze 8x8, learned model", model, world, 200),
        ("maze 32x32, learned model", model, maze_32(), 200),
        ("maze 8x8, the world itself, in Python", world, world, 10),
        ("maze 8x8, the paper's appendix, in Python", paper, world, 2),
    )
    for name, asked, where, plans in searched:
        for way in (True, False):
            settings = SearchSettings(simulations=100, horizon=EPISODE, transpositions=way)
            speed = time_plans(asked, where, settings, max(plans // 4, 1), report.repeats)
            kind = "situations merged" if way else "a tree"
            note = f"{speed.microseconds:.3g} us each, {speed.depth:.1f} steps deep"
            title = f"plan {name}, 100 simulations, {kind}"
            report.figures.append(Figure(title, speed.rate, "simulations/s", note))
    _deep_plans(report, model, (("maze 8x8", world), ("maze 32x32", maze_32())))


def _deep_plans(report: Report, model: TreeThink, worlds: Sequence[tuple[str, World]]) -> None:
    """Measure how the time of a simulation grows with its depth."""
    for name, world in worlds:
        for horizon in (5, 10, 20, 40, 80):
            settings = SearchSettings(simulations=5_000, horizon=horizon)
            speed = time_plans(model, world, settings, report.calls(20), min(report.repeats, 3))
            note = f"{speed.depth:.1f} steps deep, {speed.microseconds / speed.depth:.3f} us a step"
            title = f"plan {name}, 5,000 simulations, horizon {horizon}"
            report.figures.append(Figure(title, speed.microseconds, "us/simulation", note))


def _whole_run(report: Report, name: str) -> None:
    steps = report.calls(_RUNS[name], least=10_000)
    world = make(name)
    means, nodes, workload = [], [], play(world, steps)
    for how, fresh in fresh_models(world).items():
        timing = time_observe(fresh, workload, min(report.repeats, 3))
        report.rows.append(Row(f"observe {name}, a run of {steps:,}, {how}", timing))
        means.append(timing.mean)
        model = fresh()
        model.observe_many(workload())
        nodes.append(model.memory_use()["nodes"])
    paper, ours = means
    note = f"evidence with memory / wilson; asked: 1.5; nodes in the end: {nodes[1]} / {nodes[0]}"
    title = f"observe {name}, a run of {steps:,}, defaults / {PAPERS}"
    report.figures.append(Figure(title, ours / paper, "times", note))


def _times_to_learn(report: Report) -> None:
    for name in ("maze", "coins"):  # keys would take too long
        _time_to_learn(report, name, report.calls(30_000, least=30_000))


def _time_to_learn(report: Report, name: str, steps: int) -> None:
    world = make(name)
    for how, fresh in fresh_models(world).items():
        curve = Curve()
        for wrong_by in trial(fresh(), world, steps, seed=0, episode=EPISODE):
            curve.add(wrong_by)
        needed = max(curve.last_error, 1)
        each = time_observe_many(fresh, play(world, needed), report.repeats)
        note = f"until the last error, at observation {curve.last_error:,} of {steps:,}"
        report.figures.append(Figure(f"learn {name}, {how}", each * needed / 1000, "ms", note))


def _one_replay(report: Report, name: str, steps: int) -> None:
    world, steps = make(name), report.calls(steps, least=10_000)
    fresh, model = partial(TreeThink, world.schema), TreeThink(world.schema)
    longest = longest_observe(fresh, play(world, steps), model.memory, report.repeats) / 1000
    note = f"of {steps:,}, once {model.memory:,} are kept: one replay of them"
    report.figures.append(Figure(f"longest observe {name}, defaults", longest, "ms", note))
    model.observe_many(transitions(world, steps, seed=0))
    note = f"of {model.memory_use()['bytes']:,} in all"
    report.figures.append(Figure(f"memory {name}, what is kept", _kept(model), "bytes", note))


def _kept(model: TreeThink) -> int:
    """Return the bytes of the transitions that a model keeps in its memory."""
    copies = (TreeThink.from_bytes(model.to_bytes(memory)) for memory in (True, False))
    whole, rest = (copy.memory_use()["bytes"] for copy in copies)
    return whole - rest


def _ten_thousand_objects(report: Report) -> None:
    world, name = maze_10_000_objects(), "maze 178x178, 10,004 objects"
    workload = play(world, report.calls(100, least=100))
    for how, fresh in fresh_models(world).items():
        report.rows.append(Row(f"observe {name}, {how}", time_observe(fresh, workload)))
    timing = time_predict(
        converged(maze_8()), questions(world, report.calls(500)), PREDICT_OPTIONS["both"]
    )
    report.rows.append(Row(f"predict {name}", timing))


def _states_built_anew(report: Report) -> None:
    """Measure streams of adapters: many classes, many values, many objects."""
    for name, adapter, calls, asked in (
        ("a room of 12 classes", room(), report.calls(5_000, least=2_000), 15.0),
        ("3 balls on a screen", screen(), report.calls(10_000, least=2_000), None),
        ("a crowd of 1,500", crowd(), report.calls(100, least=20), 5_000.0),
    ):
        fresh, workload = partial(TreeThink, adapter.schema), adapter.play(calls)
        report.rows.append(Row(f"observe {name}", time_observe(fresh, workload), asked=asked))
        model = fresh()
        model.observe_many(workload())
        used = model.memory_use()
        note = f"after {calls:,} observations, {used['nodes']} nodes"
        report.figures.append(Figure(f"memory {name}", used["bytes"], "bytes", note))
        longest = longest_observe(fresh, workload, after=1) / 1000
        report.figures.append(Figure(f"longest observe {name}", longest, "ms", "asked: 20"))


def _memory(report: Report) -> None:
    steps = report.calls(5_000, least=5_000)
    for name, world in (("maze 8x8", maze_8()), ("maze 32x32, 50 goals", maze_32())):
        for how, fresh in fresh_models(world).items():
            model = fresh()
            model.observe_many(transitions(world, steps, seed=0))
            used, kept = model.memory_use(), _kept(model)
            note = f"after {steps:,} observations, {used['nodes']} nodes; {kept:,} for what is kept"
            title = f"memory {name}, {how}"
            report.figures.append(Figure(title, used["bytes"], "bytes", note))
            per_node = (used["bytes"] - kept) / max(used["nodes"], 1)
            report.figures.append(Figure(f"{title}, for each node", per_node, "bytes"))
    for how, fresh in fresh_models(maze_8()).items():
        _endless_episode(report, how, fresh(), report.calls(100_000))


def _endless_episode(report: Report, how: str, model: TreeThink, half: int) -> None:
    stream = transitions(maze_8(), 2 * half, seed=0, episode=2 * half)
    used = []
    for _ in range(2):
        for _, transition in zip(range(half), stream, strict=False):
            model.observe(*transition)
        used.append(model.memory_use()["bytes"])
    note = f"{used[0]:,} bytes, then {used[1]:,}"
    name = f"memory, one maze episode, {2 * half:,} / {half:,} steps, {how}"
    report.figures.append(Figure(name, used[1] / used[0], "times", note))


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
