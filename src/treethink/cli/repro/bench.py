"""`treethink bench`: measure how fast TreeThink runs."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from treethink.cli._options import AsJson, Quiet
from treethink.cli._output import print_json, progress_console
from treethink.terminal import say, terminal


def bench(
    quick: Annotated[
        bool, typer.Option("--quick", help="Measure roughly, in about a minute.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Measure the speed of learning, prediction and planning.

    The paper's numbers are shown beside ours where it reports them.

    Examples:
      treethink bench --quick
      treethink bench --json > figures.json
    """
    from treethink.repro.bench import bench as benchmark

    console = terminal(width=80)
    progress = progress_console(quiet, terminal(stderr=True) if as_json else console)
    measured = benchmark.run(quick=quick, tell=lambda text: say(progress, text))
    if as_json:
        print_json("bench", **json.loads(measured.to_json()))
        return
    for table in measured.tables():
        console.print(table, highlight=False)
