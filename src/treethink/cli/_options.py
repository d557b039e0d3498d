"""Arguments and options that several commands take, each said in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treethink.cli import _completion as completing

#: Titles in `--help`.
WORLD, LEARNER, SEARCH = "Options of the world", "Options of the learner", "Options of the search"

WorldName = Annotated[
    str,
    typer.Argument(
        metavar="WORLD",
        help="A name from `treethink worlds`, or module:name of your own.",
        autocompletion=completing.worlds,
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model, such as maze.tt.")]
Side = Annotated[
    int | None, typer.Option(metavar="N", help="Of the grid, in cells.", rich_help_panel=WORLD)
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=N",
        help="Any other option of it, as `treethink worlds` lists them; as often as needed.",
        rich_help_panel=WORLD,
        autocompletion=completing.options,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Runs at once.", show_default="one for each core"),
]
Seeds = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="So many seeds instead of the usual ones.")
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object for a program, and nothing else."),
]
