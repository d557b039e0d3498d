"""MiniGrid and BabyAI as worlds: `treethink.make("minigrid:DoorKey-8x8")`.

    environment -> [ encoding ] -> State -> [ rebuild ] -> environment -> step -> State

The environment makes every step itself. `encoding` reads its objects, `missions` what its mission
names, `rebuild` puts it into any state, `obstacles` lists what Dynamic-Obstacles may do, and
`stress` puts situations together. `ids` knows the names. The package MiniGrid is needed only to
make such a world: ``pip install '.[minigrid]'`` in a clone of TreeThink.
"""

from treethink.worlds.gym.minigrid.ids import (
    NOT_FITTING,
    PREFIX,
    fitting_ids,
    is_installed,
    summary,
)
from treethink.worlds.gym.minigrid.world import MiniGrid

__all__ = ["MiniGrid", "NOT_FITTING", "PREFIX", "fitting_ids", "is_installed", "summary"]
