"""Hypothesis strategies: schemas, and streams of transitions that hide rules to learn.

Sizes and settings are drawn, so that Hypothesis can vary and shrink them. The bulk of
a stream (hundreds of states) comes from one drawn seed. A shorter stream of the same
seed is a beginning of the longer one, so shrinking the length is meaningful.

Streams are made to be hard for a learner that is clever: few different values, so that
facts repeat; objects with equal values on purpose; numbers too far apart for tables;
levels that change; noise, for each object by itself or for all at once; rules that change
half way, so that tests must too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

from hypothesis import strategies as st

import treethink as tt
from reference import (
    BUILT_IN,
    JUMPS,
    STAYS,
    Frame,
    KeptTarget,
    Node,
    Outcome,
    ReferenceTree,
    RuleKey,
    Scene,
    Test,
    Vector,
    as_vector,
    default_frame,
    evaluated,
    frame_named,
    patterns,
    plus,
    possible_frames,
    reference,
    value_of_source,
)
from treethink import _engine

Transition = tuple[tt.State, str, tt.State]

VALUES: dict[str, Sequence[int]] = {
    "bits": (0, 1),
    "small": (-1, 0, 1, 2),
    "even": (-4, -2, 0, 2),
    "spread": (-1000, 7, 90_000),
    "huge": (-(2**40), -(2**40) + 1, 0, 2**40),
    "digits": tuple(range(10)),
    "growing": (0, 1, 2),
    "fresh": (0, 1),
}
"""What the components of vectors are taken from; see `random_value` for the last two."""

MEMORIES: dict[str, st.SearchStrategy[int]] = {
    "none": st.just(0),
    "short": st.integers(1, 20),
    "long": st.sampled_from([1000, 100, 40]),
}
"""How many transitions are kept: so few that most are forgotten, or most of them."""
FEW = st.integers(24, 36)
"""As many as it takes to choose a frame of rules that have not learned from more."""

TURN = 25
"""Transitions in which chance is shared, and as many in which it is not, by turns."""


@dataclass(frozen=True)
class Shape:
    """What kind of stream to make."""

    seed: int
    length: int = 100
    values: str = "small"
    objects: int = 3
    """The most objects of one class."""
    episode: int = 5
    """Transitions until a new level with other objects."""
    depth: int = 1
    """Of the hidden rules."""
    noise: float = 0.0
    shared: str = "never"
    """Whether chance falls once for all objects of a transition: never, always, by turns."""
    switch: str = "none"
    """What the hidden rules become at `switch_at`: none, other, coin, constant; or settled, and
    they were a coin before."""
    switch_at: int = 60
    alike: int = 0
    """Transitions in which all values of an object are the same number: so many tests are one."""
    across: bool = False
    """Whether hidden rules compare two attributes where some are comparable."""
    ordered: bool = False
    """Whether the hidden rules are about order and thresholds."""
    framed: str = ""
    """The kind of frame that hidden rules have, if it is possible; empty: the default."""
    alone: int = 0
    """Transitions in which there is one object of each class; after that, as many as come."""
    exclusive: bool = False
    """Whether hidden rules are the exclusive or of two tests, which takes a look-ahead."""


@dataclass(frozen=True)
class Stream:
    """A schema, a learner's settings and the transitions to learn from."""

    schema: tt.Schema
    settings: dict[str, Any]
    shape: Shape

    @cached_property
    def transitions(self) -> list[Transition]:
        return list(transitions(self.schema, self.shape))


# --- drawn -------------------------------------------------------------------------


@st.composite
def attributes(draw: st.DrawFn, kinds: Sequence[str] = BUILT_IN) -> tt.Attribute:
    every = tuple(kinds)
    some = st.lists(st.sampled_from(kinds), unique=True).map(tuple)
    facts = draw(some if draw(st.sampled_from([False, False, False, True])) else st.just(every))
    outcomes = draw(st.sampled_from(["auto", "auto", "change", "value"]))
    length = draw(st.integers(1, 3))
    return tt.Attribute(length, facts=fitting(facts, length), outcomes=outcomes)


def fitting(facts: Sequence[str], length: int) -> tuple[str, ...]:
    """The kinds of fact that values of this length can take part in."""
    return tuple(kind for kind in facts if _engine.kind_fits(kind, length, symbolic=False))


@st.composite
def schemas(
    draw: st.DrawFn,
    kinds: Sequence[str] = BUILT_IN,
    units: bool = False,
    presets: bool = False,
    common: bool = False,
) -> tt.Schema:
    """One to three classes; attributes that several of them share, or only one has.

    With `units`, attributes may be like others. With `common`, three classes have one attribute,
    which takes part in all kinds of fact. With `presets`, some are names of a category (which
    may be like each other), flags, or derived; use at most one of the two.
    """
    names = ["place", "color", "mood"][: draw(st.integers(1 + units, 3))]
    owned = st.lists(st.sampled_from(names), min_size=1, unique=True)
    classes = {name: draw(owned) for name in ["walker", "stone", "lamp"][: draw(st.integers(1, 3))]}
    used = {name: draw(attributes(kinds)) for name in names}
    if common:
        every = ["walker", "stone", "lamp"]
        classes = {name: [*dict.fromkeys(["place", *draw(owned)])] for name in every}
        length = draw(st.sampled_from([2, 1, 2]))
        used["place"] = tt.Attribute(length, fitting(kinds, length), used["place"].outcomes)
    for i, name in enumerate(names):
        if units and i > 0 and draw(st.sampled_from([True, True, True, False])):
            used[name] = alike(used[name], draw(st.sampled_from(names[:i])), used)
    if not presets:
        return tt.Schema(classes=classes, attributes=used, actions=["go", "wait"])
    symbolic = st.sampled_from([None, None, tt.Category(COLORS), tt.Flag()])
    used = {name: draw(symbolic) or each for name, each in used.items()}
    categories = [name for name, each in used.items() if each.names]
    for one, other in pairwise(categories):
        used[other] = tt.Category(COLORS, like=draw(st.sampled_from([None, one])))
    if draw(st.booleans()):
        used["even"] = tt.Derived(is_even)
        classes = {name: [*own, "even"] for name, own in classes.items()}
    return tt.Schema(classes=classes, attributes=used, actions=["go", "wait"])


@st.composite
def framed_schemas(draw: st.DrawFn) -> tt.Schema:
    """Two or three classes; attributes of one length, so that each may be the source of others.

    Some are like others, or names, or flags; some are fixed to changes or to new values.
    """
    length = draw(st.integers(1, 2))
    form = st.sampled_from(["auto", "auto", "auto", "change", "value"])
    some = {name: draw(form) for name in ("place", "color", "mood")}
    used = {name: tt.Attribute(length, outcomes=outcomes) for name, outcomes in some.items()}
    if draw(st.booleans()):
        used["color"] = tt.Attribute(length, outcomes=draw(form), like="place")
    symbols: list[tt.Attribute | None] = [None, None, tt.Flag(), tt.Category(COLORS)]
    used["mood"] = draw(st.sampled_from(symbols)) or used["mood"]
    if used["mood"].names and draw(st.booleans()):
        used["color"] = tt.Category(COLORS, like="mood")
    owned = st.lists(st.sampled_from([*used]), min_size=1, unique=True)
    classes = {"walker": [*used], "stone": draw(owned)}
    if draw(st.booleans()):
        classes["lamp"] = draw(owned)
    return tt.Schema(classes=classes, attributes=used, actions=["go", "wait"])


def alike(attribute: tt.Attribute, name: str, others: dict[str, tt.Attribute]) -> tt.Attribute:
    """The attribute, in the unit of another one."""
    length = others[name].length
    facts = fitting(attribute.facts, length)
    return tt.Attribute(length, facts, attribute.outcomes, like=name)


COLORS = ["red", "ice blue", "yes"]


def is_even(state: tt.State, each: tt.Object) -> bool:
    """A derived attribute: whether all the numbers of an object sum up to an even one."""
    numbers = state.schema.numbers(each)
    return sum(sum(as_vector(numbers[m])) for m in numbers if m != "even") % 2 == 0


def possible(attribute: tt.Attribute, value: Vector) -> Vector:
    """The value, as one of the numbers of the names or of a flag if there are any."""
    if not attribute.is_symbolic:
        return value
    return (value[0] % len(attribute.names or (False, True)),)


def settings_of_learner(
    criteria: Sequence[str] = ("wilson",), memories: Sequence[str] = ("none",)
) -> st.SearchStrategy[dict[str, Any]]:
    """Alpha is often large, for quick and wrong decisions that are taken back."""
    return st.fixed_dictionaries(
        {
            "criterion": st.sampled_from(criteria),
            "memory": st.sampled_from(memories).flatmap(
                lambda name: {**MEMORIES, "few": FEW}[name]
            ),
            "alpha": st.sampled_from([0.5, 0.9, 0.5, 0.4, 0.9, 0.2, 0.05, 0.01]),
            "branch_updates": st.sampled_from([True, True, True, False]),
            "max_candidates": st.sampled_from([100_000, 100_000, 300, 40, 12, 3]),
        }
    )


def settings_of_careful_learner(
    criteria: Sequence[str],
) -> st.SearchStrategy[dict[str, Any]]:
    """A small alpha, so that leaves stay mixed until there is a reason to split them."""
    return st.fixed_dictionaries(
        {
            "criterion": st.sampled_from(criteria),
            "memory": st.sampled_from([1000, 120]),
            "alpha": st.sampled_from([0.1, 0.05, 0.01]),
            "max_candidates": st.sampled_from([100_000, 100_000, 40]),
        }
    )


def shapes() -> st.SearchStrategy[Shape]:
    """All kinds of streams."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.sampled_from([200, 150, 100]) | st.integers(40, 200),
        values=st.sampled_from([name for name in VALUES if name != "digits"]),
        objects=st.sampled_from([3, 2, 1, 3, 4, 5]),
        episode=st.integers(1, 12),
        depth=st.integers(1, 2),
        noise=st.sampled_from([0.0, 0.0, 0.1, 0.3]),
        shared=st.sampled_from(["never", "never", "always", "by turns"]),
        switch=st.sampled_from(["none", "other", "coin", "constant", "settled"]),
        switch_at=st.integers(20, 100),
    )


def restless_shapes(across: bool = False) -> st.SearchStrategy[Shape]:
    """Streams whose rules are found soon and then change: for learners that are hard to move."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.sampled_from([250, 200]),
        values=st.sampled_from(["bits", "small"]),
        objects=st.sampled_from([3, 4, 2]),
        episode=st.integers(1, 3),
        depth=st.integers(1, 2),
        noise=st.sampled_from([0.0, 0.0, 0.1]),
        switch=st.sampled_from(["other", "other", "coin"]),
        switch_at=st.integers(15, 60),
        across=st.just(across),
    )


def mistaken_shapes(across: bool = False) -> st.SearchStrategy[Shape]:
    """Streams in which tests that will prove wrong are as good as the right ones at first."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.just(250),
        values=st.sampled_from(["bits", "small"]),
        objects=st.integers(1, 3),
        episode=st.just(1),
        depth=st.integers(1, 2),
        alike=st.integers(20, 60),
        across=st.just(across),
    )


def crowded_shapes() -> st.SearchStrategy[Shape]:
    """Streams of many objects that share their fate, now and then or always."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.sampled_from([250, 200]),
        values=st.sampled_from(["bits", "small"]),
        objects=st.sampled_from([4, 5, 3]),
        episode=st.integers(1, 3),
        depth=st.integers(1, 2),
        noise=st.sampled_from([0.1, 0.3, 0.5]),
        shared=st.sampled_from(["by turns", "by turns", "always"]),
        switch=st.sampled_from(["settled", "other", "none", "coin"]),
        switch_at=st.integers(15, 60),
    )


def ordered_shapes() -> st.SearchStrategy[Shape]:
    """Streams whose rules are about order and thresholds, and may change."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.sampled_from([150, 120]),
        values=st.sampled_from(["digits", "digits", "small", "spread"]),
        objects=st.sampled_from([2, 3, 1]),
        episode=st.integers(1, 3),
        depth=st.integers(1, 2),
        noise=st.sampled_from([0.0, 0.0, 0.1]),
        switch=st.sampled_from(["none", "other", "coin"]),
        switch_at=st.integers(60, 100),
        ordered=st.just(True),
    )


def exclusive_shapes() -> st.SearchStrategy[Shape]:
    """Streams whose rules are found by looking two tests deep, if at all."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.just(180),
        values=st.sampled_from(["bits", "bits", "small"]),
        objects=st.just(2),
        episode=st.just(1),
        noise=st.sampled_from([0.1, 0.0, 0.3]),
        switch=st.sampled_from(["none", "none", "other"]),
        switch_at=st.integers(80, 120),
        exclusive=st.just(True),
    )


def framed_shapes(
    kinds: Sequence[str] = ("own", "copy", "value", "copy", "own", "copy"), noise: float = 0.05
) -> st.SearchStrategy[Shape]:
    """Streams whose rules have frames to be found, which may be lost again later."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.sampled_from([120, 90]),
        values=st.sampled_from(["digits", "small", "digits", "spread"]),
        objects=st.just(2),
        episode=st.integers(1, 2),
        depth=st.just(1),
        noise=st.sampled_from([0.0, 0.0, noise]),
        switch=st.sampled_from(["none", "none", "other"]),
        switch_at=st.integers(50, 70),
        framed=st.sampled_from(kinds),
        alone=st.sampled_from([1000, 60, 80]),
    )


def explained_shapes() -> st.SearchStrategy[Shape]:
    """Streams in which everything can be explained, and soon is: not always in the best way."""
    return st.builds(
        Shape,
        seed=st.integers(0, 2**32),
        length=st.just(200),
        values=st.just("bits"),
        objects=st.just(3),
        episode=st.integers(1, 3),
        depth=st.just(2),
    )


@st.composite
def streams(
    draw: st.DrawFn,
    kinds: Sequence[str] = BUILT_IN,
    criteria: Sequence[str] = ("wilson",),
    memories: Sequence[str] = ("none",),
    mostly: st.SearchStrategy[Shape] | None = None,
    units: bool = False,
    presets: bool = False,
    framed: bool = False,
    careful: bool = False,
    common: bool = False,
) -> Stream:
    """Schema, settings and transitions.

    `kinds` are those that attributes may list; `criteria` and `memories` (names of MEMORIES)
    those that a learner may have. Two thirds of the streams are of shapes that are given. With
    `units`, attributes may be like others; with `framed`, they are made to be told by each other;
    with `common`, all classes have one in common.
    With `careful`, the learner has a memory and decides late.
    """
    mostly = shapes() if mostly is None else mostly
    shape = st.one_of(mostly, mostly, mostly if framed or careful else shapes())
    learner = settings_of_learner(criteria, memories)
    return Stream(
        draw(framed_schemas() if framed else schemas(kinds, units, presets, common)),
        draw(settings_of_careful_learner(criteria) if careful else learner),
        draw(shape),
    )


# --- made from a seed --------------------------------------------------------------


def random_state(rng: random.Random, schema: tt.Schema, shape: Shape, step: int = 0) -> tt.State:
    """Objects of every class, some of them equal in all but their ids."""
    alone = step < shape.alone
    counts = {name: 1 if alone else rng.randint(0, shape.objects) for name in schema.classes}
    counts[next(iter(counts))] += not any(counts.values())
    ids = rng.sample(range(-9, 99), sum(counts.values()))
    objects: list[tt.Object] = []
    for name, count in counts.items():
        values: dict[str, Vector] = {}
        for _ in range(count):
            if not values or rng.random() < 0.7:
                lengths = {m: schema.attributes[m].length for m in schema.predicted(name)}
                values = {m: random_value(rng, shape, n, step) for m, n in lengths.items()}
                if 0 < step < shape.alike:
                    only = rng.choice(VALUES[shape.values])
                    values = {m: (only,) * n for m, n in lengths.items()}
                values = {m: possible(schema.attributes[m], each) for m, each in values.items()}
            objects.append(tt.Object(ids.pop(), name, **values))
    return tt.State(schema, objects)


def random_value(rng: random.Random, shape: Shape, length: int, step: int) -> Vector:
    """Few values, as a rule; or now and then one farther out than any before; or new ones."""
    value = rng.choices(VALUES[shape.values], k=length)
    if shape.values == "growing" and rng.random() < 0.1:
        value[-1] = rng.randint(-step * step, step * step)
    if shape.values == "fresh" and rng.random() < 0.7:
        value[-1] = rng.randint(-(10**9), 10**9)
    return tuple(value)


def random_tree(
    rng: random.Random,
    class_name: str,
    scenes: Iterable[Scene],
    depth: int,
    across: bool = False,
    ordered: bool = False,
) -> ReferenceTree:
    """A tree whose tests say something about the scenes: true here, false there.

    `across`: tests of two attributes are preferred, and of those the ones within one object.
    `ordered`: tests of the kinds that are not counted are preferred.
    """
    tree = ReferenceTree([class_name])
    leaves = [tree.root]
    for _ in range(2**depth - 1):
        leaf = leaves.pop(0)
        tests = (ordered and telling_tests(tree, leaf, scenes, counted=False)) or telling_tests(
            tree, leaf, scenes
        )
        if across:
            two = [test for test in tests if len(set(test.attributes)) == 2]
            tests = [test for test in two if len(test.classes) == 1] or two or tests
        if tests:
            leaf.become_branch(rng.choice(tests))
            assert leaf.left and leaf.right
            leaves += [leaf.left, leaf.right]
        if not leaves:
            break
    return tree


def telling_tests(
    tree: ReferenceTree, leaf: Node, scenes: Iterable[Scene], counted: bool = True
) -> list[Test]:
    """Tests that are true for some, but not all, of the targets that reach the leaf."""
    true: Counter[Test] = Counter()
    reached: list[KeptTarget] = []
    targets = 0
    for scene in scenes:
        for x in scene.of_class(tree.root.variables[0]):
            node, bindings = tree.route(scene, (x,))[-1]
            if node is leaf:
                targets += 1
                if counted:
                    true.update(scene.true_tests(bindings))
                else:
                    reached.append(KeptTarget(scene, scene, bindings, ()))
    if reached:
        for pattern in patterns(scene, leaf.variables, counted=False):
            true.update({t: n.bit_count() for t, n in evaluated(pattern, reached).items()})
    return sorted(test for test, n in true.items() if 0.25 <= n / targets <= 0.75)


def exclusive_tree(rng: random.Random, class_name: str, scenes: list[Scene]) -> ReferenceTree:
    """A tree that asks the same test on both sides of another one."""
    tree = random_tree(rng, class_name, scenes, depth=1)
    first, left, right = tree.root, tree.root.left, tree.root.right
    if not (left and right):
        return tree
    n, more = len(first.variables), len(left.variables) - len(first.variables)
    tests = [each for each in telling_tests(tree, right, scenes) if each != first.test]
    if tests:
        test = rng.choice(tests)
        slots = tuple(slot if slot < n else slot + more for slot in test.slots)
        left.become_branch(test._replace(slots=slots))
        right.become_branch(test)
    return tree


MISSING = object()


class HiddenRule:
    """What decides an outcome: a random tree with an outcome at each leaf, and noise."""

    def __init__(
        self, rng: random.Random, tree: ReferenceTree, frame: Frame, choices: list[Outcome]
    ):
        self.rng = rng
        self.tree = tree
        self.frame = frame
        self.choices = choices
        self.behaviour = "none"

    def by_chance(self, noise: float) -> Outcome | object:
        """The outcome, if the state does not matter this time, or else `MISSING`."""
        if self.behaviour == "constant":
            return self.choices[0]
        if self.behaviour == "coin" or self.rng.random() < noise:
            return self.rng.choice(self.choices)
        return MISSING

    def outcome(self, scene: Scene, x: int) -> Outcome:
        path = self.tree.route(scene, (x,))[-1][0].path
        return self.choices[path.count("R") % len(self.choices)]


def transitions(schema: tt.Schema, shape: Shape) -> Iterable[Transition]:
    """A stream in which one or two attributes follow hidden rules; the rest never vary."""
    rng = random.Random(shape.seed)
    scenes = [Scene(random_state(rng, schema, shape)) for _ in range(24)]
    rules = hidden_rules(rng, schema, shape, scenes)
    if shape.switch == "settled":
        for rule in rules.values():
            rule.behaviour = "coin"
    state = random_state(rng, schema, shape)
    for step in range(shape.length):
        if step == shape.switch_at and shape.switch == "other":
            rules = hidden_rules(rng, schema, shape, scenes, rules)
        elif step == shape.switch_at:
            for rule in rules.values():
                rule.behaviour = shape.switch
        if step % shape.episode == 0:
            state = random_state(rng, schema, shape, step)
        action = rng.choice(["go", "go", "go", "wait"])
        shared = shape.shared == "always" or (shape.shared == "by turns" and step // TURN % 2 == 1)
        after = state.replace_many(changes(schema, shape, rules, state, action, shared))
        yield state, action, after
        state = after if rng.random() < 0.9 else random_state(rng, schema, shape, step)


def with_feedback(transitions: Iterable[Transition], rng: random.Random) -> Iterator[Any]:
    """Transitions with rewards and ends that depend on tests, by chance, or are not known."""
    rewards = rng.sample([-1.0, -0.25, 0.0, 1e300, 5e-324, -3.5, 2.0], 3)
    known, chance = rng.choice([0.5, 0.9, 1.0]), rng.choice([0.0, 0.0, 0.1])
    asked: list[Test] = []
    for before, action, after in transitions:
        true = Scene(before).true_tests([()])
        while len(asked) < 2 and true:
            asked.append(rng.choice(sorted(true)))
        first, second = (*(test in true for test in asked), False, False)[:2]
        reward = rewards[first + (first and second)]
        reward = rng.choice(rewards) if rng.random() < chance else reward
        terminated = (second and not first) ^ (rng.random() < chance)
        given = (each if rng.random() < known else None for each in (reward, terminated))
        yield before, action, after, *given


def hidden_rules(
    rng: random.Random,
    schema: tt.Schema,
    shape: Shape,
    scenes: list[Scene],
    same: Iterable[RuleKey] | None = None,
) -> dict[RuleKey, HiddenRule]:
    """Rules for one or two random attributes, or for the `same` ones as before."""
    slots = [(name, m) for name in schema.classes for m in schema.predicted(name)]
    chosen = rng.sample(slots, min(len(slots), rng.randint(1, 2)))
    keys = [(*slot, action) for slot in chosen for action in schema.actions]
    rules = {}
    for key in same or keys:
        tree = random_tree(rng, key[0], scenes, shape.depth, shape.across, shape.ordered)
        if shape.exclusive:
            tree = exclusive_tree(rng, key[0], scenes)
        frame = random_frame(rng, schema, shape, key)
        choices = random_outcomes(rng, schema, shape, key[1], frame)
        rules[key] = HiddenRule(rng, tree, frame, choices[:2] if shape.exclusive else choices)
    return rules


def random_frame(rng: random.Random, schema: tt.Schema, shape: Shape, rule: RuleKey) -> Frame:
    """The frame in which the outcomes of a hidden rule are told."""
    class_name, attribute, _ = rule
    if not shape.framed:
        return default_frame(schema.attributes[attribute], plain=True)
    frames = possible_frames(schema, class_name, attribute)
    wanted = [each for each in frames if frame_named(each, class_name)[0] == shape.framed]
    return rng.choice(wanted or frames)


def random_outcomes(
    rng: random.Random, schema: tt.Schema, shape: Shape, attribute: str, frame: Frame
) -> list[Outcome]:
    """Two to four different outcomes; in frames that have it, one of them is `STAYS` or `JUMPS`.

    Where a frame is to be found that has no `STAYS`, it may be a single one: that is when such a
    frame is the shortest.
    """
    kind = schema.attributes[attribute]
    is_value = not frame.adds and frame.source is None
    components = VALUES[shape.values] if is_value else (-1, 0, 1)
    every: Iterable[Vector] = product(components, repeat=kind.length)
    choices = list(dict.fromkeys(possible(kind, each) for each in every))
    if kind.is_symbolic and frame.source is not None:
        choices = [(0,)]
    few = 2 if shape.framed else 4
    fewest = 1 if shape.framed and not frame.stays else 2
    chosen = rng.sample(choices, min(len(choices), rng.randint(fewest, few)))
    if frame.jumps:
        return [JUMPS, *chosen[:2]]
    return [STAYS, *chosen[:2]] if frame.stays else [*chosen]


def changes(
    schema: tt.Schema,
    shape: Shape,
    rules: dict[RuleKey, HiddenRule],
    state: tt.State,
    action: str,
    shared: bool,
) -> dict[int, dict[str, Vector]]:
    """What the rules do to the objects of a state; `shared`: chance does the same to all."""
    scene = Scene(state)
    changed: dict[int, dict[str, Vector]] = {}
    for (class_name, attribute, for_action), rule in rules.items():
        fate = rule.by_chance(shape.noise) if shared else MISSING
        for x in scene.of_class(class_name) if for_action == action else ():
            if not shared:
                fate = rule.by_chance(shape.noise)
            outcome = rule.outcome(scene, x) if fate is MISSING else fate
            value = value_told(scene, rule.frame, x, attribute, outcome)
            changed.setdefault(x, {})[attribute] = value
    return changed


def value_told(scene: Scene, frame: Frame, x: int, attribute: str, outcome: Outcome) -> Vector:
    """The value that an outcome leads to; without a reference, one that the frame cannot tell."""
    now = scene.values[x][attribute]
    if outcome is None:
        jumped = value_of_source(scene, frame, x) if frame.jumps else None
        return now if jumped is None else jumped
    start = reference(scene, frame, x, attribute)
    if start is not None:
        return plus(start, outcome)
    return possible(scene.schema.attributes[attribute], tuple(each + 1 for each in now))
