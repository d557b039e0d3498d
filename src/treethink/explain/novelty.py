"""What an answer rests on that was never seen, in words.

prediction -> [ novelty ] -> "this answer rests on a value never seen: credit = 20"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treethink.attributes import SUM
from treethink.explain.object_names import object_name
from treethink.outcome_text import value_text

if TYPE_CHECKING:
    from treethink.model import Prediction

_WITHOUT_VALUE = {
    "rule": "this answer rests on nothing: its rule was never observed",
    "leaf": "this answer rests on a situation never seen: that of the nearest node above its leaf",
}


def novelty_text(prediction: Prediction, object_id: int, attribute: str) -> str:
    """Return what was never seen, as the model is now; empty if there is nothing.

    >>> from treethink import Object, Schema, State, TreeThink
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> lamps = [State(schema, [Object(1, "lamp", on=value)]) for value in range(3)]
    >>> model = TreeThink(schema)
    >>> model.observe_many([(lamps[0], "press", lamps[1]), (lamps[1], "press", lamps[0])] * 20)
    40
    >>> novelty_text(model.predict(lamps[1], "press"), 1, "on")
    ''
    >>> novelty_text(model.predict(lamps[2], "press"), 1, "on")
    'this answer rests on a value never seen: lamp 1, on = 2'
    """
    found: Any = prediction._novelty(object_id, attribute)
    if found is None:
        return ""
    if found[0] != "value":
        return _WITHOUT_VALUE[found[0]]
    _, kind, objects, value = found
    state = prediction.state
    named = [f"{object_name(state, x)}, {_bracketed(name)}" for x, name in objects]
    definition = state.schema.definition(objects[0][1])
    if kind == "equality":
        what = f"{named[0]} = {value_text(value, definition)}"
    elif kind == "difference":
        equal = definition.is_symbolic
        what = f"{named[1]} = {named[0]}" if equal else f"{named[1]} - {named[0]} = {value}"
    else:
        what = f"{kind} of {' and '.join(named)} = {value}"
    return f"this answer rests on a value never seen: {what}"


def _bracketed(attribute: str) -> str:
    """Put the name of a sum in brackets, since a difference may follow."""
    return f"({attribute})" if SUM in attribute else attribute
