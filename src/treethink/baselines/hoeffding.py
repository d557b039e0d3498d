"""River's Hoeffding trees over the flattened features of objects.

    object -> row of features -> [ a tree for each class, attribute and action ] -> outcome

This is what one gets from a good library of incremental learning without any relational language:
`river.tree.HoeffdingTreeClassifier`, with its defaults, over the rows of `object_features.py`.
It needs the extra `river`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from treethink.baselines.base import Learner
from treethink.baselines.object_features import ObjectFeatures, Outcome, Outcomes, Row, examples_of
from treethink.baselines.prediction import Key, Product
from treethink.errors import missing_package, whole_number
from treethink.metrics import Value
from treethink.state import Schema, State


def river_tree() -> Any:
    """Return River's module of trees; raise an error if it is not installed."""
    try:
        from river import tree
    except ImportError as error:
        raise missing_package("learner 'hoeffding' needs River", "river") from error
    return tree


class Hoeffding(Learner):
    """A learner with one Hoeffding tree of River for each class, attribute and action.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    nearest
        How many objects of each class take part in the features of an object.
    grace_period, delta
        River's settings: how many examples a leaf gets between two attempts to split, and the
        level of significance of a split.

    Examples
    --------
    >>> from treethink import make
    >>> Hoeffding(make("walls").schema)
    <Hoeffding: hoeffding>
    """

    name = "hoeffding"
    cannot_keep: ClassVar[Mapping[str, str]] = {
        "memory_stays_flat_on_a_repeating_stream": (
            "River saves trees only as code that is run (pickle), so a file has all examples,"
            " and they are learned again when it is read"
        )
    }

    def __init__(
        self, schema: Schema, *, nearest: int = 4, grace_period: int = 200, delta: float = 1e-7
    ):
        super().__init__(schema)
        self._classifier = river_tree().HoeffdingTreeClassifier
        self.nearest = whole_number("nearest", nearest, 1)
        self.grace_period, self.delta = whole_number("grace_period", grace_period, 1), delta
        self._features = ObjectFeatures(schema, self.nearest)
        self._names = {name: self._features.names(name) for name in schema.classes}
        self._symbolic = {name: self._features.symbolic(name) for name in schema.classes}
        self._outcomes = Outcomes(schema)
        self._seen: dict[tuple[str, str], int] = {}
        self._examples: dict[tuple[str, str], list[tuple[Row, tuple[Outcome, ...]]]] = {}
        self._trees: dict[tuple[str, str], list[_Tree]] = {}

    def learn(self, before: State, action: str, after: State) -> None:
        """Learn every object of a class that has ever changed by the action."""
        changed = {before[x].class_name for x in before.changes_to(after)}
        for name in self.schema.classes:
            objects = len(before.of_class(name))
            if not objects or not self.schema.predicted(name):
                continue
            key = name, action
            self._seen[key] = self._seen.get(key, 0) + objects
            if name in changed or key in self._trees:
                found = examples_of(before, after, name, self._features, self._outcomes.outcome)
                self._learn_examples(key, found)

    def _learn_examples(
        self, key: tuple[str, str], examples: list[tuple[Row, tuple[Outcome, ...]]]
    ) -> None:
        name, _ = key
        if key not in self._trees:
            self._trees[key] = [self._new_tree() for _ in self.schema.predicted(name)]
        for row, outcomes in examples:
            x = self._named(name, row)
            for tree, outcome in zip(self._trees[key], outcomes, strict=True):
                tree.learn(x, outcome)
        self._examples.setdefault(key, []).extend(examples)

    def answer(self, state: State, action: str) -> Product:
        """Return the probabilities of the trees, for each object."""
        probabilities: dict[Key, dict[Value, float]] = {}
        support: dict[Key, int] = {}
        for name in self.schema.classes:
            key = name, action
            if not (seen := self._seen.get(key, 0)):
                continue
            rows = dict(self._features.rows(state, name)) if key in self._trees else {}
            for each in state.of_class(name):
                x = self._named(name, rows[each.id]) if rows else {}
                for i, attribute in enumerate(self.schema.predicted(name)):
                    chances: dict[Value, float] = {each.values[attribute]: 1.0}
                    if rows:
                        chances = {
                            self._outcomes.value(each, attribute, outcome): chance
                            for outcome, chance in self._trees[key][i].predict(x).items()
                        }
                    probabilities[each.id, attribute] = chances
                    support[each.id, attribute] = seen
        return _Estimated(state, probabilities, support)

    def _new_tree(self) -> _Tree:
        return _Tree(self._classifier(grace_period=self.grace_period, delta=self.delta))

    def _named(self, class_name: str, row: Row) -> dict[str, Any]:
        """Return a row as River takes it: names as texts, and nothing for what is missing."""
        columns = zip(self._names[class_name], self._symbolic[class_name], row, strict=True)
        return {
            name: f"={value}" if symbolic else value
            for name, symbolic, value in columns
            if value is not None
        }

    def memory_use(self) -> dict[str, int]:
        """Return the number of nodes and examples, and roughly the bytes of the examples."""
        examples = sum(map(len, self._examples.values()))
        width = max(map(len, self._names.values()), default=0)
        nodes = sum(each.nodes for trees in self._trees.values() for each in trees)
        return {"bytes": 8 * examples * width, "nodes": nodes, "examples": examples}

    # ---- files ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with."""
        return {"nearest": self.nearest, "grace_period": self.grace_period, "delta": self.delta}

    def body(self) -> bytes:
        """Return all examples, as JSON."""
        content = {
            "seen": [[*key, n] for key, n in sorted(self._seen.items())],
            "examples": [[*key, each] for key, each in sorted(self._examples.items())],
        }
        return json.dumps(content, separators=(",", ":")).encode()

    def restore(self, body: bytes) -> None:
        """Learn all examples again."""
        content = json.loads(body)
        for name, action, n in content["seen"]:
            self._seen[name, action] = whole_number("seen", n, 1)
        for name, action, examples in content["examples"]:
            self._check_action(action)
            pairs = [(tuple(row), tuple(map(tuple, outcomes))) for row, outcomes in examples]
            self._learn_examples((name, action), pairs)


class _Tree:
    """A tree of River, which knows outcomes by their numbers, and the list of these outcomes."""

    def __init__(self, classifier: Any):
        self._classifier = classifier
        self._codes: dict[Outcome, int] = {}

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return int(self._classifier.n_nodes or 0)

    def learn(self, x: dict[str, Any], outcome: Outcome) -> None:
        """Learn one example."""
        self._classifier.learn_one(x, self._codes.setdefault(outcome, len(self._codes)))

    def predict(self, x: dict[str, Any]) -> dict[Outcome, float]:
        """Return the probability of each outcome; of all that are possible, those above 0."""
        outcomes = list(self._codes)
        raw = {
            code: max(0.0, float(p)) for code, p in self._classifier.predict_proba_one(x).items()
        }
        total = sum(raw.values())
        if not total > 0:
            return {outcomes[0]: 1.0}
        return {outcomes[code]: p / total for code, p in raw.items() if p > 0}


class _Estimated(Product):
    """Probabilities that are not ratios of counts, and the number of examples behind them."""

    def __init__(
        self,
        state: State,
        probabilities: Mapping[Key, Mapping[Value, float]],
        support: Mapping[Key, int],
    ):
        super().__init__(state, probabilities)  # type: ignore[arg-type]
        self._support = support

    def support(self, object_id: int, attribute: str) -> int:
        """Return the number of examples behind the prediction."""
        super().support(object_id, attribute)  # raises an error if there is no such attribute
        return self._support.get((int(object_id), attribute), 0)
