"""Draw rules to files: one to a file, or many into a folder (`treethink rules --draw`).

An SVG is text and needs no package. PNG and PDF need matplotlib, which is imported only for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from treethink import file
from treethink.errors import SettingError, missing_package
from treethink.export import svg
from treethink.file import check_picture_path, file_safe, format_of, number_duplicates
from treethink.rules import Rule, RuleKey

FORMATS = ("svg", "png", "pdf")
MAX_NAME = 200  # bytes in a file's name, without its ending


def draw(rule: Rule, path: str | os.PathLike[str]) -> None:
    """Draw a rule to a file. The path is checked before anything is drawn."""
    kind = format_of(path, FORMATS)
    file.write(check_picture_path(path), picture(rule, kind))


def picture(rule: Rule, kind: str) -> bytes:
    """Return the content of a file of that kind."""
    check_drawable(kind)
    if kind == "svg":
        return f"{svg.text_of(rule)}\n".encode()
    from treethink.export import png

    return png.picture(rule, kind)


def check_drawable(kind: str) -> None:
    """Raise an error that says how to get matplotlib, if that format needs it and it is missing."""
    if kind == "svg":
        return
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        need = f"a .{kind} of a rule, unlike an .svg, needs matplotlib"
        raise missing_package(need, "experiments") from error


def check_target(path: Path) -> None:
    """Raise an error now if `draw_all` could not draw to the path later."""
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
    """Whether the path names one picture; otherwise it names a folder of pictures."""
    return bool(path.suffix) and not path.is_dir()


def draw_all(rules: Mapping[RuleKey, Rule], path: Path, kind: str = "svg") -> list[Path]:
    """Draw a single rule to the file, or all rules into the folder, which is created if needed.

    `kind` is the kind of the files in the folder.
    """
    if is_file(path):
        if len(rules) != 1:
            raise SettingError(
                f"cannot draw {len(rules)} rules to the file {path}: name a folder, or one rule"
            )
        paths = [path]
    else:
        path.mkdir(exist_ok=True)
        paths = [path / f"{name}.{kind}" for name in file_names(rules)]
    for rule, each in zip(rules.values(), paths, strict=True):
        draw(rule, each)
    return paths


def file_names(keys: Iterable[RuleKey]) -> list[str]:
    """Return a safe name for each rule, different on every file system.

    >>> file_names([("game", "score", "left"), ("a/b", "x", "?"), ("A:B", "x", "!")])
    ['game.score.left', 'a-b.x._', 'A-B.x._-2']
    """
    return number_duplicates(
        ".".join(file_safe(each, most=MAX_NAME // 3) or "_" for each in key) for key in keys
    )
