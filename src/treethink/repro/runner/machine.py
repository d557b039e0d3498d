"""Where an experiment ran: versions, commit, machine."""

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
    """Of what results and times may depend on."""
    found: dict[str, str | None] = {
        "treethink": treethink.__version__,
        "python": platform.python_version(),
    }
    for name in ("numpy", "pyarrow", "torch"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def machine(networks: bool = False) -> dict[str, str | int]:
    """Processor, cores that may be used, system, and the GPU that networks compute on, if any."""
    system = f"{platform.system()} {platform.machine()}"
    return {"cpu": _cpu(), "cores": cores(), "system": system, **(_gpu() if networks else {})}


def _gpu() -> dict[str, str]:
    """What PyTorch would compute on; nothing if it is not installed, or sees none."""
    if find_spec("torch") is None:
        return {}
    import torch

    return {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}


@cache
def commit() -> str | None:
    """The commit of this package's own sources, with `-dirty` where they were changed since.

    None: it was installed from elsewhere.
    """
    package = Path(treethink.__file__).resolve().parent
    top = _git(package, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() / "src" / "treethink" != package:
        return None  # an environment that lies in somebody else's repository
    return _git(package, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        told = subprocess.run(
            ["git", "--no-optional-locks", "-C", os.fspath(folder), *arguments],
            capture_output=True,
            timeout=10,
            text=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip() or None if told.returncode == 0 else None


def _cpu() -> str:
    """The processor's name, as far as the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
