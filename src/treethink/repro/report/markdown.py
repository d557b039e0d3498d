"""The report as Markdown: tables, and links to the plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

from treethink.repro.report.claims import JudgedClaim
from treethink.repro.report.judges.common import YES
from treethink.repro.report.sections import READING, Report, Section
from treethink.repro.report.tables import Table, answer, claims, overview

QUICK_NOTE = (
    "These are quick runs: few seeds, few steps. They show that everything runs, but not which"
    " claims hold."
)
SUCH = "To make such records of the paper's figures:"
BETTER = "Our result is better than the paper's"
NOT_CONFIRMED = "Claims that are not confirmed, or only partly, and why"
_SENTENCES = ("claim", "reason", "runs")


def markdown(report: Report, plots: str = ".") -> str:
    """Return the page; `plots` is the path from it to the pictures."""
    folder = "" if plots == "." else f"{quote(plots)}/"
    lines = [f"# {plain(report.title)}", ""]
    if report.facts.quick:
        lines += [f"**{QUICK_NOTE}**", ""]
    lines += [*_introduction(report), *_claims(report)]
    lines += ["## Figures", "", READING, ""]
    for part in report.parts:
        lines += [*_section(part, folder)]
    lines += ["## How it was made", ""]
    lines += [f"- {plain(name)}: {plain(value)}" for name, value in report.facts.lines]
    return "\n".join(lines) + "\n"


def _introduction(report: Report) -> list[str]:
    content = "The paper's claims and figures, tested and reproduced with our runs."
    if not report.claims:
        content = "Tables and plots of an experiment."
    sources = f"Made by `treethink report` from the records of: {plain(report.origin.records)}."
    lines = [content, sources, ""]
    if report.origin.commands:
        lines += [SUCH, "", *("```sh", *report.origin.commands, "```"), ""]
    return lines


def _claims(report: Report) -> list[str]:
    lines = ["## Claims", "", counted(report.claims), ""]
    for each in overview(report.claims):
        lines += [f"### {plain(each.title)}", "", table(each), ""]
    for title, texts in explanations(report.claims).items():
        lines += [f"### {title}", "", *(f"- {plain(text)}" for text in texts), ""]
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


def counted(verdicts: Sequence[JudgedClaim]) -> str:
    """Return how many verdicts of each kind there are."""
    if not verdicts:
        return "No claim of the paper is about these records."
    answers = [answer(each) for each in verdicts]
    count = len({each.claim.text for each in verdicts})
    kinds = ", ".join(f"{answers.count(each)} {each}" for each in sorted(set(answers)))
    return f"{len(verdicts)} verdicts on {count} claims, some with two settings: {kinds}."


def left_out(claims: int) -> str:
    """Return a sentence about the claims that are not judged."""
    are = "claim of the paper is" if claims == 1 else "claims of the paper are"
    their = "its" if claims == 1 else "their"
    return f"{claims} {are} left out: {their} figures, or most of them, were not run."


def explanations(verdicts: Sequence[JudgedClaim]) -> dict[str, list[str]]:
    """Return texts by heading: where our number is better, and what is not confirmed."""
    by_heading = {
        BETTER: reasons([each for each in verdicts if each.verdict.better]),
        NOT_CONFIRMED: reasons([each for each in verdicts if not each.verdict.better]),
    }
    return {title: texts for title, texts in by_heading.items() if texts}


def reasons(verdicts: Sequence[JudgedClaim]) -> list[str]:
    """Return why claims are not confirmed, or only partly; one text if both settings agree."""
    by_text: dict[str, list[str]] = {}
    for each in verdicts:
        claim, verdict = each.claim, each.verdict
        if verdict.answer != YES:
            why = verdict.why.removeprefix("Not enough data: ")
            text = f"{claim.text} {answer(each).capitalize()}{{}}: {why}"
            by_text.setdefault(text, []).append(claim.setting)
    return [
        text.replace("{}", f", {' and '.join(settings)}" if all(settings) else "")
        for text, settings in by_text.items()
    ]


def table(content: Table) -> str:
    """Return a table in Markdown, with numbers aligned to the right."""
    columns = range(len(content.header))
    lines = [
        _row(content.header),
        "|" + "|".join(_rule(content, i) for i in columns) + "|",
    ]
    return "\n".join(lines + [_row(row) for row in content.rows])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def _rule(content: Table, column: int) -> str:
    if content.header[column] in _SENTENCES:
        return "---"
    cells = [row[column] for row in content.rows]
    numbers = bool(cells) and all(cell[:1].isdigit() or cell[:1] in "–><" for cell in cells)
    return "--:" if numbers else "---"


def plain(text: str) -> str:
    """Escape a text for Markdown."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("<", "&lt;").split())
