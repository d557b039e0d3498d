"""Other ways to tell what MiniGrid's agent holds, to be compared with that of the world.

State of the world -> [ recode ] -> State in another schema
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treethink.presets import Category
from treethink.state import Object, Schema, State

Recode = Callable[[State], State]
Encoding = Callable[[Schema], tuple[Schema, Recode]]
_HELD = (-1, -1)
_KINDS = ("key", "ball", "box")


def world(schema: Schema) -> tuple[Schema, Recode]:
    """As the world tells it: items of one class; what is held is so, and at (-1, -1)."""
    return schema, lambda state: state


def classes(schema: Schema) -> tuple[Schema, Recode]:
    """Keys, balls and boxes are classes of their own."""
    own = dict(schema.classes)
    own |= dict.fromkeys(_KINDS, ("pos", "color", "held", "inside"))
    del own["item"]
    new = Schema(own, schema.attributes, schema.actions)

    def tell(each: Object) -> Object:
        if each.class_name != "item":
            return each
        values = {name: value for name, value in each.values.items() if name != "kind"}
        return Object(each.id, each.kind, **values)

    return new, lambda state: State(new, [tell(each) for each in state])


def place(schema: Schema) -> tuple[Schema, Recode]:
    """What is held is at (-1, -1), and nothing else says so."""
    return _retold(schema, lambda each, agent: (each.pos, False), flag=False)


def follows(schema: Schema) -> tuple[Schema, Recode]:
    """What is held is so, and where the agent is."""
    return _retold(
        schema, lambda each, agent: (agent.pos if each.pos == _HELD else each.pos, each.held)
    )


def _retold(
    schema: Schema, tell: Callable[[Object, Object], tuple[object, bool]], flag: bool = True
) -> tuple[Schema, Recode]:
    """Tell the place of an item, and whether it is held, in another way."""
    own = dict(schema.classes)
    own["item"] = tuple(each for each in own["item"] if flag or each != "held")
    new = Schema(own, schema.attributes, schema.actions)

    def retold(each: Object, agent: Object) -> Object:
        if each.class_name != "item":
            return each
        pos, held = tell(each, agent)
        values: dict[str, Any] = {**each.values, "pos": pos, "held": held}
        return Object(each.id, "item", **{name: values[name] for name in own["item"]})

    def recode(state: State) -> State:
        (agent,) = state.of_class("agent")
        return State(new, [retold(each, agent) for each in state])

    return new, recode


def hand(schema: Schema) -> tuple[Schema, Recode]:
    """As the world tells it, and the agent tells the kind and colour of what it holds, too."""
    kinds = Category(("nothing", *_KINDS))
    colours = Category(("nothing", *(schema.attributes["color"].names or ())))
    own = {**schema.classes, "agent": [*schema.classes["agent"], "hand", "hand_color"]}
    more = {"hand": kinds, "hand_color": colours}
    new = Schema(own, {**schema.attributes, **more}, schema.actions)

    def recode(state: State) -> State:
        held = state.find("item", held=True)
        kind, colour = (held[0].kind, held[0].color) if held else ("nothing", "nothing")

        def tell(each: Object) -> Object:
            if each.class_name != "agent":
                return each
            return Object(each.id, "agent", **{**each.values, "hand": kind, "hand_color": colour})

        return State(new, [tell(each) for each in state])

    return new, recode


ENCODINGS: dict[str, Encoding] = {
    "world": world,
    "classes": classes,
    "place": place,
    "follows": follows,
    "hand": hand,
}
