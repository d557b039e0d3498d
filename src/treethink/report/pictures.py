"""Pictures that are no curves: learned trees from model files, and example states.

folder of `treethink reproduce` -> [ pictures ] -> files in the report's folder
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from treethink.learner import TreeThink

#: The rules that are drawn, of each model there is; the last has no figure in the paper.
TREES = {
    "maze": ("player.pos.right", "game.score.right"),
    "coins": ("player.pos.right", "game.score.right", "coin.used.right"),
    "keys": ("player.pos.right",),
}


def trees(folder: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Draw rules of the models in a folder; yields file names, and what they show."""
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
            yield f"{file}.svg", f"{world}: {owner}.{attribute}"


def states(folder: Path, out: Path) -> Iterator[tuple[str, str]]:
    """Copy the pictures of example states; yields file names, and what they show."""
    for path in sorted(folder.glob("*.png")):
        name = f"world-{path.name}"
        shutil.copyfile(path, out / name)
        yield name, path.stem.partition("-")[2]
