"""Attacks on model files: damaged bytes, and saves that are killed, fail or meet each other."""

from __future__ import annotations

import os
import random
import resource
import time
from functools import cache
from pathlib import Path

import child
import treethink as tt
from torture import Attack


@cache
def small_model_file() -> bytes:
    """Return the bytes of a model of the maze."""
    world = tt.make("maze")
    model = tt.TreeThink(world.schema)
    model.observe_many(tt.transitions(world, 300, seed=0))
    return model.to_bytes()


def damaged_file_is_refused(rng: random.Random, folder: Path) -> str | None:
    """Flip, cut or insert some bytes: loading gives a model or a ModelFileError, nothing else."""
    data = bytearray(small_model_file())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                del data[at : at + rng.randint(1, 50)]
            case _:
                data[at:at] = rng.randbytes(rng.randint(1, 50))
    path = folder / "damaged.tt"
    path.write_bytes(bytes(data))
    try:
        tt.TreeThink.load(path)
    except tt.ModelFileError:
        return None
    return None if bytes(data) == small_model_file() else "a damaged file was loaded"


# -------------------------------------------------------------------- saves


@cache
def two_contents() -> tuple[bytes, bytes]:
    """Return the bytes of a model of the maze, and of what it becomes."""
    model = tt.TreeThink.from_bytes(small_model_file())
    model.observe_many(tt.transitions(tt.make("maze"), 100, seed=1))
    return small_model_file(), model.to_bytes()


def two_models() -> list[tt.TreeThink]:
    """Return the models of these."""
    return [tt.TreeThink.from_bytes(content) for content in two_contents()]


def save_for_ever(path: str) -> None:
    """Save two models to the same file in turn, until killed. (In a child process.)"""
    models = two_models()
    models[0].save(path)
    print("ready", flush=True)
    while True:
        for model in models:
            model.save(path)


def save_some_times(path: str, times: int) -> str | None:
    """Save two models to the same file in turn. (In a child process.)"""
    models = two_models()
    for _ in range(times):
        for model in models:
            model.save(path)
    return None


def save_with_limit(path: str, limit: int) -> str | None:
    """Save where a file cannot be longer than the limit. (In a child process.)"""
    earlier, later = two_models()
    earlier.save(path)
    saved = Path(path).read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, -1))
    try:
        later.save(path)
    except OSError as error:
        if error.filename != path:
            return f"the error names {error.filename}, not the file"
    else:
        return None if limit >= len(later.to_bytes()) else "a save that cannot work raised nothing"
    return None if Path(path).read_bytes() == saved else "the old file is lost"


def what_is_wrong_in(path: Path) -> str | None:
    """Compare the file with the two models, and look for drafts."""
    if path.read_bytes() not in two_contents():
        return "the file has neither the old nor the new content"
    left = sorted(set(os.listdir(path.parent)) - {path.name})
    return f"there are drafts: {left}" if left else None


def killed_save(rng: random.Random, folder: Path) -> str | None:
    """Kill a process while it saves; then save once more."""
    path = folder / "model.tt"
    process = child.start(save_for_ever, str(path))
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(rng.uniform(0, 0.1))
    process.kill()
    process.communicate()
    if path.read_bytes() not in two_contents():
        return "the file has neither the old nor the new content"
    two_models()[0].save(path)
    return what_is_wrong_in(path)


def full_disk(rng: random.Random, folder: Path) -> str | None:
    """Save where there is room for a part of the file only."""
    path = folder / "model.tt"
    limit = rng.randint(0, len(small_model_file()) * 3 // 2)
    wrong = child.result(child.start(save_with_limit, str(path), limit))
    return wrong or what_is_wrong_in(path)


def two_writers(rng: random.Random, folder: Path) -> str | None:
    """Save to one file from two processes at once, and read it all the time."""
    path = folder / "model.tt"
    two_models()[0].save(path)
    writers = [child.start(save_some_times, str(path), rng.randint(2, 5)) for _ in range(2)]
    while any(writer.poll() is None for writer in writers):
        if path.read_bytes() not in two_contents():
            return "a reader found neither the old nor the new content"
        time.sleep(0.002)
    wrong = [child.result(writer) for writer in writers]
    return wrong[0] or wrong[1] or what_is_wrong_in(path)


ATTACKS = [
    Attack(
        "damaged model file",
        "`load` refuses it with one ModelFileError",
        2_000,
        damaged_file_is_refused,
    ),
    Attack(
        "kill -9 while saving",
        "the file has its old or its new content; the next save removes all drafts",
        60,
        killed_save,
    ),
    Attack(
        "full disk while saving",
        "one OSError that names the file, which keeps its old content; no draft is left",
        60,
        full_disk,
    ),
    Attack(
        "two writers of one file",
        "both succeed; readers find the content of one of them; no draft is left",
        30,
        two_writers,
    ),
]
