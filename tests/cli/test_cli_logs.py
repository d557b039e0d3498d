"""`treethink schema` and `--log`: from a log to rules without code."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from command_line import called
from log_files import copy_logs


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy_logs(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_from_a_log_to_rules(capsys: Any) -> None:
    guessed = called(capsys, "schema", "vending.jsonl")
    assert guessed.code == 0 and "credit: a number, from 0 to 1.5" in guessed.out
    assert "written to schema.toml" in guessed.out
    assert "treethink learn --log vending.jsonl --schema schema.toml" in guessed.out
    learned = called(capsys, "learn", "--log", "vending.jsonl", "--schema", "schema.toml")
    assert learned.code == 0
    assert "96 of 96 transitions predicted exactly" in learned.out
    assert "the machine's `credit` rises by 5, unless its `credit` is 15" in learned.out
    assert "saved to vending.tt" in learned.out
    log = tt.read_jsonl("vending.jsonl")
    model = tt.TreeThink.load("vending.tt")
    expected = tt.TreeThink(log.schema)
    expected.observe_many(log)
    assert [str(each) for each in model.rules.values()] == [
        str(each) for each in expected.rules.values()
    ]
    assert model.observations == len(log)


def test_a_guess_is_printed_while_learning(capsys: Any) -> None:
    result = called(capsys, "learn", "--log", "elevator.csv")
    assert result.code == 0 and "learning elevator.csv: 2,100 transitions" in result.err
    assert 'write like = "floor" for dest' in " ".join(result.err.split())
    quiet = called(capsys, "learn", "--log", "elevator.csv", "--quiet")
    assert quiet.err == "" and "elevator.csv: observed 2,100 transitions" in quiet.out


def test_a_log_that_is_not_learned_says_what_to_write_where(capsys: Any) -> None:
    """The whole story: not learned, why, one line in the schema file, learned, and used."""
    failed = called(capsys, "learn", "--log", "elevator.csv")
    text = " ".join(failed.out.split())
    assert failed.code == 0 and "\nNOT learned\n" in failed.out
    assert "lift[floor] = lift[dest]" in text and "reward when open: 74 of 542" in text
    assert 'write like = "floor" below [attributes.dest]' in text
    follow = "treethink learn --log elevator.csv --out elevator.tt --force --schema schema.toml"
    assert "treethink schema elevator.csv" in text and follow in text
    bad = called(capsys, "check", "elevator.tt", "--log", "elevator.csv")
    assert bad.code == 1 and bad.out.startswith("NOT learned\n1,558 of 2,100 transitions")
    assert "lift[floor] = lift[dest]" in " ".join(bad.out.split())

    assert called(capsys, "schema", "elevator.csv", "--quiet").code == 0
    schema = Path("schema.toml")
    start, found, rest = schema.read_text().partition("[attributes.dest]")
    schema.write_text(start + found + rest.replace('# like = "floor"', 'like = "floor"', 1))
    learned = called(capsys, *follow.split()[1:])
    assert learned.code == 0 and "\nlearned\n210 of 210 transitions" in learned.out
    assert "what may be missing" not in learned.out

    log = ("elevator.tt", "--log", "elevator.csv", "--schema", "schema.toml")
    good = called(capsys, "check", *log)
    assert (good.code, good.out) == (0, "learned\n2,100 of 2,100 transitions predicted exactly\n")
    state = json.loads(called(capsys, "explain", *log, "--action", "open", "--json").out)["state"]
    assert state == tt.read_csv("elevator.csv", "schema.toml").last_state.to_dict()
    plan = called(capsys, "plan", *log, "--steps", "5", "--quiet")
    assert plan.code == 0 and plan.out.startswith("expected reward +")
    rules = called(capsys, "rules", "elevator.tt", "--style", "english")
    assert rules.code == 0 and "its `dest`" in rules.out
    assert called(capsys, "export", "elevator.tt", "--out", "lift.py").code == 0
    compile(Path("lift.py").read_text(), "lift.py", "exec")


def write_crossing(path: Path) -> None:
    """Write a log of two lamps, of which only that of the cars turns red when asked to."""
    rng = random.Random(0)
    lines, colours = ["time,object,kind,colour,action"], {"cars": "green", "walkers": "red"}
    for time in range(401):
        action = rng.choice(["stop", "go"]) if time < 400 else ""
        lines += [f"{time},{name},lamp,{colour},{action}" for name, colour in colours.items()]
        colours["cars"] = "red" if action == "stop" else "green"
        colours["walkers"] = "green" if action == "stop" else "red"
    path.write_text("\n".join(lines))


def test_a_log_that_needs_the_names_of_objects_says_how_to_give_them(capsys: Any) -> None:
    write_crossing(Path("crossing.csv"))
    failed = called(capsys, "learn", "--log", "crossing.csv")
    assert "missing: the name of an object" in " ".join(failed.out.split())
    mend = "treethink schema crossing.csv --column class=object"
    follow = "treethink learn --log crossing.csv --out crossing.tt --force --schema schema.toml"
    assert mend in failed.out and follow in " ".join(failed.out.split())
    assert called(capsys, *mend.split()[1:]).code == 0
    assert "\nlearned\n40 of 40" in called(capsys, *follow.split()[1:]).out


def test_a_schema_that_was_given_is_the_one_to_edit(capsys: Any) -> None:
    called(capsys, "schema", "elevator.csv", "--out", "mine.toml", "--quiet")
    arguments = ("learn", "--log", "elevator.csv", "--schema", "mine.toml")
    text = " ".join(called(capsys, *arguments).out.split())
    assert 'when mine.toml says like = "floor" below [attributes.dest]' in text
    report = json.loads(called(capsys, *arguments, "--json").out)
    assert report["learned"] is False
    assert report["doubts"][0]["suggestions"][0]["like"] == ["dest", "floor"]


def test_a_random_log_is_not_called_wrong(capsys: Any) -> None:
    rng = random.Random(0)
    tosses = "".join(f"toss,{rng.randrange(2)}\n" for _ in range(600))
    Path("coin.csv").write_text(f"action,coin.up\n{tosses}")
    learned = called(capsys, "learn", "--log", "coin.csv")
    assert "NOT learned" not in learned.out and "may be random" in learned.out
    checked = called(capsys, "check", "coin.tt", "--log", "coin.csv")
    assert checked.code == 0 and "599 unsure" in checked.out
    data = json.loads(called(capsys, "check", "coin.tt", "--log", "coin.csv", "--json").out)
    assert data["right"] is True and data["examined"]["unsure"] == data["tried"] == 599


def test_the_mistake_shown_is_one_of_the_model_before_the_rest_was_learned(capsys: Any) -> None:
    """The last tenth says something new: it is explained as it was predicted, then learned."""
    rows = ["press,0", "press,1"] * 200
    Path("lamp.csv").write_text("action,lamp.on\n" + "\n".join([*rows, *["press,1"] * 21]) + "\n")
    out = called(capsys, "learn", "--log", "lamp.csv").out
    assert "\nNOT learned\n" in out and "21 wrong: what followed was given no chance" in out
    assert "where it is wrong" in out and "but is" in out
    assert tt.TreeThink.load("lamp.tt").observations == 420


def test_check_a_model_with_a_log(capsys: Any) -> None:
    called(capsys, "learn", "--log", "vending.jsonl", "--quiet")
    right = called(capsys, "check", "vending.tt", "--log", "vending.jsonl")
    assert right.code == 0 and right.out.startswith("learned\n960 of 960 transitions")
    assert "credit: values are multiplied by 10, a guess from vending.jsonl" in right.err
    part = called(capsys, "check", "vending.tt", "--log", "vending.jsonl", "--steps", "7")
    assert "7 of 7 transitions" in part.out
    lines = Path("vending.jsonl").read_text().splitlines()[:2]
    lines[1] = lines[0].replace('"step": 0', '"step": 1').replace('"stock": 0', '"stock": 3')
    Path("wrong.jsonl").write_text("\n".join(lines))
    called(capsys, "schema", "vending.jsonl", "--quiet")
    command = ("check", "vending.tt", "--log", "wrong.jsonl", "--schema", "schema.toml")
    wrong = called(capsys, *command)
    assert wrong.code == 1 and wrong.out.startswith("NOT learned\n0 of 1 transitions")
    assert wrong.err == "credit: 10 stands for 1 in wrong.jsonl\n"
    quiet = called(capsys, *command, "--quiet")
    assert (quiet.code, quiet.err) == (1, "") and "where it is wrong" not in quiet.out
    data = json.loads(called(capsys, *command, "--json").out)
    assert (data["log"], data["tried"], data["right"]) == ("wrong.jsonl", 1, False)
    assert data["wrong"] + data["examined"]["never_seen"] == 1
    other = called(capsys, "check", "vending.tt", "--log", "elevator.csv")
    assert other.code == 2 and "vending.tt was learned with another schema" in other.err
    both = called(capsys, "check", "vending.tt", "maze", "--log", "elevator.csv")
    assert both.code == 2 and "maze has no meaning with a log" in both.err


def test_json(capsys: Any) -> None:
    result = called(capsys, "schema", "elevator.csv", "--json", "--quiet")
    data = json.loads(result.out)
    assert data["schema"] == tt.guess_schema("elevator.csv").schema.to_dict()
    assert data["saved"] == "schema.toml" and data["problems"] == [] and data["notes"]
    result = called(capsys, "learn", "--log", "vending.jsonl", "--json", "--quiet")
    data = json.loads(result.out)
    assert data["command"] == "learn" and data["log"] == "vending.jsonl"
    assert data["learned"] is True and data["transitions"] == data["observations"] == 960
    assert data["saved"] == "vending.tt" and result.err == ""


def test_a_file_is_replaced_only_with_force(capsys: Any) -> None:
    called(capsys, "learn", "--log", "vending.jsonl", "--quiet")
    rule = "machine.credit.coin"
    for command in (
        ("export", "vending.tt", "--out", "mine.py"),
        ("export", "vending.tt", "--rule", rule, "--out", "mine.svg"),
        ("edit", "vending.tt", rule, "--pin", "--out", "mine.tt"),
    ):
        mine = Path(command[-1])
        mine.write_text("mine")
        refused = called(capsys, *command)
        assert refused.code == 2 and f"{mine} exists: name another file" in refused.err
        assert mine.read_text() == "mine"
        assert called(capsys, *command, "--force").code == 0
        assert mine.read_bytes() != b"mine"
    assert called(capsys, "edit", "vending.tt", rule, "--pin").code == 0  # the model itself


def test_plan_from_the_last_state_of_a_log(capsys: Any) -> None:
    """Each step follows from the model, and its rewards are those of the log."""
    called(capsys, "schema", "elevator.csv", "--quiet")
    schema = Path("schema.toml")
    schema.write_text(schema.read_text().replace('# like = "floor"', 'like = "floor"', 1))
    source = ("--log", "elevator.csv", "--schema", "schema.toml")
    learned = called(capsys, "learn", *source)
    assert "treethink plan elevator.tt --log elevator.csv --schema schema.toml" in learned.out
    command = ("plan", "elevator.tt", *source, "--steps", "6")
    planned = json.loads(called(capsys, *command, "--json").out)
    model = tt.TreeThink.load("elevator.tt")
    state = tt.read_csv("elevator.csv", "schema.toml").last_state
    assert planned["start"] == state.to_dict() and len(planned["steps"]) == 6
    for each in planned["steps"]:
        prediction = model.predict(state, each["action"])
        state = prediction.mode()
        assert (each["state"], each["reward"]) == (state.to_dict(), prediction.reward())
        arrives = each["action"] == "open" and state[0].door == "open"
        assert each["reward"] == float(arrives and state[0].floor == state[0].dest)
    assert planned["reward"] == sum(each["reward"] for each in planned["steps"]) > 0
    text = called(capsys, *command).out
    assert text.count("\nstep ") == 6 and "door closed -> open  reward +1" in text
    assert text.endswith(f"expected reward {planned['reward']:+g} in 6 steps\n")


def test_a_plan_ends_where_the_log_ended_and_may_be_for_a_score(capsys: Any) -> None:
    text = "episode,action,walker.x,reward,terminated\n"
    for number in range(30):
        text += "".join(f"{number},walk,{x},{x - 1},{x == 2}\n" for x in (0, 1, 2))
        text += f"{number},,3,,\n"
    Path("walk.csv").write_text(text + "30,walk,0,-1,False\n30,,1,,\n")
    called(capsys, "learn", "--log", "walk.csv", "--quiet")
    planned = called(capsys, "plan", "walk.tt", "--log", "walk.csv").out
    assert planned.count("\nstep ") == 2 and planned.endswith("expected reward +1 in 2 steps\n")
    assert "walker, x 2 -> 3  reward +1  the end" in planned
    rows = "".join(f"{n},play,{x}\n" for n in range(30) for x in (0, 1, 2))
    Path("game.csv").write_text(f"episode,action,game.score\n{rows}")
    called(capsys, "learn", "--log", "game.csv", "--quiet")
    by_score = called(capsys, "plan", "game.tt", "--log", "game.csv", "--steps", "4", "--quiet")
    assert by_score.out == "expected reward +4 in 4 steps\n"


def test_a_plan_needs_rewards(capsys: Any) -> None:
    called(capsys, "learn", "--log", "vending.jsonl", "--quiet")
    log = ("--log", "vending.jsonl")
    result = called(capsys, "plan", "vending.tt", *log)
    assert result.code == 2 and "add a column `reward` to the log" in result.err
    missing = called(capsys, "plan", *log)
    assert missing.code == 2 and "issing argument 'MODEL'" in missing.err
    for option in (["--oracle"], ["--level", "3"], ["--width", "5"], ["--gif", "a.gif"]):
        result = called(capsys, "plan", "vending.tt", *log, *option)
        assert result.code == 2 and f"{option[0]}" in result.err
        assert "has no meaning with a log" in result.err
    both = called(capsys, "plan", "maze", "vending.tt", *log)
    assert both.code == 2 and "maze has no meaning with a log" in both.err


def test_explain_the_last_state_of_a_log(capsys: Any) -> None:
    called(capsys, "learn", "--log", "vending.jsonl", "--quiet")
    command = ("explain", "vending.tt", "--log", "vending.jsonl", "--action", "take", "--json")
    data = json.loads(called(capsys, *command).out)
    assert data["state"] == tt.read_jsonl("vending.jsonl").last_state.to_dict()
    assert data["world"] is None and data["level"] is None
    other = called(capsys, "explain", "vending.tt", "--log", "elevator.csv", "--action", "up")
    assert other.code == 2 and "vending.tt was learned with another schema" in other.err
    both = called(capsys, *command, "--state", "state.json")
    assert both.code == 2 and "--state=state.json has no meaning with a log" in both.err


def test_part_of_a_log_and_then_another(capsys: Any) -> None:
    called(capsys, "schema", "elevator.csv", "--quiet")
    first = ("learn", "--log", "elevator.csv", "--schema", "schema.toml")
    assert called(capsys, *first, "--steps", "500", "--out", "part.tt").code == 0
    assert tt.TreeThink.load("part.tt").observations == 500
    more = called(capsys, *first, "--from", "part.tt", "--quiet")
    assert "the model has 2,600 observations in total" in more.out
    other = called(capsys, "learn", "--log", "vending.jsonl", "--from", "part.tt")
    assert other.code == 2 and "part.tt was learned with another schema" in other.err
    assert tt.TreeThink.load("part.tt").observations == 2_600


def test_a_log_is_read_with_the_schema_of_the_model(capsys: Any) -> None:
    called(capsys, "schema", "elevator.csv", "--quiet")
    text = Path("schema.toml").read_text().replace('# like = "floor"', 'like = "floor"')
    Path("schema.toml").write_text(text)
    learned = called(capsys, "learn", "--log", "elevator.csv", "--schema", "schema.toml", "--quiet")
    assert "learned" in learned.out
    checked = called(capsys, "check", "elevator.tt", "--log", "elevator.csv")
    assert checked.code == 0 and checked.out.startswith("learned\n2,100 of 2,100 transitions")
    assert called(capsys, "plan", "elevator.tt", "--log", "elevator.csv").code == 0


def test_a_column_with_a_problem_is_ignored_in_the_file(capsys: Any) -> None:
    Path("log.csv").write_text("action,a.b,a.c\nup,0.123456,1\n,0.2,2\n")
    failed = called(capsys, "learn", "--log", "log.csv")
    assert failed.code == 1 and not Path("log.tt").exists()
    assert "log.csv:2, column 'a.b': rules need exact numbers" in failed.err
    result = called(capsys, "schema", "log.csv")
    assert result.code == 0 and "ignored: log.csv:2, column 'a.b'" in result.out
    assert called(capsys, "learn", "--log", "log.csv", "--schema", "schema.toml").code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["learn"], 2, "name a WORLD, such as maze"),
        (["learn", "maze", "--log", "elevator.csv"], 2, "maze has no meaning with a log"),
        (["learn", "--log", "elevator.csv", "--seed", "3"], 2, "--seed=3 has no meaning"),
        (["learn", "--log", "elevator.csv", "--set", "a=1"], 2, "--set=a=1 has no meaning"),
        (["learn", "maze", "--schema", "schema.toml"], 2, "give the --log, too"),
        (["learn", "--log", "none.csv"], 1, "none.csv: No such file or directory"),
        (["learn", "--log", "elevator.csv", "--schema", "none.toml"], 1, "none.toml"),
        (["learn", "--log", "."], 1, "Is a directory"),
        (["schema", "none.csv"], 1, "none.csv: No such file or directory"),
        (["schema", "elevator.csv", "--out", "taken.toml"], 2, "taken.toml exists"),
        (["schema", "elevator.csv", "--out", "no/schema.toml"], 2, "there is no folder no"),
    ],
)
def test_errors(capsys: Any, arguments: list[str], code: int, says: str) -> None:
    Path("taken.toml").write_text("mine")
    result = called(capsys, *arguments)
    assert (result.code, result.out) == (code, "")
    assert says in result.err and len(result.err.splitlines()) == 1
    assert Path("taken.toml").read_text() == "mine"
    assert not list(Path().glob("*.tt"))


# ------------------------------------------------------------------- names of objects

COFFEE = """day,t,action,reward,kettle.on,cup1.full,cup2.full
0,0,heat,0,no,no,no
0,1,pour,1,yes,no,no
0,2,pour,0,yes,yes,no
0,3,cool,0,yes,yes,no
1,0,heat,0,no,no,yes
1,1,cool,0,yes,no,yes
1,2,,0,no,no,yes
"""


def test_objects_have_the_names_of_the_log_and_flags_say_yes_and_no(capsys: Any) -> None:
    Path("coffee.csv").write_text(COFFEE)
    assert called(capsys, "learn", "--log", "coffee.csv", "--quiet").code == 0
    model = ("coffee.tt", "--log", "coffee.csv")
    plan = called(capsys, "plan", *model, "--steps", "1", "--simulations", "1").out
    assert "kettle, on no -> yes" in plan or "nothing changes" in plan
    for of, title in (
        ("cup2", "cup2, full: "),
        ("cup1.full", "cup1, full: "),
        ("kettle", "kettle, on: "),
        ("on", "kettle, on: "),
        ("reward", "reward: 0, "),
    ):
        shown = called(capsys, "explain", *model, "--action", "heat", "--of", of)
        assert shown.code == 0 and title in shown.out, of
    names = tt.read_csv("coffee.csv").names
    (cup2,) = (each for each, name in names.items() if name == "cup2")
    by_id = called(capsys, "explain", *model, "--action", "heat", "--of", f"{cup2}.full").out
    assert by_id == called(capsys, "explain", *model, "--action", "heat", "--of", "cup2.full").out
    wrong = called(capsys, "explain", *model, "--action", "heat", "--of", "cup3.full")
    assert wrong.code == 2 and wrong.err.endswith("names: system, kettle, cup1, cup2\n")
    for of in ("cup1.", "cup1.empty", "9", "kettle.on.off", "full"):
        refused = called(capsys, "explain", *model, "--action", "heat", "--of", of)
        assert refused.code == 2 and refused.err.count("\n") == 1, of
    assert "cup 1" not in str(
        tt.TreeThink.load("coffee.tt").explain(  # names end with the command
            tt.read_csv("coffee.csv").last_state, "heat", of=0
        )
    )


def test_a_column_that_changes_where_steps_start_again_names_the_episodes() -> None:
    def roles_with(days: list[int]) -> tt.LogSchema:
        rows = [f"{day},{t},heat,{day * t}" for day in days for t in range(3)]
        Path("days.csv").write_text("\n".join(["day,t,action,kettle.heat", *rows]))
        return tt.guess_schema("days.csv")

    guess = roles_with([3, 1, 4, 2, 5])
    assert guess.roles is not None and guess.roles["episode"] == "day"
    assert "'day' is taken for the episode: it changes where 't' starts again" in guess.notes
    assert [len(each) for each in tt.read_csv("days.csv").episodes] == [2] * 5
    for days in ([3, 1, 4, 2], [3, 1, 4, 1, 5], [1, 1, 1, 1, 1], [1, 1, 2, 3, 4]):
        assert "episode" not in (roles_with(days).roles or {})


def test_a_column_may_be_said_to_be_the_action(capsys: Any) -> None:
    text = Path("elevator.csv").read_text().replace("action", "button", 1)
    Path("lift.csv").write_text(text)
    unknown = called(capsys, "schema", "lift.csv")
    assert unknown.code == 1 and not Path("schema.toml").exists()
    assert "`treethink schema lift.csv --column action=ACTION_COLUMN`" in unknown.err
    assert called(capsys, "schema", "lift.csv", "--column", "action=button").code == 0
    learned = called(capsys, "learn", "--log", "lift.csv", "--schema", "schema.toml", "--quiet")
    assert learned.code == 0 and "lift.csv: observed 2,100 transitions" in learned.out


@pytest.mark.parametrize(
    ("pair", "code", "says"),
    [
        ("action", 2, "--column takes ROLE=NAME, such as action=button, got 'action'"),
        ("action=buton", 1, "unknown column 'buton' in lift.csv. Did you mean 'button'?"),
        ("acton=button", 2, "unknown key 'acton' in columns. Did you mean 'action'?"),
    ],
)
def test_a_wrong_column_is_one_error(capsys: Any, pair: str, code: int, says: str) -> None:
    Path("lift.csv").write_text("button,floor\nup,1\n,2\n")
    result = called(capsys, "schema", "lift.csv", "--column", pair)
    assert (result.code, result.err.count("\n")) == (code, 1) and says in result.err


def test_explain_and_plan_start_in_any_state_of_a_log(capsys: Any) -> None:
    log = tt.read_csv("elevator.csv")
    model = tt.TreeThink(log.schema)
    model.observe_many(log)
    model.save("lift.tt")
    of_log = ("lift.tt", "--log", "elevator.csv", "--transition", "30")
    explained = called(capsys, "explain", *of_log, "--action", "up", "--json")
    assert json.loads(explained.out)["state"] == log[29].before.to_dict()
    planned = called(capsys, "plan", *of_log, "--steps", "2", "--json")
    assert json.loads(planned.out)["start"] == log[29].before.to_dict()
    assert "from the state before transition 30 of" in called(capsys, "plan", *of_log).out
    beyond = called(capsys, "plan", *of_log[:-1], "2101")
    assert beyond.code == 2 and "elevator.csv has 2,100 transitions" in beyond.err
    for command in (("plan", "maze"), ("explain", "lift.tt", "maze", "--action", "up")):
        nothing = called(capsys, *command, "--transition", "1")
        assert nothing.code == 2 and "give the --log, too" in nothing.err
        nothing = called(capsys, *command, "--schema", "none.toml")
        assert nothing.code == 2 and "--schema says what the columns of a log mean" in nothing.err


def test_a_plan_says_when_no_reward_was_found(capsys: Any) -> None:
    episode = [*(f"{n},press,{int(n == 8)}" for n in range(9)), "9,,"]
    rows = [f"{number},{each}" for number in range(40) for each in episode]
    Path("count.csv").write_text("\n".join(["episode,n,action,reward", *rows]))
    called(capsys, "learn", "--log", "count.csv", "--quiet")
    plan = ("plan", "count.tt", "--log", "count.csv", "--steps", "3", "--transition")
    near, far = called(capsys, *plan, "8"), called(capsys, *plan, "1")
    assert near.code == 0 and "--steps says how far" not in near.out
    assert "expected reward +0 in 3 steps\nthe search found no reward: --steps says" in far.out


def test_one_transition_is_one(capsys: Any) -> None:
    Path("tap.csv").write_text("step,action,level\n0,fill,1\n1,,2\n")
    assert "tap.csv: observed 1 transition in" in called(capsys, "learn", "--log", "tap.csv").out
