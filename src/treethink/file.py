"""Model files: written whole or not at all, checked before a byte is believed.

    model -> [ file ] -> model

A file is, in this order: the magic bytes, the format's number, a header (JSON: schema and
settings, for people and other tools), the body (the engine's numbers), and a SHA-256 of all that
comes before it. There is no code in it, and equal models have equal bytes.

Compatibility: every later version reads every earlier format. A file of a newer format than
this version knows is refused, never guessed at.
"""

import errno
import hashlib
import json
import os
import secrets
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from treethink.errors import ModelFileError, WrongTypeError

MAGIC = b"TREETHINK\n"
FORMAT = 1
_FIXED = struct.Struct("<IQQ")  # format, length of header, length of body
_DIGEST = hashlib.sha256().digest_size


class Copied:
    """Pickled and copied by the content of its file: what the engine holds, Python cannot see."""

    to_bytes: Callable[..., bytes]
    from_bytes: Callable[..., Self]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Self:
        return type(self).from_bytes(self.to_bytes())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()


def pack(header: dict[str, Any], body: bytes) -> bytes:
    """Header and body as the bytes of a file."""
    text = json.dumps(header, separators=(",", ":")).encode()  # its order is the schema's
    content = MAGIC + _FIXED.pack(FORMAT, len(text), len(body)) + text + body
    return content + hashlib.sha256(content).digest()


def unpack(content: bytes, where: str) -> tuple[dict[str, Any], bytes]:
    """Header and body of a file's bytes; `where` names the file in errors."""
    if not isinstance(content, bytes):
        raise WrongTypeError(f"the content of a model file must be bytes, got {content!r}")
    if not content.startswith(MAGIC):
        raise ModelFileError(f"{where} is not a TreeThink model file")
    start = len(MAGIC) + _FIXED.size
    if len(content) < start + _DIGEST:
        raise ModelFileError(f"{where} is cut off: {len(content)} bytes are too few")
    version, header_length, body_length = _FIXED.unpack_from(content, len(MAGIC))
    if version == 0:
        raise ModelFileError(f"{where} has format 0, which there never was")
    if version > FORMAT:
        raise ModelFileError(
            f"{where} has format {version}, of a newer TreeThink; this one reads up to {FORMAT}"
        )
    expected = start + header_length + body_length + _DIGEST
    if len(content) != expected:
        raise ModelFileError(
            f"{where} is cut off or extended: {len(content)} bytes, not {expected}"
        )
    if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise ModelFileError(f"{where} is damaged: its checksum does not match its content")
    body_start = start + header_length
    try:
        header = json.loads(content[start:body_start])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where} has a header that cannot be read: {error}") from None
    if not isinstance(header, dict):
        raise ModelFileError(f"{where} has a header that is not an object")
    return header, content[body_start:-_DIGEST]


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Replace the file in one step: a crash leaves the old one whole.

    A link stays a link, and the file that it leads to is replaced. Who may read it, stays too.
    """
    target = _path(path)
    place = Path(os.path.realpath(target))
    draft = place.parent / f".treethink-{secrets.token_hex(8)}"
    try:
        _write_draft(draft, content, _old_mode(place))
        os.replace(draft, place)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:  # of the draft nobody has heard
            raise OSError(error.errno, error.strerror, os.fspath(target)) from None
        raise


def _old_mode(place: Path) -> int | None:
    """The permissions of the file that is there, if there is one."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "It is a device or a pipe, not a file")
    return stat.S_IMODE(mode)


def _write_draft(draft: Path, content: bytes, mode: int | None) -> None:
    """A new file, which never has been open to more people than the old one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(draft, flags, 0o666 if mode is None else 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        draft.chmod(mode)


def read(path: str | os.PathLike[str]) -> bytes:
    """The file's bytes, but no more than the first few of a file that is none of ours.

    A missing or unreadable file is an error of ours.
    """
    try:
        with _path(path).open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"cannot read {os.fspath(path)!r}: {reason}") from None


def _path(path: object) -> Path:
    try:
        return Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"a path must be a str or a path, got {path!r}") from None
