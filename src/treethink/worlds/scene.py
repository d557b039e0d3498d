"""Scenes: sentences about a world, each with a hand-written example.

    scenes/maze.txt -> [ scene ] -> Scene(says, before, action, truth)

Scenes are data, so that a world and a model of it can be tested on the same examples. Each block
of the file is a scene; blank lines separate blocks:

    says: a wall on the right stops the player, which costs two
    does: right
    pays: -2
    #####  #####
    #.P##  #.P##
    #...#  #...#
    #...#  #...#
    #####  #####

The drawings show the state before and after, in the signs of the world's looks. Further lines:

    chances: 1/2 1/2        the probabilities of several drawings after
    where: @ = P G          a sign that stands for several things on one cell in this scene
    also: remote(channel=1) -> remote(channel=2)
                            an object that no drawing shows, before and after; with
                            chances, there may be one after for each drawing

`pays` is the change of the score; it is ignored if the world has no score.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import Any

from treethink.errors import SceneError
from treethink.state import Object, Schema, State
from treethink.worlds.looks import FLOOR, Look

Distribution = list[tuple[State, float]]
#: An object that has no id yet: its class and its values.
Thing = tuple[str, Mapping[str, Any]]

_THING = re.compile(r"(\w+)\((.*)\)")
_VALUE = re.compile(r"\s*(\w+)=(-?\d+|\([-\d, ]*\))\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class Scene:
    """One sentence about a world, with an example: a state, an action and its distribution."""

    says: str
    before: State
    action: str
    truth: Distribution


def populate(schema: Schema, things: Sequence[Thing]) -> State:
    """Return a state of these things, with ids from 0 in the given order."""
    return State(schema, [Object(i, name, **values) for i, (name, values) in enumerate(things)])


def read_scenes(name: str, schema: Schema, looks: Sequence[Look]) -> list[Scene]:
    """Return the scenes of a file, for a world with that schema and those looks."""
    text = files("treethink.worlds").joinpath("scenes", f"{name}.txt").read_text("utf-8")
    return parse_scenes(text, schema, looks, f"scenes/{name}.txt")


def parse_scenes(
    text: str, schema: Schema, looks: Sequence[Look], where: str = "the text"
) -> list[Scene]:
    """Return the scenes of a text."""
    text = "\n".join(text.splitlines())
    blocks = [block.strip("\n") for block in re.split(r"\n[ \t]*\n", text) if block.strip()]
    return [
        _parse(block, schema, looks, f"{where}, scene {n}") for n, block in enumerate(blocks, 1)
    ]


@dataclass
class _Block:
    """The lines of one scene, by kind."""

    says: str = ""
    does: str = ""
    pays: int = 0
    chances: list[Fraction] = field(default_factory=lambda: [Fraction(1)])
    where: dict[str, list[str]] = field(default_factory=dict)
    also: list[list[Thing]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    seen_keys: set[str] = field(default_factory=set)

    def read(self, line: str) -> None:
        key, colon, rest = (part.strip() for part in line.partition(":"))
        if not colon:
            self.rows.append(line.split())
            return
        if key in self.seen_keys - {"where", "also"}:
            raise ValueError(f"it has the line {key!r} twice")
        self.seen_keys.add(key)
        if key in ("says", "does"):
            setattr(self, key, rest)
        elif key == "pays":
            self.pays = int(rest)
        elif key == "chances":
            self.chances = [Fraction(each) for each in rest.split()]
        elif key == "where":
            sign, _, signs = rest.partition("=")
            self.where[sign.strip()] = signs.split()
        elif key == "also":
            self.also.append([_parse_thing(each) for each in rest.split("->")])
        else:
            raise ValueError(f"no such line as {key!r}")


def _parse(block: str, schema: Schema, looks: Sequence[Look], where: str) -> Scene:
    try:
        lines = _Block()
        for line in block.splitlines():
            lines.read(line)
        states = [populate(schema, things) for things in _panels(lines, schema, looks)]
        if lines.does not in schema.actions:
            raise ValueError(f"no such action as {lines.does!r}")
        if not lines.says:
            raise ValueError("it says nothing")
        if sum(lines.chances) != 1 or min(lines.chances) <= 0:
            raise ValueError("its chances must be above 0 and sum to 1")
        if len(set(states[1:])) < len(states) - 1:
            raise ValueError("two of its chances lead to the same state")
    except (ValueError, LookupError, ZeroDivisionError) as error:
        raise SceneError(f"{where}: {error}") from error
    before, *after = states
    chances = map(float, lines.chances)
    return Scene(lines.says, before, lines.does, list(zip(after, chances, strict=True)))


def _panels(block: _Block, schema: Schema, looks: Sequence[Look]) -> list[list[Thing]]:
    """Return the things before, and after each possible outcome."""
    count = 1 + len(block.chances)
    if any(len(row) != count for row in block.rows):
        raise ValueError(f"every row needs {count} drawings, two blanks apart")
    if any(len(each) not in (1, 2, count) for each in block.also):
        raise ValueError(f"what no drawing shows is given once, twice or {count} times")
    panels = []
    for k in range(count):
        things = [each[min(k, len(each) - 1)] for each in block.also]
        things += _things_drawn([row[k] for row in block.rows], looks, block.where)
        if "game" in schema.classes and not any(name == "game" for name, _ in things):
            things.append(("game", {"score": block.pays if k else 0}))
        known = [thing for thing in things if thing[0] != "game" or "game" in schema.classes]
        panels.append(sorted(known, key=lambda thing: thing[0]))
    counts = [Counter(name for name, _ in things) for things in panels]
    if any(each != counts[0] for each in counts):
        raise ValueError(f"other objects before and after: {counts}")
    return panels


def _things_drawn(
    rows: Sequence[str], looks: Sequence[Look], where: Mapping[str, Sequence[str]]
) -> Iterator[Thing]:
    by_sign = {look.sign: look for look in looks}
    for y, row in enumerate(rows):
        for x, sign in enumerate(row):
            for each in where.get(sign, [sign]):
                if each == FLOOR:
                    continue
                if each not in by_sign:
                    raise ValueError(f"no look has the sign {each!r}")
                look = by_sign[each]
                yield look.class_name, {"pos": (x, y), **look.values}


def _parse_thing(text: str) -> Thing:
    match = _THING.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text.strip()!r} is not an object such as key(pos=(1, 2), status=0)")
    values, rest = {}, match[2]
    while rest.strip():
        value = _VALUE.match(rest)
        if not value or value[1] in values:
            raise ValueError(f"{rest.strip()!r} is not a list of values such as pos=(1, 2), on=0")
        values[value[1]] = _parse_value(value[2])
        rest = rest[value.end() :]
    return match[1], values


def _parse_value(text: str) -> int | tuple[int, ...]:
    if text.startswith("("):
        return tuple(int(each) for each in text.strip("()").split(",") if each.strip())
    return int(text)
