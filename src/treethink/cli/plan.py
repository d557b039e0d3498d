"""`treethink plan`: play a world by planning with a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treethink.cli._options import (
    SEARCH,
    AsJson,
    Height,
    LogFile,
    ModelOption,
    NoPlugins,
    OptionalWorld,
    Quiet,
    SchemaFile,
    TransitionNumber,
    Width,
    WorldOption,
    WorldOptions,
    as_typed,
    check_source,
    complete_names,
    load_model,
    make_world,
    model_and_world,
    open_log,
    print_given,
    state_of_log,
)
from treethink.cli._output import (
    INTERRUPTED,
    check_writable,
    missing_argument,
    print_json,
    progress_console,
)
from treethink.cli.session import live
from treethink.cli.session.plan_log import (
    Step,
    best_idle,
    check_reward,
    imagine,
    run_text,
    runs,
)
from treethink.cli.session.report import print_run
from treethink.errors import SettingError
from treethink.logs import Log
from treethink.metrics import TOLERANCE
from treethink.model import TreeThink
from treethink.planning import gif as animation
from treethink.planning.agent import Agent, score_of
from treethink.planning.episode_summary import EpisodeSummary, summary_lines
from treethink.planning.search import SearchSettings
from treethink.planning.watch import Viewer
from treethink.terminal import say, say_wrapped, terminal
from treethink.text import many
from treethink.worlds import World, make
from treethink.worlds.base import check_fit

_SIMULATIONS = 100
_SIMULATIONS_FROM_LOG = 5_000  # the search sees only rewards, and those of logs may be far away


def plan(
    ctx: typer.Context,
    world: OptionalWorld = None,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL", help="Saved model to plan with.", show_default="learn one first"
        ),
    ] = None,
    model_option: ModelOption = None,
    world_option: WorldOption = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Plan with the world itself instead of a model.")
    ] = False,
    simulations: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of simulations per action.",
            show_default=f"{_SIMULATIONS}, with --log {_SIMULATIONS_FROM_LOG}, unlimited with"
            " --milliseconds",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    milliseconds: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Time limit per action.",
            show_default="no limit",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    episodes: Annotated[int, typer.Option(metavar="N", min=1, help="Number of levels.")] = 1,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="Steps per level.")] = 50,
    level: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Number of the first level; a random seed."),
    ] = 0,
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Random seed of the search.", rich_help_panel=SEARCH),
    ] = 0,
    discount: Annotated[
        float,
        typer.Option(metavar="X", help="Discount factor (0-1).", rich_help_panel=SEARCH),
    ] = 1.0,
    horizon: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Maximum search depth in steps.",
            show_default="the rest of the level",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    exploration: Annotated[
        float,
        typer.Option(metavar="X", help="pUCT exploration constant.", rich_help_panel=SEARCH),
    ] = 1.25,
    choose: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Choose the action with the most `visits` or the highest `value`.",
            rich_help_panel=SEARCH,
            autocompletion=complete_names(lambda: ("visits", "value")),
        ),
    ] = "visits",
    width: Width = None,
    height: Height = None,
    set_: WorldOptions = None,
    pause: Annotated[
        float,
        typer.Option(metavar="X", min=0, max=60, help="Seconds to show each step, in a terminal."),
    ] = 0.1,
    gif: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save an animated GIF of the episodes (needs Pillow)."),
    ] = None,
    quiet: Quiet = False,
    no_plugins: NoPlugins = False,
    as_json: AsJson = False,
    log: LogFile = None,
    schema: SchemaFile = None,
    transition: TransitionNumber = None,
) -> None:
    """Play a world by planning with a model, or plan from a state of a log.

    It shows each step and the score, and compares the score with the best and the worst possible.
    From a log, it starts in the last state, and shows each planned action with the changes and the
    reward that are predicted.

    Examples:
      treethink plan maze maze.tt
      treethink plan maze                         # learns the maze first
      treethink plan coins --width 10 --height 10 --set coins=8 --gif coins.gif
      treethink plan keys --oracle --episodes 20  # how a perfect model would do
      treethink plan maze maze.tt --json | jq '.episodes[].score'
      treethink plan elevator.tt --log elevator.csv --steps 5
    """
    path, name = model_and_world(log is not None, (world, model), model_option, world_option)
    if path is None and log is not None:
        raise missing_argument(ctx, "MODEL")
    check_source(name, log, schema, transition)
    if simulations is None and milliseconds is None:
        simulations = _SIMULATIONS if log is None else _SIMULATIONS_FROM_LOG
    search = SearchSettings(
        simulations=simulations,
        milliseconds=milliseconds,
        discount=discount,
        horizon=horizon,
        exploration=exploration,
        choose=choose,
    )
    if log is not None and path is not None:
        of_worlds = as_typed(
            "--oracle" if oracle else name,
            episodes=None if episodes == 1 else episodes,
            level=level or None,
            width=width,
            height=height,
            set=set_,
            gif=None if gif is None else str(gif),
        )
        loaded, given = open_log(ctx, path, log, schema, of_worlds, quiet or as_json)
        check_reward(loaded, given.last_state, str(path))
        planner = Agent.from_settings(loaded, search, seed=seed)
        _plan_log(planner, given, transition, path, steps, quiet, as_json)
        return
    assert name is not None  # there is no log
    place = make_world(name, set_, no_plugins, width=width, height=height)
    planner = _model(place, path, oracle)
    _check_score(place, planner, level)
    if isinstance(planner, TreeThink):
        print_given(planner, place.reset(level))
    agent = Agent.from_settings(planner, search, seed=seed)
    if gif is not None:
        _check_gif(check_writable(gif), place, level, episodes * (steps + 1))
    console = terminal(stderr=as_json)
    if path is None and not oracle:
        _learn(progress_console(quiet, console), agent.model, name, place, quiet)
    output = progress_console(as_json, console)
    accounts, interrupted = _play(
        agent, place, range(level, level + episodes), steps, pause, output, quiet
    )
    for text in summary_lines(accounts):
        say_wrapped(output, text)
    if gif is not None and accounts:
        _save_gif(progress_console(quiet, console), gif, place, accounts)
    if as_json:
        print_json("plan", **_to_json(place, agent, path, oracle, accounts))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _plan_log(
    agent: Agent,
    log: Log,
    transition: int | None,
    path: Path,
    steps: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Print the steps planned from a state of a log, as the model predicts them."""
    output = progress_console(quiet or as_json, terminal())
    start = state_of_log(log, transition)
    print_given(agent.model, start)
    which = "last state" if transition is None else f"state before transition {transition:,}"
    say(output, f"from the {which} of {log.name}, as {path} predicts it:")
    planned: list[Step] = []
    for run in runs(imagine(agent, start, steps)):
        say_wrapped(output, run_text(run, len(planned) + 1))
        planned += run
    total = sum(each.reward for each in planned)
    if as_json:
        print_json(
            "plan",
            log=log.name,
            model=str(path),
            observations=agent.model.observations,
            seed=agent.seed,
            settings=asdict(agent.settings),
            start=start.to_dict(),
            steps=[each.to_dict() for each in planned],
            reward=total,
            given=list(agent.model.given_attributes(start)),
        )
        return
    say(terminal(), f"expected reward {total:+g} in {many(len(planned), 'step')}")
    problem = "" if any(each.reward for each in planned) else "the search found no reward"
    idle = best_idle(agent.model, start, len(planned))
    if idle is not None and total < idle[1] - TOLERANCE:
        problem = f"doing nothing is worth more: `{idle[0]}` in each step gives {idle[1]:+g}"
    if problem:
        how = "--steps says how far the search looks, and --simulations how much it tries"
        say_wrapped(output, f"{problem}: {how}")


# ------------------------------------------------------------------ before it starts


def _check_score(world: World, model: Any, level: int) -> None:
    """Raise an error if neither world nor model knows a reward or a score: nothing to gain."""
    if world.states_reward or "reward" in getattr(model, "feedback", ()):
        return
    if "score" not in world.schema.classes.get("game", ()):
        raise SettingError(
            f"world {world.name!r} keeps no score, so there is nothing to plan for;"
            " give it a method `reward`, or a class `game` with a `score`, as 'maze' has; or plan"
            " with a model that has learned rewards"
        )
    score_of(world.reset(level))


def _model(world: World, path: Path | None, oracle: bool) -> Any:
    """Return the model to plan with: the world itself, a saved model, or a new, untrained one."""
    if oracle and path is not None:
        raise SettingError("--oracle plans with the world itself, not with a model: leave out one")
    if oracle:
        return world
    if path is None:
        return TreeThink(world.schema)
    model = load_model(path)
    check_fit(model.schema, world, str(path))
    return model


def _check_gif(path: Path, world: World, level: int, states: int) -> None:
    """Raise an error now if the GIF could not be written after all the playing."""
    animation.check_path(path)
    animation.check_pillow()
    animation.check_size(world, world.reset(level), states)


# -------------------------------------------------------------------- learn and play


def _learn(console: Console, model: TreeThink, name: str, place: World, quiet: bool) -> None:
    """Learn the world as `treethink learn` does, and print a summary."""
    world = _default_world(name, place)
    command = f"`treethink learn {name}`"
    say_wrapped(console, f"no model given: learning {world!r} first, as {command} does")
    run = live.learn_live(model, world, quiet=quiet)
    print_run(console, repr(world), run, run.interrupted)
    if run.interrupted:
        say(console, "interrupted before the first episode")
        raise typer.Exit(INTERRUPTED)


def _default_world(name: str, place: World) -> World:
    """Return the world with its default options, if these give the same schema."""
    try:
        default = make(name)
    except SettingError:  # a user's own world with options that have no default
        return place
    return default if default.schema.fits(place.schema) else place


def _play(
    agent: Agent,
    world: World,
    levels: range,
    steps: int,
    pause: float,
    console: Console,
    quiet: bool,
) -> tuple[list[EpisodeSummary], bool]:
    """Play the levels, and return an account of each and whether Ctrl-C stopped it."""
    accounts: list[EpisodeSummary] = []
    for level in levels:
        screen = progress_console(quiet, console)
        viewer = Viewer(screen, world, steps, level, pause=pause, lines=len(levels) == 1)
        account, interrupted = _play_level(agent, world, steps, level, viewer)
        if account is not None:
            accounts.append(account)
            say_wrapped(console, str(account))
        if interrupted:
            return accounts, True
    return accounts, False


def _play_level(
    agent: Agent, world: World, steps: int, level: int, viewer: Viewer
) -> tuple[EpisodeSummary | None, bool]:
    """Play a level, and return an account if a step was made, and whether Ctrl-C stopped it."""
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


# -------------------------------------------------------------------------- results


def _save_gif(console: Console, path: Path, world: World, accounts: list[EpisodeSummary]) -> None:
    try:
        animation.write(path, world, [each.episode for each in accounts])
    except KeyboardInterrupt:
        say(console, f"interrupted; {path} was not written")
        raise typer.Exit(INTERRUPTED) from None
    say(console, f"GIF saved to {path}")


def _to_json(
    world: World, agent: Agent, path: Path | None, oracle: bool, accounts: list[EpisodeSummary]
) -> dict[str, Any]:
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
