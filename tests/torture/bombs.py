"""Model files with a valid checksum that are small, and ask for much memory or time.

    a kind of bomb, about how many bytes -> [ bomb ] -> the content of a file

All of them are files that no model writes. Numbers are written as cpp/serialize.cpp reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from treethink import file


def number(value: int) -> bytes:
    """Return the number, seven bits a byte, least significant first."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def integer(value: int) -> bytes:
    """Return the folded number: 0, -1, 1, -2, ..."""
    return number(-2 * value - 1 if value < 0 else 2 * value)


def numbers(values: Iterable[int]) -> bytes:
    return b"".join(map(number, values))


def packed(
    schema: dict[str, Any], body: bytes, learner: str | None = None, **settings: Any
) -> bytes:
    """Return a file with this schema and body."""
    if learner == "qora":
        return file.pack(
            {"learner": learner, "schema": schema, "settings": {"alpha": 0.01, **settings}}, body
        )
    chosen = {"alpha": 0.01, "criterion": "wilson", "memory": 0, "branch_updates": True}
    return file.pack({"schema": schema, "settings": {**chosen, **settings}}, body)


def names(count: int, letter: str) -> list[str]:
    return [f"{letter}{each}" for each in range(count)]


def schema(
    classes: int, attributes: int, actions: int, length: int = 1, facts: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a schema in which every class has every attribute."""
    own = names(attributes, "m")
    return {
        "classes": {name: own for name in names(classes, "c")},
        "attributes": {
            name: {"length": length, "facts": list(facts), "outcomes": "delta"} for name in own
        },
        "actions": names(actions, "a"),
    }


def many_rules(size: int) -> bytes:
    """Every class and action has a rule, and the body is empty."""
    return packed(schema(size // 22, 1, size // 22), b"")


def many_rules_of_qora(size: int) -> bytes:
    return packed(schema(size // 22, 1, size // 22), b"", "qora")


def many_slots(size: int) -> bytes:
    """No class has an attribute, and there is a table of classes and attributes."""
    made = schema(size // 20, 0, 0)
    made["attributes"] = dict.fromkeys(names(size // 20, "m"), 1)
    return packed(made, b"")


def many_fact_types(size: int) -> bytes:
    """All classes share an attribute, so there are facts about each pair of classes."""
    return packed(schema(size // 17, 1, 0, facts=["difference"]), number(0))


def many_fact_types_used(size: int) -> bytes:
    """The same with one rule that varies: each of its nodes asks about each pair of classes."""
    made = schema(size // 34, 1, 1, facts=["difference"])
    return packed(made, number(2) + varying_rule() + number(0) * (size // 2))


def varying_rule(outcomes: int = 2, length: int = 1) -> bytes:
    """Return the start of a rule: transitions, outcomes, that it varies, nothing forgotten."""
    each = b"".join(integer(y) + integer(0) * (length - 1) + number(1) for y in range(outcomes))
    return number(outcomes) + number(outcomes) + each + number(1) + number(0)


def node(counts: Iterable[int], flags: int) -> bytes:
    return numbers(counts) + number(0) * 3 + number(flags)


BRANCH, PINNED, BY_HAND, PRIOR = 1, 2, 4, 8


def deep_rule(size: int) -> bytes:
    """A chain of tests, each about one more object; every node knows 127 objects in the end."""
    made = schema(1, 1, 1, facts=["difference"])
    body = number(2) + varying_rule()
    for depth in range(size // 11):
        start = node([1, 1], BRANCH) + number(0) + number(0)
        known = min(depth + 1, 127)
        body += start + numbers([known, known + 1] if depth < 126 else [0, 1]) + integer(depth)
    return packed(made, body, branch_updates=False)


def wide_nodes(size: int) -> bytes:
    """The same with candidates: blocks for each pair of objects, and all of them are empty."""
    made = schema(1, 1, 1, facts=["difference"])
    body = number(2) + varying_rule()
    for depth in range(60):
        # blocks: pairs of known variables, one known and one new, two new; the last has a candidate
        blocks = depth * (depth + 1) // 2 + depth + 1
        body += node([1, 1], BRANCH) + number(1) + number(0) * blocks
        body += number(1) + integer(1) + numbers([1, 1, 1])
        body += number(0) + numbers([depth + 1, depth + 2]) + integer(1)
    return packed(made, body + number(0) * size)


def code_tables(size: int) -> bytes:
    """Every node has one candidate, far from the others, in a table of all that lies between."""
    made = schema(1, 1, 1, facts=["equality"])
    body = number(2) + varying_rule()
    for each in range(size // 20):
        candidate = number(1) + integer(each % 2 * 4000) + numbers([1, 1, 1])
        body += node([1, 1], BRANCH) + number(1) + candidate + number(0)
        body += number(0) + numbers([0, 0]) + integer(each % 2 * 4000)
        body += node([1, 1], 0) + number(1) + candidate + number(0)
    return packed(made, body)


def interned_codes(size: int) -> bytes:
    """The first node has many candidates far apart, and all other nodes make room for these."""
    made = schema(1, 1, 1, facts=["equality"])
    values = [each * 50_000 for each in range(size // 14)]
    first = number(len(values)) + b"".join(
        integer(each) + numbers([1, 1, 1]) for each in values
    )
    body = number(2) + varying_rule()
    body += node([1, 1], BRANCH) + number(1) + first + number(0)
    body += number(0) + numbers([0, 0]) + integer(0)
    for each in range(size // 40):
        candidate = number(1) + integer(0) + numbers([1, 1, 1])
        body += node([1, 1], BRANCH) + number(1) + candidate + number(0)
        body += number(0) + numbers([0, 0]) + integer(0)
    return packed(made, body)


def many_outcomes(size: int) -> bytes:
    """A rule with as many outcomes as fit."""
    made = schema(1, 1, 1)
    return packed(made, number(2) + varying_rule(size // 4))


def same_rule_undecided(size: int) -> bytes:
    """A rule with many nodes is listed again and again as one that waits."""
    made = schema(1, 1, 1, facts=["equality"])
    body = number(2) + varying_rule()
    depth = min(size // 40, 900)
    for each in range(depth):
        body += node([1, 1], BRANCH) + number(0) + number(0) + numbers([0, 0]) + integer(each)
    body += (node([1, 1], 0) + number(1) + number(0) * 2) * (depth + 1)
    waiting = size // 6
    body += number(waiting) + (number(0) + number(1) + number(2 * depth)) * waiting + number(0)
    return packed(made, body, branch_updates=False, memory=5000)


def shared_states(size: int) -> bytes:
    """Many kept transitions between states that share few large columns."""
    made = schema(1, 1, 1)
    rows, kept = size // 8, size // 8
    outcomes = b"".join(integer(each) + number(1) for each in range(200))
    body = number(kept) + number(200) + number(200) + outcomes + number(1) + number(0)
    body += node([1] * 200, 0) + number(0)
    body += number(0)  # no rule waits
    ids = number(rows) + b"".join(integer(each) for each in range(rows))
    first = number(0) + ids + number(0) + integer(0) * rows
    second = number(0) + number(1) + integer(199) * rows
    body += number(kept) + first + number(0) + second
    body += (number(0) + number(0) + number(0) + number(0) + number(1)) * (kept - 1)
    return packed(made, body, memory=2**31 - 1)


def wide_header(size: int) -> bytes:
    """A header that is no schema, but has many empty lists."""
    return file.pack({"schema": [[] for _ in range(size // 3)], "settings": {}}, b"")


def long_unknown_name(size: int) -> bytes:
    """A class has an attribute that does not exist, and the one that does is as long."""
    rng = random.Random(1)
    first, second = ("".join(rng.choices("abcdefghij", k=size // 4)) for _ in range(2))
    made = {"classes": {"c": [first]}, "attributes": {second: 1}, "actions": []}
    return packed(made, b"")


KINDS: list[Callable[[int], bytes]] = [
    many_rules,
    many_rules_of_qora,
    many_slots,
    many_fact_types,
    many_fact_types_used,
    deep_rule,
    wide_nodes,
    code_tables,
    interned_codes,
    many_outcomes,
    same_rule_undecided,
    shared_states,
    wide_header,
    long_unknown_name,
]
