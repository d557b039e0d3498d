"""The ways in which a rule can be told.

rule -> [ styles ] -> formula, English or code
"""

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.rules import Rule

__all__ = ["STYLES", "text_of"]

STYLES = ("formula", "english", "code")


def text_of(rule: Rule, style: str) -> str:
    """The rule in that style."""
    if not isinstance(style, str):
        raise WrongTypeError(f"style must be one of {', '.join(STYLES)}, got {shown(style)}")
    if style == "english":
        from treethink.explain.english import sentences as english

        return english.text_of(rule)
    if style == "code":
        from treethink.export import python as code

        return code.text_of(rule)
    if style == "formula":
        return str(rule)
    raise UnknownNameError("style", style, STYLES, "rule.to_text")
