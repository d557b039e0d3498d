"""`treethink edit`: change a rule of a saved model, in your editor or from the command line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from treethink.cli import _completion as completing
from treethink.cli._exit import USAGE, complain
from treethink.cli._options import AsJson, ModelFile
from treethink.cli._output import tell, told_rules, writable
from treethink.cli.editor import edited
from treethink.errors import RuleError, SettingError, UnknownNameError
from treethink.model import TreeThink
from treethink.rules import RuleKey, distribution, lines_of
from treethink.terminal import say, terminal
from treethink.text import many, printable

HELP = """
# {title}, where there are {variables}.
# A test ends in '?', and its yes comes before its no. A leaf says outcomes, and how often each was
# seen: (1, 0) x 3, (0, 0) x 1. Lines that begin with # are not read.
"""


def edit(
    model: ModelFile,
    rule: Annotated[
        str | None,
        typer.Argument(
            metavar="RULE",
            help="CLASS.ATTRIBUTE.ACTION, such as player.pos.up.",
            autocompletion=completing.rules,
        ),
    ] = None,
    path: Annotated[
        str,
        typer.Option(
            metavar="PATH",
            help="Only this part: L (yes) and R (no) lead there.",
            show_default=False,
        ),
    ] = "",
    by: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What to write, without an editor.")
    ] = None,
    learn: Annotated[
        bool, typer.Option("--learn", help="What is written learns on, at once from what is kept.")
    ] = False,
    pin: Annotated[bool, typer.Option("--pin", help="It stays as it is.")] = False,
    unpin: Annotated[bool, typer.Option("--unpin", help="It learns again.")] = False,
    simplify: Annotated[
        bool, typer.Option("--simplify", help="Leave out tests that decide nothing, in all rules.")
    ] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Save it there instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a rule of a saved model by hand.

    The rule opens in your editor ($EDITOR). What you write is pinned: it stays, and all else goes
    on learning, with `treethink learn WORLD --from MODEL`.

    Examples:
      treethink edit maze.tt player.pos.up                      # in your editor
      treethink edit maze.tt player.pos.up --path L --by "(0, 0)"
      treethink edit maze.tt player.pos.up --pin                # as it is
      treethink edit maze.tt player.pos.up --unpin              # learn again
      treethink edit maze.tt --simplify --out small.tt --json
    """
    _check(rule, path, by, learn, pin, unpin, simplify)
    target = writable(out or model)
    loaded = TreeThink.load(model)
    console = terminal()
    leaves = _leaves(loaded)
    if rule is None:
        loaded, keys = loaded.simplify(), []
        done = f"{many(leaves, 'leaf', 'leaves')} before, {_leaves(loaded):,} now"
    else:
        keys = [_key(loaded, rule, str(model))]
        if not _change(loaded, keys[0], path, by, learn, pin, unpin):
            _say_that_nothing_was_changed(model, as_json)
            return
        done = str(loaded.rules[keys[0]])
    loaded.save(target)
    if as_json:
        rules = {key: loaded.rules[key] for key in keys or loaded.rules.varying()}
        tell("edit", model=str(model), saved=str(target), rules=told_rules(loaded, rules))
        return
    say(console, f"{done}\nsaved to {target}")


def _say_that_nothing_was_changed(model: Path, as_json: bool) -> None:
    if as_json:
        tell("edit", model=str(model), saved=None, rules=[])
    else:
        say(terminal(), "nothing was changed")


def _check(
    rule: str | None,
    path: str,
    by: str | None,
    learn: bool,
    pin: bool,
    unpin: bool,
    simplify: bool,
) -> None:
    ways = [by is not None, pin, unpin, simplify]
    if sum(ways) > 1:
        raise SettingError("--by, --pin, --unpin and --simplify: only one of them at a time")
    if simplify != (rule is None):
        raise SettingError(
            "name a RULE such as player.pos.up, or make all of them smaller with --simplify"
        )
    if learn and (pin or unpin or simplify):
        raise SettingError("--learn is for what is written: leave it out")
    if path and simplify:
        raise SettingError("--simplify is for all rules: leave out --path")


def _key(model: TreeThink, name: str, where: str) -> RuleKey:
    found = [key for key in model.rules if ".".join(key) == name]
    if not found:
        raise UnknownNameError("rule", name, map(".".join, model.rules), where)
    return found[0]


def _leaves(model: TreeThink) -> int:
    return sum(rule.n_leaves for rule in model.rules.varying().values())


def _change(
    model: TreeThink, key: RuleKey, path: str, by: str | None, learn: bool, pin: bool, unpin: bool
) -> bool:
    """Whether anything was changed."""
    if pin or unpin:
        (model.pin if pin else model.unpin)(key, path)
    elif by is not None:
        model.replace(key, by, path, pin=not learn)
    else:
        return _in_editor(model, key, path, learn)
    return True


def _in_editor(model: TreeThink, key: RuleKey, path: str, learn: bool) -> bool:
    """Again and again, until it is a rule or nobody wants to go on."""
    from treethink.editing.edit import node_at

    rule = model.rules[key]
    node = node_at(rule, path)
    variables = ", ".join(f"X{number}: {name}" for number, name in enumerate(node.classes))
    text = "\n".join(lines_of(node, distribution))
    text += HELP.format(title=printable(rule.title), variables=variables)
    while (written := edited(text)) is not None:
        try:
            model.replace(key, written, path, pin=not learn)
        except (RuleError, UnknownNameError) as error:
            if not _once_more(error):
                raise
            text = written
        else:
            return True
    return False


def _once_more(error: Exception) -> bool:
    """Whether somebody wants to mend it. Who does not, has read what is wrong, and that will do."""
    if not sys.stdin.isatty():
        return False
    complain(str(error))
    print("Back to the editor? [Y/n]: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()  # without a line end: Ctrl-D
    if not answer.endswith("\n"):
        print(file=sys.stderr)
    if not answer or answer.strip().lower().startswith("n"):
        raise typer.Exit(USAGE)
    return True
