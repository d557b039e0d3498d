"""Worlds that need more than the paper's language: each follows what a slow reading of it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError
from treethink.state import Object, State
from treethink.stream.random_play import transitions
from treethink.worlds import LANGUAGE_WORLDS, make

STEPS = {"stay": (0, 0), "left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
Cell = tuple[int, int]
#: The values of objects to change: {id: {attribute: value}}.
Changes = dict[int, dict[str, Any]]
cells = st.tuples(st.integers(0, 3), st.integers(0, 2))
few_cells = st.sets(cells, max_size=4)


def state_of(name: str, things: list[tuple[str, dict[str, Any]]]) -> State:
    """A state of a world; ids run backwards, so that order is not that of a level."""
    objects = [Object(90 - i, kind, **values) for i, (kind, values) in enumerate(things)]
    return State(make(name).schema, objects)


def at(state: State, class_name: str, cell: Cell) -> list[Object]:
    return [each for each in state if each.class_name == class_name and each.pos == cell]


def only(state: State, class_name: str) -> Object:
    (found,) = [each for each in state if each.class_name == class_name]
    return found


def ahead(cell: Cell, action: str) -> Cell:
    return cell[0] + STEPS[action][0], cell[1] + STEPS[action][1]


def placed(class_name: str, places: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(class_name, {"pos": cell}) for cell in places]


# ------------------------------------------------------------------ states, also impossible ones


@st.composite
def cells_states(draw: st.DrawFn) -> State:
    """Some cells are missing, and some are there twice."""
    kinds = draw(st.lists(st.tuples(cells, st.integers(0, 2)), max_size=12))
    things: list[tuple[str, dict[str, Any]]] = [
        ("cell", {"pos": cell, "kind": kind}) for cell, kind in kinds
    ]
    player = {"pos": draw(cells), "stuck": draw(st.integers(0, 1))}
    return state_of("cells", [*things, ("player", player)])


@st.composite
def push_states(draw: st.DrawFn) -> State:
    things = [(name, cell) for name in ("wall", "goal", "box") for cell in draw(few_cells)]
    placed_things: list[tuple[str, dict[str, Any]]] = [(n, {"pos": cell}) for n, cell in things]
    player, game = ("player", {"pos": draw(cells)}), ("game", {"score": draw(st.integers(-9, 9))})
    return state_of("push", [*placed_things, player, game])


@st.composite
def chase_states(draw: st.DrawFn) -> State:
    far = st.tuples(st.integers(-9, 9), st.integers(-9, 9)) | cells
    things = [*placed("wall", draw(few_cells)), *placed("prey", [draw(cells)])]
    return state_of("chase", [*things, *placed("hunter", [draw(far)])])


@st.composite
def fuel_states(draw: st.DrawFn) -> State:
    car = ("car", {"pos": draw(cells), "fuel": draw(st.integers(0, 60))})
    return state_of("fuel", [*placed("wall", draw(few_cells)), car])


@st.composite
def portal_states(draw: st.DrawFn) -> State:
    things = [*placed("wall", draw(few_cells)), *placed("portal", draw(few_cells))]
    ends = [*placed("exit", [draw(cells)]), *placed("player", [draw(cells)])]
    return state_of("portal", [*things, *ends])


@st.composite
def parity_states(draw: st.DrawFn) -> State:
    bit = st.integers(0, 1)
    plugs = [(name, {"slot": draw(bit)}) for name in ("red", "east", "blue", "west")]
    panel = ("panel", {"left": draw(bit), "right": draw(bit)})
    return state_of("parity", [panel, *plugs, ("game", {"score": draw(st.integers(-9, 9))})])


# ------------------------------------------------------------------ what follows, slowly


def slow_cells(state: State, action: str) -> Changes:
    player = only(state, "player")
    if player.stuck == 1:
        return {player.id: {"stuck": 0}}
    target = ahead(player.pos, action)
    kinds = [cell.kind for cell in at(state, "cell", target)]
    if 1 in kinds:
        return {}
    return {player.id: {"pos": target, "stuck": 1 if 2 in kinds else 0}}


def slow_push(state: State, action: str) -> Changes:
    player, game = only(state, "player"), only(state, "game")
    target = ahead(player.pos, action)
    behind = ahead(target, action)
    boxes = at(state, "box", target)
    if at(state, "wall", target):
        return {}
    if not boxes:
        return {player.id: {"pos": target}}
    if at(state, "wall", behind) or at(state, "box", behind):
        return {}
    on_goals_before = len(at(state, "goal", target)) > 0
    on_goals_after = len(at(state, "goal", behind)) > 0
    points = {(False, True): 1, (True, False): -1}.get((on_goals_before, on_goals_after), 0)
    return {
        player.id: {"pos": target},
        game.id: {"score": game.score + points},
        **{box.id: {"pos": behind} for box in boxes},
    }


def slow_chase(state: State, action: str) -> Changes:
    hunter, prey = only(state, "hunter"), only(state, "prey")
    x, y = hunter.pos
    x = x + 1 if prey.pos[0] > x else x - 1 if prey.pos[0] < x else x
    y = y + 1 if prey.pos[1] > y else y - 1 if prey.pos[1] < y else y
    target = ahead(prey.pos, action)
    flees = {} if at(state, "wall", target) else {prey.id: {"pos": target}}
    return {hunter.id: {"pos": (x, y)}, **flees}


def slow_fuel(state: State, action: str) -> Changes:
    car = only(state, "car")
    if action == "refuel":
        return {} if car.fuel > 40 else {car.id: {"fuel": car.fuel + 20}}
    needs = 5 if action == "down" else 30 if action == "up" else 15
    target = ahead(car.pos, action)
    if car.fuel < needs or at(state, "wall", target):
        return {}
    return {car.id: {"pos": target, "fuel": car.fuel - 1}}


def slow_portal(state: State, action: str) -> Changes:
    player = only(state, "player")
    target = ahead(player.pos, action)
    if at(state, "wall", target):
        return {}
    if at(state, "portal", target):
        target = only(state, "exit").pos
    return {player.id: {"pos": target}}


def slow_parity(state: State, action: str) -> Changes:
    panel, red, east, blue, west = (
        only(state, name) for name in ("panel", "red", "east", "blue", "west")
    )
    following = {(0, 0): (1, 0), (1, 0): (0, 1), (0, 1): (1, 1), (1, 1): (0, 0)}
    game = only(state, "game")
    if action == "pull":
        in_sockets = [red.slot == east.slot, blue.slot == west.slot].count(True)
        low, high = following[red.slot, blue.slot]
        return {
            red.id: {"slot": low},
            blue.id: {"slot": high},
            game.id: {"score": game.score + (1 if in_sockets == 1 else 0)},
        }
    left, right = following[panel.left, panel.right]
    low, high = following[east.slot, west.slot]
    return {
        panel.id: {"left": left, "right": right},
        east.id: {"slot": low},
        west.id: {"slot": high},
        game.id: {"score": game.score + (1 if panel.left + panel.right == 1 else 0)},
    }


TWINS: dict[str, tuple[st.SearchStrategy[State], Callable[[State, str], Changes]]] = {
    "cells": (cells_states(), slow_cells),
    "push": (push_states(), slow_push),
    "chase": (chase_states(), slow_chase),
    "fuel": (fuel_states(), slow_fuel),
    "portal": (portal_states(), slow_portal),
    "parity": (parity_states(), slow_parity),
}


@pytest.mark.parametrize("name", TWINS)
@given(st.data())
def test_what_follows_is_what_a_slow_reading_of_the_rules_gives(
    name: str, data: st.DataObject
) -> None:
    states, slowly = TWINS[name]
    world, state = make(name), data.draw(states)
    action = data.draw(st.sampled_from(world.actions))
    assert world.distribution(state, action) == [(state.replace_many(slowly(state, action)), 1.0)]


def test_every_world_of_the_language_has_a_twin() -> None:
    assert {each.name for each in LANGUAGE_WORLDS} == set(TWINS)


# ------------------------------------------------------------------ levels


@given(st.integers(4, 9), st.integers(4, 9), st.integers(0, 10**6))
def test_a_level_of_cells_has_one_cell_at_each_position(width: int, height: int, seed: int) -> None:
    state = make("cells", width=width, height=height).reset(seed)
    kinds = {cell.pos: cell.kind for cell in state.of_class("cell")}
    assert len(kinds) == len(state.of_class("cell")) == width * height
    interior = [kinds[x, y] for x in range(1, width - 1) for y in range(1, height - 1)]
    assert interior.count(1) == interior.count(2) == len(interior) * 3 // 10
    assert list(kinds.values()).count(1) == interior.count(1) + width * height - len(interior)
    player = state.of_class("player")[0]
    assert kinds[player.pos] == 0 and player.stuck == 0


@given(st.integers(6, 9), st.integers(6, 9), st.integers(0, 4), st.integers(0, 10**6))
def test_a_level_of_push_has_its_boxes_and_goals_on_different_cells(
    width: int, height: int, boxes: int, seed: int
) -> None:
    state = make("push", width=width, height=height, boxes=boxes, goals=2).reset(seed)
    positions = [each.pos for each in state if each.class_name != "game"]
    assert len(positions) == len(set(positions))
    assert len(state.of_class("box")) == boxes and len(state.of_class("goal")) == 2


def test_the_score_of_push_is_the_number_of_boxes_that_came_onto_goals() -> None:
    for before, _, after in transitions(make("push"), steps=3_000, seed=0):
        solved = [
            sum(bool(state.find("goal", pos=box.pos)) for box in state.of_class("box"))
            for state in (before, after)
        ]
        scores = [state.of_class("game")[0].score for state in (before, after)]
        assert scores[1] - scores[0] == solved[1] - solved[0]


def test_neither_fact_of_parity_says_anything_alone() -> None:
    """Of each value of a fact, half of the cases pay."""
    paid: dict[tuple[str, str, bool], list[int]] = {}
    for before, action, after in transitions(make("parity"), steps=20_000, seed=0):
        one = {each.class_name: each for each in before}
        points = after.of_class("game")[0].score - one["game"].score
        facts = {
            "press": {"left": one["panel"].left == 1, "right": one["panel"].right == 1},
            "pull": {
                "red": one["red"].slot == one["east"].slot,
                "blue": one["blue"].slot == one["west"].slot,
            },
        }[action]
        for fact, holds in facts.items():
            paid.setdefault((action, fact, holds), []).append(points)
    assert len(paid) == 8
    assert all(
        len(each) > 4_000 and abs(sum(each) / len(each) - 0.5) < 0.03 for each in paid.values()
    )


def test_a_hunter_catches_prey_that_stays() -> None:
    world = make("chase", width=20)
    state = world.reset(3)
    for _ in range(20):
        ((state, _),) = world.distribution(state, "stay")
    assert state.of_class("hunter")[0].pos == state.of_class("prey")[0].pos


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("cells", {"mud_percent": 101}, "mud_percent must be from 0 to 100, got 101"),
        ("cells", {"wall_percent": 50, "mud_percent": 60}, "16 things need a free cell each"),
        ("push", {"boxes": 30}, "36 things need a free cell each"),
        ("push", {"scored": 2}, "world 'push': scored must be from 0 to 1, got 2"),
        ("chase", {"width": 3, "height": 3}, "2 things need a free cell each"),
        ("fuel", {"wall_percent": 100}, "1 things need a free cell each"),
        ("portal", {"portals": 28}, "30 things need a free cell each"),
    ],
)
def test_impossible_options_are_refused(name: str, options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make(name, **options)
