"""Where the records of a report come from: figures, commands, versions, machine, time.

data -> [ origin, facts ] -> Origin, Facts -> page, Markdown
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treethink.repro.figures import FIGURES
from treethink.repro.report.data import Data

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
