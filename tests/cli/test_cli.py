"""The command line: what it says, what it saves, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from command_line import called
from models import learned
from treethink import cli
from treethink.baselines import LEARNERS
from treethink.cli.session import report
from treethink.explain.english.sentences import texts_of
from treethink.model import TreeThink
from treethink.repro.bench import bench
from treethink.stream.trial import Curve, trial
from treethink.terminal import chart
from treethink.worlds import WORLDS, make


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    return partial(called, capsys)


# ----------------------------------------------------------------------- learn


def test_learn_shows_the_error_and_the_rules_and_saves_the_model(run: Any) -> None:
    result = run("learn", "walls", "--steps", "3000", "--seed", "1")
    assert result.code == 0
    # Progress goes to the error stream, so that a pipe carries the result alone.
    assert re.search(r"1,000 transitions +[\d,]+ per second +recent error \d\.\d+", result.err)
    assert "per second" not in result.out and "4 rules depend on the state;" in result.out
    assert re.search(r"last error at transition \d+", result.out)
    assert "saved to walls.tt" in result.out
    model = TreeThink.load("walls.tt")
    for action in ("left", "right", "up", "down"):
        assert model.rules["player", "pos", action].to_text("english").rstrip() in result.out
    assert "█" in result.out


def test_the_output_of_learn_matches_the_golden_file(run: Any) -> None:
    out = re.sub(r" in [\d.]+ s\n", " in 0.0 s\n", run("learn", "maze", "--seed", "0").out)
    file = Path(__file__).parents[1] / "golden" / "learn_maze.txt"
    if os.environ.get("REWRITE_GOLDEN"):
        file.write_text(out, encoding="utf-8", newline="\n")
    assert out == file.read_text(encoding="utf-8")


def test_the_docs_show_the_end_of_that_output() -> None:
    tests = Path(__file__).parents[1]
    end = (tests / "golden" / "learn_maze.txt").read_text(encoding="utf-8").partition("\nlearned\n")
    page = (tests.parent / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert f"```text\nlearned\n{end[2]}```" in page


def test_learn_starts_by_saying_what_it_does_and_how_to_stop_it(run: Any) -> None:
    first, second, *_ = run("learn", "maze", "--steps", "60").err.splitlines()
    assert first == "learning maze: A player looks for goals, and every step counts."
    assert "until 5,000 in a row are predicted exactly, at most 60." in second
    assert second.endswith("Press Ctrl-C to stop and save.")
    assert "until" not in run("learn", "maze", "--steps", "60", "--patience", "0").err
    assert run("learn", "maze", "--steps", "60", "--quiet").err == ""


@pytest.mark.parametrize(
    ("command", "last"),
    [
        ("learn maze --steps 2500", ["play", "plan", "rules"]),
        ("learn walls --steps 2500", ["play", "explain", "rules"]),
        ("learn maze --steps 30 --seed 3 --set goals=1 --width 9", ["learn", "play", "rules"]),
    ],
)
def test_learn_suggests_three_commands_that_work(
    run: Any, command: str, last: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = run(*command.split(), "--out", "my model.tt").out
    commands = [shlex.split(each)[1:] for each in re.findall(r"\n  (treethink .*?)(?=\n|  )", out)]
    assert [each[0] for each in commands] == last
    games = []
    monkeypatch.setattr(
        cli.play, "play_in_terminal", lambda *arguments: games.append(arguments) or Quit
    )
    for each in commands:
        result = run(*each, *(["--steps", "5"] if each[0] in ("learn", "plan") else []))
        assert result.code == 0, result.err
        assert "nothing changes" not in result.out
    ((world, _, model),) = games
    assert model.schema == world.schema
    if "--width" in command:
        assert world.options["width"] == 9 and world.options["goals"] == 1


class Quit:
    """A game that ended at once."""

    @staticmethod
    def summary() -> str:
        return "left"


def test_learn_shows_some_rules_and_how_to_print_the_others(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "_MAX_RULE_LINES", 12)
    out = run("learn", "gates", "--steps", "4000").out
    more = re.search(
        r"  (\d+) more; print all rules with: treethink rules gates.tt --style english", out
    )
    n_shown = out.count("    When `")
    texts = texts_of(TreeThink.load("gates.tt").rules.changing())
    assert more and int(more[1]) == sum(len(keys) for keys, _ in texts[n_shown:])
    above = out.partition("\nwhere it is wrong\n")[0]
    assert n_shown > 4 and len(above.splitlines()) < 80


def test_continuing_a_saved_model_gives_the_same_bytes_as_one_run(run: Any) -> None:
    run("learn", "maze", "--steps", "900", "--seed", "4", "--out", "whole.tt", "--quiet")
    run("learn", "maze", "--steps", "400", "--seed", "4", "--out", "half.tt", "--quiet")
    result = run("learn", "maze", "--steps", "500", "--seed", "4", "--from", "half.tt", "--quiet")
    assert (
        "observed 500 transitions" in result.out and "has 900 observations in total" in result.out
    )
    assert "saved to half.tt" in result.out
    assert Path("half.tt").read_bytes() == Path("whole.tt").read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="uses a shell's pipe")
def test_the_model_is_saved_even_if_the_reader_of_a_pipe_leaves(tmp_path: Path) -> None:
    program = f"{sys.executable} -c 'from treethink.cli import main; main()'"
    command = f"{program} learn walls --steps 3000 2>/dev/null | head -n 1"
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True)
    assert TreeThink.load(tmp_path / "walls.tt").observations == 3_000


def test_learn_stops_when_no_error_has_occurred_for_a_while(run: Any) -> None:
    result = run("learn", "walls", "--patience", "500")
    last, since = re.search(r"transition ([\d,]+); ([\d,]+) without", result.out).groups()  # type: ignore[union-attr]
    assert since == "500"
    observations = TreeThink.load("walls.tt").observations
    assert observations == int(last.replace(",", "")) + 500 < 100_000


def test_learn_twice_writes_the_same_file(run: Any) -> None:
    run("learn", "maze", "--steps", "700", "--out", "one.tt", "--quiet")
    run("learn", "maze", "--steps", "700", "--out", "two.tt", "--quiet")
    run("learn", "maze", "--steps", "700", "--seed", "5", "--out", "other.tt", "--quiet")
    assert Path("one.tt").read_bytes() == Path("two.tt").read_bytes()
    assert Path("one.tt").read_bytes() != Path("other.tt").read_bytes()


def test_learn_passes_the_options_on(run: Any) -> None:
    result = run("learn", "maze", "--width", "5", "--set", "height=6", "--set", "goals=1",
              "--steps", "10", "--alpha", "0.2")  # fmt: skip
    assert "Maze(width=5, height=6, wall_percent=30, goals=1, scored=1)" in result.out
    assert "observed 10 transitions" in result.out


@pytest.mark.parametrize(
    ("options", "criterion", "memory"),
    [
        ("", "evidence", 5_000),
        ("--paper", "wilson", 0),
        ("--criterion proven", "proven", 5_000),
        ("--memory 0", "evidence", 0),
        ("--criterion wilson --memory 30", "wilson", 30),
    ],
)
def test_learn_takes_the_settings_of_the_learner(
    run: Any, options: str, criterion: str, memory: int
) -> None:
    command = "learn walls --steps 60 --alpha 0.2 --quiet --out walls.tt"
    run(*command.split(), *options.split())
    model = TreeThink.load("walls.tt")
    assert (model.alpha, model.criterion, model.memory) == (0.2, criterion, memory)


@pytest.mark.parametrize(
    ("options", "file"),
    [
        ("maze", "maze.tt"),
        ("maze --width 8 --set goals=2 --memory 5000 --alpha 0.01 --seed 3", "maze.tt"),
        ("maze --width 5 --height 6", "maze-5x6.tt"),
        ("maze --height 6", "maze-8x6.tt"),
        ("maze --set goals=1 --set wall_percent=10", "maze-goals1-wall_percent10.tt"),
        ("maze --set width=5 --paper", "maze-5x8-paper.tt"),
        ("maze --alpha 0.1 --criterion proven --memory 0", "maze-alpha0-1-proven-memory0.tt"),
        ("scale(1,2)", "scale-1-2.tt"),
        ("maze --width 5 --out it.tt", "it.tt"),
    ],
)
def test_the_file_is_named_after_the_world_and_what_is_not_the_default(
    run: Any, options: str, file: str
) -> None:
    result = run("learn", *options.split(), "--steps", "20", "--quiet")
    assert result.code == 0 and f"\nsaved to {file}\n" in result.out
    assert [each.name for each in Path().iterdir()] == [file]


def test_the_same_command_replaces_its_own_file(run: Any) -> None:
    command = ["learn", "maze", "--steps", "60", "--quiet"]
    first = run(*command)
    assert first.code == 0 and "replaced" not in first.out
    before = Path("maze.tt").read_bytes()
    again = run(*command)
    assert "replaced maze.tt: it had 60 observations\n" in again.out
    assert again.code == 0 and Path("maze.tt").read_bytes() == before
    assert run(*command[:3], "80", "--quiet").code == 0
    assert TreeThink.load("maze.tt").observations == 80
    assert json.loads(run(*command[:3], "90", "--seed", "2", "--json").out)["replaced"] == 80
    on = run(*command, "--from", "maze.tt")
    assert "replaced" not in on.out and TreeThink.load("maze.tt").observations == 150


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("keys --out maze.tt", "maze.tt is a model of another world"),
        ("maze --memory 9 --out maze.tt", "maze.tt is a model with other settings"),
        ("maze --steps 9", "maze.tt has 60 observations, and the new model can have 9 at most"),
        ("maze --out notes.txt", "notes.txt exists and is no model that can be read"),
        ("maze --from other.tt --out notes.txt", "notes.txt exists and is no model"),
    ],
)
def test_learn_replaces_no_other_model_and_no_other_file(
    run: Any, options: str, message: str
) -> None:
    for file in ("maze.tt", "other.tt"):
        run("learn", "maze", "--steps", "60", "--quiet", "--out", file)
    Path("notes.txt").write_text("to be kept")
    before = {each: each.read_bytes() for each in Path().iterdir()}
    command = ["learn", *options.split(), *([] if "--steps" in options else ["--steps", "60"])]
    result = run(*command)
    assert (result.code, result.out) == (2, "") and result.err.count("\n") == 1
    assert message in result.err and "replace it with --force" in result.err
    assert {each: each.read_bytes() for each in Path().iterdir()} == before
    assert run(*command, "--quiet", "--force").code == 0


@pytest.mark.parametrize(
    ("command", "rest"),
    [
        ("rules", "--json"),
        ("summary", "--json"),
        ("export", "--to python"),
        ("edit", "player.pos.up --pin --json"),
        ("edit", "--simplify --json"),
    ],
)
def test_the_model_is_an_argument_or_an_option(run: Any, command: str, rest: str) -> None:
    run("learn", "maze", "--steps", "60", "--quiet")
    saved = Path("maze.tt").read_bytes()
    first = run(command, "maze.tt", *rest.split())
    Path("maze.tt").write_bytes(saved)
    second = run(command, *rest.split(), "--model", "maze.tt")
    assert (first.code, first.out) == (0, second.out) and second.code == 0
    missing = run(command, *rest.split()[1:] if "pin" in rest else rest.split())
    assert missing.code == 2 and "missing argument 'MODEL'" in missing.err
    twice = run(command, "maze.tt", *rest.split(), "--model", "maze.tt")
    assert twice.code == 2 and "the MODEL is given twice" in twice.err


def test_learn_with_zero_steps(run: Any) -> None:
    result = run("learn", "maze", "--steps", "0")
    assert result.code == 0 and "no errors" in result.out
    assert TreeThink.load("maze.tt").observations == 0


def test_quiet_prints_only_the_result(run: Any) -> None:
    result = run("learn", "walls", "--steps", "2000", "--quiet")
    observed, verdict, saved = result.out.splitlines()
    assert "observed 2,000 transitions" in observed and verdict.startswith("learned: 1,000 of 1")
    assert saved == "saved to walls.tt" and result.err == ""


def test_quiet_says_what_is_wrong_where_and_what_to_do(run: Any) -> None:
    result = run("learn", "maze", "--steps", "300", "--width", "7", "--quiet")
    _, verdict, missing, saved, more = result.out.splitlines()
    assert re.match(r"NOT learned: \d+ of 1,000 held-out transitions predicted exactly", verdict)
    assert re.match(r"\S+ when \S+: missing: ", missing) and saved == "saved to maze-7x8.tt"
    command = more.partition("see where it is wrong: treethink ")[2]
    assert run(*command.split()).code == 1
    again = run("learn", "maze", "--steps", "300", "--width", "7", "--quiet").out
    assert "\nreplaced maze-7x8.tt: it had 300 observations\n" in again


def test_an_interrupt_saves_the_model(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_trial(*arguments: Any) -> Iterator[float]:
        for step, wrong_by in enumerate(trial(*arguments), start=1):
            yield wrong_by
            if step == 300:
                raise KeyboardInterrupt

    monkeypatch.setattr(cli.session.live, "trial", interrupted_trial)
    result = run("learn", "walls")
    assert result.code == 130
    assert "interrupted after 300 transitions" in result.out and "saved to walls.tt" in result.out
    assert TreeThink.load("walls.tt").observations == 300


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_control_c_in_a_real_process(tmp_path: Path) -> None:
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from treethink.cli import main; main()"
    command = [sys.executable, "-c", program, "learn", "maze", "--patience", "0"]
    with subprocess.Popen(
        [*command, "--steps", "100000000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        while "1,000 transitions" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
    assert process.returncode == 130
    assert "interrupted after" in out and "treethink learn maze --from maze.tt" in out
    assert TreeThink.load(tmp_path / "maze.tt").observations >= 1_000


@pytest.mark.parametrize("module", ["treethink", "treethink.cli", "treethink.model"])
def test_control_c_during_import_prints_one_line(module: str) -> None:
    program = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(name, path=None, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop)\n"
        "from treethink_command import main; main()"
    )
    # A measurement of coverage would look for the package itself, and get the interrupt.
    variables = {name: v for name, v in os.environ.items() if not name.startswith("COVERAGE_")}
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=variables
    )
    assert (result.returncode, result.stdout, result.stderr) == (
        130,
        "",
        "treethink: interrupted\n",
    )


def test_the_command_starts_before_the_package_is_imported() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"treethink": "treethink_command:main"}
    program = "import sys, treethink_command; print('treethink' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "False\n"
    for command in (["-m", "treethink"], ["-c", "from treethink_command import main; main()"]):
        result = subprocess.run(
            [sys.executable, *command, "--version"], capture_output=True, text=True
        )
        assert result.stdout.startswith("treethink ") and result.returncode == 0


def test_rarely_needed_modules_are_imported_lazily() -> None:
    lazy = [
        "repro.bench",
        "repro.report",
        "repro.figures",
        "baselines",
        "explain.why",
        "editing.edit",
    ]
    program = (
        "import sys, treethink.cli\n"
        f"print([each for each in {lazy!r} if f'treethink.{{each}}' in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def test_rules_are_printed_in_ascii_if_unicode_is_unavailable(tmp_path: Path) -> None:
    program = "from treethink.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", program, "learn", "walls", "--steps", "1000"],
        cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True,
    )  # fmt: skip
    assert result.returncode == 0 and b"Traceback" not in result.stderr
    assert b"a wall is directly to the left" in result.stdout and result.stdout.isascii()
    for command in ("rules walls.tt", "explain walls.tt --world walls --action right"):
        result = subprocess.run(
            [sys.executable, "-c", program, *command.split()],
            cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True,
        )  # fmt: skip
        assert b"exists X1: wall" in result.stdout and result.stdout.isascii()
        assert (
            b"`-" in result.stdout
            and b"?  X1" not in result.stdout
            and b"? X1" not in result.stdout
        )


# ------------------------------------------------------------ other commands


def test_rules_prints_the_rules_of_a_saved_model(run: Any) -> None:
    output_of_learn = run("learn", "walls", "--steps", "2000").out
    result = run("rules", "walls.tt")
    assert "2,000 observations" in result.out
    rule = str(TreeThink.load("walls.tt").rules["player", "pos", "left"])
    assert rule in result.out
    assert (
        "the player moves 1 left, unless a wall is directly to the left of it." in output_of_learn
    )
    assert run("rules", "walls.tt", "--rule", "player.pos.left").out.strip() == rule.strip()
    assert run("rules", "walls.tt", "--rule", "player.pos").out.count("player.pos when ") == 4
    assert run("rules", "walls.tt", "--rule", "play").code == 2
    english = run("rules", "walls.tt", "--style", "english").out
    assert "the player moves 1 left, unless a wall is directly to the left of it." in english
    names: dict[str, Any] = {}
    exec(run("rules", "walls.tt", "--style", "code", "--rule", "player.pos.left").out, names)
    assert callable(names["player_pos_when_left"])


def test_worlds_lists_every_world_with_its_summary_and_options(run: Any) -> None:
    text = " ".join(run("worlds").out.replace("│", " ").split())
    for name, world in WORLDS.items():
        assert re.search(rf"\b{name} {re.escape(world.summary().split()[0])}", text), name
    assert "goals=2" in text and "A player looks for goals" in text


def test_worlds_lists_the_ids_of_the_robotic_warehouse(run: Any) -> None:
    pytest.importorskip("rware")
    assert "rware:ID" in run("worlds").out
    for name in ("rware", "rware:"):
        assert "tiny-2ag, " in run("worlds", name).out
    listed = json.loads(run("worlds", "rware", "--json").out)["worlds"]
    assert {"name": "rware:tiny-2ag"} in listed


def test_worlds_describes_and_draws_one_world(run: Any) -> None:
    out = run("worlds", "maze-t").out
    assert out.startswith("`maze` at 32 x 32")
    assert "Dynamics" in out and "# # # #" in out and "score 0" in out
    assert "\033" not in out  # a pipe gets no colours


def test_learn_says_whether_the_world_was_learned(run: Any) -> None:
    out = run("learn", "walls", "--steps", "2000").out
    scenes = len(make("walls").scenes())
    assert "\nlearned\n1,000 of 1,000 held-out transitions predicted exactly" in out
    assert f"; {scenes} of {scenes} scenes of its rules right" in out
    out = run("learn", "walls", "--steps", "20", "--force").out
    assert "\nNOT learned\n" in out
    assert out.count("\n  wrong: ") == 5 and re.search(r"\n  and \d+ more\n", out)


def test_learn_reports_the_error_of_a_random_world(run: Any) -> None:
    out = run("learn", "fish", "--steps", "500").out
    assert re.search(r"recent mean error 0\.\d+", out)
    assert re.search(r"exactly, [\d,]+ as well as chance allows", out)


def test_learn_accepts_worlds_with_arguments_and_custom_worlds(run: Any) -> None:
    run("learn", "scale(1,2)", "--steps", "50")
    assert TreeThink.load("scale-1-2.tt").schema == make("scale(1,2)").schema
    Path("lamps.py").write_text(
        "import treethink as tt\n"
        "from treethink.worlds import World\n"
        "class Lamp(World):\n"
        "    name = 'lamp'\n"
        "    schema = tt.Schema({'lamp': ['on']}, {'on': 1}, ['press'])\n"
        "    def reset(self, seed):\n"
        "        return tt.State(self.schema, [tt.Object(0, 'lamp', on=seed % 2)])\n"
        "    def dynamics(self, state, action):\n"
        "        return self.surely(state, {0: {'on': 1 - state[0].on}})\n"
    )
    assert "1,000 of 1,000 held-out" in run("learn", "lamps:Lamp", "--steps", "500").out
    assert TreeThink.load("Lamp.tt").observations == 500
    assert "0" in run("worlds", "lamps:Lamp").out


def test_bench_prints_its_figures(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def tiny(self: bench.Report, count: int, least: int = 0) -> int:
        return min(count, 3)

    monkeypatch.setattr(bench.Report, "calls", tiny)
    monkeypatch.setattr(bench.Report, "repeats", 1)
    messages: list[str] = []
    report = bench.run(quick=True, tell=messages.append)  # only once, since it is slow
    for each in ("maze", "coins", "keys"):  # long parts report their progress
        assert f"whole runs of {each} ..." in messages
    monkeypatch.setattr(bench, "run", lambda **_: report)
    table = run("bench", "--quick").out
    assert max(map(len, table.splitlines())) <= 80 and "…" not in table
    figures = json.loads(run("bench", "--quick", "--json").out)
    names = {row["name"] for row in figures["rows"]}
    for world in ("maze 8x8", "maze 32x32"):
        assert {f"predict {world}, {each}" for each in ("none", "eval", "query", "both")} <= names
    for how in ("paper's settings", "defaults"):
        assert f"observe walls 8x8, {how}" in names
        assert {f"observe {each}, a run of 3, {how}" for each in ("maze", "coins", "keys")} <= names
    figure_names = {figure["name"] for figure in figures["figures"]}
    assert {"longest observe keys, defaults", "memory keys, what is kept"} <= figure_names
    assert {"learn coins, defaults", "learn coins, paper's settings"} <= figure_names
    assert {f"observe maze 8x8 while learning, {name}" for name in LEARNERS} <= figure_names
    assert all(row["timing"]["mean"] > 0 for row in figures["rows"])
    assert "481,822" in run("bench", "--quick").out


# ------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("learn mase", "unknown world 'mase' .* Did you mean 'maze'?"),
        ("learn walls --set goals=2", "unknown option 'goals' in world 'walls'"),
        ("learn maze --set goals=two", "NAME=NUMBER, such as goals=3, got 'goals=two'"),
        ("learn maze --set goals", "NAME=NUMBER"),
        ("learn maze --width 2", "width must be at least 3"),
        ("learn maze --set goals=99", "need a free cell each"),
        ("learn maze --alpha 1.5", "alpha"),
        ("learn maze --alpha nan", "alpha"),
        ("learn maze --criterion wilsom", "unknown criterion 'wilsom' .* Did you mean 'wilson'?"),
        ("learn maze --paper --criterion wilson", "--paper means .*: leave out --criterion$"),
        ("learn maze --memory 0 --paper", "--paper means .*: leave out --memory$"),
        ("learn maze --out nowhere/maze.tt", "there is no folder nowhere"),
        ("learn maze --out .", "it is a folder"),
        ("learn maze(3)", "takes nothing in brackets"),
        ("learn ./lamps.py:world", "is given as module:name"),
        ("learn .lamps:world", "is given as module:name"),
        ("learn nowhere:world", "there is no world at 'nowhere:world'"),
        ("play mase", "Did you mean 'maze'?"),
        ("worlds mase", "Did you mean 'maze'?"),
        ("learn maze --from good.tt", "good.tt does not fit world 'maze'"),
        ("learn walls --from good.tt --alpha 0.1 --paper", "leave out --alpha and --paper$"),
        ("rules good.tt --rule player.pos.lefft", "unknown rule .* Did you mean 'player.pos.left'"),
    ],
)
def test_a_usage_error_is_one_line_with_exit_code_2(run: Any, command: str, message: str) -> None:
    learned("walls", 60).save("good.tt")
    before = set(Path().iterdir())
    result = run(*command.split())
    assert result.code == 2
    assert result.out == ""
    assert re.match(f"treethink: .*{message}", result.err) and len(result.err.splitlines()) == 1
    assert set(Path().iterdir()) == before


@pytest.mark.skipif(os.name != "posix", reason="makes a pipe and links")
def test_an_output_that_cannot_be_written_is_refused_before_learning(run: Any) -> None:
    os.mkfifo("pipe")
    Path("lost.tt").symlink_to("nowhere/maze.tt")
    result = run("learn", "maze", "--out", "pipe")
    assert (result.code, result.out) == (2, "")
    assert result.err == "treethink: cannot write to pipe: it is a device or a pipe, not a file\n"
    result = run("learn", "maze", "--out", "lost.tt")
    assert (result.code, result.out) == (2, "") and "there is no folder" in result.err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("play maze --model missing.tt", "missing.tt"),
        ("learn maze --from missing.tt", "missing.tt"),
        ("rules missing.tt", "missing.tt"),
        ("rules broken.tt", "broken.tt"),
    ],
)
def test_a_failure_is_one_line_with_exit_code_1(run: Any, command: str, message: str) -> None:
    Path("broken.tt").write_text("no model at all")
    result = run(*command.split())
    assert (result.code, result.out) == (1, "")
    assert re.match(f"treethink: .*{message}", result.err) and len(result.err.splitlines()) == 1


# ----------------------------------------------------------------------- charts


def test_a_chart_shows_even_the_smallest_error() -> None:
    picture = chart([1.0] * 30 + [0.0] * 29 + [1e-9], steps=3_000).splitlines()
    assert picture[0].split() == ["1", "█" * 30]
    assert picture[-2].split() == ["0", "█" * 30, "▁"]
    assert picture[-1].split() == ["1", "3,000"]


def test_a_chart_compresses_long_curves_and_can_be_ascii() -> None:
    picture = chart([1.0] * 6_000, steps=300_000, encoding="ascii")
    assert picture.isascii()
    assert max(map(len, picture.splitlines())) <= 8 + 60


def test_a_chart_without_errors_can_be_drawn() -> None:
    assert "0" in chart([0.0, 0.0], steps=100)


def test_a_curve_knows_its_recent_error() -> None:
    curve = Curve(window=10)
    assert curve.means == [] and curve.recent() == 0.0
    for step in range(95):
        curve.add(1.0 if step < 50 else 0.0)
    assert curve.last_error == 50
    assert curve.recent(windows=3) == 0.0
    assert curve.recent(windows=100) == pytest.approx(50 / 95)


def test_learn_shows_where_it_is_wrong_and_what_may_be_missing(run: Any) -> None:
    """`doubtful_worlds` is a module of the tests: any world named module:name can be learned."""
    out = run("learn", "doubtful_worlds:Elevator", "--steps", "1500", "--out", "lift.tt").out
    assert "\nNOT learned\n" in out and "\nwhere it is wrong\n" in out
    missing = " ".join(out.partition("\nwhat may be missing\n")[2].split())
    assert "passenger.out when open" in missing and "yes X0[out] = 0" in missing
    assert (
        "missing: a comparison of attributes with different names: X0[dest] = lift[floor]"
        in missing
    )
    assert 'Number(like="floor")' in missing and "a defect" not in out
    quiet = run(
        "learn", "doubtful_worlds:Elevator", "--steps", "1500", "--out", "l2.tt", "--quiet"
    ).out
    assert "what may be missing" not in quiet and "missing: a comparison" in quiet
    assert quiet.endswith("see where it is wrong: treethink check l2.tt doubtful_worlds:Elevator\n")


def test_learn_lists_doubts_as_json(run: Any) -> None:
    for world, kind in (("Vending", "comparison"), ("VendingUnordered", "order")):
        arguments = (
            f"doubtful_worlds:{world}",
            "--steps",
            "1500",
            "--out",
            f"{world}.tt",
            "--json",
        )
        report = json.loads(run("learn", *arguments).out)
        assert report["learned"] is False
        assert [each["suggestions"][0]["kind"] for each in report["doubts"]] == [kind]
    report = json.loads(run("learn", "walls", "--steps", "2000", "--json").out)
    assert report["learned"] is True and report["doubts"] == []


def test_a_paper_model_has_doubts_about_fresh_transitions(run: Any) -> None:
    out = run("learn", "doubtful_worlds:Elevator", "--steps", "400", "--out", "p.tt", "--paper").out
    assert "missing: a comparison" in " ".join(out.split())
