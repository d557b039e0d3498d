"""Model files with a valid checksum that are small, and ask for much memory or time.

    a kind of bomb, about how many bytes -> [ bomb ] -> the content of a file

All of them are files that no model writes. Numbers are written as cpp/serialize.cpp reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

from handmade import integer, number
from treethink import file


def numbers(values: Iterable[int]) -> bytes:
    return b"".join(map(number, values))


def packed(schema: dict[str, Any], body: bytes, **settings: Any) -> bytes:
    """Return a model file with this schema and body."""
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
        "classes": dict.fromkeys(names(classes, "c"), own),
        "attributes": {
            name: {"length": length, "facts": list(facts), "outcomes": "change"} for name in own
        },
        "actions": names(actions, "a"),
    }


def many_rules(size: int) -> bytes:
    """Every class and action has a rule, and the body is empty."""
    return packed(schema(size // 22, 1, size // 22), b"")


def many_rules_of_qora(size: int) -> bytes:
    """The same for the other learner that has rules."""
    made = schema(size // 22, 1, size // 22)
    return file.pack({"learner": "qora", "schema": made, "settings": {}}, b"")


def empty_rules(size: int) -> bytes:
    """As many rules as the body has room for; none has seen anything."""
    side = int((size / 4) ** 0.5)
    return packed(schema(side, 1, side), number(0) * (3 * side**2 + 2))


def many_slots(size: int) -> bytes:
    """No class has an attribute, and there is a table of classes and attributes."""
    made = schema(size // 20, 0, 0)
    made["attributes"] = dict.fromkeys(names(size // 20, "m"), 1)
    return packed(made, b"")


def many_fact_types(size: int) -> bytes:
    """All classes share an attribute, so there are facts about each pair of classes."""
    return packed(schema(min(size // 17, 446), 1, 0, facts=["difference"]), number(0))


def too_many_fact_types(size: int) -> bytes:
    return packed(schema(size // 17, 1, 0, facts=["difference"]), number(0))


# ---- rules


def varying_rule(outcomes: int = 2) -> bytes:
    """Return the start of a rule: transitions, outcomes, that it varies, nothing forgotten."""
    each = b"".join(integer(y) + number(1) for y in range(outcomes))
    return number(outcomes) + number(outcomes) + each + number(1) + number(0)


BRANCH, PINNED, BY_HAND = 1, 2, 4
#: A leaf without candidates. It has two outcomes, and has seen none since it was pinned.
PINNED_LEAF = numbers([1, 1, 0, 0, 0, PINNED | BY_HAND, 0, 0, 0])


def node(flags: int, candidates: bytes | None) -> bytes:
    """Return the start of a node: two outcomes, each seen once."""
    start = numbers([1, 1, 0, 0, 0, flags])
    return start + number(0) if candidates is None else start + number(1) + candidates


def equals(value: int) -> bytes:
    """Return the test X0[m0] = value."""
    return numbers([0, 0, 0]) + integer(value)


def differs(first: int, second: int, value: int) -> bytes:
    """Return the test X_second[m0] - X_first[m0] = value."""
    return numbers([0, first, second]) + integer(value)


def candidate(value: int) -> bytes:
    """Return one candidate that was true twice, as all of its block."""
    return number(1) + integer(value) + numbers([1, 1, 1])


def grown(branch: bytes, leaf: bytes, size: int) -> bytes:
    """Return a tree of equal branches and equal leaves of about this size."""
    tree = leaf
    while len(tree) < size:
        tree = branch + tree + tree
    return tree


def below_a_chain(tree: bytes, tests: int) -> bytes:
    """Return a tree that knows two more objects after each of so many tests."""
    chain = b"".join(node(BRANCH, None) + differs(n, n + 1, 1) for n in range(1, 2 * tests, 2))
    return chain + tree + PINNED_LEAF * tests


def deep_rule(size: int) -> bytes:
    """Many tests that know 125 objects, and no candidates."""
    tree = grown(node(BRANCH, None) + differs(0, 1, 1), PINNED_LEAF, size)
    body = number(2) + varying_rule() + below_a_chain(tree, 62)
    return packed(schema(1, 1, 1, facts=["difference"]), body, branch_updates=False)


def empty_blocks(size: int) -> bytes:
    """Leaves that know 125 objects, with no candidates for any pair of them."""
    leaf = node(0, number(0) * (125 * 126 // 2 + 1))
    tree = grown(node(BRANCH, None) + differs(0, 1, 1), leaf, size)
    body = number(2) + varying_rule() + below_a_chain(tree, 62)
    return packed(schema(1, 1, 1, facts=["difference"]), body, branch_updates=False)


def small_blocks(size: int) -> bytes:
    """Leaves that know 125 objects, with one candidate for each pair of them."""
    leaf = node(0, candidate(1) * (125 * 126 // 2 + 1))
    tree = grown(node(BRANCH, None) + differs(0, 1, 1), leaf, size)
    body = number(2) + varying_rule() + below_a_chain(tree, 62)
    return packed(schema(1, 1, 1, facts=["difference"]), body, branch_updates=False)


def missing_blocks(size: int) -> bytes:
    """A leaf could have candidates for each pair of many classes, and there the file ends."""
    classes = min(size // 20, 446)
    body = number(2) + varying_rule() + node(0, number(0) * 3 * classes)
    return packed(schema(classes, 1, 1, facts=["difference"]), body)


def many_fact_types_used(size: int) -> bytes:
    """A leaf of a rule has no candidates for any pair of many classes."""
    classes = int(size**0.5)
    blocks = (classes - 1) * classes // 2 + 2 * classes
    body = number(2) + varying_rule() + node(0, number(0) * blocks)
    return packed(schema(classes, 1, 1, facts=["difference"]), body + number(0) * 3 * classes)


def code_tables(size: int) -> bytes:
    """Every leaf has two candidates, with a table of all that lies between them."""
    two = number(2) + b"".join(integer(each) + numbers([1, 1, 1]) for each in (0, 4000))
    leaf = node(0, two + number(0))
    tree = grown(node(BRANCH, two + number(0)) + equals(0), leaf, size)
    return packed(schema(1, 1, 1, facts=["equality"]), number(2) + varying_rule() + tree)


def interned_codes(size: int) -> bytes:
    """The first node has many candidates far apart, and all other nodes make room for these."""
    values = [each * 50_000 for each in range(size // 14)]
    many = b"".join(integer(each) + numbers([1, 1, 1]) for each in values)
    leaf = node(0, candidate(0) + number(0))
    branch = node(BRANCH, candidate(0) + number(0)) + equals(0)
    first = node(BRANCH, number(len(values)) + many + number(0)) + equals(0)
    tree = first + grown(branch, leaf, size // 2) + leaf
    return packed(schema(1, 1, 1, facts=["equality"]), number(2) + varying_rule() + tree)


def many_outcomes(size: int) -> bytes:
    """A rule with as many outcomes as fit."""
    return packed(schema(1, 1, 1), number(2) + varying_rule(size // 4))


def same_rule_undecided(size: int) -> bytes:
    """A rule with many nodes is listed again and again as one that waits."""
    leaf = node(0, number(0) * 2)
    tree = grown(node(BRANCH, None) + equals(1), leaf, size // 2)
    last_leaf = 2 * tree.count(leaf) - 2
    waiting = (number(0) + number(1) + number(last_leaf)) * (size // 8)
    body = number(2) + varying_rule() + tree + number(size // 8) + waiting + number(0)
    made = schema(1, 1, 1, facts=["equality"])
    return packed(made, body, branch_updates=False, memory=5000)


# ---- kept transitions


def shared_states(size: int) -> bytes:
    """Many kept transitions between two states that share their objects."""
    rows, kept = size // 12, size // 12
    body = number(kept) + varying_rule() + node(0, None) + number(0)  # no rule waits
    ids = number(rows) + b"".join(integer(each) for each in range(rows))
    first = number(0) + ids + number(0) + integer(0) * rows
    second = number(0) + number(1) + integer(1) * rows
    body += number(kept) + first + number(0) + second
    body += (numbers([0, 0, 0, 0, 0])) * (kept - 1)
    return packed(schema(1, 1, 1), body, memory=2**31 - 1)


def kept_tables(size: int) -> bytes:
    """Kept states whose values lie so that tables of all that is between them are large."""
    rows = size // 8
    two = number(2) + b"".join(integer(each) + numbers([1, 1, 1]) for each in (0, 4000))
    leaf = node(0, two + number(0))
    tree = grown(node(BRANCH, two + number(0)) + equals(0), leaf, size // 2)
    ids = number(rows) + b"".join(integer(each) for each in range(rows))
    values = b"".join(integer(each % 4000 * 8) for each in range(rows))
    state = number(0) + ids + number(0) + values
    body = number(2) + varying_rule() + tree + number(0) + number(1) + state + number(0)
    return packed(schema(1, 1, 1, facts=["equality"]), body + numbers([0, 0]), memory=5000)


def kept_sums(size: int, columns: int) -> bytes:
    """Kept states of many objects with a sum; they take turns with so many columns of one term."""
    rows, kept = size // (8 + 2 * columns) // 2, size // 16
    rule = numbers([kept, 1]) + integer(0) * 2 + numbers([kept * rows, 0])
    ids = number(rows) + b"".join(integer(each) for each in range(rows))
    first = number(0) + ids + number(0) + integer(0) * 2 * rows
    states = [number(turn) + integer(turn) * 2 * rows for turn in range(columns)]
    states = [first + states[0], *(numbers([0, 0]) + each for each in states[1:])]
    known = [numbers([0, 0, turn]) for turn in range(columns)]
    states += [known[turn % columns] for turn in range(columns, kept)]
    pairs = (each + number(0) + known[k % columns] for k, each in enumerate(states))
    body = number(kept) + rule * 2 + number(0) + number(kept) + b"".join(pairs)
    chosen = {"alpha": 0.01, "criterion": "evidence", "memory": 2**31 - 1, "branch_updates": True}
    made = {"schema": schema(1, 2, 1, length=2), "settings": chosen, "sums": ["m0 + m1"]}
    return file.pack(made, body)


def shared_sums(size: int) -> bytes:
    """Many kept transitions between states that share all their values."""
    return kept_sums(size, 1)


def sums_in_turn(size: int) -> bytes:
    """Many kept transitions whose states have one of a few columns in turn."""
    return kept_sums(size, 20)


def many_frames(size: int) -> bytes:
    """Many attributes that nothing can refer to, and all of their rules are in another frame."""
    made = schema(1, size // 110, 10, facts=["equality"])
    for k, each in enumerate(made["attributes"].values()):
        each |= {"length": k + 1, "outcomes": "auto"}
    rules = numbers([0, 0, 4, 2]) * (size // 110 * 10)  # nothing seen; a frame, which has `stays`
    body = number(0) + rules + number(0) * 2
    return packed(made, body, criterion="evidence", memory=5000)


# ---- headers


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
    empty_rules,
    many_slots,
    many_fact_types,
    too_many_fact_types,
    deep_rule,
    empty_blocks,
    small_blocks,
    missing_blocks,
    many_fact_types_used,
    code_tables,
    interned_codes,
    many_outcomes,
    same_rule_undecided,
    shared_states,
    kept_tables,
    shared_sums,
    sums_in_turn,
    many_frames,
    wide_header,
    long_unknown_name,
]
