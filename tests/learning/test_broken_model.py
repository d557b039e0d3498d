"""A model that memory was too small for is broken and says so; refused input does no harm.

Memory runs out where a test asks about the number 1,000,000: see `Exhausting` in
cpp/testing/kinds.cpp. tests/torture/attack_memory.py has the same with real memory.
"""

from __future__ import annotations

import copy
import pickle

import pytest

import treethink as tt
from attack_memory import uses_of

TOO_MUCH = 1_000_000
SCHEMA = tt.Schema({"dot": ["x"]}, {"x": tt.Attribute(1, facts=("exhausting",))}, ["go"])
MESSAGE = (
    "the model is broken: memory ran out while it learned observation 9; "
    "load the last saved file, or start again"
)


def dot(x: int) -> tt.State:
    return tt.State(SCHEMA, [tt.Object(1, "dot", x=x)])


STREAM = [(dot(0), "go", dot(1)), (dot(1), "go", dot(0))] * 4
BREAKING = dot(TOO_MUCH), "go", dot(1)


def learned(memory: int) -> tt.TreeThink:
    model = tt.TreeThink(SCHEMA, memory=memory)
    model.observe_many(STREAM)
    return model


@pytest.mark.parametrize("memory", [0, 100])
@pytest.mark.parametrize("many", [True, False])
def test_memory_that_runs_out_breaks_the_model_and_every_use_says_so(memory, many, tmp_path):
    model, path = learned(memory), tmp_path / "model.tt"
    model.save(path)
    saved = path.read_bytes()
    uses = uses_of(model, str(path), STREAM[0])
    with pytest.raises(MemoryError, match="memory ran out"):
        model.observe_many([BREAKING]) if many else model.observe(*BREAKING)
    for use in (*uses.values(), lambda: copy.copy(model), lambda: pickle.dumps(model)):
        with pytest.raises(tt.BrokenModelError) as raised:
            use()
        assert str(raised.value) == MESSAGE
    assert path.read_bytes() == saved and [each.name for each in tmp_path.iterdir()] == ["model.tt"]
    assert tt.TreeThink.load(path).to_bytes() == learned(memory).to_bytes()


def test_a_broken_model_has_a_repr_and_its_settings():
    model = learned(0)
    with pytest.raises(MemoryError):
        model.observe(*BREAKING)
    assert repr(model) == "<TreeThink: broken>"
    assert model.schema == SCHEMA and model.alpha == 0.01


def test_a_broken_model_is_a_runtime_error():
    assert issubclass(tt.BrokenModelError, tt.TreeThinkError)
    assert issubclass(tt.BrokenModelError, RuntimeError)


def test_refused_input_does_not_break_a_model():
    model = learned(100)
    content = model.to_bytes()
    far = 2**63 - 1
    with pytest.raises(tt.TransitionError, match="does not fit 64 bits"):
        model.observe(dot(-far), "go", dot(far))
    assert model.to_bytes() == content


def test_memory_that_runs_out_in_a_prediction_breaks_nothing():
    model = tt.TreeThink(SCHEMA)
    model.observe_many(STREAM * 5)
    assert model.rules["dot", "x", "go"].depth == 1
    content = model.to_bytes()
    with pytest.raises(MemoryError):
        model.predict(dot(TOO_MUCH), "go")
    assert model.to_bytes() == content


def test_a_tree_by_itself_breaks_in_the_same_way():
    tree = tt.FOLDT(arg_classes=["dot"])
    for n in range(8):
        tree.observe(dot(n % 2), [1], n % 2)
    with pytest.raises(MemoryError):
        tree.observe(dot(TOO_MUCH), [1], 0)
    for use in (
        lambda: tree.observe(dot(0), [1], 0),
        lambda: tree.predict(dot(0), [1]),
        lambda: tree.rule,
        lambda: pickle.dumps(tree),
    ):
        with pytest.raises(tt.BrokenModelError) as raised:
            use()
        assert str(raised.value) == MESSAGE
