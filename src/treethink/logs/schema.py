"""What a log contains: a schema, and which columns of a table its values are in.

    schema, columns of a table -> [ bind ] -> Binding: the position of everything in a row

A `LogSchema` may leave out what can be recognised by the names of columns, so a plain `Schema` is
enough where they agree with it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from treethink.errors import LogError, UnknownNameError
from treethink.logs.cells import is_missing, text_of
from treethink.logs.names import (
    AFTER,
    OBJECT_ROLES,
    ROLES,
    SYSTEM,
    find_roles,
    plain,
    split,
    stem,
    vectors,
)
from treethink.logs.table import Table
from treethink.presets import Derived
from treethink.state import Attribute, Schema

_ROWS_READ = 10_000  # to see whether rows are steps or objects


@dataclass(frozen=True, slots=True)
class LogSchema:
    """A schema, and how to read its values from the columns of a log.

    Parameters
    ----------
    schema
        The classes, attributes and actions.
    roles
        The columns that are no attributes: ``{"action": "act", "step": "t"}``. None: they are
        recognised by their names.
    objects
        For logs with one row per step, the class of each object. None: it is recognised by the
        object's name.
    columns
        The columns of an attribute, where their names are not the attribute's.
    scales
        The number by which the values of an attribute are multiplied, so that they are integers.
    ignored
        The columns that are not read.
    notes
        Why it was guessed like this.
    problems
        Why the log cannot be read with this guess as it is.
    suggestions
        For an attribute, another one that its values look comparable with (`like`).
    """

    schema: Schema
    roles: Mapping[str, str] | None = None
    objects: Mapping[str, str] | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scales: Mapping[str, int] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    problems: tuple[str, ...] = field(default=(), compare=False)
    suggestions: Mapping[str, str] = field(default_factory=dict, compare=False)

    def with_attributes(self, **attributes: Attribute) -> LogSchema:
        """Return the same with other definitions of some attributes.

        >>> from treethink import Number, read_frame
        >>> guess = read_frame({"action": ["up", ""], "lift.floor": [1, 2], "lift.dest": [2, 2]})
        >>> guess.log_schema.with_attributes(dest=Number(like="floor")).schema.unit("dest")
        'floor'
        """
        for name in attributes:
            if name not in self.schema.attributes:
                known = self.schema.attributes
                raise UnknownNameError("attribute", name, known, "the schema of the log")
        schema = self.schema
        changed = Schema(schema.classes, {**schema.attributes, **attributes}, schema.actions)
        return replace(self, schema=changed)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of an attribute is in a row; `after`, where its value after the action is."""

    attribute: str
    cells: tuple[int, ...]
    after: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """Where everything is in a row.

    `objects` are the name, class and places of each object of a wide row; in rows of single
    objects, they are the classes, without names.
    """

    roles: Mapping[str, int]
    objects: Sequence[tuple[str, str, tuple[Place, ...]]]
    has_after: bool = False

    @property
    def is_wide(self) -> bool:
        """Whether a row is a step, with all its objects."""
        return "class" not in self.roles


def bind(log_schema: LogSchema, table: Table) -> Binding:
    """Return where everything of a schema is in a table; raise an error if something is not."""
    binder = _Binder(log_schema, table)
    return binder.wide() if binder.is_wide else binder.rows_of_objects()


class _Binder:
    """The columns of one table, which are taken one after the other."""

    def __init__(self, log_schema: LogSchema, table: Table):
        self._log_schema, self._schema, self._table = log_schema, log_schema.schema, table
        self._positions = {column: k for k, column in enumerate(table.columns)}
        self._roles = self._find_roles()
        self.is_wide = "class" not in self._roles
        used = {*self._roles.values(), *log_schema.ignored, ""}
        rest = [column for column in table.columns if column not in used]
        self._after = after_columns(rest) if self.is_wide else {}
        self._left = [column for column in rest if column not in self._after.values()]

    def _find_roles(self) -> Mapping[str, str]:
        roles = self._log_schema.roles
        if roles is None:
            return roles_of(self._table, ignored=self._log_schema.ignored)
        check_columns(roles, self._table)
        check_roles(roles, self._table)
        return roles

    def _unknown(self, column: str) -> LogError:
        for role, name in self._roles.items():
            if name == column:
                return LogError(
                    f"{self._table.name}: the column {column!r} is that of the {role}, so it cannot"
                    " be an attribute, too: give the log a copy of it with another name"
                )
        return _unknown_column(column, self._table)

    def wide(self) -> Binding:
        parts: dict[str, dict[str, str]] = {}
        for column in self._left:
            name, part = split(column, wide=True)
            parts.setdefault(name, {})[part] = column
        classes = {name: self._class_of(name, parts) for name in parts}
        for name in self._log_schema.objects or ():
            if name not in parts:
                raise LogError(
                    f"{self._table.name} has no column of the object {name!r}, such as"
                    f" '{name}.{next(iter(self._schema.attributes), 'floor')}'"
                )
        ordered = sorted(parts, key=[*(self._log_schema.objects or parts)].index)
        objects = [
            (name, class_name, self._places(class_name, parts[name], name))
            for name, class_name in ((name, classes[name]) for name in ordered)
        ]
        return Binding(self._role_positions(), objects, has_after=bool(self._after))

    def rows_of_objects(self) -> Binding:
        named = {column for columns in self._log_schema.columns.values() for column in columns}
        of_roles = [self._roles[role] for role in OBJECT_ROLES if self._roles[role] in named]
        parts = {column: column for column in (*self._left, *of_roles)}
        unused = set(self._left)
        objects = []
        for class_name in self._schema.classes:
            places = self._places(class_name, parts, "", all_used=False)
            objects.append(("", class_name, places))
            unused -= {self._table.columns[k] for place in places for k in place.cells}
        self._refuse_unused([column for column in parts if column in unused])
        return Binding(self._role_positions(), objects)

    def _role_positions(self) -> dict[str, int]:
        return {role: self._positions[column] for role, column in self._roles.items()}

    def _class_of(self, name: str, parts: Mapping[str, Mapping[str, str]]) -> str:
        """Return the class of an object of a wide row."""
        classes, objects = self._schema.classes, self._log_schema.objects
        if objects is not None:
            if name not in objects:
                self._refuse_unused([*parts[name].values()])
            return objects[name]
        by_name = {plain(each): each for each in classes}
        for each in (name, stem(name)) if name else (SYSTEM,):
            if plain(each) in by_name:
                return by_name[plain(each)]
        if len(classes) == len(parts) == 1 and not name:
            return next(iter(classes))
        column = next(iter(parts[name].values()))
        if not name:
            self._refuse_unused([column])
        error = UnknownNameError("class", name, classes, "the schema")
        raise LogError(f"{self._table.name}, column {column!r}: {error}")

    def _places(
        self, class_name: str, parts: Mapping[str, str], name: str, all_used: bool = True
    ) -> tuple[Place, ...]:
        """Return the places of all attributes of a class, given the columns by part."""
        places = []
        for attribute in given_attributes(self._schema, class_name):
            columns = self._columns_of(attribute, parts, f"{name}." if name else "")
            cells = tuple(self._positions[column] for column in columns)
            places.append(Place(attribute, cells, self._after_cells(columns)))
        if all_used:
            used = {self._table.columns[k] for place in places for k in place.cells}
            self._refuse_unused([column for column in parts.values() if column not in used])
        return tuple(places)

    def _columns_of(self, name: str, parts: Mapping[str, str], prefix: str) -> Iterable[str]:
        length = self._schema.attributes[name].length
        if (given := self._log_schema.columns.get(name)) is not None:
            for part in given:
                if part not in parts:
                    raise self._unknown(prefix + part)
            return [parts[part] for part in given]
        for part, column in parts.items():
            if plain(part) == plain(name):
                return [column]
        if length > 1:
            for each, members in vectors([*parts]):
                if plain(each) == plain(name) and len(members) == length:
                    return [parts[part] for part in members]
        raise self._unknown(prefix + name)

    def _after_cells(self, columns: Iterable[str]) -> tuple[int, ...] | None:
        after = [self._after.get(column) for column in columns]
        return None if None in after else tuple(self._positions[each] for each in after if each)

    def _refuse_unused(self, columns: Sequence[str]) -> None:
        if columns:
            known = [*self._schema.attributes, *(self._log_schema.objects or ())]
            _, part = split(columns[0], self.is_wide)
            error = UnknownNameError("attribute", part, known, "the schema")
            raise LogError(
                f"{self._table.name}, column {columns[0]!r}: {error}"
                " List the column under `ignore` in the schema file if it is not needed."
            )


def given_attributes(schema: Schema, class_name: str) -> list[str]:
    """Return the attributes of a class whose values a log must have."""
    return [
        name
        for name in schema.classes[class_name]
        if getattr(schema.attributes[name], "function", None) is None
        or not isinstance(schema.attributes[name], Derived)
    ]


def after_columns(columns: Sequence[str]) -> dict[str, str]:
    """Return the columns with values after the action, by the columns with values before it.

    >>> after_columns(["lift.floor", "next.lift.floor"])
    {'lift.floor': 'next.lift.floor'}
    """
    found = {}
    for column in columns:
        for prefix in AFTER:
            if plain(column).startswith(prefix) and column[len(prefix) :] in columns:
                found[column[len(prefix) :]] = column
    return found


def roles_of(
    table: Table, given: Mapping[str, str] | None = None, ignored: Iterable[str] = ()
) -> dict[str, str]:
    """Return the column of each role: the given ones, and those that the names of columns tell."""
    given = given or {}
    for role in given:
        if role not in ROLES:
            raise UnknownNameError("key", role, ROLES, "columns")
    check_columns(given, table)
    left = [each for each in table.columns if each not in {*ignored, *given.values()}]
    roles = {**find_roles(left), **given}
    if any(role in given for role in OBJECT_ROLES) or _has_many_rows(roles, table):
        roles = {**find_roles(left, many_rows=True), **given}
        if "class" in given:  # a class has one object, where no other column names objects
            roles.setdefault("id", given["class"])
        if not any(role in roles for role in OBJECT_ROLES):
            raise LogError(
                f"{table.name}: rows that follow one another have the same {roles['step']!r}, so"
                " each seems to be an object; then the columns with its name and its class must be"
                f" called id and class, or said: {column_advice(table, 'id', 'class')}"
            )
    check_roles(roles, table)
    return roles


def _has_many_rows(roles: Mapping[str, str], table: Table) -> bool:
    """Return whether most rows of a table have the same step as the row before."""
    if "step" not in roles or any(role in roles for role in OBJECT_ROLES):
        return False
    columns = [table.columns.index(roles[role]) for role in ("episode", "step") if role in roles]
    steps = [[text_of(row[k]) for k in columns] for row in table.rows[:_ROWS_READ]]
    repeated = sum(one == other for one, other in pairwise(steps))
    return repeated > 1 and 2 * repeated >= len(steps)


def check_columns(roles: Mapping[str, str], table: Table) -> None:
    """Raise an error unless a table has these columns."""
    for column in roles.values():
        if column not in table.columns:
            raise _unknown_column(column, table)


def _unknown_column(column: str, table: Table) -> LogError:
    known = [each for each in table.columns if each]
    return LogError(str(UnknownNameError("column", column, known, table.name)))


def column_advice(table: Table, *roles: str) -> str:
    """Return how to say which columns have roles, for a log in a file and in Python.

    A role may be followed by its column, as in ``class=object``.
    """
    given = (each.partition("=") for each in roles)
    columns_of = {role: column or f"{role.upper()}_COLUMN" for role, _, column in given}
    pairs = (f"--column {shlex.quote(f'{each}={name}')}" for each, name in columns_of.items())
    command = f"`treethink schema {table.name} {' '.join(pairs)}`, or " if table.is_file else ""
    columns = ", ".join(f'"{role}": "{column}"' for role, column in columns_of.items())
    return f"{command}tt.guess_schema(..., columns={{{columns}}}) in Python"


def check_roles(roles: Mapping[str, str], table: Table) -> None:
    """Raise an error unless a table has the columns that every log needs."""
    if "action" not in roles:
        raise LogError(
            f"{_unknown_column('action', table)} A log needs a column with the action taken in each"
            " row. Rename it, or say which it is: "
            f"{column_advice(table, 'action')}. Where nobody acts, write the same word, such as"
            " wait, into every row."
        )
    needed = (*OBJECT_ROLES, "step")
    if any(role in roles for role in OBJECT_ROLES):
        for role in needed:
            if role not in roles:
                known = ", ".join(repr(each) for each in table.columns if each)
                columns = f"Columns: {known}."
                if role == "class":
                    pair = column_advice(table, f"class={roles['id']}")
                    advice = f"If each object has a class of its own: {pair}. {columns}"
                else:
                    column = _ids_in(table, roles) if role == "id" else None
                    pair = column_advice(table, f"{role}={column}" if column else role)
                    advice = f"{columns} Rename one, or say which it is: {pair}"
                raise LogError(
                    f"{table.name}: rows of single objects need the columns id, class, step and"
                    f" action; there is none for {role!r}. {advice}"
                )


def _ids_in(table: Table, roles: Mapping[str, str]) -> str | None:
    """Return the first column whose values seem to be the ids of objects: one row has each."""
    moments = [table.columns.index(roles[each]) for each in ("episode", "step") if each in roles]
    for k, column in enumerate(table.columns):
        if not column or column in roles.values() or any(is_missing(row[k]) for row in table.rows):
            continue
        keys = {tuple(text_of(row[each]) for each in (*moments, k)) for row in table.rows}
        if len(keys) == len(table.rows):
            return column
    return None
