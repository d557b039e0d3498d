"""Run a function of this folder in a process of its own, which may have limits or be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_START = (
    "import importlib, json, sys\n"
    "module, function, arguments = json.loads(sys.argv[1])\n"
    "print(json.dumps(getattr(importlib.import_module(module), function)(*arguments)))\n"
)


def start(function: Callable[..., Any], *arguments: Any) -> subprocess.Popen[str]:
    """Start the function, whose arguments and result are JSON data."""
    call = json.dumps([function.__module__, function.__name__, arguments])
    folders = [str(Path(__file__).parent), *sys.path]
    return subprocess.Popen(
        [sys.executable, "-c", _START, call],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: subprocess.Popen[str]) -> Any:
    """Return what the function returned; raise a `RuntimeError` if its process failed."""
    output, errors = process.communicate()
    if process.returncode == 0:
        return json.loads(output.splitlines()[-1])
    how = f"with status {process.returncode}"
    if process.returncode < 0:
        how = f"by {signal.Signals(-process.returncode).name}"
    raise RuntimeError(f"a child process ended {how}: {errors.strip()[-2000:]}")
