"""How to draw a state of which only the schema is known: a picture of its level.

    state -> schema -> [ levels ] -> a world that has such states, or plain looks -> SVG

A state does not know its world. If one of ours has that schema, or has it but for its score, its
looks are taken; otherwise every class gets a plain one, and an object stands where the first
of its attributes says that is a position (see `places`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from treethink.explain.english.places import is_position
from treethink.state import Object, Schema, State
from treethink.worlds import WORLDS
from treethink.worlds.base import without_score
from treethink.worlds.draw.layout import Cell, Drawable, Window
from treethink.worlds.draw.svg import svg
from treethink.worlds.looks import Look


@dataclass(frozen=True)
class Plain:
    """Looks for any schema."""

    schema: Schema
    looks: Sequence[Look] = ()

    def place(self, each: Object) -> Cell | None:
        """Its first position."""
        for name, value in each.values.items():
            if isinstance(value, tuple) and is_position(name, value):
                return value[0], value[1]
        return None

    def frame(self) -> Window | None:
        """Not known."""
        return None


def picture(state: State) -> str:
    """The level as SVG; what has no place in it is told below."""
    return svg(drawable(state.schema), state)


def has_places(state: State) -> bool:
    """Whether there is anything to draw."""
    world = drawable(state.schema)
    return any(world.place(each) is not None for each in state)


@lru_cache(maxsize=64)
def drawable(schema: Schema) -> Drawable:
    """The first of our worlds whose states are of that schema, or plain looks."""
    for world in WORLDS.values():
        own = getattr(world, "schema", None)  # of some, it depends on their options
        if isinstance(own, Schema) and schema in (own, without_score(own)):
            return world()
    return Plain(schema)
