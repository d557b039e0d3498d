"""Trained models and rules that several tests share.

A model of `learned` is cached and shared: do not let it learn, and do not edit it. Change a copy of
it instead (``copy.copy(model)``).
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from strategies import Stream
from treethink.foldt import FOLDT
from treethink.model import TreeThink
from treethink.rules import Rule
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make


def learned(world: str, steps: int = 5000, seed: int = 0, **options: Any) -> TreeThink:
    """Return a shared model that has observed random play in the world."""
    return _learned(world, steps, seed, tuple(sorted(options.items())))


@cache
def _learned(world: str, steps: int, seed: int, options: tuple[tuple[str, Any], ...]) -> TreeThink:
    chosen = make(world, **dict(options))
    model = TreeThink(chosen.schema)
    model.observe_many(transitions(chosen, steps=steps, seed=seed))
    return model


def learned_from(stream: Stream) -> TreeThink:
    """Return a model that has observed the stream."""
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(stream.transitions)
    return model


@cache
def crowded_room() -> Rule:
    """Return the rule of a lamp that mostly glows if two people at one table have matching hats.

    Objects are bound by one test and asked about by the next; the outcome is random.
    """
    schema = Schema(
        {"lamp": ["glow"], "person": ["table", "hat"]},
        {"glow": Attribute(1, facts=(), outcomes="value"), "table": 2, "hat": 1},
        ["look"],
    )
    model, rng = TreeThink(schema, alpha=0.05), random.Random(0)
    for _ in range(3000):
        people = [
            Object(
                i, "person", table=(rng.randrange(40), rng.randrange(40)), hat=rng.randrange(1000)
            )
            for i in range(3)
        ]
        together, matching = rng.random() < 0.5, rng.random() < 0.5
        before = State(schema, [Object(9, "lamp", glow=0), *people])
        if together:
            before = before.replace(1, table=before[0].table)
        if matching:
            before = before.replace(1, hat=before[0].hat + 1)
        chance = 0.75 if together and matching else 0.02
        model.observe(before, "look", before.replace(9, glow=int(rng.random() < chance)))
    return model.rules["lamp", "glow", "look"]


DOTS = Schema({"dot": ["x"]}, {"x": Attribute(1, facts=("equality",))}, [])


def dot_at(x: int) -> State:
    """Return a state with one dot, object 1."""
    return State(DOTS, [Object(1, "dot", x=x)])


def deep_tree(depth: int) -> FOLDT:
    """Return a tree that asks: is it 0? If not, is it 1? If not, ...

    It is taught step by step: a leaf that has seen only two outcomes splits after a few of each.
    """
    tree = FOLDT(["dot"], alpha=0.5, branch_updates=False)
    for x in range(depth):
        while tree.rule.depth <= x:
            for _ in range(4):  # reading the rule takes much longer than observing
                tree.observe(dot_at(x), [1], x)
                tree.observe(dot_at(x + 1), [1], x + 1)
    return tree


def chain_rule(depth: int) -> Rule:
    """Return a rule that asks: is it 0? If not, is it 1? If not, ... The last leaf is empty."""
    nodes: list[Any] = []
    for x in range(depth):
        test = ("equality", ("x",), ("dot",), (0,), (x,))
        nodes.append((2 * x + 1, 2 * x + 2, ("dot",), {(0,): 1}, test))
        nodes.append((None, None, ("dot",), {(x,): x + 1}, None))
    nodes.append((None, None, ("dot",), {}, None))
    return Rule("dot.x when go", ("dot",), 9, {(x,): x + 1 for x in range(depth)}, nodes)
