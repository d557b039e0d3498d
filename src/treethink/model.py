"""Learn how a world works by watching it.

    world -> state -> facts -> tree -> [ model ] -> prediction -> metric

In:   transitions: a state, an action, the next state.
Out:  `Prediction`s of next states, and `Rule`s that say why.

`TreeThink` is the model of a whole world, `FOLDT` one tree by itself. The learning is done by the
engine; what stands here is the part that people touch.
"""

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from treethink import _engine, file
from treethink._engine import Prediction, State
from treethink.errors import (
    ModelFileError,
    SettingError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
    whole_number,
)
from treethink.rules import Rule, RuleKey, Rules, Test, title_of
from treethink.state import Schema
from treethink.text import many

if TYPE_CHECKING:
    from treethink.editing.edit import Part
    from treethink.explain.compare.counterexample import Check
    from treethink.explain.compare.diff import Diff
    from treethink.explain.summary.summary import Summary
    from treethink.explain.why.explanation import Asked, Explanation
    from treethink.worlds import World

__all__ = ["FOLDT", "Change", "Facts", "Prediction", "TreeThink"]

Prediction.__module__ = "treethink"

_CRITERION = "evidence"
_MEMORY = 5_000
_MAX_CANDIDATES = 100_000
_MOST_CANDIDATES = 2**63 - 1
_MOST_KEPT = 2**31 - 1
_CRITERIA = tuple(_engine.criterion_names())


@dataclass(frozen=True, slots=True)
class Change:
    """A decision that learning made in one of the trees.

    `kind` is ``"split"`` (a leaf became a branch), ``"change"`` (a branch took another test) or
    ``"return"`` (a branch became a leaf again); `path` leads from the root to the node, by L and R;
    `test` is the node's new test; `observation` counts transitions, this one included.
    """

    kind: str
    rule: RuleKey
    path: str
    test: Test | None
    observation: int


def check_alpha(alpha: object) -> float:
    """A level strictly between 0 and 1, or one clear error."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real):
        raise SettingError(f"alpha must be a number, got {shown(alpha)}")
    if not 0 < alpha < 1:  # type: ignore[operator]  # also refuses NaN
        raise SettingError(f"alpha must lie strictly between 0 and 1, got {shown(alpha)}")
    return float(alpha)


def _check_settings(
    alpha: object, criterion: object, memory: object, branch_updates: object, max_candidates: object
) -> dict[str, Any]:
    """The settings as the engine takes them, or one clear error."""
    level = check_alpha(alpha)
    if not isinstance(criterion, str):
        raise SettingError(f"criterion must be the name of a criterion, got {shown(criterion)}")
    if criterion not in _CRITERIA:
        raise UnknownNameError("criterion", criterion, _CRITERIA, "the settings")
    kept = whole_number("memory", memory)
    if kept > _MOST_KEPT:
        raise SettingError(f"memory must be at most {_MOST_KEPT}, got {shown(kept)}")
    if not isinstance(branch_updates, bool):
        raise SettingError(f"branch_updates must be True or False, got {shown(branch_updates)}")
    most = whole_number("max_candidates", max_candidates, least=1)
    if most > _MOST_CANDIDATES:
        raise SettingError(f"max_candidates must be at most {_MOST_CANDIDATES}, got {shown(most)}")
    return {
        "alpha": level,
        "criterion": criterion,
        "branch_updates": branch_updates,
        "max_candidates": most,
        "memory": kept,
    }


class TreeThink(file.Copied, _engine.Model):
    """A model of a world: one tree for every class, attribute and action.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    alpha
        How much risk of a split where there is nothing to learn is accepted. Smaller means later,
        surer decisions. With ``"evidence"``, a test that has paid for its length must make the
        outcomes 1/alpha times as likely as no test does; with ``"proven"``, alpha bounds the
        chance that a leaf ever splits on chance alone; with ``"wilson"``, it is the level of
        two-sided intervals.
    criterion
        When a test counts as surely better than another: ``"evidence"``, which weighs how well
        outcomes are foretold; ``"proven"``, the same against the best forecast in hindsight, a
        bound on mistakes that is proven for ``memory=0`` and one target in each transition;
        ``"wilson"``, the paper's intervals, which need far more observations. See
        docs/evidence.md.
    memory
        How many transitions to keep, for new nodes to start with. 0: none, as in the paper.
    branch_updates
        False freezes tests once they are chosen (the paper's ablation).
    max_candidates
        How many tests a node weighs at most; beyond it, those that held least often are dropped.

    Examples
    --------
    >>> from treethink import Object, Schema, State
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> model = TreeThink(schema)
    >>> model.observe_many([(off, "press", on), (on, "press", off)] * 20)
    40
    >>> model.predict(off, "press").outcomes(1, "on")
    {1: 1.0}
    >>> print(model.rules["lamp", "on", "press"])
    lamp.on when press    X0: lamp
    X0[on] = 0 ?
    ├─ yes: 1 × 20
    └─ no:  -1 × 20
    """

    name = "treethink"

    def __init__(
        self,
        schema: Schema,
        *,
        alpha: float = 0.01,
        criterion: str = _CRITERION,
        memory: int = _MEMORY,
        branch_updates: bool = True,
        max_candidates: int = _MAX_CANDIDATES,
    ):
        settings = _check_settings(alpha, criterion, memory, branch_updates, max_candidates)
        super().__init__(schema, **settings)
        self._on_change: Callable[[Change], object] | None = None
        self._singles: tuple[int, dict[str, frozenset[str]]] = (0, {})

    @classmethod
    def paper(
        cls,
        schema: Schema,
        *,
        alpha: float = 0.01,
        branch_updates: bool = True,
        max_candidates: int = _MAX_CANDIDATES,
    ) -> Self:
        """A model with the paper's criterion, Wilson intervals, and without a memory.

        `alpha` is then the level of the two-sided intervals. What else is not as in the paper,
        docs/differences.md lists.

        >>> from treethink import Schema
        >>> model = TreeThink.paper(Schema({"lamp": ["on"]}, {"on": 1}, ["press"]))
        >>> model.criterion, model.memory
        ('wilson', 0)
        """
        return cls(
            schema,
            alpha=alpha,
            criterion="wilson",
            memory=0,
            branch_updates=branch_updates,
            max_candidates=max_candidates,
        )

    @property
    def on_change(self) -> Callable[[Change], object] | None:
        """Called with a `Change` whenever a tree splits, changes a test or returns to a leaf."""
        return self._on_change

    @on_change.setter
    def on_change(self, callback: Callable[[Change], object] | None) -> None:
        if callback is not None and not callable(callback):
            raise WrongTypeError(f"on_change must be callable or None, got {callback!r}")
        self._on_change = callback
        self._hook = None if callback is None else _Teller(callback)

    # ---- what was learned ----

    @property
    def rules(self) -> Rules:
        """All rules, by (class, attribute, action)."""
        schema = self.schema
        keys = [
            (class_name, attribute, action)
            for class_name, attributes in schema.classes.items()
            for attribute in attributes
            for action in schema.actions
        ]
        return Rules(keys, self._rule)

    def _rule(self, class_name: str, attribute: str, action: str) -> Rule:
        transitions, seen, nodes = self._tree(class_name, attribute, action)
        key, single = (class_name, attribute, action), self._single(action)
        title = title_of(key)
        return Rule(title, (class_name,), transitions, seen, nodes, key, self.schema, single)

    def _single(self, action: str) -> frozenset[str]:
        """Classes of which no state in which the action was taken had two objects."""
        if self._singles[0] != self.observations:
            self._singles = (self.observations, {})  # all rules ask, so it is remembered
        known = self._singles[1]
        if action not in known:
            slots = [(name, has[0]) for name, has in self.schema.classes.items() if has]
            found = (name for name, first in slots if self._is_single(name, first, action))
            known[action] = frozenset(found)
        return known[action]

    def _is_single(self, class_name: str, attribute: str, action: str) -> bool:
        transitions, seen, _ = self._tree(class_name, attribute, action)
        return bool(0 < sum(seen.values()) == transitions)

    @property
    def n_varying(self) -> int:
        """How many rules have seen more than one outcome."""
        return self._size()[-1]

    def memory_use(self) -> dict[str, int]:
        """Bytes in all; nodes, candidates and forgotten ones of all trees; transitions kept."""
        names = ("bytes", "nodes", "candidates", "forgotten", "kept")
        return dict(zip(names, self._size(), strict=False))

    def summary(self, level: float = 0.95) -> "Summary":
        """The model in numbers: what it has seen, how sure it is, and what it has never met.

        `level` is that of the lower bounds of shares, one-sided.

        >>> from treethink import Schema
        >>> TreeThink(Schema({"lamp": ["on"]}, {"on": 1}, ["press"])).summary().unseen_actions
        ('press',)
        """
        from treethink.explain.summary.summary import summary_of

        return summary_of(self, level)

    def to_dataframe(self) -> Any:
        """All leaves as a pandas data frame, one row for each. Needs ``treethink[notebook]``."""
        from treethink.explain.summary.data_frame import frame_of

        return frame_of(self)

    def explain(self, state: State, action: str, of: "Asked" = None) -> "Explanation":
        """Why the model predicts what it predicts: tests and objects, value by value.

        All that may change is explained; or what `of` names: an object's id, (id, attribute).
        """
        from treethink.explain.why.explanation import explain

        return explain(self, state, action, of)

    def check(self, world: "World", n: int = 1_000, seed: int = 0) -> "Check":
        """Look for a state in which the model is wrong, in `n` transitions of random play."""
        from treethink.explain.compare.counterexample import check

        return check(self, world, n, seed)

    def diff(
        self, other: "TreeThink", world: "World | None" = None, n: int = 1_000, seed: int = 0
    ) -> "Diff":
        """What two models disagree on: their rules, and situations, of a world or imagined."""
        from treethink.explain.compare.diff import diff

        return diff(self, other, world, n, seed)

    def _dump(self, class_name: str, attribute: str, action: str) -> dict[str, Any]:
        """Everything that a tree has counted, for comparison with its twin in the tests."""
        _, seen, nodes = self._tree(class_name, attribute, action)
        return {"seen": seen, **dump_nodes(nodes, self._candidates(class_name, attribute, action))}

    def __repr__(self) -> str:
        vary = many(self.n_varying, "rule varies", "rules vary")
        return f"<TreeThink: {many(self.observations, 'observation')}, {vary}>"

    # ---- what people change ----

    def replace(self, rule: RuleKey, by: "Part", path: str = "", *, pin: bool = True) -> None:
        r"""Write a rule by hand, or the part of it at `path`: a node's L (yes) and R (no).

        `by` is text as ``str(rule)`` prints it, a node of a rule, or outcomes with how often each
        was seen. The part is pinned; with ``pin=False`` its leaves go on learning from what is
        kept. Tests written by hand stay, and so do those that lead there; all else goes on
        learning. See docs/editing.md.

        >>> from treethink import Object, Schema, State
        >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
        >>> model = TreeThink(schema)
        >>> model.replace(("lamp", "on", "press"), "X0[on] = 0 ? \n yes: 1 \n no: -1")
        >>> print(model.rules["lamp", "on", "press"])
        lamp.on when press    X0: lamp
        X0[on] = 0 ?  [pinned]
        ├─ yes: 1 × 1
        └─ no:  -1 × 1
        """
        from treethink.editing import edit as edits

        edits.replace(self, rule, by, path, pin)

    def pin(self, rule: RuleKey, path: str = "") -> None:
        """From now on the rule, or the part of it at `path`, says what it says now."""
        from treethink.editing import edit as edits

        edits.pin(self, rule, path)

    def unpin(self, rule: RuleKey, path: str = "") -> None:
        """The rule, or the part of it at `path`, learns again; tests written by hand stay."""
        from treethink.editing import edit as edits

        edits.unpin(self, rule, path)

    def simplify(self) -> "TreeThink":
        """Another model that predicts the same in every possible state, with fewer tests.

        Tests go that those above decide, and those whose branches say the same.
        """
        from treethink.editing import edit as edits

        return edits.simplified(self)

    # ---- in other languages ----

    def to_python(self, path: str | os.PathLike[str]) -> None:
        """Write all rules as one Python module that needs nothing else: ``predict(state, action)``.

        States are as `State.to_dict` gives them. See docs/explain.md.
        """
        from treethink.export import python_module as module

        module.write(self, path)

    def to_prolog(self, path: str | os.PathLike[str]) -> None:
        """Write all rules as clauses of Prolog: ``predict(Action, Id, Attribute, Chances)``.

        A state is facts ``object(Id, Class)`` and ``value(Id, Attribute, Vector)``.
        """
        from treethink.export import prolog

        prolog.write(self, path)

    # ---- to and from files ----

    def to_bytes(self, memory: bool = True) -> bytes:
        """The content of a model file; `memory`: with the transitions that are kept."""
        if not isinstance(memory, bool):
            raise WrongTypeError(
                f"memory must be True (with what is kept) or False, got {shown(memory)}"
            )
        settings = {
            "alpha": self.alpha,
            "criterion": self.criterion,
            "memory": self.memory,
            "branch_updates": self.branch_updates,
            "max_candidates": self.max_candidates,
        }
        header = {"schema": self.schema.to_dict(), "settings": settings}
        return file.pack(header, self._save(memory))

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "the data") -> Self:
        """A model from the content of a model file. `where` names it in errors."""
        header, body = file.unpack(content, where)
        if "learner" in header:
            found = shown(header["learner"])
            raise ModelFileError(f"{where} was written by the learner {found}, not by TreeThink")
        try:
            model = cls(Schema.from_dict(header["schema"]), **header["settings"])
            model._load(body)
        except (TreeThinkError, LookupError, TypeError) as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from None
        return model

    def save(self, path: str | os.PathLike[str], memory: bool = True) -> None:
        """Write the model to a file, in one step; `memory`: with the transitions that are kept."""
        file.write(path, self.to_bytes(memory))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model. What it learns from then on is what it would have learned anyway.

        If it was saved without what it had kept, new nodes start empty at first.
        """
        return cls.from_bytes(file.read(path), repr(os.fspath(path)))


class _Teller:
    """Turns the engine's arguments into a `Change`."""

    def __init__(self, callback: Callable[[Change], object]):
        self._callback = callback

    def __call__(
        self, class_name: str, attribute: str, action: str, event: Any, observation: int
    ) -> None:
        kind, path, test, variables = event
        read = None if test is None else Test.from_engine(test, variables)
        rule = (class_name, attribute, action)
        self._callback(Change(kind, rule, path, read, observation))


def dump_nodes(nodes: list[Any], candidates: list[Any]) -> dict[str, Any]:
    """Nodes and candidates, both in preorder, as one nested dict."""
    if not nodes:
        return {"totals": {}, "test": None, "candidates": {}}
    built: dict[int, dict[str, Any]] = {}
    for index in range(len(nodes) - 1, -1, -1):
        left, right, _, counts, test, *_ = nodes[index]
        built[index] = {"totals": counts, "test": test, "candidates": candidates[index]}
        if test is not None:
            built[index] |= {"left": built.pop(left), "right": built.pop(right)}
    return built[0]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a state, for a tree to learn from or to ask.

    With ``mode="demand"`` facts are found when a test asks for them, with ``"full"`` all are
    extracted first. Both give the same answers.
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

    `arg_classes` are the classes of the objects it is asked about; the other settings are those
    of `TreeThink`, but for `memory`: a tree by itself keeps nothing, so new nodes start empty.
    Outcomes may be anything hashable.

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

    def __init__(
        self,
        arg_classes: Sequence[str],
        *,
        alpha: float = 0.01,
        criterion: str = _CRITERION,
        memory: int = 0,
        branch_updates: bool = True,
        max_candidates: int = _MAX_CANDIDATES,
    ):
        self.arg_classes = _check_classes(arg_classes)
        self._settings = _check_settings(alpha, criterion, memory, branch_updates, max_candidates)
        if self._settings.pop("memory"):
            raise SettingError(f"memory must be 0: a FOLDT keeps no transitions, got {memory}")
        self._tree: _engine.Foldt | None = None
        self._schema: Schema | None = None
        self._lock = Lock()
        self._outcomes: list[Hashable] = []
        self._numbers: dict[Hashable, int] = {}

    def observe(self, facts: Facts | State, args: Sequence[int], outcome: Hashable) -> None:
        """Learn that `outcome` was seen of the objects with ids `args`."""
        facts = _facts(facts)
        ids = _ids(facts.state, args)
        with self._lock:
            tree = self._tree or self._make(facts.state.schema)
            # Named before it is learned: another thread may meet it in a prediction at once.
            tree.observe(facts.state, ids, self._number(outcome))
            self._schema = facts.state.schema
            self._tree = tree

    def predict(
        self, facts: Facts | State, args: Sequence[int], bindings: str = "first"
    ) -> dict[Hashable, float]:
        """Probabilities of outcomes. Empty as long as nothing was observed."""
        facts = _facts(facts)
        tree = self._tree or self._make(facts.state.schema)
        counts = tree.predict(facts.state, _ids(facts.state, args), facts.mode, bindings)
        total = sum(n for _, n in counts)
        return {self._outcomes[number]: n / total for number, n in counts}

    @property
    def rule(self) -> Rule:
        """The tree as it is now."""
        if self._tree is None:
            return Rule("tree", self.arg_classes, 0, {}, [])
        transitions, seen, nodes = self._tree._tree()
        named = [(*node[:3], self._named(node[3]), node[4]) for node in nodes]
        seen, schema = self._named(seen), self._schema
        return Rule("tree", self.arg_classes, transitions, seen, named, schema=schema)

    def __getstate__(self) -> dict[str, Any]:
        """For pickles and copies: what the engine holds, Python cannot see."""
        with self._lock:
            kept = {name: value for name, value in vars(self).items() if name != "_lock"}
            kept["_outcomes"], kept["_numbers"] = [*self._outcomes], dict(self._numbers)
            kept["_tree"] = None if self._tree is None else self._tree._save()
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept, _lock=Lock(), _tree=None)
        if kept["_tree"] is not None:
            tree = self._make(self._schema)
            tree._load(kept["_tree"])
            self._tree = tree

    def _number(self, outcome: Hashable) -> int:
        """What stands for the outcome in the engine."""
        try:
            number = self._numbers.setdefault(outcome, len(self._outcomes))
        except TypeError:
            raise WrongTypeError(f"an outcome must be hashable, got {outcome!r}") from None
        if number == len(self._outcomes):
            self._outcomes.append(outcome)
        return number

    def _make(self, schema: Any) -> _engine.Foldt:
        return _engine.Foldt(schema, list(self.arg_classes), *self._settings.values())

    def _named(self, counts: Mapping[tuple[int, ...], int]) -> dict[Any, int]:
        return {(self._outcomes[number],): n for (number,), n in counts.items()}


def _check_classes(names: object) -> tuple[str, ...]:
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else ()
    if not listed or not all(isinstance(name, str) for name in listed):
        raise SettingError(f"arg_classes must be a list of class names, got {names!r}")
    return listed


def _ids(state: State, args: object) -> list[int]:
    if not isinstance(args, Iterable):
        raise WrongTypeError(f"args must be a list of object ids, got {args!r}")
    return [state[each].id for each in args]  # refuses what is no object's id


def _facts(facts: Facts | State) -> Facts:
    if isinstance(facts, State):
        return Facts(facts)
    if not isinstance(facts, Facts):
        raise WrongTypeError(f"facts must be Facts or a State, got {facts!r}")
    return facts
