"""Signatures of the engine's functions, for `inspect.signature`, `help` and editors.

    nanobind's line of text -> [ signatures ] -> inspect.Signature

nanobind states the signature of a function as a line of Python, such as ``def value(self, id: int)
-> int``, which the standard library does not read. `install` gives nanobind's types of functions a
`__signature__`, which it does read. Calls are not affected.
"""

from __future__ import annotations

import inspect
from typing import Any

from treethink import _engine

_FUTURE_ANNOTATIONS = "from __future__ import annotations"


class _Signature:
    """The attribute `__signature__` of a type of functions; `bound` leaves out ``self``."""

    def __init__(self, bound: bool):
        self._bound = bound

    def __get__(self, function: Any, owner: type | None = None) -> inspect.Signature | None:
        if function is None:  # the type's own
            return None
        signature = signature_of(function.__nb_signature__[0][0])
        parameters = list(signature.parameters.values())
        return signature.replace(parameters=parameters[1:]) if self._bound else signature


def signature_of(line: str) -> inspect.Signature:
    """Return the signature in the first line of a definition; its annotations are text.

    >>> signature_of("def sample(self, seed: int | None = None) -> State")
    <Signature (self, seed: 'int | None' = None) -> 'State'>
    """
    names: dict[str, Any] = {}
    exec(f"{_FUTURE_ANNOTATIONS}\n{line}: ...", names)  # a text of the engine
    (function,) = (each for each in names.values() if inspect.isfunction(each))
    return inspect.signature(function)


def install() -> None:
    """Give the engine's functions and methods a `__signature__`. `import treethink` does it."""
    methods = vars(_engine.State)
    for example in (methods["replace"], methods["from_dict"]):
        _engine._set_on_type(type(example), "__signature__", _Signature(bound=False))
    bound = _engine.Schema([], [], []).__eq__
    _engine._set_on_type(type(bound), "__signature__", _Signature(bound=True))
