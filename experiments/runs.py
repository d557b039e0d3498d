"""Runs that can be interrupted: whatever is finished is kept in a file, and never run again.

    tasks -> [ finish ] -> records, in the tasks' order

A task is a flat dict of JSON values that says everything about a run; so is its result. The same
task gives the same result, whoever runs it, in any order and any number of processes.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import treethink

Task = dict[str, Any]
Result = dict[str, Any]
Run = Callable[[Task], Result]


def finish(tasks: list[Task], run: Run, path: Path, processes: int = 1) -> list[Result]:
    """Run what is not in the file yet; return the results of all tasks."""
    kept = read(path)
    left = [task for task in tasks if key_of(task) not in kept]
    tell(f"{len(tasks) - len(left)} of {len(tasks)} runs are in {path.name}; {len(left)} to go")
    for done, record in enumerate(_run_all(left, run, processes), 1):
        kept[key_of(record["task"])] = record
        write(path, list(kept.values()))
        tell(f"{done} of {len(left)}: {_title(record['task'])}, {record['seconds']} s")
    return [kept[key_of(task)]["result"] for task in tasks]


def read(path: Path) -> dict[str, dict[str, Any]]:
    """What was finished before."""
    if not path.exists():
        return {}
    try:
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return {key_of(record["task"]): record for record in records}
    except (KeyError, TypeError, ValueError) as error:
        sys.exit(f"{path} holds something else than runs: {error!r}")


def write(path: Path, records: list[dict[str, Any]]) -> None:
    """All of them, in one step, in an order that does not depend on who finished first."""
    lines = [
        json.dumps(record, separators=(",", ":"))
        for record in sorted(records, key=lambda record: key_of(record["task"]))
    ]
    beside = path.with_name(f"{path.name}.new")
    beside.write_text("\n".join(lines) + "\n", "utf-8")
    os.replace(beside, path)


def tell(text: str) -> None:
    """Progress."""
    print(text, file=sys.stderr, flush=True)


def _run_all(left: list[Task], run: Run, processes: int) -> Iterator[dict[str, Any]]:
    work = [(run, task) for task in left]
    if processes <= 1 or len(left) <= 1:
        yield from map(_timed, work)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _ignore_ctrl_c) as pool:
        yield from pool.imap_unordered(_timed, work)


def _timed(work: tuple[Run, Task]) -> dict[str, Any]:
    run, task = work
    start = time.monotonic()
    result = run(task)
    seconds = round(time.monotonic() - start, 1)
    return {"task": task, "result": result, "seconds": seconds, "version": treethink.__version__}


def _ignore_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool


def key_of(task: Task) -> str:
    """The same for equal tasks."""
    return json.dumps(task, sort_keys=True)


def _title(task: Task) -> str:
    return " ".join(str(value) for value in task.values())
