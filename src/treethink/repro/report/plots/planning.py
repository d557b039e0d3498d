"""Scores and times of planning, by setting; with networks, also while they learn.

    data, name of a figure -> [ planning, neural_planning ] -> matplotlib figure

Scores are normalised: 1 is the best that a level allows, 0 is the score of doing nothing, and -1 is
the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import EpisodeScores, by_stage, played, settings
from treethink.repro.report.plots.panels import empty, log_scale, over_observations, short
from treethink.repro.report.plots.style import GREY, LineStyle, legend, line_styles, panels, shades

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORE, TIME = "normalised score", "ms of planning an episode"
#: The name of networks that are trained, in configs.
TRAINED = "npe"
#: The share of a standard deviation in a band; small, because there are many lines.
QUARTER = 0.25
MOST_STAGES = 6
#: Scores by the label of a line and the setting.
Scores = Mapping[str, Mapping[str, EpisodeScores]]


def planning(data: Data, name: str) -> Figure:
    """Draw a row for each world that was learned: scores, and times on both scales."""
    worlds = list(dict.fromkeys(run.world for run in data.runs(name) if run.plans))
    labels = data.labels(name)
    styles = line_styles({label: data.runs(name, label) for label in labels})
    figure, grid = panels(max(1, len(worlds)), 3)
    for row, world in zip(grid, worlds, strict=False):
        names = settings(data.runs(name, world=world))
        by_label = {label: played(data.runs(name, label, world)) for label in labels}
        scores(row[0], names, by_label, styles)
        times(row[1], names, by_label, styles)
        times(row[2], names, by_label, styles, log=True)
        for axes, title in zip(row, (SCORE, TIME, f"{TIME}, log"), strict=True):
            axes.set_title(f"{world}: {title}" if len(worlds) > 1 else title)
    legend(figure, list(grid.flat))
    return figure


def scores(
    axes: Axes,
    names: Sequence[str],
    by_label: Scores,
    styles: Mapping[str, LineStyle],
    share: float = 1,
) -> None:
    """Draw the mean in each setting, with a band of this share of a standard deviation."""
    placed = _placed(axes, names, by_label)
    if placed:
        levels(axes)
    for label, x, there in placed:
        line(axes, label, x, there, styles[label], share)


def levels(axes: Axes) -> None:
    """Draw lines at the scores of doing nothing and of the optimum."""
    for level in (0, 1):
        axes.axhline(level, color=GREY, linewidth=0.8)


def line(
    axes: Axes,
    label: str,
    x: Sequence[float],
    points: Sequence[EpisodeScores],
    style: LineStyle,
    share: float,
) -> None:
    """Draw mean scores, with a band of this share of a standard deviation over episodes."""
    colour, dashes = style
    mean = np.array([each.mean for each in points])
    off = share * np.array([each.deviation for each in points])
    axes.plot(x, mean, dashes, color=colour, marker="o", markersize=2.5, label=label)
    low, high = np.maximum(mean - off, -1), np.minimum(mean + off, 1)  # no score lies beyond
    axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def times(
    axes: Axes,
    names: Sequence[str],
    by_label: Scores,
    styles: Mapping[str, LineStyle],
    log: bool = False,
) -> None:
    """Draw the mean time of planning for a whole episode."""
    placed = _placed(axes, names, by_label)
    for label, x, there in placed:
        colour, dashes = styles[label]
        took = [each.milliseconds for each in there]
        axes.plot(x, took, dashes, color=colour, marker="o", markersize=2.5, label=label)
    if placed and log:
        log_scale(axes)
    elif placed:
        axes.set_ylim(bottom=0)


def _placed(
    axes: Axes, names: Sequence[str], by_label: Scores
) -> list[tuple[str, list[int], list[EpisodeScores]]]:
    """Return label, x positions and scores of each line that has episodes."""
    if not any(by_label.values()):
        empty(axes)
        return []
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.3, len(names) - 0.7)
    return [
        (label, [names.index(each) for each in there], list(there.values()))
        for label, there in by_label.items()
        if there
    ]


# ---------------------------------------------------------------------------------------- networks


def networks(data: Data, name: str) -> list[str]:
    """Return the labels of the networks that are trained."""
    return [each for each in data.labels(name) if data.runs(name, each)[0].learner == TRAINED]


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
