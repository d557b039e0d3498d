"""The registry of the paper's figures and tables.

    FIGURES -> [ figures ] -> runs -> records -> report

A figure that needs runs has a config `NAME.toml` in this folder, in the format of `treethink run`.
`reproduce.py` performs them, makes them small for `--quick`, draws the figures without curves, and
lists all of them for `treethink reproduce --list`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Any

from treethink.errors import UnknownNameError

__all__ = ["FIGURES", "QUICK", "Figure", "chosen", "is_quick", "left_out"]

#: The extras with optional packages.
_EXTRAS = {
    "torch": "neural", "gymnasium": "gym", "minigrid": "minigrid", "river": "river",
    "rware": "rware",
}  # fmt: skip

#: The end of the titles of small versions, by which records and reports know them.
QUICK = "(quick)"


def is_quick(manifest: Mapping[str, Any]) -> bool:
    """Whether a manifest is that of a small version, made with `--quick`."""
    return str(manifest.get("title", "")).endswith(QUICK)


@dataclass(frozen=True, slots=True)
class Figure:
    """One name for `treethink reproduce`.

    `paper` is its place in the paper, `kind` says how the report draws it, and `minutes` how long
    its runs take on one core. `parts` are the figures whose records a composite is made of; with
    `log`, errors are also drawn on a logarithmic scale, as in the paper. `packages` are optional
    ones that it needs. `networks` says that it needs PyTorch and a GPU, and `minutes` is then the
    time on a GPU; `quick` is the number of minutes of its small version on one core without a GPU.
    """

    name: str
    title: str
    paper: str
    kind: str
    minutes: float = 0.0
    parts: tuple[str, ...] = ()
    log: bool = False
    networks: bool = False
    packages: tuple[str, ...] = ()
    quick: float | None = None

    @property
    def is_possible(self) -> bool:
        """Whether everything that it needs is installed."""
        return not self.missing_extras

    @property
    def missing_extras(self) -> list[str]:
        """The extras that it needs and that are not installed."""
        needed = (*self.packages, *(("torch",) if self.networks else ()))
        return [_EXTRAS[each] for each in needed if find_spec(each) is None]

    @property
    def lacks_gpu(self) -> bool:
        """Whether it trains networks, and PyTorch sees no GPU here."""
        if not self.networks:
            return False
        import torch

        return not torch.cuda.is_available()

    @property
    def config(self) -> Traversable | None:
        """The config file with its runs; None if it has none of its own."""
        file = files(__package__) / f"{self.name}.toml"
        return file if file.is_file() else None


_ALL = (
    Figure("predict", "TreeThink and QORA, side by side", "Fig. 3", "predict", parts=(
        "maze-scoreless", "coins-scoreless", "keys-scoreless", "maze", "coins", "keys", "fish",
        "fish-0.001", "transfer-maze", "transfer-keys",
    )),
    Figure("ablation", "Ablation and performance", "Fig. 4", "ablation", parts=(
        "inference", "branches", "alpha", "complexity",
    )),
    Figure("worlds", "Example states", "Figs. 7-10", "worlds", 0.1),
    Figure("walls", "walls", "Fig. 11, row 1", "curves", 0.1),
    Figure("doors", "doors", "Fig. 11, row 2", "curves", 4),
    Figure("lights", "lights", "Fig. 11, row 3", "curves", 0.3),
    Figure("lights-scoreless", "lights-scoreless", "Fig. 11, row 4", "curves", 0.1),
    Figure("gates", "gates", "Fig. 11, row 5", "curves", 5),
    Figure("maze", "maze", "Fig. 12, row 1", "curves", 0.3),
    Figure("maze-scoreless", "maze-scoreless", "Fig. 12, row 2", "curves", 0.2),
    Figure("coins", "coins", "Fig. 12, row 3", "curves", 3),
    Figure("coins-scoreless", "coins-scoreless", "Fig. 12, row 4", "curves", 3),
    Figure("switches", "switches", "Fig. 12, row 5", "curves", 2),
    Figure("keys", "keys", "Fig. 13, rows 1-2", "curves", 53),
    Figure("keys-scoreless", "keys-scoreless", "Fig. 13, rows 3-4", "curves", 69),
    Figure("fish", "fish, alpha 0.01", "Fig. 14, rows 1-2, 5", "curves", 12, log=True),
    Figure("fish-0.001", "fish, alpha 0.001", "Fig. 14, rows 3-5", "curves", 14, log=True),
    Figure("transfer-maze", "maze-t, learned in maze", "Fig. 15, row 1", "transfer", 0.5),
    Figure("transfer-coins", "coins-t, learned in coins", "Fig. 15, row 2", "transfer", 3),
    Figure("transfer-keys", "keys-t, learned in keys", "Fig. 15, row 3", "transfer", 7),
    Figure("scale-players", "scale: more players", "Fig. 16", "scale", 0.5),
    Figure("scale-actions", "scale: more actions", "Fig. 17", "scale", 0.5),
    Figure("scale-both", "scale: more players and actions", "Fig. 18", "scale", 4),
    Figure("trees", "Learned trees", "Fig. 19", "trees", 0.5),
    Figure("inference", "The two savings of prediction", "Figs. 4a, 4b, 20", "inference", 7),
    Figure("branches", "Branches that change their test", "Figs. 4c, 4d", "branches", 11, log=True),
    Figure("alpha", "Values of alpha", "Fig. 4e", "alpha", 1),
    Figure("complexity", "Time to convergence", "Fig. 4f", "complexity", 3),
    Figure("baselines", "The appendix in Python", "Appendix A", "baselines", 8),
    Figure("neural", "Neural baselines", "Figs. 5, 22", "neural", 210, networks=True, quick=2),
    Figure("planning", "Planning in maze", "Figs. 23, 26", "planning", 2),
    Figure("planning-coins", "Planning in coins", "Not in the paper", "planning", 3),
    Figure("planning-keys", "Planning in keys", "Not in the paper", "planning", 3),
    Figure("neural-planning", "Planning with networks", "Figs. 23-26", "neural-planning", 75,
           networks=True, quick=2),
    Figure("ladder", "Other people's worlds, other learners", "Not in the paper", "ladder", 60,
           packages=("gymnasium", "minigrid", "river", "rware")),
)  # fmt: skip

FIGURES: dict[str, Figure] = {each.name: each for each in _ALL}


def chosen(names: list[str]) -> list[Figure]:
    """Return the figures of these names, in the paper's order, with the parts of composites.

    `all` stands for every figure that is possible here; `left_out` returns the others.

    >>> [each.name for each in chosen(["ablation"])]
    ['ablation', 'inference', 'branches', 'alpha', 'complexity']
    """
    chosen_names: set[str] = set()
    for name in names:
        if name == "all":
            chosen_names.update(each.name for each in _ALL if each.is_possible)
            continue
        figure = FIGURES.get(name)
        if figure is None:
            raise UnknownNameError("figure", name, [*FIGURES, "all"], "the paper's figures")
        chosen_names.update({name, *figure.parts})
    return [each for each in _ALL if each.name in chosen_names]


def left_out(names: list[str]) -> list[Figure]:
    """Return the figures that `all` leaves out, for lack of packages, and that are not named."""
    if "all" not in names:
        return []
    return [each for each in _ALL if not each.is_possible and each.name not in names]
