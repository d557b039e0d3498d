"""Choose an action by Monte-Carlo tree search in a model.

    model, state -> [ plan ] -> Plan: action, visits, values, principal variation

The search uses the pUCT rule, as in appendix G of the paper. The engine does the search
(cpp/search/search.hpp describes it); this module checks the settings and keeps the tree.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack

import numpy as np

from treethink import _engine
from treethink.errors import (
    SettingError,
    StateError,
    UnknownNameError,
    WrongTypeError,
    shown,
    whole_number,
)
from treethink.explain import notebook
from treethink.model import TreeThink
from treethink.planning.rewards import Reward, rewards_of
from treethink.state import State
from treethink.worlds.base import World

P = ParamSpec("P")
R = TypeVar("R")

#: The default horizon, if the number of steps left is unknown.
HORIZON = 50
_LARGEST_COUNT = 2**63 - 1
_CHOICES = ("visits", "value")
#: How many of the expected actions are printed.
SHOWN = 12


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """The result of a search.

    `visits` and `values` are the number of visits and the mean return of each action (None if it
    was never tried). `actions` and `states` are the principal variation: the most likely course
    of events, from the given state on. `nodes` is the number of situations in the search tree.

    >>> from treethink import make, plan
    >>> from treethink.baselines import Oracle
    >>> world = make("maze")
    >>> print(plan(Oracle(world), world.reset(5), simulations=50, horizon=5))
    right after 50 simulations, 30 situations
      stay          9    -2.704
      left          1    -3.704
    * right        19    -2.044
      up            9    -2.722
      down         12    -2.583
    expected: right right right stay stay
    """

    action: str
    visits: dict[str, int]
    values: dict[str, float | None]
    actions: list[str]
    states: list[State]
    simulations: int
    nodes: int
    __hash__ = None  # type: ignore[assignment]  # dicts cannot be hashed

    def __str__(self) -> str:
        wide = max(len(each) for each in self.visits)
        lines = [f"{self.action} after {self.simulations:,} simulations, {self.nodes:,} situations"]
        for each, visits in self.visits.items():
            value = self.values[each]
            mark = "*" if each == self.action else " "
            tried = "not tried" if value is None else f"{value:9.3f}"
            lines.append(f"{mark} {each:<{wide}} {visits:9,} {tried:>9}")
        more = ["..."] if len(self.actions) > SHOWN else []
        return "\n".join([*lines, " ".join(["expected:", *self.actions[:SHOWN], *more])])

    def __repr__(self) -> str:
        return f"<Plan: {self.action}, {self.simulations:,} simulations>"


notebook.install_on(Plan, _repr_html_="treethink.explain.object_html:plan_html")


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """The settings of a search, checked. `plan` explains each of them.

    >>> SearchSettings(simulations=20).exploration
    1.25
    """

    simulations: int | None = 100
    milliseconds: float | None = None
    discount: float = 1.0
    horizon: int | None = None
    exploration: float = 1.25
    choose: str = "visits"
    transpositions: bool = True

    def __post_init__(self) -> None:
        if self.simulations is None and self.milliseconds is None:
            raise SettingError("simulations and milliseconds must not both be None")
        if self.simulations is not None:
            self._set("simulations", _count("simulations", self.simulations))
        if self.milliseconds is not None:
            self._set("milliseconds", _number("milliseconds", self.milliseconds))
            if self.milliseconds == 0:
                raise SettingError("milliseconds must be above 0, got 0")
        self._set("discount", _number("discount", self.discount, most=1))
        self._set("exploration", _number("exploration", self.exploration))
        if self.horizon is not None:
            self._set("horizon", _count("horizon", self.horizon))
        if not isinstance(self.choose, str) or self.choose not in _CHOICES:
            raise UnknownNameError("choice", str(self.choose), _CHOICES, "the settings of a plan")
        if not isinstance(self.transpositions, bool):
            value = shown(self.transpositions)
            raise SettingError(f"transpositions must be True or False, got {value}")

    def _set(self, name: str, value: float) -> None:
        """Replace a setting by its checked value (a plain int or float)."""
        object.__setattr__(self, name, value)


class SearchOptions(TypedDict, total=False):
    """The fields of `SearchSettings` but for `simulations`, for type checkers.

    Functions that take them declare ``**settings: Unpack[SearchOptions]``.
    """

    milliseconds: float | None
    discount: float
    horizon: int | None
    exploration: float
    choose: str
    transpositions: bool


def with_settings(function: Callable[P, R]) -> Callable[P, R]:
    """Show the fields of `SearchSettings` in the signature of a function with ``**settings``."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    fields = inspect.signature(SearchSettings).parameters
    more = [each for name, each in fields.items() if name not in signature.parameters]
    shown_signature = signature.replace(parameters=[*own, *more])
    function.__signature__ = shown_signature  # type: ignore[attr-defined]
    return function


class Search:
    """A search tree for a model, which can be reused from state to state."""

    def __init__(
        self, model: Any, settings: SearchSettings, seed: int, reward: Reward | None = None
    ):
        self.model, self.settings, self.reward = model, settings, reward
        self.seed = whole_number("seed", seed)
        if self.seed >= 2**64:
            raise SettingError(f"seed must be below 2**64, got {shown(self.seed)}")
        self._predictor = predictor(model)
        self._rewards = rewards_of(model, reward)
        self._rng = np.random.default_rng(self.seed)
        self._tree: _engine.Search | None = None
        self._version: Any = None  # of the model, when the tree was last used
        self._horizon = 0

    def plan(self, state: State, after: str | None = None, steps_left: int | None = None) -> Plan:
        """Return a plan for `state`; `after` is the action that led there from the last state."""
        check_state(self.model, state)
        limits = [each for each in (self.settings.horizon, steps_left) if each is not None]
        tree = self._tree_at(state, after, min(limits, default=HORIZON))
        settings = self.settings
        simulations = tree.run(
            self._predictor,
            self._rng,
            settings.simulations or 0,
            settings.milliseconds or 0.0,
            self._horizon,
            self._rewards.feedback,
        )
        names, statistics, variation = state.schema.actions, tree.actions(), tree.variation()
        return Plan(
            action=tree.best(),
            visits={name: visits for name, (visits, _) in zip(names, statistics, strict=True)},
            values={name: value for name, (_, value) in zip(names, statistics, strict=True)},
            actions=[action for action, _ in variation],
            states=[state, *(reached for _, reached in variation)],
            simulations=simulations,
            nodes=tree.size()[0],
        )

    def _tree_at(self, state: State, after: str | None, horizon: int) -> _engine.Search:
        """Return the tree with `state` as its root, reusing the old tree if it is still valid."""
        # It is not if it looked further than the new horizon, or if the model has learned since.
        version = getattr(self.model, "observations", None), getattr(self.model, "_edits", 0)
        has_learned = version != self._version
        valid = horizon >= self._horizon - 1 and not has_learned
        rewards = rewards_of(self.model, self.reward)  # it may have learned some since
        if rewards.for_score != self._rewards.for_score:
            self._tree = None
        self._rewards = rewards
        if self._tree is None:
            settings = self.settings
            self._tree = _engine.Search(
                state,
                settings.discount,
                settings.exploration,
                settings.transpositions,
                settings.choose == "value",
                self.seed,
                rewards.for_score,
            )
        elif after is None or not valid or not self._tree.follow(after, state):
            if has_learned or version[0] is None:  # otherwise cached predictions remain valid
                self._tree.forget()
            self._tree.start(state)
        self._version, self._horizon = version, horizon
        return self._tree

    @property
    def steps(self) -> int:
        """The total number of steps of the simulations whose situations are still in the tree."""
        tree = [] if self._tree is None else self._tree._tree()
        return sum(edge[0] for *_, edges in tree for edge in edges)


@with_settings
def plan(
    model: Any,
    state: State,
    simulations: int | None = 100,
    seed: int = 0,
    *,
    reward: Reward | None = None,
    **settings: Unpack[SearchOptions],
) -> Plan:
    """Choose an action in a state by Monte-Carlo tree search in a model.

    Parameters
    ----------
    model
        A `TreeThink`, which is queried inside the engine without the GIL; a world, whose true
        distribution is used; or any object with ``predict(state, action)``, such as a learner.
    simulations
        The number of simulations, each with at most one prediction. None: as many as the time
        limit allows.
    seed
        Random seed, of random outcomes and of ties. The same seed gives the same plan.
    reward
        A function ``reward(before, after)`` that returns the reward of a step. None, the default:
        the rewards that the world states or the model has learned, or else the change of the
        game's score. Where an episode is expected to end, nothing follows.
    milliseconds
        Time limit, even if simulations are left. None, the default: no limit.
    discount
        Discount factor per step, from 0 to 1, which is the default.
    horizon
        The largest number of steps to look ahead, such as those left in an episode.
        None, the default: 50.
    exploration
        pUCT exploration constant, 1.25 by default.
    choose
        Choose the action with the most ``"visits"``, the default, or with the best
        ``"value"``.
    transpositions
        Whether states that are reached on several paths, after as many steps, share a node;
        True by default.

    Examples
    --------
    >>> import treethink as tt
    >>> world = tt.make("maze")
    >>> model = tt.TreeThink(world.schema)
    >>> model.observe_many(tt.transitions(world, steps=3_000, seed=0))
    3000
    >>> plan = tt.plan(model, world.reset(seed=5), horizon=10)
    >>> plan.action, plan.actions[:5]
    ('right', ['right', 'right', 'right', 'stay', 'stay'])
    >>> [each.of_class("player")[0].pos for each in plan.states][:4]
    [(2, 3), (3, 3), (4, 3), (5, 3)]
    """
    checked = SearchSettings(simulations=simulations, **settings)
    return Search(model, checked, seed, reward).plan(state)


def predictor(model: Any) -> Any:
    """Return what the engine queries: its own model, or a function of state and action."""
    overridden = "predict" in getattr(model, "__dict__", {})
    if isinstance(model, TreeThink) and type(model).predict is TreeThink.predict and not overridden:
        return model
    if isinstance(model, World):
        return _true_predictor(model)
    predict: Callable[[State, str], Any] | None = getattr(model, "predict", None)
    if not callable(predict) or isinstance(model, type):
        raise WrongTypeError(
            f"a model must be a TreeThink, a world or something with predict(state, action),"
            f" got {shown(model)}"
        )
    return predict


def _true_predictor(world: World) -> Callable[[State, str], Any]:
    """Return the world's true distribution; nothing changes once an episode is over."""
    from treethink.baselines.prediction import Joint
    from treethink.baselines.trivial import Oracle

    oracle = Oracle(world)

    def predict(state: State, action: str) -> Any:
        return (
            Joint(state, [(state, 1.0)]) if world.is_over(state) else oracle.answer(state, action)
        )

    return predict


def check_state(model: Any, state: object) -> None:
    """Raise an error if the model cannot predict for this state."""
    if not isinstance(state, State):
        raise WrongTypeError(f"state must be a State, got {shown(state)}")
    schema = getattr(model, "schema", None)
    if schema is not None and not state.schema.fits(schema):
        raise StateError("the given state is of another schema than the model")


def _count(name: str, value: object) -> int:
    count = whole_number(name, value, least=1)
    if count > _LARGEST_COUNT:
        raise SettingError(f"{name} must be at most {_LARGEST_COUNT}, got {shown(value)}")
    return count


def _number(name: str, value: object, most: float = math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingError(f"{name} must be a number, got {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (0 <= number <= most and math.isfinite(number)):  # nor NaN
        high = "" if most == math.inf else f" and at most {most:g}"
        raise SettingError(f"{name} must be finite, at least 0{high}, got {shown(value)}")
    return number
