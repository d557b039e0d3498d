"""What two models disagree on: `model.diff(other)`.

    two models, a world or none -> [ differing ] -> Diff (rules as text, example states)

Rules differ as text when their tests do, or the outcomes at their leaves; counts do not matter.
They differ in what they say when there is a state about which they disagree. Neither needs the
other: trees may ask otherwise and agree everywhere, so both are told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from treethink.errors import SettingError, WrongTypeError, shown, whole_number
from treethink.explain.compare.diff_report import Diff, Disagreement, RuleDifference, outline
from treethink.explain.compare.minimize import smallest
from treethink.explain.compare.synthetic_states import situations
from treethink.explain.distributions import as_changes, unlike
from treethink.rules import Rule, RuleKey
from treethink.state import State

if TYPE_CHECKING:
    from treethink.model import TreeThink
    from treethink.worlds import World


def diff(
    model: TreeThink, other: TreeThink, world: World | None = None, n: int = 1_000, seed: int = 0
) -> Diff:
    """What two models of one schema disagree on, in their rules and about `n` situations.

    With a world they are those of random play there, without one made of the models' own tests.
    """
    _check(model, other)
    n = whole_number("n", n)
    pairs = {key: (model.rules[key], other.rules[key]) for key in model.rules}
    found: defaultdict[RuleKey, list[Disagreement]] = defaultdict(list)
    tried: Counter[tuple[str, str]] = Counter()  # by class and action
    total = 0
    for state, action in _situations(model, pairs, world, n, seed):
        total += 1
        tried.update((name, action) for name in model.schema.classes if state.of_class(name))
        for key, each in _first(_disagreements(model, other, state, action)).items():
            found[key].append(each)
    rules = _differences(model, other, pairs, found, tried)
    return Diff(tuple(sorted(rules, key=_rank)), total)


def _first(found: Iterable[Disagreement]) -> dict[RuleKey, Disagreement]:
    """One for each rule: a situation counts once, however many objects show it."""
    first: dict[RuleKey, Disagreement] = {}
    for each in found:
        class_name = each.state[each.object_id].class_name
        first.setdefault((class_name, each.attribute, each.action), each)
    return first


def _rank(each: RuleDifference) -> tuple[int, bool]:
    """Those that matter most come first: often seen, then those that have anything to say."""
    return -each.disagreements, not each.matters


def _check(model: TreeThink, other: object) -> None:
    from treethink.model import TreeThink

    if not isinstance(other, TreeThink):
        raise WrongTypeError(f"a model is compared with another TreeThink, got {shown(other)}")
    if model.schema != other.schema:
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
    for before, action, _ in transitions(world, n, seed):
        yield before, action


def _disagreements(
    model: TreeThink, other: TreeThink, state: State, action: str
) -> Iterator[Disagreement]:
    ours, theirs = model.predict(state, action), other.predict(state, action)
    changing = {(x, attribute) for each in (ours, theirs) for x, attribute, _ in each.changes()}
    for x, attribute in sorted(changing):
        here, there = ours.outcomes(x, attribute), theirs.outcomes(x, attribute)
        seen = (each.support(x, attribute) for each in (ours, theirs))
        if unlike(here, there, *seen):
            yield Disagreement(state, action, x, attribute, here, there)


def _differences(
    model: TreeThink,
    other: TreeThink,
    pairs: dict[RuleKey, tuple[Rule, Rule]],
    found: Mapping[RuleKey, list[Disagreement]],
    tried: Mapping[tuple[str, str], int],
) -> Iterable[RuleDifference]:
    for key, (ours, theirs) in pairs.items():
        seen, applies = found.get(key, []), tried.get((key[0], key[2]), 0)
        if seen or outline(ours) != outline(theirs):
            least = min(seen, key=lambda each: len(each.state), default=None)
            example = None if least is None else _shrunk(model, other, least)
            yield RuleDifference(key, ours, theirs, applies, len(seen), example)


def _shrunk(model: TreeThink, other: TreeThink, met: Disagreement) -> Disagreement:
    """The same disagreement in as few objects as possible; the object itself stays."""
    x, attribute = met.object_id, met.attribute
    said = [as_changes(met.state, x, attribute, each) for each in (met.ours, met.theirs)]

    def still(state: State) -> bool:
        if x not in state:
            return False
        both = [each.predict(state, met.action).outcomes(x, attribute) for each in (model, other)]
        return [as_changes(state, x, attribute, each) for each in both] == said

    return Disagreement(smallest(met.state, still), met.action, x, attribute, met.ours, met.theirs)
