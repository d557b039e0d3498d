"""Trivial learners, as lower and upper limits of every comparison.

`Static` predicts that nothing changes; `Oracle` predicts with the world itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from treethink.baselines.base import Learner
from treethink.baselines.prediction import Joint, Product
from treethink.errors import SchemaError, SettingError, shown
from treethink.state import Schema, State
from treethink.stream.random_play import check_world_type
from treethink.worlds import WORLDS, World, make


class Static(Learner):
    """A learner that predicts no change.

    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> state = world.reset(seed=0)
    >>> Static(world.schema).predict(state, "right").mode() == state
    True
    """

    name = "static"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: nothing changes>"

    def learn(self, before: State, action: str, after: State) -> None:
        """Learn nothing."""

    def answer(self, state: State, action: str) -> Product:
        """Return the state unchanged."""
        return Product(state, {})

    def memory_use(self) -> dict[str, int]:
        """Return 0 bytes."""
        return {"bytes": 0}


class Oracle(Learner):
    """A learner that predicts with the world's own distribution. Its error is 0.

    >>> from treethink.worlds import make
    >>> world = make("walls")
    >>> state = world.reset(seed=0)
    >>> prediction = Oracle(world).predict(state, "right")
    >>> [(prediction.mode(), 1.0)] == world.distribution(state, "right")
    True
    """

    name = "oracle"
    cannot_keep: ClassVar[Mapping[str, str]] = {
        "an_unseen_action_gets_a_defined_answer": "it knows what an action does without seeing it",
        "an_unseen_class_gets_a_defined_answer": "it knows of a class without having seen any",
    }

    def __init__(self, world: World):
        check_world_type(world, "an oracle")
        if not world.pure:
            raise SettingError(f"an oracle must ask about any state, and {world!r} stands in one")
        super().__init__(world.schema)
        self.world = world

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.world!r}>"

    def learn(self, before: State, action: str, after: State) -> None:
        """Learn nothing."""

    def answer(self, state: State, action: str) -> Joint:
        """Return the world's distribution."""
        return Joint(state, self.world.distribution(state, action))

    def memory_use(self) -> dict[str, int]:
        """Return 0 bytes."""
        return {"bytes": 0}

    def settings(self) -> dict[str, Any]:
        """Return the world's name and options; it must be a built-in world."""
        world = self.world
        if WORLDS.get(world.name) is not type(world):
            raise SettingError(
                f"{world!r} cannot be saved with its oracle: a file can name the worlds of"
                " `treethink worlds` only"
            )
        return {"world": world.name, "options": dict(world.options)}

    @classmethod
    def from_settings(cls, schema: Schema, settings: Mapping[str, Any]) -> Self:
        """Return the oracle of the named world, which must have the schema."""
        oracle = cls(_built_in_world(settings["world"], settings["options"]))
        if not oracle.schema.fits(schema):
            raise SchemaError(f"the world {settings['world']!r} has another schema by now")
        return oracle


def _built_in_world(name: object, options: object) -> World:
    """Return a built-in world: a file must not decide what is imported and called."""
    if not isinstance(name, str) or name not in WORLDS:
        raise SettingError(
            f"it names the world {shown(name)}; a file can name those of `treethink worlds` only"
        )
    if not isinstance(options, dict) or any(type(each) is not int for each in options.values()):
        raise SettingError(f"options of a world must be whole numbers, got {shown(options)}")
    return make(name, **options)
