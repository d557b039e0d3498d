"""Rules exported as Python run without TreeThink; their answers are exactly the engine's.

The printed forms are golden files. After a wanted change, rewrite them and read the difference:

    REWRITE_GOLDEN=1 pytest tests/explain/test_export.py
"""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from crowd import CROWDS, large_crowd, model_of_crowd, sized_crowd
from exporting import (
    ODD_NAMES,
    Grown,
    answers_of,
    grown,
    loaded,
    model_of_odd_names,
    quick,
    states_of,
    trained,
)
from golden import check_golden
from handmade import branch, chain, dot, handmade, leaf
from models import deep_tree, learned
from strategies import Stream
from treethink.errors import UnknownNameError, WrongTypeError
from treethink.export import python as code
from treethink.export.answers import answers_of as answers_of_nodes
from treethink.export.answers import identifier
from treethink.export.python import module_text
from treethink.foldt import FOLDT, Facts
from treethink.model import TreeThink
from treethink.rules import Rule
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make


def call_rule(rule: Rule, state: State, *ids: int) -> object:
    """Return the answer of a rule's own function."""
    text = code.text_of(rule)
    name = text.partition("(")[0].removeprefix("def ")
    return loaded(text)[name](state.to_dict(), *ids)


# ---------------------------------------------------- same answers as the engine


@settings(quick, max_examples=40)
@given(trained())
def test_a_module_gives_the_answers_of_the_engine(stream_and_model: tuple[Stream, TreeThink]):
    stream, model = stream_and_model
    exported = loaded(module_text(model))
    for state in states_of(stream, 12):
        for action in stream.schema.actions:
            outcomes = exported["predict"](state.to_dict(), action)
            assert outcomes == answers_of(model, state, action)
            mode = tt.State.from_dict(state.schema, exported["mode"](state.to_dict(), action))
            assert mode == model.predict(state, action).mode()


@settings(quick, max_examples=20)
@given(trained())
def test_a_single_rule_gives_the_answers_of_the_engine(stream_and_model: tuple[Stream, TreeThink]):
    stream, model = stream_and_model
    states = states_of(stream, 6)
    for (class_name, attribute, action), rule in model.rules.items():
        text = code.text_of(rule)
        name = text.partition("(")[0].removeprefix("def ")
        function = loaded(text)[name]
        for state in states:
            for x in state.of_class(class_name):
                assert function(state.to_dict(), x.id) == model.predict(state, action).outcomes(
                    x.id, attribute
                )


@settings(quick, max_examples=60)
@given(grown())
def test_random_trees_give_the_answers_of_the_twin(model: Grown):
    exported = loaded(module_text(model))
    functions = {key: loaded(code.text_of(rule)) for key, rule in model.rules.items()}
    for state in model.states(8):
        for action in ("go", "wait"):
            expected = model.answers(state, action)
            assert exported["predict"](state.to_dict(), action) == expected
            for x in state:
                for name in expected[x.id]:
                    key = (x.class_name, name, action)
                    function = functions[key][identifier(".".join(key[:2]) + f" when {action}")]
                    assert function(state.to_dict(), x.id) == expected[x.id][name]


@pytest.mark.parametrize("name", ["maze", "coins", "doors", "fish", "gates", "lights", "switches"])
def test_models_of_worlds_give_the_answers_of_the_engine(name):
    world = make(name) if name == "lights" else make(name, width=6, height=6)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps=1500, seed=0))
    exported = loaded(module_text(model))
    for state, action, _ in transitions(world, steps=60, seed=1):
        assert exported["predict"](state.to_dict(), action) == answers_of(model, state, action)


def test_an_exported_file_runs_without_any_package(tmp_path):
    world = make("keys", width=6, height=6)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps=8000, seed=0))
    model.to_python(tmp_path / "keys_rules.py")
    exported = loaded((tmp_path / "keys_rules.py").read_text("utf-8"))
    for state, action, _ in transitions(world, steps=500, seed=1):
        assert exported["predict"](state.to_dict(), action) == answers_of(model, state, action)
    program = f"import keys_rules; print(keys_rules.predict({state.to_dict()}, {action!r}))"
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = ['.']; {program}"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == str(answers_of(model, state, action))


@settings(quick, max_examples=15)
@given(st.integers(0, 2**32), st.integers(1, 2))
def test_a_standalone_tree_gives_the_answers_of_the_engine(seed: int, arguments: int):
    schema = Schema({"dot": ["x"], "star": ["x", "hue"]}, {"x": 1, "hue": 1}, [])
    rng = random.Random(seed)

    def scene() -> State:
        dots = [Object(i, "dot", x=rng.randrange(3)) for i in range(3)]
        stars = [Object(9 + i, "star", x=rng.randrange(3), hue=rng.randrange(2)) for i in range(3)]
        return State(schema, [*dots, *stars])

    tree = FOLDT(["dot", "dot"][:arguments], alpha=0.4)
    for _ in range(120):
        state, ids = scene(), rng.sample(range(3), arguments)
        near = any(star.x == state[ids[0]].x for star in state.of_class("star") if star.hue)
        tree.observe(Facts(state), ids, rng.choice([("near", 1), None]) if near else "far")
    for _ in range(10):
        state, ids = scene(), rng.sample(range(3), arguments)
        assert call_rule(tree.rule, state, *ids) == tree.predict(Facts(state), ids)


@pytest.mark.parametrize(("younger", "older"), CROWDS)
def test_bindings_beyond_the_limit_are_cut_as_in_the_engine(younger, older):
    model, state = model_of_crowd(), large_crowd(younger, older)
    exported = loaded(module_text(model))
    backwards = {"objects": state.to_dict()["objects"][::-1]}
    expected = answers_of(model, state, "go")
    assert exported["predict"](state.to_dict(), "go") == expected
    assert exported["predict"](backwards, "go") == expected
    assert call_rule(model.rules["judge", "verdict", "go"], state, 0) == expected[0]["verdict"]


def test_bindings_are_cut_by_values_in_the_order_of_the_schema():
    model = model_of_crowd()
    exported, verdicts = loaded(module_text(model)), []
    for seed in range(12):
        state = sized_crowd(seed)
        verdicts.append(answers_of(model, state, "go")[0]["verdict"])
        assert exported["predict"](state.to_dict(), "go")[0]["verdict"] == verdicts[-1]
        rule = model.rules["judge", "verdict", "go"]
        assert call_rule(rule, state, 0) == verdicts[-1]
    assert any(each != verdicts[0] for each in verdicts)


def test_the_limit_changes_the_answer_for_the_crowds_above():
    model = model_of_crowd()
    answers = [answers_of(model, large_crowd(*each), "go")[0]["verdict"] for each in CROWDS]
    assert answers[0] == answers[1] == answers[2] != answers[3]


def test_an_empty_leaf_uses_the_counts_of_the_node_above():
    nodes = branch(5, 3, 4) + (branch(6, 1, 2) + leaf(0, 0) + leaf(1, 2)) + leaf(0, 0)
    model = TreeThink.from_bytes(handmade(nodes))
    rule = model.rules["dot", "x", "go"]
    empty = [i for i, node in enumerate(rule.nodes) if not node[3]]
    assert [dict(answers_of_nodes(rule)[i]) for i in empty] == [{10: 1, 11: 2}, {10: 3, 11: 4}]
    assert code.text_of(rule).count("never seen") == 2
    for x in (5, 6, 7):
        assert call_rule(rule, dot(x), 1) == model.predict(dot(x), "go").outcomes(1, "x")


@pytest.mark.parametrize("left", [True, False])
def test_a_tree_of_maximum_depth_can_be_exported(left):
    model = TreeThink.from_bytes(handmade(chain(1000, left)))
    exported = loaded(module_text(model))
    for x in (0, 5, 700):
        assert exported["predict"](dot(x).to_dict(), "go") == answers_of(model, dot(x), "go")
    assert max(map(len, module_text(model).splitlines())) < 120


def chain_of_yes_branches(depth: int) -> Rule:
    """Return nested tests in yes branches: is there a dot at 5? Is that one at 5? And so on."""
    one, two = ("dot",), ("dot", "dot")
    test = ("equality", "x", ("dot",), (1,), (5,))
    nodes: list[Any] = [(n + 1, 2 * depth - n, two if n else one, {}, test) for n in range(depth)]
    nodes += [(None, None, two, {(n,): 1}, None) for n in range(depth + 1)]
    return Rule("dot.x when go", one, 1, {(0,): 1}, nodes, ("dot", "x", "go"))


def test_exported_code_of_any_depth_runs():
    text = code.text_of(chain_of_yes_branches(9_000))
    assert max(map(len, text.splitlines())) <= code.WIDTH
    function = loaded(text)["dot_x_when_go"]
    for other, expected in [(5, {1: 1.0}), (6, {1 + 9_000: 1.0})]:
        state = {"objects": [{"id": i, "class": "dot", "x": x} for i, x in [(1, 1), (2, other)]]}
        assert function(state, 1) == expected


@settings(quick, max_examples=40)
@given(grown())
def test_limited_indentation_does_not_change_the_answers(model: Grown):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "MAX_INDENT", 1)
        text = module_text(model)
    exported = loaded(text)
    for state in model.states(8):
        outcomes = exported["predict"](state.to_dict(), "go")
        assert outcomes == model.answers(state, "go")


def test_indentation_is_limited():
    rule = chain_of_yes_branches(200)
    indents = [len(line) - len(line.lstrip()) for line in code.text_of(rule).splitlines()]
    assert max(indents) == 4 * code.MAX_INDENT


def test_a_deep_tree_of_both_branches_runs():
    tree = deep_tree(60)
    for x in (0, 30, 60):
        state = State(tree.rule.schema, [Object(1, "dot", x=x)])
        assert call_rule(tree.rule, state, 1) == tree.predict(Facts(state), [1])


def test_names_that_are_not_valid_in_python_are_replaced():
    model, states = model_of_odd_names()
    exported = loaded(module_text(model))
    for state in states:
        for action in ODD_NAMES:
            assert exported["predict"](state.to_dict(), action) == answers_of(model, state, action)
    for rule in model.rules.varying().values():
        assert call_rule(rule, state, 0) == answers_of(model, state, rule.key[2])[0][rule.key[1]]


def test_functions_of_similarly_named_rules_have_different_names():
    assert identifier("a b.c when d", {"a_b_c_when_d"}) == "a_b_c_when_d_2"
    assert identifier("1.a when b") == "rule_1_a_when_b"
    assert identifier("é") == "rule"


# ---------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (None, 'a state must be {"objects"'),
        ({"objects": [], "more": 1}, 'a state must be {"objects"'),
        ({"objects": [{"id": 1, "class": "lamb", "on": 0}]}, r"objects\[0\].*class of \['lamp'\]"),
        ({"objects": [{"id": 1, "class": "lamp"}]}, r"object 1 of class 'lamp' must have \['on'\]"),
        ({"objects": [{"id": 1, "class": "lamp", "on": [0, 1]}]}, "'on' of object 1 must be 1 int"),
        (
            {"objects": [{"id": 1, "class": "lamp", "on": 0.5}]},
            "'on' of object 1 must be an integer",
        ),
        (
            {"objects": [{"id": "a", "class": "lamp", "on": 0}]},
            r"the id of objects\[0\] must be an",
        ),
        ({"objects": [{"id": 1, "class": "lamp", "on": 0}] * 2}, "two objects have the id 1"),
        ({"objects": [{"id": 1, "class": "lamp", "on": 2**63}]}, "does not fit 64 bits"),
        ({"objects": [{"id": 1, "class": "lamp", "on": 2**63 - 1}]}, "a predicted value of 'on'"),
    ],
)
def test_a_module_refuses_invalid_states(state, message):
    schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    model = TreeThink(schema)
    off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    model.observe(off, "press", on)
    exported = loaded(module_text(model))
    assert exported["predict"](off.to_dict(), "press") == {1: {"on": {1: 1.0}}}
    with pytest.raises(ValueError, match=message):
        exported["predict"](state, "press")
    with pytest.raises(ValueError, match=r"unknown action 'pres'. Known: \['press'\]"):
        exported["predict"](off.to_dict(), "pres")


def test_an_outcome_that_cannot_be_written_is_refused():
    tree = FOLDT(["dot"])
    tree.observe(State(Schema({"dot": ["x"]}, {"x": 1}, []), [Object(1, "dot", x=0)]), [1], object)
    with pytest.raises(WrongTypeError, match=r"an outcome must be a number.* got <class"):
        code.text_of(tree.rule)


def test_a_kind_of_fact_that_only_the_engine_knows_is_refused():
    test = ("parity", "x", ("dot",), (0,), (1,))
    nodes: list[Any] = [(1, 2, ("dot",), {}, test), (None, None, ("dot",), {}, None)]
    rule = Rule("dot.x when go", ("dot",), 1, {(1,): 1}, [*nodes, nodes[1]], ("dot", "x", "go"))
    with pytest.raises(UnknownNameError, match="unknown kind of fact 'parity' in the code form"):
        code.text_of(rule)


def test_an_invalid_path_is_refused():
    with pytest.raises(WrongTypeError, match="a path must be"):
        TreeThink(make("walls").schema).to_python(3)


# ---------------------------------------------------- printed form


def golden_texts() -> dict[str, str]:
    """Return the expected contents of the golden files, by name."""
    maze = learned("maze")
    values = Schema({"d": ["x"]}, {"x": Attribute(1, outcomes="value")}, ["a"])
    lamp, rng = TreeThink(values), random.Random(0)
    for _ in range(100):
        lamp.observe(state_at(values, 0), "a", state_at(values, rng.choice([3, 3, 3, 9])))
    return {
        "code_maze.txt": code.text_of(maze.rules["player", "pos", "left"])
        + "\n\n"
        + code.text_of(maze.rules["game", "score", "left"], helpers=False),
        "code_chance.txt": code.text_of(lamp.rules["d", "x", "a"], helpers=False),
        "module_walls.txt": module_text(learned("walls")),
    }


def state_at(schema: Schema, x: int) -> State:
    return State(schema, [Object(1, "d", x=x)])


def test_exported_rules_match_the_golden_files():
    for name, text in golden_texts().items():
        check_golden(name, text)
