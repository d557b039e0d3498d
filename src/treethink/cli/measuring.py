"""`treethink run`, `reproduce`, `report` and `bench`: what can be measured.

What they need is imported when they run: not all who learn have it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink import bench as benchmark
from treethink.cli.shared import INTERRUPTED, Processes, look_here, wide_console, writable
from treethink.terminal import say


def run(
    config: Annotated[Path, typer.Argument(help="A file such as experiments/example.toml.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the records.", show_default="runs/NAME")
    ] = None,
    processes: Processes = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many, instead of the config's.")
    ] = None,
) -> None:
    """Run an experiment: learners in worlds, over seeds. Ctrl-C stops it; again goes on."""
    from treethink.experiment import config as configs
    from treethink.experiment.pool import perform_all
    from treethink.experiment.progress import Display
    from treethink.experiment.table import table

    look_here()
    asked = configs.load(config)
    asked = asked if seeds is None else asked.with_seeds(seeds)
    runs, folder = asked.runs(), out or Path("runs") / config.stem
    with _interruptible(folder), Display(Console(stderr=True)) as display:
        ended = perform_all(runs, folder, processes, display, title=asked.title, config=asked.raw)
    console = wide_console()
    console.print(table(ended), markup=False, highlight=False)
    failed = [each for each in ended if each["status"] == "failed"]
    for each in failed:
        say(console, f"{each['key']} failed: {each['message'].splitlines()[0]}")
    say(console, f"records in {folder}")
    if failed:
        raise typer.Exit(1)


def reproduce(
    figure: Annotated[
        list[str] | None, typer.Argument(help="Names from --list, or `all`.", show_default=False)
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="What there is, and what it takes.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version of everything, in minutes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where it goes.", show_default="reproduced[-quick]")
    ] = None,
    processes: Processes = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many, instead of each figure's own.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only this share, of machines that split it.")
    ] = None,
) -> None:
    """Make figures and tables of the paper, and a report. Ctrl-C stops it; again goes on."""
    from treethink import figures
    from treethink.experiment.progress import Display
    from treethink.experiment.settled import counted
    from treethink.figures.listing import listing
    from treethink.figures.reproduce import Part
    from treethink.figures.reproduce import reproduce as make_all

    console = wide_console()
    if list_ or not figure:
        console.print(listing(quick), markup=False, highlight=False)
        return
    wanted = figures.chosen(figure)
    if missing := ", ".join(each.name for each in figures.left_out(figure)):
        say(console, f"left out, for want of PyTorch (pip install 'treethink[neural]'): {missing}")
    if not quick and (slow := ", ".join(each.name for each in wanted if each.lacks_gpu)):
        say(console, f"{slow}: without a GPU, a run of the largest network takes some ten hours")
    share = None if part is None else Part.read(part)
    folder = out or Path("reproduced-quick" if quick else "reproduced")
    errors = Console(stderr=True)
    with _interruptible(folder):
        made = make_all(
            wanted, folder, small=quick, processes=processes, seeds=seeds, part=share,
            tell=lambda text: say(errors, text), display=lambda: Display(errors),
        )  # fmt: skip
    performed = counted(made.performed, "run")
    say(console, f"{performed} performed, {made.kept:,} kept from before; in {folder}")
    if share is not None:
        say(console, "copy the folders of all parts into one; there, run it without --part")
    else:
        with _interruptible(folder):
            report(folder)
    if made.failed:
        raise typer.Exit(1)


def report(
    folder: Annotated[Path, typer.Argument(help="Records of `run` or `reproduce`.")],
    out: Annotated[
        Path | None, typer.Option(help="Where it goes.", show_default="FOLDER/report")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The same as Markdown.", show_default="FOLDER/report/results.md"
        ),
    ] = None,
) -> None:
    """Tables, plots and verdicts on the paper's claims, from records alone."""
    from treethink.report import write

    text = None if markdown is None else writable(markdown)
    say(Console(), f"the report is {write(folder, out, text)}")


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Ctrl-C loses nothing, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        told = f"interrupted; what there is is in {folder}: the same command goes on"
        print(told, file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Rough figures in seconds.")] = False,
    json: Annotated[Path | None, typer.Option(help="Also write the figures there.")] = None,
) -> None:
    """How fast every path runs, beside the paper's figures."""
    path = None if json is None else writable(json)
    console = wide_console(140)
    report = benchmark.run(quick=quick, tell=lambda text: say(console, text))
    for table in report.tables():
        console.print(table, highlight=False)
    if path is not None:
        path.write_text(report.to_json())
        say(console, f"written to {path}")
