"""How fast the hot paths run. Correctness is asserted too: fast and wrong is wrong.

    pytest benchmarks --benchmark-only --benchmark-group-by=group

Streams are made from fixed seeds, outside the timed call; each timed call starts from fresh
states and, where it learns, from a fresh model. Keep the names of tests: their history depends
on them. `treethink bench` prints the same paths beside the paper's figures, and
`python -m benchmarks.worlds` measures every world. All workloads are defined in
`treethink.repro.bench.workloads`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from reference import ReferenceModel
from treethink.model import TreeThink
from treethink.repro.bench.workloads import (
    LEVELS,
    PREDICT_OPTIONS,
    check_walk,
    converged,
    maze_8,
    maze_32,
    play,
    questions,
    walk,
    walks,
)
from treethink.stream.transition import AnyTransition
from treethink.worlds import WORLDS as REGISTRY
from treethink.worlds import make

WORLDS = {"walls-8": make("walls"), "maze-8": maze_8(), "maze-32": maze_32()}

every_world = pytest.mark.parametrize("name", WORLDS)


@cache
def trained_model(name: str) -> TreeThink:
    """Return a model of the small world, exact in the large one too. It must not observe."""
    return converged(make(name.split("-")[0]))


def observe_each(model: Any, stream: list[AnyTransition]) -> Any:
    for before, action, after in stream:
        model.observe(before, action, after)
    return model


def observe_at_once(model: TreeThink, stream: list[AnyTransition]) -> TreeThink:
    model.observe_many(stream)
    return model


@pytest.mark.benchmark(group="observe 1,000")
@pytest.mark.parametrize("way", [observe_each, observe_at_once])
@every_world
def test_observe(benchmark: Any, name: str, way: Any) -> None:
    """With the paper's settings."""
    workload = play(WORLDS[name], steps=1_000)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (TreeThink.paper(WORLDS[name].schema), workload()), {}

    model = benchmark.pedantic(way, setup=fresh, rounds=5)
    assert model.observations == 1_000


@pytest.mark.benchmark(group="observe 10,000, defaults")
@pytest.mark.parametrize("name", ["maze", "coins", "keys"])
def test_observe_with_evidence_and_memory(benchmark: Any, name: str) -> None:
    world = make(name)
    workload = play(world, steps=10_000)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (TreeThink(world.schema), workload()), {}

    model = benchmark.pedantic(observe_at_once, setup=fresh, rounds=3)
    assert model.observations == 10_000


@pytest.mark.benchmark(group="observe 30, maze-8")
@pytest.mark.parametrize("kind", ["engine", "twin"])
def test_observe_beside_the_slow_twin(benchmark: Any, kind: str) -> None:
    """With the paper's settings: how many times as fast the engine is as its slow twin."""
    world = WORLDS["maze-8"]
    workload = play(world, steps=30)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        if kind == "twin":
            return (ReferenceModel(world.schema, criterion="wilson"), workload()), {}
        return (TreeThink.paper(world.schema), workload()), {}

    model = benchmark.pedantic(observe_each, setup=fresh, rounds=3)
    assert model.trees if kind == "twin" else model.observations == 30


@pytest.mark.benchmark(group="predict 100")
@pytest.mark.parametrize("setting", PREDICT_OPTIONS)
@every_world
def test_predict(benchmark: Any, name: str, setting: str) -> None:
    model, how = trained_model(name), PREDICT_OPTIONS[setting]
    workload = questions(WORLDS[name], 100)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (workload(),), {}

    def predict(stream: list[AnyTransition]) -> list[Any]:
        return [model.predict(before, action, **how).mode() for before, action, _ in stream]

    modes = benchmark.pedantic(predict, setup=fresh, rounds=5)
    assert modes == [after for _, _, after in workload()]


@pytest.mark.benchmark(group="levels")
@every_world
def test_make_a_level(benchmark: Any, name: str) -> None:
    world = WORLDS[name]
    assert benchmark(world.reset, 0) == world.reset(0)


@pytest.mark.benchmark(group="steps of worlds, 1,000")
@pytest.mark.parametrize("name", REGISTRY)
def test_step(benchmark: Any, name: str) -> None:
    world = make(name)

    def fresh() -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (world, walks(world)), {}

    check_walk(world, benchmark.pedantic(walk, setup=fresh, rounds=5))


@pytest.mark.benchmark(group="levels of worlds, 20")
@pytest.mark.parametrize("name", REGISTRY)
def test_make_levels(benchmark: Any, name: str) -> None:
    world = make(name)
    levels = benchmark(lambda: [world.reset(seed) for seed in range(LEVELS)])
    assert levels == [state for state, _ in walks(world)]
