"""Measure what docs/evidence.md says.

    python -m experiments.evidence [PART ...] [--seeds 10] [--share 1] [--processes 2]

Finished runs are kept in experiments/evidence/runs/PART.jsonl, so that the work can be interrupted
and resumed; tables are made from them alone, and printed. `--docs` also writes them into
docs/evidence.md.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from types import ModuleType

from experiments.evidence import alpha, calibration, chance, efficiency, memory, noise, transfer
from experiments.runs import finish, tell

HERE = Path(__file__).parent
PARTS: dict[str, ModuleType] = {
    "efficiency": efficiency,
    "calibration": calibration,
    "memory": memory,
    "chance": chance,
    "alpha": alpha,
    "transfer": transfer,
    "noise": noise,
}


def measured(name: str, count: float, folder: Path, processes: int) -> str:
    """A part's tables, from runs that are there or are now made."""
    part = PARTS[name]
    tasks = part.tasks(count)
    runs = finish(tasks, part.run, folder / f"{name}.jsonl", processes)
    return str(part.table(tasks, runs))


def inserted(page: str, name: str, table: str) -> str:
    """The page with the part's table in its place."""
    begin, end = f"<!-- measured: {name} -->", "<!-- end -->"
    pattern = re.compile(rf"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", page)


def main() -> None:
    """Run, keep, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all")
    parser.add_argument("--seeds", type=int, default=10, help="of every run (10)")
    parser.add_argument("--share", type=float, default=1.0, help="of the streams of calibration")
    parser.add_argument("--processes", type=int, default=2, help="at once (2)")
    parser.add_argument("--runs", type=Path, default=HERE / "runs", metavar="FOLDER")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="write the tables into this page")
    given = parser.parse_args()
    given.runs.mkdir(parents=True, exist_ok=True)
    for name in given.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        count = given.share if name == "calibration" else given.seeds
        try:
            table = measured(name, count, given.runs, given.processes)
        except KeyboardInterrupt:
            tell("interrupted; what is finished is kept, and the same command goes on")
            sys.exit(130)
        print(f"## {name}\n\n{table}\n", flush=True)
        if given.docs:
            given.docs.write_text(inserted(given.docs.read_text("utf-8"), name, table), "utf-8")


if __name__ == "__main__":
    main()
