"""Rules exported as Prolog: their answers are exactly those of the engine.

Here `small_prolog` proves the clauses; `swi_prolog.py` uses SWI-Prolog.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowd import CROWDS, large_crowd, model_of_crowd
from exporting import (
    ODD_NAMES,
    Grown,
    answers_of,
    as_value,
    grown,
    model_of_odd_names,
    proven,
    quick,
    states_of,
    trained,
)
from golden import check_golden
from handmade import branch, chain, dot, handmade, leaf
from models import learned
from small_prolog import Program, Thrown
from strategies import Stream, with_feedback
from treethink.errors import UnknownNameError
from treethink.export import prolog
from treethink.model import TreeThink
from treethink.rules import Rule
from treethink.state import Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

# ---------------------------------------------------- same answers as the engine


@settings(quick, max_examples=30)
@given(trained())
def test_clauses_give_the_answers_of_the_engine(stream_and_model: tuple[Stream, TreeThink]):
    stream, model = stream_and_model
    program = Program(prolog.text_of(model))
    for state in states_of(stream, 4):
        for action in stream.schema.actions:
            assert proven(program, state, action) == answers_of(model, state, action)


@settings(quick, max_examples=30)
@given(grown())
def test_random_trees_give_the_answers_of_the_twin(model: Grown):
    program = Program(prolog.text_of(model))
    for state in model.states(3):
        for action in ("go", "wait"):
            assert proven(program, state, action) == model.answers(state, action)


@pytest.mark.parametrize("name", ["maze", "keys", "lights"])
def test_models_of_worlds_give_the_answers_of_the_engine(name):
    world = make(name) if name == "lights" else make(name, width=5, height=5)
    model = TreeThink(world.schema)
    model.observe_many(transitions(world, steps=3000, seed=0))
    program = Program(prolog.text_of(model))
    for state, action, _ in transitions(world, steps=8, seed=1):
        assert proven(program, state, action) == answers_of(model, state, action)


@pytest.mark.parametrize(("younger", "older"), CROWDS[2:])
def test_bindings_beyond_the_limit_are_cut_as_in_the_engine(younger, older):
    model, state = model_of_crowd(), large_crowd(younger, older)
    program = Program(prolog.text_of(model))
    program.ask(f"set_state({prolog.facts_of(state)}), Yes is 1.", "Yes")
    (chances,) = program.ask("predict(go, 0, verdict, Chances).", "Chances")
    expected = answers_of(model, state, "go")[0]["verdict"]
    assert {as_value(vector): chance for vector, chance in chances} == expected


@settings(quick, max_examples=30)
@given(trained(), st.integers(0, 2**32))
def test_clauses_give_the_rewards_and_ends_of_the_engine(
    stream_and_model: tuple[Stream, TreeThink], seed: int
):
    stream, _ = stream_and_model
    model = TreeThink(stream.schema, **stream.settings)
    model.observe_many(with_feedback(stream.transitions, random.Random(seed)))
    program = Program(prolog.text_of(model))
    for state in states_of(stream, 4):
        for action in stream.schema.actions:
            prediction = model.predict(state, action)
            end = prediction.terminated()
            ends = None if end is None else {x: p for x, p in (("yes", end), ("no", 1 - end)) if p}
            assert feedback_proven(program, state, action, "reward") == prediction.rewards()
            assert feedback_proven(program, state, action, "terminated") == pytest.approx(ends)


def feedback_proven(program: Program, state: State, action: str, what: str) -> Any:
    """What the clauses say of the reward or the end; None if they say nothing."""
    if ("transition", 3) not in program.known:
        return None
    assert program.ask(f"set_state({prolog.facts_of(state)}), Yes is 1.", "Yes") == [1]
    found = program.ask(f"transition({action}, {what}, Chances).", "Chances")
    return dict(found[0]) if found else None


def test_an_empty_leaf_uses_the_counts_of_the_node_above():
    nodes = branch(5, 3, 4) + (branch(6, 1, 2) + leaf(0, 0) + leaf(1, 2)) + leaf(0, 0)
    model = TreeThink.from_bytes(handmade(nodes))
    text = prolog.text_of(model)
    assert text.count("never seen itself") == 2
    for x in (5, 6, 7):
        assert proven(Program(text), dot(x), "go") == answers_of(model, dot(x), "go")


@pytest.mark.parametrize("left", [True, False])
def test_a_deep_tree_can_be_exported(left):
    model = TreeThink.from_bytes(handmade(chain(150, left)))
    program = Program(prolog.text_of(model))
    for x in (0, 5, 100):
        assert proven(program, dot(x), "go") == answers_of(model, dot(x), "go")


def test_names_that_are_not_valid_in_prolog_are_quoted():
    model, states = model_of_odd_names()
    program = Program(prolog.text_of(model))
    for action in ODD_NAMES:
        assert proven(program, states[0], action) == answers_of(model, states[0], action)


# ---------------------------------------------------- refusals


def test_a_value_beyond_64_bits_is_refused():
    schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    model = TreeThink(schema)
    off, on, last = (State(schema, [Object(1, "lamp", on=each)]) for each in (0, 1, 2**63 - 1))
    model.observe(off, "press", on)
    with pytest.raises(Thrown, match="int64_t"):
        proven(Program(prolog.text_of(model)), last, "press")


def test_a_kind_of_fact_that_only_the_engine_knows_is_refused():
    test = ("parity", "x", ("dot",), (0,), (1,))
    nodes: list[Any] = [(1, 2, ("dot",), {}, test), (None, None, ("dot",), {}, None)]
    rule = Rule("dot.x when go", ("dot",), 1, {(1,): 1}, [*nodes, nodes[1]], ("dot", "x", "go"))
    with pytest.raises(UnknownNameError, match="kind of fact 'parity' in the Prolog form"):
        list(prolog.clauses_of(rule))


def test_unknown_actions_and_objects_have_no_answer():
    program = Program(prolog.text_of(learned("walls", steps=100)))
    program.ask("set_state([object(1, player, [pos-[1, 1]])]), Yes is 1.", "Yes")
    assert program.ask("predict(left, 1, pos, Chances).", "Chances")
    assert not program.ask("predict(lefft, 1, pos, Chances).", "Chances")
    assert not program.ask("predict(left, 2, pos, Chances).", "Chances")


# ---------------------------------------------------- printed form


def test_clauses_match_the_golden_file(tmp_path):
    learned("walls").to_prolog(tmp_path / "walls.pl")
    check_golden("prolog_walls.pl", (tmp_path / "walls.pl").read_text("utf-8"))
