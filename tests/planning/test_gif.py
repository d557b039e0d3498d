"""GIFs: they show every state as it is drawn, and equal episodes give equal bytes."""

from __future__ import annotations

import builtins
import io
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from treethink.errors import MissingPackageError, SettingError
from treethink.planning import Agent, Episode, gif
from treethink.state import State
from treethink.worlds import World, draw, make
from treethink.worlds.base import Pixels


def play(name: str, steps: int = 6, level: int = 1, **options: int) -> tuple[World, Episode]:
    world = make(name, **options)
    return world, Agent(world, simulations=10).play(world, steps, level=level)


def frames(content: bytes) -> list[tuple[Pixels, int]]:
    """Each picture and how long it is seen."""
    result = []
    with Image.open(io.BytesIO(content)) as picture:
        for i in range(picture.n_frames):  # type: ignore[attr-defined]
            picture.seek(i)
            result.append((np.asarray(picture.convert("RGB")), picture.info["duration"]))
    return result


@pytest.mark.parametrize("name", ["maze", "coins", "keys", "lights", "cliffwalking", "frozenlake"])
def test_every_state_is_there_as_the_world_draws_it(name: str) -> None:
    world, episode = play(name)
    pictures = frames(gif.gif(world, [episode]))
    assert len(pictures) == len(episode.states)
    for state, (picture, _) in zip(episode.states, pictures, strict=True):
        expected = world.render(state, "rgb_array")
        assert np.array_equal(picture[: expected.shape[0]], expected)


def test_a_line_below_tells_the_step_and_the_action() -> None:
    world, episode = play("maze", steps=2)
    height = world.render(episode.states[0], "rgb_array").shape[0]
    lines = [picture[height:] for picture, _ in frames(gif.gif(world, [episode]))]
    assert all(each.any() for each in lines)
    assert not np.array_equal(lines[0], lines[1]) and not np.array_equal(lines[1], lines[2])


def test_the_first_state_is_seen_for_longer_and_the_last_is_held() -> None:
    world, episode = play("maze", steps=4)
    assert [time for _, time in frames(gif.gif(world, [episode]))] == [800, 200, 200, 200, 2_000]
    assert [time for _, time in frames(gif.gif(world, [episode], step=50))][1:4] == [50] * 3
    with Image.open(io.BytesIO(gif.gif(world, [episode]))) as picture:
        assert picture.info["loop"] == 0


def test_the_same_episode_gives_the_same_bytes() -> None:
    world, episode = play("keys")
    same_world, same_episode = play("keys")
    assert gif.gif(world, [episode]) == gif.gif(same_world, [same_episode])
    _, other = play("keys", level=2)
    assert gif.gif(world, [episode]) != gif.gif(world, [other])


def test_episodes_follow_each_other() -> None:
    world, first = play("maze", level=1)
    _, second = play("maze", level=2)
    pictures = frames(gif.gif(world, [first, second]))
    assert len(pictures) == len(first.states) + len(second.states)
    assert [time for _, time in pictures].count(2_000) == 2


def test_an_episode_without_a_step_is_one_picture() -> None:
    world = make("maze")
    ((_, time),) = frames(gif.gif(world, [Episode([world.reset(0)])]))
    assert time in (0, 2_000)  # a single picture need not say


class Colourful(type(make("maze"))):  # type: ignore[misc]
    """A maze that draws itself in thousands of colours, and larger and larger."""

    def render(self, state: State, mode: str = "ansi") -> Any:
        size = 100 + 5 * abs(int(state.of_class("game")[0].score))
        ramp = np.linspace(0, 255, size).astype(np.uint8)
        return np.stack(np.broadcast_arrays(ramp[:, None], ramp[None, :], np.uint8(7)), axis=2)


def test_more_colours_than_a_gif_has_and_pictures_of_any_size() -> None:
    world = Colourful()
    episode = Agent(world, simulations=5).play(world, 4, level=1)
    content = gif.gif(world, [episode])
    assert content == gif.gif(world, [episode])
    pictures = [picture for picture, _ in frames(content)]
    assert len({each.shape for each in pictures}) == 1
    expected = world.render(episode.states[0]).astype(int)
    assert np.abs(pictures[0][: expected.shape[0], : expected.shape[1]] - expected).max() <= 24


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    world, episode = play("maze")
    gif.write(tmp_path / "maze.GIF", world, [episode])
    assert (tmp_path / "maze.GIF").read_bytes() == gif.gif(world, [episode])
    assert len([*tmp_path.iterdir()]) == 1


# -------------------------------------------------------------------------- refusals


def test_invalid_gif_requests_are_refused(tmp_path: Path) -> None:
    world, episode = play("maze")
    with pytest.raises(SettingError, match=r"end in \.gif, got .*maze\.mp4"):
        gif.write(tmp_path / "maze.mp4", world, [episode])
    with pytest.raises(SettingError, match="needs an episode"):
        gif.gif(world, [])
    for step in (0, 19, 0.5, True):
        with pytest.raises(SettingError, match="step must be"):
            gif.gif(world, [episode], step=step)  # type: ignore[arg-type]


def test_a_film_that_is_too_long_is_refused_before_it_is_drawn() -> None:
    world = make("maze")
    with pytest.raises(
        SettingError, match=r"of 192 x 2\d\d pixels each, at most 2,\d+ go"
    ) as raised:
        gif.check_size(world, world.reset(0), 3_000)
    most = int(re.search(r"most ([\d,]+)", str(raised.value))[1].replace(",", ""))  # type: ignore[index]
    gif.check_size(world, world.reset(0), most)
    with pytest.raises(SettingError):
        gif.check_size(world, world.reset(0), most + 1)


def test_without_pillow_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "PIL":
            raise ImportError(name)
        return real(name, *rest)

    world, episode = play("maze")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingPackageError, match=r"pip install '\.\[experiments\]'"):
        gif.gif(world, [episode])


def test_pictures_of_large_levels_show_the_window_that_render_shows() -> None:
    world = make("maze", width=200, height=5)
    episode = Episode([world.reset(0)])
    ((picture, _),) = frames(gif.gif(world, [episode]))
    assert picture.shape[1] == draw.MAX_CELLS * 24


def test_the_film_of_the_documentation_is_what_its_script_makes() -> None:
    path = Path(__file__).parents[2] / "docs" / "images" / "make_film.py"
    module = runpy.run_path(str(path))
    new, stored = frames(module["content"]()), frames(module["TARGET"].read_bytes())
    assert len(new) == len(stored) == 19
    for (picture, time), (stored_picture, stored_time) in zip(new, stored, strict=True):
        assert time == stored_time and np.array_equal(picture, stored_picture)
