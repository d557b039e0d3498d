"""`treethink plan`: look ahead in a model, and play by it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treethink.cli import _completion as completing
from treethink.cli._exit import INTERRUPTED
from treethink.cli._options import SEARCH, AsJson, Options, Side, WorldName
from treethink.cli._output import make_world, tell, writable
from treethink.cli.session import live
from treethink.cli.session.report import say_how_it_ended
from treethink.errors import SettingError
from treethink.model import TreeThink
from treethink.planning import gif as film
from treethink.planning.agent import Agent, score_of
from treethink.planning.episode_summary import EpisodeSummary, summary_lines
from treethink.planning.search import SearchSettings
from treethink.planning.watch import Viewer
from treethink.play.game import check_fit
from treethink.terminal import say, say_wrapped, terminal
from treethink.worlds import World, make

_SIMULATIONS = 100


def plan(
    world: WorldName,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="A saved model to plan in.", show_default="learn one now"
        ),
    ] = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Plan in the world itself instead.")
    ] = False,
    simulations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Look ahead so many times for an action.",
            show_default=f"{_SIMULATIONS}, or as time allows",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    milliseconds: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Time for each action, at most.",
            show_default="no limit",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(metavar="N", min=1, help="Play so many levels.")] = 1,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="How many steps each has.")] = 50,
    level: Annotated[
        int, typer.Option(metavar="N", min=0, help="The seed of the first level to play.")
    ] = 0,
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Of its random numbers.", rich_help_panel=SEARCH),
    ] = 0,
    discount: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="What a point is worth one step later, from 0 to 1.",
            rich_help_panel=SEARCH,
        ),
    ] = 1.0,
    horizon: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Look ahead so many steps.",
            show_default="to the level's last",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    exploration: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="How much is tried that does not look best.",
            rich_help_panel=SEARCH,
        ),
    ] = 1.25,
    choose: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Which action is the best, by visits or by value.",
            rich_help_panel=SEARCH,
            autocompletion=completing.one_of(lambda: ("visits", "value")),
        ),
    ] = "visits",
    width: Side = None,
    height: Side = None,
    set_: Options = None,
    pause: Annotated[
        float,
        typer.Option(metavar="X", min=0, max=60, help="Seconds for each step, in a terminal."),
    ] = 0.1,
    gif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a film of it (needs Pillow).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Let a model play, by looking ahead in it.

    It shows how that goes and what it scores, beside the best and the worst that can be scored.

    Examples:
      treethink plan maze --model maze.tt
      treethink plan maze                         # learns the maze first
      treethink plan coins --width 10 --height 10 --set coins=8 --gif coins.gif
      treethink plan keys --oracle --episodes 20  # what a perfect model would do
      treethink plan maze --model maze.tt --json | jq '.episodes[].score'
    """
    place = make_world(world, set_ or [], width=width, height=height)
    _check_score(place, level)
    by_time = simulations is None and milliseconds is not None
    search = SearchSettings(
        simulations=None if by_time else _SIMULATIONS if simulations is None else simulations,
        milliseconds=milliseconds,
        discount=discount,
        horizon=horizon,
        exploration=exploration,
        choose=choose,
    )
    agent = Agent.from_settings(_model(place, model, oracle), search, seed=seed)
    if gif is not None:
        _check_film(writable(gif), place, level, episodes * (steps + 1))
    console = terminal(stderr=as_json)
    if model is None and not oracle:
        _learn(console, agent.model, world, place)
    quiet = Console(quiet=True, force_terminal=False) if as_json else console
    accounts, interrupted = [], False
    for each in range(level, level + episodes):
        viewer = Viewer(quiet, place, steps, each, pause=pause, lines=episodes == 1)
        account, interrupted = _play(agent, place, steps, each, viewer)
        if account is not None:
            accounts.append(account)
            say_wrapped(quiet, str(account))
        if interrupted:
            break
    for text in summary_lines(accounts):
        say_wrapped(quiet, text)
    if gif is not None and accounts:
        _film(console, gif, place, accounts)
    if as_json:
        tell("plan", **_told(place, agent, model, oracle, accounts))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


# ------------------------------------------------------------------ before it starts


def _check_score(world: World, level: int) -> None:
    """Refuse a world in which there is nothing to gain."""
    if "score" not in world.schema.classes.get("game", ()):
        raise SettingError(
            f"world {world.name!r} keeps no score, so there is nothing to plan for;"
            " those that do have a `game`, as 'maze' has"
        )
    score_of(world.reset(level))


def _model(world: World, path: Path | None, oracle: bool) -> Any:
    """What to plan in; a new model still has to learn."""
    if oracle and path is not None:
        raise SettingError("--oracle plans in the world itself, --model in a model: leave out one")
    if oracle:
        return world
    if path is None:
        return TreeThink(world.schema)
    model = TreeThink.load(path)
    check_fit(model.schema, world, str(path))
    return model


def _check_film(path: Path, world: World, level: int, states: int) -> None:
    """Refuse now what could not be filmed after all the playing."""
    film.check_path(path)
    film.check_pillow()
    film.check_size(world, world.reset(level), states)


# --------------------------------------------------------------------- what it does


def _learn(console: Console, model: TreeThink, name: str, place: World) -> None:
    """Learn the world as `treethink learn` does, and tell it."""
    world = _usual(name, place)
    say_wrapped(console, f"no --model: learns {world!r} first, as `treethink learn {name}` does")
    watched = live.watch(model, world)
    say_how_it_ended(console, world, watched.curve, watched.seconds, watched.interrupted)
    if watched.interrupted:
        say(console, "nothing was played")
        raise typer.Exit(INTERRUPTED)


def _usual(name: str, place: World) -> World:
    """The world without the options of the command line, unless that is another world."""
    try:
        usual = make(name)
    except SettingError:  # one of the user's own, that takes options
        return place
    return usual if usual.schema == place.schema else place


def _play(
    agent: Agent, world: World, steps: int, level: int, viewer: Viewer
) -> tuple[EpisodeSummary | None, bool]:
    """What came of a level, if anything was done there, and whether it was interrupted."""
    account = None
    try:
        with viewer:
            episode = agent.play(world, steps, level=level, tell=viewer.tell)
        ended = len(episode.actions) < steps
        account = EpisodeSummary(level, episode, viewer.simulations, ended=ended)
        account.compute_bounds(world, steps)
    except KeyboardInterrupt:
        if account is None and viewer.episode is not None:
            account = EpisodeSummary(level, viewer.episode, viewer.simulations, finished=False)
        return account, True
    return account, False


def _film(console: Console, path: Path, world: World, accounts: list[EpisodeSummary]) -> None:
    try:
        film.write(path, world, [each.episode for each in accounts])
    except KeyboardInterrupt:
        say(console, f"interrupted; {path} was not written")
        raise typer.Exit(INTERRUPTED) from None
    say(console, f"film written to {path}")


def _told(
    world: World, agent: Agent, path: Path | None, oracle: bool, accounts: list[EpisodeSummary]
) -> dict[str, Any]:
    """All of it for `--json`."""
    model = agent.model
    return {
        "world": world.name,
        "options": world.options,
        "model": "the world itself" if oracle else "learned" if path is None else str(path),
        "observations": None if oracle else model.observations,
        "seed": agent.seed,
        "settings": asdict(agent.settings),
        "episodes": [each.to_dict() for each in accounts],
    }
