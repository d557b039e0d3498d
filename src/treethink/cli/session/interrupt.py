"""Ctrl-C that stops learning, but never the saving and reporting that follow.

    Ctrl-C -> [ InterruptGuard ] -> KeyboardInterrupt inside `run`, at most once

People press Ctrl-C twice, and a shell sends it to every process of a pipeline. The model is saved
and the report is printed nevertheless.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class InterruptGuard:
    """Inside its `with` block, Ctrl-C sets `interrupted` and stops only the work given to `run`.

    It leaves Ctrl-C alone where that is ignored, or handled by something other than Python itself.

    >>> with InterruptGuard() as guard:
    ...     signal.raise_signal(signal.SIGINT)  # for example while a file is written
    >>> guard.interrupted
    True
    """

    def __init__(self) -> None:
        self.interrupted = False
        self._stoppable = False
        self._installed = False

    def __enter__(self) -> InterruptGuard:
        default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if default and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._handle)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _handle(self, *_: Any) -> None:
        stop = self._stoppable and not self.interrupted
        self.interrupted = True
        if stop:
            raise KeyboardInterrupt

    def run(self, work: Callable[[], Result]) -> Result | None:
        """Return the result of the work, or None if Ctrl-C stopped it or came before it."""
        if self.interrupted:
            return None
        result = None
        try:
            self._stoppable = True
            result = work()
            self._stoppable = False  # an interrupt before this line is caught below
        except KeyboardInterrupt:
            self.interrupted = True
            result = None
        finally:
            self._stoppable = False
        return result
