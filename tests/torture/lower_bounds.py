"""Try the lowest version of every dependency that pyproject.toml allows (`make lower-bounds`).

    pyproject.toml -> lowest versions -> an environment with exactly these -> a few tests

A lower bound is a claim that nobody else tests: `pip install` takes the newest versions. Only
Python 3.11 can test it, since newer ones have no wheels of such old versions. The extra `neural` is
left out, because the lowest PyTorch would bring gigabytes of CUDA packages.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

PYTHON = (3, 11)
ROOT = Path(__file__).parents[2]
EXTRAS = ("gym", "experiments", "notebook")
TOOLS = ("pytest>=8", "hypothesis>=6.100")
# Every dependency is used: Gymnasium in test_envs, Parquet and pictures by the runs and reports.
TESTS = (
    "tests/core",
    "tests/cli/test_cli.py",
    "tests/cli/test_cli_help.py",
    "tests/cli/test_cli_json.py",
    "tests/explain/test_notebook.py",
    "tests/planning/test_gif.py",
    "tests/repro/test_runner_records.py",
    "tests/repro/test_report.py",
)
NEEDS_PYTORCH = "tests/cli/test_cli.py::test_bench_prints_its_figures"


def lowest_versions(project: dict[str, object]) -> list[str]:
    """Return the lowest allowed version of every dependency, such as `numpy==1.26`.

    >>> lowest_versions({"dependencies": ["numpy>=1.26"], "optional-dependencies": {}})
    ['numpy==1.26']
    """
    dependencies, extras = project["dependencies"], project["optional-dependencies"]
    assert isinstance(dependencies, list) and isinstance(extras, dict)
    requirements = [*dependencies, *(each for extra in EXTRAS for each in extras.get(extra, ()))]
    for each in requirements:
        if not re.fullmatch(r"[\w-]+>=[\d.]+", each):
            sys.exit(f"pyproject.toml: {each!r} must be NAME>=VERSION, so that it can be tested")
    return [each.replace(">=", "==") for each in requirements]


def main() -> int:
    """Make the environment, install the wheel and run the tests."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=Path, help="A wheel of TreeThink for this Python.")
    parser.add_argument("--folder", type=Path, help="Folder of the environment. Default: temporary")
    parser.add_argument("tests", nargs="*", default=TESTS, help="Tests to run.")
    options = parser.parse_args()
    if sys.version_info[:2] != PYTHON:
        print("The lowest versions are tested with Python 3.11 only: skipped.")
        return 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.TemporaryDirectory(prefix="lower-bounds-") as temporary:
        folder = options.folder or Path(temporary)
        python = install(options.wheel, lowest_versions(project), folder)
        # Old versions warn about newer versions of what they themselves depend on.
        pytest = [str(python), "-m", "pytest", "-q", "-o", "filterwarnings=ignore"]
        pytest += ["-m", "not slow", "--deselect", NEEDS_PYTORCH]
        settings = {**os.environ, "HYPOTHESIS_PROFILE": "quick"}
        return subprocess.run(
            [*pytest, *options.tests], cwd=ROOT, env=settings, check=False
        ).returncode


def install(wheel: Path, lowest: list[str], folder: Path) -> Path:
    """Make an environment with the wheel and these versions; return its Python."""
    print(f"Installing {', '.join(lowest)} ...", flush=True)
    venv.create(folder, clear=True, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lowest) + "\n", encoding="utf-8")
    pip = [
        str(python),
        "-m",
        "pip",
        "-qq",
        "--disable-pip-version-check",
        "install",
        "--no-compile",
    ]
    wanted = [f"{wheel.resolve()}[{','.join(EXTRAS)}]", *TOOLS]
    subprocess.run([*pip, "--constraint", str(constraints), *wanted], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main())
