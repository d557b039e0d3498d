"""Tests of the baseline learners: predictions, files, and the registry."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treethink import file
from treethink.baselines import LEARNERS, Oracle, Paper, Static, make_learner
from treethink.baselines.prediction import Joint, Product
from treethink.errors import (
    ModelFileError,
    SettingError,
    StateError,
    TransitionError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
)
from treethink.metrics import error
from treethink.model import TreeThink
from treethink.repro.runner import TOLERANCE
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import WORLDS, World, make
from treethink.worlds.walls import Walls

WALLS = make("walls", width=5, height=5)
STATE = WALLS.reset(seed=0)
PLAYER = STATE.of_class("player")[0].id
OTHER = make("maze").reset(seed=0)


def train(learner: Any, world: World, steps: int = 60, seed: int = 0) -> Any:
    for transition in transitions(world, steps=steps, seed=seed):
        learner.observe(*transition)
    return learner


# -------------------------------------------------------------------- predictions


def as_product(prediction: Any) -> Product:
    """The same as the engine's prediction, in Python."""
    schema = prediction.state.schema
    keys = [
        (each.id, attribute)
        for name, attributes in schema.classes.items()
        for attribute in attributes
        for each in prediction.state.of_class(name)
    ]
    return Product(
        prediction.state,
        {
            key: {
                value: round(probability * prediction.support(*key))
                for value, probability in prediction.outcomes(*key).items()
            }
            for key in keys
            if prediction.support(*key)
        },
    )


@pytest.mark.parametrize("world", ["fish", "maze"])
def test_a_product_answers_as_the_engines_prediction(world: str) -> None:
    model = TreeThink(make(world).schema)
    stream = list(transitions(make(world), steps=300, seed=0))
    model.observe_many(stream[:150])  # so that some answers are not sure
    unsure = 0
    for before, action, after in stream[150:]:
        expected = model.predict(before, action)
        product = as_product(expected)
        assert product.state == expected.state and repr(product) == repr(expected)
        assert product.mode() == expected.mode()
        assert product.changes() == expected.changes()
        assert product.probability(after) == expected.probability(after)
        assert product.probability(before) == expected.probability(before)
        one, other = np.random.default_rng(7), np.random.default_rng(7)
        assert product.sample(one) == expected.sample(other)
        assert one.random() == other.random()
        for each in before:
            for name in each.values:
                assert product.outcomes(each.id, name) == expected.outcomes(each.id, name)
                assert product.support(each.id, name) == expected.support(each.id, name)
        unsure += expected.probability(expected.mode()) < 1
    assert unsure


def refusals(prediction: Any) -> dict[str, Any]:
    """What a prediction says to nonsense."""

    def answer_or_error(call: Any) -> Any:
        try:
            return call()
        except TreeThinkError as error:
            return type(error), str(error)

    return {
        "unknown id": answer_or_error(lambda: prediction.outcomes(999, "pos")),
        "no id": answer_or_error(lambda: prediction.outcomes("0", "pos")),
        "unknown attribute": answer_or_error(lambda: prediction.outcomes(PLAYER, "color")),
        "support of an unknown id": answer_or_error(lambda: prediction.support(999, "pos")),
        "support of an unknown attribute": answer_or_error(
            lambda: prediction.support(PLAYER, "ps")
        ),
        "no state": answer_or_error(lambda: prediction.probability(None)),
        "another schema": answer_or_error(lambda: prediction.probability(OTHER)),
        "a bool for a seed": answer_or_error(lambda: prediction.sample(True)),
        "no generator": answer_or_error(lambda: prediction.sample(-3)),
    }


@pytest.mark.parametrize(
    "prediction", [Product(STATE, {}), Joint(STATE, [(STATE, 1.0)])], ids=["product", "joint"]
)
def test_wrong_arguments_are_refused_with_the_engines_messages(prediction: Any) -> None:
    expected = refusals(TreeThink(WALLS.schema).predict(STATE, "left"))
    assert all(isinstance(each, tuple) for each in expected.values())
    assert refusals(prediction) == expected
    fewer = State(WALLS.schema, list(STATE)[1:])
    assert prediction.probability(fewer) == 0.0


def test_the_mode_is_the_smallest_of_equally_probable_values() -> None:
    prediction = Product(STATE, {(PLAYER, "pos"): {(3, 1): 2, (1, 3): 2, (9, 9): 1}})
    assert prediction.mode() == STATE.replace(PLAYER, pos=(1, 3))
    high, low = (STATE.replace(PLAYER, pos=pos) for pos in ((3, 1), (1, 3)))
    assert Joint(STATE, [(high, 0.5), (low, 0.5)]).mode() == low


class Stuck:
    """A generator that is none."""

    def random(self) -> float:
        return 1.0


def test_a_generator_that_leaves_its_range_is_refused() -> None:
    product = Product(STATE, {(PLAYER, "pos"): {(3, 1): 2, (1, 3): 2}})
    joint = Joint(STATE, [(STATE, 0.5), (STATE.replace(PLAYER, pos=(7, 7)), 0.5)])
    for prediction in (product, joint):
        with pytest.raises(WrongTypeError, match=r"from 0 up to 1, got 1\.0"):
            prediction.sample(Stuck())


def test_a_joint_prediction_keeps_attributes_together() -> None:
    schema = Schema({"coin": ["face", "won"]}, {"face": 1, "won": 1}, ["toss"])
    state = State(schema, [Object(1, "coin", face=0, won=0), Object(2, "coin", face=5, won=5)])
    won = state.replace(1, face=1, won=1)
    prediction = Joint(state, [(state, 0.25), (won, 0.75)])
    assert prediction.outcomes(1, "face") == {0: 0.25, 1: 0.75}
    assert prediction.outcomes(2, "won") == {5: 1.0}
    assert prediction.changes() == {1: {"face": {0: 0.25, 1: 0.75}, "won": {0: 0.25, 1: 0.75}}}
    assert prediction.probability(state.replace(1, face=1)) == 0.0
    assert prediction.probability(won) == 0.75
    rng = np.random.default_rng(0)
    samples = [prediction.sample(rng) for _ in range(400)]
    assert set(samples) == {state, won} and 270 < samples.count(won) < 330
    assert repr(prediction) == "<Prediction: 2 of 4 attributes may change>"


# ------------------------------------------------------------- static and oracle


@pytest.mark.parametrize("name", [name for name in WORLDS if not name.endswith("-t")])
def test_the_oracles_error_is_zero_and_that_of_static_is_not(name: str) -> None:
    world = make(name)
    oracle, static = Oracle(world), Static(world.schema)
    wrong_by = 0.0
    for before, action, after in transitions(world, steps=40, seed=1):
        truth = world.truth(before, action, after)
        assert error(oracle.predict(before, action), truth) <= TOLERANCE
        wrong_by += error(static.predict(before, action), truth)
        static.observe(before, action, after)
    assert wrong_by > 0


def test_oracles_of_built_in_worlds_can_be_saved_and_others_refuse_with_a_reason(
    tmp_path: Path,
) -> None:
    Oracle(WALLS).save(tmp_path / "oracle")
    loaded = Oracle.load(tmp_path / "oracle")
    assert loaded.world.options == WALLS.options
    assert loaded.predict(STATE, "left").mode() == Oracle(WALLS).predict(STATE, "left").mode()

    class Mine(Walls):
        pass

    with pytest.raises(SettingError, match=r"Mine\(.*\) cannot be saved with its oracle"):
        Oracle(Mine()).save(tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_an_oracle_needs_a_world_that_can_be_asked_about_any_state() -> None:
    class Here(Walls):
        pure = False

    with pytest.raises(SettingError, match=r"about any state, and Here\(.*\) stands in one"):
        Oracle(Here())
    with pytest.raises(WrongTypeError, match="an oracle needs a World"):
        Oracle("walls")  # type: ignore[arg-type]


# ----------------------------------------------------------------- all of them


def test_learners_are_listed_by_their_names() -> None:
    ours = {"treethink", "static", "oracle", "paper", "qora", "npe", "npe-star"}
    assert ours | {"memoriser", "knn", "hoeffding"} == LEARNERS.keys()
    assert all(learner.name == name for name, learner in LEARNERS.items())


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_is_made_by_its_name(name: str) -> None:
    learner: Any = make_learner(name, WALLS)
    assert type(learner) is LEARNERS[name]
    assert learner.predict(STATE, "left").state == STATE
    assert "bytes" in learner.memory_use()


def test_settings_are_passed_on_and_unknown_ones_refused() -> None:
    assert make_learner("treethink", WALLS, alpha=0.2).alpha == 0.2
    assert make_learner("paper", WALLS, alpha=0.2).alpha == 0.2
    with pytest.raises(SettingError, match=r"'treethink' has no setting 'memry'.*'memory'.*alpha"):
        make_learner("treethink", WALLS, memry=3)
    for name in ("static", "oracle"):
        with pytest.raises(SettingError, match=f"{name!r} has no setting 'alpha'. It has: none"):
            make_learner(name, WALLS, alpha=0.1)
    with pytest.raises(SettingError, match="alpha must lie strictly between 0 and 1, got 2"):
        make_learner("paper", WALLS, alpha=2)
    with pytest.raises(UnknownNameError, match=r"unknown learner 'Paper'.*Did you mean 'paper'"):
        make_learner("Paper", WALLS)
    with pytest.raises(WrongTypeError, match="by its name, got 3"):
        make_learner(3, WALLS)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="a learner needs a World"):
        make_learner("paper", WALLS.schema)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="schema must be a Schema, got 'walls'"):
        Static("walls")  # type: ignore[arg-type]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of learners."""
    (tmp_path / "own_learners.py").write_text(
        """
from treethink.baselines import Static
from treethink.baselines.base import Learner

class Mine(Static):
    name = "mine"

    def __init__(self, schema, *, depth=1):
        super().__init__(schema)
        self.depth = depth

class Half:
    def observe(self, before, action, after): ...
    def predict(self, state, action): ...

class Abstract(Learner):
    name = "abstract"

class Nameless(Learner):
    def learn(self, before, action, after): ...
    def answer(self, state, action): ...
"""
    )
    (tmp_path / "broken_learners.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_a_custom_learner_is_loaded_and_created(own: Path) -> None:
    learner = make_learner("own_learners:Mine", WALLS, depth=3)
    assert (learner.name, learner.depth, learner.schema) == ("mine", 3, WALLS.schema)
    assert repr(learner) == "<Mine: nothing changes>"


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("no_such:Mine", SettingError, "no learner at 'no_such:Mine': No module named 'no_such'"),
        ("own_learners:Yours", SettingError, "no 'Yours' in own_learners"),
        ("own_learners:", SettingError, "no learner at 'own_learners:': no ''"),
        ("../own:Mine", SettingError, "given as module:name, such as .*, got '../own:Mine'"),
        ("own_learners:__name__", WrongTypeError, "must be a class of learners, got 'own_learn"),
        ("own_learners:Half", WrongTypeError, "is no learner: it has no save, load; a learner"),
        ("own_learners:Abstract", WrongTypeError, "cannot be made: it leaves answer, learn"),
        ("own_learners:Nameless", WrongTypeError, "'own_learners:Nameless' has no name"),
        ("broken_learners:Mine", ModuleNotFoundError, "no_such_package"),  # not ours to hide
    ],
)
def test_an_invalid_custom_learner_is_refused(
    own: Path, name: str, kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=says):
        make_learner(name, WALLS)


@pytest.mark.parametrize("settings", [{"width": 1}, {"self": 1}])
def test_unknown_settings_of_a_custom_learner_are_refused(
    own: Path, settings: dict[str, Any]
) -> None:
    with pytest.raises(SettingError, match="cannot be made with a schema and the settings"):
        make_learner("own_learners:Mine", WALLS, **settings)


def test_loading_a_file_imports_nothing_that_the_file_names(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own)
    (own / "called.py").write_text("open('called', 'w')")
    header, _ = file.unpack(Static(WALLS.schema).to_bytes(), "it")
    content = file.pack({**header, "learner": "called:Learner"}, b"")
    for learner in LEARNERS.values():
        with pytest.raises(ModelFileError):
            learner.from_bytes(content)
    assert not (own / "called").exists()


def test_static_and_oracle_have_a_repr() -> None:
    assert repr(make_learner("static", WALLS)) == "<Static: nothing changes>"
    assert repr(make_learner("oracle", WALLS)) == f"<Oracle of {WALLS!r}>"


def errors_on_nonsense(learner: Any) -> list[tuple[type[Exception], str]]:
    """How a learner refuses what it cannot learn from or answer."""
    after = WALLS.step(STATE, "left", np.random.default_rng(0))
    fewer = State(WALLS.schema, list(STATE)[1:])
    calls = [
        lambda: learner.observe(None, "left", after),
        lambda: learner.observe(STATE, "left", None),
        lambda: learner.observe(OTHER, "left", after),
        lambda: learner.observe(STATE, "left", OTHER),
        lambda: learner.observe(STATE, "lfet", after),
        lambda: learner.observe(STATE, 3, after),
        lambda: learner.observe(STATE, "left", fewer),
        lambda: learner.predict(None, "left"),
        lambda: learner.predict(OTHER, "left"),
        lambda: learner.predict(STATE, "lfet"),
        lambda: learner.predict(STATE, None),
    ]
    errors: list[tuple[type[Exception], str]] = []
    for call in calls:
        with pytest.raises(TreeThinkError) as raised:
            call()
        errors.append((raised.type, str(raised.value)))
    return errors


@pytest.mark.parametrize("name", ["static", "oracle", "paper", "npe", "npe-star"])
def test_a_learner_refuses_wrong_arguments_with_the_engines_messages_and_learns_nothing(
    name: str, tmp_path: Path
) -> None:
    learner = train(make_learner(name, WALLS), WALLS, steps=5)
    content = learner.to_bytes()
    assert errors_on_nonsense(learner) == errors_on_nonsense(TreeThink(WALLS.schema))
    assert learner.to_bytes() == content


def test_values_beyond_64_bits_are_refused_and_nothing_is_learned() -> None:
    schema = Schema({"a": ["x", "y"]}, {"y": 1, "x": 1}, ["go"])

    def at(x: int) -> State:
        return State(schema, [Object(0, "a", x=x, y=0)])

    model = Paper(schema)
    with pytest.raises(TransitionError, match=r"'x' of object 0 changes from -\d+ to \d+, a diff"):
        model.observe(at(-(2**63)), "go", at(2**63 - 1))
    assert model.to_bytes() == Paper(schema).to_bytes()
    model.observe(at(0), "go", at(5))
    with pytest.raises(StateError, match="a predicted value of 'x' does not fit 64 bits"):
        model.predict(at(2**63 - 2), "go")
    assert model.predict(at(2**62), "go").outcomes(0, "x") == {2**62 + 5: 1.0}


# -------------------------------------------------------------------------- files


@pytest.mark.parametrize("writer", LEARNERS)
@pytest.mark.parametrize("reader", LEARNERS)
def test_a_file_is_read_by_the_learner_that_wrote_it(
    writer: str, reader: str, tmp_path: Path
) -> None:
    learner = train(make_learner(writer, WALLS), WALLS, steps=20)
    learner.save(tmp_path / "file")
    if writer == reader:
        loaded = LEARNERS[reader].load(tmp_path / "file")  # type: ignore[attr-defined]
        loaded.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()
    else:
        with pytest.raises(ModelFileError, match=f"written by the learner '{writer}', not by"):
            LEARNERS[reader].load(tmp_path / "file")  # type: ignore[attr-defined]


@cache
def file_of_paper() -> bytes:
    return bytes(train(Paper(WALLS.schema), WALLS, steps=30).to_bytes())


def damaged(change: Any) -> bytes:
    """A file of `Paper` with another body or header, and a checksum that is right."""
    header, body = file.unpack(file_of_paper(), "it")
    data = json.loads(body)
    change(header, data)
    return file.pack(header, json.dumps(data).encode())


@pytest.mark.parametrize(
    "change",
    [
        lambda header, data: header.pop("schema"),
        lambda header, data: header.update(settings={"alhpa": 1}),
        lambda header, data: header.update(settings={"alpha": 7}),
        lambda header, data: data.pop("rules"),
        lambda header, data: data.update(observations="many"),
        lambda header, data: data["rules"][0]["tree"]["candidates"][0].__setitem__(0, -1),
        lambda header, data: data["rules"][0].update(rule=["wall", "pos", "fly"]),
        lambda header, data: data["rules"][0]["tree"]["current"].pop(),
        lambda header, data: data["rules"][0]["tree"]["candidates"].pop(),
        lambda header, data: data["rules"][0]["tree"]["candidates"][0].append(1),
        lambda header, data: data["rules"][0]["tree"].update(baseline=[]),
        lambda header, data: data["rules"][0]["tree"]["baseline"][0][0].append(-1),
        lambda header, data: data["rules"][0]["tree"].update(counters=[[[1]], [[1]]]),
        lambda header, data: data["rules"][0].update(outputs=["up", "on"]),
        lambda header, data: data["rules"][0].update(outputs=[["a", "b"]]),
        lambda header, data: data["rules"][0].update(outputs=[[0, 0, 0]]),
        lambda header, data: data["rules"][0].update(outputs=[[0, 2**63]]),
        lambda header, data: data["rules"][0].update(outputs=[[0, 0], [0, 0]]),
        lambda header, data: data["rules"][0].update(outputs=[]),
        lambda header, data: data["rules"].append(data["rules"][0]),
        lambda header, data: data["predicates"][0].__setitem__(0, "colour"),
        lambda header, data: data["predicates"][0].__setitem__(1, ["ghost"]),
        lambda header, data: data["predicates"][0].__setitem__(1, ["wall"] * 3),
        lambda header, data: data["predicates"][0].__setitem__(2, ["a", "b"]),
        lambda header, data: data["predicates"][0].__setitem__(2, [1]),
        lambda header, data: data["predicates"].append(data["predicates"][0]),
        lambda header, data: data["rules"][0]["tree"]["baseline"][0][0].__setitem__(0, 2**62),
        lambda header, data: [
            x[0].__setitem__(0, 2**62) for x in data["rules"][0]["tree"]["baseline"]
        ],
        lambda header, data: data["rules"][0]["tree"]["baseline"][0][0].__setitem__(0, 2**70),
        lambda header, data: data["rules"][0]["tree"]["baseline"][0][0].__setitem__(0, "3"),
        lambda header, data: data["rules"][0]["tree"]["baseline"][0][0].__setitem__(0, 1.5),
        lambda header, data: data["rules"][0]["tree"]["current"].__setitem__(
            0, float(data["rules"][0]["tree"]["current"][0])
        ),
        lambda header, data: data["rules"][0]["tree"]["candidates"].__setitem__(
            1, data["rules"][0]["tree"]["candidates"][0]
        ),
    ],
)
def test_an_impossible_file_of_paper_is_refused(change: Any) -> None:
    with pytest.raises(ModelFileError, match="the data cannot be read"):
        Paper.from_bytes(damaged(change))


def test_a_file_of_paper_has_no_facts_that_the_schema_does_not_have() -> None:
    coin = Schema({"coin": ["face"]}, {"face": Attribute(1, [], outcomes="value")}, ["toss"])
    header, body = file.unpack(Paper(coin).to_bytes(), "it")
    data = json.loads(body) | {"predicates": [["face", ["coin"], [1]]]}
    with pytest.raises(ModelFileError, match="the schema has no facts about 'face'"):
        Paper.from_bytes(file.pack(header, json.dumps(data).encode()))


def test_a_static_file_with_content_is_refused() -> None:
    header, _ = file.unpack(Static(WALLS.schema).to_bytes(), "it")
    with pytest.raises(ModelFileError, match="learns nothing, and the file holds 3 bytes"):
        Static.from_bytes(file.pack(header, b"abc"))


def test_an_oracle_of_a_world_with_another_schema_is_refused() -> None:
    header, _ = file.unpack(Oracle(WALLS).to_bytes(), "it")
    header["schema"] = make("maze").schema.to_dict()
    with pytest.raises(ModelFileError, match="'walls' has another schema by now"):
        Oracle.from_bytes(file.pack(header, b""))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"world": "os:system", "options": {"command": "touch called"}}, "names the world 'os:s"),
        ({"world": "called:made", "options": {}}, "names the world 'called:made'"),
        ({"world": "walls(3)", "options": {}}, "names the world"),
        ({"world": ["walls"], "options": {}}, "names the world"),
        ({"world": "walls", "options": {"width": "5"}}, "options of a world must be whole numbers"),
        ({"world": "walls", "options": {"width": True}}, "must be whole numbers"),
        ({"world": "walls", "options": [["width", 5]]}, "must be whole numbers"),
        ({"world": "walls", "options": {"self": 5}}, "unknown option 'self'"),
        ({"world": "walls"}, "cannot be read"),
    ],
)
def test_loading_an_oracle_creates_only_built_in_worlds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "called.py").write_text("open('called', 'w')")
    header, _ = file.unpack(Oracle(WALLS).to_bytes(), "it")
    header["settings"] = settings
    with pytest.raises(ModelFileError, match=says):
        Oracle.from_bytes(file.pack(header, b""))
    assert not (tmp_path / "called").exists()


def test_paper_predicts_random_outcomes_as_a_distribution() -> None:
    coin = Schema({"coin": ["face"]}, {"face": Attribute(1, [], outcomes="value")}, ["toss"])
    faces = [State(coin, [Object(0, "coin", face=face)]) for face in (0, 1)]
    model = Paper(coin)
    for after in (0, 1, 1, 0, 1):
        model.observe(faces[0], "toss", faces[after])
    prediction = model.predict(faces[0], "toss")
    assert prediction.outcomes(0, "face") == {0: 0.4, 1: 0.6}
    assert prediction.support(0, "face") == 5
    assert math.isclose(prediction.probability(faces[1]), 0.6)
