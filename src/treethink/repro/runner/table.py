"""What came of an experiment, in one table: a row for each world and learner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from types import SimpleNamespace

from rich.table import Table
from rich.text import Text

from treethink.repro.runner.convergence import counted, last_error, middle, worst
from treethink.repro.runner.entries import STATUSES, Entry

NOT_EXAMINED = "– not examined: set `examine` in the config"


def table(entries: Sequence[Entry]) -> Table:
    """The last error (median over seeds, and worst), who has learned its world, and the status.
    Where it was planned with, the scores stand beside that.

    A run that did not end, or that errs in its last tenth, had its last error later than it ran.
    """
    planned = any(each.get("planned") for each in entries)
    shown = Table("world", "learner", "last error: median (worst)", "learned",
                  *(["planned: mean score"] if planned else []), "status")  # fmt: skip
    for group in _groups(entries):
        first = group[0]
        options = " ".join(f"{name}={value}" for name, value in first["options"].items())
        world = f"{first['world']} {options}".strip()
        cells = [world, first["label"], last_errors(group), _learned(group)]
        shown.add_row(*cells, *([_planned(group)] if planned else []), _status(group))
    if not any(each.get("examine") for each in entries):
        shown.caption = Text(NOT_EXAMINED)
        shown.caption_justify = "left"
    return shown


def last_errors(entries: Sequence[Entry]) -> str:
    """Median and worst; `>` where that is only known to be later."""
    last = [last_error(SimpleNamespace(**each)) for each in entries]
    return f"{middle(last)} ({worst(last)})"


def _groups(entries: Sequence[Entry]) -> list[list[Entry]]:
    groups: dict[str, list[Entry]] = {}
    for each in entries:
        groups.setdefault(repr((each["world"], each["options"], each["label"])), []).append(each)
    return list(groups.values())


def _learned(entries: Sequence[Entry]) -> str:
    examined = [each["examined"] for each in entries if each["examined"] is not None]
    if not examined:
        return "–"
    return f"{sum(each['learned'] for each in examined)} of {len(entries)}"


def _planned(entries: Sequence[Entry]) -> str:
    """By setting, the mean over seeds of the normalised score."""
    found: dict[str, list[float]] = {}
    for each in entries:
        for label, told in (each.get("planned") or {}).items():
            found.setdefault(label, []).append(told["mean"])
    return "\n".join(f"{label}: {fmean(each):.3f}" for label, each in found.items()) or "–"


def _status(entries: Sequence[Entry]) -> str:
    counts = Counter(each["status"] for each in entries)
    told = {each: f"{counts[each]} {each}" for each in STATUSES if counts[each]}
    if "stopped" in told:
        did = [each["observed"] for each in entries if each["status"] == "stopped"]
        fewest = "" if min(did) == max(did) else f"{min(did):,} to "
        told["stopped"] += f" after {fewest}{counted(max(did), 'step')}"
    return ", ".join(told.values())
