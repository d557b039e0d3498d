"""The objects of a MiniGrid environment: its schema, and reading its state.

    environment -> [ Level ] -> State

All ids have one schema, so a model learned in one predicts in any other with the same actions:

    agent    where it stands, and its heading as the vector of a step
    item     keys, balls and boxes: what can be picked up
    door     whether it is open, closed or locked
    mission  what the mission names: what is to be done with which kind and colour of object
    target   the place that the environment checks, where it keeps one
    wall, lava, goal, floor

What the environment has nowhere on its grid has a place outside: the item in the agent's hand is
`held`, and at `HELD`, which is where the environment itself says that it is; a box that was opened,
and so has vanished, is at `GONE`. What is inside a box is at the place of the box, and `inside`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treethink.presets import Category, Flag, Position
from treethink.state import Object, Schema, State
from treethink.worlds.draw.layout import Cell
from treethink.worlds.gym.minigrid.missions import VERBS, mission_values

#: The place of an item in the agent's hand, and that of a box that has vanished.
HELD, GONE = (-1, -1), (-2, -2)
COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
KINDS = ("key", "ball", "box")
#: The environment's own, by their numbers.
DOOR_STATES = ("open", "closed", "locked")
#: What never moves and never changes.
FIXED = ("wall", "lava", "goal", "floor")
ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


def schema(actions: int = len(ACTIONS)) -> Schema:
    """Return the schema of all ids with that number of actions: most have all seven.

    >>> schema(3).actions
    ('left', 'right', 'forward')
    """
    named = ("any", *COLOURS)
    kinds = ("any", *KINDS, "door")
    return Schema(
        classes={
            "agent": ["pos", "heading"],
            "item": ["pos", "kind", "color", "held", "inside"],
            "door": ["pos", "color", "state"],
            "mission": ["verb", "kind", "color", "near_kind", "near_color"],
            "target": ["pos"],
            "wall": ["pos"],
            "lava": ["pos"],
            "goal": ["pos"],
            "floor": ["pos"],
        },
        attributes={
            "pos": Position(2),
            "heading": Position(2),
            "kind": Category(kinds),
            "color": Category(named),
            "state": Category(DOOR_STATES),
            "held": Flag(),
            "inside": Flag(),
            "verb": Category(VERBS),
            "near_kind": Category(kinds, like="kind"),
            "near_color": Category(named, like="color"),
        },
        actions=ACTIONS[:actions],
    )


class Level:
    """An episode of an environment: its own objects, by the ids that they have until it ends.

    In order of their ids: the agent, doors, items, the mission, the target, and what is fixed.
    """

    def __init__(self, env: Any, schema: Schema, movable: dict[int, Any] | None = None):
        self.env, self.schema = env, schema
        self.movable = dict(_movable(env)) if movable is None else movable
        self._first: State | None = None

    def first_state(self) -> State:
        """Return the state of an environment that was just reset."""
        objects = [_agent(self.env), *self._movable_objects()]
        number = 1 + len(self.movable)
        for class_name, values in (*_told(self.env), *_fixed(self.env)):
            objects.append(Object(number, class_name, **values))
            number += 1
        return State(self.schema, objects)

    def next_state(self, state: State) -> State:
        """Return the state of the environment, given the one before."""
        changes: dict[int, dict[str, Any]] = {}
        for new in (_agent(self.env), *self._movable_objects()):
            old = state[new.id].values
            changed = {name: value for name, value in new.values.items() if old[name] != value}
            if changed:
                changes[new.id] = changed
        return state.replace_many(changes) if changes else state

    def _movable_objects(self) -> Iterator[Object]:
        """Yield doors and items, each where it is."""
        places = self._places()
        for number, thing in self.movable.items():
            if thing.type == "door":
                state = DOOR_STATES[thing.encode()[2]]
                pos = places[id(thing)]
                yield Object(number, "door", pos=pos, color=thing.color, state=state)
            else:
                pos, inside = places.get(id(thing), (GONE, False))
                yield Object(
                    number, "item", pos=pos, kind=thing.type, color=thing.color,
                    held=thing is self.env.carrying, inside=inside,
                )  # fmt: skip

    def _places(self) -> dict[int, Any]:
        """Return the places of doors and items on the grid, in hand, and in boxes."""
        grid, places = self.env.grid, {}
        for cell, thing in enumerate(grid.grid):
            if thing is None or thing.type in FIXED:
                continue
            pos = cell % grid.width, cell // grid.width
            if thing.type == "door":
                places[id(thing)] = pos
            else:
                _place_with_contents(places, thing, pos)
        if self.env.carrying is not None:
            _place_with_contents(places, self.env.carrying, HELD)
        return places


def _place_with_contents(places: dict[int, Any], thing: Any, pos: Cell) -> None:
    """Note the place of an item and of what is inside."""
    inside = False
    while thing is not None:
        places[id(thing)] = pos, inside
        thing, inside = thing.contains, True


def _movable(env: Any) -> Iterator[tuple[int, Any]]:
    """Yield numbers from 1 with doors, then items with what is inside, in reading order."""
    things = [each for each in env.grid.grid if each is not None and each.type not in FIXED]
    if env.carrying is not None:
        things.append(env.carrying)
    items = [each for each in things if each.type != "door"]
    for each in items:
        if each.contains is not None:
            items.append(each.contains)  # and what is inside of it, in turn
    yield from enumerate([*(each for each in things if each.type == "door"), *items], start=1)


def _agent(env: Any) -> Object:
    x, y = env.agent_pos
    dx, dy = env.dir_vec
    return Object(0, "agent", pos=(int(x), int(y)), heading=(int(dx), int(dy)))


def _told(env: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the mission, if it names an object, and the place that the environment checks."""
    values = mission_values(env)
    if values is not None:
        yield "mission", values
    place = getattr(env, "target_pos", None)
    if place is not None:
        yield "target", {"pos": (int(place[0]), int(place[1]))}


def _fixed(env: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield walls, lava, goals and floor tiles in reading order, one class after the other."""
    grid = env.grid
    for name in FIXED:
        for cell, thing in enumerate(grid.grid):
            if thing is not None and thing.type == name:
                yield name, {"pos": (cell % grid.width, cell // grid.width)}
