"""Cells: what the text or value in one cell of a table means, and its integers for a state.

    cell -> [ parse ] -> None, bool, int, Decimal, tuple or str
    cells, attribute -> [ CellReader ] -> the value in a state

Numbers are exact: a decimal is an integer only after it was multiplied by the attribute's scale.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeGuard

from treethink.attributes import Attribute
from treethink.errors import UnknownNameError, shown

#: What a cell can mean; None is a missing value.
Parsed = None | bool | int | Decimal | tuple[int | Decimal, ...] | str

WORDS = {"true": True, "yes": True, "false": False, "no": False}
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LONGEST_NUMBER = 60  # characters; longer ones do not fit in a state anyway
_INTEGERS = range(-(2**63), 2**63)


class CellError(ValueError):
    """A cell that is not what its attribute takes; `column` is its position among the cells."""

    def __init__(self, message: str, column: int = 0):
        super().__init__(message)
        self.column = column


def parse(cell: Any) -> Parsed:
    """Return what a cell means by itself.

    >>> [parse(each) for each in ("", "3.0", "0.25", "Yes", "(3, 4)", "[1 2]", "cola")]
    [None, 3, Decimal('0.25'), True, (3, 4), (1, 2), 'cola']
    """
    if isinstance(cell, str):
        return _parse_text(cell.strip())
    if is_missing(cell):
        return None
    if type(cell).__name__ in ("bool", "bool_"):
        return bool(cell)
    number = _parse_number(cell)
    if number is not None:
        return number
    if hasattr(cell, "tolist"):
        cell = cell.tolist()
    if isinstance(cell, list | tuple):
        numbers = tuple(_parse_number(each) for each in cell)
        if numbers and all(each is not None for each in numbers):
            return numbers  # type: ignore[return-value]  # none is None
    return str(cell)


def is_missing(cell: Any) -> bool:
    """Return whether a cell has no value: empty text, None, NaN, or pandas' own kinds of these."""
    if isinstance(cell, str):
        return not cell or cell.isspace()
    if isinstance(cell, float):
        return math.isnan(cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def text_of(cell: Any) -> str:
    """Return the text of a cell, as a name of a category, an action or an object.

    >>> text_of(" cola "), text_of(True), text_of(2.0)
    ('cola', 'true', '2')
    """
    if isinstance(cell, str):
        return cell.strip()
    value = parse(cell)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _parse_text(text: str) -> Parsed:
    if not text:
        return None
    if (number := _number_of(text)) is not None:
        return number
    if (word := WORDS.get(text.casefold())) is not None:
        return word
    if text[0] in "([" and text[-1] in ")]":
        parts = re.split(r"\s*,\s*|\s+", text[1:-1].strip().rstrip(","))
        numbers = [_number_of(part) for part in parts]
        if all(each is not None for each in numbers):
            return tuple(numbers)  # type: ignore[arg-type]  # none is None
    return text


def _number_of(text: str) -> int | Decimal | None:
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        return None
    return _whole(Decimal(text))


def _parse_number(cell: Any) -> int | Decimal | None:
    """Return the number in a cell that is not text."""
    if isinstance(cell, bool):
        return None
    with suppress(TypeError):
        return operator.index(cell)
    if isinstance(cell, float | Decimal) and math.isfinite(cell):
        return _whole(cell if isinstance(cell, Decimal) else Decimal(repr(float(cell))))
    return None


def _is_single(value: Parsed) -> TypeGuard[tuple[int | Decimal]]:
    return isinstance(value, tuple) and len(value) == 1


def _whole(number: Decimal, scale: int = 1) -> int | Decimal:
    """Return the number times the scale if that is an integer; otherwise the number."""
    if abs(number.adjusted()) > _LONGEST_NUMBER and number:
        return number
    numerator, denominator = number.as_integer_ratio()
    scaled, rest = divmod(numerator * scale, denominator)
    return number if rest else scaled


def decimals(number: int | Decimal) -> int:
    """Return how many decimals a number has.

    >>> decimals(Decimal("0.250")), decimals(4)
    (2, 0)
    """
    if isinstance(number, int):
        return 0
    exponent = number.normalize().as_tuple().exponent
    return max(0, -int(exponent))


class CellReader:
    """Reads the cells of one attribute as a value of a state."""

    def __init__(self, name: str, attribute: Attribute, scale: int = 1):
        self._name, self._attribute, self._scale = name, attribute, scale
        self._known: dict[tuple[Any, ...], int | tuple[int, ...]] = {}
        self._codes = {each: code for code, each in enumerate(attribute.names or ())}

    def read(self, cells: Sequence[Any]) -> int | tuple[int, ...]:
        """Return the value in the cells, of which there is one, or one for each number."""
        key = (*map(type, cells), *cells)
        try:
            return self._known[key]
        except KeyError:
            value = self._known[key] = self._convert(cells)
            return value
        except TypeError:  # a list cannot be a key
            return self._convert(cells)

    def _convert(self, cells: Sequence[Any]) -> int | tuple[int, ...]:
        if len(cells) > 1:
            return tuple(self._number(parse(cell), cell, k) for k, cell in enumerate(cells))
        (cell,) = cells
        if is_missing(cell):
            raise CellError("the value is missing")
        if self._attribute.names is not None:
            return self._code(text_of(cell))
        if self._attribute.kind == "flag":
            return self._flag(cell)
        if self._attribute.length > 1:
            return self._vector(cell)
        value = parse(cell)
        return self._number(value[0] if _is_single(value) else value, cell)

    def _code(self, name: str) -> int:
        if name not in self._codes:
            known, where = self._codes, f"attribute {self._name!r}"
            raise CellError(str(UnknownNameError("value", name, known, where)))
        return self._codes[name]

    def _flag(self, cell: Any) -> int:
        value = parse(cell)
        if value not in (0, 1):
            raise CellError(f"{self._takes()} true or false, got {shown(cell)}")
        return int(value)

    def _vector(self, cell: Any) -> tuple[int, ...]:
        value, length = parse(cell), self._attribute.length
        if not isinstance(value, tuple) or len(value) != length:
            raise CellError(f"{self._takes()} {length} numbers, got {shown(cell)}")
        return tuple(self._number(each, cell) for each in value)

    def _number(self, value: Parsed, cell: Any, column: int = 0) -> int:
        if value is None:
            raise CellError("the value is missing", column)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise CellError(f"{self._takes()} a number, got {shown(cell)}", column)
        exact = Decimal(value) if isinstance(value, int) else value
        scaled = _whole(exact, self._scale)
        if isinstance(scaled, Decimal) or scaled not in _INTEGERS:
            raise CellError(self._inexact(value, cell), column)
        return scaled

    def _inexact(self, value: int | Decimal, cell: Any) -> str:
        if isinstance(value, int) or value.adjusted() > 18:
            return f"{self._takes()} numbers of at most 18 digits, got {shown(cell)}"
        takes = f"{self._takes()} whole numbers" + (
            f" after they are multiplied by its scale {self._scale}" if self._scale > 1 else ""
        )
        need = 10 ** min(decimals(value), 18)
        return f"{takes}, got {shown(cell)}: set scale = {need} in the schema file, or round"

    def _takes(self) -> str:
        return f"attribute {self._name!r} takes"
