"""`treethink reproduce --list`: what there is, and what it takes."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from treethink.figures import FIGURES, Figure
from treethink.figures.reproduce import configured

#: Figures of the paper that show no data, and what they are.
DRAWINGS = {
    1: "a transition in keys, with its objects",
    2: "a rule as a tree and as code",
    6: "objects as people and as learners see them",
    21: "the architecture of the NPE",
}


def listing(small: bool = False) -> Table:
    """A row for each figure, as `reproduce` makes it or, `small`, as `reproduce --quick` does."""
    table = Table(
        "figure", "what it shows", "in the paper", "runs (quick)" if small else "runs",
        "core-minutes (quick)" if small else "core-minutes",
        caption=Text(f"{_not_made()} {_networks()}"), caption_justify="left", caption_style="",
    )  # fmt: skip
    table.columns[0].no_wrap = True  # names are there to be typed
    for figure in FIGURES.values():
        table.add_row(figure.name, figure.title, figure.paper, *takes(figure, small))
    table.add_section()
    every = sum(number_of_runs(each, small) for each in FIGURES.values())
    table.add_row("all", "all of these", "", f"{every:,}", _together(small))
    return table


def _together(small: bool) -> str:
    """What all of them take; what was timed on a GPU stands apart."""
    core, gpu = (
        sum(minutes(each, small) for each in FIGURES.values() if on_gpu == each.networks)
        for on_gpu in (False, True)
    )
    return f"about {core + gpu:.0f}" if small else f"about {core:.0f}, and {gpu:.0f} on a GPU"


def _not_made() -> str:
    drawn = ", ".join(f"{number} ({what})" for number, what in DRAWINGS.items())
    return f"Not made, as they are drawings without data: Figs. {drawn}."


def _networks() -> str:
    names = " and ".join(name for name, each in FIGURES.items() if each.networks)
    return (
        f"{names} need PyTorch (pip install 'treethink[neural]') and, but for --quick, want a GPU."
    )


def takes(figure: Figure, small: bool = False) -> tuple[str, str]:
    """Runs and minutes, as text."""
    if figure.parts:
        return "those of its parts", "–"
    runs = number_of_runs(figure, small)
    time = minutes(figure, small)
    rough = "under 1" if time < 1 else f"about {time:.0f}"
    told = rough if small else f"{time:g}, on a GPU" if figure.networks else f"{time:g}"
    return f"{runs:,}" if runs else "–", told


def number_of_runs(figure: Figure, small: bool) -> int:
    """How many runs a figure has of its own; models whose trees are drawn are none."""
    config = None if figure.kind == "trees" else configured(figure, small)
    return 0 if config is None else len(config.runs())


def minutes(figure: Figure, small: bool) -> float:
    """What a figure took. Of a small version it is a guess: as much less as it asks less."""
    if small and figure.quick is not None:
        return figure.quick
    full, less = configured(figure, small=False), configured(figure, small=True)
    if not small or full is None or less is None:
        return figure.minutes
    asked = [sum(run.questions for run in each.runs()) for each in (less, full)]
    return figure.minutes * asked[0] / asked[1]
