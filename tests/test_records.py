"""Records: nothing that was measured is lost, and nothing that is no record is believed."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treethink.errors import MissingPackageError, RecordsError, SettingError, WrongTypeError
from treethink.experiment import TOLERANCE, records
from treethink.experiment.plan import Limits, Run
from treethink.experiment.pool import perform_all
from treethink.experiment.recording import Recording
from treethink.experiment.runs import perform

RUN = Run("walls", "static", "static", seed=0, steps=60, window=25, options={"width": 5})
# (error, times to predict, to observe, and of all) of single steps
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
def test_windows_and_errors_are_those_of_the_steps(
    steps: list[tuple[float, int, int, int]], window: int
) -> None:
    recording = fill(Recording(window), steps)
    if recording.open_steps:
        recording.close({"bytes": recording.observed}, None)
    wrong = [(n, each[0]) for n, each in enumerate(steps, start=1) if each[0] > TOLERANCE]
    assert list(zip(recording.wrong_steps, recording.errors, strict=True)) == wrong
    assert recording.last_error == (wrong[-1][0] if wrong else 0)
    assert recording.nanoseconds == sum(each[3] for each in steps)
    left, rows = iter(enumerate(steps, start=1)), iter(recording.rows)
    while part := list(islice(left, window)):
        row = next(rows)
        assert (row["first"], row["last"]) == (part[0][0], part[-1][0])
        for name, place, unit in (("error", 0, 1), ("predict_us", 1, 1e3), ("observe_us", 2, 1e3)):
            mean = sum(each[place] for _, each in part) / len(part) / unit
            assert row[name] == pytest.approx(mean)
        assert row["bytes"] == row["last"]
    assert next(rows, None) is None


@given(STEPS, st.integers(1, 9), st.data())
def test_a_recording_survives_being_written_anywhere(
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
@settings(max_examples=15)
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, int, int, int]]
) -> None:
    recording = Recording(3)
    for n, step in enumerate(steps):
        if recording.add(*step):
            recording.close({"bytes": n}, (0.5, 2.0) if n % 2 else None)
    folder = records.made(tmp_path_factory.mktemp("records"))
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


def test_a_run_that_is_missing_is_listed_and_empty(tmp_path: Path) -> None:
    other = Run("maze", "static", "static", seed=0, steps=60, window=25)
    perform_all([RUN], tmp_path, processes=0, every=[RUN, other])
    found, missing = records.read(tmp_path).runs
    assert (found.status, missing.status) == ("finished", "missing")
    assert found.windows["last"].tolist() == [25, 50, 60]
    assert not len(missing.errors[0]) and not len(missing.windows["error"])
    assert records.read(tmp_path).manifest["finished"] is None


def test_the_manifest_says_what_was_run_and_where(tmp_path: Path) -> None:
    entries = perform_all([RUN], tmp_path, processes=0, title="some", config={"steps": 60})
    found = records.read(tmp_path).manifest
    assert found["runs"] == entries
    assert (found["title"], found["config"]) == ("some", {"steps": 60})
    assert set(found["versions"]) == {"treethink", "python", "numpy", "pyarrow"}
    assert set(found["machine"]) == {"cpu", "cores", "system"}
    assert found["started"] <= found["finished"]
    assert found["commit"] is None or len(found["commit"].removesuffix("-dirty")) == 40
    assert json.loads((tmp_path / "runs" / f"{RUN.key}.json").read_text()) == entries[0]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "holds no records: there is no manifest.json"),
        ("{", "cannot read .*manifest.json"),
        ("[1]", "holds something else than records"),
        ('{"name": "my-app"}', "is not a manifest of treethink"),
        ('{"format": 1, "runs": [3]}', "is not a manifest of treethink"),
        ('{"format": 99, "runs": []}', "of a newer treethink; this one reads up to 1"),
    ],
)
def test_a_folder_of_something_else_is_one_clear_error_and_left_alone(
    tmp_path: Path, content: str | None, says: str
) -> None:
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(RecordsError, match=says):
        records.read(tmp_path)
    if content is not None:
        with pytest.raises(RecordsError, match=says):
            perform_all([RUN], tmp_path, processes=0)
        assert (tmp_path / "manifest.json").read_text() == content


def test_damaged_columns_are_one_clear_error(tmp_path: Path) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.windows.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RecordsError, match=r"cannot read .*windows\.parquet"):
        _ = records.read(tmp_path).runs[0].windows


@pytest.mark.parametrize("suffix", ["json", "errors.parquet", "windows.parquet"])
def test_a_run_that_has_lost_a_file_is_run_again(tmp_path: Path, suffix: str) -> None:
    perform_all([RUN], tmp_path, processes=0)
    path = tmp_path / "runs" / f"{RUN.key}.{suffix}"
    path.unlink()
    assert perform_all([RUN], tmp_path, processes=0)[0]["status"] == "finished"
    assert path.exists()


def test_an_entry_that_is_damaged_is_as_none(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    (tmp_path / "runs" / f"{RUN.key}.json").write_text("{")
    assert records.ended(tmp_path, RUN) is None


def test_limits_decide_whether_a_stopped_run_is_run_again(tmp_path: Path) -> None:
    def with_seconds(seconds: float | None) -> Run:
        return Run("walls", "static", "static", 0, 60, 25, limits=Limits(seconds))

    (stopped,) = perform_all([with_seconds(1e-9)], tmp_path, processes=0)
    assert stopped["status"] == "stopped"
    assert records.ended(tmp_path, with_seconds(1e-9)) == stopped
    assert records.ended(tmp_path, with_seconds(60)) is None
    (finished,) = perform_all([with_seconds(60)], tmp_path, processes=0)
    assert finished["status"] == "finished"
    assert records.ended(tmp_path, with_seconds(1e-9)) == finished


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordsError, match=r"cannot write to .*file"):
        perform_all([RUN], tmp_path / "file", processes=0)
    with pytest.raises(RecordsError, match="holds no records"):
        records.read(tmp_path / "file")
    with pytest.raises(WrongTypeError, match="a folder must be a str or a path, got 3"):
        records.read(3)  # type: ignore[arg-type]


def test_without_pyarrow_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (lambda: records.read(tmp_path), lambda: perform_all([RUN], tmp_path)):
        with pytest.raises(MissingPackageError, match=r'pip install "treethink\[experiments\]"'):
            call()
