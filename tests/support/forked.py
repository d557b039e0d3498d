"""Run `treethink` in a process forked from one that has imported it: a start takes milliseconds.

    arguments, environment, files for its streams -> [ Forked ] -> exit code

The process is like a fresh one but for what an interpreter reads from its environment when it
starts (`PYTHON...`). This module imports little, since every forked process imports it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

_context = multiprocessing.get_context("forkserver") if os.name == "posix" else None
if _context is not None:
    _context.set_forkserver_preload(["treethink.cli"])


class Forked:
    """A running `treethink`, with the part of `subprocess.Popen` that tests use.

    `streams` are the paths of stdin, stdout and stderr. If stdin is a terminal, it becomes the
    controlling terminal: Ctrl-C typed there is a signal.
    """

    def __init__(
        self, arguments: list[str], environment: dict[str, str], streams: tuple[str, str, str]
    ):
        assert _context is not None
        self._process = _context.Process(
            target=_run, args=(arguments, environment, os.getcwd(), streams)
        )
        self._process.start()

    @property
    def returncode(self) -> int:
        code = self._process.exitcode
        assert code is not None
        return code

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        return self.returncode

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()


def _run(
    arguments: list[str], environment: dict[str, str], folder: str, streams: tuple[str, str, str]
) -> None:
    os.setsid()
    for number, path in enumerate(streams):
        opened = os.open(path, os.O_RDWR)
        os.dup2(opened, number)
        os.close(opened)
    if os.isatty(0):
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["treethink", *arguments]
    from treethink_command import main

    main()
