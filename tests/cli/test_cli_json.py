"""`--json` prints one object and nothing else; exit codes distinguish four cases."""

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
from command_line import Ran, runner
from models import learned
from treethink import cli
from treethink.cli import _output
from treethink.cli.session import live, report
from treethink.cli.session.interrupt import InterruptGuard
from treethink.model import TreeThink
from treethink.repro.bench import bench
from treethink.stream.trial import trial
from treethink.worlds import WORLDS, World, make

DEFAULT_SIGINT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
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
    """Return a function that runs a command in a folder with a model of the maze."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 1_500).save("maze.tt")
    Path("small.toml").write_text(CONFIG)
    return runner(capsys)


def parse_json(result: Ran, code: int = 0) -> Any:
    """Return the JSON object of the output, which must be a single line."""
    assert result.code == code, result.err
    assert result.out.count("\n") == 1
    return json.loads(result.out)


# ------------------------------------------------------------------ objects


@pytest.mark.parametrize(
    "command",
    [
        "learn walls --steps 1200 --json",
        "rules maze.tt --json",
        "explain maze.tt --world maze --action right --json",
        "check maze.tt maze --steps 50 --json",
        "doubts maze.tt --json",
        "summary maze.tt --json",
        "diff maze.tt maze.tt --steps 50 --json",
        "export maze.tt --out maze.pl --json",
        "doctor --json",
        "worlds --json",
        "worlds maze --json",
        "plan maze --model maze.tt --steps 2 --json",
        "run small.toml --processes 1 --json",
        "reproduce --list --json",
    ],
)
def test_every_object_starts_with_command_and_version(run: Any, command: str) -> None:
    object_ = parse_json(run(command))
    assert list(object_)[:2] == ["command", "version"]
    assert object_["command"] == command.split()[0]
    assert object_["version"] == treethink.__version__


def test_the_object_of_learn(run: Any) -> None:
    result = run("learn walls --steps 3000 --seed 1 --set wall_percent=20 --json --out w.tt")
    object_ = parse_json(result)
    assert object_["learned"] is True and object_["interrupted"] is False
    assert object_["options"]["wall_percent"] == 20 and object_["seed"] == 1
    assert object_["observations"] == 3_000 and 0 < object_["last_error"] < 3_000
    assert object_["settings"] == {"alpha": 0.01, "criterion": "evidence", "memory": 5_000}
    assert object_["examined"]["exact"] == object_["examined"]["held_out"] == 1_000
    model = TreeThink.load(object_["saved"])
    names = [".".join(key) for key in model.rules.varying()]
    assert [each["rule"] for each in object_["rules"]] == names
    assert "1,000 transitions" in result.err  # progress still goes to the error stream


def test_learn_with_zero_steps_has_no_last_error(run: Any) -> None:
    object_ = parse_json(run("learn maze --steps 0 --json --quiet --force"))
    assert object_["last_error"] is None and object_["learned"] is False


def test_the_object_of_rules_has_texts_and_counts(run: Any) -> None:
    (rule,) = parse_json(run("rules maze.tt --rule player.pos.left --json"))["rules"]
    expected = TreeThink.load("maze.tt").rules["player", "pos", "left"]
    assert rule["formula"] == str(expected) and rule["english"] == expected.to_text("english")
    assert (rule["class"], rule["attribute"], rule["action"]) == ("player", "pos", "left")
    assert rule["varies"] is True and len(rule["leaves"]) == expected.n_leaves
    assert rule["observations"] == sum(expected.seen.values())
    all_rules = parse_json(run("rules maze.tt --json"))
    assert len(all_rules["rules"]) == 9 and all_rules["observations"] == 1_500


def test_worlds_are_listed_or_described_in_full(run: Any) -> None:
    worlds = parse_json(run("worlds --json"))["worlds"]
    assert [each["name"] for each in worlds] == [*WORLDS]
    assert all(each["summary"] for each in worlds)
    (maze,) = parse_json(run("worlds maze --json"))["worlds"]
    assert maze["actions"] == list(make("maze").actions) and maze["options"]["goals"] == 2
    assert maze["classes"]["player"] == ["pos"] and "Dynamics" in maze["sheet"]


def test_the_object_of_explain(run: Any) -> None:
    object_ = parse_json(run("explain maze.tt --world maze --seed 3 --action up --json"))
    reasons = TreeThink.load("maze.tt").explain(make("maze").reset(3), "up").to_dict()["reasons"]
    assert object_["reasons"] == json.loads(json.dumps(reasons))
    assert (object_["world"], object_["level"], object_["action"]) == ("maze", 3, "up")


def test_the_objects_of_run_and_report_have_paths(run: Any) -> None:
    object_ = parse_json(run("run small.toml --processes 1 --json"))
    assert [each["seed"] for each in object_["runs"]] == [0, 1] and object_["failed"] == 0
    assert {each["status"] for each in object_["runs"]} == {"finished"}
    page = parse_json(run(f"report {object_['folder']} --json"))
    assert Path(page["page"]).is_file() and Path(page["markdown"]).is_file()


def test_reproduce_lists_its_figures(run: Any) -> None:
    figures = parse_json(run("reproduce --list --json"))["figures"]
    assert {"name", "title", "paper", "runs", "minutes", "parts"} == figures[0].keys()
    assert "maze" in [each["name"] for each in figures]


def test_bench_prints_its_figures(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(quick: bool, tell: Any) -> bench.Report:
        tell("measuring")
        return bench.Report(quick=quick)

    monkeypatch.setattr(bench, "run", small)
    result = run("bench --quick --json")
    assert parse_json(result)["machine"]["treethink"] == treethink.__version__
    assert result.err == "measuring\n"


# -------------------------------------------------------------------- exit codes


def test_an_error_prints_no_object(run: Any) -> None:
    for command in ("learn mase --json", "rules missing.tt --json", "plan maze --steps x --json"):
        result = run(command)
        assert result.out == "" and result.err, command


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
    result = run(command)
    assert result.code == code
    if code:
        assert result.err.startswith("treethink: ") and result.err.count("\n") == 1


def test_all_exit_codes_are_documented() -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    for code in (0, _output.FAILED, _output.USAGE, _output.INTERRUPTED):
        assert f"\n| {code} | " in page.read_text(encoding="utf-8")


def test_a_failed_run_has_the_exit_code_of_a_failure(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("own.py").write_text(
        "from treethink.worlds.walls import Walls\n"
        "class Broken(Walls):\n"
        "    name = 'broken'\n"
        "    def dynamics(self, state, action):\n"
        "        raise RuntimeError('it broke')\n"
    )
    Path("broken.toml").write_text(CONFIG.replace('"walls"', '"own:Broken"'))
    result = run("run broken.toml --processes 1 --json")
    object_ = parse_json(result, code=_output.FAILED)
    assert object_["failed"] == 2 and "it broke" in object_["runs"][0]["message"]


def interrupt_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt learning after this number of steps."""

    def interrupted_trial(*arguments: Any) -> Iterator[float]:
        for at, wrong_by in enumerate(trial(*arguments), start=1):
            yield wrong_by
            if at == step:
                raise KeyboardInterrupt

    monkeypatch.setattr(live, "trial", interrupted_trial)


def test_an_interrupted_learner_is_saved_and_reported(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(300, monkeypatch)
    object_ = parse_json(run("learn walls --json --quiet"), code=_output.INTERRUPTED)
    assert object_["interrupted"] is True and object_["learned"] is None
    assert TreeThink.load(object_["saved"]).observations == object_["observations"] == 300


@pytest.mark.parametrize("quiet", ["--quiet", "--json"])
@pytest.mark.parametrize("where", ["watch", "save", "tell"])
def test_a_second_interrupt_does_not_lose_the_model_or_the_output(
    run: Any, monkeypatch: pytest.MonkeyPatch, where: str, quiet: str
) -> None:
    """The first interrupt comes while learning, the second in a later phase."""

    def press() -> None:
        signal.raise_signal(signal.SIGINT)

    def interrupted_trial(*arguments: Any) -> Iterator[float]:
        yield from itertools.islice(trial(*arguments), 300)
        press()

    def interrupt_before(owner: Any, name: str) -> None:
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a, **k: press() or original(*a, **k))

    monkeypatch.setattr(live, "trial", interrupted_trial)
    for owner, name in {
        "watch": [(live.LearningDisplay, "__exit__")],
        "save": [(os, "replace")],
        "tell": [(report, "print_json"), (report, "print_run")],
    }[where]:
        interrupt_before(owner, name)
    result = run(f"learn walls {quiet}")
    assert result.code == _output.INTERRUPTED
    assert TreeThink.load("walls.tt").observations == 300
    if quiet == "--json":
        assert parse_json(result, code=_output.INTERRUPTED)["interrupted"] is True
    else:
        assert (
            "interrupted after 300 transitions" in result.out and "saved to walls.tt" in result.out
        )
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_while_saving_waits_for_the_file(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = os.replace

    def replace(*places: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        original(*places)

    monkeypatch.setattr(os, "replace", replace)
    object_ = parse_json(run("learn walls --steps 200 --json --quiet"), code=_output.INTERRUPTED)
    assert object_["interrupted"] is True and object_["learned"] is None
    assert TreeThink.load(object_["saved"]).observations == 200


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_an_interrupt_while_printing_a_long_object_does_not_cut_it() -> None:
    program = (
        "import sys\n"
        "from treethink.cli._output import print_json\n"
        "from treethink.cli.session.interrupt import InterruptGuard\n"
        "with InterruptGuard() as guard:\n"
        "    print('now', file=sys.stderr, flush=True)\n"
        "    print_json('long', text='x' * 200_000, more='y' * 3_000)\n"
        "sys.exit(3 if guard.interrupted else 4)"
    )
    command = [sys.executable, "-c", f"{DEFAULT_SIGINT}\n{program}"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stderr.readline() == "now\n"
        for _ in range(3):  # the pipe is full, and nobody reads yet
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
        object_ = json.loads(process.stdout.read())
    assert process.returncode == 3
    assert (len(object_["text"]), len(object_["more"])) == (200_000, 3_000)


def test_an_ignored_control_c_stays_ignored() -> None:
    """Shells ignore it for commands in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with InterruptGuard() as guard:
            signal.raise_signal(signal.SIGINT)
        assert not guard.interrupted and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_during_the_evaluation_loses_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(model: TreeThink, world: World) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.learn, "examine", stop)
    result = run("learn walls --steps 200 --quiet")
    assert result.code == _output.INTERRUPTED and "saved to walls.tt" in result.out
    assert TreeThink.load("walls.tt").observations == 200


def test_every_interrupted_command_says_so(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(name: str, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.worlds, "make_world", stop)
    assert run("worlds maze") == Ran(_output.INTERRUPTED, "", "treethink: interrupted\n")
