"""Logs: what was written in any layout is read back as equal transitions."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treethink as tt
from log_files import LAYOUTS, streams, wide, write_csv, write_jsonl
from treethink.logs import LogSchema
from treethink.stream.transition import Transition, as_transition

PARTS = ("axes", "index", "cells")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


def flat(episodes: list[list[Transition]]) -> list[Transition]:
    return [each for episode in episodes for each in episode]


@given(streams(), st.sampled_from(sorted(LAYOUTS)), st.sampled_from(PARTS))
def test_read_what_was_written(
    folder: Path, episodes: list[list[Transition]], layout: str, parts: str
) -> None:
    schema, expected = episodes[0][0].before.schema, flat(episodes)
    columns = LAYOUTS[layout](episodes, parts)
    logs = [
        tt.read_csv(write_csv(folder / "log.csv", columns), schema),
        tt.read_csv(write_csv(folder / "log.csv", columns, delimiter=";", quoting=1), schema),
        tt.read_jsonl(write_jsonl(folder / "log.jsonl", columns), schema),
        tt.read_frame(columns, schema),
        tt.read_frame(pd.DataFrame(columns), schema),
    ]
    if parts != "cells":  # a column of pyarrow has one type
        logs.append(tt.read_frame(pa.table(columns), schema))
    for log in logs:
        assert list(log) == expected
        assert list(log) == expected  # again
        assert len(log) == len(expected)
        assert [list(each) for each in log.episodes] == episodes
        assert log.schema == schema
        assert log.last_state == expected[-1].after


@given(streams(), st.sampled_from(sorted(LAYOUTS)), st.sampled_from(PARTS))
def test_a_guess_reads_the_same_as_its_file(
    folder: Path, episodes: list[list[Transition]], layout: str, parts: str
) -> None:
    path = write_csv(folder / "guess.csv", LAYOUTS[layout](episodes, parts))
    guess, file = tt.guess_schema(path), folder / "schema.toml"
    assert not guess.problems
    tt.write_schema(guess, file, overwrite=True)
    assert tt.read_schema(file) == guess
    log = tt.read_csv(path)
    assert log.log_schema == guess
    assert list(log) == list(tt.read_csv(path, file)) == list(tt.read_csv(path, guess))
    written = flat(episodes)
    assert [each.action for each in log] == [each.action for each in written]
    assert [(each.reward, each.terminated) for each in log] == [
        (each.reward, each.terminated) for each in written
    ]
    for read, original in zip(log, written, strict=True):  # numbers are the same numbers
        for each in original.before:
            if "floor" in each.values:
                assert read.before[each.id].floor == each.floor


@given(streams())
def test_states_share_what_did_not_change(episodes: list[list[Transition]]) -> None:
    log = tt.read_frame(wide(episodes), episodes[0][0].before.schema)
    for episode in log.episodes:
        for one, following in pairwise(episode):
            assert one.after is following.before
        for each in episode:
            assert (each.after is each.before) == (each.after == each.before)


def test_learn_from_a_log() -> None:
    columns = {"action": ["up", "up", "stop", ""], "lift.floor": [1, 2, 3, 3]}
    log = tt.read_frame(columns)
    model = tt.TreeThink(log.schema)
    assert model.observe_many(log) == model.observe_many(log) == 3


def read(**columns: list[Any]) -> tt.Log:
    return tt.read_frame({name.replace("__", "."): cells for name, cells in columns.items()})


def floors(log: tt.Log) -> list[list[tuple[int, int]]]:
    return [[(t.before[0].floor, t.after[0].floor) for t in episode] for episode in log.episodes]


# ----------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    "names",
    [
        ("Episode", "STEP", "Action", "Reward", "Done"),
        ("ep", "t", "act", "rew", "end"),
        ("run", "Time Step", "command", "r", "terminal"),
    ],
)
def test_columns_may_be_called_differently(names: tuple[str, ...]) -> None:
    cells = [[0, 0, 0], [0, 1, 2], ["up", "up", ""], [1, 0.5, None], ["no", "yes", ""]]
    log = tt.read_frame(dict(zip(names, cells, strict=True)) | {"lift.floor": [1, 2, 3]})
    assert [(t.action, t.reward, t.terminated) for t in log] == [
        ("up", 1, False),
        ("up", 0.5, True),
    ]
    assert log.log_schema.roles is not None
    assert set(log.log_schema.roles.values()) == set(names)


def test_rows_of_objects_may_be_called_differently() -> None:
    log = tt.read_frame(
        {
            "T": [0, 0, 1, 1],
            "Act": ["up", "", "", ""],  # one row of a step is enough
            "Object": ["lift", "call", "lift", "call"],
            "Type": ["lift", "call", "lift", "call"],
            "floor": [1, 3, 2, 3],
        }
    )
    assert log.names == {0: "lift", 1: "call"}
    assert floors(log) == [[(1, 2)]]


def test_rows_with_the_same_step_are_objects(tmp_path: Path) -> None:
    path = tmp_path / "bus.csv"
    rows = ["0,go,bus,vehicle,1", "0,go,ann,guest,1", "1,,bus,vehicle,2", "1,,ann,guest,2"]
    path.write_text("\n".join(["t,action,name,type,stop", *rows]))
    log = tt.read_csv(path)
    assert list(log.schema.classes) == ["vehicle", "guest"]
    assert log.names == {0: "bus", 1: "ann"} and log.last_state[1].stop == 2
    assert list(tt.read_csv(path, log.schema)) == list(log)
    path.write_text("\n".join(["t,action,who,what,stop", *rows]))
    with pytest.raises(tt.LogError, match=r"each seems to be an object.*--column id=ID_COLUMN"):
        tt.read_csv(path)
    guess = tt.guess_schema(path, {"id": "who", "class": "what"})
    assert list(tt.read_csv(path, guess)) == list(log)


def test_objects_may_have_a_class_each(tmp_path: Path) -> None:
    path = tmp_path / "bus.csv"
    rows = ["0,go,bus 1,1", "0,go,ann,1", "1,,bus 1,2", "1,,ann,2"]
    path.write_text("\n".join(["t,action,object,stop", *rows]))
    advice = r"none for 'class'\. If each object .*: `treethink schema \S+ --column class=object`"
    with pytest.raises(tt.LogError, match=advice):
        tt.read_csv(path)
    guess = tt.guess_schema(path, {"class": "object"})
    log = tt.read_csv(path, guess)
    assert list(log.schema.classes) == ["bus 1", "ann"] and log.names == {0: "bus 1", 1: "ann"}
    tt.write_schema(guess, tmp_path / "schema.toml")
    assert list(tt.read_csv(path, tmp_path / "schema.toml")) == list(log)


def test_the_name_of_an_object_may_be_an_attribute_too() -> None:
    table = {
        "t": [0, 0, 0, 1, 1, 1],
        "action": ["go", "", "", "", "", ""],
        "object": ["bus", "tram", "stop", "bus", "tram", "stop"],
        "class": ["vehicle", "vehicle", "place", "vehicle", "vehicle", "place"],
        "at": [1, 1, 2, 2, 1, 2],
    }
    attributes = {"at": tt.Number(), "name": tt.Category(["bus", "tram"])}
    schema = tt.Schema({"vehicle": ["at", "name"], "place": ["at"]}, attributes, ["go"])
    log = tt.read_frame(table, LogSchema(schema, columns={"name": ("object",)}))
    assert [each.name for each in log.last_state.of_class("vehicle")] == ["bus", "tram"]
    with pytest.raises(tt.LogError, match="the column 't' is that of the step, so it cannot be an"):
        tt.read_frame(table, LogSchema(schema, columns={"name": ("t",)}))


def test_columns_without_an_object_belong_to_one() -> None:
    log = read(action=["up", ""], floor=[1, 2], lift__floor=[5, 5])
    assert {each.class_name for each in log[0].before} == {"system", "lift"}
    assert log.names == {0: "system", 1: "lift"}


def test_the_first_column_of_pandas_is_ignored(tmp_path: Path) -> None:
    frame = pd.DataFrame({"action": ["up", ""], "lift.floor": [1, 2]})
    frame.to_csv(tmp_path / "log.csv")
    assert floors(tt.read_csv(tmp_path / "log.csv")) == [[(1, 2)]]


# -------------------------------------------------------------------------- episodes


def test_episodes_without_names_end_without_an_action() -> None:
    log = read(action=["up", "", "up", ""], lift__floor=[1, 2, 7, 8])
    assert floors(log) == [[(1, 2)], [(7, 8)]]


def test_episodes_without_names_end_where_steps_start_anew() -> None:
    log = read(step=[0, 1, 0, 1], action=["up"] * 4, lift__floor=[1, 2, 7, 8])
    assert floors(log) == [[(1, 2)], [(7, 8)]]
    assert "2 last actions of episodes cannot be learned" in " ".join(log.notes)


def test_episodes_without_names_end_with_their_end() -> None:
    log = read(
        action=["up", "up", "", "up", "up", "up", ""],
        done=[False, True, None, False, True, False, None],
        lift__floor=[1, 2, 3, 4, 5, 6, 7],
    )
    assert floors(log) == [[(1, 2), (2, 3)], [(4, 5)], [(6, 7)]]


def test_the_last_row_may_say_that_the_episode_ended() -> None:
    log = read(action=["up", "up", ""], done=[0, 0, 1], lift__floor=[1, 2, 3])
    assert [each.terminated for each in log] == [False, True]


def test_episodes_may_be_interleaved() -> None:
    log = read(ep=["a", "b", "a", "b"], action=["up", "up", "", ""], lift__floor=[1, 7, 2, 8])
    assert floors(log) == [[(1, 2)], [(7, 8)]]


def test_missing_rows_are_not_taken_for_transitions() -> None:
    log = read(t=[0, 1, 5, 6], action=["up", "up", "up", ""], lift__floor=[1, 2, 6, 7])
    assert floors(log) == [[(1, 2), (6, 7)]]
    assert "1 step of the log have no next step" in " ".join(log.notes)


def test_steps_may_be_counted_in_tens_or_be_times() -> None:
    assert len(read(t=[0, 10, 20], action=["a", "a", ""], lift__floor=[1, 2, 3])) == 2
    assert len(read(time=[0, 1, 5], action=["a", "a", ""], lift__floor=[1, 2, 3])) == 2
    days = ["2026-01-01", "2026-01-02", "2026-02-01"]
    assert len(read(time=days, action=["a", "a", ""], lift__floor=[1, 2, 3])) == 2


def test_a_row_may_contain_the_state_after() -> None:
    log = read(
        action=["up", "up", "down"],
        lift__floor=[1, 5, 9],
        lift__goal=[3, 3, 3],
        next__lift__floor=[2, 6, 8],
    )
    assert [(t.before[0].floor, t.after[0].floor) for t in log] == [(1, 2), (5, 6), (9, 8)]
    assert all(t.after[0].goal == 3 for t in log)
    again = tt.read_frame(
        {"action": ["up"], "lift.floor": [1], "lift.goal": [3], "next.lift.floor": [2]}, log.schema
    )
    assert again[0].after[0].floor == 2


def test_objects_may_differ_between_episodes() -> None:
    log = read(
        ep=[0, 0, 1, 1], action=["up", "", "up", ""],
        lift1__floor=[1, 2, 3, 4], lift2__floor=["", "", 7, 7],
    )  # fmt: skip
    assert [len([*each.before]) for each in log] == [1, 2]


def test_lines_may_list_objects_as_states_do(tmp_path: Path) -> None:
    world = tt.make("doors")
    stream = list(map(as_transition, tt.transitions(world, steps=40, seed=0, episode=10)))
    path = tmp_path / "log.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for step, each in enumerate(stream):
            line = {"ep": step // 10, "t": step, "action": each.action, **each.before.to_dict()}
            file.write(json.dumps(line) + "\n")
            if step % 10 == 9:
                last = {"ep": step // 10, "t": step + 1, "action": None, **each.after.to_dict()}
                file.write(json.dumps(last) + "\n")
    log = tt.read_jsonl(path, world.schema)
    assert list(log) == stream


def test_a_log_is_a_sequence() -> None:
    log = read(action=["up", "up", ""], lift__floor=[1, 2, 3])
    assert log[1] == [*log][-1] and log[:1] == [log[0]] and log[0] in log
    assert repr(log) == "<Log of the frame: 2 transitions in 1 episode>"


def test_objects_keep_their_order_and_ids(tmp_path: Path) -> None:
    columns = {"step": [0, 0, 1, 1], "action": ["a", "a", "", ""], "id": [30, -2, 30, -2]}
    log = tt.read_frame(columns | {"class": ["b", "a"] * 2, "n": [1, 2, 3, 4]})
    assert sorted(each.id for each in log[0].before) == [-2, 30] and log.names == {}
