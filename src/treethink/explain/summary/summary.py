"""What a model has seen, how sure it is of each leaf, and what it has never met.

    model -> rules -> [ summary ] -> sheets (text, HTML), frame (pandas), dict

In:   a model, or its rules.
Out:  a `Summary`: plain numbers, read once. Learning on does not change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from treethink.errors import UnknownNameError, WrongTypeError, shown
from treethink.explain import notebook
from treethink.explain.summary.leaves import LEVEL, Leaf, check_level, counted, leaves_of, plain
from treethink.rules import Rule, RuleKey, Rules, Value, ranked

if TYPE_CHECKING:
    from treethink.model import TreeThink


@dataclass(frozen=True)
class RuleSummary:
    """One rule in numbers. `seen` counts all outcomes, also from before its leaves were born."""

    rule: RuleKey
    title: str
    varies: bool
    transitions: int
    seen: Mapping[Value, int]
    depth: int
    leaves: tuple[Leaf, ...]

    @property
    def observations(self) -> int:
        """How many objects were seen, over all transitions."""
        return sum(self.seen.values())

    @cached_property
    def weakest(self) -> Leaf:
        """The leaf that is the least sure; of several, the first."""
        return min(self.leaves, key=lambda leaf: leaf.confidence)

    @property
    def seen_once(self) -> list[Value]:
        """Outcomes that were seen a single time."""
        return [outcome for outcome, n in ranked(self.seen) if n == 1]

    @property
    def n_empty(self) -> int:
        """Leaves that no observation has reached."""
        return sum(not leaf.counts for leaf in self.leaves)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        return {
            **dict(zip(("class", "attribute", "action"), self.rule, strict=True)),
            "varies": self.varies,
            "transitions": self.transitions,
            "observations": self.observations,
            "outcomes": counted(self.seen),
            "depth": self.depth,
            "confidence": self.weakest.confidence,
            "leaves": [leaf.to_dict() for leaf in self.leaves],
        }

    def __str__(self) -> str:
        from treethink.explain.summary import tables as sheets

        return sheets.text(self)

    def __rich__(self) -> Any:
        from treethink.explain.summary import tables as sheets

        return sheets.rich(self)

    def __repr__(self) -> str:
        return f"<RuleSummary {self.title}: {self.observations:,} observations>"


class RuleSummaries(dict[RuleKey, RuleSummary]):
    """All rules in numbers, by (class, attribute, action). A name that is not there is an error."""

    def __missing__(self, key: object) -> RuleSummary:
        if not isinstance(key, tuple) or len(key) != 3:
            raise WrongTypeError(f"a rule is found by (class, attribute, action), got {shown(key)}")
        left = [*self]
        for place, kind in enumerate(("class", "attribute", "action")):
            known = dict.fromkeys(each[place] for each in left)
            if key[place] not in known:
                raise UnknownNameError(kind, str(key[place]), known, "the summary")
            left = [each for each in left if each[place] == key[place]]
        raise AssertionError(f"{key} is there")  # and then nobody would have come here


@dataclass(frozen=True)
class Summary:
    """A model in numbers: what it has seen, how sure it is, and what it has never met.

    ``print(summary)`` is the text of 80 columns; rich prints it in colour and as wide as the
    terminal. `rules` has every rule by (class, attribute, action), `level` is that of all
    lower bounds, `memory` what the model keeps and what it has dropped.
    """

    observations: int
    level: float
    rules: Mapping[RuleKey, RuleSummary]
    memory: Mapping[str, int]

    @cached_property
    def varying(self) -> tuple[RuleSummary, ...]:
        """Rules that have seen more than one outcome."""
        return tuple(each for each in self.rules.values() if each.varies)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, rule by rule; a rule that never varied has one."""
        return tuple(leaf for each in self.rules.values() for leaf in each.leaves)

    # ---- what has never been seen ----

    @property
    def unseen_actions(self) -> tuple[str, ...]:
        """Actions that were never taken, as far as any object shows it."""
        return self._never(2)

    @property
    def unseen_classes(self) -> tuple[str, ...]:
        """Classes of which no object was met. Of those without attributes nobody knows."""
        return self._never(0)

    @property
    def unseen_rules(self) -> tuple[RuleKey, ...]:
        """Of a class that was met and an action that was taken, but never together."""
        classes, actions = self.unseen_classes, self.unseen_actions
        return tuple(
            key
            for key, each in self.rules.items()
            if not each.transitions and key[0] not in classes and key[2] not in actions
        )

    @property
    def seen_once(self) -> tuple[tuple[RuleKey, Value], ...]:
        """Outcomes seen a single time: perhaps the first of many, perhaps a mistake."""
        return tuple((key, o) for key, each in self.rules.items() for o in each.seen_once)

    def _never(self, part: int) -> tuple[str, ...]:
        """Names at one place of the keys for which no rule has seen anything."""
        seen = {key[part] for key, each in self.rules.items() if each.transitions}
        return tuple(dict.fromkeys(key[part] for key in self.rules if key[part] not in seen))

    # ---- as other things ----

    def to_dict(self) -> dict[str, Any]:
        """Plain data that JSON can hold."""
        names = ("class", "attribute", "action", "outcome")
        return {
            "observations": self.observations,
            "level": self.level,
            "rules": [each.to_dict() for each in self.rules.values()],
            "never_seen": {
                "actions": list(self.unseen_actions),
                "classes": list(self.unseen_classes),
                "rules": [dict(zip(names, key, strict=False)) for key in self.unseen_rules],
            },
            "seen_once": [
                dict(zip(names, (*key, plain(o)), strict=True)) for key, o in self.seen_once
            ],
            "memory": dict(self.memory),
        }

    def __str__(self) -> str:
        from treethink.explain.summary import tables as sheets

        return sheets.text(self)

    def __rich__(self) -> Any:
        from treethink.explain.summary import tables as sheets

        return sheets.rich(self)

    def __repr__(self) -> str:
        vary = f"{len(self.varying):,} of {len(self.rules):,} rules vary"
        return f"<Summary: {self.observations:,} observations, {vary}>"


for _shown in (RuleSummary, Summary):
    notebook.install_on(_shown, _repr_html_="treethink.explain.summary.tables:html")


# ------------------------------------------------------------------------ how it is read


def summary_of(model: TreeThink, level: float = LEVEL) -> Summary:
    """All of it, at one moment as far as one thread is concerned."""
    level = check_level(level)
    use = model.memory_use()
    limits = {"most_kept": model.memory, "most_candidates": model.max_candidates}
    gone = {"no_longer_kept": model.observations - use["kept"]}
    return Summary(model.observations, level, rules_of(model.rules, level), use | gone | limits)


def rules_of(rules: Rules, level: float = LEVEL) -> RuleSummaries:
    """Every rule in numbers."""
    return RuleSummaries((key, rule_of(key, rule, level)) for key, rule in rules.items())


def rule_of(key: RuleKey, rule: Rule, level: float = LEVEL) -> RuleSummary:
    """One rule in numbers."""
    leaves = tuple(leaves_of(key, rule, level))
    return RuleSummary(
        key, rule.title, rule.varies, rule.transitions, rule.seen, rule.depth, leaves
    )
