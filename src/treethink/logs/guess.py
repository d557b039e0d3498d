"""Guess the schema of a log from the names of its columns and the values in them.

    table -> [ guess ] -> LogSchema, with notes that say why

Integers are numbers, pairs of columns such as x and y are positions, true and false are flags, and
other text is a category with the names that occur. A schema file lets people correct the guess.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations
from typing import Any

from treethink.attributes import Attribute
from treethink.errors import LogError, shown
from treethink.logs.cells import Parsed, decimals, is_missing, parse, text_of
from treethink.logs.names import (
    ROLES,
    SYSTEM,
    classes_of,
    identifier,
    plain,
    split,
    vectors,
)
from treethink.logs.schema import LogSchema, after_columns, roles_of
from treethink.logs.table import Table
from treethink.presets import Category, Flag, Number, Position, Score
from treethink.state import Schema
from treethink.text import listed, many

_MOST_NAMES = 200  # of a category; text with more different values is a comment, or an id
_MOST_DECIMALS = 4
_LONGEST_POSITION = 3
_SHARED = 0.8  # of the values of one attribute among those of another, to suggest `like`
_FEWEST_SHARED = 3
_FEWEST_STARTS = 4  # of steps, to take a column for the episode


@dataclass(slots=True)
class _Part:
    """What occurs in the columns of one attribute: each different cell, with its first place."""

    places: dict[Any, tuple[int, str]] = field(default_factory=dict)
    owners: set[str] = field(default_factory=set)
    parsed: list[Parsed] = field(default_factory=list)

    def add(self, cells: Iterable[Any], numbers: Iterable[int], column: str) -> None:
        places = self.places
        for cell, number in zip(cells, numbers, strict=True):
            if not is_missing(cell):
                key = (type(cell), cell if cell.__hash__ is not None else repr(cell))
                if key not in places:
                    places[key] = (number, column)
                    self.parsed.append(parse(cell))


#: Text that some programs write for a number that is none.
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9]+$)")
_NO_NUMBER = re.compile(r"[+-]?(nan|inf(inity)?)|n/?a|null", re.IGNORECASE)


def _check_for_gaps(part: _Part, place: Callable[[int], str]) -> None:
    """Raise an error if all values of a column are numbers, but for some that mean none."""
    gaps = [
        (at, cell)
        for ((_, cell), at), value in zip(part.places.items(), part.parsed, strict=True)
        if isinstance(value, str) and _NO_NUMBER.fullmatch(value)
    ]
    numbers = [each for each in part.parsed if _are_numbers([each])]
    if gaps and numbers and len(gaps) + len(numbers) == len(part.parsed):
        (number, column), cell = gaps[0]
        raise _ProblemError(
            f"{place(number)}, column {column!r}: {shown(cell)} is no number, and rules need a"
            " value in every row: write a number, or a name in every row, or list the column under"
            " `ignore` in the schema file"
        )


def _decimal_commas(names: Iterable[str]) -> str:
    """Return a remark if all values of a column would be numbers with points for commas."""
    values = {name: parse(_DECIMAL_COMMA.sub(".", name, count=1)) for name in names}
    number = next((str(value) for name, value in values.items() if "," in name), None)
    if number is None or not _are_numbers([*values.values()]):
        return ""
    return f"; if these are numbers, write a point in place of the comma, as in {number}"


def _no_numbers(part: _Part) -> str:
    """Return a remark if most values of a column are numbers, and one that is not has a line."""
    odd = [
        f"{text_of(cell)!r} (line {line})"
        for ((_, cell), (line, _)), value in zip(part.places.items(), part.parsed, strict=True)
        if not _are_numbers([value])
    ]
    if 2 * len(odd) > len(part.parsed):
        return ""
    return f"; all its values are numbers but {listed(odd)}"


class _ProblemError(ValueError):
    """A column of which no attribute can be made."""


def guess(table: Table, columns: Mapping[str, str] | None = None) -> LogSchema:
    """Return the schema that a log seems to have; `columns` names those of some roles."""
    return _Guess(table, columns).result()


class _Guess:
    def __init__(self, table: Table, columns: Mapping[str, str] | None):
        self._table = table
        self._positions = {column: k for k, column in enumerate(table.columns)}
        self._roles = roles_of(table, columns)
        self._episodes = self._find_episodes()
        self._wide = "class" not in self._roles
        self._ignored: list[str] = []
        self._notes: list[str] = []
        self._problems: list[str] = []
        rest = self._unused_columns()
        after = after_columns(rest) if self._wide else {}
        self._owner = {
            column: split(column, self._wide) for column in rest if column not in after.values()
        }
        self._after = after
        self._parts = self._read_parts()

    def _find_episodes(self) -> str | None:
        """Take a column as that of the episodes if it changes exactly where steps start again."""
        if "episode" in self._roles or "step" not in self._roles:
            return None
        rows, k = self._table.rows, self._positions[self._roles["step"]]
        steps = [parse(row[k]) for row in rows]
        if not _are_numbers(steps):
            return None
        starts = [i for i in range(1, len(rows)) if steps[i] < steps[i - 1]]  # type: ignore[operator]
        candidates = [column for column in self._table.columns if "." not in column]
        for column in candidates if len(starts) >= _FEWEST_STARTS else ():
            cells = [text_of(row[self._positions[column]]) for row in rows]
            changes = [i for i in range(1, len(rows)) if cells[i] != cells[i - 1]]
            if changes == starts and len(set(cells)) == len(starts) + 1:
                self._roles["episode"] = column
                return column
        return None

    def _unused_columns(self) -> list[str]:
        """Return the columns that may be attributes; ignore other clocks and unnamed columns."""
        rest = [each for each in self._table.columns if each not in self._roles.values()]
        if "step" in self._roles:
            for column in [each for each in rest if plain(each) in ROLES["step"]]:
                rest.remove(column)
                self._ignored.append(column)
                step = self._roles["step"]
                self._notes.append(f"{column!r} is ignored: the order is that of {step!r}")
        for column in [each for each in rest if plain(each) == "truncated"]:
            rest.remove(column)
            self._ignored.append(column)
            self._notes.append(f"{column!r} is ignored: an episode that was cut off has not ended")
        if self._episodes is not None:
            step, column = self._roles["step"], self._episodes
            self._notes.append(
                f"{column!r} is taken for the episode: it changes where {step!r} starts again"
            )
        if "" in rest:
            self._notes.append("a column without a name is ignored")
        return [each for each in rest if each]

    def _read_parts(self) -> dict[str, _Part]:
        parts: dict[str, _Part] = {}
        rows, numbers = self._table.rows, self._table.numbers
        for column, (owner, part) in self._owner.items():
            found = parts.setdefault(part, _Part())
            found.owners.add(owner)
            for each in filter(None, (column, self._after.get(column))):
                k = self._positions[each]
                found.add([row[k] for row in rows], numbers, each)
        return parts

    # ------------------------------------------------------------------------ result

    def result(self) -> LogSchema:
        attributes, columns, scales = self._attributes()
        classes, objects = self._classes(columns)
        actions = self._actions()
        self._describe(classes, actions)
        schema = Schema(classes, attributes, actions)
        suggestions = dict(self._suggestions(attributes, columns))
        self._notes += [*self._rewards(columns), *_likes(suggestions)]
        return LogSchema(
            schema=schema,
            roles=self._roles,
            objects=objects,
            columns={name: each for name, each in columns.items() if each != (name,)},
            scales=scales,
            ignored=tuple(self._ignored),
            notes=tuple(self._notes),
            problems=tuple(self._problems),
            suggestions=suggestions,
        )

    def _attributes(
        self,
    ) -> tuple[dict[str, Attribute], dict[str, tuple[str, ...]], dict[str, int]]:
        """Return the attributes, the columns of each, and the scales of those that have one."""
        attributes: dict[str, Attribute] = {}
        columns: dict[str, tuple[str, ...]] = {}
        scales: dict[str, int] = {}
        for wanted, parts in self._grouped().items():
            name = identifier(wanted, attributes)
            try:
                attribute, scale, note = self._attribute(wanted, parts)
            except _ProblemError as problem:
                self._problems.append(str(problem))
                self._ignore(parts)
                continue
            if attribute is None:
                self._ignore(parts)
            else:
                attributes[name], columns[name] = attribute, parts
                if scale > 1:
                    scales[name] = scale
            self._notes.append(f"{name if attribute else wanted}: {note}")
        return attributes, columns, scales

    def _ignore(self, parts: Sequence[str]) -> None:
        self._ignored += [
            each
            for column, (_, part) in self._owner.items()
            if part in parts
            for each in (column, self._after.get(column))
            if each
        ]

    def _grouped(self) -> dict[str, tuple[str, ...]]:
        """Return the columns of each attribute, in the order of the columns."""
        leader: dict[str, tuple[str, tuple[str, ...]]] = {}
        members: set[str] = set()
        for name, parts in vectors([*self._parts]):
            if name not in self._parts and self._can_pair(parts):
                leader[min(parts, key=[*self._parts].index)] = (name, parts)
                members.update(parts)
        grouped: dict[str, tuple[str, ...]] = {}
        for part in self._parts:
            name, parts = leader.get(part, (part, (part,)))
            if part in leader or part not in members:
                grouped[part if name in grouped else name] = parts
        return grouped

    def _can_pair(self, parts: Sequence[str]) -> bool:
        """Return whether columns hold numbers, of the same objects."""
        found = [self._parts[part] for part in parts]
        return (
            all(_are_numbers(each.parsed) and each.parsed for each in found)
            and len({frozenset(each.owners) for each in found}) == 1
            and (self._wide or len({self._class_set(part) for part in parts}) == 1)
        )

    def _class_set(self, part: str) -> frozenset[str]:
        """Return the classes whose rows have a value in a column."""
        k, c = self._positions[part], self._positions[self._roles["class"]]
        return frozenset(text_of(row[c]) for row in self._table.rows if not is_missing(row[k]))

    # -------------------------------------------------------------------- attributes

    def _attribute(self, name: str, parts: tuple[str, ...]) -> tuple[Attribute | None, int, str]:
        """Return the attribute for some columns, its scale, and why."""
        found = [self._parts[part] for part in parts]
        values = [value for each in found for value in each.parsed]
        if len(parts) > 1:
            scale = self._scale(found)
            what = f"the columns {' and '.join(parts)} are one position"
            return _vector(len(parts)), scale, what + _scaled(scale)
        if not values:
            return None, 1, "ignored, since the column is empty"
        if any(isinstance(each, tuple) for each in values):
            return self._list(name, found[0], values)
        if _are_numbers(values):
            return self._number(name, found)
        if all(isinstance(each, bool) for each in values):
            return Flag(), 1, "a flag, since its values are true and false"
        _check_for_gaps(found[0], self._table.place)
        return self._category(name, found[0])

    def _number(self, name: str, found: Sequence[_Part]) -> tuple[Attribute, int, str]:
        scale = self._scale(found)
        values = [each for each in found[0].parsed if isinstance(each, int | Decimal)]
        least, most = min(values), max(values)
        span = f"from {least} to {most}" if least < most else f"always {least}"
        if plain(name) == "score":
            return Score(), scale, f"a score, by its name, {span}{_scaled(scale)}"
        note = f"a number, {span}{_scaled(scale)}"
        if set(values) == {0, 1}:
            note += '; if it means yes and no, write kind = "flag"'
        return Number(), scale, note

    def _list(self, name: str, part: _Part, values: Sequence[Parsed]) -> tuple[Attribute, int, str]:
        lengths = {len(each) if isinstance(each, tuple) else 0 for each in values}
        if len(lengths) > 1:
            odd = min(lengths - {max(lengths)})
            position = next(
                k for k, v in enumerate(values) if (len(v) if isinstance(v, tuple) else 0) == odd
            )
            raise self._problem(
                part, position, f"lists in a column must be of one length, here {max(lengths)}"
            )
        (length,) = lengths
        scale = self._scale([part])
        what = "a position" if length <= _LONGEST_POSITION else "a list"
        return _vector(length), scale, f"{what} of {many(length, 'number')}{_scaled(scale)}"

    def _category(self, name: str, part: _Part) -> tuple[Attribute | None, int, str]:
        names = list(dict.fromkeys(text_of(cell) for _, cell in part.places))
        commas = _decimal_commas(names)
        if len(names) > _MOST_NAMES:
            note = f"ignored, since it is text with {len(names):,} different values{commas}"
            return None, 1, note
        return Category(names), 1, f"a category of {listed(names)}{commas or _no_numbers(part)}"

    def _scale(self, found: Sequence[_Part]) -> int:
        """Return the number that makes integers of all numbers."""
        most = 0
        for part in found:
            for position, value in enumerate(part.parsed):
                numbers = value if isinstance(value, tuple) else (value,)
                for each in numbers:
                    assert isinstance(each, int | Decimal)
                    count = decimals(each)
                    if count > _MOST_DECIMALS:
                        raise self._problem(
                            part,
                            position,
                            f"rules need exact numbers of at most {_MOST_DECIMALS} decimals:"
                            " round the column in the log",
                        )
                    most = max(most, count)
        return int(10**most)

    def _problem(self, part: _Part, position: int, message: str) -> _ProblemError:
        (_, cell), (number, column) = list(part.places.items())[position]
        return _ProblemError(
            f"{self._table.place(number)}, column {column!r}: {message}, got {shown(cell)}"
        )

    # ------------------------------------------------------------ classes and actions

    def _classes(
        self, columns: Mapping[str, tuple[str, ...]]
    ) -> tuple[dict[str, list[str]], dict[str, str] | None]:
        """Return the attributes of each class, and the class of each object of a wide row."""
        if not self._wide:
            having = {name: self._class_set(parts[0]) for name, parts in columns.items()}
            column = self._roles["class"]
            names = self._distinct(column)
            if not names:
                place = self._table.place(self._table.numbers[0])
                raise LogError(f"{place}, column {column!r}: the value is missing")
            return {
                each: [name for name, own in having.items() if each in own] for each in names
            }, None
        owned: dict[str, list[str]] = {}
        for column, (owner, part) in self._owner.items():
            owned.setdefault(owner, [])
            for name, parts in columns.items():
                if part == parts[0] and column not in self._ignored:
                    owned[owner].append(name)
        objects = classes_of({name: frozenset(each) for name, each in owned.items() if each})
        if "" in objects:
            self._notes.append(
                f"columns without an object, such as {owned[''][0]}, belong to the object {SYSTEM}"
            )
        return {class_name: owned[name] for name, class_name in objects.items()}, objects

    def _actions(self) -> list[str]:
        return self._distinct(self._roles["action"])

    def _distinct(self, column: str) -> list[str]:
        k = self._positions[column]
        cells = dict.fromkeys(text_of(row[k]) for row in self._table.rows if not is_missing(row[k]))
        return [*cells]

    def _describe(self, classes: Mapping[str, Sequence[str]], actions: Sequence[str]) -> None:
        rows = "step, with all objects" if self._wide else "object and step"
        found = ", ".join(f"{role} in {column!r}" for role, column in self._roles.items())
        self._notes[:0] = [
            f"one row per {rows}; {found}",
            f"{many(len(actions), 'action')}: {listed(actions)}",
            *(
                f"class {name}: {', '.join(own) or 'no attributes'}"
                for name, own in classes.items()
            ),
        ]

    def _suggestions(
        self, attributes: Mapping[str, Attribute], columns: Mapping[str, tuple[str, ...]]
    ) -> Iterator[tuple[str, str]]:
        """Yield pairs of attributes that look comparable: of one kind, with values in common."""
        suggested: set[str] = set()
        for first, second in combinations(attributes, 2):
            one, other = attributes[first], attributes[second]
            same = (one.kind, one.length) == (other.kind, other.length)
            if not same or one.kind not in ("number", "position", "category"):
                continue
            new = second not in suggested and first not in suggested
            if new and self._overlap(columns[first], columns[second]):
                suggested.add(second)
                yield second, first

    def _rewards(self, columns: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
        """Yield a question for each column of numbers that is empty exactly where the action is."""
        if "reward" in self._roles:
            return
        rows, parts = self._table.rows, {each for own in columns.values() for each in own}
        acts = [not is_missing(row[self._positions[self._roles["action"]]]) for row in rows]
        for column, (_, part) in self._owner.items():
            k = self._positions[column]
            is_number = part in parts and _are_numbers(self._parts[part].parsed)
            if is_number and not all(acts) and acts == [not is_missing(row[k]) for row in rows]:
                advice = f"--column {shlex.quote(f'reward={column}')}"
                yield f"{column} is empty exactly where the action is: is it the reward? {advice}"

    def _overlap(self, one: Sequence[str], other: Sequence[str]) -> bool:
        for a, b in zip(one, other, strict=len(one) == len(other)):
            left, right = set(self._parts[a].parsed), set(self._parts[b].parsed)
            shared = len(left & right)
            enough = min(_FEWEST_SHARED, max(len(left), len(right)))
            if shared < enough or shared < _SHARED * min(len(left), len(right)):
                return False
        return True


def _likes(suggestions: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each attribute that others may be like."""
    for unit in dict.fromkeys(suggestions.values()):
        names = [name for name, other in suggestions.items() if other == unit]
        if len(names) == 1:
            yield (
                f"{names[0]} and {unit} have values in common: if they mean the same thing, write"
                f' like = "{unit}" for {names[0]}, or rules cannot compare them'
            )
            continue
        listed_names = f"{', '.join(names[:-1])} and {names[-1]}"
        yield (
            f"{listed_names} have values in common with {unit}: if one of them means the same"
            f' thing, write like = "{unit}" for it, or rules cannot compare them'
        )


def _are_numbers(values: Iterable[Parsed]) -> bool:
    return all(isinstance(each, int | Decimal) and not isinstance(each, bool) for each in values)


def _vector(length: int) -> Attribute:
    if length == 1:
        return Number()
    return Position(length) if length <= _LONGEST_POSITION else Attribute(length)


def _scaled(scale: int) -> str:
    return f", with decimals: multiplied by {scale} when read" if scale > 1 else ""
