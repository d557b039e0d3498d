"""`treethink reproduce`: reproduce the paper's figures and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from treethink.cli._options import AsJson, Processes, Quiet, Seeds, complete_names
from treethink.cli._output import FAILED, print_json, progress_console, resumable
from treethink.cli.repro import report
from treethink.errors import how_to_install
from treethink.terminal import moves, say, say_wrapped, terminal
from treethink.text import many

if TYPE_CHECKING:
    from treethink.repro.figures import Figure

_MIN_TABLE_WIDTH = 76  # columns


def _figure_titles() -> dict[str, str]:
    from treethink.repro.figures import FIGURES

    return {"all": "all figures", **{name: each.title for name, each in FIGURES.items()}}


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE...",
            help="Names listed by --list, or `all`.",
            show_default=False,
            autocompletion=complete_names(_figure_titles),
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the figures, with their runs and computing time.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Make a small version of everything, in minutes.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Output folder.", show_default="reproduced[-quick]"),
    ] = None,
    processes: Processes = None,
    seeds: Seeds = None,
    part: Annotated[
        str | None,
        typer.Option(
            metavar="K/N", help="Do only part K of N, to share the work between machines."
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce figures and tables of the paper, and write a report.

    Ctrl-C stops it without losing results; run the same command to resume.

    Examples:
      treethink reproduce --list
      treethink reproduce walls maze --quick  # fewer steps and seeds
      treethink reproduce all --processes 8
      treethink reproduce all --part 1/3      # on the first of three machines
    """
    if list_ or not figure:
        _list_figures(quick, as_json)
        return
    from treethink.repro.figures import chosen
    from treethink.repro.figures.reproduce import Part
    from treethink.repro.figures.reproduce import reproduce as make_figures
    from treethink.repro.report import write
    from treethink.repro.runner.progress import Display

    errors = progress_console(quiet)
    console = terminal(stderr=True) if as_json else terminal()
    figures = chosen(figure)
    _warn(progress_console(quiet, console), figure, figures, quick)
    share = None if part is None else Part.read(part)
    folder = out or Path("reproduced-quick" if quick else "reproduced")
    with resumable(folder):
        result = make_figures(
            figures, folder, small=quick, processes=processes, seeds=seeds, part=share,
            tell=lambda text: say(errors, text), display=lambda: Display(errors),
        )  # fmt: skip
        performed = f"{many(result.performed, 'run')} performed"
        say(console, f"{performed}, {result.kept:,} kept from before; records in {folder}")
        if share is not None:
            text = "Copy the folders of all parts into one folder, and run the same command there"
            say(console, f"{text} without --part.")
        elif not as_json:
            report.report(folder)
        if as_json:
            page = None if share is not None else str(write(folder))
            print_json("reproduce", folder=str(folder), page=page, **asdict(result))
    if result.failed:
        raise typer.Exit(FAILED)


def _warn(console: Console, names: list[str], figures: Sequence[Figure], quick: bool) -> None:
    """Warn about figures that are skipped, and about those that take very long."""
    from treethink.repro.figures import left_out

    if skipped := left_out(names):
        extras = dict.fromkeys(extra for each in skipped for extra in each.missing_extras)
        advice = how_to_install(",".join(extras))
        listed = ", ".join(each.name for each in skipped)
        say(console, f"skipped because packages are not installed ({advice}): {listed}")
    if not quick and (slow := ", ".join(each.name for each in figures if each.lacks_gpu)):
        say(console, f"{slow}: without a GPU, a run of the largest network takes about ten hours")


def _list_figures(quick: bool, as_json: bool) -> None:
    from treethink.repro.figures import FIGURES
    from treethink.repro.figures.reproduce import minutes, number_of_runs

    if not as_json:
        _print_list(terminal(width=80), quick)
        return
    entries = [
        {
            "name": each.name,
            "title": each.title,
            "paper": each.paper,
            "runs": number_of_runs(each, quick),
            "minutes": minutes(each, quick),
            "parts": each.parts,
        }
        for each in FIGURES.values()
    ]
    print_json("reproduce", figures=entries)


def _print_list(console: Console, quick: bool) -> None:
    from treethink.repro.figures.reproduce import listing, narrow

    if not moves(console) or console.width >= _MIN_TABLE_WIDTH:
        console.print(listing(quick), markup=False, highlight=False)
        return
    for name, text in narrow(quick):
        say(console, name, "name")
        say_wrapped(console, text, indent="  " if name else "")
