"""What the tests of exported rules share: random models, states to ask about, their answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from reference import (
    Node,
    Outcome,
    ReferenceTree,
    Scene,
    Test,
    as_vector,
    by_value,
    default_frame,
)
from small_prolog import Program
from strategies import (
    MEMORIES,
    Shape,
    Stream,
    random_outcomes,
    random_state,
    random_tree,
    schemas,
    streams,
)
from treethink.export import prolog
from treethink.model import TreeThink
from treethink.rules import Rule, RuleKey, title_of, value_of
from treethink.state import Attribute, Object, Schema, State

Answers = dict[int, dict[str, dict[Any, float]]]

quick = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def trained(draw: st.DrawFn) -> tuple[Stream, TreeThink]:
    """A stream and a model that has seen it; now and then one action never, or nothing at all."""
    units = draw(st.booleans())
    wide = {"criteria": ["evidence", "wilson"], "memories": list(MEMORIES)}
    stream = draw(streams(**wide, units=units, presets=not units))
    actions = draw(st.sampled_from([("go", "wait"), ("go", "wait"), ("go",), ()]))
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many([each for each in stream.transitions if each[1] in actions])
    return stream, model


def states_of(stream: Stream, n: int) -> list[State]:
    """States like those of the stream, and some that it has."""
    rng = random.Random(stream.shape.seed + 1)
    length = stream.shape.length
    fresh = [
        random_state(rng, stream.schema, stream.shape, rng.randrange(length)) for _ in range(n)
    ]
    return fresh + [before for before, _, _ in rng.sample(stream.transitions, n // 3)]


def answers_of(model: TreeThink, state: State, action: str) -> Answers:
    """What the engine says."""
    prediction = model.predict(state, action)
    predicted = state.schema.predicted
    return {x.id: {m: prediction.outcomes(x.id, m) for m in predicted(x.class_name)} for x in state}


def loaded(text: str) -> dict[str, Any]:
    """The names of a module that is given as text, in which nothing else is known."""
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, "exported", "exec"), names)
    return names


def proven(program: Program, state: State, action: str) -> Answers:
    """What the clauses say of a state."""
    assert program.ask(f"set_state({prolog.facts_of(state)}), Yes is 1.", "Yes") == [1]
    answers: Answers = {}
    for x in state:
        answers[x.id] = {}
        for name in state.schema.predicted(x.class_name):
            goal = f"predict({prolog.atom(action)}, {x.id}, {prolog.atom(name)}, Chances)."
            (found,) = program.ask(goal, "Chances")
            names = as_plain(state.schema.attributes[name])
            answers[x.id][name] = {names(as_value(vector)): chance for vector, chance in found}
    return answers


def as_plain(attribute: Attribute) -> Callable[[Any], Any]:
    """What people write for a value in Prolog: yes and no for a flag."""
    if attribute.kind != "flag":
        return lambda value: value
    return {"yes": True, "no": False}.__getitem__


def as_value(vector: list[int]) -> Any:
    return vector[0] if len(vector) == 1 else tuple(vector)


# --- trees as no learner would grow them ------------------------------------------------


@dataclass(frozen=True)
class Grown:
    """Random trees for every rule of a schema. It has what is read of a model to export it."""

    schema: Schema
    shape: Shape
    trees: dict[RuleKey, ReferenceTree]
    observations: int = 7
    feedback: tuple[str, ...] = ()

    @property
    def rules(self) -> dict[RuleKey, Rule]:
        return {key: as_rule(tree, self.schema, key) for key, tree in self.trees.items()}

    def states(self, n: int) -> list[State]:
        rng = random.Random(self.shape.seed + 1)
        return [random_state(rng, self.schema, self.shape) for _ in range(n)]

    def answers(self, state: State, action: str) -> Answers:
        """What the slow twin says."""
        scene = Scene(state)
        answers: dict[int, Any] = {x.id: {} for x in state}
        for x in state:
            for name in self.schema.predicted(x.class_name):
                now = x.values[name]
                counts = self.trees[x.class_name, name, action].predict(scene, (x.id,))
                total = sum(counts.values())
                answers[x.id][name] = {
                    self.after(name, now, outcome): n / total for outcome, n in counts.items()
                } or {now: 1.0}
        return answers

    def after(self, attribute: str, now: Any, outcome: tuple[int, ...]) -> Any:
        if by_value(self.schema.attributes[attribute]):
            return self.schema.attributes[attribute].decode(value_of(outcome))
        return value_of(tuple(a + b for a, b in zip(as_vector(now), outcome, strict=True)))


@st.composite
def grown(draw: st.DrawFn) -> Grown:
    """Trees of tests that say something, with counts that do not: many nodes have none."""
    units = draw(st.booleans())
    schema, depth = draw(schemas(units=units, presets=not units)), draw(st.integers(2, 4))
    values = st.sampled_from(["bits", "small", "huge"])
    shape = draw(st.builds(Shape, seed=st.integers(0, 2**32), values=values, objects=st.just(4)))
    rng = random.Random(shape.seed)
    scenes = [Scene(random_state(rng, schema, shape)) for _ in range(24)]
    trees = {}
    for class_name in schema.classes:
        for attribute in schema.predicted(class_name):
            tree = random_tree(rng, class_name, scenes, depth)
            frame = default_frame(schema.attributes[attribute], plain=True)
            choices = random_outcomes(rng, schema, shape, attribute, frame)
            count(tree, rng, choices)
            trees[class_name, attribute, "go"] = tree
            trees[class_name, attribute, "wait"] = ReferenceTree([class_name])  # never seen
    return Grown(schema, shape, trees)


def count(tree: ReferenceTree, rng: random.Random, choices: list[Outcome]) -> None:
    tree.seen.update({outcome: rng.randint(1, 9) for outcome in choices})
    tree.transitions = 1
    waiting = [tree.root]
    while waiting:
        node = waiting.pop()
        some = rng.sample(choices, rng.choice([0, 1, 1, 2]))
        node.totals.update({outcome: rng.randint(1, 9) for outcome in some})
        waiting += [node.left, node.right] if node.left and node.right else []


def as_rule(tree: ReferenceTree, schema: Schema, key: RuleKey) -> Rule:
    """The tree as the engine tells it: nodes in preorder."""
    order: list[Node] = []
    waiting = [tree.root] if tree.transitions else []
    while waiting:
        order.append(waiting.pop())
        if order[-1].left and order[-1].right:
            waiting += [order[-1].right, order[-1].left]
    place = {id(node): i for i, node in enumerate(order)}
    nodes: list[Any] = [
        (
            place.get(id(n.left)),
            place.get(id(n.right)),
            n.variables,
            dict(n.totals),
            as_tuple(n.test),
        )
        for n in order
    ]
    return Rule(title_of(key), (key[0],), tree.transitions, dict(tree.seen), nodes, key, schema)


def as_tuple(test: Test | None) -> Any:
    return None if test is None else test.dump()


ODD_NAMES = ['a "b" \\', "two\nlines", "it's", "ä\u2028\0", "class", "{x}", "X0", "two lines"]


def model_of_odd_names() -> tuple[TreeThink, list[State]]:
    """One whose classes and actions have names that no language takes, and states to ask about."""
    rng, many = random.Random(0), range(len(ODD_NAMES))
    classes = {name: ["pos", "ünïcode"] for name in ODD_NAMES}
    schema = Schema(classes, {"pos": 1, "ünïcode": 2}, ODD_NAMES)

    def scene() -> State:
        values = [{"pos": rng.randrange(2), "ünïcode": (0, rng.randrange(2))} for _ in many]
        return State(schema, [Object(i, ODD_NAMES[i], **values[i]) for i in many])

    model = TreeThink(schema, alpha=0.5)
    for _ in range(300):
        before = scene()
        after = before.replace(0, pos=before[1].pos) if before[2].pos else before
        model.observe(before, rng.choice(ODD_NAMES), after)
    assert model.n_varying > 4
    return model, [scene() for _ in range(4)]
