"""Rules in every frame, made by hand, and states to ask them about.

A car has a position, a heading, a fuel and a goal; there may be no gate, one or two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from treethink.attributes import Attribute
from treethink.explain.distributions import new_values
from treethink.explain.path import follow
from treethink.frames import CHANGE, VALUE, Frame
from treethink.presets import Category, Number
from treethink.rules import Rule, RuleKey, title_of
from treethink.state import Object, Schema, State

DRINKS = ("cola", "ice tea")
SCHEMA = Schema(
    {
        "car": ["pos", "heading", "fuel", "full", "drink"],
        "gate": ["pos", "fuel", "drink"],
    },
    {
        "pos": Attribute(2),
        "heading": Attribute(2, facts=()),
        "fuel": Number(),
        "full": Number(like="fuel"),
        "drink": Category(DRINKS),
    },
    ["go", "wait"],
)
#: The frames of each attribute of a car.
FRAMES: dict[str, list[Frame]] = {
    "pos": [
        CHANGE,
        VALUE,
        Frame("own", attribute="heading"),
        Frame("own", attribute="heading", adds=True),
        Frame("copy", of="gate", attribute="pos"),
        Frame("jump", of="gate", attribute="pos"),
        Frame("jump", attribute="heading"),
    ],
    "fuel": [
        CHANGE,
        VALUE,
        Frame("own", attribute="full"),
        Frame("own", attribute="full", adds=True),
        Frame("copy", of="gate", attribute="fuel"),
        Frame("jump", of="gate", attribute="fuel"),
        Frame("jump", attribute="full"),
    ],
    "drink": [VALUE, Frame("copy", of="gate", attribute="drink")],
}
#: A test of each attribute, as the engine has it: it holds for some states and fails for others.
TEST = ("difference", ("pos",), ("car", "gate"), (0, 1), (1, 0))


def numbers() -> st.SearchStrategy[int]:
    return st.integers(0, 2)


@st.composite
def states(draw: st.DrawFn) -> State:
    """States with one or two cars, and up to two gates; small numbers, so that some are equal."""

    def vector() -> tuple[int, int]:
        return draw(numbers()), draw(numbers())

    objects: list[Object] = []
    for _ in range(draw(st.integers(1, 2))):
        own: dict[str, Any] = {"pos": vector(), "heading": vector()}
        own |= {"fuel": draw(numbers()), "full": draw(numbers())}
        own["drink"] = draw(st.sampled_from(DRINKS))
        objects.append(Object(len(objects), "car", **own))
    for _ in range(draw(st.sampled_from([1, 1, 0, 2]))):
        drink = draw(st.sampled_from(DRINKS))
        at, fuel = vector(), draw(numbers())
        objects.append(Object(len(objects), "gate", pos=at, fuel=fuel, drink=drink))
    return State(SCHEMA, objects)


def vectors(attribute: str, frame: Frame) -> st.SearchStrategy[tuple[int, ...] | None]:
    """Outcomes as the engine has them; None stands for `STAYS` or `JUMPS`."""
    if attribute == "drink":
        some = st.tuples(st.integers(0, 1) if frame == VALUE else st.just(0))
    else:
        some = st.tuples(*[st.integers(-2, 2)] * SCHEMA.attributes[attribute].length)
    return some if frame == CHANGE else st.one_of(st.none(), some)


@st.composite
def rules(draw: st.DrawFn, attribute: str | None = None, action: str = "go") -> Rule:
    """Rules with a test, or none, in any frame."""
    name = attribute or draw(st.sampled_from([*FRAMES]))
    frame = draw(st.sampled_from(FRAMES[name]))
    counts = st.dictionaries(vectors(name, frame), st.integers(1, 9), min_size=1, max_size=3)
    return made(name, frame, draw(st.lists(counts, min_size=1, max_size=2)), action)


def made(
    attribute: str,
    frame: Frame,
    leaves: list[dict[tuple[int, ...] | None, int]],
    action: str = "go",
) -> Rule:
    """A rule with one leaf, or two below a test: for yes and for no."""
    seen: dict[Any, int] = {}
    for leaf in leaves:
        for outcome, n in leaf.items():
            seen[outcome] = seen.get(outcome, 0) + n
    nodes: list[tuple[Any, ...]] = []
    if len(leaves) == 2:
        nodes = [
            (1, 2, ("car",), seen, TEST),
            (None, None, ("car", "gate"), leaves[0], None),
            (None, None, ("car",), leaves[1], None),
        ]
    elif len(seen) > 1:
        nodes = [(None, None, ("car",), seen, None)]
    key = ("car", attribute, action)
    return Rule(title_of(key), ("car",), 1, seen, nodes, key, SCHEMA, frozenset(), frame)


def answer(rule: Rule, state: State, object_id: int) -> dict[Any, float]:
    """What the rule says about an object."""
    assert rule.key is not None
    assert rule.frame is not None
    _, leaf = follow(rule.root, state, object_id)
    return new_values(state, object_id, rule.key[1], leaf.counts, rule.frame)


@dataclass(frozen=True)
class FramedModel:
    """What is read of a model to export it."""

    rules: dict[RuleKey, Rule]
    schema: Schema = SCHEMA
    observations: int = 7
    feedback: tuple[str, ...] = ()


@st.composite
def models(draw: st.DrawFn) -> FramedModel:
    """A rule for each attribute of a car."""
    drawn = [draw(rules(attribute)) for attribute in FRAMES]
    return FramedModel({rule.key: rule for rule in drawn if rule.key is not None})
