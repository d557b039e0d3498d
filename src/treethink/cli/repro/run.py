"""`treethink run`: run an experiment that a config file describes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import AsJson, NoPlugins, Processes, Quiet, Seeds, plugins_allowed
from treethink.cli._output import FAILED, print_json, progress_console, resumable
from treethink.terminal import say, terminal


def run(
    config: Annotated[
        Path,
        typer.Argument(metavar="CONFIG", help="A config file, such as experiments/example.toml."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the records.", show_default="runs/CONFIG"),
    ] = None,
    processes: Processes = None,
    seeds: Seeds = None,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment: learners in worlds, over several seeds.

    Ctrl-C stops it without losing results; run the same command to resume.

    Examples:
      treethink run experiments/example.toml
      treethink run experiments/example.toml --out elsewhere --seeds 10
      treethink run experiments/example.toml --json | jq '.runs[].last_error'
    """
    from treethink.repro.runner import config as configs
    from treethink.repro.runner.pool import perform_all
    from treethink.repro.runner.progress import Display, table

    if not config.exists():  # a missing file is a failure, not an invalid command
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(config))
    with plugins_allowed(not no_plugins):
        experiment = configs.load(config)
    if seeds is not None:
        experiment = experiment.with_seeds(seeds)
    folder = out or Path("runs") / config.stem
    with resumable(folder), Display(progress_console(quiet)) as display:
        entries = perform_all(
            experiment.runs(), folder, processes, display,
            title=experiment.title, config=experiment.raw,
        )  # fmt: skip
    failed = [each for each in entries if each["status"] == "failed"]
    if as_json:
        print_json("run", folder=str(folder), failed=len(failed), runs=entries)
    else:
        console = terminal()
        console.print(table(entries), markup=False, highlight=False)
        for each in failed:
            say(console, f"{each['key']} failed: {each['message'].splitlines()[0]}")
        say(console, f"records in {folder}")
    if failed:
        raise typer.Exit(FAILED)
