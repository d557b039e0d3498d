"""Perform the runs of figures that are missing.

    names -> figures -> [ reproduce ] -> OUT/NAME/ -> report

The records of each figure are in a folder of their own. Runs that have ended are kept, so the same
command resumes where it was interrupted, and does nothing where nothing is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from rich.table import Table
from rich.text import Text

from treethink.errors import (
    RecordsError,
    SettingError,
    TreeThinkError,
    how_to_install,
    missing_package,
)
from treethink.model import TreeThink
from treethink.repro.figures import FIGURES, QUICK, Figure, is_quick
from treethink.repro.runner import records
from treethink.repro.runner.config import Config, dry_run, parse_only
from treethink.repro.runner.pool import Progress, perform_all
from treethink.repro.runner.spec import LearnerPart, Limits, PlanPart, WorldPart
from treethink.stream.random_play import transitions
from treethink.terminal import plain_table
from treethink.worlds import draw, make

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
            draw_states(folder)
        elif figure.kind == "trees" and config is not None and part.number == 1:
            learn_models(config, folder, tell)
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


# -------------------------------------------------------------------------------------------- quick


_SEEDS, _SEEDS_OF_SLOW = 2, 1
_SLOW = {"qora": 4_000, "paper": 300}  # slow learners, with their most steps
_FEWEST_STEPS, _MOST_STEPS = 2_000, 20_000
#: For figures with networks, which are slow without a GPU, above all in planning.
_MOST_WITH_NETWORKS, _EPISODES_WITH_NETWORKS, _PLANS_WITH_NETWORKS = 2_000, 1, 3
_MOST_WORLDS = 12
_HELD_OUT, _SCORED = 500, 200
_EPISODES = 5
#: Only QORA is known to need limits.
_LIMITS = Limits(seconds=20.0, megabytes=1_000.0)


def steps(full: int, world: str = "", most: int = _MOST_STEPS) -> int:
    """Return a tenth of the steps, within bounds.

    In `scale` it is a third: the figure is about how the time of learning grows, so all of it must
    be learned.

    >>> [steps(each) for each in (1_000, 10_000, 150_000, 1_000_000)]
    [1000, 2000, 15000, 20000]
    >>> steps(60_000, "scale(6,10)"), steps(63_000, "scale(7,9)")
    (20000, 21000)
    """
    if world.startswith("scale("):
        return min(full, max(_FEWEST_STEPS, full // 3))
    return min(full, max(_FEWEST_STEPS, min(most, full // 10)))


def quick(config: Config) -> Config:
    """Return the small version of an experiment."""
    networks = any(each.name == "npe" for each in config.learners)
    most = _MOST_WITH_NETWORKS if networks else _MOST_STEPS
    # One seed is enough for a sweep over many worlds, and where several episodes are played.
    many = len(config.worlds) > _MOST_WORLDS or config.score > 0
    one = many or bool(config.plans) or networks
    small = replace(
        config,
        title=f"{config.title} {QUICK}",
        worlds=tuple(_world(each, config.steps, most) for each in config.worlds[:_MOST_WORLDS]),
        learners=tuple(_learner(each) for each in config.learners),
        seeds=config.seeds[: 1 if one else _SEEDS],
        steps=None if config.steps is None else steps(config.steps, most=most),
        window=None if config.window is None else _window(steps(config.steps or 0, most=most)),
        examine=min(config.examine, _HELD_OUT),
        score=min(config.score, _SCORED),
        limits=_LIMITS if any(each.name == "qora" for each in config.learners) else Limits(),
        plans=tuple(
            _plan(each, steps(config.steps or 0, most=most), networks)
            for each in config.plans[: _PLANS_WITH_NETWORKS if networks else None]
        ),
    )
    return replace(small, raw=small.to_dict())


def _window(whole: int) -> int:
    """Return a fiftieth of the steps, but at least an episode: a network trains once in each."""
    return max(50, whole // 50)


def _world(part: WorldPart, all_steps: int | None, most: int) -> WorldPart:
    full = part.steps or all_steps or 0
    transfer = part.transfer
    if transfer is not None:
        every = max(1, steps(full, most=most) // 4)
        transfer = replace(transfer, every=every, steps=min(20, transfer.steps))
    return replace(part, steps=steps(full, part.name, most), transfer=transfer)


def _plan(part: PlanPart, of: int, networks: bool) -> PlanPart:
    """Return fewer episodes; with `every`, they are played before, halfway and after."""
    episodes = _EPISODES_WITH_NETWORKS if networks else _EPISODES
    every = None if part.every is None else max(1, of // 2)
    return replace(part, episodes=min(episodes, part.episodes), every=every)


def _learner(part: LearnerPart) -> LearnerPart:
    most = _SLOW.get(part.name)
    if most is None:
        return replace(part, steps=None if part.steps is None else steps(part.steps))
    own = most if part.steps is None else min(most, part.steps)
    return replace(part, steps=own, seeds=(part.seeds or (0,))[:_SEEDS_OF_SLOW])


# -------------------------------------------------------------------------------- models and states


#: The worlds of the paper's figures.
STATES = (
    "walls", "doors", "fish", "gates", "maze", "maze-t", "coins", "coins-t", "keys", "keys-t",
    "lights", "switches", "scale(1,1)", "scale(2,2)", "scale(4,4)", "scale(8,8)",
)  # fmt: skip
_CELL, _SMALL_CELL = 24, 12


def learn_models(config: Config, folder: Path, tell: Tell) -> None:
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


def draw_states(folder: Path) -> None:
    """Draw one state of each world as a PNG file."""
    try:
        from matplotlib.image import imsave
    except ImportError as error:
        raise missing_package("pictures need matplotlib", "experiments") from error
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(STATES):
        world = make(name)
        cell = _SMALL_CELL if name.endswith("-t") else _CELL
        # Numbered, so that they are listed in the paper's order.
        plain = name.replace("(", "-").replace(",", "-").replace(")", "")
        path = folder / f"{number:02}-{plain}.png"
        pixels = draw.rgb_array(world, world.reset(seed=0), cell=cell)
        imsave(path, pixels, format="png", metadata={"Software": "treethink"})


# --------------------------------------------------------------------------------- list of figures
#
# `treethink reproduce --list`: all figures, with their numbers of runs and their times.

#: Figures of the paper that show no data, and what they are.
DRAWINGS = {
    1: "a transition in keys, with its objects",
    2: "a rule as a tree and as code",
    6: "objects as people and as learners see them",
    21: "the architecture of the NPE",
}


def listing(small: bool = False) -> Table:
    """Return a row for each figure; with `small`, for `reproduce --quick`."""
    table = plain_table(
        *_columns(small), caption=Text(_caption()), caption_justify="left", caption_style=""
    )
    table.columns[0].no_wrap = True  # names are to be typed
    table.columns[1].overflow = "fold"
    table.columns[3].max_width = 9
    table.columns[4].max_width = 13
    for row in _rows(small):
        table.add_row(*row)
    return table


def narrow(small: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the same for narrow terminals: the name of each figure, and its description."""
    *_, runs, time = _columns(small)
    for name, title, paper, *costs in _rows(small):
        listed = [f"{label}: {each}" for label, each in zip((runs, time), costs, strict=True)]
        yield name, "; ".join(filter(None, [title, paper, *listed]))
    yield "", _caption()


def _columns(small: bool) -> tuple[str, ...]:
    quick = f" {QUICK}" if small else ""
    return "figure", "what it shows", "in the paper", f"runs{quick}", f"core-minutes{quick}"


def _rows(small: bool) -> list[tuple[str, ...]]:
    rows = [(each.name, each.title, each.paper, *cost(each, small)) for each in FIGURES.values()]
    every = sum(number_of_runs(each, small) for each in FIGURES.values())
    return [*rows, ("all", "all of these", "", f"{every:,}", _total_minutes(small))]


def _caption() -> str:
    return f"{_not_made()} {_networks()}"


def _total_minutes(small: bool) -> str:
    """Return the time of all figures; times on a GPU are apart."""
    core, gpu = (
        sum(minutes(each, small) for each in FIGURES.values() if on_gpu == each.networks)
        for on_gpu in (False, True)
    )
    return f"about {core + gpu:.0f}" if small else f"about {core:.0f}, and {gpu:.0f} on a GPU"


def _not_made() -> str:
    drawn = ", ".join(f"{number} ({what})" for number, what in DRAWINGS.items())
    return f"Not made, as they are drawings without data: Figs. {drawn}."


def _networks() -> str:
    names = " and ".join(name for name, each in FIGURES.items() if each.networks)
    return f"{names} need PyTorch ({how_to_install('neural')}) and, but for --quick, want a GPU."


def cost(figure: Figure, small: bool = False) -> tuple[str, str]:
    """Return the number of runs and the minutes of a figure, as text."""
    if figure.parts:
        return "those of its parts", "–"
    runs = number_of_runs(figure, small)
    time = minutes(figure, small)
    rough = "under 1" if time < 1 else f"about {time:.0f}"
    shown = rough if small else f"{time:g}, on a GPU" if figure.networks else f"{time:g}"
    return f"{runs:,}" if runs else "–", shown


def number_of_runs(figure: Figure, small: bool) -> int:
    """Return how many runs a figure has of its own; models whose trees are drawn do not count."""
    config = None if figure.kind == "trees" else experiment(figure, small)
    return 0 if config is None else len(config.runs())


def minutes(figure: Figure, small: bool) -> float:
    """Return the minutes of a figure; for a small version, estimated from its predictions."""
    if small and figure.quick is not None:
        return figure.quick
    full, less = experiment(figure, small=False), experiment(figure, small=True)
    if not small or full is None or less is None:
        return figure.minutes
    small_size, full_size = (sum(run.n_predictions for run in each.runs()) for each in (less, full))
    return figure.minutes * small_size / full_size
