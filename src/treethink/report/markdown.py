"""The report as Markdown: the same tables, and links to the plots."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from treethink.report.manifest import Facts
from treethink.report.sections import Section
from treethink.report.tables import Table, claims

_QUICK = (
    "These are quick runs: few seeds, few steps. They show that everything works, not what holds."
)


def markdown(
    title: str, facts: Facts, all_claims: Table, parts: Sequence[Section], plots: str = "."
) -> str:
    """One page; `plots` is where the pictures are, seen from it."""
    folder = "" if plots == "." else f"{quote(plots)}/"
    lines = [f"# {plain(title)}", ""]
    if facts.quick:
        lines += [f"**{_QUICK}**", ""]
    lines += ["Made by `treethink report` from records alone.", ""]
    lines += [f"- {plain(name)}: {plain(value)}" for name, value in facts.lines]
    lines += ["", "## Claims", "", counted(all_claims), ""]
    if all_claims.rows:
        lines += [table(all_claims), ""]
    for part in parts:
        lines += [f"## {plain(part.title)}", "", f"{plain(part.paper)}. {plain(part.caption)}", ""]
        lines += [f"![{plain(says)}]({folder}{name})" for name, says in part.pictures] + [""]
        for each in part.tables:
            if each.rows:
                lines += [table(each), ""]
        if part.claims:
            lines += [table(claims(part.claims)), ""]
    return "\n".join(lines)


def counted(all_claims: Table) -> str:
    """How many verdicts of each kind there are."""
    answers = [row[4] for row in all_claims.rows]
    if not answers:
        return "No claim of the paper is about these records."
    kinds = sorted(set(answers))
    return f"{len(answers)} claims: " + ", ".join(f"{answers.count(k)} {k}" for k in kinds) + "."


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
    cells = [row[column] for row in shown.rows]
    numbers = bool(cells) and all(cell[:1].isdigit() or cell[:1] in "–><" for cell in cells)
    return "--:" if numbers else "---"


def plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.replace("<", "&lt;").split())
