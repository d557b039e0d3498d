"""Summaries: their numbers are those of the stream, and they list what was never observed.

The printed form is a golden file. After a wanted change, rewrite it and read the difference:

    REWRITE_GOLDEN=1 pytest tests/explain/test_summary.py
"""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

import treethink as tt
from golden import check_golden
from models import chain_rule, learned, learned_from
from strategies import Stream, streams
from treethink.explain.doubts.pairs import never_compared
from treethink.explain.summary import tables
from treethink.explain.summary.leaves import check_level, leaves_of, lower_bound
from treethink.explain.summary.summary import COLUMNS, Summary, rows_of, rule_of
from treethink.frames import CHANGE, default_frame
from treethink.rules import Node, Rule

ROOT = Path(__file__).parents[2]
RIGHT = ("player", "pos", "right")

some_streams = settings(
    deadline=None,
    derandomize=True,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


# ---------------------------------------------------- confidence of a leaf


def bound_by_bisection(count: int, total: int, z: float = 1.6448536269514722) -> float:
    """Find the smallest share that `count` of `total` does not refute, by bisection."""
    low, high = 0.0, count / total
    for _ in range(200):
        middle = (low + high) / 2
        far = count / total - middle > z * (middle * (1 - middle) / total) ** 0.5
        low, high = (middle, high) if far else (low, middle)
    return low


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_bound_is_the_smallest_share_that_is_not_refuted(seen: tuple[int, int]):
    assert lower_bound(*seen) == pytest.approx(bound_by_bisection(*seen), abs=1e-9)


@given(st.integers(1, 1000), st.integers(0, 1000), st.floats(0.5, 0.999))
def test_the_bound_rises_with_more_data_and_falls_with_a_higher_level(
    n: int, other: int, level: float
):
    bound = lower_bound(n, n + other, level)
    assert 0 <= bound <= n / (n + other) + 1e-12
    assert lower_bound(2 * n, 2 * (n + other), level) >= bound - 1e-12
    assert lower_bound(n, n + other, 0.9995) <= bound + 1e-12


def test_the_bound_without_observations_is_zero():
    assert lower_bound(0, 0) == 0.0


@pytest.mark.parametrize("level", [0, 0.49, 1, 1.5, -1, float("nan"), True, None, "0.95"])
def test_an_invalid_level_is_refused(level):
    with pytest.raises(tt.SettingError, match="level must be"):
        check_level(level)
    with pytest.raises(tt.SettingError, match="level must be"):
        learned("walls", steps=10).summary(level)


# ---------------------------------------------------- the numbers are those of the stream


def walk_leaves(rule: Rule) -> Iterator[tuple[str, Node]]:
    waiting = [("", rule.root)]
    while waiting:
        path, node = waiting.pop()
        if node.left is None or node.right is None:
            yield path, node
        else:
            waiting += [(path + "R", node.right), (path + "L", node.left)]


@some_streams
@given(streams(criteria=("evidence", "wilson"), memories=("none", "short", "long")))
def test_a_summary_has_every_leaf_with_its_counts(stream: Stream):
    model = learned_from(stream)
    summary = model.summary()
    assert list(summary.rules) == list(model.rules)
    assert {each.rule for each in summary.varying} == set(model.rules.varying())
    for key, rule in model.rules.items():
        rule_summary = summary.rules[key]
        assert (rule_summary.depth, len(rule_summary.leaves)) == (rule.depth, rule.n_leaves)
        assert rule_summary.observations == sum(rule.seen.values())
        for leaf, (path, node) in zip(rule_summary.leaves, walk_leaves(rule), strict=True):
            assert leaf.path == path
            assert leaf.counts == (node.counts if path else rule.seen)
            assert len(leaf.tests) == len(path)
            assert [t.startswith("not (") for t in leaf.tests] == [step == "R" for step in path]
        assert rule_summary.weakest.confidence == min(
            leaf.confidence for leaf in rule_summary.leaves
        )


@some_streams
@given(streams(criteria=("evidence",), memories=("short",)))
def test_the_numbers_of_a_leaf_are_consistent(stream: Stream):
    for leaf in learned_from(stream).summary().leaves:
        if leaf.total == 0:
            assert (leaf.outcome, leaf.share, leaf.count, leaf.confidence) == (None, None, 0, 0.0)
        else:
            assert leaf.counts[leaf.outcome] == leaf.count == max(leaf.counts.values())
            assert leaf.share == leaf.count / leaf.total
            assert 0 < leaf.confidence < leaf.share


def count_outcomes(stream: Stream) -> dict[tuple[str, str, str], Counter[Any]]:
    """Count each outcome directly from the transitions."""
    seen: dict[tuple[str, str, str], Counter[Any]] = defaultdict(Counter)
    for before, action, after in stream.transitions:
        for each in before:
            for name, now in each.values.items():
                then = after.value(each.id, name)
                if default_frame(stream.schema.attributes[name]) == CHANGE:
                    pairs = zip(then, now, strict=True) if isinstance(now, tuple) else None
                    then = tuple(b - a for b, a in pairs) if pairs else then - now
                seen[each.class_name, name, action][then] += 1
    return seen


@some_streams
@given(streams(memories=("none", "short", "long")))
def test_a_summary_lists_what_was_never_seen_and_seen_once(stream: Stream):
    summary, seen = learned_from(stream).summary(), count_outcomes(stream)
    actions, classes = ({key[part] for key in seen} for part in (2, 0))
    schema = stream.schema
    assert summary.unseen_actions == tuple(a for a in schema.actions if a not in actions)
    assert summary.unseen_classes == tuple(c for c in schema.classes if c not in classes)
    for key in summary.unseen_rules:
        assert key not in seen and key[0] in classes and key[2] in actions
    once = {(key, o) for key, counts in seen.items() for o, n in counts.items() if n == 1}
    assert set(summary.seen_once) == once
    assert len(summary.seen_once) == len(once)


@some_streams
@given(streams(memories=("none", "short", "long")))
def test_kept_and_discarded_transitions_add_up_to_all_observations(stream: Stream):
    model = learned_from(stream)
    memory = model.summary().memory
    assert {name: memory[name] for name in model.memory_use()} == model.memory_use()
    assert memory["kept"] + memory["no_longer_kept"] == model.observations
    assert memory["kept"] <= memory["most_kept"] == stream.settings["memory"]
    assert memory["most_candidates"] == stream.settings["max_candidates"]


@some_streams
@given(streams(memories=("none", "short")))
def test_the_dict_is_plain_data_and_complete(stream: Stream):
    summary = learned_from(stream).summary()
    data = summary.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["observations"] == summary.observations == len(stream.transitions)
    assert [each["varies"] for each in data["rules"]] == [
        each.varies for each in summary.rules.values()
    ]
    assert sum(len(each["leaves"]) for each in data["rules"]) == len(summary.leaves)
    assert len(data["seen_once"]) == len(summary.seen_once)


def test_a_summary_lists_classes_and_actions_never_seen_together():
    schema = tt.Schema({"cat": ["x"], "dog": ["x"], "elk": ["x"]}, {"x": 1}, ["go", "sit", "fly"])
    model = tt.TreeThink(schema)
    for name, action in (("cat", "go"), ("dog", "sit")):
        state = tt.State(schema, [tt.Object(1, name, x=0)])
        model.observe(state, action, state)
    summary = model.summary()
    assert summary.unseen_actions == ("fly",)
    assert summary.unseen_classes == ("elk",)
    assert summary.unseen_rules == (("cat", "x", "sit"), ("dog", "x", "go"))
    assert "Never seen together: cat.x when sit; dog.x when go." in str(summary)


def test_a_summary_does_not_change_the_model_and_is_not_changed_by_it():
    model = copy.copy(learned("maze", 500))
    before = model.to_bytes()
    summary = model.summary()
    text, data = str(summary), summary.to_dict()
    assert model.to_bytes() == before
    model.observe_many(tt.transitions(tt.make("maze"), steps=500, seed=1))
    assert (str(summary), summary.to_dict()) == (text, data)
    assert str(model.summary()) != text


def test_the_leaves_of_a_very_deep_tree_are_listed():
    depth = 1500  # deeper than Python can recurse
    leaves = list(leaves_of(("dot", "x", "go"), chain_rule(depth)))
    assert [leaf.path for leaf in leaves] == ["R" * i + "L" for i in range(depth)] + ["R" * depth]
    assert [leaf.total for leaf in leaves] == [*range(1, depth + 1), 0]


def test_the_tests_nearest_to_the_leaf_are_printed_if_there_are_many():
    last = " ".join(table_lines(str(rule_of(("dot", "x", "go"), chain_rule(9))))[-2:])
    assert " ".join(last.split()) == (
        "… and not (X0[x] = 6) and not (X0[x] = never seen 0 7) and not (X0[x] = 8)"
    )


def table_lines(text: str) -> list[str]:
    return text.partition("──")[2].splitlines()[1:]


# ---------------------------------------------------- printed form


def without_size(text: str) -> str:
    """Remove the size of the memory and the line breaks after it, which depend on the machine."""
    start, memory, size = text.partition("Size: ")
    return start + memory + " ".join(re.sub(r"^[\d,.]+ \w+", "...", size).split())


def test_summaries_match_the_golden_files():
    model = learned("maze", steps=3000)
    texts = {"maze": str(model.summary()), "maze_right": str(model.summary().rules[RIGHT])}
    texts["nothing"] = str(tt.TreeThink(tt.make("maze").schema).summary())
    for name, text in texts.items():
        check_golden(f"summary_{name}.txt", without_size(text) + "\n")


@some_streams
@given(streams(criteria=("evidence",), memories=("short",)))
def test_no_line_is_wider_than_a_terminal(stream: Stream):
    summary = learned_from(stream).summary()
    for text in (str(summary), *map(str, summary.rules.values())):
        assert max(map(len, text.splitlines())) <= 80
        assert not any(line.endswith(" ") for line in text.splitlines())
        assert "\x1b" not in text


def log_of_a_lift(**dest: str) -> tt.Log:
    path = ROOT / "examples/logs/elevator.csv"
    log = tt.read_csv(path)
    attributes = {**log.schema.attributes, "dest": tt.Number(**dest)}
    schema = tt.Schema(log.schema.classes, attributes, log.schema.actions)
    return tt.read_csv(path, dataclasses.replace(log.log_schema, schema=schema))


def test_a_summary_names_attributes_that_may_have_to_be_compared():
    hint = 'in common: dest and floor (like="floor" for dest, if they mean the same)'
    for dest, expected in ({}, (("dest", "floor"),)), ({"like": "floor"}, ()):
        log = log_of_a_lift(**dest)
        model = tt.TreeThink(log.schema)
        model.observe_many(log)
        summary = model.summary()
        assert summary.never_compared == expected
        assert summary.to_dict()["never_compared"] == [list(each) for each in expected]
        assert (hint in " ".join(str(summary).split())) is bool(expected)


def test_a_sure_model_names_no_attributes_to_compare():
    schema = tt.Schema({"dot": ["x", "y"]}, {"x": 1, "y": 1}, ["go"])
    model = tt.TreeThink(schema)

    def dot(x: int, y: int) -> tt.State:
        return tt.State(schema, [tt.Object(0, "dot", x=x, y=y)])

    for i in range(20):
        model.observe(dot(i % 5, i % 7), "go", dot(i % 5 + 1, i % 7))
    assert model.summary().never_compared == ()
    model.observe(dot(1, 2), "go", dot(1, 2))  # now it is unsure
    assert model.summary().never_compared == (("y", "x"),)
    assert learned("maze", 300).summary().never_compared == ()


UNITS: dict[str, int | tt.Attribute] = {
    "first": 1,
    "second": tt.Attribute(1, like="third"),
    "third": 1,
}


@given(st.permutations(sorted(UNITS)))
def test_the_attribute_without_a_unit_is_to_be_changed(order: list[str]):
    schema = tt.Schema({"dot": order}, {name: UNITS[name] for name in order}, ["go"])
    states = [tt.State(schema, [tt.Object(0, "dot", first=i, second=i, third=i)]) for i in range(3)]
    pairs = never_compared(schema, states)
    assert {frozenset(each) for each in pairs} == {
        frozenset({"first", "second"}),
        frozenset({"first", "third"}),
    }
    assert all(attribute != "second" for attribute, _ in pairs)
    assert never_compared(schema, states[:2]) == ()  # two values are a condition, no quantity


def test_long_lists_of_rules_are_truncated_with_a_count():
    model = learned("scale(8,5)", steps=1500)
    text = str(model.summary())
    assert f"{model.n_varying} of {len(model.rules):,} rules vary" in text
    assert f"… and {model.n_varying - 60} more" in text


def test_rich_prints_a_summary_in_the_width_of_the_terminal():
    summary = learned("maze", 2000).summary()
    for width in (40, 200):
        out = io.StringIO()
        Console(file=out, width=width, color_system="truecolor", force_terminal=True).print(summary)
        lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
        assert max(map(len, lines)) <= width
        assert "observations" in out.getvalue()


def test_markup_in_names_is_printed_and_control_characters_are_escaped():
    schema = tt.Schema({"[red]x[/red]\n": ["x"]}, {"x": 1}, ["\x1b[31mgo", "[/]"])
    model = tt.TreeThink(schema)
    for i in range(40):
        state = tt.State(schema, [tt.Object(1, "[red]x[/red]\n", x=i % 2)])
        model.observe(state, "\x1b[31mgo", state.replace(1, x=1))
    text = " ".join(str(model.summary()).split())
    assert "[red]x[/red]\\n.x when \\x1b[31mgo" in text
    assert "Actions never taken: [/]." in text


def test_unreached_leaves_are_reported_as_never_seen():
    rule_summary = rule_of(("dot", "x", "go"), chain_rule(2))
    assert rule_summary.n_empty == 1
    assert "never seen" in str(rule_summary)
    memory = dict.fromkeys(("kept", "no_longer_kept", "most_kept"), 0)
    memory |= {"bytes": 10_000, "nodes": 3, "candidates": 1, "forgotten": 2}
    summary = Summary(9, 0.95, {("dot", "x", "go"): rule_summary}, memory)
    text = " ".join(str(summary).split())
    assert "1 leaf that no observation has reached yet." in text
    assert "Outcomes seen only once: dot.x when go: 0." in text
    assert "10 kB for 3 nodes and 1 candidate, 2 candidates dropped. No transition" in text


def test_a_bound_is_never_rounded_up():
    for leaf in learned("maze", steps=3000).summary().leaves:
        printed = float(tables.certainty(leaf).rstrip("%")) / 100
        assert leaf.confidence - 0.001 < printed <= leaf.confidence


def test_a_summary_is_text_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a notebook, rich would display output instead of writing it."""
    plain = str(learned("maze", 3000).summary())
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(learned("maze", 3000).summary()) == plain


# ---------------------------------------------------- as a data frame


def test_the_data_frame_has_a_row_for_each_leaf():
    summary = learned("maze", 2000).summary()
    rows = rows_of(summary)
    assert len(rows) == len(summary.leaves)
    assert all(list(row) == list(COLUMNS) for row in rows)
    (wall, free) = (row for row in rows if row["rule"] == "player.pos when right")
    assert wall["tests"] == "∃ X1: wall.  X1[pos] - X0[pos] = (1, 0)"
    assert free["tests"] == "not (∃ X1: wall.  X1[pos] - X0[pos] = (1, 0))"
    assert (wall["outcome"], free["outcome"]) == ((0, 0), (1, 0))
    assert wall["count"] == wall["observations"] and wall["share"] == 1.0


def test_the_data_frame_has_the_right_rows_and_types():
    pandas = pytest.importorskip("pandas")
    model = learned("maze", 2000)
    frame = model.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("records") == rows_of(model.summary())
    assert frame[frame["rule"] == "player.pos when right"]["count"].sum() == sum(
        model.rules[RIGHT].seen.values()
    )
    for each in (frame, tt.TreeThink(model.schema).to_dataframe()):
        assert list(each.columns) == list(COLUMNS)
        assert each.dtypes["count"] == "int64" and each.dtypes["share"] == "float64"


def test_an_empty_leaf_has_no_share_in_the_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = tt.TreeThink(tt.make("walls").schema).to_dataframe()
    assert len(frame) == 8
    assert pandas.isna(frame["share"]).all() and pandas.isna(frame["outcome"]).all()
    assert (frame["confidence"] == 0).all()


def test_without_pandas_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(tt.MissingPackageError, match=r"pip install '\.\[notebook\]'"):
        learned("walls", steps=10).to_dataframe()


# ---------------------------------------------------- unknown rules


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        (("playr", "pos", "up"), tt.UnknownNameError, "class 'playr' .*Did you mean 'player'"),
        (("player", "poss", "up"), tt.UnknownNameError, "attribute 'poss' .*Did you mean 'pos'"),
        (("player", "score", "up"), tt.UnknownNameError, "attribute 'score' .*Known: 'pos'"),
        (("player", "pos", "rigt"), tt.UnknownNameError, "action 'rigt' .*Did you mean 'right'"),
        (("player", "pos", 3), tt.UnknownNameError, "unknown action '3' in the summary"),
        ("player", tt.WrongTypeError, r"found by \(class, attribute, action\), got 'player'"),
    ],
)
def test_errors_name_unknown_rules(key: Any, error: type, message: str):
    rules = learned("maze", 50).summary().rules
    with pytest.raises(error, match=message):
        rules[key]
    assert key not in rules and rules.get(key) is None
    assert rules[RIGHT].rule == RIGHT
