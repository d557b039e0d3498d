"""The command `treethink`.

    cli/learning.py (learn), reading.py (rules), explaining.py (explain), looking.py (worlds, play),
    planning.py (plan), measuring.py (the rest)

Commands only put the parts together; what they do is done elsewhere. An error of our own
types is one line on stderr and exit code 2.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

import treethink
from treethink.cli import explaining, learning, looking, measuring, planning, reading
from treethink.errors import TreeThinkError

app = typer.Typer(
    name="treethink",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watch any world made of objects; get back an exact, readable program of how it works.",
)

for command in (
    learning.learn,
    reading.rules,
    explaining.explain,
    looking.worlds,
    looking.play,
    planning.plan,
    measuring.run,
    measuring.reproduce,
    measuring.report,
    measuring.bench,
):
    app.command()(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # rather a `?` for an `∃` than no rule at all
    try:
        app(arguments)
    except (TreeThinkError, OSError) as error:
        print(f"treethink: {error}", file=sys.stderr)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"treethink {treethink.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    pass
