"""`treethink reproduce`: the paper's figures and tables."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink.cli import _completion as completing
from treethink.cli import run as measuring
from treethink.cli._exit import FAILED
from treethink.cli._options import AsJson, Processes, Seeds
from treethink.cli._output import tell
from treethink.repro.figures import FIGURES, Figure, chosen, left_out
from treethink.terminal import moves, say, say_wrapped, terminal

_ROOM_FOR_A_TABLE = 76  # columns


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE...",
            help="Names from --list, or `all`.",
            show_default=False,
            autocompletion=completing.figures,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="What there is, and what it takes.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version of everything, in minutes.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where it goes.", show_default="reproduced[-quick]"),
    ] = None,
    processes: Processes = None,
    seeds: Seeds = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only this share, of machines that split it.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make figures and tables of the paper, and a report.

    Ctrl-C stops it, and loses nothing: the same command goes on.

    Examples:
      treethink reproduce --list
      treethink reproduce walls maze --quick  # fewer steps and seeds
      treethink reproduce all --processes 8
      treethink reproduce all --part 1/3      # on the first of three machines
    """
    if list_ or not figure:
        _list(quick, as_json)
        return
    from treethink.repro.figures.reproduce import Part
    from treethink.repro.figures.reproduce import reproduce as make_all
    from treethink.repro.report import write
    from treethink.repro.runner.convergence import counted
    from treethink.repro.runner.progress import Display

    errors = terminal(stderr=True)
    telling = errors if as_json else terminal()
    wanted = chosen(figure)
    _warn(telling, figure, wanted, quick)
    share = None if part is None else Part.read(part)
    folder = out or Path("reproduced-quick" if quick else "reproduced")
    with measuring.interruptible(folder):
        made = make_all(
            wanted, folder, small=quick, processes=processes, seeds=seeds, part=share,
            tell=lambda text: say(errors, text), display=lambda: Display(errors),
        )  # fmt: skip
        performed = counted(made.performed, "run")
        say(telling, f"{performed} performed, {made.kept:,} kept from before; in {folder}")
        if share is not None:
            say(telling, "copy the folders of all parts into one; there, run it without --part")
        elif not as_json:
            measuring.report(folder)
        if as_json:
            page = None if share is not None else str(write(folder))
            tell("reproduce", folder=str(folder), page=page, **asdict(made))
    if made.failed:
        raise typer.Exit(FAILED)


def _warn(console: Console, names: list[str], wanted: list[Figure], quick: bool) -> None:
    """What will not be made, and what will take very long."""
    if missing := ", ".join(each.name for each in left_out(names)):
        say(console, f"left out, for want of PyTorch (pip install 'treethink[neural]'): {missing}")
    if not quick and (slow := ", ".join(each.name for each in wanted if each.lacks_gpu)):
        say(console, f"{slow}: without a GPU, a run of the largest network takes some ten hours")


def _show_list(console: Console, quick: bool) -> None:
    from treethink.repro.figures.listing import listing, narrow

    if not moves(console) or console.width >= _ROOM_FOR_A_TABLE:
        console.print(listing(quick), markup=False, highlight=False)
        return
    for name, told in narrow(quick):
        say(console, name, "name")
        say_wrapped(console, told, indent="  " if name else "")


def _list(quick: bool, as_json: bool) -> None:
    from treethink.repro.figures.listing import minutes, number_of_runs

    if not as_json:
        _show_list(terminal(width=120), quick)
        return
    told = [
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
    tell("reproduce", figures=told)
