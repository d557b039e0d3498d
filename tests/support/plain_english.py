"""A reader of rules in English that knows only the words.

    text, state, object -> [ plain english ] -> what happens to it

It shares no code with `treethink.explain`, so it detects wrong words such as left for right. It
reads rules whose outcomes are certain, of attributes of one number and of places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Thing = Any  # an Object of a state
Binding = tuple[Thing, ...]
DIRECTIONS = {
    "left": (-1, 0), "to the left of": (-1, 0), "right": (1, 0), "to the right of": (1, 0),
    "up": (0, -1), "above": (0, -1), "down": (0, 1), "below": (0, 1),
}  # fmt: skip
DETERMINER = "(?:that other|no other|another|an|a|no|that|the first|the second|the)"
NOUN = rf"(?:it|its|something|nothing|{DETERMINER} [\w-]+)"
OF = rf"(?:its own|its|{NOUN}'s)"


def follow(text: str, state: Any, thing: Thing) -> str:
    """The outcome that the text has for the object: "moves 1 left"."""
    first, *items = text.splitlines()
    rest = re.split("is (?:pressed|chosen)", first, maxsplit=1)[1].removeprefix(", ")
    if items:
        return read_items(items, state, [(thing,)])
    return sentence(rest, state, [(thing,)])


def sentence(text: str, state: Any, bindings: list[Binding]) -> str:
    """One sentence, which may have an exception or an alternative."""
    text = text.rstrip(".")
    if "; otherwise " in text:
        does, other = text.split("; otherwise ")
        does, condition = does.split(" if ", 1)
        return outcome(does if bindings_where(condition, state, bindings) else other)
    does, _, exception = text.partition(", unless ")
    if exception and bindings_where(exception, state, bindings):
        return "does not move"
    return outcome(does)


def read_items(items: list[str], state: Any, bindings: list[Binding]) -> str:
    """The first of a list's sentences whose condition holds, and what stands below it."""
    depth = len(items[0]) - len(items[0].lstrip())
    for i, item in enumerate(items):
        if len(item) - len(item.lstrip()) != depth:
            continue
        text = re.sub(r"^ *- (Otherwise, )?", "", item)
        if not re.match("if ", text, re.IGNORECASE):
            return sentence(text, state, bindings)
        if text.endswith(":"):
            if extended_bindings := bindings_where(text[3:-1], state, bindings):
                return read_items(items[i + 1 :], state, extended_bindings)
            continue
        condition, _, does = text[3:].partition(", it")
        if not does:
            condition, _, does = text[3:].partition(", the ")
        if extended_bindings := bindings_where(condition, state, bindings):
            return sentence(f"it{does}", state, extended_bindings)
    raise AssertionError(f"no sentence fits: {items}")


def outcome(text: str) -> str:
    """What happens, without the words about whom."""
    match = re.search(r"(moves|does not|rises|falls|becomes) .*$", text)
    assert match, text
    return match[0]


def result(text: str, now: Any) -> Any:
    """The new value, according to an outcome."""
    if text.startswith("does not"):
        return now
    verb, *rest = text.split()
    if verb == "becomes":
        return int(rest[0])
    if verb == "moves":
        dx, dy = DIRECTIONS[rest[1]]
        return now[0] + int(rest[0]) * dx, now[1] + int(rest[0]) * dy
    return now + int(rest[-1]) * (1 if verb == "rises" else -1)


# ---- conditions ----


def bindings_where(text: str, state: Any, bindings: list[Binding]) -> list[Binding]:
    """Return the bindings for which the condition holds."""
    for way in text.split(", or "):
        remaining = bindings
        for each in parts(way):
            remaining = satisfying(each, state, remaining)
        if remaining:
            return remaining
    return []


def parts(way: str) -> Iterator[str]:
    """Conditions one by one: "no a and no b is here" are two, and so are "a or b is here"."""
    conditions = re.split(rf" and (?={NOUN}['` ])", way)
    while conditions:
        if not re.search(
            r" (is|has|does not have) |`.*` is ", conditions[0]
        ):  # a subject without a verb
            verb = re.search(r" (?:is|has) .*$", conditions[1])
            assert verb, way
            conditions[0] += verb[0]
        yield conditions.pop(0)


def satisfying(text: str, state: Any, bindings: list[Binding]) -> list[Binding]:
    """Return the bindings that satisfy the condition, extended by newly mentioned objects."""
    if match := re.fullmatch(rf"({NOUN}) or ({NOUN}) (is .*)", text):
        one, other, what = match.groups()
        return satisfying(f"{one} {what}", state, bindings) or satisfying(
            f"{other} {what}", state, bindings
        )
    if text.startswith("nothing "):
        some = text.replace("nothing", "something", 1)
        return [] if satisfying(some, state, bindings) else bindings
    if text.startswith("no "):
        some = re.sub("^no other ", "another ", text)
        return [] if satisfying(re.sub("^no ", "a ", some), state, bindings) else bindings
    if re.search(r" is not | does not have ", text):
        some = text.replace(" is not ", " is ").replace(" does not have ", " has ")
        return [] if satisfying(some, state, bindings) else bindings
    return [each for binding in bindings for each in extended(text, state, binding)]


def extended(text: str, state: Any, binding: Binding) -> Iterator[Binding]:
    far = rf"(?:(directly|\d+) (to the left of|to the right of|above|below) ({NOUN}))"
    if match := re.fullmatch(rf"({NOUN}) is {far}", text):
        subject, steps, way, other = match.groups()
        n = 1 if steps == "directly" else int(steps)
        by: Any = tuple(n * d for d in DIRECTIONS[way])
        yield from related(subject, other, "pos", by, state, binding)
    elif match := re.fullmatch(rf"({NOUN}) is where ({NOUN}) is", text):
        yield from related(match[1], match[2], "pos", (0, 0), state, binding)
    elif match := re.fullmatch(rf"({NOUN}) has the same `(\w+)` as ({NOUN})", text):
        yield from related(match[1], match[3], match[2], 0, state, binding)
    elif match := re.fullmatch(rf"({OF}) `(\w+)` is (\d+) (more|less) than ({OF})", text):
        by = int(match[3]) * (1 if match[4] == "more" else -1)
        yield from related(owner(match[1]), owner(match[5]), match[2], by, state, binding)
    elif match := re.fullmatch(rf"({OF}) `(\w+)` is (-?\d+)", text):
        for thing, bound in referents(owner(match[1]), state, binding):
            if thing.values[match[2]] == int(match[3]):
                yield bound
    else:
        raise AssertionError(f"not understood: {text!r}")


def owner(text: str) -> str:
    return "it" if text.startswith("its") else text.removesuffix("'s")


def related(
    subject: str, other: str, attribute: str, by: Any, state: Any, binding: Binding
) -> Iterator[Binding]:
    """Bindings in which the subject's value is that of the other and `by` more."""
    for one, bound in referents(subject, state, binding):
        # "That" is what was spoken of before this sentence, not in it.
        spoken_of = binding if other.startswith("that ") else bound
        for two, more in referents(other, state, spoken_of):
            both = bound if spoken_of is binding else more
            if one.id == two.id or not {attribute} <= {*one.values} & {*two.values}:
                continue
            value, other_value = (each.values[attribute] for each in (one, two))
            plus = (
                (other_value[0] + by[0], other_value[1] + by[1])
                if isinstance(by, tuple)
                else other_value + by
            )
            if value == plus:
                yield both


def referents(noun: str, state: Any, binding: Binding) -> Iterator[tuple[Thing, Binding]]:
    """The objects that a noun may mean, each with the binding that has it."""
    if noun == "it":
        yield binding[0], binding
        return
    if noun == "something":  # of whatever class; no sentence speaks of it again
        yield from ((each, binding) for each in state)
        return
    which, _, name = noun.rpartition(" ")
    same_class = [each for each in binding if each.class_name == name]
    index_of = {"that": -1, "that other": -1, "the first": 0, "the second": 1}
    if which in index_of or (which == "the" and same_class):
        yield same_class[index_of.get(which, 0)], binding
        return
    for each in state.of_class(name):
        if each.id not in {bound.id for bound in binding}:
            yield each, (*binding, each)
