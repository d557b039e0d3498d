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
from treethink.repro.report.ladder import ladder
from treethink.repro.report.plots.figures import PLOTS, states, trees
from treethink.repro.report.plots.style import save, styled
from treethink.repro.report.provenance import Facts, Origin, present
from treethink.repro.report.tables import TABLES, Table, learning, planning, transfer_worlds
from treethink.repro.report.zero_error import STRETCH

#: How to read all figures.
READING = (
    "The error is the earth mover's distance between the prediction and the true next state,"
    " measured before the transition is observed (prequential error). Errors are means over seeds,"
    " and times are medians over seeds; bands and intervals in brackets are 95% bootstrap"
    " intervals. The last error is the last observation that was predicted wrongly. A run with an"
    " error in its last tenth has not converged: its last error is right-censored, and given as"
    " `>` and the number of its observations. A world is learned if all held-out transitions and"
    " all scenes of its rules are predicted correctly: exactly or, where chance decides, as well"
    " as chance allows. A cross marks a run that was stopped at a limit."
)
#: How scores are normalised, in the captions of figures with plans.
_SCALE = (
    "Scores are normalised in each level: 1 is the best possible score, 0 is the score of doing"
    " nothing, and -1 is the worst possible score."
)
#: The caption of each kind of figure.
CAPTIONS = {
    "curves": "The error, and the times of observations and predictions, during learning.",
    "transfer": "Learned at 8 × 8, and tested at 32 × 32 during learning.",
    "scale": (
        "The axis of observations is scaled with the size of the problem: if learning time is"
        " linear, the curves keep their shape."
    ),
    "inference": (
        "none: all facts, all bindings; eval: all facts, first binding; query: facts on demand, all"
        " bindings; both: facts on demand, first binding. Medians over seeds of the median of each"
        " run; thin lines show the range over seeds."
    ),
    "branches": "Gaps in a curve are zeros. Fixed: a branch keeps its first test.",
    "alpha": (
        "Observations up to the last error of any seed. A hollow marker is a run that did not"
        " converge."
    ),
    "complexity": (
        "Each point is the last error of one run. A hollow marker is a run that did not converge,"
        " so the point is a lower bound. Lines are least-squares fits."
    ),
    "baselines": (
        "The algorithm of the appendix in plain Python, compared with the engine with the paper's"
        " settings and with our defaults."
    ),
    "planning": (
        f"A planner uses the learned model, with 100 simulations for each action. {_SCALE} Means"
        " over all episodes of all seeds, at the end of learning; bands are one standard deviation"
        " over episodes. Levels in which nothing is better than doing nothing are replaced."
    ),
    "neural": (
        "Networks learn at 8 × 8, and are tested at 16 × 16 during learning. Gaps on a logarithmic"
        " scale are zeros; NPE*, which is built by hand, has only zeros. The loss is that of the"
        " last epoch of each window; the training time is the time of an observation, including"
        " epochs. At 8 × 8, networks predict about 50 steps at once; at 16 × 16, all learners"
        " predict them one by one. Dotted: the mean of static. A network reaches zero error where"
        f" the first stretch of {STRETCH:,} observations without an error begins, and loses it"
        " after the last such stretch; for other learners, zero error begins after the last error."
    ),
    "ladder": (
        "Worlds that others made, and learners of other kinds. Right: the most likely next state is"
        " exactly the true one (or, where chance decides, one of the most likely true ones), of"
        " held-out transitions of random play, of those that change something, of situations put"
        " together at random (stress), and of larger levels. F1: precision and recall of changed"
        " values. Medians over seeds."
    ),
    "neural-planning": (
        "A planner uses networks, with 100 simulations for each action, while they learn at 8 × 8:"
        f" in levels of several sizes, after a number of observations (@). {_SCALE} Means over all"
        " episodes of all seeds; bands are a quarter of a standard deviation over episodes, and one"
        " standard deviation for TreeThink and NPE*. Below: at the end of learning."
    ),
    "predict": "The figure of the main text, from the records of the figures below.",
    "ablation": "The figure of the main text, from the records of the figures below.",
    "trees": (
        "Rules of models that each learned from one stream (seed 0), drawn from the model files."
    ),
    "worlds": "One state of each world.",
}
#: Added to the caption of an experiment with transfer worlds.
_ELSEWHERE = "The error in another world is that of the model learned here, tested during learning."
#: Added to the caption of an experiment with plans.
_PLANS = f"A planner uses the learned model. {_SCALE}"


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
    if figure.kind == "ladder":
        yield ladder(data, figure.name)
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
        yield from trees(data.folder / figure.name, out)
    elif figure.kind == "worlds":
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
