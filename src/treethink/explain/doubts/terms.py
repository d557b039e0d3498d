"""The numbers that a rule could compare, and hypotheses that compare them.

    cases -> [ terms ] -> yes-no hypotheses: comparisons of unlike attributes, and orders

A term is an attribute of a determined object: the target X0, an object of a class with a single
one, or an object that the tests above the leaf have bound. Hypotheses about "any object" of a class
compare its attributes with a term.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from treethink.attributes import COMPONENTS
from treethink.explain.doubts.cases import Case, Cases
from treethink.explain.doubts.evidence import Bools, Integers
from treethink.explain.doubts.pairs import (
    are_comparable,
    could_be_alike,
    facts_of,
    how_to_compare,
    vector,
)
from treethink.frames import CHANGE, default_frame
from treethink.state import Attribute, Schema

#: Limits of the work for one rule.
MAX_TERMS = 16
MAX_DIFFERENCES = 9
MAX_THRESHOLDS = 24
MAX_NEAR = 4


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A yes-no question about a case, its answers, and what to do if it is what is missing.

    `like` is an attribute and the one whose unit it should have, if that is what to do.
    """

    kind: str
    text: str
    advice: str
    truth: Bools
    like: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """An attribute of a determined object: its values, one row for each case."""

    text: str
    attribute: str
    owner: str  # its class
    values: Integers


def terms_of(cases: Cases) -> list[Term]:
    """Return the terms that every case has."""
    schema = cases.schema
    about = None if cases.rule.is_feedback else cases.class_name
    own = [] if about is None else facts_of(schema, about)
    terms = [_term(cases, "X0", cases.class_name, name, 0) for name in own]
    for class_name in schema.classes:
        if class_name != about and _is_single(cases, class_name):
            ids = [case.state.of_class(class_name)[0].id for case in cases]
            terms += [
                _term_of(cases, class_name, class_name, m, ids)
                for m in facts_of(schema, class_name)
            ]
    for variable, class_name in _common_variables(cases):
        if not _is_single(cases, class_name):
            names = facts_of(schema, class_name)
            terms += [_term(cases, f"X{variable}", class_name, m, variable) for m in names]
    return terms[:MAX_TERMS]


def _is_single(cases: Cases, class_name: str) -> bool:
    return all(len(case.state.of_class(class_name)) == 1 for case in cases)


def _common_variables(cases: Cases) -> Iterator[tuple[int, str]]:
    """Yield variables that stand for one object of the same class in every case."""
    shortest = min((case.bindings for case in cases), key=lambda each: len(each[0]))
    first = 0 if cases.rule.is_feedback else 1  # X0 is the object that the rule is about
    for variable in range(first, len(shortest[0])):
        bound = [_bound(case, variable) for case in cases]
        if all(each is not None for each in bound):
            pairs = zip(cases, bound, strict=True)
            classes = {case.state[x].class_name for case, x in pairs if x is not None}
            if len(classes) == 1:
                yield variable, classes.pop()


def _bound(case: Case, variable: int) -> int | None:
    """Return the object of a variable, if all bindings agree on it."""
    objects = {binding[variable] for binding in case.bindings}
    return objects.pop() if len(objects) == 1 else None


def _term(cases: Cases, name: str, class_name: str, attribute: str, variable: int) -> Term:
    ids = [case.bindings[0][variable] for case in cases]
    return _term_of(cases, name, class_name, attribute, ids)


def _term_of(
    cases: Cases, name: str, owner: str, attribute: str, ids: Sequence[int | None]
) -> Term:
    rows = [vector(case.state, x, attribute) for case, x in zip(cases, ids, strict=True)]
    return Term(f"{name}[{attribute}]", attribute, owner, np.array(rows, dtype=np.int64))


# -------------------------------------------------------------------------- comparisons


def comparisons(cases: Cases, terms: list[Term]) -> Iterator[Hypothesis]:
    """Yield comparisons of attributes that rules never compare."""
    for one, other in combinations(terms, 2):
        both = _is_quantity(one) and _is_quantity(other)
        if both and _is_unlike(cases.schema, one.attribute, other.attribute):
            yield from _by_difference(cases.schema, one, other)
    for term in terms:
        for class_name, attribute in _others(cases):
            if _is_unlike(cases.schema, term.attribute, attribute):
                yield from _any_object(cases, term, class_name, attribute)


def _is_unlike(schema: Schema, one: str, other: str) -> bool:
    """Whether two attributes are not comparable, and could be with `like`."""
    return could_be_alike(schema, one, other) and not are_comparable(schema, one, other)


def _is_quantity(term: Term) -> bool:
    """Whether the term has more than two values; one that has two is a condition."""
    return len(np.unique(term.values, axis=0)) > 2


def _by_difference(schema: Schema, one: Term, other: Term) -> Iterator[Hypothesis]:
    differences = one.values - other.values
    common = Counter(map(tuple, differences.tolist())).most_common(MAX_DIFFERENCES)
    zero = (0,) * differences.shape[1]
    like = how_to_compare(schema, one.attribute, other.attribute)
    advice = _like_advice(schema, *like)
    for difference in dict.fromkeys([zero, *(each for each, _ in common)]):
        truth = (differences == np.array(difference)).all(axis=1)
        text = f"{one.text} = {other.text}"
        if any(difference):
            text = f"{one.text} - {other.text} = {_shown(difference)}"
        yield Hypothesis("comparison", text, advice, truth, like)


def _any_object(cases: Cases, term: Term, class_name: str, attribute: str) -> Iterator[Hypothesis]:
    held = [_values_of_others(case, class_name, attribute) for case in cases]
    near: Counter[tuple[int, ...]] = Counter()
    rows: list[set[tuple[int, ...]]] = []
    for values, own in zip(held, term.values.tolist(), strict=True):
        differences = {tuple(a - b for a, b in zip(each, own, strict=True)) for each in values}
        rows.append(differences)
        near.update(differences)
    zero = (0,) * term.values.shape[1]
    like = how_to_compare(cases.schema, term.attribute, attribute)
    advice = _like_advice(cases.schema, *like)
    for difference in dict.fromkeys([zero, *(each for each, _ in near.most_common(MAX_NEAR))]):
        truth = np.array([difference in each for each in rows], dtype=bool)
        relation = f"- {term.text} = {_shown(difference)}" if any(difference) else f"= {term.text}"
        text = f"some {class_name}[{attribute}] {relation}"
        yield Hypothesis("comparison", text, advice, truth, like)


def _others(cases: Cases) -> list[tuple[str, str]]:
    """Return classes that may have several objects, each with an attribute in facts."""
    schema = cases.schema
    several = [name for name in schema.classes if not _is_single(cases, name)]
    return [(name, attribute) for name in several for attribute in facts_of(schema, name)]


def _values_of_others(case: Case, class_name: str, attribute: str) -> set[tuple[int, ...]]:
    objects = case.state.of_class(class_name)
    return {vector(case.state, x.id, attribute) for x in objects if x.id != case.object_id}


def _like_advice(schema: Schema, attribute: str, unit: str) -> str:
    preset = _preset(schema.attributes[attribute])
    return f'give {attribute} the unit of {unit}: {preset}like="{unit}")'


def _preset(attribute: Attribute) -> str:
    """Return the beginning of an attribute's definition."""
    if attribute.kind == "number" or (attribute.length == 1 and default_frame(attribute) == CHANGE):
        return "Number("
    return f"Attribute({attribute.length}, " if attribute.kind != "position" else "Position(2, "


# ------------------------------------------------------------------------------- orders


def orders(cases: Cases, terms: list[Term], needs: str) -> Iterator[Hypothesis]:
    """Yield thresholds of numbers, their differences and sums, and of other objects' numbers.

    `needs` is what the model needs to ask for orders and thresholds at all, and empty if it does.
    What its rules can ask is of the kind "data".
    """
    numbers = [each for each in terms if not cases.schema.attributes[each.attribute].is_symbolic]
    scalars = [each for each in numbers if each.values.shape[1] == 1 and _is_quantity(each)]
    schema = cases.schema
    for term in numbers:
        names = [f".{each}" for each in COMPONENTS] if term.values.shape[1] > 1 else [""]
        steps = [*_switch_on(schema, "threshold", term.attribute), *filter(None, [needs])]
        for name, values in zip(names, term.values.T, strict=False):
            if len(term.values.T) <= len(names) and len(np.unique(values)) > 2:
                yield from _thresholds(term.text + name, values, steps)
    for one, other in combinations(scalars, 2):
        yield from _thresholds_of_two(schema, one, other, needs)
    for term in scalars:
        for class_name, attribute in _others(cases):
            definition = schema.attributes[attribute]
            is_number = definition.length == 1 and not definition.is_symbolic
            if is_number:
                yield from _any_order(cases, term, class_name, attribute, needs)


_SUM_ADVICE = (
    "rules compare no sums and no differences of this size: derive an attribute that tells it"
    " (tt.Derived), add a column for it to a log, or wait until every case has been seen"
)


def _takes_part(schema: Schema, kind: str, *attributes: str) -> bool:
    return all(kind in schema.attributes[name].facts for name in attributes)


def _switch_on(schema: Schema, kind: str, *attributes: str) -> Iterator[str]:
    """Yield how to let attributes take part in a kind of fact, for those that do not."""
    for name in dict.fromkeys(attributes):
        if not _takes_part(schema, kind, name):
            facts = [*schema.attributes[name].facts, kind]
            yield f"let {name} take part in facts of the kind {kind!r}: facts={facts!r}"


def _order_hypothesis(
    schema: Schema, attributes: tuple[str, str], text: str, truth: Bools, needs: str
) -> Hypothesis:
    """Return the hypothesis that one attribute is greater than another one."""
    steps = [*_switch_on(schema, "order", *attributes)]
    is_order = bool(steps)
    like = None
    if not are_comparable(schema, *attributes):
        like = how_to_compare(schema, *attributes)
        steps.append(_like_advice(schema, *like))
    steps += filter(None, [needs])
    if not steps:
        return Hypothesis("data", text, "", truth)
    if like is not None and not is_order:
        return Hypothesis("comparison", text, "; ".join(steps), truth, like)
    return Hypothesis("order", text, "; ".join(steps), truth)


def _cuts(values: Integers) -> list[int]:
    """Return thresholds between the values: all, or some at equal distances in rank."""
    distinct = np.unique(values)[1:]
    if len(distinct) > MAX_THRESHOLDS:
        places = np.linspace(0, len(distinct) - 1, MAX_THRESHOLDS).astype(int)
        distinct = distinct[places]
    return [int(each) for each in distinct]


def _thresholds(text: str, values: Integers, steps: list[str]) -> Iterator[Hypothesis]:
    kind, advice = "order" if steps else "data", "; ".join(steps)
    for cut in _cuts(values):
        yield Hypothesis(kind, f"{text} >= {cut}", advice, values >= cut)


def _thresholds_of_two(schema: Schema, one: Term, other: Term, needs: str) -> Iterator[Hypothesis]:
    differences = (one.values - other.values)[:, 0]
    both = (one.attribute, other.attribute)
    for cut in dict.fromkeys([0, 1, *_cuts(differences)]):
        text, truth = _order_text(one.text, other.text, cut), differences >= cut
        if cut not in (0, 1):
            yield Hypothesis("sum", text, _SUM_ADVICE, truth)
        else:
            yield _order_hypothesis(schema, both, text, truth, needs)
    sums = (one.values + other.values)[:, 0]
    for cut in _cuts(sums):
        yield Hypothesis("sum", f"{one.text} + {other.text} >= {cut}", _SUM_ADVICE, sums >= cut)


def _order_text(one: str, other: str, cut: int) -> str:
    if cut == 0:
        return f"{one} >= {other}"
    return f"{one} > {other}" if cut == 1 else f"{one} - {other} >= {cut}"


def _any_order(
    cases: Cases, term: Term, class_name: str, attribute: str, needs: str
) -> Iterator[Hypothesis]:
    own = term.values[:, 0]
    held = [
        [value for (value,) in _values_of_others(case, class_name, attribute)] for case in cases
    ]
    largest = np.array([max(values, default=None) for values in held], dtype=object)
    smallest = np.array([min(values, default=None) for values in held], dtype=object)
    some = np.array([each is not None for each in largest], dtype=bool)
    top, low = (np.where(some, each, 0).astype(np.int64) for each in (largest, smallest))
    what = f"some {class_name}[{attribute}]"
    for sign, truth in (
        (">", top > own), (">=", top >= own), ("<", low < own), ("<=", low <= own)
    ):  # fmt: skip
        text, both = f"{what} {sign} {term.text}", (term.attribute, attribute)
        yield _order_hypothesis(cases.schema, both, text, truth & some, needs)


def _shown(difference: tuple[int, ...]) -> str:
    return str(difference[0]) if len(difference) == 1 else str(difference)
