"""A picture of a state of which only the schema is known.

A state does not know its world. If one of our worlds has the same schema, with or without its
score, that world's looks are used. Otherwise every class gets a plain look, and the first position
among an object's attributes says where it stands (see `english/words.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from treethink.explain.english.words import is_position
from treethink.state import Object, Schema, State
from treethink.worlds import WORLDS
from treethink.worlds.base import without_score
from treethink.worlds.draw.layout import Cell, Drawable, Window
from treethink.worlds.draw.svg import svg
from treethink.worlds.looks import Look


@dataclass(frozen=True)
class PlainLooks:
    """What drawing needs of a world, for any schema."""

    schema: Schema
    looks: Sequence[Look] = ()

    def place(self, each: Object) -> Cell | None:
        """Return the object's first position."""
        for name, value in each.values.items():
            if isinstance(value, tuple) and is_position(name, value):
                return value[0], value[1]
        return None

    def frame(self) -> Window | None:
        """Return None: the size of a level is not known."""
        return None


def state_svg(state: State) -> str:
    """Return the state as SVG; objects without a position are listed below the picture."""
    return svg(drawable(state.schema), state)


def has_places(state: State) -> bool:
    """Whether any object has a position."""
    world = drawable(state.schema)
    return any(world.place(each) is not None for each in state)


@lru_cache(maxsize=64)
def drawable(schema: Schema) -> Drawable:
    """Return the first of our worlds with that schema, or plain looks."""
    for world in WORLDS.values():
        own = getattr(world, "schema", None)  # the schema of some depends on their options
        if isinstance(own, Schema) and schema in (own, without_score(own)):
            return world()
    return PlainLooks(schema)
