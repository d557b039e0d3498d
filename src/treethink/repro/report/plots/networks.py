"""The figures of the networks: how they learn, and planning with them.

    data, name of a figure -> [ neural, neural_planning ] -> matplotlib figure

As in the paper, everything is drawn on a linear and on a logarithmic scale. Bands of scores are a
quarter of a standard deviation, because there are many lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import by_stage, played, settings
from treethink.repro.report.plots.panels import curves, empty, over_observations, short
from treethink.repro.report.plots.planning import SCORE, TIME, Scores, levels, line, scores, times
from treethink.repro.report.plots.style import GREY, legend, line_styles, panels, shades
from treethink.repro.report.series import Run, ended, mean_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The name of networks that are trained, in configs.
TRAINED = "npe"
COLUMNS = {
    "error": "error",
    "loss": "training loss",
    "transfer_error": "error at 16 × 16",
    "observe_us": "training time, of an observation (µs)",
    "predict_us": "inference time, of a prediction (µs)",
}
#: Columns with the error of `static` for comparison.
COMPARED = ("error", "transfer_error")
QUARTER = 0.25
MOST_STAGES = 6


def networks(data: Data, name: str) -> list[str]:
    """Return the labels of the networks that are trained."""
    return [each for each in data.labels(name) if data.runs(name, each)[0].learner == TRAINED]


def neural(data: Data, name: str) -> Figure:
    """Draw a row for each quantity, on both scales; gaps are zeroes."""
    figure, grid = panels(len(COLUMNS), 2, width=1.5, height=0.95)
    runs = {label: data.runs(name, label) for label in data.labels(name)}
    for row, (column, title) in zip(grid, COLUMNS.items(), strict=True):
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


def neural_planning(data: Data, name: str) -> Figure:
    """Draw scores while networks learn, scores across sizes by stage, and all at the end."""
    trained = networks(data, name)
    others = [label for label in data.labels(name) if label not in trained]
    names = settings(data.runs(name))
    figure, grid = panels(3, max(3, len(trained) + 1))
    for i, label in enumerate(trained):
        stages = by_stage(data.runs(name, label))
        _while_learning(grid[0][i], names, stages)
        grid[0][i].set_title(f"{label}: {SCORE}")
        _across(grid[1][i], names, stages)
        grid[1][i].set_title(f"{label}: {SCORE}, by stage")
    for row, title in ((grid[0], "level size"), (grid[1], "observations")):
        _draw_legend(row[len(trained) :], row[: len(trained)], title)
    at_end = {label: played(data.runs(name, label)) for label in data.labels(name)}
    styles = line_styles({each: data.runs(name, each) for each in at_end})
    _at_the_end(grid[2], names, at_end, others, styles)
    legend(figure, list(grid[2]))
    return figure


def _while_learning(axes: Axes, names: Sequence[str], stages: dict[int, Any]) -> None:
    """Draw a line for each size, over observations."""
    styles = shades(names)
    for setting in names:
        there = {stage: by[setting] for stage, by in stages.items() if setting in by}
        if there:
            line(axes, setting, list(there), list(there.values()), styles[setting], QUARTER)
    if not axes.lines:
        empty(axes)
        return
    levels(axes)
    over_observations(axes)
    axes.set_ylim(-1.05, 1.05)


def _across(axes: Axes, names: Sequence[str], stages: dict[int, Any]) -> None:
    """Draw a line for each stage, over sizes."""
    lines = {f"@{short(stage)}": stages[stage] for stage in _some(list(stages))}
    scores(axes, names, lines, shades(list(lines)), QUARTER)
    if axes.lines:
        axes.set_ylim(-1.05, 1.05)


def _some(stages: Sequence[int]) -> list[int]:
    """Return at most `MOST_STAGES` stages, with the first and the last.

    >>> _some([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    [0, 2, 4, 6, 8, 10]
    """
    places = np.linspace(0, len(stages) - 1, min(MOST_STAGES, len(stages)))
    return [stages[round(each)] for each in places.tolist()]


def _draw_legend(free: Sequence[Axes], drawn: Sequence[Axes], title: str) -> None:
    """Draw the legend of a row into its first free panel."""
    for axes in free:
        axes.set_axis_off()
    handles, labels = drawn[0].get_legend_handles_labels() if len(drawn) else ([], [])
    if handles:
        free[0].legend(handles, labels, title=title, loc="center left", title_fontsize=8)


def _at_the_end(
    row: Sequence[Axes], names: Sequence[str], by_label: Scores, exact: Sequence[str], styles: Any
) -> None:
    """Draw the scores of the learners that are no trained networks, and the times of all."""
    scores(row[0], names, {label: by_label[label] for label in exact}, styles)
    times(row[1], names, by_label, styles)
    times(row[2], names, by_label, styles, log=True)
    titles = (f"{' and '.join(exact)}: {SCORE}", TIME, f"{TIME}, log")
    for axes, title in zip(row, titles, strict=False):
        axes.set_title(title)
    for axes in row[3:]:
        axes.set_axis_off()
