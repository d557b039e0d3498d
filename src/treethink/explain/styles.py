"""The forms in which a rule can be printed: as a formula, in English or as code."""

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.rules import Rule

__all__ = ["STYLES", "text_of"]

STYLES = ("formula", "english", "code")


def text_of(rule: Rule, style: str) -> str:
    """Return the rule in that style."""
    if not isinstance(style, str):
        raise WrongTypeError(f"style must be one of {', '.join(STYLES)}, got {shown(style)}")
    if style == "english":
        from treethink.explain.english import sentences

        return sentences.text_of(rule)
    if style == "code":
        from treethink.export import python

        return python.text_of(rule)
    if style == "formula":
        return str(rule)
    raise UnknownNameError("style", style, STYLES, "rule.to_text")
