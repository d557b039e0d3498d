"""Model files, atomic writing of any file, and file names.

    model -> [ pack, write ] -> file -> [ read, unpack ] -> model

A model file consists of magic bytes, the version of the format, a header (JSON: schema and
settings, for people and other tools), a body (the engine's numbers), and a SHA-256 of everything
before it. It holds no code, and equal models have equal bytes. It is checked before it is used.

Compatibility: every version reads all earlier formats, and refuses later ones.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
import struct
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from treethink.errors import (
    ModelFileError,
    SettingError,
    UnknownNameError,
    WrongTypeError,
    shown,
)

if TYPE_CHECKING:
    from treethink.state import Schema

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

MAGIC = b"TREETHINK\n"
#: The newest format: rules have frames. 3 was for models with rewards and ends, 2 for those
#: without, 1 for those that tell all outcomes apart.
FORMAT = 4
_LENGTHS = struct.Struct("<IQQ")  # format, length of header, length of body
_DIGEST = hashlib.sha256().digest_size
_LONGEST_DRAFTED = 100  # bytes of a file's name that are in the name of its draft
_DRAFT_NUMBER = 16  # digits at the end of a draft's name
_MOST_DRAFTS = 20  # that are removed by others before writing gives up
_CHUNK = 2**20
_LONGEST_PART = 60  # bytes; a file name consists of several such parts and an ending


class CopiedByContent:
    """Pickles and copies an object by the content of its file, since its state is in the engine."""

    to_bytes: Callable[..., bytes]
    from_bytes: Callable[..., Self]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Self:
        return type(self).from_bytes(self.to_bytes())

    def __deepcopy__(self, memo: object) -> Self:
        return self.__copy__()


def pack(header: dict[str, Any], body: bytes) -> bytes:
    """Return the bytes of a model file."""
    text = json.dumps(header, separators=(",", ":")).encode()  # in the order of the schema
    content = MAGIC + _LENGTHS.pack(FORMAT, len(text), len(body)) + text + body
    return content + hashlib.sha256(content).digest()


def unpack(content: bytes, where: str) -> tuple[dict[str, Any], bytes]:
    """Return header and body of a model file's bytes. Errors call the file `where`."""
    if not isinstance(content, bytes):
        raise WrongTypeError(f"the content of a model file must be bytes, got {content!r}")
    if not content.startswith(MAGIC):
        raise ModelFileError(f"{where} is not a TreeThink model file")
    start = len(MAGIC) + _LENGTHS.size
    if len(content) < start + _DIGEST:
        raise ModelFileError(f"{where} is cut off: {len(content)} bytes are too few")
    version, header_length, body_length = _LENGTHS.unpack_from(content, len(MAGIC))
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


def check_rules(schema: "Schema", body: bytes, least: int, feedback: bool = False) -> None:
    """Raise a `ModelFileError` if the body is too short for the rules of the schema.

    There is a rule for every class, attribute and action, with `feedback` also one for the rewards
    and one for the ends of every action, and each takes at least `least` bytes. Rules are made
    before the body is read, and a short header can name millions of them.
    """
    attributes = sum(map(len, schema.classes.values()))
    rules = (attributes + 2 * feedback) * len(schema.actions)
    if len(body) < least * rules:
        raise ModelFileError(f"{len(body)} bytes are too few for {rules} rules")


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically: after a crash, it has its old content or the new one.

    The content is written to a draft beside the file, which is read back and compared before it
    replaces the file. If the path is a symbolic link, its target is replaced. Permissions are kept.
    """
    target = _path(path)
    place = Path(os.path.realpath(target))
    try:
        _remove_dead_drafts(place)
        for _ in range(_MOST_DRAFTS):
            if _replace_by_draft(place, content):
                return _flush_folder(place.parent)
        raise OSError(errno.EBUSY, "Others removed every draft of it")
    except OSError as error:
        if error.errno is None:
            raise
        # name the file, not the draft
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None


def _replace_by_draft(place: Path, content: bytes) -> bool:
    """Write a draft and replace the file by it; return False if another process removed the draft.

    That can happen between the creation of the draft and its lock, and, on Windows, between its
    closing and the replacement.
    """
    mode = _old_mode(place)
    draft = place.with_name(f"{_draft_prefix(place)}{secrets.token_hex(_DRAFT_NUMBER // 2)}")
    try:
        with _new_file(draft, mode) as file:
            _lock(file)
            if not draft.exists():
                return False
            _write_and_compare(file, content)
            if mode is not None:
                draft.chmod(mode)
            if os.name != "nt":  # Windows cannot rename an open file
                return _renamed(draft, place)
        return _renamed(draft, place)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _new_file(draft: Path, mode: int | None) -> BinaryIO:
    """Create a file that is never readable by more users than the old one with this mode."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return open(os.open(draft, flags, 0o666 if mode is None else 0o600), "w+b")


def _write_and_compare(file: BinaryIO, content: bytes) -> None:
    """Write the content to the disk, and read it back."""
    file.write(content)
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    expected = memoryview(content)
    for start in range(0, len(content) + 1, _CHUNK):
        if file.read(_CHUNK) != expected[start : start + _CHUNK]:
            raise OSError(errno.EIO, "What was written is not what is read back")


def _renamed(draft: Path, place: Path) -> bool:
    """Replace the file by its draft; return False if the draft is gone."""
    try:
        os.replace(draft, place)
    except FileNotFoundError:
        if draft.parent.exists():
            return False
        raise
    return True


def _flush_folder(folder: Path) -> None:
    """Write the new name of a file to the disk, where the system can do that."""
    if os.name == "nt":
        return
    with contextlib.suppress(OSError):  # the file has been replaced: nothing is left to undo
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


# ------------------------------------------------------------------------------ drafts
#
# A draft has the name of its file in its own. Its writer holds a lock on it, which the system
# releases when the writer ends, in whatever way. So a draft that can be locked has no writer any
# more, and the next save of the same file removes it. Windows refuses to remove a file that is
# open, which is as good as a lock.


def _draft_prefix(place: Path) -> str:
    start = os.fsencode(place.name)[:_LONGEST_DRAFTED].decode(errors="ignore")
    return f".{start}.treethink-draft-"


def _remove_dead_drafts(place: Path) -> None:
    """Remove the drafts of this file whose writers have ended."""
    prefix = _draft_prefix(place)
    try:
        names = os.listdir(place.parent)
    except OSError:  # nothing can be listed, but perhaps written
        return
    for name in names:
        if name.startswith(prefix) and len(name) == len(prefix) + _DRAFT_NUMBER:
            with contextlib.suppress(OSError):  # its writer is at work, or it is another user's
                _remove_if_dead(place.with_name(name))


def _remove_if_dead(draft: Path) -> None:
    with contextlib.nullcontext() if fcntl is None else draft.open("r+b") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.unlink()


def _lock(file: BinaryIO) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some file systems have no locks: nobody removes drafts
            fcntl.flock(file, fcntl.LOCK_EX)


def _old_mode(place: Path) -> int | None:
    """Return the permissions of the existing file, if there is one."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "It is a device or a pipe, not a file")
    return stat.S_IMODE(mode)


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a model file; of any other file, only the first few.

    A missing or unreadable file raises a `ModelFileError`.
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
        given = Path(path)  # type: ignore[arg-type]
    except TypeError:
        raise WrongTypeError(f"a path must be a str or a path, got {path!r}") from None
    if "\0" in str(given):
        raise SettingError(f"a path cannot contain a NUL character, got {os.fspath(given)!r}")
    return given


# -------------------------------------------------------------------------- file names


def file_safe(name: str, most: int = _LONGEST_PART) -> str:
    """Return a name that is safe as part of a file name, at most `most` bytes long.

    >>> file_safe("scale(3,2)"), file_safe("a / b"), file_safe("αβγ", most=5)
    ('scale-3-2', 'a-b', 'αβ')
    """
    words = "-".join(re.findall(r"[\w-]+", name))
    return words.encode()[:most].decode(errors="ignore")


def number_duplicates(names: Iterable[str]) -> list[str]:
    """Append a number to names that a case-insensitive file system would take for equal.

    >>> number_duplicates(["a", "b", "A", "a"])
    ['a', 'b', 'A-2', 'a-3']
    """
    unique: list[str] = []
    taken: set[str] = set()
    for each in names:
        name, number = each, 1
        while name.casefold() in taken:
            number += 1
            name = f"{each}-{number}"
        taken.add(name.casefold())
        unique.append(name)
    return unique


def is_plain_name(name: object) -> bool:
    """Return whether a name stands for one file in its folder, and for no other place.

    >>> [is_plain_name(each) for each in ("maze.seed3.1a2b3c4d", "..", "a/b", "a:b", "", 3)]
    [True, False, False, False, False, False]
    """
    return isinstance(name, str) and bool(re.fullmatch(r"[\w.-]+", name)) and bool(name.strip("."))


def format_of(path: str | os.PathLike[str], formats: Sequence[str]) -> str:
    """Return the format that the ending of a path stands for; it must be one of `formats`."""
    try:
        name = Path(path).name
    except TypeError:
        raise WrongTypeError(f"a path must be a str or a Path, got {shown(path)}") from None
    ending = name.lower().rpartition(".")[2] if "." in name else ""
    if ending not in formats:
        raise UnknownNameError("format", ending, formats, f"the path {os.fspath(path)!r}")
    return ending


def check_picture_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture; raise a `SettingError` if it cannot be written there."""
    target = Path(path)
    if target.is_dir():
        raise SettingError(f"cannot draw to {target}: it is a folder")
    if not target.parent.is_dir():
        raise SettingError(f"cannot draw to {target}: there is no folder {target.parent}")
    return target
