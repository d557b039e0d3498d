"""Rules in plain English.

    rule -> reading -> [ english ] -> text

In:   a `Rule`.
Out:  one sentence, where one will do, or a short list of them, nested where the tree is.

>>> from treethink import TreeThink, make
>>> from treethink.stream.random_play import transitions
>>> world = make("walls")
>>> model = TreeThink(world.schema)
>>> model.observe_many(transitions(world, steps=1_000, seed=0))
1000
>>> print(text_of(model.rules["player", "pos", "right"]))
When `right` is pressed, the player moves 1 right, unless a wall is directly to the right of it.
"""

import re

from treethink.explain.english.conditions import conditions
from treethink.explain.english.nouns import Nouns, article
from treethink.explain.english.outcomes import Telling, telling_of
from treethink.explain.english.phrases import Choice, Leaf, Reading, Way, is_certain, read
from treethink.rules import Rule, Value
from treethink.text import printable

__all__ = ["text_of"]

_INDENT = "  "
# Words for keys and buttons. Of all other actions it is said that they are chosen.
_KEYS = {
    "left", "right", "up", "down", "jump", "fire", "enter", "space", "escape", "button",
}  # fmt: skip
# With these, up and down are no directions: nobody presses `pick-up` to go up.
_VERBS = {
    "back", "break", "bring", "calm", "clean", "close", "cool", "count", "cut", "dress", "end",
    "fill", "get", "give", "grow", "hang", "heat", "hold", "keep", "knock", "lay", "let", "lie",
    "lock", "make", "open", "pick", "power", "put", "save", "set", "settle", "shut", "sit", "slow",
    "speed", "stand", "start", "take", "tear", "tidy", "wake", "warm", "wind", "wrap", "write",
}  # fmt: skip
# What is still to be said: a reading, how deep, how it begins, and the value known by then.
_Waiting = tuple[Reading, int, str, Value | None]


def text_of(rule: Rule) -> str:
    """The rule in English."""
    reading = read(rule)
    nouns = Nouns(rule.single, given=len(rule.classes))
    telling = telling_of(rule, whole=_stands_alone(rule, reading))
    if _is_simple(reading):
        return printable(_sentence(rule, reading, telling, nouns))
    lines = [f"{_opening(rule, telling)}:", *_items(reading, telling, nouns)]
    return "\n".join(map(printable, lines))


def _stands_alone(rule: Rule, reading: Reading) -> bool:
    """Whether the attribute needs no owner: nothing else has it, and no test asks about that."""
    if rule.key is None or rule.schema is None or rule.key[0] not in rule.single:
        return False
    owners = [name for name, has in rule.schema.classes.items() if rule.key[1] in has]
    asked = (each for choice in _choices(reading) for way in choice.ways for each in way)
    return len(owners) == 1 and not any(0 in each.test.variables for each in asked)


def _choices(reading: Reading) -> list[Choice]:
    """All choices of a reading."""
    found, waiting = [], [reading]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Choice):
            found.append(each)
            waiting += [each.no, each.yes]
    return found


# ---- one sentence ----


def _is_simple(reading: Reading) -> bool:
    """Whether one sentence will do."""
    if isinstance(reading, Leaf):
        return True
    return is_certain(reading.yes) and is_certain(reading.no)


def _sentence(rule: Rule, reading: Reading, telling: Telling, nouns: Nouns) -> str:
    start = _when(rule)
    if isinstance(reading, Leaf):
        return f"{start}, {telling.clause(reading, telling.subject)}."
    if said := _unless(reading, telling, nouns, telling.subject):
        return f"{start}, {said}."
    assert isinstance(reading.yes, Leaf)
    assert isinstance(reading.no, Leaf)
    yes = telling.clause(reading.yes, telling.subject, _value(reading.ways, telling, None))
    no = telling.clause(reading.no, "it")
    return f"{start}, {yes} if {conditions(reading.ways, nouns)}; otherwise {no}."


def _unless(
    choice: Choice, telling: Telling, nouns: Nouns, subject: str, was: Value | None = None
) -> str | None:
    """What happens, but for an exception in which nothing does; None: it is not like that."""
    yes, no = choice.yes, choice.no
    if not (isinstance(yes, Leaf) and isinstance(no, Leaf) and is_certain(no)):
        return None
    if not telling.is_nothing(yes) or telling.is_nothing(no):
        return None
    return f"{telling.clause(no, subject, was)}, unless {conditions(choice.ways, nouns)}"


def _when(rule: Rule) -> str:
    """How the rule begins: its action, or what a tree by itself is about."""
    if rule.key is not None:
        return f"When `{rule.key[2]}` is {'pressed' if is_key(rule.key[2]) else 'chosen'}"
    names = [f"the {name}" for name in rule.classes]
    if len(set(rule.classes)) < len(rule.classes):
        names = [article(name) for name in rule.classes]
    return "For " + " and ".join(names)


def is_key(action: str) -> bool:
    """Whether an action is named like something that one presses; its last word decides.

    Unless that only belongs to a verb, as in `pick-up`.

    >>> is_key("right"), is_key("guard-up"), is_key("step"), is_key("pick-up")
    (True, True, False, False)
    """
    *before, last = re.split(r"[-_ ]", action.lower())
    if last in ("up", "down") and before and before[-1] in _VERBS:
        return False
    return last in _KEYS


def _opening(rule: Rule, telling: Telling) -> str:
    """The same, above a list."""
    if rule.key is None or telling.subject == telling.again:
        return _when(rule)
    name = rule.key[0]
    return f"{_when(rule)}, for {'the' if name in rule.single else 'each'} {name}"


# ---- a list of sentences ----


def _items(reading: Reading, telling: Telling, nouns: Nouns) -> list[str]:
    """A list: after a choice comes what is said otherwise. A stack, so that depth is no limit."""
    lines: list[str] = []
    waiting: list[_Waiting] = [(reading, 0, "", None)]
    while waiting:
        reading, depth, start, was = waiting.pop()
        if isinstance(reading, Leaf):
            said = f"{start}{telling.clause(reading, telling.again, was)}."
        else:
            said, below = _choice(reading, depth, start, was, telling, nouns)
            waiting += below
        lines.append(f"{_INDENT * depth}- {said[0].upper()}{said[1:]}")
    return lines


def _choice(
    choice: Choice, depth: int, start: str, was: Value | None, telling: Telling, nouns: Nouns
) -> tuple[str, list[_Waiting]]:
    """What is said of a choice in its own line, and what is left to be said, the last first."""
    if said := _unless(choice, telling, nouns, telling.again, was):
        return f"{start}{said}.", []
    asked = f"{start}if {conditions(choice.ways, nouns)}"
    otherwise: _Waiting = (choice.no, depth, "otherwise, ", was)
    then = _value(choice.ways, telling, was)
    if isinstance(choice.yes, Leaf):
        return f"{asked}, {telling.clause(choice.yes, telling.again, then)}.", [otherwise]
    if said := _unless(choice.yes, telling, nouns, telling.again, then):
        return f"{asked}, {said}.", [otherwise]
    return f"{asked}:", [otherwise, (choice.yes, depth + 1, "", then)]


def _value(ways: tuple[Way, ...], telling: Telling, was: Value | None) -> Value | None:
    """The attribute's value before, if the conditions say so in every way."""
    found = {_value_in(way, telling) for way in ways}
    return was if found == {None} or len(found) > 1 else found.pop()


def _value_in(way: Way, telling: Telling) -> Value | None:
    for each in way:
        about = (each.test.kind, each.test.attribute, each.test.variables)
        if each.holds and about == ("equality", telling.attribute, (0,)):
            return each.test.value
    return None
