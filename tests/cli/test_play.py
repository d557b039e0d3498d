"""The game: any key is handled, every step can be undone, and the terminal is restored."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from command_line import Terminal, started
from treethink.cli.play import play_in_terminal
from treethink.errors import SettingError, StateError
from treethink.model import TreeThink
from treethink.play import keyboard
from treethink.play.game import Game
from treethink.play.screen import render
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import WORLDS, World, make
from treethink.worlds.base import check_fit
from treethink.worlds.gym import GymWorld

#: Worlds with few and many actions, with chance, without a grid, without directions.
WORLDS_TO_PLAY = ("walls", "maze", "fish", "gates", "lights", "keys", "scale(6,1)")


def learned(world: World, steps: int = 300) -> TreeThink:
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps, seed=0))
    return model


@cache
def learned_by_name(name: str) -> TreeThink:
    return learned(make(name))


any_key = st.sampled_from(
    [
        "left",
        "right",
        "up",
        "down",
        "enter",
        "backspace",
        "escape",
        "other",
        *"urn/:?wasdijkltfgh1 ",
    ]
) | st.characters(codec="utf-8", exclude_characters="qQ")


# --------------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        ("\x1bOA\x1bOD", ["up", "left"]),  # a terminal in application mode
        ("\x1b[1;5C", ["right"]),  # with Ctrl
        ("\xe0H\xe0P\x00M\x00K", ["up", "down", "right", "left"]),  # Windows
        ("\x1b", ["escape"]),
        ("\x1b\x1b[A", ["escape", "up"]),
        ("\x7f\x08\r\n", ["backspace", "backspace", "enter", "enter"]),
        ("\x03\x04", ["end", "end"]),
        ("\x1b[5~\x1b[H\x1bOPx", ["other", "other", "other", "x"]),  # page up, home, F1
        ("\x1bx", ["other"]),  # Alt-x
        ("\t\x01", ["other", "other"]),
        ("aÄ€", ["a", "Ä", "€"]),
        ("", []),
    ],
)
def test_the_input_of_a_terminal_is_parsed_into_keys(text: str, keys: list[str]) -> None:
    assert keyboard.parse(text) == keys


@given(st.text())
def test_any_input_can_be_parsed_into_keys(text: str) -> None:
    named = {"left", "right", "up", "down", "enter", "backspace", "escape", "end", "other"}
    for key in keyboard.parse(text):
        assert key in named or (len(key) == 1 and key.isprintable())


@given(st.lists(st.text(min_size=1), unique=True))
def test_actions_of_any_name_get_keys_that_are_not_reserved(
    actions: list[str],
) -> None:
    keys = keyboard.assign(actions)
    assert set(keys.values()) <= set(actions)
    assert not keyboard.RESERVED & keys.keys()
    assert len(set(keys.values())) >= min(len(actions), 10)
    assert len(keyboard.describe(keys)) <= len(keys)


@pytest.mark.parametrize("name", WORLDS)
def test_every_action_of_every_world_has_a_key(name: str) -> None:
    actions = make(name).actions
    keys = keyboard.assign(actions)
    assert set(keys.values()) == set(actions)
    text = " ".join(keyboard.describe(keys))
    for key, action in keys.items():
        assert key in text or "arrows" in text
        assert action in text or re.sub("left|right|up|down", "*", action) in text
    # The keys w, a, s and d are directions or nothing, where there are directions.
    ways = ("up", "left", "down", "right")
    has_ways = any(way in action for way in ways for action in actions)
    for key, way in zip("wasd", ways, strict=True):
        assert way in keys.get(key, way) or not has_ways


def test_further_groups_of_directions_get_letters_arranged_like_arrows() -> None:
    keys = keyboard.assign(make("gates").actions)
    assert [keys[key] for key in ("left", "right", "up", "down")] == [
        "left",
        "right",
        "up",
        "down",
    ]
    assert [keys[key] for key in "wasd"] == [
        f"guard-{way}" for way in ("up", "left", "down", "right")
    ]
    assert [keys[key] for key in "ijkl"] == [
        f"jump-{way}" for way in ("up", "left", "down", "right")
    ]
    assert keyboard.describe(keys)[1:] == ["wasd: guard-*", "ijkl: jump-*"]


def test_only_actions_in_all_four_directions_form_a_family() -> None:
    assert keyboard.describe(keyboard.assign(make("taxi").actions)) == [
        "arrows or wasd: up left down right",
        "p: pick-up",
        "o: drop-off",
    ]
    assert keyboard.describe(keyboard.assign(make("lights").actions)) == [
        "arrows or ws: up down",
        "space: stay",
        "t: toggle",
    ]
    assert keyboard.assign(["jump-left", "jump-up"]) == {"j": "jump-left", "m": "jump-up"}


def test_wasd_are_directions_unless_another_family_needs_them() -> None:
    keys = keyboard.assign(make("keys").actions)
    assert [keys[key] for key in "wasd"] == ["up", "left", "down", "right"]
    assert [keys[key] for key in ("up", "left", "down", "right")] == [
        "up", "left", "down", "right",
    ]  # fmt: skip
    assert keys[" "] == "stay"
    assert keyboard.describe(keys) == ["arrows or wasd: up left down right", "space: stay"]


def test_an_action_gets_its_first_free_letter_or_a_digit() -> None:
    # u, r and n are reserved by the game.
    assert keyboard.assign(["run", "rut", "tun", "nnn"]) == {
        "1": "run",
        "t": "rut",
        "2": "tun",
        "3": "nnn",
    }


# --------------------------------------------------------------------------- game


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(WORLDS_TO_PLAY),
    st.booleans(),
    st.lists(any_key, max_size=40),
    st.integers(0, 9),
)
def test_no_sequence_of_keys_breaks_the_game(
    name: str, with_model: bool, keys: list[str], seed: int
) -> None:
    world = make(name)
    game = Game(world, seed, learned_by_name(name) if with_model else None)
    for key in keys:
        game.press(key)
        assert game.state.schema == world.schema
        right, count = game.predictions
        assert 0 <= right <= count
        assert not game.done
        render(game, 60, 20)
    game.press("end")
    assert game.done


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(WORLDS_TO_PLAY), st.lists(st.integers(0, 99), max_size=15), st.integers(0, 9)
)
def test_undoing_all_actions_leads_back_to_the_start(
    name: str, choices: list[int], seed: int
) -> None:
    world = make(name)
    game = Game(world, seed, learned_by_name(name))
    visited = []
    for choice in choices:
        visited.append((game.state, game.predictions))
        game.act(world.actions[choice % len(world.actions)])
    for state, predictions in reversed(visited):
        game.undo()
        assert (game.state, game.predictions) == (state, predictions)
    assert game.state == world.reset(seed) and game.steps == 0
    game.undo()
    assert "nothing to undo" in game.message and game.state == world.reset(seed)


def test_undo_restores_the_random_numbers() -> None:
    game = Game(make("fish", fish=5), seed=0)
    states = set()
    for _ in range(5):
        game.act("step")
        states.add(game.state)
        game.press("u")
        assert "the random numbers too" in game.message
    assert len(states) == 1
    for _ in range(5):
        game.act("step")
        states.add(game.state)
    assert len(states) == 5  # the world is random
    game = Game(make("walls"))
    game.press("left")
    game.press("backspace")
    assert game.message == "undone: left"


class DriftingEnv(gymnasium.Env[int, int]):
    """A boat moves by its action and at random; the episode ends at 9."""

    observation_space = gymnasium.spaces.Discrete(100)  # type: ignore[assignment]
    action_space = gymnasium.spaces.Discrete(2)  # type: ignore[assignment]
    #: Whether the seed determines all random numbers.
    faithful = True

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.place = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        rng = self.np_random if self.faithful else np.random.default_rng()
        self.place += int(action) + int(rng.integers(3 if self.faithful else 2**40))
        return self.place, -1.0, self.faithful and self.place >= 9, False, {}


class UnseededEnv(DriftingEnv):
    faithful = False


def drifting_world(kind: type[DriftingEnv] = DriftingEnv) -> GymWorld:
    schema = Schema({"boat": ["at"], "game": ["score"]}, {"at": 1, "score": 1}, ["wait", "row"])
    return GymWorld(
        kind, schema=schema, to_state=lambda env: [Object(0, "boat", at=env.unwrapped.place)]
    )


def test_undo_in_a_forward_only_environment_replays_the_episode() -> None:
    game = Game(drifting_world(), seed=5)
    visited = []
    while "over" not in game.message:
        visited.append(game.state)
        game.act("row")
    over = game.state
    for state in reversed(visited):
        game.press("u")
        assert game.state == state and game.message == "undone: row"
    for state in [*visited[1:], over]:  # forwards again
        game.act("row")
        assert game.state == state


def test_undo_in_an_unseeded_environment_restarts_the_level() -> None:
    game = Game(drifting_world(UnseededEnv), seed=5)
    game.act("row")
    game.act("row")
    game.press("u")
    assert game.message == "this environment cannot go back: the level starts again"
    assert game.steps == 0
    game.act("row")
    assert game.message == "row" and game.steps == 1


def test_restart_and_next_level() -> None:
    world = make("maze")
    game = Game(world, seed=7)
    game.press("up")
    game.press(" ")
    game.press("r")
    assert (game.state, game.steps, game.seed) == (world.reset(7), 0, 7)
    game.press("n")
    assert (game.state, game.steps, game.seed) == (world.reset(8), 0, 8)
    fish = Game(make("fish"), seed=3)
    fish.act("step")
    first = fish.state
    fish.restart()
    fish.act("step")
    assert fish.state == first  # the same random numbers


def test_keys_take_the_actions_of_the_world() -> None:
    world = make("maze")
    game, state = Game(world, seed=2), world.reset(2)
    for key, action in (("left", "left"), (" ", "stay"), ("S", "down"), ("down", "down")):
        game.press(key)
        state = world.step(state, action, np.random.default_rng(0))
        assert game.state == state and game.message == action


def test_an_unassigned_key_only_shows_a_message() -> None:
    game = Game(make("walls"))
    before = game.state
    for key in ("x", "other", "enter", "€"):
        game.press(key)
        assert "does nothing" in game.message and game.state == before and game.steps == 0


@pytest.mark.parametrize("key", ["q", "Q", "end"])
def test_keys_that_quit(key: str) -> None:
    game = Game(make("walls"))
    game.press(key)
    assert game.done


class Shelf(World):
    """Boxes in a column, and jars that have no position."""

    name = "shelf"
    schema = Schema({"box": ["pos"], "jar": ["full"]}, {"pos": 2, "full": 1}, ["wait"])

    def reset(self, seed: int) -> State:
        boxes = [Object(i, "box", pos=(0, i)) for i in range(9)]
        return State(self.schema, [*boxes, *(Object(20 + i, "jar", full=0) for i in range(9))])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        return [(state, 1.0)]


def test_objects_without_a_position_are_listed_if_there_is_room() -> None:
    for game in (Game(Shelf()), Game(Shelf(), model=learned(Shelf(), 20))):
        game.act("wait")
        tall, short = render(game, 80, 40).plain, render(game, 80, 22).plain
        assert "jar 28 full 0" in tall and "more" not in tall
        assert "and 6 more" in short and short.count("B ") == tall.count("B ") >= 8


def test_help_explains_only_symbols_in_use() -> None:
    game = Game(Shelf(), model=learned(Shelf(), 20))
    game.press("?")
    text = render(game, 120, 60).plain
    assert (
        "B_: on top of something else" in text
        and "B!: not the most likely" in text
        and "P" not in text
    )


def test_escape_hides_help_and_never_quits() -> None:
    game = Game(make("keys"))
    legend = "h key (status 1)"
    assert legend not in render(game, 120, 40).plain
    game.press("?")
    assert legend in render(game, 120, 40).plain
    game.press("left")
    assert legend in render(game, 120, 40).plain  # it stays visible while playing
    game.press("escape")
    assert legend not in render(game, 120, 40).plain and not game.done
    game.press("escape")
    assert game.message == "press q to quit" and not game.done
    game.press("?")
    game.press("?")
    assert legend not in render(game, 120, 40).plain


def press_all(game: Game, text: str) -> None:
    for key in keyboard.parse(text):
        game.press(key)


def test_an_action_can_be_entered_by_name() -> None:
    world = make("scale(9,1)")
    game = Game(world, seed=0)
    assert "p8-left-0" not in game.keys.values()
    press_all(game, "/p8-leftt\x7f-0\r")
    assert game.message == "p8-left-0" and game.steps == 1 and game.typed is None
    press_all(game, ":p7-up-0")
    assert "action by name: p7-up-0_" in render(game, 80, 24).plain
    press_all(game, "\x1b")
    assert game.steps == 1 and game.typed is None and not game.done
    press_all(game, "/\r/\x7f/quick\x1b")
    assert game.steps == 1 and not game.done
    press_all(game, "/qq\x03")
    assert game.done


def test_a_unique_prefix_of_a_name_is_enough() -> None:
    game = Game(make("gates"))
    press_all(game, "/guard-l\r")
    assert game.message == "guard-left" and game.steps == 1
    press_all(game, "/gu\r")
    assert game.message == "'gu' may be guard-left, guard-right, guard-up, guard-down"
    assert game.steps == 1
    press_all(game, "/up\r")
    assert game.message == "up" and game.steps == 2


def test_a_complete_name_is_not_an_ambiguous_prefix() -> None:
    class Twice(type(make("walls"))):  # type: ignore[misc]
        name = "twice"
        schema = Schema({"wall": ["pos"], "player": ["pos"]}, {"pos": 2}, ["left", "left-up"])

    game = Game(Twice())
    press_all(game, "/left\r")
    assert game.message == "left" and game.steps == 1


def test_a_misspelled_action_suggests_the_nearest_name() -> None:
    game = Game(make("gates"))
    press_all(game, "/gard-left\r")
    assert game.message == "unknown action 'gard-left' in world 'gates'. Did you mean 'guard-left'?"
    assert game.steps == 0


class Fragile(type(make("walls"))):  # type: ignore[misc]
    """A world that fails on `up` and is over after `down`."""

    name = "fragile"

    def sample(self, state: State, action: str, rng: np.random.Generator) -> State:
        rng.random()
        if action == "up":
            raise StateError("too high")
        return state if action != "down" else super().sample(state, action, rng)

    def is_over(self, state: State) -> bool:
        return bool(state != self.reset(3))


def test_a_failing_step_shows_a_message_and_changes_nothing() -> None:
    game = Game(Fragile(), seed=3)
    rng_state = game._rng.bit_generator.state
    game.press("up")
    assert game.message == "up: too high"
    assert game.steps == 0 and game._rng.bit_generator.state == rng_state


def test_a_missing_next_level_leaves_the_game_unchanged() -> None:
    class OnlyOne(Fragile):
        def reset(self, seed: int) -> State:
            if seed > 3:
                raise StateError("there is but one")
            return State(self.schema, super().reset(seed))

    game = Game(OnlyOne(), seed=3)
    before = game.state
    game.press("n")
    assert game.message == "no next level: there is but one"
    assert game.state == before and game.seed == 3


def test_a_finished_episode_continues_only_in_the_next_level() -> None:
    game = Game(Fragile(wall_percent=0), seed=3)
    game.press("down")
    over = game.state
    message = "the episode is over: n for the next level, u to undo; down"
    assert game.message == message
    game.press("down")
    assert "the episode is over" in game.message and game.state == over and game.steps == 1
    game.press("u")
    assert game.state != over


def test_an_impossible_seed_is_refused_before_the_game_starts() -> None:
    with pytest.raises(SettingError, match="seed"):
        Game(make("walls"), seed=-1)


# ------------------------------------------------------------------------ predictions


def test_correct_predictions_are_counted_and_errors_are_shown() -> None:
    world = make("maze")
    game = Game(world, seed=0, model=TreeThink(world.schema))
    game.press(" ")  # an empty model predicts no change, but staying costs a point
    assert game.predictions == (0, 1)
    text = render(game, 80, 30).plain
    assert "the most likely outcome followed 0 of 1 times\n" in text
    assert "predicted 0, was -1" in text and "score -1 !" in text
    assert "the model gave 0% to what happened; this answer rests on nothing" in game.message
    game.press("n")
    assert game.predictions == (0, 1) and "truth" not in render(game, 80, 30).plain
    trained = Game(world, seed=0, model=learned(world, 5_000))
    for key in ("left", "right", "up", "down", " "):
        trained.press(key)
    assert trained.predictions == (5, 5)
    assert "as predicted" in render(trained, 80, 30).plain


class Coin(World):
    """A biased coin."""

    name = "coin"
    schema = Schema({"coin": ["up"]}, {"up": 1}, ["toss"])

    def reset(self, seed: int) -> State:
        return State(self.schema, [Object(0, "coin", up=seed % 2)])

    def dynamics(self, state: State, action: str) -> list[tuple[State, float]]:
        return [(state.replace(0, up=1), 0.7), (state.replace(0, up=0), 0.3)]


def test_a_random_world_shows_the_expected_number_of_hits() -> None:
    world = Coin()
    game = Game(world, seed=0, model=learned(world, 2_000))
    likely = []
    for _ in range(20):
        game.press("t")
        assert game.last is not None and game.last.prediction is not None
        likely.append(game.last.prediction.probability(game.last.prediction.mode()))
    right, _ = game.predictions
    assert right == sum(turn.after[0].up == 1 for turn in game._turns) < 20
    assert all(0.6 < each < 0.8 for each in likely)
    record = f"the most likely outcome followed {right} of 20 times, expected {sum(likely):.1f}"
    assert game.record() == record and game.summary() == f"coin  level 0  step 20  {record}"
    assert re.search(r"coin 0 up: predicted (\d+% \d(, )?){2}; was \d", render(game, 80, 24).plain)
    game.press("n")
    assert game.record() == record  # it is kept in the next level


def test_the_prediction_is_shown_beside_the_truth() -> None:
    world = make("walls")
    game = Game(world, seed=1, model=learned(world, 3_000))
    game.press("right")
    assert game.last is not None and game.last.prediction is not None
    assert game.last.prediction.state == game.last.before == world.reset(1)
    title, *rows = render(game, 80, 30).plain.splitlines()[4:13]
    assert title.split() == ["now", "predicted"]
    assert all(row[:15] == row[20:35] for row in rows[:8])


def test_a_model_of_another_world_is_refused_with_the_reason() -> None:
    maze, walls = make("maze"), make("walls")
    with pytest.raises(SettingError, match="fit world 'walls': its classes are wall, goal"):
        Game(walls, model=TreeThink(maze.schema))
    with pytest.raises(SettingError, match=r"m\.tt does not fit world 'maze'"):
        check_fit(walls.schema, maze, "m.tt")
    classes, attributes = dict(walls.schema.classes), dict(walls.schema.attributes)
    with pytest.raises(SettingError, match="its actions are left, the world's left, right"):
        check_fit(Schema(classes, attributes, ["left"]), walls)
    with pytest.raises(SettingError, match="its attributes are not"):
        check_fit(Schema(classes, {"pos": 3}, walls.actions), walls)
    check_fit(make("maze-t").schema, maze)
    with pytest.raises(SettingError, match=r"p0-left-1, p0-right-1, .* and 72 more, the world's"):
        check_fit(make("scale(2,10)").schema, make("scale(2,1)"))


# ----------------------------------------------------------------------- screen


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["maze-t", "walls", "keys-t", "gates", "lights"]),
    st.booleans(),
    st.integers(36, 200),
    st.integers(16, 60),
    st.lists(st.sampled_from(["left", "right", "up", "down"]), max_size=4),
)
def test_the_screen_fits_the_terminal_and_shows_the_player(
    name: str, with_model: bool, width: int, height: int, keys: list[str]
) -> None:
    world = make(name)
    game = Game(world, 0, TreeThink(world.schema) if with_model else None)
    for key in keys:
        game.press(key)
    lines = render(game, width, height).plain.splitlines()
    assert len(lines) <= height
    board = [line for line in lines if re.match(r"[#.<^ ]+[ !]", line)]
    assert all(len(line) <= width for line in board)
    assert "too small" in "".join(lines) or re.search("[PR]", "".join(board))


def test_a_large_level_is_cropped_around_the_player_with_arrows_to_the_rest() -> None:
    world = make("walls", width=60, height=60)
    game = Game(world, seed=0)
    for _ in range(3):
        text = render(game, 50, 20).plain
        rows = [line for line in text.splitlines() if re.search(r"[#.] ", line)]
        assert "P" in text and 5 <= len(rows) <= 20 and max(map(len, rows)) <= 50
        assert re.search(r"[<>^v] ?", text)
        game.press("n")


def test_a_terminal_that_is_too_small_says_so() -> None:
    game = Game(make("maze"))
    assert "20 x 6 is too small" in render(game, 20, 6).plain
    for width in range(1, 12):
        for height in range(1, 12):
            render(game, width, height)


# ------------------------------------------------------------------- terminal


def test_playing_without_a_terminal_is_refused() -> None:
    with pytest.raises(SettingError, match="needs a terminal"):
        play_in_terminal(make("walls"))
    result = started("play", "walls")
    assert result.code == 2 and result.out == ""
    assert re.fullmatch(r"treethink: play needs a terminal [^\n]*\n", result.err)


def stripped(page: str) -> str:
    """Remove trailing blanks and empty lines at the end."""
    return "\n".join(line.rstrip() for line in page.splitlines()).rstrip()


class PlayTerminal(Terminal):
    """A terminal of 80 x 24 in which `treethink play` runs."""

    def __init__(self, *arguments: str, **environment: str):
        super().__init__("play", *arguments, height=24, **environment)

    def wait_to_see(self, text: str) -> None:
        self.wait_for(lambda: text in self.visible_text())

    def visible_text(self) -> str:
        """Return the page that is on the screen."""
        page = self.out.decode(errors="replace").split("\x1b[H")[-1]
        return stripped(Text.from_ansi(page.replace("\r\n", "\n")).plain)

    def exit_code(self) -> int:
        """Return the exit code, and check that the terminal is restored."""
        code = self.wait()
        assert self.is_restored()
        assert self.out.count(b"\x1b[?1049h") == self.out.count(b"\x1b[?1049l") == 1
        assert self.out.rindex(b"\x1b[?25h") > self.out.rindex(
            b"\x1b[?25l"
        )  # the cursor is visible
        assert b"Traceback" not in self.out
        return code


@pytest.fixture
def terminal() -> Iterator[Any]:
    opened: list[PlayTerminal] = []

    def open_one(*arguments: str, **environment: str) -> PlayTerminal:
        opened.append(PlayTerminal(*arguments, **environment))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


posix = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")


@posix
def test_a_game_in_a_terminal(terminal: Any, tmp_path: Path) -> None:
    world = make("maze")
    model = learned(world, 3_000)
    model.save(tmp_path / "maze.tt")
    game = terminal("maze", "--seed", "3", "--model", str(tmp_path / "maze.tt"))
    expected = Game(world, 3, model)
    game.wait_for(lambda: game.visible_text() == stripped(render(expected, 80, 24).plain))
    game.send("\x1b[C\x1b[B ")  # keys typed quickly arrive together
    for key in ("right", "down", " "):
        expected.press(key)
    game.wait_for(lambda: game.visible_text() == stripped(render(expected, 80, 24).plain))
    assert "step 3\nthe most likely outcome followed 3 of 3 times\n" in game.visible_text()
    game.send("u")
    game.wait_to_see("undone: stay")
    game.send("q")
    assert game.exit_code() == 0
    last = b"maze  level 3  step 2  the most likely outcome followed 2 of 2 times"
    assert last in game.out.split(b"\x1b[?1049l")[1]


@posix
@pytest.mark.parametrize("keys", ["\x03", "\x04", "q"])
def test_leaving_restores_the_terminal(terminal: Any, keys: str) -> None:
    game = terminal("walls")
    game.wait_to_see("q: quit")
    game.send("\x1b")
    game.wait_to_see("press q to quit")
    game.send(keys)
    assert game.exit_code() == 0


@posix
def test_termination_restores_the_terminal(terminal: Any) -> None:
    game = terminal("walls")
    game.wait_to_see("q: quit")
    game.process.send_signal(signal.SIGTERM)
    assert game.exit_code() == 128 + signal.SIGTERM


@posix
def test_a_failure_restores_the_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, terminal: Any
) -> None:
    (tmp_path / "broken.py").write_text(
        "from treethink.worlds.walls import Walls\n"
        "from treethink.errors import StateError\n"
        "class Broken(Walls):\n"
        "    def place(self, each):\n"
        "        if each != self.reset(0)[each.id]:\n"
        "            raise StateError('no place')\n"
        "        return super().place(each)\n"
    )
    monkeypatch.chdir(tmp_path)
    game = terminal("broken:Broken", "--set", "wall_percent=0")
    game.wait_to_see("q: quit")
    game.send("\x1b[C\x1b[D\x1b[D")
    assert game.exit_code() == 1
    assert b"treethink: StateError in your own code: no place" in game.out


@posix
def test_a_dumb_terminal_is_refused(terminal: Any) -> None:
    game = terminal("walls", TERM="dumb")
    assert game.wait() == 2 and b"can move its cursor" in game.out
