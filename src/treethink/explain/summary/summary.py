"""What a model has seen, how certain each leaf is, and what was never seen.

    model -> rules -> [ summary ] -> tables (text, HTML), data frame (pandas), dict

A `Summary` is a snapshot: it does not change when the model learns on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from treethink.errors import UnknownNameError, WrongTypeError, missing_package, shown
from treethink.explain import notebook
from treethink.explain.doubts.pairs import never_compared
from treethink.explain.summary.leaves import (
    LEVEL,
    Leaf,
    check_level,
    counts_to_json,
    leaves_of,
    outcome_to_json,
)
from treethink.frames import Frame, Outcome
from treethink.outcome_text import frame_text
from treethink.rules import Rule, RuleKey, Rules, ranked

if TYPE_CHECKING:
    from treethink.model import TreeThink
    from treethink.state import Attribute


@dataclass(frozen=True)
class RuleSummary:
    """One rule in numbers. `seen` counts all outcomes, including those before its leaves grew."""

    rule: RuleKey
    title: str
    varies: bool
    transitions: int
    seen: Mapping[Outcome, int]
    depth: int
    leaves: tuple[Leaf, ...]
    others: int = 0
    """Observations of outcomes that are not told apart: the rule looks like noise."""

    @property
    def observations(self) -> int:
        """The number of objects seen, over all transitions."""
        return sum(self.seen.values()) + self.others

    @cached_property
    def weakest(self) -> Leaf:
        """The leaf with the lowest confidence; of several, the first."""
        return min(self.leaves, key=lambda leaf: leaf.confidence)

    @property
    def seen_once(self) -> list[Outcome]:
        """Outcomes that were seen exactly once."""
        return [outcome for outcome, n in ranked(self.seen) if n == 1]

    @property
    def attribute(self) -> Attribute | None:
        """The definition of the attribute that the rule predicts."""
        return self.leaves[0].attribute

    @property
    def frame(self) -> Frame | None:
        """What the outcomes of the rule are relative to."""
        return self.leaves[0].frame

    @property
    def n_empty(self) -> int:
        """The number of leaves that no observation has reached."""
        return sum(not leaf.counts for leaf in self.leaves)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
        return {
            **dict(zip(("class", "attribute", "action"), self.rule, strict=True)),
            "varies": self.varies,
            "transitions": self.transitions,
            "frame": None if self.frame is None else frame_text(self.frame),
            "observations": self.observations,
            "outcomes": counts_to_json(self.seen),
            "other_outcomes": self.others,
            "depth": self.depth,
            "confidence": self.weakest.confidence,
            "leaves": [leaf.to_dict() for leaf in self.leaves],
        }

    def __str__(self) -> str:
        from treethink.explain.summary import tables

        return tables.text(self)

    def __rich__(self) -> Any:
        from treethink.explain.summary import tables

        return tables.rich(self)

    def __repr__(self) -> str:
        return f"<RuleSummary {self.title}: {self.observations:,} observations>"


class RuleSummaries(dict[RuleKey, RuleSummary]):
    """All rules in numbers, by (class, attribute, action). An unknown name raises an error."""

    def __missing__(self, key: object) -> RuleSummary:
        if not isinstance(key, tuple) or len(key) != 3:
            raise WrongTypeError(f"a rule is found by (class, attribute, action), got {shown(key)}")
        left = [*self]
        for place, kind in enumerate(("class", "attribute", "action")):
            known = dict.fromkeys(each[place] for each in left)
            if key[place] not in known:
                raise UnknownNameError(kind, str(key[place]), known, "the summary")
            left = [each for each in left if each[place] == key[place]]
        raise AssertionError(f"{key} is a key")  # so `__missing__` is not called for it


@dataclass(frozen=True)
class Summary:
    """A model in numbers: what it has seen, how certain it is, and what it has never seen.

    ``print(summary)`` shows it as text of 80 columns; rich prints it in colour and as wide as the
    terminal. `rules` has every rule by (class, attribute, action), `level` is the confidence
    level of all lower bounds, and `memory` says what the model keeps and what it has dropped.
    If some leaf has seen more than one outcome, `never_compared` lists attributes that have values
    in common in the kept transitions and that no rule compares.
    """

    observations: int
    level: float
    rules: Mapping[RuleKey, RuleSummary]
    memory: Mapping[str, int]
    never_compared: tuple[tuple[str, str], ...] = ()

    @cached_property
    def varying(self) -> tuple[RuleSummary, ...]:
        """Rules that have seen more than one outcome."""
        return tuple(each for each in self.rules.values() if each.varies)

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, rule by rule; a rule that has seen one outcome has one leaf."""
        return tuple(leaf for each in self.rules.values() for leaf in each.leaves)

    # ---- what was never seen ----

    @property
    def unseen_actions(self) -> tuple[str, ...]:
        """Actions under which no object was ever observed."""
        return self._never(2)

    @property
    def unseen_classes(self) -> tuple[str, ...]:
        """Classes of which no object was observed; classes without attributes do not count."""
        return self._never(0)

    @property
    def unseen_rules(self) -> tuple[RuleKey, ...]:
        """Rules whose class was observed and whose action was taken, but never together."""
        classes, actions = self.unseen_classes, self.unseen_actions
        return tuple(
            key
            for key, each in self.rules.items()
            if not each.transitions and key[0] not in classes and key[2] not in actions
        )

    @property
    def noise(self) -> tuple[RuleSummary, ...]:
        """Rules with so many outcomes that they look like noise (`max_outcomes`)."""
        return tuple(each for each in self.rules.values() if each.others)

    @property
    def seen_once(self) -> tuple[tuple[RuleKey, Outcome], ...]:
        """Outcomes seen exactly once: perhaps the first of many, perhaps a mistake."""
        return tuple((key, o) for key, each in self.rules.items() for o in each.seen_once)

    def _never(self, part: int) -> tuple[str, ...]:
        """Return names, at one position of the keys, for which no rule has seen anything."""
        seen = {key[part] for key, each in self.rules.items() if each.transitions}
        return tuple(dict.fromkeys(key[part] for key in self.rules if key[part] not in seen))

    # ---- other forms ----

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that JSON can hold."""
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
                dict(zip(names, (*key, outcome_to_json(o)), strict=True))
                for key, o in self.seen_once
            ],
            "noise": [dict(zip(names, each.rule, strict=False)) for each in self.noise],
            "never_compared": [list(each) for each in self.never_compared],
            "memory": dict(self.memory),
        }

    def __str__(self) -> str:
        from treethink.explain.summary import tables

        return tables.text(self)

    def __rich__(self) -> Any:
        from treethink.explain.summary import tables

        return tables.rich(self)

    def __repr__(self) -> str:
        vary = f"{len(self.varying):,} of {len(self.rules):,} rules vary"
        return f"<Summary: {self.observations:,} observations, {vary}>"


for _shown in (RuleSummary, Summary):
    notebook.install_on(_shown, _repr_html_="treethink.explain.summary.tables:html")


# --------------------------------------------------------------------- from a model


def summary_of(model: TreeThink, level: float = LEVEL) -> Summary:
    """Return the summary of a model. No other thread should change the model meanwhile."""
    level = check_level(level)
    use = model.memory_use()
    limits = {"most_kept": model.memory, "most_candidates": model.max_candidates}
    dropped = {"no_longer_kept": model.observations - use["kept"]}
    rules, memory = rules_of(model.rules, level), use | dropped | limits
    return Summary(model.observations, level, rules, memory, _never_compared(model, rules))


def _never_compared(model: TreeThink, rules: RuleSummaries) -> tuple[tuple[str, str], ...]:
    """Return the pairs of attributes that may be missing; none where every leaf is sure."""
    if not any(len(leaf.counts) > 1 for each in rules.values() for leaf in each.leaves):
        return ()
    return never_compared(model.schema, (each[0] for each in reversed(model.kept())))


def rules_of(rules: Rules, level: float = LEVEL) -> RuleSummaries:
    """Return every rule in numbers."""
    return RuleSummaries((key, rule_of(key, rule, level)) for key, rule in rules.items())


def rule_of(key: RuleKey, rule: Rule, level: float = LEVEL) -> RuleSummary:
    """Return one rule in numbers."""
    leaves = tuple(leaves_of(key, rule, level))
    sizes = (rule.varies, rule.transitions, rule.seen, rule.depth)
    return RuleSummary(key, rule.title, *sizes, leaves, rule.others)


# -------------------------------------------------------------------------------------- data frame
#
# All leaves of a model, one row for each. Only this needs pandas; the extra ``notebook`` installs
# it.

#: The columns with their pandas types, which an empty frame has too.
COLUMNS = {
    "rule": "str",
    "class": "str",
    "attribute": "str",
    "action": "str",
    "path": "str",
    "tests": "str",
    "outcome": "object",
    "frame": "object",
    "count": "int64",
    "observations": "int64",
    "share": "float64",
    "confidence": "float64",
    "written": "bool",
}


def frame_of(model: TreeThink) -> Any:
    """Return a `pandas.DataFrame`; a leaf that has seen nothing has no outcome and no share."""
    pandas = _pandas()
    rows = rows_of(summary_of(model))
    return pandas.DataFrame(
        {
            name: pandas.Series([row[name] for row in rows], dtype=kind)
            for name, kind in COLUMNS.items()
        }
    )


def rows_of(summary: Summary) -> list[dict[str, Any]]:
    """Return the rows as dicts, rule by rule, leaves from left to right."""
    titles = {key: each.title for key, each in summary.rules.items()}
    return [_row(titles[leaf.rule], leaf) for leaf in summary.leaves]


def _row(title: str, leaf: Leaf) -> dict[str, Any]:
    return {
        "rule": title,
        **dict(zip(("class", "attribute", "action"), leaf.rule, strict=True)),
        "path": leaf.path,
        "tests": " and ".join(leaf.tests),
        "outcome": leaf.outcome,
        "frame": None if leaf.frame is None else frame_text(leaf.frame),
        "count": leaf.count,
        "observations": leaf.total,
        "share": leaf.share,
        "confidence": leaf.confidence,
        "written": leaf.written,
    }


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError as error:
        raise missing_package("data frames need pandas", "notebook") from error
