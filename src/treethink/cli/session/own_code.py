"""Errors that the user's own code raised, such as a world's `dynamics`: where, and what.

an error -> [ own_frames ] -> the lines of the user's code that led to it
"""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

import treethink
from treethink.text import printable

_MOST_FRAMES = 5  # the innermost ones
_INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Return the frames that are neither of this package, nor installed, nor of Python itself."""
    package = Path(treethink.__file__).parent
    others = [package, *(Path(sysconfig.get_path(each)) for each in _INSTALLED)]
    frames = traceback.extract_tb(error.__traceback__)
    return [each for each in frames if _is_own(Path(each.filename), others)]


def _is_own(file: Path, others: list[Path]) -> bool:
    # `<string>` and the like are no files
    return file.is_file() and not any(file.is_relative_to(each) for each in others)


def own_error_text(error: Exception) -> str | None:
    """Return a short traceback of an error in the user's own code; None for any other error."""
    frames = own_frames(error)
    if isinstance(error, SyntaxError) and error.filename and _names_a_file(error.filename):
        place = [f'  File "{_short(error.filename)}", line {error.lineno}']
        line = [f"    {error.text.strip()}"] if error.text else []
        return _text(f"{type(error).__name__} in your own code: {error.msg}", [*place, *line])
    if not frames:
        return None
    lines = []
    for each in frames[-_MOST_FRAMES:]:
        lines.append(f'  File "{_short(each.filename)}", line {each.lineno}, in {each.name}')
        if each.line:
            lines.append(f"    {each.line}")
    return _text(f"{type(error).__name__} in your own code: {_message(error)}", lines)


def _names_a_file(filename: str) -> bool:
    return Path(filename).is_file()


def _message(error: Exception) -> str:
    text = str(error)
    if isinstance(error, KeyError) and error.args:  # its text is a repr
        text = f"there is no key {text}"
    return text or "no message"


def _short(filename: str) -> str:
    """Return the path relative to the working folder, if it is below that."""
    path = Path(filename)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else filename


def _text(title: str, lines: list[str]) -> str:
    return "\n".join(printable(each) for each in (title, *lines))
