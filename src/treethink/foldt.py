"""TreeLearn by itself: one first-order logical decision tree over objects of your choice.

    state -> facts -> [ FOLDT ] -> distribution over outcomes

In:   the facts of a state, the ids of the objects in question, and what was observed of them.
Out:  probabilities of outcomes, and the tree as a `Rule`.

`TreeThink` (model.py) has such a tree for every class, attribute and action of a world.
"""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from treethink import _engine
from treethink._engine import State
from treethink.errors import (
    NoiseWarning,
    SettingError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.fork_lock import ForkLock
from treethink.model import (
    DEFAULT_CRITERION,
    DEFAULT_MAX_CANDIDATES,
    DEFAULT_MAX_OUTCOMES,
    check_settings,
)
from treethink.rules import OTHERS, Rule
from treethink.state import Schema
from treethink.text import printable

__all__ = ["FOLDT", "Facts"]

_NOT_TOLD_APART = -1  # the number of all outcomes beyond max_outcomes


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a state, for a tree to learn from or to predict with.

    With ``mode="demand"`` a fact is looked up when a test needs it; with ``"full"`` all facts are
    extracted first. Both give the same predictions.
    """

    state: State
    mode: str = "demand"

    def __post_init__(self) -> None:
        if not isinstance(self.state, State):
            raise WrongTypeError(f"facts must be of a State, got {self.state!r}")
        if self.mode not in ("demand", "full"):
            raise UnknownNameError("way to find facts", str(self.mode), ("demand", "full"), "Facts")


class FOLDT:
    """TreeLearn by itself: one first-order logical decision tree over given objects.

    `arg_classes` are the classes of the objects that the tree is about. The other settings are
    those of `TreeThink`, except that `memory` must be 0: a tree by itself keeps no transitions, so
    new nodes start empty. Outcomes may be any hashable values. As a rule does, it tells
    `max_outcomes` of them apart, and a `NoiseWarning` says once that there were more.

    Examples
    --------
    >>> import itertools
    >>> from treethink import Object, Schema, State
    >>> schema = Schema({"player": ["pos"], "wall": ["pos"]}, {"pos": 1}, [])
    >>> tree = FOLDT(arg_classes=["player"])
    >>> for here, wall in 2 * list(itertools.product(range(8), range(8))):
    ...     state = State(schema, [Object(1, "player", pos=here), Object(2, "wall", pos=wall)])
    ...     tree.observe(Facts(state), [1], "bump" if wall == here + 1 else "walk")
    >>> tree.predict(Facts(state), [1])
    {'walk': 1.0}
    >>> print(tree.rule)
    tree    X0: player
    ∃ X1: wall.  X1[pos] - X0[pos] = 1 ?
    ├─ yes: bump × 11
    └─ no:  walk × 97
    """

    _has_warned = False  # of more outcomes than are told apart

    def __init__(
        self,
        arg_classes: Sequence[str],
        *,
        alpha: float = 0.01,
        criterion: str = DEFAULT_CRITERION,
        memory: int = 0,
        max_candidates: int = DEFAULT_MAX_CANDIDATES,
        max_outcomes: int = DEFAULT_MAX_OUTCOMES,
        **ablation: bool,
    ):
        self.arg_classes = _check_classes(arg_classes)
        self._settings = check_settings(
            alpha, criterion, memory, ablation, max_candidates, max_outcomes
        )
        if self._settings.pop("memory"):
            raise SettingError(f"memory must be 0: a FOLDT keeps no transitions, got {memory}")
        self._tree: _engine.Foldt | None = None
        self._schema: Schema | None = None
        self._lock = ForkLock()
        self._outcomes: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}

    def observe(self, facts: Facts | State, args: Sequence[int], outcome: Hashable) -> None:
        """Learn that `outcome` was observed for the objects with ids `args`."""
        facts = _as_facts(facts)
        ids = _ids(facts.state, args)
        with self._lock:
            tree = self._tree or self._new_tree(facts.state.schema)
            # Numbered before it is learned: another thread may get it in a prediction at once.
            known = len(self._outcomes)
            number = self._number_of(outcome)
            try:
                tree.observe(facts.state, ids, number)
            except TreeThinkError:  # refused: it has no number
                self._forget_outcomes(known)
                raise
            self._schema = facts.state.schema
            self._tree = tree
            is_first = number == _NOT_TOLD_APART and not self._has_warned
            self._has_warned |= is_first
        if is_first:  # after the lock: a warning can be an error, or run code
            self._warn_of_noise()

    def _warn_of_noise(self) -> None:
        warnings.warn(
            f"the tree of {', '.join(map(printable, self.arg_classes))} looks like noise: it has"
            f" had {len(self._outcomes)} different outcomes, and new ones are no longer told apart"
            " (max_outcomes)",
            NoiseWarning,
            stacklevel=3,
        )

    def predict(
        self, facts: Facts | State, args: Sequence[int], bindings: str = "first"
    ) -> dict[Hashable, float]:
        """Return the probability of each outcome; empty while nothing has been observed."""
        facts = _as_facts(facts)
        tree = self._tree or self._new_tree(facts.state.schema)
        counts = tree.predict(facts.state, _ids(facts.state, args), facts.mode, bindings)
        total = sum(n for _, n in counts)
        return {self._outcomes[number]: n / total for number, n in counts}

    @property
    def rule(self) -> Rule:
        """A snapshot of the tree."""
        if self._tree is None:
            return Rule("tree", self.arg_classes, 0, {}, [])
        transitions, seen, nodes = self._tree._tree()
        nodes = [(*node[:3], self._with_outcomes(node[3]), node[4]) for node in nodes]
        seen = self._with_outcomes(seen)
        return Rule("tree", self.arg_classes, transitions, seen, nodes, schema=self._schema)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling and copying, with the engine's tree as bytes."""
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name != "_lock"}
            state["_outcomes"], state["_numbers"] = [*self._outcomes], dict(self._numbers)
            state["_tree"] = None if self._tree is None else self._tree._save()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=ForkLock(), _tree=None)
        if state["_tree"] is not None:
            tree = self._new_tree(self._schema)
            tree._load(state["_tree"])
            self._tree = tree

    def _number_of(self, outcome: Hashable) -> int:
        """Return the number that the engine knows an outcome by."""
        try:
            known = self._numbers.get(outcome)
        except TypeError:
            raise WrongTypeError(f"an outcome must be hashable, got {outcome!r}") from None
        if known is not None:
            return known
        if len(self._outcomes) >= self._settings["max_outcomes"]:
            return _NOT_TOLD_APART
        # In this order, a fork between the two lines gives no number to two outcomes.
        self._outcomes.append(outcome)
        return self._numbers.setdefault(outcome, len(self._outcomes) - 1)

    def _forget_outcomes(self, known: int) -> None:
        """Keep only the first `known` outcomes."""
        for outcome in self._outcomes[known:]:
            del self._numbers[outcome]
        del self._outcomes[known:]

    def _new_tree(self, schema: Any) -> _engine.Foldt:
        return _engine.Foldt(schema, list(self.arg_classes), *self._settings.values())

    def _with_outcomes(self, counts: Mapping[tuple[int, ...], int]) -> dict[Any, int]:
        """Return counts by outcome instead of by the engine's number."""
        return {
            OTHERS if vector == OTHERS else (self._outcomes[vector[0]],): n
            for vector, n in counts.items()
        }


def _check_classes(names: object) -> tuple[str, ...]:
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else ()
    if not listed or not all(isinstance(name, str) for name in listed):
        raise SettingError(f"arg_classes must be a list of class names, got {names!r}")
    return listed


def _ids(state: State, args: object) -> list[int]:
    if not isinstance(args, Iterable):
        raise WrongTypeError(f"args must be a list of object ids, got {args!r}")
    return [state[each].id for each in args]  # raises a StateError for an unknown id


def _as_facts(facts: Facts | State) -> Facts:
    if isinstance(facts, State):
        return Facts(facts)
    if not isinstance(facts, Facts):
        raise WrongTypeError(f"facts must be Facts or a State, got {facts!r}")
    return facts
