"""The learners of examples: memoriser, nearest neighbours, River's Hoeffding trees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from treethink.baselines import LEARNERS, make_learner
from treethink.baselines.object_features import ObjectFeatures
from treethink.baselines.prediction import Product
from treethink.errors import MissingPackageError, ModelFileError
from treethink.metrics import score_states
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

NAMES = ("memoriser", "knn", "hoeffding")


def trained(name: str, world: Any, steps: int, **settings: Any) -> Any:
    learner = make_learner(name, world, **settings)
    for step in transitions(world, steps, seed=0):
        learner.observe(*step)
    return learner


def accuracy(learner: Any, world: Any, seed: int, steps: int = 300) -> float:
    triples = (
        (b, learner.predict(b, action).mode(), a)
        for b, action, a, *_ in transitions(world, steps, seed)
    )
    share = score_states(triples).changing_accuracy
    assert share is not None
    return share


def test_the_memoriser_knows_what_it_has_seen_and_nothing_else() -> None:
    world = make("walls")
    learner = trained("memoriser", world, 300)
    assert accuracy(learner, world, seed=0) == 1.0  # the stream that it was shown
    seen = {(b, action) for b, action, *_ in transitions(world, 300, 0)}
    for before, action, *_ in transitions(world, 200, 7):
        prediction = learner.predict(before, action)
        assert (before, action) in seen or prediction.mode() == before


def test_the_memoriser_counts_what_chance_did() -> None:
    world = make("fish", width=4, height=4)
    state = world.reset(0)
    action = world.actions[0]
    learner = make_learner("memoriser", world)
    afters = [world.step(state, action, world.generator(seed)) for seed in range(60)]
    for after in afters:
        learner.observe(state, action, after)
    prediction = learner.predict(state, action)
    for each in state:
        for name in world.schema.predicted(each.class_name):
            counts = Counter(after.value(each.id, name) for after in afters)
            assert prediction.outcomes(each.id, name) == pytest.approx(
                {value: n / 60 for value, n in counts.items()}
            )


@pytest.mark.parametrize("name", ["knn", "hoeffding"])
def test_features_let_a_learner_generalise(name: str) -> None:
    world = make("walls")
    learner = trained(name, world, 2_000)
    assert accuracy(learner, world, seed=77) > 0.5
    assert accuracy(trained("memoriser", world, 2_000), world, seed=77) < 0.1


def test_nearest_neighbours_are_those_of_sorting_all_examples() -> None:
    """The slow definition, with one transition of one object in each step."""
    schema = Schema({"cart": ["pos", "on"]}, {"pos": 1, "on": 1}, ["go"])
    learner = LEARNERS["knn"](schema, k=3, nearest=1)

    def cart(pos: int, on: int) -> State:
        return State(schema, [Object(0, "cart", pos=pos, on=on)])

    steps = [(x * 7 % 11, x % 2, x * 5 % 3) for x in range(1, 40)]
    for pos, on, by in steps:
        learner.observe(cart(pos, on), "go", cart(pos + by, on))
    first = next(i for i, (_, _, by) in enumerate(steps) if by)  # nothing is kept before a change
    for pos in range(12):
        for on in (0, 1):
            kept = list(enumerate(steps))[first:]
            kept.sort(key=lambda each: (
                min(abs(each[1][0] - pos), 8) + min(abs(each[1][1] - on), 8), -each[0],
            ))  # fmt: skip
            votes = Counter(pos + by for _, (_, _, by) in kept[:3])
            prediction: Product = learner.predict(cart(pos, on), "go")
            assert prediction.outcomes(0, "pos") == pytest.approx(
                {value: n / 3 for value, n in votes.items()}
            )


@pytest.mark.parametrize("large", [2**40, 2**62 + 2**61])
def test_nearest_neighbours_of_large_numbers_are_the_nearest(large: int) -> None:
    """The examples are 32-bit numbers until one is larger; differences may need more than 64."""
    schema = Schema({"cart": ["pos", "by"]}, {"pos": 1, "by": 1}, ["go"])
    learner = LEARNERS["knn"](schema, k=1, nearest=1)

    def cart(pos: int, by: int = 0) -> State:
        return State(schema, [Object(0, "cart", pos=pos, by=by)])

    def told(pos: int) -> int:
        return learner.predict(cart(pos), "go").mode()[0].by

    places = {3: 7, -large: 1, large: 2, large + 5: 3, 0: 4}
    for pos, by in places.items():
        learner.observe(cart(pos), "go", cart(pos, by))
        assert told(pos) == by
    asked = {-large + 2: 1, large - 1: 2, large + 1: 2, large + 4: 3, large + 9: 3, 1: 4, 2: 7}
    assert {pos: told(pos) for pos in asked} == asked


def test_features_do_not_depend_on_where_things_are() -> None:
    schema = Schema({"cart": ["pos"], "wall": ["pos"]}, {"pos": 2}, ["go"])
    features = ObjectFeatures(schema, nearest=2)

    def row(x: int, ids: tuple[int, ...]) -> tuple[int | None, ...]:
        cells = [(x + 1, 5), (x, 3), (x + 9, 9)]
        walls = [Object(i, "wall", pos=cell) for i, cell in zip(ids, cells, strict=True)]
        state = State(schema, [Object(50, "cart", pos=(x, 5)), *walls])
        return dict(features.rows(state, "cart"))[50]

    assert row(3, (1, 2, 3)) == (3, 5, None, None, None, None, 1, 0, 0, -2)
    assert row(3, (3, 1, 2)) == row(3, (1, 2, 3))
    assert row(8, (1, 2, 3))[2:] == row(3, (1, 2, 3))[2:]
    assert len(features.names("cart")) == len(row(3, (1, 2, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_refused(name: str, tmp_path: Any) -> None:
    world = make("walls", width=4, height=4)
    learner = trained(name, world, 30)
    learner.body = lambda: b'{"seen": [["player"]]}'
    learner.save(tmp_path / "damaged")
    with pytest.raises(ModelFileError):
        LEARNERS[name].load(tmp_path / "damaged")


def test_without_river_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(MissingPackageError, match=r"needs River.*\.\[river\]"):
        make_learner("hoeffding", make("walls"))
