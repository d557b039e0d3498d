"""`treethink rules`: print or draw the rules of a saved model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink.cli._options import (
    AsJson,
    ModelOption,
    RequiredModel,
    RuleName,
    complete_names,
    given_model,
    load_model,
    select_rules,
)
from treethink.cli._output import learner_settings, print_json, rule_counts, rules_to_json
from treethink.errors import SettingError, UnknownNameError
from treethink.explain.english.sentences import english_of
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey
from treethink.terminal import say, say_wrapped, terminal
from treethink.text import many

#: The forms in which a rule can be printed. Code and diagrams are for programs: printed unchanged.
STYLES: dict[str, Callable[[Rule], str]] = {
    "formula": str,
    "english": lambda rule: rule.to_text("english"),
    "code": lambda rule: rule.to_text("code"),
    "dot": Rule.to_dot,
    "mermaid": Rule.to_mermaid,
}
#: Other names of these forms.
OTHER_STYLES = {"text": "formula"}


def rules(
    ctx: typer.Context,
    model: RequiredModel = None,
    model_option: ModelOption = None,
    rule: RuleName = None,
    style: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Output format: formula, english, code, dot or mermaid.",
            autocompletion=complete_names(lambda: list(STYLES)),
        ),
    ] = "formula",
    picture: Annotated[
        Path | None,
        typer.Option(
            "--draw", metavar="PATH", help="Draw the rules: to a folder, or a .svg, .png or .pdf."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print or draw the rules of a saved model.

    Rules that change nothing and those that were never observed are left out. In English, actions
    with the same rule are told together.

    Examples:
      treethink rules maze.tt                          # as formulas
      treethink rules maze.tt --style english          # in English
      treethink rules maze.tt --rule player.pos.up
      treethink rules maze.tt --style code > rules.py  # as Python functions
      treethink rules maze.tt --draw pictures          # one picture per rule
      treethink rules maze.tt --json | jq -r '.rules[].english'
    """
    style = OTHER_STYLES.get(style, style)
    if style not in STYLES:
        raise UnknownNameError("style", style, STYLES, "--style")
    if as_json and (picture is not None or style != "formula"):
        raise SettingError("--json cannot be combined with --style or --draw")
    if picture is not None:
        _check_drawing(picture, style, rule)
    path = given_model(ctx, model, model_option)
    loaded = load_model(path)
    selected = select_rules(loaded, rule, str(path))
    console = terminal()
    if as_json:
        print_json(
            "rules",
            model=str(path),
            observations=loaded.observations,
            settings=learner_settings(loaded),
            rules=rules_to_json(loaded, selected),
        )
    elif picture is not None:
        _draw(console, selected, picture)
    elif style == "formula" and rule is None:
        _print_all(console, loaded, path)
    elif style == "english":
        say_wrapped(console, english_of(selected))
    elif style == "formula":
        say(console, "\n\n".join(str(each) for each in selected.values()))
    else:
        print("\n".join(STYLES[style](each) for each in selected.values()), end="")


def _print_all(console: Console, model: TreeThink, path: Path) -> None:
    settings = f"{model.criterion}, alpha {model.alpha:g}, memory {model.memory:,}"
    say(console, f"{path}: {many(model.observations, 'observation')}; {settings}")
    say(console, "")
    say_wrapped(console, rule_counts(model.rules))
    for rule in model.rules.changing().values():
        say(console, f"\n{rule}")


def _check_drawing(picture: Path, style: str, rule: str | None) -> None:
    """Raise an error for what can be refused before the model is read."""
    from treethink.export import files

    if style != "formula":
        raise SettingError("--style prints the rules, --draw draws them: leave out one")
    files.check_target(picture)
    if files.is_file(picture) and rule is None:
        raise SettingError(
            f"{picture} is a picture of one rule: say which with --rule, or name a folder"
        )


def _draw(console: Console, rules: Mapping[RuleKey, Rule], picture: Path) -> None:
    from treethink.export import files

    if not rules:
        say(console, "nothing to draw: no rule changes anything")
        return
    paths = files.draw_all(rules, picture)
    say(console, f"{many(len(paths), 'rule')} drawn to {picture}")
