"""Contracts of worlds. See `treethink.checks`."""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from numbers import Real
from typing import Any, NoReturn

import numpy as np

from treethink.errors import (
    CheckFailed,
    SettingError,
    StateError,
    TreeThinkError,
    UnknownNameError,
)
from treethink.metrics import chi_square, chi_square_tail
from treethink.state import Object, Schema, State
from treethink.stream.parallel import parallel_transitions
from treethink.stream.random_play import check_world_type, transitions
from treethink.stream.transition import AnyTransition
from treethink.worlds import World
from treethink.worlds.base import Cell
from treethink.worlds.grid import beside

Check = Callable[[World], None]

_SEED = 3
_LEVELS = range(8)
# The test of frequencies: random situations, samples of each, and the significance level.
_SITUATIONS, _SAMPLES, _UNLIKELY = 10, 1_000, 1e-6
_TOLERANCE = 1e-9


def check_world(world: World) -> None:
    """Run all checks on a world; raise a `CheckFailed` for the first one that fails.

    A world that is not `pure`, such as an adapted environment, can only step from its current
    state. So it is not checked whether repeating a step gives the same result (`steps_are_pure`),
    how often each state follows (only whether the state that followed is listed, if the world
    states a distribution), and whether its scenes come true. It must refuse to step from a state
    that is not its current one.
    """
    check_world_type(world, "check_world")
    for name, check in WORLD_CHECKS.items():
        try:
            check(world)
        except CheckFailed:
            raise
        except Exception as error:
            error.add_note(f"(raised by {world!r} while being checked: {name.replace('_', ' ')})")
            raise


def _fail(world: World, why: str) -> NoReturn:
    raise CheckFailed(f"{world!r}: {why}")


def _played(world: World, steps: int = 100) -> Iterator[AnyTransition]:
    """Play some levels for a few steps each."""
    return transitions(world, steps, _SEED, episode=20)


def _copy(world: World) -> World:
    copied: World = pickle.loads(pickle.dumps(world))
    return copied


def _text(transition: AnyTransition) -> str:
    before, action, after, *_ = transition
    return f"after {action!r} in {before!r} came {after!r}"


# ------------------------------------------------------------------------------ chance


def rollouts_repeat(world: World) -> None:
    """A seed determines the rollout, for every instance and whatever it did before."""
    first = list(_played(world))
    for who, other in (("the same instance", world), ("a pickled copy", _copy(world))):
        _compare(world, first, list(_played(other)), f"{who}, played again with seed {_SEED},")


def rollouts_repeat_in_another_process(world: World) -> None:
    """A rollout does not depend on the order of sets, on addresses, or on the process."""
    here = list(_played(world, 60))
    there = parallel_transitions([world], 60, [_SEED], episode=20, processes=1)
    _compare(world, here, [each for _, each in there], f"another process, with seed {_SEED},")


def _compare(world: World, one: list[AnyTransition], other: list[AnyTransition], who: str) -> None:
    for step, (mine, theirs) in enumerate(zip(one, other, strict=True), 1):
        if mine != theirs:
            _fail(world, f"{who} differs at step {step}: {_text(mine)}, then {_text(theirs)}")


def steps_are_pure(world: World) -> None:
    """`step` and `distribution` do not change the state, and depend only on their arguments.

    Worlds that are not `pure` are not checked.
    """
    if not world.pure:
        return
    fresh = _copy(world)
    for transition in list(_played(world)):
        before, action, *_ = transition
        original = before.to_dict()
        for verb, call in (("step", _step), ("distribution", _truth)):
            first, again, other = (call(each, transition) for each in (world, world, fresh))
            if not first == again == other:
                _fail(
                    world,
                    f"{verb} of {action!r} in {before!r} gives {first!r}, then {again!r},"
                    f" and for a fresh instance {other!r}",
                )
            if before.to_dict() != original:
                _fail(world, f"{verb} of {action!r} changed the state it was given: {before!r}")


def _step(world: World, transition: AnyTransition) -> State:
    before, action, *_ = transition
    return world.step(before, action, np.random.default_rng(_SEED))


def _truth(world: World, transition: AnyTransition) -> list[tuple[State, float]] | None:
    """Return the stated distribution; None if the world does not state it."""
    truth = world.truth(*transition[:3])
    return None if isinstance(truth, State) else truth


def _with_stated_truth(world: World) -> Iterator[tuple[AnyTransition, list[tuple[State, float]]]]:
    """Play, and yield each step with its distribution; nothing more once one is not stated."""
    for transition in _played(world):
        truth = _truth(world, transition)
        if truth is None:
            return
        yield transition, truth


def distributions_are_whole(world: World) -> None:
    """A distribution lists every next state once, and its probabilities sum to 1."""
    for (before, action, *_), truth in _with_stated_truth(world):
        where = f"the distribution of {action!r} in {before!r}"
        total = sum(probability for _, probability in truth)
        if abs(total - 1) > _TOLERANCE:
            _fail(world, f"{where} sums to {total}")
        for state, probability in truth:
            if not probability > 0:
                _fail(world, f"{where} lists {state!r} with probability {probability}")
        if len({state for state, _ in truth}) != len(truth):
            _fail(world, f"{where} lists a state twice")


def steps_follow_the_distribution(world: World) -> None:
    """States that `step` draws are listed, and as frequent as stated (a seeded chi-square test).

    For worlds that are not `pure`, only the states of the rollout are checked.
    """
    rng = np.random.default_rng(_SEED)
    tested: set[tuple[State, str]] = set()
    statistic, freedom, worst = 0.0, 0, (0.0, "")
    for (before, action, after, *_), truth in _with_stated_truth(world):
        where = f"{action!r} in {before!r}"
        samples = 1 if len(truth) == 1 or len(tested) == _SITUATIONS else _SAMPLES
        drawn = [world.step(before, action, rng) for _ in range(samples)] if world.pure else [after]
        counts = Counter(drawn)
        for state in counts.keys() - dict(truth).keys():
            _fail(world, f"step of {where} gave {state!r}, which its distribution does not list")
        if len(drawn) > 1 and (before, action) not in tested:
            tested.add((before, action))
            own, own_freedom = chi_square(counts, dict(truth))
            worst = max(worst, (own, f"{where}: {samples} times, {_counts_text(counts, truth)}"))
            statistic, freedom = statistic + own, freedom + own_freedom
    if chi_square_tail(statistic, freedom) < _UNLIKELY:
        _fail(world, f"steps do not follow the stated distributions, least so {worst[1]}")


def _counts_text(counts: Counter[State], truth: list[tuple[State, float]]) -> str:
    text = ", ".join(f"{counts[state]} where {p:.4g} is stated" for state, p in truth[:8])
    return text + (", ..." if len(truth) > 8 else "")


# ------------------------------------------------------------------------------ states


def states_obey_the_schema(world: World) -> None:
    """Every state is a `State` of the world's own schema."""
    for seed in _LEVELS:
        _check_state(world, world.reset(seed), f"reset with seed {seed}")
    for before, action, after, *_ in _played(world):
        _check_state(world, after, f"{action!r} in {before!r}")


def _check_state(world: World, state: object, where: str) -> None:
    if not isinstance(state, State):
        _fail(world, f"{where} gives {state!r}, which is no State")
    if state.schema != world.schema:
        _fail(world, f"{where} gives a state of another schema")
    if State.from_dict(world.schema, state.to_dict()) != state:
        _fail(world, f"{where} gives a state that its own data does not bring back")


def objects_stay(world: World) -> None:
    """Every next state has the same objects, of the same classes."""
    for before, action, after, *_ in _played(world):
        truth = _truth(world, (before, action, after))
        for state in [after, *(state for state, _ in truth or ())]:
            try:
                before.changes_to(state)
            except TreeThinkError as error:
                _fail(world, f"{action!r} in {before!r} gives {state!r}: {error}")


def levels_keep_to_most_objects(world: World) -> None:
    """No level has more objects of a class than `most_objects` says."""
    most = world.most_objects()
    if most.keys() != world.schema.classes.keys():
        _fail(
            world, f"most_objects names {sorted(most)}, the schema {sorted(world.schema.classes)}"
        )
    for seed in _LEVELS:
        state = world.reset(seed)
        for name, limit in most.items():
            if len(state.of_class(name)) > limit:
                count = len(state.of_class(name))
                _fail(
                    world, f"seed {seed} has {count} of class {name!r}, most_objects says {limit}"
                )


def values_keep_to_bounds(world: World) -> None:
    """All values lie within `bounds`, which names only attributes of the schema."""
    classes = world.schema.classes
    pairs = {(name, each) for name, attributes in classes.items() for each in attributes}
    known = pairs | {each for _, each in pairs}
    for key in world.bounds():
        if key not in known:
            _fail(world, f"bounds speaks of {key!r}, which is no attribute of its objects")
    for before, action, after, *_ in _played(world):
        for state in (before, after):
            beyond = world.beyond_bounds(state)
            if beyond:
                _fail(world, f"before or after {action!r}, {beyond}")


def rewards_and_ends_are_stated_well(world: World) -> None:
    """A reward is a finite number, an end a bool, or either None; they do not change when asked."""
    if not (world.states_reward or world.states_end):
        return
    for before, action, after, *feedback in _played(world):
        reward, ended = feedback
        step = f"of {action!r} in {before!r}"
        is_number = isinstance(reward, Real) and not isinstance(reward, bool)
        if reward is not None and not (is_number and math.isfinite(reward)):
            _fail(world, f"the reward {step} is {reward!r}, which is no finite number")
        if not isinstance(ended, bool | np.bool_ | None):
            _fail(world, f"terminated {step} is {ended!r}, not True, False or None")
        if not world.pure:
            continue
        if (again := world.reward(before, action, after)) != reward:
            _fail(world, f"the reward {step} is {reward!r}, then {again!r}")
        if (again := world.terminated(before, action, after)) != ended:
            _fail(world, f"terminated {step} is {ended!r}, then {again!r}")


# ------------------------------------------------------------------------------ levels


def free_cells_are_connected(world: World) -> None:
    """If the world is `connected`, walls separate no free cell from the others."""
    if not getattr(world, "connected", False):
        return
    for seed in _LEVELS:
        free: set[Cell] = set(world.free_cells(world.reset(seed)))  # type: ignore[attr-defined]
        cut_off = free - _reached(free)
        if cut_off:
            _fail(world, f"in the level of seed {seed}, walls cut off {sorted(cut_off)}")


def _reached(cells: set[Cell]) -> set[Cell]:
    """Return the cells that can be reached from the first."""
    reached: set[Cell] = set()
    frontier = set(sorted(cells)[:1])
    while frontier:
        reached |= frontier
        frontier = {near for cell in frontier for near in beside(cell) if near in cells} - reached
    return reached


def things_start_apart(world: World) -> None:
    """If the world is `distinct`, no two objects start on the same cell."""
    if not getattr(world, "distinct", False):
        return
    for seed in _LEVELS:
        on: dict[Cell, Object] = {}
        for each in world.reset(seed):
            cell = world.place(each)
            if cell is not None and cell in on:
                _fail(world, f"in the level of seed {seed}, {each!r} starts on {on[cell]!r}")
            if cell is not None:
                on[cell] = each


# ------------------------------------------------------------- scenes, texts and pictures


def scenes_come_true(world: World) -> None:
    """Every scene agrees with the world's distribution. Only `pure` worlds are checked."""
    for scene in world.scenes() if world.pure else ():
        truth, stated = dict(world.distribution(scene.before, scene.action)), dict(scene.truth)
        if any(abs(truth.get(s, 0) - stated.get(s, 0)) > _TOLERANCE for s in truth | stated):
            _fail(
                world,
                f"scene {scene.says!r}: {scene.action!r} in {scene.before!r} is said to give"
                f" {stated!r} and gives {truth!r}",
            )


def scenes_show_every_action(world: World) -> None:
    """If there are scenes, every action has one."""
    shown = {scene.action for scene in world.scenes()}
    missing = [action for action in world.actions if action not in shown]
    if shown and missing:
        _fail(world, f"no scene shows what happens by {missing}")


def the_sheet_says_everything(world: World) -> None:
    """The docstring has a first line, and names every option."""
    sheet = world.sheet()
    if not world.summary().strip():
        _fail(world, "its specification has no first line to tell what it is")
    for option in world.options:
        if not re.search(rf"\b{re.escape(option)}\b", sheet):
            _fail(world, f"its specification does not tell of the option {option!r}")


def states_can_be_drawn(world: World) -> None:
    """Every state can be drawn as text and as pixels, always in the same way."""
    states = [world.reset(seed) for seed in _LEVELS[:3]]
    states += [each[2] for each in _played(world, 5)] + [each.before for each in world.scenes()]
    for state in states:
        text, pixels = world.render(state, "ansi"), world.render(state, "rgb_array")
        if not isinstance(text, str) or not text.strip():
            _fail(world, f"the text for {state!r} is {text!r}")
        shape: tuple[int, ...] = getattr(pixels, "shape", ())
        kind = getattr(pixels, "dtype", None)
        if len(shape) != 3 or shape[2] != 3 or 0 in shape or kind != np.uint8:
            _fail(world, f"the picture of {state!r} has shape {shape} of {kind}, not (h, w, 3)")
        again = world.render(state, "ansi"), world.render(state, "rgb_array")
        if text != again[0] or not np.array_equal(pixels, again[1]):
            _fail(world, f"{state!r} is drawn in another way the second time")


# ----------------------------------------------------------------------------- refusals


def what_is_wrong_is_refused(world: World) -> None:
    """Wrong arguments raise errors.

    Unknown names, states of other worlds and wrong options raise errors of our own types. A wrong
    seed raises any ValueError or TypeError.
    """
    for what, error, call in (*_wrong_calls(world), *_wrong_options(world)):
        try:
            result = call()
        except error:
            continue
        except Exception as other:
            names = error if isinstance(error, tuple) else (error,)
            expected = " or ".join(each.__name__ for each in names)
            _fail(world, f"{what} raises {other!r}, not a {expected}")
        _fail(world, f"{what} is not refused, but gives {result!r}")


Refused = type[Exception] | tuple[type[Exception], ...]
Refusal = tuple[str, Refused, Callable[[], object]]


def _wrong_calls(world: World) -> Iterable[Refusal]:
    state, rng, action = world.reset(0), np.random.default_rng(0), world.actions[0]
    other = Schema({"stranger": ["strange"]}, {"strange": 1}, world.actions)
    foreign = State(other, [Object(0, "stranger", strange=0)])

    def call(*arguments: Any, verb: str = "step") -> Callable[[], object]:
        return lambda: getattr(world, verb)(*arguments)

    wrong: object
    for wrong in ("no such action", "", 3, None):
        yield f"step of {wrong!r}", UnknownNameError, call(state, wrong, rng)
        yield (
            f"distribution of {wrong!r}",
            UnknownNameError,
            call(state, wrong, verb="distribution"),
        )
    not_states: tuple[object, ...] = (foreign, None, state.to_dict())
    for wrong in not_states:
        what = "a state of another schema" if wrong is foreign else repr(wrong)[:40]
        yield f"step from {what}", StateError, call(wrong, action, rng)
        yield (
            f"distribution from {what}",
            StateError,
            call(wrong, action, verb="distribution"),
        )
        yield f"render of {what}", StateError, call(wrong, verb="render")
    yield "render as 'smell'", UnknownNameError, call(state, "smell", verb="render")
    for seed in (-1, 0.5, None, "0"):
        yield f"reset with seed {seed!r}", (ValueError, TypeError), call(seed, verb="reset")
    if not world.pure:
        yield from _steps_back(world)


def _steps_back(world: World) -> Iterable[Refusal]:
    """Yield a step of an impure world from a state that is no longer its current one."""
    for before, action, after, *_ in _played(world):
        if before != after:
            back = partial(world.step, before, action, np.random.default_rng(_SEED))
            yield "step from where it does not stand", StateError, back
            return


def _wrong_options(world: World) -> Iterable[Refusal]:
    def construct(**options: Any) -> Callable[[], object]:
        return lambda: type(world)(**{**world.options, **options})

    if world.options:
        yield "the option 'no_such_option'", UnknownNameError, construct(no_such_option=1)
    for name in world.options:
        for wrong in (-1, 0.5, None, True, "1"):
            yield f"the option {name}={wrong!r}", SettingError, construct(**{name: wrong})


WORLD_CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        states_obey_the_schema,
        objects_stay,
        rollouts_repeat,
        rollouts_repeat_in_another_process,
        steps_are_pure,
        levels_keep_to_most_objects,
        values_keep_to_bounds,
        rewards_and_ends_are_stated_well,
        distributions_are_whole,
        steps_follow_the_distribution,
        free_cells_are_connected,
        things_start_apart,
        scenes_come_true,
        scenes_show_every_action,
        the_sheet_says_everything,
        states_can_be_drawn,
        what_is_wrong_is_refused,
    )
}
