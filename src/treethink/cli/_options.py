"""Arguments and options that several commands share, and their shell completion.

    words typed so far -> [ completion ] -> names that fit, with descriptions

`treethink --install-completion` installs the completion in a shell. A completion never fails:
where a name, a model or a world cannot be read, it offers nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from treethink._engine import criterion_names
from treethink.errors import SettingError, WrongTypeError
from treethink.model import TreeThink
from treethink.worlds import WORLDS, World, make

#: A name that completion offers, and its description.
Offer = tuple[str, str]


# ------------------------------------------------------------------------- worlds


def make_world(name: str, pairs: Sequence[str] | None = None, **sizes: int | None) -> World:
    """Return the world of that name, with the options of the command line.

    `pairs` are the NAME=NUMBER of `--set`; `sizes` are `--width` and `--height`.
    """
    options = {option: value for option, value in sizes.items() if value is not None}
    for pair in pairs or ():
        option, _, value = pair.partition("=")
        try:
            options[option.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    if ":" in name:
        add_working_folder()
    try:
        return make(name, **options)
    except WrongTypeError as error:  # the object of that name is not a world
        raise SettingError(str(error)) from None


def add_working_folder() -> None:
    """Let modules in the working folder be imported, such as a user's own world."""
    sys.path.insert(0, os.getcwd())


# --------------------------------------------------------------------- completion


def _matching(offers: Iterable[Offer], incomplete: str) -> Iterator[Offer]:
    with suppress(Exception):
        yield from (each for each in offers if each[0].startswith(incomplete))


def complete_names(
    names: Callable[[], Iterable[str] | Mapping[str, str]],
) -> Callable[[str], Iterator[Offer]]:
    """Return a completion for names, or for names and their descriptions.

    `names` is called only when somebody presses Tab.
    """

    def offers() -> Iterator[Offer]:
        listed = names()
        yield from (
            listed.items() if isinstance(listed, Mapping) else ((name, "") for name in listed)
        )

    def complete(incomplete: str) -> Iterator[Offer]:
        return _matching(offers(), incomplete)

    return complete


complete_criterion = complete_names(criterion_names)
complete_world = complete_names(lambda: {name: each.summary() for name, each in WORLDS.items()})


def complete_world_option(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the options of the world on the command line, each as `NAME=`."""
    return _matching(_world_options(ctx), incomplete)


def _world_options(ctx: typer.Context) -> Iterator[Offer]:
    for name, value in make_world(_typed(ctx, "world")).options.items():
        yield f"{name}=", f"default {value}"


def complete_action(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the actions of the model or the world on the command line."""
    return _matching(_actions(ctx), incomplete)


def _actions(ctx: typer.Context) -> Iterator[Offer]:
    model = _typed(ctx, "model")
    known = make_world(_typed(ctx, "world")) if model is None else TreeThink.load(model)
    yield from ((name, "") for name in known.schema.actions)


def complete_rule(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the rules of the model on the command line."""
    return _matching(_rules(ctx), incomplete)


def _rules(ctx: typer.Context) -> Iterator[Offer]:
    for key, rule in TreeThink.load(_typed(ctx, "model")).rules.items():
        yield ".".join(key), f"{rule.n_leaves} leaves" if rule.varies else "constant"


def _typed(ctx: typer.Context, parameter: str) -> Any:
    """Return what was typed for a parameter, or None.

    An option that still lacks its value ends the parsing before the arguments got their values;
    those are then in `ctx.args`.
    """
    if ctx.params.get(parameter) is None and ctx.args and ctx.command.params[0].name == parameter:
        return ctx.args[0]
    return ctx.params.get(parameter)


# -------------------------------------------------------------- arguments, options

#: Titles of option groups in `--help`.
WORLD, LEARNER, SEARCH = "World options", "Learner options", "Search options"

WorldName = Annotated[
    str,
    typer.Argument(
        metavar="WORLD",
        help="A world listed by `treethink worlds`, or your own as module:name.",
        autocompletion=complete_world,
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model, such as maze.tt.")]
Width = Annotated[
    int | None, typer.Option(metavar="N", help="Grid width in cells.", rich_help_panel=WORLD)
]
Height = Annotated[
    int | None, typer.Option(metavar="N", help="Grid height in cells.", rich_help_panel=WORLD)
]
WorldOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=N",
        help="Set another option of the world, as listed by `treethink worlds`. Repeatable.",
        rich_help_panel=WORLD,
        autocompletion=complete_world_option,
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of parallel runs.", show_default="one per core"),
]
Seeds = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of seeds, instead of the configured number."),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
