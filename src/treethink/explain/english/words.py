"""Words for objects, positions and steps: "a wall", "that door", "its", "2 left", "above it"."""

from __future__ import annotations

import re

from treethink.attributes import SUM
from treethink.rules import Value

# -------------------------------------------------------------------------------- names of objects

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


#: In place of a class: any other object, of whatever class, and none.
SOMETHING, NOTHING = "something", "nothing"


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
        if name == SOMETHING:
            return SOMETHING if some else NOTHING
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


# --------------------------------------------------------------------------------------- positions
#
# An attribute is taken for a position if its values have two components and the last word of its
# name is one of those below: `pos`, `position`, `xy`, also `start_pos`. The first component grows
# to the right and the second downwards, as on a screen: up is (0, -1).

_NAMES = {
    "at", "cell", "coord", "coordinate", "coordinates", "coords", "loc", "location", "place",
    "point", "pos", "position", "square", "tile", "where", "xy",
}  # fmt: skip


def is_position(attribute: str, value: Value) -> bool:
    """Whether the attribute, which has `value` as one of its values, is a position.

    >>> is_position("pos", (3, 4)), is_position("start_pos", (3, 4)), is_position("hat", (3, 4))
    (True, True, False)
    >>> is_position("pos", 3)
    False
    """
    if SUM in attribute:
        return False  # where it may be next is not where it is
    last = re.split(r"[-_ .]", attribute.lower())[-1]
    return isinstance(value, tuple) and len(value) == 2 and last in _NAMES


def located(noun: str, attribute: str, value: Value, quote: str = "`") -> str:
    """Name an attribute of an object; its position is the object itself.

    >>> located("it", "pos", (0, 0)), located("it", "pos + heading", (0, 0))
    ('it', 'the point one `heading` from it')
    >>> located("the car", "speed", 0)
    "the car's `speed`"
    """
    if is_position(attribute, value):
        return noun
    if (step := _step(attribute, value)) is not None:
        return f"the point one {quote}{step}{quote} from {noun}"
    return f"{owner(noun)} {quote}{attribute}{quote}"


def place_from(by: tuple[int, ...], noun: str, attribute: str, quote: str = "`") -> str:
    """Return the position of something that lies `by` away from an attribute of an object.

    >>> place_from((0, 0), "it", "pos"), place_from((0, 0), "it", "pos + heading")
    ('where it is', 'one `heading` from it')
    >>> place_from((0, -1), "it", "pos + heading")
    'directly above the point one `heading` from it'
    """
    step = _step(attribute, by)
    if step is not None and not any(by):
        return f"one {quote}{step}{quote} from {noun}"
    return place(by, located(noun, attribute, by, quote))


def _step(attribute: str, value: Value) -> str | None:
    """Return what is added to a position, if the attribute is such a sum (`Schema.sums`)."""
    start, _, step = attribute.partition(SUM)
    return step if step and is_position(start, value) else None


def steps(by: tuple[int, ...]) -> str:
    """Return a step in words.

    >>> steps((1, 0)), steps((0, -2)), steps((-1, 3))
    ('1 right', '2 up', '1 left and 3 down')
    """
    directions = (("left", "right"), ("up", "down"))
    parts = [f"{abs(n)} {words[n > 0]}" for n, words in zip(by, directions, strict=True) if n]
    return " and ".join(parts)


def place(by: tuple[int, ...], of: str) -> str:
    """Return the position of something that lies `by` away from `of`.

    >>> place((1, 0), "it"), place((0, -1), "it"), place((0, 2), "that door")
    ('directly to the right of it', 'directly above it', '2 below that door')
    >>> place((0, 0), "it"), place((2, -1), "it")
    ('where it is', '2 right and 1 up from it')
    """
    if not any(by):
        return f"where {of} is"
    if all(by):
        return f"{steps(by)} from {of}"
    words = ("to the left of", "to the right of") if by[0] else ("above", "below")
    direction = words[sum(by) > 0]
    distance = "directly" if abs(sum(by)) == 1 else str(abs(sum(by)))
    return f"{distance} {direction} {of}"


def direction(signs: tuple[int, ...], of: str) -> str:
    """Return the position of something that lies anywhere in a direction from `of`.

    >>> direction((1, 0), "it"), direction((0, -1), "it"), direction((-1, 1), "that door")
    ('straight to the right of it', 'straight above it', 'below and to the left of that door')
    """
    if not any(signs):
        return f"where {of} is"
    across = ("to the left of", "to the right of")[signs[0] > 0]
    along = ("above", "below")[signs[1] > 0]
    if all(signs):
        return f"{along} and {across} {of}"
    return f"straight {across if signs[0] else along} {of}"
