"""Names with escape characters, and a working folder with files that must not be loaded.

Names may hold any characters. None of them may reach a terminal that takes it for a command.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import treethink as tt
from command_line import Ran, called, in_terminal
from treethink import cli
from treethink.cli._options import complete_names

SRC = Path(tt.__file__).parents[1]
#: A title of the window, a colour in the 8-bit form, a reversed line, a bell, and rich's markup.
HOSTILE = "\x1b]0;pwned\x07\x9b31m\u202egnp.exe[red]:bomb:\x1b[8m"
#: What rich never sends by itself.
FORBIDDEN = ("\x1b]", "\x07", "\x9b", "\u202e", "\x1b[8m")

WORLD = f"""
from treethink import Object, Schema, State
from treethink.worlds import World

BAD = {HOSTILE!r}
PLAYER, POS, GO = "player" + BAD, "pos", "go" + BAD


class Evil(World):
    __doc__ = BAD + " is a world." + BAD
    name = "evil" + BAD
    schema = Schema({{PLAYER: [POS], "game": ["score"]}}, {{POS: 2, "score": 1}}, [GO, "stay"])

    def reset(self, seed):
        player = Object(0, PLAYER, **{{POS: (seed % 3, 0)}})
        return State(self.schema, [player, Object(1, "game", score=0)])

    def dynamics(self, state, action):
        x, y = state[0].pos
        if action == "stay" or x >= 5:
            return [(state, 1.0)]
        moved = state.replace(0, **{{POS: (x + 1, y)}})
        return [(moved.replace(1, score=state[1].score + 1), 1.0)]
"""
CONFIG = """
title = "experiment {bad}"
steps = 60
examine = 10
worlds = ["evilworld:Evil"]
learners = [{{ name = "treethink", label = "tree {bad}" }}, "static"]
plans = [{{ label = "plan {bad}", steps = 3, episodes = 1, simulations = 2 }}]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a hostile world, a model of it and a config, all with hostile names."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "evilworld.py").write_text(WORLD, encoding="utf-8")
    toml = HOSTILE.translate({ord(c): f"\\u{ord(c):04x}" for c in HOSTILE if not c.isprintable()})
    (folder / "evil.toml").write_text(CONFIG.format(bad=toml), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    if not (folder / "evil.tt").exists():
        arguments = ["learn", "evilworld:Evil", "--out", "evil.tt", "--steps", "60", "--quiet"]
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert not ended.value.code


def commands() -> list[list[str]]:
    """Return a call of every command that prints names."""
    world, model = "evilworld:Evil", "evil.tt"
    rule = f"player{HOSTILE}.pos.go{HOSTILE}"
    styles = ("text", "english", "code", "dot", "mermaid")
    return [
        ["worlds", world],
        ["learn", world, "--steps", "60", "--out", f"model {HOSTILE}.tt"],
        ["rules", model],
        *(["rules", model, "--rule", rule, "--style", style] for style in styles),
        ["rules", model, "--rule", HOSTILE],
        ["explain", model, "--world", world, "--action", f"go{HOSTILE}"],
        ["explain", model, "--world", world, "--action", HOSTILE],
        ["check", model, world, "--steps", "20"],
        ["doubts", model],
        ["summary", model],
        ["summary", model, "--rule", rule],
        ["diff", model, model, "--world", world, "--steps", "20"],
        *(["export", model, "--to", form] for form in (*styles, "python", "prolog")),
        ["export", model, "--rule", rule, "--to", "svg", "--out", f"rule {HOSTILE}.svg"],
        ["edit", model, rule, "--pin", "--out", f"edited {HOSTILE}.tt"],
        ["edit", model, rule, "--by", HOSTILE],
        ["plan", world, "--model", model, "--steps", "3", "--simulations", "2", "--pause", "0"],
        ["plan", world, "--oracle", "--steps", "3", "--simulations", "2", "--pause", "0"],
        ["run", "evil.toml", "--out", f"records {HOSTILE}", "--processes", "1"],
        ["run", f"missing {HOSTILE}.toml"],
        ["report", f"missing {HOSTILE}"],
        ["reproduce", HOSTILE],
        ["learn", f"evilworld:{HOSTILE}"],
        ["learn", "maze", "--set", HOSTILE],
        ["learn", "maze", f"--{HOSTILE}"],
        [HOSTILE],
    ]


def text_of(ran: Ran) -> str:
    return ran.out + ran.err


def assert_harmless(text: str) -> None:
    """Fail if there is any character that is not printed, except the end of a line."""
    bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")}
    assert not bad, (bad, text)


@pytest.mark.parametrize("arguments", commands(), ids=lambda each: " ".join(each[:4])[:40].encode())
def test_no_escape_character_of_a_name_is_printed(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ran = called(capsys, *arguments)
    assert_harmless(text_of(ran))
    assert "Traceback" not in ran.err


def test_markup_and_names_of_emoji_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["worlds", "evilworld:Evil"], ["rules", "evil.tt"]):
        assert "[red]:bomb:" in called(capsys, *arguments).out
    label = '{ name = "static", label = "[red]:bomb:[/]" }'
    Path("markup.toml").write_text(f'steps = 9\nworlds = ["walls"]\nlearners = [{label}]\n')
    assert "[red]:bomb:[/]" in called(capsys, "run", "markup.toml", "--processes", "1").out


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of POSIX")
@pytest.mark.parametrize("command", ["worlds", "learn", "rules", "explain", "plan", "run"])
def test_no_escape_character_of_a_name_reaches_a_terminal(command: str) -> None:
    arguments = next(each for each in commands() if each[0] == command)
    sent = in_terminal(arguments, width=200).out
    assert "gnp.exe" in sent and not [each for each in FORBIDDEN if each in sent]


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal of POSIX")
def test_the_game_sends_no_escape_character_of_a_name() -> None:
    arguments = ["play", "evilworld:Evil", "--model", "evil.tt"]
    sent = in_terminal(arguments, width=200, type_at=("step 0", "?q")).out
    assert "gnp.exe" in sent and not [each for each in FORBIDDEN if each in sent]


def test_completion_offers_no_name_with_escape_characters() -> None:
    complete = complete_names(lambda: {"go": f"walk{HOSTILE}", f"go{HOSTILE}": "walk"})
    ((name, text),) = complete("g")
    assert name == "go" and text.isprintable()


# --------------------------------------------------------------------------- plugins


@pytest.mark.parametrize(
    "arguments",
    [
        ["worlds", "evilworld:Evil"],
        ["learn", "evilworld:Evil"],
        ["explain", "evil.tt", "--world", "evilworld:Evil", "--action", "stay"],
        ["check", "evil.tt", "evilworld:Evil"],
        ["diff", "evil.tt", "evil.tt", "--world", "evilworld:Evil"],
        ["play", "evilworld:Evil"],
        ["plan", "evilworld:Evil"],
        ["run", "evil.toml"],
    ],
    ids=lambda each: each[0],
)
def test_no_plugins_refuses_code_with_one_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "evilworld", raising=False)
    before = [*sys.path]
    ran = called(capsys, *arguments, "--no-plugins")
    assert ran.code == 2 and ran.out == ""
    (line,) = ran.err.splitlines()
    assert "'evilworld:Evil'" in line and "--no-plugins refuses" in line
    assert "evilworld" not in sys.modules and sys.path == before


def test_no_plugins_refuses_learners_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.toml").write_text('steps = 9\nworlds = ["walls"]\nlearners = ["mine:Own"]\n')
    ran = called(capsys, "run", "own.toml", "--no-plugins")
    assert ran.code == 2 and "own.toml, learners[0]: the learner 'mine:Own' is code" in ran.err


def test_the_working_folder_is_searched_last_and_only_for_a_plugin(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", os.getcwd())])
    before = [*sys.path]
    assert called(capsys, "worlds", "maze").code == 0
    assert sys.path == before
    assert called(capsys, "worlds", "evilworld:Evil").code == 0
    assert sys.path == [*before, os.getcwd()]


def test_only_the_present_working_folder_is_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert called(capsys, "worlds", "evilworld:Evil").code == 0
    before = os.getcwd()
    (tmp_path / "otherworld.py").write_text(WORLD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert called(capsys, "worlds", "otherworld:Evil").code == 0
    assert sys.path[-1] == os.getcwd() and before not in sys.path


@pytest.mark.parametrize("name", ["plain", "plugin"])
def test_modules_in_the_working_folder_replace_none_that_is_installed(
    tmp_path: Path, name: str
) -> None:
    for module in ("secrets", "random", "pickle", "socket", "tempfile", "numpy", "pyarrow"):
        (tmp_path / f"{module}.py").write_text("open('hijacked', 'a').write(__name__)\n")
    (tmp_path / "evilworld.py").write_text(WORLD, encoding="utf-8")
    world = "walls" if name == "plain" else "evilworld:Evil"
    (tmp_path / "few.toml").write_text(f'steps = 20\nworlds = ["{world}"]\nlearners = ["static"]\n')
    command = tmp_path / "bin" / "treethink"  # as pip writes it: a script in a folder of its own
    command.parent.mkdir()
    command.write_text("if __name__ == '__main__':\n    from treethink_command import main; main()")
    result = subprocess.run(
        [sys.executable, str(command), "run", "few.toml", "--processes", "2", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(SRC)},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert [each["status"] for each in json.loads(result.stdout)["runs"]] == ["finished"]
    assert not (tmp_path / "hijacked").exists()
