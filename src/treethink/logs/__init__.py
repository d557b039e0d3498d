"""Logs of what happened: files and data frames as transitions, without code.

    file or frame -> table -> schema (guessed, or given) -> [ Log ] -> transitions

A log has one row per object and step, or one wide row per step. Which column is for what is
recognised by the names of the columns; a schema file (TOML) holds the guess and can be edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from treethink.errors import LogError, WrongTypeError, shown
from treethink.logs.guess import guess
from treethink.logs.log import Log, read_log
from treethink.logs.schema import LogSchema
from treethink.logs.schema_file import read_schema, write_schema
from treethink.logs.table import (
    Table,
    file_name,
    read_csv_table,
    read_frame_table,
    read_jsonl_table,
)
from treethink.state import Schema

__all__ = [
    "Log",
    "LogSchema",
    "guess_schema",
    "read_csv",
    "read_frame",
    "read_jsonl",
    "read_schema",
    "write_schema",
]

#: What can be given as the schema of a log: None guesses one, a path is that of a schema file.
SchemaLike = Schema | LogSchema | str | PathLike[str] | None


def read_csv(path: str | PathLike[str], schema: SchemaLike = None) -> Log:
    """Return the log in a CSV file.

    Parameters
    ----------
    path
        The file: one row per object and step, with the columns `step`, `action`, `id` and `class`
        and one for each attribute; or one row per step, with the column `action` and one for each
        attribute of each object, such as `lift.floor`. Columns `episode`, `reward` and
        `terminated` are optional. The action of a row is taken in that row's state; the next row
        of the episode is the state after it.
    schema
        A `Schema`, a `LogSchema`, or the path of a schema file. None: it is guessed.
    """
    return _read(read_csv_table(path), schema)


def read_jsonl(path: str | PathLike[str], schema: SchemaLike = None) -> Log:
    """Return the log in a file with one JSON object per line.

    Each line is a row as in `read_csv`; objects in it may be nested:
    ``{"step": 1, "action": "up", "lift": {"floor": 3}}``. A line may also list its objects as
    `State.to_dict` does: ``{"step": 1, "action": "up", "objects": [{"id": 0, "class": ...}]}``.
    """
    return _read(read_jsonl_table(path), schema)


def read_frame(frame: object, schema: SchemaLike = None) -> Log:
    """Return the log in a data frame of pandas, Polars or pyarrow, or in a dict of columns.

    >>> log = read_frame({"action": ["up", "up", ""], "lift.floor": [1, 2, 3]})
    >>> log, log[0].after
    (<Log of the frame: 2 transitions in 1 episode>, State([Object(0, 'lift', floor=2)]))
    """
    return _read(read_frame_table(frame), schema)


def guess_schema(path: str | PathLike[str], columns: Mapping[str, str] | None = None) -> LogSchema:
    """Return the schema that a CSV file or a file of JSON lines seems to have.

    Its `notes` say why, and its `problems` what must be changed in the log.

    Parameters
    ----------
    path
        The file.
    columns
        The columns whose names do not say what they are: ``{"action": "button"}``. The keys are
        `episode`, `step`, `action`, `reward`, `terminated`, `id` and `class`.
    """
    return guess(read_table(path), columns)


def read_table(path: str | PathLike[str]) -> Table:
    """Return the rows of a file, whose name tells its format."""
    ending = file_name(path).rpartition(".")[2].casefold()
    if ending in ("jsonl", "ndjson", "json"):
        return read_jsonl_table(path)
    return read_csv_table(path)


def read_file(path: str | PathLike[str], schema: SchemaLike = None) -> Log:
    """Return the log in a file, whose name tells its format."""
    return _read(read_table(path), schema)


def _read(table: Table, schema: SchemaLike) -> Log:
    if schema is None:
        found = guess(table)
        if found.problems:
            raise LogError(found.problems[0])
        return read_log(table, found)
    return read_log(table, _log_schema(schema))


def _log_schema(schema: object) -> LogSchema:
    if isinstance(schema, LogSchema):
        return schema
    if isinstance(schema, Schema):
        return LogSchema(schema)
    if isinstance(schema, str | PathLike):
        return read_schema(schema)
    raise WrongTypeError(
        f"schema must be a Schema, a LogSchema or the path of a schema file, got {shown(schema)}"
    )
