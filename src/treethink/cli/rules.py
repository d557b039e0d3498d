"""`treethink rules`: what a saved model knows, printed or drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from treethink.cli import _completion as completing
from treethink.cli._options import AsJson, ModelFile
from treethink.cli._output import counts, settings, tell, told_rules
from treethink.errors import SettingError, UnknownNameError
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey
from treethink.terminal import say, say_wrapped, terminal
from treethink.text import many

#: How `rules` prints them: for people, or for programs, to the letter.
STYLES: dict[str, Callable[[Rule], str]] = {
    "text": str,
    "english": lambda rule: rule.to_text("english"),
    "code": lambda rule: rule.to_text("code"),
    "dot": Rule.to_dot,
    "mermaid": Rule.to_mermaid,
}


def rules(
    model: ModelFile,
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only CLASS.ATTRIBUTE.ACTION, or all that begin so.",
            autocompletion=completing.rules,
        ),
    ] = None,
    style: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to print them: text, english, code, dot or mermaid.",
            autocompletion=completing.one_of(lambda: STYLES),
        ),
    ] = "text",
    to: Annotated[
        Path | None,
        typer.Option(
            "--draw", metavar="PATH", help="Draw them there: a folder, or .svg, .png or .pdf."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print or draw what a saved model knows.

    Those are the rules that vary; what never changed has none.

    Examples:
      treethink rules maze.tt                          # as formulas
      treethink rules maze.tt --style english          # in words
      treethink rules maze.tt --rule player.pos.up
      treethink rules maze.tt --style code > rules.py  # as Python functions
      treethink rules maze.tt --draw pictures          # a picture of each
      treethink rules maze.tt --json | jq -r '.rules[].english'
    """
    if style not in STYLES:
        raise UnknownNameError("style", style, STYLES, "--style")
    if as_json and (to is not None or style != "text"):
        raise SettingError("--json has every style but pictures: leave out --style and --draw")
    if to is not None:
        _check_drawing(to, style, rule)
    loaded = TreeThink.load(model)
    console = terminal()
    if as_json:
        _tell(loaded, model, rule)
        return
    if to is None and style == "text" and rule is None:
        _show_all(console, loaded, model)
        return
    meant = loaded.rules.varying() if rule is None else _meant(loaded, rule, str(model))
    if to is not None:
        _draw(console, meant, to)
    elif style in ("text", "english"):
        told = "\n\n".join(STYLES[style](each).rstrip() for each in meant.values())
        (say if style == "text" else say_wrapped)(console, told)
    else:
        print("\n".join(STYLES[style](each) for each in meant.values()), end="")


def _show_all(console: Console, model: TreeThink, path: Path) -> None:
    learned_by = f"{model.criterion}, alpha {model.alpha:g}, memory {model.memory:,}"
    say(console, f"{path}: {many(model.observations, 'observation')}; {learned_by}")
    say(console, f"\n{counts(model.rules)}")
    for rule in model.rules.varying().values():
        say(console, f"\n{rule}")


def _tell(model: TreeThink, path: Path, name: str | None) -> None:
    meant = model.rules.varying() if name is None else _meant(model, name, str(path))
    tell(
        "rules",
        model=str(path),
        observations=model.observations,
        settings=settings(model),
        rules=told_rules(model, meant),
    )


def _meant(model: TreeThink, name: str, where: str) -> dict[RuleKey, Rule]:
    """The rules whose names begin so."""
    rules = model.rules
    meant = [key for key in rules if f"{'.'.join(key)}.".startswith(f"{name}.")]
    if not meant:
        raise UnknownNameError("rule", name, map(".".join, rules), where)
    return {key: rules[key] for key in meant}


def _check_drawing(to: Path, style: str, rule: str | None) -> None:
    """Whatever can be refused before the model is read."""
    from treethink.export import files

    if style != "text":
        raise SettingError("--style says how to print rules, --draw draws them: leave out one")
    files.check_target(to)
    if files.is_file(to) and rule is None:
        raise SettingError(
            f"{to} is a picture of one rule: say which with --rule, or name a folder"
        )


def _draw(console: Console, rules: dict[RuleKey, Rule], to: Path) -> None:
    from treethink.export import files

    if not rules:
        say(console, "nothing to draw: no rule has seen more than one outcome")
        return
    paths = files.draw_all(rules, to)
    say(console, f"{many(len(paths), 'rule')} drawn to {to}")
