"""The advice on installing optional packages is the same everywhere, and true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from treethink.errors import how_to_install

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


def test_no_page_installs_from_an_index_that_does_not_have_the_package() -> None:
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"pip install (-\S+ )*['\"]?treethink", text), page
        for extras in re.findall(r"pip install '\.\[([\w,]+)\]'", text):
            assert {*extras.split(",")} <= {*EXTRAS}, page


def test_every_error_uses_the_one_function() -> None:
    raised = [
        str(page.relative_to(ROOT))
        for page in (ROOT / "src").rglob("*.py")
        if "raise MissingPackageError(" in page.read_text(encoding="utf-8")
    ]
    assert raised == ["src/treethink/repro/runner/fields.py"]  # repeats the message of another
    assert "pip install '.[gym]'" in how_to_install("gym")
