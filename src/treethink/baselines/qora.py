"""QORA, the predecessor: it tries conditions on the stream, and never drops one.

    transition -> [ Qora ] -> prediction

The learning is done by the engine, on the same states as TreeThink's, so that times compare.
docs/qora.md tells what it does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from treethink import _engine, file
from treethink.errors import (
    ModelFileError,
    SettingError,
    TreeThinkError,
    shown,
    whole_number,
)
from treethink.learner import check_alpha
from treethink.state import Schema

_MOST_BYTES = 2**63 - 1


class Qora(_engine.Qora):
    """The learner that TreeThink is compared with.

    Parameters
    ----------
    schema
        What states are made of, and which actions there are.
    alpha
        The level of the two-sided intervals that must not overlap for a condition to win.
    max_bytes
        When it holds more than that, roughly, it makes no new conditions, and from the next
        observation on it learns no more: `observe` raises a `ResourceError`. All else works on.

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
    #: Contracts of `treethink.checks.LEARNER_CHECKS` that it cannot keep, each with the reason.
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
        """Bytes; hypotheses; conditions that are being tried; all that ever were."""
        return dict(
            zip(("bytes", "hypotheses", "candidates", "conditions"), self._size(), strict=True)
        )

    def __repr__(self) -> str:
        conditions = self.memory_use()["conditions"]
        return f"<Qora: {self.observations} observations, {conditions} conditions>"

    # ---- to and from files ----

    def to_bytes(self) -> bytes:
        """The content of its file."""
        settings = {"alpha": self.alpha, "max_bytes": self.max_bytes}
        header = {"learner": self.name, "schema": self.schema.to_dict(), "settings": settings}
        return file.pack(header, self._save())

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "the data") -> Self:
        """A learner from the content of a file. `where` names it in errors."""
        header, body = file.unpack(content, where)
        found = header.get("learner", "treethink")
        if found != cls.name:
            raise ModelFileError(
                f"{where} was written by the learner {shown(found)}, not by {cls.name!r}"
            )
        try:
            learner = cls(Schema.from_dict(header["schema"]), **header["settings"])
            learner._load(body)
        except (TreeThinkError, LookupError, TypeError) as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from None
        return learner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file, in one step."""
        file.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a learner. What it learns from then on is what it would have learned anyway."""
        return cls.from_bytes(file.read(path), repr(os.fspath(path)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Self:
        return type(self).from_bytes(self.to_bytes())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()
