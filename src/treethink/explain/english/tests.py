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
from dataclasses import dataclass, replace
from itertools import groupby

from treethink import _engine
from treethink.attributes import SUM
from treethink.explain.english.phrases import Condition, Conjunction
from treethink.explain.english.words import (
    NOTHING,
    SOMETHING,
    Nouns,
    article,
    direction,
    is_position,
    located,
    owner,
    place,
    place_from,
)
from treethink.explain.object_names import object_name
from treethink.explain.path import Binding, Step, plain_value_of, things, value_of
from treethink.frames import is_zero, negative, plus
from treethink.outcome_text import value_text
from treethink.rules import Test, Value
from treethink.state import State

__all__ = ["Requirement", "conditions", "object_name", "requirements", "statement", "supposition"]

#: A subject and its predicate.
Clause = tuple[str, str]

_MAX_NAMES = 3
#: How the subject of a clause begins that says it of no object.
_NONE = ("no ", NOTHING)


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
    none = subject.startswith(_NONE)
    joins = none if word == "and" else not none and " not" not in predicate
    return (-1 if joins else i), predicate


def clause(condition: Condition, nouns: Nouns) -> Clause:
    """Return one condition, or its negation, as subject and predicate."""
    if condition.test.kind == "something":
        test = _as_difference(condition.test, len(condition.known))
        return clause(replace(condition, test=test), nouns)
    test, holds = condition.test, condition.holds
    if test.kind == "equality":
        return _equality(test, _noun(condition, 0, nouns, holds), holds)
    if test.kind == "threshold":
        subject = _noun(condition, 0, nouns, holds)
        at_most = holds or subject.startswith(_NONE)
        return _limited(test, subject), f"is {_threshold(test, at_most)}"
    if test.kind == "order":
        return _order(condition, nouns)
    if test.kind != "difference":
        return _formula(condition, nouns)
    if len(test.variables) == 1:
        return _comparison(test, 1, _noun(condition, 0, nouns, holds), "it", holds)
    first = _subject(test, nouns)
    subject = _noun(condition, first, nouns, holds)
    other = _noun(condition, 1 - first, nouns, last=first)
    if test.other is not None:
        return _comparison(test, first, subject, other, holds)
    return _difference(test.attribute, subject, other, _offset(test, 1 - first), holds)


def _as_difference(test: Test, known: int) -> Test:
    """Return a test for something as one for a new object, whose class is called "something".

    `known` is the number of variables that are bound already.
    """
    number = known + len(test.new)
    return replace(
        test,
        kind="difference",
        classes=(*test.classes, SOMETHING),
        variables=(*test.variables, number),
        new=(*test.new, (number, SOMETHING)),
    )


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
    negated = not holds and not subject.startswith(_NONE)
    return subject, f"is not {what}" if negated else f"is {what}"


def _has(subject: str, what: str, holds: bool) -> Clause:
    negated = not holds and not subject.startswith(_NONE)
    return subject, f"does not have {what}" if negated else f"has {what}"


def _equality(test: Test, subject: str, holds: bool) -> Clause:
    if is_position(test.attribute, test.value):
        return _is(subject, f"at {test.value}", holds)
    value = test.value
    if isinstance(value, bool) and not holds and not subject.startswith(_NONE):
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


def _comparison(test: Test, first: int, subject: str, other: str, holds: bool) -> Clause:
    """Return a difference of two different attributes; `first` is the term of the subject."""
    by, (own, its) = _offset(test, 1 - first), _attributes(test, first)
    if SUM in own and SUM not in its:  # a place is the subject, not a step from somewhere
        subject, other, own, its, by = other, subject, its, own, negative(by)
        holds = holds or other.startswith(_NONE)
    one, than = located(subject, own, by), located(other, its, by)
    if isinstance(by, tuple) and (is_position(own, by) or is_position(its, by)):
        return _is(one, place_from(by, other, its), holds)
    if is_zero(by):
        negated = not holds and not subject.startswith(_NONE)
        return one, f"does not equal {than}" if negated else f"equals {than}"
    assert not isinstance(by, str)  # names are values of equality tests
    if isinstance(by, tuple):
        return _is(one, f"{than} plus {by}", holds)
    return _is(one, f"{by} more than {than}" if by > 0 else f"{-by} less than {than}", holds)


def _limited(test: Test, noun: str, quote: str = "`") -> str:
    """Name the number of an object that a threshold limits: `its fuel`, `its pos.x`."""
    if SUM in test.attribute and test.component is not None:
        zero = (0, 0) if test.component < 2 else (0, 0, 0)
        return f"{quote}{test.suffix[1:]}{quote} of {located(noun, test.attribute, zero, quote)}"
    return f"{owner(noun)} {quote}{test.attribute}{test.suffix}{quote}"


def _quantity(test: Test) -> str:
    """Return the number that a threshold limits: `fuel`, `pos.x`, `(pos + speed).x`."""
    is_sum = SUM in test.attribute and test.suffix
    return f"({test.attribute}){test.suffix}" if is_sum else f"{test.attribute}{test.suffix}"


def _threshold(test: Test, holds: bool) -> str:
    return f"{'at most' if holds else 'more than'} {test.value}"


def _order(condition: Condition, nouns: Nouns) -> Clause:
    """Return an order in words: which of two values is greater."""
    test, holds = condition.test, condition.holds
    first = _subject(test, nouns) if len(test.variables) > 1 else 1
    subject = _noun(condition, first if len(test.variables) > 1 else 0, nouns, holds)
    other = _noun(condition, 1 - first, nouns, last=first) if len(test.variables) > 1 else "it"
    by, (own, its) = _offset(test, 1 - first), _attributes(test, first)
    one = subject if _is_place(own, by) else f"{owner(subject)} `{own}`"
    if _is_place(own, by) and own == its:
        return _is(one, _ordered(by, own, other), holds)
    than = "its own" if own == its and other == "it" else owner(other)
    than = than if own == its else f"{owner(other)} `{its}`"
    return _is(one, _ordered(by, own, than), holds)


def _ordered(by: Value, attribute: str, than: str) -> str:
    """Return a sign, or signs by component, in words that follow "is"."""
    if isinstance(by, int):
        return f"{('equal to', 'more than', 'less than')[by]} {than}"
    assert isinstance(by, tuple)
    if _is_place(attribute, by):
        return direction(by, than)
    words = " and ".join(("as large as", "more than", "less than")[each] for each in by)
    return f"{words} {than}, component by component"


def _is_place(attribute: str, value: Value) -> bool:
    return is_position(attribute, value)


def _formula(condition: Condition, nouns: Nouns) -> Clause:
    """Return the formula of a fact for whose kind there are no words, with names for objects."""
    test = condition.test
    owners = [owner(_noun(condition, i, nouns, last=i - 1)) for i in range(len(test.variables))]
    if len(test.terms) > len(owners):
        owners.append("its")
    names = [f"{each} `{m}`" for each, (_, m) in zip(owners, test.terms, strict=True)]
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

    `anchor` is the object relative to which the value is given, and `term` the test's term that
    belongs to it.
    """

    class_name: str
    attribute: str
    value: Value
    anchor: int
    term: int


def requirements(state: State, test: Test, bindings: Sequence[Binding]) -> list[Requirement]:
    """Return one requirement for each value that would do; none where there is no anchor."""
    if test.kind == "something":
        test = _as_difference(test, len(bindings[0]))
    by_value: dict[Value, Requirement] = {}
    for binding in bindings if test.kind == "difference" else ():
        which, anchor = _anchor(state, test, binding)
        if anchor is not None:
            own, base = _attributes(test, 1 - which)
            value = _plus(state, anchor, base, _offset(test, which))
            required = Requirement(test.classes[1 - which], own, value, anchor, which)
            by_value.setdefault(value, required)
    return list(by_value.values())


def _anchor(state: State, test: Test, binding: Binding) -> tuple[int, int | None]:
    """Return which of the two terms of a difference is the anchor, 0 or 1, and its object.

    The anchor is the older variable. If both are new, it is one whose class has a single object;
    of two such, the one that the schema lists later, since movers mostly come last.
    """
    older = _older(test)
    if test.variables[older] < len(binding):
        return older, binding[test.variables[older]]
    for each in (1, 0) if len(test.variables) > 1 and SOMETHING not in test.classes else ():
        free = [x.id for x in state.of_class(test.classes[each]) if x.id not in binding]
        if len(free) == 1 and test.classes[0] != test.classes[1]:
            return each, free[0]
    return older, None


def _older(test: Test) -> int:
    """Return which of the test's terms is about the variable that was bound first."""
    return test.variables.index(min(test.variables))


def _sum_of(test: Test, which: int) -> int:
    """Return the term that is a sum if one is, since its value is nobody's own; else `which`."""
    sums = [SUM in attribute for _, attribute in test.terms]
    return sums.index(True) if True in sums else which


def _attributes(test: Test, which: int) -> tuple[str, str]:
    """Return the attribute of a difference's term, 0 or 1, and that of the other one."""
    return test.terms[which][1], test.terms[1 - which][1]


def _offset(test: Test, anchor: int) -> Value:
    """Return what must be added to the anchor's value, 0 or 1, to get the other one's."""
    return test.value if anchor == 0 else negative(test.value)


def statement(state: State, step: Step) -> str:
    """Return what a test found, as a sentence without its full stop."""
    if step.test.kind == "something":
        return statement(state, _with_things(state, step)).replace(f"no {SOMETHING}", NOTHING, 1)
    if step.holds:
        more = len(step.after) - 1
        ways = f" (and in {more:,} more way{'s' if more > 1 else ''})" if more else ""
        return _held(state, step) + ways
    if step.test.new:
        other = "other " if _is_another(step.test, step.node.classes) else ""
        return f"no {other}{_absent(state, step.test, step.before)}"
    more = len(step.before) - 1
    return _failed(state, step) + (f" (nor {more:,} more)" if more else "")


def _with_things(state: State, step: Step) -> Step:
    """Return a step that asks for something as one that finds an object, and binds it."""
    test = step.test
    after = step.after
    if step.holds:
        which = test.variables[0]
        after = tuple((*b, x) for b in after for x in things(state, test, b[which]))
    as_difference = _as_difference(test, len(step.node.classes))
    return Step(replace(step.node, test=as_difference), step.holds, step.before, after)


def _held(state: State, step: Step) -> str:
    test, binding = step.test, step.after[0]
    if test.kind in ("order", "threshold"):
        return _compared(state, test, binding)
    if test.kind == "equality":
        has = _has_value(test.attribute, test.value)
        return f"{object_name(state, binding[test.variables[0]])} {has}"
    which = _sum_of(test, _anchor(state, test, step.before[0])[0])
    variable, own = test.terms[1 - which]
    subject = binding[variable]
    has = _has_value(own, plain_value_of(state, subject, own))
    relative = _relative(_anchor_name(state, test, binding[test.terms[which][0]]), test, which)
    return f"{object_name(state, subject)} {has}, {relative}"


def _failed(state: State, step: Step) -> str:
    """Return what is so instead, for a test whose objects are all bound."""
    test, binding = step.test, step.before[0]
    if test.kind in ("order", "threshold"):
        return _compared(state, test, binding, holds=False)
    required, relative, (subject, attribute) = test.value, "", test.terms[0]
    if test.kind == "difference":
        which = _sum_of(test, _anchor(state, test, binding)[0])
        anchor = binding[test.terms[which][0]]
        subject, attribute = test.terms[1 - which]
        required = _plus(state, anchor, test.terms[which][1], _offset(test, which))
        relative = f", {_relative(_anchor_name(state, test, anchor), test, which)}"
    has = _has_value(attribute, plain_value_of(state, binding[subject], attribute))
    at = "at " if is_position(attribute, required) else ""
    who = object_name(state, binding[subject])
    return f"{who} {has}, not {at}{value_text(required)}{relative}"


def _compared(state: State, test: Test, binding: Binding, holds: bool = True) -> str:
    """Return a threshold or an order of objects that are all bound."""
    if test.kind == "threshold":
        subject = binding[test.variables[0]]
        value = plain_value_of(state, subject, test.attribute)
        limit = f"{test.suffix[1:]} {_threshold(test, holds)}".strip()
        has = f"has {test.attribute} {value_text(value)}, {limit}"
        return f"{object_name(state, subject)} {has}"
    which = _older(test)
    (base, its), (variable, own) = test.terms[which], test.terms[1 - which]
    subject, anchor = binding[variable], binding[base]
    has = _has_value(own, plain_value_of(state, subject, own))
    no = "" if holds else "not "
    relation = _ordered_as(state, test, which, subject, anchor, its)
    return f"{object_name(state, subject)} {has}, {no}{relation}"


def _ordered_as(
    state: State, test: Test, which: int, subject: int | None, anchor: int | None, attribute: str
) -> str:
    """Return the order relative to the anchor, whose term is `which`: `more than card 2 has`."""
    name = "it" if subject == anchor else object_name(state, anchor)
    by = _offset(test, which)
    if isinstance(by, int):
        has = f"{name} has" if test.other is None else f"{owner(name)} {attribute}"
        return f"{('as much as', 'more than', 'less than')[by]} {has}"
    return _ordered(by, attribute, name if test.other is None else f"{owner(name)} {attribute}")


def _ordered_objects(
    state: State, test: Test, bindings: Sequence[Binding], of: str, has: str, be: str
) -> str:
    """Return the object that an order or a threshold asks for; the last three are verbs or `with`.

    So `hen is above fox 1` and `hen above fox 1`, `car has fuel at most 3` and `car with ...`.
    """
    if test.kind == "threshold":
        return f"{test.classes[0]} {has} {_quantity(test)}{of} {_threshold(test, True)}"
    which = _older(test)
    (base, its), (_, own) = test.terms[which], test.terms[1 - which]
    by = _offset(test, which)
    first, second = (
        test.classes[min(which, len(test.classes) - 1)],
        test.classes[-1 if which == 0 else 0],
    )
    bound = base < len(bindings[0]) and bindings[0][base] is not None
    anchor = object_name(state, bindings[0][base]) if bound else _another(first, second)
    anchor = "its own" if len(test.classes) == 1 else anchor
    if _is_place(own, by):
        return f"{second} {be}{_ordered(by, own, anchor)}"
    than = f"{anchor} {its}" if anchor == "its own" else f"{owner(anchor)} {its}"
    return f"{second} {has} {own} {_ordered(by, own, than)}"


def _absent(state: State, test: Test, bindings: Sequence[Binding]) -> str:
    """Return what was not found: `wall is at (4, 3), directly above player 50`."""
    if test.kind in ("order", "threshold"):
        return _ordered_objects(state, test, bindings, "", "has", "is ")
    if test.kind == "equality":
        return f"{test.classes[0]} {_has_value(test.attribute, test.value)}"
    required = requirements(state, test, bindings)
    if not required:
        return _pair(test)
    first = required[0]
    values = _some([value_text(each.value) for each in required])
    what = f"{first.class_name} {_has_text(first.attribute, first.value, values)}"
    if len(required) > 1:
        return what
    return f"{what}, {_relative(object_name(state, first.anchor), test, first.term)}"


def _pair(test: Test) -> str:
    """Return what was not found of two new objects: `wall is directly above a door`."""
    if len(test.variables) == 1:
        return f"{test.classes[0]} has {test.other} {_relative('it', test, 0)}"
    one, other = test.classes
    own, relative = test.terms[1][1], _relative(_another(one, other), test, 0)
    if is_position(own, test.value):
        return f"{other} is {relative}"
    if test.other is not None:
        return f"{other} has {own} {relative}"
    return f"{one} and {'another' if one == other else other} have {_relation(test)}"


def _has_value(attribute: str, value: Value) -> str:
    """Return a verb for a value of an attribute: `is at (4, 3)`, `has open 1`."""
    return _has_text(attribute, value, value_text(value))


def _has_text(attribute: str, example: Value, values: str) -> str:
    """Return a verb for values that are given as text; `example` is one of them."""
    return f"is at {values}" if is_position(attribute, example) else f"has {attribute} {values}"


def _anchor_name(state: State, test: Test, anchor: int | None) -> str:
    return "it" if len(test.variables) == 1 else object_name(state, anchor)


# -------------------------------------------------------------------- suppositions


def supposition(
    state: State, test: Test, holds: bool, bindings: Sequence[Binding], classes: Sequence[str]
) -> str:
    """Return what would have to be so for the test to answer `holds`; goes after "if".

    `classes` are those of the variables that are bound already.
    """
    if test.kind == "something":
        text = supposition(state, _as_difference(test, len(classes)), holds, bindings, classes)
        text = text.replace(f"no {SOMETHING}", NOTHING, 1)
        return text.replace(article(SOMETHING), SOMETHING, 1)
    if test.new:
        other = "other " if _is_another(test, classes) else ""
        start = "there were" if holds else "there were no"
        return f"{start} {_supposed_objects(state, test, holds, bindings, other)}"
    if test.kind in ("order", "threshold"):
        return _supposed_order(state, test, holds, bindings)
    subject, value = 0, _at(test.attribute, test.value, value_text(test.value))
    if test.kind == "difference":
        anchor = _sum_of(test, _older(test))
        subject, value = 1 - anchor, _supposed_value(state, test, bindings, anchor)
    variable, attribute = test.terms[subject]
    ids = dict.fromkeys(binding[variable] for binding in bindings)
    class_name = test.classes[test.variables.index(variable)]
    who = _some([_name_or_that(state, each, class_name) for each in ids])
    if is_position(attribute, test.value):
        return f"{who} were {'' if holds else 'not '}{value}"
    had = attribute if holds else f"another {attribute} than"
    return f"{who} had {had} {value}"


def _supposed_order(state: State, test: Test, holds: bool, bindings: Sequence[Binding]) -> str:
    """Return an order or a threshold of objects that are bound, contrary to fact."""

    def name(variable: int) -> str:
        ids = dict.fromkeys(binding[variable] for binding in bindings)
        class_name = test.classes[test.variables.index(variable)]
        return _some([_name_or_that(state, each, class_name) for each in ids])

    if test.kind == "threshold":
        limit = _threshold(test, holds)
        return f"{name(test.variables[0])} had {_quantity(test)} of {limit}"
    which = _older(test)
    (base, its), (variable, own) = test.terms[which], test.terms[1 - which]
    by, no = _offset(test, which), "" if holds else "not "
    anchor = "it" if base == variable else name(base)
    if _is_place(own, by) and test.other is None:
        return f"{name(variable)} were {no}{_ordered(by, own, anchor)}"
    return f"the {own} of {name(variable)} were {no}{_ordered(by, own, f'{owner(anchor)} {its}')}"


def _supposed_objects(
    state: State, test: Test, holds: bool, bindings: Sequence[Binding], other: str
) -> str:
    """Return the objects that a test asks for: `a wall at (4, 3)`."""

    def one(noun: str) -> str:
        return (article(other + noun) if holds else other + noun).replace("an other", "another")

    def having(attribute: str) -> str:
        return "" if is_position(attribute, test.value) else f"with {attribute} "

    if test.kind in ("order", "threshold"):
        return one(_ordered_objects(state, test, bindings, " of", "with", ""))
    if test.kind == "equality":
        value = _at(test.attribute, test.value, value_text(test.value))
        return f"{one(test.classes[0])} {having(test.attribute)}{value}"
    if len(test.variables) == 1:
        return f"{one(test.classes[0])} with {test.other} {_relative('it', test, 0)}"
    if required := requirements(state, test, bindings):
        own = required[0].attribute
        value = _at(own, test.value, _some([value_text(each.value) for each in required]))
        if is_position(own, test.value) and len(required) == 1:
            value = _relative(object_name(state, required[0].anchor), test, required[0].term)
        return f"{one(required[0].class_name)} {having(own)}{value}"
    if len(test.new) == 1:  # relative to an object that does not exist either
        anchor = _older(test)
        value = _supposed_value(state, test, bindings, anchor)
        return f"{one(test.new[0][1])} {having(test.terms[1 - anchor][1])}{value}"
    first, second = test.classes
    own = test.terms[1][1]
    if test.other is not None or is_position(own, test.value):
        return f"{one(second)} {having(own)}{_relative(_another(first, second), test, 0)}"
    also = "another" if first == second else one(second) if holds else second
    return f"{one(first)} and {also} with {_relation(test)}"


def _supposed_value(state: State, test: Test, bindings: Sequence[Binding], anchor: int) -> str:
    """Return the value that a difference asks for: relative to its anchor, or as it is."""
    own, base = _attributes(test, 1 - anchor)
    variable = test.terms[anchor][0]
    ids = list(dict.fromkeys(binding[variable] for binding in bindings))
    if None in ids or (is_position(own, test.value) and len(ids) == 1):
        class_name = test.classes[test.variables.index(variable)]
        noun = _name_or_that(state, None if None in ids else ids[0], class_name)
        return _relative("it" if len(test.variables) == 1 else noun, test, anchor)
    by = _offset(test, anchor)
    values = dict.fromkeys(_plus(state, x, base, by) for x in ids)
    return _at(own, test.value, _some([value_text(each) for each in values]))


def _plus(state: State, object_id: int | None, attribute: str, by: Value) -> Value:
    """Return the value that differs by so much from an object's."""
    code = plus(value_of(state, object_id, attribute), by)
    return state.schema.definition(attribute).decode(code)


def _at(attribute: str, example: Value, values: str) -> str:
    return f"at {values}" if is_position(attribute, example) else values


# ------------------------------------------------------------------------ shared words


def _relation(test: Test) -> str:
    """Return how the values of two objects compare: `the same hue`, `hue 2 apart`."""
    same = is_zero(test.value)
    return f"the same {test.attribute}" if same else f"{test.attribute} {test.value} apart"


def _another(class_name: str, than: str) -> str:
    """Name an object of a class that is not the object of the class `than` already named."""
    return f"another {class_name}" if class_name == than else article(class_name)


def _relative(anchor: str, test: Test, which: int) -> str:
    """Return a value relative to the anchor's, which has the test's term 0 or 1.

    So `as player 50 has`, `directly above it`; of different attributes, `equal to its floor`.
    """
    by, (base, own) = _offset(test, which), _attributes(test, which)
    if isinstance(by, tuple) and (is_position(base, by) or is_position(own, by)):
        return place_from(by, anchor, base, quote="")
    if test.other is not None:
        anchor = f"{owner(anchor)} {base}"
    if is_zero(by):
        return f"as {anchor} has" if test.other is None else f"equal to {anchor}"
    if isinstance(by, int):
        return f"{abs(by)} {'more' if by > 0 else 'less'} than {anchor}"
    return f"{by} from {anchor}"


def _is_another(test: Test, classes: Sequence[str]) -> bool:
    """Whether an object of the new variable's class is bound, so that another one is meant."""
    return len(test.new) == 1 and test.new[0][1] in classes


def value_name(state: State, object_id: int | None, attribute: str) -> str:
    """Name a value by its object and attribute; a reward or an end has no object."""
    return attribute if object_id is None else f"{object_name(state, object_id)}, {attribute}"


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
