"""Scores and times of planning, by setting.

    data, name of a figure -> [ planning ] -> matplotlib figure

Scores are normalised: 1 is the best that a level allows, 0 is the score of doing nothing, and -1 is
the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import EpisodeScores, played, settings
from treethink.repro.report.plots.panels import empty, log_scale
from treethink.repro.report.plots.style import GREY, LineStyle, legend, line_styles, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORE, TIME = "normalised score", "ms of planning an episode"
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
