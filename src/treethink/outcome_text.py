"""How an outcome is written, wherever people read or type one.

    outcome, attribute -> [ outcome_text ] -> text, English, pictures, tables, notebooks

A change is ``+1``, ``-2`` or ``+(1, 0)``, no change is ``stays``, and a new value is ``= 2``. In
other frames the reference comes first: ``= exit[pos]``, ``= X0[floor] + 1``, ``+ X0[heading]``. So
a leaf cannot be misread. The outcomes of a single tree (`FOLDT`) have no attribute; they can be
anything, and are written as they are.

A name of a category is written as it is if it is one word, and as a JSON string otherwise.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from treethink.frames import Frame, Jumps, Stays, default_frame

if TYPE_CHECKING:
    from treethink.attributes import Attribute

UNCHANGED = "stays"
#: Matches the text of a name, in one word or quoted.
NAME_PATTERN = r'[^\W\d][\w-]*|"(?:[^"\\]|\\.)*"'
_WORD = re.compile(r"[^\W\d][\w-]*")
_VARIABLE = re.compile(r"X\d+")
_TWO_SPACES = " \\u0020"


def value_text(value: object, attribute: Attribute | None = None) -> str:
    """Return a value of an attribute as people read it.

    >>> value_text(2), value_text((3, 4)), value_text(True), value_text("cola"), value_text(-1.0)
    ('2', '(3, 4)', 'yes', 'cola', '-1')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return name_text(value) if isinstance(value, str) else str(value)


def name_text(name: str) -> str:
    r"""Return the name of a category: as it is if it is one word, else as a JSON string.

    The text is printable, and has no two spaces in a row.

    >>> print(name_text("water"), name_text("ice tea"), name_text("\x1b"), name_text("  "))
    water "ice tea" "\u001b" " \u0020"
    """
    if _WORD.fullmatch(name) and name.isprintable() and name != UNCHANGED:
        return name
    written = "".join(
        c if c.isprintable() and c not in '"\\' else json.dumps(c)[1:-1] for c in name
    )
    return f'"{written.replace("  ", _TWO_SPACES)}"'


def name_in(text: str) -> str | None:
    r"""Return the name that `name_text` wrote; None if the text is not one.

    >>> name_in("water"), name_in('"ice tea"'), name_in("two words")
    ('water', 'ice tea', None)
    """
    if _WORD.fullmatch(text):
        return text
    try:
        name = json.loads(text, strict=False) if text.startswith('"') else None
    except ValueError:
        return None
    return name if isinstance(name, str) else None


def outcome_text(
    outcome: object, attribute: Attribute | None = None, frame: Frame | None = None
) -> str:
    """Return an outcome of a rule about the attribute, in the frame of the rule.

    Without a frame, it is the one in which rules about the attribute begin.

    >>> from treethink import JUMPS, STAYS, Attribute
    >>> [outcome_text(each, Attribute(1)) for each in (1, -2, 0)]
    ['+1', '-2', 'stays']
    >>> [outcome_text(each, Attribute(2)) for each in ((1, 0), (0, -1), (0, 0))]
    ['+(1, 0)', '+(0, -1)', 'stays']
    >>> outcome_text(0, Attribute(1, outcomes="value")), outcome_text("bump")
    ('= 0', 'bump')
    >>> exit = Frame("copy", of="exit", attribute="pos")
    >>> [outcome_text(each, Attribute(2), exit) for each in ((0, 0), (0, -1), STAYS)]
    ['= exit[pos]', '= exit[pos] + (0, -1)', 'stays']
    >>> portal = Frame("jump", of="exit", attribute="pos")
    >>> [outcome_text(each, Attribute(2), portal) for each in (JUMPS, (0, -1), (0, 0))]
    ['= exit[pos]', '+(0, -1)', 'stays']
    """
    if attribute is None:
        return str(outcome)
    frame = default_frame(attribute) if frame is None else frame
    if isinstance(outcome, Stays):
        return UNCHANGED
    if isinstance(outcome, Jumps):
        return reference_text(frame)
    if frame.kind == "value":
        return f"= {value_text(outcome, attribute)}"
    if frame.changes:
        return change_text(outcome) or UNCHANGED
    by = change_text(outcome, " ")
    return f"{reference_text(frame)} {by}" if by else reference_text(frame)


def change_text(by: object, space: str = "") -> str:
    """Return a number or a tuple with a sign in front; nothing for zero.

    >>> change_text(1), change_text((0, -1)), change_text(-2, " "), change_text(0)
    ('+1', '+(0, -1)', '- 2', '')
    """
    if isinstance(by, tuple):
        return f"+{space}{by}" if any(by) else ""
    assert isinstance(by, int)
    return f"{'-' if by < 0 else '+'}{space}{abs(by)}" if by else ""


def reference_text(frame: Frame) -> str:
    """Return the reference of a frame ``own`` or ``copy``, or what one jumps to, with its sign.

    >>> reference_text(Frame("own", attribute="heading", adds=True))
    '+ X0[heading]'
    """
    owner = "X0" if frame.of is None else class_text(frame.of)
    return f"{'+' if frame.adds else '='} {owner}[{frame.attribute}]"


def frame_text(frame: Frame) -> str:
    """Return a frame in a word, or as its reference.

    >>> frame_text(Frame("change")), frame_text(Frame("copy", of="exit", attribute="pos"))
    ('change', '= exit[pos]')
    >>> frame_text(Frame("jump", of="exit", attribute="pos"))
    'change or = exit[pos]'
    """
    if frame.is_plain:
        return frame.kind
    return f"{'change or ' if frame.changes else ''}{reference_text(frame)}"


def class_text(name: str) -> str:
    """Return the name of a class before an attribute; one that looks like a variable is quoted.

    >>> print(class_text("exit"), class_text("X0"))
    exit "X0"
    """
    return f'"{name}"' if _VARIABLE.fullmatch(name) else name
