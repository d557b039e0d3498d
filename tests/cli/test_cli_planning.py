"""`treethink plan`: what it plays, what it says of that, what it refuses, and how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.console import Console
from rich.text import Text

from command_line import Ran, called
from models import learned
from treethink import cli
from treethink.cli.session import live
from treethink.model import TreeThink
from treethink.planning import Agent, Episode, Plan
from treethink.planning.episode_summary import EpisodeSummary, summary_lines
from treethink.planning.scores import ScoreBounds
from treethink.planning.watch import Viewer, bars, screen
from treethink.worlds import World, draw, make


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Any:
    """Runs a command in a folder of its own, in which maze.tt has learned the maze."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 3_000).save("maze.tt")

    def call(command: str) -> Ran:
        return called(capsys, *command.split())

    return call


# --------------------------------------------------------------------- what it plays


def test_it_plays_by_a_model_and_says_what_that_scored(run: Any) -> None:
    ran = run("plan maze --model maze.tt --steps 10 --level 5")
    assert ran.code == 0 and ran.err == ""
    *steps, told, time = ran.out.splitlines()
    assert len(steps) == 10 and steps[0].startswith("step   1  ")
    assert re.search(r"\+1  score +6  visits +[\d,]+ of +[\d,]+  value 1\.000$", steps[-1])
    assert told == (
        "level 5: score 6 in 10 steps; normalised 1.000 (pessimal -20, trivial -10, optimal 6)"
    )
    assert re.fullmatch(
        r"planning took [\d.]+ ms an action, at [\d,]+ simulations a second", time
    )  # fmt: skip


def test_it_does_what_an_agent_with_these_settings_does(run: Any) -> None:
    settings = "--simulations 30 --seed 3 --discount 0.9 --horizon 7 --exploration 2 --choose value"
    options = "--width 10 --height 9 --set goals=3"
    ran = run(f"plan maze --model maze.tt --level 2 --steps 12 --json {settings} {options}")
    told = json.loads(ran.out)
    world = make("maze", width=10, height=9, goals=3)
    agent = Agent(
        TreeThink.load("maze.tt"), simulations=30, seed=3, discount=0.9, horizon=7, exploration=2.0,
        choose="value",
    )  # fmt: skip
    episode = agent.play(world, 12, level=2)
    (entry,) = told["episodes"]
    assert entry["actions"] == episode.actions and entry["rewards"] == episode.rewards
    assert entry["score"] == episode.score and entry["simulations"] == 12 * 30
    assert told["options"] == world.options and told["settings"]["choose"] == "value"


def test_the_oracle_plans_in_the_world_itself(run: Any) -> None:
    told = json.loads(run("plan keys --oracle --json --steps 10 --level 1").out)
    world = make("keys")
    assert told["model"] == "the world itself" and told["observations"] is None
    assert told["episodes"][0]["actions"] == Agent(world).play(world, 10, level=1).actions


def test_without_a_model_it_first_learns_the_world_in_its_usual_size(run: Any) -> None:
    ran = run("plan maze --width 12 --height 12 --steps 5")
    assert ran.code == 0
    first, second, third, *_ = ran.out.splitlines()
    assert first.startswith("no --model given: learning Maze(width=8, height=8,")
    assert first.endswith("first, as `treethink learn maze` does")
    observed = re.search(r"observed ([\d,]+) transitions", second)[1]  # type: ignore[index]
    assert "5,000 without an error since" in third
    assert re.search(r"1,000 transitions +[\d,]+ per second", ran.err)
    learned = run("learn maze --quiet").out
    assert f"observed {observed} transitions" in learned
    assert not Path("maze.gif").exists()


def test_it_learns_the_world_that_was_asked_for_if_its_usual_one_has_another_schema(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def learn_live(model: TreeThink, world: World) -> live.LearningRun:
        seen.append(world)
        return live.LearningRun()

    monkeypatch.setattr(live, "learn_live", learn_live)
    ran = run("plan maze-scoreless --set scored=1 --steps 2")
    assert ran.code == 0 and [each.options["scored"] for each in seen] == [1]


def test_several_episodes_are_several_levels_and_a_line_each(run: Any) -> None:
    ran = run("plan maze --model maze.tt --episodes 3 --level 4 --steps 10")
    *levels, mean, time = ran.out.splitlines()
    assert [each.partition(":")[0] for each in levels] == ["level 4", "level 5", "level 6"]
    assert mean.startswith("3 episodes: mean score ") and "mean normalised" in mean
    alone = run("plan maze --model maze.tt --level 5 --steps 10").out
    assert levels[1] in alone.splitlines()
    assert "step" not in time


def test_json_is_all_that_a_pipe_gets(run: Any) -> None:
    ran = run("plan maze --json --steps 4 --episodes 2 --gif two.gif")
    told = json.loads(ran.out)
    assert told["world"] == "maze" and told["model"] == "learned" and told["observations"] > 5_000
    assert [each["level"] for each in told["episodes"]] == [0, 1]
    first = told["episodes"][0]
    assert first["finished"] and first["exact"] is True and first["by_chance"] is False
    assert first["pessimal"] <= first["trivial"] <= first["optimal"] and first["seconds"] > 0
    assert "no --model" in ran.err and "GIF saved to two.gif" in ran.err
    kept = json.loads(run("plan maze --model maze.tt --json --steps 4").out)
    assert kept["model"] == "maze.tt" and kept["observations"] == 3_000


def test_with_milliseconds_alone_it_takes_the_time_it_has(run: Any) -> None:
    command = "plan maze --model maze.tt --json --steps 3 --milliseconds 20"
    told = json.loads(run(command).out)
    assert told["settings"]["simulations"] is None
    assert told["episodes"][0]["simulations"] > 300
    assert 0.05 < told["episodes"][0]["seconds"] < 5
    told = json.loads(run(f"{command} --simulations 10").out)
    assert told["episodes"][0]["simulations"] <= 30


def test_the_film_shows_every_state_of_all_episodes(run: Any) -> None:
    run("plan maze --model maze.tt --steps 4 --episodes 2 --gif maze.gif")
    with Image.open("maze.gif") as picture:
        assert picture.n_frames == 10  # type: ignore[attr-defined]
    first = Path("maze.gif").read_bytes()
    run("plan maze --model maze.tt --steps 4 --episodes 2 --gif maze.gif")
    assert Path("maze.gif").read_bytes() == first


def test_where_scores_have_no_scale_it_says_why(run: Any) -> None:
    out = run("plan cliffwalking --oracle --steps 3 --episodes 2").out
    assert "\nno normalised score: world 'cliffwalking' has no action 'stay'" in out
    assert out.count("no normalised score") == 1 and "mean normalised" not in out
    assert re.search(r"^level 0: score -3 in 3 steps$", out, re.MULTILINE)


OWN = """
import treethink as tt
from treethink.worlds import World

class Button(World):
    '''A button that pays.'''
    name = "button"
    schema = tt.Schema({"game": ["score"]}, {"score": tt.Attribute(1, facts=())}, ["stay", "press"])

    def __init__(self, pay, ends=0):
        super().__init__()
        self.pay, self.ends = pay, ends

    def reset(self, seed):
        return tt.State(self.schema, [tt.Object(0, "game", score=0)] * (seed != 9))

    def is_over(self, state):
        return bool(self.ends)

    def dynamics(self, state, action):
        return self.surely(state, self.paid(state, self.pay if action == "press" else 0))
"""


def test_worlds_of_ones_own_are_planned_in_with_the_options_that_they_need(run: Any) -> None:
    Path("buttons.py").write_text(OWN)
    ran = run("plan buttons:Button --set pay=3 --steps 6")
    assert ran.code == 0
    assert "level 0: score 18 in 6 steps; normalised 1.000" in ran.out


def test_an_episode_that_is_over_at_once_has_no_step(run: Any) -> None:
    Path("buttons.py").write_text(OWN)
    ran = run("plan buttons:Button --set pay=3 --set ends=1 --oracle --gif over.gif")
    assert (
        ran.code == 0
        and "level 0: score 0 in 0 steps, where the world ended it; nothing" in ran.out
    )
    assert "planning took" not in ran.out
    with Image.open("over.gif") as picture:
        assert picture.n_frames == 1  # type: ignore[attr-defined]


# ------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("plan mase", "unknown world 'mase' .* Did you mean 'maze'?"),
        ("plan walls", "world 'walls' keeps no score, so there is nothing to plan for"),
        ("plan maze-scoreless", "world 'maze-scoreless' keeps no score"),
        ("plan maze --set gaols=2", "unknown option 'gaols' .* Did you mean 'goals'?"),
        ("plan maze --model maze.tt --oracle", "leave out one"),
        ("plan keys --model maze.tt", "maze.tt does not fit world 'keys': its classes are"),
        ("plan maze --model missing.tt", "missing.tt"),
        ("plan maze --simulations 0", "simulations must be at least 1, got 0"),
        ("plan maze --milliseconds 0", "milliseconds must be .*above 0, got 0"),
        ("plan maze --milliseconds nan", "milliseconds must be .*got nan"),
        ("plan maze --discount 1.5", "discount must be .* at most 1, got 1.5"),
        ("plan maze --exploration -1", "exploration must be .* at least 0, got -1.0"),
        ("plan maze --horizon 0", "horizon must be at least 1, got 0"),
        ("plan maze --choose vists", "unknown choice 'vists' .* Did you mean 'visits'?"),
        (f"plan maze --seed {2**64}", "seed must be below"),
        ("plan maze --gif nowhere/maze.gif", "there is no folder nowhere"),
        ("plan maze --gif .", "it is a folder"),
        ("plan maze --gif maze.mp4", "its name ends in .gif, got 'maze.mp4'"),
        ("plan maze --gif maze.gif --steps 90000", "a film of 90,001 states is too long"),
        ("plan buttons:Button --set pay=1 --level 9", "exactly one game, the state has 0"),
        ("plan buttons:gym --oracle", "an oracle must ask about any state"),
    ],
)
def test_an_error_is_one_line_told_before_anything_is_learned_or_played(
    run: Any, command: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: Any) -> None:
        raise AssertionError("it began")

    monkeypatch.setattr(live, "trial", never)
    monkeypatch.setattr(Agent, "play", never)
    Path("buttons.py").write_text(f"{OWN}\nclass Gym(Button):\n    pure = False\ngym = Gym(1)\n")
    sys.modules.pop("buttons", None)
    before = {*Path().iterdir()}
    ran = run(command)
    failed = "missing.tt" in command or "--level 9" in command
    assert ran.code == (1 if failed else 2) and ran.out == ""
    assert re.match(f"treethink: .*{says}", ran.err) and len(ran.err.splitlines()) == 1
    assert {*Path().iterdir()} - {Path("__pycache__")} == before


@pytest.mark.parametrize("option", ["--episodes 0", "--steps 0", "--level -1", "--pause -1"])
def test_what_cannot_be_counted_is_wrong_usage(run: Any, option: str) -> None:
    ran = run(f"plan maze {option}")
    assert ran.code == 2 and "Try 'treethink plan --help'." in ran.err


def test_without_pillow_it_says_so_before_it_plays(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    ran = run("plan maze --model maze.tt --gif maze.gif")
    assert ran.code == 1 and ran.out == "" and "pip install pillow" in ran.err
    assert run("plan maze --model maze.tt --steps 2").code == 0


# ---------------------------------------------------------------------- interruption


def interrupt_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Viewer.tell

    def tell(self: Viewer, episode: Episode, plan: Plan) -> None:
        told(self, episode, plan)
        if len(episode.actions) == steps:
            raise KeyboardInterrupt

    monkeypatch.setattr(Viewer, "tell", tell)


def test_an_interrupt_tells_and_films_what_was_played(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(3, monkeypatch)
    ran = run("plan maze --model maze.tt --episodes 5 --gif maze.gif")
    assert ran.code == 130
    first, *rest = ran.out.splitlines()
    assert re.fullmatch(r"level 0: score -?\d+ in 3 steps, interrupted", first)
    assert rest[0].startswith("planning took") and rest[1] == "GIF saved to maze.gif"
    with Image.open("maze.gif") as picture:
        assert picture.n_frames == 4  # type: ignore[attr-defined]
    told = json.loads(run("plan maze --model maze.tt --json").out)
    assert [each["finished"] for each in told["episodes"]] == [False]


def test_an_interrupt_while_the_scale_is_worked_out_loses_no_score(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EpisodeSummary, "compute_bounds", stop)
    ran = run("plan maze --model maze.tt --steps 4 --episodes 2")
    assert ran.code == 130
    assert re.match(r"level 0: score -?\d+ in 4 steps\nplanning took", ran.out)


def test_an_interrupt_while_it_learns_plays_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> Any:
        yield 1.0
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "trial", stop)
    ran = run("plan maze --gif maze.gif")
    assert ran.code == 130 and ran.out.endswith("interrupted before the first episode\n")
    assert not Path("maze.gif").exists()


def test_an_interrupt_while_the_film_is_written_leaves_none(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.plan.animation, "write", stop)
    ran = run("plan maze --model maze.tt --steps 2 --gif maze.gif")
    assert ran.code == 130 and "interrupted; maze.gif was not written" in ran.out


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_control_c_in_a_real_process(tmp_path: Path) -> None:
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from treethink.cli import main; main()"
    command = [sys.executable, "-u", "-c", program, "plan", "maze", "--oracle"]
    with subprocess.Popen(
        [*command, "--steps", "100000", "--simulations", "20"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("step   1 ")
        process.send_signal(signal.SIGINT)
        out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 130 and "Traceback" not in err
    assert re.search(r"level 0: score -?\d+ in \d+ steps?, interrupted\nplanning took", out)


# ------------------------------------------------------------------------ how it looks


def some_plan(world: World, steps: int = 4, level: int = 1) -> tuple[Episode, Plan]:
    plans: list[Plan] = []
    agent = Agent(world, simulations=20)
    episode = agent.play(world, steps, level=level, tell=lambda _, plan: plans.append(plan))
    return episode, plans[-1]


@pytest.mark.parametrize("size", [(80, 23), (40, 23), (120, 40), (80, 12)])
@pytest.mark.parametrize("name", ["maze", "maze-t", "keys", "lights", "taxi"])
def test_the_screen_fits_the_terminal_and_shows_the_player_and_the_bars(
    name: str, size: tuple[int, int]
) -> None:
    world = make(name)
    episode, plan = some_plan(world)
    text = screen(world, episode, plan, 4, 1, *size)
    lines = text.plain.split("\n")
    assert text.no_wrap and text.overflow == "ellipsis"
    assert max(map(len, lines[3:])) <= max(size[0], 44)
    if size[1] > 20:
        assert len(lines) <= size[1]
    assert lines[0] == f"{name}  level 1  step 4 of 4  score {episode.score}"
    sign = {"lights": "R", "taxi": "[Tt]"}.get(name, "P")
    assert re.search(rf"\b{sign}[ _]", "\n".join(lines[3:]))
    assert sum(each in text.plain for each in bars(plan)) == len(plan.visits)


def test_a_screen_is_the_level_as_it_is_drawn_elsewhere() -> None:
    world = make("maze")
    episode, plan = some_plan(world)
    drawn = draw.ansi(world, episode.states[-1], colour=False).split("\n")
    shown = screen(world, episode, plan, 4, 1).plain.split("\n")[3:]
    assert all(line.startswith(each) for each, line in zip(drawn, shown, strict=True))


def test_what_is_expected_to_follow_is_said_while_there_is_something() -> None:
    world = make("maze")
    state = world.reset(5)
    after = world.step(state, "right", None)  # type: ignore[arg-type]
    episode = Episode([state, after], ["right"], [-1])
    plan = Plan("right", {"right": 1}, {"right": 0.0}, ["right", "up", "stay"], [], 1, 2)
    assert "\nright, to go on with up stay\n" in screen(world, episode, plan, 4, 5).plain
    plan = Plan("right", {"right": 1}, {"right": 0.0}, ["right"], [], 1, 2)
    assert "\nright\n" in screen(world, episode, plan, 4, 5).plain


def test_bars_show_whatever_was_tried_and_no_more_than_a_dozen() -> None:
    visits = {f"go-{i}": (i % 13) * 1_000 + (i == 0) for i in range(20)}
    values = {name: None if not count else 0.5 for name, count in visits.items()}
    plan = Plan("go-12", visits, values, ["go-12"], [], 1, 2)
    lines = bars(plan)
    assert len(lines) == 13 and lines[-1] == "  and 8 more"
    assert [each for each in lines if each.startswith("*")] == [
        "* go-12 ████████████  12,000     0.500"
    ]
    lines = bars(
        Plan("a", {"a": 10_000, "b": 1, "c": 0}, {"a": 1.0, "b": 1.0, "c": None}, [], [], 1, 1)
    )
    assert "▏" in lines[1] and lines[2].split() == ["c", "0"]
    assert all(line.isascii() for line in bars(plan, "ascii"))


def through(console: Console, lines: bool = True) -> str:
    """What a viewer writes of an episode."""
    world = make("maze")
    with Viewer(console, world, 3, 1, lines=lines) as viewer:
        Agent(world, simulations=20).play(world, 3, level=1, tell=viewer.tell)
    assert viewer.simulations == 60 and viewer.episode is not None
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("time.sleep", lambda seconds: None)

    def open_one(**settings: Any) -> Console:
        return Console(file=io.StringIO(), width=80, height=24, **settings)

    return open_one


def test_in_a_terminal_the_level_moves_and_its_last_state_stays(terminal: Any) -> None:
    written = through(terminal(force_terminal=True))
    assert "\x1b[38;" in written and "step 1 of 3" in written
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")  # the cursor is back
    last = Text.from_ansi(written[written.rindex("maze  level 1") :]).plain
    assert last.startswith("maze  level 1  step 3 of 3") and "# # # #" in last


def test_no_color_is_respected(terminal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    written = through(terminal(force_terminal=True))
    assert "step 3 of 3" in written and "\x1b[38;" not in written and "\x1b[48;" not in written


def test_a_dumb_terminal_and_a_pipe_get_plain_lines(
    terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = through(terminal(force_terminal=False))
    assert len(piped.splitlines()) == 3 and "\x1b" not in piped and piped.startswith("step   1")
    assert through(terminal(force_terminal=False), lines=False) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert through(terminal(force_terminal=True)) == piped


# -------------------------------------------------------------------- what it was worth


def account(score: int, bounds: ScoreBounds | None, **more: Any) -> EpisodeSummary:
    world = make("maze")
    state = world.reset(0)
    return EpisodeSummary(
        7, Episode([state, state], ["stay"], [score], 0.5), 100, bounds=bounds, **more
    )


@pytest.mark.parametrize(
    ("score", "bounds", "says"),
    [
        (6, ScoreBounds(-20, -10, 6), "; normalised 1.000 (pessimal -20, trivial -10, optimal 6)"),
        (
            -2,
            ScoreBounds(-20, -10, 6, exact=False),
            "; normalised 0.500 or more (pessimal -20, trivial -10, optimal at most 6)",
        ),
        (
            -15,
            ScoreBounds(-20, -10, 6, exact=False),
            "; normalised -0.500 (pessimal -20, trivial -10, optimal at most 6)",
        ),
        (
            -10,
            ScoreBounds(-20, -10, -10),
            "; nothing to gain there (pessimal -20, trivial -10, optimal -10)",
        ),
        (
            3,
            ScoreBounds(-1.0, 0.5, 1.5, by_chance=True),
            "; normalised 1.000 (pessimal -1, trivial 0.5, optimal 1.5, all three as expected by"
            " chance)",
        ),
        (
            -3,
            ScoreBounds(0.5, 0.5, 1.5, by_chance=True),
            "; normalised -1.000 (pessimal 0.5, trivial 0.5, optimal 1.5, all three as expected by"
            " chance)",
        ),
        (4, None, ""),
    ],
)
def test_an_account_says_what_is_known(score: int, bounds: ScoreBounds | None, says: str) -> None:
    assert str(account(score, bounds)) == f"level 7: score {score} in 1 step{says}"
    json.dumps(account(score, bounds).to_dict(), allow_nan=False)


def test_means_are_over_levels_with_something_to_gain() -> None:
    good, none = ScoreBounds(-20, -10, 0), ScoreBounds(-20, -10, -10)
    said = summary_lines([account(0, good), account(-5, good), account(-10, none)])
    assert said[0] == (
        "3 episodes: mean score -5.00; mean normalised 0.750, deviation 0.250"
        " in 2 with something to gain"
    )
    assert said[-1] == "planning took 500 ms an action, at 200 simulations a second"
    assert "normalised" not in summary_lines([account(0, good), account(1, None, unknown="why")])[0]
    assert summary_lines([account(1, None, unknown="why")])[0] == "no normalised score: why"
    assert summary_lines([account(-10, none)] * 2)[0] == "2 episodes: mean score -10.00"
    assert summary_lines([]) == []
