"""The records that a report is made of.

    folder -> [ data ] -> records by figure, runs by label and world

In:   a folder of records, or a folder of such folders, as `treethink reproduce` writes them.
Out:  `Data`. Nothing is run again, and nothing but records is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from treethink.errors import RecordsError
from treethink.repro.figures import is_quick
from treethink.repro.report.series import Run

#: No claim is judged on fewer seeds, except with quick records, which are marked.
FEWEST_SEEDS = 3


class Records(Protocol):
    """What the report needs of a folder of records."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def runs(self) -> Sequence[Run]: ...


@dataclass(frozen=True, slots=True)
class Data:
    """Records by the name of their folder; `folder` holds the folders of figures without runs.

    `fewest` is the number of seeds below which nothing is judged.
    """

    records: Mapping[str, Records]
    folder: Path = field(default_factory=Path)
    fewest: int = FEWEST_SEEDS

    def runs(self, figure: str, label: str | None = None, world: str | None = None) -> list[Run]:
        """Return the runs of a figure, of one label and world if given; [] without records."""
        if figure not in self.records:
            return []
        return [
            run
            for run in self.records[figure].runs
            if label in (None, run.label) and world in (None, run.world)
        ]

    def labels(self, figure: str) -> list[str]:
        """Return the labels of a figure, in the order of the config."""
        return list(dict.fromkeys(run.label for run in self.runs(figure)))

    def worlds(self, figure: str) -> list[str]:
        """Return the worlds of a figure, in the order of the config."""
        return list(dict.fromkeys(run.world for run in self.runs(figure)))

    def is_quick(self, figure: str) -> bool:
        """Whether these are the small runs of `--quick`."""
        records = self.records.get(figure)
        return records is not None and is_quick(records.manifest)


def read_all(folder: Path) -> Data:
    """Read the records in a folder: its own, or those of the folders in it."""
    from treethink.repro.runner.records import MANIFEST, read

    if not folder.is_dir():
        raise RecordsError(f"there is no folder {folder}")
    if (folder / MANIFEST).is_file():
        return Data({folder.resolve().name: read(folder)}, folder)
    records = {
        each.name: read(each) for each in sorted(folder.iterdir()) if (each / MANIFEST).is_file()
    }
    if not records and not any((folder / name).is_dir() for name in ("trees", "worlds")):
        raise RecordsError(
            f"{folder} has no records: neither it nor a folder in it has a {MANIFEST}"
        )
    return Data(records, folder)
