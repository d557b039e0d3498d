"""A lock that is free in the child of a fork.

The child has only the thread that forked. An ordinary lock that another thread held stays locked
there for ever.
"""

import os
from threading import Lock
from weakref import WeakSet

_locks: "WeakSet[ForkLock]" = WeakSet()


class ForkLock:
    """A lock for ``with``, which is free again in the child of a fork.

    >>> with ForkLock():
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _renew(self) -> None:
        self._lock = Lock()


def _renew_all() -> None:
    for lock in _locks:
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
