"""The run that most pictures show: a model that observes `doors`, with one seed."""

from __future__ import annotations

from functools import cache

from treethink.explain.why.explanation import Reason
from treethink.model import Change, TreeThink
from treethink.rules import Rule, RuleKey
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World, make

STEPS, SEED = 2_000, 0
RULE: RuleKey = ("player", "pos", "right")


@cache
def world() -> World:
    """Return the world of the run."""
    return make("doors")


@cache
def stream() -> tuple[AnyTransition, ...]:
    """Return the observed transitions."""
    return tuple(transitions(world(), STEPS, SEED))


@cache
def model(steps: int = STEPS) -> TreeThink:
    """Return the model after `steps` transitions. It must not observe more."""
    learner = TreeThink(world().schema)
    learner.observe_many(stream()[:steps])
    return learner


def trained(other: World, steps: int) -> TreeThink:
    """Return a model of another world, after `steps` transitions."""
    learner = TreeThink(other.schema)
    learner.observe_many(transitions(other, steps, SEED))
    return learner


@cache
def decisions() -> tuple[Change, ...]:
    """Return the changes of the rule, in order."""
    changes: list[Change] = []
    learner = TreeThink(world().schema)
    learner.on_change = changes.append
    learner.observe_many(stream())
    return tuple(change for change in changes if change.rule == RULE)


def rule(steps: int = STEPS) -> Rule:
    """Return the rule after `steps` transitions."""
    return model(steps).rules[RULE]


def player_of(state: State) -> int:
    """Return the id of the player."""
    (player,) = state.of_class("player")
    return player.id


def reason_for(state: State, learner: TreeThink | None = None) -> Reason:
    """Return the explanation of the player's new position after a step to the right."""
    of = (player_of(state), "pos")
    return (learner or model()).explain(state, RULE[2], of=of)[of]


@cache
def first_step_with(answers: tuple[bool, ...]) -> AnyTransition:
    """Return the first step to the right for which the rule's tests have these answers.

    Steps from a door are skipped, because the player is hard to see there.
    """
    return next(
        (before, action, after)
        for before, action, after in stream()
        if action == RULE[2]
        and not before.find("door", pos=before[player_of(before)].pos)
        and tuple(step.holds for step in reason_for(before).steps) == answers
    )
