"""Episodes as an animated GIF, written by Pillow.

    world, episodes -> pictures -> one palette -> [ gif ] -> bytes

Each picture is what `world.render` draws, with a line below it for the number of the step and the
action. All pictures share one palette of at most 256 colours, the limit of a GIF; as long as there
are no more, colours are exact. The same episodes give the same bytes with the same Pillow.
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
from treethink.errors import SettingError, missing_package, shown, whole_number
from treethink.planning.agent import Episode
from treethink.state import State
from treethink.worlds.base import Pixels, World
from treethink.worlds.draw.layout import CaptionLine
from treethink.worlds.draw.pixels import CELL, text_block, to_uint8

#: The duration of a step, and of the first and the last state, in milliseconds.
STEP, FIRST, LAST = 200, 800, 2_000
#: The most pixels of all pictures together, since they are held in memory.
MOST_PIXELS = 100_000_000
_COLOURS = 256
_SHORTEST = 20  # milliseconds; viewers slow down what is faster

_Numbers = npt.NDArray[Any]


def write(
    path: str | os.PathLike[str], world: World, episodes: Sequence[Episode], step: int = STEP
) -> None:
    """Write episodes as a GIF; `step` is the duration of each step in milliseconds."""
    check_path(path)
    file.write(path, gif(world, episodes, step))


def gif(world: World, episodes: Sequence[Episode], step: int = STEP) -> bytes:
    """Return the content of the file: all episodes in turn, in an endless loop."""
    step = whole_number("step", step, _SHORTEST)
    check_pillow()
    if not episodes:
        raise SettingError("a GIF needs an episode, got none")
    check_size(world, episodes[0].states[0], sum(len(each.states) for each in episodes))
    pictures: list[Pixels] = []
    durations: list[int] = []
    for episode in episodes:
        pictures += _pictures(world, episode)
        between = [step] * (len(episode.states) - 1)
        durations += [max(FIRST, step), *between[:-1], LAST] if between else [LAST]
    return _encode(_pad_to_one_size(pictures), durations)


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise a `SettingError` unless the path ends in .gif."""
    if Path(path).suffix.lower() != ".gif":
        raise SettingError(f"the name of a GIF must end in .gif, got {shown(str(path))}")


def check_pillow() -> None:
    """Raise a `MissingPackageError` if Pillow is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise missing_package("GIFs need Pillow", "experiments") from error


def check_size(world: World, state: State, states: int) -> None:
    """Raise a `SettingError` if the pictures would take too much memory."""
    height, width = _picture(world, state, "").shape[:2]
    most = MOST_PIXELS // (height * width)
    if states > most:
        raise SettingError(
            f"a GIF of {states:,} states is too long: of {width} x {height} pixels each, at most"
            f" {most:,} go into one; give fewer steps or episodes"
        )


# ------------------------------------------------------------------------ pictures


def _pictures(world: World, episode: Episode) -> Iterator[Pixels]:
    steps = len(episode.actions)
    for i, state in enumerate(episode.states):
        action = f" {episode.actions[i - 1]}" if i else ""
        yield _picture(world, state, f"{i}/{steps}{action}")


def _picture(world: World, state: State, text: str) -> Pixels:
    picture = world.render(state, "rgb_array")
    line = to_uint8(text_block([CaptionLine(text)], picture.shape[1], CELL))
    return np.concatenate([picture, line], axis=0)


def _pad_to_one_size(pictures: Sequence[Pixels]) -> list[Pixels]:
    """Pad smaller pictures on the right and below, in the colour of their last corner."""
    height = max(each.shape[0] for each in pictures)
    width = max(each.shape[1] for each in pictures)
    padded = []
    for each in pictures:
        if each.shape[:2] != (height, width):
            canvas = np.empty((height, width, 3), np.uint8)
            canvas[...] = each[-1, -1]
            canvas[: each.shape[0], : each.shape[1]] = each
            each = canvas
        padded.append(each)
    return padded


# ----------------------------------------------------------------------------- GIF


def _encode(pictures: Sequence[Pixels], durations: Sequence[int]) -> bytes:
    from PIL import Image

    colours = np.unique(np.concatenate([np.unique(_as_integers(each)) for each in pictures]))
    palette, index = _palette(colours)
    frames = []
    for each in pictures:
        numbers = index[np.searchsorted(colours, _as_integers(each))]
        frame = Image.frombytes("P", (each.shape[1], each.shape[0]), numbers.tobytes())
        frame.putpalette(palette)
        frames.append(frame)
    content = io.BytesIO()
    frames[0].save(
        content,
        format="GIF",
        save_all=True,
        append_images=frames[1:],
        duration=list(durations),
        loop=0,
        optimize=False,
    )
    return content.getvalue()


def _as_integers(picture: Pixels) -> _Numbers:
    """Return the colour of each pixel as one number."""
    red, green, blue = (picture[:, :, i].astype(np.int32) for i in range(3))
    return (red << 16) | (green << 8) | blue


def _palette(colours: _Numbers) -> tuple[bytes, _Numbers]:
    """Return a palette of at most 256 colours, and the index in it of each given colour."""
    from PIL import Image

    parts = [(colours >> shift) & 255 for shift in (16, 8, 0)]
    content = np.stack(parts, axis=1).astype(np.uint8).tobytes()
    if len(colours) <= _COLOURS:
        return content, np.arange(len(colours), dtype=np.uint8)
    image = Image.frombytes("RGB", (len(colours), 1), content)
    quantized = image.quantize(_COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    palette = quantized.getpalette() or []
    return bytes(palette), np.frombuffer(quantized.tobytes(), dtype=np.uint8)
