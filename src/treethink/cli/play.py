"""`treethink play`: play a world in a terminal."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.control import Control

from treethink.cli._options import (
    Height,
    Level,
    ModelOption,
    NoPlugins,
    RequiredWorld,
    Width,
    WorldOption,
    WorldOptions,
    load_model,
    make_world,
    model_and_world,
)
from treethink.cli._output import missing_argument
from treethink.errors import SettingError
from treethink.play import keyboard, screen
from treethink.play.game import Game, Model
from treethink.terminal import SafeConsole, say, terminal
from treethink.worlds import World
from treethink.worlds.base import check_fit


def play(
    ctx: typer.Context,
    world: RequiredWorld = None,
    model: Annotated[
        str | None,
        typer.Argument(metavar="MODEL", help="Show the predictions of this saved model, too."),
    ] = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    level: Level = 0,
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
    no_plugins: NoPlugins = False,
) -> None:
    """Play a world with the keyboard.

    With a model, its prediction is shown beside what really happens. Press `?` for the legend and
    `q` to quit.

    Examples:
      treethink play keys
      treethink play maze maze.tt
      treethink play maze --width 12 --height 12 --set goals=5 --level 3
    """
    path, name = model_and_world(False, (world, model), model_option, world_option)
    if name is None:
        raise missing_argument(ctx, "WORLD")
    place = make_world(name, set_, no_plugins, width=width, height=height)
    loaded = None if path is None else load_model(path)
    if loaded is not None:
        check_fit(loaded.schema, place, str(path))
    say(terminal(), play_in_terminal(place, level, loaded).summary())


def play_in_terminal(world: World, seed: int = 0, model: Model | None = None) -> Game:
    """Play until the player quits, restore the terminal and return the game."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingError("play needs a terminal for keys and screen; it cannot be piped")
    console = SafeConsole()
    if console.is_dumb_terminal:
        raise SettingError("play needs a terminal that can move its cursor; TERM says it cannot")
    game = Game(world, seed, model)
    with _exit_on_signals(), keyboard.key_reader() as read, console.screen() as page:
        while not game.done:
            console.control(Control.home())
            page.update(screen.render(game, console.width, console.height))
            for key in read():
                game.press(key)
                if game.done:
                    break
    return game


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Let Ctrl-C end the game, and SIGTERM the process once the terminal has been restored."""

    def terminate(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, terminate) if in_main_thread else None
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)
