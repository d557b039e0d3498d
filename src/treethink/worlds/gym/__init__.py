"""Gymnasium environments as worlds.

    environment -> [ GymWorld ] -> State -> stream -> learner

To learn an environment, define a schema, which names its actions, and a function that returns the
state of the environment as objects. `GymWorld` then makes it a world, for which streams, trials
and `treethink learn` work as usual:

    def to_state(env):
        cart = env.unwrapped
        return [Object(0, "cart", pos=cart.position), Object(1, "wall", pos=cart.end)]

    schema = Schema({"cart": ["pos"], "wall": ["pos"]}, {"pos": 1}, ["left", "right"])

    def world():
        return GymWorld("Cart-v0", schema=schema, to_state=to_state)

    treethink learn package.module:world

If part of the state is only available in observations, wrap the environment and store it there
for `to_state`.

Use `TableWorld` for an environment with a table of its dynamics, such as Gymnasium's toy text
environments: it can step from any state and knows the exact distribution over next states. Three
are included: `Taxi`, `FrozenLake` and `CliffWalking`. They are also examples of how to choose
objects and attributes so that an action causes only a few different deltas.

`treethink.envs` does the reverse and turns a world into a Gymnasium environment. Gymnasium is
needed only to create one of these worlds: ``pip install '.[gym]'`` in a clone of TreeThink.
"""

from treethink.worlds.gym.adapter import GymWorld, joint_actions
from treethink.worlds.gym.cliffwalking import CliffWalking
from treethink.worlds.gym.frozenlake import FrozenLake
from treethink.worlds.gym.table import TableWorld
from treethink.worlds.gym.taxi import Taxi
from treethink.worlds.gym.tracker import Tracker

__all__ = [
    "GymWorld",
    "TableWorld",
    "Taxi",
    "FrozenLake",
    "CliffWalking",
    "Tracker",
    "joint_actions",
]
