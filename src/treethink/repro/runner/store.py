"""The store of finished work: records as JSON, each with a checksum, and the files beside them.

    record -> [ write_json, write_lines ] -> file -> [ read_json, read_lines ] -> record

A record is an object of JSON. What is written ends with the SHA-256 of all the rest, and what is
read is compared with it. Records of format 1 and of other programs have no checksum and are read
without this check. Every file is written whole or not at all, and stays in its folder: a name that
leads elsewhere is refused.

`records.py` keeps an experiment as a folder of such files, one for each run, so that several
processes can write at once; `experiments/runs.py` keeps short runs as lines of one file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from treethink import file
from treethink.errors import RecordsError, shown

Record = dict[str, Any]

#: Records of this format must have a checksum; those of format 1 may have one.
FORMAT = 2
_CHECKSUM = "sha256"
_ADVICE = "delete it and run the same command to compute it again"
_DAMAGED = f"it is damaged, since its checksum does not match; {_ADVICE}"


# ------------------------------------------------------------------------------- checksums


def sealed(record: Mapping[str, Any]) -> Record:
    """Return a record with its checksum.

    >>> sealed({"seed": 3})
    {'seed': 3, 'sha256': '1391dc1f10fa334311ba2858ebfd567adf169bf3efeadd832eeda2c65a3034a1'}
    """
    content = {name: each for name, each in record.items() if name != _CHECKSUM}
    return {**content, _CHECKSUM: digest(json.dumps(content, default=str).encode())}


def unsealed(record: object, where: str) -> Record:
    """Return a record without its checksum; raise a `RecordsError` if that does not match."""
    if not isinstance(record, dict):
        raise RecordsError(f"{where} holds something else than records")
    content = {name: each for name, each in record.items() if name != _CHECKSUM}
    has_checksum = _CHECKSUM in record or record.get("format") == FORMAT
    if has_checksum and record.get(_CHECKSUM) != sealed(content)[_CHECKSUM]:
        raise RecordsError(f"cannot read {where}: {_DAMAGED}")
    return content


def digest(content: bytes) -> str:
    """Return the SHA-256 of the bytes as text."""
    return hashlib.sha256(content).hexdigest()


# ------------------------------------------------------------------------------------ files


def inside(folder: Path, *names: str) -> Path:
    """Return the path of a file in a folder; raise a `RecordsError` if it leads elsewhere.

    The folder itself may be a symbolic link, but nothing in it.
    """
    path = folder
    for name in names:
        if not file.is_plain_name(name):
            raise RecordsError(f"{path} has no records named {shown(name)}: it must be a file name")
        path = path / name
        if path.is_symlink():
            raise RecordsError(
                f"{path} is a symbolic link, and records must be in their own folder; {_ADVICE}"
            )
    return path


def read_bytes(path: Path, expected: str | None = None) -> bytes:
    """Return the content of a file; raise a `RecordsError` if its SHA-256 is not the expected."""
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise RecordsError(f"cannot read {path}: {reason}; {_ADVICE}") from None
    if expected is not None and digest(content) != expected:
        raise RecordsError(f"cannot read {path}: {_DAMAGED}")
    return content


def read_json(path: Path) -> Record | None:
    """Return the record in a file; None if there is no such file."""
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RecordsError(f"cannot read {path}: {error.strerror or error}") from None
    return unsealed(_parsed(text, str(path)), str(path))


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as indented JSON, in one step."""
    text = json.dumps(sealed(record), indent=1, default=str, ensure_ascii=False)
    file.write(path, f"{text}\n".encode())


def read_lines(path: Path) -> list[Record]:
    """Return the records in the lines of a file; none if there is no such file."""
    if not path.exists():
        return []
    lines = read_bytes(path).splitlines()
    records = []
    for number, line in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        record = unsealed(_parsed(line, where), where)
        record.pop("format", None)
        records.append(record)
    return records


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records as the lines of a file, in one step."""
    contents = (sealed({**each, "format": FORMAT}) for each in records)
    lines = [json.dumps(each, separators=(",", ":")) for each in contents]
    file.write(path, "".join(f"{line}\n" for line in lines).encode())


def _parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RecordsError(f"cannot read {where}: {error}; {_ADVICE}") from None
