"""What is wrong with a log: one error with the place, the value and what is accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt

SCHEMA = tt.Schema(
    {"lift": ["floor", "door", "kind", "pos"]},
    {"floor": 1, "door": tt.Flag(), "kind": tt.Category(["old", "new"]), "pos": tt.Position(2)},
    ["up", "down"],
)
ROWS = """step,action,lift.floor,lift.door,lift.kind,lift.pos.x,lift.pos.y
0,up,1,no,old,0,0
1,,2,no,old,0,0
"""
OBJECTS = """step,action,id,class,floor,score
0,up,0,lift,1,
0,,1,game,,0
1,,0,lift,2,
1,,1,game,,1
"""


def read(folder: Path, text: str | bytes, schema: Any = None) -> tt.Log:
    path = folder / "log.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tt.read_csv(path, schema)


def message(folder: Path, text: str | bytes, schema: Any = None) -> str:
    with pytest.raises(tt.LogError) as raised:
        read(folder, text, schema)
    assert "\n" not in str(raised.value)
    return str(raised.value).replace(str(folder) + "/", "")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "0,up,1", "0,up,one",
            "log.csv:2, column 'lift.floor': attribute 'floor' takes a number, got 'one'",
        ),
        ("0,up,1", "0,up,", "log.csv:2, column 'lift.floor': the value is missing"),
        (
            "1,,2", "1,,2.5",
            "log.csv:3, column 'lift.floor': attribute 'floor' takes whole numbers, got"
            " '2.5': set scale = 10 in the schema file, or round",
        ),
        (
            "1,,2", f"1,,{10**19}",
            "log.csv:3, column 'lift.floor': attribute 'floor' takes numbers of at most"
            " 18 digits, got '10000000000000000000'",
        ),
        ("1,,2", "1,,1e999", "attribute 'floor' takes numbers of at most 18 digits, got '1e999'"),
        (
            "1,no,old", "1,open,old",
            "log.csv:2, column 'lift.door': attribute 'door' takes true or false, got"
            " 'open'",
        ),
        (
            "no,old,0,0\n1", "no,odl,0,0\n1",
            "log.csv:2, column 'lift.kind': unknown value 'odl' in attribute 'kind'. Did"
            " you mean 'old'? Known: 'new', 'old'.",
        ),
        (
            "0,up", "0,upp",
            "log.csv:2, column 'action': unknown action 'upp' in the schema. Did you mean"
            " 'up'?",
        ),
        ("lift.floor", "lift.flor", "log.csv has no column for the attribute 'floor' of 'lift'"),
        ("lift.pos.x", "lift.pos.z", "pos"),
        ("1,,2", ",,2", "log.csv:3, column 'step': the value is missing"),
        ("1,,2", "0,,2", "log.csv:3: step 0 follows step 0"),
        ("0,up", "0,", "no two consecutive steps"),
    ],
)  # fmt: skip
def test_values_of_wide_rows(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert read(tmp_path, ROWS, SCHEMA)
    assert old in ROWS
    if says.startswith("log.csv has no column"):
        says = "unknown column 'lift.floor' in log.csv. Did you mean 'lift.flor'?"
    assert says in message(tmp_path, ROWS.replace(old, new, 1), SCHEMA)


@pytest.mark.parametrize(
    ("column", "says"),
    [
        ("lift.speed", "column 'lift.speed': unknown attribute 'speed' in the schema."),
        ("lift.flor", "Did you mean 'floor'?"),
        ("door.open", "column 'door.open': unknown class 'door' in the schema."),
        ("weather", "column 'weather': unknown attribute 'weather' in the schema."),
    ],
)
def test_unknown_columns(tmp_path: Path, column: str, says: str) -> None:
    lines = ROWS.splitlines()
    text = "\n".join(f"{line},{column if k == 0 else 1}" for k, line in enumerate(lines))
    assert says in message(tmp_path, text, SCHEMA)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "0,,1,game,,0", "0,,1,gmae,,0",
            "log.csv:3, column 'class': unknown class 'gmae' in the schema. Did you mean"
            " 'game'?",
        ),
        (
            "0,,1,game,,0", "0,,1,game,5,0",
            "log.csv:3, column 'floor': a game has no floor, got '5'; leave the cell"
            " empty",
        ),
        ("0,,1,game,,0", "0,,1,game,,", "log.csv:3, column 'score': the value is missing"),
        ("0,,1,game,,0", "0,,0,game,,0", "log.csv:3, column 'id': object 0 is twice in this step"),
        (
            "0,,1,game,,0", "0,down,1,game,,0",
            "log.csv:3, column 'action': rows of one step disagree: 'up' and 'down'",
        ),
        ("0,,1,game,,0", "0,,,game,,0", "log.csv:3, column 'id': the value is missing"),
        (
            "0,,1,game,,0\n", "",
            "log.csv:3: object 1 appears at step 1. The objects of an episode must stay"
            " the same",
        ),
        (
            "1,,1,game,,1\n", "",
            "log.csv:4: object 1 disappears at step 1. The objects of an episode must"
            " stay the same",
        ),
        (
            "1,,1,game,,1\n", "1,,1,lift,1,\n",
            "log.csv:4: object 1 is a game and then a lift; use another id",
        ),
    ],
)  # fmt: skip
def test_values_of_rows_of_objects(tmp_path: Path, old: str, new: str, says: str) -> None:
    schema = tt.Schema(
        {"lift": ["floor"], "game": ["score"]}, {"floor": 1, "score": tt.Score()}, ["up", "down"]
    )
    assert len(read(tmp_path, OBJECTS, schema)) == 1
    assert says in message(tmp_path, OBJECTS.replace(old, new), schema)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "log.csv: the file is empty; its first line must name the columns"),
        ("action,a.b\n", "log.csv: there are no rows"),
        ("action,a.b\nup\n", "log.csv:2: the row has 1 cells, and the first line names 2 columns"),
        ("action,a.b,a.b\nup,1,2\n", "log.csv: two columns are called 'a.b'"),
        ('action,a.b\nup,"1\n', "log.csv:2: this row is not valid CSV"),
        ("action,a.b\nup,1\0\n", "log.csv:2: the file contains a NUL character"),
        ("action,a.b\nup,1\n".encode("utf-16"), "log.csv:1: this is not UTF-8 text"),
        (b"action,a.b\nup,\xff\n", "log.csv:2: this is not UTF-8 text"),
        ("aktion,a.b\nup,1\n", "unknown column 'action' in log.csv. Did you mean 'aktion'?"),
        (
            "id,class,action,n\n0,a,up,1\n",
            "rows of single objects need the columns id, class, step",
        ),
        ("action,a.b\nup,1\n", "there are no two consecutive steps"),
        (
            "action,reward,a.b\nup,x,1\n,,1\n",
            "log.csv:2, column 'reward': a reward is a number, got 'x'",
        ),
        ("action,reward,a.b\nup,,1\n,5,1\n", "log.csv:3: a row without an action has the reward 5"),
        (
            "action,done,a.b\nup,maybe,1\n,,1\n",
            "column 'done': the end of an episode is true or false",
        ),
        (
            "ep,action,a.b\n1,,1\n1,up,2\n",
            "log.csv:2, column 'action': the value is missing, and the episode goes on",
        ),
        (
            "action,a.b\nup,0.12345\n,1\n",
            "log.csv:2, column 'a.b': rules need exact numbers of at most 4 decimals",
        ),
        (
            'action,a.b\nup,"(1, 2)"\n,"(1, 2, 3)"\n',
            "log.csv:2, column 'a.b': lists in a column must be of one length",
        ),
    ],
)  # fmt: skip
def test_files(tmp_path: Path, text: str | bytes, says: str) -> None:
    assert says in message(tmp_path, text)


def test_a_cell_may_be_too_large_for_a_csv_file(tmp_path: Path) -> None:
    assert "log.csv:2: this row is not valid CSV" in message(
        tmp_path, f"action,a.b\nup,{'x' * 200_000}\n"
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "log.jsonl:2: this line is not valid JSON"),
        ("[1]", "log.jsonl:2: each line must be a JSON object, got [1]"),
        ("[" * 100_000, "log.jsonl:2: this line is not valid JSON"),
        ('{"action": "", "a": {"b": 1}, "a.b": 1}', "log.jsonl:2: 'a.b' is given twice"),
        ('{"action": "", "a": {"b": "\\ud800"}}', "log.jsonl:2: half a surrogate pair"),
        ('{"action": "", "a": {"b": NaN}}', "log.jsonl:2: 'a' disappears (its cells are empty)"),
    ],
)
def test_lines_of_json(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"action": "up", "a": {{"b": 1}}}}\n{line}\n')
    schema = tt.Schema({"a": ["b"]}, {"b": 1}, ["up"])
    with pytest.raises(tt.LogError) as raised:
        tt.read_jsonl(path, schema)
    assert says in str(raised.value)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_an_id_that_is_too_large(tmp_path: Path, number: int) -> None:
    says = f"log.csv:2, column 'id': an id is a name, or a number that fits 64 bits, got '{number}'"
    assert message(tmp_path, OBJECTS.replace("0,up,0,", f"0,up,{number},")) == says


@pytest.mark.parametrize("missing", ["0,up,1,,,0", "0,up,1,,,0\n1,up,1,,,0"])
def test_a_class_that_is_missing(tmp_path: Path, missing: str) -> None:
    objects = OBJECTS if "\n" not in missing else "step,action,id,class,floor,score\n"
    assert "column 'class': the value is missing" in message(tmp_path, f"{objects}{missing}\n")


@pytest.mark.parametrize("reward", [str(10**400), f"-{10**4000}", "'1e400'"])
def test_a_reward_that_is_too_large_for_a_float(tmp_path: Path, reward: str) -> None:
    path = tmp_path / "log.jsonl"
    line = '{"action": "up", "a": {"b": 1}, "reward": REWARD}\n'.replace("REWARD", reward)
    path.write_text(2 * line.replace("'", '"'))
    with pytest.raises(
        tt.LogError, match=r"log\.jsonl:1, column 'reward': a reward is at most 1\.8e"
    ):
        tt.read_jsonl(path)


@pytest.mark.parametrize(
    ("frame", "error", "says"),
    [
        (3, tt.WrongTypeError, "read_frame takes a data frame of pandas, Polars or pyarrow"),
        ({}, tt.LogError, "the frame: there are no rows"),
        ({"action": ["a"], "b.c": []}, tt.LogError, "must be of one length"),
        ({1: ["a"]}, tt.LogError, "the names of columns must be str, got 1"),
        ({"action": ["a", ""], "b.c": [1, 2.5]}, None, ""),
        ({"action": ["a", ""], "b.c": [1, float("inf")]}, tt.LogError, "inf is no number"),
    ],
)
def test_frames(frame: Any, error: type[Exception] | None, says: str) -> None:
    if error is None:
        assert len(tt.read_frame(frame)) == 1
        return
    with pytest.raises(error) as raised:
        tt.read_frame(frame)
    assert says in str(raised.value)


def test_schemas_of_a_wrong_type() -> None:
    with pytest.raises(tt.WrongTypeError, match="schema must be a Schema, a LogSchema or the path"):
        tt.read_frame({"action": ["a", ""], "b.c": [1, 2]}, 5)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + ROWS,
        ROWS.replace("\n", "\r\n"),
        "\ufeff" + ROWS.replace("\n", "\r\n"),
        ROWS.replace("old", '"old"').replace("up", '" up "'),
        ROWS.replace(",", ";"),
        ROWS.replace(",", "\t"),
        ROWS + "\n\n",
        ROWS.rstrip("\n"),
        ROWS.replace("lift.floor", " Lift.Floor ").replace("lift.", "Lift."),
    ],
)
def test_files_that_differ_in_form_only(tmp_path: Path, text: str) -> None:
    expected = list(read(tmp_path, ROWS, SCHEMA))
    assert list(read(tmp_path, text, SCHEMA)) == expected


def test_lines_are_counted_with_quoted_line_breaks(tmp_path: Path) -> None:
    text = 'action,a.note,a.b\nup,"two\nlines",1\nup,x,y\n,x,1\n'
    schema = tt.Schema(
        {"a": ["note", "b"]}, {"note": tt.Category(["two\nlines", "x"]), "b": 1}, ["up"]
    )
    assert "log.csv:4, column 'a.b'" in message(tmp_path, text, schema)


@given(
    st.one_of(
        st.binary(max_size=80),
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                ["step", "action", "id", "class", ",", ",", "\n", "\n", "a.b", "1", "x", '"', "0.5",
                 "(1,2)", "true", ".", "[0]", "episode", ";", "next.a.b", "done", "reward"]
            ), max_size=30
        ).map("".join),
    )
)  # fmt: skip
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="replace"))
    for reader in (tt.read_csv, tt.read_jsonl):
        try:
            assert len(reader(path)) > 0
        except tt.LogError as error:
            assert "any.csv" in str(error)


# ------------------------------------------------------------- values that are none


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-Infinity", "N/A", "null"])
def test_a_cell_that_means_no_number_is_an_error_and_no_category(tmp_path: Path, cell: str) -> None:
    text = ROWS.replace("1,,2", f"1,,{cell}")
    assert message(tmp_path, text) == (
        f"log.csv:3, column 'lift.floor': {cell!r} is no number, and rules need a value in every"
        " row: write a number, or a name in every row, or list the column under `ignore` in the"
        " schema file"
    )
    guess = tt.guess_schema(tmp_path / "log.csv")
    assert guess.problems and "lift.floor" in guess.ignored
    assert tt.read_csv(tmp_path / "log.csv", guess).schema.classes["lift"] == (
        "door",
        "kind",
        "pos",
    )


def test_infinity_in_a_frame_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(tt.LogError, match=r"row 1 of the frame, column 'lift.floor': inf is no"):
        tt.read_frame({"action": ["up", ""], "lift.floor": [1.0, float("inf")]})


def test_a_word_among_words_is_a_name(tmp_path: Path) -> None:
    log = read(tmp_path, "action,lift.load\nup,inf\nup,none\n,sand\n")
    assert log.schema.attributes["load"].names == ("inf", "none", "sand")


@pytest.mark.parametrize("wrong", [None, 3, b"log.csv", ["log.csv"]])
def test_a_file_must_be_given_by_its_path(tmp_path: Path, wrong: Any) -> None:
    for function in (tt.read_csv, tt.read_jsonl, tt.guess_schema, tt.read_schema):
        with pytest.raises(tt.WrongTypeError, match="must be given by its path, such as"):
            function(wrong)
    with pytest.raises(tt.WrongTypeError, match="must be given by its path"):
        tt.write_schema(SCHEMA, wrong)


def test_a_schema_file_holds_no_function_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "schema.toml"
    text = 'actions = ["up"]\n[classes]\nlift = ["floor", "full"]\n[attributes.floor]\n'
    text += 'kind = "number"\n[attributes.full]\nkind = "{}"\n{}'
    path.write_text(text.format("derived", ""))
    with pytest.raises(tt.LogError, match=r"'full' cannot be derived .* derived = true .* Schema"):
        tt.read_schema(path)
    path.write_text(text.format("flag", "derived = true\n"))
    log = read(tmp_path, "action,lift.floor,lift.full\nup,1,no\nup,2,yes\n,3,yes\n", path)
    assert log.schema.attributes["full"].derived and log[1].before[0].full is True
    model = tt.TreeThink(log.schema)
    assert model.observe_many(log) == 2 and ("lift", "full", "up") not in model.rules
