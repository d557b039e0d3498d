"""What a report was made of, and how such records are made: only what is surely true."""

from __future__ import annotations

from dataclasses import dataclass

from treethink.repro.figures import FIGURES
from treethink.repro.report.data import Data

#: Files from which figures without records are drawn.
DRAWN_FROM = {"trees": "*.tt", "worlds": "*.png"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose records they are, in words, and commands that make such records of the paper's."""

    records: str
    commands: tuple[str, ...]


def origin(data: Data, figures: Data) -> Origin:
    """Of all records, of which some are those of the paper's figures."""
    full = [name for name in present(figures) if not figures.is_quick(name)]
    small = [name for name in present(figures) if figures.is_quick(name)]
    if small:  # what is only drawn is the same in both
        drawn = [name for name in full if name not in figures.records]
        small, full = _ordered(small + drawn), [name for name in full if name not in drawn]
    commands = [f"treethink reproduce {_names(each)}{option}"
                for each, option in ((full, ""), (small, " --quick")) if each]  # fmt: skip
    others = [name for name in data.records if name not in figures.records]
    told = [*_ordered(full + small), *others]
    if _names(_ordered(full + small)) == "all":
        told = ["all figures of the paper", *others]
    return Origin(", ".join(told), tuple(commands))


def present(figures: Data) -> list[str]:
    """Figures of the paper that have something of their own there, in the paper's order."""
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
    """As `treethink reproduce` takes them."""
    every = {name for name, figure in FIGURES.items() if not figure.parts}
    return "all" if every <= set(names) else " ".join(names)
