"""Frames: what the outcomes of a rule are relative to.

    outcome, frame, state -> [ frames ] -> new value
    old and new value, frame -> [ frames ] -> outcome

A frame names a reference: the value before (``change``), zero (``value``), another attribute of the
same object (``own``), or an attribute of the only object of another class (``copy``). An outcome is
`STAYS` if the value does not change, and otherwise the new value minus the reference. In the frame
``change`` there is no `STAYS`: it is the change zero. So it is in the frame ``jump``, in which
outcomes are changes, too, but a value that becomes that of another attribute is `JUMPS`.

This is the only place in the package that turns outcomes into values, and values into outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treethink.attributes import Code, PlainValue
from treethink.errors import SettingError, UnknownNameError, shown

if TYPE_CHECKING:
    from treethink.attributes import Attribute
    from treethink.state import State

__all__ = [
    "CHANGE",
    "JUMPS",
    "KINDS",
    "STAYS",
    "VALUE",
    "Frame",
    "Jumps",
    "Outcome",
    "Stays",
    "default_frame",
]

KINDS = ("change", "value", "own", "copy", "jump")


class Stays:
    """`STAYS` is the outcome of a value that does not change, where outcomes are no changes.

    >>> STAYS
    stays
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "stays"

    def __reduce__(self) -> str:
        return "STAYS"  # so copies and pickles are the same object


class Jumps:
    """`JUMPS` is the outcome of a value that becomes that of another attribute (``jump``).

    >>> JUMPS
    jumps
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "jumps"

    def __reduce__(self) -> str:
        return "JUMPS"


#: The outcome of a value that does not change, in every frame but ``change`` and ``jump``.
STAYS = Stays()
#: The outcome of a value that becomes that of another attribute, in the frame ``jump``.
JUMPS = Jumps()
#: An outcome of a rule: a change, a new value, `STAYS` or `JUMPS`. That of a rule about rewards is
#: a float, and of a rule about ends a bool.
Outcome = PlainValue | Stays | Jumps
#: A frame as the engine gives and takes it: kind, class, attribute, adds.
EngineFrame = tuple[str, str | None, str | None, bool]


@dataclass(frozen=True, slots=True)
class Frame:
    """What the outcomes of a rule are relative to: `rule.frame`.

    Parameters
    ----------
    kind
        ``"change"``: the value before. ``"value"``: zero, so outcomes are new values. ``"own"``:
        another attribute of the same object. ``"copy"``: an attribute of the only object of
        another class. ``"jump"``: the value before, but a value that becomes that of such an
        attribute is told as such.
    of
        For ``"copy"``, that class; for ``"jump"``, if it is not the object's own attribute.
    attribute
        For ``"own"``, ``"copy"`` and ``"jump"``, that attribute.
    adds
        For ``"own"`` and ``"copy"``: whether that attribute is added to the value before, as a
        heading or a velocity is, instead of replacing it.

    Examples
    --------
    A car that moves by its heading, a player that goes where the exit is, and one that moves step
    by step or goes to the exit:

    >>> Frame("own", attribute="heading", adds=True)
    Frame(kind='own', of=None, attribute='heading', adds=True)
    >>> Frame("copy", of="exit", attribute="pos").of
    'exit'
    >>> Frame("jump", of="exit", attribute="pos").source
    Frame(kind='copy', of='exit', attribute='pos', adds=False)
    """

    kind: str
    of: str | None = None
    attribute: str | None = None
    adds: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownNameError("frame", shown(self.kind), KINDS, "tt.Frame")
        refers = self.kind in ("own", "copy", "jump")
        needed = (self.kind == "copy" or (self.kind == "jump" and self.of is not None), refers)
        given = (self.of is not None, self.attribute is not None)
        if given != needed or (self.adds and self.kind not in ("own", "copy")):
            raise SettingError(
                "a frame 'copy' needs of and attribute, 'own' needs attribute, both may have adds;"
                " 'jump' needs attribute and may have of;"
                f" 'change' and 'value' have none of them; got {self}"
            )

    @property
    def to_engine(self) -> EngineFrame:
        """The frame as the engine takes it."""
        return self.kind, self.of, self.attribute, self.adds

    @property
    def is_plain(self) -> bool:
        """Whether outcomes refer to nothing but the attribute itself: changes or new values."""
        return self.attribute is None

    @property
    def changes(self) -> bool:
        """Whether outcomes are changes, so that there is no `STAYS`."""
        return self.kind in ("change", "jump")

    @property
    def bare(self) -> Stays | Jumps:
        """The outcome that the engine tells by no numbers."""
        return JUMPS if self.kind == "jump" else STAYS

    @property
    def source(self) -> Frame:
        """The frame in which `JUMPS` would be zero."""
        return Frame("own" if self.of is None else "copy", self.of, self.attribute)

    def reads(self, class_name: str, attribute: str) -> tuple[tuple[str, str], ...]:
        """Return the class and attribute of every value that the reference depends on.

        `class_name` and `attribute` are those of the rule.

        >>> Frame("own", attribute="heading", adds=True).reads("ball", "pos")
        (('ball', 'pos'), ('ball', 'heading'))
        """
        before = [(class_name, attribute)] if self.changes or self.adds else []
        if self.attribute is not None:
            before.append((self.of or class_name, self.attribute))
        return tuple(before)

    def reference(self, state: State, object_id: int, attribute: str) -> Code | None:
        """Return the reference for an object's attribute, in numbers; None if there is none.

        There is none if the class of the frame has no object in the state, or several.
        """
        length = state.schema.attributes[attribute].length
        if self.kind == "value":
            return (0,) * length if length > 1 else 0
        if self.changes:
            return code_of(state, object_id, attribute)
        assert self.attribute is not None
        source = object_id
        if self.of is not None:
            objects = state.of_class(self.of)
            if len(objects) != 1:
                return None
            source = objects[0].id
        other = code_of(state, source, self.attribute)
        return plus(code_of(state, object_id, attribute), other) if self.adds else other

    def new_value(
        self, state: State, object_id: int, attribute: str, outcome: Outcome
    ) -> PlainValue | None:
        """Return the value that an outcome leads to; None if what it refers to is not there."""
        definition = state.schema.attributes[attribute]
        if isinstance(outcome, Stays):
            value: PlainValue = state.value(object_id, attribute)
            return value
        if isinstance(outcome, Jumps):
            to = self.source.reference(state, object_id, attribute)
            return None if to is None else definition.decode(to)
        if self.kind == "value":
            return outcome
        reference = self.reference(state, object_id, attribute)
        return None if reference is None else definition.decode(plus(reference, outcome))

    def new_values(
        self, state: State, object_id: int, attribute: str, counts: Mapping[Outcome, int]
    ) -> dict[PlainValue, int]:
        """Return how often each value was seen, for counts of outcomes; {} without a reference."""
        values: dict[PlainValue, int] = {}
        for outcome, n in counts.items():
            value = self.new_value(state, object_id, attribute, outcome)
            if value is None:
                return {}
            values[value] = values.get(value, 0) + n
        return values

    def outcome_of(
        self, state: State, object_id: int, attribute: str, value: PlainValue, stays: bool = True
    ) -> Outcome | None:
        """Return the outcome of an object's attribute that becomes `value`.

        It is None if the frame has no reference there. With ``stays=False``, a value that does not
        change is told like any other, as rules did that had seen no `STAYS`. A change that happens
        to lead to the value of the source is `JUMPS`, too.
        """
        if stays and not self.changes and state.value(object_id, attribute) == value:
            return STAYS
        if self.kind == "jump" and self.new_value(state, object_id, attribute, JUMPS) == value:
            return JUMPS
        if self.kind == "value":
            return value
        reference = self.reference(state, object_id, attribute)
        if reference is None:
            return None
        return minus(state.schema.attributes[attribute].encode(value), reference)


CHANGE = Frame("change")
VALUE = Frame("value")


def default_frame(attribute: Attribute) -> Frame:
    """Return the frame in which rules about an attribute begin.

    It is also the one for outcomes that belong to no rule.

    >>> from treethink import Attribute, Category
    >>> default_frame(Attribute(2)).kind, default_frame(Category(["cola", "water"])).kind
    ('change', 'value')
    """
    by_value = attribute.outcomes == "value" or attribute.is_symbolic
    return VALUE if by_value else CHANGE


# ------------------------------------------------------------------------------------ numbers


def code_of(state: State, object_id: int, attribute: str) -> Code:
    """Return the engine's numbers for a value of an object."""
    return state.schema.definition(attribute).encode(state.value(object_id, attribute))


def plus(a: Outcome, b: Outcome) -> Code:
    """Return the sum of two values of the same length.

    >>> plus((3, 3), (1, 0)), plus(2, -2)
    ((4, 3), 0)
    """
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(x + y for x, y in zip(a, b, strict=True))
    assert isinstance(a, int)
    assert isinstance(b, int)
    return a + b


def minus(a: Outcome, b: Outcome) -> Code:
    """Return the difference `a - b`.

    >>> minus((3, 3), (1, 0)), minus(2, -2)
    ((2, 3), 4)
    """
    return plus(a, negative(b))


def signs(value: Outcome) -> Code:
    """Return -1, 0 or 1 for a number, or for each component.

    >>> signs(-7), signs((0, 3))
    (-1, (0, 1))
    """
    if isinstance(value, tuple):
        return tuple((each > 0) - (each < 0) for each in value)
    assert isinstance(value, int)
    return (value > 0) - (value < 0)


def negative(value: Outcome) -> Code:
    """Return the value with its sign reversed.

    >>> negative((1, -2)), negative(3)
    ((-1, 2), -3)
    """
    if isinstance(value, tuple):
        return tuple(-each for each in value)
    assert isinstance(value, int)
    return -value


def is_zero(value: Outcome) -> bool:
    """Whether every component is zero.

    >>> is_zero((0, 0)), is_zero((0, 1)), is_zero(0), is_zero(STAYS)
    (True, False, True, False)
    """
    components: Iterable[object] = value if isinstance(value, tuple) else (value,)
    return all(isinstance(each, int) and each == 0 for each in components)
