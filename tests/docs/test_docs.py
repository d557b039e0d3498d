"""The documentation is correct: its code runs, and its links, paths and commands exist.

In a Markdown file, blocks of `python` are run in order, in one namespace for each file. A block of
`output` is exactly what the block of `python` before it prints; REWRITE_GOLDEN=1 rewrites it. Tests
about many small things (links, paths, commands) check all of them at once and list every one that
is wrong.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import pkgutil
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.main import get_command

import treethink as tt
from treethink import cli
from treethink._moved import MOVED
from treethink.stream.trial import Curve, trial

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
INLINE_CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


def relative_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block and the number of its first line."""

    kind: str
    text: str
    line: int


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    text = text_of(page)
    return [
        Block(each["kind"], each["text"], text[: each.start("text")].count("\n") + 1)
        for each in BLOCK.finditer(text)
    ]


def without_blocks(page: Path) -> str:
    return BLOCK.sub("", text_of(page))


# ------------------------------------------------------------------------ code


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.kind == "python" for block in blocks(page))],
    ids=relative_name,
)
def test_code_runs_and_prints_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # examples save files
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    outputs: list[str] = []
    for block in blocks(page):
        if block.kind == "python":
            printed = run(block, page, names)
        elif block.kind == "output":
            outputs.append(printed)
            if not os.environ.get("REWRITE_GOLDEN"):
                assert printed == block.text, f"{relative_name(page)}, line {block.line}"
    if os.environ.get("REWRITE_GOLDEN"):
        rewrite_outputs(page, outputs)


def rewrite_outputs(page: Path, outputs: list[str]) -> None:
    """Write what was printed into the blocks of `output` of a page."""
    remaining = iter(outputs)

    def block_of(match: re.Match[str]) -> str:
        if match["kind"] != "output":
            return match[0]
        start, end = (place - match.start() for place in match.span("text"))
        return match[0][:start] + next(remaining) + match[0][end:]

    page.write_text(BLOCK.sub(block_of, text_of(page)), encoding="utf-8")


def run(block: Block, page: Path, names: dict[str, object]) -> str:
    """Run the block and return what it prints. Tracebacks show the page's own lines."""
    source = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, str(page), "exec"), names)
    return out.getvalue()


def test_every_output_block_follows_a_code_block() -> None:
    pairs = (pairwise([Block("", "", 0), *blocks(page)]) for page in PAGES)
    assert all(
        first.kind == "python"
        for page in pairs
        for first, second in page
        if second.kind == "output"
    )


def test_the_readme_has_code_and_output_and_is_short() -> None:
    readme = ROOT / "README.md"
    kinds = [block.kind for block in blocks(readme)]
    assert kinds.count("python") >= 2 and kinds.count("output") >= 2
    assert len(text_of(readme).splitlines()) <= 250


# ------------------------------------------------------------- links and paths


def relative_links() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        for link in LINK.finditer(INLINE_CODE.sub("", without_blocks(page))):
            if not re.match(r"[a-z]+:", link["target"]):
                yield page, link["target"]


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    return file.is_relative_to(ROOT) and file.exists() and (not anchor or anchor in anchors(file))


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub forms them."""
    titles = (
        each["title"].replace("`", "").lower() for each in HEADING.finditer(without_blocks(page))
    )
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in titles}


def test_every_relative_link_leads_somewhere() -> None:
    links = list(relative_links())
    broken = [
        f"{relative_name(page)}: {target}"
        for page, target in links
        if not leads_somewhere(page, target)
    ]
    assert len(links) > 100 and not broken


#: A file or folder of the project in inline code: below one of its folders, or a C++ file, or a
#: Python file with its folder.
PATH = re.compile(
    r"(?:cpp|src|tests|docs|experiments|benchmarks|\.github)/[\w./*-]*|[\w/.-]+\.[ch]pp|[\w.-]+/[\w/.-]+\.py"
)
#: Folders whose content is generated or ignored by git.
NOT_SOURCES = {"__pycache__", "build", "dist", ".git"}


@cache
def project_files() -> list[str]:
    folders = ("cpp", "src", "tests", "docs", "experiments", "benchmarks")
    return [
        f"/{relative_name(path)}"
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and NOT_SOURCES.isdisjoint(path.parts)
    ]


def exists(path: str) -> bool:
    """Whether a path exists from the root or, if it is an ending such as `x/y.py`, anywhere."""
    if any(ROOT.glob(path.rstrip("/"))):
        return True
    return any(file.endswith(f"/{path}") for file in project_files())


def test_every_path_in_a_page_exists() -> None:
    paths = [
        (page, code)
        for page in PAGES
        for code in INLINE_CODE.findall(without_blocks(page))
        if PATH.fullmatch(code)
    ]
    missing = [f"{relative_name(page)}: {path}" for page, path in paths if not exists(path)]
    assert len(paths) > 50 and not missing


def is_name_of_ours(name: str) -> bool:
    """Whether a dotted name, such as `treethink.plan`, is a module or an attribute of one."""
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def test_every_dotted_name_in_a_page_exists() -> None:
    dotted = re.compile(r"treethink(?:\.[A-Za-z_]\w*)+")
    dotted_names = {
        (page, name)
        for page in PAGES
        for name in dotted.findall(" ".join(INLINE_CODE.findall(without_blocks(page))))
    }
    missing = [
        f"{relative_name(page)}: {name}" for page, name in dotted_names if not is_name_of_ours(name)
    ]
    assert len(dotted_names) > 20 and not sorted(missing)


def test_the_changelog_lists_every_module_that_has_moved() -> None:
    row = re.compile(r"^\| `treethink\.([\w.]+)` \| (.+) \|$", re.MULTILINE)
    listed = row.findall(text_of(ROOT / "CHANGELOG.md"))
    assert {old: re.findall(r"`treethink\.([\w.]+)`", new) for old, new in listed} == MOVED


def test_the_architecture_page_describes_every_folder() -> None:
    page = text_of(ROOT / "docs" / "architecture.md")
    described = set(re.findall(r"^\| `([^`]+)/` \|", page, re.MULTILINE))
    roots = ("cpp", "src/treethink", "src/treethink_command")
    folders = {
        relative_name(path.parent)
        for root in roots
        for path in (ROOT / root).rglob("*")
        if path.suffix in {".py", ".cpp", ".hpp", ".txt", ".toml"}
    }
    assert described == folders


def test_the_architecture_page_shows_the_layers_of_the_import_contract() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (
        each for each in config["tool"]["importlinter"]["contracts"] if each["id"] == "layers"
    )
    layers = [re.sub(r"[()]", "", layer) for layer in contract["layers"]]
    block_lines = [block.text.splitlines() for block in blocks(ROOT / "docs" / "architecture.md")]
    assert layers in block_lines


# -------------------------------------------------------------------- commands


def shell_lines(page: Path) -> Iterator[str]:
    """Yield the lines of the `sh` blocks of a page, and its inline code."""
    for block in blocks(page):
        if block.kind == "sh":
            yield from block.text.splitlines()
    yield from INLINE_CODE.findall(without_blocks(page))


def commands(program: str) -> list[tuple[Path, list[str]]]:
    """Return the arguments of every use of a program in the pages."""
    lines = ((page, line) for page in PAGES for line in shell_lines(page))
    return [
        (page, shlex.split(line, comments=True)[1:])
        for page, line in lines
        if line.startswith(f"{program} ")
    ]


@cache
def our_commands() -> dict[str, Any]:
    group: Any = get_command(cli.app)
    return dict(group.commands)


def is_valid(arguments: list[str]) -> bool:
    """Whether one of our commands accepts the arguments. Nothing is run."""
    name, *rest = arguments
    if name not in our_commands():
        return False
    try:
        return not rest or bool(our_commands()[name].make_context(name, rest))
    except Exception:  # of a type that depends on the version of typer
        return False


def test_every_command_is_valid() -> None:
    uses = commands("treethink")
    about_shells = (["--install-completion"], ["--show-completion"])
    invalid = [
        f"{relative_name(page)}: treethink {shlex.join(arguments)}"
        for page, arguments in uses
        if arguments not in about_shells and not is_valid(arguments)
    ]
    assert len(uses) > 50 and not invalid
    assert not is_valid(["learn", "--nope"]) and not is_valid(["lern", "maze"])


@pytest.mark.parametrize("name", sorted(our_commands()))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main([name, "--help"])
    assert not exit_.value.code
    assert "Usage" in capsys.readouterr().out


def test_the_readme_shows_every_command() -> None:
    in_readme = {name for page, (name, *_) in commands("treethink") if page.name == "README.md"}
    assert in_readme >= our_commands().keys()


def test_every_make_target_exists() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = re.findall(r"^([a-z][a-z -]*):(?!=)", text, re.MULTILINE)
    targets = {*" ".join(rules).split()}
    unknown = [
        f"{relative_name(page)}: make {target}"
        for page, (target, *_) in commands("make")
        if target not in targets and not target.endswith("/.installed")
    ]
    assert not unknown


def test_the_demo_ends_with_how_to_activate_the_environment() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = text.partition("\ndemo:")[2].partition("\n\n")[0]
    assert recipe.rstrip().splitlines()[-1].endswith('. $(demo)/bin/activate"')


def test_the_pages_state_the_last_error_of_the_first_ten_seeds() -> None:
    world = tt.make("maze")
    last = []
    for seed in range(10):
        curve = Curve()
        for wrong_by in trial(tt.TreeThink(world.schema), world, 3_000, seed=seed):
            curve.add(wrong_by)
        last.append(curve.last_error)
    readme, tutorial = (
        " ".join(text_of(ROOT / page).split()) for page in ("README.md", "docs/tutorial.md")
    )
    assert last[0] == max(last)
    assert f"({min(last)} to {max(last):,}, ten seeds)" in readme
    for page in (readme, tutorial):
        assert f"its last error is at observation {last[0]:,}" in page


# ------------------------------------------------------ pictures and the site


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import one of the scripts that draw pictures."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "images" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def test_the_picture_of_the_readme_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("make_picture", monkeypatch)
    assert module.picture() == module.TARGET.read_text(encoding="utf-8")


def test_the_gallery_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    module = script("make_gallery", monkeypatch)
    for name, picture in module.TARGETS.items():
        with Image.open(module.HERE / name) as stored:
            assert np.array_equal(np.asarray(stored), picture()), name


def test_the_site_lists_every_page_once() -> None:
    site = (ROOT / "mkdocs.yml").read_text()
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", site, re.MULTILINE)
    assert sorted(listed) == sorted(page.name for page in (ROOT / "docs").glob("*.md"))
