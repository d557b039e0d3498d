"""`treethink schema`: guess the schema of a log, say why, and write it to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import AsJson, Quiet
from treethink.cli._output import check_writable, print_json
from treethink.cli.session.report import command_line
from treethink.errors import SettingError
from treethink.logs import guess_schema, write_schema
from treethink.terminal import say, say_wrapped, terminal


def schema(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="A log: a .csv or .jsonl file.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write the schema to.")] = Path(
        "schema.toml"
    ),
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME",
            help="Say what a column is for: episode, step, action, reward, terminated, id or class."
            " Repeatable.",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Guess the schema of a log, say why, and write it to a file.

    The file can be edited, and used with --schema. A file that exists is not replaced.

    Examples:
      treethink schema elevator.csv                 # writes schema.toml
      treethink schema elevator.csv --out lift.toml
      treethink schema washing.csv --column action=button --out washing.toml
      treethink schema vending.jsonl --out vending.toml --json | jq .notes
    """
    guess = guess_schema(log, _columns(column or ()))
    write_schema(guess, check_writable(out))
    if as_json:
        print_json(
            "schema",
            log=str(log),
            schema=guess.schema.to_dict(),
            notes=list(guess.notes),
            problems=list(guess.problems),
            saved=str(out),
        )
        return
    console = terminal()
    if not quiet:
        for note in guess.notes:
            say_wrapped(console, note)
    for problem in guess.problems:
        say_wrapped(console, f"ignored: {problem}", style="not learned")
    say(console, f"written to {out}")
    if not quiet:
        command = command_line("learn", "--log", str(log), "--schema", str(out))
        say(console, f"\nEdit it where the guess is wrong, and learn with: {command}")


def _columns(pairs: Sequence[str]) -> dict[str, str]:
    """Return the columns of `--column`, by their roles."""
    columns = {}
    for pair in pairs:
        role, equals, name = pair.partition("=")
        if not equals:
            raise SettingError(f"--column takes ROLE=NAME, such as action=button, got {pair!r}")
        columns[role.strip()] = name.strip()
    return columns
