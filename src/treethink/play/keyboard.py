"""Read keys from a terminal, and assign them to actions.

    terminal -> [ keyboard ] -> names of keys -> actions

A key that types a character has that character as its name. The other names are left, right, up,
down, enter, backspace, escape, end (Ctrl-C, Ctrl-D or end of input) and other.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import typer

#: Keys that are never assigned to an action: the game uses them.
RESERVED = frozenset("urnq/:?")

_DIRECTIONS = ("up", "left", "down", "right")
# One set per family of actions; the keys of each set lie like the directions.
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
_WAIT_FOR_THE_REST = 0.05  # seconds, for the second part of an escape sequence


def parse(text: str) -> list[str]:
    r"""Return the names of the keys that a terminal sent; several may arrive at once.

    >>> parse("\x1b[A\x1bOBw\x7f\xe0K")
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


# ---------------------------------------------------------------- keys of actions


def assign(actions: Sequence[str]) -> dict[str, str]:
    """Assign a key to every action while there are keys: {key: action}.

    Actions that differ only in a direction form a family. The first family gets the arrow keys,
    the others get letters that lie like arrow keys; a single family gets both. `stay` gets the
    space bar. The rest get a letter of their name, else a digit.

    >>> assign(["stay", "up", "down", "toggle"])
    {'up': 'up', 'down': 'down', 'w': 'up', 's': 'down', ' ': 'stay', 't': 'toggle'}
    """
    families = list(_families(actions).values())
    assigned: dict[str, str] = {}
    for names, family in zip(_SETS, families * 2 if len(families) == 1 else families, strict=False):
        for key, direction in zip(names, _DIRECTIONS, strict=True):
            if direction in family:
                assigned[key] = family[direction]
    if "stay" in actions:
        assigned[" "] = "stay"
    done = {action for family in families for action in family.values()} | {"stay"}
    for action in actions:
        if action not in done:
            letters = [each for each in action.lower() if each.isascii() and each.isalnum()]
            taken = RESERVED | assigned.keys()
            free = [each for each in [*letters, *"1234567890"] if each not in taken]
            if free:
                assigned[free[0]] = action
    return assigned


def describe(assigned: Mapping[str, str]) -> list[str]:
    """Return short descriptions of what the keys do.

    >>> moves = ["left", "right", "up", "down"]
    >>> describe(assign([*moves, "toggle"]))
    ['arrows or wasd: up left down right', 't: toggle']
    >>> describe(assign([*moves, *(f"jump-{each}" for each in moves), "stay"]))
    ['arrows: up left down right', 'wasd: jump-*', 'space: stay']
    """
    keys_of: dict[str, list[str]] = {}
    for key, action in assigned.items():
        keys_of.setdefault(action, []).append(key)
    parts = []
    for name, family in _families(list(keys_of)).items():
        directions = [each for each in _DIRECTIONS if each in family]
        sets = zip(*(keys_of.pop(family[each]) for each in directions), strict=True)
        names = ["arrows" if keys[0] in _DIRECTIONS else "".join(keys) for keys in sets]
        parts.append(f"{' or '.join(names)}: {' '.join(directions) if name == '*' else name}")
    return parts + [
        f"{'space' if key == ' ' else key}: {action}"
        for action, keys in keys_of.items()
        for key in keys
    ]


def _families(actions: Sequence[str]) -> dict[str, dict[str, str]]:
    """Group actions that differ only in a direction: {"jump-*": {"left": "jump-left", ...}}.

    A family needs all four directions, otherwise `pick-up` would be one; plain directions may be
    fewer.
    """
    families: dict[str, dict[str, str]] = {}
    for action in actions:
        words = action.split("-")
        directions = [word for word in words if word in _DIRECTIONS]
        if len(directions) == 1:
            name = "-".join("*" if word == directions[0] else word for word in words)
            families.setdefault(name, {})[directions[0]] = action
    return {
        name: family
        for name, family in families.items()
        if name == "*" or len(family) == len(_DIRECTIONS)
    }


# ------------------------------------------------------------ keys from a terminal

Read = Callable[[], list[str]]
"""Waits until a key is pressed, and returns the names of all keys pressed since the last call."""

if sys.platform == "win32":

    @contextmanager
    def key_reader() -> Iterator[Read]:
        """Read keys as they are pressed, without echo."""
        yield _read

    def _read() -> list[str]:
        try:
            return parse(typer.getchar(echo=False))
        except (KeyboardInterrupt, EOFError):
            return ["end"]

else:
    import select
    import termios
    import tty

    @contextmanager
    def key_reader() -> Iterator[Read]:
        """Read keys as they are pressed, without echo, and restore the terminal afterwards.

        The terminal stays in this mode between reads, so nothing typed meanwhile is lost or shown.
        """
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
        try:
            tty.setcbreak(terminal)
            _disable_suspend(terminal)
            yield partial(_read, terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)

    def _disable_suspend(terminal: int) -> None:
        """Disable Ctrl-Z, which would return to the shell without restoring the terminal."""
        settings = termios.tcgetattr(terminal)
        settings[6][termios.VSUSP] = b"\0"
        termios.tcsetattr(terminal, termios.TCSANOW, settings)

    def _read(terminal: int) -> list[str]:
        try:
            sent = os.read(terminal, 1024)
            # An arrow key may arrive in two parts; the first alone would be Escape.
            if sent.endswith(b"\x1b") and select.select([terminal], [], [], _WAIT_FOR_THE_REST)[0]:
                sent += os.read(terminal, 1024)
        except OSError:  # the terminal was closed
            sent = b""
        return parse(sent.decode(errors="replace")) if sent else ["end"]
