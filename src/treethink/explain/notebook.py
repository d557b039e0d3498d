"""What notebooks show of states, predictions, rules and models, instead of one line of text.

    state, prediction, rule, model -> [ notebook ] -> HTML, SVG

Jupyter and its relatives ask an object for `_repr_html_` and `_repr_svg_`. Some of our classes are
the engine's, so the methods are put onto all of them here, in one place. What they do is
imported when somebody asks for it.

None of them ever raises an error: what cannot be shown is left to the plain text that every
object has, which is what None tells a notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from treethink.foldt import FOLDT
from treethink.model import Prediction, TreeThink
from treethink.rules import Rule, Rules
from treethink.state import State

#: For each class its methods, and where to find the function that makes what they return.
SHOWN: dict[type, dict[str, str]] = {
    State: {
        "_repr_html_": "treethink.explain.notebook_html:state_html",
        "_repr_svg_": "treethink.explain.levels:picture",
    },
    Prediction: {"_repr_html_": "treethink.explain.notebook_html:prediction_html"},
    Rule: {
        "_repr_html_": "treethink.explain.notebook_html:rule_html",
        "_repr_svg_": "treethink.explain.notebook_html:rule_svg",
    },
    Rules: {"_repr_html_": "treethink.explain.notebook_html:rules_html"},
    TreeThink: {"_repr_html_": "treethink.explain.notebook_html:model_html"},
    FOLDT: {
        "_repr_html_": "treethink.explain.notebook_html:tree_html",
        "_repr_svg_": "treethink.explain.notebook_html:tree_svg",
    },
}


def install() -> None:
    """Give every class its methods. `import treethink` does it."""
    for shown, methods in SHOWN.items():
        install_on(shown, **methods)


def install_on(shown: type, **methods: str) -> None:
    """Give a class the methods, each as ``module:function`` of what is to be shown."""
    for name, place in methods.items():
        setattr(shown, name, _method(name, place))


def _method(name: str, place: str) -> Callable[[Any], str | None]:
    """A method that looks its function up when it is called."""
    module, _, function = place.partition(":")

    def method(self: Any) -> str | None:
        try:
            text: str = getattr(import_module(module), function)(self)
        except Exception:  # a notebook would show it in place of the object
            return None
        return text

    method.__name__ = name
    method.__doc__ = f"What a notebook shows; see `{place.replace(':', '.')}`."
    return method
