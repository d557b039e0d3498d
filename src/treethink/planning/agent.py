"""Act in a world by planning with a model of it.

world -> state -> [ Agent: plan, act ] -> Episode
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Self, Unpack

import numpy as np

from treethink.errors import SettingError, StateError, WrongTypeError, shown, whole_number
from treethink.explain import notebook
from treethink.planning.rewards import Reward, ends, number, world_reward
from treethink.planning.search import (
    SHOWN,
    Plan,
    Search,
    SearchOptions,
    SearchSettings,
    with_settings,
)
from treethink.state import State
from treethink.stream.random_play import check_world_type, first_state
from treethink.text import many
from treethink.worlds.base import World

#: A callback that gets, after each step, the episode so far and the plan of that step.
Tell = Callable[["Episode", Plan], object]


@dataclass(slots=True, repr=False)
class Episode:
    """The states, actions and rewards of an episode; `seconds` is the time spent planning.

    >>> from treethink import Agent, make
    >>> from treethink.baselines import Oracle
    >>> world = make("maze")
    >>> episode = Agent(Oracle(world)).play(world, steps=5, level=5)
    >>> episode
    <Episode: 5 steps, score +1>
    >>> list(zip(episode.actions, episode.rewards))
    [('right', -1), ('right', -1), ('right', 1), ('stay', 1), ('stay', 1)]
    """

    states: list[State]
    actions: list[str] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """The sum of all rewards."""
        return sum(self.rewards)

    def __repr__(self) -> str:
        return f"<Episode: {many(len(self.actions), 'step')}, score {self.score:+}>"

    def __str__(self) -> str:
        more = ["..."] if len(self.actions) > SHOWN else []
        did = " ".join([*self.actions[:SHOWN], *more])
        return f"{many(len(self.actions), 'step')}, score {self.score:+}: {did}".rstrip(": ")

    def add(self, action: str, state: State, reward: float, seconds: float) -> None:
        """Append a step."""
        self.rewards.append(reward)
        self.actions.append(action)
        self.states.append(state)
        self.seconds += seconds


notebook.install_on(Episode, _repr_html_="treethink.explain.object_html:episode_html")


class Agent:
    """Plays a world by planning each action with a model.

    The settings are those of `tt.plan`, `reward` included. Without a `horizon`, it plans as far
    ahead as there are steps left, or 50 steps if that number is unknown. With `reuse`, the part of
    the search tree below the chosen action is kept for the next one, and new simulations are added
    to it; unless the model has learned since, or the horizon has become shorter.

    The rewards of its episodes are those of `reward`, those that the world states, the changes of
    the game's score, or else those that the model expects.

    Examples
    --------
    >>> import treethink as tt
    >>> world = tt.make("maze")
    >>> model = tt.TreeThink(world.schema)
    >>> model.observe_many(tt.transitions(world, steps=3_000, seed=0))
    3000
    >>> episode = tt.Agent(model).play(world, steps=10, level=5)
    >>> episode.score, episode.actions[:5]
    (6, ['right', 'right', 'right', 'stay', 'stay'])
    """

    @with_settings
    def __init__(
        self,
        model: Any,
        *,
        simulations: int | None = 100,
        seed: int = 0,
        reuse: bool = True,
        reward: Reward | None = None,
        **settings: Unpack[SearchOptions],
    ):
        checked = SearchSettings(simulations=simulations, **settings)
        if not isinstance(reuse, bool):
            raise SettingError(f"reuse must be True or False, got {shown(reuse)}")
        self.model, self.settings, self.seed, self.reuse = model, checked, seed, reuse
        self.reward = reward
        self.reset()

    @classmethod
    def from_settings(
        cls,
        model: Any,
        settings: SearchSettings,
        *,
        seed: int = 0,
        reuse: bool = True,
        reward: Reward | None = None,
    ) -> Self:
        """Return an agent whose search settings are given as one object."""
        return cls(model, seed=seed, reuse=reuse, reward=reward, **asdict(settings))

    def reset(self, seed: int | None = None) -> None:
        """Discard the search tree, and restart the random numbers, with another seed if given."""
        chosen = self.seed if seed is None else seed
        search = Search(self.model, self.settings, chosen, self.reward)
        self.seed, self._search = search.seed, search
        self._last_action: str | None = None

    def __repr__(self) -> str:
        settings = self.settings
        budget = f"{settings.simulations:,} simulations" if settings.simulations else ""
        time = f"{settings.milliseconds:g} ms" if settings.milliseconds else ""
        each = ", ".join(filter(None, (budget, time)))
        return f"<Agent: {each} for each action, in {self.model!r}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the agent without its search tree: a copy starts with an empty one."""
        return {
            "model": self.model,
            "settings": self.settings,
            "seed": self.seed,
            "reuse": self.reuse,
            "reward": self.reward,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.reset()

    def plan(self, state: State, steps_left: int | None = None) -> Plan:
        """Return a plan for a state; `steps_left` limits how far ahead it looks."""
        if steps_left is not None:
            whole_number("steps_left", steps_left, least=1)
        plan = self._search.plan(state, self._last_action if self.reuse else None, steps_left)
        self._last_action = plan.action
        return plan

    def act(self, state: State, steps_left: int | None = None) -> str:
        """Return the action of `plan`."""
        return self.plan(state, steps_left).action

    def play(
        self,
        world: World,
        steps: int,
        *,
        level: int = 0,
        start: State | None = None,
        tell: Tell | None = None,
    ) -> Episode:
        """Play an episode of that many steps, from `start` or from `world.reset(level)`.

        It does not depend on earlier episodes. `tell` is called after each step with the episode
        so far and the plan; if it returns False, the episode ends there.
        """
        if isinstance(world, Sequence) and not isinstance(world, str):
            raise WrongTypeError(
                f"an agent plays in a World, got {shown(world)}; plan from a state of a log with"
                " agent.plan(log.last_state)"
            )
        check_world_type(world, "an agent")
        if tell is not None and not callable(tell):
            raise WrongTypeError(f"tell must be callable or None, got {shown(tell)}")
        steps = whole_number("steps", steps, least=1)
        state = first_state(world, level) if start is None else start
        self.reset()
        rng = np.random.default_rng([self.seed, 1])  # independent of the search's generator
        episode = Episode([state])
        for left in range(steps, 0, -1):
            if world.is_over(state):
                break
            begin = perf_counter()
            plan = self.plan(state, left)
            seconds = perf_counter() - begin
            after = world.step(state, plan.action, rng)
            episode.add(plan.action, after, self._reward(world, state, plan.action, after), seconds)
            over = ends(world, state, plan.action, after)
            state = after
            if (tell is not None and tell(episode, plan) is False) or over:
                break
        return episode

    def _reward(self, world: World, before: State, action: str, after: State) -> float:
        """Return the reward of a step, from where plans get theirs; else what the model expects."""
        if self.reward is not None:
            return number(self.reward(before, after), "reward(before, after)")
        if world.states_reward:
            return world_reward(world, before, action, after)
        if "game" in world.schema.classes:
            return score_of(after) - score_of(before)
        return self.model.predict(before, action).reward() or 0.0


def score_of(state: State) -> int:
    """Return the score of a state, which must have exactly one game."""
    games = state.of_class("game")
    if len(games) != 1:
        raise StateError(f"planning needs exactly one game, the state has {len(games)}")
    return int(games[0].score)
