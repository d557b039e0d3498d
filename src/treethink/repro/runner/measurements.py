"""What a run has measured so far.

    errors and times of every step, episodes -> [ Recording ] -> errors, windows, episodes

Nothing is written here. All of it can be put into plain data and taken out again, to the last
bit, in the middle of a window too: a run that is resumed records what it would have recorded.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from treethink.errors import SettingError
from treethink.metrics import TOLERANCE

#: What every window has; what `memory_use` and `measures` of a learner say comes after these.
COLUMNS = ("first", "last", "error", "observe_us", "predict_us", "transfer_error", "transfer_us")

#: What is said of every episode that was played, and as what it is kept.
EPISODES: Mapping[str, str] = {
    "observed": "int32",
    "setting": "string",
    "episode": "int32",
    "level": "int64",
    "redrawn": "int32",
    "score": "int64",
    "pessimal": "float64",
    "trivial": "float64",
    "optimal": "float64",
    "exact": "bool",
    "normalised": "float64",
    "seconds": "float64",
    "actions": "string",
}

Row = dict[str, Any]
_NOTHING: Mapping[str, float] = {}


class Recording:
    """What one run measured: single errors, a row for each window of steps and each episode."""

    def __init__(self, window: int):
        self.window = window
        self.observed = 0
        self.nanoseconds = 0  # of predicting, scoring and observing
        #: The steps with an error, counted from 1, and how large it was.
        self.wrong_steps, self.errors = array("i"), array("d")
        self.rows: list[Row] = []
        #: A row for each episode, in the order in which they were played.
        self.episodes: list[Row] = []
        self._error, self._predict, self._observe = 0.0, 0, 0  # sums over the open window

    @property
    def last_error(self) -> int:
        """The last step with an error; 0 if there was none."""
        return self.wrong_steps[-1] if self.wrong_steps else 0

    @property
    def open_steps(self) -> int:
        """How many steps the open window has."""
        return self.observed - (self.rows[-1]["last"] if self.rows else 0)

    def add(self, wrong_by: float, predict: int, observe: int, whole: int) -> bool:
        """One more step, its times in nanoseconds. Returns whether its window is full."""
        self.observed += 1
        self.nanoseconds += whole
        self._error += wrong_by
        self._predict += predict
        self._observe += observe
        if wrong_by > TOLERANCE:
            self.wrong_steps.append(self.observed)
            self.errors.append(wrong_by)
        return self.observed % self.window == 0

    def close(
        self,
        memory: Mapping[str, int],
        transfer: tuple[float, float] | None,
        measures: Mapping[str, float] = _NOTHING,
    ) -> None:
        """End the window: what the learner holds and measures now, and how it did elsewhere."""
        for told, names in (("memory_use", memory), ("measures", measures)):
            for each in names:
                if each in COLUMNS or (names is measures and each in memory):
                    raise SettingError(f"{told} says {each!r}, which is a column of its own")
        steps = self.open_steps
        error_there, time_there = transfer or (None, None)
        row: Row = {
            "first": self.observed - steps + 1,
            "last": self.observed,
            "error": self._error / steps,
            "observe_us": self._observe / steps / 1000,
            "predict_us": self._predict / steps / 1000,
            "transfer_error": error_there,
            "transfer_us": time_there,
        }
        row |= {name: int(value) for name, value in memory.items()}
        self.rows.append(row | {name: float(value) for name, value in measures.items()})
        self._error, self._predict, self._observe = 0.0, 0, 0

    def played(self, setting: str) -> list[Row]:
        """The episodes of a setting that were played after what is observed by now."""
        return [
            row
            for row in self.episodes
            if row["setting"] == setting and row["observed"] == self.observed
        ]

    def recent(self) -> float:
        """The mean error of late."""
        if self.open_steps and (self.open_steps > self.window // 2 or not self.rows):
            return self._error / self.open_steps
        return float(self.rows[-1]["error"]) if self.rows else 0.0

    # -------------------------------------------------------------- to and from plain data

    def to_parts(self) -> tuple[dict[str, Any], bytes]:
        """Plain data, and bytes for what is long."""
        data = {
            "window": self.window,
            "observed": self.observed,
            "nanoseconds": self.nanoseconds,
            "open": [self._error, self._predict, self._observe],
            "rows": self.rows,
            "episodes": self.episodes,
            "wrong": len(self.wrong_steps),
        }
        steps = np.array(self.wrong_steps, "<i4").tobytes()
        return data, steps + np.array(self.errors, "<f8").tobytes()

    @classmethod
    def from_parts(cls, data: Mapping[str, Any], long: bytes) -> Self:
        """What `to_parts` gave."""
        made = cls(data["window"])
        made.observed, made.nanoseconds = data["observed"], data["nanoseconds"]
        made._error, made._predict, made._observe = data["open"]
        made.rows, made.episodes = data["rows"], data.get("episodes", [])
        middle = 4 * data["wrong"]
        made.wrong_steps.extend(np.frombuffer(long[:middle], "<i4").tolist())
        made.errors.extend(np.frombuffer(long[middle:], "<f8").tolist())
        if len(made.wrong_steps) != len(made.errors):
            raise ValueError("as many steps as errors")
        return made
