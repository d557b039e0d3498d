"""What is missing where a model is in doubt: `model.doubts()`.

    model, transitions -> cases of each doubtful rule -> hypotheses -> [ diagnose ] -> Doubts

For each rule with leaves that mix outcomes, or that err, every hypothesis is scored on the cases of
these leaves, and also in place of the part of the tree that leads to them. A hypothesis counts if
its Bayes factor exceeds 1/alpha times the number of hypotheses that were tried, and exceeds what
the rule's own tests explain by 1/alpha: noise gives no suggestions. A comparison, an order or a sum
must also explain more than any two tests that the model knows, which have their price, too, and it
must differ in most pairs of cases that differ in outcome and little else. Of comparisons, the one
whose unit explains most over all rules is suggested. The work is bounded by the limits in `cases`,
`terms` and `conditions`, and the result depends on nothing but the input.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from treethink.errors import SettingError
from treethink.evaluation import ENOUGH, given_transitions, rule_key, wrong_values
from treethink.explain.doubts.cases import Case, Cases
from treethink.explain.doubts.conditions import (
    about_bound_objects,
    conditions_advice,
    known_tests,
    pair_text,
)
from treethink.explain.doubts.doubt import Doubt, Doubts, Situation, Suggestion
from treethink.explain.doubts.evidence import Bools, Group, Numbers, in_bits
from treethink.explain.doubts.history import partitions, repeats
from treethink.explain.doubts.pairs import never_compared
from treethink.explain.doubts.terms import (
    Hypothesis,
    comparisons,
    orders,
    terms_of,
)
from treethink.explain.path import follow
from treethink.feedback import true_feedback
from treethink.rules import Node, RuleKey
from treethink.state import Object
from treethink.stream.random_play import transitions as random_play
from treethink.stream.transition import Transition
from treethink.text import many
from treethink.worlds import World
from treethink.worlds.base import check_fit

if TYPE_CHECKING:
    from treethink.model import TreeThink

#: Limits of the work.
MAX_TRANSITIONS = 20_000
MAX_RULES = 12
MAX_LEAVES = 8
MAX_NODES = 8
_STEPS = 2_000
_MAX_COMPARED = 100
_MOST_PAIRS = 10  # that differ in outcome and little else
_OF_TERMS = ("comparison", "order", "sum")
_MOST_OBJECTS = 20  # of a class, to ask whether it depends on which one it is
_LOOKING = ("evidence", "proven")  # criteria with which nodes are looked at again
_KEPT_SHARE = 0.5  # of the bits of the first suggestion, for others to be shown


def doubts_of(
    model: TreeThink, transitions: World | Iterable[Sequence[Any]] | None = None
) -> Doubts:
    """Return the rules that err or are unsure, with what may be missing, worst first."""
    data = _data(model, transitions)
    keys = _mixed_rules(model) | (_erring_rules(model, data) if transitions is not None else set())
    diagnoses = []
    for key in sorted(keys):
        cases = Cases(model.rules[key], data)
        if len(cases) and (paths := _doubtful(cases)):
            diagnoses.append(_Diagnosis(model, cases, paths))
    worth = _worth_of_units(diagnoses)
    doubts = [each.doubt(worth) for each in diagnoses]
    return Doubts(sorted(doubts, key=lambda each: (-each.wrong, each.rule))[:MAX_RULES])


def _doubtful(cases: Cases) -> list[str]:
    """Return the paths of the leaves that err, worst first."""
    wrong = {path: cases.wrong(path) for path in cases.rows_by_path}
    return sorted((p for p in wrong if wrong[p]), key=lambda p: (-wrong[p], p))[:MAX_LEAVES]


def _worth_of_units(diagnoses: Sequence[_Diagnosis]) -> dict[tuple[str, str], float]:
    """Return what one unit for two attributes explains, over all rules."""
    worth: dict[tuple[str, str], float] = {}
    for diagnosis in diagnoses:
        best: dict[tuple[str, str], float] = {}
        for each in diagnosis.good:
            if each.like is not None:
                best[each.like] = max(each.gain, best.get(each.like, 0.0))
        for like, gain in best.items():
            worth[like] = worth.get(like, 0.0) + gain
    return worth


def _data(model: TreeThink, source: World | Iterable[Sequence[Any]] | None) -> list[Transition]:
    if source is None:
        if not model.memory:
            raise SettingError(
                "this model keeps no transitions (memory=0): give some, model.doubts(transitions)"
            )
        return [Transition(*each) for each in model.kept()]
    if isinstance(source, World):
        check_fit(model.schema, source)
        source = random_play(source, _STEPS, 0)
    return list(deque(given_transitions(source, None, "a diagnosis"), maxlen=MAX_TRANSITIONS))


def _mixed_rules(model: TreeThink) -> set[RuleKey]:
    """Return the rules with a leaf that has seen more than one outcome; the worst."""
    unsure = {}
    for key, rule in model.rules.items():
        leaves = [node for node in rule.root.walk() if node.is_leaf and len(node.counts) > 1]
        if leaves:
            unsure[key] = sum(_others(leaf) for leaf in leaves)
    return set(sorted(unsure, key=lambda key: (-unsure[key], key))[:MAX_RULES])


def _others(leaf: Node) -> int:
    return sum(leaf.counts.values()) - max(leaf.counts.values())


def _erring_rules(model: TreeThink, data: Sequence[Transition]) -> set[RuleKey]:
    """Return the rules that err most often on these transitions."""
    errors: dict[RuleKey, int] = {}
    for step in data:
        feedback = true_feedback(model.feedback, step, step.after)
        for each in wrong_values(model.predict(step.before, step.action), step.after, feedback):
            key = rule_key(step.before, each.object_id, each.attribute, step.action)
            errors[key] = errors.get(key, 0) + 1
    return set(sorted(errors, key=lambda key: (-errors[key], key))[:MAX_RULES])


# -------------------------------------------------------------------------- one rule


@dataclass(frozen=True)
class _Scored:
    """A hypothesis with its log Bayes factor."""

    kind: str
    text: str
    advice: str
    gain: float
    like: tuple[str, str] | None = None
    truth: Bools | None = None


def _tests(cases: Cases, path: str) -> tuple[str, ...]:
    """Return the tests on the path, with their answers."""
    case = cases.all[int(cases.rows_by_path[path][0])]
    steps, _ = follow(cases.rule.root, case.state, case.object_id)
    return tuple(f"{'yes' if step.holds else 'no '}  {step.test}" for step in steps)


def _what_looks_need(model: TreeThink) -> str:
    """Return what a model needs to ask for orders and thresholds, and to look ahead; or nothing."""
    if not model.memory:
        return "give the model a memory (memory=..., which is the default)"
    if model.criterion not in _LOOKING:
        return f"use the criterion {_LOOKING[0]!r}, which is the default"
    return "" if model.branch_updates else "let branches change (branch_updates=True)"


class _Diagnosis:
    """The scores of all hypotheses about the doubtful leaves of one rule."""

    def __init__(self, model: TreeThink, cases: Cases, paths: list[str]):
        self.cases, self.paths = cases, paths
        self.same = repeats(cases, np.sort(np.concatenate([cases.rows_by_path[p] for p in paths])))
        self.pairs = _nearest_pairs(cases, paths[0])
        self.required = math.log(1 / model.alpha)
        self.groups = [cases.group(cases.rows_by_path[path]) for path in paths]
        self.samples = {path: cases.group(cases.sample(path)) for path in paths}
        self.nodes = self._replaceable_nodes()
        self.tried = 1
        self.needs = _what_looks_need(model)
        self.terms = terms_of(cases)
        self.ordering = list(orders(cases, self.terms, self.needs))
        self.candidates = self._candidates(model)
        self.known = self._known()
        self.good = self._good()

    def doubt(self, worth: Mapping[tuple[str, str], float]) -> Doubt:
        """Return the doubt; `worth` is what each unit explains over all rules."""
        cases, worst = self.cases, self.paths[0]
        best = self._best(worth)
        counts = cases.counts(worst)
        return Doubt(
            rule=(cases.class_name, cases.attribute, cases.action),
            path=worst,
            tests=_tests(cases, worst),
            cases=len(cases),
            reached=counts.total(),
            wrong=cases.wrong(worst),
            outcomes=dict(sorted(counts.items(), key=lambda each: (-each[1], repr(each[0])))),
            leaves=sum(cases.wrong(path) > 0 for path in cases.rows_by_path),
            examples=self._examples(best[0] if best else None),
            suggestions=tuple(map(self._suggestion, best)) or (self._without_hypothesis(),),
            never_compared=self._never_compared(),
            definition=cases.rule.attribute,
            frame=cases.rule.frame,
        )

    def _never_compared(self) -> tuple[tuple[str, str], ...]:
        """Return pairs with the rule's attribute, and of attributes that its tests ask about.

        If it has no tests, an attribute of its class is enough.
        """
        cases, read = self.cases, self.cases.rule.attributes_read()
        about = {cases.attribute} if read else set(cases.schema.classes.get(cases.class_name, ()))
        pairs = never_compared(cases.schema, (each.state for each in reversed(cases.all)))
        return tuple(each for each in pairs if about.intersection(each) or read.issuperset(each))

    def _replaceable_nodes(self) -> list[tuple[Group, float]]:
        """Return nodes above the worst leaf, each with what the tree below it explains."""
        worst, leaves = self.paths[0], self.cases.rows_by_path
        number = {path: i for i, path in enumerate(sorted(leaves))}
        leaf_of = np.array([number[case.path] for case in self.cases], dtype=np.int64)
        nodes = []
        for depth in range(min(len(worst), MAX_NODES)):
            group = self.cases.group(self.cases.under(worst[:depth]))
            nodes.append((group, group.gain_of_cells(leaf_of)))
        return nodes

    def _candidates(self, model: TreeThink) -> dict[str, dict[Any, Any]]:
        """Return the candidates of the doubtful leaves that the engine counts, by path."""
        key = (self.cases.class_name, self.cases.attribute, self.cases.action)
        listed = model._candidates(*key)
        found, place = {}, 0
        stack = [("", self.cases.rule.root)]
        while stack:  # in preorder, as the engine lists its nodes
            path, node = stack.pop()
            if path in self.paths and place < len(listed):
                found[path] = listed[place]
            place += 1
            if node.left is not None and node.right is not None:
                stack += [(path + "R", node.right), (path + "L", node.left)]
        return found

    # ------------------------------------------------------------------ suggestions

    def _good(self) -> list[_Scored]:
        """Return the hypotheses that explain surely more than the rule's tests, best first."""
        scored = [*self._of_terms(), *self._of_history(), *self._of_identity()]
        if not self._is_rare():
            scored += self._of_conditions()
        explained = sum(max(0.0, best) for best in self.known.explained)
        by_two = sum(
            max(0.0, *best) for best in zip(self.known.explained, self.known.by_two, strict=True)
        )
        price = math.log(self.tried)
        least = max(price, explained) + self.required
        least_of_terms = max(least, price + by_two + self.required / 2)
        good = [
            each
            for each in scored
            if each.gain > (least if each.kind not in _OF_TERMS else least_of_terms)
            and (each.kind not in _OF_TERMS or self._tells_apart(each))
        ]
        return sorted(good, key=lambda each: -each.gain)

    def _tells_apart(self, each: _Scored) -> bool:
        """Whether it differs in most pairs of cases that are alike but for their outcomes."""
        if each.truth is None or self.same.pair is not None:
            return True
        told = sum(bool(each.truth[i] != each.truth[j]) for i, j in self.pairs)
        return 2 * told >= len(self.pairs)

    def _best(self, worth: Mapping[tuple[str, str], float]) -> list[_Scored]:
        """Return the best hypothesis of each kind, likeliest first.

        Of comparisons, the best is one whose unit explains most over all rules.
        """
        kept = [each for each in self.good if each.gain >= _KEPT_SHARE * self.good[0].gain]
        best: dict[str, _Scored] = {}
        for each in kept:
            is_shadow = each.kind == "sum" and bool(best)  # of an order, a little off
            if not is_shadow:
                best.setdefault(each.kind, each)
        if "comparison" in best:
            comparisons_kept = (each for each in kept if each.like is not None)
            ranked = max(comparisons_kept, key=lambda each: worth[each.like or ("", "")])
            best["comparison"] = next(each for each in kept if each.like == ranked.like)
        return [*best.values()]

    def _suggestion(self, each: _Scored) -> Suggestion:
        bits = in_bits(each.gain - math.log(self.tried))
        return Suggestion(each.kind, each.text, each.advice, bits, each.like)

    def _without_hypothesis(self) -> Suggestion:
        """Return why no hypothesis explains it: too few data, chance, or something else."""
        known = self.known
        otherwise = sum(self.cases.wrong(path) for path in self.paths)
        seen = sum(len(group.rows) for group in self.groups)
        often = f"{many(otherwise, 'time')} of {seen:,} it went otherwise"
        learn_more = "go on learning"
        possible = sum(group.best_possible for group in self.groups)
        if self._is_rare() or possible - math.log(self.tried) < self.required:
            return Suggestion("data", f"{often}, too few to tell why", learn_more)
        if known.best and max(known.explained, default=0.0) > self.required / 2:
            bits = in_bits(max(known.explained))
            text = f"{known.best} explains it so far, with {bits:.1f} bits"
            return Suggestion("data", text, learn_more)
        if self._follows_from_state():
            text = f"{often}, and equal states had equal outcomes"
            return Suggestion("unknown", text, "derive an attribute that tells them apart")
        if self.same.differing:
            times = many(self.same.differing, "time")
            text = f"equal states had different outcomes, {times}; the frequencies are stable"
            return Suggestion("chance", text, "")
        advice = (
            "if it is not random, it depends on more than two conditions, or on a sum: derive an"
            " attribute that tells it (tt.Derived)"
        )
        return Suggestion("unexplained", f"{often}, and no state came twice", advice)

    def _is_rare(self) -> bool:
        """Whether the rule went otherwise too rarely to tell chance from a missing condition."""
        otherwise = sum(self.cases.wrong(path) for path in self.paths)
        return otherwise < ENOUGH and not self.same.differing

    def _follows_from_state(self) -> bool:
        """Whether equal states have equal outcomes, more often than chance would have it."""
        cells = np.full(len(self.cases), -1, dtype=np.int64)
        for number, equal in enumerate(self.same.groups):
            cells[np.array(equal, dtype=np.int64)] = number
        gain = 0.0
        for path in self.paths:  # what tells the leaves apart is known already
            rows = self.cases.rows_by_path[path]
            repeated = rows[cells[rows] >= 0]
            if len(repeated):
                gain += self.cases.group(repeated).gain_of_cells(cells)
        return gain > self.required

    def _examples(self, best: _Scored | None) -> tuple[Situation, ...]:
        """Return two cases of the worst leaf that differ in their outcome and little else.

        If there is a hypothesis, it tells them apart, if it can.
        """
        cases = self.cases
        if self.same.pair is not None:
            return tuple(_situation(cases, each) for each in self.same.pair)
        if not self.pairs:
            last = int(cases.rows_by_path[self.paths[0]][-1])
            return (_situation(cases, cases.all[last]),)
        told = self.pairs
        if best is not None and best.truth is not None:
            truth = best.truth
            told = [(i, j) for i, j in self.pairs if truth[i] != truth[j]] or self.pairs
        return tuple(_situation(cases, cases.all[i]) for i in told[0])

    # ------------------------------------------------------------------- hypotheses

    def _of_terms(self) -> list[_Scored]:
        missing = [each for each in self.ordering if each.kind != "data"]
        return self._scored([*comparisons(self.cases, self.terms), *missing])

    def _scored(self, hypotheses: list[Hypothesis]) -> list[_Scored]:
        self.tried += len(hypotheses)
        if not hypotheses:
            return []
        gains = self._gains(np.stack([each.truth for each in hypotheses]))
        return [
            _Scored(each.kind, each.text, each.advice, float(gain), each.like, each.truth)
            for each, gain in zip(hypotheses, gains, strict=True)
        ]

    def _gains(self, truths: Bools) -> Numbers:
        """Return how much better each hypothesis explains: beside the rule's tests, or in place."""
        beside = sum(_optional(group.gain_of_tests(truths)) for group in self.groups)
        gains = np.asarray(beside, dtype=np.float64)
        for group, explained in self.nodes:
            gains = np.maximum(gains, group.gain_of_tests(truths) - explained)
        result: Numbers = gains - math.log(1 + len(self.nodes))
        return result

    def _known(self) -> _Known:
        """Return the tests that rules can ask at the doubtful leaves, with what each explains."""
        known = _Known()
        askable = [each for each in self.ordering if each.kind == "data"]
        for group, path in zip(self.groups, self.paths, strict=True):
            own = list(askable)
            if not self._is_rare():
                own += known_tests(self.cases, path, self.candidates.get(path, {}))
            known.tests.append(own)
            known.pairs.append(None)
            if not own:
                continue
            sample = self.samples[path]
            share = len(group.rows) / len(sample.rows)  # of all cases, if they are alike
            truths = np.stack([each.truth for each in own])
            gains = (sample.gain_of_tests(truths) - math.log(len(own))) * share
            if not known.explained or gains.max() > max(known.explained):
                known.best = own[int(gains.argmax())].text
            known.explained.append(float(gains.max()))
            known.by_two.append(0.0)
            if len(own) > 1:
                n_pairs = len(own) * (len(own) - 1) // 2
                pairs = np.triu(sample.gain_of_pairs(truths), 1)
                known.pairs[-1] = pairs
                known.by_two[-1] = (float(pairs.max()) - math.log(n_pairs)) * share
        return known

    def _of_conditions(self) -> list[_Scored]:
        """Return the best pair of known tests, and tests about an object that another binds."""
        scored: list[_Scored] = []
        for path, tests, pairs in zip(self.paths, self.known.tests, self.known.pairs, strict=True):
            group = self.samples[path]
            scored += self._of_bound_objects(group, path)
            if pairs is None:
                continue
            truths = np.stack([each.truth for each in tests])
            alone = np.maximum(group.gain_of_tests(truths), 0)
            gains = np.triu(pairs - alone[:, None] - alone[None, :], 1)
            self.tried += len(tests) * (len(tests) - 1) // 2
            first, second = np.unravel_index(int(gains.argmax()), gains.shape)
            advice = conditions_advice(self.needs)
            both = pair_text(tests[int(first)], tests[int(second)], advice)
            gain = float(gains[first, second])
            scored.append(_Scored(both.kind, both.text, both.advice, gain))
        return scored

    def _of_bound_objects(self, group: Group, path: str) -> list[_Scored]:
        candidates, advice = self.candidates.get(path, {}), conditions_advice(self.needs)
        hypotheses = list(about_bound_objects(self.cases, path, candidates, advice))
        self.tried += len(hypotheses)
        if not hypotheses:
            return []
        gains = group.gain_of_tests(np.stack([each.truth for each in hypotheses]))
        return [
            _Scored(each.kind, each.text, each.advice, float(gain))
            for each, gain in zip(hypotheses, gains, strict=True)
        ]

    def _of_history(self) -> list[_Scored]:
        if not self.same.differing and self._follows_from_state():
            return []
        scored = []
        for each in partitions(self.cases):
            self.tried += 1
            gains = np.array([group.gain_of_cells(each.cells) for group in self.groups])
            text = f"it depends on {each.text}"
            if self.same.pair is not None:
                text += "; equal states had different outcomes"
            advice = "add an attribute that holds what is remembered"
            scored.append(_Scored("hidden", text, advice, float(_optional(gains).sum())))
        return scored

    def _of_identity(self) -> list[_Scored]:
        """Return whether it depends on which object of the class it is: rules know no names."""
        ids = np.array([-1 if each.object_id is None else each.object_id for each in self.cases])
        if not 1 < len(np.unique(ids)) <= _MOST_OBJECTS:
            return []
        self.tried += 1
        gains = np.array([group.gain_of_cells(ids) for group in self.groups])
        name = self.cases.class_name
        text = f"it depends on which {name} it is, and rules do not know ids or names"
        advice = (
            f"give each {name} an attribute with its name (tt.Category), or a class of its own if"
            " an action is about it alone"
        )
        return [_Scored("identity", text, advice, float(_optional(gains).sum()))]


@dataclass
class _Known:
    """The tests that rules can ask at doubtful leaves, and what they explain.

    By leaf: the tests, and what any two of them explain together. By leaf that has tests: what the
    best test explains, and the best two. `best` is the text of the best test.
    """

    tests: list[list[Hypothesis]] = field(default_factory=list)
    pairs: list[Numbers | None] = field(default_factory=list)
    explained: list[float] = field(default_factory=list)
    by_two: list[float] = field(default_factory=list)
    best: str = ""


def _optional(gains: Numbers) -> Numbers:
    """Return the log Bayes factors if a leaf uses the hypothesis or not, with equal chances."""
    result: Numbers = np.logaddexp(0.0, gains) - math.log(2)
    return result


# -------------------------------------------------------------------------- examples


def _nearest_pairs(cases: Cases, path: str) -> list[tuple[int, int]]:
    """Return pairs of cases of a leaf that differ in outcome and little else, the nearest first.

    They are positions among the cases: another outcome, and the rarest one.
    """
    counts = cases.counts(path)
    if len(counts) < 2:
        return []
    rows = cases.rows_by_path[path].tolist()
    rarest = min(counts, key=lambda outcome: (counts[outcome], repr(outcome)))
    rare = [i for i in rows if cases.all[i].outcome == rarest][-_MAX_COMPARED:]
    others = [i for i in rows if cases.all[i].outcome != rarest][-_MAX_COMPARED:]
    nearest = [
        min((_distance(cases.all[i], cases.all[j]), a, b) for b, j in enumerate(others))
        for a, i in enumerate(rare)
    ]
    return [(others[b], rare[a]) for _, a, b in sorted(nearest)[:_MOST_PAIRS]]


def _distance(one: Case, other: Case) -> int:
    """Return how many values and objects differ, with a little more for larger states."""
    if one.object_id == other.object_id and one.state.ids == other.state.ids:
        pairs = zip(one.state, other.state, strict=True)
        different = sum(_differing_values(a, b) for a, b in pairs if a != b)
    else:
        different = len(set(one.state) ^ set(other.state))
    return 1_000 * different + len(one.state)


def _differing_values(one: Object, other: Object) -> int:
    """Return how many values of two objects differ; all, if they are of different classes."""
    if one.class_name != other.class_name:
        return max(len(one.values), len(other.values))
    return sum(value != other.values[name] for name, value in one.values.items())


def _situation(cases: Cases, case: Case) -> Situation:
    subject = (case.object_id, cases.attribute)
    return Situation(case.state, cases.action, *subject, case.outcome, cases.rule.frame)
