"""Logs for tests: random streams of states, written as files and frames in every layout."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import treethink as tt
from treethink.stream.transition import Transition

#: Columns of a log, each with its cells.
Columns = dict[str, list[Any]]

AXES = ("x", "y", "z")
ATTRIBUTES: dict[str, tt.Attribute] = {
    "floor": tt.Number(),
    "pos": tt.Position(2),
    "corner": tt.Position(3),
    "kind": tt.Category(["cola", "water", "née", 'a "b", c']),
    "open": tt.Flag(),
    "size": tt.Attribute(4),
}
_ACTIONS = ("up", "down", "open door")


def random_value(rng: random.Random, attribute: tt.Attribute) -> Any:
    """Return a value of an attribute."""
    if attribute.names is not None:
        return rng.randrange(len(attribute.names))
    if attribute.kind == "flag":
        return rng.randrange(2)
    numbers = tuple(rng.choice((-7, 0, 3, 2**40)) for _ in range(attribute.length))
    return numbers if attribute.length > 1 else numbers[0]


@st.composite
def streams(draw: st.DrawFn) -> list[list[Transition]]:
    """Draw episodes of one schema; objects are numbered from 0, class after class."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    names = sorted(ATTRIBUTES)
    classes = {
        each: rng.sample(names, rng.randint(1, len(names)))
        for each in ("lift", "door", "shelf")[: draw(st.integers(1, 3))]
    }
    used = {
        name: ATTRIBUTES[name] for name in names if any(name in own for own in classes.values())
    }
    schema = tt.Schema(classes, used, _ACTIONS)
    objects = [name for name in classes for _ in range(draw(st.integers(1, 3)))]
    with_reward, with_end = draw(st.booleans()), draw(st.booleans())
    return [
        list(_episode(rng, schema, objects, draw(st.integers(1, 5)), with_reward, with_end))
        for _ in range(draw(st.integers(1, 3)))
    ]


def _episode(
    rng: random.Random,
    schema: tt.Schema,
    objects: Sequence[str],
    steps: int,
    reward: bool,
    end: bool,
) -> Iterator[Transition]:
    def values(class_name: str) -> dict[str, Any]:
        return {a: random_value(rng, schema.attributes[a]) for a in schema.classes[class_name]}

    state = tt.State(schema, [tt.Object(k, name, **values(name)) for k, name in enumerate(objects)])
    for step in range(steps):
        changed = [k for k in range(len(objects)) if rng.random() < 0.4]
        after = state.replace_many({k: values(objects[k]) for k in changed})
        yield Transition(
            state,
            rng.choice(schema.actions),
            after,
            rng.choice((0.0, -1.5, 2.0)) if reward else None,
            step == steps - 1 if end else None,
        )
        state = after


# --------------------------------------------------------------------------- layouts


def cells_of(attribute: tt.Attribute, value: Any) -> Any:
    """Return the cell for a value, as people write it."""
    if attribute.names is not None:
        return value if isinstance(value, str) else attribute.names[value]
    return ("false", "true")[value] if attribute.kind == "flag" else value


def _moments(episodes: Sequence[Sequence[Transition]]) -> Iterator[tuple[dict[str, Any], tt.State]]:
    """Yield what a row says besides the attributes, and the state."""
    for number, episode in enumerate(episodes):
        last = Transition(episode[-1].after, "", episode[-1].after)
        for step, each in enumerate([*episode, last]):
            rest = {"episode": number, "step": step, "action": each.action}
            if episode[0].reward is not None:
                rest["reward"] = each.reward
            if episode[0].terminated is not None:
                rest["terminated"] = each.terminated
            yield rest, each.before


def wide(episodes: Sequence[Sequence[Transition]], parts: str = "axes") -> Columns:
    """Return one row per step; vectors are columns `pos.x` (axes), `pos[0]` (index) or cells."""
    rows = []
    for row, state in _moments(episodes):
        for each in state:
            for name, value in each.values.items():
                cell = cells_of(state.schema.attributes[name], value)
                row |= _split(f"{each.class_name}{each.id}.{name}", cell, parts)
        rows.append(row)
    return _columns(rows)


def by_object(episodes: Sequence[Sequence[Transition]], parts: str = "axes") -> Columns:
    """Return one row per object and step."""
    rows = []
    for rest, state in _moments(episodes):
        for each in state:
            row = rest | {"id": each.id, "class": each.class_name}
            for name, value in each.values.items():
                row |= _split(name, cells_of(state.schema.attributes[name], value), parts)
            rows.append(row)
    return _columns(rows)


LAYOUTS: dict[str, Callable[..., Columns]] = {"wide": wide, "by object": by_object}


def _split(name: str, cell: Any, parts: str) -> dict[str, Any]:
    if not isinstance(cell, tuple) or parts == "cells":
        return {name: cell}
    if parts == "axes" and len(cell) <= len(AXES):
        return {f"{name}.{axis}": each for axis, each in zip(AXES, cell, strict=False)}
    return {f"{name}[{k}]": each for k, each in enumerate(cell)}


def _columns(rows: Sequence[dict[str, Any]]) -> Columns:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


# ----------------------------------------------------------------------------- files


def copy_logs(folder: Path) -> None:
    """Copy the example logs into a folder."""
    for each in (Path(__file__).parents[2] / "examples" / "logs").iterdir():
        if each.suffix != ".py":
            (folder / each.name).write_bytes(each.read_bytes())


def write_csv(path: Path, columns: Columns, **options: Any) -> Path:
    """Write columns as CSV."""
    with open(path, "w", newline="", encoding=options.pop("encoding", "utf-8")) as file:
        writer = csv.writer(file, **options)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def write_jsonl(path: Path, columns: Columns) -> Path:
    """Write columns as lines of JSON, with objects in objects for names with a dot."""
    with open(path, "w", encoding="utf-8") as file:
        for cells in zip(*columns.values(), strict=True):
            line: dict[str, Any] = {}
            for name, cell in zip(columns, cells, strict=True):
                *outer, inner = name.split(".")
                place = line
                for each in outer:
                    place = place.setdefault(each, {})
                place[inner] = cell
            file.write(json.dumps(line) + "\n")
    return path
