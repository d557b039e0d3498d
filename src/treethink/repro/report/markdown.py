"""The report as Markdown: the same tables, and links to the plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from treethink.repro.report.claims import Judged
from treethink.repro.report.judges.common import YES
from treethink.repro.report.sections import READING, Report, Section
from treethink.repro.report.tables import Table, answer, claims, overview

_QUICK = (
    "These are quick runs: few seeds, few steps. They show that everything works, not what holds."
)
SUCH = "Such records of the paper's figures are made by:"
BETTER = "Where ours is better than the paper's number"
NOT_BORNE_OUT = "What is not borne out, or not quite, and why"
_SENTENCES = ("claim", "because", "runs")


def markdown(report: Report, plots: str = ".") -> str:
    """One page; `plots` is where the pictures are, seen from it."""
    folder = "" if plots == "." else f"{quote(plots)}/"
    lines = [f"# {plain(report.title)}", ""]
    if report.facts.quick:
        lines += [f"**{_QUICK}**", ""]
    lines += [*_introduction(report), *_claims(report)]
    lines += ["## Figures", "", READING, ""]
    for part in report.parts:
        lines += [*_section(part, folder)]
    lines += ["## How it was made", ""]
    lines += [f"- {plain(name)}: {plain(value)}" for name, value in report.facts.lines]
    return "\n".join(lines) + "\n"


def _introduction(report: Report) -> list[str]:
    what = "What our runs say of the paper's claims, and its figures as we find them."
    if not report.claims:
        what = "Tables and plots of an experiment."
    made = f"Made by `treethink report` from the records of: {plain(report.origin.records)}."
    lines = [what, made, ""]
    if report.origin.commands:
        lines += [SUCH, "", *("```sh", *report.origin.commands, "```"), ""]
    return lines


def _claims(report: Report) -> list[str]:
    found = report.claims
    lines = ["## Claims", "", counted(found), ""]
    for each in overview(found):
        lines += [f"### {plain(each.title)}", "", table(each), ""]
    for title, told in odd(found).items():
        lines += [f"### {title}", "", *(f"- {plain(text)}" for text in told), ""]
    if report.left_out:
        lines += [left_out(report.left_out), ""]
    return lines


def _section(part: Section, folder: str) -> Iterator[str]:
    yield from (f"### {plain(part.title)}", "")
    for name, says in part.pictures:
        yield from (f"![{plain(says)}]({folder}{quote(name)})", "")
        if len(part.pictures) > 1:
            yield from (f"*{plain(says)}*", "")
    yield from (f"{plain(part.paper)}. {plain(part.caption)}", "")
    for each in part.tables:
        if each.rows:
            yield from (table(each), "")
    if part.claims:
        yield from (table(claims(part.claims)), "")


def counted(found: Sequence[Judged]) -> str:
    """How many verdicts of each kind there are."""
    if not found:
        return "No claim of the paper is about these records."
    answers = [answer(each) for each in found]
    count = len({each.claim.text for each in found})
    kinds = ", ".join(f"{answers.count(each)} {each}" for each in sorted(set(answers)))
    return f"{len(found)} verdicts on {count} claims, some with two settings: {kinds}."


def left_out(claims: int) -> str:
    """Of how many claims nothing is said."""
    are = "claim of the paper is" if claims == 1 else "claims of the paper are"
    their = "its" if claims == 1 else "their"
    return f"{claims} {are} left out: {their} figures, or most of them, were not run."


def odd(found: Sequence[Judged]) -> dict[str, list[str]]:
    """What is to be explained, by heading: where ours is better, and what is not borne out."""
    told = {
        BETTER: reasons([each for each in found if each.verdict.better]),
        NOT_BORNE_OUT: reasons([each for each in found if not each.verdict.better]),
    }
    return {title: texts for title, texts in told.items() if texts}


def reasons(found: Sequence[Judged]) -> list[str]:
    """Why some claims are not borne out, or not quite; what two settings share is said once."""
    told: dict[str, list[str]] = {}
    for each in found:
        claim, verdict = each.claim, each.verdict
        if verdict.answer != YES:
            said = verdict.why.removeprefix("Not enough data: ")
            text = f"{claim.text} {answer(each).capitalize()}{{}}: {said}"
            told.setdefault(text, []).append(claim.setting)
    return [
        text.replace("{}", f", {' and '.join(settings)}" if all(settings) else "")
        for text, settings in told.items()
    ]


def table(shown: Table) -> str:
    """A table. Numbers stand to the right."""
    lines = [
        _row(shown.header),
        "|" + "|".join(_rule(shown, i) for i in range(len(shown.header))) + "|",
    ]
    return "\n".join(lines + [_row(row) for row in shown.rows])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _rule(shown: Table, column: int) -> str:
    if shown.header[column] in _SENTENCES:
        return "---"
    cells = [row[column] for row in shown.rows]
    numbers = bool(cells) and all(cell[:1].isdigit() or cell[:1] in "–><" for cell in cells)
    return "--:" if numbers else "---"


def plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("<", "&lt;").split())
