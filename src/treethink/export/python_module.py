"""A whole model as one Python module that needs nothing but Python.

    model -> [ python_module ] -> maze_rules.py

The module has ``predict(state, action)``, which answers what the model answers, and one function
for each rule that varies. The part that all modules share is in `python_module.txt`.
"""

from __future__ import annotations

import os
from importlib import resources
from typing import TYPE_CHECKING

from treethink import file
from treethink.export.answers import identifier
from treethink.export.python import KEPT, MINUS, PLUS, function_of, string

if TYPE_CHECKING:
    from treethink.model import TreeThink
    from treethink.rules import Rule, RuleKey

_RESERVED = {"predict", "mode", "read", "minus", "plus", "kept", "outcomes", "order", "fitting"}


def text_of(model: TreeThink) -> str:
    """Return the text of the module, ending with a newline."""
    rules = {key: rule for key, rule in model.rules.items() if rule.answers}
    varying = {key: rule for key, rule in rules.items() if rule.varies}
    names = _names(varying)
    parts = [
        _opening(model, len(varying)),
        resources.files("treethink.export").joinpath("python_module.txt").read_text("utf-8"),
        KEPT.replace("ATTRIBUTES = {}\n\n\n", "").replace("ATTRIBUTES", "CLASSES"),
        MINUS,
        PLUS,
        *(function_of(rule, names[key], reads=False) for key, rule in varying.items()),
        _tables(names, rules),
    ]
    return "\n\n\n".join(part.strip() for part in parts) + "\n"


def write(model: TreeThink, path: str | os.PathLike[str]) -> None:
    """Write the module to a file, atomically."""
    file.write(path, text_of(model).encode())


def _names(rules: dict[RuleKey, Rule]) -> dict[RuleKey, str]:
    """Return a unique name for each rule's function."""
    names: dict[RuleKey, str] = {}
    for key, rule in rules.items():
        names[key] = identifier(rule.title, _RESERVED | set(names.values()))
    return names


def _opening(model: TreeThink, varying: int) -> str:
    """Return the docstring and the schema."""
    schema = model.schema
    values = [name for name, each in schema.attributes.items() if each.outcomes == "value"]
    lines = [
        '"""Rules of a world, learned by TreeThink and written as Python.',
        "",
        "    predict(state, action)   {id: {attribute: {new value: probability}}}",
        "    mode(state, action)      the most probable next state",
        "",
        'A state is {"objects": [{"id": 50, "class": "player", "pos": [5, 2]}, ...]}: every object',
        "with its id, its class and a value, or a list of them, for each attribute of its class.",
        "",
        f"Learned from {model.observations} observations. Rules that vary: {varying}.",
        '"""',
        "",
        *_table("CLASSES", [f"{string(k)}: {_list(v)}" for k, v in schema.classes.items()]),
        *_table("LENGTHS", [f"{string(k)}: {v.length}" for k, v in schema.attributes.items()]),
        f"ACTIONS = {_list(schema.actions)}",
        f"VALUES = {_list(values)}  # attributes whose rules predict the new value, not the change",
    ]
    return "\n".join(lines)


def _tables(names: dict[RuleKey, str], rules: dict[RuleKey, Rule]) -> str:
    """Return the tables of rules: functions, and the single outcomes of rules that do not vary."""
    always = {key: rule for key, rule in rules.items() if not rule.varies}
    lines = [
        *_table("RULES", [f"{_key(key)}: {name}" for key, name in names.items()]),
        *_table("ALWAYS", [f"{_key(key)}: {next(iter(r.seen))!r}" for key, r in always.items()]),
    ]
    return "\n".join(lines)


def _table(name: str, entries: list[str]) -> list[str]:
    return [f"{name} = {{", *(f"    {entry}," for entry in entries), "}"]


def _list(names: tuple[str, ...] | list[str]) -> str:
    return f"[{', '.join(map(string, names))}]"


def _key(key: RuleKey) -> str:
    return f"({', '.join(map(string, key))})"
