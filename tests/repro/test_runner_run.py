"""A run records what a trial finds, to the bit, however often it is interrupted."""

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
from treethink import baselines
from treethink.baselines import LEARNERS, Static, make_learner
from treethink.errors import ResourceError, UnknownNameError
from treethink.evaluation import examine
from treethink.repro.runner import TOLERANCE, records, trial
from treethink.repro.runner.run import Tell, make_learner_for, perform
from treethink.repro.runner.spec import HELD_OUT, Limits, Run, Transfer
from treethink.stream.random_play import transitions

SMALL = {"width": 5, "height": 5}
RUN = Run("maze", "treethink", "TreeThink", seed=1, steps=230, window=20, options=SMALL)
ELSEWHERE = replace(RUN, transfer=Transfer("maze", every=50, steps=12), examine=60)


def columns(folder: Path, run: Run, what: str) -> dict[str, np.ndarray[Any, Any]]:
    entry = records.written(folder, run.key)
    assert entry is not None
    record = records.RunRecord(folder, entry)
    if what == "errors":
        return dict(zip(("step", "error"), record.errors, strict=True))
    return record.windows


def everything(folder: Path, run: Run) -> dict[str, Any]:
    """All that was recorded but times and bytes held; the errors to the byte.

    A learner that was loaded may hold fewer bytes for the same content: lists grow in leaps.
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


ENDED = {".json", ".errors.parquet", ".windows.parquet"}


# -------------------------------------------------------------------- what is recorded


def test_errors_and_windows_are_those_of_a_trial(tmp_path: Path) -> None:
    entry = perform(RUN, tmp_path)
    world = tt.make("maze", **SMALL)
    errors = list(trial(tt.TreeThink(world.schema), world, 230, seed=1))
    wrong = [(n, each) for n, each in enumerate(errors, start=1) if each > TOLERANCE]
    found = columns(tmp_path, RUN, "errors")
    assert list(zip(found["step"].tolist(), found["error"].tolist(), strict=True)) == wrong
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
    assert files(tmp_path, RUN) == ENDED


def test_times_are_there_and_the_whole_is_more_than_its_parts(tmp_path: Path) -> None:
    entry = perform(RUN, tmp_path)
    assert entry is not None
    windows = records.RunRecord(tmp_path, entry).windows
    steps = windows["last"] - windows["first"] + 1
    parts = float(np.sum(steps * (windows["predict_us"] + windows["observe_us"]))) / 1e6
    assert (windows["predict_us"] > 0).all() and (windows["observe_us"] > 0).all()
    assert 0 < parts <= entry["seconds"] + 0.001


def test_memory_is_that_of_the_learner_at_each_windows_end(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    world = tt.make("maze", **SMALL)
    model = tt.TreeThink(world.schema)
    found = []
    for n, transition in enumerate(transitions(world, 230, seed=1), start=1):
        model.observe(*transition)
        if n % 20 == 0 or n == 230:
            found.append(model.memory_use())
    windows = columns(tmp_path, RUN, "windows")
    for name in ("nodes", "candidates", "kept"):
        assert windows[name].tolist() == [each[name] for each in found]
    assert windows["bytes"].dtype == np.int64


def test_transfer_is_asked_when_a_multiple_is_passed(tmp_path: Path) -> None:
    entry = perform(ELSEWHERE, tmp_path)
    windows = columns(tmp_path, ELSEWHERE, "windows")
    asked = windows["last"][~np.isnan(windows["transfer_error"])]
    assert asked.tolist() == [60, 100, 160, 200]  # the first ends of windows past 50, 100, ...
    here, there = tt.make("maze", **SMALL), tt.make("maze")
    model = tt.TreeThink(here.schema)
    for n, transition in enumerate(transitions(here, 230, seed=1), start=1):
        model.observe(*transition)
        if n in asked:
            stream = transitions(there, 12, seed=HELD_OUT + 1)
            errors = [
                tt.error(model.predict(before, action), there.truth(before, action, after))
                for before, action, after in stream
            ]
            found = windows["transfer_error"][windows["last"] == n]
            assert found == pytest.approx(np.mean(errors))
    assert entry is not None
    times = records.RunRecord(tmp_path, entry).windows["transfer_us"]
    assert (np.isnan(times) == np.isnan(windows["transfer_error"])).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_is_examined_here_and_elsewhere(tmp_path: Path, learner: str) -> None:
    run = replace(ELSEWHERE, learner=learner, steps=60, examine=40)
    entry = perform(run, tmp_path)
    assert entry is not None and entry["status"] == "finished", entry["traceback"]
    here, there = tt.make("maze", **SMALL), tt.make("maze")
    model = make_learner_for(run, here)
    for transition in transitions(here, 60, seed=1):
        model.observe(*transition)
    for world, found in ((here, entry["examined"]), (there, entry["examined_transfer"])):
        expected = examine(model, world, transitions(world, 40, HELD_OUT + 1))
        assert found == {
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


def test_chance_is_scored_against_the_stated_truth(tmp_path: Path) -> None:
    run = Run("fish", "oracle", "oracle", seed=0, steps=50, window=50, options=SMALL)
    entry = perform(run, tmp_path)
    assert entry is not None and entry["last_error"] == 0


def test_the_four_ways_to_ask_are_recorded_alike(tmp_path: Path) -> None:
    whole = {"facts": "full", "bindings": "all"}
    other = replace(ELSEWHERE, predict=whole)
    perform(ELSEWHERE, tmp_path)
    perform(other, tmp_path)
    found = [everything(tmp_path, run) for run in (ELSEWHERE, other)]
    assert found[0]["windows"] == found[1]["windows"] and found[0]["errors"] == found[1]["errors"]
    assert found[1]["entry"]["predict"] == whole


class Chancy(Static):
    """It takes a seed, as a network does, and keeps it."""

    name = "chancy"

    def __init__(self, schema: tt.Schema, *, seed: int = 0):
        super().__init__(schema)
        self.seed = seed

    def settings(self) -> dict[str, Any]:
        return {"seed": self.seed}


def test_a_learner_that_takes_a_seed_has_the_runs_unless_it_is_told_another() -> None:
    world = tt.make("walls")

    def seed_of(name: str, **settings: Any) -> Any:
        run = Run("walls", name, "x", seed=7, steps=9, window=1, settings=settings)
        return make_learner_for(run, world).settings().get("seed")

    chancy = f"{__name__}:Chancy"
    assert seed_of(chancy) == 7 and seed_of(chancy, seed=3) == 3
    assert seed_of("npe") == 7 and seed_of("npe", seed=0) == 0
    assert seed_of("npe-star") is seed_of("static") is None
    with pytest.raises(UnknownNameError, match="unknown learner 'chancy'"):
        seed_of("chancy")


def test_runs_of_other_seeds_begin_with_other_weights_and_keys_stay() -> None:
    world = tt.make("walls")
    runs = [Run("walls", "npe", "x", seed=seed, steps=9, window=1) for seed in (0, 0, 1)]
    first, again, other = (make_learner_for(run, world).body() for run in runs)
    assert first == again == make_learner("npe", world).body() != other
    assert [run.settings for run in runs] == [{}] * 3
    assert runs[2].key == "walls.x.seed1.5a040af2"


def test_garbage_is_collected_again_afterwards(tmp_path: Path) -> None:
    assert gc.isenabled()
    perform(replace(ELSEWHERE, steps=60), tmp_path)
    assert gc.isenabled()
    gc.disable()
    try:
        perform(replace(RUN, steps=60), tmp_path)
        assert not gc.isenabled()
    finally:
        gc.enable()


# ------------------------------------------------------------------------ interruptions


def until(step: int) -> Tell:
    """Stops a run once it has observed so many, or is being examined."""
    return lambda observed, error, doing: observed < step


def interrupted(run: Run, folder: Path, stops: list[int]) -> None:
    """Perform a run in parts."""
    for stop in sorted(stops):
        if perform(run, folder, tell=until(stop), tell_every=0) is not None:
            break
        assert files(folder, run) >= {".checkpoint"}
        assert records.ended(folder, run) is None
    with warnings.catch_warnings(action="error"):
        perform(run, folder)
    assert files(folder, run) == ENDED


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is recorded by runs that nobody interrupts."""
    folder, found = tmp_path_factory.mktemp("whole"), {}
    for learner in LEARNERS:
        run = replace(ELSEWHERE, learner=learner, steps=90)
        perform(run, folder)
        found[learner] = everything(folder, run)
    perform(ELSEWHERE, folder)
    return found | {"long": everything(folder, ELSEWHERE)}


def test_interrupted_anywhere_the_record_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, whole: dict[str, Any]
) -> None:
    @given(st.lists(st.integers(1, 231), min_size=1, max_size=4))
    @settings(max_examples=12, deadline=None)
    def holds(stops: list[int]) -> None:
        folder = tmp_path_factory.mktemp("parts")
        interrupted(ELSEWHERE, folder, stops)
        assert everything(folder, ELSEWHERE) == whole["long"]

    holds()


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_can_be_interrupted(
    tmp_path: Path, whole: dict[str, Any], learner: str
) -> None:
    run = replace(ELSEWHERE, learner=learner, steps=90)
    interrupted(run, tmp_path, [13, 40, 55])
    assert everything(tmp_path, run) == whole[learner]


def test_an_examination_can_be_interrupted(tmp_path: Path, whole: dict[str, Any]) -> None:
    steps: list[int] = []

    def tell(observed: int, error: float, doing: str) -> bool:
        steps.append(observed)
        return steps.count(ELSEWHERE.steps) < 20

    assert perform(ELSEWHERE, tmp_path, tell=tell, tell_every=0) is None
    assert steps[-1] == ELSEWHERE.steps
    interrupted(ELSEWHERE, tmp_path, [])
    assert everything(tmp_path, ELSEWHERE) == whole["long"]


class Killed(BaseException):
    """The power is gone."""


def test_a_run_that_is_killed_goes_on_from_its_last_checkpoint(
    tmp_path: Path, whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def power(observed: int, error: float, doing: str) -> bool:
        if observed == 150:
            raise Killed
        return True

    with suppress(Killed):
        perform(ELSEWHERE, tmp_path, tell=power, tell_every=0, save_every=0)
    left = {name for name in files(tmp_path, ELSEWHERE) if name.endswith(".learner")}
    assert len(left) == 1  # older ones are removed
    seen: list[int] = []
    load = tt.TreeThink.load.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(
        tt.TreeThink,
        "load",
        classmethod(lambda cls, path: seen.append((m := load(cls, path)).observations) or m),
    )
    interrupted(ELSEWHERE, tmp_path, [])
    assert 0 < seen[0] <= 150
    assert everything(tmp_path, ELSEWHERE) == whole["long"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("which", ["checkpoint", "learner"])
@pytest.mark.parametrize("damage", [cut, flip, Path.unlink, lambda path: path.write_text("no")])
def test_a_damaged_checkpoint_is_told_and_not_believed(
    tmp_path: Path, whole: dict[str, Any], which: str, damage: Any
) -> None:
    perform(ELSEWHERE, tmp_path, tell=until(100), tell_every=0)
    (path,) = (tmp_path / "runs").glob(f"*.{which}")
    damage(path)
    told: list[str] = []
    perform(ELSEWHERE, tmp_path, warn=told.append)
    missing = damage is Path.unlink and which == "checkpoint"
    assert ["starts anew" in each for each in told] == ([] if missing else [True])
    assert everything(tmp_path, ELSEWHERE) == whole["long"]
    assert files(tmp_path, ELSEWHERE) == ENDED


def test_the_checkpoint_of_another_run_is_not_believed(
    tmp_path: Path, whole: dict[str, Any]
) -> None:
    other = replace(ELSEWHERE, seed=2)
    perform(other, tmp_path, tell=until(100), tell_every=0)
    for path in (tmp_path / "runs").iterdir():
        path.rename(path.with_name(path.name.replace(other.key, ELSEWHERE.key)))
    with pytest.warns(UserWarning, match=f"{ELSEWHERE.key} starts anew: .* of another run"):
        perform(ELSEWHERE, tmp_path)
    assert everything(tmp_path, ELSEWHERE) == whole["long"]


# ------------------------------------------------------------------- limits and failures


def test_a_run_beyond_its_memory_is_stopped_at_the_end_of_a_window(tmp_path: Path) -> None:
    perform(RUN, tmp_path)
    grown = columns(tmp_path, RUN, "windows")["bytes"]
    run = replace(RUN, limits=Limits(megabytes=(grown[2] + 1) / 1e6))
    step = 20 * (int(np.argmax(grown > grown[2] + 1)) + 1)
    entry = perform(run, tmp_path)
    assert entry is not None and 60 < step < 230
    assert (entry["status"], entry["observed"], entry["examined"]) == ("stopped", step, None)
    assert entry["message"].startswith(f"after step {step}: it used more than")
    assert columns(tmp_path, run, "windows")["last"].tolist() == list(range(20, step + 1, 20))


@pytest.mark.parametrize(
    ("limit", "says"), [(0.001, "0.001 megabytes: "), (1, "1 megabyte: "), (2, "2 megabytes: ")]
)
def test_limits_are_told_as_people_say_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: float, says: str
) -> None:
    monkeypatch.setattr(Static, "memory_use", lambda self: {"bytes": 3_000_000})
    run = replace(RUN, learner="static", settings={}, predict={}, limits=Limits(megabytes=limit))
    entry = perform(run, tmp_path)
    assert entry is not None and f"it used more than {says}3,000,000 bytes" in entry["message"]


def test_a_run_beyond_its_time_is_stopped_and_time_is_kept_over_interruptions(
    tmp_path: Path,
) -> None:
    endless = replace(RUN, steps=10**6, limits=Limits(seconds=0.2))
    for stop in (10, 20, 30):
        assert perform(endless, tmp_path, tell=until(stop), tell_every=0) is None
    entry = perform(endless, tmp_path)
    assert entry is not None and entry["status"] == "stopped"
    assert 30 < entry["observed"] < 10**6 and 0.2 <= entry["seconds"] < 2
    assert entry["message"].endswith("it took more than 0.2 seconds")
    assert columns(tmp_path, endless, "windows")["last"][-1] == entry["observed"]


class Odd(Static):
    """A learner with which something is wrong."""

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
        made = cls(tt.make("maze").schema, wrong=wrong)
        made.seen = seen
        return made


@pytest.fixture
def _odd(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(baselines.LEARNERS, "odd", Odd)
    yield


def explanations(wrong: str) -> Run:
    return replace(RUN, learner="odd", settings={"wrong": wrong})


@pytest.mark.usefixtures("_odd")
def test_a_learner_that_gives_up_stops_its_run(tmp_path: Path) -> None:
    entry = perform(explanations("full"), tmp_path)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("stopped", 33)
    assert entry["message"] == ("after step 33: there are 5,000 hypotheses, and 4,000 allowed")
    assert columns(tmp_path, explanations("full"), "windows")["last"].tolist() == [20, 33]


@pytest.mark.usefixtures("_odd")
def test_a_learner_that_breaks_fails_its_run_and_keeps_what_there_is(tmp_path: Path) -> None:
    entry = perform(explanations("broken"), tmp_path, save_every=0, tell_every=0)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("failed", 33)
    assert entry["message"] == "after step 33: ZeroDivisionError: by zero"
    assert "in learn" in entry["traceback"]
    assert columns(tmp_path, explanations("broken"), "windows")["last"].tolist() == [20]
    assert files(tmp_path, explanations("broken")) == ENDED
    assert records.ended(tmp_path, explanations("broken")) is None


@pytest.mark.usefixtures("_odd")
def test_a_learner_that_cannot_be_saved_fails_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = perform(explanations("unsaved"), tmp_path)
    assert entry is not None
    assert (entry["status"], entry["observed"]) == ("failed", 0)
    assert entry["message"] == "NotImplementedError: not yet"
    monkeypatch.setattr(Odd, "save", None)
    entry = perform(explanations("none"), tmp_path)
    assert entry is not None and "Odd has no save" in entry["message"]


def test_a_world_that_cannot_be_made_fails_its_run(tmp_path: Path) -> None:
    entry = perform(replace(RUN, options={"width": 2}), tmp_path)
    assert entry is not None and entry["status"] == "failed"
    assert "width must be at least 3" in entry["message"]
    assert math.isclose(entry["seconds"], 0)
