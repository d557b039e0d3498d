"""What our baselines have in common: what they refuse, and how they are written to files.

    transition -> [ checked ] -> a learner;  learner <-> file

A baseline derives from `Learner`, states its `name`, and implements `learn`, `answer` and, where
it knows something, `body` and `restore`. It is then asked for right states and actions only.
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


class Filed:
    """How every baseline is written to files, whatever else it derives from."""

    name: ClassVar[str]
    #: Contracts of `treethink.checks.LEARNER_CHECKS` that it cannot keep, each with the reason.
    cannot_keep: ClassVar[Mapping[str, str]] = {}
    schema: Schema

    # ---- what is written ----

    def settings(self) -> dict[str, Any]:
        """What a file says of how it was made, beside the schema."""
        return {}

    def body(self) -> bytes:
        """What it has learned."""
        return b""

    def restore(self, body: bytes) -> None:
        """Take back what `body` wrote; raises whatever it likes of what that cannot be."""
        if body:
            raise ValueError(f"{self.name!r} learns nothing, and the file holds {len(body)} bytes")

    @classmethod
    def made(cls, schema: Schema, settings: Mapping[str, Any]) -> Self:
        """A learner as a file describes it."""
        return cls(schema, **settings)  # type: ignore[call-arg]

    # ---- to and from files ----

    def to_bytes(self) -> bytes:
        """The content of its file."""
        settings = self.settings()
        header = {"learner": self.name, "schema": self.schema.to_dict(), "settings": settings}
        return file.pack(header, self.body())

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
            learner = cls.made(Schema.from_dict(header["schema"]), header["settings"])
            learner.restore(body)
        except (TreeThinkError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise ModelFileError(f"{where} cannot be read: {error}") from None
        return learner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the learner to a file, in one step."""
        file.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a learner. What it learns from then on is what it would have learned anyway."""
        return cls.from_bytes(file.read(path), repr(os.fspath(path)))


class Learner(Filed, ABC):
    """A learner that is no `TreeThink`, with the same verbs and the same errors."""

    def __init__(self, schema: Schema):
        if not isinstance(schema, Schema):
            raise WrongTypeError(f"schema must be a Schema, got {shown(schema)}")
        self.schema = schema

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.name}>"

    # ---- what it does ----

    def observe(self, before: State, action: str, after: State) -> None:
        """Learn one transition."""
        self._check_state(before, "before", "before")
        self._check_action(action)
        self._check_state(after, "after", "after")
        before.changes_to(after)  # refuses other objects
        self.learn(before, action, after)

    def predict(self, state: State, action: str) -> Any:
        """The distribution over next states."""
        self._check_state(state, "state", "given")
        self._check_action(action)
        return self.answer(state, action)

    @abstractmethod
    def learn(self, before: State, action: str, after: State) -> None:
        """What `observe` does; states and action have been checked."""

    @abstractmethod
    def answer(self, state: State, action: str) -> Any:
        """What `predict` returns; state and action have been checked."""

    # ---- what is refused ----

    def _check_action(self, action: object) -> None:
        if not isinstance(action, str):
            raise WrongTypeError(f"an action must be a str, got {shown(action)}")
        if action not in self.schema.actions:
            raise UnknownNameError("action", action, self.schema.actions, "the schema")

    def _check_state(self, state: object, argument: str, which: str) -> None:
        if not isinstance(state, State):
            raise WrongTypeError(f"{argument} must be a State, got {shown(state)}")
        if state.schema is not self.schema and state.schema != self.schema:
            raise StateError(f"the {which} state is of another schema than the model")
