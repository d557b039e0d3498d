"""`treethink`, called by tests: in this process, in one of its own, or in a terminal."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forked import Forked
from treethink import cli

PROGRAM = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from treethink.cli import main; main()"
)
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OF_TERMINALS = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM")
_SECONDS = 120  # after which a command that has not ended is a failure


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Run a command in this process."""
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments])
    out, err = capsys.readouterr()
    return Ran(int(ended.value.code or 0), out, err)


def runner(capsys: pytest.CaptureFixture[str]) -> Callable[[str], Ran]:
    """Return a function that runs a command line, given as a person types it."""
    return lambda line: called(capsys, *shlex.split(line))


def check_refused(run: Callable[[str], Ran], line: str, message: str, code: int = 2) -> None:
    """Check that a command fails with one line that contains the message, and writes no file."""
    before = {*Path().iterdir()}
    result = run(line)
    assert (result.code, result.out) == (code, "") and result.err.count("\n") == 1
    assert message in result.err
    assert {*Path().iterdir()} - before <= {Path("__pycache__")}


def program(*arguments: str) -> list[str]:
    """Return the command that starts `treethink` in a fresh interpreter."""
    return [sys.executable, "-c", PROGRAM, *arguments]


def started(*arguments: str, **environment: str) -> Ran:
    """Run a command in a process of its own, without a terminal."""
    variables = {**os.environ, **environment}
    if _needs_interpreter(environment):
        process = subprocess.run(
            program(*arguments), env=variables, capture_output=True, text=True, timeout=_SECONDS,
            check=False,
        )  # fmt: skip
        return Ran(process.returncode, process.stdout, process.stderr)
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        out.touch()
        err.touch()
        code = Forked([*arguments], variables, (os.devnull, str(out), str(err))).wait(_SECONDS)
        return Ran(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


def _needs_interpreter(environment: dict[str, str]) -> bool:
    """Whether only a fresh interpreter takes notice of these variables, or can be started."""
    return os.name != "posix" or any(name.startswith("PYTHON") for name in environment)


class Terminal:
    """A pseudo-terminal in which `treethink` runs; `out` is all that was sent to it."""

    def __init__(self, *arguments: str, width: int = 80, height: int = 40, **environment: str):
        import fcntl
        import pty
        import struct
        import termios

        self._ours, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self._settings = termios.tcgetattr(self._theirs)
        variables = {name: each for name, each in os.environ.items() if name not in _OF_TERMINALS}
        variables |= {"TERM": "xterm-256color", **environment}
        self.out = b""
        self.process: Any
        if _needs_interpreter(environment):

            def take_the_terminal() -> None:  # so that Ctrl-C in it is a signal
                fcntl.ioctl(self._theirs, termios.TIOCSCTTY, 0)

            self.process = subprocess.Popen(
                program(*arguments), stdin=self._theirs, stdout=self._theirs, stderr=self._theirs,
                env=variables, start_new_session=True, preexec_fn=take_the_terminal,
            )  # fmt: skip
        else:
            name = os.ttyname(self._theirs)
            self.process = Forked([*arguments], variables, (name, name, name))

    def send(self, keys: str) -> None:
        """Type keys."""
        os.write(self._ours, keys.encode())

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Read until the condition holds; fail after two minutes."""
        last = time.monotonic() + _SECONDS
        while not condition():
            assert time.monotonic() < last, self.out.decode(errors="replace")[-3000:]
            self._read(0.05)

    def wait(self) -> int:
        """Read until the command has ended, and return its exit code."""
        self.wait_for(lambda: self.process.poll() is not None)
        while self._read(0):
            pass
        return int(self.process.returncode)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        self.out += os.read(self._ours, 65536)
        return True

    def is_restored(self) -> bool:
        """Whether the terminal has the settings that it had at the start."""
        import termios

        return termios.tcgetattr(self._theirs) == self._settings

    def close(self) -> None:
        """End the command if it still runs, and close the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)
        os.close(self._theirs)


def in_terminal(
    arguments: Sequence[str],
    width: int = 80,
    interrupt_at: str = "",
    type_at: tuple[str, str] = ("", ""),
    **environment: str,
) -> Ran:
    """Run a command in a terminal; `out` is all that was sent to it.

    Ctrl-C is typed once the command prints `interrupt_at`; `type_at` is a text that it prints, and
    what is typed then.
    """
    terminal = Terminal(*arguments, width=width, **environment)
    try:
        prompt, keys = (interrupt_at, "\x03") if interrupt_at else type_at
        if prompt:
            terminal.wait_for(lambda: prompt.encode() in terminal.out)
            terminal.send(keys)
        code = terminal.wait()
    finally:
        terminal.close()
    out = terminal.out.decode(errors="replace")
    return Ran(code, out.replace("\r\n", "\n"), "")


def readable(sent: str) -> str:
    """Return the text without the codes for colours and for the cursor."""
    return _ESCAPES.sub("", sent).replace("\r", "")
