"""Outcomes in words: "the player moves 1 right", "the score falls by 2".

    leaf -> [ outcomes ] -> english

What an outcome means is said by the schema: by how much the attribute changes, or what it becomes.
The outcomes of a tree by itself may be anything, and are told as they are.
"""

from dataclasses import dataclass

from treethink.explain.english.nouns import article, is_noun, owner
from treethink.explain.english.phrases import Leaf
from treethink.explain.english.places import is_position, steps
from treethink.explain.vectors import is_zero
from treethink.rules import Rule, Value, ranked
from treethink.text import percent

__all__ = ["Telling", "telling_of"]

_MOST_TOLD = 4
_NEVER = "what happens was never seen"


@dataclass(frozen=True, slots=True)
class Telling:
    """How to tell of the outcomes of one rule.

    `means` is "delta", "value" or, of a tree by itself, "outcome". `subject` is what the outcomes
    are of, when it is first spoken of, and `again` after that.
    """

    attribute: str
    means: str
    subject: str
    again: str

    def clause(self, leaf: Leaf, subject: str, was: Value | None = None) -> str:
        """What happens at a leaf; `was` is the value before, where that is known."""
        if not leaf.counts:
            return _NEVER
        total = sum(leaf.counts.values())
        if len(leaf.counts) == 1:
            (outcome,) = leaf.counts
            return f"{subject} {self.verb(outcome, was)}"
        told = [
            f"{self.verb(outcome, was)} in {percent(n, total)}"
            for outcome, n in ranked(leaf.counts)
        ]
        told[0] += " of cases"
        if len(told) > _MOST_TOLD:
            rest = sum(n for _, n in ranked(leaf.counts)[_MOST_TOLD:])
            others = f"{len(told) - _MOST_TOLD} other outcomes in {percent(rest, total)}"
            told = [*told[:_MOST_TOLD], f"has {others}"]
        listed = ", ".join(told[:-1]) + f" and {told[-1]}"
        behind = "written by hand" if leaf.by_hand else f"of {total:,} observations"
        return f"{subject} {listed} ({behind})"

    def verb(self, outcome: Value, was: Value | None = None) -> str:
        """What becomes of the subject.

        >>> pos, score = (Telling(name, "delta", "", "") for name in ("pos", "score"))
        >>> pos.verb((1, 0)), pos.verb((0, 0)), score.verb(-2), score.verb(0), score.verb(1, was=4)
        ('moves 1 right', 'does not move', 'falls by 2', 'does not change', 'becomes 5')
        >>> Telling("pos", "value", "", "").verb((3, 4))
        'goes to (3, 4)'
        """
        if self.means == "outcome":
            return f"is {outcome}"
        moves = is_position(self.attribute, outcome)
        if self.means == "value":
            return f"goes to {outcome}" if moves else f"becomes {outcome}"
        if isinstance(outcome, tuple):
            if moves:
                return f"moves {steps(outcome)}" if any(outcome) else "does not move"
            return f"changes by {outcome}" if any(outcome) else "does not change"
        return _scalar(outcome, was)

    def is_nothing(self, leaf: Leaf) -> bool:
        """Whether it is certain that nothing changes there."""
        if self.means != "delta" or len(leaf.counts) != 1:
            return False
        (outcome,) = leaf.counts
        return is_zero(outcome)


def _scalar(by: int, was: Value | None) -> str:
    if by == 0:
        return "does not change"
    if isinstance(was, int):
        return f"becomes {was + by}"
    return f"rises by {by}" if by > 0 else f"falls by {-by}"


def telling_of(rule: Rule, whole: bool) -> Telling:
    """How to tell of the rule's outcomes; `whole`: one name is enough, and stays the same.

    That is so where nothing else has such an attribute and no test asks about its owner. If the
    name is a noun it is then nobody's: "the score", but "the lamp's `on`".
    """
    if rule.key is None or rule.schema is None:
        return Telling("", "outcome", "the outcome", "the outcome")
    name, attribute, _ = rule.key
    meaning = rule.schema.attributes[attribute]
    who = f"the {name}" if name in rule.single else article(name)
    zeros = (0,) * meaning.length if meaning.length > 1 else 0
    if is_position(attribute, zeros):
        return Telling(attribute, meaning.outcomes, who, "it")
    if whole and is_noun(attribute):
        return Telling(attribute, meaning.outcomes, f"the {attribute}", f"the {attribute}")
    whose = f"{owner(who)} `{attribute}`"
    return Telling(attribute, meaning.outcomes, whose, whose if whole else f"its `{attribute}`")
