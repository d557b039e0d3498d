"""Keys: how they arrive from a terminal, what they are called, and which does what.

    terminal -> [ keyboard ] -> names of keys -> actions

A key that writes a sign is called by that sign. The others are left, right, up, down, enter,
backspace, escape, end (Ctrl-C, Ctrl-D or no more input) and other.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import typer

#: Keys that never stand for an action.
RESERVED = frozenset("urnq/:?")

_DIRECTIONS = ("up", "left", "down", "right")
# One set for each family of actions; in each the keys lie like the directions.
_SETS: tuple[Sequence[str], ...] = (_DIRECTIONS, "wasd", "ijkl", "tfgh")
_ARROWS = {"A": "up", "B": "down", "C": "right", "D": "left"}
_WINDOWS_ARROWS = {"H": "up", "P": "down", "M": "right", "K": "left"}
_CODES = {
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "end",
    "\x04": "end",
    "\x1b": "escape",
}
_ONE_KEY = re.compile(
    r"\x1b[\[O][0-9;]*(?P<arrow>[A-D])"
    r"|[\x00\xe0](?P<windows>[HPMK])"
    r"|\x1b[\[O][0-9;<?]*[@-~]?|\x1b[ -~]|[\x00\xe0]."
    r"|(?P<code>.)",
    re.DOTALL,
)
_WAIT_FOR_THE_REST = 0.05


def keys(text: str) -> list[str]:
    r"""The keys that a terminal sent; those pressed quickly arrive at once.

    >>> keys("\x1b[A\x1bOBw\x7f\xe0K")
    ['up', 'down', 'w', 'backspace', 'left']
    """
    return [_name(match) for match in _ONE_KEY.finditer(text)]


def _name(match: re.Match[str]) -> str:
    if match["arrow"]:
        return _ARROWS[match["arrow"]]
    if match["windows"]:
        return _WINDOWS_ARROWS[match["windows"]]
    code = match["code"] or ""
    return _CODES.get(code) or (code if code.isprintable() and code else "other")


# ------------------------------------------------------------------ which does what


def assign(actions: Sequence[str]) -> dict[str, str]:
    """A key for every action as far as they go: {key: action}.

    Actions that differ in their direction get the arrows, then sets of letters that lie like
    arrows; if there are no others of the kind, they get both. To stay is the space bar. The
    rest get a letter of their name, else a digit.

    >>> assign(["stay", "up", "down", "toggle"])
    {'up': 'up', 'down': 'down', 'w': 'up', 's': 'down', ' ': 'stay', 't': 'toggle'}
    """
    families = list(_families(actions).values())
    chosen: dict[str, str] = {}
    for names, family in zip(_SETS, families * 2 if len(families) == 1 else families, strict=False):
        for key, direction in zip(names, _DIRECTIONS, strict=True):
            if direction in family:
                chosen[key] = family[direction]
    if "stay" in actions:
        chosen[" "] = "stay"
    told = {action for family in families for action in family.values()} | {"stay"}
    for action in actions:
        if action not in told:
            letters = [each for each in action.lower() if each.isascii() and each.isalnum()]
            taken = RESERVED | chosen.keys()
            free = [each for each in [*letters, *"1234567890"] if each not in taken]
            if free:
                chosen[free[0]] = action
    return chosen


def explain(chosen: Mapping[str, str]) -> list[str]:
    """What the keys do, in short.

    >>> moves = ["left", "right", "up", "down"]
    >>> explain(assign([*moves, "toggle"]))
    ['arrows or wasd: up left down right', 't: toggle']
    >>> explain(assign([*moves, *(f"jump-{each}" for each in moves), "stay"]))
    ['arrows: up left down right', 'wasd: jump-*', 'space: stay']
    """
    keys_of: dict[str, list[str]] = {}
    for key, action in chosen.items():
        keys_of.setdefault(action, []).append(key)
    said = []
    for name, family in _families(list(keys_of)).items():
        ways = [each for each in _DIRECTIONS if each in family]
        sets = zip(*(keys_of.pop(family[each]) for each in ways), strict=True)
        names = ["arrows" if keys[0] in _DIRECTIONS else "".join(keys) for keys in sets]
        said.append(f"{' or '.join(names)}: {' '.join(ways) if name == '*' else name}")
    return said + [
        f"{'space' if key == ' ' else key}: {action}"
        for action, keys in keys_of.items()
        for key in keys
    ]


def _families(actions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Actions that differ only in a direction: {"jump-*": {"left": "jump-left", ...}}.

    Of those all four must be there, or `pick-up` would be one; plain directions may be fewer.
    """
    families: dict[str, dict[str, str]] = {}
    for action in actions:
        words = action.split("-")
        found = [word for word in words if word in _DIRECTIONS]
        if len(found) == 1:
            name = "-".join("*" if word == found[0] else word for word in words)
            families.setdefault(name, {})[found[0]] = action
    return {
        name: family
        for name, family in families.items()
        if name == "*" or len(family) == len(_DIRECTIONS)
    }


# -------------------------------------------------------------------- from a terminal

Read = Callable[[], list[str]]
"""Waits until a key is pressed; returns those pressed since."""

if sys.platform == "win32":

    @contextmanager
    def listening() -> Iterator[Read]:
        """Keys as they are pressed, unseen."""
        yield _read

    def _read() -> list[str]:
        try:
            return keys(typer.getchar(echo=False))
        except (KeyboardInterrupt, EOFError):
            return ["end"]

else:
    import select
    import termios
    import tty

    @contextmanager
    def listening() -> Iterator[Read]:
        """Keys as they are pressed, unseen. Afterwards the terminal is as it was.

        It stays in this mode between reads, so that nothing typed meanwhile is lost or shown.
        """
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            _never_suspend(terminal)
            yield partial(_read, terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _never_suspend(terminal: int) -> None:
        """Ctrl-Z would leave a shell in a terminal that is not as it was."""
        settings = termios.tcgetattr(terminal)
        settings[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(terminal, termios.TCSANOW, settings)

    def _read(terminal: int) -> list[str]:
        try:
            sent = os.read(terminal, 1024)
            # An arrow may arrive in two parts; the first alone would be an escape.
            if sent.endswith(b"\x1b") and select.select([terminal], [], [], _WAIT_FOR_THE_REST)[0]:
                sent += os.read(terminal, 1024)
        except OSError:  # the terminal is gone
            sent = b""
        return keys(sent.decode(errors="replace")) if sent else ["end"]
