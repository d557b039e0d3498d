"""Whose records these are: of a figure of the paper, or somebody's own under the same name.

    data -> [ matching ] -> the paper's figures, experiments of one's own

A folder's name says nothing. Its runs do: if learners, settings and worlds are not those of the
figure's file, the paper claims nothing of them. Seeds and steps may differ, as they do in quick
records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import configured
from treethink.repro.report.data import Data
from treethink.repro.report.series import Run

#: What a run has in common with that of the figure's file.
_DECIDES = ("label", "world", "options", "learner", "settings", "predict", "episode")
#: And what its plans have.
_PLANS = ("world", "options", "steps", "simulations")


def parted(data: Data) -> tuple[Data, Data]:
    """The records of the paper's figures, and all others."""
    names = [name for name, records in data.records.items() if is_figure(name, records.runs)]
    return (
        replace(data, records={name: data.records[name] for name in names}),
        replace(data, records={k: v for k, v in data.records.items() if k not in names}),
    )


def is_figure(name: str, runs: Sequence[Run]) -> bool:
    """Whether all runs are among those that the figure of this name has."""
    planned = _planned(name)
    return bool(planned) and all(_decided(_told(run)) in planned for run in runs)


@cache
def _planned(name: str) -> frozenset[str]:
    """What decides each run of a figure, full or small; none if it has no runs."""
    figure = FIGURES.get(name)
    if figure is None or figure.kind == "trees":  # those are models, not records
        return frozenset()
    both = [configured(figure, small) for small in (False, True)]
    return frozenset(
        _decided(run.to_dict()) for config in both if config is not None for run in config.runs()
    )


def _told(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name, None) for name in (*_DECIDES, "transfer", "plans")}


def _decided(told: Mapping[str, Any]) -> str:
    """As text, in which equal things are equal. Of a transfer, it is the world that counts; of
    plans, everything but the number of episodes and when they are played."""
    transfer = told["transfer"] or {}
    elsewhere = {name: transfer.get(name) for name in ("world", "options")}
    plans = {
        label: {name: plan.get(name) for name in _PLANS}
        for label, plan in (told["plans"] or {}).items()
    }
    decides = {name: told[name] for name in _DECIDES} | {"elsewhere": elsewhere, "plans": plans}
    return json.dumps(decides, sort_keys=True, default=str)
