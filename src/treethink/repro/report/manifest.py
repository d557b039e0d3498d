"""Where and when the records of a report were made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treethink.repro.report.data import Data


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values, for people; and whether any of it is quick."""

    lines: tuple[tuple[str, str], ...]
    quick: bool


def facts(data: Data) -> Facts:
    """What the manifests say together; where they differ, all of it."""
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
    told = [str(machine.get("cpu") or ""), f"{cores} cores" if cores else "",
            str(machine.get("system") or ""), str(machine.get("gpu") or "")]  # fmt: skip
    return ", ".join(each for each in told if each)


def _runs(data: Data) -> str:
    runs = [run for records in data.records.values() for run in records.runs]
    kinds = dict.fromkeys(run.status for run in runs)
    told = ", ".join(f"{sum(run.status == kind for run in runs)} {kind}" for kind in kinds)
    hours = sum(run.seconds or 0 for run in runs) / 3600
    return f"{told}; {hours:.1f} hours on one core" if runs else ""
