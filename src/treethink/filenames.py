"""Names of files: those made of names that people gave, and those that people give for pictures.

names -> [ naming ] -> names that every file system takes
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from treethink.errors import SettingError, UnknownNameError, WrongTypeError, shown

LONGEST = 60  # bytes; several such parts and an ending make one name


def file_safe(name: str, most: int = LONGEST) -> str:
    """Words of a name, at most so many bytes, and no half character.

    >>> file_safe("scale(3,2)"), file_safe("a / b"), file_safe("αβγ", most=5)
    ('scale-3-2', 'a-b', 'αβ')
    """
    words = "-".join(re.findall(r"[\w-]+", name))
    return words.encode()[:most].decode(errors="ignore")


def apart(names: Iterable[str]) -> list[str]:
    """The names, numbered where some file system would take two of them for one.

    >>> apart(["a", "b", "A", "a"])
    ['a', 'b', 'A-2', 'a-3']
    """
    found: list[str] = []
    taken: set[str] = set()
    for each in names:
        name, number = each, 1
        while name.casefold() in taken:
            number += 1
            name = f"{each}-{number}"
        taken.add(name.casefold())
        found.append(name)
    return found


def is_plain(name: object) -> bool:
    """Whether it names one file in its folder, and no other place.

    >>> [is_plain(each) for each in ("maze.seed3.1a2b3c4d", "..", "a/b", "a:b", "", 3)]
    [True, False, False, False, False, False]
    """
    return isinstance(name, str) and bool(re.fullmatch(r"[\w.-]+", name)) and bool(name.strip("."))


def format_of(path: str | os.PathLike[str], formats: Sequence[str]) -> str:
    """The format that a path's ending asks for, one of those given."""
    try:
        name = Path(path).name
    except TypeError:
        raise WrongTypeError(f"a path must be a str or a Path, got {shown(path)}") from None
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if ending not in formats:
        raise UnknownNameError("format", ending, formats, f"the path {os.fspath(path)!r}")
    return ending


def check_free(path: str | os.PathLike[str]) -> Path:
    """The path of a picture, if it can be written there."""
    target = Path(path)
    if target.is_dir():
        raise SettingError(f"cannot draw to {target}: it is a folder")
    if not target.parent.is_dir():
        raise SettingError(f"cannot draw to {target}: there is no folder {target.parent}")
    return target
