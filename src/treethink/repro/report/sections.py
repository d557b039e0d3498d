"""The content of a report, figure by figure, before it becomes a page.

data -> [ sections ] -> plots in a folder, tables, claims -> page, Markdown
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treethink.file import file_safe, number_duplicates
from treethink.repro.figures import FIGURES, QUICK, Figure
from treethink.repro.report.claims import JudgedClaim
from treethink.repro.report.data import Data
from treethink.repro.report.plots.figures import PLOTS
from treethink.repro.report.plots.style import save, styled
from treethink.repro.report.provenance import Facts, Origin, present
from treethink.repro.report.tables import TABLES, Table, learning, planning, transfer_worlds
from treethink.repro.report.zero_error import STRETCH

#: How to read all figures.
READING = (
    "The error is the earth mover's distance between the prediction and the true next state, before"
    " it is observed. Errors are means over seeds, times are medians over seeds; bands and"
    " intervals in brackets are 95% bootstrap intervals. The last error is the observation after"
    " which there was none; a run that errs in its last tenth has not converged, and `>` says that"
    " its last error comes later than all that it saw. A world is learned if all held-out"
    " transitions and all scenes of its rules are right: predicted exactly or, where chance"
    " decides, as well as chance allows. A cross marks a run that was stopped at a limit."
)
#: The caption of each kind of figure.
CAPTIONS = {
    "curves": "The error, and the times of observing and of predicting, while learning goes on.",
    "transfer": "Learned at 8 × 8; asked about 32 × 32 while learning goes on.",
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
    "complexity": (
        "Every point is a run: the observation of its last error. A hollow mark is a run that did"
        " not converge, so that it is a lower bound. Lines: least squares."
    ),
    "baselines": (
        "The appendix in plain Python beside the engine, with the paper's settings and with ours."
    ),
    "planning": (
        "A planner acts with what was learned, 100 simulations for each action. Scores are"
        " normalised in each level: 1 is the best that it allows, 0 is what doing nothing brings,"
        " -1 is the worst. Means over all episodes of all seeds, at the end of learning; bands are"
        " one standard deviation over episodes. Levels in which nothing is better than doing"
        " nothing are drawn again."
    ),
    "neural": (
        "Networks learn at 8 × 8, and are asked about 16 × 16 meanwhile. Breaks on a logarithmic"
        " scale are zeroes; NPE*, built by hand, has nothing else. The loss is that of the last"
        " epoch of each window; the training time is what an observation takes, epochs included. At"
        " 8 × 8, networks are asked about some 50 steps at once; at 16 × 16, all are asked one by"
        " one."
        " Dotted: the mean of static. A network reaches zero error where the first stretch of"
        f" {STRETCH:,} observations without a single error begins, and has lost it when no such"
        " stretch follows any more; with other learners, zero begins with the last error."
    ),
    "neural-planning": (
        "A planner acts with networks, 100 simulations for each action, while they learn at 8 × 8:"
        " in levels of several sizes, after so many observations (@). Scores are normalised in each"
        " level: 1 is the best that it allows, 0 is what doing nothing brings, -1 is the worst."
        " Means over all episodes of all seeds; bands are a quarter of a standard deviation over"
        " episodes, of TreeThink and NPE* a whole one. Below: at the end of learning."
    ),
    "predict": "The figure of the main text, from the records of the figures below.",
    "ablation": "The figure of the main text, from the records of the figures below.",
    "trees": (
        "Rules of models that each learned from one stream (seed 0), drawn from the model files."
    ),
    "worlds": "One state of each world.",
}
#: Added to the caption of an experiment with transfer worlds.
_ELSEWHERE = (
    "The error in another world is that of what was learned here, asked about there while learning"
    " goes on."
)
#: Added to the caption of an experiment with plans.
_PLANS = (
    "A planner acts with what was learned; its scores are normalised in each level: 1 is the best"
    " that it allows, 0 is what doing nothing brings, -1 is the worst."
)


@dataclass(frozen=True, slots=True)
class Section:
    """One figure: pictures (file name, description), tables, and the claims about it."""

    name: str
    title: str
    paper: str
    caption: str
    pictures: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...] = ()
    claims: tuple[JudgedClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A report: where its records come from, every verdict, and a section for each figure.

    `left_out` is the number of claims that are not judged for lack of records.
    """

    title: str
    origin: Origin
    facts: Facts
    claims: tuple[JudgedClaim, ...]
    parts: tuple[Section, ...]
    left_out: int = 0


def sections(
    data: Data, others: Data, verdicts: Sequence[JudgedClaim], out: Path
) -> Iterator[Section]:
    """Draw and describe every figure that has records, in the paper's order, then the others."""
    figures = [(data, each) for each in _present(data)]
    figures += [(others, each) for each in _other_figures(others)]
    for (source, figure), file in zip(figures, file_names(e.name for _, e in figures), strict=True):
        pictures = tuple(_drawn(source, figure, out, file))
        if not pictures:
            continue
        sources = data.records if figure.kind == "trees" else (figure.name, *figure.parts)
        quick = any(source.is_quick(each) for each in sources)
        yield Section(
            name=file,
            title=f"{figure.title} {QUICK}" if quick else figure.title,
            paper=figure.paper,
            caption=_caption(source, figure),
            pictures=pictures,
            tables=tuple(_tables(source, figure)),
            claims=tuple(_claims_about(figure, verdicts)) if source is data else (),
        )


def _has_transfer(data: Data, figure: Figure) -> bool:
    return figure.kind == "curves" and any(run.transfer for run in data.runs(figure.name))


def _has_plans(data: Data, figure: Figure) -> bool:
    return figure.kind == "curves" and any(run.plans for run in data.runs(figure.name))


def _caption(data: Data, figure: Figure) -> str:
    more = [_ELSEWHERE] if _has_transfer(data, figure) else []
    more += [_PLANS] if _has_plans(data, figure) else []
    return " ".join([CAPTIONS[figure.kind], *more])


def _tables(data: Data, figure: Figure) -> Iterator[Table]:
    if figure.kind in TABLES:
        yield TABLES[figure.kind](data, figure.name)
    if _has_transfer(data, figure):
        yield transfer_worlds(data, figure.name)
    if _has_plans(data, figure):
        yield planning(data, figure.name)
    if figure.kind in ("planning", "neural-planning"):
        yield learning(data, figure.name)


def file_names(names: Iterable[str]) -> list[str]:
    """Return distinct file names; folders of other experiments may have any name."""
    return number_duplicates(
        name if name in FIGURES else file_safe(name) or "figure" for name in names
    )


def _claims_about(figure: Figure, verdicts: Sequence[JudgedClaim]) -> Iterator[JudgedClaim]:
    """Yield the claims that are shown with a figure; those about several, with their composite.

    Claims about each of many worlds are left out: the table of the figure has their numbers.
    """
    for each in verdicts:
        if each.claim.world:
            continue
        if each.claim.home == figure.name or (
            not each.claim.home and figure.parts and figure.name in each.claim.figures
        ):
            yield each


def _present(data: Data) -> Iterator[Figure]:
    """Yield the figures of the paper that have records; composites with half of their parts."""
    names = present(data)
    for figure in FIGURES.values():
        half = 2 * sum(each in names for each in figure.parts) >= len(figure.parts)
        if figure.name in names or (figure.parts and half):
            yield figure


def _other_figures(others: Data) -> Iterator[Figure]:
    """Yield a figure with curves for each other experiment."""
    for name, records in others.records.items():
        yield Figure(name, str(records.manifest.get("title") or name), "Not in the paper", "curves")


def _drawn(data: Data, figure: Figure, out: Path, file: str) -> Iterator[tuple[str, str]]:
    """Draw the pictures of a figure; yield their file names, and what they show."""
    if figure.kind == "trees":
        from treethink.repro.report.plots.figures import trees

        yield from trees(data.folder / figure.name, out)
    elif figure.kind == "worlds":
        from treethink.repro.report.plots.figures import states

        with styled():
            yield from states(data.folder / figure.name, out / file)
    elif figure.kind in PLOTS:
        with styled():
            drawn = PLOTS[figure.kind](data, figure.name)
            yield save(drawn, out / file)[0].name, figure.title
            if _has_plans(data, figure):  # a dot is in no other name of one's own
                planned = PLOTS["planning"](data, figure.name)
                title = f"{figure.title}: planning"
                yield save(planned, out / f"{file}.planning")[0].name, title
