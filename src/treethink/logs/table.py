"""Tables: rows of a CSV file, of lines of JSON, or of a data frame, with the place of each row.

    file or frame -> [ Table ] -> columns, rows of cells -> moments

Nothing is interpreted here: a cell of a CSV file is a str, other cells are what they are.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from treethink.errors import LogError, WrongTypeError, shown

#: One row: a cell for each column.
Row = Sequence[Any]

_SEPARATORS = ",;\t"
_ONE_TABLE = "a log has one row per object and step, or one row per step"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under named columns.

    `name` is how messages call the table; `numbers` are the line numbers of the rows in a file,
    or the numbers of the rows in a frame.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Row]
    numbers: Sequence[int]
    is_file: bool = True

    def __post_init__(self) -> None:
        for position, column in enumerate(self.columns):
            if column and column in self.columns[:position]:
                raise LogError(f"{self.name}: two columns are called {column!r}")
        if not self.rows:
            raise LogError(f"{self.name}: there are no rows; {_ONE_TABLE}")

    def place(self, number: int) -> str:
        """Return where a row is, for a message."""
        return f"{self.name}:{number}" if self.is_file else f"row {number} of {self.name}"


# ----------------------------------------------------------------------------- CSV


def read_csv_table(path: str | PathLike[str]) -> Table:
    """Return the rows of a CSV file: UTF-8, with commas, semicolons or tabs between the cells."""
    name = file_name(path)
    text = _read_text(Path(path))
    header = text.partition("\n")[0]
    separator = max(_SEPARATORS, key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[Row] = []
    numbers: list[int] = []
    columns: tuple[str, ...] | None = None
    for number, row in _numbered(reader, name):
        if columns is None:
            columns = tuple(each.strip() for each in row)
        elif row:
            _check_width(row, columns, f"{name}:{number}")
            rows.append(row)
            numbers.append(number)
    if not columns:
        raise LogError(f"{name}: the file is empty; its first line must name the columns")
    return Table(name, columns, rows, numbers)


def file_name(path: object) -> str:
    """Return the path of a file as text; raise an error if it is none."""
    if isinstance(path, str | PathLike) and isinstance(name := fspath(path), str):
        return name
    raise WrongTypeError(f"a file must be given by its path, such as 'log.csv', got {shown(path)}")


def _read_text(path: Path) -> str:
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LogError(f"{path}:{line}: this is not UTF-8 text: save the file as UTF-8") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise LogError(f"{path}:{line}: the file contains a NUL character, so it is not text")
    return text


def _numbered(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line."""
    first = 1
    try:
        for row in reader:
            yield first, row
            first = reader.line_num + 1
    except csv.Error as error:
        raise LogError(f"{name}:{first}: this row is not valid CSV: {error}") from None


def _check_width(row: Row, columns: Sequence[str], place: str) -> None:
    if len(row) != len(columns):
        raise LogError(
            f"{place}: the row has {len(row)} cells, and the first line names {len(columns)}"
            " columns; a cell that contains a separator must be in double quotes"
        )


# ------------------------------------------------------------------------- JSON lines


def read_jsonl_table(path: str | PathLike[str]) -> Table:
    """Return the rows of a file with one JSON object per line.

    Objects in objects become columns such as `lift.floor`. A line that holds a list of `objects`
    becomes a row for each of them.
    """
    name = file_name(path)
    lines: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(io.StringIO(_read_text(Path(path))), start=1):
        if line.strip():
            place = f"{name}:{number}"
            lines += [(number, _flat(each, place)) for each in _objects(_parse(line, place))]
    return _from_dicts(name, lines)


def _parse(line: str, place: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LogError(f"{place}: this line is not valid JSON: {error}") from None
    if "\\ud" in line.lower() and not _is_text(data):
        raise LogError(f"{place}: half a surrogate pair, such as \\ud800 alone, is no character")
    if not isinstance(data, dict):
        raise LogError(f"{place}: each line must be a JSON object, got {shown(data)}")
    return data


def _is_text(data: object) -> bool:
    """Return whether UTF-8 can write all texts in JSON data."""
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _objects(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each object that the line lists, or the line itself."""
    objects = data.get("objects")
    if not isinstance(objects, list) or not all(isinstance(each, dict) for each in objects):
        return [data]
    rest = {name: cell for name, cell in data.items() if name != "objects"}
    return [rest | each for each in objects]


def _flat(data: Mapping[str, Any], place: str, prefix: str = "") -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name, cell in data.items():
        inner = (
            _flat(cell, place, f"{prefix}{name}.")
            if isinstance(cell, dict)
            else {prefix + name: cell}
        )
        if twice := inner.keys() & cells.keys():
            raise LogError(f"{place}: {min(twice)!r} is given twice")
        cells |= inner
    return cells


def _from_dicts(name: str, lines: Sequence[tuple[int, Mapping[str, Any]]]) -> Table:
    columns = tuple(dict.fromkeys(column for _, cells in lines for column in cells))
    rows = [[cells.get(column) for column in columns] for _, cells in lines]
    return Table(name, columns, rows, [number for number, _ in lines])


# ----------------------------------------------------------------------------- frames


def read_frame_table(frame: object) -> Table:
    """Return the rows of a data frame, or of a dict with a list for each column."""
    columns = _columns_of(frame)
    lists = {_column_name(name): list(_plain(cells)) for name, cells in columns.items()}
    lengths = {name: len(cells) for name, cells in lists.items()}
    if len(set(lengths.values())) > 1:
        raise LogError(f"the columns of the frame must be of one length, got {lengths}")
    rows = list(zip(*lists.values(), strict=True))
    return Table("the frame", tuple(lists), rows, range(len(rows)), is_file=False)


def _columns_of(frame: Any) -> Mapping[Any, Iterable[Any]]:
    if isinstance(frame, Mapping):
        return frame
    if hasattr(frame, "to_pydict"):  # a table of pyarrow
        cells = [each.to_pylist() for each in frame.columns]
        return dict(zip(frame.column_names, cells, strict=True))
    if hasattr(frame, "get_columns"):  # a frame of Polars
        return {each.name: each.to_list() for each in frame.get_columns()}
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):  # a frame of pandas
        cells = [frame.iloc[:, k].tolist() for k in range(frame.shape[1])]
        return dict(zip(frame.columns, cells, strict=True))
    raise WrongTypeError(
        "read_frame takes a data frame of pandas, Polars or pyarrow, or a dict of columns,"
        f" got {shown(frame)}"
    )


def _column_name(name: object) -> str:
    if not isinstance(name, str):
        raise LogError(f"the names of columns must be str, got {shown(name)}")
    return name.strip()


def _plain(cells: Iterable[Any]) -> Iterable[Any]:
    return cells.tolist() if hasattr(cells, "tolist") else cells
