"""Tiny worlds, each with a rule that one frame tells most briefly. All have the action "go"."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache

import treethink as tt
from treethink.frames import Frame

Transition = tuple[tt.State, str, tt.State]
HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))
MOODS = ("calm", "angry", "asleep")


def place(rng: random.Random) -> tuple[int, int]:
    return rng.randrange(30), rng.randrange(30)


def heading(rng: random.Random) -> Iterator[Transition]:
    """A car moves by its heading."""
    schema = tt.Schema({"car": ["pos", "heading"]}, {"pos": 2, "heading": 2}, ["go"])
    while True:
        car = tt.Object(0, "car", pos=place(rng), heading=rng.choice(HEADINGS))
        before = tt.State(schema, [car])
        x, y = (a + b for a, b in zip(car.pos, car.heading, strict=True))
        yield before, "go", before.replace(0, pos=(x, y))


def teleport(rng: random.Random) -> Iterator[Transition]:
    """A player on a pad goes where the only exit is."""
    attributes = {"pos": tt.Position(), "on": tt.Flag()}
    schema = tt.Schema({"player": ["pos", "on"], "exit": ["pos"]}, attributes, ["go"])
    while True:
        player = tt.Object(0, "player", pos=place(rng), on=rng.random() < 0.5)
        before = tt.State(schema, [player, tt.Object(1, "exit", pos=place(rng))])
        yield before, "go", before.replace(0, pos=before[1].pos) if player.on else before


def carried(rng: random.Random) -> Iterator[Transition]:
    """A key that is held goes where the agent, which moves at random, stands before the move."""
    attributes = {"pos": tt.Position(), "held": tt.Flag()}
    schema = tt.Schema({"agent": ["pos"], "key": ["pos", "held"]}, attributes, ["go"])
    while True:
        key = tt.Object(1, "key", pos=place(rng), held=rng.random() < 0.5)
        before = tt.State(schema, [tt.Object(0, "agent", pos=place(rng)), key])
        x, y = (a + b for a, b in zip(before[0].pos, rng.choice(HEADINGS), strict=True))
        after = before.replace(0, pos=(x, y))
        yield before, "go", after.replace(1, pos=before[0].pos) if key.held else after


def mood(rng: random.Random) -> Iterator[Transition]:
    """A cat mostly stays in its mood, but a dog makes it angry."""
    attributes = {"mood": tt.Category(MOODS), "dog": tt.Flag()}
    schema = tt.Schema({"cat": ["mood", "dog"]}, attributes, ["go"])
    while True:
        cat = tt.Object(0, "cat", mood=rng.choice(MOODS), dog=rng.random() < 0.2)
        before = tt.State(schema, [cat])
        yield before, "go", before.replace(0, mood="angry") if cat.dog else before


def same_drink(rng: random.Random) -> Iterator[Transition]:
    """A guest orders what the only host drinks."""
    names = [f"drink{i}" for i in range(9)]
    schema = tt.Schema(
        {"guest": ["drink"], "host": ["drink"]}, {"drink": tt.Category(names)}, ["go"]
    )
    while True:
        guest, host = (rng.choice(names) for _ in range(2))
        before = tt.State(
            schema, [tt.Object(0, "guest", drink=guest), tt.Object(1, "host", drink=host)]
        )
        yield before, "go", before.replace(0, drink=host)


def reset(rng: random.Random) -> Iterator[Transition]:
    """A counter becomes 0, whatever it was, while its button is down."""
    attributes = {"count": tt.Number(), "down": tt.Flag()}
    schema = tt.Schema({"counter": ["count", "down"]}, attributes, ["go"])
    while True:
        counter = tt.Object(0, "counter", count=rng.randrange(1, 50), down=rng.random() < 0.5)
        before = tt.State(schema, [counter])
        yield before, "go", before.replace(0, count=0) if counter.down else before


def floors(rng: random.Random) -> Iterator[Transition]:
    """A cabin goes to the floor that it is called to."""
    attributes = {"floor": tt.Number(), "called": tt.Number(like="floor")}
    schema = tt.Schema({"cabin": ["floor", "called"]}, attributes, ["go"])
    while True:
        cabin = tt.Object(0, "cabin", floor=rng.randrange(20), called=rng.randrange(20))
        before = tt.State(schema, [cabin])
        yield before, "go", before.replace(0, floor=cabin.called)


def steps(rng: random.Random) -> Iterator[Transition]:
    """A walker makes one step to the right, unless it is tired."""
    attributes = {"pos": tt.Position(), "tired": tt.Flag()}
    schema = tt.Schema({"walker": ["pos", "tired"]}, attributes, ["go"])
    while True:
        walker = tt.Object(0, "walker", pos=place(rng), tired=rng.random() < 0.5)
        before = tt.State(schema, [walker])
        x, y = walker.pos
        yield before, "go", before if walker.tired else before.replace(0, pos=(x + 1, y))


def warp(rng: random.Random) -> Iterator[Transition]:
    """A player walks to the right, but one on a pad goes where the only exit is."""
    attributes = {"pos": tt.Position(), "on": tt.Flag()}
    schema = tt.Schema({"player": ["pos", "on"], "exit": ["pos"]}, attributes, ["go"])
    while True:
        x, y = place(rng)
        to = (x + 1, y) if rng.random() < 0.2 else place(rng)
        player = tt.Object(0, "player", pos=(x, y), on=rng.random() < 0.5)
        before = tt.State(schema, [player, tt.Object(1, "exit", pos=to)])
        yield before, "go", before.replace(0, pos=to if player.on else (x + 1, y))


def caught(rng: random.Random) -> Iterator[Transition]:
    """Two mice walk down, but those that are caught begin again at home, each at its own."""
    attributes = {"pos": tt.Position(), "home": tt.Position(like="pos"), "caught": tt.Flag()}
    schema = tt.Schema({"mouse": ["pos", "home", "caught"]}, attributes, ["go"])
    while True:
        mice = []
        for i in range(2):
            at = place(rng)
            home = down(at) if rng.random() < 0.2 else place(rng)
            mice.append(tt.Object(i, "mouse", pos=at, home=home, caught=rng.random() < 0.3))
        before = tt.State(schema, mice)
        to = {each.id: each.home if each.caught else down(each.pos) for each in mice}
        yield before, "go", before.replace_many({i: {"pos": at} for i, at in to.items()})


def down(pos: tuple[int, int]) -> tuple[int, int]:
    return pos[0], pos[1] + 1


#: Each world, its rule, and the frame of that rule.
WORLDS: dict[str, tuple[Callable[[random.Random], Iterator[Transition]], str, str, Frame]] = {
    "heading": (heading, "car", "pos", Frame("own", attribute="heading", adds=True)),
    "teleport": (teleport, "player", "pos", Frame("copy", of="exit", attribute="pos")),
    "carried": (carried, "key", "pos", Frame("copy", of="agent", attribute="pos")),
    "same_drink": (same_drink, "guest", "drink", Frame("copy", of="host", attribute="drink")),
    "floors": (floors, "cabin", "floor", Frame("own", attribute="called")),
    "warp": (warp, "player", "pos", Frame("jump", of="exit", attribute="pos")),
    "caught": (caught, "mouse", "pos", Frame("jump", attribute="home")),
    "mood": (mood, "cat", "mood", Frame("value")),
    "reset": (reset, "counter", "count", Frame("value")),
    "steps": (steps, "walker", "pos", Frame("change")),
}


def stream(world: str, n: int, seed: int = 0) -> list[Transition]:
    endless = WORLDS[world][0](random.Random(seed))
    return [next(endless) for _ in range(n)]


@cache
def learned(world: str, n: int = 300) -> tt.TreeThink:
    """Return a shared model that has observed the world; do not change it."""
    transitions = stream(world, n)
    model = tt.TreeThink(transitions[0][0].schema)
    model.observe_many(transitions)
    return model
