"""Ctrl-C that loses nothing.

    Ctrl-C -> [ ControlC ] -> stops what may be stopped, once; all else goes on to its end

People press it twice, and shells send it to everybody. What was learned is saved and told in spite
of that.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class ControlC:
    """While it is entered, Ctrl-C is remembered in `pressed`, and stops only what `stops` runs.

    It is left to others where it is ignored, or handled by another than Python itself.

    >>> with ControlC() as control_c:
    ...     signal.raise_signal(signal.SIGINT)  # while a file is written, say
    >>> control_c.pressed
    True
    """

    def __init__(self) -> None:
        self.pressed = False
        self._may_stop = False
        self._ours = False

    def __enter__(self) -> ControlC:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._press)
            self._ours = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _press(self, *_: Any) -> None:
        stop = self._may_stop and not self.pressed
        self.pressed = True
        if stop:
            raise KeyboardInterrupt

    def stops(self, work: Callable[[], Result]) -> Result | None:
        """What the work returns; None if Ctrl-C stopped it, or came before it."""
        if self.pressed:
            return None
        result = None
        try:
            self._may_stop = True
            result = work()
            self._may_stop = False  # whatever comes before this line, is caught below
        except KeyboardInterrupt:
            self.pressed = True
            result = None
        finally:
            self._may_stop = False
        return result
