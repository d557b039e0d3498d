"""The reference implementation of the engine: the whole learner in plain, slow Python.

    state -> Scene (all its facts) -> ReferenceTree (one per rule) -> ReferenceModel

The engine is trusted because it equals this file, decision by decision, on random
streams. So nothing here is clever: every fact is extracted, every candidate is
counted, scored and compared at every observation, every binding is kept, and numbers
are exact. The only concessions to speed are marked "remembered".

Read from the top: what a fact is, what is true in a scene, how a test narrows a set of
bindings, when one test is better than another, then `ReferenceTree.observe`, which is the
algorithm, and `ReferenceModel.observe`, which adds the memory.

Values, outcomes and differences are tuples of int everywhere, of length 1 too; an outcome may also
be `STAYS`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import floor
from statistics import NormalDist
from typing import Any, NamedTuple

Vector = tuple[int, ...]
Outcome = Vector | None
"""What a transition does to an attribute of an object, in the frame of a rule; None: it stays."""
Counts = Mapping[Outcome, int]
Binding = tuple[int, ...]
"""Object ids, one for each variable X0, X1, ...; no object twice."""
RuleKey = tuple[str, str, str]
"""Class, attribute, action."""

MAX_BINDINGS = 4096
MAX_DEPTH = 1000
MAX_VARIABLES = 128
MAX_L1 = 2**64 - 1
TRANSITION = "transition"
"""In the key of a rule about rewards or ends, instead of a class."""


# --- kinds of fact -----------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """How a fact gets its value from as many attribute values as it has terms.

    `swap` turns the value for (x, y) into that for (y, x): where the same attribute of two
    objects of a class is compared, the two are one and the same fact, so that nothing depends
    on which object comes first.

    Tests of a kind that is not `counted` are no candidates: they are found by second looks. A fact
    of a `cumulative` kind holds with all values from the one computed here on. One `of_any` has a
    second value that is any other object's, of whatever class: it holds with what each of them
    gives.
    """

    terms: int
    value: Callable[..., Vector]
    swap: Callable[[Vector], Vector] = lambda value: value
    counted: bool = True
    cumulative: bool = False
    of_any: bool = False

    def holds(self, actual: Vector, value: Vector) -> bool:
        return actual <= value if self.cumulative else actual == value


KINDS: dict[str, Kind] = {
    "equality": Kind(terms=1, value=lambda x: x),
    "difference": Kind(
        terms=2,
        value=lambda x, y: tuple(b - a for a, b in zip(x, y, strict=True)),
        swap=lambda value: tuple(-component for component in value),
    ),
    "order": Kind(
        terms=2,
        value=lambda x, y: tuple((b > a) - (b < a) for a, b in zip(x, y, strict=True)),
        swap=lambda value: tuple(-component for component in value),
        counted=False,
    ),
    "threshold": Kind(terms=1, value=lambda x: x, counted=False, cumulative=True),
    "something": Kind(
        terms=1,
        value=lambda x, y: tuple(b - a for a, b in zip(x, y, strict=True)),
        swap=lambda value: tuple(-component for component in value),
        counted=False,
        of_any=True,
    ),
}
"""All kinds, in canonical order. A new kind is one more entry."""

BUILT_IN = tuple(name for name, kind in KINDS.items() if not kind.of_any)
"""Those that attributes take part in if none are named."""

MAX_SUMS, MAX_VECTORS_TO_ADD = 64, 4
"""Limits on sums of attributes; a class with more vectors of one length has none of these."""
FEWEST_CLASSES_OF_ANY = 3
"""Facts about any other object are about attributes that so many classes have."""
MAX_TYPES_OF_SUMS = 4_096
"""Further types of fact about sums are left out."""


class FactType(NamedTuple):
    """What facts have in common: the kind, an attribute for each term, the classes of the objects.

    Both terms may be of the same object, or the second of any other; then there is one class. A
    threshold of a vector is about one component of it.
    """

    kind: str
    attributes: tuple[str, ...]
    classes: tuple[str, ...]
    component: int | None = None

    @property
    def interchangeable(self) -> bool:
        """Whether its two objects can change places."""
        return len(self.classes) == 2 and len(set(self.classes)) == len(set(self.attributes)) == 1


class Fact(NamedTuple):
    """A true statement about given objects."""

    type: FactType
    objects: tuple[int, ...]
    value: Vector


class Test(NamedTuple):
    """A fact with variables: `slots` says which variable stands for each object.

    At a node with n variables, slots n and n+1 are variables that the test introduces.
    """

    kind: str
    attributes: tuple[str, ...]
    classes: tuple[str, ...]
    slots: tuple[int, ...]
    value: Vector
    component: int | None = None

    @property
    def type(self) -> FactType:
        return FactType(self.kind, self.attributes, self.classes, self.component)

    def dump(self) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[int, ...], Vector]:
        """As the engine writes it: the component, if it is about one, before the value."""
        about = () if self.component is None else (self.component,)
        return self.kind, self.attributes, self.classes, self.slots, about + self.value


Test.__test__ = False  # type: ignore[attr-defined]  # pytest: no tests in here


def fact_types(schema: Any) -> list[FactType]:
    """Every type of fact that the schema allows, in canonical order: first what is counted."""
    types = []
    for name, kind in sorted(KINDS.items(), key=lambda item: not item[1].counted):
        members = [m for m, each in schema.attributes.items() if name in (each.facts or ())]
        for i, m in enumerate(members):
            if kind.terms == 1:
                attributes = (m, unit(schema, m)) if kind.of_any else (m,)
                if not kind.of_any or has_any(schema, unit(schema, m)):
                    length = schema.attributes[m].length
                    types += [
                        FactType(name, attributes, (c,), each)
                        for c in owners(schema, m)
                        for each in components(name, length)
                    ]
                continue
            types += [
                FactType(name, (m, n), group)
                for n in members[i:]
                if unit(schema, n) == unit(schema, m)
                for group in groups(schema, m, n)
            ]
    types += [
        FactType("threshold", (each.name,), (owner,), component)
        for owner, each in owned_sums(schema)
        if is_compared(schema, each)
        if all("threshold" in (schema.attributes[m].facts or ()) for m in each)
        for component in components("threshold", schema.attributes[each.place].length)
    ]
    types += [
        FactType(name, (each.name, unit(schema, each.place)), (owner,))
        for name in KINDS
        for owner, each in owned_sums(schema)
        if KINDS[name].of_any and is_compared(schema, each)
        if name in (schema.attributes[each.place].facts or ())
        if has_any(schema, unit(schema, each.place))
    ]
    uncounted = [each for each in types if not KINDS[each.kind].counted]
    return [*types[: len(types) - len(uncounted)], *types_of_sums(schema), *uncounted]


def components(kind: str, length: int) -> list[int | None]:
    """What facts of a kind about values of a length are about: the whole, or each number."""
    return [*range(length)] if kind == "threshold" and length > 1 else [None]


def owners(schema: Any, attribute: str) -> list[str]:
    return [c for c, attributes in schema.classes.items() if attribute in attributes]


def has_any(schema: Any, attribute: str) -> bool:
    """Whether facts may be about any other object that has the attribute, of whatever class."""
    takes_part = "something" in (schema.attributes[attribute].facts or ())
    return takes_part and len(owners(schema, attribute)) >= FEWEST_CLASSES_OF_ANY


def unit(schema: Any, attribute: str) -> str:
    """The attribute at the end of the chain of `like`s: those of one unit are compared."""
    like = schema.attributes[attribute].like
    return attribute if like is None else unit(schema, like)


class Sum(NamedTuple):
    """The sum of two attributes of an object: where it will be, if it takes a step."""

    place: str
    step: str

    @property
    def name(self) -> str:
        return f"{self.place} + {self.step}"


def sums(schema: Any) -> list[Sum]:
    """All pairs of vectors of one length that a class has, unless it has many of them.

    What more classes have is the place; then what there is more of; then the first.
    """
    names = list(schema.attributes)
    pairs = set()
    for members in schema.classes.values():
        vectors = [
            m
            for m in members
            if schema.attributes[m].length > 1 and not schema.attributes[m].is_symbolic
        ]
        for length in {schema.attributes[m].length for m in vectors}:
            same = [m for m in vectors if schema.attributes[m].length == length]
            if len(same) <= MAX_VECTORS_TO_ADD:
                pairs |= set(combinations(sorted(same, key=names.index), 2))
    in_order = sorted(pairs, key=lambda pair: [names.index(m) for m in pair])[:MAX_SUMS]
    return [
        Sum(a, b)
        if owners_of(schema, unit(schema, a)) >= owners_of(schema, unit(schema, b))
        else Sum(b, a)
        for a, b in in_order
    ]


def owners_of(schema: Any, of_unit: str) -> tuple[int, int]:
    """How many classes have an attribute of the unit, and how many such attributes they have."""
    own = [sum(unit(schema, m) == of_unit for m in ms) for ms in schema.classes.values()]
    return sum(n > 0 for n in own), sum(own)


def is_compared(schema: Any, each: Sum) -> bool:
    """Whether facts and frames may be about the sum."""
    in_facts = all("difference" in (schema.attributes[m].facts or ()) for m in each)
    return in_facts and unit(schema, each.place) != unit(schema, each.step)


def owned_sums(schema: Any) -> list[tuple[str, Sum]]:
    """Each sum of each class that has both attributes."""
    return [
        (c, each)
        for c, members in schema.classes.items()
        for each in sums(schema)
        if {*each} <= {*members}
    ]


def slots(schema: Any) -> list[tuple[str, str]]:
    """The class and attribute of everything that has a value, in canonical order."""
    return [(c, m) for c in schema.classes for m in schema.attributes if m in schema.classes[c]]


def types_of_sums(schema: Any) -> list[FactType]:
    """A sum is compared with all attributes of its place's unit, but not with the place itself."""

    types = []
    for owner, each in owned_sums(schema):
        of_unit = unit(schema, each.place)
        if not is_compared(schema, each):
            continue
        for c, m in slots(schema):
            takes_part = "difference" in (schema.attributes[m].facts or ())
            if unit(schema, m) != of_unit or not takes_part:
                continue
            if c == owner and m != each.place:
                types.append(FactType("difference", (m, each.name), (c,)))
            types.append(FactType("difference", (m, each.name), (c, owner)))
    return types[:MAX_TYPES_OF_SUMS]


def groups(schema: Any, m: str, n: str) -> list[tuple[str, ...]]:
    """The classes of the objects whose `m` and `n` are compared; first those within one object."""
    if m == n:
        classes = owners(schema, m)
        return [(a, b) for i, a in enumerate(classes) for b in classes[i:]]
    both = [(c,) for c in owners(schema, m) if c in owners(schema, n)]
    return [*both, *product(owners(schema, m), owners(schema, n))]


# --- what is true in a state -------------------------------------------------------


def as_vector(value: int | Iterable[int]) -> Vector:
    """Attributes of length 1 are read as plain integers; here all are vectors."""
    return (value,) if isinstance(value, int) else tuple(value)


def fits(value: Vector) -> bool:
    """What is beyond 64 bits is not said: it is no fact."""
    return all(-(2**63) <= component < 2**63 for component in value)


class Scene:
    """A state, seen through its facts."""

    def __init__(self, state: Any):
        objects = sorted(state, key=lambda each: each.id)
        self.schema = state.schema
        self.class_of = {each.id: each.class_name for each in objects}
        self.values: dict[int, dict[str, Vector]] = {
            each.id: {name: as_vector(n) for name, n in self.schema.numbers(each).items()}
            for each in objects
        }
        for owner, each in owned_sums(self.schema):
            for x in self.of_class(owner):
                place, step = self.values[x][each.place], self.values[x][each.step]
                total = tuple(
                    max(-(2**63), min(a + b, 2**63 - 1)) for a, b in zip(place, step, strict=True)
                )
                self.values[x] = {**self.values[x], each.name: total}
        self.types = fact_types(self.schema)
        counted = [each for each in self.types if KINDS[each.kind].counted]
        self.facts = [fact for each in counted for fact in self._facts_of(each)]
        self._tests_remembered: dict[Binding, frozenset[Test]] = {}
        self.values_remembered: dict[Any, set[Vector]] = {}

    def of_class(self, class_name: str) -> list[int]:
        return [each for each in self.class_of if self.class_of[each] == class_name]

    def values_of(self, fact_type: FactType, objects: Iterable[int]) -> list[Vector]:
        """The values that make the fact true of these objects: one, unless it is of any other."""
        kind, attributes = KINDS[fact_type.kind], fact_type.attributes
        if kind.of_any:
            (x,) = objects
            others = self.having(attributes[1])
            return [
                kind.value(self.values[x][attributes[0]], self.values[y][attributes[1]])
                for y in others
                if y != x
            ]
        return [self.value_of(fact_type, objects)]

    def value_of(self, fact_type: FactType, objects: Iterable[int]) -> Vector:
        """The value that makes the fact true of these objects."""
        of_terms = list(objects) * (len(fact_type.attributes) // len(fact_type.classes))
        values = [self.values[x][m] for x, m in zip(of_terms, fact_type.attributes, strict=True)]
        if fact_type.component is not None:
            values = [(each[fact_type.component],) for each in values]
        return KINDS[fact_type.kind].value(*values)

    def having(self, attribute: str) -> list[int]:
        """All objects that have the attribute, of whatever class."""
        return [x for x in self.values if attribute in self.values[x]]

    def fact_values(self, fact_type: FactType, objects: Iterable[int]) -> list[Vector]:
        """The same, but for those of which there is no fact."""
        kind, attribute = KINDS[fact_type.kind], fact_type.attributes[0]
        values = self.values_of(fact_type, objects)
        if fact_type.kind == "difference" and self.schema.attributes[attribute].is_symbolic:
            values = [each for each in values if not any(each)]  # the same, or there is no fact
        return [each for each in values if fits(each) and fits(kind.swap(each))]

    def _facts_of(self, fact_type: FactType) -> list[Fact]:
        """One fact for each group of different objects; if they can change places, one for both."""
        first, *rest = (self.of_class(each) for each in fact_type.classes)
        if fact_type.interchangeable:
            chosen: Iterable[tuple[int, ...]] = combinations(first, 2)
        else:
            chosen = (each for each in product(first, *rest) if len(set(each)) == len(each))
        return [
            Fact(fact_type, each, value)
            for each in chosen
            for value in self.fact_values(fact_type, each)
        ]

    def true_tests(self, bindings: Iterable[Binding]) -> set[Test]:
        """All tests that are true for at least one of the bindings."""
        return set().union(*(self._tests_of(binding) for binding in bindings))

    def _tests_of(self, binding: Binding) -> frozenset[Test]:
        # Remembered: the rules of all attributes of an object ask for the same binding.
        if binding not in self._tests_remembered:
            tests = frozenset(as_test(fact, binding) for fact in self.facts)
            self._tests_remembered[binding] = tests
        return self._tests_remembered[binding]

    def canonical(self, binding: Binding) -> list[Any]:
        """Sort key of bindings: object by object, by its values, then by its id."""
        names = self.schema.attributes
        return [
            ([self.values[x][name] for name in names if name in self.values[x]], x) for x in binding
        ]


def as_test(fact: Fact, binding: Binding) -> Test:
    """The one way in which a fact is a test for a binding.

    Each of its objects is either bound already, and the test names that variable, or
    it is not, and the test introduces a variable for it. Of objects that can change places, the
    older variable comes first; of two new ones, the value is the greater of both directions.
    """
    slots: list[int] = []
    new = len(binding)
    for each in fact.objects:
        if each in binding:
            slots.append(binding.index(each))
        else:
            slots.append(new)
            new += 1
    value = fact.value
    if fact.type.interchangeable:
        swapped = KINDS[fact.type.kind].swap(value)
        if new == len(binding) + 2:
            value = max(value, swapped)
        elif slots[0] > slots[1]:
            slots.reverse()
            value = swapped
    return Test(*fact.type[:3], tuple(slots), value)  # what is counted is about whole values


def extensions(scene: Scene, test: Test, bindings: Iterable[Binding]) -> list[Binding]:
    """All bindings, extended by the test's new variables in all ways that make it true."""
    extended = []
    for binding in bindings:
        choices = [
            [binding[slot]]
            if slot < len(binding)
            else [x for x in scene.of_class(class_name) if x not in binding]
            for slot, class_name in zip(test.slots, test.classes, strict=True)
        ]
        for objects in product(*choices):
            different = len(set(objects)) == len(objects)
            actual = scene.values_of(test.type, objects) if different else []
            if any(KINDS[test.kind].holds(one, test.value) for one in actual):
                new = [x for x in objects if x not in binding]
                extended.append((*binding, *new))
    if len(extended) > MAX_BINDINGS:
        extended = sorted(extended, key=scene.canonical)[:MAX_BINDINGS]
    return extended


# --- which test is better ----------------------------------------------------------


def cost(scene: Scene, test: Test, n_variables: int) -> int:
    """New variables cost, twice if tied to none that there are; so do absolute vectors.

    So does a component of one, and any other object, too, for which there is no variable.
    """
    new = [slot for slot in test.slots if slot >= n_variables]
    unrelated = new if len(new) == len(test.slots) else []
    absolute = test.kind == "equality" and scene.schema.attributes[test.attributes[0]].length > 1
    absolute |= test.component is not None
    return len(new) + len(unrelated) + (absolute or KINDS[test.kind].of_any)


def preference(scene: Scene, test: Test, n_variables: int) -> tuple[Any, ...]:
    """Canonical key: of tests that explain equally well, the least is the one to take.

    Few new variables, tied to those there are; no absolute vectors; small numbers.
    """
    size = min(sum(abs(component) for component in test.value), MAX_L1)
    which = scene.types.index(test.type)
    return (cost(scene, test, n_variables), size, which, test.slots, test.value)


def base_score(totals: Counts) -> Fraction:
    """N times the score of asking nothing: the sum, over outcomes y, of n_y^2 / N."""
    return Fraction(sum(n * n for n in totals.values()), sum(totals.values()))


def score(totals: Counts, when_true: Counts) -> Fraction:
    """N times the paper's S: the sum, over answers x and outcomes y, of n_xy^2 / n_x."""
    when_false = [n - when_true.get(outcome, 0) for outcome, n in totals.items()]
    n_true, n_false = sum(when_true.values()), sum(when_false)
    if n_true == 0 or n_false == 0:
        return base_score(totals)  # always the same answer
    squares_true = sum(n * n for n in when_true.values())
    squares_false = sum(n * n for n in when_false)
    return Fraction(squares_true * n_false + squares_false * n_true, n_true * n_false)


class Wilson:
    """The paper's "surely better": intervals of the scores that do not overlap."""

    def __init__(self, alpha: float):
        self.z = Fraction(NormalDist().inv_cdf(1 - alpha / 2))

    def score(self, node: Node | Sample, when_true: Counts) -> Fraction:
        return score(node.totals, when_true)

    def threshold(self, node: Node | Sample, when_true: Counts, worth: Fraction) -> Fraction:
        return worth

    def surely_better(self, one: Fraction, other: Fraction, n: int) -> bool:
        """Whether the lower end for `one` lies above the upper end for `other`.

        Both are N·S of the same N = n. An interval for p = N·S / N is, up to a factor
        that both share, p + z²/2n ± z·sqrt(a) with a = p(1-p)/n + z²/4n². So the question
        is whether sqrt(a1) + sqrt(a2) < (p1 - p2)/z, and squaring twice answers it without
        a square root.
        """
        p1, p2 = one / n, other / n
        if p1 <= p2:
            return False
        a1, a2 = (p * (1 - p) / n + self.z**2 / (4 * n * n) for p in (p1, p2))
        rest = ((p1 - p2) / self.z) ** 2 - a1 - a2
        return rest > 0 and 4 * a1 * a2 < rest**2

    def worth_keeping(self, test: Fraction, none: Fraction, n: int) -> bool:
        return self.surely_better(test, none, n)


# --- which test is better, by the evidence -------------------------------------------
#
# Logarithms are rounded to whole numbers of 1/65536 nats, each by itself. From there on
# all is integers.

DIGITS = Context(prec=50)


def rounded(nats: Decimal) -> int:
    """The nearest whole number of 1/65536 nats; a half is rounded up."""
    units = DIGITS.add(DIGITS.multiply(nats, Decimal(65536)), Decimal("0.5"))
    return int(units.to_integral_value(ROUND_FLOOR))


@cache  # remembered
def log(x: int | Fraction) -> int:
    """ln x."""
    exact = Fraction(x)
    return rounded(DIGITS.ln(DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))))


@cache  # remembered
def log_power(n: int) -> int:
    """ln of n to the power of n."""
    return rounded(DIGITS.multiply(Decimal(n), DIGITS.ln(Decimal(n)))) if n > 0 else 0


SUMS: dict[int, list[int]] = {}


def log_steps(first: int, n: int) -> int:
    """ln of first · (first + 2) · (first + 4) · ..., n factors, each rounded by itself."""
    sums = SUMS.setdefault(first, [0])  # remembered: of no factors, of one, of two ...
    while len(sums) <= n:
        sums.append(sums[-1] + log(first + 2 * (len(sums) - 1)))
    return sums[n]


def anything(counts: Counts, kinds: int) -> int:
    """How likely these outcomes were, if any of so many kinds may come.

    They are foretold one after the other: after n outcomes, c of them y, the probability of
    y is (c + 1/2) / (n + kinds/2).
    """
    present = [n for n in counts.values() if n > 0]
    return sum(log_steps(1, n) for n in present) - log_steps(kinds, sum(present))


def always_the_same(kinds: int) -> int:
    """How likely they were, if it was said to be one only, and which is as likely as any."""
    return -log(kinds) if kinds else 0


def forecast(held: Counts, failed: Counts, kinds: int) -> int:
    """How likely the outcomes were, foretold where a test held and where it failed.

    In each half anything may come, or always the same. Both sure, each of another outcome, has
    a share of 1/2; the first alone, the second alone and none a share of 1/6 each. Of those
    that were not refuted the one that did best is taken. A test that always held, or never,
    is no test: then there is one half, and the shares of its two forecasts are 1/2.
    """
    if not any(held.values()) or not any(failed.values()):
        everything = held if any(held.values()) else failed
        forecasts = [anything(everything, kinds) - log(2)]
        if is_pure(everything):
            forecasts.append(always_the_same(kinds) - log(2))
        return max(forecasts)
    forecasts = [anything(held, kinds) + anything(failed, kinds) - log(6)]
    if is_pure(held):
        forecasts.append(always_the_same(kinds) + anything(failed, kinds) - log(6))
    if is_pure(failed):
        forecasts.append(anything(held, kinds) + always_the_same(kinds) - log(6))
    if is_pure(held) and is_pure(failed) and kinds == 2:
        # The first may be sure of either of the two; for the second one is left.
        forecasts.append(always_the_same(2) - log(2))
    return max(forecasts)


def hindsight(counts: Counts) -> int:
    """Return the log likelihood under the maximum-likelihood distribution."""
    return sum(log_power(n) for n in counts.values()) - log_power(sum(counts.values()))


def patterns(scene: Scene, variables: tuple[str, ...], counted: bool = True) -> list[Test]:
    """All that can be asked at a node with these variables, but for the value."""
    result = []
    for each in scene.types:
        if KINDS[each.kind].counted != counted:
            continue
        choices = [
            [*(i for i, name in enumerate(variables) if name == class_name), None]
            for class_name in each.classes
        ]
        for chosen in product(*choices):  # an old variable each, or None: a new one
            new = len(variables)
            slots = []
            for slot in chosen:
                slots.append(new if slot is None else slot)
                new += slot is None
            twice = len(set(slots)) < len(slots)
            older_first = slots == sorted(slots)
            if not twice and (older_first or not each.interchangeable):
                result.append(Test(*each[:3], tuple(slots), (), each.component))
    return result


def lengths_of_patterns(scene: Scene, variables: tuple[str, ...]) -> dict[Test, int]:
    """What it takes to say which pattern: each cost more halves its share of them all."""
    weights = {
        each: 2 ** (5 - cost(scene, each, len(variables))) for each in patterns(scene, variables)
    }
    return {each: log(sum(weights.values())) - log(weight) for each, weight in weights.items()}


def lengths_of_uncounted(scene: Scene, variables: tuple[str, ...]) -> dict[Test, int]:
    """The same of what is not counted: a choice from all, and one of two that it is.

    That it is about a component is one of a hundred; for all others, there are no such patterns.
    """
    uncounted = patterns(scene, variables, counted=False)
    every = [*patterns(scene, variables), *uncounted]
    weights = {each: 2 ** (5 - cost(scene, each, len(variables))) for each in every}
    whole = sum(weights[each] for each in every if each.component is None)
    every_share = sum(weights.values())
    choices = {True: log(max(whole, 1)) + log(2), False: log(max(every_share, 1)) + log(100)}
    return {each: choices[each.component is None] - log(weights[each]) for each in uncounted}


@cache  # remembered
def length_of_value(value: Vector) -> int:
    """What it takes to say a value: its components' sizes s, and their signs if they have any.

    1 / (s + 1)(s + 2), summed over s = 0, 1, 2, ... is 1.
    """
    return sum(log(abs(v) + 1) + log(abs(v) + 2) + (log(2) if v else 0) for v in value)


class Evidence:
    """How much more likely a test makes the outcomes, and whether that is worth saying it."""

    def __init__(self, alpha: float):
        self.required_lead = log(1 / Fraction(alpha))

    def score(self, node: Node | Sample, when_true: Counts) -> int:
        """The forecast where the test held and where it failed, copies counting once."""
        held, failed = when_true, minus(node.totals, when_true)
        copies = node.design_effect()
        return forecast(
            effective_counts(copies, held), effective_counts(copies, failed), node.kinds()
        )

    def threshold(self, node: Node | Sample, when_true: Counts, worth: int) -> int:
        """Return the score that a challenger must beat; `worth` is that of the current test."""
        return worth

    def surely_better(self, one: int, other: int, n: int) -> bool:
        return one - other > self.required_lead

    def worth_keeping(self, test: int, none: int, n: int) -> bool:
        return test >= none


class Proven(Evidence):
    """The same against the best that could be said without the challenger, in hindsight."""

    def threshold(self, node: Node | Sample, when_true: Counts, worth: int) -> int:
        """The likelihood in hindsight of both halves, whatever it takes to say the test.

        Nobody knows which outcomes there are, so in each half the first of each kind comes for
        nothing. Nor does anyone know how many there are: to foretell K of them has a share of
        1 / (K (K - 1)), and there are K! ways to name them, together (K - 2)!.
        """
        copies = node.design_effect()
        held, failed = (
            effective_counts(copies, when_true),
            effective_counts(copies, minus(node.totals, when_true)),
        )
        likelihoods = hindsight(less_one(held)) + hindsight(less_one(failed))
        return likelihoods - sum(log(k) for k in range(1, distinct_outcomes(node.totals) - 1))


def distinct_outcomes(counts: Counts) -> int:
    """How many different outcomes were seen."""
    return sum(n > 0 for n in counts.values())


def is_pure(counts: Counts) -> bool:
    """Whether there was one outcome only, or none yet: nothing is left to explain."""
    return distinct_outcomes(counts) < 2


def minus(totals: Counts, when_true: Counts) -> dict[Outcome, int]:
    """How often the test failed, by outcome."""
    return {outcome: n - when_true.get(outcome, 0) for outcome, n in totals.items()}


def effective_counts(copies: int, counts: Counts) -> dict[Outcome, int]:
    """Divide the counts by the number of copies, rounded up."""
    return {outcome: (n + copies - 1) // copies for outcome, n in counts.items()}


def less_one(counts: Counts) -> dict[Outcome, int]:
    """The counts, less one of each outcome that was seen."""
    return {y: max(n - 1, 0) for y, n in counts.items()}


CRITERIA: dict[str, type[Wilson] | type[Evidence]] = {
    "wilson": Wilson,
    "evidence": Evidence,
    "proven": Proven,
}


# --- frames ------------------------------------------------------------------------
#
# An outcome is the new value less a reference, or `STAYS`.


STAYS: Outcome = None
"""The outcome of a value that does not change, in frames that have it."""
JUMPS: Outcome = None
"""The outcome of a value that becomes that of the source, in frames that jump."""
MAX_FRAMES = 64
"""A rule chooses from so many frames."""
FEWEST_TRANSITIONS = 16
"""Frames are not compared before there are more transitions."""
ENOUGH_TRANSITIONS = 128
"""Fewer transitions decide only if they are all there were."""
MAX_FRAME_TARGETS = 2000
"""Frames are compared over no more transitions once there are so many targets."""
MAX_FRAME_OUTCOMES = 32
"""A frame with more different outcomes is none to change to."""
MAX_CHOICES = 4
"""In one transition, so many rules compare frames."""
MAX_RIVALS = 4
"""So many frames, and the default, are compared with that of the rule."""
PHASES = 16


class Frame(NamedTuple):
    """What outcomes are relative to: the reference is the sum of what it names, or zero.

    `adds`: the value before. `source`: an attribute of the object itself, if that is of this class,
    or else of the only object of the class. `stays`: values that do not change are told as such.
    `jumps`: outcomes are changes, but a value that becomes that of the source is told as such.
    """

    adds: bool = True
    stays: bool = False
    source: tuple[str, str] | None = None
    jumps: bool = False


CHANGE = Frame()
"""Outcomes are changes, as in the paper."""


def by_value(attribute: Any) -> bool:
    """Whether rules about the attribute begin with new values."""
    return attribute.outcomes == "value" or attribute.is_symbolic


def default_frame(attribute: Any, plain: bool) -> Frame:
    """The frame in which rules begin: plain if they cannot choose another one."""
    return Frame(adds=False, stays=not plain) if by_value(attribute) else Frame()


def possible_frames(schema: Any, class_name: str, attribute: str) -> list[Frame]:
    """All frames that rules about an attribute of a class may choose from; first the default."""
    own = schema.attributes[attribute]
    default = default_frame(own, plain=False)
    if own.outcomes == "change" or (own.outcomes == "auto" and not own.facts):
        return [default]
    frames = [default, Frame(False, True), Frame(False, False)]
    if own.outcomes == "value":
        return distinct(frames)
    if not own.is_symbolic:
        frames.append(Frame())
    for source in [
        (c, n) for c in schema.classes for n in schema.attributes if n in schema.classes[c]
    ]:
        if source == (class_name, attribute) or not may_refer(schema, attribute, source[1]):
            continue
        for stays in (True, False):
            if source[0] == class_name or unit(schema, attribute) == unit(schema, source[1]):
                frames.append(Frame(False, stays, source))
            if not own.is_symbolic:
                frames.append(Frame(True, stays, source))
    for owner, each in owned_sums(schema):
        same_unit = unit(schema, each.place) == unit(schema, attribute)
        compared = is_compared(schema, each) and same_unit
        if owner != class_name and compared and not own.is_symbolic:
            frames += [Frame(False, stays, (owner, each.name)) for stays in (True, False)]
    frames = distinct(frames)[:MAX_FRAMES]
    if not own.is_symbolic:
        replacing = [each for each in frames if each.source and each.stays and not each.adds]
        frames += [Frame(source=each.source, jumps=True) for each in replacing]
    return frames[:MAX_FRAMES]


def distinct(frames: list[Frame]) -> list[Frame]:
    return list(dict.fromkeys(frames))


def may_refer(schema: Any, attribute: str, other: str) -> bool:
    """Whether values of `other` can be part of the reference of an attribute.

    Names can only be the same, so they must be of one unit. What takes part in no fact is nobody's
    reference.
    """
    one, two = schema.attributes[attribute], schema.attributes[other]
    if one.is_symbolic or two.is_symbolic:
        return unit(schema, attribute) == unit(schema, other) and bool(two.facts)
    return one.length == two.length and bool(two.facts)


def plus(a: Vector, b: Vector) -> Vector:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def minus_vector(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def reference(scene: Scene, frame: Frame, x: int, attribute: str) -> Vector | None:
    """What outcomes of an object are relative to; None if there is no such thing."""
    now = scene.values[x][attribute]
    total = now if frame.adds else (0,) * len(now)
    if frame.source is not None and not frame.jumps:
        value = value_of_source(scene, frame, x)
        if value is None:
            return None
        total = plus(total, value)
    return total if fits(total) else None


def value_of_source(scene: Scene, frame: Frame, x: int) -> Vector | None:
    """The value of the frame's source; None if there is not exactly one such object."""
    assert frame.source is not None
    class_name, name = frame.source
    objects = [x] if class_name == scene.class_of[x] else scene.of_class(class_name)
    return scene.values[objects[0]][name] if len(objects) == 1 else None


def is_jump(scene: Scene, then: Scene, frame: Frame, x: int, attribute: str) -> bool:
    """Whether the value becomes that of the source, in a frame that jumps."""
    return frame.jumps and then.values[x][attribute] == value_of_source(scene, frame, x)


def without_steps(told: list[tuple[Outcome, bool]]) -> list[Outcome]:
    """The outcomes, given changes and whether each is a jump.

    A jump is taken for a change that has come elsewhere.
    """
    changes = {change for change, jumps in told if not jumps}
    return [JUMPS if jumps and change not in changes else change for change, jumps in told]


def tell(scene: Scene, then: Scene, frame: Frame, x: int, attribute: str) -> tuple[bool, Outcome]:
    """Whether the frame can tell what became of an object's attribute, and the outcome."""
    now, new = scene.values[x][attribute], then.values[x][attribute]
    if frame.stays and new == now:
        return True, STAYS
    start = reference(scene, frame, x, attribute)
    if start is None or not fits(minus_vector(new, start)):
        return False, None
    offset = minus_vector(new, start)
    symbolic = scene.schema.attributes[attribute].is_symbolic
    if symbolic and frame.source is not None and any(offset):
        return False, None  # names are the same, or there is nothing to say
    return True, offset


def is_choice_due(transitions: int, phase: int) -> bool:
    """Whether it is time to choose a frame: twice while their number doubles."""
    if transitions <= FEWEST_TRANSITIONS:
        return False

    def turn(n: int) -> int:
        shifted = n * (PHASES + phase % PHASES) // PHASES
        doublings = shifted.bit_length() - 1
        return 2 * doublings + 2 * (shifted - 2**doublings) // 2**doublings

    return turn(transitions) != turn(transitions - 1)


def length_of_choice(is_default: bool, frames: int) -> int:
    """What it takes to say which of the frames it is."""
    return log(2) if is_default else log(2) + log(frames - 1)


def length_of_outcomes(outcomes: Iterable[Outcome], frame: Frame, length: int) -> int:
    """What it takes to say each outcome that came, about values of that length.

    A jump is an offset of zero from the source.
    """
    bare = (0,) * length if frame.jumps else ()
    return sum(length_of_value(bare if each is None else each) for each in set(outcomes))


# --- the tree ----------------------------------------------------------------------


OTHERS: Outcome = ()
"""All outcomes that a rule does not tell apart."""
CANDIDATES_PER_OBJECT, MIN_OBJECTS = 256, 32
"""Limit on a node's candidates: so many for each object of the state; few objects count as 32."""
MAX_NODE_COUNTERS = 2**20
"""Limit on candidates times outcomes at a node."""
MAX_RULE_COUNTERS = 2**22
"""Limit on the same of all nodes of a rule, which share it equally."""
MAX_COUNTERS = 2**26
"""Limit on the same of all rules of a model that vary, which share it equally."""
COUNTERS_PER_PATTERN = 64
"""What a pattern of tests takes of a node's share, beside one counter for each outcome."""
FEW_OUTCOMES = 1_024
"""Outcomes of a rule times rules that vary: with twice as many, all have half, and so on."""


def in_order(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes in canonical order: `STAYS` comes first."""
    return sorted(outcomes, key=lambda outcome: (outcome is not STAYS, outcome or ()))


def without_others(counts: Counter[Outcome]) -> Counter[Outcome]:
    return Counter({outcome: n for outcome, n in counts.items() if outcome != OTHERS})


@dataclass(eq=False)
class Candidate:
    """A test being counted: how often it was true, by outcome, since its birth."""

    birth: int
    counts: Counter[Outcome] = field(default_factory=Counter)


@dataclass(eq=False)
class Node:
    """A leaf, or, with a test and two children, a branch."""

    variables: tuple[str, ...]
    path: str = ""
    totals: Counter[Outcome] = field(default_factory=Counter)
    pairs: int = 0
    """Number of pairs of targets of one transition."""
    agreeing: int = 0
    """Number of these pairs with equal outcomes."""
    candidates: dict[Test, Candidate] = field(default_factory=dict)
    last_checked_loss: int = 0
    """The loss without a test at the last check."""
    next_look: int = 0
    """How much it must have counted before a second look may change its test."""
    test: Test | None = None
    left: Node | None = None
    right: Node | None = None
    held: Counter[Outcome] | None = None
    """Of a branch that learns and whose test is not counted: how often that held, by outcome."""
    # What people have changed; see reference_editing.py.
    pinned: bool = False
    hand_written: bool = False
    prior_counts: Counter[Outcome] | None = None
    """Counts that are added to its own when it answers."""
    seen_since_pinned: Counter[Outcome] = field(default_factory=Counter)
    """Outcomes that reached a pinned leaf."""

    def answer_counts(self) -> Counter[Outcome]:
        """What it answers with. Outcomes that are not told apart have no value."""
        return without_others(self.all_counts())

    def all_counts(self) -> Counter[Outcome]:
        return self.totals if self.prior_counts is None else self.totals + self.prior_counts

    def keeps_test(self) -> bool:
        """A branch that was written or pinned, or one that leads to something that was."""
        below = [self, *self.branches(), *self.leaves()]
        return any(node.pinned or (node.hand_written and node.test is not None) for node in below)

    def add_cluster(self, outcomes: Counts) -> None:
        """Count the pairs of targets of one transition, by their outcomes."""
        n = sum(outcomes.values())
        self.pairs += n * (n - 1) // 2
        self.agreeing += sum(n * (n - 1) // 2 for n in outcomes.values())

    def design_effect(self) -> int:
        """How many targets count as one, because those of one transition share their fate.

        Eight objects that share one coin are one toss, not eight. This is the design effect of
        a sample in clusters. It is rounded to a whole number, so the operations are the
        engine's, on plain doubles and in the same order.
        """
        if self.pairs == 0:
            return 1
        n = self.totals.total()
        by_chance = sum(each * each for each in self.totals.values()) / (n * n)
        if by_chance >= 1:
            return 1
        correlation = (self.agreeing / self.pairs - by_chance) / (1 - by_chance)
        others = 2 * self.pairs / n  # that a target meets, on average
        effect = 1 + others * correlation
        return 1 if effect < 1 else floor(effect + 0.5)

    def kinds(self) -> int:
        """How many outcomes may come."""
        return distinct_outcomes(self.totals)

    def leaves(self) -> list[Node]:
        """Those below it; of a leaf, itself."""
        if self.left and self.right:
            return self.left.leaves() + self.right.leaves()
        return [self]

    def branches(self) -> list[Node]:
        """Those below it, and itself."""
        if self.left and self.right:
            return [self, *self.left.branches(), *self.right.branches()]
        return []

    def explains_everything(self) -> bool:
        """Whether all leaves below have seen one outcome only."""
        return all(leaf.pinned or is_pure(leaf.totals) for leaf in self.leaves())

    def counts_of_test(self) -> Counter[Outcome]:
        """How often the test of a branch held, by outcome."""
        assert self.test
        return self.candidates[self.test].counts if self.held is None else self.held

    def restart(self) -> None:
        """Forget all that was counted."""
        self.totals, self.candidates = Counter(), {}
        self.pairs = self.agreeing = self.last_checked_loss = 0

    def become_branch(self, test: Test) -> None:
        """Ask `test` from now on. Left, its new variables are bound; right, nothing is."""
        new = tuple(
            class_name
            for slot, class_name in zip(test.slots, test.classes, strict=True)
            if slot >= len(self.variables)
        )
        self.test = test
        self.held = None
        self.left = Node(self.variables + new, self.path + "L")
        self.right = Node(self.variables, self.path + "R")

    def make_leaf(self) -> None:
        self.test = self.left = self.right = self.held = None

    def dump(self) -> dict[str, Any]:
        own: dict[str, Any] = {
            "totals": dict(self.all_counts()),
            "test": self.test and self.test.dump(),
            "candidates": {
                test.dump(): dict(each.counts) for test, each in self.candidates.items()
            },
        }
        if self.test and self.held is not None:
            own["candidates"][self.test.dump()] = dict(+self.held)
        if self.left and self.right:
            own |= {"left": self.left.dump(), "right": self.right.dump()}
        return own


class ReferenceTree:
    """A first-order decision tree that learns online (the paper's TreeLearn).

    Parameters
    ----------
    variables
        The classes of the tree's arguments.
    memory
        If not 0, new nodes await a replay: they count nothing until `replay` has shown them what is
        kept, and `finish_replay` was called. Who has the tree keeps the transitions.
    on_change
        Called with ("split" | "change" | "return", path of the node as Ls and Rs).
    """

    def __init__(
        self,
        variables: Iterable[str],
        *,
        alpha: float = 0.01,
        criterion: str = "wilson",
        memory: int = 0,
        branch_updates: bool = True,
        max_candidates: int = 100_000,
        max_outcomes: int = 1_024,
        max_counters: int = MAX_COUNTERS,
        on_change: Callable[[str, str], None] = lambda event, path: None,
        frame: Frame = CHANGE,
    ):
        self.frame = frame
        self.criterion: Any = CRITERIA[criterion](alpha)
        self.memory = memory
        self.branch_updates = branch_updates
        self.max_candidates = max_candidates
        self.max_outcomes = max_outcomes
        self.max_counters = max_counters
        self.outcomes: list[Outcome] = []
        """Those that are told apart, in order of appearance; OTHERS stands for all that are not."""
        self.on_change = on_change
        self.root = Node(tuple(variables))
        self.seen: Counter[Outcome] = Counter()
        self.transitions = 0
        self.varying_rules = 1
        """Rules of the model that vary, with which it shares the counters."""
        self.edited = False
        """Whether there are nodes by hand, even if it never varied."""
        self.awaiting_replay: list[Node] = []
        self.awaiting_decision: list[Node] = []
        """Nodes that have been replayed to and have not been checked since."""
        self.awaiting_look: list[tuple[Node, bool]] = []
        """Nodes to look at again at the end of the observation, and whether two tests deep."""
        self.look_work = 0
        """The account of looks: groundings that they have examined."""
        self.spared: Counter[str] = Counter()
        """How often branches rested, were woken, or were not asked; and changes and returns
        that did not happen because of what is below."""
        self.looked: Counter[str] = Counter()
        """What looks have done: how often there were any, and what was special about them."""
        self._lengths_remembered: dict[tuple[str, ...], dict[Test, int]] = {}
        self._patterns_remembered: dict[tuple[str, ...], list[Test]] = {}

    # -- the algorithm --

    def observe(self, scene: Scene, targets: Iterable[tuple[Binding, Outcome]]) -> None:
        """Learn from one transition: all its targets are one event.

        All are counted before anything is decided, so their order cannot matter.
        """
        targets = self.told_apart(targets)
        was_constant = len(self.seen) < 2 and not self.edited
        self.transitions += 1
        self.seen.update(outcome for _, outcome in targets)
        if len(self.seen) < 2 and not self.edited:
            return  # a constant so far: there is nothing to explain
        if was_constant and self.memory > 0:
            self.awaiting_replay.append(self.root)
            return  # this transition is kept too, and will be counted with the others
        settled = self._settled()
        touched: defaultdict[Node, Counter[Outcome]] = defaultdict(Counter)
        stays: set[Node] = set()
        reached: dict[Node, None] = {}
        for arguments, outcome in targets:
            for node, bindings in self.route(scene, arguments):
                reached[node] = None
                if node.pinned:
                    stays.add(node)
                    node.seen_since_pinned.update([outcome] if node.test is None else [])
                elif node not in settled:
                    self._count(node, scene, bindings, outcome)
                    touched[node][outcome] += 1
        for arguments, outcome in targets:
            route = self.route(scene, arguments)
            leaf, _ = route[-1]
            for node, bindings in route:
                if node.pinned:
                    continue
                if node in settled and (leaf.pinned or is_pure(leaf.totals)):
                    self.spared["rested"] += 1
                elif node in settled:  # it hears of what its leaf cannot explain
                    self._count(node, scene, bindings, outcome)
                    touched[node][outcome] += 1
                    self.spared["woken"] += 1
        for node, outcomes in touched.items():
            node.add_cluster(outcomes)
        for node in reached:
            self._evict(node, scene)
        self._decide(scene, set(touched) | (stays - self._settled()))

    def route(self, scene: Scene, arguments: Binding) -> list[tuple[Node, list[Binding]]]:
        """The nodes from the root to the reached leaf, each with the bindings it is given."""
        node, bindings = self.root, [arguments]
        steps = [(node, bindings)]
        while node.test and node.left and node.right:
            extended = extensions(scene, node.test, bindings)
            node, bindings = (node.left, extended) if extended else (node.right, bindings)
            steps.append((node, bindings))
        return steps

    def predict(self, scene: Scene, arguments: Binding) -> dict[Outcome, int]:
        """Counts of the reached leaf, or of its nearest ancestor that has any.

        Nothing if most of what the leaf has seen, or the ancestor, is not told apart.
        """
        path = [node for node, _ in self.route(scene, arguments)]
        answering = self._answering(path)
        if any(self._is_mostly_others(node) for node in (path[-1], answering)):
            return {}
        return dict(without_others(self._all_counts(answering)))

    def counts_for(self, scene: Scene, arguments: Binding) -> Counter[Outcome]:
        """The same, whatever is told apart."""
        path = [node for node, _ in self.route(scene, arguments)]
        return self._all_counts(self._answering(path))

    def _answering(self, path: list[Node]) -> Node:
        return next((node for node in reversed(path) if node.answer_counts()), self.root)

    def _all_counts(self, node: Node) -> Counter[Outcome]:
        """What a node has seen; the root, unless that was edited, all that the tree has seen."""
        with_all = node is self.root and (node.prior_counts is None or not node.answer_counts())
        return self.seen if with_all else node.all_counts()

    def _is_mostly_others(self, node: Node) -> bool:
        counts = self._all_counts(node)
        return counts[OTHERS] > without_others(counts).total()

    def told_apart(
        self, targets: Iterable[tuple[Binding, Outcome]]
    ) -> list[tuple[Binding, Outcome]]:
        """The targets, with OTHERS for outcomes that came when there were too many already."""
        targets = list(targets)
        new = in_order({outcome for _, outcome in targets} - set(self.outcomes))
        if new and OTHERS not in self.outcomes:
            room = max(0, self.max_outcomes - len(self.outcomes))
            self.outcomes += new[:room]
            if len(new) > room:
                self._merge_rare()
                self.on_change("noise", "")
        known = set(self.outcomes)
        return [(each, outcome if outcome in known else OTHERS) for each, outcome in targets]

    def _merge_rare(self) -> None:
        """No longer tell apart what came only once, unless it came most often or was named."""
        named = {o for node in self.nodes() for o, n in (node.prior_counts or {}).items() if n}
        most = max(self.outcomes, key=lambda outcome: self.seen[outcome])
        stay = [o for o in self.outcomes if self.seen[o] > 1 or o in named or o == most]
        self.outcomes = [*stay, OTHERS]

        def merged(counts: Counter[Outcome]) -> Counter[Outcome]:
            result: Counter[Outcome] = Counter()
            for outcome, n in counts.items():
                result[outcome if outcome in stay else OTHERS] += n
            return result

        self.seen = merged(self.seen)
        for node in self.nodes():
            node.totals = merged(node.totals)
            node.seen_since_pinned = merged(node.seen_since_pinned)
            node.last_checked_loss = 0
            for candidate in node.candidates.values():
                candidate.counts = merged(candidate.counts)
            node.held = None if node.held is None else merged(node.held)

    # -- the same with a memory --

    def is_undecided(self) -> bool:
        """Whether any node still awaits its decision after a replay."""
        return any(node in self.awaiting_decision for node in self.nodes())

    def decide_replayed(self, scene: Scene) -> None:
        """Check the nodes that still await a decision, in preorder."""
        waiting = [node for node in self.nodes() if node in self.awaiting_decision]
        self.awaiting_decision = []
        for node in waiting:
            self._ask(node, scene)

    def replay(self, scene: Scene, targets: Iterable[tuple[Binding, Outcome]]) -> None:
        """Count a kept transition at nodes that await a replay, and only there."""
        if not self.awaiting_replay:
            return
        touched: defaultdict[Node, Counter[Outcome]] = defaultdict(Counter)
        for arguments, outcome in self.told_apart(targets):
            for node, bindings in self.route(scene, arguments):
                if node in self.awaiting_replay:
                    self._count(node, scene, bindings, outcome)
                    touched[node][outcome] += 1
        for node, outcomes in touched.items():
            node.add_cluster(outcomes)
        for node in self.awaiting_replay:
            self._evict(node, scene)

    def restart(self, frame: Frame) -> None:
        """Forget everything; outcomes are told in that frame from now on."""
        self.frame = frame
        self.outcomes, self.seen, self.transitions, self.edited = [], Counter(), 0, False
        self.root = Node(self.root.variables)
        self.awaiting_replay, self.awaiting_decision, self.awaiting_look = [], [], []
        self.look_work = 0
        self.on_change("frame", "")

    def add_seen(self, targets: Iterable[tuple[Binding, Outcome]]) -> None:
        """Note a kept transition; from the second outcome on, the root awaits a replay."""
        self.transitions += 1
        self.seen.update(outcome for _, outcome in self.told_apart(targets))
        if len(self.seen) > 1 and not self.awaiting_replay:
            self.awaiting_replay.append(self.root)

    def is_fresh_tree_worth_while(self) -> bool:
        """Whether all is explained by a tree that may be longer than it needs to be.

        In the frame `jump`, what a target had depends on the tree.
        """
        varies = len(self.seen) > 1
        if not varies or self.awaiting_replay or self.is_edited() or self.root.keeps_test():
            return False
        if OTHERS in self.outcomes or self.frame.jumps:
            return False
        outcomes = sum(n > 0 for n in self.seen.values())  # with as many tests, few are to spare
        tests = len(self.root.branches())
        return self.root in self._settled() and outcomes < tests <= MAX_FRESH_TESTS

    def plant(self, fresh: Node) -> None:
        """Ask the tests of a fresh tree from now on; all nodes count what is kept."""
        self.awaiting_look = []
        self._plant(self.root, fresh)
        for each in self.root.branches():
            self.on_change("change" if each is self.root else "split", each.path)

    def _plant(self, node: Node, fresh: Node) -> None:
        node.restart()
        self.awaiting_replay.append(node)
        if fresh.test and fresh.left and fresh.right:
            node.become_branch(fresh.test)
            assert node.left and node.right
            node.held = None if KINDS[fresh.test.kind].counted else Counter()
            self._plant(node.left, fresh.left)
            self._plant(node.right, fresh.right)

    def is_edited(self) -> bool:
        """Whether people have changed any node that has not learned since."""
        return any(
            node.pinned or node.hand_written or node.prior_counts is not None
            for node in self.nodes()
        )

    def finish_replay(self) -> None:
        self.awaiting_decision += [node for node in self.awaiting_replay if node.test is None]
        self.awaiting_replay = []

    def nodes(self) -> list[Node]:
        """All nodes, in preorder."""
        result, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            result.append(node)
            if node.left and node.right:
                waiting += [node.right, node.left]
        return result

    # -- its steps --

    def _settled(self) -> set[Node]:
        """By the evidence, branches are settled while everything below them is explained.

        Another test could not do better, just look better. So they neither count nor change.
        """
        if not isinstance(self.criterion, Evidence):
            return set()
        return {branch for branch in self.root.branches() if branch.explains_everything()}

    def _is_check_due(self, node: Node) -> bool:
        """Return whether the loss has grown by 1/32 since the last check, and record it."""
        if not isinstance(self.criterion, Evidence):
            return True
        surprise = -forecast({}, node.totals, distinct_outcomes(node.totals))
        if surprise < node.last_checked_loss + node.last_checked_loss // 32:
            self.spared["not asked"] += 1
            return False
        node.last_checked_loss = surprise
        return True

    def _explained_below(self, branch: Node, scene: Scene) -> float:
        """What the tests below a branch explain beyond its own, for as many as it has counted.

        A change throws it away, and must make up for a 16th of it. A return too. On plain
        doubles, as in the engine.
        """
        if not isinstance(self.criterion, Evidence) or branch.test is None:
            return 0
        n = sum(leaf.totals.total() for leaf in branch.leaves())
        if n == 0:
            return 0
        explained = sum(
            forecast({}, leaf.totals, distinct_outcomes(leaf.totals)) for leaf in branch.leaves()
        )
        for below in branch.branches()[1:]:
            assert below.test
            explained -= self._description_length(below, scene, below.test)
        held = branch.counts_of_test()
        own = forecast(held, minus(branch.totals, held), distinct_outcomes(branch.totals))
        explained_here = float(explained) * branch.totals.total() / n
        return max(0.0, explained_here - own)

    def _count(
        self, node: Node, scene: Scene, bindings: Iterable[Binding], outcome: Outcome
    ) -> None:
        """Count a target at a node; whatever is true there is a candidate from now on."""
        if node.hand_written and node.test is None:
            node.hand_written, node.prior_counts = False, None  # it has seen for itself
        node.totals[outcome] += 1
        if node.held is not None and node.test and extensions(scene, node.test, bindings):
            node.held[outcome] += 1
        if node.test and (node.hand_written or not self.branch_updates):
            return
        counted = self._counted_patterns(node, scene)
        for test in scene.true_tests(bindings):
            if test._replace(value=()) not in counted:
                continue
            if test not in node.candidates:
                node.candidates[test] = Candidate(birth=self.transitions)
            node.candidates[test].counts[outcome] += 1

    def _evict(self, node: Node, scene: Scene) -> None:
        """Keep a node's memory bounded: beyond the limit, an eighth of it goes.

        The least often true go first, then the oldest. Of those that came together and held
        equally often, the least preferred go.
        """

        def preferred(test: Test) -> Any:
            return preference(scene, test, len(node.variables))

        def worth(test: Test) -> tuple[int, int]:
            candidate = node.candidates[test]
            return candidate.counts.total(), candidate.birth

        counted = self._counted_patterns(node, scene)
        for test in [each for each in node.candidates if each._replace(value=()) not in counted]:
            del node.candidates[test]
        limit = self._limit(scene)
        if len(node.candidates) <= limit:
            return
        removable = sorted((test for test in node.candidates if test != node.test), key=worth)
        excess = min(len(node.candidates) - (limit - limit // 8), len(removable))
        if excess > 0:
            cut = worth(removable[excess - 1])
            below = [test for test in removable if worth(test) < cut]
            equals = [test for test in removable if worth(test) == cut]
            equals.sort(key=preferred, reverse=True)
            for test in (below + equals)[:excess]:
                del node.candidates[test]

    def _limit(self, scene: Scene) -> int:
        """How many candidates a node may have."""
        by_objects = CANDIDATES_PER_OBJECT * max(MIN_OBJECTS, len(scene.values))
        counters = min(MAX_NODE_COUNTERS, MAX_RULE_COUNTERS // len(self.nodes()))
        by_counters = max(1, counters // max(1, len(self.outcomes)))
        by_share = max(1, self._candidates_by_share())
        return min(self.max_candidates, by_objects, by_counters, by_share)

    def _share(self) -> int:
        """How many of the model's counters each node may have."""
        return self.max_counters // self.varying_rules // len(self.nodes())

    def _candidates_by_share(self) -> int:
        """The more outcomes, the smaller the share."""
        outcomes = self._outcomes_charged()
        crowding = outcomes * self.varying_rules // FEW_OUTCOMES
        return self._share() // (outcomes * max(1, crowding))

    def _outcomes_charged(self) -> int:
        """A rule that looks like noise is taken to have as many outcomes as it may."""
        return max(len(self.outcomes), self.max_outcomes if OTHERS in self.outcomes else 0)

    def _counted_patterns(self, node: Node, scene: Scene) -> set[Test]:
        """The first of all patterns, as many as its share allows, and that of its own test."""
        if node.variables not in self._patterns_remembered:
            self._patterns_remembered[node.variables] = patterns(scene, node.variables)
        most = self._share() // (self._outcomes_charged() + COUNTERS_PER_PATTERN)
        most = min(most, self._candidates_by_share())
        own = [node.test._replace(value=())] if node.test else []
        return {*self._patterns_remembered[node.variables][:most], *own}

    def _decide(self, scene: Scene, touched: set[Node]) -> None:
        """Ask the touched nodes from the root down; a changed node's children are new."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if node not in touched:
                continue
            self.awaiting_decision = [each for each in self.awaiting_decision if each is not node]
            if not self._ask(node, scene) and node.left and node.right:
                waiting += [node.right, node.left]

    def _ask(self, node: Node, scene: Scene) -> bool:
        """Whether the node changes."""
        if node.pinned or (self.edited and node.test and node.keeps_test()):
            return False
        event = self._decide_branch(node, scene) if node.test else self._decide_leaf(node, scene)
        if event:
            self.on_change(event, node.path)
        return event is not None

    def _decide_leaf(self, leaf: Node, scene: Scene) -> str | None:
        """Make a branch of a leaf if its best candidate is surely better than no test."""
        loss = leaf.last_checked_loss
        if is_full(leaf) or is_pure(leaf.totals) or not self._is_check_due(leaf):
            return None
        best, worth = self._best(leaf, scene)
        threshold = self.criterion.threshold(leaf, {}, self.criterion.score(leaf, {}))
        n = leaf.totals.total()
        if best is None or not self.criterion.surely_better(worth, threshold, n):
            self._note_look(leaf, loss, scene)
            return None
        self._set_test(leaf, best)
        if not self.branch_updates:
            leaf.candidates.clear()
        # It may be that it and tests above it say value by value what can be said at once.
        path = [node for node in self.nodes() if node.test and leaf.path.startswith(node.path)]
        about = set(best.attributes)
        if self._takes_looks():
            named = [each for each in path if each.test and about & {*each.test.attributes}]
            self.awaiting_look += [(each, False) for each in named]
        return "split"

    def _decide_branch(self, branch: Node, scene: Scene) -> str | None:
        """Change a branch's test for a surely better one, or drop one that is no use."""
        if branch.test is None or not self.branch_updates or branch in self._settled():
            return None
        loss = branch.last_checked_loss
        if not self._is_check_due(branch):
            return None
        self._note_look(branch, loss, scene)
        n = branch.totals.total()
        counts = branch.counts_of_test()
        length = self._description_length(branch, scene, branch.test)
        current = self.criterion.score(branch, counts) - length
        threshold = self.criterion.threshold(branch, counts, current)
        below = self._explained_below(branch, scene)
        challenger, worth = self._best(branch, scene)
        if challenger is not None and self.criterion.surely_better(
            worth, threshold + below / 16, n
        ):
            self._set_test(branch, challenger)
            return "change"
        if challenger is not None and self.criterion.surely_better(worth, threshold, n):
            self.spared["change"] += 1
        none = self.criterion.score(branch, {})
        if not self.criterion.worth_keeping(current + below, none, n):
            if self._awaits_decision_below(branch):
                self.spared["return for what is new below"] += 1
                return None
            self._defer_look(branch)
            branch.make_leaf()
            return "return"
        if not self.criterion.worth_keeping(current, none, n):
            self.spared["return"] += 1
        return None

    def _defer_look(self, node: Node) -> None:
        """Counts have refuted the test that a look had found in a sample."""
        if node.held is not None:
            node.next_look = 2 * max(node.totals.total(), node.next_look)
            self.spared["look"] += 1

    def _awaits_decision_below(self, branch: Node) -> bool:
        """Whether a node below has just been replayed to: it may explain what the test does not."""
        below = [*branch.branches(), *branch.leaves()]
        waiting = [*self.awaiting_decision, *self.awaiting_replay]
        return any(node is each for node in below for each in waiting)

    def _set_test(self, node: Node, test: Test) -> None:
        self._defer_look(node)
        node.become_branch(test)
        assert node.left and node.right
        if self.memory > 0:
            self.awaiting_replay += [node.left, node.right]

    def _best(self, node: Node, scene: Scene) -> tuple[Test | None, Any]:
        """The best candidate but for the node's own test, and its score less its length.

        Of those that are worth the same the one with the higher score, then the preferred.
        """
        # Remembered: many candidates share their counts, and so their score.
        scores: dict[frozenset[tuple[Outcome, int]], Any] = {}
        worths: dict[Test, tuple[Any, Any]] = {}
        for test, candidate in node.candidates.items():
            if test != node.test:
                same = frozenset(candidate.counts.items())
                if same not in scores:
                    scores[same] = self.criterion.score(node, candidate.counts)
                points = scores[same]
                length = self._description_length(node, scene, test)
                worths[test] = (points - length if length else points, points)
        if not worths:
            return None, 0
        highest = max(worths.values())
        equals = [test for test, worth in worths.items() if worth == highest]
        best = min(equals, key=lambda test: preference(scene, test, len(node.variables)))
        return best, highest[0]

    def _description_length(self, node: Node, scene: Scene, test: Test) -> int:
        """Return the description length of the test, if the criterion uses it."""
        if not isinstance(self.criterion, Evidence):
            return 0
        lengths = self.lengths(scene, node.variables)
        return lengths[test._replace(value=())] + length_of_value(test.value)

    def lengths(self, scene: Scene, variables: tuple[str, ...]) -> dict[Test, int]:
        """All patterns of a node with these variables, in canonical order, and their lengths."""
        if variables not in self._lengths_remembered:
            lengths = lengths_of_patterns(scene, variables)
            lengths |= lengths_of_uncounted(scene, variables)
            self._lengths_remembered[variables] = lengths
        return self._lengths_remembered[variables]

    # -- looks at what is kept --

    def _takes_looks(self) -> bool:
        return isinstance(self.criterion, Evidence) and self.branch_updates and self.memory > 0

    def _note_look(self, node: Node, loss_before: int, scene: Scene) -> None:
        """A node that has just been asked is looked at if its loss has crossed a level since.

        A leaf may be looked at two tests deep; if it is asked for the first time, only if it is
        below a test that explains nothing by itself.
        """
        loss = node.last_checked_loss
        step = 2 if node.test else 1
        if not self._takes_looks() or look_level(loss_before) // step == look_level(loss) // step:
            return
        ahead = loss_before > 0 or self._continues_look_ahead(node, scene)
        self.awaiting_look.append((node, ahead))

    def _continues_look_ahead(self, node: Node, scene: Scene) -> bool:
        if node is self.root or node.test:
            return False
        parent = next(each for each in self.nodes() if each.path == node.path[:-1])
        assert parent.test
        if parent.hand_written:
            return False
        worth = self.criterion.score(parent, parent.counts_of_test())
        worth -= self._description_length(parent, scene, parent.test)
        none = self.criterion.score(parent, {})
        return not self.criterion.surely_better(worth, none, parent.totals.total())

    def take_looks(self) -> list[tuple[Node, bool]]:
        """The nodes that await a look, in preorder. None await one afterwards."""
        waiting, self.awaiting_look = self.awaiting_look, []
        return [
            (node, any(each is node and ahead for each, ahead in waiting))
            for node in self.nodes()
            if any(each is node for each, _ in waiting)
        ]

    def may_look(self) -> bool:
        """Whether there is something left of the account."""
        return self.look_work < WORK_AT_ONCE + WORK_LATER * self.transitions

    def is_second_look_worth_while(self, node: Node, scene: Scene) -> bool:
        """Whether a perfect test of a kind that is not counted would be much better."""
        if all(KINDS[each.kind].counted for each in scene.types):
            return False
        fixed = node.pinned or node.hand_written or (node.test and node.keeps_test())
        if fixed or is_full(node) or node in self._settled() or is_pure(node.totals):
            return False
        if node.totals.total() < node.next_look or (node.test and knows_more(node.totals)):
            return False
        held = node.counts_of_test() if node.test else Counter[Outcome]()
        return self._to_beat(node, scene, node, held) <= -LEAST_LOSS * NAT

    def is_look_ahead_worth_while(self, node: Node) -> bool:
        """Whether there is enough to explain for two tests."""
        if node.test or node.pinned or node.hand_written or is_full(node):
            return False
        if node.totals.total() < FEWEST_TARGETS_AHEAD or is_pure(node.totals):
            return False
        return self.criterion.score(node, {}) <= -LEAST_LOSS_AHEAD * NAT

    def _to_beat(self, node: Node, scene: Scene, sample: Node | Sample, held: Counts) -> Any:
        """What a test that is found must be surely better than, in a sample of the targets."""
        points = self.criterion.score(sample, held)
        if node.test is None:
            return self.criterion.threshold(sample, held, points)
        net = points - self._description_length(node, scene, node.test)
        n = sum(sample.totals.values())
        below = self._explained_below(node, scene) * n / node.totals.total()
        return self.criterion.threshold(sample, held, net) + below / 16

    def look(self, node: Node, kept: list[KeptTarget], scene: Scene) -> bool:
        """Take the best test that is not counted, if it is surely better. Whether it was."""
        if not kept:
            return False
        self.looked["second"] += 1
        sample = LookSample([each.outcome for each in kept], node.design_effect())
        test, worth = self._best_uncounted(node, kept, sample, scene)
        if test is None:
            return False
        holds = {
            i
            for i, each in enumerate(kept)
            if node.test and extensions(each.scene, node.test, each.bindings)
        }
        whole = sample.of(sample.everything)
        to_beat = self._to_beat(node, scene, whole, sample.counts(as_set(holds)))
        if not self.criterion.surely_better(worth, to_beat, 0):
            return False
        candidate, _ = self._best(node, scene)
        if candidate is not None:  # if that is worth more, it will soon be surely better, too
            holds = {
                i for i, each in enumerate(kept) if extensions(each.scene, candidate, each.bindings)
            }
            length = self._description_length(node, scene, candidate)
            if worth <= sample.score(sample.everything, as_set(holds)) - length:
                return False
        self.look_work = WORK_LATER * self.transitions
        event = "change" if node.test else "split"
        node.restart()
        node.become_branch(test)
        assert node.left and node.right
        node.held = Counter()
        self.awaiting_replay += [node.left, node.right, node]
        self.on_change(event, node.path)
        return True

    def _best_uncounted(
        self, node: Node, kept: list[KeptTarget], sample: LookSample, scene: Scene
    ) -> tuple[Test | None, int]:
        """The best test that is not counted, and its score less its length."""
        lengths = self.lengths(scene, node.variables)
        times = -(-len(kept) // MAX_TARGETS_OF_LEAF)
        tests = []
        for of_any, most in ((False, SECOND_GROUNDINGS), (True, GROUNDINGS_OF_ANY)):
            uncounted = {
                each: n
                for each, n in lengths.items()
                if not KINDS[each.kind].counted and KINDS[each.kind].of_any == of_any
            }
            budget = Budget(*(times * each for each in most))
            tests += kept_tests(uncounted, node.variables, kept, [budget])
            self.look_work += budget.used
        worths: dict[Test, tuple[int, int]] = {}
        for each in tests:
            points = sample.score(sample.everything, each.holds)
            worths[each.test] = (points - each.length, points)
        if not worths:
            return None, 0
        highest = max(worths.values())
        equals = [test for test, worth in worths.items() if worth == highest]
        return min(equals, key=lambda t: preference(scene, t, len(node.variables))), highest[0]

    def look_ahead(self, leaf: Node, kept: list[KeptTarget], scene: Scene) -> bool:
        """Ask the first test of the best pair, if that is surely better than no test."""
        if len(kept) < FEWEST_TARGETS_AHEAD:
            return False
        self.looked["ahead"] += 1
        search = PairSearch(self, leaf, kept, scene)
        test = search.best_first_test()
        self.looked.update(search.noted)
        if test is None:
            self.look_work += search.work()
            return False
        self.looked["split by look-ahead"] += 1
        self.looked["split by look-ahead that binds"] += len(test.slots) > 0 and (
            max(test.slots) >= len(leaf.variables)
        )
        self.look_work = WORK_LATER * self.transitions
        self._set_test(leaf, test)
        self.on_change("split", leaf.path)
        return True


def knows_more(totals: Counter[Outcome]) -> bool:
    """Whether a node has counted far more than a look would see.

    If one outcome came much more often than all others, these say how much it knows.
    """
    n = totals.total()
    others = n - max(totals.values())
    many = others > MAX_TARGETS // 2 or others * RARE_SHARE > n
    return n > 2 * MAX_TARGETS_OF_LEAF and many


def is_full(node: Node) -> bool:
    """Whether it cannot get children."""
    return len(node.path) >= MAX_DEPTH or len(node.variables) >= MAX_VARIABLES


# --- looks at what is kept -----------------------------------------------------------
#
# Sets of targets are whole numbers: target i is in a set if bit i is one.

NAT = 65536
MAX_TARGETS_OF_LEAF, MAX_TARGETS = 128, 512
"""A look uses so many targets that reach a leaf; at a branch and in a sketch of a rule so many."""
RARE_SHARE = 16
"""Outcomes are rare if they are at most one in so many."""
MAX_SEARCHED = 4000
"""Of each outcome, so many targets are searched for those that reach the node."""
MAX_SECOND_LOOKS, MAX_LOOKS_AHEAD = 4, 1
"""In one transition there are so many looks."""
LEAST_LOSS, LEAST_LOSS_AHEAD = 8, 32
"""What there must be left to explain, in nats."""
LEAST_LOSS_OF_FRAMES = 16
FEWEST_TARGETS_AHEAD = 32
WORK_AT_ONCE, WORK_LATER = 2**21, 32
"""From the last look that changed something on, the looks of a rule examine so many groundings, and
so many more for each transition."""
SECOND_GROUNDINGS = (2**12, 2**14)
"""A second look examines so many groundings of one pattern, and of all, for each 128 targets or a
part of them. Others are passed over."""
GROUNDINGS_OF_ANY = (2**14, 2**16)
"""The same for tests about any other object."""
FIRST_GROUNDINGS = (2**14, 2**16)
"""The same for the first tests of pairs;"""
FEW_GROUNDINGS, MANY_GROUNDINGS = (2**10, 2**18), (2**13, 2**17)
"""for the second tests of all first ones, which may use either;"""
JOINED_GROUNDINGS = (2**10, 2**17)
"""for tests about objects that joins find;"""
SKETCH_GROUNDINGS = (2**14, 2**15)
"""and for sketches of rules."""
MAX_INTRODUCING, MAX_OTHERS, MAX_BEST, MAX_SECOND = 96, 48, 16, 512
"""First tests are so many of the shortest that introduce variables, of the shortest others, and of
the rest the best by themselves. Second tests are so many of the shortest."""
MAX_FILTERS = 4
"""A join is tried with so many tests about the object that it finds."""
MAX_SKETCH_TESTS, MAX_SKETCH_DEPTH = 256, 8
MAX_FRESH_TREES = 1
"""In one transition there are so many fresh trees."""
MAX_COMPARED, MAX_FRESH_TARGETS = 2**15, 128
"""A fresh tree must explain so many targets at most, and is grown over so many."""
MAX_FRESH_TESTS, MAX_ROUNDS = 32, 3
"""It and the old tree have so many tests at most, and it is grown so often,"""
FRESH_GROUNDINGS = (2**14, 2**16)
"""each time with this budget."""
FEWEST_TRANSITIONS_OF_FRESH_TREES, FRESH_PHASES = 32, 16


LOOK_LEVELS = [2, *(2**k * half for k in range(1, 64) for half in (2, 3))]
"""In half nats."""


def look_level(loss: int) -> int:
    """A leaf is looked at again when this changes: at 1, 2, 3, 4, 6, 8, 12, ... nats.

    A branch is when its loss has doubled.
    """
    return sum(each <= 2 * (loss // NAT) for each in LOOK_LEVELS)


def scramble(x: int) -> int:
    """One step of SplitMix64."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


def hash_of_target(scene: Scene, then: Scene, transition: int, arguments: Binding) -> int:
    """Decides whether a target is drawn: a matter of the values of its object."""
    result = scramble(transition)
    for x in arguments:
        for state in (scene, then):
            for name in scene.schema.attributes:
                for component in state.values[x].get(name, ()):
                    result = scramble(result ^ component % 2**64)
    return result


def max_hash(n: int, most: int) -> int:
    """Of n targets, those with at most this hash are drawn: all, or about twice as many as used."""
    return 2**64 - 1 if n <= 2 * most else (2**64 - 1) // n * (2 * most)


class KeptTarget(NamedTuple):
    """A target of a kept transition that reaches a node."""

    scene: Scene
    then: Scene
    bindings: list[Binding]
    outcome: Outcome


@dataclass(frozen=True)
class Sample:
    """What was seen of some targets: their outcomes, how many count as one, how many may come."""

    totals: Counter[Outcome]
    copies: int
    may_come: int

    def design_effect(self) -> int:
        return self.copies

    def kinds(self) -> int:
        return self.may_come


class LookSample:
    """The outcomes of some targets, of which parts are compared."""

    def __init__(self, outcomes: list[Outcome], copies: int):
        self.copies = copies
        self.everything = 2 ** len(outcomes) - 1
        self.by_outcome = {
            y: as_set(i for i, each in enumerate(outcomes) if each == y) for y in outcomes
        }

    def counts(self, targets: int) -> Counter[Outcome]:
        return Counter({y: (targets & of_y).bit_count() for y, of_y in self.by_outcome.items()})

    def of(self, targets: int) -> Sample:
        """Some of the targets; any outcome of all of them may come."""
        return Sample(self.counts(targets), self.copies, len(self.by_outcome))

    def score(self, targets: int, holds: int = 0) -> int:
        """How well a test explains the outcomes of some of the targets, or no test."""
        held = tuple((targets & holds & of_y).bit_count() for of_y in self.by_outcome.values())
        failed = tuple((targets & ~holds & of_y).bit_count() for of_y in self.by_outcome.values())
        return score_of(held, failed, self.copies)


@cache  # remembered
def score_of(held: tuple[int, ...], failed: tuple[int, ...], copies: int) -> int:
    totals = Counter({y: a + b for y, (a, b) in enumerate(zip(held, failed, strict=True))})
    sample: Any = Sample(totals, copies, len(held))
    when_true: Any = dict(enumerate(held))
    return Evidence(0.5).score(sample, when_true)


def as_set(targets: Iterable[int]) -> int:
    return sum(2**i for i in targets)


class KeptTest(NamedTuple):
    """A test, its length, and the targets of a look for which it holds."""

    test: Test
    length: int
    holds: int


@dataclass
class Budget:
    """How many groundings may be examined of one pattern, and of all."""

    of_pattern: int
    of_all: int
    used: int = 0
    refused: int = 0
    """How many patterns it would have allowed before it was used up."""

    def allows(self, groundings: int) -> bool:
        if groundings > self.of_pattern:
            return False
        self.refused += self.used + groundings > self.of_all
        return self.used + groundings <= self.of_all


def kept_tests(
    lengths: Mapping[Test, int],
    variables: tuple[str, ...],
    kept: list[KeptTarget],
    budgets: Iterable[Budget],
) -> list[KeptTest]:
    """All tests of these patterns that hold for any of the targets, as far as the budgets go.

    The patterns with the fewest groundings come first; each uses the first budget that allows it.
    """
    groundings = {
        pattern: sum(count_groundings(each, pattern, variables) for each in kept)
        for pattern in lengths
    }
    tests = []
    for pattern in sorted(lengths, key=lambda each: groundings[each]):
        budget = next((each for each in budgets if each.allows(groundings[pattern])), None)
        if budget is None:
            continue
        budget.used += groundings[pattern]
        for test, holds in evaluated(pattern, kept).items():
            tests.append(KeptTest(test, lengths[pattern] + length_of_value(test.value), holds))
    return tests


def shortest_first(scene: Scene, n_variables: int, tests: Iterable[KeptTest]) -> list[KeptTest]:
    """Of equally long ones, the preferred."""
    return sorted(tests, key=lambda each: (each.length, preference(scene, each.test, n_variables)))


def count_groundings(kept: KeptTarget, pattern: Test, variables: tuple[str, ...]) -> int:
    """How many groundings of a pattern are examined for a target."""
    new = [c for s, c in zip(pattern.slots, pattern.classes, strict=True) if s >= len(variables)]
    read = [v for v, c in enumerate(variables) if v in pattern.slots or c in new]
    count = len({tuple(binding[v] for v in read) for binding in kept.bindings})
    for class_name in new:
        count *= len(kept.scene.of_class(class_name))
    if KINDS[pattern.kind].of_any:  # one for each object that has the attribute
        count *= len(kept.scene.having(pattern.attributes[1]))
    return count


def evaluated(pattern: Test, kept: list[KeptTarget]) -> dict[Test, int]:
    """All tests of a pattern that hold for some target, and for which."""
    kind = KINDS[pattern.kind]
    by_value: defaultdict[Vector, set[int]] = defaultdict(set)
    for i, each in enumerate(kept):
        values = values_of(pattern, each)
        for value in {min(values)} if kind.cumulative and values else values:
            by_value[value].add(i)
    if not kind.cumulative:
        return {pattern._replace(value=value): as_set(by_value[value]) for value in by_value}
    # Between two values that came, any number says the same as the lower one: zero, or the middle.
    tests = {}
    steps = sorted(by_value)
    for i, (low,) in enumerate(steps):
        high = steps[i + 1][0] - 1 if i + 1 < len(steps) else max(low, 0)
        middle = 0 if low <= 0 <= high else low + (high - low) // 2
        held = as_set(set().union(*(by_value[value] for value in steps[: i + 1])))
        tests[pattern._replace(value=(middle,))] = held
    return tests


def values_of(pattern: Test, kept: KeptTarget) -> set[Vector]:
    """The values that a pattern has for any of the bindings that arrive with a target."""
    return set().union(*(values_for(pattern, kept.scene, each) for each in kept.bindings))


def values_for(pattern: Test, scene: Scene, binding: Binding) -> set[Vector]:
    # Remembered: by the objects that the pattern names, and those that new ones must differ from.
    named = tuple(binding[slot] if slot < len(binding) else None for slot in pattern.slots)
    new = {c for x, c in zip(named, pattern.classes, strict=True) if x is None}
    taken = tuple(sorted(x for x in binding if scene.class_of[x] in new))
    key = (pattern.type, named, taken)
    if key not in scene.values_remembered:
        scene.values_remembered[key] = set(found_values(pattern, scene, binding))
    return scene.values_remembered[key]


def found_values(pattern: Test, scene: Scene, binding: Binding) -> Iterable[Vector]:
    choices = [
        [binding[slot]]
        if slot < len(binding)
        else [x for x in scene.of_class(class_name) if x not in binding]
        for slot, class_name in zip(pattern.slots, pattern.classes, strict=True)
    ]
    for objects in product(*choices):
        different = len(set(objects)) == len(objects)
        for value in scene.fact_values(pattern.type, objects) if different else []:
            if pattern.type.interchangeable and min(pattern.slots) >= len(binding):
                yield max(value, KINDS[pattern.kind].swap(value))
            else:
                yield value


# --- look-ahead: pairs of tests ----------------------------------------------------------


class Bound(NamedTuple):
    """Where a first test holds: the targets with the bindings that it leaves, and new variables."""

    variables: tuple[str, ...]
    kept: list[KeptTarget]
    """All targets of the look; those for which the test fails have no bindings."""
    depends: dict[Test, int]
    """Patterns whose tests depend on what the first test binds, with their lengths."""
    about_new: dict[Test, int]
    """Of these, the ones that mention variables which it introduces."""


class PairSearch:
    """Searches the pairs of tests at one leaf, the first above the second.

    Sometimes it takes a third: where objects stand for statements, such as on(3, 5), one test finds
    an object that is about another one, the next says that it is true.
    """

    def __init__(self, tree: ReferenceTree, leaf: Node, kept: list[KeptTarget], scene: Scene):
        self.tree, self.leaf, self.kept, self.scene = tree, leaf, kept, scene
        self.sample = LookSample([each.outcome for each in kept], leaf.design_effect())
        self.criterion = tree.criterion
        self.first = Budget(*FIRST_GROUNDINGS)
        self.few, self.many = Budget(*FEW_GROUNDINGS), Budget(*MANY_GROUNDINGS)
        self.joined = Budget(*JOINED_GROUNDINGS)
        self.noted: Counter[str] = Counter()
        """What happened that should happen now and then."""
        n = len(leaf.variables)
        lengths = tree.lengths(scene, leaf.variables)
        tests = kept_tests(lengths, leaf.variables, kept, [self.first])
        self.tests = shortest_first(scene, n, tests)
        single = all(len(each.bindings) == 1 for each in kept)
        self.fixed = n if single else len(tree.root.variables)
        """So many variables stand for the same objects in all bindings of a target."""

    def work(self) -> int:
        return sum(each.used for each in (self.first, self.few, self.many, self.joined))

    def best_first_test(self) -> Test | None:
        none = self.sample.score(self.sample.everything)
        threshold = self.criterion.threshold(self.sample.of(self.sample.everything), {}, none)
        threshold += self._price_of_looks()
        best, best_worth = None, float("-inf")
        for first in self._first_tests():
            if first.test in self.leaf.candidates:
                worth = self._worth(first)
                if worth > best_worth and self.criterion.surely_better(worth, threshold, 0):
                    best, best_worth = first.test, worth
        budgets = {"first": self.first, "few": self.few, "many": self.many, "joined": self.joined}
        self.noted.update(f"{name} used up" for name, each in budgets.items() if each.refused)
        return best

    def _price_of_looks(self) -> int:
        """Two looks at a leaf share 1 / k(k+1) for each k, and a pair has one of three forms."""
        totals = effective_counts(self.sample.copies, self.leaf.totals)
        loss = -forecast({}, totals, distinct_outcomes(self.leaf.totals))
        k = (loss // (LEAST_LOSS_AHEAD * NAT)).bit_length()
        return log(6 * k * (k + 1))

    def _first_tests(self) -> list[KeptTest]:
        """The tests to try: those that are short, and the best of the others."""
        everything = self.sample.everything
        able = [
            each
            for each in self.tests
            if KINDS[each.test.kind].counted
            and (each.holds != everything or self._introduces(each) or self._narrows(each))
        ]
        introducing = [each for each in able if self._introduces(each)]
        others = [each for each in able if not self._introduces(each)]
        short = {*introducing[:MAX_INTRODUCING], *others[:MAX_OTHERS]}
        rest = [each for each in able if each not in short]
        rest.sort(key=lambda each: each.length - self.sample.score(everything, each.holds))
        self.noted["more first tests than are tried"] += len(rest) > MAX_BEST
        chosen = short | {*rest[:MAX_BEST]}
        return [each for each in able if each in chosen]

    def _introduces(self, each: KeptTest) -> bool:
        return max(each.test.slots) >= len(self.leaf.variables)

    def _narrows(self, each: KeptTest) -> bool:
        """Whether it may leave some of several bindings."""
        return any(self.fixed <= slot < len(self.leaf.variables) for slot in each.test.slots)

    def _worth(self, first: KeptTest) -> float:
        """The score of the leaves, less the lengths of the tests; second tests may be missing."""
        sample = self.sample
        failed = sample.everything & ~first.holds
        gain_if_failed = self._gain(failed, self.tests[:MAX_SECOND])
        if self._introduces(first) or self._narrows(first):
            gain_if_held = self._gain_with_bindings(first)
        else:
            gain_if_held = self._gain(first.holds, self.tests[:MAX_SECOND])
        if not self.criterion.surely_better(max(gain_if_held, gain_if_failed), 0, 0):
            return float("-inf")
        worth = sample.score(first.holds) + sample.score(failed) - first.length
        return worth + max(gain_if_held, 0) + max(gain_if_failed, 0)

    def _gain(self, half: int, second: Iterable[KeptTest]) -> float:
        """What the best second test adds in a half, less its length."""
        none = self.sample.score(half)
        if not self.criterion.surely_better(0, none, 0):
            return 0
        worths = [self.sample.score(half, each.holds) - each.length for each in second]
        return max([none, *worths]) - none

    def _gain_with_bindings(self, first: KeptTest) -> float:
        bound = self._bind(first)
        about_bound = kept_tests(bound.depends, bound.variables, bound.kept, [self.few, self.many])
        gain = self._gain(first.holds, [*self._own_tests(bound), *about_bound])
        several = sum(len(each.bindings) for each in bound.kept) > first.holds.bit_count()
        if self._is_join(first) and several:
            of_triples = self._gain_of_triples(first, bound, about_bound)
            self.noted["joins that are better with a third test"] += of_triples > gain
            gain = max(gain, of_triples)
        return gain

    def _bind(self, first: KeptTest) -> Bound:
        n = len(self.leaf.variables)
        pairs = zip(first.test.slots, first.test.classes, strict=True)
        variables = (*self.leaf.variables, *(c for slot, c in pairs if slot >= n))
        kept = [
            each._replace(bindings=extensions(each.scene, first.test, each.bindings))
            for each in self.kept
        ]
        lengths = self.tree.lengths(self.scene, variables)
        depends = {
            pattern: length
            for pattern, length in lengths.items()
            if KINDS[pattern.kind].counted and self._depends(pattern, variables)
        }
        about_new = {
            pattern: length
            for pattern, length in depends.items()
            if any(n <= slot < len(variables) for slot in pattern.slots)
        }
        return Bound(variables, kept, depends, about_new)

    def _depends(self, pattern: Test, variables: tuple[str, ...]) -> bool:
        """Whether a pattern mentions what is bound, or new objects that must differ from it."""
        bound = variables[self.fixed :]
        return any(
            class_name in bound if slot >= len(variables) else slot >= self.fixed
            for slot, class_name in zip(pattern.slots, pattern.classes, strict=True)
        )

    def _own_tests(self, bound: Bound) -> list[KeptTest]:
        """The leaf's own tests, asked below the first one, unless they depend on what it binds."""
        n, more = len(self.leaf.variables), len(bound.variables) - len(self.leaf.variables)
        lengths = self.tree.lengths(self.scene, bound.variables)
        values: dict[Test, list[set[Vector]]] = {}
        result = []
        for each in self.tests[:MAX_SECOND]:
            slots = tuple(slot if slot < n else slot + more for slot in each.test.slots)
            pattern = each.test._replace(slots=slots, value=())
            if self._depends(pattern, bound.variables):
                continue
            if pattern not in values:
                values[pattern] = [values_of(pattern, kept) for kept in bound.kept]
            kind, value = KINDS[each.test.kind], each.test.value
            holds = as_set(
                i
                for i, actual in enumerate(values[pattern])
                if any(kind.holds(one, value) for one in actual)
            )
            length = lengths[pattern] + length_of_value(value)
            result.append(KeptTest(each.test._replace(slots=slots), length, holds))
        return result

    def _is_join(self, each: KeptTest) -> bool:
        """Whether it finds an object by a value that one of the node's objects has too."""
        new = sum(slot >= len(self.leaf.variables) for slot in each.test.slots)
        counted = KINDS[each.test.kind].counted
        return counted and len(each.test.slots) == 2 and new == 1 and not any(each.test.value)

    def _gain_of_triples(self, first: KeptTest, bound: Bound, about_bound: list[KeptTest]) -> float:
        best: float = 0
        sample = self.sample
        for each in self._filters(first, bound, about_bound):
            if self.joined.used == self.joined.of_all:
                break
            kept = [
                target._replace(bindings=extensions(target.scene, each.test, target.bindings))
                for target in bound.kept
            ]
            if all(
                len(a.bindings) == len(b.bindings) for a, b in zip(kept, bound.kept, strict=True)
            ):
                continue  # it leaves them all
            about_new = kept_tests(bound.about_new, bound.variables, kept, [self.joined])
            own = self._own_tests(bound._replace(kept=kept))
            rest = first.holds & ~each.holds
            of_filter = sample.score(each.holds) + sample.score(rest) - sample.score(first.holds)
            of_last = self._gain(each.holds, [*own, *about_new])
            if self.criterion.surely_better(of_last, 0, 0):
                best = max(best, of_filter - each.length + of_last)
        return best

    def _filters(
        self, first: KeptTest, bound: Bound, about_bound: list[KeptTest]
    ) -> list[KeptTest]:
        """Tests about one bound object that hold for most targets: of these the surest first."""
        n = len(bound.variables)
        filters = [
            each
            for each in about_bound
            if len(each.test.slots) == 1
            and each.test.slots[0] < n
            and 2 * each.holds.bit_count() > first.holds.bit_count()
        ]
        filters = shortest_first(self.scene, n, filters)
        filters.sort(key=lambda each: -each.holds.bit_count())
        return filters[:MAX_FILTERS]


# --- sketches of rules ---------------------------------------------------------------------


class Sketch:
    """How long a rule would be if its outcomes were told in some frame.

    Its tree is grown at once, over a sample of what is kept. All frames have the same targets and
    tests.
    """

    def __init__(self, tree: ReferenceTree, kept: list[KeptTarget], scene: Scene):
        variables = tree.root.variables
        self.criterion, self.copies = tree.criterion, tree.root.design_effect()
        lengths = tree.lengths(scene, variables)
        tests = kept_tests(lengths, variables, kept, [Budget(*SKETCH_GROUNDINGS)])
        self.tests = shortest_first(scene, len(variables), tests)[:MAX_SKETCH_TESTS]

    def length(self, outcomes: list[Outcome]) -> int:
        """The lengths of the tests, and the loss of the leaves."""
        sample = LookSample(outcomes, self.copies)
        return self._grow(sample, sample.everything, 0)

    def _grow(self, sample: LookSample, targets: int, depth: int) -> int:
        none = sample.score(targets)
        if depth == MAX_SKETCH_DEPTH or not self.criterion.surely_better(0, none, 0):
            return -none
        worths = [sample.score(targets, each.holds) - each.length for each in self.tests]
        if not worths or not self.criterion.surely_better(max(worths), none, 0):
            return -none
        best = self.tests[worths.index(max(worths))]  # of equals, the first
        halves = targets & best.holds, targets & ~best.holds
        return best.length + sum(self._grow(sample, half, depth + 1) for half in halves)


# --- fresh trees ---------------------------------------------------------------------------


def is_fresh_tree_due(transitions: int, phase: int) -> bool:
    """Whether the number of transitions has doubled; phases take turns."""
    phase %= FRESH_PHASES

    def turn(n: int) -> int:
        return (n * (FRESH_PHASES + phase) // FRESH_PHASES).bit_length()

    enough = transitions >= FEWEST_TRANSITIONS_OF_FRESH_TREES
    return enough and turn(transitions) != turn(transitions - 1)


def leaf_reached(root: Node, target: KeptTarget) -> Node:
    node, bindings = root, target.bindings
    while node.test and node.left and node.right:
        extended = extensions(target.scene, node.test, bindings)
        node, bindings = (node.left, extended) if extended else (node.right, bindings)
    return node


class FreshTree:
    """A tree that explains all that is kept, with shorter tests than the tree of a rule.

    It is grown over a sample with an equal share of each part: first, a part is what reaches a leaf
    of the old tree; then, if the fresh tree mixes outcomes, what reaches a leaf of both.
    """

    def __init__(self, tree: ReferenceTree, kept: list[KeptTarget], scene: Scene):
        self.tree, self.kept, self.scene = tree, kept, scene
        self.most = sum(
            tree._description_length(node, scene, node.test)
            for node in tree.root.branches()
            if node.test
        )
        """It must surely be shorter."""
        self.length, self.tests = 0, 0
        self.budget = Budget(*FRESH_GROUNDINGS)

    def find(self) -> Node | None:
        parts: list[tuple[Node, ...]] = [(leaf_reached(self.tree.root, k),) for k in self.kept]
        if len(self.kept) > MAX_COMPARED:
            return None
        for _ in range(MAX_ROUNDS):
            root = Node(self.tree.root.variables)
            self.length, self.tests = 0, 0
            self.budget = Budget(*FRESH_GROUNDINGS)
            sample = self._sample(parts)
            if not sample or not self._grow(root, sample):
                return None
            leaves = [leaf_reached(root, each) for each in self.kept]
            came = {(leaf, k.outcome) for leaf, k in zip(leaves, self.kept, strict=True)}
            if len(came) == len(set(leaves)):
                return root
            parts = [(*part, leaf) for part, leaf in zip(parts, leaves, strict=True)]
        return None

    def _is_shorter(self, length: int) -> bool:
        return bool(self.tree.criterion.surely_better(-length, -self.most, 0))

    def _sample(self, parts: list[tuple[Node, ...]]) -> list[KeptTarget]:
        share = MAX_FRESH_TARGETS // len(set(parts))
        taken = Counter[tuple[Node, ...]]()
        sample = []
        for part, each in zip(parts, self.kept, strict=True):
            if taken[part] < share:
                taken[part] += 1
                sample.append(each)
        return sample

    def _grow(self, node: Node, kept: list[KeptTarget]) -> bool:
        """Whether it explains the sample, and is shorter."""
        if len({each.outcome for each in kept}) <= 1:
            return True
        best = self._best(node, kept)
        if best is None:
            return False
        self.length += best.length
        self.tests += 1
        if not self._is_shorter(self.length) or self.tests > MAX_FRESH_TESTS:
            return False
        node.become_branch(best.test)
        assert node.left and node.right
        held = [
            each._replace(bindings=extensions(each.scene, best.test, each.bindings))
            for i, each in enumerate(kept)
            if best.holds >> i & 1
        ]
        failed = [each for i, each in enumerate(kept) if not best.holds >> i & 1]
        return self._grow(node.left, held) and self._grow(node.right, failed)

    def _best(self, node: Node, kept: list[KeptTarget]) -> KeptTest | None:
        """The best test, if it is surely better than none; of equals, the preferred."""
        n = len(node.variables)
        sample = LookSample([each.outcome for each in kept], 1)
        sample.by_outcome = dict.fromkeys(self.tree.outcomes, 0) | sample.by_outcome
        none = sample.score(sample.everything)
        lengths = self.tree.lengths(self.scene, node.variables)
        tests = kept_tests(lengths, node.variables, kept, [self.budget])
        worths: dict[Test, tuple[int, int]] = {}
        for each in tests:
            points = sample.score(sample.everything, each.holds)
            worths[each.test] = (points - each.length, points)
        if not tests:
            return None
        highest = max(worths.values())
        if not self.tree.criterion.surely_better(highest[0], none, 0):
            return None
        equals = [each for each in tests if worths[each.test] == highest]
        return min(equals, key=lambda each: preference(self.scene, each.test, n))


# --- the model ---------------------------------------------------------------------


class ReferenceModel:
    """One tree for each class, attribute and action, each with one argument: the object.

    `events` lists what happened to the trees: ("split" | "change" | "return" | "noise" | "frame",
    rule, path).

    With `memory` the last so many transitions are kept, of all rules together. New nodes
    first count those that reach them. What they then have to say is heard in the next
    transition, so that none takes longer than one look at all that is kept.
    """

    def __init__(self, schema: Any, *, memory: int = 0, **settings: Any):
        self.schema = schema
        self.memory = memory
        self.settings = {"memory": memory, **settings}
        self.kept: list[tuple[Scene, Scene, str, dict[str, Any]]] = []
        self.events: list[tuple[str, RuleKey, str]] = []
        self.trees: dict[RuleKey, ReferenceTree] = {}
        self.undecided: list[RuleKey] = []
        """Rules with new nodes that have counted what is kept, and not been asked since."""
        self.planted = 0
        """How often a fresh tree took the place of another."""
        self.lost_frames = 0
        """How often a rule began again because its frame could not tell a transition."""
        self.deferred = 0
        """How often new nodes counted a transition last that can be told as a step or as a jump."""

    def tree(self, class_name: str, attribute: str, action: str) -> ReferenceTree:
        rule = (class_name, attribute, action)
        if rule not in self.trees:

            def record(event: str, path: str) -> None:
                self.events.append((event, rule, path))

            arguments = [] if class_name == TRANSITION else [class_name]
            frame = self._first_frame(class_name, attribute)
            self.trees[rule] = ReferenceTree(
                arguments, on_change=record, frame=frame, **self.settings
            )
        return self.trees[rule]

    def _first_frame(self, class_name: str, attribute: str) -> Frame:
        if class_name == TRANSITION:
            return Frame(adds=False)
        return default_frame(self.schema.attributes[attribute], plain=not self._chooses_frames())

    def _chooses_frames(self) -> bool:
        by_evidence = self.settings.get("criterion") in ("evidence", "proven")
        return self.memory > 0 and by_evidence and bool(self.settings.get("branch_updates", True))

    def slots(self) -> list[tuple[str, str]]:
        """All (class, attribute) pairs that are predicted, in the schema's order."""
        classes, attributes = self.schema.classes, self.schema.attributes
        predicted = [m for m, each in attributes.items() if not each.derived]
        return [(c, m) for c in classes for m in predicted if m in classes[c]]

    def all_slots(self) -> list[tuple[str, str]]:
        """The same, and what is learned of whole transitions: by trees without arguments."""
        return [*self.slots(), (TRANSITION, "reward"), (TRANSITION, "terminated")]

    def observe(
        self,
        before: Any,
        action: str,
        after: Any,
        reward: float | None = None,
        terminated: bool | None = None,
    ) -> None:
        scene, then = Scene(before), Scene(after)
        self._share_counters()
        self.undecided = [rule for rule in self.undecided if self.tree(*rule).is_undecided()]
        feedback = {"reward": reward, "terminated": terminated}
        for class_name, attribute in self.all_slots():
            targets = self._targets(scene, then, feedback, (class_name, attribute, action))
            if targets:
                self.tree(class_name, attribute, action).observe(scene, targets)
        if self.memory > 0:
            for tree in self._all_trees():
                tree.decide_replayed(scene)
            self.kept = [*self.kept, (scene, then, action, feedback)][-self.memory :]
            self._choose_frames(scene, then, action)
            self._look_again(scene)
            self._replay()

    def _choose_frames(self, scene: Scene, then: Scene, action: str) -> None:
        """Rules that cannot tell the transition begin again; a few others choose a shorter frame.

        Rules that people have changed keep their frame.
        """
        choices = 0
        classes = self.schema.classes
        every = [(c, m) for c in classes for m in self.schema.attributes if m in classes[c]]
        for class_name, attribute in self.slots():
            rule = (class_name, attribute, action)
            tree = self.tree(*rule)
            if not scene.of_class(class_name):
                continue
            if self._targets(scene, then, {}, rule) is None:
                if not tree.is_edited():
                    self.lost_frames += 1
                    self._grow_again(rule, self._first_frame(class_name, attribute))
                continue
            phase = every.index((class_name, attribute))
            varies = len(tree.seen) > 1 or tree.edited
            due = varies and is_choice_due(tree.transitions, phase) and self._chooses_frames()
            if not due or tree.is_edited():
                continue
            choices += 1
            frame = self._shorter_frame(rule) if choices <= MAX_CHOICES else None
            if frame is not None:
                self._grow_again(rule, frame)

    def _shorter_frame(self, rule: RuleKey) -> Frame | None:
        """The frame that tells the kept targets most briefly, if it surely is shorter."""
        class_name, attribute, _ = rule
        tree = self.tree(*rule)
        frames = possible_frames(self.schema, class_name, attribute)
        if len(frames) < 2:
            return None
        if tree.root in tree._settled() or tree.root.last_checked_loss < LEAST_LOSS_OF_FRAMES * NAT:
            return self._constant_frame(rule, frames)
        rivals = self._rivals(rule, frames)
        if not rivals:
            return None
        scene, size = self.kept[-1][0], self.schema.attributes[attribute].length
        kept = self._kept_at(tree.root, rule, MAX_TARGETS)
        sketch = Sketch(tree, kept, scene)

        def length(frame: Frame) -> float:
            of_targets = [(*each[:2], frame, each.bindings[0][0], attribute) for each in kept]
            told = [tell(*each) for each in of_targets]
            if not all(possible for possible, _ in told):
                return float("inf")
            jumps = [is_jump(*each) for each in of_targets]
            outcomes = without_steps([(y, jump) for (_, y), jump in zip(told, jumps, strict=True)])
            if frame.jumps and JUMPS not in outcomes:
                return float("inf")
            which = length_of_choice(frame == frames[0], len(frames))
            return which + length_of_outcomes(outcomes, frame, size) + sketch.length(outcomes)

        own = best = length(tree.frame)
        shortest = None
        for rival in rivals:
            of_rival = length(rival)
            surely = tree.criterion.surely_better(-of_rival, -own, len(kept))
            if of_rival < best and surely:
                shortest, best = rival, of_rival
        return shortest

    def _constant_frame(self, rule: RuleKey, frames: list[Frame]) -> Frame | None:
        """The rule's frame without `stays`, if all that is kept has one outcome in it."""
        class_name, attribute, wanted = rule
        tree = self.tree(*rule)
        frame = tree.frame._replace(stays=False)
        if not tree.frame.stays or frame not in frames:
            return None
        recent = [
            (scene, then)
            for scene, then, action, _ in self.kept
            if action == wanted and scene.of_class(class_name)
        ]
        counts = outcomes_told(recent, frame, class_name, attribute)
        if counts is None or len(counts) != 1:
            return None
        return frame if len(recent) >= min(ENOUGH_TRANSITIONS, tree.transitions) else None

    def _rivals(self, rule: RuleKey, frames: list[Frame]) -> list[Frame]:
        """Frames that may be shorter than that of the rule; what is the shortest untold is first.

        The default is one, because a tree may do better with it although its outcomes are more.
        Others must be shorter than the rule's own, with all outcomes told one by one, or their
        outcomes alone.
        """
        class_name, attribute, wanted = rule
        tree = self.tree(*rule)
        recent, targets = [], 0
        for scene, then, action, _ in reversed(self.kept):
            if action == wanted and scene.of_class(class_name) and targets < MAX_FRAME_TARGETS:
                recent.append((scene, then))
                targets += len(scene.of_class(class_name))
        if len(recent) < min(ENOUGH_TRANSITIONS, tree.transitions):
            return []
        size = self.schema.attributes[attribute].length
        of_outcomes, in_full = dict[Frame, int](), dict[Frame, int]()
        for frame in frames:
            counts = outcomes_told(recent, frame, class_name, attribute)
            if counts is not None and (len(counts) <= MAX_FRAME_OUTCOMES or frame == tree.frame):
                of_outcomes[frame] = length_of_outcomes(counts, frame, size)
                which = length_of_choice(frame == frames[0], len(frames))
                in_full[frame] = which + of_outcomes[frame] - anything(counts, len(counts))
        surely_better = tree.criterion.surely_better
        rivals = [
            frame
            for frame in in_full
            if frame != tree.frame
            and (
                frame == frames[0]
                or tree.frame not in in_full
                or surely_better(-in_full[frame], -in_full[tree.frame], targets)
                or surely_better(-of_outcomes[frame], -of_outcomes[tree.frame], targets)
            )
        ]
        rivals.sort(key=lambda frame: in_full[frame])
        return [frame for i, frame in enumerate(rivals) if i < MAX_RIVALS or frame == frames[0]]

    def _grow_again(self, rule: RuleKey, frame: Frame) -> None:
        """Let a rule learn from what is kept, in that frame; what it cannot tell is left out."""
        tree = self.tree(*rule)
        tree.restart(frame)
        for scene, then, action, feedback in self.kept:
            targets = self._targets(scene, then, feedback, rule) if action == rule[-1] else None
            if targets:
                tree.add_seen(targets)

    def _look_again(self, scene: Scene) -> None:
        """Look at nodes that await it: a few, until one changes in each tree.

        Before that, a fresh tree may take the place of one.
        """
        second, ahead, fresh = MAX_SECOND_LOOKS, MAX_LOOKS_AHEAD, MAX_FRESH_TREES
        for class_name, attribute in self.all_slots():
            for action in self.schema.actions:
                rule = (class_name, attribute, action)
                tree = self.tree(*rule)
                if fresh > 0 and self._is_fresh_tree_due(rule):
                    fresh -= 1
                    self._plant_fresh_tree(rule, scene)
                for node, looks_ahead in tree.take_looks():
                    if not tree.may_look():
                        tree.looked["account is empty"] += 1
                        break
                    once = second > 0 and tree.is_second_look_worth_while(node, scene)
                    twice = ahead > 0 and looks_ahead and tree.is_look_ahead_worth_while(node)
                    second -= once
                    ahead -= twice
                    most = MAX_TARGETS if node.test else MAX_TARGETS_OF_LEAF
                    kept = self._kept_at(node, rule, most) if once or twice else []
                    if once and tree.look(node, kept, scene):
                        break
                    if twice and tree.look_ahead(node, kept, scene):
                        break

    def _is_fresh_tree_due(self, rule: RuleKey) -> bool:
        """When new nodes have counted what is kept, and whenever the transitions have doubled."""
        tree = self.tree(*rule)
        if not self._chooses_frames() or not tree.is_fresh_tree_worth_while():
            return False
        scene, _, action, feedback = self.kept[-1]
        had_targets = (
            feedback[rule[1]] is not None
            if rule[0] == TRANSITION
            else bool(scene.of_class(rule[0]))
        )
        has_learned = rule[-1] == action and had_targets
        classes = self.schema.classes
        every = [(c, m) for c in classes for m in self.schema.attributes if m in classes[c]]
        every += [(TRANSITION, "reward"), (TRANSITION, "terminated")]
        due = has_learned and is_fresh_tree_due(tree.transitions, every.index(rule[:2]))
        return rule in self.undecided or due

    def _plant_fresh_tree(self, rule: RuleKey, scene: Scene) -> None:
        tree, transition = self.tree(*rule), 0
        drawn = []
        for before, then, action, feedback in reversed(self.kept):
            targets = self._targets(before, then, feedback, rule) if action == rule[-1] else None
            if not targets:
                continue
            transition += 1
            for arguments, outcome in tree.told_apart(targets):
                hashed = hash_of_target(before, then, transition, arguments)
                drawn.append((hashed, KeptTarget(before, then, [arguments], outcome)))
        if transition < tree.transitions:
            return  # what has been forgotten may speak for the old tree
        drawn.sort(key=lambda each: each[0])
        fresh = FreshTree(tree, [each for _, each in drawn], scene).find()
        if fresh is not None:
            tree.plant(fresh)
            self.planted += 1

    def _kept_at(self, node: Node, rule: RuleKey, most: int) -> list[KeptTarget]:
        """A sample of the kept targets that reach a node, the most recent transitions first.

        Each outcome has the same share, as far as there are as many.
        """
        tree, wanted = self.tree(*rule), rule[-1]
        found, transition = list[KeptTarget](), 0
        searched, reached = Counter[Outcome](), Counter[Outcome]()

        def is_done(outcome: Outcome) -> bool:
            return searched[outcome] >= MAX_SEARCHED or reached[outcome] >= 2 * most

        for scene, then, action, feedback in reversed(self.kept):
            targets = self._targets(scene, then, feedback, rule) if action == wanted else None
            if not targets:
                continue
            if all(is_done(outcome) for outcome in tree.outcomes):
                break
            transition += 1
            drawn = []
            for arguments, outcome in tree.told_apart(targets):
                hashed = hash_of_target(scene, then, transition, arguments)
                if not is_done(outcome) and hashed <= max_hash(node.totals[outcome], most):
                    drawn.append((hashed, arguments, outcome))
            for _, arguments, outcome in sorted(drawn, key=lambda each: each[0]):
                searched[outcome] += 1
                for at, bindings in tree.route(scene, arguments):
                    if at is node:
                        reached[outcome] += 1
                        found.append(KeptTarget(scene, then, bindings, outcome))
        turns = Counter[Outcome]()
        order = []
        for i, each in enumerate(found):
            order.append((turns[each.outcome], i))
            turns[each.outcome] += 1
        return [found[i] for i in sorted(i for _, i in sorted(order)[:most])]

    def _replay(self) -> None:
        """Show all that is kept to the nodes that await a replay, if there are any."""
        trees = self._all_trees()
        self.undecided = [rule for rule, tree in self.trees.items() if tree.awaiting_replay]
        if not self.undecided:
            return
        self._share_counters()
        for ambiguous in (False, True):  # by then, leaves know what is a jump
            for scene, then, action, feedback in self.kept:
                for class_name, attribute in self.all_slots():
                    rule = (class_name, attribute, action)
                    if self._has_ambiguous_jump(scene, then, rule) == ambiguous:
                        self.deferred += ambiguous and bool(self.tree(*rule).awaiting_replay)
                        targets = self._targets(scene, then, feedback, rule)
                        self.tree(*rule).replay(scene, targets or ())
        for tree in trees:
            tree.finish_replay()

    def _share_counters(self) -> None:
        trees = self._all_trees()
        varying = sum(tree.edited or len(tree.seen) > 1 for tree in trees)
        for tree in trees:
            tree.varying_rules = max(1, varying)

    def _all_trees(self) -> list[ReferenceTree]:
        """In the schema's order."""
        actions = self.schema.actions
        return [self.tree(*slot, action) for slot in self.all_slots() for action in actions]

    def predict(self, state: Any, action: str) -> dict[tuple[int, str], dict[Vector, Fraction]]:
        """For every object and attribute, its new values with their probabilities."""
        scene = Scene(state)
        prediction = {}
        for (x, attribute), counts in self._answers(scene, action).items():
            frame = self.tree(scene.class_of[x], attribute, action).frame
            values: defaultdict[Vector, Fraction] = defaultdict(Fraction)
            for outcome, n in counts.items():
                value = self._result(scene, frame, x, attribute, outcome)
                assert value is not None
                values[value] += Fraction(n, sum(counts.values()))
            prediction[x, attribute] = dict(values) or {scene.values[x][attribute]: Fraction(1)}
        return prediction

    def _answers(self, scene: Scene, action: str) -> dict[tuple[int, str], dict[Outcome, int]]:
        """For every object and attribute, how often each outcome was seen; {}: nothing is known.

        Nothing is known either where the frame has no reference, unless the value surely stays.
        """
        answers: dict[tuple[int, str], dict[Outcome, int]] = {}
        for class_name, attribute in self.slots():
            tree = self.tree(class_name, attribute, action)
            for x in scene.of_class(class_name):
                counts = tree.predict(scene, (x,))
                lost = any(
                    self._result(scene, tree.frame, x, attribute, outcome) is None
                    for outcome in counts
                )
                answers[x, attribute] = {} if lost else counts
        return answers

    def predict_feedback(self, state: Any, action: str, name: str) -> dict[Any, Fraction]:
        """The rewards of the transition, or whether it ends, with probabilities; {}: not known."""
        counts = self.tree(TRANSITION, name, action).predict(Scene(state), ())
        total = sum(counts.values())
        return {outcome[0]: Fraction(n, total) for outcome, n in counts.items() if outcome}

    def support(self, state: Any, action: str) -> dict[tuple[int, str], int]:
        """For every object and attribute, the observations behind its prediction."""
        answers = self._answers(Scene(state), action)
        return {key: sum(counts.values()) for key, counts in answers.items()}

    def dump(self, class_name: str, attribute: str, action: str) -> dict[str, Any]:
        """Everything that a tree knows, as nested dicts, to be compared."""
        tree = self.tree(class_name, attribute, action)
        frame = None if class_name == TRANSITION else frame_named(tree.frame, class_name)
        return {"frame": frame, "seen": dict(tree.seen), **tree.root.dump()}

    def _targets(
        self,
        scene: Scene,
        then: Scene,
        feedback: Mapping[str, Any],
        rule: RuleKey,
    ) -> list[tuple[Binding, Outcome]] | None:
        """The objects of a class, and what became of their attribute; or the transition itself.

        None if the rule's frame cannot tell one of them: then the rule does not learn from it.
        """
        class_name, attribute, _ = rule
        if class_name == TRANSITION:
            given = feedback[attribute]
            return [] if given is None else [((), (given,))]
        frame = self.tree(*rule).frame
        objects = scene.of_class(class_name)
        told = [tell(scene, then, frame, x, attribute) for x in objects]
        if not all(possible for possible, _ in told):
            return None
        return [
            ((x,), outcome)
            if not is_jump(scene, then, frame, x, attribute)
            or self._is_step(scene, self.tree(*rule), x, outcome)
            else ((x,), JUMPS)
            for x, (_, outcome) in zip(objects, told, strict=True)
        ]

    def _is_step(self, scene: Scene, tree: ReferenceTree, x: int, change: Outcome) -> bool:
        """Whether a jump is taken for a change, which has come elsewhere, too."""
        if change not in tree.outcomes:
            return False
        return JUMPS not in tree.outcomes or tree.counts_for(scene, (x,))[change] > 0

    def _has_ambiguous_jump(self, scene: Scene, then: Scene, rule: RuleKey) -> bool:
        class_name, attribute, _ = rule
        if class_name == TRANSITION:
            return False
        tree = self.tree(*rule)
        return any(
            is_jump(scene, then, tree.frame, x, attribute)
            and tell(scene, then, tree.frame, x, attribute)[1] in tree.outcomes
            for x in scene.of_class(class_name)
        )

    def _result(
        self, scene: Scene, frame: Frame, x: int, attribute: str, outcome: Outcome
    ) -> Vector | None:
        """The value that an outcome leads to; None if what it refers to is missing."""
        if outcome is None:
            now = scene.values[x][attribute]
            return value_of_source(scene, frame, x) if frame.jumps else now
        start = reference(scene, frame, x, attribute)
        return None if start is None else plus(start, outcome)


def outcomes_told(
    transitions: Iterable[tuple[Scene, Scene]], frame: Frame, class_name: str, attribute: str
) -> Counter[Outcome] | None:
    """How often each outcome came, in that frame; None if it cannot tell one of them.

    None, too, if nothing jumps in a frame that could: it says no more than changes do. Or if there
    is nothing to jump to.
    """
    told = []
    for scene, then in transitions:
        for x in scene.of_class(class_name):
            possible, outcome = tell(scene, then, frame, x, attribute)
            nowhere = frame.jumps and value_of_source(scene, frame, x) is None
            if not possible or nowhere:
                return None
            told.append((outcome, is_jump(scene, then, frame, x, attribute)))
    counts = Counter(without_steps(told))
    return None if frame.jumps and JUMPS not in counts else counts


def frame_named(frame: Frame, class_name: str) -> tuple[str, str | None, str | None, bool]:
    """A frame in the words of the package: kind, class, attribute, whether that is added."""
    if frame.source is None:
        return "change" if frame.adds else "value", None, None, False
    of = None if frame.source[0] == class_name else frame.source[0]
    if frame.jumps:
        return "jump", of, frame.source[1], False
    return "own" if of is None else "copy", of, frame.source[1], frame.adds
