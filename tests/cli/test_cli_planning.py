"""`treethink plan`: its episodes, its output, its errors and interruption."""

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

from command_line import runner
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
    """Return a function that runs a command in a folder with a model of the maze."""
    monkeypatch.chdir(tmp_path)
    learned("maze", 3_000).save("maze.tt")
    return runner(capsys)


# --------------------------------------------------------------------- episodes


def test_it_plays_with_a_model_and_prints_the_score(run: Any) -> None:
    result = run("plan maze --model maze.tt --steps 10 --level 5")
    assert result.code == 0 and result.err == ""
    *steps, summary, time = result.out.splitlines()
    assert len(steps) == 10 and steps[0].startswith("step   1  ")
    assert re.search(r"\+1  score +6  visits +[\d,]+ of +[\d,]+  value 1\.000$", steps[-1])
    assert summary == (
        "level 5: score 6 in 10 steps; normalised 1.000 (pessimal -20, trivial -10, optimal 6)"
    )
    assert re.fullmatch(
        r"planning took [\d.]+ ms an action, at [\d,]+ simulations a second", time
    )  # fmt: skip


def test_it_acts_as_an_agent_with_the_same_settings(run: Any) -> None:
    settings = "--simulations 30 --seed 3 --discount 0.9 --horizon 7 --exploration 2 --choose value"
    options = "--width 10 --height 9 --set goals=3"
    result = run(f"plan maze --model maze.tt --level 2 --steps 12 --json {settings} {options}")
    data = json.loads(result.out)
    world = make("maze", width=10, height=9, goals=3)
    agent = Agent(
        TreeThink.load("maze.tt"), simulations=30, seed=3, discount=0.9, horizon=7, exploration=2.0,
        choose="value",
    )  # fmt: skip
    episode = agent.play(world, 12, level=2)
    (entry,) = data["episodes"]
    assert entry["actions"] == episode.actions and entry["rewards"] == episode.rewards
    assert entry["score"] == episode.score and entry["simulations"] == 12 * 30
    assert data["options"] == world.options and data["settings"]["choose"] == "value"


def test_the_oracle_plans_in_the_world_itself(run: Any) -> None:
    data = json.loads(run("plan keys --oracle --json --steps 10 --level 1").out)
    world = make("keys")
    assert data["model"] == "the world itself" and data["observations"] is None
    assert data["episodes"][0]["actions"] == Agent(world).play(world, 10, level=1).actions


def test_without_a_model_it_first_learns_the_world_in_its_default_size(run: Any) -> None:
    result = run("plan maze --width 12 --height 12 --steps 5")
    assert result.code == 0
    first, second, third, *_ = result.out.splitlines()
    assert first.startswith("no model given: learning Maze(width=8, height=8,")
    assert first.endswith("first, as `treethink learn maze` does")
    observed = re.search(r"observed ([\d,]+) transitions", second)[1]  # type: ignore[index]
    assert "5,000 without an error since" in third
    assert re.search(r"1,000 transitions +[\d,]+ per second", result.err)
    output_of_learn = run("learn maze --quiet").out
    assert f"observed {observed} transitions" in output_of_learn
    assert not Path("maze.gif").exists()


def test_it_learns_the_given_world_if_the_default_one_has_another_schema(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = []

    def learn_live(model: TreeThink, world: World, quiet: bool) -> live.LearningRun:
        worlds.append(world)
        return live.LearningRun()

    monkeypatch.setattr(live, "learn_live", learn_live)
    result = run("plan maze-scoreless --set scored=1 --steps 2")
    assert result.code == 0 and [each.options["scored"] for each in worlds] == [1]


def test_each_episode_has_its_own_level_and_line(run: Any) -> None:
    result = run("plan maze --model maze.tt --episodes 3 --level 4 --steps 10")
    *levels, mean, time = result.out.splitlines()
    assert [each.partition(":")[0] for each in levels] == ["level 4", "level 5", "level 6"]
    assert mean.startswith("3 episodes: mean score ") and "mean normalised" in mean
    alone = run("plan maze --model maze.tt --level 5 --steps 10").out
    assert levels[1] in alone.splitlines()
    assert "step" not in time


def test_with_json_only_the_object_goes_to_the_output(run: Any) -> None:
    result = run("plan maze --json --steps 4 --episodes 2 --gif two.gif")
    data = json.loads(result.out)
    assert data["world"] == "maze" and data["model"] == "learned" and data["observations"] > 5_000
    assert [each["level"] for each in data["episodes"]] == [0, 1]
    first = data["episodes"][0]
    assert first["finished"] and first["exact"] is True and first["by_chance"] is False
    assert first["pessimal"] <= first["trivial"] <= first["optimal"] and first["seconds"] > 0
    assert "no model given" in result.err and "GIF saved to two.gif" in result.err
    of_saved_model = json.loads(run("plan maze --model maze.tt --json --steps 4").out)
    assert of_saved_model["model"] == "maze.tt" and of_saved_model["observations"] == 3_000


def test_milliseconds_without_simulations_limit_only_the_time(run: Any) -> None:
    command = "plan maze --model maze.tt --json --steps 3 --milliseconds 20"
    data = json.loads(run(command).out)
    assert data["settings"]["simulations"] is None
    assert data["episodes"][0]["simulations"] > 300
    assert 0.05 < data["episodes"][0]["seconds"] < 5
    data = json.loads(run(f"{command} --simulations 10").out)
    assert data["episodes"][0]["simulations"] <= 30


def test_the_gif_shows_every_state_of_all_episodes(run: Any) -> None:
    run("plan maze --model maze.tt --steps 4 --episodes 2 --gif maze.gif")
    with Image.open("maze.gif") as picture:
        assert picture.n_frames == 10  # type: ignore[attr-defined]
    first = Path("maze.gif").read_bytes()
    run("plan maze --model maze.tt --steps 4 --episodes 2 --gif maze.gif")
    assert Path("maze.gif").read_bytes() == first


def test_it_says_why_scores_cannot_be_normalised(run: Any) -> None:
    out = run("plan cliffwalking --oracle --steps 3 --episodes 2").out
    assert "\nno normalised score: world 'cliffwalking' has no action 'stay'" in out
    assert out.count("no normalised score") == 1 and "mean normalised" not in out
    assert re.search(r"^level 0: score -3 in 3 steps$", out, re.MULTILINE)


CUSTOM_WORLD = """
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


def test_custom_worlds_with_options_can_be_used(run: Any) -> None:
    Path("buttons.py").write_text(CUSTOM_WORLD)
    result = run("plan buttons:Button --set pay=3 --steps 6")
    assert result.code == 0
    assert "level 0: score 18 in 6 steps; normalised 1.000" in result.out


def test_an_episode_that_is_over_at_once_has_no_step(run: Any) -> None:
    Path("buttons.py").write_text(CUSTOM_WORLD)
    result = run("plan buttons:Button --set pay=3 --set ends=1 --oracle --gif over.gif")
    assert (
        result.code == 0
        and "level 0: score 0 in 0 steps, where the world ended it; nothing" in result.out
    )
    assert "planning took" not in result.out
    with Image.open("over.gif") as picture:
        assert picture.n_frames == 1  # type: ignore[attr-defined]


# ------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("command", "message"),
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
        ("plan maze --gif maze.mp4", "end in .gif, got 'maze.mp4'"),
        ("plan maze --gif maze.gif --steps 90000", "a GIF of 90,001 states is too long"),
        ("plan buttons:Button --set pay=1 --level 9", "exactly one game, the state has 0"),
        ("plan buttons:gym --oracle", "an oracle must ask about any state"),
    ],
)
def test_an_error_is_one_line_before_anything_is_learned_or_played(
    run: Any, command: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: Any) -> None:
        raise AssertionError("it began")

    monkeypatch.setattr(live, "trial", fail)
    monkeypatch.setattr(Agent, "play", fail)
    Path("buttons.py").write_text(
        f"{CUSTOM_WORLD}\nclass Gym(Button):\n    pure = False\ngym = Gym(1)\n"
    )
    sys.modules.pop("buttons", None)
    before = {*Path().iterdir()}
    result = run(command)
    failed = "missing.tt" in command or "--level 9" in command
    assert result.code == (1 if failed else 2) and result.out == ""
    assert re.match(f"treethink: .*{message}", result.err) and len(result.err.splitlines()) == 1
    assert {*Path().iterdir()} - {Path("__pycache__")} == before


@pytest.mark.parametrize("option", ["--episodes 0", "--steps 0", "--level -1", "--pause -1"])
def test_invalid_counts_are_usage_errors(run: Any, option: str) -> None:
    result = run(f"plan maze {option}")
    assert result.code == 2 and "Try 'treethink plan --help'." in result.err


def test_missing_pillow_is_reported_before_playing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    result = run("plan maze --model maze.tt --gif maze.gif")
    assert result.code == 1 and result.out == "" and "pip install '.[experiments]'" in result.err
    assert run("plan maze --model maze.tt --steps 2").code == 0


# ---------------------------------------------------------------------- interruption


def interrupt_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Viewer.tell

    def tell(self: Viewer, episode: Episode, plan: Plan) -> None:
        original(self, episode, plan)
        if len(episode.actions) == steps:
            raise KeyboardInterrupt

    monkeypatch.setattr(Viewer, "tell", tell)


def test_an_interrupt_reports_and_saves_what_was_played(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_after(3, monkeypatch)
    result = run("plan maze --model maze.tt --episodes 5 --gif maze.gif")
    assert result.code == 130
    first, *rest = result.out.splitlines()
    assert re.fullmatch(r"level 0: score -?\d+ in 3 steps, interrupted", first)
    assert rest[0].startswith("planning took") and rest[1] == "GIF saved to maze.gif"
    with Image.open("maze.gif") as picture:
        assert picture.n_frames == 4  # type: ignore[attr-defined]
    data = json.loads(run("plan maze --model maze.tt --json").out)
    assert [each["finished"] for each in data["episodes"]] == [False]


def test_an_interrupt_while_bounds_are_computed_loses_no_score(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(EpisodeSummary, "compute_bounds", stop)
    result = run("plan maze --model maze.tt --steps 4 --episodes 2")
    assert result.code == 130
    assert re.match(r"level 0: score -?\d+ in 4 steps\nplanning took", result.out)


def test_an_interrupt_while_learning_plays_nothing(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> Any:
        yield 1.0
        raise KeyboardInterrupt

    monkeypatch.setattr(live, "trial", stop)
    result = run("plan maze --gif maze.gif")
    assert result.code == 130 and result.out.endswith("interrupted before the first episode\n")
    assert not Path("maze.gif").exists()


def test_an_interrupt_while_the_gif_is_written_leaves_no_file(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.plan.animation, "write", stop)
    result = run("plan maze --model maze.tt --steps 2 --gif maze.gif")
    assert result.code == 130 and "interrupted; maze.gif was not written" in result.out


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


# ------------------------------------------------------------------------ screen


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


def test_the_screen_draws_the_level_as_elsewhere() -> None:
    world = make("maze")
    episode, plan = some_plan(world)
    expected = draw.ansi(world, episode.states[-1], colour=False).split("\n")
    rows = screen(world, episode, plan, 4, 1).plain.split("\n")[3:]
    assert all(line.startswith(each) for each, line in zip(expected, rows, strict=True))


def test_the_screen_shows_the_planned_actions_if_there_are_any() -> None:
    world = make("maze")
    state = world.reset(5)
    after = world.step(state, "right", None)  # type: ignore[arg-type]
    episode = Episode([state, after], ["right"], [-1])
    plan = Plan("right", {"right": 1}, {"right": 0.0}, ["right", "up", "stay"], [], 1, 2)
    assert "\nright, then up stay\n" in screen(world, episode, plan, 4, 5).plain
    plan = Plan("right", {"right": 1}, {"right": 0.0}, ["right"], [], 1, 2)
    assert "\nright\n" in screen(world, episode, plan, 4, 5).plain


def test_bars_show_at_most_twelve_actions() -> None:
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


def viewer_output(console: Console, lines: bool = True) -> str:
    """Return what a viewer writes about an episode."""
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


def test_a_terminal_shows_the_level_live_and_keeps_its_last_state(terminal: Any) -> None:
    output = viewer_output(terminal(force_terminal=True))
    assert "\x1b[38;" in output and "step 1 of 3" in output
    assert output.rindex("\x1b[?25h") > output.rindex("\x1b[?25l")  # the cursor is visible again
    last = Text.from_ansi(output[output.rindex("maze  level 1") :]).plain
    assert last.startswith("maze  level 1  step 3 of 3") and "# # # #" in last


def test_no_color_is_respected(terminal: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output = viewer_output(terminal(force_terminal=True))
    assert "step 3 of 3" in output and "\x1b[38;" not in output and "\x1b[48;" not in output


def test_a_dumb_terminal_and_a_pipe_get_plain_lines(
    terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = viewer_output(terminal(force_terminal=False))
    assert len(piped.splitlines()) == 3 and "\x1b" not in piped and piped.startswith("step   1")
    assert viewer_output(terminal(force_terminal=False), lines=False) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert viewer_output(terminal(force_terminal=True)) == piped


# -------------------------------------------------------------------- summaries


def episode_summary(score: int, bounds: ScoreBounds | None, **more: Any) -> EpisodeSummary:
    world = make("maze")
    state = world.reset(0)
    return EpisodeSummary(
        7, Episode([state, state], ["stay"], [score], 0.5), 100, bounds=bounds, **more
    )


@pytest.mark.parametrize(
    ("score", "bounds", "message"),
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
def test_an_episode_summary_says_what_is_known(
    score: int, bounds: ScoreBounds | None, message: str
) -> None:
    assert str(episode_summary(score, bounds)) == f"level 7: score {score} in 1 step{message}"
    json.dumps(episode_summary(score, bounds).to_dict(), allow_nan=False)


def test_means_are_over_levels_with_something_to_gain() -> None:
    good, none = ScoreBounds(-20, -10, 0), ScoreBounds(-20, -10, -10)
    lines = summary_lines(
        [episode_summary(0, good), episode_summary(-5, good), episode_summary(-10, none)]
    )
    assert lines[0] == (
        "3 episodes: mean score -5.00; mean normalised 0.750, deviation 0.250"
        " in 2 with something to gain"
    )
    assert lines[-1] == "planning took 500 ms an action, at 200 simulations a second"
    assert (
        "normalised"
        not in summary_lines([episode_summary(0, good), episode_summary(1, None, unknown="why")])[0]
    )
    assert summary_lines([episode_summary(1, None, unknown="why")])[0] == "no normalised score: why"
    assert summary_lines([episode_summary(-10, none)] * 2)[0] == "2 episodes: mean score -10.00"
    assert summary_lines([]) == []
