"""Normalised scores: the worst, the trivial and the best score that an episode allows.

    world, state, steps -> [ score_bounds ] -> ScoreBounds -> normalised(score) in [-1, 1]

The score of an episode is the change of the `score` of the world's `game`. To compare episodes of
different levels, the paper uses a scale of three scores: -1 is *pessimal* (the lowest possible
score), 0 is *trivial* (`stay` at every step), and 1 is *optimal*. All three are computed exactly.

`exact_scores.py` computes them for any world by visiting all reachable states. `coin_scores.py`
computes them for `coins`, where every subset of coins makes new states, which are too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from treethink.errors import SettingError, WrongTypeError, shown, whole_number
from treethink.planning import coin_scores
from treethink.planning.exact_scores import expected_score, explore
from treethink.state import State
from treethink.stream.random_play import check_world_type
from treethink.worlds import World

_IDLE = "stay"
_MOST_STEPS = 100_000


@dataclass(frozen=True, slots=True)
class ScoreBounds:
    """The three scores that define the scale of an episode.

    Parameters
    ----------
    pessimal, trivial, optimal
        Ints in a deterministic world; otherwise floats, which are expectations.
    exact
        False: `optimal` is a proven upper bound, which may not be reachable.
    by_chance
        Whether the world is random. Then an episode may score more or less than expected.

    Examples
    --------
    >>> bounds = ScoreBounds(pessimal=-20, trivial=-10, optimal=6)
    >>> bounds.normalised(-10), bounds.normalised(-2), bounds.normalised(-15)
    (0.0, 0.5, -0.5)
    """

    pessimal: int | float
    trivial: int | float
    optimal: int | float
    exact: bool = True
    by_chance: bool = False

    @property
    def worth_playing(self) -> bool:
        """Whether the optimal score is better than the trivial one."""
        return self.optimal > self.trivial

    def normalised(self, score: int | float) -> float:
        """Return a score on the scale: -1 pessimal, 0 trivial, 1 optimal, linear in between.

        In a random world, scores above the expected optimum give 1, and those below the expected
        pessimum give -1.
        """
        if isinstance(score, bool) or not isinstance(score, Real) or score != score:
            raise WrongTypeError(f"a score must be a number, got {shown(score)}")
        if not self.by_chance and not self.pessimal <= score <= self.optimal:
            raise SettingError(
                f"a score of this episode lies from {self.pessimal} (pessimal) to"
                f" {self.optimal} (optimal), got {shown(score)}"
            )
        if score == self.trivial:
            return 0.0
        side, end = (1.0, self.optimal) if score > self.trivial else (-1.0, self.pessimal)
        if end == self.trivial:  # only in a random world
            return side
        return side * min(float((score - self.trivial) / (end - self.trivial)), 1.0)


def score_bounds(
    world: World, state: State, steps: int, *, most_states: int = 2_000_000
) -> ScoreBounds:
    """Return the pessimal, trivial and optimal score of an episode from `state` on.

    Parameters
    ----------
    world
        A world with a `game` that has a `score`, and with an action `stay`. It must be able to
        step from any state.
    state
        Where the episode starts. Earlier scores do not count.
    steps
        The length of the episode, at most 100,000.
    most_states
        The number of states that are visited before a `ResourceError` is raised; in `coins`, the
        number of sets of coins before the optimal score is only bounded.

    Examples
    --------
    >>> from treethink.worlds import make
    >>> world = make("maze")
    >>> score_bounds(world, world.reset(0), steps=10)
    ScoreBounds(pessimal=-20, trivial=-10, optimal=4, exact=True, by_chance=False)
    """
    steps, most_states = _check(world, steps, most_states)
    world.distribution(state, _IDLE)  # raises for a state of another schema, or without a game
    if coin_scores.applies_to(world):
        pessimal, trivial, optimal, exact = coin_scores.bounds(world, state, steps, most_states)
        return ScoreBounds(pessimal, trivial, optimal, exact)
    table = explore(world, state, steps, most_states)
    idle = world.actions.index(_IDLE)
    return ScoreBounds(
        pessimal=expected_score(table, steps, lambda scores: scores.min(axis=0)),
        trivial=expected_score(table, steps, lambda scores: scores[idle]),
        optimal=expected_score(table, steps, lambda scores: scores.max(axis=0)),
        by_chance=not table.is_deterministic,
    )


def _check(world: World, steps: int, most_states: int) -> tuple[int, int]:
    """Return both numbers as ints; raise an error if the world has no such scores."""
    check_world_type(world, "score_bounds")
    where = f"world {world.name!r}"
    schema = world.schema
    if "score" not in schema.classes.get("game", ()) or schema.attributes["score"].length != 1:
        raise SettingError(
            f"{where} keeps no score: it needs a class 'game' with a 'score' of one number, and"
            f" its classes are {', '.join(map(repr, schema.classes))}"
        )
    if _IDLE not in world.actions:
        raise SettingError(
            f"{where} has no action {_IDLE!r}, which the trivial score needs"
            f" (doing nothing); its actions are {', '.join(map(repr, world.actions))}"
        )
    if not world.pure:
        raise SettingError(
            f"{where} cannot predict from arbitrary states, so its score bounds cannot be"
            " computed before it is played"
        )
    steps = whole_number("steps", steps)
    if steps > _MOST_STEPS:
        raise SettingError(f"steps must be at most {_MOST_STEPS:,}, got {shown(steps)}")
    return steps, whole_number("most_states", most_states, 1)
