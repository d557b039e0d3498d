"""What a summary says to people: which tables it has, and which sentences.

summary -> [ sheets ] -> table (rich, text, HTML)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import Any

from treethink.explain.summary import table
from treethink.explain.summary.leaves import Leaf
from treethink.explain.summary.summary import RuleSummary, Summary
from treethink.explain.summary.table import Part, Table
from treethink.rules import distribution, title_of
from treethink.text import many, percent

MOST_RULES = 60  # in a table
MOST_LEAVES = 5  # that a model's summary lists: the least sure ones
MOST_NAMES = 8  # in a sentence
MOST_TESTS = 3  # of a path: the last ones, which lie nearest to the leaf


def text(summary: Summary | RuleSummary) -> str:
    """As plain text of 80 columns."""
    return table.text(_parts(summary))


def rich(summary: Summary | RuleSummary) -> Any:
    """For rich, which knows the terminal."""
    return table.group(_parts(summary))


def html(summary: Summary | RuleSummary) -> str:
    """For notebooks."""
    return table.page(_parts(summary))


def _parts(summary: Summary | RuleSummary) -> list[Part]:
    return of_rule(summary) if isinstance(summary, RuleSummary) else of_model(summary)


# ------------------------------------------------------------------------ what they say


def of_model(summary: Summary) -> list[Part]:
    """The rules that vary, the leaves to doubt first, what was never seen, what was dropped."""
    seen = many(summary.observations, "observation")
    varying = len(summary.varying)
    verb = "varies" if varying == 1 else "vary"
    vary = f"{varying:,} of {many(len(summary.rules), 'rule')} {verb}"
    parts: list[Part] = [f"{seen}, {vary}"]
    if summary.varying:
        parts += [rules_table(summary.varying), weakest_table(summary)]
    return [*parts, *_sentences(summary), _memory(summary)]


def of_rule(summary: RuleSummary) -> list[Part]:
    """All leaves of one rule."""
    seen = many(summary.observations, "observation")
    return [f"{summary.title}: {seen}", leaves_table("", summary.leaves, named=False)]


def rules_table(rules: Sequence[RuleSummary]) -> Table:
    """A row for each rule; of very many, the last counts the others."""
    rows = [_row(each) for each in rules[:MOST_RULES]]
    if more := len(rules) - len(rows):
        rows.append((f"… and {more:,} more", *[""] * 5))
    return Table("", ("rule", ">seen", ">outcomes", ">leaves", ">depth", ">least sure"), rows)


def _row(rule: RuleSummary) -> tuple[str, ...]:
    sizes = (rule.observations, len(rule.seen), len(rule.leaves), rule.depth)
    return (rule.title, *(f"{size:,}" for size in sizes), sure(rule.weakest))


def weakest_table(summary: Summary) -> Table:
    """The leaves that are the least sure, of rules that vary."""
    leaves = [leaf for each in summary.varying for leaf in each.leaves]
    chosen = sorted(leaves, key=lambda leaf: leaf.confidence)[:MOST_LEAVES]
    of = f"The {len(chosen)} least sure of {len(leaves):,} leaves"
    title = of if len(chosen) < len(leaves) else "Leaves, the least sure first"
    return leaves_table(title, chosen)


def leaves_table(title: str, leaves: Iterable[Leaf], named: bool = True) -> Table:
    """A row for each leaf: where it is, its likeliest outcome, and how sure that is."""
    rows = [(_where(leaf, named), *_seen(leaf)) for leaf in leaves]
    return Table(title, ("where", "outcome", ">seen", ">share", ">at least"), rows)


def _where(leaf: Leaf, named: bool) -> str:
    """The tests that lead to it; of very many, the last."""
    last = leaf.tests[-MOST_TESTS:]
    more = len(leaf.tests) - len(last)
    told = " and ".join(["…"] * bool(more) + [" ".join(t.split()) for t in last])
    if named:
        return f"{title_of(leaf.rule)}, if {told}" if told else title_of(leaf.rule)
    return told or "always"


def _seen(leaf: Leaf) -> tuple[str, str, str, str]:
    if leaf.outcome is None:
        return "never seen", "0", "", ""
    share = percent(leaf.count, leaf.total)
    if leaf.written:
        return str(leaf.outcome), "by hand", share, ""
    return str(leaf.outcome), f"{leaf.total:,}", share, sure(leaf)


def sure(leaf: Leaf) -> str:
    """Rounded down, as a lower bound must be; nothing can be said of what somebody wrote."""
    if leaf.written and leaf.counts:
        return "by hand"
    return f"{floor(1000 * leaf.confidence) / 10:.1f}%" if leaf.counts else "never seen"


# --------------------------------------------------------------------- in sentences


def _sentences(summary: Summary) -> list[str]:
    """What is true of this model, of all that might be said."""
    once = [f"{title_of(key)}: {outcome}" for key, outcome in summary.seen_once]
    found = [
        _constant(summary),
        _list("Actions never taken", summary.unseen_actions),
        _list("Classes never met", summary.unseen_classes),
        _list("Never seen together", [title_of(key) for key in summary.unseen_rules]),
        _list("Outcomes seen only once", once),
        _empty(sum(each.n_empty for each in summary.varying)),
        _list("Pinned, so that it does not learn", _pinned(summary)),
        _list("Came by although what is pinned says that it cannot", _against(summary)),
    ]
    return [each for each in found if each]


def _constant(summary: Summary) -> str:
    """Rules that have met one outcome only; if that was seldom, it is worth knowing."""
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
    more = len(names) - MOST_NAMES
    listed = "; ".join(names[:MOST_NAMES])
    return f"{what}: {listed}{f'; and {more:,} more' if more > 0 else ''}." if names else ""


def _pinned(summary: Summary) -> list[str]:
    """Rules that are pinned, or of which leaves are."""
    found = []
    for each in summary.rules.values():
        pinned = sum(leaf.pinned for leaf in each.leaves)
        part = "" if pinned == len(each.leaves) else f" ({pinned} of {len(each.leaves)} leaves)"
        found += [f"{each.title}{part}"] if pinned else []
    return found


def _against(summary: Summary) -> list[str]:
    return [
        f"{_where(leaf, named=True)}: {distribution(leaf.against)}, of {sum(leaf.met.values()):,}"
        for leaf in summary.leaves
        if leaf.against
    ]


def _empty(count: int) -> str:
    if not count:
        return ""
    return f"{many(count, 'leaf', 'leaves')} that no observation has reached yet."


def _memory(summary: Summary) -> str:
    """What the model holds, and what it has let go."""
    use = summary.memory
    holds = f"{many(use['nodes'], 'node')} and {many(use['candidates'], 'candidate')}"
    dropped = (
        f"{many(use['forgotten'], 'candidate')} dropped" if use["forgotten"] else "none dropped"
    )
    kept = _kept(use["kept"], use["no_longer_kept"], use["most_kept"])
    return f"Memory: {_bytes(use['bytes'])} for {holds}, {dropped}. {kept}"


def _kept(kept: int, gone: int, most: int) -> str:
    if not most:
        return "No transition is kept."
    if not gone:
        if kept == 1:
            return "The one transition is kept."
        return f"All {kept:,} transitions are kept." if kept else "No transition to keep yet."
    return f"The last {kept:,} transitions are kept, {gone:,} older ones no longer."


def _bytes(count: int) -> str:
    """A size for people: 1,234 bytes, 56 kB, 7.8 MB."""
    for unit, size in (("GB", 10**9), ("MB", 10**6)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count // 1000:,} kB" if count >= 10_000 else f"{count:,} bytes"
