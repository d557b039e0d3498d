"""The body of a file of `Paper`: all trees as JSON, with nothing in it that can be worked out."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from treethink.baselines.paper.foldt import FOLDT, Branch, Leaf, TrackingData, Tree, typed
from treethink.baselines.paper.ftable import FTable
from treethink.baselines.paper.predicates import Predicate, PredicateNumbers
from treethink.errors import whole_number
from treethink.rules import RuleKey

Rules = dict[RuleKey, FOLDT]


def dump(observations: int, numbers: PredicateNumbers, rules: Rules) -> bytes:
    """All that is known."""
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
    body: bytes, alpha: float, keys: Container[RuleKey]
) -> tuple[int, PredicateNumbers, Rules]:
    """What `dump` wrote; `keys` are the rules that there may be."""
    data = json.loads(body)
    observations = whole_number("observations", data["observations"])
    numbers = PredicateNumbers()
    for m, types, v in data["predicates"]:
        numbers[Predicate(m, tuple(types), tuple(v))]
    rules: Rules = {}
    for each in data["rules"]:
        key = tuple(each["rule"])
        if key not in keys:
            raise ValueError(f"there is no rule {key} in the schema")
        t = rules[key] = FOLDT(alpha, key[:1])
        t.outputs += [tuple(output) for output in each["outputs"]]
        _fill(t.tree, each["tree"], numbers)
    return observations, numbers, rules


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


def _fill(t: Tree, data: dict[str, Any], numbers: PredicateNumbers) -> None:
    """Make of an empty leaf what was written."""
    tracking = t.tracking
    for predicate, *var_ids in data["candidates"]:
        if min(predicate, *var_ids) < 0:
            raise ValueError("a candidate's predicate and variables must be at least 0")
        h = typed(tracking.var_class_types, numbers.predicates[predicate], tuple(var_ids))
        if h is None:
            raise ValueError("a candidate's variables are not of the classes of its predicate")
        tracking.append(h, predicate)
    tracking.baseline = FTable.from_counts(data["baseline"])
    tracking.counters = FTable.from_counts(data["counters"])
    tracking.current = data["current"]
    if sorted(tracking.current) != list(range(len(tracking.candidates))):
        raise ValueError("the list of candidates does not hold each of them once")
    if tracking.counters.tables != len(tracking.candidates):
        raise ValueError("there are not as many counters as candidates")
    if "left" in data:
        h = tracking.candidates[tracking.current[0]]
        left, right = TrackingData(h.var_class_types), TrackingData(tracking.var_class_types)
        t.convertToBranch(Branch(h, tracking), Leaf(left), Leaf(right))
        _fill(t.getLeftChild(), data["left"], numbers)
        _fill(t.getRightChild(), data["right"], numbers)
