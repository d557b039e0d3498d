"""`treethink run`, `report` and `bench`: what can be measured.

What they need is imported when they run: not all who learn have it.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._exit import FAILED, INTERRUPTED
from treethink.cli._options import AsJson, Processes, Seeds
from treethink.cli._output import look_here, tell, writable
from treethink.terminal import say, terminal
from treethink.text import printable


def run(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="A file such as experiments/example.toml.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the records go.", show_default="runs/CONFIG"),
    ] = None,
    processes: Processes = None,
    seeds: Seeds = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment: learners in worlds, over seeds.

    Ctrl-C stops it, and loses nothing: the same command goes on.

    Examples:
      treethink run experiments/example.toml
      treethink run experiments/example.toml --out elsewhere --seeds 10
      treethink run experiments/example.toml --json | jq '.runs[].last_error'
    """
    from treethink.repro.runner import config as configs
    from treethink.repro.runner.pool import perform_all
    from treethink.repro.runner.progress import Display, table

    look_here()
    if not config.exists():  # a file that is missing is no wrong command
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(config))
    asked = configs.load(config)
    asked = asked if seeds is None else asked.with_seeds(seeds)
    runs, folder = asked.runs(), out or Path("runs") / config.stem
    with interruptible(folder), Display(terminal(stderr=True)) as display:
        ended = perform_all(runs, folder, processes, display, title=asked.title, config=asked.raw)
    failed = [each for each in ended if each["status"] == "failed"]
    if as_json:
        tell("run", folder=str(folder), failed=len(failed), runs=ended)
    else:
        console = terminal(width=120)
        console.print(table(ended), markup=False, highlight=False)
        for each in failed:
            say(console, f"{each['key']} failed: {each['message'].splitlines()[0]}")
        say(console, f"records in {folder}")
    if failed:
        raise typer.Exit(FAILED)


def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Records of `run` or `reproduce`.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where it goes.", show_default="FOLDER/report"),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The same as Markdown.", show_default="FOLDER/report/results.md"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make tables, plots and verdicts from records alone.

    Where the records are of figures of the paper, each of its claims is judged.

    Examples:
      treethink report runs/example
      treethink report reproduced --out docs/results --markdown docs/results.md
    """
    from treethink.repro.report import write

    page = write(folder, out, None if markdown is None else writable(markdown))
    if as_json:
        tell("report", page=str(page), markdown=str(markdown or page.parent / "results.md"))
    else:
        say(terminal(), f"the report is {page}")


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    """Ctrl-C loses nothing, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        told = f"interrupted; what there is is in {folder}: the same command goes on"
        print(printable(told), file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Rough figures, in a minute.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure how fast every path runs.

    The paper's figures stand beside ours, where it has them.

    Examples:
      treethink bench --quick
      treethink bench --json > figures.json
    """
    from treethink.repro.bench import bench as benchmark

    console = terminal(width=140)
    telling = terminal(stderr=True) if as_json else console
    measured = benchmark.run(quick=quick, tell=lambda text: say(telling, text))
    if as_json:
        tell("bench", **json.loads(measured.to_json()))
        return
    for table in measured.tables():
        console.print(table, highlight=False)
