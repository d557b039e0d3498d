"""Base classes of the baselines: checks of arguments, and files.

    transition -> [ checks ] -> a learner;  learner <-> file

A baseline derives from `Learner`, states its `name`, and implements `learn`, `answer` and, if it
has something to save, `body` and `restore`. These get valid states and actions only.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from treethink import file
from treethink.errors import (
    ModelFileError,
    StateError,
    TreeThinkError,
    UnknownNameError,
    WrongTypeError,
    shown,
)
from treethink.state import Schema, State


class SavedToFile:
    """Saves a learner to a file and loads it: schema, settings, and a body of its own."""

    name: ClassVar[str]
    #: Contracts of `treethink.checks.LEARNER_CHECKS` that it cannot keep, with the reason for each.
    cannot_keep: ClassVar[Mapping[str, str]] = {}
    #: Bytes that a rule of a class, attribute and action takes in its file; 0: it has none.
    shortest_rule: ClassVar[int] = 0
    schema: Schema

    # ---- content of the file ----

    def settings(self) -> dict[str, Any]:
        """Return the settings it was made with, as JSON data."""
        return {}

    def body(self) -> bytes:
        """Return what it has learned, as bytes."""
        return b""

    def restore(self, body: bytes) -> None:
        """Restore what `body` returned; it may raise any error if the bytes are invalid."""
        if body:
            raise ValueError(f"{self.name!r} learns nothing, and the file holds {len(body)} bytes")

    @classmethod
    def from_settings(cls, schema: Schema, settings: Mapping[str, Any]) -> Self:
        """Return a new learner with the schema and settings of a file."""
        return cls(schema, **settings)  # type: ignore[call-arg]

    # ---- reading and writing ----

    def to_bytes(self) -> bytes:
        """Return the content of its file."""
        settings = self.settings()
        header = {"learner": self.name, "schema": self.schema.to_dict(), "settings": settings}
        return file.pack(header, self.body())

    @classmethod
    def from_bytes(cls, content: bytes, where: str = "the data") -> Self:
        """Return the learner of a file's content. Errors call the file `where`."""
        header, body = file.unpack(content, where)
        writer = header.get("learner", "treethink")
        if writer != cls.name:
            raise ModelFileError(
                f"{where} was written by the learner {shown(writer)}, not by {cls.name!r}"
            )
        try:
            schema = Schema.from_dict(header["schema"])
            file.check_rules(schema, body, least=cls.shortest_rule)
            learner = cls.from_settings(schema, header["settings"])
            learner.restore(body)
        except (TreeThinkError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from None
        return learner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file, atomically."""
        file.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a learner from a file. It goes on learning exactly as the saved one would have."""
        return cls.from_bytes(file.read(path), repr(os.fspath(path)))


class Learner(SavedToFile, ABC):
    """Base class of learners with the same methods and errors as `TreeThink`."""

    def __init__(self, schema: Schema):
        if not isinstance(schema, Schema):
            raise WrongTypeError(f"schema must be a Schema, got {shown(schema)}")
        self.schema = schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name}>"

    # ---- learning and predicting ----

    def observe(
        self,
        before: State,
        action: str,
        after: State,
        reward: float | None = None,
        terminated: bool | None = None,
    ) -> None:
        """Learn one transition; its reward and whether it ended the episode are ignored."""
        self._check_state(before, "before", "before")
        self._check_action(action)
        self._check_state(after, "after", "after")
        before.changes_to(after)  # raises a TransitionError if the objects differ
        self.learn(before, action, after)

    def predict(self, state: State, action: str) -> Any:
        """Return the distribution over next states."""
        self._check_state(state, "state", "given")
        self._check_action(action)
        return self.answer(state, action)

    @abstractmethod
    def learn(self, before: State, action: str, after: State) -> None:
        """Learn one transition, whose states and action have been checked."""

    @abstractmethod
    def answer(self, state: State, action: str) -> Any:
        """Return a prediction for a state and an action that have been checked."""

    # ---- checks ----

    def _check_action(self, action: object) -> None:
        if not isinstance(action, str):
            raise WrongTypeError(f"an action must be a str, got {shown(action)}")
        if action not in self.schema.actions:
            raise UnknownNameError("action", action, self.schema.actions, "the schema")

    def _check_state(self, state: object, argument: str, which: str) -> None:
        if not isinstance(state, State):
            raise WrongTypeError(f"{argument} must be a State, got {shown(state)}")
        if not state.schema.fits(self.schema):
            raise StateError(f"the {which} state is of another schema than the model")
