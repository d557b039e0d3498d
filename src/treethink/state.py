"""Schemas, objects and states.

    world -> [ state ] -> facts -> tree -> prediction

In:   names of classes, attributes and actions; integers.
Out:  `State`s: immutable, hashable values. A changed copy shares what did not change.

The engine uses indices into the schema's lists instead of names. All names and values are checked
here, before they reach the engine.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from keyword import iskeyword
from types import MappingProxyType
from typing import Any, NoReturn, Protocol, SupportsIndex, cast

from treethink import _engine
from treethink._engine import State
from treethink.attributes import (
    SUM,
    Attribute,
    Code,
    PlainValue,
    Sum,
    check_keys,
    check_name,
    read_texts,
)
from treethink.errors import SchemaError, StateError, UnknownNameError, WrongTypeError, shown
from treethink.presets import Derivation, Derived, attribute_from_dict, attribute_to_dict
from treethink.text import printable

__all__ = ["Attribute", "Object", "PlainValue", "Schema", "State", "Value"]

State.__module__ = "treethink"


class _Integers(Protocol):
    """A list, tuple or array of integers."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> SupportsIndex: ...


#: A value of an attribute, as an argument: one or several integers, of Python or NumPy; a name of
#: a category; a bool of a flag.
Value = SupportsIndex | _Integers | str


class Object:
    """One object of a state: an id, a class, and a value for each attribute.

    Immutable and hashable. Values of length 1 are plain ints, longer ones tuples. A state gives
    names for categories, and bools for flags.

    >>> door = Object(51, "door", pos=[3, 4], open=0)
    >>> door.pos, door.open, door
    ((3, 4), 0, Object(51, 'door', pos=(3, 4), open=0))
    """

    __slots__ = ("__dict__", "class_name", "id")  # values are in the dict, where access is fast

    id: int
    class_name: str

    def __init__(self, id: SupportsIndex, class_name: str, /, **values: Value):
        _engine.fill_object(self, id, class_name, values)

    @property
    def values(self) -> Mapping[str, PlainValue]:
        """The values by attribute; read-only."""
        return MappingProxyType(self.__dict__)

    def __getattr__(self, name: str) -> Any:
        error = UnknownNameError("attribute", name, self.__dict__, "an Object")
        raise AttributeError(str(error))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"objects never change; use state.replace({self.id}, {name}=...)")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("objects never change")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        mine = (self.id, self.class_name, self.__dict__)
        return mine == (other.id, other.class_name, other.__dict__)

    def __hash__(self) -> int:
        return hash((self.id, self.class_name, frozenset(self.__dict__.items())))

    def __repr__(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self.__dict__.items())
        return f"Object({self.id}, {self.class_name!r}{values})"

    def __copy__(self) -> "Object":
        return self

    def __deepcopy__(self, memo: object) -> "Object":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_object, (self.id, self.class_name, self.__dict__)


def _restore_object(id: int, class_name: str, values: dict[str, Any]) -> Object:
    return Object(id, class_name, **values)


class Schema(_engine.Schema):
    """The classes, attributes and actions of a world.

    Names keep the order in which they are given. Two schemas are equal if they list the same in
    the same order; `fits` tells whether their states are the same.

    Parameters
    ----------
    classes
        The names of the attributes of each class.
    attributes
        The length of each attribute, or an `Attribute`.
    actions
        The names of the actions.

    Examples
    --------
    >>> schema = Schema({"player": ["pos"]}, {"pos": 2}, ["left", "right"])
    >>> schema.classes["player"], schema.attributes["pos"].length, schema.actions
    (('pos',), 2, ('left', 'right'))
    >>> from treethink import Position
    >>> print(Schema({"player": ["pos"]}, {"pos": Position(2)}, ["left", "right"]))
    Classes:
      player  pos
    Attributes:
      pos     Position(2)
    Actions: left, right
    """

    def __init__(
        self,
        classes: Mapping[str, Iterable[str]],
        attributes: Mapping[str, SupportsIndex | Attribute],
        actions: Iterable[str],
    ):
        known = _read_attributes(attributes)
        own = {
            check_name(name, "class"): read_texts(each, f"attributes of class {name!r}")
            for name, each in _mapping(classes, "classes").items()
        }
        names = tuple(check_name(name, "action") for name in read_texts(actions, "actions"))
        lines = [_engine_line(name, each) for name, each in known.items()]
        super().__init__(list(own.items()), lines, list(names))
        self._attributes = known
        self._classes = {name: tuple(a for a in known if a in each) for name, each in own.items()}
        self._actions = names
        self._sums = {name: Sum(*terms) for name, *terms in self._sums_of_attributes()}
        self._functions = {
            name: each.function
            for name, each in known.items()
            if isinstance(each, Derived) and each.function is not None
        }
        if self._functions:
            self._compute(list(self._functions))

    def _derive(self, state: State) -> State:
        """Return the state with its derived attributes computed, in the schema's order."""
        with _deriving(self):
            for attribute, function in self._functions.items():
                state = state._with_derived(
                    {
                        each.id: {attribute: _derived_value(attribute, function, state, each)}
                        for class_name, own in self._classes.items()
                        if attribute in own
                        for each in state.of_class(class_name)
                    }
                )
        return state

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the attributes of each class, in the schema's order."""
        return MappingProxyType(self._classes)

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The definition of each attribute."""
        return MappingProxyType(self._attributes)

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions."""
        return self._actions

    @property
    def sums(self) -> Mapping[str, Sum]:
        """The sums of two attributes of an object that facts can be about, by name.

        A class has the sum of any two vectors of one length that take part in differences and are
        of two units, such as ``"pos + heading"``. It is compared with what has the unit of the
        first one. `State.value` and `State.find` know it, too.
        """
        return MappingProxyType(self._sums)

    def leave_out_sums(self) -> None:
        """Let facts be about no sums. Only before states or models use the schema."""
        self._leave_out_sums()
        self._sums = {}

    def definition(self, name: str) -> Attribute:
        """Return the definition of an attribute, or of a sum."""
        if name in self._attributes:
            return self._attributes[name]
        place, step = (self._attributes[each] for each in name.split(SUM))
        if not ("difference" in place.facts and "difference" in step.facts):
            return Attribute(place.length, facts=[])
        kinds: list[str] = [each for each in ("difference", "something") if each in place.facts]
        kinds += ["threshold"] if "threshold" in place.facts and "threshold" in step.facts else []
        return Attribute(place.length, facts=kinds)

    def unit(self, attribute: str) -> str:
        """Return the attribute at the end of the chain of ``like``; equal units are compared."""
        attribute = attribute.split(SUM)[0]
        while (like := self._attributes[attribute].like) is not None:
            attribute = like
        return attribute

    def predicted(self, class_name: str) -> tuple[str, ...]:
        """Return the names of the attributes of a class that have rules: all but derived ones."""
        own = self._classes[class_name]
        return tuple(name for name in own if not self._attributes[name].derived)

    def numbers(self, each: Object) -> dict[str, Code]:
        """Return the values of an object as the engine's numbers: no names and no bools."""
        return {name: self._attributes[name].encode(value) for name, value in each.values.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON data."""
        return {
            "classes": {name: list(own) for name, own in self._classes.items()},
            "attributes": {name: attribute_to_dict(a) for name, a in self._attributes.items()},
            "actions": list(self._actions),
        }

    @classmethod
    def from_dict(cls, data: object) -> "Schema":
        """Return the schema of data that `to_dict` returned."""
        entries = _mapping(data, "a schema's data")
        check_keys(entries, {"classes", "attributes", "actions"}, set(), "a schema's data")
        attributes = {
            name: _attribute_from_dict(name, each)
            for name, each in _mapping(entries["attributes"], "attributes").items()
        }
        return cls(entries["classes"], attributes, entries["actions"])

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __hash__(self) -> int:
        parts = (self._classes.items(), self._attributes.items(), self._actions)
        return hash(tuple(tuple(part) for part in parts))

    def __repr__(self) -> str:
        return f"Schema({self._classes!r}, {self._attributes!r}, {list(self._actions)!r})"

    def __str__(self) -> str:
        wide = max(map(len, [*self._classes, *self._attributes]), default=0)
        classes = [f"  {name:<{wide}}  {', '.join(own)}" for name, own in self._classes.items()]
        attributes = [f"  {name:<{wide}}  {each!r}" for name, each in self._attributes.items()]
        actions = f"Actions: {', '.join(self._actions) or 'none'}"
        lines = ["Classes:", *classes, "Attributes:", *attributes, actions]
        return "\n".join(printable(line.rstrip()) for line in lines)

    def __copy__(self) -> "Schema":
        return self

    def __deepcopy__(self, memo: object) -> "Schema":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        for name, function in self._functions.items():
            _check_importable(name, function)
        return type(self), (self._classes, self._attributes, self._actions)


class _Deriving(threading.local):
    """The schemas whose derived attributes are being computed in this thread."""

    def __init__(self) -> None:
        self.schemas: set[int] = set()


_now = _Deriving()


@contextmanager
def _deriving(schema: Schema) -> Iterator[None]:
    """Refuse that a function of a derived attribute makes a state, which would call it again."""
    if id(schema) in _now.schemas:
        raise StateError(
            "its function makes a new state, as replace and State(...) do; a derived function may"
            " only read the state and the object that it is given"
        )
    _now.schemas.add(id(schema))
    try:
        yield
    finally:
        _now.schemas.discard(id(schema))


def _derived_value(name: str, function: Derivation, state: State, each: Object) -> Any:
    """Return the value of a derived attribute; an error of the function is the cause of ours."""
    try:
        return function(state, each)
    except RecursionError:
        raise
    except Exception as error:
        raise StateError(
            f"object {each.id} ({each.class_name!r}): the derived attribute {name!r} cannot be"
            f" computed: {type(error).__name__}: {error}"
        ) from error


def _check_importable(name: str, function: Derivation) -> None:
    """Raise an error if no other process can find the function of a derived attribute."""
    qualified = getattr(function, "__qualname__", "")
    if "<lambda>" in qualified or "<locals>" in qualified:
        raise SchemaError(
            f"the function of the derived attribute {name!r} cannot be sent to another process:"
            f" write it with def at the top level of a module, got {shown(function)}"
        )


_RESERVED = {"id", "class_name", "values", "replace"}


def _read_attributes(attributes: object) -> dict[str, Attribute]:
    read = {}
    for name, each in _mapping(attributes, "attributes").items():
        _check_attribute_name(check_name(name, "attribute"))
        read[name] = each if isinstance(each, Attribute) else Attribute(each)
    return read


def _attribute_from_dict(name: object, data: object) -> SupportsIndex | Attribute:
    if not isinstance(data, dict):
        return cast(SupportsIndex, data)  # checked by the constructor of Schema
    return attribute_from_dict(name, data)


def _engine_line(name: str, a: Attribute) -> tuple[Any, ...]:
    """Return the definition of an attribute in the form that the engine takes."""
    names = list(a.names or ())
    return name, a.length, list(a.facts), a.outcomes, a.like or "", names, a.kind or "", a.derived


def _check_attribute_name(name: str) -> None:
    """Raise an error unless the name can be an attribute and keyword of an `Object`."""
    if not name.isidentifier() or iskeyword(name):
        raise SchemaError(f"the name of attribute {name!r} must be a Python identifier")
    if name in _RESERVED or hasattr(Object, name):
        raise SchemaError(f"the name of attribute {name!r} is taken: every object has one")


def _mapping(data: object, what: str) -> Mapping[Any, Any]:
    if not isinstance(data, Mapping):
        raise WrongTypeError(f"{what} must be a dict, got {data!r}")
    return data
