"""Moments: the objects, the action and the reward of each step of a log, in episodes.

    table, binding -> [ read_moments ] -> Moments -> [ split_episodes ] -> episodes

Every value is checked here; an error names the file, the line, the column and the value.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Any

from treethink.errors import LogError, UnknownNameError, shown
from treethink.logs.cells import CellError, CellReader, is_missing, parse, text_of
from treethink.logs.names import OBJECT_ROLES, SYSTEM, plain
from treethink.logs.schema import Binding, LogSchema, Place, column_advice
from treethink.logs.table import Row, Table

#: An object: its class, and its values in the order of the class's places.
Thing = tuple[str, tuple[int | tuple[int, ...], ...]]

_CLOCKS = ("time", "timestamp", "ts", "datetime")


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of an episode; `number` is that of its first row.

    The action is empty in the last step of an episode. `after` is the state after the action, if
    the row itself contains it.
    """

    number: int
    episode: str
    step: Any
    action: str
    reward: float | None
    terminated: bool | None
    objects: Mapping[int, Thing]
    after: Mapping[int, Thing] | None = None


class MomentReader:
    """Reads the rows of one table."""

    def __init__(self, log_schema: LogSchema, binding: Binding, table: Table):
        self._schema, self._binding, self._table = log_schema.schema, binding, table
        self._roles = binding.roles
        self._actions = {plain(each): each for each in reversed(self._schema.actions)}
        self._readers = {
            name: CellReader(name, attribute, log_schema.scales.get(name, 1))
            for name, attribute in self._schema.attributes.items()
        }
        #: The names of objects that are not numbers in the log.
        self.names: dict[int, str] = {}

    def read(self) -> Iterator[Moment]:
        """Yield the moments, in the order of the rows."""
        return self._wide() if self._binding.is_wide else self._rows_of_objects()

    # -------------------------------------------------------------- one row per step

    def _wide(self) -> Iterator[Moment]:
        objects = self._binding.objects
        self.names = {k: name or SYSTEM for k, (name, _, _) in enumerate(objects)}
        after_places = [
            (name, class_name, tuple(Place(p.attribute, p.after or p.cells) for p in places))
            for name, class_name, places in objects
        ]
        for row, number in zip(self._table.rows, self._table.numbers, strict=True):
            now = self._things(row, number, objects)
            after = None
            if self._binding.has_after and self._action(row, number):
                after = self._things(row, number, after_places)
            yield self._moment(row, number, now, after)

    def _things(
        self, row: Row, number: int, objects: Sequence[tuple[str, str, tuple[Place, ...]]]
    ) -> dict[int, Thing]:
        """Return the objects of a wide row; those without any value are not there."""
        things = {}
        for k, (_, class_name, places) in enumerate(objects):
            if places and all(is_missing(row[each]) for place in places for each in place.cells):
                continue
            things[k] = (class_name, self._values(row, number, places))
        return things

    def _values(
        self, row: Row, number: int, places: Sequence[Place]
    ) -> tuple[int | tuple[int, ...], ...]:
        return tuple([self._value(row, number, place) for place in places])

    def _value(self, row: Row, number: int, place: Place) -> int | tuple[int, ...]:
        try:
            return self._readers[place.attribute].read([row[each] for each in place.cells])
        except CellError as error:
            raise self._error(number, place.cells[error.column], str(error)) from None

    def _moment(
        self, row: Row, number: int, now: dict[int, Thing], after: dict[int, Thing] | None = None
    ) -> Moment:
        return Moment(
            number=number,
            episode=self._text(row, "episode"),
            step=self._step(row, number),
            action=self._action(row, number),
            reward=self._reward(row, number),
            terminated=self._terminated(row, number),
            objects=now,
            after=after,
        )

    def _text(self, row: Row, role: str) -> str:
        return text_of(row[self._roles[role]]) if role in self._roles else ""

    def _step(self, row: Row, number: int) -> Any:
        if "step" not in self._roles:
            return None
        step = parse(row[self._roles["step"]])
        if step is None:
            raise self._error(number, self._roles["step"], "the value is missing")
        return step

    def _action(self, row: Row, number: int) -> str:
        cell = row[self._roles["action"]]
        if is_missing(cell):
            return ""
        name = text_of(cell)
        if name in self._schema.actions:
            return name
        if (tolerated := self._actions.get(plain(name))) is not None:
            return tolerated
        error = UnknownNameError("action", name, self._schema.actions, "the schema")
        raise self._error(number, self._roles["action"], str(error))

    def _reward(self, row: Row, number: int) -> float | None:
        if "reward" not in self._roles:
            return None
        cell = row[self._roles["reward"]]
        value = parse(cell)
        if isinstance(value, bool | str | tuple):
            message = f"a reward is a number, got {shown(cell)}"
            raise self._error(number, self._roles["reward"], message)
        reward = None if value is None else _as_float(value)
        if reward is not None and not math.isfinite(reward):
            message = f"a reward is at most {sys.float_info.max:.2g}, got {shown(cell)}"
            raise self._error(number, self._roles["reward"], message)
        return reward

    def _terminated(self, row: Row, number: int) -> bool | None:
        if "terminated" not in self._roles:
            return None
        cell = row[self._roles["terminated"]]
        value = parse(cell)
        if value not in (None, 0, 1):
            message = f"the end of an episode is true or false, got {shown(cell)}"
            raise self._error(number, self._roles["terminated"], message)
        return None if value is None else bool(value)

    def _error(self, number: int, column: int, message: str) -> LogError:
        place = self._table.place(number)
        return LogError(f"{place}, column {self._table.columns[column]!r}: {message}")

    # ------------------------------------------------------------ one row per object

    def _rows_of_objects(self) -> Iterator[Moment]:
        table, classes = self._table, {name: places for _, name, places in self._binding.objects}
        ids = self._ids()
        step_columns = [self._roles[role] for role in ("episode", "step") if role in self._roles]
        rows = zip(table.rows, table.numbers, ids, strict=True)
        for _, group in groupby(rows, lambda each: [text_of(each[0][k]) for k in step_columns]):
            together = list(group)
            things: dict[int, Thing] = {}
            for row, number, object_id in together:
                if object_id in things:
                    raise self._error(
                        number, self._roles["id"], f"{self._name(object_id)} is twice in this step"
                    )
                things[object_id] = self._thing(row, number, classes)
            yield self._moment(self._common_row(together), together[0][1], things)

    def _thing(self, row: Row, number: int, classes: Mapping[str, tuple[Place, ...]]) -> Thing:
        column = self._roles["class"]
        if is_missing(row[column]):
            raise self._error(number, column, "the value is missing")
        class_name = text_of(row[column])
        if class_name not in classes:
            error = UnknownNameError("class", class_name, classes, "the schema")
            raise self._error(number, column, str(error))
        places = classes[class_name]
        own = {each for place in places for each in place.cells}
        own |= {self._roles[role] for role in OBJECT_ROLES}  # every row has these
        for place in (each for places in classes.values() for each in places):
            for each in place.cells:
                if each not in own and not is_missing(row[each]):
                    message = f"a {class_name} has no {place.attribute}, got {shown(row[each])}"
                    raise self._error(number, each, f"{message}; leave the cell empty")
        return class_name, self._values(row, number, places)

    def _common_row(self, rows: Sequence[tuple[Row, int, int]]) -> Row:
        """Return the first row of a step, with what only other rows say about the whole step."""
        common = list(rows[0][0])
        for role in ("action", "reward", "terminated"):
            if (column := self._roles.get(role)) is None:
                continue
            for row, number, _ in rows:
                if is_missing(row[column]):
                    continue
                if is_missing(common[column]):
                    common[column] = row[column]
                elif text_of(row[column]) != text_of(common[column]):
                    said = f"{shown(common[column])} and {shown(row[column])}"
                    raise self._error(number, column, f"rows of one step disagree: {said}")
        return common

    def _ids(self) -> list[int]:
        """Return the id of each row: the integer in the log, or the number of a name."""
        column = self._roles["id"]
        cells = [row[column] for row in self._table.rows]
        for cell, number in zip(cells, self._table.numbers, strict=True):
            if is_missing(cell):
                raise self._error(number, column, "the value is missing")
        texts = [text_of(cell) for cell in cells]
        parsed = {text: parse(text) for text in dict.fromkeys(texts)}
        if all(isinstance(each, int) and not isinstance(each, bool) for each in parsed.values()):
            self._check_ids(parsed, texts, column)
            return [int(parsed[text]) for text in texts]  # type: ignore[arg-type]  # integers
        numbers = {text: k for k, text in enumerate(dict.fromkeys(texts))}
        self.names = {k: text for text, k in numbers.items()}
        return [numbers[text] for text in texts]

    def _check_ids(self, parsed: Mapping[str, Any], texts: Sequence[str], column: int) -> None:
        wrong = {text for text, each in parsed.items() if not -(2**63) <= each < 2**63}
        if not wrong:
            return
        for text, number in zip(texts, self._table.numbers, strict=True):
            if text in wrong:
                message = f"an id is a name, or a number that fits 64 bits, got {shown(text)}"
                raise self._error(number, column, message)

    def _name(self, object_id: int) -> str:
        return repr(self.names[object_id]) if object_id in self.names else f"object {object_id}"

    # ---------------------------------------------------------------------- episodes

    def episodes(self) -> list[list[Moment]]:
        """Return the moments of each episode."""
        if "episode" in self._roles:
            episodes: dict[str, list[Moment]] = {}
            for moment in self.read():
                episodes.setdefault(moment.episode, []).append(moment)
            found = list(episodes.values())
        else:
            found = _split(list(self.read()))
        for each in found:
            self._check_episode(each)
        return found

    def _check_episode(self, episode: Sequence[Moment]) -> None:
        for before, after in pairwise(episode):
            where = f"{self._table.place(after.number)}: "
            if before.step is not None and not _is_later(before.step, after.step):
                what = f"step {after.step} follows step {before.step}{_in_episode(after)}"
                raise LogError(
                    f"{where}{what}: sort the rows by step, and give each episode a name of its"
                    " own in the column episode"
                )
            if not before.action and not self._binding.has_after:
                place, column = self._table.place(before.number), self._roles["action"]
                name = self._table.columns[column]
                raise LogError(
                    f"{place}, column {name!r}: the value is missing, and the episode goes on:"
                    " only the last row of an episode has no action"
                )
            self._check_same_objects(before.objects, after.objects, after, where)
            if before.after is not None:
                self._check_same_objects(before.objects, before.after, before, where)

    def _check_same_objects(
        self, before: Mapping[int, Thing], after: Mapping[int, Thing], moment: Moment, where: str
    ) -> None:
        if before.keys() == after.keys():
            for each in before:
                if before[each][0] != after[each][0]:
                    classes = f"a {before[each][0]} and then a {after[each][0]}"
                    raise LogError(f"{where}{self._name(each)} is {classes}; use another id")
            return
        lost, new = before.keys() - after.keys(), after.keys() - before.keys()
        verb, ids = ("disappears", lost) if lost else ("appears", new)
        empty = " (its cells are empty)" if lost and self._binding.is_wide else ""
        names = ", ".join(self._name(each) for each in sorted(ids)[:5])
        verb = verb if len(ids) == 1 else verb[:-1]
        step = "" if moment.step is None else f" at step {moment.step}"
        raise LogError(
            f"{where}{names} {verb}{step}{_in_episode(moment)}{empty}."
            " The objects of an episode must stay the same: keep a row for each, with an attribute"
            " such as `present` that tells whether it is there"
            f"{self._about_the_action(lost, moment)}"
        )

    def _about_the_action(self, lost: Iterable[int], moment: Moment) -> str:
        """Return what to do about columns of a wide row that are empty where the action is."""
        if moment.action or not self._binding.is_wide:
            return ""
        objects = self._binding.objects
        cells = [each for k in lost for place in objects[k][2] for each in place.cells]
        columns = [self._table.columns[each] for each in cells]
        if len(columns) != 1:
            return ""
        advice = column_advice(self._table, f"reward={columns[0]}")
        return f". This row has no action either: if {columns[0]!r} is the reward: {advice}"


def _as_float(number: int | Decimal) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _in_episode(moment: Moment) -> str:
    return f" of episode {moment.episode}" if moment.episode else ""


def _is_later(before: Any, after: Any, otherwise: bool = True) -> bool:
    """Return whether a step comes after another, or `otherwise` for a number and a text."""
    try:
        return bool(before < after)
    except TypeError:
        return otherwise


def _split(moments: Sequence[Moment]) -> list[list[Moment]]:
    """Return the episodes of a log that does not name them.

    An episode ends with a step without an action, and before steps are counted anew. After its
    end (`terminated`), it has at most one more step, without an action.
    """
    episodes: list[list[Moment]] = []
    for moment in moments:
        before = episodes[-1][-1] if episodes else None
        starts = (
            before is None
            or (not before.action and before.after is None)
            or (before.terminated and moment.action)
            or (before.step is not None and _is_later(moment.step, before.step, False))
        )
        if starts:
            episodes.append([])
        episodes[-1].append(moment)
    return episodes


def stride(episodes: Sequence[Sequence[Moment]], step_column: str) -> int | None:
    """Return the difference between consecutive steps; None if steps are not counted."""
    differences = set()
    for episode in episodes:
        for before, after in pairwise(episode):
            if not isinstance(before.step, int) or not isinstance(after.step, int):
                return None
            differences.add(after.step - before.step)
    return min(differences, default=None) if plain(step_column) not in _CLOCKS else None
