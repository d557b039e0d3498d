"""States, predictions and rules as HTML, for notebooks. Everything in it is escaped.

    state, prediction, rule -> [ html ] -> text of HTML

Colours of text and tables are the page's own, so that they can be read on light and dark ones;
pictures bring their own background.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treethink.explain import levels
from treethink.explain.summary import table
from treethink.explain.summary import tables as sheets
from treethink.explain.summary.summary import rules_of, summary_of
from treethink.explain.summary.table import Table
from treethink.explain.summary.tables import rules_table
from treethink.export import svg
from treethink.foldt import FOLDT
from treethink.model import TreeThink
from treethink.rules import Node, Rule, Rules, distribution
from treethink.state import State
from treethink.text import escaped, percent

MOST_ROWS = 60  # of objects, or of changes
MOST_OUTCOMES = 8  # of a leaf, or of a change; the others are counted together
MOST_DRAWN = 40  # leaves; a larger tree is a list that can be folded
OPEN = 4  # so deep, such a list is unfolded
_BESIDE = 'style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"'


# --------------------------------------------------------------------------- states


def state_html(state: State) -> str:
    """The picture of the level; if there is nothing to draw, a table of the objects."""
    if levels.has_places(state):
        return f"<div>{levels.picture(state)}</div>"
    return table.page([objects_table(state)])


def objects_table(state: State) -> Table:
    """A row for each object."""
    rows = [
        (str(each.id), each.class_name, ", ".join(f"{n} = {v}" for n, v in each.values.items()))
        for each in state
    ]
    return _cut(Table("", (">id", "class", "values"), rows))


def _cut(whole: Table) -> Table:
    """Not more rows than anyone would read; the last counts the others."""
    more = len(whole.rows) - MOST_ROWS
    if more <= 1:
        return whole
    last = ["…", f"and {more:,} more", *[""] * (len(whole.columns) - 2)]
    return Table(whole.title, whole.columns, [*whole.rows[:MOST_ROWS], last])


# ----------------------------------------------------------------------- predictions


def prediction_html(prediction: Any) -> str:
    """The level now and what most likely follows, and below a table of all that may change."""
    return _foreseen(prediction, [changes_table(prediction)], _unseen(prediction))


def uncounted_html(prediction: Any) -> str:
    """The same of a prediction that rests on no observations: how often is not said."""
    whole = changes_table(prediction)
    rows = [row[:-1] for row in whole.rows]
    return _foreseen(prediction, [Table(whole.title, whole.columns[:-1], rows)], [])


def _foreseen(prediction: Any, changes: list[Table], remarks: list[str]) -> str:
    state, pictures = prediction.state, ""
    if not prediction.changes():
        return table.page(["Nothing changes.", *remarks])
    if levels.has_places(state):
        both = (levels.picture(each) for each in (state, prediction.mode()))
        pictures = f"<div {_BESIDE}>{''.join(f'<div>{each}</div>' for each in both)}</div>"
    return f"<div>{pictures}{table.page([*changes, *remarks])}</div>"


def changes_table(prediction: Any) -> Table:
    """A row for each value that something may take, the likeliest first."""
    columns = (">id", "class", "attribute", "now", "next", ">chance", ">seen")
    return _cut(Table("", columns, list(_changes(prediction))))


def _changes(prediction: Any) -> Iterator[tuple[str, ...]]:
    state = prediction.state
    for x, attribute, chances in prediction.changes():
        now, seen = state.value(x, attribute), prediction.support(x, attribute)
        ordered = sorted(chances.items(), key=lambda each: (-each[1], each[0]))
        for i, (value, chance) in enumerate(ordered[:MOST_OUTCOMES]):
            what = (str(x), state[x].class_name, attribute, str(now)) if not i else ("",) * 4
            yield *what, str(value), percent(chance), "" if i else f"{seen:,}"
        if len(ordered) > MOST_OUTCOMES:
            rest = ordered[MOST_OUTCOMES:]
            share = sum(chance for _, chance in rest)
            yield *[""] * 4, f"{len(rest):,} others", percent(share), ""


def _unseen(prediction: Any) -> list[str]:
    """How much stands there only because nothing is known of it."""
    state = prediction.state
    asked = [prediction.support(each.id, name) for each in state for name in each.values]
    never = sum(not seen for seen in asked)
    if not never:
        return []
    return [f"Of {never:,} of {len(asked):,} attributes nothing is known; they stay as they are."]


# ----------------------------------------------------------------------------- rules


def rules_html(rules: Rules) -> str:
    """A table of the rules that vary, and how many do not."""
    varying = [each for each in rules_of(rules).values() if each.varies]
    parts: list[table.Part] = [f"{len(varying):,} of {len(rules):,} rules vary"]
    return table.page([*parts, rules_table(varying)] if varying else parts)


def rule_html(rule: Rule) -> str:
    """The tree, drawn; a large one as a list whose parts can be folded."""
    if rule.n_leaves <= MOST_DRAWN:
        return f'<div style="overflow-x:auto">{svg.text_of(rule)}</div>'
    return f"<div><b>{escaped(rule.title)}</b>{''.join(_nested(rule))}</div>"


def rule_svg(rule: Rule) -> str | None:
    """The tree, drawn; None if it is large, since notebooks keep all forms of what they show."""
    return svg.text_of(rule) if rule.n_leaves <= MOST_DRAWN else None


def _nested(rule: Rule) -> Iterator[str]:
    """Nodes in preorder, each within its parent; a stack, so that depth is no limit."""
    waiting: list[tuple[Node, str, int] | str] = [(rule.root, "", 0)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
            continue
        node, answer, depth = each
        if node.test is None or node.left is None or node.right is None:
            told = distribution(node.counts, MOST_OUTCOMES)
            yield f"<div>{answer}{escaped(told)}</div>"
            continue
        shown = ' open="open"' if depth < OPEN else ""
        yield f"<details{shown}><summary>{answer}{escaped(f'{node.test} ?')}</summary>"
        yield '<div style="margin-left:1.5em">'
        waiting.append("</div></details>")
        waiting += [(node.right, "<b>no:</b> ", depth + 1), (node.left, "<b>yes:</b> ", depth + 1)]


def tree_html(tree: FOLDT) -> str:
    """The rule of a tree that stands by itself."""
    return rule_html(tree.rule)


def tree_svg(tree: FOLDT) -> str | None:
    """The same, drawn."""
    return rule_svg(tree.rule)


# ---------------------------------------------------------------------------- models


def model_html(model: TreeThink) -> str:
    """Its summary."""
    return sheets.html(summary_of(model))
