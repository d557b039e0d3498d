"""Colour and dashes of each learner, the same in every figure.

Settings count more than labels: TreeThink with default settings is blue, whatever its label.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from treethink.model import TreeThink
from treethink.repro.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from treethink.repro.report.series import Run

LineStyle = tuple[str, str]

#: Colour and dashes of known labels.
LINE_STYLES: dict[str, LineStyle] = {
    "TreeThink": (BLUE, "-"),
    "TreeThink (paper)": (RED, "--"),
    "QORA": (GREEN, "-."),
    "static": (GREY, ":"),
    "TreeThink (fixed)": (SKY, "-."),
    "TreeThink (paper, fixed)": (ORANGE, ":"),
    "paper (in Python)": (GREEN, "-."),
    "Oracle (the world itself)": (BLACK, ":"),
    "none": (GREY, "-"),
    "eval": (ORANGE, "--"),
    "query": (SKY, "-."),
    "both": (BLUE, "-"),
    "NPE_1_1": (PINK, "-"),
    "NPE_2_1": (ORANGE, "--"),
    "NPE_4_2": (SKY, "-."),
    "NPE_8_3": (RED, "-"),
    "NPE*": (GREEN, ":"),
}
_LEARNERS = {
    "qora": LINE_STYLES["QORA"],
    "static": LINE_STYLES["static"],
    "paper": LINE_STYLES["paper (in Python)"],
    "oracle": LINE_STYLES["Oracle (the world itself)"],
}
_OTHERS = ((PINK, "-"), (ORANGE, "--"), (SKY, "-."), (BLACK, ":"), (GREEN, "-"), (RED, "-"))
_DEFAULTS = {
    name: each.default
    for name, each in inspect.signature(TreeThink.__init__).parameters.items()
    if each.kind is inspect.Parameter.KEYWORD_ONLY
}
_PAPER = {"criterion": "wilson", "memory": 0}


def line_styles(groups: Mapping[str, Sequence[Run]]) -> dict[str, LineStyle]:
    """Return colour and dashes of each label: by settings, else by label, else by learner.

    No colour is used twice while there are others. Unknown labels get the rest in order.
    """
    styles: dict[str, LineStyle] = {}
    for known in (_by_settings, _by_label, _by_learner):
        for label, runs in groups.items():
            style = known(label, runs)
            if label not in styles and style is not None and style[0] not in _colours(styles):
                styles[label] = style
    free = [each for each in _OTHERS if each[0] not in _colours(styles)] or _OTHERS
    others = [label for label in groups if label not in styles]
    return styles | {label: free[i % len(free)] for i, label in enumerate(others)}


def shades(labels: Sequence[str]) -> dict[str, LineStyle]:
    """Return shades from dark to light, in order."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return {
        label: (to_hex(colormaps["viridis"](0.9 * i / max(1, len(labels) - 1))), "-")
        for i, label in enumerate(labels)
    }


def _colours(styles: Mapping[str, LineStyle]) -> set[str]:
    return {colour for colour, _ in styles.values()}


def _by_settings(label: str, runs: Sequence[Run]) -> LineStyle | None:
    """Return the style of TreeThink with our defaults or with the paper's settings."""
    if not runs or runs[0].learner != "treethink" or runs[0].predict:
        return None
    settings = _not_default(runs[0].settings)
    if not settings:
        return LINE_STYLES["TreeThink"]
    return LINE_STYLES["TreeThink (paper)"] if settings == _not_default(_PAPER) else None


def _not_default(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that differ from the defaults."""
    return {k: v for k, v in settings.items() if k not in _DEFAULTS or v != _DEFAULTS[k]}


def _by_label(label: str, runs: Sequence[Run]) -> LineStyle | None:
    return LINE_STYLES.get(label)


def _by_learner(label: str, runs: Sequence[Run]) -> LineStyle | None:
    return _LEARNERS.get(runs[0].learner) if runs else None
