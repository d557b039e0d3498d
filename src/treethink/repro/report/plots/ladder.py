"""The picture of the ladder: for each world and learner, how much of what changes is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from treethink.repro.report.data import Data
from treethink.repro.report.ladder import shares
from treethink.repro.report.series import ended, scored_world
from treethink.repro.report.statistics import median
from treethink.repro.report.tables import share

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def ladder(data: Data, name: str) -> Figure:
    """Return a grid of shares: held-out transitions that change something, exactly right."""
    from matplotlib import pyplot as plt

    worlds = list(dict.fromkeys(map(scored_world, data.runs(name))))
    labels = data.labels(name)
    values = np.full((len(worlds), len(labels)), np.nan)
    for column, label in enumerate(labels):
        for row, world in enumerate(worlds):
            runs = [run for run in data.runs(name, label) if scored_world(run) == world]
            if found := shares(ended(runs), "held_out", "exact_changing", "changing"):
                values[row, column] = median(found)
    size = (1.5 + 1.1 * len(labels), 1.2 + 0.35 * len(worlds))
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.imshow(values, vmin=0, vmax=1, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(labels)), labels, rotation=20, ha="right")
    axes.set_yticks(range(len(worlds)), worlds)
    for (row, column), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else share(float(value))
        ink = "black" if value > 0.6 else "white" if not np.isnan(value) else "grey"
        axes.text(column, row, text, ha="center", va="center", color=ink, fontsize=8)
    axes.set_title("exactly right, of held-out transitions that change something", fontsize=9)
    axes.grid(visible=False)
    return figure
