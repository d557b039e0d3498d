"""Gymnasium environments as worlds: their tables are exact, and they are learned."""

from __future__ import annotations

import math
import pickle
import sys
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from treethink.checks import WORLD_CHECKS, check_world
from treethink.cli import main
from treethink.errors import (
    CheckFailed,
    MissingPackageError,
    SettingError,
    StateError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.metrics import each_change, marginals, p_value
from treethink.model import TreeThink
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.parallel import parallel_transitions
from treethink.stream.random_play import transitions
from treethink.stream.trial import trial
from treethink.worlds.gym import CliffWalking, FrozenLake, GymWorld, TableWorld, Taxi
from treethink.worlds.gym.table import ToyText

pytestmark = pytest.mark.slow

Distribution = list[tuple[State, float]]

TOYS: dict[str, ToyText] = {
    "taxi": Taxi(),
    "frozenlake": FrozenLake(),
    "frozenlake, not slippery": FrozenLake(slippery=0),
    "frozenlake(8)": FrozenLake(size=8),
    "cliffwalking": CliffWalking(),
}
toys = pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)


@cache
def states(world: ToyText) -> list[State]:
    """The state of every number of the environment's table."""
    env = world.make_env()
    result = []
    for number in range(len(env.P)):
        env.s = number
        result.append(world.to_state(env))
    return result


def scored(state: State, score: int) -> State:
    return state.replace(state.of_class("game")[0].id, score=score)


@cache
def table(world: ToyText) -> dict[int, dict[int, list[tuple[float, int, int, bool]]]]:
    """The environment's own."""
    entries: dict[int, dict[int, list[tuple[float, int, int, bool]]]] = world.make_env().P
    return entries


def entry(world: ToyText, number: int, code: int, score: int = 0) -> Distribution:
    """What the table says, each state once."""
    merged: dict[State, float] = {}
    for probability, following, reward, _ in table(world)[number][code]:
        after = scored(states(world)[int(following)], score + int(reward))
        merged[after] = merged.get(after, 0.0) + probability
    return list(merged.items())


# ------------------------------------------------------------------------------ tables


@toys
@pytest.mark.parametrize("check", WORLD_CHECKS.values(), ids=WORLD_CHECKS)
def test_a_toy_text_world_passes_every_check(toy: ToyText, check: Any) -> None:
    check(toy)


@toys
@pytest.mark.parametrize("score", [0, -17])
def test_the_world_says_what_every_entry_of_the_table_says(toy: ToyText, score: int) -> None:
    assert len(table(toy)) == len(set(states(toy)))
    for number, state in enumerate(states(toy)):
        assert len(table(toy)[number]) == len(toy.actions)
        for code, action in enumerate(toy.actions):
            distribution = toy.distribution(scored(state, score), action)
            assert dict(distribution) == pytest.approx(dict(entry(toy, number, code, score)))
            assert toy.truth(scored(state, score), action, distribution[0][0]) == distribution


@toys
def test_an_episode_is_over_where_the_table_terminates(toy: ToyText) -> None:
    ends = {
        int(following)
        for entries in table(toy).values()
        for outcomes in entries.values()
        for _, following, _, terminated in outcomes
        if terminated
    }
    assert 0 < len(ends) < len(table(toy))
    assert {n for n, state in enumerate(states(toy)) if toy.is_over(scored(state, 3))} == ends


@pytest.mark.parametrize(
    ("name", "count"),
    [("taxi", 400), ("frozenlake", 11), ("frozenlake(8)", 53), ("cliffwalking", 37)],
)
def test_starts_are_all_that_an_episode_can_reach_equally_likely(name: str, count: int) -> None:
    world = TOYS[name]
    starts = Counter(world.reset(seed) for seed in range(20 * count))
    assert len(starts) == count
    assert not any(world.is_over(state) for state in starts)
    assert p_value(starts, dict.fromkeys(starts, 1 / count)) > 1e-6


def test_a_state_that_is_not_in_the_table_is_refused() -> None:
    world = TOYS["taxi"]
    state = world.reset(0)
    nowhere = state.replace(state.of_class("taxi")[0].id, pos=(2, 2))
    for ask in (world.distribution, lambda s, a: world.step(s, a, np.random.default_rng(0))):
        with pytest.raises(StateError, match="no entry of the table"):
            ask(nowhere, "up")
    with pytest.raises(StateError, match="no entry of the table"):
        world.is_over(nowhere)


def test_a_lake_of_any_other_size_is_refused() -> None:
    with pytest.raises(SettingError, match="size must be 4 or 8, got 5"):
        FrozenLake(size=5)
    with pytest.raises(SettingError, match="slippery must be from 0 to 1"):
        FrozenLake(slippery=2)


def test_the_taxi_is_seen_as_gymnasium_draws_it() -> None:
    env = TOYS["taxi"].make_env()
    env.s = env.encode(2, 3, 1, 0)
    state = TOYS["taxi"].to_state(env)
    (taxi,) = state.of_class("taxi")
    assert (taxi.pos, taxi.full) == ((7, 5), 0)
    assert {(s.pos, s.waiting, s.wanted) for s in state.of_class("stop")} == {
        ((1, 1), 0, 1),
        ((9, 1), 1, 0),
        ((1, 9), 0, 0),
        ((7, 9), 0, 0),
    }
    walls = {wall.pos for wall in state.of_class("wall")}
    assert len(walls) == 49
    # Between the second and the third column, beside the two rows at the top and no others.
    assert {(4, y) for y in (1, 3)} <= walls
    assert not {(4, y) for y in (5, 7, 9)} & walls


# ------------------------------------------------------------------------------ learning


def train(world: TableWorld, steps: int, seed: int) -> TreeThink:
    model = TreeThink(world.schema)
    assert model.observe_many(transitions(world, steps, seed)) == steps
    return model


def wrong_entries(model: TreeThink, world: ToyText, among: Iterable[int]) -> list[tuple[int, str]]:
    """The entries of a deterministic table that are not predicted exactly."""
    wrong = []
    for number in among:
        for code, action in enumerate(world.actions):
            ((after, _),) = entry(world, number, code)
            if model.predict(states(world)[number], action).probability(after) != 1.0:
                wrong.append((number, action))
    return wrong


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_all_3000_entries_of_taxi_are_learned(seed: int) -> None:
    world = TOYS["taxi"]
    model = train(world, 10_000, seed)
    assert wrong_entries(model, world, range(500)) == []


def test_after_1000_steps_entries_of_taxi_are_not_all_learned() -> None:
    world = TOYS["taxi"]
    assert len(wrong_entries(train(world, 1_000, 0), world, range(500))) >= 500


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cliffwalking_is_exact_after_10_000_steps_and_stays_so(seed: int) -> None:
    """Wherever an episode can be."""
    world = TOYS["cliffwalking"]
    cells = [*range(37)]  # three rows of twelve, and the start
    model, stream = TreeThink(world.schema), transitions(world, 40_000, seed)
    model.observe_many(islice(stream, 5_000))
    assert wrong_entries(model, world, cells) != []
    model.observe_many(islice(stream, 5_000))
    assert wrong_entries(model, world, cells) == []
    while model.observe_many(islice(stream, 5_000)):
        assert wrong_entries(model, world, cells) == []


def implausible(model: TreeThink, state: State, action: str, truth: Distribution) -> list[str]:
    """The marginals that are further from the truth than five times the standard error of as
    many draws as the model's answer rests on."""
    prediction, far = model.predict(state, action), []
    true = marginals(state, truth)
    keys = true.keys() | {(each, name) for each, name, _ in each_change(prediction)}
    for key in keys:
        outcomes, support = prediction.outcomes(*key), prediction.support(*key)
        values = true.get(key) or {state.value(*key): 1.0}
        for value in outcomes.keys() | values.keys():
            p = min(1.0, values.get(value, 0.0))
            bound = 5 * math.sqrt(p * (1 - p) / support) + 1e-9
            if abs(outcomes.get(value, 0.0) - p) > bound:
                far.append(f"{action} {key} {value}: {outcomes} for {values}, {support} times")
    return far


@pytest.fixture(scope="module")
def lake_model() -> TreeThink:
    return train(TOYS["frozenlake"], 160_000, seed=0)


def lake_entries() -> list[tuple[State, str, Distribution]]:
    world = TOYS["frozenlake"]
    return [
        (state, action, entry(world, number, code))
        for number, state in enumerate(states(world))
        if not world.is_over(state)
        for code, action in enumerate(world.actions)
    ]


def test_the_marginals_of_frozenlake_are_right_within_sampling_error(lake_model: TreeThink) -> None:
    assert len(lake_entries()) == 44
    for state, action, truth in lake_entries():
        assert implausible(lake_model, state, action, truth) == []


def test_a_lake_that_is_a_little_less_slippery_is_told_apart(lake_model: TreeThink) -> None:
    for state, action, truth in lake_entries():
        (first, p), (second, q), *others = truth
        other = [(first, p + 0.08), (second, q - 0.08), *others]
        assert implausible(lake_model, state, action, other) != []


# ------------------------------------------------------------- environments of any kind


class Corridor(gymnasium.Env[int, int]):
    """Walk to the right end, which ends the episode. The left end stops the walker."""

    def __init__(
        self, length: int = 6, pay: Any = 10.0, grow: bool = False, start: int = 0
    ) -> None:
        self.action_space = gymnasium.spaces.Discrete(2, start=start)  # type: ignore[assignment]
        self.start = start
        self.observation_space = gymnasium.spaces.Discrete(length)  # type: ignore[assignment]
        self.length, self.pay, self.grow = length, pay, grow
        self.here = self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.seed = seed
        self.here, self.steps = int(self.np_random.integers(self.length - 1)), 0
        return self.here, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.here = max(0, self.here + {self.start: -1, self.start + 1: 1}[action])
        self.steps += 1
        is_end = self.here == self.length - 1
        return self.here, self.pay if is_end else -1.0, is_end, False, {}


SCORE = Attribute(1, facts=())
CORRIDOR = Schema(
    {"walker": ["x"], "end": ["x"], "game": ["score"]}, {"x": 1, "score": SCORE}, ["left", "right"]
)


def walker_and_ends(env: Any) -> list[Object]:
    corridor = env.unwrapped
    ends = [Object(1, "end", x=-1), Object(2, "end", x=corridor.length - 1)]
    more = [Object(3 + corridor.steps, "end", x=99)] if corridor.grow else []
    return [Object(0, "walker", x=corridor.here), *ends, *more]


def corridor() -> GymWorld:
    return GymWorld(Corridor, schema=CORRIDOR, to_state=walker_and_ends)


def test_a_custom_environment_is_learned() -> None:
    world = corridor()
    assert repr(world) == "GymWorld(Corridor)" and world.name == "Corridor"
    model = TreeThink(world.schema)
    errors = list(trial(model, world, steps=3000, seed=0))
    assert sum(errors[:20]) > 0
    assert sum(errors[-1000:]) == 0
    last = State(
        CORRIDOR,
        [
            Object(0, "walker", x=4),
            Object(1, "end", x=-1),
            Object(2, "end", x=5),
            Object(3, "game", score=-7),
        ],
    )
    assert model.predict(last, "right").mode() == last.replace(0, x=5).replace(3, score=3)


def test_the_command_line_learns_it_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    file = tmp_path / "corridor.tt"
    with pytest.raises(SystemExit) as ended:
        main(["learn", f"{__name__}:corridor", "--steps", "500", "--out", str(file)])
    assert not ended.value.code, capsys.readouterr().err
    assert TreeThink.load(file).observations == 500


# ----------------------------------------------------- what every world promises, of these


def test_an_adapted_environment_passes_every_check() -> None:
    """Also where chance decides: Blackjack deals from its own cards."""
    check_world(corridor())
    check_world(Adapted())
    check_world(GymWorld("Blackjack-v1", schema=CARDS, to_state=cards))


def test_only_environments_without_a_table_are_not_pure() -> None:
    assert corridor().pure is False
    assert all(world.pure for world in TOYS.values())


class Adapted(GymWorld):
    """A corridor as it should be, to be broken by others."""

    def __init__(self) -> None:
        super().__init__(Corridor, schema=CORRIDOR, to_state=walker_and_ends)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


class Willing(Adapted):
    """Goes on from anywhere, or so it says."""

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        return super().sample(self._state or state, action, rng)


class Unreliable(Adapted):
    """Depends on what it did before."""

    resets = 0

    def reset(self, seed: int) -> State:
        self.resets += 1
        return super().reset(seed + self.resets)


class Shifting(Willing):
    """Other ids after a step."""

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        after = super().sample(state, action, rng)
        return State(CORRIDOR, [Object(x.id + 1, x.class_name, **x.values) for x in after])

    def is_over(self, state: State) -> bool:
        return self._over


class Knowing(Adapted):
    """States what follows, and is mistaken."""

    shares: tuple[float, ...] = (1.0,)

    def truth(self, before: State, action: str, after: State) -> Distribution:
        return [(before.replace(0, x=77 + i), share) for i, share in enumerate(self.shares)]


class Leaking(Knowing):
    shares = (0.5, 0.25)


class Invisible(Adapted):
    """Cannot be drawn."""

    def render(self, state: State, mode: Any = "ansi") -> Any:
        return ""


@pytest.mark.parametrize(
    ("world", "says"),
    [
        (Willing, "step from where it does not stand is not refused"),
        (Unreliable, "the same instance, played again with seed 3, differs at step"),
        (Shifting, "must be the same; only before: 0"),
        (Knowing, "gave State.* which its distribution does not list"),
        (Leaking, "sums to 0.75"),
        (Invisible, "the text for State.* is ''"),
    ],
)
def test_an_adapted_environment_that_breaks_a_promise_is_caught(
    world: type[Adapted], says: str
) -> None:
    with pytest.raises(CheckFailed, match=says):
        check_world(world())


# ------------------------------------------------------------------------------ playing


def test_levels_end_where_the_environment_ends_them() -> None:
    world, stream = corridor(), list(transitions(corridor(), 300, seed=1))
    ends = [i for i, (_, _, after) in enumerate(stream) if after[0].x == 5]
    assert len(ends) > 5
    for i in ends[:-1]:
        assert stream[i + 1][0] != stream[i][2]
        assert stream[i + 1][0].of_class("game")[0].score == 0
    state = world.reset(0)
    while not world.is_over(state):
        state = world.step(state, "right", np.random.default_rng(0))
    with pytest.raises(StateError, match="the episode is over; reset starts another"):
        world.step(state, "left", np.random.default_rng(0))


def test_one_environment_may_be_played_in_several_streams() -> None:
    world = corridor()
    serial, parallel = (
        list(parallel_transitions([world] * 2, 120, [0, 1], episode=100, processes=processes))
        for processes in (0, 2)
    )
    assert len(serial) == 240 and serial == parallel
    assert [each for which, each in serial if which == 1] == list(transitions(world, 120, 1, 100))


def test_steps_are_possible_only_from_the_current_state_of_the_environment() -> None:
    world, rng = corridor(), np.random.default_rng(0)
    with pytest.raises(StateError, match="nowhere before reset"):
        world.step(corridor().reset(0), "left", rng)
    state = world.reset(0)
    world.step(state, "left", rng)
    with pytest.raises(StateError, match="cannot be put into"):
        world.step(state, "left", rng)


def test_an_adapted_environment_has_no_known_distribution() -> None:
    world = corridor()
    before = world.reset(0)
    with pytest.raises(StateError, match="does not state what may follow"):
        world.distribution(before, "left")
    after = world.step(before, "left", np.random.default_rng(0))
    assert world.truth(before, "left", after) is after


def test_the_score_is_the_sum_of_the_rewards() -> None:
    scores = [after.of_class("game")[0].score for *_, after in transitions(corridor(), 40, seed=2)]
    rises = Counter(new - old for old, new in zip([0, *scores], scores, strict=False) if new)
    assert rises[-1] > 20 and rises[10] >= 1


def score_for(reward: Any, scale: int = 1) -> int:
    """What the end of a corridor adds to the score."""
    world = GymWorld(
        partial(Corridor, pay=reward),
        schema=CORRIDOR,
        to_state=walker_and_ends,
        reward_scale=scale,
    )
    state = world.reset(0)
    score = 0
    while not world.is_over(state):
        score = state.of_class("game")[0].score
        state = world.step(state, "right", np.random.default_rng(0))
    return int(state.of_class("game")[0].score) - score


@pytest.mark.parametrize(
    ("reward", "scale", "points"),
    [
        (0.5, 2, 1),
        (0.5, 10, 5),
        (3, 1, 3),
        (True, 1, 1),
        (0.1 + 0.2, 10, 3),
        (0.1 + 0.2 - 0.3, 1, 0),
        (Fraction(3, 4), 4, 3),
        (np.float32(0.1), 10, 1),
        (np.float32(-1234.56), 100, -123456),
        (np.float32(123456.7), 10, 1234567),
        (np.float16(0.5), 2, 1),
        (np.int64(7), 10**9, 7 * 10**9),
        (np.array(2.0), 1, 2),
        (np.array([1.0]), 1, 1),
        (np.array([[0.1]], np.float32), 10, 1),
    ],
)
def test_a_reward_times_its_scale_is_the_score(reward: Any, scale: int, points: int) -> None:
    assert score_for(reward, scale) == points


@pytest.mark.parametrize(
    ("reward", "scale"),
    [
        (0.5, 1),
        (0.1, 5),
        (np.float32(0.1), 1),
        (0.999, 1),
        (1e-6, 1),
        (1_000_000.5, 1),
        (np.float32(1_234_567.25), 2),
    ],
)
def test_rewards_that_are_no_whole_numbers_need_another_scale(reward: Any, scale: int) -> None:
    with pytest.raises(
        SettingError, match=r"a reward of .* is no whole number when .* reward_scale"
    ):
        score_for(reward, scale)


@pytest.mark.parametrize("reward", [None, "1", b"1", [1.0, 2.0], np.array([1.0, 2.0]), [], 1j, {}])
def test_a_reward_that_is_no_number_is_refused(reward: Any) -> None:
    with pytest.raises(WrongTypeError, match="world 'Corridor': a reward must be a number, got"):
        score_for(reward)


@pytest.mark.parametrize("reward", [float("inf"), float("nan"), 10**400])
def test_a_reward_without_end_is_refused(reward: Any) -> None:
    with pytest.raises(SettingError, match=r"world 'Corridor': a reward of .* fits into no score"):
        score_for(reward)


def test_a_score_beyond_64_bits_is_refused() -> None:
    with pytest.raises(StateError, match="'score' must fit in a signed 64-bit integer"):
        score_for(1e30)


def test_without_a_game_object_rewards_belong_to_transitions() -> None:
    schema = Schema({"walker": ["x"], "end": ["x"]}, {"x": 1}, ["left", "right"])
    world = GymWorld(lambda: Corridor(pay=0.3), schema=schema, to_state=walker_and_ends)
    for _, _, after, reward, ended in transitions(world, 50, seed=0):
        assert len(after) == 3
        assert reward in (-1, 0.3) and isinstance(ended, bool)


def test_actions_may_be_named_in_any_order() -> None:
    rng = np.random.default_rng(0)
    for actions in ({"left": 1, "right": 0}, ["right", "left"]):
        world = GymWorld(Corridor, schema=CORRIDOR, to_state=walker_and_ends, actions=actions)
        state = world.reset(0)
        assert world.step(state, "left", rng)[0].x == state[0].x + 1


def test_actions_are_numbered_as_the_environment_numbers_them() -> None:
    for actions, ahead in ((None, "right"), (["right", "left"], "left")):
        world = GymWorld(
            partial(Corridor, start=5), schema=CORRIDOR, to_state=walker_and_ends, actions=actions
        )
        state = world.reset(0)
        assert world.step(state, ahead, np.random.default_rng(0))[0].x == state[0].x + 1


@pytest.mark.parametrize(
    ("seed", "used"),
    [(0, 0), (2**31 - 1, 2**31 - 1), (2**31, 0), (2**31 + 5, 5), (2**63 - 1, 2**31 - 1)],
)
def test_seeds_are_brought_into_the_range_that_environments_take(seed: int, used: int) -> None:
    created: list[Corridor] = []

    def create() -> Corridor:
        created.append(Corridor())
        return created[-1]

    world = GymWorld(create, schema=CORRIDOR, to_state=walker_and_ends)
    state = world.reset(seed)
    assert created[-1].seed == used
    assert world.reset(used) == state


def test_after_an_error_only_reset_is_possible() -> None:
    """The environment has moved, and nobody knows where."""
    world = GymWorld(partial(Corridor, pay=0.5), schema=CORRIDOR, to_state=walker_and_ends)
    rng, state = np.random.default_rng(0), world.reset(0)
    with pytest.raises(SettingError, match=r"a reward of 0\.5"):
        while True:
            state = world.step(state, "right", rng)
    with pytest.raises(StateError, match="nowhere before reset"):
        world.step(state, "right", rng)
    assert world.step(world.reset(0), "left", rng)[0].x >= 0


# ------------------------------------------------------------------ one without a table

CARDS = Schema(
    {"hand": ["total", "cards"], "dealer": ["shows"]},
    {"total": 1, "cards": 1, "shows": 1},
    ["stick", "hit"],
)


def cards(env: Any) -> list[Object]:
    """The hand without aces counted twice; a part of what Blackjack knows, and all it needs."""
    game = env.unwrapped
    return [
        Object(0, "hand", total=sum(map(int, game.player)), cards=len(game.player)),
        Object(1, "dealer", shows=int(game.dealer[0])),
    ]


def test_blackjack_is_learned_from_its_id() -> None:
    world = GymWorld("Blackjack-v1", schema=CARDS, to_state=cards)
    assert repr(world) == "GymWorld(Blackjack-v1)"
    model = TreeThink(world.schema)
    assert model.observe_many(transitions(world, 8_000, seed=0)) == 8_000
    state = world.reset(3)
    hit, stick = model.predict(state, "hit"), model.predict(state, "stick")
    assert stick.probability(state) == 1.0
    assert hit.outcomes(0, "cards") == {3: 1.0}
    support, total = hit.support(0, "total"), state[0].total
    counts = {value - total: p * support for value, p in hit.outcomes(0, "total").items()}
    card_shares = {**dict.fromkeys(range(1, 10), 1 / 13), 10: 4 / 13}
    assert support > 1000
    assert p_value(counts, card_shares) > 1e-6
    assert p_value(counts, dict.fromkeys(range(1, 11), 1 / 10)) < 1e-6


# ------------------------------------------------------------------------------ refusals


class ManyButtons(Corridor):
    """Takes several numbers at once."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.MultiDiscrete([2, 2])  # type: ignore[assignment]


@pytest.mark.parametrize("returned", [None, 3, [3], [None], "walker", {"x": 1}, [("walker", 1)]])
def test_what_to_state_returns_must_be_objects(returned: Any) -> None:
    world = GymWorld(Corridor, schema=CORRIDOR, to_state=lambda env: returned)
    message = "world 'Corridor': to_state must return Objects or a State, got"
    with pytest.raises(WrongTypeError, match=message):
        world.reset(0)


def test_objects_may_come_one_by_one_or_as_a_state() -> None:
    schema = Schema({"walker": ["x"], "end": ["x"]}, {"x": 1}, ["left", "right"])
    plain = GymWorld(Corridor, schema=schema, to_state=walker_and_ends).reset(0)
    for to_state in (
        lambda env: iter(walker_and_ends(env)),
        lambda env: State(schema, walker_and_ends(env)),
    ):
        assert GymWorld(Corridor, schema=schema, to_state=to_state).reset(0) == plain


def test_an_error_of_to_state_names_the_world() -> None:
    def breaking(env: Any) -> Iterable[Object]:
        yield Object(0, "walker", x=1)
        raise KeyError("cart")

    with pytest.raises(
        StateError, match=r"world 'Corridor': to_state raised KeyError\('cart'\)"
    ) as raised:
        GymWorld(Corridor, schema=CORRIDOR, to_state=breaking).reset(0)
    assert isinstance(raised.value.__cause__, KeyError)

    def clumsy(env: Any) -> Iterable[Object]:
        return [Object(0, "walker", x=0.5)]  # type: ignore[arg-type]

    with pytest.raises(TreeThinkError, match=r"'x'.* 0\.5") as noted:
        GymWorld(Corridor, schema=CORRIDOR, to_state=clumsy).reset(0)
    assert noted.value.__notes__ == ["(raised by the to_state of world 'Corridor')"]


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"make_env": 3}, WrongTypeError, "make_env must be an id of Gymnasium or"),
        ({"make_env": dict}, WrongTypeError, "must make an environment"),
        ({"schema": {}}, WrongTypeError, "schema must be a Schema"),
        ({"to_state": None}, WrongTypeError, "to_state must be a function"),
        ({"reward_scale": 0}, SettingError, "reward_scale must be from 1 to 1,000,000,000, got 0"),
        ({"reward_scale": 10**400}, SettingError, "reward_scale must be from 1 to 1,000,000,000"),
        ({"reward_scale": 10**5000}, SettingError, "reward_scale must be from 1 to 1,000,000,000"),
        ({"reward_scale": 0.5}, SettingError, "reward_scale must be a whole number"),
        ({"actions": ["left", "rihgt"]}, UnknownNameError, "Did you mean 'right'"),
        ({"actions": ["left"]}, SettingError, "takes actions of Discrete"),
        ({"actions": {"left": 0, "right": 2}}, SettingError, "for 'right'"),
        ({"actions": {"left": 0, "right": [1]}}, SettingError, "for 'right'"),
        ({"actions": 3}, WrongTypeError, "actions must be a dict or a list of names, got 3"),
        ({"actions": "lr"}, WrongTypeError, "actions must be a dict or a list of names, got 'lr'"),
        ({"actions": [["left"], "right"]}, WrongTypeError, r"must be a str, got \['left'\]"),
        ({"actions": {0: "left", 1: "right"}}, WrongTypeError, "must be a str, got 0"),
        ({"actions": ["left", "left", "right"]}, SettingError, "lists a name twice"),
        ({"make_env": ManyButtons}, SettingError, "takes actions of MultiDiscrete"),
    ],
)
def test_invalid_arguments_are_refused(
    settings: dict[str, Any], error: type[TreeThinkError], match: str
) -> None:
    fitting = {"make_env": Corridor, "schema": CORRIDOR, "to_state": walker_and_ends}
    with pytest.raises(error, match=match):
        GymWorld(**{**fitting, **settings})


def test_objects_that_come_and_go_are_refused() -> None:
    world = GymWorld(lambda: Corridor(grow=True), schema=CORRIDOR, to_state=walker_and_ends)
    state = world.reset(0)
    with pytest.raises(StateError, match=r"other objects than before, ids \[3, 5\]"):
        world.step(state, "left", np.random.default_rng(0))


def test_two_games_are_refused() -> None:
    def two(env: Any) -> list[Object]:
        return [*walker_and_ends(env), *(Object(i, "game", score=0) for i in (8, 9))]

    with pytest.raises(StateError, match="returns 2 games"):
        GymWorld(Corridor, schema=CORRIDOR, to_state=two).reset(0)


def test_a_table_world_needs_a_table_and_states_that_differ() -> None:
    with pytest.raises(SettingError, match="has no table P"):
        TableWorld(Corridor, schema=CORRIDOR, to_state=walker_and_ends)
    lake = TOYS["frozenlake"]
    schema = Schema({"agent": ["row"]}, {"row": 1}, lake.actions)
    with pytest.raises(SettingError, match="does not tell 0 and 3 apart"):
        TableWorld(
            lake.make_env,
            schema=schema,
            to_state=lambda env: [Object(0, "agent", row=env.s // 4)],
        )
    with pytest.raises(SettingError, match="other objects for 1 than for 0"):
        TableWorld(
            lake.make_env,
            schema=schema,
            to_state=lambda env: [Object(env.s, "agent", row=env.s)],
        )


def test_a_table_world_can_be_made_by_hand() -> None:
    lake = TOYS["frozenlake"]
    schema = Schema({"agent": ["cell"]}, {"cell": 1}, ["up", "left", "down", "right"])
    world = TableWorld(
        lake.make_env,
        schema=schema,
        to_state=lambda env: [Object(0, "agent", cell=env.s)],
        actions=lake.actions,
    )
    state = State(schema, [Object(0, "agent", cell=9)])
    shares = {after[0].cell: p for after, p in world.distribution(state, "down")}
    assert shares == pytest.approx({8: 1 / 3, 13: 1 / 3, 10: 1 / 3})


def test_without_gymnasium_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for make in (Taxi, lambda: GymWorld("Blackjack-v1", schema=CARDS, to_state=cards)):
        with pytest.raises(MissingPackageError, match=r"pip install '\.\[gym\]'"):
            make()


def test_worlds_can_be_pickled_as_far_as_their_environments_can() -> None:
    for world in (corridor(), *TOYS.values()):
        other = pickle.loads(pickle.dumps(world))
        assert repr(other) == repr(world) and type(other) is type(world)
        assert other.reset(5) == world.reset(5)
    world = GymWorld(lambda: Corridor(), schema=CORRIDOR, to_state=walker_and_ends)
    with pytest.raises(
        SettingError, match="cannot be sent to another process, because make_env is"
    ):
        pickle.dumps(world)
