"""What a person sees: `treethink` in a terminal, wide and narrow, with colours and without."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color
from rich.style import Style

from command_line import in_terminal, readable, started
from models import learned
from treethink.model import TreeThink
from treethink.repro.figures import FIGURES
from treethink.terminal import COLOURS, THEME, spelled
from treethink.worlds import WORLDS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="uses a POSIX terminal")

COLOUR = re.compile(r"\x1b\[[0-9;]*[34][0-9;]*m")  # 3x, 4x, 38;..., 48;...


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of its own, with models of two worlds."""
    monkeypatch.chdir(tmp_path)
    learned("walls", 1_200).save("walls.tt")
    learned("maze", 1_500).save("maze.tt")


# ----------------------------------------------------------------------- colours


def contrast(colour: str, background: float) -> float:
    """By the web's guidelines (WCAG); the background is 0, black, or 1, white."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    light = sum(x * weight for x, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
    brighter, darker = max(light, background), min(light, background)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_reads_on_white_and_on_black(name: str) -> None:
    assert min(contrast(COLOURS[name], 0.0), contrast(COLOURS[name], 1.0)) >= 4


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_is_one_of_256(name: str) -> None:
    from rich.color import ColorSystem

    reduced = Color.parse(COLOURS[name]).downgrade(ColorSystem.EIGHT_BIT)
    assert reduced.get_truecolor().hex == COLOURS[name]


def test_nothing_that_rich_shows_by_itself_vanishes() -> None:
    """What tables and bars look like, and colours that other modules name, are ours too."""
    for name in ("dim", "yellow", "cyan", "green", "red", "magenta", "blue", "white", "bar.back"):
        style = THEME.styles[name]
        assert not style.dim and style != Style.parse(name if "." not in name else "none")
        colour = style.color
        assert colour is not None and (colour.is_default or colour.name in COLOURS.values())


def test_a_terminal_gets_colours_of_the_palette_alone() -> None:
    sent = in_terminal(["learn", "walls", "--steps", "1200"], COLORTERM="truecolor").out
    used = {match.group() for match in COLOUR.finditer(sent)}
    ours = {Color.parse(each).get_truecolor() for each in COLOURS.values()}
    numbers = {";".join(map(str, each)) for each in ours}
    assert used
    for each in used:
        assert any(number in each for number in numbers), each


@pytest.mark.parametrize(
    "command",
    ["learn walls --steps 1200", "worlds maze", "explain walls.tt --world walls --action right",
     "learn --help", "plan maze --oracle --steps 2 --pause 0"],
)  # fmt: skip
def test_no_color_is_heard_by_every_command(command: str) -> None:
    sent = in_terminal(command.split(), NO_COLOR="1").out
    assert COLOUR.findall(sent) == []
    assert COLOUR.findall(in_terminal(command.split()).out), "else this shows nothing"


def test_where_there_are_but_sixteen_colours_none_is_used() -> None:
    assert COLOUR.findall(in_terminal(["learn", "--help"], TERM="xterm").out) == []


# ------------------------------------------------------------------- while it learns


def test_while_it_learns_four_lines_move_and_then_they_are_gone() -> None:
    ran = in_terminal(["learn", "fish", "--steps", "6000"])
    text = readable(ran.out)
    assert ran.code == 0
    first, second, third, *_ = text.splitlines()
    assert first == "learning fish: Fish swim at random among walls."
    assert "Press Ctrl-C to stop and save." in f"{second} {third}"
    assert re.search(r"  error      0\.\d{4}  █", text)
    assert re.search(r"  observed   [\d,]+ of at most 6,000, [\d,]+ per second", text)
    assert re.search(r"  rules      1 state-dependent", text)
    assert re.search(r"  time left  [\d.]+ s without further errors, at most [\d.]+ s", text)
    # The lines are erased one by one, and the end stands where they were.
    assert "\x1b[2K" in ran.out.rpartition("prediction error (")[0]


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines() -> None:
    ran = in_terminal(["learn", "walls", "--steps", "2100"], TERM="dumb")
    assert "\x1b" not in ran.out
    assert re.search(r"^ +1,000 transitions .* 4 state-dependent rules$", ran.out, re.MULTILINE)


def test_control_c_in_a_terminal_saves_and_says_how_to_go_on() -> None:
    ran = in_terminal(["learn", "fish", "--seed", "2"], interrupt_at="observed")
    assert ran.code == 130
    text = readable(ran.out)
    assert "interrupted after" in text and "saved to fish.tt" in text
    assert "treethink learn fish --seed=2 --from fish.tt" in text
    assert ran.out.rindex("\x1b[?25h") > ran.out.rindex("\x1b[?25l")  # the cursor is back
    assert TreeThink.load("fish.tt").observations > 0


# ------------------------------------------------------------------------- widths


def widest(sent: str) -> int:
    return max(map(len, readable(sent).splitlines()))


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", ["learn walls --steps 1200", "rules walls.tt --style english"])
def test_lines_fit_and_end_between_words(command: str, width: int) -> None:
    sent = in_terminal(command.split(), width=width).out
    assert 40 < widest(sent) <= width
    words = " ".join(readable(sent).split())
    assert "the player moves 1 right, unless a wall is directly to the right of it." in words


def test_names_stay_whole_in_a_narrow_terminal() -> None:
    figures = readable(in_terminal(["reproduce", "--list"]).out)
    worlds = readable(in_terminal(["worlds"], width=50).out)
    assert all(re.search(rf"^│ {re.escape(name)} ", figures, re.MULTILINE) for name in FIGURES)
    assert all(re.search(rf"^ *{re.escape(name)} ", worlds, re.MULTILINE) for name in WORLDS)


@pytest.mark.parametrize("command", ["worlds fish", "plan maze --oracle --steps 2 --pause 0"])
def test_no_word_is_broken_at_the_edge(command: str) -> None:
    assert widest(in_terminal(command.split(), width=70).out) <= 70


def test_a_pipe_gets_whole_sentences() -> None:
    out = started("learn", "walls", "--steps", "1200").out
    said = (
        "When `right` is pressed, the player moves 1 right, unless a wall is directly to the right"
    )
    assert f"\n    {said} of it.\n" in out
    assert "\x1b" not in out


def test_neither_a_pipe_nor_a_dumb_terminal_gets_an_explanation_in_pieces() -> None:
    command = ["explain", "maze.tt", "--world", "maze", "--action", "right"]
    said = (
        "otherwise  if there were a wall directly to the right of player 40, pos would be (1, 3),"
    )
    piped = started(*command).out
    assert said in piped and not re.search(r" $", piped, re.MULTILINE)
    assert said in in_terminal(command, width=60, TERM="dumb").out
    assert widest(in_terminal(command, width=60).out) <= 60


def test_a_dumb_terminal_gets_whole_sentences() -> None:
    out = in_terminal(["learn", "walls", "--steps", "1200"], width=60, TERM="dumb").out
    assert "the player moves 1 right, unless a wall is directly to the right of it.\n" in out


@pytest.mark.parametrize("name", ["worlds", "reproduce --list", "reproduce --list --quick"])
def test_lists_can_be_read_in_a_terminal_of_40_columns(name: str) -> None:
    sent = in_terminal(name.split(), width=40).out
    assert widest(sent) <= 40 and "…" not in sent
    words = " ".join(readable(sent).split())
    if name == "worlds":
        assert "treethink worlds WORLD describes a world; treethink learn" in words
    else:
        assert re.search(r"keys-scoreless keys-scoreless; Fig. 13, rows 3-4; runs", words)
        assert all(re.search(rf"^{each}$", readable(sent), re.MULTILINE) for each in FIGURES)


# ------------------------------------------------------------------ names of all kinds


def test_no_name_of_a_file_reaches_the_terminal_as_a_command() -> None:
    name = "\x1b[31mred\x07.tt"
    ran = started("learn", "walls", "--steps", "60", "--out", name)
    assert ran.code == 0 and "\x1b" not in ran.out + ran.err
    assert r"saved to \x1b[31mred\x07.tt" in ran.out
    Path(name).write_text("no model at all")
    ran = started("rules", name)
    assert ran.code == 1 and "\x1b" not in ran.err and r"\x1b[31mred" in ran.err
    assert "\x1b" not in started("learn", "walls", "--out", "\x1b[31m/red.tt").err


# ---------------------------------------------------------------------- other signs


def test_what_moves_and_the_end_do_without_unicode() -> None:
    ran = in_terminal(["learn", "fish", "--steps", "4000"], PYTHONIOENCODING="ascii", LC_ALL="C")
    assert ran.code == 0 and ran.out.isascii() and "\\u" not in ran.out
    assert re.search(r"  error      0\.\d{4}  [#:.]", readable(ran.out))


@pytest.mark.parametrize("command", ["worlds", "worlds keys", "rules maze.tt", "reproduce --list"])
def test_every_page_can_be_written_in_ascii(command: str) -> None:
    environment: dict[str, Any] = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    ran = started(*command.split(), **environment)
    assert ran.code == 0 and ran.out.isascii() and ran.err == ""


def test_signs_are_spelled_only_where_they_must_be() -> None:
    assert spelled("├─ ∃ × 3", "UTF-8") == "├─ ∃ × 3"
    assert spelled("├─ ∃ × 3", "ascii") == "|- exists x 3"
