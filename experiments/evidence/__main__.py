"""Measure the numbers of docs/evidence.md.

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


def measured_table(name: str, count: float, folder: Path, processes: int) -> str:
    """Return the tables of a part, from runs that are kept or performed now."""
    part = PARTS[name]
    tasks = part.tasks(count)
    results = finish(tasks, part.run, folder / f"{name}.jsonl", processes)
    return str(part.table(tasks, results))


def insert_table(page: str, name: str, table: str) -> str:
    """Return the page with the table of a part in its place."""
    begin, end = f"<!-- measured: {name} -->", "<!-- end -->"
    pattern = re.compile(rf"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    return pattern.sub(lambda _: f"{begin}\n\n{table}\n\n{end}", page)


def main() -> None:
    """Run, keep, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of every run (10)")
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the streams of calibration"
    )
    parser.add_argument("--processes", type=int, default=2, help="runs at once (2)")
    parser.add_argument("--runs", type=Path, default=HERE / "runs", metavar="FOLDER")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="write the tables into this page")
    options = parser.parse_args()
    options.runs.mkdir(parents=True, exist_ok=True)
    for name in options.parts or PARTS:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; there are {', '.join(PARTS)}")
        count = options.share if name == "calibration" else options.seeds
        try:
            table = measured_table(name, count, options.runs, options.processes)
        except KeyboardInterrupt:
            tell("Interrupted. Finished runs are kept; run the same command to resume.")
            sys.exit(130)
        print(f"## {name}\n\n{table}\n", flush=True)
        if options.docs:
            options.docs.write_text(
                insert_table(options.docs.read_text("utf-8"), name, table), "utf-8"
            )


if __name__ == "__main__":
    main()
