"""Show the examples of docstrings as code on the site.

    docstring -> [ examples ] -> docstring -> mkdocstrings -> page

An example without a heading of its own would be parsed as Markdown, in which `>>>` is a nested
quotation. `mkdocs.yml` lists this file, and griffe, which reads the docstrings, calls it for each
object.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^Examples\n-+$", re.MULTILINE)
EXAMPLE = re.compile(r"^(?P<indent> *)>>> .*\n(?: *\S.*\n?)*", re.MULTILINE)


def fenced(docstring: str) -> str:
    """Put a fence around each example of a docstring, unless they have their own heading."""
    if HEADING.search(docstring):
        return docstring
    return EXAMPLE.sub(_in_a_fence, f"{docstring}\n").rstrip("\n")


def _in_a_fence(example: re.Match[str]) -> str:
    indent = example["indent"]
    return f"{indent}```pycon\n{example[0].rstrip()}\n{indent}```\n"


class Examples(griffe.Extension):
    """The extension that griffe calls."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Fence the examples in the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
