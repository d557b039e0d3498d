"""How planning went: scores and times against settings.

    data, name of a figure -> [ planning ] -> matplotlib figure

Scores are normalised: 1 is the best that a level allows, 0 is what comes of doing nothing, and -1
is the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treethink.report.data import Data
from treethink.report.looks import Look, looks
from treethink.report.panels import by_powers, empty
from treethink.report.played import Played, played, settings
from treethink.report.series import Run
from treethink.report.style import GREY, legend, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORE, TIME = "normalised score", "ms of planning an episode"
Groups = Mapping[str, Sequence[Run]]


def planning(data: Data, name: str) -> Figure:
    """A row for each world that was learned: scores, and times on both scales."""
    worlds = list(dict.fromkeys(run.world for run in data.runs(name) if run.plans))
    labels = data.labels(name)
    shown = looks({label: data.runs(name, label) for label in labels})
    figure, grid = panels(max(1, len(worlds)), 3)
    for row, world in zip(grid, worlds, strict=False):
        groups = {label: data.runs(name, label, world) for label in labels}
        _scores(row[0], groups, shown)
        _times(row[1], groups, shown)
        _times(row[2], groups, shown, log=True)
        for axes, title in zip(row, (SCORE, TIME, f"{TIME}, log"), strict=True):
            axes.set_title(f"{world}: {title}" if len(worlds) > 1 else title)
    legend(figure, list(grid.flat))
    return figure


def _scores(axes: Axes, groups: Groups, shown: Mapping[str, Look]) -> None:
    """The mean, with a band of one standard deviation over episodes."""
    for level in (0, 1):  # doing nothing, and the best there is
        axes.axhline(level, color=GREY, linewidth=0.8)
    for label, x, found in _placed(axes, groups):
        colour, dashes = shown[label]
        mean = np.array([each.mean for each in found])
        off = np.array([each.deviation for each in found])
        axes.plot(x, mean, dashes, color=colour, marker="o", markersize=2.5, label=label)
        low, high = np.maximum(mean - off, -1), np.minimum(mean + off, 1)  # no score lies beyond
        axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def _times(axes: Axes, groups: Groups, shown: Mapping[str, Look], log: bool = False) -> None:
    """The mean time that planning took for a whole episode."""
    placed = _placed(axes, groups)
    for label, x, found in placed:
        colour, dashes = shown[label]
        times = [each.milliseconds for each in found]
        axes.plot(x, times, dashes, color=colour, marker="o", markersize=2.5, label=label)
    if placed and log:
        by_powers(axes)
    elif placed:
        axes.set_ylim(bottom=0)


def _placed(axes: Axes, groups: Groups) -> list[tuple[str, list[int], list[Played]]]:
    """Of each label that has episodes: where they stand, and what they are."""
    names = settings(run for runs in groups.values() for run in runs)
    by_label = {label: played(runs) for label, runs in groups.items()}
    if not any(by_label.values()):
        empty(axes)
        return []
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.3, len(names) - 0.7)
    return [
        (label, [names.index(each) for each in found], list(found.values()))
        for label, found in by_label.items()
        if found
    ]
