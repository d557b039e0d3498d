"""Pictures of many rules, in files of their own: what `treethink rules --draw` does."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from treethink.errors import SettingError
from treethink.export.png import FORMATS, check_drawable
from treethink.file import file_safe, format_of, number_duplicates
from treethink.rules import Rule, RuleKey

LONGEST = 200  # bytes in a file's name, without its ending


def check_target(path: Path) -> None:
    """Refuse now what could not be drawn to after all the work."""
    if is_file(path):
        check_drawable(format_of(path, FORMATS))
    elif path.exists() and not path.is_dir():
        raise SettingError(f"cannot draw to {path}: it is a file, but no .{', .'.join(FORMATS)}")
    folder = path if path.is_dir() else path.parent
    if not folder.is_dir():
        raise SettingError(f"cannot draw to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot draw to {path}: the folder {folder} is not writable")


def is_file(path: Path) -> bool:
    """Whether the path stands for a picture; else it does for a folder of pictures."""
    return bool(path.suffix) and not path.is_dir()


def draw_all(rules: Mapping[RuleKey, Rule], path: Path) -> list[Path]:
    """Draw the only rule to the file, or all of them into the folder, which is made if need be."""
    if is_file(path):
        if len(rules) != 1:
            raise SettingError(
                f"cannot draw {len(rules)} rules to the file {path}: name a folder, or one rule"
            )
        paths = [path]
    else:
        path.mkdir(exist_ok=True)
        paths = [path / f"{name}.svg" for name in file_names(rules)]
    for rule, each in zip(rules.values(), paths, strict=True):
        rule.draw(each)
    return paths


def file_names(keys: Iterable[RuleKey]) -> list[str]:
    """A name for each rule: safe, and no two that some file system would take for one.

    >>> file_names([("game", "score", "left"), ("a/b", "x", "?"), ("A:B", "x", "!")])
    ['game.score.left', 'a-b.x._', 'A-B.x._-2']
    """
    return number_duplicates(
        ".".join(file_safe(each, most=LONGEST // 3) or "_" for each in key) for key in keys
    )
