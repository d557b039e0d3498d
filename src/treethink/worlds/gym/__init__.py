"""Gymnasium environments as worlds.

    environment -> [ GymWorld ] -> State -> stream -> learner

To learn an environment, say three things about it: a schema, a name for each action, and a
function that reads the environment and returns its state as objects. `GymWorld` does the
rest, and streams, trials and `treethink learn` work as with any other world:

    def to_state(env):
        cart = env.unwrapped
        return [Object(0, "cart", pos=cart.position), Object(1, "wall", pos=cart.end)]

    schema = Schema({"cart": ["pos"], "wall": ["pos"]}, {"pos": 1}, ["left", "right"])

    def world():
        return GymWorld("Cart-v0", schema=schema, to_state=to_state)

    treethink learn package.module:world

What only its observations show, a wrapper of the environment can keep for `to_state`.

An environment that lists its own dynamics in a table, as Gymnasium's toy texts do, is better
made a `TableWorld`: it can be asked about any state, and knows its truth. Three are ready:
`Taxi`, `FrozenLake` and `CliffWalking`. They are also examples of how to choose objects and
attributes so that what an action does is a handful of deltas.

The way in the other direction, a world as an environment of Gymnasium, is `treethink.envs`.
Gymnasium is needed only when one of these is made: ``pip install 'treethink[gym]'``.
"""

from treethink.worlds.gym.adapter import GymWorld
from treethink.worlds.gym.cliffwalking import CliffWalking
from treethink.worlds.gym.frozenlake import FrozenLake
from treethink.worlds.gym.table import TableWorld
from treethink.worlds.gym.taxi import Taxi

__all__ = ["GymWorld", "TableWorld", "Taxi", "FrozenLake", "CliffWalking"]
