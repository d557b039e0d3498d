"""For scripts: `--json` prints one object and nothing else; exit codes tell four cases apart."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

import treethink
from command_line import Ran, called
from models import learned
from treethink import cli
from treethink.cli import _output
from treethink.cli.session import live, report
from treethink.cli.session.interrupt import InterruptGuard
from treethink.model import TreeThink
from treethink.repro.bench import bench
from treethink.repro.runner import trial
from treethink.worlds import WORLDS, World, make

USUAL = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
CONFIG = """
title = "small"
learners = ["treethink"]
seeds = 2
steps = 60

[[worlds]]
name = "walls"
"""


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Runs a command where maze.tt has learned the maze."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    Path("small.toml").write_text(CONFIG)

    def call(command: str) -> Ran:
        return called(capsys, *command.split())

    return call


def told(ran: Ran, code: int = 0) -> Any:
    """The one object; a second line of any kind would be none."""
    assert ran.code == code, ran.err
    assert ran.out.count("\n") == 1
    return json.loads(ran.out)


# ------------------------------------------------------------------ what it prints


@pytest.mark.parametrize(
    "command",
    [
        "learn walls --steps 1200 --json",
        "rules maze.tt --json",
        "explain maze.tt --world maze --action right --json",
        "worlds --json",
        "worlds maze --json",
        "plan maze --model maze.tt --steps 2 --json",
        "run small.toml --processes 1 --json",
        "reproduce --list --json",
    ],
)
def test_every_object_begins_alike(run: Any, command: str) -> None:
    object_ = told(run(command))
    assert list(object_)[:2] == ["command", "version"]
    assert object_["command"] == command.split()[0]
    assert object_["version"] == treethink.__version__


def test_learn_tells_how_it_went_and_what_it_knows(run: Any) -> None:
    ran = run("learn walls --steps 3000 --seed 1 --set wall_percent=20 --json --out w.tt")
    object_ = told(ran)
    assert object_["learned"] is True and object_["interrupted"] is False
    assert object_["options"]["wall_percent"] == 20 and object_["seed"] == 1
    assert object_["observations"] == 3_000 and 0 < object_["last_error"] < 3_000
    assert object_["settings"] == {"alpha": 0.01, "criterion": "evidence", "memory": 5_000}
    assert object_["examined"]["exact"] == object_["examined"]["held_out"] == 1_000
    model = TreeThink.load(object_["saved"])
    names = [".".join(key) for key in model.rules.varying()]
    assert [each["rule"] for each in object_["rules"]] == names
    assert "1,000 transitions" in ran.err  # progress is for people, who may look on


def test_learn_without_an_error_says_none_and_what_was_not_learned_is_not(run: Any) -> None:
    object_ = told(run("learn maze --steps 0 --json --quiet"))
    assert object_["last_error"] is None and object_["learned"] is False


def test_rules_have_every_form_and_what_stands_behind_them(run: Any) -> None:
    (rule,) = told(run("rules maze.tt --rule player.pos.left --json"))["rules"]
    known = TreeThink.load("maze.tt").rules["player", "pos", "left"]
    assert rule["formula"] == str(known) and rule["english"] == known.to_text("english")
    assert (rule["class"], rule["attribute"], rule["action"]) == ("player", "pos", "left")
    assert rule["varies"] is True and len(rule["leaves"]) == known.n_leaves
    assert rule["observations"] == sum(known.seen.values())
    every = told(run("rules maze.tt --json"))
    assert len(every["rules"]) == 9 and every["observations"] == 1_500


def test_worlds_are_listed_or_told_in_full(run: Any) -> None:
    listed = told(run("worlds --json"))["worlds"]
    assert [each["name"] for each in listed] == [*WORLDS]
    assert all(each["summary"] for each in listed)
    (maze,) = told(run("worlds maze --json"))["worlds"]
    assert maze["actions"] == list(make("maze").actions) and maze["options"]["goals"] == 2
    assert maze["classes"]["player"] == ["pos"] and "Dynamics" in maze["sheet"]


def test_explain_says_of_what_and_why(run: Any) -> None:
    object_ = told(run("explain maze.tt --world maze --seed 3 --action up --json"))
    reasons = TreeThink.load("maze.tt").explain(make("maze").reset(3), "up").to_dict()["reasons"]
    assert object_["reasons"] == json.loads(json.dumps(reasons))
    assert (object_["world"], object_["seed"], object_["action"]) == ("maze", 3, "up")


def test_run_and_report_say_where_things_are(run: Any) -> None:
    object_ = told(run("run small.toml --processes 1 --json"))
    assert [each["seed"] for each in object_["runs"]] == [0, 1] and object_["failed"] == 0
    assert {each["status"] for each in object_["runs"]} == {"finished"}
    page = told(run(f"report {object_['folder']} --json"))
    assert Path(page["page"]).is_file() and Path(page["markdown"]).is_file()


def test_reproduce_lists_its_figures(run: Any) -> None:
    figures = told(run("reproduce --list --json"))["figures"]
    assert {"name", "title", "paper", "runs", "minutes", "parts"} == figures[0].keys()
    assert "maze" in [each["name"] for each in figures]


def test_bench_prints_its_figures(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(quick: bool, tell: Any) -> bench.Report:
        tell("measuring")
        return bench.Report(quick=quick)

    monkeypatch.setattr(bench, "run", small)
    ran = run("bench --quick --json")
    assert told(ran)["machine"]["treethink"] == treethink.__version__
    assert ran.err == "measuring\n"


# -------------------------------------------------------------------- exit codes


def test_what_is_wrong_prints_no_object(run: Any) -> None:
    for command in ("learn mase --json", "rules missing.tt --json", "plan maze --steps x --json"):
        ran = run(command)
        assert ran.out == "" and ran.err, command


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("worlds maze", 0),
        ("rules missing.tt", _output.FAILED),
        ("rules broken.tt", _output.FAILED),
        ("report .", _output.FAILED),
        ("run missing.toml", _output.FAILED),
        ("explain maze.tt --world keys --action up", _output.USAGE),
        ("learn mase", _output.USAGE),
        ("learn maze --width 2", _output.USAGE),
        ("learn maze --alpha 2", _output.USAGE),
        ("learn maze --steps -1", _output.USAGE),
        ("learn maze --set goals", _output.USAGE),
        ("explain maze.tt --world maze --action jump", _output.USAGE),
        ("explain maze.tt --world maze --action up --of 9999", _output.USAGE),
        ("explain maze.tt --world maze --action up --of 9999.pos", _output.USAGE),
        ("explain maze.tt --world maze --action up --of 40.", _output.USAGE),
        ("learn os:path", _output.USAGE),
        ("rules maze.tt --rule player.size", _output.USAGE),
        ("rules maze.tt --json --style code", _output.USAGE),
        ("learn maze --from maze.tt --memory 3", _output.USAGE),
    ],
)
def test_exit_codes(run: Any, command: str, code: int) -> None:
    Path("broken.tt").write_text("no model at all")
    ran = run(command)
    assert ran.code == code
    if code:
        assert ran.err.startswith("treethink: ") and ran.err.count("\n") == 1


def test_the_codes_are_those_that_are_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    for code in (0, _output.FAILED, _output.USAGE, _output.INTERRUPTED):
        assert f"\n| {code} | " in page.read_text(encoding="utf-8")


def test_a_failed_run_is_a_failure(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own.py").write_text(
        "from treethink.worlds.walls import Walls\n"
        "class Broken(Walls):\n"
        "    name = 'broken'\n"
        "    def dynamics(self, state, action):\n"
        "        raise RuntimeError('it broke')\n"
    )
    Path("broken.toml").write_text(CONFIG.replace('"walls"', '"own:Broken"'))
    ran = run("run broken.toml --processes 1 --json")
    object_ = told(ran, code=_output.FAILED)
    assert object_["failed"] == 2 and "it broke" in object_["runs"][0]["message"]


def stop_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while it learns, after so many steps."""

    def interrupted(*arguments: Any) -> Iterator[float]:
        for at, wrong_by in enumerate(trial(*arguments), start=1):
            yield wrong_by
            if at == step:
                raise KeyboardInterrupt

    monkeypatch.setattr(live, "trial", interrupted)


def test_an_interrupted_learner_is_saved_and_told(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(300, monkeypatch)
    object_ = told(run("learn walls --json --quiet"), code=_output.INTERRUPTED)
    assert object_["interrupted"] is True and object_["learned"] is None
    assert TreeThink.load(object_["saved"]).observations == object_["observations"] == 300


@pytest.mark.parametrize("quiet", ["--quiet", "--json"])
@pytest.mark.parametrize("where", ["watch", "save", "tell"])
def test_no_second_interrupt_loses_the_model_nor_what_is_told(
    run: Any, monkeypatch: pytest.MonkeyPatch, where: str, quiet: str
) -> None:
    """The first comes while it learns, the others while it goes on from there."""

    def press() -> None:
        signal.raise_signal(signal.SIGINT)

    def learned(*arguments: Any) -> Iterator[float]:
        yield from itertools.islice(trial(*arguments), 300)
        press()

    def pressed(owner: Any, name: str) -> None:
        known = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: press() or known(*a, **k))

    monkeypatch.setattr(live, "trial", learned)
    for owner, name in {
        "watch": [(live.LearningDisplay, "__exit__")],
        "save": [(os, "replace")],
        "tell": [(report, "print_json"), (report, "print_run")],
    }[where]:
        pressed(owner, name)
    ran = run(f"learn walls {quiet}")
    assert ran.code == _output.INTERRUPTED
    assert TreeThink.load("walls.tt").observations == 300
    if quiet == "--json":
        assert told(ran, code=_output.INTERRUPTED)["interrupted"] is True
    else:
        assert "interrupted after 300 transitions" in ran.out and "saved to walls.tt" in ran.out
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_first_interrupt_while_it_is_saved_waits_for_that(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = os.replace

    def replace(*places: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        saved(*places)

    monkeypatch.setattr(os, "replace", replace)
    object_ = told(run("learn walls --steps 200 --json --quiet"), code=_output.INTERRUPTED)
    assert object_["interrupted"] is True and object_["learned"] is None
    assert TreeThink.load(object_["saved"]).observations == 200


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_while_a_long_object_is_told_loses_none_of_it() -> None:
    program = (
        "import sys\n"
        "from treethink.cli._output import print_json\n"
        "from treethink.cli.session.interrupt import InterruptGuard\n"
        "with InterruptGuard() as guard:\n"
        "    print('now', file=sys.stderr, flush=True)\n"
        "    print_json('long', text='x' * 200_000, more='y' * 3_000)\n"
        "sys.exit(3 if guard.interrupted else 4)"
    )
    command = [sys.executable, "-c", f"{USUAL}\n{program}"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stderr.readline() == "now\n"
        for _ in range(3):  # a pipe holds less than that, and nobody reads yet
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        object_ = json.loads(process.stdout.read())
    assert process.returncode == 3
    assert (len(object_["text"]), len(object_["more"])) == (200_000, 3_000)


def test_control_c_that_is_ignored_stays_so() -> None:
    """As shells do for what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with InterruptGuard() as guard:
            signal.raise_signal(signal.SIGINT)
        assert not guard.interrupted and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_while_it_is_examined_loses_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(model: TreeThink, world: World) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.learn, "examine", stop)
    ran = run("learn walls --steps 200 --quiet")
    assert ran.code == _output.INTERRUPTED and "saved to walls.tt" in ran.out
    assert TreeThink.load("walls.tt").observations == 200


def test_any_command_that_is_interrupted_says_so(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(name: str) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.worlds, "make_world", stop)
    assert run("worlds maze") == Ran(_output.INTERRUPTED, "", "treethink: interrupted\n")
