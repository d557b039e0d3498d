"""The colours of all pictures of rules: gentle ones, on which dark text is easy to read."""

from __future__ import annotations

from treethink.export.content import Box

PAPER, INK, GREY, LINE = "#ffffff", "#20262e", "#66707c", "#98a2ae"
HEADER, HEADER_LINE = "#cdeacb", "#4c9a52"
BRANCH, STRIP = "#ffffff", "#e9edf2"
LEAF = "#ffffff"  # where there is not exactly one outcome to give the colour
EDGES = ("#2f7d4f", "#b0483c")  # true, false
TONES = (
    "#d3e5f7", "#fde8bf", "#f8d7d5", "#e3daf3", "#cfebe6", "#f0e2d0", "#f7d9ea", "#dde2e8",
)  # fmt: skip
# The same, strong enough for something thin.
BARS = (
    "#8db9e4", "#f0c25c", "#e8958f", "#b7a1de", "#80c7ba", "#d0b186", "#e299c5", "#a9b3bf",
)  # fmt: skip
TRACK = "#e9edf2"  # behind a bar


def tone(number: int | None, tones: tuple[str, ...] = TONES) -> str:
    """The colour of an outcome. The rare ones of a rule that has very many share one."""
    return tones[-1] if number is None else tones[min(number, len(tones) - 1)]


def fill(box: Box) -> str:
    """The colour of a box; of a leaf that is sure, its outcome's."""
    if box.kind == "leaf":
        return tone(box.rows[0].tone) if len(box.rows) == 1 else LEAF
    return HEADER if box.kind == "header" else BRANCH


def line(box: Box) -> str:
    """The colour of its border."""
    return HEADER_LINE if box.kind == "header" else LINE
