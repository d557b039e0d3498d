"""Make the records of figures, or what is missing of them.

    names -> figures -> [ reproduce ] -> OUT/NAME/ -> report

Records of each figure lie in a folder of its own. Runs that have ended are kept, so the same
command goes on where it was interrupted, and does nothing where nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from treethink.errors import RecordsError, SettingError
from treethink.repro.figures import Figure, pictures
from treethink.repro.figures.quick import MARK, quick
from treethink.repro.runner import records
from treethink.repro.runner.config import Config, described
from treethink.repro.runner.dry_run import attempt
from treethink.repro.runner.pool import Progress, perform_all
from treethink.repro.runner.spec import Run

__all__ = ["Made", "Part", "configured", "reproduce"]

Tell = Callable[[str], None]
Show = Callable[[], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class Part:
    """One of several machines that share the work."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Part:
        """From the command line.

        >>> Part.read("2/3")
        Part(number=2, of=3)
        """
        number, _, of = text.partition("/")
        try:
            part = cls(int(number), int(of))
        except ValueError:
            part = cls(0, 0)
        if not 1 <= part.number <= part.of:
            raise SettingError(f"--part takes K/N with K from 1 to N, such as 1/3, got {text!r}")
        return part

    def has(self, index: int) -> bool:
        """Whether the run of this number is one of its own."""
        return index % self.of == self.number - 1


@dataclass(slots=True)
class Made:
    """What a call did."""

    performed: int = 0
    kept: int = 0
    failed: int = 0


def configured(figure: Figure, small: bool, seeds: int | None = None) -> Config | None:
    """A figure's experiment, with so many seeds if told; None if it has none of its own.

    Whether it can be done here is not tried.
    """
    if figure.config is None:
        return None
    config = described(figure.config.read_text(encoding="utf-8"), figure.config.name)
    config = quick(config) if small else config
    return config if seeds is None else config.with_seeds(seeds)


def reproduce(
    figures: Sequence[Figure],
    out: Path,
    *,
    small: bool = False,
    processes: int | None = None,
    seeds: int | None = None,
    part: Part | None = None,
    tell: Tell = lambda text: None,
    display: Show | None = None,
) -> Made:
    """Perform what is missing of the figures. Ctrl-C leaves checkpoints and is raised again."""
    part = part or Part(1, 1)
    planned = [(figure, configured(figure, small, seeds)) for figure in figures]
    for figure, config in planned:
        if config is not None:
            attempt(config, f"{figure.name}.toml")
        if config is not None and figure.kind != "trees":
            _check_kind(out / figure.name, small)
    maker, index = _Maker(processes, tell, display), 0
    for figure, config in planned:
        folder = out / figure.name
        if figure.kind in ("trees", "worlds"):
            if part.number == 1:
                _draw(figure, config, folder, tell)
            continue
        if config is None:
            continue
        every = config.runs()
        mine = [run for i, run in enumerate(every, start=index) if part.has(i)]
        index += len(every)
        maker.perform(config, folder, mine, every)
    return maker.made


def _draw(figure: Figure, config: Config | None, folder: Path, tell: Tell) -> None:
    if config is not None:
        pictures.models(config, folder, tell)
    else:
        pictures.states(folder)


class _Maker:
    """Performs runs of one figure after another, and counts them."""

    def __init__(self, processes: int | None, tell: Tell, display: Show | None):
        self.made = Made()
        self._processes, self._tell, self._display = processes, tell, display

    def perform(
        self, config: Config, folder: Path, mine: Sequence[Run], every: Sequence[Run]
    ) -> None:
        """What is missing of `mine`, which are some of `every` run of a figure."""
        kept = sum(records.ended(folder, run) is not None for run in mine)
        if kept < len(mine):
            self._tell(f"{folder.name}: {len(mine) - kept} of {len(mine)} runs to perform")
        with nullcontext() if self._display is None or kept == len(mine) else self._display() as at:
            entries = perform_all(
                mine, folder, self._processes, at,
                title=config.title, config=config.raw, every=every,
            )  # fmt: skip
        self.made.kept += kept
        self.made.performed += len(mine) - kept
        for entry in entries:
            if entry["status"] == "failed":
                self.made.failed += 1
                self._tell(f"{entry['key']} failed: {str(entry['message']).partition(chr(10))[0]}")


def _check_kind(folder: Path, small: bool) -> None:
    """Quick and full records do not mix: a report could not tell which it shows."""
    try:
        title = str(records.manifest(folder).get("title", ""))
    except RecordsError:
        return  # nothing there yet
    if title.endswith(MARK) != small:
        has, asked = ("full", "--quick") if small else ("quick", "full records")
        raise SettingError(f"{folder} has {has} records; give {asked} another folder with --out")
