"""Why a model predicts what it predicts: `model.explain(state, action)`.

    model, state, action -> [ explanation ] -> Explanation (text, dict, picture)

For each value that may change, an explanation has the tests that held or failed on the path through
its rule, with the objects they bound, the number of observations behind the answer, and the nearest
counterfactual.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.explain.path import Step, follow
from treethink.explain.rich_text import RichText
from treethink.explain.why.counterfactual import nearest
from treethink.explain.why.reason import Reason
from treethink.rules import Node, Rule, RuleKey, Value
from treethink.state import State
from treethink.text import many

if TYPE_CHECKING:
    from treethink.model import Prediction, TreeThink
    from treethink.worlds.draw.layout import Drawable

_MAX_UNCHANGED = 6
#: What to explain: all values that may change (None), one object, or one of its attributes.
Asked = int | tuple[int, str] | None


class Explanation(RichText):
    """Why a model predicts what it predicts, for one state and action.

    ``print`` shows it as text of 80 columns, and rich's own `print` in colour. A reason is looked
    up by object and attribute: ``explanation[50, "pos"]``.
    """

    def __init__(
        self,
        state: State,
        action: str,
        reasons: tuple[Reason, ...],
        unchanged: list[str] | None,
        unseen: int = 0,
    ):
        self.state = state
        self.action = action
        self.reasons = reasons
        self._unchanged, self._unseen = unchanged, unseen

    def __getitem__(self, key: tuple[int, str]) -> Reason:
        for each in self.reasons:
            if (each.object_id, each.attribute) == key:
                return each
        known = [f"{each.object_id}, {each.attribute}" for each in self.reasons]
        given = ", ".join(map(str, key)) if isinstance(key, tuple) else shown(key)
        raise UnknownNameError("reason", given, known, "the explanation")

    def __iter__(self) -> Iterator[Reason]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "action": self.action,
            "state": self.state.to_dict(),
            "reasons": [each.to_dict() for each in self.reasons],
        }

    def draw(self, path: str | os.PathLike[str], world: Drawable | None = None) -> None:
        """Draw the level to a .png file; the objects that tests asked about are outlined.

        If `world` is given, objects look as they do there.
        """
        from treethink.explain.why import overlay

        overlay.draw(self, path, world)

    def __rich__(self) -> Group:
        parts: list[Any] = [Text(self._heading()), *self.reasons]
        if self._unchanged:
            more = len(self._unchanged) - _MAX_UNCHANGED
            listed = "; ".join(self._unchanged[:_MAX_UNCHANGED])
            listed += f"; {more} more" if more > 0 else ""
            parts.append(Text(f"could have changed and does not: {listed}", style="dim"))
        if self._unseen:
            was, stays = ("was", "it stays") if self._unseen == 1 else ("were", "they stay")
            unseen = f"{many(self._unseen, 'value')} {was} never observed"
            parts.append(Text(f"{unseen}: assumed that {stays} the same"))
        return Group(*parts)

    def _heading(self) -> str:
        if self._unchanged is None:
            return self.action
        if not self.reasons:
            return f"{self.action}: nothing changes"
        return f"{self.action}: {many(len(self.reasons), 'value')} may change"

    def __repr__(self) -> str:
        return f"<Explanation of {self.action!r}: {many(len(self.reasons), 'value')}>"


def explain(model: TreeThink, state: State, action: str, of: Asked = None) -> Explanation:
    """Explain why the model predicts what it predicts.

    Without `of`, all values that may change are explained. `of` is an object's id, or an id and
    an attribute, (50, "pos"); values that do not change are then explained too.
    """
    prediction = model.predict(state, action)
    rules: dict[RuleKey, Rule] = {}

    def rule_of(object_id: int, attribute: str) -> Rule:
        key = (state[object_id].class_name, attribute, action)
        if key not in rules:
            rules[key] = model.rules[key]
        return rules[key]

    keys = _keys(prediction, of)
    reasons = tuple(_reason(prediction, rule_of(*key), *key) for key in keys)
    unchanged = _unchanged(model, state, action, {x for x, _ in keys}) if of is None else None
    unseen = _unseen(model, state, action) if of is None else 0
    return Explanation(state, action, reasons, unchanged, unseen)


def _unseen(model: TreeThink, state: State, action: str) -> int:
    """Count the values whose rule has never been seen under this action."""
    schema, rules = model.schema, model.rules
    objects = {name: len(state.of_class(name)) for name in schema.classes}
    return sum(
        objects[name]
        for name, attributes in schema.classes.items()
        for attribute in attributes
        if objects[name] and not rules[name, attribute, action].answers
    )


def _keys(prediction: Prediction, of: Asked) -> list[tuple[int, str]]:
    """Return the objects and attributes to explain."""
    if of is None:
        return sorted((x, attribute) for x, attribute, _ in prediction.changes())
    state = prediction.state
    if isinstance(of, tuple) and len(of) == 2 and isinstance(of[1], str):
        state.value(*of)  # raises an error for a name that does not exist
        return [(int(of[0]), of[1])]
    try:
        object_id = operator.index(of)  # accepts integers of numpy too
    except TypeError:
        raise WrongTypeError(
            f"of must be an object's id, or (id, attribute) such as (50, 'pos'), got {shown(of)}"
        ) from None
    return [(object_id, attribute) for attribute in state[object_id].values]


def _reason(prediction: Prediction, rule: Rule, object_id: int, attribute: str) -> Reason:
    state = prediction.state
    steps, leaf = follow(rule.root, state, object_id)
    outcomes: Mapping[Value, float] = prediction.outcomes(object_id, attribute)
    against = sum(n for outcome, n in leaf.met.items() if outcome not in leaf.counts)
    support = prediction.support(object_id, attribute)
    return Reason(
        state,
        object_id,
        attribute,
        outcomes,
        support,
        steps,
        bool(leaf.counts) and not leaf.written,
        nearest(state, steps, object_id, attribute, outcomes),
        support > 0 and not leaf.counts,
        _answering_node(steps, leaf).written,
        leaf.pinned,
        sum(leaf.met.values()),
        against,
    )


def _answering_node(steps: Sequence[Step], leaf: Node) -> Node:
    """Return the leaf or, if it is empty, the nearest node above it that is not."""
    above = [step.node for step in steps]
    return next((node for node in (leaf, *reversed(above)) if node.counts), leaf)


def _unchanged(model: TreeThink, state: State, action: str, changing: set[int]) -> list[str]:
    """Return the objects that do not change although a rule of their class depends on the state."""
    varying = [
        name
        for name, attributes in model.schema.classes.items()
        if state.of_class(name) and any(model.rules[name, m, action].varies for m in attributes)
    ]
    return [
        f"{class_name} {each.id}"
        for class_name in varying
        for each in state.of_class(class_name)
        if each.id not in changing
    ]
