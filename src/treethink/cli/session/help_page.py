"""The help pages: usage, description, arguments, options and examples of a command.

    a command and its parameters -> [ format_help ] -> a page of at most 100 columns

The description is the command's docstring. What follows `Examples:` in it is printed as it is, and
tests run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from treethink.cli._output import exit_on_error
from treethink.errors import UnknownNameError
from treethink.terminal import terminal

_MAX_WIDTH = 100
_EXAMPLES = "Examples:\n"

#: The `show_default` of an argument that is required, but can be given as an option instead.
REQUIRED = "required"


class Command(TyperCommand):
    """A command with a help page in our layout.

    An option may have several long names; all but the first are older spellings, which work and are
    neither shown nor completed.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_render(_page(self, ctx)))

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        options = [each for each in self.get_params(ctx) if each.param_type_name == "option"]
        shown = {name for each in options for name in _shown_names(each)}
        older = {name for each in options for name in each.opts} - shown
        return [each for each in super().shell_complete(ctx, incomplete) if each.value not in older]


class CommandGroup(TyperGroup):
    """The group of all commands: lists them in help, and turns their errors into exit codes."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_render(_page(self, ctx)))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)  # in our order instead of alphabetical order

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands and not ctx.resilient_parsing:
            raise UnknownNameError("command", args[0], self.commands, "treethink")
        return super().resolve_command(ctx, args)

    def make_context(self, *arguments: Any, **extra: Any) -> Any:
        with exit_on_error():
            return super().make_context(*arguments, **extra)

    def invoke(self, ctx: Any) -> Any:
        with exit_on_error():
            return super().invoke(ctx)


def _render(parts: Iterator[RenderableType]) -> str:
    console = terminal()
    console.width = min(console.width, _MAX_WIDTH)
    with console.capture() as captured:
        for part in parts:
            console.print(part, markup=False, highlight=False)
    # rich fills columns with trailing blanks.
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _page(command: Any, ctx: Any) -> Iterator[RenderableType]:
    description, _, examples = (command.help or "").partition(_EXAMPLES)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    yield Text("Usage: ", "heading", end="") + Text(_usage(command, ctx, arguments), "default")
    for paragraph in description.strip().split("\n\n"):
        yield Text("\n" + " ".join(paragraph.split()))
    if arguments:
        yield from _section("Arguments", [(_name(each), _description(each)) for each in arguments])
    if isinstance(command, TyperGroup):
        rows = [(name, _first_line(each)) for name, each in command.commands.items()]
        yield from _section("Commands", rows)
    for title, options in _option_groups(command, ctx).items():
        yield from _section(title, [(_name(each), _description(each)) for each in options])
    if examples:
        yield Text("\nExamples", "heading")
        yield Text("\n").join(map(_example, examples.rstrip().splitlines()))


def _usage(command: Any, ctx: Any, arguments: Sequence[Any]) -> str:
    names = [_name(each) if _is_required(each) else f"[{_name(each)}]" for each in arguments]
    if isinstance(command, TyperGroup):
        names = ["COMMAND"]
    return " ".join([ctx.command_path, *names, "[OPTIONS]"])


def _option_groups(command: Any, ctx: Any) -> dict[str, list[Any]]:
    """Return the options by the title of their group; the command's own options come first."""
    groups: dict[str, list[Any]] = {"Options": []}
    for each in command.get_params(ctx):
        if each.param_type_name == "option" and not each.hidden:
            title = getattr(each, "rich_help_panel", None) or "Options"  # `--help` may have none
            groups.setdefault(title, []).append(each)
    return groups


def _section(title: str, rows: Sequence[tuple[str, str]]) -> Iterator[RenderableType]:
    yield Text(f"\n{title}", "heading")
    table = Table.grid(padding=(0, 2), pad_edge=True)
    table.add_column(style="name", no_wrap=True)
    table.add_column(overflow="fold")
    for name, description in rows:
        table.add_row(Text(name), Text(description))
    yield table


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join(sorted(_shown_names(parameter), key=len))
    return " ".join([names, *filter(None, [parameter.metavar])])


def _is_required(argument: Any) -> bool:
    return bool(argument.required) or argument.show_default == REQUIRED


def _shown_names(option: Any) -> list[str]:
    """Return the names of an option without its older spellings."""
    older = [each for each in option.opts if each.startswith("--")][1:]
    return [each for each in option.opts if each not in older]


def _description(parameter: Any) -> str:
    """Return the help of a parameter, with its default or "(required)"."""
    if parameter.param_type_name == "option" and parameter.required:
        return f"{parameter.help} (required)"
    default = parameter.default if parameter.show_default is True else parameter.show_default
    has_default = default is not None and default is not False and default != REQUIRED
    return f"{parameter.help or ''}{f' [{default}]' if has_default else ''}"


def _first_line(command: Any) -> str:
    return str(command.help or "").partition("\n")[0]


def _example(line: str) -> Text:
    command, sign, comment = line.partition("  #")
    return Text(command) + Text(sign + comment, "quiet")
