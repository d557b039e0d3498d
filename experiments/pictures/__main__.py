"""Draw the pictures of docs/how-it-works.md.

    python -m experiments.pictures [--check] [NAME ...]

Out:  docs/images/how_NAME.svg, all of them or the named ones; with --check, only compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from experiments.pictures import acting, asking, growing, objects, using

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
PICTURES: dict[str, Callable[[], str]] = {
    "state": objects.state,
    "facts": objects.facts,
    "tests": asking.tests,
    "flow": asking.flow,
    "evidence": growing.evidence,
    "growth": growing.growth,
    "memory": using.memory,
    "transfer": using.transfer,
    "chance": acting.chance,
    "plan": acting.acting,
}


def path_of(name: str) -> Path:
    """Where a picture is kept."""
    return FOLDER / f"how_{name}.svg"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(PICTURES):
        parser.error(f"unknown picture {', '.join(sorted(unknown))}; known: {', '.join(PICTURES)}")
    drawn = {path_of(name): PICTURES[name]() for name in asked.names or PICTURES}
    if not asked.check:
        for path, picture in drawn.items():
            path.write_text(picture, encoding="utf-8")
    elif other := [path.name for path in drawn if path.read_text(encoding="utf-8") != drawn[path]]:
        sys.exit(f"drawn otherwise today: {', '.join(other)}")


if __name__ == "__main__":
    main()
