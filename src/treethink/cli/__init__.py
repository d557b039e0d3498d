"""The command `treethink`.

    cli/learning.py (learn), reading.py (rules), explaining.py (explain), editing.py (edit),
    looking.py (worlds, play),
    planning.py (plan), measuring.py (run, report, bench), reproducing.py (reproduce)

Commands only put the parts together; what they do is done elsewhere, and imported when they
do it, if it is not needed by most. An error of our own types is one line on stderr; `ending.py` has
the exit codes.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import treethink
from treethink.cli import edit as editing
from treethink.cli import explain as explaining
from treethink.cli import learn as learning
from treethink.cli import plan as planning
from treethink.cli import reproduce as reproducing
from treethink.cli import rules as reading
from treethink.cli import run as measuring
from treethink.cli import worlds as looking
from treethink.cli._help import Command, Commands

app = typer.Typer(
    name="treethink",
    cls=Commands,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help is laid out by helping.py, and errors are plain text
    context_settings={"help_option_names": ["--help", "-h"]},
)

for command in (
    learning.learn,
    reading.rules,
    explaining.explain,
    editing.edit,
    looking.worlds,
    looking.play,
    planning.plan,
    measuring.run,
    reproducing.reproduce,
    measuring.report,
    measuring.bench,
):
    app.command(cls=Command)(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # rather a `?` for an `∃` than no rule at all
    app(arguments, prog_name="treethink")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"treethink {treethink.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    """Watch any world made of objects; get back an exact, readable program of how it works.

    Each command says more, with examples: treethink learn --help. Exit codes: 0, all is well; 1,
    something failed; 2, the command is wrong; 130, Ctrl-C.

    Examples:
      treethink worlds                     # what there is to learn
      treethink learn maze                 # learn a world, live; saves maze.tt
      treethink rules maze.tt              # what was learned
      treethink play maze --model maze.tt  # walk around; see what it predicts
      treethink plan maze --model maze.tt  # let it play by looking ahead
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())
