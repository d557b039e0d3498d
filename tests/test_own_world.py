"""docs/own-world.md in a terminal: its file and its commands, one after the other."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from treethink import cli

PAGE = Path(__file__).parent.parent / "docs" / "own-world.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file that the page says to write."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (code,) = (each for each in blocks if "class Hall(World)" in each)
    (tmp_path / "hall.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "hall", raising=False)
    return tmp_path


def run(arguments: list[str]) -> object:
    """The exit code of a command."""
    try:
        cli.main(arguments)
    except SystemExit as ended:
        return ended.code or 0
    return 0


def test_the_commands_of_the_page_work_in_its_order(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = re.findall(r"`treethink ((?:learn|plan) [^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert [each.split()[0] for each in told] == ["learn", "plan"]
    for each in told:
        assert run(shlex.split(each)) == 0
    assert (folder / "Hall.tt").exists()
    assert "score" in capsys.readouterr().out
