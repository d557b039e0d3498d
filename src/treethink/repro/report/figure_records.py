"""Tell the records of the paper's figures from those of other experiments.

    data -> [ split ] -> the paper's figures, other experiments

The name of a folder does not decide, since anybody may use it. Its runs do: if learners, settings
and worlds are not those of the figure's config, the claims of the paper do not apply to them. Seeds
and steps may differ, as they do in quick records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.report.data import Data
from treethink.repro.report.series import Run

#: What a run has in common with that of the figure's config.
_RUN_KEYS = ("label", "world", "options", "learner", "settings", "predict", "episode")
#: What its plans have in common.
_PLAN_KEYS = ("world", "options", "steps", "simulations")


def split(data: Data) -> tuple[Data, Data]:
    """Return the records of the paper's figures, and all others."""
    names = [name for name, records in data.records.items() if is_figure(name, records.runs)]
    return (
        replace(data, records={name: data.records[name] for name in names}),
        replace(data, records={k: v for k, v in data.records.items() if k not in names}),
    )


def is_figure(name: str, runs: Sequence[Run]) -> bool:
    """Whether all runs are among those of the figure of this name."""
    expected = _fingerprints(name)
    return bool(expected) and all(_fingerprint(_values(run)) in expected for run in runs)


@cache
def _fingerprints(name: str) -> frozenset[str]:
    """Return the fingerprints of all runs of a figure, full and small; none if it has no runs."""
    figure = FIGURES.get(name)
    if figure is None or figure.kind == "trees":  # those are models, not records
        return frozenset()
    configs = [experiment(figure, small) for small in (False, True)]
    runs = [run for config in configs if config is not None for run in config.runs()]
    return frozenset(_fingerprint(run.to_dict()) for run in runs)


def _values(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name, None) for name in (*_RUN_KEYS, "transfer", "plans")}


def _fingerprint(values: Mapping[str, Any]) -> str:
    """Return a text that is equal for runs that are the same but for seeds and steps.

    Of a transfer, only the world counts; of plans, everything but the number of episodes and when
    they are played.
    """
    transfer = values["transfer"] or {}
    target = {name: transfer.get(name) for name in ("world", "options")}
    plans = {
        label: {name: plan.get(name) for name in _PLAN_KEYS}
        for label, plan in (values["plans"] or {}).items()
    }
    content = {name: values[name] for name in _RUN_KEYS} | {"transfer": target, "plans": plans}
    return json.dumps(content, sort_keys=True, default=str)
