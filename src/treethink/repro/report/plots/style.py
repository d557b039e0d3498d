"""How plots look, and how they are written: the same data, the same bytes.

Colours are those of Okabe and Ito, which most people can tell apart; lines differ in their dashes
as well. matplotlib is used without pyplot, so that nothing global is touched.
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
#: The label of marks that come from the paper; it is the last of a legend.
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
    """Our settings, and nobody else's, while it lasts."""
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
    """An empty figure, and its axes by row and column."""
    from matplotlib.figure import Figure

    size = (PANEL[0] * columns * width, PANEL[1] * rows * height + 0.35)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def legend(figure: Figure, axes: Sequence[Axes]) -> None:
    """One for all panels, above them."""
    found: dict[str, Any] = {}
    for each in axes:
        for handle, label in zip(*each.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if THE_PAPERS in found:
        found[THE_PAPERS] = found.pop(THE_PAPERS)
    if found:
        figure.legend(
            found.values(), found.keys(), loc="outside upper center", ncols=min(5, len(found))
        )


def save(figure: Figure, path: Path) -> list[Path]:
    """As SVG and as PNG beside it."""
    svg, png = path.with_name(f"{path.name}.svg"), path.with_name(f"{path.name}.png")
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    svg.write_text(_shorter(drawn.getvalue()), encoding="utf-8", newline="\n")
    figure.set_layout_engine("none")  # it is laid out by now
    figure.savefig(png, dpi=150, metadata={"Software": None})
    return [svg, png]


def _shorter(svg: str) -> str:
    """Coordinates to a tenth of a point, and no comments: half the size, and nobody sees it."""
    svg = re.sub(r"\n\s*", "\n", re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL))
    places = re.compile(r' (?:d|x|y|points)="[^"]*"')
    return places.sub(lambda found: _LONG.sub(_rounded, found[0]), svg)


_LONG = re.compile(r"-?\d+\.\d{2,}")


def _rounded(found: re.Match[str]) -> str:
    return f"{float(found[0]):.1f}".removesuffix(".0")
