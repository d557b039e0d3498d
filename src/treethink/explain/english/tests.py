"""A test in English. There are three forms:

    conditions     of a rule, about variables: "a wall is directly to the right of it"
    statement      about the objects of a state: "no wall is at (4, 3), directly above player 50"
    supposition    contrary to fact: "there were a wall directly above player 50"

In a condition, the objects that a test introduces are "a door", "another key"; afterwards they are
"that door". If several objects fit, "that door" is any of them: one for which the answer is yes is
enough, and "not" means for none of them. This is how a tree is evaluated (docs/algorithm.md).

A statement names a variable by the object it stands for. If there are many bindings it names the
first, and says how many more there are. A difference is told of one of its two objects relative to
the other one, its anchor. In a supposition, an object that does not exist has no id: it is "that
door".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from treethink import _engine
from treethink.explain.english.phrases import Condition, Conjunction
from treethink.explain.english.words import Nouns, article, is_position, owner, place
from treethink.explain.path import Binding, Step, plain_value_of, value_of
from treethink.outcome_text import value_text
from treethink.rules import Test, Value, is_zero, negative, plus
from treethink.state import State

__all__ = ["Requirement", "conditions", "object_name", "requirements", "statement", "supposition"]

#: A subject and its predicate.
Clause = tuple[str, str]

_MAX_NAMES = 3


# ---------------------------------------------------------------- conditions of a rule


def conditions(alternatives: tuple[Conjunction, ...], nouns: Nouns) -> str:
    """Return all alternatives in words, joined by "or"."""
    if all(len(conjunction) == 1 for conjunction in alternatives):
        return _joined([clause(each[0], nouns) for each in alternatives], "or", ", or ")
    return ", or ".join(_conjunction(each, nouns) for each in alternatives)


def _conjunction(conjunction: Conjunction, nouns: Nouns) -> str:
    """Join conditions by "and", those about the object itself first, so that "its" is clear.

    The order makes no difference: a test of the object alone binds no others.
    """
    own_first = sorted(conjunction, key=lambda each: each.test.variables != (0,))
    return _joined([clause(each, nouns) for each in own_first], "and", " and ")


def _joined(clauses: list[Clause], word: str, link: str) -> str:
    """Join clauses; adjacent ones with the same predicate share it.

    >>> _joined([("a wall", "is here"), ("a gate", "is here"), ("it", "is there")], "or", ", or ")
    'a wall or a gate is here, or it is there'
    """
    rows = [
        (f" {word} ".join(clauses[i][0] for i in row), predicate)
        for (_, predicate), row in groupby(
            range(len(clauses)), key=lambda i: _group(clauses, i, word)
        )
    ]
    return link.join(f"{subject} {predicate}" for subject, predicate in rows)


def _group(clauses: list[Clause], i: int, word: str) -> tuple[int, str]:
    """Return a key that is equal for clauses which can share a predicate.

    "a or b is" and "no a and no b is" can, other combinations cannot.
    """
    subject, predicate = clauses[i]
    none = subject.startswith("no ")
    joins = none if word == "and" else not none and " not" not in predicate
    return (-1 if joins else i), predicate


def clause(condition: Condition, nouns: Nouns) -> Clause:
    """Return one condition, or its negation, as subject and predicate."""
    test, holds = condition.test, condition.holds
    if test.kind == "equality":
        return _equality(test, _noun(condition, 0, nouns, holds), holds)
    if test.kind != "difference":
        return _formula(condition, nouns)
    first = _subject(test, nouns)
    subject = _noun(condition, first, nouns, holds)
    other = _noun(condition, 1 - first, nouns, last=first)
    # A test's value leads from its first object to its last; ours, from the other to the subject.
    by = test.value if first == 1 else negative(test.value)
    return _difference(test.attribute, subject, other, by, holds)


def _subject(test: Test, nouns: Nouns) -> int:
    """Return which of two objects is the subject: the new one; of two, the one of many."""
    new = {variable for variable, _ in test.new}
    is_new = [variable in new for variable in test.variables]
    if all(is_new):
        one, other = (name in nouns.single for name in test.classes)
        return 1 if one and not other else 0
    return is_new.index(True) if any(is_new) else int(test.variables[1] > test.variables[0])


def _noun(condition: Condition, which: int, nouns: Nouns, some: bool = True, last: int = -1) -> str:
    """Name an object of the test; `last` is the object of it that was named before, if any."""
    test, new = condition.test, [variable for variable, _ in condition.test.new]
    if test.variables[which] not in new:
        return nouns.known(test.variables[which], condition.known)
    before = [test.classes[last]] if last >= 0 and test.variables[last] in new else []
    return nouns.new(test.classes[which], (*condition.known, *before), some)


def _is(subject: str, what: str, holds: bool) -> Clause:
    negated = not holds and not subject.startswith("no ")
    return subject, f"is not {what}" if negated else f"is {what}"


def _has(subject: str, what: str, holds: bool) -> Clause:
    negated = not holds and not subject.startswith("no ")
    return subject, f"does not have {what}" if negated else f"has {what}"


def _equality(test: Test, subject: str, holds: bool) -> Clause:
    if _is_place(test):
        return _is(subject, f"at {test.value}", holds)
    value = test.value
    if isinstance(value, bool) and not holds and not subject.startswith("no "):
        value, holds = not value, True
    return _is(f"{owner(subject)} `{test.attribute}`", value_text(value), holds)


def _difference(attribute: str, subject: str, other: str, by: Value, holds: bool) -> Clause:
    if isinstance(by, tuple) and is_position(attribute, by):
        return _is(subject, place(by, other), holds)
    if is_zero(by):
        return _has(subject, f"the same `{attribute}` as {other}", holds)
    assert not isinstance(by, str)  # names are values of equality tests
    than = "its own" if other == "it" else owner(other)
    if isinstance(by, tuple):
        return _is(f"{owner(subject)} `{attribute}`", f"{than} plus {by}", holds)
    much = f"{by} more" if by > 0 else f"{-by} less"
    return _is(f"{owner(subject)} `{attribute}`", f"{much} than {than}", holds)


def _formula(condition: Condition, nouns: Nouns) -> Clause:
    """Return the formula of a fact for whose kind there are no words, with names for objects."""
    test = condition.test
    owners = [owner(_noun(condition, i, nouns, last=i - 1)) for i in range(len(test.variables))]
    names = [f"{each} `{test.attribute}`" for each in owners]
    assert not isinstance(test.value, str)  # names are values of equality tests
    value = list(test.value) if isinstance(test.value, tuple) else [test.value]
    text = _engine.formula(test.kind, names[0], names[-1], value, False)
    if condition.holds:
        return text, "holds"
    return text, "holds for none" if test.new else "does not hold"


# ------------------------------------------------- statements about the objects of a state


@dataclass(frozen=True, slots=True)
class Requirement:
    """An object that a test with a new variable asks for: its class and one of its values.

    `anchor` is the object relative to which the value is given, `by` the difference from it.
    """

    class_name: str
    attribute: str
    value: Value
    anchor: int
    by: Value


def requirements(state: State, test: Test, bindings: Sequence[Binding]) -> list[Requirement]:
    """Return one requirement for each value that would do; none where there is no anchor."""
    by_value: dict[Value, Requirement] = {}
    for binding in bindings if test.kind == "difference" else ():
        which, anchor = _anchor(state, test, binding)
        if anchor is not None:
            by = _offset(test, which)
            value = _plus(state, anchor, test.attribute, by)
            required = Requirement(test.classes[1 - which], test.attribute, value, anchor, by)
            by_value.setdefault(value, required)
    return list(by_value.values())


def _anchor(state: State, test: Test, binding: Binding) -> tuple[int, int | None]:
    """Return which of the two variables of a difference is the anchor, 0 or 1, and its object.

    The anchor is the older variable. If both are new, it is one whose class has a single object;
    of two such, the one that the schema lists later, since movers mostly come last.
    """
    older = _older(test)
    if test.variables[older] < len(binding):
        return older, binding[test.variables[older]]
    for each in (1, 0):
        free = [x.id for x in state.of_class(test.classes[each]) if x.id not in binding]
        if len(free) == 1 and test.classes[0] != test.classes[1]:
            return each, free[0]
    return older, None


def _older(test: Test) -> int:
    """Return which of the test's variables was bound first."""
    return test.variables.index(min(test.variables))


def _offset(test: Test, anchor: int) -> Value:
    """Return what must be added to the anchor's value, 0 or 1, to get the other one's."""
    return test.value if anchor == 0 else negative(test.value)


def statement(state: State, step: Step) -> str:
    """Return what a test found, as a sentence without its full stop."""
    if step.holds:
        more = len(step.after) - 1
        ways = f" (and in {more:,} more way{'s' if more > 1 else ''})" if more else ""
        return _held(state, step) + ways
    if step.test.new:
        other = "other " if _is_another(step.test, step.node.classes) else ""
        return f"no {other}{_absent(state, step.test, step.before)}"
    more = len(step.before) - 1
    return _failed(state, step) + (f" (nor {more:,} more)" if more else "")


def _held(state: State, step: Step) -> str:
    test, binding = step.test, step.after[0]
    if test.kind == "equality":
        return f"{object_name(state, binding[test.variables[0]])} {_has_value(test, test.value)}"
    which, _ = _anchor(state, test, step.before[0])
    subject = binding[test.variables[1 - which]]
    has = _has_value(test, plain_value_of(state, subject, test.attribute))
    anchor = object_name(state, binding[test.variables[which]])
    relative = _relative(anchor, test.attribute, _offset(test, which))
    return f"{object_name(state, subject)} {has}, {relative}"


def _failed(state: State, step: Step) -> str:
    """Return what is so instead, for a test whose objects are all bound."""
    test, binding = step.test, step.before[0]
    required, relative, subject = test.value, "", test.variables[0]
    if test.kind == "difference":
        which, anchor = _anchor(state, test, binding)
        by, subject = _offset(test, which), test.variables[1 - which]
        required = _plus(state, anchor, test.attribute, by)
        relative = f", {_relative(object_name(state, anchor), test.attribute, by)}"
    has = _has_value(test, plain_value_of(state, binding[subject], test.attribute))
    at = "at " if is_position(test.attribute, required) else ""
    who = object_name(state, binding[subject])
    return f"{who} {has}, not {at}{value_text(required)}{relative}"


def _absent(state: State, test: Test, bindings: Sequence[Binding]) -> str:
    """Return what was not found: `wall is at (4, 3), directly above player 50`."""
    if test.kind == "equality":
        return f"{test.classes[0]} {_has_value(test, test.value)}"
    required = requirements(state, test, bindings)
    if not required:
        return _pair(test)
    values = _some([value_text(each.value) for each in required])
    what = f"{required[0].class_name} {_has_text(test, values)}"
    if len(required) > 1:
        return what
    anchor = object_name(state, required[0].anchor)
    return f"{what}, {_relative(anchor, test.attribute, required[0].by)}"


def _pair(test: Test) -> str:
    """Return what was not found of two new objects: `wall is directly above a door`."""
    one, other = test.classes
    if _is_place(test):
        return f"{other} is {_relative(_another(one, other), test.attribute, test.value)}"
    return f"{one} and {'another' if one == other else other} have {_relation(test)}"


def _has_value(test: Test, value: Value) -> str:
    """Return a verb for a value of the test's attribute: `is at (4, 3)`, `has open 1`."""
    return _has_text(test, value_text(value))


def _has_text(test: Test, value: str) -> str:
    return f"is at {value}" if _is_place(test) else f"has {test.attribute} {value}"


# -------------------------------------------------------------------- suppositions


def supposition(
    state: State, test: Test, holds: bool, bindings: Sequence[Binding], classes: Sequence[str]
) -> str:
    """Return what would have to be so for the test to answer `holds`; goes after "if".

    `classes` are those of the variables that are bound already.
    """
    if test.new:
        other = "other " if _is_another(test, classes) else ""
        start = "there were" if holds else "there were no"
        return f"{start} {_supposed_objects(state, test, holds, bindings, other)}"
    subject, value = 0, _at(test, value_text(test.value))
    if test.kind == "difference":
        anchor = _older(test)
        subject, value = 1 - anchor, _supposed_value(state, test, bindings, anchor)
    ids = dict.fromkeys(binding[test.variables[subject]] for binding in bindings)
    who = _some([_name_or_that(state, each, test.classes[subject]) for each in ids])
    if _is_place(test):
        return f"{who} were {'' if holds else 'not '}{value}"
    had = test.attribute if holds else f"another {test.attribute} than"
    return f"{who} had {had} {value}"


def _supposed_objects(
    state: State, test: Test, holds: bool, bindings: Sequence[Binding], other: str
) -> str:
    """Return the objects that a test asks for: `a wall at (4, 3)`."""

    def one(noun: str) -> str:
        return (article(other + noun) if holds else other + noun).replace("an other", "another")

    having = "" if _is_place(test) else f"with {test.attribute} "
    if test.kind == "equality":
        return f"{one(test.classes[0])} {having}{_at(test, value_text(test.value))}"
    if required := requirements(state, test, bindings):
        value = _at(test, _some([value_text(each.value) for each in required]))
        if _is_place(test) and len(required) == 1:
            anchor = object_name(state, required[0].anchor)
            value = _relative(anchor, test.attribute, required[0].by)
        return f"{one(required[0].class_name)} {having}{value}"
    if len(test.new) == 1:  # relative to an object that does not exist either
        value = _supposed_value(state, test, bindings, _older(test))
        return f"{one(test.new[0][1])} {having}{value}"
    first, second = test.classes
    if _is_place(test):
        return f"{one(second)} {_relative(_another(first, second), test.attribute, test.value)}"
    also = "another" if first == second else one(second) if holds else second
    return f"{one(first)} and {also} with {_relation(test)}"


def _supposed_value(state: State, test: Test, bindings: Sequence[Binding], anchor: int) -> str:
    """Return the value that a difference asks for: relative to its anchor, or as it is."""
    by = _offset(test, anchor)
    ids = list(dict.fromkeys(binding[test.variables[anchor]] for binding in bindings))
    if None in ids or (_is_place(test) and len(ids) == 1):
        noun = _name_or_that(state, None if None in ids else ids[0], test.classes[anchor])
        return _relative(noun, test.attribute, by)
    values = dict.fromkeys(_plus(state, x, test.attribute, by) for x in ids)
    return _at(test, _some([value_text(each) for each in values]))


def _plus(state: State, object_id: int | None, attribute: str, by: Value) -> Value:
    """Return the value that differs by so much from an object's."""
    code = plus(value_of(state, object_id, attribute), by)
    return state.schema.attributes[attribute].decode(code)


def _at(test: Test, values: str) -> str:
    return f"at {values}" if _is_place(test) else values


# ------------------------------------------------------------------------ shared words


def _is_place(test: Test) -> bool:
    return is_position(test.attribute, test.value)


def _relation(test: Test) -> str:
    """Return how the values of two objects compare: `the same hue`, `hue 2 apart`."""
    same = is_zero(test.value)
    return f"the same {test.attribute}" if same else f"{test.attribute} {test.value} apart"


def _another(class_name: str, than: str) -> str:
    """Name an object of a class that is not the object of the class `than` already named."""
    return f"another {class_name}" if class_name == than else article(class_name)


def _relative(anchor: str, attribute: str, by: Value) -> str:
    """Return a value relative to another object's: `as player 50 has`, `directly above it`."""
    if isinstance(by, tuple) and is_position(attribute, by):
        return place(by, anchor)
    if is_zero(by):
        return f"as {anchor} has"
    if isinstance(by, int):
        return f"{abs(by)} {'more' if by > 0 else 'less'} than {anchor}"
    return f"{by} from {anchor}"


def _is_another(test: Test, classes: Sequence[str]) -> bool:
    """Whether an object of the new variable's class is bound, so that another one is meant."""
    return len(test.new) == 1 and test.new[0][1] in classes


def object_name(state: State, object_id: int | None) -> str:
    """Name an object by its class and id."""
    assert object_id is not None
    return f"{state[object_id].class_name} {object_id}"


def _name_or_that(state: State, object_id: int | None, class_name: str) -> str:
    return f"that {class_name}" if object_id is None else object_name(state, object_id)


def _some(names: Sequence[str]) -> str:
    """List the first few names.

    >>> _some(["(1, 2)"]), _some(["1", "2", "3", "4", "5"])
    ('(1, 2)', '1, 2, 3 or 2 more')
    """
    if len(names) > _MAX_NAMES + 1:
        names = [*names[:_MAX_NAMES], f"{len(names) - _MAX_NAMES} more"]
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} or {names[-1]}"
