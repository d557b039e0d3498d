"""`treethink diff`: compare two saved models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Height,
    NoPlugins,
    Quiet,
    Width,
    WorldOptions,
    complete_world,
    load_model,
    make_optional_world,
)
from treethink.cli._output import FAILED, print_json, print_page
from treethink.terminal import say, terminal
from treethink.text import many
from treethink.worlds.base import check_fit


def diff(
    model: Annotated[Path, typer.Argument(metavar="A", help="A saved model.")],
    other: Annotated[Path, typer.Argument(metavar="B", help="A saved model of the same world.")],
    world: Annotated[
        str | None,
        typer.Option(
            metavar="WORLD",
            help="Ask both models in states of this world.",
            show_default="states made from their own tests",
            autocompletion=complete_world,
        ),
    ] = None,
    steps: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of states to ask both models in.")
    ] = 1_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Random seed of the states.")] = 0,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
) -> None:
    """Compare the rules and predictions of two saved models.

    For each rule, the smallest state in which the models disagree is shown. The exit code is 1 if
    the models differ.

    Examples:
      treethink diff maze.tt large.tt
      treethink diff maze.tt large.tt --world maze --steps 5000
      treethink diff maze.tt large.tt --json | jq '.rules | length'
    """
    place = make_optional_world(world, set_, no_plugins, width=width, height=height)
    first, second = load_model(model), load_model(other)
    if place is not None:
        check_fit(first.schema, place, str(model))
    result = first.diff(second, place, steps, seed)
    if as_json:
        print_json("diff", models=[str(model), str(other)], equal=not result, **result.to_dict())
    elif quiet:
        differ = many(len(result.rules), "rule differs", "rules differ")
        say(terminal(), differ if result else "no difference found")
    else:
        print_page(terminal(), result)
    if result:
        raise typer.Exit(FAILED)
