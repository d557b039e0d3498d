"""Single panels: what is drawn into one pair of axes.

A logarithmic scale has no zero, so curves have a gap where the value is zero, as in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.judges.performance import INFERENCE_ROWS, by_alpha, pair_of, times_of
from treethink.repro.report.plots.style import GREY, LINE_STYLES, THE_PAPERS, LineStyle, line_styles
from treethink.repro.report.series import Run, curve, ended
from treethink.repro.report.statistics import Array, converged, fit, last_error, median

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The paper's microseconds: none, eval, query, both.
PAPER_TIMES = {
    "maze": (1842.0, 1835.0, 62.3, 53.2),
    "maze-t": (481822.0, 481597.0, 710.0, 546.0),
    "switches": (1920.0, 1909.0, 78.6, 67.0),
    "keys": (2748.0, 2736.0, 99.4, 85.2),
}
#: The label of a logarithmic axis.
LOG = "log scale"
INFERENCE = ("none", "eval", "query", "both")


def curves(
    axes: Axes,
    groups: dict[str, list[Run]],
    column: str,
    *,
    log: bool = False,
    styles: Mapping[str, LineStyle] | None = None,
    most: int = 100,
) -> None:
    """Draw the curve of each label with its band, and a cross where a run was stopped.

    `styles` are the styles of labels, if not those of these groups alone.
    """
    drawn = False
    styles = line_styles(groups) if styles is None else styles
    for label, runs in groups.items():
        points = curve(runs, column, most)
        if points is None:
            continue
        drawn = True
        colour, dashes = styles[label]
        x, middle, low, high = points.x, points.middle, points.low, points.high
        if log:
            middle = np.where(middle > 0, middle, np.nan)
            low = np.where(low > 0, low, middle)
        axes.plot(x, middle, dashes, color=colour, label=label)
        axes.plot(x, isolated(middle), "o", color=colour, markersize=2.5)
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
        for at, value in points.ends:
            axes.plot([at], [value], "x", color=colour, markersize=5, markeredgewidth=1.4)
    _finish(axes, drawn, log)


def isolated(values: Array) -> Array:
    """Return the values without a neighbour, to which no line is drawn; NaN elsewhere."""
    there = ~np.isnan(values)
    padded = np.concatenate([[False], there, [False]])
    result: Array = np.where(there & ~padded[:-2] & ~padded[2:], values, np.nan)
    return result


def _finish(axes: Axes, drawn: bool, log: bool) -> None:
    if not drawn:
        empty(axes)
        return
    if log:
        log_scale(axes)
    else:
        axes.set_ylim(bottom=0)
    over_observations(axes)


def over_observations(axes: Axes) -> None:
    """Make observations the x-axis."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(left=0)
    axes.set_xlabel("observations")
    axes.xaxis.set_major_formatter(short)
    axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))


def log_scale(axes: Axes) -> None:
    """Make the y-axis logarithmic, with plain numbers, over at least a power of ten."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    low, high = axes.get_ylim()
    lacks = max(0.0, 1 - math.log10(high / low)) / 2
    axes.set_ylim(low / 10**lacks, high * 10**lacks)
    powers = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
    narrow = powers < 2 or math.log10(high / low) < 1.5
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=6))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(short)
    axes.set_ylabel(LOG)


def empty(axes: Axes) -> None:
    """Write into a panel that there are no records."""
    axes.text(0.5, 0.5, "no records", ha="center", va="center", color=GREY, size=9)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(False)


def short(value: float, _: object = None) -> str:
    """Return a number as the label of a tick: 20k rather than 20000.

    >>> [short(each) for each in (0, 500, 2_500, 20_000, 1_500_000)]
    ['0', '500', '2.5k', '20k', '1.5M']
    """
    for unit, sign in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:g}{sign}"
    return f"{value:g}"


def bars(axes: Axes, data: Data) -> None:
    """Draw the times of inference: four settings in four worlds, the paper's as marks."""
    worlds = [name for _, _, name in INFERENCE_ROWS]
    drawn = False
    for i, setting in enumerate(INFERENCE):
        colour, _ = LINE_STYLES[setting]
        for place, (world, column, _) in enumerate(INFERENCE_ROWS):
            at = place + (i - 1.5) * 0.2
            times = list(times_of(data, "inference", setting, world, column).values())
            if times:
                drawn = True
                label = setting if place == 0 else None
                axes.bar(at, median(times), 0.18, color=colour, label=label)
                axes.plot([at, at], [min(times), max(times)], color="#333333", linewidth=0.8)
    if not drawn:
        empty(axes)
        return
    for place, name in enumerate(worlds):
        for i, value in enumerate(PAPER_TIMES[name]):
            marks = THE_PAPERS if place == i == 0 else None
            axes.plot([place + (i - 1.5) * 0.2], [value], "_k", markersize=9, label=marks)
    log_scale(axes)
    axes.set_xticks(range(len(worlds)), worlds)
    axes.set_ylabel(f"µs for each prediction ({LOG})")


def over_alpha(axes: Axes, data: Data) -> None:
    """Draw the last error by alpha, one line for each setting; hollow marks are lower bounds."""
    drawn = False
    for name, paper in (("TreeThink", False), ("TreeThink (paper)", True)):
        points = []
        colour, dashes = LINE_STYLES[name]
        for alpha, group in by_alpha(data, "alpha", paper).items():
            runs = ended(group)
            marks(axes, [alpha] * len(runs), runs, colour)
            if runs:
                points.append((alpha, median([last_error(run).low for run in runs])))
        if points:
            drawn = True
            axes.plot(*zip(*sorted(points), strict=True), dashes, color=colour, label=name)
    if not drawn:
        empty(axes)
        return
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(short)
    axes.set_xlabel(f"alpha ({LOG})")
    axes.set_ylabel("last error at")


def marks(axes: Axes, at: Sequence[float], runs: Sequence[Run], colour: str) -> None:
    """Draw the last error of each run; a hollow mark is a run that did not converge."""
    for done, fill in ((True, colour), (False, "none")):
        points = [
            (x, max(1, last_error(run).low))
            for x, run in zip(at, runs, strict=True)
            if converged(run) == done
        ]
        if points:
            axes.plot(
                *zip(*points, strict=True), "o", color=colour, markersize=2.6, alpha=0.7,
                markerfacecolor=fill, linewidth=0,
            )  # fmt: skip


def against_size(axes: Axes, data: Data, labels: Sequence[str]) -> None:
    """Draw the last error against players × actions, with a fitted line."""
    drawn = False
    styles = line_styles({label: data.runs("complexity", label) for label in labels})
    for label in labels:
        runs = ended(data.runs("complexity", label))
        if not runs:
            continue
        drawn = True
        colour, dashes = styles[label]
        sizes = [math.prod(pair_of(run.world)) for run in runs]
        steps = [last_error(run).low for run in runs]
        marks(axes, sizes, runs, colour)
        if len(set(sizes)) > 1:
            a, b = fit([sizes], steps).coefficients
            x = [0, max(sizes)]
            line = [a + b * each for each in x]
            axes.plot(x, line, dashes, color=colour, linewidth=1, label=label)
    if not drawn:
        empty(axes)
        return
    axes.set_xlabel("players × actions")
    axes.set_ylabel("last error at")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(short)
