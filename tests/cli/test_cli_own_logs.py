"""What somebody meets who writes a log of their own and follows the README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from command_line import Ran, called
from log_files import write_csv
from own_logs import coffee_log, wall_log
from treethink.cli.session.plan_log import Step, run_text, runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two logs, their schemas, and the models that learned them."""
    path = tmp_path_factory.mktemp("own")
    coffee = {"button" if n == "action" else n: c for n, c in coffee_log(1, 60).items()}
    coffee = {"pay" if n == "reward" else n: c for n, c in coffee.items()}
    write_csv(
        path / "coffee.csv",
        {n: ["" if c is None else c for c in each] for n, each in coffee.items()},
    )
    wall = wall_log(0, 60)
    write_csv(
        path / "wall.csv", {n: ["" if c is None else c for c in each] for n, each in wall.items()}
    )
    return path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(folder)

    def run_line(line: str) -> Ran:
        return called(capsys, *line.split())

    if not Path("wall.tt").exists():
        assert run_line("schema wall.csv --out wall.toml").code == 0
        schema = Path("wall.toml")
        flag = '[attributes.blocked]\nkind = "flag"'
        assert flag in schema.read_text()
        schema.write_text(schema.read_text().replace(flag, f"{flag}\nderived = true"))
        assert run_line("learn --log wall.csv --schema wall.toml --quiet").code == 0
        columns = "--column action=button --column reward=pay"
        assert run_line(f"schema coffee.csv {columns} --out coffee.toml").code == 0
        assert run_line("learn --log coffee.csv --schema coffee.toml --quiet").code == 0
    return run_line


STALE = "rules ask about `blocked`, given and not computed (derived = true)"


def test_a_given_attribute_goes_stale_in_predicted_states_and_commands_say_so(run: Any) -> None:
    log = "wall.tt --log wall.csv --schema wall.toml --transition 1"
    plan = run(f"plan {log} --steps 3")
    assert plan.err.count(STALE) == 1
    data = run(f"plan {log} --steps 3 --json")
    assert json.loads(data.out)["given"] == ["blocked"] and STALE in data.err
    assert STALE in run(f"explain {log} --after right,right --action right").err
    assert STALE not in run(f"explain {log} --action right").err
    other = run("plan coffee.tt --log coffee.csv --schema coffee.toml --steps 2 --simulations 50")
    assert (other.code, other.err) == (0, "")


def test_derived_attributes_do_not_count_as_wrong(run: Any) -> None:
    model = tt.TreeThink.load("wall.tt")
    log = tt.read_csv("wall.csv", "wall.toml")
    evaluation = tt.evaluate(model, log)
    assert evaluation.right_mode >= evaluation.exact > 0.9 * len(log)
    assert model.given_attributes(log.last_state) == ("blocked",)


def test_a_model_with_other_definitions_is_replaced_only_with_force(run: Any) -> None:
    schema = Path("coffee.toml").read_text()
    other = schema.replace('# like = "water"', 'like = "water"', 1)
    assert other != schema
    Path("other.toml").write_text(other)
    again = "learn --log coffee.csv --steps 100 --out same.tt --quiet --schema"
    assert run(f"{again} coffee.toml").code == run(f"{again} coffee.toml").code == 0
    refused = run(f"{again} other.toml")
    assert refused.code == 2 and "same.tt was learned with other definitions" in refused.err
    assert run(f"{again} other.toml --force").code == 0


def test_a_verdict_that_is_open_is_said_in_words_and_in_json(run: Any) -> None:
    arguments = "--log coffee.csv --schema coffee.toml --steps 700 --out part.tt --force"
    text, data = run(f"learn {arguments}"), json.loads(run(f"learn {arguments} --json").out)
    verdicts = {True: "learned", False: "NOT learned", None: "cannot tell whether it is learned"}
    assert f"\n{verdicts[data['learned']]}\n" in text.out
    assert "\n  reward\n    When `" in text.out  # rewards come first
    quiet = run(f"learn {arguments} --quiet").out
    assert f"\n{verdicts[data['learned']]}: " in quiet
    check = "check part.tt --log coffee.csv --schema coffee.toml --steps 700"
    verdict = verdicts[json.loads(run(f"{check} --json").out)["learned"]]
    assert run(check).out.startswith(f"{verdict}\n")


def test_rules_that_always_change_something_are_listed(run: Any) -> None:
    empty = "When `empty` is chosen, the machine's `grounds` becomes 0."
    assert empty in run("rules coffee.tt --style english").out
    assert empty in run("export coffee.tt --to english").out
    formulas = run("rules coffee.tt").out
    assert "machine.grounds when empty" in formulas and "always do the same" in formulas
    assert "machine.grounds when put" not in formulas
    names = [each["rule"] for each in json.loads(run("rules coffee.tt --json").out)["rules"]]
    assert "machine.grounds.empty" in names and "machine.grounds.put" not in names


def test_actions_with_the_same_rule_are_told_together_rewards_first(run: Any) -> None:
    out = run("rules coffee.tt --style english").out
    assert out.startswith("When `") and "the reward" in out.partition("\n\n")[0]
    assert out.count("`power` becomes ready if its `power` is warming; otherwise") == 1
    (warms,) = [line for line in out.splitlines() if "`power` becomes ready if" in line]
    assert warms.startswith("When `put`, `") and " or `" in warms and warms.count("`, `") > 3
    assert "When `take` is chosen, for the reward:\n" in out
    one = run("rules coffee.tt --style english --rule machine.power.put").out
    assert one.startswith("When `put` is chosen, the machine's `power` becomes ready")


def test_rewards_and_ends_have_short_names(run: Any) -> None:
    assert "reward when take" in run("rules coffee.tt --rule reward.take").out
    assert run("rules coffee.tt --rule reward").out.count("reward when") == 8
    assert "terminated when put" in run("rules coffee.tt --rule terminated.put").out
    model = tt.TreeThink.load("coffee.tt")
    assert str(model.rules["reward.take"]) == str(model.rules["transition.reward.take"])
    wrong = run("rules coffee.tt --rule reward.tak")
    assert wrong.code == 2 and "Did you mean 'transition.reward.take'?" in wrong.err
    assert wrong.err.count("'") < 20 and "more." in wrong.err  # not all of eighty names


def test_steps_that_change_nothing_are_one_line(run: Any) -> None:
    log = tt.read_csv("wall.csv", "wall.toml")
    here, there = log[0].before, log[0].after
    still = [Step(name, here, here, 0.0, False) for name in ("left", "left", "right")]
    moves = [Step("right", here, there, 1.0, False), Step("right", here, there, 1.0, True)]
    steps = [*still, *moves, still[0]]
    together = list(runs(iter(steps)))
    assert together == [still, [moves[0]], [moves[1]], [still[0]]]
    assert run_text(still, 4) == "steps 4-6  2 x left, 1 x right: nothing changes  reward +0 each"
    assert run_text([still[0]], 7) == "step   7  left: nothing changes  reward +0"


def test_a_plan_that_is_worth_less_than_doing_nothing_says_so(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tt.read_csv("wall.csv", "wall.toml")
    at_the_end = [each for each in log if each.before.of_class("robot")[0].at == 0]
    number = list(log).index(at_the_end[0]) + 1
    poor = Step("left", at_the_end[0].before, at_the_end[0].before, -1.0, False)
    monkeypatch.setattr("treethink.cli.plan.imagine", lambda *_: iter([poor] * 3))
    command = f"plan wall.tt --log wall.csv --schema wall.toml --transition {number}"
    out = run(command).out
    assert "expected reward -3 in 3 steps\ndoing nothing is worth more: `left` in each step" in out
    assert "gives +0: --steps says how far" in out and "steps 1-3  3 x left: nothing" in out


def test_what_a_guess_asks_and_what_an_error_advises(run: Any) -> None:
    guess = run("schema coffee.csv --column action=button --out asked.toml")
    assert (
        "pay is empty exactly where the action is: is it the reward? --column reward=pay"
        in guess.out
    )
    assert guess.out.count("have values in common") == 1
    assert "beans, grounds, served, capacity and cups have values in common with water" in guess.out
    assert Path("asked.toml").read_text().count('# like = "water"') == 5
    lost = run("learn --log coffee.csv --schema asked.toml")
    assert lost.code == 1 and "if 'pay' is the reward: `treethink schema coffee.csv" in lost.err
    rows = ["0,go,ann,child,1", "0,go,bob,child,2", "1,,ann,child,2", "1,,bob,child,2"]
    Path("named.csv").write_text("\n".join(["t,action,who,type,at", *rows]))
    named = run("schema named.csv --out named.toml")
    assert named.code == 1 and "Columns: 't', 'action', 'who', 'type', 'at'." in named.err
    assert "treethink schema named.csv --column id=who" in named.err
