"""Guessed schemas, and the schema files in which people correct them."""

from __future__ import annotations

import random
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from golden import check_golden
from log_files import ATTRIBUTES
from treethink.logs.schema_file import schema_text

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"


def guess(**columns: list[Any]) -> tt.LogSchema:
    """Return the guess for the columns of one object, with an action."""
    rows = len(next(iter(columns.values())))
    named = {f"lift.{name.replace('__', '.')}": cells for name, cells in columns.items()}
    return tt.read_frame({"action": ["go"] * (rows - 1) + [""], **named}).log_schema


# --------------------------------------------------------------------------- guesses


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 2, -3], tt.Number()),
        (["1", "2.0", "+3"], tt.Number()),
        ([0, 1, 1], tt.Number()),
        ([1.0, 2.0, 2.0], tt.Number()),
        ([True, False, True], tt.Flag()),
        (["yes", "No", "no"], tt.Flag()),
        (["True", "false", "true"], tt.Flag()),
        (["cola", "water", "cola"], tt.Category(["cola", "water"])),
        (["1", "none", "2"], tt.Category(["1", "none", "2"])),
        (["(1, 2)", "[3,4]", "[5 6]"], tt.Position(2)),
        ([(1, 2), [3, 4], (5, 6)], tt.Position(2)),
        ([(1, 2, 3)] * 2, tt.Position(3)),
        ([(1, 2, 3, 4, 5)] * 2, tt.Attribute(5)),
        ([(1,), (2,)], tt.Number()),
    ],
)
def test_kinds(cells: list[Any], expected: tt.Attribute) -> None:
    assert guess(it=cells).schema.attributes["it"] == expected


def test_decimals_are_multiplied() -> None:
    log = tt.read_frame({"action": ["a", ""], "it.price": ["1.50", "0.25"], "it.temp": [20.5, 21]})
    assert log.log_schema.scales == {"price": 100, "temp": 10}
    assert log[0].before[0].values == {"price": 150, "temp": 205}
    assert any("price: a number, from 0.25 to 1.50" in note for note in log.notes)
    assert "multiplied by 100 when read" in " ".join(log.notes)


@pytest.mark.parametrize(
    ("names", "attribute"),
    [
        (("x", "y"), "pos"),
        (("X", "Y"), "pos"),
        (("col", "row"), "pos"),
        (("row", "col"), "pos"),
        (("pos_x", "pos_y"), "pos"),
        (("dest.x", "dest.y", "dest.z"), "dest"),
        (("at[0]", "at[1]"), "at"),
        (("at.0", "at.1"), "at"),
    ],
)
def test_pairs_of_columns_are_positions(names: tuple[str, ...], attribute: str) -> None:
    columns = {f"lift.{name}": [k, k + 1] for k, name in enumerate(names)}
    log = tt.read_frame({"action": ["go", ""], **columns})
    assert log.schema.attributes[attribute] == tt.Position(len(names))
    value = log[0].before[0].values[attribute]
    assert value == ((1, 0) if names == ("row", "col") else tuple(range(len(names))))


def test_columns_that_are_no_pair() -> None:
    assert set(guess(x=[1, 2], z=[1, 2]).schema.attributes) == {"x", "z"}
    assert set(guess(x=[1, 2], y=["a", "b"]).schema.attributes) == {"x", "y"}
    assert set(guess(max=[1, 2], may=[1, 2]).schema.attributes) == {"max", "may"}


def test_objects_with_numbers_share_a_class() -> None:
    columns = {
        "door1.open": [1, 0],
        "door2.open": [0, 0],
        "lamp_1.on": [1, 1],
        "lamp_2.off": [1, 1],
    }
    found = tt.read_frame({"action": ["a", ""], **columns}).log_schema
    assert found.objects == {
        "door1": "door", "door2": "door", "lamp_1": "lamp_1", "lamp_2": "lamp_2",
    }  # fmt: skip


def test_columns_that_say_nothing_are_ignored() -> None:
    found = guess(n=[1, 2], empty=["", ""])
    assert found.ignored == ("lift.empty",) and "empty: ignored" in " ".join(found.notes)
    texts = [f"note {k}" for k in range(300)]
    assert guess(n=[1] * 300, note=texts).ignored == ("lift.note",)
    columns = {"step": [0, 1], "time": ["9:00", "9:01"], "action": ["a", ""], "b.c": [1, 2]}
    assert tt.read_frame(columns).log_schema.ignored == ("time",)
    columns = {"action": ["a", ""], "b.c": [1, 2], "Truncated": [False, True]}
    assert tt.read_frame(columns).log_schema.ignored == ("Truncated",)


def test_names_that_no_attribute_can_have() -> None:
    columns = {"a.Door open": [1, 2], "a.class": [1, 2], "a.2nd": [1, 2], "a.id": [3, 3]}
    log = tt.read_frame({"action": ["go", ""], **columns})
    assert [*log.schema.attributes] == ["Door_open", "class_", "_2nd", "id_"]


def test_suggestions_need_values_in_common() -> None:
    floors, dests, prices = [0, 1, 2, 3, 2], [3, 3, 2, 2, 1], [100, 200, 150, 100, 100]
    found = guess(floor=floors, dest=dests, price=prices)
    assert found.suggestions == {"dest": "floor"}
    assert 'write like = "floor" for dest' in " ".join(found.notes)
    assert '# like = "floor"' in schema_text(found)


def test_a_column_that_cannot_be_learned_stays_out_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("action,a.b,a.c\nup,0.123456,1\n,0.2,2\n")
    with pytest.raises(tt.LogError, match="at most 4 decimals"):
        tt.read_csv(path)
    found = tt.guess_schema(path)
    assert found.ignored == ("a.b",) and len(found.problems) == 1
    tt.write_schema(found, tmp_path / "schema.toml")
    assert len(tt.read_csv(path, tmp_path / "schema.toml")) == 1


# --------------------------------------------------------------------------- examples


@pytest.mark.parametrize("name", ["elevator.csv", "vending.jsonl"])
def test_guesses_of_the_examples(name: str) -> None:
    text = schema_text(tt.guess_schema(EXAMPLES / name))
    check_golden(f"schema_{name.partition('.')[0]}.toml", text)


def test_examples_are_what_their_script_writes(tmp_path: Path) -> None:
    script = tmp_path / "make.py"
    script.write_bytes((EXAMPLES / "make.py").read_bytes())
    subprocess.run([sys.executable, str(script)], check=True)
    for name in ("elevator.csv", "vending.jsonl"):
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes()


# ------------------------------------------------------------------------------ files


@given(st.integers(0, 2**32))
def test_any_schema_is_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    rng = random.Random(seed)
    names = rng.sample(sorted(ATTRIBUTES), rng.randint(1, 5))
    attributes = {name: ATTRIBUTES[name] for name in names}
    attributes |= {
        "plain": tt.Attribute(2, facts=["equality"], outcomes="value"),
        "like": tt.Number(like="level"),
        "level": tt.Number(),
        "computed": tt.Derived(None, tt.Number()),
    }
    odd = rng.sample(['a "quoted" one', "a\\b", "né\n", "\x7f", "#", "plain"], 3)
    schema = tt.Schema({odd[0]: [*attributes], "other": ["level"]}, attributes, odd)
    whole = tt.LogSchema(
        schema,
        roles={"action": odd[1], "step": "t"},
        objects={odd[2]: odd[0], "": "other"},
        columns={"plain": ("a", odd[2])},
        scales={"level": 100},
        ignored=tuple(odd),
    )
    path = tmp_path_factory.getbasetemp() / "schema.toml"
    for each in (whole, tt.LogSchema(schema)):
        tt.write_schema(each, path, overwrite=True)
        assert tt.read_schema(path) == each
    tt.write_schema(schema, path, overwrite=True)
    assert tt.read_schema(path).schema == schema


def test_files_are_never_overwritten_by_themselves(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text("mine")
    found = guess(n=[1, 2])
    with pytest.raises(tt.SettingError, match="exists, and may have been edited"):
        tt.write_schema(found, path)
    assert path.read_text() == "mine"
    tt.write_schema(found, path, overwrite=True)
    assert tt.read_schema(path) == found


def test_functions_are_not_written(tmp_path: Path) -> None:
    attributes = {"n": 1, "big": tt.Derived(lambda state, each: each.n > 3)}
    schema = tt.Schema({"a": ["n", "big"]}, attributes, [])
    with pytest.raises(tt.LogError, match="attribute 'big' is derived by a function"):
        tt.write_schema(schema, tmp_path / "schema.toml")
    assert not (tmp_path / "schema.toml").exists()
    with pytest.raises(tt.WrongTypeError, match="a Schema or a LogSchema, got 3"):
        tt.write_schema(3, tmp_path / "schema.toml")


FILE = """
actions = ["up"]
ignore = []
[columns]
action = "act"
[objects]
lift = "lift"
[classes]
lift = ["floor", "pos"]
[attributes.floor]
kind = "number"
scale = 10
[attributes.pos]
kind = "position"
columns = ["x", "y"]
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["up"]', "[up]", "this is not valid TOML: Invalid value (at line 2, column 12)"),
        ('["up"]', '"up"', """actions must be a list of texts, such as ["up", "down"], got 'up'"""),
        ('actions = ["up"]', "", "the file lacks the key 'actions'"),
        ("ignore", "ignored", "unknown key 'ignored' in the file. Did you mean 'ignore'?"),
        ("action =", "acton =", "unknown key 'acton' in columns. Did you mean 'action'?"),
        ('"act"', "3", "columns.action must be text in quotes, got 3"),
        (
            'lift = "lift"', 'lift = "left"',
            "unknown class 'left' in objects.lift. Did you mean 'lift'?",
        ),
        ('"floor",', '"flor",', "'flor'"),
        (
            '"number"', '"numbre"',
            "unknown kind of attribute 'numbre' in attribute 'floor'. Did you mean"
            " 'number'?",
        ),
        (
            "scale = 10", "scale = 2.5",
            "attributes.floor.scale must be a whole number from 1, such as 100, got 2.5",
        ),
        (
            "scale = 10", "scael = 10",
            "unknown key 'scael' in attributes.floor. Did you mean 'scale'?",
        ),
        ("scale = 10", f"scale = {'1' * 5_000}", "this is not valid TOML: Exceeds the limit"),
        (
            'kind = "number"', f"length = 0x{'f' * 5_000}",
            "an attribute's length must be 1 to 1000000, got <int>",
        ),
        ('["x", "y"]', '["x", "y", "z"]', "attributes.pos.columns must be 1 or 2 names, got 3"),
        (
            "[attributes.floor]", "[attributes]\nfloor = 3\n[attributes.flor]",
            "attributes.floor must be a table, got 3",
        ),
    ],
)  # fmt: skip
def test_errors_in_schema_files(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(FILE)
    assert tt.read_schema(path).roles == {"action": "act"}
    assert old in FILE
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(tt.LogError) as raised:
        tt.read_schema(path)
    assert says in str(raised.value) and str(raised.value).startswith(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tt.read_schema(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(tt.LogError, match="not UTF-8 text"):
        tt.read_schema(tmp_path / "bytes.toml")


def test_a_file_needs_only_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(
        'actions = ["up"]\n[classes]\nlift = ["floor"]\n[attributes.floor]\nlength = 1\n'
    )
    log = tt.read_frame({"act": ["UP", ""], "LIFT.Floor": [1, 2]}, path)
    assert log[0].action == "up" and log[0].after[0].floor == 2


def test_an_edited_file_decides(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    frame = {"action": ["a", "a", ""], "lift.on": [0, 1, 0], "lift.note": ["x", "y", "z"]}
    text = schema_text(tt.read_frame(frame).log_schema)
    text = text.replace('kind = "number"', 'kind = "flag"').replace(', "note"]', "]")
    text = text.replace("ignore = []", 'ignore = ["lift.note"]')
    path.write_text(text[: text.index("[attributes.note]")])
    log = tt.read_frame(frame, path)
    assert log.schema.attributes == {"on": tt.Flag()}
    assert tomllib.loads(path.read_text())["ignore"] == ["lift.note"]


def test_a_cell_that_is_no_number_in_a_column_of_numbers_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("action,a.lane,a.side\ngo,1,left\ngo,2,right\ngo,three,left\n,4,right\n")
    notes = tt.guess_schema(path).notes
    assert any(each.endswith("all its values are numbers but 'three' (line 4)") for each in notes)
    assert "side: a category of left, right" in notes


def test_a_column_of_numbers_with_commas_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("action;price;size;pair\ngo;1,5;-2;1,2,3\ngo;2;0,25;a,1\n;1,5;7;1,2\n")
    notes = tt.guess_schema(path).notes
    comma = "; if these are numbers, write a point in place of the comma, as in "
    assert f"price: a category of 1,5, 2{comma}1.5" in notes
    assert f"size: a category of -2, 0,25, 7{comma}0.25" in notes
    assert "pair: a category of 1,2,3, a,1, 1,2" in notes
