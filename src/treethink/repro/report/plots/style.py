"""The style of plots, and how they are written: the same data give the same bytes.

Colours are those of Okabe and Ito, which most people can tell apart; lines also differ in their
dashes. matplotlib is used without pyplot, so that no global state changes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treethink.errors import MissingPackageError

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
        raise MissingPackageError(
            'plots need matplotlib, which is not installed: pip install "treethink[experiments]"'
        ) from error
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
