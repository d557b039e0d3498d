"""MiniGrid and BabyAI: our step is the environment's, from any state, for every id that fits."""

from __future__ import annotations

import contextlib
import io
import pickle
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from command_line import called
from treethink.checks import check_adapter, check_world
from treethink.errors import (
    MissingPackageError,
    SettingError,
    StateError,
    UnknownNameError,
)
from treethink.explain.compare.counterexample import situations
from treethink.metrics import p_value
from treethink.model import TreeThink
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import make
from treethink.worlds.gym.minigrid import NOT_FITTING, MiniGrid, fitting_ids, ids
from treethink.worlds.gym.minigrid.encoding import GONE, HELD, Level

pytestmark = [
    pytest.mark.slow,
    # Gymnasium warns of ids that have a newer version.
    pytest.mark.filterwarnings("ignore:.*is out of date:DeprecationWarning"),
]

#: Ids that are played for longer: each way of moving, holding, opening, and each kind of mission.
BROAD = (
    "DoorKey-8x8", "LavaGapS5", "FourRooms", "LockedRoom", "MultiRoom-N2-S4", "KeyCorridorS3R1",
    "Unlock", "UnlockPickup", "BlockedUnlockPickup", "Fetch-5x5-N2", "PutNear-6x6-N2",
    "GoToDoor-5x5", "GoToObject-6x6-N2", "RedBlueDoors-6x6", "MemoryS7",
    "ObstructedMaze-1Dlhb", "Playground",
    "BabyAI-GoToLocalS5N2", "BabyAI-PutNextLocalS5N3", "BabyAI-KeyInBox", "BabyAI-PickupDistDebug",
    "BabyAI-OpenRedDoor", "BabyAI-SynthS5R2", "BabyAI-UnlockLocal",
)  # fmt: skip
MOVING = [each for each in fitting_ids() if "Dynamic-Obstacles" in each]
CERTAIN = [each for each in fitting_ids() if "Dynamic-Obstacles" not in each]


def live(world: MiniGrid) -> Any:
    """The environment as Gymnasium makes it, which our world never touches."""
    return gymnasium.make(ids.full_id(world.name.removeprefix("minigrid:"))).unwrapped


def played_beside(
    world: MiniGrid, seed: int, steps: int
) -> Iterator[tuple[State, str, State, float, bool]]:
    """Play in the environment itself, and read its states, which our world is not asked for."""
    env = live(world)
    with contextlib.redirect_stdout(io.StringIO()):
        env.reset(seed=seed)
    level = Level(env, world.schema)
    state, rng = level.first_state(), np.random.default_rng(seed)
    assert state == world.reset(seed)
    for _ in range(steps):
        # Half of the actions go forward, so that the agent gets somewhere.
        action = (
            "forward" if rng.random() < 0.5 else world.actions[rng.integers(len(world.actions))]
        )
        _, reward, terminated, truncated, _ = env.step(env.actions(world.actions.index(action)))
        if truncated:  # a limit of steps, which no state shows
            return
        after = level.next_state(state)
        yield state, action, after, float(np.sign(reward)), terminated
        if terminated:
            return
        state = after


def check_same(world: MiniGrid, seed: int, steps: int) -> None:
    """Compare each step with ours, from the state alone and one after the other."""
    other = MiniGrid(world.name.removeprefix("minigrid:"))
    rng = np.random.default_rng(0)
    for before, action, after, reward, terminated in played_beside(world, seed, steps):
        other.reset(0)  # so that its environment must be put into the state
        for each in (world, other):
            assert each.step(before, action, rng) == after
            assert each.reward(before, action, after) == reward
            assert each.terminated(before, action, after) == terminated


@pytest.mark.parametrize("name", CERTAIN)
def test_every_id_steps_as_the_environment_does(name: str) -> None:
    world = MiniGrid(name)
    for seed in range(2):
        check_same(world, seed, steps=15)


@pytest.mark.parametrize("name", BROAD)
def test_long_play_is_the_same_as_in_the_environment(name: str) -> None:
    world = MiniGrid(name)
    for seed in range(6):
        check_same(world, seed, steps=150)


@pytest.mark.parametrize("name", BROAD)
def test_situations_are_states_that_the_environment_can_have(name: str) -> None:
    world, rng = MiniGrid(name), np.random.default_rng(0)
    seen = set()
    for _ in range(40):
        state = world.stress_state(rng)
        assert state is not None and state.schema is world.schema
        assert world.beyond_bounds(state) is None
        action = world.actions[rng.integers(len(world.actions))]
        after = world.step(state, action, rng)
        assert world.distribution(state, action) == [(after, 1.0)]
        solid = [
            each.pos
            for name in ("wall", "lava", "goal", "door", "item")
            for each in state.of_class(name)
            if each.pos not in (HELD, GONE) and not each.values.get("inside", False)
        ]
        assert len(solid) == len(set(solid)), "two things on one cell"
        (agent,) = state.of_class("agent")
        assert agent.pos not in {each.pos for each in state.find("door", state="closed")}
        seen.add(state)
    assert len(seen) > 10


def test_situations_hold_items_and_have_doors_in_every_state() -> None:
    world, rng = make("minigrid:DoorKey-6x6"), np.random.default_rng(1)
    states = [world.stress_state(rng) for _ in range(100)]
    doors = {each.state for state in states if state for each in state.of_class("door")}
    assert doors == {"open", "closed", "locked"}
    in_hand = [state for state in states if state and state.find("item", held=True)]
    assert 20 < len(in_hand) < 80


def test_a_door_that_was_never_locked_is_never_locked_in_a_situation() -> None:
    world, rng = make("minigrid:MultiRoom-N2-S4"), np.random.default_rng(1)
    states = [world.stress_state(rng) for _ in range(60)]
    assert {door.state for state in states if state for door in state.of_class("door")} == {
        "open",
        "closed",
    }


@pytest.mark.parametrize("name", MOVING)
def test_situations_with_obstacles_are_states_that_the_environment_can_have(name: str) -> None:
    world, rng = MiniGrid(name), np.random.default_rng(0)
    for _ in range(40):
        state = world.stress_state(rng)
        assert state is not None and world.beyond_bounds(state) is None
        for ball in state.of_class("item"):
            assert not ball.held and ball.pos not in (HELD, GONE), "nothing picks it up"
        world.step(state, world.actions[rng.integers(3)], rng)


@pytest.mark.parametrize("name", MOVING)
def test_a_model_is_checked_where_obstacles_move(name: str) -> None:
    world = make(f"minigrid:{name}")
    check = TreeThink(world.schema).check(world, n=10)
    assert check.stress == 10


def test_what_follows_situations_is_stated_as_far_as_the_world_states_it() -> None:
    few, many = make("minigrid:Dynamic-Obstacles-5x5"), make("minigrid:Dynamic-Obstacles-16x16")
    for state, action, truth in situations(few, 20, seed=0):
        assert truth == few.distribution(state, action)
    for state, action, truth in situations(many, 5, seed=0):
        assert isinstance(truth, State)
        assert set(state.changes_to(truth)) - {0}, f"no ball moved with {action}"


def test_situations_depend_on_the_seed_alone() -> None:
    world = make("minigrid:DoorKey-5x5")
    first, again, other = (list(situations(world, 10, seed)) for seed in (3, 3, 4))
    assert first == again != other and len(first) == 10
    assert list(situations(make("maze"), 10, seed=0)) == []


def test_other_worlds_have_no_situations_unless_they_say_so() -> None:
    assert make("maze").stress_state(np.random.default_rng(0)) is None


@pytest.mark.parametrize(
    "name", ["DoorKey-5x5", "BabyAI-PutNextLocalS5N3", "Dynamic-Obstacles-5x5"]
)
def test_a_world_of_minigrid_passes_every_check(name: str) -> None:
    check_world(make(f"minigrid:{name}"))


def test_objects_keep_their_ids_through_hands_boxes_and_doors() -> None:
    world = make("minigrid:ObstructedMaze-1Dlh")
    state = world.reset(0)
    (inside,) = [each for each in state.of_class("item") if each.inside]
    (box,) = state.find("item", kind="box")
    assert inside.pos == box.pos
    dx, dy = 1, 0
    x, y = box.pos
    state = state.replace(0, pos=(x - dx, y - dy), heading=(dx, dy))
    held, rng = world.step(state, "pickup", np.random.default_rng(0)), np.random.default_rng(0)
    assert held[box.id].held and held[box.id].pos == held[inside.id].pos == HELD
    assert world.step(held, "drop", rng) == state
    opened = world.step(state, "toggle", rng)
    assert opened[box.id].pos == GONE
    assert opened[inside.id].pos == box.pos and not opened[inside.id].inside


# ------------------------------------------------------------------------- moving obstacles


def test_obstacles_move_as_often_as_is_stated() -> None:
    world = make("minigrid:Dynamic-Obstacles-5x5")
    state = world.reset(0)
    stated = dict(world.distribution(state, "forward"))
    rng = np.random.default_rng(0)
    counts: dict[State, float] = {}
    for _ in range(3_000):
        env = live(world)  # a fresh one for each sample: the package's own randomness
        env.reset(seed=0)
        env.np_random = np.random.default_rng(int(rng.integers(2**31)))
        level = Level(env, world.schema)
        assert level.first_state() == state
        env.step(env.actions.forward)
        after = level.next_state(state)
        counts[after] = counts.get(after, 0) + 1
    assert counts.keys() <= stated.keys()
    assert p_value(counts, {after: stated[after] for after in stated}) > 1e-4


def test_obstacles_at_the_edge_move_as_often_as_is_stated() -> None:
    world = make("minigrid:Dynamic-Obstacles-5x5")
    state = world.reset(0)
    ball, other = state.of_class("item")
    inner = [each for each in state if each.class_name != "wall" or each.pos[0] > 1]
    state = State(state.schema, inner).replace(ball.id, pos=(0, 2)).replace(0, pos=(2, 3))
    state = state.replace(other.id, pos=(3, 1))
    stated = dict(world.distribution(state, "left"))
    rng = np.random.default_rng(0)
    counts: dict[State, float] = {}
    for _ in range(2_000):
        after = world.step(state, "left", rng)
        counts[after] = counts.get(after, 0) + 1
    assert counts.keys() <= stated.keys()
    assert p_value(counts, stated) > 1e-4


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pos": HELD, "held": True}, "ball 1 is at .-1, -1."),
        ({"pos": GONE}, "ball 1 is at .-2, -2."),
        ({"pos": (5, 2)}, "ball 1 is at .5, 2., which is not on the grid"),
    ],
)
def test_obstacles_off_the_grid_are_refused(changes: dict[str, Any], says: str) -> None:
    world = make("minigrid:Dynamic-Obstacles-5x5")
    state = world.reset(0).replace(1, **changes)
    ask: Any
    for ask in (
        lambda: world.step(state, "left", np.random.default_rng(0)),
        lambda: world.distribution(state, "left"),
        lambda: world.truth(state, "left", state),
    ):
        with pytest.raises(StateError, match=says):
            ask()


def test_many_obstacles_state_no_distribution_but_what_followed() -> None:
    world = make("minigrid:Dynamic-Obstacles-16x16")
    state = world.reset(0)
    after = world.step(state, "left", np.random.default_rng(0))
    assert world.truth(state, "left", after) is after
    with pytest.raises(StateError, match="8 balls have more than 5,000 joint moves"):
        world.distribution(state, "left")


# ------------------------------------------------------------------------- names and errors


def test_short_full_and_newest_names_are_one_world() -> None:
    assert make("minigrid:DoorKey-8x8").name == make("minigrid:MiniGrid-DoorKey-8x8-v0").name
    assert (
        make("minigrid:MultiRoom-N4-S5").name == make("minigrid:MiniGrid-MultiRoom-N4-S5-v1").name
    )
    old = make("minigrid:MiniGrid-MultiRoom-N4-S5-v0")
    assert old.name == "minigrid:MultiRoom-N4-S5-v0"
    assert repr(pickle.loads(pickle.dumps(old))) == repr(old)


def test_worlds_of_all_ids_have_one_schema() -> None:
    assert make("minigrid:Unlock").schema is make("minigrid:BabyAI-GoToObj").schema
    assert make("minigrid:Dynamic-Obstacles-5x5").actions == ("left", "right", "forward")


def test_options_are_those_of_the_environment() -> None:
    world = make("minigrid:DoorKey-8x8", size=12)
    assert world.frame() is not None and world.frame().width == 12
    with pytest.raises(UnknownNameError, match="Did you mean 'size'"):
        make("minigrid:DoorKey-8x8", sise=12)
    with pytest.raises(SettingError, match="size must be a whole number"):
        make("minigrid:DoorKey-8x8", size=True)
    with pytest.raises(SettingError, match="has no level"):
        make("minigrid:DoorKey-8x8", size=3)


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("DorKey-8x8", UnknownNameError, "Did you mean 'DoorKey-8x8'"),
        ("MiniGrid-DoorKey-9x9-v0", UnknownNameError, "Did you mean 'MiniGrid-DoorKey-8x8-v0'"),
        ("qqqqq", UnknownNameError, "`treethink worlds minigrid` lists them"),
        ("BabyAI-BossLevel", SettingError, "missions have several parts"),
        ("BabyAI-PickupLoc-v0", SettingError, "by where it was"),
        ("WFC-MazeSimple", SettingError, "networkx"),
    ],
)
def test_wrong_ids_are_refused(name: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make(f"minigrid:{name}")


def test_what_does_not_fit_is_told_of_ids_that_exist() -> None:
    known = ids.known_ids()
    for beginning in NOT_FITTING:
        assert any(each.startswith(beginning) for each in known), beginning


def test_a_state_that_the_environment_cannot_have_is_refused() -> None:
    world, rng = make("minigrid:DoorKey-8x8"), np.random.default_rng(0)
    state = world.reset(0)
    wall = state.of_class("wall")[0]
    for changes, says in (
        ({0: {"heading": (1, 1)}}, "the agent's heading is one of"),
        ({0: {"pos": (99, 0)}}, "the agent is at .99, 0., which is not on the grid"),
        ({2: {"pos": wall.pos}}, "where a wall is"),
        ({2: {"held": True}}, "is held and at"),
        ({2: {"inside": True}}, "no box to be in"),
    ):
        with pytest.raises(StateError, match=says):
            world.step(state.replace_many(changes), "forward", rng)


def test_an_empty_id_suggests_ids_that_fit() -> None:
    with pytest.raises(UnknownNameError) as caught:
        make("minigrid:")
    plain = {each.removeprefix("MiniGrid-").rpartition("-v")[0] for each in fitting_ids()}
    assert set(caught.value.known) == plain
    assert "lists them" in str(caught.value) and "WFC" not in str(caught.value)


@pytest.mark.parametrize("name", ["DoorKey-5x5", "Dynamic-Obstacles-5x5"])
def test_a_state_needs_exactly_one_agent(name: str) -> None:
    world = make(f"minigrid:{name}")
    state = world.reset(0)
    none = State(state.schema, [each for each in state if each.class_name != "agent"])
    two = State(state.schema, [*state, Object(999, "agent", **state[0].values)])
    for wrong, count in ((none, 0), (two, 2)):
        says = f"exactly one agent, the state has {count}"
        with pytest.raises(StateError, match=says):
            world.distribution(wrong, "left")
        with pytest.raises(StateError, match=says):
            world.step(wrong, "left", np.random.default_rng(0))
        with pytest.raises(StateError, match=says):
            world.render(wrong, "rgb_array")


def test_a_step_that_the_environment_cannot_make_is_refused() -> None:
    world = make("minigrid:GoToDoor-5x5")
    state = next(
        state for state in map(world.reset, range(99)) if any(d.pos[0] == 0 for d in doors(state))
    )
    door = next(each for each in doors(state) if each.pos[0] == 0)
    out = state.replace(door.id, state="open").replace(0, pos=door.pos, heading=(-1, 0))
    with pytest.raises(
        StateError, match=r"cannot do 'forward' .* at \(0, \d\) and faces \(-1, 0\)"
    ):
        world.distribution(out, "forward")
    assert world.distribution(state, "left") == make(world.name).distribution(state, "left")


def doors(state: State) -> list[Object]:
    return list(state.of_class("door"))


def test_an_adapter_check_goes_on_where_the_environment_would_fail() -> None:
    for seed in range(5):
        report = check_adapter(make("minigrid:GoToDoor-5x5"), steps=300, seed=seed)
        assert {each.check for each in report.faults} <= {"values"}


@pytest.mark.parametrize("name", ["DoorKey-5x5", "Dynamic-Obstacles-5x5", "BabyAI-GoToObj"])
def test_a_step_does_not_depend_on_what_the_world_was_asked_before(name: str) -> None:
    world = make(f"minigrid:{name}")
    other = world.reset(5)
    refused = other.replace(0, heading=(1, 1))
    nowhere = world.reset(1).replace(0, pos=(99, 99))

    def fails(state: State) -> None:
        with pytest.raises(StateError):
            world.distribution(state, "left")

    between: list[Any] = [
        lambda: world.render(other, "rgb_array"),
        lambda: fails(refused),
        lambda: fails(nowhere),
        lambda: world.stress_state(np.random.default_rng(0)),
    ]
    for ask in between:
        for action in world.actions:
            state = world.step(world.reset(2), "left", np.random.default_rng(0))
            ask()
            after = world.step(state, action, np.random.default_rng(1))
            fresh = make(world.name)
            assert after == fresh.step(state, action, np.random.default_rng(1))
            assert world.reward(state, action, after) == fresh.reward(state, action, after)
            assert world.distribution(state, action) == fresh.distribution(state, action)


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(MissingPackageError, match=r"pip install '.\[minigrid\]'"):
        make("minigrid:DoorKey-8x8")


def test_importing_treethink_does_not_import_minigrid() -> None:
    code = "import sys, treethink; print('minigrid' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# ------------------------------------------------------------------------- rewards, pictures, use


def test_rewards_are_signs_or_left_out() -> None:
    told = make("minigrid:Empty-5x5")
    state = told.reset(0).replace(0, pos=(2, 3))
    after = told.step(state, "forward", np.random.default_rng(0))
    assert (told.reward(state, "forward", after), told.terminated(state, "forward", after)) == (
        1.0,
        True,
    )
    silent = MiniGrid("Empty-5x5", reward="none")
    assert silent.reward(state, "forward", after) is None and not silent.states_reward
    with pytest.raises(UnknownNameError, match="unknown reward 'size'"):
        MiniGrid("Empty-5x5", reward="size")


def test_rewards_do_not_depend_on_the_time() -> None:
    world = make("minigrid:PutNear-6x6-N2")  # whose limit is 30 steps
    rng, paid = np.random.default_rng(0), set()
    for _ in range(150):
        state = world.stress_state(rng)
        assert state is not None
        for _ in range(40):  # ten times around
            state = world.step(state, "left", rng)
        paid.add(world.reward(state, "drop", world.step(state, "drop", rng)))
    assert paid == {0.0, 1.0}


def test_pictures_are_ours_as_text_and_the_environments_as_pixels() -> None:
    world = make("minigrid:DoorKey-8x8")
    state = world.reset(0)
    env = live(world)
    env.reset(seed=0)
    assert np.array_equal(world.render(state, "rgb_array"), env.get_frame(highlight=False))
    assert "X" in world.render(state) and "G" in world.render(state)


def test_doorkey_is_learned_exactly_from_situations() -> None:
    world, rng = make("minigrid:DoorKey-6x6"), np.random.default_rng(0)

    def case() -> tuple[State, str, State, float | None, bool | None]:
        state = world.stress_state(rng)
        assert state is not None
        action = world.actions[rng.integers(7)]
        after = world.step(state, action, rng)
        return (
            state,
            action,
            after,
            world.reward(state, action, after),
            world.terminated(state, action, after),
        )

    model = TreeThink(world.schema)
    model.observe_many(case() for _ in range(14_000))
    for _ in range(500):
        before, action, after, reward, ended = case()
        prediction = model.predict(before, action)
        assert prediction.probability(after) == 1
        assert (prediction.rewards() or {0.0: 1.0}) == {reward: 1.0}
        assert (prediction.terminated() or 0.0) == ended


def test_one_model_serves_several_ids() -> None:
    model = TreeThink(make("minigrid:Empty-8x8").schema)
    for name in ("Empty-8x8", "FourRooms"):
        model.observe_many(transitions(make(f"minigrid:{name}"), 1_500, seed=0))
    world = make("minigrid:Empty-16x16")
    for before, action, after, *_ in transitions(world, 200, seed=5):
        assert model.predict(before, action).probability(after) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["worlds", "minigrid"],
        ["worlds", "minigrid:DoorKey-5x5"],
        ["rules", "model.tt"],
        ["explain", "model.tt", "minigrid:DoorKey-5x5", "--action", "forward"],
        ["check", "model.tt", "minigrid:DoorKey-5x5"],
        ["plan", "minigrid:DoorKey-5x5", "model.tt", "--steps", "3", "--simulations", "50"],
        ["doubts", "model.tt"],
    ],
)
def test_commands_work_as_with_our_own_worlds(
    words: list[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    learn = ["learn", "minigrid:DoorKey-5x5", "--steps", "800", "--quiet", "--out", "model.tt"]
    assert called(capsys, *learn).code == 0
    ran = called(capsys, *words)
    assert ran.code in (0, 1) and ran.out.strip()  # 1: `check` has found a mistake
