"""Describe where an experiment ran: versions, commit, machine."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import treethink
from treethink.stream.parallel import cores


def versions() -> dict[str, str | None]:
    """Return the versions of Python and of the packages that results and times may depend on."""
    result: dict[str, str | None] = {
        "treethink": treethink.__version__,
        "python": platform.python_version(),
    }
    for name in ("numpy", "pyarrow", "torch"):
        try:
            result[name] = version(name)
        except PackageNotFoundError:
            result[name] = None
    return result


def machine(networks: bool = False) -> dict[str, str | int]:
    """Return processor, usable cores, system and, with `networks`, the GPU if there is one."""
    system = f"{platform.system()} {platform.machine()}"
    return {"cpu": _cpu(), "cores": cores(), "system": system, **(_gpu() if networks else {})}


def _gpu() -> dict[str, str]:
    """Return the GPU that PyTorch sees; nothing if there is none, or PyTorch is not installed."""
    if find_spec("torch") is None:
        return {}
    import torch

    return {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}


@cache
def commit() -> str | None:
    """Return the commit of this package's sources, with `-dirty` if they were changed since.

    None: it was installed without its repository.
    """
    package = Path(treethink.__file__).resolve().parent
    top = _git(package, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() / "src" / "treethink" != package:
        return None  # an environment inside another project's repository
    return _git(package, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        process = subprocess.run(
            ["git", "--no-optional-locks", "-C", os.fspath(folder), *arguments],
            capture_output=True,
            timeout=10,
            text=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip() or None if process.returncode == 0 else None


def _cpu() -> str:
    """Return the processor's name, as far as the system knows it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
