"""Figures without records: models whose trees are drawn, and example states of worlds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from treethink.errors import MissingPackageError, TreeThinkError
from treethink.model import TreeThink
from treethink.repro.runner.config import Config
from treethink.stream.random_play import transitions
from treethink.worlds import draw, make

#: The worlds of the paper's figures.
STATES = (
    "walls", "doors", "fish", "gates", "maze", "maze-t", "coins", "coins-t", "keys", "keys-t",
    "lights", "switches", "scale(1,1)", "scale(2,2)", "scale(4,4)", "scale(8,8)",
)  # fmt: skip
_CELL, _SMALL_CELL = 24, 12

Tell = Callable[[str], None]


def models(config: Config, folder: Path, tell: Tell) -> None:
    """Learn each world of the config once, with its seed, and keep the model as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for run in config.runs():
        path = folder / f"{run.world}.tt"
        if _observed(path) == run.steps:
            continue
        tell(f"trees: learning {run.world} from {run.steps:,} observations")
        world = make(run.world, **run.options)
        model = TreeThink(world.schema, **run.settings)
        model.observe_many(transitions(world, run.steps, run.seed, run.episode))
        model.save(path, memory=False)


def _observed(path: Path) -> int:
    try:
        return TreeThink.load(path).observations
    except (TreeThinkError, OSError):
        return -1  # missing or damaged: it is made anew


def states(folder: Path) -> None:
    """Draw one state of each world as a PNG file."""
    try:
        from matplotlib.image import imsave
    except ImportError as error:
        raise MissingPackageError(
            'pictures need matplotlib, which is not installed: pip install "treethink[experiments]"'
        ) from error
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(STATES):
        world = make(name)
        cell = _SMALL_CELL if name.endswith("-t") else _CELL
        # Numbered, so that they are listed in the paper's order.
        plain = name.replace("(", "-").replace(",", "-").replace(")", "")
        path = folder / f"{number:02}-{plain}.png"
        pixels = draw.rgb_array(world, world.reset(seed=0), cell=cell)
        imsave(path, pixels, format="png", metadata={"Software": "treethink"})
