"""Which colour and dashes stand for whom: the same learner looks the same in every figure.

Settings count more than labels: TreeThink as it is by default is blue, whatever it is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from treethink.model import TreeThink
from treethink.repro.report.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PINK, RED, SKY
from treethink.repro.report.series import Run

Look = tuple[str, str]

#: Colour and dashes of each label that has its own.
LOOKS: dict[str, Look] = {
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
    "qora": LOOKS["QORA"],
    "static": LOOKS["static"],
    "paper": LOOKS["paper (in Python)"],
    "oracle": LOOKS["Oracle (the world itself)"],
}
_OTHERS = ((PINK, "-"), (ORANGE, "--"), (SKY, "-."), (BLACK, ":"), (GREEN, "-"), (RED, "-"))
_DEFAULTS = {
    name: each.default
    for name, each in inspect.signature(TreeThink.__init__).parameters.items()
    if each.kind is inspect.Parameter.KEYWORD_ONLY
}
_PAPER = {"criterion": "wilson", "memory": 0}


def looks(groups: Mapping[str, Sequence[Run]]) -> dict[str, Look]:
    """Colour and dashes of each label: by settings, else by label, else by learner.

    No colour is taken twice as long as there are others. What is left goes by order.
    """
    found: dict[str, Look] = {}
    for known in (_by_settings, _by_label, _by_learner):
        for label, runs in groups.items():
            look = known(label, runs)
            if label not in found and look is not None and look[0] not in _colours(found):
                found[label] = look
    free = [each for each in _OTHERS if each[0] not in _colours(found)] or _OTHERS
    others = [label for label in groups if label not in found]
    return found | {label: free[i % len(free)] for i, label in enumerate(others)}


def shades(labels: Sequence[str]) -> dict[str, Look]:
    """From dark to light, in order."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return {
        label: (to_hex(colormaps["viridis"](0.9 * i / max(1, len(labels) - 1))), "-")
        for i, label in enumerate(labels)
    }


def _colours(found: Mapping[str, Look]) -> set[str]:
    return {colour for colour, _ in found.values()}


def _by_settings(label: str, runs: Sequence[Run]) -> Look | None:
    """TreeThink's, with our defaults and with the paper's settings."""
    if not runs or runs[0].learner != "treethink" or runs[0].predict:
        return None
    settings = _said(runs[0].settings)
    if not settings:
        return LOOKS["TreeThink"]
    return LOOKS["TreeThink (paper)"] if settings == _said(_PAPER) else None


def _said(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that are not as they are anyway."""
    return {k: v for k, v in settings.items() if k not in _DEFAULTS or v != _DEFAULTS[k]}


def _by_label(label: str, runs: Sequence[Run]) -> Look | None:
    return LOOKS.get(label)


def _by_learner(label: str, runs: Sequence[Run]) -> Look | None:
    return _LEARNERS.get(runs[0].learner) if runs else None
