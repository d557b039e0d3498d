"""QORA, the predecessor of TreeThink: it tests conditions on the stream, and never drops one.

    transition -> [ Qora ] -> prediction

The engine does the learning, on the same states as TreeThink's, so that their speeds can be
compared. docs/qora.md describes the algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from treethink import _engine
from treethink.baselines.base import SavedToFile
from treethink.errors import BrokenModelError, SettingError, shown, whole_number
from treethink.file import CopiedByContent
from treethink.model import check_alpha
from treethink.state import Schema

_MOST_BYTES = 2**63 - 1


class Qora(CopiedByContent, SavedToFile, _engine.Qora):
    """The learner that TreeThink is compared with.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    alpha
        The level of the two-sided confidence intervals that must not overlap for a condition to
        be chosen.
    max_bytes
        When it holds more than about this, it adds no new conditions, and further calls of
        `observe` raise a `ResourceError`. Everything else goes on working.

    Examples
    --------
    >>> from treethink import Object, State
    >>> schema = Schema({"lamp": ["on"]}, {"on": 1}, ["press"])
    >>> off, on = (State(schema, [Object(1, "lamp", on=value)]) for value in (0, 1))
    >>> learner = Qora(schema)
    >>> for _ in range(20):
    ...     learner.observe(off, "press", on)
    ...     learner.observe(on, "press", off)
    >>> learner.predict(off, "press").outcomes(1, "on")
    {1: 1.0}
    >>> learner
    <Qora: 40 observations, 2 conditions>
    """

    name = "qora"
    shortest_rule = 1
    cannot_keep: ClassVar[Mapping[str, str]] = {
        "other_names_and_another_order_of_objects_only_rename_the_prediction": (
            "objects are learned from in the order of their ids, and of conditions that are equally"
            " good the one that came first wins"
        )
    }

    def __init__(self, schema: Schema, *, alpha: float = 0.01, max_bytes: int = 2**31):
        most = whole_number("max_bytes", max_bytes)
        if most > _MOST_BYTES:
            raise SettingError(f"max_bytes must be at most {_MOST_BYTES}, got {shown(most)}")
        super().__init__(schema, check_alpha(alpha), most)

    def memory_use(self) -> dict[str, int]:
        """Return totals: bytes, hypotheses, conditions being tested, all conditions so far."""
        return dict(
            zip(("bytes", "hypotheses", "candidates", "conditions"), self._size(), strict=True)
        )

    def __repr__(self) -> str:
        try:
            conditions = self.memory_use()["conditions"]
        except BrokenModelError:
            return "<Qora: broken>"
        return f"<Qora: {self.observations} observations, {conditions} conditions>"

    # ---- files ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with."""
        return {"alpha": self.alpha, "max_bytes": self.max_bytes}

    def body(self) -> bytes:
        """Return what it has learned, as bytes."""
        return self._save()

    def restore(self, body: bytes) -> None:
        """Restore what `body` returned."""
        self._load(body)
