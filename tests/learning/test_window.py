"""The memory of a model is bounded in bytes, for states of any kind."""

from __future__ import annotations

import pytest

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


def test_fewer_transitions_are_kept_when_more_changes() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(60):  # 1.6 MB in each state
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    full = kept_bytes(model)
    assert model.memory_use()["kept"] == 40  # and one more state than transitions
    assert 0.5 * MOST_BYTES < full < 1.2 * MOST_BYTES
    for step in range(60, 70):
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    assert kept_bytes(model) < 1.2 * MOST_BYTES


def test_unchanged_columns_are_kept_once_although_states_were_created_separately() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(100):
        model.observe(state(step), "go", state(step + 1))
    assert kept_bytes(model) < 5 * 200_000 * 8


def test_a_loaded_model_with_a_full_window_continues_identically() -> None:
    model = tt.TreeThink(LONG, memory=10_000)
    for step in range(45):
        model.observe(state(step, step), "go", state(step + 1, step + 1))
    loaded = tt.TreeThink.from_bytes(model.to_bytes())
    for each in (model, loaded):
        each.observe(state(45, 45), "go", state(46, 46))
    assert loaded.to_bytes() == model.to_bytes()


@pytest.mark.parametrize(("more", "kept"), [(0, 19), (1, 18)])
def test_kept_transitions_fill_the_memory_limit_to_the_integer(more: int, kept: int) -> None:
    """A state takes 8 integers and 2 for each of its columns, and 8 for each object whose ids are
    its own. 19 transitions have 20 tapes, of 419,400 cells; labels are all the same."""
    room = 20 * 419_400 + 2 * 19 * (8 + 2 * 2) + 8
    cells, label = (tt.Attribute(n, facts=()) for n in (419_400, 2**23 - room + more))
    schema = tt.Schema({"tape": ["cells", "label"]}, {"cells": cells, "label": label}, ["go"])
    model = tt.TreeThink(schema, memory=10_000)

    def state_at(step: int) -> tt.State:
        values = {"cells": [step] * cells.length, "label": [0] * label.length}
        return tt.State(schema, [tt.Object(0, "tape", **values)])

    for step in range(25):
        model.observe(state_at(step), "go", state_at(step + 1))
        assert model.memory_use()["kept"] == min(step + 1, kept)


def test_a_single_transition_is_kept_however_large_it_is() -> None:
    tapes = [tt.Object(i, "tape", cells=[i] * 200_000) for i in range(2**23 // 200_000 + 1)]
    before = tt.State(LONG, [*tapes, tt.Object(-1, "pen", x=0)])
    model = tt.TreeThink(LONG, memory=10_000)
    for _ in range(3):
        model.observe(before, "go", before)
        assert model.memory_use()["kept"] == 1


def test_equal_objects_are_kept_once_although_states_were_created_separately() -> None:
    schema = tt.Schema({"dot": ["x"]}, {"x": tt.Attribute(1, facts=())}, ["go"])
    model = tt.TreeThink(schema, memory=10_000)
    sizes = []
    for step in range(40):
        before, after = (
            tt.State(schema, [tt.Object(i, "dot", x=each) for i in range(2_000)])
            for each in (step, step + 1)
        )
        model.observe(before, "go", after)
        sizes.append(kept_bytes(model))
    assert sizes[-1] - sizes[0] < 40 * 2_000 * 16  # 8 for a value, and an id takes 64
