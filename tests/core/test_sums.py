"""Sums: where an object will be if it takes a step is a place that facts and frames are about."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import treethink as tt
from treethink.attributes import Sum
from treethink.errors import RuleError, StateError, UnknownNameError

HEADINGS = ((1, 0), (0, 1), (-1, 0), (0, -1))
SIZE = 7


def robots(**attributes: tt.Attribute) -> tt.Schema:
    """Return the schema of a robot that drives by its heading among crates, and carries a flag."""
    known = {"pos": tt.Attribute(2), "heading": tt.Attribute(2), **attributes}
    return tt.Schema(
        classes={"crate": ["pos"], "flag": ["pos"], "robot": ["pos", "heading"]},
        attributes=known,
        actions=["drive", "put"],
    )


def level(schema: tt.Schema, rng: random.Random, size: int = SIZE) -> tt.State:
    """Return crates and a robot on different cells, and a flag that is nowhere."""
    cells = rng.sample([(x, y) for x in range(size) for y in range(size)], size * size // 3)
    crates = [tt.Object(i, "crate", pos=cell) for i, cell in enumerate(cells[2:], 2)]
    flag = tt.Object(0, "flag", pos=(-9, -9))
    return tt.State(
        schema, [flag, tt.Object(1, "robot", pos=cells[1], heading=rng.choice(HEADINGS)), *crates]
    )


def after(state: tt.State, action: str) -> tt.State:
    """Drive moves the robot by its heading, put moves the flag there, unless a crate is there."""
    (x, y), (right, down) = state[1].pos, state[1].heading
    ahead = (x + right, y + down)
    if state.find("crate", pos=ahead):
        return state
    return state.replace(1 if action == "drive" else 0, pos=ahead)


def play(schema: tt.Schema, steps: int, seed: int, size: int = SIZE) -> Iterator[tt.Transition]:
    rng = random.Random(seed)
    for _ in range(steps):
        state, action = level(schema, rng, size), rng.choice(schema.actions)
        yield tt.Transition(state, action, after(state, action))


def learned() -> tt.TreeThink:
    model = tt.TreeThink(robots())
    model.observe_many(play(model.schema, 400, seed=0))
    return model


def test_kept_states_of_a_loaded_model_share_their_sums():
    """A file of 150 KB cost 4 GB: each kept state had computed all sums anew."""
    silent = tt.Attribute(2, facts=())
    attributes = {"pos": silent, "heading": silent, "on": tt.Attribute(1, facts=())}
    schema = tt.Schema({"robot": ["pos", "heading"], "lamp": ["on"]}, attributes, ["go"])
    robots = [tt.Object(i, "robot", pos=(i, 0), heading=(0, 1)) for i in range(2_000)]
    dark = tt.State(schema, [*robots, tt.Object(-1, "lamp", on=0)])
    model = tt.TreeThink(schema)
    model.observe_many([(dark, "go", dark.replace(-1, on=1))] * 50)
    loaded = tt.TreeThink.from_bytes(model.to_bytes())
    assert loaded.memory_use()["bytes"] < 1.1 * model.memory_use()["bytes"]
    assert loaded.to_bytes() == model.to_bytes()


# ------------------------------------------------------------------------------- learning


def test_what_is_ahead_is_one_test_whatever_the_heading():
    model = learned()
    drive, put = model.rules["robot.pos.drive"], model.rules["flag.pos.put"]
    assert str(drive.root.test) == "∃ X1: crate.  X1[pos] - X0[pos + heading] = (0, 0)"
    assert drive.frame == tt.Frame("own", attribute="heading", adds=True)
    assert put.frame == tt.Frame("copy", of="robot", attribute="pos + heading")
    assert (drive.n_leaves, put.n_leaves) == (2, 2)


def test_english_says_a_step_from_the_object():
    rules = learned().rules
    assert rules["robot.pos.drive"].to_text("english") == (
        "When `drive` is chosen, the robot moves by its `heading`, unless a crate is one `heading` "
        "from it."
    )
    assert rules["flag.pos.put"].to_text("english") == (
        "When `put` is chosen, the flag goes to the point one `heading` from the robot, unless a "
        "crate is one `heading` from the robot."
    )


def test_what_was_learned_holds_in_a_larger_level():
    model = learned()
    for before, action, then, *_ in play(model.schema, 200, seed=1, size=15):
        assert model.predict(before, action).probability(then) == 1


def test_a_rule_about_a_sum_can_be_written_as_it_is_printed():
    model = learned()
    text = str(model.rules["flag.pos.put"])
    model.replace("flag.pos.put", text)
    assert str(model.rules["flag.pos.put"]).replace("  [pinned]", "") == text
    for before, action, then, *_ in play(model.schema, 100, seed=2):
        assert model.predict(before, action).probability(then) == 1


def test_exported_python_adds_the_two_attributes(tmp_path):
    model = learned()
    model.to_python(tmp_path / "robots.py")
    module: dict[str, object] = {}
    exec((tmp_path / "robots.py").read_text(), module)
    for before, action, then, *_ in play(model.schema, 100, seed=3):
        answer = module["mode"](before.to_dict(), action)  # type: ignore[operator]
        assert tt.State.from_dict(model.schema, answer) == then


def test_a_file_from_before_there_were_sums_goes_on_without(tmp_path):
    schema = robots()
    schema.leave_out_sums()
    old = tt.TreeThink(schema)
    steps = list(play(robots(), 600, seed=0))
    old.observe_many(steps[:300])
    old.save(tmp_path / "old.tt")
    again = tt.TreeThink.load(tmp_path / "old.tt")
    assert not again.schema.sums
    for model in (old, again):
        model.observe_many(steps[300:])
    assert again.to_bytes() == old.to_bytes()
    assert all(" + heading]" not in str(rule) for rule in again.rules.values())


def test_a_saved_model_knows_its_sums(tmp_path):
    model = learned()
    model.save(tmp_path / "robots.tt")
    again = tt.TreeThink.load(tmp_path / "robots.tt")
    assert str(again.rules["flag.pos.put"]) == str(model.rules["flag.pos.put"])
    for step in play(model.schema, 100, seed=4):
        model.observe(*step)
        again.observe(*step)
    again.save(tmp_path / "again.tt")
    model.save(tmp_path / "robots.tt")
    assert (tmp_path / "again.tt").read_bytes() == (tmp_path / "robots.tt").read_bytes()


def test_what_a_counterfactual_says_is_what_the_model_predicts():
    """Where it says that a heading would make a difference, it does."""
    model = learned()
    text = """robot.pos when drive    X0: robot
X0[heading] = (1, 0) ?
├─ yes: ∃ X1: crate.  X1[pos] - X0[pos + heading] = (0, 0) ?
│  ├─ yes: +(7, 7) × 30
│  └─ no:  +(1, 0) × 30
└─ no:  +(0, 0) × 30
"""
    told = tt.TreeThink(robots())
    told.replace("robot.pos.drive", text)
    crate = tt.Object(2, "crate", pos=(3, 4))
    state = tt.State(robots(), [tt.Object(1, "robot", pos=(3, 3), heading=(0, 1)), crate])
    said = str(told.explain(state, "drive", (1, "pos")))
    assert "pos would be (10, 10)" not in said.replace("\n", " ") or "crate" in said
    above = model.explain(state, "drive", (1, "pos"))
    assert "if there were no crate one heading from robot 1" in " ".join(str(above).split())


def test_a_counterfactual_never_assumes_a_sum():
    """It assumes another destination, not that the sum of two other values is another one."""
    attributes = {"pos": 2, "heading": 2, "dest": tt.Attribute(2, like="pos")}
    schema = tt.Schema({"robot": ["pos", "heading", "dest"]}, attributes, ["drive"])
    model = tt.TreeThink(schema)
    model.replace(
        "robot.pos.drive",
        """robot.pos when drive    X0: robot
X0[pos + heading] - X0[dest] = (0, 0) ?
├─ yes: +(0, 1) × 30
└─ no:  +(0, 0) × 30
""",
    )
    robot = tt.Object(1, "robot", pos=(0, 4), heading=(0, 1), dest=(2, 1))
    said = " ".join(str(model.explain(tt.State(schema, [robot]), "drive", (1, "pos"))).split())
    assert "pos + heading (2, 1)" not in said
    assert "dest (0, 5)" in said


# ------------------------------------------------------------------------ which sums there are


def test_the_attribute_that_more_classes_have_is_the_place():
    assert robots().sums == {"pos + heading": Sum("pos", "heading")}
    classes = {"ball": ["speed", "spot"], "wall": ["spot"]}
    schema = tt.Schema(classes, {"speed": 2, "spot": 2}, ["wait"])
    assert schema.sums == {"spot + speed": Sum("spot", "speed")}
    assert schema.unit("spot + speed") == "spot"


def test_of_units_in_equally_many_classes_that_of_more_attributes_is_the_place():
    attributes = {"heading": 2, "pos": 2, "dest": tt.Attribute(2, like="pos")}
    schema = tt.Schema({"robot": ["heading", "pos", "dest"]}, attributes, ["wait"])
    assert [*schema.sums] == ["pos + heading", "dest + heading"]
    schema = tt.Schema({"ball": ["spot", "speed"]}, {"speed": 2, "spot": 2}, ["wait"])
    assert [*schema.sums] == ["speed + spot"]  # of equals, the first


@pytest.mark.parametrize(
    "attributes",
    [
        {"pos": 2, "heading": 3},
        {"pos": 1, "heading": 1},
        {"pos": tt.Attribute(2), "heading": tt.Category(["left", "right"])},
    ],
    ids=["different lengths", "numbers", "names"],
)
def test_only_vectors_of_one_length_are_added(attributes):
    assert not robots(**attributes).sums


def test_many_vectors_are_not_added():
    names = [f"v{i}" for i in range(5)]
    few, many = (tt.Schema({"thing": names[:n]}, dict.fromkeys(names, 2), ["wait"]) for n in (4, 5))
    assert (len(few.sums), len(many.sums)) == (6, 0)


# ------------------------------------------------------------------------------ reading and writing


def test_states_know_their_sums_and_they_follow_changes():
    schema = robots()
    state = level(schema, random.Random(0)).replace(1, pos=(3, 3), heading=(0, -1))
    assert state.value(1, "pos + heading") == (3, 2)
    assert state.replace(1, heading=(1, 0)).value(1, "pos + heading") == (4, 3)
    assert [each.id for each in state.find("robot", **{"pos + heading": (3, 2)})] == [1]
    assert "pos + heading" not in state.to_dict()["objects"][1]


def test_a_sum_is_no_value_that_can_be_given_or_predicted():
    schema = robots()
    state = level(schema, random.Random(0))
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'pos \+ heading'"):
        state.replace(1, **{"pos + heading": (0, 0)})
    prediction = tt.TreeThink(schema).predict(state, "drive")
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'pos \+ heading'"):
        prediction.outcomes(1, "pos + heading")


def test_a_sum_is_compared_only_where_both_attributes_are():
    schema = robots(heading=tt.Attribute(2, facts=["equality"]))
    text = "robot.pos when drive    X0: robot\nX0[pos + heading] - X0[pos] = (0, 0) ?"
    with pytest.raises(UnknownNameError, match=r"unknown attribute 'pos \+ heading'"):
        tt.TreeThink(schema).replace("robot.pos.drive", f"{text}\n├─ yes: +(1, 0)\n└─ no:  +(0, 0)")
    model = tt.TreeThink(schema)
    model.observe_many(play(schema, 200, seed=0))
    assert all("pos + heading" not in str(rule) for rule in model.rules.values())
    own = "robot.pos when drive    X0: robot\nX0[pos + heading] - X0[pos] = (0, 0) ?"
    with pytest.raises(RuleError, match="no facts of the kind 'difference'"):
        tt.TreeThink(robots()).replace(
            "robot.pos.drive", f"{own}\n├─ yes: +(1, 0) × 1\n└─ no:  +(0, 0) × 1"
        )


def test_where_a_sum_does_not_fit_64_bits_it_is_as_large_as_can_be():
    schema, most = robots(), 2**63 - 1
    state = tt.State(schema, [tt.Object(1, "robot", pos=(most, 0), heading=(1, -1))])
    assert state.value(1, "pos + heading") == (most, -1)


def test_states_of_a_schema_that_fits_have_the_same_sums():
    """`like` decides what a sum is compared with, and not which sums a state has."""
    model = learned()
    other = robots(heading=tt.Attribute(2, like="pos"))
    for before, action, *_ in play(model.schema, 50, seed=5):
        same = tt.State(other, [*before])
        assert model.predict(same, action).outcomes(1, "pos") == model.predict(
            before, action
        ).outcomes(1, "pos")


def test_a_sum_is_known_by_the_name_that_another_schema_gives_it():
    """Schemas that fit each other can differ in which of two attributes is the place."""
    classes = {"crate": ["pos"], "robot": ["pos", "heading"], "base": ["home"], "mast": ["home"]}
    known = {"pos": 2, "heading": 2, "home": 2}
    one = tt.Schema(classes, known, ["drive"])
    other = tt.Schema(classes, {**known, "heading": tt.Attribute(2, like="home")}, ["drive"])
    assert ([*one.sums], [*other.sums]) == (["pos + heading"], ["heading + pos"])
    robot = tt.Object(1, "robot", pos=(3, 3), heading=(0, 1))
    for schema in (one, other):
        state = tt.State(schema, [robot])
        assert state.value(1, "pos + heading") == state.value(1, "heading + pos") == (3, 4)


def test_an_unknown_sum_is_one_error_that_names_those_there_are():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'pos \+ heading'\?"):
        level(robots(), random.Random(0)).value(1, "pos+heading")


def test_a_state_error_is_about_declared_attributes_only():
    with pytest.raises(StateError, match="heading"):
        tt.State(robots(), [tt.Object(1, "robot", pos=(0, 0))])
