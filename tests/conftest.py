"""Settings that all tests share: threads, signals, and how many examples Hypothesis tries.

`HYPOTHESIS_PROFILE=quick` (set by `make quick`) tries few examples. A test that needs a certain
number of examples, as the twins do, says so with `@settings(max_examples=...)` and keeps it.
"""

import gc
import os
import signal

import pytest
from hypothesis import settings

# Tests run in parallel, one process per core, so PyTorch must not start a thread per core in each.
# The variable is read when PyTorch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Some shells ignore Ctrl-C in background jobs; the tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# The reference learners make millions of small objects, and hardly any cycles: fewer collections
# save a tenth of their time.
gc.set_threshold(50_000, 20, 100)

# No deadline: the time of a single example says nothing on a busy machine.
settings.register_profile("default", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow tests first, so that no process is left with a long one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
