"""The model of a world, learned from transitions.

    world -> state -> facts -> tree -> [ model ] -> prediction -> metric

In:   transitions: a state, an action, the next state.
Out:  `Prediction`s of next states, and `Rule`s that explain them.

`TreeThink` is the class that people use. The C++ engine (`treethink._engine.Model`) does the
learning and predicting; `engine_method` binds the hot methods to it without a Python call:
`observe` is `observe` in cpp/bindings/model.cpp, which calls `Model::observe` in cpp/model.cpp.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from numbers import Real
from typing import TYPE_CHECKING, Any, Self, TypeVar

from treethink import _engine, file
from treethink._engine import Prediction, State
from treethink.errors import (
    BrokenModelError,
    ModelFileError,
    SettingError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
    whole_number,
)
from treethink.frames import Frame
from treethink.presets import Derived
from treethink.rules import FEEDBACK, TRANSITION, Rule, RuleKey, Rules, Test, title_of
from treethink.state import Schema
from treethink.text import many

if TYPE_CHECKING:
    from treethink.editing.edit import Part
    from treethink.explain.compare.counterexample import Check
    from treethink.explain.compare.diff import Diff
    from treethink.explain.doubts import Doubts
    from treethink.explain.summary.summary import Summary
    from treethink.explain.why.explanation import Asked, Explanation
    from treethink.worlds import World

__all__ = ["Change", "Prediction", "TreeThink"]

Prediction.__module__ = "treethink"

DEFAULT_CRITERION = "evidence"
DEFAULT_MEMORY = 5_000
DEFAULT_MAX_CANDIDATES = 100_000
DEFAULT_MAX_OUTCOMES = 1_024
_LARGEST_LIMIT = 2**63 - 1
_LARGEST_MEMORY = 2**31 - 1
_SHORTEST_RULE = 3  # bytes in a file: transitions, number of outcomes, whether it varies
#: The settings that are for the paper's ablation only.
ABLATION = ("branch_updates",)
SETTINGS = ("alpha", "criterion", "memory", "max_candidates", "max_outcomes", *ABLATION)
_CRITERIA = tuple(_engine.criterion_names())

_Method = TypeVar("_Method", bound=Callable[..., Any])


def engine_method(stub: _Method) -> _Method:
    """Replace a method of `TreeThink` by the engine's method of the same name.

    The Python method states the signature and the documentation, and its body says what is called.
    At run time the attribute is the engine's own function, so a call costs no Python frame.
    """
    method: _Method = getattr(_engine.Model, stub.__name__)
    return method


@dataclass(frozen=True, slots=True)
class Change:
    """A structural change that learning made to one of the trees.

    `kind` is ``"split"`` (a leaf became a branch), ``"change"`` (a branch replaced its test),
    ``"return"`` (a branch became a leaf again), ``"noise"`` (the rule has had so many outcomes
    that new ones are no longer told apart) or ``"frame"`` (the rule tells its outcomes in another
    frame, and has grown again from the kept transitions). `path` leads from the root to the node,
    as letters L and R. `test` is the node's new test. `observation` is the number of transitions
    observed, including the one that caused the change.
    """

    kind: str
    rule: RuleKey
    path: str
    test: Test | None
    observation: int


def check_alpha(alpha: object) -> float:
    """Return `alpha` as a float; raise a `SettingError` unless it lies strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real):
        raise SettingError(f"alpha must be a number, got {shown(alpha)}")
    if not 0 < alpha < 1:  # type: ignore[operator]  # also refuses NaN
        raise SettingError(f"alpha must lie strictly between 0 and 1, got {shown(alpha)}")
    return float(alpha)


def branch_updates_of(ablation: Mapping[str, object]) -> bool:
    """Return the setting that `ablation` may change; raise an error for anything else."""
    for name in ablation:
        if name not in ABLATION:
            close = get_close_matches(name, SETTINGS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            listed = ", ".join(map(repr, SETTINGS))
            raise WrongTypeError(f"unexpected keyword argument {name!r}.{hint} Known: {listed}.")
    updates = ablation.get("branch_updates", True)
    if not isinstance(updates, bool):
        raise SettingError(f"branch_updates must be True or False, got {shown(updates)}")
    return updates


def check_settings(
    alpha: object,
    criterion: object,
    memory: object,
    ablation: Mapping[str, object],
    max_candidates: object,
    max_outcomes: object,
) -> dict[str, Any]:
    """Return the settings as keyword arguments of the engine; raise a `SettingError` if wrong."""
    level = check_alpha(alpha)
    if not isinstance(criterion, str):
        raise SettingError(f"criterion must be the name of a criterion, got {shown(criterion)}")
    if criterion not in _CRITERIA:
        raise UnknownNameError("criterion", criterion, _CRITERIA, "the settings")
    size = whole_number("memory", memory)
    if size > _LARGEST_MEMORY:
        raise SettingError(f"memory must be at most {_LARGEST_MEMORY}, got {shown(size)}")
    return {
        "alpha": level,
        "criterion": criterion,
        "branch_updates": branch_updates_of(ablation),
        "max_candidates": _check_limit("max_candidates", max_candidates),
        "max_outcomes": _check_limit("max_outcomes", max_outcomes),
        "memory": size,
    }


def _check_limit(name: str, value: object) -> int:
    limit = whole_number(name, value, least=1)
    if limit > _LARGEST_LIMIT:
        raise SettingError(f"{name} must be at most {_LARGEST_LIMIT}, got {shown(limit)}")
    return limit


class TreeThink(file.CopiedByContent, _engine.Model):
    """A model of a world: one tree for every class, attribute and action.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    alpha
        Significance level (0-1): the accepted risk of a split where there is nothing to learn.
        Smaller values split later, with more evidence. With ``"evidence"``, the Bayes factor of a
        test against no test, after a penalty for the test's description length, must reach
        1/alpha; with ``"proven"``, alpha bounds the probability that a leaf ever splits by chance
        alone; with ``"wilson"``, it is the level of two-sided confidence intervals.
    criterion
        When a test counts as better than another: ``"evidence"``, a Bayes factor on predicted
        outcomes; ``"proven"``, an e-process against the maximum likelihood in hindsight, whose
        bound on false splits is proven for ``memory=0`` and one target in each transition;
        ``"wilson"``, the paper's confidence intervals, which need far more observations. See
        docs/evidence.md.
    memory
        How many recent transitions to keep. The kept transitions are replayed into new nodes. 0:
        none, as in the paper.
    max_candidates
        The most candidate tests of a node. Beyond it, an eighth of them is dropped: those that held
        least often.
    max_outcomes
        The most outcomes that a rule tells apart. A rule that has more looks like noise, which a
        `NoiseWarning` says once: from then on, outcomes that came only once and all new ones count
        as one.
    ablation
        For the paper's ablation only: ``branch_updates=False`` freezes tests once they are chosen.

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
    ├─ yes: +1 × 20
    └─ no:  -1 × 20
    """

    name = "treethink"

    def __init__(
        self,
        schema: Schema,
        *,
        alpha: float = 0.01,
        criterion: str = DEFAULT_CRITERION,
        memory: int = DEFAULT_MEMORY,
        max_candidates: int = DEFAULT_MAX_CANDIDATES,
        max_outcomes: int = DEFAULT_MAX_OUTCOMES,
        **ablation: bool,
    ):
        settings = check_settings(alpha, criterion, memory, ablation, max_candidates, max_outcomes)
        super().__init__(schema, **settings)
        self._on_change: Callable[[Change], object] | None = None
        #: Single-object classes by action, valid for this number of observations.
        self._single_classes: tuple[int, dict[str, frozenset[str]]] = (0, {})

    @classmethod
    def paper(
        cls,
        schema: Schema,
        *,
        alpha: float = 0.01,
        max_candidates: int = DEFAULT_MAX_CANDIDATES,
        max_outcomes: int = DEFAULT_MAX_OUTCOMES,
        **ablation: bool,
    ) -> Self:
        """Return a model with the paper's settings: Wilson intervals and no memory.

        `alpha` is then the level of the two-sided intervals. docs/differences.md lists the
        differences from the paper that remain.

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
            max_candidates=max_candidates,
            max_outcomes=max_outcomes,
            **ablation,
        )

    # ---- learning and predicting: bound to the engine ----

    @engine_method
    def observe(
        self,
        before: State,
        action: str,
        after: State,
        reward: float | None = None,
        terminated: bool | None = None,
    ) -> None:
        """Learn one transition, its reward and whether it ended the episode; None: not known."""
        super().observe(before, action, after, reward, terminated)

    @engine_method
    def observe_many(self, transitions: Iterable[tuple[object, ...]]) -> int:
        """Learn an iterable of transitions; return how many there were.

        A transition is a `Transition`, or a tuple of (before, action, after). The result is that of
        as many calls of `observe`. If an item is refused, those before it are learned, and those
        after it are not read. Up to 256 items are read ahead of being learned, so an iterable that
        queries this model sees it as it was then. None of them is lost: after Ctrl-C or an error of
        `on_change`, the items that were read are learned, without further calls of `on_change`,
        before the exception is raised.
        """
        return super().observe_many(transitions)

    @engine_method
    def predict(self, state: State, action: str, **ablation: str) -> Prediction:
        """Return the distribution over next states.

        `ablation` is for the paper's ablation only: ``facts=`` (``"demand"`` or ``"full"``) and
        ``bindings=`` (``"first"`` or ``"all"``) choose how the trees are evaluated. All four
        combinations give the same prediction; the defaults are the fastest.
        """
        return super().predict(state, action, **ablation)

    @engine_method
    def predict_many(
        self, situations: Iterable[tuple[State, str]], **ablation: str
    ) -> list[Prediction]:
        """Return the predictions for an iterable of (state, action).

        `ablation` is that of `predict`. Up to 256 items are read ahead. After Ctrl-C or an error
        there are no predictions, but the items that were read are taken from an iterator.
        """
        return super().predict_many(situations, **ablation)

    @property
    def on_change(self) -> Callable[[Change], object] | None:
        """A callback that gets a `Change` whenever learning changes the structure of a tree."""
        return self._on_change

    @on_change.setter
    def on_change(self, callback: Callable[[Change], object] | None) -> None:
        if callback is not None and not callable(callback):
            raise WrongTypeError(f"on_change must be callable or None, got {callback!r}")
        self._on_change = callback
        self._hook = None if callback is None else _ChangeHook(callback, self.schema)

    # ---- reading the model ----

    @property
    def rules(self) -> Rules:
        """All rules, by name (``"player.pos.up"``) or by (class, attribute, action).

        Those of rewards and ends, once some were given, come last: ``"transition.reward.up"``,
        ``"transition.terminated.up"``.
        """
        schema = self.schema
        keys = [
            (class_name, attribute, action)
            for class_name in schema.classes
            for attribute in schema.predicted(class_name)
            for action in schema.actions
        ]
        keys += [(TRANSITION, name, action) for name in self.feedback for action in schema.actions]
        return Rules(keys, self._rule)

    @property
    def feedback(self) -> tuple[str, ...]:
        """What was learned besides states: ``"reward"``, ``"terminated"``, both or neither."""
        learned = zip(FEEDBACK, self._feedback(), strict=True)
        return tuple(name for name, is_learned in learned if is_learned)

    def given_attributes(self, state: State) -> tuple[str, ...]:
        """Return the derived attributes that rules ask about and nothing computes for `state`.

        A predicted state keeps their old values, so further predictions from it, as plans make
        them, may be wrong. Give the schema a function for them (`Derived`), if there is one.
        """
        attributes = state.schema.attributes.items()
        given = [n for n, a in attributes if isinstance(a, Derived) and a.function is None]
        rules = self.rules.values() if given else ()
        read = {name for rule in rules for name in rule.attributes_read()}
        return tuple(name for name in given if name in read)

    def _rule(self, class_name: str, attribute: str, action: str) -> Rule:
        transitions, seen, nodes, frame = self._tree(class_name, attribute, action)
        key, single = (class_name, attribute, action), self._classes_with_one_object(action)
        title = title_of(key)
        is_feedback = class_name == TRANSITION and TRANSITION not in self.schema.classes
        classes = () if is_feedback else (class_name,)
        own = None if frame is None else Frame(*frame)
        return Rule(title, classes, transitions, seen, nodes, key, self.schema, single, own)

    def _classes_with_one_object(self, action: str) -> frozenset[str]:
        """Return the classes that had a single object in every state with that action."""
        if self._single_classes[0] != self.observations:
            self._single_classes = (self.observations, {})  # cached: every rule needs it
        by_action = self._single_classes[1]
        if action not in by_action:
            predicted = [(name, self.schema.predicted(name)) for name in self.schema.classes]
            classes = [(name, own[0]) for name, own in predicted if own]
            by_action[action] = frozenset(
                name for name, attribute in classes if self._has_one_object(name, attribute, action)
            )
        return by_action[action]

    def _has_one_object(self, class_name: str, attribute: str, action: str) -> bool:
        transitions, seen, *_ = self._tree(class_name, attribute, action)
        return bool(0 < sum(seen.values()) == transitions)

    @property
    def n_varying(self) -> int:
        """The number of rules that have seen more than one outcome."""
        return self._size()[-1]

    def memory_use(self) -> dict[str, int]:
        """Return totals: bytes, nodes, candidates, dropped candidates, kept transitions."""
        names = ("bytes", "nodes", "candidates", "forgotten", "kept")
        return dict(zip(names, self._size(), strict=False))

    def summary(self, level: float = 0.95) -> "Summary":
        """Return the model in numbers: observations, confidence, and what was never observed.

        `level` is the confidence level of one-sided lower bounds of probabilities.

        >>> from treethink import Schema
        >>> TreeThink(Schema({"lamp": ["on"]}, {"on": 1}, ["press"])).summary().unseen_actions
        ('press',)
        """
        from treethink.explain.summary.summary import summary_of

        return summary_of(self, level)

    def to_dataframe(self) -> Any:
        """Return a pandas data frame with one row per leaf. Needs the extra ``notebook``."""
        from treethink.explain.summary.summary import frame_of

        return frame_of(self)

    def explain(self, state: State, action: str, of: "Asked" = None) -> "Explanation":
        """Explain a prediction: the tests that decided each value, and the objects involved.

        By default all values that may change are explained, and the reward and the end unless they
        are surely none; `of` limits it to an object's id, to (id, attribute), or to `"reward"` or
        `"terminated"`.
        """
        from treethink.explain.why.explanation import explain

        return explain(self, state, action, of)

    def check(
        self,
        world_or_transitions: "World | Iterable[tuple[Any, ...]]",
        n: int | None = None,
        seed: int = 0,
    ) -> "Check":
        """Search for a state in which the model is wrong; show the smallest one found.

        A world is played at random, `n` transitions (1,000 by default), and asked about as many
        situations put together at random, if it has them (`World.stress_state`). Of given
        transitions, such as a log, the first `n` are used, or all; they are compared with what
        followed.
        """
        from treethink.explain.compare.counterexample import check

        return check(self, world_or_transitions, n, seed)

    def doubts(self, transitions: "World | Iterable[tuple[Any, ...]] | None" = None) -> "Doubts":
        """Return the rules that err or are unsure, each with what may be missing, worst first.

        What may be missing: a comparison of attributes with different names, less-than, two
        conditions together, something that is not in the state, more data, or nothing but chance.
        The transitions in memory are searched, or those that are given. See docs/explain.md.

        >>> from treethink import Object, Schema, State
        >>> schema = Schema({"coin": ["up"]}, {"up": 1}, ["look"])
        >>> coin = State(schema, [Object(1, "coin", up=0)])
        >>> model = TreeThink(schema)
        >>> model.observe(coin, "look", coin)
        >>> print(model.doubts())
        no doubts: every rule is sure of what it has seen
        """
        from treethink.explain.doubts.diagnose import doubts_of

        return doubts_of(self, transitions)

    def kept(self) -> list[tuple[Any, ...]]:
        """Return the transitions in memory, oldest first; at most `memory` of them.

        A transition is (before, action, after), followed by its reward and end if one is known.
        """
        return self._kept()

    def diff(
        self, other: "TreeThink", world: "World | None" = None, n: int = 1_000, seed: int = 0
    ) -> "Diff":
        """Compare two models: their rules, and their predictions in a world or synthetic states."""
        from treethink.explain.compare.diff import diff

        return diff(self, other, world, n, seed)

    def _dump(self, class_name: str, attribute: str, action: str) -> dict[str, Any]:
        """Return all counts of a tree, for comparison with its reference in the tests."""
        _, seen, nodes, frame = self._tree(class_name, attribute, action)
        return {
            "frame": frame,
            "seen": seen,
            **dump_nodes(nodes, self._candidates(class_name, attribute, action)),
        }

    def __repr__(self) -> str:
        try:
            varying = many(self.n_varying, "rule varies", "rules vary")
        except BrokenModelError:
            return "<TreeThink: broken>"
        return f"<TreeThink: {many(self.observations, 'observation')}, {varying}>"

    # ---- editing ----

    def replace(self, rule: RuleKey | str, by: "Part", path: str = "", *, pin: bool = True) -> None:
        r"""Replace a rule, or the subtree at `path` (letters Y for yes and N for no).

        `rule` is a name, such as ``"player.pos.up"``, or (class, attribute, action). `by` is text
        as ``str(rule)`` prints it, a node of a rule, or counts by outcome. The new part is pinned;
        with ``pin=False`` its leaves go on learning, starting from the kept transitions.
        Hand-written tests stay, and so do the tests above them; the rest of the rule goes on
        learning. See docs/editing.md.

        >>> from treethink import Object, Schema, State
        >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
        >>> model = TreeThink(schema)
        >>> model.replace("lamp.on.press", "X0[on] = 0 ? \n yes: 1 \n no: -1")
        >>> print(model.rules["lamp", "on", "press"])
        lamp.on when press    X0: lamp
        X0[on] = 0 ?  [pinned]
        ├─ yes: +1 × 1
        └─ no:  -1 × 1
        """
        from treethink.editing import edit as edits

        edits.replace(self, rule, by, path, pin)

    def pin(self, rule: RuleKey | str, path: str = "") -> None:
        """Stop a rule, or the subtree at `path`, from learning."""
        from treethink.editing import edit as edits

        edits.pin(self, rule, path)

    def unpin(self, rule: RuleKey | str, path: str = "") -> None:
        """Let a rule, or the subtree at `path`, learn again; hand-written tests stay."""
        from treethink.editing import edit as edits

        edits.unpin(self, rule, path)

    def simplify(self) -> "TreeThink":
        """Return a model with fewer tests that predicts the same in every possible state.

        Tests are removed if the tests above them decide them, or if both branches are equal.
        """
        from treethink.editing import edit as edits

        return edits.simplified(self)

    # ---- export ----

    def to_python(self, path: str | os.PathLike[str]) -> None:
        """Write all rules as a Python module without dependencies: ``predict(state, action)``.

        It takes states as `State.to_dict` returns them. See docs/explain.md.
        """
        from treethink.export import python

        python.write_module(self, path)

    def to_prolog(self, path: str | os.PathLike[str]) -> None:
        """Write all rules as Prolog clauses: ``predict(Action, Id, Attribute, Chances)``.

        A state is given as facts ``object(Id, Class)`` and ``value(Id, Attribute, Vector)``.
        """
        from treethink.export import prolog

        prolog.write(self, path)

    # ---- files ----

    def to_bytes(self, memory: bool = True) -> bytes:
        """Return the content of a model file; `memory`: including the kept transitions."""
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
            "max_outcomes": self.max_outcomes,
        }
        header: dict[str, Any] = {"schema": self.schema.to_dict(), "settings": settings}
        body, has_feedback = self._save(memory)
        header |= {"feedback": True} if has_feedback else {}
        header |= {"sums": [*self.schema.sums]} if self.schema.sums else {}
        return file.pack(header, body)

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "the data") -> Self:
        """Return the model of a model file's content. Errors call the file `where`."""
        header, body = file.unpack(content, where)
        if "learner" in header:
            learner = shown(header["learner"])
            raise ModelFileError(f"{where} was written by the learner {learner}, not by TreeThink")
        try:
            schema = Schema.from_dict(header["schema"])
            if "sums" not in header:  # a file from before there were any
                schema.leave_out_sums()
            feedback = header.get("feedback", False) is True
            file.check_rules(schema, body, _SHORTEST_RULE, feedback)
            model = cls(schema, **header["settings"])
            model._load(body, feedback)
        except (TreeThinkError, LookupError, TypeError) as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from None
        return model

    def save(self, path: str | os.PathLike[str], memory: bool = True) -> None:
        """Write the model to a file, atomically; `memory`: including the kept transitions.

        The content is loaded once before it replaces an old file: a file that cannot be loaded is
        never written.
        """
        content = self.to_bytes(memory)
        TreeThink.from_bytes(content, "the content of the new file")
        file.write(path, content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a file. It goes on learning exactly as the saved model would have.

        If it was saved without its memory, new nodes start empty until the memory fills again.
        """
        return cls.from_bytes(file.read(path), repr(os.fspath(path)))


class _ChangeHook:
    """The engine's hook: it turns the engine's arguments into a `Change`."""

    def __init__(self, callback: Callable[[Change], object], schema: Schema):
        self._callback = callback
        self._schema = schema

    def __call__(
        self, class_name: str, attribute: str, action: str, event: Any, observation: int
    ) -> None:
        kind, path, engine_test, variables = event
        test = engine_test and Test.from_engine(engine_test, variables, self._schema)
        rule = (class_name, attribute, action)
        self._callback(Change(kind, rule, path, test, observation))


def dump_nodes(nodes: list[Any], candidates: list[Any]) -> dict[str, Any]:
    """Return nodes and candidates, both listed in preorder, as one nested dict."""
    if not nodes:
        return {"totals": {}, "test": None, "candidates": {}}
    built: dict[int, dict[str, Any]] = {}
    for index in range(len(nodes) - 1, -1, -1):
        left, right, _, counts, test, *_ = nodes[index]
        built[index] = {"totals": counts, "test": test, "candidates": candidates[index]}
        if test is not None:
            built[index] |= {"left": built.pop(left), "right": built.pop(right)}
    return built[0]
