"""Conditions in words: "a wall is directly to the right of it".

    condition -> [ conditions ] -> english

Objects that a test brings in are "a door", "another key"; after that they are "that door". If
several would do, "that door" is any of them: one for which the answer is yes is enough, and "not"
means for none of them. That is how a tree is evaluated (docs/algorithm.md).
"""

from itertools import groupby

from treethink import _engine
from treethink.explain.english.nouns import Nouns, owner
from treethink.explain.english.phrases import Condition, Way
from treethink.explain.english.places import is_position, place
from treethink.explain.vectors import is_zero, negative
from treethink.rules import Test, Value

__all__ = ["conditions"]

#: Of what something is said, and what.
Said = tuple[str, str]


def conditions(ways: tuple[Way, ...], nouns: Nouns) -> str:
    """All of them, said one after the other."""
    if all(len(way) == 1 for way in ways):
        return _listed([said(way[0], nouns) for way in ways], "or", ", or ")
    return ", or ".join(_together(way, nouns) for way in ways)


def _together(way: Way, nouns: Nouns) -> str:
    """Conditions that hold at once. First those about the object itself, so that "its" is clear.

    That changes nothing: a test of the object alone binds no others.
    """
    own = sorted(way, key=lambda each: each.test.variables != (0,))
    return _listed([said(each, nouns) for each in own], "and", " and ")


def _listed(parts: list[Said], word: str, link: str) -> str:
    """Subjects with what is said of them; what is said of several in a row is said once.

    >>> _listed([("a wall", "is here"), ("a gate", "is here"), ("it", "is there")], "or", ", or ")
    'a wall or a gate is here, or it is there'
    """
    rows = [
        (f" {word} ".join(parts[i][0] for i in row), what)
        for (_, what), row in groupby(range(len(parts)), key=lambda i: _shared(parts, i, word))
    ]
    return link.join(f"{subject} {what}" for subject, what in rows)


def _shared(parts: list[Said], i: int, word: str) -> tuple[int, str]:
    """Equal for parts that can be said at once: "a or b is", "no a and no b is", but not others."""
    subject, what = parts[i]
    none = subject.startswith("no ")
    joins = none if word == "and" else not none and " not" not in what
    return (-1 if joins else i), what


def said(asked: Condition, nouns: Nouns) -> Said:
    """One condition in words, or that it does not hold: of what it is said, and what."""
    test = asked.test
    if test.kind == "equality":
        return _equality(test, _called(asked, 0, nouns, asked.holds), asked.holds)
    if test.kind != "difference":
        return _formula(asked, nouns)
    first = _first(test, nouns)
    subject = _called(asked, first, nouns, asked.holds)
    other = _called(asked, 1 - first, nouns, last=first)
    # A difference is told from the first to the last; for people, from the other to the subject.
    by = test.value if first == 1 else negative(test.value)
    return _difference(test.attribute, subject, other, by, asked.holds)


def _first(test: Test, nouns: Nouns) -> int:
    """Which of two objects is told of: the new one, and of two such the one of many."""
    new = {variable for variable, _ in test.new}
    fresh = [variable in new for variable in test.variables]
    if all(fresh):
        one, other = (name in nouns.single for name in test.classes)
        return 1 if one and not other else 0
    return fresh.index(True) if any(fresh) else int(test.variables[1] > test.variables[0])


def _called(asked: Condition, which: int, nouns: Nouns, some: bool = True, last: int = -1) -> str:
    """What an object of the test is called, said after the object `last` of it, if that is one."""
    test, new = asked.test, [variable for variable, _ in asked.test.new]
    if test.variables[which] not in new:
        return nouns.known(test.variables[which], asked.known)
    before = [test.classes[last]] if last >= 0 and test.variables[last] in new else []
    return nouns.new(test.classes[which], (*asked.known, *before), some)


def _is(subject: str, what: str, holds: bool) -> Said:
    denied = not holds and not subject.startswith("no ")
    return subject, f"is not {what}" if denied else f"is {what}"


def _has(subject: str, what: str, holds: bool) -> Said:
    denied = not holds and not subject.startswith("no ")
    return subject, f"does not have {what}" if denied else f"has {what}"


def _equality(test: Test, subject: str, holds: bool) -> Said:
    if is_position(test.attribute, test.value):
        return _is(subject, f"at {test.value}", holds)
    return _is(f"{owner(subject)} `{test.attribute}`", str(test.value), holds)


def _difference(attribute: str, subject: str, other: str, by: Value, holds: bool) -> Said:
    if isinstance(by, tuple) and is_position(attribute, by):
        return _is(subject, place(by, other), holds)
    if is_zero(by):
        return _has(subject, f"the same `{attribute}` as {other}", holds)
    than = "its own" if other == "it" else owner(other)
    if isinstance(by, tuple):
        return _is(f"{owner(subject)} `{attribute}`", f"{than} plus {by}", holds)
    much = f"{by} more" if by > 0 else f"{-by} less"
    return _is(f"{owner(subject)} `{attribute}`", f"{much} than {than}", holds)


def _formula(asked: Condition, nouns: Nouns) -> Said:
    """A fact of a kind for which there are no words: its formula, with names for the objects."""
    test = asked.test
    whose = [owner(_called(asked, i, nouns, last=i - 1)) for i in range(len(test.variables))]
    names = [f"{each} `{test.attribute}`" for each in whose]
    value = list(test.value) if isinstance(test.value, tuple) else [test.value]
    text = _engine.formula(test.kind, names[0], names[-1], value, False)
    if asked.holds:
        return text, "holds"
    return text, "holds for none" if test.new else "does not hold"
