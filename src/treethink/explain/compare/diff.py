"""Where two models disagree: `model.diff(other)`.

    two models, a world or none -> [ diff ] -> Diff (rules as text, example states)

The text of two rules differs if their tests do, or the outcomes at their leaves; counts do not
matter. Their answers differ if there is a state in which they predict different things. Neither
implies the other: trees may ask different tests and agree everywhere. So both are reported.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from treethink.errors import SettingError, WrongTypeError, shown, whole_number
from treethink.explain.compare.minimize import minimize, state_or_none
from treethink.explain.distributions import as_outcomes, differ_significantly, in_words, to_json
from treethink.explain.english.words import article
from treethink.explain.object_names import object_name
from treethink.explain.rich_text import RichText
from treethink.frames import Frame, Outcome, minus, plus
from treethink.metrics import Distribution, each_change
from treethink.outcome_text import outcome_text, value_text
from treethink.rules import TRANSITION, Rule, RuleKey, Test, Value, lines_of
from treethink.state import Attribute, Object, Schema, State
from treethink.text import many

if TYPE_CHECKING:
    from treethink.model import TreeThink
    from treethink.worlds import World


_MAX_RULES = 12


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A state and an action for which two models predict different things."""

    state: State
    action: str
    object_id: int
    attribute: str
    ours: Distribution
    theirs: Distribution

    def __str__(self) -> str:
        subject = f"{object_name(self.state, self.object_id)}, {self.attribute}"
        return f"{subject} becomes {in_words(self.ours)} here, {in_words(self.theirs)} there"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "state": self.state.to_dict(),
            "action": self.action,
            "object": self.object_id,
            "attribute": self.attribute,
            "ours": to_json(self.ours),
            "theirs": to_json(self.theirs),
        }


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A rule that is not the same in two models.

    `tried` counts the situations to which it applies: its action, and an object of its class.
    In `disagreements` of them the models predict different things, and `example` is a small one.
    """

    key: RuleKey
    ours: Rule = field(repr=False)
    theirs: Rule = field(repr=False)
    tried: int
    disagreements: int
    example: Disagreement | None = field(repr=False)

    @property
    def matters(self) -> bool:
        """Whether the models disagree about it, or it depends on the state in one of them."""
        return self.disagreements > 0 or self.ours.varies or self.theirs.varies

    @property
    def text(self) -> str:
        """Both trees, without counts: lines with - are ours, with + theirs."""
        return "\n".join(_line_diff(outline(self.ours), outline(self.theirs)))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            "rule": list(self.key),
            "ours": str(self.ours),
            "theirs": str(self.theirs),
            "tried": self.tried,
            "disagreements": self.disagreements,
            "example": None if self.example is None else self.example.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Diff(RichText):
    """Where two models disagree. It is true, as a bool, if they do anywhere.

    `rules` begin with those about which the models disagree most often. `tried` counts all
    situations in which both were asked, with any action.
    """

    rules: tuple[RuleDifference, ...]
    tried: int

    def __bool__(self) -> bool:
        return bool(self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {"tried": self.tried, "rules": [each.to_dict() for each in self.rules]}

    def __rich__(self) -> Group:
        if not self.rules:
            return Group(Text(f"no rule differs, nor any answer in {_n_situations(self.tried)}"))
        differ = many(len(self.rules), "rule differs", "rules differ")
        heading = f"{differ}; both models were asked about {_n_situations(self.tried)}"
        parts: list[Any] = [Text(heading, style="bold")]
        important = [each for each in self.rules if each.matters]
        for each in important[:_MAX_RULES]:
            parts += [Text(""), *_paragraphs(each)]
        if len(important) > _MAX_RULES:
            parts.append(Text(f"\nand {len(important) - _MAX_RULES} more"))
        constant = [each.ours.title for each in self.rules if not each.matters]
        if constant:
            start = "rules with at most one outcome, which differs"
            parts.append(Text(f"\n{start}: {'; '.join(constant)}", style="dim"))
        return Group(*parts)


def outline(rule: Rule) -> list[str]:
    """Return the lines of a rule without counts: a leaf is the sorted outcomes that it has seen."""
    return [rule.title, *lines_of(rule.root, rule.attribute, _outcomes)]


def _outcomes(
    counts: Mapping[Outcome, int], attribute: Attribute | None, frame: Frame | None
) -> str:
    ordered = sorted(counts, key=repr)
    return ", ".join(outcome_text(each, attribute, frame) for each in ordered) or "not seen yet"


def _line_diff(ours: list[str], theirs: list[str]) -> Iterator[str]:
    """Yield whole lines, ours first where they differ: this is fast for large trees too."""
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in ours[a:b])
            continue
        yield from (f"- {line}" for line in ours[a:b])
        yield from (f"+ {line}" for line in theirs[c:d])


def _paragraphs(each: RuleDifference) -> list[RenderableType]:
    lines: list[RenderableType] = [
        Text(line, style=_style(line)) for line in each.text.splitlines()
    ]
    class_name, _, action = each.key
    where = f"{_n_situations(each.tried)} with `{action}`"
    if not each.ours.is_feedback:
        where += f" and {article(class_name)}"
    if each.example is None and each.disagreements:
        differ = f"different answers in {each.disagreements:,} of {where}"
        return [*lines, Text(differ, style="dim")]
    if each.example is None:
        same = f"the same answers in {where}" if each.tried else f"not asked: {where}"
        return [*lines, Text(same, style="dim")]
    objects = "; ".join(_object(each.example.state, x) for x in each.example.state.ids)
    return [
        *lines,
        Text(f"different answers in {each.disagreements:,} of {where}, such as"),
        Padding(Text(f"{objects}:"), (0, 0, 0, 2)),
        Padding(Text(str(each.example)), (0, 0, 0, 2)),
    ]


def _n_situations(n: int) -> str:
    return many(n, "situation") if n else "no situation"


def _object(state: State, object_id: int) -> str:
    values = ", ".join(f"{m} {value_text(value)}" for m, value in state[object_id].values.items())
    return f"{object_name(state, object_id)} ({values})"


def _style(line: str) -> str:
    return {"-": "red", "+": "green"}.get(line[:1], "")


# -------------------------------------------------------------------- the comparison


def diff(
    model: TreeThink, other: TreeThink, world: World | None = None, n: int = 1_000, seed: int = 0
) -> Diff:
    """Compare two models of one schema: their rules, and their answers in `n` situations.

    The situations are those of random play in the world or, without one, synthetic states made
    from the models' own tests.
    """
    _check_comparable(model, other)
    n = whole_number("n", n)
    keys = dict.fromkeys([*model.rules, *other.rules])
    pairs = {key: (model.rules[key], other.rules[key]) for key in keys}
    disagreements: defaultdict[RuleKey, list[Disagreement]] = defaultdict(list)
    tried: Counter[tuple[str, str]] = Counter()  # by class and action
    differ_on_feedback: Counter[RuleKey] = Counter()
    total = 0
    for state, action in _situations(model, pairs, world, n, seed):
        total += 1
        tried.update((name, action) for name in model.schema.classes if state.of_class(name))
        tried[TRANSITION, action] += 1
        differ_on_feedback.update(_feedback_that_differs(model, other, state, action))
        for key, each in _first_of_each_rule(_disagreements(model, other, state, action)).items():
            disagreements[key].append(each)
    rules = _rule_differences(model, other, pairs, disagreements, tried, differ_on_feedback)
    return Diff(tuple(sorted(rules, key=_rank)), total)


def _first_of_each_rule(disagreements: Iterable[Disagreement]) -> dict[RuleKey, Disagreement]:
    """Return one for each rule: a situation counts once, however many objects show it."""
    first: dict[RuleKey, Disagreement] = {}
    for each in disagreements:
        class_name = each.state[each.object_id].class_name
        first.setdefault((class_name, each.attribute, each.action), each)
    return first


def _rank(each: RuleDifference) -> tuple[int, bool]:
    """Order rules: the most disagreements first, then those that matter."""
    return -each.disagreements, not each.matters


def _check_comparable(model: TreeThink, other: object) -> None:
    from treethink.model import TreeThink

    if not isinstance(other, TreeThink):
        raise WrongTypeError(f"a model is compared with another TreeThink, got {shown(other)}")
    if not model.schema.fits(other.schema):
        for part in ("classes", "attributes", "actions"):
            ours, theirs = list(getattr(model.schema, part)), list(getattr(other.schema, part))
            if ours != theirs:
                raise SettingError(
                    f"the models are of different worlds: the {part} of one are {shown(ours)},"
                    f" of the other {shown(theirs)}"
                )
        raise SettingError("the models are of different worlds: their attributes differ")


def _situations(
    model: TreeThink,
    pairs: dict[RuleKey, tuple[Rule, Rule]],
    world: World | None,
    n: int,
    seed: int,
) -> Iterator[tuple[State, str]]:
    if world is None:
        rules = [rule for pair in pairs.values() for rule in pair]
        yield from situations(model.schema, rules, n, whole_number("seed", seed))
        return
    from treethink.stream.random_play import check_world_type, transitions
    from treethink.worlds.base import check_fit

    check_world_type(world, "diff")
    check_fit(model.schema, world)
    for before, action, *_ in transitions(world, n, seed):
        yield before, action


def _disagreements(
    model: TreeThink, other: TreeThink, state: State, action: str
) -> Iterator[Disagreement]:
    ours, theirs = model.predict(state, action), other.predict(state, action)
    changing = {(x, attribute) for each in (ours, theirs) for x, attribute, _ in each_change(each)}
    for x, attribute in sorted(changing):
        here, there = ours.outcomes(x, attribute), theirs.outcomes(x, attribute)
        support = (each.support(x, attribute) for each in (ours, theirs))
        if differ_significantly(here, there, *support):
            yield Disagreement(state, action, x, attribute, here, there)


def _feedback_that_differs(
    model: TreeThink, other: TreeThink, state: State, action: str
) -> Iterator[RuleKey]:
    """Yield the rules of rewards and ends that give different answers."""
    ours, theirs = model.predict(state, action), other.predict(state, action)
    if ours.rewards() != theirs.rewards():
        yield TRANSITION, "reward", action
    if ours.terminated() != theirs.terminated():
        yield TRANSITION, "terminated", action


def _rule_differences(
    model: TreeThink,
    other: TreeThink,
    pairs: dict[RuleKey, tuple[Rule, Rule]],
    disagreements: Mapping[RuleKey, list[Disagreement]],
    tried: Mapping[tuple[str, str], int],
    differ_on_feedback: Mapping[RuleKey, int],
) -> Iterable[RuleDifference]:
    for key, (ours, theirs) in pairs.items():
        examples, applies = disagreements.get(key, []), tried.get((key[0], key[2]), 0)
        if examples or outline(ours) != outline(theirs):
            smallest = min(examples, key=lambda each: len(each.state), default=None)
            example = None if smallest is None else _minimized(model, other, smallest)
            count = len(examples) + differ_on_feedback.get(key, 0)
            yield RuleDifference(key, ours, theirs, applies, count, example)


def _minimized(model: TreeThink, other: TreeThink, each: Disagreement) -> Disagreement:
    """Return the same disagreement in as few objects as possible; the object itself stays."""
    x, attribute, action = each.object_id, each.attribute, each.action
    answers = [as_outcomes(each.state, x, attribute, one) for one in (each.ours, each.theirs)]

    def still_disagree(state: State) -> bool:
        if x not in state:
            return False
        both = [one.predict(state, action).outcomes(x, attribute) for one in (model, other)]
        return [as_outcomes(state, x, attribute, one) for one in both] == answers

    state = minimize(each.state, still_disagree)
    return Disagreement(state, action, x, attribute, each.ours, each.theirs)


# -------------------------------------------------------------------------------- synthetic states
#
# Random states in which the tests of given rules sometimes hold. Values are small numbers, values
# that a test asks for, or values that differ from another object's by as much as a test asks for.

_MAX_PER_CLASS = 3
_MAX_SMALL = 3
_LIMIT = 2**40  # sums of larger values might not fit


def situations(
    schema: Schema, rules: Iterable[Rule], n: int, seed: int
) -> Iterator[tuple[State, str]]:
    """Yield `n` states with an action each; the same seed gives the same ones.

    States for which derived values cannot be computed are left out.
    """
    rng = random.Random(seed)
    values: defaultdict[str, list[Value]] = defaultdict(list)
    distances: defaultdict[str, list[Value]] = defaultdict(list)
    tests = (node.test for rule in rules for node in rule.root.walk() if node.test is not None)
    for test in dict.fromkeys(tests):
        known = values if test.kind == "equality" else distances
        known[schema.unit(test.attribute)].append(_offset(test, schema))
    for _ in range(n if schema.actions else 0):
        state, action = _state(rng, schema, values, distances), rng.choice(schema.actions)
        if state is not None:
            yield state, action


def _offset(test: Test, schema: Schema) -> Value:
    """Return the value that a test asks for; of a component, as a vector that is zero elsewhere."""
    if test.component is None:
        return test.number
    length = schema.definition(test.attribute).length
    return tuple(test.value if i == test.component else 0 for i in range(length))  # type: ignore[misc]


def _state(
    rng: random.Random,
    schema: Schema,
    values: dict[str, list[Value]],
    distances: dict[str, list[Value]],
) -> State | None:
    objects: list[Object] = []
    used: defaultdict[str, list[Value]] = defaultdict(list)
    counts = {name: rng.randint(0, _MAX_PER_CLASS) for name in schema.classes}
    names = [name for name, count in counts.items() for _ in range(count)]
    for i, name in enumerate(rng.sample(names, len(names))):
        own: dict[str, Value] = {}
        for attribute in schema.classes[name]:
            unit, definition = schema.unit(attribute), schema.attributes[attribute]
            near = [(a, d) for a in used[unit][-4:] for d in distances.get(unit, ())]
            value = _value(rng, definition.length, values.get(unit, []), near)
            if definition.is_symbolic and isinstance(value, int):
                value %= len(definition.names or (0, 1))
            own[attribute] = value
            used[unit].append(own[attribute])
        for sum_name, (place, step) in schema.sums.items():  # where it may be next
            if place in own and step in own:
                used[schema.unit(sum_name)].append(plus(own[place], own[step]))
        objects.append(Object(i, name, **own))
    return state_or_none(schema, objects)


def _value(
    rng: random.Random, length: int, known: list[Value], near: list[tuple[Value, Value]]
) -> Value:
    choice = rng.random()
    if near and choice < 0.6:
        base, distance = rng.choice(near)
        value = (plus if rng.random() < 0.5 else minus)(base, distance)
        if all(abs(each) < _LIMIT for each in (value if isinstance(value, tuple) else (value,))):
            return value
    if known and choice < 0.8:
        return rng.choice(known)
    numbers = tuple(rng.randint(0, _MAX_SMALL) for _ in range(length))
    return numbers[0] if length == 1 else numbers
