"""Perform the runs of figures that are missing.

    names -> figures -> [ reproduce ] -> OUT/NAME/ -> report

The records of each figure are in a folder of their own. Runs that have ended are kept, so the same
command resumes where it was interrupted, and does nothing where nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from treethink.errors import RecordsError, SettingError
from treethink.repro.figures import Figure, is_quick, pictures
from treethink.repro.figures.quick import quick
from treethink.repro.runner import records
from treethink.repro.runner.config import Config, dry_run, parse_only
from treethink.repro.runner.pool import Progress, perform_all

__all__ = ["Part", "RunCounts", "experiment", "reproduce"]

Tell = Callable[[str], None]
Show = Callable[[], AbstractContextManager[Progress]]


@dataclass(frozen=True, slots=True)
class Part:
    """The share of one of several machines that split the work."""

    number: int
    of: int

    @classmethod
    def read(cls, text: str) -> Part:
        """Parse the option of the command line.

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
        """Whether the run of this number belongs to the part."""
        return index % self.of == self.number - 1


@dataclass(slots=True)
class RunCounts:
    """How many runs a call performed, kept from before, and found to have failed."""

    performed: int = 0
    kept: int = 0
    failed: int = 0


def experiment(figure: Figure, small: bool, seeds: int | None = None) -> Config | None:
    """Return a figure's config, `small` or with other `seeds`; None if it has none of its own.

    It is not checked whether it can be performed here.
    """
    if figure.config is None:
        return None
    config = parse_only(figure.config.read_text(encoding="utf-8"), figure.config.name)
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
) -> RunCounts:
    """Perform what is missing of the figures. Ctrl-C leaves checkpoints and is raised again."""
    part, counts, index = part or Part(1, 1), RunCounts(), 0
    experiments = [(figure, experiment(figure, small, seeds)) for figure in figures]
    _check(experiments, out, small)
    for figure, config in experiments:
        folder = out / figure.name
        if figure.kind == "worlds" and part.number == 1:
            pictures.states(folder)
        elif figure.kind == "trees" and config is not None and part.number == 1:
            pictures.models(config, folder, tell)
        elif figure.kind not in ("worlds", "trees") and config is not None:
            _perform(config, folder, part, index, counts, processes, tell, display)
            index += len(config.runs())
    return counts


def _perform(
    config: Config,
    folder: Path,
    part: Part,
    first: int,
    counts: RunCounts,
    processes: int | None,
    tell: Tell,
    display: Show | None,
) -> None:
    """Perform the missing runs of one figure; `first` is the number of its first run."""
    every = config.runs()
    runs = [run for i, run in enumerate(every, start=first) if part.has(i)]
    kept = sum(records.ended(folder, run) is not None for run in runs)
    left = len(runs) - kept
    if left:
        tell(f"{folder.name}: {left} of {len(runs)} runs to perform")
    with display() if display is not None and left else nullcontext() as progress:
        entries = perform_all(
            runs, folder, processes, progress, title=config.title, config=config.raw, every=every
        )
    counts.kept += kept
    counts.performed += left
    for entry in entries:
        if entry["status"] == "failed":
            counts.failed += 1
            tell(f"{entry['key']} failed: {str(entry['message']).partition(chr(10))[0]}")


def _check(experiments: Sequence[tuple[Figure, Config | None]], out: Path, small: bool) -> None:
    """Raise an error, before anything is performed, for what cannot be performed here."""
    for figure, config in experiments:
        if config is None:
            continue
        dry_run(config, f"{figure.name}.toml")
        if figure.kind != "trees":
            _check_not_mixed(out / figure.name, small)


def _check_not_mixed(folder: Path, small: bool) -> None:
    """Quick and full records do not mix: a report could not tell which it shows."""
    try:
        content = records.manifest(folder)
    except RecordsError:
        return  # nothing there yet
    if is_quick(content) != small:
        has, asked = ("full", "--quick") if small else ("quick", "full records")
        raise SettingError(f"{folder} has {has} records; give {asked} another folder with --out")
