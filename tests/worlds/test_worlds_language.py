"""Worlds that need more than the paper's language: each follows what a slow reading of it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.checks.worlds import scenes_come_true
from treethink.errors import SettingError, StateError
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import LANGUAGE_WORLDS, World, make

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
def bounce_states(draw: st.DrawFn) -> State:
    steps = st.tuples(st.integers(-1, 1), st.integers(-1, 1))
    places = st.tuples(st.integers(0, 7), st.integers(0, 5))
    balls = draw(st.lists(st.tuples(places, steps), max_size=4))
    return state_of("bounce", [("ball", {"pos": at, "velocity": by}) for at, by in balls])


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


@st.composite
def carry_states(draw: st.DrawFn) -> State:
    """Several things may be carried, and several may be on one cell."""
    some = st.lists(st.tuples(cells, st.integers(0, 1)), max_size=3)
    things: list[tuple[str, dict[str, Any]]] = [
        *placed("wall", draw(few_cells)),
        *(
            ("door", {"pos": cell, "state": state})
            for cell, state in draw(st.lists(st.tuples(cells, st.integers(0, 2)), max_size=4))
        ),
        *(
            (name, {"pos": (-1, -1) if carried else cell, "carried": carried})
            for name in ("key", "ball")
            for cell, carried in draw(some)
        ),
    ]
    heading = draw(st.sampled_from([(1, 0), (0, 1), (-1, 0), (0, -1)]))
    agent: tuple[str, dict[str, Any]] = ("agent", {"pos": draw(cells), "heading": heading})
    return state_of("carry", [*things, agent])


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
        return {} if car.fuel > 50 else {car.id: {"fuel": car.fuel + 10}}
    needs = 15 if action == "down" else 30 if action == "up" else 20
    target = ahead(car.pos, action)
    if car.fuel < needs or at(state, "wall", target):
        return {}
    return {car.id: {"pos": target, "fuel": car.fuel - 4}}


def slow_bounce(state: State, action: str) -> Changes:
    changes: Changes = {}
    for ball in state:
        (x, y), (dx, dy) = ball.pos, ball.velocity
        if x + dx < 0 or x + dx > 7:
            dx = -dx
        if y + dy < 0 or y + dy > 5:
            dy = -dy
        changes[ball.id] = {"pos": (x + dx, y + dy), "velocity": (dx, dy)}
    return changes


def slow_portal(state: State, action: str) -> Changes:
    player, leave = only(state, "player"), only(state, "exit")
    if action == "enter":
        return {player.id: {"pos": leave.pos}} if at(state, "portal", player.pos) else {}
    target = ahead(player.pos, action)
    return {} if at(state, "wall", target) else {player.id: {"pos": target}}


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


def slow_carry(state: State, action: str) -> Changes:
    agent = only(state, "agent")
    x, y = agent.heading
    if action in ("left", "right"):
        return {agent.id: {"heading": (y, -x) if action == "left" else (-y, x)}}
    front = (agent.pos[0] + x, agent.pos[1] + y)
    things = [each for each in state if each.class_name in ("key", "ball")]
    held = [each for each in things if each.carried == 1]
    there = [each for each in things if each.carried == 0 and each.pos == front]
    doors = at(state, "door", front)
    if action == "pickup":
        return {} if held else {each.id: {"carried": 1, "pos": (-1, -1)} for each in there}
    if action == "drop":
        full = there or doors or at(state, "wall", front)
        return {} if full else {each.id: {"carried": 0, "pos": front} for each in held}
    if action == "forward":
        shut = [door for door in doors if door.state != 0]
        full = there or shut or at(state, "wall", front)
        return {} if full else {agent.id: {"pos": front}}
    changes: Changes = {}
    for door in doors:
        if door.state == 0:
            changes[door.id] = {"state": 1}
        elif door.state == 1 or any(each.class_name == "key" for each in held):
            changes[door.id] = {"state": 0}
    return changes


TWINS: dict[str, tuple[st.SearchStrategy[State], Callable[[State, str], Changes]]] = {
    "cells": (cells_states(), slow_cells),
    "push": (push_states(), slow_push),
    "chase": (chase_states(), slow_chase),
    "fuel": (fuel_states(), slow_fuel),
    "bounce": (bounce_states(), slow_bounce),
    "portal": (portal_states(), slow_portal),
    "parity": (parity_states(), slow_parity),
    "carry": (carry_states(), slow_carry),
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
    same_rules = {"carry-numbered", "doors-things", "coins-things", "sokoban"}
    assert {each.name for each in LANGUAGE_WORLDS} == set(TWINS) | same_rules


# ------------------------------------------------------------------ other forms of a world

TURNS = [(1, 0), (0, 1), (-1, 0), (0, -1)]


def numbered(state: State) -> State:
    """The state with the number of its heading."""
    (agent,) = state.of_class("agent")
    number = Object(agent.id, "agent", pos=agent.pos, heading=TURNS.index(agent.heading))
    others = [each for each in state if each.class_name != "agent"]
    return State(make("carry-numbered").schema, [*others, number])


def in_hand(state: State) -> State:
    """The state with carried things where the agent is."""
    (agent,) = state.of_class("agent")
    held = [each for name in ("key", "ball") for each in state.find(name, carried=1)]
    return state.replace_many({each.id: {"pos": agent.pos} for each in held})


def with_things(state: State, color_of: Callable[[Object], int], schema: Schema) -> State:
    """The state with one class."""
    return State(
        schema,
        [
            each
            if each.class_name == "game"
            else Object(each.id, "thing", pos=each.pos, color=color_of(each))
            for each in state
        ],
    )


def color_in_doors(each: Object) -> int:
    return (
        0 if each.class_name == "wall" else {"door": 1, "player": 3}[each.class_name] + each.color
    )


def color_in_coins(each: Object) -> int:
    return 2 - each.used if each.class_name == "coin" else {"wall": 0, "player": 3}[each.class_name]


def doors_with_things(state: State) -> State:
    return with_things(state, color_in_doors, make("doors-things").schema)


def coins_with_things(state: State) -> State:
    return with_things(state, color_in_coins, make("coins-things").schema)


FORMS: dict[str, tuple[World, World, Callable[[State], State]]] = {
    "numbered": (make("carry"), make("carry-numbered"), numbered),
    "in hand": (make("carry"), make("carry", hidden=0), in_hand),
    "doors": (make("doors"), make("doors-things"), doors_with_things),
    "coins": (make("coins"), make("coins-things"), coins_with_things),
}


@pytest.mark.parametrize(("world", "other", "translated"), FORMS.values(), ids=FORMS)
def test_another_form_of_a_world_is_the_same_game(
    world: World, other: World, translated: Callable[[State], State]
) -> None:
    for one, two in zip(
        transitions(world, 1_500, seed=0), transitions(other, 1_500, seed=0), strict=True
    ):
        assert (translated(one[0]), one[1], translated(one[2])) == two[:3]
    for one_scene, two_scene in zip(world.scenes(), other.scenes(), strict=True):
        assert translated(one_scene.before) == two_scene.before
        assert [(translated(after), p) for after, p in one_scene.truth] == two_scene.truth


def test_a_color_without_a_look_is_refused() -> None:
    world = make("doors-things")
    state = world.reset(0).replace(0, color=7)
    with pytest.raises(StateError, match="world 'doors-things': a color must be from 0 to 4, got"):
        world.distribution(state, "left")


@given(portal_states(), st.sampled_from(["left", "right", "up", "down"]))
def test_a_step_onto_a_portal_enters_it_with_the_option(state: State, move: str) -> None:
    stepping = make("portal", stepping=1).distribution(state, move)
    ((after, _),) = make("portal").distribution(state, move)
    onto_portal = after != state and at(state, "portal", only(after, "player").pos)
    entered = make("portal").distribution(after, "enter")
    assert stepping == (entered if onto_portal else [(after, 1.0)])


@pytest.mark.parametrize(
    ("name", "options"), [("portal", {"stepping": 1}), ("carry", {"hidden": 0})]
)
def test_the_scenes_of_other_options_come_true(name: str, options: dict[str, int]) -> None:
    scenes_come_true(make(name, **options))


def test_a_heading_that_is_none_is_refused() -> None:
    for name, heading in (("carry", (1, 1)), ("carry-numbered", 4)):
        world = make(name)
        agent = only(world.reset(0), "agent")
        with pytest.raises(StateError, match="has none of the four headings"):
            world.distribution(world.reset(0).replace(agent.id, heading=heading), "left")


def test_agents_start_with_nothing_or_one_thing() -> None:
    held = Counter(
        tuple(each.class_name for each in state if each.values.get("carried"))
        for state in map(make("carry").reset, range(300))
    )
    assert set(held) == {(), ("key",), ("ball",)} and min(held.values()) > 70


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
        ("push", {"boxes": 30}, "43 things need a free cell each"),
        ("push", {"scored": 2}, "world 'push': scored must be from 0 to 1, got 2"),
        ("chase", {"width": 3, "height": 3}, "2 things need a free cell each"),
        ("fuel", {"wall_percent": 100}, "1 things need a free cell each"),
        ("bounce", {"speed": 0}, "needs a speed of at least 1, got 0"),
        ("bounce", {"speed": 6}, "with speed 6 needs a height of at least 7, got 6"),
        ("carry", {"keys": 33}, "37 things need a free cell each"),
        ("carry", {"numbered": 2}, "numbered must be from 0 to 1, got 2"),
        ("doors-things", {"doors": 30}, "31 things need a free cell each"),
        ("portal", {"stepping": 2}, "stepping must be from 0 to 1, got 2"),
        ("portal", {"portals": 28}, "30 things need a free cell each"),
    ],
)
def test_impossible_options_are_refused(name: str, options: dict[str, int], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        make(name, **options)
