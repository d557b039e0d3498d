"""Rules of a depth that Python's recursion limit does not allow: everything works on them."""

from __future__ import annotations

import copy
import pickle
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treethink as tt
from treethink.rules import Node, Rule

DEPTH = 600
KEY = ("dot", "x", "go")
SCHEMA = tt.Schema({"dot": ["x"], "wall": ["x"]}, {"x": 1}, ["go"])


def text_of_chain(side: str, depth: int = DEPTH) -> str:
    """Return the text of a chain of tests on the left or right side; every leaf is different."""
    lines, first, rest = ["dot.x when go    X0: dot"], "", ""
    below: list[str] = []
    for number in range(depth):
        lines.append(f"{first}X0[x] = {number} ?")
        if side == "left":
            below.append(f"{rest}└─ no:  {number} × 2")
            first, rest = f"{rest}├─ yes: ", f"{rest}│  "
        else:
            lines.append(f"{rest}├─ yes: {number} × 2")
            first, rest = f"{rest}└─ no:  ", f"{rest}   "
    return "\n".join([*lines, f"{first}{depth} × 1", *reversed(below)])


def dot(x: int) -> tt.State:
    return tt.State(SCHEMA, [tt.Object(1, "dot", x=x), tt.Object(2, "wall", x=7)])


@pytest.fixture(scope="module", params=["left", "right"])
def model(request: pytest.FixtureRequest) -> tt.TreeThink:
    model = tt.TreeThink(SCHEMA)
    model.replace(KEY, text_of_chain(request.param))
    model.observe(dot(3), "go", dot(6))
    assert model.rules[KEY].depth == DEPTH
    return model


@pytest.fixture
def rule(model: tt.TreeThink) -> Rule:
    return model.rules[KEY]


def flat(root: Node) -> list[Any]:
    return [(n.classes, n.counts, n.test, n.pinned, n.written, n.met) for n in root.walk()]


@pytest.mark.parametrize("copied", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy])
def test_deep_rules_and_their_nodes_can_be_pickled_and_copied(rule, copied: Callable[[Any], Any]):
    before = copied(rule)
    assert flat(rule.root) == flat(copied(rule.root)) == flat(before.root)
    after = copied(rule)  # now that the nodes exist
    assert str(before) == str(after) == str(rule)
    assert (after.key, after.schema, after.seen) == (rule.key, rule.schema, rule.seen)


def test_a_copied_node_has_the_same_children(rule):
    root = copy.deepcopy(rule.root)
    assert (root.left.is_leaf, root.right.is_leaf) == (
        rule.root.left.is_leaf,
        rule.root.right.is_leaf,
    )
    assert root.left.counts == rule.root.left.counts


def test_deep_rules_can_be_read_and_written(model, rule):
    other = tt.TreeThink(SCHEMA)
    for part in (str(rule), rule.root, pickle.loads(pickle.dumps(rule.root))):
        other.replace(KEY, part)
        assert other.rules[KEY].depth == DEPTH
    assert copy.deepcopy(model).to_bytes() == model.to_bytes()
    assert tt.TreeThink.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    assert model.simplify().rules[KEY].n_leaves <= DEPTH + 1


def test_deep_rules_can_be_shown_in_every_form(model, rule):
    for style in ("formula", "english", "code"):
        assert rule.to_text(style).count("\n") >= DEPTH
    for text in (rule.to_svg(), rule.to_dot(), rule.to_mermaid()):
        assert text.count(f"{DEPTH - 1}") >= 1
    assert f"depth {DEPTH}" in repr(rule)
    assert repr(rule.root)
    assert str(model.summary())
    assert str(model.explain(dot(3), "go"))
    assert str(model.diff(tt.TreeThink(SCHEMA), n=20))


def test_a_deep_rule_exported_to_python_predicts_the_same(model, tmp_path: Path):
    model.to_python(tmp_path / "deep.py")
    module = runpy.run_path(str(tmp_path / "deep.py"))
    for x in (0, 3, DEPTH - 1, 10**6):
        predicted = module["mode"](dot(x).to_dict(), "go")
        assert predicted == model.predict(dot(x), "go").mode().to_dict()


def test_a_deep_rule_can_be_exported_to_prolog(model, tmp_path: Path):
    model.to_prolog(tmp_path / "deep.pl")
    assert (tmp_path / "deep.pl").stat().st_size > 0


def test_a_picture_that_would_be_too_large_is_refused_with_advice(rule, tmp_path: Path):
    pytest.importorskip("matplotlib")
    with pytest.raises(tt.SettingError, match=r"too large for a PNG .*; draw it as \.svg"):
        rule.draw(tmp_path / "deep.png")
