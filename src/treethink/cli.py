"""The command `treethink`.

Commands only put the parts together; what they do is done elsewhere. An error of our own
types is one line on stderr and exit code 2.
"""

from __future__ import annotations

import io
import os
import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import treethink
from treethink import bench as benchmark
from treethink.errors import SettingError, TreeThinkError, UnknownNameError
from treethink.examine import examine
from treethink.experiment import Curve, trial
from treethink.learner import TreeThink
from treethink.play import check_fit, in_terminal
from treethink.terminal import Progress, chart, say
from treethink.worlds import WORLDS, World, draw, make

INTERRUPTED = 130

app = typer.Typer(
    name="treethink",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watch any world made of objects; get back an exact, readable program of how it works.",
)


# What several commands take.
WorldName = Annotated[
    str, typer.Argument(help="A name from `treethink worlds`, or module:name of your own.")
]
Side = Annotated[int | None, typer.Option(help="Of the grid.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=NUMBER", help="Any option of the world."),
]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # rather a `?` for an `∃` than no rule at all
    try:
        app(arguments)
    except (TreeThinkError, OSError) as error:
        print(f"treethink: {error}", file=sys.stderr)
        sys.exit(2)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"treethink {treethink.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    pass


@app.command()
def learn(
    world: WorldName,
    steps: Annotated[int, typer.Option(min=0, help="Observe at most so many.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of levels and actions.")] = 0,
    patience: Annotated[
        int, typer.Option(min=0, help="Stop after so many steps without an error; 0: never.")
    ] = 5_000,
    episode: Annotated[int, typer.Option(min=1, help="Steps in each level.")] = 50,
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
    place = _make(world, set_ or [], width=width, height=height)
    model = _learner(place, alpha, criterion, memory, paper)
    path = _writable(out or Path(f"{_file_name(world)}.tt"))
    console = Console()
    curve = Curve()
    interrupted = False
    with Progress(Console(stderr=True), quiet) as progress:
        try:
            for wrong_by in trial(model, place, steps, seed, episode):
                curve.add(wrong_by)
                if curve.steps % 50 == 0:
                    progress.show(curve, model.n_varying)
                if patience and curve.steps - curve.last_error >= patience:
                    break
        except KeyboardInterrupt:
            interrupted = True
        seconds = progress.seconds
    model.save(path)
    if not quiet:
        _show_errors(console, curve)
        _show_rules(console, model)
        say(console, "")
    _say_how_it_ended(console, place, model.observations, curve, seconds, interrupted)
    if not interrupted:
        say(console, str(examine(model, place)))
    say(console, f"saved to {path}")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command()
def rules(
    model: Annotated[Path, typer.Argument(help="A saved model.")],
    rule: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS.ATTRIBUTE.ACTION", help="Only this one, or `player.pos`: these."
        ),
    ] = None,
) -> None:
    """Print what a saved model knows: the rules that vary, or a single one."""
    loaded = TreeThink.load(model)
    console = Console()
    if rule is None:
        settings = f"{loaded.criterion}, alpha {loaded.alpha:g}, memory {loaded.memory:,}"
        say(console, f"{model}: {loaded.observations:,} observations; {settings}")
        _show_rules(console, loaded)
        return
    by_name = {".".join(key): each for key, each in loaded.rules.items()}
    meant = [each for name, each in by_name.items() if f"{name}.".startswith(f"{rule}.")]
    if not meant:
        raise UnknownNameError("rule", rule, by_name, str(model))
    say(console, "\n\n".join(str(each).rstrip() for each in meant))


@app.command()
def worlds(
    name: Annotated[str | None, typer.Argument(help="All about one of them.")] = None,
) -> None:
    """What there is to learn, with options and their defaults; or all about one of them."""
    console = Console() if sys.stdout.isatty() else Console(width=120)
    if name is not None:
        _show_world(console, _make(name, []))
        return
    table = Table("world", "what it is", "options")
    for each, world in WORLDS.items():
        options = " ".join(f"{option}={value}" for option, value in world.defaults.items())
        table.add_row(each, world.summary(), options)
    console.print(table, markup=False, highlight=False)


@app.command()
def play(
    world: WorldName,
    seed: Annotated[int, typer.Option(min=0, help="Of the level, and of chance.")] = 0,
    model: Annotated[
        Path | None, typer.Option(help="A saved model: see its predictions beside the truth.")
    ] = None,
    width: Side = None,
    height: Side = None,
    set_: Options = None,
) -> None:
    """Walk around in a world with the keyboard; with a model, see what it predicts."""
    place = _make(world, set_ or [], width=width, height=height)
    loaded = None if model is None else TreeThink.load(model)
    if loaded is not None:
        check_fit(loaded.schema, place, str(model))
    say(Console(), in_terminal(place, seed, loaded).summary())


@app.command()
def bench(
    quick: Annotated[bool, typer.Option("--quick", help="Rough figures in seconds.")] = False,
    json: Annotated[Path | None, typer.Option(help="Also write the figures there.")] = None,
) -> None:
    """How fast every path runs, beside the paper's figures."""
    path = None if json is None else _writable(json)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    report = benchmark.run(quick=quick, tell=lambda text: say(console, text))
    for table in report.tables():
        console.print(table, highlight=False)
    if path is not None:
        path.write_text(report.to_json())
        say(console, f"written to {path}")


def _make(world: str, pairs: list[str], **given: int | None) -> World:
    """The world of that name, with the options of the command line."""
    options = {name: value for name, value in given.items() if value is not None}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            options[name.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    if ":" in world:
        sys.path.insert(0, os.getcwd())  # a world of one's own mostly lies where one is
    return make(world, **options)


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


def _file_name(world: str) -> str:
    """A name for files: `scale-3-2` of `scale(3,2)`, `Lamp` of `lamps:Lamp`."""
    return "-".join(re.findall(r"[\w-]+", world.rpartition(":")[2]))


def _writable(path: Path) -> Path:
    """Refuse now what could not be written after all the work."""
    folder = path.parent
    if path.is_dir():
        raise SettingError(f"cannot write to {path}: it is a folder")
    if not folder.is_dir():
        raise SettingError(f"cannot write to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise SettingError(f"cannot write to {path}: the folder {folder} is not writable")
    return path


def _show_errors(console: Console, curve: Curve) -> None:
    if curve.steps:
        say(console, "\nerror (earth mover's distance to the true next state) by observation")
        say(console, chart(curve.means, curve.steps, console.encoding))


def _show_rules(console: Console, model: TreeThink) -> None:
    varying = [rule for rule in model.rules.values() if rule.varies]
    constant = len(model.rules) - len(varying)
    say(console, f"\nrules that vary: {len(varying)}; that saw one outcome or none: {constant}")
    for rule in varying:
        say(console, f"\n{rule}")


def _show_world(console: Console, world: World) -> None:
    say(console, world.sheet())
    print("\n" + draw.ansi(world, world.reset(seed=0), colour=console.is_terminal))
    say(console, f"\n{draw.legend(world)}")


def _say_how_it_ended(
    console: Console,
    world: World,
    observations: int,
    curve: Curve,
    seconds: float,
    interrupted: bool,
) -> None:
    verb = "interrupted after" if interrupted else "watched"
    say(console, f"{world!r}: {verb} {observations:,} transitions in {seconds:.1f} s")
    if not curve.last_error:
        say(console, "no error")
        return
    since = curve.steps - curve.last_error
    say(
        console,
        f"last error at observation {curve.last_error:,}; {since:,} without one since;"
        f" mean error of late: {curve.recent():.4f}",
    )
