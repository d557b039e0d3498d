"""A reader of rules in English, who knows nothing but the words.

    text, state, object -> [ plain english ] -> what happens to it

It shares no code with `treethink.explain`: whoever reads left as right is found out. It reads rules
whose outcomes are certain, of attributes of one number and of places.
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
NOUN = r"(?:it|its|(?:that other|no other|another|an|a|no|that|the first|the second|the) [\w-]+)"
OF = rf"(?:its own|its|{NOUN}'s)"


def follow(text: str, state: Any, thing: Thing) -> str:
    """The outcome that the text has for the object: "moves 1 left"."""
    first, *items = text.splitlines()
    said = re.split("is (?:pressed|chosen)", first, maxsplit=1)[1].removeprefix(", ")
    if items:
        return followed(items, state, [(thing,)])
    return sentence(said, state, [(thing,)])


def sentence(said: str, state: Any, bindings: list[Binding]) -> str:
    """One sentence, which may have an exception or an alternative."""
    said = said.rstrip(".")
    if "; otherwise " in said:
        does, other = said.split("; otherwise ")
        does, asked = does.split(" if ", 1)
        return outcome(does if holding(asked, state, bindings) else other)
    does, _, exception = said.partition(", unless ")
    if exception and holding(exception, state, bindings):
        return "does not move"
    return outcome(does)


def followed(items: list[str], state: Any, bindings: list[Binding]) -> str:
    """The first of a list's sentences whose condition holds, and what stands below it."""
    depth = len(items[0]) - len(items[0].lstrip())
    for i, item in enumerate(items):
        if len(item) - len(item.lstrip()) != depth:
            continue
        said = re.sub(r"^ *- (Otherwise, )?", "", item)
        if not re.match("if ", said, re.IGNORECASE):
            return sentence(said, state, bindings)
        if said.endswith(":"):
            if found := holding(said[3:-1], state, bindings):
                return followed(items[i + 1 :], state, found)
            continue
        asked, _, does = said[3:].partition(", it")
        if not does:
            asked, _, does = said[3:].partition(", the ")
        if found := holding(asked, state, bindings):
            return sentence(f"it{does}", state, found)
    raise AssertionError(f"no sentence fits: {items}")


def outcome(said: str) -> str:
    """What happens, without the words about whom."""
    found = re.search(r"(moves|does not|rises|falls|becomes) .*$", said)
    assert found, said
    return found[0]


def result(said: str, now: Any) -> Any:
    """The new value, according to an outcome."""
    if said.startswith("does not"):
        return now
    verb, *rest = said.split()
    if verb == "becomes":
        return int(rest[0])
    if verb == "moves":
        dx, dy = DIRECTIONS[rest[1]]
        return now[0] + int(rest[0]) * dx, now[1] + int(rest[0]) * dy
    return now + int(rest[-1]) * (1 if verb == "rises" else -1)


# ---- conditions ----


def holding(said: str, state: Any, bindings: list[Binding]) -> list[Binding]:
    """The bindings for which it is so; none: it is not."""
    for way in said.split(", or "):
        found = bindings
        for each in parts(way):
            found = asked(each, state, found)
        if found:
            return found
    return []


def parts(way: str) -> Iterator[str]:
    """Conditions one by one: "no a and no b is here" are two, and so are "a or b is here"."""
    said = re.split(rf" and (?={NOUN}['` ])", way)
    while said:
        if not re.search(r" (is|has|does not have) |`.*` is ", said[0]):  # a subject without a verb
            verb = re.search(r" (?:is|has) .*$", said[1])
            assert verb, way
            said[0] += verb[0]
        yield said.pop(0)


def asked(said: str, state: Any, bindings: list[Binding]) -> list[Binding]:
    """The bindings, with what is newly spoken of, that make it so."""
    if found := re.fullmatch(rf"({NOUN}) or ({NOUN}) (is .*)", said):
        one, other, what = found.groups()
        return asked(f"{one} {what}", state, bindings) or asked(f"{other} {what}", state, bindings)
    if said.startswith("no "):
        some = re.sub("^no other ", "another ", said)
        return [] if asked(re.sub("^no ", "a ", some), state, bindings) else bindings
    if re.search(r" is not | does not have ", said):
        some = said.replace(" is not ", " is ").replace(" does not have ", " has ")
        return [] if asked(some, state, bindings) else bindings
    return [each for binding in bindings for each in extended(said, state, binding)]


def extended(said: str, state: Any, binding: Binding) -> Iterator[Binding]:
    far = rf"(?:(directly|\d+) (to the left of|to the right of|above|below) ({NOUN}))"
    if found := re.fullmatch(rf"({NOUN}) is {far}", said):
        subject, steps, way, other = found.groups()
        n = 1 if steps == "directly" else int(steps)
        by: Any = tuple(n * d for d in DIRECTIONS[way])
        yield from related(subject, other, "pos", by, state, binding)
    elif found := re.fullmatch(rf"({NOUN}) is where ({NOUN}) is", said):
        yield from related(found[1], found[2], "pos", (0, 0), state, binding)
    elif found := re.fullmatch(rf"({NOUN}) has the same `(\w+)` as ({NOUN})", said):
        yield from related(found[1], found[3], found[2], 0, state, binding)
    elif found := re.fullmatch(rf"({OF}) `(\w+)` is (\d+) (more|less) than ({OF})", said):
        by = int(found[3]) * (1 if found[4] == "more" else -1)
        yield from related(owner(found[1]), owner(found[5]), found[2], by, state, binding)
    elif found := re.fullmatch(rf"({OF}) `(\w+)` is (-?\d+)", said):
        for thing, bound in meant(owner(found[1]), state, binding):
            if thing.values[found[2]] == int(found[3]):
                yield bound
    else:
        raise AssertionError(f"not understood: {said!r}")


def owner(said: str) -> str:
    return "it" if said.startswith("its") else said.removesuffix("'s")


def related(
    subject: str, other: str, attribute: str, by: Any, state: Any, binding: Binding
) -> Iterator[Binding]:
    """Bindings in which the subject's value is that of the other and `by` more."""
    for one, bound in meant(subject, state, binding):
        # "That" is what was spoken of before this sentence, not in it.
        spoken_of = binding if other.startswith("that ") else bound
        for two, more in meant(other, state, spoken_of):
            both = bound if spoken_of is binding else more
            here, there = (each.values[attribute] for each in (one, two))
            plus = (there[0] + by[0], there[1] + by[1]) if isinstance(by, tuple) else there + by
            if here == plus:
                yield both


def meant(noun: str, state: Any, binding: Binding) -> Iterator[tuple[Thing, Binding]]:
    """The objects that a noun may mean, each with the binding that has it."""
    if noun == "it":
        yield binding[0], binding
        return
    which, _, name = noun.rpartition(" ")
    alike = [each for each in binding if each.class_name == name]
    known = {"that": -1, "that other": -1, "the first": 0, "the second": 1}
    if which in known or (which == "the" and alike):
        yield alike[known.get(which, 0)], binding
        return
    for each in state.of_class(name):
        if each.id not in {bound.id for bound in binding}:
            yield each, (*binding, each)
