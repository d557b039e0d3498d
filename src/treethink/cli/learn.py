"""`treethink learn`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from treethink.cli import _completion as completing
from treethink.cli._exit import INTERRUPTED
from treethink.cli._options import LEARNER, AsJson, Options, Side, WorldName
from treethink.cli._output import file_name, make_world, writable
from treethink.cli.session.interrupt import ControlC
from treethink.cli.session.live import EPISODE, PATIENCE, STEPS, watch
from treethink.cli.session.report import Lesson
from treethink.errors import SettingError, TreeThinkError
from treethink.evaluation import examine
from treethink.model import TreeThink
from treethink.play.game import check_fit
from treethink.terminal import say_wrapped, terminal
from treethink.worlds import World


def learn(
    world: WorldName,
    steps: Annotated[
        int, typer.Option(metavar="N", min=0, help="Observe at most so many.")
    ] = STEPS,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of levels and actions.")] = 0,
    patience: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="End after so many without an error; 0: go on."),
    ] = PATIENCE,
    episode: Annotated[
        int, typer.Option(metavar="N", min=1, help="Steps in each level.")
    ] = EPISODE,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to save the model.", show_default="WORLD.tt"),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="MODEL", help="Go on with a saved model, and save it again."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only how it ended.")] = False,
    as_json: AsJson = False,
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Risk of asking for nothing, between 0 and 1; smaller: later, surer.",
            show_default="0.01",
            rich_help_panel=LEARNER,
        ),
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="When it does ask: evidence, proven or wilson.",
            show_default="evidence",
            rich_help_panel=LEARNER,
            autocompletion=completing.criteria,
        ),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Transitions that are kept for new nodes.",
            show_default="5000",
            rich_help_panel=LEARNER,
        ),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="The paper's settings: wilson, no memory.", rich_help_panel=LEARNER
        ),
    ] = False,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Learn a world live, say what was learned, and save the model.

    It plays at random, predicts each step before it sees it, and ends when it has been right for a
    while. Ctrl-C ends it too, and saves what there is.

    Examples:
      treethink learn maze                          # saves maze.tt
      treethink learn keys --seed 7 --out keys7.tt
      treethink learn maze --width 16 --height 16 --set goals=4
      treethink learn maze --paper                  # as the paper does it
      treethink learn maze --from maze.tt           # go on where it ended
      treethink learn maze --quiet --json | jq .learned
    """
    place = make_world(world, set_ or [], width=width, height=height)
    asked = {"alpha": alpha, "criterion": criterion, "memory": memory}
    model = _learner(place, asked, paper) if start is None else _loaded(start, place, asked, paper)
    path = writable(out or start or Path(f"{file_name(world)}.tt"))
    if path != start:
        _check_nothing_is_lost(path)
    if not quiet:
        _say_what_comes(terminal(stderr=True), place, steps, patience)
    before = model.observations
    with ControlC() as control_c:
        watched = watch(model, place, steps, seed, patience, episode, quiet, control_c)
        model.save(path)
        lesson = Lesson(
            world,
            [*_again(width=width, height=height), *(f"--set={pair}" for pair in set_ or [])],
            _again(seed=seed or None, episode=None if episode == EPISODE else episode),
            place,
            model,
            before,
            watched.curve,
            watched.seconds,
            control_c.stops(lambda: examine(model, place)),
            path,
        )
        if as_json:
            lesson.tell(seed)
        else:
            lesson.show(terminal(), quiet)
    if control_c.pressed:
        raise typer.Exit(INTERRUPTED)


def _check_nothing_is_lost(path: Path) -> None:
    """Another model may be learned again; what people wrote into it may not."""
    try:
        edited = [key for key, rule in TreeThink.load(path).rules.items() if rule.edited]
    except TreeThinkError:
        return  # there is no file, or no model
    if edited:
        raise SettingError(
            f"{path} has rules that were changed by hand, such as {'.'.join(edited[0])}: go on with"
            f" --from {path}, or save elsewhere with --out"
        )


def _again(**options: int | None) -> list[str]:
    """Options as they were given, for a command to come."""
    return [f"--{name}={value}" for name, value in options.items() if value is not None]


def _say_what_comes(console: Console, world: World, steps: int, patience: int) -> None:
    """The first second: what it is about, when it ends, and how to stop it."""
    about = ": ".join(filter(None, [f"learning {world.name}", world.summary()]))
    say_wrapped(console, about, style="heading")
    until = f"until {patience:,} in a row are predicted exactly, " if patience else ""
    say_wrapped(
        console, f"It watches random steps, {until}{steps:,} at most. Ctrl-C stops and saves."
    )


def _learner(world: World, asked: dict[str, Any], paper: bool) -> TreeThink:
    """A new model; what was not asked for has its default."""
    given = {name: value for name, value in asked.items() if value is not None}
    if not paper:
        return TreeThink(world.schema, **given)
    if extra := " and ".join(f"--{name}" for name in given if name != "alpha"):
        raise SettingError(f"--paper means --criterion wilson --memory 0: leave out {extra}")
    return TreeThink.paper(world.schema, **given)


def _loaded(path: Path, world: World, asked: dict[str, Any], paper: bool) -> TreeThink:
    """A saved model, which has its settings already."""
    given = [
        f"--{name}"
        for name, value in {**asked, "paper": paper or None}.items()
        if value is not None
    ]
    if given:
        raise SettingError(
            f"--from goes on with the model's own settings: leave out {' and '.join(given)}"
        )
    model = TreeThink.load(path)
    check_fit(model.schema, world, str(path))
    return model
