"""The tables of a report, as rows of text, for the page and for Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treethink.repro.figures import FIGURES, QUICK
from treethink.repro.report.claims import SETTINGS, JudgedClaim
from treethink.repro.report.data import Data
from treethink.repro.report.episodes import EpisodeScores, by_stage, played, settings
from treethink.repro.report.judges.common import has_learned, summary
from treethink.repro.report.judges.performance import INFERENCE_ROWS, pair_of, speed_up, times_of
from treethink.repro.report.judges.planning import Stages, best_stage
from treethink.repro.report.plots.panels import INFERENCE, PAPER_TIMES, short
from treethink.repro.report.plots.planning import TRAINED
from treethink.repro.report.series import (
    Run,
    ended,
    final,
    mean_of,
    measured,
    time_of,
    transfer_world,
)
from treethink.repro.report.statistics import converged, estimate, fit, last_error, median, number
from treethink.repro.report.zero_error import longest, lost, reached


@dataclass(frozen=True, slots=True)
class Table:
    """A title, a header, and rows with as many cells."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def claims(all_: Sequence[JudgedClaim]) -> Table:
    """Return claims in detail: the paper's number, ours, seeds, verdict, and why."""
    rows = []
    for each in all_:
        claim, verdict = each.claim, each.verdict
        text = f"{claim.text} ({claim.setting})" if claim.setting else claim.text
        rows.append((text, claim.paper, verdict.ours, verdict.seeds, answer(each), verdict.why))
    header = ("claim", "paper", "ours", "seeds", "confirmed", "reason")
    return Table("Claims", header, tuple(rows))


def overview(all_: Sequence[JudgedClaim]) -> list[Table]:
    """Return tables of all claims: with two settings, with one, of networks, of each world."""
    twice = [each for each in all_ if each.claim.setting and not each.claim.world]
    single = [each for each in all_ if not each.claim.setting]
    networks = [e for e in single if e.claim.home and FIGURES[e.claim.home].networks]
    once = [each for each in single if each not in networks]
    worlds = [each for each in all_ if each.claim.world]
    header = ("claim", "the paper says", *SETTINGS.values(), "seeds")
    tables = [
        Table(
            "TreeThink, with the paper's settings and with our defaults",
            header,
            tuple((row[0].claim.text, row[0].claim.paper, *_beside(row)) for row in _rows(twice)),
        ),
        _one_setting("QORA, inference, planning, and the appendix in Python", once),
        _one_setting("Networks, and planning with them", networks),
        Table(
            "Zero error, world by world: the observation of the last error",
            ("world", *SETTINGS.values(), "seeds"),
            tuple((row[0].claim.world, *_beside(row)) for row in _rows(worlds)),
        ),
    ]
    return [each for each in tables if each.rows]


def _one_setting(title: str, claims: Sequence[JudgedClaim]) -> Table:
    rows = ((e.claim.text, e.claim.paper, _cell(e), e.verdict.seeds) for e in claims)
    return Table(title, ("claim", "the paper says", "ours", "seeds"), tuple(rows))


def _rows(all_: Sequence[JudgedClaim]) -> list[list[JudgedClaim]]:
    """Return the verdicts by claim."""
    rows: dict[str, list[JudgedClaim]] = {}
    for each in all_:
        rows.setdefault(each.claim.text, []).append(each)
    return list(rows.values())


def _beside(row: Sequence[JudgedClaim]) -> tuple[str, ...]:
    by = {each.claim.setting: each for each in row}
    cells = tuple(_cell(by[each]) if each in by else "–" for each in SETTINGS.values())
    return *cells, " and ".join(dict.fromkeys(each.verdict.seeds for each in row))


def _cell(each: JudgedClaim) -> str:
    ours = f"{each.verdict.ours}, better" if each.verdict.better else each.verdict.ours
    return answer(each) if ours == "–" else f"{answer(each)}: {ours}"


def answer(each: JudgedClaim) -> str:
    """Return the verdict, marked where it comes from quick runs."""
    return f"{each.verdict.answer} {QUICK}" if each.quick else each.verdict.answer


def learning(data: Data, name: str) -> Table:
    """Return one row for each world and label."""
    rows = []
    several = len(data.worlds(name)) > 1
    for world in data.worlds(name):
        right = "plausible" if is_random(data.runs(name, world=world)) else "exact"
        for label in data.labels(name):
            runs = data.runs(name, label, world)
            if runs:
                rows.append((*((world,) if several else ()), label, *_learned(runs, right)))
    header = (
        *(("world",) if several else ()), "learner", "steps", "last error, median (worst)",
        "converged", "learned", "held-out right", "observe µs", "predict µs", "MB", "runs",
    )  # fmt: skip
    return Table("", header, tuple(rows))


def is_random(runs: Sequence[Run]) -> bool:
    """Whether a world is random: a run learned it, and did not predict all of it exactly."""
    examined = [run.examined for run in ended(runs) if run.examined is not None]
    return any(each["learned"] and each["exact"] < each["held_out"] for each in examined)


def _learned(runs: Sequence[Run], right: str) -> tuple[str, ...]:
    done = ended(runs)
    examined = [run.examined for run in done if run.examined is not None]
    shares = [each[right] / each["held_out"] for each in examined if each["held_out"]]
    return (
        f"{max(run.steps for run in runs):,}",
        summary(runs).replace("worst ", ""),
        f"{sum(map(converged, done))} of {len(done)}",
        f"{sum(map(has_learned, done))} of {len(done)}" if examined else "–",
        f"{share(median(shares))} ({share(min(shares))})" if shares else "–",
        _middle(done, "observe_us", 0.1),
        _middle(done, "predict_us", 0.1),
        _megabytes(done),
        statuses(runs),
    )


def statuses(runs: Sequence[Run]) -> str:
    """Return how many runs ended in each status, with the first message of stopped and failed."""
    kinds: dict[str, list[Run]] = {}
    for run in runs:
        kinds.setdefault(run.status, []).append(run)
    parts = []
    for status, group in kinds.items():
        why = f" ({group[0].message})" if status in ("stopped", "failed") else ""
        parts.append(f"{len(group)} {status}{why if group[0].message else ''}")
    return ", ".join(parts)


def share(value: float) -> str:
    """Return a share as text; "all" only if it is exactly 1."""
    return "all" if value == 1 else f"{math.floor(value * 1e4) / 1e4:.4f}"


def _middle(runs: Sequence[Run], column: str, part: float = 1.0) -> str:
    values = [value for run in runs if not math.isnan(value := time_of(run, column, part))]
    return number(median(values)) if values else "–"


def _megabytes(runs: Sequence[Run]) -> str:
    values = [value / 1e6 for run in runs if not math.isnan(value := final(run, "bytes"))]
    return number(median(values)) if values else "–"


def transfer(data: Data, name: str) -> Table:
    """Return errors and times in the larger world."""
    rows = []
    for label in data.labels(name):
        runs = data.runs(name, label)
        steps, last = f"{max(run.steps for run in runs):,}", summary(runs).replace("worst ", "")
        here = _middle(ended(runs), "predict_us", 0.1)
        *right, time = _there(ended(runs))
        rows.append((label, steps, last, *right, here, time, statuses(runs)))
    header = (
        "learner", "steps", "last error at 8 × 8, median (worst)",
        "error at 32 × 32, at the end, median (worst)", "without error there",
        "held-out exact there", "predict µs", "predict µs at 32 × 32", "runs",
    )  # fmt: skip
    return Table("", header, tuple(rows))


def transfer_worlds(data: Data, name: str) -> Table:
    """Return errors and times in the transfer worlds of an experiment."""
    groups: dict[tuple[str, str, str], list[Run]] = {}
    for run in data.runs(name):
        if run.transfer:
            groups.setdefault((run.world, transfer_world(run), run.label), []).append(run)
    header = (
        "learned in", "asked about", "learner", "error there, at the end, median (worst)",
        "without error there", "held-out exact there", "predict µs there",
    )  # fmt: skip
    return Table("", header, tuple((*who, *_there(ended(runs))) for who, runs in groups.items()))


def _there(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the errors and times of runs in their transfer world."""
    last = [float(y[-1]) for run in runs if len(y := measured(run, "transfer_error")[1])]
    return (
        f"{number(median(last))} ({number(max(last))})" if last else "–",
        f"{sum(each <= 1e-9 for each in last)} of {len(last)}",
        _exact_elsewhere(runs),
        _middle(runs, "transfer_us", 0.1),
    )


def _exact_elsewhere(runs: Sequence[Run]) -> str:
    examined = [run.examined_transfer for run in runs if run.examined_transfer is not None]
    exact = [each["exact"] / each["held_out"] for each in examined if each["held_out"]]
    return f"{share(median(exact))} ({share(min(exact))})" if exact else "–"


def planning(data: Data, name: str) -> Table:
    """Return one row for each world, setting and label."""
    worlds = list(dict.fromkeys(run.world for run in data.runs(name) if run.plans))
    several, rows = len(worlds) > 1, []
    for world in worlds:
        by_label = {label: played(data.runs(name, label, world)) for label in data.labels(name)}
        for setting in settings(data.runs(name, world=world)):
            for label, scores in by_label.items():
                if setting in scores:
                    first = (world,) if several else ()
                    rows.append((*first, setting, label, *_planned(scores[setting])))
    header = (
        *(("learned in",) if several else ()), "setting", "learner", "mean score", "deviation",
        "episodes", "optimal", "levels replaced", "optimum known", "planning ms, of an episode",
    )  # fmt: skip
    return Table("", header, tuple(rows))


def _planned(scores: EpisodeScores) -> tuple[str, ...]:
    episodes = len(scores.scores)
    return (
        f"{scores.mean:.3f}",
        f"{scores.deviation:.3f}",
        f"{episodes:,}",
        f"{scores.optimal / episodes:.0%}",
        f"{scores.redrawn:,}",
        "exactly" if not scores.bounded else f"{scores.bounded:,} times only bounded",
        number(scores.milliseconds),
    )


def neural(data: Data, name: str) -> Table:
    """Return one row for each learner. Without a network, zero error starts at the last error."""
    rows = []
    for label in data.labels(name):
        runs = data.runs(name, label)
        rows.append((label, f"{max(run.steps for run in runs):,}", *_zero(runs), statuses(runs)))
    header = (
        "learner", "steps", "error at the end", "longest without an error",
        "zero error from, median", "lost for good at, median", "error at 16 × 16, median",
        "observe µs", "predict µs", "predict µs at 16 × 16", "runs",
    )  # fmt: skip
    return Table("", header, tuple(rows))


def _zero(runs: Sequence[Run]) -> tuple[str, ...]:
    done = ended(runs)
    network = bool(done) and done[0].learner == TRAINED
    begin = [reached(run) if network else last_error(run) for run in done]
    end = [at for run in done if network and (at := lost(run)) is not None]
    late = [mean_of(run, "error", 0.1) for run in done]
    there = [float(each) for run in done for each in measured(run, "transfer_error")[1]]
    observe = [took for run in done if not math.isnan(took := mean_of(run, "observe_us"))]
    return (
        number(median(late)) if late else "–",
        f"{max(map(longest, done)):,}" if done else "–",
        str(estimate(begin).median) if begin else "–",
        str(estimate(end).median) if end else "–",
        number(median(there)) if there else "–",
        number(median(observe)) if observe else "–",
        _middle(done, "predict_us"),
        _middle(done, "transfer_us"),
    )


def neural_planning(data: Data, name: str) -> Table:
    """Return one row for each size and learner: scores at the end, and when they were best."""
    rows = []
    runs = {label: data.runs(name, label) for label in data.labels(name)}
    stages = {label: by_stage(group) for label, group in runs.items()}
    at_end = {label: played(group) for label, group in runs.items()}
    for setting in settings(data.runs(name)):
        for label, by_setting in at_end.items():
            if setting in by_setting:
                best = _best(stages[label], setting)
                end = by_setting[setting]
                cells = (str(end), best, f"{len(end.scores):,}", number(end.milliseconds))
                rows.append((setting, label, *cells))
    header = (
        "setting", "learner", "score at the end, mean ± deviation", "best mean score, and when",
        "episodes at the end", "planning ms, of an episode",
    )  # fmt: skip
    return Table("", header, tuple(rows))


def _best(stages: Stages, setting: str) -> str:
    stage = best_stage(stages, setting)
    return "–" if stage is None else f"{stages[stage][setting].mean:.2f} @{short(stage)}"


def inference(data: Data, name: str) -> Table:
    """Return our times and the paper's."""
    rows = []
    for world, column, title in INFERENCE_ROWS:
        times = [list(times_of(data, name, each, world, column).values()) for each in INFERENCE]
        ours = [number(median(each)) if each else "–" for each in times]
        ratios = speed_up(data, world, column, "both")
        rows.append((title, *ours, str(estimate(ratios)) if ratios else "–"))
        paper = PAPER_TIMES[title]
        rows.append((f"{title}, the paper's", *map(number, paper), number(paper[0] / paper[3])))
    header = ("world", *(f"{each}, µs" for each in INFERENCE), "none / both")
    return Table("", header, tuple(rows))


def complexity(data: Data, name: str) -> Table:
    """Return fits of the last error, one row for each label and form.

    For a run that did not converge, its number of observations is used, a lower bound.
    """
    rows = []
    for label in data.labels(name):
        runs = ended(data.runs(name, label))
        pairs = [pair_of(run.world) for run in runs]
        if len(set(pairs)) < 4:
            continue
        late = sum(not converged(run) for run in runs)
        steps = [max(1.0, last_error(run).low) for run in runs]
        logs = [math.log(each) for each in steps]
        product = fit([[p * c for p, c in pairs]], steps)
        apart = fit([[p for p, _ in pairs], [c for _, c in pairs]], steps)
        power = fit([[math.log(p) for p, _ in pairs], [math.log(c) for _, c in pairs]], logs)
        forms = (
            ("{} + {} · players · actions", product),
            ("{} + {} · players + {} · actions", apart),
            ("exp({}) · players^{} · actions^{}", power),
        )
        for form, each in forms:
            formula = form.format(*map(number, each.coefficients))
            rows.append((label, f"{len(runs)}", f"{late}", formula, f"{each.r_squared:.3f}"))
    header = ("learner", "runs", "not converged (bounds)", "last error =", "R²")
    return Table("", header, tuple(rows))


TABLES: dict[str, Callable[[Data, str], Table]] = {
    "curves": learning,
    "scale": learning,
    "baselines": learning,
    "branches": learning,
    "alpha": learning,
    "transfer": transfer,
    "inference": inference,
    "complexity": complexity,
    "planning": planning,
    "neural": neural,
    "neural-planning": neural_planning,
}
