"""A rule as a picture in a file: SVG, or by matplotlib PNG or PDF.

    content -> sizes -> layout -> [ picture ] -> file

An SVG is text, and needs no package (`svg.py`). For the others, letters are drawn in the one font
that comes with matplotlib and in which all are as wide as each other: a box is as large as its
text, and the picture looks the same everywhere. The same rule gives the same bytes, as long as
matplotlib is the same. Nothing of matplotlib's settings is used, and none is left changed.
"""

from __future__ import annotations

import io
import os
from threading import Lock
from typing import Any

from treethink import file
from treethink.errors import MissingPackageError, SettingError
from treethink.export import svg
from treethink.export.content import boxes_of
from treethink.export.measures import MARGIN, layout_of
from treethink.file import check_picture_path, format_of
from treethink.rules import Rule

FORMATS = ("svg", "png", "pdf")
DPI, LEAST_DPI = 200, 40  # of a PNG; below, nobody could read it
MOST_PIXELS, LONGEST = 40_000_000, 30_000  # of a PNG
PAGE = 14_400.0  # points: the longest side that a PDF may have
_SETTINGS: dict[str, Any] = {"pdf.fonttype": 42}
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_settings_changed = Lock()  # matplotlib's settings belong to all threads


def draw(rule: Rule, path: str | os.PathLike[str]) -> None:
    """Write the picture. What cannot be written is refused before anything is drawn."""
    kind = format_of(path, FORMATS)
    file.write(check_picture_path(path), picture(rule, kind))


def check_drawable(kind: str) -> None:
    """Say how to get matplotlib, where that format needs it and it is not there."""
    if kind == "svg":
        return
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            f"a .{kind} of a rule is drawn by matplotlib, which is not installed:"
            ' pip install "treethink[experiments]"; an .svg needs nothing'
        ) from error


def picture(rule: Rule, kind: str) -> bytes:
    """What the file says."""
    check_drawable(kind)
    if kind == "svg":
        return f"{svg.text_of(rule)}\n".encode()
    import matplotlib.style

    from treethink.export import artists

    boxes = boxes_of(rule, artists.can_write)
    layout = layout_of(boxes)
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    dpi = resolution(width, height) if kind == "png" else 72
    scale = min(1.0, PAGE / max(width, height)) if kind == "pdf" else 1.0
    metadata = {"Title": " ".join(boxes[0].head), **_METADATA[kind]}
    content = io.BytesIO()
    with _settings_changed, matplotlib.style.context(["default", _SETTINGS]):
        figure = artists.figure_of(boxes, layout, scale)
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata)
    return content.getvalue()


def resolution(width: float, height: float) -> int:
    """Dots per inch that a PNG of so many points can have; or an error, if that is too few.

    >>> resolution(600, 400)
    200
    >>> resolution(20_000, 1_000)
    101
    """
    inches = (width / 72, height / 72)
    dpi = min(DPI, LONGEST / max(inches), (MOST_PIXELS / (inches[0] * inches[1])) ** 0.5)
    if dpi < LEAST_DPI:
        raise SettingError(
            f"the picture is too large for a PNG that one could read: {inches[0]:.0f} x"
            f" {inches[1]:.0f} inches; draw it as .svg or .pdf"
        )
    return int(dpi)
