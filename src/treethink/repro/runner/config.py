"""Which learners meet which worlds, as a file says it.

    TOML -> [ Config ] -> runs

`docs/experiments.md` has the format. Everything that can be wrong is found here, before anything
runs: what the file says is read, and then tried once (`trying.py`).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from treethink.errors import SettingError, UnknownNameError, WrongTypeError, shown
from treethink.repro.runner.dry_run import attempt
from treethink.repro.runner.episodes import LONGEST, MOST_EPISODES
from treethink.repro.runner.fields import Fields, check_plain, number_of_seeds
from treethink.repro.runner.spec import Episodes, Limits, Run, Transfer

__all__ = ["Config", "Run", "described", "load", "parse"]

_TOP = [
    "title", "steps", "seeds", "episode", "window", "examine", "limits", "worlds", "learners",
    "plans",
]  # fmt: skip
_WORLD = ["name", "options", "steps", "transfer"]
_TRANSFER = ["world", "options", "every", "steps"]
_PLAN = ["label", "world", "options", "steps", "episodes", "simulations", "every"]
_LEARNER = ["name", "label", "settings", "paper", "predict", "worlds", "seeds", "steps"]
#: What `TreeThink.paper` means: no other settings, but these.
_PAPER: Mapping[str, Any] = {"criterion": "wilson", "memory": 0}
_EPISODE, _ROWS = 50, 50


@dataclass(frozen=True, slots=True)
class WorldPart:
    """A world to be met."""

    name: str
    options: Mapping[str, int]
    steps: int | None = None
    transfer: Transfer | None = None


@dataclass(frozen=True, slots=True)
class LearnerPart:
    """A learner to meet them; `worlds` None: all of them."""

    name: str
    label: str
    settings: Mapping[str, Any]
    predict: Mapping[str, Any]
    worlds: tuple[str, ...] | None = None
    seeds: tuple[int, ...] | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Episodes to be played with what was learned.

    `world` None: that in which it was learned, with these options instead of some of its own.
    """

    label: str
    steps: int
    episodes: int
    simulations: int = 100
    every: int | None = None
    world: str | None = None
    options: Mapping[str, int] = field(default_factory=dict)

    def after(self, learned: WorldPart) -> Episodes:
        """The same, once it is known where it was learned."""
        here = self.world is None
        return Episodes(
            label=self.label,
            world=learned.name if self.world is None else self.world,
            steps=self.steps,
            episodes=self.episodes,
            simulations=self.simulations,
            every=self.every,
            options={**learned.options, **self.options} if here else self.options,
        )


@dataclass(frozen=True, slots=True)
class Config:
    """An experiment. `window` None: a fiftieth of each run's steps; `raw`: as a file says it."""

    title: str
    worlds: tuple[WorldPart, ...]
    learners: tuple[LearnerPart, ...]
    seeds: tuple[int, ...]
    steps: int | None = None
    episode: int = _EPISODE
    window: int | None = None
    examine: int = 0
    limits: Limits = field(default_factory=Limits)
    plans: tuple[PlanPart, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    def runs(self, seeds: int | None = None) -> list[Run]:
        """All of them, by world, learner and seed.

        With `seeds`, there are so many, from 0 on, and at most so many of a learner's own.
        """
        if seeds is not None:
            return self.with_seeds(seeds).runs()
        return [
            self._run(world, learner, seed)
            for world in self.worlds
            for learner in self.learners
            if learner.worlds is None or world.name in learner.worlds
            for seed in learner.seeds or self.seeds
        ]

    def with_seeds(self, seeds: int) -> Config:
        """The same experiment with so many seeds, from 0 on; a learner keeps to its own."""
        number_of_seeds("seeds", seeds)
        learners = (
            each if each.seeds is None else replace(each, seeds=each.seeds[:seeds])
            for each in self.learners
        )
        changed = replace(self, seeds=tuple(range(seeds)), learners=tuple(learners))
        return replace(changed, raw=changed.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """As a file would say it: what is read from it has the same runs."""
        return _without_nothing(
            title=self.title,
            steps=self.steps,
            seeds=list(self.seeds),
            episode=self.episode,
            window=self.window,
            examine=self.examine,
            limits=_without_nothing(**asdict(self.limits)),
            worlds=[_without_nothing(**_plain(each)) for each in self.worlds],
            learners=[_without_nothing(**_plain(each)) for each in self.learners],
            plans=[_without_nothing(**_plain(each)) for each in self.plans] or None,
        )

    def _run(self, world: WorldPart, learner: LearnerPart, seed: int) -> Run:
        asked = (world.steps or self.steps, learner.steps)
        steps = min(each for each in asked if each is not None)
        return Run(
            world=world.name,
            learner=learner.name,
            label=learner.label,
            seed=seed,
            steps=steps,
            window=self.window or max(1, steps // _ROWS),
            episode=self.episode,
            examine=self.examine,
            options=world.options,
            settings=learner.settings,
            predict=learner.predict,
            transfer=world.transfer,
            limits=self.limits,
            plans=tuple(each.after(world) for each in self.plans),
        )


def _plain(part: WorldPart | LearnerPart | PlanPart) -> dict[str, Any]:
    return {
        name: list(each) if isinstance(each, tuple) else each for name, each in asdict(part).items()
    }


def _without_nothing(**said: Any) -> dict[str, Any]:
    return {name: each for name, each in said.items() if each is not None}


def load(path: str | os.PathLike[str]) -> Config:
    """The experiment that a file describes; or one clear error."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"cannot read {os.fspath(path)}: {reason}") from None
    return parse(text, os.fspath(path))


def parse(text: str, where: str = "the config") -> Config:
    """The experiment that a text describes.

    `where` names it in errors, and is its title if it has none.

    >>> parse('steps = 9\\nworlds = ["walls"]\\nlearners = "static"')
    Traceback (most recent call last):
    treethink.errors.SettingError: the config, learners must be a list: learners = ["static"], ...
    """
    config = described(text, where)
    attempt(config, where)
    return config


def described(text: str, where: str = "the config") -> Config:
    """The same, without trying it: not all that it asks for need be installed."""
    if not isinstance(text, str):
        raise WrongTypeError(f"a config must be a str, got {shown(text)}; load reads a file")
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLError
        raise SettingError(f"{where} is not TOML: {error}") from None
    check_plain(raw, where)
    return _config(raw, where)


# --------------------------------------------------------------------------- what it says


def _config(raw: dict[str, Any], where: str) -> Config:
    top = Fields(raw, where, _TOP)
    limits = Fields(top.table("limits"), top.place("limits"), ("seconds", "megabytes"))
    worlds = tuple(_worlds(top))
    for i, each in enumerate(worlds):
        if each.steps is None and "steps" not in top:
            raise SettingError(f"{where}: 'steps' is missing, and worlds[{i}] has none of its own")
    return Config(
        title=top.text("title", Path(where).stem),
        worlds=worlds,
        learners=tuple(_learners(top, [each.name for each in worlds])),
        seeds=top.maybe_seeds("seeds") or (0,),
        steps=top.maybe_whole("steps", 1),
        episode=top.whole("episode", 1, _EPISODE),
        window=top.maybe_whole("window", 1),
        examine=top.whole("examine", 0, 0),
        limits=Limits(limits.maybe_amount("seconds"), limits.maybe_amount("megabytes")),
        plans=tuple(_plans(top)) if "plans" in top else (),
        raw=raw,
    )


def _worlds(top: Fields) -> Iterator[WorldPart]:
    met: list[tuple[str, Mapping[str, int]]] = []
    for i, each in enumerate(top.many("worlds")):
        table = {"name": each} if isinstance(each, str) else each
        fields = Fields(table, top.place(f"worlds[{i}]"), _WORLD)
        transfer = _transfer(fields) if "transfer" in fields else None
        part = WorldPart(
            fields.text("name"), fields.table("options"), fields.maybe_whole("steps", 1), transfer
        )
        if (part.name, part.options) in met:
            raise SettingError(f"{fields.where}: {part.name!r} is there twice")
        met.append((part.name, part.options))
        yield part


def _transfer(world: Fields) -> Transfer:
    fields = Fields(world.table("transfer"), world.place("transfer"), _TRANSFER)
    return Transfer(
        world=fields.text("world"),
        every=fields.whole("every", 1),
        steps=fields.whole("steps", 1, 100),
        options=fields.table("options"),
    )


def _plans(top: Fields) -> Iterator[PlanPart]:
    labels: set[str] = set()
    for i, each in enumerate(top.many("plans")):
        fields = Fields(each, top.place(f"plans[{i}]"), _PLAN)
        options, world = fields.table("options"), fields.maybe_text("world")
        said = ", ".join(f"{name} {value}" for name, value in options.items())
        label = fields.text("label", " ".join(filter(None, (world, said))) or "the same world")
        if label in labels:
            raise SettingError(
                f"{fields.where}: there is a plan with the label {label!r} already;"
                " give this one another"
            )
        labels.add(label)
        yield PlanPart(
            label=label,
            steps=fields.whole("steps", 1, most=LONGEST),
            episodes=fields.whole("episodes", 1, most=MOST_EPISODES),
            simulations=fields.whole("simulations", 1, 100),
            every=fields.maybe_whole("every", 1),
            world=world,
            options=options,
        )


def _learners(top: Fields, worlds: Sequence[str]) -> Iterator[LearnerPart]:
    labels: set[str] = set()
    for i, each in enumerate(top.many("learners")):
        table = {"name": each} if isinstance(each, str) else each
        fields = Fields(table, top.place(f"learners[{i}]"), _LEARNER)
        name = fields.text("name")
        label = fields.text("label", name)
        if label in labels:
            raise SettingError(
                f"{fields.where}: there is a learner with the label {label!r} already;"
                " give this one another"
            )
        labels.add(label)
        yield LearnerPart(
            name=name,
            label=label,
            settings=_settings(fields, name),
            predict=fields.table("predict"),
            worlds=_only(fields, worlds),
            seeds=fields.maybe_seeds("seeds"),
            steps=fields.maybe_whole("steps", 1),
        )


def _settings(fields: Fields, name: str) -> dict[str, Any]:
    settings = fields.table("settings")
    if not fields.flag("paper"):
        return settings
    if name != "treethink":
        raise SettingError(f"{fields.place('paper')} is for the learner 'treethink', not {name!r}")
    for each in _PAPER:
        if each in settings:
            raise SettingError(f"{fields.where}: paper = true decides the setting {each!r}")
    return {**settings, **_PAPER}


def _only(fields: Fields, worlds: Sequence[str]) -> tuple[str, ...] | None:
    if "worlds" not in fields:
        return None
    names = fields.many("worlds")
    for each in names:
        if not isinstance(each, str):
            raise SettingError(
                f"{fields.place('worlds')} must be names of worlds, got {shown(each)}"
            )
        if each not in worlds:
            raise UnknownNameError("world", each, worlds, fields.place("worlds"))
    return tuple(names)
