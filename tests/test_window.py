"""What a model keeps is bounded in bytes, whatever states are made of."""

from __future__ import annotations

import treethink as tt

LONG = tt.Schema(
    {"tape": ["cells"], "pen": ["x"]}, {"cells": tt.Attribute(200_000, facts=()), "x": 1}, ["go"]
)
MOST_BYTES = 2**23 * 8


def state(step: int, written: int = 0) -> tt.State:
    cells = [written] * 200_000
    return tt.State(LONG, [tt.Object(0, "tape", cells=cells), tt.Object(1, "pen", x=step % 5)])


def kept_bytes(model: tt.TreeThink) -> int:
    return model.memory_use()["bytes"]


def test_where_much_changes_fewer_transitions_are_kept() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(60):  # 1.6 MB in each state
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    full = kept_bytes(model)
    assert model.memory_use()["kept"] == 40  # and one more state than transitions
    assert 0.5 * MOST_BYTES < full < 1.2 * MOST_BYTES
    for step in range(60, 70):
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    assert kept_bytes(model) < 1.2 * MOST_BYTES


def test_what_did_not_change_is_kept_once_although_states_were_made_one_by_one() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(100):
        model.observe(state(step), "go", state(step + 1))
    assert kept_bytes(model) < 5 * 200_000 * 8


def test_a_model_with_a_full_window_is_saved_and_goes_on_alike() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(45):
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    again = tt.TreeThink.from_bytes(model.to_bytes())
    for each in (model, again):
        each.observe(state(45, 45), "go", state(46, 46))
    assert again.to_bytes() == model.to_bytes()
