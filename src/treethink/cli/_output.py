"""Output that commands share: exit codes, errors in one line, JSON, resumable work.

    what a command raises -> [ exit_on_error ] -> a line on stderr, an exit code

docs/command-line.md documents the exit codes and the JSON objects.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

import treethink
from treethink.cli.session.own_code import own_error_text
from treethink.errors import RuleError, SettingError, TreeThinkError, UnknownNameError
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey, Rules
from treethink.terminal import moves, say, terminal
from treethink.text import many, printable

#: The command was valid, but something failed: a file, a run, a missing package.
FAILED = 1
#: The command itself is invalid: an unknown name, a number out of range, conflicting options.
USAGE = 2
#: Ctrl-C.
INTERRUPTED = 130

_INVALID = (SettingError, UnknownNameError, RuleError)
# Raised for options that cannot be parsed; the name of this class depends on Typer's version.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

# If a signal arrives while Python writes more than its buffer holds, the rest is lost.
_PIECE = 4_096

_UNLIMITED_WIDTH = 10_000  # columns, where lines are not wrapped


# ---------------------------------------------------------------------- errors


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Turn errors of our own types and Ctrl-C into a line on stderr and an exit code.

    An error in the user's own code gets a short traceback.
    """
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our output has left and needs no message
    except _UsageError as error:
        print_error(_usage_message(error))
        raise typer.Exit(USAGE) from None
    except Exception as error:
        if (text := own_error_text(error)) is not None:
            print(f"treethink: {text}", file=sys.stderr)
            raise typer.Exit(FAILED) from None
        if not isinstance(error, TreeThinkError | OSError):
            raise  # a mistake of this package, or the end of a command
        print_error(error_message(error))
        raise typer.Exit(USAGE if isinstance(error, _INVALID) else FAILED) from None
    except KeyboardInterrupt:
        newline = "\n" if sys.stderr.isatty() else ""  # the terminal has echoed ^C
        print(f"{newline}treethink: interrupted", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """On Ctrl-C, say where partial results are and how to resume."""
    try:
        yield
    except KeyboardInterrupt:
        text = f"Partial results are in {folder}; run the same command to resume."
        print(printable(f"Interrupted. {text}"), file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


def print_error(text: str) -> None:
    """Print an error as one line on stderr, whatever names are in it."""
    print(f"treethink: {printable(text)}", file=sys.stderr)


def error_message(error: Exception) -> str:
    """Return the text of an error; for errors of the system, without their numbers.

    >>> error_message(FileNotFoundError(2, "No such file or directory", "maze.toml"))
    'maze.toml: No such file or directory'
    """
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _usage_message(error: Exception) -> str:
    """Return what is wrong with the options or arguments, and the help page to read."""
    text = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "treethink"
    return f"{text[:1].lower()}{text[1:]}. Try '{command} --help'."


def missing_argument(ctx: typer.Context, name: str) -> Exception:
    """Return the error for an argument that was not given."""
    return _UsageError(f"Missing argument '{name}'.", ctx)


def check_writable(path: Path) -> Path:
    """Return the path, or raise an error now if it could not be written after all the work."""
    # A symbolic link is followed: its target is what gets written.
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if path.is_dir():
        raise SettingError(f"cannot write to {path}: it is a folder")
    if path.exists() and not path.is_file():
        raise SettingError(f"cannot write to {path}: it is a device or a pipe, not a file")
    if not folder.is_dir():
        raise SettingError(f"cannot write to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot write to {path}: the folder {folder} is not writable")
    return path


def check_new(path: Path, force: bool) -> Path:
    """Return the path, or raise an error if it cannot be written, or exists without `force`."""
    check_writable(path)
    if path.exists() and not force:
        raise SettingError(f"{path} exists: name another file, or replace it with --force")
    return path


# ------------------------------------------------------------------------ JSON


def print_json(command: str, **fields: Any) -> None:
    """Print the object of `--json`: the command, the version, then the fields."""
    text = json.dumps({"command": command, "version": treethink.__version__, **fields})
    for start in range(0, len(text), _PIECE):
        sys.stdout.write(text[start : start + _PIECE])
    print(flush=True)  # all of it is written before anything else happens


def rules_to_json(model: TreeThink, rules: Mapping[RuleKey, Rule]) -> list[dict[str, Any]]:
    """Return what `--json` prints about rules: their summary, formula and English text."""
    summary = model.summary().rules
    return [
        {
            "rule": ".".join(key),
            **summary[key].to_dict(),
            "formula": str(rule),
            "english": rule.to_text("english"),
        }
        for key, rule in rules.items()
    ]


def learner_settings(model: TreeThink) -> dict[str, Any]:
    """Return the settings of a learner for `--json`."""
    return {"alpha": model.alpha, "criterion": model.criterion, "memory": model.memory}


# ------------------------------------------------------------------------ text


def progress_console(quiet: bool, console: Console | None = None) -> Console:
    """Return the console for progress and messages, stderr by default; silent with `--quiet`."""
    if quiet:
        return Console(quiet=True, force_terminal=False)
    return console or terminal(stderr=True)


def print_page(
    console: Console, page: Any, piped_width: int = _UNLIMITED_WIDTH, space: bool = False
) -> None:
    """Print what rich can print, after an empty line if there is to be `space`.

    Terminals that cannot move their cursor, and pipes, get plain text; in a pipe of at most
    `piped_width` columns.
    """
    if space:
        say(console, "")
    if moves(console) and console.encoding.lower().startswith("utf"):
        console.print(page, markup=False, highlight=False)
    else:
        from treethink.explain.rich_text import plain

        say(console, plain(page, console.width if moves(console) else piped_width))


def rule_counts(rules: Rules) -> str:
    """Return a sentence with the number of rules of each kind."""
    varying, changing = len(rules.varying()), len(rules.changing())
    always, rest = changing - varying, len(rules) - changing
    return "; ".join(
        [
            f"{many(varying, 'rule')} {'depends' if varying == 1 else 'depend'} on the state",
            *([f"{always:,} always {'does' if always == 1 else 'do'} the same"] if always else []),
            f"{rest:,} {'changes' if rest == 1 else 'change'} nothing or"
            f" {'was' if rest == 1 else 'were'} never observed.",
        ]
    )
