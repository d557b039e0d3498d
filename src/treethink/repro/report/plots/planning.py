"""How planning went: scores and times against settings.

    data, name of a figure -> [ planning ] -> matplotlib figure

Scores are normalised: 1 is the best that a level allows, 0 is what comes of doing nothing, and -1
is the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.episodes import Played, played, settings
from treethink.repro.report.plots.looks import Look, looks
from treethink.repro.report.plots.panels import by_powers, empty
from treethink.repro.report.plots.style import GREY, legend, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORE, TIME = "normalised score", "ms of planning an episode"
#: What was played, by the label of a line and the setting.
Found = Mapping[str, Mapping[str, Played]]


def planning(data: Data, name: str) -> Figure:
    """A row for each world that was learned: scores, and times on both scales."""
    worlds = list(dict.fromkeys(run.world for run in data.runs(name) if run.plans))
    labels = data.labels(name)
    shown = looks({label: data.runs(name, label) for label in labels})
    figure, grid = panels(max(1, len(worlds)), 3)
    for row, world in zip(grid, worlds, strict=False):
        names = settings(data.runs(name, world=world))
        found = {label: played(data.runs(name, label, world)) for label in labels}
        scores(row[0], names, found, shown)
        times(row[1], names, found, shown)
        times(row[2], names, found, shown, log=True)
        for axes, title in zip(row, (SCORE, TIME, f"{TIME}, log"), strict=True):
            axes.set_title(f"{world}: {title}" if len(worlds) > 1 else title)
    legend(figure, list(grid.flat))
    return figure


def scores(
    axes: Axes, names: Sequence[str], found: Found, shown: Mapping[str, Look], share: float = 1
) -> None:
    """The mean in each setting, with a band of this share of a standard deviation."""
    placed = _placed(axes, names, found)
    if placed:
        levels(axes)
    for label, x, there in placed:
        line(axes, label, x, there, shown[label], share)


def levels(axes: Axes) -> None:
    """What comes of doing nothing, and the best there is."""
    for level in (0, 1):
        axes.axhline(level, color=GREY, linewidth=0.8)


def line(
    axes: Axes, label: str, x: Sequence[float], found: Sequence[Played], look: Look, share: float
) -> None:
    """Mean scores, with a band of this share of a standard deviation over episodes."""
    colour, dashes = look
    mean = np.array([each.mean for each in found])
    off = share * np.array([each.deviation for each in found])
    axes.plot(x, mean, dashes, color=colour, marker="o", markersize=2.5, label=label)
    low, high = np.maximum(mean - off, -1), np.minimum(mean + off, 1)  # no score lies beyond
    axes.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)


def times(
    axes: Axes, names: Sequence[str], found: Found, shown: Mapping[str, Look], log: bool = False
) -> None:
    """The mean time that planning took for a whole episode."""
    placed = _placed(axes, names, found)
    for label, x, there in placed:
        colour, dashes = shown[label]
        took = [each.milliseconds for each in there]
        axes.plot(x, took, dashes, color=colour, marker="o", markersize=2.5, label=label)
    if placed and log:
        by_powers(axes)
    elif placed:
        axes.set_ylim(bottom=0)


def _placed(
    axes: Axes, names: Sequence[str], found: Found
) -> list[tuple[str, list[int], list[Played]]]:
    """Of each label that has episodes: where they stand, and what they are."""
    if not any(found.values()):
        empty(axes)
        return []
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.3, len(names) - 0.7)
    return [
        (label, [names.index(each) for each in there], list(there.values()))
        for label, there in found.items()
        if there
    ]
