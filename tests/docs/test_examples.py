"""The programs in examples/ run, and print what they are known to print."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from golden import check_golden

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_prints_what_is_known(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes a module
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    (module,) = tmp_path.glob("*_rules.py")
    assert callable(runpy.run_path(str(module))["predict"])
    check_golden(f"example_{name}.txt", capsys.readouterr().out)
