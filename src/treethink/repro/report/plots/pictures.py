"""Pictures without curves: learned trees from model files, and example states.

folder of `treethink reproduce` -> [ pictures ] -> files in the report's folder
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from treethink.model import TreeThink
from treethink.repro.report.plots.style import panels, save

#: The rules that are drawn of each model; the last has no figure in the paper.
TREES = {
    "maze": ("player.pos.right", "game.score.right"),
    "coins": ("player.pos.right", "game.score.right", "coin.used.right"),
    "keys": ("player.pos.right",),
}
_IN_A_ROW = 4


def trees(folder: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Draw rules of the models in a folder; yield file names, and what they show.

    Each tree is also written as text, for Graphviz and for Mermaid.
    """
    for world, names in TREES.items():
        path = folder / f"{world}.tt"
        if not path.is_file():
            continue
        rules = TreeThink.load(path).rules
        for name in names:
            owner, attribute, action = name.split(".")
            file = f"tree-{world}-{owner}-{attribute}"
            rule = rules[owner, attribute, action]
            rule.draw(out / f"{file}.png")
            rule.draw(out / f"{file}.svg")
            for ending, text in (("dot", rule.to_dot()), ("mmd", rule.to_mermaid())):
                path = out / f"{file}.{ending}"
                path.write_text(f"{text.rstrip()}\n", encoding="utf-8", newline="\n")
            yield f"{file}.svg", f"{world}: {owner}.{attribute}"


def states(folder: Path, path: Path) -> Iterator[tuple[str, str]]:
    """Draw the example states as one picture; yield its name, and what it shows."""
    from matplotlib.image import imread

    files = sorted(folder.glob("*.png"))
    if not files:
        return
    figure, grid = panels(-(-len(files) // _IN_A_ROW), _IN_A_ROW, width=0.8)
    for axes in grid.flat:
        axes.set_axis_off()
    for axes, file in zip(grid.flat, files, strict=False):
        axes.imshow(imread(file), interpolation="none")
        axes.set_title(file.stem.partition("-")[2])
    yield save(figure, path)[0].name, "Example states"
