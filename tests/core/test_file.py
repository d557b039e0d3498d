"""Model files: loading and continuing equals continuing; damaged files are refused."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import random
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import attack_memory
import bombs
import child
from faults import SANITIZED
from handmade import (
    EQUALS,
    branch,
    chain,
    dot,
    handmade,
    integer,
    leaf,
    node_counts,
    number,
    written_leaf,
)
from reference import CRITERIA, forecast
from strategies import MEMORIES, Shape, Stream, crowded_shapes, random_state, streams
from treethink import file
from treethink.baselines import Qora
from treethink.errors import ModelFileError, SettingError, WrongTypeError
from treethink.model import TreeThink
from treethink.state import Attribute, Object, Schema, State
from treethink.stream.random_play import transitions
from treethink.worlds import make

thorough = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

HIGHEST = 2**63 - 1


def from_bytes(model: TreeThink) -> TreeThink:
    return TreeThink.from_bytes(model.to_bytes())


def pickled(model: TreeThink) -> TreeThink:
    return pickle.loads(pickle.dumps(model))


WAYS: dict[str, Callable[[TreeThink], TreeThink]] = {
    "file": from_bytes,
    "pickle": pickled,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture(scope="module")
def small() -> TreeThink:
    """A model of a few hundred bytes with everything in it that a file can have."""
    schema = Schema(
        {"lamp": ["on"], "cat": ["on", "at"]},
        {"on": 1, "at": Attribute(2, facts=("equality",), outcomes="value")},
        ["press", "wait"],
    )
    rng = random.Random(0)
    model = TreeThink(schema, criterion="evidence", memory=0, alpha=0.3)
    for _ in range(60):
        lamps = [Object(i, "lamp", on=rng.randrange(2)) for i in range(2)]
        cat = Object(9, "cat", on=rng.randrange(2), at=(rng.randrange(2), 0))
        before = State(schema, [*lamps, cat])
        after = before.replace(9, at=(before[9].on, 1)).replace(0, on=1 - before[0].on)
        model.observe(before, rng.choice(["press", "press", "wait"]), after)
    assert any(rule.depth for rule in model.rules.values())
    return model


def plain(schema: Schema, **settings_: Any) -> TreeThink:
    """The paper's criterion, and nothing kept."""
    return TreeThink(schema, **{"criterion": "wilson", "memory": 0, **settings_})


# ---------------------------------------------------- nothing is lost


@pytest.mark.slow
@settings(thorough, max_examples=60)
@given(
    streams(criteria=list(CRITERIA), memories=list(MEMORIES), mostly=crowded_shapes(), units=True),
    st.lists(st.sampled_from(list(WAYS)), min_size=4, max_size=4),
)
def test_saving_loading_and_continuing_equals_learning_without_a_break(
    stream: Stream, ways: list[str]
):
    constant, stopped = (TreeThink(stream.schema, **stream.settings) for _ in range(2))
    for step, transition in enumerate(stream.transitions):
        if step % 40 == 20:
            stopped = WAYS[ways[step // 40 % 4]](stopped)
            assert stopped.to_bytes() == constant.to_bytes()
        constant.observe(*transition)
        stopped.observe(*transition)
        assert step % 20 or stopped.to_bytes() == constant.to_bytes()
    assert stopped.to_bytes() == constant.to_bytes()
    assert stopped.observations == constant.observations == len(stream.transitions)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_independent_of_the_original(way, small):
    content = small.to_bytes()
    other = WAYS[way](small)
    assert type(other) is TreeThink
    assert other.to_bytes() == content
    nothing = State(small.schema, [])
    other.observe(nothing, "press", nothing)
    assert small.to_bytes() == content != other.to_bytes()


@pytest.mark.parametrize("world", ["walls", "maze"])
def test_a_loaded_model_has_the_same_schema_rules_and_predictions(world, tmp_path):
    stream = list(transitions(make(world), steps=1500, seed=0))
    model = plain(make(world).schema, alpha=0.02, branch_updates=False, max_candidates=5000)
    model.observe_many(stream)
    model.save(tmp_path / "model.tt")
    loaded = TreeThink.load(str(tmp_path / "model.tt"))
    assert loaded.schema == model.schema
    assert list(loaded.rules) == list(model.rules)
    assert loaded.observations == 1500
    assert (loaded.alpha, loaded.branch_updates, loaded.max_candidates) == (0.02, False, 5000)
    for rule in model.rules:
        assert str(loaded.rules[rule]) == str(model.rules[rule])
    for before, action, _ in stream[-50:]:
        assert loaded.predict(before, action).mode() == model.predict(before, action).mode()


def test_models_have_equal_bytes_only_if_they_are_equal(small):
    assert from_bytes(small).to_bytes() == small.to_bytes()
    others: list[dict[str, Any]] = [
        {"alpha": 0.2},
        {"criterion": "evidence"},
        {"memory": 5},
        {"branch_updates": False},
        {"max_candidates": 5},
    ]
    for settings_ in others:
        assert plain(small.schema, **settings_).to_bytes() != plain(small.schema).to_bytes()


@pytest.mark.parametrize("facts", [("difference",), ("equality",), ("equality", "difference")])
@pytest.mark.parametrize("first", [0, 10**9, HIGHEST - 400, -(2**63)])
@pytest.mark.parametrize("limit", [4, 100_000])
def test_values_that_the_next_states_do_not_have_survive_a_load(facts, first, limit):
    schema = Schema({"dot": ["x"]}, {"x": Attribute(1, facts=facts, outcomes="value")}, ["go"])
    rng = random.Random(0)

    def dots(spread: int) -> State:
        return State(schema, [Object(i, "dot", x=first + rng.randrange(spread)) for i in range(4)])

    model = plain(schema, alpha=0.5, max_candidates=limit)
    for spread in (300, 3, 40, 3):
        for _ in range(40):
            before = dots(spread)
            model.observe(before, "go", before.replace(0, x=first + rng.randrange(2)))
        model, other = from_bytes(model), model
        before = dots(2)
        for each in (model, other):
            each.observe(before, "go", before)
        assert model.to_bytes() == other.to_bytes()


def test_a_model_without_observations_can_be_saved_and_loaded(tmp_path):
    for schema in (Schema({}, {}, []), Schema({"a": []}, {}, ["go"]), make("maze").schema):
        plain(schema).save(tmp_path / "new")
        assert TreeThink.load(tmp_path / "new").to_bytes() == plain(schema).to_bytes()


def test_the_hook_is_not_copied_or_saved():
    model = plain(make("walls").schema)
    model.on_change = lambda change: None
    assert all(way(model).on_change is None for way in WAYS.values())


def test_there_is_no_code_in_a_file(small):
    header, _ = file.unpack(small.to_bytes(), "it")
    assert set(header) == {"schema", "settings"}
    assert Schema.from_dict(header["schema"]) == small.schema
    assert header["settings"] == {
        "alpha": 0.3,
        "criterion": "evidence",
        "memory": 0,
        "branch_updates": True,
        "max_candidates": 100_000,
        "max_outcomes": 1_024,
    }


# ---------------------------------------------------- written whole or not at all


@pytest.mark.parametrize("where", ["fsync", "replace"])
@pytest.mark.parametrize("crash", [OSError("no space left"), KeyboardInterrupt()], ids=repr)
def test_a_save_that_fails_leaves_the_old_file_and_no_other(
    small, tmp_path, monkeypatch, where, crash
):
    path = tmp_path / "model.tt"
    small.save(path)
    old = path.read_bytes()

    def fail(*_: Any) -> None:
        raise crash

    with monkeypatch.context() as patch:
        patch.setattr(os, where, fail)
        with pytest.raises(type(crash)):
            plain(small.schema).save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["model.tt"]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_process_that_dies_while_saving_leaves_the_old_file_whole(small, tmp_path, where):
    path = tmp_path / "model.tt"
    small.save(path)
    old = path.read_bytes()
    script = (
        "import os, sys; from treethink.model import TreeThink\n"
        "model = TreeThink.load(sys.argv[1])\n"
        f"os.{where} = lambda *_: os._exit(9)\n"
        "TreeThink(model.schema, criterion='wilson', memory=0).save(sys.argv[1])"
    )
    assert subprocess.run([sys.executable, "-c", script, path], check=False).returncode == 9
    assert path.read_bytes() == old
    plain(small.schema).save(path)
    assert TreeThink.load(path).observations == 0


def test_a_saved_file_has_the_usual_permissions(small, tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    small.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="has permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_its_permissions(small, tmp_path, mode):
    path = tmp_path / "model.tt"
    path.touch()
    path.chmod(mode)
    small.save(path)
    assert path.stat().st_mode & 0o7777 == mode
    assert TreeThink.load(path).observations == small.observations


@pytest.mark.skipif(os.name != "posix", reason="has permissions of POSIX")
def test_a_private_file_is_never_readable_by_others_while_it_is_replaced(
    small, tmp_path, monkeypatch
):
    path = tmp_path / "model.tt"
    path.touch()
    path.chmod(0o600)
    modes, synced = [], os.fsync

    def look(file: int) -> None:
        mode = os.fstat(file).st_mode
        if stat.S_ISREG(mode):  # not the folder, which is synced, too
            modes.append(mode & 0o777)
        synced(file)

    monkeypatch.setattr(os, "fsync", look)
    small.save(path)
    assert modes == [0o600]


@pytest.mark.skipif(os.name != "posix", reason="makes links without asking")
@pytest.mark.parametrize("there", [True, False])
def test_saving_to_a_link_writes_its_target_and_keeps_the_link(small, tmp_path, there):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "model.tt", tmp_path / "link.tt"
    link.symlink_to(Path("far") / "model.tt")
    if there:
        plain(small.schema).save(target)
    small.save(link)
    assert link.is_symlink() and TreeThink.load(target).observations == small.observations
    assert sorted(os.listdir(tmp_path)) == ["far", "link.tt"]
    assert os.listdir(tmp_path / "far") == ["model.tt"]


@pytest.mark.skipif(os.name != "posix", reason="makes a pipe")
def test_devices_and_pipes_are_never_replaced(small, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="a device or a pipe, not a file") as raised:
        small.save(path)
    assert raised.value.filename == str(path)
    assert stat.S_ISFIFO(path.stat().st_mode) and os.listdir(tmp_path) == ["pipe"]


def test_an_unwritable_path_raises_the_errors_of_the_operating_system(small, tmp_path):
    nowhere = tmp_path / "nowhere" / "model.tt"
    with pytest.raises(FileNotFoundError) as raised:
        small.save(nowhere)
    assert str(raised.value) == f"[Errno 2] No such file or directory: {str(nowhere)!r}"
    with pytest.raises(IsADirectoryError):
        small.save(tmp_path)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------- drafts


def leave_draft(path: Path) -> Path:
    """Leave a draft of this file, as a process does that is killed while it saves."""
    draft = path.with_name(f"{file._draft_prefix(path)}{'0' * 16}")
    draft.write_bytes(b"unfinished")
    return draft


@pytest.mark.parametrize("name", ["model.tt", "m", "*[a]?.tt", "ü" * 127, "x" * 255])
def test_the_next_save_removes_the_drafts_of_dead_writers(tmp_path, name):
    path, other = tmp_path / name, tmp_path / "other.tt"
    draft, other_draft = leave_draft(path), leave_draft(other)
    file.write(path, b"new")
    assert path.read_bytes() == b"new" and not draft.exists()
    assert other_draft.exists()


@pytest.mark.skipif(os.name != "posix", reason="locks as POSIX does")
def test_the_draft_of_a_writer_at_work_is_left_alone(tmp_path):
    path = tmp_path / "model.tt"
    draft = leave_draft(path)
    with draft.open("r+b") as open_draft:
        file._lock(open_draft)
        file.write(path, b"new")
        assert draft.read_bytes() == b"unfinished"
    file.write(path, b"newer")
    assert path.read_bytes() == b"newer" and not draft.exists()


def test_a_draft_that_is_removed_before_it_is_locked_is_written_again(tmp_path, monkeypatch):
    path = tmp_path / "model.tt"
    lock = file._lock
    removed: list[Path] = []

    def remove_first(open_draft: Any) -> None:
        if not removed:
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        lock(open_draft)

    monkeypatch.setattr(file, "_lock", remove_first)
    file.write(path, b"new")
    assert len(removed) == 1 and path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["model.tt"]


def test_writing_gives_up_if_every_draft_is_removed(tmp_path, monkeypatch):
    path = tmp_path / "model.tt"
    monkeypatch.setattr(file, "_lock", lambda _: next(tmp_path.iterdir()).unlink())
    with pytest.raises(OSError, match="removed every draft") as raised:
        file.write(path, b"new")
    assert raised.value.filename == str(path) and os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"new", b"", bytes(2**20), bytes(2**20 + 1)], ids=len)
def test_a_draft_that_reads_back_differently_replaces_nothing(tmp_path, monkeypatch, content):
    path = tmp_path / "model.tt"
    file.write(path, b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: os.pwrite(number, b"X", len(content)))
        with pytest.raises(OSError, match="read back"):
            file.write(path, content)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model.tt"]
    file.write(path, content)
    assert path.read_bytes() == content


def test_content_that_does_not_load_replaces_nothing(small, tmp_path):
    class Damaged(TreeThink):
        def to_bytes(self, memory: bool = True) -> bytes:
            return super().to_bytes(memory)[:-1]

    path = tmp_path / "model.tt"
    small.save(path)
    old = path.read_bytes()
    with pytest.raises(ModelFileError, match="the content of the new file is cut off"):
        Damaged(small.schema).save(path)
    assert path.read_bytes() == old and os.listdir(tmp_path) == ["model.tt"]


# ---------------------------------------------------- damaged, foreign, newer


def assert_refused(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=message) as raised:
        TreeThink.load(path)
    assert str(path) in str(raised.value)


def test_a_file_cut_off_anywhere_is_refused(small):
    content = small.to_bytes()
    for length in range(len(content)):
        with pytest.raises(ModelFileError, match=r"^the data (is|has|cannot) "):
            TreeThink.from_bytes(content[:length])


def test_a_file_with_any_bit_flipped_is_refused(small):
    content = small.to_bytes()
    rng = random.Random(0)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        with pytest.raises(ModelFileError, match=r"^the data "):
            TreeThink.from_bytes(bytes(damaged))


def test_foreign_files_are_refused_with_their_name(small, tmp_path):
    path = tmp_path / "some.tt"
    assert_refused(path, b"", "is not a TreeThink model file")
    assert_refused(path, b"PK\x03\x04", "is not a TreeThink model file")
    assert_refused(path, pickle.dumps(small), "is not a TreeThink model file")
    assert_refused(path, b"x" * 100_000, "is not a TreeThink model file")
    assert_refused(path, file.MAGIC[:-1], "is not a TreeThink model file")
    assert_refused(path, file.MAGIC, "is cut off: 10 bytes are too few")
    assert_refused(path, small.to_bytes()[:-1], "is cut off or extended")
    assert_refused(path, small.to_bytes() + b"\n", "is cut off or extended")
    damaged = bytearray(small.to_bytes())
    damaged[-40] ^= 1
    assert_refused(path, bytes(damaged), "is damaged: its checksum")


def test_a_file_of_a_newer_format_is_refused_and_says_so(small, tmp_path, monkeypatch):
    newer = file.FORMAT + 1
    for format_, says in (
        (newer, f"has format {newer}, of a newer"),
        (0, "has format 0, which there"),
    ):
        monkeypatch.setattr(file, "FORMAT", format_)
        content = small.to_bytes()
        monkeypatch.undo()
        assert_refused(tmp_path / "other.tt", content, says)


def test_a_file_of_format_1_is_read_and_goes_on_learning():
    """It has no `max_outcomes`, which gets its default."""
    old = (Path(__file__).parents[1] / "golden" / "model_format_1.bin").read_bytes()
    model = TreeThink.from_bytes(old)
    assert (model.observations, model.max_candidates, model.max_outcomes) == (60, 50, 1024)
    _, body = file.unpack(old, "the old file")
    assert file.unpack(model.to_bytes(), "the new file")[1] == body
    assert model.rules["lamp", "light", "go"].depth > 0


def test_unreadable_files_are_refused_with_their_name(tmp_path):
    for path in (tmp_path / "nowhere.tt", tmp_path, str(tmp_path / "no\0where")):
        with pytest.raises(ModelFileError, match="cannot read ") as raised:
            TreeThink.load(path)
        assert repr(str(path)) in str(raised.value)


@pytest.mark.parametrize("wrong", [None, 5, 1.5, [], {}])
def test_arguments_that_are_no_path_or_content_are_refused(wrong, small):
    with pytest.raises(WrongTypeError, match="a path must be a str or a path, got "):
        TreeThink.load(wrong)
    with pytest.raises(WrongTypeError, match="a path must be a str or a path, got "):
        small.save(wrong)
    with pytest.raises(WrongTypeError, match="must be bytes, got "):
        TreeThink.from_bytes(wrong)


def test_a_path_with_a_nul_character_is_one_clear_error(small):
    with pytest.raises(SettingError, match=r"a path cannot contain a NUL .*, got 'a\\x00b.tt'"):
        small.save("a\0b.tt")
    with pytest.raises(ModelFileError, match="a path cannot contain a NUL character"):
        TreeThink.load("a\0b.tt")


# ---------------------------------------------------- what a valid checksum does not excuse


def with_header(model: TreeThink, change: Callable[[dict[str, Any]], Any]) -> bytes:
    header, body = file.unpack(model.to_bytes(), "it")
    changed = change(header)
    return file.pack(header if changed is None else changed, body)


def with_text(model: TreeThink, text: bytes) -> bytes:
    """A file with this text for a header."""
    _, body = file.unpack(model.to_bytes(), "it")
    content = file.MAGIC + file._LENGTHS.pack(file.FORMAT, len(text), len(body)) + text + body
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b"9" * 5000])
def test_a_header_that_is_no_object_is_refused(text, small):
    with pytest.raises(ModelFileError, match=r"^the data has a header that "):
        TreeThink.from_bytes(with_text(small, text))


BAD_HEADERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "empty": lambda header: {},
    "no schema": lambda header: header.pop("schema") and None,
    "no settings": lambda header: header.pop("settings") and None,
    "schema is a list": lambda header: header.update(schema=[]),
    "schema is null": lambda header: header.update(schema=None),
    "schema lacks actions": lambda header: header["schema"].pop("actions") and None,
    "fewer actions": lambda header: header["schema"].update(actions=["press"]),
    "more actions": lambda header: header["schema"].update(actions=["press", "wait", "go"]),
    "actions are a number": lambda header: header["schema"].update(actions=7),
    "an action is a number": lambda header: header["schema"].update(actions=[7, 8]),
    "an action twice": lambda header: header["schema"].update(actions=["go", "go"]),
    "a lone surrogate": lambda header: header["schema"].update(actions=["a", "\ud800"]),
    "an absurd length": lambda header: header["schema"]["attributes"]["on"].update(length=10**9),
    "another length": lambda header: header["schema"]["attributes"]["on"].update(length=2),
    "a length of 0": lambda header: header["schema"]["attributes"]["on"].update(length=0),
    "no length": lambda header: header["schema"]["attributes"]["on"].pop("length") and None,
    "unknown facts": lambda header: header["schema"]["attributes"]["on"].update(facts=["color"]),
    "unknown attribute": lambda header: header["schema"]["classes"]["cat"].append("tail"),
    "no classes": lambda header: header["schema"].update(classes={}),
    "settings are a list": lambda header: header.update(settings=[1]),
    "settings are null": lambda header: header.update(settings=None),
    "unknown setting": lambda header: header["settings"].update(speed=11),
    "schema in settings": lambda header: header["settings"].update(schema={}),
    "alpha of 0": lambda header: header["settings"].update(alpha=0),
    "alpha is NaN": lambda header: header["settings"].update(alpha=float("nan")),
    "alpha is text": lambda header: header["settings"].update(alpha="0.01"),
    "unknown criterion": lambda header: header["settings"].update(criterion="coin"),
    "a surrogate criterion": lambda header: header["settings"].update(criterion="\ud800"),
    "memory": lambda header: header["settings"].update(memory=5000),
    "max_candidates of 0": lambda header: header["settings"].update(max_candidates=0),
    "max_candidates too many": lambda header: header["settings"].update(max_candidates=10**30),
    "branches that count": lambda header: header["settings"].update(branch_updates=False),
}


@pytest.mark.parametrize("bad", BAD_HEADERS)
def test_a_header_that_does_not_fit_is_refused(bad, small):
    with pytest.raises(ModelFileError, match=r"^the data cannot be read: "):
        TreeThink.from_bytes(with_header(small, BAD_HEADERS[bad]))


def test_more_classes_than_a_world_can_have_are_refused_at_once(small):
    def crowd(header: dict[str, Any]) -> None:
        header["schema"]["classes"] = {f"class{i}": ["on"] for i in range(20_000)}
        header["schema"]["actions"] = []

    with pytest.raises(ModelFileError, match="too many classes share attribute 'on'"):
        TreeThink.from_bytes(with_header(small, crowd))


@pytest.mark.parametrize(
    ("learner", "bomb"), [(TreeThink, bombs.many_rules), (Qora, bombs.many_rules_of_qora)]
)
def test_more_rules_than_a_file_has_bytes_for_are_refused_at_once(learner, bomb):
    with pytest.raises(ModelFileError, match=r"cannot be read: 0 bytes are too few for \d+ rules"):
        learner.from_bytes(bomb(20_000))


def test_a_file_that_ends_before_many_candidates_is_refused_at_once():
    with pytest.raises(ModelFileError, match="ends in the middle of a node's candidates"):
        TreeThink.from_bytes(bombs.missing_blocks(9_000))


def test_nodes_from_a_file_make_room_for_the_codes_of_others_only_when_they_count():
    content = bombs.interned_codes(60_000)
    model = TreeThink.from_bytes(content)
    assert model.memory_use()["bytes"] < 100 * len(content)
    assert TreeThink.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does")
@pytest.mark.skipif(SANITIZED, reason="sanitizers take more memory")
def test_files_that_ask_for_much_get_little_memory_and_time():
    assert child.result(child.start(attack_memory.load_bombs, 300_000)) == []


def test_branches_without_candidates_are_refused_where_branches_may_change():
    model = plain(make("walls").schema, branch_updates=False)
    model.observe_many(transitions(make("walls"), steps=500, seed=0))
    content = with_header(model, lambda header: header["settings"].update(branch_updates=True))
    with pytest.raises(ModelFileError, match="a node with candidates where none belong, or"):
        TreeThink.from_bytes(content)


def test_a_handmade_file_is_read_correctly():
    model = TreeThink.from_bytes(handmade(branch(5, 3, 4) + leaf(3, 0) + leaf(0, 4)))
    assert str(model.rules["dot", "x", "go"]) == (
        "dot.x when go    X0: dot\nX0[x] = 5 ?\n├─ yes: = 10 × 3\n└─ no:  = 11 × 4"
    )
    assert model.predict(dot(5), "go").mode() == dot(10)
    assert model.predict(dot(6), "go").mode() == dot(11)


@pytest.mark.parametrize("deep", [False, True])
def test_a_node_with_full_counters_still_predicts_and_learns(deep):
    """Counts of a node have 32 bits; what was ever seen has more."""
    most = 2**32 - 1
    nodes = leaf(most - 5, 1)
    if deep:
        nodes = branch(77, most - 5, 2) + leaf(0, 1) + nodes
    model = TreeThink.from_bytes(handmade(nodes, seen=(2**40, 2), observations=2**40))
    for _ in range(3):
        model.observe_many([(dot(0), "go", dot(10)), (dot(1), "go", dot(11))] * 20)
        model = from_bytes(model)
    root = model._dump("dot", "x", "go")
    full = root["right"] if deep else root
    assert sum(full["totals"].values()) == most
    support = model.predict(dot(0), "go").support(1, "x")
    assert support == most if deep else support == 2**40 + 122
    assert model.predict(dot(0), "go").mode() == dot(10)
    assert model.observations == 2**40 + 120


@pytest.mark.parametrize("depth", [200, 1000])
@pytest.mark.parametrize("left", [True, False])
def test_deep_trees_load_predict_learn_and_print(depth, left):
    model = TreeThink.from_bytes(handmade(chain(depth, left)))
    rule = model.rules["dot", "x", "go"]
    assert (rule.depth, rule.n_leaves) == (depth, depth + 1)
    assert str(rule).count("\n") == 2 * depth + 1
    down, aside = (dot(5), dot(0)) if left else (dot(0), dot(5))
    for facts in ("demand", "full"):
        for bindings in ("first", "all"):
            assert model.predict(down, "go", facts, bindings).mode() == dot(10)
            assert model.predict(aside, "go", facts, bindings).mode() == dot(11)
    model.observe_many([(down, "go", dot(11)), (down, "go", dot(10))] * 50)
    assert model.predict(down, "go").support(1, "x") >= 1
    assert model.rules["dot", "x", "go"].depth <= 1000
    assert from_bytes(model).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("left", [True, False])
def test_a_tree_deeper_than_the_limit_is_refused(left):
    with pytest.raises(ModelFileError, match="deeper"):
        TreeThink.from_bytes(handmade(chain(1001, left)))


def candidates(*numbers: int) -> bytes:
    """A leaf with candidates that ask X0[x] = 5, each of these numbers: birth, times true."""
    entries = [numbers[i : i + 3] for i in range(0, len(numbers), 3)]
    content = b"".join(integer(5) + b"".join(map(number, entry)) for entry in entries)
    return leaf(3, 4)[:-2] + number(len(entries)) + content + number(0)


def node_start(*totals: int, pairs: int, agreeing: int) -> bytes:
    """Return the start of a node: counts of outcomes and of pairs; not checked yet."""
    return b"".join(map(number, [*totals, pairs, agreeing, 0]))


ABSURD = [
    ("a count 4294967296, at most 4294967295", handmade(leaf(2**32, 1))),
    ("a count 2147483648, at most 2147483647", handmade(leaf(2**31, 2**31))),
    ("a number that does not fit 64 bits", handmade(b"\xff" * 10)),
    ("a number that does not fit 64 bits", handmade(b"\xff" * 50)),
    ("a number of transitions 9223372036854775808", handmade(leaf(3, 4), observations=2**63)),
    ("a count 18446744073709551615", handmade(leaf(3, 4), seen=(2**64 - 1, 1))),
    ("an outcome that was never seen", handmade(leaf(3, 4), seen=(0, 4))),
    ("an outcome twice", handmade(leaf(3, 4), outcomes=(10, 10))),
    ("outcomes and transitions do not agree", handmade(leaf(3, 4), observations=0)),
    ("bytes left over", handmade(leaf(3, 4) + b"\0")),
    ("a flag 32, at most 31", handmade(node_start(3, 4, pairs=0, agreeing=0) + number(32))),
    (
        "a rule that says nothing",
        handmade(node_counts(0, 0) + number(8) + number(0) * 2 + leaf(0, 0)[6:]),
    ),
    ("a count 9223372036854775807", handmade(node_counts(0, 0) + number(8) + number(2**63 - 1))),
    ("candidates where none belong", handmade(written_leaf(3, 4) + number(1))),
    ("a number of pairs 22, at most 21", handmade(node_start(3, 4, pairs=22, agreeing=0))),
    ("a number of pairs 1, at most 0", handmade(node_start(1, 0, pairs=1, agreeing=0))),
    (
        "a number of pairs 18446744073709551615",
        handmade(node_start(3, 4, pairs=2**64 - 1, agreeing=0)),
    ),
    ("a number of pairs 6, at most 5", handmade(node_start(3, 4, pairs=5, agreeing=6))),
    ("a number of pairs 1, at most 0", handmade(node_start(3, 4, pairs=0, agreeing=1))),
    (f"a surprise {2**57}", handmade(node_start(3, 4, pairs=0, agreeing=0)[:-1] + number(2**57))),
    ("ends in the middle of a number", handmade(branch(5, 3, 4))),
    ("a variable 9, at most 2", handmade(branch(5, 3, 4)[:-2] + number(9) + integer(5))),
    ("variables it cannot have", handmade(branch(5, 3, 4)[:-3] + number(2) * 2 + integer(5))),
    ("a fact type 7, at most 0", handmade(branch(5, 3, 4)[:-4] + number(7))),
    ("a number of candidates 1152921504606846976", handmade(leaf(3, 4)[:-2] + number(2**60))),
    ("a candidate that was never true", handmade(candidates(1, 0, 0))),
    ("from no known transition", handmade(candidates(8, 1, 1))),
    ("from no known transition", handmade(candidates(0, 1, 1))),
    ("a count 4, at most 3", handmade(candidates(1, 4, 4))),
    ("candidates out of order", handmade(candidates(1, 1, 1, 1, 1, 1))),
]


@pytest.mark.parametrize(("says", "content"), ABSURD, ids=[says for says, _ in ABSURD])
def test_an_absurd_body_is_refused(says, content):
    with pytest.raises(ModelFileError, match=f"the data cannot be read: the model file .*{says}"):
        TreeThink.from_bytes(content)


@pytest.mark.parametrize(("pairs", "agreeing"), [(0, 0), (21, 21), (21, 0), (1, 1), (5, 3)])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_model_with_implausible_pair_counts_can_still_learn(criterion, pairs, agreeing):
    """The design effect is at least one, whatever counts of pairs a file contains."""
    nodes = node_start(3, 4, pairs=pairs, agreeing=agreeing) + leaf(3, 4)[5:]
    header, body = file.unpack(handmade(nodes), "it")
    header["settings"]["criterion"] = criterion
    model = TreeThink.from_bytes(file.pack(header, body))
    for x in [0, 1] * 60:
        model.observe(dot(x), "go", dot(10 + x))
    assert model.rules["dot", "x", "go"].depth == 1
    assert from_bytes(model).to_bytes() == model.to_bytes()


def test_a_file_contains_the_counts_of_pairs_and_of_agreeing_pairs():
    """Since it varies: 1 of 3 pairs agrees in one transition, then 3 of 3, then 1 of 1."""
    model = TreeThink(EQUALS, criterion="evidence", memory=0, alpha=1e-9)
    header, _ = file.unpack(model.to_bytes(), "it")
    for values in ((10,), (11, 10, 10), (10, 10, 10), (11, 11)):
        before = State(EQUALS, [Object(i, "dot", x=10) for i in range(len(values))])
        after = before.replace_many({i: {"x": value} for i, value in enumerate(values)})
        model.observe(before, "go", after)
    header_numbers = [4, 2, *integer(10), 6, *integer(11), 3]  # transitions; outcomes
    totals, pairs, agreeing = [5, 3], 3 + 3 + 1, 1 + 3 + 1
    this_dot = [1, *integer(10), 2, *totals]  # one candidate: its value, birth, times true
    other_dot = [1, *integer(10), 2, *totals]
    surprise = -forecast({}, {0: 5, 1: 3}, kinds=2)  # type: ignore[dict-item]
    node = [*totals, pairs, agreeing, *number(surprise), 0, 1, *this_dot, *other_dot]
    assert model.to_bytes() == file.pack(header, bytes([4, *header_numbers, 1, 0, *node]))


# ---------------------------------------------------- fuzz: a model, or one clear error

LARGE = [0, 1, 0x7F, 0x80, 2**14, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1]


def damaged_body(rng: random.Random, body: bytes) -> bytes:
    changed = bytearray(body)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        place = rng.randrange(len(changed) + 1)
        end = min(len(changed), place + rng.choice([0, 1, 1, 2, 9]))
        new = rng.choice(
            [
                lambda: rng.randbytes(rng.randrange(4)),
                lambda: bytes([rng.randrange(5)]),
                lambda: number(rng.choice(LARGE)),
                lambda: bytes(changed[rng.randrange(len(changed) + 1) :][: rng.randrange(30)]),
            ]
        )()
        changed[place:end] = new
    return bytes(changed)


def damaged_header(rng: random.Random, header: Any) -> Any:
    """The same JSON with one thing in it changed."""
    nonsense = [None, True, 0, -1, 1.5, 2**70, "", "on", "\ud800", [], ["on"], {}, {"on": 1}]
    if rng.random() < 0.2 or not isinstance(header, dict | list) or not header:
        return rng.choice(nonsense)
    copied = copy.copy(header)
    key = rng.choice(list(copied) if isinstance(copied, dict) else range(len(copied)))
    what = rng.random()
    if what < 0.15:
        del copied[key]
    elif what < 0.3 and isinstance(copied, dict):
        copied[rng.choice(["on", "at", "length", "x", "\ud800"])] = rng.choice(nonsense)
    elif what < 0.4 and isinstance(copied, list):
        copied.append(rng.choice(nonsense))
    else:
        copied[key] = damaged_header(rng, copied[key])
    return copied


def survives(model: TreeThink, rng: random.Random) -> None:
    """Check that a model from a damaged file works like any other."""
    shape = Shape(seed=0, values="small")
    size = sum(each.length for each in model.schema.attributes.values())
    for action in model.schema.actions if size < 1000 and model.schema.classes else ():
        before, other = (random_state(rng, model.schema, shape) for _ in range(2))
        for state in (before, other):
            for facts, bindings in (("demand", "first"), ("full", "all")):
                try:
                    prediction = model.predict(state, action, facts, bindings)
                except ValueError as error:
                    assert "does not fit 64 bits" in str(error)
                    continue
                assert 0 < prediction.probability(prediction.mode()) <= 1
                prediction.sample(rng)
            model.observe(state, action, state)
    content = model.to_bytes()
    assert TreeThink.from_bytes(content).to_bytes() == content
    assert all(str(rule) for rule in model.rules.values())
    for smaller, key in ((model.simplify(), key) for key in list(model.rules)[:3]):
        smaller.unpin(key)
        assert TreeThink.from_bytes(smaller.to_bytes()).to_bytes() == smaller.to_bytes()


def fuzzed(models: list[TreeThink], runs: int, seed: int, damage: Callable[..., bytes]) -> int:
    """Return how many of the damaged files were accepted."""
    rng = random.Random(seed)
    accepted = 0
    parts = [file.unpack(model.to_bytes(), "it") for model in models]
    for _ in range(runs):
        content = damage(rng, *rng.choice(parts))
        try:
            model = TreeThink.from_bytes(content)
        except ModelFileError as error:
            assert str(error).startswith("the data ")
        else:
            survives(model, rng)
            accepted += 1
    return accepted


@pytest.fixture(scope="module")
def models(small) -> list[TreeThink]:
    """Small ones of all sorts: boxes and interned values, frozen branches, bound variables."""
    result = [small, TreeThink.from_bytes(handmade(chain(3, left=True)))]
    for seed, values in enumerate(["bits", "spread", "huge", "fresh"]):
        schema = Schema(
            {"dot": ["x"], "box": ["x", "y"]},
            {"x": Attribute(1), "y": Attribute(2, facts=("difference",))},
            ["go", "wait"],
        )
        options: dict[str, Any] = {
            "alpha": 0.5,
            "branch_updates": seed % 2 == 0,
            "max_candidates": 25,
        }
        options["criterion"] = ("evidence", "wilson", "proven", "evidence")[seed]
        model, rng = plain(schema, **options), random.Random(seed)
        shape = Shape(seed, values=values)
        for _ in range(60):
            before = random_state(rng, schema, shape)
            changes = {
                each.id: {"x": each.x + (each.x > 0)} for each in before if rng.random() < 0.9
            }
            model.observe(before, "go", before.replace_many(changes))
        result += [model, edited(model)]
    assert sum(rule.depth > 0 for model in result for rule in model.rules.values()) >= 4
    return result


def edited(model: TreeThink) -> TreeThink:
    """The same with parts that were pinned and written, some of which learn."""
    model = copy.copy(model)
    model.pin(("dot", "x", "go"), "L" if model.rules["dot", "x", "go"].depth else "")
    model.replace(
        ("box", "x", "wait"), "X0[x] = 1?\nexists X1: dot. X1[x] - X0[x] = 1?\n1\n2\n0 × 9"
    )
    model.unpin(("box", "x", "wait"), "L")
    model.replace(("box", "y", "go"), {(0, 7): 3, (1, 1): 2}, pin=False)
    return model


def peak_memory() -> float:
    """The most that this process ever used, in MiB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@pytest.mark.parametrize("seed", range(4))
def test_any_damage_to_the_body_gives_a_model_or_one_clear_error(models, seed):
    before = peak_memory()
    accepted = fuzzed(
        models, 800, seed, lambda rng, header, body: file.pack(header, damaged_body(rng, body))
    )
    assert accepted > 0  # or nothing was tested of how accepted ones fare
    assert peak_memory() - before < 300


@pytest.mark.parametrize("seed", range(2))
def test_any_damage_to_the_header_gives_a_model_or_one_clear_error(models, seed):
    accepted = fuzzed(
        models, 600, seed, lambda rng, header, body: file.pack(damaged_header(rng, header), body)
    )
    assert accepted > 0


def test_any_damage_to_the_headers_text_gives_a_model_or_one_clear_error(small):
    rng = random.Random(0)
    text = json.dumps(file.unpack(small.to_bytes(), "it")[0]).encode()
    for _ in range(500):
        content = with_text(small, damaged_body(rng, text))
        try:
            survives(TreeThink.from_bytes(content), rng)
        except ModelFileError as error:
            assert str(error).startswith("the data ")
