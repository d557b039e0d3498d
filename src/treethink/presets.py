"""Presets of attributes: they say what a value is, and choose facts and outcomes from that.

    [ preset ] -> attribute -> schema

In:   `Position(2)`, `Number()`, `Category([...])`, `Flag()`, `Score()`, or a `Derived` one.
Out:  an `Attribute`, and back from JSON data (`attribute_from_dict`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

from treethink.attributes import (
    Attribute,
    check_keys,
    fields_of,
    fill_fields,
    read_facts,
    read_length,
    read_like,
    read_names,
    read_outcomes,
    rest_of_arguments,
)
from treethink.errors import SchemaError, UnknownNameError, WrongTypeError, shown

if TYPE_CHECKING:
    from treethink.state import Object, State

#: A function of a state and one of its objects, whose value is a derived attribute.
Derivation = Callable[["State", "Object"], Any]


class Position(Attribute):
    """A place: rules use the place itself and differences of places, and predict the move.

    `facts` names the kinds of fact, and `outcomes` what rules say, as in `Attribute`.

    >>> Position(), Position(3, like="pos")
    (Position(2), Position(3, like='pos'))
    """

    __slots__ = ()

    def __init__(
        self,
        length: SupportsIndex = 2,
        like: str | None = None,
        facts: Iterable[str] | None = None,
        outcomes: str = "auto",
    ) -> None:
        number, unit = read_length(length), read_like(like)
        kinds, form = read_facts(facts, number), read_outcomes(outcomes)
        fill_fields(self, length=number, facts=kinds, outcomes=form, like=unit, kind="position")

    def __repr__(self) -> str:
        return f"Position({self.length}{_rest(self)})"


class Number(Attribute):
    """A number: rules use its value, its size and differences of numbers, and predict the change.

    `facts` names the kinds of fact, and `outcomes` what rules say, as in `Attribute`.

    >>> Number(), Number(like="floor"), Number(facts=["equality"])
    (Number(), Number(like='floor'), Number(facts=('equality',)))
    """

    __slots__ = ()

    def __init__(
        self,
        like: str | None = None,
        facts: Iterable[str] | None = None,
        outcomes: str = "auto",
    ) -> None:
        unit, kinds, form = read_like(like), read_facts(facts, length=1), read_outcomes(outcomes)
        fill_fields(self, length=1, facts=kinds, outcomes=form, like=unit, kind="number")

    def __repr__(self) -> str:
        return f"Number({_rest(self)[2:]})"


def _rest(attribute: Attribute) -> str:
    """Return the arguments that are not the default, after a comma each."""
    usual = attribute.facts == read_facts(None, attribute.length, attribute.is_symbolic)
    return rest_of_arguments(
        like=attribute.like,
        facts=None if usual else attribute.facts,
        outcomes=None if attribute.outcomes == "auto" else attribute.outcomes,
    )


class Category(Attribute):
    """One of several names: rules use its value and equal values, and predict the new value.

    Values are names wherever people read or write them, and integers from 0 in the engine.

    >>> Category(["cola", "water"])
    Category(['cola', 'water'])
    """

    __slots__ = ()

    def __init__(
        self, names: Iterable[str], like: str | None = None, outcomes: str = "auto"
    ) -> None:
        if names is None:
            raise WrongTypeError("names of an attribute must be a list of names, got None")
        read, unit = read_names(names), read_like(like)
        fill_fields(
            self,
            length=1,
            facts=read_facts(None, length=1, symbolic=True),
            outcomes=read_outcomes(outcomes, symbolic=True),
            names=read,
            like=unit,
            kind="category",
        )

    def __repr__(self) -> str:
        return f"Category({list(self.names or ())!r}{_rest(self)})"


class Flag(Attribute):
    """Yes or no: a bool of Python or NumPy, or 0 or 1.

    >>> Flag()
    Flag()
    """

    __slots__ = ()

    def __init__(self, outcomes: str = "auto") -> None:
        kinds, form = read_facts(None, length=1, symbolic=True), read_outcomes(outcomes, True)
        fill_fields(self, length=1, facts=kinds, outcomes=form, kind="flag")

    def __repr__(self) -> str:
        return f"Flag({_rest(self)[2:]})"


class Score(Attribute):
    """Points: they take part in no fact, and planning takes their change for a reward.

    >>> Score()
    Score()
    """

    __slots__ = ()

    def __init__(self) -> None:
        fill_fields(self, length=1, facts=(), outcomes="change", kind="score")

    def __repr__(self) -> str:
        return "Score()"


class Derived(Attribute):
    """An attribute that is a function of the rest of the state.

    It takes part in facts and is never predicted: it has no rules. A state computes it when it is
    made, so objects need not give it.

    Parameters
    ----------
    function
        ``function(state, object)`` returns the value for one object. It may only read the state:
        one that makes another state of the schema, as `replace` does, raises a `StateError`.
        Derived attributes are computed in the order of the schema's attributes, so it may use
        earlier ones; later ones, and its own, do not have their values yet. None: values are given
        with the objects, and a predicted state keeps the old ones; so it is in the schema of a
        model that was read from a file.
    attribute
        The definition of the value.

    Examples
    --------
    >>> Derived(lambda state, slot: slot.price <= state[0].credit)  # doctest: +ELLIPSIS
    Derived(<function <lambda> at ...>, Flag())
    """

    __slots__ = ("attribute", "function")

    function: Derivation | None
    attribute: Attribute

    def __init__(self, function: Derivation | None, attribute: Attribute | None = None) -> None:
        if function is not None and not callable(function):
            raise WrongTypeError(
                f"function of a derived attribute must be callable or None, got {shown(function)}"
            )
        definition = Flag() if attribute is None else attribute
        if not isinstance(definition, Attribute) or isinstance(definition, Derived):
            raise WrongTypeError(
                f"attribute must be an Attribute that is not derived, got {shown(attribute)}"
            )
        if definition.kind == "score":
            raise SchemaError("a score cannot be derived: planning predicts it")
        fill_fields(self, **(fields_of(definition) | {"derived": True}))
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "attribute", definition)

    def __repr__(self) -> str:
        return f"Derived({self.function!r}, {self.attribute!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Derived, (self.function, self.attribute)


# ---------------------------------------------------------------------------- dictionaries

_KINDS: dict[str, type[Attribute]] = {
    "position": Position,
    "number": Number,
    "category": Category,
    "flag": Flag,
    "score": Score,
}
#: The keys that the constructor of a preset takes; the others must agree with the preset.
_ARGUMENTS = {
    "position": {"length", "like", "facts", "outcomes"},
    "number": {"like", "facts", "outcomes"},
    "category": {"names", "like", "outcomes"},
    "flag": {"outcomes"},
    "score": set(),
}
_OPTIONAL = {"length", "facts", "outcomes", "like", "names", "kind", "derived"}


def attribute_to_dict(attribute: Attribute) -> dict[str, Any]:
    """Return the attribute as JSON data; what it does not use is left out."""
    data: dict[str, Any] = {
        "length": attribute.length,
        "facts": list(attribute.facts),
        "outcomes": attribute.outcomes,
    }
    if attribute.like is not None:
        data["like"] = attribute.like
    if attribute.names is not None:
        data["names"] = list(attribute.names)
    if attribute.kind is not None:
        data["kind"] = attribute.kind
    if attribute.derived:
        data["derived"] = True
    return data


def attribute_from_dict(name: object, data: Mapping[Any, Any]) -> Attribute:
    """Return the attribute of data that `attribute_to_dict` returned.

    A preset needs only its kind and its own arguments: ``{"kind": "category", "names": [...]}``.
    """
    where = f"attribute {name!r}"
    needed = set() if "kind" in data or "names" in data else {"length"}
    check_keys(data, needed, _OPTIONAL - needed, where)
    derived = data.get("derived", False)
    if not isinstance(derived, bool):
        raise SchemaError(f"'derived' of {where} must be true or false, got {shown(derived)}")
    rest = {key: value for key, value in data.items() if key != "derived"}
    attribute = _preset_from_dict(where, rest) if "kind" in rest else Attribute(**rest)
    return Derived(None, attribute) if derived else attribute


def _preset_from_dict(where: str, data: dict[str, Any]) -> Attribute:
    kind = data.pop("kind")
    if not isinstance(kind, str):
        raise WrongTypeError(f"'kind' of {where} must be a str, got {shown(kind)}")
    if kind == "derived":
        raise SchemaError(
            f"{where} cannot be derived by a function here: a file holds no code. Add a column with"
            " its values to the log, and write derived = true below its kind, such as 'flag'; or"
            " use a Schema in Python, with tt.Derived"
        )
    if kind not in _KINDS:
        raise UnknownNameError("kind of attribute", kind, _KINDS, where)
    if kind == "category" and "names" not in data:
        raise SchemaError(f"{where} is a category, and lacks the key 'names'")
    own = {key: value for key, value in data.items() if key in _ARGUMENTS[kind]}
    attribute = _KINDS[kind](**own)
    actual = attribute_to_dict(attribute)
    if "outcomes" in data:
        data["outcomes"] = read_outcomes(data["outcomes"])
    for key, value in data.items():
        if key not in own and value != actual.get(key):
            raise SchemaError(
                f"{key!r} of {where} must be {actual.get(key)!r} for the kind {kind!r}, "
                f"got {shown(value)}"
            )
    return attribute
