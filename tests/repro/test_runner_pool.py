"""Many runs: whatever happens, no finished run is lost or repeated."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from treethink import cli
from treethink.errors import RecordsError
from treethink.repro.report import statistics
from treethink.repro.runner import records
from treethink.repro.runner.entries import STATUSES
from treethink.repro.runner.pool import perform_all
from treethink.repro.runner.progress import Display, last_errors, table
from treethink.repro.runner.spec import Run

RUN = Run("walls", "treethink", "TreeThink", 0, 400, 50, options={"width": 5}, examine=30)
RUNS = [replace(RUN, seed=seed, steps=400 - 100 * seed) for seed in range(3)]

# Worlds that fail in different ways; `Slow` signals that it has started, and can be made fast.
WORLDS = """
import os, signal, time
from pathlib import Path
from treethink.worlds.walls import Walls

class Odd(Walls):
    steps = 0

    def step(self, state, action, rng):
        self.steps += 1
        if self.steps == 20:
            self.act()
        return super().step(state, action, rng)

class Breaks(Odd):
    def act(self):
        if not Path("mended").exists():
            raise OSError("the disk is full")

class Killed(Odd):
    def act(self):
        os.kill(os.getpid(), signal.SIGKILL)

class Slow(Walls):
    steps = 0

    def step(self, state, action, rng):
        self.steps += 1
        if self.steps == 150:
            Path(f"under-way-{os.getpid()}").touch()
        if self.steps >= 150 and not Path("fast").exists():
            time.sleep(0.01)
        return super().step(state, action, rng)
"""


@pytest.fixture
def odd_worlds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a module of worlds."""
    (tmp_path / "oddworlds.py").write_text(WORLDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def comparable_records(folder: Path) -> list[Any]:
    """Return all that is recorded except times and bytes held."""
    runs = []
    for run in records.read(folder).runs:
        windows = {
            name: each.tobytes()
            for name, each in run.windows.items()
            if not name.endswith("_us") and name != "bytes"
        }
        names = run.entry.keys() - {"seconds", "commit"}  # sources may change meanwhile
        entry = {name: run.entry[name] for name in sorted(names)}
        runs.append((entry, windows, [each.tobytes() for each in run.errors]))
    return runs


def modification_times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}


# ------------------------------------------------------------------------------- pool


def test_records_do_not_depend_on_processes_or_order(
    tmp_path: Path,
) -> None:
    entries = perform_all(RUNS, tmp_path / "two", processes=2)
    assert [each["seed"] for each in entries] == [0, 1, 2]
    assert {each["status"] for each in entries} == {"finished"}
    perform_all(RUNS[::-1], tmp_path / "here", processes=0)
    assert comparable_records(tmp_path / "two") == comparable_records(tmp_path / "here")[::-1]
    before = modification_times(tmp_path / "two")
    assert perform_all(RUNS, tmp_path / "two", processes=2) == entries
    assert modification_times(tmp_path / "two") == before


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_failed_and_killed_runs_are_recorded_and_others_continue(
    odd_worlds: Path,
) -> None:
    runs = [
        replace(RUN, world="oddworlds:Killed", steps=3_000),
        replace(RUN, world="oddworlds:Breaks", steps=2_000),
        *RUNS,
    ]
    killed, broken, *others = perform_all(runs, odd_worlds / "out", processes=1)
    assert [each["status"] for each in others] == ["finished"] * 3
    assert killed["status"] == broken["status"] == "failed"
    assert "exit code -9 (SIGKILL, as the system does when memory runs out)" in killed["message"]
    assert broken["message"] == "after step 19: OSError: the disk is full"
    assert "self.act()" in broken["traceback"]
    recorded = records.read(odd_worlds / "out")
    assert [run.status for run in recorded.runs] == ["failed", "failed", *["finished"] * 3]
    assert not len(recorded.runs[0].windows["error"])
    assert recorded.runs[1].observed == 19

    # Failed runs are repeated, the others are kept.
    before = modification_times(odd_worlds / "out")
    (odd_worlds / "mended").touch()
    again = perform_all(runs[1:], odd_worlds / "out", processes=1)
    assert [each["status"] for each in again] == ["finished"] * 4
    after = modification_times(odd_worlds / "out")
    assert {name for name in after if before.get(name) != after[name]} == {
        f"{runs[1].key}.{suffix}" for suffix in ("json", "errors.parquet", "windows.parquet")
    }


@pytest.mark.parametrize(
    ("suffix", "processes"), [("json", 0), ("errors.parquet", 0), ("errors.parquet", 1)]
)
def test_a_run_that_cannot_be_written_fails_alone_and_is_repeated(
    tmp_path: Path, suffix: str, processes: int
) -> None:
    runs = [replace(each, steps=each.steps // 10, examine=0) for each in RUNS]
    obstacle = tmp_path / "runs" / f"{runs[1].key}.{suffix}"
    obstacle.mkdir(parents=True)
    entries = perform_all(runs, tmp_path, processes=processes)
    assert [each["status"] for each in entries] == ["finished", "failed", "finished"]
    assert entries[1]["message"].startswith("its records cannot be written: ")
    assert "write_run" in entries[1]["traceback"]
    assert [run.status for run in records.read(tmp_path).runs] == [e["status"] for e in entries]
    obstacle.rmdir()
    again = perform_all(runs, tmp_path, processes=0)
    assert [each["status"] for each in again] == ["finished"] * 3


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_a_killed_run_that_cannot_be_written_is_listed_as_failed(odd_worlds: Path) -> None:
    runs = [replace(RUN, world="oddworlds:Killed", steps=3_000), RUNS[2]]
    (odd_worlds / "out" / "runs" / f"{runs[0].key}.json").mkdir(parents=True)
    entries = perform_all(runs, odd_worlds / "out", processes=1)
    assert [each["status"] for each in entries] == ["failed", "finished"]
    assert [run.status for run in records.read(odd_worlds / "out").runs] == ["failed", "finished"]


def test_a_manifest_that_cannot_be_written_is_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records, "write_json", full)
    with pytest.raises(RecordsError, match=r"cannot write .*manifest\.json: No space left"):
        perform_all(RUNS, tmp_path, processes=0)


# ------------------------------------------------------------------------- command line

CONFIG = """
title = "small"
steps = 300
seeds = 2
examine = 30
worlds = [{ name = "walls", options = { width = 5 } }]
learners = ["treethink", { name = "static", label = "nothing changes" }]
"""
SLOW = """
steps = 400
seeds = 2
examine = 30
worlds = ["oddworlds:Slow"]
learners = ["treethink"]
"""


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as exit_:
        cli.main([*arguments])
    return int(exit_.value.code or 0)


def test_the_command_runs_a_config_and_ends_with_a_table(
    odd_worlds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("small.toml").write_text(CONFIG)
    assert call("run", "small.toml", "--processes", "1", "--seeds", "1") == 0
    out, err = capsys.readouterr()
    assert "2 runs to go" in err and "2 of 2: walls." in err
    assert "nothing changes" in out and ">300 (>300)" in out and "1 of 1" in out
    assert out.splitlines()[-1] == f"records in {Path('runs') / 'small'}"
    manifest = records.read("runs/small").manifest
    assert manifest["title"] == "small" and manifest["config"]["seeds"] == [0]  # what was run
    assert call("run", "small.toml", "--out", "runs/small", "--seeds", "1") == 0
    assert "2 of 2 runs have ended before; 0 runs to go" in capsys.readouterr().err


def test_the_command_reports_failures_and_exits_with_1(
    odd_worlds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.toml").write_text(SLOW.replace("Slow", "Breaks").replace("seeds = 2", ""))
    assert call("run", "bad.toml", "--processes", "1", "--out", "out") == 1
    out, err = capsys.readouterr()
    assert "1 failed" in out and "failed: after step 19: OSError: the disk is full" in out
    assert "failed: after step 19" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps", "treethink: bad.toml is not TOML"),
        ("stepz = 3", "treethink: unknown key 'stepz' in bad.toml. Did you mean 'steps'?"),
        (CONFIG.replace("static", "sttic"), "treethink: unknown learner 'sttic' in bad.toml"),
    ],
)
def test_a_bad_config_is_one_line_and_nothing_is_written(
    odd_worlds: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    Path("bad.toml").write_text(text)
    assert call("run", "bad.toml") == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(message) and len(err.splitlines()) == 1
    assert not Path("runs").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_control_c_leaves_checkpoints_and_the_same_command_resumes(odd_worlds: Path) -> None:
    Path("slow.toml").write_text(SLOW)
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    program += "from treethink.cli import main; main()"
    command = [sys.executable, "-c", program, "run", "slow.toml", "--processes", "2"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 60
        while len(list(odd_worlds.glob("under-way-*"))) < 2:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        "Interrupted. " in err
        and "run the same command to resume" in err
        and "Traceback" not in err
    )
    assert out == ""
    stopped = records.read("runs/slow")
    assert [run.status for run in stopped.runs] == ["missing", "missing"]
    assert len(list(Path("runs/slow/runs").glob("*.checkpoint"))) == 2

    Path("fast").touch()
    again = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert len(list(Path("runs/slow/runs").iterdir())) == 6  # no checkpoint is left
    assert call("run", "slow.toml", "--out", "whole", "--processes", "1") == 0
    assert comparable_records(Path("runs/slow")) == comparable_records(Path("whole"))


# ------------------------------------------------------------------------- display and table


def displayed_text(terminal: bool, runs: list[Run]) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=100)
    with Display(console) as display:
        display.begin(3, runs)
        for run in runs:
            display.at(run, 10, 0.5)
            display.at(run, run.steps, 0.25)
            display.warn(run, "[odd] names are shown as they are")
            display.ended(run, records.entry(run, status="finished", last_error=7))
    return out.getvalue()


def test_progress_is_bars_in_a_terminal_and_a_few_lines_elsewhere() -> None:
    many = [replace(RUN, seed=seed) for seed in range(40)]
    plain = [line for line in displayed_text(False, many).splitlines() if "warning" not in line]
    assert plain[0] == "3 of 43 runs have ended before; 40 runs to go"
    assert (
        displayed_text(False, [RUN]).splitlines()[0] == "3 of 4 runs have ended before; 1 run to go"
    )
    assert plain[-1].startswith(f"40 of 40: {many[-1].key} finished, last error at step 7")
    assert len(plain) <= 4
    bars = displayed_text(True, many[:2])
    assert "all runs" in bars and "[odd] names" in bars
    assert "finished" not in bars


def test_unfinished_and_unconverged_runs_are_censored_not_dropped() -> None:
    def entry(last: int | None, **changes: Any) -> records.Entry:
        return records.entry(
            RUN, **{"status": "finished", "last_error": last, "observed": 400, **changes}
        )

    assert last_errors([entry(5), entry(9), entry(7)]) == "7 (9)"
    assert last_errors([entry(5), entry(6), entry(7, status="stopped")]) == "6 (>400)"
    assert last_errors([entry(360), entry(360)]) == "360 (360)"
    assert last_errors([entry(361), entry(361)]) == ">400 (>400)"  # in the last tenth
    assert last_errors([entry(0)]) == "0 (0)"
    assert last_errors([entry(100), entry(400)]) == ">250 (>400)"
    assert last_errors([entry(None, status="missing", observed=0)]) == "unknown (unknown)"


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(STATUSES)), min_size=1))
def test_the_table_agrees_with_a_report(ends: list[tuple[int, str]]) -> None:
    entries = [
        records.entry(RUN, status=status, last_error=last, observed=400) for last, status in ends
    ]
    runs = [statistics.last_error(SimpleNamespace(**each)) for each in entries]
    assert last_errors(entries).startswith(f"{statistics.estimate(runs).median} (")


def table_text(entries: list[records.Entry]) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(table(entries))
    return out.getvalue()


def test_the_table_explains_stopped_and_unexamined_runs() -> None:
    def stopped(*observed: int, examine: int = 0) -> list[records.Entry]:
        run = replace(RUN, examine=examine)
        return [records.entry(run, status="stopped", observed=each) for each in observed]

    finished = records.entry(replace(RUN, examine=0), status="finished", last_error=3)
    one = table_text([*stopped(1_200), finished])
    assert "1 finished, 1 stopped after 1,200 steps" in one
    assert one.splitlines()[-1].strip() == "– not examined: set `examine` in the config"
    two = table_text(stopped(90, 1_200, examine=30))
    assert "2 stopped after 90 to 1,200 steps" in two and "not examined" not in two


# -------------------------------------------------------------- custom learners


def test_the_custom_learner_of_the_docs_runs_in_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    _, section = page.split("## A learner of your own\n")
    (module, *_), (text, *_) = (
        re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        for kind in ("python", "toml")
    )
    monkeypatch.setattr(sys, "path", [*sys.path])  # the command adds the working folder
    monkeypatch.chdir(tmp_path)
    Path("habits.py").write_text(module, encoding="utf-8")
    Path("compare.toml").write_text(text, encoding="utf-8")
    assert call("run", "compare.toml", "--processes", "2") == 0
    ours, habits = records.read("runs/compare").runs
    assert (ours.learner, habits.learner) == ("treethink", "habits:Habits")
    assert ours.errors[1].sum() < habits.errors[1].sum()
    Path("compare.toml").write_text(text.replace("Habits", "Habit"), encoding="utf-8")
    capsys.readouterr()
    assert call("run", "compare.toml", "--processes", "2") == 2
    assert "compare.toml, learners[1]: there is no learner at" in capsys.readouterr().err
