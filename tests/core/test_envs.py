"""Worlds as Gymnasium environments: Gymnasium's own checks, observations, and pictures."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from treethink.envs import EPISODE, FORMS, ObjectState, WorldEnv, env_id, register_all
from treethink.errors import (
    SchemaError,
    SettingError,
    StateError,
    TreeThinkError,
    UnknownNameError,
)
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import WORLDS, World, make
from treethink.worlds.draw import MAX_CELLS
from treethink.worlds.draw.text import EDGE_COLOUR
from treethink.worlds.gym import GymWorld, Taxi
from treethink.worlds.walls import Walls

pytestmark = pytest.mark.slow

OURS = [name for name, world in WORLDS.items() if not issubclass(world, GymWorld)]

register_all()


def make_env(name: str, **settings: Any) -> WorldEnv:
    """The environment without the wrappers that `gymnasium.make` puts around it."""
    env = gymnasium.make(env_id(name), **settings).unwrapped
    assert isinstance(env, WorldEnv)
    return env


# ------------------------------------------------------------------------------ the door


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", OURS)
def test_environments_pass_the_checks_of_gymnasium(name: str, form: str) -> None:
    check_env(make_env(name, observation=form))  # what it only warns of is an error here


def test_ids_are_names_in_the_style_of_gymnasium() -> None:
    assert env_id("walls") == "treethink/Walls-v0"
    assert env_id("maze-t") == "treethink/MazeT-v0"
    assert len({env_id(name) for name in OURS}) == len(OURS)


def test_environments_of_gymnasium_are_not_registered_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(WORLDS, "taxi", Taxi)
    register_all()
    ids = {each for each in gymnasium.registry if each.startswith("treethink/")}
    assert ids == {env_id(name) for name in OURS}


def test_registering_twice_changes_nothing() -> None:
    before = {each: gymnasium.registry[each] for each in gymnasium.registry}
    register_all()
    assert before.keys() == gymnasium.registry.keys()
    assert all(gymnasium.registry[each] is spec for each, spec in before.items())


def test_importing_treethink_is_enough() -> None:
    code = "import treethink, gymnasium; gymnasium.make('treethink/Maze-v0').reset(seed=0)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_options_of_the_world_are_passed_on() -> None:
    env = make_env("scale", players=3, copies=1, width=6, height=5)
    assert env.world.options == {**make("scale(3,1)", width=6, height=5).options}
    assert env.actions == env.world.actions
    assert env.action_space.n == 12  # type: ignore[attr-defined]


def test_a_custom_world_can_be_an_environment() -> None:
    env = WorldEnv(make("fish", width=5, height=5), observation="sequence")
    observation, _ = env.reset(seed=1)
    assert len(observation["fish"]) == 1
    with pytest.raises(SettingError, match="takes no options"):
        WorldEnv(make("fish"), fish=2)


# ------------------------------------------------------------------------------ episodes


def rollout(name: str, seed: int, steps: int = 60) -> list[Any]:
    env = gymnasium.make(env_id(name))
    env.action_space.seed(seed)
    history: list[Any] = [env.reset(seed=seed)[1]["state"]]
    for _ in range(steps):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        history.append((info["state"], reward, terminated, truncated))
        if truncated:
            history.append(env.reset()[1]["state"])
    return history


@pytest.mark.parametrize("name", ["maze", "fish", "lights"])
def test_a_seed_determines_all_following_episodes(name: str) -> None:
    assert rollout(name, seed=3) == rollout(name, seed=3)
    assert rollout(name, seed=3) != rollout(name, seed=4)


def test_all_randomness_comes_from_np_random() -> None:
    env = make_env("fish", fish=3)
    state = env.reset(seed=0)[1]["state"]
    rng = copy.deepcopy(env.np_random)
    for _ in range(10):
        state = env.world.step(state, "step", rng)
        assert env.step(0)[4]["state"] == state
    assert env.np_random.bit_generator.state == rng.bit_generator.state


def test_episodes_are_truncated_and_never_terminated() -> None:
    steps = [each for each in rollout("maze", seed=0, steps=2 * EPISODE) if isinstance(each, tuple)]
    assert [truncated for *_, truncated in steps] == ([False] * (EPISODE - 1) + [True]) * 2
    assert not any(terminated for _, _, terminated, _ in steps)


def test_the_reward_is_the_change_of_the_score() -> None:
    start, *steps = rollout("maze", seed=5, steps=EPISODE - 1)
    scores = [state.of_class("game")[0].score for state in [start, *(each[0] for each in steps)]]
    rewards = [reward for _, reward, _, _ in steps]
    assert rewards == np.diff(scores).tolist()
    assert {type(reward) for reward in rewards} == {float}
    assert {-1.0, -2.0} <= set(rewards)


def test_without_a_score_there_is_no_reward() -> None:
    assert {each[1] for each in rollout("maze-scoreless", 0)[1:40]} == {0.0}


class Short(Walls):
    """`walls` that ends at its left side."""

    name = "short"

    def is_over(self, state: State) -> bool:
        return bool(state.of_class("player")[0].pos[0] == 1)


def test_an_episode_terminates_where_the_world_is_over() -> None:
    env = WorldEnv(Short(width=4, height=3, wall_percent=0))
    env.reset(options={"level": next(s for s in range(9) if not over(env.world, s))})
    assert [env.step(env.actions.index(each))[2] for each in ("right", "left")] == [False, True]


def over(world: World, seed: int) -> bool:
    return world.is_over(world.reset(seed))


def test_rewards_and_ends_are_those_that_the_world_states() -> None:
    env = WorldEnv(make("minigrid:Empty-5x5"))
    env.reset(options={"level": 0})
    taken = [env.actions.index(each) for each in ("forward", "forward", "right")]
    steps = [env.step(each) for each in [*taken, *[env.actions.index("forward")] * 2]]
    assert [reward for _, reward, *_ in steps] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert [terminated for _, _, terminated, *_ in steps] == [False] * 4 + [True]
    assert {type(each) for _, *fed, _, _ in steps for each in fed} == {float, bool}


class Paying(Walls):
    """`walls` that pays and ends what it states, which is nothing for a step to the left."""

    name = "paying"

    def reward(self, before: State, action: str, after: State) -> float | None:
        return None if action == "left" else 2.5

    def terminated(self, before: State, action: str, after: State) -> bool | None:
        return None if action == "left" else action == "up"


def test_what_a_world_does_not_state_of_a_step_is_no_reward_and_no_end() -> None:
    env = WorldEnv(Paying())
    env.reset(seed=0)
    told = {each: env.step(env.actions.index(each))[1:3] for each in ("left", "right", "up")}
    assert told == {"left": (0.0, False), "right": (2.5, False), "up": (2.5, True)}


# -------------------------------------------------------------------------- observations


def values_by_class(observation: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What a padded observation says of the objects that are present."""
    return {
        name: [
            {each: column[i].tolist() for each, column in columns.items() if each != "present"}
            for i in np.flatnonzero(columns["present"])
        ]
        for name, columns in observation.items()
    }


def expected(state: State) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [
            {each: np.atleast_1d(value).tolist() for each, value in instance.values.items()}
            for instance in state.of_class(name)
        ]
        for name in state.schema.classes
    }


@pytest.mark.parametrize("name", OURS)
def test_a_padded_observation_holds_all_values_of_the_state(name: str) -> None:
    env = make_env(name)
    env.action_space.seed(0)
    observation, info = env.reset(seed=0)
    for _ in range(5):
        assert env.state is info["state"]
        assert values_by_class(observation) == expected(env.state)
        observation, _, _, _, info = env.step(env.action_space.sample())


@pytest.mark.parametrize("name", OURS)
def test_a_sequence_observation_holds_all_values_of_the_state(name: str) -> None:
    env = make_env(name, observation="sequence")
    observation, info = env.reset(seed=0)
    values = {
        key: [{each: column.tolist() for each, column in instance.items()} for instance in objects]
        for key, objects in observation.items()
    }
    assert values == expected(info["state"])


def test_rows_of_absent_objects_are_zero() -> None:
    env = make_env("lights")
    observation, _ = env.reset(options={"level": seed_with_lights(env.world, 4)})
    assert observation["light"]["present"].tolist() == [1] * 4 + [0] * 6
    assert observation["light"]["channel"][:, 0].tolist() == [0, 1, 2, 3] + [0] * 6
    assert not observation["light"]["on"][4:].any()


def seed_with_lights(world: World, count: int) -> int:
    return next(s for s in range(1000) if len(world.reset(s).of_class("light")) == count)


def test_a_class_without_objects_still_has_room_for_a_mask() -> None:
    env = make_env("maze", goals=0)
    observation, _ = env.reset(seed=0)
    assert observation["goal"]["present"].tolist() == [0]
    check_env(env)


def test_a_sample_of_the_space_is_in_the_space() -> None:
    space = make_env("maze", width=5, height=5).observation_space
    assert space.sample() in space


def test_no_attribute_may_be_named_as_the_mask_is() -> None:
    class Hiding(Walls):
        name = "hiding"
        schema = Schema({"player": ["present"]}, {"present": 1}, ["stay"])

        def reset(self, seed: int) -> State:
            return State(self.schema, [Object(0, "player", present=1)])

    with pytest.raises(SchemaError, match="'player' has an attribute 'present'"):
        WorldEnv(Hiding())
    observation, _ = WorldEnv(Hiding(), observation="sequence").reset(seed=0)
    assert observation["player"][0]["present"].tolist() == [1]


@pytest.mark.parametrize("name", WORLDS)
def test_every_state_keeps_within_the_bounds_of_its_world(name: str) -> None:
    world = make(name)
    for before, _, after in transitions(world, 300, seed=0):
        assert world.beyond_bounds(before) is None and world.beyond_bounds(after) is None


@pytest.mark.parametrize("name", WORLDS)
def test_every_space_is_as_small_as_the_bounds_and_only_scores_and_remotes_have_none(
    name: str,
) -> None:
    world = make(name)
    space = WorldEnv(world, observation="sequence").observation_space
    for class_name, attributes in world.schema.classes.items():
        for attribute in attributes:
            box = space[class_name].feature_space[attribute]  # type: ignore[index]
            unbounded = (class_name, attribute) in {("game", "score"), ("remote", "channel")}
            assert (box.high > 1_000).any() == unbounded
            if not unbounded:
                low, high = world.range_of(class_name, attribute) or (None, None)
                assert box.low.tolist() == np.atleast_1d(low).tolist()
                assert box.high.tolist() == np.atleast_1d(high).tolist()


def test_rows_of_absent_objects_lie_in_the_space_too() -> None:
    class Far(Walls):
        name = "far"

        def bounds(self) -> Any:
            return {"pos": ((5, -9), (8, -7))}

    box = WorldEnv(Far()).observation_space["player"]["pos"]  # type: ignore[index]
    assert box.low.tolist() == [[0, -9]] and box.high.tolist() == [[8, 0]]


# ------------------------------------------------------------------------------ starting


def test_a_level_is_that_of_the_world() -> None:
    env = make_env("maze")
    assert env.reset(seed=0, options={"level": 7})[1]["state"] == make("maze").reset(7)


def test_an_episode_may_start_from_any_state() -> None:
    world = make("maze", wall_percent=0)
    state = world.reset(1).replace(world.reset(1).of_class("player")[0].id, pos=(1, 1))
    env = make_env("maze")
    _, info = env.reset(options={"state": state})
    assert info["state"] == state
    assert env.step(env.actions.index("left"))[1] == -2.0


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"levl": 1}, UnknownNameError, "Did you mean 'level'"),
        ({"level": 1, "state": None}, SettingError, "not from both"),
        ({"level": -1}, SettingError, "at least 0"),
        ({"level": "one"}, SettingError, "whole number"),
        ({"state": 3}, StateError, "of its own schema, got 3"),
        ({"state": make("walls").reset(0)}, StateError, "of its own schema"),
        ({"state": make("maze", width=9).reset(0)}, StateError, "at most .* of class 'wall'"),
    ],
)
def test_other_starts_are_refused(
    options: dict[str, Any], error: type[TreeThinkError], match: str
) -> None:
    env = make_env("maze")
    with pytest.raises(error, match=match):
        env.reset(options=options)


def test_sequences_have_room_for_any_state() -> None:
    state = make("maze", goals=9).reset(0)
    observation, _ = make_env("maze", observation="sequence").reset(options={"state": state})
    assert len(observation["goal"]) == 9


@pytest.mark.parametrize("form", FORMS)
def test_values_beyond_the_bounds_are_refused_with_a_clear_error(form: str) -> None:
    state = make("keys").reset(0)
    key = state.of_class("key")[0].id
    env = make_env("keys", observation=form)
    with pytest.raises(StateError, match=f": status of key {key} is 3, not from 0 to 2$"):
        env.reset(options={"state": state.replace(key, status=3)})
    with pytest.raises(
        StateError, match=r"pos of key \d+ is \(7, 8\), not from \(0, 0\) to \(7, 7\)"
    ):
        env.reset(options={"state": state.replace(key, pos=(7, 8))})


def test_values_beyond_the_space_are_refused() -> None:
    state = make("lights").reset(0)
    far = state.replace(state.of_class("remote")[0].id, channel=2**62 + 1)
    with pytest.raises(StateError, match="beyond"):
        make_env("lights").reset(options={"state": far})


# ------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize("action", [5, -1, 1.0, "left", None, np.array([1])])
def test_invalid_actions_are_refused(action: Any) -> None:
    env = make_env("maze")
    env.reset(seed=0)
    with pytest.raises(SettingError, match=r"from 0 \('stay'\) to 4 \('down'\)"):
        env.step(action)


def test_before_the_first_reset_there_is_no_state() -> None:
    env = make_env("maze", render_mode="ansi")
    for ask in (lambda: env.state, lambda: env.step(0), env.render):
        with pytest.raises(StateError, match="call reset first"):
            ask()


def test_before_the_first_reset_there_are_no_objects() -> None:
    wrapped = gymnasium.make("MiniGrid-Empty-5x5-v0")
    for env in (ObjectState(wrapped), ObjectState(wrapped.unwrapped)):
        with pytest.raises(StateError, match="call reset first"):
            env.step(2)


def test_unknown_forms_and_modes_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'padded'"):
        WorldEnv("maze", observation="pad")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="Did you mean 'ansi'"):
        WorldEnv("maze", render_mode="ansy")  # type: ignore[arg-type]


# ------------------------------------------------------------------------------ pictures


def test_pictures_are_those_of_the_world() -> None:
    text, pixels = make_env("maze", render_mode="ansi"), make_env("maze", render_mode="rgb_array")
    for env in (text, pixels):
        env.reset(options={"level": 2})
    world = make("maze")
    assert text.render() == world.render(world.reset(2), "ansi")
    assert np.array_equal(pixels.render(), world.render(world.reset(2), "rgb_array"))


@pytest.mark.parametrize(
    ("name", "options"),
    [(name, {}) for name in WORLDS]
    + [("lights", {"lights": 3}), ("paths", {"dimensions": 3}), ("walls", {"width": 150})],
)
def test_all_pictures_of_an_environment_have_one_size(name: str, options: dict[str, int]) -> None:
    env = WorldEnv(make(name, **options), render_mode="rgb_array")
    env.action_space.seed(1)
    shapes: set[tuple[int, ...]] = set()
    for level in range(4):
        env.reset(seed=1, options={"level": level})
        for _ in range(8):
            picture = env.render()
            assert isinstance(picture, np.ndarray)
            shapes.add(picture.shape)
            env.step(env.action_space.sample())
    assert len(shapes) == 1
    assert max(*shapes.pop()) <= 24 * MAX_CELLS


def test_a_remote_that_leaves_the_picture_is_marked_at_its_edge() -> None:
    env = make_env("lights", render_mode="rgb_array")
    env.reset(options={"level": 0})
    pictures = []
    for _ in range(20):
        env.step(env.actions.index("down"))
        pictures.append(env.render())
    assert {picture.shape for picture in pictures} == {pictures[0].shape}
    left_cell = pictures[-1][24:48, :24].astype(int)
    assert (np.abs(left_cell - EDGE_COLOUR).max(axis=2) < 8).any()


class Growing(Walls):
    """`walls` without a frame, with more to tell in later levels than in the first."""

    name = "growing"
    schema = Schema(
        {"wall": ["pos"], "player": ["pos"], "mood": ["size"]},
        {"pos": 2, "size": 1},
        ["left", "right", "up", "down"],
    )

    def reset(self, seed: int) -> State:
        walls = make("walls", width=4 + seed, height=3, wall_percent=0).reset(seed)
        moods = [Object(1000 + i, "mood", size=i) for i in range(seed)]
        return State(self.schema, [*walls, *moods])

    def most_objects(self) -> dict[str, int]:
        return {"wall": 99, "player": 1, "mood": 9}

    def bounds(self) -> Any:
        return {}

    def frame(self) -> None:
        return None


def test_without_a_frame_pictures_keep_the_size_of_the_first() -> None:
    env = WorldEnv(Growing(), render_mode="rgb_array")
    shapes = []
    for level in (2, 0, 1, 5):
        env.reset(options={"level": level})
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        shapes.append(picture.shape)
    assert shapes == [(72 + 2 * 20, 6 * 24, 3)] * 4


def test_a_world_that_draws_itself_is_asked_to() -> None:
    class Own(Walls):
        name = "own"

        def render(self, state: State, mode: str = "ansi") -> Any:  # type: ignore[override]
            return "mine" if mode == "ansi" else np.full((3, 5, 3), 7, np.uint8)

    for mode, expected in (("ansi", "mine"), ("rgb_array", np.full((3, 5, 3), 7))):
        env = WorldEnv(Own(), render_mode=mode)  # type: ignore[arg-type]
        env.reset(seed=0)
        assert np.array_equal(env.render(), expected)  # type: ignore[arg-type]


def test_without_a_mode_there_is_a_warning_and_no_picture() -> None:
    env = make_env("maze")
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None


# ------------------------------------------------------------------------- many at once


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(("name", "class_name"), [("maze", "wall"), ("lights", "light")])
def test_vectorized_environments_equal_single_ones(name: str, class_name: str, mode: str) -> None:
    context = {"context": "spawn"} if mode == "async" else {}
    envs = gymnasium.make_vec(
        env_id(name), num_envs=2, vectorization_mode=mode, vector_kwargs=context
    )
    try:
        compare_with_single_ones(envs, name, class_name)
    finally:
        envs.close()


def compare_with_single_ones(envs: Any, name: str, class_name: str) -> None:
    singles = [make_env(name), make_env(name)]
    observation, info = envs.reset(seed=[4, 9])
    alone = [env.reset(seed=seed) for env, seed in zip(singles, (4, 9), strict=True)]
    assert list(info["state"]) == [told["state"] for _, told in alone]
    for action in (1, 2, 1):
        room = len(singles[0].observation_space[class_name]["present"].sample())
        assert observation[class_name]["present"].shape == (2, room)
        observation, reward, terminated, truncated, info = envs.step(np.array([action, action]))
        steps = [env.step(action) for env in singles]
        assert reward.tolist() == [each[1] for each in steps]
        assert terminated.tolist() == truncated.tolist() == [False, False]
        assert list(info["state"]) == [each[4]["state"] for each in steps]
        for i, (seen, *_) in enumerate(steps):
            for key, column in seen[class_name].items():
                assert np.array_equal(observation[class_name][key][i], column)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_sequence_observations_work_without_shared_memory(mode: str) -> None:
    settings = {"shared_memory": False, "context": "spawn"} if mode == "async" else {}
    envs = gymnasium.make_vec(
        env_id("fish"),
        num_envs=2,
        vectorization_mode=mode,
        vector_kwargs=settings,
        observation="sequence",
    )
    try:
        envs.reset(seed=0)
        observation, *_ = envs.step(np.array([0, 0]))
        assert [len(each) for each in observation["fish"]] == [1, 1]
    finally:
        envs.close()
