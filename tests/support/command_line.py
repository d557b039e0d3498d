"""`treethink`, called by tests: in this process, in one of its own, or in a terminal."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from treethink import cli

PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from treethink.cli import main; main()"
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OF_TERMINALS = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM")


@dataclass(frozen=True)
class Ran:
    """What became of one command."""

    code: int
    out: str
    err: str


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """In this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments])
    out, err = capsys.readouterr()
    return Ran(int(ended.value.code or 0), out, err)


def program(*arguments: str) -> list[str]:
    """What starts it in a process of its own."""
    return [sys.executable, "-c", PROGRAM, *arguments]


def started(*arguments: str, **environment: str) -> Ran:
    """In a process of its own, without a terminal."""
    given = {**os.environ, **environment}
    ran = subprocess.run(
        program(*arguments), env=given, capture_output=True, text=True, timeout=120, check=False
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def in_terminal(
    arguments: Sequence[str],
    width: int = 80,
    interrupt_at: str = "",
    type_at: tuple[str, str] = ("", ""),
    **environment: str,
) -> Ran:
    """In a terminal; `out` is all that was sent to it.

    Ctrl-C once it says `interrupt_at`; `type_at` is what it says, and what is typed then.
    """
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    given = {name: each for name, each in os.environ.items() if name not in _OF_TERMINALS}
    given |= {"TERM": "xterm-256color", **environment}

    def take_the_terminal() -> None:  # so that Ctrl-C in it is a signal
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    process: Any = subprocess.Popen(
        program(*arguments), stdin=theirs, stdout=theirs, stderr=theirs, env=given,
        start_new_session=True, preexec_fn=take_the_terminal,
    )  # fmt: skip
    said, typed = (interrupt_at, "\x03") if interrupt_at else type_at
    sent, last = "", time.monotonic() + 60
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        assert time.monotonic() < last, sent[-2000:]
        if select.select([ours], [], [], 0.05)[0]:
            sent += os.read(ours, 65536).decode(errors="replace")
        if said and said in sent:
            os.write(ours, typed.encode())
            said = ""
    os.close(ours)
    os.close(theirs)
    return Ran(process.returncode, sent.replace("\r\n", "\n"), "")


def readable(sent: str) -> str:
    """Without the codes for colours and for the cursor."""
    return _ESCAPES.sub("", sent).replace("\r", "")
