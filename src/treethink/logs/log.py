"""A log: the transitions that it contains, in episodes.

    episodes of moments -> [ Log ] -> transitions

A state shares what did not change with the state before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import overload

from treethink.errors import LogError
from treethink.logs.moments import Moment, MomentReader, Thing, stride
from treethink.logs.schema import LogSchema, bind, given_attributes
from treethink.logs.table import Table
from treethink.state import Object, Schema, State
from treethink.stream.transition import Transition
from treethink.text import many

#: Transitions that follow one another.
Episode = tuple[Transition, ...]


class Log(Sequence[Transition]):
    """The transitions of a log, which can be iterated again and again.

    `read_csv`, `read_jsonl` and `read_frame` return one. Each item is a `Transition`: the state
    before, the action, the state after, and the reward and the end if the log has them.
    """

    def __init__(
        self,
        name: str,
        log_schema: LogSchema,
        episodes: Sequence[Episode],
        names: Mapping[int, str],
        notes: Sequence[str],
    ):
        self._name, self._log_schema = name, log_schema
        self._episodes = tuple(episodes)
        self._items = [each for episode in episodes for each in episode]
        self._names, self._notes = dict(names), tuple(notes)

    @property
    def schema(self) -> Schema:
        """The schema of the states."""
        return self._log_schema.schema

    @property
    def log_schema(self) -> LogSchema:
        """The schema together with the columns that it was read from."""
        return self._log_schema

    @property
    def name(self) -> str:
        """The file, or "the frame"."""
        return self._name

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The transitions of each episode."""
        return self._episodes

    @property
    def names(self) -> dict[int, str]:
        """The names of objects in the log, by id; empty if the log has numbers."""
        return dict(self._names)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed, and what in the log could not be used."""
        return self._notes

    @property
    def last_state(self) -> State:
        """The last state of the log."""
        return self._items[-1].after

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Transition]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: int) -> Transition: ...
    @overload
    def __getitem__(self, index: slice) -> list[Transition]: ...
    def __getitem__(self, index: int | slice) -> Transition | list[Transition]:
        return self._items[index]

    def __repr__(self) -> str:
        episodes = many(len(self._episodes), "episode")
        return f"<Log of {self._name}: {many(len(self), 'transition')} in {episodes}>"


def read_log(table: Table, log_schema: LogSchema) -> Log:
    """Return the log in a table."""
    binding = bind(log_schema, table)
    reader = MomentReader(log_schema, binding, table)
    episodes = reader.episodes()
    step = (
        stride(episodes, table.columns[binding.roles["step"]]) if "step" in binding.roles else None
    )
    builder = _Builder(log_schema.schema)
    built = [builder.transitions(each, step, table) for each in episodes]
    notes = [*log_schema.notes, *builder.notes()]
    kept = [each for each in built if each]
    if not kept:
        raise LogError(
            f"{table.name}: there are no two consecutive steps, so nothing can be learned: the row"
            " after a row with an action must be the state after it"
        )
    return Log(table.name, log_schema, kept, reader.names, notes)


class _Builder:
    """Makes states of the objects of moments."""

    def __init__(self, schema: Schema):
        self._schema = schema
        self._attributes = {name: given_attributes(schema, name) for name in schema.classes}
        self._gaps = self._lost = 0

    def notes(self) -> Iterator[str]:
        """Yield what could not be used."""
        if self._gaps:
            yield f"{many(self._gaps, 'step')} of the log have no next step, so rows are missing"
        if self._lost:
            actions = many(self._lost, "last action")
            yield f"{actions} of episodes cannot be learned: the log has no state after them"

    def transitions(self, episode: Sequence[Moment], step: int | None, table: Table) -> Episode:
        """Return the transitions of an episode."""
        found: list[Transition] = []
        state = self._first(episode[0])
        for moment, following in pairwise([*episode, None]):
            assert moment is not None
            after = moment.after if moment.after is not None else _objects(following)
            if moment.action and after is None:
                self._lost += 1
            if after is None:
                continue
            if moment.after is None and _is_gap(moment, following, step):
                self._gaps += 1
                state = self._next(state, moment.objects, after)
                continue
            next_state = self._next(state, moment.objects, after)
            found.append(self._transition(state, moment, next_state, following, table))
            state = next_state
            if moment.after is not None and following is not None:
                state = self._next(state, moment.after, following.objects)
        return tuple(found)

    def _transition(
        self, before: State, moment: Moment, after: State, following: Moment | None, table: Table
    ) -> Transition:
        terminated = moment.terminated
        if following is not None and not following.action and moment.after is None:
            if following.reward:
                raise LogError(
                    f"{table.place(following.number)}: a row without an action has the reward"
                    f" {following.reward:g}; a reward belongs to the row of its action"
                )
            terminated = following.terminated or terminated
        return Transition(before, moment.action, after, moment.reward, terminated)

    def _first(self, moment: Moment) -> State:
        objects = [
            Object(each, name, **dict(zip(self._attributes[name], values, strict=True)))
            for each, (name, values) in moment.objects.items()
        ]
        return State(self._schema, objects)

    def _next(self, state: State, before: Mapping[int, Thing], after: Mapping[int, Thing]) -> State:
        """Return the state after, which shares with the state before what did not change."""
        changes = {}
        for each, (name, values) in after.items():
            old = before[each][1]
            if values != old:
                named = zip(self._attributes[name], old, values, strict=True)
                changes[each] = {attribute: new for attribute, was, new in named if was != new}
        return state.replace_many(changes) if changes else state


def _is_gap(moment: Moment, following: Moment | None, step: int | None) -> bool:
    """Return whether rows are missing between two moments, whose steps differ by `step` if not."""
    return following is not None and step is not None and following.step - moment.step != step


def _objects(moment: Moment | None) -> Mapping[int, Thing] | None:
    return None if moment is None else moment.objects
