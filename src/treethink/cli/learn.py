"""`treethink learn`: learn a world, report the result and save the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from treethink.cli._options import (
    LEARNER,
    AsJson,
    Height,
    LogFile,
    NoPlugins,
    OptionalWorld,
    Quiet,
    SchemaFile,
    Width,
    WorldOptions,
    as_typed,
    check_log_fits,
    check_source,
    complete_criterion,
    given_options,
    load_model,
    make_world,
    read_log,
)
from treethink.cli._output import INTERRUPTED, check_writable, learner_settings
from treethink.cli.session.from_log import LogReport, announce, learn_log
from treethink.cli.session.interrupt import InterruptGuard
from treethink.cli.session.live import EPISODE, PATIENCE, STEPS, learn_live
from treethink.cli.session.report import LearnReport, failure_of
from treethink.errors import SettingError, TreeThinkError
from treethink.evaluation import examine
from treethink.explain.object_names import named_objects
from treethink.file import file_safe
from treethink.logs import Log
from treethink.model import TreeThink
from treethink.state import Schema
from treethink.terminal import say_wrapped, terminal
from treethink.worlds import World
from treethink.worlds.base import check_fit

#: Settings of a learner that are not in the name of a file.
_DEFAULTS = {"alpha": 0.01, "criterion": "evidence", "memory": 5_000}


def learn(
    ctx: typer.Context,
    world: OptionalWorld = None,
    log: LogFile = None,
    schema: SchemaFile = None,
    steps: Annotated[
        int, typer.Option(metavar="N", min=0, help="Maximum number of transitions.")
    ] = STEPS,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed.")] = 0,
    patience: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Stop after N transitions without an error; 0: never."
        ),
    ] = PATIENCE,
    episode: Annotated[
        int, typer.Option(metavar="N", min=1, help="Steps per episode; each starts a new level.")
    ] = EPISODE,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File to save the model to.",
            show_default="WORLD[-OPTIONS].tt or LOG.tt",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace any file, also another model.")
    ] = False,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="MODEL", help="Continue from a saved model and update it."),
    ] = None,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Significance level (0-1). Smaller values split later, with more evidence.",
            show_default="0.01",
            rich_help_panel=LEARNER,
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Split criterion: evidence, proven or wilson.",
            show_default="evidence",
            rich_help_panel=LEARNER,
            autocompletion=complete_criterion,
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Number of past transitions kept to train new nodes.",
            show_default="5000",
            rich_help_panel=LEARNER,
        ),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="Use the paper's settings: --criterion wilson --memory 0.",
            rich_help_panel=LEARNER,
        ),
    ] = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
) -> None:
    """Learn a world or a log, print the rules and save the model.

    Actions in a world are random. The model predicts each transition before it observes it.
    Learning stops when no prediction has been wrong for a while, or at the end of a log. Ctrl-C
    also stops it, and saves the model.

    The file is named after the world and all options that are not the defaults. An existing file is
    replaced only if it is a model of the same world and settings that has no more observations.

    Examples:
      treethink learn maze                          # saves maze.tt
      treethink learn keys --seed 7 --out keys7.tt
      treethink learn maze --width 16 --height 16   # saves maze-16x16.tt
      treethink learn maze --paper                  # use the paper's settings
      treethink learn maze --from maze.tt           # continue learning
      treethink learn --log elevator.csv            # learn a log; saves elevator.tt
      treethink learn --log elevator.csv --schema schema.toml
      treethink learn maze --quiet --json | jq .learned
    """
    check_source(world, log, schema)
    options = {"alpha": alpha, "criterion": criterion, "memory": memory}
    settings = {name: value for name, value in options.items() if value is not None}
    typed = as_typed(seed=seed or None, episode=None if episode == EPISODE else episode)
    if log is not None:
        typed += as_typed(
            patience=None if patience == PATIENCE else patience,
            width=width,
            height=height,
            set=set_,
        )
        given = read_log(log, schema, [*filter(None, [world]), *typed])
        ctx.with_resource(named_objects(given.names))
        model = _model(start, given.schema, settings, paper)
        if start is not None:
            check_log_fits(model, given, str(start), schema)
        default = _file_of([log.stem], settings, paper)
        most = model.observations + min(steps, len(given))
        path, replaced = _path(out or start or default, start, model, most, force)
        _learn_log(model, given, schema, path, replaced, steps, quiet, as_json)
        return
    assert world is not None  # there is no log
    place = make_world(world, set_, no_plugins, width=width, height=height)
    model = _model(start, place.schema, settings, paper)
    check_fit(model.schema, place, str(start))
    of_world = given_options(set_, width=width, height=height)
    default = _default_path(world, place, of_world, settings, paper)
    most = model.observations + steps
    path, replaced = _path(out or start or default, start, model, most, force)
    if not quiet:
        _announce(place, steps, patience)
    earlier = model.observations
    with InterruptGuard() as guard:
        run = learn_live(model, place, steps, seed, patience, episode, quiet, guard)
        model.save(path)
        evaluation = guard.run(lambda: examine(model, place))
        failure = None
        if evaluation is not None:
            failure = guard.run(lambda: failure_of(model, place, evaluation))
        report = LearnReport(
            model=model,
            world=place,
            path=path,
            replaced=replaced,
            run=run,
            evaluation=evaluation,
            failure=failure,
            earlier_observations=earlier,
            world_arguments=[world, *as_typed(width=width, height=height, set=set_)],
            stream_options=typed,
        )
        if as_json:
            report.print_json(seed)
        elif quiet:
            report.print_result(terminal())
        else:
            report.print(terminal())
    if guard.interrupted:
        raise typer.Exit(INTERRUPTED)


def _learn_log(
    model: TreeThink,
    log: Log,
    schema: Path | None,
    path: Path,
    replaced: int | None,
    steps: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Learn a log, print the report and save the model."""
    if not quiet:
        announce(log, guessed=schema is None)
    earlier = model.observations
    with InterruptGuard() as guard:
        learned = learn_log(model, log, steps, quiet, guard)
        model.save(path)
        report = LogReport(
            model=model,
            path=path,
            replaced=replaced,
            run=learned.run,
            evaluation=learned.evaluation,
            failure=learned.failure,
            earlier_observations=earlier,
            log=log,
            schema=schema,
        )
        if as_json:
            report.print_json()
        elif quiet:
            report.print_result(terminal())
        else:
            report.print(terminal())
    if guard.interrupted:
        raise typer.Exit(INTERRUPTED)


def _model(start: Path | None, schema: Schema, settings: dict[str, Any], paper: bool) -> TreeThink:
    """Return the model of `--from`, or a new one."""
    if start is None:
        return _new_model(schema, settings, paper)
    if extra := " and ".join(f"--{name}" for name in [*settings, *(["paper"] if paper else [])]):
        raise SettingError(f"--from uses the settings of the saved model: leave out {extra}")
    return load_model(start)


def _new_model(schema: Schema, settings: dict[str, Any], paper: bool) -> TreeThink:
    if not paper:
        return TreeThink(schema, **settings)
    if extra := " and ".join(f"--{name}" for name in settings if name != "alpha"):
        raise SettingError(f"--paper means --criterion wilson --memory 0: leave out {extra}")
    return TreeThink.paper(schema, **settings)


def _path(
    path: Path, start: Path | None, model: TreeThink, most: int, force: bool
) -> tuple[Path, int | None]:
    """Return the file to save to, once it is sure that it can be written and replaced.

    The number is that of the observations of another model in that file, or None.
    """
    check_writable(path)
    if path == start or not path.exists():
        return path, None
    old = _saved_model(path)
    if not force:
        _check_replaceable(path, old, model, most)
    return path, None if old is None else old.observations


def _saved_model(path: Path) -> TreeThink | None:
    """Return the model in a file; None if it has none that can be read."""
    try:
        return TreeThink.load(path)
    except TreeThinkError:
        return None


def _default_path(
    name: str, world: World, given: Mapping[str, int], settings: Mapping[str, Any], paper: bool
) -> Path:
    """Return the file for a world, named after it and all options that are not the defaults.

    `given` are the world's options on the command line.
    """
    changed = {each: value for each, value in given.items() if world.defaults.get(each) != value}
    size = {each: world.options.get(each) for each in ("width", "height")}
    parts = [name.rpartition(":")[2]]
    if changed.keys() & size.keys() and None not in size.values():
        parts.append("x".join(map(str, size.values())))
        changed = {each: value for each, value in changed.items() if each not in size}
    parts += [f"{each}{value}" for each, value in changed.items()]
    return _file_of(parts, settings, paper)


def _file_of(parts: list[str], settings: Mapping[str, Any], paper: bool) -> Path:
    """Return the file named after these parts and the settings that are not the defaults."""
    parts += ["paper"] * paper
    for each, value in settings.items():
        if value != _DEFAULTS[each]:
            parts.append(str(value) if each == "criterion" else f"{each}{value}")
    return Path(f"{'-'.join(map(file_safe, parts))}.tt")


def _check_replaceable(path: Path, old: TreeThink | None, model: TreeThink, most: int) -> None:
    """Refuse to replace anything but a model that the same command may have saved.

    `most` is the largest number of observations that the new model can have.
    """
    advice = "save to another file with --out, or replace it with --force"
    if old is None:
        raise SettingError(f"{path} exists and is no model that can be read: {advice}")
    if edited := [key for key, rule in old.rules.items() if rule.edited]:
        raise SettingError(
            f"{path} has rules edited by hand, such as {'.'.join(edited[0])}: continue with"
            f" --from {path}, {advice}"
        )
    if not old.schema.fits(model.schema):
        raise SettingError(f"{path} is a model of another world or log: {advice}")
    if old.schema.to_dict() != model.schema.to_dict():
        raise SettingError(f"{path} was learned with other definitions of attributes: {advice}")
    if learner_settings(old) != learner_settings(model):
        raise SettingError(f"{path} is a model with other settings: {advice}")
    if old.observations > most:
        raise SettingError(
            f"{path} has {old.observations:,} observations, and the new model can have"
            f" {most:,} at most: continue with --from {path}, {advice}"
        )


def _announce(world: World, steps: int, patience: int) -> None:
    """Print what is learned, when learning stops, and how to stop it."""
    console = terminal(stderr=True)
    title = ": ".join(filter(None, [f"learning {world.name}", world.summary()]))
    say_wrapped(console, title, style="heading")
    until = f" until {patience:,} in a row are predicted exactly," if patience else ""
    say_wrapped(
        console,
        f"Observes random transitions{until} at most {steps:,}. Press Ctrl-C to stop and save.",
    )
