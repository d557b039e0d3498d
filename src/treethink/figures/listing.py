"""`treethink reproduce --list`: what there is, and what it takes."""

from __future__ import annotations

from rich.table import Table

from treethink.figures import FIGURES, Figure
from treethink.figures.reproduce import configured


def listing() -> Table:
    """A row for each figure."""
    table = Table("figure", "what it shows", "in the paper", "runs", "core-minutes")
    total = 0.0
    for figure in FIGURES.values():
        runs, minutes = takes(figure)
        total += figure.minutes
        table.add_row(figure.name, figure.title, figure.paper, runs, minutes)
    table.add_section()
    table.add_row("all", "all of these", "", "", f"about {total:.0f}")
    return table


def takes(figure: Figure) -> tuple[str, str]:
    """Runs and minutes, as text."""
    if not figure.is_here:
        return "not here yet", "–"
    if figure.parts:
        return "those of its parts", "–"
    config = configured(figure, small=False)
    runs = "–" if config is None or figure.kind == "trees" else f"{len(config.runs()):,}"
    return runs, f"{figure.minutes:g}"
