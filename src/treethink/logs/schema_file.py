"""Schema files: the schema of a log as TOML, written to be read and edited by people.

    LogSchema -> [ write_schema ] -> schema.toml -> [ read_schema ] -> an equal LogSchema

Keys: `actions`, `ignore`, and the tables `columns`, `objects`, `classes` and `attributes`. Only
`actions`, `classes` and `attributes` are needed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from treethink.attributes import Attribute, read_facts
from treethink.errors import (
    LogError,
    SettingError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
)
from treethink.logs.names import ROLES
from treethink.logs.schema import LogSchema
from treethink.logs.table import file_name
from treethink.presets import Derived, attribute_from_dict, attribute_to_dict
from treethink.state import Schema
from treethink.text import printable

_KEYS = ("actions", "ignore", "columns", "objects", "classes", "attributes")
_NEEDED = ("actions", "classes", "attributes")
_ATTRIBUTE_KEYS = (
    "kind", "length", "names", "like", "facts", "outcomes", "derived", "columns", "scale",
)  # fmt: skip


# --------------------------------------------------------------------------- reading


def read_schema(path: str | PathLike[str]) -> LogSchema:
    """Return the schema in a schema file, such as `write_schema` writes."""
    file_name(path)
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise LogError(f"{path}: this is not UTF-8 text: save the file as UTF-8") from None
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLError
        raise LogError(f"{path}: this is not valid TOML: {error}") from None
    try:
        return _read(data)
    except (TreeThinkError, OverflowError) as error:
        raise LogError(f"{path}: {error}") from None


def _read(data: Mapping[str, Any]) -> LogSchema:
    _check_keys(data, _KEYS, "the file")
    for key in _NEEDED:
        if key not in data:
            raise LogError(f"the file lacks the key {key!r}")
    entries = {
        name: _table(each, f"attributes.{name}") for name, each in _named(data, "attributes")
    }
    classes = {name: _texts(each, f"classes.{name}") for name, each in _named(data, "classes")}
    attributes = {name: _attribute(name, each) for name, each in entries.items()}
    schema = Schema(classes, attributes, _texts(data["actions"], "actions"))
    for class_name, own in classes.items():
        for name in own:
            if name not in attributes:
                raise UnknownNameError("attribute", name, attributes, f"classes.{class_name}")
    roles = _names_of(data, "columns")
    objects = _names_of(data, "objects")
    for role in roles or ():
        if role not in ROLES:
            raise UnknownNameError("key", role, ROLES, "columns")
    for name, class_name in (objects or {}).items():
        if class_name not in classes:
            raise UnknownNameError("class", class_name, classes, f"objects.{name}")
    return LogSchema(
        schema=schema,
        roles=roles,
        objects=objects,
        columns={
            name: _columns(each["columns"], name, attributes[name])
            for name, each in entries.items()
            if "columns" in each
        },
        scales={
            name: _scale(each["scale"], name) for name, each in entries.items() if "scale" in each
        },
        ignored=tuple(_texts(data.get("ignore", []), "ignore")),
    )


def _attribute(name: str, entry: Mapping[str, Any]) -> Attribute:
    _check_keys(entry, _ATTRIBUTE_KEYS, f"attributes.{name}")
    return attribute_from_dict(
        name, {key: each for key, each in entry.items() if key not in ("columns", "scale")}
    )


def _columns(columns: object, name: str, attribute: Attribute) -> tuple[str, ...]:
    read = tuple(_texts(columns, f"attributes.{name}.columns"))
    if len(read) not in (1, attribute.length):
        need = "1" if attribute.length == 1 else f"1 or {attribute.length}"
        raise LogError(f"attributes.{name}.columns must be {need} names, got {len(read)}")
    return read


def _scale(scale: object, name: str) -> int:
    if isinstance(scale, bool) or not isinstance(scale, int) or not 1 <= scale <= 10**18:
        raise LogError(
            f"attributes.{name}.scale must be a whole number from 1, such as 100,"
            f" got {shown(scale)}"
        )
    return scale


def _check_keys(data: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise UnknownNameError("key", key, known, where)


def _table(data: object, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise LogError(f"{where} must be a table, got {shown(data)}")
    return data


def _named(data: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    yield from _table(data[key], key).items()


def _names_of(data: Mapping[str, Any], key: str) -> dict[str, str] | None:
    if key not in data:
        return None
    for name, each in _named(data, key):
        if not isinstance(each, str):
            raise LogError(f"{key}.{name} must be text in quotes, got {shown(each)}")
    return dict(data[key])


def _texts(data: object, where: str) -> list[str]:
    if not isinstance(data, list) or not all(isinstance(each, str) for each in data):
        raise LogError(
            f'{where} must be a list of texts, such as ["up", "down"], got {shown(data)}'
        )
    return data


# --------------------------------------------------------------------------- writing


def write_schema(
    schema: LogSchema | Schema, path: str | PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a schema file with comments.

    Parameters
    ----------
    schema
        A guess (`guess_schema`, `Log.log_schema`), or a plain `Schema`.
    path
        The file, such as schema.toml.
    overwrite
        Replace a file that exists. Otherwise that is a `SettingError`.
    """
    text = schema_text(schema)
    file_name(path)
    try:
        with open(path, "w" if overwrite else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise SettingError(
            f"{path} exists, and may have been edited: choose another file, or delete it first"
        ) from None


def schema_text(schema: LogSchema | Schema) -> str:
    """Return the content of a schema file."""
    if isinstance(schema, Schema):
        schema = LogSchema(schema)
    if not isinstance(schema, LogSchema):
        raise WrongTypeError(f"schema must be a Schema or a LogSchema, got {shown(schema)}")
    return "\n".join(_lines(schema)) + "\n"


def _lines(log_schema: LogSchema) -> Iterator[str]:
    schema = log_schema.schema
    yield "# The schema of a log: what its columns mean. Edit it as you like."
    if log_schema.notes or log_schema.problems:
        yield "#"
        yield "# Guessed from the log:"
        for note in (*log_schema.notes, *log_schema.problems):
            yield f"#   {printable(note)}"
    yield ""
    yield f"actions = {_list(schema.actions)}"
    yield f"ignore = {_list(log_schema.ignored)}  # columns that are not read"
    if log_schema.roles is not None:
        yield from ("", "# Columns that are no attributes.", "[columns]")
        yield from _pairs(log_schema.roles)
    if log_schema.objects is not None:
        yield from ("", "# The class of each object, by the beginning of its columns.", "[objects]")
        yield from _pairs(log_schema.objects)
    yield from ("", "# The attributes of each class.", "[classes]")
    for name, own in schema.classes.items():
        yield f"{_key(name)} = {_list(own)}"
    yield ""
    yield "# kind: number, position, category, flag or score. Rules compare two attributes only if"
    yield '# one is like the other: like = "NAME". derived = true: used in rules, never predicted.'
    if not schema.attributes:
        yield "[attributes]"
    for name, attribute in schema.attributes.items():
        yield from _attribute_lines(log_schema, name, attribute)


def _attribute_lines(log_schema: LogSchema, name: str, attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, Derived) and attribute.function is not None:
        raise LogError(
            f"attribute {name!r} is derived by a function, which is code and cannot be written to"
            " a schema file: use the Schema itself"
        )
    yield ""
    yield f"[attributes.{_key(name)}]"
    data = attribute_to_dict(attribute)
    for key in _ATTRIBUTE_KEYS:
        if key in data and not _follows_from_kind(attribute, key):
            yield f"{key} = {_value(data[key])}"
    if name in log_schema.suggestions and attribute.like is None:
        other = log_schema.suggestions[name]
        yield f"# like = {_text(other)}  # values in common: remove the # if both mean the same"
    if (columns := log_schema.columns.get(name)) is not None:
        yield f"columns = {_list(columns)}"
    if (scale := log_schema.scales.get(name)) is not None:
        yield f"scale = {scale}  # values are multiplied by it when they are read"


def _follows_from_kind(attribute: Attribute, key: str) -> bool:
    """Whether the attribute's kind says what stands at that key."""
    if attribute.kind is None or key not in ("length", "facts", "outcomes"):
        return False
    if attribute.kind == "score" or key == "length":
        return attribute.kind != "position"
    if key == "outcomes":
        return attribute.outcomes == "auto"
    return attribute.facts == read_facts(None, attribute.length, attribute.is_symbolic)


def _pairs(names: Mapping[str, str]) -> Iterator[str]:
    for key, name in names.items():
        yield f"{_key(key)} = {_text(name)}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return _list(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _text(str(value))


def _list(names: Sequence[str]) -> str:
    return "[" + ", ".join(map(_text, names)) + "]"


def _text(text: str) -> str:
    """Return a TOML string: as in JSON, where all control characters are escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
