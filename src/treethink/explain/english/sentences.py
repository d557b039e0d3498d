"""A rule in plain English.

    rule -> phrases -> [ sentences ] -> text

The text is one sentence where one is enough, or a short list of sentences, nested like the tree.

>>> from treethink import TreeThink, make
>>> from treethink.stream.random_play import transitions
>>> world = make("walls")
>>> model = TreeThink(world.schema)
>>> model.observe_many(transitions(world, steps=1_000, seed=0))
1000
>>> print(text_of(model.rules["player", "pos", "right"]))
When `right` is pressed, the player moves 1 right, unless a wall is directly to the right of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treethink.attributes import SUM, Code
from treethink.explain.english.phrases import (
    Choice,
    Condition,
    Conjunction,
    Leaf,
    Phrase,
    are_same,
    is_certain,
    phrase_of,
)
from treethink.explain.english.tests import conditions
from treethink.explain.english.words import (
    Nouns,
    article,
    is_noun,
    is_position,
    located,
    owner,
    place,
    steps,
)
from treethink.frames import CHANGE, Frame, Jumps, Outcome, Stays, default_frame, is_zero
from treethink.outcome_text import change_text, value_text
from treethink.rules import Rule, RuleKey, Value, ranked
from treethink.text import percent, printable

_INDENT = "  "
# Names of keys and buttons. All other actions are "chosen" instead of "pressed".
_KEYS = {
    "left", "right", "up", "down", "jump", "fire", "enter", "space", "escape", "button",
}  # fmt: skip
# After these verbs, up and down are no directions: nobody presses `pick-up` to go up.
_VERBS = {
    "back", "break", "bring", "calm", "clean", "close", "cool", "count", "cut", "dress", "end",
    "fill", "get", "give", "grow", "hang", "heat", "hold", "keep", "knock", "lay", "let", "lie",
    "lock", "make", "open", "pick", "power", "put", "save", "set", "settle", "shut", "sit", "slow",
    "speed", "stand", "start", "take", "tear", "tidy", "wake", "warm", "wind", "wrap", "write",
}  # fmt: skip
# A phrase that is not written yet, its depth, its first words, the value known by then, and whether
# the list around it tells its last outcome.
_Pending = tuple[Phrase, int, str, Value | None, bool]


def text_of(rule: Rule) -> str:
    """Return the rule in English."""
    phrase = phrase_of(rule)
    nouns = Nouns(rule.single, given=len(rule.classes))
    predicate = predicate_of(rule, without_owner=_needs_no_owner(rule, phrase))
    if _is_simple(phrase):
        lines = [_sentence(rule, phrase, predicate, nouns)]
    else:
        lines = [f"{_opening(rule, predicate)}:", *_items(phrase, predicate, nouns)]
    lines += [rule.noise] if rule.noise else []
    return "\n".join(map(printable, lines))


def texts_of(rules: Mapping[RuleKey, Rule]) -> list[tuple[list[RuleKey], str]]:
    """Return rules in English, each text with the rules that it tells.

    Rules about one attribute that differ only in their actions are told together.
    """
    alike: dict[tuple[str, str, str], list[RuleKey]] = {}
    for key, rule in rules.items():
        rest = text_of(rule).removeprefix(printable(_when(rule)))
        alike.setdefault((*key[:2], rest), []).append(key)
    return [
        (keys, printable(_when_any([action for _, _, action in keys])) + rest)
        for (_, _, rest), keys in alike.items()
    ]


def english_of(rules: Mapping[RuleKey, Rule]) -> str:
    """Return rules in English, with an empty line between two texts."""
    return "\n\n".join(text for _, text in texts_of(rules))


def _needs_no_owner(rule: Rule, phrase: Phrase) -> bool:
    """Whether no other class has the attribute and no test asks about its owner."""
    if rule.key is None or rule.schema is None or rule.key[0] not in rule.single:
        return False
    owners = [name for name, has in rule.schema.classes.items() if rule.key[1] in has]
    all_conditions = (
        condition
        for choice in _choices(phrase)
        for conjunction in choice.alternatives
        for condition in conjunction
    )
    return len(owners) == 1 and not any(0 in each.test.variables for each in all_conditions)


def _choices(phrase: Phrase) -> list[Choice]:
    """Return all choices of a phrase."""
    choices, pending = [], [phrase]
    while pending:
        each = pending.pop()
        if isinstance(each, Choice):
            choices.append(each)
            pending += [each.no, each.yes]
    return choices


# ---- one sentence ----


def _is_simple(phrase: Phrase) -> bool:
    """Whether one sentence is enough."""
    if isinstance(phrase, Leaf):
        return True
    return is_certain(phrase.yes) and is_certain(phrase.no)


def _sentence(rule: Rule, phrase: Phrase, predicate: Predicate, nouns: Nouns) -> str:
    start = _when(rule)
    if isinstance(phrase, Leaf):
        return f"{start}, {predicate.clause(phrase, predicate.subject)}."
    if text := _unless(phrase, predicate, nouns, predicate.subject):
        return f"{start}, {text}."
    assert isinstance(phrase.yes, Leaf)
    assert isinstance(phrase.no, Leaf)
    was = _value(phrase.alternatives, predicate, None)
    yes = predicate.clause(phrase.yes, predicate.subject, was)
    no = predicate.clause(phrase.no, "it")
    return f"{start}, {yes} if {conditions(_needed(phrase, predicate), nouns)}; otherwise {no}."


def _unless(
    choice: Choice, predicate: Predicate, nouns: Nouns, subject: str, was: Value | None = None
) -> str | None:
    """Return "X, unless Y" if nothing happens in case of Y; None if the choice is not like that."""
    yes, no = choice.yes, choice.no
    if not (isinstance(yes, Leaf) and isinstance(no, Leaf) and is_certain(no)):
        return None
    if not predicate.is_nothing(yes) or predicate.is_nothing(no):
        return None
    exception = conditions(choice.alternatives, nouns)
    return f"{predicate.clause(no, subject, was)}, unless {exception}"


def _needed(choice: Choice, predicate: Predicate) -> tuple[Conjunction, ...]:
    """Return the alternatives without "it is not 10" where it becomes 10, and else stays."""
    yes, no = choice.yes, choice.no
    if not isinstance(yes, Leaf) or not isinstance(no, Leaf) or not is_certain(yes):
        return choice.alternatives
    if predicate.means != "value" or not predicate.is_nothing(no):
        return choice.alternatives
    values = yes.counts
    about = ("equality", predicate.attribute, (0,))

    def is_needless(each: Condition) -> bool:
        test = each.test
        says_it = (test.kind, test.attribute, test.variables) == about and test.value in values
        return says_it and not each.holds

    needed = tuple(
        tuple(each for each in conjunction if not is_needless(each))
        for conjunction in choice.alternatives
    )
    return needed if all(needed) else choice.alternatives


def _when(rule: Rule) -> str:
    """Return the first words: the action, or the objects that a tree by itself is about."""
    if rule.key is not None:
        return _when_any([rule.key[2]])
    names = [f"the {name}" for name in rule.classes]
    if len(set(rule.classes)) < len(rule.classes):
        names = [article(name) for name in rule.classes]
    return "For " + " and ".join(names)


def _when_any(actions: Sequence[str]) -> str:
    """Return the first words for one of several actions.

    >>> _when_any(["left"]), _when_any(["take", "put", "fill"])
    ('When `left` is pressed', 'When `take`, `put` or `fill` is chosen')
    """
    *names, last = [f"`{action}`" for action in actions]
    either = f"{', '.join(names)} or {last}" if names else last
    return f"When {either} is {'pressed' if all(map(is_key, actions)) else 'chosen'}"


def is_key(action: str) -> bool:
    """Whether an action is named like something that one presses; its last word decides.

    A last word that belongs to a verb does not count, as in `pick-up`.

    >>> is_key("right"), is_key("guard-up"), is_key("step"), is_key("pick-up")
    (True, True, False, False)
    """
    *before, last = re.split(r"[-_ ]", action.lower())
    if last in ("up", "down") and before and before[-1] in _VERBS:
        return False
    return last in _KEYS


def _opening(rule: Rule, predicate: Predicate) -> str:
    """Return the line above a list."""
    if rule.is_feedback:
        return f"{_when(rule)}, for the {'reward' if predicate.means == 'reward' else 'end'}"
    if rule.key is None or predicate.subject == predicate.again:
        return _when(rule)
    name = rule.key[0]
    return f"{_when(rule)}, for {'the' if name in rule.single else 'each'} {name}"


# ---- a list of sentences ----


def _items(phrase: Phrase, predicate: Predicate, nouns: Nouns) -> list[str]:
    """Return the items of the list, with a stack, so that depth is no limit."""
    lines: list[str] = []
    pending: list[_Pending] = [(phrase, 0, "", None, False)]
    while pending:
        phrase, depth, start, was, is_told = pending.pop()
        if isinstance(phrase, Choice):
            text, below = _choice(phrase, depth, start, was, is_told, predicate, nouns)
            pending += below
        elif is_told:
            continue
        else:
            text = f"{start}{predicate.clause(phrase, predicate.again, was)}."
        lines.append(f"{_INDENT * depth}- {text[0].upper()}{text[1:]}")
    return lines


def _choice(
    choice: Choice,
    depth: int,
    start: str,
    was: Value | None,
    is_told: bool,
    predicate: Predicate,
    nouns: Nouns,
) -> tuple[str, list[_Pending]]:
    """Return the line of a choice, and what is still to be written, the last first.

    An outcome with which the list below ends, too, is told once, after it: "in all other cases".
    """
    if text := _unless(choice, predicate, nouns, predicate.again, was):
        return f"{start}{text}.", []
    condition = f"{start}if {conditions(_needed(choice, predicate), nouns)}"
    otherwise: _Pending = (choice.no, depth, "otherwise, ", was, is_told)
    then = _value(choice.alternatives, predicate, was)
    if isinstance(choice.yes, Leaf):
        return f"{condition}, {predicate.clause(choice.yes, predicate.again, then)}.", [otherwise]
    if text := _unless(choice.yes, predicate, nouns, predicate.again, then):
        return f"{condition}, {text}.", [otherwise]
    shared = are_same(_last(choice.yes), choice.no)
    if shared:
        otherwise = (choice.no, depth, "in all other cases, ", was, is_told)
    return f"{condition}:", [otherwise, (choice.yes, depth + 1, "", then, shared)]


def _last(choice: Choice) -> Phrase:
    """Return what follows if no condition of a list holds."""
    last: Phrase = choice
    while isinstance(last, Choice):
        last = last.no
    return last


def _value(
    alternatives: tuple[Conjunction, ...], predicate: Predicate, was: Value | None
) -> Value | None:
    """Return the attribute's value before, if every alternative states the same one."""
    values = {_value_in(conjunction, predicate) for conjunction in alternatives}
    return was if values == {None} or len(values) > 1 else values.pop()


def _value_in(conjunction: Conjunction, predicate: Predicate) -> Value | None:
    for each in conjunction:
        about = (each.test.kind, each.test.attribute, each.test.variables)
        if each.holds and about == ("equality", predicate.attribute, (0,)):
            return each.test.value
    return None


# ---------------------------------------------------------------------------------------- outcomes
#
# Outcomes in words: "the player moves 1 right", "the score falls by 2", "the lift's `floor` becomes
# its `dest`". The rule's frame says what an outcome is relative to. The outcomes of a tree by
# itself (`FOLDT`) can be anything, and are printed as they are.

_MAX_OUTCOMES = 4
_CHANGES = ("change", "jump")  # what predicates mean whose outcomes are changes
_NEVER_SEEN = "what happens was never seen"


@dataclass(frozen=True, slots=True)
class Predicate:
    """Subject and verbs for the outcomes of one rule.

    `means` is the kind of the rule's `frame`, for rules of transitions "reward" or "terminated",
    or, for a tree by itself, "outcome". `subject` names what the outcomes are about at its first
    mention, `again` afterwards. `moves`: the attribute is a position.
    """

    attribute: str
    means: str
    subject: str
    again: str
    frame: Frame = CHANGE
    moves: bool = False

    def clause(self, leaf: Leaf, subject: str, was: Value | None = None) -> str:
        """Say what happens at a leaf; `was` is the value before, where it is known."""
        if not leaf.counts:
            return f"{subject} {self.noise}" if leaf.others else _NEVER_SEEN
        total = sum(leaf.counts.values()) + leaf.others
        if is_certain(leaf):
            (outcome,) = leaf.counts
            return f"{subject} {self.unchanged if leaf.unchanged else self.verb(outcome, was)}"
        parts = [
            f"{self.verb(outcome, was)} in {percent(n, total)}"
            for outcome, n in ranked(leaf.counts)
        ]
        parts[0] += " of cases"
        if len(parts) > _MAX_OUTCOMES:
            rest = sum(n for _, n in ranked(leaf.counts)[_MAX_OUTCOMES:])
            others = f"{len(parts) - _MAX_OUTCOMES} other outcomes in {percent(rest, total)}"
            parts = [*parts[:_MAX_OUTCOMES], f"has {others}"]
        if leaf.others:
            parts.append(f"{self.noise} in {percent(leaf.others, total)}")
        joined = ", ".join(parts[:-1]) + f" and {parts[-1]}"
        source = "written by hand" if leaf.by_hand else f"of {total:,} observations"
        return f"{subject} {joined} ({source})"

    @property
    def unchanged(self) -> str:
        """Say that nothing happens to the subject."""
        return "does not move" if self.moves else "does not change"

    @property
    def noise(self) -> str:
        """Say that outcomes are not told apart (`max_outcomes`)."""
        if self.means in ("outcome", "reward"):
            return "is not told apart from others"
        return "has outcomes that are not told apart"

    def verb(self, outcome: Outcome, was: Value | None = None) -> str:
        """Say what happens to the subject.

        >>> score, pos = Predicate("score", "change", "", ""), Predicate(
        ...     "pos", "change", "", "", moves=True
        ... )
        >>> pos.verb((1, 0)), pos.verb((0, 0)), score.verb(-2), score.verb(0), score.verb(1, was=4)
        ('moves 1 right', 'does not move', 'falls by 2', 'does not change', 'becomes 5')
        >>> Predicate("pos", "value", "", "", moves=True).verb((3, 4))
        'goes to (3, 4)'
        >>> Predicate("drink", "value", "", "").verb("cola")
        'becomes cola'
        """
        if self.means == "outcome":
            return f"is {outcome}"
        if self.means == "reward":
            return f"is {value_text(outcome)}"
        if self.means == "terminated":
            return "ends" if outcome else "goes on"
        if isinstance(outcome, Stays) or (self.means in _CHANGES and is_zero(outcome)):
            return self.unchanged
        if isinstance(outcome, Jumps):
            return self._relative((0, 0) if self.moves else 0)
        if self.means == "value":
            return f"goes to {outcome}" if self.moves else f"becomes {value_text(outcome)}"
        assert not isinstance(outcome, str)  # names are never changes
        if self.means not in _CHANGES:
            return self._relative(outcome)
        if isinstance(outcome, int):
            return _scalar(outcome, was)
        return f"moves {steps(outcome)}" if self.moves else f"changes by {outcome}"

    def _relative(self, by: Code) -> str:
        """Say what happens where outcomes are relative to another attribute.

        >>> car = Frame("own", attribute="heading", adds=True)
        >>> Predicate("pos", "own", "", "", car, moves=True).verb((0, 0))
        'moves by its `heading`'
        >>> exit = Frame("copy", of="exit", attribute="pos")
        >>> goes = Predicate("pos", "copy", "", "", exit, moves=True)
        >>> goes.verb((0, 0)), goes.verb((0, -1))
        ('goes to where the exit is', 'goes directly above the exit')
        >>> lift = Predicate("floor", "own", "", "", Frame("own", attribute="dest"))
        >>> lift.verb(0), lift.verb(-2)
        ('becomes its `dest`', 'becomes 2 less than its `dest`')
        >>> drop = Frame("copy", of="agent", attribute="pos + heading")
        >>> Predicate("pos", "copy", "", "", drop, moves=True).verb((0, 0))
        'goes to the point one `heading` from the agent'
        """
        assert self.frame.attribute is not None
        zero = is_zero(by)
        whose = f"the {self.frame.of}" if self.frame.of else "it"
        noun = f"{owner(whose)} `{self.frame.attribute}`"
        if SUM in self.frame.attribute:
            noun = located(whose, self.frame.attribute, by)
        if self.frame.adds and self.moves:
            return f"moves by {noun}" + ("" if zero else f" and {steps(_pair(by))}")
        if self.frame.adds:
            return f"changes by {noun}" + ("" if zero else f" {change_text(by, ' ')}")
        if not self.moves:
            return f"becomes {_apart(by)}{noun}"
        if self.frame.of is None or self.frame.attribute != self.attribute:
            return f"goes to {noun}" if zero else f"goes {place(_pair(by), noun)}"
        to = "to " if zero else ""
        return f"goes {to}{place(_pair(by), f'the {self.frame.of}')}"

    def is_nothing(self, leaf: Leaf) -> bool:
        """Whether it is certain that nothing changes there."""
        if leaf.unchanged:
            return True
        if not is_certain(leaf):
            return False
        (outcome,) = leaf.counts
        if isinstance(outcome, Stays):
            return True
        return self.means in (*_CHANGES, "terminated") and is_zero(outcome)


def _scalar(by: int, was: Value | None) -> str:
    if by == 0:
        return "does not change"
    if isinstance(was, int):
        return f"becomes {was + by}"
    return f"rises by {by}" if by > 0 else f"falls by {-by}"


def _apart(by: Code) -> str:
    """Return the words before a value that the new one differs from.

    >>> _apart(0), _apart(2), _apart((1, 0))
    ('', '2 more than ', '(1, 0) from ')
    """
    if is_zero(by):
        return ""
    if isinstance(by, tuple):
        return f"{by} from "
    return f"{abs(by)} {'more' if by > 0 else 'less'} than "


def _pair(by: Code) -> tuple[int, ...]:
    assert isinstance(by, tuple)  # a position has two components
    return by


def predicate_of(rule: Rule, without_owner: bool) -> Predicate:
    """Return the subject and verbs for a rule's outcomes.

    `without_owner`: the attribute needs its owner at most once, because no other class has it
    and no test asks about the owner. If its name is a noun the owner is left out altogether:
    "the score", but "the lamp's `on`".
    """
    if rule.key is None or rule.schema is None:
        return Predicate("", "outcome", "the outcome", "the outcome")
    name, attribute, _ = rule.key
    if rule.is_feedback:
        subject = "the reward" if attribute == "reward" else "the episode"
        return Predicate("", attribute, subject, subject)
    meaning = rule.schema.attributes[attribute]
    who = f"the {name}" if name in rule.single else article(name)
    zeros = (0,) * meaning.length if meaning.length > 1 else 0
    frame = default_frame(meaning) if rule.frame is None else rule.frame
    if is_position(attribute, zeros):
        return Predicate(attribute, frame.kind, who, "it", frame, moves=True)
    if without_owner and is_noun(attribute):
        noun = f"the {attribute}"
        return Predicate(attribute, frame.kind, noun, noun, frame)
    subject = f"{owner(who)} `{attribute}`"
    again = subject if without_owner else f"its `{attribute}`"
    return Predicate(attribute, frame.kind, subject, again, frame)
