"""Names for objects: "a wall", "another key", "that door", "its"."""

from __future__ import annotations

import re

__all__ = ["Nouns", "article", "is_noun", "owner"]

# _SPELLED: names that are said letter by letter, such as F, NPC and UFO.
# _VOWEL: names that begin with a vowel, also after a silent h or as a number.
# _NO_VOWEL: of these, names that begin with the sound of "you" or "one".
_SPELLED = re.compile(
    r"[a-zA-Z](?![a-zA-Z])|[B-DF-HJ-NP-TV-Z]{2,}(?![a-z])|U(?!P|RN)[A-Z]{1,2}(?![a-zA-Z])"
)
_VOWEL = re.compile(r"[aeiou]|hour|honest|hono|heir|8|1[18](?!\d)", re.IGNORECASE)
_NO_VOWEL = re.compile(r"uni(?!n|m|d)|us[aeu]|ut[ei]|u[bkr][aeiou]|eu|one(?!r)|once", re.IGNORECASE)

# Attributes that need no owner in a sentence.
_ALONE = {
    "balance", "budget", "clock", "countdown", "date", "day", "hour", "money", "points", "price",
    "reward", "round", "score", "season", "temperature", "time", "timer", "turn", "weather", "year",
}  # fmt: skip

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def article(name: str) -> str:
    """Return the name with its indefinite article, chosen by sound.

    >>> article("wall"), article("apple"), article("unit"), article("hour"), article("NPC")
    ('a wall', 'an apple', 'a unit', 'an hour', 'an NPC')
    """
    if _SPELLED.match(name):
        vowel = name[0].lower() in "aefhilmnorsx"
    else:
        vowel = bool(_VOWEL.match(name)) and not _NO_VOWEL.match(name)
    return f"an {name}" if vowel else f"a {name}"


def is_noun(attribute: str) -> bool:
    """Whether a sentence can name it without its owner: "the score", but "the lamp's `on`".

    The last word of the name decides.

    >>> is_noun("score"), is_noun("high_score"), is_noun("on"), is_noun("color")
    (True, True, False, False)
    """
    return re.split(r"[-_ .]", attribute.lower())[-1] in _ALONE


def _ordinal(n: int) -> str:
    return _ORDINALS[n] if n < len(_ORDINALS) else f"number {n + 1}"


class Nouns:
    """Names for the objects of a rule.

    `single` are the classes that have one object, `given` is the number of variables that the
    rule is about.

    >>> nouns = Nouns(frozenset({"player"}), given=1)
    >>> nouns.new("player", ("key",)), nouns.new("key", ("key",)), nouns.new("door", ("key",))
    ('the player', 'another key', 'a door')
    >>> bound = ("key", "key", "door", "player")
    >>> [nouns.known(variable, bound) for variable in range(4)]
    ['it', 'that other key', 'that door', 'the player']
    """

    def __init__(self, single: frozenset[str], given: int):
        self.single = single
        self.given = given

    def new(self, name: str, known: tuple[str, ...], some: bool = True) -> str:
        """Name an object that has not been mentioned; `some` is False for "no such object"."""
        before = known.count(name)
        if name in self.single and not before:
            return f"the {name}"
        if not some:
            return f"no other {name}" if before else f"no {name}"
        if before > 1:
            return f"a {_ordinal(before)} {name}"
        return f"another {name}" if before else article(name)

    def known(self, variable: int, known: tuple[str, ...]) -> str:
        """Name an object that has been mentioned."""
        if variable == 0 and self.given == 1:
            return "it"
        name = known[variable]
        same_class = [each for each, other in enumerate(known) if other == name]
        if len(same_class) == 1:
            return f"the {name}" if name in self.single or variable < self.given else f"that {name}"
        if same_class == [0, variable] and self.given == 1:
            return f"that other {name}"
        return f"the {_ordinal(same_class.index(variable))} {name}"


def owner(noun: str) -> str:
    """Return the possessive: "its", "the player's"."""
    return "its" if noun == "it" else f"{noun}'s"
