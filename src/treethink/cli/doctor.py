"""`treethink doctor`: versions of everything that matters, and whether the installation works."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

import typer
from rich.console import Console

import treethink
from treethink import _engine
from treethink.cli._options import AsJson, Quiet
from treethink.cli._output import FAILED, print_json
from treethink.errors import how_to_install
from treethink.model import TreeThink
from treethink.planning.search import plan
from treethink.stream.random_play import transitions
from treethink.terminal import say, say_wrapped, terminal
from treethink.worlds import make

_REQUIRED = ("numpy", "rich", "typer")
#: Optional packages: their extra, and what they are for.
_OPTIONAL = {
    "gymnasium": ("gym", "Gymnasium environments"),
    "rware": ("rware", "warehouse robots"),
    "river": ("river", "Hoeffding trees"),
    "matplotlib": ("experiments", "plots and .png pictures"),
    "pillow": ("experiments", "GIFs"),
    "pyarrow": ("experiments", "records of experiments"),
    "pandas": ("notebook", "data frames"),
    "torch": ("neural", "neural baselines"),
}
_COMPILERS = ("c++", "g++", "clang++", "cl")
_STEPS = 1_000  # of learning, in a trial
_SECONDS = 10  # for a compiler to say its version


@dataclass(frozen=True, slots=True)
class Package:
    """A package, its version if it is installed, and the extra that installs it, if it is optional.

    `purpose` says what needs it.
    """

    name: str
    version: str | None
    extra: str | None = None
    purpose: str | None = None

    def __str__(self) -> str:
        if self.version is not None:
            return f"{self.version:<14}{f'for {self.purpose}' if self.purpose else ''}".rstrip()
        advice = f"; {how_to_install(self.extra)}" if self.extra else ""
        return f"not installed: no {self.purpose}{advice}" if self.purpose else "not installed"


@dataclass(frozen=True, slots=True)
class Trial:
    """Something that was tried, and the error if it failed."""

    name: str
    error: str | None


def doctor(
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Show versions, and try whether everything works.

    A small world is learned, saved, loaded and planned in. The output is meant to be pasted into a
    report of a bug: it names no folders and no users. The exit code is 1 if something that should
    work does not.

    Examples:
      treethink doctor
      treethink doctor --json | jq .trials
    """
    system = _system()
    packages = [*_packages()]
    trials = [*_trials()]
    failed = [each for each in trials if each.error is not None]
    if as_json:
        print_json(
            "doctor",
            system=system,
            packages=[asdict(each) for each in packages],
            trials=[asdict(each) for each in trials],
            works=not failed,
        )
    else:
        _print(terminal(), system, packages, trials, quiet)
    if failed or any(each.version is None for each in packages if each.extra is None):
        raise typer.Exit(FAILED)


def _print(
    console: Console,
    system: dict[str, str],
    packages: list[Package],
    trials: list[Trial],
    quiet: bool,
) -> None:
    if not quiet:
        for name, value in system.items():
            say(console, f"{name:<11} {value}")
        for title, optional in (("packages", False), ("optional packages", True)):
            say(console, f"\n{title}", "heading")
            for each in packages:
                if (each.extra is not None) == optional:
                    say_wrapped(console, f"{each.name:<11} {each}", indent="  ")
        say(console, "\ntried", "heading")
    for trial in trials:
        if trial.error is not None:
            say(console, f"  {trial.name:<11} FAILED: {trial.error}", "not learned")
        elif not quiet:
            say(console, f"  {trial.name:<11} works")
    works = all(trial.error is None for trial in trials)
    say(console, "everything works" if works else "something does not work")


# ------------------------------------------------------------------------ versions


def _system() -> dict[str, str]:
    """Return what the program runs on, without the names of machines, users and folders."""
    return {
        "treethink": treethink.__version__,
        "engine": f"built with {_engine.compiler}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "compiler": _compiler(),
        "terminal": f"{sys.stdout.encoding}, {'a terminal' if sys.stdout.isatty() else 'a pipe'}",
    }


def _compiler() -> str:
    """Return the first line of what a C++ compiler says about its version."""
    for name in _COMPILERS:
        if (path := shutil.which(name)) is None:
            continue
        try:
            done = subprocess.run(
                [path, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError):
            continue
        lines = (done.stdout or done.stderr).splitlines()
        return f"{name}: {lines[0].strip()}" if lines else name
    return "none found; only needed to build TreeThink"


def _packages() -> Iterator[Package]:
    for name in _REQUIRED:
        yield Package(name, _version(name))
    for name, (extra, purpose) in _OPTIONAL.items():
        yield Package(name, _version(name), extra, purpose)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


# -------------------------------------------------------------------------- trials


def _trials() -> Iterator[Trial]:
    """Learn a world, save, load and plan; what comes after a failure is tried all the same."""
    world = make("maze")
    model = TreeThink(world.schema)
    with tempfile.TemporaryDirectory(prefix="treethink-") as folder:
        path = Path(folder) / "trial.tt"

        def learn() -> None:
            model.observe_many(transitions(world, _STEPS, seed=1))
            if not model.n_varying:
                raise RuntimeError("nothing was learned")

        def load() -> None:
            if TreeThink.load(path).to_bytes() != model.to_bytes():
                raise RuntimeError("the loaded model is another one")

        yield _try("learn", learn)
        yield _try("save", lambda: model.save(path))
        yield _try("load", load)
        yield _try("plan", lambda: plan(model, world.reset(0), simulations=50))
        yield _try("picture", lambda: next(iter(model.rules.values())).to_svg())


def _try(name: str, work: Callable[[], object]) -> Trial:
    try:
        work()
    except Exception as error:  # whatever is broken is to be reported, not raised
        return Trial(name, f"{type(error).__name__}: {error}")
    return Trial(name, None)
