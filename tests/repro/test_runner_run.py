"""A run records exactly the errors of a trial, however often it is interrupted."""

from __future__ import annotations

import gc
import json
import math
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treethink as tt
from treethink import baselines, file
from treethink.baselines import LEARNERS, Static, make_learner
from treethink.errors import RecordsError, ResourceError, UnknownNameError
from treethink.evaluation import examine
from treethink.model import TreeThink
from treethink.repro.runner import TOLERANCE, records, trial
from treethink.repro.runner.checkpoint import Checkpoint
from treethink.repro.runner.run import Tell, make_learner_for, perform
from treethink.repro.runner.spec import HELD_OUT, Limits, Run, Transfer
from treethink.stream.random_play import transitions

SMALL = {"width": 5, "height": 5}
RUN = Run("maze", "treethink", "TreeThink", seed=1, steps=230, window=20, options=SMALL)
TRANSFER_RUN = replace(RUN, transfer=Transfer("maze", every=50, steps=12), examine=60)


def columns(folder: Path, run: Run, what: str) -> dict[str, np.ndarray[Any, Any]]:
    entry = records.written(folder, run.key)
    assert entry is not None
    record = records.RunRecord(folder, entry)
    if what == "errors":
        return dict(zip(("step", "error"), record.errors, strict=True))
    return record.windows


def comparable_record(folder: Path, run: Run) -> dict[str, Any]:
    """Return all that was recorded except times and bytes held; the errors to the byte.

    A loaded learner may hold fewer bytes for the same content, since lists over-allocate.
    """
    entry = records.written(folder, run.key)
    assert entry is not None
    windows = columns(folder, run, "windows")
    measured = {name for name in windows if name.endswith("_us")} | {"bytes"}
    return {
        "errors": (folder / "runs" / f"{run.key}.errors.parquet").read_bytes(),
        "windows": {
            name: (str(windows[name].dtype), windows[name].tobytes())
            for name in sorted(windows.keys() - measured)
        },
        "entry": {name: each for name, each in entry.items() if name != "seconds"},
    }


def files(folder: Path, run: Run) -> set[str]:
    return {path.name.removeprefix(run.key) for path in (folder / "runs").iterdir()}


FILES_OF_ENDED_RUN = {".json", ".errors.parquet", ".windows.parquet"}


# -------------------------------------------------------------------- records


def test_errors_and_windows_are_those_of_a_trial(tmp_path: Path) -> None:
    entry = perform(RUN, tmp_path)
    world = tt.make("maze", **SMALL)
    errors = list(trial(tt.TreeThink(world.schema), world, 230, seed=1))
    wrong = [(n, each) for n, each in enumerate(errors, start=1) if each > TOLERANCE]
    recorded = columns(tmp_path, RUN, "errors")
    assert list(zip(recorded["step"].tolist(), recorded["error"].tolist(), strict=True)) == wrong
    windows = columns(tmp_path, RUN, "windows")
    assert windows["first"].tolist() == list(range(1, 230, 20))
    assert windows["last"].tolist() == [*range(20, 230, 20), 230]
    for first, last, mean in zip(windows["first"], windows["last"], windows["error"], strict=True):
        assert mean == pytest.approx(np.mean(errors[first - 1 : last]))
    assert entry is not None and len(wrong) > 10
    assert (entry["status"], entry["observed"], entry["last_error"]) == (
        "finished",
        230,
        wrong[-1][0],
    )
    assert files(tmp_path, RUN) == FILES_OF_ENDED_RUN


def test_times_are_recorded_and_add_up_to_less_than_the_total(tmp_path: Path) -> None:
    entry = perform(RUN, tmp_path)
    assert entry is not None
    windows = records.RunRecord(tmp_path, entry).windows
    steps = windows["last"] - windows["first"] + 1
    parts = float(np.sum(steps * (windows["predict_us"] + windows["observe_us"]))) / 1e6
    assert (windows["predict_us"] > 0).all() and (windows["observe_us"] > 0).all()
    assert 0 < parts <= entry["seconds"] + 0.001


def test_the_memory_of_the_learner_is_recorded_for_each_window(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    world = tt.make("maze", **SMALL)
    model = tt.TreeThink(world.schema)
    memory = []
    for n, transition in enumerate(transitions(world, 230, seed=1), start=1):
        model.observe(*transition)
        if n % 20 == 0 or n == 230:
            memory.append(model.memory_use())
    windows = columns(tmp_path, RUN, "windows")
    for name in ("nodes", "candidates", "kept"):
        assert windows[name].tolist() == [each[name] for each in memory]
    assert windows["bytes"].dtype == np.int64


def test_transfer_is_measured_when_a_multiple_is_passed(tmp_path: Path) -> None:
    entry = perform(TRANSFER_RUN, tmp_path)
    windows = columns(tmp_path, TRANSFER_RUN, "windows")
    measured_at = windows["last"][~np.isnan(windows["transfer_error"])]
    assert measured_at.tolist() == [
        60,
        100,
        160,
        200,
    ]  # the first ends of windows past 50, 100, ...
    here, there = tt.make("maze", **SMALL), tt.make("maze")
    model = tt.TreeThink(here.schema)
    for n, transition in enumerate(transitions(here, 230, seed=1), start=1):
        model.observe(*transition)
        if n in measured_at:
            stream = transitions(there, 12, seed=HELD_OUT + 1)
            errors = [
                tt.error(model.predict(before, action), there.truth(before, action, after))
                for before, action, after in stream
            ]
            recorded = windows["transfer_error"][windows["last"] == n]
            assert recorded == pytest.approx(np.mean(errors))
    assert entry is not None
    times = records.RunRecord(tmp_path, entry).windows["transfer_us"]
    assert (np.isnan(times) == np.isnan(windows["transfer_error"])).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_is_examined_in_both_worlds(tmp_path: Path, learner: str) -> None:
    run = replace(TRANSFER_RUN, learner=learner, steps=60, examine=40)
    entry = perform(run, tmp_path)
    assert entry is not None and entry["status"] == "finished", entry["traceback"]
    here, there = tt.make("maze", **SMALL), tt.make("maze")
    model = make_learner_for(run, here)
    for transition in transitions(here, 60, seed=1):
        model.observe(*transition)
    for world, examination in ((here, entry["examined"]), (there, entry["examined_transfer"])):
        expected = examine(model, world, transitions(world, 40, HELD_OUT + 1))
        assert examination == {
            "held_out": 40,
            "exact": expected.exact,
            "right_mode": expected.right_mode,
            "plausible": expected.plausible,
            "mean_error": expected.mean_error,
            "scenes": expected.scenes,
            "wrong_scenes": len(expected.wrong_scenes),
            "learned": expected.learned,
        }
    if learner == "oracle":
        assert entry["examined"]["learned"] and entry["last_error"] == 0


def test_random_worlds_are_scored_against_the_stated_probabilities(tmp_path: Path) -> None:
    run = Run("fish", "oracle", "oracle", seed=0, steps=50, window=50, options=SMALL)
    entry = perform(run, tmp_path)
    assert entry is not None and entry["last_error"] == 0


def test_settings_of_predict_do_not_change_the_record(tmp_path: Path) -> None:
    settings_of_predict = {"facts": "full", "bindings": "all"}
    other = replace(TRANSFER_RUN, predict=settings_of_predict)
    perform(TRANSFER_RUN, tmp_path)
    perform(other, tmp_path)
    recorded = [comparable_record(tmp_path, run) for run in (TRANSFER_RUN, other)]
    assert (
        recorded[0]["windows"] == recorded[1]["windows"]
        and recorded[0]["errors"] == recorded[1]["errors"]
    )
    assert recorded[1]["entry"]["predict"] == settings_of_predict


class SeededLearner(Static):
    """A learner that takes a seed, as a network does."""

    name = "chancy"

    def __init__(self, schema: tt.Schema, *, seed: int = 0):
        super().__init__(schema)
        self.seed = seed

    def settings(self) -> dict[str, Any]:
        return {"seed": self.seed}


def test_a_learner_gets_the_seed_of_its_run_by_default() -> None:
    world = tt.make("walls")

    def seed_of(name: str, **settings: Any) -> Any:
        run = Run("walls", name, "x", seed=7, steps=9, window=1, settings=settings)
        return make_learner_for(run, world).settings().get("seed")

    learner = f"{__name__}:SeededLearner"
    assert seed_of(learner) == 7 and seed_of(learner, seed=3) == 3
    assert seed_of("npe") == 7 and seed_of("npe", seed=0) == 0
    assert seed_of("npe-star") is seed_of("static") is None
    with pytest.raises(UnknownNameError, match="unknown learner 'chancy'"):
        seed_of("chancy")


def test_the_seed_of_a_run_decides_the_weights_of_a_network() -> None:
    world = tt.make("walls")
    runs = [Run("walls", "npe", "x", seed=seed, steps=9, window=1) for seed in (0, 0, 1)]
    first, again, other = (make_learner_for(run, world).body() for run in runs)
    assert first == again == make_learner("npe", world).body() != other
    assert [run.settings for run in runs] == [{}] * 3
    assert runs[2].key == "walls.x.seed1.5a040af2"


def test_garbage_collection_is_restored_after_a_run(tmp_path: Path) -> None:
    assert gc.isenabled()
    perform(replace(TRANSFER_RUN, steps=60), tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        perform(replace(RUN, steps=60), tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()


# ------------------------------------------------------------------------ interruptions


def stop_at(step: int) -> Tell:
    """Return a callback that stops a run after this number of observations."""
    return lambda observed, error, doing: observed < step


def perform_in_parts(run: Run, folder: Path, stops: list[int]) -> None:
    """Perform a run that is stopped at these steps and resumed."""
    for stop in sorted(stops):
        if perform(run, folder, tell=stop_at(stop), tell_every=0) is not None:
            break
        assert files(folder, run) >= {".checkpoint"}
        assert records.ended(folder, run) is None
    with warnings.catch_warnings(action="error"):
        perform(run, folder)
    assert files(folder, run) == FILES_OF_ENDED_RUN


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the records of uninterrupted runs."""
    folder, recorded = tmp_path_factory.mktemp("whole"), {}
    for learner in LEARNERS:
        run = replace(TRANSFER_RUN, learner=learner, steps=90)
        perform(run, folder)
        recorded[learner] = comparable_record(folder, run)
    perform(TRANSFER_RUN, folder)
    return recorded | {"long": comparable_record(folder, TRANSFER_RUN)}


def test_a_run_interrupted_anywhere_has_the_same_record(
    tmp_path_factory: pytest.TempPathFactory, uninterrupted: dict[str, Any]
) -> None:
    @given(st.lists(st.integers(1, 231), min_size=1, max_size=4))
    @settings(max_examples=12, deadline=None)
    def holds(stops: list[int]) -> None:
        folder = tmp_path_factory.mktemp("parts")
        perform_in_parts(TRANSFER_RUN, folder, stops)
        assert comparable_record(folder, TRANSFER_RUN) == uninterrupted["long"]

    holds()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_can_be_interrupted(
    tmp_path: Path, uninterrupted: dict[str, Any], learner: str
) -> None:
    run = replace(TRANSFER_RUN, learner=learner, steps=90)
    perform_in_parts(run, tmp_path, [13, 40, 55])
    assert comparable_record(tmp_path, run) == uninterrupted[learner]


def test_an_examination_can_be_interrupted(tmp_path: Path, uninterrupted: dict[str, Any]) -> None:
    steps: list[int] = []

    def tell(observed: int, error: float, doing: str) -> bool:
        steps.append(observed)
        return steps.count(TRANSFER_RUN.steps) < 20

    assert perform(TRANSFER_RUN, tmp_path, tell=tell, tell_every=0) is None
    assert steps[-1] == TRANSFER_RUN.steps
    perform_in_parts(TRANSFER_RUN, tmp_path, [])
    assert comparable_record(tmp_path, TRANSFER_RUN) == uninterrupted["long"]


class PowerFailure(BaseException):
    """Simulates a process that is killed."""


def test_a_killed_run_resumes_from_its_last_checkpoint(
    tmp_path: Path, uninterrupted: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_at_150(observed: int, error: float, doing: str) -> bool:
        if observed == 150:
            raise PowerFailure
        return True

    with suppress(PowerFailure):
        perform(TRANSFER_RUN, tmp_path, tell=fail_at_150, tell_every=0, save_every=0)
    checkpoints = {name for name in files(tmp_path, TRANSFER_RUN) if name.endswith(".learner")}
    assert len(checkpoints) == 1  # older ones are removed
    observations: list[int] = []
    load = tt.TreeThink.load.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        tt.TreeThink,
        "load",
        classmethod(
            lambda cls, path: observations.append((m := load(cls, path)).observations) or m
        ),
    )
    perform_in_parts(TRANSFER_RUN, tmp_path, [])
    assert 0 < observations[0] <= 150
    assert comparable_record(tmp_path, TRANSFER_RUN) == uninterrupted["long"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("which", ["checkpoint", "learner"])
@pytest.mark.parametrize("damage", [cut, flip, Path.unlink, lambda path: path.write_text("no")])
def test_a_damaged_checkpoint_is_reported_and_ignored(
    tmp_path: Path, uninterrupted: dict[str, Any], which: str, damage: Any
) -> None:
    perform(TRANSFER_RUN, tmp_path, tell=stop_at(100), tell_every=0)
    (path,) = (tmp_path / "runs").glob(f"*.{which}")
    damage(path)
    warnings_: list[str] = []
    perform(TRANSFER_RUN, tmp_path, warn=warnings_.append)
    missing = damage is Path.unlink and which == "checkpoint"
    assert ["starts anew" in each for each in warnings_] == ([] if missing else [True])
    assert comparable_record(tmp_path, TRANSFER_RUN) == uninterrupted["long"]
    assert files(tmp_path, TRANSFER_RUN) == FILES_OF_ENDED_RUN


@pytest.mark.parametrize("name", ["../victim", "/etc/passwd", "..", "", "a/b", "link", 3, None])
def test_a_checkpoint_that_names_a_file_elsewhere_is_reported_and_ignored(
    tmp_path: Path, uninterrupted: dict[str, Any], name: object
) -> None:
    perform(TRANSFER_RUN, tmp_path, tell=stop_at(100), tell_every=0)
    (path,) = (tmp_path / "runs").glob("*.checkpoint")
    if name == "link":
        (learner,) = (tmp_path / "runs").glob("*.learner")
        learner.rename(tmp_path / "victim")
        learner.symlink_to(tmp_path / "victim")
    else:
        header, long = file.unpack(path.read_bytes(), "")
        path.write_bytes(file.pack({**header, "learner": name}, long))
    with pytest.raises(RecordsError, match="symbolic link" if name == "link" else "a file name"):
        Checkpoint(tmp_path / "runs", TRANSFER_RUN.key).load(TreeThink)
    with pytest.warns(UserWarning, match=f"{TRANSFER_RUN.key} starts anew: "):
        perform(TRANSFER_RUN, tmp_path)
    assert comparable_record(tmp_path, TRANSFER_RUN) == uninterrupted["long"]


def test_the_checkpoint_of_another_run_is_ignored(
    tmp_path: Path, uninterrupted: dict[str, Any]
) -> None:
    other = replace(TRANSFER_RUN, seed=2)
    perform(other, tmp_path, tell=stop_at(100), tell_every=0)
    for path in (tmp_path / "runs").iterdir():
        path.rename(path.with_name(path.name.replace(other.key, TRANSFER_RUN.key)))
    with pytest.warns(UserWarning, match=f"{TRANSFER_RUN.key} starts anew: .* of another run"):
        perform(TRANSFER_RUN, tmp_path)
    assert comparable_record(tmp_path, TRANSFER_RUN) == uninterrupted["long"]


# ------------------------------------------------------------------- limits and failures


def test_a_run_beyond_its_memory_limit_is_stopped_at_the_end_of_a_window(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    sizes = columns(tmp_path, RUN, "windows")["bytes"]
    run = replace(RUN, limits=Limits(megabytes=(sizes[2] + 1) / 1e6))
    step = 20 * (int(np.argmax(sizes > sizes[2] + 1)) + 1)
    entry = perform(run, tmp_path)
    assert entry is not None and 60 < step < 230
    assert (entry["status"], entry["observed"], entry["examined"]) == ("stopped", step, None)
    assert entry["message"].startswith(f"after step {step}: it used more than")
    assert columns(tmp_path, run, "windows")["last"].tolist() == list(range(20, step + 1, 20))


@pytest.mark.parametrize(
    ("limit", "message"), [(0.001, "0.001 megabytes: "), (1, "1 megabyte: "), (2, "2 megabytes: ")]
)
def test_limits_are_worded_with_correct_plurals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: float, message: str
) -> None:
    monkeypatch.setattr(Static, "memory_use", lambda self: {"bytes": 3_000_000})
    run = replace(RUN, learner="static", settings={}, predict={}, limits=Limits(megabytes=limit))
    entry = perform(run, tmp_path)
    assert entry is not None and f"it used more than {message}3,000,000 bytes" in entry["message"]


def test_a_run_beyond_its_time_limit_is_stopped_also_after_interruptions(
    tmp_path: Path,
) -> None:
    endless = replace(RUN, steps=10**6, limits=Limits(seconds=0.2))
    for stop in (10, 20, 30):
        assert perform(endless, tmp_path, tell=stop_at(stop), tell_every=0) is None
    entry = perform(endless, tmp_path)
    assert entry is not None and entry["status"] == "stopped"
    assert 30 < entry["observed"] < 10**6 and 0.2 <= entry["seconds"] < 2
    assert entry["message"].endswith("it took more than 0.2 seconds")
    assert columns(tmp_path, endless, "windows")["last"][-1] == entry["observed"]


class FaultyLearner(Static):
    """A learner that fails in one of several ways."""

    def __init__(self, schema: Any, *, wrong: str):
        super().__init__(schema)
        self.wrong, self.seen = wrong, 0

    def learn(self, before: Any, action: str, after: Any) -> None:
        self.seen += 1
        if self.seen > 33 and self.wrong == "full":
            raise ResourceError("there are 5,000 hypotheses, and 4,000 allowed")
        if self.seen > 33 and self.wrong == "broken":
            raise ZeroDivisionError("by zero")

    def save(self, path: Any) -> None:
        if self.wrong == "unsaved":
            raise NotImplementedError("not yet")
        Path(path).write_text(json.dumps([self.wrong, self.seen]))

    @classmethod
    def load(cls, path: Any) -> Any:
        wrong, seen = json.loads(Path(path).read_text())
        learner = cls(tt.make("maze").schema, wrong=wrong)
        learner.seen = seen
        return learner


@pytest.fixture
def _faulty_learner(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(baselines.LEARNERS, "odd", FaultyLearner)
    yield


def faulty_run(wrong: str) -> Run:
    return replace(RUN, learner="odd", settings={"wrong": wrong})


@pytest.mark.usefixtures("_faulty_learner")
def test_a_learner_that_gives_up_stops_its_run(tmp_path: Path) -> None:
    entry = perform(faulty_run("full"), tmp_path)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("stopped", 33)
    assert entry["message"] == ("after step 33: there are 5,000 hypotheses, and 4,000 allowed")
    assert columns(tmp_path, faulty_run("full"), "windows")["last"].tolist() == [20, 33]


@pytest.mark.usefixtures("_faulty_learner")
def test_a_failing_learner_fails_its_run_and_keeps_the_records(tmp_path: Path) -> None:
    entry = perform(faulty_run("broken"), tmp_path, save_every=0, tell_every=0)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("failed", 33)
    assert entry["message"] == "after step 33: ZeroDivisionError: by zero"
    assert "in learn" in entry["traceback"]
    assert columns(tmp_path, faulty_run("broken"), "windows")["last"].tolist() == [20]
    assert files(tmp_path, faulty_run("broken")) == FILES_OF_ENDED_RUN
    assert records.ended(tmp_path, faulty_run("broken")) is None


@pytest.mark.usefixtures("_faulty_learner")
def test_a_learner_that_cannot_be_saved_fails_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = perform(faulty_run("unsaved"), tmp_path)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("failed", 0)
    assert entry["message"] == "NotImplementedError: not yet"
    monkeypatch.setattr(FaultyLearner, "save", None)
    entry = perform(faulty_run("none"), tmp_path)
    assert entry is not None and "FaultyLearner has no save" in entry["message"]


def test_a_world_that_cannot_be_created_fails_its_run(tmp_path: Path) -> None:
    entry = perform(replace(RUN, options={"width": 2}), tmp_path)
    assert entry is not None and entry["status"] == "failed"
    assert "width must be at least 3" in entry["message"]
    assert math.isclose(entry["seconds"], 0)
