"""NPE*: the network of `maze` (appendix F) with weights set by hand instead of learned.

    maze's schema -> [ wired: knots, hats, ANDs ] -> a network that predicts every transition

All values are small integers, which floating point represents exactly. So a ReLU can compute a
logical AND: max(a + b + c - 2, 0) is 1 if a, b and c are 1, and 0 if any of them is 0. Whether an
integer z equals v is a hat function: max(z - v + 1, 0) - 2 max(z - v, 0) + max(z - v - 1, 0).

    layer 1 of F1    knots of dx = x_j - x_i and dy = y_j - y_i; classes of i and j
    layer 2          i is a player, and j is at this offset from it: one unit for each offset
    layer 3          the same, passed on
    layer 4          ... and j is a wall; ... and j is a goal
    sum over j       how many walls and goals there are at each offset
    F2               this action is taken, by a player, and no wall is in its way
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import torch
from torch import nn

from treethink.baselines.base import Learner
from treethink.baselines.npe.encoding import Encoding
from treethink.baselines.npe.learner import NPE
from treethink.baselines.npe.network import Rewards, Transitions
from treethink.errors import SettingError
from treethink.state import Schema, State

#: A unit of a linear layer: the weights of its inputs, by index, and the bias.
Unit = tuple[dict[int, float], float]
Offset = tuple[int, int]

#: The offset of each action of `maze`.
OFFSETS: dict[str, Offset] = {
    "stay": (0, 0), "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1),
}  # fmt: skip
_KNOTS = (2, 1, 0, -1, -2)


def wire(layer: nn.Module, units: Sequence[Unit]) -> None:
    """Set the weights of a linear layer, unit by unit; those that are not named are 0."""
    linear = cast(nn.Linear, layer)
    with torch.no_grad():
        linear.weight.zero_()
        linear.bias.zero_()
        for row, (inputs, constant) in enumerate(units):
            linear.bias[row] = constant
            for column, weight in inputs.items():
                linear.weight[row, column] += weight


def hat(first: int, value: int) -> dict[int, float]:
    """Return weights of the hat function: 1 where z equals `value`, 0 at other integers.

    max(z - v + 1, 0) - 2 max(z - v, 0) + max(z - v - 1, 0); `first` is the unit of the
    first knot.
    """
    return {
        first + _KNOTS.index(1 - value): 1.0,
        first + _KNOTS.index(-value): -2.0,
        first + _KNOTS.index(-1 - value): 1.0,
    }


def wire_pairs(
    f1: nn.Sequential, encoding: Encoding, offsets: Sequence[Offset], things: Sequence[str]
) -> None:
    """Wire F1: X_i is a player, and X_j is one of the things, at one of the offsets from it.

    Its outputs are all pairs (thing, offset), thing by thing. The sum over j counts them.
    """
    d, x, y = encoding.d, encoding.columns["pos"].start, encoding.columns["pos"].start + 1
    player, *classes = (encoding.classes.index(each) for each in ("player", *things))
    # Knots of dx = x_j - x_i, then of dy; then: i is a player, j is a thing of each class.
    knots: list[Unit] = [({d + c: 1.0, c: -1.0}, float(k)) for c in (x, y) for k in _KNOTS]
    classes_of: list[Unit] = [({player: 1.0}, 0.0), *(({d + each: 1.0}, 0.0) for each in classes)]
    wire(f1[0], [*knots, *classes_of])
    # AND of three: i is a player, dx matches, dy matches. The classes of j are passed on.
    n, is_player = len(_KNOTS), len(knots)
    at: list[Unit] = [({**hat(0, dx), **hat(n, dy), is_player: 1.0}, -2.0) for dx, dy in offsets]
    passed_on: list[Unit] = [({is_player + 1 + i: 1.0}, 0.0) for i in range(len(things))]
    wire(f1[2], [*at, *passed_on])
    wire(f1[4], [({i: 1.0}, 0.0) for i in range(len(at) + len(passed_on))])
    # AND of two: j is at that offset, and of that class.
    pairs = [(thing, offset) for thing in range(len(things)) for offset in range(len(offsets))]
    wire(f1[6], [({offset: 1.0, len(at) + thing: 1.0}, -1.0) for thing, offset in pairs])


def unblocked(encoding: Encoding, actions: Sequence[str], moves: Sequence[str]) -> list[Unit]:
    """Return a unit for each move: it is taken, by a player, and no wall is in the way.

    max(taken + is player - 1 - walls, 0) is 1 without walls, and 0 with one or with several.
    """
    d, player = encoding.d, encoding.classes.index("player")
    walls = d + len(actions)
    return [
        ({d + actions.index(each): 1.0, player: 1.0, walls + k: -1.0}, -1.0)
        for k, each in enumerate(moves)
    ]


def wire_transitions(network: Transitions, encoding: Encoding, actions: Sequence[str]) -> None:
    """Wire the transitions: a player moves by the action's offset unless a wall is there."""
    moves = [each for each in actions if OFFSETS[each] != (0, 0)]
    inner, position = network.inner, encoding.columns["pos"].start
    wire_pairs(inner.f1, encoding, [OFFSETS[each] for each in moves], ["wall"])
    wire(inner.f2[0], unblocked(encoding, actions, moves))
    shift: list[Unit] = [({}, 0.0)] * encoding.d
    for axis in (0, 1):
        shift[position + axis] = (
            {k: float(OFFSETS[each][axis]) for k, each in enumerate(moves)},
            0.0,
        )
    wire(inner.f2[2], shift)


def wire_rewards(network: Rewards, encoding: Encoding, actions: Sequence[str]) -> None:
    """Wire the rewards: -2 for a bump; otherwise 1 on a goal and -1 elsewhere.

    That is -2 + 3 (no bump) - 2 (no bump, and no goal there).
    """
    inner, n = network.inner, len(actions)
    wire_pairs(inner.f1, encoding, [OFFSETS[each] for each in actions], ["wall", "goal"])
    no_bump = unblocked(encoding, actions, actions)
    goals = encoding.d + len(actions) + n
    no_goal: list[Unit] = [
        ({**inputs, goals + k: -1.0}, constant) for k, (inputs, constant) in enumerate(no_bump)
    ]
    wire(inner.f2[0], [*no_bump, *no_goal])
    wire(network.last, [({k: 3.0 if k < n else -2.0 for k in range(2 * n)}, -2.0)])


class HandBuilt(NPE):
    """NPE*: the network of `maze` with weights set by hand instead of learned.

    It models walls that stop a player and goals that give points, and nothing else; so it can be
    used for `walls` too.

    >>> from treethink.worlds import make
    >>> world = make("maze", width=12, height=12)
    >>> state = world.reset(seed=0)
    >>> prediction = HandBuilt(world.schema).predict(state, "right")
    >>> [(prediction.mode(), 1.0)] == world.distribution(state, "right")
    True
    """

    name = "npe-star"
    cannot_keep: ClassVar[Mapping[str, str]] = {
        "an_unseen_action_gets_a_defined_answer": "it knows what an action does without seeing it",
    }

    def __init__(self, schema: Schema, *, device: str | None = None):
        super().__init__(schema, device=device)
        encoding, actions = self.encoding, schema.actions
        self._check_world()
        wire_transitions(cast(Transitions, self.networks["transitions"]), encoding, actions)
        if encoding.keeps_score:
            wire_rewards(cast(Rewards, self.networks["rewards"]), encoding, actions)

    def _check_world(self) -> None:
        classes, actions = set(self.encoding.classes), set(self.schema.actions)
        needed = {"wall", "player"} | ({"goal"} if self.encoding.keeps_score else set())
        known = needed <= classes <= {*needed, "goal"} and actions <= OFFSETS.keys()
        if (
            not known
            or self.encoding.attributes != ["pos"]
            or self.schema.attributes["pos"].length != 2
        ):
            raise SettingError(
                "npe-star was built by hand for `maze`, and has no weights for a world with the"
                f" classes {', '.join(self.schema.classes)} and the actions"
                f" {', '.join(self.schema.actions)}"
            )

    def __repr__(self) -> str:
        return "<NPE*: built by hand>"

    def learn(self, before: State, action: str, after: State) -> None:
        """Learn nothing."""

    def settings(self) -> dict[str, Any]:
        """Return no settings."""
        return {}

    def body(self) -> bytes:
        """Return no bytes."""
        return b""

    def restore(self, body: bytes) -> None:
        """Check that there is nothing to restore."""
        Learner.restore(self, body)
