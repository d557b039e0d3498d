"""What tests do to a process at work: forks while threads run, and Ctrl-C at any moment."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: Seconds after which a thread or a process is taken to be stuck.
STUCK = 20
#: Whether the tests run with the address sanitizer (`make sanitize`), which takes more memory.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


@contextmanager
def meanwhile(*calls: Callable[[], object]) -> Iterator[None]:
    """Repeat calls, each in its own thread. An error of one of them is raised at the end."""
    done, failures = threading.Event(), []

    def repeat(call: Callable[[], object]) -> None:
        try:
            while not done.is_set():
                call()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join(STUCK)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "a thread is stuck"


def in_child(call: Callable[[], object]) -> str:
    """Return what the call gives in the child of a fork, or its error; "stuck" if it hangs."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks while there are threads
        child = os.fork()
    if child == 0:
        signal.alarm(STUCK)
        with suppress(BaseException):
            try:
                answer = str(call())
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(write_end, answer.encode())
        os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer or "stuck"


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Interrupt like Ctrl-C, but with a signal that pytest does not use."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    usual = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
