"""Attributes: what the values of an object are, and how rules may use them.

    [ attribute ] -> schema -> state -> facts

In:   the length of a value, its kinds of fact, its form of outcome, its unit, its names.
Out:  an `Attribute`: immutable and checked.

This is the general form, in which every choice can be made. The presets (`treethink.presets`)
choose from the meaning of a value.
"""

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, SupportsIndex

from treethink import _engine
from treethink.errors import SchemaError, UnknownNameError, WrongTypeError, names_accepted, shown
from treethink.text import listed

_DEFAULT_KINDS = ("equality", "difference", "order", "threshold")
#: What rules can say of a new value; the default first.
OUTCOMES = ("auto", "change", "value")

#: A number of an attribute in the engine: an int if its length is 1, else a tuple of ints.
Code = int | tuple[int, ...]
#: A value as people see it: a name of a category, a bool of a flag, else as in the engine.
PlainValue = int | tuple[int, ...] | str


def _is_bool(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # NumPy's own is one, too


def _integer(value: object) -> int | None:
    """Return a whole number or a bool as an int; None for anything else."""
    if _is_bool(value):
        return int(value)  # type: ignore[call-overload, no-any-return]
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _integers(value: object) -> tuple[int | None, ...]:
    """Return the numbers of a vector; nothing for anything else."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return ()
    return tuple(map(_integer, value))


#: Between the names of two attributes in the name of their sum.
SUM = " + "
#: How the components of a vector are called where a fact is about one: `X0[pos].x <= 3`.
COMPONENTS = "xyzw"


class Sum(NamedTuple):
    """The sum of two attributes of an object: where it will be if it takes a step.

    >>> from treethink import Schema
    >>> schema = Schema(
    ...     {"agent": ["pos", "heading"], "wall": ["pos"]}, {"pos": 2, "heading": 2}, ["forward"]
    ... )
    >>> schema.sums["pos + heading"]
    Sum(place='pos', step='heading')
    """

    place: str
    step: str


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Attribute:
    """The definition of an attribute.

    `kind` is the name of the preset, or None. `derived` tells whether the value is a function of
    the rest of the state.

    Parameters
    ----------
    length
        The number of integers of a value.
    facts
        The kinds of fact it takes part in: ``"equality"``, ``"difference"``, ``"order"`` (which of
        two values is greater, component by component), ``"threshold"`` (whether a value, or one
        component of a vector, is at most a number) and ``"something"`` (whether any other object,
        of whatever class, has a value that differs by so much). None: all that fit but the last,
        and no order of single numbers, which may be codes (`Number` has it). Names and bools have
        neither orders nor thresholds, and vectors of more than 4 numbers have no thresholds.
    outcomes
        What rules say: ``"change"``, how the value changes (``"delta"`` is an older name for it);
        ``"value"``, the new value; ``"auto"``, whatever is shortest, also relative to another
        attribute of the object, or to the only object of a class (see `Frame`).
    like
        The name of an attribute with the same unit: rules compare the two with each other, in two
        objects or in one, as they compare equal names.
    names
        The names of the values 0, 1, and so on. None: values are numbers.

    Examples
    --------
    >>> Attribute(2)
    Attribute(length=2, facts=('equality', 'difference', 'order', 'threshold'), outcomes='auto')
    """

    length: int
    facts: tuple[str, ...]
    outcomes: str
    like: str | None
    names: tuple[str, ...] | None
    kind: str | None
    derived: bool

    def __init__(
        self,
        length: SupportsIndex = 1,
        facts: Iterable[str] | None = None,
        outcomes: str = "auto",
        *,
        like: str | None = None,
        names: Iterable[str] | None = None,
    ) -> None:
        number, read = read_length(length), read_names(names)
        fill_fields(
            self,
            length=number,
            facts=read_facts(facts, number, read is not None, maybe_code=number == 1),
            outcomes=read_outcomes(outcomes, symbolic=read is not None),
            like=read_like(like),
            names=read,
        )
        if self.names is not None and self.length != 1:
            raise SchemaError(f"an attribute with names must have length 1, got {self.length}")

    @property
    def is_symbolic(self) -> bool:
        """Whether values are names or bools, which people read and the engine numbers."""
        return self.names is not None or self.kind == "flag"

    def decode(self, code: Code) -> PlainValue:
        """Return the value that people see for a number of the engine.

        >>> Attribute(names=["cola", "water"]).decode(1), Attribute(2).decode((3, 4))
        ('water', (3, 4))
        """
        if not isinstance(code, int) or not self.is_symbolic:
            return code
        if self.names is None:
            return bool(code) if code in (0, 1) else code
        return self.names[code] if 0 <= code < len(self.names) else code

    def encode(self, value: PlainValue) -> Code:
        """Return the number of the engine for a value; the inverse of `decode`.

        >>> Attribute(names=["cola", "water"]).encode("water")
        1
        """
        if self.names is not None and isinstance(value, str) and value in self.names:
            return self.names.index(value)
        numbers = _integers(value) if self.length > 1 else (_integer(value),)
        if len(numbers) != self.length or not all(map(self._is_code, numbers)):
            raise SchemaError(f"a value must be {self._accepted(value)}, got {shown(value)}")
        if self.names is not None and _is_bool(value):
            raise SchemaError(f"a value must be {self._accepted(value)}, got {shown(value)}")
        return numbers if self.length > 1 else numbers[0]  # type: ignore[return-value]

    def _is_code(self, number: int | None) -> bool:
        """Whether it is a number of the engine for a value, or for a part of one."""
        if number is None or not self.is_symbolic:
            return number is not None
        return 0 <= number < len(self.names or (False, True))

    def _accepted(self, value: object) -> str:
        if self.names is not None:
            return names_accepted(self.names, value)
        if self.kind == "flag":
            return "True or False"
        return "a number" if self.length == 1 else f"{self.length} numbers"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attribute):
            return NotImplemented
        return fields_of(self) == fields_of(other)

    def __hash__(self) -> int:
        return hash(tuple(fields_of(self).values()))

    def __repr__(self) -> str:
        text = f"length={self.length!r}, facts={self.facts!r}, outcomes={self.outcomes!r}"
        return f"Attribute({text}{rest_of_arguments(like=self.like, names=self.names)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), fields_of(self))


_DEFAULTS = {"like": None, "names": None, "kind": None, "derived": False}


def fields_of(attribute: Attribute) -> dict[str, Any]:
    """Return all that two equal attributes have in common."""
    return {name: getattr(attribute, name) for name in Attribute.__slots__}


def fill_fields(attribute: Attribute, **values: Any) -> None:
    """Set the fields of a new attribute; those not given have their defaults."""
    for name, value in (_DEFAULTS | values).items():
        object.__setattr__(attribute, name, value)


def _restore(cls: type[Attribute], fields: dict[str, Any]) -> Attribute:
    attribute = cls.__new__(cls)
    fill_fields(attribute, **fields)
    return attribute


def rest_of_arguments(**values: object) -> str:
    """Return the given arguments as text that continues a list of arguments."""
    return "".join(f", {name}={value!r}" for name, value in values.items() if value is not None)


# ---------------------------------------------------------------------------------- checks


def read_length(length: object) -> int:
    """Return the length of an attribute as a plain int."""
    if isinstance(length, bool) or not isinstance(length, SupportsIndex):
        raise SchemaError(f"an attribute's length must be an integer, got {shown(length)}")
    if not 1 <= length.__index__() <= _engine.longest_vector:
        longest = _engine.longest_vector
        raise SchemaError(f"an attribute's length must be 1 to {longest}, got {shown(length)}")
    return length.__index__()


def read_outcomes(outcomes: object, symbolic: bool = False) -> str:
    """Return one of `OUTCOMES`."""
    told = "change" if outcomes == "delta" else outcomes
    if not isinstance(told, str):
        raise WrongTypeError(f"outcomes must be one of {listed(OUTCOMES)}, got {shown(outcomes)}")
    if told not in OUTCOMES:
        raise UnknownNameError("form of outcomes", told, OUTCOMES, "an attribute")
    if symbolic and told == "change":
        accepted = "outcomes of an attribute with names or bools must be 'auto' or 'value'"
        raise SchemaError(f"{accepted}, got {shown(outcomes)}")
    return told


def read_facts(
    facts: Iterable[str] | None, length: int, symbolic: bool = False, maybe_code: bool = False
) -> tuple[str, ...]:
    """Return the kinds of fact, without duplicates, in the engine's order.

    None: all that fit, but no order of numbers that may be codes.
    """
    if facts is None:
        kinds = tuple(k for k in _DEFAULT_KINDS if _engine.kind_fits(k, length, symbolic))
        return tuple(k for k in kinds if k != "order") if maybe_code else kinds
    known = _engine.fact_kinds()
    names = read_texts(facts, "facts")
    for kind in names:
        if kind not in known:
            raise UnknownNameError("kind of fact", kind, known, "the engine")
        if not _engine.kind_fits(kind, length, symbolic):
            what = "names or bools" if symbolic else f"values of length {length}"
            accepted = [each for each in known if _engine.kind_fits(each, length, symbolic)]
            raise SchemaError(
                f"the kind of fact {kind!r} does not fit {what}; those that do: {listed(accepted)}"
            )
    return tuple(kind for kind in known if kind in names)


def read_like(like: object) -> str | None:
    """Return the name of the attribute that has the same unit."""
    return None if like is None else check_name(like, "the attribute in 'like'")


def read_names(names: object) -> tuple[str, ...] | None:
    """Return the names of a category; raise an error unless there are any, all different."""
    if names is None:
        return None
    read = tuple(check_name(name, "a value") for name in read_texts(names, "names of an attribute"))
    if not read:
        raise SchemaError("an attribute with names needs at least one name, got none")
    seen: set[str] = set()
    for name in read:
        if name in seen:
            raise SchemaError(f"the name {name!r} of a value is listed twice")
        seen.add(name)
    return read


def check_keys(data: Mapping[Any, object], needed: set[str], allowed: set[str], where: str) -> None:
    """Raise a `SchemaError` unless the data has the needed keys and no unknown ones."""
    for key in needed:
        if key not in data:
            raise SchemaError(f"{where} lacks the key {key!r}")
    for key in data:
        if key not in needed | allowed:
            raise SchemaError(f"{where} has the unknown key {key!r}")


def check_name(name: object, kind: str) -> str:
    """Return the name; raise an error unless it is a non-empty str that UTF-8 can encode."""
    text = check_text(name, f"name of {kind}")
    if not text:
        raise SchemaError(f"the name of {kind} is empty")
    return text


def check_text(text: object, what: str) -> str:
    """Return the text; raise an error unless it is a str that UTF-8 can encode."""
    if not isinstance(text, str):
        raise WrongTypeError(f"the {what} must be a str, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise SchemaError(f"the {what} must be a str that UTF-8 can write, got {text!r}") from None
    return text


def read_texts(names: object, what: str) -> list[str]:
    """Return a list of names; raise an error unless it is one. A set has no order to rely on."""
    if isinstance(names, str | set | frozenset) or not isinstance(names, Iterable):
        raise WrongTypeError(f"{what} must be a list of names, got {names!r}")
    return [check_text(name, f"names in {what}") for name in names]
