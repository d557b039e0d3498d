"""`treethink reproduce --list`: all figures, with their numbers of runs and their times."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from treethink.repro.figures import FIGURES, QUICK, Figure
from treethink.repro.figures.reproduce import experiment

#: Figures of the paper that show no data, and what they are.
DRAWINGS = {
    1: "a transition in keys, with its objects",
    2: "a rule as a tree and as code",
    6: "objects as people and as learners see them",
    21: "the architecture of the NPE",
}


def listing(small: bool = False) -> Table:
    """Return a row for each figure; with `small`, for `reproduce --quick`."""
    table = Table(
        *_columns(small), caption=Text(_caption()), caption_justify="left", caption_style=""
    )
    table.columns[0].no_wrap = True  # names are to be typed
    table.columns[1].overflow = "fold"
    *rows, every = _rows(small)
    for row in rows:
        table.add_row(*row)
    table.add_section()
    table.add_row(*every)
    return table


def narrow(small: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the same for narrow terminals: the name of each figure, and its description."""
    *_, runs, time = _columns(small)
    for name, title, paper, *costs in _rows(small):
        listed = [f"{label}: {each}" for label, each in zip((runs, time), costs, strict=True)]
        yield name, "; ".join(filter(None, [title, paper, *listed]))
    yield "", _caption()


def _columns(small: bool) -> tuple[str, ...]:
    quick = f" {QUICK}" if small else ""
    return "figure", "what it shows", "in the paper", f"runs{quick}", f"core-minutes{quick}"


def _rows(small: bool) -> list[tuple[str, ...]]:
    rows = [(each.name, each.title, each.paper, *cost(each, small)) for each in FIGURES.values()]
    every = sum(number_of_runs(each, small) for each in FIGURES.values())
    return [*rows, ("all", "all of these", "", f"{every:,}", _total_minutes(small))]


def _caption() -> str:
    return f"{_not_made()} {_networks()}"


def _total_minutes(small: bool) -> str:
    """Return the time of all figures; times on a GPU are apart."""
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


def cost(figure: Figure, small: bool = False) -> tuple[str, str]:
    """Return the number of runs and the minutes of a figure, as text."""
    if figure.parts:
        return "those of its parts", "–"
    runs = number_of_runs(figure, small)
    time = minutes(figure, small)
    rough = "under 1" if time < 1 else f"about {time:.0f}"
    shown = rough if small else f"{time:g}, on a GPU" if figure.networks else f"{time:g}"
    return f"{runs:,}" if runs else "–", shown


def number_of_runs(figure: Figure, small: bool) -> int:
    """Return how many runs a figure has of its own; models whose trees are drawn do not count."""
    config = None if figure.kind == "trees" else experiment(figure, small)
    return 0 if config is None else len(config.runs())


def minutes(figure: Figure, small: bool) -> float:
    """Return the minutes of a figure; for a small version, estimated from its predictions."""
    if small and figure.quick is not None:
        return figure.quick
    full, less = experiment(figure, small=False), experiment(figure, small=True)
    if not small or full is None or less is None:
        return figure.minutes
    small_size, full_size = (sum(run.n_predictions for run in each.runs()) for each in (less, full))
    return figure.minutes * small_size / full_size
