"""The command line, `treethink`: one module per command, named after it.

    arguments -> [ main ] -> the function of a command -> text or JSON, an exit code

Commands parse their options, call the rest of the package and print the result. Modules that few
commands need are imported inside the commands, so that `treethink` starts quickly. `_options`
holds the options that several commands share, `_output` errors, exit codes and JSON; `repro` are
the commands of experiments; `session` is what is shown around a result: help pages, live learning.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import treethink
from treethink.cli import (
    check,
    diff,
    doctor,
    doubts,
    edit,
    explain,
    export,
    learn,
    plan,
    play,
    rules,
    schema,
    summary,
    worlds,
)
from treethink.cli.repro import bench, report, reproduce, run
from treethink.cli.session.help_page import Command, CommandGroup

app = typer.Typer(
    name="treethink",
    cls=CommandGroup,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help_page.py lays out the help, and errors are plain text
    context_settings={"help_option_names": ["--help", "-h"]},
)

for command in (
    learn.learn,
    schema.schema,
    rules.rules,
    explain.explain,
    check.check,
    doubts.doubts,
    summary.summary,
    diff.diff,
    export.export,
    edit.edit,
    worlds.worlds,
    play.play,
    plan.plan,
    run.run,
    reproduce.reproduce,
    report.report,
    bench.bench,
    doctor.doctor,
):
    app.command(cls=Command)(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # print `?` instead of failing on an `∃`
    app(arguments, prog_name="treethink")


def _print_version(requested: bool) -> None:
    if requested:
        print(f"treethink {treethink.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _main_options(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Learn exact, readable rules of a world made of objects by observing it.

    Each command has a help page with examples, such as treethink learn --help. Exit codes: 0
    success, 1 failure, 2 invalid command, 130 interrupted by Ctrl-C.

    Examples:
      treethink worlds                     # list the available worlds
      treethink learn maze                 # learn a world; saves maze.tt
      treethink rules maze.tt              # print the learned rules
      treethink play maze maze.tt  # play it and compare predictions
      treethink plan maze maze.tt  # play it by planning with the model
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())
