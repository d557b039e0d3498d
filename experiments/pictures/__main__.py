"""Draw the pictures of docs/how-it-works.md.

    python -m experiments.pictures [--check] [NAME ...]

Out:  docs/images/how_NAME.svg, all of them or the named ones; with --check, only compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.pictures import (
    chance_and_plan,
    evidence_and_growth,
    memory_and_transfer,
    state_and_facts,
    tests_and_flow,
)

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
PICTURES: dict[str, Callable[[], str]] = {
    "state": state_and_facts.state,
    "facts": state_and_facts.facts,
    "tests": tests_and_flow.tests,
    "flow": tests_and_flow.flow,
    "evidence": evidence_and_growth.evidence,
    "growth": evidence_and_growth.growth,
    "memory": memory_and_transfer.memory,
    "transfer": memory_and_transfer.transfer,
    "chance": chance_and_plan.chance,
    "plan": chance_and_plan.plan,
}


def path_of(name: str) -> Path:
    """Return the path of a picture."""
    return FOLDER / f"how_{name}.svg"


def main() -> None:
    """Draw or compare the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    options = parser.parse_args()
    if unknown := set(options.names) - set(PICTURES):
        parser.error(f"unknown picture {', '.join(sorted(unknown))}; known: {', '.join(PICTURES)}")
    drawn = {path_of(name): PICTURES[name]() for name in options.names or PICTURES}
    if not options.check:
        for path, picture in drawn.items():
            path.write_text(picture, encoding="utf-8")
    elif other := [path.name for path in drawn if path.read_text(encoding="utf-8") != drawn[path]]:
        sys.exit(f"these pictures are out of date: {', '.join(other)}")


if __name__ == "__main__":
    main()
