"""`treethink edit`: change a rule of a saved model, in an editor or from the command line."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli._options import (
    AsJson,
    Force,
    ModelOption,
    RequiredModel,
    complete_rule,
    given_model,
    load_model,
)
from treethink.cli._output import (
    USAGE,
    check_new,
    check_writable,
    print_error,
    print_json,
    rules_to_json,
)
from treethink.errors import ResourceError, RuleError, SettingError, UnknownNameError
from treethink.model import TreeThink
from treethink.rules import RuleKey, lines_of
from treethink.terminal import say, terminal
from treethink.text import many, printable

_COMMENT = """
# {title}; variables: {variables}.
# A test ends in '?'; its branch for yes comes before its branch for no. A leaf lists outcomes with
# their counts: a change is +1 or +(1, 0), no change is stays, and a new value is = 2, such as
# +(1, 0) x 3, stays x 1. Lines that begin with # are ignored.
"""
_DEFAULT_EDITOR = "notepad" if os.name == "nt" else "vi"


def edit(
    ctx: typer.Context,
    model: RequiredModel = None,
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE",
            help="CLASS.ATTRIBUTE.ACTION, such as player.pos.up.",
            autocompletion=complete_rule,
        ),
    ] = None,
    model_option: ModelOption = None,
    path: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="Change only the subtree at this path of Y (yes) and N (no).",
            show_default=False,
        ),
    ] = "",
    by: Annotated[
        str | None, typer.Option(metavar="TEXT", help="New text of the rule, instead of an editor.")
    ] = None,
    learn: Annotated[
        bool,
        typer.Option("--learn", help="Do not pin the new text: it is trained from memory at once."),
    ] = False,
    pin: Annotated[
        bool, typer.Option("--pin", help="Pin the rule: learning does not change it.")
    ] = False,
    unpin: Annotated[bool, typer.Option("--unpin", help="Let the rule learn again.")] = False,
    simplify: Annotated[
        bool, typer.Option("--simplify", help="Remove redundant tests from all rules.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File to save the model to.", show_default="MODEL"),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Edit a rule of a saved model.

    The rule opens in your editor ($EDITOR). The new text is pinned: learning does not change it.
    All other rules continue to learn with `treethink learn WORLD --from MODEL`.

    Examples:
      treethink edit maze.tt player.pos.up                      # in an editor
      treethink edit maze.tt player.pos.up --path Y --by "(0, 0)"
      treethink edit maze.tt player.pos.up --pin                # keep it as it is
      treethink edit maze.tt player.pos.up --unpin              # let it learn again
      treethink edit maze.tt --simplify --out small.tt --json
    """
    if model_option is not None and rule is None and not simplify:
        model, rule = None, model  # the only argument is the rule
    file = given_model(ctx, model, model_option)
    _check_options(rule, path, by, learn, pin, unpin, simplify)
    target = check_writable(file) if out in (None, file) else check_new(out, force)
    loaded = load_model(file)
    if rule is None:
        leaves = _count_leaves(loaded)
        loaded = loaded.simplify()
        changed = loaded.rules.varying()
        text = f"{many(leaves, 'leaf', 'leaves')} before, {_count_leaves(loaded):,} now"
    else:
        key = _find_rule(loaded, rule, str(file))
        if not _change(loaded, key, path, by, learn, pin, unpin):
            _report_no_change(file, as_json)
            return
        changed = {key: loaded.rules[key]}
        text = str(loaded.rules[key])
    loaded.save(target)
    if as_json:
        rules = rules_to_json(loaded, changed)
        print_json("edit", model=str(file), saved=str(target), rules=rules)
    else:
        say(terminal(), f"{text}\nsaved to {target}")


def _check_options(
    rule: str | None,
    path: str,
    by: str | None,
    learn: bool,
    pin: bool,
    unpin: bool,
    simplify: bool,
) -> None:
    if sum([by is not None, pin, unpin, simplify]) > 1:
        raise SettingError("use only one of --by, --pin, --unpin and --simplify")
    if simplify != (rule is None):
        raise SettingError(
            "give a RULE such as player.pos.up, or only --simplify to simplify all rules"
        )
    if learn and (pin or unpin or simplify):
        raise SettingError("--learn applies to new text only: leave it out")
    if path and simplify:
        raise SettingError("--simplify applies to all rules: leave out --path")


def _find_rule(model: TreeThink, name: str, where: str) -> RuleKey:
    for key in model.rules:
        if ".".join(key) == name:
            return key
    raise UnknownNameError("rule", name, map(".".join, model.rules), where)


def _count_leaves(model: TreeThink) -> int:
    return sum(rule.n_leaves for rule in model.rules.varying().values())


def _change(
    model: TreeThink, key: RuleKey, path: str, by: str | None, learn: bool, pin: bool, unpin: bool
) -> bool:
    """Change a rule, and return whether anything was changed."""
    if pin or unpin:
        (model.pin if pin else model.unpin)(key, path)
    elif by is not None:
        model.replace(key, by, path, pin=not learn)
    else:
        return _change_in_editor(model, key, path, learn)
    return True


def _report_no_change(model: Path, as_json: bool) -> None:
    if as_json:
        print_json("edit", model=str(model), saved=None, rules=[])
    else:
        say(terminal(), "nothing was changed")


# ------------------------------------------------------------------------- editor


def _change_in_editor(model: TreeThink, key: RuleKey, path: str, learn: bool) -> bool:
    """Open the editor until its text is a valid rule or the user gives up."""
    from treethink.editing.edit import node_at

    rule = model.rules[key]
    node = node_at(rule, path)
    variables = ", ".join(f"X{number}: {name}" for number, name in enumerate(node.classes))
    text = "\n".join(lines_of(node, rule.attribute))
    text += _COMMENT.format(title=printable(rule.title), variables=variables)
    while (edited := _open_editor(text)) is not None:
        try:
            model.replace(key, edited, path, pin=not learn)
        except (RuleError, UnknownNameError) as error:
            if not _confirm_retry(error):
                raise
            text = edited
        else:
            return True
    return False


def _confirm_retry(error: Exception) -> bool:
    """Print the error and ask whether to edit again; a no ends the command, as all was said.

    Returns False where there is nobody to ask.
    """
    if not sys.stdin.isatty():
        return False
    print_error(str(error))
    print("Edit again? [Y/n]: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()  # without a line end: Ctrl-D
    if not answer.endswith("\n"):
        print(file=sys.stderr)
    if not answer or answer.strip().lower().startswith("n"):
        raise typer.Exit(USAGE)
    return True


def _open_editor(text: str) -> str | None:
    """Open the user's editor, and return the new text, or None if it was not changed."""
    command = _editor_command()
    with tempfile.TemporaryDirectory(prefix="treethink-") as folder:
        file = Path(folder) / "rule.txt"
        file.write_text(text, encoding="utf-8")
        process = subprocess.run([*command, str(file)], check=False)
        if process.returncode:
            raise ResourceError(f"the editor {command[0]!r} ended with {process.returncode}")
        edited = file.read_text(encoding="utf-8", errors="replace")
    return edited if edited != text else None


def _editor_command() -> list[str]:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        if not sys.stdin.isatty():
            raise SettingError("there is no terminal to edit in: set EDITOR, or use --by")
        editor = _DEFAULT_EDITOR
    try:
        command = shlex.split(editor)
    except ValueError as error:
        raise SettingError(f"the editor {editor!r} cannot be parsed: {error}") from None
    if not command or shutil.which(command[0]) is None:
        raise SettingError(
            f"there is no editor {' '.join(command)!r}: set EDITOR to an existing one, or use --by"
        )
    return command
