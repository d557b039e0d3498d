"""`treethink doubts`: where a saved model errs or is unsure, and what may be missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    LogFile,
    ModelOption,
    NoPlugins,
    OptionalWorld,
    RequiredModel,
    SchemaFile,
    Width,
    WorldOption,
    WorldOptions,
    as_typed,
    check_log_options,
    load_model,
    make_optional_world,
    open_log,
    required_model_and_world,
)
from treethink.cli._output import print_json, print_page
from treethink.terminal import terminal
from treethink.worlds import World
from treethink.worlds.base import check_fit

_WIDTH = 80  # columns, where lines would not be wrapped


def doubts(
    ctx: typer.Context,
    model: RequiredModel = None,
    world: OptionalWorld = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
    log: LogFile = None,
    schema: SchemaFile = None,
) -> None:
    """Show the rules of a saved model that err or are unsure.

    Each comes with pairs of situations that the model cannot tell apart, and what could tell them
    apart: a comparison, two conditions together, something that is not in the state, more data, or
    nothing but chance. The transitions that are saved with the model are searched, or random play
    of a world, or a log.

    Examples:
      treethink doubts maze.tt
      treethink doubts maze.tt maze --width 16 --height 16
      treethink doubts vending.tt --log vending.jsonl --json | jq .doubts
    """
    path, name = required_model_and_world(ctx, (model, world), model_option, world_option)
    check_log_options(log, schema, None)
    source: World | Iterable[tuple[Any, ...]] | None
    if log is not None:
        typed = as_typed(name, width=width, height=height, set=set_)
        loaded, source = open_log(ctx, path, log, schema, typed, as_json)
    else:
        loaded, source = load_model(path), None
        place = make_optional_world(name, set_, no_plugins, width=width, height=height)
        if place is not None:
            check_fit(loaded.schema, place, str(path))
            source = place
    result = loaded.doubts(source)
    if as_json:
        print_json("doubts", model=str(path), doubts=[each.to_dict() for each in result])
    else:
        print_page(terminal(), result, _WIDTH)
