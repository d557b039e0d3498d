"""The algorithm of the paper's appendix in plain Python, with its mistakes corrected.

    transition -> extractFacts -> FOLDT (one for each class, attribute and action) -> prediction

Names and order are the paper's, so that it can be read beside it: `combinatorics.py`, `ftable.py`,
`predicates.py` and `foldt.py` are appendix A; this file is appendix B (its facts are in
`predicates.py`). It is written to be readable, not fast. docs/differences.md lists the corrections
with their reasons. As in the paper, only attributes of the same name are compared: `like` is
ignored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from treethink.baselines.base import Learner
from treethink.baselines.paper import combinatorics
from treethink.baselines.paper.foldt import (
    FOLDT,
    Branch,
    Hypothesis,
    Leaf,
    TrackingData,
    Tree,
    typed,
)
from treethink.baselines.paper.ftable import FTable
from treethink.baselines.paper.predicates import (
    NumberedState,
    Predicate,
    PredicateNumbers,
    QueryPredicateSet,
    Vector,
    extractFacts,
    minus,
    negative,
    plus,
)
from treethink.baselines.prediction import Product
from treethink.errors import StateError, TransitionError, shown, whole_number
from treethink.frames import VALUE, default_frame
from treethink.metrics import Value
from treethink.model import check_alpha
from treethink.rules import EngineNode, EngineTest, Rule, RuleKey, Rules, title_of, value_of
from treethink.state import Attribute, Schema, State

#: The tree of each rule.
Trees = dict[RuleKey, FOLDT]


class Paper(Learner):
    """TreeThink as published.

    Counters start when a candidate is first seen, candidates bubble up a list, and children start
    empty. `alpha` is the level of the confidence intervals.

    >>> from treethink import Object, Schema, State
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> model = Paper(schema)
    >>> for _ in range(20):
    ...     model.observe(off, "press", on)
    ...     model.observe(on, "press", off)
    >>> print(model.rules["lamp", "on", "press"])
    lamp.on when press    X0: lamp
    X0[on] = 0 ?
    ├─ yes: +1 × 10
    └─ no:  -1 × 11
    """

    name = "paper"

    def __init__(self, schema: Schema, *, alpha: float = 0.01):
        super().__init__(schema)
        self.alpha = check_alpha(alpha)
        self.observations = 0
        self._numbers = PredicateNumbers()
        self._rules: Trees = {}

    # ---- observe and predict ----

    def learn(self, before: State, action: str, after: State) -> None:
        """Learn a transition: the paper's observe(s, a, s')."""
        s = NumberedState(before, after)
        changes = list(self._changes(s))  # raises before anything is learned
        facts = extractFacts(s, self._numbers)
        for i, m, v in changes:
            t = self._rule(s.classes[i], m, action)
            t.observe(facts, (i,), v)
        self.observations += 1

    def answer(self, state: State, action: str) -> Product:
        """Return a prediction: the paper's predict(s, a)."""
        s = NumberedState(state)
        facts = QueryPredicateSet(s)
        counts: dict[tuple[int, str], Mapping[Value, int]] = {}
        for i, each in enumerate(s.objects):
            for m in self.schema.predicted(each.class_name):
                now, attribute = s.values[i][m], self.schema.attributes[m]
                t = self._rules.get((each.class_name, m, action))
                if t is not None:
                    counts[each.id, m] = {
                        _plain(attribute, self._result(m, now, v)): n
                        for v, n in t.predict(facts, (i,)).items()
                    }
        return Product(state, counts)

    def _rule(self, class_name: str, attribute: str, action: str) -> FOLDT:
        key = (class_name, attribute, action)
        if key not in self._rules:
            self._rules[key] = FOLDT(self.alpha, [class_name])
        return self._rules[key]

    def _changes(self, s: NumberedState) -> Iterator[tuple[int, str, Vector]]:
        """Yield the outcome of each object and attribute: its change, or its new value."""
        for i, then in enumerate(s.values_after):
            for m in self.schema.predicted(s.classes[i]):
                now = s.values[i][m]
                v = then[m] if self._is_value(m) else minus(then[m], now)
                if not _fits(v):
                    raise TransitionError(
                        f"attribute {m!r} of object {s.objects[i].id} changes from"
                        f" {value_of(now)} to {value_of(then[m])}, a difference that does not fit"
                        " 64 bits"
                    )
                yield i, m, v

    def _result(self, m: str, now: Vector, v: Vector) -> Vector:
        result = v if self._is_value(m) else plus(now, v)
        if not _fits(result):
            raise StateError(f"a predicted value of {m!r} does not fit 64 bits")
        return result

    def _is_value(self, m: str) -> bool:
        return default_frame(self.schema.attributes[m]) == VALUE

    # ---- reading the model ----

    @property
    def rules(self) -> Rules:
        """All rules, by (class, attribute, action)."""
        keys = [
            (class_name, attribute, action)
            for class_name in self.schema.classes
            for attribute in self.schema.predicted(class_name)
            for action in self.schema.actions
        ]
        return Rules(keys, self._snapshot)

    def _snapshot(self, class_name: str, attribute: str, action: str) -> Rule:
        key = (class_name, attribute, action)
        t = self._rules.get(key)
        nodes: list[EngineNode] = []
        if t is not None and len(t.outputs) > 1:
            _list_nodes(t, t.tree, nodes)
        seen = {} if t is None else _counts(t, t.tree)
        seen_times = sum(seen.values())
        return Rule(title_of(key), (class_name,), seen_times, seen, nodes, key, self.schema)

    def memory_use(self) -> dict[str, int]:
        """Return totals: bytes (roughly), nodes and candidates."""
        nodes = [node for t in self._rules.values() for node in _nodes(t.tree)]
        candidates = [h for node in nodes for h in node.tracking.candidates]
        own = sum(node.tracking.nbytes for node in nodes)
        lists = sum(map(sys.getsizeof, candidates)) + sum(
            sys.getsizeof(h.var_ids) for h in candidates
        )
        return {"bytes": own + lists, "nodes": len(nodes), "candidates": len(candidates)}

    def __repr__(self) -> str:
        varying = sum(len(t.outputs) > 1 for t in self._rules.values())
        return f"<Paper: {self.observations} observations, {varying} rules vary>"

    # ---- files ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with."""
        return {"alpha": self.alpha}

    def body(self) -> bytes:
        """Return all trees as JSON."""
        return _dump(self.observations, self._numbers, self._rules)

    def restore(self, body: bytes) -> None:
        """Restore all trees."""
        content = _load(body, self.alpha, self.schema, set(self.rules))
        self.observations, self._numbers, self._rules = content


def _plain(attribute: Attribute, v: Vector) -> Value:
    """Return a vector as the value that people see."""
    return attribute.decode(v[0] if len(v) == 1 else v)


def _fits(v: Vector) -> bool:
    return all(-(2**63) <= component < 2**63 for component in v)


def _nodes(t: Tree) -> Iterator[Tree]:
    yield t
    for child in t.children:
        yield from _nodes(child)


def _counts(t: FOLDT, node: Tree) -> dict[Vector, int]:
    counts = node.tracking.baseline.getConditionalDistribution(0).tolist()
    return {y: n for y, n in zip(t.outputs, counts, strict=False) if n}


def _list_nodes(t: FOLDT, node: Tree, nodes: list[EngineNode]) -> int:
    """Append a node and all below it, in preorder; return the node's index."""
    index = len(nodes)
    classes, counts = node.tracking.var_class_types, _counts(t, node)
    nodes.append(EngineNode(None, None, classes, counts, None))
    if node.isBranch():
        left, right = (_list_nodes(t, child, nodes) for child in node.children)
        test = as_test(node.getBranchData().hypothesis)
        nodes[index] = EngineNode(left, right, classes, counts, test)
    return index


def as_test(h: Hypothesis) -> EngineTest:
    """Return the test in the engine's form: within a class, the older variable comes first."""
    kind = "equality" if len(h.var_ids) == 1 else "difference"
    attributes = (h.p.m,) * len(h.var_ids)
    if len(set(h.p.types)) < len(h.p.types) and h.var_ids[0] > h.var_ids[1]:
        return kind, attributes, h.p.types, h.var_ids[::-1], negative(h.p.v)
    return kind, attributes, h.p.types, h.var_ids, h.p.v


# ------------------------------------------------------------------------------------------- files
#
# All trees as JSON, without anything that can be recomputed.


def _dump(observations: int, numbers: PredicateNumbers, rules: Trees) -> bytes:
    """Return everything that was learned, as bytes."""
    data = {
        "observations": observations,
        "predicates": numbers.predicates,
        "rules": [
            {"rule": key, "outputs": t.outputs, "tree": _tree_data(t.tree, numbers)}
            for key, t in sorted(rules.items())
        ],
    }
    return json.dumps(data, separators=(",", ":")).encode()


def _load(
    body: bytes, alpha: float, schema: Schema, keys: Container[RuleKey]
) -> tuple[int, PredicateNumbers, Trees]:
    """Return what `_dump` wrote; `keys` are the rules that are allowed."""
    data = json.loads(body)
    observations = whole_number("observations", data["observations"])
    numbers = PredicateNumbers()
    for number, each in enumerate(data["predicates"]):
        if numbers[_predicate(each, schema)] != number:
            raise ValueError(f"the predicate {shown(each)} is there twice")
    rules: Trees = {}
    for each in data["rules"]:
        key = tuple(each["rule"])
        if key not in keys or key in rules:
            raise ValueError(f"there is no rule {key} in the schema, or it is there twice")
        t = rules[key] = FOLDT(alpha, key[:1])
        t.outputs += [_vector(output, key[1], schema) for output in each["outputs"]]
        if not all(-(2**63) <= part < 2**63 for output in t.outputs for part in output):
            raise ValueError(f"an output of the rule {key} does not fit 64 bits")
        if len(set(t.outputs)) < len(t.outputs):
            raise ValueError(f"an output of the rule {key} is there twice")
        _fill(t.tree, each["tree"], numbers, len(t.outputs))
    return observations, numbers, rules


def _predicate(data: Sequence[Any], schema: Schema) -> Predicate:
    """Return a predicate, which the schema must allow."""
    m, types, v = data
    kind = {1: "equality", 2: "difference"}.get(len(types))
    known = isinstance(m, str) and m in schema.attributes and kind in schema.attributes[m].facts
    if not known or not all(m in schema.classes[each] for each in types):
        raise ValueError(f"the schema has no facts about {shown(m)} of {shown(types)}")
    return Predicate(str(m), tuple(types), _vector(v, str(m), schema))


def _vector(v: object, m: str, schema: Schema) -> Vector:
    """Return a value of an attribute, or a difference of two values."""
    length = schema.attributes[m].length
    if not isinstance(v, list) or len(v) != length or any(type(each) is not int for each in v):
        raise ValueError(f"{m!r} must have values of {length} whole numbers, got {shown(v)}")
    return tuple(v)


def _tree_data(t: Tree, numbers: PredicateNumbers) -> dict[str, Any]:
    tracking = t.tracking
    data: dict[str, Any] = {
        "baseline": tracking.baseline.counts.tolist(),
        "candidates": [(numbers[h.p], *h.var_ids) for h in tracking.candidates],
        "counters": tracking.counters.counts.tolist(),
        "current": tracking.current,
    }
    if t.isBranch():
        data |= {
            "left": _tree_data(t.getLeftChild(), numbers),
            "right": _tree_data(t.getRightChild(), numbers),
        }
    return data


def _fill(t: Tree, data: dict[str, Any], numbers: PredicateNumbers, outputs: int) -> None:
    """Fill an empty leaf with the data of a tree."""
    tracking = t.tracking
    _fill_candidates(tracking, data["candidates"], numbers)
    tracking.baseline = FTable.from_counts(data["baseline"], outputs)
    tracking.counters = FTable.from_counts(data["counters"], outputs)
    tracking.current = data["current"]
    if any(type(each) is not int for each in tracking.current) or sorted(tracking.current) != list(
        range(len(tracking.candidates))
    ):
        raise ValueError("the list of candidates does not hold each of them once")
    if tracking.baseline.tables != 1 or tracking.counters.tables != len(tracking.candidates):
        raise ValueError("there are not as many counters as candidates")
    if "left" in data:
        h = tracking.candidates[tracking.current[0]]
        left, right = TrackingData(h.var_class_types), TrackingData(tracking.var_class_types)
        t.convertToBranch(Branch(h, tracking), Leaf(left), Leaf(right))
        _fill(t.getLeftChild(), data["left"], numbers, outputs)
        _fill(t.getRightChild(), data["right"], numbers, outputs)


def _fill_candidates(tracking: TrackingData, data: list[Any], numbers: PredicateNumbers) -> None:
    added: set[tuple[int, ...]] = set()
    for predicate, *var_ids in data:
        if any(type(each) is not int or each < 0 for each in (predicate, *var_ids)):
            raise ValueError("a candidate's predicate and variables must be at least 0")
        p, variables = numbers.predicates[predicate], tuple(var_ids)
        fillings = combinatorics.bindings(tracking.n_existing_vars, p.getArgumentCount())
        if (predicate, *variables) in added or all(variables != each for each, _ in fillings):
            raise ValueError("a candidate's variables cannot be, or it is there twice")
        added.add((predicate, *variables))
        h = typed(tracking.var_class_types, p, variables)
        if h is None:
            raise ValueError("a candidate's variables are not of the classes of its predicate")
        tracking.append(h, predicate)
