"""`treethink learn`: the main job."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treethink.cli.shared import (
    INTERRUPTED,
    Options,
    Side,
    WorldName,
    file_name,
    make_world,
    show_rules,
    writable,
)
from treethink.errors import SettingError
from treethink.examine import examine
from treethink.experiment import Curve, trial
from treethink.learner import TreeThink
from treethink.terminal import Progress, chart, say
from treethink.worlds import World

#: How it learns unless told: at most so many steps, until so many were without an error.
STEPS, PATIENCE, EPISODE = 100_000, 5_000, 50


def learn(
    world: WorldName,
    steps: Annotated[int, typer.Option(min=0, help="Observe at most so many.")] = STEPS,
    seed: Annotated[int, typer.Option(min=0, help="Of levels and actions.")] = 0,
    patience: Annotated[
        int, typer.Option(min=0, help="Stop after so many steps without an error; 0: never.")
    ] = PATIENCE,
    episode: Annotated[int, typer.Option(min=1, help="Steps in each level.")] = EPISODE,
    alpha: Annotated[
        float, typer.Option(help="Risk of asking for nothing, in (0, 1); smaller: later, surer.")
    ] = 0.01,
    criterion: Annotated[
        str | None,
        typer.Option(help="When it does: evidence, proven, wilson.", show_default="evidence"),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=0, help="Transitions kept for new nodes.", show_default="5000"),
    ] = None,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's settings: wilson, and no memory.")
    ] = False,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to save the model.", show_default="WORLD.tt")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only how it ended.")] = False,
) -> None:
    """Learn a world live; show the error and the rules; save the model. Ctrl-C saves too."""
    place = make_world(world, set_ or [], width=width, height=height)
    model = _learner(place, alpha, criterion, memory, paper)
    path = writable(out or Path(f"{file_name(world)}.tt"))
    console = Console()
    watched = watch(model, place, steps, seed, patience, episode, quiet)
    model.save(path)
    if not quiet:
        _show_errors(console, watched.curve)
        show_rules(console, model)
        say(console, "")
    say_how_it_ended(console, place, model.observations, watched)
    if not watched.interrupted:
        say(console, str(examine(model, place)))
    say(console, f"saved to {path}")
    if watched.interrupted:
        raise typer.Exit(INTERRUPTED)


@dataclass(slots=True)
class Watched:
    """What came of learning: the errors on the way, the time it took, whether it was stopped."""

    curve: Curve = field(default_factory=Curve)
    seconds: float = 0.0
    interrupted: bool = False


def watch(
    model: TreeThink,
    world: World,
    steps: int = STEPS,
    seed: int = 0,
    patience: int = PATIENCE,
    episode: int = EPISODE,
    quiet: bool = False,
) -> Watched:
    """Let a model observe a world, and show how it goes, until it has learned it or Ctrl-C."""
    watched = Watched()
    curve = watched.curve
    with Progress(Console(stderr=True), quiet) as progress:
        try:
            for wrong_by in trial(model, world, steps, seed, episode):
                curve.add(wrong_by)
                if curve.steps % 50 == 0:
                    progress.show(curve, model.n_varying)
                if patience and curve.steps - curve.last_error >= patience:
                    break
        except KeyboardInterrupt:
            watched.interrupted = True
        watched.seconds = progress.seconds
    return watched


def _learner(
    world: World, alpha: float, criterion: str | None, memory: int | None, paper: bool
) -> TreeThink:
    """A new model; what was not asked for has its default."""
    asked: dict[str, Any] = {"criterion": criterion, "memory": memory}
    given = {name: value for name, value in asked.items() if value is not None}
    if paper and given:
        extra = " and ".join(f"--{name}" for name in given)
        raise SettingError(f"--paper means --criterion wilson --memory 0: leave out {extra}")
    if paper:
        return TreeThink.paper(world.schema, alpha=alpha)
    return TreeThink(world.schema, alpha=alpha, **given)


def _show_errors(console: Console, curve: Curve) -> None:
    if curve.steps:
        say(console, "\nerror (earth mover's distance to the true next state) by observation")
        say(console, chart(curve.means, curve.steps, console.encoding))


def say_how_it_ended(console: Console, world: World, observations: int, watched: Watched) -> None:
    """How much was observed, and when the last error was."""
    curve = watched.curve
    verb = "interrupted after" if watched.interrupted else "watched"
    say(console, f"{world!r}: {verb} {observations:,} transitions in {watched.seconds:.1f} s")
    if not curve.last_error:
        say(console, "no error")
        return
    since = curve.steps - curve.last_error
    say(
        console,
        f"last error at observation {curve.last_error:,}; {since:,} without one since;"
        f" mean error of late: {curve.recent():.4f}",
    )
