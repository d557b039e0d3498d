"""`treethink reproduce --list`: what there is, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from treethink.repro.figures import FIGURES, Figure
from treethink.repro.figures.reproduce import configured

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
        *_columns(small), caption=Text(_below()), caption_justify="left", caption_style=""
    )
    table.columns[0].no_wrap = True  # names are there to be typed
    table.columns[1].overflow = "fold"
    *rows, every = _rows(small)
    for row in rows:
        table.add_row(*row)
    table.add_section()
    table.add_row(*every)
    return table


def narrow(small: bool = False) -> Iterator[tuple[str, str]]:
    """The same without a table: each figure's name, and all that is said of it."""
    *_, runs, time = _columns(small)
    for name, title, paper, *taken in _rows(small):
        told = [f"{said}: {each}" for said, each in zip((runs, time), taken, strict=True)]
        yield name, "; ".join(filter(None, [title, paper, *told]))
    yield "", _below()


def _columns(small: bool) -> tuple[str, ...]:
    quick = " (quick)" if small else ""
    return "figure", "what it shows", "in the paper", f"runs{quick}", f"core-minutes{quick}"


def _rows(small: bool) -> list[tuple[str, ...]]:
    rows = [(each.name, each.title, each.paper, *takes(each, small)) for each in FIGURES.values()]
    every = sum(number_of_runs(each, small) for each in FIGURES.values())
    return [*rows, ("all", "all of these", "", f"{every:,}", _together(small))]


def _below() -> str:
    return f"{_not_made()} {_networks()}"


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
