"""The style of plots, and how they are written: the same data give the same bytes.

Colours are those of Okabe and Ito, which most people can tell apart; lines also differ in their
dashes. matplotlib is used without pyplot, so that no global state changes.
"""

from __future__ import annotations

import inspect
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treethink.errors import missing_package
from treethink.model import TreeThink
from treethink.repro.report.series import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PANEL = (2.5, 1.95)  # inches
BLUE, RED, GREEN, PINK, ORANGE, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
GREY, BLACK = "#767676", "#000000"
#: The label of marks that come from the paper; it comes last in a legend.
THE_PAPERS = "the paper's"
_SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "font.family": ["DejaVu Sans", "sans-serif"],
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "treethink",
    "path.simplify": True,
    "text.parse_math": False,  # a label may have any sign
}


@contextmanager
def styled() -> Iterator[None]:
    """Use our settings of matplotlib, and no others, inside the `with`."""
    try:
        import matplotlib
    except ImportError as error:
        raise missing_package("plots need matplotlib", "experiments") from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for name, value in _SETTINGS.items():
            matplotlib.rcParams[name] = value
        yield


def panels(rows: int, columns: int, width: float = 1, height: float = 1) -> tuple[Figure, Any]:
    """Return an empty figure, and its axes by row and column."""
    from matplotlib.figure import Figure

    size = (PANEL[0] * columns * width, PANEL[1] * rows * height + 0.35)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """Draw one legend for all panels, above them."""
    handles: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if THE_PAPERS in handles:
        handles[THE_PAPERS] = handles.pop(THE_PAPERS)
    if handles:
        figure.legend(
            handles.values(), handles.keys(), loc="outside upper center", ncols=min(5, len(handles))
        )


def save(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as SVG and as PNG; return both paths."""
    svg, png = path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.png")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    svg.write_text(_shorter(drawn.getvalue()), encoding="utf-8", newline="\n")
    figure.set_layout_engine(None)  # the layout is done: it need not be computed again
    figure.savefig(png, dpi=150, metadata={"Software": None})
    return [svg, png]


def _shorter(svg: str) -> str:
    """Round coordinates to a tenth of a point and remove comments: this halves the size."""
    svg = re.sub(r"\n\s*", "\n", re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL))
    places = re.compile(r' (?:d|x|y|points)="[^"]*"')
    return places.sub(lambda match: _LONG.sub(_rounded, match[0]), svg)


_LONG = re.compile(r"-?\d+\.\d{2,}")


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.1f}".removesuffix(".0")


# ------------------------------------------------------------------------------------------- lines
#
# Colour and dashes of each learner, the same in every figure. Settings count more than labels:
# TreeThink with default settings is blue, whatever its label.

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
    "Hoeffding trees (River)": (ORANGE, "--"),
    "k-nearest neighbours": (SKY, "-."),
    "memoriser": (PINK, ":"),
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
