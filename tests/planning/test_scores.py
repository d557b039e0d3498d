"""Pessimal, trivial and optimal scores equal those of exhaustive search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from treethink.errors import (
    ResourceError,
    SettingError,
    StateError,
    TreeThinkError,
    WrongTypeError,
)
from treethink.planning import coin_scores
from treethink.planning.scores import ScoreBounds, expected_score, explore, score_bounds
from treethink.state import Attribute, Object, Schema, State
from treethink.worlds import World, make
from treethink.worlds.base import Cell
from treethink.worlds.coins import Coins
from treethink.worlds.scene import Distribution, parse_scenes

TINY = {
    "maze": {"width": 5, "height": 5, "wall_percent": 20, "goals": 2},
    "coins": {"width": 5, "height": 5, "wall_percent": 20, "coins": 4},
    "keys": {"width": 5, "height": 5, "wall_percent": 10, "doors": 2, "keys": 2, "goals": 1},
}


def score(state: State) -> int:
    (game,) = state.of_class("game")
    return int(game.score)


def all_scores(world: World, state: State, steps: int, so_far: int = 0) -> Iterator[int]:
    """The score of every sequence of actions, one after the other."""
    if steps == 0:
        yield so_far
        return
    for action in world.actions:
        ((after, _),) = world.distribution(state, action)
        points = score(after) - score(state)
        yield from all_scores(world, after, steps - 1, so_far + points)


def idle_score(world: World, state: State, steps: int) -> int:
    before = score(state)
    for _ in range(steps):
        ((state, _),) = world.distribution(state, "stay")
    return score(state) - before


def random_walk(world: World, seed: int, walked: int) -> State:
    """A level, so many random steps later."""
    rng = np.random.default_rng(seed)
    state = world.reset(seed)
    for _ in range(walked):
        state = world.step(state, str(rng.choice(world.actions)), rng)
    return state


def parse_state(world: World, *rows: str) -> State:
    """The state of a drawing."""
    text = "\n".join(
        ["says: a state", "does: stay", "pays: 0", *(f"{each} {each}" for each in rows)]
    )
    return parse_scenes(text, world.schema, world.looks)[0].before


def as_tuple(bounds: ScoreBounds) -> tuple[float, float, float]:
    return bounds.pessimal, bounds.trivial, bounds.optimal


# ----------------------------------------------------------------- against trying everything


@pytest.mark.parametrize("name", TINY)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), walked=st.integers(0, 12), steps=st.integers(0, 5))
def test_no_sequence_of_actions_scores_more_or_less(
    name: str, seed: int, walked: int, steps: int
) -> None:
    world = make(name, **TINY[name])
    state = random_walk(world, seed, walked)
    bounds = score_bounds(world, state, steps)
    scores = list(all_scores(world, state, steps))
    assert as_tuple(bounds) == (min(scores), idle_score(world, state, steps), max(scores))
    assert all(type(each) is int for each in as_tuple(bounds))
    assert bounds.exact and not bounds.by_chance


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(0, 6))
def test_bounds_of_lights_equal_trying_all_sequences(seed: int, steps: int) -> None:
    world = make("lights", lights=4)
    state = random_walk(world, seed, 5)
    scores = list(all_scores(world, state, steps))
    assert as_tuple(score_bounds(world, state, steps)) == (min(scores), 0, max(scores))


# ----------------------------------------------------- coins, against looking at every state


def by_search(world: World, state: State, steps: int) -> tuple[float, float, float]:
    """By looking at every state, whatever the world."""
    table = explore(world, state, steps, most_states=300_000)
    stay = world.actions.index("stay")
    return (
        expected_score(table, steps, lambda scores: scores.min(axis=0)),
        expected_score(table, steps, lambda scores: scores[stay]),
        expected_score(table, steps, lambda scores: scores.max(axis=0)),
    )


cells = st.tuples(st.integers(0, 3), st.integers(0, 2))


@st.composite
def odd_states(draw: st.DrawFn) -> State:
    """Anything anywhere: no border, coins on one cell and in walls, the player in a wall."""
    things: list[tuple[str, dict[str, Any]]] = [
        *(("wall", {"pos": cell}) for cell in draw(st.sets(cells, max_size=9))),
        *(
            ("coin", {"pos": cell, "used": used})
            for cell, used in draw(
                st.lists(st.tuples(cells, st.sampled_from([0, 0, 1, 2])), max_size=7)
            )
        ),
        ("player", {"pos": draw(cells)}),
        ("game", {"score": draw(st.integers(-9, 9))}),
    ]
    objects = [Object(i, name, **values) for i, (name, values) in enumerate(things)]
    return State(make("coins").schema, objects)


@settings(max_examples=150, deadline=None)
@given(odd_states(), st.integers(0, 8))
def test_the_special_solver_for_coins_gives_the_same_scores(state: State, steps: int) -> None:
    world = make("coins")
    assert as_tuple(score_bounds(world, state, steps)) == by_search(world, state, steps)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    walls=st.sampled_from([0, 20, 40, 60]),
    n=st.integers(0, 6),
    steps=st.integers(0, 16),
    walked=st.integers(0, 15),
)
def test_the_special_solver_for_coins_agrees_with_search_in_levels(
    seed: int, walls: int, n: int, steps: int, walked: int
) -> None:
    world = make("coins", width=7, height=6, wall_percent=walls, coins=n)
    state = random_walk(world, seed, walked)
    assert as_tuple(score_bounds(world, state, steps)) == by_search(world, state, steps)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), steps=st.integers(5, 40), most=st.integers(36, 200))
def test_inexact_scores_are_upper_bounds(seed: int, steps: int, most: int) -> None:
    world = make("coins", wall_percent=0, coins=14)
    state = world.reset(seed)
    bound = score_bounds(world, state, steps, most_states=most)
    exact = score_bounds(world, state, steps)
    assert exact.exact
    assert as_tuple(bound)[:2] == as_tuple(exact)[:2]
    assert bound.optimal >= exact.optimal
    assert bound.optimal == exact.optimal or not bound.exact


def test_too_many_sets_of_coins_are_bounded() -> None:
    world = make("coins", wall_percent=0, coins=14)
    bound = score_bounds(world, world.reset(0), 20, most_states=100)
    assert not bound.exact and bound.optimal > score_bounds(world, world.reset(0), 20).optimal


def on_endless_ground(player: Cell, walls: Sequence[Cell], coins: Sequence[Cell]) -> State:
    """A state without a border."""
    things: list[tuple[str, dict[str, Any]]] = [
        *(("wall", {"pos": cell}) for cell in walls),
        *(("coin", {"pos": cell, "used": 0}) for cell in coins),
        ("player", {"pos": player}),
    ]
    return make("coins").populate(things)


AROUND = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def test_a_coin_under_the_player_takes_two_steps() -> None:
    world = make("coins")
    state = on_endless_ground((0, 0), AROUND[:3], [(0, 0)])
    assert score_bounds(world, state, 1).optimal == -1
    assert score_bounds(world, state, 2).optimal == 0
    shut_in = on_endless_ground((0, 0), AROUND, [(0, 0)])
    assert score_bounds(world, shut_in, 2).optimal == -2


def test_the_pessimal_score_avoids_coins() -> None:
    world = make("coins")
    # A step to the left or right is enough to be beside a wall, but picks up a coin. Up and
    # to a side takes two.
    walls = [(-2, 0), (2, 0), (2, -1)]
    state = on_endless_ground((0, 0), walls, [(-1, 0), (1, 0)])
    assert as_tuple(score_bounds(world, state, 6)) == by_search(world, state, 6)
    assert score_bounds(world, state, 6).pessimal == -2 + 4 * -2
    ringed = on_endless_ground((0, 0), walls, AROUND)
    assert score_bounds(world, ringed, 6).pessimal == 1 + 5 * -2


def test_a_player_in_a_wall_leaves_it_if_it_can() -> None:
    world = make("coins")
    state = on_endless_ground((0, 0), [(0, 0), *AROUND[:3]], [(0, 2)])
    assert as_tuple(score_bounds(world, state, 3)) == (-6, -6, -1)
    shut_in = on_endless_ground((0, 0), [(0, 0), *AROUND], [(0, 2)])
    assert as_tuple(score_bounds(world, shut_in, 3)) == (-6, -6, -6)


def test_a_variant_with_rules_of_its_own_is_looked_at_state_by_state() -> None:
    class Generous(Coins):
        """Staying is free."""

        name = "generous"

        def dynamics(self, state: State, action: str) -> Distribution:
            return [(state, 1.0)] if action == "stay" else super().dynamics(state, action)

    class Short(Coins):
        """Over before it began."""

        name = "short"

        def is_over(self, state: State) -> bool:
            return True

    assert coin_scores.applies_to(make("coins-t"))
    for world in (Generous(width=5, height=5, coins=1), Short(width=5, height=5, coins=1)):
        assert not coin_scores.applies_to(world)
        assert score_bounds(world, world.reset(0), 3).trivial == 0


# --------------------------------------------------------------------------------- tours


def by_trying(first: Sequence[int], apart: Sequence[Sequence[int]], steps: int) -> int:
    """The most places, by every order of all of them."""
    most = 0
    for order in permutations(range(len(first))):
        steps_left, last = steps, -1
        for visited, place in enumerate(order, 1):
            steps_left -= first[place] if last < 0 else apart[last][place]
            last = place
            if steps_left >= 0:
                most = max(most, visited)
    return most


Tour = tuple[list[int], list[list[int]]]


@st.composite
def distances(draw: st.DrawFn, most: int = 6, longest: int = 9) -> Tour:
    """Shortest ways between some places and a start, in any graph: so the detour is longer."""
    n = draw(st.integers(1, most + 1))
    ways = np.array(draw(st.lists(st.integers(1, longest), min_size=n * n, max_size=n * n)))
    ways = np.minimum(ways.reshape(n, n), ways.reshape(n, n).T)
    np.fill_diagonal(ways, 0)
    for k in range(n):
        ways = np.minimum(ways, ways[:, k, None] + ways[k])
    return ways[0, 1:].tolist(), ways[1:, 1:].tolist()


@settings(max_examples=200, deadline=None)
@given(distances(), st.integers(9, 60))
def test_tours_are_the_best_of_all_orders(ways: Tour, steps: int) -> None:
    assert coin_scores.most_places(*ways, steps, 2**10) == (by_trying(*ways, steps), True)


@settings(max_examples=100, deadline=None)
@given(distances(longest=250), st.integers(100, 600))
@example(([200, 200], [[0, 200], [200, 0]]), 200)
def test_tours_are_also_right_where_numbers_need_more_bits(ways: Tour, steps: int) -> None:
    assert coin_scores.most_places(*ways, steps, 2**10) == (by_trying(*ways, steps), True)


@settings(max_examples=200, deadline=None)
@given(distances(), st.integers(9, 60), st.integers(1, 40))
def test_a_bound_on_tours_is_never_too_low(ways: Tour, steps: int, most_sets: int) -> None:
    bound, exact = coin_scores.most_places(*ways, steps, most_sets)
    best = by_trying(*ways, steps)
    assert bound == best if exact else bound >= best


def in_a_row(n: int) -> Tour:
    places = range(1, n + 1)
    return list(places), [[abs(i - j) for j in places] for i in places]


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 63, 64])
def test_up_to_64_places_fit_into_a_set(n: int) -> None:
    assert coin_scores.most_places(*in_a_row(n), 64, 100) == (n, True)


def test_more_places_than_bits_are_bounded() -> None:
    assert coin_scores.most_places(*in_a_row(65), 65, 2**20) == (65, False)
    first, apart = [10 * i for i in range(70, 0, -1)], [[500] * 70] * 70
    assert coin_scores.most_places(first, apart, 10 + 20 + 30 + 39, 2**20) == (3, False)


def test_a_bound_lets_every_step_count() -> None:
    assert coin_scores.most_places(*in_a_row(5), 5, most_sets=1) == (5, False)
    assert coin_scores.most_places(*in_a_row(5), 4, most_sets=1) == (4, False)


def test_two_to_the_n_sets_are_enough_for_any_distances() -> None:
    apart = [[0 if i == j else 2 for j in range(15)] for i in range(15)]  # nothing on the way
    assert coin_scores.most_places([2] * 15, apart, 30, 2**15) == (15, True)
    assert not coin_scores.most_places([2] * 15, apart, 29, 2**13)[1]


# -------------------------------------------------------------------- by hand, and by chance


def test_a_corridor_with_a_goal_at_its_end() -> None:
    world = make("maze")
    state = parse_state(world, "######", "#P..G#", "######")
    # Three steps to the goal, of which the third pays; two more there. Or into the wall.
    assert as_tuple(score_bounds(world, state, 5)) == (-10, -5, -2 + 3)
    assert as_tuple(score_bounds(world, state, 2)) == (-4, -2, -2)
    assert not score_bounds(world, state, 2).worth_playing
    assert score_bounds(world, state, 3).worth_playing


def test_a_key_opens_the_way_to_the_goal() -> None:
    world = make("keys")
    state = parse_state(world, "######", "#KPDG#", "######")
    assert score_bounds(world, state, 3).optimal == -3
    assert score_bounds(world, state, 4).optimal == -3 + 1
    assert score_bounds(world, state, 9).optimal == -3 + 6


def test_earlier_points_do_not_count() -> None:
    world = make("maze")
    state = world.reset(3)
    (game,) = state.of_class("game")
    richer = state.replace(game.id, score=2**63 - 1)  # one point more would be too many
    assert score_bounds(world, richer, 0).optimal == 0
    richer = state.replace(game.id, score=10**18)
    assert score_bounds(world, richer, 9) == score_bounds(world, state, 9)


class Casino(World):
    """Play, and win 3 with a chance of a quarter or lose 1. Then the door is shut; staying pays.

    With `remembers`, a win pays twice as much while the score is negative. With `ends`, an
    episode is over when the door is shut.
    """

    name = "casino"
    defaults = {"remembers": 0, "ends": 0, "prize": 3}
    actions_ = ["stay", "play", "pay"]

    def __init__(self, **options: int):
        super().__init__(**options)
        facts = None if self.options["remembers"] else ()
        self.schema = Schema(
            {"door": ["open"], "game": ["score"]},
            {"open": 1, "score": Attribute(1, facts=facts)},
            self.actions_,
        )

    def reset(self, seed: int) -> State:
        return self.populate([("door", {"open": 1})])

    def is_over(self, state: State) -> bool:
        return bool(self.options["ends"]) and self.the(state, "door").open == 0

    def dynamics(self, state: State, action: str) -> Distribution:
        door = self.the(state, "door")
        if action == "pay":
            return self.surely(state, self.paid(state, -1))
        if action == "stay" or not door.open:
            return self.surely(state, self.paid(state, 0 if door.open else 1))
        poor = self.options["remembers"] and self.the(state, "game").score < 0
        prize = self.options["prize"] * (2 if poor else 1)
        won = self.surely(state, {door.id: {"open": 0}}, self.paid(state, prize))
        lost = self.surely(state, self.paid(state, -1))
        return [(won[0][0], 0.25), (lost[0][0], 0.75)]


def expectation(world: World, state: State, steps: int, best: Any, actions: Sequence[str]) -> float:
    """What is scored on average from here on, by trying everything."""
    if steps == 0 or world.is_over(state):
        return 0.0

    def gained(after: State) -> float:
        later = expectation(world, after, steps - 1, best, actions)
        return score(after) - score(state) + later

    truths = [world.distribution(state, action) for action in actions]
    return float(best(sum(chance * gained(after) for after, chance in each) for each in truths))


@pytest.mark.parametrize("options", [{}, {"remembers": 1}, {"ends": 1}, {"prize": 5, "ends": 1}])
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_where_chance_decides_scores_are_expectations(options: dict[str, int], steps: int) -> None:
    world = Casino(**options)
    state = world.reset(0)
    bounds = score_bounds(world, state, steps)
    assert as_tuple(bounds) == pytest.approx(
        (
            expectation(world, state, steps, min, world.actions),
            expectation(world, state, steps, min, ["stay"]),
            expectation(world, state, steps, max, world.actions),
        )
    )
    assert bounds.by_chance == (steps > 0) and bounds.exact


def test_with_luck_more_is_scored_than_can_be_expected() -> None:
    world = Casino(prize=7)
    bounds = score_bounds(world, world.reset(0), 1)
    assert bounds == ScoreBounds(-1.0, 0.0, 1.0, by_chance=True)
    assert bounds.normalised(7) == 1.0 and bounds.normalised(-7) == -1.0
    assert ScoreBounds(0.0, 0.0, 1.0, by_chance=True).normalised(-1) == -1.0
    assert ScoreBounds(-1.0, 0.0, 0.0, by_chance=True).normalised(0.5) == 1.0


def test_points_too_large_for_64_bits_are_added_up_all_the_same() -> None:
    class Bank(Casino):
        """Who plays gets a fortune."""

        name = "bank"

        def dynamics(self, state: State, action: str) -> Distribution:
            return self.surely(state, self.paid(state, 2**62 if action == "play" else 0))

    world = Bank()
    assert score_bounds(world, world.reset(0), 10).optimal == 10 * 2**62


# ------------------------------------------------------------------------------- the scale


@given(st.integers(-50, 0), st.integers(0, 20), st.integers(0, 20), st.integers(0, 40))
def test_a_normalised_score_goes_from_minus_one_over_zero_to_one(
    trivial: int, below: int, above: int, place: int
) -> None:
    bounds = ScoreBounds(trivial - below, trivial, trivial + above)
    assert bounds.normalised(trivial) == 0.0
    assert bounds.normalised(trivial + above) == (1.0 if above else 0.0)
    assert bounds.normalised(trivial - below) == (-1.0 if below else 0.0)
    score = bounds.pessimal + place
    if score <= bounds.optimal:
        assert -1.0 <= bounds.normalised(score) <= 1.0
        if score < bounds.optimal:
            assert bounds.normalised(score) < bounds.normalised(score + 1)
    else:
        with pytest.raises(TreeThinkError, match=r"lies from .* \(pessimal\) to .*, got"):
            bounds.normalised(score)


@pytest.mark.parametrize("score", ["7", None, True, float("nan"), 7j])
def test_invalid_scores_are_refused(score: Any) -> None:
    for by_chance in (True, False):
        with pytest.raises(WrongTypeError, match="a score must be a number, got"):
            ScoreBounds(-20, -10, 6, by_chance=by_chance).normalised(score)


@pytest.mark.parametrize("score", [-21, 7, float("inf")])
def test_impossible_scores_are_refused(score: float) -> None:
    for exact in (True, False):  # nor is a bound ever exceeded
        with pytest.raises(ValueError, match=r"from -20 \(pessimal\) to 6 \(optimal\)"):
            ScoreBounds(-20, -10, 6, exact).normalised(score)


# ------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("steps", [-1, True, 2.5, "3", None, 100_001, 10**30])
def test_invalid_numbers_of_steps_are_refused(steps: Any) -> None:
    world = make("maze")
    with pytest.raises(SettingError, match="steps must be"):
        score_bounds(world, world.reset(0), steps)


def test_numbers_of_numpy_are_numbers() -> None:
    world = make("coins")
    bounds = score_bounds(world, world.reset(0), np.uint8(9))  # type: ignore[arg-type]
    assert bounds == score_bounds(world, world.reset(0), 9)


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_invalid_numbers_of_states_are_refused(most: Any) -> None:
    world = make("maze")
    with pytest.raises(SettingError, match="most_states must be"):
        score_bounds(world, world.reset(0), 5, most_states=most)


def test_a_world_without_a_score_is_refused() -> None:
    for name in ("walls", "maze-scoreless", "fish"):
        world = make(name)
        with pytest.raises(SettingError, match=f"'{name}' keeps no score.*its classes are 'wall'"):
            score_bounds(world, world.reset(0), 5)


def test_a_world_without_an_idle_action_is_refused() -> None:
    class Hurried(Casino):
        """No rest."""

        name = "hurried"
        actions_ = ["play", "pay"]

    world = Hurried()
    with pytest.raises(SettingError, match=r"no action 'stay'.*its actions are 'play', 'pay'"):
        score_bounds(world, world.reset(0), 5)


def test_a_world_that_stands_in_one_state_is_refused() -> None:
    class Stubborn(Casino):
        """Ask it about where it stands."""

        name = "stubborn"
        pure = False

    world = Stubborn()
    with pytest.raises(SettingError, match="cannot predict from arbitrary states"):
        score_bounds(world, world.reset(0), 5)


def test_non_worlds_and_foreign_states_are_refused() -> None:
    world = make("maze")
    with pytest.raises(WrongTypeError, match=r"score_bounds needs a World.*got 'maze'"):
        score_bounds("maze", world.reset(0), 5)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="another schema"):
        score_bounds(world, make("coins").reset(0), 5)
    with pytest.raises(StateError, match="takes a State"):
        score_bounds(world, None, 5)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["maze", "coins", "keys"])
@pytest.mark.parametrize("lost", ["game", "player"])
def test_a_state_without_a_game_or_a_player_is_refused(name: str, lost: str) -> None:
    world = make(name)
    objects = [each for each in world.reset(0) if each.class_name != lost]
    with pytest.raises(StateError, match=f"exactly one {lost}"):
        score_bounds(world, State(world.schema, objects), 5)


def test_more_states_than_may_be_looked_at_are_an_error() -> None:
    world = make("keys")
    state = world.reset(0)
    n = explore(world, state, 8, 10_000).n_states
    assert score_bounds(world, state, 8, most_states=n)
    with pytest.raises(ResourceError, match=rf"world 'keys'.*more than {n - 1} others"):
        score_bounds(world, state, 8, most_states=n - 1)


def test_coins_on_endless_ground_are_an_error_too() -> None:
    world = make("coins")
    state = on_endless_ground((0, 0), [], [])
    assert as_tuple(score_bounds(world, state, 20)) == (-20, -20, -20)
    with pytest.raises(ResourceError, match="more than 800 cells are within 20 steps"):
        score_bounds(world, state, 20, most_states=800)
