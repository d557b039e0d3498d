"""How commands end: exit codes, and errors in one line.

    what a command raised -> [ ending ] -> a line on stderr, an exit code

A script can tell four cases apart; docs/command-line.md lists them for people.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from treethink.errors import RuleError, SettingError, TreeThinkError, UnknownNameError

#: All was done.
FINE = 0
#: The command was right, and yet something failed: a file, a run, a package that is not there.
FAILED = 1
#: The command itself is wrong: a name, a number, an option, or things that do not fit together.
USAGE = 2
#: Ctrl-C. What there was is saved.
INTERRUPTED = 130


@contextmanager
def in_order() -> Iterator[None]:
    """Whatever a command raises ends in one of these codes; what is not ours to hide is raised."""
    try:
        yield
    except (TreeThinkError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise  # whoever reads has had enough, and wants no message
        print(f"treethink: {error}", file=sys.stderr)
        wrong = isinstance(error, SettingError | UnknownNameError | RuleError)
        raise typer.Exit(USAGE if wrong else FAILED) from None
    except KeyboardInterrupt:
        below = "\n" if sys.stderr.isatty() else ""  # the terminal has written ^C there
        print(f"{below}treethink: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
