"""Put a MiniGrid environment into a state: the inverse of reading its objects.

    state -> [ Rebuilder ] -> environment, with a Level that reads it

Everything on the grid is made anew from the objects, as the package's own classes. What is fixed is
made once for all states of a level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treethink.errors import StateError
from treethink.state import Object, State
from treethink.worlds.draw.layout import Cell
from treethink.worlds.gym.minigrid.encoding import FIXED, GONE, HELD, Level
from treethink.worlds.gym.minigrid.missions import set_mission


class Rebuilder:
    """Puts one environment into any states, one after the other."""

    def __init__(self, env: Any):
        self.env = env
        self._fixed: tuple[list[list[Cell]], Any] | None = None

    def level(self, state: State, where: str) -> Level:
        """Put the environment into the state, and return what reads it; `where` is for errors."""
        env = self.env
        try:
            env.grid = self._grid(state)
            things = {each.id: _thing(each) for each in _movables(state)}
            env.carrying = None
            self._place(state, things)
            _set_agent(env, state)
            _set_mission(env, state, things)
        except (AssertionError, IndexError, KeyError) as error:
            raise StateError(f"{where} cannot have this state: {error!r}") from error
        except StateError as error:
            raise StateError(f"{where} cannot have this state: {error}") from error
        return Level(env, state.schema, things)

    def _grid(self, state: State) -> Any:
        """Return a new grid with what is fixed."""
        from minigrid.core.grid import Grid

        places: list[list[Cell]] = [[each.pos for each in state.of_class(name)] for name in FIXED]
        if self._fixed is None or self._fixed[0] != places:
            self._fixed = places, self._fixed_grid(places)
        known = self._fixed[1]
        copied = Grid(known.width, known.height)
        copied.grid = list(known.grid)
        return copied

    def _fixed_grid(self, places: list[list[Cell]]) -> Any:
        """Return a grid with walls, lava, goals and floor tiles at their places."""
        from minigrid.core.grid import Grid

        cells = [pos for each in places for pos in each]
        right, bottom = (max((pos[i] for pos in cells), default=2) for i in (0, 1))
        grid = Grid(max(right + 1, self.env.width), max(bottom + 1, self.env.height))
        for name, each in zip(FIXED, places, strict=True):
            for x, y in each:
                _check_free(grid, (x, y), name)
                grid.set(x, y, _FIXED[name]())
        return grid

    def _place(self, state: State, things: dict[int, Any]) -> None:
        """Put doors and items onto the grid, into the hand, and into boxes."""
        env, inside = self.env, []
        for number, thing in things.items():
            pos, values = state[number].pos, state[number].values
            thing.cur_pos = thing.init_pos = pos
            if values.get("held"):
                self._take(thing, pos, number)
            elif values.get("inside"):
                inside.append((pos, thing))
            elif pos != GONE:
                _check_free(env.grid, pos, f"{thing.type} {number}")
                env.grid.set(*pos, thing)
        for pos, thing in inside:
            box = env.carrying if pos == HELD else env.grid.get(*pos)
            if box is None or box.type != "box" or box.contains is not None:
                raise StateError(f"no box to be in is at {pos} for the {thing.type}")
            box.contains = thing

    def _take(self, thing: Any, pos: Cell, number: int) -> None:
        """Put an item into the agent's hand."""
        if self.env.carrying is not None:
            raise StateError(f"two items are in the agent's hand: {thing.type} {number}")
        if pos != HELD:
            raise StateError(f"the {thing.type} {number} is held and at {pos}, not at {HELD}")
        self.env.carrying = thing


def _check_free(grid: Any, pos: Cell, what: str) -> None:
    x, y = pos
    if not (0 <= x < grid.width and 0 <= y < grid.height):
        raise StateError(f"{what} is at {pos}, which is not on the grid")
    if grid.get(x, y) is not None:
        raise StateError(f"{what} is at {pos}, where a {grid.get(x, y).type} is")


def _movables(state: State) -> list[Object]:
    return [*state.of_class("door"), *state.of_class("item")]


def _thing(each: Object) -> Any:
    """Return an object of the package."""
    from minigrid.core import world_object as package

    world_object: Any = package
    if each.class_name == "door":
        return world_object.Door(each.color, each.state == "open", each.state == "locked")
    if each.kind == "box":
        return world_object.Box(each.color)
    return {"key": world_object.Key, "ball": world_object.Ball}[each.kind](each.color)


def _wall(name: str) -> Callable[[], Any]:
    def make() -> Any:
        from minigrid.core import world_object

        return getattr(world_object, name.capitalize())()

    return make


_FIXED = {name: _wall(name) for name in FIXED}


def _set_agent(env: Any, state: State) -> None:
    from minigrid.core.constants import DIR_TO_VEC

    agents = state.of_class("agent")
    if len(agents) != 1:
        raise StateError(f"there must be exactly one agent, the state has {len(agents)}")
    (agent,) = agents
    headings = [tuple(map(int, each)) for each in DIR_TO_VEC]
    if agent.heading not in headings:
        raise StateError(f"the agent's heading is one of {headings}, got {agent.heading}")
    x, y = agent.pos
    if not (0 <= x < env.grid.width and 0 <= y < env.grid.height):
        raise StateError(f"the agent is at {agent.pos}, which is not on the grid")
    env.agent_pos, env.agent_dir = (x, y), headings.index(agent.heading)


def _set_mission(env: Any, state: State, things: dict[int, Any]) -> None:
    missions, targets = state.of_class("mission"), state.of_class("target")
    values = missions[0].values if missions else None
    set_mission(env, values, targets[0].pos if targets else None, list(things.values()))
    if hasattr(env, "obstacles"):
        env.obstacles = list(things.values())
