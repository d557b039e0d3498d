"""Whole figures, one function for each kind.

    data, name of a figure -> [ plot ] -> matplotlib figure

Rows of learning curves are as in the paper's appendix: error, time of an observation, and time of a
prediction, over observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from treethink.model import TreeThink
from treethink.repro.figures import FIGURES
from treethink.repro.report.data import Data
from treethink.repro.report.plots.ladder import ladder
from treethink.repro.report.plots.panels import against_size, bars, curves, over_alpha
from treethink.repro.report.plots.planning import neural_planning, planning
from treethink.repro.report.plots.style import (
    GREY,
    LineStyle,
    legend,
    line_styles,
    panels,
    save,
    shades,
)
from treethink.repro.report.series import Run, ended, mean_of, transfer_world

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ERROR, OBSERVE, PREDICT = "error", "observe_us", "predict_us"
TRANSFER_ERROR, TRANSFER_TIME = "transfer_error", "transfer_us"
NAMES = {
    ERROR: "error",
    OBSERVE: "observation time (µs)",
    PREDICT: "prediction time (µs)",
    TRANSFER_ERROR: "error at 32 × 32",
    TRANSFER_TIME: "prediction time at 32 × 32 (µs)",
}
TIMES = (OBSERVE, PREDICT, TRANSFER_TIME)
NEURAL_COLUMNS = {
    "error": "error",
    "loss": "training loss",
    "transfer_error": "error at 16 × 16",
    "observe_us": "training time, of an observation (µs)",
    "predict_us": "inference time, of a prediction (µs)",
}
#: Columns with the error of `static` for comparison.
COMPARED = ("error", "transfer_error")
#: Points of a curve where there are many panels: files stay small.
MANY = 25


def groups(data: Data, name: str, world: str | None = None) -> dict[str, list[Run]]:
    """Return the runs of a figure by label."""
    return {label: data.runs(name, label, world) for label in data.labels(name)}


def panel(
    axes: Axes,
    runs: dict[str, list[Run]],
    column: str,
    title: str,
    log: bool = False,
    most: int = 100,
    styles: Mapping[str, LineStyle] | None = None,
) -> None:
    """Draw a panel of curves with its title. Times have a logarithmic scale."""
    curves(axes, runs, column, log=log or column in TIMES, most=most, styles=styles)
    axes.set_title(title)


def learning(data: Data, name: str) -> Figure:
    """Draw a row for each world; where the paper does, errors on a log scale too.

    The error in a transfer world, if there is one, is in the second column.
    """
    worlds = data.worlds(name)
    log = name in FIGURES and FIGURES[name].log
    columns = [(ERROR, False), *([(ERROR, True)] if log else []), (OBSERVE, True), (PREDICT, True)]
    if any(run.transfer for run in data.runs(name)):
        columns.insert(1, (TRANSFER_ERROR, False))
    width = 0.86 if len(columns) > 3 else 1
    figure, grid = panels(max(1, len(worlds)), len(columns), width=width)
    most, styles = 100 if len(worlds) == 1 else MANY, line_styles(groups(data, name))
    for row, world in zip(grid, worlds, strict=False):
        runs = groups(data, name, world)
        for axes, (column, is_log) in zip(row, columns, strict=True):
            title = transfer_title(data.runs(name, world=world)) if column == TRANSFER_ERROR else ""
            if column == TRANSFER_ERROR and not title:
                axes.set_axis_off()
                continue
            title = title or NAMES[column]
            title = f"{world}: {title}" if len(worlds) > 1 else title
            panel(axes, runs, column, title, is_log, most, styles)
    legend(figure, list(grid.flat))
    return figure


def transfer_title(runs: list[Run]) -> str:
    """Return the title of the error in the transfer worlds of runs; empty if there are none."""
    names = dict.fromkeys(transfer_world(run) for run in runs if run.transfer)
    return f"error in {' or '.join(names)}" if names else ""


def transfer(data: Data, name: str) -> Figure:
    """Draw the errors in the small and in the large world."""
    figure, grid = panels(1, 3)
    runs = groups(data, name)
    for axes, column in zip(grid[0], (ERROR, TRANSFER_ERROR, TRANSFER_TIME), strict=True):
        title = "error at 8 × 8" if column == ERROR else NAMES[column]
        panel(axes, runs, column, title)
    legend(figure, list(grid.flat))
    return figure


def inference(data: Data, name: str) -> Figure:
    """Draw errors and times of the four settings; below, the bar chart of the paper."""
    from matplotlib.figure import Figure as New

    figure = New(figsize=(7.5, 4.4), layout="constrained")
    top = figure.add_gridspec(2, 3)
    runs = groups(data, name, "maze")
    for i, (column, title) in enumerate(
        ((ERROR, "maze: error"), (PREDICT, "maze: prediction time (µs)"),
         (TRANSFER_TIME, "maze-t: prediction time (µs)"))
    ):  # fmt: skip
        panel(figure.add_subplot(top[0, i]), runs, column, title)
    chart = figure.add_subplot(top[1, :])
    bars(chart, data)
    chart.set_title("time of a prediction; bars: ours, dashes: the paper's")
    legend(figure, [chart])
    return figure


def branches(data: Data, name: str) -> Figure:
    """Draw errors in two worlds on a log scale; gaps are zeroes."""
    figure, grid = panels(1, 2, width=1.5, height=1.15)
    for axes, world in zip(grid[0], ("switches", "fish"), strict=True):
        panel(axes, groups(data, name, world), ERROR, f"{world}: error", log=True)
    legend(figure, list(grid.flat))
    return figure


def alpha(data: Data, name: str) -> Figure:
    """Draw errors for each alpha, with both settings, and the last error by alpha."""
    figure, grid = panels(1, 3)
    for axes, paper in zip(grid[0][:2], (False, True), strict=True):
        labels = [each for each in data.labels(name) if each.endswith("(paper)") == paper]
        by_alpha = {each.removeprefix("alpha ").removesuffix(" (paper)"): each for each in labels}
        runs = {alpha: data.runs(name, label) for alpha, label in by_alpha.items()}
        curves(axes, runs, ERROR, styles=shades(list(runs)))
        axes.set_title("error, paper's settings" if paper else "error, defaults")
        if runs:
            axes.legend(title="alpha", fontsize=6, title_fontsize=7, labelspacing=0.2)
        _until_all_have_learned(axes, runs)
    over_alpha(grid[0][2], data)
    grid[0][2].set_title("last error")
    grid[0][2].legend(fontsize=7)
    return figure


def _until_all_have_learned(axes: Axes, runs: dict[str, list[Run]]) -> None:
    """End the x-axis at the last error, since zeroes after it would hide the differences."""
    last = [run.last_error or 0 for group in runs.values() for run in group]
    if last and max(last) > 0:
        axes.set_xlim(0, max(last) * 1.05)


def complexity(data: Data, name: str) -> Figure:
    """Draw one panel for each setting."""
    labels = data.labels(name)
    figure, grid = panels(1, max(1, len(labels)), width=1.3, height=1.2)
    for axes, label in zip(grid[0], labels, strict=False):
        against_size(axes, data, [label])
        axes.set_title(label)
    return figure


def predict(data: Data, name: str) -> Figure:
    """Draw the main text's comparison, from the records of its parts."""
    figure, grid = panels(4, 3)
    sources = (
        ("maze-scoreless", ERROR, "maze-scoreless"),
        ("coins-scoreless", ERROR, "coins-scoreless"),
        ("keys-scoreless", ERROR, "keys-scoreless"),
        ("maze", ERROR, "maze"),
        ("coins", ERROR, "coins"),
        ("keys", ERROR, "keys"),
        ("keys-scoreless", OBSERVE, "keys-scoreless: observation (µs)"),
        ("keys", OBSERVE, "keys: observation (µs)"),
        ("fish", OBSERVE, "fish, alpha 0.01: observation (µs)"),
        ("fish-0.001", ERROR, "fish, alpha 0.001"),
        ("transfer-maze", TRANSFER_ERROR, "maze-t"),
        ("transfer-keys", TRANSFER_ERROR, "keys-t"),
    )
    for axes, (source, column, title) in zip(grid.flat, sources, strict=True):
        panel(axes, groups(data, source), column, title, most=MANY)
    legend(figure, list(grid.flat))
    return figure


def ablation(data: Data, name: str) -> Figure:
    """Draw the main text's ablations, from the records of its parts."""
    figure, grid = panels(2, 3, height=1.1)
    a, b, c, d, e, f = grid.flat
    runs = groups(data, "inference", "maze")
    panel(a, runs, ERROR, "maze: four settings of inference")
    panel(b, runs, PREDICT, "maze: prediction time (µs)")
    if runs:
        a.legend(fontsize=6)
    for axes, world in ((c, "switches"), (d, "fish")):
        panel(axes, groups(data, "branches", world), ERROR, f"{world}: branches", log=True)
    if data.runs("branches"):
        c.legend(fontsize=5.5, handlelength=1.6, labelspacing=0.2)
    over_alpha(e, data)
    e.set_title("maze: alpha")
    against_size(f, data, data.labels("complexity"))
    f.set_title("scale: time to convergence")
    if data.runs("complexity"):
        f.legend(fontsize=6)
    return figure


def neural(data: Data, name: str) -> Figure:
    """Draw a row for each quantity, on both scales; gaps are zeroes."""
    figure, grid = panels(len(NEURAL_COLUMNS), 2, width=1.5, height=0.95)
    runs = {label: data.runs(name, label) for label in data.labels(name)}
    for row, (column, title) in zip(grid, NEURAL_COLUMNS.items(), strict=True):
        for axes, log in zip(row, (False, True), strict=True):
            curves(axes, runs, column, log=log)
            axes.set_title(f"{title}, log" if log else title)
            if column in COMPARED:
                _reference(axes, data.runs(name, "static"), column)
    legend(figure, list(grid.flat))
    return figure


def _reference(axes: Axes, runs: Sequence[Run], column: str) -> None:
    """Draw a horizontal line at the mean of `static`."""
    means = [value for run in ended(runs) if not np.isnan(value := mean_of(run, column))]
    if means:
        axes.axhline(float(np.mean(means)), color=GREY, linewidth=0.8, linestyle=":")


PLOTS: dict[str, Callable[[Data, str], Figure]] = {
    "curves": learning,
    "scale": learning,
    "baselines": learning,
    "transfer": transfer,
    "inference": inference,
    "branches": branches,
    "alpha": alpha,
    "complexity": complexity,
    "predict": predict,
    "ablation": ablation,
    "planning": planning,
    "neural": neural,
    "neural-planning": neural_planning,
    "ladder": ladder,
}


# --------------------------------------------------------------------------------- trees and states


#: The rules that are drawn of each model; the last has no figure in the paper.
TREES = {
    "maze": ("player.pos.right", "game.score.right"),
    "coins": ("player.pos.right", "game.score.right", "coin.used.right"),
    "keys": ("player.pos.right",),
}
_IN_A_ROW = 4


def trees(folder: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Draw rules of the models in a folder; yield file names, and what they show.

    Each tree is also written as text, for Graphviz and for Mermaid.
    """
    for world, names in TREES.items():
        path = folder / f"{world}.tt"
        if not path.is_file():
            continue
        rules = TreeThink.load(path).rules
        for name in names:
            owner, attribute, action = name.split(".")
            file = f"tree-{world}-{owner}-{attribute}"
            rule = rules[owner, attribute, action]
            rule.draw(out / f"{file}.png")
            rule.draw(out / f"{file}.svg")
            for ending, text in (("dot", rule.to_dot()), ("mmd", rule.to_mermaid())):
                path = out / f"{file}.{ending}"
                path.write_text(f"{text.rstrip()}\n", encoding="utf-8", newline="\n")
            yield f"{file}.svg", f"{world}: {owner}.{attribute}"


def states(folder: Path, path: Path) -> Iterator[tuple[str, str]]:
    """Draw the example states as one picture; yield its name, and what it shows."""
    from matplotlib.image import imread

    files = sorted(folder.glob("*.png"))
    if not files:
        return
    figure, grid = panels(-(-len(files) // _IN_A_ROW), _IN_A_ROW, width=0.8)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, file in zip(grid.flat, files, strict=False):
        axes.imshow(imread(file), interpolation="none")
        axes.set_title(file.stem.partition("-")[2])
    yield save(figure, path)[0].name, "Example states"
