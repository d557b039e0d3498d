"""The command `treethink`.

Commands only put the parts together; what they do is done elsewhere. An error of our own
types is one line on stderr and exit code 2.
"""

from __future__ import annotations

import inspect
import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import treethink
from treethink import bench as benchmark
from treethink.errors import SettingError, TreeThinkError, UnknownNameError
from treethink.experiment import Curve, trial
from treethink.learner import TreeThink
from treethink.terminal import Progress, chart, say
from treethink.worlds import WORLDS, World, make

INTERRUPTED = 130

app = typer.Typer(
    name="treethink",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Watch any world made of objects; get back an exact, readable program of how it works.",
)


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
    world: Annotated[str, typer.Argument(help="Which world; `treethink worlds` lists them.")],
    steps: Annotated[int, typer.Option(min=0, help="Observe at most so many.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of levels and actions.")] = 0,
    patience: Annotated[
        int, typer.Option(min=0, help="Stop after so many steps without an error; 0: never.")
    ] = 5_000,
    episode: Annotated[int, typer.Option(min=1, help="Steps in each level.")] = 50,
    alpha: Annotated[float, typer.Option(help="How readily a rule grows, in (0, 1).")] = 0.01,
    width: Annotated[int | None, typer.Option(help="Of the grid.")] = None,
    height: Annotated[int | None, typer.Option(help="Of the grid.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=NUMBER", help="Any option of the world."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to save the model.", show_default="WORLD.tt")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only how it ended.")] = False,
) -> None:
    """Learn a world live; show the error and the rules; save the model. Ctrl-C saves too."""
    options = _world_options(set_ or [], width=width, height=height)
    place = make(world, **options)
    model = TreeThink(place.schema, alpha=alpha)
    path = _writable(out or Path(f"{world}.tt"))
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
    _say_how_it_ended(console, place, model.observations, curve, seconds, interrupted)
    say(console, f"saved to {path}")
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command()
def rules(
    model: Annotated[Path, typer.Argument(help="A saved model.")],
    rule: Annotated[
        str | None,
        typer.Option(metavar="CLASS.ATTRIBUTE.ACTION", help="Only this one."),
    ] = None,
) -> None:
    """Print what a saved model knows: the rules that vary, or a single one."""
    loaded = TreeThink.load(model)
    console = Console()
    if rule is None:
        say(console, f"{model}: {loaded.observations:,} observations")
        _show_rules(console, loaded)
        return
    by_name = {".".join(key): each for key, each in loaded.rules.items()}
    if rule not in by_name:
        raise UnknownNameError("rule", rule, by_name, str(model))
    say(console, str(by_name[rule]))


@app.command()
def worlds(
    name: Annotated[str | None, typer.Argument(help="All about one of them.")] = None,
) -> None:
    """What there is to learn: objects, actions, options with their defaults."""
    console = Console() if sys.stdout.isatty() else Console(width=120)
    if name is not None:
        say(console, inspect.getdoc(type(make(name))) or "")
        return
    table = Table("world", "objects", "actions", "options")
    for each in WORLDS:
        table.add_row(*_summary(make(each)))
    console.print(table, markup=False, highlight=False)


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


def _world_options(pairs: list[str], **given: int | None) -> dict[str, int]:
    options = {name: value for name, value in given.items() if value is not None}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            options[name.strip()] = int(value)
        except ValueError:
            raise SettingError(f"--set takes NAME=NUMBER, such as goals=3, got {pair!r}") from None
    return options


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
    say(console, f"\n{len(varying)} rules vary; the other {constant} have seen one outcome or none")
    for rule in varying:
        say(console, f"\n{rule}")


def _say_how_it_ended(
    console: Console,
    world: World,
    observations: int,
    curve: Curve,
    seconds: float,
    interrupted: bool,
) -> None:
    verb = "interrupted after" if interrupted else "learned from"
    say(
        console,
        f"\n{world!r}: {verb} {observations:,} observations in {seconds:.1f} s",
    )
    if curve.last_error:
        since = curve.steps - curve.last_error
        say(console, f"last error at observation {curve.last_error:,}; {since:,} without one since")
    else:
        say(console, "no error")


def _summary(world: World) -> tuple[str, str, str, str]:
    objects = (f"{name} ({', '.join(has)})" for name, has in world.schema.classes.items())
    options = (f"{name}={value}" for name, value in world.options.items())
    return world.name, ", ".join(objects), " ".join(world.actions), " ".join(options)
