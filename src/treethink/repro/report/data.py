"""The records that a report is made of.

    folder -> [ data ] -> records by figure, runs by label and world

In:   a folder of records, or a folder of such folders, as `treethink reproduce` leaves them.
Out:  `Data`. Nothing is run again, and nothing but records is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from treethink.errors import RecordsError
from treethink.repro.report.series import Run

MANIFEST = "manifest.json"
#: What the title of a quick configuration ends with.
QUICK = "(quick)"
#: Fewer seeds say nothing of others; quick records are marked instead.
FEWEST_SEEDS = 3


class Records(Protocol):
    """What the report asks of a folder of records."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def runs(self) -> Sequence[Run]: ...


@dataclass(frozen=True, slots=True)
class Data:
    """Records by the name of their folder, and where folders without runs lie.

    `fewest` is the number of seeds below which nothing is judged.
    """

    records: Mapping[str, Records]
    folder: Path = field(default_factory=Path)
    fewest: int = FEWEST_SEEDS

    def runs(self, figure: str, label: str | None = None, world: str | None = None) -> list[Run]:
        """The runs of a figure, of one label and world if told; none if it was not made."""
        if figure not in self.records:
            return []
        return [
            run
            for run in self.records[figure].runs
            if label in (None, run.label) and world in (None, run.world)
        ]

    def labels(self, figure: str) -> list[str]:
        """In the order of the configuration."""
        return list(dict.fromkeys(run.label for run in self.runs(figure)))

    def worlds(self, figure: str) -> list[str]:
        """In the order of the configuration."""
        return list(dict.fromkeys(run.world for run in self.runs(figure)))

    def is_quick(self, figure: str) -> bool:
        """Whether these are the small runs of `--quick`."""
        records = self.records.get(figure)
        return records is not None and str(records.manifest.get("title", "")).endswith(QUICK)


def read_all(folder: Path) -> Data:
    """The records in a folder: its own, or those of the folders in it."""
    from treethink.repro.runner.records import read

    if not folder.is_dir():
        raise RecordsError(f"there is no folder {folder}")
    if (folder / MANIFEST).is_file():
        return Data({folder.resolve().name: read(folder)}, folder)
    found = {
        each.name: read(each) for each in sorted(folder.iterdir()) if (each / MANIFEST).is_file()
    }
    if not found and not any((folder / name).is_dir() for name in ("trees", "worlds")):
        raise RecordsError(
            f"{folder} has no records: neither it nor a folder in it has a {MANIFEST}"
        )
    return Data(found, folder)
