"""The command `treethink`.

Commands only put the parts together; what they do is done elsewhere. An error of our own
types is one line on stderr and exit code 2.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
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
from treethink.rules import Rule, RuleKey
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


#: How `rules` prints them.
STYLES: dict[str, Callable[[Rule], str]] = {
    "text": str,
    "dot": Rule.to_dot,
    "mermaid": Rule.to_mermaid,
}

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
    style: Annotated[
        str, typer.Option(metavar="text|dot|mermaid", help="How to print them.")
    ] = "text",
    to: Annotated[
        Path | None,
        typer.Option(
            "--draw", metavar="FOLDER|FILE", help="Draw them there instead: .svg, .png, .pdf."
        ),
    ] = None,
) -> None:
    """Print or draw what a saved model knows: the rules that vary, or a single one."""
    if style not in STYLES:
        raise UnknownNameError("style", style, STYLES, "--style")
    if to is not None:
        _check_drawing(to, style, rule)
    loaded = TreeThink.load(model)
    console = Console()
    if to is None and style == "text" and rule is None:
        settings = f"{loaded.criterion}, alpha {loaded.alpha:g}, memory {loaded.memory:,}"
        say(console, f"{model}: {loaded.observations:,} observations; {settings}")
        _show_rules(console, loaded)
        return
    meant = loaded.rules.varying() if rule is None else _meant(loaded, rule, str(model))
    if to is not None:
        _draw(console, meant, to)
    elif style == "text":
        say(console, "\n\n".join(str(each).rstrip() for each in meant.values()))
    else:
        print("\n".join(STYLES[style](each) for each in meant.values()), end="")


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


@app.command()
def run(
    config: Annotated[Path, typer.Argument(help="A file such as experiments/example.toml.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the records.", show_default="runs/NAME")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Runs at once.", show_default="one for each core")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many, instead of the config's.")
    ] = None,
) -> None:
    """Run an experiment: learners in worlds, over seeds. Ctrl-C stops it; again goes on."""
    from treethink.experiment import config as configs  # not all who learn need what it needs
    from treethink.experiment.pool import perform_all
    from treethink.experiment.progress import Display
    from treethink.experiment.table import table

    sys.path.insert(0, os.getcwd())  # as for `learn`: worlds of one's own
    asked = configs.load(config)
    runs, folder = asked.runs(seeds), out or Path("runs") / config.stem
    try:
        with Display(Console(stderr=True)) as display:
            ended = perform_all(
                runs, folder, processes, display, title=asked.title, config=asked.raw
            )
    except KeyboardInterrupt:
        print(
            f"interrupted; what there is is in {folder}: the same command goes on", file=sys.stderr
        )
        raise typer.Exit(INTERRUPTED) from None
    console = Console() if sys.stdout.isatty() else Console(width=120)
    console.print(table(ended), markup=False, highlight=False)
    failed = [each for each in ended if each["status"] == "failed"]
    for each in failed:
        say(console, f"{each['key']} failed: {each['message'].splitlines()[0]}")
    say(console, f"records in {folder}")
    if failed:
        raise typer.Exit(1)


@app.command()
def reproduce(
    figure: Annotated[
        list[str] | None, typer.Argument(help="Names from --list, or `all`.", show_default=False)
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="What there is, and what it takes.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version of everything, in minutes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where it goes.", show_default="reproduced[-quick]")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Runs at once.", show_default="one for each core")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="So many, instead of each figure's own.")
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="K/N", help="Only this share, of machines that split it.")
    ] = None,
) -> None:
    """Make figures and tables of the paper, and a report. Ctrl-C stops it; again goes on."""
    from treethink import figures  # not all who learn need what it needs
    from treethink.experiment.progress import Display
    from treethink.figures.listing import listing
    from treethink.figures.reproduce import Part
    from treethink.figures.reproduce import reproduce as make_all

    console = Console() if sys.stdout.isatty() else Console(width=120)
    if list_ or not figure:
        console.print(listing(), markup=False, highlight=False)
        return
    wanted = figures.chosen(figure)
    share = None if part is None else Part.read(part)
    folder = out or Path("reproduced-quick" if quick else "reproduced")
    errors = Console(stderr=True)
    try:
        made = make_all(
            wanted, folder, small=quick, processes=processes, seeds=seeds, part=share,
            tell=lambda text: say(errors, text), display=lambda: Display(errors),
        )  # fmt: skip
    except KeyboardInterrupt:
        print(
            f"interrupted; what there is is in {folder}: the same command goes on", file=sys.stderr
        )
        raise typer.Exit(INTERRUPTED) from None
    say(console, f"{made.performed:,} runs performed, {made.kept:,} kept from before; in {folder}")
    if share is not None:
        say(console, "copy the folders of all parts into one; there, run it without --part")
    else:
        report(folder, None)
    if made.failed:
        raise typer.Exit(1)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Records of `run` or `reproduce`.")],
    out: Annotated[
        Path | None, typer.Option(help="Where it goes.", show_default="FOLDER/report")
    ] = None,
) -> None:
    """Tables, plots and verdicts on the paper's claims, from records alone."""
    from treethink.report import write

    say(Console(), f"the report is {write(folder, out)}")


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


def _meant(model: TreeThink, name: str, where: str) -> dict[RuleKey, Rule]:
    """The rules whose names begin so."""
    rules = model.rules
    meant = [key for key in rules if f"{'.'.join(key)}.".startswith(f"{name}.")]
    if not meant:
        raise UnknownNameError("rule", name, map(".".join, rules), where)
    return {key: rules[key] for key in meant}


def _check_drawing(to: Path, style: str, rule: str | None) -> None:
    """Whatever can be refused before the model is read."""
    from treethink.diagram import files

    if style != "text":
        raise SettingError("--style says how to print rules, --draw draws them: leave out one")
    files.check_target(to)
    if files.is_file(to) and rule is None:
        raise SettingError(
            f"{to} is a picture of one rule: say which with --rule, or name a folder"
        )


def _draw(console: Console, rules: dict[RuleKey, Rule], to: Path) -> None:
    from treethink.diagram import files

    if not rules:
        say(console, "nothing to draw: no rule has seen more than one outcome")
        return
    paths = files.draw_all(rules, to)
    say(console, f"{len(paths)} rule{'s' if len(paths) > 1 else ''} drawn to {to}")


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
