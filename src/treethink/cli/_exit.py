"""How commands end: exit codes, and errors in one line.

    what a command raised -> [ ending ] -> a line on stderr, an exit code

A script can tell four cases apart, of which 0 is that all was done; docs/command-line.md lists
them for people.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from treethink.errors import RuleError, SettingError, TreeThinkError, UnknownNameError
from treethink.text import printable

#: The command was right, and yet something failed: a file, a run, a package that is not there.
FAILED = 1
#: The command itself is wrong: a name, a number, an option, or things that do not fit together.
USAGE = 2
#: Ctrl-C.
INTERRUPTED = 130

_WRONG = (SettingError, UnknownNameError, RuleError)
# What is raised for options that cannot be parsed; its name depends on the version of Typer.
_Misspelled: type[Exception] = typer.BadParameter.__mro__[1]


@contextmanager
def in_order() -> Iterator[None]:
    """Whatever a command raises ends in one of these codes; what is not ours to hide is raised."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads has had enough, and wants no message
    except (TreeThinkError, OSError) as error:
        complain(said(error))
        raise typer.Exit(USAGE if isinstance(error, _WRONG) else FAILED) from None
    except _Misspelled as error:
        complain(_usage(error))
        raise typer.Exit(USAGE) from None
    except KeyboardInterrupt:
        below = "\n" if sys.stderr.isatty() else ""  # the terminal has written ^C there
        print(f"{below}treethink: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def complain(text: str) -> None:
    """One line on stderr, whatever names are in it."""
    print(f"treethink: {printable(text)}", file=sys.stderr)


def said(error: Exception) -> str:
    """An error in words; those of the system without their numbers.

    >>> said(FileNotFoundError(2, "No such file or directory", "maze.toml"))
    'maze.toml: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _usage(error: Exception) -> str:
    """What is wrong with options or arguments, and where they are explained."""
    told = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "treethink"
    return f"{told[:1].lower()}{told[1:]}. Try '{command} --help'."
