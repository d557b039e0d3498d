"""Why a model predicts what it predicts: `model.explain(state, action)`.

    model, state, action -> [ explanation ] -> Explanation (text, dict, picture)

For each value that may change, an explanation has the tests that held or failed on the path through
its rule, with the objects they bound, the number of observations behind the answer, and the nearest
counterfactual.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text
from rich.tree import Tree

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.evaluation import rule_key
from treethink.explain.distributions import in_words, times_seen, to_json
from treethink.explain.english.phrases import Leaf
from treethink.explain.english.sentences import predicate_of
from treethink.explain.english.tests import statement, value_name
from treethink.explain.novelty import novelty_text
from treethink.explain.object_names import object_name
from treethink.explain.path import Step, follow, found_by
from treethink.explain.rich_text import RichText
from treethink.explain.why.counterfactual import Counterfactual, nearest
from treethink.feedback import predicted_feedback
from treethink.frames import CHANGE, JUMPS, Frame
from treethink.metrics import Distribution, each_change
from treethink.outcome_text import frame_text, value_text
from treethink.rules import FEEDBACK, Node, Rule, RuleKey
from treethink.state import State
from treethink.text import many

if TYPE_CHECKING:
    from treethink.model import Prediction, TreeThink
    from treethink.worlds.draw.layout import Drawable


_MAX_UNCHANGED = 6
#: What to explain: all values that may change (None), one object, one of its attributes, or
#: "reward" or "terminated".
Asked = int | tuple[int, str] | str | None


class Explanation(RichText):
    """Why a model predicts what it predicts, for one state and action.

    ``print`` shows it as text of 80 columns, and rich's own `print` in colour. A reason is looked
    up by object and attribute, ``explanation[50, "pos"]``, or as ``explanation["reward"]``.
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

    def __getitem__(self, key: tuple[int, str] | str) -> Reason:
        wanted = (None, key) if isinstance(key, str) else key
        for each in self.reasons:
            if (each.object_id, each.attribute) == wanted:
                return each
        known = [
            each.attribute if each.object_id is None else f"{each.object_id}, {each.attribute}"
            for each in self.reasons
        ]
        parts = key if isinstance(key, tuple) else (key,)
        given = ", ".join(part if isinstance(part, str) else shown(part) for part in parts)
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
        changing = sum(each.object_id is not None for each in self.reasons)
        if not changing:
            return f"{self.action}: nothing changes"
        return f"{self.action}: {many(changing, 'value')} may change"

    def __repr__(self) -> str:
        return f"<Explanation of {self.action!r}: {many(len(self.reasons), 'value')}>"


def explain(model: TreeThink, state: State, action: str, of: Asked = None) -> Explanation:
    """Explain why the model predicts what it predicts.

    Without `of`, all values that may change are explained, the reward unless it is surely 0, and
    the end if it may come. `of` is an object's id, an id and an attribute, (50, "pos"), "reward" or
    "terminated"; values that do not change are then explained too.
    """
    prediction = model.predict(state, action)
    rules: dict[RuleKey, Rule] = {}

    def rule_of(object_id: int | None, attribute: str) -> Rule:
        key = rule_key(state, object_id, attribute, action)
        if key not in rules:
            rules[key] = model.rules[key]
        return rules[key]

    keys = _keys(prediction, model.feedback, of)
    reasons = tuple(_reason(prediction, rule_of(*key), *key) for key in keys)
    changing = {x for x, _ in keys if x is not None}
    unchanged = _unchanged(model, state, action, changing) if of is None else None
    unseen = _unseen(model, state, action) if of is None else 0
    return Explanation(state, action, reasons, unchanged, unseen)


def _unseen(model: TreeThink, state: State, action: str) -> int:
    """Count the values whose rule has never been seen under this action."""
    schema, rules = model.schema, model.rules
    objects = {name: len(state.of_class(name)) for name in schema.classes}
    return sum(
        objects[name]
        for name in schema.classes
        for attribute in schema.predicted(name)
        if objects[name] and not rules[name, attribute, action].answers
    )


def _keys(
    prediction: Prediction, feedback: tuple[str, ...], of: Asked
) -> list[tuple[int | None, str]]:
    """Return the objects and attributes to explain; the object of rewards and ends is None."""
    if of is None:
        changing = sorted((x, attribute) for x, attribute, _ in each_change(prediction))
        known = ((name, predicted_feedback(prediction, name)[0]) for name in feedback)
        return [*changing, *((None, name) for name, values in known if any(values))]
    if isinstance(of, str) and of in FEEDBACK:
        if of not in feedback:
            raise UnknownNameError("reason", of, feedback, "the rewards and ends of the model")
        return [(None, of)]
    state = prediction.state
    if isinstance(of, tuple) and len(of) == 2 and isinstance(of[1], str):
        state.value(*of)  # raises an error for a name that does not exist
        return [(int(of[0]), of[1])]
    try:
        object_id = operator.index(of)  # type: ignore[arg-type]  # accepts integers of numpy too
    except TypeError:
        raise WrongTypeError(
            "of must be an object's id, or (id, attribute) such as (50, 'pos'), or 'reward' or"
            f" 'terminated', got {shown(of)}"
        ) from None
    class_name = state[object_id].class_name
    return [(object_id, attribute) for attribute in state.schema.predicted(class_name)]


def _reason(prediction: Prediction, rule: Rule, object_id: int | None, attribute: str) -> Reason:
    state = prediction.state
    steps, leaf = follow(rule.root, state, object_id)
    assert rule.frame is not None
    outcomes, support, novel = _answer(prediction, object_id, attribute)
    against = sum(n for outcome, n in leaf.met.items() if outcome not in leaf.counts)
    return Reason(
        state,
        object_id,
        attribute,
        outcomes,
        support,
        steps,
        bool(leaf.counts) and not leaf.written,
        nearest(state, steps, object_id, attribute, outcomes, rule.frame),
        support > 0 and not leaf.counts,
        _answering_node(steps, leaf).written,
        leaf.pinned,
        sum(leaf.met.values()),
        against,
        leaf.others,
        novel,
        rule.frame,
        _relative_words(rule, state, object_id, _answering_node(steps, leaf)),
    )


def _answer(
    prediction: Prediction, object_id: int | None, attribute: str
) -> tuple[Distribution, int, str]:
    """Return the outcomes, the observations behind them, and what was never seen."""
    if object_id is None:
        return *predicted_feedback(prediction, attribute), ""
    outcomes: Distribution = prediction.outcomes(object_id, attribute)
    novel = novelty_text(prediction, object_id, attribute)
    return outcomes, prediction.support(object_id, attribute), novel


def _relative_words(rule: Rule, state: State, object_id: int | None, node: Node) -> str:
    """Say what happens, if outcomes are relative to another attribute; else nothing."""
    assert rule.frame is not None
    assert rule.key is not None
    refers = not rule.frame.is_plain and (not rule.frame.changes or JUMPS in node.counts)
    if object_id is None or not refers or not node.counts:
        return ""
    if not rule.frame.new_values(state, object_id, rule.key[1], node.counts):
        return f"there is not exactly one {rule.frame.of}, so nothing is known"
    predicate = predicate_of(rule, without_owner=False)
    clause = predicate.clause(Leaf(node.counts, node.written, node.others), predicate.again)
    return f"so {clause}"


def _answering_node(steps: Sequence[Step], leaf: Node) -> Node:
    """Return the leaf or, if it is empty, the nearest node above it that is not."""
    above = [step.node for step in steps]
    return next((node for node in (leaf, *reversed(above)) if node.counts), leaf)


def _unchanged(model: TreeThink, state: State, action: str, changing: set[int]) -> list[str]:
    """Return the objects that do not change although a rule of their class depends on the state."""
    varying = [
        name
        for name in model.schema.classes
        if state.of_class(name)
        and any(model.rules[name, m, action].varies for m in model.schema.predicted(name))
    ]
    return [
        object_name(state, each.id)
        for class_name in varying
        for each in state.of_class(class_name)
        if each.id not in changing
    ]


# ----------------------------------------------------------------------------------------- reasons

_MAX_BOUND = 12


@dataclass(frozen=True, slots=True)
class Reason(RichText):
    """Why one attribute of one object is predicted to become what it becomes.

    The object of a reward or an end is None.
    `outcomes` are its new values with their chances, and `support` the observations behind them,
    unless they were `written` by hand. `steps` lead through the rule. If the leaf at their end has
    no observations, `seen` is False: the answer is then what was written there or, if nothing was
    (`borrowed`), that of the nearest branch above. A `pinned` leaf does not learn; `met` counts
    the observations since it was pinned, and `against` those that contradict it. `others` counts
    the observations of the leaf whose outcomes are not told apart (`max_outcomes`). `novel` says
    what the answer rests on that was never seen. `otherwise` is the nearest counterfactual. If the
    outcomes of the rule are relative to another attribute, that is its `frame`, and `relative`
    says what happens in words.
    """

    state: State = field(repr=False)
    object_id: int | None
    attribute: str
    outcomes: Distribution
    support: int
    steps: tuple[Step, ...] = field(repr=False)
    seen: bool
    otherwise: Counterfactual | None = field(repr=False)
    borrowed: bool = False
    written: bool = False
    pinned: bool = False
    met: int = 0
    against: int = 0
    others: int = 0
    novel: str = ""
    frame: Frame = CHANGE
    relative: str = ""

    @property
    def was(self) -> Any:
        """The value before; None for a reward or an end."""
        if self.object_id is None:
            return None
        return self.state.value(self.object_id, self.attribute)

    @property
    def bound(self) -> dict[str, tuple[int, ...]]:
        """The objects that each variable stands for at the end, by its name: X0, X1, ..."""
        first = () if self.object_id is None else (self.object_id,)
        last = self.steps[-1].after if self.steps else (first,)
        columns = zip(*last, strict=True)
        return {f"X{i}": _ids(column) for i, column in enumerate(columns)}

    @property
    def things(self) -> tuple[int, ...]:
        """The objects, of whatever class, that tests for something have found."""
        return tuple(dict.fromkeys(x for each in self.steps for x in found_by(self.state, each)))

    @property
    def title(self) -> str:
        """The prediction, in one line."""
        then = in_words(self.outcomes)
        if self.object_id is not None:
            stays = self.outcomes.keys() == {self.was}
            then = f"{'stays' if stays else f'{value_text(self.was)} ->'} {then}"
        subject = value_name(self.state, self.object_id, self.attribute)
        return f"{subject}: {then}, {times_seen(self.support, self.written)}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "object": self.object_id,
            "class": rule_key(self.state, self.object_id, self.attribute, "")[0],
            "attribute": self.attribute,
            "was": self.was,
            "outcomes": to_json(self.outcomes),
            "support": self.support,
            "seen": self.seen,
            "borrowed": self.borrowed,
            "written": self.written,
            "pinned": self.pinned,
            "met": self.met,
            "against": self.against,
            "novel": self.novel or None,
            "frame": frame_text(self.frame),
            "steps": [_step(self.state, each) for each in self.steps],
            "bound": {variable: list(ids) for variable, ids in self.bound.items()},
            "otherwise": None if self.otherwise is None else self.otherwise.to_dict(),
        }

    def _remark(self) -> str:
        """Return a remark about the leaf, if there is one to make."""
        if not self.support and self.others:
            times = f"{self.others:,} times" if self.others > 1 else "once"
            return f"seen {times} with outcomes that are not told apart: nothing is predicted"
        if not self.support and self.object_id is None:
            return "never observed: assumed to be none"
        if not self.support:
            return "never observed: assumed that it stays the same"
        if self.borrowed and self.others:
            return (
                f"seen {self.others:,} times with outcomes that are not told apart:"
                " the answer is that of the nearest node above"
            )
        if self.borrowed:
            return "never observed here: the answer is that of the nearest node above"
        if self.pinned:
            return f"pinned; {self._since_pinned()}"
        if self.written:
            return "used until there are observations"
        if self.novel:
            return self.novel
        if not self.steps and len(self.outcomes) == 1:
            return "the rule has seen no other outcome so far"
        if not self.steps:
            return "the rule has no test that tells these outcomes apart"
        return ""

    def _since_pinned(self) -> str:
        """Say what was observed since the leaf was pinned."""
        if not self.met:
            return "nothing observed since"
        verb = "was" if self.against <= 1 else "were"
        return f"{self.against or 'none'} of {self.met:,} since {verb} otherwise"

    def __rich__(self) -> Tree:
        tree = Tree(Text(self.title, style="bold"), guide_style="dim")
        for step in self.steps:
            answer = Text("yes  " if step.holds else "no   ", style=_colour(step.holds))
            branch = tree.add(answer + Text(statement(self.state, step), style="not bold"))
            branch.add(Text(str(step.test), style="dim"))
        if self.relative:
            tree.add(Text(self.relative))
        if remark := self._remark():
            tree.add(Text(remark))
        if self.otherwise is not None:
            tree.add(Text("otherwise  ", style="yellow") + self.otherwise.sentence(self.attribute))
        return tree


def _step(state: State, step: Step) -> dict[str, Any]:
    columns = zip(*step.after, strict=True)
    return {
        "test": str(step.test),
        "holds": step.holds,
        "words": statement(state, step),
        "bindings": len(step.after),
        "bound": {f"X{i}": list(_ids(c)[:_MAX_BOUND]) for i, c in enumerate(columns)},
        **({"something": list(found[:_MAX_BOUND])} if (found := found_by(state, step)) else {}),
    }


def _ids(column: tuple[int | None, ...]) -> tuple[int, ...]:
    """Return each object once, in order of first mention."""
    return tuple(dict.fromkeys(each for each in column if each is not None))


def _colour(holds: bool) -> str:
    return "green" if holds else "red"
