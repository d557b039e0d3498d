"""How fast every path runs, in one run, beside the paper's figures.

    workloads -> timing -> [ bench ] -> rows (times) and figures (ratios, memory)

All through the Python interface; the times inside the engine stand beside them.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from types import ModuleType

from rich.table import Table

import treethink
from treethink.learner import TreeThink
from treethink.stream import transitions
from treethink.timing import (
    Timing,
    converged,
    play,
    questions,
    time_observe,
    time_observe_many,
    time_predict,
)
from treethink.worlds import World, make

#: The ablation of the paper, by its names: how `predict` is asked.
SETTINGS = {
    "none": {"facts": "full", "bindings": "all"},
    "eval": {"facts": "full", "bindings": "first"},
    "query": {"facts": "demand", "bindings": "all"},
    "both": {"facts": "demand", "bindings": "first"},
}


@dataclass(frozen=True, slots=True)
class Row:
    """One workload, the paper's time for it, and the time it may take."""

    name: str
    timing: Timing
    paper: float | None = None
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that is not the time of a call."""

    name: str
    value: float
    unit: str
    note: str = ""


@dataclass
class Report:
    """What a run of the benchmark found."""

    quick: bool = False
    rows: list[Row] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def repeats(self) -> int:
        """How often a row is measured; the best counts."""
        return 2 if self.quick else 5

    def calls(self, count: int, least: int = 0) -> int:
        """How many calls a row measures that would like to measure `count`."""
        return max(count // 10, least) if self.quick else count

    def to_json(self) -> str:
        """All of it, and where it was measured."""
        machine = {
            "treethink": treethink.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
        }
        return json.dumps({"machine": machine, **asdict(self)}, indent=1) + "\n"

    def tables(self) -> Iterator[Table]:
        """For the terminal: times, then the other figures."""
        table = Table("microseconds")
        for name in ("calls", "mean", "median", "p99", "level's first", "engine", "paper", "asked"):
            table.add_column(name, justify="right")
        for row in self.rows:
            t = row.timing
            times = (t.mean, t.median, t.p99, t.first, t.engine, row.paper, row.asked)
            table.add_row(row.name, f"{t.calls:,}", *map(_short, times))
        yield table
        table = Table("figure", "value", "", "")
        for each in self.figures:
            table.add_row(each.name, _short(each.value), each.unit, each.note)
        yield table


def run(quick: bool = False, tell: Callable[[str], None] = print) -> Report:
    """Measure everything; `quick` measures less of it, and less surely."""
    report = Report(quick)
    for part, what in (
        (_predict, "predictions of a converged model"),
        (_observe, "observations of a new model"),
        (_ten_thousand_objects, "10,000 objects in one state"),
        (_twin, "the slow twin"),
        (_memory, "memory"),
    ):
        tell(f"{what} ...")
        part(report)
    for note in report.notes:
        tell(note)
    return report


def _maze_8() -> World:
    return make("maze", width=8, height=8)


def _maze_32() -> World:
    return make("maze", width=32, height=32, goals=50)


def _predict(report: Report) -> None:
    # As in the paper, what was learned in small levels is asked about large ones too.
    model = converged(_maze_8())
    paper = {"none": 1842, "eval": 1835, "query": 62.3, "both": 53.2}
    _ablation(report, model, "maze 8x8", _maze_8(), paper, slow_calls=1_000, asked=2.0)
    paper = {"none": 481822, "eval": 481597, "query": 710, "both": 546}
    _ablation(report, model, "maze 32x32", _maze_32(), paper, slow_calls=100, asked=2.5)


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
    for setting, how in SETTINGS.items():
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
        ("maze 8x8", _maze_8(), 4.0),
        ("maze 32x32, 50 goals", _maze_32(), 25.0),
    )
    for name, world, asked in rows:
        workload = play(world, report.calls(5_000, least=5_000))
        timing = time_observe(world.schema, workload, report.repeats)
        report.rows.append(Row(f"observe {name}", timing, asked=asked))
        many = time_observe_many(world.schema, workload, report.repeats)
        note = f"{timing.mean / many:.2f} times as fast as observe"
        report.figures.append(Figure(f"observe_many {name}", many, "us", note))


def _ten_thousand_objects(report: Report) -> None:
    # A border of 708 walls and 9,292 inside it.
    world = make("maze", width=178, height=178)
    timing = time_observe(world.schema, play(world, report.calls(100, least=100)))
    report.rows.append(Row("observe maze 178x178, 10,004 objects", timing))
    timing = time_predict(
        converged(_maze_8()), questions(world, report.calls(500)), SETTINGS["both"]
    )
    report.rows.append(Row("predict maze 178x178, 10,004 objects", timing))


def _twin(report: Report) -> None:
    reference = _load_reference()
    if reference is None:
        report.notes.append("without tests/reference.py there is no twin to compare with")
        return
    world, steps = _maze_8(), report.calls(300)
    twin = reference.ReferenceModel(world.schema)
    stream = play(world, steps)()
    start = perf_counter()
    for before, action, after in stream:
        twin.observe(before, action, after)
    slow = (perf_counter() - start) * 1e6 / steps
    fast = time_observe(world.schema, play(world, steps), report.repeats).mean
    note = f"{slow:,.0f} us / {fast:.2f} us, over the first {steps} observations"
    report.figures.append(Figure("observe maze 8x8, twin / engine", slow / fast, "times", note))


def _load_reference() -> ModuleType | None:
    """The slow twin, where this runs from a checkout that has the tests."""
    path = Path(__file__).parents[2] / "tests" / "reference.py"
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("treethink_reference", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def _memory(report: Report) -> None:
    steps = report.calls(5_000, least=5_000)
    for name, world in (("maze 8x8", _maze_8()), ("maze 32x32, 50 goals", _maze_32())):
        model = TreeThink(world.schema)
        model.observe_many(transitions(world, steps, seed=0))
        used = model.memory_use()
        per_node = used["bytes"] / max(used["nodes"], 1)
        note = f"after {steps:,} observations, {used['nodes']} nodes"
        report.figures.append(Figure(f"memory {name}", used["bytes"], "bytes", note))
        report.figures.append(Figure(f"memory {name}, for each node", per_node, "bytes", note))
    _endless_episode(report, report.calls(100_000))


def _endless_episode(report: Report, half: int) -> None:
    world = _maze_8()
    model = TreeThink(world.schema)
    stream = transitions(world, 2 * half, seed=0, episode=2 * half)
    used = []
    for _ in range(2):
        for _, transition in zip(range(half), stream, strict=False):
            model.observe(*transition)
        used.append(model.memory_use()["bytes"])
    note = f"{used[0]:,} bytes, then {used[1]:,}"
    name = f"memory, one maze episode, {2 * half:,} / {half:,} steps"
    report.figures.append(Figure(name, used[1] / used[0], "times", note))


def _short(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
