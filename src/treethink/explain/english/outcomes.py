"""Outcomes in words: "the player moves 1 right", "the score falls by 2".

    leaf of a phrase -> [ outcomes ] -> clause of a sentence

The schema says whether an outcome is a change or a new value. The outcomes of a tree by itself
(`FOLDT`) can be anything, and are printed as they are.
"""

from dataclasses import dataclass

from treethink.explain.english.nouns import article, is_noun, owner
from treethink.explain.english.phrases import Leaf
from treethink.explain.english.places import is_position, steps
from treethink.rules import Rule, Value, is_zero, ranked
from treethink.text import percent

__all__ = ["Predicate", "predicate_of"]

_MAX_OUTCOMES = 4
_NEVER_SEEN = "what happens was never seen"


@dataclass(frozen=True, slots=True)
class Predicate:
    """Subject and verbs for the outcomes of one rule.

    `means` is "delta", "value" or, for a tree by itself, "outcome". `subject` names what the
    outcomes are about at its first mention, `again` afterwards.
    """

    attribute: str
    means: str
    subject: str
    again: str

    def clause(self, leaf: Leaf, subject: str, was: Value | None = None) -> str:
        """Say what happens at a leaf; `was` is the value before, where it is known."""
        if not leaf.counts:
            return _NEVER_SEEN
        total = sum(leaf.counts.values())
        if len(leaf.counts) == 1:
            (outcome,) = leaf.counts
            return f"{subject} {self.verb(outcome, was)}"
        parts = [
            f"{self.verb(outcome, was)} in {percent(n, total)}"
            for outcome, n in ranked(leaf.counts)
        ]
        parts[0] += " of cases"
        if len(parts) > _MAX_OUTCOMES:
            rest = sum(n for _, n in ranked(leaf.counts)[_MAX_OUTCOMES:])
            others = f"{len(parts) - _MAX_OUTCOMES} other outcomes in {percent(rest, total)}"
            parts = [*parts[:_MAX_OUTCOMES], f"has {others}"]
        joined = ", ".join(parts[:-1]) + f" and {parts[-1]}"
        source = "written by hand" if leaf.by_hand else f"of {total:,} observations"
        return f"{subject} {joined} ({source})"

    def verb(self, outcome: Value, was: Value | None = None) -> str:
        """Say what happens to the subject.

        >>> pos, score = (Predicate(name, "delta", "", "") for name in ("pos", "score"))
        >>> pos.verb((1, 0)), pos.verb((0, 0)), score.verb(-2), score.verb(0), score.verb(1, was=4)
        ('moves 1 right', 'does not move', 'falls by 2', 'does not change', 'becomes 5')
        >>> Predicate("pos", "value", "", "").verb((3, 4))
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


def predicate_of(rule: Rule, without_owner: bool) -> Predicate:
    """Return the subject and verbs for a rule's outcomes.

    `without_owner`: the attribute needs its owner at most once, because no other class has it
    and no test asks about the owner. If its name is a noun the owner is left out altogether:
    "the score", but "the lamp's `on`".
    """
    if rule.key is None or rule.schema is None:
        return Predicate("", "outcome", "the outcome", "the outcome")
    name, attribute, _ = rule.key
    meaning = rule.schema.attributes[attribute]
    who = f"the {name}" if name in rule.single else article(name)
    zeros = (0,) * meaning.length if meaning.length > 1 else 0
    if is_position(attribute, zeros):
        return Predicate(attribute, meaning.outcomes, who, "it")
    if without_owner and is_noun(attribute):
        return Predicate(attribute, meaning.outcomes, f"the {attribute}", f"the {attribute}")
    subject = f"{owner(who)} `{attribute}`"
    again = subject if without_owner else f"its `{attribute}`"
    return Predicate(attribute, meaning.outcomes, subject, again)
