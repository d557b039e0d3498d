"""Where the records of a report come from: figures, commands, versions, machine, time.

data -> [ origin, facts ] -> Origin, Facts -> page, Markdown
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from treethink.repro.figures import FIGURES
from treethink.repro.figures.reproduce import experiment
from treethink.repro.report.data import Data
from treethink.repro.report.series import Run

#: Files from which figures without records are drawn.
DRAWN_FROM = {"trees": "*.tt", "worlds": "*.png"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Which records these are, in words, and commands that make those of the paper's figures."""

    records: str
    commands: tuple[str, ...]


def origin(data: Data, figures: Data) -> Origin:
    """Describe all records; `figures` are those of the paper's figures."""
    full = [name for name in present(figures) if not figures.is_quick(name)]
    small = [name for name in present(figures) if figures.is_quick(name)]
    if small:  # figures without records are the same in both
        drawn = [name for name in full if name not in figures.records]
        small, full = _ordered(small + drawn), [name for name in full if name not in drawn]
    commands = [f"treethink reproduce {_names(each)}{option}"
                for each, option in ((full, ""), (small, " --quick")) if each]  # fmt: skip
    others = [name for name in data.records if name not in figures.records]
    listed = [*_ordered(full + small), *others]
    if _names(_ordered(full + small)) == "all":
        listed = ["all figures of the paper", *others]
    return Origin(", ".join(listed), tuple(commands))


def present(figures: Data) -> list[str]:
    """Return the figures of the paper that have records or files, in the paper's order."""
    return [
        name
        for name, figure in FIGURES.items()
        if name in figures.records
        or (figure.kind in DRAWN_FROM
            and any((figures.folder / name).glob(DRAWN_FROM[figure.kind])))
    ]  # fmt: skip


def _ordered(names: list[str]) -> list[str]:
    return [name for name in FIGURES if name in names]


def _names(names: list[str]) -> str:
    """Return names as arguments of `treethink reproduce`."""
    every = {name for name, figure in FIGURES.items() if not figure.parts}
    return "all" if every <= set(names) else " ".join(names)


# ------------------------------------------------------------------------------ manifests


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines of names and values, and whether any of the records are quick."""

    lines: tuple[tuple[str, str], ...]
    quick: bool


def facts(data: Data) -> Facts:
    """Summarise the manifests; where they differ, list all values."""
    manifests = [records.manifest for records in data.records.values()]
    lines = [
        ("versions", _together(_pairs(each.get("versions")) for each in manifests)),
        ("commit", _together(str(each.get("commit") or "unknown") for each in manifests)),
        ("machine", _together(_machine(each.get("machine")) for each in manifests)),
        ("begun", min((str(each.get("started") or "") for each in manifests), default="")),
        ("ended", max((str(each.get("finished") or "") for each in manifests), default="")),
        ("runs", _runs(data)),
    ]
    return Facts(
        tuple((name, value) for name, value in lines if value),
        any(data.is_quick(name) for name in data.records),
    )


def _together(values: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(each for each in values if each))


def _pairs(versions: Any) -> str:
    if not isinstance(versions, Mapping):
        return ""
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _machine(machine: Any) -> str:
    if not isinstance(machine, Mapping):
        return ""
    cores = machine.get("cores")
    parts = [str(machine.get("cpu") or ""), f"{cores} cores" if cores else "",
             str(machine.get("system") or ""), str(machine.get("gpu") or "")]  # fmt: skip
    return ", ".join(each for each in parts if each)


def _runs(data: Data) -> str:
    runs = [run for records in data.records.values() for run in records.runs]
    kinds = dict.fromkeys(run.status for run in runs)
    counts = ", ".join(f"{sum(run.status == kind for run in runs)} {kind}" for kind in kinds)
    hours = sum(run.seconds or 0 for run in runs) / 3600
    return f"{counts}; {hours:.1f} hours on one core" if runs else ""


# ------------------------------------------------------------------------------ records of a figure


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
