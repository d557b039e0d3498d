"""RWARE as a world: the package's own steps, from any state."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from treethink.checks import check_world
from treethink.errors import MissingPackageError, SettingError, StateError, UnknownNameError
from treethink.state import State
from treethink.stream.random_play import transitions
from treethink.worlds import World, make, mixed
from treethink.worlds.gym.warehouse import COMMANDS, GO, HEADINGS, known_ids, summary

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("rware")

IDS = ("tiny-2ag", "tiny-4ag")


def the_package(warehouse: str, seed: int) -> Any:
    env: Any = gymnasium.make(f"rware-{warehouse}-v2", disable_env_checker=True).unwrapped
    env.reset(seed=seed)
    return env


def describes(state: State, env: Any) -> bool:
    """Whether the state is that of the environment."""
    robots = [
        (r.pos, r.heading, r.loaded)
        for r in sorted(state.of_class("robot"), key=lambda each: each.number)
    ]
    agents = [((a.x, a.y), HEADINGS[a.dir.value], a.carrying_shelf is not None) for a in env.agents]
    shelves = [(s.pos, s.requested) for s in state.of_class("shelf")]
    return robots == agents and shelves == [
        ((s.x, s.y), s in env.request_queue) for s in env.shelfs
    ]


def commanded(state: State, commands: list[str]) -> State:
    robots = sorted(state.of_class("robot"), key=lambda each: each.number)
    told = zip(robots, commands, strict=True)
    return state.replace_many({each.id: {"command": command} for each, command in told})


@pytest.mark.parametrize("warehouse", IDS)
def test_a_state_goes_on_as_the_package_does(warehouse: str) -> None:
    """The package plays by itself, with memory; the world is asked about each state afresh."""
    world, rng = make(f"rware:{warehouse}"), np.random.default_rng(0)
    for seed in range(3):
        env, state = the_package(warehouse, seed), world.reset(seed)
        assert describes(state, env)
        for _ in range(200):
            commands = [
                int(c) for c in rng.choice(5, size=env.n_agents, p=[0.1, 0.5, 0.1, 0.1, 0.2])
            ]
            env.step(commands)
            state = commanded(state, [COMMANDS[c] for c in commands])
            outcomes = world.distribution(state, GO)
            state = next(after for after, _ in outcomes if describes(after, env))


@pytest.mark.parametrize("name", ["rware:tiny-2ag", "rware-joint:tiny-2ag"])
def test_it_keeps_what_every_world_promises(name: str) -> None:
    check_world(make(name))


def test_joint_actions_and_commands_told_one_by_one_are_the_same_moves() -> None:
    joint, told = make("rware-joint:tiny-2ag"), make("rware:tiny-2ag")
    rng = np.random.default_rng(1)
    for before, action, after, *_ in transitions(joint, 200, 0):
        state = State(told.schema, [_with_turn(each) for each in before])
        for command in action.split("+"):
            state = told.step(state, command, rng)
        state = told.step(state, GO, rng)
        for each in after:
            assert all(state.value(each.id, n) == v for n, v in each.values.items())


def _with_turn(each: Any) -> Any:
    if each.class_name != "robot":
        return each
    return type(each)(each.id, "robot", **each.values, command="wait", told=each.number == 1)


def delivering(world: World) -> State:
    """A state in which the first robot is about to deliver a requested shelf."""
    state = world.reset(0)
    goal, shelf = state.of_class("goal")[0], state.find("shelf", requested=True)[0]
    robots = sorted(state.of_class("robot"), key=lambda each: each.number)
    above = goal.pos[0], goal.pos[1] - 1
    values: dict[str, Any] = {"pos": above, "heading": (0, 1), "loaded": True, "command": "forward"}
    away: dict[str, Any] = {"pos": (0, 0), "loaded": False}
    return state.replace_many({robots[0].id: values, shelf.id: {"pos": above}, robots[1].id: away})


def test_a_delivery_is_rewarded_and_requests_another_shelf_by_chance() -> None:
    world = make("rware:tiny-2ag")
    state = delivering(world)
    waiting = set(state.find("shelf", requested=False))
    outcomes = world.distribution(state, GO)
    assert len(outcomes) == len(waiting)
    assert sum(chance for _, chance in outcomes) == pytest.approx(1.0)
    for after, chance in outcomes:
        assert chance == pytest.approx(1 / len(waiting))
        assert world.reward(state, GO, after) == 1.0
        assert len(after.find("shelf", requested=True)) == len(state.find("shelf", requested=True))
    assert world.step(state, GO, np.random.default_rng(0)) in dict(outcomes)


def test_stress_states_are_states_of_the_package() -> None:
    world, rng = make("rware:tiny-4ag"), np.random.default_rng(0)
    loaded = moved = 0
    for _ in range(100):
        state = world.stress_state(rng)
        assert state is not None
        assert world.beyond_bounds(state) is None
        shelves = [each.pos for each in state.of_class("shelf")]
        assert len(set(shelves)) == len(shelves)
        robots = state.of_class("robot")
        assert len({each.pos for each in robots}) == len(robots)
        assert all(each.pos in shelves for each in robots if each.loaded)
        loaded += sum(each.loaded for each in robots)
        moved += world.distribution(state, GO)[0][0] != state
    assert loaded > 150
    assert moved > 80


def test_states_of_another_warehouse_are_refused_so_several_can_be_mixed() -> None:
    two, four = make("rware:tiny-2ag"), make("rware:tiny-4ag")
    state = four.reset(0)
    with pytest.raises(StateError, match=r"has 2 robots and .* the state has 4 and"):
        two.distribution(state, GO)
    assert mixed(two, four).distribution(state, GO) == four.distribution(state, GO)
    robot = state.of_class("robot")[0]
    with pytest.raises(StateError, match=r"heading of .* must be one of"):
        four.distribution(state.replace(robot.id, heading=(1, 1)), GO)


def test_ids_are_listed_by_size_and_number() -> None:
    ids = known_ids()
    assert len(ids) == len(set(ids)) > 100
    assert [ids.index(each) for each in ("tiny-9ag", "tiny-10ag")] == [
        ids.index("tiny-1ag") + 8,
        ids.index("tiny-1ag") + 9,
    ]
    assert all(each in summary() for each in ids)


def test_wrong_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tiny-2ag'"):
        make("rware:tiny-2agg")
    with pytest.raises(SettingError, match=r"3,125 joint actions; use rware:tiny-5ag"):
        make("rware-joint:tiny-5ag")
    with pytest.raises(UnknownNameError, match="unknown option 'width'"):
        make("rware:tiny-2ag", width=3)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rware", None)
    with pytest.raises(MissingPackageError, match=r"'rware:tiny-2ag' needs RWARE.*\.\[rware\]"):
        make("rware:tiny-2ag")
