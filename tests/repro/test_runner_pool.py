"""Many runs: whatever happens to them, nothing that ended is lost or done twice."""

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

# Worlds that break, each in its way; `Slow` shows when it is under way, and can be made fast.
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
    """A folder to be in, with a module of worlds."""
    (tmp_path / "oddworlds.py").write_text(WORLDS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def recorded(folder: Path) -> list[Any]:
    """All that is recorded but times and bytes held."""
    found = []
    for run in records.read(folder).runs:
        windows = {
            name: each.tobytes()
            for name, each in run.windows.items()
            if not name.endswith("_us") and name != "bytes"
        }
        told = run.entry.keys() - {"seconds", "commit"}  # sources may be changed meanwhile
        entry = {name: run.entry[name] for name in sorted(told)}
        found.append((entry, windows, [each.tobytes() for each in run.errors]))
    return found


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").iterdir()}


# ------------------------------------------------------------------------------- together


def test_what_is_recorded_does_not_depend_on_processes_or_order_and_is_not_done_twice(
    tmp_path: Path,
) -> None:
    entries = perform_all(RUNS, tmp_path / "two", processes=2)
    assert [each["seed"] for each in entries] == [0, 1, 2]
    assert {each["status"] for each in entries} == {"finished"}
    perform_all(RUNS[::-1], tmp_path / "here", processes=0)
    assert recorded(tmp_path / "two") == recorded(tmp_path / "here")[::-1]
    before = stamps(tmp_path / "two")
    assert perform_all(RUNS, tmp_path / "two", processes=2) == entries
    assert stamps(tmp_path / "two") == before


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_a_run_that_breaks_or_is_killed_is_recorded_and_the_rest_goes_on(
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
    listed = records.read(odd_worlds / "out")
    assert [run.status for run in listed.runs] == ["failed", "failed", *["finished"] * 3]
    assert not len(listed.runs[0].windows["error"])
    assert listed.runs[1].observed == 19

    # Those that failed are tried again, the others are kept.
    before = stamps(odd_worlds / "out")
    (odd_worlds / "mended").touch()
    again = perform_all(runs[1:], odd_worlds / "out", processes=1)
    assert [each["status"] for each in again] == ["finished"] * 4
    after = stamps(odd_worlds / "out")
    assert {name for name in after if before.get(name) != after[name]} == {
        f"{runs[1].key}.{suffix}" for suffix in ("json", "errors.parquet", "windows.parquet")
    }


@pytest.mark.parametrize(
    ("suffix", "processes"), [("json", 0), ("errors.parquet", 0), ("errors.parquet", 1)]
)
def test_a_run_that_cannot_be_written_fails_alone_and_is_tried_again(
    tmp_path: Path, suffix: str, processes: int
) -> None:
    runs = [replace(each, steps=each.steps // 10, examine=0) for each in RUNS]
    in_the_way = tmp_path / "runs" / f"{runs[1].key}.{suffix}"
    in_the_way.mkdir(parents=True)
    entries = perform_all(runs, tmp_path, processes=processes)
    assert [each["status"] for each in entries] == ["finished", "failed", "finished"]
    assert entries[1]["message"].startswith("its records cannot be written: ")
    assert "write_run" in entries[1]["traceback"]
    assert [run.status for run in records.read(tmp_path).runs] == [e["status"] for e in entries]
    in_the_way.rmdir()
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


# ------------------------------------------------------------------------- the command

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
    with pytest.raises(SystemExit) as ended:
        cli.main([*arguments])
    return int(ended.value.code or 0)


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


def test_the_command_tells_of_failures_and_exits_with_1(
    odd_worlds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.toml").write_text(SLOW.replace("Slow", "Breaks").replace("seeds = 2", ""))
    assert call("run", "bad.toml", "--processes", "1", "--out", "out") == 1
    out, err = capsys.readouterr()
    assert "1 failed" in out and "failed: after step 19: OSError: the disk is full" in out
    assert "failed: after step 19" in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("steps", "treethink: bad.toml is not TOML"),
        ("stepz = 3", "treethink: unknown key 'stepz' in bad.toml. Did you mean 'steps'?"),
        (CONFIG.replace("static", "sttic"), "treethink: unknown learner 'sttic' in bad.toml"),
    ],
)
def test_a_bad_config_is_one_line_and_nothing_is_written(
    odd_worlds: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    Path("bad.toml").write_text(text)
    assert call("run", "bad.toml") == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith(says) and len(err.splitlines()) == 1
    assert not Path("runs").exists()


@pytest.mark.skipif(os.name != "posix", reason="sends a POSIX signal")
def test_control_c_leaves_checkpoints_and_the_same_command_goes_on(odd_worlds: Path) -> None:
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
    assert recorded(Path("runs/slow")) == recorded(Path("whole"))


# ------------------------------------------------------------------------- what is shown


def shown(terminal: bool, runs: list[Run]) -> str:
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


def test_progress_is_bars_in_a_terminal_and_few_lines_elsewhere() -> None:
    many = [replace(RUN, seed=seed) for seed in range(40)]
    plain = [line for line in shown(False, many).splitlines() if "warning" not in line]
    assert plain[0] == "3 of 43 runs have ended before; 40 runs to go"
    assert shown(False, [RUN]).splitlines()[0] == "3 of 4 runs have ended before; 1 run to go"
    assert plain[-1].startswith(f"40 of 40: {many[-1].key} finished, last error at step 7")
    assert len(plain) <= 4
    bars = shown(True, many[:2])
    assert "all runs" in bars and "[odd] names" in bars
    assert "finished" not in bars


def test_runs_that_did_not_end_or_err_to_the_end_count_as_later_and_are_never_left_out() -> None:
    def entry(last: int | None, **told: Any) -> records.Entry:
        return records.entry(
            RUN, **{"status": "finished", "last_error": last, "observed": 400, **told}
        )

    assert last_errors([entry(5), entry(9), entry(7)]) == "7 (9)"
    assert last_errors([entry(5), entry(6), entry(7, status="stopped")]) == "6 (>400)"
    assert last_errors([entry(360), entry(360)]) == "360 (360)"
    assert last_errors([entry(361), entry(361)]) == ">400 (>400)"  # in the last tenth
    assert last_errors([entry(0)]) == "0 (0)"
    assert last_errors([entry(100), entry(400)]) == ">250 (>400)"
    assert last_errors([entry(None, status="missing", observed=0)]) == "unknown (unknown)"


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(STATUSES)), min_size=1))
def test_the_table_says_what_a_report_says(ends: list[tuple[int, str]]) -> None:
    entries = [
        records.entry(RUN, status=status, last_error=last, observed=400) for last, status in ends
    ]
    runs = [statistics.last_error(SimpleNamespace(**each)) for each in entries]
    assert last_errors(entries).startswith(f"{statistics.estimate(runs).median} (")


def lines(entries: list[records.Entry]) -> str:
    out = io.StringIO()
    Console(file=out, width=120).print(table(entries))
    return out.getvalue()


def test_the_table_says_how_far_a_stopped_run_came_and_why_nothing_was_examined() -> None:
    def stopped(*observed: int, examine: int = 0) -> list[records.Entry]:
        run = replace(RUN, examine=examine)
        return [records.entry(run, status="stopped", observed=each) for each in observed]

    finished = records.entry(replace(RUN, examine=0), status="finished", last_error=3)
    one = lines([*stopped(1_200), finished])
    assert "1 finished, 1 stopped after 1,200 steps" in one
    assert one.splitlines()[-1].strip() == "– not examined: set `examine` in the config"
    two = lines(stopped(90, 1_200, examine=30))
    assert "2 stopped after 90 to 1,200 steps" in two and "not examined" not in two


# -------------------------------------------------------------- a learner of one's own


def test_the_learner_in_the_docs_can_be_run_in_processes_by_its_config(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    _, section = page.split("## A learner of your own\n")
    (module, *_), (text, *_) = (
        re.findall(rf"^```{kind}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
        for kind in ("python", "toml")
    )
    monkeypatch.setattr(sys, "path", [*sys.path])  # the command looks where one is
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
