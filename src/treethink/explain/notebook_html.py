"""States, predictions, rules and models as HTML, for notebooks. All text is escaped.

Text and tables have the colours of the page, so that they can be read on light and dark ones;
pictures have their own background.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from treethink.explain.state_picture import has_places, state_svg
from treethink.explain.summary import tables
from treethink.explain.summary.summary import rules_of, summary_of
from treethink.explain.summary.tables import MAX_RULES, Part, Table, page, rules_table
from treethink.export import svg
from treethink.foldt import FOLDT
from treethink.metrics import each_change
from treethink.model import TreeThink
from treethink.outcome_text import value_text
from treethink.rules import Node, Rule, Rules, distribution
from treethink.state import State
from treethink.text import escaped, many, percent

MAX_ROWS = 60  # in a table of objects, or of changes
MAX_OUTCOMES = 8  # of a leaf, or of a change; the others are counted together
MAX_LEAVES_DRAWN = 40  # a larger tree is shown as a list that can be folded
OPEN_DEPTH = 4  # to this depth, such a list is unfolded
_SIDE_BY_SIDE = 'style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"'


# --------------------------------------------------------------------------- states


def state_html(state: State) -> str:
    """Return a picture of the level or, if no object has a position, a table of the objects."""
    if has_places(state):
        return f"<div>{state_svg(state)}</div>"
    return page([objects_table(state)])


def objects_table(state: State) -> Table:
    """Return a row for each object."""
    rows = [
        (
            str(each.id),
            each.class_name,
            ", ".join(f"{n} = {value_text(v)}" for n, v in each.values.items()),
        )
        for each in state
    ]
    return cut(Table("", (">id", "class", "values"), rows))


def cut(whole: Table) -> Table:
    """Return at most `MAX_ROWS` rows, and one that counts the others."""
    more = len(whole.rows) - MAX_ROWS
    if more <= 1:
        return whole
    last = ["…", f"and {more:,} more", *[""] * (len(whole.columns) - 2)]
    return Table(whole.title, whole.columns, [*whole.rows[:MAX_ROWS], last])


# ----------------------------------------------------------------------- predictions


def prediction_html(prediction: Any) -> str:
    """Return the level before and most likely after, and a table of all possible changes."""
    return _with_pictures(prediction, [changes_table(prediction)], _unseen(prediction))


def uncounted_html(prediction: Any) -> str:
    """Return the same for a prediction without observations: its table has no counts."""
    whole = changes_table(prediction)
    rows = [row[:-1] for row in whole.rows]
    return _with_pictures(prediction, [Table(whole.title, whole.columns[:-1], rows)], [])


def _with_pictures(prediction: Any, changes: list[Table], remarks: list[str]) -> str:
    state, pictures = prediction.state, ""
    if not prediction.changes():
        return page(["Nothing changes.", *remarks])
    if has_places(state):
        pictures = boards([("now", state), ("next, most likely", prediction.mode())])
    return f"<div>{pictures}{page([*changes, *remarks])}</div>"


def boards(captioned: Iterable[tuple[str, State]]) -> str:
    """Return pictures of states side by side, each below its caption; none without positions."""
    pictures = (
        f'<figure style="margin:0"><figcaption>{escaped(caption)}</figcaption>'
        f"{state_svg(state)}</figure>"
        for caption, state in captioned
        if has_places(state)
    )
    return f"<div {_SIDE_BY_SIDE}>{''.join(pictures)}</div>"


def changes_table(prediction: Any) -> Table:
    """Return a row for each possible new value, likeliest first."""
    columns = (">id", "class", "attribute", "now", "next", ">chance", ">seen")
    return cut(Table("", columns, list(_changes(prediction))))


def _changes(prediction: Any) -> Iterator[tuple[str, ...]]:
    state = prediction.state
    for x, attribute, chances in each_change(prediction):
        now, seen = state.value(x, attribute), prediction.support(x, attribute)
        ordered = sorted(chances.items(), key=lambda each: (-each[1], each[0]))
        for i, (value, chance) in enumerate(ordered[:MAX_OUTCOMES]):
            subject = (
                (str(x), state[x].class_name, attribute, value_text(now)) if not i else ("",) * 4
            )
            yield *subject, value_text(value), percent(chance), "" if i else f"{seen:,}"
        if len(ordered) > MAX_OUTCOMES:
            rest = ordered[MAX_OUTCOMES:]
            share = sum(chance for _, chance in rest)
            yield *[""] * 4, f"{len(rest):,} others", percent(share), ""


def _unseen(prediction: Any) -> list[str]:
    """Say how many attributes stay as they are only because nothing is known about them."""
    state = prediction.state
    predicted = state.schema.predicted
    support = [
        prediction.support(each.id, name) for each in state for name in predicted(each.class_name)
    ]
    never = sum(not seen for seen in support)
    if not never:
        return []
    return [f"Nothing is known about {never:,} of {len(support):,} attributes; they stay the same."]


# ----------------------------------------------------------------------------- rules


def rules_html(rules: Rules) -> str:
    """Return how many rules vary, a table of them, and each of them to be unfolded."""
    varying = [each for each in rules_of(rules).values() if each.varies]
    parts: list[Part] = [f"{len(varying):,} of {len(rules):,} rules vary"]
    table = page([*parts, rules_table(varying)] if varying else parts)
    return f"<div>{table}{expandable(rules)}</div>"


def expandable(rules: Rules) -> str:
    """Return each rule that varies, folded: its title opens it."""
    shown = [*rules.varying().values()]
    folded = "".join(map(_folded, shown[:MAX_RULES]))
    more = len(shown) - MAX_RULES
    return folded + (f"<p>and {more:,} more rules</p>" if more > 0 else "")


def _folded(rule: Rule) -> str:
    leaves = f"{many(rule.n_leaves, 'leaf', 'leaves')}, depth {rule.depth}"
    title = f"<summary><b>{escaped(rule.title)}</b> ({leaves})</summary>"
    tree = "".join(_nested(rule))
    return f'<details>{title}<div style="margin-left:1.5em">{tree}</div></details>'


def rule_html(rule: Rule) -> str:
    """Return the tree as a picture; a large one as a list whose parts can be folded."""
    if rule.n_leaves <= MAX_LEAVES_DRAWN:
        return f'<div style="overflow-x:auto">{svg.text_of(rule)}</div>'
    return f"<div><b>{escaped(rule.title)}</b>{''.join(_nested(rule))}</div>"


def rule_svg(rule: Rule) -> str | None:
    """Return the tree as a picture; None if it is large, since notebooks store every form."""
    return svg.text_of(rule) if rule.n_leaves <= MAX_LEAVES_DRAWN else None


def _nested(rule: Rule) -> Iterator[str]:
    """Yield nodes in preorder, each within its parent; uses a stack, so that depth is no limit."""
    pending: list[tuple[Node, str, int] | str] = [(rule.root, "", 0)]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
            continue
        node, answer, depth = each
        if node.test is None or node.left is None or node.right is None:
            outcomes = distribution(node.counts, rule.attribute, rule.frame, MAX_OUTCOMES)
            yield f"<div>{answer}{escaped(outcomes)}</div>"
            continue
        unfolded = ' open="open"' if depth < OPEN_DEPTH else ""
        yield f"<details{unfolded}><summary>{answer}{escaped(f'{node.test} ?')}</summary>"
        yield '<div style="margin-left:1.5em">'
        pending.append("</div></details>")
        pending += [(node.right, "<b>no:</b> ", depth + 1), (node.left, "<b>yes:</b> ", depth + 1)]


def tree_html(tree: FOLDT) -> str:
    """Return the rule of a single tree."""
    return rule_html(tree.rule)


def tree_svg(tree: FOLDT) -> str | None:
    """Return the rule of a single tree as a picture."""
    return rule_svg(tree.rule)


# ---------------------------------------------------------------------------- models


def model_html(model: TreeThink) -> str:
    """Return the summary of a model, and each rule that varies to be unfolded."""
    return f"<div>{tables.html(summary_of(model))}{expandable(model.rules)}</div>"
