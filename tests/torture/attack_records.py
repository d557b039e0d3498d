"""Attacks on records of experiments, on names, and on the folder in which a command runs."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import treethink as tt
from torture import Attack
from treethink import cli, file
from treethink.errors import RecordsError
from treethink.repro.runner import records, store
from treethink.repro.runner.checkpoint import Checkpoint
from treethink.repro.runner.pool import perform_all
from treethink.repro.runner.run import perform
from treethink.repro.runner.spec import Episodes, Run

SOURCES = Path(tt.__file__).parents[1]
SMALL = {"width": 5, "height": 5}
PLAN = Episodes("plan", "maze", steps=2, episodes=1, simulations=2, options=SMALL)
RUNS = [
    Run("maze", "treethink", "tree", seed=0, steps=120, window=20, options=SMALL),
    Run("maze", "static", "static", seed=1, steps=40, window=20, options=SMALL, plans=(PLAN,)),
]
Files = dict[str, bytes]


# --------------------------------------------------------------------------- flipped bits


@cache
def small_records() -> Files:
    """Return the files of a small experiment."""
    with tempfile.TemporaryDirectory() as folder:
        perform_all(RUNS, folder, processes=0, title="attacked")
        return read_files(Path(folder))


@cache
def small_checkpoint() -> Files:
    """Return the files of a run that was interrupted halfway."""
    with tempfile.TemporaryDirectory() as folder:
        perform(RUNS[0], folder, tell=lambda observed, *_: observed < 60, tell_every=0)
        return read_files(Path(folder))


def read_files(folder: Path) -> Files:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: Files) -> None:
    (folder / "runs").mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def flip(rng: random.Random, path: Path) -> None:
    """Flip up to four bits of a file."""
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def everything(folder: Path) -> list[Any]:
    """Return all that is read from records, as values that can be compared."""
    recorded = records.read(folder)
    runs = [
        [
            [(name, each.tolist()) for name, each in run.windows.items()],
            [each.tolist() for each in run.errors],
            [(name, each.tolist()) for name, each in run.episodes.items()],
        ]
        for run in recorded.runs
    ]
    return [repr(recorded.table()), recorded.manifest["title"], repr(runs)]


@cache
def undamaged() -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), small_records())
        return everything(Path(folder))


def flipped_bits_are_never_read(rng: random.Random, folder: Path) -> str | None:
    expected = undamaged()
    write_files(folder, small_records())
    path = folder / rng.choice(sorted(small_records()))
    flip(rng, path)
    try:
        if everything(folder) != expected:
            return f"{path.name} was read with other content"
    except RecordsError as error:
        if path.name not in str(error):
            return f"the error does not name {path.name}: {error}"
    return None


def flipped_bits_in_lines_are_never_read(rng: random.Random, folder: Path) -> str | None:
    path = folder / "runs.jsonl"
    tasks = [{"task": {"seed": n}, "result": {"right": n * n, "mass": n / 7}} for n in range(5)]
    store.write_lines(path, tasks)
    flip(rng, path)
    try:
        read = [{name: each.get(name) for name in tasks[0]} for each in store.read_lines(path)]
    except RecordsError as error:
        return None if path.name in str(error) else f"the error does not name the file: {error}"
    return None if read == tasks else f"read with other content: {read}"


def resumed_after_damage(rng: random.Random, folder: Path) -> str | None:
    """Damage the files of one run, and run the same command: all is as before."""
    write_files(folder, small_records())
    path = folder / rng.choice(
        [name for name in sorted(small_records()) if name != "manifest.json"]
    )
    flip(rng, path)
    perform_all(RUNS, folder, processes=0, title="attacked")
    with tempfile.TemporaryDirectory() as other:
        write_files(Path(other), small_records())
        same = comparable(folder) == comparable(Path(other))
    return None if same else f"other records after {path.name} was damaged"


def comparable(folder: Path) -> list[Any]:
    """Return all that is recorded except times and bytes held."""
    runs = []
    for run in records.read(folder).runs:
        windows = {n: each.tolist() for n, each in run.windows.items() if not _is_measured(n)}
        episodes = {n: each.tolist() for n, each in run.episodes.items() if n != "seconds"}
        entry = {n: each for n, each in run.entry.items() if n not in ("seconds", "commit")}
        entry["planned"] = {
            label: {n: each for n, each in planned.items() if n != "seconds"}
            for label, planned in (entry["planned"] or {}).items()
        }
        runs.append(repr((entry, windows, episodes, [each.tolist() for each in run.errors])))
    return runs


def _is_measured(name: str) -> bool:
    return name.endswith("_us") or name == "bytes"


@cache
def uninterrupted() -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        perform_all(RUNS, folder, processes=0, title="attacked")
        return comparable(Path(folder))


def damaged_checkpoint_changes_nothing(rng: random.Random, folder: Path) -> str | None:
    write_files(folder, small_checkpoint())
    path = folder / rng.choice(sorted(small_checkpoint()))
    flip(rng, path)
    warnings: list[str] = []
    perform(RUNS[0], folder, warn=warnings.append)
    if not warnings:
        return f"{path.name} was read without a warning"
    perform_all(RUNS, folder, processes=0, title="attacked")
    same = comparable(folder) == uninterrupted()
    return None if same else "other records than without the checkpoint"


# ------------------------------------------------------------------------------------ kill

PROGRAM = """
import sys, functools
sys.path[:0] = {paths!r}
import attack_records
from treethink.repro.runner import pool, run
run._SAVING = 1e9
pool.perform = functools.partial(run.perform, save_every=0.02, tell_every=0)
pool.perform_all(attack_records.RUNS, {folder!r}, processes=0, title="attacked")
"""


def killed_and_resumed(rng: random.Random, folder: Path) -> str | None:
    """Kill an experiment that saves checkpoints often, and resume it."""
    paths = [str(SOURCES), str(Path(__file__).parent)]
    program = PROGRAM.format(paths=paths, folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        event = rng.choice(("checkpoint", "errors.parquet", "windows.parquet", "json"))
        while process.poll() is None and not any(folder.glob(f"runs/*.{event}")):
            time.sleep(0.001)
        time.sleep(rng.random() * (0.3 if event == "checkpoint" else 0.03))
    finally:
        process.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        process.wait()
    perform_all(RUNS, folder, processes=0, title="attacked")
    same = comparable(folder) == uninterrupted()
    return None if same else "other records than without the interruption"


# --------------------------------------------------------------------------- hostile names

ELSEWHERE = ["../victim", "../../victim", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "C:victim"]


def names_stay_in_their_folder(rng: random.Random, folder: Path) -> str | None:
    """Put a name that leads elsewhere, or a symbolic link, into a manifest or a checkpoint."""
    victim = folder / "victim"
    victim.write_bytes(small_records()["manifest.json"])
    out = folder / "out"
    out.mkdir()
    links = [_hostile_link] if os.name == "posix" else []
    attack = rng.choice([_hostile_manifest, _hostile_checkpoint, *links])
    try:
        attack(rng, out, victim)
        return f"{attack.__name__}: nothing was refused"
    except RecordsError:
        pass
    same = victim.read_bytes() == small_records()["manifest.json"]
    return None if same else f"{attack.__name__}: a file elsewhere was changed"


def _hostile_manifest(rng: random.Random, out: Path, victim: Path) -> None:
    write_files(out, small_records())
    content = json.loads((out / "manifest.json").read_bytes())
    content["runs"][0]["key"] = rng.choice([*ELSEWHERE, str(victim)])
    records.write_json(out / "manifest.json", content)
    everything(out)


def _hostile_checkpoint(rng: random.Random, out: Path, victim: Path) -> None:
    write_files(out, small_checkpoint())
    (path,) = (out / "runs").glob("*.checkpoint")
    header, long = file.unpack(path.read_bytes(), "")
    header["learner"] = rng.choice([*ELSEWHERE, str(victim)])
    path.write_bytes(file.pack(header, long))
    Checkpoint(out / "runs", RUNS[0].key).load(tt.TreeThink)


def _hostile_link(rng: random.Random, out: Path, victim: Path) -> None:
    write_files(out, small_records())
    path = out / rng.choice([name for name in sorted(small_records()) if RUNS[0].key in name])
    path.unlink()
    path.symlink_to(victim)
    rng.choice((everything, _resume))(out)
    _resume(out)  # the entry is not needed for reading


def _resume(out: Path) -> None:
    (entry, *_) = perform_all(RUNS, out, processes=0, title="attacked")
    if entry["status"] == "failed" and "RecordsError" in entry["message"]:
        raise RecordsError(entry["message"])


# ------------------------------------------------------------------------ working folder

MODULES = [
    *("abc", "ast", "bisect", "collections", "copy", "csv", "ctypes", "dataclasses", "datetime"),
    *("decimal", "enum", "functools", "hashlib", "heapq", "inspect", "io", "json", "logging"),
    *("math", "multiprocessing", "numpy", "os", "pathlib", "pickle", "platform", "queue", "random"),
    *("re", "rich", "secrets", "shutil", "signal", "socket", "stat", "string", "struct"),
    *("subprocess", "tempfile", "textwrap", "threading", "time", "tomllib", "typer", "types"),
    *("typing", "uuid", "warnings", "weakref", "zlib"),
]
OWN_WORLD = """
from treethink.worlds.walls import Walls


class Mine(Walls):
    name = "mine"
"""


def working_folder_replaces_no_module(rng: random.Random, folder: Path) -> str | None:
    for module in rng.sample(MODULES, 20):
        (folder / f"{module}.py").write_text("open('hijacked', 'a').write(__name__ + ' ')\n")
    (folder / "mine.py").write_text(OWN_WORLD)
    command = folder / "bin" / "treethink"  # as pip writes it: a script in a folder of its own
    command.parent.mkdir()
    command.write_text("from treethink_command import main; main()")
    result = subprocess.run(
        [sys.executable, str(command), "learn", "mine:Mine", "--steps", "5", "--quiet"],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )  # fmt: skip
    if (folder / "hijacked").exists():
        return f"loaded: {(folder / 'hijacked').read_text()}"
    return None if result.returncode == 0 else result.stderr


# --------------------------------------------------------------------- escape characters

UNSAFE = [chr(code) for code in (*range(1, 10), *range(11, 32), *range(127, 160))]
UNSAFE += [*"\u200b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2069\ufeff\U000e0001"]
UNSAFE += ["\x1b]0;title\x07", "\x1b[2J", "\x1b[8m", "\x9b31m", "\x1bP+q\x1b\\", "\r\n", "[red]"]


def hostile_name(rng: random.Random) -> str:
    return "".join(rng.choice((*UNSAFE, "a", "é")) for _ in range(rng.randint(1, 8))) + "a"


def no_name_commands_a_terminal(rng: random.Random, folder: Path) -> str | None:
    player, go = hostile_name(rng), hostile_name(rng)
    schema = tt.Schema({player: ["pos"]}, {"pos": 1}, [go])
    model = tt.TreeThink(schema)
    for step in range(60):
        before = tt.State(schema, [tt.Object(0, player, pos=step % 5)])
        model.observe(before, go, before.replace(0, pos=min(step % 5 + 1, 4)))
    # Windows has no files with such names.
    path = folder / f"{hostile_name(rng) if os.name == 'posix' else 'model'}.tt"
    model.save(path)
    rule = f"{player}.pos.{go}"
    commands = [
        ["rules", str(path)],
        *(["rules", str(path), "--style", each] for each in ("english", "code", "dot", "mermaid")),
        ["rules", str(path), "--json"],
        ["rules", str(path), "--rule", go],
        ["edit", str(path), rule, "--pin"],
        ["edit", str(path), rule, "--by", go],
        ["learn", player],
        ["report", str(path)],
        ["run", str(path)],
    ]
    for arguments in rng.sample(commands, 3):
        printed = output_of(arguments)
        for character in printed:
            if character != "\n" and unicodedata.category(character) in ("Cc", "Cf", "Cs"):
                return f"treethink {arguments!r} printed {character!r}"
    return None


def output_of(arguments: list[str]) -> str:
    page = io.StringIO()
    with (
        contextlib.redirect_stdout(page),
        contextlib.redirect_stderr(page),
        contextlib.suppress(SystemExit),
    ):
        cli.main(arguments)
    return page.getvalue()


ATTACKS = [
    Attack(
        "flipped bits in records",
        "what is read is unchanged, or one RecordsError names the file",
        600,
        flipped_bits_are_never_read,
    ),
    Attack(
        "flipped bits in records of one line each",
        "what is read is unchanged, or one RecordsError names the line",
        2_000,
        flipped_bits_in_lines_are_never_read,
    ),
    Attack(
        "damaged records, then resumed",
        "the same command gives the same records again",
        100,
        resumed_after_damage,
    ),
    Attack(
        "damaged checkpoint",
        "a warning, and the same records as without it",
        100,
        damaged_checkpoint_changes_nothing,
    ),
    Attack(
        "experiment killed with SIGKILL",
        "resuming gives the same records as one run",
        30,
        killed_and_resumed,
    ),
    Attack(
        "hostile names and links in records",
        "one RecordsError; nothing elsewhere is read or written",
        200,
        names_stay_in_their_folder,
    ),
    Attack(
        "working folder full of modules",
        "none of them replaces a module that is installed",
        15,
        working_folder_replaces_no_module,
    ),
    Attack(
        "names with escape characters",
        "no command prints one of them",
        100,
        no_name_commands_a_terminal,
    ),
]
