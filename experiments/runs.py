"""Keep finished runs in a file, so that work can be interrupted and resumed.

    tasks -> [ finish ] -> results, in the tasks' order

A task is a flat dict of JSON values that describes a run completely; its result is a dict of JSON
values. The same task gives the same result in any order and any number of processes. The file has
a line for each run. Records are kept in the store of `treethink run` (`runner/store.py`), so they
have checksums, and runs are performed by its processes (`runner/pool.py`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import treethink
from treethink.errors import RecordsError
from treethink.repro.runner import store
from treethink.repro.runner.pool import performed

Task = dict[str, Any]
Result = dict[str, Any]
Run = Callable[[Task], Result]


def finish(
    tasks: list[Task], run: Run, path: Path, processes: int = 1, fresh: bool = False
) -> list[Result]:
    """Perform the tasks that are not in the file; return the results of all of them.

    With `fresh`, tasks that are in the file are performed again.
    """
    records_by_key = read(path)
    if fresh:
        records_by_key = {
            key: each for key, each in records_by_key.items() if key not in map(key_of, tasks)
        }
    remaining = [task for task in tasks if key_of(task) not in records_by_key]
    tell(
        f"{len(tasks) - len(remaining)} of {len(tasks)} runs are in {path.name}; "
        f"{len(remaining)} to go"
    )
    count = 0 if processes <= 1 or len(remaining) <= 1 else processes
    work = partial(_timed, run)
    with closing(performed(remaining, work, count, _ignore, _died, checkpoints=False)) as records:
        for done, (task, record) in enumerate(records, 1):
            records_by_key[key_of(task)] = record
            write(path, list(records_by_key.values()))
            tell(f"{done} of {len(remaining)}: {_title(task)}, {record['seconds']} s")
    return [records_by_key[key_of(task)]["result"] for task in tasks]


def read(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records of finished runs, by the key of their task."""
    try:
        return {key_of(record["task"]): record for record in store.read_lines(path)}
    except (KeyError, TypeError) as error:
        sys.exit(f"{path} holds something else than runs: {error!r}")
    except RecordsError as error:
        sys.exit(str(error))


def write(path: Path, records: list[dict[str, Any]]) -> None:
    """Write all records in one step, in an order that does not depend on which finished first."""
    store.write_lines(path, sorted(records, key=lambda record: key_of(record["task"])))


def tell(text: str) -> None:
    """Print progress to the error stream."""
    print(text, file=sys.stderr, flush=True)


def key_of(task: Task) -> str:
    """Return a text that is the same for equal tasks."""
    return json.dumps(task, sort_keys=True)


def _timed(run: Run, task: Task, **_: Any) -> dict[str, Any]:
    start = time.monotonic()
    result = run(task)
    seconds = round(time.monotonic() - start, 1)
    return {"task": task, "result": result, "seconds": seconds, "version": treethink.__version__}


def _ignore(task: Task, message: tuple[Any, ...]) -> None:
    """Tasks send no messages."""


def _died(task: Task, observed: int, why: str) -> NoReturn:
    raise RuntimeError(f"{_title(task)}: its process ended {why}")


def _title(task: Task) -> str:
    return " ".join(str(value) for value in task.values())
