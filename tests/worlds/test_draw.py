"""Pictures of states: every object is in its cell, or marked at the edge.

The texts are golden files. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/worlds/test_draw.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treethink.errors import SettingError, TransitionError, UnknownNameError, WrongTypeError
from treethink.metrics import WrongValue
from treethink.model import TreeThink
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.text import percent
from treethink.worlds import WORLDS, World, draw, make
from treethink.worlds.draw import svg
from treethink.worlds.draw.compare import PredictionLike, compare, difference_text, differences
from treethink.worlds.draw.layout import MAX_CELLS, Item, Window, extent, items
from treethink.worlds.draw.shapes import SHAPES, TILES, slot, stamp, text_mask
from treethink.worlds.looks import BLUE, GREEN, GREY, RED, Look, look_of, with_default_looks

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[1] / "golden"
ESCAPES = re.compile(r"\x1b\[[\d;]*m")
#: Attributes that no picture of a world shows.
UNSEEN = {"fuel": {"fuel"}, "bounce": {"velocity"}}


class Guess:
    """A prediction by hand: what may become of some attributes, and how likely it is."""

    def __init__(self, state: State, changes: Mapping[tuple[int, str], Mapping[Any, float]]):
        self.state = state
        self._changes = changes

    def changes(self) -> Mapping[int, Mapping[str, Mapping[Any, float]]]:
        changes: dict[int, dict[str, Mapping[Any, float]]] = {}
        for (each, name), values in self._changes.items():
            changes.setdefault(each, {})[name] = values
        return changes

    def mode(self) -> State:
        state = self.state
        for (each, name), values in self._changes.items():
            state = state.replace(each, **{name: max(values, key=lambda value: values[value])})
        return state


def maze_scene() -> tuple[World, State]:
    """The player is one to the left of a goal: `PG`."""
    world = make("maze", width=4, height=3, goals=1)
    state = State(
        world.schema,
        [
            *(Object(i, "wall", pos=(i, 0)) for i in range(4)),
            Object(10, "goal", pos=(2, 1)),
            Object(20, "player", pos=(1, 1)),
            Object(30, "game", score=7),
        ],
    )
    return world, state


def some_states(name: str) -> list[State]:
    world = make(name)
    return [after for _, _, after in transitions(world, 40, seed=3, episode=20)][::8]


# ---------------------------------------------------------------------- how they read


def texts() -> dict[str, str]:
    """Return the expected content of the golden files, by name."""
    golden = {name: draw.ansi(make(name), make(name).reset(4), colour=False) for name in ("walls",)}
    golden["maze"] = draw.ansi(make("maze"), make("maze").reset(4), colour=False)
    world, before = maze_scene()
    guess = Guess(before, {(20, "pos"): {(1, 1): 0.75, (2, 1): 0.25}, (30, "score"): {6: 1.0}})
    truth = before.replace_many({20: {"pos": (2, 1)}, 30: {"score": 8}})
    golden["compare"] = compare(world, truth, guess, colour=False)
    return golden


def test_states_and_comparisons_read_as_they_should() -> None:
    for name, text in texts().items():
        path = GOLDEN / f"draw_{name}.txt"
        if os.environ.get("REWRITE_GOLDEN"):
            path.write_text(text + "\n", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text + "\n", name


@pytest.mark.parametrize("name", WORLDS)
def test_each_cell_shows_what_lies_on_top_and_what_lies_under_it(name: str) -> None:
    world = make(name)
    for state in some_states(name):
        lines = draw.ansi(world, state, colour=False).splitlines()
        cells: dict[tuple[int, int], list[tuple[int, int, str]]] = {}
        for each in state:
            if (cell := world.place(each)) is not None:
                look = look_of(world.looks, each)
                order = [*world.looks].index(look)
                cells.setdefault(cell, []).append((order, each.id, look.sign))
        frame = world.frame()
        assert frame is not None
        left = min(frame.left, *(x for x, _ in cells))
        stacks = []
        for x, y in sorted(cells, key=lambda cell: (cell[1], cell[0])):
            signs = [sign for _, _, sign in sorted(cells[x, y], reverse=True)]
            column = 2 * (x - left)
            shown = f"{lines[y]:<99}"[column : column + 2]
            assert shown == signs[0] + ("_" if len(signs) > 1 else " ")
            stacks += [" on ".join(signs)] if len(signs) > 1 else []
        drawn = "".join(lines[: frame.height])
        assert len(re.findall(r"[^.\s]", drawn)) == len(cells) + len(stacks)
        if stacks:
            assert ", ".join(stacks[:4]) in lines[frame.height :][bool(world.keeps_score)]


@pytest.mark.parametrize("name", WORLDS)
def test_colours_change_nothing_but_colours(name: str) -> None:
    world = make(name)
    for state in some_states(name):
        coloured, plain = draw.ansi(world, state), draw.ansi(world, state, colour=False)
        without = "\n".join(line.rstrip() for line in ESCAPES.sub("", coloured).splitlines())
        assert without == plain
        assert "\x1b" not in plain
        assert coloured.count("\x1b[0m") * 2 == coloured.count("\x1b[")  # what starts also ends


def test_what_lies_under_the_player_is_seen() -> None:
    world, state = maze_scene()
    on_goal = state.replace(20, pos=(2, 1))
    assert draw.ansi(world, on_goal, colour=False).splitlines()[1:] == [
        ". . P_.",
        ". . . .",
        "score 7",
        "P on G",
    ]
    player, goal = (look.colour for look in world.looks if look.class_name in ("player", "goal"))
    for name, colour in (("player", player), ("goal", goal)):
        mask = (draw.rgb_array(world, on_goal) == colour).all(axis=2)
        assert mask.sum() > 20, name


def test_a_caption_tells_what_has_no_place() -> None:
    world, state = maze_scene()
    assert draw.ansi(world, state, colour=False).splitlines()[-1] == "score 7"
    assert draw.ansi(world, state.replace(30, score=-12), colour=False).endswith("\nscore -12")


def test_a_caption_names_objects_only_where_it_must_and_counts_the_rest() -> None:
    schema = Schema({"lamp": ["on"], "fan": ["on"], "dial": ["at"]}, {"on": 1, "at": 2}, ["go"])
    board = Board(schema)
    one = State(schema, [Object(1, "lamp", on=1), Object(2, "dial", at=(3, 4))])
    assert draw.ansi(board, one) == "lamp on 1\nat (3, 4)"
    many = State(schema, [Object(i, "fan", on=0) for i in range(20)])
    captions = [f"fan {i} on 0" for i in range(20)]
    assert draw.ansi(board, many).splitlines() == captions
    assert draw.ansi(board, many, lines=4).splitlines() == [*captions[:3], "and 17 more"]
    more = State(schema, [Object(i, "fan", on=0) for i in range(21)])
    assert draw.ansi(board, more).splitlines() == [*captions[:19], "and 2 more"]
    # In a picture, whose size is kept small, there are four.
    assert draw.rgb_array(board, many).shape == draw.rgb_array(board, more).shape
    few = State(schema, [Object(i, "fan", on=0) for i in range(4)])
    assert draw.rgb_array(board, many).shape[0] == draw.rgb_array(board, few).shape[0]


class Board:
    """The least that can be drawn: objects are where their `pos` says."""

    def __init__(self, schema: Schema, *looks: Look):
        self.schema = schema
        self.looks = looks

    def place(self, each: Object) -> tuple[int, int] | None:
        pos = each.values.get("pos")
        return (pos[0], pos[1]) if isinstance(pos, tuple) else None

    def frame(self) -> Window | None:
        return None


DOTS = Schema({"dot": ["pos"], "other": ["pos"]}, {"pos": 2}, ["go"])


def dots(*cells: tuple[int, int]) -> State:
    return State(DOTS, [Object(i, "dot", pos=cell) for i, cell in enumerate(cells)])


def test_objects_without_a_matching_look_are_drawn() -> None:
    board = Board(DOTS, Look("o", "dot", "disc", BLUE, {"pos": 3}))
    assert draw.ansi(board, dots((1, 0)), colour=False) == ". ?"
    assert (draw.rgb_array(board, dots((1, 0)))[:, 24:] == RED).all(axis=2).any()


def test_classes_without_a_look_are_told_apart_by_their_initials_and_colours() -> None:
    names = ["player", "wall", "path", "pond", "game"]
    schema = Schema(
        {name: ["score"] if name == "game" else ["pos"] for name in names},
        {"pos": 2, "score": 1},
        ["go"],
    )
    board = Board(schema)
    state = State(schema, [Object(i, names[i], pos=(i, 0)) for i in range(4)])
    assert draw.ansi(board, state, colour=False) == "P # A O"
    pictures = draw.rgb_array(board, state).astype(int).reshape(24, 4, 24, 3)
    for one, other in combinations(range(4), 2):
        assert np.abs(pictures[:, one] - pictures[:, other]).mean() > 2
    assert (pictures[12, 1, 12] == GREY).all()
    assert draw.legend(board) == "P player, # wall, A path, O pond"
    # Where nothing is said about it, the first class of the schema lies on top.
    heap = State(schema, [Object(i, names[i], pos=(0, 0)) for i in range(4)])
    assert draw.ansi(board, heap, colour=False).splitlines() == ["P_", "P on # on A on O"]
    # What a table has, it keeps, and nobody else gets.
    partly = Board(schema, Look("P", "path", "disc", GREEN), Look("#", "pond", "disc", BLUE))
    assert draw.ansi(partly, state, colour=False) == "L W P #"


def test_more_classes_than_letters_still_get_signs() -> None:
    names = [f"thing{i}" for i in range(100)]
    looks = with_default_looks((), names)
    signs = [look.sign for look in reversed(looks)]
    assert [look.class_name for look in reversed(looks)] == names
    assert len(set(signs[:90])) == 90 and "." not in signs and set(signs[92:]) == {"?"}


def test_a_legend_has_every_sign_of_a_world_and_nothing_that_is_not_drawn() -> None:
    assert draw.legend(make("keys")) == (
        "P player, K key (status 0), h key (status 1), u key (status 2), G goal,"
        " D door (open 0), d door (open 1), # wall"
    )
    for name in WORLDS:
        world = make(name)
        for look in world.looks:
            assert f"{look.sign} {look.class_name}" in draw.legend(world)
        assert "game" not in draw.legend(world)
    assert draw.legend(make("doors", colors=26, width=40)).count(",") == 52
    assert draw.legend(make("switches", pairs=40, width=40)).endswith(" and 62 more")


def test_a_picture_of_an_empty_state_is_empty() -> None:
    board = Board(DOTS)
    assert draw.ansi(board, dots()) == ""
    assert draw.rgb_array(board, dots()).size == 0


# ------------------------------------------------------------------------- how far


@pytest.mark.parametrize("far", [10**12, -(10**12), 2**62, -(2**62)])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_distant_object_is_marked_without_enlarging_the_picture(far: int, axis: int) -> None:
    board = Board(DOTS, Look("o", "dot", "disc", BLUE))
    cell = (far, 1) if axis == 0 else (1, far)
    state = dots((0, 0), (1, 1), (2, 2), cell)
    text = draw.ansi(board, state, colour=False)
    arrow = {(0, True): ">", (0, False): "<", (1, True): "v", (1, False): "^"}[axis, far > 0]
    assert text.count("o ") + text.count("o\n") == 3 and text.count(arrow) == 1
    assert f"outside: dot 3 pos {cell}" in text
    pixels = draw.rgb_array(board, state)
    assert pixels.shape == (72, 72, 3)
    near = draw.rgb_array(board, dots((0, 0), (1, 1), (2, 2)))
    rows, columns = np.nonzero((pixels != near).any(axis=2))
    assert set(zip(rows // 24, columns // 24, strict=True)) == {
        {">": (1, 2), "<": (1, 0), "v": (2, 1), "^": (0, 1)}[arrow]
    }
    # It touches the edge behind which it lies.
    touched = {">": columns.max() - 71, "<": columns.min(), "v": rows.max() - 71, "^": rows.min()}
    assert touched[arrow] == 0


def test_a_remote_far_away_leaves_the_lights_in_the_picture() -> None:
    world = make("lights")
    state = world.reset(0)
    (remote,) = state.of_class("remote")
    for channel in (-1000, 10**6):
        tuned = state.replace(remote.id, channel=channel)
        text = draw.ansi(world, tuned, colour=False)
        assert f"channel {channel}" in text and "R" not in text
        assert ("<" if channel < 0 else ">") in text
        assert draw.rgb_array(world, tuned).shape[1] <= 24 * MAX_CELLS


def test_far_apart_in_all_directions_is_still_a_small_picture() -> None:
    board = Board(DOTS, Look("o", "dot", "disc", BLUE))
    state = dots(*((10**9 * i, -(10**9) * i) for i in range(50)))
    assert draw.rgb_array(board, state).shape == (24, 24, 3)
    assert "outside" not in draw.ansi(board, state)  # arrows are enough where they are many


def test_a_large_grid_is_cut_to_what_an_image_can_hold() -> None:
    world = make("walls", width=200, height=4)
    state = world.reset(0)
    assert draw.rgb_array(world, state).shape == (24 * 4, 24 * MAX_CELLS, 3)
    assert draw.rgb_array(world, state, cell=128).shape == (128 * 4, 24 * MAX_CELLS, 3)
    lines = draw.ansi(world, state, colour=False).splitlines()
    assert len(lines) == 4 and {line[-2:] for line in lines} == {" >"}
    assert {len(line) for line in lines} == {2 * MAX_CELLS + 1}


cells = st.tuples(st.integers(-40, 40), st.integers(-40, 40))
anywhere = st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))


def at_cells(places: Iterable[tuple[int, int]]) -> list[Item]:
    look = Look("o", "dot", "disc", BLUE)
    return [Item(0, i, cell, look) for i, cell in enumerate(places)]


@given(st.lists(cells, min_size=1))
def test_a_window_on_things_near_each_other_shows_all_of_them(places: list[Any]) -> None:
    window = extent(at_cells(places))
    assert all(cell in window for cell in places)
    least = [min(cell[axis] for cell in places) for axis in (0, 1)]
    assert [window.left, window.top] == [min(each, 0) for each in least]


@given(st.lists(cells | anywhere, min_size=1), st.integers(1, 200))
def test_a_window_is_never_too_large_and_never_empty(places: list[Any], most: int) -> None:
    window = extent(at_cells(places), most)
    assert 1 <= window.width <= most and 1 <= window.height <= most
    for axis, first, size in ((0, window.left, window.width), (1, window.top, window.height)):
        visible = [cell for cell in {each[axis] for each in places} if 0 <= cell - first < size]
        # No other window of that length would show more.
        for start in {each[axis] for each in places}:
            others = {each[axis] for each in places if 0 <= each[axis] - start < most}
            assert len(others) <= len(visible)


@given(cells, st.integers(1, 30), st.integers(1, 30), cells, st.integers(1, 40), st.integers(1, 40))
def test_a_part_of_a_window_lies_in_it_and_around_its_middle(
    corner: tuple[int, int], width: int, height: int, middle: Any, columns: int, rows: int
) -> None:
    window = Window(*corner, width, height)
    part = window.part(middle, columns, rows)
    assert (part.width, part.height) == (min(width, columns), min(height, rows))
    assert (part.left, part.top) in window
    assert (part.left + part.width - 1, part.top + part.height - 1) in window
    assert middle in part or middle not in window


def test_a_window_that_is_given_shows_just_those_cells() -> None:
    world = make("maze")
    state = world.reset(4)
    full = draw.ansi(world, state, colour=False).splitlines()
    part = draw.ansi(world, state, colour=False, window=Window(2, 1, 4, 3)).splitlines()
    # Around it there is an edge with arrows to the rest.
    assert [line[2:10].rstrip() for line in part[1:4]] == [
        line[4:12].rstrip() for line in full[1:4]
    ]
    assert part[0].split() == ["<", "^", "^", "^", "^", ">"]
    assert draw.rgb_array(world, state, window=Window(2, 1, 4, 3)).shape[:2] == (72 + 20, 96)


@pytest.mark.parametrize("name", WORLDS)
def test_a_picture_is_as_large_as_the_frame_and_larger_only_where_it_must_be(name: str) -> None:
    world = make(name)
    frame = world.frame()
    assert frame is not None
    for state in some_states(name):
        inside = all(item.cell in frame for item in items(world, state))
        lines = draw.ansi(world, state, colour=False).splitlines()
        shape = draw.rgb_array(world, state, cell=8).shape
        assert (shape[1] == 8 * frame.width) == inside
        assert inside or name.startswith("lights")
        assert all(line for line in lines[: frame.height])


@pytest.mark.parametrize(("dimensions", "size"), [(1, 9), (2, 5), (3, 8), (4, 3), (5, 3), (8, 2)])
def test_the_frame_of_paths_is_what_the_whole_cube_takes(dimensions: int, size: int) -> None:
    world = make("paths", dimensions=dimensions, size=size, path_percent=100)
    assert world.frame() == extent(items(world, world.reset(0)), max_cells=10_000)
    if (dimensions, size) == (3, 8):
        assert world.frame() == Window(0, 0, 26, 26)


# ------------------------------------------------------------------------- pixels


@pytest.mark.parametrize("name", WORLDS)
def test_every_look_of_a_world_is_told_from_every_other(name: str) -> None:
    world = make(name)
    signs = [look.sign for look in world.looks]
    assert len({*signs, ".", "?"}) == len(signs) + 2
    pictures = []
    for look in world.looks:
        assert look.class_name in world.schema.classes
        board = Board(DOTS, Look(look.sign, "dot", look.shape, look.colour))
        pictures.append(draw.rgb_array(board, dots((0, 0))).astype(int))
    for one, other in combinations(pictures, 2):
        assert np.abs(one - other).mean() > 2


@pytest.mark.parametrize("name", WORLDS)
def test_pixels_are_bytes_and_the_same_every_time(name: str) -> None:
    world = make(name)
    for state in some_states(name):
        pixels = draw.rgb_array(world, state, cell=10)
        assert pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.shape[2] == 3
        assert (pixels == draw.rgb_array(world, state, cell=10)).all()


@pytest.mark.parametrize("name", WORLDS)
def test_every_change_of_a_state_can_be_seen(name: str) -> None:
    world = make(name)

    @cache  # a state after one step is the state before the next
    def drawings(state: State) -> tuple[str, Any]:
        return draw.ansi(world, state), draw.rgb_array(world, state, cell=10)

    changes = 0
    for before, _, after in transitions(world, 60, seed=5, episode=30):
        if before != after:
            changes += 1
            if set().union(*before.changes_to(after).values()) == UNSEEN.get(name):
                continue
            (text, pixels), (text_after, pixels_after) = drawings(before), drawings(after)
            assert text != text_after
            assert pixels.shape != pixels_after.shape or (pixels != pixels_after).any()
    assert changes > 5


def test_frames_keep_their_size_in_a_window() -> None:
    world = make("lights")
    state = world.reset(0)
    window = extent(items(world, state))
    shapes = set()
    for _ in range(20):
        state = world.step(state, "up", np.random.default_rng(0))
        shapes.add(draw.rgb_array(world, state, window=window).shape)
    assert len(shapes) == 1


def test_shapes_are_told_apart_and_stay_within_their_cell() -> None:
    stamps = {name: stamp(name, 24) for name in SHAPES}
    for covers, bright in stamps.values():
        assert covers.shape == bright.shape == (24, 24)
        assert bright.min() >= 0 and (bright <= covers).all() and covers.max() <= 1
        assert covers.mean() > 0.03
    for one, other in combinations(stamps, 2):
        assert np.abs(stamps[one][0] - stamps[other][0]).mean() > 0.02, (one, other)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_things_that_share_a_cell_do_not_hide_each_other(count: int) -> None:
    for name in SHAPES.keys() - TILES - {"arrow", "outline"}:
        covered = [stamp(name, 24, slot(i, count))[0] > 0.9 for i in range(count)]
        for each in covered:
            others = np.logical_or.reduce([other for other in covered if other is not each])
            assert (each & ~others).sum() >= 0.7 * each.sum() > 0, name


def test_an_unknown_shape_is_refused() -> None:
    board = Board(DOTS, Look("o", "dot", "disk", BLUE))
    with pytest.raises(UnknownNameError, match=r"unknown shape 'disk' .* Did you mean 'disc'"):
        draw.rgb_array(board, dots((0, 0)))


@pytest.mark.parametrize("cell", [0, -1, 257, True, 2.5, None])
def test_a_cell_of_no_sensible_size_is_refused(cell: Any) -> None:
    world, state = maze_scene()
    with pytest.raises(SettingError, match="cell must be a whole number of pixels from 1 to 256"):
        draw.rgb_array(world, state, cell=cell)


@pytest.mark.parametrize("cell", [1, 2, 5, 7, 100])
def test_cells_of_any_size_can_be_drawn(cell: int) -> None:
    world, state = maze_scene()
    assert draw.rgb_array(world, state, cell=cell).shape[1] == 4 * cell


def test_letters_are_what_they_look_like() -> None:
    rows = ["".join(".#"[int(dot)] for dot in row).rstrip(".") for row in text_mask("7-")]
    assert rows == ["#####", "....#", "...#", "..#...#####", ".#", ".#", ".#", "", ""]
    hanging = {each for each in "abcdefghijklmnopqrstuvwxyz" if text_mask(each)[7:].any()}
    assert hanging == set("gjpqy")
    assert (text_mask("score -0123456789.") == text_mask("SCORE -0123456789.")).all()
    letters = {each: text_mask(each).tobytes() for each in "abcdefghijklmnopqrstuvwxyz0123456789-"}
    assert len(set(letters.values())) == len(letters)
    assert (text_mask("€") == text_mask("?")).all()


# --------------------------------------------------------------- truth and prediction


def test_a_comparison_of_what_was_predicted_has_no_mark() -> None:
    world, state = maze_scene()
    right = Guess(state, {(20, "pos"): {(2, 1): 0.6, (1, 1): 0.4}})
    text = compare(world, right.mode(), right, colour=False)
    assert "!" not in text and text.splitlines()[-2:] == [
        "as was most likely",
        "player 20 pos: predicted 60% (2, 1), 40% (1, 1); was (2, 1)",
    ]
    sure = Guess(state, {(20, "pos"): {(2, 1): 1.0}})
    assert compare(world, sure.mode(), sure, colour=False).endswith("\nas predicted")
    assert differences(right.mode(), right) == []


def test_differences_are_told_in_words() -> None:
    _, state = maze_scene()
    sure = Guess(state, {(20, "pos"): {(2, 1): 1.0}})
    assert [difference_text(state, each) for each in differences(state, sure)] == [
        "player 20 pos: predicted (2, 1), was (1, 1)"
    ]
    (wrong,) = differences(state, sure)
    assert wrong == WrongValue(20, "pos", predicted={(2, 1): 1.0}, true={(1, 1): 1.0})
    assert wrong.outright
    torn = Guess(state, {(20, "pos"): {(2, 1): 0.75, (1, 1): 0.25}, (30, "score"): {8: 1.0}})
    assert [difference_text(state, each) for each in differences(state, torn)] == [
        "player 20 pos: predicted 75% (2, 1), 25% (1, 1); was (1, 1)",
        "game 30 score: predicted 8, was 7",
    ]
    many = Guess(state, {(30, "score"): {8: 0.3, 9: 0.3, 1: 0.2, 2: 0.1, 3: 0.1}})
    assert [difference_text(state, each) for each in differences(state, many)] == [
        "game 30 score: predicted 30% 8, 30% 9, 20% 1, 10% 2 and 1 more; was 7",
    ]
    unmoved = Guess(state, {})
    assert [
        difference_text(state, each) for each in differences(state.replace(30, score=9), unmoved)
    ] == ["game 30 score: predicted 7, was 9"]


def test_only_cells_that_differ_are_framed() -> None:
    world, state = maze_scene()
    guess = Guess(state, {(20, "pos"): {(2, 1): 1.0}})
    red, plain = (
        compare(world, truth, guess, "rgb_array").astype(int) for truth in (state, guess.mode())
    )
    board = slice(20, 20 + 72)  # below the titles
    red, plain = red[board, 24 * 5 :], plain[board, 24 * 5 :]  # of the prediction
    rows, columns = np.nonzero((red != plain).any(axis=2))
    assert set(zip(rows // 24, columns // 24, strict=True)) == {(1, 1), (1, 2)}
    assert (red[24, 24:72] != plain[24, 24:72]).any(axis=1).all()  # along their upper side


def test_a_wrong_score_is_marked_although_it_has_no_cell() -> None:
    world, state = maze_scene()
    guess = Guess(state, {(30, "score"): {9: 1.0}})
    lines = compare(world, state, guess, colour=False).splitlines()
    assert lines[-2].split("    ")[0] == "score 7 !" and lines[-2].endswith("score 9 !")
    assert "!" not in "".join(lines[:-2])
    pixels = compare(world, state, guess, "rgb_array").astype(int)
    caption = pixels[20 + 72 :]
    assert (caption[:, :, 0] > caption[:, :, 2] + 60).any()
    right = compare(world, guess.mode(), guess, "rgb_array").astype(int)
    assert not (right[20 + 72 :, :, 0] > right[20 + 72 :, :, 2] + 60).any()


def test_likelier_outcomes_are_drawn_with_more_contrast() -> None:
    board = Board(DOTS, Look("o", "dot", "square", GREEN))
    state = dots((0, 0), (3, 0))
    chances = {(1, 0): 0.1, (2, 0): 0.3, (0, 0): 0.6}
    pixels = compare(board, state, Guess(state, {(0, "pos"): chances}), "rgb_array")
    panel = pixels[20:44, 24 * 5 :]
    middles = [tuple(panel[12, 24 * x + 12].astype(int)) for x in range(4)]
    greens = [green for _, green, _ in middles]
    assert greens[1] < greens[2] < greens[0] < greens[3] == GREEN[1]


def test_an_object_that_may_change_in_two_ways_is_drawn_once_where_it_looks_the_same() -> None:
    schema = Schema({"dot": ["pos", "mood"]}, {"pos": 2, "mood": 1}, ["go"])
    board = Board(schema, Look("o", "dot", "square", GREEN))
    state = State(schema, [Object(1, "dot", pos=(0, 0), mood=0)])
    moody = Guess(state, {(1, "mood"): {0: 0.5, 1: 0.25, 2: 0.25}})
    sure = Guess(state, {})
    assert (
        compare(board, state, moody, "rgb_array") == compare(board, state, sure, "rgb_array")
    ).all()


def test_both_panels_show_the_same_cells() -> None:
    board = Board(DOTS, Look("o", "dot", "disc", BLUE))
    state = dots((0, 0))
    text = compare(board, state, Guess(state, {(0, "pos"): {(2, 1): 1.0}}), colour=False)
    assert text.splitlines()[1:3] == ["o!. .     .!. .", ". . .!    . . o!"]


def test_many_differences_are_counted_not_listed() -> None:
    board = Board(DOTS, Look("o", "dot", "disc", BLUE))
    state = dots(*((i, 0) for i in range(20)))
    guess = Guess(state, {(i, "pos"): {(i, 1): 1.0} for i in range(20)})
    lines = compare(board, state, guess, colour=False).splitlines()
    assert lines[-1] == "and 12 more" and len(lines) == 1 + 2 + 8 + 1


def test_a_learned_model_can_be_compared() -> None:
    world = make("keys")
    model = TreeThink(world.schema)
    wrong = 0
    for before, action, after in transitions(world, 150, seed=0):
        prediction: PredictionLike = model.predict(before, action)
        text = compare(world, after, prediction, colour=False)
        assert bool(re.search("as predicted|as was most", text)) == (prediction.mode() == after)
        wrong += "!" in text
        assert compare(world, after, prediction, "rgb_array", cell=8).dtype == np.uint8
        model.observe(before, action, after)
    assert wrong > 10


def test_invalid_comparisons_are_refused() -> None:
    world, state = maze_scene()
    guess = Guess(state, {})
    with pytest.raises(
        UnknownNameError, match=r"unknown mode 'rgb_aray' .* Did you mean 'rgb_array'"
    ):
        compare(world, state, guess, "rgb_aray")  # type: ignore[call-overload]
    with pytest.raises(WrongTypeError, match="the truth must be a State, got"):
        compare(world, [(state, 1.0)], guess)  # type: ignore[call-overload]
    fewer = State(world.schema, [each for each in state if each.id != 10])
    with pytest.raises(TransitionError, match=r"other objects: \[10\]"):
        compare(world, fewer, guess)


def test_only_certain_probabilities_are_written_as_0_or_100_percent() -> None:
    assert [percent(each) for each in (0.0, 1e-9, 0.004, 0.5, 0.995, 1 - 1e-9, 1.0)] == [
        "0%",
        "<0.0001%",
        "0.4%",
        "50%",
        "99.5%",
        ">99.99%",
        "100%",
    ]


# ---------------------------------------------------- boards


def test_boards_show_states_side_by_side_below_their_captions() -> None:
    world, state = maze_scene()
    after = world.distribution(state, "right")[0][0]
    text = draw.boards(world, [("now", state), ("next", after)], colour=False)
    title, *rows = text.splitlines()
    assert title.split() == ["now", "next"]
    here, there = (draw.ansi(world, each, colour=False).splitlines() for each in (state, after))
    start = title.index("next")
    assert [row[:start].rstrip() for row in rows[: len(here)]] == here
    assert [row[start:] for row in rows[: len(there)]] == there
    assert draw.boards(world, [("now", state)], colour=False).splitlines() == ["now", *here]
    assert draw.boards(world, []) == ""
    assert ESCAPES.sub("", draw.boards(world, [("now", state), ("next", after)])).split() == (
        text.split()
    )


def test_boards_as_svg_contain_each_picture_and_its_caption() -> None:
    world, state = maze_scene()
    after = world.distribution(state, "right")[0][0]
    whole = ElementTree.fromstring(draw.boards_svg(world, [("now", state), ("<b>", after)]))
    namespace = "{http://www.w3.org/2000/svg}"
    pictures = whole.findall(f"{namespace}svg")
    assert [each.text for each in whole.findall(f"{namespace}text")] == ["now", "<b>"]
    assert [ElementTree.tostring(each).count(b"<ns0:path") for each in pictures] == [
        svg.svg(world, each).count("<path") for each in (state, after)
    ]
    (left, right) = (int(each.attrib["x"]) for each in pictures)
    assert left + int(pictures[0].attrib["width"]) < right
    assert right + int(pictures[1].attrib["width"]) < int(whole.attrib["width"])
