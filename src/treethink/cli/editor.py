"""Somebody's own editor, for a short text."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from treethink.errors import ResourceError, SettingError

_USUAL = "notepad" if os.name == "nt" else "vi"


def _usual() -> str:
    if not sys.stdin.isatty():
        raise SettingError("there is no terminal to edit in: set EDITOR, or write with --by")
    return _USUAL


def edited(text: str) -> str | None:
    """The text as it comes back; None if it is as it was."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _usual()
    try:
        command = shlex.split(named)
    except ValueError as error:
        raise SettingError(f"the editor {named!r} cannot be read: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise SettingError(
            f"there is no editor {' '.join(command)!r}: set EDITOR to one, or write with --by"
        )
    with tempfile.TemporaryDirectory(prefix="treethink-") as folder:
        file = Path(folder) / "rule.txt"
        file.write_text(text, encoding="utf-8")
        ended = subprocess.run([*command, str(file)], check=False)
        if ended.returncode:
            raise ResourceError(f"the editor {command[0]!r} ended with {ended.returncode}")
        written = file.read_text(encoding="utf-8", errors="replace")
    return written if written != text else None
