"""Frames: what outcomes are relative to, and how rules in them are read, exported and explained."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from exporting import loaded, proven, quick
from framed import FRAMES, SCHEMA, FramedModel, answer, made, models, rules, states
from golden import check_golden
from small_prolog import Program
from treethink.errors import SettingError, UnknownNameError
from treethink.export import prolog
from treethink.export import python as code
from treethink.frames import CHANGE, JUMPS, STAYS, VALUE, Frame
from treethink.rules import Rule
from treethink.state import Object, State

TO_GATE = Frame("copy", of="gate", attribute="pos")
PORTAL = Frame("jump", of="gate", attribute="pos")
BY_HEADING = Frame("own", attribute="heading", adds=True)
TO_FULL = Frame("own", attribute="full")


def scene(*gates: tuple[int, int]) -> State:
    """A car at (1, 1) that heads right, and gates."""
    own: dict[str, Any] = {"pos": (1, 1), "heading": (1, 0), "fuel": 1, "full": 5, "drink": "cola"}
    car = Object(0, "car", **own)
    others = [Object(i, "gate", pos=at, fuel=3, drink="ice tea") for i, at in enumerate(gates, 1)]
    return State(SCHEMA, [car, *others])


# ------------------------------------------------------------------- outcomes and values


@quick
@given(states(), st.sampled_from([*FRAMES]), st.data())
def test_outcomes_and_values_are_inverse(state: State, attribute: str, data: st.DataObject):
    frame = data.draw(st.sampled_from(FRAMES[attribute]))
    other = data.draw(states())[0].values[attribute]
    outcome = frame.outcome_of(state, 0, attribute, other)
    has_reference = frame.of is None or frame.changes or len(state.of_class(frame.of)) == 1
    changes = state[0].values[attribute] != other
    if frame.changes or changes:
        assert (outcome is not None) == has_reference
    else:
        assert outcome is STAYS
    if outcome is not None:
        assert frame.new_value(state, 0, attribute, outcome) == other


@pytest.mark.parametrize(
    ("attribute", "frame", "outcome", "value"),
    [
        ("pos", CHANGE, (1, 0), (2, 1)),
        ("pos", VALUE, (1, 0), (1, 0)),
        ("pos", BY_HEADING, (0, 2), (2, 3)),
        ("pos", Frame("own", attribute="heading"), (0, 2), (1, 2)),
        ("pos", TO_GATE, (0, 0), (5, 6)),
        ("pos", TO_GATE, (0, -1), (5, 5)),
        ("pos", TO_GATE, STAYS, (1, 1)),
        ("pos", PORTAL, JUMPS, (5, 6)),
        ("pos", PORTAL, (0, -1), (1, 0)),
        ("fuel", Frame("jump", attribute="full"), JUMPS, 5),
        ("fuel", TO_FULL, -1, 4),
        ("drink", VALUE, "ice tea", "ice tea"),
        ("drink", Frame("copy", of="gate", attribute="drink"), 0, "ice tea"),
    ],
)
def test_the_value_that_an_outcome_leads_to(attribute: str, frame: Frame, outcome: Any, value: Any):
    state = scene((5, 6))
    assert frame.new_value(state, 0, attribute, outcome) == value
    assert frame.new_values(state, 0, attribute, {outcome: 3}) == {value: 3}


@pytest.mark.parametrize("gates", [[], [(2, 2), (3, 3)]])
def test_without_exactly_one_object_there_is_no_reference(gates: list[tuple[int, int]]):
    state = scene(*gates)
    assert TO_GATE.reference(state, 0, "pos") is None
    assert TO_GATE.new_value(state, 0, "pos", (0, 0)) is None
    assert TO_GATE.new_values(state, 0, "pos", {STAYS: 1, (0, 0): 2}) == {}
    assert TO_GATE.outcome_of(state, 0, "pos", (2, 2)) is None


@pytest.mark.parametrize("gates", [[], [(2, 2), (3, 3)]])
def test_without_exactly_one_object_nothing_jumps(gates: list[tuple[int, int]]):
    state = scene(*gates)
    assert PORTAL.new_value(state, 0, "pos", JUMPS) is None
    assert PORTAL.new_values(state, 0, "pos", {JUMPS: 1, (0, 0): 2}) == {}
    assert PORTAL.new_values(state, 0, "pos", {(1, 0): 2}) == {(2, 1): 2}
    assert PORTAL.outcome_of(state, 0, "pos", (2, 2)) == (1, 1)


def test_a_value_that_becomes_that_of_the_source_jumps():
    state = scene((1, 2))
    assert PORTAL.outcome_of(state, 0, "pos", (1, 2)) is JUMPS
    assert PORTAL.outcome_of(state, 0, "pos", (2, 2)) == (1, 1)
    assert PORTAL.new_values(state, 0, "pos", {JUMPS: 1, (0, 1): 2}) == {(1, 2): 3}


def test_outcomes_that_lead_to_the_same_value_count_together():
    state = scene((1, 1))
    assert TO_GATE.new_values(state, 0, "pos", {STAYS: 1, (0, 0): 2}) == {(1, 1): 3}


@pytest.mark.parametrize("one", [STAYS, JUMPS])
def test_outcomes_without_numbers_are_one_object_each(one: Any):
    for same in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert same is one
    assert getattr(tt, repr(one).upper()) is one


@pytest.mark.parametrize(
    "given_",
    [
        ("copy", None, "pos", False),
        ("copy", "gate", None, False),
        ("own", None, None, False),
        ("own", "gate", "pos", False),
        ("change", None, "pos", False),
        ("change", None, None, True),
        ("value", None, None, True),
        ("jump", "gate", None, False),
        ("jump", None, "pos", True),
    ],
)
def test_parts_that_do_not_fit_are_refused(given_: Any):
    with pytest.raises(SettingError, match="a frame 'copy' needs of and attribute"):
        Frame(*given_)


def test_unknown_frames_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'copy'"):
        Frame("copi")


def test_a_rule_has_the_frame_of_its_attribute_or_the_given_one():
    assert made("pos", CHANGE, [{(1, 0): 3}]).frame == tt.Frame("change")
    rule = made("pos", TO_GATE, [{(0, 0): 3, None: 1}])
    assert rule.frame == tt.Frame("copy", of="gate", attribute="pos")
    assert rule.seen == {(0, 0): 3, STAYS: 1}
    assert rule.root.counts == rule.seen
    assert pickle.loads(pickle.dumps(rule)).root.frame == TO_GATE
    plain = Rule("car.drink when go", ("car",), 1, {(1,): 1}, [], ("car", "drink", "go"), SCHEMA)
    assert plain.frame == VALUE


# ------------------------------------------------------------------------------- exports


@quick
@given(rules(), states())
def test_exported_functions_answer_as_the_rule_does(rule: Rule, state: State):
    text = code.text_of(rule)
    (name,) = [each for each in loaded(text) if each.startswith("car_")]
    function = loaded(text)[name]
    for each in state.of_class("car"):
        assert function(state.to_dict(), each.id) == answer(rule, state, each.id)


@quick
@given(models(), states())
def test_exported_modules_answer_as_the_rules_do(model: FramedModel, state: State):
    module = loaded(code.module_text(model))  # type: ignore[arg-type]
    predicted = module["predict"](state.to_dict(), "go")
    for each in state.of_class("car"):
        for rule in model.rules.values():
            assert rule.key is not None
            assert predicted[each.id][rule.key[1]] == answer(rule, state, each.id)


@quick
@given(models(), states())
def test_exported_clauses_answer_as_the_rules_do(model: FramedModel, state: State):
    program = Program(prolog.text_of(model))  # type: ignore[arg-type]
    predicted = proven(program, state, "go")
    for each in state.of_class("car"):
        for rule in model.rules.values():
            assert rule.key is not None
            assert predicted[each.id][rule.key[1]] == answer(rule, state, each.id)


# --------------------------------------------------------------------------------- golden


def examples() -> list[Rule]:
    """One rule for each thing that an outcome can say."""
    two: Any = [{None: 4}, {(0, 0): 25}]
    return [
        made("pos", TO_GATE, two),
        made("pos", TO_GATE, [{(0, -1): 3}, {(1, 0): 5}]),
        made("pos", TO_GATE, [{None: 1, (0, 0): 3}]),
        made("pos", PORTAL, [{None: 4}, {(0, 0): 25}]),
        made("pos", PORTAL, [{None: 4, (1, 0): 2}, {(1, 0): 25}]),
        made("fuel", Frame("jump", attribute="full"), [{None: 4}, {(-1,): 25}]),
        made("pos", BY_HEADING, two),
        made("pos", BY_HEADING, [{(0, 0): 9}, {(1, 0): 25}]),
        made("pos", Frame("own", attribute="heading"), two),
        made("pos", VALUE, [{None: 4}, {(5, 5): 3}]),
        made("fuel", TO_FULL, [{(0,): 4}, {(-1,): 3}]),
        made("fuel", Frame("own", attribute="full", adds=True), [{(0,): 4}, {(2,): 3}]),
        made("fuel", Frame("copy", of="gate", attribute="fuel"), [{None: 4}, {(0,): 3}]),
        made("drink", Frame("copy", of="gate", attribute="drink"), [{None: 4}, {(0,): 3}]),
        made("drink", VALUE, [{None: 4}, {(1,): 3}]),
    ]


def test_rules_in_every_frame_match_the_golden_file():
    parts = [f"{rule}\n{rule.to_text('english')}\n" for rule in examples()]
    check_golden("frames.txt", "\n".join(parts))


def test_exports_of_a_rule_in_a_frame_match_the_golden_file():
    rule = made("pos", TO_GATE, [{None: 4, (0, 0): 2}, {(0, 0): 25}])
    forms = [code.text_of(rule), "\n".join(prolog.clauses_of(rule)), rule.to_dot()]
    jump = made("pos", PORTAL, [{None: 4, (1, 0): 2}, {(1, 0): 25}])
    forms += [code.text_of(jump), "\n".join(prolog.clauses_of(jump))]
    check_golden("frames_exported.txt", "\n\n".join(forms) + "\n")


@quick
@given(rules())
def test_every_form_says_the_outcome_of_a_leaf(rule: Rule):
    """No picture or table says an outcome otherwise than the text of the rule does."""
    text = str(rule)
    for form in (rule.to_mermaid(), rule.to_dot(), rule.to_svg()):
        for word in ("stays", "gate[pos]", "X0[heading]", "gate[drink]"):
            assert (word in form) == (word in text)
