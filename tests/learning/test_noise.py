"""Outcomes and values that never come again: cost is bounded, and noise is named."""

from __future__ import annotations

import copy
import random
import warnings
from itertools import islice, pairwise

import pytest

import treethink as tt
from endless import STREAMS, growing_score, sensor
from treethink import file

ignore_noise = pytest.mark.filterwarnings("ignore::treethink.errors.NoiseWarning")


def learned(name: str, steps: int, **settings: object) -> tt.TreeThink:
    stream = STREAMS[name](random.Random(0))
    first = next(stream)
    model = tt.TreeThink(first[0].schema, **settings)
    model.observe_many(islice(stream, steps))
    return model


@ignore_noise
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_memory_stays_small_where_nothing_comes_again(name):
    """Two thousand observations of the clock took 60 MiB when every outcome had its counters."""
    few, many = (learned(name, steps).memory_use()["bytes"] for steps in (10_000, 40_000))
    assert few < 8 * 2**20
    assert many < 8 * 2**20


def test_a_rule_with_many_nodes_and_outcomes_stays_small():
    """It took 194 MiB when each node could have a million counters, and 626 MiB at 5,000 steps."""
    stream = growing_score(random.Random(0))
    model = tt.TreeThink(next(stream)[0].schema)
    model.observe_many(islice(stream, 3_000))
    assert model.memory_use()["nodes"] > 100
    assert model.memory_use()["bytes"] < 64 * 2**20


def test_a_rule_that_looks_like_noise_warns_once():
    with pytest.warns(tt.NoiseWarning, match="looks like noise: it has had 50 different") as seen:
        learned("clock", 500, max_outcomes=50)
    assert [str(each.message).split(" looks")[0] for each in seen] == ["clock.t when tick"]


def test_a_warning_that_is_an_error_loses_no_observation():
    with warnings.catch_warnings():
        warnings.simplefilter("error", tt.NoiseWarning)
        stream = STREAMS["clock"](random.Random(0))
        model = tt.TreeThink(next(stream)[0].schema, max_outcomes=50)
        with pytest.raises(tt.NoiseWarning):
            model.observe_many(islice(stream, 200))
        consumed = model.observations
        model.observe_many(islice(stream, 100))
    assert consumed <= 200
    assert model.observations == consumed + 100


def test_the_change_callback_gets_noise_as_an_event():
    events: list[tt.Change] = []
    stream = STREAMS["clock"](random.Random(0))
    model = tt.TreeThink(next(stream)[0].schema, max_outcomes=3)
    model.on_change = events.append
    with pytest.warns(tt.NoiseWarning):
        model.observe_many(islice(stream, 20))
    noise = [each for each in events if each.kind == "noise"]
    assert [(each.rule, each.path, each.test) for each in noise] == [
        (("clock", "t", "tick"), "", None)
    ]
    assert noise[0].observation == 4


@ignore_noise
def test_when_noise_comes_is_still_learned():
    model = learned("sensor", 6_000)
    rule = model.rules["sensor", "x", "read"]
    assert rule.others > 0
    assert {str(each.test) for each in rule.root.walk() if each.test} >= {"X0[on] = 0"}
    stream = sensor(random.Random(1))
    off = next(before for before, _, _ in stream if before[1].on == 0)
    assert model.predict(off, "read").outcomes(1, "x") == {0: 1.0}
    on = off.replace(1, on=1, x=7)
    prediction = model.predict(on, "read")  # nothing is known: it stays, without support
    assert (prediction.outcomes(1, "x"), prediction.support(1, "x")) == ({7: 1.0}, 0)
    assert "not told apart: nothing is predicted" in str(model.explain(on, "read", (1, "x")))


@ignore_noise
def test_summary_rules_and_english_say_what_looks_like_noise():
    model = learned("sensor", 6_000)
    summary = model.summary()
    assert {each.rule[1] for each in summary.noise} == {"x"}
    assert "Looks like noise: sensor.x when" in " ".join(str(summary).split())
    assert [each["attribute"] for each in summary.to_dict()["noise"]] == ["x", "x"]
    rule = model.rules["sensor", "x", "read"]
    outcomes = {**rule.root.counts, **rule.seen}
    assert all(outcome is tt.STAYS or isinstance(outcome, int) for outcome in outcomes)
    assert "other outcomes × " in str(rule)
    assert rule.noise in rule.to_text("english")
    assert summary.rules["sensor", "x", "read"].observations == rule.transitions


@ignore_noise
def test_outcomes_that_came_more_than_once_are_still_told_apart():
    schema = tt.Schema({"die": ["n"]}, {"n": tt.Attribute(1, outcomes="value")}, ["roll"])
    rng = random.Random(0)
    model = tt.TreeThink(schema, max_outcomes=20)
    state = tt.State(schema, [tt.Object(1, "die", n=0)])
    for _ in range(300):
        after = state.replace(1, n=rng.choice([1, 2, rng.randrange(10, 10**6)]))
        model.observe(state, "roll", after)
    rule = model.rules["die", "n", "roll"]
    assert {1, 2} <= set(rule.seen) and len(rule.seen) < 20
    assert sum(rule.seen.values()) + rule.others == 300


@ignore_noise
@pytest.mark.parametrize("name", sorted(STREAMS))
def test_a_noisy_model_goes_on_from_a_file_as_if_it_had_not_been_saved(name):
    stream = STREAMS[name](random.Random(0))
    model = tt.TreeThink(next(stream)[0].schema, max_outcomes=30, max_candidates=100)
    for _ in range(4):
        model.observe_many(islice(stream, 97))
        loaded = tt.TreeThink.from_bytes(model.to_bytes())
        items = list(islice(stream, 50))
        model.observe_many(items)
        loaded.observe_many(items)
        assert loaded.to_bytes() == model.to_bytes()


@ignore_noise
def test_a_file_whose_only_outcomes_are_others_is_refused():
    model = learned("clock", 50, max_outcomes=3)
    header, body = file.unpack(model.to_bytes(memory=False), "it")
    # transitions of the model, of the rule; outcomes: one, with its value and times seen
    assert body[2] == 1
    damaged = body[:2] + bytes([0]) + body[2 + 1 + 1 + 1 :]
    with pytest.raises(tt.ModelFileError):
        tt.TreeThink.from_bytes(file.pack(header, damaged))


@ignore_noise
def test_a_tree_by_itself_stops_telling_outcomes_apart():
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["go"])
    tree = tt.FOLDT(["lamp"], max_outcomes=10)
    on, off = (tt.State(schema, [tt.Object(1, "lamp", on=value)]) for value in (1, 0))
    for i in range(200):
        tree.observe(tt.Facts(on), [1], f"noise {i}")
        tree.observe(tt.Facts(off), [1], "dark")
    assert tree.predict(tt.Facts(off), [1]) == {"dark": 1.0}
    assert tree.rule.others > 100
    assert len(tree._outcomes) <= 10


def test_a_tree_by_itself_warns_once_also_after_it_was_copied():
    schema = tt.Schema({"la\x1bmp": ["on"]}, {"on": 1}, ["go"])
    tree = tt.FOLDT(["la\x1bmp"], max_outcomes=3)
    facts = tt.Facts(tt.State(schema, [tt.Object(1, "la\x1bmp", on=0)]))
    with pytest.warns(tt.NoiseWarning) as seen:
        for i in range(5):
            tree.observe(facts, [1], i)
        copy.deepcopy(tree).observe(facts, [1], "new")
    assert [str(each.message) for each in seen] == [
        r"the tree of la\x1bmp looks like noise: it has had 3 different outcomes, and new ones are"
        " no longer told apart (max_outcomes)"
    ]
    assert seen[0].filename == __file__


def test_a_warning_that_is_an_error_loses_no_outcome_of_a_tree():
    schema = tt.Schema({"lamp": ["on"]}, {"on": 1}, ["go"])
    tree = tt.FOLDT(["lamp"], max_outcomes=1)
    facts = tt.Facts(tt.State(schema, [tt.Object(1, "lamp", on=0)]))
    tree.observe(facts, [1], "known")
    with warnings.catch_warnings():
        warnings.simplefilter("error", tt.NoiseWarning)
        with pytest.raises(tt.NoiseWarning):
            tree.observe(facts, [1], "new")
        tree.observe(facts, [1], "newer")
    assert (tree.rule.seen, tree.rule.others) == ({"known": 1}, 2)


@ignore_noise
def test_outcomes_that_are_not_told_apart_cannot_be_written_by_hand():
    model = learned("sensor", 2_000, max_outcomes=16)
    rule = model.rules["sensor.x.read"]
    with pytest.raises(tt.RuleError, match="line 4 of the rule speaks of other outcomes"):
        model.replace("sensor.x.read", str(rule))
    model.replace("sensor.x.read", str(rule).replace("other outcomes", "= 7"))
    assert "= 7" in str(model.rules["sensor.x.read"])


@ignore_noise
def test_exported_rules_answer_like_the_engine(tmp_path):
    model = learned("sensor", 4_000, max_outcomes=30)
    model.to_python(tmp_path / "sensor.py")
    names: dict[str, object] = {}
    exec((tmp_path / "sensor.py").read_text(), names)
    predict = names["predict"]
    assert callable(predict)
    for before, action, _ in islice(sensor(random.Random(5)), 200):
        said = predict(before.to_dict(), action)
        expected = model.predict(before, action)
        for attribute in ("on", "x"):
            assert said[1][attribute] == pytest.approx(expected.outcomes(1, attribute))


@ignore_noise
def test_english_and_explanations_say_where_outcomes_are_not_told_apart():
    model = learned("sensor", 4_000, max_outcomes=30)
    rule = model.rules["sensor", "x", "read"]
    text = rule.to_text("english")
    assert "its `x` has outcomes that are not told apart" in text
    assert "never seen" not in text
    on = next(before for before, _, _ in sensor(random.Random(1)) if before[1].on == 1)
    reason = str(model.explain(on, "read", of=(1, "x")))
    assert "with outcomes that are not told apart" in " ".join(reason.split())
    assert "never observed" not in reason


@ignore_noise
def test_english_does_not_call_an_outcome_certain_if_others_came_too():
    schema = tt.Schema({"die": ["n"]}, {"n": tt.Attribute(1, outcomes="value")}, ["roll"])
    model = tt.TreeThink(schema, max_outcomes=5)
    state = tt.State(schema, [tt.Object(1, "die", n=0)])
    for i in range(100):
        model.observe(state, "roll", state.replace(1, n=6 if i % 2 else 10 + i))
    text = model.rules["die", "n", "roll"].to_text("english")
    assert "becomes 6 in 50% of cases and has outcomes that are not told apart in 50%" in text


def test_a_warning_of_noise_never_sends_escapes_to_a_terminal():
    name = "clock\x1b[31m\0"
    schema = tt.Schema({name: ["t"]}, {"t": tt.Attribute(1, outcomes="value")}, ["tick"])
    model = tt.TreeThink(schema, max_outcomes=2)
    states = [tt.State(schema, [tt.Object(1, name, t=t)]) for t in range(5)]
    with pytest.warns(tt.NoiseWarning) as seen:
        for before, after in pairwise(states):
            model.observe(before, "tick", after)
    for text in (str(seen[0].message), model.rules[name, "t", "tick"].noise):
        assert text.startswith(r"clock\x1b[31m\x00.t when tick looks like noise")
