"""A summary as tables and sentences, printed as plain text, by rich or as HTML.

    summary -> [ tables ] -> text, rich, HTML

Names of classes and actions may be anything. So characters that cannot be printed are escaped, rich
never reads them as markup, and HTML is escaped. `Table` and `page` serve other notebook output too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from treethink.explain.rich_text import plain
from treethink.explain.summary.leaves import Leaf
from treethink.explain.summary.summary import RuleSummary, Summary
from treethink.frames import Outcome
from treethink.outcome_text import outcome_text
from treethink.rules import distribution, title_of
from treethink.text import escaped, many, percent, printable

MAX_RULES = 60  # in a table
MAX_LEAVES = 5  # in a model's summary: the least certain ones
MAX_NAMES = 8  # in a sentence
MAX_TESTS = 3  # of a path: the last ones, nearest to the leaf
_LEFT, _RIGHT = (f"padding:0 0.6em;text-align:{side}" for side in ("left", "right"))
_CAPTION = 'style="caption-side:top;text-align:left;font-weight:bold"'


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text below a header; columns whose name begins with > are right-aligned.

    >>> table = Table("Lamps", ("name", ">watts"), [("<b>", "40")])
    >>> print(plain(table))
    Lamps
     name   watts
    ──────────────
     <b>       40
    >>> "&lt;b&gt;</td>" in table.html()
    True
    """

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    def __rich__(self) -> Any:
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(
            title=Text(printable(self.title), style="bold") if self.title else None,
            title_justify="left",
            title_style="",
            box=box.SIMPLE_HEAD,
            show_edge=False,
        )
        for name in self.columns:
            justify: Any = "right" if name[0] == ">" else "left"
            table.add_column(Text(name.lstrip(">")), justify=justify, overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        return table

    def html(self) -> str:
        """Return an HTML table in the page's own colours."""
        styles = [_RIGHT if name[0] == ">" else _LEFT for name in self.columns]
        head = _cells("th", [name.lstrip(">") for name in self.columns], styles)
        body = "".join(f"<tr>{_cells('td', row, styles)}</tr>" for row in self.rows)
        title = f"<caption {_CAPTION}>{escaped(self.title)}</caption>" if self.title else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


Part = Table | str
"""A table, or a sentence."""


def _cells(tag: str, row: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(
        f'<{tag} style="{style}">{escaped(cell)}</{tag}>'
        for cell, style in zip(row, styles, strict=True)
    )


def group(parts: Iterable[Part]) -> Any:
    """Return the parts for rich, with an empty line between them."""
    from rich.console import Group
    from rich.text import Text

    lines: list[Any] = []
    for part in parts:
        lines += [Text("")] if lines else []
        lines.append(Text(printable(part)) if isinstance(part, str) else part)
    return Group(*lines)


def page(parts: Iterable[Part]) -> str:
    """Return the parts as HTML."""
    html = (f"<p>{escaped(p)}</p>" if isinstance(p, str) else p.html() for p in parts)
    return f"<div>{''.join(html)}</div>"


# ------------------------------------------------------------------------ a summary


def text(summary: Summary | RuleSummary) -> str:
    """Return the summary as plain text of 80 columns."""
    return plain(rich(summary)).rstrip()


def rich(summary: Summary | RuleSummary) -> Any:
    """Return the summary for rich, which knows the width of the terminal."""
    return group(_parts(summary))


def html(summary: Summary | RuleSummary) -> str:
    """Return the summary for notebooks."""
    return page(_parts(summary))


def _parts(summary: Summary | RuleSummary) -> list[Part]:
    return of_rule(summary) if isinstance(summary, RuleSummary) else of_model(summary)


def of_model(summary: Summary) -> list[Part]:
    """List varying rules, the least certain leaves, what was never seen, and what was dropped."""
    seen = many(summary.observations, "observation")
    varying = len(summary.varying)
    verb = "varies" if varying == 1 else "vary"
    vary = f"{varying:,} of {many(len(summary.rules), 'rule')} {verb}"
    parts: list[Part] = [f"{seen}, {vary}"]
    if summary.varying:
        parts += [rules_table(summary.varying), weakest_table(summary)]
    return [*parts, *_sentences(summary), _size(summary)]


def of_rule(summary: RuleSummary) -> list[Part]:
    """List all leaves of one rule."""
    seen = many(summary.observations, "observation")
    return [f"{summary.title}: {seen}", leaves_table("", summary.leaves, named=False)]


def rules_table(rules: Sequence[RuleSummary]) -> Table:
    """Return a row for each rule; if there are very many, the last row counts the others."""
    rows = [_row(each) for each in rules[:MAX_RULES]]
    if more := len(rules) - len(rows):
        rows.append((f"… and {more:,} more", *[""] * 5))
    return Table("", ("rule", ">seen", ">outcomes", ">leaves", ">depth", ">least sure"), rows)


def _row(rule: RuleSummary) -> tuple[str, ...]:
    sizes = (rule.observations, len(rule.seen), len(rule.leaves), rule.depth)
    return (rule.title, *(f"{size:,}" for size in sizes), certainty(rule.weakest))


def weakest_table(summary: Summary) -> Table:
    """Return the least certain leaves of rules that vary."""
    leaves = [leaf for each in summary.varying for leaf in each.leaves]
    chosen = sorted(leaves, key=lambda leaf: leaf.confidence)[:MAX_LEAVES]
    of = f"The {len(chosen)} least sure of {len(leaves):,} leaves"
    title = of if len(chosen) < len(leaves) else "Leaves, the least sure first"
    return leaves_table(title, chosen)


def leaves_table(title: str, leaves: Iterable[Leaf], named: bool = True) -> Table:
    """Return a row for each leaf: its path, its likeliest outcome, and how certain that is."""
    rows = [(_where(leaf, named), *_seen(leaf)) for leaf in leaves]
    return Table(title, ("where", "outcome", ">seen", ">share", ">at least"), rows)


def _where(leaf: Leaf, named: bool) -> str:
    """Return the tests that lead to the leaf; if there are very many, the last ones."""
    last = leaf.tests[-MAX_TESTS:]
    more = len(leaf.tests) - len(last)
    tests = " and ".join(["…"] * bool(more) + [" ".join(t.split()) for t in last])
    if named:
        return f"{title_of(leaf.rule)}, if {tests}" if tests else title_of(leaf.rule)
    return tests or "always"


def _seen(leaf: Leaf) -> tuple[str, str, str, str]:
    if leaf.outcome is None:
        return "never seen", "0", "", ""
    share = percent(leaf.count, leaf.total)
    if leaf.written:
        return leaf.outcome_text, "by hand", share, ""
    return leaf.outcome_text, f"{leaf.total:,}", share, certainty(leaf)


def certainty(leaf: Leaf) -> str:
    """Return the lower bound, rounded down; a leaf that was written by hand has none."""
    if leaf.written and leaf.counts:
        return "by hand"
    return f"{floor(1000 * leaf.confidence) / 10:.1f}%" if leaf.counts else "never seen"


# --------------------------------------------------------------------- in sentences


def _sentences(summary: Summary) -> list[str]:
    """Return the sentences that apply to this model."""
    once = [
        f"{title_of(key)}: {_outcome(summary.rules[key], outcome)}"
        for key, outcome in summary.seen_once
    ]
    sentences = [
        _constant(summary),
        _list("Looks like noise", _noise(summary)),
        _list("Actions never taken", summary.unseen_actions),
        _list("Classes never seen", summary.unseen_classes),
        _list("Never seen together", [title_of(key) for key in summary.unseen_rules]),
        _list("Outcomes seen only once", once),
        _empty(sum(each.n_empty for each in summary.varying)),
        _list("Pinned (does not learn)", _pinned(summary)),
        _list("Observed although a pinned leaf says that it is impossible", _against(summary)),
        _never_compared(summary),
    ]
    return [each for each in sentences if each]


def _outcome(rule: RuleSummary, outcome: Outcome) -> str:
    return outcome_text(outcome, rule.attribute, rule.frame)


def _constant(summary: Summary) -> str:
    """Count the rules that have seen one outcome, and name the one with the fewest observations."""
    constant = [each for each in summary.rules.values() if not each.varies and each.transitions]
    if not constant:
        return ""
    least = min(constant, key=lambda each: each.observations)
    times = many(least.observations, "observation")
    return (
        f"{many(len(constant), 'rule')} never varied; the least seen of them,"
        f" {least.title}, in {times}."
    )


def _list(what: str, names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    listed = "; ".join(names[:MAX_NAMES])
    return f"{what}: {listed}{f'; and {more:,} more' if more > 0 else ''}." if names else ""


def _noise(summary: Summary) -> list[str]:
    return [f"{each.title}, {len(each.seen):,} different outcomes" for each in summary.noise]


def _pinned(summary: Summary) -> list[str]:
    """Return the rules that are pinned, or have pinned leaves."""
    titles = []
    for each in summary.rules.values():
        pinned = sum(leaf.pinned for leaf in each.leaves)
        part = "" if pinned == len(each.leaves) else f" ({pinned} of {len(each.leaves)} leaves)"
        titles += [f"{each.title}{part}"] if pinned else []
    return titles


def _against(summary: Summary) -> list[str]:
    return [
        f"{_where(leaf, named=True)}: {distribution(leaf.against, leaf.attribute, leaf.frame)},"
        f" of {sum(leaf.met.values()):,}"
        for leaf in summary.leaves
        if leaf.against
    ]


def _never_compared(summary: Summary) -> str:
    """Name attributes that may mean the same, with what to write then."""
    pairs = [
        f'{a} and {b} (like="{b}" for {a}, if they mean the same)'
        for a, b in summary.never_compared
    ]
    return _list("Never compared, with values in common", pairs)


def _empty(count: int) -> str:
    if not count:
        return ""
    return f"{many(count, 'leaf', 'leaves')} that no observation has reached yet."


def _size(summary: Summary) -> str:
    """Say how large the model is, which transitions it keeps, and what it has dropped."""
    use = summary.memory
    holds = f"{many(use['nodes'], 'node')} and {many(use['candidates'], 'candidate')}"
    dropped = (
        f"{many(use['forgotten'], 'candidate')} dropped" if use["forgotten"] else "none dropped"
    )
    kept = _kept(use["kept"], use["no_longer_kept"], use["most_kept"])
    return f"Size: {_bytes(use['bytes'])} for {holds}, {dropped}. {kept}"


def _kept(kept: int, dropped: int, most: int) -> str:
    if not most:
        return "No transition is kept."
    if not dropped:
        if kept == 1:
            return "The one transition is kept."
        return f"All {kept:,} transitions are kept." if kept else "No transition to keep yet."
    return f"The last {kept:,} transitions are kept, {dropped:,} older ones no longer."


def _bytes(count: int) -> str:
    """Return a readable size: 1,234 bytes, 56 kB, 7.8 MB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count // 1000:,} kB" if count >= 10_000 else f"{count:,} bytes"
