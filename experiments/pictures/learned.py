"""The run that most pictures are of: a model that watches `doors`, from one seed."""

from __future__ import annotations

from functools import cache

from treethink.explain.why.reason import Reason
from treethink.model import Change, TreeThink
from treethink.rules import Rule, RuleKey
from treethink.state import State
from treethink.stream.random_play import Transition, transitions
from treethink.worlds import World, make

STEPS, SEED = 2_000, 0
RULE: RuleKey = ("player", "pos", "right")


@cache
def world() -> World:
    return make("doors")


@cache
def stream() -> tuple[Transition, ...]:
    """What is watched."""
    return tuple(transitions(world(), STEPS, SEED))


@cache
def model(steps: int = STEPS) -> TreeThink:
    """The model after so many transitions. Do not let it learn on."""
    learner = TreeThink(world().schema)
    learner.observe_many(stream()[:steps])
    return learner


def taught(other: World, steps: int) -> TreeThink:
    """A model of another world, after so many transitions."""
    learner = TreeThink(other.schema)
    learner.observe_many(transitions(other, steps, SEED))
    return learner


@cache
def decisions() -> tuple[Change, ...]:
    """What was decided about the rule, in order."""
    found: list[Change] = []
    learner = TreeThink(world().schema)
    learner.on_change = found.append
    learner.observe_many(stream())
    return tuple(change for change in found if change.rule == RULE)


def rule(steps: int = STEPS) -> Rule:
    return model(steps).rules[RULE]


def player_of(state: State) -> int:
    """The id of the player."""
    (player,) = state.of_class("player")
    return player.id


def reason_for(state: State, learner: TreeThink | None = None) -> Reason:
    """Why the player's place becomes what it becomes, of one step to the right."""
    of = (player_of(state), "pos")
    return (learner or model()).explain(state, RULE[2], of=of)[of]


@cache
def met(answers: tuple[bool, ...]) -> Transition:
    """The first step to the right of which the rule's tests had these answers.

    Where the player stands on a door it is hard to see, so those are passed over.
    """
    return next(
        (before, action, after)
        for before, action, after in stream()
        if action == RULE[2]
        and not before.find("door", pos=before[player_of(before)].pos)
        and tuple(step.holds for step in reason_for(before).steps) == answers
    )
