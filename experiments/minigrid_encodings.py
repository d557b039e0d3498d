"""Other ways to tell what MiniGrid's agent holds, to be compared with that of the world.

    State of the world -> [ recode ] -> State in another schema
"""

from __future__ import annotations

from collections.abc import Callable

from treethink.presets import Category, Flag
from treethink.state import Object, Schema, State

Recode = Callable[[State], State]
Encoding = Callable[[Schema], tuple[Schema, Recode]]
_HELD = (-1, -1)
_KINDS = ("key", "ball", "box")


def world(schema: Schema) -> tuple[Schema, Recode]:
    """As the world tells it: one class of items with a kind; what is held is at (-1, -1)."""
    return schema, lambda state: state


def classes(schema: Schema) -> tuple[Schema, Recode]:
    """Keys, balls and boxes are classes of their own."""
    own = dict(schema.classes)
    own |= dict.fromkeys(_KINDS, ("pos", "color", "inside"))
    del own["item"]
    new = Schema(own, schema.attributes, schema.actions)

    def tell(each: Object) -> Object:
        if each.class_name != "item":
            return each
        values = {name: value for name, value in each.values.items() if name != "kind"}
        return Object(each.id, each.kind, **values)

    return new, lambda state: State(new, [tell(each) for each in state])


def flag(schema: Schema) -> tuple[Schema, Recode]:
    """What is held is at (-1, -1) and has a flag, too."""
    return _with_flag(schema, follows=False)


def follows(schema: Schema) -> tuple[Schema, Recode]:
    """What is held is where the agent is, and has a flag."""
    return _with_flag(schema, follows=True)


def _with_flag(schema: Schema, follows: bool) -> tuple[Schema, Recode]:
    own = {**schema.classes, "item": [*schema.classes["item"], "held"]}
    new = Schema(own, {**schema.attributes, "held": Flag()}, schema.actions)

    def recode(state: State) -> State:
        (agent,) = state.of_class("agent")

        def tell(each: Object) -> Object:
            if each.class_name != "item":
                return each
            held = each.pos == _HELD
            place = agent.pos if held and follows else each.pos
            return Object(each.id, "item", **{**each.values, "pos": place, "held": held})

        return State(new, [tell(each) for each in state])

    return new, recode


def hand(schema: Schema) -> tuple[Schema, Recode]:
    """What is held is at (-1, -1), and the agent tells its kind and colour."""
    kinds = Category(("nothing", *_KINDS))
    colours = Category(("nothing", *(schema.attributes["color"].names or ())))
    own = {**schema.classes, "agent": [*schema.classes["agent"], "hand", "hand_color"]}
    more = {"hand": kinds, "hand_color": colours}
    new = Schema(own, {**schema.attributes, **more}, schema.actions)

    def recode(state: State) -> State:
        held = [each for each in state.find("item", pos=_HELD) if not each.inside]
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
    "flag": flag,
    "follows": follows,
    "hand": hand,
}
