"""Streams whose values never come again: a clock, a sensor, jumping numbers, an endless plane."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import treethink as tt

Transition = tuple[tt.State, str, tt.State]


def clock(rng: random.Random) -> Iterator[Transition]:
    """A number that grows by some steps, and is told by its value: every outcome is new."""
    by_value = {"t": tt.Attribute(1, outcomes="value")}
    schema = tt.Schema({"clock": ["t"]}, by_value, ["tick"])
    state = tt.State(schema, [tt.Object(1, "clock", t=rng.randrange(1000))])
    step = rng.randint(1, 9)
    while True:
        after = state.replace(1, t=state[1].t + step)
        yield state, "tick", after
        state = after


def sensor(rng: random.Random) -> Iterator[Transition]:
    """A number that jumps while the sensor is on, and is 0 while it is off."""
    attributes = {"on": 1, "x": tt.Attribute(1, outcomes="value")}
    schema = tt.Schema({"sensor": ["on", "x"]}, attributes, ["read", "press"])
    state = tt.State(schema, [tt.Object(1, "sensor", on=0, x=0)])
    while True:
        action, on = rng.choice(["read", "press"]), state[1].on
        flipped = 1 - on if action == "press" else on
        after = state.replace(1, on=flipped, x=rng.randrange(10**9) if on else 0)
        yield state, action, after
        state = after


def jumps(rng: random.Random) -> Iterator[Transition]:
    """Several dots that jump anywhere; outcomes are changes."""
    schema = tt.Schema({"dot": ["pos"]}, {"pos": 2}, ["wait"])
    dots = rng.randint(1, 3)

    def anywhere() -> tuple[int, int]:
        return rng.randrange(10**6), rng.randrange(10**6)

    state = tt.State(schema, [tt.Object(i, "dot", pos=anywhere()) for i in range(dots)])
    while True:
        after = state.replace_many({i: {"pos": anywhere()} for i in range(dots)})
        yield state, "wait", after
        state = after


def plane(rng: random.Random) -> Iterator[Transition]:
    """A walker that drifts away from three marks for ever, and is sometimes held back."""
    moves = {"n": (0, -1), "e": (1, 0), "s": (0, 1), "w": (-1, 0)}
    schema = tt.Schema({"walker": ["pos"], "mark": ["pos"]}, {"pos": 2}, list(moves))
    marks = [
        tt.Object(i, "mark", pos=(rng.randrange(-5, 5), rng.randrange(-5, 5))) for i in (1, 2, 3)
    ]
    state = tt.State(schema, [tt.Object(0, "walker", pos=(0, 0)), *marks])
    while True:
        action = rng.choice("nneesw")
        x, y = state[0].pos
        dx, dy = moves[action]
        held = (x + dx + y + dy) % 7 == 0 and rng.random() < 0.5
        after = state if held else state.replace(0, pos=(x + dx, y + dy))
        yield state, action, after
        state = after


def growing_score(rng: random.Random) -> Iterator[Transition]:
    """A score that grows in one of five transitions, and a display that shows it.

    The rule of the display can be learned, but only by heart: with a test and an outcome for each
    value.
    """
    attributes = {"score": 1, "key": 1, "shown": tt.Attribute(1, (), outcomes="value")}
    schema = tt.Schema({"game": ["score", "key", "shown"]}, attributes, ["go"])
    state = tt.State(schema, [tt.Object(1, "game", score=0, key=0, shown=-1)])
    while True:
        score = state[1].score + (state[1].key == 0)
        after = state.replace(1, score=score, key=rng.randrange(5), shown=state[1].score)
        yield state, "go", after
        state = after.replace(1, shown=-1)


def noise(rng: random.Random, attributes: int) -> Iterator[Transition]:
    """One object with many attributes, which all jump anywhere; some are told by value."""
    how = ["change", "value"]
    kinds = {f"a{i}": tt.Attribute(1, outcomes=rng.choice(how)) for i in range(attributes)}
    schema = tt.Schema({"box": list(kinds)}, kinds, ["wait"])

    def anything() -> tt.State:
        return tt.State(schema, [tt.Object(0, "box", **{a: rng.randrange(10**6) for a in kinds})])

    state = anything()
    while True:
        after = anything()
        yield state, "wait", after
        state = after


STREAMS: dict[str, Callable[[random.Random], Iterator[Transition]]] = {
    "clock": clock,
    "sensor": sensor,
    "jumps": jumps,
    "plane": plane,
}
