"""An episode as a film: an animated GIF, written by Pillow.

    world, episodes -> pictures -> one palette -> [ film ] -> bytes

Each state is what `world.render` draws, score and all, with a line below it that says which step
it is and what was done. All pictures share one palette: the colours themselves while there are no
more than a GIF can have, which is 256. The same episodes give the same bytes, as long as Pillow is
the same.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treethink import file
from treethink.errors import MissingPackageError, SettingError, shown, whole_number
from treethink.planning.agent import Episode
from treethink.state import State
from treethink.worlds.base import Pixels, World
from treethink.worlds.draw.layout import Told
from treethink.worlds.draw.pixels import CELL, finished, writing

#: How long a step is seen, and how long the first and the last state, in milliseconds.
STEP, FIRST, LAST = 200, 800, 2_000
#: Of all pictures of a film together: they are held in memory.
MOST_PIXELS = 100_000_000
_COLOURS = 256
_SHORTEST = 20  # milliseconds: what is shown for less, viewers show for longer

_Numbers = npt.NDArray[Any]


def write(
    path: str | os.PathLike[str], world: World, episodes: Sequence[Episode], step: int = STEP
) -> None:
    """Write the film of some episodes; `step` is how long each step is seen, in milliseconds."""
    check_path(path)
    file.write(path, gif(world, episodes, step))


def gif(world: World, episodes: Sequence[Episode], step: int = STEP) -> bytes:
    """The content of the file: one episode after the other, again and again."""
    step = whole_number("step", step, _SHORTEST)
    check_pillow()
    if not episodes:
        raise SettingError("a film needs an episode, got none")
    check_size(world, episodes[0].states[0], sum(len(each.states) for each in episodes))
    pictures: list[Pixels] = []
    times: list[int] = []
    for episode in episodes:
        pictures += _pictures(world, episode)
        between = [step] * (len(episode.states) - 1)
        times += [max(FIRST, step), *between[:-1], LAST] if between else [LAST]
    return _encoded(_of_one_size(pictures), times)


def check_path(path: str | os.PathLike[str]) -> None:
    """Refuse what is no name of a GIF."""
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"a film is a GIF, so its name ends in .gif, got {shown(str(path))}")


def check_pillow() -> None:
    """Say how to get it if it is not there."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise MissingPackageError(
            "films are written by Pillow, which is not installed: pip install pillow,"
            ' or pip install "treethink[experiments]"'
        ) from error


def check_size(world: World, state: State, states: int) -> None:
    """Refuse a film of more pictures than can be held at once."""
    height, width = _picture(world, state, "").shape[:2]
    most = MOST_PIXELS // (height * width)
    if states > most:
        raise SettingError(
            f"a film of {states:,} states is too long: of {width} x {height} pixels each, at most"
            f" {most:,} go into one; give fewer steps or episodes"
        )


# ------------------------------------------------------------------------ pictures


def _pictures(world: World, episode: Episode) -> Iterator[Pixels]:
    steps = len(episode.actions)
    for i, state in enumerate(episode.states):
        did = f" {episode.actions[i - 1]}" if i else ""
        yield _picture(world, state, f"{i}/{steps}{did}")


def _picture(world: World, state: State, text: str) -> Pixels:
    picture = world.render(state, "rgb_array")
    line = finished(writing([Told(text)], picture.shape[1], CELL))
    return np.concatenate([picture, line], axis=0)


def _of_one_size(pictures: Sequence[Pixels]) -> list[Pixels]:
    """Smaller ones get an edge, right and below, of the colour in their last corner."""
    height = max(each.shape[0] for each in pictures)
    width = max(each.shape[1] for each in pictures)
    same = []
    for each in pictures:
        if each.shape[:2] != (height, width):
            paper = np.empty((height, width, 3), np.uint8)
            paper[...] = each[-1, -1]
            paper[: each.shape[0], : each.shape[1]] = each
            each = paper
        same.append(each)
    return same


# ----------------------------------------------------------------------------- GIF


def _encoded(pictures: Sequence[Pixels], times: Sequence[int]) -> bytes:
    from PIL import Image

    colours = np.unique(np.concatenate([np.unique(_whole(each)) for each in pictures]))
    palette, place = _palette(colours)
    frames = []
    for each in pictures:
        numbers = place[np.searchsorted(colours, _whole(each))]
        frame = Image.frombytes("P", (each.shape[1], each.shape[0]), numbers.tobytes())
        frame.putpalette(palette)
        frames.append(frame)
    content = io.BytesIO()
    frames[0].save(
        content,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=list(times),
        loop=0,
        optimize=False,
    )
    return content.getvalue()


def _whole(picture: Pixels) -> _Numbers:
    """Red, green and blue as one number."""
    red, green, blue = (picture[:, :, i].astype(np.int32) for i in range(3))
    return (red << 16) | (green << 8) | blue


def _palette(colours: _Numbers) -> tuple[bytes, _Numbers]:
    """At most 256 colours, and which of them stands for each of those given."""
    from PIL import Image

    parts = [(colours >> shift) & 255 for shift in (16, 8, 0)]
    content = np.stack(parts, axis=1).astype(np.uint8).tobytes()
    if len(colours) <= _COLOURS:
        return content, np.arange(len(colours), dtype=np.uint8)
    all_of_them = Image.frombytes("RGB", (len(colours), 1), content)
    fewer = all_of_them.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    chosen = fewer.getpalette() or []
    return bytes(chosen), np.frombuffer(fewer.tobytes(), dtype=np.uint8)
