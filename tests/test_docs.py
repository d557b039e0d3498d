"""The documentation is true: its code runs, its links lead somewhere, its commands exist.

In a Markdown file, a block of `python` is run, all blocks of one file in one namespace and in order.
A block of `output` is what the block of `python` before it prints, to the letter.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from typer.main import get_command

from treethink import cli

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block and the number of its first line."""

    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(each["kind"], each["text"], text[: each.start("text")].count("\n") + 1)
        for each in BLOCK.finditer(text)
    ]


def prose(page: Path) -> str:
    """The page without its blocks and its code in the line."""
    return re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))


# ------------------------------------------------------------------------ code


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_code_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples save files
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.kind == "python":
            printed = run(block, page, names)
        elif block.kind == "output":
            assert printed == block.text, f"{named(page)}, line {block.line}"


def run(block: Block, page: Path, names: dict[str, object]) -> str:
    """What the block prints. Errors show the page's own lines."""
    source = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, str(page), "exec"), names)
    return out.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_output_stands_only_after_code(page: Path) -> None:
    kinds = [block.kind for block in blocks(page)]
    assert "output" not in kinds[:1]
    assert all(first == "python" for first, second in pairwise(kinds) if second == "output")


def test_the_readme_has_code_and_output() -> None:
    kinds = [block.kind for block in blocks(ROOT / "README.md")]
    assert kinds.count("python") >= 2 and kinds.count("output") >= 2


# ----------------------------------------------------------------------- links


def relative_links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for link in LINK.finditer(prose(page)):
            if not re.match(r"[a-z]+:", link["target"]):
                yield page, link["target"]


@pytest.mark.parametrize(
    ("page", "target"), [pytest.param(p, t, id=f"{named(p)}: {t}") for p, t in relative_links()]
)
def test_a_relative_link_leads_somewhere(page: Path, target: str) -> None:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    assert file.is_relative_to(ROOT)
    assert file.exists()
    if anchor:
        assert anchor in anchors(file)


def anchors(page: Path) -> set[str]:
    """What a page's headings are called in links, as GitHub does it."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    titles = (each["title"].replace("`", "").lower() for each in HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


# -------------------------------------------------------------------- commands


def commands() -> Iterator[tuple[Path, str]]:
    """Every `treethink ...` of the pages, in a block or in the line."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = [
            *(line for block in blocks(page) if block.kind == "sh" for line in block.text.split("\n")),
            *re.findall(r"`(treethink [^`\n]+)`", BLOCK.sub("", text)),
        ]
        for line in shown:
            if line.startswith("treethink "):
                yield page, line


@pytest.mark.parametrize(
    ("page", "line"), [pytest.param(p, c, id=f"{named(p)}: {c}") for p, c in commands()]
)
def test_a_command_is_one_that_we_have(page: Path, line: str) -> None:
    _, name, *arguments = shlex.split(line, comments=True)
    if name.startswith("-"):
        return
    known = get_command(cli.app).commands  # type: ignore[attr-defined]
    assert name in known
    if not {"...", "…"} & set(arguments):
        known[name].make_context(name, [*arguments])  # parses, and runs nothing


def test_the_readme_shows_every_command() -> None:
    shown = {shlex.split(line)[1] for page, line in commands() if page.name == "README.md"}
    assert shown >= get_command(cli.app).commands.keys()  # type: ignore[attr-defined]


def make_targets() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z ]+):", text, re.MULTILINE)[0:0]) | {
        target
        for line in re.findall(r"^([a-z][a-z ]*):(?!=)", text, re.MULTILINE)
        for target in line.split()
    }


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_make_is_told_to_make_it_can(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    told = re.findall(r"^make ([a-z]+)|`make ([a-z]+)", text, re.MULTILINE)
    assert {first or second for first, second in told} <= make_targets()


# ----------------------------------------------------- the picture and the map


def test_the_picture_is_what_its_script_draws() -> None:
    script = ROOT / "docs" / "images" / "make_picture.py"
    spec = importlib.util.spec_from_file_location("make_picture", script)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:  # its dataclass looks itself up there
        patch.setitem(__import__("sys").modules, "make_picture", module)
        spec.loader.exec_module(module)
        assert module.picture() == module.TARGET.read_text(encoding="utf-8")
