"""What notebooks show of our objects, instead of one line of text.

    state, prediction, rule, model, schema, world -> [ notebook ] -> HTML, SVG

Jupyter and similar programs call `_repr_html_` and `_repr_svg_`. Some of our classes belong to the
engine, so this module adds the methods to all of them, in one place. The functions behind them
(`notebook_html`) are imported when they are called.

None of the methods raises an error: they return None instead, and the notebook shows the plain
text.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from treethink.foldt import FOLDT
from treethink.model import Prediction, TreeThink
from treethink.rules import Rule, Rules
from treethink.state import Schema, State
from treethink.worlds.base import World

#: The methods of each class, and the function that each of them calls.
METHODS: dict[type, dict[str, str]] = {
    State: {
        "_repr_html_": "treethink.explain.notebook_html:state_html",
        "_repr_svg_": "treethink.explain.state_picture:state_svg",
    },
    Prediction: {"_repr_html_": "treethink.explain.notebook_html:prediction_html"},
    Rule: {
        "_repr_html_": "treethink.explain.notebook_html:rule_html",
        "_repr_svg_": "treethink.explain.notebook_html:rule_svg",
    },
    Rules: {"_repr_html_": "treethink.explain.notebook_html:rules_html"},
    TreeThink: {"_repr_html_": "treethink.explain.notebook_html:model_html"},
    Schema: {"_repr_html_": "treethink.explain.object_html:schema_html"},
    World: {"_repr_html_": "treethink.explain.object_html:world_html"},
    FOLDT: {
        "_repr_html_": "treethink.explain.notebook_html:tree_html",
        "_repr_svg_": "treethink.explain.notebook_html:tree_svg",
    },
}


def install() -> None:
    """Add the methods to every class. `import treethink` does it."""
    for cls, methods in METHODS.items():
        install_on(cls, **methods)


def install_on(cls: type, **methods: str) -> None:
    """Add methods to a class; each calls a function, given as ``module:function``."""
    for name, target in methods.items():
        setattr(cls, name, _method(name, target))


def _method(name: str, target: str) -> Callable[[Any], str | None]:
    """Return a method that imports its function when it is called."""
    module, _, function = target.partition(":")

    def method(self: Any) -> str | None:
        try:
            text: str = getattr(import_module(module), function)(self)
        except Exception:  # a notebook would show the error instead of the object
            return None
        return text

    method.__name__ = name
    method.__doc__ = f"What a notebook shows; see `{target.replace(':', '.')}`."
    return method
