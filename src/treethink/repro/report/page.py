"""The report as one HTML page, with pictures inside and without scripts.

Everything that comes from records is escaped: titles, labels and messages may hold anything.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from treethink.repro.report.claims import SETTINGS
from treethink.repro.report.markdown import (
    QUICK_NOTE,
    SUCH,
    counted,
    explanations,
    left_out,
)
from treethink.repro.report.sections import READING, Report, Section
from treethink.repro.report.tables import Table, claims, overview

_TYPES = {".svg": "image/svg+xml", ".png": "image/png"}
#: Columns that may begin with a verdict, and the words that do.
_JUDGED = ("confirmed", "ours", *SETTINGS.values())
_VERDICTS = ("yes", "no", "partly", "not")
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fcfbf8; --line: #d8d5cc;
  --soft: #6a6862; --link: #0a5c96; --yes: #1d6b3a; --no: #a5301f; --partly: #8a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e4de; --paper: #16171a; --line: #3a3c42; --soft: #a3a19a; --link: #7cc0f2;
    --yes: #7ed69b; --no: #ff9a8a; --partly: #f0c060; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 68rem; margin: 0 auto; padding: 1.5rem; }
h1 { line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
a { color: var(--link); } nav ol { columns: 20rem; column-gap: 3rem; padding-left: 1.4rem; }
pre { white-space: pre-wrap; }
figure { margin: 1rem 0; } figure img { display: block; width: 100%; height: auto;
  background: #fff; border-radius: 6px; padding: 6px; }
@media (prefers-color-scheme: dark) {
  figure img[src^="data:image/svg"] { filter: invert(.9) hue-rotate(180deg); } }
.many { display: flex; flex-wrap: wrap; gap: 14px; align-items: flex-end; }
.many span { color: var(--soft); font-size: .9rem; } .many img { width: auto; max-width: 100%;
  max-height: 34rem; }
figcaption, .soft { color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: .85rem; min-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem;
  border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: var(--paper); }
td { font-variant-numeric: tabular-nums; }
.yes { color: var(--yes); font-weight: 600; } .no { color: var(--no); font-weight: 600; }
.partly { color: var(--partly); font-weight: 600; } .not { color: var(--soft); font-weight: 600; }
.quick { border: 2px solid var(--partly); border-radius: 6px; padding: .6rem 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
"""


def page(report: Report, folder: Path) -> str:
    """Return the whole page. `folder` has the pictures."""
    quick = f'<p class="quick">{QUICK_NOTE}</p>' if report.facts.quick else ""
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in report.facts.lines
    )
    contents = "".join(
        f'<li><a href="#{_anchor(part.name)}">{escape(part.title)}</a>'
        f' <span class="soft">{escape(part.paper)}</span></li>'
        for part in report.parts
    )
    body = "".join(_section(part, folder) for part in report.parts)
    title = escape(report.title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{title}</h1>\n{quick}\n{_origin(report)}\n<dl>{facts}</dl>\n"
        f'<nav><h2>Contents</h2><ol><li><a href="#claims">Claims</a></li>{contents}</ol></nav>\n'
        f'<section id="claims"><h2>Claims</h2>{_claims(report)}</section>\n'
        f"<h2>Figures</h2><p>{escape(READING.replace('`', ''))}</p>\n{body}</body>\n</html>\n"
    )


def _origin(report: Report) -> str:
    records = escape(report.origin.records)
    sources = f"<p>Made by <code>treethink report</code> from the records of: {records}.</p>"
    if not report.origin.commands:
        return sources
    commands = "\n".join(report.origin.commands)
    return f"{sources}\n<p>{escape(SUCH)}</p><pre><code>{escape(commands)}</code></pre>"


def _claims(report: Report) -> str:
    tables = "".join(
        f"<h3>{escape(each.title)}</h3>{_table(each)}" for each in overview(report.claims)
    )
    notes = ""
    for title, texts in explanations(report.claims).items():
        items = "".join(f"<li>{escape(each)}</li>" for each in texts)
        notes += f"<h3>{escape(title)}</h3><ul>{items}</ul>"
    if report.left_out:
        notes += f"<p>{escape(left_out(report.left_out))}</p>"
    return f"<p>{escape(counted(report.claims))}</p>{tables}{notes}"


def _section(part: Section, folder: Path) -> str:
    images = [(_picture(folder / name, says), escape(says)) for name, says in part.pictures]
    pictures = "".join(picture for picture, _ in images)
    if len(images) > 1:
        pictures = "".join(f"<div>{picture}<span>{says}</span></div>" for picture, says in images)
        pictures = f'<div class="many">{pictures}</div>'
    below = "".join(_table(each) for each in part.tables if each.rows)
    if part.claims:
        below += f"<h3>What the paper says</h3>{_table(claims(part.claims))}"
    return (
        f'<section id="{_anchor(part.name)}"><h2>{escape(part.title)}</h2>\n'
        f"<figure>{pictures}<figcaption>{escape(part.paper)}. {escape(part.caption)}</figcaption>"
        f"</figure>{below}</section>\n"
    )


def _picture(path: Path, says: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(says)}" src="data:{_TYPES[path.suffix]};base64,{data}">'


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in table.header)
    judged = [name in _JUDGED for name in table.header]
    rows = "".join(f"<tr>{''.join(map(_cell, row, judged))}</tr>" for row in table.rows)
    return (
        f'<div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cell(cell: str, verdict: bool) -> str:
    word = cell.split(":")[0].split(" ")[0]
    mark = f' class="{word}"' if verdict and word in _VERDICTS else ""
    return f"<td{mark}>{escape(cell)}</td>"


def _anchor(name: str) -> str:
    return "figure-" + "".join(each if each.isalnum() else "-" for each in name)
