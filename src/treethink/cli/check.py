"""`treethink check`: is a saved model right? If not, show the smallest state where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    LogFile,
    ModelOption,
    NoPlugins,
    OptionalWorld,
    Quiet,
    RequiredModel,
    SchemaFile,
    Width,
    WorldOption,
    WorldOptions,
    as_typed,
    check_source,
    open_log,
    open_world,
    required_model_and_world,
)
from treethink.cli._output import FAILED, print_json, print_page
from treethink.cli.session.report import (
    Failure,
    doubts_to_list,
    evaluation_to_dict,
    example_to_dict,
    missing_text,
    print_evaluation,
    print_failure,
    print_verdict,
    verdict_of,
)
from treethink.evaluation import evaluate
from treethink.logs import Log
from treethink.model import TreeThink
from treethink.terminal import say, say_wrapped, terminal
from treethink.text import many
from treethink.worlds import World


def check(
    ctx: typer.Context,
    model: RequiredModel = None,
    world: OptionalWorld = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Number of transitions to check.",
            show_default="1000, or the whole log",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="Random seed of levels and actions.")
    ] = 0,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
    log: LogFile = None,
    schema: SchemaFile = None,
) -> None:
    """Check whether a saved model predicts a world or a log.

    A world is played at random, and asked about situations put together at random if it has them.
    If the model is wrong, the smallest state with a wrong prediction is shown, with the reasons for
    the prediction. The exit code is then 1. For a log, what may be missing is shown, too. A log
    does not say what is random: unsure predictions count as wrong only if something explains them.

    Examples:
      treethink check maze.tt maze
      treethink check maze.tt maze --width 16 --height 16 --steps 5000
      treethink check maze.tt maze --json | jq .wrong
      treethink check vending.tt --log vending.jsonl
    """
    path, name = required_model_and_world(ctx, (model, world), model_option, world_option)
    check_source(name, log, schema)
    if log is not None:
        typed = as_typed(name, seed=seed or None, width=width, height=height, set=set_)
        loaded, given = open_log(ctx, path, log, schema, typed, quiet or as_json)
        is_wrong = _check_log(loaded, given, steps, path, quiet, as_json)
    else:
        assert name is not None  # there is no log
        loaded, place = open_world(path, name, set_, no_plugins, width=width, height=height)
        is_wrong = _check_world(loaded, place, steps, seed, path, quiet, as_json)
    if is_wrong:
        raise typer.Exit(FAILED)


def _check_world(
    model: TreeThink,
    world: World,
    steps: int | None,
    seed: int,
    path: Path,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Print whether the model predicts random play; return whether it is wrong."""
    result = model.check(world, steps, seed)
    if as_json:
        fields = {**result.to_dict(), "world": world.name, "options": world.options, "seed": seed}
        print_json("check", model=str(path), right=not result, **fields)
    elif quiet:
        wrong = f"{result.wrong:,}" if result.wrong else "none"
        say(terminal(), f"{wrong} of {many(result.tried, 'transition')} predicted wrongly")
        if result.stress:
            number = f"{result.wrong_stress:,}" if result.wrong_stress else "none"
            situations = many(result.stress, "situation")
            say(terminal(), f"{number} of {situations} put together at random predicted wrongly")
    else:
        print_page(terminal(), result)
    return bool(result)


def _check_log(
    model: TreeThink, log: Log, steps: int | None, path: Path, quiet: bool, as_json: bool
) -> bool:
    """Print whether the model predicts a log; return whether it is wrong."""
    transitions = log[:steps]
    evaluation = evaluate(model, transitions)
    failure = None
    if not evaluation.learned:
        failure = Failure(model.check(transitions), model.doubts(transitions))
    is_wrong = bool(evaluation.wrong + evaluation.never_seen)
    is_wrong |= failure is not None and failure.rules_out_chance
    if as_json:
        print_json(
            "check",
            model=str(path),
            log=log.name,
            right=not is_wrong,
            learned=verdict_of(evaluation, failure),
            tried=evaluation.held_out,
            wrong=evaluation.wrong,
            examined=evaluation_to_dict(evaluation),
            example=example_to_dict(failure),
            doubts=doubts_to_list(failure),
        )
        return is_wrong
    if quiet:
        print_verdict(terminal(), evaluation, failure)
        if missing := missing_text(failure):
            say_wrapped(terminal(), missing)
        return is_wrong
    print_evaluation(terminal(), evaluation, failure)
    if failure is not None:
        print_failure(terminal(), failure, most=None)
    return is_wrong
