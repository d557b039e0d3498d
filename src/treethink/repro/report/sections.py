"""What a report has to say, figure by figure, before it is a page.

data -> [ sections ] -> plots in a folder, tables, claims -> page, Markdown
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treethink.file import file_safe, number_duplicates
from treethink.repro.figures import FIGURES, Figure
from treethink.repro.report.claims import Judged
from treethink.repro.report.data import Data
from treethink.repro.report.manifest import Facts
from treethink.repro.report.plots.figures import PLOTS
from treethink.repro.report.plots.style import save, styled
from treethink.repro.report.provenance import Origin, present
from treethink.repro.report.tables import TABLES, Table, elsewhere, learning, planning
from treethink.repro.report.zero_error import STRETCH

#: How to read them all.
READING = (
    "The error is the earth mover's distance between the prediction and the true next state, before"
    " it is observed. Errors are means over seeds, times are medians over seeds; bands and"
    " intervals in brackets are 95% bootstrap intervals. The last error is the observation after"
    " which there was none; a run that errs in its last tenth has not converged, and `>` says that"
    " its last error comes later than all that it saw. A world is learned if all held-out"
    " transitions and all scenes of its rules are right: predicted exactly or, where chance"
    " decides, as well as chance allows. A cross marks a run that was stopped at a limit."
)
#: What is said below a figure of each kind.
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
#: What is added where an experiment asks about other worlds.
_ELSEWHERE = (
    "The error in another world is that of what was learned here, asked about there while learning"
    " goes on."
)
#: What is added where an experiment plans.
_PLANS = (
    "A planner acts with what was learned; its scores are normalised in each level: 1 is the best"
    " that it allows, 0 is what doing nothing brings, -1 is the worst."
)


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


@dataclass(frozen=True, slots=True)
class Report:
    """All that there is to say: where it comes from, every verdict, and the figures.

    `left_out` is how many claims are not judged for lack of figures.
    """

    title: str
    origin: Origin
    facts: Facts
    claims: tuple[Judged, ...]
    parts: tuple[Section, ...]
    left_out: int = 0


def sections(data: Data, own: Data, judged: Sequence[Judged], out: Path) -> Iterator[Section]:
    """Draw and describe every figure that has records, in the paper's order, then one's own."""
    figures = [(data, each) for each in _present(data)] + [(own, each) for each in _others(own)]
    for (source, figure), file in zip(figures, file_names(e.name for _, e in figures), strict=True):
        pictures = tuple(_drawn(source, figure, out, file))
        if not pictures:
            continue
        made_of = data.records if figure.kind == "trees" else (figure.name, *figure.parts)
        quick = any(source.is_quick(each) for each in made_of)
        yield Section(
            name=file,
            title=f"{figure.title} (quick)" if quick else figure.title,
            paper=figure.paper,
            caption=_caption(source, figure),
            pictures=pictures,
            tables=tuple(_tables(source, figure)),
            claims=tuple(_beside(judged, figure)) if source is data else (),
        )


def _asks_elsewhere(data: Data, figure: Figure) -> bool:
    return figure.kind == "curves" and any(run.transfer for run in data.runs(figure.name))


def _plans(data: Data, figure: Figure) -> bool:
    return figure.kind == "curves" and any(run.plans for run in data.runs(figure.name))


def _caption(data: Data, figure: Figure) -> str:
    more = [_ELSEWHERE] if _asks_elsewhere(data, figure) else []
    more += [_PLANS] if _plans(data, figure) else []
    return " ".join([CAPTIONS[figure.kind], *more])


def _tables(data: Data, figure: Figure) -> Iterator[Table]:
    if figure.kind in TABLES:
        yield TABLES[figure.kind](data, figure.name)
    if _asks_elsewhere(data, figure):
        yield elsewhere(data, figure.name)
    if _plans(data, figure):
        yield planning(data, figure.name)
    if figure.kind in ("planning", "neural-planning"):
        yield learning(data, figure.name)


def file_names(names: Iterable[str]) -> list[str]:
    """Folders of one's own may have any name; their files have names of their own."""
    return number_duplicates(
        name if name in FIGURES else file_safe(name) or "figure" for name in names
    )


def _beside(judged: Sequence[Judged], figure: Figure) -> Iterator[Judged]:
    """Each claim stands beside one figure: what is about several, beside the one of them all.

    Whether errors end in a world, its table says.
    """
    for each in judged:
        if each.claim.world:
            continue
        if each.claim.home == figure.name or (
            not each.claim.home and figure.parts and figure.name in each.claim.figures
        ):
            yield each


def _present(data: Data) -> Iterator[Figure]:
    """Figures of the paper that have records."""
    own = present(data)
    for figure in FIGURES.values():
        # Of too few parts it would be mostly empty.
        half = 2 * sum(each in own for each in figure.parts) >= len(figure.parts)
        if figure.name in own or (figure.parts and half):
            yield figure


def _others(own: Data) -> Iterator[Figure]:
    """Other records that lie there, as curves."""
    for name, records in own.records.items():
        yield Figure(name, str(records.manifest.get("title") or name), "Not in the paper", "curves")


def _drawn(data: Data, figure: Figure, out: Path, file: str) -> Iterator[tuple[str, str]]:
    """File names of the pictures, once they are written, and what they show."""
    if figure.kind == "trees":
        from treethink.repro.report.plots.pictures import trees

        yield from trees(data.folder / figure.name, out)
    elif figure.kind == "worlds":
        from treethink.repro.report.plots.pictures import states

        with styled():
            yield from states(data.folder / figure.name, out / file)
    elif figure.kind in PLOTS:
        with styled():
            drawn = PLOTS[figure.kind](data, figure.name)
            yield save(drawn, out / file)[0].name, figure.title
            if _plans(data, figure):  # a dot is in no other name of one's own
                planned = PLOTS["planning"](data, figure.name)
                title = f"{figure.title}: planning"
                yield save(planned, out / f"{file}.planning")[0].name, title
