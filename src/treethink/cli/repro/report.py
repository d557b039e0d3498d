"""`treethink report`: write a report from the records of experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import AsJson
from treethink.cli._output import check_writable, print_json
from treethink.terminal import say, terminal


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Records of `run` or `reproduce`.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Output folder.", show_default="FOLDER/report"),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File for the report in Markdown.",
            show_default="FOLDER/report/results.md",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a report with tables, plots and verdicts from records.

    For records of the paper's figures, the report judges each claim of the paper. No experiment is
    run.

    Examples:
      treethink report runs/example
      treethink report reproduced --out docs/results --markdown docs/results.md
    """
    from treethink.repro.report import write

    page = write(folder, out, None if markdown is None else check_writable(markdown))
    if as_json:
        print_json("report", page=str(page), markdown=str(markdown or page.parent / "results.md"))
    else:
        say(terminal(), f"report written to {page}")
