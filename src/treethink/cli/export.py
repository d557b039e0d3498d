"""`treethink export`: write a saved model, or rules of it, in a form for people or programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Force,
    ModelOption,
    Quiet,
    RequiredModel,
    RuleName,
    complete_names,
    given_model,
    load_model,
    select_rules,
)
from treethink.cli._output import check_new, print_json
from treethink.cli.rules import OTHER_STYLES, STYLES
from treethink.errors import SettingError, UnknownNameError
from treethink.explain.english.sentences import english_of
from treethink.file import format_of, write
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey
from treethink.terminal import say, terminal
from treethink.text import many

#: Forms of a whole model.
_PROGRAMS = ("python", "prolog")
#: Forms that are drawn: one file for each rule.
_PICTURES = ("svg", "png", "pdf")
_FOR_PEOPLE = ("formula", "english")
FORMS = (*_PROGRAMS, *STYLES, *_PICTURES)
#: The form that an ending of --out stands for.
_ENDINGS = {
    "py": "python", "pl": "prolog", "txt": "formula", "dot": "dot", "gv": "dot", "mmd": "mermaid",
    **{form: form for form in _PICTURES},
}  # fmt: skip


def export(
    ctx: typer.Context,
    model: RequiredModel = None,
    model_option: ModelOption = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORM",
            help=f"{', '.join(FORMS[:-1])} or {FORMS[-1]}.",
            show_default="by the ending of --out",
            autocompletion=complete_names(lambda: FORMS),
        ),
    ] = None,
    rule: RuleName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="File; for pictures of several rules, a folder.",
            show_default="standard output",
        ),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Export a saved model as a program, as text or as pictures.

    python and prolog are programs of the whole model that need no other package. All other forms
    are of single rules: those by which something changes, or those of --rule. A file that exists is
    replaced only with --force; pictures in a folder are drawn again.

    Examples:
      treethink export maze.tt --to python --out maze_model.py
      treethink export maze.tt --to prolog > maze.pl
      treethink export maze.tt --to english --out maze.txt
      treethink export maze.tt --rule player.pos.up --out up.svg
      treethink export maze.tt --to svg --out pictures  # one picture per rule
    """
    form = _form(to, out)
    _check_options(form, rule, out, force, as_json)
    path = given_model(ctx, model, model_option)
    loaded = load_model(path)
    selected = select_rules(loaded, rule, str(path))
    written: list[Path] = []
    if out is None:
        _print(_text(loaded, selected, form), form)
    elif form in _PICTURES:
        written = _draw(selected, form, out)
    else:
        write(out, _text(loaded, selected, form).encode())
        written = [out]
    if as_json:
        print_json("export", model=str(path), form=form, files=[str(each) for each in written])
    elif written and not quiet:
        what = str(written[0]) if len(written) == 1 else f"{many(len(written), 'file')} in {out}"
        say(terminal(), f"exported to {what}")


def _form(to: str | None, out: Path | None) -> str:
    """Return the form: the given one, or that of the ending of the file."""
    if to is None:
        ending = "" if out is None else out.suffix.lower().lstrip(".")
        if ending not in _ENDINGS:
            raise SettingError(
                f"say in which form with --to: {', '.join(FORMS)}; or name a file in --out that"
                f" ends in .{', .'.join(_ENDINGS)}"
            )
        return _ENDINGS[ending]
    to = OTHER_STYLES.get(to, to)
    if to not in FORMS:
        raise UnknownNameError("form", to, FORMS, "--to")
    return to


def _check_options(
    form: str, rule: str | None, out: Path | None, force: bool, as_json: bool
) -> None:
    """Raise an error for what can be refused before the model is read."""
    if form in _PROGRAMS and rule is not None:
        raise SettingError(f"{form} is a program of the whole model: leave out --rule")
    if out is None and form in _PICTURES:
        raise SettingError(f"a picture needs a file or a folder: --out rules.{form}")
    if out is None and as_json:
        raise SettingError("--json reports which files were written: name one with --out")
    if out is not None and form in _PICTURES:
        from treethink.export import files

        files.check_drawable(form)
        if files.is_file(out):
            if format_of(out, _PICTURES) != form:
                raise SettingError(f"--to {form} does not fit the file {out}")
            check_new(out, force)
    elif out is not None:
        check_new(out, force)


def _print(text: str, form: str) -> None:
    """Print the export: programs as they are, text for people as the terminal can show it."""
    if form in _FOR_PEOPLE:
        say(terminal(), text.removesuffix("\n"))
    else:
        sys.stdout.write(text)


def _text(model: TreeThink, rules: Mapping[RuleKey, Rule], form: str) -> str:
    """Return the whole export, ending with a newline."""
    if form in _PROGRAMS:
        return _program(form)(model)
    if form == "english":
        return english_of(rules) + "\n"
    texts = [STYLES[form](rule).rstrip() for rule in rules.values()]
    return "\n\n".join(texts) + "\n"


def _program(form: str) -> Callable[[TreeThink], str]:
    from treethink.export import prolog, python

    return python.module_text if form == "python" else prolog.text_of


def _draw(rules: Mapping[RuleKey, Rule], form: str, out: Path) -> list[Path]:
    from treethink.export import files

    if not rules:
        raise SettingError("there is nothing to draw: no rule changes anything")
    return files.draw_all(rules, out, form)
