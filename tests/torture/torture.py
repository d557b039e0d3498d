"""Attack TreeThink with real faults and count the promises that broke (`make torture`).

    attack_*.py -> [ attempt, many times ] -> table: attack, tries, failures

Every file attack_*.py in this folder has a list ATTACKS. An attack is tried many times with random
numbers that depend only on the seed, the attack and the number of the try, so a failure can be
repeated:  python tests/torture/torture.py --only "full disk" --first 17 --tries 1
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.append(str(FOLDER.parent / "support"))
PAGE = FOLDER.parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"


@dataclass(frozen=True)
class Attack:
    """A fault, and the promise that it must not break.

    `attempt(rng, folder)` makes one try in an empty folder. It returns None if the promise held, or
    a sentence that says what happened instead. An exception is a failure, too.
    """

    name: str
    promise: str
    tries: int
    attempt: Callable[[random.Random, Path], str | None]


@dataclass(frozen=True)
class Result:
    name: str
    promise: str
    tries: int
    failures: list[str]
    seconds: float


def all_attacks() -> list[Attack]:
    """Return the attacks of all files in this folder."""
    attacks: list[Attack] = []
    for path in sorted(FOLDER.glob("attack_*.py")):
        attacks += importlib.import_module(path.stem).ATTACKS
    return attacks


def attempt(attack: Attack, seed: int, number: int) -> str | None:
    """Make one try; return what went wrong, or None."""
    rng = random.Random(f"{seed}/{attack.name}/{number}")
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        try:
            return attack.attempt(rng, Path(folder))
        except Exception:
            return traceback.format_exc().strip()


def perform(name: str, seed: int, numbers: Iterable[int]) -> Result:
    """Try the attack of this name once for each number."""
    attack = next(each for each in all_attacks() if each.name == name)
    start = time.perf_counter()
    failures = []
    tries = 0
    for number in numbers:
        tries += 1
        if (failure := attempt(attack, seed, number)) is not None:
            failures.append(f"try {number}: {failure}")
    return Result(name, attack.promise, tries, failures, time.perf_counter() - start)


def table(results: Iterable[Result]) -> str:
    """Return the results as a table in Markdown."""
    lines = ["| attack | what must hold | tries | failures |", "|---|---|---:|---:|"]
    lines += [
        f"| {each.name} | {each.promise} | {each.tries:,} | {len(each.failures)} |"
        for each in results
    ]
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Replace the table in the page."""
    old = page.read_text(encoding="utf-8")
    before, rest = old.split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> int:
    options = parse_arguments()
    attacks = [each for each in all_attacks() if options.only in each.name]
    if not attacks:
        names = "\n  ".join(each.name for each in all_attacks())
        sys.exit(f"No attack has {options.only!r} in its name. There are:\n  {names}")
    results: dict[str, Result] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.processes, context, initializer=hear_control_c) as pool:
        jobs = [
            pool.submit(
                perform,
                each.name,
                options.seed,
                range(options.first, options.first + (options.tries or each.tries)),
            )
            for each in sorted(attacks, key=lambda attack: -attack.tries)
        ]
        for job in as_completed(jobs):
            result = results[job.result().name] = job.result()
            print(
                f"{result.name}: {result.tries:,} tries, {len(result.failures)} failures, "
                f"{result.seconds:.0f} s",
                flush=True,
            )
            for failure in result.failures[:3]:
                print("    " + failure.replace("\n", "\n    "), flush=True)
    in_order = [results[each.name] for each in attacks]
    print("\n" + table(in_order))
    failed = sum(len(each.failures) for each in in_order)
    print(
        f"\n{sum(each.tries for each in in_order):,} tries, {failed} failures (seed {options.seed})"
    )
    if options.write:
        write(PAGE, table(in_order))
    return 1 if failed else 0


def hear_control_c() -> None:
    # Some shells ignore Ctrl-C in background jobs; some attacks send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Attack TreeThink with real faults.")
    parser.add_argument("--only", default="", help="Only attacks with this text in their name.")
    parser.add_argument("--seed", type=int, default=1, help="Random seed.")
    parser.add_argument("--first", type=int, default=0, help="Number of the first try.")
    parser.add_argument("--tries", type=int, default=0, help="Tries per attack. Default: its own.")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="Processes.")
    parser.add_argument("--write", action="store_true", help=f"Put the table into {PAGE.name}.")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
