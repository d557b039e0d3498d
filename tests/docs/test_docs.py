"""The documentation is true: its code runs, its links lead somewhere, its commands exist.

In a Markdown file, blocks of `python` are run, in order and in one namespace for each file. A block
of `output` is what the block of `python` before it prints, to the letter.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.main import get_command

import treethink as tt
from treethink import cli
from treethink.repro.runner import Curve, trial

ROOT = Path(__file__).parents[2]
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


def shown(page: Path) -> Iterator[str]:
    """Every command of a page: the lines of its `sh` blocks, and its code in the line."""
    for block in blocks(page):
        if block.kind == "sh":
            yield from block.text.splitlines()
    yield from re.findall(r"`([^`\n]+)`", BLOCK.sub("", page.read_text(encoding="utf-8")))


def commands(program: str) -> list[tuple[Path, list[str]]]:
    """The arguments of every use of a program in the pages."""
    lines = ((page, line) for page in PAGES for line in shown(page))
    return [
        (page, shlex.split(line, comments=True)[1:])
        for page, line in lines
        if line.startswith(f"{program} ")
    ]


def cases(program: str) -> list[Any]:
    return [
        pytest.param(arguments, id=f"{named(page)}: {' '.join(arguments)}")
        for page, arguments in commands(program)
    ]


@pytest.mark.parametrize("arguments", cases("treethink"))
def test_a_command_is_one_that_we_have(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, *rest = arguments
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert not ended.value.code
    assert "Usage" in capsys.readouterr().out
    if rest:
        get_command(cli.app).commands[name].make_context(name, rest)  # parses, and runs nothing


def test_the_readme_shows_every_command() -> None:
    in_readme = {name for page, (name, *_) in commands("treethink") if page.name == "README.md"}
    assert in_readme >= get_command(cli.app).commands.keys()


@pytest.mark.parametrize("arguments", cases("make"))
def test_what_make_is_told_to_make_it_can(arguments: list[str]) -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^([a-z][a-z -]*):(?!=)", text, re.MULTILINE)
    target = arguments[0]
    assert target in " ".join(rules).split() or target.endswith("/.installed")


def test_the_demo_ends_with_how_to_find_the_command() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = text.partition("\ndemo:")[2].partition("\n\n")[0]
    assert recipe.rstrip().splitlines()[-1].endswith('. $(demo)/bin/activate"')


def test_the_first_run_is_as_slow_as_the_pages_say() -> None:
    world = tt.make("maze")
    last = []
    for seed in range(10):
        curve = Curve()
        for wrong_by in trial(tt.TreeThink(world.schema), world, 3_000, seed=seed):
            curve.add(wrong_by)
        last.append(curve.last_error)
    readme, tutorial = (
        (ROOT / each).read_text(encoding="utf-8") for each in ("README.md", "docs/tutorial.md")
    )
    assert last[0] == max(last)
    assert f"({min(last)} to {max(last):,}, ten seeds)" in readme.replace("\n", " ")
    for page in (readme, tutorial):
        assert f"its last error is at observation {last[0]:,}" in page


# ----------------------------------------------------- the picture and the map


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One of those that draw pictures, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "images" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_its_script_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("make_picture", monkeypatch)
    assert module.picture() == module.TARGET.read_text(encoding="utf-8")


def test_the_gallery_is_what_its_script_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("make_gallery", monkeypatch)
    for name, picture in module.TARGETS.items():
        with Image.open(module.HERE / name) as kept:
            assert np.array_equal(np.asarray(kept), picture()), name


def mapped_files() -> set[str]:
    """The files that the map in docs/architecture.md lists, by its indentation."""
    page = ROOT / "docs" / "architecture.md"
    (tree,) = (block for block in blocks(page) if block.text.startswith("cpp/"))
    files: set[str] = set()
    folders: list[str] = []
    for line in tree.text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        if depth > 4:  # a description goes on
            continue
        name = line.split()[0]
        folders = [*folders[:depth], name]
        stem = "".join(folders[:-1]) + name.removesuffix(".hpp/.cpp")
        if name.endswith(".hpp/.cpp"):
            files |= {f"{stem}.hpp", f"{stem}.cpp"}
        elif not name.endswith("/"):
            files |= {named(each) for each in ROOT.glob(stem)} or {stem}
    return files


def test_the_map_lists_every_file_of_the_engine_and_the_package() -> None:
    built = {".pyi", ".pyc", ".so", ".pyd"}
    there = {
        named(path)
        for folder in ("cpp", "src/treethink", "src/treethink_command")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in built
    }
    assert mapped_files() == there


def test_the_site_has_every_page_once() -> None:
    site = (ROOT / "mkdocs.yml").read_text()
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", site, re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
