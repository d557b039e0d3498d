"""Arguments and options that several commands share, and their shell completion.

    words typed so far -> [ completion ] -> names that fit, with descriptions

`treethink --install-completion` installs the completion in a shell. A completion never fails:
where a name, a model or a world cannot be read, it offers nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from treethink._engine import criterion_names
from treethink.cli._output import missing_argument
from treethink.cli.session.help_page import REQUIRED
from treethink.cli.session.own_code import own_frames
from treethink.errors import ModelFileError, SettingError, UnknownNameError, WrongTypeError
from treethink.explain.object_names import named_objects
from treethink.logs import Log, SchemaLike, guess_schema, read_file
from treethink.model import TreeThink
from treethink.plugins import searched
from treethink.rules import Rule, RuleKey
from treethink.state import Schema, State
from treethink.terminal import say_wrapped, terminal
from treethink.text import listed, printable
from treethink.worlds import WORLDS, World, make
from treethink.worlds.base import check_fit

#: A name that completion offers, and its description.
Offer = tuple[str, str]


# ------------------------------------------------------------------------- worlds


def make_world(
    name: str, pairs: Sequence[str] | None = None, no_plugins: bool = False, **sizes: int | None
) -> World:
    """Return the world of that name, with the options of the command line.

    `pairs` are the NAME=NUMBER of `--set`; `sizes` are `--width` and `--height`.
    """
    options = given_options(pairs, **sizes)
    _check_no_file(name)
    try:
        with plugins_allowed(not no_plugins):
            return make(name, **options)
    except (SettingError, UnknownNameError, WrongTypeError) as error:
        if any(each.name == "<module>" for each in own_frames(error)):
            raise  # a mistake in the user's module, not in the command
        raise SettingError(str(error)) from None


def given_options(pairs: Sequence[str] | None, **sizes: int | None) -> dict[str, int]:
    """Return the options of a world that were given on the command line."""
    options = {option: value for option, value in sizes.items() if value is not None}
    for pair in pairs or ():
        option, _, value = pair.partition("=")
        try:
            options[option.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    return options


def _check_no_file(name: str) -> None:
    """Raise an error for a file or folder in place of a world, which says what to do with it."""
    path = Path(name)
    if name in WORLDS or ":" in name or path.suffix == ".py":
        return
    advice = {
        ".csv": f"it is a log: treethink learn --log {name}",
        ".jsonl": f"it is a log: treethink learn --log {name}",
        ".tt": f"it is a saved model; continue it with: treethink learn WORLD --from {name}",
        ".toml": "it is a config; an experiment runs with: treethink run",
    }.get(path.suffix.lower())
    if path.is_dir():
        advice = "it is a folder; `treethink worlds` lists the worlds"
    elif advice is None and path.is_file():
        advice = "it is a file; `treethink worlds` lists the worlds"
    if advice is not None:
        raise SettingError(f"{name!r} is no world: {advice}")


def load_model(path: Path) -> TreeThink:
    """Return the saved model; the error for a file that is missing suggests what was meant."""
    try:
        return TreeThink.load(path)
    except ModelFileError as error:
        if path.exists() or path.is_symlink():
            raise
        if str(path) in WORLDS:
            advice = f"{path} is a world, which this command learns: treethink learn {path}"
        else:
            saved = sorted(each.name for each in path.parent.glob("*.tt"))
            close = get_close_matches(path.name, saved, n=1)
            advice = f"Did you mean {str(path.with_name(close[0]))!r}?" if close else ""
        raise ModelFileError(f"{error}. {advice}" if advice else str(error)) from None


def make_optional_world(
    name: str | None, pairs: Sequence[str] | None, no_plugins: bool, **sizes: int | None
) -> World | None:
    """Return the world of that name, or None without a name; then there must be no options."""
    if name is not None:
        return make_world(name, pairs, no_plugins, **sizes)
    given = [f"--{option}" for option, value in {"set": pairs, **sizes}.items() if value]
    if given:
        raise SettingError(f"{given[0]} is an option of a world, and no world is given")
    return None


def plugins_allowed(allowed: bool) -> AbstractContextManager[None]:
    """Let modules in the working folder be loaded, such as a user's own world, or none at all."""
    return searched("working folder" if allowed else "none")


def model_and_world(
    model_first: bool, words: tuple[str | None, str | None], model: Path | None, world: str | None
) -> tuple[Path | None, str | None]:
    """Return the model and the world, each given as an argument or as an option.

    `words` are the arguments; `model_first` says which comes first. They may be in the other order,
    if the one is evidently a model and the other is not.
    """
    given = [each for each in words if each is not None]
    if len(given) == 2 and [_is_model(each) for each in given] == [not model_first, model_first]:
        given.reverse()
    roles = ["MODEL", "WORLD"] if model_first else ["WORLD", "MODEL"]
    options = {"MODEL": model, "WORLD": world}
    left = [role for role in roles if options[role] is None]
    if len(given) > len(left):
        twice = next(role for role in roles if role not in left)
        raise SettingError(f"the {twice} is given twice: as an argument and as an option")
    values = dict(zip(left, given, strict=False))
    found_model = values.get("MODEL", model)
    return None if found_model is None else Path(found_model), values.get("WORLD", world)


def required_model_and_world(
    ctx: typer.Context,
    words: tuple[str | None, str | None],
    model: Path | None,
    world: str | None,
) -> tuple[Path, str | None]:
    """Return the model, which must be given, and the world, as `model_and_world` does."""
    path, name = model_and_world(True, words, model, world)
    if path is None:
        raise missing_argument(ctx, "MODEL")
    return path, name


def given_model(ctx: typer.Context, word: str | None, option: Path | None) -> Path:
    """Return the model, given as an argument or as `--model`."""
    if word is not None and option is not None:
        raise SettingError("the MODEL is given twice: as an argument and as an option")
    if option is not None:
        return option
    if word is None:
        raise missing_argument(ctx, "MODEL")
    return Path(word)


def _is_model(word: str) -> bool:
    return word.endswith(".tt") or (word not in WORLDS and ":" not in word and Path(word).is_file())


# ------------------------------------------------------------------------- rules


def select_rules(model: TreeThink, name: str | None, where: str) -> dict[RuleKey, Rule]:
    """Return the rules of that name or below it; without a name, those that change something."""
    if name is None:
        return model.rules.changing()
    if not (rules := model.rules.below(name)):
        raise UnknownNameError("rule", name, map(".".join, model.rules), where)
    return rules


# --------------------------------------------------------------------------- logs


def read_log(log: Path, schema: SchemaLike, of_worlds: Sequence[str] = ()) -> Log:
    """Return the log of `--log`, read with the schema file of `--schema`, if there is one.

    `of_worlds` are arguments that have a meaning only with a world; they are refused.
    """
    if of_worlds:
        raise SettingError(f"{of_worlds[0]} has no meaning with a log: leave out it or --log {log}")
    return read_file(log, schema)


def read_log_of(
    model: TreeThink, path: Path, log: Path, schema: Path | None, of_worlds: Sequence[str] = ()
) -> Log:
    """Return a log that fits a model, read with the model's schema if no other is given."""
    source: SchemaLike = schema
    if schema is None and not of_worlds:
        guess = guess_schema(log)
        if _same_classes(guess.schema, model.schema):
            source = replace(guess, schema=model.schema, problems=())
    given = read_log(log, source, of_worlds)
    check_log_fits(model, given, str(path), schema)
    return given


def open_log(
    ctx: typer.Context,
    path: Path,
    log: Path,
    schema: Path | None,
    of_worlds: Sequence[str] = (),
    quiet: bool = False,
) -> tuple[TreeThink, Log]:
    """Return a saved model and a log that fits it, for a command about both.

    Texts of the command call objects by their names in the log; unless it is quiet, a line says
    which numbers of the log are multiplied.
    """
    model = load_model(path)
    given = read_log_of(model, path, log, schema, of_worlds)
    ctx.with_resource(named_objects(given.names))
    if not quiet and schema is not None:
        print_scales(given)
    return model, given


def open_world(
    path: Path,
    name: str,
    pairs: Sequence[str] | None = None,
    no_plugins: bool = False,
    **sizes: int | None,
) -> tuple[TreeThink, World]:
    """Return a saved model and a world that fits it, for a command about both."""
    model, world = load_model(path), make_world(name, pairs, no_plugins, **sizes)
    check_fit(model.schema, world, str(path))
    return model, world


def print_given(model: TreeThink, state: State) -> None:
    """Say on stderr which derived attributes predicted states keep, although rules ask for them."""
    if names := [f"`{name}`" for name in model.given_attributes(state)]:
        say_wrapped(
            terminal(stderr=True),
            "predictions beyond the first step may be wrong: rules ask about"
            f" {listed(names)}, given and not computed (derived = true), so predicted states keep"
            " the first value",
            style="not learned",
        )


def print_scales(log: Log) -> None:
    """Say on stderr which numbers of a log are multiplied in rules and states."""
    for name, scale in log.log_schema.scales.items():
        say_wrapped(terminal(stderr=True), f"{name}: {scale} stands for 1 in {log.name}")


def state_of_log(log: Log, number: int | None) -> State:
    """Return the state before a transition of a log, counted from 1, or else the last state."""
    if number is None:
        return log.last_state
    if number > len(log):
        raise SettingError(f"{log.name} has {len(log):,} transitions, got --transition {number}")
    return log[number - 1].before


def _same_classes(one: Schema, other: Schema) -> bool:
    """Return whether two schemas have the same classes, with attributes of the same names."""
    return {name: set(own) for name, own in one.classes.items()} == {
        name: set(own) for name, own in other.classes.items()
    }


def as_typed(word: str | None = None, /, **options: int | str | list[str] | None) -> list[str]:
    """Return a word and options as they are typed on the command line, without those of None."""
    typed = [] if word is None else [word]
    for name, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            if value is not None:
                typed.append(f"--{name}={value}")
    return typed


def check_log_fits(model: TreeThink, log: Log, path: str, schema: Path | None) -> None:
    """Raise an error if a model's schema is not that of a log.

    A model does not know by what the numbers of its log were multiplied; if that was guessed, a
    line on stderr says so.
    """
    if not model.schema.fits(log.schema):
        raise SettingError(
            f"{path} was learned with another schema than that of {log.name}; give the schema file"
            " that it was learned with (--schema FILE; treethink schema writes one)"
        )
    if schema is None:
        for name, scale in log.log_schema.scales.items():
            say_wrapped(
                terminal(stderr=True),
                f"{name}: values are multiplied by {scale}, a guess from {log.name}; if the model's"
                " own log needed another number, give its schema file with --schema",
            )


def check_source(
    world: str | None, log: Path | None, schema: Path | None, transition: int | None = None
) -> None:
    """Raise an error unless there is a world or a log, or if an option lacks its log."""
    if world is None and log is None:
        raise SettingError(
            "name a WORLD, such as maze (treethink worlds lists them), or a log with --log FILE"
        )
    check_log_options(log, schema, transition)


def check_log_options(log: Path | None, schema: Path | None, transition: int | None) -> None:
    """Raise an error if an option speaks of a log that is not given."""
    if log is not None:
        return
    if schema is not None:
        raise SettingError("--schema says what the columns of a log mean: give the --log, too")
    if transition is not None:
        raise SettingError("--transition is the number of one of a log: give the --log, too")


# --------------------------------------------------------------------- completion


def _matching(offers: Iterable[Offer], incomplete: str) -> Iterator[Offer]:
    with suppress(Exception):
        # A shell prints offers as they are, so names with control characters are left out.
        yield from (
            (name, printable(text))
            for name, text in offers
            if name.startswith(incomplete) and name.isprintable()
        )


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
    for name, value in _typed_world(ctx).options.items():
        yield f"{name}=", f"default {value}"


def complete_action(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the actions of the model or the world on the command line."""
    return _matching(_actions(ctx), incomplete)


def _actions(ctx: typer.Context) -> Iterator[Offer]:
    model = _typed_model(ctx)
    known = _typed_world(ctx) if model is None else TreeThink.load(model)
    yield from ((name, "") for name in known.schema.actions)


def complete_rule(ctx: typer.Context, incomplete: str) -> Iterator[Offer]:
    """Offer the rules of the model on the command line."""
    return _matching(_rules(ctx), incomplete)


def _rules(ctx: typer.Context) -> Iterator[Offer]:
    for key, rule in TreeThink.load(str(_typed_model(ctx))).rules.items():
        yield ".".join(key), f"{rule.n_leaves} leaves" if rule.varies else "constant"


def _typed_world(ctx: typer.Context) -> World:
    name = ctx.params.get("world_option") or _typed(ctx, "world")
    return make_world(name, no_plugins=bool(ctx.params.get("no_plugins")))


def _typed_model(ctx: typer.Context) -> Any:
    return ctx.params.get("model_option") or _typed(ctx, "model")


def _typed(ctx: typer.Context, parameter: str) -> Any:
    """Return what was typed for a parameter, or None.

    An option that still lacks its value ends the parsing before the arguments got their values;
    those are then in `ctx.args`.
    """
    arguments = [each for each in ctx.command.params if each.param_type_name == "argument"]
    if ctx.params.get(parameter) is None and ctx.args and arguments[0].name == parameter:
        return ctx.args[0]
    return ctx.params.get(parameter)


# -------------------------------------------------------------- arguments, options

#: Titles of option groups in `--help`.
WORLD, LEARNER, SEARCH = "World options", "Learner options", "Search options"


def _world_argument(**more: Any) -> Any:
    return typer.Argument(
        metavar="WORLD",
        help="A world listed by `treethink worlds`, or your own as module:name.",
        autocompletion=complete_world,
        **more,
    )


WorldName = Annotated[str, _world_argument()]
OptionalWorld = Annotated[str | None, _world_argument()]
RequiredWorld = Annotated[str | None, _world_argument(show_default=REQUIRED)]
RequiredModel = Annotated[
    str | None,
    typer.Argument(metavar="MODEL", help="A saved model, such as maze.tt.", show_default=REQUIRED),
]
WorldOption = Annotated[
    str | None,
    typer.Option(
        "--world", metavar="WORLD", help="The same as the argument WORLD.", hidden=True,
        autocompletion=complete_world,
    ),
]  # fmt: skip
ModelOption = Annotated[
    Path | None,
    typer.Option("--model", metavar="MODEL", help="The same as the argument MODEL.", hidden=True),
]
Level = Annotated[
    int,
    typer.Option(
        "--level", "--seed", metavar="N", min=0, help="Number of the level; a random seed."
    ),
]
LogFile = Annotated[
    Path | None,
    typer.Option("--log", metavar="FILE", help="A log (.csv or .jsonl) to use instead of a world."),
]
SchemaFile = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What the columns of the log mean, as written by `treethink schema`.",
        show_default="guessed",
    ),
]
TransitionNumber = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Start in the state before this transition of the log, counted from 1.",
        show_default="the last state",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]
RuleName = Annotated[
    str | None,
    typer.Option(
        "--rule",
        metavar="NAME",
        help="Only the rule CLASS.ATTRIBUTE.ACTION, or all rules below CLASS or CLASS.ATTRIBUTE.",
        autocompletion=complete_rule,
    ),
]
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
NoPlugins = Annotated[
    bool,
    typer.Option("--no-plugins", help="Refuse code: worlds and learners given as module:name."),
]
Processes = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of parallel runs.", show_default="one per core"),
]
Seeds = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Number of seeds, instead of the configured number."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only the result.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")
]
