"""What several commands do: worlds by name, what can be refused at once, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import treethink
from treethink.errors import SettingError, WrongTypeError
from treethink.file import file_safe
from treethink.model import TreeThink
from treethink.rules import Rule, Rules
from treethink.worlds import World, make

# Of a text longer than its buffer, Python loses what it could not write before a signal.
_PIECE = 4_096


def tell(command: str, **told: Any) -> None:
    """All that `--json` prints: which command of which version says it, then what it says."""
    text = json.dumps({"command": command, "version": treethink.__version__, **told})
    for start in range(0, len(text), _PIECE):
        sys.stdout.write(text[start : start + _PIECE])
    print(flush=True)  # all of it is out before anything else happens


def told_rules(model: TreeThink, rules: dict[tuple[str, str, str], Rule]) -> list[dict[str, Any]]:
    """Rules for `--json`: what a summary says of them, and the rules themselves."""
    summary = model.summary().rules
    return [
        {
            "rule": ".".join(key),
            **summary[key].to_dict(),
            "formula": str(rule),
            "english": rule.to_text("english"),
        }
        for key, rule in rules.items()
    ]


def look_here() -> None:
    """A world of one's own mostly lies where one is."""
    sys.path.insert(0, os.getcwd())


def make_world(world: str, pairs: list[str], **given: int | None) -> World:
    """The world of that name, with the options of the command line."""
    options = {name: value for name, value in given.items() if value is not None}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            options[name.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    if ":" in world:
        look_here()
    try:
        return make(world, **options)
    except WrongTypeError as error:  # what was named is no world
        raise SettingError(str(error)) from None


def file_name(world: str) -> str:
    """A name for files: `scale-3-2` of `scale(3,2)`, `Lamp` of `lamps:Lamp`."""
    return file_safe(world.rpartition(":")[2])


def writable(path: Path) -> Path:
    """Refuse now what could not be written after all the work."""
    # Through a link it is written where that leads to.
    folder = (Path(os.path.realpath(path)) if path.is_symlink() else path).parent
    if path.is_dir():
        raise SettingError(f"cannot write to {path}: it is a folder")
    if path.exists() and not path.is_file():
        raise SettingError(f"cannot write to {path}: it is a device or a pipe, not a file")
    if not folder.is_dir():
        raise SettingError(f"cannot write to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot write to {path}: the folder {folder} is not writable")
    return path


def settings(model: TreeThink) -> dict[str, Any]:
    """What it was told to learn by."""
    return {"alpha": model.alpha, "criterion": model.criterion, "memory": model.memory}


def counts(rules: Rules) -> str:
    """How many rules there are, of either kind."""
    varying = len(rules.varying())
    return f"rules that vary: {varying}; that saw one outcome or none: {len(rules) - varying}"
