"""Model files of every kind, and the same with a few changes and a right checksum.

a model of some kind -> bytes -> [ change a few ] -> checksum -> the content of a file
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import endless
import framed_worlds
import joint_worlds
import treethink as tt
from treethink import file
from treethink.baselines import Qora

Item = tuple[Any, ...]

# --------------------------------------------------- models of every kind


def drive(rng: random.Random) -> Iterator[Item]:
    """A robot drives by its heading unless a crate or a rock is there: sums, orders and rewards."""
    facts = ["equality", "difference", "order", "something"]
    schema = tt.Schema(
        {"crate": ["pos"], "rock": ["pos"], "flag": ["pos"], "robot": ["pos", "heading", "fuel"]},
        {"pos": tt.Position(facts=facts), "heading": 2, "fuel": tt.Number()},
        ["drive", "put"],
    )
    cells = [(x, y) for x in range(5) for y in range(5)]
    while True:
        at = rng.sample(cells, 8)
        names = ["crate", "crate", "rock", "rock", "rock", "flag"]
        things = [tt.Object(i, name, pos=at[i]) for i, name in enumerate(names)]
        own = {"heading": rng.choice(framed_worlds.HEADINGS), "fuel": rng.randrange(9)}
        robot = tt.Object(9, "robot", pos=at[7], **own)
        before = tt.State(schema, [*things, robot])
        ahead = (robot.pos[0] + robot.heading[0], robot.pos[1] + robot.heading[1])
        blocked = ahead in at[:5] or robot.fuel < 3
        action = rng.choice(schema.actions)
        moved = before.replace(9 if action == "drive" else 5, pos=ahead)
        after = before if blocked else moved
        yield before, action, after, -0.5 if blocked else 0.25, robot.fuel == 0


def noise(rng: random.Random) -> Iterator[Item]:
    return endless.sensor(rng)


@dataclass(frozen=True)
class Kind:
    """A model that has learned from a stream, its bytes, and how the stream goes on."""

    learner: type[Any]
    content: bytes
    following: list[Item]


def learned(
    stream: Callable[[random.Random], Iterator[Item]],
    n: int,
    edit: Callable[[tt.TreeThink], object] | None = None,
    **settings: Any,
) -> Kind:
    transitions = stream(random.Random(n))
    first = next(transitions)
    model = tt.TreeThink(first[0].schema, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tt.NoiseWarning)
        model.observe_many(islice(transitions, n))
    if edit is not None:
        edit(model)
    return Kind(tt.TreeThink, model.to_bytes(), list(islice(transitions, 60)))


def learned_by_qora(n: int) -> Kind:
    world = tt.make("maze")
    items = list(tt.transitions(world, n + 60, seed=0))
    model = Qora(world.schema)
    for each in items[:n]:
        model.observe(*each[:3])
    return Kind(Qora, model.to_bytes(), [tuple(each[:3]) for each in items[n:]])


def pinned(model: tt.TreeThink) -> None:
    """Pin one rule, and write a part of another by hand."""
    keys = [key for key, rule in model.rules.items() if rule.transitions > 0]
    model.pin(keys[0])
    model.replace(keys[-1], str(model.rules[keys[-1]]), pin=False)


MAKERS: list[Callable[[], Kind]] = [
    *(
        lambda world=world: learned(framed_worlds.WORLDS[world][0], 90, memory=60)
        for world in framed_worlds.WORLDS
    ),
    *(
        lambda world=world: learned(joint_worlds.WORLDS[world][0], 90, memory=60)
        for world in joint_worlds.WORLDS
    ),
    lambda: learned(drive, 300, memory=80),
    lambda: learned(drive, 150, memory=80, edit=pinned),
    lambda: learned(drive, 300, memory=0, criterion="wilson", alpha=0.3),
    lambda: learned(drive, 200, memory=50, criterion="proven", alpha=0.3),
    lambda: learned(drive, 300, memory=0, branch_updates=False, alpha=0.3),
    lambda: learned(noise, 200, max_outcomes=4, memory=50),
    lambda: learned(endless.clock, 60, max_outcomes=4, memory=20),
    lambda: learned(endless.jumps, 60, max_candidates=20, memory=20),
    lambda: learned_by_qora(60),
]


@cache
def kind(number: int) -> Kind:
    return MAKERS[number]()


# -------------------------------------------------------------- changed bytes


def changed(rng: random.Random, data: bytes) -> bytes:
    """Return the bytes with a few changes."""
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if not out:
            break
        at = rng.randrange(len(out))
        match rng.randrange(8):
            case 0 | 1:
                out[at] ^= 1 << rng.randrange(8)
            case 2 | 3:
                out[at] = (out[at] + rng.choice([-2, -1, 1, 2])) % 256
            case 4:
                out[at] = rng.choice([0, 1, 2, 127, 128, 255])
            case 5:
                del out[at : at + rng.randint(1, 8)]
            case 6:
                out[at:at] = b"\xff" * rng.randint(1, 9) + b"\x01"
            case _:
                to, length = rng.randrange(len(out)), rng.randint(1, 30)
                out[to : to + length] = out[at : at + length]
    return bytes(out)


def changed_header(rng: random.Random, header: dict[str, Any]) -> dict[str, Any]:
    """Return the header with another setting or another schema."""
    settings, schema = dict(header.get("settings", {})), header["schema"]
    attributes = {name: dict(each) for name, each in schema["attributes"].items()}
    match rng.randrange(5):
        case 0 if settings:
            name = rng.choice(list(settings))
            settings[name] = rng.choice([0, 1, 2, 0.5, True, False, "proven", "wilson", 2**31 - 1])
        case 1:
            name = rng.choice(list(attributes))
            key = rng.choice(["facts", "outcomes", "like", "length"])
            attributes[name][key] = {
                "facts": rng.choice([[], ["equality"], ["difference"], ["something", "threshold"]]),
                "outcomes": rng.choice(["auto", "change", "value"]),
                "like": rng.choice([None, *attributes]),
                "length": rng.choice([1, 2, 3]),
            }[key]
            attributes[name].pop("kind", None)
        case 2:
            flipped = {"feedback": header.get("feedback") is not True}
            return {**header, **flipped}
        case 3:
            header = {key: value for key, value in header.items() if key != "sums"}
        case _:
            schema = {**schema, "actions": [*schema["actions"][: rng.randint(0, 2)], "new"]}
    return {**header, "settings": settings, "schema": {**schema, "attributes": attributes}}


def changed_file(rng: random.Random, content: bytes) -> bytes:
    """Return the content of a model file with a few changes and a right checksum."""
    header, body = file.unpack(content, "it")
    if rng.random() < 0.2:
        header = changed_header(rng, header)
    if rng.random() < 0.9:
        body = changed(rng, body)
    return file.pack(header, body)
