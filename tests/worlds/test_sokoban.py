"""Sokoban: levels that can be solved, level files, and situations put together at random."""

from __future__ import annotations

import pickle
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from treethink.checks import check_world
from treethink.errors import SceneError
from treethink.metrics import score_states
from treethink.model import TreeThink
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make
from treethink.worlds.sokoban import read_xsb

LEVELS = """; one box
#####
#@$.#
#####

A title, and then a level whose rows differ in length
  ####
###  #
#. $@#
#  *##
####
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "levels.xsb"
    file.write_text(LEVELS)
    return str(file)


def solution(world: World, start: State, most: int = 20_000) -> list[str] | None:
    """Search breadth-first for actions that solve a level."""
    waiting, seen = deque([(start, ())]), {start}
    while waiting and len(seen) < most:
        state, actions = waiting.popleft()
        for action in world.actions:
            after = world.distribution(state, action)[0][0]
            if world.is_over(after):
                return [*actions, action]
            if after not in seen:
                seen.add(after)
                waiting.append((after, (*actions, action)))  # type: ignore[arg-type]
    return None


@pytest.mark.parametrize("seed", range(6))
def test_a_level_made_by_pulling_can_be_solved(seed: int) -> None:
    world = make("sokoban", width=6, height=6, boxes=2, goals=2, scored=0)
    start = world.reset(seed)
    assert world.is_over(start) or solution(world, start) is not None


def test_it_moves_as_push_does() -> None:
    world, push = make("sokoban"), make("push", boxes=6, goals=6)
    for before, action, after, *_ in transitions(world, 300, 0):
        assert push.distribution(before, action) == [(after, 1.0)]


def test_a_file_has_levels_in_the_usual_signs(path: str) -> None:
    world = make(f"sokoban:{path}", scored=0)
    one, two = world.reset(0), world.reset(1)
    assert world.reset(2) == one
    assert solution(world, one) == ["right"]
    assert {each.pos for each in two.of_class("box")} == {(3, 2), (3, 3)}
    assert {each.pos for each in two.of_class("goal")} == {(1, 2), (3, 3)}
    assert pickle.loads(pickle.dumps(world)).reset(1) == two
    check_world(world)


@pytest.mark.parametrize(
    "text, says",
    [
        ("no level here", "has no level"),
        ("#####\n# $.#\n#####", "level 1 must have one player"),
        ("#####\n#@$.#\n### #", "the player can leave it at column 3, row 3"),
        ("#####\n#@@.#\n#####", "it has 2"),
    ],
)
def test_a_bad_level_is_refused(text: str, says: str) -> None:
    with pytest.raises(SceneError, match=says):
        read_xsb(text)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(SceneError, match=r"cannot read the levels 'nowhere\.xsb': No such file"):
        make("sokoban:nowhere.xsb")


@pytest.mark.parametrize("name", ["sokoban", "push", "carry"])
def test_stress_states_are_legal_and_busier_than_play(name: str) -> None:
    world, rng = make(name), np.random.default_rng(0)
    played = [world.reset(seed) for seed in range(40)]
    stress = [world.stress_state(rng) for _ in range(40)]

    def pairs(state: State | None) -> int:
        """How many things that can move are side by side."""
        assert state is not None
        cells = [x.pos for x in state if x.class_name not in ("wall", "goal", "game")]
        return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1 for a in cells for b in cells)

    for state in stress:
        assert state is not None
        assert world.beyond_bounds(state) is None or name == "carry"  # what is carried is nowhere
        walls = {each.pos for each in state.of_class("wall")}
        assert not any(x.pos in walls for x in state if x.class_name not in ("wall", "game"))
        for action in world.actions:
            world.distribution(state, action)
    assert sum(map(pairs, stress)) > 1.2 * sum(map(pairs, played))
    assert world.stress_state(np.random.default_rng(3)) == world.stress_state(
        np.random.default_rng(3)
    )


@pytest.mark.slow
def test_sokoban_is_learned_also_for_larger_levels_and_stress() -> None:
    world, large = make("sokoban"), make("sokoban", width=16, height=16, boxes=8, goals=8)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, 20_000, 0))
    rng = np.random.default_rng(1)
    situations = [large.stress_state(rng) for _ in range(200)]
    steps = [(s, large.actions[i % 4]) for i, s in enumerate(situations)]
    scores = score_states(
        (s, model.predict(s, action).mode(), large.distribution(s, action)[0][0])
        for s, action in steps
        if s is not None
    )
    assert scores.accuracy == 1.0
