"""Frames that models learn: which one tells a rule, when it changes, and what it then predicts."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import treethink as tt
from exporting import answers_of, loaded, proven
from framed_worlds import WORLDS, learned, stream, teleport
from handmade import integer, number
from small_prolog import Program
from treethink import file
from treethink.errors import ModelFileError, RuleError, StateError
from treethink.export import prolog
from treethink.export import python as code
from treethink.frames import CHANGE, JUMPS, STAYS, VALUE, Frame

FRAMED = [name for name in WORLDS if name != "steps"]
LARGEST = 2**63 - 1


def rule_of(model: tt.TreeThink, world: str) -> Any:
    _, class_name, attribute, _ = WORLDS[world]
    return model.rules[class_name, attribute, "go"]


def frame_events(model: tt.TreeThink) -> list[str]:
    """Collect the rules that change their frame from now on."""
    events: list[str] = []
    model.on_change = lambda event: (
        events.append(".".join(event.rule)) if event.kind == "frame" else None
    )
    return events


# ---------------------------------------------------------------------------- which frame


@pytest.mark.parametrize("world", WORLDS)
def test_each_world_is_told_in_its_frame_and_then_foreseen_everywhere(world: str):
    _, class_name, attribute, frame = WORLDS[world]
    model = learned(world)
    assert rule_of(model, world).frame == frame
    for before, action, after in stream(world, 50, seed=1):
        prediction = model.predict(before, action)
        for each in before.of_class(class_name):
            assert prediction.outcomes(each.id, attribute) == {after.value(each.id, attribute): 1.0}
            assert prediction.support(each.id, attribute) > 0


@pytest.mark.parametrize("criterion", ["evidence", "proven"])
@pytest.mark.parametrize("world", FRAMED)
def test_a_frame_is_found_within_a_hundred_transitions(world: str, criterion: str):
    transitions = stream(world, 100)
    model = tt.TreeThink(transitions[0][0].schema, criterion=criterion)
    model.observe_many(transitions)
    assert rule_of(model, world).frame == WORLDS[world][3]


def test_a_rule_that_is_told_as_briefly_by_changes_keeps_them():
    model = tt.TreeThink(stream("steps", 1)[0][0].schema)
    events = frame_events(model)
    model.observe_many(stream("steps", 500))
    assert events == []


@pytest.mark.parametrize("world", ["warp", "caught"])
def test_a_step_that_leads_to_the_source_is_no_jump(world: str):
    """Each leaf has one outcome, although some steps and jumps can be told both ways."""
    rule = rule_of(learned(world), world)
    (leaf, other) = (each.counts for each in rule.root.walk() if each.is_leaf)
    assert len(leaf) == len(other) == 1
    assert {*leaf, *other} == {JUMPS, (1, 0) if world == "warp" else (0, 1)}


@pytest.mark.parametrize("exits", [[], [(5, 5), (7, 7)]])
def test_steps_are_known_where_nothing_can_be_jumped_to(exits: list[tuple[int, int]]):
    steps = learned("warp").predict(crossing(exits, on=False), "go")
    jumps = learned("warp").predict(crossing(exits), "go")
    assert steps.outcomes(0, "pos") == {(2, 1): 1.0}
    assert steps.support(0, "pos") > 100
    assert jumps.outcomes(0, "pos") == {(1, 1): 1.0}
    assert jumps.support(0, "pos") == 0


def test_a_portal_is_learned_that_is_entered_by_a_step():
    world = tt.make("portal", stepping=1)
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, steps=2_000, seed=0))
    for move in ("left", "right", "up", "down"):
        rule = model.rules["player", "pos", move]
        assert rule.frame == Frame("jump", of="exit", attribute="pos")
        assert [
            [*each.counts] for each in rule.root.walk() if each.is_leaf and JUMPS in each.counts
        ] == [[JUMPS]]
    for scene in world.scenes():
        ((after, _),) = scene.truth
        assert model.predict(scene.before, scene.action).probability(after) == 1.0, scene.says


def test_names_that_stay_are_no_new_value():
    assert rule_of(learned("mood"), "mood").seen.keys() == {STAYS, "angry"}


def test_names_that_are_always_set_have_one_outcome():
    """With `stays` there would be two, and a test to tell when the name was set already."""
    schema = tt.Schema({"cat": ["mood"]}, {"mood": tt.Category(["calm", "angry"])}, ["go"])
    model, rng = tt.TreeThink(schema), random.Random(0)
    for _ in range(200):
        before = tt.State(schema, [tt.Object(0, "cat", mood=rng.choice(["calm", "angry"]))])
        model.observe(before, "go", before.replace(0, mood="calm"))
    assert set(model.rules["cat", "mood", "go"].seen) == {"calm"}
    assert not model.rules.varying()


@pytest.mark.parametrize("world", FRAMED)
@pytest.mark.parametrize(
    "settings",
    [{"memory": 0}, {"criterion": "wilson"}, "paper"],
    ids=["forgetful", "wilson", "paper"],
)
def test_without_memory_or_evidence_outcomes_are_what_they_were(world: str, settings: Any):
    transitions = stream(world, 150)
    schema = transitions[0][0].schema
    model = tt.TreeThink.paper(schema) if settings == "paper" else tt.TreeThink(schema, **settings)
    events = frame_events(model)
    model.observe_many(transitions)
    rule = rule_of(model, world)
    symbolic = schema.attributes[WORLDS[world][2]].is_symbolic
    assert events == []
    assert rule.frame == (VALUE if symbolic else CHANGE)
    assert STAYS not in rule.seen


@pytest.mark.parametrize("outcomes", ["change", "value"])
@pytest.mark.parametrize("world", ["heading", "teleport", "carried"])
def test_the_form_of_outcomes_can_be_fixed(world: str, outcomes: str):
    transitions = stream(world, 150)
    old = transitions[0][0].schema
    fixed = {**old.attributes, "pos": tt.Attribute(2, outcomes=outcomes)}
    schema = tt.Schema(old.classes, fixed, old.actions)

    def as_fixed(state: tt.State) -> tt.State:
        return tt.State(schema, list(state))

    model = tt.TreeThink(schema)
    model.observe_many([(as_fixed(b), action, as_fixed(a)) for b, action, a in transitions])
    assert rule_of(model, world).frame == (CHANGE if outcomes == "change" else VALUE)


def test_an_attribute_without_facts_keeps_its_changes():
    """A score grows for reasons of its own; nobody refers to it, and it refers to nobody."""
    attributes = {"score": tt.Score(), "size": tt.Number()}
    schema = tt.Schema({"game": ["score", "size"]}, attributes, ["go"])
    model, rng = tt.TreeThink(schema), random.Random(0)
    for _ in range(200):
        before = tt.State(schema, [tt.Object(0, "game", score=0, size=rng.randrange(9))])
        model.observe(before, "go", before.replace(0, score=before[0].size))
    assert model.rules["game", "score", "go"].frame == CHANGE


def test_pure_noise_does_not_change_frames_again_and_again():
    attributes = {name: tt.Number() for name in ("x", "y", "z")} | {
        "mood": tt.Category(["a", "b", "c"])
    }
    schema = tt.Schema({"box": [*attributes], "lid": ["x", "mood"]}, attributes, ["go"])
    model, rng = tt.TreeThink(schema), random.Random(0)
    events = frame_events(model)

    def thing(number: int, class_name: str) -> tt.Object:
        some = {name: rng.randrange(4) for name in schema.classes[class_name]}
        return tt.Object(number, class_name, **(some | {"mood": rng.choice(["a", "b", "c"])}))

    def box() -> tt.State:
        return tt.State(schema, [thing(0, "box"), thing(1, "lid")])

    first = 0
    for step in range(3000):
        model.observe(box(), "go", box())
        first = len(events) if step == 500 else first
    assert len(events) <= 12  # for six rules: at the beginning there is little to go by
    assert len(events) == first


# ------------------------------------------------------------- frames that cannot tell


def crossing(exits: list[tuple[int, int]], on: bool = True) -> tt.State:
    schema = next(teleport(random.Random(0)))[0].schema
    others = [tt.Object(i, "exit", pos=at) for i, at in enumerate(exits, 1)]
    return tt.State(schema, [tt.Object(0, "player", pos=(1, 1), on=on), *others])


@pytest.mark.parametrize("exits", [[], [(5, 5), (7, 7)]])
def test_without_exactly_one_source_nothing_is_known(exits: list[tuple[int, int]]):
    before = crossing(exits)
    prediction = learned("teleport").predict(before, "go")
    assert prediction.outcomes(0, "pos") == {(1, 1): 1.0}
    assert prediction.support(0, "pos") == 0
    assert prediction.mode() == before
    assert prediction.probability(before) == 1.0


@pytest.mark.parametrize("exits", [[], [(5, 5), (7, 7)]])
def test_what_surely_stays_is_known_without_a_source(exits: list[tuple[int, int]]):
    prediction = learned("teleport").predict(crossing(exits, on=False), "go")
    assert prediction.outcomes(0, "pos") == {(1, 1): 1.0}
    assert prediction.support(0, "pos") > 100


@pytest.mark.parametrize("exits", [[], [(5, 5), (7, 7)]])
def test_a_rule_that_cannot_tell_a_transition_begins_again_from_what_is_kept(
    exits: list[tuple[int, int]],
):
    model = copy.copy(learned("teleport"))
    events = frame_events(model)
    before = crossing(exits)
    model.observe(before, "go", before)
    assert events == []  # a value that stays needs no reference
    model.observe(before, "go", before.replace(0, pos=(9, 9)))
    rule = rule_of(model, "teleport")
    assert events == ["player.pos.go"]
    assert rule.frame == CHANGE
    assert rule.transitions == 302
    assert rule.seen[8, 8] >= 1


def test_a_frame_that_was_lost_is_chosen_again_once_the_exception_is_forgotten():
    before = crossing([])
    transitions = [*stream("teleport", 50), (before, "go", before.replace(0, pos=(9, 9)))]
    model = tt.TreeThink(before.schema, memory=150)
    events = frame_events(model)
    model.observe_many([*transitions, *stream("teleport", 400, seed=1)])
    assert events == ["player.pos.go"] * 3
    assert rule_of(model, "teleport").frame == WORLDS["teleport"][3]


def test_a_sum_beyond_64_bits_is_no_reference():
    model = copy.copy(learned("heading"))
    car = tt.Object(0, "car", pos=(LARGEST, 0), heading=(1, 0))
    before = tt.State(model.schema, [car])
    with pytest.raises(StateError, match="predicted value of 'pos' does not fit 64 bits"):
        model.predict(before, "go")
    model.observe(before, "go", before.replace(0, pos=(LARGEST, 1)))
    assert rule_of(model, "heading").frame == CHANGE


def test_rules_that_people_have_changed_keep_their_frame():
    model = copy.copy(learned("teleport"))
    model.pin(("player", "pos", "go"))
    before = crossing([])
    model.observe(before, "go", before.replace(0, pos=(9, 9)))
    rule = rule_of(model, "teleport")
    assert rule.frame == WORLDS["teleport"][3]
    assert rule.transitions == 300


# ------------------------------------------------------------------------------ files


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [5, 12, 30, 100])
def test_save_load_and_continue_equals_continue(world: str, n: int):
    transitions = stream(world, 150)
    model = tt.TreeThink(transitions[0][0].schema)
    model.observe_many(transitions[:n])
    again = tt.TreeThink.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    for each in (model, again):
        each.observe_many(transitions[n:])
    assert again.to_bytes() == model.to_bytes()
    assert rule_of(again, world).frame == rule_of(model, world).frame


@pytest.mark.parametrize("world", FRAMED)
def test_a_model_saved_without_its_memory_keeps_its_frames(world: str):
    model = learned(world)
    again = tt.TreeThink.from_bytes(model.to_bytes(memory=False))
    assert again.kept() == []
    assert rule_of(again, world).frame == WORLDS[world][3]
    assert str(rule_of(again, world)) == str(rule_of(model, world))
    again.observe_many(stream(world, 100, seed=2))


SMALL = tt.Schema({"car": ["x", "y"]}, {"x": 1, "y": 1}, ["go"])


def small_file(
    frame: bytes = b"", stays: bytes = b"", memory: int = 10, **attributes: Any
) -> bytes:
    """The file of a model that has seen x stay what it is once, and whose rule has that frame."""
    schema = tt.Schema({"car": ["x", "y"]}, {"x": 1, "y": 1, **attributes}, ["go"])
    model = tt.TreeThink(schema, memory=memory)
    header, _ = file.unpack(model.to_bytes(), "it")
    flags = number(4 * bool(frame) + 8 * bool(stays))
    outcomes = number(0) if stays else number(1) + integer(0) + number(1)
    rule = number(1) + outcomes + flags + frame + stays
    empty = number(0) * 3
    waiting_and_kept = number(0) * 2 if memory else b""
    return file.pack(header, number(1) + rule + empty + waiting_and_kept)


VALUE_WITH_STAYS, OWN_Y, JUMP_TO_Y = number(2), number(4) + number(1), number(13) + number(1)
STAYED = number(0) + number(1)


def test_small_files_that_can_be_are_loaded():
    for content in (
        small_file(),
        small_file(OWN_Y),
        small_file(VALUE_WITH_STAYS, STAYED),
        small_file(JUMP_TO_Y),
        small_file(JUMP_TO_Y, STAYED),
    ):
        assert tt.TreeThink.from_bytes(content).to_bytes() == content
    assert tt.TreeThink.from_bytes(small_file(OWN_Y)).rules["car", "x", "go"].frame == Frame(
        "own", attribute="y"
    )


@pytest.mark.parametrize(
    "frame",
    [
        number(1),  # the one that is not written
        number(3),  # changes with `stays`
        number(4) + number(0),  # itself
        number(4) + number(2),  # no such attribute
        number(4) + number(2**32 + 1),
        number(8),  # jumps to nothing
        number(9),
        number(12) + number(1),  # jumps without changes
        number(13) + number(0),
        number(15) + number(1),
        number(16),
        number(2**40),
    ],
)
def test_frames_that_cannot_be_are_refused(frame: bytes):
    with pytest.raises(
        ModelFileError, match=r"in a frame that is not possible|at most \d+ is possible"
    ):
        tt.TreeThink.from_bytes(small_file(frame))


@pytest.mark.parametrize(
    ("settings", "frame"),
    [
        ({"x": tt.Attribute(1, outcomes="change")}, OWN_Y),
        ({"x": tt.Attribute(1, outcomes="value")}, OWN_Y),
        ({"y": tt.Attribute(2)}, OWN_Y),
        ({"y": tt.Attribute(1, facts=())}, OWN_Y),
        ({"y": tt.Flag()}, OWN_Y),
        ({"memory": 0}, OWN_Y),
        ({"memory": 0}, JUMP_TO_Y),
        ({"x": tt.Attribute(1, outcomes="change")}, JUMP_TO_Y),
        ({"memory": 0}, VALUE_WITH_STAYS),
    ],
)
def test_frames_that_the_schema_or_the_settings_do_not_allow_are_refused(
    settings: Any, frame: bytes
):
    with pytest.raises(ModelFileError, match="in a frame that is not possible for its attribute"):
        tt.TreeThink.from_bytes(small_file(frame, **settings))


def test_a_file_whose_changes_have_stays_is_refused():
    with pytest.raises(ModelFileError, match="an outcome that it cannot have"):
        tt.TreeThink.from_bytes(small_file(stays=STAYED))


# ------------------------------------------------------- read, exported, explained, edited


def odd_states(world: str) -> list[tt.State]:
    """States of the world, some without an object that others have, or with two of it."""
    states = [before for before, _, _ in stream(world, 12, seed=3)]
    crowds = []
    for state in states[:4]:
        *some, last = state
        crowds.append(tt.State(state.schema, some or [last]))
        twin = tt.Object(99, last.class_name, **last.values)
        crowds.append(tt.State(state.schema, [*state, twin]))
    return [*states, *crowds]


@pytest.mark.parametrize("world", WORLDS)
def test_exported_programs_answer_as_the_model_does(world: str):
    model = learned(world)
    module = loaded(code.module_text(model))
    program = Program(prolog.text_of(model))
    for state in odd_states(world):
        answers = answers_of(model, state, "go")
        assert module["predict"](state.to_dict(), "go") == answers
        assert proven(program, state, "go") == answers


@pytest.mark.parametrize("world", WORLDS)
def test_the_text_of_a_learned_rule_is_read_back(world: str):
    model = copy.copy(learned(world))
    rule = rule_of(model, world)
    before = [answers_of(model, state, "go") for state in odd_states(world)]
    model.replace(rule.key, str(rule), pin=False)
    model.replace(rule.key, rule.root)
    assert [answers_of(model, state, "go") for state in odd_states(world)] == before


@pytest.mark.parametrize("world", WORLDS)
def test_a_simplified_model_answers_the_same(world: str):
    model = learned(world)
    smaller = model.simplify()
    assert rule_of(smaller, world).frame == rule_of(model, world).frame
    for state in odd_states(world):
        assert answers_of(smaller, state, "go") == answers_of(model, state, "go")


@pytest.mark.parametrize("world", WORLDS)
def test_a_learned_rule_is_explained_and_drawn(world: str):
    _, class_name, attribute, _ = WORLDS[world]
    model = learned(world)
    rule = rule_of(model, world)
    before = stream(world, 1, seed=4)[0][0]
    (each, *_) = before.of_class(class_name)
    text = str(model.explain(before, "go", of=(each.id, attribute)))
    assert attribute in text
    words = [word for word in ("exit", "agent", "host", "heading", "called") if word in str(rule)]
    for form in (rule.to_svg(), rule.to_dot(), rule.to_mermaid(), rule.to_text("english")):
        for word in words:
            assert word in form


@pytest.mark.parametrize(
    ("world", "leaf", "message"),
    [
        ("same_drink", "= host[drink] + 1", "can be .* or stay what it is"),
        ("same_drink", {3: 1}, "can be .* or stay what it is"),
        ("teleport", "= 5", "line 1 of the rule"),
        ("teleport", {JUMPS: 1}, "must be a whole number or a tuple of them, got jumps"),
        ("warp", "= (5, 5)", "is a new value, but this rule predicts changes"),
        ("warp", "= exit[pos] + 1", "line 1 of the rule"),
    ],
)
def test_outcomes_that_a_frame_cannot_tell_are_refused(world: str, leaf: Any, message: str):
    model = copy.copy(learned(world))
    with pytest.raises(RuleError, match=message):
        model.replace(rule_of(model, world).key, leaf)


def test_stays_is_the_change_zero_where_outcomes_are_changes():
    model = copy.copy(learned("steps"))
    model.replace(("walker", "pos", "go"), {STAYS: 3, (1, 0): 1})
    assert rule_of(model, "steps").root.counts == {(0, 0): 3, (1, 0): 1}
