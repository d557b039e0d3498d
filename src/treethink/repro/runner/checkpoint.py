"""Checkpoints, from which an interrupted run resumes.

    learner, recording -> [ checkpoint ] -> two files -> learner, recording

A run that has ended has no checkpoint: its entry in the folder of records stands for it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from treethink import file
from treethink.errors import ModelFileError, RecordsError, SettingError
from treethink.repro.runner.measurements import Recording
from treethink.repro.runner.store import inside


class Checkpoint:
    """The checkpoint of one run, in a folder.

    The learner saves itself to a file of its own, under a new name each time. Then a file that
    names it, with its checksum, replaces the one before in a single step. So there is always a
    complete checkpoint, the last or the one before.
    """

    def __init__(self, folder: Path, key: str):
        self._folder, self._key = folder, key
        self._path = inside(folder, f"{key}.checkpoint")

    def save(self, learner: Any, recording: Recording) -> None:
        """Replace the checkpoint."""
        path = inside(self._folder, f"{self._key}.{recording.observed}.learner")
        _save(learner, path)
        data, long = recording.to_parts()
        header = {"run": self._key, "learner": path.name, "digest": _digest(path), "data": data}
        file.write(self._path, file.pack(header, long))
        self._remove_learners(keep=path)

    def load(self, kind: type[Any]) -> tuple[Any, Recording] | None:
        """Return the learner and the recording; None if there is no checkpoint.

        Raises a `ModelFileError` if it is damaged, or of another run, and a `RecordsError` if the
        learner is not in a file of this folder.
        """
        if not self._path.exists():
            return None
        header, long = file.unpack(file.read(self._path), str(self._path))
        try:
            if header["run"] != self._key:
                raise ModelFileError(f"{self._path} is of another run: {header['run']}")
            path = inside(self._folder, header["learner"])
            if _digest(path) != header["digest"]:
                raise ModelFileError(f"{path} is damaged: its checksum does not match")
            return kind.load(path), Recording.from_parts(header["data"], long)
        except (OSError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, ModelFileError | RecordsError):
                raise
            raise ModelFileError(f"{self._path} cannot be read: {error}") from None

    def remove(self) -> None:
        """Remove it, because the run has ended or starts anew."""
        self._path.unlink(missing_ok=True)
        self._remove_learners()

    def check_learner(self, learner: Any) -> None:
        """Save and load a learner once; raise an error if it could not be resumed later."""
        path = inside(self._folder, f"{self._key}.0.learner")
        try:
            _save(learner, path)
            if not callable(getattr(type(learner), "load", None)):
                raise SettingError(f"{type(learner).__name__} has no load, so it cannot be resumed")
            type(learner).load(path)
        finally:
            path.unlink(missing_ok=True)

    def _remove_learners(self, keep: Path | None = None) -> None:
        for path in self._folder.glob(f"{self._key}.*.learner"):
            if path != keep:
                path.unlink(missing_ok=True)


def _save(learner: Any, path: Path) -> None:
    if not callable(getattr(learner, "save", None)):
        raise SettingError(f"{type(learner).__name__} has no save, so it cannot be resumed")
    learner.save(path)


def _digest(path: Path) -> str:
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
