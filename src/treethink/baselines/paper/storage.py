"""The body of a file of `Paper`: all trees as JSON, without anything that can be recomputed."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from typing import Any

from treethink.baselines.paper import combinatorics
from treethink.baselines.paper.foldt import FOLDT, Branch, Leaf, TrackingData, Tree, typed
from treethink.baselines.paper.ftable import FTable
from treethink.baselines.paper.predicates import Predicate, PredicateNumbers, Vector
from treethink.errors import shown, whole_number
from treethink.rules import RuleKey
from treethink.state import Schema

Rules = dict[RuleKey, FOLDT]


def dump(observations: int, numbers: PredicateNumbers, rules: Rules) -> bytes:
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


def load(
    body: bytes, alpha: float, schema: Schema, keys: Container[RuleKey]
) -> tuple[int, PredicateNumbers, Rules]:
    """Return what `dump` wrote; `keys` are the rules that are allowed."""
    data = json.loads(body)
    observations = whole_number("observations", data["observations"])
    numbers = PredicateNumbers()
    for number, each in enumerate(data["predicates"]):
        if numbers[_predicate(each, schema)] != number:
            raise ValueError(f"the predicate {shown(each)} is there twice")
    rules: Rules = {}
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
