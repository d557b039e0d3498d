"""How an outcome is written, wherever people read or type one.

    outcome, attribute -> [ outcome_text ] -> text, English, pictures, tables, notebooks

A change is ``+1``, ``-2`` or ``+(1, 0)``, no change is ``stays``, and a new value is ``= 2``. So a
leaf cannot be misread: the text says whether it is a change or a value. The outcomes of a single
tree (`FOLDT`) have no attribute; they can be anything, and are written as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treethink.state import Attribute

STAYS = "stays"


def value_text(value: object, attribute: Attribute | None = None) -> str:
    """Return a value of an attribute as people read it.

    >>> value_text(2), value_text((3, 4)), value_text(True)
    ('2', '(3, 4)', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def outcome_text(outcome: object, attribute: Attribute | None = None) -> str:
    """Return an outcome of a rule about the attribute.

    >>> from treethink import Attribute
    >>> [outcome_text(each, Attribute(1)) for each in (1, -2, 0)]
    ['+1', '-2', 'stays']
    >>> [outcome_text(each, Attribute(2)) for each in ((1, 0), (0, -1), (0, 0))]
    ['+(1, 0)', '+(0, -1)', 'stays']
    >>> outcome_text(0, Attribute(1, outcomes="value")), outcome_text("bump")
    ('= 0', 'bump')
    """
    if attribute is None:
        return str(outcome)
    if attribute.outcomes == "value":
        return f"= {value_text(outcome, attribute)}"
    if isinstance(outcome, tuple):
        return f"+{outcome}" if any(outcome) else STAYS
    return f"{outcome:+}" if outcome else STAYS
