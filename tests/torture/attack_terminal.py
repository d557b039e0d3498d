"""Attacks on terminals: logs whose names and cells are commands of a terminal."""

from __future__ import annotations

import csv
import random
import unicodedata
from pathlib import Path

import treethink as tt
from attack_records import hostile_name, output_of
from torture import Attack


def hostile_log(rng: random.Random, path: Path) -> None:
    """Write a log in which every name is hostile: of actions, objects, attributes and values."""
    actions = [hostile_name(rng), hostile_name(rng)]
    colours = [hostile_name(rng) for _ in range(3)]
    one, other = hostile_name(rng).replace(".", ""), hostile_name(rng).replace(".", "")
    columns = ["episode", "step", "action", f"{one}.{other}", f"{one}.colour", "lift.floor"]
    if rng.random() < 0.3:
        columns.append(hostile_name(rng))
    floor = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for step in range(60):
            action, colour = rng.choice(actions), rng.choice(colours)
            cells = [one, step, action, floor % 3, colour, floor]
            if rng.random() < 0.01:
                cells[rng.randrange(6)] = hostile_name(rng)
            writer.writerow([*cells, hostile_name(rng)][: len(columns)])
            floor += action == actions[0] or colour == colours[0]


def no_log_commands_a_terminal(rng: random.Random, folder: Path) -> str | None:
    log, model, schema = (str(folder / name) for name in ("log.csv", "model.tt", "schema.toml"))
    hostile_log(rng, Path(log))
    commands = [
        ["schema", log],
        ["schema", log, "--out", schema],
        ["learn", "--log", log, "--out", model],
        ["check", model, "--log", log],
        ["doubts", model, "--log", log],
        ["doubts", model],
        ["summary", model],
        ["explain", model, "--log", log],
        ["plan", model, "--log", log],
        ["rules", model, "--style", "english"],
        ["diff", model, model],
        ["rules", model, "--rule", hostile_name(rng)],
    ]
    for arguments in [*commands[:3], *rng.sample(commands[3:], 3)]:
        for character in output_of(arguments):
            if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs"):
                return f"treethink {arguments!r} printed {character!r}"
    if Path(schema).exists():
        tt.read_schema(schema)
    return None


ATTACKS = [
    Attack(
        "log with escape characters",
        "no command prints one of them; the schema file that is written can be read",
        40,
        no_log_commands_a_terminal,
    ),
]
