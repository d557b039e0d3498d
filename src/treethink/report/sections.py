"""What a report has to say, figure by figure, before it is a page.

data -> [ sections ] -> plots in a folder, tables, claims -> page, Markdown
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treethink.figures import FIGURES, Figure
from treethink.report import tables
from treethink.report.claims import Judged
from treethink.report.data import Data
from treethink.report.plots import PLOTS
from treethink.report.style import save, styled
from treethink.report.tables import TABLES, Table

#: What is said below a figure of each kind.
CAPTIONS = {
    "curves": (
        "Errors: mean over seeds; times: median over seeds; both with a 95% bootstrap interval."
        " The error is the earth mover's distance to the true next state, before it is observed."
        " A cross marks a run that was stopped at a limit."
    ),
    "transfer": (
        "Learned at 8 × 8; asked about 32 × 32 while learning goes on. Errors: mean over seeds;"
        " times: median over seeds; both with a 95% bootstrap interval."
    ),
    "scale": (
        "The scale of observations grows with what there is to learn: if learning time is linear,"
        " the curves keep their shape."
    ),
    "inference": (
        "none: all facts, all bindings; eval: all facts, first binding; query: facts on demand, all"
        " bindings; both: facts on demand, first binding. Median over seeds of each run's median;"
        " thin lines span the seeds."
    ),
    "branches": "Breaks in a curve are zeroes. Fixed: a branch keeps the test it was born with.",
    "alpha": "Up to the last error of any seed. A hollow mark is a run that did not converge.",
    "complexity": "Every point is a run: the observation of its last error. Lines: least squares.",
    "baselines": (
        "The appendix in plain Python beside the engine, with the paper's settings and with ours."
    ),
    "predict": "The figure of the main text, from the records of the figures below.",
    "ablation": "The figure of the main text, from the records of the figures below.",
    "trees": (
        "Rules of models that each learned from one stream (seed 0), drawn from the model files."
    ),
    "worlds": "One state of each world.",
}


@dataclass(frozen=True, slots=True)
class Section:
    """One figure: pictures (file name, what it shows), tables, and claims that stand beside it."""

    name: str
    title: str
    paper: str
    caption: str
    pictures: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...] = ()
    claims: tuple[Judged, ...] = ()


def sections(data: Data, judged: Sequence[Judged], out: Path) -> Iterator[Section]:
    """Draw and describe every figure that has records, in the paper's order."""
    for figure in _present(data):
        beside = tuple(each for each in judged if figure.name in each.claim.figures)
        pictures = tuple(_drawn(data, figure, out))
        if not pictures:
            continue
        made_of = data.records if figure.kind == "trees" else (figure.name, *figure.parts)
        quick = any(data.is_quick(each) for each in made_of)
        yield Section(
            name=figure.name,
            title=f"{figure.title} (quick)" if quick else figure.title,
            paper=figure.paper,
            caption=CAPTIONS.get(figure.kind, CAPTIONS["curves"]),
            pictures=pictures,
            tables=(TABLES[figure.kind](data, figure.name),) if figure.kind in TABLES else (),
            claims=beside,
        )


def _present(data: Data) -> Iterator[Figure]:
    """Figures of the paper that have records, then other records that lie there."""
    for figure in FIGURES.values():
        if figure.kind in ("trees", "worlds"):
            if (data.folder / figure.name).is_dir():
                yield figure
        elif figure.parts:
            # Of too few parts it would be mostly empty.
            if 2 * sum(each in data.records for each in figure.parts) >= len(figure.parts):
                yield figure
        elif figure.name in data.records:
            yield figure
    for name, records in data.records.items():
        if name not in FIGURES:
            title = str(records.manifest.get("title") or name)
            yield Figure(name, title, "not in the paper", "curves")


def _drawn(data: Data, figure: Figure, out: Path) -> Iterator[tuple[str, str]]:
    """File names of the pictures, once they are written, and what they show."""
    if figure.kind == "trees":
        from treethink.report.pictures import trees

        yield from trees(data.folder / figure.name, out)
    elif figure.kind == "worlds":
        from treethink.report.pictures import states

        yield from states(data.folder / figure.name, out)
    elif figure.kind in PLOTS:
        with styled():
            drawn = PLOTS[figure.kind](data, figure.name)
            yield save(drawn, out / _file_name(figure.name))[0].name, figure.title


def _file_name(name: str) -> str:
    """Folders of one's own may have any name."""
    return "".join(each if each.isalnum() or each in "-._" else "-" for each in name) or "figure"


def overview(judged: Sequence[Judged]) -> Table:
    """All claims."""
    return tables.claims(judged)
