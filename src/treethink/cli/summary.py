"""`treethink summary`: what a saved model has seen, and how certain its rules are."""

from __future__ import annotations

from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    ModelOption,
    RequiredModel,
    RuleName,
    given_model,
    load_model,
    select_rules,
)
from treethink.cli._output import learner_settings, print_json, print_page
from treethink.terminal import terminal

_TABLE_WIDTH = 80  # columns, where lines would not be wrapped


def summary(
    ctx: typer.Context,
    model: RequiredModel = None,
    model_option: ModelOption = None,
    rule: RuleName = None,
    confidence: Annotated[
        float, typer.Option(metavar="X", help="Confidence level (0-1) of all lower bounds.")
    ] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Summarise a saved model: its rules and how certain they are.

    It also says what the model has never seen, and what it has forgotten.

    Examples:
      treethink summary maze.tt
      treethink summary maze.tt --rule player.pos     # every leaf of these rules
      treethink summary maze.tt --json | jq .never_seen
    """
    path = given_model(ctx, model, model_option)
    loaded = load_model(path)
    result = loaded.summary(confidence)
    keys = list(loaded.rules) if rule is None else list(select_rules(loaded, rule, str(path)))
    if as_json:
        fields = result.to_dict()
        fields["rules"] = [result.rules[key].to_dict() for key in keys]
        settings = learner_settings(loaded)
        print_json("summary", model=str(path), settings=settings, **fields)
    elif rule is None:
        print_page(terminal(), result, _TABLE_WIDTH)
    else:
        for number, key in enumerate(keys):
            print_page(terminal(), result.rules[key], _TABLE_WIDTH, space=number > 0)
