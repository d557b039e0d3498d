"""Read values from the tables of a config, with errors that name the place of a mistake.

table of TOML -> [ Fields ] -> checked values
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from treethink.errors import (
    MissingPackageError,
    SettingError,
    TreeThinkError,
    UnknownNameError,
    shown,
    whole_number,
)
from treethink.repro.runner.spec import HELD_OUT

#: Steps are recorded as integers of 32 bits.
MOST_STEPS = 2**31 - 1
MOST_SEEDS = 10_000
_MAX_DEPTH = 20


@contextmanager
def in_place(where: str) -> Iterator[None]:
    """Let errors that are raised inside name the place in the config."""
    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(error.kind, error.name, error.known, where) from None
    except MissingPackageError as error:
        raise MissingPackageError(f"{where}: {error}") from None
    except TreeThinkError as error:
        raise SettingError(f"{where}: {error}") from error


class Fields:
    """One table of a config; it may have the `known` keys only. `where` is its place."""

    def __init__(self, content: object, where: str, known: Iterable[str]):
        self.where = where
        self._content = _table(content, where)
        known = tuple(known)
        for each in self._content:
            if each not in known:
                raise UnknownNameError("key", each, known, where)

    def __contains__(self, name: str) -> bool:
        return name in self._content

    def place(self, name: str) -> str:
        """Return the place of a key."""
        return f"{self.where}, {name}"

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not empty."""
        value = self._get(name, default)
        if not isinstance(value, str) or not value.strip():
            raise SettingError(f"{self.place(name)} must be a text, got {shown(value)}")
        return value

    def maybe_text(self, name: str) -> str | None:
        """Return a text that is not empty, or None where the key is missing."""
        return self.text(name) if name in self else None

    def whole(
        self, name: str, least: int, default: int | None = None, most: int = MOST_STEPS
    ) -> int:
        """Return a whole number from `least` to `most`."""
        number = whole_number(self.place(name), self._get(name, default), least)
        if number > most:
            raise SettingError(f"{self.place(name)} must be at most {most:,}, got {number}")
        return number

    def maybe_whole(self, name: str, least: int) -> int | None:
        """Return a whole number, or None where the key is missing."""
        return self.whole(name, least) if name in self else None

    def maybe_amount(self, name: str) -> float | None:
        """Return a number above 0, or None where the key is missing."""
        if name not in self:
            return None
        value = self._content[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value <= 0:
            raise SettingError(f"{self.place(name)} must be a number above 0, got {shown(value)}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return true or false; false where the key is missing."""
        value = self._content.get(name, False)
        if not isinstance(value, bool):
            raise SettingError(f"{self.place(name)} must be true or false, got {shown(value)}")
        return value

    def table(self, name: str) -> dict[str, Any]:
        """Return a table with any keys; an empty one where the key is missing."""
        return _table(self._content.get(name, {}), self.place(name))

    def many(self, name: str) -> list[Any]:
        """Return a list that is not empty."""
        value = self._get(name, None)
        if isinstance(value, str):
            listed = json.dumps([value], ensure_ascii=False)
            raise SettingError(
                f"{self.place(name)} must be a list: {name} = {listed}, got {shown(value)}"
            )
        if not isinstance(value, list) or not value:
            raise SettingError(f"{self.place(name)} must list one at least, got {shown(value)}")
        return value

    def maybe_seeds(self, name: str) -> tuple[int, ...] | None:
        """Return seeds, given as a number or as a list; None where the key is missing."""
        if name not in self:
            return None
        if not isinstance(self._content[name], list):
            return tuple(range(number_of_seeds(self.place(name), self.whole(name, 1))))
        seeds = [_seed(f"{self.place(name)}[{i}]", each) for i, each in enumerate(self.many(name))]
        number_of_seeds(self.place(name), len(seeds))
        if len(set(seeds)) < len(seeds):
            raise SettingError(f"{self.place(name)} must not name a seed twice, got {shown(seeds)}")
        return tuple(seeds)

    def _get(self, name: str, default: object) -> Any:
        if name not in self and default is None:
            raise SettingError(f"{self.where}: {name!r} is missing")
        return self._content.get(name, default)


def number_of_seeds(place: str, number: object) -> int:
    """Check a number of seeds."""
    seeds = whole_number(place, number, 1)
    if seeds > MOST_SEEDS:
        raise SettingError(f"{place} must be at most {MOST_SEEDS:,}, got {shown(seeds)}")
    return seeds


def _seed(place: str, number: object) -> int:
    seed = whole_number(place, number)
    if seed >= HELD_OUT:
        raise SettingError(
            f"{place} must be below {HELD_OUT:,}, where held-out streams begin, got {shown(seed)}"
        )
    return seed


def check_plain(raw: object, where: str) -> None:
    """Refuse integers beyond 64 bits and tables nested too deeply, which no config needs."""
    left = [(raw, where, 0)]
    while left:
        value, place, depth = left.pop()
        if depth > _MAX_DEPTH:
            raise SettingError(f"{where} is nested deeper than {_MAX_DEPTH} tables and lists")
        if isinstance(value, dict):
            left += [(each, f"{place}, {name}", depth + 1) for name, each in value.items()]
        elif isinstance(value, list):
            left += [(each, f"{place}[{i}]", depth + 1) for i, each in enumerate(value)]
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise SettingError(f"{place} must fit 64 bits, got {shown(value)}")


def _table(content: object, where: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise SettingError(f"{where} must be a table, got {shown(content)}")
    return content
