"""Records: no measurement is lost, and invalid records are refused."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treethink.errors import MissingPackageError, RecordsError, SettingError, WrongTypeError
from treethink.repro.runner import TOLERANCE, records
from treethink.repro.runner.measurements import Recording
from treethink.repro.runner.pool import _NoProgress, perform_all
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Limits, Run

RUN = Run("walls", "static", "static", seed=0, steps=60, window=25, options={"width": 5})
# (error, time to predict, to observe, and in total) of single steps
STEPS = st.lists(
    st.tuples(
        st.one_of(st.just(0.0), st.floats(0, 9)),
        *[st.integers(1, 10**6)] * 3,
    ),
    max_size=40,
)


# ---------------------------------------------------------------------------- recordings


def fill(recording: Recording, steps: list[tuple[float, int, int, int]]) -> Recording:
    for step in steps:
        if recording.add(*step):
            recording.close({"bytes": recording.observed}, None)
    return recording


@given(STEPS, st.integers(1, 9))
def test_windows_and_errors_match_the_steps(
    steps: list[tuple[float, int, int, int]], window: int
) -> None:
    recording = fill(Recording(window), steps)
    if recording.open_steps:
        recording.close({"bytes": recording.observed}, None)
    wrong = [(n, each[0]) for n, each in enumerate(steps, start=1) if each[0] > TOLERANCE]
    assert list(zip(recording.wrong_steps, recording.errors, strict=True)) == wrong
    assert recording.last_error == (wrong[-1][0] if wrong else 0)
    assert recording.nanoseconds == sum(each[3] for each in steps)
    remaining, rows = iter(enumerate(steps, start=1)), iter(recording.rows)
    while part := list(islice(remaining, window)):
        row = next(rows)
        assert (row["first"], row["last"]) == (part[0][0], part[-1][0])
        for name, place, unit in (("error", 0, 1), ("predict_us", 1, 1e3), ("observe_us", 2, 1e3)):
            mean = sum(each[place] for _, each in part) / len(part) / unit
            assert row[name] == pytest.approx(mean)
        assert row["bytes"] == row["last"]
    assert next(rows, None) is None


@given(STEPS, st.integers(1, 9), st.data())
def test_a_recording_can_be_saved_and_resumed_at_any_step(
    steps: list[tuple[float, int, int, int]], window: int, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(steps)))
    plain, long = fill(Recording(window), steps[:cut]).to_parts()
    again = Recording.from_parts(json.loads(json.dumps(plain)), long)
    assert again.recent() >= 0
    assert fill(again, steps[cut:]).to_parts() == fill(Recording(window), steps).to_parts()


def test_memory_may_not_use_the_name_of_a_column() -> None:
    recording = Recording(1)
    recording.add(0.0, 1, 1, 1)
    with pytest.raises(SettingError, match="'error', which is a column of its own"):
        recording.close({"error": 3}, None)


# ------------------------------------------------------------------------------- folders


@given(STEPS)
@settings(max_examples=15, deadline=None)
def test_written_records_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, int, int, int]]
) -> None:
    recording = Recording(3)
    for n, step in enumerate(steps):
        if recording.add(*step):
            recording.close({"bytes": n}, (0.5, 2.0) if n % 2 else None)
    folder = records.make_folder(tmp_path_factory.mktemp("records"))
    entry = records.entry(RUN, status="finished", last_error=recording.last_error)
    records.write_run(folder, entry, recording)
    records.write_json(folder / "manifest.json", {"format": 1, "runs": [entry]})
    (run,) = records.read(folder).runs
    assert run.status == "finished" and run.label == "static" and run.options == {"width": 5}
    assert [column.tolist() for column in run.errors] == [
        recording.wrong_steps.tolist(),
        recording.errors.tolist(),
    ]
    assert run.errors[0].dtype == np.int32
    windows = run.windows
    assert windows["first"].dtype == windows["last"].dtype == np.int32
    for name in ("error", "observe_us", "transfer_error", "bytes"):
        if recording.rows:
            expected = [row[name] for row in recording.rows]
            expected = [np.nan if each is None else each for each in expected]
            np.testing.assert_array_equal(windows[name], expected)
    with pytest.raises(AttributeError, match="no 'colour'"):
        _ = run.colour


def test_a_missing_run_is_listed_and_empty(tmp_path: Path) -> None:
    other = Run("maze", "static", "static", seed=0, steps=60, window=25)
    perform_all([RUN], tmp_path, processes=0, every=[RUN, other])
    finished, missing = records.read(tmp_path).runs
    assert (finished.status, missing.status) == ("finished", "missing")
    assert finished.windows["last"].tolist() == [25, 50, 60]
    assert not len(missing.errors[0]) and not len(missing.windows["error"])
    assert records.read(tmp_path).manifest["finished"] is None


def test_the_manifest_describes_runs_versions_and_machine(tmp_path: Path) -> None:
    entries = perform_all([RUN], tmp_path, processes=0, title="some", config={"steps": 60})
    manifest = records.read(tmp_path).manifest
    assert manifest["runs"] == entries
    assert (manifest["title"], manifest["config"]) == ("some", {"steps": 60})
    assert set(manifest["versions"]) == {"treethink", "python", "numpy", "pyarrow", "torch"}
    assert set(manifest["machine"]) == {"cpu", "cores", "system"}
    assert manifest["started"] <= manifest["finished"]
    assert manifest["commit"] is None or len(manifest["commit"].removesuffix("-dirty")) == 40
    assert records.written(tmp_path, RUN.key) == entries[0]


def test_an_experiment_is_finished_when_its_last_run_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finished_at(hour: int, runs: list[Run]) -> str | None:
        monkeypatch.setattr(records, "_now", lambda: f"{hour:02}:00")
        perform_all(runs[:2], tmp_path, processes=0, every=runs)
        finished: str | None = records.read(tmp_path).manifest["finished"]
        return finished

    stopped = replace(RUN, limits=Limits(1e-9))
    other = replace(RUN, seed=1)
    assert finished_at(1, [stopped, other]) == "01:00"
    assert finished_at(2, [stopped, other]) == "01:00"  # nothing was run
    assert finished_at(3, [RUN, other]) == "03:00"  # only the stopped run is repeated
    entry = json.loads((tmp_path / "runs" / f"{other.key}.json").read_text())
    records.write_run(tmp_path, {**entry, "status": "failed"}, None)
    assert finished_at(4, [RUN, other]) == "04:00"  # only the failed run is repeated
    assert finished_at(5, [RUN, other, replace(RUN, seed=2)]) is None


def test_records_and_runs_have_a_repr(tmp_path: Path) -> None:
    missing = replace(RUN, seed=1)
    perform_all([RUN], tmp_path / "some", processes=0, every=[RUN, missing], title="a title")
    recorded = records.read(tmp_path / "some")
    assert repr(recorded) == "<Records 'a title': 2 runs, 1 finished, 1 missing>"
    assert [repr(run) for run in recorded.runs] == [
        f"<RunRecord: static in walls, seed 0, finished, last error {recorded.runs[0].last_error}>",
        "<RunRecord: static in walls, seed 1, missing>",
    ]
    assert {"label", "last_error", "windows", "errors", "entry"} <= set(dir(recorded.runs[0]))
    perform_all([], tmp_path / "none", processes=0)
    assert repr(records.read(tmp_path / "none")) == "<Records 'none': 0 runs>"


def test_the_table_of_records_is_flat_and_complete(tmp_path: Path) -> None:
    run = replace(RUN, examine=20, settings={}, limits=Limits(seconds=60))
    (entry,) = perform_all([run], tmp_path, processes=0)
    (row,) = records.read(tmp_path).table()
    assert not any(isinstance(each, dict) for each in row.values())
    for name, value in entry.items():
        if isinstance(value, dict):
            assert {f"{name}.{inner}": each for inner, each in value.items()}.items() <= row.items()
        elif name not in ("transfer", "examined_transfer", "planned", "scored"):  # null here
            assert row[name] == value
    assert row["options.width"] == 5 and row["examined.learned"] is False
    assert "transfer" not in row and row["limits.megabytes"] is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "holds no records: there is no manifest.json"),
        ("{", "cannot read .*manifest.json"),
        ("[1]", "holds something else than records"),
        ('{"name": "my-app"}', "is not a manifest of treethink"),
        ('{"format": 1, "runs": 3}', "is not a manifest of treethink"),
        (
            '{"format": 1, "runs": [3]}',
            r"manifest.json, runs\[0\] must be the entry of a run, got 3",
        ),
        ('{"format": 1, "runs": [{}]}', r"manifest.json, runs\[0\]: 'key' is missing"),
        ('{"format": 99, "runs": []}', "of a newer treethink; this one reads up to 2"),
    ],
)
def test_a_folder_with_other_content_is_one_clear_error_and_unchanged(
    tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(RecordsError, match=message):
        records.read(tmp_path)
    if content is not None:
        with pytest.raises(RecordsError, match=message):
            perform_all([RUN], tmp_path, processes=0)
        assert (tmp_path / "manifest.json").read_text() == content


EXAMINED = dict.fromkeys(
    ("held_out", "exact", "right_mode", "plausible", "scenes", "wrong_scenes"), 3
) | {"mean_error": 0.5, "learned": True}
INVALID_ENTRIES = [
    ("key", "../../x", "the name of a file"),
    ("key", "..", "the name of a file"),
    ("key", "/etc/passwd", "the name of a file"),
    ("key", "a\\b", "the name of a file"),
    ("key", "a\0b", "the name of a file"),
    ("key", "", "the name of a file"),
    ("key", 3, "the name of a file"),
    ("status", "done", "one of finished, stopped, failed, missing"),
    ("status", [], "one of finished"),
    ("label", 7, "a text"),
    ("message", None, "a text"),
    ("seed", -1, "a whole number"),
    ("steps", 1.5, "a whole number"),
    ("observed", True, "a whole number"),
    ("observed", 10**30, "a whole number"),
    ("last_error", "7", "a whole number of at least 0, of 64 bits or null"),
    ("seconds", math.nan, "a finite number"),
    ("seconds", math.inf, "a finite number"),
    ("seconds", -0.5, "a finite number"),
    ("seconds", 10**400, "a finite number"),
    ("options", [], "a table"),
    ("limits", None, "a table"),
    ("transfer", 3, "a table or null"),
    ("traceback", 3, "a text or null"),
    ("examined", True, "a table or null"),
    ("examined", {**EXAMINED, "learned": 1}, "true or false"),
    ("examined", {**EXAMINED, "mean_error": math.nan}, "a finite number"),
    ("examined_transfer", {"exact": -3}, "a whole number"),
]


@pytest.mark.parametrize(("name", "value", "message"), INVALID_ENTRIES)
def test_the_error_names_the_place_of_an_invalid_entry(
    tmp_path: Path, name: str, value: Any, message: str
) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["runs"][0][name] = value
    records.write_json(path, manifest)  # with the checksum of what it holds now
    with pytest.raises(
        RecordsError, match=rf"manifest\.json, runs\[0\], {name}.* must be {message}"
    ):
        records.read(tmp_path)


@pytest.mark.parametrize("name", ["key", "status", "label", "seconds", "observed", "examined"])
def test_an_incomplete_entry_is_one_clear_error(tmp_path: Path, name: str) -> None:
    entry = {key: each for key, each in records.entry(RUN).items() if key != name}
    with pytest.raises(RecordsError, match=f"here: {name!r} is missing"):
        records.checked(entry, "here")
    incomplete = {key: each for key, each in EXAMINED.items() if key != "learned"}
    with pytest.raises(RecordsError, match="here, examined: 'learned' is missing"):
        records.checked(records.entry(RUN, examined=incomplete), "here")
    assert records.checked(records.entry(RUN, examined=EXAMINED), "here")["key"] == RUN.key


def test_a_run_that_is_listed_twice_is_one_clear_error(tmp_path: Path) -> None:
    both = {"format": 1, "runs": [records.entry(RUN)] * 2}
    (tmp_path / "manifest.json").write_text(json.dumps(both))
    with pytest.raises(RecordsError, match=r"runs\[1\]: .* is there twice"):
        records.read(tmp_path)


def forget_checksums(folder: Path) -> None:
    """Turn the manifest and the entries into those of format 1."""
    for path in (folder / "manifest.json", *(folder / "runs").glob("*.json")):
        content = json.loads(path.read_text())
        for name in ("files", "sha256"):
            del content[name]
        path.write_text(json.dumps({**content, "format": 1}))


@pytest.mark.parametrize(
    ("what", "change", "message"),
    [
        ("errors", {"step": None}, "the column 'step' is missing"),
        ("errors", {"error": [1.0, None, 2.0]}, "the column 'error' has gaps"),
        ("errors", {"error": [math.nan] * 3}, "the column 'error' has gaps"),
        ("errors", {"step": [1.5] * 3}, "the column 'step' must be whole numbers"),
        ("windows", {"last": None}, "the column 'last' is missing"),
        ("windows", {"first": [1, None, 3]}, "the column 'first' must be whole numbers"),
        ("windows", {"error": ["a", "b", "c"]}, "the column 'error' must be numbers"),
        ("windows", {"predict_us": [-1.0] * 3}, "'predict_us' has gaps or negative numbers"),
        ("windows", {"bytes": ["a", "b", "c"]}, "the column 'bytes' must be numbers"),
    ],
)
def test_invalid_columns_are_one_clear_error(
    tmp_path: Path, what: str, change: dict[str, Any], message: str
) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.{what}.parquet"
    table = pq.read_table(path).slice(0, 3)
    columns = {name: table.column(name) for name in table.column_names} | change
    kept = {name: each for name, each in columns.items() if each is not None}
    pq.write_table(pa.table(kept), path)
    forget_checksums(tmp_path)
    with pytest.raises(RecordsError, match=rf"{what}\.parquet: .*{message}"):
        getattr(records.read(tmp_path).runs[0], what)


@pytest.mark.parametrize(
    "change", [{"status": "done"}, {"seconds": math.nan}, {"key": "other"}, {"label": None}]
)
def test_an_invalid_entry_is_reported_and_its_run_repeated(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    (good,) = perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.json"
    path.write_text(json.dumps(good | change))
    other = Run("walls", "static", "other", seed=0, steps=60, window=25)
    perform_all([other], tmp_path, processes=0, every=[RUN, other])  # lists it as missing
    assert [run.status for run in records.read(tmp_path).runs] == ["missing", "finished"]

    class RecordedWarnings(_NoProgress):
        warnings: ClassVar[list[str]] = []

        def warn(self, run: Run, text: str) -> None:
            self.warnings.append(text)

    RecordedWarnings.warnings.clear()
    (again,) = perform_all([RUN], tmp_path, processes=0, progress=RecordedWarnings())
    (warning,) = RecordedWarnings.warnings
    assert f"{RUN.key} counts as not ended" in warning and f"{RUN.key}.json" in warning
    assert {**again, "seconds": 0} == {**good, "seconds": 0}
    assert records.written(tmp_path, RUN.key) == again


# ------------------------------------------------------------------- several experiments

OTHER = Run("walls", "static", "other", seed=0, steps=60, window=25)


def test_a_folder_of_another_experiment_is_refused_and_unchanged(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0, title="one")
    before = (tmp_path / "manifest.json").read_bytes()
    with pytest.raises(RecordsError, match=r"has 1 run of another experiment, 'one', such as"):
        perform_all([OTHER], tmp_path, processes=0, title="two")
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert not list((tmp_path / "runs").glob("*other*"))


def test_an_experiment_may_be_renamed_extended_and_changed(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0, title="one")
    perform_all([RUN, OTHER], tmp_path, processes=0, title="two")
    perform_all([OTHER], tmp_path, processes=0, title="two")
    assert [run.key for run in records.read(tmp_path).runs] == [OTHER.key]
    stamp = (tmp_path / "runs" / f"{RUN.key}.json").stat().st_mtime_ns
    perform_all([RUN, OTHER], tmp_path, processes=0, title="two")  # nothing was lost
    assert (tmp_path / "runs" / f"{RUN.key}.json").stat().st_mtime_ns == stamp
    assert [run.status for run in records.read(tmp_path).runs] == ["finished"] * 2


def test_damaged_columns_are_one_clear_error(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.windows.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RecordsError, match=r"cannot read .*windows\.parquet"):
        _ = records.read(tmp_path).runs[0].windows


# ------------------------------------------------------------------------------ checksums


def flip_a_bit(path: Path, byte: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 1 << bit
    path.write_bytes(content)


def read_everything(folder: Path) -> list[Any]:
    """Return all that the records of a folder hold, as values that can be compared."""
    recorded = records.read(folder)
    columns = [
        {name: each.tobytes() for name, each in run.windows.items()} for run in recorded.runs
    ]
    errors = [[each.tobytes() for each in run.errors] for run in recorded.runs]
    return [recorded.manifest, columns, errors]


@pytest.mark.parametrize("what", ["errors", "windows"])
def test_no_flipped_bit_of_a_column_is_read(tmp_path: Path, what: str) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.{what}.parquet"
    whole = path.read_bytes()
    for byte in range(0, len(whole), 7):
        flip_a_bit(path, byte, bit=byte % 8)
        with pytest.raises(RecordsError, match=rf"{what}\.parquet: .*checksum.* delete it and run"):
            read_everything(tmp_path)
        path.write_bytes(whole)


def test_a_flipped_bit_of_the_manifest_changes_nothing_that_is_read(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0, title="a title")
    path = tmp_path / "manifest.json"
    whole, before = path.read_bytes(), read_everything(tmp_path)
    refused = 0
    for byte in range(0, len(whole), 3):
        flip_a_bit(path, byte, bit=byte % 8)
        try:
            assert read_everything(tmp_path) == before
        except RecordsError as error:
            refused += 1
            assert "manifest.json" in str(error)
        path.write_bytes(whole)
    assert refused > len(whole) // 6  # most bytes are not blanks


@pytest.mark.parametrize("suffix", ["json", "errors.parquet", "windows.parquet"])
def test_a_run_with_a_damaged_file_is_reported_and_repeated(tmp_path: Path, suffix: str) -> None:
    (good,) = perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.{suffix}"
    at = path.read_bytes().index(b"60") if suffix == "json" else path.stat().st_size // 2
    flip_a_bit(path, at)
    warnings: list[str] = []
    assert records.ended(tmp_path, RUN, warnings.append) is None
    (warning,) = warnings
    assert f"{RUN.key} counts as not ended" in warning and path.name in warning
    (again,) = perform_all([RUN], tmp_path, processes=0)
    assert {**again, "seconds": 0} == {**good, "seconds": 0}
    assert read_everything(tmp_path)[0]["runs"] == [again]


def test_merged_parts_are_checked_and_damaged_runs_repeated(tmp_path: Path) -> None:
    runs = [RUN, replace(RUN, seed=1), replace(RUN, seed=2)]
    for number, run in enumerate(runs):
        perform_all([run], tmp_path / f"part{number}", processes=0, every=runs)
        shutil.copytree(tmp_path / f"part{number}", tmp_path / "all", dirs_exist_ok=True)
    perform_all(runs, tmp_path / "whole", processes=0)
    damaged = tmp_path / "all" / "runs" / f"{runs[1].key}.errors.parquet"
    flip_a_bit(damaged, damaged.stat().st_size // 2)
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "all" / "runs").iterdir()}
    perform_all(runs, tmp_path / "all", processes=0)
    changed = [path.name for path, stamp in stamps.items() if path.stat().st_mtime_ns != stamp]
    assert {name.split(".seed")[1][0] for name in changed} == {"1"}
    merged, whole = read_everything(tmp_path / "all"), read_everything(tmp_path / "whole")
    assert merged[2] == whole[2] and len(merged[0]["files"]) == 6


def test_a_deleted_manifest_is_made_again_from_the_runs(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0)
    before = read_everything(tmp_path)
    flip_a_bit(tmp_path / "manifest.json", 40)
    with pytest.raises(RecordsError, match=r"manifest\.json: .*delete it and run"):
        perform_all([RUN], tmp_path, processes=0)
    (tmp_path / "manifest.json").unlink()
    perform_all([RUN], tmp_path, processes=0)
    after = read_everything(tmp_path)
    assert after[1:] == before[1:]
    assert [after[0][name] for name in ("runs", "files")] == [
        before[0][name] for name in ("runs", "files")
    ]


def test_records_without_checksums_can_be_read_and_resumed(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0)
    before = read_everything(tmp_path)
    forget_checksums(tmp_path)
    assert read_everything(tmp_path)[1:] == before[1:]
    stamp = (tmp_path / "runs" / f"{RUN.key}.json").stat().st_mtime_ns
    perform_all([RUN], tmp_path, processes=0)
    assert (tmp_path / "runs" / f"{RUN.key}.json").stat().st_mtime_ns == stamp
    assert read_everything(tmp_path)[1:] == before[1:]


def test_the_manifest_lists_the_checksum_of_every_column_file(tmp_path: Path) -> None:
    perform_all([RUN, replace(RUN, seed=1)], tmp_path, processes=0)
    assert records.read(tmp_path).manifest["files"] == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (tmp_path / "runs").glob("*.parquet")
    }


@pytest.mark.skipif(os.name != "posix", reason="makes symbolic links")
@pytest.mark.parametrize("suffix", ["json", "errors.parquet", "checkpoint", "0.learner"])
def test_records_are_never_read_or_written_through_a_symbolic_link(
    tmp_path: Path, suffix: str
) -> None:
    folder, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("precious")
    (folder / "runs").mkdir(parents=True)
    link = folder / "runs" / f"{RUN.key}.{suffix}"
    link.symlink_to(victim)
    try:
        (entry,) = perform_all([RUN], folder, processes=0)
        assert entry["status"] == "failed" and "RecordsError" in entry["message"]
        assert "is a symbolic link" in entry["message"]
    except RecordsError as error:
        assert "is a symbolic link" in str(error) and link.name in str(error)
    assert victim.read_text() == "precious"


@pytest.mark.skipif(os.name != "posix", reason="makes symbolic links")
def test_the_folder_of_runs_and_the_manifest_may_not_be_links(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path / "real", processes=0)
    for name in ("runs", "manifest.json"):
        folder = tmp_path / f"with-linked-{name}"
        folder.mkdir()
        for each in ("runs", "manifest.json"):
            if each == name:
                (folder / each).symlink_to(tmp_path / "real" / each)
            elif each == "manifest.json":
                (folder / each).write_bytes((tmp_path / "real" / each).read_bytes())
        with pytest.raises(RecordsError, match=f"{name} is a symbolic link"):
            read_everything(folder)
        with pytest.raises(RecordsError, match=f"{name} is a symbolic link"):
            perform_all([RUN], folder, processes=0)
    (tmp_path / "linked").symlink_to(tmp_path / "real")  # the folder as a whole may be a link
    assert read_everything(tmp_path / "linked") == read_everything(tmp_path / "real")


@pytest.mark.parametrize("suffix", ["json", "errors.parquet", "windows.parquet"])
def test_a_run_with_a_missing_file_is_repeated(tmp_path: Path, suffix: str) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.{suffix}"
    path.unlink()
    assert perform_all([RUN], tmp_path, processes=0)[0]["status"] == "finished"
    assert path.exists()


def test_a_damaged_entry_counts_as_missing(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    (tmp_path / "runs" / f"{RUN.key}.json").write_text("{")
    assert records.ended(tmp_path, RUN) is None


def test_limits_decide_whether_a_stopped_run_is_repeated(tmp_path: Path) -> None:
    def with_seconds(seconds: float | None) -> Run:
        return Run("walls", "static", "static", 0, 60, 25, limits=Limits(seconds))

    (stopped,) = perform_all([with_seconds(1e-9)], tmp_path, processes=0)
    assert stopped["status"] == "stopped"
    assert records.ended(tmp_path, with_seconds(1e-9)) == stopped
    assert records.ended(tmp_path, with_seconds(60)) is None
    (finished,) = perform_all([with_seconds(60)], tmp_path, processes=0)
    assert finished["status"] == "finished"
    assert records.ended(tmp_path, with_seconds(1e-9)) == finished


def test_an_invalid_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordsError, match=r"cannot write to .*file"):
        perform_all([RUN], tmp_path / "file", processes=0)
    with pytest.raises(RecordsError, match="holds no records"):
        records.read(tmp_path / "file")
    with pytest.raises(WrongTypeError, match="a folder must be a str or a path, got 3"):
        records.read(3)  # type: ignore[arg-type]


def test_the_error_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (lambda: records.read(tmp_path), lambda: perform_all([RUN], tmp_path)):
        with pytest.raises(MissingPackageError, match=r"pip install '\.\[experiments\]'"):
            call()
