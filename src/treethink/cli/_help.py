"""What `--help` shows: usage, what a command does, what it takes, and examples.

    a command, its parameters -> [ helping ] -> a page of at most 100 columns

A command's docstring is its help. What follows `Examples:` in it is shown as it stands there,
and the tests run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from treethink.cli._exit import in_order
from treethink.errors import UnknownNameError
from treethink.terminal import terminal

_WIDEST = 100
_EXAMPLES = "Examples:\n"


class Command(TyperCommand):
    """A command whose help is a page of ours."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_shown(_page(self, ctx)))


class Commands(TyperGroup):
    """All commands: their list is help too, and each of them ends in order."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_shown(_page(self, ctx)))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)  # in our order, not by the alphabet

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise UnknownNameError("command", args[0], self.commands, "treethink")
        return super().resolve_command(ctx, args)

    def make_context(self, *given: Any, **extra: Any) -> Any:
        with in_order():
            return super().make_context(*given, **extra)

    def invoke(self, ctx: Any) -> Any:
        with in_order():
            return super().invoke(ctx)


def _shown(parts: Iterator[RenderableType]) -> str:
    console = terminal()
    console.width = min(console.width, _WIDEST)
    with console.capture() as captured:
        for part in parts:
            console.print(part, markup=False, highlight=False)
    # Columns are filled up with blanks, which nobody needs.
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _page(command: Any, ctx: Any) -> Iterator[RenderableType]:
    about, _, examples = (command.help or "").partition(_EXAMPLES)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    yield Text("Usage: ", "heading", end="") + Text(_usage(command, ctx, arguments), "default")
    for paragraph in about.strip().split("\n\n"):
        yield Text("\n" + " ".join(paragraph.split()))
    if arguments:
        yield from _section("Arguments", [(_name(each), _told(each)) for each in arguments])
    if isinstance(command, TyperGroup):
        listed = [(name, _first_line(each)) for name, each in command.commands.items()]
        yield from _section("Commands", listed)
    for title, options in _panels(command, ctx).items():
        yield from _section(title, [(_name(each), _told(each)) for each in options])
    if examples:
        yield Text("\nExamples", "heading")
        yield Text("\n").join(map(_example, examples.rstrip().splitlines()))


def _usage(command: Any, ctx: Any, arguments: Sequence[Any]) -> str:
    names = [_name(each) if each.required else f"[{_name(each)}]" for each in arguments]
    if isinstance(command, TyperGroup):
        names = ["COMMAND"]
    return " ".join([ctx.command_path, *names, "[OPTIONS]"])


def _panels(command: Any, ctx: Any) -> dict[str, list[Any]]:
    """Options by the title under which they stand, those of the command itself first."""
    panels: dict[str, list[Any]] = {"Options": []}
    for each in command.get_params(ctx):
        if each.param_type_name == "option" and not each.hidden:
            title = getattr(each, "rich_help_panel", None) or "Options"  # `--help` may have none
            panels.setdefault(title, []).append(each)
    return panels


def _section(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    yield Text(f"\n{title}", "heading")
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="name", no_wrap=True)
    table.add_column(overflow="fold")
    for name, said in rows:
        table.add_row(Text(name), Text(said))
    yield table


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    return " ".join(
        [", ".join(sorted(parameter.opts, key=len)), *filter(None, [parameter.metavar])]
    )


def _told(parameter: Any) -> str:
    """Its help, and what it is if nothing is said."""
    default = parameter.default if parameter.show_default is True else parameter.show_default
    if parameter.param_type_name == "option" and parameter.required:
        return f"{parameter.help} (required)"
    said = default is not None and default is not False
    return f"{parameter.help or ''}{f' [{default}]' if said else ''}"


def _first_line(command: Any) -> str:
    return str(command.help or "").partition("\n")[0]


def _example(line: str) -> Text:
    command, sign, comment = line.partition("  #")
    return Text(command) + Text(sign + comment, "quiet")
