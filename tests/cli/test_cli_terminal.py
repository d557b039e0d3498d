"""`treethink` in a terminal: wide and narrow, with and without colours."""

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
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder with models of two worlds."""
    monkeypatch.chdir(tmp_path)
    learned("walls", 1_200).save("walls.tt")
    learned("maze", 1_500).save("maze.tt")


# ----------------------------------------------------------------------- colours


def contrast(colour: str, background: float) -> float:
    """Return the contrast ratio by WCAG; the background is 0 (black) or 1 (white)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    light = sum(x * weight for x, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
    brighter, darker = max(light, background), min(light, background)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_is_readable_on_white_and_on_black(name: str) -> None:
    assert min(contrast(COLOURS[name], 0.0), contrast(COLOURS[name], 1.0)) >= 4


@pytest.mark.parametrize("name", COLOURS)
def test_every_colour_is_one_of_256(name: str) -> None:
    from rich.color import ColorSystem

    reduced = Color.parse(COLOURS[name]).downgrade(ColorSystem.EIGHT_BIT)
    assert reduced.get_truecolor().hex == COLOURS[name]


def test_the_default_styles_of_rich_use_the_palette() -> None:
    """This includes styles of tables and bars, and colours that other modules name."""
    for name in ("dim", "yellow", "cyan", "green", "red", "magenta", "blue", "white", "bar.back"):
        style = THEME.styles[name]
        assert not style.dim and style != Style.parse(name if "." not in name else "none")
        colour = style.color
        assert colour is not None and (colour.is_default or colour.name in COLOURS.values())


def test_a_terminal_gets_only_colours_of_the_palette() -> None:
    output = in_terminal(["learn", "walls", "--steps", "1200"], COLORTERM="truecolor").out
    used = {match.group() for match in COLOUR.finditer(output)}
    palette = {Color.parse(each).get_truecolor() for each in COLOURS.values()}
    numbers = {";".join(map(str, each)) for each in palette}
    assert used
    for each in used:
        assert any(number in each for number in numbers), each


@pytest.mark.parametrize(
    "command",
    ["learn walls --steps 1200", "worlds maze", "explain walls.tt --world walls --action right",
     "learn --help", "plan maze --oracle --steps 2 --pause 0"],
)  # fmt: skip
def test_every_command_respects_no_color(command: str) -> None:
    output = in_terminal(command.split(), NO_COLOR="1").out
    assert COLOUR.findall(output) == []
    assert COLOUR.findall(in_terminal(command.split()).out), "the command has no colours anyway"


def test_a_terminal_of_sixteen_colours_gets_none() -> None:
    assert COLOUR.findall(in_terminal(["learn", "--help"], TERM="xterm").out) == []


# ------------------------------------------------------------------- live display


def test_the_live_display_has_four_lines_that_are_erased_at_the_end() -> None:
    result = in_terminal(["learn", "fish", "--steps", "6000"])
    text = readable(result.out)
    assert result.code == 0
    first, second, third, *_ = text.splitlines()
    assert first == "learning fish: Fish swim at random among walls."
    assert "Press Ctrl-C to stop and save." in f"{second} {third}"
    assert re.search(r"  error      0\.\d{4}  █", text)
    assert re.search(r"  observed   [\d,]+ of at most 6,000, [\d,]+ per second", text)
    assert re.search(r"  rules      1 state-dependent", text)
    assert re.search(r"  time left  [\d.]+ s without further errors, at most [\d.]+ s", text)
    # The lines are erased one by one, and the result is printed in their place.
    assert "\x1b[2K" in result.out.rpartition("prediction error (")[0]


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines() -> None:
    result = in_terminal(["learn", "walls", "--steps", "2100"], TERM="dumb")
    assert "\x1b" not in result.out
    assert re.search(r"^ +1,000 transitions .* 4 state-dependent rules$", result.out, re.MULTILINE)


def test_control_c_in_a_terminal_saves_and_says_how_to_resume() -> None:
    result = in_terminal(["learn", "fish", "--seed", "2"], interrupt_at="observed")
    assert result.code == 130
    text = readable(result.out)
    assert "interrupted after" in text and "saved to fish.tt" in text
    assert "treethink learn fish --seed=2 --from fish.tt" in text
    assert result.out.rindex("\x1b[?25h") > result.out.rindex(
        "\x1b[?25l"
    )  # the cursor is visible again
    assert TreeThink.load("fish.tt").observations > 0


# ------------------------------------------------------------------------- widths


def max_width(output: str) -> int:
    return max(map(len, readable(output).splitlines()))


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("command", ["learn walls --steps 1200", "rules walls.tt --style english"])
def test_lines_fit_and_wrap_between_words(command: str, width: int) -> None:
    output = in_terminal(command.split(), width=width).out
    assert 40 < max_width(output) <= width
    words = " ".join(readable(output).split())
    assert "the player moves 1 right, unless a wall is directly to the right of it." in words


def test_names_are_not_split_in_a_narrow_terminal() -> None:
    figures = readable(in_terminal(["reproduce", "--list"]).out)
    worlds = readable(in_terminal(["worlds"], width=50).out)
    assert all(re.search(rf"^ *{re.escape(name)} ", figures, re.MULTILINE) for name in FIGURES)
    assert all(re.search(rf"^ *{re.escape(name)} ", worlds, re.MULTILINE) for name in WORLDS)


@pytest.mark.parametrize("command", ["worlds fish", "plan maze --oracle --steps 2 --pause 0"])
def test_no_line_is_wider_than_the_terminal(command: str) -> None:
    assert max_width(in_terminal(command.split(), width=70).out) <= 70


def test_sentences_are_not_wrapped_in_a_pipe() -> None:
    out = started("learn", "walls", "--steps", "1200").out
    sentence = (
        "When `right` is pressed, the player moves 1 right, unless a wall is directly to the right"
    )
    assert f"\n    {sentence} of it.\n" in out
    assert "\x1b" not in out


def test_explanations_are_not_wrapped_in_a_pipe_or_a_dumb_terminal() -> None:
    command = ["explain", "maze.tt", "--world", "maze", "--action", "right"]
    sentence = (
        "otherwise  if there were a wall directly to the right of player 40, pos would be (1, 3),"
    )
    piped = started(*command).out
    assert sentence in piped and not re.search(r" $", piped, re.MULTILINE)
    assert sentence in in_terminal(command, width=60, TERM="dumb").out
    assert max_width(in_terminal(command, width=60).out) <= 60


def test_sentences_are_not_wrapped_in_a_dumb_terminal() -> None:
    out = in_terminal(["learn", "walls", "--steps", "1200"], width=60, TERM="dumb").out
    assert "the player moves 1 right, unless a wall is directly to the right of it.\n" in out


@pytest.mark.parametrize("name", ["worlds", "reproduce --list", "reproduce --list --quick"])
def test_lists_fit_a_terminal_of_40_columns(name: str) -> None:
    output = in_terminal(name.split(), width=40).out
    assert max_width(output) <= 40 and "…" not in output
    words = " ".join(readable(output).split())
    if name == "worlds":
        assert "treethink worlds WORLD describes a world; treethink learn" in words
    else:
        assert re.search(r"keys-scoreless keys-scoreless; Fig. 13, rows 3-4; runs", words)
        assert all(re.search(rf"^{each}$", readable(output), re.MULTILINE) for each in FIGURES)


# ------------------------------------------------------------------ unusual names


def test_control_characters_in_file_names_are_escaped() -> None:
    name = "\x1b[31mred\x07.tt"
    result = started("learn", "walls", "--steps", "60", "--out", name)
    assert result.code == 0 and "\x1b" not in result.out + result.err
    assert r"saved to \x1b[31mred\x07.tt" in result.out
    Path(name).write_text("no model at all")
    result = started("rules", name)
    assert result.code == 1 and "\x1b" not in result.err and r"\x1b[31mred" in result.err
    assert "\x1b" not in started("learn", "walls", "--out", "\x1b[31m/red.tt").err


# ---------------------------------------------------------------------- encodings


def test_the_live_display_and_the_result_can_be_ascii() -> None:
    result = in_terminal(["learn", "fish", "--steps", "4000"], PYTHONIOENCODING="ascii", LC_ALL="C")
    assert result.code == 0 and result.out.isascii() and "\\u" not in result.out
    assert re.search(r"  error      0\.\d{4}  [#:.]", readable(result.out))


@pytest.mark.parametrize("command", ["worlds", "worlds keys", "rules maze.tt", "reproduce --list"])
def test_every_page_can_be_printed_in_ascii(command: str) -> None:
    environment: dict[str, Any] = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    result = started(*command.split(), **environment)
    assert result.code == 0 and result.out.isascii() and result.err == ""


def test_symbols_are_replaced_only_if_the_encoding_lacks_them() -> None:
    assert spelled("├─ ∃ × 3", "UTF-8") == "├─ ∃ × 3"
    assert spelled("├─ ∃ × 3", "ascii") == "|- exists x 3"
