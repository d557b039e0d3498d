"""Choose an action by looking ahead in a model.

    model, state -> [ plan ] -> Plan: action, visits, values, what is expected

Monte-Carlo tree search with the pUCT rule, as in appendix G of the paper. The search itself is the
engine's (cpp/search/search.hpp says how it goes); what stands here is the part that people touch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

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
from treethink.model import TreeThink
from treethink.state import State
from treethink.worlds.base import World

#: How many steps ahead a search looks where nobody says how many are left.
HORIZON = 50
_MOST = 2**63 - 1
_CHOICES = ("visits", "value")
#: How many of the expected actions are printed.
_SHOWN = 12


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What a search found.

    `visits` and `values` say of each action how often it was tried and its mean return (None if it
    never was); `actions` and `states` are what it expects if all goes well, from the state it was
    asked about on. `nodes` are the situations that it knows of.

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
    __hash__ = None  # type: ignore[assignment]  # dicts have none either

    def __str__(self) -> str:
        wide = max(len(each) for each in self.visits)
        lines = [f"{self.action} after {self.simulations:,} simulations, {self.nodes:,} situations"]
        for each, visits in self.visits.items():
            value = self.values[each]
            mark = "*" if each == self.action else " "
            tried = "not tried" if value is None else f"{value:9.3f}"
            lines.append(f"{mark} {each:<{wide}} {visits:9,} {tried:>9}")
        more = ["..."] if len(self.actions) > _SHOWN else []
        return "\n".join([*lines, " ".join(["expected:", *self.actions[:_SHOWN], *more])])

    def __repr__(self) -> str:
        return f"<Plan: {self.action}, {self.simulations:,} simulations>"


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


class Search:
    """A search that goes on from state to state."""

    def __init__(self, model: Any, settings: SearchSettings, seed: int):
        self.model, self.settings = model, settings
        self.seed = whole_number("seed", seed)
        if self.seed >= 2**64:
            raise SettingError(f"seed must be below 2**64, got {shown(self.seed)}")
        self._asked = asked(model)
        self._rng = np.random.default_rng(self.seed)
        self._tree: _engine.Search | None = None
        self._known: Any = None
        self._horizon = 0

    def plan(self, state: State, after: str | None = None, steps_left: int | None = None) -> Plan:
        """What to do in `state`, which the action `after` led to, if it goes on."""
        check_state(self.model, state)
        limits = [each for each in (self.settings.horizon, steps_left) if each is not None]
        tree = self._at(state, after, min(limits, default=HORIZON))
        settings = self.settings
        done = tree.run(
            self._asked,
            self._rng,
            settings.simulations or 0,
            settings.milliseconds or 0.0,
            self._horizon,
        )
        names, found, expected = state.schema.actions, tree.actions(), tree.variation()
        return Plan(
            action=tree.best(),
            visits={name: visits for name, (visits, _) in zip(names, found, strict=True)},
            values={name: value for name, (_, value) in zip(names, found, strict=True)},
            actions=[action for action, _ in expected],
            states=[state, *(reached for _, reached in expected)],
            simulations=done,
            nodes=tree.size()[0],
        )

    def _at(self, state: State, after: str | None, horizon: int) -> _engine.Search:
        """The tree with `state` as its root: what is left of the old one, if that still holds."""
        # Not if it looked further than is asked for now, or if the model has learned since.
        known = getattr(self.model, "observations", None), getattr(self.model, "_edits", 0)
        has_learned = known != self._known
        holds = horizon >= self._horizon - 1 and not has_learned
        if self._tree is None:
            settings = self.settings
            self._tree = _engine.Search(
                state,
                settings.discount,
                settings.exploration,
                settings.transpositions,
                settings.choose == "value",
                self.seed,
            )
        elif after is None or not holds or not self._tree.follow(after, state):
            if has_learned or known[0] is None:  # else what it foresaw elsewhere holds here too
                self._tree.forget()
            self._tree.start(state)
        self._known, self._horizon = known, horizon
        return self._tree

    @property
    def steps(self) -> int:
        """How many steps its simulations went down, as far as their situations are still known."""
        tree = [] if self._tree is None else self._tree._tree()
        return sum(edge[0] for *_, edges in tree for edge in edges)


def plan(
    model: Any,
    state: State,
    simulations: int | None = 100,
    seed: int = 0,
    *,
    milliseconds: float | None = None,
    discount: float = 1.0,
    horizon: int | None = None,
    exploration: float = 1.25,
    choose: str = "visits",
    transpositions: bool = True,
) -> Plan:
    """Choose an action in a state by Monte-Carlo tree search in a model.

    Parameters
    ----------
    model
        A `TreeThink`, which is asked within the engine, the GIL being free; a world, which plans
        with the truth; or anything with ``predict(state, action)``, as all learners have.
    simulations
        How many times to look ahead, each of which asks for one prediction at most. None: as many
        as there is time for.
    seed
        Decides what is left to chance, and between equals. The same seed gives the same plan.
    milliseconds
        Stop after this time, even if simulations are left. None: take the time it takes.
    discount
        What a reward is worth one step later, from 0 to 1.
    horizon
        How many steps ahead it looks at most, such as those that an episode has left. None: 50.
        Where there are few situations and many simulations, each goes down all the way.
    exploration
        How much is tried that does not look best.
    choose
        The action with the most ``"visits"``, or that with the best ``"value"``.
    transpositions
        Whether what is reached on several ways, after as many steps, is one situation.

    Examples
    --------
    >>> import treethink as tt
    >>> world = tt.make("maze")
    >>> model = tt.TreeThink(world.schema)
    >>> model.observe_many(tt.transitions(world, steps=3_000, seed=0))
    3000
    >>> found = tt.plan(model, world.reset(seed=5), horizon=10)
    >>> found.action, found.actions[:5]
    ('right', ['right', 'right', 'right', 'stay', 'stay'])
    >>> [each.of_class("player")[0].pos for each in found.states][:4]
    [(2, 3), (3, 3), (4, 3), (5, 3)]
    """
    settings = SearchSettings(
        simulations=simulations,
        milliseconds=milliseconds,
        discount=discount,
        horizon=horizon,
        exploration=exploration,
        choose=choose,
        transpositions=transpositions,
    )
    return Search(model, settings, seed).plan(state)


def asked(model: Any) -> Any:
    """What the engine asks: a model of its own, or a function of state and action."""
    own = "predict" in getattr(model, "__dict__", {})
    if isinstance(model, TreeThink) and type(model).predict is TreeThink.predict and not own:
        return model
    if isinstance(model, World):
        return _truth(model)
    predict: Callable[[State, str], Any] | None = getattr(model, "predict", None)
    if not callable(predict) or isinstance(model, type):
        raise WrongTypeError(
            f"a model must be a TreeThink, a world or something with predict(state, action),"
            f" got {shown(model)}"
        )
    return predict


def _truth(world: World) -> Callable[[State, str], Any]:
    """What the world says; once an episode is over there, nothing happens any more."""
    from treethink.baselines.prediction import Joint
    from treethink.baselines.trivial import Oracle

    oracle = Oracle(world)

    def predict(state: State, action: str) -> Any:
        return (
            Joint(state, [(state, 1.0)]) if world.is_over(state) else oracle.answer(state, action)
        )

    return predict


def check_state(model: Any, state: object) -> None:
    """Whether it is a state that the model can be asked about."""
    if not isinstance(state, State):
        raise WrongTypeError(f"state must be a State, got {shown(state)}")
    schema = getattr(model, "schema", None)
    if schema is not None and schema is not state.schema and schema != state.schema:
        raise StateError("the given state is of another schema than the model")


def _count(name: str, value: object) -> int:
    count = whole_number(name, value, least=1)
    if count > _MOST:
        raise SettingError(f"{name} must be at most {_MOST}, got {shown(value)}")
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
